//! Images: texel formats, addressing and filtering (OpenCL C 3.0, section 8 "Image addressing and filtering",
//! and the conversion rules of 8.3).
//!
//! An image is a buffer of texels in rows, slices and layers without padding. Sampling follows the
//! specification's formulas in single precision, as hardware does with at least that; integer formats are
//! never filtered.

use serde::Deserialize;

/// Channels of a texel, in memory order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::EnumString, strum::Display)]
#[strum(serialize_all = "UPPERCASE")]
pub enum ChannelOrder {
    /// Red.
    R,
    /// Red, green.
    Rg,
    /// Red, green, blue, alpha.
    Rgba,
    /// Blue, green, red, alpha.
    Bgra,
}

/// Type of each channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::EnumString, strum::Display)]
#[strum(serialize_all = "UPPERCASE")]
#[allow(missing_docs)]
pub enum ChannelType {
    Snorm8,
    Snorm16,
    Unorm8,
    Unorm16,
    Int8,
    Int16,
    Int32,
    Uint8,
    Uint16,
    Uint32,
    Half,
    Float,
}

/// A texel format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Format {
    /// Channels.
    pub order: ChannelOrder,
    /// Type of each.
    pub ty: ChannelType,
}

impl std::str::FromStr for Format {
    type Err = String;
    /// `RGBA_UNORM8`, in either case.
    fn from_str(text: &str) -> Result<Self, String> {
        let upper = text.to_uppercase();
        let parts = upper.split_once('_').and_then(|(o, t)| Some(Format { order: o.parse().ok()?, ty: t.parse().ok()? }));
        parts.ok_or_else(|| {
            format!(
                "`{text}` is no image format: R, RG, RGBA or BGRA, `_`, and SNORM8, SNORM16, UNORM8, UNORM16, \
                 INT8 … INT32, UINT8 … UINT32, HALF or FLOAT"
            )
        })
    }
}

impl<'de> Deserialize<'de> for Format {
    fn deserialize<D: serde::Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        String::deserialize(d)?.parse().map_err(serde::de::Error::custom)
    }
}

impl Format {
    /// Channels of a texel.
    pub fn channels(self) -> usize {
        match self.order {
            ChannelOrder::R => 1,
            ChannelOrder::Rg => 2,
            _ => 4,
        }
    }

    fn channel_bytes(self) -> usize {
        use ChannelType::*;
        match self.ty {
            Snorm8 | Unorm8 | Int8 | Uint8 => 1,
            Snorm16 | Unorm16 | Int16 | Uint16 | Half => 2,
            Int32 | Uint32 | Float => 4,
        }
    }

    /// Bytes of a texel.
    pub fn bytes(self) -> usize {
        self.channels() * self.channel_bytes()
    }

    /// The value of OpenCL's `CLK_…` constant that `get_image_channel_order` returns.
    pub fn order_code(self) -> u32 {
        match self.order {
            ChannelOrder::R => 0x10b0,
            ChannelOrder::Rg => 0x10b2,
            ChannelOrder::Rgba => 0x10b5,
            ChannelOrder::Bgra => 0x10b6,
        }
    }

    /// The value of OpenCL's `CLK_…` constant that `get_image_channel_data_type` returns.
    pub fn type_code(self) -> u32 {
        use ChannelType::*;
        match self.ty {
            Snorm8 => 0x10d0,
            Snorm16 => 0x10d1,
            Unorm8 => 0x10d2,
            Unorm16 => 0x10d3,
            Int8 => 0x10d7,
            Int16 => 0x10d8,
            Int32 => 0x10d9,
            Uint8 => 0x10da,
            Uint16 => 0x10db,
            Uint32 => 0x10dc,
            Half => 0x10dd,
            Float => 0x10de,
        }
    }

    fn is_normalized_or_float(self) -> bool {
        use ChannelType::*;
        matches!(self.ty, Snorm8 | Snorm16 | Unorm8 | Unorm16 | Half | Float)
    }

    /// Whether `read_image…` of a result type may read it: floats and normalised formats as float, integers as themselves.
    pub fn reads_as(self, result: Result4) -> bool {
        use ChannelType::*;
        match result {
            Result4::Float => self.is_normalized_or_float(),
            Result4::Signed => matches!(self.ty, Int8 | Int16 | Int32),
            Result4::Unsigned => matches!(self.ty, Uint8 | Uint16 | Uint32),
        }
    }

