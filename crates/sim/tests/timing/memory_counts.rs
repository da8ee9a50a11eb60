//! What the memory hierarchy counts and holds, access by access, in caches of a few lines: hits, misses, evictions,
//! write-backs, discarded lines, cache control, and what is in memory afterwards.

use heddle_isa::{CacheName, CacheOperation, CachePolicy, MemorySpace};
use heddle_sim::DeviceMemory;
use heddle_sim::hierarchy::{Access, AccessCost, Hierarchy, Path};
use heddle_sim::statistics::{CacheStatistics, HierarchyStatistics};

/// Lines of 128 bytes. L1 caches of two sets of two lines, an L1.5 of two sets of two for two SMs, L2 of four sets of two.
const MACHINE: [&str; 22] = [
    "sm.count=4",
    "memory.line-bytes=128",
    "memory.sector-bytes=32",
    "memory.data.bytes=512",
    "memory.data.ways=2",
    "memory.data.index=linear",
    "memory.uniform.bytes=512",
    "memory.uniform.ways=2",
    "memory.uniform.index=linear",
    "memory.constant.bytes=512",
    "memory.constant.ways=2",
    "memory.constant.index=linear",
    "memory.l15.sms=2",
    "memory.l15.bytes=512",
    "memory.l15.ways=2",
    "memory.l15.index=linear",
    "memory.l2.bytes=1024",
    "memory.l2.ways=2",
    "memory.l2.slices=1",
    "memory.l2.index=linear",
    "memory.dram.channels=1",
    "memory.data.latency=28",
];

const LINE: u64 = 128;
/// Each access comes when all before it are over.
const PAUSE: u64 = 10_000;

struct Bench {
    h: Hierarchy,
    memory: DeviceMemory,
    /// 64 KiB in device memory, from line 0 of each cache on, and as much in system memory.
    device: u64,
    system: u64,
    now: u64,
    space: MemorySpace,
    policy: CachePolicy,
    bytes: u32,
}

fn bench(more: &[&str]) -> Bench {
    let set: Vec<String> = MACHINE.iter().chain(more).map(ToString::to_string).collect();
    let machine = heddle_target::testing::mixed(&set);
    let (mut memory, device, system) = crate::memories();
    assert_eq!(device % 512, 0);
    let bytes: Vec<u8> = (0..1u32 << 14).flat_map(|i| (i + 1).to_le_bytes()).collect();
    assert!(memory.write(device, &bytes) && memory.write(system, &bytes));
    let mut h = Hierarchy::new(&machine);
    assert!(h.is_empty());
    h.start(&memory, false);
    let (space, policy) = (MemorySpace::Global, CachePolicy::Default);
    Bench { h, memory, device, system, now: 0, space, policy, bytes: 4 }
}

impl Bench {
    fn access<R>(&mut self, sm: usize, addresses: &[u64], with: impl FnOnce(&mut Hierarchy, &DeviceMemory, &Access) -> R) -> R {
        self.now += PAUSE;
        let mask = (1 << addresses.len()) - 1;
        let Bench { h, memory, now, space, policy, bytes, .. } = self;
        let access = Access { sm, now: *now, space: *space, policy: *policy, addresses, mask, bytes: *bytes, private: 0 };
        with(h, memory, &access)
    }

    /// Words of 32 bits, a lane each, of which the lowest bytes are returned.
    fn load(&mut self, sm: usize, path: Path, addresses: &[u64]) -> (Vec<u32>, AccessCost) {
        let mut out = vec![[0; 16]; addresses.len()];
        let cost = self.access(sm, addresses, |h, m, a| h.load(m, path, a, &mut out));
        (out.iter().map(|o| u32::from_le_bytes([o[0], o[1], o[2], o[3]])).collect(), cost)
    }

    /// The word at each of some lines of device memory, in loads of their own; how many sectors were found in L1.
    fn lines(&mut self, sm: usize, path: Path, lines: &[u64]) -> Vec<u32> {
        let hits = |line: &u64| {
            let address = self.device + LINE * line;
            let (words, cost) = self.load(sm, path, &[address]);
            assert_eq!((words[0], cost.lines, cost.sectors), (1 + 32 * *line as u32, 1, 1));
            cost.hits
        };
        lines.iter().map(hits).collect()
    }

