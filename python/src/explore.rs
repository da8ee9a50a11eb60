//! Case files, sweeps, comparisons, ablations.

use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Instant;

use heddle::driver::{self, Emit};
use heddle::explore::engine::{self, Compiler};
use heddle::explore::identity::load_case;
use heddle::explore::journal::{Entry, Finished, Header, Journal as File};
use heddle::explore::results::Format;
use heddle::explore::{ablate as ablation, compare as comparison, metrics, page, plan, sweep};
use heddle::frontend::Diagnostics;
use heddle::object::read;
use heddle::options::Check;
use heddle::runtime::case::Case;
use heddle::runtime::run::{Simulator, run_case as simulate};
use heddle::sim::trace::Record;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors::{self, CheckError};
use crate::interrupt::Watch;
use crate::launch::{checks, mode, simulation};
use crate::machine::{Machine, settings};
use crate::run::Run;

/// Runs a case file as `heddle run` does. What the kernels print is in the result.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "one call from Python, which has no cheaper way to say all this")]
pub fn run_case(
    py: Python<'_>,
    path: PathBuf,
    machine: &Machine,
    mode_name: Option<&str>,
    checked: Vec<String>,
    record: bool,
    techniques: &Bound<'_, PyDict>,
    keywords: &Bound<'_, PyDict>,
) -> PyResult<Run> {
    let description = machine.shared.description.clone();
    let points = settings(techniques)?;
    points.check(&description).map_err(errors::input)?;
    let wanted = match mode_name {
        Some(name) => mode(name)?,
        None => Check::mode(&checks_of_any_mode(&checked)?),
    };
    let checks = checks(&checked, wanted)?;
    let mut options = simulation(keywords)?;
    options.record = Record { time_line: record && wanted == heddle::Mode::Timing, slices: 0 };
    let watch = Watch::new();
    options.interrupt = Some(watch.interrupt());
    let options = Check::set(&checks, wanted, options);
    let case = Case::read(&path).map_err(errors::input)?;
    let started = Instant::now();
    let (inputs, mut frontend) =
        driver::case_frontend(&case, &points.source_words()).map_err(|m| errors::input(format!("{}: {m}", path.display())))?;
    frontend.diagnostics = Diagnostics::Keep;
    frontend.stop = Some(watch.stop());
    let mut compile = points.compile_options(frontend);
    compile.checked = Check::compiled(&checks, wanted);
    compile.wide_ids |= case.has_wide_ids();
    let object = py.detach(|| large_stack(|| driver::compile(&inputs, Emit::Obj, &compile, &description)));
    watch.check(py)?;
    let object = object?.map_err(errors::compile)?.output;
    let compiled = started.elapsed();
    let image = read::parse(&object).map_err(|e| errors::Error::new_err(e.to_string()))?;
    let simulator = Simulator { machine: &description, mode: wanted, options: &options };
    let outcome = py.detach(|| simulate(&case, &image, &simulator, &mut ()));
    drop(watch);
    let outcome = outcome.map_err(|e| errors::run(py, e))?;
    let title = case.folder.file_name().map_or_else(|| path.display().to_string(), |f| f.to_string_lossy().into_owned());
    Ok(Run::of_case(title, case, description, image, wanted, outcome, compiled))
}

/// Checks by name, whatever mode they are for.
fn checks_of_any_mode(names: &[String]) -> PyResult<Vec<Check>> {
    names.iter().map(|n| heddle::options::parse_check(n)).collect::<Result<_, _>>().map_err(errors::input)
}

/// Compiles on a thread that has enough stack for LLVM's recursion: Python's threads may have little.
fn large_stack<T: Send>(work: impl FnOnce() -> T + Send) -> PyResult<T> {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(64 << 20).spawn_scoped(scope, work);
        let thread = thread.map_err(|e| errors::Error::new_err(format!("cannot start a thread: {e}")))?;
        thread.join().map_err(|_| errors::Error::new_err("internal error of the compiler"))
    })
}

/// A sweep, checked.
#[pyclass(frozen, module = "heddle._native")]
pub struct Plan {
    plan: plan::Plan,
    compiler: Compiler,
}

#[pymethods]
impl Plan {
    /// Reads a SWEEP.toml.
    #[new]
    fn new(py: Python<'_>, path: PathBuf) -> PyResult<Plan> {
        let plan = py.detach(|| plan::Plan::read(&path)).map_err(errors::explore)?;
        Ok(Plan { plan, compiler: Compiler::default() })
    }

    fn __len__(&self) -> usize {
        self.plan.len()
    }

    /// What it would run, for people.
    fn overview(&self) -> String {
        sweep::overview(&self.plan)
    }

    /// Columns to make small, and those to make large.
    fn objectives(&self) -> (Vec<&str>, Vec<&str>) {
        let of = |large: bool| self.plan.objectives.iter().filter(|o| o.maximise == large).map(|o| o.name.as_str()).collect();
        (of(false), of(true))
    }

    /// A point in words.
    fn describe(&self, number: usize) -> Option<String> {
        let point = self.plan.point(number)?;
        let words = [point.case.name.clone(), self.plan.describe(point.configuration)];
        Some(words.into_iter().filter(|w| !w.is_empty()).collect::<Vec<_>>().join(", "))
    }

    /// The id of a point: a hash of all that its result depends on.
    fn id(&self, number: usize) -> Option<String> {
        self.plan.point(number).map(|p| p.id.to_string())
    }

