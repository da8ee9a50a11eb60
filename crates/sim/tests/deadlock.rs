//! Launches that make no progress end with a fault; those that do, however slowly, are let alone. In both modes, interpreted
//! and translated.

use heddle_sim::{DeviceMemory, Fault, FaultKind, Hierarchy, Jit, Launch, Options, Program, Simulation, Statistics};
use heddle_target::Machine;

const HEAD: &str = concat!(
    r#".object {"version":1,"machine":"heddle","clusters":2,"kernels":[],"data_relocations":[],"data_align":1}"#,
    "\n",
    r#".kernel {"name":"k","text_offset":0,"text_size":0,"local_bytes":16,"private_bytes":0,"#,
    r#""args":[{"name":"a","type_name":"uint*","kind":"global","offset":8,"size":8,"align":8}],"#,
    r#""main_registers":4,"fixed_registers":4,"shared_demand":0,"local_registers":[0,0],"#,
    r#""scalar_registers":2,"predicate_registers":2,"required_work_group":null,"warp_size":32}"#,
    "\n",
);

/// Runs a kernel of some work-items in groups of 32 in all ways; buffer `a` has 1024 zeros.
fn run(body: &str, items: u32, each: impl Fn(Result<Statistics, Box<Fault>>, &str)) {
    run_within(1_000_000, body, items, each);
}

/// The same with a budget of instructions.
fn run_within(max_instructions: u64, body: &str, items: u32, each: impl Fn(Result<Statistics, Box<Fault>>, &str)) {
    let machine = Machine::load(None, &["sm.count=1".into()]).unwrap();
    let image = heddle_object::asm::assemble(&format!("{HEAD}{body}")).unwrap();
    let program = Program::from_image(&image, 0, &machine).unwrap();
    for (timing, jit, in_turns, threads) in [
        (false, Jit::Always, false, 0),
        (false, Jit::Never, false, 1),
        (false, Jit::Never, false, 3),
        (true, Jit::Auto, false, 2),
        (true, Jit::Auto, true, 1),
    ] {
        let mut memory = DeviceMemory::new(1 << 20);
        let a = memory.allocate("a", 4096).unwrap();
        let mut launch = Launch::new(&program, [items, 1, 1], [items.min(32), 1, 1]);
        launch.set_argument(8, &a.to_le_bytes());
        let options = Options { jit, in_turns, threads, max_instructions, ..Options::default() };
        let simulation = Simulation::new(&launch, &memory, &machine, &options);
        let result = match timing {
            false => simulation.functional(),
            true => simulation.timing(&mut Hierarchy::new(&machine)),
        };
        each(result, &format!("timing {timing}, jit {jit}, in turns {in_turns}, threads {threads}"));
    }
}

fn deadlock(result: Result<Statistics, Box<Fault>>, how: &str) -> heddle_sim::fault::Deadlock {
    match result.unwrap_err().kind {
        FaultKind::Deadlock(deadlock) => *deadlock,
        other => panic!("{how}: {other}"),
    }
}

#[test]
fn a_loop_that_waits_for_nothing_is_found() {
    // The counter matters to nobody. Translated code looks up after 65,536 instructions, and then after four million.
    run_within(20_000_000, "  mov.b32 s0, 1\nL0:\n  add.b32 s0, s0, 1\n  bra L0\n  exit\n", 32, |result, how| {
        let found = deadlock(result, how);
        assert_eq!((found.warps.len(), found.warps[0].lanes, found.warps[0].awaits.len()), (1, 32, 0), "{how}");
        assert_eq!(found.not_begun, 0, "{how}");
    });
}

#[test]
fn a_loop_that_counts_is_no_deadlock() {
    let body = "  mov.b32 s0, 300000\nL0:\n  sub.b32 s0, s0, 1\n  bras s0, L0\n  exit\n";
    run(body, 32, |result, how| assert!(result.is_ok(), "{how}: {result:?}"));
}

#[test]
fn a_loop_that_changes_memory_is_no_proof() {
    // Incremented and decremented again: only the budget ends it.
    let body = "  mov.b32 m0, 0\n  mov.b32 m1, 1\n  mov.b32 m2, -1\nL0:\n  atom.global.add.b32 _, [c[0x8] + u32 m0], m1\n\
                atom.global.add.b32 _, [c[0x8] + u32 m0], m2\n  bra L0\n  exit\n";
    run(body, 32, |result, how| {
        assert!(matches!(result.unwrap_err().kind, FaultKind::Runaway { .. }), "{how}");
    });
}

