//! Float arithmetic, with negation and absolute value folded into the operations.

use crate::Selector;
use crate::emit::Emitter;
use crate::leaf::{Leaf, Parts};
use heddle_isa::{Inst, Op, Operand, Type};
use heddle_llvm_passes::ir::{Value, metadata};
use heddle_mir::RegClass;
use inkwell::llvm_sys::LLVMOpcode::*;

/// A float source with its modifiers.
#[derive(Clone, Copy)]
pub(crate) struct FloatSource {
    pub op: Operand,
    pub neg: bool,
    pub abs: bool,
}

/// A source as it is.
pub(crate) fn plain(op: Operand) -> FloatSource {
    FloatSource { op, neg: false, abs: false }
}

impl Emitter {
    /// Emits a float operation with modifiers into a new register.
    pub fn emit_float(&mut self, op: Op, ty: Type, sources: &[FloatSource]) -> Operand {
        let ops: Vec<Operand> = sources.iter().map(|s| s.op).collect();
        let bank = self.joint_bank(&ops);
        let dst = self.register(RegClass { bank, words: ty.words() });
        let mut inst = Inst::new(op, ty, dst, ops);
        for (i, s) in sources.iter().enumerate() {
            inst.neg |= u8::from(s.neg) << i;
            inst.abs |= u8::from(s.abs) << i;
        }
        self.push(inst);
        dst
    }
}

/// Looks through `fneg` and `fabs` of a scalar value.
pub(crate) fn float_source(s: &mut Selector, v: Value) -> FloatSource {
    let mut source = FloatSource { op: Operand::None, neg: false, abs: false };
    let mut current = v;
    if s.cx.leaves(v).len() == 1 {
        while current.is_instruction() {
            match current.opcode() {
                LLVMFNeg => {
                    if !source.abs {
                        source.neg = !source.neg;
                    }
                    current = current.operand(0);
                }
                LLVMCall if current.called_function().is_some_and(|f| f.name().starts_with("llvm.fabs.")) => {
                    source.abs = true;
                    current = current.operand(0);
                }
                _ => break,
            }
        }
    }
    source.op = s.operand(current);
    source
}

pub(crate) fn float_arithmetic(s: &mut Selector, i: Value) {
    let leaves = s.cx.leaves(i);
    let single = leaves.len() == 1;
    let arity = i.operand_count();
    let all: Vec<Parts> = if single { Vec::new() } else { (0..arity).map(|k| s.parts(i.operand(k))).collect() };
    let mut parts = Parts::new();
    for (k, leaf) in leaves.iter().enumerate() {
        let mut sources: Vec<FloatSource> =
            (0..arity).map(|n| if single { float_source(s, i.operand(n)) } else { plain(all[n as usize][k]) }).collect();
        let ty = leaf.float_type();
        if let Some(quotient) = approximate_quotient(s, i, ty, &sources, k) {
            parts.push(quotient);
            continue;
        }
        let op = match i.opcode() {
            LLVMFAdd => Op::Add,
            LLVMFSub => {
                sources[1].neg = !sources[1].neg;
                Op::Add
            }
            LLVMFMul => Op::Mul,
            LLVMFDiv => Op::Div,
            LLVMFNeg => {
                let op = if single { s.operand(i.operand(0)) } else { all[0][k] };
                parts.push(flip_sign(&mut s.out, op, *leaf));
                continue;
            }
            _ => {
                s.report.error(Some(i), "floating-point remainder (`frem`) is not supported; use fmod");
                return;
            }
        };
        parts.push(s.out.emit_float(op, ty, &sources));
    }
    s.values.set(i, parts);
}

/// A quotient in single precision without a division where its error may be as large as that of the special-function unit: a
/// reciprocal (1 ulp) or a reciprocal square root (2 ulp), as OpenCL C allows (2.5 ulp for a quotient, 3 for a square root), a
/// product if the divisor is constant, and by flags one with a reciprocal otherwise. `k`: the leaf.
fn approximate_quotient(s: &mut Selector, i: Value, ty: Type, sources: &[FloatSource], k: usize) -> Option<Operand> {
    if i.opcode() != LLVMFDiv || ty != Type::F32 {
        return None;
    }
    let (error, flags) = (metadata::allowed_error(i), i.fast_math());
    let one = f32::to_bits(1.0);
    let of_one = sources[0].op == Operand::Immediate(one) && !sources[0].neg;
    let divisor = sources[1];
    if of_one && (error >= 2.0 || flags.approximate_quotient) {
        let root = i.operand(1);
        let is_root = root.is_instruction() && root.opcode() == LLVMCall && root.called_name().starts_with("llvm.sqrt.");
        if is_root && (metadata::allowed_error(root) >= 1.0 || root.fast_math().approximate_quotient) {
            let square = s.parts(root.operand(0))[k];
            return Some(s.out.emit_float(Op::Rsq, ty, &[plain(square)]));
        }
    }
    let approximate = flags.approximate_quotient;
    if let Operand::Immediate(bits) = divisor.op {
        // The rounded reciprocal and the rounded product are off by 1.5 ulp together.
        let reciprocal = 1.0 / f32::from_bits(bits);
        let exact = f32::from_bits(bits).is_normal() && reciprocal.is_normal();
        let factor = FloatSource { op: Operand::Immediate(reciprocal.to_bits()), ..divisor };
        return (exact && (error >= 1.5 || approximate)).then(|| s.out.emit_float(Op::Mul, ty, &[sources[0], factor]));
    }
    if !(of_one && error >= 1.0 || approximate) {
        return None;
    }
    let reciprocal = s.out.emit_float(Op::Rcp, ty, &[divisor]);
    Some(if of_one { reciprocal } else { s.out.emit_float(Op::Mul, ty, &[sources[0], plain(reciprocal)]) })
}

/// `-x` by its sign bit.
fn flip_sign(out: &mut Emitter, op: Operand, leaf: Leaf) -> Operand {
    match leaf.bits {
        16 => out.emit_joint(Op::Xor, Type::B32, 1, &[op, Operand::Immediate(0x8000)]),
        32 => out.emit_joint(Op::Xor, Type::B32, 1, &[op, Operand::Immediate(0x8000_0000)]),
        _ => {
            let (low, high) = out.halves(op);
            let high = out.emit_joint(Op::Xor, Type::B32, 1, &[high, Operand::Immediate(0x8000_0000)]);
            out.pair(low, high)
        }
    }
}
