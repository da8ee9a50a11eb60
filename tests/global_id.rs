//! Random index expressions in 32 and 64 bits with random flags, near the overflow boundaries: with addresses of global ids and without, the simulator stores the same bytes or
//! both fault (G8).

use std::fmt::Write as _;

use heddle::driver::{self, CompileOptions, Emit};
use heddle::object::read;
use heddle::runtime::case::Case;
use heddle::runtime::run::{Mode, Simulator, run_case};
use heddle::sim::Options;
use heddle::target::Machine;
use rand::prelude::*;
use rand_pcg::Pcg32;

/// A value of the kernel: its name, width, and what it is for work-item (0, 0) with the arguments used.
#[derive(Clone)]
struct Value {
    name: String,
    bits: u32,
    at_origin: i128,
}

fn wrap(v: i128, bits: u32) -> i128 {
    let m = 1i128 << bits;
    let r = v.rem_euclid(m);
    if r >= m / 2 { r - m } else { r }
}

/// LLVM IR of a kernel that stores each work-item's number at a random affine index.
fn kernel(seed: u64) -> String {
    let mut random = Pcg32::seed_from_u64(seed);
    let mut body = String::new();
    let mut values = vec![
        Value { name: "%x".into(), bits: 64, at_origin: 0 },
        Value { name: "%y".into(), bits: 64, at_origin: 0 },
        Value { name: "%w".into(), bits: 32, at_origin: 17 },
        Value { name: "%v".into(), bits: 64, at_origin: 0x1_0000_0005 },
        Value { name: "%group".into(), bits: 64, at_origin: 0 },
        Value { name: "%local".into(), bits: 64, at_origin: 0 },
    ];
    let constant = |random: &mut Pcg32, bits: u32| -> i128 {
        let edge = [0i128, 1 << 31, 1 << 32, (1 << 31) - 1, -(1i128 << 31), 1 << 16, -1, 4][random.random_range(0..8)];
        wrap(edge + random.random_range(-3..4), bits)
    };
    for n in 0..random.random_range(3..10) {
        let a = values[random.random_range(0..values.len())].clone();
        let name = format!("%t{n}");
        let flags = |random: &mut Pcg32| ["", " nsw", " nuw", " nsw nuw"][random.random_range(0..4)];
        let choice = random.random_range(0..10);
        let value = match choice {
            // With another value of the same width, or a constant.
            0..6 => {
                let others: Vec<Value> = values.iter().filter(|v| v.bits == a.bits).cloned().collect();
                let (text, b) = if random.random_bool(0.5) {
                    let c = constant(&mut random, a.bits);
                    (c.to_string(), c)
                } else {
                    let b = &others[random.random_range(0..others.len())];
                    (b.name.clone(), b.at_origin)
                };
                let (op, result) = match choice {
                    0..3 => ("add", a.at_origin + b),
                    3 => ("sub", a.at_origin - b),
                    // Products by small constants keep strides small.
                    _ => ("mul", 0),
                };
                if op == "mul" {
                    let c = i128::from(random.random_range(-3..4i32));
                    let _ = writeln!(body, "  {name} = mul{} i{} {}, {c}", flags(&mut random), a.bits, a.name);
                    Value { name, bits: a.bits, at_origin: wrap(a.at_origin * c, a.bits) }
                } else {
                    let _ = writeln!(body, "  {name} = {op}{} i{} {}, {text}", flags(&mut random), a.bits, a.name);
                    Value { name, bits: a.bits, at_origin: wrap(result, a.bits) }
                }
            }
            6 => {
                let n = random.random_range(0..3);
                let _ = writeln!(body, "  {name} = shl{} i{} {}, {n}", flags(&mut random), a.bits, a.name);
                Value { name, bits: a.bits, at_origin: wrap(a.at_origin << n, a.bits) }
            }
            7 if a.bits == 64 => {
                let to = if random.random_bool(0.8) { 32 } else { 16 };
                let _ = writeln!(body, "  {name} = trunc i64 {} to i{to}", a.name);
                Value { name, bits: to, at_origin: wrap(a.at_origin, to) }
            }
            8 if a.bits == 64 => {
                let _ = writeln!(body, "  {name}s = shl i64 {}, 32\n  {name} = ashr i64 {name}s, 32", a.name);
                Value { name, bits: 64, at_origin: wrap(a.at_origin, 32) }
            }
            _ if a.bits < 64 => {
                let signed = random.random_bool(0.5);
                let _ = writeln!(body, "  {name} = {}ext i{} {} to i64", if signed { "s" } else { "z" }, a.bits, a.name);
                let v = if signed { a.at_origin } else { a.at_origin.rem_euclid(1 << a.bits) };
                Value { name, bits: 64, at_origin: v }
            }
            _ => continue,
        };
        values.push(value);
    }
    let last = values.iter().rev().find(|v| v.bits == 64).unwrap().clone();
    // Work-item (0, 0) stores in the middle; others may run off either end, and what wraps runs far.
    let correction = wrap(2048 - last.at_origin, 64);
    format!(
        "declare i64 @_Z13get_global_idj(i32)\ndeclare i64 @_Z12get_group_idj(i32)\ndeclare i64 @_Z12get_local_idj(i32)\n\
         define spir_kernel void @k(ptr addrspace(1) %out, i32 %w, i64 %v) {{\n\
         \x20 %x = call i64 @_Z13get_global_idj(i32 0)\n  %y = call i64 @_Z13get_global_idj(i32 1)\n\
         \x20 %group = call i64 @_Z12get_group_idj(i32 0)\n  %local = call i64 @_Z12get_local_idj(i32 0)\n{body}\
         \x20 %index = add i64 {}, {correction}\n  %place = getelementptr i32, ptr addrspace(1) %out, i64 %index\n\
         \x20 %x32 = trunc i64 %x to i32\n  %y32 = trunc i64 %y to i32\n  %yy = mul i32 %y32, 100\n  %id = add i32 %x32, %yy\n\
         \x20 store i32 %id, ptr addrspace(1) %place\n  ret void\n}}\n",
        last.name
    )
}

