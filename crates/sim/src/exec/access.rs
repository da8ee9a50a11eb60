//! Loads, stores and atomics.
//!
//! An access forms a 64-bit address for each active lane, checks them all against one allocation (the last
//! one hit, which is nearly always the right one), and then copies. Lanes that read consecutive words, and
//! lanes that read the same word, are copied at once.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use super::banks::bank_conflicts;
use super::copy::{blend, read, read_row, write};
use super::limits::{Limit, inside, name_of};
use super::{AccessRecord, Decoded, Execute, Lanes, RANGES, Row, all_lanes, atomic_of, cached, lanes, watch};
use crate::check::{self, Kind};
use crate::fault::FaultKind;
use crate::hierarchy::policy::{self, L2Policy};
use heddle_isa::meaning::updated;
use heddle_isa::{AddressMode, AtomicOp, CachePolicy, Inst, MemorySpace, SurfacePlace, Type};

/// Addresses of all lanes (of inactive ones anything).
#[inline(always)]
fn addresses<const MODE: u8, const N: usize>(l: &Lanes<N>, d: &Decoded<N>) -> [u64; N] {
    let mut out = [0; N];
    let word = |row: u16| u64::from(l.row(row)[0]) | u64::from(l.row(row + 1)[0]) << 32;
    let narrow = !matches!(d.space, MemorySpace::Global | MemorySpace::Constant);
    if MODE == AddressMode::Surface as u8 {
        let (start, add) = surface(l, d);
        let offset = l.row(d.src[1]);
        for (out, offset) in out.iter_mut().zip(offset) {
            *out = start.wrapping_add(u64::from(offset.wrapping_add(add)));
        }
        return out;
    }
    if MODE == AddressMode::A64 as u8 {
        let (low, high) = (l.row(d.src[1]), l.row(d.src[1] + 1));
        for (out, (low, high)) in out.iter_mut().zip(low.iter().zip(high)) {
            *out = (u64::from(*low) | u64::from(*high) << 32).wrapping_add(d.imm as i64 as u64);
        }
    } else if narrow {
        let base = l.row(d.src[0])[0].wrapping_add(d.imm as u32);
        let offset = l.row(d.src[1]);
        for (out, offset) in out.iter_mut().zip(offset) {
            *out = u64::from(base.wrapping_add(*offset));
        }
    } else if MODE == AddressMode::U32 as u8 {
        let (high, add) = based(word(d.src[0]), d.imm);
        let offset = l.row(d.src[1]);
        for (out, offset) in out.iter_mut().zip(offset) {
            *out = high | u64::from(offset.wrapping_add(add));
        }
    } else {
        let base = word(d.src[0]).wrapping_add(d.imm as i64 as u64);
        let offset = l.row(d.src[1]);
        for (out, offset) in out.iter_mut().zip(offset) {
            *out = base.wrapping_add(*offset as i32 as i64 as u64);
        }
    }
    out
}

/// The high word of a base, which all addresses from it share (mode `u32`), and what is added to an offset for the low word.
#[inline(always)]
pub(super) fn based(base: u64, immediate: i32) -> (u64, u32) {
    (base & !u64::from(u32::MAX), (base as u32).wrapping_add(immediate as u32))
}

/// A surface's address, and what is added to its row of offsets: base, distances and the uniform operand (G6).
#[inline(always)]
fn surface<const N: usize>(l: &Lanes<N>, d: &Decoded<N>) -> (u64, u32) {
    let SurfacePlace { surface, distance } = SurfacePlace::from_immediate(d.imm);
    let Some(descriptor) = l.descriptors.get(usize::from(surface)) else { return (0, 0) };
    let mut add = descriptor.base.wrapping_add(l.row(d.src[0])[0]);
    for (n, stride) in distance.into_iter().zip(descriptor.strides) {
        add = add.wrapping_add((i32::from(n) as u32).wrapping_mul(stride));
    }
    (descriptor.start, add)
}

