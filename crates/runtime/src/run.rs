//! Runs the launches of a case on the simulator and compares what they leave in buffers.
//!
//! - [`device`]: a device between launches, and the launch itself.
//! - [`arguments`]: what a kernel finds in the constant bank.
//! - [`cached`]: what L2 holds when a case begins.
//! - [`checkpoint`]: the state of a device before a launch, in a file.
//! - `choose`: which launches are timed.
//! - `limits`: what the machine allows, and work-group sizes for launches that give none.
//! - `stale`: which L1 lines the driver must invalidate (K6).

pub mod arguments;
pub mod cached;
pub mod checkpoint;
mod choose;
pub mod device;
mod limits;
mod stale;

use std::collections::BTreeMap;
use std::time::Duration;

use super::array::Array;
use super::case::{Case, Placement};
use super::picks::Picks;
use super::printf::Printed;
use cached::CachedBytes;
use checkpoint::Checkpoints;
use choose::Chooser;
pub use device::{DeviceState, Launched, Request};
use heddle_object::Image;
use heddle_sim::{DeviceMemory, Fault, Options, Simulation, Statistics};
use heddle_target::Machine;
pub use limits::{Refusal, RefusalKind, max_work_group_size, suggested_local};

/// What a simulation is to find out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Mode {
    /// Results only, as fast as possible.
    Functional,
    /// Results, cycles and energy.
    Timing,
}

/// What can go wrong in a run.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// Input that makes no launch: exit status 2.
    #[error("{0}")]
    Input(String),
    /// A launch that is not possible, and which kind of reason there is: exit status 2.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The program did something wrong: exit status 1.
    #[error("{0}")]
    Fault(#[from] Box<Fault>),
}

/// What a launch of a case did.
#[derive(Clone, Debug, PartialEq)]
pub struct CaseLaunch {
    /// Which of the case's launches, from 0 on: those before a checkpoint that is restored are left out.
    pub number: usize,
    /// The kernel's name.
    pub kernel: String,
    /// The code that ran, by its number among the image's kernels: of the kernel's versions the one for the launch's sizes.
    pub version: usize,
    /// What it did.
    pub statistics: Statistics,
}

/// What a run did.
#[derive(Debug, Default)]
pub struct Outcome {
    /// All launches together.
    pub total: Statistics,
    /// Each launch.
    pub launches: Vec<CaseLaunch>,
    /// Expectations that do not hold: buffer and explanation.
    pub mismatches: Vec<(String, String)>,
    /// What the kernels printed.
    pub printed: Printed,
    /// Host time of the launches.
    pub simulated: Duration,
    /// Of that, each launch.
    pub launch_times: Vec<Duration>,
    /// Launches of the case that did not begin, because one before was interrupted
    /// ([`Statistics::interrupted`] of the total).
    pub launches_left: usize,
    /// Expectations checked.
    pub checked: usize,
    /// Contents of the buffers after the last launch.
    pub buffers: BTreeMap<String, Array>,
}

/// A machine and how it is simulated: the same for all launches of a run.
#[derive(Clone, Copy, Debug)]
pub struct Simulator<'a> {
    /// The machine.
    pub machine: &'a Machine,
    /// Whether with timing.
    pub mode: Mode,
    /// Checks, limits, host threads.
    pub options: &'a Options,
}

/// Is told what happens while launches run. `()` does not care.
pub trait Observer {
    /// A launch of a kernel begins. What is returned is told of work-groups that have ended, by their number,
    /// from any of the host's threads.
    fn begins(&mut self, kernel: &str, work_groups: u64) -> Box<dyn Fn(u64) + Sync>;
    /// What a launch has printed, when it has ended, also with a fault.
    fn printed(&mut self, text: &[u8]);
    /// Runs a launch itself, in the place of functional mode, and says what came of it; `None`: it does not want to.
    fn takes(&mut self, _launch: Simulation) -> Option<Result<Statistics, Box<Fault>>> {
        None
    }
}

impl Observer for () {
    fn begins(&mut self, _kernel: &str, _work_groups: u64) -> Box<dyn Fn(u64) + Sync> {
        Box::new(|_| {})
    }
    fn printed(&mut self, _text: &[u8]) {}
}

/// A case's buffers by name, with their device addresses and contents.
type Buffers<'a> = BTreeMap<&'a str, (u64, Array)>;

/// Which launches of a case are timed in timing mode.
#[derive(Clone, Debug, Default)]
pub struct TimedLaunches {
    /// Those that are picked; none: all.
    pub picks: Vec<Picks>,
    /// Of those that are alike, so many one after the other and then fewer ([`alike`](super::alike)).
    pub alike: Option<u32>,
    /// What caches hold when the first launch begins; nothing if it is missing.
    pub cached: Option<CachedBytes>,
}

/// Runs a case's launches on compiled code.
///
/// # Errors
/// See [`RunError`]. Results that differ from the expected ones are in the outcome.
pub fn run_case(case: &Case, image: &Image, simulator: &Simulator, observer: &mut dyn Observer) -> Result<Outcome, RunError> {
    run_chosen(case, image, simulator, &TimedLaunches::default(), &Checkpoints::default(), observer)
}

