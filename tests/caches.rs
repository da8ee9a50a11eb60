//! The memory hierarchy (K1): every cell of the policy tables (K3, K4), every cache operation (K5), stale reads and their cures (K8), coalescing.
//!
//! The first tests drive the hierarchy itself and look at its state; the others run assembled programs on the simulator.

use heddle::isa::{CacheName, CacheOperation, CachePolicy, MemorySpace};
use heddle::sim::hierarchy::policy::{self, L1Policy, L2Policy, LOADS, STORES};
use heddle::sim::hierarchy::{Access, AccessCost, Hierarchy, Path};
use heddle::sim::{DeviceMemory, HostWrite, Launch, Options, Simulation, Statistics};
use heddle::target::Machine;

thread_local! {
    /// The replacement policy of all caches of the machines that this thread's tests make.
    static REPLACEMENT: std::cell::Cell<&'static str> = const { std::cell::Cell::new("lru") };
}

/// Two SMs, a data L1 of 16 lines in 2 ways.
fn machine(more: &[&str]) -> Machine {
    let set = ["sm.count=2", "memory.data.bytes=2048", "memory.data.ways=2", "memory.l2.slices=1", "memory.l2.bytes=65536"];
    let policy = ["data", "uniform", "constant", "instruction", "l15", "l2"]
        .map(|cache| format!("memory.{cache}.replacement={}", REPLACEMENT.get()));
    let set: Vec<String> = set.iter().chain(more).map(ToString::to_string).chain(policy).collect();
    // Its clusters tell the units of the assembled programs apart.
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/machines/mixed.toml");
    Machine::load(Some(std::path::Path::new(path)), &set).unwrap()
}

/// Hierarchy and memory with a buffer of 64 KiB in device and one in system memory.
struct Bench {
    h: Hierarchy,
    memory: DeviceMemory,
    device: u64,
    system: u64,
    now: u64,
}

impl Bench {
    fn new() -> Bench {
        let mut memory = DeviceMemory::new(1 << 20);
        let device = memory.allocate("device", 1 << 16).unwrap();
        let system = memory.allocate("system", 1 << 16).unwrap();
        memory.place(system, true);
        let mut h = Hierarchy::new(&machine(&[]));
        h.start(&memory, false);
        Bench { h, memory, device, system, now: 0 }
    }

    fn access<R>(
        &mut self,
        sm: usize,
        space: MemorySpace,
        policy: CachePolicy,
        addresses: &[u64],
        f: impl FnOnce(&mut Hierarchy, &DeviceMemory, &Access) -> R,
    ) -> R {
        self.now += 10_000;
        let mask = if addresses.len() == 64 { u64::MAX } else { (1 << addresses.len()) - 1 };
        let access = Access { sm, now: self.now, space, policy, addresses, mask, bytes: 4, private: 0 };
        f(&mut self.h, &self.memory, &access)
    }

    fn load(&mut self, sm: usize, policy: CachePolicy, address: u64) -> u32 {
        self.loads(sm, MemorySpace::Global, policy, &[address])[0]
    }

    fn loads(&mut self, sm: usize, space: MemorySpace, policy: CachePolicy, addresses: &[u64]) -> Vec<u32> {
        let mut out = vec![[0; 16]; addresses.len()];
        self.access(sm, space, policy, addresses, |h, m, a| h.load(m, Path::Data, a, &mut out));
        out.iter().map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect()
    }

    fn store(&mut self, sm: usize, policy: CachePolicy, address: u64, value: u32) {
        self.stores(sm, MemorySpace::Global, policy, &[address], value);
    }

    fn stores(&mut self, sm: usize, space: MemorySpace, policy: CachePolicy, addresses: &[u64], value: u32) {
        let mut data = [0; 16];
        data[..4].copy_from_slice(&value.to_le_bytes());
        let data = vec![data; addresses.len()];
        self.access(sm, space, policy, addresses, |h, m, a| h.store(m, a, &data));
    }

    fn control(&mut self, cache: CacheName, op: CacheOperation, space: MemorySpace, address: u64) -> u32 {
        let mut status = [0];
        self.access(0, space, CachePolicy::Default, &[address], |h, m, a| h.control(m, cache, op, a, &mut status));
        status[0]
    }

    /// What memory itself holds.
    fn below(&self, address: u64) -> u32 {
        let b = self.memory.read(address, 4).unwrap();
        u32::from_le_bytes([b[0], b[1], b[2], b[3]])
    }

