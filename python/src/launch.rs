//! Launches of kernels on arrays.
//!
//! Arrays of the device are passed as they are. Those of the host are lent to the device, so none of them is copied: in
//! functional mode at the host's addresses; in timing mode, whose cycles depend on addresses, at those that the device would
//! have given. What cannot be lent (not aligned to 16 bytes) is copied and copied back. With checks a launch runs beside the device's state, in memory
//! where wrong indices hit nothing.

use std::sync::Arc;

use heddle::object::metadata::{KernelArgument, KernelHeader};
use heddle::options::Check;
use heddle::runtime::case::{Argument, Launch};
use heddle::runtime::run::{DeviceState, Launched, Mode, Observer, Request, RunError, Simulator};
use heddle::sim::memory::OutOfMemory;
use heddle::sim::trace::Record;
use heddle::sim::{DeviceMemory, Options};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use crate::arguments::{self, Given, HostBytes};
use crate::errors::{self, LaunchError};
use crate::interrupt::Watch;
use crate::program::{Code, Program};
use crate::run::Run;

/// A kernel of a program.
#[pyclass(frozen, module = "heddle._native")]
pub struct Kernel {
    program: Py<Program>,
    image: Arc<heddle::object::Image>,
    index: usize,
}

/// Reads the name of a mode.
pub fn mode(name: &str) -> PyResult<Mode> {
    match name {
        "timing" => Ok(Mode::Timing),
        "functional" => Ok(Mode::Functional),
        other => Err(errors::input(format!("mode `{other}`: timing or functional"))),
    }
}

/// Reads the names of checks.
pub fn checks(names: &[String], mode: Mode) -> PyResult<Vec<Check>> {
    use heddle::options::parse_check;
    let checks = names.iter().map(|n| parse_check(n)).collect::<Result<Vec<_>, _>>().map_err(errors::input)?;
    Check::possible(&checks, mode).map_err(|(check, needed)| errors::input(format!("check {check} needs mode {needed}")))?;
    Ok(checks)
}

/// The simulator's options from Python's keywords.
pub fn simulation(keywords: &Bound<'_, PyDict>) -> PyResult<Options> {
    let mut options = Options::default();
    for (name, value) in keywords {
        let name: String = name.extract()?;
        match name.as_str() {
            "threads" => options.threads = value.extract()?,
            "max_instructions" => options.max_instructions = value.extract()?,
            "scalar_threshold" => options.scalar_threshold = Some(value.extract()?),
            "printf_buffer" => options.printf_room = value.extract()?,
            "jit" => {
                let text: String = value.extract()?;
                options.jit = text.parse().map_err(|_| errors::input(format!("jit `{text}`: auto, always or never")))?;
            }
            other => return Err(errors::input(format!("there is no option `{other}`"))),
        }
    }
    Ok(options)
}

#[pymethods]
impl Kernel {
    #[new]
    fn new(program: Py<Program>, name: &str) -> PyResult<Kernel> {
        let image = program.get().code.image.clone();
        let index = image.kernel(name).ok_or_else(|| {
            let known: Vec<&str> = image.metadata.launchable().map(|k| k.name.as_str()).collect();
            errors::InputError::new_err(format!("no kernel `{name}`; the program has: {}", known.join(", ")))
        })?;
        Ok(Kernel { program, image, index })
    }

