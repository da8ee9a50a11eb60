//! An L1.5 with the SMs that share it: their L1 caches, and their ports to the network.
//!
//! What lies further down is shared by all SMs. With [`Near::below`] in place, its answers come at once. Without, a request only gets a ticket, and
//! what the answer is needed for is put off (see [`deferred`](super::deferred)); atomics and cache control cannot be.

mod control;

use smallvec::SmallVec;

use super::below::{Below, CODE_BASE, LONGEST_LINE, LineBytes, PRIVATE_BASE, count_eviction, touched};
use super::cache::{self, Cache, LineNumber};
use super::deferred::{Arrival, Deferred, Entry, LateLine, LateLoad, PENDING, Parts, Place, Request, Ticket};
use super::policy::{self, LOADS, Near as Keep, Row, STORES};
use super::{Access, Done, Path, Places, deal};
use crate::DeviceMemory;
use crate::statistics::{CacheStatistics, HierarchyStatistics};
use heddle_isa::{CachePolicy, MemorySpace};
use heddle_target::Machine;

/// The L1 caches of an SM, and its port to the network.
struct First {
    data: Cache,
    uniform: Cache,
    constant: Cache,
    instruction: Cache,
    /// Lines of code whose fetch found everything there.
    fetched: Box<[Fetched; FETCHED]>,
    /// When the port is free for requests and for replies.
    request: u64,
    reply: u64,
}

/// A line of code that was there with those that are fetched ahead of need, as long as its cache does not change.
#[derive(Clone, Copy, Default)]
struct Fetched {
    line: LineNumber,
    /// Of the cache.
    changes: u64,
    place: cache::Place,
    ready: u64,
}

/// Lines of code that an SM remembers.
const FETCHED: usize = 64;

impl First {
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
struct Piece {
    line: LineNumber,
    sectors: u64,
    lanes: u64,
}

/// Who asks, and when.
#[derive(Clone, Copy, Debug)]
struct Requester {
    sm: usize,
    now: u64,
}

/// Lines of code that are fetched before they are needed.
const FETCH_AHEAD: u64 = 2;

/// The SMs of an L1.5.
pub struct Near {
    /// Number of the first SM.
    first: usize,
    sms: Vec<First>,
    l15: Cache,
    /// The levels below, where they answer at once.
    pub below: Option<Box<Below>>,
    /// Requests to them otherwise, and what waits for the answers.
    pub deferred: Deferred,
    /// Loads are not performed, only the lines counted that they would look up.
    probe: Option<usize>,
    /// The last load, if it waits.
    late: Option<Box<LateLoad>>,
    /// Tickets of the access that is being performed.
    asked: SmallVec<[Ticket; 4]>,
    /// Cycles that the last request waited at its port.
    waits: u64,
    pieces: Vec<Piece>,
    line_bytes: u64,
    sector_bytes: u64,
    /// Their logarithms: both are powers of two.
    line_shift: u32,
    sector_shift: u32,
    lanes: u64,
    memory: heddle_target::Memory,
    /// Counts.
    pub statistics: HierarchyStatistics,
}

impl Near {
    /// The SMs from `first` on that share an L1.5.
    pub fn new(machine: &Machine, first: usize) -> Near {
        let m = &machine.memory;
        let cache = |c: &heddle_target::Cache| Cache::new(c.bytes, c.ways, m.line_bytes, m.sector_bytes, c.misses);
        let sm = |_| First {
            data: cache(&m.data),
            uniform: cache(&m.uniform),
            constant: cache(&m.constant),
            instruction: cache(&m.instruction),
            fetched: Box::new([Fetched::default(); FETCHED]),
            request: 0,
            reply: 0,
        };
        let end = (first + m.l15.sms as usize).min(machine.sm.count as usize);
        Near {
            first,
            sms: (first..end).map(sm).collect(),
            l15: Cache::new(m.l15.bytes, m.l15.ways, m.line_bytes, m.sector_bytes, 1),
            below: None,
            deferred: Deferred::default(),
            probe: None,
            late: None,
            asked: SmallVec::new(),
            waits: 0,
            pieces: Vec::new(),
            line_bytes: u64::from(m.line_bytes),
            sector_bytes: u64::from(m.sector_bytes),
            line_shift: m.line_bytes.trailing_zeros(),
            sector_shift: m.sector_bytes.trailing_zeros(),
            lanes: u64::from(machine.warp_size),
            memory: m.clone(),
            statistics: HierarchyStatistics::default(),
        }
    }

