//! The memory hierarchy of timing mode (K1): caches that hold data (K8), their policies (K3, K4), their control (K5), and what everything costs.
//!
//! - [`policy`]: the tables K3 and K4.
//! - [`cache`]: one cache of sectored lines with data.
//! - [`below`]: L1.5, network, L2, DRAM, system memory.
//! - [`dram`]: channels, banks, rows.
//!
//! A warp's access is cut into requests, one for each line it touches (coalescing); an L1 looks up one line a cycle. L1 caches are **not coherent**: a load
//! that hits sees what the line held when it was fetched, whatever other SMs have stored since. Stores to global memory bypass L1 and discard matching
//! lines on their own SM's way (data and uniform L1, L1.5), so a work-group sees its own stores; L2 is the point of coherence. Private memory is written back;
//! its lanes' words lie side by side, so that a warp's access to one variable is one line. Instructions are cached as tags: code does not change.
//!
//! Data moves when an access issues, in simulated order, so runs are deterministic; what an access returns is also when its data is there.

pub mod below;
pub mod cache;
pub mod dram;
pub mod policy;

use below::{Below, CODE_BASE, LONGEST_LINE, LineBytes, PRIVATE_BASE, Requester, count_eviction, touched};
use cache::{Cache, LineNumber};
use policy::{LOADS, Near, Row, STORES};

use super::DeviceMemory;
use super::statistics::{CacheStatistics, HierarchyStatistics};
use crate::isa::{CacheName, CacheOperation, CachePolicy, MemorySpace};
use crate::target::{self, Machine};

/// Through which L1 a load goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Path {
    /// Data L1.
    Data,
    /// Uniform L1 and L1.5.
    Uniform,
    /// Constant L1 and L1.5.
    Constant,
    /// Instruction L1 and L1.5.
    Instruction,
}

impl From<CacheName> for Path {
    /// The path whose L1 `cctl` names: textures share the uniform one.
    fn from(name: CacheName) -> Path {
        match name {
            CacheName::D => Path::Data,
            CacheName::U | CacheName::T => Path::Uniform,
            CacheName::C => Path::Constant,
            CacheName::I => Path::Instruction,
        }
    }
}

/// A warp's access.
#[derive(Clone, Copy, Debug)]
pub struct Access<'a> {
    /// SM.
    pub sm: usize,
    /// Cycle of issue.
    pub now: u64,
    /// Address space: global, constant or private.
    pub space: MemorySpace,
    /// Cache policy.
    pub policy: CachePolicy,
    /// Byte address of each lane: in private memory, within the lane's own.
    pub addresses: &'a [u64],
    /// Lanes.
    pub mask: u64,
    /// Bytes a lane.
    pub bytes: u32,
    /// First address of the warp's private memory, counted in bytes from [`PRIVATE_BASE`].
    pub private: u64,
}

/// What an access cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Done {
    /// Cycle at which all data is there.
    pub ready: u64,
    /// Cycles for which the load-store unit was busy.
    pub busy: u32,
    /// Lines touched.
    pub lines: u32,
    /// Sectors touched.
    pub sectors: u32,
    /// Of these, found in L1 (or on their way).
    pub hits: u32,
    /// Sectors that L2 had to fetch from memory.
    pub far: u32,
}

/// The L1 caches of an SM.
struct Near1 {
    data: Cache,
    uniform: Cache,
    constant: Cache,
    instruction: Cache,
}

impl Near1 {
    fn of(&mut self, path: Path) -> &mut Cache {
        match path {
            Path::Data => &mut self.data,
            Path::Uniform => &mut self.uniform,
            Path::Constant => &mut self.constant,
            Path::Instruction => &mut self.instruction,
        }
    }
}

/// One line of a warp's access.
#[derive(Clone, Copy, Debug)]
struct Request {
    line: LineNumber,
    sectors: u64,
    lanes: u64,
}

/// The whole hierarchy.
pub struct Hierarchy {
    near: Vec<Near1>,
    below: Below,
    line_bytes: u64,
    sector_bytes: u64,
    lanes: u64,
    data: target::Cache,
    uniform: target::Cache,
    constant: target::Cache,
    instruction: target::Cache,
    requests: Vec<Request>,
    /// Invalidations since the last launch.
    invalidations: u64,
}

