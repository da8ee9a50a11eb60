//! What every operation computes: one function for each, over the operands of one lane.
//!
//! The instruction table names these functions, and everything that executes instructions derives from them. Each
//! gives, for the type and modifiers of an instruction, a typed function of one lane's operands to a [`Lanewise`]:
//! the interpreter makes a loop over a warp's lanes of it, [`OneLane`] applies it to one lane ([`Inst::evaluate`]: the
//! reference of constant evaluation and of tests). A type or modifier without a meaning gives `None`; the loader
//! refuses such an instruction, and a test refuses a table that allows it.
//!
//! Operations that are more than a function of a lane's operands say only of which kind they are ([`Meaning`]); what
//! an atomic leaves in memory is [`updated`].

mod atomic;
mod convert;

use super::Inst;
use super::semantics as sem;
use super::types::{Cond, Type};

pub use atomic::updated;
pub(crate) use convert::cvt;

/// A value in the registers of one lane: up to four words, of a predicate the lowest bit of the first.
pub type Words = [u32; 4];

/// The meaning of an operation, as its table row says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Meaning<L> {
    /// Each lane's result is a function of the lane's operands.
    Lane(L),
    /// Reads operands of other lanes.
    CrossLane(CrossLane),
    /// Accesses memory or controls its caches and order.
    Memory(MemoryAction),
    /// Says what the front end does next; lanes compute nothing.
    Control,
    /// Exists only in machine IR and is never executed.
    Pseudo,
}

/// Operations that read other lanes' operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CrossLane {
    /// The first active lane's value.
    First,
    /// The active lanes whose predicate is 1.
    Ballot,
    /// A value of the lane that each lane names.
    Shuffle,
}

/// What an operation does with memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemoryAction {
    /// Reads values.
    Load,
    /// Writes values.
    Store,
    /// Reads and replaces values at once ([`updated`]).
    Atomic,
    /// Orders accesses.
    Fence,
    /// Reads a texel.
    ReadImage,
    /// Writes a texel.
    WriteImage,
    /// Acts on a line of a cache.
    CacheControl,
}

/// A type of values in registers.
pub trait Value: Copy + Default + 'static {
    /// 32-bit registers.
    const WORDS: u16;
    /// The sign bit of a float, in its last register; 0 for other types, whose sources have no sign modifiers.
    const SIGN: u32 = 0;
    /// From its registers; `high` is read by types of two words.
    fn from_words(low: u32, high: u32) -> Self;
    /// To its registers, the second 0 for types of one word.
    fn words(self) -> (u32, u32);
    /// The bits of the last register that the sign modifiers of a source keep, and those that they then turn over: first the absolute
    /// value, then the negation.
    #[inline(always)]
    fn signs(neg: bool, abs: bool) -> (u32, u32) {
        (if abs { !Self::SIGN } else { u32::MAX }, if neg { Self::SIGN } else { 0 })
    }
    /// With the sign modifiers of a source.
    #[inline(always)]
    fn modified(self, neg: bool, abs: bool) -> Self {
        let ((low, high), (kept, turned)) = (self.words(), Self::signs(neg, abs));
        if Self::WORDS == 2 { Self::from_words(low, high & kept ^ turned) } else { Self::from_words(low & kept ^ turned, 0) }
    }
}