/// Lowest and highest address of the active lanes.
#[inline(always)]
fn extent<const N: usize>(a: &[u64; N], mask: u64) -> (u64, u64) {
    if mask == all_lanes(N) {
        let (mut low, mut high) = ([u64::MAX; 8], [0; 8]);
        for part in a.as_chunks::<8>().0 {
            for (k, x) in part.iter().enumerate() {
                low[k] = low[k].min(*x);
                high[k] = high[k].max(*x);
            }
        }
        (low.into_iter().fold(u64::MAX, u64::min), high.into_iter().fold(0, u64::max))
    } else {
        lanes(mask).fold((u64::MAX, 0), |(low, high), i| (low.min(a[i]), high.max(a[i])))
    }
}

/// The lowest and the highest of some offsets, and the bits that are set in any. Eight are compared at a time: one sequence of
/// minima would not become vector code.
#[inline(always)]
fn bounds<const N: usize>(offsets: &[u32; N]) -> (u32, u32, u32) {
    let (mut low, mut high, mut bits) = ([u32::MAX; 8], [0; 8], [0; 8]);
    for part in offsets.as_chunks::<8>().0 {
        for (k, x) in part.iter().enumerate() {
            low[k] = low[k].min(*x);
            high[k] = high[k].max(*x);
            bits[k] |= *x;
        }
    }
    let low = low.into_iter().fold(u32::MAX, u32::min);
    (low, high.into_iter().fold(0, u32::max), bits.into_iter().fold(0, |all, x| all | x))
}

/// Host pointers of an access: for every lane of `mask`, its words lie `word_stride` bytes apart from `pointer(lane)` on.
/// [`resolve`] fills it in where it is, as it is large.
struct Resolved<const N: usize> {
    base: *mut u8,
    /// 4, or the bytes of a row in private memory ([`Lanes::private`]).
    word_stride: usize,
    addresses: [u64; N],
    mask: u64,
}

impl<const N: usize> Resolved<N> {
    /// Of no lanes.
    #[inline(always)]
    fn new() -> Resolved<N> {
        Resolved { base: std::ptr::null_mut(), word_stride: 4, addresses: [0; N], mask: 0 }
    }

    #[inline(always)]
    fn pointer(&self, lane: usize) -> *mut u8 {
        let address = self.addresses[lane] as usize;
        self.base.wrapping_add(if self.word_stride == 4 { address } else { private_offset::<N>(address, lane) })
    }
}

/// Where the host has a byte of a lane's private memory, from the start of the warp's.
#[inline(always)]
pub(super) fn private_offset<const N: usize>(address: usize, lane: usize) -> usize {
    address / 4 * size_of::<Row<N>>() + 4 * lane + address % 4
}

/// Where an access goes, beside the addresses of all lanes (of inactive ones anything).
struct Target {
    /// The lowest and the highest one of the active lanes.
    low: u64,
    high: u64,
    /// Whether those of the active lanes are multiples of what the access has to begin at one of.
    aligned: bool,
}

impl Target {
    /// Of an access by the lanes of a mask, which is not empty, that has to begin at a multiple of `granule`. `addresses` gets those
    /// of all lanes.
    #[inline(always)]
    fn new<const MODE: u8, const N: usize>(
        l: &Lanes<N>,
        d: &Decoded<N>,
        mask: u64,
        granule: u64,
        addresses: &mut [u64; N],
    ) -> Target {
        if let Some(near) = Target::near::<MODE, N>(l, d, mask, granule, addresses) {
            return near;
        }
        *addresses = self::addresses::<MODE, N>(l, d);
        let (low, high) = extent(addresses, mask);
        let aligned = if mask == all_lanes(N) {
            addresses.iter().fold(0, |x, y| x | y) & (granule - 1) == 0
        } else {
            lanes(mask).fold(0, |x, i| x | addresses[i]) & (granule - 1) == 0
        };
        Target { low, high, aligned }
    }

