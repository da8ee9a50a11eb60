//! Which warp issues what in which cycle: schedulers, shared units, clusters that rotate, the active set, banks of the main
//! register file, costs of launches and work-groups. Assembly in, exact cycles out.
//!
//! A kernel here begins with a division of 10,000 cycles and a barrier behind it: by then its code is in the instruction
//! cache, and all warps of a work-group go on in the same cycle, which is cycle 0 of what a test compares. Warp 0, which
//! divides twice more, comes last to the barrier, so that the warp that issued last is the oldest.

use heddle_sim::statistics::TimingStatistics;
use heddle_sim::trace::{Cause, Record, SliceKind};
use heddle_sim::{DeviceMemory, Fault, Hierarchy, Launch, Options, Program, Simulation, Statistics};
use heddle_target::Machine;

/// One SM; round latencies; clusters `a0` and `a1` are alike, `a2` has sfu and double units too, `mem` the load-store unit.
const BASE: [&str; 13] = [
    "sm.count=1",
    "sm.scalar-threshold=0",
    "timing.move.latency=10",
    "timing.int32.latency=20",
    "timing.mul32.latency=30",
    "timing.mul32.interval=5",
    "timing.int-divide.latency=10000",
    "timing.int-divide.interval=1",
    "timing.load-local.latency=4",
    "timing.load-local.interval=3",
    "timing.control.latency=1",
    "memory.line-bytes=256",
    "memory.l2.bytes=262144",
];

/// The instructions before a test's own.
const PROLOGUE: &str = "  c2 div.u32 m30, lane, 3\n  c0 mov.b32 m31, m30\n  mov.b32 s6, warp\n  bras s6, go\n\
                        \x20 c2 div.u32 m30, m31, 3\n  c2 div.u32 m30, m30, 3\n  c0 mov.b32 m31, m30\ngo:\n  bar 1\n";
const OWN: u32 = 8;
/// Cycles that it takes a warp alone.
const ALONE: u64 = 10_000 + 10 + 10_000 + 10_000 + 2;

/// What a launch did.
struct Outcome {
    cycles: u64,
    timing: TimingStatistics,
    /// Slot, instruction from the test's first on, issue and result in cycles from the first one's issue on.
    issues: Vec<(u16, u32, u64, u64)>,
    /// Warp cycles from the first one's issue on by cause.
    stalls: Vec<(Cause, u64)>,
}

impl Outcome {
    /// The cycles in which a slot's warp issues its own instructions, in order.
    fn of(&self, slot: u16) -> Vec<u64> {
        let mut list: Vec<_> = self.issues.iter().filter(|i| i.0 == slot).map(|i| (i.1, i.2)).collect();
        list.sort();
        list.into_iter().map(|i| i.1).collect()
    }

    /// When the result of a slot's instruction is there.
    fn done(&self, slot: u16, index: u32) -> Option<u64> {
        self.issues.iter().find(|i| (i.0, i.1) == (slot, index)).map(|i| i.3)
    }

    fn stalled(&self, cause: Cause) -> u64 {
        self.stalls.iter().filter(|s| s.0 == cause).map(|s| s.1).sum()
    }
}

/// How a kernel is launched: warps of a work-group, work-groups.
#[derive(Clone, Copy)]
struct Sizes {
    warps: u32,
    groups: u32,
}

const fn warps(warps: u32) -> Sizes {
    Sizes { warps, groups: 1 }
}

fn machine(overrides: &[&str]) -> Machine {
    let all: Vec<String> = BASE.iter().chain(overrides).map(ToString::to_string).collect();
    heddle_target::testing::mixed(&all)
}

fn try_launch(code: &str, sizes: Sizes, machine: &Machine, options: &Options) -> Result<(TimingStatistics, Vec<u8>), Box<Fault>> {
    let (statistics, bytes) = launch(code, sizes, machine, options, true)?;
    Ok((statistics.timing.unwrap(), bytes))
}

fn try_functional(code: &str, sizes: Sizes, machine: &Machine, options: &Options) -> Result<Vec<u8>, Box<Fault>> {
    launch(code, sizes, machine, options, false).map(|o| o.1)
}

fn launch(
    code: &str,
    sizes: Sizes,
    machine: &Machine,
    options: &Options,
    timing: bool,
) -> Result<(Statistics, Vec<u8>), Box<Fault>> {
    let clusters = machine.clusters.len();
    let local = vec!["4"; clusters].join(",");
    let source = format!(
        ".object {{\"version\":1,\"machine\":\"test\",\"clusters\":{clusters},\"kernels\":[],\"data_relocations\":[],\"data_align\":1}}\n\
         .file \"test.cl\"\n\
         .kernel {{\"name\":\"k\",\"text_offset\":0,\"text_size\":0,\"args\":[{{\"name\":\"a\",\"type_name\":\"uint*\",\
         \"kind\":\"global\",\"offset\":8,\"size\":8,\"align\":8}}],\"local_bytes\":4096,\"private_bytes\":0,\"main_registers\":40,\
         \"fixed_registers\":40,\"shared_demand\":0,\"local_registers\":[{local}],\"scalar_registers\":8,\
         \"predicate_registers\":4,\"required_work_group\":null,\"warp_size\":32}}\n{code}"
    );
    let image = heddle_object::asm::assemble(&source).unwrap_or_else(|e| panic!("{}: {}\n{source}", e.line, e.message));
    let program = Program::from_image(&image, 0, machine).unwrap();
    let mut memory = DeviceMemory::new(1 << 20);
    let items = sizes.warps * 32;
    let bytes = 4 * (items * sizes.groups) as usize;
    let a = memory.allocate("a", bytes as u64).unwrap();
    let mut launch = Launch::new(&program, [items * sizes.groups, 1, 1], [items, 1, 1]);
    launch.set_argument(8, &a.to_le_bytes());
    let simulation = Simulation::new(&launch, &memory, machine, options);
    let statistics = if timing { simulation.timing(&mut Hierarchy::new(machine))? } else { simulation.functional()? };
    Ok((statistics, memory.read(a, bytes).unwrap_or_default().to_vec()))
}