/// Lines of code that are fetched before they are needed.
const FETCH_AHEAD: u64 = 2;

impl Hierarchy {
    /// A machine's hierarchy, empty.
    pub fn new(machine: &Machine) -> Hierarchy {
        let m = &machine.memory;
        let cache = |c: &target::Cache| Cache::new(c.bytes, c.ways, m.line_bytes, m.sector_bytes, c.misses);
        let near = || Near1 {
            data: cache(&m.data),
            uniform: cache(&m.uniform),
            constant: cache(&m.constant),
            instruction: cache(&m.instruction),
        };
        Hierarchy {
            near: (0..machine.sm.count).map(|_| near()).collect(),
            below: Below::new(m, machine.sm.count as usize),
            line_bytes: u64::from(m.line_bytes),
            sector_bytes: u64::from(m.sector_bytes),
            lanes: u64::from(machine.warp_size),
            data: m.data,
            uniform: m.uniform,
            constant: m.constant,
            instruction: m.instruction,
            requests: Vec::new(),
            invalidations: 0,
        }
    }

    /// A launch begins at cycle 0: nothing is on its way.
    pub fn start(&mut self) {
        self.below.settle();
        self.below.statistics =
            HierarchyStatistics { invalidations: std::mem::take(&mut self.invalidations), ..Default::default() };
        for n in &mut self.near {
            n.data.settle();
            n.uniform.settle();
            n.constant.settle();
            n.instruction.settle();
        }
    }

    /// A launch ends: dirty lines of L2 go to memory, private memory is gone. Returns what was counted.
    pub fn finish(&mut self, memory: &DeviceMemory) -> HierarchyStatistics {
        let first_private = PRIVATE_BASE / self.line_bytes;
        for n in &mut self.near {
            for dirty in n.data.clean_all() {
                debug_assert!(dirty.line >= first_private, "only private lines are dirty in L1");
                n.data.discard(dirty.line);
            }
        }
        self.below.finish(memory);
        self.below.statistics.clone()
    }

    /// The driver's invalidation between dependent launches (K6).
    pub fn invalidate(&mut self) {
        for n in &mut self.near {
            n.data.take_all();
            n.uniform.take_all();
            n.constant.take_all();
        }
        self.below.invalidate_l15();
        self.invalidations += 1;
    }

    /// The host has written memory between launches: L2 forgets the lines.
    pub fn host_wrote(&mut self, address: u64, bytes: u64) {
        if bytes > 0 {
            (address / self.line_bytes..=(address + bytes - 1) / self.line_bytes).for_each(|line| self.below.discard_l2(line));
        }
    }

    /// Device address of byte `offset` of a lane's private memory: words of all lanes side by side.
    fn interleaved(&self, base: u64, lane: u64, offset: u64) -> u64 {
        PRIVATE_BASE + base + (offset / 4 * self.lanes + lane) * 4 + offset % 4
    }

    /// Cuts an access into requests by line. `part`: which 4-byte word of a private access.
    fn coalesce(&mut self, a: &Access, part: u64) -> (Vec<Request>, [u64; 64]) {
        let mut requests = std::mem::take(&mut self.requests);
        requests.clear();
        let mut places = [0; 64];
        let mut mask = a.mask;
        while mask != 0 {
            let lane = mask.trailing_zeros() as usize;
            mask &= mask - 1;
            let address = if a.space == MemorySpace::Private {
                self.interleaved(a.private, lane as u64, a.addresses[lane] + 4 * part)
            } else {
                a.addresses[lane]
            };
            places[lane] = address;
            let line = address / self.line_bytes;
            let sector = 1 << (address % self.line_bytes / self.sector_bytes);
            let found = match requests.last() {
                Some(r) if r.line == line => requests.last_mut(),
                _ => requests.iter_mut().find(|r| r.line == line),
            };
            match found {
                Some(r) => {
                    r.sectors |= sector;
                    r.lanes |= 1 << lane;
                }
                None => requests.push(Request { line, sectors: sector, lanes: 1 << lane }),
            }
        }
        (requests, places)
    }

