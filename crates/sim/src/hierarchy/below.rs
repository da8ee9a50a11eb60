//! What all SMs share (K1): L2 slices, DRAM, system memory.
//!
//! Every slice and channel serves in the order in which requests are made; a request waits for those made before it, not for those that are made
//! later and arrive earlier. Bytes move when the request is made; its time of arrival is what the requester waits for.

use rustc_hash::FxHashMap;

use super::cache::{Cache, Dirty, LineNumber, Place, runs};
use super::dram::Dram;
use super::policy::{Far, Row};
use crate::DeviceMemory;
use crate::statistics::{CacheStatistics, HierarchyStatistics};
use heddle_target::Memory;

/// First address of the private memories of all resident warps, above every device address.
pub const PRIVATE_BASE: u64 = 1 << 60;
/// First address of code.
pub const CODE_BASE: u64 = 1 << 59;

/// Bytes of the longest line (the machine description's limit).
pub const LONGEST_LINE: usize = 256;
/// A line's bytes.
pub type LineBytes = [u8; LONGEST_LINE];

/// Where a line's bytes are when no cache has them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Home {
    Device,
    System,
    Private,
    /// Code, or bytes between allocations: read only, of no interest.
    Nowhere,
}

struct Slice {
    cache: Cache,
    free: u64,
}

/// The lower levels.
pub struct Below {
    description: Memory,
    slices: Vec<Slice>,
    dram: Dram,
    link: u64,
    /// Private memory that has left the caches.
    private: FxHashMap<LineNumber, Box<LineBytes>>,
    /// Counts.
    pub statistics: HierarchyStatistics,
    /// Sectors that missed L2 since this was set to 0.
    pub far_sectors: u32,
}

/// Counts an eviction.
pub fn count_eviction(s: &mut CacheStatistics, evict_first: Option<bool>, dirty: Option<&Dirty>, sector_bytes: usize) {
    match evict_first {
        Some(true) => s.evicted_first += 1,
        Some(false) => s.evicted_normal += 1,
        None => {}
    }
    if let Some(d) = dirty {
        s.written_back += u64::from(touched(&d.bytes, sector_bytes).count_ones());
    }
}

/// Sectors that a mask of bytes touches.
pub fn touched(mask: &[u64; 4], sector_bytes: usize) -> u64 {
    let mut sectors = 0;
    for (w, m) in mask.iter().enumerate() {
        let mut m = *m;
        while m != 0 {
            let b = w * 64 + m.trailing_zeros() as usize;
            let s = b / sector_bytes;
            sectors |= 1 << s;
            // On to the next sector.
            let next = (s + 1) * sector_bytes;
            if next >= (w + 1) * 64 {
                break;
            }
            m &= u64::MAX << (next - w * 64);
        }
    }
    sectors
}

impl Below {
    /// Empty caches.
    pub fn new(description: &Memory) -> Below {
        let m = description;
        let (line, sector) = (m.line_bytes, m.sector_bytes);
        let slice = || Slice { cache: Cache::new(m.l2.bytes / m.l2.slices, m.l2.ways, line, sector, 1), free: 0 };
        Below {
            description: m.clone(),
            slices: (0..m.l2.slices).map(|_| slice()).collect(),
            dram: Dram::new(&m.dram),
            link: 0,
            private: FxHashMap::default(),
            statistics: HierarchyStatistics::default(),
            far_sectors: 0,
        }
    }

    /// A launch begins at cycle 0.
    pub fn settle(&mut self) {
        for s in &mut self.slices {
            s.cache.settle();
            s.free = 0;
        }
        self.dram.settle();
        self.link = 0;
    }

    fn sector_bytes(&self) -> usize {
        self.description.sector_bytes as usize
    }

    fn address(&self, line: LineNumber) -> u64 {
        line * u64::from(self.description.line_bytes)
    }

    fn home(&self, memory: &DeviceMemory, line: LineNumber) -> Home {
        let address = self.address(line);
        if address >= PRIVATE_BASE {
            return Home::Private;
        }
        if address >= CODE_BASE {
            return Home::Nowhere;
        }
        match memory.find(address, 0) {
            Some(a) if a.system => Home::System,
            Some(_) => Home::Device,
            None => Home::Nowhere,
        }
    }

    /// Slice of a line.
    fn slice(&self, line: LineNumber) -> usize {
        let n = self.slices.len() as u64;
        ((line ^ (line >> 5) ^ (line >> 11)) % n) as usize
    }

    /// Reads sectors from L2, requested by what arrives at a cycle. Returns when the slice has them all.
    pub fn read(
        &mut self,
        memory: &DeviceMemory,
        line: LineNumber,
        sectors: u64,
        row: &Row,
        arrives: u64,
        out: &mut LineBytes,
    ) -> u64 {
        let (place, done) = self.access(memory, line, sectors, row, arrives, u64::from(sectors.count_ones()));
        let slice = self.slice(line);
        let bytes = self.slices[slice].cache.bytes(place);
        out[..bytes.len()].copy_from_slice(bytes);
        done
    }

