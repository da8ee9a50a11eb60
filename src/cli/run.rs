//! `heddle run`.

use std::io::IsTerminal;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};

use super::launch::LaunchArgs;
use super::{CodegenArgs, Failure, MachineArgs, Outcome, compile_failure};
use heddle::build::cache::Cache;
use heddle::driver::{self, Emit};
use heddle::options::{Check, SimulationArgs};
use heddle_object::error::ObjectError;
use heddle_object::{Image, read};
use heddle_report::HostTimes;
use heddle_runtime::case::Case;
use heddle_runtime::picks::Picks;
use heddle_runtime::run::cached::CachedBytes;
use heddle_runtime::run::checkpoint::Checkpoints;
use heddle_runtime::run::{Mode, Observer, Outcome as CaseOutcome, Refusal, RunError, Simulator, TimedLaunches, run_chosen};
use heddle_sim::trace::Record;
use heddle_sim::{Fault, Options};
use heddle_target::Machine;

/// Compile and run a case on the simulator, and compare the results with the expected ones.
///
/// A case file names the source, the buffers, the launches and what is expected (README, "Case
/// files"). For quick use, give a source and describe one launch: each --arg is a buffer, a value
/// or work-group memory. clang's options (-D -I -U -W… -f… -m… -g -O… -cl-* -std=…) may stand
/// anywhere; they are added after the case's own.
///
///   heddle run test-kernels/saxpy/case.json
///   heddle run scale.cl -DN=4 --kernel scale --global 4096 \
///       --arg a=random:float32:4096,save=out.npy --arg f32=2.5
///   heddle run case.json --mode functional          # results only, as fast as possible
///   heddle run case.json --set warp-size=16 --json stats.json
#[derive(Args)]
#[command(verbatim_doc_comment)]
pub struct Run {
    #[command(flatten)]
    launch: LaunchArgs,
    #[command(flatten)]
    machine: MachineArgs,
    #[command(flatten)]
    codegen: CodegenArgs,
    /// Functional: results only, on all cores. Timing: cycles and energy too, deterministic. Without it
    /// timing, but functional where --check asks for something that only functional mode finds, as
    /// --check=all does.
    #[arg(long, value_enum)]
    mode: Option<Mode>,
    /// Run this object instead of compiling the case's source.
    #[arg(long, value_name = "FILE")]
    object: Option<PathBuf>,
    /// Time these launches of the case, and run the others functionally: kernel names, in which * stands for any
    /// characters, and which launches of each kernel, counted from 1: 'sgemm*:2-3,7', '*:10', 'step:5-',
    /// 'step:5-/10' (one in ten). '#3' counts all launches, '@HASH:1' those of the same code and sizes. May be
    /// repeated.
    #[arg(long, value_name = "NAME[:RANGES]")]
    timing: Vec<Picks>,
    /// Write the state of memory and caches to this file before the launch of --at; of several, each to a file
    /// with the launch's number behind its name.
    #[arg(long, value_name = "FILE", requires = "at")]
    checkpoint: Option<PathBuf>,
    /// Launches before which --checkpoint writes, counted from 1 over all launches of the case.
    #[arg(long, value_name = "LAUNCH", value_delimiter = ',', requires = "checkpoint")]
    #[arg(value_parser = clap::value_parser!(u64).range(1..))]
    at: Vec<u64>,
    /// Go on from a file that --checkpoint wrote, with the same machine, code and case; cycles are what they would
    /// be without the interruption. Launches before are left out of the statistics.
    #[arg(long, value_name = "FILE")]
    restore: Option<PathBuf>,
    /// What L2 holds when the first launch begins: the file caches.json that `heddle exec --record` writes beside a
    /// case. Without it caches are empty.
    #[arg(long, value_name = "FILE", conflicts_with = "restore")]
    caches: Option<PathBuf>,
    #[command(flatten)]
    simulation: SimulationArgs,
    /// Check while running, comma-separated: races (data races in and between work-groups), uninitialised
    /// (reads of work-group and private memory that was never written), barriers (every work-item of a
    /// work-group reaches each barrier), marks (the operands of u-marked instructions are the same in all
    /// active lanes), renames (shared registers are mapped when read, and released), all (also --check alone:
    /// what the mode can). races, uninitialised, barriers and all choose --mode functional, renames is for
    /// timing mode. Bounds and alignment are always checked.
    #[arg(long, value_enum, value_delimiter = ',', value_name = "WHAT", num_args = 0..=1)]
    #[arg(default_missing_value = "all", require_equals = true, conflicts_with = "tolerate")]
    check: Vec<Check>,
    /// Print the source with what each line cost: warp time, sectors, hits, latency (timing mode).
    #[arg(long)]
    profile: bool,
    /// Write statistics as JSON to a file (`-`: standard output).
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Write a report as one HTML page that needs no network: time line, register files, scalar share,
    /// caches, energy, roofline, control flow, live ranges, annotated source and assembly.
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
    /// Write a trace for Perfetto (ui.perfetto.dev) or chrome://tracing: each SM's warps with their
    /// instructions and stalls, and counters; one microsecond there is one cycle (timing mode).
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,
    /// Instructions and stalls that a trace holds at most; the trace says so if there were more.
    #[arg(long, value_name = "N", default_value_t = 1_000_000, requires = "trace")]
    trace_limit: usize,
    #[command(flatten)]
    dump: super::DumpArgs,
    /// Print only what failed.
    #[arg(long, short)]
    quiet: bool,
}