    /// A launch begins at cycle 0: nothing is on its way.
    pub fn start(&mut self) {
        self.statistics = HierarchyStatistics::default();
        self.deferred = Deferred::default();
        self.l15.settle();
        for n in &mut self.sms {
            n.data.settle();
            n.uniform.settle();
            n.constant.settle();
            n.instruction.settle();
            (n.request, n.reply) = (0, 0);
        }
    }

    /// A launch ends: private memory is gone.
    pub fn finish(&mut self) {
        let first_private = PRIVATE_BASE / self.line_bytes;
        for n in &mut self.sms {
            for dirty in n.data.clean_all() {
                debug_assert!(dirty.line >= first_private, "only private lines are dirty in L1");
                n.data.discard(dirty.line);
            }
        }
    }

    /// The driver's invalidation between dependent launches (K6).
    pub fn invalidate(&mut self) {
        for n in &mut self.sms {
            n.data.take_all();
            n.uniform.take_all();
            n.constant.take_all();
        }
        self.l15.take_all();
    }

    fn sm(&mut self, number: usize) -> &mut First {
        &mut self.sms[number - self.first]
    }

    /// Device address of byte `offset` of a lane's private memory: words of all lanes side by side.
    fn interleaved(&self, base: u64, lane: u64, offset: u64) -> u64 {
        PRIVATE_BASE + base + (offset / 4 * self.lanes + lane) * 4 + offset % 4
    }

    /// Cuts an access into pieces by line; `places` gets each lane's byte in its line. `part`: which 4-byte word of a private access.
    fn coalesce(&mut self, a: &Access, part: u64, places: &mut Places) -> Vec<Piece> {
        let mut pieces = std::mem::take(&mut self.pieces);
        pieces.clear();
        let (line_shift, sector_shift) = (self.line_shift, self.sector_shift);
        let inside = self.line_bytes - 1;
        if a.space != MemorySpace::Private {
            if let Some(piece) = self.one_line(a, places) {
                pieces.push(piece);
                return pieces;
            }
        }
        let mut mask = a.mask;
        while mask != 0 {
            let lane = mask.trailing_zeros() as usize;
            mask &= mask - 1;
            let address = if a.space == MemorySpace::Private {
                self.interleaved(a.private, lane as u64, a.addresses[lane] + 4 * part)
            } else {
                a.addresses[lane]
            };
            let (line, place) = (address >> line_shift, address & inside);
            places[lane] = place as u8;
            let sector = 1 << (place >> sector_shift);
            let found = match pieces.last() {
                Some(r) if r.line == line => pieces.last_mut(),
                _ => pieces.iter_mut().find(|r| r.line == line),
            };
            match found {
                Some(r) => {
                    r.sectors |= sector;
                    r.lanes |= 1 << lane;
                }
                None => pieces.push(Piece { line, sectors: sector, lanes: 1 << lane }),
            }
        }
        pieces
    }

    /// The frequent case: all lanes in one line.
    fn one_line(&self, a: &Access, places: &mut Places) -> Option<Piece> {
        let (line_shift, sector_shift, inside) = (self.line_shift, self.sector_shift, self.line_bytes - 1);
        let first = a.addresses[a.mask.trailing_zeros() as usize % a.addresses.len()];
        let (mut different, mut sectors) = (0, 0);
        for (lane, (address, place)) in a.addresses.iter().zip(places.iter_mut()).enumerate() {
            let active = (a.mask >> lane & 1).wrapping_neg();
            different |= (address ^ first) & !inside & active;
            sectors |= (1 << ((address & inside) >> sector_shift)) & active;
            *place = (address & inside) as u8;
        }
        (different == 0 && a.mask != 0).then(|| Piece { line: first >> line_shift, sectors, lanes: a.mask })
    }

    /// Parts of an access that are coalesced one after the other, and bytes of each.
    fn parts(a: &Access) -> (u64, usize) {
        if a.space == MemorySpace::Private && a.bytes > 4 { (u64::from(a.bytes / 4), 4) } else { (1, a.bytes as usize) }
    }

