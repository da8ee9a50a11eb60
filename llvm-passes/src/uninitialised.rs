//! Compiling for checking mode: optimisations must not remove what is to be found.
//!
//! To LLVM a read of an uninitialised variable is `undef`, and gone after the first pass. So this runs on clang's unoptimised code, with everything
//! inlined: a load of a local variable that is not certainly written on every path to it becomes volatile, which keeps the variable in private memory,
//! where the simulator sees whether anything was written, and follows what was not to where it is used. All other variables are promoted as always.
//!
//! A write at an index that is not known here, or through a pointer that this analysis does not follow, certainly writes nothing; a read at such an
//! index may be of every byte. Left alone are `memcpy` of structs, which the simulator follows, and loads through pointers that are not followed. Work-group variables are said to be initialised from outside, so that reads of what no code writes stay.
//! Kernels get LLVM's `sanitize_thread` while they are optimised: no load is made unconditional, which could race where the program does not.

use std::collections::{HashMap, HashSet};

use inkwell::attributes::{Attribute, AttributeLoc};
use inkwell::llvm_sys::LLVMOpcode::*;
use inkwell::llvm_sys::LLVMTypeKind::*;
use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::prelude::LLVMTypeRef;
use inkwell::llvm_sys::target::*;
use inkwell::module::Module;

use crate::PassError;
use crate::ir::{self, BlockRef, Value};
use crate::pipeline::run_llvm;

/// Larger variables are left alone.
const MOST_BYTES: u64 = 4096;

