//! How bytes of a lane are read: scalars and vectors of OpenCL C's types, in words.

use heddle_object::variables::Encoding;

/// A lane of a warp.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lane {
    /// Warp of the work-group.
    pub warp: u32,
    /// Lane of the warp.
    pub lane: u32,
}

/// Types of scalars in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Scalar {
    Boolean,
    Signed,
    Unsigned,
    Float,
}

/// How bytes are to be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    scalar: Scalar,
    /// Bytes of a component.
    bytes: usize,
    components: usize,
}

impl Layout {
    /// A word of 32 bits.
    pub const WORD: Layout = Layout { scalar: Scalar::Unsigned, bytes: 4, components: 1 };

    /// Of an OpenCL C type: `float4`, `uchar`, without qualifiers and stars.
    pub fn named(name: &str) -> Option<Layout> {
        let name = name.trim();
        let digits = name.trim_start_matches(|c: char| !c.is_ascii_digit());
        let base = &name[..name.len() - digits.len()];
        let components = if digits.is_empty() { 1 } else { digits.parse().ok().filter(|n| [2, 3, 4, 8, 16].contains(n))? };
        let (scalar, bytes) = match base {
            "char" => (Scalar::Signed, 1),
            "bool" => (Scalar::Boolean, 1),
            "uchar" | "unsigned char" => (Scalar::Unsigned, 1),
            "short" => (Scalar::Signed, 2),
            "ushort" | "unsigned short" => (Scalar::Unsigned, 2),
            "int" => (Scalar::Signed, 4),
            "uint" | "unsigned int" => (Scalar::Unsigned, 4),
            "long" => (Scalar::Signed, 8),
            "ulong" | "unsigned long" | "size_t" => (Scalar::Unsigned, 8),
            "half" => (Scalar::Float, 2),
            "float" => (Scalar::Float, 4),
            "double" => (Scalar::Float, 8),
            _ => return None,
        };
        Some(Layout { scalar, bytes, components })
    }

    /// Bytes from one element to the next: vectors of three have room for four.
    pub fn stride(self) -> usize {
        self.bytes * if self.components == 3 { 4 } else { self.components }
    }

    /// Of a number's bytes, or a vector's.
    pub fn of(encoding: Encoding, bytes: usize, components: usize) -> Option<Layout> {
        let scalar = match encoding {
            Encoding::Boolean => Scalar::Boolean,
            Encoding::Signed => Scalar::Signed,
            Encoding::Unsigned => Scalar::Unsigned,
            Encoding::Float => Scalar::Float,
        };
        ([1, 2, 4, 8].contains(&bytes) && components > 0).then_some(Layout { scalar, bytes, components })
    }

    /// Encoding, bytes of a component, and components.
    pub fn parts(self) -> (Encoding, usize, usize) {
        let encoding = match self.scalar {
            Scalar::Boolean => Encoding::Boolean,
            Scalar::Signed => Encoding::Signed,
            Scalar::Unsigned => Encoding::Unsigned,
            Scalar::Float => Encoding::Float,
        };
        (encoding, self.bytes, self.components)
    }

    /// A component in words.
    fn component(self, bytes: &[u8]) -> String {
        let raw = bytes.iter().take(self.bytes).rev().fold(0u64, |v, b| v << 8 | u64::from(*b));
        match (self.scalar, self.bytes) {
            (Scalar::Float, 2) => half::f16::from_bits(raw as u16).to_string(),
            (Scalar::Float, 4) => f32::from_bits(raw as u32).to_string(),
            (Scalar::Float, _) => f64::from_bits(raw).to_string(),
            (Scalar::Signed, n) => ((raw << (64 - 8 * n)) as i64 >> (64 - 8 * n)).to_string(),
            (Scalar::Boolean, _) => (raw & 1 == 1).to_string(),
            (Scalar::Unsigned, _) => raw.to_string(),
        }
    }

    /// An element in words: `1.5`, `(1, 2, 3)`.
    pub fn text(self, bytes: &[u8]) -> String {
        let all: Vec<String> = bytes.chunks(self.bytes).take(self.components).map(|b| self.component(b)).collect();
        if self.components == 1 { all.concat() } else { format!("({})", all.join(", ")) }
    }
}