/// Runs a test's instructions behind the prologue. The same cycles are demanded without a recording, with the SMs in turns,
/// and that warps issue or stall in each of their cycles.
fn run(body: &str, sizes: Sizes, overrides: &[&str]) -> Outcome {
    let machine = machine(overrides);
    let code = format!("{PROLOGUE}{body}");
    let record = Record { time_line: true, slices: 1 << 20 };
    let (timing, bytes) = try_launch(&code, sizes, &machine, &Options { record, ..Options::default() }).unwrap();
    for options in [Options::default(), Options { in_turns: true, ..Options::default() }] {
        let (plain, same) = try_launch(&code, sizes, &machine, &options).unwrap();
        assert_eq!(
            (plain.cycles, &plain.stalls, same),
            (timing.cycles, &timing.stalls, bytes.clone()),
            "in turns: {}",
            options.in_turns
        );
    }
    let slices: Vec<_> = timing.recordings.iter().flat_map(|r| r.slices.iter().flatten()).copied().collect();
    let own = |kind| if let SliceKind::Instruction { index, .. } = kind { index.checked_sub(OWN) } else { None };
    let begin = slices.iter().filter(|s| own(s.kind).is_some()).map(|s| s.start).min().unwrap();
    let mut issues = Vec::new();
    let mut stalls = Vec::new();
    let (mut issued, mut stalled, mut resident) = (0, 0, 0);
    for slice in &slices {
        match slice.kind {
            SliceKind::Warp { .. } => resident += slice.end - slice.start,
            SliceKind::Stall(cause) => {
                stalled += slice.end - slice.start;
                stalls.push((cause, slice.end.saturating_sub(slice.start.max(begin))));
            }
            SliceKind::Instruction { .. } => {
                issued += 1;
                issues.extend(own(slice.kind).map(|index| (slice.slot, index, slice.start - begin, slice.end - begin)));
            }
        }
    }
    assert_eq!(issued + stalled, resident, "each cycle of a warp is an issue or has a cause");
    Outcome { cycles: timing.cycles, timing, issues, stalls }
}

#[test]
fn warps_in_step_queue_for_one_slot_unless_alike_clusters_rotate() {
    let body = "  c0 mov.b32 m0, lane\n  c0 mov.b32 m1, lane\n  exit\n";
    let queue = run(body, warps(3), &[]);
    // Warp 0 first, and again as it issued last; then warp 1.
    assert_eq!([0, 1, 2].map(|slot| queue.of(slot)), [[0, 1, 2], [2, 3, 4], [4, 5, 6]]);
    let rotating = run(body, warps(3), &["sm.rotate-clusters=true"]);
    // Warp 1 runs in a1; warp 2 in a0 again.
    assert_eq!([0, 1, 2].map(|slot| rotating.of(slot)), [[0, 1, 2], [0, 1, 3], [2, 3, 4]]);
    let alone = run(body, warps(3), &["sm.rotate-clusters=true", "clusters.1.local-registers=5"]);
    assert_eq!(alone.of(1), [2, 3, 4], "no cluster is like a0");
}

/// `a0` and `a1` with a load-store unit for both.
const SHARED: [&str; 3] = [
    "clusters.3.units=['alu','control']",
    "shared-units=[{name='ls',units=['load-store'],clusters=['a0','a1']}]",
    "clusters.3.shared-path=true",
];

#[test]
fn a_shared_unit_serves_one_cluster_at_a_time_and_leaves_their_slots_free() {
    let body = "  c0 ld.local.b32 l0, [u32 m2]\n  c0 mov.b32 m1, lane\n  exit\n";
    let rotate = [&SHARED[..], &["sm.rotate-clusters=true"]].concat();
    let shared = run(body, warps(2), &rotate);
    // The unit is busy for 3 cycles; the slot of a1 is not, but warp 1 issues in order.
    assert_eq!([0, 1].map(|slot| shared.of(slot)), [[0, 1, 2], [3, 4, 5]]);
    assert_eq!((shared.stalled(Cause::Unit), shared.done(1, 0)), (3, Some(3 + 4 + 20)));
    let own = ["clusters.0.units=['alu','load-store']", "clusters.1.units=['alu','load-store']", "sm.rotate-clusters=true"];
    let own = run(body, warps(2), &own);
    assert_eq!([0, 1].map(|slot| own.of(slot)), [[0, 1, 2], [0, 1, 3]]);
    // Without rotation both are in a0: the slot is what warp 1 would have had at 2.
    let fixed = run(body, warps(2), &SHARED);
    assert_eq!([0, 1].map(|slot| fixed.of(slot)), [[0, 1, 2], [3, 4, 5]]);
}

