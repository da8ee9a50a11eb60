//! Arithmetic, logic, comparison, conversion and movement.

// Comparisons of floats are written so that each shows what it does on NaN.
#![allow(clippy::nonminimal_bool, clippy::eq_op, clippy::double_comparisons)]

use super::{Decoded, Execute, Lane, Lanes, access, all_lanes, is_signed};
use heddle_isa::semantics as sem;
use heddle_isa::{Cond, Inst, Op, Type};

/// Reads a source into an array of lanes, with float modifiers applied by `modify` if there are any.
#[inline(always)]
fn fetch<T: Lane, const N: usize>(l: &Lanes<N>, d: &Decoded<N>, i: usize) -> [T; N] {
    let low = l.row(d.src[i]);
    let high = if T::ROWS == 2 { l.row(d.src[i] + 1) } else { low };
    let mut out = [T::default(); N];
    for (lane, o) in out.iter_mut().enumerate() {
        *o = T::get(low, high, lane);
    }
    out
}

/// Writes lanes back: lane 0 everywhere for scalar instructions, else the active lanes.
#[inline(always)]
fn store<T: Lane, const N: usize>(l: &mut Lanes<N>, d: &Decoded<N>, values: &[T; N]) {
    if d.scalar {
        let (low, high) = values[0].split();
        *l.row_mut(d.dst) = [low; N];
        if T::ROWS == 2 {
            *l.row_mut(d.dst + 1) = [high; N];
        }
        return;
    }
    let mask = l.active(d);
    let mut low = [0; N];
    for (o, v) in low.iter_mut().zip(values) {
        *o = v.split().0;
    }
    blend(l.row_mut(d.dst), &low, mask);
    if T::ROWS == 2 {
        let mut high = [0; N];
        for (o, v) in high.iter_mut().zip(values) {
            *o = v.split().1;
        }
        blend(l.row_mut(d.dst + 1), &high, mask);
    }
}

#[inline(always)]
pub(super) fn blend<const N: usize>(row: &mut [u32; N], values: &[u32; N], mask: u64) {
    if mask == all_lanes(N) {
        *row = *values;
        return;
    }
    // In words as wide as a lane, for which hosts have masked moves.
    for (k, (row, values)) in row.chunks_mut(32).zip(values.chunks(32)).enumerate() {
        let mask = (mask >> (32 * k)) as u32;
        for (lane, (r, v)) in row.iter_mut().zip(values).enumerate() {
            *r = if mask & 1 << lane != 0 { *v } else { *r };
        }
    }
}

#[inline(always)]
fn map1<A: Lane, R: Lane, const N: usize>(l: &mut Lanes<N>, d: &Decoded<N>, f: impl Fn(A) -> R) {
    let a: [A; N] = fetch(l, d, 0);
    let mut r = [R::default(); N];
    if d.scalar {
        r[0] = f(a[0]);
    } else {
        for (r, a) in r.iter_mut().zip(a) {
            *r = f(a);
        }
    }
    store(l, d, &r);
}

#[inline(always)]
fn map2<A: Lane, B: Lane, R: Lane, const N: usize>(l: &mut Lanes<N>, d: &Decoded<N>, f: impl Fn(A, B) -> R) {
    if d.scalar {
        let mut r = [R::default(); N];
        r[0] = f(first(l, d, 0), first(l, d, 1));
        return store(l, d, &r);
    }
    let a: [A; N] = fetch(l, d, 0);
    let b: [B; N] = fetch(l, d, 1);
    let mut r = [R::default(); N];
    for i in 0..N {
        r[i] = f(a[i], b[i]);
    }
    store(l, d, &r);
}

#[inline(always)]
fn map3<A: Lane, B: Lane, C: Lane, R: Lane, const N: usize>(l: &mut Lanes<N>, d: &Decoded<N>, f: impl Fn(A, B, C) -> R) {
    if d.scalar {
        let mut r = [R::default(); N];
        r[0] = f(first(l, d, 0), first(l, d, 1), first(l, d, 2));
        return store(l, d, &r);
    }
    let a: [A; N] = fetch(l, d, 0);
    let b: [B; N] = fetch(l, d, 1);
    let c: [C; N] = fetch(l, d, 2);
    let mut r = [R::default(); N];
    for i in 0..N {
        r[i] = f(a[i], b[i], c[i]);
    }
    store(l, d, &r);
}

