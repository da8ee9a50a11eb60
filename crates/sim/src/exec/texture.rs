//! Image reads and writes: lane after lane, through [`crate::image`].

use rustc_hash::FxHashMap;

use super::{Decoded, Execute, Lanes, cached};
use crate::fault::FaultKind;
use crate::image::{Image, Result4, Sampler, sample};
use heddle_isa::{Inst, Type};

/// The image of an instruction: device address and shape; or a fault.
fn image<const N: usize>(l: &mut Lanes<N>, d: &Decoded<N>, lane: u32) -> Option<(u64, Image)> {
    let descriptor = l.descriptors.get((d.imm & 0xff) as usize)?;
    match descriptor.image {
        Some(image) => Some((descriptor.start, image)),
        None => {
            let message = format!("surface `{}` is no image", descriptor.name);
            l.set_fault(FaultKind::Image { message }, d, lane);
            None
        }
    }
}

fn coordinates<const N: usize>(l: &Lanes<N>, row: u16, lane: usize) -> [u32; 4] {
    std::array::from_fn(|k| l.row(row + k as u16)[lane])
}

#[cold]
fn outside<const N: usize>(l: &mut Lanes<N>, d: &Decoded<N>, what: &str, image: &Image, c: [u32; 4], lane: usize) {
    let name = l.descriptors.get((d.imm & 0xff) as usize).map_or("", |s| s.name.as_str());
    let n = image.dimensions as usize + usize::from(image.array);
    let [w, h, z] = image.size;
    let at: Vec<String> = c[..n].iter().map(|v| (*v as i32).to_string()).collect();
    let message = format!(
        "{what} of image `{name}` at ({}), outside its {w} x {h} x {z} texels and {} layers",
        at.join(", "),
        image.layers
    );
    l.set_fault(FaultKind::Image { message }, d, lane as u32);
}

fn read<const TYPE: u8, const N: usize>(l: &mut Lanes<N>, d: &Decoded<N>) {
    let mask = l.active(d);
    let result = match Type::from_repr(TYPE) {
        Some(Type::S32) => Result4::Signed,
        Some(Type::U32) => Result4::Unsigned,
        _ => Result4::Float,
    };
    let (integer, bare) = (d.imm & 0x200 != 0, d.imm & 0x400 != 0);
    // With caches, or for those who keep them warm: which texels are needed does not depend on what they hold, so a first
    // pass collects them for one access.
    let mut fetched: FxHashMap<u64, [u8; 16]> = FxHashMap::default();
    if l.hierarchy.is_some() || l.touches.is_some() {
        let wanted = std::cell::RefCell::new(std::collections::BTreeSet::new());
        let mut bytes = 1;
        for lane in (0..N).filter(|i| mask >> i & 1 == 1) {
            let Some(descriptor) = l.descriptors.get((d.imm & 0xff) as usize) else { return };
            let Some(image) = descriptor.image else { continue };
            bytes = image.format.bytes();
            let note = |offset: u64| {
                wanted.borrow_mut().insert(descriptor.start + offset);
                [0; 4]
            };
            let c = coordinates(l, d.src[1], lane);
            let sampler = Sampler(l.row(d.src[0])[lane]);
            if bare {
                image.place(c).map(|(at, layer)| note(image.offset(at, layer)));
            } else if sampler.is_valid() {
                sample(&image, sampler, c, integer, note);
            }
        }
        let wanted: Vec<u64> = wanted.into_inner().into_iter().collect();
        if let Some(touches) = l.touches {
            for part in wanted.chunks(64) {
                touches.borrow_mut().access(part, u64::MAX >> (64 - part.len()), bytes as u32, (false, false));
            }
        }
        if l.hierarchy.is_some() {
            let texels = cached::texels(l, &wanted, bytes);
            fetched = wanted.into_iter().zip(texels).collect();
        }
    }
    for lane in (0..N).filter(|i| mask >> i & 1 == 1) {
        let Some((start, image)) = image(l, d, lane as u32) else { return };
        if !image.format.reads_as(result) {
            let message = format!("a read as {result:?} of an image of format {}_{}", image.format.order, image.format.ty);
            l.set_fault(FaultKind::Image { message }, d, lane as u32);
            return;
        }
        let c = coordinates(l, d.src[1], lane);
        let memory = l.memory;
        let fetch = |offset: u64| -> [u32; 4] {
            if let Some(texel) = fetched.get(&(start + offset)) {
                return image.format.decode(&texel[..image.format.bytes()]);
            }
            // SAFETY: `offset` is of a texel inside the image, whose buffer the runtime checked to be large enough.
            let texel = unsafe { std::slice::from_raw_parts(memory.host(start + offset), image.format.bytes()) };
            image.format.decode(texel)
        };
        let texel = if bare {
            match image.place(c) {
                Some((at, layer)) => fetch(image.offset(at, layer)),
                None => return outside(l, d, "a read", &image, c, lane),
            }
        } else {
            let sampler = Sampler(l.row(d.src[0])[lane]);
            if !sampler.is_valid() {
                let message = format!("{:#x} is no sampler", sampler.0);
                l.set_fault(FaultKind::Image { message }, d, lane as u32);
                return;
            }
            sample(&image, sampler, c, integer, fetch)
        };
        for (k, v) in texel.into_iter().enumerate() {
            l.row_mut(d.dst + k as u16)[lane] = v;
        }
    }
}

fn write<const TYPE: u8, const N: usize>(l: &mut Lanes<N>, d: &Decoded<N>) {
    let mask = l.active(d);
    if let Some(watch) = l.watch.as_mut().filter(|_| mask != 0) {
        watch.changes += 1;
    }
    let (mut addresses, mut data, mut size) = ([0; N], [[0; 16]; N], 1);
    for lane in (0..N).filter(|i| mask >> i & 1 == 1) {
        let Some((start, image)) = image(l, d, lane as u32) else { return };
        let c = coordinates(l, d.src[0], lane);
        let Some((at, layer)) = image.place(c) else { return outside(l, d, "a write", &image, c, lane) };
        let offset = image.offset(at, layer);
        let (bytes, n) = image.format.encode(coordinates(l, d.src[1], lane));
        (addresses[lane], size) = (start + offset, n);
        if l.hierarchy.is_some() {
            data[lane][..n].copy_from_slice(&bytes[..n]);
        } else {
            // SAFETY: as in `read`; no Rust reference to this memory exists.
            unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), l.memory.host(start + offset), n) };
        }
    }
    if let Some(touches) = l.touches.filter(|_| mask != 0) {
        touches.borrow_mut().access(&addresses, mask, size as u32, (true, false));
    }
    if mask != 0 {
        cached::write_texels(l, &addresses, mask, &data, size);
    }
}

pub(super) fn select_read<const N: usize>(inst: &Inst) -> Option<Execute<N>> {
    Some(match inst.ty {
        Type::S32 => read::<{ Type::S32 as u8 }, N>,
        Type::U32 => read::<{ Type::U32 as u8 }, N>,
        Type::F32 => read::<{ Type::F32 as u8 }, N>,
        _ => return None,
    })
}

pub(super) fn select_write<const N: usize>(inst: &Inst) -> Option<Execute<N>> {
    Some(match inst.ty {
        Type::S32 => write::<{ Type::S32 as u8 }, N>,
        Type::U32 => write::<{ Type::U32 as u8 }, N>,
        Type::F32 => write::<{ Type::F32 as u8 }, N>,
        _ => return None,
    })
}
