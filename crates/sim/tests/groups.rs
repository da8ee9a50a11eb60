//! Work-groups in translated code do what interpreted ones do: the same memory, statistics and faults, whatever the shape
//! of the launch, and wherever a warp leaves the usual way.

use heddle_sim::{DeviceMemory, FaultKind, Jit, Launch, Options, Program, Simulation, Statistics};
use heddle_target::Machine;

/// Bytes of buffer `a`.
const BYTES: usize = 1 << 17;

fn head(warp_size: u32) -> String {
    let kernel = concat!(
        r#".object {"version":1,"machine":"heddle","clusters":2,"kernels":[],"data_relocations":[],"data_align":1}"#,
        "\n",
        r#".kernel {"name":"k","text_offset":0,"text_size":0,"local_bytes":1024,"private_bytes":16,"#,
        r#""args":[{"name":"a","type_name":"uint*","kind":"global","offset":8,"size":8,"align":8}],"#,
        r#""main_registers":8,"fixed_registers":8,"shared_demand":0,"local_registers":[0,0],"#,
        r#""scalar_registers":4,"predicate_registers":2,"required_work_group":null,"warp_size":WARP}"#,
        "\n",
    );
    kernel.replace("WARP", &warp_size.to_string())
}

/// A launch of three dimensions.
#[derive(Clone, Copy, Debug)]
struct Shape {
    global: [u32; 3],
    local: [u32; 3],
    offset: [u32; 3],
}

const SHAPES: &[Shape] = &[
    Shape { global: [512, 1, 1], local: [128, 1, 1], offset: [0, 0, 0] },
    Shape { global: [320, 1, 1], local: [40, 1, 1], offset: [7, 0, 0] },
    Shape { global: [500, 1, 1], local: [128, 1, 1], offset: [0, 0, 0] },
    Shape { global: [24, 10, 3], local: [8, 4, 1], offset: [3, 1, 2] },
    Shape { global: [16, 8, 6], local: [8, 4, 2], offset: [0, 5, 0] },
    Shape { global: [33, 5, 2], local: [11, 5, 2], offset: [0, 0, 1] },
    Shape { global: [50, 9, 1], local: [20, 3, 1], offset: [0, 0, 0] },
];

/// What a launch leaves: memory, and its statistics or its fault.
fn outcome(body: &str, warp_size: u32, shape: Shape, options: &Options) -> (Vec<u8>, Result<Statistics, String>) {
    let machine = Machine::load(None, &[format!("warp-size={warp_size}")]).unwrap();
    let image = heddle_object::asm::assemble(&format!("{}{body}", head(warp_size))).unwrap_or_else(|e| panic!("{}", e.message));
    let program = Program::from_image(&image, 0, &machine).unwrap();
    let mut memory = DeviceMemory::new(1 << 20);
    let a = memory.allocate("a", BYTES as u64).unwrap();
    let mut launch = Launch::new(&program, shape.global, shape.local);
    (launch.offset, launch.work_dim) = (shape.offset, 3);
    launch.set_argument(8, &a.to_le_bytes());
    let result = Simulation::new(&launch, &memory, &machine, options).functional();
    (memory.read(a, BYTES).unwrap(), result.map_err(|f| f.to_string()))
}

/// Runs a kernel on all shapes and sizes of warps, interpreted and translated.
fn compare(body: &str, limit: u64) -> Vec<Result<Statistics, String>> {
    compare_on(SHAPES, body, limit)
}

/// The same on some shapes.
fn compare_on(shapes: &[Shape], body: &str, limit: u64) -> Vec<Result<Statistics, String>> {
    let mut results = Vec::new();
    for warp_size in [8, 16, 32, 64] {
        for &shape in shapes {
            let run = |jit, threads| {
                let options = Options { jit, threads, max_instructions: limit, ..Options::default() };
                outcome(body, warp_size, shape, &options)
            };
            let expected = run(Jit::Never, 1);
            let found = run(Jit::Always, 1);
            assert_eq!(found.1, expected.1, "warps of {warp_size}, {shape:?}");
            assert!(found.0 == expected.0, "memory differs: warps of {warp_size}, {shape:?}");
            if expected.1.is_ok() {
                assert!(run(Jit::Always, 2) == expected, "two threads, warps of {warp_size}, {shape:?}");
            }
            results.push(found.1);
        }
    }
    results
}

