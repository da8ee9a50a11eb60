//! Float intrinsics: roundings, minima and maxima, approximations, classes.

use heddle_isa::{Cond, Inst, Op, Operand, Rounding, Type};
use heddle_llvm_passes::ir::Value;
use heddle_mir::RegClass;
use smallvec::smallvec;

use crate::emit::Emitter;
use crate::leaf::{Leaf, Parts};
use crate::lower::casts;
use crate::lower::floats::{self, plain};
use crate::lower::leafwise::each_leaf;
use crate::{Selector, constants};

/// Selects an intrinsic by its name without types; false if it is of another family.
pub(crate) fn select(s: &mut Selector, i: Value, base: &str) -> bool {
    match base {
        "fma" | "fmuladd" => operation(s, i, 3, Op::Fma),
        "sqrt" => operation(s, i, 1, Op::Sqrt),
        "minnum" | "minimumnum" => operation(s, i, 2, Op::Min),
        "maxnum" | "maximumnum" => operation(s, i, 2, Op::Max),
        "copysign" => operation(s, i, 2, Op::Copysign),
        "floor" => round(s, i, Rounding::Rm),
        "ceil" => round(s, i, Rounding::Rp),
        "trunc" => round(s, i, Rounding::Rz),
        "rint" | "nearbyint" | "roundeven" => round(s, i, Rounding::Rn),
        "round" => each_leaf(s, i, 1, |s, leaf, a| round_half_away(&mut s.out, leaf, a[0])),
        "fabs" => each_leaf(s, i, 1, |s, leaf, a| clear_sign(&mut s.out, leaf, a[0])),
        "ldexp" => each_leaf(s, i, 2, |s, leaf, a| s.out.emit_float(Op::Ldexp, leaf.float_type(), &[plain(a[0]), plain(a[1])])),
        "frexp" => frexp(s, i),
        "sin" | "cos" | "exp2" | "log2" | "exp" | "log" | "log10" => approximate(s, i, base),
        "minimum" => extreme(s, i, Op::Min),
        "maximum" => extreme(s, i, Op::Max),
        "is.fpclass" => float_class(s, i),
        "canonicalize" => each_leaf(s, i, 1, |s, leaf, a| quiet(&mut s.out, leaf, a[0])),
        "lrint" | "llrint" | "lround" | "llround" => {
            let from = s.leaf(i.operand(0));
            each_leaf(s, i, 1, |s, to, a| {
                let (sum, rounding) = match base {
                    "lrint" | "llrint" => (a[0], Rounding::Rn),
                    _ => (with_half_added(&mut s.out, from, a[0]), Rounding::Rz),
                };
                casts::float_to_integer(&mut s.out, sum, from, to, true, rounding)
            });
        }
        _ => return base.strip_prefix("vector.reduce.").is_some_and(|which| reduction(s, i, which)),
    }
    true
}

/// Selects a reduction of a vector, one element after the other, as sums and products that are not reassociated ask for; false
/// if it is none of floats.
fn reduction(s: &mut Selector, i: Value, which: &str) -> bool {
    if !matches!(which, "fadd" | "fmul" | "fmin" | "fmax" | "fminimum" | "fmaximum") {
        return false;
    }
    let leaf = s.leaf(i);
    let step = |out: &mut Emitter, a: Operand, b: Operand| {
        let operation = |out: &mut Emitter, op| out.emit_float(op, leaf.float_type(), &[plain(a), plain(b)]);
        match which {
            "fadd" => operation(out, Op::Add),
            "fmul" => operation(out, Op::Mul),
            "fmin" => operation(out, Op::Min),
            "fmax" => operation(out, Op::Max),
            "fminimum" => extreme_of(out, leaf, Op::Min, [a, b]),
            _ => extreme_of(out, leaf, Op::Max, [a, b]),
        }
    };
    // Sums and products have a start.
    let operands: Parts = (0..if matches!(which, "fadd" | "fmul") { 2 } else { 1 }).flat_map(|k| s.parts(i.operand(k))).collect();
    let result = operands[1..].iter().fold(operands[0], |all, operand| step(&mut s.out, all, *operand));
    s.values.set1(i, result);
    true
}

/// The mantissa and the exponent.
fn frexp(s: &mut Selector, i: Value) {
    let op = s.operand(i.operand(0));
    let ty = s.leaf(i.operand(0)).float_type();
    let mantissa = s.out.emit_float(Op::FrexpMant, ty, &[plain(op)]);
    let exponent = s.out.emit_joint(Op::FrexpExp, ty, 1, &[op]);
    s.values.set(i, smallvec![mantissa, exponent]);
}

/// A minimum or maximum where NaN operands give NaN, unlike minNum.
fn extreme(s: &mut Selector, i: Value, op: Op) {
    each_leaf(s, i, 2, |s, leaf, a| extreme_of(&mut s.out, leaf, op, [a[0], a[1]]));
}

