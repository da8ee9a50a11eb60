//! Case files as far as a GPU runs them: buffers, launches, arguments, and what is expected.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use serde::Deserialize;
use serde_json::Value;

/// A case file (docs/run.md).
#[derive(Deserialize)]
pub struct Case {
    /// The source, relative to the case.
    pub source: String,
    /// Options for the compiler.
    #[serde(default)]
    pub options: Vec<String>,
    /// Buffers by name.
    #[serde(default)]
    pub buffers: BTreeMap<String, Buffer>,
    /// Launches, in order.
    pub launches: Vec<Launch>,
    /// The folder of the case.
    #[serde(skip)]
    pub folder: PathBuf,
}

/// A buffer.
#[derive(Deserialize)]
pub struct Buffer {
    npy: Option<String>,
    zeros: Option<Vec<u64>>,
    random: Option<Value>,
    image: Option<Value>,
    #[serde(default = "float32")]
    dtype: String,
    expect: Option<String>,
    rtol: Option<f64>,
    atol: Option<f64>,
}

fn float32() -> String {
    "float32".into()
}

/// A launch.
#[derive(Deserialize)]
pub struct Launch {
    /// The kernel.
    pub kernel: String,
    global: Vec<u64>,
    local: Option<Vec<u64>>,
    #[serde(default)]
    offset: Vec<u64>,
    #[serde(default = "once")]
    repeat: u32,
    args: Vec<Value>,
}

fn once() -> u32 {
    1
}

/// Elements of one kind.
#[derive(Clone, Debug, PartialEq)]
pub struct Array {
    /// `i4`, `u8`, `f2` and so on: kind and bytes.
    kind: String,
    /// The bytes, little-endian.
    pub bytes: Vec<u8>,
}

/// An argument of a kernel.
#[derive(Debug, PartialEq)]
pub enum Argument {
    /// A buffer by name, and bytes from its start.
    Buffer(String, u64),
    /// The bytes of a value.
    Value(Vec<u8>),
    /// Bytes of work-group memory.
    Local(u64),
}

/// A launch as a GPU takes it.
#[derive(Debug, PartialEq)]
pub struct Grid {
    /// Work-groups.
    pub groups: [u32; 3],
    /// Work-items of a work-group.
    pub items: [u32; 3],
    /// What the library's variable holds: dimensions, offset, global size.
    pub shape: [u32; 7],
}

impl Case {
    /// Reads a case.
    ///
    /// # Errors
    /// The file cannot be read, or is no case.
    pub fn read(file: &Path) -> Result<Case> {
        let text = std::fs::read_to_string(file).with_context(|| format!("reading {}", file.display()))?;
        let mut case: Case = serde_json::from_str(&text).with_context(|| file.display().to_string())?;
        case.folder = file.parent().unwrap_or(Path::new(".")).to_path_buf();
        Ok(case)
    }

    /// Why a GPU cannot run it, if so.
    pub fn lacks(&self) -> Option<String> {
        for (name, buffer) in &self.buffers {
            if buffer.image.is_some() {
                return Some(format!("buffer {name} is an image"));
            }
            if buffer.random.is_some() {
                return Some(format!("buffer {name} is random"));
            }
        }
        self.launches.iter().find_map(|l| Some(l.arguments().err().or_else(|| l.grid().err())?.to_string()))
    }

    /// The first contents of a buffer.
    ///
    /// # Errors
    /// Its file cannot be read.
    pub fn contents(&self, buffer: &Buffer) -> Result<Array> {
        match (&buffer.npy, &buffer.zeros) {
            (Some(file), _) => Array::read(&self.folder.join(file)),
            (None, Some(shape)) => {
                let kind = kind_of(&buffer.dtype)?;
                let bytes = shape.iter().product::<u64>() * size_of_kind(&kind)?;
                Ok(Array { kind, bytes: vec![0; usize::try_from(bytes)?] })
            }
            _ => bail!("a buffer has no contents"),
        }
    }

