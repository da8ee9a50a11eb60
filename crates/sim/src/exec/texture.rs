//! Image reads and writes: lane after lane, through [`crate::image`].
//!
//! Which texels a read needs does not depend on what they hold. So with caches, or for those who keep them warm, a first pass
//! over the lanes collects their addresses for one access. What lanes get of them is worked out when all have come, from
//! the samplers and coordinates that the registers held at the beginning.

use std::cell::RefCell;

use super::{Decoded, Execute, Lanes, Late, cached};
use crate::fault::FaultKind;
use crate::hierarchy::deferred::LoadBox;
use crate::hierarchy::line::{LaneWords, bytes_of_lane};
use crate::image::{Image, Result4, Sampler, sample};
use heddle_isa::{ImageAccess, Inst, Type};

/// Texels of an access at most.
pub(super) const TEXELS_AT_ONCE: usize = 64;

/// A read of an image, which may wait for texels.
pub struct TexelRead<const N: usize> {
    /// The image, and where it is.
    image: Image,
    start: u64,
    /// The lanes that read, by lane their samplers and coordinates.
    mask: u64,
    samplers: [u32; N],
    coordinates: [[u32; 4]; N],
    /// Device addresses of the texels, in ascending order, and what these hold, as far as it is known.
    pub(super) addresses: Vec<u64>,
    /// Which of them the lanes use, one after the other.
    uses: Vec<u16>,
    pub(super) texels: Vec<[u8; 16]>,
    /// Accesses that wait for some of them, by their numbers, until somebody waits in turn for the loads.
    pub(super) parts: Vec<(usize, LoadBox)>,
    /// Accesses that have not come.
    waiting: usize,
    /// Cycle at which all texels are there, as far as is known.
    pub ready: u64,
    /// Sectors that L2 had to fetch for those that have come.
    pub far: u32,
}

impl<const N: usize> TexelRead<N> {
    /// The loads that wait, for whoever waits for them.
    pub fn take_parts(&mut self) -> impl Iterator<Item = LoadBox> + use<N> {
        let parts = std::mem::take(&mut self.parts);
        self.waiting = parts.len();
        parts.into_iter().map(|(number, mut load)| {
            load.number = number as u32;
            load
        })
    }

    /// One of the loads has its bytes. Whether it was the last one.
    pub fn arrive(&mut self, number: usize, words: &LaneWords, ready: u64, far: u32) -> bool {
        let texels = self.texels.iter_mut().skip(number * TEXELS_AT_ONCE).take(TEXELS_AT_ONCE);
        texels.enumerate().for_each(|(lane, texel)| *texel = bytes_of_lane(words, lane));
        self.ready = self.ready.max(ready);
        self.far += far;
        self.waiting = self.waiting.saturating_sub(1);
        self.waiting == 0
    }

    /// Notes where the texels are that the lanes use one after the other.
    fn note(&mut self, wanted: &[u64]) {
        let mut sorted: Vec<(u64, u16)> = wanted.iter().copied().zip(0..).collect();
        sorted.sort_unstable();
        self.uses.resize(wanted.len(), 0);
        for (address, place) in sorted {
            if self.addresses.last() != Some(&address) {
                self.addresses.push(address);
            }
            self.uses[usize::from(place)] = self.addresses.len() as u16 - 1;
        }
    }

    /// Gives the lanes what they have read, where `fetch` gives the texel at an offset in the image. It is called in an order
    /// that depends on nothing but the samplers and coordinates.
    fn give(&self, l: &mut Lanes<N>, d: &Decoded<N>, fetch: impl Fn(u64) -> [u32; 4]) {
        let access = access(d);
        for lane in (0..N).filter(|i| self.mask >> i & 1 == 1) {
            let (sampler, c) = (Sampler(self.samplers[lane]), self.coordinates[lane]);
            let texel = match access.bare.then(|| self.image.place(c)).flatten() {
                Some((at, layer)) => fetch(self.image.offset(at, layer)),
                None => sample(&self.image, sampler, c, access.integer, &fetch),
            };
            let channels = (0..4).filter(|channel| access.channels >> channel & 1 == 1);
            for (word, channel) in (0..).zip(channels) {
                l.row_mut(d.dst + word)[lane] = texel[channel];
            }
        }
    }

    /// Gives the lanes what they have read, when all texels have come.
    pub fn finish(&self, l: &mut Lanes<N>, d: &Decoded<N>) {
        let bytes = self.image.format.bytes();
        let decoded: Vec<[u32; 4]> = self.texels.iter().map(|texel| self.image.format.decode(&texel[..bytes])).collect();
        let uses = RefCell::new(self.uses.iter());
        self.give(l, d, |_| uses.borrow_mut().next().map_or([0; 4], |at| decoded[usize::from(*at)]));
    }
}

/// What an instruction does. The loader refuses immediates that say nothing.
fn access<const N: usize>(d: &Decoded<N>) -> ImageAccess {
    let all = ImageAccess { surface: 0, integer: false, bare: false, coordinates: 4, channels: 0xf };
    ImageAccess::from_immediate(d.imm).unwrap_or(all)
}

