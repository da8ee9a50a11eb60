//! A device between launches: its memory and caches, the kernels it has loaded, and what the driver does around a launch.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::super::case::{Argument, Buffer, Launch as LaunchSpec};
use super::super::printf::{self, Printed};
use super::arguments::{ArgumentBank, argument_bank};
use super::limits::{check_launch, check_races, suggested_local};
use super::stale::{Accesses, Stale};
use super::{Mode, Observer, Refusal, RefusalKind, RunError, Simulator};
use heddle_object::Image;
use heddle_object::metadata::KernelHeader;
use heddle_object::printf::{Format, PrintfFormat};
use heddle_sim::memory::OutOfMemory;
use heddle_sim::residency::residency;
use heddle_sim::snapshot::Snapshot;
use heddle_sim::trace::{MOST_LAUNCHES, Record};
use heddle_sim::{DeviceMemory, Hierarchy, Launch, Options, Program, Simulation, Statistics};
use heddle_target::Machine;

/// A device between launches: its memory, its caches, and what must be invalidated before the next launch (K6).
pub struct DeviceState {
    /// Its memory.
    pub memory: DeviceMemory,
    hierarchy: Hierarchy,
    stale: Stale,
    /// Launches without timing have written to memory since the caches were used.
    memory_ahead: bool,
    /// Kernels by image, number, and whether they are without loads through the uniform L1: loaded once, so that what the
    /// simulator learns of them serves later launches.
    programs: BTreeMap<(u64, usize, bool), Arc<Program>>,
    /// Formats of `printf`, by image.
    formats: BTreeMap<u64, Arc<[Format]>>,
    /// Addresses of the program-scope data of images, 0 for none.
    data: BTreeMap<u64, u64>,
    /// Images whose objects of program scope have been constructed.
    initialized: BTreeSet<u64>,
    /// Where kernels print, once one does.
    print_buffer: Option<printf::Buffer>,
    recorded: Recorded,
}

/// What a launch gives.
#[derive(Debug, Default)]
pub struct Launched {
    /// The code that ran, by its number among the image's kernels: of the kernel's versions the one for the launch's sizes.
    pub version: usize,
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
    /// Addresses in allocations that no argument names and that the kernel may read and write, by pointers
    /// that it finds in memory.
    pub indirect: &'a [u64],
    /// Address of the program-scope data (0 if there is none).
    pub data: u64,
}

impl<'a> Request<'a> {
    /// A launch whose arguments go by addresses, not by names.
    pub fn by_address(spec: &'a LaunchSpec, image: u64, arguments: &'a [Argument], data: u64) -> Request<'a> {
        const NO_ADDRESSES: &BTreeMap<&str, u64> = &BTreeMap::new();
        const NO_BUFFERS: &BTreeMap<String, Buffer> = &BTreeMap::new();
        Request { spec, image, arguments, addresses: NO_ADDRESSES, buffers: NO_BUFFERS, indirect: &[], data }
    }
}

impl DeviceState {
    /// With empty caches.
    pub fn new(memory: DeviceMemory, machine: &Machine) -> DeviceState {
        DeviceState {
            memory,
            hierarchy: Hierarchy::new(machine),
            stale: Stale::default(),
            memory_ahead: false,
            programs: BTreeMap::new(),
            formats: BTreeMap::new(),
            data: BTreeMap::new(),
            initialized: BTreeSet::new(),
            print_buffer: None,
            recorded: Recorded::default(),
        }
    }

    /// Puts the program-scope data of an image into memory, unless it is there. Returns its address, 0 if
    /// there is none. `number` is what requests call the image.
    ///
    /// # Errors
    /// There is not enough memory.
    pub fn load(&mut self, number: u64, image: &Image) -> Result<u64, OutOfMemory> {
        if let Some(address) = self.data.get(&number) {
            return Ok(*address);
        }
        let address = load_data(image, &mut self.memory)?;
        self.data.insert(number, address);
        Ok(address)
    }

    /// Forgets an image: its kernels, and its program-scope data, whose memory is free again.
    pub fn unload(&mut self, number: u64) {
        self.programs.retain(|(image, ..), _| *image != number);
        self.formats.remove(&number);
        self.initialized.remove(&number);
        if let Some(address) = self.data.remove(&number) {
            self.free(address);
        }
    }

    /// The host wrote to memory at an address: L2 forgets these lines, and L1 caches may hold what was there
    /// before (K6).
    pub fn host_wrote(&mut self, address: u64, bytes: u64) {
        if self.hierarchy.is_empty() {
            return;
        }
        self.hierarchy.host_wrote(address, bytes);
        if let Some(root) = self.memory.root(address) {
            self.stale.host_wrote(&root);
        }
    }

