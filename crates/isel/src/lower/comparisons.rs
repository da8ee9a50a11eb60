//! Comparisons and selects.

use crate::leaf::{Leaf, Parts};
use crate::lower::extremes;
use crate::lower::floats;
use crate::lower::floats::plain;
use crate::values::Extension;
use crate::{Selector, constants, pointers};
use heddle_isa::{Cond, Op, Operand, Type};
use heddle_llvm_passes::builtins::{self, Builtin};
use heddle_llvm_passes::ir::Value;
use heddle_mir::{Bank, RegClass};
use inkwell::llvm_sys::LLVMOpcode;

/// `icmp`.
pub(crate) fn icmp(s: &mut Selector, i: Value) {
    use inkwell::llvm_sys::LLVMIntPredicate::*;
    let predicate = i.integer_predicate();
    let (cond, signed, order) = match predicate {
        LLVMIntEQ => (Cond::Eq, false, false),
        LLVMIntNE => (Cond::Ne, false, false),
        LLVMIntUGT => (Cond::Gt, false, true),
        LLVMIntUGE => (Cond::Ge, false, true),
        LLVMIntULT => (Cond::Lt, false, true),
        LLVMIntULE => (Cond::Le, false, true),
        LLVMIntSGT => (Cond::Gt, true, true),
        LLVMIntSGE => (Cond::Ge, true, true),
        LLVMIntSLT => (Cond::Lt, true, true),
        LLVMIntSLE => (Cond::Le, true, true),
    };
    let (va, vb) = (i.operand(0), i.operand(1));
    let leaves = s.cx.leaves(va);
    let single = leaves.len() == 1;
    let (pa, pb) = (s.parts(va), s.parts(vb));
    if let (true, Some(a), Some(b)) = (single, zero_extended(s, va), zero_extended(s, vb)) {
        let ty = if order { Type::U32 } else { Type::B32 };
        let result = s.out.compare(cond, ty, plain(a), plain(b));
        return s.values.set1(i, result);
    }
    let mut parts = Parts::new();
    for (k, leaf) in leaves.iter().enumerate() {
        let (mut a, mut b) = (pa[k], pb[k]);
        let wide = leaf.words() == 2;
        if leaf.bits == 1 && leaf.pointer.is_none() {
            parts.push(compare_bits(s, i, cond, signed, a, b));
            continue;
        }
        if leaf.pointer.is_none() {
            if wide {
                a = s.out.extend_wide(a, leaf.bits, signed);
                b = s.out.extend_wide(b, leaf.bits, signed);
            } else if single {
                // Equality may use either extension: take what the first operand has.
                let signed = if order { signed } else { s.values.extended.get(&va) == Some(&Extension::Sign) };
                a = s.extend(va, a, leaf.bits, signed);
                b = s.extend(vb, b, leaf.bits, signed);
            } else {
                a = s.out.extend(a, leaf.bits, signed);
                b = s.out.extend(b, leaf.bits, signed);
            }
        }
        let ty = match (order, signed, wide) {
            (false, _, false) => Type::B32,
            (false, _, true) => Type::B64,
            (true, true, false) => Type::S32,
            (true, false, false) => Type::U32,
            (true, true, true) => Type::S64,
            (true, false, true) => Type::U64,
        };
        parts.push(s.out.compare(cond, ty, plain(a), plain(b)));
    }
    s.values.set(i, parts);
}

/// The low word of an integer of two words of which the high one is 0.
pub(crate) fn zero_extended(s: &mut Selector, v: Value) -> Option<Operand> {
    if v.integer_bits() != 64 {
        return None;
    }
    if let Some(c) = constants::sign_extended(v) {
        return u32::try_from(c).ok().map(Operand::Immediate);
    }
    is_zero_extended(v, 4).then(|| s.low_word(v))
}

/// Whether the high word of an instruction's result is 0; `depth`: operations to look through.
fn is_zero_extended(v: Value, depth: u32) -> bool {
    use LLVMOpcode::*;
    let operand = |k: u32| match constants::sign_extended(v.operand(k)) {
        Some(c) => u32::try_from(c).is_ok(),
        None => depth > 0 && is_zero_extended(v.operand(k), depth - 1),
    };
    v.is_instruction()
        && match v.opcode() {
            LLVMZExt => v.operand(0).integer_bits() <= 32,
            LLVMCall => matches!(builtins::of_call(v), Some(Builtin::Query(_))),
            LLVMOr | LLVMXor => operand(0) && operand(1),
            LLVMAnd | LLVMURem => operand(0) || operand(1),
            LLVMSelect => operand(1) && operand(2),
            LLVMFreeze | LLVMUDiv => operand(0),
            LLVMLShr => operand(0) || matches!(constants::sign_extended(v.operand(1)), Some(32..64)),
            _ => false,
        }
}

