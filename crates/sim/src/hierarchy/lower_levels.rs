//! The lower levels of the hierarchy, which all SMs share (K1): L2 slices, DRAM, system memory.
//!
//! A slice serves in the order of arrival, as far as requests have been made; a channel of DRAM in the order in
//! which they are made: one waits for those made before it, not for those that are made later and arrive earlier. Bytes move when the request is made; its
//! time of arrival is what the requester waits for. Where DRAM chooses among requests this is known later:
//! see [`undecided`](super::undecided).
//!
//! L2 is the point of coherence: whoever reads a line's bytes goes through it. So where nobody else writes to
//! memory during a launch, L2 need not hold bytes of its own: a store changes them where the line is from, and
//! L2 only keeps which of them count as dirty, and when sectors are there. System memory and memory that the
//! host lends, which the host may write to at any time, have their bytes in L2, as they were when they came.

mod private;
mod warming;
pub use warming::WarmTraffic;

use std::ops::RangeInclusive;

use private::PrivateMemory;

use super::cache::{Cache, DirtyBox, DirtyLine, Eviction, LineFrame, Organization, WriteKind};
use super::calendar::Calendar;
use super::deferred::{PENDING, SectorTickets, Ticket};
use super::dram::{Chosen, Dram};
use super::line::{ByteMask, LONGEST_LINE, LineBytes, LineNumber, copy_sectors, runs, sectors_of};
use super::policy::{AccessPolicy, L2Policy};
use super::tlb::{ArrivingRequest, SharedTranslation};
use super::undecided::{LateReply, Undecided, Waiter};
use crate::DeviceMemory;
use crate::perturbation::Perturbation;
use crate::snapshot::Snapshot;
use crate::statistics::{CacheStatistics, HierarchyStatistics, TlbStatistics};
use heddle_target::{DramScheduler, Machine, Memory, WritePolicy};
use smallvec::SmallVec;

/// First address of the private memories of all resident warps, above every device address.
pub const PRIVATE_BASE: u64 = 1 << 60;
/// First address of code.
pub const CODE_BASE: u64 = 1 << 59;

/// Sectors to be read from L2.
#[derive(Clone, Copy, Debug)]
pub struct SectorRead<'p> {
    /// Their line.
    pub line: LineNumber,
    /// The sectors, a bit each.
    pub sectors: u64,
    /// What L2 does.
    pub policy: &'p AccessPolicy,
}

/// Bytes to be written to L2.
#[derive(Clone, Copy, Debug)]
pub struct LineWrite<'a> {
    /// Their line.
    pub line: LineNumber,
    /// The line's bytes.
    pub data: &'a [u8],
    /// Which of them are written.
    pub mask: &'a ByteMask,
    /// What L2 does.
    pub policy: &'static AccessPolicy,
    /// Stores that go to system memory one by one if the policy says so.
    pub transactions: u32,
}

impl<'a> LineWrite<'a> {
    /// The write-back of a line that left a cache.
    pub fn of_dirty(dirty: &'a DirtyLine, policy: &'static AccessPolicy) -> LineWrite<'a> {
        LineWrite { line: dirty.line, data: &dirty.data, mask: &dirty.bytes, policy, transactions: 1 }
    }
}

/// Where a line's bytes are when no cache has them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Home {
    Device,
    /// Memory of the host that is lent to a launch.
    Lent,
    System,
    Private,
    /// Code, or bytes between allocations: read only, of no interest.
    Nowhere,
}

/// A slice of L2: it serves one sector after the other, behind a port with a direction for requests and one for replies.
struct Slice {
    cache: Cache,
    /// Cycles in which its port takes a sector's request.
    requests: Calendar,
    /// Cycles in which its port sends a sector.
    replies: Calendar,
    /// Cycles in which it serves a sector.
    served: Calendar,
}

/// For how many sectors' time a request takes the port of a slice, and the slice.
#[derive(Clone, Copy)]
struct Load {
    carried: u64,
    served: u64,
}