    /// Places of red, green, blue, alpha among the channels in memory.
    fn places(self) -> [Option<usize>; 4] {
        match self.order {
            ChannelOrder::R => [Some(0), None, None, None],
            ChannelOrder::Rg => [Some(0), Some(1), None, None],
            ChannelOrder::Rgba => [Some(0), Some(1), Some(2), Some(3)],
            ChannelOrder::Bgra => [Some(2), Some(1), Some(0), Some(3)],
        }
    }

    /// A texel's red, green, blue, alpha as 32-bit patterns: floats, or integers extended.
    pub fn decode(self, texel: &[u8]) -> [u32; 4] {
        use ChannelType::*;
        let size = self.channel_bytes();
        let one = if self.is_normalized_or_float() { 1f32.to_bits() } else { 1 };
        let channel = |i: usize| -> u32 {
            let b = &texel[i * size..(i + 1) * size];
            let short = || u16::from_le_bytes([b[0], b[1]]);
            let word = || u32::from_le_bytes([b[0], b[1], b[2], b[3]]);
            match self.ty {
                Unorm8 => (f32::from(b[0]) / 255.0).to_bits(),
                Unorm16 => (f32::from(short()) / 65535.0).to_bits(),
                Snorm8 => (f32::from(b[0] as i8) / 127.0).max(-1.0).to_bits(),
                Snorm16 => (f32::from(short() as i16) / 32767.0).max(-1.0).to_bits(),
                Int8 => i32::from(b[0] as i8) as u32,
                Int16 => i32::from(short() as i16) as u32,
                Uint8 => u32::from(b[0]),
                Uint16 => u32::from(short()),
                Half => half::f16::from_bits(short()).to_f32().to_bits(),
                Int32 | Uint32 | Float => word(),
            }
        };
        let places = self.places();
        std::array::from_fn(|c| places[c].map_or(if c == 3 { one } else { 0 }, channel))
    }

    /// The bytes of a texel of red, green, blue, alpha as 32-bit patterns.
    pub fn encode(self, value: [u32; 4]) -> ([u8; 16], usize) {
        use ChannelType::*;
        let size = self.channel_bytes();
        let mut bytes = [0u8; 16];
        for (c, place) in self.places().into_iter().enumerate() {
            let Some(place) = place else { continue };
            let v = value[c];
            let f = f32::from_bits(v);
            // Scaled, rounded to even and clamped (8.3.1.1); NaN becomes 0.
            let scaled = |scale: f32, low: f32, high: f32| (f * scale).round_ties_even().clamp(low, high);
            let pattern: u32 = match self.ty {
                Unorm8 => scaled(255.0, 0.0, 255.0) as u32,
                Unorm16 => scaled(65535.0, 0.0, 65535.0) as u32,
                Snorm8 => scaled(127.0, -128.0, 127.0) as i32 as u32,
                Snorm16 => scaled(32767.0, -32768.0, 32767.0) as i32 as u32,
                Int8 => (v as i32).clamp(-128, 127) as u32,
                Int16 => (v as i32).clamp(-32768, 32767) as u32,
                Uint8 => v.min(255),
                Uint16 => v.min(65535),
                Half => u32::from(half::f16::from_f32(f).to_bits()),
                Int32 | Uint32 | Float => v,
            };
            bytes[place * size..(place + 1) * size].copy_from_slice(&pattern.to_le_bytes()[..size]);
        }
        (bytes, self.bytes())
    }
}

/// What a read returns four of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Result4 {
    /// `read_imagef`.
    Float,
    /// `read_imagei`.
    Signed,
    /// `read_imageui`.
    Unsigned,
}

/// An image's shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Image {
    /// Format.
    pub format: Format,
    /// Texels in x, y, z; 1 where the image has no such dimension.
    pub size: [u32; 3],
    /// Layers; 1 if it is no array.
    pub layers: u32,
    /// Dimensions: 1 to 3.
    pub dimensions: u32,
    /// An array of images.
    pub array: bool,
}

impl Image {
    /// Bytes of the whole image.
    pub fn bytes(&self) -> u64 {
        self.size.iter().chain([&self.layers]).map(|n| u64::from(*n)).product::<u64>() * self.format.bytes() as u64
    }