macro_rules! value {
    ($t:ty, 1, |$low:ident| $from:expr, |$v:ident| $to:expr) => {
        impl Value for $t {
            const WORDS: u16 = 1;
            #[inline(always)]
            fn from_words($low: u32, _high: u32) -> Self {
                $from
            }
            #[inline(always)]
            fn words(self) -> (u32, u32) {
                let $v = self;
                ($to, 0)
            }
        }
    };
    ($t:ty, 2) => {
        impl Value for $t {
            const WORDS: u16 = 2;
            #[inline(always)]
            fn from_words(low: u32, high: u32) -> Self {
                (u64::from(low) | u64::from(high) << 32) as $t
            }
            #[inline(always)]
            fn words(self) -> (u32, u32) {
                (self as u32, (self as u64 >> 32) as u32)
            }
        }
    };
}
value!(u32, 1, |w| w, |v| v);
value!(i32, 1, |w| w as i32, |v| v as u32);
value!(u64, 2);
value!(i64, 2);
// Narrow integers stand extended in a register.
value!(u8, 1, |w| w as u8, |v| u32::from(v));
value!(u16, 1, |w| w as u16, |v| u32::from(v));
value!(i8, 1, |w| w as i8, |v| i32::from(v) as u32);
value!(i16, 1, |w| w as i16, |v| i32::from(v) as u32);

impl Value for f32 {
    const WORDS: u16 = 1;
    const SIGN: u32 = 1 << 31;
    #[inline(always)]
    fn from_words(low: u32, _high: u32) -> Self {
        f32::from_bits(low)
    }
    #[inline(always)]
    fn words(self) -> (u32, u32) {
        (self.to_bits(), 0)
    }
}

impl Value for f64 {
    const WORDS: u16 = 2;
    const SIGN: u32 = 1 << 31;
    #[inline(always)]
    fn from_words(low: u32, high: u32) -> Self {
        f64::from_bits(u64::from_words(low, high))
    }
    #[inline(always)]
    fn words(self) -> (u32, u32) {
        self.to_bits().words()
    }
}

/// A half-precision float: the low half of its register. Its arithmetic is that of doubles, rounded once.
#[derive(Clone, Copy, Default)]
pub struct Half(u32);

impl Half {
    /// The exact value.
    #[inline(always)]
    pub fn value(self) -> f64 {
        sem::half(self.0)
    }
    /// The nearest half.
    #[inline(always)]
    pub fn of(x: f64) -> Self {
        Half(sem::to_half(x))
    }
}

impl Value for Half {
    const WORDS: u16 = 1;
    const SIGN: u32 = 1 << 15;
    #[inline(always)]
    fn from_words(low: u32, _high: u32) -> Self {
        Half(low & 0xffff)
    }
    #[inline(always)]
    fn words(self) -> (u32, u32) {
        (self.0, 0)
    }
}

/// What is made of a lane's function. The functions capture nothing, so that a type is enough to call one.
pub trait Lanewise: Sized {
    /// What is made.
    type Output;
    /// The result is source 0, of so many words.
    fn copy<const WORDS: u16>(self) -> Self::Output;
    /// The result is source 1 or 2, as the predicate of source 0 says.
    fn select<A: Value>(self) -> Self::Output;
    /// A function of predicates: each bit of the masks is a lane's.
    fn logic<F: Fn(u64, u64, u64) -> u64 + Copy + 'static>(self, f: F) -> Self::Output;
    /// A function of one operand.
    fn unary<A: Value, R: Value, F: Fn(A) -> R + Copy + 'static>(self, f: F) -> Self::Output;
    /// A function of one operand and the rounding mode, as `semantics` numbers it.
    fn rounded<A: Value, R: Value, F: Fn(A, u8) -> R + Copy + 'static>(self, f: F) -> Self::Output;
    /// A function of two operands.
    fn binary<A: Value, B: Value, R: Value, F: Fn(A, B) -> R + Copy + 'static>(self, f: F) -> Self::Output;
    /// A function of three operands.
    fn ternary<A: Value, B: Value, C: Value, R: Value, F>(self, f: F) -> Self::Output
    where
        F: Fn(A, B, C) -> R + Copy + 'static;
    /// A predicate of two operands.
    fn relation<A: Value, F: Fn(A, A) -> bool + Copy + 'static>(self, f: F) -> Self::Output;
}

/// Applies a lane's function to one lane.
pub struct OneLane<'i> {
    /// The instruction, for sign modifiers and rounding.
    pub inst: &'i Inst,
    /// Its sources.
    pub sources: [Words; 3],
}

