//! Integer intrinsics: saturation, overflow, counts, reversals, funnel shifts, minima and reductions.
//!
//! The machine has them at 32 and 64 bits; other widths are made of those.

use crate::Selector;
use crate::emit::Emitter;
use crate::leaf::{Leaf, Parts};
use crate::lower::casts;
use crate::lower::floats::plain;
use crate::lower::leafwise::each_leaf;
use heddle_isa::{Cond, Inst, Op, Operand, Type};
use heddle_llvm_passes::ir::Value;
use heddle_mir::RegClass;

/// Selects an intrinsic by its name without types; false if it is of another family.
pub(crate) fn select(s: &mut Selector, i: Value, base: &str) -> bool {
    let signed = base.starts_with('s');
    if s.leaf(i).words() == 0 && of_bits(s, i, base) {
        return true;
    }
    match base {
        "abs" => each_leaf(s, i, 1, |s, leaf, a| {
            let (op, ty) = widened(&mut s.out, leaf, a[0], true);
            s.out.emit_joint(Op::Abs, ty, leaf.words(), &[op])
        }),
        "smin" | "umin" => each_leaf(s, i, 2, |s, leaf, a| extreme(&mut s.out, Op::Min, signed, leaf, [a[0], a[1]])),
        "smax" | "umax" => each_leaf(s, i, 2, |s, leaf, a| extreme(&mut s.out, Op::Max, signed, leaf, [a[0], a[1]])),
        "sadd.sat" | "uadd.sat" => each_leaf(s, i, 2, |s, leaf, a| saturating(&mut s.out, Op::Add, signed, leaf, [a[0], a[1]])),
        "ssub.sat" | "usub.sat" => each_leaf(s, i, 2, |s, leaf, a| saturating(&mut s.out, Op::Sub, signed, leaf, [a[0], a[1]])),
        "sadd.with.overflow" | "uadd.with.overflow" => with_overflow(s, i, Op::Add, signed),
        "ssub.with.overflow" | "usub.with.overflow" => with_overflow(s, i, Op::Sub, signed),
        "smul.with.overflow" | "umul.with.overflow" => with_overflow(s, i, Op::Mul, signed),
        "scmp" | "ucmp" => three_way(s, i, signed),
        "ctlz" => each_leaf(s, i, 1, |s, leaf, a| count_zeros(&mut s.out, leaf, a[0], true)),
        "cttz" => each_leaf(s, i, 1, |s, leaf, a| count_zeros(&mut s.out, leaf, a[0], false)),
        "ctpop" => each_leaf(s, i, 1, |s, leaf, a| {
            let (op, _) = widened(&mut s.out, leaf, a[0], false);
            one_word_count(&mut s.out, Op::Popc, leaf, op)
        }),
        "bswap" => each_leaf(s, i, 1, |s, leaf, a| reverse(&mut s.out, Op::Bswap, leaf, a[0])),
        "bitreverse" => each_leaf(s, i, 1, |s, leaf, a| reverse(&mut s.out, Op::Brev, leaf, a[0])),
        "fshl" => each_leaf(s, i, 3, |s, leaf, a| funnel_shift(s, leaf, a, true)),
        "fshr" => each_leaf(s, i, 3, |s, leaf, a| funnel_shift(s, leaf, a, false)),
        "fptosi.sat" | "fptoui.sat" => {
            let signed = base == "fptosi.sat";
            let from = s.leaf(i.operand(0));
            let (sources, rounding) = casts::rounded_source(s, i.operand(0));
            let mut of_leaf = sources.into_iter();
            each_leaf(s, i, 0, |s, leaf, _| {
                let source = of_leaf.next().unwrap_or(Operand::Immediate(0));
                casts::float_to_integer_saturating(&mut s.out, source, from, leaf, signed, rounding)
            });
        }
        _ => return base.strip_prefix("vector.reduce.").is_some_and(|which| reduction(s, i, which)),
    }
    true
}

