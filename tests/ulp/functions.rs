//! The math functions: how they are called, what the specification allows them, what they should return.
//!
//! Bounds are those of the OpenCL C 3.0 specification's tables of relative error (7.4) for the full profile, and of cl_khr_fp16 for halves.
//! References are computed in double precision by the `libm` crate (musl's algorithms), which has nothing to do with the library under test.

/// How far a result may be from the exact value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Bound {
    /// Correctly rounded, or exact: the same bits.
    Exact,
    /// At most so many units in the last place.
    Ulp(f64),
    /// The specification gives none.
    Free,
    /// The type has no such function.
    Absent,
}

use Bound::{Absent, Exact, Free, Ulp};

/// What a function returns: the value, the value behind its pointer, the integer it returns or stores.
#[derive(Clone, Copy, Debug, Default)]
pub struct Value {
    /// The result.
    pub r: f64,
    /// The second result.
    pub s: f64,
    /// The integer.
    pub m: i32,
}

fn r(r: f64) -> Value {
    Value { r, s: 0.0, m: 0 }
}

/// The arguments of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// One.
    One,
    /// Two.
    Two,
    /// Three.
    Three,
    /// A number and an integer.
    WithInteger,
}

/// The types a function is measured for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type {
    /// half
    F16,
    /// float
    F32,
    /// double
    F64,
}

/// A function.
#[derive(Clone, Copy)]
pub struct Function {
    /// Its name, and with it the kernel's.
    pub name: &'static str,
    /// The kernel's statement: reads x, y, z, n; writes r, s, m. `T` is the type.
    pub statement: &'static str,
    /// Arguments.
    pub shape: Shape,
    /// Bounds for half, float and double.
    pub bounds: [Bound; 3],
    /// Where most arguments are.
    pub range: (f64, f64),
    /// Which of the results it has: value, second value, integer.
    pub results: [bool; 3],
    /// Compiled with -cl-fp32-correctly-rounded-divide-sqrt.
    pub strict: bool,
    /// The reference.
    pub reference: fn(Type, f64, f64, f64, i32) -> Value,
}

impl Function {
    /// The bound for a type.
    pub fn bound(&self, ty: Type) -> Bound {
        self.bounds[ty as usize]
    }
}

const fn one(
    name: &'static str,
    statement: &'static str,
    bounds: [Bound; 3],
    range: (f64, f64),
    reference: fn(Type, f64, f64, f64, i32) -> Value,
) -> Function {
    Function { name, statement, shape: Shape::One, bounds, range, results: [true, false, false], strict: false, reference }
}

const fn of(shape: Shape, function: Function) -> Function {
    Function { shape, ..function }
}

/// The sum of two numbers rounded to odd: rounded once more to half the precision or less, it is correctly rounded.
fn sum_to_odd(a: f64, b: f64) -> f64 {
    let s = a + b;
    if !s.is_finite() {
        return s;
    }
    let t = s - a;
    let error = (a - (s - t)) + (b - t);
    if error == 0.0 || s.to_bits() & 1 == 1 {
        return s;
    }
    let away = (error > 0.0) == (s > 0.0);
    f64::from_bits(if away { s.to_bits() + 1 } else { s.to_bits() - 1 })
}

fn add(t: Type, x: f64, y: f64) -> f64 {
    if t == Type::F64 { x + y } else { sum_to_odd(x, y) }
}

fn fma(t: Type, x: f64, y: f64, z: f64) -> f64 {
    if t == Type::F64 { x.mul_add(y, z) } else { sum_to_odd(x * y, z) }
}

/// x - 2 * round(x / 2), exact, in [-1, 1]; with x's sign where it is zero.
fn half_turns(x: f64) -> f64 {
    libm::remainder(x, 2.0)
}

fn sinpi(x: f64) -> f64 {
    let t = half_turns(x);
    let a = t.abs();
    let pi = std::f64::consts::PI;
    let v = if a <= 0.25 {
        libm::sin(pi * a)
    } else if a <= 0.75 {
        libm::cos(pi * (a - 0.5))
    } else {
        libm::sin(pi * (1.0 - a))
    };
    // An integer's sign stays.
    v.copysign(if v == 0.0 { x } else { t })
}

