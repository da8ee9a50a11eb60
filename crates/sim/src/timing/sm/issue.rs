//! The issue of an instruction: it acts, takes its unit, and its results get their cycle.

use super::super::super::exec::AccessRecord;
use super::super::super::fault::{Fault, FaultKind};
use super::super::super::program::End;
use super::super::super::trace::Issued;
use super::super::port_plan::Port;
use super::super::statics::{Position, Static};
use super::main_file::Operands;
use super::scoreboard::{Ready, Source};
use super::{LaunchContext, Sm, enter_block};

/// An instruction that issues.
pub(super) struct Issue {
    /// The warp's slot.
    pub slot: usize,
    /// The instruction.
    pub index: usize,
    /// The cycle.
    pub now: u64,
    /// The port that it issues through.
    pub port: Port,
    /// It runs on the scalar unit.
    pub on_scalar_unit: bool,
    /// Active lanes.
    pub lanes: u32,
    /// What it runs on, for what is recorded: a cluster by number, then the scalar unit, then the front end.
    pub unit: usize,
}

/// When an instruction's result is there.
#[derive(Clone, Copy)]
struct Timing {
    /// Cycles from its issue, as far as is known.
    latency: u64,
    /// More comes with the bytes of a load.
    pending: bool,
}

impl<'a, const N: usize, const W: usize> Sm<'a, N, W> {
    /// Issues the next instruction of a warp through a port. Returns 1 if its work-group ended.
    #[inline(always)]
    pub(super) fn issue(&mut self, c: &LaunchContext<'a, N>, rank: usize, port: Port, now: u64) -> Result<u32, Box<Fault>> {
        let s = self.warps.slot_of(rank);
        let slot = &mut self.warps.slots[s];
        let index = slot.pc as usize;
        let st = &c.statics.insts[index];
        self.states.ready.remove(rank);
        self.counters.cycles[index] += now - slot.issued_at;
        slot.issued_at = now;
        let group = self.groups.get(slot.group);
        group.executed += 1;
        let attention = group.executed > group.attention;
        let on_scalar_unit = st.scalar | slot.is_scalarised();
        let acts_now = slot.pc >= slot.ahead;
        if acts_now || st.position != Position::Inside || attention || self.notes_issues {
            return self.issue_any(c, s, port, now, on_scalar_unit, attention);
        }
        // It has been executed already.
        slot.pc += 1;
        let mut result = now + st.latency_on(on_scalar_unit);
        let mut start = now;
        if self.main_file.is_some() {
            let operands = self.read_main_file(c, (s, st), port, now, on_scalar_unit);
            start = operands.start;
            result = self.write_main_file(c, (s, st), now, result + operands.delay);
        }
        if !on_scalar_unit && !st.control {
            self.ports.occupy(port, start + u64::from(st.interval));
        }
        self.set_ready(c, s, st, Ready::at(result, Source::Unit));
        self.prepare_next(c, s, now + 1);
        Ok(0)
    }

    /// The results of an instruction can be read from a cycle on, or nobody knows when.
    #[inline(always)]
    pub(super) fn set_ready(&mut self, c: &LaunchContext<'a, N>, s: usize, st: &Static, ready: Ready) {
        match c.statics.near_writes(st) {
            Some(rows) => self.scoreboard.set_near(s, rows, ready),
            None => self.scoreboard.set(s, c.statics.writes(st), ready),
        }
    }

