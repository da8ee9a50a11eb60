//! Atomics and cache control: accesses that act in L2, or on it. Cache control needs the levels below to answer at once.

use super::super::atomics::{AtomicOperation, LineAtomic};
use super::super::coalescer::{Part, Transaction};
use super::super::deferred::Request;
use super::super::line::{LONGEST_LINE, LaneOffsets, LineNumber};
use super::super::lower_levels::{CODE_BASE, LineWrite, SectorRead};
use super::super::policy::{self, LOADS, STORES};
use super::super::{Access, AccessCost, Path};
use super::loads::LineReply;
use super::{ClusterCaches, LineLoad, Requester};
use crate::DeviceMemory;
use heddle_isa::{CacheName, CacheOperation, CachePolicy};

impl ClusterCaches {
    /// Atomics, at L2, whose answers must come at once: `update` turns the 8 bytes at a lane's address into new ones.
    pub fn atomic(&mut self, memory: &DeviceMemory, access: &Access, update: &mut dyn FnMut(usize, u64) -> u64) {
        let (mut offsets, mut lines) = ([0; 64], std::mem::take(&mut self.access.atomics));
        let mut cost = self.send_atomic(access, &mut offsets, &mut lines);
        let was_urgent = self.set_urgent(true);
        if let Some(lower) = &mut self.lower {
            for line in &lines {
                let ready = line.perform((&mut **lower, memory), &offsets, access.bytes as usize, update);
                cost.ready = cost.ready.max(ready);
            }
        }
        self.set_urgent(was_urgent);
        self.access.atomics = lines;
        self.end_access(cost);
    }

    /// The same where the answer comes later: what the lanes find is known when the load that waits for it is
    /// [completed](Self::complete_load). `describe` says what the lanes do.
    pub fn defer_atomic(&mut self, access: &Access, describe: impl FnOnce(&mut AtomicOperation)) {
        let mut atomic = self.deferred.new_atomic();
        describe(&mut atomic.operation);
        let mut cost = self.send_atomic(access, &mut atomic.offsets, &mut atomic.lines);
        let latency = u64::from(self.memory.l2.latency);
        if let Some(not_before) = atomic.lines.iter().map(|l| l.arrives.cycle + latency + l.back).max() {
            let ticket = self.deferred.new_ticket(None, not_before);
            self.deferred.requests.push_back((self.deferred.now, Request::Atomic { ticket, atomic }));
            let mut load = self.deferred.new_load();
            (load.atomic, load.ready) = (Some(ticket), cost.ready);
            load.asked.push(ticket);
            self.access.load = Some(load);
            cost.pending = true;
        } else {
            self.deferred.recycle_atomic(atomic);
        }
        self.end_access(cost);
    }

    /// Sends the transactions of an atomic to L2: they leave no copy on the way, and are `lines` then.
    fn send_atomic(&mut self, access: &Access, offsets: &mut LaneOffsets, lines: &mut Vec<LineAtomic>) -> AccessCost {
        let mut cost = self.begin_access(access);
        lines.clear();
        let transactions = self.coalescer.coalesce(access, Part::all(access), offsets);
        let (network, sector_bytes) = (self.memory.network, self.coalescer.geometry.sector_bytes);
        for t in &transactions {
            let from = self.next_transaction(access, t, &mut cost);
            self.discard(from.sm, t.line);
            let count = u64::from(t.sectors.count_ones());
            let interval = u64::from(network.interval) * count;
            let arrives = self.inject(from, t.line, interval);
            self.statistics.network_sectors += 2 * count;
            self.statistics.l1_to_l2_bytes += count * sector_bytes;
            self.statistics.l2_to_l1_bytes += count * sector_bytes;
            let back = interval + u64::from(network.latency);
            lines.push(LineAtomic { line: t.line, sectors: t.sectors, lanes: t.lanes, arrives, back });
        }
        self.coalescer.recycle(transactions);
        cost
    }