    /// The frequent case: offsets of 32 bits from an aligned address. What is asked of them needs no wider numbers.
    #[inline(always)]
    fn near<const MODE: u8, const N: usize>(
        l: &Lanes<N>,
        d: &Decoded<N>,
        mask: u64,
        granule: u64,
        addresses: &mut [u64; N],
    ) -> Option<Target> {
        let device = is_device(d.space);
        let base_row = || l.row(d.src[0])[0];
        let (base, add) = if MODE == AddressMode::Surface as u8 {
            surface(l, d)
        } else if MODE == AddressMode::A64 as u8 {
            return None;
        } else if !device {
            (0, base_row().wrapping_add(d.imm as u32))
        } else if MODE == AddressMode::U32 as u8 {
            based(u64::from(base_row()) | u64::from(l.row(d.src[0] + 1)[0]) << 32, d.imm)
        } else {
            return None;
        };
        if base & (granule - 1) != 0 || base > u64::MAX - u64::from(u32::MAX) {
            return None;
        }
        let row = l.row(d.src[1]);
        let mut offsets = [0; N];
        if mask == all_lanes(N) {
            for (offset, x) in offsets.iter_mut().zip(row) {
                *offset = x.wrapping_add(add);
            }
        } else {
            // Lanes that are not active do as one that is.
            let any = row[mask.trailing_zeros() as usize % N];
            for (lane, (offset, x)) in offsets.iter_mut().zip(row).enumerate() {
                *offset = (if mask >> lane & 1 == 1 { *x } else { any }).wrapping_add(add);
            }
        }
        let (low, high, bits) = bounds(&offsets);
        for (address, offset) in addresses.iter_mut().zip(&offsets) {
            *address = base + u64::from(*offset);
        }
        let aligned = u64::from(bits) & (granule - 1) == 0;
        Some(Target { low: base + u64::from(low), high: base + u64::from(high), aligned })
    }
}

/// Checks an access and finds the memory. `None`: nothing to do, or a fault has been recorded. It is one function for accesses of all
/// sizes, of which each would otherwise have its own copy.
#[inline(never)]
fn resolve<const MODE: u8, const N: usize>(
    l: &mut Lanes<N>,
    d: &Decoded<N>,
    bytes: u32,
    access: Kind,
    resolved: &mut Resolved<N>,
) -> Option<()> {
    // A scalar access runs once, for lane 0's row.
    let mut mask = if d.scalar { 1 } else { l.active(d) };
    if mask == 0 {
        return None;
    }
    let size = u64::from(bytes);
    let a = &mut resolved.addresses;
    let granule = if l.unaligned_vectors && access != Kind::Atomic && is_device(d.space) { bytes.min(4) } else { bytes };
    let Target { low, high, aligned } = Target::new::<MODE, N>(l, d, mask, granule.into(), a);
    if !aligned {
        misaligned(l, d, a, mask, (bytes, granule), access);
        return None;
    }
    if MODE == AddressMode::Surface as u8 {
        let number = usize::from(SurfacePlace::from_immediate(d.imm).surface);
        let (start, end) = l.descriptors.get(number).map_or((0, 0), |s| s.bounds);
        if low < start || high > end || end - high < size {
            mask = inside(l, d, a, mask, bytes, access, Limit::Surface)?;
        }
    }
    let (base, word_stride) = match d.space {
        MemorySpace::Global | MemorySpace::Constant => {
            let (start, end) = l.ranges[d.index as usize % RANGES];
            if low < start || high > end || end - high < size {
                // Not all in the allocation hit last: each lane on its own.
                let memory = l.memory;
                for i in lanes(mask) {
                    let Some(found) = memory.find(a[i], size) else {
                        mask = inside(l, d, a, mask, bytes, access, Limit::Allocations)?;
                        break;
                    };
                    let range = (found.address, found.end());
                    l.ranges[d.index as usize % RANGES] = range;
                    if l.checker.is_some_and(|c| c.borrow().quiet(found)) {
                        l.quiet[d.index as usize % RANGES] = range;
                    }
                }
            }
            (l.memory.host(0), 4)
        }
        MemorySpace::Local => {
            if high + size > u64::from(l.local_bytes) {
                mask = inside(l, d, a, mask, bytes, access, Limit::Bytes(l.local_bytes.into()))?;
            }
            (l.local, 4)
        }
        MemorySpace::Private => {
            if high + size > u64::from(l.private_bytes) {
                mask = inside(l, d, a, mask, bytes, access, Limit::Bytes(l.private_bytes.into()))?;
            }
            (l.private.as_mut_ptr().cast(), size_of::<Row<N>>())
        }
        MemorySpace::Argument => {
            let limit = l.constants.len() as u64;
            if high + size > limit {
                mask = inside(l, d, a, mask, bytes, access, Limit::Bytes(limit))?;
            }
            (l.constants.as_ptr().cast_mut(), 4)
        }
    };
    if l.local_banks != 0 {
        let quiet = l.quiet[d.index as usize % RANGES];
        if !(access == Kind::Load && low >= quiet.0 && high < quiet.1 && is_device(d.space)) {
            record(l, d, a, mask, bytes, access);
        }
    }
    (resolved.base, resolved.word_stride, resolved.mask) = (base, word_stride, mask);
    Some(())
}

