//! Device memory: one flat address space with named allocations.
//!
//! The storage either grows and moves, with device addresses of its own, or is a reserved range of the host's
//! addresses that stays where it is. Both give freed memory out again, zeroed.
//!
//! # Sharing
//! Work-groups run on several host threads and access memory as the kernel says, races included. The storage
//! is therefore never borrowed as Rust references during a launch: all accesses go through raw pointers,
//! atomics through `std::sync::atomic` on the same addresses. A race of plain accesses has the result that
//! the host's hardware gives it. Aligned values of up to 8 bytes move in one access of the host, interpreted
//! and translated, and longer ones in such pairs of words: what is read of 8 bytes is one of the values
//! written, as OpenCL's relaxed atomics of 64 bits want, which are plain loads and stores here.

use std::alloc::{GlobalAlloc, Layout, System};
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::ops::Range;

use heddle_object::metadata::Variable;

/// Device address of the first byte, unless it is a host address; low addresses fault. Away from a multiple of 4 GiB, where nothing
/// may begin, by a power of two that addresses below it lack in small launches: the sets of caches and the banks of memory that
/// these use are then the same but for their numbers.
pub const BASE_ADDRESS: u64 = 0x1_4000_0000;
/// Alignment of allocations: covers every type and cache line.
const ALIGN: u64 = 256;
/// Unmapped bytes between allocations, so that small overruns are out of bounds.
const GAP: u64 = 256;
/// The same in checking mode: most wrong indices hit no other buffer.
const CHECKED_GAP: u64 = 16 << 20;
/// Addresses of one high word. No allocation that has room in a window crosses into another one, nor does the address behind its
/// last byte: from a pointer into it, 32 bits that wrap reach all of it (docs/ARCHITECTURE.md, "Addresses").
const WINDOW: u64 = 1 << 32;
/// No allocation begins in the first bytes of a window, or ends in the last ones: loops end with a pointer a little before the first
/// element, or behind the last one, which is to be less or greater than one to that.
const MARGIN: u64 = 64 << 10;
/// Bytes of an allocation of which both is so, at most.
pub const MAX_ALLOCATION: u64 = WINDOW - 2 * CHECKED_GAP;
/// Host address of a reserved range if it is free, so that addresses are the same in every run; below what the host gives
/// others.
const PREFERRED_ADDRESS: usize = 0x2000_0000_0000;
/// From one preferred address to the next, of so many.
const PREFERRED_STEP: usize = 1 << 36;
const PREFERRED_ADDRESSES: usize = 256;
/// Addresses of a reserved range for gaps of checking mode.
const SPREAD_RANGE: u64 = 4 << 40;
/// From this size on, the pages of a freed allocation go back to the host; below, zeroing them is cheaper.
const RETURNED_BYTES: u64 = 64 << 10;
/// Alignment of memory that is lent: no access is longer.
const LENT_ALIGN: u64 = 16;
/// Device addresses of memory that is lent end before this: none is the address of another space.
const LENT_END: u64 = 1 << 47;
/// Memory of fewer bytes stays on small pages.
#[cfg(target_os = "linux")]
const HUGE_BYTES: usize = 4 << 20;
/// What the size of a reserved range is a multiple of, as it is of all usual page sizes.
const RESERVED_UNIT: u64 = 64 << 10;

/// What is at a place of the host's memory will be needed soon: the host may fetch it into its caches.
#[inline]
pub(crate) fn prefetch<T>(place: *const T) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: this reads nothing, and does nothing where there is no memory.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(place.cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = place;
}

/// The same of all that is at a place, each line of the host's caches.
#[inline]
pub(crate) fn prefetch_all<T: ?Sized>(place: &T) {
    const LINE: usize = 64;
    let start = std::ptr::from_ref(place).cast::<u8>();
    let first = start.addr() % LINE;
    for at in (0..first + size_of_val(place)).step_by(LINE) {
        prefetch(start.wrapping_sub(first).wrapping_add(at));
    }
}

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
    /// The host's own memory, lent for a launch; else the device's.
    pub lent: bool,
    /// Where the host has the bytes, if the device's address does not say it ([`DeviceMemory::lend_cached`]).
    elsewhere: Option<HostAddress>,
}

/// A host address that threads may share.
#[derive(Clone, Copy, Debug)]
struct HostAddress(*mut u8);

