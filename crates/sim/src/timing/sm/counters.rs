//! What an SM counts, and what follows from it for the launch.

use super::super::super::functional::BlockCounts;
use super::super::super::hierarchy::AccessCost;
use super::super::super::program::Program;
use super::super::super::statistics::{
    CONFIDENCE, Forms, InstructionProfile, MainFileStatistics, Sampling, Stalls, TimingStatistics, scaled,
};
use super::super::sampling::TimedGroup;
use super::front_end::Form;
use super::{LaunchContext, Sm};
use heddle_isa::MemorySpace;

/// What an SM counts.
pub(in super::super) struct Counters {
    /// Executions of blocks.
    pub blocks: BlockCounts,
    /// By instruction: what its accesses touched and how long they took.
    pub profile: Vec<InstructionProfile>,
    /// Cycles from a warp's previous issue to that of each instruction, summed over the issues.
    pub cycles: Vec<u64>,
    /// Empty issue slots by cause.
    pub stalls: Stalls,
    /// How often a warp left the active set before its end (C14).
    pub departures: u64,
    /// Accesses to the main file where its banks are limited.
    pub main_file: MainFileStatistics,
    /// Issues by form, as far as blocks' executions do not tell.
    forms: Forms,
    /// Times each instruction was scalarised at run time.
    scalarised: Vec<u64>,
    /// Sectors by memory space.
    sectors: [Option<u64>; 8],
    /// Loads by the logarithm of their latency in cycles.
    latencies: [u64; 16],
    /// Most warps resident.
    resident_warps: u64,
    /// Most registers of the pool in use.
    peak: u64,
    /// Cycles by share of the registers in use, in tenths.
    histogram: [u64; 11],
    /// Resident warps, summed over cycles.
    pub occupied: u64,
    /// Work-groups that have ended, of a launch that is sampled.
    pub timed: Vec<TimedGroup>,
}

impl Counters {
    /// Zeros.
    pub fn new(program: &Program) -> Counters {
        let n = program.insts.len();
        let mut blocks = BlockCounts::new(program);
        blocks.saved_lanes = vec![0; n];
        Counters {
            blocks,
            profile: vec![InstructionProfile::default(); n],
            cycles: vec![0; n],
            stalls: Stalls::default(),
            departures: 0,
            main_file: MainFileStatistics::default(),
            forms: Forms::default(),
            scalarised: vec![0; n],
            sectors: [None; 8],
            latencies: [0; 16],
            resident_warps: 0,
            peak: 0,
            histogram: [0; 11],
            occupied: 0,
            timed: Vec::new(),
        }
    }

    /// Counts a load that the hierarchy delayed, by the cycles from its issue to its result.
    #[inline]
    pub(super) fn count_latency(&mut self, index: usize, latency: u64) {
        self.profile[index].latency += latency;
        let bin = (u64::BITS - 1 - latency.max(1).leading_zeros()).min(15);
        self.latencies[bin as usize] += 1;
    }

    /// Counts an access of an instruction that went through the hierarchy.
    #[inline]
    pub(super) fn count_access(&mut self, index: usize, space: MemorySpace, sectors: u32, cost: &AccessCost) {
        *self.sectors[space as usize & 7].get_or_insert(0) += u64::from(sectors);
        let profile = &mut self.profile[index];
        profile.sectors += u64::from(cost.sectors);
        profile.lines += u64::from(cost.lines);
        profile.hits += u64::from(cost.hits);
        profile.far += u64::from(cost.far);
    }

    /// Counts some cycles in which `warps` warps are resident and `used` of the pool's registers are in use.
    #[inline]
    pub(super) fn observe_pool(&mut self, warps: u64, used: u32, pool: u32, cycles: u64) {
        let used = u64::from(used);
        self.resident_warps = self.resident_warps.max(warps);
        self.peak = self.peak.max(used);
        self.histogram[(used * 10 / u64::from(pool)) as usize] += cycles;
    }

    /// Counts instructions of which all active lanes had the same operands, but nothing made use of it. What the issue
    /// statistics say beside these and what is scalarised is multiplied out from executions of blocks
    /// ([`Totals::multiply_out`]).
    #[inline(always)]
    pub(super) fn count_missed(&mut self, instructions: u64) {
        self.forms.missed += instructions;
    }