#[cold]
fn misaligned<const N: usize>(
    l: &mut Lanes<N>,
    d: &Decoded<N>,
    a: &[u64; N],
    mask: u64,
    (bytes, granule): (u32, u32),
    access: Kind,
) {
    if let Some(i) = lanes(mask).find(|i| a[*i] % u64::from(granule) != 0) {
        let device = matches!(d.space, MemorySpace::Global | MemorySpace::Constant);
        let nearest = device.then(|| if a[i] < 4096 { "a null pointer".into() } else { l.memory.nearest(a[i]) });
        l.set_fault(
            FaultKind::Misaligned { access: name_of(access), space: d.space.into(), address: a[i], bytes, nearest },
            d,
            i as u32,
        );
    }
}

/// The data of a store, and memory, for the checker.
struct Data<'x, 'a, const N: usize>(&'x Lanes<'a, N>, &'x Decoded<N>);

impl<const N: usize> check::Values for Data<'_, '_, N> {
    fn data(&self, lane: usize, k: usize) -> u32 {
        self.0.row(self.1.src[2] + k as u16)[lane]
    }
    fn memory(&self, address: u64) -> u8 {
        let p = match self.1.space {
            MemorySpace::Local => self.0.local.wrapping_add(address as usize),
            _ => self.0.memory.host(address),
        };
        // SAFETY: only asked for bytes of an access that `resolve` checked.
        unsafe { p.read() }
    }
}

/// Shows an access to checking mode's observer, or notes bank conflicts for the timing model.
#[cold]
fn record<const N: usize>(l: &mut Lanes<N>, d: &Decoded<N>, a: &[u64; N], mask: u64, bytes: u32, access: Kind) {
    if l.watch.is_some() {
        match access {
            Kind::Load => watch::load(l, d, a, mask),
            Kind::Store => watch::store(l, d, a, mask, bytes),
            // `atomic` knows its type.
            Kind::Atomic => {}
        }
    }
    if let Some(touches) = l.touches {
        if is_device(d.space) {
            touches.borrow_mut().access(a, mask, bytes, kind_of_touch(d, access));
        }
        return;
    }
    if let Some(checker) = l.checker {
        let access = check::Access {
            index: d.index,
            space: d.space,
            kind: access,
            addresses: a,
            mask: if d.scalar { l.active(d).max(1) } else { mask },
            scalar: d.scalar,
            bytes,
            volatile: matches!(d.policy, CachePolicy::Cv | CachePolicy::Wt),
            undefined: if access == Kind::Store { l.undefined.storing() } else { [0; 4] },
        };
        let verdict = checker.borrow_mut().access(&access, &Data(l, d));
        let mut checker = checker.borrow_mut();
        let warp = checker.warp();
        if access.undefined != [0; 4] {
            l.undefined.stored(d, warp, a, &mut checker.copies);
        }
        if verdict.missing != [0; 4] {
            l.undefined.loaded(d, warp, &verdict.missing, a, bytes, &checker.copies);
        }
        if let Some((fault, lane)) = verdict.fault {
            l.set_fault(fault, d, lane);
        }
        return;
    }
    if !matches!(d.space, MemorySpace::Local | MemorySpace::Argument) {
        return;
    }
    let units = match d.space {
        MemorySpace::Local => bank_conflicts(lanes(mask).map(|i| a[i]), bytes, l.local_banks as usize),
        _ => 1,
    };
    l.access = Some(AccessRecord { space: d.space, units, cached: false });
}

/// Whether all lanes are active and their addresses follow each other `bytes` apart.
#[inline(always)]
fn consecutive<const N: usize>(a: &[u64; N], mask: u64, bytes: u64) -> bool {
    if mask != all_lanes(N) {
        return false;
    }
    let mut different = 0;
    for (i, x) in a.iter().enumerate() {
        different |= x ^ a[0].wrapping_add(bytes * i as u64);
    }
    different == 0
}

/// Whether an access is only to be noted in [`Lanes::touches`], which its result does not depend on.
#[inline(always)]
fn is_touched<const N: usize>(l: &Lanes<N>) -> bool {
    l.touches.is_some() && l.watch.is_none() && l.checker.is_none()
}

/// Notes the lines of an access whose offsets [`offsets`] has found.
#[inline(never)]
fn touch<const BYTES: u32, const N: usize>(l: &Lanes<N>, d: &Decoded<N>, host: *mut u8, off: &[u32; N], mask: u64, access: Kind) {
    let Some(touches) = l.touches.filter(|_| is_device(d.space)) else { return };
    let address = (host as u64).wrapping_sub(l.memory.host(0) as u64);
    let kind = kind_of_touch(d, access);
    let addresses = off.map(|x| address + u64::from(x));
    touches.borrow_mut().access(&addresses, mask, BYTES, kind);
}

/// Whether an access writes, and whether its lines are then the first to be evicted.
fn kind_of_touch<const N: usize>(d: &Decoded<N>, access: Kind) -> (bool, bool) {
    let written = access != Kind::Load;
    let table = if written { &policy::STORES } else { &policy::LOADS };
    (written, policy::of(table, d.space, d.policy).l2_device != L2Policy::Normal)
}

/// The frequent case without 64-bit addresses: a uniform base and 32-bit offsets in the allocation hit last,
/// or work-group memory. Inactive lanes get the offset of an active one, so that every lane may be read.
/// `None`: take the general path (which also reports faults).
#[inline(always)]
fn offsets<const MODE: u8, const BYTES: u32, const STORES: bool, const N: usize>(
    l: &Lanes<N>,
    d: &Decoded<N>,
) -> Option<(*mut u8, [u32; N], u64)> {
    let by_id = MODE == AddressMode::Surface as u8;
    // Checking mode has to see everything but loads from memory that is only read; who only touches ([`touch`]) does not.
    let watched = l.local_banks != 0 && !is_touched(l);
    if !by_id && MODE != AddressMode::U32 as u8 || watched && (STORES || !is_device(d.space)) || d.scalar {
        return None;
    }
    let mask = l.active(d);
    let row = l.row(d.src[1]);
    let imm = d.imm as u32;
    let local = d.space == MemorySpace::Local;
    let base_row = l.row(d.src[0])[0];
    let (start, from_surface) = if by_id { surface(l, d) } else { (0, 0) };
    let add = if by_id {
        from_surface
    } else if local {
        imm.wrapping_add(base_row)
    } else {
        imm
    };
    let mut off = [0u32; N];
    if mask == all_lanes(N) {
        for (off, row) in off.iter_mut().zip(row) {
            *off = row.wrapping_add(add);
        }
    } else {
        if mask == 0 {
            return None;
        }
        let any = row[mask.trailing_zeros() as usize].wrapping_add(add);
        for (i, (off, row)) in off.iter_mut().zip(row).enumerate() {
            *off = if mask >> i & 1 == 1 { row.wrapping_add(add) } else { any };
        }
    }
    let (low, high, bits) = bounds(&off);
    if local {
        let fits = u64::from(high) + u64::from(BYTES) <= u64::from(l.local_bytes) && bits & (BYTES - 1) == 0;
        return fits.then_some((l.local, off, mask));
    }
    if !is_device(d.space) {
        return None;
    }
    let base = if by_id { start } else { u64::from(base_row) | u64::from(l.row(d.src[0] + 1)[0]) << 32 };
    let (start, end) = if by_id {
        let table = if watched { l.quiet_descriptors } else { l.descriptors };
        table.get(usize::from(SurfacePlace::from_immediate(d.imm).surface)).map_or((0, 0), |s| s.bounds)
    } else if watched {
        l.quiet[d.index as usize % RANGES]
    } else {
        l.ranges[d.index as usize % RANGES]
    };
    let fits = base >= start
        && base.wrapping_add(u64::from(low)) >= start
        && base.saturating_add(u64::from(high)).saturating_add(u64::from(BYTES)) <= end
        && (bits | base as u32) & (BYTES - 1) == 0;
    fits.then(|| (l.memory.host(base), off, mask))
}

/// Whether offsets follow each other.
#[inline(always)]
fn in_order<const BYTES: u32, const N: usize>(off: &[u32; N]) -> bool {
    let mut different = 0;
    for (i, x) in off.iter().enumerate() {
        different |= x ^ off[0].wrapping_add(BYTES * i as u32);
    }
    different == 0
}

/// A load on the frequent path. False: take the general one.
#[inline(always)]
fn load_fast<const MODE: u8, const BYTES: u32, const N: usize>(l: &mut Lanes<N>, d: &Decoded<N>) -> bool {
    if BYTES < 4 {
        return false;
    }
    let Some((base, off, mask)) = offsets::<MODE, BYTES, false, N>(l, d) else { return false };
    if l.touches.is_some() {
        touch::<BYTES, N>(l, d, base, &off, mask, Kind::Load);
    }
    let words = BYTES as usize / 4;
    let mut values = [[0u32; N]; 4];
    let first = base.wrapping_add(off[0] as usize);
    let mut spread = 0;
    for x in &off {
        spread |= x ^ off[0];
    }
    // SAFETY: `offsets` checked every lane's bytes.
    unsafe {
        if spread == 0 {
            for (values, v) in values.iter_mut().zip(read::<BYTES, false>(first, 4)).take(words) {
                *values = [v; N];
            }
        } else if BYTES == 4 && in_order::<BYTES, N>(&off) {
            values[0] = first.cast::<[u32; N]>().read_unaligned();
        } else {
            for (i, off) in off.iter().enumerate() {
                let v = read::<BYTES, false>(base.add(*off as usize), 4);
                for (values, v) in values.iter_mut().zip(v).take(words) {
                    values[i] = v;
                }
            }
        }
    }
    for (k, v) in values.iter().enumerate().take(words) {
        blend(l.row_mut(d.dst + k as u16), v, mask);
    }
    true
}

/// A scalar load on the frequent path. False: take the general one.
#[inline(always)]
fn load_scalar<const MODE: u8, const BYTES: u32, const SIGNED: bool, const N: usize>(l: &mut Lanes<N>, d: &Decoded<N>) -> bool {
    let Some(address) = cached::scalar_address::<MODE, N>(l, d, BYTES) else { return false };
    if let Some(touches) = l.touches {
        touches.borrow_mut().access(&[address], 1, BYTES, kind_of_touch(d, Kind::Load));
    }
    // SAFETY: it lies in an allocation.
    let v = unsafe { read::<BYTES, SIGNED>(l.memory.host(address), 4) };
    for (k, v) in v.iter().enumerate().take((BYTES as usize).div_ceil(4)) {
        *l.row_mut(d.dst + k as u16) = [*v; N];
    }
    true
}

/// Loads `WORDS` words, or a narrow value of `BYTES` bytes extended to one.
fn load<const MODE: u8, const BYTES: u32, const SIGNED: bool, const N: usize>(l: &mut Lanes<N>, d: &Decoded<N>) {
    let through_caches = l.hierarchy.is_some() && is_cached(d.space);
    if through_caches {
        if let Some(address) = cached::scalar_address::<MODE, N>(l, d, BYTES) {
            return cached::load::<BYTES, SIGNED, N>(l, d, &[address], 1);
        }
    } else if if d.scalar { load_scalar::<MODE, BYTES, SIGNED, N>(l, d) } else { load_fast::<MODE, BYTES, N>(l, d) } {
        return;
    }
    let mut r = Resolved::new();
    let Some(()) = resolve::<MODE, N>(l, d, BYTES, Kind::Load, &mut r) else { return };
    if through_caches {
        return cached::load::<BYTES, SIGNED, N>(l, d, &r.addresses, r.mask);
    }
    let words = (BYTES as usize).div_ceil(4);
    if d.scalar {
        // SAFETY: `resolve` found the one access inside an allocation.
        let v = unsafe { read::<BYTES, SIGNED>(r.pointer(0), r.word_stride) };
        for (k, v) in v.iter().enumerate().take(words) {
            *l.row_mut(d.dst + k as u16) = [*v; N];
        }
        return;
    }
    let mut values = [[0u32; N]; 4];
    if r.word_stride == 4 && consecutive(&r.addresses, r.mask, u64::from(BYTES)) {
        // SAFETY: `resolve` checked every lane's bytes, and they follow each other.
        unsafe { read_row::<BYTES, SIGNED, N>(r.pointer(0), &mut values) };
    } else {
        let mut put = |i: usize| {
            // SAFETY: of an active lane, whose bytes `resolve` found inside an allocation.
            let v = unsafe { read::<BYTES, SIGNED>(r.pointer(i), r.word_stride) };
            for (values, v) in values.iter_mut().zip(v).take(words) {
                values[i] = v;
            }
        };
        if r.mask == all_lanes(N) {
            (0..N).for_each(&mut put);
        } else {
            lanes(r.mask).for_each(&mut put);
        }
    }
    for (k, v) in values.iter().enumerate().take(words) {
        blend(l.row_mut(d.dst + k as u16), v, r.mask);
    }
}

fn store<const MODE: u8, const BYTES: u32, const N: usize>(l: &mut Lanes<N>, d: &Decoded<N>) {
    let frequent = if BYTES == 4 { offsets::<MODE, BYTES, true, N>(l, d) } else { None };
    if let Some((base, off, mask)) = frequent {
        if l.touches.is_some() {
            touch::<BYTES, N>(l, d, base, &off, mask, Kind::Store);
        }
        // SAFETY: `offsets` checked every lane's bytes.
        unsafe {
            if mask == all_lanes(N) && in_order::<BYTES, N>(&off) {
                base.add(off[0] as usize).cast::<[u32; N]>().write_unaligned(*l.row(d.src[2]));
            } else {
                for i in lanes(mask) {
                    base.add(off[i] as usize).cast::<u32>().write_unaligned(l.row(d.src[2])[i]);
                }
            }
        }
        return;
    }
    let mut r = Resolved::new();
    let Some(()) = resolve::<MODE, N>(l, d, BYTES, Kind::Store, &mut r) else { return };
    if l.hierarchy.is_some() && is_cached(d.space) {
        return cached::store::<BYTES, N>(l, d, &r.addresses, r.mask);
    }
    if BYTES == 4 && r.word_stride == 4 && consecutive(&r.addresses, r.mask, 4) {
        // SAFETY: `resolve` checked every lane's bytes, and they follow each other.
        unsafe { r.pointer(0).cast::<[u32; N]>().write_unaligned(*l.row(d.src[2])) };
        return;
    }
    for i in lanes(r.mask) {
        // SAFETY: `resolve` checked this lane's bytes.
        unsafe { write::<BYTES>(r.pointer(i), r.word_stride, |k| l.row(d.src[2] + k as u16)[i]) };
    }
}

/// An atomic: lane after lane, each a compare-and-swap loop on the host's memory, so that work-groups on
/// other threads are respected.
fn atomic<const MODE: u8, const N: usize>(l: &mut Lanes<N>, d: &Decoded<N>) {
    let ty = d.ty;
    let bytes = ty.bytes();
    let mut r = Resolved::new();
    let Some(()) = resolve::<MODE, N>(l, d, bytes, Kind::Atomic, &mut r) else { return };
    let op = atomic_of(d.mode);
    let wide = bytes == 8;
    if l.watch.is_some() {
        watch::atomic(l, d, &r.addresses, r.mask, ty);
    }
    if l.hierarchy.is_some() && is_cached(d.space) {
        return cached::atomic(l, d, &r.addresses, r.mask, ty);
    }
    for i in lanes(r.mask) {
        let word = |l: &Lanes<N>, k: u16| l.row(d.src[2] + k)[i];
        let pair = |l: &Lanes<N>, k: u16| u64::from(word(l, k)) | u64::from(word(l, k + 1)) << 32;
        let compares = op == AtomicOp::CmpXchg;
        let old = if wide {
            // SAFETY: checked, aligned, and memory is shared through atomics (see `sim::memory`).
            let cell = unsafe { AtomicU64::from_ptr(r.pointer(i).cast()) };
            let (data, replacement) = (pair(l, 0), if compares { pair(l, 2) } else { 0 });
            cell.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |old| updated(op, ty, old, data, replacement))
                .unwrap_or_else(|old| old)
        } else {
            // SAFETY: as above.
            let cell = unsafe { AtomicU32::from_ptr(r.pointer(i).cast()) };
            let (data, replacement) = (u64::from(word(l, 0)), if compares { u64::from(word(l, 1)) } else { 0 });
            let new = |old: u32| updated(op, ty, u64::from(old), data, replacement).map(|new| new as u32);
            u64::from(cell.fetch_update(Ordering::SeqCst, Ordering::SeqCst, new).unwrap_or_else(|old| old))
        };
        if d.has_dst {
            l.row_mut(d.dst)[i] = old as u32;
            if wide {
                l.row_mut(d.dst + 1)[i] = (old >> 32) as u32;
            }
        }
    }
}

