//! What an SM counts.

use super::super::super::functional::BlockCounts;
use super::super::super::statistics::{Forms, InstructionProfile, Stalls, TimingStatistics};
use super::{Common, Form};

/// What an SM counts.
pub(in super::super) struct Counters {
    pub blocks: BlockCounts,
    pub profile: Vec<InstructionProfile>,
    /// Cycles from a warp's previous issue to that of each instruction, summed over the issues.
    pub cycles: Vec<u64>,
    pub stalls: Stalls,
    pub forms: Forms,
    /// Times each instruction was scalarised at run time.
    pub scalarised: Vec<u64>,
    /// Sectors by memory space.
    pub sectors: [Option<u64>; 8],
    /// Loads by latency.
    pub latencies: [u64; 16],
    /// Most warps resident.
    pub resident_warps: u64,
    /// Most registers of the pool in use.
    pub peak: u64,
    /// Cycles by share of the registers in use.
    pub histogram: [u64; 11],
    /// Resident warps, summed over cycles.
    pub occupied: u64,
}

impl Counters {
    /// Adds what the SM counted to the launch's.
    pub fn add_to(
        &self,
        timing: &mut TimingStatistics,
        blocks: &mut BlockCounts,
        sectors: &mut [Option<u64>; 8],
        scalarised: &mut [u64],
    ) {
        let pairs = |to: &mut [u64], from: &[u64]| to.iter_mut().zip(from).for_each(|(a, b)| *a += b);
        pairs(&mut blocks.executions, &self.blocks.executions);
        pairs(&mut blocks.lanes, &self.blocks.lanes);
        blocks.splits += self.blocks.splits;
        pairs(&mut blocks.saved_lanes, &self.blocks.saved_lanes);
        blocks.compared += self.blocks.compared;
        timing.profile.iter_mut().zip(&self.profile).for_each(|(a, b)| a.add(b));
        timing.profile.iter_mut().zip(&self.cycles).for_each(|(a, b)| a.cycles += b);
        timing.stalls.add(&self.stalls);
        timing.forms.add(&self.forms);
        pairs(scalarised, &self.scalarised);
        pairs(&mut timing.hierarchy.latencies, &self.latencies);
        timing.resident_warps = timing.resident_warps.max(self.resident_warps);
        timing.pool.peak = timing.pool.peak.max(self.peak);
        pairs(&mut timing.pool.histogram, &self.histogram);
        for (to, from) in sectors.iter_mut().zip(self.sectors) {
            if let Some(from) = from {
                *to.get_or_insert(0) += from;
            }
        }
    }
}

/// Counts a load that the hierarchy delayed.
pub(super) fn count_latency(counters: &mut Counters, index: usize, latency: u64) {
    counters.profile[index].latency += latency;
    let bin = (u64::BITS - 1 - latency.max(1).leading_zeros()).min(15);
    counters.latencies[bin as usize] += 1;
}

/// Counts an instruction, of which so many lanes are active, by its form (issue statistics) where that is not known before the launch, and what the
/// run-time scalarizer did for it. The other figures are multiplied out from executions of blocks ([`multiply_out`]).
#[inline(always)]
pub(super) fn count_form<const N: usize>(counters: &mut Counters, c: &Common<'_, N>, index: usize, form: Form, active: u32) {
    let forms = &mut counters.forms;
    match form {
        Form::Static | Form::Vector => {}
        Form::Missed => forms.missed += 1,
        Form::OneLane => forms.one_lane += 1,
        Form::FewLanes => forms.few_lanes += 1,
    }
    if form.is_scalarised() {
        counters.scalarised[index] += 1;
        counters.blocks.saved_lanes[index] += u64::from(active - 1);
    }
    // EXEC, not the guard, is what the comparators see.
    let st = &c.statics.insts[index];
    if active > 1 && active <= c.threshold && active < N as u32 && st.eligible {
        counters.blocks.compared += u64::from(active * st.compared);
    }
}

/// What follows from how often each block was executed, of all SMs together: issues by instruction, form and unit.
pub(in super::super) fn multiply_out<const N: usize>(
    c: &Common<'_, N>,
    blocks: &BlockCounts,
    scalarised: &[u64],
    timing: &mut TimingStatistics,
) {
    let mut other = 0;
    for (b, block) in c.launch.program.blocks.iter().enumerate() {
        let (issues, lanes) = (blocks.executions[b], blocks.lanes[b]);
        for index in (block.first..block.first + block.len()).map(|i| i as usize) {
            (timing.profile[index].issues, timing.profile[index].lanes) = (issues, lanes);
            let st = &c.statics.insts[index];
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
    forms.vector = other - forms.one_lane - forms.few_lanes - forms.missed;
}
