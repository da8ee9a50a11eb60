//! Arguments for the math functions: special values, random bits, the intervals where functions do something.

use crate::functions::{Function, Shape, Type};

/// Arguments of one call; what a function does not take is zero.
#[derive(Clone, Copy, Debug, Default)]
pub struct Input {
    /// The first three arguments, exact in the type.
    pub x: [f64; 3],
    /// The integer argument.
    pub n: i32,
}

/// SplitMix64 (Steele, Lea and Flood 2014): the same numbers on every machine.
pub struct Random(pub u64);

impl Random {
    /// 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn uniform(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * (self.bits() >> 11) as f64 / (1u64 << 53) as f64
    }

    fn integer(&mut self, low: i64, high: i64) -> i64 {
        low + (self.bits() % (high - low + 1) as u64) as i64
    }

    /// Random sign, magnitude between two powers of 2.
    fn logarithmic(&mut self, low: f64, high: f64) -> f64 {
        let v = self.uniform(low, high).exp2();
        if self.bits() & 1 == 0 { v } else { -v }
    }
}

impl Type {
    /// Bytes.
    pub fn bytes(self) -> usize {
        [2, 4, 8][self as usize]
    }

    /// The number with these bits.
    pub fn number(self, bits: u64) -> f64 {
        match self {
            Type::F16 => half::f16::from_bits(bits as u16).to_f64(),
            Type::F32 => f64::from(f32::from_bits(bits as u32)),
            Type::F64 => f64::from_bits(bits),
        }
    }

    /// The bits of a number, rounded to the type.
    pub fn to_bits(self, v: f64) -> u64 {
        match self {
            Type::F16 => u64::from(half::f16::from_f64(v).to_bits()),
            Type::F32 => u64::from((v as f32).to_bits()),
            Type::F64 => v.to_bits(),
        }
    }

    /// Rounded to the type.
    pub fn round(self, v: f64) -> f64 {
        self.number(self.to_bits(v))
    }

    /// Bits of precision, lowest and highest exponent of normal numbers.
    pub fn parameters(self) -> (i32, i32, i32) {
        [(11, -14, 15), (24, -126, 127), (53, -1022, 1023)][self as usize]
    }

    /// Zeros, denormals, infinities, NaN, edges, and numbers where functions turn; both signs.
    pub fn specials(self) -> Vec<f64> {
        let (p, low, high) = self.parameters();
        let power = |e: i32| if e < -1022 { f64::from_bits(1 << (e + 1074)) } else { f64::from_bits(((e + 1023) as u64) << 52) };
        let epsilon = power(1 - p);
        let largest = (2.0 - epsilon) * power(high);
        let tiny = power(low - p + 1);
        let mut v = vec![0.0, tiny, 3.0 * tiny, power(low) - tiny, power(low), power(low) * 1.5, power(low / 2), epsilon];
        v.extend([0.25, 0.5, 0.75, 1.0 - epsilon / 2.0, 1.0, 1.0 + epsilon, 1.5, 2.0, 2.5, 3.0, 3.5, 4.0, 5.0, 7.0, 10.0, 100.0]);
        v.extend([std::f64::consts::FRAC_PI_4, std::f64::consts::FRAC_PI_2, std::f64::consts::PI, std::f64::consts::E]);
        v.extend([power(p - 2) + 0.5, power(p - 1) - 0.5, power(p - 1), power(p - 1) + 1.0, power(p), power(p) + 2.0]);
        if self != Type::F16 {
            v.extend([power(31), power(32), power(63), power(64), power(high / 2), 1e30]);
        }
        v.extend([largest / 2.0, largest, f64::INFINITY, f64::NAN]);
        let v: Vec<f64> = v.iter().map(|x| self.round(*x)).collect();
        v.iter().flat_map(|x| [*x, -*x]).collect()
    }

    fn any(self, random: &mut Random) -> f64 {
        let bits = random.bits();
        self.number(bits >> (64 - 8 * self.bytes()))
    }
}

const INTEGERS: [i32; 22] = [
    0,
    1,
    2,
    3,
    4,
    5,
    7,
    10,
    24,
    31,
    100,
    127,
    149,
    150,
    1000,
    1 << 24,
    (1 << 24) + 1,
    i32::MAX - 1,
    i32::MAX,
    i32::MIN,
    -i32::MAX,
    23,
];

/// Halves of one argument: all of them.
fn all_halves() -> Vec<Input> {
    (0..=0xffffu64).map(|b| Input { x: [Type::F16.number(b), 0.0, 0.0], n: 0 }).collect()
}