    fn store(&mut self, sm: usize, addresses: &[u64], value: u8) -> AccessCost {
        let data = vec![[value; 16]; addresses.len()];
        self.access(sm, addresses, |h, m, a| h.store(m, a, &data))
    }

    fn control(&mut self, cache: CacheName, op: CacheOperation, address: u64) -> u32 {
        self.control_all(cache, op, &[address]).0[0]
    }

    /// Of a lane for each address; the status of each, and the cost.
    fn control_all(&mut self, cache: CacheName, op: CacheOperation, addresses: &[u64]) -> (Vec<u32>, AccessCost) {
        let mut status = vec![9; addresses.len()];
        let cost = self.access(0, addresses, |h, m, a| h.control(m, cache, op, a, &mut status));
        (status, cost)
    }

    fn in_memory(&self, address: u64) -> u8 {
        self.memory.read(address, 1).unwrap()[0]
    }

    /// What has been counted, and nothing else.
    #[track_caller]
    fn assert_counts(&self, wanted: &HierarchyStatistics) {
        assert_eq!(self.h.statistics(), *wanted);
    }
}

fn private(b: &mut Bench) {
    b.space = MemorySpace::Private;
}

#[test]
fn lines_make_room_by_age_or_because_they_are_marked() {
    let mut b = bench(&[]);
    // Even lines share a set of two: 2 goes, as 0 has been used again.
    assert_eq!(b.lines(0, Path::Data, &[0, 2, 0, 4, 0, 2, 1, 3, 1]), [0, 0, 1, 0, 1, 0, 0, 0, 1]);
    // Set 0 holds 0 and 2 (4 went for it). Marked, 4 comes for 0, and goes before 2, which is older.
    b.policy = CachePolicy::Cs;
    assert_eq!(b.lines(0, Path::Data, &[4]), [0]);
    let marked = b.device + 4 * LINE;
    assert_eq!(b.h.l1_state(0, marked), Some((1, false, true)));
    assert_eq!(b.h.l1_state(0, marked - 2 * LINE), Some((1, false, false)));
    b.policy = CachePolicy::Default;
    assert_eq!(b.lines(0, Path::Data, &[6, 2]), [0, 1]);
    let data = CacheStatistics { reads: 12, misses: 8, evicted_normal: 3, evicted_first: 1, ..Default::default() };
    // L2 has four sets of two, the lines that are equal modulo four: 0, 4; 2, 6; 1; 3. All but three misses come from DRAM:
    // 2 again, 4 again (it is marked there, too).
    let l2 = CacheStatistics { reads: 8, misses: 6, ..Default::default() };
    let far = HierarchyStatistics {
        data,
        l2,
        network_sectors: 8,
        l2_to_l1_bytes: 8 * 32,
        dram_read_bytes: 6 * 32,
        ..Default::default()
    };
    b.assert_counts(&far);
    assert_eq!(b.h.l2_state(marked), Some((false, true)));
    // 8 goes to where 4 was in L2, then 0 is still there.
    assert_eq!(b.lines(1, Path::Data, &[8, 0]), [0, 0]);
    let s = b.h.statistics();
    assert_eq!((s.l2.evicted_first, s.l2.evicted_normal, s.l2.misses), (1, 0, 7));
    assert_eq!((b.h.l2_state(marked), b.h.l2_state(b.device)), (None, Some((false, false))));
}