// SAFETY: a number, until an unsafe block follows it.
unsafe impl Send for HostAddress {}
// SAFETY: as above.
unsafe impl Sync for HostAddress {}

impl Allocation {
    /// The device's own, or memory that is lent at its host address.
    fn new(name: &str, address: u64, bytes: u64, lent: bool) -> Allocation {
        Allocation { name: name.into(), address, bytes, variable: false, system: false, lent, elsewhere: None }
    }
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
enum Storage {
    /// Of the host's allocator; made anew, larger, when it is full.
    Growing {
        /// What was allocated; null if nothing was.
        start: *mut u8,
        layout: Layout,
    },
    /// A range of the host's address space, which is never moved.
    Reserved {
        /// Its first byte.
        start: *mut u8,
        /// Bytes of the host's pages.
        page: u64,
    },
}

/// Storage, its first aligned byte, and how many follow.
struct Region {
    storage: Storage,
    pointer: *mut u8,
    bytes: usize,
}

impl Region {
    const EMPTY: Region = Region {
        storage: Storage::Growing { start: std::ptr::null_mut(), layout: Layout::new::<u8>() },
        pointer: std::ptr::null_mut(),
        bytes: 0,
    };

    /// Of the host's allocator.
    fn grown(bytes: usize) -> Region {
        // With the alignment that the system gives anyway; more would have it write the zeros.
        let Ok(layout) = Layout::from_size_align(bytes + ALIGN as usize, 16) else {
            std::alloc::handle_alloc_error(Layout::new::<u8>())
        };
        // SAFETY: the layout is not empty, as `ALIGN` is added to its size.
        let start = unsafe { System.alloc_zeroed(layout) };
        if start.is_null() {
            std::alloc::handle_alloc_error(layout);
        }
        huge_pages(start, layout.size());
        let pointer = start.wrapping_add(start.align_offset(ALIGN as usize));
        Region { storage: Storage::Growing { start, layout }, pointer, bytes }
    }

    /// A range of addresses, of which the host has no memory until they are touched. `sparse`: what is
    /// touched lies far apart.
    fn reserved(bytes: usize, sparse: bool) -> io::Result<Region> {
        let start = Region::map(bytes)?;
        #[cfg(target_os = "linux")]
        if sparse {
            // A huge page for every small allocation would be most of the host's memory. No harm if it is refused.
            // SAFETY: advice about the mapping just made, which changes no contents.
            let _advice = unsafe { libc::madvise(start, bytes, libc::MADV_NOHUGEPAGE) };
        } else {
            huge_pages(start.cast(), bytes);
        }
        // SAFETY: asks for a constant of the system.
        let page = u64::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).unwrap_or(RESERVED_UNIT).max(1);
        let start = start.cast();
        Ok(Region { storage: Storage::Reserved { start, page }, pointer: start, bytes })
    }

    /// Maps a range of addresses, at the first preferred one where it fits, else at one of the kernel's choice.
    fn map(bytes: usize) -> io::Result<*mut libc::c_void> {
        let access = libc::PROT_READ | libc::PROT_WRITE;
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
        for i in 0..PREFERRED_ADDRESSES {
            let hint = std::ptr::without_provenance_mut(PREFERRED_ADDRESS + i * PREFERRED_STEP);
            // SAFETY: a new mapping of no file, at an address of the kernel's choice; it replaces nothing.
            let start = unsafe { libc::mmap(hint, bytes, access, flags, -1, 0) };
            if start == libc::MAP_FAILED {
                return Err(io::Error::last_os_error());
            }
            if start == hint || i + 1 == PREFERRED_ADDRESSES {
                return Ok(start);
            }
            // SAFETY: the mapping was made with this size, and nobody knows of it.
            let _given_back = unsafe { libc::munmap(start, bytes) };
        }
        Err(io::ErrorKind::AddrNotAvailable.into())
    }