/// m0: a place of its own for each work-item, in bytes; m1: a hash of these.
fn hash(values: &[&str]) -> String {
    let mut text = String::from(concat!(
        "  mov.b32 s0, gsize.x\n  mov.b32 s1, gsize.y\n  sub.b32 m0, gid.z, goffset.z\n  mul.b32 m0, m0, s1\n",
        "  add.b32 m0, m0, gid.y\n  sub.b32 m0, m0, goffset.y\n  mul.b32 m0, m0, s0\n  add.b32 m0, m0, gid.x\n",
        "  sub.b32 m0, m0, goffset.x\n  shl.b32 m0, m0, 2\n  mov.b32 m1, 1\n",
    ));
    for value in values {
        text += &format!("  mul.b32 m1, m1, 31\n  add.b32 m1, m1, {value}\n");
    }
    text
}

const IDS: &[&str] = &[
    "lid.x",
    "lid.y",
    "lid.z",
    "gid.x",
    "gid.y",
    "gid.z",
    "group.x",
    "group.y",
    "group.z",
    "lsize.x",
    "lsize.y",
    "lsize.z",
    "elsize.x",
    "elsize.y",
    "gsize.z",
    "ngroups.x",
    "ngroups.y",
    "ngroups.z",
    "goffset.x",
    "goffset.y",
    "workdim",
    "lane",
    "warp",
    "nwarps",
    "exec.lo",
    "exec.hi",
    "llid",
    "rid.x",
    "rid.y",
    "rid.z",
];

const STORE: &str = "  st.global.b32 [c[0x8] + u32 m0], m1\n";

#[test]
fn ids_are_the_same() {
    let body = format!("{}{STORE}  exit\n", hash(IDS));
    assert!(compare(&body, 1_000_000).iter().all(Result::is_ok));
}

#[test]
fn registers_and_predicates_live_across_barriers() {
    // Each work-item reads what its neighbour has written, twice, with a predicate from before the barriers.
    let body = format!(
        "{}  shl.b32 m2, llid, 2\n  cmp.lt.u32 p0, lane, 5\n  mov.b32 s2, 3\nL0:\n  st.local.b32 [u32 m2], m1\n  bar 1\n  \
         xor.b32 m3, m2, 4\n  ld.local.b32 m4, [u32 m3]\n  bar 1\n  add.b32 m1, m1, m4\n  @p0 add.b32 m1, m1, warp\n  \
         sub.b32 s2, s2, 1\n  bras s2, L0\n{STORE}  exit\n",
        hash(&["gid.x", "group.y", "llid"])
    );
    assert!(compare(&body, 1_000_000).iter().all(Result::is_ok));
}

/// Registers that many barriers lie between, written under a guard, in a divergent region, and named seldom:
/// these stay in the warps' rows.
#[test]
fn registers_that_live_through_many_barriers_keep_their_values() {
    let barriers = "  bar 1\n".repeat(6);
    let body = format!(
        "{}  cmp.lt.u32 p0, lane, 5\n  mov.b32 s1, group.x\n  add.b32 s1, s1, 7\n  mov.b32 m4, gid.x\n  mov.b32 m5, lid.x\n  mov.b32 m6, 5\n{barriers}  \
         @p0 mul.b32 m4, m4, 3\n  @!p0 brad L0, L0\n  add.b32 m5, m5, 11\nL0:\n{barriers}  add.b32 m6, m6, m5\n  \
         add.b32 m6, m6, s1\n{barriers}  xor.b32 m1, m1, m6\n  add.b32 m1, m1, m4\n{STORE}  bar 1\n  exit\n",
        hash(&["gid.y", "llid"])
    );
    assert!(compare(&body, 1_000_000).iter().all(Result::is_ok));
    // In loops, where the budget may end between them.
    let body = body.replace("  bar 1\n  bar 1\n", "  bar 1\n");
    for limit in [40, 300] {
        compare(&body, limit);
    }
}

