//! A device between launches: its memory and caches, the kernels it has loaded, and what the driver does around a launch.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::super::case::{Argument, Buffer, Launch as LaunchSpec};
use super::super::printf::{self, Printed};
use super::arguments::{ArgumentBank, argument_bank};
use super::limits::{check_launch, check_races, choose_local};
use super::{Mode, Observer, RunError, Simulator};
use heddle_object::Image;
use heddle_object::metadata::{ArgumentKind, KernelHeader};
use heddle_object::printf::{Format, PrintfFormat};
use heddle_sim::trace::{MOST_LAUNCHES, Record};
use heddle_sim::{DeviceMemory, Hierarchy, Launch, Options, Program, Simulation, Statistics};
use heddle_target::Machine;

/// A device between launches: its memory, its caches, and what must be invalidated before the next launch (K6).
pub struct DeviceState {
    /// Its memory.
    pub memory: DeviceMemory,
    hierarchy: Hierarchy,
    written: Written,
    /// Kernels by image and number: loaded once, so that what the simulator learns of them serves later launches.
    programs: BTreeMap<(u64, usize), Arc<Program>>,
    /// Where kernels print, once one does.
    print_buffer: Option<printf::Buffer>,
    recorded: Recorded,
}

/// What a launch gives.
#[derive(Debug, Default)]
pub struct Launched {
    /// What it did.
    pub statistics: Statistics,
    /// Host time it took.
    pub time: Duration,
    /// What it printed.
    pub printed: Printed,
}

/// A launch with its arguments' values.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// Kernel, sizes, number of repetitions; its arguments are not read.
    pub spec: &'a LaunchSpec,
    /// Which of the images launched on this device the kernel is in.
    pub image: u64,
    /// Arguments.
    pub arguments: &'a [Argument],
    /// Addresses of buffers.
    pub addresses: &'a BTreeMap<&'a str, u64>,
    /// What is known of buffers beyond their addresses: images.
    pub buffers: &'a BTreeMap<String, Buffer>,
    /// Address of the program-scope data (0 if there is none).
    pub data: u64,
}

impl DeviceState {
    /// With empty caches.
    pub fn new(memory: DeviceMemory, machine: &Machine) -> DeviceState {
        DeviceState {
            memory,
            hierarchy: Hierarchy::new(machine),
            written: Written::default(),
            programs: BTreeMap::new(),
            print_buffer: None,
            recorded: Recorded::default(),
        }
    }

    /// The host wrote to a buffer at an address: L2 forgets its lines, and L1 caches may hold what was there before (K6).
    pub fn host_wrote(&mut self, buffer: &str, address: u64, bytes: u64) {
        self.hierarchy.host_wrote(address, bytes);
        if self.written.used.contains(buffer) {
            self.written.written.insert(buffer.into());
        }
    }

    /// Runs a launch, as often as it says.
    ///
    /// # Errors
    /// See [`RunError`].
    pub fn launch(
        &mut self,
        image: &Image,
        request: &Request,
        simulator: &Simulator,
        observer: &mut dyn Observer,
    ) -> Result<Launched, RunError> {
        let formats = image.metadata.printf.iter().map(PrintfFormat::parsed).collect::<Result<Vec<_>, _>>();
        let formats = formats.map_err(RunError::Input)?;
        let program = self.program(image, request, simulator.machine).map_err(RunError::Input)?;
        let launch = self.prepare(&program, request, simulator).map_err(RunError::Input)?;
        let mut launched = Launched::default();
        if !launch.global.contains(&0) {
            let used = Written::of(&program.header, request.arguments, request.data != 0);
            for _ in 0..request.spec.repeat {
                self.invalidate_stale(&used);
                self.launch_once(&launch, &formats, simulator, observer, &mut launched)?;
            }
        }
        Ok(launched)
    }

