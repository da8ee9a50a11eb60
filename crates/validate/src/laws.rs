//! Laws that hold whatever a kernel does: limits of residency, rooflines, sums of counters, energy, and how
//! runs relate that differ in one thing.

use heddle_isa::{Op, OpClass};
use heddle_sim::statistics::{CacheStatistics, HierarchyStatistics};
use heddle_target::{Machine, Replacement};

use crate::bench::{Bench, Kept};
use crate::kernel::{Kernel, Shape};
use crate::latency::on;
use crate::{energy, expect};

/// All laws.
pub fn all(bench: &mut Bench) {
    residency(bench);
    latencies_change_nothing_else(bench);
    work_scales_with_sms(bench);
    more_ways_more_hits(bench);
    local_registers(bench);
    conservation(bench);
    rooflines(bench);
    energy_adds_up(bench);
}

/// How many warps an SM holds, by each of what limits it.
fn residency(bench: &mut Bench) {
    let machine = bench.one_sm();
    let sm = &machine.sm;
    let most = sm.max_main_registers;
    let half = sm.local_memory / 2;
    let cases = [
        ("one warp a group", 1, 4, 0),
        ("two warps a group", 2, 4, 0),
        ("all registers that can be named", 1, most, 0),
        ("half of these, two warps a group", 2, most.div_ceil(2), 0),
        ("half of the work-group memory", 1, 4, half),
        ("a third of it, and a byte", 1, 4, sm.local_memory / 3 + 1),
    ];
    for (what, warps, registers, local) in cases {
        let name = format!("resident warps, {what}");
        let groups = expect::resident_groups(&machine, warps, registers, local);
        if groups == 0 || warps * machine.warp_size > sm.max_work_group_size {
            bench.leave_out(name, "an SM does not hold one such work-group");
            continue;
        }
        let add = on(&machine, OpClass::Int32);
        let kernel = Kernel { registers, local_bytes: local, ..Kernel::of(format!("  {add}add.b32 m2, m2, 1")) };
        // More than it holds at once.
        let shape = Shape { groups: 2 * groups + 1, times: 16, ..Shape::warps(warps) };
        let measured = bench.run(&machine, &kernel, &shape).map(|done| {
            let resident = done.statistics.timing.as_ref().map_or(0, |t| t.resident_warps);
            bench.kept.push(Kept { name: name.clone(), machine: machine.clone(), shape, done });
            resident as f64
        });
        bench.compare(name, "warps", f64::from(groups * warps), measured, 0.0);
    }
}

/// A kernel with a bit of everything: loads, stores, atomics, a branch on data, work-group memory, a barrier.
fn mixed(machine: &Machine) -> Kernel {
    let class = |c| on(machine, c);
    let (int, multiply, load) = (class(OpClass::Int32), class(OpClass::Mul32), class(OpClass::LoadGlobal));
    let (store, local, atomic) = (class(OpClass::Store), class(OpClass::LoadLocal), class(OpClass::Atomic));
    let before = format!(
        "  {int}shl.b32 m2, lid.x, 2\n  {multiply}mul.b32 m3, gid.x, 40503\n  {int}and.b32 m3, m3, 0xfffc\n  \
         {int}shl.b32 m8, gid.x, 2"
    );
    let body = format!(
        "  {load}ld.global.b32 m4, [c[0x10] + u32 m3]\n  {int}add.b32 m4, m4, m2\n  {store}st.local.b32 [u32 m2], m4\n  \
         bar 1\n  {local}ld.local.b32 m5, [u32 m2]\n  {int}and.b32 m6, m5, 32\n  {int}cmp.ne.b32 p0, m6, 0\n  \
         @p0 brad odd, meet\n  {store}st.global.b32 [c[0x18] + u32 m8], m5\n  bra meet\nodd:\n  \
         {atomic}atom.global.add.b32 m7, [c[0x18] + u32 m8], m5\n  {int}add.b32 m3, m3, 128\n  \
         {int}and.b32 m3, m3, 0xfffc\nmeet:\n  bar 1"
    );
    Kernel { local_bytes: 4 * 64 * 4, ..Kernel::of(body).after(before) }
}