    fn host(&self, address: u64, value: u32) {
        self.memory.write_shared(address, &value.to_le_bytes());
    }

    /// Valid sectors, dirty, evict-first in L1 of SM 0.
    fn l1(&self, address: u64) -> Option<(u64, bool, bool)> {
        self.h.l1_state(0, address)
    }
}

/// K3, global loads: each policy on a line that L1 has and another SM has changed since.
#[test]
fn global_loads_of_a_line_in_l1() {
    for row in &LOADS[..4] {
        for system in [false, true] {
            let mut b = Bench::new();
            let at = if system { b.system } else { b.device };
            b.load(0, CachePolicy::Default, at);
            b.store(1, CachePolicy::Default, at, 7);
            let got = b.load(0, row.policy, at);
            // K8: what hits in L1 is old, what does not is new.
            let stale = row.l1 != L1Policy::NoCache;
            assert_eq!(got, if stale { 0 } else { 7 }, ".{}", row.name);
            let state = b.l1(at).map(|(_, dirty, first)| (dirty, first));
            let expected = match row.l1 {
                L1Policy::Normal => Some((false, false)),
                L1Policy::EvictFirst | L1Policy::LastUse => Some((false, true)),
                L1Policy::NoCache => None,
            };
            assert_eq!(state, expected, ".{} in L1", row.name);
        }
    }
}

/// K3, global loads: each policy on a line that only L2 has, in device and in system memory.
#[test]
fn global_loads_in_l2() {
    for row in &LOADS[..4] {
        for (system, far) in [(false, row.l2_device), (true, row.l2_system)] {
            let mut b = Bench::new();
            let at = if system { b.system } else { b.device };
            b.load(1, CachePolicy::Cg, at);
            // The host changes memory behind L2's back.
            b.host(at, 9);
            assert_eq!(
                b.load(0, row.policy, at),
                if far == L2Policy::VolatileFetch { 9 } else { 0 },
                ".{} system {system}",
                row.name
            );
            let first = far != L2Policy::Normal;
            assert_eq!(b.h.l2_state(at), Some((false, first)), ".{} system {system}", row.name);
            // A fetch every time.
            b.host(at, 10);
            let got = b.load(0, row.policy, at);
            assert_eq!(got == 10, far == L2Policy::VolatileFetch, ".{} system {system}", row.name);
        }
    }
}

/// A volatile fetch does not lose what stores left in the line it drops.
#[test]
fn volatile_fetch_writes_back_first() {
    let mut b = Bench::new();
    let at = b.system;
    b.store(1, CachePolicy::Default, at + 4, 5);
    b.host(at, 6);
    assert_eq!((b.load(0, CachePolicy::Cv, at), b.load(0, CachePolicy::Cv, at + 4)), (6, 5));
    assert_eq!(b.below(at + 4), 5);
}

/// K4, global stores: nothing is left in L1; L2 by the table; memory at once only where stores go through.
#[test]
fn global_stores() {
    for row in &STORES[..4] {
        for (system, far) in [(false, row.l2_device), (true, row.l2_system)] {
            let mut b = Bench::new();
            let at = if system { b.system } else { b.device };
            b.load(0, CachePolicy::Default, at);
            assert!(b.l1(at).is_some());
            b.store(0, row.policy, at, 3);
            assert_eq!(b.l1(at), None, ".{}: a matching line is discarded", row.name);
            let through = far == L2Policy::WriteThrough;
            assert_eq!(b.below(at), if through { 3 } else { 0 }, ".{} system {system}", row.name);
            assert_eq!(b.h.l2_state(at), Some((!through, far != L2Policy::Normal)), ".{} system {system}", row.name);
            assert_eq!(b.load(0, CachePolicy::Default, at), 3, "an SM sees its own stores");
            assert_eq!(b.load(1, CachePolicy::Cg, at), 3);
            b.h.finish(&b.memory);
            assert_eq!(b.below(at), 3);
        }
    }
}