#[test]
fn values_of_64_bits_are_those_of_their_lanes() {
    // Each result has a part of the buffer of its own.
    let store = |k: usize| (4..8).map(move |m| format!("  st.global.b32 [c[0x8] + u32 m0 + {}], m{m}\n", 4096 * (4 * k + m - 4)));
    let codes = [
        "add.b64 m[4:5], m[2:3], m[2:3]\n  mul.b64 m[6:7], m[4:5], m[2:3]\n",
        "shl.b64 m[4:5], m[2:3], m0\n  shr.s64 m[6:7], m[4:5], m1\n",
        "cvt.f64.s64 m[4:5], m[2:3]\n  fma.f64 m[6:7], m[4:5], m[4:5], m[4:5]\n",
        "cvt.f64.u32 m[4:5], m1\n  cvt.f32.f64 m6, m[4:5]\n  cvt.u32.f64.rz m7, m[4:5]\n",
        "cvt.f64.f32 m[4:5], m0\n  mov.b64 m[6:7], m[4:5]\n  cmp.olt.f64 p0, m[4:5], m[2:3]\n  @p0 mov.b64 m[6:7], m[2:3]\n",
        "cmp.lt.s64 p0, m[2:3], 0\n  sel.b64 m[4:5], p0, m[2:3], 0\n  cvt.s64.s32 m[6:7], m1\n",
        "mulwide.s32 m[4:5], m1, m0\n  max.s64 m[6:7], m[4:5], m[2:3]\n  cvt.f32.s64 m5, m[6:7]\n",
    ];
    let mut body = format!("{}  mulwide.u32 m[2:3], m1, m1\n", hash(&["gid.x", "lane"]));
    for (k, code) in codes.iter().enumerate() {
        body += &format!("  {code}{}", store(k).collect::<String>());
    }
    // With all lanes, and with some missing: which dimensions a launch has is nothing to an operation.
    let shapes = [SHAPES[0], SHAPES[5]];
    assert!(compare_on(&shapes, &format!("{body}  exit\n"), 1_000_000).iter().all(Result::is_ok));
}

#[test]
fn work_group_memory_is_empty_where_a_work_group_begins() {
    let body = format!(
        "{}  shl.b32 m2, llid, 2\n  ld.local.b32 m3, [u32 m2]\n  add.b32 m1, m1, m3\n  st.local.b32 [u32 m2], -1\n{STORE}  exit\n",
        hash(&["lid.x"])
    );
    assert!(compare(&body, 1_000_000).iter().all(Result::is_ok));
}

#[test]
fn warps_that_end_before_a_barrier_are_not_waited_for() {
    // Warps of even numbers end at once, the others go on.
    let body = format!(
        "{}  and.b32 s2, warp, 1\n  bras s2, L0\n{STORE}  exit\nL0:\n  bar 1\n  \
         add.b32 m1, m1, 1\n  bar 1\n{STORE}  exit\n",
        hash(&["gid.y", "group.x"])
    );
    assert!(compare(&body, 1_000_000).iter().all(Result::is_ok));
}

#[test]
fn lanes_that_diverge_meet_again() {
    let body = format!(
        "{}  and.b32 m2, m1, 7\nL0:\n  cmp.eq.b32 p0, m2, 0\n  @p0 brad L1, L1\n  add.b32 m1, m1, exec.lo\n  sub.b32 m2, m2, 1\n  \
         bra L0\nL1:\n{STORE}  bar 1\n  exit\n",
        hash(&["gid.x", "lane"])
    );
    assert!(compare(&body, 1_000_000).iter().all(Result::is_ok));
}

