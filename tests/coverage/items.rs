//! Values of functions about the work-item and its groups, of barriers, and of atomics that exchange values.

use std::fmt::Write;

use heddle::object::Image;
use heddle::runtime::array::{Array, DType};
use heddle::target::Machine;

use super::forms::SUB_GROUP_QUERIES;
use super::values::{TYPES, data, encode, float_at, integer_at, limits, pointers, run};
use super::{PRELUDE, compile, launch};

/// Runs kernel `test` with one buffer `out` of 64-bit integers over a range.
fn over_range(image: &Image, size: usize, global: [usize; 3], local: [usize; 3], offset: [usize; 3]) -> Array {
    let text = format!(
        "{{\"source\": \"none\", \"buffers\": {{\"out\": {{\"zeros\": [{size}], \"dtype\": \"int64\"}}}}, \"launches\": [{{\"kernel\": \"test\", \
         \"global\": {global:?}, \"local\": {local:?}, \"offset\": {offset:?}, \"args\": [{{\"buffer\": \"out\"}}]}}]}}"
    );
    launch(&text, image, &[]).remove("out").unwrap()
}

/// For each work-item in the order of global ids without the offset: what the functions of dimension `d` return, and those without a dimension.
#[test]
fn identifiers() {
    const OF_DIMENSION: [&str; 8] =
        ["global_size", "global_id", "local_size", "enqueued_local_size", "local_id", "num_groups", "group_id", "global_offset"];
    let plain_names: Vec<&str> =
        ["get_work_dim", "get_global_linear_id", "get_local_linear_id"].into_iter().chain(SUB_GROUP_QUERIES).collect();
    // Dimensions 0 to 2, and one that there is not.
    let row = 4 * OF_DIMENSION.len() + plain_names.len();
    let mut source = format!(
        "{PRELUDE}kernel void test(global long *out) {{\n  size_t at = 0, size = 1;\n  for (uint d = 0; d < 3; d++) {{ \
         at += (get_global_id(d) - get_global_offset(d)) * size; size *= get_global_size(d); }}\n  global long *o = out + at * {row};\n"
    );
    for (k, f) in OF_DIMENSION.iter().enumerate() {
        let _ = writeln!(source, "  for (uint d = 0; d < 4; d++) o[4 * {k} + d] = get_{f}(d);");
    }
    for (k, f) in plain_names.iter().enumerate() {
        let _ = writeln!(source, "  o[{}] = {f}();", 4 * OF_DIMENSION.len() + k);
    }
    source.push_str("}\n");
    let image = compile(&source);
    let warp = Machine::default_machine().warp_size as usize;
    // In the second range, the last groups are smaller.
    for (global, local, offset) in [([8, 6, 4], [4, 3, 2], [5, 0, 7]), ([70, 3, 2], [40, 2, 1], [1, 2, 3])] {
        let items: usize = global.iter().product();
        let out = over_range(&image, items * row, global, local, offset);
        for item in 0..items {
            let at = [item % global[0], item / global[0] % global[1], item / global[0] / global[1]];
            let [group, inside] = [[0, 1, 2].map(|d| at[d] / local[d]), [0, 1, 2].map(|d| at[d] % local[d])];
            let size = [0, 1, 2].map(|d| local[d].min(global[d] - group[d] * local[d]));
            let groups = [0, 1, 2].map(|d| global[d].div_ceil(local[d]));
            let of_dimension = |f: &str, d: usize| match f {
                "global_size" => global[d],
                "global_id" => at[d] + offset[d],
                "local_size" => size[d],
                "enqueued_local_size" => local[d],
                "local_id" => inside[d],
                "num_groups" => groups[d],
                "group_id" => group[d],
                _ => offset[d],
            };
            let linear = (inside[2] * size[1] + inside[1]) * size[0] + inside[0];
            let count: usize = size.iter().product();
            let plain = |f: &str| match f {
                "get_work_dim" => 3,
                "get_global_linear_id" => item,
                "get_local_linear_id" => linear,
                "get_sub_group_size" => warp.min(count - linear / warp * warp),
                "get_max_sub_group_size" => warp.min(local.iter().product()),
                "get_num_sub_groups" => count.div_ceil(warp),
                "get_enqueued_num_sub_groups" => local.iter().product::<usize>().div_ceil(warp),
                "get_sub_group_id" => linear / warp,
                _ => linear % warp,
            };
            for (k, f) in OF_DIMENSION.iter().enumerate() {
                for d in 0..4 {
                    let sizes = f.contains("size") || f.contains("num");
                    let want = if d < 3 { of_dimension(f, d) } else { usize::from(sizes) };
                    assert_eq!(integer_at(&out, item * row + 4 * k + d), want as i128, "get_{f}({d}) of work-item {at:?}");
                }
            }
            for (k, f) in plain_names.iter().enumerate() {
                let got = integer_at(&out, item * row + 4 * OF_DIMENSION.len() + k);
                assert_eq!(got, plain(f) as i128, "{f}() of work-item {at:?}");
            }
        }
    }
}

