//! The caches of an SM cluster: the L1 caches of some SMs, their ports to the network, and the L1.5 that the
//! SMs share.
//!
//! What lies further down is shared by all SMs. With [`ClusterCaches::lower`] in place, its answers come at
//! once. Without, a request only gets a ticket, and what the answer is needed for is put off (see
//! [`deferred`](super::deferred)); cache control cannot be.

mod control;
mod fetch;
mod loads;
mod misses;

use super::atomics::LineAtomic;
use super::cache::{Cache, DirtyBox, LineFrame, Organization, WriteKind};
use super::coalescer::{Coalescer, Transaction};
use super::deferred::{Combination, Continuation, Deferred, FillTarget, LoadBox, PENDING, SectorTickets, Ticket};
use super::line::{LONGEST_LINE, LaneBytes, LaneWords, LineBytes, LineNumber, copy_sectors, sectors_of};
use super::lower_levels::{LineWrite, LowerLevels, PRIVATE_BASE, SectorRead, count_eviction};
use super::policy::{self, AccessPolicy, L1Policy, STORES};
use super::sm_caches::SmCaches;
use super::{Access, AccessCost, Path};
use crate::DeviceMemory;
use crate::snapshot::Snapshot;
use crate::statistics::HierarchyStatistics;
use heddle_isa::{CachePolicy, MemorySpace};
use heddle_target::{DramScheduler, Machine, WritePolicy};

/// The SM that makes a request, and when.
#[derive(Clone, Copy, Debug)]
struct Requester {
    /// Number of the SM in its cluster.
    sm: usize,
    /// Cycle of the request, or, of an instruction that waits for its unit, that in which it would be made without: what is
    /// found is decided by what is known then.
    now: u64,
    /// How much later it is made.
    wait: u64,
}

impl Requester {
    /// Cycle in which the request is made.
    #[inline]
    fn leaves(&self) -> u64 {
        self.now + self.wait
    }
}

/// One transaction of a load, for [`ClusterCaches::read_line`].
struct LineLoad {
    path: Path,
    from: Requester,
    transaction: Transaction,
    policy: &'static AccessPolicy,
    /// The lanes read every byte of the line, and none twice.
    covers_line: bool,
    /// Where the line is in L1.
    found: Option<LineFrame>,
    /// The number of the part of the access.
    part: u8,
}

/// The access that is being performed.
#[derive(Default)]
struct CurrentAccess {
    /// Cycles that its last request waited at the SM's port.
    port_wait: u64,
    /// Tickets that it got.
    tickets: Vec<Ticket>,
    /// What the lanes of a load have got, as far as it is known.
    out: Option<Box<LaneWords>>,
    /// The load itself, if it waits for answers.
    load: Option<LoadBox>,
    /// The lines of an atomic, kept for the next one.
    atomics: Vec<LineAtomic>,
}

/// Why a load needs a miss register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Miss {
    /// It goes past L1.
    Always,
    /// L1 has not, and does not wait for, all of these sectors of a line.
    Sectors(LineNumber, u64),
}

impl Miss {
    /// Whether a load still misses an L1 that did when it was probed.
    #[inline]
    pub fn still_is(self, l1: &Cache) -> bool {
        match self {
            Miss::Always => true,
            Miss::Sectors(line, sectors) => l1.find(line).is_none_or(|f| sectors & !l1.valid(f) != 0),
        }
    }
}

/// A line on its way for which so many wait that a load has to come later.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FullLine {
    /// The line.
    line: LineNumber,
    /// Requests of the load that may want it.
    requests: u64,
}

impl FullLine {
    /// Whether a load still finds too many waiting at a cycle where one did when it was probed.
    #[inline]
    pub fn still_is(self, l1: &Cache, now: u64) -> bool {
        l1.is_full(self.line, self.requests, now)
    }
}

/// What loads would do that are not performed.
#[derive(Clone, Copy, Debug, Default)]
pub struct Probe {
    /// One needs a miss register.
    pub miss: Option<Miss>,
    /// Enough wait for a line that one of them needs.
    pub full: Option<FullLine>,
}

