//! What the caches of a cluster ask of the levels below, and what they do when the answers come.
//!
//! Where these answer at once, a request is served when it is made. Otherwise it is noted, with a ticket for
//! its answer ([`Deferred`](super::super::deferred::Deferred)); what the answer ends in one of the caches is done
//! as soon as it comes, and what else waits goes on in its order.

use std::collections::VecDeque;

use super::super::Path;
use super::super::cache::{Cache, LineFrame};
use super::super::coalescer::Transaction;
use super::super::deferred::{
    Arrival, Continuation, Fill, FillTarget, PENDING, PendingLoad, PendingMiss, Reply, Request, Ticket,
};
use super::super::line::{LineBytes, LineNumber, sectors_of};
use super::super::lower_levels::{LineWrite, ReadReply, SectorRead, count_eviction};
use super::super::policy::{AccessPolicy, L1Policy};
use super::super::tlb::{ArrivingRequest, Translation};
use super::super::undecided::Waiter;
use super::{ClusterCaches, Requester};
use crate::DeviceMemory;

impl ClusterCaches {
    /// A request for a line enters the network and takes its SM's port for some cycles. Returns its arrival at L2.
    #[inline]
    pub(super) fn inject(&mut self, from: Requester, line: LineNumber, cycles: u64) -> ArrivingRequest {
        let address = line * self.line_bytes();
        let sm = &mut self.sms[from.sm];
        let enters = sm.port.inject(from.leaves(), cycles);
        self.access.port_wait = enters - from.leaves();
        let (translation, looking_up) = sm.translation.look_up(address);
        if translation != Translation::None && sm.translation.has_tlb() {
            self.statistics.tlb.look_ups += 1;
            self.statistics.tlb.misses += u64::from(translation == Translation::Unknown);
        }
        ArrivingRequest { cycle: enters + looking_up + u64::from(self.memory.network.latency), translation }
    }

    /// A request for sectors enters the network. Returns its arrival at L2, and the cycles from there to the SM.
    #[inline]
    pub(super) fn send_read(&mut self, from: Requester, line: LineNumber, sectors: u64) -> (ArrivingRequest, u64) {
        let count = u64::from(sectors.count_ones());
        let network = self.memory.network;
        let interval = u64::from(network.interval);
        let arrives = self.inject(from, line, interval);
        let reply = self.sms[from.sm].port.reserve_reply(from.leaves(), interval * count);
        let back = reply - from.leaves() + interval * count + u64::from(network.latency);
        self.statistics.network_sectors += count;
        self.statistics.l2_to_l1_bytes += count * self.coalescer.geometry.sector_bytes;
        (arrives, back)
    }

    /// Requests sectors of L2 where it does not answer at once. Returns the ticket of the answer, and the cycle before which it
    /// does not come.
    #[inline]
    pub(super) fn request_later(&mut self, memory: &DeviceMemory, from: Requester, read: SectorRead<'static>) -> (Ticket, u64) {
        let (arrives, back) = self.send_read(from, read.line, read.sectors);
        // Until it is served, the host has time to fetch what L2 will miss.
        let first = u64::from(read.sectors.trailing_zeros()) * self.coalescer.geometry.sector_bytes;
        memory.prefetch(read.line * self.line_bytes() + first);
        let not_before = arrives.cycle + u64::from(self.memory.l2.latency) + back;
        let ticket = self.deferred.new_ticket(None, not_before);
        let data = self.deferred.new_box();
        let request = Request::Read { ticket, read, arrives, back, data };
        self.deferred.requests.push_back((self.deferred.now, request));
        (ticket, not_before)
    }

    /// Requests sectors of L2. Returns the cycle at which they are here, which may be pending.
    pub(super) fn read_lower(
        &mut self,
        memory: &DeviceMemory,
        from: Requester,
        read: SectorRead<'static>,
        out: &mut LineBytes,
    ) -> u64 {
        let Some(mut lower) = self.lower.take() else {
            let (ticket, _) = self.request_later(memory, from, read);
            self.access.tickets.push(ticket);
            return PENDING | u64::from(ticket);
        };
        let (arrives, back) = self.send_read(from, read.line, read.sectors);
        let ReadReply { ready, delay, waits_for } = lower.read(memory, read, arrives, out);
        let mut ready = ready + back;
        if !waits_for.is_empty() {
            let ticket = self.deferred.new_ticket(None, ready);
            self.access.tickets.push(ticket);
            let (cluster, made, far) = (self.number, self.deferred.now, lower.far_sectors);
            // The access counts them with the answer.
            lower.far_sectors = 0;
            let mut data = self.deferred.new_box();
            *data = *out;
            let waiter = Waiter { cluster, made, ticket, ready, back: delay + back, far, data };
            lower.wait(waiter, &waits_for);
            ready = PENDING | u64::from(ticket);
        }
        self.lower = Some(lower);
        ready
    }