/// Inlines what is marked `alwaysinline` in clang's unoptimised code, and keeps what checking mode is to see.
///
/// # Errors
/// LLVM's message.
pub fn keep(module: &Module) -> Result<(), PassError> {
    run_llvm(module, "always-inline,globaldce")?;
    let context = module.get_context();
    let thread = Attribute::get_named_enum_kind_id("sanitize_thread");
    for function in module.get_functions().filter(|f| f.count_basic_blocks() > 0) {
        keep_loads(module, Value::of(function));
        function.add_attribute(AttributeLoc::Function, context.create_enum_attribute(thread, 0));
    }
    for global in module.get_globals() {
        if Value::of(global).address_space() == 3 {
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
type Uses = HashMap<Value, (Event, u64, u64)>;

/// Makes loads volatile that may read what is not written.
fn keep_loads(module: &Module, function: Value) {
    // SAFETY: a live module.
    let layout = unsafe { LLVMGetModuleDataLayout(module.as_mut_ptr()) };
    let blocks = ir::blocks(function);
    for alloca in blocks.iter().flat_map(|b| b.instructions()).filter(|i| i.opcode() == LLVMAlloca).collect::<Vec<_>>() {
        // SAFETY: a live alloca; sizes of sized types.
        let size = unsafe { LLVMABISizeOfType(layout, LLVMGetAllocatedType(alloca.0)) };
        let mut uses = Uses::new();
        if size == 0 || size > MOST_BYTES {
            continue;
        }
        follow(layout, alloca, Some(0), size, &mut uses, &mut HashSet::new());
        for load in unwritten(&blocks, &uses, size as usize) {
            if load.has_uses() {
                // SAFETY: a live load.
                unsafe { LLVMSetVolatile(load.0, 1) };
            }
        }
    }
}

/// Collects what is done through a pointer to byte `offset` of the variable; `None`: to any of its bytes.
fn follow(layout: LLVMTargetDataRef, pointer: Value, offset: Option<u64>, size: u64, uses: &mut Uses, seen: &mut HashSet<Value>) {
    // SAFETY (function): live instructions of a verified module.
    let size_of = |t: LLVMTypeRef| unsafe { LLVMABISizeOfType(layout, t) };
    let read = |bytes: u64| offset.map_or((Event::Read, 0, size), |at| (Event::Read, at, bytes));
    let write = |bytes: u64| offset.map_or((Event::Write, 0, 0), |at| (Event::Write, at, bytes));
    for user in pointer.users().filter(|u| u.is_instruction()) {
        match user.opcode() {
            LLVMLoad => {
                uses.insert(user, read(size_of(user.ty())));
            }
            LLVMStore if user.operand(0) == pointer => {
                // The address goes into a variable: an inlined function's parameter, if it is written once and only read.
                let slot = user.operand(1);
                let reads = |u: &Value| u.is_instruction() && u.opcode() == LLVMLoad;
                let lifetime =
                    |u: &Value| u.is_instruction() && u.opcode() == LLVMCall && intrinsic(*u).starts_with("llvm.lifetime.");
                let mut users = slot.users();
                let is_slot =
                    slot.is_instruction() && slot.opcode() == LLVMAlloca && users.all(|u| u == user || reads(&u) || lifetime(&u));
                if is_slot && seen.insert(slot) {
                    for load in slot.users().filter(reads) {
                        follow(layout, load, offset, size, uses, seen);
                    }
                }
            }
            LLVMStore => {
                uses.insert(user, write(size_of(user.operand(0).ty())));
            }
            LLVMGetElementPtr => {
                let sum = offset.and_then(|at| constant_offset(layout, user).map(|more| at.wrapping_add(more)));
                follow(layout, user, sum, size, uses, seen);
            }
            LLVMBitCast | LLVMAddrSpaceCast => follow(layout, user, offset, size, uses, seen),
            LLVMCall => {
                let name = intrinsic(user);
                let fills = name.starts_with("llvm.memset.") || name.starts_with("llvm.memcpy.") && user.operand(0) == pointer;
                if name.starts_with("llvm.lifetime.start") {
                    uses.insert(user, (Event::Clear, 0, size));
                } else if fills {
                    uses.insert(user, write(user.operand(2).as_constant_int().unwrap_or(0)));
                }
            }
            _ => {}
        }
    }
}

/// The name of the intrinsic that is called; empty for other calls.
fn intrinsic(call: Value) -> String {
    call.called_function().map(Value::name).filter(|n| n.starts_with("llvm.")).unwrap_or_default()
}

/// Bytes that a GEP of constants adds.
fn constant_offset(layout: LLVMTargetDataRef, gep: Value) -> Option<u64> {
    // SAFETY (function): types of a live GEP, walked as its indices say.
    unsafe {
        let mut ty = LLVMGetGEPSourceElementType(gep.0);
        let index = |i: u32| {
            let v = gep.operand(i);
            let bits = 64 - LLVMGetIntTypeWidth(v.ty()).min(64);
            v.as_constant_int().map(|n| ((n << bits) as i64 >> bits) as u64)
        };
        let mut at = index(1)?.wrapping_mul(LLVMABISizeOfType(layout, ty));
        for i in 2..gep.operand_count() {
            let n = index(i)?;
            match LLVMGetTypeKind(ty) {
                LLVMStructTypeKind => {
                    at = at.wrapping_add(LLVMOffsetOfElement(layout, ty, n as u32));
                    ty = LLVMStructGetTypeAtIndex(ty, n as u32);
                }
                LLVMArrayTypeKind | LLVMVectorTypeKind => {
                    ty = LLVMGetElementType(ty);
                    at = at.wrapping_add(n.wrapping_mul(LLVMABISizeOfType(layout, ty)));
                }
                _ => return None,
            }
        }
        Some(at)
    }
}

/// Loads that a path reaches on which some of their bytes are not written.
fn unwritten(blocks: &[BlockRef], uses: &Uses, size: usize) -> Vec<Value> {
    let number: HashMap<BlockRef, usize> = blocks.iter().enumerate().map(|(i, b)| (*b, i)).collect();
    let mut events: Vec<Vec<Value>> = vec![Vec::new(); blocks.len()];
    let touched: HashSet<usize> = uses.keys().filter_map(|u| number.get(&u.parent()).copied()).collect();
    for b in touched {
        events[b] = blocks[b].instructions().filter(|i| uses.contains_key(i)).collect();
    }
    let range = |offset: u64, bytes: u64| (offset as usize).min(size)..(offset.saturating_add(bytes) as usize).min(size);
    // Bytes written on all paths; before a block is reached, all.
    let mut before = vec![vec![true; size]; blocks.len()];
    before[0] = vec![false; size];
    let mut work = vec![0];
    let mut visited = vec![false; blocks.len()];
    visited[0] = true;
    let apply = |state: &mut Vec<bool>, i: Value| match uses[&i] {
        (Event::Write, offset, bytes) => state[range(offset, bytes)].fill(true),
        (Event::Clear, ..) => state.fill(false),
        (Event::Read, ..) => {}
    };
    while let Some(b) = work.pop() {
        let mut state = before[b].clone();
        events[b].iter().for_each(|i| apply(&mut state, *i));
        for next in blocks[b].terminator().successors() {
            let Some(&n) = number.get(&next) else { continue };
            let mut changed = !visited[n];
            visited[n] = true;
            for (to, from) in before[n].iter_mut().zip(&state) {
                changed |= *to && !from;
                *to &= from;
            }
            if changed {
                work.push(n);
            }
        }
    }
    let mut result = Vec::new();
    for (b, list) in events.iter().enumerate().filter(|(b, _)| visited[*b]) {
        let mut state = before[b].clone();
        for i in list {
            if let (Event::Read, offset, bytes) = uses[i] {
                if state[range(offset, bytes)].contains(&false) {
                    result.push(*i);
                }
            }
            apply(&mut state, *i);
        }
    }
    result
}