    /// Issues an instruction of any kind. Returns 1 if the work-group ended. Apart from the frequent case, which needs fewer of
    /// the host's registers.
    #[inline(never)]
    fn issue_any(
        &mut self,
        c: &LaunchContext<'a, N>,
        s: usize,
        port: Port,
        now: u64,
        on_scalar_unit: bool,
        attention: bool,
    ) -> Result<u32, Box<Fault>> {
        let runaway = attention && self.look_at_group(c, self.warps.slots[s].group);
        let (slot, warp) = self.warps.get_mut(s);
        let (g, rank) = (slot.group, slot.rank);
        let index = slot.pc as usize;
        let st = &c.statics.insts[index];
        let exec = warp.control.mask;
        warp.lanes.clock = now;
        if runaway {
            let limit = c.run.options.max_instructions;
            warp.lanes.fault = Some((FaultKind::Runaway { limit }, index as u32, exec.trailing_zeros()));
        }
        let unit = match (on_scalar_unit, st.control) {
            (true, _) => c.run.machine.clusters.len(),
            (_, true) => c.run.machine.clusters.len() + 1,
            _ => usize::from(st.cluster),
        };
        let issue = Issue { slot: s, index, now, port, on_scalar_unit, lanes: exec.count_ones(), unit };
        let splits = self.counters.blocks.splits;
        let at_end = st.position == Position::Ends;
        let timing = if at_end {
            self.end_block(c, &issue);
            Timing { latency: st.latency_on(on_scalar_unit), pending: false }
        } else {
            self.execute(c, &issue)
        };
        if st.position != Position::Inside {
            self.skip_empty_blocks(c, &issue);
        }
        let done = self.warps.warps[s].control.done();
        self.record(&issue, timing, splits, done);
        if c.groups.pool > 0 {
            if st.renames {
                self.rename(c, s, index);
            }
            if done {
                self.give_back(c, s, index);
            }
        }
        let turns = if c.turns.is_some() { self.begin_turns(s) } else { 0 };
        let warp = &self.warps.warps[s];
        if warp.lanes.fault.is_some()
            && let Some(fault) = warp.fault(c.run.launch, self.groups.get(g).place)
        {
            return Err(Box::new(fault));
        }
        if warp.watch.is_some() {
            self.look_for_standstill(s, now);
        }
        let at_barrier = self.warps.warps[s].waiting;
        self.warps.slots[s].at_barrier = at_barrier;
        if done {
            self.states.live.remove(rank);
            let executed = self.warps.slots[s].executed;
            let group = self.groups.get(g);
            group.live_warps -= 1;
            group.add_features(&executed);
        } else {
            // A branch delays the warp's next instruction; everything else only who needs the result.
            let next = now + turns + if at_end { timing.latency.max(1) } else { 1 };
            self.prepare_next(c, s, next);
            if at_barrier {
                self.states.at_barrier.insert(rank);
                self.groups.get(g).at_barrier += 1;
            }
        }
        let ended = if done || at_barrier {
            self.progress.moved = now;
            self.arrive(c, g, now)
        } else {
            0
        };
        let slot = &self.warps.slots[s];
        // The last warp of its group does not wait.
        if slot.at_barrier && c.statics.insts.get(slot.pc as usize).is_some_and(|st| st.strand) {
            self.leave(rank);
        }
        Ok(ended)
    }

    /// An instruction that does not end its block acts, if it has not acted ahead of its issue, and takes its unit.
    #[inline]
    fn execute(&mut self, c: &LaunchContext<'a, N>, issue: &Issue) -> Timing {
        let Issue { slot: s, index, now, port, on_scalar_unit, .. } = *issue;
        let st = &c.statics.insts[index];
        let operands = if self.main_file.is_some() {
            self.read_main_file(c, (s, st), port, now, on_scalar_unit)
        } else {
            Operands { start: now, delay: 0 }
        };
        // Requests leave when the unit takes the access, in the order in which accesses of a unit issue.
        let begins = now + operands.delay;
        let (slot, warp) = self.warps.get_mut(s);
        (warp.lanes.access, warp.lanes.late) = (None, None);
        if slot.pc >= slot.ahead {
            if c.statics.refreshes {
                warp.lanes.refresh(c.run.launch.program);
            }
            {
                let mut caches = self.caches.borrow_mut();
                (caches.deferred.now, caches.wait) = ((now, self.number as u32), operands.delay);
            }
            let d = &c.code[index];
            if warp.lanes.is_observed() {
                warp.lanes.observe(d, c.run.launch.program);
            }
            (d.run)(&mut warp.lanes, d);
        }
        let (access, late) = (warp.lanes.access, warp.lanes.late.take());
        let own_latency = st.latency_on(on_scalar_unit) + operands.delay;
        let pending = late.is_some();
        let (mut busy, mut latency) = (u64::from(st.interval), own_latency);
        if let Some(access) = access {
            let (more_busy, more_latency) = self.account_access(issue, &access, begins, latency);
            busy += more_busy;
            latency += more_latency;
        }
        if !on_scalar_unit && !st.control {
            self.ports.occupy(port, operands.start + busy);
        }
        if self.main_file.is_some() {
            latency = self.write_main_file(c, (s, st), now, now + latency) - now;
        }
        let mut ready = Ready::at(now + latency, st.source);
        if let Some(late) = late {
            ready = Ready::UNKNOWN;
            // What the hierarchy adds is not known.
            self.await_load(issue, late, begins, own_latency);
        }
        self.set_ready(c, s, st, ready);
        let (slot, warp) = self.warps.get_mut(s);
        slot.pc += 1;
        if st.position == Position::Falls {
            warp.end_block(End::Fall, index as u32, &mut self.counters.blocks.splits);
            enter_block(&mut self.counters.blocks, c, slot, warp);
        }
        Timing { latency, pending }
    }