    /// Zeros bytes that nobody uses any more. Whole pages of a reserved range go back to the host.
    fn clear(&self, offset: u64, bytes: u64) {
        let start = self.pointer.wrapping_add(offset as usize);
        let mut zeroed = 0..0;
        if let Storage::Reserved { page, .. } = self.storage
            && bytes >= RETURNED_BYTES
        {
            let (first, end) = (offset.next_multiple_of(page), (offset + bytes) / page * page);
            let pages = self.pointer.wrapping_add(first as usize).cast();
            // SAFETY: the pages are inside the range, which is private and of no file, and nobody uses them.
            if first < end && unsafe { libc::madvise(pages, (end - first) as usize, libc::MADV_DONTNEED) } == 0 {
                zeroed = (first - offset) as usize..(end - offset) as usize;
            }
        }
        // SAFETY: both parts are inside an allocation, which its owner has given back.
        unsafe {
            std::ptr::write_bytes(start, 0, zeroed.start);
            std::ptr::write_bytes(start.add(zeroed.end), 0, bytes as usize - zeroed.end);
        }
    }
}

/// Asks the host for huge pages where it has them to give: kernels that read at random places wait for translations of
/// addresses more than for memory otherwise, and buffers that are touched first take a fault for every page. No harm if it is
/// refused.
fn huge_pages(start: *mut u8, bytes: usize) {
    #[cfg(target_os = "linux")]
    if bytes >= HUGE_BYTES {
        let before = start.align_offset(RESERVED_UNIT as usize);
        let bytes = bytes.saturating_sub(before) / RESERVED_UNIT as usize * RESERVED_UNIT as usize;
        // SAFETY: advice about whole pages of memory that the caller has, which changes no contents.
        let _advice = unsafe { libc::madvise(start.wrapping_add(before).cast(), bytes, libc::MADV_HUGEPAGE) };
    }
}

impl Drop for Region {
    fn drop(&mut self) {
        match self.storage {
            // SAFETY: `start` was allocated by the same allocator with this layout, and is freed once.
            Storage::Growing { start, layout } if !start.is_null() => unsafe { System.dealloc(start, layout) },
            Storage::Growing { .. } => {}
            Storage::Reserved { start, .. } => {
                // SAFETY: the mapping was made with this size, and is given back once.
                let _given_back = unsafe { libc::munmap(start.cast(), self.bytes) };
            }
        }
    }
}

/// Ranges of offsets that are free, below the end of what is used. No two of them touch.
#[derive(Default)]
struct FreeRanges {
    /// End of each, by its start.
    by_start: BTreeMap<u64, u64>,
    /// Length and start of each.
    by_length: BTreeSet<(u64, u64)>,
}

impl FreeRanges {
    fn insert(&mut self, start: u64, end: u64) {
        if start < end {
            self.by_start.insert(start, end);
            self.by_length.insert((end - start, start));
        }
    }

    fn remove(&mut self, start: u64) -> Option<u64> {
        let end = self.by_start.remove(&start)?;
        self.by_length.remove(&(end - start, start));
        Some(end)
    }

    /// Takes `bytes` from the smallest range that has them, where [`placed`] says.
    fn take(&mut self, bytes: u64, align: u64, base: u64) -> Option<u64> {
        let candidates = self.by_length.range((bytes.checked_add(align - ALIGN)?, 0)..);
        let (start, at) = candidates
            .filter_map(|(length, start)| {
                let at = placed(*start, bytes, align, base)?;
                (at.checked_add(bytes)? <= start + length).then_some((*start, at))
            })
            .next()?;
        let end = self.remove(start)?;
        self.insert(start, at);
        self.insert(at + bytes, end);
        Some(at)
    }

    /// Adds a range, one with its neighbours. Returns the start and end of what that makes.
    fn join(&mut self, start: u64, end: u64) -> (u64, u64) {
        let before = self.by_start.range(..start).next_back().map(|(s, e)| (*s, *e));
        let start = match before {
            Some((first, end)) if end == start => {
                self.remove(first);
                first
            }
            _ => start,
        };
        (start, self.remove(end).unwrap_or(end))
    }
}

/// The first offset from `start` on that is `skew` less than a multiple of `align`.
fn aligned(start: u64, align: u64, skew: u64) -> Option<u64> {
    Some(start.checked_add(skew)?.checked_next_multiple_of(align)? - skew)
}