    /// Parts of an access that are coalesced one after the other, and bytes of each.
    fn parts(a: &Access) -> (u64, usize) {
        if a.space == MemorySpace::Private && a.bytes > 4 { (u64::from(a.bytes / 4), 4) } else { (1, a.bytes as usize) }
    }

    /// A load: fills `out` for the lanes of the mask.
    pub fn load(&mut self, memory: &DeviceMemory, path: Path, a: &Access, out: &mut [[u8; 16]]) -> Done {
        let row = policy::of(&LOADS, a.space, a.policy);
        let mut done = Done { ready: a.now, ..Done::default() };
        (self.below.far_sectors, self.below.waits) = (0, 0);
        let (parts, bytes) = Self::parts(a);
        for part in 0..parts {
            let (requests, places) = self.coalesce(a, part);
            for r in &requests {
                let who = Requester { sm: a.sm, now: a.now + u64::from(done.lines) };
                done.lines += 1;
                done.sectors += r.sectors.count_ones();
                let mut data = [0; LONGEST_LINE];
                let whole =
                    u64::from(r.lanes.count_ones()) * bytes as u64 == self.line_bytes && distinct(&places, r.lanes, bytes);
                let ready = self.read_line(memory, path, who, r, row, whole, &mut data, &mut done);
                done.ready = done.ready.max(ready);
                let mut lanes = r.lanes;
                while lanes != 0 {
                    let lane = lanes.trailing_zeros() as usize;
                    lanes &= lanes - 1;
                    let at = (places[lane] % self.line_bytes) as usize;
                    let to = 4 * part as usize;
                    out[lane][to..to + bytes].copy_from_slice(&data[at..at + bytes]);
                }
            }
            self.requests = requests;
        }
        self.close(&mut done);
        done
    }

    /// The end of an access: what the load-store unit waits for.
    fn close(&mut self, done: &mut Done) {
        let backlog = self.below.backlog();
        done.busy = done.busy.max(done.lines).max(1) + backlog as u32;
        done.far = self.below.far_sectors;
    }

    /// Reads a line's sectors through an L1. Returns when they are there.
    #[allow(clippy::too_many_arguments)]
    fn read_line(
        &mut self,
        memory: &DeviceMemory,
        path: Path,
        who: Requester,
        r: &Request,
        row: &'static Row,
        whole: bool,
        out: &mut LineBytes,
        done: &mut Done,
    ) -> u64 {
        let cache = self.near[who.sm].of(path);
        let s = &mut self.below.statistics;
        let (description, counts): (_, &mut CacheStatistics) = match path {
            Path::Data => (&self.data, &mut s.data),
            Path::Uniform => (&self.uniform, &mut s.uniform),
            Path::Constant => (&self.constant, &mut s.constant),
            Path::Instruction => (&self.instruction, &mut s.instruction),
        };
        let count = r.sectors.count_ones();
        counts.reads += u64::from(count);
        let looked_up = who.now + u64::from(description.latency);
        let found = cache.find(r.line);
        let bypass = row.near == Near::NoCache || (row.near == Near::LastUse && whole && found.is_none());
        if bypass {
            if found.is_some() {
                cache.discard(r.line);
                counts.discarded += 1;
            }
            counts.bypassed += u64::from(count);
            let leaves = cache.admit(looked_up);
            done.busy = done.busy.max((leaves - looked_up) as u32);
            let arrives = self.below.read(memory, Requester { now: leaves, ..who }, r.line, r.sectors, row, out);
            cache.note_miss(arrives);
            return arrives;
        }
        let (place, eviction) = cache.allocate(r.line, row.near != Near::Normal);
        count_eviction(counts, eviction.evict_first, eviction.dirty.as_ref(), self.sector_bytes as usize);
        let missing = r.sectors & !cache.valid(place);
        counts.misses += u64::from(missing.count_ones());
        let present = r.sectors & !missing;
        let there = cache.ready(place, present);
        if there > looked_up {
            counts.merged += u64::from(present.count_ones());
        }
        done.hits += present.count_ones();
        if let Some(dirty) = eviction.dirty {
            let row = policy::of(&STORES, MemorySpace::Private, CachePolicy::Default);
            self.below.write(memory, who, dirty.line, &dirty.data, &dirty.bytes, row, 1);
        }
        let mut ready = there.max(looked_up);
        if missing != 0 {
            let leaves = cache.admit(looked_up);
            done.busy = done.busy.max((leaves - looked_up) as u32);
            let from = Requester { now: leaves, ..who };
            // What is to be evicted first does not take room in the L1.5, nor the time to look there.
            let arrives = if path == Path::Data || row.near != Near::Normal {
                self.below.read(memory, from, r.line, missing, row, out)
            } else {
                self.below.read_l15(memory, from, r.line, missing, row, out)
            };
            cache.note_miss(arrives);
            cache.fill(place, missing, out, arrives);
            ready = ready.max(arrives);
        }
        let bytes = cache.bytes(place);
        out[..bytes.len()].copy_from_slice(bytes);
        if row.near == Near::LastUse && whole {
            // K3 [2]: what the line held is used up; its write-back is cancelled.
            cache.take(place);
            self.below.statistics.data.last_uses += 1;
        }
        ready
    }