/// Spaces of device memory.
#[inline(always)]
pub(super) fn is_device(space: MemorySpace) -> bool {
    matches!(space, MemorySpace::Global | MemorySpace::Constant)
}

/// Spaces that caches hold.
fn is_cached(space: MemorySpace) -> bool {
    matches!(space, MemorySpace::Global | MemorySpace::Constant | MemorySpace::Private)
}

/// `cctl`: addresses are not checked, as prefetches never fault (K5).
fn control<const MODE: u8, const N: usize>(l: &mut Lanes<N>, d: &Decoded<N>) {
    let mask = l.active(d);
    if mask != 0 {
        let a = addresses::<MODE, N>(l, d);
        cached::control(l, d, &a, mask);
    }
}

macro_rules! by_mode {
    ($inst:expr, $f:ident, $($arg:expr),*) => {
        match $inst.mods.address {
            AddressMode::U32 => $f::<{ AddressMode::U32 as u8 }, $({ $arg },)* N>,
            AddressMode::S32 => $f::<{ AddressMode::S32 as u8 }, $({ $arg },)* N>,
            AddressMode::Surface => $f::<{ AddressMode::Surface as u8 }, $({ $arg },)* N>,
            AddressMode::A64 => $f::<{ AddressMode::A64 as u8 }, $({ $arg },)* N>,
        }
    };
}

