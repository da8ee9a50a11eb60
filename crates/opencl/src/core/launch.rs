//! A kernel on the simulator: what is fixed when it is enqueued, and what happens when its turn comes.

use std::sync::Arc;
use std::time::Duration;

use opencl_sys::*;

use heddle::session::{CommandTimes, LaunchPlan, LaunchResult, record};
use heddle_object::metadata::{ArgumentKind, KernelHeader};
use heddle_runtime::alike::launch_hash;
use heddle_runtime::case::{Argument, Launch};
use heddle_runtime::printf::Printed;
use heddle_runtime::run::{
    DeviceState, Launched, Mode, Observer, Refusal, RefusalKind, Request, RunError, Simulator, suggested_local,
};
use heddle_sim::Fault;

use super::context::Context;
use super::device::Device;
use super::event::{Done, Work};
use super::kernel::{Kernel, Setting, Settings};
use super::program::Loaded;
use super::queue::Queue;
use crate::error::{Outcome, ensure, fail};
use crate::object::Ref;

/// Sizes of a launch, one to three dimensions.
pub struct Range {
    /// Work-items.
    pub global: Vec<u64>,
    /// Work-items of a work-group; chosen if missing.
    pub local: Option<Vec<u64>>,
    /// First global id.
    pub offset: Option<Vec<u64>>,
}

/// Checks a work-group size against what the kernel and the machine allow.
///
/// # Errors
/// The specification's, in its order.
pub fn check_work_group(kernel: &Kernel, global: &[u64], local: Option<&[u64]>) -> Outcome {
    let (header, machine) = (kernel.header(), &kernel.program.device.machine);
    let local_bytes = kernel.local_bytes();
    if local_bytes > u64::from(machine.sm.local_memory) {
        let have = machine.sm.local_memory;
        return fail(CL_OUT_OF_RESOURCES, format!("{local_bytes} bytes of work-group memory; the device has {have}"));
    }
    let Some(local) = local else { return Ok(()) };
    let items = u64::from(machine.sm.max_work_group_size.min(machine.sm.max_warps * machine.warp_size));
    ensure(!local.contains(&0), CL_INVALID_WORK_GROUP_SIZE, "a local size is 0")?;
    let sides = local.iter().all(|n| *n <= items);
    ensure(sides, CL_INVALID_WORK_ITEM_SIZE, "a local size is above CL_DEVICE_MAX_WORK_ITEM_SIZES")?;
    let size = local.iter().try_fold(1u64, |a, n| a.checked_mul(*n)).unwrap_or(u64::MAX);
    let most = u64::from(kernel.largest_work_group());
    if size > most {
        let why = format!("a work-group of {size} work-items; kernel `{}` runs with {most} at most", header.name);
        return fail(CL_INVALID_WORK_GROUP_SIZE, why);
    }
    if let Some(required) = header.required_work_group {
        let equal = (0..3).all(|d| local.get(d).map_or(1, |n| *n) == u64::from(required[d]));
        ensure(equal, CL_INVALID_WORK_GROUP_SIZE, "the local size is not the kernel's reqd_work_group_size")?;
    }
    let whole = !header.whole_work_groups || global.iter().zip(local).all(|(g, l)| g % l == 0);
    ensure(
        whole,
        CL_INVALID_WORK_GROUP_SIZE,
        "the global size is no multiple of the local size, which OpenCL C before 2.0 and -cl-uniform-work-group-size want",
    )
}

/// A launch with its arguments' values, which stay what they were when it was enqueued.
struct Enqueued {
    device: &'static Device,
    context: Ref<Context>,
    loaded: Arc<Loaded>,
    kernel: usize,
    spec: Launch,
    arguments: Vec<Argument>,
    /// Addresses that the kernel may reach beside its arguments.
    indirect: Vec<u64>,
    /// Keeps memory until the launch has ended.
    settings: Settings,
    queue: u64,
    queued: u64,
}

