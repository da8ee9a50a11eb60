//! Launches that would not end do when the host wants it, in both modes, interpreted and translated.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use heddle_sim::{DeviceMemory, FaultKind, Hierarchy, Interrupt, Jit, Launch, Options, Program, Simulation};
use heddle_target::Machine;

static COUNTER: AtomicU64 = AtomicU64::new(0);
static WISH: AtomicU64 = AtomicU64::new(0);

const HEAD: &str = concat!(
    r#".object {"version":1,"machine":"heddle","clusters":2,"kernels":[],"data_relocations":[],"data_align":1}"#,
    "\n",
    r#".kernel {"name":"forever","text_offset":0,"text_size":0,"local_bytes":0,"private_bytes":0,"args":[],"#,
    r#""main_registers":4,"fixed_registers":4,"shared_demand":0,"local_registers":[0,0],"#,
    r#""scalar_registers":1,"predicate_registers":0,"required_work_group":null,"warp_size":32}"#,
    "\n",
);

/// Runs a kernel in work-groups of 64 until it is interrupted; returns what it says.
fn interrupted(body: &str, timing: bool, options: &Options, groups: [u32; 2]) -> String {
    let machine = Machine::default_machine();
    let image = heddle_object::asm::assemble(&format!("{HEAD}{body}")).unwrap();
    let program = Program::from_image(&image, 0, &machine).unwrap();
    let memory = DeviceMemory::new(1 << 20);
    let launch = Launch::new(&program, [64 * groups[0], groups[1], 1], [64, 1, 1]);
    let simulation = Simulation::new(&launch, &memory, &machine, options);
    let fault = match timing {
        false => simulation.functional(),
        true => simulation.timing(&mut Hierarchy::new(&machine)),
    };
    let fault = fault.unwrap_err();
    assert_eq!(fault.kind, FaultKind::Interrupted);
    fault.to_string()
}

#[test]
fn launches_end_when_the_host_wants_it() {
    // One work-group for ever, and more work-groups than anybody waits for.
    let kernels =
        [("  mov.b32 s0, 1\nL0:\n  add.b32 s0, s0, 1\n  bras s0, L0\n  exit\n", [1, 1]), ("  exit\n", [1 << 25, 1 << 20])];
    for (body, groups) in kernels {
        for (timing, jit, in_turns) in
            [(false, Jit::Always, false), (false, Jit::Never, false), (true, Jit::Auto, false), (true, Jit::Auto, true)]
        {
            let options = Options { interrupt: Some(Interrupt::by(&COUNTER)), jit, in_turns, ..Options::default() };
            let signal = std::thread::spawn(|| {
                std::thread::sleep(Duration::from_millis(100));
                COUNTER.fetch_add(1, Ordering::Relaxed);
            });
            let text = interrupted(body, timing, &options, groups);
            assert_eq!(text, "interrupted; memory holds what the launch had written\n  in kernel `forever`");
            signal.join().unwrap();
        }
    }
}

#[test]
fn what_was_counted_by_then_is_kept() {
    let body = "  mov.b32 s0, 8\nL0:\n  shr.u32 s0, s0, 1\n  bras s0, L0\n  exit\n";
    let machine = Machine::default_machine();
    let image = heddle_object::asm::assemble(&format!("{HEAD}{body}")).unwrap();
    let program = Program::from_image(&image, 0, &machine).unwrap();
    let memory = DeviceMemory::new(1 << 20);
    let launch = Launch::new(&program, [1 << 31, 1, 1], [64, 1, 1]);
    for (timing, jit, in_turns) in
        [(false, Jit::Always, false), (false, Jit::Never, false), (true, Jit::Auto, false), (true, Jit::Auto, true)]
    {
        let interrupt = Some(Interrupt::by(&WISH));
        let options = Options { interrupt, partial: true, jit, in_turns, ..Options::default() };
        // As soon as some work-groups have ended.
        let progress = |_| {
            WISH.fetch_add(1, Ordering::Relaxed);
        };
        let simulation = Simulation { progress: &progress, ..Simulation::new(&launch, &memory, &machine, &options) };
        let statistics = match timing {
            false => simulation.functional(),
            true => simulation.timing(&mut Hierarchy::new(&machine)),
        };
        let statistics = statistics.unwrap();
        let how_far = statistics.interrupted.unwrap();
        assert!(how_far.work_groups == 1 << 25 && how_far.ended > 0 && how_far.ended < 1 << 22, "{how_far:?}");
        // Two warps a group, each of which executes ten instructions.
        assert!(statistics.instructions >= 20 * how_far.ended, "{how_far:?} {}", statistics.instructions);
        assert!(statistics.instructions < 20 << 23, "{how_far:?} {}", statistics.instructions);
        let cycles = statistics.timing.map(|t| t.cycles);
        assert_eq!(cycles.is_some_and(|c| c > 8), timing, "{cycles:?}");
    }
}

/// The budget of instructions is the same however it is divided into portions.
#[test]
fn a_budget_beyond_a_portion_is_kept() {
    let machine = Machine::default_machine();
    let body = "  mov.b32 s0, 1\nL0:\n  add.b32 s0, s0, 1\n  bras s0, L0\n  exit\n";
    let image = heddle_object::asm::assemble(&format!("{HEAD}{body}")).unwrap();
    let program = Program::from_image(&image, 0, &machine).unwrap();
    let memory = DeviceMemory::new(1 << 20);
    for jit in [Jit::Always, Jit::Never] {
        let options = Options { max_instructions: 10_000_000, jit, ..Options::default() };
        let launch = Launch::new(&program, [32, 1, 1], [32, 1, 1]);
        let fault = Simulation::new(&launch, &memory, &machine, &options).functional().unwrap_err();
        assert_eq!(fault.kind, FaultKind::Runaway { limit: 10_000_000 });
    }
}
