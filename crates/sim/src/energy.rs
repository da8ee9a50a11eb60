//! Counts and energy: what block executions amount to.
//!
//! Every figure is a count of what was executed (block executions and lanes, times the block's static
//! content), never an estimate from static code. Energies per event come from the machine description.

use std::collections::BTreeMap;

use super::functional::BlockCounts;
use super::hierarchy::{Path, policy};
use super::program::Program;
use super::statistics::{Accesses, BlockProfile, CacheStatistics, InstructionProfile, STATIC, Statistics, Traffic};
use heddle_isa::{AddressMode, Inst, MemorySpace, Op, OpClass, Operand, PhysReg, Reg, Space};
use heddle_target::Machine;
use heddle_target::registers::RegisterPrices;

/// Turns block counts into statistics.
pub(crate) fn count(program: &Program, counts: &BlockCounts, machine: &Machine) -> Statistics {
    let mut s = Statistics { divergent_branches: counts.splits, turns: counts.turns, ..Default::default() };
    let r = &mut s.registers;
    // Each turn saves all scalar registers, and restores as many.
    let saved = counts.turns * u64::from(program.header.scalar_registers);
    r.scalar = Accesses { reads: saved, writes: saved };
    for files in [&mut r.local, &mut r.near, &mut r.near_by_shared_units] {
        files.resize(program.clusters, Default::default());
    }
    s.blocks = counts.executions.iter().zip(&counts.lanes).map(|(e, l)| BlockProfile { executions: *e, lanes: *l }).collect();
    let mut kinds = Kinds::default();
    for (b, block) in program.blocks.iter().enumerate() {
        let (executions, lanes) = (counts.executions[b], counts.lanes[b]);
        if executions == 0 {
            continue;
        }
        let first = block.first as usize;
        for inst in &program.insts[first..first + block.len() as usize] {
            count_instruction(inst, executions, lanes, machine, &mut s, &mut kinds);
        }
    }
    // Names once each: a launch may be of microseconds.
    s.classes = kinds.classes.into_iter().map(|(class, executions)| (class.to_string(), executions)).collect();
    s.memory = kinds.memory.into_iter().map(|(space, traffic)| (space.to_string(), traffic)).collect();
    s
}

/// What is counted by kind while a launch's blocks are gone through; there are few kinds.
#[derive(Default)]
struct Kinds {
    classes: Vec<(OpClass, u64)>,
    memory: Vec<(MemorySpace, Traffic)>,
    /// Whether a cluster's instructions of a class run on a unit that clusters share.
    shares: Vec<((OpClass, u8), bool)>,
}

/// The value of a key, made if there is none.
fn entry<K: PartialEq, V>(list: &mut Vec<(K, V)>, key: K, make: impl FnOnce() -> V) -> &mut V {
    let at = list.iter().position(|(k, _)| *k == key).unwrap_or_else(|| {
        list.push((key, make()));
        list.len() - 1
    });
    &mut list[at].1
}

fn count_instruction(inst: &Inst, executions: u64, lanes: u64, machine: &Machine, s: &mut Statistics, kinds: &mut Kinds) {
    s.instructions += executions;
    let scalar = inst.writes_scalar_register() || inst.op == Op::BraScalar;
    if scalar {
        s.scalar_instructions += executions;
    } else {
        s.lane_instructions += lanes;
        s.uniform_instructions += if inst.uniform { executions } else { 0 };
    }
    let vector = |o: &Operand| matches!(o.as_phys(), Some(p) if matches!(p.space, Space::Main | Space::Local));
    if inst.op == Op::Mov && vector(&inst.dst) && inst.srcs.first().is_some_and(vector) {
        s.copies += executions;
    }
    let class = inst.class();
    *entry(&mut kinds.classes, class, || 0) += executions;
    let shares = *entry(&mut kinds.shares, (class, inst.cluster), || {
        let unit = machine.timing.get(&class).map(|t| t.unit);
        unit.is_some_and(|unit| machine.shared_unit(usize::from(inst.cluster), unit).is_some())
    });
    for_each_access(inst, |reg, words, write| {
        let times = if reg.space == Space::Scalar { executions } else { lanes };
        let cluster = usize::from(inst.cluster);
        let r = &mut s.registers;
        let add = |a: &mut Accesses, words: u32| {
            *if write { &mut a.writes } else { &mut a.reads } += times * u64::from(words);
        };
        match reg.space {
            Space::Main => add(&mut r.main, words),
            Space::Local => {
                let near = near_words(machine, reg, inst.cluster, words);
                add(&mut r.local[cluster], words);
                add(&mut r.near[cluster], near);
                if shares {
                    add(&mut r.local_by_shared_units, words);
                    add(&mut r.near_by_shared_units[cluster], near);
                }
            }
            Space::Scalar => add(&mut r.scalar, words),
            _ => add(&mut r.predicate, words),
        }
    });
    if let Some(space) = inst.mods.space {
        let t = entry(&mut kinds.memory, space, Default::default);
        match inst.op {
            Op::Load | Op::LoadUniform => t.loads += executions,
            Op::Store => t.stores += executions,
            _ => t.atomics += executions,
        }
        t.bytes += u64::from(inst.ty.bytes()) * if scalar { executions } else { lanes };
    }
}