    /// How long the SM's last request waits at its port, in cycles beyond what its queue holds.
    fn backlog(&self) -> u64 {
        self.waits.saturating_sub(u64::from(self.memory.network.queue))
    }

    /// A request of some cycles' length enters an SM's port; returns when it arrives at L2.
    fn leave(&mut self, who: Requester, cycles: u64) -> u64 {
        let port = &mut self.sms[who.sm - self.first];
        let leaves = port.request.max(who.now);
        port.request = leaves + cycles;
        self.waits = leaves - who.now;
        leaves + u64::from(self.memory.network.latency)
    }

    /// Reads sectors from L2. Returns when they are here, which may be pending.
    fn ask(
        &mut self,
        memory: &DeviceMemory,
        who: Requester,
        line: LineNumber,
        sectors: u64,
        row: &'static Row,
        out: &mut LineBytes,
    ) -> u64 {
        let count = u64::from(sectors.count_ones());
        let n = self.memory.network;
        let interval = u64::from(n.interval);
        let arrives = self.leave(who, interval);
        let port = self.sm(who.sm);
        let reply = port.reply.max(who.now);
        port.reply = reply + interval * count;
        let back = reply - who.now + interval * count + u64::from(n.latency);
        self.statistics.network_sectors += count;
        self.statistics.l2_to_l1_bytes += count * self.sector_bytes;
        match &mut self.below {
            Some(below) => below.read(memory, line, sectors, row, arrives, out) + back,
            None => {
                let not_before = arrives + u64::from(self.memory.l2.latency) + back;
                let ticket = self.deferred.ticket(None, not_before);
                self.asked.push(ticket);
                let data = Box::new([0; LONGEST_LINE]);
                let request = Request::Read { ticket, line, sectors, row, arrives, back, data };
                self.deferred.requests.push_back((self.deferred.key, request));
                PENDING | u64::from(ticket)
            }
        }
    }

    /// Writes bytes of a line to L2, for an SM (or an L1 eviction of it).
    fn tell(
        &mut self,
        memory: &DeviceMemory,
        who: Requester,
        line: LineNumber,
        data: &[u8],
        mask: &[u64; 4],
        row: &'static Row,
        transactions: u32,
    ) {
        let count = u64::from(touched(mask, self.sector_bytes as usize).count_ones());
        let arrives = self.leave(who, u64::from(self.memory.network.interval) * count);
        self.statistics.network_sectors += count;
        self.statistics.l1_to_l2_bytes += count * self.sector_bytes;
        match &mut self.below {
            Some(below) => below.write(memory, line, data, mask, row, arrives, transactions),
            None => {
                let mut copy = Box::new([0; LONGEST_LINE]);
                copy[..data.len()].copy_from_slice(data);
                let request = Request::Write { line, data: copy, mask: *mask, row, arrives, transactions };
                self.deferred.requests.push_back((self.deferred.key, request));
            }
        }
    }

    /// A cache of the SM, or the L1.5.
    fn cache(&mut self, place: Place) -> &mut Cache {
        match place {
            Place::First(sm, path) => self.sms[sm].of(path),
            Place::Shared => &mut self.l15,
        }
    }

    /// Fills sectors of a line, now or later.
    fn fill(&mut self, to: Place, place: cache::Place, line: LineNumber, sectors: u64, from: &LineBytes, arrives: u64) {
        if arrives < PENDING {
            self.cache(to).fill(place, sectors, from, arrives);
        } else {
            self.cache(to).fill_later(place, sectors, arrives as Ticket);
            self.deferred.later(Entry::Fill(to, line, sectors, arrives as Ticket));
        }
    }

    /// A miss of an SM's L1 returns, now or later.
    fn note_miss(&mut self, sm: usize, path: Path, arrives: u64) {
        if arrives < PENDING {
            self.sm(sm).of(path).note_miss(arrives);
        } else {
            let not_before = self.deferred.answer(arrives as Ticket).not_before;
            self.sm(sm).of(path).note_unknown(not_before);
            self.deferred.later(Entry::Miss(sm, path, arrives as Ticket));
        }
    }

