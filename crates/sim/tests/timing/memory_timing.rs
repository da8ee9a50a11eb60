//! The memory hierarchy in exact cycles: each latency, interval and limit of the description shows in the sum
//! that it is part of. The sums are written out with the numbers of one made-up machine, so that each
//! parameter has a number of its own.

use heddle_isa::{CachePolicy, MemorySpace};
use heddle_sim::DeviceMemory;
use heddle_sim::hierarchy::{Access, AccessCost, Hierarchy, Path};

/// One slice, one channel, one bank; no two latencies alike.
const MACHINE: [&str; 27] = [
    "sm.count=4",
    "memory.data.latency=11",
    "memory.uniform.latency=13",
    "memory.constant.latency=17",
    "memory.l15.latency=19",
    "memory.l15.sms=2",
    "memory.network.latency=101",
    "memory.network.interval=3",
    "memory.network.queue=10",
    "memory.l2.latency=57",
    "memory.l2.interval=2",
    "memory.l2.atomic-interval=7",
    "memory.l2.slices=1",
    "memory.dram.channels=1",
    "memory.dram.banks=1",
    "memory.dram.row-bytes=4096",
    "memory.dram.row-hit=211",
    "memory.dram.row-miss=307",
    "memory.dram.row-cycle=60",
    "memory.dram.interval=5",
    "memory.system.latency=401",
    "memory.system.interval=23",
    "memory.line-bytes=128",
    "memory.sector-bytes=32",
    "memory.data.misses=64",
    "memory.l2.bytes=262144",
    "memory.l2-tlb.walk-latency=503",
];

/// From a miss of L1 to the reply, for a sector that L2 has: network, L2, a sector through the port, network.
const L2_HIT: u64 = 101 + 57 + 3 + 101;
/// What DRAM adds for a sector of a closed row, and of the open one.
const ROW_MISS: u64 = 307 + 5;
const ROW_HIT: u64 = 211 + 5;

struct Bench {
    h: Hierarchy,
    memory: DeviceMemory,
    /// 64 KiB in device memory, and as much in system memory.
    device: u64,
    system: u64,
}

fn bench(more: &[&str]) -> Bench {
    let set: Vec<String> = MACHINE.iter().chain(more).map(ToString::to_string).collect();
    let machine = heddle_target::testing::mixed(&set);
    let (memory, device, system) = crate::memories();
    let mut h = Hierarchy::new(&machine);
    h.start(&memory, false);
    Bench { h, memory, device, system }
}

impl Bench {
    /// A load of one lane, 4 bytes.
    fn load(&mut self, sm: usize, path: Path, address: u64, now: u64) -> AccessCost {
        self.loads(sm, path, &[address], now)
    }

    /// A load of a lane for each address.
    fn loads(&mut self, sm: usize, path: Path, addresses: &[u64], now: u64) -> AccessCost {
        let mut out = vec![[0; 16]; addresses.len()];
        let access = access(sm, MemorySpace::Global, CachePolicy::Default, addresses, now);
        self.h.load(&self.memory, path, &access, &mut out)
    }

    /// All four sectors of a line.
    fn line(&mut self, sm: usize, address: u64, now: u64) -> AccessCost {
        let sectors: Vec<u64> = (0..4).map(|s| address + 32 * s).collect();
        self.loads(sm, Path::Data, &sectors, now)
    }

    fn store(&mut self, sm: usize, space: MemorySpace, addresses: &[u64], now: u64) -> AccessCost {
        let data = vec![[1; 16]; addresses.len()];
        self.h.store(&self.memory, &access(sm, space, CachePolicy::Default, addresses, now), &data)
    }

    fn atomic(&mut self, sm: usize, addresses: &[u64], now: u64) -> AccessCost {
        let access = access(sm, MemorySpace::Global, CachePolicy::Default, addresses, now);
        self.h.atomic(&self.memory, &access, &mut |_, old| old + 1)
    }
}

fn access(sm: usize, space: MemorySpace, policy: CachePolicy, addresses: &[u64], now: u64) -> Access<'_> {
    let mask = (1 << addresses.len()) - 1;
    Access { sm, now, space, policy, addresses, mask, bytes: 4, private: 0 }
}