    /// Sends bytes of a line to L2: an SM's store, or what its L1 evicted.
    pub(super) fn write_lower(&mut self, memory: &DeviceMemory, from: Requester, write: &LineWrite) {
        let count = u64::from(sectors_of(write.mask, self.sector_bytes()).count_ones());
        let arrives = self.inject(from, write.line, u64::from(self.memory.network.interval) * count);
        self.statistics.network_sectors += count;
        self.statistics.l1_to_l2_bytes += count * self.coalescer.geometry.sector_bytes;
        match &mut self.lower {
            Some(lower) => lower.write(memory, write, arrives),
            None => {
                let LineWrite { line, data, mask, policy, transactions } = *write;
                let mut copy = self.deferred.new_box();
                copy[..data.len()].copy_from_slice(data);
                let request = Request::Write { line, data: copy, mask: *mask, policy, arrives, transactions };
                self.deferred.requests.push_back((self.deferred.now, request));
            }
        }
    }

    /// A cache of the cluster.
    #[inline]
    pub(super) fn cache(&mut self, target: FillTarget) -> &mut Cache {
        match target {
            FillTarget::L1(sm, path) => self.sms[sm].of(path),
            FillTarget::L15 => &mut self.l15,
        }
    }

    /// Fills sectors of a line, which `read` asked for and which arrive at a cycle, now or later.
    #[inline]
    pub(super) fn fill(&mut self, target: FillTarget, frame: LineFrame, read: SectorRead, from: &LineBytes, arrives: u64) {
        if arrives < PENDING {
            self.cache(target).fill(frame, read.sectors, from, arrives);
        } else {
            self.fill_later(target, frame, read, arrives as Ticket, false);
        }
    }

    /// Sectors of a line come to a cache with an answer; until then they may hold a register of it.
    #[inline]
    pub(super) fn fill_later(
        &mut self,
        target: FillTarget,
        frame: LineFrame,
        read: SectorRead,
        ticket: Ticket,
        holds_register: bool,
    ) {
        self.cache(target).fill_later(frame, read.sectors, ticket);
        let fill = Some(Fill { frame, line: read.line, sectors: read.sectors });
        self.deferred.await_miss(ticket, PendingMiss { target, fill, holds_register });
    }

    /// Fills sectors of a line that an SM's L1 has missed, which takes one of its registers until they arrive, now or later.
    #[inline]
    pub(super) fn fill_miss(
        &mut self,
        (sm, path): (usize, Path),
        frame: LineFrame,
        read: SectorRead,
        from: &LineBytes,
        arrives: u64,
    ) {
        let cache = self.sms[sm].of(path);
        if arrives < PENDING {
            cache.mshrs.add(arrives);
            cache.fill(frame, read.sectors, from, arrives);
        } else {
            let ticket = arrives as Ticket;
            cache.mshrs.add_unknown(self.deferred.answer(ticket).not_before);
            self.fill_later(FillTarget::L1(sm, path), frame, read, ticket, true);
        }
    }

    /// A miss of an SM's L1 takes one of its registers until it returns, which may be pending.
    #[inline]
    pub(super) fn hold_mshr(&mut self, sm: usize, path: Path, returns: u64) {
        if returns < PENDING {
            self.sms[sm].of(path).mshrs.add(returns);
        } else {
            let not_before = self.deferred.answer(returns as Ticket).not_before;
            self.sms[sm].of(path).mshrs.add_unknown(not_before);
            let miss = PendingMiss { target: FillTarget::L1(sm, path), fill: None, holds_register: true };
            self.deferred.await_miss(returns as Ticket, miss);
        }
    }

