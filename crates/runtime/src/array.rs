//! Typed arrays: numpy's element types, `.npy` files, comparison.

use std::fs::File;
use std::io::{BufReader, BufWriter, Read, Seek};
use std::path::Path;

use half::f16;
use npyz::WriterBuilder;

/// An element type, by numpy's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::Display, strum::EnumString, strum::EnumIter)]
#[strum(serialize_all = "lowercase")]
#[allow(missing_docs)]
pub enum DType {
    Bool,
    Int8,
    UInt8,
    Int16,
    UInt16,
    Int32,
    UInt32,
    Int64,
    UInt64,
    Float16,
    Float32,
    Float64,
}

impl DType {
    /// Bytes an element.
    pub fn bytes(self) -> usize {
        match self {
            DType::Bool | DType::Int8 | DType::UInt8 => 1,
            DType::Int16 | DType::UInt16 | DType::Float16 => 2,
            DType::Int32 | DType::UInt32 | DType::Float32 => 4,
            DType::Int64 | DType::UInt64 | DType::Float64 => 8,
        }
    }

    /// Whether it is a float.
    pub fn is_float(self) -> bool {
        matches!(self, DType::Float16 | DType::Float32 | DType::Float64)
    }

    /// The lowest and the highest number of the type (64-bit ones rounded; a bool takes any).
    pub fn limits(self) -> (f64, f64) {
        let bits = 8 * self.bytes() as i32;
        match self {
            DType::Bool | DType::Float64 => (f64::MIN, f64::MAX),
            DType::Float32 => (f64::from(f32::MIN), f64::from(f32::MAX)),
            DType::Float16 => (f16::MIN.to_f64(), f16::MAX.to_f64()),
            DType::Int8 | DType::Int16 | DType::Int32 | DType::Int64 => (-2f64.powi(bits - 1), 2f64.powi(bits - 1) - 1.0),
            DType::UInt8 | DType::UInt16 | DType::UInt32 | DType::UInt64 => (0.0, 2f64.powi(bits) - 1.0),
        }
    }

    /// numpy's type string, little-endian.
    fn descriptor(self) -> &'static str {
        match self {
            DType::Bool => "|b1",
            DType::Int8 => "|i1",
            DType::UInt8 => "|u1",
            DType::Int16 => "<i2",
            DType::UInt16 => "<u2",
            DType::Int32 => "<i4",
            DType::UInt32 => "<u4",
            DType::Int64 => "<i8",
            DType::UInt64 => "<u8",
            DType::Float16 => "<f2",
            DType::Float32 => "<f4",
            DType::Float64 => "<f8",
        }
    }

    fn from_descriptor(text: &str) -> Option<DType> {
        use strum::IntoEnumIterator;
        DType::iter().find(|d| d.descriptor()[1..] == *text.get(1..).unwrap_or_default())
    }

    /// An element as a number, exactly for floats and integers of up to 53 bits.
    pub fn value(self, bytes: &[u8]) -> f64 {
        macro_rules! read {
            ($t:ty) => {{
                let mut b = [0; size_of::<$t>()];
                b.copy_from_slice(&bytes[..size_of::<$t>()]);
                <$t>::from_le_bytes(b)
            }};
        }
        match self {
            DType::Bool | DType::UInt8 => f64::from(bytes[0]),
            DType::Int8 => f64::from(bytes[0] as i8),
            DType::Int16 => f64::from(read!(i16)),
            DType::UInt16 => f64::from(read!(u16)),
            DType::Int32 => f64::from(read!(i32)),
            DType::UInt32 => f64::from(read!(u32)),
            DType::Int64 => read!(i64) as f64,
            DType::UInt64 => read!(u64) as f64,
            DType::Float16 => f16::from_bits(read!(u16)).to_f64(),
            DType::Float32 => f64::from(read!(f32)),
            DType::Float64 => read!(f64),
        }
    }

    /// An element of an integer type, exact; `None` for floats.
    pub fn integer(self, bytes: &[u8]) -> Option<i128> {
        match self {
            DType::Int64 => bytes.try_into().ok().map(|b| i64::from_le_bytes(b).into()),
            DType::UInt64 => bytes.try_into().ok().map(|b| u64::from_le_bytes(b).into()),
            _ if self.is_float() => None,
            _ => Some(self.value(bytes) as i128),
        }
    }

    /// An element as text, exact.
    pub fn show(self, bytes: &[u8]) -> String {
        self.integer(bytes).map_or_else(|| self.value(bytes).to_string(), |i| i.to_string())
    }

    /// A number as an element: integers wrap like a C cast from 64 bits.
    pub fn encode(self, value: Number) -> Vec<u8> {
        let mut element = vec![0; self.bytes()];
        self.encode_to(value, &mut element);
        element
    }

    /// Makes an element of a number, as [`Self::encode`] does, in place.
    ///
    /// # Panics
    /// If the place has not as many bytes as an element.
    #[inline]
    pub fn encode_to(self, value: Number, element: &mut [u8]) {
        let float = || match value {
            Number::Integer(i) => i as f64,
            Number::Float(f) => f,
        };
        match self {
            DType::Float16 => {
                element.copy_from_slice(&f16::from_bits(heddle_isa::semantics::to_half(float()) as u16).to_le_bytes());
            }
            DType::Float32 => element.copy_from_slice(&(float() as f32).to_le_bytes()),
            DType::Float64 => element.copy_from_slice(&float().to_le_bytes()),
            DType::Bool => element.copy_from_slice(&[u8::from(float() != 0.0)]),
            _ => {
                let integer = match value {
                    Number::Integer(i) => i,
                    Number::Float(f) => f as i128,
                };
                element.copy_from_slice(&integer.to_le_bytes()[..self.bytes()]);
            }
        }
    }
}

