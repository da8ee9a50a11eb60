//! Case files: which kernel to compile, its buffers, launches and expected results (DESIGN §8; the format is fixed).

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use base64::Engine;
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use super::array::{Array, DType, Number};
use heddle_sim::image::{Format, Image};

/// A case file.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Case {
    /// The source, relative to the case.
    pub source: String,
    /// Options for the compiler.
    #[serde(default)]
    pub options: Vec<String>,
    /// Buffers by name.
    #[serde(default, deserialize_with = "distinct")]
    pub buffers: BTreeMap<String, Buffer>,
    /// Values of `__constant__` and `__device__` variables of CUDA and HIP, by their names in the source; what a host would
    /// copy to them before the first launch.
    #[serde(default, deserialize_with = "distinct")]
    pub variables: BTreeMap<String, Buffer>,
    /// Launches, in order.
    pub launches: Vec<Launch>,
    /// The folder of the case.
    #[serde(skip)]
    pub folder: PathBuf,
}

/// A map that has each key once. (Of several equal keys serde would take the last.)
fn distinct<'de, D: Deserializer<'de>>(from: D) -> Result<BTreeMap<String, Buffer>, D::Error> {
    struct Distinct;
    impl<'de> Visitor<'de> for Distinct {
        type Value = BTreeMap<String, Buffer>;
        fn expecting(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
            f.write_str("an object of buffers")
        }
        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            let mut result = BTreeMap::new();
            while let Some((name, buffer)) = map.next_entry::<String, Buffer>()? {
                if result.contains_key(&name) {
                    return Err(serde::de::Error::custom(format!("`{name}` is there twice")));
                }
                result.insert(name, buffer);
            }
            Ok(result)
        }
    }
    from.deserialize_map(Distinct)
}

/// A buffer.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Buffer {
    /// Initial contents from a file.
    pub npy: Option<String>,
    /// Zeros of a shape.
    pub zeros: Option<Vec<u64>>,
    /// Random numbers of a shape.
    pub random: Option<Vec<u64>>,
    /// Element type of zeros and random numbers.
    pub dtype: Option<String>,
    /// Seed of random numbers.
    pub seed: Option<u64>,
    /// Lowest random number.
    pub low: Option<f64>,
    /// End of the random numbers (not included).
    pub high: Option<f64>,
    /// Expected contents.
    pub expect: Option<String>,
    /// Relative tolerance.
    pub rtol: Option<f64>,
    /// Absolute tolerance.
    pub atol: Option<f64>,
    /// Where to save the contents.
    pub save: Option<String>,
    /// The buffer's contents are an image's texels.
    pub image: Option<ImageSpec>,
    /// Where the buffer is; device memory if missing.
    #[serde(default)]
    pub memory: Placement,
}

/// Where a buffer is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Placement {
    /// Device memory.
    #[default]
    Device,
    /// The host's memory, behind its link.
    System,
}

/// The shape of an image: how many dimensions it has says the kernel's argument.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ImageSpec {
    /// Texels in a row.
    pub width: u32,
    /// Rows.
    #[serde(default = "one_texel")]
    pub height: u32,
    /// Slices.
    #[serde(default = "one_texel")]
    pub depth: u32,
    /// Layers of an array.
    #[serde(default = "one_texel")]
    pub layers: u32,
    /// Texel format, as `RGBA_UNORM8`.
    pub format: Format,
}

fn one_texel() -> u32 {
    1
}

impl ImageSpec {
    /// As the image that a kernel's argument type (`image2d_array_t`) makes of it.
    ///
    /// # Errors
    /// A sentence: the type has fewer dimensions than the shape.
    pub fn shape(&self, type_name: &str) -> Result<Image, String> {
        let dimensions = match type_name.strip_prefix("image").and_then(|t| t.get(..1)) {
            Some("1") => 1,
            Some("2") => 2,
            Some("3") => 3,
            _ => return Err(format!("`{type_name}` is no image type")),
        };
        let array = type_name.contains("array");
        let extra = [(2, "height", self.height), (3, "depth", self.depth)];
        if let Some((_, field, n)) = extra.iter().find(|(d, _, n)| *d > dimensions && *n != 1) {
            return Err(format!("`{type_name}` has {dimensions} dimensions, the buffer's image has {field} {n}"));
        }
        if !array && self.layers != 1 {
            return Err(format!("`{type_name}` is no array, the buffer's image has {} layers", self.layers));
        }
        if [self.width, self.height, self.depth, self.layers].contains(&0) {
            return Err("an image has at least one texel in each dimension".into());
        }
        Ok(Image { format: self.format, size: [self.width, self.height, self.depth], layers: self.layers, dimensions, array })
    }
}

