//! Whole work-groups in compiled code: one after the other, and the warps of each from barrier to barrier.
//!
//! A call of compiled code for each warp would cost more than most warps of short kernels: ids to the warp's
//! rows, registers from them, and back. Here a warp's ids are a sum of what its place in the work-group adds
//! (the same for all work-groups of full size: [`super::many::Many`] has it in a table) and of what the
//! work-group's id adds, as global ids and offsets of surfaces are linear in both. Registers start with zeros.
//! At a barrier only live registers go to the warp's rows, and come back behind it; a kernel without barriers
//! touches no rows at all.
//!
//! Whatever is not a warp's way to a barrier or to its end leaves the function, with the warp's registers in
//! its rows: faults, barriers and exits in divergent regions, budgets that are used up. The caller then runs
//! the rest of the work-group warp by warp ([`super::many`]).

use std::mem::{offset_of, size_of};

use inkwell::llvm_sys::LLVMIntPredicate::*;

use super::build::{Block, Elem, V, Val};
use super::liveness::{Live, live_in};
use super::many::PORTION;
use super::translate::{Place, Translator};
use super::{ENDED, Frame, Helpers, Status, WarpState};
use crate::program::{End, Program};
use crate::warp::{Control, NOWHERE};
use heddle_isa::{MemorySpace, Special};

/// Rows of ids that differ between lanes, in the order of their places in [`WarpState::ids`].
pub(super) fn id_rows(program: &Program) -> Vec<u16> {
    let rows = &program.rows;
    let specials = rows.specials.iter().filter(|(s, _)| !s.is_uniform() && *s != Special::LaneId).map(|(_, row)| *row);
    specials.chain(rows.surfaces..rows.immediates).collect()
}

/// What the blocks around those of the kernel share.
pub(super) struct Schedule {
    /// The warp at `slot` begins; the next one does, or what comes behind the last.
    begin: Block,
    next: Block,
    /// By row of ids: variable with what the work-group's id adds.
    of_group: Vec<V>,
    /// Variable: one bit, a warp stands at a barrier.
    waiting: V,
    /// Variable: one bit, all warps have come to a barrier.
    later: V,
    pub live: LiveAcrossBarriers,
}

/// What warps have to keep.
pub(super) struct LiveAcrossBarriers {
    /// What is live where each block begins.
    pub at: Vec<Live>,
    /// What is live behind each barrier outside divergent regions, by block.
    pub resumed: Vec<(u32, Live)>,
    /// What is live where lanes may go on that wait for others.
    pub waiting_lanes: Live,
}

impl LiveAcrossBarriers {
    /// `divergent`: blocks of divergent regions.
    pub fn new(program: &Program, divergent: &[bool]) -> LiveAcrossBarriers {
        let at = live_in(program, divergent);
        let waits = |b: &usize| program.blocks[*b].end == End::Barrier && !divergent[*b];
        let behind = (0..program.blocks.len()).filter(waits).map(|b| b + 1);
        let resumed = behind.filter_map(|b| Some((b as u32, at.get(b)?.clone()))).collect();
        let mut waiting_lanes = Live::none(program);
        for block in &program.blocks {
            if let End::Divergent { target, reconverge, .. } = block.end {
                [target, reconverge].into_iter().filter_map(|b| at.get(b as usize)).for_each(|l| _ = waiting_lanes.add(l));
            }
        }
        LiveAcrossBarriers { at, resumed, waiting_lanes }
    }
}