/// The caches of an SM cluster.
pub struct ClusterCaches {
    /// The cluster's number, and that of its first SM.
    number: usize,
    first_sm: usize,
    sms: Vec<SmCaches>,
    l15: Cache,
    /// The levels below, where they answer at once.
    pub lower: Option<Box<LowerLevels>>,
    /// Requests to them otherwise, and what waits for the answers.
    pub deferred: Deferred,
    access: CurrentAccess,
    /// While loads are probed: what has been found.
    probed: Option<Probe>,
    coalescer: Coalescer,
    memory: heddle_target::Memory,
    /// By [`Path`]: cycles of a hit in its L1, and to find a miss.
    latencies: [u64; 4],
    /// DRAM chooses among requests, so that replies come late even where the levels below answer at once.
    chooses: bool,
    /// Loads need their bytes at once.
    urgent_loads: bool,
    /// No answer that is still to come is there before this cycle.
    pub no_answer_before: u64,
    /// Cycles that the instruction whose accesses come waits for its operands and its unit: they begin so much later.
    pub wait: u64,
    /// What the last access cost, until the next one or a probe.
    pub cost: AccessCost,
    /// What L1 and L1.5 caches and the network count.
    pub statistics: HierarchyStatistics,
}

impl ClusterCaches {
    /// Empty caches of the SMs from `first_sm` on that share an L1.5.
    pub fn new(machine: &Machine, first_sm: usize) -> ClusterCaches {
        let m = &machine.memory;
        let end = (first_sm + m.l15.sms as usize).min(machine.sm.count as usize);
        let l15 = Organization {
            bytes: m.l15.bytes,
            ways: m.l15.ways,
            line_bytes: m.line_bytes,
            sector_bytes: m.sector_bytes,
            misses: 1,
            merges: 0,
            replacement: m.l15.replacement,
            index: m.l15.index,
            slices: 1,
            number: first_sm as u64,
        };
        ClusterCaches {
            number: first_sm / m.l15.sms as usize,
            first_sm,
            sms: (first_sm..end).map(|n| SmCaches::new(m, n)).collect(),
            l15: Cache::new(&l15),
            lower: None,
            deferred: Deferred::default(),
            access: CurrentAccess::default(),
            probed: None,
            coalescer: Coalescer::new(machine),
            memory: m.clone(),
            latencies: [m.data.latency, m.uniform.latency, m.constant.latency, m.instruction.latency].map(u64::from),
            chooses: m.dram.scheduler == DramScheduler::FrFcfs,
            urgent_loads: false,
            no_answer_before: 0,
            wait: 0,
            cost: AccessCost::default(),
            statistics: HierarchyStatistics::default(),
        }
    }

    /// A launch begins at cycle 0: nothing is on its way.
    pub fn start(&mut self) {
        self.statistics = HierarchyStatistics::default();
        self.deferred = Deferred::default();
        self.no_answer_before = 0;
        self.l15.restart_clock();
        self.sms.iter_mut().for_each(SmCaches::restart_clock);
    }

    /// A launch ends: private memory is gone.
    pub fn finish(&mut self) {
        let private = PRIVATE_BASE / self.line_bytes()..=LineNumber::MAX;
        self.sms.iter_mut().for_each(|sm| sm.of(Path::Data).discard_range(&private));
    }

    /// Exchanges what the caches hold.
    pub fn exchange(&mut self, snapshot: &mut Snapshot) {
        for sm in &mut self.sms {
            sm.all().iter_mut().for_each(|cache| cache.exchange(snapshot));
            sm.translation.exchange(snapshot);
        }
        self.l15.exchange(snapshot);
    }

    /// The driver's invalidation between dependent launches (K6).
    pub fn invalidate(&mut self) {
        for sm in &mut self.sms {
            for path in [Path::Data, Path::Uniform, Path::Constant] {
                sm.of(path).take_all();
            }
        }
        self.l15.take_all();
    }

    #[inline]
    fn line_bytes(&self) -> u64 {
        self.coalescer.geometry.line_bytes
    }

    #[inline]
    fn sector_bytes(&self) -> usize {
        self.coalescer.geometry.sector_bytes as usize
    }

    /// An SM of the cluster, by its machine-wide number.
    #[inline]
    fn sm(&mut self, number: usize) -> &mut SmCaches {
        &mut self.sms[number - self.first_sm]
    }

