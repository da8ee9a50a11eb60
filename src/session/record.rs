//! `heddle exec --record`: launches as cases that `heddle run`, `ablate` and `sweep` take.
//!
//! A launch becomes `FOLDER/0001-NAME/case.json`. What cases share stands beside them, once: contents of
//! buffers in `FOLDER/arrays`, named by their SHA-256, sources with their headers in `FOLDER/sources`. A buffer
//! of a case is a whole allocation, as overlapping sub-buffers are parts of one; pointers into it are offsets.
//! What is expected of a buffer is what the launch left there, bit by bit.
//!
//! Beside a case `caches.json` has what caches held before the launch, where that is known. `FOLDER/launches.jsonl`
//! lists the launches in order, from which `heddle time` has them.
//!
//! Some launches are no cases: those that follow pointers which the host put into memory, those of kernels
//! whose program-scope variables hold what earlier launches wrote. They are left out, and
//! `FOLDER/left-out.txt` says why.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use base64::Engine;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use super::{LaunchPlan, SourceText, lock, outputs};
use heddle_object::metadata::{ArgumentKind, KernelArgument, KernelHeader};
use heddle_runtime::array::{Array, DType};
use heddle_runtime::run::cached::CachedBytes;
use heddle_sim::image::Image;

/// The folder of buffers' contents.
pub const ARRAYS: &str = "arrays";
/// The folder of sources.
const SOURCES: &str = "sources";
/// The list of launches: a line of JSON each, the first one about the program.
pub const LAUNCHES: &str = "launches.jsonl";
/// What L2 held, beside a case.
pub const CACHES: &str = "caches.json";
/// The file that says which launches are no cases.
const LEFT_OUT: &str = "left-out.txt";

/// An allocation of device memory, of which an argument is a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Allocation {
    /// Its first address, by which it is known.
    pub address: u64,
    /// Its bytes.
    pub bytes: u64,
    /// It is in the host's memory.
    pub system: bool,
}

/// A kernel argument's value.
#[derive(Clone, Debug, PartialEq)]
pub enum Argument {
    /// A pointer into an allocation, bytes from its start.
    Pointer(Allocation, u64),
    /// No pointer.
    Null,
    /// Bytes of work-group memory.
    Local(u32),
    /// A value's bytes.
    Value(Vec<u8>),
    /// An image in an allocation, bytes from its start.
    Image(Allocation, u64, Image),
    /// A sampler: the bits of clang's `CLK_…` constants.
    Sampler(u32),
}

/// A launch that is to become a case.
#[derive(Clone, Copy, Debug)]
pub struct Description<'a> {
    /// The kernel.
    pub header: &'a KernelHeader,
    /// The program's source.
    pub source: &'a SourceText,
    /// Global size, one to three dimensions.
    pub global: &'a [u64],
    /// Work-group size.
    pub local: &'a [u64],
    /// Global offset.
    pub offset: &'a [u64],
    /// Arguments, without the hidden one of `printf`.
    pub arguments: &'a [Argument],
    /// What L2 holds before the launch, if that is known: first addresses and bytes of runs, those first that would
    /// be evicted first.
    pub cached: &'a [(u64, u64)],
}

/// Reads device memory: `bytes` from `address`, or `None` if they are not all of one allocation.
pub type Reader<'a> = dyn Fn(u64, usize) -> Option<Vec<u8>> + 'a;

/// Keeps launches as cases. Any thread may use it.
#[derive(Debug, Default)]
pub struct Recorder {
    /// Contents that have been written, by name.
    written: Mutex<BTreeSet<String>>,
}

/// A case of which the launch has not ended.
#[derive(Debug)]
pub struct Pending {
    folder: PathBuf,
    name: String,
    source: String,
    options: Vec<String>,
    launch: Value,
    buffers: Vec<Buffer>,
    cached: Option<CachedBytes>,
    listed: Listed,
}

/// The first line of a list of launches.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Listing {
    /// The form of the list.
    pub heddle_recording: u32,
    /// The program's command line.
    pub program: Vec<String>,
}

impl Listing {
    /// The form of the lists that this version writes.
    pub const VERSION: u32 = 1;
}