/// What a work-item reads behind a barrier is what another one has written before it, in local and in global memory.
#[test]
fn barriers() {
    let barriers = [
        "barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)",
        "work_group_barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)",
        "work_group_barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE, memory_scope_device)",
        "sub_group_barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)",
        "sub_group_barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE, memory_scope_sub_group)",
    ];
    const ITEMS: usize = 128;
    let mut body = String::from("  local int room[128];\n  int t = get_local_id(0);\n");
    for (k, barrier) in barriers.iter().enumerate() {
        // Within a sub-group only its own places.
        let other = if barrier.starts_with("sub") { "t ^ 21" } else { "127 - t" };
        let _ = writeln!(
            body,
            "  room[t] = a[i] + {k}; out[{k} * 256 + i] = a[i] - {k};\n  {barrier};\n  out[{k} * 256 + 128 + i] = room[{other}] + 3 * out[{k} * 256 + ({other})];\n  \
             barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);"
        );
    }
    let input = data(DType::Int32, ITEMS, 5);
    let inputs = [input.clone(), input.clone(), input.clone()];
    let out = run(&body, &pointers("int", "int", "int", "int"), &inputs, (DType::Int32, 256 * barriers.len()), ITEMS, ITEMS);
    for (k, barrier) in barriers.iter().enumerate() {
        for i in 0..ITEMS {
            let other = if barrier.starts_with("sub") { i ^ 21 } else { 127 - i };
            let v = integer_at(&input, other) as i32;
            let want = v.wrapping_add(k as i32).wrapping_add(v.wrapping_sub(k as i32).wrapping_mul(3));
            assert_eq!(integer_at(&out, 256 * k + 128 + i), want.into(), "{barrier}, work-item {i}");
        }
    }
}

/// The bits of an element.
fn bits(array: &Array, k: usize) -> Vec<u8> {
    let size = array.dtype.bytes();
    array.data[k * size..(k + 1) * size].to_vec()
}

