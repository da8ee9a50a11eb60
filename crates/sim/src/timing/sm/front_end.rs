//! The front end: the fetch of each warp's next instruction, when its operands are there, and its execution ahead of issue.

use super::super::super::exec::uniform::same_operands;
use super::super::super::exec::{Decoded, Lanes};
use super::super::super::hierarchy::deferred::PENDING;
use super::super::port_plan::Port;
use super::super::statics::{INSTRUCTION_BYTES, Position, SCALAR, Static, Way};
use super::load_queue::token;
use super::scoreboard::OperandsReady;
use super::{LaunchContext, Sm};

/// On which unit an instruction runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) enum Form {
    /// Decided by the compiler (or control), or nothing that the scalar unit could run.
    #[default]
    Static,
    /// Run-time scalarizer: one active lane.
    OneLane,
    /// Run-time scalarizer: few active lanes with the same operands.
    FewLanes,
    /// All active lanes have the same operands, but nothing makes use of it.
    Missed,
    /// One result a lane.
    Vector,
}

impl<'a, const N: usize, const W: usize> Sm<'a, N, W> {
    /// Fetches a warp's next instruction, which may issue from `now` on.
    #[inline(always)]
    pub(super) fn prepare_next(&mut self, c: &LaunchContext<'a, N>, s: usize, now: u64) {
        let slot = &mut self.warps.slots[s];
        let Some(st) = c.statics.insts.get(slot.pc as usize) else { return };
        (slot.begin, slot.code_ready, slot.released) = (now, now, 0);
        (slot.miss, slot.full) = (None, None);
        let rank = slot.rank;
        if st.line != slot.fetched {
            self.fetch(c, s, st, now);
        }
        if st.strand && self.schedulers.has_active_set() && self.scoreboard.waits_for_hierarchy(s, c.statics.waits(st), now) {
            self.leave(rank);
        }
        self.resolve_next(c, s, st);
    }

    /// Fetches the line of a warp's next instruction.
    #[inline]
    fn fetch(&mut self, c: &LaunchContext<'a, N>, s: usize, st: &Static, now: u64) {
        let slot = &mut self.warps.slots[s];
        slot.fetched = st.line;
        let program = &c.run.launch.program;
        let offset = program.header.text_offset + INSTRUCTION_BYTES * u64::from(slot.pc);
        let code = [offset, program.code_bytes];
        let caches = &mut *self.caches.borrow_mut();
        caches.deferred.now = (self.given_out_behind.unwrap_or(self.time), self.number as u32);
        slot.code_ready = caches.fetch(c.run.memory, self.number, code, now);
        if slot.code_ready >= PENDING {
            caches.wait_for_fetch(token(self.number, s), slot.code_ready);
        }
    }

    /// When the operands of a warp's next instruction are ready, and which port it takes. The warp is parked if nobody knows.
    pub(super) fn resolve(&mut self, c: &LaunchContext<'a, N>, s: usize) {
        if let Some(st) = c.statics.insts.get(self.warps.slots[s].pc as usize) {
            self.resolve_next(c, s, st);
        }
    }

    /// The same of a next instruction that is known.
    #[inline(always)]
    fn resolve_next(&mut self, c: &LaunchContext<'a, N>, s: usize, st: &Static) {
        let slot = &mut self.warps.slots[s];
        let (rank, code_ready) = (slot.rank, slot.code_ready);
        let operands = match c.statics.near_waits(st) {
            Some(rows) => self.scoreboard.near_operands_ready(s, rows, code_ready),
            None => self.scoreboard.operands_ready(s, c.statics.waits(st), code_ready),
        };
        let Some(OperandsReady { cycle, from_memory }) = operands else {
            if !self.states.parked.contains(rank) {
                self.states.parked.insert(rank);
                self.park(s);
            }
            return;
        };
        if slot.pc >= slot.ahead {
            self.execute_ahead(c, s);
        }
        let slot = &mut self.warps.slots[s];
        let (scalarised, at_barrier) = (slot.is_scalarised(), slot.at_barrier);
        let port = c.ports.port(slot.ports, if scalarised { SCALAR } else { st.port });
        let next = cycle.max(slot.released);
        slot.next = next;
        self.states.loading.set(rank, from_memory);
        // Without a branch, since nobody can foretell it.
        self.states.fetching.set(rank, (cycle == code_ready) & (cycle > slot.begin));
        self.ports.assign(rank, port);
        self.asks_memory[rank] = st.way != Way::Free;
        if self.yields {
            self.states.yielding.set(rank, scalarised);
        }
        if self.states.parked.contains(rank) {
            self.states.parked.remove(rank);
            if !at_barrier {
                self.attribute_parked(s);
            }
        }
        self.wheel.add(rank, if at_barrier { u64::MAX } else { next });
    }

