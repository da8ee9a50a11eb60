//! Memory surfaces: what a kernel does with each of its global and constant pointer arguments
//! (G1–G4).
//!
//! # Problem
//! The machine describes memory by surfaces, whose kind is chosen by what the kernel does with
//! them: read or written, with one data type or several.
//!
//! # Algorithm
//! From each argument the pass follows its uses through address arithmetic, casts, selects and phis
//! (G1), counts loads, stores and reductions, and classifies the surface by instruction kinds (G2)
//! and data types (G3).
//!
//! # Limits
//! A pointer that may come from two surfaces belongs to neither; what is done through it still
//! counts against both being read-only. A pointer that leaves the kernel's sight (stored, converted
//! to an integer, passed on) makes its surface untyped and writable.
//!
//! Reads LLVM IR; changes nothing.

use std::collections::BTreeSet;
use std::io::Write;

use inkwell::llvm_sys::LLVMOpcode::*;
use inkwell::llvm_sys::LLVMTypeKind;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::builtins;
use crate::error::PassError;
use crate::facts::Facts;
use crate::ir::address_space::{CONSTANT, GLOBAL};
use crate::ir::{self, Value};

/// The kind of a surface (G2, G3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Read-only, one data type.
    TypedBuffer,
    /// Read-only, several data types.
    RawBuffer,
    /// Written, one data type.
    TypedUav,
    /// Written, several data types.
    UntypedUav,
    /// An image: sampled, or written texel by texel (G2).
    TypedImage,
    /// Never accessed.
    Unused,
}

impl Kind {
    /// Its name in listings.
    pub fn name(self) -> &'static str {
        match self {
            Kind::TypedBuffer => "typed buffer",
            Kind::RawBuffer => "raw buffer",
            Kind::TypedUav => "typed UAV",
            Kind::UntypedUav => "untyped UAV",
            Kind::TypedImage => "typed image",
            Kind::Unused => "unused",
        }
    }
    /// Whether the kernel writes it.
    pub fn is_written(self) -> bool {
        matches!(self, Kind::TypedUav | Kind::UntypedUav)
    }
}

/// What a kernel does with one argument.
#[derive(Clone, Debug, Default)]
pub struct Surface {
    /// Number of the argument.
    pub argument: u32,
    /// Loads.
    pub loads: Vec<Value>,
    /// Stores.
    pub stores: Vec<Value>,
    /// Reads and writes of an image.
    pub samples: Vec<Value>,
    /// It is a sampler, no surface.
    pub sampler: bool,
    /// Reductions: atomic operations.
    pub reductions: Vec<Value>,
    /// Data types, as LLVM writes them.
    pub types: BTreeSet<String>,
    /// Something the pass cannot follow happens to a pointer into it.
    pub escapes: bool,
    /// Written through a pointer that may also point elsewhere.
    pub written_elsewhere: bool,
}

impl Surface {
    /// Its kind.
    pub fn kind(&self) -> Kind {
        let written = !self.stores.is_empty() || !self.reductions.is_empty() || self.escapes || self.written_elsewhere;
        let one = self.types.len() == 1 && !self.escapes && !self.written_elsewhere;
        match (written, one) {
            _ if !self.samples.is_empty() => Kind::TypedImage,
            _ if !written && self.loads.is_empty() => Kind::Unused,
            (false, true) => Kind::TypedBuffer,
            (false, false) => Kind::RawBuffer,
            (true, true) => Kind::TypedUav,
            (true, false) => Kind::UntypedUav,
        }
    }
}

/// The surfaces of a kernel, in order of its arguments.
pub fn analyze(kernel: Value) -> Vec<Surface> {
    let is_surface =
        |p: &Value| p.type_kind() == LLVMTypeKind::LLVMPointerTypeKind && matches!(p.address_space(), GLOBAL | CONSTANT);
    let arguments: Vec<(u32, Value)> = (0..).zip(ir::params(kernel)).filter(|(_, p)| is_surface(p)).collect();
    let mut surfaces: Vec<Surface> =
        arguments.iter().map(|(argument, _)| Surface { argument: *argument, ..Default::default() }).collect();
    let origins = origins(&arguments);
    let elsewhere = may_point_elsewhere(&origins);
    for (pointer, from) in &origins {
        let alone = from.len() == 1 && !elsewhere.contains(pointer);
        for user in pointer.users().filter(|u| u.is_instruction()) {
            from.iter().for_each(|i| surfaces[*i].add_use(*pointer, user, alone));
        }
    }
    surfaces.retain(|s| !s.sampler);
    for s in &mut surfaces {
        for list in [&mut s.loads, &mut s.stores, &mut s.reductions, &mut s.samples] {
            list.sort_unstable();
            list.dedup();
        }
    }
    surfaces
}

/// Whether an instruction's result is a pointer derived from its operand `pointer`.
fn derives(user: Value, pointer: Value) -> bool {
    user.is_instruction()
        && match user.opcode() {
            LLVMGetElementPtr => user.operand(0) == pointer,
            LLVMBitCast | LLVMAddrSpaceCast | LLVMFreeze | LLVMPHI | LLVMSelect => true,
            _ => false,
        }
}

/// Pointers derived from some, and these.
fn derived_from(mut stack: Vec<Value>) -> FxHashSet<Value> {
    let mut seen = FxHashSet::default();
    while let Some(v) = stack.pop() {
        if seen.insert(v) {
            stack.extend(v.users().filter(|u| derives(*u, v)));
        }
    }
    seen
}

