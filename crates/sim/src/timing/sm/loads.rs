//! Loads whose bytes come late: what happens when they are there, and which loads may not begin before.

use super::super::super::exec::Late;
use super::super::super::hierarchy::cache::Cache;
use super::super::super::hierarchy::cluster_caches::Probe;
use super::super::super::hierarchy::deferred::{Arrival, PendingLoad};
use super::super::super::hierarchy::{AccessCost, Path};
use super::super::super::memory::{prefetch, prefetch_all};
use super::super::super::trace::Issued;
use super::super::statics::Way;
use super::super::warp_set::WarpSet;
use super::issue::Issue;
use super::load_queue::{OutstandingLoad, number_of, token};
use super::scoreboard::Ready;
use super::slot::Slot;
use super::{LaunchContext, Sm};

/// L1 caches through which loads go, by the number of their [`Path`].
pub(super) const PATHS: usize = 3;

/// Steps of [`Sm::prefetch_arrival`].
pub(in super::super) const PREFETCHES: usize = 4;

/// Loads that were found to wait for a miss register of an L1.
#[derive(Clone, Copy)]
pub(super) struct WaitingLoads<const W: usize> {
    /// Their warps.
    warps: WarpSet<W>,
    /// No register is free before this cycle.
    until: u64,
    /// How often the L1 had changed.
    changes: u64,
}

impl<const W: usize> WaitingLoads<W> {
    /// None.
    pub const NONE: WaitingLoads<W> = WaitingLoads { warps: WarpSet::EMPTY, until: 0, changes: 0 };

    /// How long each of them waits. Those that may wait for registers of their own first are asked one by one.
    #[inline]
    fn wait(&self, one_by_one: bool) -> Wait<W> {
        Wait { until: self.until, others: if one_by_one { WarpSet::EMPTY } else { self.warps } }
    }
}

/// How long a load waits.
pub(super) struct Wait<const W: usize> {
    /// Not before this cycle has it to be looked at.
    pub until: u64,
    /// Warps that wait for the same.
    pub others: WarpSet<W>,
}

impl<'a, const N: usize, const W: usize> Sm<'a, N, W> {
    /// A load that has issued, and whose access begins at a cycle, waits for its bytes, beside which it takes `latency` cycles
    /// from its issue.
    #[inline]
    pub(super) fn await_load(&mut self, issue: &Issue, mut late: Late<N>, begins: u64, latency: u64) {
        let Issue { slot: s, index, now, lanes, unit, .. } = *issue;
        let slot = &mut self.warps.slots[s];
        slot.loads += 1;
        let (number, load) = self.loads.add();
        (load.slot, load.generation, load.index) = (s as u32, slot.generation, index as u32);
        (load.issued, load.begins, load.latency) = (now, begins, latency);
        (load.lanes, load.unit) = (lanes, unit as u32);
        let token = token(self.number, number);
        let mut caches = self.caches.borrow_mut();
        match &mut late {
            Late::Words { .. } => {
                if let Some(part) = caches.take_load() {
                    caches.wait_for_load(part, token);
                }
            }
            Late::Texels(read) => read.take_parts().for_each(|part| caches.wait_for_load(part, token)),
        }
        load.late = Some(late);
    }

