//! Running launches on the simulator: memory, arguments, comparison.

use std::cell::RefCell;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use super::array::Array;
use super::case::{Argument, Buffer, Case, Launch as LaunchSpec, Placement};
use super::printf::{self, Printed};
use heddle_isa::MemorySpace;
use heddle_object::Image;
use heddle_object::metadata::{ARGUMENTS_START, ArgumentKind, KernelHeader, Redzone};
use heddle_object::printf::PrintfFormat;
use heddle_sim::hierarchy::Hierarchy;
use heddle_sim::image::Image as ImageShape;
use heddle_sim::residency::{Residency, residency};
use heddle_sim::trace::{MOST_LAUNCHES, Record};
use heddle_sim::{DeviceMemory, Fault, Launch, Options, Program, Statistics};
use heddle_target::Machine;

/// How to simulate.
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
    /// The program did something wrong: exit status 1.
    #[error("{0}")]
    Fault(#[from] Box<Fault>),
}

/// What a run did.
#[derive(Debug, Default)]
pub struct Outcome {
    /// All launches together.
    pub total: Statistics,
    /// Each launch, with its kernel's name.
    pub launches: Vec<(String, Statistics)>,
    /// Expectations that do not hold: buffer and explanation.
    pub mismatches: Vec<(String, String)>,
    /// What the kernels printed.
    pub printed: Printed,
    /// Host time of the launches.
    pub simulated: Duration,
    /// Of that, each launch.
    pub launch_times: Vec<Duration>,
    /// Expectations checked.
    pub checked: usize,
    /// Contents of the buffers after the last launch.
    pub buffers: BTreeMap<String, Array>,
}

/// Runs a case's launches on compiled code.
///
/// # Errors
/// See [`RunError`]. Results that differ from the expected ones are in the outcome.
pub fn run_case(
    case: &Case,
    image: &Image,
    machine: &Machine,
    mode: Mode,
    options: &Options,
    progress: &mut dyn FnMut(&str, u64) -> Box<dyn Fn(u64) + Sync>,
) -> Result<Outcome, RunError> {
    run_and_print(case, image, machine, mode, options, progress, &mut |_| {})
}

/// As [`run_case`]; `print` gets what kernels print, launch by launch, also of one that ends with a fault.
///
/// # Errors
/// As [`run_case`].
pub fn run_and_print(
    case: &Case,
    image: &Image,
    machine: &Machine,
    mode: Mode,
    options: &Options,
    progress: &mut dyn FnMut(&str, u64) -> Box<dyn Fn(u64) + Sync>,
    print: &mut dyn FnMut(&[u8]),
) -> Result<Outcome, RunError> {
    let input = |m: String| RunError::Input(m);
    let mut memory = match mode == Mode::Functional && options.check_uninitialised {
        true => DeviceMemory::spread(machine.memory.device_bytes),
        false => DeviceMemory::new(machine.memory.device_bytes),
    };
    let mut buffers: BTreeMap<&str, (u64, Array)> = BTreeMap::new();
    for (name, buffer) in &case.buffers {
        // Before the host makes room for it.
        let limit = machine.memory.device_bytes;
        if let Some(bytes) = buffer.described_bytes().filter(|b| *b > limit) {
            return Err(input(format!("buffer `{name}` needs {bytes} bytes, the machine's memory has {limit}")));
        }
        let array = buffer.contents(&case.folder).map_err(|m| input(format!("buffer `{name}`: {m}")))?;
        let address = memory.allocate(name, array.data.len() as u64).map_err(|e| input(e.to_string()))?;
        let _fits = memory.write(address, &array.data);
        memory.place(address, buffer.memory == Placement::System);
        buffers.insert(name, (address, array));
    }
    let data = load_data(image, &mut memory).map_err(input)?;
    let mut outcome = Outcome::default();
    let mut device = DeviceState::new(memory, machine);
    let addresses: BTreeMap<&str, u64> = buffers.iter().map(|(n, (a, _))| (*n, *a)).collect();
    for (number, spec) in case.launches.iter().enumerate() {
        // With one launch there is nothing to tell apart.
        let place = if case.launches.len() > 1 { format!("launches[{number}]: ") } else { String::new() };
        let placed = |m: String| RunError::Input(format!("{place}{m}"));
        let arguments = spec.arguments().map_err(placed)?;
        let request = Request { spec, image: 0, arguments: &arguments, addresses: &addresses, buffers: &case.buffers, data };
        let launched = device.launch(image, &request, machine, mode, options, progress, print).map_err(|e| match e {
            RunError::Input(m) => placed(m),
            fault => fault,
        })?;
        outcome.simulated += launched.time;
        outcome.launch_times.push(launched.time);
        outcome.printed.add(&launched.printed);
        outcome.total.add(&launched.statistics);
        outcome.launches.push((spec.kernel.clone(), launched.statistics));
    }
    let memory = device.memory;
    for (name, buffer) in &case.buffers {
        let Some((address, array)) = buffers.get_mut(name.as_str()) else { continue };
        if !array.is_empty() {
            array.data = memory.read(*address, array.data.len()).unwrap_or_default();
        }
        if let Some(save) = &buffer.save {
            array.write(&case.folder.join(save)).map_err(input)?;
        }
        if let Some(expect) = &buffer.expect {
            let expected = Array::read(&case.folder.join(expect)).map_err(input)?;
            outcome.checked += 1;
            if let Err(m) = array.compare(&expected, buffer.rtol.unwrap_or(0.0), buffer.atol.unwrap_or(0.0)) {
                outcome.mismatches.push((name.clone(), m));
            }
        }
    }
    outcome.buffers = buffers.into_iter().map(|(name, (_, array))| (name.to_string(), array)).collect();
    Ok(outcome)
}