    /// The kernel of a request, decoded and checked.
    fn program(&mut self, image: &Image, request: &Request, machine: &Machine) -> Result<Arc<Program>, String> {
        let name = &request.spec.kernel;
        let kernel = image.kernel(name).ok_or_else(|| {
            let known: Vec<&str> = image.metadata.kernels.iter().map(|k| k.name.as_str()).collect();
            format!("no kernel `{name}`; there are: {}", known.join(", "))
        })?;
        Ok(match self.programs.entry((request.image, kernel)) {
            Entry::Occupied(e) => e.get().clone(),
            Entry::Vacant(e) => {
                let program = Program::from_image(image, kernel, machine).map_err(|e| e.to_string())?;
                e.insert(Arc::new(program)).clone()
            }
        })
    }

    /// The launch of a request, which the machine allows.
    fn prepare<'p>(&mut self, program: &'p Program, request: &Request, simulator: &Simulator) -> Result<Launch<'p>, String> {
        let Simulator { machine, options, .. } = *simulator;
        let (spec, header) = (request.spec, &program.header);
        let three = |v: &[u64], fill: u32| -> [u32; 3] { std::array::from_fn(|d| v.get(d).map_or(fill, |x| *x as u32)) };
        let global = three(&spec.global, 1);
        let offset = three(spec.offset.as_deref().unwrap_or(&[]), 0);
        let local = match &spec.local {
            Some(l) => three(l, 1),
            None => choose_local(header, global, machine),
        };
        let ArgumentBank { mut constants, local_bytes, images, redzones } =
            argument_bank(header, request, options.check_uninitialised)?;
        self.set_print_buffer(header, options, &mut constants)?;
        for (address, image) in images.values() {
            let have = self.memory.find(*address, 0).map_or(0, |a| a.bytes);
            if have < image.bytes() {
                return Err(format!("kernel `{}`: an image of {} bytes in a buffer of {have}", header.name, image.bytes()));
            }
        }
        let mut launch = Launch {
            program,
            global,
            local,
            offset,
            work_dim: spec.global.len() as u32,
            constants,
            local_bytes,
            redzones: header.redzones.iter().copied().chain(redzones).collect(),
            descriptors: Vec::new(),
            images,
        };
        if options.check_races {
            check_races(&launch)?;
        }
        check_launch(&launch, machine).map_err(|m| format!("kernel `{}`: {m}", header.name))?;
        if !global.contains(&0) {
            launch.descriptors = launch.descriptors(&self.memory);
        }
        Ok(launch)
    }

    /// Tells a kernel that prints where to.
    fn set_print_buffer(&mut self, header: &KernelHeader, options: &Options, constants: &mut [u8]) -> Result<(), String> {
        let Some(at) = header.printf_argument() else { return Ok(()) };
        let buffer = match self.print_buffer {
            Some(buffer) => buffer,
            None => *self.print_buffer.insert(printf::Buffer::new(&mut self.memory, options.printf_room)?),
        };
        let bytes = buffer.argument();
        if let Some(place) = constants.get_mut(at as usize..at as usize + bytes.len()) {
            place.copy_from_slice(&bytes);
        }
        Ok(())
    }

    /// K6: what an earlier launch wrote may be stale in an L1.
    fn invalidate_stale(&mut self, used: &Written) {
        if self.written.concerns(used) {
            self.hierarchy.invalidate();
            self.written = Written::default();
        }
        self.written.add(used);
    }

    /// Whoever wanted recordings has taken those made so far: limits of recordings begin anew.
    pub fn recordings_taken(&mut self) {
        self.recorded = Recorded::default();
    }

    /// Runs a launch once and adds what it did. What it prints is told and added also if it ends with a fault.
    fn launch_once(
        &mut self,
        launch: &Launch,
        formats: &[Format],
        simulator: &Simulator,
        observer: &mut dyn Observer,
        launched: &mut Launched,
    ) -> Result<(), RunError> {
        let header = &launch.program.header;
        let groups: u64 = launch.groups().iter().map(|g| u64::from(*g)).product();
        let progress = observer.begins(&header.name, groups);
        let started = Instant::now();
        let options = Options { record: self.recorded.next(simulator.options.record), ..simulator.options.clone() };
        let simulation =
            Simulation { progress: &*progress, ..Simulation::new(launch, &self.memory, simulator.machine, &options) };
        let result = match simulator.mode {
            Mode::Functional => simulation.functional(),
            Mode::Timing => simulation.timing(&mut self.hierarchy),
        };
        launched.time += started.elapsed();
        if let Some(buffer) = self.print_buffer.filter(|_| header.printf_argument().is_some()) {
            if result.is_err() {
                // What the launch has written may still be in L2.
                self.hierarchy.finish(&self.memory);
            }
            let (printed, changed) = buffer.take(&mut self.memory, formats);
            self.hierarchy.host_wrote(buffer.address, changed);
            observer.printed(&printed.text);
            launched.printed.add(&printed);
        }
        let statistics = result?;
        self.recorded.add(&statistics);
        launched.statistics.add(&statistics);
        Ok(())
    }
}

