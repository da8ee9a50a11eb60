//! Instruction fetch, through the instruction L1 and the L1.5. Code does not change, so that only tags and times matter.

use super::super::Path;
use super::super::cache::Eviction;
use super::super::deferred::{Continuation, FillTarget, PENDING, Ticket};
use super::super::line::LONGEST_LINE;
use super::super::lower_levels::{SectorRead, count_eviction};
use super::super::policy::{self, LOADS};
use super::super::sm_caches::RecentFetch;
use super::{ClusterCaches, Requester};
use crate::DeviceMemory;
use heddle_isa::{CachePolicy, MemorySpace};

impl ClusterCaches {
    /// Fetches the line of code that holds byte `offset` for an SM; returns the cycle at which it is there,
    /// which may be pending. The next lines are fetched ahead, as far as there is code: `bytes` of it.
    pub fn fetch(&mut self, memory: &DeviceMemory, sm: usize, [offset, bytes]: [u64; 2], now: u64) -> u64 {
        let geometry = self.coalescer.geometry;
        let line = geometry.code_line(offset);
        let further = geometry.code_line(bytes.saturating_sub(1)).saturating_sub(line);
        let index = sm - self.first_sm;
        let caches = &mut self.sms[index];
        let before = caches.get(Path::Instruction).changes();
        if let Some(known) = caches.fetched.get(line, before) {
            caches.of(Path::Instruction).touch(known.frame, false);
            self.statistics.instruction.reads += 1;
            return now.max(known.ready);
        }
        let policy = policy::of(&LOADS, MemorySpace::Global, CachePolicy::Default);
        let sectors = geometry.all_sectors();
        let mut needed = None;
        let mut ready = now;
        for ahead in 0..=further.min(self.memory.instruction.prefetch.into()) {
            let cache = self.sms[index].of(Path::Instruction);
            let (frame, eviction) = match cache.find(line + ahead) {
                Some(frame) => {
                    if ahead == 0 {
                        cache.touch(frame, false);
                    }
                    (frame, Eviction::default())
                }
                None => cache.allocate(line + ahead, false),
            };
            if ahead == 0 {
                self.statistics.instruction.reads += 1;
            }
            if cache.valid(frame) == 0 {
                let counts = &mut self.statistics.instruction;
                count_eviction(counts, &eviction, geometry.sector_bytes as usize);
                counts.misses += u64::from(ahead == 0);
                let mut data = [0; LONGEST_LINE];
                let from = Requester { sm: index, now: now + u64::from(self.memory.instruction.latency), wait: 0 };
                let read = SectorRead { line: line + ahead, sectors, policy };
                let arrives = self.read_l15(memory, from, read, &mut data);
                self.fill(FillTarget::L1(index, Path::Instruction), frame, read, &data, arrives);
            }
            if ahead == 0 {
                needed = Some(frame);
                ready = ready.max(self.sms[index].get(Path::Instruction).ready(frame, sectors));
            }
        }
        let caches = &mut self.sms[index];
        if let (Some(frame), true) = (needed, caches.get(Path::Instruction).changes() == before && ready < PENDING) {
            let there = caches.get(Path::Instruction).ready(frame, sectors);
            caches.fetched.put(RecentFetch { line, changes: before, frame, ready: there });
        }
        ready
    }

    /// The instruction L1s get so many bytes of code from `offset` on, as far as they have room. Takes no time, and is
    /// not counted.
    pub fn bring_code(&mut self, [offset, bytes]: [u64; 2]) {
        let geometry = self.coalescer.geometry;
        let (first, last) = (geometry.code_line(offset), geometry.code_line(offset + bytes.max(1) - 1));
        for caches in &mut self.sms {
            let cache = caches.of(Path::Instruction);
            let room = cache.frames() as u64;
            for line in (first..=last).take(usize::try_from(room).unwrap_or(usize::MAX)) {
                if cache.find(line).is_none() {
                    let (frame, _) = cache.allocate(line, false);
                    cache.fill(frame, geometry.all_sectors(), &[0; LONGEST_LINE], 0);
                }
            }
        }
    }

    /// A warp waits for a line of code; [`Self::resume_deferred`] will tell with this token.
    pub fn wait_for_fetch(&mut self, token: u64, ready: u64) {
        self.deferred.defer(Continuation::Fetch(token, ready as Ticket));
    }
}