/// The first offset from `start` on of an address that is a multiple of `align`, from which `bytes` bytes, at least one, are in one
/// window and not in its margins, as far as a window has room for so many.
fn placed(start: u64, bytes: u64, align: u64, base: u64) -> Option<u64> {
    let skew = base % align;
    let mut at = aligned(start, align, skew)?;
    // What is large, or aligned to much, may not fit at first behind the margin.
    for _ in 0..3 {
        let address = base.checked_add(at)?;
        if is_in_one_window(address, bytes) {
            break;
        }
        let into = address % WINDOW;
        let further = if into < MARGIN { MARGIN - into } else { WINDOW - into + MARGIN };
        at = aligned(at.checked_add(further)?, align, skew)?;
    }
    Some(at)
}

/// Whether some bytes, at least one, have addresses of one high word, between the margins.
fn is_in_one_window(address: u64, bytes: u64) -> bool {
    let into = address % WINDOW;
    into >= MARGIN && into.checked_add(bytes).is_some_and(|end| end <= WINDOW - MARGIN)
}

/// Device memory.
pub struct DeviceMemory {
    region: Region,
    /// Device address of the region's first byte.
    base: u64,
    /// First offset behind all allocations and the gap after the last one. What is behind, and between
    /// allocations, is zero.
    used: u64,
    /// Free offsets below.
    free: FreeRanges,
    /// Bytes of allocations, and a gap behind each.
    taken: u64,
    limit: u64,
    gap: u64,
    allocations: Vec<Allocation>,
    /// Bytes of allocations that stand as their parts in `allocations`, by their addresses.
    divided: BTreeMap<u64, u64>,
}

// SAFETY: the pointer is to memory that the struct owns and frees, which any thread may do.
unsafe impl Send for DeviceMemory {}
// SAFETY: nobody gets a reference to the storage. What goes through `&DeviceMemory` are raw accesses inside
// allocations; what they do when they meet is described in the module's documentation.
unsafe impl Sync for DeviceMemory {}

/// There is no memory for an allocation: it is exhausted, or nobody could have so much.
#[derive(Debug, thiserror::Error)]
pub struct OutOfMemory {
    name: String,
    bytes: u64,
    free: u64,
    limit: u64,
}

impl std::fmt::Display for OutOfMemory {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let OutOfMemory { name, bytes, free, limit } = self;
        if *bytes > MAX_ALLOCATION && *bytes <= *free {
            return write!(f, "`{name}` needs {bytes} bytes; a buffer has at most {MAX_ALLOCATION}, as its offsets have 32 bits");
        }
        write!(f, "device memory is exhausted: `{name}` needs {bytes} bytes, {free} of {limit} are free")
    }
}

impl DeviceMemory {
    /// Memory of at most `limit` bytes. Its device addresses begin at [`BASE_ADDRESS`]; where the host has
    /// the bytes changes as it grows.
    pub fn new(limit: u64) -> Self {
        DeviceMemory::of(Region::EMPTY, BASE_ADDRESS, limit, GAP)
    }

    /// The same with allocations far apart, so that indices far out of bounds are found (checking mode).
    pub fn spread(limit: u64) -> Self {
        DeviceMemory { gap: CHECKED_GAP, ..DeviceMemory::new(limit) }
    }

    /// Memory of at most `limit` bytes whose device addresses are the host's addresses and which is never
    /// moved: the host may keep pointers to it, and kernels may follow pointers that the host has stored. The
    /// host has no memory for what is not touched.
    ///
    /// # Errors
    /// The system has no range of addresses so large.
    pub fn reserved(limit: u64) -> io::Result<Self> {
        // Four times, so that what small allocations leave between them is no reason to refuse a large one.
        let bytes = limit.saturating_mul(4).max(1 << 20);
        DeviceMemory::in_range(bytes, limit, GAP)
    }

    /// The same with allocations far apart, so that indices far out of bounds are found (checking mode).
    ///
    /// # Errors
    /// As [`DeviceMemory::reserved`].
    pub fn reserved_spread(limit: u64) -> io::Result<Self> {
        DeviceMemory::in_range(limit.saturating_add(SPREAD_RANGE), limit, CHECKED_GAP)
    }

    /// Memory of at most `limit` bytes with the device addresses of [`DeviceMemory::new`], which the host never moves: it may
    /// keep pointers to it, and lend its own memory ([`DeviceMemory::lend`]).
    ///
    /// # Errors
    /// As [`DeviceMemory::reserved`].
    pub fn pinned(limit: u64) -> io::Result<Self> {
        Ok(DeviceMemory { base: BASE_ADDRESS, ..DeviceMemory::reserved(limit)? })
    }