/// Which of the arguments each pointer may come from, by their places in the list.
fn origins(arguments: &[(u32, Value)]) -> FxHashMap<Value, BTreeSet<usize>> {
    let mut origins: FxHashMap<Value, BTreeSet<usize>> = FxHashMap::default();
    for (i, (_, argument)) in arguments.iter().enumerate() {
        for pointer in derived_from(vec![*argument]) {
            origins.entry(pointer).or_default().insert(i);
        }
    }
    origins
}

/// Pointers that a select or phi with an input of unknown origin may have made point elsewhere.
fn may_point_elsewhere(origins: &FxHashMap<Value, BTreeSet<usize>>) -> FxHashSet<Value> {
    let foreign = |v: Value| !origins.contains_key(&v) && !v.is_undefined();
    let merges = |v: &Value| match v.is_instruction().then(|| v.opcode()) {
        Some(LLVMPHI) => v.incoming().any(|(x, _)| foreign(x)),
        Some(LLVMSelect) => [1, 2].iter().any(|i| foreign(v.operand(*i))),
        _ => false,
    };
    derived_from(origins.keys().copied().filter(merges).collect())
}

impl Surface {
    /// Takes note of an instruction that uses a pointer into the surface; `alone`: and into no
    /// other one.
    fn add_use(&mut self, pointer: Value, user: Value, alone: bool) {
        let written = match user.opcode() {
            LLVMLoad => {
                if alone {
                    self.types.insert(user.type_text());
                    self.loads.push(user);
                }
                return;
            }
            LLVMStore if user.operand(1) == pointer && user.operand(0) != pointer => (&mut self.stores, user.operand(0)),
            LLVMAtomicRMW | LLVMAtomicCmpXchg if user.operand(0) == pointer => (&mut self.reductions, user.operand(1)),
            LLVMGetElementPtr if user.operand(0) == pointer => return,
            LLVMBitCast | LLVMAddrSpaceCast | LLVMFreeze | LLVMPHI | LLVMSelect | LLVMICmp => return,
            LLVMCall => return self.add_call(pointer, user),
            _ => {
                self.escapes = true;
                return;
            }
        };
        if alone {
            let (list, value) = written;
            list.push(user);
            self.types.insert(value.type_text());
        } else {
            self.written_elsewhere = true;
        }
    }

    fn add_call(&mut self, pointer: Value, call: Value) {
        match image_function(call) {
            _ if is_hint(call) => {}
            Some(ImageFunction::Access) if call.operand(0) != pointer => self.sampler = true,
            Some(ImageFunction::Access) => self.samples.push(call),
            Some(ImageFunction::Query) => {}
            None => self.escapes = true,
        }
    }
}

/// Whether a call neither reads nor writes memory that the kernel sees: prefetches, assumptions,
/// debug information.
fn is_hint(call: Value) -> bool {
    const HINTS: [&str; 5] = ["__heddle_prefetch", "llvm.prefetch", "llvm.dbg.", "llvm.lifetime.", "llvm.assume"];
    let name = call.called_name();
    HINTS.iter().any(|start| name.starts_with(start))
}

/// What an image function does.
enum ImageFunction {
    /// Reads or writes texels.
    Access,
    /// Answers about the image.
    Query,
}

/// The image function that a call calls.
fn image_function(call: Value) -> Option<ImageFunction> {
    let name = call.called_name();
    if builtins::is_image_query(&name) {
        return Some(ImageFunction::Query);
    }
    builtins::is_image_access(&name).then_some(ImageFunction::Access)
}

/// How an element type is accessed if a typed surface's element has at most `components` components
/// of at most 32 bits: `None` if as it is (G4).
pub fn rewritten(ty: &str, components: u32) -> Option<String> {
    let (count, element) = match ty.strip_prefix('<').and_then(|t| t.strip_suffix('>')).and_then(|t| t.split_once(" x ")) {
        Some((n, e)) => (n.parse().ok()?, e),
        None => (1, ty),
    };
    let bits: u32 = match element {
        "half" => 16,
        "float" => 32,
        "double" => 64,
        e => e.strip_prefix('i')?.parse().ok()?,
    };
    if count <= components && (bits <= 32 || count == 1) && count != 3 {
        return None;
    }
    let words = (count * bits).div_ceil(32);
    Some(format!("{words} x 32 bits"))
}

/// Prints the surfaces of a kernel.
///
/// # Errors
/// Those of the output.
pub fn print(kernel: Value, facts: Facts, out: &mut dyn Write) -> Result<(), PassError> {
    writeln!(out, "surfaces of {}:", kernel.name())?;
    let params = ir::params(kernel);
    for s in analyze(kernel) {
        let name = params[s.argument as usize].label();
        let types: Vec<String> = s
            .types
            .iter()
            .map(|t| match rewritten(t, facts.surface_components) {
                Some(r) => format!("{t} as {r}"),
                None => t.clone(),
            })
            .collect();
        let notes = match (s.escapes, s.written_elsewhere) {
            (true, _) => ", escapes",
            (_, true) => ", written through a pointer that may point elsewhere",
            _ => "",
        };
        writeln!(
            out,
            "  %{name}: {}{}, {} loads, {} stores, {} reductions, of {{{}}}{notes}",
            s.kind().name(),
            if s.samples.is_empty() { String::new() } else { format!(", {} samples", s.samples.len()) },
            s.loads.len(),
            s.stores.len(),
            s.reductions.len(),
            types.join(", ")
        )?;
    }
    Ok(())
}
