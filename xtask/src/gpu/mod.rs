//! `cargo xtask gpu`: the test kernels and micro-kernels on a real GPU of NVIDIA's, beside the simulator.
//!
//! Kernels become PTX by LLVM's back end on the IR that Heddle's instruction selection sees ([`ptx`]), run
//! through the driver library, which is loaded at run time ([`driver`]), and are compared with what their
//! cases expect ([`case`]). Times, latencies and bandwidths are written as data ([`run`]); simulated over
//! measured is a plot ([`correlate`]). Nothing is linked, and without a GPU the PTX is still made.

mod case;
mod correlate;
mod device;
mod driver;
mod ptx;
mod run;

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use clap::Args;
use serde_json::Value;

use crate::parallel::in_parallel;
use crate::shell;
use case::Case;
use correlate::Pair;
use device::Device;
use driver::Driver;
use ptx::{Ptx, Tools};
use run::{Kernel, Measured};

/// Options of `cargo xtask gpu`.
#[derive(Args)]
#[command(after_help = "Examples:\n  \
    cargo xtask gpu --ptx-only                          # PTX of all test kernels, assembled if there is a ptxas\n  \
    cargo xtask gpu                                     # run all on the first GPU: target/gpu/NAME.json\n  \
    cargo xtask gpu --correlate target/gpu/NAME.json --target machines/v100.toml --html correlation.html\n\n\
    HEDDLE_BIN=PATH takes that binary instead of building this tree's.\n\n\
    The exit code is 1 if a kernel failed, or if there is no GPU to run on.")]
pub struct Options {
    /// Make PTX, and assemble it if there is a ptxas; run nothing.
    #[arg(long, conflicts_with = "correlate")]
    ptx_only: bool,
    /// Compute capability that PTX is made for, 70 for 7.0; the GPU's if missing, and 70 without one.
    #[arg(long, value_name = "N")]
    sm: Option<u32>,
    /// Only test kernels whose names contain this.
    #[arg(long, value_name = "TEXT", default_value = "")]
    only: String,
    /// Where the measurements go; target/gpu/NAME.json if missing.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Compare measurements of an earlier run with simulations.
    #[arg(long, value_name = "FILE")]
    correlate: Option<PathBuf>,
    /// The machine that is simulated; the built-in one if missing.
    #[arg(long, value_name = "FILE", requires = "correlate")]
    target: Option<PathBuf>,
    /// Where the correlation's page goes.
    #[arg(long, value_name = "FILE", requires = "correlate")]
    html: Option<PathBuf>,
}

impl Options {
    /// Runs. False if something failed that can be said in a line; it was printed.
    pub fn run(&self) -> Result<bool> {
        if let Some(file) = &self.correlate {
            return self.correlate(file);
        }
        let mut gpu = if self.ptx_only { None } else { Some(Driver::open()?) };
        let sm = match (self.sm, &gpu) {
            (Some(sm), _) => sm,
            (None, Some(gpu)) => gpu.compute_capability()?,
            (None, None) => 70,
        };
        let tools = Tools::find(shell::build()?, sm)?;
        let cases = cases(&self.only)?;
        ensure!(!cases.is_empty(), "no test kernel's name contains `{}`", self.only);
        let made = in_parallel(&cases, |(_, case)| Ok(tools.make(&case.folder.join(&case.source), &options(case))))?;
        let problems = report(&cases, &made);
        let Some(gpu) = &mut gpu else { return Ok(problems == 0) };
        self.measure(gpu, &tools, &cases, &made).map(|passed| passed && problems == 0)
    }

