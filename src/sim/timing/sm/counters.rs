//! What an SM counts.

use super::super::super::exec::all_lanes;
use super::super::super::functional::BlockCounts;
use super::super::super::statistics::{Forms, InstructionProfile, Stalls, TimingStatistics};
use super::{Common, Form};

/// What an SM counts.
pub(in super::super) struct Counters {
    pub blocks: BlockCounts,
    pub profile: Vec<InstructionProfile>,
    pub stalls: Stalls,
    pub forms: Forms,
    /// Instructions issued by each cluster.
    pub issued: Vec<u64>,
    pub scalar_issued: u64,
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
    pub fn add_to(&self, timing: &mut TimingStatistics, blocks: &mut BlockCounts, sectors: &mut [Option<u64>; 8]) {
        let pairs = |to: &mut [u64], from: &[u64]| to.iter_mut().zip(from).for_each(|(a, b)| *a += b);
        pairs(&mut blocks.executions, &self.blocks.executions);
        pairs(&mut blocks.lanes, &self.blocks.lanes);
        blocks.splits += self.blocks.splits;
        pairs(&mut blocks.saved_lanes, &self.blocks.saved_lanes);
        blocks.compared += self.blocks.compared;
        timing.profile.iter_mut().zip(&self.profile).for_each(|(a, b)| a.add(b));
        timing.stalls.add(&self.stalls);
        timing.forms.add(&self.forms);
        pairs(&mut timing.issued, &self.issued);
        timing.scalar_issued += self.scalar_issued;
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

/// Counts an issued instruction by its form (issue statistics), and what the run-time scalarizer did for it.
pub(super) fn count_form<const N: usize>(counters: &mut Counters, c: &Common<'_, N>, index: usize, form: Form, exec: u64) {
    let st = &c.statics.insts[index];
    let forms = &mut counters.forms;
    match form {
        Form::Static if st.control => {}
        Form::Static if c.code[index].scalar => forms.scalar += 1,
        Form::Static => forms.marked += 1,
        Form::OneLane => forms.one_lane += 1,
        Form::FewLanes => forms.few_lanes += 1,
        Form::Missed => forms.missed += 1,
        Form::Vector => forms.vector += 1,
    }
    // EXEC, not the guard, is what the comparators see.
    if exec == all_lanes(N) && !form.is_scalarised() {
        return;
    }
    let active = exec.count_ones();
    if form.is_scalarised() {
        counters.blocks.saved_lanes[index] += u64::from(active - 1);
    }
    if st.eligible && active > 1 && active <= c.threshold && active < N as u32 {
        counters.blocks.compared += u64::from(active * st.compared);
    }
}
