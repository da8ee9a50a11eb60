//! `bench cache`: the hints' policies against `.ca` everywhere and `.cg` everywhere, over all
//! workloads and four sizes of data L1 (K1–K8).

use std::collections::BTreeMap;

use anyhow::Result;
use serde_json::Value;

use super::kernels::{energy, number};
use super::report::{Report, Table};
use super::{Setup, geomean, largest};

/// Sizes of an SM's data L1, KiB.
const SIZES: [u32; 4] = [16, 32, 64, 128];
const POLICIES: [&str; 3] = ["analysis", "ca", "cg"];
/// Kernels that mix streams with data that is used again.
const MIXED: [&str; 7] = ["matvec", "row_dot", "kmeans_assign", "conv_stream", "gather_table", "table_rows", "spmv_ell"];
/// Kernels whose resident warps come back to more lines than a data L1 of the default size holds: rows per lane.
const THRASHING: [&str; 8] =
    ["atax", "gemv_four_rows", "gemv_rows", "gesummv_rows", "kmeans_rows", "rank_k_rows", "spmv_long_rows", "syr2k"];
/// Kernels that touch everything once.
const STREAMING: [&str; 3] = ["saxpy", "vectoradd_pitch", "black_scholes"];
/// A quarter of the default machine, which the workloads fill.
const QUARTER: [&str; 4] = ["sm.count=2", "memory.l2.bytes=524288", "memory.l2.slices=2", "memory.dram.channels=2"];
/// Caches in which everything that was read once stays: their DRAM traffic is compulsory.
const ENDLESS: [&str; 3] = ["memory.l2.bytes=67108864", "memory.data.bytes=16777216", "memory.uniform.bytes=16777216"];

/// A workload's statistics by point: `SIZE.POLICY`, and `compulsory`.
type Points<'a> = BTreeMap<&'a str, Value>;

/// Runs the benchmark.
pub fn run(setup: &Setup, report: &mut Report) -> Result<()> {
    let mut runs = Vec::new();
    for (name, case) in setup.workloads()? {
        let quarter = |more: &[String]| -> Vec<String> {
            let machine = QUARTER.iter().map(|e| format!("--set={e}"));
            more.iter().cloned().chain(machine).collect()
        };
        for size in SIZES {
            for policy in POLICIES {
                let options = quarter(&[format!("--cache-hints={policy}"), format!("--set=memory.data.bytes={}", size * 1024)]);
                runs.push((name.clone(), format!("{size}.{policy}"), case.clone(), options));
            }
        }
        if STREAMING.contains(&name.as_str()) {
            let mut options = quarter(&["--cache-hints=analysis".to_string()]);
            options.extend(ENDLESS.map(|e| format!("--set={e}")));
            runs.push((name.clone(), "compulsory".into(), case.clone(), options));
        }
    }
    let results = setup.in_parallel(&runs, |(_, _, case, options)| setup.simulate(case, options))?;
    let mut all: BTreeMap<&str, Points<'_>> = BTreeMap::new();
    for ((name, point, ..), result) in runs.iter().zip(results) {
        all.entry(name).or_default().insert(point, result);
    }
    let table_of = |kernels: &str| {
        let sizes = SIZES.map(|s| format!("{s} KiB"));
        let rates = ["data L1 hits, %", "L2 hits, %", "DRAM, KiB"].map(String::from);
        Table::new([kernels.to_string()].into_iter().chain(sizes).chain(rates))
    };
    let (mut thrashing, mut table) = (table_of("thrashing kernel"), table_of("other kernel"));
    for (name, points) in &all {
        let row = measures(name, points);
        let of = if THRASHING.contains(name) { &mut thrashing } else { &mut table };
        of.row(shown(name, &row));
        report.kernels.insert((*name).to_string(), row);
    }
    // The small form has one kernel.
    report.tables.extend([thrashing, table].into_iter().filter(|t| !t.is_empty()));
    let column = |name: &str| -> Vec<f64> {
        let of = |row: &BTreeMap<String, f64>| -> Vec<f64> {
            row.iter().filter(|(key, _)| key.as_str() == name || key.ends_with(&format!(".{name}"))).map(|(_, v)| *v).collect()
        };
        report.kernels.values().flat_map(of).collect()
    };
    let over_best = |chosen: &dyn Fn(&str) -> bool| -> Vec<f64> {
        (report.kernels.iter().filter(|(name, _)| chosen(name.as_str())))
            .flat_map(|(_, row)| SIZES.map(|s| row[&format!("{s}.cycles_over_best")]))
            .collect()
    };
    let of_mixed = over_best(&|name| MIXED.contains(&name));
    let of_thrashing = over_best(&|name| THRASHING.contains(&name));
    let of_others = over_best(&|name| !THRASHING.contains(&name));
    let ratios = column("cycles_over_best");
    let figures = [
        ("cycles_saved.geomean_thrashing", 1.0 - geomean(&of_thrashing)),
        ("cycles_ratio.max_thrashing", largest(&of_thrashing)),
        ("cycles_ratio.max_others", largest(&of_others)),
        ("cycles_saved.geomean_mixed", 1.0 - geomean(&of_mixed)),
        ("cycles_saved.geomean_mixed_over_ca", 1.0 - geomean(&column("cycles_over_ca"))),
        ("cycles_saved.geomean_mixed_over_cg", 1.0 - geomean(&column("cycles_over_cg"))),
        ("cycles_ratio.geomean", geomean(&ratios)),
        ("energy_ratio.geomean", geomean(&column("energy_over_best"))),
        ("dram_over_compulsory.streaming", geomean(&column("dram_over_compulsory"))),
    ];
    figures.into_iter().for_each(|(name, value)| report.figure(name, value));
    report.figures_table();
    Ok(())
}

