//! What a host thread adds up for itself: counters to which a launch adds, and at which it does not look.
//!
//! Atomics of several host threads on one line of memory wait for each other longest, and one that nobody disturbs still takes
//! several plain additions' time. Where work-items cannot see what is in an allocation before the launch has ended, as all that
//! the kernel does with it is one kind of atomic without a result, each host thread works on a copy of its own that begins with
//! the operation's neutral element, without atomics of the host. Its copy goes to memory when the thread has no work any more.
//! The operations are associative and commutative, so that the result is the same.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use super::places::{self, Known, is_device, known};
use crate::program::Program;
use crate::{DeviceMemory, Launch};
use heddle_isa::{AtomicOp, CachePolicy, Inst, Meaning, MemoryAction, Type};

/// Larger allocations would take the place of others in the host's caches.
const MOST_BYTES: u64 = 256 << 10;

/// An operation in which order does not matter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Additions and subtractions.
    Sum,
    And,
    Or,
    Xor,
    Min,
    Max,
}

/// What the atomics on an allocation do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Operation {
    kind: Kind,
    /// Elements of 64 bits; else of 32.
    wide: bool,
    signed: bool,
}

impl Operation {
    /// Of an atomic without a result on integers.
    fn of(inst: &Inst) -> Option<Operation> {
        let kind = match inst.mods.atomic {
            AtomicOp::Add | AtomicOp::Sub => Kind::Sum,
            AtomicOp::And => Kind::And,
            AtomicOp::Or => Kind::Or,
            AtomicOp::Xor => Kind::Xor,
            AtomicOp::Min => Kind::Min,
            AtomicOp::Max => Kind::Max,
            AtomicOp::Xchg | AtomicOp::CmpXchg | AtomicOp::Inc | AtomicOp::Dec => return None,
        };
        let integer = !inst.ty.is_float() && !inst.dst.is_some();
        // Signs matter to comparisons alone.
        let signed = matches!(kind, Kind::Min | Kind::Max) && matches!(inst.ty, Type::S32 | Type::S64);
        integer.then_some(Operation { kind, wide: inst.ty.bytes() == 8, signed })
    }

    /// What changes nothing.
    fn neutral(self) -> u64 {
        match (self.kind, self.signed, self.wide) {
            (Kind::Sum | Kind::Or | Kind::Xor, ..) | (Kind::Max, false, _) => 0,
            (Kind::And, ..) | (Kind::Min, false, _) => u64::MAX,
            (Kind::Min, true, true) => i64::MAX as u64,
            (Kind::Max, true, true) => i64::MIN as u64,
            (Kind::Min, true, false) => u64::from(i32::MAX as u32),
            (Kind::Max, true, false) => u64::from(i32::MIN as u32),
        }
    }

    /// Does to each element of memory what was done to the copy's.
    ///
    /// # Safety
    /// There are as many bytes at `memory` as in `copy`, aligned to elements, and all who access them meanwhile do so by atomics.
    unsafe fn merge(self, copy: &[u64], memory: *mut u8) {
        macro_rules! merge {
            ($to:expr, $value:expr, $signed:ty) => {{
                let (to, value) = ($to, $value);
                let order = Ordering::Relaxed;
                let chosen = |old, less: bool| if less == (self.kind == Kind::Min) { value } else { old };
                match self.kind {
                    Kind::Sum => _ = to.fetch_add(value, order),
                    Kind::And => _ = to.fetch_and(value, order),
                    Kind::Or => _ = to.fetch_or(value, order),
                    Kind::Xor => _ = to.fetch_xor(value, order),
                    Kind::Min | Kind::Max => {
                        let update = |old| {
                            let less = if self.signed { (value as $signed) < old as $signed } else { value < old };
                            Some(chosen(old, less))
                        };
                        _ = to.fetch_update(order, order, update);
                    }
                }
            }};
        }
        let neutral = self.neutral();
        if self.wide {
            for (i, value) in copy.iter().copied().enumerate().filter(|(_, v)| *v != neutral) {
                // SAFETY: the caller's bytes, which are aligned.
                let to = unsafe { AtomicU64::from_ptr(memory.cast::<u64>().add(i)) };
                merge!(to, value, i64);
            }
            return;
        }
        let both = u64::from(neutral as u32) | neutral << 32;
        for (i, pair) in copy.iter().copied().enumerate().filter(|(_, v)| *v != both) {
            for (k, value) in [(0, pair as u32), (1, (pair >> 32) as u32)] {
                if value != neutral as u32 {
                    // SAFETY: the caller's bytes, which are aligned.
                    let to = unsafe { AtomicU32::from_ptr(memory.cast::<u32>().add(2 * i + k)) };
                    merge!(to, value, i32);
                }
            }
        }
    }
}

/// Whether all accesses of a program to device memory begin at known places, and none tells a work-item what others have done before
/// the launch has ended; so that counters may be kept apart.
pub(super) fn may_keep_apart(program: &Program) -> bool {
    *program.derived.keeps_apart.get_or_init(|| all_at_known_places(program))
}