/// What an access of a slice found.
struct SliceAccess {
    /// What the line is of, and where it is.
    home: Home,
    frame: LineFrame,
    /// Cycle at which it was looked up.
    found: u64,
    /// Cycle at which its sectors are there, but for those that are waited for.
    ready: u64,
    /// Requests of DRAM that bring the others.
    waits_for: SmallVec<[Ticket; 2]>,
}

/// What comes of a read.
pub struct ReadReply {
    /// Cycle at which it enters the network, if it waits for nothing more.
    pub ready: u64,
    /// Cycles from what it waits for to the network.
    pub delay: u64,
    /// Requests of DRAM that it waits for.
    pub waits_for: SmallVec<[Ticket; 2]>,
}

/// The levels that all SMs share: L2, device memory, and system memory behind the host's link.
pub struct LowerLevels {
    description: Memory,
    perturbation: Perturbation,
    slices: Vec<Slice>,
    /// The number of slices less one, if that is a mask.
    slice_mask: Option<u64>,
    dram: Dram,
    translation: SharedTranslation,
    /// Cycle from which the link to system memory is free.
    link_free: u64,
    /// Private memory that has left the caches.
    private: PrivateMemory,
    /// Nobody but L2 writes to device memory in this launch.
    alone: bool,
    /// What L2, device and system memory count.
    pub statistics: HierarchyStatistics,
    /// Sectors that missed L2 since this was set to 0.
    pub far_sectors: u32,
    /// What work-groups without timing would have moved since the launch began.
    pub warmed: WarmTraffic,
    /// DRAM serves requests now, before all that wait: they need their answers.
    pub urgent: bool,
    /// DRAM chooses among requests.
    chooses: bool,
    undecided: Undecided,
    /// The allocation found last in this launch, with all addresses that are its own.
    home: Option<(RangeInclusive<u64>, Home)>,
}

/// Counts what had to make room for a line.
#[inline]
pub fn count_eviction(counts: &mut CacheStatistics, eviction: &Eviction, sector_bytes: usize) {
    match eviction.evict_first {
        Some(true) => counts.evicted_first += 1,
        Some(false) => counts.evicted_normal += 1,
        None => {}
    }
    if let Some(d) = &eviction.dirty {
        counts.written_back += u64::from(sectors_of(&d.bytes, sector_bytes).count_ones());
    }
}

impl LowerLevels {
    /// Empty caches.
    pub fn new(machine: &Machine) -> LowerLevels {
        let m = &machine.memory;
        let slice = |number: u32| {
            let cache = Cache::new(&Organization {
                bytes: m.l2.bytes / m.l2.slices,
                ways: m.l2.ways,
                line_bytes: m.line_bytes,
                sector_bytes: m.sector_bytes,
                misses: 1,
                merges: 0,
                replacement: m.l2.replacement,
                index: m.l2.index,
                slices: m.l2.slices,
                number: u64::from(number),
            });
            Slice { cache, requests: Calendar::default(), replies: Calendar::default(), served: Calendar::default() }
        };
        LowerLevels {
            description: m.clone(),
            perturbation: Perturbation::new(machine),
            slices: (0..m.l2.slices).map(slice).collect(),
            slice_mask: m.l2.slices.is_power_of_two().then(|| u64::from(m.l2.slices) - 1),
            dram: Dram::new(&m.dram),
            translation: SharedTranslation::new(m),
            link_free: 0,
            private: PrivateMemory::default(),
            alone: false,
            statistics: HierarchyStatistics::default(),
            far_sectors: 0,
            warmed: WarmTraffic::default(),
            urgent: false,
            chooses: m.dram.scheduler == DramScheduler::FrFcfs,
            undecided: Undecided::new(m),
            home: None,
        }
    }

    /// Exchanges what L2 holds, and what is open in DRAM.
    pub fn exchange(&mut self, snapshot: &mut Snapshot) {
        self.slices.iter_mut().for_each(|s| s.cache.exchange(snapshot));
        self.translation.exchange(snapshot);
        self.dram.exchange(snapshot);
    }