/// Lane 0 of a source.
#[inline(always)]
fn first<T: Lane, const N: usize>(l: &Lanes<N>, d: &Decoded<N>, i: usize) -> T {
    let low = l.row(d.src[i]);
    let high = if T::ROWS == 2 { l.row(d.src[i] + 1) } else { low };
    T::get(low, high, 0)
}

/// A float type with sign operations.
trait Float: Lane {
    fn modify(self, neg: bool, abs: bool) -> Self;
}
impl Float for f32 {
    #[inline(always)]
    fn modify(self, neg: bool, abs: bool) -> Self {
        let x = if abs { self.abs() } else { self };
        if neg { -x } else { x }
    }
}
impl Float for f64 {
    #[inline(always)]
    fn modify(self, neg: bool, abs: bool) -> Self {
        let x = if abs { self.abs() } else { self };
        if neg { -x } else { x }
    }
}

/// A half: its register, computed as a double.
#[derive(Clone, Copy, Default)]
struct Half(u32);
impl Lane for Half {
    const ROWS: u16 = 1;
    #[inline(always)]
    fn get<const N: usize>(low: &[u32; N], _high: &[u32; N], lane: usize) -> Self {
        Half(low[lane] & 0xffff)
    }
    #[inline(always)]
    fn split(self) -> (u32, u32) {
        (self.0, 0)
    }
}
impl Float for Half {
    #[inline(always)]
    fn modify(self, neg: bool, abs: bool) -> Self {
        let x = if abs { self.0 & 0x7fff } else { self.0 };
        Half(if neg { x ^ 0x8000 } else { x })
    }
}
impl Half {
    fn value(self) -> f64 {
        sem::half(self.0)
    }
    fn of(x: f64) -> Self {
        Half(sem::to_half(x))
    }
}

#[inline(always)]
fn modified<T: Float>(d_modifiers: u8, i: usize, x: T) -> T {
    x.modify(d_modifiers >> i & 1 == 1, d_modifiers >> (i + 3) & 1 == 1)
}

#[inline(always)]
fn float1<T: Float, R: Lane, const N: usize>(l: &mut Lanes<N>, d: &Decoded<N>, f: impl Fn(T) -> R) {
    let m = d.modifiers;
    if m == 0 { map1(l, d, f) } else { map1(l, d, |a: T| f(modified(m, 0, a))) }
}

#[inline(always)]
fn float2<T: Float, R: Lane, const N: usize>(l: &mut Lanes<N>, d: &Decoded<N>, f: impl Fn(T, T) -> R) {
    let m = d.modifiers;
    if m == 0 { map2(l, d, f) } else { map2(l, d, |a: T, b: T| f(modified(m, 0, a), modified(m, 1, b))) }
}

#[inline(always)]
fn float3<T: Float, const N: usize>(l: &mut Lanes<N>, d: &Decoded<N>, f: impl Fn(T, T, T) -> T) {
    let m = d.modifiers;
    if m == 0 { map3(l, d, f) } else { map3(l, d, |a: T, b: T, c: T| f(modified(m, 0, a), modified(m, 1, b), modified(m, 2, c))) }
}

/// Comparison into a predicate, or 0/1 into a scalar row.
#[inline(always)]
fn compare<A: Lane, const N: usize>(l: &mut Lanes<N>, d: &Decoded<N>, f: impl Fn(A, A) -> bool) {
    if d.scalar {
        let r = f(first(l, d, 0), first(l, d, 1));
        *l.row_mut(d.dst) = [u32::from(r); N];
        return;
    }
    let a: [A; N] = fetch(l, d, 0);
    let b: [A; N] = fetch(l, d, 1);
    let mut bits = [0u8; N];
    for i in 0..N {
        bits[i] = u8::from(f(a[i], b[i]));
    }
    l.set_predicate(d, pack(&bits));
}

