//! A program's launches from its first to its last: what options say of each, and what is kept of them.
//!
//! A driver makes one [`Session`] for its process, asks it before each launch how that is to run
//! ([`Session::begin_launch`]), and tells it afterwards what happened ([`Session::end_launch`]). From this the
//! session makes totals, statistics as JSON, a report, a trace and recorded cases; what nobody asked for costs
//! next to nothing, and memory does not grow with the number of launches.
//!
//! - [`ExecOptions`]: words of `heddle exec`, the same as variables `HEDDLE_…`. [`Picks`]: which launches.
//! - `state`: totals of kernels, entries of launches. `outputs`: files that no two processes share; `pages`:
//!   those of a report.
//! - `checkpoint`: programs that go on from a checkpoint.
//! - [`results`]: what a process tells `heddle exec` when it ends.
//! - [`record`]: launches as cases.
//!
//! # Files of several processes
//! Children of a program inherit its variables. The first process that writes an output gets the name that
//! was asked for; others get one with their process id (`out-1234.json`, `FOLDER/process-1234`). Under
//! `heddle exec` what earlier runs left is overwritten (but for recordings); without it nothing is.

mod checkpoint;
mod options;
mod outputs;
mod pages;
pub mod record;
pub mod results;
mod state;

use std::io::BufWriter;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::{Duration, Instant};

pub use heddle_report::session_trace::CommandTimes;
pub use heddle_runtime::picks::Picks;
pub use options::{Check, DeviceType, ExecOptions, TimingCaches, variables};

use crate::driver::CompileOptions;
use checkpoint::{Checkpoints, Step};
pub use checkpoint::{identity as checkpoint_identity, never_taken_up};
use heddle_frontend::FrontendOptions;
use heddle_object::Image;
use heddle_report::session_trace::SessionTrace;
use heddle_runtime::printf::Printed;
use heddle_runtime::run::{DeviceState, Mode};
use heddle_sim::trace::Record;
use heddle_sim::{Fault, Options, Statistics};
use heddle_target::{Machine, TargetError};
use outputs::Outputs;
use record::{Description, Pending, Reader, Recorder};
use serde_json::json;
use state::State;

/// The variable that names the folder in which processes of one `heddle exec` leave their results.
pub const FOLDER_VARIABLE: &str = "HEDDLE_SESSION";

/// A program's source as it was built.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SourceText {
    /// Files as debug information names them, with their texts: the source first, then headers that the
    /// program gave as text. None for a program that was built from binaries alone.
    pub files: Vec<(String, String)>,
    /// Options of the build, as words that `heddle build` takes: with the standard, folders absolute. Of bitcode those
    /// that are left.
    pub options: Vec<String>,
    /// The program as LLVM bitcode, where no single source makes it: several programs linked, or binaries.
    pub bitcode: Option<Vec<u8>>,
}

/// How a launch is to run.
#[derive(Clone, Debug)]
pub struct LaunchPlan {
    /// Its number among all launches of the process, from 1.
    pub number: u64,
    /// Its number among those of kernels of this name, from 1.
    pub occurrence: u64,
    /// Functional, or with timing.
    pub mode: Mode,
    /// The caches are to be emptied first. If not, they hold the lines that the last timed launch left; the
    /// device must bring up to date or drop what functional launches and the host wrote since.
    pub cold: bool,
    /// The launch is to be kept as a case: [`Session::recorder`].
    pub record: bool,
    /// The simulator's options: checks, limits, and what to record by time.
    pub options: Options,
    /// The hash of its code and sizes, if somebody wants to know.
    pub hash: Option<String>,
    /// It runs functionally, but what it would take follows from launches like it: [`Session::extrapolate`].
    pub extrapolated: bool,
    /// It is before the checkpoint that is restored: it runs functionally, and took so many cycles when the
    /// checkpoint was written.
    pub replayed: Option<u64>,
    /// What a checkpoint has to do with it.
    step: checkpoint::Step,
    /// Which of the kernels.
    kernel: usize,
    /// The report has a page of this launch.
    page: bool,
}