/// A launch. Files may have the words of CUDA and HIP for its sizes, `grid`, `block` and `shared`.
#[derive(Clone, Debug, Deserialize)]
#[serde(try_from = "LaunchText")]
pub struct Launch {
    /// Kernel name.
    pub kernel: String,
    /// Global size.
    pub global: Vec<u64>,
    /// Work-group size; chosen by the runtime if missing.
    pub local: Option<Vec<u64>>,
    /// Global offset.
    pub offset: Option<Vec<u64>>,
    /// How often.
    pub repeat: u32,
    /// Arguments.
    pub args: Vec<BTreeMap<String, Value>>,
}

/// A launch as it stands in a file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LaunchText {
    kernel: String,
    global: Option<Vec<u64>>,
    local: Option<Vec<u64>>,
    /// Work-groups, in the place of `global`.
    grid: Option<Vec<u64>>,
    /// Work-items of a work-group, in the place of `local`.
    block: Option<Vec<u64>>,
    /// Bytes of work-group memory whose size the launch says: the last argument.
    shared: Option<u32>,
    offset: Option<Vec<u64>>,
    #[serde(default = "one")]
    repeat: u32,
    #[serde(default)]
    args: Vec<BTreeMap<String, Value>>,
}

impl TryFrom<LaunchText> for Launch {
    type Error = String;

    fn try_from(text: LaunchText) -> Result<Launch, String> {
        let LaunchText { kernel, global, local, grid, block, shared, offset, repeat, mut args } = text;
        let (global, local) = match (global, grid, block) {
            (Some(global), None, None) => (global, local),
            (None, Some(grid), Some(block)) if local.is_none() => of_grid(&grid, &block)?,
            (None, None, None) => return Err("missing field `global` (or `grid` and `block`)".into()),
            _ => return Err("sizes are either `global` and `local`, or `grid` and `block`".into()),
        };
        args.extend(shared.map(|bytes| BTreeMap::from([("local".to_string(), bytes.into())])));
        Ok(Launch { kernel, global, local, offset, repeat, args })
    }
}

/// Global and work-group size of a grid of blocks; the shorter list of the two goes on with ones.
fn of_grid(grid: &[u64], block: &[u64]) -> Result<(Vec<u64>, Option<Vec<u64>>), String> {
    let dimensions = grid.len().max(block.len());
    let size = |list: &[u64], d: usize| list.get(d).copied().unwrap_or(1);
    let total = |d| {
        let items = size(grid, d).checked_mul(size(block, d));
        items.ok_or_else(|| format!("grid[{d}] times block[{d}] reaches beyond 2^32 - 1"))
    };
    let global = (0..dimensions).map(total).collect::<Result<_, _>>()?;
    Ok((global, Some((0..dimensions).map(|d| size(block, d)).collect())))
}

fn one() -> u32 {
    1
}

/// A kernel argument's value.
#[derive(Clone, Debug, PartialEq)]
pub enum Argument {
    /// A pointer into a buffer of the case.
    Buffer {
        /// Its name.
        name: String,
        /// Bytes from its start.
        offset: u64,
    },
    /// A pointer to device memory, for callers that know addresses; 0 is the null pointer.
    Pointer {
        /// Device address.
        address: u64,
    },
    /// An image, for callers that know addresses.
    Image {
        /// Device address of the first texel.
        address: u64,
        /// Its shape.
        image: Image,
    },
    /// Bytes of work-group memory.
    Local(u32),
    /// A value passed as it is.
    Value {
        /// Its bytes.
        bytes: Vec<u8>,
        /// Whether its numbers are floating-point; `None` for bytes of any type.
        float: Option<bool>,
    },
}