/// Longer latencies change when things happen, not what.
fn latencies_change_nothing_else(bench: &mut Bench) {
    let names = ["bytes written", "warp instructions", "lane instructions", "divergent branches"];
    let slow = bench.variant(|m| {
        for t in m.timing.values_mut() {
            t.latency = (2 * t.latency + 3).min(10_000);
            t.scalar_latency = if t.scalar_latency == 0 { 0 } else { (t.scalar_latency + 7).min(10_000) };
        }
        let memory = &mut m.memory;
        for latency in [
            &mut memory.local_latency,
            &mut memory.argument_latency,
            &mut memory.data.latency,
            &mut memory.l15.latency,
            &mut memory.l2.latency,
            &mut memory.network.latency,
            &mut memory.dram.row_hit,
            &mut memory.dram.row_miss,
        ] {
            *latency = 2 * *latency + 5;
        }
    });
    let machine = bench.variant(|_| {});
    let words: Vec<u32> = (0..1 << 14).map(|i: u32| i.wrapping_mul(2_654_435_761) >> 7).collect();
    let warps = 2.min(machine.sm.max_work_group_size / machine.warp_size);
    let shape = Shape { groups: 2 * machine.sm.count.min(8), words, bytes: 1 << 16, times: 6, ..Shape::warps(warps) };
    let kernel = mixed(&machine);
    let runs = bench.run(&machine, &kernel, &shape).and_then(|a| Ok((a, bench.run(&slow, &kernel, &shape)?)));
    let (fast, slow_run) = match runs {
        Ok(runs) => runs,
        Err(reason) => {
            names.iter().for_each(|n| bench.leave_out(format!("longer latencies leave: {n}"), reason.clone()));
            return;
        }
    };
    // Atomics of different lanes add to different words, so their order does not matter.
    let differ = fast.buffers.iter().zip(&slow_run.buffers).filter(|(a, b)| a != b).count();
    let (a, b) = (&fast.statistics, &slow_run.statistics);
    let figures = [
        (fast.buffers.len() as f64, (fast.buffers.len() - differ) as f64),
        (a.instructions as f64, b.instructions as f64),
        (a.lane_instructions as f64, b.lane_instructions as f64),
        (a.divergent_branches as f64, b.divergent_branches as f64),
    ];
    for (name, (expected, simulated)) in names.iter().zip(figures) {
        bench.compare(format!("longer latencies leave: {name}"), "", expected, Ok(simulated), 0.0);
    }
    let more = (b.timing.as_ref().map_or(0, |t| t.cycles), a.timing.as_ref().map_or(0, |t| t.cycles));
    bench.at_most("longer latencies never take less time", "cycles", more.0 as f64, Ok(more.1 as f64));
    bench.kept.push(Kept { name: "mixed".into(), machine, shape, done: fast });
}

/// Twice the SMs do twice the work in the same time, where they share nothing.
fn work_scales_with_sms(bench: &mut Bench) {
    let float = on(bench.machine, OpClass::Float32);
    let add = on(bench.machine, OpClass::Int32);
    let body = format!("  {float}fma.f32 m2, m2, m3, m4\n  {add}add.b32 m5, m5, 1\n");
    let kernel = Kernel::of(body.repeat(4));
    let one = bench.one_sm();
    let warps = 4.min(one.sm.max_warps).min(one.sm.max_work_group_size / one.warp_size);
    let alone = bench.period(&one, &kernel, &Shape::warps(warps), [16, 48]);
    for sms in [2, 4, 8] {
        let machine = bench.variant(|m| (m.sm.count, m.memory.l15.sms) = (sms, 1));
        let shape = Shape { groups: sms, ..Shape::warps(warps) };
        let measured = bench.period(&machine, &kernel, &shape, [16, 48]);
        let expected = alone.clone().unwrap_or(0.0);
        bench.exact(format!("{sms} SMs, {sms} times the work"), expected, measured);
    }
}

