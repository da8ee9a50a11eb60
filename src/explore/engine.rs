//! Running points: compile (each code once), simulate, compare with the case's expectations; many of them on
//! all cores.

use std::any::Any;
use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use serde::{Deserialize, Serialize};

use super::ExploreError;
use super::identity::{Hash, Hasher, LoadedCase, machine_text};
use super::metrics::{self, Metrics};
use super::options::PointOptions;
use crate::driver::{self, Emit};
use heddle_frontend::Stop;
use heddle_object::Image;
use heddle_object::read;
use heddle_runtime::run::{Mode, Outcome, Refusal, RunError, Simulator, run_case};
use heddle_sim::Interrupt;
use heddle_target::Machine;

/// How a point ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, strum::Display)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum Status {
    /// All expectations of the case hold.
    Passed,
    /// A buffer is not as expected.
    Mismatch,
    /// The program did something wrong.
    Fault,
    /// The machine cannot be made, or cannot run the launch.
    Refused,
    /// The compiler refused the source.
    NotCompiled,
    /// A defect of Heddle.
    InternalError,
}

/// What a point gave.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PointResult {
    /// How it ended.
    pub status: Status,
    /// Why it did not pass.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Statistics of all launches together; empty if they did not end.
    #[serde(default, skip_serializing_if = "Metrics::is_empty")]
    pub metrics: Metrics,
}

impl PointResult {
    fn without(status: Status, error: impl ToString) -> PointResult {
        PointResult { status, error: Some(error.to_string()), metrics: Metrics::new() }
    }
}

/// Why a point has no result: its status and a sentence.
pub type Failure = (Status, String);

/// The code of a case, made once by the first point that needs it.
type Code = OnceLock<Result<Arc<Image>, Failure>>;

/// Compiled code by what it depends on.
#[derive(Default)]
pub struct Compiler {
    images: Mutex<HashMap<Hash, Arc<Code>>>,
}

impl Compiler {
    /// The code of a case for a machine and options, compiled now or before.
    ///
    /// # Errors
    /// The status and the message of a point that has no code.
    pub fn image(&self, case: &LoadedCase, machine: &Machine, options: &PointOptions) -> Result<Arc<Image>, Failure> {
        self.image_unless(None, case, machine, options)
    }

    /// The same; clang ends when the host interrupts, and what failed for that is compiled when it is asked for again.
    fn image_unless(
        &self,
        interrupt: Option<Interrupt>,
        case: &LoadedCase,
        machine: &Machine,
        options: &PointOptions,
    ) -> Result<Arc<Image>, Failure> {
        let machine_key = machine_text(&machine.compilers_view()).map_err(|e| (Status::InternalError, e.to_string()))?;
        let key = Hasher::default().part(case.hash.to_string()).part(&case.name).part(options.compile_text()).part(machine_key);
        let key = key.finish();
        let images = || self.images.lock().unwrap_or_else(|e| e.into_inner());
        let slot = images().entry(key.clone()).or_default().clone();
        let stop = interrupt.map(|i| Stop::when(move || i.requested()));
        let image = slot.get_or_init(|| compile(case, machine, options, stop)).clone();
        if image.is_err() && interrupt.is_some_and(|i| i.requested()) {
            images().remove(&key);
        }
        image
    }

    /// How many different codes there are.
    pub fn len(&self) -> usize {
        self.images.lock().unwrap_or_else(|e| e.into_inner()).len()
    }