    /// Reads sectors through the L1.5. Returns when they arrive, which may be pending.
    fn read_l15(
        &mut self,
        memory: &DeviceMemory,
        who: Requester,
        line: LineNumber,
        sectors: u64,
        row: &'static Row,
        out: &mut LineBytes,
    ) -> u64 {
        let at = who.now + u64::from(self.memory.l15.latency);
        let (place, eviction) = self.l15.allocate(line, false);
        count_eviction(&mut self.statistics.l15, eviction.evict_first, None, self.sector_bytes as usize);
        let missing = sectors & !self.l15.valid(place);
        self.statistics.l15.reads += u64::from(sectors.count_ones());
        self.statistics.l15.misses += u64::from(missing.count_ones());
        if missing != 0 {
            let arrives = self.ask(memory, Requester { now: at, ..who }, line, missing, row, out);
            self.fill(Place::Shared, place, line, missing, out, arrives);
        }
        let n = self.line_bytes as usize;
        out[..n].copy_from_slice(self.l15.bytes(place));
        let ready = self.l15.ready(place, sectors);
        if ready < PENDING {
            return ready.max(at);
        }
        let parts = self.l15.pending(place, sectors);
        let known = sectors & !parts.iter().fold(0, |all, p| all | p.1);
        let base = self.l15.ready(place, known).max(at);
        let not_before = parts.iter().map(|p| self.deferred.answer(p.0).not_before).fold(base, u64::max);
        let ticket = self.deferred.ticket(Some(Box::new(*out)), not_before);
        self.deferred.later(Entry::Combine(ticket, base, parts));
        PENDING | u64::from(ticket)
    }

    /// A load: fills `out` for the lanes of the mask. If [`Done::pending`], the rest comes with [`Self::answer`].
    pub fn load(&mut self, memory: &DeviceMemory, path: Path, a: &Access, out: &mut [[u8; 16]]) -> Done {
        let row = policy::of(&LOADS, a.space, a.policy);
        let mut done = Done { ready: a.now, ..Done::default() };
        self.begin();
        let (parts, bytes) = Self::parts(a);
        let mut places = [0; 64];
        let mut late: Option<Box<LateLoad>> = None;
        let mut data = [0; LONGEST_LINE];
        for part in 0..parts {
            let pieces = self.coalesce(a, part, &mut places);
            if let Some(lines) = &mut self.probe {
                *lines += pieces.len();
                self.pieces = pieces;
                done.pending = true;
                continue;
            }
            for r in &pieces {
                let who = Requester { sm: a.sm, now: a.now + u64::from(done.lines) };
                done.lines += 1;
                done.sectors += r.sectors.count_ones();
                let whole = row.near == Keep::LastUse
                    && u64::from(r.lanes.count_ones()) * bytes as u64 == self.line_bytes
                    && distinct(&places, r.lanes, bytes);
                let mut waits = Waits::default();
                let ready = self.read_line(memory, path, who, r, row, whole, &mut data, &mut done, &mut waits);
                done.ready = done.ready.max(ready);
                let to = 4 * part as usize;
                if waits.parts.is_empty() {
                    deal(&data, &places, r.lanes, bytes, to, out);
                    continue;
                }
                let late = late.get_or_insert_with(|| {
                    Box::new(LateLoad {
                        token: 0,
                        bytes,
                        lines: Vec::new(),
                        asked: SmallVec::new(),
                        ready: 0,
                        out: Vec::new(),
                        far: 0,
                    })
                });
                let Waits { parts, keep } = waits;
                late.lines.push(LateLine { data: Box::new(data), keep, parts, lanes: r.lanes, places, to });
            }
            self.pieces = pieces;
        }
        if let Some(late) = &mut late {
            late.out = out.to_vec();
            late.ready = done.ready;
            late.asked = std::mem::take(&mut self.asked);
            done.pending = true;
        }
        self.late = late;
        self.close(&mut done);
        done
    }

    /// The last load waits for `token`; [`Self::answer`] will tell.
    pub fn wait_for_load(&mut self, token: u64) {
        if let Some(mut late) = self.late.take() {
            late.token = token;
            self.deferred.later(Entry::Load(late));
        }
    }

    /// An access begins.
    fn begin(&mut self) {
        self.waits = 0;
        self.asked.clear();
        if let Some(below) = &mut self.below {
            below.far_sectors = 0;
        }
    }