/// A device between launches: its memory, its caches, and what must be invalidated before the next launch (K6).
pub struct DeviceState {
    /// Its memory.
    pub memory: DeviceMemory,
    hierarchy: RefCell<Hierarchy>,
    written: Written,
    /// Kernels by image and number: loaded once, so that what the simulator learns of them serves later launches.
    programs: BTreeMap<(u64, usize), Program>,
    /// Where kernels print, once one does.
    print_buffer: Option<printf::Buffer>,
    /// Launches recorded, and slices of them.
    recorded: (usize, usize),
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
            hierarchy: RefCell::new(Hierarchy::new(machine)),
            written: Written::default(),
            programs: BTreeMap::new(),
            print_buffer: None,
            recorded: (0, 0),
        }
    }

    /// The host wrote to a buffer at an address: L2 forgets its lines, and L1 caches may hold what was there before (K6).
    pub fn host_wrote(&mut self, buffer: &str, address: u64, bytes: u64) {
        self.hierarchy.borrow_mut().host_wrote(address, bytes);
        if self.written.used.contains(buffer) {
            self.written.written.insert(buffer.into());
        }
    }

    /// Runs a launch; `print` gets what it prints, also if it ends with a fault.
    ///
    /// # Errors
    /// See [`RunError`].
    pub fn launch(
        &mut self,
        image: &Image,
        request: &Request,
        machine: &Machine,
        mode: Mode,
        options: &Options,
        progress: &mut dyn FnMut(&str, u64) -> Box<dyn Fn(u64) + Sync>,
        print: &mut dyn FnMut(&[u8]),
    ) -> Result<Launched, RunError> {
        let input = |m: String| RunError::Input(m);
        let spec = request.spec;
        let formats = image.metadata.printf.iter().map(PrintfFormat::parsed).collect::<Result<Vec<_>, _>>().map_err(input)?;
        let kernel = image.kernel(&spec.kernel).ok_or_else(|| {
            let known: Vec<&str> = image.metadata.kernels.iter().map(|k| k.name.as_str()).collect();
            input(format!("no kernel `{}`; there are: {}", spec.kernel, known.join(", ")))
        })?;
        let program = match self.programs.entry((request.image, kernel)) {
            Entry::Occupied(e) => &*e.into_mut(),
            Entry::Vacant(e) => &*e.insert(Program::from_image(image, kernel, machine).map_err(|e| input(e.to_string()))?),
        };
        let header = &program.header;
        let dims = spec.global.len();
        let three = |v: &[u64], fill: u32| -> [u32; 3] { std::array::from_fn(|d| v.get(d).map_or(fill, |x| *x as u32)) };
        let global = three(&spec.global, 1);
        let offset = three(spec.offset.as_deref().unwrap_or(&[]), 0);
        let local = match &spec.local {
            Some(l) => three(l, 1),
            None => choose_local(header, global, machine),
        };
        let apart = options.check_uninitialised;
        let (mut constants, local_bytes, images, zones) =
            constant_bank(header, apart, request.arguments, request.addresses, request.buffers, request.data).map_err(input)?;
        let mut print_buffer = None;
        if let Some(at) = header.printf_argument() {
            let buffer = match self.print_buffer {
                Some(b) => b,
                None => *self.print_buffer.insert(printf::Buffer::new(&mut self.memory, options.printf_room).map_err(input)?),
            };
            let bytes = buffer.argument();
            if let Some(place) = constants.get_mut(at as usize..at as usize + bytes.len()) {
                place.copy_from_slice(&bytes);
            }
            print_buffer = Some(buffer);
        }
        for (address, image) in images.values() {
            let have = self.memory.find(*address, 0).map_or(0, |a| a.bytes);
            if have < image.bytes() {
                return Err(input(format!(
                    "kernel `{}`: an image of {} bytes in a buffer of {have}",
                    header.name,
                    image.bytes()
                )));
            }
        }
        let mut launch = Launch {
            program,
            global,
            local,
            offset,
            work_dim: dims as u32,
            constants,
            local_bytes,
            redzones: header.redzones.iter().copied().chain(zones).collect(),
            descriptors: Vec::new(),
            images,
        };
        let items: u64 = local.iter().map(|n| u64::from(*n)).product();
        if options.check_races && items > u64::from(heddle_sim::check::races::MAX_ITEMS) {
            let most = heddle_sim::check::races::MAX_ITEMS;
            return Err(input(format!("kernel `{}`: races are checked in work-groups of up to {most} work-items", header.name)));
        }
        check_launch(&launch, machine).map_err(|m| input(format!("kernel `{}`: {m}", header.name)))?;
        if !global.contains(&0) {
            launch.descriptors = launch.descriptors(&self.memory);
        }
        let mut launched = Launched::default();
        let wanted = options.record;
        let mut options = options.clone();
        let used = Written::of(header, request.arguments, request.data != 0);
        for _ in 0..spec.repeat {
            if global.contains(&0) {
                continue;
            }
            // K6: what an earlier launch wrote may be stale in an L1.
            if self.written.concerns(&used) {
                self.hierarchy.borrow_mut().invalidate();
                self.written = Written::default();
            }
            self.written.add(&used);
            let groups: u64 = launch.groups().iter().map(|g| u64::from(*g)).product();
            let advance = progress(&header.name, groups);
            let started = Instant::now();
            let (launches, slices) = self.recorded;
            options.record = Record { slices: wanted.slices.saturating_sub(slices), ..wanted };
            if launches >= MOST_LAUNCHES {
                options.record = Record::default();
            }
            let result = match mode {
                Mode::Functional => heddle_sim::functional::launch(&launch, &self.memory, machine, &options, &*advance),
                Mode::Timing => heddle_sim::timing::launch(&launch, &self.memory, &self.hierarchy, machine, &options, &*advance),
            };
            launched.time += started.elapsed();
            if let Some(buffer) = print_buffer {
                if result.is_err() {
                    // What the launch has written may still be in L2.
                    self.hierarchy.borrow_mut().finish(&self.memory);
                }
                let (printed, changed) = buffer.take(&mut self.memory, &formats);
                self.hierarchy.borrow_mut().host_wrote(buffer.address, changed);
                print(&printed.text);
                launched.printed.add(&printed);
            }
            let statistics = result?;
            self.recorded.0 += 1;
            let recordings = statistics.timing.iter().flat_map(|t| &t.recordings);
            self.recorded.1 += recordings.flat_map(|r| &r.slices).map(Vec::len).sum::<usize>();
            launched.statistics.add(&statistics);
        }
        Ok(launched)
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

/// The constant bank of a launch, the work-group memory it needs, its images, and bytes of that memory that nothing may access.
pub type Bank = (Vec<u8>, u32, BTreeMap<u32, (u64, ImageShape)>, Vec<Redzone>);

/// The constant bank of a launch, the work-group memory it needs, and its images.
///
/// `apart`: with redzones between the work-group memories of arguments.
///
/// # Errors
/// A sentence naming the argument that does not fit.
pub fn constant_bank(
    header: &KernelHeader,
    apart: bool,
    arguments: &[Argument],
    buffers: &BTreeMap<&str, u64>,
    specs: &BTreeMap<String, Buffer>,
    data: u64,
) -> Result<Bank, String> {
    let kernel = &header.name;
    let visible = header.visible_args();
    if arguments.len() != visible.len() {
        let wanted: Vec<String> = visible.iter().map(|a| format!("{} {}", a.type_name, a.name).trim().to_string()).collect();
        return Err(format!(
            "kernel `{kernel}` takes {} arguments ({}), {} are given",
            visible.len(),
            wanted.join(", "),
            arguments.len()
        ));
    }
    let size = header.args.iter().map(|a| a.offset + a.size).max().unwrap_or(ARGUMENTS_START).max(ARGUMENTS_START);
    let mut bank = vec![0u8; (size as usize).next_multiple_of(16)];
    bank[..8].copy_from_slice(&data.to_le_bytes());
    let mut local = header.local_bytes;
    let mut zones = Vec::new();
    let mut images = BTreeMap::new();
    for (i, (spec, argument)) in visible.iter().zip(arguments).enumerate() {
        let what = format!("argument {i} (`{} {}`) of kernel `{kernel}`", spec.type_name, spec.name);
        let bytes: Vec<u8> = match (spec.kind, argument) {
            (ArgumentKind::Global | ArgumentKind::Constant, Argument::Buffer(b)) => match buffers.get(b.as_str()) {
                Some(address) => address.to_le_bytes().to_vec(),
                None => return Err(format!("{what}: no buffer `{b}`")),
            },
            (ArgumentKind::Local, Argument::Local(n)) => {
                let too_much = || format!("{what}: {n} bytes of work-group memory are more than an address can reach");
                let at = local.checked_next_multiple_of(spec.align.max(16)).ok_or_else(too_much)?;
                local = at.checked_add(*n).ok_or_else(too_much)?;
                if apart && local < u32::MAX / 2 {
                    let zone = Redzone::behind(MemorySpace::Local, local);
                    local = zone.end;
                    zones.push(zone);
                }
                at.to_le_bytes().to_vec()
            }
            (ArgumentKind::Image, Argument::Buffer(b)) => {
                let (Some(address), Some(buffer)) = (buffers.get(b.as_str()), specs.get(b)) else {
                    return Err(format!("{what}: no buffer `{b}`"));
                };
                let Some(image) = &buffer.image else {
                    return Err(format!(
                        "{what} is an image; say the shape of buffer `{b}`: \"image\": {{\"width\": …, \"height\": …, \"format\": \"RGBA_UNORM8\"}}"
                    ));
                };
                let image = image.shape(&spec.type_name).map_err(|m| format!("{what}: {m}"))?;
                images.insert(i as u32, (*address, image));
                let words = [
                    image.size[0],
                    image.size[1],
                    image.size[2],
                    image.layers,
                    image.format.order_code(),
                    image.format.type_code(),
                ];
                words.iter().flat_map(|w| w.to_le_bytes()).collect()
            }
            (ArgumentKind::Image, _) => {
                return Err(format!("{what} is an image; give a buffer with a shape, as {{\"buffer\": \"NAME\"}}"));
            }
            (ArgumentKind::Sampler, Argument::Value { bytes, .. }) => bytes.clone(),
            (ArgumentKind::Sampler, _) => return Err(format!("{what} is a sampler; give {{\"sampler\": {{…}}}}")),
            (ArgumentKind::Value, Argument::Value { bytes, float }) => {
                if float.is_some_and(|f| is_float_type(&spec.type_name).is_some_and(|wanted| f != wanted)) {
                    let given = if *float == Some(true) { "floating-point" } else { "integer" };
                    return Err(format!("{what} gets {given} bits; give the value as the kernel's type (or as \"bytes\")"));
                }
                bytes.clone()
            }
            (ArgumentKind::Global | ArgumentKind::Constant, _) => {
                return Err(format!(
                    "{what} is a pointer; give a buffer: {{\"buffer\": \"NAME\"}} in a case file, NAME=zeros:TYPE:SHAPE after --arg"
                ));
            }
            (ArgumentKind::Local, _) => {
                return Err(format!(
                    "{what} is a local pointer; give its size: {{\"local\": BYTES}} in a case file, local=BYTES after --arg"
                ));
            }
            (ArgumentKind::PrintfBuffer, _) => continue,
            (ArgumentKind::Value, _) => {
                return Err(format!(
                    "{what} is passed by value; give a scalar, a vector or bytes: {{\"i32\": 5}} in a case file, i32=5 after --arg"
                ));
            }
        };
        if bytes.len() != spec.size as usize {
            return Err(format!("{what} has {} bytes, {} are given", spec.size, bytes.len()));
        }
        let at = spec.offset as usize;
        bank[at..at + bytes.len()].copy_from_slice(&bytes);
    }
    Ok((bank, local, images, zones))
}

/// Whether OpenCL C's built-in scalar or vector type of this name is floating-point; `None` for other names.
fn is_float_type(name: &str) -> Option<bool> {
    match name.trim_end_matches(|c: char| c.is_ascii_digit()) {
        "float" | "double" | "half" => Some(true),
        "char" | "uchar" | "short" | "ushort" | "int" | "uint" | "long" | "ulong" => Some(false),
        _ => None,
    }
}

/// A work-group size for a launch that gives none: the required one, or divisors of the global size that fill whole warps.
fn choose_local(header: &KernelHeader, global: [u32; 3], machine: &Machine) -> [u32; 3] {
    if let Some(required) = header.required_work_group {
        return required;
    }
    let wanted = machine.sm.max_work_group_size.min(8 * machine.warp_size).max(1);
    let divisor = |n: u32, most: u32| (1..=most.min(n.max(1))).rev().find(|d| n.is_multiple_of(*d)).unwrap_or(1);
    let mut x = (1..=wanted.min(global[0].max(1)))
        .rev()
        .find(|n| global[0].is_multiple_of(*n) && (n.is_multiple_of(machine.warp_size) || *n == global[0]))
        .unwrap_or_else(|| divisor(global[0], wanted));
    let y = divisor(global[1], wanted / x);
    let z = divisor(global[2], wanted / (x * y));
    // Sizes with no useful divisor (primes): the last work-group is smaller, as OpenCL 2.0 allows.
    if x * y * z < machine.warp_size && global[0] > wanted && !header.whole_work_groups {
        x = wanted / (y * z);
    }
    [x, y, z]
}

/// Limits of the machine.
fn check_launch(launch: &Launch, machine: &Machine) -> Result<(), String> {
    let program: &Program = launch.program;
    let items = launch.local.iter().try_fold(1u32, |a, n| a.checked_mul(*n)).unwrap_or(u32::MAX);
    let most = machine.sm.max_work_group_size.min(machine.sm.max_warps * machine.warp_size);
    if items > most {
        return Err(format!("a work-group of {items} work-items; the machine allows {most}"));
    }
    if let Some(required) = program.header.required_work_group {
        if required != launch.local {
            return Err(format!(
                "it requires work-groups of {required:?} (reqd_work_group_size), the launch has {:?}",
                launch.local
            ));
        }
    }
    if program.header.whole_work_groups && launch.global.iter().zip(&launch.local).any(|(g, l)| !g.is_multiple_of(*l)) {
        return Err(format!(
            "it is compiled for whole work-groups ({}); the global size {:?} is no multiple of the local size {:?}",
            match program.header.required_work_group {
                Some(_) => "reqd_work_group_size",
                None => "OpenCL C before 2.0, or -cl-uniform-work-group-size",
            },
            launch.global,
            launch.local
        ));
    }
    // What checking mode adds is not the program's.
    let local = launch.redzones.iter().filter(|z| z.space == MemorySpace::Local);
    let local_bytes = launch.local_bytes.saturating_sub(local.map(|z| z.end - z.start).sum());
    if local_bytes > machine.sm.local_memory {
        return Err(format!("{local_bytes} bytes of work-group memory; an SM has {}", machine.sm.local_memory));
    }
    let Residency { groups, limit, .. } = residency(program, machine, launch.local, local_bytes);
    if groups == 0 {
        let header = &program.header;
        if header.fixed_registers < header.main_registers {
            return Err(format!(
                "not one work-group of {items} work-items fits an SM: too little of {limit} (a warp needs {} fixed and up to {} shared registers at once, {} warps; the SM has {}) (REN-8)",
                header.fixed_registers,
                header.shared_demand,
                items.div_ceil(machine.warp_size),
                machine.sm.main_registers / machine.warp_size
            ));
        }
        return Err(format!(
            "not one work-group of {items} work-items fits an SM: too little of {limit} ({} main registers a work-item, {} in the SM)",
            program.header.main_registers, machine.sm.main_registers
        ));
    }
    Ok(())
}
