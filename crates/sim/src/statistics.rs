//! What a launch did: everything counted during execution.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::tolerance::Tolerated;
use super::trace::Recording;

/// Accesses to a register space, in 32-bit accesses of one lane (scalar: of one register; predicate: of one lane's bit).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Accesses {
    /// Accesses that read.
    pub reads: u64,
    /// Accesses that write.
    pub writes: u64,
}

/// Register accesses by space.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RegisterAccesses {
    /// The main file, of all clusters.
    pub main: Accesses,
    /// The local file of each cluster.
    pub local: Vec<Accesses>,
    /// Of those to local files, the ones of instructions of units that clusters share, whose wires are longer.
    pub local_by_shared_units: Accesses,
    /// Of those to the local file of each cluster, the ones to its near bank.
    pub near: Vec<Accesses>,
    /// Of those to near banks, the ones of instructions of units that clusters share, for each cluster.
    pub near_by_shared_units: Vec<Accesses>,
    /// The scalar file.
    pub scalar: Accesses,
    /// The predicate file.
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
    /// Waiting for instructions.
    #[serde(default)]
    pub fetch: u64,
    /// Not in the active set of a two-level scheduler (C14).
    #[serde(default)]
    pub inactive: u64,
    /// The cluster waited for operands from taken banks of the main file (C13).
    #[serde(default)]
    pub bank: u64,
}

/// Accesses to a main register file whose banks are limited (C13); all zero without limits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MainFileStatistics {
    /// Registers of a warp, of 32 bits, that were read.
    pub read_words: u64,
    /// Cycles by which instructions had their last operand later than in the cycle of their issue.
    pub read_conflicts: u64,
    /// Cycles by which results were written later, because their banks' ports were taken.
    pub write_conflicts: u64,
}

/// Of launches a part of which was timed and the rest extrapolated: how sure their cycles are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Sampling {
    /// Launches of which cycles were extrapolated.
    pub launches: u64,
    /// Their work-groups.
    pub work_groups: u64,
    /// Those of them that were timed.
    pub timed_work_groups: u64,
    /// Their warp instructions.
    pub instructions: u64,
    /// Those of them that were timed.
    pub timed_instructions: u64,
    /// Their cycles.
    pub cycles: u64,
    /// Those of them that were simulated.
    pub measured_cycles: u64,
    /// How likely the interval is to hold the cycles that timing everything would give.
    pub confidence: f64,
    /// Half of the interval by the spread of what was timed, in cycles.
    pub spread: f64,
    /// What the interval has beside that on each side, in cycles: for what sampling itself changes.
    pub allowance: f64,
}

/// The confidence of intervals.
pub const CONFIDENCE: f64 = 0.95;

/// Two-sided 95 % quantiles of Student's t with 1, 2, … degrees of freedom.
const STUDENT: [f64; 30] = [
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131, 2.120, 2.110,
    2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042,
];

/// The two-sided quantile of Student's t at [`CONFIDENCE`], with some degrees of freedom.
pub fn student(freedom: usize) -> f64 {
    let of_many = 1.96 + 2.4 / freedom.max(1) as f64;
    STUDENT.get(freedom.max(1) - 1).copied().unwrap_or(of_many)
}

impl Sampling {
    /// Half of the interval, in cycles.
    pub fn half_width(&self) -> f64 {
        self.spread + self.allowance
    }

    /// Adds others. Their spreads are independent, allowances may all be on one side.
    pub fn add(&mut self, o: &Sampling) {
        self.launches += o.launches;
        self.work_groups += o.work_groups;
        self.timed_work_groups += o.timed_work_groups;
        self.instructions += o.instructions;
        self.cycles += o.cycles;
        self.timed_instructions += o.timed_instructions;
        self.measured_cycles += o.measured_cycles;
        self.confidence = self.confidence.max(o.confidence);
        self.spread = self.spread.hypot(o.spread);
        self.allowance += o.allowance;
    }
}

/// A count times a factor.
pub fn scaled(n: u64, by: f64) -> u64 {
    (n as f64 * by).round() as u64
}

