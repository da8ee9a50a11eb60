//! What a run did: statistics, texts, the report.

use std::sync::Arc;
use std::time::Duration;

use heddle::explore::metrics;
use heddle::object::Image;
use heddle::report::html;
use heddle::report::{HostTimes, summary};
use heddle::runtime::case::{Case, Launch};
use heddle::runtime::run::{CaseLaunch, Launched, Mode, Outcome};
use heddle::{Machine, Statistics};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList};

use crate::errors;
use crate::program::Program;

/// What was run, for the report.
enum Origin {
    /// A launch of a kernel of a program in memory: its source's name and text, the launch, and the version that ran.
    Launch { name: String, text: String, spec: Box<Launch>, kernel: String, version: usize },
    /// A case file.
    Case { title: String, case: Box<Case> },
}

/// A run.
#[pyclass(frozen, module = "heddle._native")]
pub struct Run {
    machine: Arc<Machine>,
    image: Arc<Image>,
    mode: Mode,
    outcome: Outcome,
    compile: Duration,
    origin: Origin,
}

impl Run {
    /// Of a launch.
    pub fn of_launch(program: &Program, image: &Arc<Image>, spec: Launch, mode: Mode, launched: Launched, text: Vec<u8>) -> Run {
        let Launched { version, statistics, time, mut printed } = launched;
        printed.text = text;
        let outcome = Outcome { total: statistics, printed, simulated: time, launch_times: vec![time], ..Outcome::default() };
        let (name, source) = program.source.clone();
        let source = String::from_utf8_lossy(&source).into_owned();
        let kernel = spec.kernel.clone();
        let origin = Origin::Launch { name, text: source, spec: Box::new(spec), kernel, version };
        let machine = program.machine.clone();
        Run { machine, image: image.clone(), mode, outcome, compile: Duration::ZERO, origin }
    }

    /// Of a case.
    pub fn of_case(
        title: String,
        case: Case,
        machine: Machine,
        image: Image,
        mode: Mode,
        outcome: Outcome,
        compile: Duration,
    ) -> Run {
        let origin = Origin::Case { title, case: Box::new(case) };
        Run { machine: Arc::new(machine), image: Arc::new(image), mode, outcome, compile, origin }
    }

    /// The outcome with its launches by name.
    fn whole(&self) -> Outcome {
        let o = &self.outcome;
        let launches = match &self.origin {
            Origin::Launch { kernel, version, .. } => {
                vec![CaseLaunch { number: 0, kernel: kernel.clone(), version: *version, statistics: o.total.clone() }]
            }
            Origin::Case { .. } => o.launches.clone(),
        };
        Outcome {
            total: o.total.clone(),
            launches,
            mismatches: o.mismatches.clone(),
            printed: heddle::runtime::printf::Printed { text: o.printed.text.clone(), ..o.printed },
            simulated: o.simulated,
            launch_times: o.launch_times.clone(),
            checked: o.checked,
            launches_left: o.launches_left,
            buffers: Default::default(),
        }
    }

    fn times(&self) -> HostTimes {
        let o = &self.outcome;
        HostTimes { compile: self.compile, simulate: o.simulated, launches: o.launch_times.clone() }
    }

    fn metrics_of(&self, statistics: &Statistics) -> String {
        let metrics = metrics::of(statistics, &self.machine);
        serde_json::to_string(&metrics).unwrap_or_default()
    }
}

#[pymethods]
impl Run {
    /// Cycles of all launches together; None in functional mode.
    #[getter]
    fn cycles(&self) -> Option<u64> {
        self.outcome.total.cycles()
    }

    /// Energy of all components, pJ; None in functional mode.
    #[getter]
    fn energy_pj(&self) -> Option<f64> {
        let parts = &self.outcome.total.energy_pj;
        (self.mode == Mode::Timing || !parts.is_empty()).then(|| parts.values().sum())
    }

    /// Host seconds of the simulation.
    #[getter]
    fn seconds(&self) -> f64 {
        self.outcome.simulated.as_secs_f64()
    }

    /// Whether kernels printed anything.
    #[getter]
    fn has_printed(&self) -> bool {
        !self.outcome.printed.text.is_empty()
    }

    /// What kernels printed.
    #[getter]
    fn printed(&self) -> String {
        String::from_utf8_lossy(&self.outcome.printed.text).into_owned()
    }

    /// What to say of messages that did not fit a buffer of so many bytes.
    fn dropped(&self, room: u32) -> Option<String> {
        heddle::report::dropped(&self.outcome.printed, room)
    }

    /// `timing` or `functional`.
    #[getter]
    fn mode(&self) -> &'static str {
        if self.mode == Mode::Timing { "timing" } else { "functional" }
    }

    /// What `heddle run --json` writes.
    fn json(&self) -> String {
        heddle::report::json(&self.whole(), &self.machine, self.mode, &self.times())
    }

    /// All statistics by the names of sweeps' columns, as JSON.
    fn metrics(&self) -> String {
        self.metrics_of(&self.outcome.total)
    }

    /// Each launch: its kernel, and its statistics as `metrics` has them.
    fn launches(&self) -> Vec<(String, String)> {
        match &self.origin {
            Origin::Launch { kernel, .. } => vec![(kernel.clone(), self.metrics())],
            Origin::Case { .. } => {
                let of = |l: &CaseLaunch| (l.kernel.clone(), self.metrics_of(&l.statistics));
                self.outcome.launches.iter().map(of).collect()
            }
        }
    }

    /// What `heddle run` prints.
    fn summary(&self) -> String {
        summary(&self.whole(), &self.machine, self.mode, &self.times())
    }

    /// The report as a page.
    fn page(&self, py: Python<'_>, command: String) -> PyResult<String> {
        let of_launch;
        let (title, case, sources) = match &self.origin {
            Origin::Case { title, case } => (title.clone(), &**case, Vec::new()),
            Origin::Launch { name, text, spec, kernel, .. } => {
                of_launch = Case {
                    source: name.clone(),
                    options: Vec::new(),
                    buffers: Default::default(),
                    variables: Default::default(),
                    launches: vec![(**spec).clone()],
                    folder: Default::default(),
                };
                (kernel.clone(), &of_launch, vec![(name.clone(), text.clone())])
            }
        };
        let outcome = self.whole();
        let (image, machine, mode, title) = (&self.image, &self.machine, self.mode, &title);
        let run = html::Run { title, command, case, image, machine, mode, sources: &sources };
        py.detach(|| html::page(&run, &outcome, &self.times())).map_err(errors::Error::new_err)
    }

    /// Buffers and what is wrong with them.
    fn mismatches(&self) -> Vec<(String, String)> {
        self.outcome.mismatches.clone()
    }

    /// Buffers that were compared.
    #[getter]
    fn checked(&self) -> usize {
        self.outcome.checked
    }

    /// Buffers of a case after its last launch: name, numpy's name of the type, shape, bytes.
    fn buffers<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let all = PyList::empty(py);
        for (name, array) in &self.outcome.buffers {
            all.append((name, array.dtype.to_string(), array.shape.clone(), PyBytes::new(py, &array.data)))?;
        }
        Ok(all)
    }
}
