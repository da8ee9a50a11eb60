//! What the table says operations mean, against formulations of another kind: integers without a width, sums and
//! products of halves as fractions, conversions as a search for the neighbours of the exact value.
//!
//! The interpreter derives from the same functions as the reference, so a slip in one of them shows only here and in
//! translated code, which has no divisions, halves and rarer conversions.

use heddle_isa::meaning::Words;
use heddle_isa::{Inst, Meaning, Op, Operand, Rounding, Type, rules};
use strum::IntoEnumIterator;

fn words(v: u128) -> Words {
    [v as u32, (v >> 32) as u32, 0, 0]
}

fn evaluate(inst: &Inst, sources: &[u64]) -> u64 {
    let mut all = [[0; 4]; 3];
    for (words_of, v) in all.iter_mut().zip(sources) {
        *words_of = words(u128::from(*v));
    }
    let result = inst.evaluate(all).unwrap_or_else(|| panic!("{inst:?} has no meaning"));
    u64::from(result[0]) | u64::from(result[1]) << 32
}

fn inst(op: Op, ty: Type) -> Inst {
    Inst::new(op, ty, Operand::None, [])
}

fn is_signed(ty: Type) -> bool {
    matches!(ty, Type::S8 | Type::S16 | Type::S32 | Type::S64)
}

/// An integer of a type, without a width.
fn integer(ty: Type, raw: u64) -> i128 {
    let bits = 8 * ty.bytes();
    let low = i128::from(raw) & ((1i128 << bits) - 1);
    if is_signed(ty) && low >> (bits - 1) == 1 { low - (1 << bits) } else { low }
}

/// An integer in the registers of a type: narrow ones extended, cut to the width.
fn registers(ty: Type, v: i128) -> u64 {
    let kept = integer(ty, v as u64);
    if ty.words() == 2 { kept as u64 } else { u64::from(kept as u32) }
}

fn range(ty: Type) -> (i128, i128) {
    let bits = 8 * ty.bytes();
    if is_signed(ty) { (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) } else { (0, (1 << bits) - 1) }
}

const INTEGERS: [u64; 22] = [
    0,
    1,
    2,
    3,
    7,
    10,
    31,
    33,
    63,
    64,
    255,
    0x7fff_ffff,
    0x8000_0000,
    0x8000_0001,
    0xffff_ffff,
    0x1_0000_0001,
    0x7fff_ffff_ffff_ffff,
    0x8000_0000_0000_0000,
    0x8000_0000_0000_0001,
    0xffff_ffff_ffff_fff9,
    u64::MAX,
    0x0123_4567_89ab_cdef,
];

/// What an integer operation gives, from numbers without a width.
fn exact(op: Op, ty: Type, v: [i128; 3]) -> Option<i128> {
    let [a, b, c] = v;
    let bits = 8 * i128::from(ty.bytes());
    let n = |x: i128| x & (bits - 1);
    let binary = |x: i128| format!("{:0w$b}", x & ((1 << bits) - 1), w = bits as usize);
    let of_binary = |s: String| i128::from_str_radix(&s, 2).unwrap();
    Some(match op {
        Op::Add => a + b,
        Op::Sub => a - b,
        Op::Mul => ((a as u128).wrapping_mul(b as u128) & u128::from(u64::MAX)) as i128,
        Op::Mad => ((a as u128).wrapping_mul(b as u128).wrapping_add(c as u128) & u128::from(u64::MAX)) as i128,
        // By halves of the second factor, so that nothing exceeds 128 bits.
        Op::MulHi => {
            let half = bits / 2;
            let (high, low) = (b >> half, b & ((1 << half) - 1));
            (a * high + (a * low >> half)) >> half
        }
        Op::MulWide => a * b,
        Op::Div if b == 0 => a,
        Op::Div => a.abs() / b.abs() * a.signum() * b.signum(),
        Op::Rem if b == 0 => 0,
        Op::Rem => a - a.abs() / b.abs() * a.signum() * b.signum() * b,
        Op::Abs => a.abs(),
        Op::Min => {
            if a < b {
                a
            } else {
                b
            }
        }
        Op::Max => {
            if a > b {
                a
            } else {
                b
            }
        }
        Op::And => a & b,
        Op::Or => a | b,
        Op::Xor => a ^ b,
        Op::AndNot => a & !b,
        Op::Not => -1 - a,
        Op::Shl => ((a as u128) << n(b)) as i128,
        Op::Shr => a.div_euclid(1 << n(b)),
        Op::Fshl | Op::Fshr => {
            let both = binary(a) + &binary(b);
            let from = if op == Op::Fshl { n(c) } else { bits - n(c) } as usize;
            of_binary(both[from..from + bits as usize].to_string())
        }
        Op::Clz => binary(a).find('1').map_or(bits, |i| i as i128),
        Op::Ctz => binary(a).rfind('1').map_or(bits, |i| bits - 1 - i as i128),
        Op::Popc => binary(a).matches('1').count() as i128,
        Op::Brev => of_binary(binary(a).chars().rev().collect()),
        Op::Bswap => {
            let digits = binary(a);
            of_binary((0..digits.len() / 8).rev().map(|i| &digits[8 * i..8 * i + 8]).collect())
        }
        _ => return None,
    })
}