/// The same of two operands.
fn extreme_of(out: &mut Emitter, leaf: Leaf, op: Op, [a, b]: [Operand; 2]) -> Operand {
    let ty = leaf.float_type();
    let (x, y) = (plain(a), plain(b));
    let chosen = out.emit_float(op, ty, &[x, y]);
    let sum = out.emit_float(Op::Add, ty, &[x, y]);
    let nan = out.compare(Cond::Uno, ty, x, y);
    out.choose(nan, leaf, sum, chosen)
}

/// An operation of the machine, with the modifiers of its sources where they are scalars.
fn operation(s: &mut Selector, i: Value, arity: u32, op: Op) {
    let leaves = s.cx.leaves(i);
    if let [leaf] = leaves[..] {
        let sources: Vec<_> = (0..arity).map(|k| floats::float_source(s, i.operand(k))).collect();
        let result = s.out.emit_float(op, leaf.float_type(), &sources);
        s.values.set1(i, result);
    } else {
        each_leaf(s, i, arity, |s, leaf, a| {
            let sources: Vec<_> = a.iter().map(|o| plain(*o)).collect();
            s.out.emit_float(op, leaf.float_type(), &sources)
        });
    }
}

fn round(s: &mut Selector, i: Value, rounding: Rounding) {
    each_leaf(s, i, 1, |s, leaf, a| round_to(&mut s.out, leaf, a[0], rounding));
}

/// `|x|` by its sign bit.
fn clear_sign(out: &mut Emitter, leaf: Leaf, op: Operand) -> Operand {
    match leaf.bits {
        16 => out.and32(op, 0x7fff),
        32 => out.and32(op, 0x7fff_ffff),
        _ => {
            let (low, high) = out.halves(op);
            let high = out.and32(high, 0x7fff_ffff);
            out.pair(low, high)
        }
    }
}

/// A number, of NaNs the quiet one. By bits, as arithmetic that changes no number may be left out (functional mode's translation
/// does).
fn quiet(out: &mut Emitter, leaf: Leaf, x: Operand) -> Operand {
    let is_nan = out.compare(Cond::Uno, leaf.float_type(), plain(x), plain(x));
    let with =
        |out: &mut Emitter, word: Operand, bit: u32| out.emit_joint(Op::Or, Type::B32, 1, &[word, Operand::Immediate(bit)]);
    let quieted = match leaf.bits {
        16 => with(out, x, 0x0200),
        32 => with(out, x, 0x0040_0000),
        _ => {
            let (low, high) = out.halves(x);
            let high = with(out, high, 0x0008_0000);
            out.pair(low, high)
        }
    };
    out.choose(is_nan, leaf, quieted, x)
}

/// Rounds to an integer.
fn round_to(out: &mut Emitter, leaf: Leaf, op: Operand, rounding: Rounding) -> Operand {
    let ty = leaf.float_type();
    let bank = out.joint_bank(&[op]);
    let dst = out.register(RegClass { bank, words: ty.words() });
    let mut inst = Inst::new(Op::Round, ty, dst, [op]);
    inst.mods.rounding = rounding;
    out.push(inst);
    dst
}

/// A number.
fn constant(out: &mut Emitter, leaf: Leaf, value: f64) -> Operand {
    match leaf.float_type() {
        Type::F16 => Operand::Immediate(u32::from(half::f16::from_f64(value).to_bits())),
        Type::F32 => Operand::Immediate((value as f32).to_bits()),
        _ => out.constant_operand(value.to_bits(), 2),
    }
}

/// Round half away from zero: what lies beyond the next half is cut off, and so is the sign lost by none.
fn round_half_away(out: &mut Emitter, leaf: Leaf, x: Operand) -> Operand {
    let sum = with_half_added(out, leaf, x);
    round_to(out, leaf, sum, Rounding::Rz)
}

/// A number and, with its sign, the greatest number below a half: a half itself would take the number below it up to 1. The sum
/// of a half and that is 1, since a tie goes to the even number; integers without a fraction stay as they are.
pub(crate) fn with_half_added(out: &mut Emitter, leaf: Leaf, x: Operand) -> Operand {
    let ty = leaf.float_type();
    let below_half = match ty {
        Type::F16 => 0.5 - 0.5f64.powi(12),
        Type::F32 => 0.5 - 0.5f64.powi(25),
        _ => 0.5 - 0.5f64.powi(54),
    };
    let step = constant(out, leaf, below_half);
    let step = out.emit_float(Op::Copysign, ty, &[plain(step), plain(x)]);
    out.emit_float(Op::Add, ty, &[plain(x), plain(step)])
}