    /// A store of `data`, 16 bytes a lane.
    pub fn store(&mut self, memory: &DeviceMemory, a: &Access, data: &[[u8; 16]]) -> Done {
        let row = policy::of(&STORES, a.space, a.policy);
        let mut done = Done { ready: a.now, ..Done::default() };
        (self.below.far_sectors, self.below.waits) = (0, 0);
        let (parts, bytes) = Self::parts(a);
        for part in 0..parts {
            let (requests, places) = self.coalesce(a, part);
            for r in &requests {
                let who = Requester { sm: a.sm, now: a.now + u64::from(done.lines) };
                done.lines += 1;
                done.sectors += r.sectors.count_ones();
                let (mut line, mut mask) = ([0; LONGEST_LINE], [0u64; 4]);
                let mut lanes = r.lanes;
                while lanes != 0 {
                    let lane = lanes.trailing_zeros() as usize;
                    lanes &= lanes - 1;
                    let at = (places[lane] % self.line_bytes) as usize;
                    let from = 4 * part as usize;
                    line[at..at + bytes].copy_from_slice(&data[lane][from..from + bytes]);
                    mask[at / 64] |= (u64::MAX >> (64 - bytes)) << (at % 64);
                }
                if a.space == MemorySpace::Private {
                    self.store_private(memory, who, r.line, &line, &mask, row);
                } else {
                    self.discard(who.sm, r.line);
                    self.below.write(memory, who, r.line, &line, &mask, row, r.lanes.count_ones());
                }
            }
            self.requests = requests;
        }
        self.close(&mut done);
        done
    }

    fn store_private(
        &mut self,
        memory: &DeviceMemory,
        who: Requester,
        line: LineNumber,
        data: &[u8],
        mask: &[u64; 4],
        row: &Row,
    ) {
        let sector = self.sector_bytes as usize;
        let cache = &mut self.near[who.sm].data;
        let counts = &mut self.below.statistics.data;
        let (place, eviction) = cache.allocate(line, row.near != Near::Normal);
        count_eviction(counts, eviction.evict_first, eviction.dirty.as_ref(), sector);
        counts.writes += u64::from(touched(mask, sector).count_ones());
        cache.write(place, data, mask, true);
        if let Some(dirty) = eviction.dirty {
            self.below.write(memory, who, dirty.line, &dirty.data, &dirty.bytes, row, 1);
        }
    }

    /// K4 [1]: a global store leaves no copy on its SM's way to L2.
    fn discard(&mut self, sm: usize, line: LineNumber) {
        let near = &mut self.near[sm];
        let found = u64::from(near.data.discard(line)) + u64::from(near.uniform.discard(line));
        self.below.discard_l15(sm, line);
        self.below.statistics.data.discarded += found;
    }

