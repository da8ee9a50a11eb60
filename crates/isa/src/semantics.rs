//! Arithmetic that the host does not have as the instruction table states it: division, scaling, conversions and halves on
//! one lane, with their edge cases. [`super::meaning`] says which operation is which function.

use half::f16;

/// Integer division and remainder of one width and sign. A divisor of 0 counts as 1, so that a compiler may choose it there and
/// leave the choice out.
macro_rules! division {
    ($div:ident $rem:ident $t:ty, signed) => {
        /// Truncating division; x/0 is x, MIN/-1 is MIN.
        #[inline(always)]
        pub fn $div(a: $t, b: $t) -> $t {
            if b == 0 { a } else { a.wrapping_div(b) }
        }
        /// Remainder; x%0 is 0, MIN%-1 is 0.
        #[inline(always)]
        pub fn $rem(a: $t, b: $t) -> $t {
            if b == 0 { 0 } else { a.wrapping_rem(b) }
        }
    };
    ($div:ident $rem:ident $t:ty, unsigned) => {
        /// Division; x/0 is x.
        #[inline(always)]
        pub fn $div(a: $t, b: $t) -> $t {
            a.checked_div(b).unwrap_or(a)
        }
        /// Remainder; x%0 is 0.
        #[inline(always)]
        pub fn $rem(a: $t, b: $t) -> $t {
            a.checked_rem(b).unwrap_or(0)
        }
    };
}
division!(div_s32 rem_s32 i32, signed);
division!(div_s64 rem_s64 i64, signed);
division!(div_u32 rem_u32 u32, unsigned);
division!(div_u64 rem_u64 u64, unsigned);

macro_rules! float_ops {
    ($min:ident $max:ident $t:ty) => {
        /// IEEE minNum: a NaN operand gives the other; -0 < +0.
        #[inline(always)]
        pub fn $min(a: $t, b: $t) -> $t {
            if a.is_nan() {
                b
            } else if b.is_nan() {
                a
            } else if a < b || (a == b && a.is_sign_negative()) {
                a
            } else {
                b
            }
        }
        /// IEEE maxNum: a NaN operand gives the other; -0 < +0.
        #[inline(always)]
        pub fn $max(a: $t, b: $t) -> $t {
            if a.is_nan() {
                b
            } else if b.is_nan() {
                a
            } else if a > b || (a == b && a.is_sign_positive()) {
                a
            } else {
                b
            }
        }
    };
}
float_ops!(min_f32 max_f32 f32);
float_ops!(min_f64 max_f64 f64);

/// `x * 2^e` with one rounding. Scaling in steps that stay normal until the last keeps it to one.
#[inline]
pub fn ldexp_f64(x: f64, e: i32) -> f64 {
    let power = |n: i32| f64::from_bits(((n + 1023) as u64) << 52);
    let mut x = x;
    let mut e = e;
    if e > 1023 {
        x *= power(1023);
        e -= 1023;
        if e > 1023 {
            x *= power(1023);
            e = (e - 1023).min(1023);
        }
    } else if e < -1022 {
        // 2^-969 leaves 53 bits of room above the subnormals, so only the last product rounds.
        x *= power(-969);
        e += 969;
        if e < -1022 {
            x *= power(-969);
            e = (e + 969).max(-1022);
        }
    }
    x * power(e)
}

/// `x * 2^e` with one rounding: exact in double precision, then rounded once.
#[inline]
pub fn ldexp_f32(x: f32, e: i32) -> f32 {
    // Beyond ±400 the result is 0 or infinity whatever x is, and doubles represent everything within exactly.
    ldexp_f64(f64::from(x), e.clamp(-400, 400)) as f32
}

/// Mantissa in [0.5, 1) and exponent of a finite non-zero double; others have exponent 0.
#[inline]
pub fn frexp_f64(x: f64) -> (f64, i32) {
    if x == 0.0 || !x.is_finite() {
        return (x, 0);
    }
    let (bits, bias) = if x.is_subnormal() { ((x * 18014398509481984.0).to_bits(), 1022 + 54) } else { (x.to_bits(), 1022) };
    let exponent = (bits >> 52 & 0x7ff) as i32 - bias;
    (f64::from_bits(bits & !(0x7ff << 52) | 1022 << 52), exponent)
}

/// A half from its register.
#[inline(always)]
pub fn half(bits: u32) -> f64 {
    f16::from_bits(bits as u16).to_f64()
}