    fn in_range(bytes: u64, limit: u64, gap: u64) -> io::Result<Self> {
        let bytes = bytes.checked_next_multiple_of(RESERVED_UNIT).and_then(|b| usize::try_from(b).ok());
        let region = Region::reserved(bytes.ok_or(io::ErrorKind::OutOfMemory)?, gap > GAP)?;
        let base = region.pointer as u64;
        Ok(DeviceMemory::of(region, base, limit, gap))
    }

    /// Lends memory of the host to launches in functional mode, until it is given back; returns its device address. None of
    /// it is copied. (Simulated time depends on addresses: timing mode has [`DeviceMemory::lend_cached`].) `None`: the memory
    /// cannot be lent, because it moves, is not aligned to 16 bytes, lies below that of the device, overlaps an allocation, or
    /// crosses a multiple of 4 GiB or is within 64 KiB of one.
    ///
    /// # Safety
    /// The bytes from `start` on may be read and written until they are given back, and only as a launch does: see the
    /// module's documentation on sharing.
    pub unsafe fn lend(&mut self, name: &str, start: *mut u8, bytes: u64) -> Option<u64> {
        let Storage::Reserved { .. } = self.region.storage else { return None };
        let above = (start as u64).checked_sub(self.region.pointer as u64)?;
        let address = self.base.checked_add(above)?;
        let end = address.checked_add(bytes).filter(|end| *end < LENT_END)?;
        let i = self.allocations.partition_point(|a| a.address < address);
        let before = i.checked_sub(1).is_none_or(|i| self.allocations[i].end() <= address);
        let after = self.allocations.get(i).is_none_or(|a| a.address >= end);
        if above < self.region.bytes as u64 || bytes == 0 || address % LENT_ALIGN != 0 || !before || !after {
            return None;
        }
        // With the address behind the last byte, as of all allocations.
        if !is_in_one_window(address, bytes + 1) {
            return None;
        }
        self.allocations.insert(i, Allocation::new(name, address, bytes, true));
        Some(address)
    }

    /// Lends memory of the host to launches in timing mode, until it is freed ([`DeviceMemory::free`]); returns its device
    /// address, which is the one that [`DeviceMemory::allocate`] would give. None of it is copied: the memory hierarchy, through
    /// which all accesses of timing mode go, looks up where the bytes are when it misses L2. Launches without timing do not
    /// look, so they must not run meanwhile ([`DeviceMemory::wants_timing`]).
    ///
    /// # Safety
    /// As for [`DeviceMemory::lend`].
    ///
    /// # Errors
    /// [`OutOfMemory`]: there are no addresses left for it.
    pub unsafe fn lend_cached(&mut self, name: &str, start: *mut u8, bytes: u64) -> Result<u64, OutOfMemory> {
        let address = self.allocate(name, bytes)?;
        let i = self.allocations.partition_point(|a| a.address < address);
        if let Some(a) = self.allocations.get_mut(i).filter(|_| bytes > 0) {
            (a.lent, a.elsewhere) = (true, Some(HostAddress(start)));
        }
        Ok(address)
    }

    /// Whether memory is lent that only launches in timing mode find.
    pub fn wants_timing(&self) -> bool {
        self.allocations.iter().any(|a| a.elsewhere.is_some())
    }

    /// Gives back memory that was lent, by its device address. False if there is none.
    pub fn give_back(&mut self, address: u64) -> bool {
        let i = self.allocations.iter().position(|a| a.lent && a.elsewhere.is_none() && a.address == address);
        i.is_some_and(|i| self.allocations.remove(i).lent)
    }

    fn of(region: Region, base: u64, limit: u64, gap: u64) -> Self {
        DeviceMemory {
            region,
            base,
            used: 0,
            free: FreeRanges::default(),
            taken: 0,
            limit,
            gap,
            allocations: Vec::new(),
            divided: BTreeMap::new(),
        }
    }

    /// Allocates zeroed memory; returns its device address, a multiple of 256.
    ///
    /// # Errors
    /// [`OutOfMemory`].
    pub fn allocate(&mut self, name: &str, bytes: u64) -> Result<u64, OutOfMemory> {
        self.allocate_aligned(name, bytes, ALIGN)
    }

