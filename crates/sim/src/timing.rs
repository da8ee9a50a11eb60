//! Timing mode: deterministic cycles, stalls by cause, energy.
//!
//! Each SM keeps work-groups resident as registers, work-group memory, warp and group limits allow. A warp issues in order, at most one
//! instruction a cycle, when its operands are ready (a scoreboard of ready times per register) and its cluster's slot and unit are free; per cycle each
//! cluster issues at most one instruction and the scalar unit one of its own (S6). Among ready warps the one that issued last goes first, then the
//! oldest (greedy then oldest). An instruction acts on registers and memory at issue; its latency only delays who needs the result.
//! Global, constant and private memory are the [hierarchy](super::hierarchy)'s; work-group memory and the constant bank have a flat latency and bank
//! conflicts. A warp that comes to another line of code waits for the instruction cache. SMs advance in order of their own
//! clocks, ties by number, or side by side with the same result; cycles without an issue are skipped.
//!
//! - [`rounds`]: SMs side by side on several host threads.
//! - [`cluster`]: SMs that share an L1.5.
//! - [`sm`]: one SM.
//! - [`set`]: sets of its warps.
//! - [`wheel`]: when they may issue.
//! - [`statics`]: what is known of each instruction before the launch.

mod cluster;
mod rounds;
mod set;
mod sm;
mod statics;
mod wheel;

use std::cell::RefCell;
use std::sync::Arc;

use super::exec::prepare;
use super::fault::Fault;
use super::functional::{BlockCounts, Progress};
use super::hierarchy::Hierarchy;
use super::memory::DeviceMemory;
use super::residency::{Residency, held, residency};
use super::statistics::{HierarchyStatistics, InstructionProfile, Statistics, TimingStatistics};
use super::trace::Recording;
use super::{Launch, Options, energy};
use cluster::{Cluster, Plan};
use heddle_isa::{Inst, MemorySpace};
use heddle_target::Machine;
use sm::Common;

/// Runs a launch with timing. The hierarchy keeps what L2 holds from launch to launch.
///
/// # Errors
/// The first fault in simulated time.
pub fn launch(
    launch: &Launch,
    memory: &DeviceMemory,
    hierarchy: &RefCell<Hierarchy>,
    machine: &Machine,
    options: &Options,
    progress: Progress,
) -> Result<Statistics, Box<Fault>> {
    match machine.warp_size {
        8 => sized::<8>(launch, memory, hierarchy, machine, options, progress),
        16 => sized::<16>(launch, memory, hierarchy, machine, options, progress),
        64 => sized::<64>(launch, memory, hierarchy, machine, options, progress),
        _ => sized::<32>(launch, memory, hierarchy, machine, options, progress),
    }
}

fn sized<const N: usize>(
    launch: &Launch,
    memory: &DeviceMemory,
    hierarchy: &RefCell<Hierarchy>,
    machine: &Machine,
    options: &Options,
    progress: Progress,
) -> Result<Statistics, Box<Fault>> {
    if machine.sm.max_warps <= 64 {
        run::<N, 1>(launch, memory, hierarchy, machine, options, progress)
    } else {
        run::<N, 4>(launch, memory, hierarchy, machine, options, progress)
    }
}