/// Comparison of bits, by logic: `a < b` unsigned is `!a & b`; signed orders are reversed (true is -1).
fn compare_bits(s: &mut Selector, i: Value, cond: Cond, signed: bool, a: Operand, b: Operand) -> Operand {
    let (cond, a, b) = match (cond, signed) {
        (Cond::Lt | Cond::Le | Cond::Gt | Cond::Ge, true) => (cond, b, a),
        _ => (cond, a, b),
    };
    let (a, b) = match cond {
        Cond::Gt | Cond::Ge => (b, a),
        _ => (a, b),
    };
    let scalar = s.out.joint_bank(&[a, b]) == Bank::Scalar;
    let (ty, class) = if scalar { (Type::B32, RegClass::scalar(1)) } else { (Type::Pred, RegClass::PREDICATE) };
    let fix = |s: &mut Selector, o: Operand| {
        if scalar { if let Operand::Immediate(v) = o { Operand::Immediate(v & 1) } else { o } } else { s.out.predicate(o) }
    };
    let (a, b) = (fix(s, a), fix(s, b));
    let not = |s: &mut Selector, o: Operand| {
        if scalar {
            s.out.emit(Op::Xor, Type::B32, class, [o, Operand::Immediate(1)])
        } else {
            s.out.emit(Op::Not, Type::Pred, class, [o])
        }
    };
    match cond {
        Cond::Ne => s.out.emit(Op::Xor, ty, class, [a, b]),
        Cond::Eq => {
            let x = s.out.emit(Op::Xor, ty, class, [a, b]);
            not(s, x)
        }
        Cond::Lt | Cond::Gt => {
            let n = not(s, a);
            s.out.emit(Op::And, ty, class, [n, b])
        }
        Cond::Le | Cond::Ge => {
            let n = not(s, a);
            s.out.emit(Op::Or, ty, class, [n, b])
        }
        _ => {
            s.report.error(Some(i), "this comparison of `i1` values is not supported");
            Operand::Immediate(0)
        }
    }
}

/// `fcmp`.
pub(crate) fn fcmp(s: &mut Selector, i: Value) {
    use inkwell::llvm_sys::LLVMRealPredicate::*;
    let predicate = i.float_predicate();
    let cond = match predicate {
        LLVMRealOEQ => Cond::Oeq,
        LLVMRealOGT => Cond::Ogt,
        LLVMRealOGE => Cond::Oge,
        LLVMRealOLT => Cond::Olt,
        LLVMRealOLE => Cond::Ole,
        LLVMRealONE => Cond::One,
        LLVMRealORD => Cond::Ord,
        LLVMRealUNO => Cond::Uno,
        LLVMRealUEQ => Cond::Ueq,
        LLVMRealUGT => Cond::Ugt,
        LLVMRealUGE => Cond::Uge,
        LLVMRealULT => Cond::Ult,
        LLVMRealULE => Cond::Ule,
        LLVMRealUNE => Cond::Une,
        LLVMRealPredicateFalse | LLVMRealPredicateTrue => {
            let bit = Operand::Immediate(u32::from(predicate == LLVMRealPredicateTrue));
            let parts = s.cx.leaves(i).iter().map(|_| bit).collect();
            s.values.set(i, parts);
            return;
        }
    };
    let leaves = s.cx.leaves(i.operand(0));
    let parts: Parts = if let [leaf] = leaves[..] {
        let (a, b) = (floats::float_source(s, i.operand(0)), floats::float_source(s, i.operand(1)));
        smallvec::smallvec![s.out.compare(cond, leaf.float_type(), a, b)]
    } else {
        let (pa, pb) = (s.parts(i.operand(0)), s.parts(i.operand(1)));
        let pairs: Vec<_> = leaves.iter().enumerate().map(|(k, l)| (l.float_type(), pa[k], pb[k])).collect();
        pairs.into_iter().map(|(ty, a, b)| s.out.compare(cond, ty, plain(a), plain(b))).collect()
    };
    s.values.set(i, parts);
}

/// `select`.
pub(crate) fn select_instruction(s: &mut Selector, i: Value) {
    let (c, a, b) = (i.operand(0), i.operand(1), i.operand(2));
    let conditions = s.parts(c);
    if let Some(root) = i.is_pointer().then(|| pointers::single_root_address(s, i)).flatten() {
        let (x, y) = (s.address(a), s.address(b));
        let x = s.out.whole_offset(&x);
        let y = s.out.whole_offset(&y);
        let offset = s.out.choose(conditions[0], Leaf::WORD, x, y);
        s.addresses.set(i, s.out.with_offset(root, offset));
        return;
    }
    if extremes::select(s, i) {
        return;
    }
    let leaves = s.cx.leaves(i);
    let (pa, pb) = (s.parts(a), s.parts(b));
    let parts: Parts = leaves
        .iter()
        .enumerate()
        .map(|(k, leaf)| {
            // One condition for all, or one for the leaves of each element.
            let condition = conditions[k * conditions.len() / leaves.len()];
            s.out.choose(condition, *leaf, pa[k], pb[k])
        })
        .collect();
    if i.integer_bits() == 64 && [a, b].iter().any(|v| s.values.low.contains_key(v)) {
        let (x, y) = (s.low_word(a), s.low_word(b));
        let low = s.out.choose(conditions[0], Leaf::WORD, x, y);
        s.values.low.insert(i, low);
    }
    let known = |v: Value| s.values.extended.get(&v).copied();
    if let Some(extension) = known(a).filter(|x| known(b) == Some(*x)) {
        s.values.extended.insert(i, extension);
    }
    s.values.set(i, parts);
}