    /// Byte offset of a texel.
    pub fn offset(&self, at: [u32; 3], layer: u32) -> u64 {
        let [w, h, d] = self.size.map(u64::from);
        let [x, y, z] = at.map(u64::from);
        (((u64::from(layer) * d + z) * h + y) * w + x) * self.format.bytes() as u64
    }

    /// Integer coordinates of a sampler-less read or a write: texel and layer, if they are inside.
    pub fn place(&self, coordinates: [u32; 4]) -> Option<([u32; 3], u32)> {
        let n = self.dimensions as usize;
        let at: [u32; 3] = std::array::from_fn(|d| if d < n { coordinates[d] } else { 0 });
        let layer = if self.array { coordinates[n] } else { 0 };
        (at.iter().zip(self.size).all(|(a, s)| *a < s) && layer < self.layers).then_some((at, layer))
    }
}

/// A sampler, as clang's `CLK_…` bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sampler(pub u32);

impl Sampler {
    fn normalized(self) -> bool {
        self.0 & 1 == 1
    }
    fn linear(self) -> bool {
        self.0 & 0x30 == 0x20
    }
    fn address(self) -> u32 {
        self.0 & 0xe
    }
    /// Whether the bits are a sampler.
    pub fn is_valid(self) -> bool {
        self.0 & !0x3f == 0 && self.address() <= 8 && (self.normalized() || self.address() < 6)
    }
}

const CLAMP: u32 = 4;
const REPEAT: u32 = 6;
const MIRRORED: u32 = 8;

/// Reads an image through a sampler. `fetch` gives the texel at an offset. `coordinates` are 32-bit patterns
/// of floats or, with `integer`, of ints.
pub fn sample(
    image: &Image,
    sampler: Sampler,
    coordinates: [u32; 4],
    integer: bool,
    fetch: impl Fn(u64) -> [u32; 4],
) -> [u32; 4] {
    let n = image.dimensions as usize;
    let coordinate = |d: usize| if integer { coordinates[d] as i32 as f32 } else { f32::from_bits(coordinates[d]) };
    let layer = if image.array {
        let l = if integer { coordinates[n] as i32 as f32 } else { f32::from_bits(coordinates[n]) };
        l.round_ties_even().clamp(0.0, (image.layers - 1) as f32) as u32
    } else {
        0
    };
    let texel = |at: [i64; 3]| -> [u32; 4] {
        let inside = at.iter().zip(image.size).all(|(a, s)| (0..i64::from(s)).contains(a));
        if inside { fetch(image.offset(at.map(|a| a as u32), layer)) } else { border(image.format) }
    };
    let linear = sampler.linear() && image.format.is_normalized_or_float();
    // Each dimension: one texel, or two with the weight of the second.
    let axes: [([i64; 2], f32); 3] =
        std::array::from_fn(
            |d| {
                if d >= n { ([0, 0], 0.0) } else { axis(coordinate(d), image.size[d], sampler, linear, integer) }
            },
        );
    if !linear {
        return texel([axes[0].0[0], axes[1].0[0], axes[2].0[0]]);
    }
    let mut sum = [0f32; 4];
    for corner in 0..1usize << n {
        let mut weight = 1f32;
        let at: [i64; 3] = std::array::from_fn(|d| {
            let second = corner >> d & 1;
            if d < n {
                weight *= if second == 1 { axes[d].1 } else { 1.0 - axes[d].1 };
            }
            axes[d].0[second]
        });
        let t = texel(at);
        for (s, t) in sum.iter_mut().zip(t) {
            *s += weight * f32::from_bits(t);
        }
    }
    sum.map(f32::to_bits)
}

/// Transparent black, opaque for formats without alpha.
fn border(format: Format) -> [u32; 4] {
    let alpha = matches!(format.order, ChannelOrder::R | ChannelOrder::Rg);
    let one = if format.is_normalized_or_float() { 1f32.to_bits() } else { 1 };
    [0, 0, 0, if alpha { one } else { 0 }]
}

