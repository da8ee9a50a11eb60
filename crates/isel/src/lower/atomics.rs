//! Atomic operations and fences.

use crate::emit::immediate_bits;
use crate::leaf::Leaf;
use crate::{Selector, surface};
use heddle_isa::{AtomicOp, Cond, Inst, Op, Operand, Type};
use heddle_llvm_passes::ir::Value;
use heddle_mir::{Bank, RegClass};

/// `atomicrmw`.
pub(crate) fn atomic_rmw(s: &mut Selector, i: Value) {
    use inkwell::llvm_sys::LLVMAtomicRMWBinOp::*;
    let leaf = s.cx.leaves(i)[0];
    let (signed, unsigned, bits) =
        if leaf.words() == 2 { (Type::S64, Type::U64, Type::B64) } else { (Type::S32, Type::U32, Type::B32) };
    let (operation, ty) = match i.atomic_operation() {
        LLVMAtomicRMWBinOpXchg => (AtomicOp::Xchg, bits),
        LLVMAtomicRMWBinOpAdd => (AtomicOp::Add, bits),
        LLVMAtomicRMWBinOpSub => (AtomicOp::Sub, bits),
        LLVMAtomicRMWBinOpAnd => (AtomicOp::And, bits),
        LLVMAtomicRMWBinOpOr => (AtomicOp::Or, bits),
        LLVMAtomicRMWBinOpXor => (AtomicOp::Xor, bits),
        LLVMAtomicRMWBinOpMax => (AtomicOp::Max, signed),
        LLVMAtomicRMWBinOpMin => (AtomicOp::Min, signed),
        LLVMAtomicRMWBinOpUMax => (AtomicOp::Max, unsigned),
        LLVMAtomicRMWBinOpUMin => (AtomicOp::Min, unsigned),
        LLVMAtomicRMWBinOpUIncWrap => (AtomicOp::Inc, unsigned),
        LLVMAtomicRMWBinOpUDecWrap => (AtomicOp::Dec, unsigned),
        LLVMAtomicRMWBinOpFAdd => (AtomicOp::Add, leaf.float_type()),
        LLVMAtomicRMWBinOpFSub => (AtomicOp::Sub, leaf.float_type()),
        LLVMAtomicRMWBinOpFMax => (AtomicOp::Max, leaf.float_type()),
        LLVMAtomicRMWBinOpFMin => (AtomicOp::Min, leaf.float_type()),
        _ => {
            s.report.error(Some(i), "unsupported atomic operation");
            return;
        }
    };
    if leaf.bits != 32 && leaf.bits != 64 || ty == Type::F16 {
        s.report.error(Some(i), format!("atomic operation on {} bits; the machine has them on 32 and 64", leaf.bits));
        return;
    }
    let data = s.operand(i.operand(1));
    let result = atomic(s, i, operation, ty, data, leaf);
    s.values.set1(i, result);
}

/// An atomic operation; what was there before.
fn atomic(s: &mut Selector, i: Value, operation: AtomicOp, ty: Type, data: Operand, leaf: Leaf) -> Operand {
    let address = surface::surface_address(s, i).unwrap_or_else(|| s.address(i.operand(0)));
    let offset = s.out.offset(&address);
    let dst = s.out.register(leaf.class(Bank::Vector));
    let mut inst = Inst::new(Op::Atomic, ty, dst, []);
    s.out.set_address(&mut inst, &address, offset, 0);
    inst.mods.atomic = operation;
    // Each lane's data: a register of its own kind keeps the encoding's immediate for the address.
    let class = leaf.class(s.out.joint_bank(&[data]));
    let words = if operation == AtomicOp::CmpXchg { class.words * 2 } else { class.words };
    inst.srcs.push(match data {
        Operand::Immediate(v) => s.out.materialize(immediate_bits(v, words), words),
        other => other,
    });
    s.out.push(inst);
    dst
}

/// `cmpxchg`.
pub(crate) fn compare_exchange(s: &mut Selector, i: Value) {
    let expected = i.operand(1);
    let leaf = s.cx.leaves(expected)[0];
    if leaf.bits != 32 && leaf.bits != 64 {
        s.report.error(Some(i), format!("atomic operation on {} bits; the machine has them on 32 and 64", leaf.bits));
        return;
    }
    let comparand = s.operand(expected);
    let replacement = s.operand(i.operand(2));
    let mut words = Vec::new();
    for op in [comparand, replacement] {
        if leaf.words() == 2 {
            let (low, high) = s.out.halves(op);
            words.extend([low, high]);
        } else {
            words.push(op);
        }
    }
    let data = s.out.tuple(&words);
    let ty = leaf.bit_type();
    let old = atomic(s, i, AtomicOp::CmpXchg, ty, data, leaf);
    let success = s.out.register(RegClass::PREDICATE);
    let mut cmp = Inst::new(Op::Cmp, ty, success, [old, comparand]);
    cmp.mods.cond = Some(Cond::Eq);
    s.out.push(cmp);
    s.values.set(i, smallvec::smallvec![old, success]);
}

/// A fence of all memory.
pub(crate) fn fence(s: &mut Selector) {
    let mut inst = Inst::new(Op::Fence, Type::None, Operand::None, []);
    inst.imm = 3;
    s.out.push(inst);
}