    /// What differs between a buffer in the end and what the case expects, if anything does and something is
    /// expected.
    ///
    /// # Errors
    /// The file of what is expected cannot be read.
    pub fn difference(&self, buffer: &Buffer, bytes: &[u8]) -> Result<Option<String>> {
        let Some(file) = &buffer.expect else { return Ok(None) };
        let expected = Array::read(&self.folder.join(file))?;
        expected.difference(bytes, buffer.rtol.unwrap_or(0.0), buffer.atol.unwrap_or(0.0))
    }
}

impl Launch {
    /// Times that it is launched.
    pub fn times(&self) -> u32 {
        self.repeat
    }

    /// Its size. Without a work-group size it gets one that divides the global size.
    ///
    /// # Errors
    /// The GPU has no such launch.
    pub fn grid(&self) -> Result<Grid> {
        ensure!((1..=3).contains(&self.global.len()), "a launch has 1 to 3 dimensions");
        let at = |list: &[u64], d: usize, other: u64| list.get(d).copied().unwrap_or(other);
        let chosen = || (1..=256).rev().find(|n| self.global[0].is_multiple_of(*n)).unwrap_or(1);
        let local = self.local.clone().unwrap_or_else(|| vec![chosen()]);
        let (mut groups, mut items, mut shape) = ([1; 3], [1; 3], [0; 7]);
        shape[0] = self.global.len() as u32;
        for d in 0..3 {
            let (global, size) = (at(&self.global, d, 1), at(&local, d, 1));
            ensure!(size > 0 && global.is_multiple_of(size), "the last work-group of {} is smaller than the others", self.kernel);
            groups[d] = u32::try_from(global / size)?;
            items[d] = u32::try_from(size)?;
            shape[1 + d] = u32::try_from(at(&self.offset, d, 0))?;
            shape[4 + d] = u32::try_from(global)?;
        }
        Ok(Grid { groups, items, shape })
    }

    /// Its arguments.
    ///
    /// # Errors
    /// One is of a kind that a GPU is not given here.
    pub fn arguments(&self) -> Result<Vec<Argument>> {
        self.args.iter().map(|a| argument(a).with_context(|| format!("{}: argument {a}", self.kernel))).collect()
    }
}

fn argument(value: &Value) -> Result<Argument> {
    let object = value.as_object().context("is no object")?;
    if let Some(name) = object.get("buffer").and_then(Value::as_str) {
        let offset = object.get("offset").and_then(Value::as_u64).unwrap_or(0);
        return Ok(Argument::Buffer(name.into(), offset));
    }
    let (name, value) = object.iter().next().context("is empty")?;
    match name.as_str() {
        "pointer" => Ok(Argument::Value(vec![0; 8])),
        "local" => Ok(Argument::Local(value.as_u64().context("is no number of bytes")?)),
        "bytes" => Ok(Argument::Value(base64(value.as_str().context("is no text")?)?)),
        kind if kind.len() >= 2 && kind.starts_with(['i', 'u', 'f']) => {
            let numbers = value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice);
            let size = kind[1..].parse::<usize>().context("is of no known kind")? / 8;
            // Vectors of three have the size of four.
            let padded = if numbers.len() == 3 { 4 } else { numbers.len() };
            let mut bytes = Vec::new();
            for n in numbers {
                bytes.extend(number(kind, n)?);
            }
            bytes.resize(padded * size, 0);
            Ok(Argument::Value(bytes))
        }
        other => bail!("`{other}` is not for a GPU here"),
    }
}

fn number(kind: &str, value: &Value) -> Result<Vec<u8>> {
    let float = || value.as_f64().context("is no number");
    let integer = || value.as_i64().or_else(|| value.as_u64().map(|n| n as i64)).context("is no integer");
    Ok(match kind {
        "f16" => half::f16::from_f64(float()?).to_le_bytes().to_vec(),
        "f32" => (float()? as f32).to_le_bytes().to_vec(),
        "f64" => float()?.to_le_bytes().to_vec(),
        _ => integer()?.to_le_bytes()[..kind[1..].parse::<usize>()? / 8].to_vec(),
    })
}

/// Bytes of base64 text.
fn base64(text: &str) -> Result<Vec<u8>> {
    use base64::Engine;
    base64::engine::general_purpose::STANDARD.decode(text).context("is no base64")
}