/// A launch in the list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Listed {
    /// Its number among all launches of the program, from 1.
    pub number: u64,
    /// Its number among its kernel's, from 1.
    pub occurrence: u64,
    /// The kernel.
    pub kernel: String,
    /// The folder of its case; none if it is no case.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub case: Option<String>,
    /// Why it is no case.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub left_out: Option<String>,
}

impl Listed {
    fn of(plan: &LaunchPlan, kernel: &str) -> Listed {
        Listed { number: plan.number, occurrence: plan.occurrence, kernel: kernel.into(), case: None, left_out: None }
    }
}

/// A buffer of a case.
#[derive(Debug)]
struct Buffer {
    name: String,
    allocation: Allocation,
    dtype: DType,
    /// The kernel may write to it.
    written: bool,
    image: Option<Image>,
    /// Fields of the case.
    fields: Map<String, Value>,
}

impl Recorder {
    /// A launch begins: keeps what it will find. `None` if it is no case, which is said in the folder.
    ///
    /// # Errors
    /// A sentence about a file that cannot be written.
    pub fn begin(
        &self,
        folder: &Path,
        plan: &LaunchPlan,
        description: &Description,
        read: &Reader,
    ) -> Result<Option<Pending>, String> {
        let kernel = &description.header.name;
        let parts = Parts::of(description).and_then(|parts| Ok((source_of(description.source)?, parts)));
        let ((source_name, options), Parts { mut buffers, arguments }) = match parts {
            Ok(parts) => parts,
            Err(reason) => {
                self.leave_out(folder, plan, kernel, &reason)?;
                return Ok(None);
            }
        };
        let source = self.write_source(folder, description.source, &source_name)?;
        for buffer in &mut buffers {
            self.keep_contents(folder, buffer, read, "npy")?;
        }
        let mut launch = json!({ "kernel": kernel, "global": description.global, "local": description.local, "args": arguments });
        if description.offset.iter().any(|o| *o > 0) {
            launch["offset"] = json!(description.offset);
        }
        let mut words = options;
        // The source's own folder has its headers.
        if let Some((own, _)) = source.rsplit_once('/') {
            words.push(format!("-I{own}"));
        }
        let name = format!("{:04}-{kernel}", plan.number);
        let places: Vec<(&str, u64, u64)> =
            buffers.iter().map(|b| (&*b.name, b.allocation.address, b.allocation.bytes)).collect();
        let cached = (!description.cached.is_empty()).then(|| CachedBytes::of(description.cached, &places, plan.occurrence > 1));
        let listed = Listed { case: Some(name.clone()), ..Listed::of(plan, kernel) };
        Ok(Some(Pending { folder: folder.into(), name, source, options: words, launch, buffers, cached, listed }))
    }

    /// The launch has ended. `whole`: without a fault; if not, nothing is expected of the buffers.
    ///
    /// # Errors
    /// A sentence about a file that cannot be written.
    pub fn end(&self, mut pending: Pending, read: &Reader, whole: bool) -> Result<PathBuf, String> {
        for buffer in pending.buffers.iter_mut().filter(|b| whole && b.written) {
            self.keep_contents(&pending.folder, buffer, read, "expect")?;
        }
        let buffers: BTreeMap<&str, &Map<String, Value>> = pending.buffers.iter().map(|b| (&*b.name, &b.fields)).collect();
        let case = json!({
            "source": pending.source, "options": pending.options, "buffers": buffers, "launches": [pending.launch],
        });
        let folder = pending.folder.join(&pending.name);
        make(&folder)?;
        let path = folder.join("case.json");
        outputs::write(&path, format!("{case:#}\n").as_bytes())?;
        if let Some(cached) = &pending.cached {
            outputs::write(&folder.join(CACHES), cached.text()?.as_bytes())?;
        }
        self.list(&pending.folder, &pending.listed)?;
        Ok(path)
    }

    /// Says that a launch is no case.
    ///
    /// # Errors
    /// A sentence about a file that cannot be written.
    pub fn leave_out(&self, folder: &Path, plan: &LaunchPlan, kernel: &str, reason: &str) -> Result<(), String> {
        self.list(folder, &Listed { left_out: Some(reason.into()), ..Listed::of(plan, kernel) })?;
        let _one_at_a_time = lock(&self.written);
        append(&folder.join(LEFT_OUT), &format!("launch {}, kernel `{kernel}`: {reason}\n", plan.number))
    }