/// What a launch did.
#[derive(Clone, Copy, Debug)]
pub struct LaunchResult<'a> {
    /// The object with the kernel.
    pub image: &'a Arc<Image>,
    /// The code that ran, by its number among the object's kernels: of the kernel's versions the one for the sizes.
    pub version: usize,
    /// The program's source, if there is one.
    pub source: Option<&'a SourceText>,
    /// Global size, one to three dimensions.
    pub global: &'a [u64],
    /// Work-group size, as many.
    pub local: &'a [u64],
    /// Global offset, as many.
    pub offset: &'a [u64],
    /// The queue's number.
    pub queue: u64,
    /// When it was queued, began and ended, by the device's clock.
    pub times: CommandTimes,
    /// Host time that the simulation took.
    pub host: Duration,
    /// What was counted, or the fault that ended the launch.
    pub outcome: Result<&'a Statistics, &'a Fault>,
    /// What the kernel printed.
    pub printed: &'a Printed,
}

/// One process's launches and what is kept of them. Any thread may use it.
pub struct Session {
    options: ExecOptions,
    machine: Machine,
    started: Instant,
    process: u32,
    functional: Options,
    timing: Options,
    state: Mutex<State>,
    tracing: AtomicBool,
    trace: Mutex<Option<SessionTrace<BufWriter<std::fs::File>>>>,
    outputs: Outputs,
    recorder: Option<Recorder>,
    checkpoints: Option<Checkpoints>,
}

/// What keeps a session from being made.
#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    /// Options that make no sense.
    #[error("{0}")]
    Options(String),
    /// The machine's description.
    #[error(transparent)]
    Machine(#[from] TargetError),
}

