//! Heddle's developer tasks: `cargo xtask setup|demo|test|engines|lint|bench|fuzz`.
//!
//! This package builds without LLVM, so that it can install what the rest needs.

mod bench;
mod engines;
mod fuzz;
mod setup;
mod shell;
mod tests;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use clap::{Parser, Subcommand};

#[derive(Parser)]
#[command(name = "cargo xtask", about = "Heddle's developer tasks")]
struct Cli {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Install the system packages that are missing (Debian and Ubuntu), or say which they are.
    Setup,
    /// Set up, build, and run a real kernel with its report.
    Demo,
    /// Everything that must pass: formatting, clippy, tests, the lit suite.
    Test,
    /// A sweep on the real Slurm and GNU parallel, with what of them is installed (about a minute; not part of `test`).
    Engines,
    /// Formatting and clippy only.
    Lint,
    /// Run a benchmark: sim, compile, scalar, regfile, rename, cache, address. Prints a table and, with --json, writes the figures.
    Bench {
        /// Which.
        name: String,
        /// Where the figures go.
        #[arg(long)]
        json: Option<PathBuf>,
    },
    /// Compare random programs for a time: all setups of Heddle and, where installed, an OpenCL implementation. Prints the seeds done, where findings are and how to go on.
    Fuzz(fuzz::Fuzz),
}

fn run() -> Result<bool> {
    match Cli::parse().task {
        Task::Setup => setup::run().map(|()| true),
        Task::Demo => {
            setup::run()?;
            let binary = shell::build()?;
            let page = shell::root().join("target/demo/report.html");
            std::fs::create_dir_all(page.parent().unwrap_or(&page))?;
            let report = page.display().to_string();
            shell::run(&binary, &["run", "test-kernels/sgemm_tiled/case.json", "--verify", "--report", &report])?;
            println!("\nThe same as a page, with time line, roofline, control flow and annotated source:\n  {report}");
            Ok(true)
        }
        Task::Test => {
            setup::run()?;
            setup::browser();
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
        Task::Bench { name, json } => {
            setup::run()?;
            bench::run(&name, json.as_deref()).map(|()| true)
        }
        Task::Fuzz(f) => {
            setup::run()?;
            f.run()
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
