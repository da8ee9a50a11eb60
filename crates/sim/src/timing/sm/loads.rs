//! Loads whose bytes come late: what happens when they are there, and which loads may not begin before.

use super::super::super::exec::Late;
use super::super::super::hierarchy::AccessCost;
use super::super::super::hierarchy::cluster_caches::Probe;
use super::super::super::hierarchy::deferred::{Arrival, PendingLoad};
use super::super::super::trace::Issued;
use super::super::statics::Way;
use super::issue::Issue;
use super::load_queue::{OutstandingLoad, number_of, token};
use super::scoreboard::Ready;
use super::slot::Slot;
use super::{LaunchContext, Sm};

impl<'a, const N: usize, const W: usize> Sm<'a, N, W> {
    /// A load that has issued waits for its bytes, beside which it takes `latency` cycles.
    #[inline]
    pub(super) fn await_load(&mut self, issue: &Issue, late: Late<N>, latency: u64) {
        let Issue { slot: s, index, now, lanes, unit, .. } = *issue;
        let slot = &mut self.warps.slots[s];
        slot.loads += 1;
        let Late { finish, mask } = late;
        let generation = slot.generation;
        let load = OutstandingLoad { slot: s, generation, index, issued: now, latency, finish, mask, lanes, unit };
        let number = self.loads.add(load);
        self.caches.borrow_mut().wait_for_load(token(self.number, number));
    }

    /// Wakes the warp that waits for a line of code or for a load's bytes.
    pub fn wake(&mut self, c: &LaunchContext<'a, N>, arrival: Arrival) {
        match arrival {
            Arrival::Fetch(token, ready) => {
                let s = number_of(token);
                let slot = &mut self.warps.slots[s];
                slot.code_ready = ready.max(slot.begin);
                self.resolve(c, s);
            }
            Arrival::Load(load) => {
                self.complete_load(c, &load);
                self.caches.borrow_mut().deferred.recycle_load(load);
            }
        }
    }

    /// A load has its bytes.
    fn complete_load(&mut self, c: &LaunchContext<'a, N>, load: &PendingLoad) {
        let Some(waiting) = self.loads.take(number_of(load.token)) else { return };
        let OutstandingLoad { slot: s, generation, index, issued, mut latency, finish, mask, lanes, unit } = waiting;
        latency += load.ready.saturating_sub(issued);
        self.counters.profile[index].far += u64::from(load.far);
        self.counters.count_latency(index, latency);
        if let Some(recorder) = &mut self.recorder {
            recorder.issue(&Issued { slot: s, index, lanes, unit, now: issued, done: issued + latency, splits: 0 });
            recorder.memory(issued, &AccessCost { far: load.far, ..AccessCost::default() });
        }
        let (slot, warp) = self.warps.get_mut(s);
        if slot.generation != generation || warp.control.done() {
            return;
        }
        slot.loads -= 1;
        let rank = slot.rank;
        finish(&mut warp.lanes, &c.code[index], &load.out[..], mask);
        let st = &c.statics.insts[index];
        self.scoreboard.set(s, c.statics.writes(st), Ready::at(issued + latency, st.source));
        if self.states.parked.contains(rank) {
            self.resolve(c, s);
        }
    }

    /// Whether a warp's next instruction needs the levels below to answer at once.
    #[inline]
    pub(super) fn needs_lower_levels(&mut self, c: &LaunchContext<'a, N>, rank: usize) -> bool {
        let s = self.warps.slot_of(rank);
        let index = self.warps.slots[s].pc as usize;
        match c.statics.insts[index].way {
            Way::Free => false,
            Way::Direct => true,
            // It waits for a register before.
            Way::Load => false,
        }
    }

    /// The cycle until which a warp's next instruction has to wait, if it is a load that does: it misses and no
    /// register is free, or a line is on its way for which enough wait. A load that issues takes as many registers
    /// as it needs. What returns at a later cycle has not returned, so that it makes no difference whether that
    /// cycle is known.
    ///
    /// Until a register is free, a load that misses goes on missing unless something that issues brings its line
    /// (stores to private memory, prefetches, texture reads): the cycle behind an issue is looked at.
    #[inline]
    pub(super) fn waits_for_register(&mut self, c: &LaunchContext<'a, N>, rank: usize) -> Option<u64> {
        let s = self.warps.slot_of(rank);
        let Slot { pc, miss, .. } = self.warps.slots[s];
        let index = pc as usize;
        if c.statics.insts[index].way != Way::Load {
            return None;
        }
        let (path, now) = (c.code[index].path, self.time);
        let (free, limits) = {
            let mut caches = self.caches.borrow_mut();
            let free = caches.is_register_free(self.number, path, now);
            let limits = caches.limits_merges(self.number, path);
            if free && !limits {
                return None;
            }
            // What was found missing mostly still is: then there is no need to cut the access again.
            if !free && miss.is_some_and(|miss| caches.still_misses(self.number, path, miss)) {
                return Some(caches.register_free_from(self.number, path, now).max(now + 1));
            }
            (free, limits)
        };
        let probe = self.probe(c, s);
        self.warps.slots[s].miss = probe.miss;
        if !free && probe.miss.is_some() {
            return Some(self.caches.borrow_mut().register_free_from(self.number, path, now).max(now + 1));
        }
        (limits && probe.full).then_some(now + 1)
    }

    /// What a warp's next instruction, a load, would do.
    #[cold]
    fn probe(&mut self, c: &LaunchContext<'a, N>, s: usize) -> Probe {
        let (slot, warp) = self.warps.get_mut(s);
        let d = &c.code[slot.pc as usize];
        let lanes = &mut warp.lanes;
        lanes.clock = self.time;
        self.caches.borrow_mut().begin_probe();
        (d.run)(lanes, d);
        (lanes.late, lanes.access) = (None, None);
        self.caches.borrow_mut().end_probe()
    }
}
