//! Atomics without results, of which host threads may keep their part to themselves until the launch ends: memory is the same
//! as from the interpreter on one host thread, and whoever looks at a counter in the kernel finds what was added before.

use heddle_sim::{DeviceMemory, Jit, Launch, Options, Program, Simulation};
use heddle_target::Machine;

const HEAD: &str = concat!(
    r#".object {"version":1,"machine":"heddle","clusters":2,"kernels":[],"data_relocations":[],"data_align":1}"#,
    "\n",
    r#".kernel {"name":"k","text_offset":0,"text_size":0,"local_bytes":0,"private_bytes":0,"#,
    r#""args":[{"name":"a","type_name":"ulong*","kind":"global","offset":8,"size":8,"align":8},"#,
    r#"{"name":"b","type_name":"ulong*","kind":"global","offset":16,"size":8,"align":8},"#,
    r#"{"name":"c","type_name":"ulong*","kind":"global","offset":24,"size":8,"align":8}],"#,
    r#""main_registers":12,"fixed_registers":12,"shared_demand":0,"local_registers":[0,0],"#,
    r#""scalar_registers":8,"predicate_registers":2,"required_work_group":null,"warp_size":32}"#,
    "\n",
);

const GROUPS: u32 = 64;
const LANES: u32 = 96;
const ITEMS: u32 = GROUPS * LANES;
const COUNTERS: usize = 64;

/// How a launch is run, and where its second argument points to.
#[derive(Clone, Copy)]
struct Run {
    jit: Jit,
    threads: usize,
    /// The second argument is the first one, too.
    same: bool,
}

/// Memory of the first and of the third argument behind a kernel. m0: a random number; m1 and m2: the offset of a random
/// counter of 32 and of 64 bits.
fn memory_behind(body: &str, run: Run) -> (Vec<u8>, Vec<u8>) {
    let text = format!(
        "{HEAD}  mul.b32 m0, gid.x, 0x9e3779b1\n  shr.u32 m1, m0, 15\n  xor.b32 m0, m0, m1\n  mul.b32 m0, m0, 0x85ebca77\n  \
         shr.u32 m1, m0, 20\n  and.b32 m1, m1, 63\n  shl.b32 m2, m1, 3\n  shl.b32 m1, m1, 2\n  shl.b32 m3, gid.x, 2\n{body}  exit\n"
    );
    let machine = Machine::load(None, &["warp-size=32".to_string()]).unwrap();
    let image = heddle_object::asm::assemble(&text).unwrap_or_else(|e| panic!("{}\n{text}", e.message));
    let program = Program::from_image(&image, 0, &machine).unwrap();
    let mut memory = DeviceMemory::new(1 << 20);
    let [a, b] = ["a", "b"].map(|name| memory.allocate(name, 8 * COUNTERS as u64).unwrap());
    let c = memory.allocate("c", 4 * u64::from(ITEMS)).unwrap();
    let first: Vec<u8> = (0..8 * COUNTERS).map(|i| (i * 37 % 251) as u8).collect();
    assert!(memory.write(a, &first));
    let mut launch = Launch::new(&program, [ITEMS, 1, 1], [LANES, 1, 1]);
    for (offset, address) in [(8, a), (16, if run.same { a } else { b }), (24, c)] {
        launch.set_argument(offset, &address.to_le_bytes());
    }
    let options = Options { jit: run.jit, threads: run.threads, ..Options::default() };
    Simulation::new(&launch, &memory, &machine, &options).functional().unwrap();
    (memory.read(a, 8 * COUNTERS).unwrap(), memory.read(c, 4 * ITEMS as usize).unwrap())
}

/// Asserts that a kernel leaves the same memory however it is run.
fn same_everywhere(body: &str, same: bool) {
    let expected = memory_behind(body, Run { jit: Jit::Never, threads: 1, same });
    for threads in [1, 2, 4] {
        for jit in [Jit::Always, Jit::Never] {
            assert!(memory_behind(body, Run { jit, threads, same }) == expected, "{threads} threads, {jit:?}:\n{body}");
        }
    }
}

#[test]
fn what_is_kept_apart_comes_together() {
    for operation in ["add", "sub", "and", "or", "xor"] {
        same_everywhere(&format!("  atom.global.{operation}.b32 _, [c[0x8] + u32 m1], m0\n"), false);
        same_everywhere(
            &format!("  mov.b32 m5, m0\n  mov.b32 m4, m3\n  atom.global.{operation}.b64 _, [c[0x8] + u32 m2], m[4:5]\n"),
            false,
        );
    }
    for operation in ["min", "max"] {
        for (ty, offset, data) in [("s32", "m1", "m0"), ("u32", "m1", "m0"), ("s64", "m2", "m[4:5]"), ("u64", "m2", "m[4:5]")] {
            let body = format!(
                "  mov.b32 m4, m3\n  mov.b32 m5, m0\n  atom.global.{operation}.{ty} _, [c[0x8] + u32 {offset}], {data}\n"
            );
            same_everywhere(&body, false);
        }
    }
}

#[test]
fn lanes_that_do_not_count_and_counters_of_all_lanes() {
    same_everywhere("  cmp.lt.s32 p0, m0, 0\n  @p0 atom.global.add.b32 _, [c[0x8] + u32 m1], 3\n", false);
    same_everywhere("  mov.b32 s0, 8\n  atom.global.add.b32 _, [c[0x8] + u32 s0], m0\n", false);
    // Both signs of one operation.
    same_everywhere(
        "  atom.global.add.b32 _, [c[0x8] + u32 m1], m0\n  atom.global.sub.b32 _, [c[0x8] + u32 m1 + 4], m3\n",
        false,
    );
}

#[test]
fn counters_that_the_kernel_reads_are_up_to_date() {
    // Each work-item finds a bit of its own that it has set, by another pointer to the same memory.
    let body = "  and.b32 m4, gid.x, 31\n  mov.b32 m5, 1\n  shl.b32 m5, m5, m4\n  \
                atom.global.or.b32 _, [c[0x8] + u32 m1], m5\n  ld.global.b32 m6, [c[0x10] + u32 m1]\n  \
                and.b32 m6, m6, m5\n  st.global.b32 [c[0x18] + u32 m3], m6\n";
    same_everywhere(body, true);
    same_everywhere(&body.replace("c[0x10]", "c[0x8]"), false);
}

#[test]
fn what_is_added_at_once_does_not_say_which_allocation_it_is() {
    // Each work-group counts in a place of its own and reads it with as much taken off as the offset has too much. That much
    // before the counters another allocation begins.
    let body = "  shl.b32 m5, group.x, 3\n  mov.b32 m4, 1\n  atom.global.add.b32 _, [c[0x10] + u32 m5], m4\n  bar 1\n  \
                add.b32 m5, m5, 512\n  ld.global.b32 m6, [c[0x10] + u32 m5 + -512]\n  \
                st.global.b32 [c[0x18] + u32 m3], m6\n";
    same_everywhere(body, false);
}

#[test]
fn operations_that_do_not_commute_are_not_kept_apart() {
    // In order on one host thread.
    let body = "  atom.global.add.b32 _, [c[0x8] + u32 m1], m0\n  atom.global.xor.b32 _, [c[0x10] + u32 m1], m3\n";
    let [expected, found] = [Jit::Never, Jit::Always].map(|jit| memory_behind(body, Run { jit, threads: 1, same: true }));
    assert!(found == expected);
}