/// Initialisation, stores, loads, exchanges and comparisons: of all atomic types, in global, local and generic memory, in all their forms.
#[test]
fn exchanges() {
    let types = [
        ("int", DType::Int32),
        ("uint", DType::UInt32),
        ("long", DType::Int64),
        ("ulong", DType::UInt64),
        ("float", DType::Float32),
        ("double", DType::Float64),
    ];
    const N: usize = 64;
    const CELLS: usize = 16;
    // One order, one order and scope; two orders, two orders and a scope.
    let orders = [
        ("", "", ""),
        ("_explicit", ", memory_order_seq_cst", ", memory_order_seq_cst, memory_order_relaxed"),
        (
            "_explicit",
            ", memory_order_relaxed, memory_scope_device",
            ", memory_order_acq_rel, memory_order_relaxed, memory_scope_work_group",
        ),
    ];
    for (name, dtype) in types {
        // Different values, none of them a NaN; element 0 is what is there before.
        let numbers: Vec<u8> = (0..N as u64)
            .flat_map(|k| match dtype {
                DType::Float32 => (k as f32 * 1.25 - 7.0).to_le_bytes().to_vec(),
                DType::Float64 => (k as f64 * 1e200 - 7.0).to_le_bytes().to_vec(),
                _ => (k.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 77).to_le_bytes()[..dtype.bytes()].to_vec(),
            })
            .collect();
        let input = Array { dtype, shape: vec![N as u64], data: numbers };
        for space in ["global", "local", "generic"] {
            let (memory, to) = if space == "global" { ("out", "global") } else { ("cells", "local") };
            let qualifier = if space == "generic" { "" } else { to };
            let p = |k: usize| format!("(volatile {qualifier} atomic_{name} *)(volatile {to} atomic_{name} *)({memory} + {k})");
            let barrier = "  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);\n";
            let mut body = format!("  local {name} cells[{CELLS}];\n  {name} e;\n");
            let mut results: Vec<(String, usize)> = Vec::new();
            let mut cell = 0;
            let old: Vec<&str> = if name == "float" && space != "generic" { vec!["atomic_xchg"] } else { vec![] };
            let c11 = orders.iter().map(|(suffix, order, _)| (format!("atomic_exchange{suffix}"), order.to_string()));
            let exchanges: Vec<(String, String)> = c11.chain(old.iter().map(|f| (f.to_string(), String::new()))).collect();
            // Stores by one work-item, seen by all.
            for (k, (suffix, order, _)) in orders.iter().enumerate() {
                let _ = writeln!(body, "  if (i == 0) atomic_init({}, a[0]);\n{barrier}", p(cell));
                let _ = writeln!(
                    body,
                    "  out[{} + i] = atomic_load{suffix}({}{order});\n{barrier}",
                    CELLS + N * results.len(),
                    p(cell)
                );
                results.push((format!("atomic_init, atomic_load{suffix}{order}"), 0));
                let _ = writeln!(body, "  if (i == 0) atomic_store{suffix}({}, a[{}]{order});\n{barrier}", p(cell), k + 1);
                let _ = writeln!(body, "  out[{} + i] = atomic_load({});\n{barrier}", CELLS + N * results.len(), p(cell));
                results.push((format!("atomic_store{suffix}{order}"), k + 1));
                cell += 1;
            }
            let stores = results.len();
            for (f, order) in &exchanges {
                let pointer = if f == "atomic_xchg" { format!("(volatile {to} {name} *)({memory} + {cell})") } else { p(cell) };
                let _ = writeln!(body, "  if (i == 0) atomic_init({}, a[0]);\n{barrier}", p(cell));
                let _ = writeln!(body, "  if (i > 0) out[{} + i] = {f}({pointer}, a[i]{order});", CELLS + N * results.len());
                results.push((format!("{f}{order}"), cell));
                cell += 1;
            }
            let exchanged = results.len();
            for strength in ["strong", "weak"] {
                for (suffix, _, order) in &orders {
                    let f = format!("atomic_compare_exchange_{strength}{suffix}");
                    let _ = writeln!(body, "  if (i == 0) atomic_init({}, a[0]);\n{barrier}  e = a[0];", p(cell));
                    // Only one finds the first value; what it leaves is a value of its own.
                    let _ = writeln!(
                        body,
                        "  if (i > 0) out[{} + i] = {f}({}, &e, a[i]{order});",
                        CELLS + N * results.len(),
                        p(cell)
                    );
                    results.push((format!("{f}{order}"), cell));
                    let _ = writeln!(body, "  out[{} + i] = e;", CELLS + N * results.len());
                    results.push((f, cell));
                    cell += 1;
                }
            }
            assert!(cell <= CELLS);
            let _ = writeln!(body, "{barrier}  if (i < {CELLS}) out[i] = {memory}[i];");
            let inputs = [input.clone(), input.clone(), input.clone()];
            let size = CELLS + N * results.len();
            let out = run(&body, &pointers(name, name, name, name), &inputs, (dtype, size), N, N);
            for (r, (what, k)) in results.iter().enumerate().take(stores) {
                for i in 0..N {
                    assert_eq!(bits(&out, CELLS + N * r + i), bits(&input, *k), "{name} {space} {what}, work-item {i}");
                }
            }
            for (r, (what, k)) in results.iter().enumerate().take(exchanged).skip(stores) {
                // Values go round: what was seen and what is left are what was there and what came.
                let mut seen: Vec<Vec<u8>> = (1..N).map(|i| bits(&out, CELLS + N * r + i)).chain([bits(&out, *k)]).collect();
                let mut came: Vec<Vec<u8>> = (0..N).map(|i| bits(&input, i)).collect();
                seen.sort();
                came.sort();
                assert_eq!(seen, came, "{name} {space} {what}");
            }
            for r in (exchanged..results.len()).step_by(2) {
                let (what, k) = &results[r];
                let value = |r: usize, i: usize| bits(&out, CELLS + N * r + i);
                let won: Vec<usize> = (1..N).filter(|i| value(r, *i).iter().any(|b| *b != 0)).collect();
                assert_eq!(won.len(), 1, "{name} {space} {what}: {won:?} have exchanged");
                assert_eq!(bits(&out, *k), bits(&input, won[0]), "{name} {space} {what}");
                for i in 1..N {
                    // Who has not exchanged has seen what the winner left.
                    let want = bits(&input, if i == won[0] { 0 } else { won[0] });
                    assert_eq!(value(r + 1, i), want, "{name} {space} {what}: expected value of work-item {i}");
                }
            }
        }
    }
}