/// Bit i of the result is byte i (0 or 1).
#[inline(always)]
fn pack<const N: usize>(bits: &[u8; N]) -> u64 {
    let mut mask = 0;
    for (k, chunk) in bits.chunks_exact(8).enumerate() {
        let word = u64::from_le_bytes([chunk[0], chunk[1], chunk[2], chunk[3], chunk[4], chunk[5], chunk[6], chunk[7]]);
        // Gathers the low bit of each byte into the top byte.
        mask |= (word.wrapping_mul(0x0102_0408_1020_4080) >> 56) << (8 * k);
    }
    mask
}

macro_rules! float_compare {
    ($cond:expr, $t:ty, $value:expr) => {{
        macro_rules! with {
            ($f:expr) => {
                |l, d| {
                    let m = d.modifiers;
                    compare(l, d, |a: $t, b: $t| {
                        let (a, b) = if m == 0 { (a, b) } else { (modified(m, 0, a), modified(m, 1, b)) };
                        let (a, b) = ($value(a), $value(b));
                        $f(a, b)
                    })
                }
            };
        }
        match $cond {
            Cond::Oeq => with!(|a, b| a == b),
            Cond::One => with!(|a, b| a < b || a > b),
            Cond::Olt => with!(|a, b| a < b),
            Cond::Ole => with!(|a, b| a <= b),
            Cond::Ogt => with!(|a, b| a > b),
            Cond::Oge => with!(|a, b| a >= b),
            Cond::Ord => with!(|a, b| a == a && b == b),
            Cond::Ueq => with!(|a, b| !(a < b || a > b)),
            Cond::Une => with!(|a, b| a != b),
            Cond::Ult => with!(|a, b| !(a >= b)),
            Cond::Ule => with!(|a, b| !(a > b)),
            Cond::Ugt => with!(|a, b| !(a <= b)),
            Cond::Uge => with!(|a, b| !(a < b)),
            _ => with!(|a, b| a != a || b != b),
        }
    }};
}

macro_rules! int_compare {
    ($cond:expr, $t:ty) => {
        match $cond {
            Cond::Ne => |l, d| compare(l, d, |a: $t, b: $t| a != b),
            Cond::Lt => |l, d| compare(l, d, |a: $t, b: $t| a < b),
            Cond::Le => |l, d| compare(l, d, |a: $t, b: $t| a <= b),
            Cond::Gt => |l, d| compare(l, d, |a: $t, b: $t| a > b),
            Cond::Ge => |l, d| compare(l, d, |a: $t, b: $t| a >= b),
            _ => |l, d| compare(l, d, |a: $t, b: $t| a == b),
        }
    };
}

fn select_compare<const N: usize>(inst: &Inst) -> Execute<N> {
    let cond = inst.mods.cond.unwrap_or(Cond::Eq);
    match inst.ty {
        Type::F32 => float_compare!(cond, f32, |x: f32| x),
        Type::F64 => float_compare!(cond, f64, |x: f64| x),
        Type::F16 => float_compare!(cond, Half, |x: Half| x.value()),
        Type::S32 => int_compare!(cond, i32),
        Type::S64 => int_compare!(cond, i64),
        Type::U64 | Type::B64 => int_compare!(cond, u64),
        _ => int_compare!(cond, u32),
    }
}

/// `sel`: by lane.
fn sel<T: Lane, const N: usize>(l: &mut Lanes<N>, d: &Decoded<N>) {
    let p = l.predicate(d, 0);
    let a: [T; N] = fetch(l, d, 1);
    let b: [T; N] = fetch(l, d, 2);
    let mut r = [T::default(); N];
    for i in 0..N {
        r[i] = if p >> i & 1 == 1 { a[i] } else { b[i] };
    }
    store(l, d, &r);
}

/// Moves `rows` rows; sources of immediates, constants and scalars are rows like any other.
fn mov<const ROWS: u16, const N: usize>(l: &mut Lanes<N>, d: &Decoded<N>) {
    let mask = l.active(d);
    let values: [[u32; N]; 4] = std::array::from_fn(|k| if (k as u16) < ROWS { *l.row(d.src[0] + k as u16) } else { [0; N] });
    for k in 0..ROWS {
        let v = &values[k as usize];
        if d.scalar {
            *l.row_mut(d.dst + k) = [v[0]; N];
        } else {
            blend(l.row_mut(d.dst + k), v, mask);
        }
    }
}

