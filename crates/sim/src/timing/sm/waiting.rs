//! What an SM's warps wait for: their operands and code, as far as it is known when those come, and answers of the levels that all SMs share.

use super::super::super::exec::uniform::same_operands;
use super::super::super::exec::{Decoded, Finish, Lanes};
use super::super::super::hierarchy::deferred::{Arrival, PENDING, PendingLoad};
use super::super::super::hierarchy::{AccessCost, Path};
use super::super::super::trace::Cause;
use super::super::statics::{INSTRUCTION_BYTES, Position, SCALAR, Static, Way};
use super::counters::{count_form, count_latency};
use super::{Common, Form, Phase, Sm};

/// A load that waits for its bytes.
pub(super) struct Late<const N: usize> {
    pub slot: usize,
    pub generation: u32,
    pub index: usize,
    /// Cycle of issue.
    pub now: u64,
    /// Cycles beside those of the hierarchy.
    pub latency: u64,
    pub finish: Finish<N>,
    pub mask: u64,
    /// Active lanes, and the unit it was issued on.
    pub lanes: u32,
    pub unit: usize,
}

impl<'a, const N: usize, const W: usize> Sm<'a, N, W> {
    /// Fetches a warp's next instruction, which may issue from `now` on.
    #[inline]
    pub(super) fn prepare_next(&mut self, c: &Common<'a, N>, s: usize, now: u64) {
        let slot = &mut self.slots[s];
        let Some(st) = c.statics.insts.get(slot.pc as usize) else { return };
        (slot.begin, slot.code_ready, slot.released) = (now, now, 0);
        if st.line != slot.fetched {
            self.fetch(c, s, st, now);
        }
        self.resolve(c, s);
    }

    /// Fetches the line of a warp's next instruction.
    fn fetch(&mut self, c: &Common<'a, N>, s: usize, st: &Static, now: u64) {
        let slot = &mut self.slots[s];
        slot.fetched = st.line;
        let offset = c.launch.program.header.text_offset + INSTRUCTION_BYTES * u64::from(slot.pc);
        let near = &mut *self.near.borrow_mut();
        near.deferred.now = (self.time, self.number as u32);
        slot.code_ready = near.fetch(c.memory, self.number, offset, now);
        if slot.code_ready >= PENDING {
            near.wait_for_fetch(token(self.number, s), slot.code_ready);
        }
    }

    /// When the operands of a warp's next instruction are ready, and which port it takes. The warp is parked if nobody knows.
    fn resolve(&mut self, c: &Common<'a, N>, s: usize) {
        let slot = &mut self.slots[s];
        let rank = slot.rank;
        let Some(st) = c.statics.insts.get(slot.pc as usize) else { return };
        let scoreboard = &self.scoreboard[s * c.statics.scoreboard..(s + 1) * c.statics.scoreboard];
        let code_ready = slot.code_ready;
        // Times are compared without their lowest bit, and what is pending is later than all.
        let (mut latest, mut any) = (code_ready << 1, code_ready);
        for row in c.statics.waits(st) {
            let ready = scoreboard[usize::from(*row)];
            any |= ready;
            latest = if ready >> 1 > latest >> 1 { ready } else { latest };
        }
        if any >= PENDING {
            if !self.parked.contains(rank) {
                self.parked.insert(rank);
                self.park(s);
            }
            return;
        }
        if slot.pc >= slot.ahead {
            self.execute_ahead(c, s);
        }
        let slot = &mut self.slots[s];
        let next = latest >> 1;
        let port = if slot.is_scalarised() { SCALAR } else { st.port };
        self.loading.set(rank, latest & 1 == 1);
        self.fetching.set(rank, next == code_ready && next > slot.begin);
        slot.next = next.max(slot.released);
        let next = slot.next;
        self.port[rank] = port;
        self.at_port[usize::from(port)].insert(rank);
        self.asking.set(rank, st.way != Way::Free);
        let waiting = slot.waiting;
        if self.parked.contains(rank) {
            self.parked.remove(rank);
            if !waiting {
                self.attribute_parked(s);
            }
        }
        self.wheel.add(rank, if waiting { u64::MAX } else { next });
    }

    /// Decides on which units a warp's next instructions run, and executes them as far as they act on nothing but registers that are known: in order, and
    /// long before they issue, which makes no difference to anyone but the host. The first one's operands are known.
    fn execute_ahead(&mut self, c: &Common<'a, N>, s: usize) {
        let (slot, warp) = (&mut self.slots[s], &mut self.warps[s]);
        let scoreboard = &self.scoreboard[s * c.statics.scoreboard..(s + 1) * c.statics.scoreboard];
        let lanes = &mut warp.lanes;
        let active = lanes.mask.count_ones();
        (slot.first, slot.scalarised) = (slot.pc, 0);
        let mut index = slot.pc as usize;
        for bit in 0..u64::BITS {
            let (st, d) = (&c.statics.insts[index], &c.code[index]);
            let pending = |row: &u16| scoreboard[usize::from(*row)] >= PENDING;
            if bit > 0 && (!st.ahead || slot.loads > 0 && c.statics.waits(st).iter().any(pending)) {
                break;
            }
            let form = form(c, lanes, d, st);
            count_form(&mut self.counters, c, index, form, active);
            slot.scalarised |= u64::from(form.is_scalarised()) << bit;
            if !st.ahead {
                // It acts when it issues.
                break;
            }
            (d.run)(lanes, d);
            index += 1;
            if st.position != Position::Inside {
                break;
            }
        }
        slot.ahead = index as u32;
    }