impl OneLane<'_> {
    fn source<A: Value>(&self, i: usize) -> A {
        let [low, high, ..] = self.sources[i];
        A::from_words(low, high).modified(self.inst.neg >> i & 1 == 1, self.inst.abs >> i & 1 == 1)
    }
}

fn result<R: Value>(r: R) -> Words {
    let (low, high) = r.words();
    [low, high, 0, 0]
}

impl Lanewise for OneLane<'_> {
    type Output = Words;
    fn copy<const WORDS: u16>(self) -> Words {
        let mut words = self.sources[0];
        words[usize::from(WORDS)..].fill(0);
        words
    }
    fn select<A: Value>(self) -> Words {
        result(if self.sources[0][0] != 0 { self.source::<A>(1) } else { self.source(2) })
    }
    fn logic<F: Fn(u64, u64, u64) -> u64 + Copy + 'static>(self, f: F) -> Words {
        let [a, b, c] = self.sources.map(|s| u64::from(s[0] != 0));
        [f(a, b, c) as u32 & 1, 0, 0, 0]
    }
    fn unary<A: Value, R: Value, F: Fn(A) -> R + Copy + 'static>(self, f: F) -> Words {
        result(f(self.source(0)))
    }
    fn rounded<A: Value, R: Value, F: Fn(A, u8) -> R + Copy + 'static>(self, f: F) -> Words {
        result(f(self.source(0), self.inst.mods.rounding as u8))
    }
    fn binary<A: Value, B: Value, R: Value, F: Fn(A, B) -> R + Copy + 'static>(self, f: F) -> Words {
        result(f(self.source(0), self.source(1)))
    }
    fn ternary<A: Value, B: Value, C: Value, R: Value, F>(self, f: F) -> Words
    where
        F: Fn(A, B, C) -> R + Copy + 'static,
    {
        result(f(self.source(0), self.source(1), self.source(2)))
    }
    fn relation<A: Value, F: Fn(A, A) -> bool + Copy + 'static>(self, f: F) -> Words {
        [u32::from(f(self.source(0), self.source(1))), 0, 0, 0]
    }
}

/// The reference of an operation: the result of an instruction on one lane's sources.
pub type Reference = fn(&Inst, [Words; 3]) -> Option<Words>;

impl Inst {
    /// The instruction's result on one lane's sources, if it is a function of these.
    pub fn evaluate(&self, sources: [Words; 3]) -> Option<Words> {
        match self.info().meaning {
            Meaning::Lane(reference) => reference(self, sources),
            Meaning::CrossLane(_) | Meaning::Memory(_) | Meaning::Control | Meaning::Pseudo => None,
        }
    }
}

/// A lane's function for an instruction, or `None` if type or modifiers have none.
type Made<V> = Option<<V as Lanewise>::Output>;

pub(crate) fn mov<V: Lanewise>(inst: &Inst, v: V) -> Made<V> {
    Some(match inst.ty {
        Type::Pred => v.logic(|a, _, _| a),
        Type::B32 => v.copy::<1>(),
        Type::B64 => v.copy::<2>(),
        Type::B128 => v.copy::<4>(),
        _ => return None,
    })
}

pub(crate) fn sel<V: Lanewise>(inst: &Inst, v: V) -> Made<V> {
    Some(match inst.ty {
        Type::Pred => v.logic(|p, a, b| p & a | !p & b),
        Type::B32 => v.select::<u32>(),
        Type::B64 => v.select::<u64>(),
        _ => return None,
    })
}