impl MainFileStatistics {
    /// Adds others.
    pub fn add(&mut self, o: &MainFileStatistics) {
        self.read_words += o.read_words;
        self.read_conflicts += o.read_conflicts;
        self.write_conflicts += o.write_conflicts;
    }
}

impl Stalls {
    /// Makes all of them so many times as long.
    pub fn scale(&mut self, by: f64) {
        let Stalls { dependence, memory, unit, barrier, rename, fetch, inactive, bank } = self;
        for n in [dependence, memory, unit, barrier, rename, fetch, inactive, bank] {
            *n = scaled(*n, by);
        }
    }

    /// Adds others.
    pub fn add(&mut self, o: &Stalls) {
        self.dependence += o.dependence;
        self.memory += o.memory;
        self.unit += o.unit;
        self.barrier += o.barrier;
        self.rename += o.rename;
        self.fetch += o.fetch;
        self.inactive += o.inactive;
        self.bank += o.bank;
    }
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

/// What a level of cache did, in sectors unless it says otherwise.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct CacheStatistics {
    /// Sectors looked up for reading, those read past the cache included.
    pub reads: u64,
    /// Of these, not found (and not read past the cache).
    pub misses: u64,
    /// Found, but still on their way.
    pub merged: u64,
    /// Read past the cache by policy (K3).
    pub bypassed: u64,
    /// Sectors written.
    pub writes: u64,
    /// Lines evicted by age.
    pub evicted_normal: u64,
    /// Lines evicted because they were marked evict-first.
    pub evicted_first: u64,
    /// Dirty sectors written back to the next level.
    pub written_back: u64,
    /// Lines that stores and bypassing loads discarded.
    pub discarded: u64,
    /// Lines given up whole at their last use, not written back (K3).
    pub last_uses: u64,
}

impl CacheStatistics {
    /// Share of reads that were found; bypassing reads count as not found.
    pub fn hit_rate(&self) -> f64 {
        let found = self.reads.saturating_sub(self.misses + self.bypassed);
        if self.reads == 0 { 0.0 } else { found as f64 / self.reads as f64 }
    }

    fn scale(&mut self, by: f64) {
        let CacheStatistics { reads, misses, merged, bypassed, writes, .. } = self;
        for n in [reads, misses, merged, bypassed, writes] {
            *n = scaled(*n, by);
        }
        let CacheStatistics { evicted_normal, evicted_first, written_back, discarded, last_uses, .. } = self;
        for n in [evicted_normal, evicted_first, written_back, discarded, last_uses] {
            *n = scaled(*n, by);
        }
    }

    fn add(&mut self, o: &CacheStatistics) {
        self.reads += o.reads;
        self.misses += o.misses;
        self.merged += o.merged;
        self.bypassed += o.bypassed;
        self.writes += o.writes;
        self.evicted_normal += o.evicted_normal;
        self.evicted_first += o.evicted_first;
        self.written_back += o.written_back;
        self.discarded += o.discarded;
        self.last_uses += o.last_uses;
    }
}

/// What a translation look-aside buffer did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct TlbStatistics {
    /// Requests looked up.
    pub look_ups: u64,
    /// Of these, for pages that it did not know.
    pub misses: u64,
}

impl TlbStatistics {
    fn add(&mut self, o: &TlbStatistics) {
        self.look_ups += o.look_ups;
        self.misses += o.misses;
    }
}

