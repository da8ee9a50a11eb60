//! A kernel of all sorts of accesses under every policy of the memory hierarchy: the same bytes, counts that
//! add up from level to level, and the same statistics on any number of host threads.

use heddle_sim::hierarchy::Hierarchy;
use heddle_sim::statistics::{HierarchyStatistics, Statistics, TimingStatistics};
use heddle_sim::{DeviceMemory, Launch, Options, Program, Simulation};

const HEADER: &str = r#".object {"version":1,"machine":"heddle","clusters":4,"kernels":[],"data_relocations":[],"data_align":1}
.kernel {"name":"k","text_offset":0,"text_size":0,"args":[{"name":"a","type_name":"int*","kind":"global","offset":8,"size":8,"align":8},{"name":"b","type_name":"int*","kind":"global","offset":16,"size":8,"align":8}],"local_bytes":0,"private_bytes":64,"main_registers":16,"fixed_registers":16,"shared_demand":0,"local_registers":[0,0,0,0],"scalar_registers":8,"predicate_registers":2,"required_work_group":null,"warp_size":32}
"#;

/// Each work-item goes through `a` by a generator of its own, half of it by pitches of 512 bytes; reads it
/// through the data, uniform and constant caches; keeps sums in private memory; and adds to counters in `b`.
const BODY: &str = "  mul.b32 m4, gid.x, 1640531527
  shl.b32 m7, gid.x, 2
  mov.b32 m5, 0
  mov.b32 m8, 0
ZERO:
  c3 st.private.b32 [u32 m8], m5
  add.b32 m8, m8, 4
  first.b32 s2, m8
  cmp.lt.u32 s3, s2, 64
  bras s3, ZERO
  mov.b32 s1, 0
LOOP:
  mul.b32 m4, m4, 1664525
  add.b32 m4, m4, 1013904223
  shr.u32 m1, m4, 10
  and.b32 m1, m1, 65532
  c3 ld.global.b32 m2, [c[0x8] + u32 m1]
  add.b32 m5, m5, m2
  shl.b32 m3, m7, 7
  shl.b32 m6, s1, 9
  add.b32 m3, m3, m6
  and.b32 m3, m3, 65532
  c3 ld.global.b32.cs m2, [c[0x8] + u32 m3]
  xor.b32 m5, m5, m2
  shl.b32 s2, s1, 5
  and.b32 s2, s2, 16380
  c3 ldu.global.b32 m2, [c[0x8] + u32 s2]
  add.b32 m5, m5, m2
  c3 ld.constant.b32 m2, [c[0x8] + u32 m6]
  add.b32 m5, m5, m2
  and.b32 m8, m4, 60
  c3 ld.private.b32 m2, [u32 m8]
  add.b32 m2, m2, m5
  c3 st.private.b32 [u32 m8], m2
  and.b32 m9, m4, 252
  c3 atom.global.add.b32 _, [c[0x10] + u32 m9], m5
  c3 ld.global.b32.cg m2, [c[0x8] + u32 m1]
  add.b32 m5, m5, m2
  c3 st.global.b32 [c[0x10] + u32 m7 + 256], m5
  add.b32 s1, s1, 1
  cmp.lt.u32 s3, s1, 6
  bras s3, LOOP
  mov.b32 m8, 0
SUM:
  c3 ld.private.b32.lu m2, [u32 m8]
  add.b32 m5, m5, m2
  add.b32 m8, m8, 4
  first.b32 s2, m8
  cmp.lt.u32 s3, s2, 64
  bras s3, SUM
  c3 st.global.b32.cs [c[0x10] + u32 m7 + 256], m5
  exit
";

/// Small caches, so that much is evicted; four SMs in two clusters.
const SMALL: [&str; 12] = [
    "sm.count=4",
    "memory.data.bytes=4096",
    "memory.data.ways=4",
    "memory.uniform.bytes=2048",
    "memory.uniform.ways=4",
    "memory.constant.bytes=2048",
    "memory.instruction.prefetch=0",
    "memory.l15.bytes=8192",
    "memory.l2.bytes=32768",
    "memory.l2.slices=4",
    "memory.l2.ways=8",
    "memory.dram.banks=4",
];

/// What stands in `b` at the end of 16 warps, and the statistics.
fn run(more: &[&str], options: &Options) -> (Vec<u8>, Statistics) {
    execute(BODY, 512, more, options)
}