    /// A warp's next instruction, which the run-time scalarizer had sent to the scalar unit, issues through the port of its own
    /// unit instead.
    pub(super) fn withdraw(&mut self, rank: usize, port: Port) {
        let (slot, warp) = self.warps.get_mut(self.warps.slot_of(rank));
        let bit = 1 << (slot.pc - slot.first);
        slot.scalarised &= !bit;
        let form = if slot.one_lane & bit != 0 { Form::OneLane } else { Form::FewLanes };
        self.counters.withdraw_form(slot.pc as usize, form, warp.lanes.mask.count_ones());
        self.states.yielding.remove(rank);
        self.ports.remove(rank);
        self.ports.assign(rank, port);
    }

    /// Decides on which units a warp's next instructions run, and executes them as far as they act on nothing
    /// but registers that are known: in order, and long before they issue, which makes no difference to
    /// anyone but the host. The first one's operands are known.
    fn execute_ahead(&mut self, c: &LaunchContext<'a, N>, s: usize) {
        let (slot, warp) = self.warps.get_mut(s);
        let lanes = &mut warp.lanes;
        let active = lanes.mask.count_ones();
        // EXEC, not the guard, is what the comparators see.
        let compares = active > 1 && active <= c.threshold && active < N as u32;
        let (first, loads) = (slot.pc as usize, slot.loads > 0);
        let (mut scalarised, mut one_lane, mut missed) = (0, 0, 0);
        let mut executed = 0;
        for (bit, (st, d)) in c.statics.insts[first..].iter().zip(&c.code[first..]).enumerate() {
            if bit > 0 && (!st.ahead || bit == u64::BITS as usize || loads && self.scoreboard.any_unknown(s, c.statics.waits(st)))
            {
                break;
            }
            if compares && st.eligible {
                self.counters.blocks.compared += u64::from(active * u32::from(st.compared));
            }
            match form(c, lanes, d, st) {
                Form::Static | Form::Vector => {}
                Form::Missed => missed += 1,
                form => {
                    self.counters.count_scalarised(first + bit, form, active);
                    scalarised |= 1 << bit;
                    one_lane |= u64::from(form == Form::OneLane) << bit;
                }
            }
            if !st.ahead {
                // It acts when it issues.
                break;
            }
            (d.run)(lanes, d);
            executed = bit + 1;
            if st.position != Position::Inside {
                break;
            }
        }
        self.counters.count_missed(missed);
        (slot.first, slot.scalarised, slot.one_lane) = (first as u32, scalarised, one_lane);
        slot.ahead = (first + executed) as u32;
    }
}

/// On which unit a warp's instruction runs, and why. Registers hold their values already: execution is in order.
#[inline(always)]
fn form<const N: usize>(c: &LaunchContext<'_, N>, lanes: &Lanes<'_, N>, d: &Decoded<N>, s: &Static) -> Form {
    if !s.eligible {
        return Form::Static;
    }
    let mask = lanes.active(d);
    if mask == 0 {
        return Form::Vector;
    }
    let active = mask.count_ones();
    if active == 1 && c.threshold >= 1 {
        return Form::OneLane;
    }
    if !same_operands(lanes, d, mask) {
        Form::Vector
    } else if active <= c.threshold && active < N as u32 {
        Form::FewLanes
    } else {
        Form::Missed
    }
}