/// `float32` as `f4`.
fn kind_of(dtype: &str) -> Result<String> {
    if dtype == "bool" {
        return Ok("b1".into());
    }
    let (word, bits) = dtype.split_at(dtype.find(|c: char| c.is_ascii_digit()).context("no element type")?);
    let letter = match word {
        "int" => 'i',
        "uint" => 'u',
        "float" => 'f',
        _ => bail!("`{dtype}` is no element type"),
    };
    Ok(format!("{letter}{}", bits.parse::<u32>()? / 8))
}

fn size_of_kind(kind: &str) -> Result<u64> {
    kind[1..].parse().with_context(|| format!("`{kind}` is no element type"))
}

impl Array {
    /// Reads a numpy file.
    ///
    /// # Errors
    /// It cannot be read, or has elements that no kernel has.
    pub fn read(file: &Path) -> Result<Array> {
        let all = std::fs::read(file).with_context(|| format!("reading {}", file.display()))?;
        let mut rest = all.as_slice();
        let header = npyz::NpyHeader::from_reader(&mut rest).with_context(|| file.display().to_string())?;
        let text = match header.dtype() {
            npyz::DType::Plain(plain) => plain.to_string(),
            other => bail!("{}: {other:?} are no elements of a buffer", file.display()),
        };
        ensure!(!text.starts_with('>') || text.ends_with('1'), "{}: big-endian", file.display());
        let kind = text.trim_start_matches(['<', '>', '|', '=']).to_string();
        let bytes = header.shape().iter().product::<u64>() * size_of_kind(&kind)?;
        ensure!(rest.len() as u64 == bytes, "{} has {} bytes of data, not {bytes}", file.display(), rest.len());
        Ok(Array { kind, bytes: rest.to_vec() })
    }

    /// The elements as numbers: integers exactly where a float has room for them.
    fn numbers(&self, bytes: &[u8]) -> Result<Vec<f64>> {
        let size = usize::try_from(size_of_kind(&self.kind)?)?;
        let one = |b: &[u8]| -> Result<f64> {
            let mut wide = [0; 8];
            wide[..b.len()].copy_from_slice(b);
            let bits = u64::from_le_bytes(wide);
            let shift = 64 - 8 * size as u32;
            Ok(match self.kind.as_bytes()[0] {
                b'f' if size == 2 => half::f16::from_bits(bits as u16).to_f64(),
                b'f' if size == 4 => f64::from(f32::from_bits(bits as u32)),
                b'f' => f64::from_bits(bits),
                b'i' => ((bits << shift) as i64 >> shift) as f64,
                _ => bits as f64,
            })
        };
        bytes.chunks_exact(size).map(one).collect()
    }