    /// Counts an instruction, of which so many lanes are active, that the run-time scalarizer sends to the scalar unit.
    pub(super) fn count_scalarised(&mut self, index: usize, form: Form, active: u32) {
        match form {
            Form::OneLane => self.forms.one_lane += 1,
            _ => self.forms.few_lanes += 1,
        }
        self.scalarised[index] += 1;
        self.blocks.saved_lanes[index] += u64::from(active - 1);
    }

    /// An instruction runs on its own unit after all, although it was counted with this form for the scalar unit while so many
    /// lanes were active. What was compared stays compared.
    pub(super) fn withdraw_form(&mut self, index: usize, form: Form, active: u32) {
        match form {
            Form::OneLane => self.forms.one_lane -= 1,
            _ => self.forms.few_lanes -= 1,
        }
        self.forms.missed += 1;
        self.scalarised[index] -= 1;
        self.blocks.saved_lanes[index] -= u64::from(active - 1);
    }
}

/// What all SMs of a launch counted.
pub(in super::super) struct Totals {
    /// Executions of blocks.
    pub blocks: BlockCounts,
    /// Figures of timing mode.
    pub timing: TimingStatistics,
    /// Sectors by memory space.
    pub sectors: [Option<u64>; 8],
    /// Cycles until the last SM was done.
    pub cycles: u64,
    /// Times each instruction was scalarised at run time.
    scalarised: Vec<u64>,
    /// Work-groups of a launch that is sampled.
    timed: Vec<TimedGroup>,
    /// Cycles in which SMs had a resident work-group, summed.
    pub sm_cycles: u64,
    /// Resident warps, summed over these.
    occupied: u64,
}

impl Totals {
    /// Of no SM yet; `timing` holds what is known of the launch.
    pub fn new(program: &Program, timing: TimingStatistics) -> Totals {
        let n = program.insts.len();
        let mut blocks = BlockCounts::new(program);
        blocks.saved_lanes = vec![0; n];
        let timing = TimingStatistics { profile: vec![InstructionProfile::default(); n], ..timing };
        Totals {
            blocks,
            timing,
            sectors: [None; 8],
            cycles: 0,
            scalarised: vec![0; n],
            timed: Vec::new(),
            sm_cycles: 0,
            occupied: 0,
        }
    }

    /// Adds an SM that is done; the launch had its first work-groups given out in cycle `begin`.
    pub fn add<const N: usize, const W: usize>(&mut self, sm: &Sm<'_, N, W>, begin: u64) {
        let pairs = |to: &mut [u64], from: &[u64]| to.iter_mut().zip(from).for_each(|(a, b)| *a += b);
        let Totals { blocks, timing, .. } = self;
        let counted = &sm.counters;
        pairs(&mut blocks.executions, &counted.blocks.executions);
        pairs(&mut blocks.lanes, &counted.blocks.lanes);
        blocks.splits += counted.blocks.splits;
        blocks.turns += counted.blocks.turns;
        pairs(&mut blocks.saved_lanes, &counted.blocks.saved_lanes);
        blocks.compared += counted.blocks.compared;
        timing.profile.iter_mut().zip(&counted.profile).for_each(|(a, b)| a.add(b));
        timing.profile.iter_mut().zip(&counted.cycles).for_each(|(a, b)| a.cycles += b);
        timing.stalls.add(&counted.stalls);
        timing.departures += counted.departures;
        timing.main_file.add(&counted.main_file);
        timing.forms.add(&counted.forms);
        pairs(&mut self.scalarised, &counted.scalarised);
        pairs(&mut timing.hierarchy.latencies, &counted.latencies);
        timing.resident_warps = timing.resident_warps.max(counted.resident_warps);
        timing.pool.peak = timing.pool.peak.max(counted.peak);
        pairs(&mut timing.pool.histogram, &counted.histogram);
        for (to, from) in self.sectors.iter_mut().zip(counted.sectors) {
            if let Some(from) = from {
                *to.get_or_insert(0) += from;
            }
        }
        self.timed.extend_from_slice(&counted.timed);
        let host = sm.host_state();
        timing.host.bytes += host.bytes;
        timing.host.work_items += host.work_items;
        self.occupied += counted.occupied;
        self.cycles = self.cycles.max(sm.time);
        self.sm_cycles += sm.time - begin;
    }