/// What a launch does when its turn comes.
///
/// # Errors
/// The launch is not possible.
pub fn work(queue: &Ref<Queue>, kernel: &Kernel, settings: Settings, range: Range) -> Outcome<Work> {
    let device = queue.device;
    let header = kernel.header();
    let arguments = settings.arguments.iter().flatten().map(|s| argument(s, device)).collect();
    let given = range.local.is_some();
    let local = match range.local {
        Some(local) => local,
        None => {
            let global = std::array::from_fn(|d| range.global.get(d).map_or(1, |n| *n as u32));
            let local = suggested_local(header, global, &device.machine);
            local.iter().take(range.global.len()).map(|n| u64::from(*n)).collect()
        }
    };
    let empty = range.global.contains(&0);
    if !given && !empty {
        check_work_group(kernel, &range.global, Some(&local))?;
    }
    let enqueued = Enqueued {
        device,
        context: queue.context.clone(),
        loaded: kernel.loaded.clone(),
        kernel: kernel.number,
        spec: Launch {
            kernel: header.name.clone(),
            global: range.global,
            local: Some(local),
            offset: range.offset,
            repeat: 1,
            args: Vec::new(),
        },
        arguments,
        indirect: settings.indirect.clone(),
        settings,
        queue: queue.number,
        queued: device.clock.now(),
    };
    Ok(Box::new(move || if empty { Ok(Done { takes: Some(0), bytes: 0 }) } else { enqueued.execute() }))
}

/// An argument as the runtime takes it.
fn argument(setting: &Setting, device: &Device) -> Argument {
    match setting {
        Setting::Memory(memory) => match memory.image() {
            Some(shape) => Argument::Image { address: memory.address, image: shape.image },
            None => Argument::Pointer { address: memory.address },
        },
        Setting::Pointer(address) => Argument::Pointer { address: *address },
        Setting::Local(bytes) => Argument::Local(u32::try_from(device.granted((*bytes).into())).unwrap_or(*bytes)),
        Setting::Value(bytes) => Argument::Value { bytes: bytes.clone(), float: None },
    }
}

impl Enqueued {
    fn header(&self) -> &KernelHeader {
        self.loaded.header(self.kernel)
    }

    /// Work-group size, in as many dimensions as the global size has.
    fn local(&self) -> &[u64] {
        self.spec.local.as_deref().unwrap_or_default()
    }

    /// Global offset, in as many.
    fn offset(&self) -> &[u64] {
        self.spec.offset.as_deref().unwrap_or(&[0; 3][..self.spec.global.len()])
    }

    fn execute(self) -> Result<Done, cl_int> {
        let device = self.device;
        let plan = device.session.begin_launch(&self.spec.kernel, || self.hash());
        let mut printer = Printer { context: &self.context, printed: Printed::default() };
        let started = device.clock.now();
        let mut state = device.state();
        if let Err(message) = device.session.at_checkpoint(&plan, &mut state) {
            self.context.notify(&message);
            return Err(CL_OUT_OF_RESOURCES);
        }
        let pending = plan.record.then(|| self.record_begin(&plan, &mut state)).flatten();
        let mut result = self.simulate(&mut state, &plan, &mut printer);
        if let Ok(launched) = &mut result {
            device.session.extrapolate(&plan, &mut launched.statistics);
        }
        if plan.options.record.time_line {
            state.recordings_taken();
        }
        if let Some(pending) = pending {
            self.record_end(pending, &state, result.is_ok());
        }
        drop(state);
        let printed = match &result {
            Ok(launched) => &launched.printed,
            Err(_) => &printer.printed,
        };
        match &result {
            Ok(launched) => {
                let takes = launched.statistics.cycles().or(plan.replayed).map(|c| device.clock.cycles(c));
                self.ended(&plan, started, takes, launched.time, Ok(launched), printed);
                Ok(Done { takes, bytes: 0 })
            }
            Err(RunError::Fault(fault)) => {
                self.ended(&plan, started, None, Duration::ZERO, Err(fault), printed);
                self.context.notify(&fault.to_string());
                Err(CL_OUT_OF_RESOURCES)
            }
            Err(RunError::Refused(Refusal { kind, message })) => Err(self.refused(*kind, message)),
            Err(RunError::Input(message)) => Err(self.refused(RefusalKind::Arguments, message)),
        }
    }

