//! What a launch did: everything counted during execution.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Accesses to a register space, in 32-bit accesses of one lane (scalar: of one register; predicate: of one lane's bit).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Accesses {
    /// Reads.
    pub reads: u64,
    /// Writes.
    pub writes: u64,
}

/// Register accesses by space.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RegisterAccesses {
    /// Main file.
    pub main: Accesses,
    /// Local files, per cluster.
    pub local: Vec<Accesses>,
    /// Scalar file.
    pub scalar: Accesses,
    /// Predicate file.
    pub predicate: Accesses,
}

/// Memory traffic of a space, from the lanes' point of view and after coalescing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Traffic {
    /// Warp instructions that loaded.
    pub loads: u64,
    /// Warp instructions that stored.
    pub stores: u64,
    /// Warp instructions that were atomic.
    pub atomics: u64,
    /// Bytes the lanes asked for.
    pub bytes: u64,
    /// Sectors moved after coalescing (timing mode; global and constant memory).
    pub sectors: u64,
}

/// Cycles that a ready-to-be-issued warp slot was empty, by cause, summed over warps and cycles.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stalls {
    /// Waiting for the result of an arithmetic instruction.
    pub dependence: u64,
    /// Waiting for memory.
    pub memory: u64,
    /// The unit or its cluster's slot was taken.
    pub unit: u64,
    /// Waiting at a barrier.
    pub barrier: u64,
    /// Waiting for a shared register (REN-3).
    #[serde(default)]
    pub rename: u64,
}

/// Use of the pools of shared registers (REN-2), all SMs together.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PoolStatistics {
    /// Registers (of a warp) of an SM, fixed ones of resident warps included.
    pub size: u64,
    /// Most in use at once on an SM.
    pub peak: u64,
    /// SM cycles by share of the registers in use: tenths, the last with all of them.
    pub histogram: [u64; 11],
    /// Fixed registers of a warp (F).
    pub fixed: u64,
    /// Registers a warp names (M).
    pub named: u64,
    /// Shared registers a warp needs at once at most.
    pub demand: u64,
}

/// Timing of a launch.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TimingStatistics {
    /// Cycles of the launch.
    pub cycles: u64,
    /// Warps resident on an SM at most.
    pub resident_warps: u64,
    /// What limits residency.
    pub residency_limit: String,
    /// Main registers a work-item names.
    #[serde(default)]
    pub named_registers: u64,
    /// Average over busy cycles of resident warps, as a share of the machine's maximum.
    pub occupancy: f64,
    /// Instructions issued by each cluster.
    pub issued: Vec<u64>,
    /// Instructions issued on the scalar unit's slot.
    pub scalar_issued: u64,
    /// Stalls.
    pub stalls: Stalls,
    /// The pool of shared registers; all zero without renaming.
    #[serde(default)]
    pub pool: PoolStatistics,
    /// Instructions by how scalar they are.
    pub forms: Forms,
}

/// Warp instructions (branches, barriers and exits aside) by where redundant work of their lanes went (S5–S7).
///
/// The *oracle* is everything whose active lanes all have the same operands and that the scalar unit could run: all but `vector`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Forms {
    /// With a destination in S.
    pub scalar: u64,
    /// With the u bit.
    pub marked: u64,
    /// Scalarised at run time: one active lane.
    pub one_lane: u64,
    /// Scalarised at run time: several active lanes with the same operands.
    pub few_lanes: u64,
    /// Executed in all lanes although they have the same operands.
    pub missed: u64,
    /// With operands that differ between lanes, or that the scalar unit cannot run.
    pub vector: u64,
}

impl Forms {
    /// Instructions that an oracle would execute once a warp.
    pub fn oracle(&self) -> u64 {
        self.scalar + self.marked + self.one_lane + self.few_lanes + self.missed
    }

    /// Of these, executed once because of the compiler.
    pub fn caught_by_compiler(&self) -> u64 {
        self.scalar + self.marked
    }

    /// Of these, executed once.
    pub fn caught(&self) -> u64 {
        self.oracle() - self.missed
    }

    /// All of them.
    pub fn total(&self) -> u64 {
        self.oracle() + self.vector
    }

