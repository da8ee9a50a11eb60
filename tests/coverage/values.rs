//! Values of the built-in functions other than math, compared with what the host computes in its own way: integers in 128 bits, floats exactly or in double
//! precision.

use std::fmt::Write;

use heddle::runtime::array::{Array, DType};

use super::{PRELUDE, compile, launch};

const ITEMS: usize = 256;
/// OpenCL C's scalar types.
pub const TYPES: [(&str, DType); 11] = [
    ("char", DType::Int8),
    ("uchar", DType::UInt8),
    ("short", DType::Int16),
    ("ushort", DType::UInt16),
    ("int", DType::Int32),
    ("uint", DType::UInt32),
    ("long", DType::Int64),
    ("ulong", DType::UInt64),
    ("half", DType::Float16),
    ("float", DType::Float32),
    ("double", DType::Float64),
];

/// SplitMix64.
pub struct Random(pub u64);

impl Random {
    /// 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}

/// Elements: edges first, then random bits and random magnitudes.
pub fn data(dtype: DType, n: usize, seed: u64) -> Array {
    let mut random = Random(seed);
    let mut bytes = Vec::new();
    let floats = [
        0.0, -0.0, 0.5, -0.5, 1.5, 2.5, -2.5, 126.5, 127.5, 128.5, -128.5, -129.0, 255.5, 256.0, 65504.0, 65519.0, 65520.0,
        -65520.0, 1e5,
    ];
    let more = [
        2147483647.0,
        -2147483649.0,
        4294967296.0,
        9.3e18,
        -9.3e18,
        1.9e19,
        f64::NAN,
        f64::INFINITY,
        f64::NEG_INFINITY,
        1e-7,
        3e-8,
        -1e-42,
        1e39,
        // Next to half of the smallest float: -0x1.fffffffffffffp-150 and its negative.
        f64::from_bits(0xb69f_ffff_ffff_ffff),
        f64::from_bits(0x369f_ffff_ffff_ffff),
    ];
    for k in 0..n {
        let bits = random.bits();
        let size = dtype.bytes();
        let element = match (dtype.is_float(), k % 4) {
            (true, _) if k < floats.len() => encode(dtype, floats[(k + seed as usize) % floats.len()]),
            (true, 0) => encode(dtype, more[(bits % more.len() as u64) as usize]),
            (true, 1) => encode(dtype, floats[(bits % floats.len() as u64) as usize] + (bits >> 40) as f64 / 4e6),
            (true, 2) => encode(dtype, ((bits >> 20) as i32 as f64) * (2f64).powi(-((bits & 63) as i32))),
            (false, 0) => [0, 1, u64::MAX, 1 << (8 * size - 1), (1 << (8 * size - 1)) - 1, 2, 127, 128][(bits % 8) as usize]
                .to_le_bytes()[..size]
                .to_vec(),
            (false, 1) => ((bits >> (bits & 63)) as i64).to_le_bytes()[..size].to_vec(),
            _ => bits.to_le_bytes()[..size].to_vec(),
        };
        bytes.extend(element);
    }
    Array { dtype, shape: vec![n as u64], data: bytes }
}

/// Compiles a source with a kernel `test(a, b, c, out)` and runs it on `items` work-items in one or more groups of `local`.
pub fn run(body: &str, signature: &str, inputs: &[Array; 3], out: (DType, usize), items: usize, local: usize) -> Array {
    let source = format!("{PRELUDE}kernel void test({signature}) {{\n  size_t i = get_global_id(0);\n{body}\n}}\n");
    let image = compile(&source);
    let files: Vec<(&str, Array)> = ["a", "b", "c"].into_iter().zip(inputs.iter().cloned()).collect();
    let text = format!(
        "{{\"source\": \"none\", \"buffers\": {{\"a\": {{\"npy\": \"a\"}}, \"b\": {{\"npy\": \"b\"}}, \"c\": {{\"npy\": \"c\"}}, \
         \"out\": {{\"zeros\": [{}], \"dtype\": \"{}\"}}}}, \"launches\": [{{\"kernel\": \"test\", \"global\": [{items}], \"local\": [{local}], \
         \"args\": [{{\"buffer\": \"a\"}}, {{\"buffer\": \"b\"}}, {{\"buffer\": \"c\"}}, {{\"buffer\": \"out\"}}]}}]}}",
        out.1, out.0
    );
    launch(&text, &image, &files).remove("out").unwrap()
}

/// The kernel's parameters.
pub fn pointers(a: &str, b: &str, c: &str, out: &str) -> String {
    format!("global const {a} *a, global const {b} *b, global const {c} *c, global {out} *out")
}

/// An element of 64 bits.
pub fn long_at(array: &Array, k: usize) -> i64 {
    i64::from_le_bytes(array.data[8 * k..8 * k + 8].try_into().unwrap())
}

/// An element of an integer type.
pub fn integer_at(array: &Array, k: usize) -> i128 {
    let size = array.dtype.bytes();
    array.dtype.integer(&array.data[k * size..(k + 1) * size]).unwrap()
}

/// An element as a number.
pub fn float_at(array: &Array, k: usize) -> f64 {
    array.dtype.value(&array.data[k * array.dtype.bytes()..])
}

/// An integer type's bits and lowest and highest numbers.
pub fn limits(dtype: DType) -> (u32, i128, i128) {
    let bits = 8 * dtype.bytes() as u32;
    let signed = matches!(dtype, DType::Int8 | DType::Int16 | DType::Int32 | DType::Int64);
    if signed { (bits, -(1 << (bits - 1)), (1 << (bits - 1)) - 1) } else { (bits, 0, (1 << bits) - 1) }
}

/// Wrapped into the type.
pub fn wrap(dtype: DType, v: i128) -> i128 {
    let (bits, low, _) = limits(dtype);
    let v = v & ((1 << bits) - 1);
    if low < 0 && v >> (bits - 1) == 1 { v - (1 << bits) } else { v }
}

type IntegerHost = fn(DType, i128, i128, i128) -> i128;
fn clamped(t: DType, v: i128) -> i128 {
    v.clamp(limits(t).1, limits(t).2)
}
fn raw(t: DType, v: i128) -> i128 {
    v & ((1 << limits(t).0) - 1)
}
/// Calls of integer functions, with what they return.
pub const INTEGERS: [(&str, IntegerHost); 23] = [
    ("abs(x)", |_, x, _, _| x.abs()),
    ("abs_diff(x, y)", |_, x, y, _| (x - y).abs()),
    ("add_sat(x, y)", |t, x, y, _| clamped(t, x + y)),
    ("sub_sat(x, y)", |t, x, y, _| clamped(t, x - y)),
    ("hadd(x, y)", |_, x, y, _| (x + y) >> 1),
    ("rhadd(x, y)", |_, x, y, _| (x + y + 1) >> 1),
    ("clamp(x, min(y, z), max(y, z))", |_, x, y, z| x.clamp(y.min(z), y.max(z))),
    ("clz(x)", |t, x, _, _| i128::from(raw(t, x).leading_zeros()) - 128 + i128::from(limits(t).0)),
    ("ctz(x)", |t, x, _, _| i128::from(raw(t, x).trailing_zeros().min(limits(t).0))),
    ("popcount(x)", |t, x, _, _| i128::from(raw(t, x).count_ones())),
    ("mul_hi(x, y)", |t, x, y, _| (x * y) >> limits(t).0),
    ("mad_hi(x, y, z)", |t, x, y, z| wrap(t, ((x * y) >> limits(t).0) + z)),
    ("mad_sat(x, y, z)", |t, x, y, z| clamped(t, x.saturating_mul(y).saturating_add(z))),
    ("max(x, y)", |_, x, y, _| x.max(y)),
    ("min(x, y)", |_, x, y, _| x.min(y)),
    ("rotate(x, y)", |t, x, y, _| {
        let (bits, ..) = limits(t);
        let (v, n) = (raw(t, x), (raw(t, y) % i128::from(bits)) as u32);
        wrap(t, (v << n) | (v >> (bits - n)))
    }),
    ("bitselect(x, y, z)", |t, x, y, z| wrap(t, (x & !z) | (y & z))),
    ("bit_reverse(x)", |t, x, _, _| wrap(t, (raw(t, x) as u128).reverse_bits() as i128 >> (128 - limits(t).0))),
    ("bitfield_insert(x, y, OFFSET(z), COUNT(z))", |t, x, y, z| {
        let (offset, count) = field(t, z);
        let mask = ((1 << count) - 1) << offset;
        wrap(t, (raw(t, x) & !mask) | ((raw(t, y) << offset) & mask))
    }),
    ("bitfield_extract_unsigned(x, OFFSET(z), COUNT(z))", |t, x, _, z| {
        let (offset, count) = field(t, z);
        (raw(t, x) >> offset) & ((1 << count) - 1)
    }),
    ("bitfield_extract_signed(x, OFFSET(z), COUNT(z))", |t, x, _, z| {
        let (offset, count) = field(t, z);
        let value = (raw(t, x) >> offset) & ((1 << count) - 1);
        if count > 0 && value >> (count - 1) == 1 { value - (1 << count) } else { value }
    }),
    ("x / (y | 1)", |t, x, y, _| wrap(t, x / (y | 1))),
    ("x % (y | 1)", |t, x, y, _| wrap(t, x % (y | 1))),
];

/// The offset and the number of the bits of a field, as the macros of [`integers`] make them of a number: within the type, and of
/// all lengths from none to all bits.
fn field(t: DType, z: i128) -> (u32, u32) {
    let bits = limits(t).0;
    let offset = (z & 15) as u32 % bits;
    (offset, (z >> 4 & 63) as u32 % (bits - offset + 1))
}

/// The types of whose vectors of four there are dot products.
pub const DOT_PRODUCTS: [(&str, &str); 4] = [("char", "char"), ("uchar", "uchar"), ("uchar", "char"), ("char", "uchar")];

/// The functions that make dot products of two of these, with their arguments in terms of `x` and `y`, vectors, and `i`.
pub fn dot_products(a: &str, b: &str) -> [(String, &'static str); 4] {
    let letter = |t: &str| if t == "char" { 's' } else { 'u' };
    let result = if (a, b) == ("uchar", "uchar") { "uint" } else { "int" };
    let of = format!("{}{}_{result}", letter(a), letter(b));
    [
        ("dot".into(), "x, y"),
        ("dot_acc_sat".into(), "x, y, SUM"),
        (format!("dot_4x8packed_{of}"), "as_uint(x), as_uint(y)"),
        (format!("dot_acc_sat_4x8packed_{of}"), "as_uint(x), as_uint(y), SUM"),
    ]
}

#[test]
fn dot_products_of_bytes() {
    for (a, b) in DOT_PRODUCTS {
        let unsigned = (a, b) == ("uchar", "uchar");
        let result = if unsigned { "uint" } else { "int" };
        let of = |name: &str| if name == "char" { DType::Int8 } else { DType::UInt8 };
        let inputs = [data(of(a), 4 * ITEMS, 1), data(of(b), 4 * ITEMS, 2), data(DType::Int32, ITEMS, 3)];
        let mut body = format!("#define SUM ({result})c[i]\n  {a}4 x = vload4(i, a); {b}4 y = vload4(i, b);\n");
        for (k, (function, arguments)) in dot_products(a, b).iter().enumerate() {
            let _ = writeln!(body, "  out[i * 32 + {k}] = {function}({arguments});");
        }
        let out = run(&body, &pointers(a, b, "int", "long"), &inputs, (DType::Int64, 32 * ITEMS), ITEMS, 32);
        for i in 0..ITEMS {
            let product = |k: usize| integer_at(&inputs[0], 4 * i + k) * integer_at(&inputs[1], 4 * i + k);
            let dot: i128 = (0..4).map(product).sum();
            let t = if unsigned { DType::UInt32 } else { DType::Int32 };
            let sum = wrap(t, integer_at(&inputs[2], i));
            for (k, (function, _)) in dot_products(a, b).iter().enumerate() {
                let want = if function.contains("acc_sat") { clamped(t, dot + sum) } else { dot };
                assert_eq!(i128::from(long_at(&out, 32 * i + k)), want, "{function} of {a} and {b}, work-item {i}, sum {sum}");
            }
        }
    }
}

#[test]
fn integers() {
    for (name, dtype) in &TYPES[..8] {
        let inputs = [1, 2, 3].map(|seed| data(*dtype, ITEMS, seed));
        let mut body = format!(
            "#define OFFSET(z) (((uint)(z) & 15) % {bits})\n#define COUNT(z) (((uint)(z) >> 4 & 63) % ({bits} - OFFSET(z) + 1))\n  \
             {name} x = a[i], y = b[i], z = c[i];\n",
            bits = limits(*dtype).0
        );
        for (k, (call, _)) in INTEGERS.iter().enumerate() {
            // Operators work on int at least; functions return what they return.
            let cast = if call.starts_with('x') { format!("({name})(") } else { "(".into() };
            let call = format!("{call})");
            let _ = writeln!(body, "  out[i * 32 + {k}] = (long)({cast}{call});");
        }
        let narrow = dtype.bytes() < 8;
        if narrow {
            let _ = writeln!(body, "  out[i * 32 + 30] = (long)upsample(x, as_u{}(y));", name.trim_start_matches('u'));
        }
        let word = dtype.bytes() == 4;
        if word {
            // The low 24 bits, with a sign.
            let _ = writeln!(
                body,
                "  x = x << 8 >> 8; y = y << 8 >> 8;\n  out[i * 32 + 28] = (long)mul24(x, y);\n  out[i * 32 + 29] = (long)mad24(x, y, z);"
            );
        }
        let out = run(&body, &pointers(name, name, name, "long"), &inputs, (DType::Int64, 32 * ITEMS), ITEMS, 32);
        for i in 0..ITEMS {
            let [x, y, z] = [0, 1, 2].map(|k| integer_at(&inputs[k], i));
            let check = |k: usize, call: &str, want: i128| {
                assert_eq!(long_at(&out, 32 * i + k), want as i64, "{name}: {call} of {x}, {y}, {z}");
            };
            for (k, (call, host)) in INTEGERS.iter().enumerate() {
                check(k, call, host(*dtype, x, y, z));
            }
            if narrow {
                check(30, "upsample", (x << limits(*dtype).0) | raw(*dtype, y));
            }
            if word {
                let cut = |v: i128| if *name == "int" { (((v as i32) << 8) >> 8).into() } else { v & 0xff_ffff };
                check(28, "mul24", wrap(*dtype, cut(x) * cut(y)));
                check(29, "mad24", wrap(*dtype, cut(x) * cut(y) + z));
            }
        }
    }
}

/// A number of a source type, exactly.
#[derive(Clone, Copy, Debug)]
enum Number {
    Integer(i128),
    Float(f64),
}

impl Number {
    fn approximate(self) -> f64 {
        match self {
            Number::Integer(i) => i as f64,
            Number::Float(f) => f,
        }
    }

    /// The order of this number and a float.
    fn compare(self, f: f64) -> std::cmp::Ordering {
        match self {
            Number::Float(v) => v.partial_cmp(&f).unwrap(),
            Number::Integer(_) if f.is_infinite() => 0.0.partial_cmp(&f).unwrap(),
            // Floats beyond 128 bits do not occur next to integers of 64.
            Number::Integer(i) => i.cmp(&(f.trunc() as i128)).then(0.0.partial_cmp(&f.fract()).unwrap()),
        }
    }
}

/// A number as a float of some type.
pub fn encode(dtype: DType, f: f64) -> Vec<u8> {
    match dtype {
        DType::Float16 => half::f16::from_f64(f).to_le_bytes().to_vec(),
        DType::Float32 => (f as f32).to_le_bytes().to_vec(),
        _ => f.to_le_bytes().to_vec(),
    }
}

fn next(dtype: DType, f: f64, up: bool) -> f64 {
    match dtype {
        DType::Float64 => {
            if up {
                f.next_up()
            } else {
                f.next_down()
            }
        }
        DType::Float32 => f64::from(if up { (f as f32).next_up() } else { (f as f32).next_down() }),
        _ => {
            let bits = half::f16::from_f64(f).to_bits();
            let (negative, rest) = (bits >> 15 == 1, bits & 0x7fff);
            let bits = match rest {
                0 => {
                    if up {
                        1
                    } else {
                        0x8001
                    }
                }
                _ if negative != up => bits + 1,
                _ => bits - 1,
            };
            half::f16::from_bits(bits).to_f64()
        }
    }
}

/// Rounded to a float type: to nearest even, towards zero, up, down.
fn round_float(dtype: DType, v: Number, mode: &str) -> f64 {
    use std::cmp::Ordering::{Equal, Greater, Less};
    if v.approximate().is_nan() {
        return f64::NAN;
    }
    // Nearest: the double may be rounded itself, so neighbours are looked at.
    let near = match (dtype, v) {
        (DType::Float32, Number::Integer(i)) => f64::from(i as f32),
        _ => DType::value(dtype, &encode(dtype, v.approximate())),
    };
    let order = v.compare(near);
    let positive = v.compare(0.0) == Greater;
    match (mode, order) {
        ("_rtp", Greater) => next(dtype, near, true),
        ("_rtn", Less) => next(dtype, near, false),
        ("_rtz", Less) if positive => next(dtype, near, false),
        ("_rtz", Greater) if !positive => next(dtype, near, true),
        (_, Equal | Less | Greater) => near,
    }
}

fn round_integer(v: Number, mode: &str) -> i128 {
    match v {
        Number::Integer(i) => i,
        Number::Float(f) => match mode {
            "_rte" => f.round_ties_even() as i128,
            "_rtp" => f.ceil() as i128,
            "_rtn" => f.floor() as i128,
            _ => f as i128,
        },
    }
}

#[test]
fn conversions() {
    const MODES: [&str; 5] = ["", "_rte", "_rtz", "_rtp", "_rtn"];
    for (from, dtype) in &TYPES {
        let input = data(*dtype, ITEMS, 7);
        let inputs = [input.clone(), input.clone(), input.clone()];
        let mut body = String::new();
        let calls: Vec<(usize, bool, &str)> = (0..TYPES.len())
            .flat_map(|to| [false, true].into_iter().flat_map(move |sat| MODES.map(|m| (to, sat, m))))
            .filter(|(to, sat, _)| !(TYPES[*to].1.is_float() && *sat))
            .collect();
        for (k, (to, sat, mode)) in calls.iter().enumerate() {
            let (name, t) = TYPES[*to];
            let sat = if *sat { "_sat" } else { "" };
            let call = format!("convert_{name}{sat}{mode}(a[i])");
            let call = match t {
                DType::Float16 => format!("as_ushort({call})"),
                DType::Float32 => format!("as_uint({call})"),
                DType::Float64 => format!("as_long({call})"),
                _ => call,
            };
            let _ = writeln!(body, "  out[i * 128 + {k}] = (long){call};");
        }
        let out = run(&body, &pointers(from, from, from, "long"), &inputs, (DType::Int64, 128 * ITEMS), ITEMS, 32);
        for i in 0..ITEMS {
            let v = if dtype.is_float() { Number::Float(float_at(&input, i)) } else { Number::Integer(integer_at(&input, i)) };
            for (k, (to, sat, mode)) in calls.iter().enumerate() {
                let (name, t) = TYPES[*to];
                let got = long_at(&out, 128 * i + k);
                let what = format!("convert_{name}{}{mode} of {from} {v:?}", if *sat { "_sat" } else { "" });
                if t.is_float() {
                    let got = t.value(&got.to_le_bytes());
                    let want = round_float(t, v, mode);
                    let same = if want.is_nan() {
                        got.is_nan()
                    } else {
                        got == want && (want != 0.0 || got.is_sign_negative() == v.approximate().is_sign_negative())
                    };
                    assert!(same, "{what}: {got:e}, not {want:e}");
                    continue;
                }
                let (_, low, high) = limits(t);
                let nan = v.approximate().is_nan();
                let want = round_integer(v, mode);
                let fits = (low..=high).contains(&want) && !nan;
                if *sat {
                    assert_eq!(got, if nan { 0 } else { want.clamp(low, high) } as i64, "{what}");
                } else if fits || !dtype.is_float() {
                    // Out of a float's range the result is the implementation's; integers wrap.
                    assert_eq!(got, wrap(t, want) as i64, "{what}");
                }
            }
        }
    }
}

#[test]
fn half_loads_and_stores() {
    for (from, dtype) in &TYPES[9..] {
        for n in [1usize, 2, 3, 4, 8, 16] {
            let modes = ["", "_rte", "_rtz", "_rtp", "_rtn"];
            let input = data(*dtype, 32 * 16, 11 + n as u64);
            let width = if n == 1 { String::new() } else { n.to_string() };
            // An aligned vector of 3 takes the room of 4.
            let stride = if n == 3 { 4 } else { n };
            let load = if n == 1 { "a[i]".into() } else { format!("vload{n}(i, a)") };
            let mut body = format!("  {from}{width} v = {load};\n");
            for (k, mode) in modes.iter().enumerate() {
                let _ = writeln!(body, "  vstore_half{width}{mode}(v, i, out + {});", k * 1024);
                let _ = writeln!(body, "  vstorea_half{width}{mode}(v, i, out + {});", k * 1024 + 512);
            }
            // What has been stored is loaded and stored again, as it is.
            let _ = writeln!(body, "  vstore_half{width}(vload_half{width}(i, out), i, out + 5120);");
            let _ = writeln!(body, "  vstore_half{width}(vloada_half{width}(i, out + 512), i, out + 5632);");
            let inputs = [input.clone(), input.clone(), input.clone()];
            let out = run(&body, &pointers(from, from, from, "half"), &inputs, (DType::Float16, 6144), 32, 32);
            for i in 0..32 {
                for e in 0..n {
                    let v = Number::Float(float_at(&input, i * n + e));
                    for (k, mode) in modes.iter().chain(&[""]).enumerate() {
                        let want = round_float(DType::Float16, v, mode);
                        for (got, f) in [
                            (float_at(&out, k * 1024 + i * n + e), "vstore"),
                            (float_at(&out, k * 1024 + 512 + if k == 5 { i * n } else { i * stride } + e), "vstorea"),
                        ] {
                            let same =
                                want.to_bits() == got.to_bits() || (want.is_nan() && got.is_nan()) || (want == 0.0 && got == 0.0);
                            assert!(same, "{f}_half{width}{mode} of {from} {v:?}: {got:e}, not {want:e}");
                        }
                    }
                }
            }
        }
    }
}

/// What `vstoren` stores and `vloadn` loads are the elements of the array, whatever clang assumes of accesses of other types.
#[test]
fn vectors_alias_their_elements() {
    const N: usize = 16;
    for (name, dtype) in &TYPES {
        for n in [2usize, 3, 4, 8, 16] {
            let input = data(*dtype, N * n, 3 + n as u64);
            // Equal to i, which clang does not know, in arrays too long for registers: otherwise the places alone tell that the accesses
            // meet.
            let room = N * n;
            let mut body = format!("  size_t j = get_local_id(0);\n  {name} p[{room}], q[{room}];\n");
            let _ = writeln!(body, "  for (int e = 0; e < {room}; e++) p[e] = q[e] = a[0];");
            let _ = writeln!(body, "  vstore{n}(vload{n}(i, a), i, p);");
            for e in 0..n {
                let _ = writeln!(body, "  out[{n} * i + {e}] = p[{n} * j + {e}]; q[{n} * j + {e}] = a[{n} * i + {e}];");
            }
            let _ = writeln!(body, "  vstore{n}(vload{n}(i, q), i, out + {room});");
            let inputs = [input.clone(), input.clone(), input.clone()];
            let out = run(&body, &pointers(name, name, name, name), &inputs, (*dtype, 2 * N * n), N, N);
            assert!(out.data == [&*input.data, &*input.data].concat(), "{name}{n}");
        }
    }
}

#[test]
fn shuffles_and_selects() {
    for (name, dtype) in &TYPES {
        let size = dtype.bytes();
        let mask_type = ["uchar", "ushort", "uint", "ulong"][size.trailing_zeros() as usize];
        let mask_dtype = [DType::UInt8, DType::UInt16, DType::UInt32, DType::UInt64][size.trailing_zeros() as usize];
        let inputs = [data(*dtype, 32 * 16, 3), data(*dtype, 32 * 16, 4), data(mask_dtype, 32 * 16, 5)];
        let element = |array: &Array, k: usize| array.data[k * size..(k + 1) * size].to_vec();
        let mut body = String::new();
        type Expected<'a> = Box<dyn Fn(usize, usize) -> Vec<u8> + 'a>;
        let mut checks: Vec<(String, usize, Expected)> = Vec::new();
        let mask = |k: usize| integer_at(&inputs[2], k) as u64;
        for m in [2usize, 4, 8, 16] {
            for n in [2usize, 4, 8, 16] {
                let inputs = &inputs;
                for two in [false, true] {
                    let call = if two {
                        format!("shuffle2(vload{m}(i, a), vload{m}(i, b), vload{n}(i, c))")
                    } else {
                        format!("shuffle(vload{m}(i, a), vload{n}(i, c))")
                    };
                    let _ = writeln!(body, "  vstore{n}({call}, i, out + {});", 512 * checks.len());
                    checks.push((
                        call,
                        n,
                        Box::new(move |i, e| {
                            let k = mask(i * n + e) as usize % (m << usize::from(two));
                            if k < m { element(&inputs[0], i * m + k) } else { element(&inputs[1], i * m + k - m) }
                        }),
                    ));
                }
            }
        }
        for n in [1usize, 2, 3, 4, 8, 16] {
            let signed = mask_type.trim_start_matches('u');
            for c in [mask_type, signed] {
                let inputs = &inputs;
                let (w, load) = if n == 1 {
                    (String::new(), [0, 1, 2].map(|k| format!("{}[i]", ["a", "b", "c"][k])))
                } else {
                    (n.to_string(), ["a", "b", "c"].map(|p| format!("vload{n}(i, {p})")))
                };
                let call = format!("select({}, {}, as_{c}{w}({}))", load[0], load[1], load[2]);
                let store = |call: &str, at: usize| match n {
                    1 => format!("  out[i + {at}] = {call};\n"),
                    _ => format!("  vstore{n}({call}, i, out + {at});\n"),
                };
                if c == mask_type {
                    let call = format!("bitselect({}, {}, as_{name}{w}({}))", load[0], load[1], load[2]);
                    body += &store(&call, 512 * checks.len());
                    let want = move |i: usize, e: usize| -> Vec<u8> {
                        let [a, b, c] = [0, 1, 2].map(|k| element(&inputs[k], i * n + e));
                        a.iter().zip(b).zip(c).map(|((a, b), c)| (a & !c) | (b & c)).collect()
                    };
                    checks.push((call, n, Box::new(want)));
                }
                body += &store(&call, 512 * checks.len());
                checks.push((
                    call,
                    n,
                    Box::new(move |i, e| {
                        let k = i * n + e;
                        let v = mask(k);
                        let second = if n == 1 { v != 0 } else { v >> (8 * size - 1) & 1 == 1 };
                        element(&inputs[usize::from(second)], k)
                    }),
                ));
            }
        }
        let out = run(&body, &pointers(name, name, mask_type, name), &inputs, (*dtype, 512 * checks.len()), 32, 32);
        for (k, (call, n, want)) in checks.iter().enumerate() {
            for i in 0..32 {
                for e in 0..*n {
                    let got = element(&out, 512 * k + i * n + e);
                    assert_eq!(got, want(i, e), "{name}: {call}, work-item {i}, component {e}");
                }
            }
        }
    }
}

type Relation = fn(DType, f64, f64) -> bool;
/// Calls of relational functions, with what they return.
pub const RELATIONS: [(&str, Relation); 14] = [
    ("isequal(x, y)", |_, x, y| x == y),
    ("isnotequal(x, y)", |_, x, y| x != y),
    ("isgreater(x, y)", |_, x, y| x > y),
    ("isgreaterequal(x, y)", |_, x, y| x >= y),
    ("isless(x, y)", |_, x, y| x < y),
    ("islessequal(x, y)", |_, x, y| x <= y),
    // Not `x != y`, which holds for NaN.
    #[allow(clippy::double_comparisons)]
    ("islessgreater(x, y)", |_, x, y| x < y || x > y),
    ("isordered(x, y)", |_, x, y| !x.is_nan() && !y.is_nan()),
    ("isunordered(x, y)", |_, x, y| x.is_nan() || y.is_nan()),
    ("isfinite(x)", |_, x, _| x.is_finite()),
    ("isinf(x)", |_, x, _| x.is_infinite()),
    ("isnan(x)", |_, x, _| x.is_nan()),
    ("signbit(x)", |_, x, _| x.is_sign_negative()),
    ("isnormal(x)", |t, x, _| x.is_finite() && x.abs() >= dtype_smallest(t)),
];
type Common = fn(f64, f64, f64) -> f64;
/// Calls of common functions, with the largest relative or absolute error, or 0 for the same value (the specification's bounds are looser), and what they
/// return.
pub const COMMON: [(&str, f64, Common); 9] = [
    ("clamp(x, fmin(y, z), fmax(y, z))", 0.0, |x, y, z| x.max(y.min(z)).min(y.max(z))),
    ("max(x, y)", 0.0, |x, y, _| if x < y { y } else { x }),
    ("min(x, y)", 0.0, |x, y, _| if y < x { y } else { x }),
    ("step(x, y)", 0.0, |x, y, _| if y < x { 0.0 } else { 1.0 }),
    ("sign(x)", 0.0, |x, _, _| {
        if x > 0.0 {
            1.0
        } else if x < 0.0 {
            -1.0
        } else {
            x
        }
    }),
    ("degrees(x)", 2.0, |x, _, _| x.to_degrees()),
    ("radians(x)", 2.0, |x, _, _| x.to_radians()),
    ("mix(x, y, 0.25)", 8.0, |x, y, _| x + (y - x) * 0.25),
    ("smoothstep(0, 4, x)", 8.0, |x, _, _| {
        let t = (x / 4.0).clamp(0.0, 1.0);
        t * t * (3.0 - 2.0 * t)
    }),
];

#[test]
fn relations_and_common_functions() {
    for (name, dtype) in &TYPES[8..] {
        let inputs = [21, 22, 23].map(|seed| data(*dtype, ITEMS, seed));
        let mut body = format!("  {name} x = a[i], y = b[i], z = c[i];\n");
        for (k, (call, _)) in RELATIONS.iter().enumerate() {
            let _ = writeln!(body, "  out[i * 32 + {k}] = {call};");
        }
        for (k, (call, ..)) in COMMON.iter().enumerate() {
            let call = call.replace("0.25", &format!("({name})0.25")).replace("0, 4", &format!("({name})0, ({name})4"));
            let _ = writeln!(body, "  out[i * 32 + 16 + {k}] = {call};");
        }
        let out = run(&body, &pointers(name, name, name, "double"), &inputs, (DType::Float64, 32 * ITEMS), ITEMS, 32);
        let epsilon = [2f64.powi(-10), 2f64.powi(-23), 2f64.powi(-52)]
            [[DType::Float16, DType::Float32, DType::Float64].iter().position(|d| d == dtype).unwrap()];
        let largest = dtype.limits().1;
        for i in 0..ITEMS {
            let [x, y, z] = [0, 1, 2].map(|k| float_at(&inputs[k], i));
            for (k, (call, host)) in RELATIONS.iter().enumerate() {
                assert_eq!(float_at(&out, 32 * i + k) == 1.0, host(*dtype, x, y), "{name}: {call} of {x:e}, {y:e}");
            }
            for (k, (call, bound, host)) in COMMON.iter().enumerate() {
                if x.is_nan() || y.is_nan() || z.is_nan() || (*bound > 0.0 && (x.is_infinite() || y.is_infinite())) {
                    continue;
                }
                let (got, want) = (float_at(&out, 32 * i + 16 + k), host(x, y, z));
                let scale = if call.starts_with("mix") { x.abs().max(y.abs()) } else { want.abs() };
                let close = if *bound == 0.0 {
                    got == want
                } else {
                    (got - want).abs() <= bound * epsilon * scale.max(dtype_smallest(*dtype))
                };
                assert!(
                    close || want.abs() > largest / 2.0 || scale > largest / 2.0,
                    "{name}: {call} of {x:e}, {y:e}, {z:e}: {got:e}, not {want:e}"
                );
            }
        }
    }
}

/// The smallest normal number.
fn dtype_smallest(dtype: DType) -> f64 {
    match dtype {
        DType::Float16 => 2f64.powi(-14),
        DType::Float32 => f64::from(f32::MIN_POSITIVE),
        _ => f64::MIN_POSITIVE,
    }
}

#[test]
fn geometry_and_any_all() {
    for (name, dtype) in &TYPES[8..] {
        let mut random = Random(31);
        let number = |r: &mut Random| ((r.bits() >> 40) as i32 as f64 / 8388608.0 - 1.0) * 8.0;
        let bytes: Vec<Vec<u8>> =
            (0..2).map(|_| (0..32 * 4).flat_map(|_| encode(*dtype, number(&mut random))).collect()).collect();
        let [x, y] = [0, 1].map(|k: usize| Array { dtype: *dtype, shape: vec![128], data: bytes[k].clone() });
        let inputs = [x.clone(), y.clone(), y.clone()];
        let bound =
            [1e-2, 1e-5, 1e-13][[DType::Float16, DType::Float32, DType::Float64].iter().position(|d| d == dtype).unwrap()];
        for n in 1usize..=4 {
            let load = |p: &str| if n == 1 { format!("{p}[i]") } else { format!("vload{n}(i, {p})") };
            let store = |call: String, at: usize| {
                if n == 1 { format!("  out[i + {at}] = {call};\n") } else { format!("  vstore{n}({call}, i, out + {at});\n") }
            };
            let (u, v) = (load("a"), load("b"));
            let mut scalars = vec![format!("dot({u}, {v})"), format!("length({u})"), format!("distance({u}, {v})")];
            let mut vectors = vec![format!("normalize({u})")];
            if *name == "float" {
                scalars.extend([format!("fast_length({u})"), format!("fast_distance({u}, {v})")]);
                vectors.push(format!("fast_normalize({u})"));
            }
            if n >= 3 {
                vectors.push(format!("cross({u}, {v})"));
            }
            let mut body = String::new();
            for (k, call) in scalars.iter().enumerate() {
                let _ = writeln!(body, "  out[{k} * 32 + i] = {call};");
            }
            for (k, call) in vectors.iter().enumerate() {
                body += &store(call.clone(), 256 + 128 * k);
            }
            let out = run(&body, &pointers(name, name, name, name), &inputs, (*dtype, 1024), 32, 32);
            for i in 0..32 {
                let part = |array: &Array| -> Vec<f64> { (0..n).map(|e| float_at(array, i * n + e)).collect() };
                let (u, v) = (part(&x), part(&y));
                let dot = |u: &[f64], v: &[f64]| -> f64 { u.iter().zip(v).map(|(a, b)| a * b).sum() };
                let apart: Vec<f64> = u.iter().zip(&v).map(|(a, b)| a - b).collect();
                let (length, distance) = (dot(&u, &u).sqrt(), dot(&apart, &apart).sqrt());
                for (k, call) in scalars.iter().enumerate() {
                    let (want, size) = match call.split('(').next().unwrap() {
                        "dot" => (dot(&u, &v), length * dot(&v, &v).sqrt()),
                        "length" => (length, length),
                        "fast_length" => (length, 400.0 * length),
                        "distance" => (distance, distance + length),
                        _ => (distance, 400.0 * distance),
                    };
                    let got = float_at(&out, 32 * k + i);
                    assert!((got - want).abs() <= bound * size.max(0.1), "{name}: {call} of {u:?} {v:?}: {got}, not {want}");
                }
                for (k, call) in vectors.iter().enumerate() {
                    for e in 0..n {
                        let want = if call.starts_with("cross") {
                            if e == 3 { 0.0 } else { u[(e + 1) % 3] * v[(e + 2) % 3] - u[(e + 2) % 3] * v[(e + 1) % 3] }
                        } else {
                            u[e] / length
                        };
                        let size = if call.starts_with("cross") {
                            length * dot(&v, &v).sqrt()
                        } else if call.starts_with("fast") {
                            400.0
                        } else {
                            1.0
                        };
                        let got = float_at(&out, 256 + 128 * k + i * n + e);
                        assert!(
                            (got - want).abs() <= bound * size.max(0.1),
                            "{name}: {call} of {u:?} {v:?}, component {e}: {got}, not {want}"
                        );
                    }
                }
            }
        }
    }
    for (name, dtype) in [TYPES[0], TYPES[2], TYPES[4], TYPES[6]] {
        let input = data(dtype, 512, 17);
        let mut body = String::new();
        let widths = [1usize, 2, 3, 4, 8, 16];
        for (k, n) in widths.iter().enumerate() {
            let load = if *n == 1 { "a[i]".into() } else { format!("vload{n}(i, a)") };
            let _ = writeln!(body, "  out[{k} * 64 + i] = any({load});\n  out[{k} * 64 + 32 + i] = all({load});");
        }
        let out = run(
            &body,
            &pointers(name, name, name, "int"),
            &[input.clone(), input.clone(), input.clone()],
            (DType::Int32, 384),
            32,
            32,
        );
        for (k, n) in widths.iter().enumerate() {
            for i in 0..32 {
                let negative = |e: &usize| integer_at(&input, i * n + e) < 0;
                let (any, all) = ((0..*n).any(|e| negative(&e)), (0..*n).all(|e| negative(&e)));
                assert_eq!(integer_at(&out, 64 * k + i) != 0, any, "any({name}{n})");
                assert_eq!(integer_at(&out, 64 * k + 32 + i) != 0, all, "all({name}{n})");
            }
        }
    }
}
