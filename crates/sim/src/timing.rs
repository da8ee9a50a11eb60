//! Timing mode: deterministic cycles, stalls by cause, energy.
//!
//! Each SM keeps work-groups resident as registers, work-group memory, warp and group limits allow. A warp
//! issues in order, at most one instruction a cycle, when its operands are ready (a scoreboard of ready times
//! per register) and its cluster's slot and unit are free; per cycle each cluster issues at most one
//! instruction and the scalar unit one of its own (S6). In which order ready warps are asked is the scheduler's
//! policy, by default the one that issued last first, then the oldest. An instruction acts on registers and memory at issue; its
//! latency only delays who needs the result. Global, constant and private memory are the
//! [hierarchy](super::hierarchy)'s; work-group memory and the constant bank have a flat latency and bank
//! conflicts. A warp that comes to another line of code waits for the instruction cache. SMs advance in order
//! of their own clocks, ties by number, or side by side with the same result; cycles without an issue are
//! skipped.
//!
//! - [`rounds`]: SMs side by side on several host threads.
//! - [`sampling`]: work-groups that are skipped, and what they would have taken.
//! - [`sm_cluster`]: the SMs that share an L1.5, in turns.
//! - [`sm`]: one SM.
//! - [`warp_set`]: sets of its warps.
//! - [`wheel`]: when they may issue.
//! - [`port_plan`]: the ports through which they issue.
//! - [`statics`]: what is known of each instruction before the launch.

mod port_plan;
mod rounds;
mod sampling;
mod sm;
mod sm_cluster;
mod statics;
mod warp_set;
mod wheel;

use std::sync::Arc;

use super::exec::prepare;
use super::fault::Fault;
use super::hierarchy::Hierarchy;
use super::perturbation::Perturbation;
use super::residency::{Residency, held};
use super::statistics::{HierarchyStatistics, Interruption, Statistics, TimingStatistics};
use super::trace::Recording;
use super::turns::Plan;
use super::{Simulation, energy, static_power};
use heddle_isa::{Inst, MemorySpace};
use heddle_target::DramScheduler;
use port_plan::PortPlan;
use rounds::Finished;
use sampling::Sampler;
use sm::{GroupPlan, LaunchContext, Totals};
use sm_cluster::SmCluster;

/// Runs a launch with timing. The hierarchy keeps what L2 holds from launch to launch.
///
/// # Errors
/// The first fault in simulated time.
pub(super) fn launch(run: Simulation, hierarchy: &mut Hierarchy) -> Result<Statistics, Box<Fault>> {
    by_warp_size!(run.machine.warp_size, of_warp_size(run, hierarchy))
}

/// On SMs of up to 64 × W warps.
fn of_warp_size<const N: usize>(run: Simulation, hierarchy: &mut Hierarchy) -> Result<Statistics, Box<Fault>> {
    if run.machine.sm.max_warps <= 64 { simulate::<N, 1>(run, hierarchy) } else { simulate::<N, 4>(run, hierarchy) }
}

fn simulate<const N: usize, const W: usize>(run: Simulation, hierarchy: &mut Hierarchy) -> Result<Statistics, Box<Fault>> {
    let Simulation { launch, memory, machine, .. } = run;
    hierarchy.start(memory, run.options.host_writes.is_empty());
    let residency = launch.residency(machine);
    let context = LaunchContext::<N>::new(run, &residency);
    let known = known_before(&context, &residency);
    let (sms, shared) = (machine.sm.count as usize, machine.memory.l15.sms as usize);
    let numbers = |i: usize| i * shared..((i + 1) * shared).min(sms);
    let clusters = hierarchy.clusters.iter().enumerate();
    let clusters = clusters.map(|(i, caches)| SmCluster::<N, W>::new(caches, numbers(i), &context)).collect();
    let Finished { clusters, interrupted } = rounds::run(clusters, &mut hierarchy.lower, &context)?;
    let sms: Vec<_> = clusters.into_iter().flat_map(|c| c.sms).collect();
    let mut totals = Totals::new(launch.program, known);
    sms.iter().for_each(|sm| totals.add(sm, machine.launch_cycles.into()));
    totals.cycles += if interrupted { 0 } else { u64::from(machine.end_cycles) };
    // What was timed of an interrupted launch says nothing of the rest.
    let sample = if interrupted { None } else { totals.extrapolate(&context) };
    totals.multiply_out(&context);
    let recording = Recording::new(sms.into_iter().map(|sm| sm.recorder), totals.cycles);
    totals.timing.recordings.extend(recording.map(Arc::new));
    let warmed = hierarchy.warmed_bytes();
    if interrupted {
        hierarchy.abandon(memory);
    }
    let mut counted = hierarchy.finish(memory);
    if let Some(factor) = sample {
        counted.extrapolate(factor, warmed, machine.memory.sector_bytes.into());
    }
    let hierarchy = HierarchyStatistics { latencies: totals.timing.hierarchy.latencies, ..counted };
    let statistics = statistics(&context, totals, hierarchy);
    Ok(Statistics { interrupted: interrupted.then(Interruption::default), ..statistics })
}

