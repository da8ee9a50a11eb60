//! `heddle run`.

use std::io::IsTerminal;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};

use super::{CodegenArgs, Failure, MachineArgs, Outcome, compile_failure};
use crate::driver::{self, Emit};
use crate::frontend::FrontendOptions;
use crate::frontend::args::parse_clang_style;
use crate::object::read;
use crate::report;
use crate::runtime::case::Case;
use crate::runtime::run::{Mode, RunError, run_case};
use crate::sim::Options;

/// Compile and run a case on the simulator, and compare the results with the expected ones.
///
/// A case file names the source, the buffers, the launches and what is expected (README, "Case files").
///
///   heddle run test-kernels/saxpy/case.json
///   heddle run case.json --mode functional          # results only, as fast as possible
///   heddle run case.json --set warp-size=16 --json stats.json
#[derive(Args)]
#[command(verbatim_doc_comment)]
pub struct Run {
    /// The case file.
    case: PathBuf,
    #[command(flatten)]
    machine: MachineArgs,
    #[command(flatten)]
    codegen: CodegenArgs,
    /// Functional: results only, on all cores. Timing: cycles and energy too, deterministic.
    #[arg(long, value_enum, default_value = "timing")]
    mode: Mode,
    /// Run this object instead of compiling the case's source.
    #[arg(long, value_name = "FILE")]
    object: Option<PathBuf>,
    /// Instructions a work-group may execute before it counts as runaway.
    #[arg(long, value_name = "N", default_value_t = Options::default().max_instructions)]
    max_instructions: u64,
    /// Host threads of functional mode; 0: all cores.
    #[arg(long, value_name = "N", default_value_t = 0)]
    threads: usize,
    /// Write statistics as JSON to a file (`-`: standard output).
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Print only what failed.
    #[arg(long, short)]
    quiet: bool,
}

impl Run {
    /// Runs the subcommand.
    pub fn run(self) -> Outcome {
        let machine = self.machine.load()?;
        let case = Case::read(&self.case).map_err(Failure::input)?;
        let started = Instant::now();
        let bytes = match &self.object {
            Some(path) => super::read_input(path)?,
            None => {
                let mut words = case.options.clone();
                words.push(case.source().display().to_string());
                let line =
                    parse_clang_style(&words).map_err(|m| Failure::input(format!("{}: options: {m}", self.case.display())))?;
                let frontend =
                    FrontendOptions { clang_args: relative(line.clang_args, &case), opt: line.opt, verbose: line.verbose };
                let options = self.codegen.options(frontend);
                driver::compile(&line.inputs, Emit::Obj, &options, &machine).map_err(compile_failure)?.output
            }
        };
        let compiled = started.elapsed();
        // The simulator loads the object's bytes, as it would from a file.
        let image = read::parse(&bytes).map_err(Failure::input)?;
        let options = Options { max_instructions: self.max_instructions, threads: self.threads };
        let started = Instant::now();
        let mut progress = |kernel: &str, groups: u64| progress_bar(kernel, groups);
        let outcome = run_case(&case, &image, &machine, self.mode, &options, &mut progress).map_err(|e| match e {
            RunError::Input(m) => Failure::input(format!("{}: {m}", self.case.display())),
            RunError::Fault(f) => Failure::check(f),
        })?;
        let times = report::HostTimes { compile: compiled, simulate: started.elapsed() };
        if let Some(path) = &self.json {
            let json = report::json(&outcome, &machine, self.mode, &times);
            super::write_output(Some(path), json.as_bytes())?;
        }
        if !self.quiet && self.json.as_ref().is_none_or(|p| p.as_os_str() != "-") {
            super::write_output(None, report::summary(&outcome, &machine, self.mode, &times).as_bytes())?;
        }
        if outcome.mismatches.is_empty() {
            return Ok(());
        }
        let text: Vec<String> = outcome.mismatches.iter().map(|(b, m)| format!("buffer `{b}`: {m}")).collect();
        Err(Failure::check(text.join("\n")))
    }
}

/// `-I folder` in a case is relative to the case.
fn relative(args: Vec<String>, case: &Case) -> Vec<String> {
    let mut result: Vec<String> = Vec::new();
    for a in args {
        let previous_is_include = result.last().is_some_and(|p| p == "-I" || p == "-isystem" || p == "-iquote");
        result.push(match a.strip_prefix("-I").filter(|p| !p.is_empty()) {
            Some(p) => format!("-I{}", case.folder.join(p).display()),
            None if previous_is_include => case.folder.join(&a).display().to_string(),
            None => a,
        });
    }
    result.push(format!("-I{}", if case.folder.as_os_str().is_empty() { ".".into() } else { case.folder.display().to_string() }));
    result
}

/// A progress bar on standard error for launches that take a while; nothing if it is no terminal.
fn progress_bar(kernel: &str, groups: u64) -> Box<dyn Fn(u64) + Sync> {
    if !std::io::stderr().is_terminal() || groups < 2 {
        return Box::new(|_| {});
    }
    let bar = ProgressBar::new(groups);
    if let Ok(style) = ProgressStyle::with_template("{msg} [{bar:40}] {pos}/{len} work-groups, {eta} left") {
        bar.set_style(style);
    }
    bar.set_message(kernel.to_string());
    bar.enable_steady_tick(Duration::from_millis(200));
    Box::new(move |n| {
        bar.inc(n);
        if bar.position() >= groups {
            bar.finish_and_clear();
        }
    })
}