pub(crate) fn add<V: Lanewise>(inst: &Inst, v: V) -> Made<V> {
    Some(match (inst.ty, inst.mods.saturate) {
        (Type::B32 | Type::S32 | Type::U32, false) => v.binary(u32::wrapping_add),
        (Type::B64 | Type::S64 | Type::U64, false) => v.binary(u64::wrapping_add),
        (Type::S32, true) => v.binary(i32::saturating_add),
        (Type::U32, true) => v.binary(u32::saturating_add),
        (Type::S64, true) => v.binary(i64::saturating_add),
        (Type::U64, true) => v.binary(u64::saturating_add),
        (Type::F16, false) => v.binary(|a: Half, b: Half| Half::of(a.value() + b.value())),
        (Type::F32, false) => v.binary(|a: f32, b: f32| a + b),
        (Type::F64, false) => v.binary(|a: f64, b: f64| a + b),
        _ => return None,
    })
}

pub(crate) fn sub<V: Lanewise>(inst: &Inst, v: V) -> Made<V> {
    Some(match (inst.ty, inst.mods.saturate) {
        (Type::B32 | Type::S32 | Type::U32, false) => v.binary(u32::wrapping_sub),
        (Type::B64 | Type::S64 | Type::U64, false) => v.binary(u64::wrapping_sub),
        (Type::S32, true) => v.binary(i32::saturating_sub),
        (Type::U32, true) => v.binary(u32::saturating_sub),
        (Type::S64, true) => v.binary(i64::saturating_sub),
        (Type::U64, true) => v.binary(u64::saturating_sub),
        _ => return None,
    })
}

pub(crate) fn mul<V: Lanewise>(inst: &Inst, v: V) -> Made<V> {
    Some(match inst.ty {
        Type::B32 => v.binary(u32::wrapping_mul),
        Type::B64 => v.binary(u64::wrapping_mul),
        Type::F16 => v.binary(|a: Half, b: Half| Half::of(a.value() * b.value())),
        Type::F32 => v.binary(|a: f32, b: f32| a * b),
        Type::F64 => v.binary(|a: f64, b: f64| a * b),
        _ => return None,
    })
}

pub(crate) fn mul_hi<V: Lanewise>(inst: &Inst, v: V) -> Made<V> {
    Some(match inst.ty {
        Type::S32 => v.binary(|a: i32, b: i32| (i64::from(a) * i64::from(b) >> 32) as i32),
        Type::U32 => v.binary(|a: u32, b: u32| (u64::from(a) * u64::from(b) >> 32) as u32),
        Type::S64 => v.binary(|a: i64, b: i64| (i128::from(a) * i128::from(b) >> 64) as i64),
        Type::U64 => v.binary(|a: u64, b: u64| (u128::from(a) * u128::from(b) >> 64) as u64),
        _ => return None,
    })
}

pub(crate) fn mul_wide<V: Lanewise>(inst: &Inst, v: V) -> Made<V> {
    Some(match inst.ty {
        Type::S32 => v.binary(|a: i32, b: i32| i64::from(a) * i64::from(b)),
        Type::U32 => v.binary(|a: u32, b: u32| u64::from(a) * u64::from(b)),
        _ => return None,
    })
}

pub(crate) fn mad<V: Lanewise>(inst: &Inst, v: V) -> Made<V> {
    Some(match inst.ty {
        Type::B32 => v.ternary(|a: u32, b: u32, c: u32| a.wrapping_mul(b).wrapping_add(c)),
        Type::B64 => v.ternary(|a: u64, b: u64, c: u64| a.wrapping_mul(b).wrapping_add(c)),
        _ => return None,
    })
}

pub(crate) fn fma<V: Lanewise>(inst: &Inst, v: V) -> Made<V> {
    Some(match inst.ty {
        Type::F16 => v.ternary(|a: Half, b: Half, c: Half| Half(sem::fma_half(a.value(), b.value(), c.value()))),
        Type::F32 => v.ternary(f32::mul_add),
        Type::F64 => v.ternary(f64::mul_add),
        _ => return None,
    })
}

