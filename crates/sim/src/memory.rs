//! Device memory: one flat address space with named allocations.
//!
//! # Sharing
//! Work-groups run on several host threads and access memory as the kernel says, races included. The storage
//! is therefore never borrowed as Rust references during a launch: all accesses go through raw pointers,
//! atomics through `std::sync::atomic` on the same addresses. A race of plain accesses has the result that
//! the host's hardware gives it, which is one of the values written for aligned accesses of up to 8 bytes;
//! that is what OpenCL's relaxed global memory promises at most.

use std::alloc::{GlobalAlloc, Layout, System};

use heddle_object::metadata::Variable;

/// Device address of the first byte; low addresses fault.
pub const BASE_ADDRESS: u64 = 0x1_0000_0000;
/// Alignment of allocations: covers every type and cache line.
const ALIGN: u64 = 256;
/// Unmapped bytes between allocations, so that small overruns are out of bounds.
const GAP: u64 = 256;
/// The same in checking mode: most wrong indices hit no other buffer.
const CHECKED_GAP: u64 = 16 << 20;

/// An allocation.
#[derive(Clone, Debug)]
pub struct Allocation {
    /// Name for messages.
    pub name: String,
    /// A program-scope variable, or all of them; else a buffer.
    pub variable: bool,
    /// First address.
    pub address: u64,
    /// Bytes.
    pub bytes: u64,
    /// In system memory, behind the host's link.
    pub system: bool,
}

impl Allocation {
    /// What it is and its name, for messages.
    pub fn description(&self) -> String {
        format!("{} `{}`", if self.variable { "variable" } else { "buffer" }, self.name)
    }

    /// First address behind.
    pub fn end(&self) -> u64 {
        self.address + self.bytes
    }

    /// Bytes from an address to the allocation.
    fn distance(&self, address: u64) -> u64 {
        if address < self.address { self.address - address } else { address - self.end().min(address) }
    }
}

/// Memory of the operating system, which is zeroed when it is touched first: gaps and buffers that nobody uses cost nothing.
struct Storage {
    /// What was allocated.
    start: *mut u8,
    layout: Layout,
    /// Its first aligned byte, and how many follow.
    pointer: *mut u8,
    bytes: usize,
}

impl Storage {
    const EMPTY: Storage =
        Storage { start: std::ptr::null_mut(), layout: Layout::new::<u8>(), pointer: std::ptr::null_mut(), bytes: 0 };

    fn new(bytes: usize) -> Storage {
        // With the alignment that the system gives anyway; more would have it write the zeros.
        let Ok(layout) = Layout::from_size_align(bytes + ALIGN as usize, 16) else {
            std::alloc::handle_alloc_error(Layout::new::<u8>())
        };
        // SAFETY: the layout is not empty, as `ALIGN` is added to its size.
        let start = unsafe { System.alloc_zeroed(layout) };
        if start.is_null() {
            std::alloc::handle_alloc_error(layout);
        }
        let pointer = start.wrapping_add(start.align_offset(ALIGN as usize));
        Storage { start, layout, pointer, bytes }
    }
}

impl Drop for Storage {
    fn drop(&mut self) {
        if self.bytes > 0 {
            // SAFETY: `start` was allocated by the same allocator with this layout, and is freed once.
            unsafe { System.dealloc(self.start, self.layout) };
        }
    }
}

/// Device memory.
pub struct DeviceMemory {
    storage: Storage,
    /// First free offset.
    used: u64,
    /// Bytes of allocations, and what a device has between them.
    taken: u64,
    limit: u64,
    gap: u64,
    allocations: Vec<Allocation>,
}

