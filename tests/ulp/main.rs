//! Every math function of OpenCL C against a reference: the greatest error in units in the last place, and the special values.
//!
//! Kernels run on the functional simulator. References are double precision for half and float ([`functions`]) and numbers of 240 bits made by
//! `generate.py` for double. The result is `docs/ULP.md`: the test fails if a function is beyond its bound or the page is stale
//! (`HEDDLE_BLESS=1` writes it). `exhaustive` (ignored by default) goes through all floats of functions of one argument.

mod functions;
mod inputs;

use std::fmt::Write;
use std::path::Path;

use functions::{Bound, FUNCTIONS, Function, Shape, Type, Value};
use heddle::driver::{self, CompileOptions, Emit};
use heddle::object::{Image, read};
use heddle::runtime::array::{Array, DType};
use heddle::runtime::case::Case;
use heddle::runtime::run::{Mode, Simulator, run_case};
use heddle::sim::Options;
use heddle::target::Machine;
use inputs::Input;

/// One call: arguments and what is known of its result.
#[derive(Clone, Copy)]
struct Sample {
    input: Input,
    value: Value,
    /// The rest of the first result, which `value` is rounded to double.
    rest: f64,
    /// What the reference may be wrong by, in units in the last place.
    slack: f64,
}

/// The worst result of a function.
#[derive(Clone, Debug, Default)]
struct Measured {
    /// Error in units in the last place; infinite for a wrong special value.
    error: f64,
    /// What went wrong or is worst.
    at: String,
    samples: usize,
}

/// Functions of which either zero is right when the arguments are zeros of both signs.
const ANY_ZERO: [&str; 5] = ["fmin", "fmax", "minmag", "maxmag", "native_divide"];

fn samples(function: &Function, ty: Type) -> Vec<Sample> {
    let exact = function.bound(ty) == Bound::Exact;
    // libm is right to one unit; the logarithm's error grows in rootn's reference.
    let slack = if function.name == "rootn" { 400.0 } else { 1.0 };
    let mut result: Vec<Sample> = inputs::of(function, ty)
        .into_iter()
        .map(|input| {
            let value = (function.reference)(ty, input.x[0], input.x[1], input.x[2], input.n);
            Sample { input, value, rest: 0.0, slack: if ty == Type::F64 && !exact { slack } else { 0.0 } }
        })
        .collect();
    let table = match function.name {
        "sincos" => "sin",
        "lgamma_r" => "lgamma",
        "powr" => "pow",
        name => name,
    };
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/ulp/f64/{table}.npy"));
    if ty == Type::F64 && !exact && path.is_file() {
        let array = Array::read(&path).unwrap();
        let numbers: Vec<f64> = array.data.chunks_exact(8).map(|b| f64::from_le_bytes(b.try_into().unwrap())).collect();
        for row in numbers.chunks_exact(array.shape[1] as usize) {
            let (x, [r, rest]) = row.split_at(row.len() - 2) else { unreachable!("split in front of the last two") };
            let mut input = Input::default();
            match function.shape {
                Shape::WithInteger => (input.x[0], input.n) = (x[0], x[1] as i32),
                _ => input.x[..x.len()].copy_from_slice(x),
            }
            let value = (function.reference)(ty, input.x[0], input.x[1], input.x[2], input.n);
            // Numbers of many bits have one zero only.
            let r = if *r == 0.0 && value.r == 0.0 { value.r } else { *r };
            result.push(Sample { input, value: Value { r, ..value }, rest: *rest, slack: 0.0 });
        }
    }
    result
}

/// The error of a result in units in the last place of the reference `value + rest`.
fn error(ty: Type, result: f64, value: f64, rest: f64, exact: bool) -> f64 {
    let (precision, low, high) = ty.parameters();
    if value.is_nan() || result.is_nan() {
        return if value.is_nan() && result.is_nan() { 0.0 } else { f64::INFINITY };
    }
    let rounded = ty.round(value);
    if exact {
        if ty.to_bits(result) == ty.to_bits(rounded) {
            return 0.0;
        }
    }
    if result == rounded && (value == 0.0 || rounded.is_infinite()) {
        return 0.0;
    }
    if result == value && rest == 0.0 {
        return 0.0;
    }
    if value.is_infinite()
        || (result.is_infinite() && rounded.is_finite() && value.abs() < ty.round(f64::MAX).min(f64::MAX) / 2.0)
    {
        return f64::INFINITY;
    }
    // Scaled, so that the number after the largest one is finite and the unit of a denormal is not zero.
    let scale = if value.abs() < 1.0 { 2f64.powi(60) } else { 0.25 };
    let beyond = libm::scalbn(scale, high + 1);
    let scaled = |v: f64| if v.is_infinite() { beyond.copysign(v) } else { v * scale };
    let exponent = libm::ilogb(if value == 0.0 { rest } else { value }).clamp(low, high);
    let unit = libm::scalbn(scale, (exponent - precision + 1).max(-1074));
    let error = ((scaled(result) - scaled(value)) - rest * scale).abs() / unit;
    if exact { error.max(0.501) } else { error }
}