#[test]
fn a_sector_from_each_level() {
    let mut b = bench(&[]);
    let (at, system) = (b.device, b.system);
    // Data L1, network, L2, DRAM with its row closed and the sector on its bus.
    assert_eq!(b.load(0, Path::Data, at, 1000).ready, 1000 + 11 + L2_HIT + ROW_MISS);
    assert_eq!(b.load(0, Path::Data, at, 5000).ready, 5000 + 11, "L1 has it");
    assert_eq!(b.load(0, Path::Data, at + 32, 6000).ready, 6000 + 11 + L2_HIT + ROW_HIT, "another sector of the line");
    assert_eq!(b.load(1, Path::Data, at, 7000).ready, 7000 + 11 + L2_HIT, "L2 has it");
    assert_eq!(b.load(1, Path::Data, at, 8000).ready, 8000 + 11);
    // Uniform and constant L1 with the L1.5 behind them, which two SMs share.
    assert_eq!(b.load(0, Path::Uniform, at + 128, 9000).ready, 9000 + 13 + 19 + L2_HIT + ROW_HIT);
    assert_eq!(b.load(0, Path::Uniform, at + 128, 10_000).ready, 10_000 + 13);
    assert_eq!(b.load(1, Path::Uniform, at + 128, 11_000).ready, 11_000 + 13 + 19, "the L1.5 has it");
    assert_eq!(b.load(0, Path::Constant, at + 128, 12_000).ready, 12_000 + 17 + 19, "for every path");
    assert_eq!(b.load(2, Path::Constant, at + 128, 13_000).ready, 13_000 + 17 + 19 + L2_HIT, "another L1.5");
    // System memory: the link, and what is behind it.
    assert_eq!(b.load(0, Path::Data, system, 14_000).ready, 14_000 + 11 + L2_HIT + 23 + 401);
    let s = b.h.statistics();
    assert_eq!((s.l15.reads, s.l15.misses), (4, 2));
    assert_eq!((s.l2.reads, s.l2.misses, s.system_read_bytes, s.dram_read_bytes), (6, 4, 32, 3 * 32));
}

/// A sector on its way is waited for; the request is merged with the one that is on its way.
#[test]
fn hits_under_a_miss() {
    let mut b = bench(&[]);
    let at = b.device;
    let ready = b.load(0, Path::Data, at, 1000).ready;
    assert_eq!(b.load(0, Path::Data, at, 1100).ready, ready, "in L1");
    assert_eq!(b.load(0, Path::Data, at, ready).ready, ready + 11);
    assert_eq!(b.load(2, Path::Data, at, 1100).ready, ready, "in L2: the reply takes as long");
    let uniform = b.load(0, Path::Uniform, at + 128, 20_000).ready;
    assert_eq!(b.load(1, Path::Uniform, at + 128, 20_100).ready, uniform, "in the L1.5");
    assert_eq!(b.h.statistics().data.merged, 1);
}

#[test]
fn lines_of_an_access_are_looked_up_one_a_cycle() {
    let mut b = bench(&[]);
    let at = b.device;
    for line in 0..4 {
        b.load(0, Path::Data, at + 128 * line, 1000 * line);
    }
    let lines: Vec<u64> = (0..4).map(|l| at + 128 * l).collect();
    let cost = b.loads(0, Path::Data, &lines, 10_000);
    assert_eq!((cost.ready, cost.busy, cost.lines, cost.hits), (10_000 + 3 + 11, 4, 4, 4));
}