    /// Gives the allocation at an address back. False if there is none.
    pub fn free(&mut self, address: u64) -> bool {
        let Some(root) = self.memory.root(address).filter(|r| r.start == address) else { return false };
        self.hierarchy.host_wrote(root.start, root.end - root.start);
        self.stale.freed(&root);
        self.memory.free(address)
    }

    /// Empties all caches, so that the next launch begins as a device's first one.
    pub fn flush_caches(&mut self, machine: &Machine) {
        if !self.hierarchy.is_empty() {
            self.hierarchy = Hierarchy::new(machine);
        }
        self.stale = Stale::default();
        self.memory_ahead = false;
    }

    /// What L2 holds of device memory: first addresses and bytes of runs, those first that would be evicted first.
    pub fn cached(&self) -> Vec<(u64, u64)> {
        if self.hierarchy.is_empty() { Vec::new() } else { self.hierarchy.resident() }
    }

    /// Gives L2 runs of bytes of device memory, the first one as the first to be evicted.
    pub fn bring(&mut self, runs: &[(u64, u64)]) {
        self.hierarchy.bring(&self.memory, runs);
    }

    /// Gives the instruction L1s so many bytes of code from an offset on.
    pub fn bring_code(&mut self, code: [u64; 2]) {
        self.hierarchy.bring_code(code);
    }

    /// Exchanges all that stays from launch to launch: contents of memory and caches. Allocations themselves must
    /// be those that there were.
    ///
    /// # Errors
    /// They are not.
    pub fn exchange(&mut self, snapshot: &mut Snapshot) -> Result<(), String> {
        let mut room = self.print_buffer.map_or(0, |b| u64::from(b.room));
        snapshot.word(&mut room);
        if room > 0 && self.print_buffer.is_none() {
            let room = u32::try_from(room).map_err(|e| e.to_string())?;
            self.print_buffer = Some(printf::Buffer::new(&mut self.memory, room)?);
        }
        let places: Vec<(u64, u64)> = self.memory.allocations().iter().map(|a| (a.address, a.bytes)).collect();
        if snapshot.length(places.len(), places.len()) != places.len() {
            return Err("it has other buffers".into());
        }
        for place in places {
            let (mut address, mut bytes) = place;
            snapshot.words([&mut address, &mut bytes]);
            if (address, bytes) != place {
                return Err("it has buffers of other sizes".into());
            }
            let mut data = self.memory.read(address, bytes as usize).unwrap_or_default();
            snapshot.bytes(&mut data);
            let _fits = self.memory.write(address, &data);
        }
        let mut ahead = u64::from(self.memory_ahead);
        snapshot.word(&mut ahead);
        self.memory_ahead = ahead != 0;
        let mut initialized: Vec<u64> = self.initialized.iter().copied().collect();
        initialized.resize(snapshot.length(initialized.len(), usize::from(u16::MAX)), 0);
        initialized.iter_mut().for_each(|image| snapshot.word(image));
        self.initialized = initialized.into_iter().collect();
        self.stale.exchange(snapshot);
        self.hierarchy.exchange(snapshot);
        Ok(())
    }

    /// Compares memory with a state that [`DeviceState::exchange`] wrote: allocations, their places and contents.
    ///
    /// # Errors
    /// A sentence about the first one that is not as it was.
    pub fn compare_memory(&self, state: &mut Snapshot) -> Result<(), String> {
        let mut room = 0;
        state.word(&mut room);
        let here = self.memory.allocations();
        let count = state.length(0, u32::MAX as usize);
        for i in 0..count {
            let (mut address, mut bytes) = (0, 0);
            state.words([&mut address, &mut bytes]);
            let Some(a) = here.get(i) else { break };
            let what = format!("{} of {} bytes", a.description(), a.bytes);
            if (a.address, a.bytes) != (address, bytes) {
                return Err(format!("{what} at {:#x}: there were {bytes} bytes at {address:#x}", a.address));
            }
            let mut then = vec![0; bytes as usize];
            state.bytes(&mut then);
            let now = self.memory.read(address, bytes as usize).unwrap_or_default();
            if let Some(offset) = now.iter().zip(&then).position(|(now, then)| now != then) {
                let differ = now.iter().zip(&then).filter(|(now, then)| now != then).count();
                let (now, then) = (now[offset], then[offset]);
                return Err(format!(
                    "{what}: {differ} bytes are not what they were, the first at offset {offset}: {now:#04x}, not {then:#04x}"
                ));
            }
        }
        match count == here.len() {
            true => Ok(()),
            false => Err(format!("{} allocations, where there were {count}", here.len())),
        }
    }