pub(crate) fn div<V: Lanewise>(inst: &Inst, v: V) -> Made<V> {
    Some(match inst.ty {
        Type::S32 => v.binary(sem::div_s32),
        Type::U32 => v.binary(sem::div_u32),
        Type::S64 => v.binary(sem::div_s64),
        Type::U64 => v.binary(sem::div_u64),
        Type::F16 => v.binary(|a: Half, b: Half| Half::of(a.value() / b.value())),
        Type::F32 => v.binary(|a: f32, b: f32| a / b),
        Type::F64 => v.binary(|a: f64, b: f64| a / b),
        _ => return None,
    })
}

pub(crate) fn rem<V: Lanewise>(inst: &Inst, v: V) -> Made<V> {
    Some(match inst.ty {
        Type::S32 => v.binary(sem::rem_s32),
        Type::U32 => v.binary(sem::rem_u32),
        Type::S64 => v.binary(sem::rem_s64),
        Type::U64 => v.binary(sem::rem_u64),
        _ => return None,
    })
}

pub(crate) fn abs<V: Lanewise>(inst: &Inst, v: V) -> Made<V> {
    Some(match inst.ty {
        Type::S32 => v.unary(i32::wrapping_abs),
        Type::S64 => v.unary(i64::wrapping_abs),
        _ => return None,
    })
}

pub(crate) fn min<V: Lanewise>(inst: &Inst, v: V) -> Made<V> {
    Some(match inst.ty {
        Type::S32 => v.binary(|a: i32, b: i32| a.min(b)),
        Type::U32 => v.binary(|a: u32, b: u32| a.min(b)),
        Type::S64 => v.binary(|a: i64, b: i64| a.min(b)),
        Type::U64 => v.binary(|a: u64, b: u64| a.min(b)),
        Type::F16 => v.binary(|a: Half, b: Half| Half::of(sem::min_f64(a.value(), b.value()))),
        Type::F32 => v.binary(sem::min_f32),
        Type::F64 => v.binary(sem::min_f64),
        _ => return None,
    })
}

pub(crate) fn max<V: Lanewise>(inst: &Inst, v: V) -> Made<V> {
    Some(match inst.ty {
        Type::S32 => v.binary(|a: i32, b: i32| a.max(b)),
        Type::U32 => v.binary(|a: u32, b: u32| a.max(b)),
        Type::S64 => v.binary(|a: i64, b: i64| a.max(b)),
        Type::U64 => v.binary(|a: u64, b: u64| a.max(b)),
        Type::F16 => v.binary(|a: Half, b: Half| Half::of(sem::max_f64(a.value(), b.value()))),
        Type::F32 => v.binary(sem::max_f32),
        Type::F64 => v.binary(sem::max_f64),
        _ => return None,
    })
}

pub(crate) fn and<V: Lanewise>(inst: &Inst, v: V) -> Made<V> {
    Some(match inst.ty {
        Type::Pred => v.logic(|a, b, _| a & b),
        Type::B32 => v.binary(|a: u32, b: u32| a & b),
        Type::B64 => v.binary(|a: u64, b: u64| a & b),
        _ => return None,
    })
}

pub(crate) fn and_not<V: Lanewise>(inst: &Inst, v: V) -> Made<V> {
    Some(match inst.ty {
        Type::Pred => v.logic(|a, b, _| a & !b),
        Type::B32 => v.binary(|a: u32, b: u32| a & !b),
        Type::B64 => v.binary(|a: u64, b: u64| a & !b),
        _ => return None,
    })
}

pub(crate) fn or<V: Lanewise>(inst: &Inst, v: V) -> Made<V> {
    Some(match inst.ty {
        Type::Pred => v.logic(|a, b, _| a | b),
        Type::B32 => v.binary(|a: u32, b: u32| a | b),
        Type::B64 => v.binary(|a: u64, b: u64| a | b),
        _ => return None,
    })
}

pub(crate) fn xor<V: Lanewise>(inst: &Inst, v: V) -> Made<V> {
    Some(match inst.ty {
        Type::Pred => v.logic(|a, b, _| a ^ b),
        Type::B32 => v.binary(|a: u32, b: u32| a ^ b),
        Type::B64 => v.binary(|a: u64, b: u64| a ^ b),
        _ => return None,
    })
}