/// K4 [2]: stores that go through to system memory are not merged.
#[test]
fn write_through_does_not_merge() {
    let addresses: Vec<u64> = (0..32).map(|i| i * 4).collect();
    for (policy, bytes) in [(CachePolicy::Wt, 32 * 32), (CachePolicy::Default, 0)] {
        let mut b = Bench::new();
        let at: Vec<u64> = addresses.iter().map(|a| b.system + a).collect();
        b.stores(0, MemorySpace::Global, policy, &at, 1);
        assert_eq!(b.h.statistics().system_written_bytes, bytes);
        let s = b.h.finish(&b.memory);
        assert_eq!(s.system_written_bytes, if bytes == 0 { 128 } else { bytes });
    }
}

/// The first bytes of the 32 lanes' private memories: one line.
const LANES: [u64; 32] = [0; 32];

/// Private stores and loads: state in L1, then in L2 once two lines of the set have pushed the line out.
fn evict(b: &mut Bench, at: u64) {
    for line in 0..512 {
        if b.l1(at).is_none() {
            return;
        }
        let filler = b.device + line * 128;
        b.load(0, CachePolicy::Default, filler);
    }
    panic!("the line is still there");
}

/// K3, private loads: each policy on a line that L1 has, and on one that it has to fetch.
#[test]
fn private_loads() {
    for row in &LOADS[4..] {
        let mut b = Bench::new();
        let at = b.h.private_address(0, 0, 0);
        b.stores(0, MemorySpace::Private, CachePolicy::Default, &LANES, 5);
        // Half the line only: a last use that does not cover it keeps it.
        assert_eq!(b.loads(0, MemorySpace::Private, row.policy, &LANES[..16]), vec![5; 16]);
        let first = row.l1 != L1Policy::Normal;
        assert_eq!(b.l1(at), Some((0xf, true, first)), ".{}", row.name);
        evict(&mut b, at);
        assert!(b.h.l2_state(at).is_some_and(|(dirty, _)| dirty), "written back to L2");
        assert_eq!(b.loads(0, MemorySpace::Private, row.policy, &LANES[..16]), vec![5; 16], ".{}", row.name);
        assert_eq!(b.l1(at).map(|s| (s.1, s.2)), Some((false, first)), ".{} fetched", row.name);
        assert_eq!(b.h.l2_state(at).map(|s| s.1), Some(row.l2_device != L2Policy::Normal), ".{} in L2", row.name);
    }
}

/// K3 [2]: a last use that covers the line returns it, invalidates it and cancels its write-back.
#[test]
fn last_use_of_a_whole_line() {
    let mut b = Bench::new();
    let at = b.h.private_address(0, 0, 0);
    b.stores(0, MemorySpace::Private, CachePolicy::Default, &LANES, 5);
    assert_eq!(b.loads(0, MemorySpace::Private, CachePolicy::Cs, &LANES), vec![5; 32]);
    assert_eq!((b.l1(at), b.h.l2_state(at)), (None, None));
    let s = b.h.statistics().clone();
    assert_eq!((s.data.last_uses, s.data.written_back, s.l1_to_l2_bytes), (1, 0, 0));
    // On a line that only L2 has, none is left in L1 either.
    b.stores(0, MemorySpace::Private, CachePolicy::Default, &LANES, 6);
    evict(&mut b, at);
    assert_eq!(b.loads(0, MemorySpace::Private, CachePolicy::Cs, &LANES), vec![6; 32]);
    assert_eq!(b.l1(at), None);
}

/// K4, private stores: dirty in L1, evict-first by the table; in L2 once they are written back.
#[test]
fn private_stores() {
    for row in &STORES[4..] {
        let mut b = Bench::new();
        let at = b.h.private_address(0, 0, 0);
        b.stores(0, MemorySpace::Private, row.policy, &LANES, 5);
        assert_eq!(b.l1(at), Some((0xf, true, row.l1 != L1Policy::Normal)), ".{}", row.name);
        assert_eq!(b.h.l2_state(at), None, ".{}: nothing is written through", row.name);
        evict(&mut b, at);
        assert_eq!(b.loads(0, MemorySpace::Private, CachePolicy::Default, &LANES), vec![5; 32], ".{}", row.name);
    }
}