const NAMES: [(&str, &str); 3] = [("half", "ushort"), ("float", "uint"), ("double", "ulong")];

fn source(functions: &[&Function], ty: Type) -> String {
    let (t, u) = NAMES[ty as usize];
    let mut text = format!("#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n#define T {t}\n#define U {u}\n#define as_U as_{u}\n");
    for f in functions {
        let _ = writeln!(
            text,
            "kernel void test_{}(global const T *X, global const T *Y, global const T *Z, global const int *N, global T *R, global T *S, global int *M) {{\n  \
             size_t i = get_global_id(0);\n  T x = X[i], y = Y[i], z = Z[i], r = 0, s = 0;\n  int n = N[i], m = 0;\n  {}\n  R[i] = r, S[i] = s, M[i] = m;\n}}",
            f.name, f.statement
        );
    }
    text
}

/// Compiles the functions' kernels.
fn compile(functions: &[&Function], ty: Type, folder: &Path, machine: &Machine) -> Image {
    let path = folder.join(format!("{}.cl", NAMES[ty as usize].0));
    std::fs::write(&path, source(functions, ty)).unwrap();
    let mut options = CompileOptions::default();
    if functions.iter().any(|f| f.strict) {
        options.frontend.clang_args = vec!["-cl-fp32-correctly-rounded-divide-sqrt".into()];
    }
    let object = driver::compile(&[path], Emit::Obj, &options, machine).unwrap().output;
    read::parse(&object).unwrap()
}

/// Runs a function's kernel on samples and finds the worst result.
fn run(function: &Function, ty: Type, samples: &[Sample], image: &Image, folder: &Path, machine: &Machine) -> Measured {
    let n = samples.len() as u64;
    let dtype = [DType::Float16, DType::Float32, DType::Float64][ty as usize];
    let write = |name: &str, dtype: DType, element: &dyn Fn(&Sample) -> Vec<u8>| {
        let data = samples.iter().flat_map(element).collect();
        Array { dtype, shape: vec![n], data }.write(&folder.join(name)).unwrap();
    };
    for (k, name) in ["x", "y", "z"].iter().enumerate() {
        write(name, dtype, &|s| ty.to_bits(s.input.x[k]).to_le_bytes()[..ty.bytes()].to_vec());
    }
    write("n", DType::Int32, &|s| s.input.n.to_le_bytes().to_vec());
    let buffers: Vec<String> = ["x", "y", "z", "n"].iter().map(|b| format!("\"{b}\": {{\"npy\": \"{b}\"}}")).collect();
    let results = ["r", "s"].map(|b| format!("\"{b}\": {{\"zeros\": [{n}], \"dtype\": \"{dtype}\"}}")).join(", ");
    let args = ["x", "y", "z", "n", "r", "s", "m"].map(|b| format!("{{\"buffer\": \"{b}\"}}")).join(", ");
    let text = format!(
        "{{\"source\": \"none\", \"buffers\": {{{}, {results}, \"m\": {{\"zeros\": [{n}], \"dtype\": \"int32\"}}}}, \"launches\": [{{\"kernel\": \"test_{}\", \"global\": [{n}], \"local\": [32], \"args\": [{args}]}}]}}",
        buffers.join(", "),
        function.name
    );
    let path = folder.join("case.json");
    std::fs::write(&path, text).unwrap();
    let case = Case::read(&path).unwrap();
    let simulator = Simulator { machine, mode: Mode::Functional, options: &Options::default() };
    let outcome = run_case(&case, image, &simulator, &mut ()).unwrap();
    let number = |buffer: &str, i: usize| dtype.value(&outcome.buffers[buffer].data[i * ty.bytes()..]);
    let mut worst = Measured { samples: samples.len(), error: -1.0, ..Default::default() };
    let lenient = function.name.starts_with("half_");
    let exact = function.bound(ty) == Bound::Exact;
    for (i, sample) in samples.iter().enumerate() {
        let m = DType::Int32.value(&outcome.buffers["m"].data[4 * i..]) as i32;
        let (r, s) = (number("r", i), number("s", i));
        let mut e: f64 = 0.0;
        if function.results[0] && !(lenient && sample.value.r.abs() < f64::from(f32::MIN_POSITIVE)) {
            e = (error(ty, r, sample.value.r, sample.rest, exact) - sample.slack).max(0.0);
        }
        if function.results[1] {
            let slack = if exact { 0.0 } else { sample.slack };
            e = e.max(error(ty, s, sample.value.s, 0.0, exact) - slack);
        }
        // A NaN's quotient, exponent and sign are not defined, but ilogb has nothing else.
        let defined = !sample.value.r.is_nan() || (sample.value.m == 0 && function.name == "remquo");
        if function.results[2] && m != sample.value.m && defined && !(function.name == "frexp" && sample.value.r.is_infinite()) {
            e = f64::INFINITY;
        }
        let turned = |result: f64, value: f64| {
            let rounded = ty.round(value);
            result == 0.0 && rounded == 0.0 && result.is_sign_negative() != rounded.is_sign_negative()
        };
        let zero = (function.results[0] && turned(r, sample.value.r)) || (function.results[1] && turned(s, sample.value.s));
        if zero && !lenient && !ANY_ZERO.contains(&function.name) {
            e = f64::INFINITY;
        }
        if e > worst.error {
            let count = match function.shape {
                Shape::One | Shape::WithInteger => 1,
                Shape::Two => 2,
                Shape::Three => 3,
            };
            let mut arguments: Vec<String> = sample.input.x[..count].iter().map(|x| format!("{x:e}")).collect();
            arguments.extend((function.shape == Shape::WithInteger).then(|| sample.input.n.to_string()));
            let mut at = format!("({})", arguments.join(", "));
            if e.is_infinite() {
                let _ = write!(
                    at,
                    " gives {r:e} {s:e} {m} instead of {:e} {:e} {}",
                    ty.round(sample.value.r),
                    sample.value.s,
                    sample.value.m
                );
            }
            worst.error = e;
            worst.at = at;
        }
    }
    worst.error = worst.error.max(0.0);
    worst
}

