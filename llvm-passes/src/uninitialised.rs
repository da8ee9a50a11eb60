//! Keeping reads of uninitialised variables for checking mode: optimisations must not remove what
//! is to be found.
//!
//! # Problem
//! To LLVM a read of an uninitialised variable is `undef`, and gone after the first pass.
//!
//! # Algorithm
//! This runs on clang's unoptimised code, with everything inlined: a load of a local variable that
//! is not certainly written on every path to it becomes volatile, which keeps the variable in
//! private memory, where the simulator sees whether anything was written, and follows what was not
//! to where it is used. A forward data-flow problem with a bit for each byte of the variable says
//! which loads these are. All other variables are promoted as always. Work-group variables are said
//! to be initialised from outside, so that reads of what no code writes stay. Kernels get LLVM's
//! `sanitize_thread` while they are optimised: no load is made unconditional, which could race
//! where the program does not.
//!
//! # Limits
//! A write at an index that is not known here, or through a pointer that this analysis does not
//! follow, certainly writes nothing; a read at such an index may be of every byte. Left alone are
//! variables of more than 4096 bytes, `memcpy` of structs, which the simulator follows, and loads
//! through pointers that are not followed.

use std::collections::{HashMap, HashSet};

use inkwell::attributes::{Attribute, AttributeLoc};
use inkwell::llvm_sys::LLVMOpcode::*;
use inkwell::llvm_sys::core::{LLVMGetAllocatedType, LLVMSetVolatile};
use inkwell::module::Module;

use crate::error::PassError;
use crate::ir::address_space::LOCAL;
use crate::ir::layout::Layout;
use crate::ir::{self, BlockRef, Type, Value, llvm_passes};

/// Larger variables are left alone.
const MOST_BYTES: u64 = 4096;

/// Inlines what is marked `alwaysinline` in clang's unoptimised code, and keeps what checking mode
/// is to see.
///
/// # Errors
/// LLVM's message.
pub fn keep(module: &Module) -> Result<(), PassError> {
    llvm_passes::run(module, "always-inline,globaldce")?;
    let context = module.get_context();
    let thread = Attribute::get_named_enum_kind_id("sanitize_thread");
    for function in module.get_functions().filter(|f| f.count_basic_blocks() > 0) {
        keep_loads(module, Value::of(function));
        function.add_attribute(AttributeLoc::Function, context.create_enum_attribute(thread, 0));
    }
    for global in module.get_globals() {
        if Value::of(global).address_space() == LOCAL {
            global.set_externally_initialized(true);
        }
    }
    Ok(())
}

/// What happens to bytes of a variable.
#[derive(Clone, Copy, PartialEq)]
enum Event {
    Read,
    Write,
    /// Lifetime starts: nothing is written.
    Clear,
}

/// Accesses of a variable by instruction: first byte, bytes.
type Found = HashMap<Value, (Event, u64, u64)>;

/// The accesses of a variable while they are looked for.
struct Accesses<'a> {
    layout: &'a Layout,
    /// Bytes of the variable.
    size: u64,
    found: Found,
    /// Variables that hold its address and have been followed.
    slots: HashSet<Value>,
}

/// Makes loads volatile that may read what is not written.
fn keep_loads(module: &Module, function: Value) {
    let layout = Layout::of_module(module);
    let blocks = ir::blocks(function);
    for alloca in blocks.iter().flat_map(|b| b.instructions()).filter(|i| i.opcode() == LLVMAlloca).collect::<Vec<_>>() {
        // SAFETY: a live alloca.
        let size = layout.size(Type(unsafe { LLVMGetAllocatedType(alloca.0) }));
        if size == 0 || size > MOST_BYTES {
            continue;
        }
        let mut accesses = Accesses { layout: &layout, size, found: Found::new(), slots: HashSet::new() };
        accesses.follow(alloca, Some(0));
        for load in unwritten(&blocks, &accesses.found, size as usize) {
            if load.has_uses() {
                // SAFETY: a live load.
                unsafe { LLVMSetVolatile(load.0, 1) };
            }
        }
    }
}