/// Evict-first lines go before normal ones.
#[test]
fn evict_first_protects_reuse() {
    let hits = |policy| {
        let mut b = Bench::new();
        let reused: Vec<u64> = (0..8).map(|i| b.device + i * 128).collect();
        let mut hits = 0;
        for round in 0..8 {
            for a in &reused {
                let before = b.h.statistics().data.misses;
                b.load(0, CachePolicy::Default, *a);
                hits += u32::from(b.h.statistics().data.misses == before);
            }
            for i in 0..16 {
                b.load(0, policy, b.device + 4096 + (round * 16 + i) * 128);
            }
        }
        hits
    };
    let (stream, normal) = (hits(CachePolicy::Cs), hits(CachePolicy::Default));
    assert!(stream > normal, "{stream} hits beside a .cs stream, {normal} beside a .ca stream");
}

/// K5 on global lines of the data cache.
#[test]
fn data_cache_operations_on_global_lines() {
    use CacheOperation::*;
    let (d, global) = (CacheName::D, MemorySpace::Global);
    let mut b = Bench::new();
    let at = b.device;
    assert_eq!(b.control(d, Qry1, global, at), 0);
    b.control(d, Pf2, global, at);
    assert_eq!((b.l1(at).is_some(), b.h.l2_state(at).is_some()), (false, true));
    b.control(d, Pf1, global, at);
    assert_eq!((b.l1(at), b.control(d, Qry1, global, at)), (Some((1, false, false)), 1));
    // Another sector of the line is not valid.
    assert_eq!(b.control(d, Qry1, global, at + 32), 0);
    for op in [Iv, Rs] {
        b.load(0, CachePolicy::Default, at);
        b.control(d, op, global, at + 64);
        assert_eq!(b.l1(at), None, "{op}");
    }
    b.load(0, CachePolicy::Default, at);
    b.control(d, Wb, global, at);
    assert!(b.l1(at).is_some(), "wb keeps the line");
    b.load(0, CachePolicy::Default, at + 4096);
    b.control(d, Ivall, global, 0);
    assert_eq!((b.l1(at), b.l1(at + 4096)), (None, None));
    // Prefetches never fault, nor do they fetch what is not there.
    for op in [Pf1, Pf2] {
        b.control(d, op, global, 12);
        b.control(d, op, global, u64::MAX / 2 & !3);
    }
}

/// K5 on dirty private lines: what is written back, what is lost.
#[test]
fn data_cache_operations_on_private_lines() {
    use CacheOperation::*;
    let (d, private) = (CacheName::D, MemorySpace::Private);
    for (op, left, data) in [(Wb, Some((0xf, false, false)), 5), (Iv, None, 5), (Rs, None, 1), (Ivall, None, 5)] {
        let mut b = Bench::new();
        let at = b.h.private_address(0, 0, 0);
        // L2 has 1, L1 has 5.
        b.stores(0, private, CachePolicy::Default, &LANES, 1);
        b.control(d, Iv, private, 0);
        b.stores(0, private, CachePolicy::Default, &LANES, 5);
        assert_eq!(b.control(d, Qry1, private, 0), 3, "valid and dirty");
        b.control(d, op, private, 0);
        assert_eq!(b.l1(at), left, "{op}");
        assert_eq!(b.control(d, Qry1, private, 0), u32::from(left.is_some()), "{op}");
        assert_eq!(b.loads(0, private, CachePolicy::Default, &LANES), vec![data; 32], "{op}");
    }
}

/// K5 on the read-only caches: uniform (and textures, which share it), constant, instruction.
#[test]
fn read_only_cache_operations() {
    use CacheOperation::*;
    for (cache, path) in [
        (CacheName::U, Path::Uniform),
        (CacheName::T, Path::Uniform),
        (CacheName::C, Path::Constant),
        (CacheName::I, Path::Instruction),
    ] {
        let mut b = Bench::new();
        let global = MemorySpace::Global;
        // Instruction addresses are offsets in the code.
        let at = if cache == CacheName::I { 0 } else { b.device };
        assert_eq!(b.control(cache, Qry1, global, at), 0);
        b.control(cache, Pf15, global, at);
        assert_eq!((b.control(cache, Qry1, global, at), b.h.statistics().l15.misses), (0, 1), "{cache}");
        b.control(cache, Pf1, global, at);
        assert_eq!((b.control(cache, Qry1, global, at), b.h.statistics().l15.misses), (1, 1), "{cache}: found in L1.5");
        if path != Path::Instruction {
            let mut out = [[0; 16]];
            let done: AccessCost =
                b.access(0, MemorySpace::Global, CachePolicy::Default, &[at], |h, m, a| h.load(m, path, a, &mut out));
            assert_eq!(done.hits, 1);
        }
        b.control(cache, Iv, global, at);
        assert_eq!(b.control(cache, Qry1, global, at), 0, "{cache}");
        b.control(cache, Pf1, global, at);
        b.control(cache, Ivall, global, at);
        assert_eq!(b.control(cache, Qry1, global, at), 0, "{cache}");
    }
}