fn cospi(x: f64) -> f64 {
    let a = half_turns(x).abs();
    let pi = std::f64::consts::PI;
    if a <= 0.25 {
        libm::cos(pi * a)
    } else if a <= 0.75 {
        libm::sin(pi * (0.5 - a))
    } else {
        -libm::cos(pi * (1.0 - a))
    }
}

fn tanpi(x: f64) -> f64 {
    let t = half_turns(x);
    if t.abs() == 0.5 {
        return f64::INFINITY.copysign(t);
    }
    let (s, c) = (sinpi(x), cospi(x));
    s / c
}

/// 1/√x: 1 / sqrt alone has an error that matters to doubles only.
fn rsqrt(x: f64) -> f64 {
    1.0 / x.sqrt()
}

fn powr(x: f64, y: f64) -> f64 {
    if x.is_nan() || y.is_nan() || x < 0.0 {
        return f64::NAN;
    }
    let undefined = (y == 0.0 && (x == 0.0 || x == f64::INFINITY)) || (x == 1.0 && y.is_infinite());
    if undefined { f64::NAN } else { libm::pow(x.abs(), y) }
}

fn rootn(x: f64, n: i32) -> f64 {
    if n == 0 || x.is_nan() || (x < 0.0 && n % 2 == 0) {
        return f64::NAN;
    }
    let v = if n == 1 {
        x.abs()
    } else if n == -1 {
        1.0 / x.abs()
    } else if x == 0.0 || x.is_infinite() {
        if (x == 0.0) == (n > 0) { 0.0 } else { f64::INFINITY }
    } else {
        libm::exp(libm::log(x.abs()) / f64::from(n))
    };
    if n % 2 == 0 { v } else { v.copysign(x) }
}

fn logb(x: f64) -> f64 {
    if x == 0.0 {
        f64::NEG_INFINITY
    } else if x.is_finite() {
        f64::from(libm::ilogb(x))
    } else {
        x * x
    }
}

fn ilogb(x: f64) -> i32 {
    if x == 0.0 {
        i32::MIN
    } else if !x.is_finite() {
        i32::MAX
    } else {
        libm::ilogb(x)
    }
}

/// The largest number below 1.
fn below_one(t: Type) -> f64 {
    1.0 - match t {
        Type::F16 => 2f64.powi(-11),
        Type::F32 => 2f64.powi(-24),
        Type::F64 => 2f64.powi(-53),
    }
}

fn fract(t: Type, x: f64) -> Value {
    let floor = x.floor();
    let v = if x.is_infinite() { 0f64.copysign(x) } else { (x - floor).min(below_one(t)) };
    let v = if x.is_nan() || x == 0.0 { x } else { v };
    Value { r: v, s: floor, m: 0 }
}

fn modf(x: f64) -> Value {
    let whole = x.trunc();
    let rest = if x.is_infinite() { 0.0 } else { x - whole };
    Value { r: if x.is_nan() { x } else { rest.copysign(x) }, s: whole, m: 0 }
}

fn frexp(x: f64) -> Value {
    if !x.is_finite() || x == 0.0 {
        return r(x);
    }
    let (v, m) = libm::frexp(x);
    Value { r: v, s: 0.0, m }
}

fn remquo(x: f64, y: f64) -> Value {
    if x.is_infinite() || y == 0.0 || x.is_nan() || y.is_nan() {
        return r(f64::NAN);
    }
    let (v, q) = libm::remquo(x, y);
    // The low seven bits of the quotient, with its sign.
    Value { r: v, s: 0.0, m: q % 128 }
}

fn lgamma_r(x: f64) -> Value {
    let (v, sign) = libm::lgamma_r(x);
    let pole = x == 0.0 || (x < 0.0 && x == x.floor() && x.is_finite());
    Value { r: v, s: 0.0, m: if pole { 0 } else { sign } }
}

fn nextafter(t: Type, x: f64, y: f64) -> f64 {
    if x.is_nan() || y.is_nan() {
        return f64::NAN;
    }
    if x == y {
        return y;
    }
    let up = y > x;
    match t {
        Type::F64 => {
            if up {
                x.next_up()
            } else {
                x.next_down()
            }
        }
        Type::F32 => f64::from(if up { (x as f32).next_up() } else { (x as f32).next_down() }),
        Type::F16 => {
            let bits = half::f16::from_f64(x).to_bits();
            let away = (x > 0.0) == up;
            let bits = match bits & 0x7fff {
                0 => {
                    if up {
                        1
                    } else {
                        0x8001
                    }
                }
                _ => {
                    if away {
                        bits + 1
                    } else {
                        bits - 1
                    }
                }
            };
            half::f16::from_bits(bits).to_f64()
        }
    }
}

