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
//! Small arrays come first, as long as all that become variables have room in registers ([`MOST_WORDS`]) and the function stays
//! below a size ([`MOST_SIZE`]).
//!
//! A loop of which LLVM has made some copies and said that it is not to become more is taken all the same; of others what the program
//! says holds. Which of both it is shows in the name of a comparison only ([`is_unrolled`]): loops of which the program asked for some
//! copies, and loops that are in others that LLVM has unrolled, are taken for the former.
//!
//! # Limits
//! What is out of bounds of an array that became variables is no fault any more, as with those that clang makes variables of;
//! `--check` keeps them in memory.
//!
//! # Reference
//! LLVM's AMDGPU target raises its threshold of unrolling for loops that index private arrays (`AMDGPUTargetTransformInfo.cpp`,
//! `getUnrollingPreferences`, `amdgpu-unroll-threshold-private`).
//!
//! May touch: the loops, and in modules that have such arrays what LLVM's passes simplify.

use inkwell::llvm_sys::LLVMIntPredicate::{self, *};
use inkwell::llvm_sys::LLVMOpcode::*;
use inkwell::llvm_sys::LLVMTypeKind::*;
use inkwell::llvm_sys::core::{LLVMGetAllocatedType, LLVMGetICmpPredicate};
use inkwell::module::Module;
use rustc_hash::FxHashSet;

use crate::error::PassError;
use crate::ir::cfg::{Cfg, Index, Loop};
use crate::ir::layout::Layout;
use crate::ir::metadata::{self, Writer};
use crate::ir::{Type, Value, function, llvm_passes};
use crate::unroll::{self, shape};

/// Words of all arrays of a function that become variables, of which each element has some of its own. With as many, and half as
/// many others, a quarter of the warps of an SM have room in the default machine.
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
    /// The branch back to its start, which bears what is said of it.
    back: Value,
}

/// Says of loops that index private arrays how many copies they are to become; whether there is one.
fn mark(body: Value) -> bool {
    let allocas: Vec<Value> =
        function::blocks(body).into_iter().flat_map(|b| b.instructions()).filter(|i| i.opcode() == LLVMAlloca).collect();
    if allocas.is_empty() {
        return false;
    }
    let cfg = Cfg::new(body);
    if cfg.loops.len() > unroll::MOST_LOOPS {
        return false;
    }
    let fixed: Vec<Fixed> = (0..cfg.loops.len()).filter_map(|l| fixed_loop(&cfg, l)).collect();
    if fixed.is_empty() {
        return false;
    }
    let layout = Layout::of_function(body);
    let mut arrays: Vec<(u64, FxHashSet<usize>)> = Vec::new();
    for alloca in allocas {
        let mut counters = FxHashSet::default();
        if alloca.operand(0).as_constant_int() == Some(1) && follow(alloca, &fixed, &mut counters) && !counters.is_empty() {
            // SAFETY: a live alloca.
            arrays.push((registers(&layout, Type(unsafe { LLVMGetAllocatedType(alloca.0) })), counters));
        }
    }
    arrays.sort_by_key(|(words, _)| *words);
    let mut chosen = FxHashSet::default();
    for (_, counters) in &arrays {
        let with: FxHashSet<usize> = chosen.union(counters).copied().collect();
        // Of what these loops index all becomes variables.
        let words = arrays.iter().filter(|(_, c)| c.is_subset(&with)).map(|(words, _)| *words).fold(0, u64::saturating_add);
        if words <= MOST_WORDS && size(&cfg, &fixed, &with) <= MOST_SIZE {
            chosen = with;
        }
    }
    let writer = Writer::of_function(body);
    chosen.iter().for_each(|f| writer.unroll(fixed[*f].back, fixed[*f].trips as u32));
    !chosen.is_empty()
}

/// Words of registers that variables of a type's elements take: each begins one.
fn registers(layout: &Layout, ty: Type) -> u64 {
    match (ty.kind(), ty.element()) {
        (LLVMArrayTypeKind | LLVMVectorTypeKind, Some(element)) => registers(layout, element).saturating_mul(ty.element_count()),
        (LLVMStructTypeKind, _) => ty.fields().map(|field| registers(layout, field)).fold(0, u64::saturating_add),
        _ => layout.size(ty).div_ceil(4),
    }
}