    /// Brings sectors of a line into L2, keeping its slice busy for `slots` sectors' time. Returns where it is and when they are there.
    fn access(
        &mut self,
        memory: &DeviceMemory,
        line: LineNumber,
        sectors: u64,
        row: &Row,
        arrives: u64,
        slots: u64,
    ) -> (Place, u64) {
        let home = self.home(memory, line);
        let far = if home == Home::System { row.system } else { row.device };
        let l2 = self.description.l2;
        let slice = self.slice(line);
        let start = self.slices[slice].free.max(arrives);
        self.slices[slice].free = start + u64::from(l2.interval) * slots;
        let found = start + u64::from(l2.latency);
        if far == Far::VolatileFetch {
            // Stores that wait in the line are not lost.
            let place = self.slices[slice].cache.find(line);
            if let Some(dirty) = place.and_then(|p| self.slices[slice].cache.take(p)) {
                self.statistics.l2.written_back += u64::from(touched(&dirty.bytes, self.sector_bytes()).count_ones());
                self.write_memory(memory, &dirty, start);
            }
        }
        let place = self.allocate(memory, slice, line, far != Far::Normal, start);
        let missing = sectors & !self.slices[slice].cache.valid(place);
        self.statistics.l2.reads += u64::from(sectors.count_ones());
        self.statistics.l2.misses += u64::from(missing.count_ones());
        if missing != 0 {
            let mut bytes = [0; LONGEST_LINE];
            let arrives = self.fetch(memory, home, line, missing, found, &mut bytes);
            self.slices[slice].cache.fill(place, missing, &bytes, arrives);
        }
        let ready = self.slices[slice].cache.ready(place, sectors);
        (place, ready.max(found))
    }

    fn allocate(&mut self, memory: &DeviceMemory, slice: usize, line: LineNumber, evict_first: bool, now: u64) -> Place {
        let (place, eviction) = self.slices[slice].cache.allocate(line, evict_first);
        let sector = self.sector_bytes();
        count_eviction(&mut self.statistics.l2, eviction.evict_first, eviction.dirty.as_ref(), sector);
        if let Some(dirty) = eviction.dirty {
            self.write_memory(memory, &dirty, now);
        }
        place
    }

    /// Writes bytes of a line to L2, where they arrive at a cycle. `transactions`: stores that go to system memory one by one if the policy says so.
    #[allow(clippy::too_many_arguments)]
    pub fn write(
        &mut self,
        memory: &DeviceMemory,
        line: LineNumber,
        data: &[u8],
        mask: &[u64; 4],
        row: &Row,
        arrives: u64,
        transactions: u32,
    ) {
        let count = u64::from(touched(mask, self.sector_bytes()).count_ones());
        self.statistics.l2.writes += count;
        let slice = self.slice(line);
        let start = self.slices[slice].free.max(arrives);
        self.slices[slice].free = start + u64::from(self.description.l2.interval) * count;
        let home = self.home(memory, line);
        let far = if home == Home::System { row.system } else { row.device };
        if far == Far::WriteThrough {
            if let Some(place) = self.slices[slice].cache.find(line) {
                self.slices[slice].cache.write(place, data, mask, false);
                self.slices[slice].cache.touch(place, true);
            }
            self.store_bytes(memory, home, line, data, mask);
            let each = u64::from(self.description.system.interval);
            self.link = self.link.max(start) + each * u64::from(transactions);
            self.statistics.system_written_bytes += u64::from(transactions) * u64::from(self.description.sector_bytes);
            return;
        }
        let place = self.allocate(memory, slice, line, far != Far::Normal, start);
        self.slices[slice].cache.write(place, data, mask, true);
    }

    /// Performs atomics on a line in L2: `update` gets the bytes (of the sectors asked for) and returns which it changed. Returns when it is done.
    #[allow(clippy::too_many_arguments)]
    pub fn atomic(
        &mut self,
        memory: &DeviceMemory,
        line: LineNumber,
        sectors: u64,
        row: &Row,
        arrives: u64,
        lanes: u32,
        update: &mut dyn FnMut(&mut LineBytes) -> [u64; 4],
    ) -> u64 {
        let (place, done) = self.access(memory, line, sectors, row, arrives, 1);
        let slice = self.slice(line);
        let mut bytes = [0; LONGEST_LINE];
        let cached = self.slices[slice].cache.bytes(place);
        bytes[..cached.len()].copy_from_slice(cached);
        let mask = update(&mut bytes);
        let each = u64::from(self.description.l2.atomic_interval);
        self.slices[slice].free += each * u64::from(lanes);
        let home = self.home(memory, line);
        let through = home == Home::System;
        self.slices[slice].cache.write(place, &bytes, &mask, !through);
        if through {
            self.store_bytes(memory, home, line, &bytes, &mask);
            self.link = self.link.max(done) + u64::from(self.description.system.interval);
            self.statistics.system_written_bytes += u64::from(self.description.sector_bytes);
        }
        self.statistics.l2.writes += u64::from(sectors.count_ones());
        done + each * u64::from(lanes)
    }

