//! Values of functions of several work-items: atomics, work-group and sub-group functions, asynchronous copies.

use std::fmt::Write;

use heddle::runtime::array::Array;

use super::values::{Random, TYPES, data, encode, float_at, integer_at, limits, pointers, run, wrap};

#[test]
fn atomics() {
    type Host = fn(i128, i128) -> i128;
    let table: [(&str, Host); 8] = [
        ("add", |a, b| a + b),
        ("sub", |a, b| a - b),
        ("min", |a, b| a.min(b)),
        ("max", |a, b| a.max(b)),
        ("and", |a, b| a & b),
        ("or", |a, b| a | b),
        ("xor", |a, b| a ^ b),
        ("exchange", |_, b| b),
    ];
    for (name, dtype) in &TYPES[4..8] {
        let operands = data(*dtype, 64, 9);
        let inputs = [operands.clone(), operands.clone(), operands.clone()];
        for (space, old) in [("global", "atom"), ("local", "atom"), ("global", "atomic"), ("local", "atomic"), ("generic", "")] {
            if old == "atomic" && dtype.bytes() == 8 {
                continue;
            }
            let generic = space == "generic";
            let space = if generic { "local" } else { space };
            // Three sets: 1.2's functions or C11's with an order, C11's, C11's with order and scope.
            let mut calls = Vec::new();
            for (op, _) in &table {
                let short = if *op == "exchange" { "xchg" } else { op };
                let fetch = if *op == "exchange" { "atomic_exchange".to_string() } else { format!("atomic_fetch_{op}") };
                let p = if generic {
                    format!("(volatile atomic_{name} *)(volatile local atomic_{name} *)P")
                } else {
                    format!("(volatile SPACE atomic_{name} *)P")
                };
                calls.push(if generic {
                    format!("{fetch}_explicit({p}, a[i], memory_order_acq_rel)")
                } else {
                    format!("{old}_{short}(P, a[i])")
                });
                calls.push(format!("{fetch}({p}, a[i])"));
                calls.push(format!("{fetch}_explicit({p}, a[i], memory_order_relaxed, memory_scope_work_group)"));
            }
            // The functions of 1.2 have no generic pointers; what follows is tested with local ones again.
            let old = match (generic, dtype.bytes()) {
                (false, _) => old,
                (true, 8) => "atom",
                _ => "atomic",
            };
            let mut body = format!(
                "  local {name} cells[32];\n  if (i < 32) cells[i] = b[2];\n  if (i < 32) out[i] = b[2];\n  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);\n"
            );
            for (k, call) in calls.iter().enumerate() {
                let p = if space == "global" {
                    format!("(volatile global {name} *)(out + {k})")
                } else {
                    format!("(volatile local {name} *)(cells + {k})")
                };
                let _ = writeln!(
                    body,
                    "  out[64 + {k} * 64 + i] = {};",
                    call.replace("SPACE", space).replace('P', &format!("({p})"))
                );
            }
            // Counters, and compare-and-exchange: of 64 work-items that expect the first value, one wins.
            let p = if space == "global" { "out" } else { "cells" };
            let _ = writeln!(
                body,
                "  {old}_inc((volatile {space} {name} *)({p} + 24));\n  {old}_dec((volatile {space} {name} *)({p} + 25));"
            );
            let _ = writeln!(
                body,
                "  out[64 + 24 * 64 + i] = {old}_cmpxchg((volatile {space} {name} *)({p} + 26), b[2], ({name})(i + 1000));"
            );
            let _ = writeln!(
                body,
                "  {name} e = b[2];\n  out[64 + 25 * 64 + i] = atomic_compare_exchange_strong((volatile {space} atomic_{name} *)({p} + 27), &e, ({name})(i + 1000));\n  \
                 atomic_store((volatile {space} atomic_{name} *)({p} + 28), ({name})77);\n  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);"
            );
            let _ = writeln!(body, "  out[64 + 26 * 64 + i] = atomic_load((volatile {space} atomic_{name} *)({p} + 28));");
            let _ = writeln!(body, "  if (i < 32) out[i] = {p}[i];");
            let out = run(&body, &pointers(name, name, name, name), &inputs, (*dtype, 64 + 27 * 64), 64, 64);
            let start = integer_at(&operands, 2);
            for (k, call) in calls.iter().enumerate() {
                let host = table[k / 3].1;
                let mut waiting: Vec<(i128, i128)> =
                    (0..64).map(|i| (integer_at(&out, 64 + 64 * k + i), integer_at(&operands, i))).collect();
                if table[k / 3].0 == "exchange" {
                    // Values go round: what was seen and what is left are what was there and what came.
                    let mut out_values: Vec<i128> = waiting.iter().map(|w| w.0).chain([integer_at(&out, k)]).collect();
                    let mut in_values: Vec<i128> = waiting.iter().map(|w| w.1).chain([start]).collect();
                    out_values.sort_unstable();
                    in_values.sort_unstable();
                    assert_eq!(out_values, in_values, "{name} {space} {call}");
                    continue;
                }
                let mut now = start;
                // Some order of the work-items explains what each has seen.
                while !waiting.is_empty() {
                    let same = |w: &(i128, i128)| w.0 == now && wrap(*dtype, host(now, w.1)) == now;
                    let next = waiting.iter().position(same).or_else(|| waiting.iter().position(|w| w.0 == now));
                    let Some(next) = next else { panic!("{name} {space} {call}: nobody saw {now}") };
                    now = wrap(*dtype, host(now, waiting.swap_remove(next).1));
                }
                assert_eq!(integer_at(&out, k), now, "{name} {space} {call}");
            }
            assert_eq!(integer_at(&out, 24), wrap(*dtype, start + 64), "{name} {space} inc");
            assert_eq!(integer_at(&out, 25), wrap(*dtype, start - 64), "{name} {space} dec");
            for (set, cell) in [(24, 26), (25, 27)] {
                let seen: Vec<i128> = (0..64).map(|i| integer_at(&out, 64 + 64 * set + i)).collect();
                let won: Vec<usize> = (0..64).filter(|i| if set == 24 { seen[*i] == start } else { seen[*i] == 1 }).collect();
                assert_eq!(won.len(), 1, "{name} {space} compare and exchange: {seen:?}");
                assert_eq!(integer_at(&out, cell), wrap(*dtype, won[0] as i128 + 1000), "{name} {space} compare and exchange");
            }
            assert!((0..64).all(|i| integer_at(&out, 64 + 64 * 26 + i) == 77), "{name} {space} store and load");
        }
    }
}