/// Runs a case's launches, from a checkpoint on if there is one to be restored; in timing mode those that are
/// not chosen run functionally.
///
/// # Errors
/// As [`run_case`]. A run that is interrupted, where the options want partial results, ends with what has been
/// counted so far; its buffers are neither read nor saved nor compared.
pub fn run_chosen(
    case: &Case,
    image: &Image,
    simulator: &Simulator,
    timed: &TimedLaunches,
    checkpoints: &Checkpoints,
    observer: &mut dyn Observer,
) -> Result<Outcome, RunError> {
    let limit = simulator.machine.memory.device_bytes;
    let mut memory = match simulator.mode == Mode::Functional && simulator.options.check_uninitialised {
        true => DeviceMemory::spread(limit),
        false => DeviceMemory::new(limit),
    };
    let buffers = allocate(case, &mut memory, limit).map_err(RunError::Input)?;
    let mut outcome = Outcome::default();
    let mut device = DeviceState::new(memory, simulator.machine);
    let data = device.load(0, image).map_err(|e| RunError::Input(e.to_string()))?;
    let addresses: BTreeMap<&str, u64> = buffers.iter().map(|(n, (a, _))| (*n, *a)).collect();
    if let Some(cached) = &timed.cached {
        let places = buffers.iter().map(|(name, (address, array))| (*name, (*address, array.data.len() as u64))).collect();
        // Of the code that the first launch will run.
        let version = case.launches.first().and_then(|l| device::version(image, l, simulator.machine).ok());
        let kernel = version.and_then(|v| image.metadata.kernels.get(v));
        let code = kernel.map(|k| [k.text_offset, k.text_size]);
        cached.give(&mut device, &places, code).map_err(RunError::Input)?;
    }
    let mut chooser = Chooser::new(timed, simulator, image);
    if !checkpoints.is_empty() {
        let of = checkpoint::identity(simulator.machine, image, case);
        chooser.keep(checkpoints, of).map_err(RunError::Input)?;
    }
    for (number, spec) in case.launches.iter().enumerate() {
        // With one launch there is nothing to tell apart.
        let place = if case.launches.len() > 1 { format!("launches[{number}]: ") } else { String::new() };
        let placed = |m: String| RunError::Input(format!("{place}{m}"));
        let arguments = spec.arguments().map_err(placed)?;
        let request = Request { addresses: &addresses, buffers: &case.buffers, ..Request::by_address(spec, 0, &arguments, data) };
        let launched = chooser.launch(&mut device, &request, observer).map_err(|e| match e {
            RunError::Input(m) => placed(m),
            RunError::Refused(Refusal { kind, message }) => Refusal::new(kind, format!("{place}{message}")).into(),
            fault => fault,
        })?;
        if chooser.left_out(spec.repeat) {
            continue;
        }
        outcome.simulated += launched.time;
        outcome.launch_times.push(launched.time);
        outcome.printed.add(&launched.printed);
        outcome.total.add(&launched.statistics);
        let Launched { version, statistics, .. } = launched;
        outcome.launches.push(CaseLaunch { number, kernel: spec.kernel.clone(), version, statistics });
        if outcome.total.interrupted.is_some() {
            // Buffers hold what nobody expects.
            outcome.launches_left = case.launches.len() - number - 1;
            return Ok(outcome);
        }
    }
    compare(case, buffers, &device.memory, &mut outcome).map_err(RunError::Input)?;
    Ok(outcome)
}

/// Allocates a case's buffers and gives them their contents.
fn allocate<'a>(case: &'a Case, memory: &mut DeviceMemory, limit: u64) -> Result<Buffers<'a>, String> {
    let mut buffers = Buffers::new();
    for (name, buffer) in &case.buffers {
        // Before the host makes room for it.
        if let Some(bytes) = buffer.described_bytes().filter(|b| *b > limit) {
            return Err(format!("buffer `{name}` needs {bytes} bytes, the machine's memory has {limit}"));
        }
        let array = buffer.contents(&case.folder).map_err(|m| format!("buffer `{name}`: {m}"))?;
        let address = memory.allocate(name, array.data.len() as u64).map_err(|e| e.to_string())?;
        let _fits = memory.write(address, &array.data);
        memory.place(address, buffer.memory == Placement::System);
        buffers.insert(name, (address, array));
    }
    Ok(buffers)
}

/// Reads buffers back, saves those that are to be saved and compares those of which it is known what they should hold.
fn compare(case: &Case, mut buffers: Buffers, memory: &DeviceMemory, outcome: &mut Outcome) -> Result<(), String> {
    for (name, buffer) in &case.buffers {
        let Some((address, array)) = buffers.get_mut(name.as_str()) else { continue };
        if !array.is_empty() {
            array.data = memory.read(*address, array.data.len()).unwrap_or_default();
        }
        if let Some(save) = &buffer.save {
            array.write(&case.folder.join(save))?;
        }
        if let Some(expect) = &buffer.expect {
            let expected = Array::read(&case.folder.join(expect))?;
            outcome.checked += 1;
            if let Err(m) = array.compare(&expected, buffer.rtol.unwrap_or(0.0), buffer.atol.unwrap_or(0.0)) {
                outcome.mismatches.push((name.clone(), m));
            }
        }
    }
    outcome.buffers = buffers.into_iter().map(|(name, (_, array))| (name.to_string(), array)).collect();
    Ok(())
}