pub(crate) fn not<V: Lanewise>(inst: &Inst, v: V) -> Made<V> {
    Some(match inst.ty {
        Type::Pred => v.logic(|a, _, _| !a),
        Type::B32 => v.unary(|a: u32| !a),
        Type::B64 => v.unary(|a: u64| !a),
        _ => return None,
    })
}

pub(crate) fn shl<V: Lanewise>(inst: &Inst, v: V) -> Made<V> {
    Some(match inst.ty {
        Type::B32 => v.binary(|a: u32, n: u32| a << (n & 31)),
        Type::B64 => v.binary(|a: u64, n: u32| a << (n & 63)),
        _ => return None,
    })
}

pub(crate) fn shr<V: Lanewise>(inst: &Inst, v: V) -> Made<V> {
    Some(match inst.ty {
        Type::S32 => v.binary(|a: i32, n: u32| a >> (n & 31)),
        Type::U32 => v.binary(|a: u32, n: u32| a >> (n & 31)),
        Type::S64 => v.binary(|a: i64, n: u32| a >> (n & 63)),
        Type::U64 => v.binary(|a: u64, n: u32| a >> (n & 63)),
        _ => return None,
    })
}

pub(crate) fn fshl<V: Lanewise>(inst: &Inst, v: V) -> Made<V> {
    Some(match inst.ty {
        Type::B32 => v.ternary(|a: u32, b: u32, n: u32| ((u64::from(a) << 32 | u64::from(b)) << (n & 31) >> 32) as u32),
        Type::B64 => v.ternary(|a: u64, b: u64, n: u32| if n & 63 == 0 { a } else { a << (n & 63) | b >> (64 - (n & 63)) }),
        _ => return None,
    })
}

pub(crate) fn fshr<V: Lanewise>(inst: &Inst, v: V) -> Made<V> {
    Some(match inst.ty {
        Type::B32 => v.ternary(|a: u32, b: u32, n: u32| ((u64::from(a) << 32 | u64::from(b)) >> (n & 31)) as u32),
        Type::B64 => v.ternary(|a: u64, b: u64, n: u32| if n & 63 == 0 { b } else { b >> (n & 63) | a << (64 - (n & 63)) }),
        _ => return None,
    })
}

pub(crate) fn clz<V: Lanewise>(inst: &Inst, v: V) -> Made<V> {
    Some(match inst.ty {
        Type::B32 => v.unary(u32::leading_zeros),
        Type::B64 => v.unary(|a: u64| u64::from(a.leading_zeros())),
        _ => return None,
    })
}

pub(crate) fn ctz<V: Lanewise>(inst: &Inst, v: V) -> Made<V> {
    Some(match inst.ty {
        Type::B32 => v.unary(u32::trailing_zeros),
        Type::B64 => v.unary(|a: u64| u64::from(a.trailing_zeros())),
        _ => return None,
    })
}

pub(crate) fn popc<V: Lanewise>(inst: &Inst, v: V) -> Made<V> {
    Some(match inst.ty {
        Type::B32 => v.unary(u32::count_ones),
        Type::B64 => v.unary(|a: u64| u64::from(a.count_ones())),
        _ => return None,
    })
}

pub(crate) fn brev<V: Lanewise>(inst: &Inst, v: V) -> Made<V> {
    Some(match inst.ty {
        Type::B32 => v.unary(u32::reverse_bits),
        Type::B64 => v.unary(u64::reverse_bits),
        _ => return None,
    })
}

pub(crate) fn bswap<V: Lanewise>(inst: &Inst, v: V) -> Made<V> {
    Some(match inst.ty {
        Type::B32 => v.unary(u32::swap_bytes),
        Type::B64 => v.unary(u64::swap_bytes),
        _ => return None,
    })
}

