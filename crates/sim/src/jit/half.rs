//! Half precision as LLVM IR: in single precision, with one more rounding at the end.
//!
//! Rounding a sum, product, quotient or root twice is harmless where the first precision has at least 2 p + 2
//! bits, and single precision has 24, two more than twice the 11 of a half (S. A. Figueroa, *When is double
//! rounding innocuous?*, SIGNUM Newsletter 30(3), 1995). What needs more is first rounded to odd: the lowest
//! bit of an inexact result is 1, so that it lies on the right side of every tie (S. Boldo and G. Melquiond,
//! *Emulation of FMA and correctly rounded sums*, IEEE Transactions on Computers 57(4), 2008).
//! `heddle_isa::semantics` gives the same results, by the errors of sums.

use super::build::{Elem, Val};
use super::translate::Translator;
use heddle_isa::Op;

impl Translator<'_> {
    /// Whether the host converts halves itself, and an operation on them is translated.
    pub(super) fn translates_halves(&self, op: Op) -> bool {
        use Op::*;
        self.host.halves && matches!(op, Add | Mul | Div | Fma | Min | Max | Sqrt | Round | Cmp | Cvt)
    }

    /// The half in a word, in single precision.
    pub(super) fn half_of(&self, word: Val) -> Val {
        let half = self.b.bitcast(self.b.trunc(word, Elem::I(16)), Elem::F16);
        self.b.fpext(half, Elem::F32)
    }

    /// A number in single precision rounded to half, as a word.
    pub(super) fn word_of_half(&self, v: Val) -> Val {
        let half = self.b.bitcast(self.b.fptrunc(v, Elem::F16), Elem::I(16));
        self.b.zext(half, Elem::I(32))
    }

    /// A number in double precision with the bits of single precision, rounded to odd: what is behind them is one bit, the last
    /// of these. What single precision cannot hold any more is no half either, and stays what it is to that.
    pub(super) fn rounded_to_odd(&self, v: Val) -> Val {
        const BEHIND: u64 = (1 << 29) - 1;
        let b = &self.b;
        let behind = Val::Same(b.int(64, BEHIND));
        let odd = b.apply([b.bitcast(v, Elem::I(64)), behind], |[bits, behind]| {
            // The carry says whether there is anything.
            let carry = b.add(b.and(bits, behind), behind);
            b.and(b.or(bits, carry), b.not(behind))
        });
        b.fptrunc(b.bitcast(odd, Elem::F64), Elem::F32)
    }

    /// `x y + z` of halves in single precision, ready for rounding to half: the product is exact in double precision. So is the
    /// sum where it matters: more than 53 bits lie between the highest and the lowest bit only of a `z` from 2⁵ on and a product
    /// below 2⁻²⁶, of which `z` is the nearest half, or of a product that is too large for a half.
    pub(super) fn fma_half(&self, operands: [Val; 3]) -> Val {
        let b = &self.b;
        let wide = operands.map(|v| b.fpext(v, Elem::F64));
        self.rounded_to_odd(b.apply(wide, |[x, y, z]| b.fadd(b.fmul(x, y), z)))
    }
}