/// The same, found by going through the code.
fn all_at_known_places(program: &Program) -> bool {
    let mut any = false;
    let all = program.insts.iter().enumerate().all(|(i, inst)| match inst.info().meaning {
        Meaning::Memory(_) if inst.is_memory() && !is_device(inst) => true,
        Meaning::Memory(MemoryAction::Load) => inst.mods.cache != CachePolicy::Cv && known(program, i).is_some(),
        Meaning::Memory(MemoryAction::Store) => known(program, i).is_some(),
        Meaning::Memory(MemoryAction::Atomic) => {
            any |= Operation::of(inst).is_some();
            !inst.dst.is_some() && known(program, i).is_some()
        }
        Meaning::Memory(MemoryAction::Fence) => true,
        Meaning::Memory(_) => false,
        _ => true,
    });
    all && any
}

/// A copy of an allocation.
struct Copy {
    operation: Operation,
    /// The allocation's first device address.
    address: u64,
    elements: Vec<u64>,
}

/// The copies that a host thread works on.
#[derive(Default)]
pub struct Sums {
    copies: Vec<Copy>,
    /// By place ([`places::number`]): where the thread has what accesses count from, a surface's address or the start of a base's
    /// allocation; null if it has no copy of that.
    pointers: Vec<*mut u8>,
}

impl Sums {
    /// For a host thread of a launch.
    pub fn new(launch: &Launch, memory: &DeviceMemory) -> Sums {
        Sums::of(launch, memory).unwrap_or_default()
    }

    fn of(launch: &Launch, memory: &DeviceMemory) -> Option<Sums> {
        let program = launch.program;
        if !may_keep_apart(program) {
            return None;
        }
        let bases = places::bases(program);
        let address = |place: Known| match place {
            Known::Surface(surface) => launch.descriptors.get(usize::from(surface)).map(|d| d.start),
            Known::Base(base) => Some(base.address(&launch.constants)),
        };
        let allocation = |place: Known| match place {
            Known::Surface(surface) => {
                let (start, end) = launch.descriptors.get(usize::from(surface))?.bounds;
                memory.find(address(place)?, 1).filter(|a| start >= a.address && end <= a.end())
            }
            Known::Base(base) => base.allocation(memory, &launch.constants),
        };
        let items: u64 = launch.global.iter().map(|g| u64::from(*g)).product();
        // By allocation: what is done to it, if that is one operation.
        let mut uses: Vec<(u64, Option<Operation>)> = Vec::new();
        let accesses = program.insts.iter().enumerate().filter(|(_, i)| i.is_memory() && is_device(i));
        let mut places = Vec::new();
        for (i, inst) in accesses {
            let place = known(program, i)?;
            let found = allocation(place)?;
            let few = found.bytes <= MOST_BYTES && found.bytes / 4 <= items && found.bytes % 8 == 0;
            let atomic = inst.info().meaning == Meaning::Memory(MemoryAction::Atomic);
            let operation = Operation::of(inst).filter(|_| atomic && few && !found.lent && !found.system);
            match uses.iter_mut().find(|(address, _)| *address == found.address) {
                Some((_, of_others)) if *of_others != operation => *of_others = None,
                Some(_) => {}
                None => uses.push((found.address, operation)),
            }
            places.push((place, found));
        }
        let mut sums =
            Sums { copies: Vec::new(), pointers: vec![std::ptr::null_mut(); program.header.surfaces.len() + bases.len()] };
        for (place, found) in places {
            let Some((_, Some(operation))) = uses.iter().find(|(address, _)| *address == found.address) else { continue };
            // Accesses from bases count from the allocation's start.
            let distance = match place {
                Known::Surface(_) => address(place)?.wrapping_sub(found.address) as usize,
                Known::Base(_) => 0,
            };
            let copy = match sums.copies.iter().position(|c| c.address == found.address) {
                Some(copy) => copy,
                None => {
                    let neutral = operation.neutral();
                    let element = if operation.wide { neutral } else { u64::from(neutral as u32) | neutral << 32 };
                    let elements = vec![element; found.bytes as usize / 8];
                    sums.copies.push(Copy { operation: *operation, address: found.address, elements });
                    sums.copies.len() - 1
                }
            };
            if let Some(pointer) = places::number(program, &bases, place).and_then(|k| sums.pointers.get_mut(k)) {
                *pointer = sums.copies[copy].elements.as_mut_ptr().cast::<u8>().wrapping_add(distance);
            }
        }
        Some(sums).filter(|s| !s.copies.is_empty())
    }

    /// By place: where the thread has what accesses count from. Empty if there is no copy.
    pub fn pointers(&self) -> &[*mut u8] {
        &self.pointers
    }

    /// Brings what was done to memory.
    pub fn merge(&self, memory: &DeviceMemory) {
        for copy in &self.copies {
            // SAFETY: the copy is of an allocation of the device's own, which starts at a multiple of 16 bytes, and which the
            // launch accesses by atomics only.
            unsafe { copy.operation.merge(&copy.elements, memory.host(copy.address)) };
        }
    }
}
