//! Conversions between all types of numbers.

use super::{Half, Lanewise, Made, Value};
use crate::Inst;
use crate::semantics as sem;
use crate::types::Type;

/// The value of a conversion's source, exact: doubles hold every float, `i128` every integer.
#[derive(Clone, Copy)]
enum Exact {
    Float(f64),
    Integer(i128),
}

/// A type of conversions.
trait Number: Value {
    fn exact(self) -> Exact;
    /// The value as this type. Floats round as `mode` says; floats that become integers round and clamp, NaN is 0;
    /// integers that become integers wrap or, if `SATURATE`, clamp.
    fn of<const SATURATE: bool>(x: Exact, mode: u8) -> Self;
}

macro_rules! integer_number {
    ($($t:ty)*) => {
        $(impl Number for $t {
            #[inline(always)]
            fn exact(self) -> Exact {
                Exact::Integer(i128::from(self))
            }
            #[inline(always)]
            fn of<const SATURATE: bool>(x: Exact, mode: u8) -> Self {
                let (low, high) = (i128::from(<$t>::MIN), i128::from(<$t>::MAX));
                match x {
                    Exact::Float(f) => sem::float_to_int(f, mode, low, high) as $t,
                    Exact::Integer(i) if SATURATE => i.clamp(low, high) as $t,
                    Exact::Integer(i) => i as $t,
                }
            }
        })*
    };
}
integer_number!(i8 u8 i16 u16 i32 u32 i64 u64);

impl Number for Half {
    #[inline(always)]
    fn exact(self) -> Exact {
        Exact::Float(self.value())
    }
    #[inline(always)]
    fn of<const SATURATE: bool>(x: Exact, mode: u8) -> Self {
        Half(match x {
            Exact::Float(f) => sem::f64_to_half(f, mode),
            // Integers beyond 2^53 are beyond half's range, so the double decides the same way.
            Exact::Integer(i) => sem::f64_to_half(i as f64, mode),
        })
    }
}

impl Number for f32 {
    #[inline(always)]
    fn exact(self) -> Exact {
        Exact::Float(f64::from(self))
    }
    #[inline(always)]
    fn of<const SATURATE: bool>(x: Exact, mode: u8) -> Self {
        match x {
            Exact::Float(f) => sem::f64_to_f32(f, mode),
            Exact::Integer(i) => sem::int_to_f32(i, mode),
        }
    }
}

impl Number for f64 {
    #[inline(always)]
    fn exact(self) -> Exact {
        Exact::Float(self)
    }
    #[inline(always)]
    fn of<const SATURATE: bool>(x: Exact, mode: u8) -> Self {
        match x {
            Exact::Float(f) => f,
            Exact::Integer(i) => sem::int_to_f64(i, mode),
        }
    }
}

pub(crate) fn cvt<V: Lanewise>(inst: &Inst, v: V) -> Made<V> {
    match inst.mods.from? {
        Type::S8 => convert_from::<i8, V>(inst, v),
        Type::U8 => convert_from::<u8, V>(inst, v),
        Type::S16 => convert_from::<i16, V>(inst, v),
        Type::U16 => convert_from::<u16, V>(inst, v),
        Type::S32 => convert_from::<i32, V>(inst, v),
        Type::U32 => convert_from::<u32, V>(inst, v),
        Type::S64 => convert_from::<i64, V>(inst, v),
        Type::U64 => convert_from::<u64, V>(inst, v),
        Type::F16 => convert_from::<Half, V>(inst, v),
        Type::F32 => convert_from::<f32, V>(inst, v),
        Type::F64 => convert_from::<f64, V>(inst, v),
        _ => None,
    }
}

fn convert_from<F: Number, V: Lanewise>(inst: &Inst, v: V) -> Made<V> {
    Some(match inst.ty {
        Type::S8 => convert::<F, i8, V>(inst, v),
        Type::U8 => convert::<F, u8, V>(inst, v),
        Type::S16 => convert::<F, i16, V>(inst, v),
        Type::U16 => convert::<F, u16, V>(inst, v),
        Type::S32 => convert::<F, i32, V>(inst, v),
        Type::U32 => convert::<F, u32, V>(inst, v),
        Type::S64 => convert::<F, i64, V>(inst, v),
        Type::U64 => convert::<F, u64, V>(inst, v),
        Type::F16 => convert::<F, Half, V>(inst, v),
        Type::F32 => convert::<F, f32, V>(inst, v),
        Type::F64 => convert::<F, f64, V>(inst, v),
        _ => return None,
    })
}

fn convert<F: Number, T: Number, V: Lanewise>(inst: &Inst, v: V) -> V::Output {
    // Only between integers does it make a difference.
    if inst.mods.saturate && F::SIGN == 0 && T::SIGN == 0 {
        v.rounded(|a: F, mode| T::of::<true>(a.exact(), mode))
    } else {
        v.rounded(|a: F, mode| T::of::<false>(a.exact(), mode))
    }
}
