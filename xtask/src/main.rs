//! Heddle's developer tasks: `cargo xtask setup|demo|test|engines|lint|bench|fuzz|conformance|gpu`.
//!
//! This package builds without LLVM, so that it can install what the rest needs.

mod bench;
mod cargo_run;
mod conformance;
mod engines;
mod fuzz;
mod gpu;
mod parallel;
mod python;
mod setup;
mod shell;
mod tests;

use std::process::ExitCode;

use anyhow::Result;
use clap::{Parser, Subcommand};

#[derive(Parser)]
#[command(
    name = "cargo xtask",
    about = "Heddle's developer tasks",
    after_help = "The exit code is 0 for success, 1 if a check or a program failed, 2 for bad usage."
)]
struct Cli {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Install the system packages that are missing (Debian and Ubuntu), or say which they are.
    Setup {
        /// Also what comparisons and generators need: PoCL, Oclgrind, numpy, pyopencl, mpmath, llc.
        #[arg(long)]
        peers: bool,
    },
    /// Set up, build, and run a real kernel with its report.
    Demo,
    /// Everything that must pass: formatting, clippy, tests, the lit suite, generators, the Python
    /// package with its notebooks, benchmarks in their small form.
    Test,
    /// A sweep on the real Slurm and GNU parallel, with what of them is installed (about a minute;
    /// not part of `test`).
    Engines,
    /// Formatting and clippy only.
    Lint,
    /// Measure: speed, compile time, what hardware features save; with tables for
    /// docs/BENCHMARKS.md.
    Bench(bench::Options),
    /// Compare random programs for a time: all setups of Heddle and, where installed, an OpenCL
    /// implementation. Prints the seeds done, where findings are and how to go on.
    Fuzz(fuzz::Fuzz),
    /// Run test kernels and micro-kernels on a GPU of NVIDIA's, or correlate what it measured with
    /// simulations (not part of `test`).
    Gpu(gpu::Options),
    /// Run other people's tests of OpenCL on the driver, piglit's and pyopencl's, and compare with the
    /// results that are kept (minutes; not part of `test`).
    Conformance(conformance::Options),
}

fn run() -> Result<bool> {
    match Cli::parse().task {
        Task::Setup { peers } => {
            setup::run()?;
            if peers {
                setup::peers()?;
            }
            Ok(true)
        }
        Task::Demo => {
            setup::run()?;
            let binary = shell::build_first()?;
            let page = shell::root().join("target/demo/report.html");
            std::fs::create_dir_all(page.parent().unwrap_or(&page))?;
            let report = page.display().to_string();
            shell::run(&binary, &["run", "test-kernels/sgemm_tiled/case.json", "--verify", "--report", &report])?;
            println!("\nThe same as a page, with time line, roofline, control flow and annotated source:\n  {report}");
            println!("\nPrograms that call OpenCL run with\n  {} exec -- PROGRAM", binary.display());
            Ok(true)
        }
        Task::Test => {
            setup::run()?;
            tests::run()
        }
        Task::Lint => {
            setup::run()?;
            tests::lint().map(|()| true)
        }
        Task::Engines => {
            setup::run()?;
            engines::run()
        }
        Task::Bench(options) => {
            setup::run()?;
            options.run()
        }
        Task::Fuzz(f) => {
            setup::run()?;
            f.run()
        }
        Task::Gpu(options) => options.run(),
        Task::Conformance(options) => {
            setup::run()?;
            options.run()
        }
    }
}

fn main() -> ExitCode {
    match run() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(e) => {
            eprintln!("error: {e:#}");
            ExitCode::FAILURE
        }
    }
}
