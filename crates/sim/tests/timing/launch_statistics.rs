//! Small launches with all that timing mode counts of them, each figure worked out by hand from the description in
//! tests/lit/timing/Inputs/machine.toml, where code is there in cycle 1000.

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use heddle_sim::statistics::{
    CacheStatistics, Forms, HierarchyStatistics, InstructionProfile, PoolStatistics, Stalls, Statistics, TimingStatistics,
};
use heddle_sim::trace::{Record, SliceKind};
use heddle_sim::{DeviceMemory, Hierarchy, HostWrite, Launch, Options, Program, Simulation};
use heddle_target::Machine;

/// A kernel and its launch: registers as the header says them, and work-items.
#[derive(Clone, Copy)]
struct Case<'a> {
    code: &'a str,
    main: u32,
    fixed: u32,
    demand: u32,
    global: u32,
    local: u32,
    set: &'a [&'a str],
}

impl<'a> Case<'a> {
    /// One work-group.
    fn new(code: &'a str, items: u32, set: &'a [&'a str]) -> Case<'a> {
        Case { code, main: 16, fixed: 16, demand: 0, global: items, local: items, set }
    }

    fn machine(&self) -> Machine {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/lit/timing/Inputs/machine.toml");
        let set: Vec<String> = self.set.iter().map(ToString::to_string).collect();
        Machine::load(Some(&path), &set).unwrap_or_else(|e| panic!("{e}"))
    }

    fn run(&self, options: &Options) -> Statistics {
        self.launches(options, 1).remove(0)
    }

    /// Where the buffer is.
    fn address(&self) -> u64 {
        DeviceMemory::new(1 << 20).allocate("a", 1 << 16).unwrap()
    }

    /// What is in the buffer after a launch, and how many work-groups it said had ended.
    fn bytes(&self, options: &Options) -> (Vec<u8>, u64) {
        let machine = self.machine();
        let (program, mut memory) = (self.program(&machine), DeviceMemory::new(1 << 20));
        let a = memory.allocate("a", 1 << 16).unwrap();
        let mut launch = Launch::new(&program, [self.global, 1, 1], [self.local, 1, 1]);
        launch.set_argument(8, &a.to_le_bytes());
        let ended = AtomicU64::new(0);
        let progress = |n| _ = ended.fetch_add(n, Ordering::Relaxed);
        let simulation = Simulation { progress: &progress, ..Simulation::new(&launch, &memory, &machine, options) };
        simulation.timing(&mut Hierarchy::new(&machine)).unwrap();
        (memory.read(a, 1 << 10).unwrap().to_vec(), ended.into_inner())
    }

    /// What some launches did, one after the other on one device.
    fn launches(&self, options: &Options, count: usize) -> Vec<Statistics> {
        let machine = self.machine();
        let (program, mut memory) = (self.program(&machine), DeviceMemory::new(1 << 20));
        let a = memory.allocate("a", 1 << 16).unwrap();
        let mut launch = Launch::new(&program, [self.global, 1, 1], [self.local, 1, 1]);
        launch.set_argument(8, &a.to_le_bytes());
        let mut hierarchy = Hierarchy::new(&machine);
        let one = |_| Simulation::new(&launch, &memory, &machine, options).timing(&mut hierarchy).unwrap();
        (0..count).map(one).collect()
    }

    fn program(&self, machine: &Machine) -> Program {
        let Case { main, fixed, demand, .. } = self;
        let clusters = machine.clusters.len();
        let local = vec!["4"; clusters].join(",");
        let source = format!(
            ".object {{\"version\":1,\"machine\":\"test\",\"clusters\":{clusters},\"kernels\":[],\"data_relocations\":[],\"data_align\":1}}\n\
             .kernel {{\"name\":\"k\",\"text_offset\":0,\"text_size\":0,\"args\":[{{\"name\":\"a\",\"type_name\":\"uint*\",\
             \"kind\":\"global\",\"offset\":8,\"size\":8,\"align\":8}}],\"local_bytes\":256,\"private_bytes\":16,\
             \"main_registers\":{main},\"fixed_registers\":{fixed},\"shared_demand\":{demand},\"local_registers\":[{local}],\
             \"scalar_registers\":8,\"predicate_registers\":4,\"required_work_group\":null,\"warp_size\":{}}}\n{}",
            machine.warp_size, self.code
        );
        let image = heddle_object::asm::assemble(&source).unwrap_or_else(|e| panic!("{}: {}\n{source}", e.line, e.message));
        Program::from_image(&image, 0, machine).unwrap()
    }
}

fn timing(s: &Statistics) -> &TimingStatistics {
    s.timing.as_ref().unwrap()
}

/// Issues, lanes, cycles; lines, sectors, hits, far, latency.
fn profile(s: &Statistics) -> Vec<([u64; 3], [u64; 5])> {
    let of = |p: &InstructionProfile| ([p.issues, p.lanes, p.cycles], [p.lines, p.sectors, p.hits, p.far, p.latency]);
    timing(s).profile.iter().map(of).collect()
}

/// How many loads have a latency of 2^bin cycles and more.
fn latencies(bins: &[(usize, u64)]) -> [u64; 16] {
    let mut all = [0; 16];
    bins.iter().for_each(|(bin, n)| all[*bin] = *n);
    all
}

/// A load that misses takes 1040 cycles, one that hits 105 (see tests/lit/timing/l1.s).
const TWO_LOADS: &str = "  div.u32 m0, lane, 64
  c2 ld.global.b32 m1, [c[0x8] + u32 m0]
  add.b32 m2, m1, lane
  c2 ld.global.b32 m3, [c[0x8] + u32 m0]
  exit
";

#[test]
fn all_that_two_loads_do() {
    let s = Case::new(TWO_LOADS, 32, &[]).run(&Options::default());
    let t = timing(&s);
    // 1000 + 10000 + 1040: then the add, the second load, exit, one a cycle. In the last one the warp is no more resident.
    assert_eq!((t.cycles, t.sm_cycles, t.resident_warps, t.occupancy), (12_043, 12_043, 1, 12_042.0 / 12_043.0 / 16.0));
    assert_eq!(t.residency_limit, "the launch, which has only 1 work-group");
    assert_eq!((s.work_items, s.work_groups, s.warps, s.instructions), (32, 1, 1, 5));
    // Until its code is there; for the quotient; for the first load: all cycles but five.
    assert_eq!(t.stalls, Stalls { fetch: 1000, dependence: 9999, memory: 1039, ..Default::default() });
    assert_eq!((t.issued.clone(), t.scalar_issued, t.named_registers), (vec![2, 0, 2], 0, 16));
    // The loads have one address in all lanes.
    assert_eq!(t.forms, Forms { missed: 2, vector: 2, ..Default::default() });
    assert_eq!(
        profile(&s),
        [
            ([1, 32, 1000], [0; 5]),
            ([1, 32, 10_000], [1, 1, 0, 1, 1040]),
            ([1, 32, 1040], [0; 5]),
            ([1, 32, 1], [1, 1, 1, 0, 105]),
            ([1, 32, 1], [0; 5]),
        ]
    );
    // A line of code of eight sectors, of one row of DRAM, and a sector of data, of another one: no code beyond is fetched.
    let wanted = HierarchyStatistics {
        data: CacheStatistics { reads: 2, misses: 1, ..Default::default() },
        instruction: CacheStatistics { reads: 1, misses: 1, ..Default::default() },
        l15: CacheStatistics { reads: 8, misses: 8, ..Default::default() },
        l2: CacheStatistics { reads: 9, misses: 9, ..Default::default() },
        network_sectors: 9,
        l2_to_l1_bytes: 9 * 32,
        dram_read_bytes: 9 * 32,
        dram_row_misses: 2,
        latencies: latencies(&[(6, 1), (10, 1)]),
        ..Default::default()
    };
    assert_eq!(t.hierarchy, wanted);
    assert_eq!(s.memory["global"].sectors, 2);
    assert_eq!(t.pool, PoolStatistics::default());
}

/// The second launch finds code and data in the caches of the first.
#[test]
fn caches_keep_their_lines_from_launch_to_launch() {
    let all = Case::new(TWO_LOADS, 32, &[]).launches(&Options::default(), 2);
    let t = timing(&all[1]);
    // The instruction L1 has the code.
    assert_eq!(t.cycles, 10_000 + 105 + 3);
    assert_eq!(t.stalls, Stalls { dependence: 9999, memory: 104, ..Default::default() });
    let wanted = HierarchyStatistics {
        data: CacheStatistics { reads: 2, ..Default::default() },
        instruction: CacheStatistics { reads: 1, ..Default::default() },
        latencies: latencies(&[(6, 2)]),
        ..Default::default()
    };
    assert_eq!(t.hierarchy, wanted);
}

/// What is recorded of each instruction: on what it ran, and where lanes parted.
#[test]
fn units_and_splits_are_recorded() {
    let code = "  mov.b32 s0, 3\n  c1 mov.b32 m1, lane\n  cmp.lt.u32 p0, m1, 7\n  @p0 brad small, join\n  \
                c2 mov.b32 m2, 1\n  bra join\nsmall:\n  mov.b32 m2, 2\njoin:\n  exit\n";
    let record = Record { time_line: true, slices: 100 };
    let s = Case::new(code, 32, &[]).run(&Options { record, ..Options::default() });
    let recording = &timing(&s).recordings[0];
    let of = |kind| if let SliceKind::Instruction { index, lanes, unit } = kind { Some((index, lanes, unit)) } else { None };
    let mut seen: Vec<_> = recording.slices.iter().flatten().filter_map(|slice| of(slice.kind)).collect();
    seen.sort();
    seen.dedup();
    // Of three clusters; then the scalar unit, and the front end.
    let wanted = [(0, 32, 3), (1, 32, 1), (2, 32, 0), (3, 32, 4), (4, 25, 2), (5, 25, 4), (6, 7, 0), (7, 32, 4)];
    assert_eq!((seen, s.divergent_branches), (wanted.to_vec(), 1));
    assert_eq!(recording.splits, [0, 0, 0, 1, 0, 0, 0, 0]);
}

/// The second warp's fetch finds the line on its way, which is known to be there in cycle 1000: that is over in the next launch.
#[test]
fn fetches_of_a_launch_mean_nothing_to_the_next() {
    let case = Case::new("  mov.b32 m0, lane\n  exit\n", 96, &[]);
    for in_turns in [true, false] {
        let all = case.launches(&Options { in_turns, ..Options::default() }, 3);
        let of = |s: &Statistics| (timing(s).cycles, timing(s).hierarchy.instruction);
        let reads = |misses| CacheStatistics { reads: 3, misses, ..Default::default() };
        assert_eq!(all.iter().map(of).collect::<Vec<_>>(), [(1004, reads(1)), (4, reads(0)), (4, reads(0))], "{in_turns}");
    }
}

/// Launch, work-groups and the end of a launch at their costs, in what SMs are said to be in use.
#[test]
fn cycles_of_sms_in_use() {
    let costs = ["launch-cycles=300", "end-cycles=40"];
    let s = Case::new(TWO_LOADS, 32, &costs).run(&Options::default());
    assert_eq!(
        (timing(&s).cycles, timing(&s).sm_cycles, timing(&s).occupancy),
        (300 + 12_043 + 40, 12_043, 12_042.0 / 12_043.0 / 16.0)
    );
}

/// Two SMs and three work-groups of two warps, one at a time; the third one follows the first.
#[test]
fn work_groups_follow_each_other() {
    let code = "  div.u32 m0, lane, 64\n  mov.b32 m1, m0\n  exit\n";
    let set = ["sm.count=2", "sm.max-work-groups=1"];
    let case = Case { global: 192, local: 64, ..Case::new(code, 64, &set) };
    for (threads, in_turns) in [(1, true), (1, false), (2, false)] {
        let s = case.run(&Options { threads, in_turns, ..Options::default() });
        let t = timing(&s);
        assert_eq!((s.work_items, s.work_groups, s.warps, s.instructions), (192, 3, 6, 18));
        assert_eq!((t.resident_warps, t.residency_limit.as_str()), (2, "work-groups"));
        // Both SMs ask for their code in the same cycles, so that the second one finds it on its way in L2. The second warp
        // waits 5 cycles for the divider, so that a group ends 10007 cycles after its first issue.
        assert_eq!((t.cycles, t.sm_cycles), (21_014, 21_014 + 11_007));
        assert_eq!(t.stalls, Stalls { fetch: 4 * 1000, dependence: 6 * 9999, unit: 3 * 5, ..Default::default() });
        // Warps are resident until their exits.
        let resident = 2 * (11_001 + 11_006) + (10_001 + 10_006);
        assert_eq!(t.occupancy, resident as f64 / (16.0 * 32_021.0));
        assert_eq!((t.issued.clone(), t.scalar_issued), (vec![12, 0, 0], 0));
        assert_eq!(t.forms, Forms { missed: 6, vector: 6, ..Default::default() });
        let spent = profile(&s).iter().map(|p| p.0).collect::<Vec<_>>();
        assert_eq!(spent, [[6, 192, 1000 + 1005 + 1000 + 1005 + 5], [6, 192, 60_000], [6, 192, 6]]);
        let wanted = HierarchyStatistics {
            instruction: CacheStatistics { reads: 6, misses: 2, ..Default::default() },
            l15: CacheStatistics { reads: 16, misses: 16, ..Default::default() },
            l2: CacheStatistics { reads: 16, misses: 8, ..Default::default() },
            network_sectors: 16,
            l2_to_l1_bytes: 16 * 32,
            dram_read_bytes: 8 * 32,
            dram_row_misses: 1,
            ..Default::default()
        };
        assert_eq!(t.hierarchy, wanted);
    }
}

/// Warps of each size: they issue one after the other, `mov` beside the `exit` of the one before.
#[test]
fn warps_of_every_size() {
    for size in [8, 16, 32, 64] {
        let set = [format!("warp-size={size}")];
        let set = [set[0].as_str()];
        let s = Case::new("  mov.b32 m0, lane\n  exit\n", 64, &set).run(&Options::default());
        let (t, warps) = (timing(&s), 64 / size);
        assert_eq!((s.warps, s.work_items, s.instructions, t.resident_warps), (warps, 64, 2 * warps, warps), "{size}");
        assert_eq!(t.cycles, 1000 + warps + 1, "{size}");
        assert_eq!(profile(&s)[0].0, [warps, 64, 1000 * warps + warps * (warps - 1) / 2], "{size}");
    }
}

/// The run-time scalarizer: two active lanes, then one.
#[test]
fn few_lanes_on_the_scalar_unit() {
    let code = "  add.b32 m0, lane, 1\n  mul.b32 m1, lane, 0\n  mul.b32 m2, m1, 5\n  add.b32 m3, m2, m1\n  exit\n";
    let run = |items, threshold, set: &[&str]| {
        Case::new(code, items, set).run(&Options { scalar_threshold: Some(threshold), ..Options::default() })
    };
    let figures = |s: &Statistics| {
        let t = timing(s);
        let saved: Vec<u64> = t.profile.iter().map(|p| p.saved_lanes).collect();
        let compared = s.energy_pj.get("scalarizer").copied().unwrap_or(0.0);
        (t.forms, t.issued[0], t.scalar_issued, saved, t.cycles, compared)
    };
    // Add and multiplication of lane numbers on their units; the product of 40 cycles; on the scalar unit 5 cycles for a
    // product, and the sum.
    let two = figures(&run(2, 2, &[]));
    let forms = Forms { few_lanes: 2, vector: 2, ..Default::default() };
    // Each compares its operands that are registers, in two lanes.
    assert_eq!(two, (forms, 2, 2, vec![0, 0, 1, 1, 0], 1000 + 1 + 40 + 5 + 2, 2.0 * (1.0 + 1.0 + 1.0 + 2.0)));
    // More lanes than the threshold: a product of 40 cycles.
    let forms = Forms { missed: 2, vector: 2, ..Default::default() };
    assert_eq!(figures(&run(3, 2, &[])), (forms, 4, 0, vec![0; 5], 1000 + 1 + 40 + 40 + 2, 0.0));
    assert_eq!(figures(&run(2, 1, &[])), (forms, 4, 0, vec![0; 5], 1000 + 1 + 40 + 40 + 2, 0.0));
    // All lanes of a warp, however many the threshold is.
    assert_eq!(figures(&run(32, 32, &[])), (forms, 4, 0, vec![0; 5], 1000 + 1 + 40 + 40 + 2, 0.0));
    // One lane needs no comparison: sum and product, 5 cycles, 5 cycles.
    let forms = Forms { one_lane: 4, ..Default::default() };
    assert_eq!(figures(&run(1, 1, &[])), (forms, 0, 4, vec![0; 5], 1000 + 1 + 5 + 5 + 2, 0.0));
    let forms = Forms { missed: 4, ..Default::default() };
    assert_eq!(figures(&run(1, 0, &[])), (forms, 4, 0, vec![0; 5], 1000 + 1 + 40 + 40 + 2, 0.0));
}

/// Words are compared, of lanes' registers only.
#[test]
fn what_the_scalarizer_compares() {
    let code = "  mov.b32 s0, 3\n  mul.b32 m1, lane, 0\n  add.b32 m3, m1, s0\n  add.b64 m[4:5], m[6:7], m[6:7]\n  exit\n";
    let s = Case::new(code, 2, &[]).run(&Options { scalar_threshold: Some(2), ..Options::default() });
    assert_eq!(timing(&s).forms, Forms { scalar: 1, few_lanes: 2, vector: 1, ..Default::default() });
    assert_eq!((timing(&s).scalar_issued, timing(&s).issued.clone()), (3, vec![1, 0, 0]));
    assert_eq!(s.energy_pj["scalarizer"], 2.0 * (1.0 + 1.0 + 4.0));
}

/// Lanes 64 bytes apart touch a sector each, in 8 lines of 256 bytes; a word of private memory is 128 bytes of a line.
#[test]
fn lines_and_sectors_of_each_space() {
    let code = "  div.u32 m0, lane, 64\n  shl.b32 m1, lane, 6\n  add.b32 m1, m1, m0\n  \
                c2 ld.global.b32 m2, [c[0x8] + u32 m1]\n  add.b32 m3, m2, 1\n  c2 ld.global.b32 m4, [c[0x8] + u32 m1]\n  \
                add.b32 m3, m4, 1\n  c2 st.private.b32 [0], m3\n  c2 ld.private.b32 m5, [0]\n  add.b32 m6, m5, 1\n  \
                c2 st.global.b32 [c[0x8] + u32 m1], m6\n  exit\n";
    let s = Case::new(code, 32, &[]).run(&Options::default());
    let all = profile(&s);
    let first = all[3].1[4];
    // The last of 8 lines is looked up 7 cycles later; private memory has a latency of 9 in its unit.
    let accesses = [3, 5, 7, 8, 10].map(|i| all[i].1);
    assert_eq!(
        accesses,
        [[8, 32, 0, 32, first], [8, 32, 32, 0, 5 + 100 + 7], [1, 4, 0, 0, 0], [1, 4, 4, 0, 9 + 100], [8, 32, 0, 0, 0]]
    );
    // Each sum waits for its load.
    assert_eq!([4, 6, 9].map(|i| all[i].0[2]), [first, 112, 109]);
    assert_eq!((s.memory["global"].sectors, s.memory["private"].sectors), (3 * 32, 2 * 4));
    let t = timing(&s);
    assert_eq!(t.hierarchy.latencies, latencies(&[(6, 2), (first.ilog2() as usize, 1)]));
    assert_eq!(t.stalls.memory, first - 1 + 111 + 108);
    let data = CacheStatistics { reads: 68, misses: 32, writes: 4, evicted_normal: 1, discarded: 7, ..Default::default() };
    assert_eq!(t.hierarchy.data, data);
}

/// A kernel of which a warp holds one of four shared registers at a time, and never more.
const RENAMED: &str = "  mov.b32 m4, lane
  div.u32 m5, m4!, 64
  add.b32 m0, m5!, 1
  exit
";

/// A machine with so many registers, whose accesses that hit an open row take 130 cycles, so that 520 are observed before
/// another group comes. Code takes the same 1000 to come.
fn pool_of<'a>(named: &'a str, all: &'a str) -> [&'a str; 6] {
    let [data, l2] = ["memory.data.latency=10", "memory.l2.latency=10"];
    [named, all, data, l2, "memory.dram.row-hit=10", "memory.dram.row-miss=820"]
}

#[test]
fn registers_of_a_pool() {
    // 31 registers: three groups of 4 fixed ones and 4 at once. In the first 1000 cycles 19 are free, that is enough for one
    // more group (4 fixed ones, 4 and the reserve of 4 for the oldest); then 15, and less.
    let set = pool_of("sm.max-main-registers=16", "sm.main-registers=992");
    let case = Case { main: 8, fixed: 4, demand: 4, global: 8 * 32, local: 32, ..Case::new(RENAMED, 32, &set) };
    for in_turns in [false, true] {
        let s = case.run(&Options { in_turns, check_renames: true, ..Options::default() });
        let t = timing(&s);
        // Four movs from 1000 on, a division every 5 cycles from 1010 on, sums from 11010 on, exits a cycle later, and in the
        // next cycle another group's mov. Those of the last two groups wait a cycle, as there is a division then: 11023 and
        // 11028. The last quotient is there at 21038.
        assert_eq!((t.cycles, t.sm_cycles, t.resident_warps, t.residency_limit.as_str()), (21_040, 21_040, 4, "main registers"));
        let unit = (1 + 2 + 3) + (4 + 8 + 12) + (1 + 1);
        assert_eq!(t.stalls, Stalls { fetch: 3 * 1000, dependence: 8 * (9 + 9999), unit, ..Default::default() });
        // Registers in use: 12; 17 and 18; 19 and 20, but for a cycle of 15 after the exit of each of the first four groups;
        // from the exit of the fifth on (21023) 15, 14; 10; 9; 5, 4; none.
        let histogram = [1, 5, 1, 1000 + 5, 5 + 4, 2, 21_040 - 1023, 0, 0, 0, 0];
        assert_eq!(t.pool, PoolStatistics { size: 31, peak: 20, histogram, fixed: 4, named: 8, demand: 4 });
    }
}

/// REN-8: of three groups the youngest waits for registers that the oldest may still need.
#[test]
fn a_warp_starves_until_older_ones_give_registers_back() {
    let code = "  div.u32 m0, lane, 64\n  add.b32 m2, m0, 1\n  add.b32 m3, m0, 1\n  add.b32 m4, m0, 1\n  div.u32 m1, m2!, 64\n  \
                add.b32 m1, m3!, m4!\n  exit\n";
    // 13 registers: two groups of 2 and 3; as 9 are free at first, and 8 would be enough, a third one.
    let set = pool_of("sm.max-main-registers=8", "sm.main-registers=416");
    let case = Case { main: 8, fixed: 2, demand: 3, global: 3 * 32, local: 32, ..Case::new(code, 32, &set) };
    for in_turns in [false, true] {
        let s = case.run(&Options { in_turns, check_renames: true, ..Options::default() });
        let t = timing(&s);
        // Divisions at 1000, 1005, 1010. Warps 0 and 1 take three registers each from 11000 and 11005 on. At 11010 one is left for
        // warp 2, which may need three, and does not begin. Warp 0 divides at 11020, warp 1 at 11026; each gives one back and
        // may want it again. Warp 0 has its sum at 21020 and ends in the next cycle. Then five are free, of which warp 1,
        // the oldest now, may want one: warp 2 begins, and divides 20 cycles later, as warp 0 did.
        assert_eq!(t.cycles, 21_021 + 20 + 10_000 + 2);
        assert_eq!(t.stalls.rename, 21_021 - 11_010);
        assert_eq!((t.pool.peak, t.resident_warps), (6 + 6, 3));
    }
}

/// The host writes while a launch runs: what is read in the cycle of the write, or later, is new.
#[test]
fn the_host_writes_meanwhile() {
    let code = "  div.u32 m0, lane, 64\n  c2 ld.global.b32 m1, [c[0x8] + u32 m0]\n  shl.b32 m2, lane, 2\n  \
                c2 st.global.b32 [c[0x8] + u32 m2 + 256], m1\n  exit\n";
    let case = Case::new(code, 32, &[]);
    for in_turns in [false, true] {
        // The load issues at 11000.
        let seen = |cycle: u64| {
            let host_writes = vec![HostWrite { cycle, address: case.address(), data: vec![7, 0, 0, 0] }];
            let options = Options { in_turns, host_writes, ..Options::default() };
            let (bytes, ended) = case.bytes(&options);
            assert_eq!((bytes[0], ended), (7, 1), "it is written at the end, and one work-group has ended");
            bytes[256]
        };
        assert_eq!([10_000, 11_000, 11_001, 11_500].map(seen), [7, 7, 0, 0], "in turns: {in_turns}");
    }
}