#[test]
fn other_warps_use_a_cluster_while_its_shared_unit_is_busy() {
    // Warp 0 loads in a0; warp 1 in a1 has to wait; warp 2, which does not load, goes on in a1.
    let body = "  mov.b32 s0, warp\n  bras.z s0, zero\n  bras s0, one\nzero:\n  c0 ld.local.b32 l0, [u32 m2]\n  exit\n\
                one:\n  c1 ld.local.b32 l0, [u32 m2]\n  c1 mov.b32 m3, lane\n  exit\n";
    let shared = run(body, warps(2), &SHARED);
    let (zero, one) = (shared.of(0), shared.of(1));
    // mov, bras.z, load / mov, bras.z, bras, load.
    assert_eq!(one[3], (zero[2] + 3).max(one[2] + 1), "{zero:?} {one:?}");
}

#[test]
fn a_machine_refuses_code_for_a_unit_that_a_cluster_does_not_have() {
    let code = "  c1 ld.local.b32 l0, [u32 m2]\n  exit\n";
    assert!(try_launch(code, warps(1), &machine(&SHARED), &Options::default()).is_ok());
    let refused = std::panic::catch_unwind(|| try_launch(code, warps(1), &machine(&[]), &Options::default()).map(|_| ()));
    assert!(refused.is_err(), "a1 has no load-store unit");
}

/// Three instructions that nothing delays, in one cluster.
const THREE: &str = "  c0 mov.b32 m0, lane\n  c0 mov.b32 m1, lane\n  c0 mov.b32 m2, lane\n  exit\n";

#[test]
fn policies_differ_in_who_goes_first() {
    let of = |policy: &str| {
        let o = run(THREE, warps(3), &[&format!("sm.scheduler={policy}")]);
        [0, 1, 2].map(|slot| o.of(slot)[..3].to_vec())
    };
    assert_eq!(of("greedy-oldest"), [[0, 1, 2], [3, 4, 5], [6, 7, 8]]);
    assert_eq!(of("oldest"), [[0, 1, 2], [3, 4, 5], [6, 7, 8]]);
    // Warp 0 came last to the barrier.
    assert_eq!(of("round-robin"), [[2, 5, 8], [0, 3, 6], [1, 4, 7]]);
    assert_eq!(of("two-level"), [[0, 1, 2], [3, 4, 5], [6, 7, 8]]);
    // Warp 0 waits for its first result; when it is there, who is greedy goes on with another warp.
    let late = "  c0 mov.b32 m0, lane\n  c0 mov.b32 m1, m0\n  exit\n";
    let busy: String = (0..12).map(|i| format!("  c0 mov.b32 m{}, lane\n", 3 + i)).collect();
    let body = format!("  mov.b32 s0, warp\n  bras s0, one\n{late}one:\n{busy}  exit\n");
    let first = |policy: &str| {
        let o = run(&body, warps(2), &[&format!("sm.scheduler={policy}")]);
        let (zero, one) = (o.of(0), o.of(1));
        (zero[3] - zero[2], one[13] - one[2])
    };
    // Warp 1 has its first mov a cycle behind warp 0, then the slot until its twelve are done.
    assert_eq!((first("greedy-oldest").0, first("oldest").0), (13, 10));
    assert!(first("greedy-oldest").1 < first("oldest").1);
}

#[test]
fn sub_cores_have_slots_units_and_scalar_units_of_their_own() {
    let two = run(THREE, warps(4), &["sm.schedulers=2"]);
    assert_eq!([0, 1, 2, 3].map(|s| two.of(s)[0]), [0, 0, 3, 3]);
    assert_eq!([0, 1, 2, 3].map(|s| two.of(s)[3]), [3, 3, 6, 6], "front ends too");
    let scalar = "  mov.b32 s0, 1\n  mov.b32 s1, 2\n  exit\n";
    let one = run(scalar, warps(2), &[]);
    assert_eq!([0, 1].map(|s| one.of(s)[..2].to_vec()), [[0, 1], [2, 3]]);
    assert_eq!([0, 1].map(|s| run(scalar, warps(2), &["sm.schedulers=2"]).of(s)[..2].to_vec()), [[0, 1], [0, 1]]);
    let double = run(scalar, warps(2), &["sm.scalar-issue=2"]);
    assert_eq!([0, 1].map(|s| double.of(s)[..2].to_vec()), [[0, 1], [0, 1]]);
    // A unit of a cluster is busy for the warps of its sub-core alone, a shared one for all.
    let multiply = "  c0 mul.b32 m0, lane, lane\n  exit\n";
    let starts = |o: &[&str]| [0, 1, 2].map(|s| run(multiply, warps(3), o).of(s)[0]);
    assert_eq!(starts(&[]), [0, 5, 10]);
    assert_eq!(starts(&["sm.schedulers=2"]), [0, 0, 5]);
    let load = "  c0 ld.local.b32 m0, [u32 m2]\n  exit\n";
    let shared = [&SHARED[..], &["sm.schedulers=2"]].concat();
    assert_eq!([0, 1, 2].map(|s| run(load, warps(3), &shared).of(s)[0]), [0, 3, 6]);
}