impl Translator<'_> {
    fn slot(&self) -> V {
        self.b.load(self.b.pointer(), self.slot, 8)
    }

    /// Ends the function's entry: to the first work-group.
    pub(super) fn begin_schedule(&self, live: LiveAcrossBarriers) -> Schedule {
        let b = &self.b;
        let program = self.program;
        let of_group = id_rows(program).iter().map(|_| b.variable(b.elem(Elem::I(32)))).collect();
        let (waiting, later) = (b.variable(b.elem(Elem::I(1))), b.variable(b.elem(Elem::I(1))));
        let [begin, next] = [(); 2].map(|()| self.new_block());
        let schedule = Schedule { begin, next, of_group, waiting, later, live };
        self.begin_group(&schedule);
        schedule
    }

    fn id(&self, dimension: usize) -> V {
        self.field(32, offset_of!(Frame, id) + 4 * dimension)
    }

    /// A work-group begins.
    fn begin_group(&self, s: &Schedule) {
        let b = &self.b;
        let group = self.new_block();
        b.jump(group);
        b.at(group);
        let id = [0, 1, 2].map(|d| self.id(d));
        for (k, variable) in s.of_group.iter().enumerate() {
            let steps = b.field(self.constant_pointer(offset_of!(Frame, steps)), size_of::<[u32; 3]>() * k);
            let add = |sum: V, d: usize| {
                let step = b.load_invariant(b.elem(Elem::I(32)), b.field(steps, 4 * d), 4);
                b.add(sum, b.mul(step, id[d]))
            };
            b.store((0..3).fold(b.int(32, 0), add), *variable, 4);
        }
        for &(special, row) in &self.program.rows.specials {
            let d = match special {
                Special::GroupIdX => 0,
                Special::GroupIdY => 1,
                Special::GroupIdZ => 2,
                _ => continue,
            };
            if let Place::Ids(variable, _) = self.places[usize::from(row)] {
                b.store(id[d], variable, 4);
            }
        }
        b.store(self.field(64, offset_of!(Frame, group_budget)), self.budget, 8);
        if self.program.insts.iter().any(|i| i.mods.space == Some(MemorySpace::Local)) {
            let (some, none) = (self.new_block(), self.new_block());
            let bytes = self.constant_field(64, offset_of!(Frame, clear_bytes));
            b.branch(b.icmp(LLVMIntNE, bytes, b.int(64, 0)), some, none);
            b.at(some);
            self.call(offset_of!(Helpers, clear), &[self.frame]);
            b.jump(none);
            b.at(none);
        }
        for variable in [s.waiting, s.later] {
            b.store(b.int(1, 0), variable, 1);
        }
        b.store(b.int(32, 0), b.field(self.frame, offset_of!(Frame, phase)), 4);
        b.store(self.constant_pointer(offset_of!(Frame, slots)), self.slot, 8);
        b.jump(s.begin);

        b.at(s.begin);
        self.load_ids(s);
        self.clear_registers(None);
        for (row, place) in self.places.iter().enumerate() {
            if matches!(place, Place::Row(_)) && s.live.at.first().is_some_and(|live| live.rows[row]) {
                self.write_row(row as u16, Val::Same(b.int(32, 0)));
            }
        }
        let mask = b.load_invariant(b.elem(Elem::I(64)), b.field(self.slot(), offset_of!(WarpState, mask)), 8);
        b.store(if self.whole { self.all() } else { b.resize(mask, b.n) }, self.mask, 1);
        let control = self.slot_pointer(offset_of!(WarpState, control));
        b.store(mask, b.field(control, Control::LIVE), 8);
        b.store(b.int(32, u64::from(NOWHERE)), b.field(control, Control::RECONVERGE), 4);
        b.jump(self.blocks[0]);

        b.at(s.next);
        let slot = b.field(self.slot(), size_of::<WarpState>());
        b.store(slot, self.slot, 8);
        let (more, last) = (self.new_block(), self.new_block());
        let end = self.constant_pointer(offset_of!(Frame, slots_end));
        b.branch(b.icmp(LLVMIntNE, slot, end), more, last);
        b.at(more);
        let resume = self.new_block();
        if s.live.resumed.is_empty() {
            b.jump(s.begin);
        } else {
            b.branch(b.load(b.elem(Elem::I(1)), s.later, 1), resume, s.begin);
        }
        b.at(last);
        self.end_phase(s, resume, group);
        b.at(resume);
        self.resume(s);
    }

    /// All warps stand at a barrier or have ended.
    fn end_phase(&self, s: &Schedule, resume: Block, group: Block) {
        let b = &self.b;
        if !s.live.resumed.is_empty() {
            let (released, ended) = (self.new_block(), self.new_block());
            b.branch(b.load(b.elem(Elem::I(1)), s.waiting, 1), released, ended);
            b.at(released);
            b.store(b.int(1, 0), s.waiting, 1);
            b.store(b.int(1, 1), s.later, 1);
            b.store(b.int(32, 1), b.field(self.frame, offset_of!(Frame, phase)), 4);
            b.store(self.constant_pointer(offset_of!(Frame, slots)), self.slot, 8);
            b.jump(resume);
            b.at(ended);
        }
        // The work-group has ended.
        let count = |offset: usize| (b.field(self.frame, offset), self.field(64, offset));
        let ((used_place, used), (groups_place, groups)) = (count(offset_of!(Frame, used)), count(offset_of!(Frame, groups)));
        let left = b.load(b.elem(Elem::I(64)), self.budget, 8);
        let executed = b.sub(self.field(64, offset_of!(Frame, group_budget)), left);
        let used = b.add(used, executed);
        b.store(used, used_place, 8);
        let groups = b.sub(groups, b.int(64, 1));
        b.store(groups, groups_place, 8);
        let (another, none) = (self.new_block(), self.new_block());
        let more = b.icmp(LLVMIntNE, groups, b.int(64, 0));
        b.branch(b.and(more, b.icmp(LLVMIntULT, used, b.int(64, PORTION))), another, none);
        b.at(none);
        b.ret(b.int(32, Status::AllEnded as u64));
        b.at(another);
        // Ids of the next one, dimension 0 fastest.
        let mut carry = b.int(32, 1);
        for d in 0..3 {
            let id = b.add(self.id(d), carry);
            let wraps = b.icmp(LLVMIntUGE, id, self.constant_field(32, offset_of!(Frame, group_counts) + 4 * d));
            b.store(b.select(wraps, b.int(32, 0), id), b.field(self.frame, offset_of!(Frame, id) + 4 * d), 4);
            carry = b.resize(wraps, 32);
        }
        b.jump(group);
    }

    /// The ids of the warp at `slot`.
    fn load_ids(&self, s: &Schedule) {
        let b = &self.b;
        b.store(self.slot(), b.field(self.frame, offset_of!(Frame, slot)), 8);
        let n = b.n as usize;
        for (k, (row, of_group)) in id_rows(self.program).into_iter().zip(&s.of_group).enumerate() {
            let Place::Ids(variable, true) = self.places[usize::from(row)] else { continue };
            let ids = b.field(self.slot_pointer(offset_of!(WarpState, ids)), 4 * n * k);
            let ids = b.load_invariant(b.vector(Elem::I(32), b.n), ids, 4);
            let of_group = b.load(b.elem(Elem::I(32)), *of_group, 4);
            b.store(b.add(ids, b.splat(of_group)), variable, 4);
        }
        for &(special, row) in &self.program.rows.specials {
            if let (Special::WarpId, Place::Ids(variable, _)) = (special, self.places[usize::from(row)]) {
                let number = b.field(self.slot(), offset_of!(WarpState, number));
                b.store(b.load_invariant(b.elem(Elem::I(32)), number, 4), variable, 4);
            }
        }
    }

    /// Registers hold zeros, but those of `live` what is in the warp's rows.
    fn clear_registers(&self, live: Option<&Live>) {
        let b = &self.b;
        for (row, place) in self.places.iter().enumerate() {
            let Place::Variable(variable, lanes) = *place else { continue };
            let zero = || b.int(32, 0);
            let v = match live.is_some_and(|l| l.rows[row]) {
                true => match self.read_row(row as u16, lanes) {
                    Val::Same(v) | Val::Lanes(v) => v,
                },
                false if lanes => b.splat(zero()),
                false => zero(),
            };
            b.store(v, variable, 4);
        }
        for (i, variable) in self.predicates.iter().enumerate() {
            let Some(variable) = *variable else { continue };
            if live.is_some_and(|l| l.predicates[i]) {
                self.read_predicate_word(i, variable);
            } else {
                b.store(b.int(b.n, 0), variable, 1);
            }
        }
    }

    /// The warp at `slot` goes on behind the barrier at which it stands, if it has not ended.
    fn resume(&self, s: &Schedule) {
        let b = &self.b;
        let ids = self.new_block();
        let pc = b.load(b.elem(Elem::I(32)), b.field(self.slot(), offset_of!(WarpState, pc)), 4);
        b.branch(b.icmp(LLVMIntEQ, pc, b.int(32, u64::from(ENDED))), s.next, ids);
        b.at(ids);
        self.load_ids(s);
        let mask = if self.whole {
            self.all()
        } else {
            let live = b.field(self.slot_pointer(offset_of!(WarpState, control)), Control::LIVE);
            b.resize(b.load(b.elem(Elem::I(64)), live, 8), b.n)
        };
        b.store(mask, self.mask, 1);
        let places: Vec<(u64, Block)> = s.live.resumed.iter().map(|(block, _)| (u64::from(*block), self.new_block())).collect();
        let nowhere = self.new_block();
        b.switch(pc, &places, nowhere);
        b.at(nowhere);
        b.unreachable();
        for ((block, live), (_, at)) in s.live.resumed.iter().zip(&places) {
            b.at(*at);
            self.clear_registers(Some(live));
            b.jump(self.blocks[*block as usize]);
        }
    }

    /// All lanes of the warp end with a block, or come to a barrier: to the next warp.
    pub(super) fn end_of_warp(&self, s: &Schedule, number: usize, end: End) {
        let b = &self.b;
        let mut pc = ENDED;
        if let Some((block, live)) = s.live.resumed.iter().find(|(block, _)| end == End::Barrier && *block as usize == number + 1)
        {
            for (row, place) in self.places.iter().enumerate().filter(|(row, _)| live.rows[*row]) {
                if let Place::Variable(variable, lanes) = *place {
                    self.save(row as u16, variable, lanes);
                }
            }
            for (i, variable) in self.predicates.iter().enumerate().filter(|(i, _)| live.predicates[*i]) {
                if let Some(variable) = *variable {
                    self.write_predicate_word(i, variable);
                }
            }
            b.store(b.int(1, 1), s.waiting, 1);
            pc = *block;
        }
        if !s.live.resumed.is_empty() {
            b.store(b.int(32, u64::from(pc)), b.field(self.slot(), offset_of!(WarpState, pc)), 4);
        }
        b.jump(s.next);
    }

    /// Of registers that are not live any value may go to the warp's rows, so that no place is kept for them until then.
    pub(super) fn forget(&self, live: &Live) {
        let b = &self.b;
        for (_, place) in self.places.iter().enumerate().filter(|(row, _)| !live.rows[*row]) {
            if let Place::Variable(variable, lanes) = *place {
                let e = Elem::I(32);
                b.store(b.any(if lanes { b.vector(e, b.n) } else { b.elem(e) }), variable, 4);
            }
        }
        for (_, variable) in self.predicates.iter().enumerate().filter(|(i, _)| !live.predicates[*i]) {
            if let Some(variable) = *variable {
                b.store(b.any(b.elem(Elem::I(b.n))), variable, 1);
            }
        }
    }
}