    /// The end of an access: what the load-store unit waits for.
    fn close(&mut self, done: &mut Done) {
        let backlog = self.backlog();
        done.busy = done.busy.max(done.lines).max(1) + backlog as u32;
        done.far = self.below.as_ref().map_or(0, |b| b.far_sectors);
    }

    /// Whether it is known when `count` more misses of an SM's L1, found from cycle `now` on, can leave.
    pub fn can_admit(&mut self, sm: usize, path: Path, count: usize, now: u64) -> bool {
        let earliest = now + 2 * u64::from(self.memory.network.latency) + u64::from(self.memory.l2.latency);
        self.sm(sm).of(path).can_admit(count, earliest)
    }

    /// From now on loads are only cut into lines; or no longer, and returns how many lines there were.
    pub fn set_probe(&mut self, on: bool) -> usize {
        std::mem::replace(&mut self.probe, on.then_some(0)).unwrap_or(0)
    }

    /// Does over what was put off and whose answers have been noted. `arrived` hears what SMs wait for.
    pub fn answer(&mut self, arrived: &mut dyn FnMut(Arrival)) {
        let sector = self.sector_bytes as usize;
        let mut log = self.deferred.take_log();
        let before = log.len();
        for _ in 0..before {
            let Some((number, entry)) = log.pop_front() else { break };
            if !self.deferred.is_known(&entry) {
                log.push_back((number, entry));
                continue;
            }
            match entry {
                Entry::Fill(to, line, sectors, ticket) => {
                    let Near { deferred, sms, l15, .. } = self;
                    let cache = match to {
                        Place::First(sm, path) => sms[sm].of(path),
                        Place::Shared => l15,
                    };
                    let answer = deferred.answer(ticket);
                    cache.arrive(line, sectors, ticket, answer.line(), answer.ready);
                }
                Entry::Combine(ticket, base, parts) => {
                    self.deferred.combine(ticket, base, &parts, sector);
                }
                Entry::Miss(sm, path, ticket) => {
                    let arrives = self.deferred.answer(ticket).ready;
                    self.sm(sm).of(path).note_known(arrives);
                }
                Entry::Load(mut load) => {
                    self.deferred.complete(&mut load, sector);
                    arrived(Arrival::Load(load));
                }
                Entry::Fetch(token, ticket) => arrived(Arrival::Fetch(token, self.deferred.answer(ticket).ready)),
            }
        }
        let any = log.len() < before;
        self.deferred.put_back(log);
        if any {
            self.deferred.forget();
        }
    }

