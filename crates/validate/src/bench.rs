//! Runs micro-kernels, compares them with what is expected, and keeps what all runs counted.

use heddle_sim::Options;
use heddle_target::{Machine, MainFile, Scheduler};

use crate::kernel::{Done, Kernel, Shape, run};
use crate::{Check, Defect, Plot, Report};

/// A measurement, or why the machine does not allow it.
pub type Measured = Result<f64, String>;

/// A run whose counters the laws are asked of.
pub struct Kept {
    /// What it was, for messages.
    pub name: String,
    /// The machine, as it is described.
    pub machine: Machine,
    /// Work-groups.
    pub shape: Shape,
    /// What it did.
    pub done: Done,
}

/// The machine that is checked, and what was found so far.
pub struct Bench<'a> {
    /// The machine as it is described.
    pub machine: &'a Machine,
    options: &'a Options,
    defect: Option<&'a Defect<'a>>,
    /// The group of the checks that follow.
    pub group: &'static str,
    checks: Vec<Check>,
    plots: Vec<Plot>,
    /// The longest runs of measurements.
    pub kept: Vec<Kept>,
    launches: usize,
    cycles: u64,
}

impl<'a> Bench<'a> {
    /// Nothing found yet.
    pub fn new(machine: &'a Machine, options: &'a Options, defect: Option<&'a Defect<'a>>) -> Bench<'a> {
        Bench {
            machine,
            options,
            defect,
            group: "",
            checks: Vec::new(),
            plots: Vec::new(),
            kept: Vec::new(),
            launches: 0,
            cycles: 0,
        }
    }

    /// The machine with other values in some fields, and an SM as plain as can be: one scheduler, which does not keep
    /// warps out, a main file with as many ports as wanted, clusters that do not rotate. What these add is checked apart
    /// ([`crate::multiprocessor`]).
    pub fn variant(&self, change: impl FnOnce(&mut Machine)) -> Machine {
        let mut machine = self.machine.clone();
        (machine.sm.schedulers, machine.sm.issue_width, machine.sm.rotate_clusters) = (1, 0, false);
        if machine.sm.scheduler == Scheduler::TwoLevel {
            (machine.sm.scheduler, machine.sm.active_warps) = (Scheduler::GreedyOldest, 0);
        }
        machine.main_file = MainFile::UNLIMITED;
        change(&mut machine);
        machine
    }

    /// One SM of the machine, where a law allows it.
    pub fn one_sm(&self) -> Machine {
        self.variant(|m| (m.sm.count, m.memory.l15.sms) = (1, 1))
    }

    /// Some SMs of the machine with one slice of its L2.
    pub fn one_slice(&self, sms: u32) -> Machine {
        self.variant(|m| {
            (m.sm.count, m.memory.l15.sms) = (sms, 1);
            m.memory.l2.bytes /= m.memory.l2.slices;
            m.memory.l2.slices = 1;
        })
    }

    /// Runs a launch.
    ///
    /// # Errors
    /// Why the machine does not allow it.
    pub fn run(&mut self, machine: &Machine, kernel: &Kernel, shape: &Shape) -> Result<Done, String> {
        self.run_with(machine, kernel, shape, &self.options.clone())
    }

    /// The same with other options.
    ///
    /// # Errors
    /// As [`Self::run`].
    pub fn run_with(&mut self, machine: &Machine, kernel: &Kernel, shape: &Shape, options: &Options) -> Result<Done, String> {
        let mut simulated = machine.clone();
        if let Some(defect) = self.defect {
            defect(&mut simulated);
        }
        let done = run(&simulated, kernel, shape, options)?;
        self.launches += 1;
        self.cycles += done.cycles();
        Ok(done)
    }

    /// Cycles that a loop takes each time when it has come into its stride: the difference of two launches that
    /// differ in how often it runs.
    ///
    /// # Errors
    /// As [`Self::run`].
    pub fn period(&mut self, machine: &Machine, kernel: &Kernel, shape: &Shape, times: [u32; 2]) -> Measured {
        let short = self.run(machine, kernel, &Shape { times: times[0], ..shape.clone() })?;
        let long = Shape { times: times[1], ..shape.clone() };
        let done = self.run(machine, kernel, &long)?;
        let cycles = done.cycles().saturating_sub(short.cycles());
        let name = format!("{} {}", self.group, kernel.body.lines().next().unwrap_or_default().trim());
        self.kept.push(Kept { name, machine: machine.clone(), shape: long, done });
        Ok(cycles as f64 / f64::from(times[1] - times[0]))
    }

    /// Cycles that each line of a loop's body takes: the difference of two loops, one with more lines.
    ///
    /// # Errors
    /// As [`Self::run`].
    pub fn each(&mut self, machine: &Machine, shape: &Shape, before: &str, body: impl Fn(usize) -> String) -> Measured {
        const LINES: [usize; 2] = [4, 12];
        let mut periods = [0.0; 2];
        for (period, lines) in periods.iter_mut().zip(LINES) {
            let text: String = (0..lines).map(|i| format!("  {}\n", body(i))).collect();
            *period = self.period(machine, &Kernel::of(text).after(before), shape, [4, 8])?;
        }
        Ok((periods[1] - periods[0]) / (LINES[1] - LINES[0]) as f64)
    }

    fn push(&mut self, name: String, unit: &'static str, expected: f64, simulated: Measured, bound: f64, at_most: bool) {
        let group = self.group;
        let (simulated, not_applicable) = match simulated {
            Ok(value) => (value, None),
            Err(reason) => (0.0, Some(reason)),
        };
        let over = if expected == 0.0 { simulated } else { (simulated - expected) / expected.abs() };
        let error = match (&not_applicable, at_most) {
            (Some(_), _) => 0.0,
            (None, true) => over.max(0.0),
            (None, false) => over,
        };
        self.checks.push(Check { group, name, unit, expected, simulated, error, bound, at_most, not_applicable });
    }

    /// Compares a measurement; it may differ by `bound`, as a share of what is expected.
    pub fn compare(&mut self, name: impl Into<String>, unit: &'static str, expected: f64, simulated: Measured, bound: f64) {
        self.push(name.into(), unit, expected, simulated, bound, false);
    }

    /// Compares a measurement in cycles that must be exact.
    pub fn exact(&mut self, name: impl Into<String>, expected: f64, simulated: Measured) {
        // What divisions leave.
        self.push(name.into(), "cycles", expected, simulated, 1e-9, false);
    }

    /// Checks that a measurement does not pass a limit.
    pub fn at_most(&mut self, name: impl Into<String>, unit: &'static str, limit: f64, simulated: Measured) {
        self.push(name.into(), unit, limit, simulated, 1e-9, true);
    }

    /// Says why a check does not apply.
    pub fn leave_out(&mut self, name: impl Into<String>, reason: impl Into<String>) {
        self.push(name.into(), "", 0.0, Err(reason.into()), 0.0, false);
    }

    /// Keeps a curve.
    pub fn plot(&mut self, plot: Plot) {
        self.plots.push(plot);
    }

    /// What was found.
    pub fn report(self) -> Report {
        let Bench { checks, plots, launches, cycles, machine, .. } = self;
        Report { machine: machine.name.clone(), checks, plots, launches, cycles }
    }
}
