//! Private arrays that fixed loops index become variables.
//!
//! # Problem
//! Programs that give each work-item several elements keep them in arrays: `for (i = 0; i < 8; i++) sum[i] += x * y[i];`. Registers
//! have no addresses, so an array lives in private memory, and goes through the caches, unless each index is a constant. Clang
//! writes such loops out as long as their copies are small, by a size that is the same for all loops; a loop too large for it costs
//! many times as much as its copies would.
//!
//! # Algorithm
//! For each array that does not escape, the indices with which it is accessed are followed to the counters that they are made of. If
//! all are counters of loops whose number of iterations is a constant ([`trips`]), all these loops become as many copies as they
//! have iterations (LLVM's `loop-unroll` by `llvm.loop.unroll.count`), and LLVM's `sroa` makes variables of the array's elements.
//! Arrays that need no loop of others come first by their sizes, as long as all together have room in registers ([`MOST_WORDS`])
//! and the function stays below a size ([`MOST_SIZE`]).
//!
//! A loop of which LLVM has made some copies and said that it is not to become more is taken all the same; one of which the program
//! says that is not ([`is_unrolled`]).
//!
//! # Reference
//! LLVM's AMDGPU target raises its threshold of unrolling for loops that index private arrays (`AMDGPUTargetTransformInfo.cpp`,
//! `getUnrollingPreferences`, `amdgpu-unroll-threshold-private`).
//!
//! May touch: the loops, and in modules that have such arrays what LLVM's passes simplify.

use inkwell::llvm_sys::LLVMIntPredicate::{self, *};
use inkwell::llvm_sys::LLVMOpcode::*;
use inkwell::llvm_sys::core::{LLVMGetAllocatedType, LLVMGetICmpPredicate};
use inkwell::module::Module;
use rustc_hash::FxHashSet;

use crate::error::PassError;
use crate::ir::cfg::{Cfg, Index, Loop};
use crate::ir::layout::Layout;
use crate::ir::metadata::{self, Writer};
use crate::ir::{Type, Value, function, llvm_passes};
use crate::unroll::{self, shape};

/// Words of all arrays of a function that become variables. With as many, and as many others, a third of the warps of an SM have
/// room in the default machine.
const MOST_WORDS: u64 = 160;

/// Instructions of a function's loops once they are copies.
const MOST_SIZE: usize = 6000;

/// Iterations of a loop that becomes copies.
const MOST_TRIPS: u64 = 64;

/// Makes variables of arrays in all functions of a module.
///
/// # Errors
/// LLVM's message.
pub fn promote(module: &Module) -> Result<(), PassError> {
    let mut any = false;
    for body in function::bodies(module) {
        any |= mark(body);
    }
    if !any {
        return Ok(());
    }
    let passes = format!("{},sroa,early-cse,{},simplifycfg", unroll::MARKED, unroll::COMBINE);
    llvm_passes::run(module, &format!("function({passes})"))
}

/// A loop whose number of iterations is known.
struct Fixed {
    /// Its number among the graph's.
    number: usize,
    trips: u64,
    /// Its counter.
    counter: Value,
    /// The branch at its end.
    end: Value,
}

/// Says of loops that index private arrays how many copies they are to become; whether there is one.
fn mark(body: Value) -> bool {
    let allocas: Vec<Value> =
        function::blocks(body).into_iter().flat_map(|b| b.instructions()).filter(|i| i.opcode() == LLVMAlloca).collect();
    if allocas.is_empty() {
        return false;
    }
    let cfg = Cfg::new(body);
    let fixed: Vec<Fixed> = (0..cfg.loops.len()).filter_map(|l| fixed_loop(&cfg, l)).collect();
    if fixed.is_empty() {
        return false;
    }
    let layout = Layout::of_function(body);
    let mut arrays: Vec<(u64, FxHashSet<usize>)> = Vec::new();
    for alloca in allocas {
        // SAFETY: a live alloca.
        let words = layout.size(Type(unsafe { LLVMGetAllocatedType(alloca.0) })).div_ceil(4);
        let mut counters = FxHashSet::default();
        if alloca.operand(0).as_constant_int() == Some(1)
            && words <= MOST_WORDS
            && follow(alloca, &fixed, &mut counters)
            && !counters.is_empty()
        {
            arrays.push((words, counters));
        }
    }
    arrays.sort_by_key(|(words, _)| *words);
    let (mut chosen, mut words) = (FxHashSet::default(), 0);
    for (own, counters) in arrays {
        let with: FxHashSet<usize> = chosen.union(&counters).copied().collect();
        if words + own <= MOST_WORDS && size(&cfg, &fixed, &with) <= MOST_SIZE {
            (chosen, words) = (with, words + own);
        }
    }
    let writer = Writer::of_function(body);
    chosen.iter().for_each(|f| writer.unroll(fixed[*f].end, fixed[*f].trips as u32));
    !chosen.is_empty()
}

/// Instructions of the loops of a function with copies of the chosen ones.
fn size(cfg: &Cfg, fixed: &[Fixed], chosen: &FxHashSet<usize>) -> usize {
    let in_loop = |b: &Index| cfg.loops.iter().any(|l| l.members.contains(*b));
    let copies = |b: Index| -> usize {
        let around = chosen.iter().filter(|f| cfg.loops[fixed[**f].number].members.contains(b));
        around.map(|f| fixed[*f].trips as usize).product()
    };
    (0..cfg.blocks.len()).filter(in_loop).map(|b| shape::block_size(cfg, b) * copies(b)).sum()
}