/// The name of a case that was given in words.
pub const COMMAND_LINE: &str = "command line";

/// A case that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct CaseError(pub String);

impl Case {
    /// Reads a case file.
    ///
    /// # Errors
    /// What is wrong with it, with line and column.
    pub fn read(path: &Path) -> Result<Case, CaseError> {
        let name = path.display();
        let text = std::fs::read_to_string(path).map_err(|e| CaseError(format!("{name}: cannot read the case file: {e}")))?;
        let folder = path.parent().map(Path::to_path_buf).unwrap_or_default();
        Case::parse(&text, &name.to_string(), folder)
    }

    /// Parses and checks the text of a case. `name` stands in messages, paths are relative to `folder`.
    ///
    /// # Errors
    /// What is wrong, with the field's path, line and column.
    pub fn parse(text: &str, name: &str, folder: PathBuf) -> Result<Case, CaseError> {
        let mut reader = serde_json::Deserializer::from_str(text);
        // The user never sees the text that the words of the command line become.
        let file = name != COMMAND_LINE;
        if file && text.trim_start().starts_with(|c: char| c != '{') {
            return Err(CaseError(format!("{name}: a case is an object with source, buffers and launches")));
        }
        let located = |e: &serde_json::Error, path: &str| {
            let (line, column) = (e.line(), e.column());
            let suffix = format!(" at line {line} column {column}");
            let message = e.to_string();
            let message = message.strip_suffix(&suffix).unwrap_or(&message);
            // A structure's name in the program says nothing to the user.
            let before = message.split_once("expected struct ").map(|(before, _)| format!("{before}expected an object"));
            let message = before.as_deref().unwrap_or(message);
            let place = if file && line > 0 { format!("{name}:{line}:{}: ", column.max(1)) } else { format!("{name}: ") };
            // The path ends in `?` where the parser stopped before it had a field's name.
            let path = path.strip_suffix('?').unwrap_or(path).trim_end_matches('.');
            let path = if path.is_empty() { String::new() } else { format!("{path}: ") };
            CaseError(format!("{place}{path}{message}"))
        };
        let mut case: Case =
            serde_path_to_error::deserialize(&mut reader).map_err(|e| located(e.inner(), &e.path().to_string()))?;
        reader.end().map_err(|e| located(&e, ""))?;
        case.folder = folder;
        for (i, l) in case.launches.iter().enumerate() {
            l.validate(&case.buffers).map_err(|m| CaseError(format!("{name}: launches[{i}]: {m}")))?;
        }
        if case.launches.is_empty() {
            return Err(CaseError(format!("{name}: launches: there is none")));
        }
        for (b, buffer) in &case.buffers {
            buffer.validate().map_err(|m| CaseError(format!("{name}: buffers.{b}: {m}")))?;
        }
        for (v, value) in &case.variables {
            value.validate_value().map_err(|m| CaseError(format!("{name}: variables.{v}: {m}")))?;
        }
        Ok(case)
    }

    /// The source's path.
    pub fn source(&self) -> PathBuf {
        self.folder.join(&self.source)
    }
}