/// Each work-group waits for the next one's flag, the last one for none: `a[g] = 1` when it has come.
const CHAIN: &str = "  add.b32 s0, group.x, 1\n  shl.b32 m0, s0, 2\n  cmp.eq.b32 p0, s0, ngroups.x\n\
                     @p0 brad L1, L1\nL0:\n  ld.global.b32.cv m1, [c[0x8] + u32 m0]\n  cmp.eq.b32 p1, m1, 0\n\
                     @p1 brad L0, L1\nL1:\n  shl.b32 m2, group.x, 2\n  st.global.b32 [c[0x8] + u32 m2], 1\n  exit\n";

#[test]
fn work_groups_that_the_machine_holds_make_progress_together() {
    run(CHAIN, 32 * 20, |result, how| assert!(result.is_ok(), "{how}: {result:?}"));
}

#[test]
fn a_work_group_that_never_begins_is_waited_for_in_vain() {
    // 100 groups, of which the machine holds fewer.
    run(CHAIN, 32 * 100, |result, how| {
        let found = deadlock(result, how);
        assert!(found.not_begun > 0 && found.resident + found.not_begun == 100, "{how}: {found}");
        assert_eq!(found.warps[0].awaits[0].buffer, Some(("buffer `a`".into(), 4)), "{how}");
        assert!(found.to_string().contains("have not begun"), "{found}");
    });
}

/// A work-group counts for long, sets a flag and ends, all of which may be simulated ahead of the one that waits for the flag,
/// on another SM, and asks now and then whether anyone makes progress.
#[test]
fn who_is_ahead_and_has_ended_may_have_written_what_others_wait_for() {
    let machine = Machine::load(None, &[]).unwrap();
    // Group 2 is in another cluster of SMs than group 0.
    let body = |rounds: u32| {
        format!(
            "  mov.b32 m0, 0\n  cmp.eq.u32 s0, group.x, 2\n  bras s0, L2\n  cmp.eq.u32 s0, group.x, 0\n  bras.z s0, L1\n\
             L0:\n  ld.global.b32.cv m1, [c[0x8] + u32 m0]\n  cmp.eq.b32 p1, m1, 0\n  @p1 brad L0, L1\nL1:\n  exit\n\
             L2:\n  mov.b32 s1, {rounds}\nL3:\n  sub.b32 s1, s1, 1\n  bras s1, L3\n  st.global.b32 [c[0x8] + u32 m0], 1\n  exit\n"
        )
    };
    for i in 0..24 {
        let image = heddle_object::asm::assemble(&format!("{HEAD}{}", body(120_000 + 80 * i))).unwrap();
        let program = Program::from_image(&image, 0, &machine).unwrap();
        let mut memory = DeviceMemory::new(1 << 20);
        let a = memory.allocate("a", 4096).unwrap();
        let mut launch = Launch::new(&program, [8 * 1024, 1, 1], [1024, 1, 1]);
        launch.set_argument(8, &a.to_le_bytes());
        let options = Options { threads: 2, max_instructions: 100_000_000, ..Options::default() };
        let result = Simulation::new(&launch, &memory, &machine, &options).timing(&mut Hierarchy::new(&machine));
        assert!(result.is_ok(), "{i}: {result:?}");
    }
}

/// Memory that the host lends may be changed by its threads, so that nothing is proved.
#[test]
fn who_waits_for_memory_of_the_host_waits() {
    let machine = Machine::load(None, &["sm.count=1".into()]).unwrap();
    let body = "  mov.b32 m0, 0\nL0:\n  ld.global.b32.cv m1, [c[0x8] + u32 m0]\n  cmp.eq.b32 p1, m1, 0\n  @p1 brad L0, L1\nL1:\n  exit\n";
    let image = heddle_object::asm::assemble(&format!("{HEAD}{body}")).unwrap();
    let program = Program::from_image(&image, 0, &machine).unwrap();
    for timing in [false, true] {
        let mut memory = DeviceMemory::pinned(64 << 20).unwrap();
        let mut words = Box::new([0u128; 256]);
        let start = words.as_mut_ptr().cast();
        // SAFETY: the array outlives its use, and only the launch accesses it.
        let lent = unsafe {
            match timing {
                false => memory.lend("a", start, 4096).unwrap(),
                true => memory.lend_cached("a", start, 4096).unwrap(),
            }
        };
        let mut launch = Launch::new(&program, [32, 1, 1], [32, 1, 1]);
        launch.set_argument(8, &lent.to_le_bytes());
        let options = Options { jit: Jit::Never, max_instructions: 3_000_000, ..Options::default() };
        let simulation = Simulation::new(&launch, &memory, &machine, &options);
        let result = match timing {
            false => simulation.functional(),
            true => simulation.timing(&mut Hierarchy::new(&machine)),
        };
        let kind = result.unwrap_err().kind;
        assert!(matches!(kind, FaultKind::Runaway { .. }), "timing {timing}: {kind}");
    }
}