#[test]
fn lanes_that_end_in_a_divergent_region_are_gone() {
    // Some lanes end; the others store twice, behind a barrier too, where lanes of all warps are gone.
    let body = format!(
        "{}  and.b32 m2, m1, 3\n  cmp.eq.b32 p0, m2, 1\n  @!p0 brad L0, L0\n  exit\nL0:\n{STORE}  bar 1\n  add.b32 m1, m1, \
         exec.lo\n{STORE}  exit\n",
        hash(&["gid.x", "lane"])
    );
    assert!(compare(&body, 1_000_000).iter().all(Result::is_ok));
}

#[test]
fn faults_are_the_same() {
    // Beyond the buffer from some work-item on; at the second barrier's other side too.
    let far = "  cmp.gt.u32 p0, m0, 700\n  @p0 mov.b32 m0, 0x7ffffff0\n";
    for barrier in ["", "  bar 1\n"] {
        let body = format!("{}{barrier}{far}{STORE}  exit\n", hash(&["gid.x"]));
        let results = compare(&body, 1_000_000);
        assert!(results.iter().any(|r| r.as_ref().is_err_and(|e| e.contains("0x"))), "{:?}", results[0]);
    }
    // Half of the lanes at a barrier.
    let body = "  cmp.lt.u32 p0, lane, 3\n  @p0 brad L0, L1\n  bra L1\nL0:\n  bar 1\nL1:\n  exit\n";
    assert!(compare(body, 1_000_000).iter().all(Result::is_err));
    let body = format!("{}  cmp.eq.b32 s2, warp, 0\n  bras s2, L0\n  trap\nL0:\n{STORE}  exit\n", hash(&["gid.x"]));
    compare(&body, 1_000_000);
}

#[test]
fn budgets_end_where_they_do() {
    // The limit lies in different warps and blocks.
    let body = format!(
        "{}  mov.b32 s2, 50\nL0:\n  add.b32 m1, m1, 1\n  sub.b32 s2, s2, 1\n  bras s2, L0\n  bar 1\n{STORE}  exit\n",
        hash(&["gid.x"])
    );
    for limit in [5, 20, 100, 400, 700, 2000] {
        compare(&body, limit);
    }
    // More than a portion of a work-group's budget: the group goes on warp by warp.
    let long = body.replace("s2, 50", "s2, 40000");
    let shape = Shape { global: [4096, 1, 1], local: [1024, 1, 1], offset: [0; 3] };
    let run = |jit| outcome(&long, 32, shape, &Options { jit, threads: 1, ..Options::default() });
    let expected = run(Jit::Never);
    assert!(expected.1.is_ok());
    assert!(run(Jit::Always) == expected);
}

/// Checking mode has code of its own, for whole work-groups too, whichever of the two is translated first.
#[test]
fn marks_are_checked_where_the_program_has_been_translated_without_checks() {
    let machine = Machine::load(None, &["warp-size=32".to_string()]).unwrap();
    let body = format!("{}  add.b32.u m1, lane, 1\n{STORE}  exit\n", hash(&[]));
    let image = heddle_object::asm::assemble(&format!("{}{body}", head(32))).unwrap_or_else(|e| panic!("{}", e.message));
    for checked_first in [false, true] {
        let program = Program::from_image(&image, 0, &machine).unwrap();
        let mut memory = DeviceMemory::new(1 << 20);
        let a = memory.allocate("a", BYTES as u64).unwrap();
        let mut launch = Launch::new(&program, [512, 1, 1], [128, 1, 1]);
        launch.set_argument(8, &a.to_le_bytes());
        for check_marks in [checked_first, !checked_first] {
            let options = Options { jit: Jit::Always, check_marks, threads: 1, ..Options::default() };
            let kind = Simulation::new(&launch, &memory, &machine, &options).functional().err().map(|f| f.kind);
            assert_eq!(kind, check_marks.then_some(FaultKind::WrongMark { first: 0 }), "checked first: {checked_first}");
        }
    }
}