#[test]
fn clusters_rotate_within_a_sub_core() {
    let starts = |o: &[&str]| [0, 1, 2, 3].map(|s| run(THREE, warps(4), o).of(s)[0]);
    assert_eq!(starts(&["sm.schedulers=2", "sm.rotate-clusters=true"]), [0, 0, 0, 0]);
    assert_eq!(starts(&["sm.schedulers=1", "sm.rotate-clusters=true"]), [0, 0, 3, 3]);
}

#[test]
fn a_narrow_scheduler_issues_to_one_cluster_a_cycle() {
    let rotating = ["sm.rotate-clusters=true", "sm.issue-width=1"];
    let narrow = run("  c0 mov.b32 m0, lane\n  mov.b32 s0, 1\n  exit\n", warps(3), &rotating);
    // Scalar instructions and branches have slots of their own.
    assert_eq!([0, 1, 2].map(|s| narrow.of(s)), [[0, 1, 2], [1, 2, 3], [2, 3, 4]]);
    let wide =
        run("  c0 mov.b32 m0, lane\n  mov.b32 s0, 1\n  exit\n", warps(3), &["sm.rotate-clusters=true", "sm.issue-width=2"]);
    assert_eq!([0, 1, 2].map(|s| wide.of(s)[0]), [0, 0, 1]);
    let each = run(THREE, warps(4), &["sm.issue-width=1", "sm.schedulers=2", "sm.rotate-clusters=true"]);
    assert_eq!([0, 1, 2, 3].map(|s| each.of(s)[0]), [0, 0, 3, 3]);
}

/// Lane 0 alone goes through a body; the others wait behind it.
fn one_lane(body: &str) -> String {
    format!("  c0 cmp.lt.u32 p0, lane, 1\n  @!p0 brad end, end\n{body}end:\n  exit\n")
}

/// S7: the one lane's instructions are for the scalar unit, in the warps' order; where the scalarizer yields, what finds the
/// scalar slot taken issues to its own cluster in the same cycle, and only that.
#[test]
fn the_scalarizer_yields_where_scalar_slots_are_taken() {
    let body = one_lane("  c0 mov.b32 m0, lane\n  c0 mov.b32 m1, lane\n  c0 mov.b32 m2, lane\n");
    let run = |yields: bool| {
        let set = format!("sm.scalarizer-yields={yields}");
        let o = run(&body, warps(2), &["sm.scalar-threshold=1", &set]);
        let first = o.of(0)[2];
        let issues = [0, 1].map(|s| o.of(s)[2..5].iter().map(|at| at - first).collect::<Vec<_>>());
        (issues, o.timing.forms.one_lane, o.timing.forms.missed)
    };
    assert_eq!(run(false), ([vec![0, 1, 2], vec![3, 4, 5]], 6, 0));
    // The second warp comes a cycle later. Behind the first one's last instruction it has the scalar unit for itself.
    assert_eq!(run(true), ([vec![0, 1, 2], vec![1, 2, 3]], 4, 2));
}

/// What a guard leaves of a warp's lanes decides about the form; that it is withdrawn is counted with the same.
#[test]
fn a_guarded_instruction_yields_as_one_lane() {
    let body = "  c0 cmp.lt.u32 p0, lane, 1\n  c0 @p0 mov.b32 m0, lane\n  c0 @p0 mov.b32 m1, lane\n  exit\n";
    let forms = |yields: bool| {
        let set = format!("sm.scalarizer-yields={yields}");
        let o = run(body, warps(2), &["sm.scalar-threshold=1", &set]);
        (o.timing.forms.one_lane, o.timing.forms.few_lanes, o.timing.forms.missed)
    };
    assert_eq!(forms(false), (4, 0, 0));
    assert_eq!(forms(true), (3, 0, 1));
}

/// S6: what the compiler has for the scalar unit can run nowhere else, and goes first.
#[test]
fn the_scalarizer_yields_to_scalar_instructions() {
    let body = one_lane("  c0 mov.b32 m0, lane\n  mov.b32 s0, 1\n  c0 mov.b32 m1, lane\n");
    let set = ["sm.scalar-threshold=1", "sm.scalarizer-yields=true", "sm.scheduler=oldest"];
    let o = run(&body, warps(2), &set);
    let first = o.of(0)[2];
    let issues = [0, 1].map(|s| o.of(s)[2..5].iter().map(|at| at - first).collect::<Vec<_>>());
    // In cycle 1 the older warp has the scalar instruction, in cycle 2 the younger one.
    assert_eq!(issues, [[0, 1, 2], [1, 2, 3]]);
    assert_eq!((o.timing.forms.one_lane, o.timing.forms.missed), (2, 2));
}