    /// Reads a line's sectors through an L1. Returns when they are there, as far as is known.
    #[allow(clippy::too_many_arguments)]
    fn read_line(
        &mut self,
        memory: &DeviceMemory,
        path: Path,
        who: Requester,
        r: &Piece,
        row: &'static Row,
        whole: bool,
        out: &mut LineBytes,
        done: &mut Done,
        waits: &mut Waits,
    ) -> u64 {
        let cache = self.sms[who.sm - self.first].of(path);
        let (s, m) = (&mut self.statistics, &self.memory);
        let (description, counts): (_, &mut CacheStatistics) = match path {
            Path::Data => (&m.data, &mut s.data),
            Path::Uniform => (&m.uniform, &mut s.uniform),
            Path::Constant => (&m.constant, &mut s.constant),
            Path::Instruction => (&m.instruction, &mut s.instruction),
        };
        let count = r.sectors.count_ones();
        counts.reads += u64::from(count);
        let looked_up = who.now + u64::from(description.latency);
        let found = cache.find(r.line);
        let bypass = row.near == Keep::NoCache || (row.near == Keep::LastUse && whole && found.is_none());
        if bypass {
            if found.is_some() {
                cache.discard(r.line);
                counts.discarded += 1;
            }
            counts.bypassed += u64::from(count);
            let leaves = cache.admit(looked_up);
            done.busy = done.busy.max((leaves - looked_up) as u32);
            let arrives = self.ask(memory, Requester { now: leaves, ..who }, r.line, r.sectors, row, out);
            self.note_miss(who.sm, path, arrives);
            if arrives < PENDING {
                return arrives;
            }
            waits.parts.push((arrives as Ticket, r.sectors));
            return looked_up;
        }
        let (place, eviction) = match found {
            Some(place) => {
                cache.touch(place, row.near != Keep::Normal);
                (place, cache::Eviction::default())
            }
            None => cache.allocate(r.line, row.near != Keep::Normal),
        };
        count_eviction(counts, eviction.evict_first, eviction.dirty.as_ref(), self.sector_bytes as usize);
        let missing = r.sectors & !cache.valid(place);
        counts.misses += u64::from(missing.count_ones());
        let present = r.sectors & !missing;
        let there = cache.ready(place, present);
        // What is pending arrives later than it could be looked up.
        if there > looked_up {
            counts.merged += u64::from(present.count_ones());
        }
        done.hits += present.count_ones();
        if let Some(dirty) = eviction.dirty {
            let row = policy::of(&STORES, MemorySpace::Private, CachePolicy::Default);
            self.tell(memory, who, dirty.line, &dirty.data, &dirty.bytes, row, 1);
        }
        let mut late = there >= PENDING;
        if missing != 0 {
            let cache = self.sms[who.sm - self.first].of(path);
            let leaves = cache.admit(looked_up);
            done.busy = done.busy.max((leaves - looked_up) as u32);
            let from = Requester { now: leaves, ..who };
            // What is to be evicted first does not take room in the L1.5, nor the time to look there.
            let arrives = if path == Path::Data || row.near != Keep::Normal {
                self.ask(memory, from, r.line, missing, row, out)
            } else {
                self.read_l15(memory, from, r.line, missing, row, out)
            };
            self.note_miss(who.sm, path, arrives);
            let to = Place::First(who.sm - self.first, path);
            self.fill(to, place, r.line, missing, out, arrives);
            late |= arrives >= PENDING;
        }
        let cache = self.sms[who.sm - self.first].of(path);
        let bytes = cache.bytes(place);
        out[..bytes.len()].copy_from_slice(bytes);
        let mut known = r.sectors;
        if late {
            waits.parts = cache.pending(place, r.sectors);
            waits.keep = cache.dirty_bytes(place);
            known &= !waits.parts.iter().fold(0, |all, p| all | p.1);
        }
        let ready = cache.ready(place, known).max(looked_up);
        if row.near == Keep::LastUse && whole {
            // K3 [2]: what the line held is used up; its write-back is cancelled.
            cache.take(place);
            self.statistics.data.last_uses += 1;
        }
        ready
    }

