//! Running points: compile (each code once), simulate, compare with the case's expectations; many of them on all cores.

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
use heddle_object::Image;
use heddle_object::read;
use heddle_runtime::run::{Mode, Outcome, RunError, Simulator, run_case};
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

/// Compiled code by what it depends on.
#[derive(Default)]
pub struct Compiler {
    images: Mutex<HashMap<Hash, Arc<OnceLock<Result<Arc<Image>, (Status, String)>>>>>,
}

/// A machine in which the fields that only the simulator reads have fixed values: machines that are equal so have the same code.
pub fn compiler_view(machine: &Machine) -> Machine {
    let mut m = machine.clone();
    m.description = String::new();
    m.clock_mhz = 1.0;
    m.sm.count = 1;
    m.sm.scalar_threshold = 0;
    m.energy.static_watts = 0.0;
    let memory = &mut m.memory;
    memory.device_bytes = 0;
    for cache in [&mut memory.data, &mut memory.uniform, &mut memory.constant, &mut memory.instruction] {
        (cache.bytes, cache.ways, cache.misses, cache.sector_pj) = (0, 0, 0, 0.0);
    }
    (memory.l15.bytes, memory.l15.ways, memory.l15.sms, memory.l15.latency, memory.l15.sector_pj) = (0, 0, 0, 0, 0.0);
    let l2 = &mut memory.l2;
    (l2.bytes, l2.ways, l2.slices, l2.interval, l2.atomic_interval, l2.sector_pj) = (0, 0, 0, 0, 0, 0.0);
    (memory.network.interval, memory.network.queue, memory.network.sector_pj) = (0, 0, 0.0);
    let dram = &mut memory.dram;
    (dram.channels, dram.banks, dram.row_bytes, dram.row_miss, dram.row_cycle) = (0, 0, 0, 0, 0);
    (dram.interval, dram.sector_pj, dram.activate_pj) = (0, 0.0, 0.0);
    (memory.system.latency, memory.system.interval, memory.system.sector_pj) = (0, 0, 0.0);
    m
}

impl Compiler {
    /// The code of a case for a machine and options, compiled now or before.
    ///
    /// # Errors
    /// The status and the message of a point that has no code.
    pub fn image(&self, case: &LoadedCase, machine: &Machine, options: &PointOptions) -> Result<Arc<Image>, (Status, String)> {
        let machine_key = machine_text(&compiler_view(machine)).map_err(|e| (Status::InternalError, e.to_string()))?;
        let key = Hasher::default().part(case.hash.to_string()).part(&case.name).part(options.compile_text()).part(machine_key);
        let slot = self.images.lock().unwrap_or_else(|e| e.into_inner()).entry(key.finish()).or_default().clone();
        slot.get_or_init(|| compile(case, machine, options)).clone()
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

fn compile(case: &LoadedCase, machine: &Machine, options: &PointOptions) -> Result<Arc<Image>, (Status, String)> {
    use driver::CompileError as E;
    use heddle_codegen::CodegenError;
    let refused = |m: String| (Status::NotCompiled, m);
    let (inputs, mut frontend) = driver::case_frontend(&case.case, &options.source_words()).map_err(refused)?;
    // The same warnings for every point help nobody.
    frontend.clang_args.push("-w".into());
    let options = options.compile_options(frontend);
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
) -> Result<Outcome, (Status, String)> {
    let work = || {
        let machine = machine.map_err(|m| (Status::Refused, m.to_string()))?;
        options.check(machine).map_err(|m| (Status::Refused, m))?;
        let image = compiler.image(case, machine, options)?;
        run_case(&case.case, &image, &Simulator { machine, mode, options: &options.simulation() }, &mut ()).map_err(|e| match e {
            RunError::Input(m) => (Status::Refused, m),
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

/// An outcome as a result.
pub fn result(outcome: Result<Outcome, (Status, String)>) -> PointResult {
    match outcome {
        Err((status, error)) => PointResult::without(status, error),
        Ok(outcome) => {
            let differ: Vec<String> = outcome.mismatches.iter().map(|(b, m)| format!("buffer `{b}`: {m}")).collect();
            PointResult {
                status: if differ.is_empty() { Status::Passed } else { Status::Mismatch },
                error: (!differ.is_empty()).then(|| differ.join("; ")),
                metrics: metrics::of(&outcome.total),
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

    /// Guards [`compiler_view`]: code that begins to depend on one of these fields must take it out there.
    #[test]
    fn code_does_not_depend_on_what_the_compilers_view_leaves_out() {
        let other = [
            "description=other",
            "clock-mhz=333.0",
            "sm.count=3",
            "sm.scalar-threshold=0",
            "energy.static-watts=1.0",
            "memory.device-bytes=1048576",
            "memory.data.bytes=1024",
            "memory.data.ways=1",
            "memory.data.misses=1",
            "memory.data.sector-pj=1.0",
            "memory.uniform={ bytes = 1024, ways = 2, latency = 28, misses = 3, sector-pj = 1.0 }",
            "memory.constant={ bytes = 1024, ways = 2, latency = 20, misses = 3, sector-pj = 1.0 }",
            "memory.instruction={ bytes = 1024, ways = 2, latency = 10, misses = 3, sector-pj = 1.0 }",
            "memory.l15={ sms = 1, bytes = 1024, ways = 1, latency = 99, sector-pj = 1.0 }",
            "memory.l2={ bytes = 4096, ways = 4, slices = 2, latency = 112, interval = 7, atomic-interval = 9, sector-pj = 1.0 }",
            "memory.network={ latency = 40, interval = 9, queue = 1, sector-pj = 1.0 }",
            "memory.dram={ channels = 1, banks = 1, row-bytes = 1024, row-hit = 160, row-miss = 900, row-cycle = 1, interval = 9, sector-pj = 1.0, activate-pj = 1.0 }",
            "memory.system={ latency = 1, interval = 1, sector-pj = 1.0 }",
        ];
        let machine = Machine::default_machine();
        let changed = Machine::load(None, &other.map(String::from)).unwrap();
        assert_eq!(compiler_view(&machine), compiler_view(&changed));
        for kernel in ["sgemm_tiled", "conv_stream", "black_scholes", "spmv_csr", "image_filter"] {
            let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("test-kernels").join(kernel).join("case.json");
            let case = load_case(&path, kernel.into()).unwrap();
            assert_eq!(object(&case, &machine), object(&case, &changed), "{kernel}");
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