#[test]
fn the_l15_is_shared_by_two_sms_and_all_paths_but_data() {
    let mut b = bench(&[]);
    assert_eq!(b.lines(0, Path::Uniform, &[0, 0, 1]), [0, 1, 0]);
    assert_eq!(b.lines(1, Path::Constant, &[0, 1, 1]), [0, 0, 1]);
    assert_eq!(b.lines(1, Path::Uniform, &[0]), [0]);
    assert_eq!(b.lines(2, Path::Uniform, &[0]), [0]);
    assert_eq!(b.lines(0, Path::Data, &[0]), [0]);
    // Lines of the same set: 0 goes from the L1.5, not from the L1.
    assert_eq!(b.lines(1, Path::Constant, &[2, 4]), [0, 0]);
    assert_eq!(b.lines(0, Path::Uniform, &[0, 2]), [1, 0]);
    // Marked lines leave the L1.5 alone.
    b.policy = CachePolicy::Cs;
    assert_eq!(b.lines(0, Path::Uniform, &[6]), [0]);
    let wanted = HierarchyStatistics {
        data: CacheStatistics { reads: 1, misses: 1, ..Default::default() },
        uniform: CacheStatistics { reads: 8, misses: 6, evicted_normal: 1, ..Default::default() },
        constant: CacheStatistics { reads: 5, misses: 4, evicted_normal: 1, ..Default::default() },
        // 0, 1; 0, 1; 0; 0 of the other; 2, 4; 2.
        l15: CacheStatistics { reads: 9, misses: 5, evicted_normal: 1, ..Default::default() },
        // 0, 1; 0; 0; 2, 4; 6.
        l2: CacheStatistics { reads: 7, misses: 5, ..Default::default() },
        network_sectors: 7,
        l2_to_l1_bytes: 7 * 32,
        dram_read_bytes: 5 * 32,
        ..Default::default()
    };
    b.assert_counts(&wanted);
}

#[test]
fn stores_discard_copies_and_are_dirty_in_l2() {
    let mut b = bench(&[]);
    let at = b.device;
    b.lines(0, Path::Data, &[0]);
    b.lines(0, Path::Uniform, &[0]);
    b.lines(1, Path::Data, &[0]);
    // Two sectors of line 0, one of line 1.
    let cost = b.store(0, &[at, at + 4, at + 64, at + LINE], 7);
    assert_eq!((cost.lines, cost.sectors, cost.busy, cost.ready), (2, 3, 2, b.now));
    assert_eq!((b.h.l1_state(0, at), b.h.l1_state(1, at)), (None, Some((1, false, false))));
    assert_eq!((b.h.l2_state(at), b.h.l2_state(at + LINE), b.in_memory(at)), (Some((true, false)), Some((true, false)), 1));
    // The other SM has an old copy, this one sees its store; the L1.5 has forgotten it.
    assert_eq!(b.load(1, Path::Data, &[at]).0, [1]);
    assert_eq!(b.load(0, Path::Data, &[at, at + 4, at + 8, at + 64]).0, [0x0707_0707, 0x0707_0707, 3, 0x0707_0707]);
    assert_eq!(b.load(0, Path::Uniform, &[at]).0, [0x0707_0707]);
    let wanted = HierarchyStatistics {
        data: CacheStatistics { reads: 5, misses: 4, discarded: 2, ..Default::default() },
        uniform: CacheStatistics { reads: 2, misses: 2, ..Default::default() },
        l15: CacheStatistics { reads: 2, misses: 2, ..Default::default() },
        // The stores' sectors of line 0: the first is valid, the third one has 4 bytes and is fetched around them.
        l2: CacheStatistics { reads: 6, misses: 2, writes: 3, ..Default::default() },
        network_sectors: 6 + 3,
        l2_to_l1_bytes: 6 * 32,
        l1_to_l2_bytes: 3 * 32,
        dram_read_bytes: 2 * 32,
        ..Default::default()
    };
    b.assert_counts(&wanted);
    // Lines 0, 4 and 8 are of one set of L2: the dirty one is written back, two sectors.
    b.lines(2, Path::Data, &[4, 8]);
    let s = b.h.statistics();
    assert_eq!((s.l2.evicted_normal, s.l2.written_back, s.dram_written_bytes), (1, 2, 64));
    assert_eq!([0, 4, 8, 64, 68, LINE].map(|o| b.in_memory(at + o)), [7, 7, 3, 7, 18, 33]);
    // The end writes line 1.
    let s = b.h.finish(&b.memory);
    assert_eq!((s.l2.written_back, s.dram_written_bytes, b.in_memory(at + LINE)), (3, 96, 7));
    assert_eq!(b.h.l2_state(at + LINE), Some((false, false)));
}