    /// Runs everything on a device and writes the measurements.
    fn measure(&self, gpu: &mut dyn Device, tools: &Tools, cases: &[(String, Case)], made: &[Result<Ptx>]) -> Result<bool> {
        let mut measured = Measured {
            device: gpu.name()?,
            compute_capability: gpu.compute_capability()?,
            clock_mhz: gpu.clock_mhz()?,
            processors: gpu.processors()?,
            driver: gpu.driver()?,
            ..Measured::default()
        };
        println!("{}, compute capability {}, {}", measured.device, measured.compute_capability, measured.driver);
        for ((name, case), ptx) in cases.iter().zip(made) {
            let launches = case.launches.iter().map(case::Launch::times).sum();
            let outcome = match (case.lacks(), ptx) {
                (Some(why), _) => (None, Some(why)),
                (None, Err(e)) => (None, Some(format!("{e:#}"))),
                (None, Ok(ptx)) => match run::case(gpu, case, ptx) {
                    Ok((time, problem)) => (Some(time), problem),
                    Err(e) => (None, Some(format!("{e:#}"))),
                },
            };
            let (microseconds, problem) = outcome;
            let time = microseconds.map_or("did not run".into(), |t| format!("{t:.2} µs"));
            println!("{name}: {time}{}", problem.as_ref().map_or(String::new(), |p| format!(", {p}")));
            measured.kernels.push(Kernel { name: name.clone(), microseconds, launches, problem });
        }
        let source = shell::root().join("xtask/src/gpu/micro.cl");
        measured.curves = run::micro(gpu, &tools.make(&source, &[])?)?;
        for curve in &measured.curves {
            println!("{} {}: {:?} {}", curve.kind, curve.operation.as_deref().unwrap_or_default(), curve.points, curve.y);
        }
        let file = self.json.clone().unwrap_or_else(|| default_file(&measured.device));
        std::fs::create_dir_all(file.parent().unwrap_or(Path::new(".")))?;
        std::fs::write(&file, serde_json::to_string_pretty(&measured)? + "\n")
            .with_context(|| format!("writing {}", file.display()))?;
        println!("measurements: {}", file.display());
        Ok(measured.kernels.iter().all(|k| k.microseconds.is_none() || k.problem.is_none()))
    }

    /// Simulates what was measured.
    fn correlate(&self, file: &Path) -> Result<bool> {
        let text = std::fs::read_to_string(file).with_context(|| format!("reading {}", file.display()))?;
        let measured: Measured = serde_json::from_str(&text).with_context(|| file.display().to_string())?;
        let heddle = shell::build()?;
        let ran: Vec<&Kernel> = measured.kernels.iter().filter(|k| k.microseconds.is_some() && k.problem.is_none()).collect();
        ensure!(!ran.is_empty(), "{} has no kernel that ran", file.display());
        let pairs = in_parallel(&ran, |kernel| {
            let simulated = simulated(&heddle, &kernel.name, self.target.as_deref())?;
            Ok(Pair { name: kernel.name.clone(), measured: kernel.microseconds.unwrap_or_default(), simulated })
        })?;
        for p in &pairs {
            println!(
                "{:<24} measured {:>10.2} µs  simulated {:>10.2} µs  ratio {:.3}",
                p.name,
                p.measured,
                p.simulated,
                p.simulated / p.measured
            );
        }
        let machine = self.target.as_ref().map_or("the built-in machine".into(), |t| t.display().to_string());
        let title = format!("{machine} over {}", measured.device);
        if let Some(c) = correlate::correlation(&pairs) {
            println!(
                "{title}: {} kernels, mean error {:.1} %, geometric mean of ratios {:.3}, rank correlation {:.3}",
                c.count,
                c.mean_error * 100.0,
                c.mean_ratio,
                c.rank
            );
        }
        if let Some(html) = &self.html {
            std::fs::write(html, correlate::page(&title, &pairs)).with_context(|| format!("writing {}", html.display()))?;
            println!("page: {}", html.display());
        }
        Ok(true)
    }
}

/// Says which kernels have PTX; returns how many should have and do not.
fn report(cases: &[(String, Case)], made: &[Result<Ptx>]) -> usize {
    let (mut done, mut problems) = (0, 0);
    for ((name, case), ptx) in cases.iter().zip(made) {
        match ptx {
            Ok(_) => done += 1,
            // Images need hardware that PTX of Heddle's IR does not ask for.
            Err(e) if case.lacks().is_some() || format!("{e:#}").starts_with("calls ") => {
                println!("{name}: not for a GPU: {e:#}")
            }
            Err(e) => {
                problems += 1;
                println!("{name}: no PTX: {e:#}");
            }
        }
    }
    let assembled = made.iter().flatten().filter(|p| p.assembled).count();
    let by =
        if assembled > 0 { format!("{assembled} are assembled by ptxas") } else { "none is assembled: there is no ptxas".into() };
    println!("{done} of {} test kernels have PTX; {by}", cases.len());
    problems
}