/// A double rounded to half, as a register. Through single precision rounded to odd, so that only the second
/// step rounds. (Sums and products of halves are exact in double precision; quotients and roots have more
/// than twice the bits that make a second rounding harmless.)
#[inline(always)]
pub fn to_half(x: f64) -> u32 {
    let nearest = x as f32;
    let back = f64::from(nearest);
    let inexact = back != x && !x.is_nan() && nearest.is_finite();
    let bits = nearest.to_bits();
    let odd = if inexact && bits & 1 == 0 { if back.abs() < x.abs() { bits + 1 } else { bits - 1 } } else { bits };
    u32::from(f16::from_f32(f32::from_bits(odd)).to_bits())
}

/// `a * b + c` on halves with one rounding. The product is exact in double precision; the sum may not be, and
/// rounding it twice could go wrong at a tie, so the sum is rounded to odd first.
#[inline]
pub fn fma_half(a: f64, b: f64, c: f64) -> u32 {
    let product = a * b;
    let sum = product + c;
    // Two-sum gives the rounding error of the sum.
    let rest = sum - product;
    let error = (product - (sum - rest)) + (c - rest);
    let odd = if error != 0.0 && sum.is_finite() && sum.to_bits() & 1 == 0 {
        let toward_error = (error > 0.0) == (sum > 0.0);
        f64::from_bits(if toward_error { sum.to_bits() + 1 } else { sum.to_bits() - 1 } | 1)
    } else {
        sum
    };
    to_half(odd)
}

/// Float to integer: rounds, clamps to `low ..= high`, NaN gives 0. Inputs of all float types are exact as doubles.
#[inline]
pub fn float_to_int(x: f64, rounding: u8, low: i128, high: i128) -> i128 {
    if x.is_nan() {
        return 0;
    }
    let r = round_f64(x, rounding);
    if r <= low as f64 {
        low
    } else if r >= high as f64 {
        high
    } else {
        r as i128
    }
}

/// Rounds to an integral value: 0 to nearest even, 1 toward zero, 2 up, 3 down.
#[inline(always)]
pub fn round_f64(x: f64, rounding: u8) -> f64 {
    match rounding {
        0 => x.round_ties_even(),
        1 => x.trunc(),
        2 => x.ceil(),
        _ => x.floor(),
    }
}

/// Rounds to an integral value: 0 to nearest even, 1 toward zero, 2 up, 3 down.
#[inline(always)]
pub fn round_f32(x: f32, rounding: u8) -> f32 {
    match rounding {
        0 => x.round_ties_even(),
        1 => x.trunc(),
        2 => x.ceil(),
        _ => x.floor(),
    }
}

/// Integer to single precision with a rounding mode; integers of up to 64 bits.
#[inline]
pub fn int_to_f32(x: i128, rounding: u8) -> f32 {
    let nearest = x as f32;
    step_f32(nearest, rounding, compare_int(f64::from(nearest), x))
}

/// Integer to double precision with a rounding mode.
#[inline]
pub fn int_to_f64(x: i128, rounding: u8) -> f64 {
    let nearest = x as f64;
    let order = compare_int(nearest, x);
    let down = f64::next_down;
    let up = f64::next_up;
    match (rounding, order) {
        (0, _) | (_, 0) => nearest,
        (1, o) if (o > 0) == (nearest > 0.0) => {
            if nearest > 0.0 {
                down(nearest)
            } else {
                up(nearest)
            }
        }
        (2, o) if o < 0 => up(nearest),
        (3, o) if o > 0 => down(nearest),
        _ => nearest,
    }
}

/// 1 if the float is above the integer, -1 if below, 0 if equal.
fn compare_int(f: f64, x: i128) -> i32 {
    // Values are below 2^65, where the float is an integer or exact anyway.
    let i = f as i128;
    match i.cmp(&x) {
        std::cmp::Ordering::Greater => 1,
        std::cmp::Ordering::Less => -1,
        std::cmp::Ordering::Equal => 0,
    }
}

/// Moves a value rounded to nearest by one step where the mode wants the other neighbour; `order` compares it
/// with the exact value.
fn step_f32(nearest: f32, rounding: u8, order: i32) -> f32 {
    match (rounding, order) {
        (0, _) | (_, 0) => nearest,
        (1, o) if (o > 0) == (nearest > 0.0) => {
            if nearest > 0.0 {
                nearest.next_down()
            } else {
                nearest.next_up()
            }
        }
        (2, o) if o < 0 => nearest.next_up(),
        (3, o) if o > 0 => nearest.next_down(),
        _ => nearest,
    }
}