    /// Runs a point, from 1; returns its line of a journal.
    fn run(&self, py: Python<'_>, number: usize) -> PyResult<String> {
        let point = self.plan.point(number).ok_or_else(|| errors::input(format!("there is no point {number}")))?;
        let watch = Watch::new();
        let started = Instant::now();
        let mut options = point.options.simulation();
        options.interrupt = Some(watch.interrupt());
        let simulation = (self.plan.mode, &options);
        let result = py.detach(|| {
            let work = || engine::run_with(&self.compiler, point.case, point.machine, point.options, simulation);
            let outcome = large_stack(work)?;
            Ok::<_, PyErr>(engine::result(outcome, point.machine))
        })?;
        watch.check(py)?;
        let host_seconds = started.elapsed().as_secs_f64();
        let entry = Entry { id: point.id.clone(), point: number, result, host_seconds };
        serde_json::to_string(&entry).map_err(|e| errors::Error::new_err(e.to_string()))
    }
}

/// The journal of a sweep, open for writing; no other process has it meanwhile.
#[pyclass(frozen, module = "heddle._native")]
pub struct Journal {
    plan: Py<Plan>,
    inner: Mutex<(Option<File>, Finished)>,
}

#[pymethods]
impl Journal {
    /// Opens or makes it.
    #[new]
    fn new(plan: Py<Plan>, path: PathBuf) -> PyResult<Journal> {
        let header = Header::of(&plan.get().plan);
        let (file, finished) = File::open(&path, &header).map_err(errors::explore)?;
        Ok(Journal { plan, inner: Mutex::new((Some(file), finished)) })
    }

    /// Numbers of the points that are not in it; of those that are the same, the first.
    fn missing(&self) -> Vec<usize> {
        let inner = self.inner.lock().unwrap_or_else(|e| e.into_inner());
        let mut seen = std::collections::BTreeSet::new();
        let plan = &self.plan.get().plan;
        plan.points().filter(|p| !inner.1.contains_key(p.id) && seen.insert(p.id.clone())).map(|p| p.number).collect()
    }

    /// Adds a line that `Plan.run` returned, on disk when this returns. Returns the point's status, and its error.
    fn append(&self, line: &str) -> PyResult<(String, Option<String>)> {
        let entry: Entry = serde_json::from_str(line).map_err(|e| errors::input(format!("this is no finished point: {e}")))?;
        let mut inner = self.inner.lock().unwrap_or_else(|e| e.into_inner());
        let file = inner.0.as_ref().ok_or_else(|| errors::input("the journal is closed"))?;
        file.append(&entry).map_err(errors::explore)?;
        let said = (entry.result.status.to_string(), entry.result.error.clone());
        inner.1.insert(entry.id.clone(), entry);
        Ok(said)
    }

    /// Lets others have it.
    fn close(&self) {
        self.inner.lock().unwrap_or_else(|e| e.into_inner()).0 = None;
    }

    /// Writes the result files of the points that are finished and, once all are, the Pareto page. Returns their paths.
    fn write_results(&self, py: Python<'_>, folder: PathBuf) -> PyResult<Vec<PathBuf>> {
        let inner = self.inner.lock().unwrap_or_else(|e| e.into_inner());
        let plan = &self.plan.get().plan;
        py.detach(|| sweep::write_results(plan, &inner.1, &folder, Format::ALL)).map_err(errors::explore)
    }

    /// The Pareto front of all cases, for people.
    fn summary(&self) -> String {
        let inner = self.inner.lock().unwrap_or_else(|e| e.into_inner());
        sweep::summary(&self.plan.get().plan, &inner.1)
    }
}

/// Compares two files of statistics or results; returns JSON, text and a page.
#[pyfunction]
pub fn compare(a: PathBuf, b: PathBuf, all: bool) -> PyResult<(String, String, String)> {
    let (a, b) = (comparison::read(&a).map_err(errors::explore)?, comparison::read(&b).map_err(errors::explore)?);
    let compared = comparison::compare(&a, &b, all);
    let json = serde_json::to_string(&compared).map_err(|e| errors::Error::new_err(e.to_string()))?;
    Ok((json, comparison::text(&compared), page::compare::page(&compared)))
}

/// Runs cases with all techniques and each one off; returns JSON, text and a page.
#[pyfunction]
pub fn ablate(
    py: Python<'_>,
    cases: Vec<PathBuf>,
    machine: &Machine,
    runs: u32,
    threads: usize,
) -> PyResult<(String, String, String)> {
    let named = |p: &PathBuf| load_case(p, name(p)).map_err(errors::explore);
    let cases = cases.iter().map(named).collect::<PyResult<Vec<_>>>()?;
    let description = &machine.shared.description;
    let watch = Watch::new();
    if runs == 0 {
        return Err(errors::input("runs: at least one"));
    }
    let plan = ablation::Plan { machine: description, runs, threads, interrupt: Some(watch.interrupt()) };
    let done = py.detach(|| ablation::run(&cases, &plan));
    watch.check(py)?;
    let done = done.map_err(errors::explore)?;
    let failures = done.failures();
    if !failures.is_empty() {
        return Err(CheckError::new_err(failures.join("\n")));
    }
    let json = serde_json::to_string(&done).map_err(|e| errors::Error::new_err(e.to_string()))?;
    Ok((json, done.text(), page::ablate::page(&done, &description.name)))
}

fn name(path: &Path) -> String {
    path.display().to_string()
}

/// The columns that stand in front of others, each with its unit and meaning.
#[pyfunction]
pub fn headlines() -> Vec<(&'static str, &'static str)> {
    metrics::HEADLINES.iter().map(|h| (h.name, h.meaning)).collect()
}

/// Names of the options of code generation and simulation that settings may have.
#[pyfunction]
pub fn option_names() -> Vec<String> {
    heddle::explore::options::names()
}
