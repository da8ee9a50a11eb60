//! Accesses through the memory hierarchy (timing mode): registers on one side, the hierarchy on the other.

use super::access::{based, is_device};
use super::copy::blend;
use super::texture::{TEXELS_AT_ONCE, TexelRead};
use super::{AccessRecord, Decoded, Lanes, Late, RANGES, atomic_of};
use crate::hierarchy::atomics::AtomicOperation;
use crate::hierarchy::cluster_caches::ClusterCaches;
use crate::hierarchy::line::{LaneWords, bytes_of_lane, words_of_lanes};
use crate::hierarchy::{Access, AccessCost, Path};
use heddle_isa::{AddressMode, MemorySpace, Type};

/// Runs `work` on the hierarchy with the description of a warp's access; notes what it touched. There are addresses for all
/// lanes of the mask at least.
fn through<const N: usize>(
    l: &mut Lanes<N>,
    d: &Decoded<N>,
    addresses: &[u64],
    mask: u64,
    bytes: u32,
    work: impl FnOnce(&mut ClusterCaches, &mut Lanes<N>, &Access),
) {
    let Some(hierarchy) = l.hierarchy else { return };
    let access =
        Access { sm: l.sm, now: l.clock, space: d.space, policy: d.policy, addresses, mask, bytes, private: l.private_base };
    let caches = &mut *hierarchy.borrow_mut();
    work(caches, l, &access);
    l.access = Some(AccessRecord { space: d.space, units: caches.cost.sectors, cached: true });
}

/// The address of a scalar access to device memory that nobody watches but [`Lanes::touches`]: of lane 0 alone, in the
/// allocation hit last.
/// `None`: take the general path (which also reports faults).
#[inline(always)]
pub(super) fn scalar_address<const MODE: u8, const N: usize>(l: &Lanes<N>, d: &Decoded<N>, bytes: u32) -> Option<u64> {
    // A watch sees what goes the general way.
    let watched = l.watch.is_some() || l.checker.is_some();
    if !d.scalar || watched || !is_device(d.space) || MODE == AddressMode::Surface as u8 {
        return None;
    }
    let word = |row: u16| u64::from(l.row(row)[0]) | u64::from(l.row(row + 1)[0]) << 32;
    let offset = l.row(d.src[1])[0];
    let address = if MODE == AddressMode::A64 as u8 {
        word(d.src[1]).wrapping_add(d.imm as i64 as u64)
    } else if MODE == AddressMode::U32 as u8 {
        let (high, add) = based(word(d.src[0]), d.imm);
        high | u64::from(offset.wrapping_add(add))
    } else {
        word(d.src[0]).wrapping_add(d.imm as i64 as u64).wrapping_add(offset as i32 as i64 as u64)
    };
    let (start, end) = l.ranges[d.index as usize % RANGES];
    let size = u64::from(bytes);
    let inside = address >= start && address <= end && end - address >= size;
    (inside && address & (size - 1) == 0).then_some(address)
}

/// A load of `BYTES` bytes, a narrow one extended; a scalar one has an address for lane 0 at least.
pub(super) fn load<const BYTES: u32, const SIGNED: bool, const N: usize>(
    l: &mut Lanes<N>,
    d: &Decoded<N>,
    addresses: &[u64],
    mask: u64,
) {
    through(l, d, addresses, mask, BYTES, |h, l, a| {
        // One address is what `scalar_address` has found.
        if let &[_] = addresses
            && let Some(bytes) = h.load_one(d.path, a)
        {
            for (k, word) in bytes.chunks(4).enumerate() {
                let mut whole = [0; 4];
                whole[..word.len()].copy_from_slice(word);
                *l.row_mut(d.dst + k as u16) = [extended::<BYTES, SIGNED>(u32::from_le_bytes(whole)); N];
            }
            return;
        }
        h.load(l.memory, d.path, a);
        if h.cost.pending {
            l.late = Some(Late::Words { finish: finish::<BYTES, SIGNED, N>, mask });
        } else {
            finish::<BYTES, SIGNED, N>(l, d, h.loaded(), mask);
        }
    });
}

/// A word of a load, whose value may be narrower.
#[inline(always)]
fn extended<const BYTES: u32, const SIGNED: bool>(word: u32) -> u32 {
    match (BYTES, SIGNED) {
        (1, true) => i32::from(word as i8) as u32,
        (2, true) => i32::from(word as i16) as u32,
        _ => word,
    }
}

/// The end of a load: its words go to the registers, a narrow one extended.
fn finish<const BYTES: u32, const SIGNED: bool, const N: usize>(l: &mut Lanes<N>, d: &Decoded<N>, out: &LaneWords, mask: u64) {
    for (k, words) in out.iter().enumerate().take((BYTES as usize).div_ceil(4)) {
        let row = d.dst + k as u16;
        if d.scalar {
            *l.row_mut(row) = [extended::<BYTES, SIGNED>(words[0]); N];
        } else if BYTES >= 4 {
            let Some(values) = words.first_chunk::<N>() else { return };
            blend(l.row_mut(row), values, mask);
        } else {
            blend(l.row_mut(row), &std::array::from_fn(|lane| extended::<BYTES, SIGNED>(words[lane])), mask);
        }
    }
}