    fn add(&mut self, o: &Forms) {
        self.scalar += o.scalar;
        self.marked += o.marked;
        self.one_lane += o.one_lane;
        self.few_lanes += o.few_lanes;
        self.missed += o.missed;
        self.vector += o.vector;
    }
}

/// Statistics of a launch (or of several added up).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Statistics {
    /// Work-items.
    pub work_items: u64,
    /// Work-groups.
    pub work_groups: u64,
    /// Warps.
    pub warps: u64,
    /// Warp instructions executed.
    pub instructions: u64,
    /// Of these on the scalar unit.
    pub scalar_instructions: u64,
    /// Of these u-marked vector instructions.
    pub uniform_instructions: u64,
    /// Lane instructions: active lanes summed over vector instructions.
    pub lane_instructions: u64,
    /// Warp instructions that copy one vector register to another.
    pub copies: u64,
    /// Branches at which a warp split.
    pub divergent_branches: u64,
    /// Warp instructions by unit class.
    pub classes: BTreeMap<String, u64>,
    /// Register accesses.
    pub registers: RegisterAccesses,
    /// Memory traffic by space.
    pub memory: BTreeMap<String, Traffic>,
    /// Timing, in timing mode.
    pub timing: Option<TimingStatistics>,
    /// Energy by component in picojoules, in timing mode.
    pub energy_pj: BTreeMap<String, f64>,
}

impl Statistics {
    /// Adds another launch's statistics. Cycles add up: launches run one after the other.
    pub fn add(&mut self, other: &Statistics) {
        self.work_items += other.work_items;
        self.work_groups += other.work_groups;
        self.warps += other.warps;
        self.instructions += other.instructions;
        self.scalar_instructions += other.scalar_instructions;
        self.uniform_instructions += other.uniform_instructions;
        self.lane_instructions += other.lane_instructions;
        self.copies += other.copies;
        self.divergent_branches += other.divergent_branches;
        for (class, n) in &other.classes {
            *self.classes.entry(class.clone()).or_default() += n;
        }
        let r = &mut self.registers;
        let o = &other.registers;
        add(&mut r.main, &o.main);
        add(&mut r.scalar, &o.scalar);
        add(&mut r.predicate, &o.predicate);
        r.local.resize(r.local.len().max(o.local.len()), Accesses::default());
        for (a, b) in r.local.iter_mut().zip(&o.local) {
            add(a, b);
        }
        for (space, t) in &other.memory {
            let m = self.memory.entry(space.clone()).or_default();
            m.loads += t.loads;
            m.stores += t.stores;
            m.atomics += t.atomics;
            m.bytes += t.bytes;
            m.sectors += t.sectors;
        }
        for (component, e) in &other.energy_pj {
            *self.energy_pj.entry(component.clone()).or_default() += e;
        }
        if let Some(t) = &other.timing {
            let mine = self.timing.get_or_insert_with(Default::default);
            let total = (mine.cycles + t.cycles).max(1) as f64;
            mine.occupancy = (mine.occupancy * mine.cycles as f64 + t.occupancy * t.cycles as f64) / total;
            mine.cycles += t.cycles;
            mine.resident_warps = mine.resident_warps.max(t.resident_warps);
            mine.named_registers = mine.named_registers.max(t.named_registers);
            mine.residency_limit.clone_from(&t.residency_limit);
            mine.issued.resize(mine.issued.len().max(t.issued.len()), 0);
            for (a, b) in mine.issued.iter_mut().zip(&t.issued) {
                *a += b;
            }
            mine.scalar_issued += t.scalar_issued;
            mine.forms.add(&t.forms);
            mine.stalls.dependence += t.stalls.dependence;
            mine.stalls.memory += t.stalls.memory;
            mine.stalls.unit += t.stalls.unit;
            mine.stalls.barrier += t.stalls.barrier;
            mine.stalls.rename += t.stalls.rename;
            if t.pool.size > 0 {
                let (peak, histogram) = (mine.pool.peak, mine.pool.histogram);
                mine.pool = t.pool.clone();
                mine.pool.peak = mine.pool.peak.max(peak);
                mine.pool.histogram.iter_mut().zip(histogram).for_each(|(a, b)| *a += b);
            }
        }
    }
}

fn add(a: &mut Accesses, b: &Accesses) {
    a.reads += b.reads;
    a.writes += b.writes;
}