/// The memory hierarchy of a launch (K1), all SMs together.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct HierarchyStatistics {
    /// The data L1 caches.
    pub data: CacheStatistics,
    /// The uniform L1 caches.
    pub uniform: CacheStatistics,
    /// The constant L1 caches.
    pub constant: CacheStatistics,
    /// The instruction L1 caches, in lines; lines fetched ahead are not counted.
    pub instruction: CacheStatistics,
    /// The L1.5 caches.
    pub l15: CacheStatistics,
    /// The slices of L2.
    pub l2: CacheStatistics,
    /// Sectors that crossed the network, either way.
    pub network_sectors: u64,
    /// Bytes from L2 to L1 and L1.5.
    pub l2_to_l1_bytes: u64,
    /// Bytes from L1 (and of stores past it) to L2.
    pub l1_to_l2_bytes: u64,
    /// Bytes read from device memory.
    pub dram_read_bytes: u64,
    /// Bytes written to device memory, what was dirty at the end included.
    pub dram_written_bytes: u64,
    /// Bytes read from system memory.
    pub system_read_bytes: u64,
    /// Bytes written to system memory; a store that goes through by itself counts as a sector.
    pub system_written_bytes: u64,
    /// Requests to DRAM that found their row open.
    pub dram_row_hits: u64,
    /// Requests to DRAM that did not.
    pub dram_row_misses: u64,
    /// The SMs' TLBs.
    pub tlb: TlbStatistics,
    /// The shared TLB.
    pub l2_tlb: TlbStatistics,
    /// Page walks.
    pub page_walks: u64,
    /// Launches before which L1 caches were invalidated (K6).
    pub invalidations: u64,
    /// Loads of global, constant and private memory by latency: bin i counts those of 2^i cycles and more, below 2^(i+1).
    pub latencies: [u64; 16],
}

impl HierarchyStatistics {
    /// Of a launch of which a part was timed: makes counts so many times as great, but for what went between L2
    /// and memory, which for the rest is known by its bytes (read and written).
    pub(crate) fn extrapolate(&mut self, by: f64, (read, written): (u64, u64), sector_bytes: u64) {
        let known = self.clone();
        self.scale(by);
        self.l2.misses = known.l2.misses + read / sector_bytes;
        self.l2.written_back = known.l2.written_back + written / sector_bytes;
        // Where some of it is in system memory, in the same shares.
        let of_device = |device: u64, system: u64| device as f64 / ((device + system) as f64).max(1.0);
        let reads = of_device(known.dram_read_bytes, known.system_read_bytes);
        let writes = of_device(known.dram_written_bytes, known.system_written_bytes);
        self.dram_read_bytes = known.dram_read_bytes + scaled(read, reads);
        self.system_read_bytes = known.system_read_bytes + scaled(read, 1.0 - reads);
        self.dram_written_bytes = known.dram_written_bytes + scaled(written, writes);
        self.system_written_bytes = known.system_written_bytes + scaled(written, 1.0 - writes);
        let bytes = |h: &HierarchyStatistics| (h.dram_read_bytes + h.dram_written_bytes) as f64;
        let more = bytes(self) / bytes(&known).max(1.0);
        self.dram_row_hits = scaled(known.dram_row_hits, more);
        self.dram_row_misses = scaled(known.dram_row_misses, more);
    }

    /// Makes all counts so many times as great, but for invalidations, which are of launches.
    pub fn scale(&mut self, by: f64) {
        let HierarchyStatistics { data, uniform, constant, instruction, l15, l2, tlb, l2_tlb, .. } = self;
        for cache in [data, uniform, constant, instruction, l15, l2] {
            cache.scale(by);
        }
        for n in [&mut tlb.look_ups, &mut tlb.misses, &mut l2_tlb.look_ups, &mut l2_tlb.misses] {
            *n = scaled(*n, by);
        }
        let HierarchyStatistics { network_sectors, l2_to_l1_bytes, l1_to_l2_bytes, page_walks, .. } = self;
        for n in [network_sectors, l2_to_l1_bytes, l1_to_l2_bytes, page_walks] {
            *n = scaled(*n, by);
        }
        let HierarchyStatistics { dram_read_bytes, dram_written_bytes, dram_row_hits, dram_row_misses, .. } = self;
        for n in [dram_read_bytes, dram_written_bytes, dram_row_hits, dram_row_misses] {
            *n = scaled(*n, by);
        }
        let HierarchyStatistics { system_read_bytes, system_written_bytes, latencies, .. } = self;
        for n in latencies.iter_mut().chain([system_read_bytes, system_written_bytes]) {
            *n = scaled(*n, by);
        }
    }