/// Hits of a cache that gets more ways of as many sets, under least recently used.
fn more_ways_more_hits(bench: &mut Bench) {
    const SETS: u32 = 8;
    let (int, multiply) = (on(bench.machine, OpClass::Int32), on(bench.machine, OpClass::Mul32));
    let load = on(bench.machine, OpClass::LoadGlobal);
    let line = bench.machine.memory.line_bytes;
    // Places of a generator of random numbers, within 32 lines a set.
    let mask = 32 * SETS * line - 4;
    let body = format!(
        "  {multiply}mul.b32 m2, m2, 1664525\n  {int}add.b32 m2, m2, 1013904223\n  {int}shr.u32 m3, m2, 9\n  \
         {int}and.b32 m3, m3, {mask}\n  {load}ld.global.b32 m4, [c[0x10] + u32 m3]\n"
    );
    let kernel = Kernel::of(body).after(format!("  {}mov.b32 m2, 1", on(bench.machine, OpClass::Move)));
    let mut before: Option<f64> = None;
    for ways in [1, 2, 4, 8, 16, 32] {
        let mut machine = bench.one_sm();
        (machine.memory.data.bytes, machine.memory.data.ways) = (ways * SETS * line, ways);
        machine.memory.data.replacement = Replacement::Lru;
        let shape = Shape { times: 1024, bytes: u64::from(mask) + 4096, ..Shape::warps(1) };
        let done = bench.run(&machine, &kernel, &shape);
        let misses = done.map(|done| {
            let misses = done.statistics.timing.as_ref().map_or(0, |t| t.hierarchy.data.misses);
            bench.kept.push(Kept { name: format!("random places, {ways} ways"), machine: machine.clone(), shape, done });
            misses as f64
        });
        if let Some(before) = before {
            bench.at_most(format!("misses with {ways} ways, as few as with {}", ways / 2), "sectors", before, misses.clone());
        }
        before = misses.ok();
    }
}

/// Accesses of local registers, by each cluster's own units and by those that clusters share.
fn local_registers(bench: &mut Bench) {
    const TIMES: u32 = 6;
    let mut machine = bench.machine.clone();
    (machine.sm.count, machine.memory.l15.sms) = (1, 1);
    let names = ["own units", "shared units"].map(|of| format!("accesses of local registers by {of}"));
    let (mut body, mut all, mut shared) = (String::new(), 0, 0);
    for (c, cluster) in machine.clusters.iter().enumerate().filter(|(_, cluster)| cluster.local_registers > 0) {
        let last = cluster.local_registers - 1;
        // Of the accesses of each: a result and an address, a result and an operand, a result and two operands.
        for (class, text, accesses) in [
            (OpClass::LoadGlobal, format!("ld.global.b32 l{last}, [c[0x10] + u32 l0]"), 2),
            (OpClass::Int32, format!("and.b32 l0, l{last}, 0xfc"), 2),
            (OpClass::Float32, format!("fma.f32 l{last}, l0, m2, l{last}"), 3),
        ] {
            let Some(row) = expect::row(&machine, class).filter(|t| machine.cluster_has(c, t.unit)) else { continue };
            body += &format!("  c{c} {text}\n");
            all += accesses;
            shared += if machine.shared_unit(c, row.unit).is_some() { accesses } else { 0 };
        }
    }
    if all == 0 {
        names.into_iter().for_each(|n| bench.leave_out(n, "no cluster has local registers"));
        return;
    }
    let warps = 4.min(machine.sm.max_warps).min(machine.sm.max_work_group_size / machine.warp_size);
    let kernel = Kernel { local_registers: u32::MAX, ..Kernel::of(body) };
    let shape = Shape { times: TIMES, ..Shape::warps(warps) };
    let counted = bench.run(&machine, &kernel, &shape).map(|done| {
        let r = &done.statistics.registers;
        let (local, far) = (r.local.iter().map(|a| a.reads + a.writes).sum::<u64>(), &r.local_by_shared_units);
        let far = far.reads + far.writes;
        bench.kept.push(Kept { name: "local registers".into(), machine: machine.clone(), shape, done });
        [local - far, far]
    });
    let lanes = f64::from(TIMES * warps * machine.warp_size);
    for ((i, name), accesses) in names.into_iter().enumerate().zip([all - shared, shared]) {
        let measured = counted.clone().map(|c| c[i] as f64);
        bench.compare(name, "accesses", f64::from(accesses) * lanes, measured, 0.0);
    }
}

/// A law of a run's counters: its two sides.
type Sides = (f64, f64);

