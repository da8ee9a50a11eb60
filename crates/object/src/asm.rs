//! Assembler and disassembler of whole objects.
//!
//! ```text
//! .object {"version":1,…}        metadata without kernels, JSON
//! .file "k.cl"
//! .data 00ff…                     hexadecimal
//! .kernel {"name":"k",…}         a kernel's header, JSON; offsets are recomputed
//!   mov.b32 m0, gid.x !0:3:11
//! L4:
//!   brad L9, L9
//! ```
//!
//! Labels stand for instructions of the kernel; `;` starts a comment. Disassembling and assembling an object
//! gives the same bytes.

use std::collections::BTreeMap;
use std::fmt::Write;

use heddle_isa::encode::{decode, encode};
use heddle_isa::text::{TargetNames, column_of, parse_inst, print_with};
use heddle_isa::{Inst, SourceLoc, Targets};

use crate::INSTRUCTION_BYTES;
use crate::Image;
use crate::metadata::{KernelHeader, ObjectMetadata};

/// The text of an object.
///
/// # Errors
/// A word that is no instruction, or code outside every kernel.
pub fn disassemble(image: &Image) -> Result<String, String> {
    let mut out = String::new();
    let header = ObjectMetadata { kernels: Vec::new(), ..image.metadata.clone() };
    let json = |v: serde_json::Result<String>| v.map_err(|e| e.to_string());
    let _ = writeln!(out, ".object {}", json(serde_json::to_string(&header))?);
    for f in &image.files {
        let _ = writeln!(out, ".file {}", json(serde_json::to_string(f))?);
    }
    if !image.data.is_empty() {
        let hex: String = image.data.iter().map(|b| format!("{b:02x}")).collect();
        let _ = writeln!(out, ".data {hex}");
    }
    let mut covered = 0;
    for kernel in &image.metadata.kernels {
        let first = kernel.text_offset as usize / INSTRUCTION_BYTES;
        let count = kernel.text_size as usize / INSTRUCTION_BYTES;
        if first != covered {
            return Err(format!("kernel `{}` does not follow the code before it", kernel.name));
        }
        covered += count;
        let insts: Vec<Inst> = (first..first + count)
            .map(|i| {
                let word = image.text.get(i).copied().ok_or("code is missing")?;
                let mut inst = decode(word).map_err(|e| format!("kernel `{}`, instruction {}: {e}", kernel.name, i - first))?;
                inst.loc = image.lines.get(i).copied().unwrap_or_default();
                Ok(inst)
            })
            .collect::<Result<_, String>>()?;
        let mut labels: BTreeMap<i64, ()> = BTreeMap::new();
        for (i, inst) in insts.iter().enumerate() {
            if let Targets::Offsets { target, reconverge } = inst.targets {
                for d in [Some(target), reconverge].into_iter().flatten() {
                    labels.insert(i as i64 + 1 + i64::from(d), ());
                }
            }
        }
        let bare = KernelHeader { text_offset: 0, text_size: 0, ..kernel.clone() };
        let _ = writeln!(out, "\n.kernel {}", json(serde_json::to_string(&bare))?);
        for (i, inst) in insts.iter().enumerate() {
            if labels.contains_key(&(i as i64)) {
                let _ = writeln!(out, "L{i}:");
            }
            let inside = |d: i32| (0..insts.len() as i64).contains(&(i as i64 + 1 + i64::from(d)));
            let name = |d: i32| if inside(d) { format!("L{}", i as i64 + 1 + i64::from(d)) } else { format!("{d:+}") };
            let _ = writeln!(out, "  {}", print_with(inst, &name, &|offset| kernel.literals.word(offset)));
        }
    }
    if covered != image.text.len() {
        return Err("there is code outside every kernel".into());
    }
    Ok(out)
}

/// An error with its place.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}, column {column}: {message}")]
pub struct AsmError {
    /// Line, from 1.
    pub line: usize,
    /// Column, from 1, in characters.
    pub column: usize,
    /// What is wrong.
    pub message: String,
}

/// Names of targets collected while an instruction is parsed.
struct Labels(Vec<String>);

impl TargetNames for Labels {
    fn target(&mut self, _: &mut Inst, name: &str) -> Result<(), String> {
        self.0.push(name.to_string());
        Ok(())
    }
}

/// An instruction whose labels are not resolved yet.
struct Pending {
    inst: Inst,
    names: Vec<String>,
    line: usize,
    column: usize,
}