#[test]
fn groups_and_copies() {
    // Work-groups of 40: the last sub-group is not full.
    const GROUP: usize = 40;
    for (name, dtype) in &TYPES[4..] {
        // Small whole numbers, so that sums are exact in any order.
        let mut random = Random(77);
        let values: Vec<i64> =
            (0..2 * GROUP).map(|_| (random.bits() % 41) as i64 - if name.starts_with('u') { 0 } else { 20 }).collect();
        let bytes = values
            .iter()
            .flat_map(|v| if dtype.is_float() { encode(*dtype, *v as f64) } else { v.to_le_bytes()[..dtype.bytes()].to_vec() })
            .collect();
        let input = Array { dtype: *dtype, shape: vec![2 * GROUP as u64], data: bytes };
        let inputs = [input.clone(), input.clone(), input.clone()];
        let mut calls = Vec::new();
        for scope in ["work_group", "sub_group"] {
            calls.push(format!("{scope}_broadcast(a[i], 5)"));
            for op in ["add", "min", "max"] {
                calls.extend(["reduce", "scan_inclusive", "scan_exclusive"].map(|kind| format!("{scope}_{kind}_{op}(a[i])")));
            }
            if *name == "int" {
                calls.extend(["all", "any"].map(|f| format!("{scope}_{f}(a[i] > -21 + (int)(get_group_id(0) * 41))")));
            }
        }
        let mut body = format!("  local {name} room[40], strided[40];\n");
        for (k, call) in calls.iter().enumerate() {
            let _ = writeln!(body, "  out[{k} * 80 + i] = {call};");
        }
        let n = calls.len();
        let _ = writeln!(
            body,
            "  size_t g = get_group_id(0) * 40;\n  event_t e = async_work_group_copy(room, a + g, 40, 0);\n  e = async_work_group_strided_copy(strided, a + g, 10, 4, e);\n  \
             wait_group_events(1, &e);\n  size_t t = get_local_id(0);\n  out[{n} * 80 + i] = room[39 - t];\n  if (t < 10) out[{n} * 80 + 80 + i] = strided[t];\n  \
             barrier(CLK_LOCAL_MEM_FENCE);\n  e = async_work_group_copy(out + {n} * 80 + 160 + g, room, 40, 0);\n  \
             e = async_work_group_strided_copy(out + {n} * 80 + 240 + g, room, 10, 4, e);\n  wait_group_events(1, &e);"
        );
        let out = run(&body, &pointers(name, name, name, name), &inputs, (*dtype, 80 * (n + 5)), 2 * GROUP, GROUP);
        let at = |k: usize| if dtype.is_float() { float_at(&out, k) } else { integer_at(&out, k) as f64 };
        let (low, high) = if dtype.is_float() {
            (f64::NEG_INFINITY, f64::INFINITY)
        } else {
            (limits(*dtype).1 as f64, limits(*dtype).2 as f64)
        };
        for (k, call) in calls.iter().enumerate() {
            for i in 0..2 * GROUP {
                let (group, item) = (i / GROUP, i % GROUP);
                let span = if call.starts_with("work") { 0..GROUP } else { item / 32 * 32..(item / 32 * 32 + 32).min(GROUP) };
                let value = |j: usize| values[group * GROUP + j] as f64;
                let want = if call.contains("broadcast") {
                    value(span.start + 5)
                } else if call.contains("_all") || call.contains("_any") {
                    let mut truths = span.map(|j| value(j) > -21.0 + group as f64 * 41.0);
                    f64::from(u8::from(if call.contains("_all") { truths.all(|t| t) } else { truths.any(|t| t) }))
                } else {
                    let end = if call.contains("inclusive") {
                        item + 1
                    } else if call.contains("exclusive") {
                        item
                    } else {
                        span.end
                    };
                    let taken = (span.start..end).map(value);
                    if call.contains("_add") {
                        taken.sum()
                    } else if call.contains("_min") {
                        taken.fold(high, f64::min)
                    } else {
                        taken.fold(low, f64::max)
                    }
                };
                assert_eq!(at(80 * k + i), want, "{name}: {call}, work-item {i}");
            }
        }
        for i in 0..2 * GROUP {
            let (group, item) = (i / GROUP * GROUP, i % GROUP);
            assert_eq!(at(80 * n + i), values[group + 39 - item] as f64, "{name}: async_work_group_copy to local, work-item {i}");
            assert_eq!(at(80 * n + 160 + i), values[i] as f64, "{name}: async_work_group_copy to global, work-item {i}");
            if item < 10 {
                assert_eq!(at(80 * n + 80 + i), values[group + 4 * item] as f64, "{name}: strided copy to local, work-item {i}");
            }
            if item % 4 == 0 {
                assert_eq!(
                    at(80 * n + 240 + i),
                    values[group + item / 4] as f64,
                    "{name}: strided copy to global, work-item {i}"
                );
            }
        }
    }
}