/// Selects an intrinsic of `i1`, of which a signed one is 0 or -1; false if it is another.
fn of_bits(s: &mut Selector, i: Value, base: &str) -> bool {
    let and_not = |out: &mut Emitter, a, b| {
        let kept = inverted(out, b);
        out.logic(Op::And, a, kept)
    };
    match base {
        // What would be 1 is -1 too, and shifts are by 0.
        "abs" | "ctpop" | "bitreverse" => each_leaf(s, i, 1, |_, _, a| a[0]),
        "fshl" => each_leaf(s, i, 3, |_, _, a| a[0]),
        "fshr" => each_leaf(s, i, 3, |_, _, a| a[1]),
        "ctlz" | "cttz" => each_leaf(s, i, 1, |s, _, a| inverted(&mut s.out, a[0])),
        "smin" | "umax" | "sadd.sat" | "uadd.sat" => each_leaf(s, i, 2, |s, _, a| s.out.logic(Op::Or, a[0], a[1])),
        "smax" | "umin" => each_leaf(s, i, 2, |s, _, a| s.out.logic(Op::And, a[0], a[1])),
        "ssub.sat" | "usub.sat" => each_leaf(s, i, 2, |s, _, a| and_not(&mut s.out, a[0], a[1])),
        "sadd.with.overflow" | "uadd.with.overflow" | "ssub.with.overflow" | "usub.with.overflow" | "smul.with.overflow"
        | "umul.with.overflow" => {
            each_overflow(s, i, |out, _, a, b| {
                let result = out.logic(if base.contains("mul") { Op::And } else { Op::Xor }, a, b);
                let overflow = match &base[..4] {
                    "umul" => Operand::Immediate(0),
                    "ssub" | "usub" => and_not(out, b, a),
                    // -1 + -1 and -1 * -1.
                    _ => out.logic(Op::And, a, b),
                };
                (result, overflow)
            });
        }
        "vector.reduce.smin" | "vector.reduce.umax" => reduce(s, i, Op::Or),
        "vector.reduce.smax" | "vector.reduce.umin" => reduce(s, i, Op::And),
        _ => return false,
    }
    true
}

/// The other bit.
fn inverted(out: &mut Emitter, bit: Operand) -> Operand {
    match bit {
        Operand::Immediate(v) => Operand::Immediate(!v & 1),
        _ => out.logic(Op::Xor, bit, Operand::Immediate(1)),
    }
}

/// Selects a reduction of a vector; false if it is none of integers.
fn reduction(s: &mut Selector, i: Value, which: &str) -> bool {
    match which {
        "smin" => reduce_extreme(s, i, Op::Min, true),
        "smax" => reduce_extreme(s, i, Op::Max, true),
        "umin" => reduce_extreme(s, i, Op::Min, false),
        "umax" => reduce_extreme(s, i, Op::Max, false),
        "add" => reduce(s, i, Op::Add),
        "mul" => reduce(s, i, Op::Mul),
        "and" => reduce(s, i, Op::And),
        "or" => reduce(s, i, Op::Or),
        "xor" => reduce(s, i, Op::Xor),
        _ => return false,
    }
    true
}

fn reduce_extreme(s: &mut Selector, i: Value, op: Op, signed: bool) {
    let (leaf, parts) = (s.leaf(i), s.parts(i.operand(0)));
    let result = parts[1..].iter().fold(parts[0], |all, part| extreme(&mut s.out, op, signed, leaf, [all, *part]));
    s.values.set1(i, result);
}

/// An integer leaf with defined upper bits, and the signed or unsigned machine type of its register.
fn widened(out: &mut Emitter, leaf: Leaf, op: Operand, signed: bool) -> (Operand, Type) {
    let ty = match (leaf.words(), signed) {
        (2, true) => Type::S64,
        (2, false) => Type::U64,
        (_, true) => Type::S32,
        (_, false) => Type::U32,
    };
    let op = match leaf.words() {
        2 => out.extend_wide(op, leaf.bits, signed),
        0 => out.bit_to_word(op),
        _ => out.extend(op, leaf.bits, signed),
    };
    (op, ty)
}