/// A number of a case file.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Number {
    /// Without a fraction.
    Integer(i128),
    /// With one.
    Float(f64),
}

/// An array in C order.
#[derive(Clone, Debug, PartialEq)]
pub struct Array {
    /// Element type.
    pub dtype: DType,
    /// Shape.
    pub shape: Vec<u64>,
    /// Elements, little-endian.
    pub data: Vec<u8>,
}

impl Array {
    /// Zeros.
    pub fn zeros(dtype: DType, shape: Vec<u64>) -> Self {
        let n: u64 = shape.iter().product();
        Array { dtype, shape, data: vec![0; n as usize * dtype.bytes()] }
    }

    /// Elements.
    pub fn len(&self) -> usize {
        self.data.len() / self.dtype.bytes()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.data.is_empty()
    }

    /// Reads a `.npy` file.
    ///
    /// # Errors
    /// A sentence with the file's name.
    pub fn read(path: &Path) -> Result<Array, String> {
        let name = path.display();
        let mut file = File::open(path).map_err(|e| format!("{name}: cannot read the .npy file: {e}"))?;
        let data_bytes = data_bytes(&mut file).map_err(|m| format!("{name}: {m}"))?;
        let npy = npyz::NpyFile::new(BufReader::new(file)).map_err(|e| format!("{name}: not a .npy file: {e}"))?;
        let npyz::DType::Plain(descriptor) = npy.dtype() else {
            return Err(format!("{name}: structured arrays are not supported"));
        };
        let text = descriptor.to_string();
        let dtype = DType::from_descriptor(text.trim_matches('\''))
            .ok_or_else(|| format!("{name}: element type {text} is not supported"))?;
        let shape = npy.shape().to_vec();
        let order = npy.order();
        let needed = shape.iter().try_fold(dtype.bytes() as u64, |a, n| a.checked_mul(*n));
        if needed != Some(data_bytes) {
            let needed = needed.map_or("too many".to_string(), |n| n.to_string());
            return Err(format!(
                "{name}: shape {} of {dtype} needs {needed} bytes, the file has {data_bytes}",
                shape_text(&shape)
            ));
        }
        macro_rules! bytes {
            ($t:ty) => {{
                let values = npy.into_vec::<$t>().map_err(|e| format!("{name}: {e}"))?;
                values.iter().flat_map(|v| v.to_le_bytes()).collect::<Vec<u8>>()
            }};
        }
        let data = match dtype {
            DType::Bool => npy.into_vec::<bool>().map_err(|e| format!("{name}: {e}"))?.into_iter().map(u8::from).collect(),
            DType::Int8 => bytes!(i8),
            DType::UInt8 => bytes!(u8),
            DType::Int16 => bytes!(i16),
            DType::UInt16 => bytes!(u16),
            DType::Int32 => bytes!(i32),
            DType::UInt32 => bytes!(u32),
            DType::Int64 => bytes!(i64),
            DType::UInt64 => bytes!(u64),
            DType::Float32 => bytes!(f32),
            DType::Float64 => bytes!(f64),
            DType::Float16 => bytes!(f16),
        };
        let array = Array { dtype, shape, data };
        Ok(if order == npyz::Order::Fortran { array.to_c_order() } else { array })
    }