impl Run {
    /// The mode: as given, or one that finds what is to be checked.
    fn mode(&self) -> Mode {
        self.mode.unwrap_or(Check::mode(&self.check))
    }

    /// What the simulator records by time.
    fn record(&self) -> Record {
        let slices = if self.trace.is_some() { self.trace_limit } else { 0 };
        Record { time_line: self.report.is_some() || self.trace.is_some(), slices }
    }

    /// Options and combinations of options that make no sense: said before anything is compiled.
    fn check_options(&self, machine: &Machine) -> Outcome {
        self.codegen.check(machine).map_err(Failure::input)?;
        let wrong = |message: &str| Err(Failure::input(message));
        let timing = self.mode() == Mode::Timing;
        let simulation = &self.simulation;
        for (given, option) in [
            (self.trace.is_some(), "--trace"),
            (self.profile, "--profile"),
            (!self.timing.is_empty(), "--timing"),
            (simulation.sample.is_some(), "--sample"),
            (simulation.alike.is_some(), "--alike"),
            (simulation.warm, "--warm"),
            (self.caches.is_some(), "--caches"),
        ] {
            if given && !timing {
                return wrong(&format!("{option} needs --mode timing: functional mode knows no cycles"));
            }
        }
        Check::possible(&self.check, self.mode())
            .map_err(|(check, mode)| Failure::input(format!("--check={check} needs --mode {mode}")))?;
        if self.simulation.alike.is_some() && (self.restore.is_some() || self.checkpoint.is_some()) {
            return wrong("--alike learns from all launches before; it goes with neither --checkpoint nor --restore");
        }
        if timing && self.check.contains(&Check::All) {
            let left_out = Check::FUNCTIONAL.map(|c| c.to_string()).join(", ");
            heddle_report::say!("--check=all: timing mode leaves out {left_out}; --mode functional checks them");
        }
        self.simulation.check(machine).map_err(Failure::input)?;
        Cache::from_environment().map_err(Failure::input)?;
        self.dump.check()?;
        if self.object.is_some() && !self.dump.dump.is_empty() {
            return wrong("--dump shows what the compiler did; with --object nothing is compiled");
        }
        match self.launch.compiler_words().first().filter(|_| self.object.is_some()) {
            Some(option) => wrong(&format!("{option} is for the compiler; with --object nothing is compiled")),
            None => Ok(()),
        }
    }