fn take_first<const ROWS: u16, const N: usize>(l: &mut Lanes<N>, d: &Decoded<N>) {
    let lane = (l.mask.trailing_zeros() as usize).min(N - 1);
    for k in 0..ROWS {
        let v = l.row(d.src[0] + k)[lane];
        *l.row_mut(d.dst + k) = [v; N];
    }
}

fn ballot<const N: usize>(l: &mut Lanes<N>, d: &Decoded<N>) {
    let v = l.predicate(d, 0) & l.mask;
    *l.row_mut(d.dst) = [v as u32; N];
    *l.row_mut(d.dst + 1) = [(v >> 32) as u32; N];
}

fn shuffle<const N: usize>(l: &mut Lanes<N>, d: &Decoded<N>) {
    let a = *l.row(d.src[0]);
    map2(l, d, |_: u32, b: u32| a[b as usize % N]);
}

fn nothing<const N: usize>(_: &mut Lanes<N>, _: &Decoded<N>) {}

/// Conversions go through i128 or f64, which hold every source exactly.
fn convert<const N: usize>(inst: &Inst) -> Execute<N> {
    let to = inst.ty;
    let from = inst.mods.from.unwrap_or(Type::B32);
    // The frequent ones directly.
    if inst.mods.rounding as u8 == 0 && !inst.mods.saturate {
        match (to, from) {
            (Type::F32, Type::S32) => return |l, d| map1(l, d, |a: i32| a as f32),
            (Type::F32, Type::U32) => return |l, d| map1(l, d, |a: u32| a as f32),
            (Type::F64, Type::F32) => return |l, d| float1(l, d, |a: f32| f64::from(a)),
            (Type::F32, Type::F64) => return |l, d| float1(l, d, |a: f64| a as f32),
            (Type::F64, Type::S32) => return |l, d| map1(l, d, |a: i32| f64::from(a)),
            (Type::F64, Type::U32) => return |l, d| map1(l, d, |a: u32| f64::from(a)),
            (Type::S8, Type::S32) => return |l, d| map1(l, d, |a: i32| i32::from(a as i8)),
            (Type::S16, Type::S32) => return |l, d| map1(l, d, |a: i32| i32::from(a as i16)),
            _ => {}
        }
    }
    match (to, from, inst.mods.rounding as u8) {
        (Type::S32, Type::F32, 1) => return |l, d| float1(l, d, |a: f32| a as i32),
        (Type::U32, Type::F32, 1) => return |l, d| float1(l, d, |a: f32| a as u32),
        (Type::S32, Type::F64, 1) => return |l, d| float1(l, d, |a: f64| a as i32),
        _ => {}
    }
    macro_rules! to_type {
        ($from:ty, $load:expr) => {
            match to {
                Type::F16 => |l, d| {
                    let (mode, m) = (d.mode, d.modifiers);
                    map1(l, d, |a: $from| Half(from_exact_half($load(a, m), mode)))
                },
                Type::F32 => |l, d| {
                    let (mode, m) = (d.mode, d.modifiers);
                    map1(l, d, |a: $from| from_exact_f32($load(a, m), mode))
                },
                Type::F64 => |l, d| {
                    let (mode, m) = (d.mode, d.modifiers);
                    map1(l, d, |a: $from| from_exact_f64($load(a, m), mode))
                },
                Type::S64 => |l, d| {
                    let (mode, m) = (d.mode, d.modifiers);
                    map1(l, d, |a: $from| to_integer($load(a, m), mode, i128::from(i64::MIN), i128::from(i64::MAX)) as i64)
                },
                Type::U64 => |l, d| {
                    let (mode, m) = (d.mode, d.modifiers);
                    map1(l, d, |a: $from| to_integer($load(a, m), mode, 0, i128::from(u64::MAX)) as u64)
                },
                Type::S32 => |l, d| {
                    let (mode, m) = (d.mode, d.modifiers);
                    map1(l, d, |a: $from| to_integer($load(a, m), mode, i128::from(i32::MIN), i128::from(i32::MAX)) as i32)
                },
                Type::U32 => |l, d| {
                    let (mode, m) = (d.mode, d.modifiers);
                    map1(l, d, |a: $from| to_integer($load(a, m), mode, 0, i128::from(u32::MAX)) as u32)
                },
                Type::S16 => |l, d| {
                    let (mode, m) = (d.mode, d.modifiers);
                    map1(l, d, |a: $from| i32::from(to_integer($load(a, m), mode, -32768, 32767) as i16))
                },
                Type::U16 => |l, d| {
                    let (mode, m) = (d.mode, d.modifiers);
                    map1(l, d, |a: $from| u32::from(to_integer($load(a, m), mode, 0, 65535) as u16))
                },
                Type::S8 => |l, d| {
                    let (mode, m) = (d.mode, d.modifiers);
                    map1(l, d, |a: $from| i32::from(to_integer($load(a, m), mode, -128, 127) as i8))
                },
                _ => |l, d| {
                    let (mode, m) = (d.mode, d.modifiers);
                    map1(l, d, |a: $from| u32::from(to_integer($load(a, m), mode, 0, 255) as u8))
                },
            }
        };
    }
    // Integers that do not saturate wrap: the clamp is bypassed by marking the mode.
    let wrap = !inst.mods.saturate && !from.is_float();
    macro_rules! integer {
        ($t:ty, $narrow:expr) => {
            if wrap {
                to_type!($t, |a: $t, _m: u8| Exact::Wrapping(i128::from($narrow(a))))
            } else {
                to_type!($t, |a: $t, _m: u8| Exact::Integer(i128::from($narrow(a))))
            }
        };
    }
    match from {
        Type::F16 => to_type!(Half, |a: Half, m: u8| Exact::Float(modified(m, 0, a).value())),
        Type::F32 => to_type!(f32, |a: f32, m: u8| Exact::Float(f64::from(modified(m, 0, a)))),
        Type::F64 => to_type!(f64, |a: f64, m: u8| Exact::Float(modified(m, 0, a))),
        Type::S64 => integer!(i64, |a: i64| a),
        Type::U64 | Type::B64 => integer!(u64, |a: u64| a),
        Type::S32 => integer!(i32, |a: i32| a),
        Type::S16 => integer!(i32, |a: i32| a as i16),
        Type::S8 => integer!(i32, |a: i32| a as i8),
        Type::U16 => integer!(u32, |a: u32| a as u16),
        Type::U8 => integer!(u32, |a: u32| a as u8),
        _ => integer!(u32, |a: u32| a),
    }
}