    /// Runs a launch, as often as it says. Afterwards, also if it ended with a fault, memory holds all that
    /// was written, and the device can go on.
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
        let straight = simulator.mode == Mode::Functional || simulator.options.sample.is_some();
        if straight && self.memory.wants_timing() {
            return Err(RunError::Input("memory is lent to launches in timing mode, of all work-groups".into()));
        }
        self.initialize(image, request, simulator)?;
        self.launch_kernel(image, request, simulator, observer)
    }

    /// Constructs the objects of program scope of an image, unless it has been done: without timing, as the driver's work.
    fn initialize(&mut self, image: &Image, request: &Request, simulator: &Simulator) -> Result<(), RunError> {
        let initializers: Vec<&KernelHeader> = image.metadata.kernels.iter().filter(|k| k.is_initializer()).collect();
        if initializers.is_empty() || !self.initialized.insert(request.image) {
            return Ok(());
        }
        let options = Options { sample: None, warm: false, record: Default::default(), ..simulator.options.clone() };
        let simulator = Simulator { mode: Mode::Functional, options: &options, ..*simulator };
        for header in initializers {
            let one = || vec![1];
            let spec = LaunchSpec {
                kernel: header.name.clone(),
                global: one(),
                local: Some(one()),
                offset: None,
                repeat: 1,
                args: Vec::new(),
            };
            self.launch_kernel(image, &Request::by_address(&spec, request.image, &[], request.data), &simulator, &mut ())?;
        }
        Ok(())
    }

    fn launch_kernel(
        &mut self,
        image: &Image,
        request: &Request,
        simulator: &Simulator,
        observer: &mut dyn Observer,
    ) -> Result<Launched, RunError> {
        let formats = self.formats(image, request.image).map_err(RunError::Input)?;
        let machine = simulator.machine;
        let (kernel, sizes) = kernel_and_sizes(image, request.spec, machine).map_err(RunError::Input)?;
        let program = self.program(image, request.image, kernel, machine).map_err(RunError::Input)?;
        let (mut launch, accesses) = self.prepare(&program, request, sizes, simulator)?;
        let plain;
        let timed = simulator.mode == Mode::Timing || simulator.options.warm;
        if timed && program.header.relieves_data_l1 && accesses.read_only_bytes() <= machine.memory.data.bytes.into() {
            plain = self.without_uniform_loads(&program, request.image, kernel, machine).map_err(RunError::Input)?;
            launch.program = &plain;
        }
        let mut launched = Launched { version: kernel, ..Launched::default() };
        if !launch.global.contains(&0) {
            for _ in 0..request.spec.repeat {
                self.prepare_caches(&accesses, simulator);
                self.launch_once(&launch, &formats, simulator, observer, &mut launched)?;
                if launched.statistics.interrupted.is_some() {
                    break;
                }
            }
        }
        Ok(launched)
    }

    /// The formats of an image, taken apart.
    fn formats(&mut self, image: &Image, number: u64) -> Result<Arc<[Format]>, String> {
        Ok(match self.formats.entry(number) {
            Entry::Occupied(e) => e.get().clone(),
            Entry::Vacant(e) => {
                let formats = image.metadata.printf.iter().map(PrintfFormat::parsed).collect::<Result<Vec<_>, _>>()?;
                e.insert(formats.into()).clone()
            }
        })
    }

    /// A kernel of an image, decoded and checked.
    fn program(&mut self, image: &Image, number: u64, kernel: usize, machine: &Machine) -> Result<Arc<Program>, String> {
        Ok(match self.programs.entry((number, kernel, false)) {
            Entry::Occupied(e) => e.get().clone(),
            Entry::Vacant(e) => {
                let program = Program::from_image(image, kernel, machine).map_err(|e| e.to_string())?;
                e.insert(Arc::new(program)).clone()
            }
        })
    }

    /// Such a kernel for launches whose data has room in the data L1.
    fn without_uniform_loads(
        &mut self,
        program: &Program,
        number: u64,
        kernel: usize,
        machine: &Machine,
    ) -> Result<Arc<Program>, String> {
        Ok(match self.programs.entry((number, kernel, true)) {
            Entry::Occupied(e) => e.get().clone(),
            Entry::Vacant(e) => {
                let program = program.without_uniform_loads(machine).map_err(|e| e.to_string())?;
                e.insert(Arc::new(program)).clone()
            }
        })
    }

    /// The launch of a request, which the machine allows, and what it may access.
    fn prepare<'p>(
        &mut self,
        program: &'p Program,
        request: &Request,
        [global, local]: [[u32; 3]; 2],
        simulator: &Simulator,
    ) -> Result<(Launch<'p>, Accesses), RunError> {
        let Simulator { machine, options, .. } = *simulator;
        let (spec, header) = (request.spec, &program.header);
        let offset = three(spec.offset.as_deref().unwrap_or(&[]), 0);
        let refused = |m: String| Refusal::new(RefusalKind::Arguments, m);
        let bank = argument_bank(header, request, &self.memory, options.check_uninitialised).map_err(refused)?;
        let ArgumentBank { mut constants, local_bytes, images, redzones, accesses } = bank;
        self.set_print_buffer(header, options, &mut constants).map_err(|m| Refusal::new(RefusalKind::Memory, m))?;
        for (address, image) in images.values() {
            let have = self.memory.find(*address, 0).map_or(0, |a| a.end() - address);
            if have < image.bytes() {
                let message = format!("kernel `{}`: an image of {} bytes in a buffer of {have}", header.name, image.bytes());
                return Err(refused(message).into());
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
            tolerated: Default::default(),
        };
        if options.check_races {
            check_races(&launch)?;
        }
        check_launch(&launch, machine)?;
        if !global.contains(&0) {
            launch.descriptors = launch.descriptors(&self.memory);
        }
        Ok((launch, accesses))
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

    /// Before a launch: what an earlier one or the host wrote may be stale in an L1 (K6).
    fn prepare_caches(&mut self, accesses: &Accesses, simulator: &Simulator) {
        if simulator.mode == Mode::Functional {
            // Caches that hold nothing hold nothing stale.
            if !self.hierarchy.is_empty() {
                self.stale.launched(accesses, false);
                self.memory_ahead |= !simulator.options.warm;
            }
            return;
        }
        if std::mem::take(&mut self.memory_ahead) {
            self.hierarchy.refresh(&self.memory);
        }
        if self.stale.concerns(accesses) {
            self.hierarchy.invalidate();
            self.stale = Stale::default();
        }
        self.stale.launched(accesses, true);
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
            Mode::Functional if simulator.options.warm => simulation.warming(&mut self.hierarchy),
            Mode::Functional => observer.takes(simulation).unwrap_or_else(|| simulation.functional()),
            Mode::Timing => simulation.timing(&mut self.hierarchy),
        };
        launched.time += started.elapsed();
        if result.is_err() && simulator.mode == Mode::Timing {
            self.hierarchy.abandon(&self.memory);
        }
        if let Some(buffer) = self.print_buffer.filter(|_| header.printf_argument().is_some()) {
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

/// Three dimensions of a size or offset; those that it has not are `fill`.
fn three(given: &[u64], fill: u32) -> [u32; 3] {
    std::array::from_fn(|d| given.get(d).map_or(fill, |x| *x as u32))
}

/// The global and the local size of a launch.
fn sizes(spec: &LaunchSpec, header: &KernelHeader, machine: &Machine) -> [[u32; 3]; 2] {
    let global = three(&spec.global, 1);
    let local = match &spec.local {
        Some(l) => three(l, 1),
        None => suggested_local(header, global, machine),
    };
    [global, local]
}

/// The kernel of a launch in the version for its sizes, by its number in the image, and its global and local size.
fn kernel_and_sizes(image: &Image, spec: &LaunchSpec, machine: &Machine) -> Result<(usize, [[u32; 3]; 2]), String> {
    let name = &spec.kernel;
    let kernel = image.kernel(name).ok_or_else(|| {
        let known: Vec<&str> = image.metadata.launchable().map(|k| k.name.as_str()).collect();
        format!("no kernel `{name}`; there are: {}", known.join(", "))
    })?;
    let [global, local] = sizes(spec, &image.metadata.kernels[kernel], machine);
    Ok((version_for(image, kernel, global, local, machine), [global, local]))
}

/// The version of its kernel that a launch runs, by its number in the image.
///
/// # Errors
/// There is no such kernel.
pub(super) fn version(image: &Image, spec: &LaunchSpec, machine: &Machine) -> Result<usize, String> {
    kernel_and_sizes(image, spec, machine).map(|(version, _)| version)
}

/// The version of a kernel for a launch, if a work-group of it finds room as well.
fn version_for(image: &Image, kernel: usize, global: [u32; 3], local: [u32; 3], machine: &Machine) -> usize {
    let version = image.metadata.version(kernel, global, local);
    let fits = |header: &KernelHeader| residency(header, machine, local, header.local_bytes).groups > 0;
    if version == kernel || fits(&image.metadata.kernels[version]) { version } else { kernel }
}

/// Puts the data section into memory, with its addresses made absolute. Returns its address (0 if there is none).
///
/// # Errors
/// There is not enough memory.
fn load_data(image: &Image, memory: &mut DeviceMemory) -> Result<u64, OutOfMemory> {
    if image.data.is_empty() {
        return Ok(0);
    }
    let align = u64::from(image.metadata.data_align);
    let address = memory.allocate_aligned("program-scope data", image.data.len() as u64, align)?;
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

#[cfg(test)]
mod tests;