    /// Brings a line into L2 for later (K5).
    pub fn prefetch(&mut self, memory: &DeviceMemory, line: LineNumber, sectors: u64, row: &Row, arrives: u64) {
        self.access(memory, line, sectors, row, arrives, 1);
    }

    /// Whether a line has a home to be fetched from: a prefetch of anything else does nothing (K5).
    pub fn exists(&self, memory: &DeviceMemory, line: LineNumber) -> bool {
        self.home(memory, line) != Home::Nowhere || self.address(line) >= CODE_BASE
    }

    /// Reads sectors from memory, requested at `now`; returns when they are in L2.
    fn fetch(&mut self, memory: &DeviceMemory, home: Home, line: LineNumber, sectors: u64, now: u64, out: &mut LineBytes) -> u64 {
        let size = self.sector_bytes();
        let count = sectors.count_ones();
        self.far_sectors += count;
        let bytes = u64::from(count) * size as u64;
        match home {
            Home::Device | Home::System => {
                let start = memory.host(self.address(line));
                for run in runs(sectors) {
                    let to = &mut out[run.start * size..run.end * size];
                    // SAFETY: allocations are aligned to at least the longest line and followed by a gap of as much.
                    unsafe { std::ptr::copy_nonoverlapping(start.add(run.start * size), to.as_mut_ptr(), to.len()) };
                }
            }
            Home::Private => match self.private.get(&line) {
                Some(kept) => out.copy_from_slice(&kept[..]),
                None => out.fill(0),
            },
            Home::Nowhere => out.fill(0),
        }
        if home == Home::System {
            let d = self.description.system;
            self.link = self.link.max(now) + u64::from(d.interval) * u64::from(count);
            self.statistics.system_read_bytes += bytes;
            return self.link + u64::from(d.latency);
        }
        self.statistics.dram_read_bytes += bytes;
        self.dram.access(self.address(line) & (CODE_BASE - 1), count, now)
    }

    fn store_bytes(&mut self, memory: &DeviceMemory, home: Home, line: LineNumber, data: &[u8], mask: &[u64; 4]) {
        let address = self.address(line);
        let target: *mut u8 = match home {
            Home::Device | Home::System => memory.host(address),
            Home::Private => self.private.entry(line).or_insert_with(|| Box::new([0; LONGEST_LINE])).as_mut_ptr(),
            Home::Nowhere => return,
        };
        for (w, m) in mask.iter().enumerate() {
            let mut m = *m;
            while m != 0 {
                let b = w * 64 + m.trailing_zeros() as usize;
                // SAFETY: dirty bytes come from checked stores, inside an allocation (or a private line's box).
                unsafe { target.add(b).write(data[b]) };
                m &= m - 1;
            }
        }
    }

    /// Writes a line's dirty bytes to memory.
    fn write_memory(&mut self, memory: &DeviceMemory, dirty: &Dirty, now: u64) {
        let home = self.home(memory, dirty.line);
        self.store_bytes(memory, home, dirty.line, &dirty.data, &dirty.bytes);
        let count = touched(&dirty.bytes, self.sector_bytes()).count_ones();
        let bytes = u64::from(count) * u64::from(self.description.sector_bytes);
        if home == Home::System {
            self.link = self.link.max(now) + u64::from(self.description.system.interval) * u64::from(count);
            self.statistics.system_written_bytes += bytes;
        } else {
            self.dram.access(self.address(dirty.line) & (CODE_BASE - 1), count, now);
            self.statistics.dram_written_bytes += bytes;
        }
    }

    /// Bytes of a line.
    pub fn line_bytes(&self) -> u64 {
        u64::from(self.description.line_bytes)
    }

    /// Drops a line of L2, whatever it holds.
    pub fn discard_l2(&mut self, line: LineNumber) {
        let slice = self.slice(line);
        self.slices[slice].cache.discard(line);
    }

    /// The end of a launch: what is dirty goes to memory, private memory ends. Takes no time, but counts as traffic.
    pub fn finish(&mut self, memory: &DeviceMemory) {
        let first_private = PRIVATE_BASE / u64::from(self.description.line_bytes);
        for i in 0..self.slices.len() {
            for dirty in self.slices[i].cache.clean_all() {
                if dirty.line >= first_private {
                    self.slices[i].cache.discard(dirty.line);
                } else {
                    self.statistics.l2.written_back += u64::from(touched(&dirty.bytes, self.sector_bytes()).count_ones());
                    self.write_memory(memory, &dirty, 0);
                }
            }
        }
        self.private.clear();
        self.statistics.dram_row_hits = std::mem::take(&mut self.dram.row_hits);
        self.statistics.dram_row_misses = std::mem::take(&mut self.dram.row_misses);
    }

    /// Whether L2 has a line, whether it is dirty and whether it is the first to be evicted: for tests.
    pub fn l2_state(&self, address: u64) -> Option<(bool, bool)> {
        let line = address / u64::from(self.description.line_bytes);
        let slice = self.slice(line);
        let cache = &self.slices[slice].cache;
        cache.find(line).map(|p| (cache.is_dirty(p), cache.is_evict_first(p)))
    }
}