/// The address that a lane accesses.
type Address = fn(u64) -> u64;

/// Coalescing, by hand: lines and sectors of ten patterns of 32 lanes with 128-byte lines of 32-byte sectors.
#[test]
fn coalescing() {
    let patterns: [(&str, u32, Address, u32, u32); 10] = [
        ("consecutive words", 4, |i| 4 * i, 1, 4),
        ("consecutive doubles", 8, |i| 8 * i, 2, 8),
        ("consecutive quads", 16, |i| 16 * i, 4, 16),
        ("consecutive bytes", 1, |i| i, 1, 1),
        ("one address", 4, |_| 64, 1, 1),
        ("every other word", 4, |i| 8 * i, 2, 8),
        ("one word a line", 4, |i| 128 * i, 32, 32),
        ("shifted by a word", 4, |i| 4 * i + 4, 2, 5),
        ("reversed", 4, |i| 4 * (31 - i), 1, 4),
        ("two rows", 4, |i| i / 16 * 1024 + i % 16 * 4, 2, 4),
    ];
    for (name, bytes, address, lines, sectors) in patterns {
        let mut b = Bench::new();
        let at: Vec<u64> = (0..32).map(|i| b.device + address(i)).collect();
        let access = Access {
            sm: 0,
            now: 0,
            space: MemorySpace::Global,
            policy: CachePolicy::Default,
            addresses: &at,
            mask: 0xffff_ffff,
            bytes,
            private: 0,
        };
        let mut out = [[0; 16]; 32];
        let done = b.h.load(&b.memory, Path::Data, &access, &mut out);
        assert_eq!((done.lines, done.sectors), (lines, sectors), "{name}");
        let mut again = Bench::new();
        let done = again.h.store(&again.memory, &access, &out);
        assert_eq!((done.lines, done.sectors), (lines, sectors), "{name}, stored");
        // In time: one line a cycle.
        assert!(done.busy >= lines, "{name}");
    }
}

/// Work-group memory: cycles by hand for 32 banks of 4 bytes.
#[test]
fn bank_conflicts() {
    use heddle::sim::banks::bank_conflicts;
    let patterns: [(&str, u32, Address, u32); 10] = [
        ("consecutive words", 4, |i| 4 * i, 1),
        ("one address", 4, |_| 8, 1),
        ("stride 2", 4, |i| 8 * i, 2),
        ("stride 3", 4, |i| 12 * i, 1),
        ("stride 32: one bank", 4, |i| 128 * i, 32),
        ("stride 33: padded", 4, |i| 132 * i, 1),
        ("stride 16", 4, |i| 64 * i, 16),
        ("consecutive doubles", 8, |i| 8 * i, 2),
        ("consecutive quads", 16, |i| 16 * i, 4),
        ("bytes", 1, |i| i, 1),
    ];
    for (name, bytes, address, cycles) in patterns {
        assert_eq!(bank_conflicts((0..32).map(address), bytes, 32), cycles, "{name}");
    }
}

// ----- assembled programs -----