    /// A reply will be recorded soon: the host may fetch what that changes in a cache and what waits for it. The answer should be in
    /// the host's caches by now ([`Deferred::prefetch_reply`](super::super::deferred::Deferred::prefetch_reply)).
    #[inline]
    pub fn prefetch_miss(&self, reply: &Reply) {
        let Some((target, frame)) = self.deferred.prefetch_waiting(reply) else { return };
        match target {
            FillTarget::L1(sm, path) => self.sms[sm].get(path).prefetch_frame(frame),
            FillTarget::L15 => self.l15.prefetch_frame(frame),
        }
    }

    /// Keeps a reply of the levels below, which ends a miss of one of the caches.
    #[inline]
    pub fn record_reply(&mut self, reply: Reply) {
        let ticket = reply.ticket();
        self.deferred.record_reply(reply);
        self.end_miss(ticket);
    }

    /// An answer has come: what waits for it in one of the caches arrives there.
    #[inline]
    pub(super) fn end_miss(&mut self, ticket: Ticket) {
        let ClusterCaches { deferred, sms, l15, .. } = self;
        let Some((PendingMiss { target, fill, holds_register }, answer)) = deferred.take_miss(ticket) else { return };
        let cache = match target {
            FillTarget::L1(sm, path) => sms[sm].of(path),
            FillTarget::L15 => l15,
        };
        if holds_register {
            cache.mshrs.resolve(answer.not_before, answer.ready);
        }
        if let Some(Fill { frame, line, sectors }) = fill {
            cache.arrive((line, frame), sectors, ticket, answer.line(), answer.ready);
        }
    }

    /// The most frequent miss: L1 has nothing of a line, and its sectors are asked of L2, which answers later. Returns the ticket
    /// of the answer, and the cycle at which the line has been looked up.
    #[inline]
    pub(super) fn miss_line(
        &mut self,
        memory: &DeviceMemory,
        (path, from): (Path, Requester),
        t: &Transaction,
        policy: &'static AccessPolicy,
    ) -> (Ticket, u64) {
        let looked_up = from.now + self.latencies[path as usize];
        let cache = self.sms[from.sm].of(path);
        let (frame, eviction) = cache.insert(t.line, policy.l1 != L1Policy::Normal);
        let counts = path.counts(&mut self.statistics);
        let count = u64::from(t.sectors.count_ones());
        counts.reads += count;
        counts.misses += count;
        count_eviction(counts, &eviction, self.coalescer.geometry.sector_bytes as usize);
        if let Some(dirty) = eviction.dirty {
            self.write_back(memory, (path, from), dirty);
        }
        let read = SectorRead { line: t.line, sectors: t.sectors, policy };
        let (ticket, not_before) = self.request_later(memory, Requester { now: looked_up, ..from }, read);
        self.sms[from.sm].of(path).mshrs.add_unknown(not_before);
        self.fill_later(FillTarget::L1(from.sm, path), frame, read, ticket, true);
        (ticket, looked_up + from.wait)
    }

    /// Goes on with what was put off and whose answers have been recorded, except for loads: `arrived` gets these, to be
    /// [completed](Self::complete_load), and what else SMs wait for. When all of the loads are completed, the answers are to be
    /// [forgotten](super::super::deferred::Deferred::forget).
    pub fn resume_deferred(&mut self, arrived: &mut VecDeque<Arrival>) {
        let sector = self.sector_bytes();
        while let Some(what) = self.deferred.take_known() {
            match what {
                Continuation::Load(load) => arrived.push_back(Arrival::Load(load)),
                Continuation::Fetch(token, ticket) => {
                    arrived.push_back(Arrival::Fetch(token, self.deferred.answer(ticket).ready));
                    self.deferred.release(&what);
                }
                Continuation::Combine(ref of) => {
                    self.deferred.combine(of, sector);
                    self.end_miss(of.ticket);
                    self.deferred.release(&what);
                }
            }
        }
    }

    /// A load that waited has its bytes: they are what [`Self::loaded`] says then.
    pub fn complete_load(&mut self, load: &mut PendingLoad) {
        let out = self.access.out.get_or_insert_with(super::loads::new_lane_words);
        self.deferred.complete(load, out, self.coalescer.geometry.sector_bytes as usize);
    }
}
