//! Values of the sub-group functions that some of a sub-group's work-items may call: ballots, votes, and what combines values of those that take part.

use std::fmt::Write;

use heddle::runtime::array::{Array, DType};

use super::forms::{BALLOTS, BITWISE, NUMERIC};
use super::values::{TYPES, encode, float_at, integer_at, limits, pointers, run};

/// Two groups of 40: the last sub-group is not full.
const GROUP: usize = 40;
const ITEMS: usize = 2 * GROUP;
/// Work-items of a full sub-group.
const WARP: usize = 32;

/// A work-item's lane, and the first work-item and the size of its sub-group.
fn place(item: usize) -> (usize, usize, usize) {
    let lane = item % GROUP % WARP;
    (lane, item - lane, if item % GROUP < WARP { WARP } else { GROUP - WARP })
}

/// Whether a lane takes part: `lane % 3 != 1`.
fn takes_part(lane: usize) -> bool {
    lane % 3 != 1
}

/// What an operation on two numbers gives.
fn combine(op: &str, a: f64, b: f64) -> f64 {
    match op {
        "add" => a + b,
        "mul" => a * b,
        "min" => a.min(b),
        "max" => a.max(b),
        "and" => (a as i64 & b as i64) as f64,
        "or" => (a as i64 | b as i64) as f64,
        "xor" => (a as i64 ^ b as i64) as f64,
        "logical_and" => f64::from(a != 0.0 && b != 0.0),
        "logical_or" => f64::from(a != 0.0 || b != 0.0),
        _ => f64::from((a != 0.0) != (b != 0.0)),
    }
}

/// What an operation on no number gives.
fn identity(op: &str, dtype: DType) -> f64 {
    let (_, low, high) = if dtype.is_float() { (0, 0, 0) } else { limits(dtype) };
    let infinite = |all: f64, of_type: i128| if dtype.is_float() { all } else { of_type as f64 };
    match op {
        "mul" | "logical_and" => 1.0,
        "min" => infinite(f64::INFINITY, high),
        "max" => infinite(f64::NEG_INFINITY, low),
        "and" if low < 0 => -1.0,
        "and" => high as f64,
        _ => 0.0,
    }
}

#[test]
fn values_of_some_lanes() {
    for (name, dtype) in &TYPES {
        let mut ops: Vec<&str> = NUMERIC.to_vec();
        if !dtype.is_float() {
            ops.extend(BITWISE);
        }
        if *name == "int" {
            ops.extend(["logical_and", "logical_or", "logical_xor"]);
        }
        // Products of these stay small: what is not 1 or -1 is rare.
        let signed = !name.starts_with('u');
        let values: Vec<i64> = (0..ITEMS as i64)
            .map(|k| match k * k % 23 {
                0 | 3 => 2,
                13 => 0,
                n if n % 2 == 1 && signed => -1,
                _ => 1,
            })
            .collect();
        let size = dtype.bytes();
        let bytes = values
            .iter()
            .flat_map(|v| if dtype.is_float() { encode(*dtype, *v as f64) } else { v.to_le_bytes()[..size].to_vec() })
            .collect();
        let input = Array { dtype: *dtype, shape: vec![ITEMS as u64], data: bytes };
        let kinds = ["reduce", "scan_inclusive", "scan_exclusive", "clustered"];
        let calls: Vec<(&str, &str)> = ops.iter().flat_map(|op| kinds.map(|kind| (*op, kind))).collect();
        let mut body = format!("  {name} x = a[i];\n  uint lane = get_sub_group_local_id();\n  if (lane % 3 != 1) {{\n");
        let mut rows = 0;
        let mut row = |call: String| {
            let _ = writeln!(body, "  out[{rows} * {ITEMS} + i] = {call};");
            rows += 1;
        };
        row("sub_group_broadcast_first(x)".into());
        row("sub_group_non_uniform_broadcast(x, 5)".into());
        row("sub_group_non_uniform_all_equal(x)".into());
        row("sub_group_non_uniform_all_equal((T)(x * 0 + lane / 64))".replace('T', name));
        for (op, kind) in &calls {
            row(match *kind {
                "clustered" => format!("sub_group_clustered_reduce_{op}(x, 8)"),
                _ => format!("sub_group_non_uniform_{kind}_{op}(x)"),
            });
        }
        for n in [2, 3, 4, 8, 16] {
            row(format!("sub_group_non_uniform_broadcast(({name}{n})(x), 6).s{:x}", n - 1));
        }
        let total = ITEMS * rows;
        body.push_str("  }\n");
        let inputs = [input.clone(), input.clone(), input.clone()];
        let out = run(&body, &pointers(name, name, name, name), &inputs, (*dtype, total), ITEMS, GROUP);
        let at = |row: usize, i: usize| {
            let k = row * ITEMS + i;
            if dtype.is_float() { float_at(&out, k) } else { integer_at(&out, k) as f64 }
        };
        for i in (0..ITEMS).filter(|i| takes_part(place(*i).0)) {
            let (lane, first, size) = place(i);
            let number = |l: usize| values[first + l] as f64;
            let part: Vec<usize> = (0..size).filter(|l| takes_part(*l)).collect();
            assert_eq!(at(0, i), number(0), "{name}: sub_group_broadcast_first, work-item {i}");
            assert_eq!(at(1, i), number(5), "{name}: sub_group_non_uniform_broadcast, work-item {i}");
            let equal = part.iter().all(|l| number(*l) == number(0));
            assert_eq!(at(2, i), f64::from(equal), "{name}: sub_group_non_uniform_all_equal, work-item {i}");
            assert_eq!(at(3, i), 1.0, "{name}: sub_group_non_uniform_all_equal of one value, work-item {i}");
            for (k, (op, kind)) in calls.iter().enumerate() {
                let taken = part.iter().filter(|l| match *kind {
                    "scan_inclusive" => **l <= lane,
                    "scan_exclusive" => **l < lane,
                    "clustered" => **l / 8 == lane / 8,
                    _ => true,
                });
                let want = taken.fold(identity(op, *dtype), |a, l| combine(op, a, number(*l)));
                assert_eq!(at(4 + k, i), want, "{name}: {kind} {op}, work-item {i}");
            }
            for k in 0..5 {
                assert_eq!(
                    at(4 + calls.len() + k, i),
                    number(6),
                    "{name}: vectors of sub_group_non_uniform_broadcast, work-item {i}"
                );
            }
        }
    }
}