#[test]
fn private_memory_is_written_back_and_ends_with_the_launch() {
    let mut b = bench(&[]);
    private(&mut b);
    let sixteen = |word: u64| vec![4 * word; 16];
    // Words of 32 lanes are a line each; of 16 lanes half of it. Words 0, 2, 4 are of one set.
    b.store(0, &sixteen(0), 5);
    assert_eq!(b.h.l1_state(0, b.h.private_address(0, 0, 0)), Some((0b0011, true, false)));
    b.store(0, &sixteen(2), 6);
    let (words, cost) = b.load(0, Path::Data, &sixteen(0));
    assert_eq!((words, cost.hits), (vec![0x0505_0505; 16], 2));
    // Word 2 is written back for word 4, and fetched again for word 0.
    b.store(0, &sixteen(4), 8);
    assert_eq!(b.load(0, Path::Data, &sixteen(2)).0, [0x0606_0606; 16]);
    let wanted = HierarchyStatistics {
        data: CacheStatistics { reads: 4, misses: 2, writes: 6, evicted_normal: 2, written_back: 4, ..Default::default() },
        l2: CacheStatistics { reads: 2, writes: 4, ..Default::default() },
        network_sectors: 2 + 4,
        l2_to_l1_bytes: 64,
        l1_to_l2_bytes: 128,
        ..Default::default()
    };
    b.assert_counts(&wanted);
    // Word 0 has left L1; L2 makes room for lines of its set, and memory keeps it until the end.
    let set = b.h.private_address(0, 0, 0) / LINE % 4;
    b.space = MemorySpace::Global;
    b.lines(1, Path::Data, &[set, set + 4, set + 8]);
    private(&mut b);
    let s = b.h.statistics();
    assert_eq!((s.l2.written_back, s.dram_written_bytes), (2, 64));
    assert_eq!(b.load(0, Path::Data, &sixteen(0)).0, [0x0505_0505; 16]);
    // Clean copies end with it, in L1, in L2 and below.
    assert_eq!(b.h.l1_state(0, b.h.private_address(0, 0, 0)), Some((0b0011, false, false)));
    b.h.finish(&b.memory);
    b.h.start(&b.memory, true);
    for word in [0, 2, 4] {
        assert_eq!(b.load(0, Path::Data, &sixteen(word)).0, [0; 16], "the next launch's is empty");
    }
}

/// K3: a warp that reads a whole line for the last time gives it up; if it does not read it whole, it is evicted first.
#[test]
fn last_uses_save_write_backs() {
    let mut b = bench(&[]);
    private(&mut b);
    let lanes = |n: usize, word: u64| vec![4 * word; n];
    b.store(0, &lanes(32, 0), 5);
    b.store(0, &lanes(32, 2), 6);
    b.policy = CachePolicy::Cs;
    let (words, cost) = b.load(0, Path::Data, &lanes(32, 0));
    assert_eq!((words, cost.hits, b.h.l1_state(0, b.h.private_address(0, 0, 0))), (vec![0x0505_0505; 32], 4, None));
    assert_eq!(b.load(0, Path::Data, &lanes(31, 2)).1.hits, 4);
    assert_eq!(b.h.l1_state(0, b.h.private_address(0, 0, 8)), Some((0b1111, true, true)));
    // Nothing is left of the first: it is read past L1.
    let (words, cost) = b.load(0, Path::Data, &lanes(32, 0));
    assert_eq!((words, cost.hits, cost.far), (vec![0; 32], 0, 4));
    let s = b.h.statistics();
    let data = CacheStatistics { reads: 12, bypassed: 4, writes: 8, last_uses: 1, ..Default::default() };
    assert_eq!((s.data, s.l2.writes, s.l2.evicted_first), (data, 0, 0));
    assert_eq!(b.h.l2_state(b.h.private_address(0, 0, 0)), Some((false, true)));
    // Two words a lane are two lines.
    b.policy = CachePolicy::Default;
    b.bytes = 8;
    assert_eq!(b.store(0, &lanes(32, 4), 3).lines, 2);
    let (words, cost) = b.load(0, Path::Data, &lanes(32, 4));
    assert_eq!((words[31], cost.lines, cost.sectors, cost.hits), (0x0303_0303, 2, 8, 8));
    assert_eq!(b.h.statistics().data.evicted_first, 0, "the marked line is of the same set, of which one way was empty");
    b.bytes = 4;
    b.store(0, &lanes(32, 6), 3);
    assert_eq!(b.h.statistics().data.evicted_first, 1);
}