/// A port of an SM: a request takes it for the interval (a read is one, a write has its sectors), a reply for each sector.
#[test]
fn the_port_of_an_sm() {
    let mut b = bench(&["memory.l2.interval=0"]);
    let at = b.device;
    (0..3).for_each(|l| _ = b.line(3, at + 128 * l, 1000 * l));
    // Four sectors take 12 cycles; the next reply waits for them, the request 3 cycles for the one before it.
    let first = b.line(0, at, 10_000);
    assert_eq!(first.ready, 10_000 + 11 + 101 + 57 + 12 + 101);
    let second = b.line(0, at + 128, 10_000);
    assert_eq!(second.ready, first.ready + 3 + 12);
    let third = b.line(0, at + 256, 10_000);
    assert_eq!(third.ready, first.ready + 6 + 24);
    // Stores: 12 cycles each. More than the queue of 10 waits: the load-store unit, too.
    let all: Vec<u64> = (0..4).map(|s| at + 32 * s).collect();
    assert_eq!(b.store(1, MemorySpace::Global, &all, 20_000).busy, 1);
    assert_eq!(b.store(1, MemorySpace::Global, &all, 20_000).busy, 1 + 12 - 10);
    assert_eq!(b.store(1, MemorySpace::Global, &all, 20_000).busy, 1 + 24 - 10);
    assert_eq!(b.store(1, MemorySpace::Global, &all, 20_026).busy, 1, "10 cycles fit the queue");
    // A read behind them enters when they have.
    assert_eq!(b.load(1, Path::Data, at + 256, 20_026).ready, 20_048 + L2_HIT);
}

/// A slice of L2: two SMs ask it at the same cycle.
#[test]
fn the_interval_of_a_slice() {
    for (interval, waits) in [(0, 0), (2, 8), (5, 20)] {
        let mut b = bench(&[&format!("memory.l2.interval={interval}")]);
        let at = b.device;
        b.line(3, at, 1000);
        b.line(3, at + 128, 2000);
        let ready = b.line(0, at, 10_000).ready;
        assert_eq!(b.line(1, at + 128, 10_000).ready, ready + waits, "a sector in {interval} cycles");
        assert_eq!(b.load(2, Path::Data, at, 10_001).ready, ready - 9 + (2 * waits).max(1), "behind both");
    }
}

/// A slice's port to the network: requests take it for what they carry, replies for their sectors.
#[test]
fn the_port_of_a_slice() {
    let mut b = bench(&["memory.network.slice-interval=4", "memory.l2.interval=0"]);
    let at = b.device;
    (0..3).for_each(|l| _ = b.line(3, at + 128 * l, 1000 * l));
    // The slower of the two ports, that is 4 cycles for each of four sectors.
    let first = b.line(0, at, 10_000);
    assert_eq!(first.ready, 10_000 + 11 + 101 + 57 + 16 + 101);
    // The request enters 4 cycles later, and its reply waits for the rest of 16.
    let second = b.line(1, at + 128, 10_000);
    assert_eq!(second.ready, first.ready + 16);
    // Later a port is free again.
    assert_eq!(b.line(2, at + 256, 11_000).ready, first.ready + 1000);
    // A store of four sectors keeps requests away for 16 cycles; its reply is none.
    let all: Vec<u64> = (0..4).map(|s| at + 32 * s).collect();
    b.store(0, MemorySpace::Global, &all, 20_000);
    assert_eq!(b.load(1, Path::Data, at + 256, 19_989).ready, 20_000 + 16 + 101 + 57 + 4 + 101);
    // Ports of other slices are others'.
    let mut b =
        bench(&["memory.network.slice-interval=4", "memory.l2.interval=0", "memory.l2.slices=2", "memory.l2.slice-hash=false"]);
    b.line(3, at, 1000);
    b.line(3, at + 128, 2000);
    let ready = b.line(0, at, 10_000).ready;
    assert_eq!(b.line(1, at + 128, 10_000).ready, ready);
    // Faster than the SMs' ports, it adds nothing to a lone request.
    let mut b = bench(&["memory.network.slice-interval=2"]);
    b.line(3, at, 1000);
    assert_eq!(b.line(0, at, 10_000).ready, 10_000 + 11 + 101 + 57 + 12 + 101);
}

/// Which slice a line is in shows in who waits for whom.
#[test]
fn lines_go_round_the_slices_or_are_folded() {
    let same_slice = |hash: bool, line: u64| {
        let mut b = bench(&["memory.l2.slices=4", &format!("memory.l2.slice-hash={hash}"), "memory.l2.interval=50"]);
        let base = b.device.next_multiple_of(1 << 14);
        b.load(3, Path::Data, base, 1000);
        b.load(3, Path::Data, base + 128 * line, 5000);
        let ready = b.load(0, Path::Data, base, 10_000).ready;
        b.load(1, Path::Data, base + 128 * line, 10_000).ready > ready
    };
    let of = |hash| (1..9).chain([12, 32, 64, 96]).filter(|l| same_slice(hash, *l)).collect::<Vec<u64>>();
    assert_eq!(of(false), [4, 8, 12, 32, 64, 96]);
    // Bits 5 and 6 are folded in.
    assert_eq!(of(true), [4, 8, 12]);
}

