//! What accesses have to stay inside of, and what becomes of those that do not: a fault, or zeros where that is let pass
//! ([`crate::tolerance`]).
//!
//! May touch: the fault, the notes of what was let pass, and the destination of lanes that are outside.

use super::{Decoded, Lanes, lanes};
use crate::check::Kind;
use crate::fault::FaultKind;
use heddle_isa::{MemorySpace, SurfacePlace};

/// What an access is in messages.
pub(super) fn name_of(kind: Kind) -> &'static str {
    match kind {
        Kind::Load => "load",
        Kind::Store => "store",
        Kind::Atomic => "atomic",
    }
}

/// What an access has to stay inside of.
#[derive(Clone, Copy)]
pub(super) enum Limit {
    /// The surface that it names.
    Surface,
    /// Some allocation of device memory.
    Allocations,
    /// So many bytes of another memory.
    Bytes(u64),
}

impl Limit {
    /// Whether `bytes` bytes at an address are inside.
    fn holds<const N: usize>(self, l: &Lanes<N>, d: &Decoded<N>, address: u64, bytes: u32) -> bool {
        let size = u64::from(bytes);
        match self {
            Limit::Surface => {
                let number = usize::from(SurfacePlace::from_immediate(d.imm).surface);
                let (start, end) = l.descriptors.get(number).map_or((0, 0), |s| s.bounds);
                address >= start && address <= end && end - address >= size
            }
            Limit::Allocations => l.memory.find(address, size).is_some(),
            Limit::Bytes(limit) => address + size <= limit,
        }
    }

    /// The fault of an access that is not.
    fn fault<const N: usize>(self, l: &Lanes<N>, d: &Decoded<N>, address: u64, bytes: u32, access: Kind) -> FaultKind {
        let (address, nearest) = match self {
            Limit::Surface => {
                let number = usize::from(SurfacePlace::from_immediate(d.imm).surface);
                let known = l.descriptors.get(number).map(|s| (s.start, s.bounds, s.name.as_str()));
                let (first, (start, end), name) = known.unwrap_or_default();
                let offset = address.wrapping_sub(first) as u32 as i32;
                let nearest = format!("at offset {offset} of surface `{name}`, which has {} bytes", end - start);
                // Offsets wrap around at 2³² (G6); a negative one was meant to go down.
                (first.wrapping_add(i64::from(offset) as u64), nearest)
            }
            Limit::Allocations => {
                let address = l.memory.meant(address);
                (address, l.memory.nearest(address))
            }
            Limit::Bytes(limit) => {
                let what = match d.space {
                    MemorySpace::Local => "the work-group's memory has",
                    MemorySpace::Private => "the work-item's memory has",
                    _ => "the arguments have",
                };
                (address, format!("{what} {limit} bytes"))
            }
        };
        FaultKind::OutOfBounds { access: name_of(access), space: d.space.into(), address, bytes, nearest }
    }
}

/// The lanes of an access that stay inside. For the others there is a fault, and `None`; or, where that is let pass
/// ([`crate::tolerance`]), they are given zeros, and it is `None` if there are no others.
#[cold]
#[inline(never)]
pub(super) fn inside<const N: usize>(
    l: &mut Lanes<N>,
    d: &Decoded<N>,
    a: &[u64; N],
    mask: u64,
    bytes: u32,
    access: Kind,
    limit: Limit,
) -> Option<u64> {
    let inside = lanes(mask).filter(|i| limit.holds(l, d, a[*i], bytes)).fold(0, |inside, i| inside | 1 << i);
    let outside = mask & !inside;
    if outside == 0 {
        return Some(mask);
    }
    if !l.tolerance.out_of_bounds {
        let first = outside.trailing_zeros();
        let fault = limit.fault(l, d, a[first as usize], bytes, access);
        l.set_fault(fault, d, first);
        return None;
    }
    let lowest = lanes(outside).map(|i| a[i]).min().unwrap_or(0);
    let work_items = if d.scalar { l.active(d).count_ones().max(1) } else { outside.count_ones() };
    l.tolerated.note(d.index, work_items, lowest, || limit.fault(l, d, lowest, bytes, access));
    if access == Kind::Load || access == Kind::Atomic && d.has_dst {
        for k in 0..bytes.div_ceil(4) as u16 {
            let row = l.row_mut(d.dst + k);
            match d.scalar {
                true => *row = [0; N],
                false => lanes(outside).for_each(|i| row[i] = 0),
            }
        }
    }
    (inside != 0).then_some(inside)
}