/// All functions of a type.
fn measure(ty: Type, wanted: &dyn Fn(&Function) -> bool) -> Vec<(&'static str, Measured)> {
    let machine = Machine::default_machine();
    let folder = tempfile::tempdir().unwrap();
    let mut result = Vec::new();
    for strict in [false, true] {
        let chosen: Vec<&Function> =
            FUNCTIONS.iter().filter(|f| f.bound(ty) != Bound::Absent && f.strict == strict && wanted(f)).collect();
        if chosen.is_empty() {
            continue;
        }
        let image = compile(&chosen, ty, folder.path(), &machine);
        for f in chosen {
            let samples = samples(f, ty);
            let samples: Vec<Sample> = samples.iter().copied().cycle().take(samples.len().next_multiple_of(32)).collect();
            result.push((f.name, run(f, ty, &samples, &image, folder.path(), &machine)));
        }
    }
    result
}

const INTRODUCTION: &str = "\
# Accuracy of the math functions

*Generated by `tests/ulp` (`HEDDLE_BLESS=1 cargo test --release --test ulp`); do not edit.*

The greatest error of each math function in units in the last place (ULP), measured on the functional simulator, and the bound of the OpenCL C 3.0
specification (full profile; cl_khr_fp16 for half). All numbers, denormal ones too, are held to the bounds: nothing is flushed to zero. \"exact\" means correctly
rounded, or exact by definition. A wrong special value (C99 Annex F, OpenCL C 7.5: infinities, NaN, poles) counts as
an infinite error.

- half: functions of one argument on all 65536 values.
- half and float are compared with double precision, double with numbers of 240 bits and more (`tests/ulp/generate.py`).
- `half_` functions: without denormals, trigonometric ones up to 2^16. `native_` functions: in a usual range only; the specification sets no bound.
- `divide_strict` and `sqrt_strict`: with `-cl-fp32-correctly-rounded-divide-sqrt`.
- `lgamma`: the specification sets no bound; errors are large next to the zeros of the function at negative arguments.
- Zeros have the sign that C99's Annex F and the specification's 7.5.1 want; the wrong one is a wrong special value. For minima and maxima of two zeros either
  is right.

| function | half: bound | worst | float: bound | worst | at | double: bound | worst | at |
|---|---|---|---|---|---|---|---|---|
";

fn bound_text(bound: Bound) -> String {
    match bound {
        Bound::Exact => "exact".into(),
        Bound::Ulp(u) => format!("{u}"),
        Bound::Free => "any".into(),
        Bound::Absent => String::new(),
    }
}

fn worst_text(bound: Bound, m: &Measured) -> String {
    match bound {
        Bound::Exact if m.error == 0.0 => "exact".into(),
        _ if m.error < 1000.0 => format!("{:.2}", m.error),
        _ => format!("{:.1e}", m.error),
    }
}

