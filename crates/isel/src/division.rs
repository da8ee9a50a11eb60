//! Division of words by constants.
//!
//! # Problem
//! A division takes a shared unit for many cycles, and programs divide by sizes that they know: rows
//! of tiles, digits, radices.
//!
//! # Algorithm
//! The quotient is the upper half of a product with the scaled inverse, shifted: Granlund and
//! Montgomery, "Division by invariant integers using multiplication" (PLDI 1994). The multiplier is
//! the first of 2^(32+s)/d, rounded up, whose error no dividend shows. Where it has 33 bits, an even
//! divisor gives its zeros to a shift before, and else the product is completed by a sum. A
//! remainder is what the product of the quotient leaves. Signed divisions by powers of two round
//! towards zero by an addition before the shift.
//!
//! What is longer than the machine's own division ([`DivisionCosts`]) is left to that.

use heddle_isa::{Op, OpClass, Operand, Type};
use heddle_target::Machine;

use crate::emit::Emitter;

/// Cycles from issue to result of what divisions are made of; with the default no division is replaced.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DivisionCosts {
    /// Of a division.
    pub divide: u32,
    /// Of a product, or its upper half.
    pub multiply: u32,
    /// Of a sum or shift.
    pub simple: u32,
}

impl DivisionCosts {
    /// Of a machine.
    pub fn of(machine: &Machine) -> DivisionCosts {
        DivisionCosts {
            divide: machine.latency(OpClass::IntDivide),
            multiply: machine.latency(OpClass::Mul32),
            simple: machine.latency(OpClass::Int32),
        }
    }
}

/// How to divide by a constant without dividing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Plan {
    /// Shift by `before`, take the upper half of the product with `multiplier`, shift by `after`.
    Product { before: u32, multiplier: u32, after: u32 },
    /// As before, for a multiplier of 33 bits, of which `multiplier` is the lower ones.
    LongProduct { multiplier: u32, after: u32 },
    /// Signed: take the upper half of the product with `multiplier`, add the dividend if `add`, shift by `after`, and add 1
    /// for negative dividends.
    SignedProduct { multiplier: u32, add: bool, after: u32 },
    /// Signed, by a power of two.
    SignedShift(u32),
}

/// The first multiplier and shift that are exact for dividends below 2^(32 - `spare`); it has up to 33 bits.
fn multiplier(divisor: u32, spare: u32) -> (u64, u32) {
    let d = u64::from(divisor);
    let exact = |s: &u32| {
        let power = 1u128 << (32 + s);
        let error = u128::from(d) - power % u128::from(d);
        error <= 1 << (s + spare)
    };
    // With as many bits as the divisor has it always is.
    let s = (0..=32 - divisor.leading_zeros()).find(exact).unwrap_or(32);
    (((1u128 << (32 + s)) / u128::from(d) + 1) as u64, s)
}

impl Plan {
    /// For dividends of `bits` bits, extended to words by zeros. `None`: by 0, 1 and powers of two.
    fn unsigned(divisor: u32, bits: u32) -> Option<Plan> {
        if divisor < 2 || divisor.is_power_of_two() {
            return None;
        }
        let (m, after) = multiplier(divisor, 32 - bits);
        if let Ok(multiplier) = u32::try_from(m) {
            return Some(Plan::Product { before: 0, multiplier, after });
        }
        let before = divisor.trailing_zeros();
        let (shorter, shift) = multiplier(divisor >> before, 32 - bits + before);
        match u32::try_from(shorter) {
            Ok(multiplier) if before > 0 => Some(Plan::Product { before, multiplier, after: shift }),
            _ => Some(Plan::LongProduct { multiplier: m as u32, after }),
        }
    }

    /// For dividends extended to words by their signs, and a positive divisor. `None`: by 0 and 1.
    fn signed(divisor: u32) -> Option<Plan> {
        if divisor < 2 || divisor > i32::MAX as u32 {
            return None;
        }
        if divisor.is_power_of_two() {
            return Some(Plan::SignedShift(divisor.trailing_zeros()));
        }
        let (m, after) = multiplier(divisor, 1);
        u32::try_from(m).ok().map(|multiplier| Plan::SignedProduct { multiplier, add: multiplier > i32::MAX as u32, after })
    }