/// Bytes and timing of a kernel whose SMs take turns, which must be those of SMs side by side on some numbers of threads.
fn execute_in_turns_and_side_by_side(
    body: &str,
    work_items: u32,
    more: &[&str],
    threads: &[usize],
) -> (Vec<u8>, TimingStatistics) {
    let (bytes, turns) = execute(body, work_items, more, &Options { in_turns: true, ..Options::default() });
    let a = turns.timing.unwrap();
    for &threads in threads {
        let (same, many) = execute(body, work_items, more, &Options { threads, ..Options::default() });
        let b = many.timing.unwrap();
        assert_eq!((a.cycles, &a.hierarchy, &a.stalls), (b.cycles, &b.hierarchy, &b.stalls), "{more:?}, {threads} threads");
        assert_eq!((&a.profile, &bytes), (&b.profile, &same), "{more:?}, {threads} threads");
    }
    (bytes, a)
}

fn execute(body: &str, work_items: u32, more: &[&str], options: &Options) -> (Vec<u8>, Statistics) {
    let set: Vec<String> = SMALL.iter().chain(more).map(ToString::to_string).collect();
    let machine = heddle_target::testing::mixed(&set);
    let image = heddle_object::asm::assemble(&format!("{HEADER}{body}")).unwrap_or_else(|e| panic!("{e}"));
    let program = Program::from_image(&image, image.kernel("k").unwrap(), &machine).unwrap();
    let mut memory = DeviceMemory::new(1 << 20);
    let a = memory.allocate("a", 1 << 16).unwrap();
    let b = memory.allocate("b", 256 + 4 * 512).unwrap();
    let words: Vec<u8> = (0..1u32 << 14).flat_map(|i| (i.wrapping_mul(2_654_435_761) >> 7).to_le_bytes()).collect();
    assert!(memory.write(a, &words));
    let mut constants = vec![0; 32];
    constants[8..16].copy_from_slice(&a.to_le_bytes());
    constants[16..24].copy_from_slice(&b.to_le_bytes());
    let launch = Launch {
        program: &program,
        global: [work_items, 1, 1],
        local: [64.min(work_items), 1, 1],
        offset: [0; 3],
        work_dim: 1,
        constants,
        local_bytes: 0,
        redzones: Vec::new(),
        descriptors: Vec::new(),
        images: Default::default(),
        tolerated: Default::default(),
    };
    let mut hierarchy = Hierarchy::new(&machine);
    let statistics = Simulation::new(&launch, &memory, &machine, options).timing(&mut hierarchy).unwrap();
    (memory.read(b, 256 + 4 * 512).unwrap(), statistics)
}

fn hierarchy(s: &Statistics) -> &HierarchyStatistics {
    &s.timing.as_ref().unwrap().hierarchy
}

/// Settings beside the default ones; each is other than the default in what it names.
const POLICIES: [&[&str]; 22] = [
    &[],
    &["memory.data.replacement=pseudo-lru", "memory.l2.replacement=pseudo-lru", "memory.l15.replacement=pseudo-lru"],
    &["memory.data.replacement=fifo", "memory.l2.replacement=fifo", "memory.uniform.replacement=fifo"],
    &["memory.data.replacement=random", "memory.l2.replacement=random", "memory.instruction.replacement=random"],
    &["memory.data.replacement=rrip", "memory.l2.replacement=rrip", "memory.constant.replacement=rrip"],
    &["memory.data.index=linear", "memory.l2.index=linear", "memory.l15.index=linear", "memory.l2.slice-hash=false"],
    &["memory.data.write=through"],
    &["memory.data.write-allocate=false"],
    &["memory.l2.write=through"],
    &["memory.l2.write=through", "memory.l2.write-allocate=false", "memory.data.write=through"],
    &["memory.data.merges=1", "memory.uniform.merges=2", "memory.constant.merges=1"],
    &["memory.data.misses=4", "memory.data.merges=1"],
    &["memory.dram.t-rcd=20", "memory.dram.t-rp=20", "memory.dram.t-ras=40", "memory.dram.t-rrd=8", "memory.dram.t-wr=20"],
    &["memory.dram.t-ccd=6", "memory.dram.t-rtw=7", "memory.dram.t-wtr=9", "memory.dram.t-refi=3000", "memory.dram.t-rfc=300"],
    &["memory.dram.mapping='row:column:bank:channel:column.7'", "memory.dram.hash=false"],
    &["memory.network.slice-interval=3"],
    &["memory.dram.scheduler=fr-fcfs"],
    &["memory.dram.scheduler=fr-fcfs", "sm.max-work-groups=1"],
    &["memory.dram.scheduler=fr-fcfs", "sm.max-warps=4", "sm.count=3"],
    &["memory.dram.scheduler=fr-fcfs", "memory.dram.queue=4", "memory.dram.starvation=50", "memory.data.misses=8"],
    &[
        "memory.dram.scheduler=fr-fcfs",
        "memory.dram.t-refi=2000",
        "memory.dram.t-rfc=200",
        "memory.data.merges=1",
        "memory.dram.row-hit=4",
    ],
    &[
        "memory.tlb.entries=8",
        "memory.tlb.ways=4",
        "memory.tlb.page-bytes=4096",
        "memory.l2-tlb.entries=16",
        "memory.l2-tlb.walks=1",
    ],
];

