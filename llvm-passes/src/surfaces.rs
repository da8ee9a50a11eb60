//! Memory surfaces: what a kernel does with each of its global and constant pointer arguments (G1–G4).
//!
//! From each argument the pass follows its uses through address arithmetic, casts, selects and phis (G1), counts loads, stores and reductions, and
//! classifies the surface by instruction kinds (G2) and data types (G3). A pointer that may come from two surfaces belongs to neither; what is done through
//! it still counts against both being read-only. A pointer that leaves the kernel's sight (stored, converted to an integer, passed on) makes its surface untyped and writable.
//!
//! Reads LLVM IR; changes nothing.

use std::collections::BTreeSet;
use std::io::Write;

use inkwell::llvm_sys::LLVMOpcode::*;
use inkwell::llvm_sys::LLVMTypeKind;
use inkwell::llvm_sys::core::*;
use rustc_hash::{FxHashMap, FxHashSet};

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
pub fn analyze(function: Value) -> Vec<Surface> {
    let arguments: Vec<Value> = ir::params(function)
        .into_iter()
        .filter(|p| p.type_kind() == LLVMTypeKind::LLVMPointerTypeKind && matches!(p.address_space(), 1 | 4))
        .collect();
    // Which surfaces each pointer may come from.
    let mut origins: FxHashMap<Value, BTreeSet<usize>> = FxHashMap::default();
    for (i, a) in arguments.iter().enumerate() {
        let mut seen = FxHashSet::default();
        let mut stack = vec![*a];
        while let Some(p) = stack.pop() {
            if !seen.insert(p) {
                continue;
            }
            origins.entry(p).or_default().insert(i);
            for user in p.users().filter(|u| u.is_instruction()) {
                let follows = match user.opcode() {
                    LLVMGetElementPtr => user.operand(0) == p,
                    LLVMBitCast | LLVMAddrSpaceCast | LLVMFreeze | LLVMPHI | LLVMSelect => true,
                    _ => false,
                };
                if follows {
                    stack.push(user);
                }
            }
        }
    }
    let params = ir::params(function);
    let number = |a: &Value| params.iter().position(|p| p == a).unwrap_or(0) as u32;
    let mut surfaces: Vec<Surface> = arguments.iter().map(|a| Surface { argument: number(a), ..Default::default() }).collect();
    let merges = |v: Value| {
        // A select or phi with an input that is no pointer of ours points elsewhere, too.
        matches!(v.opcode(), LLVMPHI | LLVMSelect)
            && match v.opcode() {
                LLVMPHI => v.incoming().any(|(x, _)| !origins.contains_key(&x) && !is_undefined(x)),
                _ => [1, 2].iter().any(|i| !origins.contains_key(&v.operand(*i)) && !is_undefined(v.operand(*i))),
            }
    };
    let foreign: FxHashSet<Value> = closure(origins.keys().copied().filter(|v| v.is_instruction() && merges(*v)).collect());
    for (pointer, from) in &origins {
        let alone = from.len() == 1 && !foreign.contains(pointer);
        for user in pointer.users().filter(|u| u.is_instruction()) {
            for &i in from {
                let s = &mut surfaces[i];
                let ty = |v: Value| type_text(v);
                match user.opcode() {
                    LLVMLoad if alone => {
                        s.types.insert(ty(user));
                        s.loads.push(user);
                    }
                    LLVMLoad => {}
                    LLVMStore if user.operand(1) == *pointer && user.operand(0) != *pointer => {
                        if alone {
                            s.types.insert(ty(user.operand(0)));
                            s.stores.push(user);
                        } else {
                            s.written_elsewhere = true;
                        }
                    }
                    LLVMAtomicRMW | LLVMAtomicCmpXchg if user.operand(0) == *pointer => {
                        if alone {
                            s.types.insert(ty(user.operand(1)));
                            s.reductions.push(user);
                        } else {
                            s.written_elsewhere = true;
                        }
                    }
                    LLVMGetElementPtr if user.operand(0) == *pointer => {}
                    LLVMBitCast | LLVMAddrSpaceCast | LLVMFreeze | LLVMPHI | LLVMSelect | LLVMICmp => {}
                    LLVMCall if is_debug(user) => {}
                    LLVMCall if image_function(user) == Some(true) && user.operand(0) != *pointer => s.sampler = true,
                    LLVMCall if image_function(user) == Some(true) => s.samples.push(user),
                    LLVMCall if image_function(user).is_some() => {}
                    _ => s.escapes = true,
                }
            }
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

/// Pointers derived from some.
fn closure(mut stack: Vec<Value>) -> FxHashSet<Value> {
    let mut seen = FxHashSet::default();
    while let Some(v) = stack.pop() {
        if seen.insert(v) {
            let derived = v.users().filter(|u| {
                u.is_instruction()
                    && matches!(
                        u.opcode(),
                        LLVMGetElementPtr | LLVMBitCast | LLVMAddrSpaceCast | LLVMFreeze | LLVMPHI | LLVMSelect
                    )
            });
            stack.extend(derived);
        }
    }
    seen
}

fn is_undefined(v: Value) -> bool {
    // SAFETY: reads a live value.
    unsafe { LLVMIsUndef(v.0) != 0 || LLVMIsPoison(v.0) != 0 }
}

fn is_debug(call: Value) -> bool {
    call.called_function().is_some_and(|f| {
        let name = f.name();
        name.starts_with("__heddle_prefetch")
            || name.starts_with("llvm.prefetch")
            || name.starts_with("llvm.dbg.")
            || name.starts_with("llvm.lifetime.")
            || name.starts_with("llvm.assume")
    })
}

/// Whether a call is of an image function; and whether that reads or writes texels.
fn image_function(call: Value) -> Option<bool> {
    let name = call.called_function()?.name();
    if crate::builtins::is_image_query(&name) {
        return Some(false);
    }
    (name.starts_with("_Z") && (name.contains("read_image") || name.contains("write_image"))).then_some(true)
}

fn type_text(v: Value) -> String {
    // SAFETY: prints the type of a live value; the string is copied and freed.
    unsafe {
        let p = LLVMPrintTypeToString(v.ty());
        let s = std::ffi::CStr::from_ptr(p).to_string_lossy().into_owned();
        LLVMDisposeMessage(p);
        s
    }
}

/// How an element type is accessed if a typed surface's element has at most `components` components of at most 32 bits: `None` if as it is (G4).
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
pub fn print(function: Value, components: u32, out: &mut dyn Write) -> std::io::Result<()> {
    writeln!(out, "surfaces of {}:", function.name())?;
    let params = ir::params(function);
    for s in analyze(function) {
        let name = params[s.argument as usize].label();
        let types: Vec<String> = s
            .types
            .iter()
            .map(|t| match rewritten(t, components) {
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
