//! `bench cache`: the hints' policies against `.ca` everywhere and `.cg` everywhere, over all workloads and four sizes of data L1 (K1–K8).

use std::collections::BTreeMap;

use anyhow::Result;
use serde_json::Value;

use super::{Report, geomean, in_parallel, number, simulate, workloads};

/// Sizes of an SM's data L1, KiB.
const SIZES: [u32; 4] = [16, 32, 64, 128];
const POLICIES: [&str; 3] = ["analysis", "ca", "cg"];
/// Kernels that mix streams with data that is used again.
const MIXED: [&str; 7] = ["matvec", "row_dot", "kmeans_assign", "conv_stream", "gather_table", "table_rows", "spmv_ell"];
/// Kernels that touch everything once.
const STREAMING: [&str; 3] = ["saxpy", "vectoradd_pitch", "black_scholes"];
/// A quarter of the default machine, which the workloads fill.
const QUARTER: [&str; 4] = ["sm.count=2", "memory.l2.bytes=524288", "memory.l2.slices=2", "memory.dram.channels=2"];
/// Caches in which everything that was read once stays: their DRAM traffic is compulsory.
const ENDLESS: [&str; 3] = ["memory.l2.bytes=67108864", "memory.data.bytes=16777216", "memory.uniform.bytes=16777216"];

/// Runs the benchmark.
pub fn run(report: &mut Report) -> Result<()> {
    let heddle = crate::shell::build()?;
    let mut points = Vec::new();
    for (name, case) in workloads()? {
        for size in SIZES {
            for policy in POLICIES {
                let mut options = vec![format!("--cache-hints={policy}"), format!("--set=memory.data.bytes={}", size * 1024)];
                options.extend(QUARTER.map(|e| format!("--set={e}")));
                points.push((name.clone(), format!("{size}.{policy}"), case.clone(), options));
            }
        }
        if STREAMING.contains(&name.as_str()) {
            let mut options = vec!["--cache-hints=analysis".to_string()];
            options.extend(QUARTER.map(|e| format!("--set={e}")));
            options.extend(ENDLESS.map(|e| format!("--set={e}")));
            points.push((name.clone(), "compulsory".into(), case.clone(), options));
        }
    }
    let results = in_parallel(&points, |(_, _, case, options)| simulate(&heddle, case, options))?;
    let mut table: BTreeMap<&str, BTreeMap<&str, Value>> = BTreeMap::new();
    for ((name, point, ..), result) in points.iter().zip(results) {
        table.entry(name).or_default().insert(point, result);
    }
    let (mut all, mut mixed, mut streams, mut energies) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let (mut over_ca, mut over_cg) = (Vec::new(), Vec::new());
    for (name, points) in &table {
        let mut row = BTreeMap::new();
        let value = |point: String, path: &str| points.get(point.as_str()).map_or(0.0, |v| number(v, path));
        for size in SIZES {
            let cycles = |policy: &str| value(format!("{size}.{policy}"), "timing.cycles");
            let energy = |policy: &str| {
                let total = points.get(format!("{size}.{policy}").as_str()).and_then(|v| v["energy_pj"].as_object());
                total.map_or(0.0, |t| t.values().filter_map(Value::as_f64).sum::<f64>())
            };
            let (hints, ca, cg) = (cycles("analysis"), cycles("ca"), cycles("cg"));
            let ratio = hints / ca.min(cg);
            row.insert(format!("{size}.cycles_over_best"), ratio);
            all.push(ratio);
            energies.push(energy("analysis") / energy("ca").min(energy("cg")));
            if MIXED.contains(name) {
                mixed.push(ratio);
                over_ca.push(hints / ca);
                over_cg.push(hints / cg);
                row.insert(format!("{size}.cycles_over_ca"), hints / ca);
                row.insert(format!("{size}.cycles_over_cg"), hints / cg);
            }
            if size == 64 {
                for policy in POLICIES {
                    let h = |path: &str| value(format!("64.{policy}"), &format!("timing.hierarchy.{path}"));
                    let found = |level: &str| {
                        let reads = h(&format!("{level}.reads"));
                        (reads - h(&format!("{level}.misses")) - h(&format!("{level}.bypassed"))).max(0.0) / reads.max(1.0)
                    };
                    row.insert(format!("64.{policy}.l1_hit_rate"), found("data"));
                    row.insert(format!("64.{policy}.l2_hit_rate"), found("l2"));
                    row.insert(format!("64.{policy}.l2_to_l1_kib"), h("l2_to_l1_bytes") / 1024.0);
                    row.insert(format!("64.{policy}.dram_kib"), (h("dram_read_bytes") + h("dram_written_bytes")) / 1024.0);
                }
            }
        }
        if STREAMING.contains(name) {
            let bytes = |point: &str| {
                value(point.into(), "timing.hierarchy.dram_read_bytes")
                    + value(point.into(), "timing.hierarchy.dram_written_bytes")
            };
            let over = bytes("64.analysis") / bytes("compulsory").max(1.0);
            row.insert("dram_over_compulsory".into(), over);
            streams.push(over);
        }
        report.kernels.insert(name.to_string(), row);
    }
    let mut figure = |name: &str, value: f64| report.figures.insert(name.into(), value);
    figure("cycles_saved.geomean_mixed", 1.0 - geomean(&mixed));
    figure("cycles_saved.geomean_mixed_over_ca", 1.0 - geomean(&over_ca));
    figure("cycles_saved.geomean_mixed_over_cg", 1.0 - geomean(&over_cg));
    figure("cycles_ratio.max", all.iter().copied().fold(0.0, f64::max));
    figure("cycles_ratio.geomean", geomean(&all));
    figure("energy_ratio.geomean", geomean(&energies));
    figure("dram_over_compulsory.streaming", geomean(&streams));
    Ok(())
}