/// Runs an assembled kernel with two buffers, `a` (in system memory if told) and `b`, of 1024 words; returns what they hold.
fn run(body: &str, system: bool, groups: u32, options: &Options) -> (Vec<u32>, Vec<u32>, Statistics) {
    let header = r#".object {"version":1,"machine":"heddle","clusters":4,"kernels":[],"data_relocations":[],"data_align":1}
.kernel {"name":"k","text_offset":0,"text_size":0,"args":[{"name":"a","type_name":"int*","kind":"global","offset":8,"size":8,"align":8},{"name":"b","type_name":"int*","kind":"global","offset":16,"size":8,"align":8}],"local_bytes":0,"private_bytes":16,"main_registers":8,"fixed_registers":8,"shared_demand":0,"local_registers":[0,0,0,0],"scalar_registers":8,"predicate_registers":2,"required_work_group":null,"warp_size":32}
"#;
    let machine = machine(&[]);
    let image = heddle::object::asm::assemble(&format!("{header}{body}")).unwrap_or_else(|e| panic!("{e}"));
    let kernel = image.kernel("k").unwrap();
    let program = heddle::sim::Program::from_image(&image, kernel, &machine).unwrap();
    let mut memory = DeviceMemory::new(1 << 20);
    let a = memory.allocate("a", 4096).unwrap();
    let b = memory.allocate("b", 4096).unwrap();
    memory.place(a, system);
    let mut constants = vec![0; 32];
    constants[8..16].copy_from_slice(&a.to_le_bytes());
    constants[16..24].copy_from_slice(&b.to_le_bytes());
    let launch = Launch {
        program: &program,
        global: [32 * groups, 1, 1],
        local: [32, 1, 1],
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
    let options = Options { max_instructions: 1_000_000, ..options.clone() };
    let statistics = Simulation::new(&launch, &memory, &machine, &options).timing(&mut hierarchy).unwrap();
    let words = |at| memory.read(at, 4096).unwrap().chunks(4).map(|c| u32::from_le_bytes([c[0], c[1], c[2], c[3]])).collect();
    (words(a), words(b), statistics)
}

/// K8: SM 0 reads `a[0]`, waits, and reads again; meanwhile SM 1 stores. `again` is the second read; its result goes to `b[0]`.
fn stale(again: &str) -> u32 {
    let body = format!(
        "  mov.b32 s0, group.x
  bras s0, WRITER
  c3 ld.global.b32 m0, [c[0x8]]
  add.b32 m1, m0, 1
  mov.b32 s1, 3000
WAIT:
  sub.b32 s1, s1, 1
  bras s1, WAIT
{again}
  c3 st.global.b32 [c[0x10]], m2
  exit
WRITER:
  mov.b32 s1, 1000
LATER:
  sub.b32 s1, s1, 1
  bras s1, LATER
  c3 st.global.b32 [c[0x8]], 42
  exit
"
    );
    run(&body, false, 2, &Options::default()).1[0]
}

#[test]
fn stale_reads_are_visible_and_curable() {
    assert_eq!(stale("  c3 ld.global.b32 m2, [c[0x8]]"), 0, "a .ca hit is stale");
    assert_eq!(stale("  c3 ld.global.b32.ca m2, [c[0x8]]"), 0, "the default's name");
    assert_eq!(stale("  c3 ld.global.b32.cs m2, [c[0x8]]"), 0, "a .cs hit is stale, too");
    assert_eq!(stale("  c3 ld.global.b32.cg m2, [c[0x8]]"), 42);
    assert_eq!(stale("  c3 ld.global.b32.cv m2, [c[0x8]]"), 42);
    assert_eq!(
        stale(
            "  c3 cctl.d.iv [c[0x8]]
  c3 ld.global.b32 m2, [c[0x8]]"
        ),
        42
    );
    assert_eq!(
        stale(
            "  c3 cctl.d.ivall [0]
  c3 ld.global.b32 m2, [c[0x8]]"
        ),
        42
    );
    assert_eq!(stale("  c3 atom.global.add.b32 m2, [c[0x8]], 0"), 42, "atomics are at L2");
    assert_eq!(stale("  c3 ldu.global.b32 m2, [c[0x8]]"), 42, "another cache, that has not seen the line");
}

/// The warp's own store discards the line: a work-group sees what it wrote.
#[test]
fn own_stores_are_seen() {
    let body = "  c3 ld.global.b32 m0, [c[0x8]]
  c3 ldu.global.b32 m1, [c[0x8]]
  add.b32 m1, m0, m1
  c3 st.global.b32 [c[0x8]], 5
  c3 ld.global.b32 m0, [c[0x8]]
  c3 ldu.global.b32 m1, [c[0x8]]
  add.b32 m2, m0, m1
  c3 st.global.b32 [c[0x10]], m2
  exit
";
    assert_eq!(run(body, false, 1, &Options::default()).1[0], 10);
}

/// A kernel polls a flag in system memory until the host sets it; with `.cg` it would not end.
#[test]
fn polling_system_memory() {
    let body = |policy: &str| {
        format!(
            "  mov.b32 s1, 0
POLL:
  add.b32 s1, s1, 1
  c3 ld.global.b32{policy} m0, [c[0x8]]
  first.b32 s0, m0
  cmp.eq.b32 s2, s1, 2000
  or.b32 s0, s0, s2
  bras.z s0, POLL
  c3 st.global.b32 [c[0x10]], m0
  exit
"
        )
    };
    let address = heddle::sim::memory::BASE_ADDRESS;
    let options = Options {
        host_writes: vec![HostWrite { cycle: 20_000, address, data: 77u32.to_le_bytes().to_vec() }],
        ..Default::default()
    };
    let (_, b, statistics) = run(&body(".cv"), true, 1, &options);
    assert_eq!(b[0], 77);
    assert!(statistics.timing.unwrap().cycles > 20_000);
    assert_eq!(run(&body(".cg"), true, 1, &options).1[0], 0, "L2 keeps the old line");
}

/// `cctl` and `cctll` in code: the status of a line before and after each operation.
#[test]
fn cache_control_instructions() {
    let global = |setup: &str| {
        let body = format!(
            "{setup}
  c3 cctl.d.qry1 m1, [c[0x8]]
  c3 st.global.b32 [c[0x10]], m1
  exit
"
        );
        run(&body, false, 1, &Options::default()).1[0]
    };
    let load = "  c3 ld.global.b32 m0, [c[0x8]]";
    assert_eq!(global("  nop"), 0);
    assert_eq!(global(load), 1);
    assert_eq!(global("  c3 cctl.d.pf1 [c[0x8]]"), 1);
    assert_eq!(global("  c3 cctl.d.pf2 [c[0x8]]"), 0);
    assert_eq!(global("  c3 cctl.u.pf1.5 [c[0x8]]"), 0);
    for op in ["iv", "rs"] {
        assert_eq!(
            global(&format!(
                "{load}
  c3 cctl.d.{op} [c[0x8]]"
            )),
            0,
            "{op}"
        );
    }
    assert_eq!(
        global(&format!(
            "{load}
  c3 cctl.d.wb [c[0x8]]"
        )),
        1
    );
    assert_eq!(
        global(&format!(
            "{load}
  c3 cctl.d.ivall [0]"
        )),
        0
    );
    let private = |op: &str| {
        let body = format!(
            "  c3 st.private.b32 [0], 1
{op}
  c3 cctll.d.qry1 m1, [0]
  c3 ld.private.b32 m0, [0]
  c3 st.global.b32 [c[0x10]], m1
  c3 st.global.b32 [c[0x10] + 4], m0
  exit
"
        );
        let b = run(&body, false, 1, &Options::default()).1;
        (b[0], b[1])
    };
    assert_eq!(private("  nop"), (3, 1));
    assert_eq!(private("  c3 cctll.d.wb [0]"), (1, 1));
    assert_eq!(private("  c3 cctll.d.iv [0]"), (0, 1));
    assert_eq!(private("  c3 cctll.d.ivall [0]"), (0, 1));
    assert_eq!(private("  c3 cctll.d.rs [0]"), (0, 0));
}

/// A policy that the tables do not have is refused by the assembler, and its encoding by the decoder and the simulator's loader (K6).
#[test]
fn tables_and_rules_agree() {
    use heddle::isa::{Op, rules};
    use strum::IntoEnumIterator;
    for policy in CachePolicy::iter() {
        for (op, table) in [(Op::Load, &LOADS), (Op::Store, &STORES)] {
            let has = table[..4].iter().any(|r| r.policy == policy);
            assert_eq!(rules::has_policy(op, policy), has, "{policy:?}");
            assert_eq!(table[4..].iter().any(|r| r.policy == policy), has);
        }
        assert_eq!(policy::of(&LOADS, MemorySpace::Private, CachePolicy::Cs).name, "lu");
    }
}

/// K3 to K5 and K8 say what becomes of a line whatever else would be evicted.
#[test]
fn the_rules_hold_under_every_replacement_policy() {
    for policy in ["pseudo-lru", "fifo", "random", "rrip"] {
        REPLACEMENT.set(policy);
        println!("{policy}");
        global_loads_of_a_line_in_l1();
        global_loads_in_l2();
        volatile_fetch_writes_back_first();
        global_stores();
        write_through_does_not_merge();
        private_loads();
        last_use_of_a_whole_line();
        private_stores();
        data_cache_operations_on_global_lines();
        data_cache_operations_on_private_lines();
        read_only_cache_operations();
        stale_reads_are_visible_and_curable();
        own_stores_are_seen();
        polling_system_memory();
        cache_control_instructions();
    }
}