#[test]
fn integer_operations_are_those_of_numbers() {
    let mut tried = std::collections::BTreeSet::new();
    for op in Op::iter() {
        for &ty in op.info().types.iter().filter(|t| !t.is_float() && t.bytes() >= 4) {
            for saturate in [false, true] {
                let mut inst = inst(op, ty);
                inst.mods.saturate = saturate;
                if exact(op, ty, [1; 3]).is_none() || saturate && !(op.info().flags.saturate && is_numeric(ty)) {
                    continue;
                }
                for (i, a) in INTEGERS.iter().enumerate() {
                    for (k, b) in INTEGERS.iter().enumerate() {
                        let c = INTEGERS[(3 * i + 7 * k) % INTEGERS.len()];
                        // A shift's amount is a word whatever the type.
                        let number = |j: usize, v: u64| match op.info().srcs.get(j) {
                            Some(heddle_isa::Role::Word) => integer(Type::U32, v),
                            _ => integer(ty, v),
                        };
                        let wanted = exact(op, ty, [number(0, *a), number(1, *b), number(2, c)]).unwrap();
                        let (low, high) = range(ty);
                        let wanted = if saturate { wanted.clamp(low, high) } else { wanted };
                        let wide = if op == Op::MulWide { wanted as u64 } else { registers(ty, wanted) };
                        assert_eq!(evaluate(&inst, &[*a, *b, c]), wide, "{op:?} {ty} {saturate}: {a:x}, {b:x}, {c:x}");
                        tried.insert(op);
                    }
                }
            }
        }
    }
    assert_eq!(tried.len(), 25, "{tried:?}");
}

fn is_numeric(ty: Type) -> bool {
    matches!(ty, Type::S32 | Type::U32 | Type::S64 | Type::U64)
}

/// A finite half in units of 2^-24, of which every half is a multiple.
fn units(half: u16) -> i128 {
    let (exponent, fraction) = (i128::from(half >> 10 & 31), i128::from(half & 0x3ff));
    let magnitude = if exponent == 0 { fraction } else { (fraction + 1024) << (exponent - 1) };
    if half >> 15 == 1 { -magnitude } else { magnitude }
}

/// The half nearest to the fraction `over / under` (in units of 2^-24, not 0), ties to even.
fn nearest_half(over: i128, under: i128) -> u16 {
    let (negative, over, under) = ((over < 0) != (under < 0), over.abs(), under.abs());
    // 0x7c00 stands for the next power of two behind the largest half, where infinity begins to be nearer.
    let candidate = (0u16..=0x7c00).collect::<Vec<_>>();
    let at = candidate.partition_point(|h| if *h == 0x7c00 { false } else { units(*h) * under <= over });
    let (below, above) = (at as u16 - 1, (at as u16).min(0x7c00));
    let place = |h: u16| if h == 0x7c00 { 1i128 << 40 } else { units(h) };
    let (down, up) = (over - units(below) * under, place(above) * under - over);
    let magnitude = if down < up || down == up && below & 1 == 0 { below } else { above };
    magnitude | u16::from(negative) << 15
}