/// Calls `f(register, words, is_write)` for each register operand; predicates have one word.
pub fn for_each_access(inst: &Inst, mut f: impl FnMut(PhysReg, u32, bool)) {
    let mut see = |r: PhysReg, words: u8, write: bool| f(r, u32::from(words.max(1)), write);
    if let Some(r) = inst.dst.as_phys() {
        see(r, inst.dst_words(), true);
    }
    for (i, s) in inst.srcs.iter().enumerate() {
        if let Operand::Reg(Reg::Physical(r)) = s {
            see(*r, inst.src_words(i), false);
        }
    }
    if let Some(Reg::Physical(r)) = inst.guard.map(|g| g.reg) {
        see(r, 0, false);
    }
}

/// Of the words of a local register that a cluster accesses, those in its near bank.
fn near_words(machine: &Machine, reg: PhysReg, cluster: u8, words: u32) -> u32 {
    let far = machine.clusters.get(usize::from(cluster)).map_or(u32::MAX, |c| c.banks().1);
    (u32::from(reg.index) + words).saturating_sub(far).min(words)
}

/// Picojoules of the words of a register access of one lane: the arrays' and the wires' (C13). `shared`: by a
/// unit that clusters share.
fn price(prices: &RegisterPrices, machine: &Machine, reg: PhysReg, cluster: u8, words: u32, shared: bool, write: bool) -> f64 {
    let of = |file: &[f64; 2]| file[usize::from(write)] * f64::from(words);
    match reg.space {
        Space::Main => of(&prices.main),
        Space::Local => {
            let near = near_words(machine, reg, cluster, words);
            let one = |near: bool| prices.of_local(usize::from(cluster), near, shared, write);
            f64::from(near) * one(true) + f64::from(words - near) * one(false)
        }
        Space::Scalar => of(&prices.scalar),
        _ => prices.predicate,
    }
}

/// Picojoules of each instruction of a kernel, from what each did: registers, units, issue, address
/// generation, work-group memory, and for accesses to the memory hierarchy their sectors in L1, network, L2
/// and DRAM. What no instruction alone causes is not in it: write-backs, opening DRAM rows, fetching
/// instructions, the L1.5, the run-time scalarizer's comparisons, static power.
pub fn by_instruction(program: &Program, profile: &[InstructionProfile], machine: &Machine) -> Vec<f64> {
    let prices = machine.register_prices();
    let m = &machine.memory;
    let one = |inst: &Inst, p: &InstructionProfile| {
        let (issues, lanes) = (p.issues as f64, p.lanes as f64);
        let mut pj = issues * machine.energy.issue_pj;
        let unit = machine.timing.get(&inst.class()).map(|t| t.unit);
        let shared = unit.is_some_and(|unit| machine.shared_unit(usize::from(inst.cluster), unit).is_some());
        for_each_access(inst, |reg, words, write| {
            let times = if reg.space == Space::Scalar { issues } else { lanes };
            pj += times * price(&prices, machine, reg, inst.cluster, words, shared, write);
        });
        let unit = machine.timing.get(&inst.class()).map_or(0.0, |t| t.energy_pj);
        let times = if inst.runs_on_scalar_unit() { issues } else { lanes - p.saved_lanes as f64 };
        pj += times * unit;
        if inst.is_memory() && inst.mods.address == AddressMode::Surface {
            pj += times * m.surface_address_pj;
        }
        if inst.mods.space == Some(MemorySpace::Local) {
            let lanes = if inst.writes_scalar_register() { issues } else { lanes };
            pj += lanes * f64::from(inst.ty.bytes()) / 4.0 * m.local_word_pj;
        }
        pj + in_hierarchy(inst, p, machine)
    };
    program.insts.iter().zip(profile).map(|(inst, p)| one(inst, p)).collect()
}