/// Two-level, so many active warps.
fn active(warps: u32, more: &[&str]) -> Vec<String> {
    let own = ["sm.scheduler=two-level".to_string(), format!("sm.active-warps={warps}")];
    own.into_iter().chain(more.iter().map(ToString::to_string)).collect()
}

fn run_active(body: &str, sizes: Sizes, warps: u32, more: &[&str]) -> Outcome {
    let overrides = active(warps, more);
    run(body, sizes, &overrides.iter().map(String::as_str).collect::<Vec<_>>())
}

/// The prologue's barrier, with the mark that lets warps leave there.
const AT_BARRIER: &str = "  mov.b32.strand s7, 0\n";

#[test]
fn only_active_warps_issue_and_new_ones_enter_by_age() {
    // Four instructions that nothing delays. With room for one warp, they come to the barrier one after the other; the last one
    // does not wait and keeps its place, and then each warp runs to its end before the next one issues.
    let body = format!("{AT_BARRIER}{THREE}");
    let one = run_active(&body, warps(3), 1, &[]);
    assert_eq!([2, 0, 1].map(|s| one.of(s)), [[0, 1, 2, 3, 4], [5, 6, 7, 8, 9], [10, 11, 12, 13, 14]]);
    // Warp 0 could have issued from 0 on, and 1 as well.
    assert_eq!((one.stalled(Cause::Inactive), one.stalled(Cause::Unit), one.timing.departures), (5 + 10, 0, 2));
    let two = run_active(&body, warps(3), 2, &[]);
    assert_eq!([0, 1, 2].map(|s| two.of(s)[0]), [0, 1, 5]);
    assert_eq!(two.stalled(Cause::Inactive), 5);
    let all = run_active(&body, warps(3), 3, &[]);
    assert_eq!([0, 1, 2].map(|s| all.of(s)[0]), [0, 1, 2]);
    assert_eq!(all.stalled(Cause::Inactive), 0);
    // Two schedulers with a place each; the first one's last at the barrier is warp 2.
    let each = run_active(&body, warps(3), 2, &["sm.schedulers=2"]);
    assert_eq!([0, 1, 2].map(|s| each.of(s)[0]), [5, 0, 0]);
}

/// A load from global memory, and what uses it.
fn load(mark: &str) -> String {
    format!(
        "{AT_BARRIER}  c0 shl.b32 m3, lid.x, 2\n  c3 ld.global.b32 m1, [c[0x8] + u32 m3]\n  c0 add.b32{mark} m2, m1, 1\n  exit\n"
    )
}

#[test]
fn a_warp_leaves_where_a_strand_begins_and_waits_for_memory() {
    let marked = run_active(&load(".strand"), warps(2), 1, &[]);
    let (zero, one) = (marked.of(0), marked.of(1));
    // Warp 1 loads at 21, when its address is there, and leaves: its sum is next from 22 on.
    assert_eq!((one[..3].to_vec(), zero[..3].to_vec()), (vec![0, 1, 21], vec![22, 23, 43]));
    // Each enters when its data is there, and ends.
    assert!(one[3] > 44 && zero[3] > 44 && one[4] == one[3] + 1 && zero[4] == zero[3] + 1, "{zero:?} {one:?}");
    // Each left at its load; at the barrier warp 0 alone, which waited.
    assert_eq!(marked.timing.departures, 3);
    let unmarked = run_active(&load(""), warps(2), 1, &[]);
    let (zero, one) = (unmarked.of(0), unmarked.of(1));
    assert_eq!(zero[0], one[4] + 1, "warp 1 keeps its place to its end");
    assert_eq!(unmarked.timing.departures, 1);
    // Whom nobody replaces issues when its data is there, as without an active set.
    let alone = run_active(&load(".strand"), warps(1), 1, &[]);
    assert_eq!(alone.of(0), run(&load(".strand"), warps(1), &[]).of(0));
    assert_eq!(alone.timing.departures, 1);
    assert_eq!(run(&load(".strand"), warps(2), &["sm.active-warps=1"]).timing.departures, 0, "one level");
}

#[test]
fn a_warp_keeps_its_place_where_it_waits_for_less() {
    // Work-group memory and arithmetic are short waits.
    for slow in ["c3 ld.local.b32 m1, [u32 m2]", "c0 mul.b32 m1, lane, lane"] {
        let body = format!("{AT_BARRIER}  {slow}\n  c0 add.b32.strand m2, m1, 1\n  exit\n");
        let o = run_active(&body, warps(2), 1, &[]);
        assert_eq!(o.of(0)[0], o.of(1)[3] + 1, "{slow}");
    }
}

#[test]
fn warps_at_a_barrier_without_a_mark_do_not_stop_the_others_for_ever() {
    // The prologue's barrier is one: all three come to it although one alone is active.
    let o = run_active(THREE, warps(3), 1, &[]);
    assert_eq!(o.timing.departures, 0);
    assert_eq!(o.issues.len(), 3 * 4);
}

#[test]
fn a_warp_of_another_group_enters_when_one_ends() {
    let body = format!("{AT_BARRIER}{THREE}");
    let o = run_active(&body, Sizes { warps: 1, groups: 3 }, 1, &[]);
    // Each does everything on its own, its five instructions last.
    assert_eq!([0, 1, 2].map(|s| o.of(s)[0]), [0, 5 + ALONE, 2 * (5 + ALONE)]);
    assert!(o.cycles > 2 * (5 + ALONE));
}