/// Arguments for a function. `native_` functions get their range only, `half_` functions no denormals.
pub fn of(function: &Function, ty: Type) -> Vec<Input> {
    let (low, high) = function.range;
    let seed = function.name.bytes().fold(ty as u64, |h, b| h.wrapping_mul(131).wrapping_add(u64::from(b)));
    let random = &mut Random(seed);
    let native = function.name.starts_with("native_");
    let single = |x: f64| Input { x: [ty.round(x), 0.0, 0.0], n: 0 };
    let specials = ty.specials();
    let mut v: Vec<Input> = Vec::new();
    match function.shape {
        Shape::One if native => v.extend((0..4000).map(|_| single(random.uniform(low, high)))),
        Shape::One if ty == Type::F16 => v = all_halves(),
        Shape::One => {
            v.extend(specials.iter().map(|x| single(*x)));
            v.extend((0..1500).map(|_| single(ty.any(random))));
            v.extend((0..1200).map(|_| single(random.logarithmic(-14.0, 14.0))));
            v.extend((0..200).map(|_| single(random.logarithmic(-60.0, -14.0))));
            v.extend((0..1000).map(|_| single(random.uniform(-1.0, 1.0))));
            v.extend((0..2000).map(|_| single(random.uniform(low, high))));
            for k in 0..600 {
                let turns = if k < 300 { random.integer(-100, 100) } else { random.integer(1, 1 << (8 + k % 30)) };
                let x = ty.round(turns as f64 * std::f64::consts::FRAC_PI_2);
                let x = [x, x.next_up(), x.next_down()][k % 3];
                v.push(single(if ty == Type::F32 {
                    f64::from([x as f32, (x as f32).next_up(), (x as f32).next_down()][k % 3])
                } else {
                    x
                }));
            }
            v.extend((-200..=200).map(|k| single(f64::from(k) / 2.0)));
        }
        Shape::Two if native => v.extend((0..4000).map(|_| {
            let (x, y) = (random.logarithmic(-10.0, 10.0), random.logarithmic(-3.0, 3.0));
            Input { x: [ty.round(x.abs()), ty.round(y), 0.0], n: 0 }
        })),
        Shape::Two => {
            let mut pair = |x: f64, y: f64| v.push(Input { x: [ty.round(x), ty.round(y), 0.0], n: 0 });
            for x in &specials {
                for y in &specials {
                    pair(*x, *y);
                }
            }
            for _ in 0..1500 {
                pair(ty.any(random), ty.any(random));
                pair(random.logarithmic(-10.0, 10.0), random.logarithmic(-10.0, 10.0));
                pair(random.uniform(low, high), random.uniform(low, high));
                let x = random.logarithmic(-20.0, 20.0).abs();
                // Powers over the whole range of results, and bases near 1.
                let span = f64::from(ty.parameters().2) + 4.0;
                pair(x, random.uniform(-span, span) / x.log2());
                let near = random.logarithmic(-20.0, -1.0);
                pair(1.0 + near, random.uniform(-span, span) / (1.0 + near).log2());
                pair(random.logarithmic(-6.0, 6.0), random.integer(-12, 12) as f64);
                // Near multiples, for remainders.
                let y = random.logarithmic(-6.0, 6.0);
                pair(ty.round(y) * random.integer(-40, 40) as f64 / 2.0, y);
            }
        }
        Shape::Three => {
            let few: Vec<f64> = specials.iter().copied().enumerate().filter(|(i, _)| i % 6 < 2).map(|(_, x)| x).collect();
            for x in &few {
                for y in &few {
                    v.extend(few.iter().map(|z| Input { x: [*x, *y, *z], n: 0 }));
                }
            }
            for _ in 0..2500 {
                v.push(Input { x: [ty.any(random), ty.any(random), ty.any(random)], n: 0 });
                let (x, y) = (ty.round(random.uniform(low, high)), ty.round(random.uniform(low, high)));
                v.push(Input { x: [x, y, ty.round(random.uniform(low, high))], n: 0 });
                v.push(Input { x: [x, y, ty.round(-x * y)], n: 0 });
            }
        }
        Shape::WithInteger => {
            for x in &specials {
                v.extend(INTEGERS.iter().flat_map(|n| [*n, n.wrapping_neg()]).map(|n| Input { x: [*x, 0.0, 0.0], n }));
            }
            for _ in 0..2500 {
                v.push(Input { x: [ty.any(random), 0.0, 0.0], n: random.integer(-160, 160) as i32 });
                v.push(Input { x: [ty.round(random.logarithmic(-4.0, 4.0)), 0.0, 0.0], n: random.integer(-40, 40) as i32 });
                let near = ty.round(1.0 + random.logarithmic(-20.0, -3.0));
                v.push(Input { x: [near, 0.0, 0.0], n: random.integer(-(1 << 20), 1 << 20) as i32 });
            }
        }
    }
    if function.name.starts_with("half_") {
        let smallest = f64::from(f32::MIN_POSITIVE);
        let trigonometric = ["half_sin", "half_cos", "half_tan"].contains(&function.name);
        v.retain(|i| i.x.iter().all(|x| *x == 0.0 || x.abs() >= smallest || x.is_nan()));
        v.retain(|i| !trigonometric || i.x[0].abs() <= 65536.0);
    }
    v
}