fn fmin(x: f64, y: f64) -> f64 {
    if x.is_nan() || y < x { y } else { x }
}

fn fmax(x: f64, y: f64) -> f64 {
    if x.is_nan() || y > x { y } else { x }
}

fn fdim(t: Type, x: f64, y: f64) -> f64 {
    if x.is_nan() || y.is_nan() {
        f64::NAN
    } else if x > y {
        add(t, x, -y)
    } else {
        0.0
    }
}

fn by_magnitude(x: f64, y: f64, first: bool, other: fn(f64, f64) -> f64) -> f64 {
    let (a, b) = (x.abs(), y.abs());
    if a > b {
        if first { x } else { y }
    } else if b > a {
        if first { y } else { x }
    } else {
        other(x, y)
    }
}

/// Half, float and double bounds of the usual kind.
const fn ulps(h: f64, f: f64, d: f64) -> [Bound; 3] {
    [Ulp(h), Ulp(f), Ulp(d)]
}

const EXACT: [Bound; 3] = [Exact, Exact, Exact];
const HALF: [Bound; 3] = [Absent, Ulp(8192.0), Absent];
const NATIVE: [Bound; 3] = [Absent, Free, Absent];
const FLOAT_EXACT: [Bound; 3] = [Absent, Exact, Absent];

macro_rules! f {
    ($name:literal, $bounds:expr, $range:expr, $reference:expr) => {
        one($name, concat!("r = ", $name, "(x);"), $bounds, $range, $reference)
    };
}
macro_rules! g {
    ($name:literal, $bounds:expr, $reference:expr) => {
        of(Shape::Two, one($name, concat!("r = ", $name, "(x, y);"), $bounds, (-4.0, 4.0), $reference))
    };
}