/// Runs code as it is in checking mode, in both modes; the faults' texts.
fn faults(code: &str, overrides: &[String]) -> [Option<String>; 2] {
    let machine = machine(&overrides.iter().map(String::as_str).collect::<Vec<_>>());
    let options = Options { check_strands: true, ..Options::default() };
    let timing = try_launch(code, warps(2), &machine, &options).err();
    let functional = try_functional(code, warps(2), &machine, &options).err();
    [timing, functional].map(|fault| fault.map(|f| f.to_string()))
}

#[test]
fn a_read_of_a_local_register_in_another_strand_is_a_fault() {
    let held = "  c1 mov.b32 l2, lane !0:7:1\n  c1 add.b32.strand l1, lane, 1 !0:8:1\n  c1 add.b32 m1, l2, l1 !0:9:1\n  exit\n";
    let lines = "test.cl:9: read of local register l2 of cluster 1, which the warp loses where it may leave the active set";
    for fault in faults(held, &active(4, &[])) {
        assert!(fault.as_ref().is_some_and(|f| f.starts_with(lines) && f.contains("in kernel `k`")), "{fault:?}");
    }
    // Where nothing is lost, and where nobody leaves.
    let kept = held.replace(".strand", "");
    assert_eq!(faults(&kept, &active(4, &[])), [None, None]);
    assert_eq!(faults(held, &active(0, &[])), [None, None]);
    assert_eq!(faults(held, &["sm.active-warps=4".into()]), [None, None]);
    // The marked instruction itself reads what is lost.
    let at_once = "  c1 mov.b32 l2, lane\n  c1 add.b32.strand m1, l2, 1\n  exit\n";
    assert!(faults(at_once, &active(4, &[])).iter().all(Option::is_some));
    // A mark on the instruction that ends a block.
    let at_end = "  c1 mov.b32 l2, lane\n  bar.strand 1\n  c1 add.b32 m1, l2, 1\n  exit\n";
    assert!(faults(at_end, &active(4, &[])).iter().all(Option::is_some));
}

#[test]
fn lanes_that_read_must_have_been_written_again() {
    let code = |writes: &str, reads: &str| {
        format!(
            "  c1 mov.b32 l2, lane\n  c1 cmp.lt.u32 p1, lane, 9\n  c1 cmp.lt.u32 p2, lane, 7\n  c1 mov.b32.strand m3, lane\n\
             \x20 c1 {writes} mov.b32 l2, lane\n  c1 {reads} add.b32 m1, l2, 1\n  exit\n"
        )
    };
    assert_eq!(faults(&code("@p1", "@p2"), &active(4, &[])), [None, None]);
    assert_eq!(faults(&code("@p1", "@p1"), &active(4, &[])), [None, None]);
    let fault = faults(&code("@p2", "@p1"), &active(4, &[]));
    assert!(fault.iter().all(|f| f.as_ref().is_some_and(|f| f.contains("work-item global (7, 0, 0)"))), "{fault:?}");
}

/// Two banks of one port each, without swizzling.
const BANKS: [&str; 2] = ["main-file.banks=2", "main-file.swizzle=false"];

fn banked(body: &str, sizes: Sizes, more: &[&str]) -> Outcome {
    run(body, sizes, &[&BANKS[..], more].concat())
}

#[test]
fn operands_of_one_bank_are_read_one_after_the_other() {
    let body = |b: u32| format!("  c0 add.b32 m0, m2, m{b}\n  c0 mov.b32 m1, lane\n  exit\n");
    // Without limits, in different banks, and in one: then the cluster issues nothing for a cycle.
    for (outcome, issue, sum, conflicts) in [
        (run(&body(4), warps(1), &[]), 1, 20, 0),
        (banked(&body(3), warps(1), &[]), 1, 20, 0),
        (banked(&body(4), warps(1), &[]), 2, 21, 1),
        (banked(&body(4), warps(1), &["main-file.read-ports=2"]), 1, 20, 0),
        (banked(&body(4), warps(1), &["main-file.banks=3"]), 1, 20, 0),
        (banked(&body(5), warps(1), &["main-file.banks=3"]), 2, 21, 1),
    ] {
        assert_eq!((outcome.of(0)[1], outcome.done(0, 0)), (issue, Some(sum)));
        assert_eq!((outcome.stalled(Cause::Bank), outcome.timing.main_file.read_conflicts), (conflicts, conflicts));
    }
    // A pair is two words, in two banks; with another pair four, two of each bank.
    let pairs = banked("  c0 add.b64 m[0:1], m[2:3], m[4:5]\n  exit\n", warps(1), &["timing.int64.latency=30"]);
    assert_eq!((pairs.done(0, 0), pairs.stalled(Cause::Bank)), (Some(31), 0), "the exit is no cluster's");
    // The other clusters' slots are free.
    let other = banked("  c0 add.b32 m0, m2, m4\n  c1 mov.b32 m1, lane\n  exit\n", warps(1), &[]);
    assert_eq!(other.of(0)[1], 1);
}