    /// Adds a launch to the list.
    fn list(&self, folder: &Path, launch: &Listed) -> Result<(), String> {
        make(folder)?;
        let line = |value: Result<String, serde_json::Error>| value.map(|text| text + "\n").map_err(|e| e.to_string());
        let path = folder.join(LAUNCHES);
        let _one_at_a_time = lock(&self.written);
        let mut text = String::new();
        if !path.exists() {
            let listing = Listing { heddle_recording: Listing::VERSION, program: outputs::command_line() };
            text = line(serde_json::to_string(&listing))?;
        }
        append(&path, &(text + &line(serde_json::to_string(launch))?))
    }

    /// Keeps a buffer's contents as they are now, under a field of the case.
    fn keep_contents(&self, folder: &Path, buffer: &mut Buffer, read: &Reader, field: &str) -> Result<(), String> {
        let Allocation { address, bytes, .. } = buffer.allocation;
        let data = read(address, bytes as usize).unwrap_or_else(|| vec![0; bytes as usize]);
        let elements = bytes / buffer.dtype.bytes() as u64;
        if field == "npy" && data.iter().all(|b| *b == 0) {
            buffer.fields.insert("zeros".into(), json!([elements]));
            buffer.fields.insert("dtype".into(), buffer.dtype.to_string().into());
            return Ok(());
        }
        let array = Array { dtype: buffer.dtype, shape: vec![elements], data };
        let mut hash = Sha256::new();
        hash.update(array.dtype.to_string().as_bytes());
        hash.update(&array.data);
        let name = format!("{}.npy", hex(&hash.finalize()));
        buffer.fields.insert(field.into(), format!("../{ARRAYS}/{name}").into());
        let arrays = folder.join(ARRAYS);
        let path = arrays.join(&name);
        if lock(&self.written).contains(&name) || path.exists() {
            return Ok(());
        }
        make(&arrays)?;
        // Under another name until it is whole.
        let beside = path.with_extension(format!("npy.{}", std::process::id()));
        array.write(&beside)?;
        fs::rename(&beside, &path).map_err(|e| format!("cannot write {}: {e}", path.display()))?;
        lock(&self.written).insert(name);
        Ok(())
    }

    /// Writes a source with its headers; returns its name, relative to a case's folder.
    fn write_source(&self, folder: &Path, source: &SourceText, name: &str) -> Result<String, String> {
        let mut hash = Sha256::new();
        for (name, text) in &source.files {
            [name.as_bytes(), &[0], text.as_bytes(), &[0]].iter().for_each(|part| hash.update(part));
        }
        hash.update(source.bitcode.as_deref().unwrap_or_default());
        let own = hex(&hash.finalize())[..16].to_string();
        let key = format!("{SOURCES}/{own}");
        let here = folder.join(&key);
        if !lock(&self.written).contains(&key) {
            match &source.bitcode {
                Some(bitcode) => write_below(&here, name, bitcode)?,
                None => source.files.iter().try_for_each(|(n, text)| write_below(&here, &inside(n), text.as_bytes()))?,
            }
            lock(&self.written).insert(key.clone());
        }
        Ok(format!("../{key}/{name}"))
    }
}

/// Adds text to the end of a file, in one piece.
fn append(path: &Path, text: &str) -> Result<(), String> {
    let file = OpenOptions::new().create(true).append(true).open(path);
    file.and_then(|mut f| f.write_all(text.as_bytes())).map_err(|e| format!("cannot write {}: {e}", path.display()))
}

fn make(folder: &Path) -> Result<(), String> {
    fs::create_dir_all(folder).map_err(|e| format!("cannot make {}: {e}", folder.display()))
}