/// What L2 held, given to another hierarchy, is found there; the order of eviction comes along.
#[test]
fn what_l2_held_can_be_brought_back() {
    let mut b = bench(&[]);
    let device = b.device;
    b.lines(0, Path::Data, &[3, 0, 1]);
    let held = b.h.resident();
    assert_eq!(held, [3, 0, 1].map(|line| (device + LINE * line, 32)), "the sectors, by age");
    let has = |h: &Hierarchy, line: u64| h.l2_state(device + LINE * line);
    let mut other = bench(&[]);
    assert_eq!(has(&other.h, 0), None);
    other.h.bring(&other.memory, &held);
    assert_eq!([0, 1, 2, 3].map(|l| has(&other.h, l)), [Some((false, false)), Some((false, false)), None, Some((false, false))]);
    assert_eq!(other.h.resident(), held);
    // The bytes are memory's, and no sector comes from there.
    other.h.start(&other.memory, true);
    other.lines(0, Path::Data, &[0, 1, 3]);
    let s = other.h.statistics();
    assert_eq!((s.l2.reads, s.l2.misses), (3, 0));
    other.lines(0, Path::Data, &[2]);
    assert_eq!(other.h.statistics().l2.misses, 1);
}

#[test]
fn loads_past_l1_discard_its_copy() {
    let mut b = bench(&[]);
    b.lines(0, Path::Data, &[0]);
    b.policy = CachePolicy::Cg;
    assert_eq!(b.lines(0, Path::Data, &[0, 0, 1]), [0, 0, 0]);
    assert_eq!(b.h.l1_state(0, b.device), None);
    let s = b.h.statistics();
    let data = CacheStatistics { reads: 4, misses: 1, bypassed: 3, discarded: 1, ..Default::default() };
    assert_eq!((s.data, s.l2.reads, s.l2.misses), (data, 4, 2));
}

/// K3, K4: `cv` reads system memory each time, `wt` writes it store by store.
#[test]
fn system_memory_is_read_and_written_through() {
    let mut b = bench(&[]);
    let at = b.system;
    b.policy = CachePolicy::Cv;
    assert_eq!(b.load(0, Path::Data, &[at]).0, [1]);
    b.memory.write_shared(at, &[9]);
    assert_eq!(b.load(0, Path::Data, &[at]).0, [9]);
    b.policy = CachePolicy::Wt;
    // Three lanes, two sectors.
    b.store(0, &[at + 4, at + 8, at + 32], 7);
    assert_eq!([4, 8, 32, 36].map(|o| b.in_memory(at + o)), [7, 7, 7, 10]);
    assert_eq!(b.h.l2_state(at), Some((false, true)));
    // A store that waits in L2 is not lost.
    b.policy = CachePolicy::Default;
    b.store(0, &[at + 64], 5);
    assert_eq!((b.in_memory(at + 64), b.h.l2_state(at)), (17, Some((true, false))));
    b.policy = CachePolicy::Cv;
    assert_eq!(b.load(1, Path::Data, &[at + 64, at + 4]).0, [0x0505_0505, 0x0707_0707]);
    assert_eq!((b.in_memory(at + 64), b.h.l2_state(at)), (5, Some((false, true))));
    let wanted = HierarchyStatistics {
        data: CacheStatistics { reads: 4, bypassed: 4, ..Default::default() },
        l2: CacheStatistics { reads: 4, misses: 4, writes: 3, written_back: 1, ..Default::default() },
        network_sectors: 4 + 3,
        l2_to_l1_bytes: 4 * 32,
        l1_to_l2_bytes: 3 * 32,
        system_read_bytes: 4 * 32,
        system_written_bytes: 3 * 32 + 32,
        ..Default::default()
    };
    b.assert_counts(&wanted);
    // Device memory is cached all the same.
    let device = b.device;
    for _ in 0..2 {
        assert_eq!(b.load(0, Path::Data, &[device]).0, [1]);
    }
    assert_eq!((b.h.statistics().dram_read_bytes, b.h.l2_state(device)), (32, Some((false, true))));
}