    /// A store of `data`, 16 bytes a lane.
    pub fn store(&mut self, memory: &DeviceMemory, a: &Access, data: &[[u8; 16]]) -> Done {
        let row = policy::of(&STORES, a.space, a.policy);
        let mut done = Done { ready: a.now, ..Done::default() };
        self.begin();
        let (parts, bytes) = Self::parts(a);
        let mut places = [0; 64];
        for part in 0..parts {
            let pieces = self.coalesce(a, part, &mut places);
            for r in &pieces {
                let who = Requester { sm: a.sm, now: a.now + u64::from(done.lines) };
                done.lines += 1;
                done.sectors += r.sectors.count_ones();
                let (mut line, mut mask) = ([0; LONGEST_LINE], [0u64; 4]);
                let mut lanes = r.lanes;
                while lanes != 0 {
                    let lane = lanes.trailing_zeros() as usize;
                    lanes &= lanes - 1;
                    let at = usize::from(places[lane]);
                    let from = 4 * part as usize;
                    line[at..at + bytes].copy_from_slice(&data[lane][from..from + bytes]);
                    mask[at / 64] |= (u64::MAX >> (64 - bytes)) << (at % 64);
                }
                if a.space == MemorySpace::Private {
                    self.store_private(memory, who, r.line, &line, &mask, row);
                } else {
                    self.discard(who.sm, r.line);
                    self.tell(memory, who, r.line, &line, &mask, row, r.lanes.count_ones());
                }
            }
            self.pieces = pieces;
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
        row: &'static Row,
    ) {
        let sector = self.sector_bytes as usize;
        let cache = &mut self.sms[who.sm - self.first].data;
        let counts = &mut self.statistics.data;
        let (place, eviction) = cache.allocate(line, row.near != Keep::Normal);
        count_eviction(counts, eviction.evict_first, eviction.dirty.as_ref(), sector);
        counts.writes += u64::from(touched(mask, sector).count_ones());
        cache.write(place, data, mask, true);
        if let Some(dirty) = eviction.dirty {
            self.tell(memory, who, dirty.line, &dirty.data, &dirty.bytes, row, 1);
        }
    }

    /// K4 [1]: a global store leaves no copy on its SM's way to L2.
    fn discard(&mut self, sm: usize, line: LineNumber) {
        let near = self.sm(sm);
        let found = u64::from(near.data.discard(line)) + u64::from(near.uniform.discard(line));
        self.l15.discard(line);
        self.statistics.data.discarded += found;
    }

    /// Fetches the line of code that holds byte `offset`; returns when it is there, which may be pending. The next lines are fetched ahead.
    pub fn fetch(&mut self, memory: &DeviceMemory, sm: usize, offset: u64, now: u64) -> u64 {
        let line = (CODE_BASE + offset) >> self.line_shift;
        let index = sm - self.first;
        let near = &mut self.sms[index];
        let known = near.fetched[line as usize % FETCHED];
        if known.line == line && known.changes == near.instruction.changes() {
            near.instruction.touch(known.place, false);
            self.statistics.instruction.reads += 1;
            return now.max(known.ready);
        }
        let row = policy::of(&LOADS, MemorySpace::Global, CachePolicy::Default);
        let all = (1u64 << (self.line_bytes / self.sector_bytes)) - 1;
        let before = near.instruction.changes();
        let mut first = None;
        let mut ready = now;
        for ahead in 0..=FETCH_AHEAD {
            let cache = &mut self.sms[index].instruction;
            let (place, eviction) = match cache.find(line + ahead) {
                Some(place) => (place, cache::Eviction::default()),
                None => cache.allocate(line + ahead, false),
            };
            if ahead == 0 {
                cache.touch(place, false);
                self.statistics.instruction.reads += 1;
            }
            if cache.valid(place) == 0 {
                let counts = &mut self.statistics.instruction;
                count_eviction(counts, eviction.evict_first, None, self.sector_bytes as usize);
                counts.misses += u64::from(ahead == 0);
                let mut data = [0; LONGEST_LINE];
                let from = Requester { sm, now: now + u64::from(self.memory.instruction.latency) };
                let arrives = self.read_l15(memory, from, line + ahead, all, row, &mut data);
                self.fill(Place::First(index, Path::Instruction), place, line + ahead, all, &data, arrives);
            }
            if ahead == 0 {
                first = Some(place);
                ready = ready.max(self.sms[index].instruction.ready(place, all));
            }
        }
        let near = &mut self.sms[index];
        if let (Some(place), true) = (first, near.instruction.changes() == before && ready < PENDING) {
            let there = near.instruction.ready(place, all);
            near.fetched[line as usize % FETCHED] = Fetched { line, changes: before, place, ready: there };
        }
        ready
    }

    /// A warp waits for a line of code; [`Self::answer`] will tell.
    pub fn wait_for_fetch(&mut self, token: u64, ready: u64) {
        self.deferred.later(Entry::Fetch(token, ready as Ticket));
    }

    /// State of a line in an SM's data L1.
    pub fn l1_state(&self, sm: usize, address: u64) -> Option<(u64, bool, bool)> {
        let cache = &self.sms[sm - self.first].data;
        let place = cache.find(address / self.line_bytes)?;
        Some((cache.valid(place), cache.is_dirty(place), cache.is_evict_first(place)))
    }

    /// Address under which [`Self::l1_state`] knows a byte of a lane's private memory.
    pub fn private_address(&self, base: u64, lane: u64, offset: u64) -> u64 {
        self.interleaved(base, lane, offset)
    }
}

/// What a line waits for, and which bytes of it do not.
#[derive(Default)]
struct Waits {
    parts: Parts,
    keep: [u64; 4],
}

/// Whether the lanes' bytes do not overlap.
fn distinct(places: &Places, lanes: u64, bytes: usize) -> bool {
    let mut seen = [0u64; 4];
    for lane in (0..64).filter(|l| lanes >> l & 1 == 1) {
        let at = usize::from(places[lane]);
        let mask = (u64::MAX >> (64 - bytes)) << (at % 64);
        if seen[at / 64] & mask != 0 {
            return false;
        }
        seen[at / 64] |= mask;
    }
    true
}