const HALVES: [u16; 22] = [
    0x3c00, 0xbc00, 0x7bff, 0xfbff, 1, 0x8001, 2, 0x3ff, 0x400, 0x8400, 0x401, 0x3800, 0x3555, 0x3bff, 0x3c01, 0x6400, 0x6801,
    0x5bff, 0xdc01, 0x4248, 0x7800, 0x1234,
];

#[test]
fn halves_round_once() {
    for a in HALVES {
        for b in HALVES {
            let (x, y) = (units(a), units(b));
            let two = |op| evaluate(&inst(op, Type::F16), &[u64::from(a), u64::from(b)]);
            if x + y != 0 {
                assert_eq!(two(Op::Add), u64::from(nearest_half(x + y, 1)), "{a:x} + {b:x}");
            }
            assert_eq!(two(Op::Mul), u64::from(nearest_half(x * y, 1 << 24)), "{a:x} * {b:x}");
            assert_eq!(two(Op::Div), u64::from(nearest_half(x << 24, y)), "{a:x} / {b:x}");
            for c in HALVES {
                let sum = x * y + (units(c) << 24);
                if sum != 0 {
                    let found = evaluate(&inst(Op::Fma, Type::F16), &[u64::from(a), u64::from(b), u64::from(c)]);
                    assert_eq!(found, u64::from(nearest_half(sum, 1 << 24)), "{a:x} * {b:x} + {c:x}");
                }
            }
        }
    }
}

#[test]
fn the_root_of_a_half_is_the_nearest() {
    for a in (1u16..0x7c00).step_by(7) {
        let root = evaluate(&inst(Op::Sqrt, Type::F16), &[u64::from(a)]) as u16;
        // Between the squares of the middles to both neighbours, all in units of 2^-50.
        let doubled = |x: u16, y: u16| units(x) + units(y);
        let square = |m: i128| m * m;
        let exact = units(a) << 26;
        assert!(square(doubled(root, root - 1)) <= exact && exact <= square(doubled(root, root + 1)), "{a:x}: {root:x}");
    }
}

/// A float's value times 2^60, where that is exact: magnitudes of 2^-30 and more.
fn scaled(x: f64) -> i128 {
    assert!(x == 0.0 || x.abs() >= 2f64.powi(-60) && x.abs() <= 2f64.powi(66), "{x}");
    (x * 2f64.powi(60)) as i128
}

fn float(ty: Type, raw: u64) -> f64 {
    match ty {
        Type::F16 => {
            let magnitude = if raw & 0x7fff == 0x7c00 { 65536.0 } else { units(raw as u16 & 0x7fff) as f64 * 2f64.powi(-24) };
            if raw >> 15 & 1 == 1 { -magnitude } else { magnitude }
        }
        Type::F32 => f64::from(f32::from_bits(raw as u32)),
        _ => f64::from_bits(raw),
    }
}

/// Whether `found` is what a value (times 2^60) rounds to: no float lies between them on the side that the mode wants.
fn rounds(ty: Type, exact: i128, found: u64, rounding: Rounding) -> bool {
    let sign = 1u64 << (8 * ty.bytes() - 1);
    let (magnitude, negative) = (found & !sign, found & sign != 0);
    if exact == 0 {
        return magnitude == 0;
    }
    let at = |raw: u64| scaled(float(ty, raw));
    let value = at(magnitude);
    let wanted = if negative { -exact } else { exact };
    let below = if magnitude == 0 { i128::MIN } else { at(magnitude - 1) };
    let above = at(magnitude + 1);
    match (rounding, negative) {
        (Rounding::Rn, _) => {
            let (down, up) = (2 * wanted - value - below.max(-(1 << 100)), value + above - 2 * wanted);
            down > 0 && up > 0 || (down == 0 || up == 0) && magnitude & 1 == 0
        }
        (Rounding::Rz, _) | (Rounding::Rm, false) | (Rounding::Rp, true) => value <= wanted && wanted < above,
        (Rounding::Rp, false) | (Rounding::Rm, true) => below < wanted && wanted <= value,
    }
}