/// Where nobody else writes, L2 only knows what would be dirty.
#[test]
fn memory_has_the_bytes_of_lines_that_nobody_else_writes_to() {
    let mut b = bench(&[]);
    let (at, system) = (b.device, b.system);
    b.h.finish(&b.memory);
    b.h.start(&b.memory, true);
    b.now = 0;
    b.store(0, &[at, at + 4, at + LINE, system], 7);
    assert_eq!([at, at + LINE, system].map(|a| b.h.l2_state(a)), [Some((true, false)); 3]);
    assert_eq!([at, at + LINE, system].map(|a| b.in_memory(a)), [7, 7, 1]);
    assert_eq!(b.load(1, Path::Data, &[at, at + LINE, system]).0, [0x0707_0707; 3]);
    let s = b.h.finish(&b.memory);
    assert_eq!((s.l2.written_back, s.dram_written_bytes, s.system_written_bytes, b.in_memory(system)), (3, 64, 32, 7));
    // Others write in the next launch: L2 has the lines as they were when it began.
    b.h.start(&b.memory, false);
    b.now = 0;
    assert!(b.memory.write(at, &[9]));
    assert_eq!((b.load(0, Path::Data, &[at]).0, b.h.statistics().l2.misses), (vec![0x0707_0707], 0));
}

#[test]
fn atomics_of_device_and_system_memory() {
    let mut b = bench(&[]);
    let (at, system) = (b.device, b.system);
    b.lines(0, Path::Data, &[0]);
    let add = |b: &mut Bench, addresses: &[u64]| {
        let mut old = Vec::new();
        let cost = b.access(0, addresses, |h, m, a| {
            h.atomic(m, a, &mut |lane, value| {
                old.push((lane, value as u32));
                value + 100
            })
        });
        (old, cost)
    };
    // Two lanes at one word, one in another sector.
    let (old, cost) = add(&mut b, &[at, at, at + 32]);
    assert_eq!(old, [(0, 1), (1, 101), (2, 9)]);
    assert_eq!((cost.lines, cost.sectors, cost.hits, cost.far, cost.busy), (1, 2, 0, 1, 1));
    assert_eq!((b.h.l1_state(0, at), b.h.l2_state(at), b.in_memory(at)), (None, Some((true, false)), 1));
    let (old, _) = add(&mut b, &[system]);
    assert_eq!((old, b.in_memory(system)), (vec![(0, 1)], 101));
    b.memory.write_shared(system, &[3]);
    assert_eq!(add(&mut b, &[system]).0, [(0, 3)], "the host's store is seen");
    let wanted = HierarchyStatistics {
        data: CacheStatistics { reads: 1, misses: 1, discarded: 1, ..Default::default() },
        l2: CacheStatistics { reads: 5, misses: 4, writes: 4, ..Default::default() },
        network_sectors: 1 + 4 + 4,
        l2_to_l1_bytes: 5 * 32,
        l1_to_l2_bytes: 4 * 32,
        dram_read_bytes: 64,
        system_read_bytes: 64,
        system_written_bytes: 64,
        ..Default::default()
    };
    b.assert_counts(&wanted);
    b.h.finish(&b.memory);
    assert_eq!((b.in_memory(at), b.in_memory(at + 32)), (201, 109));
}