    /// From Fortran to C order.
    fn to_c_order(&self) -> Array {
        let size = self.dtype.bytes();
        let mut data = Vec::with_capacity(self.data.len());
        let mut index = vec![0u64; self.shape.len()];
        for _ in 0..self.len() {
            let mut at = 0;
            let mut stride = 1;
            for (i, n) in index.iter().zip(&self.shape) {
                at += i * stride;
                stride *= n;
            }
            data.extend(&self.data[at as usize * size..(at as usize + 1) * size]);
            for d in (0..index.len()).rev() {
                index[d] += 1;
                if index[d] < self.shape[d] {
                    break;
                }
                index[d] = 0;
            }
        }
        Array { data, ..self.clone() }
    }

    /// Writes a `.npy` file.
    ///
    /// # Errors
    /// A sentence with the file's name.
    pub fn write(&self, path: &Path) -> Result<(), String> {
        let fail = |e: std::io::Error| format!("cannot write {}: {e}", path.display());
        let file = BufWriter::new(File::create(path).map_err(fail)?);
        macro_rules! save {
            ($t:ty) => {{
                let mut writer =
                    npyz::WriteOptions::new().default_dtype().shape(&self.shape).writer(file).begin_nd().map_err(fail)?;
                for chunk in self.data.chunks_exact(size_of::<$t>()) {
                    let mut b = [0; size_of::<$t>()];
                    b.copy_from_slice(chunk);
                    writer.push(&<$t>::from_le_bytes(b)).map_err(fail)?;
                }
                writer.finish().map_err(fail)
            }};
        }
        match self.dtype {
            DType::Bool => {
                let mut writer =
                    npyz::WriteOptions::new().default_dtype().shape(&self.shape).writer(file).begin_nd().map_err(fail)?;
                for b in &self.data {
                    writer.push(&(*b != 0)).map_err(fail)?;
                }
                writer.finish().map_err(fail)
            }
            DType::Int8 => save!(i8),
            DType::UInt8 => save!(u8),
            DType::Int16 => save!(i16),
            DType::UInt16 => save!(u16),
            DType::Int32 => save!(i32),
            DType::UInt32 => save!(u32),
            DType::Int64 => save!(i64),
            DType::UInt64 => save!(u64),
            DType::Float32 => save!(f32),
            DType::Float64 => save!(f64),
            DType::Float16 => save!(f16),
        }
    }