const NUMBERS: [f64; 20] = [
    0.5,
    1.0,
    1.5,
    2.5,
    3.5,
    0.1,
    0.75,
    99.49999,
    127.5,
    128.5,
    255.5,
    256.0,
    1023.6,
    32767.5,
    65503.0,
    2049.0,
    4097.0,
    33333.3,
    16777217.0,
    2147483647.5,
];

#[test]
fn conversions_round_as_they_are_told() {
    let floats = [Type::F16, Type::F32, Type::F64];
    let cvt = |to: Type, from: Type, rounding: Rounding, saturate: bool, raw: u64| {
        let mut inst = inst(Op::Cvt, to);
        (inst.mods.from, inst.mods.rounding, inst.mods.saturate) = (Some(from), rounding, saturate);
        evaluate(&inst, &[raw])
    };
    let integers = Op::Cvt.info().types.iter().copied().filter(|t| !t.is_float()).collect::<Vec<_>>();
    for rounding in Rounding::iter() {
        for x in NUMBERS.into_iter().flat_map(|x| [x, -x]) {
            let single = x as f32;
            for (from, raw) in [(Type::F64, x.to_bits()), (Type::F32, u64::from(single.to_bits()))] {
                let x = float(from, raw);
                for to in floats.into_iter().filter(|t| *t != Type::F16 || x.abs() < 65504.0) {
                    let found = cvt(to, from, rounding, false, raw);
                    assert!(rounds(to, scaled(x), found, rounding), "{to} of {from} {x} {rounding}: {found:x}");
                }
                for &to in &integers {
                    let whole = match rounding {
                        Rounding::Rm => scaled(x).div_euclid(1 << 60),
                        Rounding::Rp => -(-scaled(x)).div_euclid(1 << 60),
                        Rounding::Rz => scaled(x) / (1 << 60),
                        Rounding::Rn => {
                            let (below, rest) = (scaled(x).div_euclid(1 << 60), scaled(x).rem_euclid(1 << 60));
                            below + i128::from(rest > 1 << 59 || rest == 1 << 59 && below % 2 != 0)
                        }
                    };
                    let (low, high) = range(to);
                    let wanted = registers(to, whole.clamp(low, high));
                    assert_eq!(cvt(to, from, rounding, false, raw), wanted, "{to} of {from} {x} {rounding}");
                }
            }
        }
        for &from in &integers {
            for raw in INTEGERS {
                let v = integer(from, raw);
                for to in floats.into_iter().filter(|t| *t != Type::F16 || v.abs() < 65504) {
                    let found = cvt(to, from, rounding, false, raw);
                    assert!(rounds(to, v << 60, found, rounding), "{to} of {from} {v} {rounding}: {found:x}");
                }
            }
        }
    }
    for (&from, &to) in integers.iter().flat_map(|f| integers.iter().map(move |t| (f, t))) {
        for raw in INTEGERS {
            let v = integer(from, raw);
            let (low, high) = range(to);
            assert_eq!(cvt(to, from, Rounding::Rn, false, raw), registers(to, v), "{to} of {from} {v}");
            assert_eq!(cvt(to, from, Rounding::Rn, true, raw), registers(to, v.clamp(low, high)), "{to} of {from} {v}");
        }
    }
}