    /// Runs the kernel. `sizes`: global, local, offset.
    #[expect(clippy::too_many_arguments, reason = "one call from Python, which has no cheaper way to say all this")]
    fn launch(
        &self,
        py: Python<'_>,
        sizes: (Vec<u64>, Option<Vec<u64>>, Option<Vec<u64>>),
        repeat: u32,
        arguments: &Bound<'_, PyTuple>,
        mode_name: &str,
        checked: Option<Vec<String>>,
        record: bool,
        keywords: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Run> {
        let header = self.header();
        let mode = mode(mode_name)?;
        let checks = checks(&checked.unwrap_or_default(), mode)?;
        let mut options = keywords.map_or_else(|| Ok(Options::default()), simulation)?;
        options.translations = heddle::build::translations();
        options.record = Record { time_line: record && mode == Mode::Timing, slices: 0 };
        let (global, local, offset) = sizes;
        let spec = Launch { kernel: header.name.clone(), global, local, offset, repeat, args: Vec::new() };
        spec.validate_sizes().map_err(|m| LaunchError::new_err(format!("kernel `{}`: {m}", header.name)))?;
        let parameters: Vec<&KernelArgument> = header.visible_args().iter().collect();
        let given = arguments::read(&header.name, &parameters, arguments)?;
        let program = self.program.get();
        let watch = Watch::new();
        options.interrupt = Some(watch.interrupt());
        let shared = &program.shared;
        let mut printed = Printed::default();
        let address = |start| shared.device_address(start);
        let launch = AnyLaunch { spec: &spec, given: &given, parameters: &parameters, mode };
        let machine = &shared.description;
        let result = if checks.is_empty() {
            py.detach(|| {
                let places = Places { address: &address, is_device: &|_| false };
                launch.run(&places, &options, (&mut shared.state(), &program.code, machine), &mut printed)
            })
        } else {
            let options = Check::set(&checks, mode, options.clone());
            let code = match Check::compiled(&checks, mode) {
                true => program.checked(py)?,
                false => Code { image: program.code.image.clone(), number: 0 },
            };
            py.detach(|| {
                // Nobody changes the device's arrays meanwhile.
                let mut own = shared.state();
                let limit = shared.description.memory.device_bytes;
                let memory = if options.check_uninitialised { DeviceMemory::spread(limit) } else { DeviceMemory::new(limit) };
                let mut beside = DeviceState::new(memory, &shared.description);
                let is_device = |h: &HostBytes| address(h.start).is_some_and(|a| own.memory.find(a, h.bytes).is_some());
                let places = Places { address: &|_| None, is_device: &is_device };
                let result = launch.run(&places, &options, (&mut beside, &code, machine), &mut printed);
                for host in given.iter().filter_map(Given::array) {
                    if let Some(address) = address(host.start).filter(|a| own.memory.find(*a, host.bytes).is_some()) {
                        own.host_wrote(address, host.bytes);
                    }
                }
                result
            })
        };
        drop(watch);
        let launched = result.map_err(|e| errors::run(py, e))?;
        Ok(Run::of_launch(program, &self.image, spec, mode, launched, printed.0))
    }
}

impl Kernel {
    fn header(&self) -> &KernelHeader {
        &self.image.metadata.kernels[self.index]
    }
}

/// Keeps what kernels print.
#[derive(Default)]
struct Printed(Vec<u8>);

impl Observer for Printed {
    fn begins(&mut self, _kernel: &str, _work_groups: u64) -> Box<dyn Fn(u64) + Sync> {
        Box::new(|_| {})
    }
    fn printed(&mut self, text: &[u8]) {
        self.0.extend_from_slice(text);
    }
}

/// A launch with arguments as they were given.
#[derive(Clone, Copy)]
struct AnyLaunch<'a> {
    spec: &'a Launch,
    given: &'a [Given],
    parameters: &'a [&'a KernelArgument],
    mode: Mode,
}

/// Where arrays of the device are.
#[derive(Clone, Copy)]
struct Places<'a> {
    /// The device address of the host's view of the device's memory.
    address: &'a dyn Fn(u64) -> Option<u64>,
    /// Whether an array is the device's, whichever device the launch runs on.
    is_device: &'a dyn Fn(&HostBytes) -> bool,
}

impl Places<'_> {
    /// The device address of an array in a device's memory.
    fn of_device(&self, state: &DeviceState, host: &HostBytes) -> Option<u64> {
        (self.address)(host.start).filter(|a| state.memory.find(*a, host.bytes).is_some_and(|f| !f.lent))
    }
}

/// Host memory that a launch accesses, on the device meanwhile.
struct Region {
    start: u64,
    end: u64,
    written: bool,
    name: String,
    /// Device address, once it has one.
    address: u64,
    kept: Kept,
}

/// How a launch gets at memory of the host.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kept {
    /// In a copy.
    Copied,
    /// Lent at its own address, to a launch without timing.
    Lent,
    /// Lent at an address of the device's, to a launch with timing.
    LentCached,
}