    /// Compares with expected values as numpy's `allclose` does: |a - b| <= atol + rtol * |b|, NaN equals
    /// NaN; integers exactly unless a tolerance is given.
    ///
    /// # Errors
    /// The first mismatches with both values.
    pub fn compare(&self, expected: &Array, rtol: f64, atol: f64) -> Result<(), String> {
        if self.dtype != expected.dtype || self.len() != expected.len() {
            return Err(format!(
                "the buffer has {} elements of {}, the expected array {} of {}",
                self.len(),
                self.dtype,
                expected.len(),
                expected.dtype
            ));
        }
        if self.shape != expected.shape {
            let (shape, wanted) = (shape_text(&self.shape), shape_text(&expected.shape));
            return Err(format!("the buffer has shape {shape}, the expected array {wanted}"));
        }
        let size = self.dtype.bytes();
        let mut bad = Vec::new();
        let mut count = 0usize;
        let mut worst = 0f64;
        let mut no_numbers = 0usize;
        for (i, (a, b)) in self.data.chunks_exact(size).zip(expected.data.chunks_exact(size)).enumerate() {
            if a == b {
                continue;
            }
            let (x, y) = (self.dtype.value(a), self.dtype.value(b));
            let exact = rtol == 0.0 && atol == 0.0;
            // The difference of integers is exact; as floats, large neighbours would be equal.
            let difference = match (self.dtype.integer(a), self.dtype.integer(b)) {
                (Some(i), Some(j)) => (i - j).unsigned_abs() as f64,
                _ => (x - y).abs(),
            };
            let close = if self.dtype.is_float() {
                (x.is_nan() && y.is_nan()) || x == y || (!exact && y.is_finite() && difference <= atol + rtol * y.abs())
            } else {
                !exact && difference <= atol + rtol * y.abs()
            };
            if !close {
                count += 1;
                // Of a NaN and a number.
                no_numbers += usize::from(difference.is_nan());
                worst = worst.max(difference);
                if bad.len() < 5 {
                    bad.push(format!(
                        "  [{}]: {} instead of {}",
                        index_text(i, &expected.shape),
                        self.dtype.show(a),
                        expected.dtype.show(b)
                    ));
                }
            }
        }
        if count == 0 {
            return Ok(());
        }
        let largest = match no_numbers {
            0 => format!("largest difference {worst}"),
            n if n == count => "NaN against a number".into(),
            n => format!("largest difference {worst}, and {n} times NaN against a number"),
        };
        Err(format!(
            "{count} of {} elements differ (rtol {rtol}, atol {atol}; {largest}), the first:\n{}",
            self.len(),
            bad.join("\n")
        ))
    }
}

/// Bytes behind the header of a `.npy` file; the file is at its start again. A file of another kind has none.
fn data_bytes(file: &mut File) -> Result<u64, String> {
    let io = |e: std::io::Error| e.to_string();
    let length = file.metadata().map_err(io)?.len();
    let mut start = Vec::new();
    Read::by_ref(file).take(12).read_to_end(&mut start).map_err(io)?;
    file.rewind().map_err(io)?;
    const MAGIC: &[u8] = b"\x93NUMPY";
    let header = match start[..] {
        [_, _, _, _, _, _, 1, _, a, b, ..] => Some(10 + u64::from(u16::from_le_bytes([a, b]))),
        [_, _, _, _, _, _, _, _, a, b, c, d] => Some(12 + u64::from(u32::from_le_bytes([a, b, c, d]))),
        _ => None,
    };
    if start.is_empty() {
        return Err("not a .npy file: it is empty".into());
    }
    if !start.iter().zip(MAGIC).all(|(a, b)| a == b) {
        return Ok(0);
    }
    header.and_then(|h| length.checked_sub(h)).ok_or_else(|| "not a .npy file: the header is cut short".into())
}

/// A shape as numpy's documentation writes it: `(2, 3)`.
fn shape_text(shape: &[u64]) -> String {
    let sizes: Vec<String> = shape.iter().map(ToString::to_string).collect();
    format!("({})", sizes.join(", "))
}

/// The index of a flat position.
fn index_text(flat: usize, shape: &[u64]) -> String {
    let mut rest = flat as u64;
    let mut index: Vec<String> = Vec::new();
    for n in shape.iter().rev() {
        index.push((rest % (*n).max(1)).to_string());
        rest /= (*n).max(1);
    }
    index.reverse();
    index.join(", ")
}