    /// An access begins. Returns what it costs if it touches nothing.
    #[inline]
    fn begin_access(&mut self, access: &Access) -> AccessCost {
        self.access.port_wait = 0;
        self.access.tickets.clear();
        if let Some(lower) = &mut self.lower {
            lower.far_sectors = 0;
        }
        AccessCost { ready: access.now + self.wait, ..AccessCost::default() }
    }

    /// The next transaction of an access is looked up: one a cycle.
    #[inline]
    fn next_transaction(&self, access: &Access, transaction: &Transaction, cost: &mut AccessCost) -> Requester {
        let from = Requester { sm: access.sm - self.first_sm, now: access.now + u64::from(cost.lines), wait: self.wait };
        cost.lines += 1;
        cost.sectors += transaction.sectors.count_ones();
        from
    }

    /// The end of an access: what the load-store unit waits for. Requests that wait at the port longer than
    /// its queue holds stop the unit.
    #[inline]
    fn end_access(&mut self, mut cost: AccessCost) {
        let backlog = self.access.port_wait.saturating_sub(u64::from(self.memory.network.queue));
        cost.busy = cost.busy.max(cost.lines).max(1) + backlog as u32;
        cost.far = self.lower.as_ref().map_or(0, |b| b.far_sectors);
        self.cost = cost;
    }

    /// Reads sectors through the L1.5. Returns the cycle at which they arrive, which may be pending.
    fn read_l15(&mut self, memory: &DeviceMemory, from: Requester, read: SectorRead<'static>, out: &mut LineBytes) -> u64 {
        let SectorRead { line, sectors, .. } = read;
        let at = from.now + u64::from(self.memory.l15.latency);
        if self.urgent_loads {
            self.l15.give_up(line, sectors, at);
        }
        let (frame, eviction) = self.l15.allocate(line, false);
        let sector_bytes = self.sector_bytes();
        count_eviction(&mut self.statistics.l15, &eviction, sector_bytes);
        let missing = sectors & !self.l15.valid(frame);
        self.statistics.l15.reads += u64::from(sectors.count_ones());
        self.statistics.l15.misses += u64::from(missing.count_ones());
        if missing != 0 {
            let read = SectorRead { sectors: missing, ..read };
            let arrives = self.read_lower(memory, Requester { now: at, ..from }, read, out);
            self.fill(FillTarget::L15, frame, read, out, arrives);
        }
        let bytes = self.l15.bytes(frame);
        let ready = self.l15.ready(frame, sectors);
        if ready < PENDING {
            copy_sectors(out, bytes, sectors, sector_bytes);
            return ready.max(at + from.wait);
        }
        let mut parts = SectorTickets::new();
        self.l15.pending(frame, sectors, &mut parts);
        let known = sectors & !parts.iter().fold(0, |all, p| all | p.1);
        let base = self.l15.ready(frame, known).max(at + from.wait);
        let not_before = parts.iter().map(|p| self.deferred.answer(p.0).not_before).fold(base, u64::max);
        let data = (known != 0).then(|| {
            let mut data = self.deferred.new_box();
            copy_sectors(&mut data[..], bytes, known, sector_bytes);
            data
        });
        let ticket = self.deferred.new_ticket(data, not_before);
        self.deferred.defer(Continuation::Combine(Box::new(Combination { ticket, base, parts })));
        PENDING | u64::from(ticket)
    }

    /// Whether DRAM serves what follows at once, before all that wait. Returns whether it did before.
    pub fn set_urgent(&mut self, urgent: bool) -> bool {
        self.lower.as_mut().is_some_and(|l| std::mem::replace(&mut l.urgent, urgent))
    }

    /// Whether loads get their bytes and times at once, where the levels below answer: DRAM serves them before
    /// all others, and what is on its way for others is asked for again.
    pub fn set_urgent_loads(&mut self, urgent: bool) {
        self.urgent_loads = urgent && self.chooses;
        self.set_urgent(urgent);
    }

    /// An SM's L1.
    #[inline]
    pub fn l1(&mut self, sm: usize, path: Path) -> &mut Cache {
        self.sm(sm).of(path)
    }