#[test]
fn flags() {
    for space in ["global", "local", "generic"] {
        let (declaration, p) = match space {
            "global" => ("", "(volatile global atomic_flag *)(out + 1024)"),
            "local" => ("local int flag;", "(volatile local atomic_flag *)&flag"),
            _ => ("local int flag;", "(volatile atomic_flag *)(volatile local atomic_flag *)&flag"),
        };
        let barrier = "barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);";
        let orders = [
            ("", "", ""),
            ("_explicit", ", memory_order_seq_cst", ", memory_order_release"),
            ("_explicit", ", memory_order_acq_rel, memory_scope_device", ", memory_order_release, memory_scope_work_group"),
        ];
        let mut body = format!("  {declaration}\n  if (i == 0) atomic_flag_clear({p});\n");
        for (k, (suffix, set, clear)) in orders.iter().enumerate() {
            // Set once, seen set by all others, and again once it is clear.
            let _ =
                writeln!(body, "  {barrier}\n  out[{k} * 128 + i] = atomic_flag_test_and_set{suffix}({p}{set});\n  {barrier}");
            let _ = writeln!(body, "  if (i == 0) atomic_flag_clear{suffix}({p}{clear});\n  {barrier}");
            let _ = writeln!(
                body,
                "  out[{k} * 128 + 64 + i] = atomic_flag_test_and_set({p});\n  {barrier}\n  if (i == 0) atomic_flag_clear({p});"
            );
        }
        let input = data(DType::Int32, 64, 5);
        let inputs = [input.clone(), input.clone(), input];
        let out = run(&body, &pointers("int", "int", "int", "int"), &inputs, (DType::Int32, 1025), 64, 64);
        for set in 0..2 * orders.len() {
            let clear = (0..64).filter(|i| integer_at(&out, 64 * set + i) == 0).count();
            assert_eq!(clear, 1, "{space}: work-items that found the flag clear in round {set}");
            assert!((0..64).all(|i| matches!(integer_at(&out, 64 * set + i), 0 | 1)), "{space}: round {set}");
        }
    }
}

/// What is added to an `atomic_uintptr_t` is signed.
#[test]
fn distances() {
    const N: usize = 64;
    for space in ["global", "local", "generic"] {
        let (declaration, p) = match space {
            "global" => ("", "(volatile global atomic_uintptr_t *)(out + 256)"),
            "local" => ("local ulong n;", "(volatile local atomic_uintptr_t *)&n"),
            _ => ("local ulong n;", "(volatile atomic_uintptr_t *)(volatile local atomic_uintptr_t *)&n"),
        };
        let steps: [(&str, i128); 4] = [
            ("add({p}, (ptrdiff_t)-3)", -3),
            ("sub({p}, (ptrdiff_t)-7)", 7),
            ("add_explicit({p}, (ptrdiff_t)11, memory_order_relaxed)", 11),
            ("sub_explicit({p}, (ptrdiff_t)-2, memory_order_relaxed, memory_scope_device)", 2),
        ];
        let barrier = "barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);";
        let mut body = format!("  {declaration}\n  if (i == 0) atomic_init({p}, 1000ul);\n  {barrier}\n");
        for (k, (step, _)) in steps.iter().enumerate() {
            let _ = writeln!(body, "  out[{k} * {N} + i] = atomic_fetch_{};\n  {barrier}", step.replace("{p}", p));
        }
        let input = data(DType::Int32, N, 5);
        let inputs = [input.clone(), input.clone(), input];
        let out = run(&body, &pointers("int", "int", "int", "ulong"), &inputs, (DType::UInt64, 257), N, N);
        let mut first = 1000;
        for (k, (step, by)) in steps.iter().enumerate() {
            let mut seen: Vec<i128> = (0..N).map(|i| integer_at(&out, N * k + i)).collect();
            seen.sort_by_key(|n| n * by.signum());
            let want: Vec<i128> = (0..N as i128).map(|i| first + by * i).collect();
            assert_eq!(seen, want, "{space}: {step}");
            first += by * N as i128;
        }
    }
}