/// A sum or difference that stays at the bounds of its type.
fn saturating(out: &mut Emitter, op: Op, signed: bool, leaf: Leaf, [a, b]: [Operand; 2]) -> Operand {
    let (x, ty) = widened(out, leaf, a, signed);
    let (y, _) = widened(out, leaf, b, signed);
    let native = leaf.bits == 32 || leaf.bits == 64;
    if native {
        return saturate(out, op, ty, [x, y]);
    }
    // Exact in the register, then clamped. A signed one has both bounds; of unsigned ones a sum, which may look negative, has
    // the upper one, and a difference, which may be negative, the lower one.
    let words = leaf.words();
    let sum = out.emit_joint(op, leaf.bit_type(), words, &[x, y]);
    let magnitude_bits = leaf.bits - u32::from(signed);
    let clamp = |out: &mut Emitter, which, ty, x, bound: u64| {
        let bound = out.constant_operand(bound, words);
        out.emit_joint(which, ty, words, &[x, bound])
    };
    let up = if signed || op == Op::Sub {
        let signed_type = if words == 2 { Type::S64 } else { Type::S32 };
        clamp(out, Op::Max, signed_type, sum, if signed { u64::MAX << magnitude_bits } else { 0 })
    } else {
        sum
    };
    if signed || op == Op::Add { clamp(out, Op::Min, ty, up, (1u64 << magnitude_bits) - 1) } else { up }
}

/// -1, 0 or 1, as the first operand is below, equal to or above the second.
fn three_way(s: &mut Selector, i: Value, signed: bool) {
    let from = s.leaf(i.operand(0));
    each_leaf(s, i, 2, |s, to, a| {
        let (x, ty) = widened(&mut s.out, from, a[0], signed);
        let (y, _) = widened(&mut s.out, from, a[1], signed);
        // A signed bit is 0 or -1.
        let (x, y) = if signed && from.bits == 1 { (y, x) } else { (x, y) };
        let below = s.out.compare(Cond::Lt, ty, plain(x), plain(y));
        let above = s.out.compare(Cond::Gt, ty, plain(x), plain(y));
        let number = |s: &mut Selector, bits| s.out.constant_operand(bits, to.words());
        let (one, none, less) = (number(s, 1), number(s, 0), number(s, u64::MAX));
        let rest = s.out.choose(above, to, one, none);
        s.out.choose(below, to, less, rest)
    });
}

/// A count of bits.
fn one_word_count(out: &mut Emitter, op: Op, leaf: Leaf, x: Operand) -> Operand {
    out.emit_joint(op, leaf.bit_type(), leaf.words().max(1), &[x])
}

/// Zeros above the highest bit that is set, or below the lowest.
fn count_zeros(out: &mut Emitter, leaf: Leaf, x: Operand, leading: bool) -> Operand {
    let native = leaf.bits == 32 || leaf.bits == 64;
    if native {
        return one_word_count(out, if leading { Op::Clz } else { Op::Ctz }, leaf, x);
    }
    let width = if leaf.words() == 2 { 64 } else { 32 };
    if leading {
        let (x, _) = widened(out, leaf, x, false);
        let count = one_word_count(out, Op::Clz, leaf, x);
        let difference = Operand::Immediate((leaf.bits as i32 - width) as u32);
        if width == 32 {
            return out.add32(count, difference);
        }
        return out.emit_joint(Op::Add, Type::B64, 2, &[count, difference]);
    }
    // A bit just above the value stops the count there.
    if width == 32 {
        let marked = out.emit_joint(Op::Or, Type::B32, 1, &[x, Operand::Immediate(1 << leaf.bits)]);
        return one_word_count(out, Op::Ctz, leaf, marked);
    }
    let marker = out.constant_operand(1 << leaf.bits, 2);
    let marked = out.emit_joint(Op::Or, Type::B64, 2, &[x, marker]);
    one_word_count(out, Op::Ctz, leaf, marked)
}

/// Bytes or bits in reverse order.
fn reverse(out: &mut Emitter, op: Op, leaf: Leaf, x: Operand) -> Operand {
    let full = out.emit_joint(op, leaf.bit_type(), leaf.words().max(1), &[x]);
    match leaf.bits {
        32 | 64 => full,
        bits if bits < 32 => out.emit_joint(Op::Shr, Type::U32, 1, &[full, Operand::Immediate(32 - bits)]),
        bits => out.emit_joint(Op::Shr, Type::U64, 2, &[full, Operand::Immediate(64 - bits)]),
    }
}

/// The least or greatest of two integers.
fn extreme(out: &mut Emitter, op: Op, signed: bool, leaf: Leaf, [a, b]: [Operand; 2]) -> Operand {
    let (x, ty) = widened(out, leaf, a, signed);
    let (y, _) = widened(out, leaf, b, signed);
    out.emit_joint(op, ty, leaf.words(), &[x, y])
}