/// All of them.
pub const FUNCTIONS: &[Function] = &[
    of(Shape::Two, one("add", "r = x + y;", EXACT, (-4.0, 4.0), |t, x, y, _, _| r(add(t, x, y)))),
    of(Shape::Two, one("subtract", "r = x - y;", EXACT, (-4.0, 4.0), |t, x, y, _, _| r(add(t, x, -y)))),
    of(Shape::Two, one("multiply", "r = x * y;", EXACT, (-4.0, 4.0), |_, x, y, _, _| r(x * y))),
    of(Shape::Two, one("divide", "r = x / y;", [Exact, Ulp(2.5), Exact], (-4.0, 4.0), |_, x, y, _, _| r(x / y))),
    one("reciprocal", "r = 1 / x;", [Exact, Ulp(2.5), Exact], (-4.0, 4.0), |_, x, _, _, _| r(1.0 / x)),
    Function {
        strict: true,
        ..of(Shape::Two, one("divide_strict", "r = x / y;", FLOAT_EXACT, (-4.0, 4.0), |_, x, y, _, _| r(x / y)))
    },
    Function { strict: true, ..one("sqrt_strict", "r = sqrt(x);", FLOAT_EXACT, (0.0, 4.0), |_, x, _, _, _| r(x.sqrt())) },
    f!("acos", ulps(2.0, 4.0, 4.0), (-1.0, 1.0), |_, x, _, _, _| r(libm::acos(x))),
    f!("acosh", ulps(2.0, 4.0, 4.0), (1.0, 20.0), |_, x, _, _, _| r(if x < 1.0 { f64::NAN } else { libm::acosh(x) })),
    f!("acospi", ulps(2.0, 5.0, 5.0), (-1.0, 1.0), |_, x, _, _, _| r(libm::acos(x) / std::f64::consts::PI)),
    f!("asin", ulps(2.0, 4.0, 4.0), (-1.0, 1.0), |_, x, _, _, _| r(libm::asin(x))),
    f!("asinh", ulps(2.0, 4.0, 4.0), (-20.0, 20.0), |_, x, _, _, _| r(libm::asinh(x))),
    f!("asinpi", ulps(2.0, 5.0, 5.0), (-1.0, 1.0), |_, x, _, _, _| r(libm::asin(x) / std::f64::consts::PI)),
    f!("atan", ulps(2.0, 5.0, 5.0), (-8.0, 8.0), |_, x, _, _, _| r(libm::atan(x))),
    g!("atan2", ulps(2.0, 6.0, 6.0), |_, y, x, _, _| r(libm::atan2(y, x))),
    g!("atan2pi", ulps(2.0, 6.0, 6.0), |_, y, x, _, _| r(libm::atan2(y, x) / std::f64::consts::PI)),
    f!("atanh", ulps(2.0, 5.0, 5.0), (-1.0, 1.0), |_, x, _, _, _| r(libm::atanh(x))),
    f!("atanpi", ulps(2.0, 5.0, 5.0), (-8.0, 8.0), |_, x, _, _, _| r(libm::atan(x) / std::f64::consts::PI)),
    f!("cbrt", ulps(2.0, 2.0, 2.0), (-100.0, 100.0), |_, x, _, _, _| r(libm::cbrt(x))),
    f!("ceil", EXACT, (-100.0, 100.0), |_, x, _, _, _| r(x.ceil())),
    g!("copysign", EXACT, |_, x, y, _, _| r(x.copysign(y))),
    f!("cos", ulps(2.0, 4.0, 4.0), (-100.0, 100.0), |_, x, _, _, _| r(libm::cos(x))),
    f!("cosh", ulps(2.0, 4.0, 4.0), (-90.0, 90.0), |_, x, _, _, _| r(libm::cosh(x))),
    f!("cospi", ulps(2.0, 4.0, 4.0), (-100.0, 100.0), |_, x, _, _, _| r(cospi(x))),
    f!("erf", ulps(4.0, 16.0, 16.0), (-5.0, 5.0), |_, x, _, _, _| r(libm::erf(x))),
    f!("erfc", ulps(4.0, 16.0, 16.0), (-5.0, 11.0), |_, x, _, _, _| r(libm::erfc(x))),
    f!("exp", ulps(2.0, 3.0, 3.0), (-104.0, 89.0), |_, x, _, _, _| r(libm::exp(x))),
    f!("exp2", ulps(2.0, 3.0, 3.0), (-151.0, 129.0), |_, x, _, _, _| r(libm::exp2(x))),
    f!("exp10", ulps(2.0, 3.0, 3.0), (-46.0, 39.0), |_, x, _, _, _| r(libm::exp10(x))),
    f!("expm1", ulps(2.0, 3.0, 3.0), (-20.0, 89.0), |_, x, _, _, _| r(libm::expm1(x))),
    f!("fabs", EXACT, (-4.0, 4.0), |_, x, _, _, _| r(x.abs())),
    g!("fdim", EXACT, |t, x, y, _, _| r(fdim(t, x, y))),
    f!("floor", EXACT, (-100.0, 100.0), |_, x, _, _, _| r(x.floor())),
    of(Shape::Three, one("fma", "r = fma(x, y, z);", EXACT, (-4.0, 4.0), |t, x, y, z, _| r(fma(t, x, y, z)))),
    g!("fmax", EXACT, |_, x, y, _, _| r(fmax(x, y))),
    g!("fmin", EXACT, |_, x, y, _, _| r(fmin(x, y))),
    g!("fmod", EXACT, |_, x, y, _, _| r(libm::fmod(x, y))),
    Function {
        results: [true, true, false],
        ..one("fract", "T w; r = fract(x, &w); s = w;", EXACT, (-4.0, 4.0), |t, x, _, _, _| fract(t, x))
    },
    Function {
        results: [true, false, true],
        ..one("frexp", "int k; r = frexp(x, &k); m = k;", EXACT, (-4.0, 4.0), |_, x, _, _, _| frexp(x))
    },
    g!("hypot", ulps(2.0, 4.0, 4.0), |_, x, y, _, _| r(libm::hypot(x, y))),
    Function {
        results: [false, false, true],
        ..one("ilogb", "m = ilogb(x);", EXACT, (-4.0, 4.0), |_, x, _, _, _| Value { r: 0.0, s: 0.0, m: ilogb(x) })
    },
    of(Shape::WithInteger, one("ldexp", "r = ldexp(x, n);", EXACT, (-4.0, 4.0), |_, x, _, _, n| r(libm::ldexp(x, n)))),
    f!("lgamma", [Free, Free, Free], (-20.0, 60.0), |_, x, _, _, _| r(libm::lgamma(x))),
    Function {
        results: [true, false, true],
        ..one("lgamma_r", "int k; r = lgamma_r(x, &k); m = k;", [Free, Free, Free], (-20.0, 60.0), |_, x, _, _, _| lgamma_r(x))
    },
    f!("log", ulps(2.0, 3.0, 3.0), (0.0, 4.0), |_, x, _, _, _| r(libm::log(x))),
    f!("log2", ulps(2.0, 3.0, 3.0), (0.0, 4.0), |_, x, _, _, _| r(libm::log2(x))),
    f!("log10", ulps(2.0, 3.0, 3.0), (0.0, 4.0), |_, x, _, _, _| r(libm::log10(x))),
    f!("log1p", ulps(2.0, 2.0, 2.0), (-1.0, 4.0), |_, x, _, _, _| r(libm::log1p(x))),
    f!("logb", EXACT, (-4.0, 4.0), |_, x, _, _, _| r(logb(x))),
    of(Shape::Three, one("mad", "r = mad(x, y, z);", EXACT, (-4.0, 4.0), |t, x, y, z, _| r(fma(t, x, y, z)))),
    g!("maxmag", EXACT, |_, x, y, _, _| r(by_magnitude(x, y, true, fmax))),
    g!("minmag", EXACT, |_, x, y, _, _| r(by_magnitude(x, y, false, fmin))),
    Function {
        results: [true, true, false],
        ..one("modf", "T w; r = modf(x, &w); s = w;", EXACT, (-4.0, 4.0), |_, x, _, _, _| modf(x))
    },
    one("nan", "r = nan(as_U(x));", EXACT, (-4.0, 4.0), |_, _, _, _, _| r(f64::NAN)),
    g!("nextafter", EXACT, |t, x, y, _, _| r(nextafter(t, x, y))),
    g!("pow", ulps(4.0, 16.0, 16.0), |_, x, y, _, _| r(libm::pow(x, y))),
    of(
        Shape::WithInteger,
        one("pown", "r = pown(x, n);", ulps(4.0, 16.0, 16.0), (-4.0, 4.0), |_, x, _, _, n| r(libm::pow(x, f64::from(n)))),
    ),
    g!("powr", ulps(4.0, 16.0, 16.0), |_, x, y, _, _| r(powr(x, y))),
    g!("remainder", EXACT, |_, x, y, _, _| r(libm::remainder(x, y))),
    Function {
        results: [true, false, true],
        ..of(
            Shape::Two,
            one("remquo", "int k; r = remquo(x, y, &k); m = k % 128;", EXACT, (-4.0, 4.0), |_, x, y, _, _| remquo(x, y)),
        )
    },
    f!("rint", EXACT, (-100.0, 100.0), |_, x, _, _, _| r(x.round_ties_even())),
    of(Shape::WithInteger, one("rootn", "r = rootn(x, n);", ulps(4.0, 16.0, 16.0), (-4.0, 4.0), |_, x, _, _, n| r(rootn(x, n)))),
    f!("round", EXACT, (-100.0, 100.0), |_, x, _, _, _| r(x.round())),
    f!("rsqrt", ulps(1.0, 2.0, 2.0), (0.0, 100.0), |_, x, _, _, _| r(rsqrt(x))),
    f!("sin", ulps(2.0, 4.0, 4.0), (-100.0, 100.0), |_, x, _, _, _| r(libm::sin(x))),
    Function {
        results: [true, true, false],
        ..one("sincos", "T c; r = sincos(x, &c); s = c;", ulps(2.0, 4.0, 4.0), (-100.0, 100.0), |_, x, _, _, _| Value {
            r: libm::sin(x),
            s: libm::cos(x),
            m: 0,
        })
    },
    f!("sinh", ulps(2.0, 4.0, 4.0), (-90.0, 90.0), |_, x, _, _, _| r(libm::sinh(x))),
    f!("sinpi", ulps(2.0, 4.0, 4.0), (-100.0, 100.0), |_, x, _, _, _| r(sinpi(x))),
    f!("sqrt", [Exact, Ulp(3.0), Exact], (0.0, 100.0), |_, x, _, _, _| r(x.sqrt())),
    f!("tan", ulps(2.0, 5.0, 5.0), (-100.0, 100.0), |_, x, _, _, _| r(libm::tan(x))),
    f!("tanh", ulps(2.0, 5.0, 5.0), (-10.0, 10.0), |_, x, _, _, _| r(libm::tanh(x))),
    f!("tanpi", ulps(2.0, 6.0, 6.0), (-100.0, 100.0), |_, x, _, _, _| r(tanpi(x))),
    f!("tgamma", ulps(4.0, 16.0, 16.0), (-40.0, 36.0), |_, x, _, _, _| r(libm::tgamma(x))),
    f!("trunc", EXACT, (-100.0, 100.0), |_, x, _, _, _| r(x.trunc())),
    f!("half_cos", HALF, (-65536.0, 65536.0), |_, x, _, _, _| r(libm::cos(x))),
    g!("half_divide", HALF, |_, x, y, _, _| r(x / y)),
    f!("half_exp", HALF, (-104.0, 89.0), |_, x, _, _, _| r(libm::exp(x))),
    f!("half_exp2", HALF, (-151.0, 129.0), |_, x, _, _, _| r(libm::exp2(x))),
    f!("half_exp10", HALF, (-46.0, 39.0), |_, x, _, _, _| r(libm::exp10(x))),
    f!("half_log", HALF, (0.0, 4.0), |_, x, _, _, _| r(libm::log(x))),
    f!("half_log2", HALF, (0.0, 4.0), |_, x, _, _, _| r(libm::log2(x))),
    f!("half_log10", HALF, (0.0, 4.0), |_, x, _, _, _| r(libm::log10(x))),
    g!("half_powr", HALF, |_, x, y, _, _| r(powr(x, y))),
    f!("half_recip", HALF, (-4.0, 4.0), |_, x, _, _, _| r(1.0 / x)),
    f!("half_rsqrt", HALF, (0.0, 100.0), |_, x, _, _, _| r(rsqrt(x))),
    f!("half_sin", HALF, (-65536.0, 65536.0), |_, x, _, _, _| r(libm::sin(x))),
    f!("half_sqrt", HALF, (0.0, 100.0), |_, x, _, _, _| r(x.sqrt())),
    f!("half_tan", HALF, (-65536.0, 65536.0), |_, x, _, _, _| r(libm::tan(x))),
    f!("native_cos", NATIVE, (-3.2, 3.2), |_, x, _, _, _| r(libm::cos(x))),
    g!("native_divide", NATIVE, |_, x, y, _, _| r(x / y)),
    f!("native_exp", NATIVE, (-80.0, 80.0), |_, x, _, _, _| r(libm::exp(x))),
    f!("native_exp2", NATIVE, (-120.0, 120.0), |_, x, _, _, _| r(libm::exp2(x))),
    f!("native_exp10", NATIVE, (-36.0, 36.0), |_, x, _, _, _| r(libm::exp10(x))),
    f!("native_log", NATIVE, (0.0, 4.0), |_, x, _, _, _| r(libm::log(x))),
    f!("native_log2", NATIVE, (0.0, 4.0), |_, x, _, _, _| r(libm::log2(x))),
    f!("native_log10", NATIVE, (0.0, 4.0), |_, x, _, _, _| r(libm::log10(x))),
    g!("native_powr", NATIVE, |_, x, y, _, _| r(powr(x, y))),
    f!("native_recip", NATIVE, (-4.0, 4.0), |_, x, _, _, _| r(1.0 / x)),
    f!("native_rsqrt", NATIVE, (0.0, 100.0), |_, x, _, _, _| r(rsqrt(x))),
    f!("native_sin", NATIVE, (-3.2, 3.2), |_, x, _, _, _| r(libm::sin(x))),
    f!("native_sqrt", NATIVE, (0.0, 100.0), |_, x, _, _, _| r(x.sqrt())),
    f!("native_tan", NATIVE, (-1.5, 1.5), |_, x, _, _, _| r(libm::tan(x))),
];