    /// Adds others.
    pub fn add(&mut self, o: &HierarchyStatistics) {
        self.data.add(&o.data);
        self.uniform.add(&o.uniform);
        self.constant.add(&o.constant);
        self.instruction.add(&o.instruction);
        self.l15.add(&o.l15);
        self.l2.add(&o.l2);
        self.network_sectors += o.network_sectors;
        self.l2_to_l1_bytes += o.l2_to_l1_bytes;
        self.l1_to_l2_bytes += o.l1_to_l2_bytes;
        self.dram_read_bytes += o.dram_read_bytes;
        self.dram_written_bytes += o.dram_written_bytes;
        self.system_read_bytes += o.system_read_bytes;
        self.system_written_bytes += o.system_written_bytes;
        self.dram_row_hits += o.dram_row_hits;
        self.dram_row_misses += o.dram_row_misses;
        self.tlb.add(&o.tlb);
        self.l2_tlb.add(&o.l2_tlb);
        self.page_walks += o.page_walks;
        self.invalidations += o.invalidations;
        self.latencies.iter_mut().zip(o.latencies).for_each(|(a, b)| *a += b);
    }
}

/// Host memory for the state of resident warps: registers, scoreboards, work-group memory, schedulers. Of
/// several launches, the greatest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostState {
    /// Bytes allocated.
    pub bytes: u64,
    /// Work-items that have room in it.
    pub work_items: u64,
}

/// Cycles of a launch, and where they went.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TimingStatistics {
    /// Cycles of the launch.
    pub cycles: u64,
    /// Cycles in which an SM had a resident work-group, summed over SMs.
    #[serde(default)]
    pub sm_cycles: u64,
    /// Warps resident on an SM at most.
    pub resident_warps: u64,
    /// What limits residency: something of the SM, or that the launch has no more work-groups.
    pub residency_limit: String,
    /// Main registers a work-item names.
    #[serde(default)]
    pub named_registers: u64,
    /// Average over busy cycles of resident warps, as a share of the machine's maximum.
    pub occupancy: f64,
    /// Instructions issued by each cluster of the code (where clusters rotate, each runs in turn in those like it).
    pub issued: Vec<u64>,
    /// Instructions issued on the scalar unit's slot.
    pub scalar_issued: u64,
    /// Cycles in which warps did not issue, by cause.
    pub stalls: Stalls,
    /// How often warps left the active set of a two-level scheduler before their ends (C14).
    #[serde(default)]
    pub departures: u64,
    /// Accesses to the main register file, where its banks are limited.
    #[serde(default)]
    pub main_file: MainFileStatistics,
    /// The pool of shared registers; all zero without renaming.
    #[serde(default)]
    pub pool: PoolStatistics,
    /// Instructions by how scalar they are.
    pub forms: Forms,
    /// What caches, network and memory did.
    #[serde(default)]
    pub hierarchy: HierarchyStatistics,
    /// What the simulator itself needed for the state of the resident warps.
    #[serde(default)]
    pub host: HostState,
    /// Only where a part was timed and the rest extrapolated: then cycles, and all that depends on them or on
    /// caches, are estimates.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sampling: Option<Sampling>,
    /// Each instruction of the kernel; not added up over different kernels, and not part of the JSON report.
    #[serde(skip)]
    pub profile: Vec<InstructionProfile>,
    /// What was recorded by time, one for each launch; not part of the JSON report.
    #[serde(skip)]
    pub recordings: Vec<Arc<Recording>>,
}

impl TimingStatistics {
    /// Makes all that was counted so many times as much. What is a share or a limit stays.
    pub fn scale(&mut self, by: f64) {
        let TimingStatistics { cycles, sm_cycles, scalar_issued, departures, .. } = self;
        for n in self.issued.iter_mut().chain([cycles, sm_cycles, scalar_issued, departures]) {
            *n = scaled(*n, by);
        }
        let MainFileStatistics { read_words, read_conflicts, write_conflicts } = &mut self.main_file;
        let Forms { scalar, marked, one_lane, few_lanes, missed, vector } = &mut self.forms;
        for n in [read_words, read_conflicts, write_conflicts, scalar, marked, one_lane, few_lanes, missed, vector] {
            *n = scaled(*n, by);
        }
        self.stalls.scale(by);
        self.hierarchy.scale(by);
        self.pool.histogram.iter_mut().for_each(|n| *n = scaled(*n, by));
    }
}