    /// Of a launch of which a part was skipped: makes what was counted what it would have been without that.
    /// Returns by what factor events are more.
    pub fn extrapolate<const N: usize>(&mut self, c: &LaunchContext<'_, N>) -> Option<f64> {
        let groups = std::mem::take(&mut self.timed);
        let (estimate, skipped) = c.sampler.as_ref()?.estimate(groups, self.cycles)?;
        let measured = std::mem::replace(&mut self.cycles, estimate.cycles);
        let events = 1.0 + estimate.skipped_instructions as f64 / estimate.timed_instructions.max(1) as f64;
        let time = estimate.cycles as f64 / measured.max(1) as f64;
        let Totals { blocks, timing, .. } = self;
        blocks.add(&skipped);
        let more = |list: &mut [u64], by: f64| list.iter_mut().for_each(|n| *n = scaled(*n, by));
        more(&mut blocks.saved_lanes, events);
        blocks.compared = scaled(blocks.compared, events);
        more(&mut self.scalarised, events);
        more(&mut timing.hierarchy.latencies, events);
        self.sectors.iter_mut().flatten().for_each(|n| *n = scaled(*n, events));
        let forms = &mut timing.forms;
        for n in [&mut forms.one_lane, &mut forms.few_lanes, &mut forms.missed] {
            *n = scaled(*n, events);
        }
        timing.profile.iter_mut().for_each(|p| p.scale(events));
        let main = &mut timing.main_file;
        for n in [&mut timing.departures, &mut main.read_words, &mut main.read_conflicts, &mut main.write_conflicts] {
            *n = scaled(*n, events);
        }
        // Stalls, occupancy and registers in use are shares of the time.
        timing.stalls.scale(time);
        more(&mut timing.pool.histogram, time);
        self.occupied = scaled(self.occupied, time);
        self.sm_cycles = scaled(self.sm_cycles, time);
        timing.sampling = Some(Sampling {
            launches: 1,
            work_groups: c.groups.total,
            timed_work_groups: estimate.timed_groups,
            instructions: estimate.timed_instructions + estimate.skipped_instructions,
            cycles: estimate.cycles,
            timed_instructions: estimate.timed_instructions,
            measured_cycles: measured,
            confidence: CONFIDENCE,
            spread: estimate.spread,
            allowance: estimate.allowance,
        });
        Some(events)
    }

    /// What follows from how often each block was executed, of all SMs together: issues by instruction, form and unit.
    pub fn multiply_out<const N: usize>(&mut self, c: &LaunchContext<'_, N>) {
        let Totals { blocks, timing, scalarised, .. } = self;
        let mut other = 0;
        // Executions of blocks are exact also where a part was skipped, what was scalarised of them is extrapolated.
        for (b, block) in c.run.launch.program.blocks.iter().enumerate() {
            let (issues, lanes) = (blocks.executions[b], blocks.lanes[b]);
            for index in (block.first..block.first + block.len()).map(|i| i as usize) {
                (timing.profile[index].issues, timing.profile[index].lanes) = (issues, lanes);
                let st = &c.statics.insts[index];
                scalarised[index] = scalarised[index].min(issues);
                match (st.scalar, st.control) {
                    (true, _) => timing.scalar_issued += issues,
                    (_, true) => {}
                    _ => {
                        timing.scalar_issued += scalarised[index];
                        timing.issued[usize::from(st.cluster)] += issues - scalarised[index];
                        other += issues;
                    }
                }
                if !st.control && st.scalar {
                    let forms = &mut timing.forms;
                    *(if c.code[index].scalar { &mut forms.scalar } else { &mut forms.marked }) += issues;
                }
            }
        }
        let forms = &mut timing.forms;
        forms.vector = other.saturating_sub(forms.one_lane + forms.few_lanes + forms.missed);
        timing.profile.iter_mut().zip(&blocks.saved_lanes).for_each(|(p, n)| p.saved_lanes = *n);
    }

    /// Share of the warps that SMs can hold that were resident, over all cycles.
    pub fn occupancy(&self, max_warps: u32) -> f64 {
        self.occupied as f64 / (self.sm_cycles.max(1) as f64 * f64::from(max_warps))
    }
}
