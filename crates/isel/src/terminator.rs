//! The instructions that end blocks.
//!
//! Uniform conditions use `bras`, divergent ones `brad`, which gets its reconvergence point when all blocks are
//! there ([`crate::control::set_reconvergence`]).

use heddle_isa::{Inst, Op, Operand, Type};
use heddle_llvm_passes::ir::Value;
use heddle_mir::Block;
use inkwell::llvm_sys::LLVMOpcode::*;
use smallvec::SmallVec;

use crate::control::{end_edge, is_divergent};
use crate::{Selector, switch};

/// Selects the instruction that ends a block.
pub(crate) fn terminator(s: &mut Selector, i: Value) {
    let here = i.parent();
    match i.opcode() {
        LLVMRet => s.out.push(Inst::new(Op::Exit, Type::None, Operand::None, [])),
        LLVMUnreachable => s.out.push(Inst::new(Op::Trap, Type::None, Operand::None, [])),
        LLVMBr => {
            let blocks: SmallVec<[Block; 2]> = i.successors().map(|to| end_edge(s, here, to)).collect();
            let [yes, no] = blocks[..] else { return s.out.jump(blocks[0]) };
            let condition = s.operand(i.operand(0));
            let divergent = is_divergent(s, here);
            s.out.conditional(condition, yes, no, divergent);
        }
        _ => switch::switch(s, i),
    }
}