    /// Allocates zeroed memory at a multiple of `align` bytes, a power of two (of 256 if it is less); returns
    /// its device address.
    ///
    /// # Errors
    /// [`OutOfMemory`].
    pub fn allocate_aligned(&mut self, name: &str, bytes: u64, align: u64) -> Result<u64, OutOfMemory> {
        let taken = bytes.checked_add(GAP).filter(|b| *b <= self.available() && bytes <= MAX_ALLOCATION);
        let align = align.max(ALIGN).checked_next_power_of_two();
        let start = taken.zip(align).and_then(|(_, align)| self.take_range(self.extent(bytes)?, align));
        let Some(start) = start else {
            return Err(OutOfMemory { name: name.into(), bytes, free: self.available(), limit: self.limit });
        };
        self.taken += bytes + GAP;
        let address = self.base + start;
        let i = match self.allocations.last() {
            Some(last) if last.address > address => self.allocations.partition_point(|a| a.address < address),
            _ => self.allocations.len(),
        };
        self.allocations.insert(i, Allocation::new(name, address, bytes, false));
        Ok(address)
    }

    /// Offsets that an allocation takes, with the gap behind it.
    fn extent(&self, bytes: u64) -> Option<u64> {
        bytes.checked_add(self.gap)?.checked_next_multiple_of(ALIGN)
    }

    /// Takes a range of offsets, free ones first, so that addresses are used again.
    fn take_range(&mut self, extent: u64, align: u64) -> Option<u64> {
        if let Some(start) = self.free.take(extent, align, self.base) {
            return Some(start);
        }
        let start = placed(self.used, extent, align, self.base)?;
        let end = start.checked_add(extent)?;
        if end as usize > self.region.bytes {
            match self.region.storage {
                Storage::Growing { .. } => self.grow(end as usize),
                Storage::Reserved { .. } => return None,
            }
        }
        self.free.insert(self.used, start);
        self.used = end;
        Some(start)
    }

    /// Gives the allocation at `address` back, all parts of one that was divided: its addresses and its room
    /// are used again. False if there is none.
    pub fn free(&mut self, address: u64) -> bool {
        let i = self.allocations.partition_point(|a| a.address < address);
        let start = address.wrapping_sub(self.base);
        let bytes = match self.divided.remove(&address) {
            Some(bytes) => {
                let parts = self.allocations[i..].partition_point(|a| a.address < address + bytes);
                self.allocations.drain(i..i + parts);
                self.region.clear(start, bytes);
                bytes
            }
            None => match self.allocations.get(i) {
                Some(a) if a.address == address && a.lent == a.elsewhere.is_some() && self.whole(address).is_none() => {
                    let Allocation { bytes, elsewhere, .. } = self.allocations.remove(i);
                    if elsewhere.is_none() {
                        self.region.clear(start, bytes);
                    }
                    bytes
                }
                _ => return false,
            },
        };
        self.taken -= bytes + GAP;
        let (start, end) = self.free.join(start, start + self.extent(bytes).unwrap_or(bytes));
        match end == self.used {
            true => self.used = start,
            false => self.free.insert(start, end),
        }
        true
    }

    /// The divided allocation that an address is in.
    fn whole(&self, address: u64) -> Option<Range<u64>> {
        let (start, bytes) = self.divided.range(..=address).next_back()?;
        (address - start < *bytes).then(|| *start..start + bytes)
    }

    /// Addresses of the allocation that an address is in; of one that was divided those of the whole.
    pub fn root(&self, address: u64) -> Option<Range<u64>> {
        self.whole(address).or_else(|| self.find(address, 0).map(|a| a.address..a.end()))
    }

    /// Bytes that can still be allocated, in one piece at most.
    pub fn available(&self) -> u64 {
        self.limit.saturating_sub(self.taken)
    }

    /// Leaves of the allocation at `address` only the parts that `variables` take; these stand in their
    /// order, apart by a multiple of the alignment of allocations.
    pub fn divide(&mut self, address: u64, variables: &[Variable]) {
        let Some(i) = self.allocations.iter().position(|a| a.address == address) else { return };
        let bytes = self.allocations[i].bytes;
        let part = |v: &Variable| Allocation {
            variable: true,
            system: self.allocations[i].system,
            ..Allocation::new(&v.name, address + u64::from(v.start), v.bytes.into(), false)
        };
        let parts: Vec<Allocation> = variables.iter().map(part).collect();
        self.allocations.splice(i..=i, parts);
        self.divided.insert(address, bytes);
    }