/// K5, at the data L1.
#[test]
fn control_of_the_data_cache() {
    use CacheName::D;
    use CacheOperation::*;
    let mut b = bench(&[]);
    let at = b.device;
    assert_eq!(b.control(D, Qry1, at), 0);
    b.lines(0, Path::Data, &[0]);
    assert_eq!((b.control(D, Qry1, at), b.control(D, Qry1, at + 32), b.control(D, Qry1, at + 2 * LINE)), (1, 0, 0));
    b.control(D, Rs, at);
    assert_eq!((b.control(D, Qry1, at), b.h.l1_state(0, at)), (0, None));
    // A prefetch brings a sector into L1, or into L2 only; none where there is no memory.
    b.control(D, Pf1, at + 32);
    assert_eq!((b.h.l1_state(0, at), b.control(D, Qry1, at + 32)), (Some((0b0010, false, false)), 1));
    b.control(D, Pf2, at + 5 * LINE);
    assert_eq!((b.h.l1_state(0, at + 5 * LINE), b.h.l2_state(at + 5 * LINE)), (None, Some((false, false))));
    b.control(D, Pf1, 1 << 40);
    b.control(D, Iv, at);
    assert_eq!(b.h.l1_state(0, at), None);
    let wanted = HierarchyStatistics {
        data: CacheStatistics { reads: 2, misses: 2, ..Default::default() },
        l2: CacheStatistics { reads: 3, misses: 3, ..Default::default() },
        network_sectors: 2,
        l2_to_l1_bytes: 64,
        dram_read_bytes: 96,
        ..Default::default()
    };
    b.assert_counts(&wanted);
    b.lines(0, Path::Data, &[0, 1, 2]);
    // A line a cycle; of line 0 the second sector is not there.
    let (status, cost) = b.control_all(D, Qry1, &[at, at + LINE, at + 32, at + 2 * LINE + 4]);
    let wanted = AccessCost { ready: b.now + 28 + 2, busy: 3, lines: 3, sectors: 4, ..AccessCost::default() };
    assert_eq!((status, cost), (vec![1, 1, 0, 1], wanted));
    let (_, cost) = b.control_all(D, Iv, &[at + 4 * LINE, at + 5 * LINE]);
    assert_eq!(cost, AccessCost { ready: b.now, busy: 2, lines: 2, sectors: 2, ..AccessCost::default() });
    let (_, cost) = b.control_all(D, Ivall, &[at]);
    assert_eq!(cost, AccessCost { ready: b.now, busy: 1, ..AccessCost::default() });
    assert_eq!([0, 1, 2].map(|l| b.h.l1_state(0, at + l * LINE)), [None; 3]);
}

/// K5: dirty lines, which are private memory's.
#[test]
fn control_of_dirty_lines() {
    use CacheName::D;
    use CacheOperation::*;
    let mut b = bench(&[]);
    private(&mut b);
    let line = |b: &Bench| b.h.l1_state(0, b.h.private_address(0, 0, 0));
    b.store(0, &[0; 8], 5);
    // A sector is written whole; another one has dirty bytes, too.
    b.store(0, &[0; 9], 6);
    assert_eq!((line(&b), b.control(D, Qry1, 0)), (Some((0b0001, true, false)), 3));
    b.control(D, Wb, 0);
    assert_eq!((line(&b), b.control(D, Qry1, 0)), (Some((0b0001, false, false)), 1));
    let s = b.h.statistics();
    assert_eq!((s.data.written_back, s.l2.writes, s.l1_to_l2_bytes), (2, 2, 64));
    b.control(D, Wb, 0);
    b.control(D, Iv, 0);
    assert_eq!((line(&b), b.h.statistics().data.written_back), (None, 2));
    assert_eq!(b.load(0, Path::Data, &[0; 9]).0, [0x0606_0606; 9]);
    // Given up.
    b.store(0, &[0], 7);
    b.control(D, Rs, 0);
    assert_eq!((line(&b), b.load(0, Path::Data, &[0]).0), (None, vec![0x0606_0606]));
    b.store(0, &[0], 7);
    b.control(D, Iv, 0);
    assert_eq!((line(&b), b.load(0, Path::Data, &[0]).0, b.h.statistics().data.written_back), (None, vec![0x0707_0707], 3));
    b.store(0, &[0], 8);
    b.store(0, &[4], 9);
    let (_, cost) = b.control_all(D, Ivall, &[0]);
    assert_eq!(cost, AccessCost { ready: b.now, busy: 2, lines: 2, ..AccessCost::default() });
    assert_eq!((line(&b), b.load(0, Path::Data, &[0]).0), (None, vec![0x0808_0808]));
}

