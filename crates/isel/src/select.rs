//! The walk over a kernel: every instruction to the family that lowers it.

use heddle_llvm_passes::ir::{BlockRef, Value};
use inkwell::llvm_sys::LLVMOpcode::*;

use crate::diagnostics::text_without_line;
use crate::lower::{atomics, calls, casts, comparisons, floats, integers, memory, vectors, wide};
use crate::{Selector, phis, pointers, terminator, variables};

/// Selects all blocks. Definitions are met before uses in reverse post-order (phis aside); the layout stays
/// the function's own.
pub(crate) fn all_blocks(s: &mut Selector) {
    let cfg = s.cx.uniformity.cfg();
    let order: Vec<BlockRef> = cfg.rpo.iter().map(|b| cfg.blocks[*b]).collect();
    for block in order {
        select_block(s, block);
    }
}

fn select_block(s: &mut Selector, block: BlockRef) {
    s.out.start(s.control.block(block));
    s.addresses.uniform_here.clear();
    let cfg = s.cx.uniformity.cfg();
    // The entry block itself may be a loop's header only if it has predecessors, which LLVM forbids.
    s.out.pool.in_loop = cfg.index.get(&block).is_some_and(|b| cfg.loops.iter().any(|l| l.members.contains(*b)));
    variables::enter(s, block);
    for i in block.instructions() {
        locate(s, i);
        variables::before(s, i);
        instruction(s, i);
        if s.cx.is_scalar(i) && varying_operand(s, i) {
            take_from_first_lane(s, i);
        }
    }
}

/// Whether an instruction of a family that may make a uniform value of varying ones does so: a quotient may
/// be the number of the warp.
fn varying_operand(s: &Selector, i: Value) -> bool {
    matches!(i.opcode(), LLVMLShr | LLVMAShr | LLVMUDiv | LLVMSDiv) && !s.cx.uniformity.is_uniform(i.operand(0))
}

/// A uniform result that has been computed in lanes is taken from the first.
fn take_from_first_lane(s: &mut Selector, i: Value) {
    let (leaves, parts) = (s.cx.leaves(i), s.parts(i));
    let parts = parts.iter().zip(leaves.iter()).map(|(op, leaf)| s.out.scalar(*op, leaf.words())).collect();
    s.values.low.remove(&i);
    s.values.set(i, parts);
}

fn instruction(s: &mut Selector, i: Value) {
    if wide::needed(i) {
        return wide::wide_instruction(s, i);
    }
    match i.opcode() {
        LLVMPHI => phis::phi(s, i),
        LLVMBr | LLVMSwitch | LLVMRet | LLVMUnreachable => terminator::terminator(s, i),
        LLVMLoad => memory::load(s, i),
        LLVMStore => memory::store(s, i),
        LLVMAtomicRMW => atomics::atomic_rmw(s, i),
        LLVMAtomicCmpXchg => atomics::compare_exchange(s, i),
        LLVMFence => atomics::fence(s),
        // Addresses are folded into their uses.
        LLVMGetElementPtr => pointers::select_gep(s, i),
        // Placed on entry.
        LLVMAlloca => {}
        LLVMCall => calls::call(s, i),
        LLVMAdd | LLVMSub | LLVMMul | LLVMUDiv | LLVMSDiv | LLVMURem | LLVMSRem | LLVMAnd | LLVMOr | LLVMXor | LLVMShl
        | LLVMLShr | LLVMAShr => integers::integer_binary(s, i),
        LLVMFAdd | LLVMFSub | LLVMFMul | LLVMFDiv | LLVMFRem | LLVMFNeg => floats::float_arithmetic(s, i),
        LLVMICmp => comparisons::icmp(s, i),
        LLVMFCmp => comparisons::fcmp(s, i),
        LLVMSelect => comparisons::select_instruction(s, i),
        LLVMExtractElement => vectors::extract_element(s, i),
        LLVMInsertElement => vectors::insert_element(s, i),
        LLVMShuffleVector => vectors::shuffle(s, i),
        LLVMExtractValue => vectors::extract_value(s, i),
        LLVMInsertValue => vectors::insert_value(s, i),
        LLVMFreeze => {
            if !i.is_pointer() {
                let parts = s.parts(i.operand(0));
                s.values.set(i, parts);
            }
        }
        LLVMTrunc | LLVMZExt | LLVMSExt | LLVMFPToUI | LLVMFPToSI | LLVMUIToFP | LLVMSIToFP | LLVMFPTrunc | LLVMFPExt
        | LLVMPtrToInt | LLVMIntToPtr | LLVMBitCast | LLVMAddrSpaceCast => casts::cast(s, i),
        _ => s.report.error(Some(i), format!("unsupported construct: `{}`", text_without_line(i))),
    }
}

/// What is emitted and reported from here on is about an instruction.
pub(crate) fn locate(s: &mut Selector, i: Value) {
    s.report.at = Some(i);
    if let Some(line) = i.line() {
        let file = s.out.files.number(&mut s.out.f, line.file, || i.source_position().file);
        s.out.loc = heddle_isa::SourceLoc { file, line: line.line, column: line.column, point: 0 };
    }
}