#[test]
fn warps_in_step_read_different_banks_with_swizzling() {
    let body = "  c0 add.b32 m0, m2, 1\n  exit\n";
    let done = |more: &[&str]| [0, 1].map(|slot| banked(body, warps(2), more).done(slot, 0));
    assert_eq!(done(&["sm.rotate-clusters=true"]), [Some(20), Some(21)]);
    assert_eq!(done(&["sm.rotate-clusters=true", "main-file.swizzle=true"]), [Some(20), Some(20)]);
    assert_eq!(done(&["sm.schedulers=2"]), [Some(20), Some(20)], "each has banks of its own");
}

#[test]
fn reading_the_main_file_takes_its_latency() {
    let body = "  c0 add.b32 m0, m2, 1\n  c0 add.b32 l0, lane, 1\n  c0 add.b32 l1, l0, 1\n  c0 mov.b32 m4, m0\n  exit\n";
    let o = run(body, warps(1), &["main-file.latency=3"]);
    assert_eq!([0, 1, 2, 3].map(|i| o.done(0, i)), [Some(23), Some(21), Some(41), Some(22 + 1 + 10 + 3)]);
    assert_eq!(o.of(0), [0, 1, 21, 23, 24]);
}

#[test]
fn collectors_let_a_cluster_issue_while_operands_are_read() {
    let body = "  c0 add.b32 m0, m2, m4\n  c0 mov.b32 m1, lane\n  exit\n";
    let issue = |n: &str| banked(body, warps(1), &[n]).of(0)[1];
    assert_eq!([issue("main-file.collectors=0"), issue("main-file.collectors=1"), issue("main-file.collectors=2")], [2, 2, 1]);
    // The second product waits in a collector for the unit, for which its cluster's slot is free.
    let body = "  c0 mul.b32 m0, m2, m3\n  c0 mul.b32 m1, m2, m3\n  c0 mov.b32 m4, lane\n  exit\n";
    let o = banked(body, warps(1), &["main-file.collectors=2"]);
    // The mov needs the unit too, behind the second product, and a collector: the first one's is free at 1.
    assert_eq!(o.of(0)[..3], [0, 1, 2]);
    assert_eq!([0, 1, 2].map(|i| o.done(0, i)), [Some(30), Some(5 + 30), Some(10 + 10)]);
    let without = banked(body, warps(1), &[]);
    assert_eq!(without.of(0)[..3], [0, 5, 10]);
    assert_eq!([1, 2].map(|i| without.done(0, i)), [Some(5 + 30), Some(10 + 10)]);
    // With one collector the mov waits until the unit has taken the second product: not for banks.
    let one = banked(body, warps(1), &["main-file.collectors=1"]);
    assert_eq!((one.of(0)[..3].to_vec(), one.stalled(Cause::Bank), one.stalled(Cause::Unit)), (vec![0, 1, 6], 0, 4));
}

#[test]
fn results_of_one_bank_are_written_one_after_the_other() {
    // The sum is there at 20; so is the last mov's result, which is issued at 10.
    let fill: String = (0..9).map(|i| format!("  c0 mov.b32 m{}, lane\n", 2 * i + 1)).collect();
    let body = format!("  c0 add.b32 m0, lane, 1\n{fill}  c0 mov.b32 m2, lane\n  exit\n");
    let done = |more: &[&str]| [0, 10].map(|i| banked(&body, warps(1), more).done(0, i));
    assert_eq!(done(&[]), [Some(20), Some(21)]);
    assert_eq!(done(&["main-file.write-ports=2"]), [Some(20), Some(20)]);
    assert_eq!(banked(&body, warps(1), &[]).timing.main_file.write_conflicts, 1);
    let local = body.replace("mov.b32 m2,", "mov.b32 l2,");
    assert_eq!(banked(&local, warps(1), &[]).done(0, 10), Some(20), "local files have ports for all");
}

#[test]
fn the_scalar_unit_reads_banks_too() {
    let body = "  c0 add.b32.u m0, m2, m4\n  c0 mov.b32 m1, lane\n  exit\n";
    let o = banked(body, warps(1), &["timing.int32.scalar-latency=2"]);
    assert_eq!((o.done(0, 0), o.of(0)[1]), (Some(3), 1));
    assert_eq!(run(body, warps(1), &["timing.int32.scalar-latency=2"]).done(0, 0), Some(2));
}

#[test]
fn a_launch_begins_and_ends_as_late_as_it_costs() {
    let free = run(THREE, warps(2), &[]);
    for (set, cycles) in [("launch-cycles=700", 700), ("end-cycles=90", 90)] {
        let o = run(THREE, warps(2), &[set]);
        assert_eq!((o.cycles, o.issues == free.issues, o.stalls == free.stalls), (free.cycles + cycles, true, true), "{set}");
        assert_eq!(o.timing.occupancy, free.timing.occupancy);
    }
}