#[test]
fn random_affine_indices() {
    let count = std::env::var("HEDDLE_NIGHTLY").ok().and_then(|n| n.parse().ok()).unwrap_or(400u64);
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("k.ll");
    let case_path = folder.path().join("case.json");
    std::fs::write(
        &case_path,
        r#"{"source": "k.ll", "buffers": {"out": {"zeros": [4096], "dtype": "int32"}},
            "launches": [{"kernel": "k", "global": [23, 3], "local": [8, 2], "args": [{"buffer": "out"}, {"i32": 17}, {"i64": 4294967301}]}]}"#,
    )
    .unwrap();
    let case = Case::read(&case_path).unwrap();
    let machine = Machine::default_machine();
    let (mut rewritten, mut stored) = (0, 0);
    for seed in 0..count {
        let text = kernel(seed);
        std::fs::write(&source, &text).unwrap();
        let results: Vec<Result<Vec<u8>, String>> = [true, false]
            .into_iter()
            .map(|global_id| {
                let mut options = CompileOptions::default();
                options.codegen.verify = true;
                options.select.global_id = global_id;
                let object = driver::compile(std::slice::from_ref(&source), Emit::Obj, &options, &machine)
                    .unwrap_or_else(|e| panic!("seed {seed}: {e}\n{text}"));
                let image = read::parse(&object.output).unwrap();
                rewritten += usize::from(!image.metadata.kernels[0].surfaces.is_empty());
                // One work-item after the other, so that of several that store to one place the last wins in both.
                let options = Options { threads: 1, ..Default::default() };
                let simulator = Simulator { machine: &machine, mode: Mode::Functional, options: &options };
                let outcome = run_case(&case, &image, &simulator, &mut ());
                outcome.map(|o| o.buffers["out"].data.clone()).map_err(|e| e.to_string())
            })
            .collect();
        match (&results[0], &results[1]) {
            (Ok(a), Ok(b)) => {
                assert!(a == b, "seed {seed}: different bytes\n{text}");
                stored += 1;
            }
            (Err(_), Err(_)) => {}
            other => panic!("seed {seed}: {:?}\n{text}", other.0.as_ref().err().or(other.1.as_ref().err())),
        }
    }
    // The test is worth nothing if hardly anything is rewritten or in bounds.
    assert!(rewritten as u64 * 3 > count && stored * 4 > count, "{rewritten} rewritten and {stored} in bounds of {count}");
}