pub(crate) fn sqrt<V: Lanewise>(inst: &Inst, v: V) -> Made<V> {
    Some(match inst.ty {
        Type::F16 => v.unary(|a: Half| Half::of(a.value().sqrt())),
        Type::F32 => v.unary(f32::sqrt),
        Type::F64 => v.unary(f64::sqrt),
        _ => return None,
    })
}

pub(crate) fn round<V: Lanewise>(inst: &Inst, v: V) -> Made<V> {
    Some(match inst.ty {
        Type::F16 => v.rounded(|a: Half, mode| Half::of(sem::round_f64(a.value(), mode))),
        Type::F32 => v.rounded(sem::round_f32),
        Type::F64 => v.rounded(sem::round_f64),
        _ => return None,
    })
}

pub(crate) fn copysign<V: Lanewise>(inst: &Inst, v: V) -> Made<V> {
    Some(match inst.ty {
        Type::F16 => v.binary(|a: Half, b: Half| Half(a.0 & 0x7fff | b.0 & 0x8000)),
        Type::F32 => v.binary(f32::copysign),
        Type::F64 => v.binary(f64::copysign),
        _ => return None,
    })
}

pub(crate) fn ldexp<V: Lanewise>(inst: &Inst, v: V) -> Made<V> {
    Some(match inst.ty {
        // Beyond ±400 the result is 0 or infinity whatever the half is.
        Type::F16 => v.binary(|a: Half, e: i32| Half::of(sem::ldexp_f64(a.value(), e.clamp(-400, 400)))),
        Type::F32 => v.binary(sem::ldexp_f32),
        Type::F64 => v.binary(sem::ldexp_f64),
        _ => return None,
    })
}

pub(crate) fn frexp_mant<V: Lanewise>(inst: &Inst, v: V) -> Made<V> {
    Some(match inst.ty {
        Type::F16 => v.unary(|a: Half| Half::of(sem::frexp_f64(a.value()).0)),
        Type::F32 => v.unary(|a: f32| sem::frexp_f64(f64::from(a)).0 as f32),
        Type::F64 => v.unary(|a: f64| sem::frexp_f64(a).0),
        _ => return None,
    })
}

pub(crate) fn frexp_exp<V: Lanewise>(inst: &Inst, v: V) -> Made<V> {
    Some(match inst.ty {
        Type::F16 => v.unary(|a: Half| sem::frexp_f64(a.value()).1),
        Type::F32 => v.unary(|a: f32| sem::frexp_f64(f64::from(a)).1),
        Type::F64 => v.unary(|a: f64| sem::frexp_f64(a).1),
        _ => return None,
    })
}

/// Operations that exist for `f32` alone.
fn single<V: Lanewise, F: Fn(f32) -> f32 + Copy + 'static>(inst: &Inst, v: V, f: F) -> Made<V> {
    (inst.ty == Type::F32).then(|| v.unary(f))
}

pub(crate) fn rcp<V: Lanewise>(inst: &Inst, v: V) -> Made<V> {
    single(inst, v, |a| 1.0 / a)
}

pub(crate) fn rsq<V: Lanewise>(inst: &Inst, v: V) -> Made<V> {
    single(inst, v, |a| 1.0 / a.sqrt())
}

pub(crate) fn sin<V: Lanewise>(inst: &Inst, v: V) -> Made<V> {
    single(inst, v, f32::sin)
}

pub(crate) fn cos<V: Lanewise>(inst: &Inst, v: V) -> Made<V> {
    single(inst, v, f32::cos)
}

pub(crate) fn ex2<V: Lanewise>(inst: &Inst, v: V) -> Made<V> {
    single(inst, v, f32::exp2)
}

pub(crate) fn lg2<V: Lanewise>(inst: &Inst, v: V) -> Made<V> {
    single(inst, v, f32::log2)
}