#[test]
fn atomics_take_a_slice_for_each_lane() {
    let mut b = bench(&[]);
    let at = b.device;
    b.load(3, Path::Data, at, 1000);
    let lanes = vec![at; 8];
    let first = b.atomic(0, &lanes, 10_000);
    // Past L1; 7 cycles a lane.
    assert_eq!(first.ready, 10_000 + L2_HIT + 8 * 7);
    // The slice is taken for a look-up of 2 cycles and the lanes.
    assert_eq!(b.atomic(1, &lanes[..1], 10_000).ready, 10_000 + L2_HIT + 2 + 8 * 7 + 7);
    assert_eq!(b.atomic(2, &lanes[..1], 20_000).ready, 20_000 + L2_HIT + 7);
    // Two sectors: twice through the port.
    assert_eq!(b.atomic(2, &[at, at + 32], 30_000).ready, 30_000 + L2_HIT + ROW_HIT + 3 + 2 * 7);
    assert_eq!(b.load(2, Path::Data, at, 40_000).ready, 40_000 + 11 + L2_HIT, "no copy is left in L1");
    // Atomics on system memory go through each time.
    let system = b.system;
    assert_eq!(b.atomic(0, &[system], 50_000).ready, 50_000 + L2_HIT + 23 + 401 + 7);
}

#[test]
fn the_bus_of_dram() {
    for interval in [0, 5, 9] {
        let mut b = bench(&[&format!("memory.dram.interval={interval}"), "memory.l2.interval=0"]);
        let at = b.device;
        let first = b.line(0, at, 1000).ready;
        assert_eq!(first, 1000 + 11 + 101 + 57 + 307 + 4 * interval + 12 + 101);
        // The row is open; the transfer behind the first one's.
        assert_eq!(b.line(1, at + 128, 1000).ready, first + 211 + 4 * interval - 307);
    }
}

#[test]
fn the_link_to_system_memory() {
    let mut b = bench(&["memory.l2.interval=0"]);
    let at = b.system;
    let first = b.load(0, Path::Data, at, 1000).ready;
    assert_eq!(b.load(1, Path::Data, at + 128, 1000).ready, first + 23);
    assert_eq!(b.line(2, at + 256, 1000).ready, first + 23 + 4 * 23 + 9);
}

/// Who waits for a miss register does so before it issues (tests/lit/timing/mshr.s); here nobody waits.
#[test]
fn a_load_takes_as_many_registers_as_it_needs() {
    let mut b = bench(&["memory.data.misses=2", "memory.l2.interval=0", "memory.network.interval=0", "memory.dram.interval=0"]);
    let at = b.device;
    let trip = 101 + 57 + 211 + 101;
    b.load(3, Path::Data, at, 0);
    let cost = b.loads(0, Path::Data, &[at + 128, at + 256, at + 384], 1000);
    assert_eq!((cost.busy, cost.ready), (3, 1013 + trip));
}

#[test]
fn who_comes_early_does_not_wait_for_who_asked_early() {
    let ready = |later: bool| {
        let mut b = bench(&["memory.l2.slices=1"]);
        let at = b.device;
        b.load(0, Path::Data, at, 0);
        if later {
            b.load(0, Path::Data, at + 128, 2400);
        }
        b.load(1, Path::Data, at, 2000).ready
    };
    assert_eq!(ready(true), ready(false));
}