/// What is said about one workload.
fn measures(name: &str, points: &Points<'_>) -> BTreeMap<String, f64> {
    let nothing = Value::Null;
    let point = |name: &str| points.get(name).unwrap_or(&nothing);
    let mut row = BTreeMap::new();
    for size in SIZES {
        let [hints, ca, cg] = POLICIES.map(|p| number(point(&format!("{size}.{p}")), "timing.cycles"));
        row.insert(format!("{size}.cycles_over_best"), hints / ca.min(cg));
        if MIXED.contains(&name) {
            row.insert(format!("{size}.cycles_over_ca"), hints / ca);
            row.insert(format!("{size}.cycles_over_cg"), hints / cg);
        }
        let [hints, ca, cg] = POLICIES.map(|p| energy(point(&format!("{size}.{p}"))));
        row.insert(format!("{size}.energy_over_best"), hints / ca.min(cg));
    }
    for policy in POLICIES {
        let v = point(&format!("64.{policy}"));
        let h = |path: &str| number(v, &format!("timing.hierarchy.{path}"));
        let found = |level: &str| {
            let reads = h(&format!("{level}.reads"));
            (reads - h(&format!("{level}.misses")) - h(&format!("{level}.bypassed"))).max(0.0) / reads.max(1.0)
        };
        row.insert(format!("64.{policy}.l1_hit_rate"), found("data"));
        row.insert(format!("64.{policy}.l2_hit_rate"), found("l2"));
        row.insert(format!("64.{policy}.l2_to_l1_kib"), h("l2_to_l1_bytes") / 1024.0);
        row.insert(format!("64.{policy}.dram_kib"), dram(v) / 1024.0);
    }
    if STREAMING.contains(&name) {
        row.insert("dram_over_compulsory".into(), dram(point("64.analysis")) / dram(point("compulsory")).max(1.0));
    }
    row
}

/// Bytes to and from DRAM.
fn dram(v: &Value) -> f64 {
    number(v, "timing.hierarchy.dram_read_bytes") + number(v, "timing.hierarchy.dram_written_bytes")
}

/// The table's row of a workload.
fn shown(name: &str, row: &BTreeMap<String, f64>) -> Vec<String> {
    let three = |what: &str, times: f64| {
        let values = POLICIES.map(|p| format!("{:.0}", times * row[&format!("64.{p}.{what}")]));
        values.join(" / ")
    };
    let mut cells = vec![format!("`{name}`")];
    cells.extend(SIZES.map(|s| format!("{:.3}", row[&format!("{s}.cycles_over_best")])));
    cells.extend([three("l1_hit_rate", 100.0), three("l2_hit_rate", 100.0), three("dram_kib", 1.0)]);
    cells
}