pub(crate) fn cmp<V: Lanewise>(inst: &Inst, v: V) -> Made<V> {
    let cond = inst.mods.cond?;
    match inst.ty {
        Type::S32 => integer_relation::<i32, V>(cond, v),
        Type::B32 | Type::U32 => integer_relation::<u32, V>(cond, v),
        Type::S64 => integer_relation::<i64, V>(cond, v),
        Type::B64 | Type::U64 => integer_relation::<u64, V>(cond, v),
        Type::F16 => float_relation::<Half, V>(cond, v),
        Type::F32 => float_relation::<f32, V>(cond, v),
        Type::F64 => float_relation::<f64, V>(cond, v),
        _ => None,
    }
}

fn integer_relation<T: Value + Ord, V: Lanewise>(cond: Cond, v: V) -> Made<V> {
    Some(match cond {
        Cond::Eq => v.relation(|a: T, b: T| a == b),
        Cond::Ne => v.relation(|a: T, b: T| a != b),
        Cond::Lt => v.relation(|a: T, b: T| a < b),
        Cond::Le => v.relation(|a: T, b: T| a <= b),
        Cond::Gt => v.relation(|a: T, b: T| a > b),
        Cond::Ge => v.relation(|a: T, b: T| a >= b),
        Cond::Oeq | Cond::One | Cond::Olt | Cond::Ole | Cond::Ogt | Cond::Oge | Cond::Ord => return None,
        Cond::Ueq | Cond::Une | Cond::Ult | Cond::Ule | Cond::Ugt | Cond::Uge | Cond::Uno => return None,
    })
}

/// A float as the host compares it.
trait Comparable: Value {
    type Host: PartialOrd;
    fn host(self) -> Self::Host;
}
impl Comparable for f32 {
    type Host = f32;
    #[inline(always)]
    fn host(self) -> f32 {
        self
    }
}
impl Comparable for f64 {
    type Host = f64;
    #[inline(always)]
    fn host(self) -> f64 {
        self
    }
}
impl Comparable for Half {
    type Host = f64;
    #[inline(always)]
    fn host(self) -> f64 {
        self.value()
    }
}

// Each comparison is written so that it shows what it does on NaN: of the host's, only `!=` is true on one.
#[allow(clippy::nonminimal_bool, clippy::eq_op, clippy::double_comparisons)]
fn float_relation<T: Comparable, V: Lanewise>(cond: Cond, v: V) -> Made<V> {
    Some(match cond {
        Cond::Oeq => v.relation(|a: T, b: T| a.host() == b.host()),
        Cond::One => v.relation(|a: T, b: T| a.host() < b.host() || a.host() > b.host()),
        Cond::Olt => v.relation(|a: T, b: T| a.host() < b.host()),
        Cond::Ole => v.relation(|a: T, b: T| a.host() <= b.host()),
        Cond::Ogt => v.relation(|a: T, b: T| a.host() > b.host()),
        Cond::Oge => v.relation(|a: T, b: T| a.host() >= b.host()),
        Cond::Ord => v.relation(|a: T, b: T| a.host() == a.host() && b.host() == b.host()),
        Cond::Ueq => v.relation(|a: T, b: T| !(a.host() < b.host() || a.host() > b.host())),
        Cond::Une => v.relation(|a: T, b: T| a.host() != b.host()),
        Cond::Ult => v.relation(|a: T, b: T| !(a.host() >= b.host())),
        Cond::Ule => v.relation(|a: T, b: T| !(a.host() > b.host())),
        Cond::Ugt => v.relation(|a: T, b: T| !(a.host() <= b.host())),
        Cond::Uge => v.relation(|a: T, b: T| !(a.host() < b.host())),
        Cond::Uno => v.relation(|a: T, b: T| a.host() != a.host() || b.host() != b.host()),
        Cond::Eq | Cond::Ne | Cond::Lt | Cond::Le | Cond::Gt | Cond::Ge => return None,
    })
}