    /// Atomics, at L2: `update` turns the 8 bytes at a lane's address into new ones.
    pub fn atomic(&mut self, memory: &DeviceMemory, a: &Access, update: &mut dyn FnMut(usize, u64) -> u64) -> Done {
        // The line is fetched from system memory each time and written through, so that the host sees atomics and they see the host's stores.
        let row = policy::of(&LOADS, MemorySpace::Global, CachePolicy::Cv);
        let row = &Row { device: policy::Far::Normal, ..*row };
        let mut done = Done { ready: a.now, ..Done::default() };
        (self.below.far_sectors, self.below.waits) = (0, 0);
        let (requests, places) = self.coalesce(a, 0);
        let bytes = a.bytes as usize;
        for r in &requests {
            let who = Requester { sm: a.sm, now: a.now + u64::from(done.lines) };
            done.lines += 1;
            done.sectors += r.sectors.count_ones();
            self.discard(who.sm, r.line);
            let line_bytes = self.line_bytes;
            let mut all = |line: &mut LineBytes| {
                let mut mask = [0u64; 4];
                for lane in (0..64).filter(|l| r.lanes >> l & 1 == 1) {
                    let at = (places[lane] % line_bytes) as usize;
                    let mut cell = [0; 8];
                    cell[..bytes].copy_from_slice(&line[at..at + bytes]);
                    let new = update(lane, u64::from_le_bytes(cell)).to_le_bytes();
                    line[at..at + bytes].copy_from_slice(&new[..bytes]);
                    mask[at / 64] |= (u64::MAX >> (64 - bytes)) << (at % 64);
                }
                mask
            };
            let ready = self.below.atomic(memory, who, r.line, r.sectors, row, r.lanes.count_ones(), &mut all);
            done.ready = done.ready.max(ready);
        }
        self.requests = requests;
        self.close(&mut done);
        done
    }

    /// Cache control (K5). Returns the cost; `status` gets bit 0 (valid) and bit 1 (dirty) of each lane's sector for `qry1`.
    pub fn control(
        &mut self,
        memory: &DeviceMemory,
        cache: CacheName,
        op: CacheOperation,
        a: &Access,
        status: &mut [u32],
    ) -> Done {
        let row = policy::of(&LOADS, a.space, CachePolicy::Default);
        let written = policy::of(&STORES, a.space, CachePolicy::Default);
        let mut done = Done { ready: a.now, ..Done::default() };
        (self.below.far_sectors, self.below.waits) = (0, 0);
        let latency = u64::from(self.data.latency);
        if op == CacheOperation::Ivall {
            let dirty = self.near[a.sm].of(cache.into()).take_all();
            done.lines = dirty.len() as u32;
            for d in dirty {
                let who = Requester { sm: a.sm, now: a.now };
                self.below.write(memory, who, d.line, &d.data, &d.bytes, written, 1);
            }
            self.close(&mut done);
            return done;
        }
        let (mut requests, places) = self.coalesce(a, 0);
        if cache == CacheName::I {
            requests.iter_mut().for_each(|r| r.line += CODE_BASE / self.line_bytes);
        }
        for r in &requests {
            let who = Requester { sm: a.sm, now: a.now + u64::from(done.lines) };
            done.lines += 1;
            done.sectors += r.sectors.count_ones();
            let l1 = self.near[a.sm].of(cache.into());
            let place = l1.find(r.line);
            let mut dirty = None;
            match op {
                CacheOperation::Qry1 => {
                    for lane in (0..64).filter(|l| r.lanes >> l & 1 == 1) {
                        let sector = places[lane] % self.line_bytes / self.sector_bytes;
                        status[lane] = place.map_or(0, |p| {
                            u32::from(l1.valid(p) >> sector & 1 == 1 || l1.is_dirty(p)) | u32::from(l1.is_dirty(p)) << 1
                        });
                    }
                    done.ready = done.ready.max(who.now + latency);
                }
                CacheOperation::Wb => dirty = place.and_then(|p| l1.clean(p)),
                CacheOperation::Iv => dirty = place.and_then(|p| l1.take(p)),
                CacheOperation::Rs => {
                    l1.discard(r.line);
                }
                CacheOperation::Pf1 => {
                    if self.below.exists(memory, r.line) {
                        let mut data = [0; LONGEST_LINE];
                        let mut ignored = Done::default();
                        self.read_line(memory, cache.into(), who, r, row, false, &mut data, &mut ignored);
                    }
                }
                CacheOperation::Pf15 => {
                    if self.below.exists(memory, r.line) {
                        let mut data = [0; LONGEST_LINE];
                        self.below.read_l15(memory, who, r.line, r.sectors, row, &mut data);
                    }
                }
                CacheOperation::Pf2 => self.below.prefetch(memory, who, r.line, r.sectors, row),
                CacheOperation::Ivall => {}
            }
            if let Some(d) = dirty {
                self.below.statistics.data.written_back += u64::from(touched(&d.bytes, self.sector_bytes as usize).count_ones());
                self.below.write(memory, who, d.line, &d.data, &d.bytes, written, 1);
            }
        }
        self.requests = requests;
        self.close(&mut done);
        done
    }

