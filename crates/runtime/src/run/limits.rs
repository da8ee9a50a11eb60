//! What the machine allows of a launch, and work-group sizes for launches that give none.

use heddle_isa::MemorySpace;
use heddle_object::metadata::KernelHeader;
use heddle_sim::Launch;
use heddle_sim::residency::{Residency, residency};
use heddle_target::Machine;

/// Why a launch is not possible: for callers that tell reasons apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RefusalKind {
    /// Arguments that are not the kernel's: their number, kind, size, or what they point to.
    Arguments,
    /// More work-items in a work-group than the machine, or a check, allows.
    WorkGroupTooLarge,
    /// Not the work-group size that the kernel requires (`reqd_work_group_size`).
    WorkGroupNotAsRequired,
    /// The kernel is compiled for whole work-groups, and the last ones would be smaller.
    WorkGroupsNotWhole,
    /// The kernel is compiled for ids below 2³¹, and the launch has larger ones.
    IdsTooLarge,
    /// The kernel is compiled for a machine that does what this one does not.
    OtherMachine,
    /// A work-group needs more registers or work-group memory than an SM has.
    Resources,
    /// Device memory is used up.
    Memory,
}

/// A launch that is not possible, and why.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Refusal {
    /// Which kind of reason.
    pub kind: RefusalKind,
    /// The reason in a sentence.
    pub message: String,
}

impl Refusal {
    /// A refusal.
    pub fn new(kind: RefusalKind, message: impl Into<String>) -> Refusal {
        Refusal { kind, message: message.into() }
    }
}

/// How many work-items a work-group of a kernel may have on a machine, in `local_bytes` of work-group memory:
/// what the machine allows, and as many as find registers in an SM. 0 if not even one warp does.
pub fn max_work_group_size(header: &KernelHeader, machine: &Machine, local_bytes: u32) -> u32 {
    let (warp, most) = (machine.warp_size, most_items(machine));
    let fits = |warps: &u32| residency(header, machine, [warps * warp, 1, 1], local_bytes).groups > 0;
    (1..=most.div_ceil(warp)).rev().find(fits).map_or(0, |warps| (warps * warp).min(most))
}

/// Work-items of a work-group that the machine allows for any kernel.
fn most_items(machine: &Machine) -> u32 {
    machine.sm.max_work_group_size.min(machine.sm.max_warps * machine.warp_size)
}

/// A work-group size for a launch that gives none: the required one, or divisors of the global size that fill
/// whole warps, as large as the kernel's registers allow.
pub fn suggested_local(header: &KernelHeader, global: [u32; 3], machine: &Machine) -> [u32; 3] {
    if let Some(required) = header.required_work_group {
        return required;
    }
    let most = max_work_group_size(header, machine, header.local_bytes);
    let wanted = machine.sm.max_work_group_size.min(8 * machine.warp_size);
    // A kernel of which no warp fits is refused with the size that others get.
    let wanted = if most == 0 { wanted } else { wanted.min(most) }.max(1);
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

/// Whether all global ids of a launch, and their number, are below 2³¹ in each dimension.
fn has_short_ids(global: [u32; 3], offset: [u32; 3]) -> bool {
    global.iter().zip(offset).all(|(n, first)| u64::from(*n) + u64::from(first) < 1 << 31)
}

/// Whether a launch's work-groups are small enough for races to be checked.
///
/// # Errors
/// A sentence that says what is allowed.
pub(super) fn check_races(launch: &Launch) -> Result<(), Refusal> {
    let items: u64 = launch.local.iter().map(|n| u64::from(*n)).product();
    let most = heddle_sim::MAX_CHECKED_ITEMS;
    if items > u64::from(most) {
        let kernel = &launch.program.header.name;
        let message = format!("kernel `{kernel}`: races are checked in work-groups of up to {most} work-items");
        return Err(Refusal::new(RefusalKind::WorkGroupTooLarge, message));
    }
    Ok(())
}

/// Whether the machine allows a launch.
///
/// # Errors
/// What it does not allow.
pub(super) fn check_launch(launch: &Launch, machine: &Machine) -> Result<(), Refusal> {
    let header = &launch.program.header;
    let refuse = |kind, message: String| Err(Refusal::new(kind, format!("kernel `{}`: {message}", header.name)));
    let items = launch.local.iter().try_fold(1u32, |a, n| a.checked_mul(*n)).unwrap_or(u32::MAX);
    let most = most_items(machine);
    if items > most {
        let message = format!("a work-group of {items} work-items; the machine allows {most}");
        return refuse(RefusalKind::WorkGroupTooLarge, message);
    }
    if let Some(required) = header.required_work_group.filter(|r| *r != launch.local) {
        let message =
            format!("it requires work-groups of {required:?} (reqd_work_group_size), the launch has {:?}", launch.local);
        return refuse(RefusalKind::WorkGroupNotAsRequired, message);
    }
    if header.whole_work_groups && launch.global.iter().zip(&launch.local).any(|(g, l)| !g.is_multiple_of(*l)) {
        let message = format!(
            "it is compiled for whole work-groups ({}); the global size {:?} is no multiple of the local size {:?}",
            match header.required_work_group {
                Some(_) => "reqd_work_group_size",
                None => "OpenCL C before 2.0, or -cl-uniform-work-group-size",
            },
            launch.global,
            launch.local
        );
        return refuse(RefusalKind::WorkGroupsNotWhole, message);
    }
    if header.short_ids && !has_short_ids(launch.global, launch.offset) {
        let message = "it keeps ids in signed integers of 32 bits and is compiled for launches of less than 2^31 work-items a \
                       dimension, the offset included; --wide-ids compiles it for larger ones";
        return refuse(RefusalKind::IdsTooLarge, message.into());
    }
    if header.unaligned_vectors && !machine.memory.unaligned_vectors {
        let message = "it is compiled for a machine on which vectors of device memory may begin at any word \
                       (memory.unaligned-vectors), which this one does not have";
        return refuse(RefusalKind::OtherMachine, message.into());
    }
    // What checking mode adds is not the program's.
    let local = launch.redzones.iter().filter(|z| z.space == MemorySpace::Local);
    let local_bytes = launch.local_bytes.saturating_sub(local.map(|z| z.end - z.start).sum());
    if local_bytes > machine.sm.local_memory {
        let message = format!("{local_bytes} bytes of work-group memory; an SM has {}", machine.sm.local_memory);
        return refuse(RefusalKind::Resources, message);
    }
    let Residency { groups, limit, .. } = residency(header, machine, launch.local, local_bytes);
    if groups > 0 {
        return Ok(());
    }
    let need = match header.fixed_registers < header.main_registers {
        true => format!(
            "(a warp needs {} fixed and up to {} shared registers at once, {} warps; the SM has {}) (REN-8)",
            header.fixed_registers,
            header.shared_demand,
            items.div_ceil(machine.warp_size),
            machine.sm.main_registers / machine.warp_size
        ),
        false => format!("({} main registers a work-item, {} in the SM)", header.main_registers, machine.sm.main_registers),
    };
    let message = format!("not one work-group of {items} work-items fits an SM: too little of {limit} {need}");
    refuse(RefusalKind::Resources, message)
}
