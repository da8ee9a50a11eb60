//! Atomics and cache control: accesses that need the levels below to answer at once.

use super::super::below::{CODE_BASE, LONGEST_LINE, LineBytes, touched};
use super::super::cache::LineNumber;
use super::super::policy::{self, LOADS, Row, STORES};
use super::super::{Access, Done};
use super::{Near, Requester, Waits};
use crate::DeviceMemory;
use heddle_isa::{CacheName, CacheOperation, CachePolicy, MemorySpace};

impl Near {
    /// Atomics, at L2, whose answers must come at once: `update` turns the 8 bytes at a lane's address into new ones.
    pub fn atomic(&mut self, memory: &DeviceMemory, a: &Access, update: &mut dyn FnMut(usize, u64) -> u64) -> Done {
        // The line is fetched from system memory each time and written through, so that the host sees atomics and they see the host's stores.
        let row = policy::of(&LOADS, MemorySpace::Global, CachePolicy::Cv);
        let row = &Row { device: policy::Far::Normal, ..*row };
        let mut done = Done { ready: a.now, ..Done::default() };
        self.begin();
        let mut places = [0; 64];
        let pieces = self.coalesce(a, 0, &mut places);
        let bytes = a.bytes as usize;
        for r in &pieces {
            let who = Requester { sm: a.sm, now: a.now + u64::from(done.lines) };
            done.lines += 1;
            done.sectors += r.sectors.count_ones();
            self.discard(who.sm, r.line);
            let mut all = |line: &mut LineBytes| {
                let mut mask = [0u64; 4];
                for lane in (0..64).filter(|l| r.lanes >> l & 1 == 1) {
                    let at = usize::from(places[lane]);
                    let mut cell = [0; 8];
                    cell[..bytes].copy_from_slice(&line[at..at + bytes]);
                    let new = update(lane, u64::from_le_bytes(cell)).to_le_bytes();
                    line[at..at + bytes].copy_from_slice(&new[..bytes]);
                    mask[at / 64] |= (u64::MAX >> (64 - bytes)) << (at % 64);
                }
                mask
            };
            let n = self.memory.network;
            let count = u64::from(r.sectors.count_ones());
            let interval = u64::from(n.interval) * count;
            let arrives = self.leave(who, interval);
            self.statistics.network_sectors += 2 * count;
            self.statistics.l1_to_l2_bytes += count * self.sector_bytes;
            self.statistics.l2_to_l1_bytes += count * self.sector_bytes;
            let Some(below) = &mut self.below else { continue };
            let ready = below.atomic(memory, r.line, r.sectors, row, arrives, r.lanes.count_ones(), &mut all);
            done.ready = done.ready.max(ready + interval + u64::from(n.latency));
        }
        self.pieces = pieces;
        self.close(&mut done);
        done
    }

    /// Whether a line can be fetched ahead.
    fn exists(&self, memory: &DeviceMemory, line: LineNumber) -> bool {
        self.below.as_ref().is_some_and(|b| b.exists(memory, line))
    }

    /// Cache control (K5), where the levels below answer at once. Returns the cost; `status` gets bit 0 (valid) and bit 1 (dirty) of each lane's sector for `qry1`.
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
        self.begin();
        let latency = u64::from(self.memory.data.latency);
        let sector_bytes = self.sector_bytes;
        if op == CacheOperation::Ivall {
            let dirty = self.sm(a.sm).of(cache.into()).take_all();
            done.lines = dirty.len() as u32;
            for d in dirty {
                let who = Requester { sm: a.sm, now: a.now };
                self.tell(memory, who, d.line, &d.data, &d.bytes, written, 1);
            }
            self.close(&mut done);
            return done;
        }
        let mut places = [0; 64];
        let mut pieces = self.coalesce(a, 0, &mut places);
        if cache == CacheName::I {
            pieces.iter_mut().for_each(|r| r.line += CODE_BASE / self.line_bytes);
        }
        for r in &pieces {
            let who = Requester { sm: a.sm, now: a.now + u64::from(done.lines) };
            done.lines += 1;
            done.sectors += r.sectors.count_ones();
            let l1 = self.sm(a.sm).of(cache.into());
            let place = l1.find(r.line);
            let mut dirty = None;
            match op {
                CacheOperation::Qry1 => {
                    for lane in (0..64).filter(|l| r.lanes >> l & 1 == 1) {
                        let sector = u64::from(places[lane]) / sector_bytes;
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
                    if self.exists(memory, r.line) {
                        let mut data = [0; LONGEST_LINE];
                        let mut ignored = Done::default();
                        self.read_line(memory, cache.into(), who, r, row, false, &mut data, &mut ignored, &mut Waits::default());
                    }
                }
                CacheOperation::Pf15 => {
                    if self.exists(memory, r.line) {
                        let mut data = [0; LONGEST_LINE];
                        self.read_l15(memory, who, r.line, r.sectors, row, &mut data);
                    }
                }
                CacheOperation::Pf2 => {
                    if self.exists(memory, r.line) {
                        let arrives = self.leave(who, u64::from(self.memory.network.interval));
                        if let Some(below) = &mut self.below {
                            below.prefetch(memory, r.line, r.sectors, row, arrives);
                        }
                    }
                }
                CacheOperation::Ivall => {}
            }
            if let Some(d) = dirty {
                self.statistics.data.written_back += u64::from(touched(&d.bytes, self.sector_bytes as usize).count_ones());
                self.tell(memory, who, d.line, &d.data, &d.bytes, written, 1);
            }
        }
        self.pieces = pieces;
        self.close(&mut done);
        done
    }
}