    /// Fetches the line of code that holds byte `offset`; returns when it is there. The next lines are fetched ahead.
    pub fn fetch(&mut self, memory: &DeviceMemory, sm: usize, offset: u64, now: u64) -> u64 {
        let line = (CODE_BASE + offset) / self.line_bytes;
        let row = policy::of(&LOADS, MemorySpace::Global, CachePolicy::Default);
        let all = (1u64 << (self.line_bytes / self.sector_bytes)) - 1;
        let mut ready = now;
        for ahead in 0..=FETCH_AHEAD {
            let cache = &mut self.near[sm].instruction;
            let (place, eviction) = match cache.find(line + ahead) {
                Some(place) => (place, cache::Eviction::default()),
                None => cache.allocate(line + ahead, false),
            };
            if ahead == 0 {
                cache.touch(place, false);
                self.below.statistics.instruction.reads += 1;
            }
            if cache.valid(place) == 0 {
                let counts = &mut self.below.statistics.instruction;
                count_eviction(counts, eviction.evict_first, None, self.sector_bytes as usize);
                counts.misses += u64::from(ahead == 0);
                let mut data = [0; LONGEST_LINE];
                let from = Requester { sm, now: now + u64::from(self.instruction.latency) };
                let arrives = self.below.read_l15(memory, from, line + ahead, all, row, &mut data);
                self.near[sm].instruction.fill(place, all, &data, arrives);
            }
            if ahead == 0 {
                ready = ready.max(self.near[sm].instruction.ready(place, all));
            }
        }
        ready
    }

    /// State of a line in an SM's data L1: valid sectors, dirty, first to be evicted. For tests and tools.
    pub fn l1_state(&self, sm: usize, address: u64) -> Option<(u64, bool, bool)> {
        let cache = &self.near[sm].data;
        let place = cache.find(address / self.line_bytes)?;
        Some((cache.valid(place), cache.is_dirty(place), cache.is_evict_first(place)))
    }

    /// State of a line in L2: dirty, first to be evicted.
    pub fn l2_state(&self, address: u64) -> Option<(bool, bool)> {
        self.below.l2_state(address / self.line_bytes)
    }

    /// Address under which [`Self::l1_state`] knows a byte of a lane's private memory.
    pub fn private_address(&self, base: u64, lane: u64, offset: u64) -> u64 {
        self.interleaved(base, lane, offset)
    }

    /// What has been counted since the launch began.
    pub fn statistics(&self) -> &HierarchyStatistics {
        &self.below.statistics
    }
}

/// Whether the lanes' bytes do not overlap.
fn distinct(places: &[u64; 64], lanes: u64, bytes: usize) -> bool {
    let mut seen = [0u64; 4];
    for lane in (0..64).filter(|l| lanes >> l & 1 == 1) {
        let at = (places[lane] % LONGEST_LINE as u64) as usize;
        let mask = (u64::MAX >> (64 - bytes)) << (at % 64);
        if seen[at / 64] & mask != 0 {
            return false;
        }
        seen[at / 64] |= mask;
    }
    true
}