/// Instructions of the loops of a function with copies of the chosen ones.
fn size(cfg: &Cfg, fixed: &[Fixed], chosen: &FxHashSet<usize>) -> usize {
    let in_loop = |b: &Index| cfg.loops.iter().any(|l| l.members.contains(*b));
    let copies = |b: Index| -> usize {
        let around = chosen.iter().filter(|f| cfg.loops[fixed[**f].number].members.contains(b));
        around.map(|f| fixed[*f].trips as usize).fold(1, usize::saturating_mul)
    };
    let sizes = (0..cfg.blocks.len()).filter(in_loop).map(|b| shape::block_size(cfg, b).saturating_mul(copies(b)));
    sizes.fold(0, usize::saturating_add)
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

/// A loop that is left at one place only, which each iteration comes to, by a comparison of a counter with a constant, and that
/// the program lets become copies.
fn fixed_loop(cfg: &Cfg, number: usize) -> Option<Fixed> {
    let l = &cfg.loops[number];
    let leaves = |b: &Index| cfg.succs[*b].iter().any(|s| !l.members.contains(*s));
    let ends = |b: &Index| cfg.succs[*b].is_empty();
    let mut exits = l.members.ones().filter(|b| leaves(b) || ends(b));
    let exit = exits.next().filter(|e| exits.next().is_none() && cfg.succs[*e].len() == 2)?;
    let mut latches = cfg.preds[l.header].iter().copied().filter(|b| l.members.contains(*b));
    let latch = latches.next().filter(|b| latches.next().is_none() && cfg.dominates(exit, *b) && !l.irreducible)?;
    let (condition, back) = (cfg.blocks[exit].terminator().operand(0), cfg.blocks[latch].terminator());
    if !condition.is_instruction() || condition.opcode() != LLVMICmp {
        return None;
    }
    let hints = metadata::loop_hints(back);
    let mut said = hints.iter().filter(|hint| hint.starts_with("llvm.loop.unroll"));
    if said.any(|hint| hint != "llvm.loop.unroll.disable" || !is_unrolled(condition)) {
        return None;
    }
    let (counter, trips) = cfg.blocks[l.header].instructions().take_while(|i| i.opcode() == LLVMPHI).find_map(|phi| {
        let trips = trips(cfg, l, (latch, exit), phi)?;
        Some((phi, trips))
    })?;
    (2..=MOST_TRIPS).contains(&trips).then_some(Fixed { number, trips, counter, back })
}

/// Whether a loop is what LLVM has made some copies of, by the name that it gives the comparison of a copy: `cmp.3`, `cmp.3.not`.
fn is_unrolled(condition: Value) -> bool {
    let name = condition.name();
    let name = name.strip_suffix(".not").unwrap_or(&name);
    name.rsplit_once('.').is_some_and(|(_, last)| !last.is_empty() && last.bytes().all(|b| b.is_ascii_digit()))
}

/// Iterations, the last one perhaps not whole, of a loop with a latch and an exit that a counter ends: it begins at a constant, steps
/// by a constant, and the comparison at the exit is with a constant. `None` if that is not so, or there are too many.
fn trips(cfg: &Cfg, l: &Loop, (latch, exit): (Index, Index), phi: Value) -> Option<u64> {
    let inside = cfg.blocks[latch];
    let begin = phi.incoming().find(|(_, from)| *from != inside)?.0.as_constant_int()?;
    let next = phi.incoming().find(|(_, from)| *from == inside)?.0;
    if phi.incoming().count() != 2 || !next.is_instruction() || next.opcode() != LLVMAdd || next.operand(0) != phi {
        return None;
    }
    let step = next.operand(1).as_constant_int()?;
    let end = cfg.blocks[exit].terminator();
    let condition = end.operand(0);
    let (compared, bound) = (condition.operand(0), condition.operand(1).as_constant_int()?);
    if compared != phi && compared != next {
        return None;
    }
    // SAFETY: a live comparison, as `fixed_loop` found.
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
