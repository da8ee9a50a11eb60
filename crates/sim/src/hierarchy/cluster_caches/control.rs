//! Atomics and cache control: accesses that need the levels below to answer at once.

use super::super::coalescer::Transaction;
use super::super::line::{ByteMask, LONGEST_LINE, LineBytes, LineNumber, add_bytes};
use super::super::lower_levels::{CODE_BASE, LineWrite, SectorRead};
use super::super::policy::{self, AccessPolicy, L2Policy, LOADS, STORES};
use super::super::{Access, AccessCost, Path};
use super::{ClusterCaches, LineLoad, Requester};
use crate::DeviceMemory;
use heddle_isa::{CacheName, CacheOperation, CachePolicy, MemorySpace};

impl ClusterCaches {
    /// Atomics, at L2, whose answers must come at once: `update` turns the 8 bytes at a lane's address into new ones.
    pub fn atomic(&mut self, memory: &DeviceMemory, access: &Access, update: &mut dyn FnMut(usize, u64) -> u64) -> AccessCost {
        // The line is fetched from system memory each time and written through, so that the host sees atomics
        // and they see the host's stores.
        let policy = policy::of(&LOADS, MemorySpace::Global, CachePolicy::Cv);
        let policy = &AccessPolicy { l2_device: L2Policy::Normal, ..*policy };
        let mut cost = AccessCost { ready: access.now, ..AccessCost::default() };
        self.begin_access();
        let was_urgent = self.set_urgent(true);
        let mut offsets = [0; 64];
        let transactions = self.coalescer.coalesce(access, 0, &mut offsets);
        let bytes = access.bytes as usize;
        for t in &transactions {
            let from = self.next_transaction(access, t, &mut cost);
            self.discard(from.sm, t.line);
            let mut all = |line: &mut LineBytes| {
                let mut mask = ByteMask::default();
                for lane in (0..64).filter(|l| t.lanes >> l & 1 == 1) {
                    let at = usize::from(offsets[lane]);
                    let mut cell = [0; 8];
                    cell[..bytes].copy_from_slice(&line[at..at + bytes]);
                    let new = update(lane, u64::from_le_bytes(cell)).to_le_bytes();
                    line[at..at + bytes].copy_from_slice(&new[..bytes]);
                    add_bytes(&mut mask, at, bytes);
                }
                mask
            };
            let network = self.memory.network;
            let count = u64::from(t.sectors.count_ones());
            let interval = u64::from(network.interval) * count;
            let arrives = self.inject(from, t.line, interval);
            let sector_bytes = self.coalescer.geometry.sector_bytes;
            self.statistics.network_sectors += 2 * count;
            self.statistics.l1_to_l2_bytes += count * sector_bytes;
            self.statistics.l2_to_l1_bytes += count * sector_bytes;
            let Some(lower) = &mut self.lower else { continue };
            let read = SectorRead { line: t.line, sectors: t.sectors, policy };
            let ready = lower.atomic(memory, read, arrives, t.lanes.count_ones(), &mut all);
            cost.ready = cost.ready.max(ready + interval + u64::from(network.latency));
        }
        self.set_urgent(was_urgent);
        self.coalescer.recycle(transactions);
        self.end_access(&mut cost);
        cost
    }

    /// Cache control (K5), where the levels below answer at once. Returns the cost; `status` gets bit 0
    /// (valid) and bit 1 (dirty) of each lane's sector for `qry1`.
    pub fn control(
        &mut self,
        memory: &DeviceMemory,
        cache: CacheName,
        op: CacheOperation,
        access: &Access,
        status: &mut [u32],
    ) -> AccessCost {
        let mut cost = AccessCost { ready: access.now, ..AccessCost::default() };
        self.begin_access();
        if op == CacheOperation::Ivall {
            self.invalidate_l1(memory, cache.into(), access, &mut cost);
            self.end_access(&mut cost);
            return cost;
        }
        let mut offsets = [0; 64];
        let mut transactions = self.coalescer.coalesce(access, 0, &mut offsets);
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
                    cost.ready = cost.ready.max(from.now + u64::from(self.memory.data.latency));
                }
                CacheOperation::Wb => dirty = frame.and_then(|f| l1.clean(f)),
                CacheOperation::Iv => dirty = frame.and_then(|f| l1.take(f)),
                CacheOperation::Rs => {
                    l1.discard(t.line);
                }
                CacheOperation::Pf1 | CacheOperation::Pf15 | CacheOperation::Pf2 => {
                    let policy = policy::of(&LOADS, access.space, CachePolicy::Default);
                    let load = LineLoad { path: cache.into(), from, transaction: *t, policy, covers_line: false, found: frame };
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
        self.end_access(&mut cost);
        cost
    }

    /// Empties an L1 of the access's SM; what is dirty is written back.
    fn invalidate_l1(&mut self, memory: &DeviceMemory, path: Path, access: &Access, cost: &mut AccessCost) {
        let policy = policy::of(&STORES, access.space, CachePolicy::Default);
        let from = Requester { sm: access.sm - self.first_sm, now: access.now };
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
                self.read_line(memory, load, &mut data);
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
