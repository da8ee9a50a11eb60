//! The device: a simulated machine with its memory, caches and clock.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard};

use opencl_sys::*;

use heddle::build::Builder;
use heddle::build::cache::Cache;
use heddle::session::{DeviceType, Session};
use heddle_frontend::FrontendOptions;
use heddle_runtime::run::{DeviceState, Mode};
use heddle_sim::DeviceMemory;
use heddle_target::Machine;

use super::clock::Clock;
use super::scheduler::Scheduler;

use crate::error::{Outcome, error};
use crate::object::{Kind, lock};

/// Bytes of a piece of memory: those of a cache line, or two.
const GRANULE: u64 = 256;

/// The device.
pub struct Device {
    /// The machine.
    pub machine: Machine,
    /// What type it says it is.
    pub device_type: cl_device_type,
    /// Its time.
    pub clock: Clock,
    /// Its commands.
    pub scheduler: Scheduler,
    /// Its compiler.
    pub builder: Builder,
    /// What the environment wants of this process.
    pub session: Session,
    /// Allocations of shared virtual memory, by address.
    pub svm: Mutex<BTreeMap<u64, SvmAllocation>>,
    state: Mutex<DeviceState>,
    queues: AtomicU64,
    allocations: AtomicU64,
    images: AtomicU64,
}

/// An allocation of shared virtual memory.
#[derive(Clone, Copy)]
pub struct SvmAllocation {
    /// Bytes.
    pub bytes: u64,
}

impl Kind for Device {
    const NAME: &'static str = "device";
    const INVALID: cl_int = CL_INVALID_DEVICE;
}

impl Device {
    /// The device that the environment describes.
    ///
    /// # Errors
    /// A sentence about what is wrong with it.
    pub fn from_environment() -> Result<Device, String> {
        let session = Session::from_environment().map_err(|e| e.to_string())?;
        let machine = session.machine().clone();
        let bytes = machine.memory.device_bytes;
        let memory = match session.spreads_memory() {
            true => DeviceMemory::reserved_spread(bytes),
            false => DeviceMemory::reserved(bytes),
        };
        let memory = memory.map_err(|e| format!("no {bytes} bytes of addresses for device memory: {e}"))?;
        let builder = Builder::new(machine.clone())
            .with_options(session.compile_options(FrontendOptions::default()))
            .with_cache(Cache::from_environment()?);
        let simulated = session.options().mode == Mode::Timing;
        Ok(Device {
            device_type: match session.options().device_type {
                DeviceType::Gpu => CL_DEVICE_TYPE_GPU,
                DeviceType::Cpu => CL_DEVICE_TYPE_CPU,
                DeviceType::Accelerator => CL_DEVICE_TYPE_ACCELERATOR,
                DeviceType::All => CL_DEVICE_TYPE_GPU | CL_DEVICE_TYPE_CPU | CL_DEVICE_TYPE_ACCELERATOR,
            },
            clock: Clock::new(&machine, simulated),
            builder,
            scheduler: Scheduler::default(),
            svm: Mutex::default(),
            state: Mutex::new(DeviceState::new(memory, &machine)),
            queues: AtomicU64::new(0),
            allocations: AtomicU64::new(0),
            images: AtomicU64::new(0),
            session,
            machine,
        })
    }

    /// Its memory and caches. Whoever holds this drops no object of the driver.
    pub fn state(&self) -> MutexGuard<'_, DeviceState> {
        lock(&self.state)
    }

    /// A number for a queue.
    pub fn next_queue(&self) -> u64 {
        self.queues.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// A number for a loaded program.
    pub fn next_image(&self) -> u64 {
        self.images.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// Bytes that one allocation may have: a quarter of the memory, but all of a small one's half; and no more than offsets of
    /// 32 bits reach.
    pub fn max_allocation(&self) -> u64 {
        let share = (self.machine.memory.device_bytes / 4).max(1 << 27).min(self.machine.memory.device_bytes / 2);
        share.min(heddle_sim::MAX_ALLOCATION)
    }

    /// Bytes that an allocation of memory really has. Programs that nobody checks may read a little behind the
    /// end, as on devices that give memory in pieces: the rest of the piece is theirs. `--check` counts each byte.
    pub fn granted(&self, bytes: u64) -> u64 {
        if self.session.options().check.is_empty() { bytes.next_multiple_of(GRANULE) } else { bytes }
    }

    /// Memory of the device, at a multiple of `align`. `what` it is, if
    /// not a buffer, stands in messages, with a number.
    ///
    /// # Errors
    /// `CL_MEM_OBJECT_ALLOCATION_FAILURE`.
    pub fn allocate(&self, what: &str, bytes: u64, align: u64) -> Outcome<u64> {
        let number = self.allocations.fetch_add(1, Ordering::Relaxed) + 1;
        let name = format!("{what}{}#{number}", if what.is_empty() { "" } else { " " });
        let allocated = self.state().memory.allocate_aligned(&name, self.granted(bytes), align);
        allocated.map_err(|e| error(CL_MEM_OBJECT_ALLOCATION_FAILURE, e.to_string()))
    }

    /// Gives memory back.
    pub fn free(&self, address: u64) {
        self.state().free(address);
    }

    /// The allocation of shared virtual memory that an address is in, with its first address.
    pub fn svm_at(&self, address: u64) -> Option<(u64, SvmAllocation)> {
        let svm = lock(&self.svm);
        let (start, allocation) = svm.range(..=address).next_back()?;
        (address < start + allocation.bytes.max(1)).then_some((*start, *allocation))
    }
}