impl Buffer {
    fn validate(&self) -> Result<(), String> {
        let given = [self.npy.is_some(), self.zeros.is_some(), self.random.is_some()].iter().filter(|g| **g).count();
        if given != 1 {
            return Err("give exactly one of npy, zeros and random".into());
        }
        if self.npy.is_none() {
            self.element_type()?;
            let shape = self.zeros.as_ref().or(self.random.as_ref());
            let bytes = shape.map_or(Some(0), |s| s.iter().try_fold(8u64, |a, n| a.checked_mul(*n)));
            if bytes.is_none_or(|b| b > 1 << 36) {
                return Err(format!("the shape is too large: at most {} elements are possible", 1u64 << 33));
            }
        }
        for (field, value) in [("rtol", self.rtol), ("atol", self.atol)] {
            if value.is_some_and(|v| v < 0.0 || !v.is_finite()) {
                return Err(format!("{field} must be a number from 0"));
            }
        }
        if self.random.is_none() && (self.seed.is_some() || self.low.is_some() || self.high.is_some()) {
            return Err("seed, low and high go with random".into());
        }
        match (self.low, self.high) {
            (Some(low), Some(high)) if low >= high => return Err(format!("low {low} is not below high {high}")),
            (None, Some(high)) if high <= 0.0 => return Err(format!("high {high} is not above low 0")),
            _ => {}
        }
        if self.random.is_some() {
            let dtype = self.element_type()?;
            let (lowest, highest) = dtype.limits();
            // The end is not included.
            let end = if dtype.is_float() { highest } else { highest + 1.0 };
            if let Some(low) = self.low.filter(|low| *low < lowest || *low > highest) {
                return Err(format!("low {low} does not fit {dtype}"));
            }
            if let Some(high) = self.high.filter(|high| *high > end) {
                return Err(format!("high {high} does not fit {dtype}"));
            }
        }
        Ok(())
    }

    /// The same for the value of a variable, which is nothing but contents.
    fn validate_value(&self) -> Result<(), String> {
        self.validate()?;
        let more =
            self.expect.is_some() || self.save.is_some() || self.image.is_some() || self.rtol.is_some() || self.atol.is_some();
        match more || self.memory != Placement::Device {
            true => Err("a variable has npy, zeros or random, and no fields of buffers beside them".into()),
            false => Ok(()),
        }
    }

    /// Bytes of a buffer of zeros or random numbers; `None` for files.
    pub fn described_bytes(&self) -> Option<u64> {
        let size = self.element_type().ok()?.bytes() as u64;
        self.zeros.as_ref().or(self.random.as_ref())?.iter().try_fold(size, |a, n| a.checked_mul(*n))
    }

    fn element_type(&self) -> Result<DType, String> {
        let text = self.dtype.as_deref().unwrap_or("float32");
        text.parse()
            .map_err(|_| format!("dtype `{text}` is unknown; numpy's names: int8 … uint64, float16, float32, float64, bool"))
    }

    /// The initial contents.
    ///
    /// # Errors
    /// A sentence: unreadable file, unknown type.
    pub fn contents(&self, folder: &Path) -> Result<Array, String> {
        if let Some(npy) = &self.npy {
            let array = Array::read(&folder.join(npy))?;
            let wanted = self.dtype.as_ref().map(|_| self.element_type()).transpose()?;
            return match wanted.filter(|w| *w != array.dtype) {
                Some(wanted) => Err(format!("dtype {wanted}, but {npy} has {}", array.dtype)),
                None => Ok(array),
            };
        }
        let dtype = self.element_type()?;
        if let Some(shape) = &self.zeros {
            return Ok(Array::zeros(dtype, shape.clone()));
        }
        let mut array = Array::zeros(dtype, self.random.clone().unwrap_or_default());
        use rand::{Rng, SeedableRng};
        let mut random = rand_pcg::Pcg64Mcg::seed_from_u64(self.seed.unwrap_or(0));
        let low = self.low.unwrap_or(0.0);
        let span: f64 = if dtype.is_float() { 1.0 } else { 100.0 };
        let high = self.high.unwrap_or(span.max(low + 1.0));
        for chunk in array.data.chunks_exact_mut(dtype.bytes()) {
            let value = if dtype.is_float() {
                Number::Float(low + (high - low) * random.random::<f64>())
            } else {
                Number::Integer(i128::from(random.random_range(low as i64..(high as i64).max(low as i64 + 1))))
            };
            dtype.encode_to(value, chunk);
        }
        Ok(array)
    }
}

impl Case {
    /// Whether a launch has a global id, or a size, of 2³¹ or more, so that it is negative as an `int`.
    pub fn has_wide_ids(&self) -> bool {
        self.launches.iter().any(Launch::has_wide_ids)
    }
}