/// The texels of a coordinate in one dimension (8.2), and the weight of the second.
fn axis(s: f32, size: u32, sampler: Sampler, linear: bool, integer: bool) -> ([i64; 2], f32) {
    let w = size as f32;
    let last = i64::from(size) - 1;
    let u = if sampler.normalized() { s * w } else { s };
    match sampler.address() {
        REPEAT if sampler.normalized() => {
            let u = (s - s.floor()) * w;
            if !linear {
                let i = u.floor() as i64;
                return ([if i > last { i - i64::from(size) } else { i }; 2], 0.0);
            }
            let (i, f) = split(u - 0.5);
            let wrap = |i: i64| i.rem_euclid(i64::from(size));
            ([wrap(i), wrap(i + 1)], f)
        }
        MIRRORED if sampler.normalized() => {
            let mirrored = (s - 2.0 * (0.5 * s).round_ties_even()).abs();
            let u = mirrored * w;
            if !linear {
                return ([(u.floor() as i64).min(last); 2], 0.0);
            }
            let (i, f) = split(u - 0.5);
            ([i.max(0), (i + 1).min(last)], f)
        }
        mode => {
            let clamp = |i: i64| if mode == CLAMP { i.clamp(-1, last + 1) } else { i.clamp(0, last) };
            if !linear {
                // An integer coordinate names its texel.
                let i = if integer { u as i64 } else { u.floor() as i64 };
                return ([clamp(i); 2], 0.0);
            }
            let (i, f) = split(if integer { u } else { u - 0.5 });
            ([clamp(i), clamp(i + 1)], f)
        }
    }
}

/// Floor and fraction.
fn split(u: f32) -> (i64, f32) {
    let floor = u.floor();
    (floor as i64, u - floor)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_round_trip() {
        for order in ["R", "RG", "RGBA", "BGRA"] {
            for ty in
                ["UNORM8", "SNORM8", "UNORM16", "SNORM16", "INT8", "INT16", "INT32", "UINT8", "UINT16", "UINT32", "HALF", "FLOAT"]
            {
                let f: Format = format!("{order}_{ty}").parse().unwrap();
                let texel: Vec<u8> = (1..=16u8).map(|i| i * 3).take(f.bytes()).collect();
                let (bytes, n) = f.encode(f.decode(&texel));
                assert_eq!(bytes[..n], texel[..], "{order}_{ty}");
            }
        }
        assert!("RGB_FLOAT".parse::<Format>().is_err());
        let bgra: Format = "bgra_unorm8".parse().unwrap();
        assert_eq!(bgra.decode(&[0, 0, 255, 0])[0], 1f32.to_bits());
        let r: Format = "R_UINT8".parse().unwrap();
        assert_eq!(r.decode(&[7]), [7, 0, 0, 1]);
    }

    #[test]
    fn addressing_modes() {
        // The specification's formulas on a row of four texels 10, 11, 12, 13.
        let image = Image { format: "R_UINT32".parse().unwrap(), size: [4, 1, 1], layers: 1, dimensions: 1, array: false };
        let read =
            |bits: u32, s: f32| sample(&image, Sampler(bits), [s.to_bits(), 0, 0, 0], false, |o| [10 + o as u32 / 4, 0, 0, 1])[0];
        assert_eq!([-0.5, 0.0, 3.9, 4.0].map(|s| read(0x10 | 2, s)), [10, 10, 13, 13]);
        assert_eq!([-0.5, 0.0, 3.9, 4.0].map(|s| read(0x10 | 4, s)), [0, 10, 13, 0]);
        assert_eq!([-0.25, 0.0, 0.99, 1.0, 1.3].map(|s| read(0x11 | 6, s)), [13, 10, 13, 10, 11]);
        assert_eq!([-0.25, 0.0, 0.99, 1.0, 1.3].map(|s| read(0x11 | 8, s)), [11, 10, 13, 13, 12]);
    }

    #[test]
    fn linear_filtering() {
        let image = Image { format: "R_FLOAT".parse().unwrap(), size: [4, 2, 1], layers: 1, dimensions: 2, array: false };
        let read = |bits: u32, x: f32, y: f32| {
            let c = [x.to_bits(), y.to_bits(), 0, 0];
            f32::from_bits(sample(&image, Sampler(bits), c, false, |o| [(o as f32 / 4.0).to_bits(), 0, 0, 0])[0])
        };
        // Texel (x, y) holds 4y + x; between texels the value is linear.
        assert_eq!(read(0x20 | 2, 1.5, 0.5), 1.0);
        assert_eq!(read(0x20 | 2, 2.0, 1.0), 3.5);
        assert_eq!(read(0x20 | 2, -3.0, 0.5), 0.0);
        // Half of the border's 0.
        assert_eq!(read(0x20 | 4, 4.0, 0.5), 1.5);
    }
}