/// The run in which the sides of a law differ most.
fn worst(bench: &mut Bench, name: &str, unit: &'static str, law: impl Fn(&Kept, &HierarchyStatistics) -> Option<Sides>) {
    let mut most: Option<(f64, Sides, &str)> = None;
    let mut runs = 0;
    for kept in &bench.kept {
        let Some(timing) = &kept.done.statistics.timing else { continue };
        let Some((left, right)) = law(kept, &timing.hierarchy) else { continue };
        runs += 1;
        let error = (left - right).abs() / left.abs().max(1.0);
        if most.is_none_or(|m| error > m.0 || m.0 == 0.0 && error == 0.0 && left > m.1.0) {
            most = Some((error, (left, right), &kept.name));
        }
    }
    match most {
        Some((_, (left, right), of)) => {
            let name = format!("{name} (worst of {runs} runs: {of})");
            bench.compare(name, unit, left, Ok(right), 1e-9);
        }
        None => bench.leave_out(name, "no run has what it is about"),
    }
}

fn found(c: &CacheStatistics) -> f64 {
    c.reads as f64 - c.misses as f64 - c.bypassed as f64
}

/// What goes into a level comes out of it, or goes on to the next one.
fn conservation(bench: &mut Bench) {
    let sectors = |bytes: u64, kept: &Kept| bytes as f64 / f64::from(kept.machine.memory.sector_bytes);
    worst(bench, "L1 hits + misses + past it = reads", "sectors", |kept, h| {
        let profile = &kept.done.statistics.timing.as_ref()?.profile;
        let hits: u64 = profile.iter().map(|p| p.hits).sum();
        let all = [&h.data, &h.uniform, &h.constant];
        Some((hits as f64, all.into_iter().map(found).sum()))
    });
    worst(bench, "sectors that loads touch = reads of L1", "sectors", |kept, h| {
        let timing = kept.done.statistics.timing.as_ref()?;
        let loads = kept.done.code.iter().zip(&timing.profile).filter(|(i, _)| matches!(i.op, Op::Load | Op::LoadUniform));
        let touched: u64 = loads.map(|(_, p)| p.sectors).sum();
        Some((touched as f64, (h.data.reads + h.uniform.reads + h.constant.reads) as f64))
    });
    worst(bench, "misses of L1 and L1.5, loads past L1, atomics = reads of L2", "sectors", |kept, h| {
        let timing = kept.done.statistics.timing.as_ref()?;
        let atomics = kept.done.code.iter().zip(&timing.profile).filter(|(i, _)| i.op == Op::Atomic);
        let atomics: u64 = atomics.map(|(_, p)| p.sectors).sum();
        Some(((h.data.misses + h.data.bypassed + h.l15.misses + atomics) as f64, h.l2.reads as f64))
    });
    worst(bench, "misses of the uniform, constant and instruction L1 = reads of the L1.5", "sectors", |kept, h| {
        let line = u64::from(kept.machine.memory.line_bytes / kept.machine.memory.sector_bytes);
        // Lines of code that are fetched ahead are counted by nobody: what is left must be whole lines.
        let code = h.l15.reads.checked_sub(h.uniform.misses + h.constant.misses)?;
        Some((h.l15.reads as f64, (h.l15.reads - code % line) as f64))
    });
    worst(bench, "misses of L2 = sectors read from DRAM", "sectors", |kept, h| {
        Some((h.l2.misses as f64, sectors(h.dram_read_bytes + h.system_read_bytes, kept)))
    });
    worst(bench, "sectors to L2 = writes of L2", "sectors", |kept, h| {
        Some((sectors(h.l1_to_l2_bytes, kept), h.l2.writes as f64))
    });
    worst(bench, "sectors from L2 = reads of L2", "sectors", |kept, h| {
        Some((sectors(h.l2_to_l1_bytes, kept), h.l2.reads as f64))
    });
    worst(bench, "sectors over the network = to L2 + from L2", "sectors", |kept, h| {
        Some((h.network_sectors as f64, sectors(h.l1_to_l2_bytes + h.l2_to_l1_bytes, kept)))
    });
    worst(bench, "issued + stalled = resident warp-cycles", "warp-cycles", |kept, _| {
        let s = &kept.done.statistics;
        let t = s.timing.as_ref()?;
        let stalls = &t.stalls;
        let stalled = stalls.dependence
            + stalls.memory
            + stalls.unit
            + stalls.barrier
            + stalls.rename
            + stalls.fetch
            + stalls.inactive
            + stalls.bank;
        // Occupancy is of the cycles in which SMs have work. It does not count the cycle in which a warp ends.
        let resident = t.occupancy * t.sm_cycles as f64 * f64::from(kept.machine.sm.max_warps);
        Some(((s.instructions + stalled) as f64, resident + s.warps as f64))
    });
    worst(bench, "issues of all instructions = warp instructions", "instructions", |kept, _| {
        let s = &kept.done.statistics;
        let issues: u64 = s.timing.as_ref()?.profile.iter().map(|p| p.issues).sum();
        Some((issues as f64, s.instructions as f64))
    });
    worst(bench, "lanes of a warp of each issue of a loop without branches", "lanes", |kept, _| {
        let s = &kept.done.statistics;
        let vector = s.instructions - s.scalar_instructions;
        (s.divergent_branches == 0 && kept.name.starts_with("latency"))
            .then_some(((vector * u64::from(kept.machine.warp_size)) as f64, s.lane_instructions as f64))
    });
}