    /// Products, and sums and shifts.
    fn operations(self) -> (u32, u32) {
        match self {
            Plan::Product { before, after, .. } => (1, u32::from(before > 0) + u32::from(after > 0)),
            Plan::LongProduct { .. } => (1, 4),
            Plan::SignedProduct { add, after, .. } => (1, 2 + u32::from(add) + u32::from(after > 0)),
            Plan::SignedShift(k) => (0, 3 + u32::from(k > 1)),
        }
    }

    /// The quotient of a word.
    fn quotient(self, out: &mut impl Arithmetic, x: Operand) -> Operand {
        let word = Operand::Immediate;
        match self {
            Plan::Product { before, multiplier, after } => {
                let x = shifted(out, Type::U32, x, before);
                let q = out.word(Op::MulHi, Type::U32, x, word(multiplier));
                shifted(out, Type::U32, q, after)
            }
            Plan::LongProduct { multiplier, after } => {
                // The mean of the upper half and the dividend has no 33rd bit.
                let upper = out.word(Op::MulHi, Type::U32, x, word(multiplier));
                let rest = out.word(Op::Sub, Type::B32, x, upper);
                let half = out.word(Op::Shr, Type::U32, rest, word(1));
                let sum = out.word(Op::Add, Type::B32, half, upper);
                shifted(out, Type::U32, sum, after - 1)
            }
            Plan::SignedProduct { multiplier, add, after } => {
                let upper = out.word(Op::MulHi, Type::S32, x, word(multiplier));
                let upper = if add { out.word(Op::Add, Type::B32, upper, x) } else { upper };
                let q = shifted(out, Type::S32, upper, after);
                let sign = out.word(Op::Shr, Type::U32, x, word(31));
                out.word(Op::Add, Type::B32, q, sign)
            }
            Plan::SignedShift(k) => {
                let sign = if k > 1 { out.word(Op::Shr, Type::S32, x, word(31)) } else { x };
                let rounding = out.word(Op::Shr, Type::U32, sign, word(32 - k));
                let sum = out.word(Op::Add, Type::B32, x, rounding);
                out.word(Op::Shr, Type::S32, sum, word(k))
            }
        }
    }
}

/// Instructions of words.
trait Arithmetic {
    fn word(&mut self, op: Op, ty: Type, a: Operand, b: Operand) -> Operand;
}

impl Arithmetic for Emitter {
    fn word(&mut self, op: Op, ty: Type, a: Operand, b: Operand) -> Operand {
        self.emit_joint(op, ty, 1, &[a, b])
    }
}

fn shifted(out: &mut impl Arithmetic, ty: Type, x: Operand, by: u32) -> Operand {
    if by == 0 { x } else { out.word(Op::Shr, ty, x, Operand::Immediate(by)) }
}