fn run<const N: usize, const W: usize>(
    launch: &Launch,
    memory: &DeviceMemory,
    hierarchy: &RefCell<Hierarchy>,
    machine: &Machine,
    options: &Options,
    progress: Progress,
) -> Result<Statistics, Box<Fault>> {
    let program = launch.program;
    let header = &program.header;
    hierarchy.borrow_mut().start();
    let total: u64 = launch.groups().iter().map(|g| u64::from(*g)).product();
    let Residency { groups: resident, limit, most, renames } = residency(program, machine, launch.local, launch.local_bytes);
    let resident = resident.max(1);
    let warps = launch.local.iter().product::<u32>().div_ceil(N as u32);
    let common: Common<N> = Common {
        launch,
        memory,
        machine,
        options,
        code: prepare::<N>(program),
        // Without renaming no register is shared.
        statics: statics::statics(program, machine, if renames { header.fixed_registers } else { u32::MAX }, options.check_marks),
        threshold: options.scalar_threshold.unwrap_or(machine.sm.scalar_threshold),
        // Private memory is coalesced word by word.
        parts: program.insts.iter().map(parts).max().unwrap_or(1),
        warps: warps as usize,
        group_demand: header.shared_demand * warps,
        group_fixed: if renames { header.fixed_registers * warps } else { 0 },
        pool: if renames { machine.sm.main_registers / machine.warp_size } else { 0 },
    };
    let (held, limit) = held(resident, limit, total, machine);
    let mut counts = BlockCounts::new(program);
    counts.saved_lanes = vec![0; program.insts.len()];
    let mut timing = TimingStatistics {
        issued: vec![0; machine.clusters.len()],
        profile: vec![InstructionProfile::default(); program.insts.len()],
        resident_warps: held * u64::from(warps),
        residency_limit: limit,
        named_registers: u64::from(header.main_registers),
        ..Default::default()
    };
    if renames {
        timing.pool.size = u64::from(common.pool);
        timing.pool.fixed = u64::from(header.fixed_registers);
        timing.pool.named = u64::from(header.main_registers);
        timing.pool.demand = u64::from(header.shared_demand);
    }
    let mut sectors = [None; 8];
    let mut scalarised = vec![0; program.insts.len()];
    let (mut cycles, mut busy, mut occupied) = (0, 0, 0);
    let mut hierarchy = hierarchy.borrow_mut();
    {
        let hierarchy = &mut *hierarchy;
        let plan = Plan { total, resident, most: renames.then_some(most) };
        let (sms, shared) = (machine.sm.count as usize, machine.memory.l15.sms as usize);
        let numbers = |i: usize| i * shared..((i + 1) * shared).min(sms);
        let clusters = hierarchy.clusters.iter().enumerate();
        let clusters = clusters.map(|(i, near)| Cluster::<N, W>::new(near, numbers(i), &common, resident)).collect();
        let clusters = rounds::run(clusters, &mut hierarchy.lower, &common, &plan, progress)?;
        let sms: Vec<_> = clusters.into_iter().flat_map(|c| c.sms).collect();
        for sm in &sms {
            sm.counters.add_to(&mut timing, &mut counts, &mut sectors, &mut scalarised);
            let host = sm.host_state();
            timing.host.bytes += host.bytes;
            timing.host.work_items += host.work_items;
            occupied += sm.counters.occupied;
            cycles = cycles.max(sm.time);
            busy += sm.time;
        }
        sm::multiply_out(&common, &counts, &scalarised, &mut timing);
        timing.recordings.extend(Recording::new(sms.into_iter().map(|sm| sm.recorder), cycles).map(Arc::new));
    }
    timing.profile.iter_mut().zip(&counts.saved_lanes).for_each(|(p, n)| p.saved_lanes = *n);
    timing.cycles = cycles;
    timing.hierarchy = HierarchyStatistics { latencies: timing.hierarchy.latencies, ..hierarchy.finish(memory) };
    timing.occupancy = occupied as f64 / (busy.max(1) as f64 * f64::from(machine.sm.max_warps));
    let mut statistics = energy::count(program, &counts, N as u32);
    for (space, sectors) in sectors.iter().enumerate() {
        if let (Some(sectors), Some(space)) = (sectors, MemorySpace::from_repr(space as u8)) {
            statistics.memory.entry(space.to_string()).or_default().sectors += sectors;
        }
    }
    statistics.work_items = launch.global.iter().map(|g| u64::from(*g)).product();
    statistics.work_groups = total;
    statistics.warps = total * u64::from(warps);
    statistics.timing = Some(timing);
    statistics.energy_pj = energy::energy(program, &counts, &statistics, cycles, machine);
    Ok(statistics)
}

/// Lines that a lane of an access touches at most.
fn parts(inst: &Inst) -> usize {
    match inst.mods.space {
        Some(MemorySpace::Private) => (inst.ty.bytes() as usize / 4).max(1),
        _ => 1,
    }
}