/// K5, at the other caches.
#[test]
fn control_of_read_only_caches() {
    use CacheName::{C, T, U};
    use CacheOperation::*;
    let mut b = bench(&[]);
    let at = b.device;
    b.control(U, Pf15, at);
    assert_eq!(b.lines(0, Path::Uniform, &[0]), [0]);
    let s = b.h.statistics();
    assert_eq!((s.l15.reads, s.l15.misses, s.uniform.misses, s.l2.reads), (2, 1, 1, 1));
    b.control(T, Pf1, at + LINE);
    assert_eq!(b.lines(0, Path::Uniform, &[1, 0]), [1, 1]);
    b.control(T, Iv, at);
    assert_eq!(b.lines(0, Path::Uniform, &[0, 1]), [0, 1]);
    b.control(C, Pf1, at);
    assert_eq!(b.lines(0, Path::Constant, &[0]), [1]);
    b.control(C, Ivall, at);
    assert_eq!((b.lines(0, Path::Constant, &[0]), b.lines(0, Path::Uniform, &[0])), (vec![0], vec![1]));
    assert_eq!(b.h.statistics().l2.reads, 2);
}

/// K6, and what the host does between launches.
#[test]
fn between_launches() {
    let mut b = bench(&[]);
    let at = b.device;
    b.lines(0, Path::Data, &[0]);
    b.lines(0, Path::Uniform, &[0]);
    b.store(0, &[at + LINE], 7);
    b.h.finish(&b.memory);
    assert!(!b.h.is_empty());
    b.h.start(&b.memory, true);
    b.now = 0;
    assert_eq!(b.h.statistics(), HierarchyStatistics::default());
    assert_eq!((b.lines(0, Path::Data, &[0]), b.lines(0, Path::Uniform, &[0])), (vec![1], vec![1]), "L1 keeps its lines");
    b.h.finish(&b.memory);
    // An invalidation is counted by the launch behind it; L2 keeps its lines.
    b.h.invalidate();
    b.h.invalidate();
    b.h.start(&b.memory, true);
    b.now = 0;
    assert_eq!(b.h.statistics().invalidations, 2);
    assert_eq!((b.lines(0, Path::Data, &[0]), b.lines(0, Path::Uniform, &[0])), (vec![0], vec![0]));
    let s = b.h.finish(&b.memory);
    assert_eq!((s.l15.misses, s.l2.misses, s.invalidations), (1, 0, 2));
    // The host writes the first two lines, of one byte each: L2 forgets them, or gets what they are.
    let has = |b: &Bench| [0, 1].map(|l| b.h.l2_state(at + l * LINE).is_some());
    assert_eq!(has(&b), [true, true]);
    b.h.host_wrote(at, 0);
    b.h.host_wrote(at + 2 * LINE, 128);
    assert_eq!(has(&b), [true, true]);
    b.h.host_wrote(at + LINE - 1, 1);
    assert_eq!(has(&b), [false, true]);
    b.h.host_wrote(at, LINE + 1);
    assert_eq!(has(&b), [false, false]);
    b.h.invalidate();
    b.h.start(&b.memory, true);
    b.now = 0;
    assert_eq!(b.h.statistics().invalidations, 1);
    b.lines(0, Path::Data, &[0]);
    assert_eq!(b.h.statistics().l2.misses, 1);
    b.h.finish(&b.memory);
    assert!(b.memory.write(at, &[77]));
    b.h.refresh(&b.memory);
    b.h.invalidate();
    // L2 has its lines' bytes from now on.
    b.h.start(&b.memory, false);
    b.now = 0;
    assert_eq!((b.load(0, Path::Data, &[at]).0, b.h.statistics().l2.misses), (vec![77], 0));
    // A range longer than L2.
    b.h.host_wrote(at, 1 << 16);
    assert_eq!(has(&b), [false, false]);
    // A launch that fails: what is dirty in L2 goes to memory, L1 caches are empty.
    b.lines(0, Path::Data, &[3]);
    b.store(0, &[at], 5);
    b.h.abandon(&b.memory);
    assert_eq!((b.in_memory(at), b.h.l1_state(0, at + 3 * LINE)), (5, None));
}