#[test]
fn ballots_and_votes() {
    // The first number of a work-item is one of four patterns, so that lanes differ.
    let patterns = [0x8421_1248u32, 0, u32::MAX, 0x0f0f_1234];
    let words: Vec<u32> = (0..ITEMS).map(|k| patterns[k % 4].rotate_left(k as u32)).collect();
    let input =
        Array { dtype: DType::UInt32, shape: vec![ITEMS as u64], data: words.iter().flat_map(|w| w.to_le_bytes()).collect() };
    let mut body =
        String::from("  uint4 x = (uint4)(a[i], 0, 0, 0);\n  uint lane = get_sub_group_local_id();\n  if (lane % 3 != 1) {\n");
    for (k, (f, arguments)) in BALLOTS.iter().enumerate() {
        let component = if f.ends_with("mask") || *f == "sub_group_ballot" { ".s0" } else { "" };
        let _ = writeln!(body, "  out[{k} * {ITEMS} + i] = {f}({arguments}){component};");
    }
    let votes = [
        "elect()",
        "non_uniform_all(x.s0 != 1)",
        "non_uniform_all(x.s0 & 1)",
        "non_uniform_any(x.s0 & 1)",
        "non_uniform_any(lane % 3 == 1)",
    ];
    for (k, vote) in votes.iter().enumerate() {
        let _ = writeln!(body, "  out[{} * {ITEMS} + i] = sub_group_{vote};", BALLOTS.len() + k);
    }
    body.push_str("  }\n");
    // All of the sub-group call these.
    let whole = ["all(x.s0 & 1)", "any(x.s0 & 1)", "all(x.s0 != 1)", "any(x.s0 == 1)"];
    let first_whole = BALLOTS.len() + votes.len();
    for (k, vote) in whole.iter().enumerate() {
        let _ = writeln!(body, "  out[{} * {ITEMS} + i] = sub_group_{vote};", first_whole + k);
    }
    let inputs = [input.clone(), input.clone(), input];
    let total = ITEMS * (first_whole + whole.len());
    let out = run(&body, &pointers("uint", "uint", "uint", "uint"), &inputs, (DType::UInt32, total), ITEMS, GROUP);
    let at = |row: usize, i: usize| integer_at(&out, row * ITEMS + i) as u32;
    for i in 0..ITEMS {
        let (lane, first, size) = place(i);
        let word = |l: usize| words[first + l];
        let part: Vec<usize> = (0..size).filter(|l| takes_part(*l)).collect();
        let all: Vec<usize> = (0..size).collect();
        let holds =
            |lanes: &[usize], f: &dyn Fn(u32) -> bool| (lanes.iter().all(|l| f(word(*l))), lanes.iter().any(|l| f(word(*l))));
        let odd = |w: u32| w & 1 == 1;
        let wants = [holds(&all, &odd).0, holds(&all, &odd).1, holds(&all, &|w| w != 1).0, holds(&all, &|w| w == 1).1];
        for (k, want) in wants.iter().enumerate() {
            assert_eq!(at(first_whole + k, i) != 0, *want, "sub_group_{}, work-item {i}", whole[k]);
        }
        if !takes_part(lane) {
            continue;
        }
        let x = word(lane);
        let below = (1u32 << lane) - 1;
        for (k, (f, _)) in BALLOTS.iter().enumerate() {
            let got = at(k, i);
            let want = match *f {
                "sub_group_ballot" => part.iter().filter(|l| odd(word(**l))).fold(0, |m, l| m | 1 << l),
                "sub_group_inverse_ballot" => x >> lane & 1,
                "sub_group_ballot_bit_extract" => x >> (i & 31) & 1,
                "sub_group_ballot_bit_count" => x.count_ones(),
                "sub_group_ballot_inclusive_scan" => (x & (below << 1 | 1)).count_ones(),
                "sub_group_ballot_exclusive_scan" => (x & below).count_ones(),
                // Nothing is said of no bits.
                "sub_group_ballot_find_lsb" if x != 0 => x.trailing_zeros(),
                "sub_group_ballot_find_msb" if x != 0 => 31 - x.leading_zeros(),
                "get_sub_group_eq_mask" => 1 << lane,
                "get_sub_group_ge_mask" => !below,
                "get_sub_group_gt_mask" => !(below << 1 | 1),
                "get_sub_group_le_mask" => below << 1 | 1,
                "get_sub_group_lt_mask" => below,
                _ => got,
            };
            assert_eq!(got, want, "{f}, work-item {i}");
        }
        let wants = [lane == 0, holds(&part, &|w| w != 1).0, holds(&part, &odd).0, holds(&part, &odd).1, false];
        for (k, want) in wants.iter().enumerate() {
            assert_eq!(at(BALLOTS.len() + k, i) != 0, *want, "sub_group_{}, work-item {i}", votes[k]);
        }
    }
}