/// What a machine can do in a cycle, and how much of it a run has done: name, unit, limit, amount.
type Roofline = (&'static str, &'static str, fn(&Machine) -> f64, fn(&Kept) -> f64);

/// No run passes what the machine can do in a cycle.
fn rooflines(bench: &mut Bench) {
    let per_cycle = |kept: &Kept, amount: f64| amount / kept.done.cycles().max(1) as f64;
    let limits: [Roofline; 4] = [
        ("warp instructions", "a cycle", expect::most_issued, |k| k.done.statistics.instructions as f64),
        ("bytes from DRAM", "bytes a cycle", dram_peak, |k| hierarchy(k, |h| h.dram_read_bytes)),
        ("bytes from L2", "bytes a cycle", network_peak, |k| hierarchy(k, |h| h.l2_to_l1_bytes)),
        ("bytes to L2", "bytes a cycle", network_peak, |k| hierarchy(k, |h| h.l1_to_l2_bytes)),
    ];
    for (name, unit, limit, amount) in limits {
        let used = |k: &&Kept| per_cycle(k, amount(k)) / limit(&k.machine);
        let nearest = bench.kept.iter().max_by(|a, b| used(a).total_cmp(&used(b)));
        let Some(kept) = nearest else { continue };
        let (limit, reached) = (limit(&kept.machine), per_cycle(kept, amount(kept)));
        let name = format!("roofline: {name} (nearest of {} runs: {})", bench.kept.len(), kept.name);
        if limit.is_finite() {
            bench.at_most(name, unit, limit, Ok(reached));
        } else {
            bench.leave_out(name, "an interval of 0 cycles sets no limit");
        }
    }
}

fn hierarchy(kept: &Kept, counter: fn(&HierarchyStatistics) -> u64) -> f64 {
    kept.done.statistics.timing.as_ref().map_or(0, |t| counter(&t.hierarchy)) as f64
}

fn dram_peak(machine: &Machine) -> f64 {
    let m = &machine.memory;
    f64::from(m.dram.channels * m.sector_bytes) / f64::from(m.dram.interval)
}

fn network_peak(machine: &Machine) -> f64 {
    let m = &machine.memory;
    f64::from(machine.sm.count * m.sector_bytes) / f64::from(m.network.interval)
}

/// Energy is counters times constants, component by component.
fn energy_adds_up(bench: &mut Bench) {
    let mut components: Vec<String> = Vec::new();
    for kept in &bench.kept {
        components.extend(kept.done.statistics.energy_pj.keys().cloned());
    }
    components.sort();
    components.dedup();
    for component in components {
        if component == "scalarizer" {
            bench.leave_out("energy: scalarizer", "no counter says how many operands were compared");
            continue;
        }
        worst(bench, &format!("energy: {component}"), "pJ", |kept, _| {
            let done = &kept.done;
            let simulated = *done.statistics.energy_pj.get(&component)?;
            let again = energy::energy(&kept.machine, &done.code, &done.statistics);
            Some((again.get(component.as_str()).copied().unwrap_or(0.0), simulated))
        });
    }
}