/// How often a block of a kernel ran.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BlockProfile {
    /// Times a warp entered it.
    pub executions: u64,
    /// Active lanes, summed over the entries.
    pub lanes: u64,
}

/// What one instruction of a kernel did and cost, all warps together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InstructionProfile {
    /// Times a warp issued it.
    pub issues: u64,
    /// Active lanes, summed over the issues.
    pub lanes: u64,
    /// Cycles from a warp's previous issue to this one, summed over the issues: the time its warps spent on it.
    pub cycles: u64,
    /// Lines that its accesses touched, summed.
    pub lines: u64,
    /// Sectors that its accesses touched, summed.
    pub sectors: u64,
    /// Of these, found in L1.
    pub hits: u64,
    /// Sectors that L2 had to fetch from memory.
    pub far: u64,
    /// Cycles to the result, summed over the loads.
    pub latency: u64,
    /// Lanes that the run-time scalarizer (S7) did not have to run, summed over the issues.
    pub saved_lanes: u64,
}

impl InstructionProfile {
    /// Makes what accesses did and what time passed so many times as much.
    pub fn scale(&mut self, by: f64) {
        let InstructionProfile { cycles, lines, sectors, hits, far, latency, .. } = self;
        for n in [cycles, lines, sectors, hits, far, latency] {
            *n = scaled(*n, by);
        }
    }

    /// Adds another profile of the same instruction, or of the same line.
    pub fn add(&mut self, o: &InstructionProfile) {
        self.issues += o.issues;
        self.lanes += o.lanes;
        self.cycles += o.cycles;
        self.lines += o.lines;
        self.sectors += o.sectors;
        self.hits += o.hits;
        self.far += o.far;
        self.latency += o.latency;
        self.saved_lanes += o.saved_lanes;
    }
}

/// Warp instructions (branches, barriers and exits aside) by where redundant work of their lanes went (S5–S7).
///
/// The *oracle* is everything whose active lanes all have the same operands and that the scalar unit could run: all but `vector`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Forms {
    /// Scalar instructions: with a destination in S.
    pub scalar: u64,
    /// Vector instructions that the compiler marked with the u bit.
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

    /// Adds others.
    pub fn add(&mut self, o: &Forms) {
        self.scalar += o.scalar;
        self.marked += o.marked;
        self.one_lane += o.one_lane;
        self.few_lanes += o.few_lanes;
        self.missed += o.missed;
        self.vector += o.vector;
    }
}

/// Whether there is none of something: then it is not written.
fn none(count: &u64) -> bool {
    *count == 0
}

/// How far a launch was that was interrupted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Interruption {
    /// Work-groups of the launch.
    pub work_groups: u64,
    /// Those of them that had ended, at least.
    pub ended: u64,
}

/// Statistics of a launch (or of several added up).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Statistics {
    /// Work-items of the launch.
    pub work_items: u64,
    /// Work-groups of the launch.
    pub work_groups: u64,
    /// Warps of the launch.
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
    /// Turns of diverged lanes that have begun, on machines with independent threads; 0 elsewhere.
    #[serde(default, skip_serializing_if = "none")]
    pub turns: u64,
    /// Warp instructions by unit class.
    pub classes: BTreeMap<String, u64>,
    /// Register accesses.
    pub registers: RegisterAccesses,
    /// Memory traffic by space.
    pub memory: BTreeMap<String, Traffic>,
    /// Timing, in timing mode.
    pub timing: Option<TimingStatistics>,
    /// Energy by component in picojoules, in timing mode. The one named `static` is that of static power.
    pub energy_pj: BTreeMap<String, f64>,
    /// What of `energy_pj` is static, by component.
    #[serde(default)]
    pub static_pj: BTreeMap<String, f64>,
    /// Of a launch that was interrupted, how far it was; then the other figures are partial: sizes are those of the
    /// whole launch, instructions those of the blocks that warps had entered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interrupted: Option<Interruption>,
    /// What is undefined and was let pass ([`super::Options::tolerate`]), by instruction.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tolerated: Vec<Tolerated>,
    /// Each block of the kernel; not added up over different kernels, and not part of the JSON report.
    #[serde(skip)]
    pub blocks: Vec<BlockProfile>,
}