/// A lock whose holder may have panicked: totals are then as far as it came.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Session {
    /// The session of a process, as the environment's variables say.
    ///
    /// # Errors
    /// [`SessionError`].
    pub fn from_environment() -> Result<Session, SessionError> {
        let options = ExecOptions::from_environment().map_err(SessionError::Options)?;
        let folder = std::env::var_os(FOLDER_VARIABLE).filter(|f| !f.is_empty()).map(PathBuf::from);
        Session::new(options, folder)
    }

    /// A session with these options; `folder`: where `heddle exec` wants results, if it runs the program.
    ///
    /// # Errors
    /// [`SessionError`].
    pub fn new(options: ExecOptions, folder: Option<PathBuf>) -> Result<Session, SessionError> {
        let machine = options.machine.load()?;
        options.validate(&machine).map_err(SessionError::Options)?;
        Ok(Session {
            functional: options.simulator_options(Mode::Functional),
            timing: options.simulator_options(Mode::Timing),
            state: Mutex::new(State::new(&options)),
            tracing: AtomicBool::new(options.trace.is_some()),
            trace: Mutex::new(None),
            recorder: options.record.as_ref().map(|_| Recorder::default()),
            outputs: Outputs::new(folder),
            checkpoints: Checkpoints::new(&options, &machine),
            started: Instant::now(),
            process: std::process::id(),
            options,
            machine,
        })
    }

    /// The machine that is simulated.
    pub fn machine(&self) -> &Machine {
        &self.machine
    }

    /// The options.
    pub fn options(&self) -> &ExecOptions {
        &self.options
    }

    /// How programs are compiled. `frontend` has what the program's own build options say.
    pub fn compile_options(&self, frontend: FrontendOptions) -> CompileOptions {
        self.options.compile_options(frontend)
    }

    /// Whether buffers are to lie far apart, so that indices far out of bounds are found.
    pub fn spreads_memory(&self) -> bool {
        self.functional.check_uninitialised
    }

    /// Whether any launch may be timed.
    pub fn may_time(&self) -> bool {
        self.options.mode == Mode::Timing || !self.options.timing.is_empty()
    }

    /// Nanoseconds since the session began: the clock of host calls.
    pub fn now(&self) -> u64 {
        u64::try_from(self.started.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }

    /// A launch of a kernel begins; `hash` makes the [hash](heddle_runtime::alike::launch_hash) of its code and
    /// sizes, if that is wanted.
    pub fn begin_launch(&self, kernel: &str, hash: impl FnOnce() -> String) -> LaunchPlan {
        let options = &self.options;
        let listed = options.json.is_some() && self.may_time();
        let picked = [&options.timing, &options.record_only].iter().any(|picks| Picks::need_hashes(picks));
        let wanted = listed || picked || options.simulation.alike.is_some() || self.checkpoints.is_some();
        let hash = wanted.then(hash);
        let mut state = lock(&self.state);
        let mut begun = state.begin(kernel, hash.as_deref(), options);
        let step = self.checkpoints.as_ref().map_or_else(Step::default, |checkpoints| {
            let launch = (begun.number, kernel, hash.as_deref().unwrap_or_default());
            let step = checkpoints.begin(launch, state.functional_since, &self.outputs);
            state.functional_since = step.resumes.unwrap_or(state.functional_since);
            begun.timed &= step.replayed.is_none();
            step
        });
        let mode = if begun.timed { Mode::Timing } else { Mode::Functional };
        let page = mode == Mode::Timing && self.options.report.is_some() && state.takes_page(begun.kernel);
        let cold = state.finds_cold_caches(mode) && !self.functional.warm && options.timing_caches == TimingCaches::Cold;
        drop(state);
        let options = match mode {
            // Caches get what the checkpoint has.
            Mode::Functional if step.replayed.is_some() => Options { warm: false, ..self.functional.clone() },
            Mode::Functional => self.functional.clone(),
            Mode::Timing => Options { record: Record { time_line: page, slices: 0 }, ..self.timing.clone() },
        };
        LaunchPlan {
            number: begun.number,
            occurrence: begun.occurrence,
            mode,
            cold,
            record: begun.record,
            options,
            hash,
            extrapolated: begun.extrapolated,
            replayed: step.replayed,
            step,
            kernel: begun.kernel,
            page,
        }
    }

    /// Before a launch runs: restores and writes checkpoints of the device.
    ///
    /// # Errors
    /// A checkpoint does not fit the program, which has been said: the launch, and all that follow, must not run.
    pub fn at_checkpoint(&self, plan: &LaunchPlan, device: &mut DeviceState) -> Result<(), String> {
        let (Some(checkpoints), step) = (&self.checkpoints, plan.step) else { return Ok(()) };
        if step.failed || step.resumes.is_some() {
            match checkpoints.restore(device) {
                Ok(()) => lock(&self.state).resumed(plan.number),
                Err(message) => {
                    lock(&self.state).problem(&message);
                    return Err(message);
                }
            }
        }
        if step.writes {
            let mut state = lock(&self.state);
            match checkpoints.write(plan.number, state.kernel_name(plan.kernel), device, &self.outputs) {
                Ok(path) => state.checkpoints.extend(path),
                Err(message) => state.problem(&message),
            }
        }
        Ok(())
    }

    /// A launch that the plan calls extrapolated has run functionally: adds what it would have taken.
    pub fn extrapolate(&self, plan: &LaunchPlan, statistics: &mut Statistics) {
        if let Some(hash) = plan.hash.as_deref().filter(|_| plan.extrapolated) {
            lock(&self.state).extrapolate(hash, statistics);
        }
    }

    /// A launch has ended, also with a fault. A fault is said on standard error.
    pub fn end_launch(&self, plan: &LaunchPlan, result: &LaunchResult) {
        if let Err(fault) = result.outcome {
            heddle_report::say!("heddle: {fault}");
            let hint = heddle_report::fault_hint(fault).filter(|_| self.options.check.is_empty());
            if let Some(hint) = hint.filter(|_| lock(&self.state).is_without_faults()) {
                heddle_report::say!("  {hint}");
            }
        }
        let page = match (plan.page, result.outcome) {
            (true, Ok(statistics)) => self.write_page(plan, result, statistics),
            _ => None,
        };
        if let Some(checkpoints) = &self.checkpoints {
            let cycles = result.outcome.ok().and_then(Statistics::cycles);
            checkpoints.end(plan.number, plan.replayed.or(cycles).unwrap_or(0));
        }
        let mut state = lock(&self.state);
        let dropped = state.end(plan, result, page);
        let kernel = state.kernel_name(plan.kernel);
        let due = result.outcome.is_err() || state.is_due(result.host);
        if self.tracing.load(Ordering::Relaxed) || dropped || due {
            let kernel = kernel.to_string();
            if due {
                self.write(&mut state, false);
            }
            drop(state);
            if dropped && let Some(warning) = heddle_report::dropped(result.printed, self.functional.printf_room) {
                heddle_report::say!("heddle: warning: kernel `{kernel}`: {warning}");
            }
            self.trace_launch(&kernel, plan, result);
        }
    }

    /// Writes the page of a launch; its name, if that worked.
    fn write_page(&self, plan: &LaunchPlan, result: &LaunchResult, statistics: &Statistics) -> Option<String> {
        let folder = self.outputs.folder("report", self.options.report.as_deref()?, "index.html")?;
        let kernel = lock(&self.state).kernel_name(plan.kernel).to_string();
        let name = format!("launch-{:04}.html", plan.number);
        let written = pages::launch_page(&kernel, plan, result, statistics, &self.machine)
            .and_then(|page| outputs::write(&folder.join(&name), page.as_bytes()));
        match written {
            Ok(()) => Some(name),
            Err(message) => {
                self.outputs.complain("report", &message);
                None
            }
        }
    }

    fn trace_launch(&self, kernel: &str, plan: &LaunchPlan, result: &LaunchResult) {
        self.traced(|trace| {
            let mut details = json!({ "number": plan.number, "global": result.global, "local": result.local });
            match result.outcome {
                Ok(statistics) => {
                    details["instructions"] = statistics.instructions.into();
                    if let Some(cycles) = statistics.cycles() {
                        details["cycles"] = cycles.into();
                    }
                }
                Err(fault) => details["fault"] = fault.kind.to_string().into(),
            }
            trace.command(kernel, "kernel", result.queue, &result.times, details)
        });
    }

    /// A launch that [`LaunchPlan::record`] names begins: keeps what it will find in its buffers. `None`
    /// without `--record`, and for what is no case.
    pub fn begin_recording(&self, plan: &LaunchPlan, launch: &Description, read: &Reader) -> Option<Pending> {
        let recorder = self.recorder.as_ref().filter(|_| plan.record)?;
        let folder = self.recording_folder()?;
        recorder.begin(&folder, plan, launch, read).unwrap_or_else(|message| {
            self.outputs.complain("record", &message);
            None
        })
    }

    /// It has ended, `whole` or with a fault: keeps what it left.
    pub fn end_recording(&self, pending: Pending, read: &Reader, whole: bool) {
        let Some(recorder) = &self.recorder else { return };
        match recorder.end(pending, read, whole) {
            Ok(_) => lock(&self.state).recorded(),
            Err(message) => self.outputs.complain("record", &message),
        }
    }

    /// A launch that [`LaunchPlan::record`] names is no case, for a reason that only the driver knows.
    pub fn leave_out(&self, plan: &LaunchPlan, kernel: &str, reason: &str) {
        if let Some(recorder) = self.recorder.as_ref().filter(|_| plan.record)
            && let Some(folder) = self.recording_folder()
        {
            self.outputs.report("record", recorder.leave_out(&folder, plan, kernel, reason));
        }
    }

    fn recording_folder(&self) -> Option<PathBuf> {
        self.outputs.folder("record", self.options.record.as_deref()?, record::ARRAYS)
    }

    /// Whether host calls and commands go anywhere: without a trace their times need not be taken.
    pub fn is_tracing(&self) -> bool {
        self.tracing.load(Ordering::Relaxed)
    }

    /// A call of the program's, by the clock of [`Session::now`].
    pub fn host_call(&self, name: &str, thread: u64, begin: u64, end: u64) {
        if self.is_tracing() {
            self.traced(|trace| trace.host_call(name, thread, begin, end));
        }
    }

    /// A command of a queue other than a kernel has ended: a copy, a fill, a marker.
    pub fn command(&self, kind: &str, queue: u64, bytes: u64, times: &CommandTimes) {
        if self.is_tracing() {
            self.traced(|trace| trace.command(kind, "command", queue, times, json!({ "bytes": bytes })));
        }
    }

    /// Adds to the trace; says once if that does not work, and adds no more.
    fn traced(&self, add: impl FnOnce(&mut SessionTrace<BufWriter<std::fs::File>>) -> std::io::Result<()>) {
        if !self.is_tracing() {
            return;
        }
        let mut trace = lock(&self.trace);
        let open = |path: &std::path::Path| {
            let file = BufWriter::with_capacity(1 << 16, std::fs::File::create(path)?);
            SessionTrace::new(file, &self.machine.name, self.options.trace_limit)
        };
        if trace.is_none() {
            let path = self.options.trace.as_deref().and_then(|p| self.outputs.file("trace", p));
            match path.as_deref().map(open) {
                Some(Ok(opened)) => *trace = Some(opened),
                Some(Err(e)) => self.outputs.complain("trace", &format!("cannot write the trace: {e}")),
                None => {}
            }
        }
        let added = match trace.as_mut() {
            Some(trace) => add(trace).map_err(|e| self.outputs.complain("trace", &format!("cannot write the trace: {e}"))),
            None => Err(()),
        };
        if added.is_err() {
            self.tracing.store(false, Ordering::Relaxed);
        }
    }

    /// A call ended with an error: its function, the code's name, and what was wrong. Said on standard error
    /// with `--check=api`.
    pub fn api_error(&self, function: &str, code: &str, sentence: &str) {
        if self.options.checks(Check::Api) {
            let first = lock(&self.state).api_error(function, code, sentence);
            if first {
                heddle_report::say!("heddle: {function}: {code}: {sentence}");
            }
        }
    }

    /// Objects exist although the program ends: of which kind, how many, and what tells the first ones apart.
    /// Said on standard error with `--check=leaks`.
    pub fn leak(&self, kind: &str, count: u64, examples: &str) {
        if self.options.checks(Check::Leaks) && count > 0 {
            let plural = if count == 1 { "" } else { "s" };
            let examples = if examples.is_empty() { String::new() } else { format!(": {examples}") };
            let line = format!("{count} {kind}{plural} never released{examples}");
            heddle_report::say!("heddle: {line}");
            lock(&self.state).leak(count, line);
        }
    }

    /// Says how many commands the program has enqueued and left before they ended. What these do is counted only if they end
    /// while statistics are being written.
    pub fn unended(&self, commands: u64) {
        if commands > 0 && !self.options.quiet && std::process::id() == self.process {
            let plural = if commands == 1 { "" } else { "s" };
            heddle_report::say!(
                "heddle: {commands} command{plural} had not ended when the program did, and may not be counted: \
                 it did not wait for them, as clFinish does"
            );
        }
    }

    /// Writes what is asked for and not yet written. It may be called several times, while the process ends
    /// and from a child that a fork made, where it does nothing.
    pub fn finish(&self) {
        if std::process::id() != self.process {
            return;
        }
        // A thread that held the lock may be gone for good.
        for _ in 0..100 {
            match self.state.try_lock() {
                Ok(mut state) => return self.write(&mut state, true),
                Err(TryLockError::Poisoned(state)) => return self.write(&mut state.into_inner(), true),
                Err(TryLockError::WouldBlock) => std::thread::sleep(Duration::from_millis(1)),
            }
        }
    }

    /// Writes outputs of a program that launched nothing, and what is wrong with that, if anything is.
    pub fn finish_empty(&self, problem: Option<&str>) {
        let mut state = lock(&self.state);
        state.note_problem(problem);
        self.write_listings(&mut state, true);
    }

    /// Writes statistics and the index page; `last`: nothing follows.
    fn write_listings(&self, state: &mut State, last: bool) {
        if let Some(path) = self.options.json.as_deref() {
            // Standard output once, at the end.
            if let Some(path) = self.outputs.file("json", path).filter(|p| last || p.as_os_str() != "-") {
                let text = state.json(&self.machine, self.options.mode);
                self.outputs.report("json", outputs::write(&path, text.as_bytes()));
            }
        }
        if let Some(folder) = self.options.report.as_deref().and_then(|p| self.outputs.folder("report", p, "index.html")) {
            let page = pages::index_page(state, &self.machine);
            self.outputs.report("report", outputs::write(&folder.join("index.html"), page.as_bytes()));
        }
    }

    /// Writes statistics, the index page and results; `last`: also the end of the trace.
    fn write(&self, state: &mut State, last: bool) {
        let began = Instant::now();
        if let Some(message) = self.checkpoints.as_ref().filter(|_| last).and_then(|c| c.never_reached(state.launches())) {
            state.problem(&message);
        }
        if state.launches() > 0 {
            self.write_listings(state, last);
        }
        if let Ok(mut trace) = self.trace.try_lock() {
            let ended = match trace.as_mut() {
                Some(t) if last => t.finish(),
                Some(t) => std::io::Write::flush(t.output()),
                None => Ok(()),
            };
            if last && trace.is_some() {
                self.tracing.store(false, Ordering::Relaxed);
                *trace = None;
            }
            self.outputs.report("trace", ended.map_err(|e| format!("cannot write the trace: {e}")));
        }
        if let Some(folder) = self.outputs.session_folder() {
            let results = state.results(self.process, &self.machine, &self.outputs);
            self.outputs.report("results", results.write(folder));
        }
        state.written(began);
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.finish();
    }
}