    /// The first element of `bytes` that is not as expected here, as numpy's `allclose` compares; integers
    /// exactly where no tolerance is given.
    fn difference(&self, bytes: &[u8], rtol: f64, atol: f64) -> Result<Option<String>> {
        if bytes.len() != self.bytes.len() {
            return Ok(Some(format!("{} bytes instead of {}", bytes.len(), self.bytes.len())));
        }
        if bytes == self.bytes {
            return Ok(None);
        }
        let (found, wanted) = (self.numbers(bytes)?, self.numbers(&self.bytes)?);
        let exact = rtol == 0.0 && atol == 0.0 && !self.kind.starts_with('f');
        let size = usize::try_from(size_of_kind(&self.kind)?)?;
        let differs = |i: usize| {
            let (a, b) = (found[i], wanted[i]);
            if exact {
                return bytes[i * size..(i + 1) * size] != self.bytes[i * size..(i + 1) * size];
            }
            !(a == b || a.is_nan() && b.is_nan() || (a - b).abs() <= atol + rtol * b.abs())
        };
        Ok((0..found.len()).find(|i| differs(*i)).map(|i| format!("[{i}]: {} instead of {}", found[i], wanted[i])))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shell::root;

    fn launch(text: &str) -> Launch {
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn a_launch_is_a_grid_of_whole_work_groups() {
        let l = launch(r#"{"kernel":"k","global":[64,6],"local":[16,2],"offset":[8],"args":[]}"#);
        assert_eq!(l.grid().unwrap(), Grid { groups: [4, 3, 1], items: [16, 2, 1], shape: [2, 8, 0, 0, 64, 6, 1] });
        let whole = launch(r#"{"kernel":"k","global":[600],"args":[]}"#).grid().unwrap();
        assert_eq!((whole.groups[0], whole.items[0]), (3, 200));
        let partial = launch(r#"{"kernel":"k","global":[65],"local":[16],"args":[]}"#).grid().unwrap_err().to_string();
        assert_eq!(partial, "the last work-group of k is smaller than the others");
    }

    #[test]
    fn arguments_are_bytes_in_the_machine_s_order() {
        let l = launch(
            r#"{"kernel":"k","global":[1],"args":[{"buffer":"A","offset":16},{"i32":-2},{"u8":255},{"f32":[1,2,3]},
                {"f16":1.5},{"local":64},{"bytes":"AQID"},{"pointer":"null"},{"u64":18446744073709551615}]}"#,
        );
        let one = |x: f32| x.to_le_bytes().to_vec();
        let wanted = [
            Argument::Buffer("A".into(), 16),
            Argument::Value(vec![254, 255, 255, 255]),
            Argument::Value(vec![255]),
            Argument::Value([one(1.0), one(2.0), one(3.0), vec![0; 4]].concat()),
            Argument::Value(vec![0, 0x3e]),
            Argument::Local(64),
            Argument::Value(vec![1, 2, 3]),
            Argument::Value(vec![0; 8]),
            Argument::Value(vec![255; 8]),
        ];
        assert_eq!(l.arguments().unwrap(), wanted);
        let sampler = launch(r#"{"kernel":"k","global":[1],"args":[{"sampler":{}}]}"#);
        assert!(sampler.arguments().is_err());
    }

    #[test]
    fn elements_are_compared_as_numpy_does() {
        let f = |values: &[f32]| values.iter().flat_map(|v| v.to_le_bytes()).collect::<Vec<u8>>();
        let wanted = Array { kind: "f4".into(), bytes: f(&[1.0, f32::NAN, 100.0]) };
        assert_eq!(wanted.difference(&f(&[1.0, f32::NAN, 100.0]), 0.0, 0.0).unwrap(), None);
        assert_eq!(wanted.difference(&f(&[1.0, f32::NAN, 101.0]), 0.01, 0.0).unwrap(), None);
        let found = wanted.difference(&f(&[1.0, f32::NAN, 102.0]), 0.01, 0.0).unwrap();
        assert_eq!(found.as_deref(), Some("[2]: 102 instead of 100"));
        let ints = Array { kind: "i8".into(), bytes: (1i64 << 60).to_le_bytes().to_vec() };
        assert!(ints.difference(&((1i64 << 60) + 1).to_le_bytes(), 0.0, 0.0).unwrap().is_some(), "beyond a float's digits");
        assert_eq!(ints.difference(&[0; 4], 0.0, 0.0).unwrap().unwrap(), "4 bytes instead of 8");
        let small = Array { kind: "i1".into(), bytes: vec![254] };
        assert_eq!(small.difference(&[255], 0.0, 0.0).unwrap().unwrap(), "[0]: -1 instead of -2");
    }

    #[test]
    fn cases_of_the_test_kernels_are_read() {
        let (mut runs, mut lacking) = (0, Vec::new());
        for entry in std::fs::read_dir(root().join("test-kernels")).unwrap() {
            let file = entry.unwrap().path().join("case.json");
            if !file.is_file() {
                continue;
            }
            let case = Case::read(&file).unwrap();
            match case.lacks() {
                Some(why) => lacking.push(why),
                None => {
                    runs += 1;
                    for buffer in case.buffers.values() {
                        let contents = case.contents(buffer).unwrap();
                        let difference = case.difference(buffer, &contents.bytes).unwrap();
                        let read_only = buffer.npy.is_some() && buffer.npy == buffer.expect;
                        assert!(!read_only || difference.is_none(), "{}: {difference:?}", file.display());
                    }
                }
            }
        }
        assert!(runs > 100, "{runs}");
        assert!(lacking.iter().all(|w| w.contains("image") || w.contains("smaller") || w.contains("sampler")), "{lacking:?}");
    }
}