#[test]
fn requests_that_wait_for_a_miss() {
    let trip = L2_HIT + ROW_MISS;
    let cost = |merges: u32, loads: usize| {
        let mut b = bench(&[&format!("memory.data.merges={merges}")]);
        let at = b.device;
        let costs: Vec<AccessCost> = (0..loads).map(|i| b.load(0, Path::Data, at, 1000 + 10 * i as u64)).collect();
        assert!(costs.iter().all(|c| c.ready == 1011 + trip), "{merges}: nobody gets it later for it");
        let s = b.h.statistics().data;
        assert_eq!((s.reads, s.misses, s.merged), (loads as u64, 1, loads as u64 - 1));
        costs.iter().map(|c| u64::from(c.busy)).collect::<Vec<_>>()
    };
    assert_eq!(cost(0, 5), [1, 1, 1, 1, 1]);
    // Who may not wait with them does so before it issues (tests/lit/timing/merges.s).
    assert_eq!(cost(3, 4), [1, 1, 1, 1]);
}

#[test]
fn translation_delays_what_leaves_an_sm() {
    let mut b = bench(&["memory.tlb.entries=2", "memory.tlb.ways=2", "memory.tlb.latency=4", "memory.tlb.page-bytes=4096"]);
    let at = b.device.next_multiple_of(4096);
    assert_eq!(b.load(0, Path::Data, at, 1000).ready, 1000 + 11 + 4 + 503 + L2_HIT + ROW_MISS);
    assert_eq!(b.load(0, Path::Data, at, 5000).ready, 5000 + 11, "L1 is looked up by virtual addresses");
    assert_eq!(b.load(0, Path::Data, at + 128, 6000).ready, 6000 + 11 + 4 + L2_HIT + ROW_HIT, "the page is known");
    assert_eq!(b.load(1, Path::Data, at + 128, 7000).ready, 7000 + 11 + 4 + 503 + L2_HIT, "not to another SM");
    // A page that is being walked for another load.
    let ready = b.load(0, Path::Data, at + 4096, 10_000).ready;
    assert_eq!(b.load(0, Path::Data, at + 4096 + 32, 10_100).ready, ready + 5 - 96, "the row is open by then");
    // Stores are translated, too, and are waited for in their slice.
    b.store(0, MemorySpace::Global, &[at + 8192], 20_000);
    let s = b.h.statistics();
    assert_eq!((s.tlb.look_ups, s.tlb.misses), (6, 4));
    b.h.finish(&b.memory);
    assert_eq!(b.h.statistics().page_walks, 4);
    // With a shared TLB behind it the other SM's walk is saved.
    let mut b = bench(&["memory.tlb.entries=16", "memory.l2-tlb.entries=16", "memory.l2-tlb.latency=29"]);
    assert_eq!(b.load(0, Path::Data, at, 1000).ready, 1000 + 11 + 29 + 503 + L2_HIT + ROW_MISS);
    assert_eq!(b.load(1, Path::Data, at, 5000).ready, 5000 + 11 + 29 + L2_HIT);
    assert_eq!(b.load(1, Path::Data, at + 32, 6000).ready, 6000 + 11 + L2_HIT + ROW_HIT);
    b.h.finish(&b.memory);
    let s = b.h.statistics();
    assert_eq!((s.tlb.look_ups, s.tlb.misses, s.l2_tlb.look_ups, s.l2_tlb.misses, s.page_walks), (3, 2, 2, 1, 1));
    // SMs without a TLB of their own ask the shared one each time, and look nothing up themselves.
    let mut b = bench(&["memory.l2-tlb.entries=16", "memory.l2-tlb.latency=29"]);
    b.load(0, Path::Data, at, 1000);
    assert_eq!(b.load(0, Path::Data, at + 32, 5000).ready, 5000 + 11 + 29 + L2_HIT + ROW_HIT);
    b.h.finish(&b.memory);
    let s = b.h.statistics();
    assert_eq!((s.tlb.look_ups, s.tlb.misses, s.l2_tlb.look_ups, s.l2_tlb.misses, s.page_walks), (0, 0, 2, 1, 1));
}

/// Nobody asks for anything: it is there at once, and takes the load-store unit's cycle.
#[test]
fn accesses_without_lanes() {
    let mut b = bench(&[]);
    let at = [b.device; 4];
    let none = Access { mask: 0, ..access(0, MemorySpace::Global, CachePolicy::Default, &at, 1000) };
    let wanted = AccessCost { ready: 1000, busy: 1, ..AccessCost::default() };
    let Bench { h, memory, .. } = &mut b;
    assert_eq!(h.load(memory, Path::Data, &none, &mut [[0; 16]; 4]), wanted);
    assert_eq!(h.store(memory, &none, &[[0; 16]; 4]), wanted);
    assert_eq!(h.atomic(memory, &none, &mut |_, old| old), wanted);
    assert_eq!(h.statistics(), Default::default());
}