impl Launch {
    /// Whether some global id, or size, is 2³¹ or more, so that it is negative as an `int`.
    pub fn has_wide_ids(&self) -> bool {
        let first = |d: usize| self.offset.as_ref().and_then(|o| o.get(d)).map_or(0, |o| *o);
        self.global.iter().enumerate().any(|(d, n)| n.saturating_add(first(d)) >= 1 << 31)
    }

    /// Checks the sizes.
    ///
    /// # Errors
    /// A sentence naming the size that is not possible.
    pub fn validate_sizes(&self) -> Result<(), String> {
        let dims = self.global.len();
        if !(1..=3).contains(&dims) {
            return Err(format!("global has {dims} dimensions; 1 to 3 are possible"));
        }
        for (field, sizes) in [("local", &self.local), ("offset", &self.offset)] {
            if sizes.as_ref().is_some_and(|s| s.len() != dims) {
                return Err(format!("{field} has not as many dimensions as global ({dims})"));
            }
        }
        for (d, n) in self.global.iter().enumerate() {
            let end = n.checked_add(self.offset.as_ref().map_or(0, |o| o[d]));
            if end.is_none_or(|e| e > u64::from(u32::MAX)) {
                return Err(format!("global[{d}] and offset reach beyond 2^32 - 1"));
            }
        }
        if let Some(n) = self.local.iter().flatten().find(|n| **n == 0 || **n > 1 << 20) {
            return Err(format!("local size {n}: must be 1 or more, and no more than the machine's work-group size"));
        }
        if self.repeat == 0 {
            return Err("repeat: must be 1 or more".into());
        }
        Ok(())
    }

    fn validate(&self, buffers: &BTreeMap<String, Buffer>) -> Result<(), String> {
        self.validate_sizes()?;
        for (i, a) in self.arguments().map_err(|m| format!("args{m}"))?.iter().enumerate() {
            if let Argument::Buffer { name: b, .. } = a
                && !buffers.contains_key(b)
            {
                let known: Vec<&str> = buffers.keys().map(String::as_str).collect();
                let known = if known.is_empty() { "there is none".into() } else { format!("there are: {}", known.join(", ")) };
                return Err(format!("args[{i}]: no buffer `{b}`; {known}"));
            }
        }
        Ok(())
    }

    /// The arguments' values.
    ///
    /// # Errors
    /// `[i]: sentence`.
    pub fn arguments(&self) -> Result<Vec<Argument>, String> {
        self.args.iter().enumerate().map(|(i, a)| argument(a).map_err(|m| format!("[{i}]: {m}"))).collect()
    }
}

/// A sampler argument: `{"sampler": {"normalized": true, "address": "repeat", "filter": "linear"}}`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SamplerSpec {
    #[serde(default)]
    normalized: bool,
    #[serde(default)]
    address: Addressing,
    #[serde(default)]
    filter: Filter,
}

#[derive(Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Addressing {
    None = 0,
    #[default]
    ClampToEdge = 2,
    Clamp = 4,
    Repeat = 6,
    MirroredRepeat = 8,
}

#[derive(Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Filter {
    #[default]
    Nearest = 0x10,
    Linear = 0x20,
}

impl SamplerSpec {
    /// The bits of clang's `CLK_…` constants.
    fn bits(&self) -> u32 {
        u32::from(self.normalized) | self.address as u32 | self.filter as u32
    }
}