impl<'a, const N: usize> LaunchContext<'a, N> {
    /// Of a launch of which an SM holds so much.
    fn new(run: Simulation<'a>, residency: &Residency) -> Self {
        let Simulation { launch, machine, options, .. } = run;
        let (program, header) = (launch.program, &launch.program.header);
        let Residency { groups, most, renames, .. } = *residency;
        let warps = launch.local.iter().product::<u32>().div_ceil(N as u32);
        let turns = Plan::new(&run);
        // Without renaming no register is shared.
        let fixed = if renames { header.fixed_registers } else { u32::MAX };
        LaunchContext {
            turns: turns.clone(),
            run,
            code: prepare::<N>(program),
            statics: statics::statics(program, machine, fixed, options.check_marks || options.check_strands, turns.is_some()),
            ports: PortPlan::new(machine),
            threshold: options.scalar_threshold.unwrap_or(machine.sm.scalar_threshold),
            lines_per_lane: program.insts.iter().map(|i| lines_per_lane(i, program.header.unaligned_vectors)).max().unwrap_or(1),
            sampler: Sampler::new(&run, launch.groups().iter().map(|g| u64::from(*g)).product(), groups),
            perturbation: Perturbation::new(machine),
            chooses: machine.memory.dram.scheduler == DramScheduler::FrFcfs,
            groups: GroupPlan {
                total: launch.groups().iter().map(|g| u64::from(*g)).product(),
                resident: groups.max(1),
                most: renames.then_some(most),
                warps: warps as usize,
                demand: header.shared_demand * warps,
                fixed: if renames { header.fixed_registers * warps } else { 0 },
                pool: if renames { machine.sm.main_registers / machine.warp_size } else { 0 },
            },
        }
    }
}

/// What the statistics say that is known before the launch.
fn known_before<const N: usize>(c: &LaunchContext<'_, N>, residency: &Residency) -> TimingStatistics {
    let (machine, header) = (c.run.machine, &c.run.launch.program.header);
    let (held, limit) = held(c.groups.resident, residency.limit, c.groups.total, machine);
    let mut timing = TimingStatistics {
        issued: vec![0; machine.clusters.len()],
        resident_warps: held * c.groups.warps as u64,
        residency_limit: limit,
        named_registers: u64::from(header.main_registers),
        ..Default::default()
    };
    if residency.renames {
        timing.pool.size = u64::from(c.groups.pool);
        timing.pool.fixed = u64::from(header.fixed_registers);
        timing.pool.named = u64::from(header.main_registers);
        timing.pool.demand = u64::from(header.shared_demand);
    }
    timing
}

/// The statistics of a launch, of what its SMs and the hierarchy counted.
fn statistics<const N: usize>(c: &LaunchContext<'_, N>, totals: Totals, hierarchy: HierarchyStatistics) -> Statistics {
    let Simulation { launch, machine, .. } = c.run;
    let occupancy = totals.occupancy(machine.sm.max_warps);
    let Totals { blocks, timing, sectors, cycles, sm_cycles, .. } = totals;
    let mut statistics = energy::count(launch.program, &blocks, machine);
    for (space, sectors) in sectors.iter().enumerate() {
        if let (Some(sectors), Some(space)) = (sectors, MemorySpace::from_repr(space as u8)) {
            statistics.memory.entry(space.to_string()).or_default().sectors += sectors;
        }
    }
    statistics.work_items = launch.global.iter().map(|g| u64::from(*g)).product();
    statistics.work_groups = c.groups.total;
    statistics.warps = c.groups.total * c.groups.warps as u64;
    statistics.timing = Some(TimingStatistics { cycles, sm_cycles, hierarchy, occupancy, ..timing });
    statistics.static_pj = static_power::energy(machine, cycles, sm_cycles);
    statistics.energy_pj = energy::energy(launch.program, &blocks, &statistics, machine);
    statistics
}

/// How often lines are looked up for a lane of an access at most: private memory is coalesced word by word, and so are vectors in two
/// sectors.
fn lines_per_lane(inst: &Inst, unaligned_vectors: bool) -> usize {
    match inst.mods.space {
        Some(MemorySpace::Private) => (inst.ty.bytes() as usize / 4).max(1),
        Some(MemorySpace::Global | MemorySpace::Constant) if unaligned_vectors => (inst.ty.bytes() as usize / 4).max(1),
        _ => 1,
    }
}