    /// Cache control (K5), where the levels below answer at once. `status` gets bit 0
    /// (valid) and bit 1 (dirty) of each lane's sector for `qry1`.
    pub fn control(&mut self, memory: &DeviceMemory, cache: CacheName, op: CacheOperation, access: &Access, status: &mut [u32]) {
        let mut cost = self.begin_access(access);
        if op == CacheOperation::Ivall {
            self.invalidate_l1(memory, cache.into(), access, &mut cost);
            return self.end_access(cost);
        }
        let mut offsets = [0; 64];
        let mut transactions = self.coalescer.coalesce(access, Part::all(access), &mut offsets);
        if cache == CacheName::I {
            let first = CODE_BASE / self.line_bytes();
            transactions.iter_mut().for_each(|t| t.line += first);
        }
        for t in &transactions {
            let from = self.next_transaction(access, t, &mut cost);
            let l1 = self.sms[from.sm].of(cache.into());
            let frame = l1.find(t.line);
            let mut dirty = None;
            match op {
                CacheOperation::Qry1 => {
                    for lane in (0..64).filter(|l| t.lanes >> l & 1 == 1) {
                        let sector = u64::from(offsets[lane]) / self.coalescer.geometry.sector_bytes;
                        status[lane] = frame.map_or(0, |f| {
                            u32::from(l1.valid(f) >> sector & 1 == 1 || l1.is_dirty(f)) | u32::from(l1.is_dirty(f)) << 1
                        });
                    }
                    cost.ready = cost.ready.max(from.leaves() + u64::from(self.memory.data.latency));
                }
                CacheOperation::Wb => dirty = frame.and_then(|f| l1.clean(f)),
                CacheOperation::Iv => dirty = frame.and_then(|f| l1.take(f)),
                CacheOperation::Rs => {
                    l1.discard(t.line);
                }
                CacheOperation::Pf1 | CacheOperation::Pf15 | CacheOperation::Pf2 => {
                    let policy = policy::of(&LOADS, access.space, CachePolicy::Default);
                    let load =
                        LineLoad { path: cache.into(), from, transaction: *t, policy, covers_line: false, found: frame, part: 0 };
                    self.prefetch(memory, op, &load);
                }
                CacheOperation::Ivall => {}
            }
            if let Some(dirty) = dirty {
                let write = LineWrite::of_dirty(&dirty, policy::of(&STORES, access.space, CachePolicy::Default));
                let sectors = super::sectors_of(write.mask, self.sector_bytes());
                self.statistics.data.written_back += u64::from(sectors.count_ones());
                self.write_lower(memory, from, &write);
            }
        }
        self.coalescer.recycle(transactions);
        self.end_access(cost);
    }

    /// Empties an L1 of the access's SM; what is dirty is written back.
    fn invalidate_l1(&mut self, memory: &DeviceMemory, path: Path, access: &Access, cost: &mut AccessCost) {
        let policy = policy::of(&STORES, access.space, CachePolicy::Default);
        let from = Requester { sm: access.sm - self.first_sm, now: access.now, wait: self.wait };
        let dirty = self.sms[from.sm].of(path).take_all();
        cost.lines = dirty.len() as u32;
        for line in dirty {
            self.write_lower(memory, from, &LineWrite::of_dirty(&line, policy));
        }
    }

    /// Brings a line into L1, L1.5 or L2 for later, if there is memory behind it. Nobody waits for it.
    fn prefetch(&mut self, memory: &DeviceMemory, op: CacheOperation, load: &LineLoad) {
        let LineLoad { from, transaction: Transaction { line, sectors, .. }, policy, .. } = *load;
        if !self.exists(memory, line) {
            return;
        }
        let mut data = [0; LONGEST_LINE];
        let read = SectorRead { line, sectors, policy };
        match op {
            CacheOperation::Pf1 => {
                self.read_line(memory, load, &mut data, &mut LineReply::default());
            }
            CacheOperation::Pf15 => {
                self.read_l15(memory, from, read, &mut data);
            }
            _ => {
                let arrives = self.inject(from, line, u64::from(self.memory.network.interval));
                if let Some(lower) = &mut self.lower {
                    lower.prefetch(memory, read, arrives);
                }
            }
        }
    }

    /// Whether a line can be fetched ahead.
    fn exists(&mut self, memory: &DeviceMemory, line: LineNumber) -> bool {
        self.lower.as_mut().is_some_and(|l| l.exists(memory, line))
    }
}