    /// Loads are only cut into transactions from now on, which are looked at.
    pub fn begin_probe(&mut self) {
        self.probed = Some(Probe::default());
    }

    /// Loads are performed again. Returns what was found.
    pub fn end_probe(&mut self) -> Probe {
        self.probed.take().unwrap_or_default()
    }

    /// An SM's L1 writes back a line that it has evicted.
    #[cold]
    fn write_back(&mut self, memory: &DeviceMemory, (path, from): (Path, Requester), dirty: DirtyBox) {
        let policy = policy::of(&STORES, MemorySpace::Private, CachePolicy::Default);
        self.write_lower(memory, from, &LineWrite::of_dirty(&dirty, policy));
        self.sms[from.sm].of(path).recycle(dirty);
    }

    /// A store of `values`: by word, one for each lane.
    pub fn store(&mut self, memory: &DeviceMemory, access: &Access, values: &[&[u32]]) {
        let policy = policy::of(&STORES, access.space, access.policy);
        let mut cost = self.begin_access(access);
        let mut offsets = [0; 64];
        for part in self.coalescer.parts(access) {
            let transactions = self.coalescer.coalesce(access, part, &mut offsets);
            for t in &transactions {
                let from = self.next_transaction(access, t, &mut cost);
                let mut line = [0; LONGEST_LINE];
                let lanes = LaneBytes { lanes: t.lanes, offsets: &offsets, bytes: part.bytes.into(), to: part.first_word() };
                let mask = lanes.gather(values, &mut line);
                let transactions = t.lanes.count_ones();
                let write = LineWrite { line: t.line, data: &line, mask: &mask, policy, transactions };
                if access.space == MemorySpace::Private {
                    self.store_private(memory, from, &write);
                } else {
                    self.discard(from.sm, t.line);
                    self.write_lower(memory, from, &write);
                }
            }
            self.coalescer.recycle(transactions);
        }
        self.end_access(cost);
    }

    /// A store to private memory, which the data L1 keeps until it is evicted, unless it writes through.
    fn store_private(&mut self, memory: &DeviceMemory, from: Requester, write: &LineWrite) {
        let sector = self.sector_bytes();
        let description = self.memory.data;
        let cache = self.sms[from.sm].of(Path::Data);
        if !description.write_allocate && cache.find(write.line).is_none() {
            return self.write_lower(memory, from, write);
        }
        let counts = &mut self.statistics.data;
        let (frame, eviction) = cache.allocate(write.line, write.policy.l1 != L1Policy::Normal);
        count_eviction(counts, &eviction, sector);
        counts.writes += u64::from(sectors_of(write.mask, sector).count_ones());
        let through = description.write == WritePolicy::Through;
        let kind = if through { WriteKind::Through(from.now) } else { WriteKind::Dirty };
        cache.write(frame, write.data, write.mask, kind);
        if let Some(dirty) = eviction.dirty {
            self.write_lower(memory, from, &LineWrite::of_dirty(&dirty, write.policy));
            self.sms[from.sm].of(Path::Data).recycle(dirty);
        }
        if through {
            self.write_lower(memory, from, write);
        }
    }

    /// K4 [1]: a global store leaves no copy on its SM's way to L2.
    fn discard(&mut self, sm: usize, line: LineNumber) {
        let caches = &mut self.sms[sm];
        let found = [Path::Data, Path::Uniform].into_iter().map(|path| u64::from(caches.of(path).discard(line))).sum::<u64>();
        self.l15.discard(line);
        self.statistics.data.discarded += found;
    }

    /// State of a line in an SM's data L1: valid sectors, dirty, first to be evicted.
    pub fn l1_state(&self, sm: usize, address: u64) -> Option<(u64, bool, bool)> {
        let cache = self.sms[sm - self.first_sm].get(Path::Data);
        let frame = cache.find(address / self.line_bytes())?;
        Some((cache.valid(frame), cache.is_dirty(frame), cache.is_evict_first(frame)))
    }

    /// Address under which [`Self::l1_state`] knows a byte of a lane's private memory.
    pub fn private_address(&self, base: u64, lane: u64, offset: u64) -> u64 {
        self.coalescer.private_address(base, lane, offset)
    }
}