/// The component of [`Statistics::energy_pj`] that static power is.
pub const STATIC: &str = "static";

impl Statistics {
    /// Cycles of the launch, in timing mode.
    pub fn cycles(&self) -> Option<u64> {
        self.timing.as_ref().map(|t| t.cycles)
    }

    /// Energy of what was done, in picojoules: all but static power's. 0 outside timing mode.
    pub fn dynamic_pj(&self) -> f64 {
        self.energy_pj.iter().filter(|(name, _)| *name != STATIC).map(|(_, pj)| pj).sum()
    }

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
        // A program's launches end with the one that is interrupted.
        self.interrupted = self.interrupted.or(other.interrupted);
        self.turns += other.turns;
        Tolerated::merge(&mut self.tolerated, &other.tolerated);
        for (class, n) in &other.classes {
            *self.classes.entry(class.clone()).or_default() += n;
        }
        let r = &mut self.registers;
        let o = &other.registers;
        add(&mut r.main, &o.main);
        add(&mut r.local_by_shared_units, &o.local_by_shared_units);
        add(&mut r.scalar, &o.scalar);
        add(&mut r.predicate, &o.predicate);
        for (mine, others) in
            [(&mut r.local, &o.local), (&mut r.near, &o.near), (&mut r.near_by_shared_units, &o.near_by_shared_units)]
        {
            mine.resize(mine.len().max(others.len()), Accesses::default());
            mine.iter_mut().zip(others).for_each(|(a, b)| add(a, b));
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
        for (component, e) in &other.static_pj {
            *self.static_pj.entry(component.clone()).or_default() += e;
        }
        self.blocks.resize(self.blocks.len().max(other.blocks.len()), BlockProfile::default());
        for (a, b) in self.blocks.iter_mut().zip(&other.blocks) {
            a.executions += b.executions;
            a.lanes += b.lanes;
        }
        if let Some(t) = &other.timing {
            let mine = self.timing.get_or_insert_with(Default::default);
            if let Some(sampling) = &t.sampling {
                mine.sampling.get_or_insert_default().add(sampling);
            }
            let total = (mine.cycles + t.cycles).max(1) as f64;
            mine.occupancy = (mine.occupancy * mine.cycles as f64 + t.occupancy * t.cycles as f64) / total;
            mine.cycles += t.cycles;
            mine.sm_cycles += t.sm_cycles;
            // The limit is that of the launch with the most.
            if mine.residency_limit.is_empty() || t.resident_warps > mine.resident_warps {
                mine.resident_warps = t.resident_warps;
                mine.residency_limit.clone_from(&t.residency_limit);
            }
            mine.named_registers = mine.named_registers.max(t.named_registers);
            mine.issued.resize(mine.issued.len().max(t.issued.len()), 0);
            for (a, b) in mine.issued.iter_mut().zip(&t.issued) {
                *a += b;
            }
            mine.scalar_issued += t.scalar_issued;
            if t.host.bytes > mine.host.bytes {
                mine.host = t.host;
            }
            mine.forms.add(&t.forms);
            mine.stalls.add(&t.stalls);
            mine.departures += t.departures;
            mine.main_file.add(&t.main_file);
            mine.hierarchy.add(&t.hierarchy);
            mine.recordings.extend(t.recordings.iter().cloned());
            if mine.profile.is_empty() {
                mine.profile.clone_from(&t.profile);
            } else {
                mine.profile.iter_mut().zip(&t.profile).for_each(|(a, b)| a.add(b));
            }
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