    /// The object to run: read, or compiled.
    fn object(&self, case: &Case, machine: &Machine) -> Result<Vec<u8>, Failure> {
        if let Some(path) = &self.object {
            if let Some(variable) = case.variables.keys().next() {
                return Err(Failure::input(format!(
                    "{}: variables.{variable}: its value is for the compiler; with --object nothing is compiled",
                    self.launch.case.display()
                )));
            }
            return super::read_input(path, "object");
        }
        let (inputs, frontend) = driver::case_frontend(case, &self.launch.more_options()?)
            .map_err(|m| Failure::input(format!("{}: options: {m}", self.launch.case.display())))?;
        let mut options = self.codegen.options(frontend);
        options.checked = Check::compiled(&self.check, self.mode());
        options.wide_ids |= case.has_wide_ids();
        options.codegen.dump.clone_from(&self.dump.dump);
        let compilation = driver::compile(&inputs, Emit::Obj, &options, machine).map_err(compile_failure)?;
        self.dump.write(&compilation.stats)?;
        Ok(compilation.output)
    }

    /// The object's image; the simulator loads its bytes, as it would from a file.
    fn image(&self, bytes: &[u8], case: &mut Case, machine: &Machine) -> Result<Image, Failure> {
        let compiled_from = self.object.as_ref().unwrap_or(&self.launch.case).display();
        let unusable = |e: ObjectError| Failure::input(format!("{compiled_from}: {e}"));
        let image = read::parse(bytes).map_err(unusable)?;
        self.launch.choose_kernel(case, &image)?;
        if self.object.is_some() {
            // Here, so that messages name the object and not the case.
            for kernel in case.launches.iter().filter_map(|l| image.kernel(&l.kernel)) {
                heddle_sim::Program::from_image(&image, kernel, machine).map_err(unusable)?;
            }
        }
        Ok(image)
    }

    /// The simulator's options.
    fn simulator_options(&self) -> Options {
        // What has been counted when someone ends the run is worth a report.
        let interrupt = Some(super::signals::interrupt());
        let translations = heddle::build::translations();
        let options = Options { record: self.record(), interrupt, partial: true, translations, ..self.simulation.options() };
        Check::set(&self.check, self.mode(), options)
    }

    /// Checkpoints to be written and restored.
    fn checkpoints(&self) -> Checkpoints {
        let numbered = |path: &PathBuf, at: u64| match self.at.len() {
            1 => path.clone(),
            _ => PathBuf::from(format!("{}.{at}", path.display())),
        };
        let write = self.checkpoint.iter().flat_map(|path| self.at.iter().map(move |at| (*at, numbered(path, *at))));
        Checkpoints { write: write.collect(), restore: self.restore.clone() }
    }

    /// Whether statistics are all that goes to standard output: then what the kernels print is a field of them.
    fn json_alone(&self) -> bool {
        self.json.as_ref().is_some_and(|p| p.as_os_str() == "-")
    }

    /// Runs the launches; what the kernels print goes to standard output at once.
    fn simulate(&self, case: &Case, image: &Image, machine: &Machine) -> Result<CaseOutcome, Failure> {
        // With the statistics on standard output, what the kernels print is a field of them.
        let mut terminal = Terminal { shows: !self.json_alone(), shown: Ok(()), printed: Vec::new() };
        let options = self.simulator_options();
        let simulator = Simulator { machine, mode: self.mode(), options: &options };
        let cached = self.caches.as_deref().map(CachedBytes::read).transpose().map_err(Failure::input)?;
        let timed = TimedLaunches { picks: self.timing.clone(), alike: self.simulation.alike, cached };
        let outcome = run_chosen(case, image, &simulator, &timed, &self.checkpoints(), &mut terminal);
        let Terminal { shown, printed, .. } = terminal;
        shown?;
        let name = self.launch.case.display();
        let outcome = outcome.map_err(|e| match e {
            RunError::Input(m) | RunError::Refused(Refusal { message: m, .. }) => Failure::input(format!("{name}: {m}")),
            RunError::Fault(f) => self.faulted(&f, machine, &printed),
        })?;
        if let Some(warning) = heddle_report::dropped(&outcome.printed, self.simulation.printf_buffer) {
            heddle_report::say!("{name}: warning: {warning}");
        }
        Ok(outcome)
    }

