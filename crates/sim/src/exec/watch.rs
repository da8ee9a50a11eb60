//! What a warp that may have stopped making progress does to memory: whether it changes anything, and where it looks.
//!
//! Watched warps report their accesses as those of checking mode do, before they happen, so that a store's data can be compared
//! with what it replaces. A store that goes through the caches of timing mode counts as a change without a comparison, because
//! the bytes that it replaces may be in any of them.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use super::access::private_offset;
use super::{Decoded, Lanes, Row, atomic_of, lanes};
use heddle_isa::meaning::updated;
use heddle_isa::{AtomicOp, MemorySpace, Type};

/// Places that a log remembers: loops that wait look at few.
const MOST_PLACES: usize = 16;

/// An access of a watched warp.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Instruction.
    pub index: u32,
    /// Memory.
    pub space: MemorySpace,
    /// Address of the first active lane.
    pub address: u64,
    /// Lanes.
    pub mask: u64,
}

/// What a watched warp has done since its watcher looked last.
#[derive(Clone, Debug, Default)]
pub struct Log {
    /// Accesses so far that changed memory, or may have.
    pub changes: u64,
    /// Where it loaded or tried an atomic, each instruction once.
    pub places: Vec<Place>,
}

impl Log {
    /// Notes where an instruction reads.
    fn reads(&mut self, place: Place) {
        match self.places.iter().position(|p| p.index == place.index) {
            Some(known) => self.places[known] = place,
            None if self.places.len() < MOST_PLACES => self.places.push(place),
            None => {}
        }
    }
}

/// Notes a load of a watched warp, all of it in bounds and aligned.
#[cold]
pub fn load<const N: usize>(l: &mut Lanes<N>, d: &Decoded<N>, a: &[u64; N], mask: u64) {
    let first = mask.trailing_zeros() as usize % N;
    let place = Place { index: d.index, space: d.space, address: a[first], mask: l.active(d) };
    if let Some(log) = &mut l.watch {
        log.reads(place);
    }
}

/// Whether accesses go through caches.
fn is_cached<const N: usize>(l: &Lanes<N>, d: &Decoded<N>) -> bool {
    l.hierarchy.is_some() && d.space != MemorySpace::Local
}

/// Notes a store of `bytes` bytes a lane, which is about to happen.
#[cold]
pub fn store<const N: usize>(l: &mut Lanes<N>, d: &Decoded<N>, a: &[u64; N], mask: u64, bytes: u32) {
    let changes = is_cached(l, d) || lanes(mask).any(|i| store_changes(l, d, pointer(l, d, a, i), i, bytes));
    if let Some(log) = &mut l.watch {
        log.changes += u64::from(changes);
    }
}

/// Notes an atomic, which is about to happen. Of those that go through caches, `cached::atomic` counts what they change.
#[cold]
pub fn atomic<const N: usize>(l: &mut Lanes<N>, d: &Decoded<N>, a: &[u64; N], mask: u64, ty: Type) {
    load(l, d, a, mask);
    let changes = !is_cached(l, d) && lanes(mask).any(|i| atomic_changes(l, d, pointer(l, d, a, i), i, ty));
    if let Some(log) = &mut l.watch {
        log.changes += u64::from(changes);
    }
}

/// Where a lane's access goes in the host's memory.
fn pointer<const N: usize>(l: &Lanes<N>, d: &Decoded<N>, a: &[u64; N], lane: usize) -> *mut u8 {
    match d.space {
        MemorySpace::Local => l.local.wrapping_add(a[lane] as usize),
        MemorySpace::Private => {
            l.private.as_ptr().cast_mut().cast::<u8>().wrapping_add(private_offset::<N>(a[lane] as usize, lane))
        }
        _ => l.memory.host(a[lane]),
    }
}

/// Whether a lane's store replaces bytes by others.
fn store_changes<const N: usize>(l: &Lanes<N>, d: &Decoded<N>, p: *mut u8, lane: usize, bytes: u32) -> bool {
    let word_stride = if d.space == MemorySpace::Private { size_of::<Row<N>>() } else { 4 };
    (0..bytes as usize).any(|k| {
        let new = l.row(d.src[2] + (k / 4) as u16)[lane].to_le_bytes()[k % 4];
        // SAFETY: `resolve` found all bytes of the access inside an allocation.
        unsafe { p.wrapping_add(k / 4 * word_stride + k % 4).read() != new }
    })
}

/// Whether a lane's atomic replaces what it reads by something else.
fn atomic_changes<const N: usize>(l: &Lanes<N>, d: &Decoded<N>, p: *mut u8, lane: usize, ty: Type) -> bool {
    let op = atomic_of(d.mode);
    let word = |k: u16| u64::from(l.row(d.src[2] + k)[lane]);
    let pair = |k: u16| word(k) | word(k + 1) << 32;
    let compares = op == AtomicOp::CmpXchg;
    if ty.bytes() == 8 {
        // SAFETY: `resolve` checked bounds and alignment; memory is shared through atomics.
        let old = unsafe { AtomicU64::from_ptr(p.cast()) }.load(Ordering::SeqCst);
        return updated(op, ty, old, pair(0), if compares { pair(2) } else { 0 }).is_some_and(|new| new != old);
    }
    // SAFETY: as above.
    let old = u64::from(unsafe { AtomicU32::from_ptr(p.cast()) }.load(Ordering::SeqCst));
    updated(op, ty, old, word(0), if compares { word(1) } else { 0 }).is_some_and(|new| new as u32 != old as u32)
}