    /// A launch begins, during which nobody but L2 writes to device memory, or others do: then L2 has the bytes of its lines.
    pub fn begin(&mut self, memory: &DeviceMemory, alone: bool) {
        self.restart_clock();
        self.alone = alone;
        if !alone {
            for (line, bytes) in self.slices.iter_mut().flat_map(|s| s.cache.take_bytes()) {
                memory.copy_line(line * u64::from(self.description.line_bytes), bytes);
            }
        }
    }

    /// It is cycle 0.
    fn restart_clock(&mut self) {
        for s in &mut self.slices {
            s.cache.restart_clock();
            (s.requests, s.replies, s.served) = Default::default();
        }
        self.dram.restart_clock();
        self.link_free = 0;
        self.warmed = WarmTraffic::default();
        self.translation.restart_clock();
        self.undecided.restart_clock();
        self.home = None;
    }

    /// Bytes of a sector.
    pub fn sector_bytes(&self) -> usize {
        self.description.sector_bytes as usize
    }

    /// Sectors that L2 holds.
    pub fn sectors(&self) -> u64 {
        u64::from(self.description.l2.bytes / self.description.sector_bytes)
    }

    fn address(&self, line: LineNumber) -> u64 {
        line * u64::from(self.description.line_bytes)
    }

    fn home(&mut self, memory: &DeviceMemory, line: LineNumber) -> Home {
        let address = self.address(line);
        if address >= PRIVATE_BASE {
            return Home::Private;
        }
        if address >= CODE_BASE {
            return Home::Nowhere;
        }
        if let Some((range, home)) = &self.home
            && range.contains(&address)
        {
            return *home;
        }
        let Some(a) = memory.find(address, 0) else { return Home::Nowhere };
        let home = match (a.system, a.lent) {
            (true, _) => Home::System,
            (_, true) => Home::Lent,
            _ => Home::Device,
        };
        self.home = Some((a.address..=a.end(), home));
        home
    }

    /// Slice of a line.
    #[inline]
    fn slice(&self, line: LineNumber) -> usize {
        let number = if self.description.l2.slice_hash { line ^ (line >> 5) ^ (line >> 11) } else { line };
        (match self.slice_mask {
            Some(mask) => number & mask,
            None => number % self.slices.len() as u64,
        }) as usize
    }

    /// A request for a line will be served soon: the host may fetch what is known of it into its caches.
    #[inline]
    pub fn prefetch_line(&self, line: LineNumber) {
        self.slices[self.slice(line)].cache.prefetch_set(line);
    }

    /// The same, when what is known of its set is there: where the line is, or will be.
    #[inline]
    pub fn prefetch_frame(&self, line: LineNumber) {
        self.slices[self.slice(line)].cache.prefetch_line(line);
    }

    /// What L2 does with a line by its policy, which depends on the memory that the line is of.
    #[inline]
    fn policy_at(home: Home, policy: &AccessPolicy) -> L2Policy {
        if home == Home::System { policy.l2_system } else { policy.l2_device }
    }

    /// A request for a line comes to a slice, of which it takes the port for the sectors that it carries (or one) and then
    /// the slice itself. Returns the cycle at which the slice begins with it.
    #[inline]
    fn enter_slice(&mut self, slice: usize, line: LineNumber, request: ArrivingRequest, load: Load) -> u64 {
        let arrives = self.translation.translate(self.address(line), request);
        let Memory { l2, network, .. } = &self.description;
        let (interval, port_interval) = (u64::from(l2.interval), u64::from(network.slice_interval));
        let slice = &mut self.slices[slice];
        let arrives = slice.requests.take(arrives, port_interval * load.carried);
        slice.served.take(arrives, interval * load.served)
    }

    /// Cycles that the reply to a request, found in its slice at a cycle, is later for the slice's port: it
    /// waits for those before it, and takes longer than the SM's port if the slice's is slower.
    #[inline]
    fn reply_delay(&mut self, slice: usize, found: u64, sectors: u64) -> u64 {
        let network = self.description.network;
        let port_interval = u64::from(network.slice_interval);
        let starts = self.slices[slice].replies.take(found, port_interval * sectors);
        starts - found + port_interval.saturating_sub(u64::from(network.interval)) * sectors
    }