/// The operation of the machine that saturates.
fn saturate(out: &mut Emitter, op: Op, ty: Type, operands: [Operand; 2]) -> Operand {
    let bank = out.joint_bank(&operands);
    let dst = out.register(RegClass { bank, words: ty.words() });
    let mut inst = Inst::new(op, ty, dst, operands);
    inst.mods.saturate = true;
    out.push(inst);
    dst
}

/// A sum, difference or product, and whether it does not fit.
fn with_overflow(s: &mut Selector, i: Value, op: Op, signed: bool) {
    each_overflow(s, i, |out, leaf, a, b| overflowing(out, leaf, op, signed, [a, b]));
}

/// Gives what `f` says of each element: the results, and behind them which overflow.
fn each_overflow(s: &mut Selector, i: Value, f: impl Fn(&mut Emitter, Leaf, Operand, Operand) -> (Operand, Operand)) {
    let (a, b) = (s.parts(i.operand(0)), s.parts(i.operand(1)));
    let leaves = s.cx.leaves(i.operand(0));
    let both: Vec<_> = leaves.iter().zip(a.iter().zip(&b)).map(|(leaf, (a, b))| f(&mut s.out, *leaf, *a, *b)).collect();
    let (results, overflows): (Parts, Parts) = both.into_iter().unzip();
    s.values.set(i, results.into_iter().chain(overflows).collect());
}

/// The same of one element.
fn overflowing(out: &mut Emitter, leaf: Leaf, op: Op, signed: bool, [a, b]: [Operand; 2]) -> (Operand, Operand) {
    let (x, ty) = widened(out, leaf, a, signed);
    let (y, _) = widened(out, leaf, b, signed);
    let (words, bits) = (leaf.words(), leaf.bit_type());
    if leaf.bits != 32 && leaf.bits != 64 {
        overflowing_its_register(out, leaf, op, signed, [x, y])
    } else if op == Op::Mul {
        let low = out.emit_joint(Op::Mul, bits, words, &[x, y]);
        let high = out.emit_joint(Op::MulHi, ty, words, &[x, y]);
        let expected = match signed {
            true => out.emit_joint(Op::Shr, ty, words, &[low, Operand::Immediate(leaf.bits - 1)]),
            false => Operand::Immediate(0),
        };
        (low, out.compare(Cond::Ne, bits, plain(high), plain(expected)))
    } else {
        let sum = out.emit_joint(op, bits, words, &[x, y]);
        let overflow = match (signed, op) {
            // The saturated result differs exactly when it overflowed.
            (true, _) => {
                let saturated = saturate(out, op, ty, [x, y]);
                out.compare(Cond::Ne, bits, plain(saturated), plain(sum))
            }
            (false, Op::Add) => out.compare(Cond::Lt, ty, plain(sum), plain(x)),
            (false, _) => out.compare(Cond::Lt, ty, plain(x), plain(y)),
        };
        (sum, overflow)
    }
}

/// The same of a width that the machine has not: of what is exact in more bits, whether the upper ones matter.
fn overflowing_its_register(out: &mut Emitter, leaf: Leaf, op: Op, signed: bool, [x, y]: [Operand; 2]) -> (Operand, Operand) {
    let bits = leaf.bits;
    if bits <= 16 || bits < 32 && op != Op::Mul {
        let exact = out.emit_joint(op, Type::B32, 1, &[x, y]);
        let back = out.extend(exact, bits, signed);
        return (exact, out.compare(Cond::Ne, Type::B32, plain(exact), plain(back)));
    }
    if bits < 32 {
        let (x, y) = (out.word_to_pair(x, signed), out.word_to_pair(y, signed));
        let exact = out.emit_joint(op, Type::B64, 2, &[x, y]);
        let back = out.extend_wide(exact, bits, signed);
        let overflow = out.compare(Cond::Ne, Type::B64, plain(exact), plain(back));
        return (out.halves(exact).0, overflow);
    }
    let low = out.emit_joint(op, Type::B64, 2, &[x, y]);
    let back = out.extend_wide(low, bits, signed);
    let overflow = out.compare(Cond::Ne, Type::B64, plain(low), plain(back));
    if op != Op::Mul {
        return (low, overflow);
    }
    let ty = if signed { Type::S64 } else { Type::U64 };
    let high = out.emit_joint(Op::MulHi, ty, 2, &[x, y]);
    let expected = match signed {
        true => out.emit_joint(Op::Shr, ty, 2, &[low, Operand::Immediate(63)]),
        false => Operand::Immediate(0),
    };
    let beyond = out.compare(Cond::Ne, Type::B64, plain(high), plain(expected));
    (low, out.logic(Op::Or, overflow, beyond))
}

