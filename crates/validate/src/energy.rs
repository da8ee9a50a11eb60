//! Energy again: counters times the description's constants, written down a second time.

use std::collections::BTreeMap;

use heddle_isa::{Inst, Operand, Space};
use heddle_sim::Statistics;
use heddle_sim::statistics::{Accesses, CacheStatistics};
use heddle_target::{Machine, Scheduler};

/// Energy of a launch by component in picojoules, from what it counted. `code` has the instructions of its profile.
pub fn energy(machine: &Machine, code: &[Inst], s: &Statistics) -> BTreeMap<&'static str, f64> {
    let (e, m) = (&machine.energy, &machine.memory);
    let mut out: BTreeMap<&'static str, f64> = BTreeMap::new();
    let mut put = |name, pj: f64| *out.entry(name).or_default() += pj;
    let file = |a: &Accesses, price: [f64; 2], mm: f64| {
        a.reads as f64 * price[0] + a.writes as f64 * price[1] + (a.reads + a.writes) as f64 * mm * e.wire_pj_per_mm
    };
    let r = &s.registers;
    put("register-file main", file(&r.main, main_file(machine), e.distance_mm.main));
    let less = |a: &Accesses, b: &Accesses| Accesses { reads: a.reads - b.reads, writes: a.writes - b.writes };
    let mut all_near_shared = Accesses::default();
    for (i, cluster) in machine.clusters.iter().enumerate() {
        let of = |list: &[Accesses]| list.get(i).copied().unwrap_or_default();
        let (all, near, near_shared) = (of(&r.local), of(&r.near), of(&r.near_by_shared_units));
        let d = &e.distance_mm;
        let near_registers = cluster.near_registers.min(cluster.local_registers);
        let far_mm = if cluster.shared_path { d.local_shared } else { d.local };
        let near_mm = if cluster.shared_path { d.local_shared } else { near_distance(machine, near_registers) };
        put(
            "register-file local",
            file(&less(&all, &near), local_file(machine, cluster.local_registers - near_registers), far_mm),
        );
        put("register-file local", file(&near, local_file(machine, near_registers), near_mm));
        // Units that clusters share are farther away.
        put("register-file local", file(&near_shared, [0.0; 2], (d.local_shared - near_mm).max(0.0)));
        all_near_shared.reads += near_shared.reads;
        all_near_shared.writes += near_shared.writes;
    }
    let longer = (e.distance_mm.local_shared - e.distance_mm.local).max(0.0);
    put("register-file local", file(&less(&r.local_by_shared_units, &all_near_shared), [0.0; 2], longer));
    put("register-file scalar", file(&r.scalar, scalar_file(machine), e.distance_mm.scalar));
    put("register-file predicate", (r.predicate.reads + r.predicate.writes) as f64 * e.predicate_pj);
    put("issue", s.instructions as f64 * e.issue_pj);
    let Some(timing) = &s.timing else { return out };
    for (inst, p) in code.iter().zip(&timing.profile) {
        let Some(t) = machine.timing.get(&inst.class()) else { continue };
        let scalar = matches!(inst.dst, Operand::Reg(_)) && inst.dst.as_phys().is_some_and(|r| r.space == Space::Scalar);
        let times = if scalar || inst.uniform { p.issues } else { p.lanes - p.saved_lanes };
        put("units", times as f64 * t.energy_pj);
    }
    if let Some(local) = s.memory.get("local") {
        put("memory local", local.bytes as f64 / 4.0 * m.local_word_pj);
    }
    let h = &timing.hierarchy;
    // What misses is written into the cache when it comes.
    let accesses = |c: &CacheStatistics| (c.reads + c.misses + c.writes + c.written_back) as f64;
    put("memory l1", accesses(&h.data) * m.data.sector_pj);
    put("memory l1", accesses(&h.uniform) * m.uniform.sector_pj);
    put("memory l1", accesses(&h.constant) * m.constant.sector_pj);
    put("memory l1", accesses(&h.instruction) * f64::from(m.line_bytes / m.sector_bytes) * m.instruction.sector_pj);
    put("memory l1.5", accesses(&h.l15) * m.l15.sector_pj);
    put("memory l2", accesses(&h.l2) * m.l2.sector_pj);
    put("memory network", h.network_sectors as f64 * m.network.sector_pj);
    let sectors = |bytes: u64| bytes as f64 / f64::from(m.sector_bytes);
    put("memory dram", sectors(h.dram_read_bytes + h.dram_written_bytes) * m.dram.sector_pj);
    put("memory dram", h.dram_row_misses as f64 * m.dram.activate_pj);
    put("memory system", sectors(h.system_read_bytes + h.system_written_bytes) * m.system.sector_pj);
    put("static", static_energy(machine, timing.cycles, timing.sm_cycles));
    out
}

/// Picojoules of 32 bits of a lane in an array of so many bytes, reading and writing, where those of an array of `listed`
/// bytes are known: powers of the capacity (C13).
fn grown(machine: &Machine, known: [f64; 2], bytes: f64, listed: u32) -> [f64; 2] {
    let arrays = &machine.energy.arrays;
    let ratio = if listed == 0 { 1.0 } else { bytes / f64::from(listed) };
    [known[0] * ratio.powf(arrays.read_exponent), known[1] * ratio.powf(arrays.write_exponent)]
}