/// Whether all uses of a pointer into an array are accesses with indices made of constants and counters, which are added.
fn follow(pointer: Value, fixed: &[Fixed], counters: &mut FxHashSet<usize>) -> bool {
    pointer.users().all(|user| {
        if !user.is_instruction() {
            return false;
        }
        match user.opcode() {
            LLVMLoad => !user.is_volatile() && !user.is_atomic_access(),
            LLVMStore => user.operand(0) != pointer && !user.is_volatile() && !user.is_atomic_access(),
            LLVMGetElementPtr => {
                user.operand(0) == pointer
                    && user.operands().skip(1).all(|index| is_made_of_counters(index, fixed, counters, 0))
                    && follow(user, fixed, counters)
            }
            LLVMCall => {
                let name = user.called_name();
                let constant = |i: u32| user.operand(i).as_constant_int().is_some();
                name.starts_with("llvm.lifetime.") || name.starts_with("llvm.mem") && constant(2)
            }
            _ => false,
        }
    })
}

/// Whether an index is made of constants and counters of fixed loops, which are added.
fn is_made_of_counters(index: Value, fixed: &[Fixed], counters: &mut FxHashSet<usize>, depth: u32) -> bool {
    /// Operations from an index to what it is made of.
    const MOST_DEPTH: u32 = 8;
    if index.as_constant_int().is_some() {
        return true;
    }
    if !index.is_instruction() || depth > MOST_DEPTH {
        return false;
    }
    if let Some(number) = fixed.iter().position(|f| f.counter == index) {
        counters.insert(number);
        return true;
    }
    match index.opcode() {
        LLVMAdd | LLVMSub | LLVMMul | LLVMShl | LLVMLShr | LLVMAShr | LLVMAnd | LLVMOr | LLVMXor | LLVMUDiv | LLVMURem
        | LLVMSExt | LLVMZExt | LLVMTrunc => {
            let operands: Vec<Value> = index.operands().collect();
            operands.into_iter().all(|o| is_made_of_counters(o, fixed, counters, depth + 1))
        }
        _ => false,
    }
}

/// A loop that is left at its end only, by a comparison of a counter with a constant, and that the program lets become copies.
fn fixed_loop(cfg: &Cfg, number: usize) -> Option<Fixed> {
    let l = &cfg.loops[number];
    let latch = shape::end(cfg, l).filter(|_| !l.irreducible)?;
    let end = cfg.blocks[latch].terminator();
    let kept = metadata::loop_hints(end).iter().any(|hint| hint == "llvm.loop.unroll.disable");
    if kept && !is_unrolled(end) {
        return None;
    }
    let (counter, trips) = cfg.blocks[l.header].instructions().take_while(|i| i.opcode() == LLVMPHI).find_map(|phi| {
        let trips = trips(cfg, l, latch, phi)?;
        Some((phi, trips))
    })?;
    (2..=MOST_TRIPS).contains(&trips).then_some(Fixed { number, trips, counter, end })
}

/// Whether a loop is what LLVM has made some copies of, by the name that it gives the comparison of the last one.
fn is_unrolled(end: Value) -> bool {
    let name = end.operand(0).name();
    name.rsplit_once('.').is_some_and(|(_, last)| !last.is_empty() && last.bytes().all(|b| b.is_ascii_digit()))
}

/// Iterations of a loop that a counter ends: it begins at a constant, steps by one, and the comparison at the end is with a
/// constant. `None` if that is not so, or there are too many.
fn trips(cfg: &Cfg, l: &Loop, latch: Index, phi: Value) -> Option<u64> {
    let inside = cfg.blocks[latch];
    let begin = phi.incoming().find(|(_, from)| *from != inside)?.0.as_constant_int()?;
    let next = phi.incoming().find(|(_, from)| *from == inside)?.0;
    if phi.incoming().count() != 2 || !next.is_instruction() || next.opcode() != LLVMAdd || next.operand(0) != phi {
        return None;
    }
    let step = next.operand(1).as_constant_int()?;
    let end = inside.terminator();
    let condition = end.operand(0);
    let (compared, bound) = (condition.operand(0), condition.operand(1).as_constant_int()?);
    if compared != phi && compared != next {
        return None;
    }
    // SAFETY: a live comparison, as `shape::end` found.
    let predicate = unsafe { LLVMGetICmpPredicate(condition.0) };
    let goes_on_if = cfg.index.get(&end.successors().next()?).is_some_and(|b| l.members.contains(*b));
    let bits = phi.integer_bits();
    let mask = if bits >= 64 { u64::MAX } else { (1 << bits) - 1 };
    let (mut value, bound) = (begin & mask, bound & mask);
    for trip in 1..=MOST_TRIPS {
        let stepped = value.wrapping_add(step) & mask;
        let now = if compared == next { stepped } else { value };
        if holds(predicate, now, bound, bits)? != goes_on_if {
            return Some(trip);
        }
        value = stepped;
    }
    None
}

/// Whether a comparison of integers of so many bits holds.
fn holds(predicate: LLVMIntPredicate, a: u64, b: u64, bits: u32) -> Option<bool> {
    let shift = 64u32.checked_sub(bits)?;
    let (x, y) = (((a << shift) as i64) >> shift, ((b << shift) as i64) >> shift);
    Some(match predicate {
        LLVMIntEQ => a == b,
        LLVMIntNE => a != b,
        LLVMIntUGT => a > b,
        LLVMIntUGE => a >= b,
        LLVMIntULT => a < b,
        LLVMIntULE => a <= b,
        LLVMIntSGT => x > y,
        LLVMIntSGE => x >= y,
        LLVMIntSLT => x < y,
        LLVMIntSLE => x <= y,
    })
}
