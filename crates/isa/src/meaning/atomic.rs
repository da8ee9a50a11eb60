//! What atomics leave in memory.

use crate::semantics as sem;
use crate::types::{AtomicOp, Type};

/// What an atomic leaves in memory where it found `old`; `replacement` is `cmpxchg`'s second operand. Values of 32-bit
/// types are in the low halves.
#[inline]
pub fn updated(op: AtomicOp, ty: Type, old: u64, data: u64, replacement: u64) -> Option<u64> {
    let (a, b) = (old as u32, data as u32);
    Some(match ty {
        Type::B32 => u64::from(bits(op, a, b, replacement as u32)?),
        Type::B64 => bits(op, old, data, replacement)?,
        Type::S32 => u64::from(extremum(op, a as i32, b as i32)? as u32),
        Type::S64 => extremum(op, old as i64, data as i64)? as u64,
        Type::U32 => u64::from(extremum(op, a, b).or_else(|| counted(op, a, b))?),
        Type::U64 => extremum(op, old, data).or_else(|| counted(op, old, data))?,
        Type::F32 => {
            let (a, b) = (f32::from_bits(a), f32::from_bits(b));
            let new = match op {
                AtomicOp::Add => a + b,
                AtomicOp::Sub => a - b,
                AtomicOp::Min => sem::min_f32(a, b),
                AtomicOp::Max => sem::max_f32(a, b),
                _ => return None,
            };
            u64::from(new.to_bits())
        }
        Type::F64 => {
            let (a, b) = (f64::from_bits(old), f64::from_bits(data));
            let new = match op {
                AtomicOp::Add => a + b,
                AtomicOp::Sub => a - b,
                AtomicOp::Min => sem::min_f64(a, b),
                AtomicOp::Max => sem::max_f64(a, b),
                _ => return None,
            };
            new.to_bits()
        }
        _ => return None,
    })
}

/// Unsigned integers of the width of an atomic.
trait Unsigned:
    Copy + Ord + std::ops::BitAnd<Output = Self> + std::ops::BitOr<Output = Self> + std::ops::BitXor<Output = Self>
{
    const ZERO: Self;
    const ONE: Self;
    fn plus(self, other: Self) -> Self;
    fn minus(self, other: Self) -> Self;
}
macro_rules! unsigned {
    ($($t:ty)*) => {
        $(impl Unsigned for $t {
            const ZERO: Self = 0;
            const ONE: Self = 1;
            fn plus(self, other: Self) -> Self {
                self.wrapping_add(other)
            }
            fn minus(self, other: Self) -> Self {
                self.wrapping_sub(other)
            }
        })*
    };
}
unsigned!(u32 u64);

/// Atomics of integers of either sign.
fn bits<T: Unsigned>(op: AtomicOp, old: T, data: T, replacement: T) -> Option<T> {
    Some(match op {
        AtomicOp::Add => old.plus(data),
        AtomicOp::Sub => old.minus(data),
        AtomicOp::Xchg => data,
        AtomicOp::And => old & data,
        AtomicOp::Or => old | data,
        AtomicOp::Xor => old ^ data,
        AtomicOp::CmpXchg if old == data => replacement,
        AtomicOp::CmpXchg => old,
        AtomicOp::Min | AtomicOp::Max | AtomicOp::Inc | AtomicOp::Dec => return None,
    })
}

/// Atomics that depend on the sign.
fn extremum<T: Ord>(op: AtomicOp, old: T, data: T) -> Option<T> {
    match op {
        AtomicOp::Min => Some(old.min(data)),
        AtomicOp::Max => Some(old.max(data)),
        _ => None,
    }
}

/// Atomics that count up to a limit or down from one.
fn counted<T: Unsigned>(op: AtomicOp, old: T, limit: T) -> Option<T> {
    match op {
        AtomicOp::Inc => Some(if old >= limit { T::ZERO } else { old.plus(T::ONE) }),
        AtomicOp::Dec => Some(if old == T::ZERO || old > limit { limit } else { old.minus(T::ONE) }),
        _ => None,
    }
}
