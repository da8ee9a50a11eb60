//! A machine's memory and caches, which several of Python's objects share.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use heddle::Machine as Description;
use heddle::build::cache::Cache;
use heddle::runtime::run::DeviceState;
use heddle::sim::DeviceMemory;
use heddle::sim::memory::BASE_ADDRESS;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors;

/// What of a device nobody uses any more.
#[derive(Clone, Copy)]
enum Freed {
    /// Memory, by its address.
    Memory(u64),
    /// A program, by its number.
    Program(u64),
}

impl Freed {
    fn free(self, state: &mut DeviceState) {
        match self {
            Freed::Memory(address) => _ = state.free(address),
            Freed::Program(number) => state.unload(number),
        }
    }
}

/// The device's state, and what was freed while a launch had it.
pub struct Shared {
    /// The machine.
    pub description: Description,
    /// Memory, caches, loaded kernels. Launches of several threads take turns.
    state: Mutex<DeviceState>,
    /// What nobody uses any more.
    freed: Mutex<Vec<Freed>>,
    /// Host address of the device's first byte.
    start: u64,
    /// Where programs that were built are kept.
    pub cache: Option<Cache>,
}

impl Shared {
    /// A device in its first state.
    ///
    /// # Errors
    /// The host has no range of addresses for its memory; a variable about the cache makes no sense.
    pub fn new(description: Description) -> PyResult<Shared> {
        let memory = DeviceMemory::pinned(description.memory.device_bytes)
            .map_err(|e| errors::Error::new_err(format!("no range of addresses for the machine's memory: {e}")))?;
        let start = memory.host(BASE_ADDRESS) as u64;
        let state = Mutex::new(DeviceState::new(memory, &description));
        let cache = Cache::from_environment().map_err(errors::input)?;
        Ok(Shared { description, state, freed: Mutex::default(), start, cache })
    }

    /// The state, once nobody else has it; what was freed meanwhile is free.
    pub fn state(&self) -> MutexGuard<'_, DeviceState> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        self.freed.lock().unwrap_or_else(PoisonError::into_inner).drain(..).for_each(|f| f.free(&mut state));
        state
    }

    /// Frees something now, or when a launch that has the state ends: it may take long, and this thread has the interpreter.
    fn free(&self, freed: Freed) {
        match self.state.try_lock() {
            Ok(mut state) => freed.free(&mut state),
            Err(_) => self.freed.lock().unwrap_or_else(PoisonError::into_inner).push(freed),
        }
    }

    /// Forgets a program: its code, and the memory of its program-scope variables.
    pub fn unload(&self, program: u64) {
        self.free(Freed::Program(program));
    }

    /// The device address of memory that the host sees at an address.
    pub fn device_address(&self, host: u64) -> Option<u64> {
        host.checked_sub(self.start).map(|offset| BASE_ADDRESS + offset)
    }
}

/// Memory of a device, which numpy sees through `__array_interface__` as bytes. It is free again when nobody has it any more.
#[pyclass(frozen, module = "heddle._native")]
pub struct Memory {
    shared: Arc<Shared>,
    /// Device address.
    address: u64,
    /// Bytes.
    bytes: u64,
    host: u64,
}

impl Memory {
    /// Zeroed memory of so many bytes; `name` is for messages.
    ///
    /// # Errors
    /// There is not so much.
    pub fn new(shared: Arc<Shared>, name: &str, bytes: u64) -> PyResult<Memory> {
        let mut state = shared.state();
        let address = state.memory.allocate(name, bytes).map_err(|e| errors::LaunchError::new_err(e.to_string()))?;
        let host = state.memory.host(address) as u64;
        drop(state);
        Ok(Memory { shared, address, bytes, host })
    }
}

#[pymethods]
impl Memory {
    #[getter]
    fn __array_interface__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let interface = PyDict::new(py);
        interface.set_item("shape", (self.bytes,))?;
        interface.set_item("typestr", "|u1")?;
        interface.set_item("data", (self.host, false))?;
        interface.set_item("version", 3)?;
        Ok(interface)
    }

    /// The device address of the first byte.
    #[getter]
    fn address(&self) -> u64 {
        self.address
    }

    /// Tells the caches that the host has written.
    fn written(&self, py: Python<'_>) {
        py.detach(|| self.shared.state().host_wrote(self.address, self.bytes));
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        self.shared.free(Freed::Memory(self.address));
    }
}