/// A source value, exact.
#[derive(Clone, Copy)]
enum Exact {
    Float(f64),
    /// To be clamped when converted to a narrower integer.
    Integer(i128),
    /// To be truncated.
    Wrapping(i128),
}

fn to_integer(x: Exact, mode: u8, low: i128, high: i128) -> i128 {
    match x {
        Exact::Float(f) => sem::float_to_int(f, mode, low, high),
        Exact::Integer(i) => i.clamp(low, high),
        Exact::Wrapping(i) => i,
    }
}

fn from_exact_f32(x: Exact, mode: u8) -> f32 {
    match x {
        Exact::Float(f) => sem::f64_to_f32(f, mode),
        Exact::Integer(i) | Exact::Wrapping(i) => sem::int_to_f32(i, mode),
    }
}

fn from_exact_f64(x: Exact, mode: u8) -> f64 {
    match x {
        Exact::Float(f) => f,
        Exact::Integer(i) | Exact::Wrapping(i) => sem::int_to_f64(i, mode),
    }
}

fn from_exact_half(x: Exact, mode: u8) -> u32 {
    match x {
        Exact::Float(f) => sem::f64_to_half(f, mode),
        // Integers beyond 2^53 are beyond half's range, so the double decides the same way.
        Exact::Integer(i) | Exact::Wrapping(i) => sem::f64_to_half(i as f64, mode),
    }
}

macro_rules! by_float {
    ($ty:expr, |$($x:ident),*| $body32:expr, $body64:expr, $body16:expr, $apply:ident) => {
        match $ty {
            Type::F32 => |l, d| $apply(l, d, |$($x: f32),*| $body32),
            Type::F64 => |l, d| $apply(l, d, |$($x: f64),*| $body64),
            _ => |l, d| $apply(l, d, |$($x: Half),*| $body16),
        }
    };
}