/// What a level misses is what the next one reads, by path, in sectors; what crosses the network is what L2
/// reads and writes; what L2 misses comes from memory.
fn assert_counts_add_up(h: &HierarchyStatistics, name: &str) {
    let through = name.contains("l2.write=through");
    for (cache, c) in [("data", &h.data), ("uniform", &h.uniform), ("constant", &h.constant), ("L1.5", &h.l15), ("L2", &h.l2)] {
        assert!(c.misses + c.bypassed <= c.reads && c.merged <= c.reads - c.misses && c.reads > 0, "{cache} {name}");
    }
    // Code comes in whole lines of four sectors.
    assert_eq!(h.l15.reads, h.uniform.misses + h.constant.misses + 4 * h.instruction.misses, "L1.5 {name}");
    assert_eq!(h.l2_to_l1_bytes, 32 * h.l2.reads, "{name}");
    assert_eq!(h.l1_to_l2_bytes, 32 * h.l2.writes, "{name}");
    assert_eq!(h.network_sectors, h.l2.reads + h.l2.writes, "{name}");
    assert_eq!(h.dram_read_bytes, 32 * h.l2.misses, "{name}");
    assert_eq!(h.dram_written_bytes, 32 * if through { h.l2.writes } else { h.l2.written_back }, "{name}");
    // What atomics read of L2 comes from no L1.
    let atomics = h.l2.reads - (h.data.misses + h.data.bypassed + h.l15.misses);
    assert!(atomics > 0 && atomics <= 512 * 6, "{atomics} {name}");
}

#[test]
fn the_same_bytes_and_counts_that_add_up_under_every_policy() {
    let (bytes, base) = run(&[], &Options { in_turns: true, ..Options::default() });
    assert!(bytes.iter().any(|b| *b != 0));
    let loads = |h: &HierarchyStatistics| (h.data.reads, h.uniform.reads, h.constant.reads);
    for (policies, threads) in POLICIES.into_iter().zip([1, 3].into_iter().cycle()) {
        let name = policies.join(" ");
        let (same, turns) = run(policies, &Options { in_turns: true, ..Options::default() });
        assert!(same == bytes, "{name}");
        assert_eq!(turns.instructions, base.instructions, "{name}");
        assert_eq!(loads(hierarchy(&turns)), loads(hierarchy(&base)), "{name}");
        assert_counts_add_up(hierarchy(&turns), &name);
        if !policies.is_empty() {
            assert_ne!(turns.timing, base.timing, "{name} makes no difference");
        }
        let (same, many) = run(policies, &Options { threads, ..Options::default() });
        assert!(same == bytes, "{name}, {threads} threads");
        let (a, b) = (turns.timing.as_ref().unwrap(), many.timing.as_ref().unwrap());
        assert_eq!((a.cycles, &a.hierarchy, &a.stalls), (b.cycles, &b.hierarchy, &b.stalls), "{name}, {threads} threads");
        assert_eq!(turns.energy_pj, many.energy_pj, "{name}, {threads} threads");
    }
}

