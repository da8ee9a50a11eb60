//! Device memory: one flat address space with named allocations.
//!
//! # Sharing
//! Work-groups run on several host threads and access memory as the kernel says, races included. The storage is therefore never borrowed as
//! Rust references during a launch: all accesses go through raw pointers, atomics through `std::sync::atomic` on the same
//! addresses. A race of plain accesses has the result that the host's hardware gives it, which is one of the values written for
//! aligned accesses of up to 8 bytes; that is what OpenCL's relaxed global memory promises at most.

use std::alloc::{Layout, alloc_zeroed, dealloc};

/// Device address of the first byte; low addresses fault.
pub const BASE_ADDRESS: u64 = 0x1_0000_0000;
/// Alignment of allocations: covers every type and cache line.
const ALIGN: u64 = 256;
/// Unmapped bytes between allocations, so that small overruns are out of bounds.
const GAP: u64 = 256;

/// An allocation.
#[derive(Clone, Debug)]
pub struct Allocation {
    /// Name for messages.
    pub name: String,
    /// First address.
    pub address: u64,
    /// Bytes.
    pub bytes: u64,
    /// In system memory, behind the host's link.
    pub system: bool,
}

impl Allocation {
    /// First address behind.
    pub fn end(&self) -> u64 {
        self.address + self.bytes
    }
}

struct Storage {
    pointer: *mut u8,
    bytes: usize,
}

impl Drop for Storage {
    fn drop(&mut self) {
        if self.bytes > 0 {
            // SAFETY: allocated with this layout.
            unsafe { dealloc(self.pointer, Layout::from_size_align_unchecked(self.bytes, ALIGN as usize)) };
        }
    }
}

/// Device memory.
pub struct DeviceMemory {
    storage: Storage,
    used: u64,
    limit: u64,
    allocations: Vec<Allocation>,
}

// SAFETY: the pointer is to memory the struct owns; concurrent use is described in the module documentation.
unsafe impl Send for DeviceMemory {}
unsafe impl Sync for DeviceMemory {}

/// Memory is exhausted.
#[derive(Debug, thiserror::Error)]
#[error("device memory is exhausted: `{name}` needs {bytes} bytes, {free} of {limit} are free")]
pub struct OutOfMemory {
    name: String,
    bytes: u64,
    free: u64,
    limit: u64,
}

impl DeviceMemory {
    /// Memory of at most `limit` bytes.
    pub fn new(limit: u64) -> Self {
        DeviceMemory { storage: Storage { pointer: std::ptr::null_mut(), bytes: 0 }, used: 0, limit, allocations: Vec::new() }
    }

    /// Allocates zeroed memory; returns its device address.
    ///
    /// # Errors
    /// [`OutOfMemory`].
    pub fn allocate(&mut self, name: &str, bytes: u64) -> Result<u64, OutOfMemory> {
        let start = self.used.next_multiple_of(ALIGN);
        let end = start.checked_add(bytes).and_then(|e| e.checked_add(GAP));
        let Some(end) = end.filter(|e| *e <= self.limit) else {
            let free = self.limit.saturating_sub(self.used);
            return Err(OutOfMemory { name: name.into(), bytes, free, limit: self.limit });
        };
        if end as usize > self.storage.bytes {
            self.grow(end as usize);
        }
        self.used = end;
        let address = BASE_ADDRESS + start;
        self.allocations.push(Allocation { name: name.into(), address, bytes, system: false });
        Ok(address)
    }

    /// Moves the allocation at `address` to system memory, or back.
    pub fn place(&mut self, address: u64, system: bool) {
        if let Some(a) = self.allocations.iter_mut().find(|a| a.address == address) {
            a.system = system;
        }
    }

    fn grow(&mut self, needed: usize) {
        let bytes = needed.max(self.storage.bytes * 2).next_multiple_of(4096);
        let Ok(layout) = Layout::from_size_align(bytes, ALIGN as usize) else {
            std::alloc::handle_alloc_error(Layout::new::<u8>())
        };
        // SAFETY: the layout is not empty; the old contents fit.
        unsafe {
            let pointer = alloc_zeroed(layout);
            if pointer.is_null() {
                std::alloc::handle_alloc_error(layout);
            }
            if self.storage.bytes > 0 {
                std::ptr::copy_nonoverlapping(self.storage.pointer, pointer, self.storage.bytes);
            }
            self.storage = Storage { pointer, bytes };
        }
    }

    /// Host pointer to a device address. Only meaningful inside an allocation.
    #[inline(always)]
    pub fn host(&self, address: u64) -> *mut u8 {
        self.storage.pointer.wrapping_add(address.wrapping_sub(BASE_ADDRESS) as usize)
    }

    /// The allocation that contains `address .. address + bytes`.
    #[inline]
    pub fn find(&self, address: u64, bytes: u64) -> Option<&Allocation> {
        let i = self.allocations.partition_point(|a| a.address <= address);
        let a = self.allocations.get(i.checked_sub(1)?)?;
        (address.checked_add(bytes)? <= a.end()).then_some(a)
    }

    /// Words about what is nearest to an address outside every allocation.
    pub fn nearest(&self, address: u64) -> String {
        let distance = |a: &Allocation| {
            if address < a.address { a.address - address } else { address - a.end().min(address) }
        };
        match self.allocations.iter().min_by_key(|a| distance(a)) {
            None => "no buffer is allocated".into(),
            Some(a) if address < a.address => {
                format!("{} bytes before buffer `{}` of {} bytes", a.address - address, a.name, a.bytes)
            }
            Some(a) => format!("at offset {} of buffer `{}`, which has {} bytes", address - a.address, a.name, a.bytes),
        }
    }

    /// The allocations, by address.
    pub fn allocations(&self) -> &[Allocation] {
        &self.allocations
    }

    /// Writes bytes into an allocation; false if they do not fit one.
    #[must_use]
    pub fn write(&mut self, address: u64, data: &[u8]) -> bool {
        if self.find(address, data.len() as u64).is_none() {
            return data.is_empty();
        }
        // SAFETY: inside an allocation, and the memory is borrowed exclusively.
        unsafe { std::ptr::copy_nonoverlapping(data.as_ptr(), self.host(address), data.len()) };
        true
    }

    /// Writes bytes while a launch runs, as a host that shares the memory does. Nothing happens if they do not fit an allocation.
    pub fn write_shared(&self, address: u64, data: &[u8]) {
        if self.find(address, data.len() as u64).is_some() {
            // SAFETY: inside an allocation; see the module documentation on sharing.
            unsafe { std::ptr::copy_nonoverlapping(data.as_ptr(), self.host(address), data.len()) };
        }
    }

    /// Reads bytes of an allocation; `None` if they are not all of one.
    pub fn read(&self, address: u64, bytes: usize) -> Option<Vec<u8>> {
        self.find(address, bytes as u64)?;
        let mut data = vec![0; bytes];
        // SAFETY: inside an allocation.
        unsafe { std::ptr::copy_nonoverlapping(self.host(address), data.as_mut_ptr(), bytes) };
        Some(data)
    }
}