    /// Reads sectors from L2, where the request arrives at a cycle.
    pub fn read(&mut self, memory: &DeviceMemory, read: SectorRead, arrives: ArrivingRequest, out: &mut LineBytes) -> ReadReply {
        let sectors = u64::from(read.sectors.count_ones());
        let load = Load { carried: 1, served: sectors };
        let slice = self.slice(read.line);
        let SliceAccess { home, frame, found, ready, waits_for } = self.access(memory, slice, read, arrives, load);
        if self.slices[slice].cache.has_bytes(frame) {
            copy_sectors(out, self.slices[slice].cache.bytes(frame), read.sectors, self.sector_bytes());
        } else {
            self.load_bytes(memory, home, read.line, read.sectors, out);
        }
        let delay = self.reply_delay(slice, found, sectors);
        ReadReply { ready: ready + delay, delay, waits_for }
    }

    /// A read waits for what DRAM has not chosen yet.
    pub fn wait(&mut self, waiter: Waiter, waits_for: &[Ticket]) {
        self.undecided.wait(waiter, waits_for);
    }

    /// Lets DRAM choose as far as the requests of all SMs up to a cycle allow. Returns what reads waited for.
    pub fn advance(&mut self, cycle: u64) -> Vec<LateReply> {
        if !self.chooses {
            return Vec::new();
        }
        let before = self.undecided.horizon(cycle);
        let mut chosen = Vec::new();
        self.dram.advance(before, &mut chosen);
        chosen.into_iter().for_each(|c| self.decide(c));
        self.undecided.take_replies()
    }

    /// DRAM has chosen a request: its sectors arrive, and what waits for them goes on.
    fn decide(&mut self, chosen: Chosen) {
        if let Some((line, sectors)) = self.undecided.decide(chosen) {
            let slice = self.slice(line);
            self.slices[slice].cache.arrive_at(line, sectors, chosen.number, chosen.done);
        }
    }

    /// DRAM serves a request now that waits to be chosen.
    fn decide_at_once(&mut self, number: Ticket) {
        let now = self.undecided.decided_before();
        if let Some(chosen) = self.dram.serve_at_once(number, now) {
            self.decide(chosen);
        }
    }

    /// Brings sectors of a line into its slice of L2.
    fn access(
        &mut self,
        memory: &DeviceMemory,
        slice: usize,
        read: SectorRead,
        arrives: ArrivingRequest,
        load: Load,
    ) -> SliceAccess {
        let SectorRead { line, sectors, policy } = read;
        let home = self.home(memory, line);
        let policy = Self::policy_at(home, policy);
        let start = self.enter_slice(slice, line, arrives, load);
        let found = start + u64::from(self.description.l2.latency);
        if policy == L2Policy::VolatileFetch {
            // Stores that wait in the line are not lost.
            let frame = self.slices[slice].cache.find(line);
            if let Some(dirty) = frame.and_then(|f| self.slices[slice].cache.take(f)) {
                self.statistics.l2.written_back += u64::from(sectors_of(&dirty.bytes, self.sector_bytes()).count_ones());
                self.write_back(memory, dirty, start);
            }
        }
        let frame = self.allocate(memory, (slice, home), line, policy != L2Policy::Normal, start);
        let missing = sectors & !self.slices[slice].cache.valid(frame);
        self.statistics.l2.reads += u64::from(sectors.count_ones());
        self.statistics.l2.misses += u64::from(missing.count_ones());
        if missing != 0 {
            let arrives = self.fetch(home, line, missing, found);
            if self.slices[slice].cache.has_bytes(frame) {
                let mut bytes = [0; LONGEST_LINE];
                self.load_bytes(memory, home, line, missing, &mut bytes);
                self.slices[slice].cache.fill(frame, missing, &bytes, arrives);
            } else {
                self.slices[slice].cache.fill(frame, missing, &[], arrives);
            }
            if arrives >= PENDING {
                self.undecided.fetch(arrives as Ticket, line, missing);
            }
        }
        let mut ready = self.slices[slice].cache.ready(frame, sectors);
        let mut waits_for = SmallVec::new();
        if ready >= PENDING {
            let mut parts = SectorTickets::new();
            self.slices[slice].cache.pending(frame, sectors, &mut parts);
            if self.urgent {
                parts.iter().for_each(|p| self.decide_at_once(p.0));
                ready = self.slices[slice].cache.ready(frame, sectors);
            } else {
                let known = sectors & !parts.iter().fold(0, |all, p| all | p.1);
                ready = self.slices[slice].cache.ready(frame, known);
                waits_for.extend(parts.iter().map(|p| p.0));
            }
        }
        SliceAccess { home, frame, found, ready: ready.max(found), waits_for }
    }