/// The test kernels whose names contain a text, in order.
fn cases(only: &str) -> Result<Vec<(String, Case)>> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(shell::root().join("test-kernels"))? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let file = entry.path().join("case.json");
        if file.is_file() && name.contains(only) {
            found.push((name, Case::read(&file)?));
        }
    }
    found.sort_by(|a, b| a.0.cmp(&b.0));
    Ok(found)
}

/// The compiler's options of a case; its folder is where headers are.
fn options(case: &Case) -> Vec<String> {
    let folder = format!("-I{}", case.folder.display());
    std::iter::once(folder).chain(case.options.iter().cloned()).collect()
}

/// Where measurements of a device go.
fn default_file(device: &str) -> PathBuf {
    let word: String = device.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' }).collect();
    shell::root().join("target/gpu").join(word + ".json")
}

/// Microseconds of a test kernel's launches on the simulated machine.
fn simulated(heddle: &Path, kernel: &str, target: Option<&Path>) -> Result<f64> {
    let case = shell::root().join("test-kernels").join(kernel).join("case.json");
    let mut command = Command::new(heddle);
    command.arg("run").arg(&case).args(["--quiet", "--json", "-"]);
    command.args(target.iter().flat_map(|t| [Path::new("--target"), t]));
    let out = command.output().context("cannot run heddle")?;
    ensure!(out.status.success(), "{kernel}: {}", String::from_utf8_lossy(&out.stderr).trim());
    let json: Value = serde_json::from_slice(&out.stdout)?;
    let cycles = json["total"]["timing"]["cycles"].as_f64().with_context(|| format!("{kernel} has no cycles"))?;
    Ok(cycles / clock_mhz(heddle, target)?)
}

/// The clock of a machine.
fn clock_mhz(heddle: &Path, target: Option<&Path>) -> Result<f64> {
    let mut command = Command::new(heddle);
    command.arg("target").args(target.iter().flat_map(|t| [Path::new("--target"), t]));
    let out = command.output().context("cannot run heddle")?;
    ensure!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr).trim());
    let machine: toml::Table = toml::from_str(&String::from_utf8(out.stdout)?)?;
    machine.get("clock-mhz").and_then(toml::Value::as_float).context("the machine has no clock")
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        options: Options,
    }

    #[test]
    fn options_that_need_each_other_are_asked_for() {
        assert!(Line::try_parse_from(["gpu", "--html", "a.html"]).is_err());
        assert!(Line::try_parse_from(["gpu", "--ptx-only", "--correlate", "m.json"]).is_err());
        assert!(Line::try_parse_from(["gpu", "--correlate", "m.json", "--html", "a.html"]).is_ok());
    }

    #[test]
    fn a_run_without_a_gpu_is_an_error_that_says_so() {
        if Driver::open().is_ok() {
            return;
        }
        let line = Line::try_parse_from(["gpu"]).unwrap_or_else(|e| panic!("{e}"));
        let message = format!("{:#}", line.options.run().err().unwrap());
        assert!(message.contains("CUDA") || message.contains("driver"), "{message}");
    }

    #[test]
    fn measurements_have_a_file_by_the_device_s_name() {
        assert!(default_file("NVIDIA H100 80GB HBM3").ends_with("target/gpu/nvidia-h100-80gb-hbm3.json"));
    }

    #[test]
    fn measurements_are_read_as_they_are_written() {
        let kernel = Kernel { name: "k".into(), microseconds: Some(1.5), launches: 2, problem: None };
        let measured = Measured { device: "d".into(), kernels: vec![kernel], ..Measured::default() };
        let text = serde_json::to_string(&measured).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(serde_json::from_str::<Measured>(&text).unwrap_or_else(|e| panic!("{e}")), measured);
    }
}
