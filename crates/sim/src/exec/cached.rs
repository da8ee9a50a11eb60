//! Accesses through the memory hierarchy (timing mode): registers on one side, the hierarchy on the other.

use super::access::lanes;
use super::alu::blend;
use super::{AccessRecord, Decoded, Lanes, Late, atomic_of};
use crate::hierarchy::cluster_caches::ClusterCaches;
use crate::hierarchy::{Access, AccessCost, Path};
use heddle_isa::meaning::updated;
use heddle_isa::{AtomicOp, MemorySpace, Type};

/// Runs `work` on the hierarchy with the description of a warp's access; notes what it cost.
fn through<const N: usize>(
    l: &mut Lanes<N>,
    d: &Decoded<N>,
    addresses: &[u64; N],
    mask: u64,
    bytes: u32,
    work: impl FnOnce(&mut ClusterCaches, &mut Lanes<N>, &Access) -> AccessCost,
) {
    let Some(hierarchy) = l.hierarchy else { return };
    let access =
        Access { sm: l.sm, now: l.clock, space: d.space, policy: d.policy, addresses, mask, bytes, private: l.private_base };
    let done = work(&mut hierarchy.borrow_mut(), l, &access);
    l.access = Some(AccessRecord { space: d.space, units: done.sectors, done: Some(done) });
}

fn word(bytes: &[u8; 16], k: usize) -> u32 {
    u32::from_le_bytes([bytes[4 * k], bytes[4 * k + 1], bytes[4 * k + 2], bytes[4 * k + 3]])
}

/// A load of `BYTES` bytes, a narrow one extended.
pub(super) fn load<const BYTES: u32, const SIGNED: bool, const N: usize>(
    l: &mut Lanes<N>,
    d: &Decoded<N>,
    addresses: &[u64; N],
    mask: u64,
) {
    let mut out = [[0u8; 16]; N];
    through(l, d, addresses, mask, BYTES, |h, l, a| h.load(l.memory, d.path, a, &mut out));
    if l.access.is_some_and(|a| a.done.is_some_and(|d| d.pending)) {
        l.late = Some(Late { finish: finish::<BYTES, SIGNED, N>, mask });
    } else {
        finish::<BYTES, SIGNED, N>(l, d, &out, mask);
    }
}

/// The end of a load: its bytes go to the registers.
fn finish<const BYTES: u32, const SIGNED: bool, const N: usize>(l: &mut Lanes<N>, d: &Decoded<N>, out: &[[u8; 16]], mask: u64) {
    let Some(out) = out.first_chunk::<N>() else { return };
    let words = (BYTES as usize).div_ceil(4);
    let value = |b: &[u8; 16], k: usize| match (BYTES, SIGNED) {
        (1, true) => i32::from(b[0] as i8) as u32,
        (2, true) => i32::from(i16::from_le_bytes([b[0], b[1]])) as u32,
        _ => word(b, k),
    };
    for k in 0..words {
        if d.scalar {
            *l.row_mut(d.dst + k as u16) = [value(&out[0], k); N];
        } else {
            let values = std::array::from_fn(|i| value(&out[i], k));
            blend(l.row_mut(d.dst + k as u16), &values, mask);
        }
    }
}

/// A store of `BYTES` bytes.
pub(super) fn store<const BYTES: u32, const N: usize>(l: &mut Lanes<N>, d: &Decoded<N>, addresses: &[u64; N], mask: u64) {
    let words = (BYTES as usize).div_ceil(4);
    let mut data = [[0u8; 16]; N];
    for k in 0..words {
        let row = l.row(d.src[2] + k as u16);
        for (bytes, v) in data.iter_mut().zip(row) {
            bytes[4 * k..4 * k + 4].copy_from_slice(&v.to_le_bytes());
        }
    }
    through(l, d, addresses, mask, BYTES, |h, l, a| h.store(l.memory, a, &data));
}

/// An atomic on global memory, at L2.
pub(super) fn atomic<const N: usize>(l: &mut Lanes<N>, d: &Decoded<N>, addresses: &[u64; N], mask: u64, ty: Type) {
    let op = atomic_of(d.mode);
    let wide = ty.bytes() == 8;
    let compares = op == AtomicOp::CmpXchg;
    let mut old = [0u64; N];
    let mut changes = 0;
    through(l, d, addresses, mask, ty.bytes(), |h, l, a| {
        let word = |lane: usize, k: u16| l.row(d.src[2] + k)[lane];
        let pair = |lane: usize, k: u16| u64::from(word(lane, k)) | u64::from(word(lane, k + 1)) << 32;
        h.atomic(l.memory, a, &mut |lane, before| {
            old[lane] = before;
            let (data, replacement) = match (wide, compares) {
                (true, true) => (pair(lane, 0), pair(lane, 2)),
                (true, false) => (pair(lane, 0), 0),
                (false, true) => (u64::from(word(lane, 0)), u64::from(word(lane, 1))),
                (false, false) => (u64::from(word(lane, 0)), 0),
            };
            // The loader refuses an operation at a type that it does not have.
            let after = updated(op, ty, before, data, replacement).unwrap_or(before);
            changes += u64::from(after != before);
            after
        })
    });
    if let Some(watch) = &mut l.watch {
        watch.changes += changes;
    }
    if d.has_dst {
        for i in lanes(mask) {
            l.row_mut(d.dst)[i] = old[i] as u32;
            if wide {
                l.row_mut(d.dst + 1)[i] = (old[i] >> 32) as u32;
            }
        }
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

/// Reads texels of up to 16 bytes at distinct addresses through the read-only path.
pub(super) fn texels<const N: usize>(l: &mut Lanes<N>, addresses: &[u64], bytes: usize) -> Vec<[u8; 16]> {
    let mut out = vec![[0u8; 16]; addresses.len()];
    let Some(hierarchy) = l.hierarchy else { return out };
    let mut total = AccessCost { ready: l.clock, ..AccessCost::default() };
    for (some, out) in addresses.chunks(64).zip(out.chunks_mut(64)) {
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
        let done = hierarchy.load(l.memory, Path::Uniform, &access, out);
        hierarchy.set_urgent_loads(false);
        total.ready = total.ready.max(done.ready);
        total.busy += done.busy;
        total.lines += done.lines;
        total.sectors += done.sectors;
        total.hits += done.hits;
        total.far += done.far;
    }
    l.access = Some(AccessRecord { space: MemorySpace::Global, units: total.sectors, done: Some(total) });
    out
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
    let done = hierarchy.borrow_mut().store(l.memory, &access, data);
    l.access = Some(AccessRecord { space: MemorySpace::Global, units: done.sectors, done: Some(done) });
}