    /// The hash of its code and sizes.
    fn hash(&self) -> String {
        launch_hash(self.loaded.code_hash(self.kernel), &self.spec.global, self.local(), self.offset())
    }

    /// Runs the launch, with the device's memory and caches at hand.
    fn simulate(&self, state: &mut DeviceState, plan: &LaunchPlan, observer: &mut dyn Observer) -> Result<Launched, RunError> {
        if plan.cold {
            state.flush_caches(&self.device.machine);
        }
        let image = &self.loaded.image;
        let data = state.load(self.loaded.number, image).map_err(|e| Refusal::new(RefusalKind::Memory, e.to_string()))?;
        let request =
            Request { indirect: &self.indirect, ..Request::by_address(&self.spec, self.loaded.number, &self.arguments, data) };
        let options = match self.context.printf_room {
            Some(room) => &heddle_sim::Options { printf_room: room, ..plan.options.clone() },
            None => &plan.options,
        };
        let simulator = Simulator { machine: &self.device.machine, mode: plan.mode, options };
        state.launch(image, &request, &simulator, observer)
    }

    /// Tells the session.
    fn ended(
        &self,
        plan: &LaunchPlan,
        started: u64,
        takes: Option<u64>,
        host: Duration,
        outcome: Result<&Launched, &Fault>,
        printed: &Printed,
    ) {
        let ended = takes.map_or_else(|| self.device.clock.now(), |t| started + t);
        let times = CommandTimes { queued: self.queued, submitted: started, started, ended };
        let result = LaunchResult {
            image: &self.loaded.image,
            version: outcome.map_or(self.kernel, |l| l.version),
            source: Some(&self.loaded.source),
            global: &self.spec.global,
            local: self.local(),
            offset: self.offset(),
            queue: self.queue,
            times,
            host,
            outcome: outcome.map(|l| &l.statistics),
            printed,
        };
        self.device.session.end_launch(plan, &result);
    }

    /// The launch was not possible after all: its event gets the code that enqueueing it would have returned.
    fn refused(&self, kind: RefusalKind, message: &str) -> cl_int {
        heddle::report::say!("heddle: error: {message}");
        self.context.notify(message);
        match kind {
            RefusalKind::Arguments => CL_INVALID_KERNEL_ARGS,
            RefusalKind::WorkGroupTooLarge | RefusalKind::WorkGroupNotAsRequired | RefusalKind::WorkGroupsNotWhole => {
                CL_INVALID_WORK_GROUP_SIZE
            }
            RefusalKind::IdsTooLarge => CL_INVALID_GLOBAL_WORK_SIZE,
            RefusalKind::OtherMachine => CL_INVALID_PROGRAM_EXECUTABLE,
            RefusalKind::Resources => CL_OUT_OF_RESOURCES,
            RefusalKind::Memory => CL_MEM_OBJECT_ALLOCATION_FAILURE,
        }
    }

    fn record_begin(&self, plan: &LaunchPlan, state: &mut DeviceState) -> Option<record::Pending> {
        let arguments: Vec<record::Argument> = self
            .settings
            .arguments
            .iter()
            .flatten()
            .zip(self.header().visible_args())
            .map(|(s, parameter)| recorded(s, parameter.kind, state, self.device))
            .collect();
        // Without timing, and not kept warm, nobody knows.
        let known = !plan.cold && (plan.mode == Mode::Timing || plan.options.warm);
        let cached = if known { state.cached() } else { Vec::new() };
        let description = record::Description {
            header: self.header(),
            source: &self.loaded.source,
            global: &self.spec.global,
            local: self.local(),
            offset: self.offset(),
            arguments: &arguments,
            cached: &cached,
        };
        let no_case = if !self.indirect.is_empty() {
            Some("it follows pointers in shared virtual memory")
        } else if self.variables_have_changed(state) {
            Some("program-scope variables hold what earlier launches wrote")
        } else {
            None
        };
        if let Some(why) = no_case {
            self.device.session.leave_out(plan, &self.spec.kernel, why);
            return None;
        }
        let read = |address, bytes| state.memory.read(address, bytes);
        self.device.session.begin_recording(plan, &description, &read)
    }