/// How much has been recorded: of launches, and of slices of them, there is a limit.
#[derive(Clone, Copy, Debug, Default)]
struct Recorded {
    launches: usize,
    slices: usize,
}

impl Recorded {
    /// What to record of the next launch, of what is wanted.
    fn next(&self, wanted: Record) -> Record {
        match self.launches < MOST_LAUNCHES {
            true => Record { slices: wanted.slices.saturating_sub(self.slices), ..wanted },
            false => Record::default(),
        }
    }

    /// A launch has ended.
    fn add(&mut self, statistics: &Statistics) {
        self.launches += 1;
        let recordings = statistics.timing.iter().flat_map(|t| &t.recordings);
        self.slices += recordings.flat_map(|r| &r.slices).map(Vec::len).sum::<usize>();
    }
}

/// Buffers by what launches do with them since the L1 caches were invalidated last.
#[derive(Clone, Debug, Default)]
struct Written {
    /// Accessed at all, by one launch; the empty name stands for the program-scope data.
    used: BTreeSet<String>,
    /// Perhaps written.
    written: BTreeSet<String>,
}

impl Written {
    /// What a launch does.
    fn of(header: &KernelHeader, arguments: &[Argument], data: bool) -> Written {
        let mut result = Written::default();
        for (spec, argument) in header.args.iter().zip(arguments) {
            if let Argument::Buffer(name) = argument {
                result.used.insert(name.clone());
                if !spec.read_only && spec.kind != ArgumentKind::Constant {
                    result.written.insert(name.clone());
                }
            }
        }
        if data {
            result.used.insert(String::new());
            result.written.insert(String::new());
        }
        result
    }

    /// Whether a launch reads or writes what was written.
    fn concerns(&self, launch: &Written) -> bool {
        !self.written.is_disjoint(&launch.used)
    }

    fn add(&mut self, launch: &Written) {
        self.written.extend(launch.written.iter().cloned());
    }
}

/// Puts the data section into memory, with its addresses made absolute. Returns its address (0 if there is none).
///
/// # Errors
/// There is not enough memory.
pub fn load_data(image: &Image, memory: &mut DeviceMemory) -> Result<u64, String> {
    if image.data.is_empty() {
        return Ok(0);
    }
    let address = memory.allocate("program-scope data", image.data.len() as u64).map_err(|e| e.to_string())?;
    let mut data = image.data.clone();
    for r in &image.metadata.data_relocations {
        let at = *r as usize;
        if let Some(place) = data.get_mut(at..at + 8) {
            let mut bytes = [0; 8];
            bytes.copy_from_slice(place);
            place.copy_from_slice(&(u64::from_le_bytes(bytes).wrapping_add(address)).to_le_bytes());
        }
    }
    let _fits = memory.write(address, &data);
    if !image.metadata.variables.is_empty() {
        memory.divide(address, &image.metadata.variables);
    }
    Ok(address)
}