/// Lines ahead of need: fewer waits, and none beyond the end of the code.
#[test]
fn lines_of_code_fetched_ahead() {
    // 64 instructions of 16 bytes, in 8 lines of 128.
    let straight = "  nop\n".repeat(63) + "  exit\n";
    let of = |ahead: u32| {
        let set = [&format!("memory.instruction.prefetch={ahead}"), "sm.count=1"];
        let (_, s) = execute(&straight, 32, &set, &Options::default());
        let t = s.timing.unwrap();
        let HierarchyStatistics { instruction, l15, .. } = t.hierarchy;
        assert_eq!((instruction.misses, l15.reads), (if ahead == 0 { 8 } else { 1 }, 4 * 8), "{ahead}");
        t.cycles
    };
    let m = heddle_target::testing::mixed::<String>(&[]).memory;
    let (none, two, seven) = (of(0), of(2), of(7));
    assert_eq!(seven, of(64));
    // Eight trips to DRAM, or one with the others close behind.
    let trip = m.instruction.latency + m.l15.latency + 2 * m.network.latency + m.l2.latency + m.dram.row_hit;
    assert!(none > 8 * u64::from(trip) && none > two && two > seven, "{none} {two} {seven}");
    assert!(seven < 3 * u64::from(trip), "{seven}");
}

/// Scattered loads of many warps beside arithmetic, with few miss registers. Which warp the greedy scheduler asks first
/// must not depend on which cycles are looked at while loads wait: SMs in turns know when a register becomes free, SMs
/// side by side do not.
#[test]
fn waiting_for_miss_registers_is_the_same_side_by_side() {
    let body = "  mul.b32 m4, gid.x, 1640531527
  mov.b32 m5, 0
  mov.b32 s1, 0
LOOP:
  mul.b32 m4, m4, 1664525
  add.b32 m4, m4, 1013904223
  shr.u32 m1, m4, 10
  and.b32 m1, m1, 65532
  c0 add.b32 m5, m5, m4
  c1 xor.b32 m5, m5, m1
  c0 mul.b32 m5, m5, m1
  c1 mul.b32 m5, m5, m4
  c3 ld.global.b32 m2, [c[0x8] + u32 m1]
  add.b32 m5, m5, m2
  add.b32 s1, s1, 1
  cmp.lt.u32 s3, s1, 5
  bras s3, LOOP
  shl.b32 m7, gid.x, 2
  and.b32 m7, m7, 2047
  c3 st.global.b32 [c[0x10] + u32 m7], m5
  exit
";
    for policy in ["greedy-oldest", "oldest", "round-robin", "two-level"] {
        for misses in [8, 40, 100] {
            let (policy, misses) = (format!("sm.scheduler={policy}"), format!("memory.data.misses={misses}"));
            let mut more = vec![policy.as_str(), &misses, "memory.data.bytes=65536", "sm.active-warps=0"];
            more.extend(["main-file.banks=4", "main-file.latency=2"]);
            execute_in_turns_and_side_by_side(body, 8192, &more, &[2]);
        }
    }
}

/// L2 performs the atomics of SMs side by side later than they issue, those of SMs in turns at once.
#[test]
fn atomics_are_the_same_side_by_side() {
    let body = "  mul.b32 m4, gid.x, 1640531527
  mov.b32 m5, 0
  mov.b32 s1, 0
LOOP:
  mul.b32 m4, m4, 1664525
  add.b32 m4, m4, 1013904223
  shr.u32 m9, m4, 12
  and.b32 m9, m9, 2040
  c3 atom.global.add.b32 m6, [c[0x10] + u32 m9], m4
  c0 add.b32 m5, m5, m6
  c0 xor.b32 m7, m5, m4
  c3 atom.global.cmpxchg.b32 m8, [c[0x10] + u32 m9 + 4], m[6:7]
  c3 ld.global.b32 m2, [c[0x8] + u32 m9]
  c3 atom.global.max.u64 m[10:11], [c[0x10] + u32 m9], m[4:5]
  c0 xor.b32 m5, m5, m11
  c3 atom.global.or.b32 _, [c[0x10] + u32 m9 + 128], m2
  c3 st.global.b32 [c[0x10] + u32 m9 + 132], m8
  add.b32 s1, s1, 1
  cmp.lt.u32 s3, s1, 5
  bras s3, LOOP
  exit
";
    let few_warps = ["sm.max-warps=4", "sm.count=3"];
    let (mut all, mut waited) = (Vec::new(), false);
    for more in POLICIES.iter().copied().chain([&few_warps[..]]) {
        let (bytes, a) = execute_in_turns_and_side_by_side(body, 2048, more, &[1, 2]);
        waited |= a.profile.iter().any(|p| p.latency > 0 && p.far > 0);
        all.push(bytes);
    }
    assert!(waited);
    // What a lane finds depends on who came before it, so the machines must not all agree.
    assert!(all.iter().any(|bytes| *bytes != all[0]));
}