/// The extensions of sub-groups: values of other lanes, all types.
#[test]
fn lanes() {
    // Two groups of 40: the last sub-group is not full.
    const GROUP: usize = 40;
    const ITEMS: usize = 2 * GROUP;
    type Source = fn(usize, usize) -> usize;
    // From which lane a work-item of a lane gets its value, in a sub-group of so many.
    let moves: [(&str, Source); 10] = [
        ("broadcast(x, 5)", |_, _| 5),
        ("shuffle(x, (lane * 5 + 3) % get_sub_group_size())", |lane, size| (lane * 5 + 3) % size),
        ("shuffle_xor(x, 6)", |lane, _| lane ^ 6),
        ("shuffle_up(x, 3)", |lane, _| lane.wrapping_sub(3)),
        ("shuffle_down(x, 2)", |lane, _| lane + 2),
        ("rotate(x, 7)", |lane, _| (lane + 7) % 32),
        ("rotate(x, -7)", |lane, _| (lane + 25) % 32),
        ("clustered_rotate(x, 3, 4)", |lane, _| lane / 4 * 4 + (lane + 3) % 4),
        ("clustered_rotate(x, -5, 16)", |lane, _| lane / 16 * 16 + (lane + 11) % 16),
        ("clustered_rotate(x, 9, 1)", |lane, _| lane),
    ];
    for (name, dtype) in &TYPES {
        // Small whole numbers, whose sums every type holds.
        let values: Vec<i64> = (0..ITEMS as i64 * 16).map(|k| k * k % 11 % 4 - i64::from(!name.starts_with('u'))).collect();
        let size = dtype.bytes();
        let bytes = values
            .iter()
            .flat_map(|v| if dtype.is_float() { encode(*dtype, *v as f64) } else { v.to_le_bytes()[..size].to_vec() })
            .collect();
        let input = Array { dtype: *dtype, shape: vec![ITEMS as u64 * 16], data: bytes };
        let mut body = format!("  {name} x = a[i];\n  uint lane = get_sub_group_local_id();\n");
        for (k, (call, _)) in moves.iter().enumerate() {
            let _ = writeln!(body, "  out[{k} * {ITEMS} + i] = sub_group_{call};");
        }
        let kinds = ["reduce", "scan_inclusive", "scan_exclusive"];
        let combined: Vec<String> =
            ["add", "min", "max"].iter().flat_map(|op| kinds.map(|kind| format!("{kind}_{op}"))).collect();
        for (k, call) in combined.iter().enumerate() {
            let _ = writeln!(body, "  out[{} * {ITEMS} + i] = sub_group_{call}(x);", moves.len() + k);
        }
        let sets = moves.len() + combined.len();
        let widths = [2usize, 3, 4, 8, 16];
        for (k, n) in widths.iter().enumerate() {
            let _ = writeln!(body, "  vstore{n}(sub_group_broadcast(vload{n}(i, a), 2), i, out + {});", ITEMS * (sets + 16 * k));
        }
        let inputs = [input.clone(), input.clone(), input.clone()];
        let total = ITEMS * (sets + 16 * widths.len());
        let out = run(&body, &pointers(name, name, name, name), &inputs, (*dtype, total), ITEMS, GROUP);
        let at = |k: usize| if dtype.is_float() { float_at(&out, k) } else { integer_at(&out, k) as f64 };
        let (low, high) = if dtype.is_float() { (f64::NEG_INFINITY, f64::INFINITY) } else { limits_of(*dtype) };
        for i in 0..ITEMS {
            let lane = i % GROUP % 32;
            let (first, size) = (i - lane, if i % GROUP < 32 { 32 } else { GROUP - 32 });
            for (k, (call, source)) in moves.iter().enumerate() {
                let from = source(lane, size);
                if from < size {
                    assert_eq!(at(k * ITEMS + i), values[first + from] as f64, "{name}: sub_group_{call}, work-item {i}");
                }
            }
            for (k, call) in combined.iter().enumerate() {
                let end = match call.split('_').nth(1) {
                    Some("inclusive") => lane + 1,
                    Some("exclusive") => lane,
                    _ => size,
                };
                let taken = values[first..first + end].iter().map(|v| *v as f64);
                let want = match &call[call.len() - 3..] {
                    "add" => taken.sum(),
                    "min" => taken.fold(high, f64::min),
                    _ => taken.fold(low, f64::max),
                };
                assert_eq!(at((moves.len() + k) * ITEMS + i), want, "{name}: sub_group_{call}, work-item {i}");
            }
            for (k, n) in widths.iter().enumerate() {
                for e in 0..*n {
                    let got = at(ITEMS * (sets + 16 * k) + i * n + e);
                    assert_eq!(
                        got,
                        values[(first + 2) * n + e] as f64,
                        "{name}{n}: sub_group_broadcast, work-item {i}, component {e}"
                    );
                }
            }
        }
    }
}

/// The lowest and highest number of an integer type.
fn limits_of(dtype: DType) -> (f64, f64) {
    let (_, low, high) = limits(dtype);
    (low as f64, high as f64)
}