/// Parses `{"kind": value}`, or a buffer with an offset.
fn argument(map: &BTreeMap<String, Value>) -> Result<Argument, String> {
    if let (2, Some(name), Some(offset)) = (map.len(), map.get("buffer"), map.get("offset")) {
        let offset = offset.as_u64().ok_or_else(|| format!("offset takes a number of bytes, not {offset}"))?;
        let name = name.as_str().ok_or("buffer takes a name")?;
        return Ok(Argument::Buffer { name: name.into(), offset });
    }
    let mut entries = map.iter();
    let (Some((key, value)), None) = (entries.next(), entries.next()) else {
        return Err(
            "an argument has exactly one key: buffer, pointer, local, bytes, sampler, or a scalar type such as i32 or f32".into(),
        );
    };
    match key.as_str() {
        "buffer" => {
            let name = value.as_str().ok_or("buffer takes a name")?;
            Ok(Argument::Buffer { name: name.into(), offset: 0 })
        }
        "pointer" => match value.as_str() {
            Some("null") => Ok(Argument::Pointer { address: 0 }),
            _ => Err(format!("pointer takes \"null\", not {value}; other pointers are into a buffer")),
        },
        "local" => {
            let n = value.as_u64().and_then(|n| u32::try_from(n).ok());
            n.map(Argument::Local).ok_or_else(|| match value.as_u64() {
                Some(n) => format!("local: {n} bytes are more than an address can reach"),
                None => format!("local takes a size in bytes, not {value}"),
            })
        }
        "bytes" => {
            let text = value.as_str().ok_or("bytes takes a base64 string")?;
            let bytes = base64::engine::general_purpose::STANDARD.decode(text);
            bytes.map(|bytes| Argument::Value { bytes, float: None }).map_err(|e| format!("bytes is no base64: {e}"))
        }
        "sampler" => {
            let spec: SamplerSpec = SamplerSpec::deserialize(value).map_err(|e| format!("sampler: {e}"))?;
            Ok(Argument::Value { bytes: spec.bits().to_le_bytes().to_vec(), float: None })
        }
        scalar => scalar_bytes(scalar, value).map(|bytes| Argument::Value { bytes, float: Some(scalar.starts_with('f')) }),
    }
}

/// The bytes of a scalar or vector argument; vectors of 3 take the room of 4.
pub fn scalar_bytes(kind: &str, value: &Value) -> Result<Vec<u8>, String> {
    let dtype = match kind {
        "i8" => DType::Int8,
        "u8" => DType::UInt8,
        "i16" => DType::Int16,
        "u16" => DType::UInt16,
        "i32" => DType::Int32,
        "u32" => DType::UInt32,
        "i64" => DType::Int64,
        "u64" => DType::UInt64,
        "f16" => DType::Float16,
        "f32" => DType::Float32,
        "f64" => DType::Float64,
        other => return Err(format!("unknown kind `{other}`: buffer, pointer, local, bytes, sampler, i8 … u64, f16, f32, f64")),
    };
    match value {
        Value::Array(elements) => {
            if ![2, 3, 4, 8, 16].contains(&elements.len()) {
                return Err(format!("a vector of {} elements; OpenCL C has 2, 3, 4, 8 and 16", elements.len()));
            }
            let mut bytes = Vec::new();
            for e in elements {
                bytes.extend(number_bytes(dtype, kind, e)?);
            }
            bytes.resize(bytes.len().next_power_of_two(), 0);
            Ok(bytes)
        }
        v => number_bytes(dtype, kind, v),
    }
}

fn number_bytes(dtype: DType, kind: &str, value: &Value) -> Result<Vec<u8>, String> {
    let number = match value {
        Value::Number(n) => match (n.as_i64(), n.as_u64(), n.as_f64()) {
            (Some(i), ..) => Number::Integer(i.into()),
            (_, Some(u), _) => Number::Integer(u.into()),
            (.., Some(f)) => Number::Float(f),
            _ => return Err(format!("{n} is no number Heddle can hold")),
        },
        Value::String(s) if matches!(s.as_str(), "nan" | "inf" | "-inf") && dtype.is_float() => Number::Float(match s.as_str() {
            "nan" => f64::NAN,
            "inf" => f64::INFINITY,
            _ => f64::NEG_INFINITY,
        }),
        v => return Err(format!("{kind} takes a number, not {v}")),
    };
    if let (Number::Integer(i), false) = (number, dtype.is_float()) {
        let bits = dtype.bytes() * 8;
        let (low, high) = (-(1i128 << (bits - 1)), (1i128 << bits) - 1);
        if i < low || i > high {
            return Err(format!("{i} does not fit {kind}"));
        }
    }
    if matches!(number, Number::Float(_)) && !dtype.is_float() {
        return Err(format!("{kind} takes a whole number"));
    }
    Ok(dtype.encode(number))
}