impl AnyLaunch<'_> {
    /// Runs on a device: its state, the code, and its description.
    fn run(
        &self,
        places: &Places,
        options: &Options,
        (state, code, machine): (&mut DeviceState, &Code, &heddle::Machine),
        printed: &mut Printed,
    ) -> Result<Launched, RunError> {
        let mut regions = self.regions(places, state)?;
        let data = state.load(code.number, &code.image).map_err(|e| RunError::Input(e.to_string()));
        let result = data.and_then(|data| {
            for region in &mut regions {
                region.bring(state, self.mode)?;
            }
            let argument = |g: &Given| match g {
                Given::Ready(argument) => argument.clone(),
                Given::Array(host, shape) => {
                    let inside = |r: &&Region| r.start <= host.start && host.start + host.bytes <= r.end;
                    let region = regions.iter().find(inside).map(|r| r.address + (host.start - r.start));
                    let address = places.of_device(state, host).or(region).unwrap_or(0);
                    match *shape {
                        Some(image) => Argument::Image { address, image },
                        None => Argument::Pointer { address },
                    }
                }
            };
            let values: Vec<Argument> = self.given.iter().map(argument).collect();
            let request = Request::by_address(self.spec, code.number, &values, data);
            let simulator = Simulator { machine, mode: self.mode, options };
            state.launch(&code.image, &request, &simulator, printed)
        });
        regions.iter().for_each(|r| r.take_back(state));
        result
    }

    /// The host's memory among the arguments, what overlaps as one.
    fn regions(&self, places: &Places, state: &DeviceState) -> Result<Vec<Region>, RunError> {
        let mut regions: Vec<Region> = Vec::new();
        for (given, parameter) in self.given.iter().zip(self.parameters) {
            let Given::Array(host, _) = given else { continue };
            if places.of_device(state, host).is_some() {
                continue;
            }
            // What is the device's is read-only for numpy only.
            if host.written && !host.writeable && !(places.is_device)(host) {
                let name = &parameter.name;
                return Err(RunError::Input(format!("the array for `{name}` is read-only, and the kernel may write to it")));
            }
            let mut new = Region {
                start: host.start,
                end: host.start + host.bytes,
                written: host.written,
                name: host.name.clone(),
                address: 0,
                kept: Kept::Copied,
            };
            // One that it overlaps becomes part of it, in its place.
            let overlaps = |r: &Region| r.start < new.end && new.start < r.end || r.start == new.start && r.end == new.end;
            let at = regions.iter().position(overlaps).unwrap_or(regions.len());
            while let Some(i) = regions.iter().position(|r| r.start < new.end && new.start < r.end || r.start == new.start) {
                let old = regions.remove(i);
                (new.start, new.end) = (new.start.min(old.start), new.end.max(old.end));
                (new.written, new.name) = (new.written || old.written, old.name);
            }
            regions.insert(at.min(regions.len()), new);
        }
        Ok(regions)
    }
}

impl Region {
    fn bytes(&self) -> usize {
        (self.end - self.start) as usize
    }

    /// Puts it on the device: lends it, or copies it.
    fn bring(&mut self, state: &mut DeviceState, mode: Mode) -> Result<(), RunError> {
        let (start, bytes) = (self.start as *mut u8, self.bytes() as u64);
        let exhausted = |e: OutOfMemory| RunError::Input(e.to_string());
        // SAFETY (of both ways to lend): numpy's memory, which the call's arguments keep alive. Python code that changes it
        // meanwhile races with the kernel, as with any function that works without the interpreter's lock.
        if mode == Mode::Timing {
            // SAFETY: see above.
            self.address = unsafe { state.memory.lend_cached(&self.name, start, bytes) }.map_err(exhausted)?;
            self.kept = Kept::LentCached;
            return Ok(());
        }
        // SAFETY: see above.
        if let Some(address) = unsafe { state.memory.lend(&self.name, start, bytes) } {
            (self.address, self.kept) = (address, Kept::Lent);
            return Ok(());
        }
        self.address = state.memory.allocate(&self.name, bytes).map_err(exhausted)?;
        if bytes > 0 {
            // SAFETY: as above; the allocation was just made with this size, and is no part of numpy's memory.
            unsafe { std::ptr::copy_nonoverlapping(start, state.memory.host(self.address), self.bytes()) };
        }
        Ok(())
    }

    /// Gives it back, with what was written.
    fn take_back(&self, state: &mut DeviceState) {
        match self.kept {
            Kept::Lent => _ = state.memory.give_back(self.address),
            Kept::Copied if self.address == 0 => {}
            Kept::Copied | Kept::LentCached => {
                if self.kept == Kept::Copied && self.written && self.bytes() > 0 {
                    let device = state.memory.host(self.address);
                    // SAFETY: as in `bring`.
                    unsafe { std::ptr::copy_nonoverlapping(device, self.start as *mut u8, self.bytes()) };
                }
                state.free(self.address);
            }
        }
    }
}