impl Accesses<'_> {
    /// Collects what is done through a pointer to byte `offset` of the variable; `None`: to any of
    /// its bytes.
    fn follow(&mut self, pointer: Value, offset: Option<u64>) {
        let size = self.size;
        let read = |bytes: u64| offset.map_or((Event::Read, 0, size), |at| (Event::Read, at, bytes));
        let write = |bytes: u64| offset.map_or((Event::Write, 0, 0), |at| (Event::Write, at, bytes));
        for user in pointer.users().filter(|u| u.is_instruction()) {
            match user.opcode() {
                LLVMLoad => {
                    self.found.insert(user, read(self.layout.size(Type(user.ty()))));
                }
                LLVMStore if user.operand(0) == pointer => self.follow_stored(user, offset),
                LLVMStore => {
                    self.found.insert(user, write(self.layout.size(Type(user.operand(0).ty()))));
                }
                LLVMGetElementPtr => {
                    let sum = offset.and_then(|at| self.layout.constant_offset(user).map(|more| at.wrapping_add(more)));
                    self.follow(user, sum);
                }
                LLVMBitCast | LLVMAddrSpaceCast => self.follow(user, offset),
                LLVMCall => {
                    let name = intrinsic(user);
                    let fills =
                        name.starts_with("llvm.memset.") || name.starts_with("llvm.memcpy.") && user.operand(0) == pointer;
                    if name.starts_with("llvm.lifetime.start") {
                        self.found.insert(user, (Event::Clear, 0, size));
                    } else if fills {
                        self.found.insert(user, write(user.operand(2).as_constant_int().unwrap_or(0)));
                    }
                }
                _ => {}
            }
        }
    }

    /// Follows an address that is stored into a variable: an inlined function's parameter, if it is
    /// written once and only read.
    fn follow_stored(&mut self, store: Value, offset: Option<u64>) {
        let slot = store.operand(1);
        let reads = |u: &Value| u.is_instruction() && u.opcode() == LLVMLoad;
        let lifetime = |u: &Value| u.is_instruction() && u.opcode() == LLVMCall && intrinsic(*u).starts_with("llvm.lifetime.");
        let is_slot =
            slot.is_instruction() && slot.opcode() == LLVMAlloca && slot.users().all(|u| u == store || reads(&u) || lifetime(&u));
        if is_slot && self.slots.insert(slot) {
            slot.users().filter(reads).for_each(|load| self.follow(load, offset));
        }
    }
}

/// The name of the intrinsic that is called; empty for other calls.
fn intrinsic(call: Value) -> String {
    Some(call.called_name()).filter(|n| n.starts_with("llvm.")).unwrap_or_default()
}

/// Bytes of a variable that are written.
type Written = Vec<bool>;

/// Which bytes of a variable are written on all paths: a forward data-flow problem over its
/// accesses.
struct Flow<'a> {
    blocks: &'a [BlockRef],
    found: &'a Found,
    size: usize,
    number: HashMap<BlockRef, usize>,
    /// Accesses by block, in order.
    events: Vec<Vec<Value>>,
}

impl<'a> Flow<'a> {
    fn new(blocks: &'a [BlockRef], found: &'a Found, size: usize) -> Self {
        let number: HashMap<BlockRef, usize> = blocks.iter().enumerate().map(|(i, b)| (*b, i)).collect();
        let mut events = vec![Vec::new(); blocks.len()];
        let touched: HashSet<usize> = found.keys().filter_map(|u| number.get(&u.parent()).copied()).collect();
        for b in touched {
            events[b] = blocks[b].instructions().filter(|i| found.contains_key(i)).collect();
        }
        Flow { blocks, found, size, number, events }
    }

    fn range(&self, offset: u64, bytes: u64) -> std::ops::Range<usize> {
        (offset as usize).min(self.size)..(offset.saturating_add(bytes) as usize).min(self.size)
    }

    fn apply(&self, written: &mut Written, access: Value) {
        match self.found[&access] {
            (Event::Write, offset, bytes) => written[self.range(offset, bytes)].fill(true),
            (Event::Clear, ..) => written.fill(false),
            (Event::Read, ..) => {}
        }
    }

    /// What is written on all paths to each block; `None` for blocks that nothing reaches.
    fn solve(&self) -> Vec<Option<Written>> {
        let mut before: Vec<Option<Written>> = vec![None; self.blocks.len()];
        before[0] = Some(vec![false; self.size]);
        let mut work = vec![0];
        while let Some(b) = work.pop() {
            let Some(mut written) = before[b].clone() else { continue };
            self.events[b].iter().for_each(|i| self.apply(&mut written, *i));
            for next in self.blocks[b].terminator().successors() {
                let Some(&n) = self.number.get(&next) else { continue };
                let Some(old) = &mut before[n] else {
                    before[n] = Some(written.clone());
                    work.push(n);
                    continue;
                };
                let mut changed = false;
                for (to, from) in old.iter_mut().zip(&written) {
                    changed |= *to && !from;
                    *to &= from;
                }
                if changed {
                    work.push(n);
                }
            }
        }
        before
    }
}

/// Loads that a path reaches on which some of their bytes are not written.
fn unwritten(blocks: &[BlockRef], found: &Found, size: usize) -> Vec<Value> {
    let flow = Flow::new(blocks, found, size);
    let mut result = Vec::new();
    for (mut written, events) in flow.solve().into_iter().zip(&flow.events).filter_map(|(w, e)| Some((w?, e))) {
        for i in events {
            if let (Event::Read, offset, bytes) = found[i] {
                if written[flow.range(offset, bytes)].contains(&false) {
                    result.push(*i);
                }
            }
            flow.apply(&mut written, *i);
        }
    }
    result
}