    /// Moves the allocation at `address` to system memory, or back.
    pub fn place(&mut self, address: u64, system: bool) {
        if let Some(a) = self.allocations.iter_mut().find(|a| a.address == address) {
            a.system = system;
        }
    }

    fn grow(&mut self, needed: usize) {
        let region = Region::grown(needed.max(self.region.bytes * 2).next_multiple_of(4096));
        for a in self.allocations.iter().filter(|a| a.elsewhere.is_none()) {
            let offset = (a.address - self.base) as usize;
            // SAFETY: the allocation lies inside the old storage and, as `needed` covers all of them, inside
            // the new one; these do not overlap.
            unsafe {
                std::ptr::copy_nonoverlapping(self.region.pointer.add(offset), region.pointer.add(offset), a.bytes as usize);
            }
        }
        self.region = region;
    }

    /// Host pointer to a device address. Only meaningful inside an allocation, of memory that is not lent to timing mode.
    #[inline(always)]
    pub fn host(&self, address: u64) -> *mut u8 {
        self.region.pointer.wrapping_add(address.wrapping_sub(self.base) as usize)
    }

    /// Host pointer to an address in an allocation, whichever it is.
    pub fn host_in(&self, allocation: &Allocation, address: u64) -> *mut u8 {
        match allocation.elsewhere {
            Some(HostAddress(start)) => start.wrapping_add((address - allocation.address) as usize),
            None => self.host(address),
        }
    }

    /// Copies bytes of a line; zeros for those behind the allocation's end.
    pub(crate) fn copy_line(&self, address: u64, to: &mut [u8]) {
        let mut there = 0;
        if let Some(found) = self.find(address, 0) {
            there = ((found.end() - address) as usize).min(to.len());
            // SAFETY: so many bytes are in the allocation, of which nobody holds a reference, and `to` is the caller's.
            unsafe { std::ptr::copy_nonoverlapping(self.host_in(found, address), to.as_mut_ptr(), there) };
        }
        to[there..].fill(0);
    }

    /// The byte at an address will be read soon: the host may fetch it into its caches.
    #[inline]
    pub fn prefetch(&self, address: u64) {
        prefetch(self.host(address));
    }

    /// The allocation that contains `address .. address + bytes`.
    #[inline]
    pub fn find(&self, address: u64, bytes: u64) -> Option<&Allocation> {
        let i = self.allocations.partition_point(|a| a.address <= address);
        let a = self.allocations.get(i.checked_sub(1)?)?;
        (address.checked_add(bytes)? <= a.end()).then_some(a)
    }

    /// The address that was meant, as near as can be told: a negative 32-bit offset that a program has added to a pointer without
    /// its sign is 2³² too far.
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
        let Some(found) = self.find(address, data.len() as u64) else { return data.is_empty() };
        // SAFETY: `find` says that the bytes lie inside an allocation; the memory is borrowed exclusively, so
        // `data` is not part of it.
        unsafe { std::ptr::copy_nonoverlapping(data.as_ptr(), self.host_in(found, address), data.len()) };
        true
    }

    /// Writes bytes while a launch runs, as a host that shares the memory does. Nothing happens if they do not fit an allocation.
    pub fn write_shared(&self, address: u64, data: &[u8]) {
        if let Some(found) = self.find(address, data.len() as u64) {
            // SAFETY: `find` says that the bytes lie inside an allocation, of which nobody holds a reference;
            // see the module's documentation on sharing.
            unsafe { std::ptr::copy_nonoverlapping(data.as_ptr(), self.host_in(found, address), data.len()) };
        }
    }

    /// Reads bytes of an allocation; `None` if they are not all of one.
    pub fn read(&self, address: u64, bytes: usize) -> Option<Vec<u8>> {
        let found = self.find(address, bytes as u64)?;
        let mut data = vec![0; bytes];
        // SAFETY: `find` says that the bytes lie inside an allocation, and `data` is a vector of as many.
        unsafe { std::ptr::copy_nonoverlapping(self.host_in(found, address), data.as_mut_ptr(), bytes) };
        Some(data)
    }
}

#[cfg(test)]
mod tests;