/// The quotient, or the remainder, of a dividend of `bits` bits, extended to a word, and a constant, without a division.
/// `None` where that takes as long, and where the divisor is 0.
pub(crate) fn by_constant(
    out: &mut Emitter,
    costs: DivisionCosts,
    (op, ty): (Op, Type),
    bits: u32,
    x: Operand,
    divisor: u32,
) -> Option<Operand> {
    let negative = ty == Type::S32 && (divisor as i32) < 0;
    let plan = match ty {
        Type::U32 => Plan::unsigned(divisor, bits)?,
        Type::S32 => Plan::signed((divisor as i32).unsigned_abs())?,
        _ => return None,
    };
    let (products, others) = plan.operations();
    let last = u32::from(op == Op::Rem);
    let cycles = (products + last) * costs.multiply + (others + u32::from(negative && op == Op::Div)) * costs.simple;
    if matches!(x, Operand::Immediate(_)) || cycles >= costs.divide {
        return None;
    }
    let quotient = plan.quotient(out, x);
    Some(match (op, negative) {
        // The sign of a divisor is not the remainder's.
        (Op::Rem, _) => {
            let magnitude = if negative { divisor.wrapping_neg() } else { divisor };
            out.emit_joint(Op::Mad, Type::B32, 1, &[quotient, Operand::Immediate(magnitude.wrapping_neg()), x])
        }
        (_, true) => out.emit_joint(Op::Sub, Type::B32, 1, &[Operand::Immediate(0), quotient]),
        (_, false) => quotient,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Computes what would be emitted.
    struct Interpreter;

    impl Arithmetic for Interpreter {
        fn word(&mut self, op: Op, ty: Type, a: Operand, b: Operand) -> Operand {
            let (Operand::Immediate(a), Operand::Immediate(b)) = (a, b) else { panic!("words") };
            Operand::Immediate(match (op, ty) {
                (Op::Add, _) => a.wrapping_add(b),
                (Op::Sub, _) => a.wrapping_sub(b),
                (Op::Shr, Type::U32) => a >> b,
                (Op::Shr, Type::S32) => (a as i32 >> b) as u32,
                (Op::MulHi, Type::U32) => ((u64::from(a) * u64::from(b)) >> 32) as u32,
                (Op::MulHi, Type::S32) => ((i64::from(a as i32) * i64::from(b as i32)) >> 32) as u32,
                _ => panic!("{op:?}"),
            })
        }
    }

    fn quotient(plan: Plan, x: u32) -> u32 {
        let Operand::Immediate(q) = plan.quotient(&mut Interpreter, Operand::Immediate(x)) else { panic!("a word") };
        q
    }

    /// Numbers at which a wrong multiplier shows: around multiples of the divisor, and the ends.
    fn dividends(divisor: u32) -> impl Iterator<Item = u32> {
        let d = divisor.max(1);
        let multiples = [1, 2, 3, 1000, 65535, u32::MAX / d, u32::MAX / d / 2].map(|k: u32| k.wrapping_mul(d));
        let ends = [0, 1 << 31, u32::MAX, i32::MAX as u32];
        let near = |n: u32| [n.wrapping_sub(1), n, n.wrapping_add(1), n.wrapping_neg()];
        multiples.into_iter().chain(ends).flat_map(near)
    }

    fn divisors() -> impl Iterator<Item = u32> {
        let powers = (1..32).flat_map(|k| [(1u32 << k) - 1, 1 << k, (1 << k) + 1]);
        (2..3000).chain(powers).chain([641, 6700417, 1_000_000_007, i32::MAX as u32, u32::MAX - 1, u32::MAX])
    }

    #[test]
    fn unsigned_quotients_are_exact() {
        for d in divisors() {
            let Some(plan) = Plan::unsigned(d, 32) else { continue };
            dividends(d).for_each(|x| assert_eq!(quotient(plan, x), x / d, "{x} / {d} by {plan:?}"));
        }
    }

    #[test]
    fn signed_quotients_are_exact() {
        for d in divisors() {
            let Some(plan) = Plan::signed(d) else { continue };
            dividends(d).for_each(|x| assert_eq!(quotient(plan, x) as i32, (x as i32) / d as i32, "{x} / {d} by {plan:?}"));
        }
    }

    #[test]
    fn narrow_dividends_need_no_more_than_a_product_and_a_shift() {
        let check = |d: u32, bits: u32, step: usize| {
            let Some(plan) = Plan::unsigned(d, bits) else { return };
            assert!(matches!(plan, Plan::Product { before: 0, .. }), "{plan:?}");
            (0..1u32 << bits).step_by(step).for_each(|x| assert_eq!(quotient(plan, x), x / d, "{x} / {d}"));
        };
        (3..1 << 8).for_each(|d| check(d, 8, 1));
        (3..1 << 16).step_by(97).for_each(|d| check(d, 16, 11));
    }

    #[test]
    fn shifts_are_moved_before_the_product() {
        assert!(matches!(Plan::unsigned(14, 32), Some(Plan::Product { before: 1, .. })));
        assert!(matches!(Plan::unsigned(7, 32), Some(Plan::LongProduct { .. })));
        assert_eq!(Plan::unsigned(10, 32), Some(Plan::Product { before: 0, multiplier: 0xcccc_cccd, after: 3 }));
        assert_eq!(Plan::unsigned(16, 32), None);
        assert_eq!(Plan::signed(16), Some(Plan::SignedShift(4)));
    }
}