/// Assembles the text of an object.
///
/// # Errors
/// The first line that is wrong.
pub fn assemble(text: &str) -> Result<Image, AsmError> {
    let mut image = Image::default();
    let mut kernel: Option<KernelHeader> = None;
    let mut code: Vec<Pending> = Vec::new();
    let mut labels: BTreeMap<String, usize> = BTreeMap::new();
    let mut any_object = false;
    for (number, raw) in text.lines().enumerate() {
        let line = number + 1;
        let indent = raw.len() - raw.trim_start().len();
        let at = |offset: usize, message: String| AsmError { line, column: column_of(raw, indent + offset), message };
        let fail = |message: String| at(0, message);
        let stripped = if raw.trim_start().starts_with('.') { raw } else { raw.split(';').next().unwrap_or_default() };
        let stripped = stripped.trim();
        if stripped.is_empty() {
            continue;
        }
        if let Some(json) = stripped.strip_prefix(".object ") {
            image.metadata = serde_json::from_str(json).map_err(|e| fail(format!("object metadata: {e}")))?;
            any_object = true;
        } else if let Some(json) = stripped.strip_prefix(".file ") {
            image.files.push(serde_json::from_str(json).map_err(|e| fail(format!("file name: {e}")))?);
        } else if let Some(hex) = stripped.strip_prefix(".data ") {
            let pairs = hex.trim().as_bytes().chunks(2);
            let byte =
                |c: &[u8]| std::str::from_utf8(c).ok().filter(|c| c.len() == 2).and_then(|c| u8::from_str_radix(c, 16).ok());
            image.data =
                pairs.map(byte).collect::<Option<_>>().ok_or_else(|| fail("the data are no hexadecimal bytes".into()))?;
        } else if let Some(json) = stripped.strip_prefix(".kernel ") {
            finish(&mut image, kernel.take(), &mut code, &mut labels)?;
            kernel = Some(serde_json::from_str(json).map_err(|e| fail(format!("kernel header: {e}")))?);
        } else if stripped.starts_with('.') {
            return Err(fail(format!("unknown directive `{}`", stripped.split(' ').next().unwrap_or_default())));
        } else if kernel.is_none() {
            return Err(fail("an instruction before the first .kernel".into()));
        } else if let Some(label) = stripped.strip_suffix(':') {
            if labels.insert(label.to_string(), code.len()).is_some() {
                return Err(fail(format!("label {label} is there twice")));
            }
        } else {
            let mut names = Labels(Vec::new());
            let inst = parse_inst(stripped, &mut names).map_err(|e| at(e.offset, e.message))?;
            code.push(Pending { inst, names: names.0, line, column: indent + 1 });
        }
    }
    finish(&mut image, kernel, &mut code, &mut labels)?;
    if !any_object {
        return Err(AsmError { line: 1, column: 1, message: "the .object line is missing".into() });
    }
    let text_bytes = (image.text.len() * INSTRUCTION_BYTES) as u64;
    crate::read::check(&image.metadata, text_bytes, image.data.len() as u64).map_err(|message| AsmError {
        line: 1,
        column: 1,
        message: format!("no object: {message}"),
    })?;
    Ok(image)
}

/// Resolves a kernel's labels and appends its code.
fn finish(
    image: &mut Image,
    kernel: Option<KernelHeader>,
    code: &mut Vec<Pending>,
    labels: &mut BTreeMap<String, usize>,
) -> Result<(), AsmError> {
    let Some(mut kernel) = kernel else { return Ok(()) };
    kernel.text_offset = (image.text.len() * INSTRUCTION_BYTES) as u64;
    kernel.text_size = (code.len() * INSTRUCTION_BYTES) as u64;
    for (i, pending) in code.drain(..).enumerate() {
        let fail = |message: String| AsmError { line: pending.line, column: pending.column, message };
        let mut inst = pending.inst;
        let mut distances = Vec::new();
        for name in &pending.names {
            let distance = match labels.get(name) {
                Some(at) => *at as i64 - i as i64 - 1,
                None => {
                    let number = name.strip_prefix('+').unwrap_or(name).parse::<i32>();
                    i64::from(number.map_err(|_| fail(format!("no label {name} in this kernel")))?)
                }
            };
            distances.push(distance as i32);
        }
        if let Some(target) = distances.first() {
            inst.targets = Targets::Offsets { target: *target, reconverge: distances.get(1).copied() };
        }
        if inst.loc != SourceLoc::default() && inst.loc.file as usize >= image.files.len() {
            let declared = image.files.len();
            return Err(fail(format!("source file {} where {declared} `.file` lines stand before", inst.loc.file)));
        }
        image.text.push(encode(&inst).map_err(|e| fail(e.to_string()))?);
        image.lines.push(inst.loc);
    }
    labels.clear();
    image.metadata.kernels.push(kernel);
    Ok(())
}
