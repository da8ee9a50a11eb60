//! What the machine allows of a launch, and work-group sizes for launches that give none.

use heddle_isa::MemorySpace;
use heddle_object::metadata::KernelHeader;
use heddle_sim::residency::{Residency, residency};
use heddle_sim::{Launch, Program};
use heddle_target::Machine;

/// A work-group size for a launch that gives none: the required one, or divisors of the global size that fill whole warps.
pub(super) fn choose_local(header: &KernelHeader, global: [u32; 3], machine: &Machine) -> [u32; 3] {
    if let Some(required) = header.required_work_group {
        return required;
    }
    let wanted = machine.sm.max_work_group_size.min(8 * machine.warp_size).max(1);
    let divisor = |n: u32, most: u32| (1..=most.min(n.max(1))).rev().find(|d| n.is_multiple_of(*d)).unwrap_or(1);
    let mut x = (1..=wanted.min(global[0].max(1)))
        .rev()
        .find(|n| global[0].is_multiple_of(*n) && (n.is_multiple_of(machine.warp_size) || *n == global[0]))
        .unwrap_or_else(|| divisor(global[0], wanted));
    let y = divisor(global[1], wanted / x);
    let z = divisor(global[2], wanted / (x * y));
    // Sizes with no useful divisor (primes): the last work-group is smaller, as OpenCL 2.0 allows.
    if x * y * z < machine.warp_size && global[0] > wanted && !header.whole_work_groups {
        x = wanted / (y * z);
    }
    [x, y, z]
}

/// Whether a launch's work-groups are small enough for races to be checked.
///
/// # Errors
/// A sentence that says what is allowed.
pub(super) fn check_races(launch: &Launch) -> Result<(), String> {
    let items: u64 = launch.local.iter().map(|n| u64::from(*n)).product();
    let most = heddle_sim::MAX_CHECKED_ITEMS;
    if items > u64::from(most) {
        let kernel = &launch.program.header.name;
        return Err(format!("kernel `{kernel}`: races are checked in work-groups of up to {most} work-items"));
    }
    Ok(())
}

/// Whether the machine allows a launch.
///
/// # Errors
/// A sentence without a subject that says what it does not allow.
pub(super) fn check_launch(launch: &Launch, machine: &Machine) -> Result<(), String> {
    let program: &Program = launch.program;
    let items = launch.local.iter().try_fold(1u32, |a, n| a.checked_mul(*n)).unwrap_or(u32::MAX);
    let most = machine.sm.max_work_group_size.min(machine.sm.max_warps * machine.warp_size);
    if items > most {
        return Err(format!("a work-group of {items} work-items; the machine allows {most}"));
    }
    if let Some(required) = program.header.required_work_group.filter(|r| *r != launch.local) {
        return Err(format!("it requires work-groups of {required:?} (reqd_work_group_size), the launch has {:?}", launch.local));
    }
    if program.header.whole_work_groups && launch.global.iter().zip(&launch.local).any(|(g, l)| !g.is_multiple_of(*l)) {
        return Err(format!(
            "it is compiled for whole work-groups ({}); the global size {:?} is no multiple of the local size {:?}",
            match program.header.required_work_group {
                Some(_) => "reqd_work_group_size",
                None => "OpenCL C before 2.0, or -cl-uniform-work-group-size",
            },
            launch.global,
            launch.local
        ));
    }
    // What checking mode adds is not the program's.
    let local = launch.redzones.iter().filter(|z| z.space == MemorySpace::Local);
    let local_bytes = launch.local_bytes.saturating_sub(local.map(|z| z.end - z.start).sum());
    if local_bytes > machine.sm.local_memory {
        return Err(format!("{local_bytes} bytes of work-group memory; an SM has {}", machine.sm.local_memory));
    }
    let Residency { groups, limit, .. } = residency(program, machine, launch.local, local_bytes);
    if groups == 0 {
        let header = &program.header;
        if header.fixed_registers < header.main_registers {
            return Err(format!(
                "not one work-group of {items} work-items fits an SM: too little of {limit} (a warp needs {} \
                 fixed and up to {} shared registers at once, {} warps; the SM has {}) (REN-8)",
                header.fixed_registers,
                header.shared_demand,
                items.div_ceil(machine.warp_size),
                machine.sm.main_registers / machine.warp_size
            ));
        }
        return Err(format!(
            "not one work-group of {items} work-items fits an SM: too little of {limit} ({} main registers a \
             work-item, {} in the SM)",
            program.header.main_registers, machine.sm.main_registers
        ));
    }
    Ok(())
}
