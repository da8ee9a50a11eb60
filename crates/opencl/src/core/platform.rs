//! The platform with its device: one of each in a process, made when the program first looks.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use heddle::session::CommandTimes;
use opencl_sys::*;

use super::device::Device;
use super::event::Event;
use crate::error::{self, ApiError};
use crate::object::{self, Kind, Object, Ref};

/// The platform.
pub struct Platform;

impl Kind for Platform {
    const NAME: &'static str = "platform";
    const INVALID: cl_int = CL_INVALID_PLATFORM;
}

static PLATFORM: OnceLock<Ref<Platform>> = OnceLock::new();
static DEVICE: OnceLock<Option<Ref<Device>>> = OnceLock::new();

/// The platform.
pub fn platform() -> &'static Ref<Platform> {
    PLATFORM.get_or_init(|| {
        let platform = Object::new(Platform);
        object::give(platform.clone());
        platform
    })
}

/// The device; none if the environment does not describe one, which standard error says once.
pub fn device() -> Option<&'static Ref<Device>> {
    let device = DEVICE.get_or_init(|| match Device::from_environment() {
        Ok(device) => {
            let device = Object::new(device);
            object::give(device.clone());
            // SAFETY: the function is there until the process ends.
            unsafe { libc::atexit(at_exit) };
            Some(device)
        }
        Err(message) => {
            heddle::report::say!("heddle: error: {message}\nheddle: there is no OpenCL device");
            None
        }
    });
    device.as_ref()
}

/// The device, if there is one already.
pub fn device_if_made() -> Option<&'static Device> {
    DEVICE.get()?.as_ref().map(|d| &***d)
}

/// The process ends: objects that the program has not released and commands that it has not waited for are listed, and results
/// are written.
extern "C" fn at_exit() {
    let Some(device) = device_if_made() else { return };
    for (kind, count) in object::alive() {
        if ![Platform::NAME, Device::NAME].contains(&kind) {
            device.session.leak(kind, count, "");
        }
    }
    device.session.unended(device.scheduler.unended());
    device.session.finish();
}

/// Watches a call of an entry point.
pub struct Watch {
    function: &'static str,
    began: Option<u64>,
}

/// A call of an entry point begins.
pub fn watch(function: &'static str) -> Watch {
    let session = device_if_made().map(|d| &d.session).filter(|s| s.is_tracing());
    Watch { function, began: session.map(|s| s.now()) }
}

impl Watch {
    /// It has ended.
    pub fn ended(self, error: Option<&ApiError>) {
        if self.began.is_none() && error.is_none() {
            return;
        }
        let Some(device) = device_if_made() else { return };
        if let Some(began) = self.began {
            device.session.host_call(self.function, thread_number(), began, device.session.now());
        }
        if let Some(error) = error {
            device.session.api_error(self.function, error::name(error.code), &error.why);
        }
    }
}

/// A number for the calling thread, from 1 in the order of first calls.
fn thread_number() -> u64 {
    static THREADS: AtomicU64 = AtomicU64::new(0);
    thread_local!(static NUMBER: u64 = THREADS.fetch_add(1, Ordering::Relaxed) + 1);
    NUMBER.with(|n| *n)
}

/// A command has ended, for the trace. Kernels say so themselves.
pub fn command_ended(event: &Event, bytes: u64, started: u64, ended: u64) {
    let Some(device) = device_if_made().filter(|d| d.session.is_tracing()) else { return };
    let kernel = [CL_COMMAND_NDRANGE_KERNEL, CL_COMMAND_TASK].contains(&event.command_type);
    if let Some(queue) = event.queue.as_ref().filter(|_| !kernel) {
        let times = event.times();
        let times = CommandTimes { queued: times.queued, submitted: times.submitted, started, ended };
        device.session.command(command_name(event.command_type), queue.number, bytes, &times);
    }
}

/// What the trace calls a command.
fn command_name(command_type: cl_command_type) -> &'static str {
    match command_type {
        CL_COMMAND_READ_BUFFER | CL_COMMAND_READ_BUFFER_RECT => "read buffer",
        CL_COMMAND_WRITE_BUFFER | CL_COMMAND_WRITE_BUFFER_RECT => "write buffer",
        CL_COMMAND_COPY_BUFFER | CL_COMMAND_COPY_BUFFER_RECT => "copy buffer",
        CL_COMMAND_FILL_BUFFER => "fill buffer",
        CL_COMMAND_READ_IMAGE => "read image",
        CL_COMMAND_WRITE_IMAGE => "write image",
        CL_COMMAND_COPY_IMAGE => "copy image",
        CL_COMMAND_FILL_IMAGE => "fill image",
        CL_COMMAND_COPY_IMAGE_TO_BUFFER => "copy image to buffer",
        CL_COMMAND_COPY_BUFFER_TO_IMAGE => "copy buffer to image",
        CL_COMMAND_MAP_BUFFER | CL_COMMAND_MAP_IMAGE | CL_COMMAND_SVM_MAP => "map",
        CL_COMMAND_UNMAP_MEM_OBJECT | CL_COMMAND_SVM_UNMAP => "unmap",
        CL_COMMAND_MIGRATE_MEM_OBJECTS | CL_COMMAND_SVM_MIGRATE_MEM => "migrate",
        CL_COMMAND_NATIVE_KERNEL => "native kernel",
        CL_COMMAND_MARKER => "marker",
        CL_COMMAND_BARRIER => "barrier",
        CL_COMMAND_SVM_MEMCPY => "copy shared memory",
        CL_COMMAND_SVM_MEMFILL => "fill shared memory",
        CL_COMMAND_SVM_FREE => "free shared memory",
        _ => "command",
    }
}