/// The special-function unit's operations. They are what `native_` built-ins and half-precision ask for;
/// libclc writes the correctly bounded functions out.
fn approximate(s: &mut Selector, i: Value, base: &str) {
    if s.cx.leaves(i).iter().any(|l| l.bits == 64) {
        let message = format!("`llvm.{base}` in double precision: the machine has the approximation in single precision only");
        return s.report.error(Some(i), message);
    }
    each_leaf(s, i, 1, |s, leaf, a| {
        let half = leaf.bits == 16;
        let x = if half { s.out.convert(a[0], Type::F16, Type::F32, Rounding::Rn) } else { a[0] };
        let y = approximate_single(&mut s.out, base, x);
        if half { s.out.convert(y, Type::F32, Type::F16, Rounding::Rn) } else { y }
    });
}

/// The same in single precision; other bases are reached by a multiplication.
fn approximate_single(out: &mut Emitter, base: &str, x: Operand) -> Operand {
    use std::f32::consts::{LN_2, LOG2_E, LOG10_2};
    let times = |out: &mut Emitter, x: Operand, c: f32| {
        out.emit_float(Op::Mul, Type::F32, &[plain(x), plain(Operand::Immediate(c.to_bits()))])
    };
    let one = |out: &mut Emitter, op: Op, x: Operand| out.emit_float(op, Type::F32, &[plain(x)]);
    match base {
        "sin" => one(out, Op::Sin, x),
        "cos" => one(out, Op::Cos, x),
        "exp2" => one(out, Op::Ex2, x),
        "log2" => one(out, Op::Lg2, x),
        "exp" => {
            let t = times(out, x, LOG2_E);
            one(out, Op::Ex2, t)
        }
        "log" => {
            let t = one(out, Op::Lg2, x);
            times(out, t, LN_2)
        }
        _ => {
            let t = one(out, Op::Lg2, x);
            times(out, t, LOG10_2)
        }
    }
}

/// `llvm.is.fpclass`: tests on the bits of the absolute value and the sign.
fn float_class(s: &mut Selector, i: Value) {
    let mask = constants::sign_extended(i.operand(1)).unwrap_or(0) as u32;
    let all = s.parts(i.operand(0));
    let from = s.cx.leaves(i.operand(0));
    let mut parts = Parts::new();
    for (leaf, x) in from.iter().zip(all) {
        parts.push(float_class_of(&mut s.out, *leaf, x, mask));
    }
    s.values.set(i, parts);
}

/// The test of one leaf.
fn float_class_of(out: &mut Emitter, leaf: Leaf, x: Operand, mask: u32) -> Operand {
    // Of 64-bit values the high word decides, with the low word folded into a sticky bit below the mantissa's
    // part there.
    let (bits, infinity, quiet, smallest_normal) = match leaf.bits {
        16 => (out.and32(x, 0xffff), 0x7c00u32, 0x7e00u32, 0x0400u32),
        32 => (x, 0x7f80_0000, 0x7fc0_0000, 0x0080_0000),
        _ => {
            let (low, high) = out.halves(x);
            let sticky = out.compare(Cond::Ne, Type::B32, plain(low), plain(Operand::Immediate(0)));
            let sticky = out.choose(sticky, Leaf::WORD, Operand::Immediate(1), Operand::Immediate(0));
            (out.emit_joint(Op::Or, Type::B32, 1, &[high, sticky]), 0x7ff0_0000, 0x7ff8_0000, 0x0010_0000)
        }
    };
    let sign_bit = if leaf.bits == 16 { 0x8000 } else { 0x8000_0000 };
    let magnitude = out.and32(bits, sign_bit - 1);
    // (class bits negative, positive, lowest magnitude, highest magnitude)
    let classes = [
        (1 << 2, 1 << 9, infinity, infinity),
        (1 << 3, 1 << 8, smallest_normal, infinity - 1),
        (1 << 4, 1 << 7, 1, smallest_normal - 1),
        (1 << 5, 1 << 6, 0, 0),
    ];
    let mut result: Option<Operand> = None;
    let add = |out: &mut Emitter, test: Operand, result: &mut Option<Operand>| {
        *result = Some(match *result {
            None => test,
            Some(r) => out.logic(Op::Or, r, test),
        });
    };
    let range = |out: &mut Emitter, value: Operand, low: u32, high: u32| {
        let shifted = out.add32(value, Operand::Immediate(low.wrapping_neg()));
        out.compare(Cond::Le, Type::U32, plain(shifted), plain(Operand::Immediate(high - low)))
    };
    for (negative, positive, low, high) in classes {
        match (mask & negative != 0, mask & positive != 0) {
            (false, false) => {}
            (true, true) => {
                let t = range(out, magnitude, low, high);
                add(out, t, &mut result);
            }
            (n, _) => {
                let base = if n { sign_bit } else { 0 };
                let t = range(out, bits, base | low, base | high);
                add(out, t, &mut result);
            }
        }
    }
    let top = sign_bit - 1;
    for (bit, low, high) in [(1, infinity + 1, quiet - 1), (2, quiet, top)] {
        if mask & bit != 0 {
            let t = range(out, magnitude, low, high);
            add(out, t, &mut result);
        }
    }
    result.unwrap_or(Operand::Immediate(0))
}