// SAFETY: the pointer is to memory that the struct owns and frees, which any thread may do.
unsafe impl Send for DeviceMemory {}
// SAFETY: nobody gets a reference to the storage. What goes through `&DeviceMemory` are raw accesses inside
// allocations; what they do when they meet is described in the module's documentation.
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
        DeviceMemory { storage: Storage::EMPTY, used: 0, taken: 0, limit, gap: GAP, allocations: Vec::new() }
    }

    /// The same with allocations far apart, so that indices far out of bounds are found (checking mode).
    pub fn spread(limit: u64) -> Self {
        DeviceMemory { gap: CHECKED_GAP, ..DeviceMemory::new(limit) }
    }

    /// Allocates zeroed memory; returns its device address.
    ///
    /// # Errors
    /// [`OutOfMemory`].
    pub fn allocate(&mut self, name: &str, bytes: u64) -> Result<u64, OutOfMemory> {
        let start = self.used.next_multiple_of(ALIGN);
        let taken = self.taken.next_multiple_of(ALIGN).checked_add(bytes).and_then(|e| e.checked_add(GAP));
        let Some(taken) = taken.filter(|e| *e <= self.limit) else {
            let free = self.limit.saturating_sub(self.taken);
            return Err(OutOfMemory { name: name.into(), bytes, free, limit: self.limit });
        };
        self.taken = taken;
        let end = start + bytes + self.gap;
        if end as usize > self.storage.bytes {
            self.grow(end as usize);
        }
        self.used = end;
        let address = BASE_ADDRESS + start;
        self.allocations.push(Allocation { name: name.into(), address, bytes, variable: false, system: false });
        Ok(address)
    }

    /// Leaves of the allocation at `address` only the parts that `variables` take; these stand in their
    /// order, apart by a multiple of the alignment of allocations.
    pub fn divide(&mut self, address: u64, variables: &[Variable]) {
        let Some(i) = self.allocations.iter().position(|a| a.address == address) else { return };
        let part = |v: &Variable| Allocation {
            name: v.name.clone(),
            address: address + u64::from(v.start),
            bytes: v.bytes.into(),
            variable: true,
            system: self.allocations[i].system,
        };
        let parts: Vec<Allocation> = variables.iter().map(part).collect();
        self.allocations.splice(i..=i, parts);
    }

    /// Moves the allocation at `address` to system memory, or back.
    pub fn place(&mut self, address: u64, system: bool) {
        if let Some(a) = self.allocations.iter_mut().find(|a| a.address == address) {
            a.system = system;
        }
    }

    fn grow(&mut self, needed: usize) {
        let storage = Storage::new(needed.max(self.storage.bytes * 2).next_multiple_of(4096));
        for a in &self.allocations {
            let offset = (a.address - BASE_ADDRESS) as usize;
            // SAFETY: the allocation lies inside the old storage and, as `needed` covers all of them, inside
            // the new one; these do not overlap.
            unsafe {
                std::ptr::copy_nonoverlapping(self.storage.pointer.add(offset), storage.pointer.add(offset), a.bytes as usize);
            }
        }
        self.storage = storage;
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

    /// The address that was meant, as near as can be told: a negative offset that was added without its sign is 2³² too far.
    pub fn meant(&self, address: u64) -> u64 {
        let distance = |x: u64| self.allocations.iter().map(|a| a.distance(x)).min().unwrap_or(u64::MAX);
        let below = address.wrapping_sub(1 << 32);
        if distance(below) < distance(address) { below } else { address }
    }

    /// Words about what is nearest to an address outside every allocation.
    pub fn nearest(&self, address: u64) -> String {
        match self.allocations.iter().min_by_key(|a| a.distance(address)) {
            None => "no buffer is allocated".into(),
            Some(a) if address < a.address => {
                format!("{} bytes before {} of {} bytes", a.address - address, a.description(), a.bytes)
            }
            Some(a) => format!("at offset {} of {}, which has {} bytes", address - a.address, a.description(), a.bytes),
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
        // SAFETY: `find` says that the bytes lie inside an allocation; the memory is borrowed exclusively, so
        // `data` is not part of it.
        unsafe { std::ptr::copy_nonoverlapping(data.as_ptr(), self.host(address), data.len()) };
        true
    }

    /// Writes bytes while a launch runs, as a host that shares the memory does. Nothing happens if they do not fit an allocation.
    pub fn write_shared(&self, address: u64, data: &[u8]) {
        if self.find(address, data.len() as u64).is_some() {
            // SAFETY: `find` says that the bytes lie inside an allocation, of which nobody holds a reference;
            // see the module's documentation on sharing.
            unsafe { std::ptr::copy_nonoverlapping(data.as_ptr(), self.host(address), data.len()) };
        }
    }

    /// Reads bytes of an allocation; `None` if they are not all of one.
    pub fn read(&self, address: u64, bytes: usize) -> Option<Vec<u8>> {
        self.find(address, bytes as u64)?;
        let mut data = vec![0; bytes];
        // SAFETY: `find` says that the bytes lie inside an allocation, and `data` is a vector of as many.
        unsafe { std::ptr::copy_nonoverlapping(self.host(address), data.as_mut_ptr(), bytes) };
        Some(data)
    }
}
