//! Energy again: counters times the description's constants, written down a second time.

use std::collections::BTreeMap;

use heddle_isa::{Inst, Operand, Space};
use heddle_sim::Statistics;
use heddle_sim::statistics::{Accesses, CacheStatistics};
use heddle_target::Machine;

/// Energy of a launch by component in picojoules, from what it counted. `code` has the instructions of its profile.
pub fn energy(machine: &Machine, code: &[Inst], s: &Statistics) -> BTreeMap<&'static str, f64> {
    let (e, m) = (&machine.energy, &machine.memory);
    let mut out: BTreeMap<&'static str, f64> = BTreeMap::new();
    let mut put = |name, pj: f64| *out.entry(name).or_default() += pj;
    let file = |a: &Accesses, read: f64, write: f64, mm: f64| {
        a.reads as f64 * read + a.writes as f64 * write + (a.reads + a.writes) as f64 * mm * e.wire_pj_per_mm
    };
    let r = &s.registers;
    put("register-file main", file(&r.main, e.main_read_pj, e.main_write_pj, e.distance_mm.main));
    for (a, cluster) in r.local.iter().zip(&machine.clusters) {
        let entry = |table: &[f64]| {
            let last = table.len().saturating_sub(1);
            table.get((cluster.local_registers.max(1) as usize - 1).min(last)).copied().unwrap_or(0.0)
        };
        let mm = if cluster.shared_path { e.distance_mm.local_shared } else { e.distance_mm.local };
        put("register-file local", file(a, entry(&e.local_read_pj), entry(&e.local_write_pj), mm));
    }
    // C13: the scalar file's prices are those of a file of some size, and grow with its own.
    let scalar_bytes = f64::from(machine.sm.scalar_registers * machine.sm.max_warps) * 4.0;
    let grown = |pj: f64, exponent: f64| match e.arrays.scalar_file_bytes {
        0 => pj,
        listed => pj * (scalar_bytes / f64::from(listed)).powf(exponent),
    };
    let (read, write) = (grown(e.scalar_read_pj, e.arrays.read_exponent), grown(e.scalar_write_pj, e.arrays.write_exponent));
    put("register-file scalar", file(&r.scalar, read, write, e.distance_mm.scalar));
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