/// The main file's: each scheduler has its share of the registers, in banks that are cut every four lanes.
fn main_file(machine: &Machine) -> [f64; 2] {
    let (e, banks) = (&machine.energy, machine.main_file.banks);
    let known = [e.main_read_pj, e.main_write_pj];
    if banks == 0 {
        return known;
    }
    let of_lane = f64::from(machine.sm.main_registers) / f64::from(machine.sm.schedulers * machine.warp_size);
    grown(machine, known, of_lane / f64::from(banks) * 16.0, e.arrays.main_bank_bytes)
}

/// The scalar file's: one array holds what a scheduler's warps have.
fn scalar_file(machine: &Machine) -> [f64; 2] {
    let (e, sm) = (&machine.energy, &machine.sm);
    let bytes = f64::from(4 * sm.scalar_registers * sm.max_warps.div_ceil(sm.schedulers));
    grown(machine, [e.scalar_read_pj, e.scalar_write_pj], bytes, e.arrays.scalar_file_bytes)
}

/// A local file's of so many registers a work-item: a small array's by the table, or a large array's with more ports than
/// the main file's, whichever is less.
fn local_file(machine: &Machine, registers: u32) -> [f64; 2] {
    let e = &machine.energy;
    let entries = registers.max(1);
    let listed = |table: &[f64]| {
        let entry = (entries as usize).min(table.len()).checked_sub(1);
        entry.and_then(|i| table.get(i)).copied().unwrap_or(0.0)
    };
    let tables = [&e.local_read_pj, &e.local_write_pj];
    if e.arrays.table_warps == 0 {
        return tables.map(|t| listed(t));
    }
    let held = f64::from((registers * holders(machine)).max(1));
    // Counted in entries of the table's arrays: those of `table-warps` warps.
    let small = tables.map(|t| along(t, held / f64::from(e.arrays.table_warps)).unwrap_or_else(|| listed(t)));
    if e.arrays.main_bank_bytes == 0 {
        return small;
    }
    let large = grown(machine, [e.main_read_pj, e.main_write_pj], 16.0 * held, e.arrays.main_bank_bytes);
    [0, 1].map(|i: usize| small[i].min(large[i] * e.arrays.port_factor))
}

/// Warps of a scheduler that hold local registers: only those of the active set, if there is one.
fn holders(machine: &Machine) -> u32 {
    let sm = &machine.sm;
    let active = match (sm.scheduler, sm.active_warps) {
        (Scheduler::TwoLevel, warps) if warps > 0 => warps.min(sm.max_warps),
        _ => sm.max_warps,
    };
    active.div_ceil(sm.schedulers)
}

/// How far a near bank of so many registers is: the listed distance is that of one register of the table's warps, and areas
/// grow with the capacity to the power of 0.82.
fn near_distance(machine: &Machine, registers: u32) -> f64 {
    let times = match machine.energy.arrays.table_warps {
        0 => f64::from(registers.max(1)),
        warps => f64::from(registers.max(1) * holders(machine)) / f64::from(warps),
    };
    machine.energy.distance_mm.near * times.powf(0.41)
}

/// The price of so many entries, by a table of those of 1, 2, 3, … entries: on straight lines between the logarithms of
/// entries and prices, and beyond the ends along the line that is nearest to all of them. `None` if there is no such line.
fn along(table: &[f64], entries: f64) -> Option<f64> {
    let points: Vec<(f64, f64)> = table.iter().enumerate().map(|(i, pj)| ((i as f64 + 1.0).ln(), pj.ln())).collect();
    if points.len() < 2 || points.iter().any(|p| !p.1.is_finite()) {
        return None;
    }
    let (n, x) = (points.len() as f64, entries.ln());
    let sum = |of: fn(&(f64, f64)) -> f64| points.iter().map(of).sum::<f64>();
    let (sx, sy) = (sum(|p| p.0), sum(|p| p.1));
    let slope = (n * sum(|p| p.0 * p.1) - sx * sy) / (n * sum(|p| p.0 * p.0) - sx * sx);
    let (first, last) = (points[0], points[points.len() - 1]);
    let y = if x <= first.0 {
        first.1 + slope * (x - first.0)
    } else if x >= last.0 {
        last.1 + slope * (x - last.0)
    } else {
        let pair = points.windows(2).find(|pair| x <= pair[1].0)?;
        pair[0].1 + (pair[1].1 - pair[0].1) * (x - pair[0].0) / (pair[1].0 - pair[0].0)
    };
    Some(y.exp())
}

/// Static power times time: the device's for the launch, that of an SM for as long as it has work, and where SMs are
/// switched off a share for the rest.
fn static_energy(machine: &Machine, cycles: u64, sm_cycles: u64) -> f64 {
    let (all, p) = (cycles as f64, &machine.energy.static_power);
    let device = machine.energy.static_watts + p.l2_watts + p.network_watts + p.dram_watts;
    let idle = (f64::from(machine.sm.count) * all - sm_cycles as f64).max(0.0);
    let asleep = if p.power_gating { p.gated_share } else { 1.0 };
    let sms = (p.sm_watts + p.register_file_watts + p.l1_watts) * (sm_cycles as f64 + idle * asleep);
    // Watts for a cycle, in picojoules.
    (device * all + sms) * 1e6 / machine.clock_mhz
}