/// Scaling by a power of two and taking it off again.
#[test]
fn exponents_and_mantissas_make_the_number() {
    for ty in [Type::F16, Type::F32, Type::F64] {
        for x in NUMBERS.into_iter().filter(|x| ty != Type::F16 || *x < 65000.0) {
            let mut narrow = inst(Op::Cvt, ty);
            narrow.mods.from = Some(Type::F64);
            let raw = evaluate(&narrow, &[x.to_bits()]);
            let mantissa = evaluate(&inst(Op::FrexpMant, ty), &[raw]);
            let exponent = evaluate(&inst(Op::FrexpExp, ty), &[raw]);
            let m = float(ty, mantissa);
            assert!((0.5..1.0).contains(&m), "{ty} {x}: {m}");
            assert_eq!(m * 2f64.powi(exponent as i32), float(ty, raw));
            assert_eq!(evaluate(&inst(Op::Ldexp, ty), &[mantissa, exponent]), raw, "{ty} {x}");
        }
    }
    // One rounding where the result is subnormal: 3 * 2^-25 is in the middle of 2^-24 and 2^-23.
    assert_eq!(evaluate(&inst(Op::Ldexp, Type::F16), &[0x4200, (-25i32) as u32 as u64]), 2);
    assert_eq!(evaluate(&inst(Op::Ldexp, Type::F16), &[0x3c00, (-25i32) as u32 as u64]), 0);
}

/// The table allows no type or modifiers of which the row's function knows nothing.
#[test]
fn every_lane_operation_has_a_meaning() {
    for op in Op::iter().filter(|op| matches!(op.info().meaning, Meaning::Lane(_))) {
        for &ty in op.info().types {
            let froms: Vec<Option<Type>> =
                if op.info().flags.from { op.info().types.iter().copied().map(Some).collect() } else { vec![None] };
            let conds: Vec<_> = if op.info().flags.cond {
                heddle_isa::Cond::iter().filter(|c| c.is_float() == ty.is_float()).map(Some).collect()
            } else {
                vec![None]
            };
            for (from, cond) in froms.iter().flat_map(|f| conds.iter().map(move |c| (*f, *c))) {
                let mut inst = inst(op, ty);
                (inst.mods.from, inst.mods.cond) = (from, cond);
                assert!(inst.evaluate([[0; 4]; 3]).is_some(), "{op:?} {ty} {from:?} {cond:?}");
            }
        }
    }
}

/// Of every atomic operation and type that the rules allow, what is left in memory.
#[test]
fn atomics_leave_what_numbers_say() {
    use heddle_isa::AtomicOp as A;
    for ty in Op::Atomic.info().types.iter().copied().filter(|t| !t.is_float()) {
        for op in A::iter() {
            let mask = if ty.words() == 2 { u64::MAX } else { u64::from(u32::MAX) };
            for (a, b) in INTEGERS.iter().flat_map(|a| INTEGERS.iter().map(move |b| (a & mask, b & mask))) {
                let (x, y) = (integer(ty, a), integer(ty, b));
                let found = heddle_isa::meaning::updated(op, ty, a, b, 42);
                assert_eq!(found.is_some(), rules::atomic_exists(op, ty), "{op} {ty}");
                let wanted = match op {
                    A::Add => x + y,
                    A::Sub => x - y,
                    A::Xchg => y,
                    A::And => x & y,
                    A::Or => x | y,
                    A::Xor => x ^ y,
                    A::Min => {
                        if x < y {
                            x
                        } else {
                            y
                        }
                    }
                    A::Max => {
                        if x > y {
                            x
                        } else {
                            y
                        }
                    }
                    A::Inc => {
                        if x >= y {
                            0
                        } else {
                            x + 1
                        }
                    }
                    A::Dec => {
                        if x == 0 || x > y {
                            y
                        } else {
                            x - 1
                        }
                    }
                    A::CmpXchg => {
                        if x == y {
                            42
                        } else {
                            x
                        }
                    }
                };
                if let Some(found) = found {
                    assert_eq!(found, registers(ty, wanted), "{op} {ty}: {a:x}, {b:x}");
                }
            }
        }
    }
}