    /// Whether nothing has been compiled.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

fn compile(case: &LoadedCase, machine: &Machine, options: &PointOptions, stop: Option<Stop>) -> Result<Arc<Image>, Failure> {
    use driver::CompileError as E;
    use heddle_codegen::CodegenError;
    let refused = |m: String| (Status::NotCompiled, m);
    let (inputs, mut frontend) = driver::case_frontend(&case.case, &options.source_words()).map_err(refused)?;
    // The same warnings for every point help nobody.
    frontend.clang_args.push("-w".into());
    frontend.stop = stop;
    let mut options = options.compile_options(frontend);
    options.wide_ids |= case.case.has_wide_ids();
    let compiled = driver::compile(&inputs, Emit::Obj, &options, machine).map_err(|e| match &e {
        E::Codegen(CodegenError::Internal { .. }) | E::Write(_) => (Status::InternalError, e.to_string()),
        _ => refused(e.to_string()),
    })?;
    // The simulator loads the object's bytes, as `heddle run` does.
    read::parse(&compiled.output).map(Arc::new).map_err(|e| (Status::InternalError, e.to_string()))
}

/// Runs a point.
///
/// # Errors
/// Its status and message if the launches did not end.
pub fn run(
    compiler: &Compiler,
    case: &LoadedCase,
    machine: Result<&Machine, &str>,
    options: &PointOptions,
    mode: Mode,
) -> Result<Outcome, Failure> {
    run_with(compiler, case, machine, options, (mode, &options.simulation()))
}

/// Runs a point as [`run`] does, with other options of the simulator.
///
/// # Errors
/// See [`run`].
pub fn run_with(
    compiler: &Compiler,
    case: &LoadedCase,
    machine: Result<&Machine, &str>,
    options: &PointOptions,
    (mode, simulation): (Mode, &heddle_sim::Options),
) -> Result<Outcome, Failure> {
    let work = || {
        let machine = machine.map_err(|m| (Status::Refused, m.to_string()))?;
        options.check(machine).map_err(|m| (Status::Refused, m))?;
        let image = compiler.image_unless(simulation.interrupt, case, machine, options)?;
        run_case(&case.case, &image, &Simulator { machine, mode, options: simulation }, &mut ()).map_err(|e| match e {
            RunError::Input(m) | RunError::Refused(Refusal { message: m, .. }) => (Status::Refused, m),
            RunError::Fault(f) => (Status::Fault, f.to_string()),
        })
    };
    // A defect in one point must not end the others.
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| Err((Status::InternalError, panic_message(&*panic))))
}

fn panic_message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().cloned().or_else(|| panic.downcast_ref::<&str>().map(ToString::to_string));
    format!("internal error: {}", text.unwrap_or_else(|| "panic".into()))
}

/// An outcome as a result, of a machine that could be made.
pub fn result(outcome: Result<Outcome, Failure>, machine: Result<&Machine, &str>) -> PointResult {
    let outcome = outcome.and_then(|o| machine.map(|m| (o, m)).map_err(|m| (Status::Refused, m.to_string())));
    match outcome {
        Err((status, error)) => PointResult::without(status, error),
        Ok((outcome, machine)) => {
            let differ: Vec<String> = outcome.mismatches.iter().map(|(b, m)| format!("buffer `{b}`: {m}")).collect();
            PointResult {
                status: if differ.is_empty() { Status::Passed } else { Status::Mismatch },
                error: (!differ.is_empty()).then(|| differ.join("; ")),
                metrics: metrics::of(&outcome.total, machine),
            }
        }
    }
}

/// Host threads for `wanted` (0: as many as there are cores), no more than there is work.
pub fn threads(wanted: usize, work: usize) -> usize {
    let cores = || std::thread::available_parallelism().map_or(1, usize::from);
    if wanted == 0 { cores() } else { wanted }.min(work).max(1)
}