#[test]
fn within_bounds() {
    let only = std::env::var("HEDDLE_ULP").unwrap_or_default();
    let names: Vec<&str> = only.split(',').filter(|n| !n.is_empty()).collect();
    let wanted = |f: &Function| names.is_empty() || names.contains(&f.name);
    let types = [Type::F16, Type::F32, Type::F64];
    let all: Vec<Vec<(&str, Measured)>> = std::thread::scope(|scope| {
        let wanted = &wanted;
        let threads = types.map(|ty| scope.spawn(move || measure(ty, wanted)));
        threads.into_iter().map(|t| t.join().unwrap()).collect()
    });
    let mut page = String::from(INTRODUCTION);
    let mut beyond = String::new();
    for f in FUNCTIONS.iter().filter(|f| wanted(f)) {
        let _ = write!(page, "| `{}` ", f.name);
        for ty in types {
            let bound = f.bound(ty);
            let found = all[ty as usize].iter().find(|(name, _)| *name == f.name).map(|(_, m)| m);
            let Some(m) = found else {
                page.push_str(if ty == Type::F16 { "| | " } else { "| | | " });
                continue;
            };
            let _ = write!(page, "| {} | {} ", bound_text(bound), worst_text(bound, m));
            if ty != Type::F16 {
                let inside = m.error > 0.0;
                let _ = write!(page, "| {} ", if inside { &*m.at } else { "" });
            }
            let limit = match bound {
                Bound::Exact => 0.0,
                Bound::Ulp(u) => u,
                _ => f64::INFINITY,
            };
            if m.error > limit {
                let _ = writeln!(
                    beyond,
                    "{} {}: {} ulp, allowed {}: {}",
                    NAMES[ty as usize].0,
                    f.name,
                    m.error,
                    bound_text(bound),
                    m.at
                );
            }
        }
        page.push_str("|\n");
    }
    if !names.is_empty() {
        println!("{page}");
    }
    assert!(beyond.is_empty(), "beyond the bounds:\n{beyond}");
    if names.is_empty() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/ULP.md");
        if std::env::var_os("HEDDLE_BLESS").is_some() {
            std::fs::write(&path, &page).unwrap();
        }
        let there = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(there == page, "docs/ULP.md is stale: HEDDLE_BLESS=1 cargo test --release --test ulp");
    }
}

/// All floats of functions of one argument: `HEDDLE_ULP=sin,cos HEDDLE_ULP_STEP=1 cargo test --release --test ulp -- --ignored --nocapture`.
#[test]
#[ignore = "hours: all 2^32 floats"]
fn exhaustive() {
    let only = std::env::var("HEDDLE_ULP").unwrap_or_default();
    let names: Vec<&str> = only.split(',').filter(|n| !n.is_empty()).collect();
    let step: usize = std::env::var("HEDDLE_ULP_STEP").ok().and_then(|s| s.parse().ok()).unwrap_or(1).max(1);
    let machine = Machine::default_machine();
    let folder = tempfile::tempdir().unwrap();
    let ty = Type::F32;
    let chosen: Vec<&Function> = FUNCTIONS
        .iter()
        .filter(|f| f.shape == Shape::One && f.bound(ty) != Bound::Absent && !f.strict)
        .filter(|f| !f.name.contains('_') && (names.is_empty() || names.contains(&f.name)))
        .collect();
    let image = compile(&chosen, ty, folder.path(), &machine);
    let mut failed = false;
    for f in chosen {
        let mut worst = Measured { error: -1.0, ..Default::default() };
        let chunk = (1usize << 20) * step;
        for start in (0..1usize << 32).step_by(chunk) {
            let end = (start + chunk).min(1 << 32);
            let samples: Vec<Sample> = (start..end)
                .step_by(step)
                .map(|bits| {
                    let x = ty.number(bits as u64);
                    let input = Input { x: [x, 0.0, 0.0], n: 0 };
                    Sample { input, value: (f.reference)(ty, x, 0.0, 0.0, 0), rest: 0.0, slack: 0.0 }
                })
                .collect();
            let samples: Vec<Sample> = samples.iter().copied().cycle().take(samples.len().next_multiple_of(32)).collect();
            let m = run(f, ty, &samples, &image, folder.path(), &machine);
            worst.samples += m.samples;
            if m.error > worst.error {
                (worst.error, worst.at) = (m.error, m.at);
            }
        }
        let limit = match f.bound(ty) {
            Bound::Exact => 0.0,
            Bound::Ulp(u) => u,
            _ => f64::INFINITY,
        };
        failed |= worst.error > limit;
        println!(
            "{}: {} ulp (allowed {}) at {}, {} samples",
            f.name,
            worst.error,
            bound_text(f.bound(ty)),
            worst.at,
            worst.samples
        );
    }
    assert!(!failed, "a function is beyond its bound");
}