#[test]
fn work_groups_come_to_an_sm_one_after_the_other() {
    let three = Sizes { warps: 1, groups: 3 };
    let begins = |sets: &[&str]| {
        let o = run(THREE, three, sets);
        [0, 1, 2].map(|slot| o.of(slot)[0])
    };
    // Together they queue for slots by a cycle. The first one waits for its code, which the others find.
    let together = begins(&[]);
    assert!(together[2] < 20, "{together:?}");
    let apart = begins(&["sm.dispatch-cycles=5000"]);
    assert_eq!(apart[2] - apart[1], 5000);
    // One at a time: the next one comes when the one before has ended, which is later.
    let one = ["sm.max-work-groups=1", "sm.dispatch-cycles=500"];
    assert_eq!(run(THREE, three, &one).cycles, run(THREE, three, &one[..1]).cycles);
    let slow = ["sm.max-work-groups=1", "sm.dispatch-cycles=50000"];
    let firsts = run(THREE, three, &slow).of(0);
    assert_eq!(firsts[2] - firsts[1], 50_000, "the first instruction of each group");
}

#[test]
fn random_delays_of_work_groups_have_a_bound() {
    let many = Sizes { warps: 1, groups: 12 };
    let begins = |sets: &[&str]| -> Vec<u64> {
        let o = run(THREE, many, sets);
        (0..12).map(|slot| o.of(slot)[0]).collect()
    };
    // Much longer than all wait for their code.
    let (plain, delayed) = (begins(&[]), begins(&["perturbation.cycles=10000", "perturbation.seed=3"]));
    let later: Vec<u64> = plain.iter().zip(&delayed).map(|(a, b)| b.saturating_sub(*a)).collect();
    assert!(later.iter().all(|c| *c <= 10_000) && later.iter().any(|c| *c > 5000), "{plain:?} {delayed:?}");
}

#[test]
fn a_work_group_begins_when_another_one_has_ended() {
    // Group 0 ends soon; group 1, beside it, waits for a division. Group 2 takes the place of the first one without
    // waiting for what happens in the other.
    let body = "  mov.b32 s0, group.x\n  bras.z s0, out\n  c2 div.u32 m1, lane, 3\n  c0 mov.b32 m2, m1\nout:\n\
                \x20 c0 mul.b32 m3, lane, 3\n  c1 mov.b32 m4, m3\n  exit\n";
    let o = run(body, Sizes { warps: 1, groups: 3 }, &["sm.max-work-groups=2"]);
    let times = o.of(0);
    // Instruction by instruction: groups 0 and 2, of which the first has no division.
    let [begin, first_end] = [times[1], times[10]];
    assert_eq!(begin, first_end + 1 + ALONE, "{times:?}");
}

#[test]
fn every_policy_computes_the_same() {
    // A loop with divergence, a barrier, and local, main and scalar registers; groups in several waves.
    let body = "  c0 shl.b32 m3, gid.x, 2\n  mov.b32 s0, 0\n  c0 and.b32 m5, lane, 7\n  c1 mov.b32 m1, lane\n\
                again:\n  c0 cmp.lt.u32 p0, s0, m5\n  c0 @p0 add.b32 m1, m1, m3\n  c1 add.b32 l1, m1, s0\n  c1 xor.b32 m1, l1, m1\n\
                \x20 add.b32 s0, s0, 1\n  cmp.lt.u32 s1, s0, 9\n  bras s1, again\n  bar 1\n\
                \x20 c3 mul.b32.strand m1, m1, gid.x\n  c3 st.global.b32 [c[0x8] + u32 m3], m1\n  exit\n";
    let sizes = Sizes { warps: 5, groups: 7 };
    let mut outcomes = Vec::new();
    for policy in ["greedy-oldest", "oldest", "round-robin", "two-level"] {
        for sets in [
            &["sm.active-warps=0"][..],
            &["sm.active-warps=4", "sm.schedulers=4"],
            &["sm.active-warps=3", "main-file.banks=4", "main-file.latency=2", "sm.count=3"],
            &["sm.schedulers=2", "main-file.banks=2", "main-file.collectors=2", "sm.rotate-clusters=true", "sm.issue-width=1"],
            &["sm.max-warps=10", "sm.dispatch-cycles=40", "launch-cycles=100", "end-cycles=10"],
        ] {
            let mut sets = sets.to_vec();
            let policy = format!("sm.scheduler={policy}");
            sets.push(&policy);
            let machine = machine(&sets);
            let timing = |threads, in_turns| {
                try_launch(body, sizes, &machine, &Options { threads, in_turns, ..Options::default() }).unwrap()
            };
            let (statistics, bytes) = timing(1, false);
            for (threads, in_turns) in [(3, false), (1, true)] {
                let (same, same_bytes) = timing(threads, in_turns);
                assert_eq!((same.cycles, &same.stalls, &same_bytes), (statistics.cycles, &statistics.stalls, &bytes), "{sets:?}");
            }
            assert_eq!(try_functional(body, sizes, &machine, &Options::default()).unwrap(), bytes, "{sets:?}");
            outcomes.push((statistics.cycles, bytes));
        }
    }
    assert!(outcomes.iter().all(|o| o.1 == outcomes[0].1));
    let mut cycles: Vec<u64> = outcomes.iter().map(|o| o.0).collect();
    cycles.sort();
    cycles.dedup();
    assert!(cycles.len() > 10, "the machines differ: {cycles:?}");
}