/// A store of `BYTES` bytes.
pub(super) fn store<const BYTES: u32, const N: usize>(l: &mut Lanes<N>, d: &Decoded<N>, addresses: &[u64; N], mask: u64) {
    through(l, d, addresses, mask, BYTES, |h, l, a| {
        let words = (BYTES as u16).div_ceil(4);
        let values: [&[u32]; 4] = std::array::from_fn(|k| if (k as u16) < words { &l.row(d.src[2] + k as u16)[..] } else { &[] });
        h.store(l.memory, a, &values[..usize::from(words)]);
    });
}

/// An atomic on global memory, at L2, which may be performed later.
pub(super) fn atomic<const N: usize>(l: &mut Lanes<N>, d: &Decoded<N>, addresses: &[u64; N], mask: u64, ty: Type) {
    through(l, d, addresses, mask, ty.bytes(), |h, l, a| {
        let describe = |operation: &mut AtomicOperation, l: &Lanes<N>| {
            (operation.op, operation.ty) = (atomic_of(d.mode), ty);
            for k in 0..operation.words() {
                operation.operands[k][..N].copy_from_slice(l.row(d.src[2] + k as u16));
            }
        };
        if h.lower.is_none() {
            h.defer_atomic(a, |operation| describe(operation, l));
            if h.cost.pending {
                l.late = Some(Late::Words { finish: finish_atomic::<N>, mask });
            }
            return;
        }
        let mut operation = AtomicOperation::default();
        describe(&mut operation, l);
        let (mut found, mut changes) = ([[0; 64]; 4], 0);
        h.atomic(l.memory, a, &mut |lane, before| {
            (found[0][lane], found[1][lane]) = (before as u32, (before >> 32) as u32);
            let after = operation.apply(lane, before);
            changes += u64::from(after != before);
            after
        });
        finish_atomic::<N>(l, d, &found, mask);
        if let Some(watch) = &mut l.watch {
            watch.changes += changes;
        }
    });
}

/// The end of an atomic: what the lanes have found goes to the registers, if anyone wants to know.
fn finish_atomic<const N: usize>(l: &mut Lanes<N>, d: &Decoded<N>, found: &LaneWords, mask: u64) {
    for (k, words) in found.iter().enumerate().take(usize::from(d.dst_words)) {
        let Some(values) = words.first_chunk::<N>() else { return };
        blend(l.row_mut(d.dst + k as u16), values, mask);
    }
}

/// Cache control. Without a hierarchy there are no caches: no line is valid.
pub(super) fn control<const N: usize>(l: &mut Lanes<N>, d: &Decoded<N>, addresses: &[u64; N], mask: u64) {
    let mut status = [0u32; N];
    let (cache, op) = d.control;
    through(l, d, addresses, mask, 1, |h, l, a| h.control(l.memory, cache, op, a, &mut status));
    if d.has_dst {
        blend(l.row_mut(d.dst), &status, mask);
    }
}

/// Reads texels of up to 16 bytes at distinct addresses through the read-only path, as many in an access as a warp has lanes
/// at most. What comes later is the read's to wait for.
pub(super) fn texels<const N: usize>(l: &mut Lanes<N>, read: &mut TexelRead<N>, bytes: usize) {
    let Some(hierarchy) = l.hierarchy else { return };
    let mut total = AccessCost { ready: l.clock, ..AccessCost::default() };
    for (number, some) in read.addresses.chunks(TEXELS_AT_ONCE).enumerate() {
        let access = Access {
            sm: l.sm,
            now: l.clock + u64::from(total.lines),
            space: MemorySpace::Global,
            policy: heddle_isa::CachePolicy::Default,
            addresses: some,
            mask: super::all_lanes(some.len()),
            bytes: bytes as u32,
            private: 0,
        };
        let hierarchy = &mut *hierarchy.borrow_mut();
        hierarchy.set_urgent_loads(true);
        hierarchy.load(l.memory, Path::Uniform, &access);
        hierarchy.set_urgent_loads(false);
        let done = hierarchy.cost;
        if done.pending {
            total.pending = true;
            read.parts.extend(hierarchy.take_load().map(|load| (number, load)));
        } else {
            read.texels[number * TEXELS_AT_ONCE..].iter_mut().zip(0..some.len()).for_each(|(out, lane)| {
                *out = bytes_of_lane(hierarchy.loaded(), lane);
            });
        }
        total.ready = total.ready.max(done.ready);
        total.busy += done.busy;
        total.lines += done.lines;
        total.sectors += done.sectors;
        total.hits += done.hits;
        total.far += done.far;
    }
    read.ready = total.ready;
    hierarchy.borrow_mut().cost = total;
    l.access = Some(AccessRecord { space: MemorySpace::Global, units: total.sectors, cached: true });
}

/// Writes texels.
pub(super) fn write_texels<const N: usize>(
    l: &mut Lanes<N>,
    addresses: &[u64; N],
    mask: u64,
    data: &[[u8; 16]; N],
    bytes: usize,
) {
    let Some(hierarchy) = l.hierarchy else { return };
    let access = Access {
        sm: l.sm,
        now: l.clock,
        space: MemorySpace::Global,
        policy: heddle_isa::CachePolicy::Default,
        addresses,
        mask,
        bytes: bytes as u32,
        private: 0,
    };
    let values = words_of_lanes(data);
    let caches = &mut *hierarchy.borrow_mut();
    caches.store(l.memory, &access, &values.each_ref().map(|words| &words[..]));
    l.access = Some(AccessRecord { space: MemorySpace::Global, units: caches.cost.sectors, cached: true });
}