/// Double to single precision with a rounding mode.
#[inline]
pub fn f64_to_f32(x: f64, rounding: u8) -> f32 {
    let nearest = x as f32;
    if rounding == 0 || x.is_nan() {
        return nearest;
    }
    let back = f64::from(nearest);
    let order = if back > x {
        1
    } else if back < x {
        -1
    } else {
        0
    };
    match (rounding, order) {
        (1, o) if o != 0 && (back.abs() > x.abs()) => {
            if x > 0.0 {
                nearest.next_down()
            } else {
                nearest.next_up()
            }
        }
        (2, -1) => nearest.next_up(),
        (3, 1) => nearest.next_down(),
        _ => nearest,
    }
}

/// Double to half precision with a rounding mode, as a register.
#[inline]
pub fn f64_to_half(x: f64, rounding: u8) -> u32 {
    let nearest = f16::from_bits(to_half(x) as u16);
    if rounding == 0 || x.is_nan() {
        return u32::from(nearest.to_bits());
    }
    let back = nearest.to_f64();
    let step = |toward_larger_magnitude: bool| {
        let bits = nearest.to_bits();
        u32::from(if toward_larger_magnitude { bits + 1 } else { bits - 1 })
    };
    let negative = x.is_sign_negative();
    match rounding {
        1 if back.abs() > x.abs() => step(false),
        2 if back < x => {
            if negative {
                step(false)
            } else {
                step(true)
            }
        }
        3 if back > x => {
            if negative {
                step(true)
            } else {
                step(false)
            }
        }
        _ => u32::from(nearest.to_bits()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integer_edges() {
        assert_eq!((div_s32(i32::MIN, -1), rem_s32(i32::MIN, -1)), (i32::MIN, 0));
        assert_eq!((div_u32(7, 0), rem_u32(7, 0)), (7, 0));
        assert_eq!((div_s64(-7, 2), rem_s64(-7, 2)), (-3, -1));
    }

    #[test]
    fn scaling_rounds_once() {
        assert_eq!(ldexp_f64(1.0, -1074), f64::from_bits(1));
        assert_eq!(ldexp_f64(1.0, -1075), 0.0);
        assert_eq!(ldexp_f64(f64::from_bits(1), 2097), ldexp_f64(1.0, 2097 - 1074));
        assert_eq!(ldexp_f64(1.5, -1074), f64::from_bits(2));
        assert_eq!(ldexp_f32(1.0, -149), f32::from_bits(1));
        assert_eq!(ldexp_f32(f32::MAX, -300).to_bits(), 0);
        assert_eq!(frexp_f64(f64::from_bits(1)), (0.5, -1073));
        assert_eq!(frexp_f64(-8.0), (-0.5, 4));
    }

    #[test]
    fn conversions_follow_the_mode() {
        let x = 16777217i128; // 2^24 + 1
        assert_eq!([0, 1, 2, 3].map(|r| int_to_f32(x, r)), [16777216.0, 16777216.0, 16777218.0, 16777216.0]);
        assert_eq!([0, 1, 2, 3].map(|r| int_to_f32(-x, r)), [-16777216.0, -16777216.0, -16777216.0, -16777218.0]);
        assert_eq!(float_to_int(-0.5, 0, -128, 127), 0);
        assert_eq!(float_to_int(1e30, 1, -128, 127), 127);
        assert_eq!(float_to_int(f64::NAN, 1, -128, 127), 0);
        assert_eq!([1, 2, 3].map(|r| f64_to_f32(0.1, r)), [0.099999994, 0.1, 0.099999994]);
        let third = 1.0 / 3.0;
        let (down, up) = (f64_to_half(third, 3), f64_to_half(third, 2));
        assert_eq!(down + 1, up);
        assert!(half(down) < third && half(up) > third);
    }

    #[test]
    fn minimum_of_zeros_and_nans() {
        assert!(min_f32(0.0, -0.0).is_sign_negative() && max_f32(-0.0, 0.0).is_sign_positive());
        assert_eq!((min_f64(f64::NAN, 1.0), max_f64(2.0, f64::NAN)), (1.0, 2.0));
    }

    #[test]
    fn half_fma_rounds_once() {
        // 2049 * 1 + 2^-24-like tail: exhaustive over a grid against exact integer arithmetic in units of 2^-48.
        for a in [0x3c01u32, 0x3bff, 0x6801, 0x0401] {
            for b in [0x3c01u32, 0x3bff, 0x3555] {
                for c in [0x0001u32, 0x8001, 0x3c00, 0x7bff, 0x0400] {
                    let (x, y, z) = (half(a), half(b), half(c));
                    let exact = fma_half(x, y, z);
                    // A fused double multiply-add has the exact product, and one rounding of a
                    // 54-bit-or-wider sum; where it is exact, so is this.
                    let sum = x.mul_add(y, z);
                    if sum - x * y == z {
                        assert_eq!(exact, to_half(sum), "{a:x} {b:x} {c:x}");
                    }
                }
            }
        }
    }
}