pub(super) fn select_load<const N: usize>(inst: &Inst) -> Option<Execute<N>> {
    Some(match inst.ty {
        Type::S8 => by_mode!(inst, load, 1, true),
        Type::U8 => by_mode!(inst, load, 1, false),
        Type::S16 => by_mode!(inst, load, 2, true),
        Type::U16 => by_mode!(inst, load, 2, false),
        Type::B32 => by_mode!(inst, load, 4, false),
        Type::B64 => by_mode!(inst, load, 8, false),
        Type::B128 => by_mode!(inst, load, 16, false),
        _ => return None,
    })
}

pub(super) fn select_control<const N: usize>(inst: &Inst) -> Execute<N> {
    match inst.mods.address {
        AddressMode::U32 | AddressMode::Surface => control::<{ AddressMode::U32 as u8 }, N>,
        AddressMode::S32 => control::<{ AddressMode::S32 as u8 }, N>,
        AddressMode::A64 => control::<{ AddressMode::A64 as u8 }, N>,
    }
}

pub(super) fn select_store<const N: usize>(inst: &Inst) -> Option<Execute<N>> {
    Some(match inst.ty {
        Type::U8 => by_mode!(inst, store, 1),
        Type::U16 => by_mode!(inst, store, 2),
        Type::B32 => by_mode!(inst, store, 4),
        Type::B64 => by_mode!(inst, store, 8),
        Type::B128 => by_mode!(inst, store, 16),
        _ => return None,
    })
}

pub(super) fn select_atomic<const N: usize>(inst: &Inst) -> Option<Execute<N>> {
    // Of the operation's types.
    updated(inst.mods.atomic, inst.ty, 0, 0, 0)?;
    Some(by_mode!(inst, atomic,))
}