    /// Whether the program's variables are no longer what the object says.
    fn variables_have_changed(&self, state: &mut DeviceState) -> bool {
        let image = &self.loaded.image;
        let Ok(address) = state.load(self.loaded.number, image) else { return false };
        if address == 0 {
            return false;
        }
        let now = read_pieces(state, address, image.data.len());
        // Addresses in them were made absolute.
        let moved = |at: usize| image.metadata.data_relocations.iter().any(|r| (*r as usize..*r as usize + 8).contains(&at));
        now.iter().zip(&image.data).enumerate().any(|(at, (now, then))| now != then && !moved(at))
    }

    fn record_end(&self, pending: record::Pending, state: &DeviceState, whole: bool) {
        self.device.session.end_recording(pending, &|address, bytes| state.memory.read(address, bytes), whole);
    }
}

/// Bytes of device memory, of which some may be between variables that stand apart: those are taken as 0.
fn read_pieces(state: &DeviceState, address: u64, bytes: usize) -> Vec<u8> {
    let mut result = vec![0; bytes];
    let inside = |a: &&heddle_sim::memory::Allocation| a.address >= address && a.end() <= address + bytes as u64;
    for piece in state.memory.allocations().iter().filter(inside) {
        let at = (piece.address - address) as usize;
        if let Some(data) = state.memory.read(piece.address, piece.bytes as usize) {
            result[at..at + data.len()].copy_from_slice(&data);
        }
    }
    result
}

/// The allocation that an address is in, and how far behind its start.
fn allocation(address: u64, state: &DeviceState) -> Option<(record::Allocation, u64)> {
    let root = state.memory.root(address)?;
    let system = state.memory.find(address, 0).is_some_and(|a| a.system);
    let allocation = record::Allocation { address: root.start, bytes: root.end - root.start, system };
    Some((allocation, address - root.start))
}

/// An argument as the recorder takes it.
fn recorded(setting: &Setting, kind: ArgumentKind, state: &DeviceState, device: &Device) -> record::Argument {
    match argument(setting, device) {
        Argument::Pointer { address } => match allocation(address, state) {
            Some((allocation, offset)) => record::Argument::Pointer(allocation, offset),
            None => record::Argument::Null,
        },
        Argument::Image { address, image } => match allocation(address, state) {
            Some((allocation, offset)) => record::Argument::Image(allocation, offset, image),
            None => record::Argument::Null,
        },
        Argument::Local(bytes) => record::Argument::Local(bytes),
        Argument::Value { bytes, .. } if kind == ArgumentKind::Sampler => {
            let bits = bytes.try_into().map_or(0, u32::from_le_bytes);
            record::Argument::Sampler(bits)
        }
        Argument::Value { bytes, .. } => record::Argument::Value(bytes),
        Argument::Buffer { .. } => record::Argument::Null,
    }
}

/// Where what a kernel prints goes: to the program's callback, or to standard output in the order in which the
/// program itself writes there.
struct Printer<'a> {
    context: &'a Context,
    printed: Printed,
}

unsafe extern "C" {
    /// C's standard output, which the program may have written to and not flushed.
    static stdout: *mut libc::FILE;
}

impl Observer for Printer<'_> {
    fn begins(&mut self, _kernel: &str, _work_groups: u64) -> Box<dyn Fn(u64) + Sync> {
        Box::new(|_| {})
    }

    fn printed(&mut self, text: &[u8]) {
        self.printed.text.extend_from_slice(text);
        match self.context.printf {
            Some((callback, data)) => {
                // SAFETY: the program gave the function for this, and its data.
                unsafe { callback(text.as_ptr().cast(), text.len(), 1, data.pointer()) };
            }
            None => {
                // SAFETY: C's standard output is there as long as the process, and locks itself.
                unsafe {
                    libc::fwrite(text.as_ptr().cast(), 1, text.len(), stdout);
                    libc::fflush(stdout);
                }
            }
        }
    }
}