fn write_below(folder: &Path, name: &str, contents: &[u8]) -> Result<(), String> {
    let path = folder.join(name);
    make(path.parent().unwrap_or(folder))?;
    outputs::write(&path, contents)
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

/// A file's name as a path that stays inside a folder.
fn inside(name: &str) -> String {
    let parts: Vec<&str> = name.split('/').filter(|p| !["", ".", ".."].contains(p)).collect();
    parts.join("/")
}

/// The name of a program's source below its folder, and its options. Bitcode has been through clang.
fn source_of(source: &SourceText) -> Result<(String, Vec<String>), String> {
    match (&source.bitcode, source.files.first()) {
        (Some(_), _) => Ok(("program.bc".into(), source.options.clone())),
        (None, Some((name, _))) => {
            let name = inside(name);
            Ok((if name.ends_with(".cl") { name } else { return Err(not_opencl(&name)) }, source.options.clone()))
        }
        (None, None) => Err("its program has no source".into()),
    }
}

fn not_opencl(name: &str) -> String {
    format!("its source is called `{name}`, which is no name of an OpenCL C file")
}

/// What a description comes to in a case.
struct Parts {
    buffers: Vec<Buffer>,
    arguments: Vec<Value>,
}

impl Parts {
    fn of(description: &Description) -> Result<Parts, String> {
        let parameters = description.header.visible_args();
        if parameters.len() != description.arguments.len() {
            return Err(format!("{} arguments are given, it takes {}", description.arguments.len(), parameters.len()));
        }
        let mut parts = Parts { buffers: Vec::new(), arguments: Vec::new() };
        for (i, (parameter, argument)) in parameters.iter().zip(description.arguments).enumerate() {
            let value = parts.argument(i, parameter, argument)?;
            parts.arguments.push(value);
        }
        for buffer in &mut parts.buffers {
            buffer.finish();
        }
        Ok(parts)
    }

    fn argument(&mut self, number: usize, parameter: &KernelArgument, argument: &Argument) -> Result<Value, String> {
        Ok(match argument {
            Argument::Pointer(allocation, offset) => self.place(number, parameter, (*allocation, *offset), None)?,
            Argument::Null => json!({ "pointer": "null" }),
            Argument::Local(bytes) => json!({ "local": bytes }),
            Argument::Value(bytes) => value(&parameter.type_name, bytes),
            Argument::Image(allocation, offset, image) => self.place(number, parameter, (*allocation, *offset), Some(*image))?,
            Argument::Sampler(bits) => sampler(*bits),
        })
    }

    /// A place in an allocation as an argument.
    fn place(
        &mut self,
        number: usize,
        parameter: &KernelArgument,
        (allocation, offset): (Allocation, u64),
        image: Option<Image>,
    ) -> Result<Value, String> {
        if offset > allocation.bytes {
            return Err(format!("argument {number} points outside its allocation"));
        }
        let name = self.buffer(number, parameter, allocation, image)?;
        Ok(if offset == 0 { json!({ "buffer": name }) } else { json!({ "buffer": name, "offset": offset }) })
    }

    /// The name of the buffer that an allocation is.
    fn buffer(
        &mut self,
        number: usize,
        parameter: &KernelArgument,
        allocation: Allocation,
        image: Option<Image>,
    ) -> Result<String, String> {
        let written = !parameter.read_only && parameter.kind != ArgumentKind::Constant;
        let dtype = element_type(&parameter.type_name).filter(|d| allocation.bytes.is_multiple_of(d.bytes() as u64));
        if let Some(known) = self.buffers.iter_mut().find(|b| b.allocation.address == allocation.address) {
            known.written |= written;
            if Some(known.dtype) != dtype {
                known.dtype = DType::UInt8;
            }
            match (known.image, image) {
                (Some(a), Some(b)) if a != b => return Err(format!("argument {number} is a second image in one allocation")),
                (None, Some(_)) => known.image = image,
                _ => {}
            }
            return Ok(known.name.clone());
        }
        let mut name = match parameter.name.as_str() {
            "" => format!("argument{number}"),
            name => name.to_string(),
        };
        if self.buffers.iter().any(|b| b.name == name) {
            name = format!("{name}_{number}");
        }
        let dtype = dtype.unwrap_or(DType::UInt8);
        self.buffers.push(Buffer { name: name.clone(), allocation, dtype, written, image, fields: Map::new() });
        Ok(name)
    }
}

impl Buffer {
    /// Fields that do not depend on contents.
    fn finish(&mut self) {
        if let Some(image) = self.image {
            let [width, height, depth] = image.size;
            let mut spec = json!({ "width": width, "format": format!("{}_{}", image.format.order, image.format.ty) });
            for (field, n) in [("height", height), ("depth", depth), ("layers", image.layers)] {
                if n != 1 {
                    spec[field] = n.into();
                }
            }
            self.fields.insert("image".into(), spec);
        }
        if self.allocation.system {
            self.fields.insert("memory".into(), "system".into());
        }
        if self.written {
            self.fields.insert("rtol".into(), json!(0.0));
            self.fields.insert("atol".into(), json!(0.0));
        }
    }
}

/// Spaces and qualifiers taken off, the words of an OpenCL C type.
fn plain(type_name: &str) -> String {
    let words = type_name.trim_end_matches('*').split_whitespace();
    let kept: Vec<&str> = words.filter(|w| !["const", "volatile", "restrict", "__global", "global"].contains(w)).collect();
    kept.join(" ")
}

/// The scalar type of a built-in type's name and how many of it: `float4` is 4 of `float`.
fn scalar_type(type_name: &str) -> Option<(DType, usize)> {
    let name = plain(type_name);
    let base = name.trim_end_matches(|c: char| c.is_ascii_digit());
    let count = if base.len() < name.len() { name[base.len()..].parse().ok()? } else { 1 };
    let dtype = match base {
        "char" | "signed char" => DType::Int8,
        "uchar" | "unsigned char" => DType::UInt8,
        "short" => DType::Int16,
        "ushort" | "unsigned short" => DType::UInt16,
        "int" => DType::Int32,
        "uint" | "unsigned int" | "unsigned" => DType::UInt32,
        "long" => DType::Int64,
        "ulong" | "unsigned long" => DType::UInt64,
        "half" => DType::Float16,
        "float" => DType::Float32,
        "double" => DType::Float64,
        _ => return None,
    };
    [1, 2, 3, 4, 8, 16].contains(&count).then_some((dtype, count))
}

/// The element type of a pointer's allocation, if the pointer's type says it.
fn element_type(type_name: &str) -> Option<DType> {
    scalar_type(type_name).map(|(dtype, _)| dtype)
}

/// A value as a case writes it: numbers of the kernel's type where that is exact, else bytes.
fn value(type_name: &str, bytes: &[u8]) -> Value {
    numbers(type_name, bytes).unwrap_or_else(|| json!({ "bytes": base64::engine::general_purpose::STANDARD.encode(bytes) }))
}

fn numbers(type_name: &str, bytes: &[u8]) -> Option<Value> {
    let (dtype, count) = scalar_type(type_name)?;
    let size = dtype.bytes();
    let (known, padding) = bytes.split_at_checked(count * size)?;
    if padding.iter().any(|b| *b != 0) || bytes.len() != (count * size).next_power_of_two() {
        return None;
    }
    let number = |b: &[u8]| match dtype.integer(b) {
        Some(i) => i64::try_from(i).map(Value::from).or_else(|_| u64::try_from(i).map(Value::from)).ok(),
        None => Some(dtype.value(b)).filter(|v| v.is_finite()).map(Value::from),
    };
    let list: Option<Vec<Value>> = known.chunks_exact(size).map(number).collect();
    let kind = match dtype {
        DType::Int8 => "i8",
        DType::UInt8 => "u8",
        DType::Int16 => "i16",
        DType::UInt16 => "u16",
        DType::Int32 => "i32",
        DType::UInt32 => "u32",
        DType::Int64 => "i64",
        DType::UInt64 => "u64",
        DType::Float16 => "f16",
        DType::Float32 => "f32",
        DType::Float64 => "f64",
        DType::Bool => return None,
    };
    let list = list?;
    Some(match &list[..] {
        [one] => json!({ kind: one }),
        _ => json!({ kind: list }),
    })
}

/// A sampler as a case writes it.
fn sampler(bits: u32) -> Value {
    let address = match bits & 0xe {
        0 => "none",
        2 => "clamp-to-edge",
        4 => "clamp",
        6 => "repeat",
        8 => "mirrored-repeat",
        _ => "",
    };
    let filter = match bits & !0xf {
        0x10 => "nearest",
        0x20 => "linear",
        _ => "",
    };
    match (address, filter) {
        ("", _) | (_, "") => json!({ "bytes": base64::engine::general_purpose::STANDARD.encode(bits.to_le_bytes()) }),
        _ => json!({ "sampler": { "normalized": bits & 1 == 1, "address": address, "filter": filter } }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parameter(name: &str, type_name: &str, kind: ArgumentKind) -> KernelArgument {
        let (name, type_name) = (name.into(), type_name.into());
        KernelArgument {
            name,
            type_name,
            kind,
            offset: 0,
            size: 8,
            align: 0,
            restrict: false,
            read_only: false,
            access: Default::default(),
            qualifiers: Default::default(),
        }
    }

    #[test]
    fn values_are_numbers_where_that_is_exact() {
        for (type_name, bytes, wanted) in [
            ("int", &(-5i32).to_le_bytes()[..], json!({ "i32": -5 })),
            ("ulong", &u64::MAX.to_le_bytes(), json!({ "u64": u64::MAX })),
            ("float", &0.1f32.to_le_bytes(), json!({ "f32": f64::from(0.1f32) })),
            ("half", &0x3c00u16.to_le_bytes(), json!({ "f16": 1.0 })),
            ("uchar3", &[1, 2, 3, 0], json!({ "u8": [1, 2, 3] })),
            ("unsigned int", &[7, 0, 0, 0], json!({ "u32": 7 })),
            // What a number would lose: padding, the bits of a NaN.
            ("uchar3", &[1, 2, 3, 4], json!({ "bytes": "AQIDBA==" })),
            ("float", &[1, 0, 0x80, 0x7f], json!({ "bytes": "AQCAfw==" })),
            ("struct s", &[1, 2], json!({ "bytes": "AQI=" })),
        ] {
            let found = value(type_name, bytes);
            assert_eq!(found, wanted, "{type_name}");
            if let Some((kind, v)) = found.as_object().and_then(|o| o.iter().next()).filter(|(k, _)| *k != "bytes") {
                assert_eq!(heddle_runtime::case::scalar_bytes(kind, v).unwrap(), bytes, "{type_name}");
            }
        }
        assert_eq!(sampler(0x26 | 1), json!({ "sampler": { "normalized": true, "address": "repeat", "filter": "linear" } }));
    }

    #[test]
    fn arguments_in_one_allocation_share_a_buffer() {
        let allocation = Allocation { address: 0x1000, bytes: 64, system: false };
        let other = Allocation { address: 0x2000, bytes: 6, system: true };
        let mut parts = Parts { buffers: Vec::new(), arguments: Vec::new() };
        let global = |name, ty| parameter(name, ty, ArgumentKind::Global);
        let mut take = |n, parameter: &KernelArgument, argument| parts.argument(n, parameter, &argument);
        assert_eq!(take(0, &global("a", "float*"), Argument::Pointer(allocation, 0)).unwrap(), json!({ "buffer": "a" }));
        let inside = take(1, &global("b", "const float4*"), Argument::Pointer(allocation, 16)).unwrap();
        assert_eq!(inside, json!({ "buffer": "a", "offset": 16 }));
        assert_eq!(take(2, &global("a", "int*"), Argument::Pointer(other, 0)).unwrap(), json!({ "buffer": "a_2" }));
        assert_eq!(take(3, &global("n", "int*"), Argument::Null).unwrap(), json!({ "pointer": "null" }));
        assert!(take(4, &global("x", "int*"), Argument::Pointer(allocation, 65)).is_err());
        let format = "RGBA_UNORM8".parse().unwrap();
        let image = Image { format, size: [4, 2, 1], layers: 1, dimensions: 2, array: false };
        let picture = parameter("p", "image2d_t", ArgumentKind::Image);
        take(5, &picture, Argument::Image(allocation, 0, image)).unwrap();
        let taller = Image { size: [4, 4, 1], ..image };
        assert!(take(6, &picture, Argument::Image(allocation, 0, taller)).unwrap_err().contains("second image"));
        parts.buffers.iter_mut().for_each(Buffer::finish);
        // The image's type says nothing of its elements; six bytes are no whole number of ints.
        assert_eq!(parts.buffers.iter().map(|b| b.dtype).collect::<Vec<_>>(), [DType::UInt8, DType::UInt8]);
        assert_eq!(parts.buffers[0].fields["image"], json!({ "width": 4, "height": 2, "format": "RGBA_UNORM8" }));
        assert_eq!(parts.buffers[1].fields["memory"], "system");
    }

    #[test]
    fn names_stay_inside_their_folder() {
        assert_eq!(inside("../../etc/x.h"), "etc/x.h");
        assert_eq!(inside("/a/./b.cl"), "a/b.cl");
    }
}