    /// Writes everything that was asked for.
    fn write_results(&self, run: &heddle_report::html::Run, outcome: &CaseOutcome, times: &HostTimes) -> Outcome {
        let (machine, mode) = (run.machine, run.mode);
        if let Some(path) = &self.json {
            super::write_output(Some(path), heddle_report::json(outcome, machine, mode, times).as_bytes())?;
        }
        if !self.quiet && !self.json_alone() {
            super::write_output(None, heddle_report::summary(outcome, machine, mode, times).as_bytes())?;
        }
        if let Some(path) = &self.report {
            let page = heddle_report::html::page(run, outcome, times).map_err(Failure::input)?;
            super::write_output(Some(path), page.as_bytes())?;
        }
        if let Some(path) = &self.trace {
            heddle_report::trace::write_file(path, outcome, run.image, machine).map_err(Failure::input)?;
        }
        if self.profile {
            let listing = heddle_report::profile::listing(outcome, run.image, machine).map_err(Failure::input)?;
            super::write_output(None, listing.as_bytes())?;
        }
        Ok(())
    }

    /// Runs the subcommand.
    pub fn run(self) -> Outcome {
        let machine = super::load_machine(&self.machine)?;
        self.check_options(&machine)?;
        let mut case = self.launch.read_case()?;
        let started = Instant::now();
        let bytes = self.object(&case, &machine)?;
        let compile = started.elapsed();
        let image = self.image(&bytes, &mut case, &machine)?;
        let outcome = self.simulate(&case, &image, &machine)?;
        let times = HostTimes { compile, simulate: outcome.simulated, launches: outcome.launch_times.clone() };
        let name = self.launch.case.display();
        let title = match case.folder.file_name().filter(|_| !self.launch.is_source()) {
            Some(folder) => folder.to_string_lossy().into_owned(),
            None => name.to_string(),
        };
        let command = std::env::args().collect::<Vec<_>>().join(" ");
        let (case, image, machine) = (&case, &image, &machine);
        let run = heddle_report::html::Run { title: &title, command, case, image, machine, mode: self.mode(), sources: &[] };
        self.write_results(&run, &outcome, &times)?;
        if let Some(note) = heddle_report::partial_note(&outcome) {
            return Err(Failure::interrupted(format!("{name}: {note}")));
        }
        if outcome.mismatches.is_empty() {
            return Ok(());
        }
        let text: Vec<String> = outcome.mismatches.iter().map(|(b, m)| format!("{name}: buffer `{b}`: {m}")).collect();
        Err(Failure::check(text.join("\n")))
    }

    /// A fault ends the run: the JSON says so, and the message names what there is not, for want of results.
    fn faulted(&self, fault: &Fault, machine: &Machine, printed: &[u8]) -> Failure {
        let mut message = fault.to_string();
        if let Some(hint) = heddle_report::fault_hint(fault).filter(|_| self.check.is_empty()) {
            message += &format!("\n  {hint}");
        }
        if let Some(path) = &self.json {
            let json = heddle_report::fault_json(fault, machine, self.mode(), printed);
            if let Err(e) = super::write_output(Some(path), json.as_bytes()) {
                message += &format!("\n  {e}");
            }
        }
        for (option, path) in [("--report", &self.report), ("--trace", &self.trace)] {
            if let Some(path) = path {
                message += &format!("\n  {option}: {} is not written, because the run did not come to its end", path.display());
            }
        }
        Failure::check(message)
    }
}

/// Shows how far launches are, and what they print.
struct Terminal {
    /// What is printed goes to standard output.
    shows: bool,
    /// Whether that has worked so far.
    shown: Result<(), Failure>,
    /// What has been printed.
    printed: Vec<u8>,
}

impl Observer for Terminal {
    fn begins(&mut self, kernel: &str, work_groups: u64) -> Box<dyn Fn(u64) + Sync> {
        progress_bar(kernel, work_groups)
    }
    fn printed(&mut self, text: &[u8]) {
        self.printed.extend_from_slice(text);
        if self.shows && self.shown.is_ok() {
            self.shown = super::write_output(None, text);
        }
    }
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