    /// Finds a line in its slice or makes room for it at a cycle.
    #[inline]
    fn allocate(
        &mut self,
        memory: &DeviceMemory,
        (slice, home): (usize, Home),
        line: LineNumber,
        evict_first: bool,
        now: u64,
    ) -> LineFrame {
        let (frame, eviction) = self.slices[slice].cache.allocate(line, evict_first);
        if self.alone && matches!(home, Home::Device | Home::Private) {
            self.slices[slice].cache.leave_bytes(frame);
        }
        let sector = self.sector_bytes();
        count_eviction(&mut self.statistics.l2, &eviction, sector);
        if let Some(dirty) = eviction.dirty {
            self.write_back(memory, dirty, now);
        }
        frame
    }

    /// Writes bytes of a line to L2, where they arrive at a cycle.
    pub fn write(&mut self, memory: &DeviceMemory, write: &LineWrite, arrives: ArrivingRequest) {
        let LineWrite { line, data, mask, policy, transactions } = *write;
        let count = u64::from(sectors_of(mask, self.sector_bytes()).count_ones());
        self.statistics.l2.writes += count;
        let slice = self.slice(line);
        let start = self.enter_slice(slice, line, arrives, Load { carried: count, served: count });
        let home = self.home(memory, line);
        let policy = Self::policy_at(home, policy);
        if policy == L2Policy::WriteThrough {
            let cache = &mut self.slices[slice].cache;
            if let Some(frame) = cache.find(line) {
                cache.write(frame, data, mask, WriteKind::Follows);
                cache.touch(frame, true);
            }
            self.store_bytes(memory, home, line, data, mask);
            self.use_link(start, transactions);
            self.statistics.system_written_bytes += u64::from(transactions) * u64::from(self.description.sector_bytes);
            return;
        }
        let through = self.description.l2.write == WritePolicy::Through;
        let takes = self.description.l2.write_allocate || self.slices[slice].cache.find(line).is_some();
        if takes {
            let frame = self.allocate(memory, (slice, home), line, policy != L2Policy::Normal, start);
            // Its bytes are what memory holds, also those that have not arrived.
            let kind = if through { WriteKind::Through(u64::MAX) } else { WriteKind::Dirty };
            self.slices[slice].cache.write(frame, data, mask, kind);
            if !self.slices[slice].cache.has_bytes(frame) && !through {
                self.store_bytes(memory, home, line, data, mask);
            }
        }
        if through || !takes {
            self.write_memory(memory, line, data, mask, start);
        }
    }

