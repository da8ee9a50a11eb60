//! Launches that end before their time, because their host wants it.
//!
//! The wish is a counter that a handler of signals moves on. What runs work-groups looks at it between them, and
//! now and then inside; the launch then ends with a fault, or, with [`Options::partial`], with what has been
//! counted so far.

use std::sync::atomic::{AtomicU64, Ordering};

use super::statistics::Interruption;
use super::{Fault, FaultKind, Launch, Options, Simulation, Statistics};

/// A wish of the host that launches end, which a handler of signals can express: a counter that moves on.
#[derive(Clone, Copy, Debug)]
pub struct Interrupt {
    counter: &'static AtomicU64,
    before: u64,
}

impl Interrupt {
    /// Ends what begins now when the counter moves on from the value it has.
    pub fn by(counter: &'static AtomicU64) -> Interrupt {
        Interrupt { counter, before: counter.load(Ordering::Relaxed) }
    }

    /// Whether it has.
    pub fn requested(&self) -> bool {
        self.counter.load(Ordering::Relaxed) != self.before
    }
}

impl Options {
    /// The fault of a launch that its host has interrupted, if it has.
    pub(crate) fn interrupted(&self, launch: &Launch) -> Option<Box<Fault>> {
        self.interrupt.filter(Interrupt::requested).map(|_| Box::new(Fault::interrupted(&launch.program.header.name)))
    }

    /// Whether a fault is an interruption of which what was counted is wanted.
    pub(crate) fn keeps(&self, fault: &Fault) -> bool {
        self.partial && fault.kind == FaultKind::Interrupted
    }
}

/// Runs a launch; if it is interrupted and what was counted is wanted, the statistics say how far it was.
///
/// # Errors
/// Those of `run`.
pub(crate) fn partial(
    simulation: Simulation,
    run: impl FnOnce(Simulation) -> Result<Statistics, Box<Fault>>,
) -> Result<Statistics, Box<Fault>> {
    if !simulation.options.partial {
        return run(simulation);
    }
    let ended = AtomicU64::new(0);
    let progress = |groups| {
        ended.fetch_add(groups, Ordering::Relaxed);
        (simulation.progress)(groups);
    };
    let interruption = || Interruption {
        work_groups: simulation.launch.groups().iter().map(|g| u64::from(*g)).product(),
        ended: ended.load(Ordering::Relaxed),
    };
    match run(Simulation { progress: &progress, ..simulation }) {
        Ok(mut statistics) => {
            if let Some(how_far) = &mut statistics.interrupted {
                *how_far = interruption();
            }
            Ok(statistics)
        }
        // It has not come to count anything.
        Err(fault) if simulation.options.keeps(&fault) => {
            Ok(Statistics { interrupted: Some(interruption()), ..Statistics::default() })
        }
        Err(fault) => Err(fault),
    }
}