/// Private memory in the data L1: stores stay there, go through, or pass it by.
#[test]
fn stores_to_private_memory() {
    let lanes = [0; 32];
    for (write, allocate, dirty, kept, passed) in [
        ("back", true, true, true, 0),
        ("through", true, false, true, 4),
        ("back", false, true, false, 4),
        ("through", false, false, false, 4),
    ] {
        let mut b = bench(&[&format!("memory.data.write={write}"), &format!("memory.data.write-allocate={allocate}")]);
        let at = b.h.private_address(0, 0, 0);
        b.store(0, MemorySpace::Private, &lanes, 1000);
        assert_eq!(b.h.l1_state(0, at), kept.then_some((0xf, dirty, false)), "{write} {allocate}");
        assert_eq!(b.h.statistics().l2.writes, passed, "{write} {allocate}");
        // A line that is there is written where it is.
        let mut out = vec![[0; 16]; 32];
        let all = access(0, MemorySpace::Private, CachePolicy::Default, &lanes, 5000);
        let cost = b.h.load(&b.memory, Path::Data, &all, &mut out);
        assert_eq!((cost.hits, &out[31][..4]), (if kept { 4 } else { 0 }, &[1; 4][..]), "{write} {allocate}");
        b.store(0, MemorySpace::Private, &lanes, 9000);
        let through = u64::from(write == "through");
        assert_eq!(b.h.statistics().l2.writes, passed + 4 * through, "{write} {allocate}");
        assert_eq!(b.h.l1_state(0, at).map(|s| s.1), Some(dirty), "{write} {allocate}");
    }
}

/// Global stores in L2: they stay there, go through to memory, or pass it by.
#[test]
fn stores_in_l2() {
    for (write, allocate, state, below) in [
        ("back", true, Some((true, false)), 0),
        ("through", true, Some((false, false)), 1),
        ("back", false, None, 1),
        ("through", false, None, 1),
    ] {
        let set =
            [&format!("memory.l2.write={write}"), &format!("memory.l2.write-allocate={allocate}"), "memory.dram.interval=100"];
        let mut b = bench(&set);
        for at in [b.device, b.system] {
            b.store(0, MemorySpace::Global, &[at], 1000);
            assert_eq!(b.h.l2_state(at), state, "{write} {allocate}");
            assert_eq!(b.memory.read(at, 1).unwrap()[0], below, "{write} {allocate}");
        }
        let s = b.h.statistics();
        let bytes = 32 * u64::from(below);
        assert_eq!((s.dram_written_bytes, s.system_written_bytes), (bytes, bytes), "{write} {allocate}");
        // Where the line is, the store finds it, and the memory's time is taken.
        let at = b.device;
        b.load(1, Path::Data, at + 4096, 5000);
        b.store(0, MemorySpace::Global, &[at + 4096], 9000);
        let through = write == "through";
        assert_eq!(b.h.l2_state(at + 4096), Some((!through, false)), "{write} {allocate}");
        assert_eq!(b.memory.read(at + 4096, 1).unwrap()[0], u8::from(through), "{write} {allocate}");
        // The load comes to the slice a cycle behind the store, and to DRAM when its bus has 41 cycles of the write before it.
        let waits = if through { 41 } else { 0 };
        let ready = b.load(1, Path::Data, at + 4096 + 128, 8990).ready;
        assert_eq!(ready, 8990 + 11 + 1 + L2_HIT + waits + 211 + 100, "{write} {allocate}");
        // Atomics follow the same way; what is dirty reaches memory in the end.
        b.atomic(0, &[at + 8192], 20_000);
        assert_eq!(b.memory.read(at + 8192, 1).unwrap()[0], u8::from(through), "{write} {allocate}");
        b.h.finish(&b.memory);
        assert_eq!([0, 4096, 8192].map(|o| b.memory.read(at + o, 1).unwrap()[0]), [1; 3], "{write} {allocate}");
    }
}