/// The image of an instruction: device address and shape; or a fault.
fn image<const N: usize>(l: &mut Lanes<N>, d: &Decoded<N>, lane: u32) -> Option<(u64, Image)> {
    let descriptor = l.descriptors.get(usize::from(access(d).surface))?;
    match descriptor.image {
        Some(image) => Some((descriptor.start, image)),
        None => {
            let message = format!("surface `{}` is no image", descriptor.name);
            l.set_fault(FaultKind::Image { message }, d, lane);
            None
        }
    }
}

/// What a lane has in consecutive registers, and zeros behind them.
fn words<const N: usize>(l: &Lanes<N>, row: u16, count: u8, lane: usize) -> [u32; 4] {
    std::array::from_fn(|k| if k < usize::from(count) { l.row(row + k as u16)[lane] } else { 0 })
}

#[cold]
fn outside<const N: usize>(l: &mut Lanes<N>, d: &Decoded<N>, what: &str, image: &Image, c: [u32; 4], lane: usize) {
    let name = l.descriptors.get(usize::from(access(d).surface)).map_or("", |s| s.name.as_str());
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

/// The read of an instruction whose lanes all read what they may, or a fault.
fn begin<const N: usize>(l: &mut Lanes<N>, d: &Decoded<N>, result: Result4) -> Option<Box<TexelRead<N>>> {
    let mask = l.active(d);
    let first = (mask != 0).then(|| mask.trailing_zeros())?;
    let (start, image) = image(l, d, first)?;
    if !image.format.reads_as(result) {
        let message = format!("a read as {result:?} of an image of format {}_{}", image.format.order, image.format.ty);
        l.set_fault(FaultKind::Image { message }, d, first);
        return None;
    }
    let ImageAccess { bare, coordinates: given, .. } = access(d);
    let mut read = Box::new(TexelRead {
        image,
        start,
        mask,
        samplers: if bare { [0; N] } else { *l.row(d.src[0]) },
        coordinates: [[0; 4]; N],
        addresses: Vec::new(),
        uses: Vec::new(),
        texels: Vec::new(),
        parts: Vec::new(),
        waiting: 0,
        ready: 0,
        far: 0,
    });
    for lane in (0..N).filter(|i| mask >> i & 1 == 1) {
        let (c, sampler) = (words(l, d.src[1], given, lane), Sampler(read.samplers[lane]));
        if bare && image.place(c).is_none() {
            outside(l, d, "a read", &image, c, lane);
            return None;
        }
        if !bare && !sampler.is_valid() {
            let message = format!("{:#x} is no sampler", sampler.0);
            l.set_fault(FaultKind::Image { message }, d, lane as u32);
            return None;
        }
        read.coordinates[lane] = c;
    }
    Some(read)
}

fn read<const TYPE: u8, const N: usize>(l: &mut Lanes<N>, d: &Decoded<N>) {
    let result = match Type::from_repr(TYPE) {
        Some(Type::S32) => Result4::Signed,
        Some(Type::U32) => Result4::Unsigned,
        _ => Result4::Float,
    };
    let Some(mut read) = begin(l, d, result) else { return };
    let (start, format) = (read.start, read.image.format);
    if l.hierarchy.is_some() || l.touches.is_some() {
        let wanted = RefCell::new(Vec::new());
        read.give(l, d, |offset| {
            wanted.borrow_mut().push(start + offset);
            [0; 4]
        });
        read.note(&wanted.into_inner());
    }
    if let Some(touches) = l.touches {
        for part in read.addresses.chunks(64) {
            touches.borrow_mut().access(part, u64::MAX >> (64 - part.len()), format.bytes() as u32, (false, false));
        }
    }
    if l.hierarchy.is_some() {
        read.texels = vec![[0; 16]; read.addresses.len()];
        cached::texels(l, &mut read, format.bytes());
        if read.parts.is_empty() {
            read.finish(l, d);
        } else {
            l.late = Some(Late::Texels(read));
        }
        return;
    }
    let memory = l.memory;
    read.give(l, d, |offset| {
        // SAFETY: `offset` is of a texel inside the image, whose buffer the runtime checked to be large enough.
        let texel = unsafe { std::slice::from_raw_parts(memory.host(start + offset), format.bytes()) };
        format.decode(texel)
    });
}

fn write<const TYPE: u8, const N: usize>(l: &mut Lanes<N>, d: &Decoded<N>) {
    let mask = l.active(d);
    if let Some(watch) = l.watch.as_mut().filter(|_| mask != 0) {
        watch.changes += 1;
    }
    let given = access(d).coordinates;
    let (mut addresses, mut data, mut size) = ([0; N], [[0; 16]; N], 1);
    for lane in (0..N).filter(|i| mask >> i & 1 == 1) {
        let Some((start, image)) = image(l, d, lane as u32) else { return };
        let c = words(l, d.src[0], given, lane);
        let Some((at, layer)) = image.place(c) else { return outside(l, d, "a write", &image, c, lane) };
        let offset = image.offset(at, layer);
        let (bytes, n) = image.format.encode(words(l, d.src[1], 4, lane));
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
