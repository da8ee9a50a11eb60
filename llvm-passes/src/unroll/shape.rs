//! What loops look like: which are innermost, where they end, how much code their copies are.
//!
//! May touch: nothing.

use inkwell::llvm_sys::LLVMOpcode::*;

use crate::ir::Value;
use crate::ir::cfg::{Cfg, Index, Loop};

/// The comparison and the branch at the end of a loop, of which copies share one.
pub const END: usize = 2;

/// Copies at most.
const MOST_COPIES: usize = 8;

/// Whether no other loop is in a loop.
pub fn is_innermost(cfg: &Cfg, l: &Loop) -> bool {
    !l.irreducible && !cfg.loops.iter().any(|other| other.header != l.header && l.members.contains(other.header))
}

/// The block that ends the iterations of a loop, if it is left there only, by a comparison of integers or pointers.
pub fn end(cfg: &Cfg, l: &Loop) -> Option<Index> {
    let latch = counting_latch(cfg, l)?;
    let stays = |b: Index| cfg.succs[b].iter().all(|s| l.members.contains(*s));
    l.members.ones().all(|b| b == latch || stays(b)).then_some(latch)
}

/// The block that ends the iterations of a loop, if it leaves the loop by a comparison of integers or pointers; other blocks may
/// leave it, too, but do not end the function.
pub fn counting_latch(cfg: &Cfg, l: &Loop) -> Option<Index> {
    let inside = |b: &Index| l.members.contains(*b);
    let mut latches = cfg.preds[l.header].iter().copied().filter(inside);
    let latch = latches.next().filter(|_| latches.next().is_none())?;
    if cfg.succs[latch].len() != 2 || cfg.succs[latch].iter().all(inside) || l.members.ones().any(|b| cfg.succs[b].is_empty()) {
        return None;
    }
    let condition = cfg.blocks[latch].terminator().operand(0);
    (condition.is_instruction() && condition.opcode() == LLVMICmp).then_some(latch)
}

/// Whether a value is an instruction of a loop.
pub fn is_defined_inside(cfg: &Cfg, l: &Loop, v: Value) -> bool {
    v.is_instruction() && cfg.index.get(&v.parent()).is_some_and(|b| l.members.contains(*b))
}

/// The instructions of a loop that become code.
pub fn size(cfg: &Cfg, l: &Loop) -> usize {
    l.members.ones().map(|b| block_size(cfg, b)).sum()
}

/// The instructions of a block that become code.
pub fn block_size(cfg: &Cfg, block: Index) -> usize {
    let becomes_code = |i: &Value| match i.opcode() {
        LLVMPHI | LLVMBitCast | LLVMTrunc | LLVMPtrToInt | LLVMIntToPtr => false,
        LLVMCall => !i.is_debug(),
        _ => true,
    };
    cfg.blocks[block].instructions().filter(becomes_code).count()
}

/// Copies of a loop of some size that fit into another one: a power of two.
pub fn copies(size: usize, into: usize) -> usize {
    let body = size.saturating_sub(END).max(1);
    let fits = |copies: &usize| body * copies + END <= into;
    (1..=MOST_COPIES).rev().filter(|copies| copies.is_power_of_two()).find(fits).unwrap_or(1)
}