/// Applies `work` to 0, 1, … `count` - 1 on some threads, begun in this order. The first error stops it.
///
/// # Errors
/// That of `work`, or of a thread that cannot start.
pub fn in_parallel(
    count: usize,
    wanted_threads: usize,
    work: impl Fn(usize) -> Result<(), ExploreError> + Sync,
) -> Result<(), ExploreError> {
    let next = AtomicUsize::new(0);
    let error: Mutex<Option<ExploreError>> = Mutex::new(None);
    let stop = |e: ExploreError| {
        next.store(count, Ordering::Relaxed);
        error.lock().unwrap_or_else(|p| p.into_inner()).get_or_insert(e);
    };
    std::thread::scope(|scope| {
        for _ in 0..threads(wanted_threads, count) {
            // LLVM's recursion needs a main thread's stack.
            let builder = std::thread::Builder::new().stack_size(64 << 20);
            let spawned = builder.spawn_scoped(scope, || {
                loop {
                    let i = next.fetch_add(1, Ordering::Relaxed);
                    if i >= count {
                        return;
                    }
                    if let Err(e) = work(i) {
                        stop(e);
                    }
                }
            });
            if let Err(e) = spawned {
                stop(ExploreError::Input(format!("cannot start a thread: {e}")));
            }
        }
    });
    error.into_inner().unwrap_or_else(|p| p.into_inner()).map_or(Ok(()), Err)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explore::identity::load_case;
    use std::path::Path;

    fn object(case: &LoadedCase, machine: &Machine) -> Vec<u8> {
        let (inputs, frontend) = driver::case_frontend(&case.case, &[]).unwrap();
        let options = PointOptions::new([]).unwrap().compile_options(frontend);
        driver::compile(&inputs, Emit::Obj, &options, machine).unwrap().output
    }

    /// A machine that differs from the default one in every field that only the simulator reads.
    fn changed() -> Machine {
        let machine = Machine::default_machine();
        let value = toml::Value::try_from(&machine).unwrap();
        let mut overrides = Vec::new();
        for path in heddle_target::docs::simulator_only() {
            let others = match path.split('.').fold(&value, |at, key| &at[key]) {
                toml::Value::Integer(i) => [i * 2, i / 2, i + 1].map(|v| v.to_string()).to_vec(),
                toml::Value::Float(f) => [f + 1.0, f / 2.0].map(|v| toml::Value::Float(v).to_string()).to_vec(),
                toml::Value::Boolean(b) => vec![(!b).to_string()],
                toml::Value::String(now) => {
                    let words = ["other", "fifo", "lru", "linear", "hashed", "through", "back", "fr-fcfs", "in-order"];
                    let mappings = ["row:bank:column:channel:column.8", "row:column:bank:channel:column.8"];
                    words.into_iter().chain(mappings).filter(|w| w != now).map(String::from).collect()
                }
                _ => vec!["other".into()],
            };
            let possible = |o: &String| {
                let more = [overrides.clone(), vec![format!("{path}={o}")]].concat();
                Machine::load(None, &more).ok().map(|_| more)
            };
            overrides = others.iter().find_map(possible).unwrap_or_else(|| panic!("{path}: no other value"));
        }
        Machine::load(None, &overrides).unwrap()
    }

    /// Code that begins to depend on a field whose row says `simulator_only` must take that out of the row.
    #[test]
    fn code_does_not_depend_on_what_the_compilers_view_leaves_out() {
        let machine = Machine::default_machine();
        let changed = changed();
        assert_eq!(machine.compilers_view(), changed.compilers_view());
        for kernel in ["sgemm_tiled", "conv_stream", "black_scholes", "spmv_csr", "image_filter"] {
            let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("test-kernels").join(kernel).join("case.json");
            let case = load_case(&path, kernel.into()).unwrap();
            assert!(object(&case, &machine) == object(&case, &changed), "{kernel}: another machine, other code");
        }
    }

    #[test]
    fn all_work_is_done_once_and_an_error_stops_it() {
        let done: Vec<AtomicUsize> = (0..100).map(|_| AtomicUsize::new(0)).collect();
        in_parallel(100, 3, |i| {
            done[i].fetch_add(1, Ordering::Relaxed);
            Ok(())
        })
        .unwrap();
        assert!(done.iter().all(|d| d.load(Ordering::Relaxed) == 1));
        let error = in_parallel(100, 2, |i| if i == 5 { Err(ExploreError::Check("five".into())) } else { Ok(()) });
        assert_eq!(error.unwrap_err().to_string(), "five");
        in_parallel(0, 2, |_| Err(ExploreError::Check("none".into()))).unwrap();
    }
}