/// Work-groups of different lengths, of which many end close together, and whose code no instruction cache keeps: the next one goes
/// to the SM that had room first, and its first fetch stands where it would stand if SMs took turns.
#[test]
fn work_groups_are_given_out_the_same_side_by_side() {
    let mut body = String::from(
        "  mov.b32 s1, group.x
  and.b32 s2, s1, 7
  mul.b32 s2, s2, s2
  shl.b32 m7, gid.x, 2
  and.b32 m9, m7, 65532
  and.b32 m7, m7, 2047
  mov.b32 m5, 0
LOOP:
  c3 ld.global.b32 m2, [c[0x8] + u32 m9]
  c0 add.b32 m5, m5, m2
",
    );
    // More lines than the caches of code have.
    for i in 0..300 {
        body += &format!("  c{} xor.b32 m5, m5, m{}\n", i % 2, 7 + 2 * (i % 2));
    }
    body += "  add.b32 s2, s2, -4
  cmp.gt.s32 s3, s2, 0
  bras s3, LOOP
  c3 st.global.b32 [c[0x10] + u32 m7], m5
  exit
";
    let code = ["memory.instruction.bytes=1024", "memory.instruction.ways=2", "memory.l15.bytes=2048"];
    for more in [&[][..], &["sm.dispatch-cycles=30"], &["sm.max-warps=4", "sm.count=3"], &["memory.dram.scheduler=fr-fcfs"]] {
        let more: Vec<&str> = code.iter().chain(more).copied().collect();
        let (_, a) = execute_in_turns_and_side_by_side(&body, 8192, &more, &[1, 2, 3]);
        assert!(a.hierarchy.instruction.misses > 128, "each of the work-groups fetches: {}", a.hierarchy.instruction.misses);
    }
}

/// Warps of between 1 and 32 reads of scattered words, and a write.
const UNEVEN: &str = "  mul.b32 m4, gid.x, 1640531527
  shr.u32 m5, m4, 27
  first.b32 s2, m5
  mov.b32 s1, 0
LOOP:
  mul.b32 m4, m4, 1664525
  add.b32 m4, m4, 1013904223
  shr.u32 m1, m4, 10
  and.b32 m1, m1, 65532
  c3 ld.global.b32 m2, [c[0x8] + u32 m1]
  add.b32 m5, m5, m2
  add.b32 s1, s1, 1
  cmp.le.u32 s3, s1, s2
  bras s3, LOOP
  and.b32 m7, gid.x, 511
  shl.b32 m7, m7, 2
  c3 st.global.b32 [c[0x10] + u32 m7], m5
  exit
";

/// Many work-groups of different lengths, so that the clusters often stop for others; that requests are served in the order of
/// simulated time is asserted where they are.
#[test]
fn uneven_work_groups_are_alike_on_any_number_of_threads() {
    let machine = ["sm.count=8", "sm.max-work-groups=4"];
    let timing = |options: &Options| execute(UNEVEN, 64 * 96, &machine, options).1.timing.unwrap();
    let turns = timing(&Options { in_turns: true, ..Options::default() });
    for round in 0..12 {
        let many = timing(&Options { threads: 2 + round % 3, ..Options::default() });
        assert_eq!((turns.cycles, &turns.hierarchy, &turns.stalls), (many.cycles, &many.hierarchy, &many.stalls));
    }
}

/// A seed is a course of its own, the same in turns and side by side, with either scheduler of DRAM; results do not change.
#[test]
fn random_delays_depend_on_the_seed_alone() {
    for scheduler in ["in-order", "fr-fcfs"] {
        let run = |delays: &[&str]| {
            let scheduler = format!("memory.dram.scheduler={scheduler}");
            let set = [delays, &["sm.count=8", "sm.max-work-groups=4", &scheduler]].concat();
            execute_in_turns_and_side_by_side(UNEVEN, 64 * 24, &set, &[1, 2, 3])
        };
        let (bytes, plain) = run(&[]);
        let delayed = ["perturbation.seed=1", "perturbation.seed=2"].map(|seed| run(&["perturbation.cycles=9", seed]));
        assert!(delayed.iter().all(|(b, _)| *b == bytes));
        let [a, b] = delayed.map(|(_, timing)| timing.cycles);
        assert!(a != b && a != plain.cycles && b != plain.cycles, "{} {a} {b}", plain.cycles);
        // Without cycles to draw from a seed does nothing.
        assert_eq!(run(&["perturbation.seed=7"]).1.cycles, plain.cycles);
    }
}
