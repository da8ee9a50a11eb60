//! Micro-kernels whose cycles and counts follow from a machine description, run on the simulator: what
//! `heddle validate` prints.
//!
//! Each check says what it expects, computed from the description ([`expect`], which knows nothing of the
//! simulator), what was simulated, and by how much they may differ. As expectations come from the
//! description, they move with it.
//!
//! - [`expect`]: the closed forms.
//! - [`kernel`]: micro-kernels in assembly, and how they are launched.
//! - [`bench`]: runs them, compares, and keeps what all runs counted.
//! - [`latency`], [`throughput`], [`multiprocessor`], [`laws`]: the checks. [`energy`]: counters times constants.
//! - [`page`]: the results as a page.

pub mod bench;
pub mod energy;
pub mod expect;
pub mod kernel;
pub mod latency;
pub mod laws;
pub mod multiprocessor;
pub mod page;
pub mod throughput;

use heddle_sim::Options;
use heddle_target::Machine;
use serde::Serialize;

use bench::Bench;

/// A comparison.
#[derive(Clone, Debug, Serialize)]
pub struct Check {
    /// `latency`, `throughput`, `multiprocessor` or `laws`.
    pub group: &'static str,
    /// What is compared.
    pub name: String,
    /// Of what the figures are.
    pub unit: &'static str,
    /// By the closed form.
    pub expected: f64,
    /// By the simulator.
    pub simulated: f64,
    /// Difference over what is expected; 0 where a limit (`at_most`) is kept.
    pub error: f64,
    /// How much that may be.
    pub bound: f64,
    /// What is expected is a limit, which must not be passed.
    pub at_most: bool,
    /// Why it does not apply to this machine; then nothing was compared.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_applicable: Option<String>,
}

impl Check {
    /// Whether it was compared and the difference is beyond the bound.
    pub fn failed(&self) -> bool {
        self.not_applicable.is_none() && !(self.error.abs() <= self.bound)
    }
}

/// Points of a curve.
#[derive(Clone, Debug, Serialize)]
pub struct Plot {
    /// A short name.
    pub id: &'static str,
    /// Title.
    pub title: String,
    /// What it shows.
    pub note: String,
    /// Name of the horizontal axis.
    pub across: &'static str,
    /// Name of the vertical axis.
    pub up: &'static str,
    /// Places, each with what is expected there and what was simulated.
    pub points: Vec<(f64, f64, f64)>,
}

/// All that was found.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// Name of the machine.
    pub machine: String,
    /// The comparisons, in order.
    pub checks: Vec<Check>,
    /// Curves.
    pub plots: Vec<Plot>,
    /// Launches that were simulated.
    pub launches: usize,
    /// Their cycles together.
    pub cycles: u64,
}

impl Report {
    /// Checks beyond their bound.
    pub fn failures(&self) -> impl Iterator<Item = &Check> {
        self.checks.iter().filter(|c| c.failed())
    }

    /// Checks that do not apply.
    pub fn left_out(&self) -> impl Iterator<Item = &Check> {
        self.checks.iter().filter(|c| c.not_applicable.is_some())
    }
}

/// Changes a machine before it is simulated, behind the back of the expectations.
pub type Defect<'a> = dyn Fn(&mut Machine) + 'a;

/// A group of checks: its name, and what runs them.
type Group = (&'static str, fn(&mut Bench));

/// The groups in their order: the laws ask what the runs of the others counted.
const GROUPS: [Group; 4] =
    [("latency", latency::all), ("throughput", throughput::all), ("multiprocessor", multiprocessor::all), ("laws", laws::all)];

/// Runs all checks of a machine. `progress` is told each group before it runs. `defect` is for tests of the
/// checks themselves.
pub fn validate(machine: &Machine, options: &Options, defect: Option<&Defect>, progress: &mut dyn FnMut(&str)) -> Report {
    validate_groups(machine, options, defect, &|_| true, progress)
}

/// Runs the groups of checks that are `wanted`, as [`validate`] does all.
pub fn validate_groups(
    machine: &Machine,
    options: &Options,
    defect: Option<&Defect>,
    wanted: &dyn Fn(&str) -> bool,
    progress: &mut dyn FnMut(&str),
) -> Report {
    let mut bench = Bench::new(machine, options, defect);
    for (name, checks) in GROUPS.into_iter().filter(|(name, _)| wanted(name)) {
        progress(name);
        bench.group = name;
        checks(&mut bench);
    }
    bench.report()
}