    /// From the present cycle on a warp waits for nobody knows what.
    pub(super) fn park(&mut self, s: usize) {
        let slot = &mut self.slots[s];
        slot.parked_at = self.time;
        let issued = self.phase == Phase::Within && self.issued.contains(slot.rank);
        self.parked_late.set(slot.rank, issued);
    }

    /// It is known what a warp waited for: attributes the cycles since it was parked. Those of an open cycle are attributed when it ends.
    fn attribute_parked(&mut self, s: usize) {
        let slot = &self.slots[s];
        let cycles = self.time - slot.parked_at;
        if cycles == 0 {
            return;
        }
        let lost = cycles - u64::from(self.parked_late.contains(slot.rank));
        let stalls = &mut self.counters.stalls;
        let cause = if self.fetching.contains(slot.rank) {
            stalls.fetch += lost;
            Cause::Fetch
        } else if self.loading.contains(slot.rank) {
            stalls.memory += lost;
            Cause::Memory
        } else {
            stalls.dependence += lost;
            Cause::Dependence
        };
        if let Some(recorder) = &mut self.recorder {
            recorder.stall(s, cause, self.time - lost, self.time);
        }
    }

    /// Hears what a warp waits for.
    pub fn arrived(&mut self, c: &Common<'a, N>, arrival: Arrival) {
        match arrival {
            Arrival::Fetch(token, ready) => {
                let s = token as u32 as usize;
                let slot = &mut self.slots[s];
                slot.code_ready = ready.max(slot.begin);
                self.resolve(c, s);
            }
            Arrival::Load(load) => self.loaded(c, &load),
        }
    }

    /// A load has its bytes.
    fn loaded(&mut self, c: &Common<'a, N>, load: &PendingLoad) {
        let place = load.token as u32 as usize;
        let Some(late) = self.late.get_mut(place).and_then(Option::take) else { return };
        self.late_free.push(place);
        let Late { slot: s, generation, index, now, mut latency, finish, mask, lanes, unit } = late;
        latency += load.ready.saturating_sub(now);
        let counters = &mut self.counters;
        counters.profile[index].far += u64::from(load.far);
        count_latency(counters, index, latency);
        if let Some(recorder) = &mut self.recorder {
            recorder.issue(s, index, lanes, unit, now, now + latency, 0);
            recorder.memory(now, &AccessCost { far: load.far, ..AccessCost::default() });
        }
        let (slot, warp) = (&mut self.slots[s], &mut self.warps[s]);
        if slot.generation != generation || warp.control.done() {
            return;
        }
        slot.loads -= 1;
        finish(&mut warp.lanes, &c.code[index], &load.out[..], mask);
        let st = &c.statics.insts[index];
        for row in c.statics.writes(st) {
            self.scoreboard[s * c.statics.scoreboard + usize::from(*row)] = (now + latency) << 1 | u64::from(st.from_memory);
        }
        if self.parked.contains(slot.rank) {
            self.resolve(c, s);
        }
    }

    /// Whether a warp's next instruction needs the levels below to answer at once.
    pub(super) fn needs_direct(&mut self, c: &Common<'a, N>, rank: usize) -> bool {
        let s = usize::from(self.slot_of[rank]);
        let index = self.slots[s].pc as usize;
        match c.statics.insts[index].way {
            Way::Free => false,
            Way::Direct => true,
            Way::Load => {
                let d = &c.code[index];
                let lanes = if d.scalar { 1 } else { self.warps[s].lanes.active(d).count_ones() };
                !self.near.borrow_mut().can_admit(self.number, d.path, lanes as usize * c.parts, self.time)
                    && !self.admits(c, s, d.path)
            }
        }
    }

    /// Whether it is known when all misses of a warp's next instruction, a load, can leave.
    #[cold]
    fn admits(&mut self, c: &Common<'a, N>, s: usize, path: Path) -> bool {
        let d = &c.code[self.slots[s].pc as usize];
        let lanes = &mut self.warps[s].lanes;
        self.near.borrow_mut().begin_probe();
        (d.run)(lanes, d);
        (lanes.late, lanes.access) = (None, None);
        let near = &mut *self.near.borrow_mut();
        let lines = near.end_probe();
        near.can_admit(self.number, path, lines, self.time)
    }
}

/// How the hierarchy knows what waits: the SM, and a number of its own.
pub(super) fn token(sm: usize, number: usize) -> u64 {
    (sm as u64) << 32 | number as u64
}

/// The SM of a token.
pub(in super::super) fn sm_of(arrival: &Arrival) -> usize {
    let token = match arrival {
        Arrival::Load(load) => load.token,
        Arrival::Fetch(token, _) => *token,
    };
    (token >> 32) as usize
}

/// On which unit a warp's instruction runs, and why. Registers hold their values already: execution is in order.
#[inline(always)]
fn form<const N: usize>(c: &Common<'_, N>, lanes: &Lanes<'_, N>, d: &Decoded<N>, s: &Static) -> Form {
    if s.scalar || s.control {
        return Form::Static;
    }
    let mask = lanes.active(d);
    if !s.eligible || mask == 0 {
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