    /// Counts an access that begins at a cycle, of an instruction that would take `latency` cycles without it. Returns for
    /// how many more cycles the load-store unit is busy, and by how many the result is later.
    #[inline]
    fn account_access(&mut self, issue: &Issue, access: &AccessRecord, begins: u64, latency: u64) -> (u64, u64) {
        let Issue { index, .. } = *issue;
        if !access.cached {
            let conflicts = u64::from(access.units.saturating_sub(1));
            return (conflicts, conflicts);
        }
        let done = &self.caches.borrow().cost;
        let waits = done.ready.saturating_sub(begins);
        self.counters.count_access(index, access.space, access.units, done);
        if let Some(recorder) = &mut self.recorder {
            recorder.memory(begins, done);
        }
        if waits > 0 && !done.pending {
            self.counters.count_latency(index, latency + waits);
        }
        (u64::from(done.busy.saturating_sub(1)), waits)
    }

    /// The instruction that ends a block: the warp goes to another one, stands at a barrier, or ends.
    #[inline]
    fn end_block(&mut self, c: &LaunchContext<'a, N>, issue: &Issue) {
        let (slot, warp) = self.warps.get_mut(issue.slot);
        let blocks = &mut self.counters.blocks;
        let end = c.run.launch.program.blocks[warp.control.pc as usize].end;
        if warp.lanes.is_observed() {
            warp.lanes.observe_end(end, issue.index as u32, c.run.launch.program);
        }
        let goes_on = warp.end_block(end, issue.index as u32, &mut blocks.splits);
        if goes_on || warp.waiting {
            warp.lanes.mask = warp.control.mask;
            enter_block(blocks, c, slot, warp);
        }
    }

    /// Empty blocks only fall through.
    #[inline]
    fn skip_empty_blocks(&mut self, c: &LaunchContext<'a, N>, issue: &Issue) {
        let (slot, warp) = self.warps.get_mut(issue.slot);
        let blocks = &mut self.counters.blocks;
        while !warp.control.done() && c.run.launch.program.blocks[warp.control.pc as usize].is_empty() {
            warp.end_block(End::Fall, issue.index as u32, &mut blocks.splits);
            enter_block(blocks, c, slot, warp);
        }
    }

    /// Cycles that the turns of a warp's lanes take that have begun since it was asked last: a scalar register a cycle is saved,
    /// while one is restored.
    #[cold]
    fn begin_turns(&mut self, s: usize) -> u64 {
        let Some(turns) = &mut self.warps.warps[s].turns else { return 0 };
        let begun = std::mem::take(&mut turns.begun);
        self.counters.blocks.turns += begun;
        begun * turns.saved()
    }

    /// Records an issue; `splits`: how often warps had split before it. `done`: the warp ended.
    #[inline]
    fn record(&mut self, issue: &Issue, timing: Timing, splits: u64, done: bool) {
        let Issue { slot, index, now, lanes, unit, .. } = *issue;
        let Some(recorder) = &mut self.recorder else { return };
        let splits = self.counters.blocks.splits - splits;
        if timing.pending {
            recorder.split(index, splits);
        } else {
            recorder.issue(&Issued { slot, index, lanes, unit, now, done: now + timing.latency, splits });
        }
        if done {
            recorder.end(slot, now + 1);
        }
    }

    /// A warp of a group has ended or come to a barrier: the group may end, or all its warps go on. Returns 1 if it ended.
    #[inline]
    fn arrive(&mut self, c: &LaunchContext<'a, N>, g: usize, now: u64) -> u32 {
        let group = self.groups.get(g);
        if group.live_warps == 0 {
            if c.sampler.is_some() {
                self.counters.timed.push(self.groups.get(g).timed(now));
            }
            self.groups.retire(g);
            self.registers.free += c.groups.fixed;
            return 1;
        }
        if !group.passes_barrier() {
            return 0;
        }
        for rank in self.states.at_barrier.iter() {
            let s = self.warps.slot_of(rank);
            let (slot, warp) = self.warps.get_mut(s);
            if slot.group != g {
                continue;
            }
            warp.leave_barrier();
            slot.at_barrier = false;
            slot.released = now + 1;
            slot.next = slot.next.max(now + 1);
            let next = slot.next;
            self.states.at_barrier.remove(rank);
            if self.states.parked.contains(rank) {
                self.park(s);
            } else {
                self.wheel.add(rank, next);
            }
        }
        0
    }
}

impl Static {
    /// Cycles to the result on the scalar unit, or else on the instruction's own unit.
    #[inline(always)]
    fn latency_on(&self, scalar_unit: bool) -> u64 {
        u64::from(if scalar_unit { self.scalar_latency } else { self.latency })
    }
}
