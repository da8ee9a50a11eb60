//! Half precision as LLVM IR: in single precision, with one more rounding at the end.
//!
//! Rounding a sum, product, quotient or root twice is harmless where the first precision has at least 2 p + 2
//! bits, and single precision has 24, two more than twice the 11 of a half (S. A. Figueroa, *When is double
//! rounding innocuous?*, SIGNUM Newsletter 30(3), 1995). What needs more is first rounded to odd: the lowest
//! bit of an inexact result is 1, so that it lies on the right side of every tie (S. Boldo and G. Melquiond,
//! *Emulation of FMA and correctly rounded sums*, IEEE Transactions on Computers 57(4), 2008). So
//! `heddle_isa::semantics` does it.

use inkwell::llvm_sys::LLVMIntPredicate::*;
use inkwell::llvm_sys::LLVMRealPredicate::*;

use super::build::{Elem, V, Val};
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

    fn abs(&self, v: V) -> V {
        self.b.intrinsic_of("llvm.fabs", &[v])
    }

    /// A number in double precision rounded to single precision, to odd. Infinities and NaN stay.
    pub(super) fn rounded_to_odd(&self, v: Val) -> Val {
        let b = &self.b;
        let nearest = b.fptrunc(v, Elem::F32);
        let back = b.fpext(nearest, Elem::F64);
        let inexact = b.apply([back, v], |[back, v]| b.fcmp(LLVMRealONE, back, v));
        let infinity = Val::Same(b.float(Elem::F32, f64::INFINITY));
        let finite = b.apply([nearest, infinity], |[x, y]| b.fcmp(LLVMRealOLT, self.abs(x), y));
        let smaller = b.apply([back, v], |[back, v]| b.fcmp(LLVMRealOLT, self.abs(back), self.abs(v)));
        let bits = b.bitcast(nearest, Elem::I(32));
        let odd = self.next_odd(bits, smaller, 32);
        let odd = b.apply([inexact, finite, odd, bits], |[i, f, odd, bits]| b.select(b.and(i, f), odd, bits));
        b.bitcast(odd, Elem::F32)
    }

    /// The neighbour of an even number, as bits: upwards if `up`, else downwards; an odd number itself.
    fn next_odd(&self, bits: Val, up: Val, width: u32) -> Val {
        let b = &self.b;
        let one = Val::Same(b.int(width, 1));
        let step = |bits: V, up: V, one: V| b.select(up, b.add(bits, one), b.sub(bits, one));
        let zero = Val::Same(b.int(width, 0));
        b.apply([bits, up, one, zero], |[bits, up, one, zero]| {
            let even = b.icmp(LLVMIntEQ, b.and(bits, one), zero);
            b.select(even, step(bits, up, one), bits)
        })
    }

    /// `x y + z` of halves in single precision, ready for rounding to half: the product is exact in double
    /// precision, the sum is rounded to odd by its error (Knuth's two-sum).
    pub(super) fn fma_half(&self, operands: [Val; 3]) -> Val {
        let b = &self.b;
        let [x, y, z] = operands.map(|v| b.fpext(v, Elem::F64));
        let product = b.apply([x, y], |[x, y]| b.fmul(x, y));
        let sum = b.apply([product, z], |[p, z]| b.fadd(p, z));
        let error = b.apply([product, sum, z], |[p, sum, z]| {
            let rest = b.fsub(sum, p);
            b.fadd(b.fsub(p, b.fsub(sum, rest)), b.fsub(z, rest))
        });
        let zero = Val::Same(b.float(Elem::F64, 0.0));
        let infinity = Val::Same(b.float(Elem::F64, f64::INFINITY));
        let inexact = b.apply([error, zero], |[e, zero]| b.fcmp(LLVMRealONE, e, zero));
        let finite = b.apply([sum, infinity], |[x, y]| b.fcmp(LLVMRealOLT, self.abs(x), y));
        let up = b.apply([error, sum, zero], |[e, sum, zero]| {
            let positive = |v| b.fcmp(LLVMRealOGT, v, zero);
            b.not(b.xor(positive(e), positive(sum)))
        });
        let bits = b.bitcast(sum, Elem::I(64));
        let odd = self.next_odd(bits, up, 64);
        let odd = b.apply([inexact, finite, odd, bits], |[i, f, odd, bits]| b.select(b.and(i, f), odd, bits));
        self.rounded_to_odd(b.bitcast(odd, Elem::F64))
    }
}