    /// [`Self::wake`] will soon be called for this: the host may fetch what that needs into its caches. There are [`PREFETCHES`]
    /// steps, with some time between them, since each fetches what says where the next one looks.
    #[inline]
    pub fn prefetch_arrival(&self, c: &LaunchContext<'a, N>, arrival: &Arrival, step: usize) {
        let Arrival::Load(load) = arrival else { return };
        if step == 0 {
            return prefetch_all(&**load);
        }
        if step == 1 {
            self.caches.borrow().deferred.prefetch_answers(load);
            return self.loads.prefetch(number_of(load.token));
        }
        let Some(waiting) = self.loads.get(number_of(load.token)) else { return };
        let (slot, warp) = self.warps.get(waiting.slot as usize);
        let row = c.code[waiting.index as usize].dst;
        if step == 2 {
            slot.prefetch();
            self.scoreboard.prefetch(waiting.slot as usize, row);
            prefetch(&raw const warp.lanes);
        } else if let Some(row) = warp.lanes.rows.get(usize::from(row)) {
            prefetch_all(row);
        }
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
            Arrival::Load(mut load) => {
                self.caches.borrow_mut().complete_load(&mut load);
                self.complete_load(c, &load);
                self.caches.borrow_mut().deferred.recycle_load(load);
            }
        }
    }

    /// A load has its bytes, or one of several of an instruction: it is the one that the caches have completed last.
    fn complete_load(&mut self, c: &LaunchContext<'a, N>, load: &PendingLoad) {
        if !self.loads.arrive(load, self.caches.borrow().loaded()) {
            return;
        }
        let Some((late, waiting)) = self.loads.take(number_of(load.token)) else { return };
        let OutstandingLoad { slot: s, generation, index, issued, begins, mut latency, lanes, unit, .. } = *waiting;
        let (s, index, unit) = (s as usize, index as usize, unit as usize);
        let (ready, far) = match &late {
            Late::Words { .. } => (load.ready, load.far),
            Late::Texels(read) => (read.ready, read.far),
        };
        latency += ready.saturating_sub(begins);
        self.counters.profile[index].far += u64::from(far);
        self.counters.count_latency(index, latency);
        if let Some(recorder) = &mut self.recorder {
            recorder.issue(&Issued { slot: s, index, lanes, unit, now: issued, done: issued + latency, splits: 0 });
            recorder.memory(begins, &AccessCost { far, ..AccessCost::default() });
        }
        let (slot, warp) = self.warps.get_mut(s);
        if slot.generation != generation || warp.control.done() {
            return;
        }
        slot.loads -= 1;
        let rank = slot.rank;
        let d = &c.code[index];
        match late {
            Late::Words { finish, mask } => finish(&mut warp.lanes, d, self.caches.borrow().loaded(), mask),
            Late::Texels(read) => read.finish(&mut warp.lanes, d),
        }
        let st = &c.statics.insts[index];
        self.set_ready(c, s, st, Ready::at(issued + latency, st.source));
        if self.states.parked.contains(rank) {
            self.resolve(c, s);
        }
    }

    /// Whether a warp's next instruction needs the levels below to answer at once.
    ///
    /// So does an atomic or a texture read where DRAM chooses among requests, which that puts behind it, and an atomic of a
    /// watched warp, of which it has to be known what it changes.
    #[inline]
    pub(super) fn needs_lower_levels(&mut self, c: &LaunchContext<'a, N>, rank: usize) -> bool {
        let s = self.warps.slot_of(rank);
        let index = self.warps.slots[s].pc as usize;
        match c.statics.insts[index].way {
            Way::Free => false,
            Way::Direct => true,
            Way::Texture => c.chooses,
            Way::Atomic => c.chooses || self.warps.warps[s].lanes.watch.is_some(),
            // It waits for a register before.
            Way::Load => false,
        }
    }

    /// Until when a warp's next instruction has to wait, if it is a load that does: it misses and no register is free, or a
    /// line is on its way for which enough wait. A load that issues takes as many registers as it needs. What returns at a
    /// later cycle has not returned, so that it makes no difference whether that cycle is known.
    ///
    /// Until a register is free, a load that misses goes on missing unless something that issues brings its line
    /// (stores to private memory, prefetches, texture reads): the cycle behind an issue is looked at. If nothing has come to
    /// the L1 since, all that waited still do.
    #[inline]
    pub(super) fn waits_for_register(&mut self, c: &LaunchContext<'a, N>, rank: usize) -> Option<Wait<W>> {
        let s = self.warps.slot_of(rank);
        let Slot { pc, miss, full, .. } = self.warps.slots[s];
        let index = pc as usize;
        if c.statics.insts[index].way != Way::Load {
            return None;
        }
        let (path, now, caches) = (c.code[index].path, self.time, self.caches);
        let (free, limits, changes) = {
            let caches = &mut *caches.borrow_mut();
            let no_answer_before = caches.no_answer_before;
            let l1 = caches.l1(self.number, path);
            let changes = l1.changes();
            let known = &self.waiting_loads[path as usize];
            if known.changes == changes && known.until > now && known.warps.contains(rank) {
                return Some(known.wait(c.groups.pool > 0));
            }
            let free = l1.mshrs.is_any_free(now);
            let limits = l1.limits_merges();
            if free && !limits {
                return None;
            }
            // What was found missing mostly still is: then there is no need to cut the access again.
            if !free && miss.is_some_and(|miss| miss.still_is(l1)) {
                let until = l1.mshrs.free_from(now, no_answer_before).max(now + 1);
                return Some(self.wait_until(c, l1, (path, rank), until));
            }
            // The same for what found too many waiting for a line.
            if limits && full.is_some_and(|full| full.still_is(l1, now)) {
                return Some(Wait { until: now + 1, others: WarpSet::EMPTY });
            }
            (free, limits, changes)
        };
        let probe = self.probe(c, s);
        let slot = &mut self.warps.slots[s];
        (slot.miss, slot.full) = (probe.miss, probe.full);
        if !free && probe.miss.is_some() {
            let caches = &mut *caches.borrow_mut();
            let no_answer_before = caches.no_answer_before;
            let l1 = caches.l1(self.number, path);
            debug_assert_eq!(l1.changes(), changes);
            let until = l1.mshrs.free_from(now, no_answer_before).max(now + 1);
            return Some(self.wait_until(c, l1, (path, rank), until));
        }
        (limits && probe.full.is_some()).then_some(Wait { until: now + 1, others: WarpSet::EMPTY })
    }

    /// A warp's load waits for a register of an L1, none of which is free before a cycle. If something has changed since others
    /// were found to wait, most of them still do.
    #[inline]
    fn wait_until(&mut self, c: &LaunchContext<'a, N>, l1: &Cache, (path, rank): (Path, usize), until: u64) -> Wait<W> {
        let changes = l1.changes();
        let Sm { waiting_loads, warps, .. } = self;
        let known = &mut waiting_loads[path as usize];
        if (known.until, known.changes) == (until, changes) {
            known.warps.insert(rank);
            return Wait { until, others: WarpSet::EMPTY };
        }
        let waited = std::mem::replace(&mut known.warps, WarpSet::EMPTY);
        for other in waited.iter() {
            // It may have issued meanwhile.
            let Slot { pc, miss, .. } = warps.slots[warps.slot_of(other)];
            let is_load = c.statics.insts.get(pc as usize).is_some_and(|st| st.way == Way::Load);
            if is_load && c.code[pc as usize].path == path && miss.is_some_and(|miss| miss.still_is(l1)) {
                known.warps.insert(other);
            }
        }
        known.warps.insert(rank);
        (known.until, known.changes) = (until, changes);
        known.wait(c.groups.pool > 0)
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