    /// Performs the atomics of some lanes on a line in L2: `update` gets the bytes (of the sectors asked for)
    /// and returns which it changed. Returns the cycle at which they are done.
    pub fn atomic(
        &mut self,
        memory: &DeviceMemory,
        read: SectorRead,
        arrives: ArrivingRequest,
        lanes: u32,
        update: &mut dyn FnMut(&mut LineBytes) -> ByteMask,
    ) -> u64 {
        let (line, sectors) = (read.line, u64::from(read.sectors.count_ones()));
        let load = Load { carried: sectors, served: 1 };
        let slice = self.slice(line);
        let SliceAccess { home, frame, found, ready: done, .. } = self.access(memory, slice, read, arrives, load);
        let mut bytes = [0; LONGEST_LINE];
        let has_bytes = self.slices[slice].cache.has_bytes(frame);
        if has_bytes {
            let cached = self.slices[slice].cache.bytes(frame);
            bytes[..cached.len()].copy_from_slice(cached);
        } else {
            self.load_bytes(memory, home, line, read.sectors, &mut bytes);
        }
        let mask = update(&mut bytes);
        let each = u64::from(self.description.l2.atomic_interval);
        let start = found - u64::from(self.description.l2.latency);
        self.slices[slice].served.take(start, each * u64::from(lanes));
        let through = home == Home::System;
        let all_through = self.description.l2.write == WritePolicy::Through;
        let kind = if through || all_through { WriteKind::Follows } else { WriteKind::Dirty };
        self.slices[slice].cache.write(frame, &bytes, &mask, kind);
        if !has_bytes && !all_through {
            self.store_bytes(memory, home, line, &bytes, &mask);
        }
        if all_through && !through {
            self.write_memory(memory, line, &bytes, &mask, done);
        }
        if through {
            self.store_bytes(memory, home, line, &bytes, &mask);
            self.use_link(done, 1);
            self.statistics.system_written_bytes += u64::from(self.description.sector_bytes);
        }
        self.statistics.l2.writes += u64::from(read.sectors.count_ones());
        done + each * u64::from(lanes) + self.reply_delay(slice, found, sectors)
    }

    /// Takes the link to system memory for some sectors, from a cycle on at the earliest. Returns the cycle behind the last.
    #[inline]
    fn use_link(&mut self, now: u64, sectors: u32) -> u64 {
        self.link_free = self.link_free.max(now) + u64::from(self.description.system.interval) * u64::from(sectors);
        self.link_free
    }

    /// Brings a line into L2 for later (K5).
    pub fn prefetch(&mut self, memory: &DeviceMemory, read: SectorRead, arrives: ArrivingRequest) {
        self.access(memory, self.slice(read.line), read, arrives, Load { carried: 1, served: 1 });
    }

    /// Whether a line has a home to be fetched from: a prefetch of anything else does nothing (K5).
    pub fn exists(&mut self, memory: &DeviceMemory, line: LineNumber) -> bool {
        self.home(memory, line) != Home::Nowhere || self.address(line) >= CODE_BASE
    }

    /// Copies sectors of a line from where it is from.
    #[inline]
    fn load_bytes(&self, memory: &DeviceMemory, home: Home, line: LineNumber, sectors: u64, out: &mut LineBytes) {
        let size = self.sector_bytes();
        for run in runs(sectors) {
            let start = self.address(line) + (run.start * size) as u64;
            let out = &mut out[run.start * size..run.end * size];
            match home {
                Home::Device | Home::Lent | Home::System => memory.copy_line(start, out),
                Home::Private => self.private.read(start - PRIVATE_BASE, out),
                Home::Nowhere => out.fill(0),
            }
        }
    }

    /// Requests sectors from memory at `now`; returns when they are in L2, which may be pending with the number of a request
    /// of DRAM.
    fn fetch(&mut self, home: Home, line: LineNumber, sectors: u64, now: u64) -> u64 {
        let count = sectors.count_ones();
        self.far_sectors += count;
        let bytes = u64::from(count) * self.sector_bytes() as u64;
        if home == Home::System {
            self.statistics.system_read_bytes += bytes;
            return self.use_link(now, count) + u64::from(self.description.system.latency);
        }
        self.statistics.dram_read_bytes += bytes;
        let now = now + self.perturbation.delay(line, now);
        let address = self.address(line) & (CODE_BASE - 1);
        if self.chooses && !self.urgent {
            return PENDING | u64::from(self.dram.enqueue(address, count, false, now));
        }
        self.dram.access(address, count, false, now)
    }