/// A shift of two integers side by side, of which one half is kept.
fn funnel_shift(s: &mut Selector, leaf: Leaf, a: &[Operand], left: bool) -> Operand {
    let op = if left { Op::Fshl } else { Op::Fshr };
    if leaf.bits == 32 || leaf.bits == 64 {
        let amount = if leaf.bits == 64 { s.out.halves(a[2]).0 } else { a[2] };
        return s.out.emit_joint(op, leaf.bit_type(), leaf.words(), &[a[0], a[1], amount]);
    }
    if leaf.bits > 32 {
        return funnel_shift_of_pair(&mut s.out, leaf, [a[0], a[1], a[2]], left);
    }
    // Narrow: shift the concatenation in one word (two of at most 16 bits), or through 64 bits for odd widths.
    let bits = leaf.bits;
    let (amount, _) = widened(&mut s.out, leaf, a[2], false);
    let amount = if bits.is_power_of_two() {
        s.out.and32(amount, bits - 1)
    } else {
        s.out.emit_joint(Op::Rem, Type::U32, 1, &[amount, Operand::Immediate(bits)])
    };
    let (low, _) = widened(&mut s.out, leaf, a[1], false);
    if bits > 16 {
        let (high, _) = widened(&mut s.out, leaf, a[0], false);
        let (high, low) = (s.out.pair(high, Operand::Immediate(0)), s.out.pair(low, Operand::Immediate(0)));
        let up = s.out.emit_joint(Op::Shl, Type::B64, 2, &[high, Operand::Immediate(bits)]);
        let both = s.out.emit_joint(Op::Or, Type::B64, 2, &[up, low]);
        let shifted = if left {
            let by = s.out.emit_joint(Op::Sub, Type::B32, 1, &[Operand::Immediate(bits), amount]);
            s.out.emit_joint(Op::Shr, Type::U64, 2, &[both, by])
        } else {
            s.out.emit_joint(Op::Shr, Type::U64, 2, &[both, amount])
        };
        return s.out.halves(shifted).0;
    }
    let up = s.out.emit_joint(Op::Shl, Type::B32, 1, &[a[0], Operand::Immediate(bits)]);
    let both = s.out.emit_joint(Op::Or, Type::B32, 1, &[up, low]);
    if left {
        let by = s.out.emit_joint(Op::Sub, Type::B32, 1, &[Operand::Immediate(bits), amount]);
        s.out.emit_joint(Op::Shr, Type::U32, 1, &[both, by])
    } else {
        s.out.emit_joint(Op::Shr, Type::U32, 1, &[both, amount])
    }
}

/// The same of 33 to 63 bits.
fn funnel_shift_of_pair(out: &mut Emitter, leaf: Leaf, a: [Operand; 3], left: bool) -> Operand {
    let (low, _) = widened(out, leaf, a[1], false);
    let (amount, ty) = widened(out, leaf, a[2], false);
    let width = out.constant_operand(u64::from(leaf.bits), 2);
    let amount = out.emit_joint(Op::Rem, ty, 2, &[amount, width]);
    let amount = out.halves(amount).0;
    let rest = out.emit_joint(Op::Sub, Type::B32, 1, &[Operand::Immediate(leaf.bits), amount]);
    let (up, down) = if left { (amount, rest) } else { (rest, amount) };
    let upper = out.emit_joint(Op::Shl, Type::B64, 2, &[a[0], up]);
    let lower = out.emit_joint(Op::Shr, Type::U64, 2, &[low, down]);
    out.emit_joint(Op::Or, Type::B64, 2, &[upper, lower])
}

/// All elements of a vector, one operation after the other.
fn reduce(s: &mut Selector, i: Value, op: Op) {
    let parts = s.parts(i.operand(0));
    let leaf = s.leaf(i);
    let mut result = parts[0];
    for part in &parts[1..] {
        result = if leaf.words() == 0 {
            let bits = match op {
                Op::Add => Op::Xor,
                Op::Mul => Op::And,
                op => op,
            };
            s.out.logic(bits, result, *part)
        } else {
            s.out.emit_joint(op, leaf.bit_type(), leaf.words(), &[result, *part])
        };
    }
    s.values.set1(i, result);
}