/// Picojoules of an instruction's sectors: read in L1, and written there where they were missing; moved over
/// the network and read or written in L2; fetched from DRAM and written in L2.
fn in_hierarchy(inst: &Inst, p: &InstructionProfile, machine: &Machine) -> f64 {
    let space = inst.mods.space.unwrap_or(MemorySpace::Global);
    let m = &machine.memory;
    let (sectors, missed, far) = (p.sectors as f64, p.sectors.saturating_sub(p.hits) as f64, p.far as f64);
    let below = m.network.sector_pj + m.l2.sector_pj;
    match inst.op {
        Op::Load | Op::LoadUniform | Op::Sample => {
            let near = match super::exec::path_of(inst) {
                Path::Data => m.data.sector_pj,
                Path::Uniform => m.uniform.sector_pj,
                Path::Constant => m.constant.sector_pj,
                Path::Instruction => m.instruction.sector_pj,
            };
            let bypasses = policy::of(&policy::LOADS, space, inst.mods.cache).l1 == policy::L1Policy::NoCache;
            let fills = if bypasses { 0.0 } else { missed };
            (sectors + fills) * near + missed * below + far * (m.l2.sector_pj + m.dram.sector_pj)
        }
        Op::Store if space == MemorySpace::Private => sectors * m.data.sector_pj,
        _ => sectors * below + far * (m.l2.sector_pj + m.dram.sector_pj),
    }
}

/// Energy by component, from a launch's statistics.
pub(crate) fn energy(program: &Program, counts: &BlockCounts, s: &Statistics, machine: &Machine) -> BTreeMap<String, f64> {
    let e = &machine.energy;
    let mut result: BTreeMap<String, f64> = BTreeMap::new();
    let mut put = |name: &str, pj: f64| *result.entry(name.to_string()).or_default() += pj;
    let prices = machine.register_prices();
    let mut file = |name: &str, price: [f64; 2], a: &Accesses| put(name, a.reads as f64 * price[0] + a.writes as f64 * price[1]);
    file("register-file main", prices.main, &s.registers.main);
    file("register-file scalar", prices.scalar, &s.registers.scalar);
    file("register-file predicate", [prices.predicate; 2], &s.registers.predicate);
    let banks = s.registers.local.iter().zip(&s.registers.near).zip(&s.registers.near_by_shared_units);
    for (cluster, ((all, near), near_shared)) in banks.enumerate() {
        let of = |near: bool| [false, true].map(|write| prices.of_local(cluster, near, false, write));
        let far = Accesses { reads: all.reads - near.reads, writes: all.writes - near.writes };
        file("register-file local", of(false), &far);
        file("register-file local", of(true), near);
        let wire = prices.near_shared_wire.get(cluster).copied().unwrap_or(0.0);
        // What shared units access in near banks is not in the far ones.
        file("register-file local", [wire - prices.shared_wire; 2], near_shared);
    }
    file("register-file local", [prices.shared_wire; 2], &s.registers.local_by_shared_units);
    put("issue", s.instructions as f64 * e.issue_pj);
    for (b, block) in program.blocks.iter().enumerate() {
        let first = block.first as usize;
        for (index, inst) in (first..).zip(&program.insts[first..first + block.len() as usize]) {
            if let Some(t) = machine.timing.get(&inst.class()) {
                let saved = counts.saved_lanes.get(index).copied().unwrap_or(0);
                let times = if inst.runs_on_scalar_unit() { counts.executions[b] } else { counts.lanes[b] - saved };
                put("units", times as f64 * t.energy_pj);
                if inst.is_memory() && inst.mods.address == AddressMode::Surface {
                    put("address generation", times as f64 * machine.memory.surface_address_pj);
                }
            }
        }
    }
    put("scalarizer", counts.compared as f64 * e.scalar_compare_pj);
    let m = &machine.memory;
    if let Some(t) = s.memory.get(<&str>::from(MemorySpace::Local)) {
        put("memory local", (t.bytes as f64 / 4.0) * m.local_word_pj);
    }
    if let Some(t) = &s.timing {
        let h = &t.hierarchy;
        let sector = f64::from(m.sector_bytes);
        let mut cache = |name, c: &CacheStatistics, pj: f64| {
            // A sector that misses is written into the cache, too.
            put(name, (c.reads + c.misses + c.writes + c.written_back) as f64 * pj);
        };
        cache("memory l1", &h.data, m.data.sector_pj);
        cache("memory l1", &h.uniform, m.uniform.sector_pj);
        cache("memory l1", &h.constant, m.constant.sector_pj);
        cache("memory l1", &h.instruction, m.instruction.sector_pj * f64::from(m.line_bytes / m.sector_bytes));
        cache("memory l1.5", &h.l15, m.l15.sector_pj);
        cache("memory l2", &h.l2, m.l2.sector_pj);
        put("memory network", h.network_sectors as f64 * m.network.sector_pj);
        put("memory dram", (h.dram_read_bytes + h.dram_written_bytes) as f64 / sector * m.dram.sector_pj);
        put("memory dram", h.dram_row_misses as f64 * m.dram.activate_pj);
        put("memory system", (h.system_read_bytes + h.system_written_bytes) as f64 / sector * m.system.sector_pj);
    }
    put(STATIC, s.static_pj.values().sum());
    result
}