    /// Writes bytes of a line to the memory that it is of.
    fn store_bytes(&mut self, memory: &DeviceMemory, home: Home, line: LineNumber, data: &[u8], mask: &ByteMask) {
        let address = self.address(line);
        let target: *mut u8 = match home {
            Home::Device | Home::Lent | Home::System => match memory.find(address, 0) {
                Some(found) => memory.host_in(found, address),
                None => return,
            },
            Home::Private => self.private.line_mut(address - PRIVATE_BASE).as_mut_ptr(),
            Home::Nowhere => return,
        };
        for (w, word) in mask.iter().enumerate().filter(|w| *w.1 != 0) {
            for run in runs(*word) {
                let from = &data[w * 64 + run.start..w * 64 + run.end];
                // SAFETY: dirty bytes come from checked stores, inside an allocation, or of a private line, whose page
                // has room for the longest line; `from` is the cache's, as long as what is written.
                unsafe { std::ptr::copy_nonoverlapping(from.as_ptr(), target.add(w * 64 + run.start), from.len()) };
            }
        }
    }

    /// Writes bytes of a line to memory, from a cycle on; those without `data` are there already.
    fn write_memory(&mut self, memory: &DeviceMemory, line: LineNumber, data: &[u8], mask: &ByteMask, now: u64) {
        let home = self.home(memory, line);
        if !data.is_empty() {
            self.store_bytes(memory, home, line, data, mask);
        }
        let count = sectors_of(mask, self.sector_bytes()).count_ones();
        let bytes = u64::from(count) * u64::from(self.description.sector_bytes);
        if home == Home::System {
            self.use_link(now, count);
            self.statistics.system_written_bytes += bytes;
        } else {
            let address = self.address(line) & (CODE_BASE - 1);
            if self.chooses && !self.urgent {
                // It has been looked up before it goes on.
                self.dram.enqueue(address, count, true, now + u64::from(self.description.l2.latency));
            } else {
                self.dram.access(address, count, true, now);
            }
            self.statistics.dram_written_bytes += bytes;
        }
    }

    /// Writes a line that left L2 to memory.
    fn write_back(&mut self, memory: &DeviceMemory, dirty: DirtyBox, now: u64) {
        self.write_memory(memory, dirty.line, &dirty.data, &dirty.bytes, now);
        let slice = self.slice(dirty.line);
        self.slices[slice].cache.recycle(dirty);
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

    /// Drops lines of L2, whatever they hold.
    pub fn discard_lines(&mut self, lines: RangeInclusive<LineNumber>) {
        let frames: usize = self.slices.iter().map(|s| s.cache.frames()).sum();
        if lines.end() - lines.start() < frames as u64 {
            lines.for_each(|line| self.discard_l2(line));
        } else {
            self.slices.iter_mut().for_each(|s| s.cache.discard_range(&lines));
        }
    }

    /// Clean lines of L2 get what memory holds now.
    pub fn refresh(&mut self, memory: &DeviceMemory) {
        let mut slices = std::mem::take(&mut self.slices);
        for (line, bytes) in slices.iter_mut().flat_map(|s| s.cache.clean_lines()) {
            if let Home::Device | Home::Lent | Home::System = self.home(memory, line) {
                memory.copy_line(self.address(line), bytes);
            }
        }
        self.slices = slices;
    }

    /// The end of a launch: what is dirty goes to memory, private memory ends. Takes no time, but counts as traffic.
    pub fn finish(&mut self, memory: &DeviceMemory) {
        let first_private = PRIVATE_BASE / u64::from(self.description.line_bytes);
        self.urgent = true;
        for i in 0..self.slices.len() {
            self.slices[i].cache.discard_range(&(first_private..=LineNumber::MAX));
            for dirty in self.slices[i].cache.clean_all() {
                self.statistics.l2.written_back += u64::from(sectors_of(&dirty.bytes, self.sector_bytes()).count_ones());
                self.write_back(memory, dirty, 0);
            }
        }
        self.urgent = false;
        self.private.clear();
        self.statistics.dram_row_hits = std::mem::take(&mut self.dram.row_hits);
        let shared = &self.translation;
        self.statistics.l2_tlb = TlbStatistics { look_ups: shared.look_ups, misses: shared.misses };
        self.statistics.page_walks = shared.walks;
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