macro_rules! by_width {
    ($ty:expr, |$($x:ident),*| $body:expr, $apply:ident, $n:ty, $w:ty) => {
        if $ty.words() == 2 { |l, d| $apply(l, d, |$($x: $w),*| $body) } else { |l, d| $apply(l, d, |$($x: $n),*| $body) }
    };
}

/// The function that executes an instruction.
pub(super) fn select<const N: usize>(inst: &Inst) -> Execute<N> {
    let ty = inst.ty;
    let signed = is_signed(ty);
    match inst.op {
        Op::Mov => match ty {
            Type::Pred => |l, d| {
                let p = l.predicate(d, 0);
                l.set_predicate(d, p);
            },
            Type::B32 => mov::<1, N>,
            Type::B64 => mov::<2, N>,
            _ => mov::<4, N>,
        },
        Op::Sel => match ty {
            Type::Pred => |l, d| {
                let (p, a, b) = (l.predicate(d, 0), l.predicate(d, 1), l.predicate(d, 2));
                l.set_predicate(d, p & a | !p & b);
            },
            Type::B64 => sel::<u64, N>,
            _ => sel::<u32, N>,
        },
        Op::First => {
            if ty.words() == 2 {
                take_first::<2, N>
            } else {
                take_first::<1, N>
            }
        }
        Op::Add if ty.is_float() => by_float!(ty, |a, b| a + b, a + b, Half::of(a.value() + b.value()), float2),
        Op::Add if inst.mods.saturate => match ty {
            Type::S32 => |l, d| map2(l, d, i32::saturating_add),
            Type::U32 | Type::B32 => |l, d| map2(l, d, u32::saturating_add),
            Type::S64 => |l, d| map2(l, d, i64::saturating_add),
            _ => |l, d| map2(l, d, u64::saturating_add),
        },
        Op::Add => by_width!(ty, |a, b| a.wrapping_add(b), map2, u32, u64),
        Op::Sub if inst.mods.saturate => match ty {
            Type::S32 => |l, d| map2(l, d, i32::saturating_sub),
            Type::U32 | Type::B32 => |l, d| map2(l, d, u32::saturating_sub),
            Type::S64 => |l, d| map2(l, d, i64::saturating_sub),
            _ => |l, d| map2(l, d, u64::saturating_sub),
        },
        Op::Sub => by_width!(ty, |a, b| a.wrapping_sub(b), map2, u32, u64),
        Op::Mul if ty.is_float() => by_float!(ty, |a, b| a * b, a * b, Half::of(a.value() * b.value()), float2),
        Op::Mul => by_width!(ty, |a, b| a.wrapping_mul(b), map2, u32, u64),
        Op::MulHi => match ty {
            Type::S32 => |l, d| map2(l, d, |a: i32, b: i32| (i64::from(a) * i64::from(b) >> 32) as i32),
            Type::U32 => |l, d| map2(l, d, |a: u32, b: u32| (u64::from(a) * u64::from(b) >> 32) as u32),
            Type::S64 => |l, d| map2(l, d, |a: i64, b: i64| (i128::from(a) * i128::from(b) >> 64) as i64),
            _ => |l, d| map2(l, d, |a: u64, b: u64| (u128::from(a) * u128::from(b) >> 64) as u64),
        },
        Op::MulWide => {
            if signed {
                |l, d| map2(l, d, |a: i32, b: i32| i64::from(a) * i64::from(b))
            } else {
                |l, d| map2(l, d, |a: u32, b: u32| u64::from(a) * u64::from(b))
            }
        }
        Op::Mad => by_width!(ty, |a, b, c| a.wrapping_mul(b).wrapping_add(c), map3, u32, u64),
        Op::Fma => by_float!(
            ty,
            |a, b, c| a.mul_add(b, c),
            a.mul_add(b, c),
            Half(sem::fma_half(a.value(), b.value(), c.value())),
            float3
        ),
        Op::Div if ty.is_float() => by_float!(ty, |a, b| a / b, a / b, Half::of(a.value() / b.value()), float2),
        Op::Div => match ty {
            Type::S32 => |l, d| map2(l, d, sem::div_s32),
            Type::U32 => |l, d| map2(l, d, sem::div_u32),
            Type::S64 => |l, d| map2(l, d, sem::div_s64),
            _ => |l, d| map2(l, d, sem::div_u64),
        },
        Op::Rem => match ty {
            Type::S32 => |l, d| map2(l, d, sem::rem_s32),
            Type::U32 => |l, d| map2(l, d, sem::rem_u32),
            Type::S64 => |l, d| map2(l, d, sem::rem_s64),
            _ => |l, d| map2(l, d, sem::rem_u64),
        },
        Op::Abs => by_width!(ty, |a| a.wrapping_abs(), map1, i32, i64),
        Op::Min if ty.is_float() => {
            by_float!(ty, |a, b| sem::min_f32(a, b), sem::min_f64(a, b), Half::of(sem::min_f64(a.value(), b.value())), float2)
        }
        Op::Max if ty.is_float() => {
            by_float!(ty, |a, b| sem::max_f32(a, b), sem::max_f64(a, b), Half::of(sem::max_f64(a.value(), b.value())), float2)
        }
        Op::Min if signed => by_width!(ty, |a, b| a.min(b), map2, i32, i64),
        Op::Min => by_width!(ty, |a, b| a.min(b), map2, u32, u64),
        Op::Max if signed => by_width!(ty, |a, b| a.max(b), map2, i32, i64),
        Op::Max => by_width!(ty, |a, b| a.max(b), map2, u32, u64),
        Op::And if ty == Type::Pred => |l, d| {
            let v = l.predicate(d, 0) & l.predicate(d, 1);
            l.set_predicate(d, v);
        },
        Op::Or if ty == Type::Pred => |l, d| {
            let v = l.predicate(d, 0) | l.predicate(d, 1);
            l.set_predicate(d, v);
        },
        Op::Xor if ty == Type::Pred => |l, d| {
            let v = l.predicate(d, 0) ^ l.predicate(d, 1);
            l.set_predicate(d, v);
        },
        Op::Not if ty == Type::Pred => |l, d| {
            let v = !l.predicate(d, 0);
            l.set_predicate(d, v);
        },
        Op::And => by_width!(ty, |a, b| a & b, map2, u32, u64),
        Op::Or => by_width!(ty, |a, b| a | b, map2, u32, u64),
        Op::Xor => by_width!(ty, |a, b| a ^ b, map2, u32, u64),
        Op::Not => by_width!(ty, |a| !a, map1, u32, u64),
        Op::Shl => {
            if ty.words() == 2 {
                |l, d| map2(l, d, |a: u64, b: u32| a << (b & 63))
            } else {
                |l, d| map2(l, d, |a: u32, b: u32| a << (b & 31))
            }
        }
        Op::Shr => match ty {
            Type::S32 => |l, d| map2(l, d, |a: i32, b: u32| a >> (b & 31)),
            Type::S64 => |l, d| map2(l, d, |a: i64, b: u32| a >> (b & 63)),
            Type::U64 => |l, d| map2(l, d, |a: u64, b: u32| a >> (b & 63)),
            _ => |l, d| map2(l, d, |a: u32, b: u32| a >> (b & 31)),
        },
        Op::Fshl => {
            if ty.words() == 2 {
                |l, d| map3(l, d, |a: u64, b: u64, c: u32| if c & 63 == 0 { a } else { a << (c & 63) | b >> (64 - (c & 63)) })
            } else {
                |l, d| map3(l, d, |a: u32, b: u32, c: u32| ((u64::from(a) << 32 | u64::from(b)) << (c & 31) >> 32) as u32)
            }
        }
        Op::Fshr => {
            if ty.words() == 2 {
                |l, d| map3(l, d, |a: u64, b: u64, c: u32| if c & 63 == 0 { b } else { b >> (c & 63) | a << (64 - (c & 63)) })
            } else {
                |l, d| map3(l, d, |a: u32, b: u32, c: u32| ((u64::from(a) << 32 | u64::from(b)) >> (c & 31)) as u32)
            }
        }
        Op::Clz => {
            if ty.words() == 2 {
                |l, d| map1(l, d, |a: u64| u64::from(a.leading_zeros()))
            } else {
                |l, d| map1(l, d, |a: u32| a.leading_zeros())
            }
        }
        Op::Ctz => {
            if ty.words() == 2 {
                |l, d| map1(l, d, |a: u64| u64::from(a.trailing_zeros()))
            } else {
                |l, d| map1(l, d, |a: u32| a.trailing_zeros())
            }
        }
        Op::Popc => {
            if ty.words() == 2 {
                |l, d| map1(l, d, |a: u64| u64::from(a.count_ones()))
            } else {
                |l, d| map1(l, d, |a: u32| a.count_ones())
            }
        }
        Op::Brev => by_width!(ty, |a| a.reverse_bits(), map1, u32, u64),
        Op::Bswap => by_width!(ty, |a| a.swap_bytes(), map1, u32, u64),
        Op::Sqrt => by_float!(ty, |a| a.sqrt(), a.sqrt(), Half::of(a.value().sqrt()), float1),
        Op::Round => match ty {
            Type::F32 => |l, d| {
                let mode = d.mode;
                float1(l, d, |a: f32| sem::round_f32(a, mode))
            },
            Type::F64 => |l, d| {
                let mode = d.mode;
                float1(l, d, |a: f64| sem::round_f64(a, mode))
            },
            _ => |l, d| {
                let mode = d.mode;
                float1(l, d, |a: Half| Half::of(sem::round_f64(a.value(), mode)))
            },
        },
        Op::Copysign => {
            by_float!(ty, |a, b| a.copysign(b), a.copysign(b), Half(a.0 & 0x7fff | b.0 & 0x8000), float2)
        }
        Op::Ldexp => match ty {
            Type::F32 => |l, d| {
                let m = d.modifiers;
                map2(l, d, |a: f32, b: i32| sem::ldexp_f32(modified(m, 0, a), b))
            },
            Type::F64 => |l, d| {
                let m = d.modifiers;
                map2(l, d, |a: f64, b: i32| sem::ldexp_f64(modified(m, 0, a), b))
            },
            _ => |l, d| {
                let m = d.modifiers;
                map2(l, d, |a: Half, b: i32| Half::of(sem::ldexp_f64(modified(m, 0, a).value(), b.clamp(-400, 400))))
            },
        },
        Op::FrexpMant => by_float!(
            ty,
            |a| sem::frexp_f64(f64::from(a)).0 as f32,
            sem::frexp_f64(a).0,
            Half::of(sem::frexp_f64(a.value()).0),
            float1
        ),
        Op::FrexpExp => {
            by_float!(ty, |a| sem::frexp_f64(f64::from(a)).1, sem::frexp_f64(a).1, sem::frexp_f64(a.value()).1, float1)
        }
        Op::Rcp => |l, d| float1(l, d, |a: f32| 1.0 / a),
        Op::Rsq => |l, d| float1(l, d, |a: f32| 1.0 / a.sqrt()),
        Op::Sin => |l, d| float1(l, d, f32::sin),
        Op::Cos => |l, d| float1(l, d, f32::cos),
        Op::Ex2 => |l, d| float1(l, d, f32::exp2),
        Op::Lg2 => |l, d| float1(l, d, f32::log2),
        Op::Cmp => select_compare(inst),
        Op::Cvt => convert(inst),
        Op::Ballot => ballot,
        Op::Shuffle => shuffle,
        Op::Load | Op::LoadUniform => access::select_load(inst),
        Op::CacheControl | Op::CacheControlLocal => access::select_control(inst),
        Op::Store => access::select_store(inst),
        Op::Atomic => access::select_atomic(inst),
        Op::Sample => super::texture::select_read(inst),
        Op::ImageStore => super::texture::select_write(inst),
        // Memory is in program order within a warp, and the host's atomics order the rest.
        Op::Fence => |l, _| {
            std::sync::atomic::fence(std::sync::atomic::Ordering::SeqCst);
            if let Some(checker) = l.checker {
                checker.borrow_mut().fence();
            }
        },
        _ => nothing,
    }
}
