//! `bench compile`: compile times against clang alone and against llc's AMDGPU back end on the same IR.
//!
//! Each figure is the median of several runs; ratios are within one run of the benchmark. Heddle's back-end time is what it reports for
//! selection, code generation and object writing; llc's is its whole process less the time it takes on an empty module.

use std::path::Path;
use std::process::Command;
use std::time::Instant;

use anyhow::{Context, Result};

use super::{Report, kernels, median};
use crate::shell::{build, find};

const RUNS: usize = 5;

fn time(command: &mut Command) -> Result<f64> {
    let start = Instant::now();
    let output = command.output().with_context(|| format!("cannot run {:?}", command.get_program()))?;
    let seconds = start.elapsed().as_secs_f64();
    if !output.status.success() {
        anyhow::bail!("{:?}: {}", command.get_program(), String::from_utf8_lossy(&output.stderr));
    }
    Ok(seconds)
}

fn median_time(make: impl Fn() -> Command) -> Result<f64> {
    let times: Result<Vec<f64>> = (0..RUNS).map(|_| time(&mut make())).collect();
    Ok(median(times?))
}

/// IR for another target: its triple, no data layout, its kernel calling convention.
pub fn for_amdgpu(ir: &str) -> String {
    ir.lines()
        .filter(|l| !l.starts_with("target "))
        .map(|l| l.replace("spir_kernel", "amdgpu_kernel"))
        .collect::<Vec<_>>()
        .join("\n")
}

pub fn run(report: &mut Report) -> Result<()> {
    let heddle = build()?;
    let llc = find("llc-19");
    let clang = find("clang-19").context("clang-19 is not in the PATH")?;
    let folder = std::env::temp_dir().join(format!("heddle-bench-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    let llc_command = |input: &Path| {
        let mut c = Command::new(llc.as_deref().unwrap_or(Path::new("llc-19")));
        c.args(["-mtriple=amdgcn", "-mcpu=gfx1030", "-O2", "-filetype=obj", "-o"]).arg(folder.join("out.o")).arg(input);
        c
    };
    let empty = folder.join("empty.ll");
    std::fs::write(&empty, "")?;
    let base = if llc.is_some() { median_time(|| llc_command(&empty))? } else { 0.0 };
    let (mut backend_ratios, mut total_ratios) = (Vec::new(), Vec::new());
    for (name, path) in kernels()? {
        let source = path.join("kernel.cl");
        let object = folder.join("k.o");
        let mut backend = Vec::new();
        let total = median_time(|| {
            let mut c = Command::new(&heddle);
            c.arg("build").arg("-I").arg(&path).arg(&source).arg("-o").arg(&object);
            c
        })?;
        for _ in 0..RUNS {
            let output =
                Command::new(&heddle).args(["build", "--time", "-I"]).arg(&path).arg(&source).arg("-o").arg(&object).output()?;
            let text = String::from_utf8_lossy(&output.stderr);
            let line = text.lines().rev().find(|l| l.starts_with('{')).context("no times from heddle")?;
            let times: serde_json::Value = serde_json::from_str(line)?;
            let part = |k: &str| times[k].as_f64().unwrap_or(0.0);
            backend.push(part("selection") + part("code generation") + part("object"));
        }
        let backend = median(backend);
        let front = median_time(|| {
            let mut c = Command::new(&clang);
            c.args(["-x", "cl", "-cl-std=CL3.0", "--target=nvptx64--", "-O2", "-c", "-emit-llvm", "-I"]);
            c.arg(&path).arg(&source).arg("-o").arg(folder.join("k.bc"));
            c
        })?;
        let entry = report.kernels.entry(name).or_default();
        entry.insert("heddle_ms".into(), total * 1e3);
        entry.insert("backend_ms".into(), backend * 1e3);
        entry.insert("clang_ms".into(), front * 1e3);
        total_ratios.push(total / front);
        if llc.is_some() {
            let ir = Command::new(&heddle).args(["build", "--emit", "ir", "-o", "-", "-I"]).arg(&path).arg(&source).output()?;
            let file = folder.join("k.ll");
            std::fs::write(&file, for_amdgpu(&String::from_utf8_lossy(&ir.stdout)))?;
            match median_time(|| llc_command(&file)) {
                Ok(t) => {
                    let llc_time = (t - base).max(1e-4);
                    entry.insert("llc_ms".into(), llc_time * 1e3);
                    backend_ratios.push(backend / llc_time);
                }
                Err(e) => eprintln!("llc: {e:#}"),
            }
        }
    }
    if !backend_ratios.is_empty() {
        report.figures.insert("backend_over_llc.max".into(), backend_ratios.iter().copied().fold(0.0, f64::max));
        report.figures.insert("backend_over_llc.median".into(), median(backend_ratios));
    }
    report.figures.insert("total_over_clang.median".into(), median(total_ratios));
    large(report, &heddle, &folder)?;
    std::fs::remove_dir_all(&folder).context("removing the temporary folder")
}

/// Generated functions: 100,000 instructions in one block, and 10,000 blocks.
pub fn large(report: &mut Report, heddle: &Path, folder: &Path) -> Result<()> {
    let mut straight = String::from(
        "define spir_kernel void @k(ptr addrspace(1) %p, i32 %n) {\n  %a0 = load i32, ptr addrspace(1) %p\n  %a1 = xor i32 %a0, %n\n",
    );
    for i in 2..100_000 {
        straight += &format!(
            "  %a{i} = {} i32 %a{}, %a{}\n",
            ["add", "xor", "mul", "sub"][i % 4],
            i - 1,
            i - 2 - (i * 7) % 20.min(i - 1)
        );
    }
    straight += "  store i32 %a99999, ptr addrspace(1) %p\n  ret void\n}\n";
    let mut blocks = String::from(
        "define spir_kernel void @k(ptr addrspace(1) %p, i32 %n) {\nentry:\n  %v = load i32, ptr addrspace(1) %p\n  br label %b0\n",
    );
    for i in 0..3_333 {
        let before = if i == 0 { "%v".to_string() } else { format!("%x{}", i - 1) };
        let from = if i == 0 { "entry".to_string() } else { format!("j{}", i - 1) };
        blocks += &format!(
            "b{i}:\n  %y{i} = phi i32 [ {before}, %{from} ]\n  %c{i} = icmp slt i32 %y{i}, {i}\n  br i1 %c{i}, label %t{i}, label %j{i}\nt{i}:\n  %m{i} = mul i32 %y{i}, {}\n  store i32 %m{i}, ptr addrspace(1) %p\n  br label %j{i}\nj{i}:\n  %x{i} = phi i32 [ %y{i}, %b{i} ], [ %m{i}, %t{i} ]\n  br label %{}\n",
            i + 3,
            if i == 3_332 { "end".to_string() } else { format!("b{}", i + 1) }
        );
    }
    blocks += "end:\n  store i32 %x3332, ptr addrspace(1) %p\n  ret void\n}\n";
    for (name, text) in [("instructions_100000", straight), ("blocks_10000", blocks)] {
        let file = folder.join(format!("{name}.ll"));
        std::fs::write(&file, text)?;
        let mut c = Command::new(heddle);
        c.arg("build").arg(&file).arg("-o").arg(folder.join("large.o"));
        let seconds = time(&mut c)?;
        report.figures.insert(format!("large_seconds.{name}"), seconds);
    }
    Ok(())
}
