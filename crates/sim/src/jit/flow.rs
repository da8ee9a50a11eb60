//! Control flow: a block with its counters and its end, branches that split a warp, and places where lanes meet again.
//!
//! What lanes wait for is in the warp's [`Control`], as in the interpreter, whose functions are called where lanes begin to wait
//! or meet; a branch that all lanes take one way, and one by which lanes join others that wait, are decided in place.

use std::mem::offset_of;

use inkwell::llvm_sys::LLVMIntPredicate::*;

use super::build::{Block, Elem, V};
use super::liveness::live_at_end;
use super::translate::Translator;
use super::{Frame, Helpers, Status, WarpState};
use crate::program::End;
use crate::warp::Control;

impl Translator<'_> {
    /// Adds to a block's counter.
    fn count(&self, field: usize, block: usize, by: V) {
        let p = self.b.field(self.constant_pointer(field), 8 * block);
        let old = self.b.load(self.b.elem(Elem::I(64)), p, 8);
        self.b.store(self.b.add(old, by), p, 8);
    }

    /// Translates a block: its entry's counters, its instructions, the budget, its end.
    pub(super) fn block(&self, number: usize) {
        let block = &self.program.blocks[number];
        self.in_region.set(self.divergent[number]);
        self.current.set(number);
        self.b.at(self.blocks[number]);
        if self.whole && !self.divergent[number] {
            self.count(offset_of!(Frame, whole_executions), number, self.b.int(64, 1));
        } else {
            self.count(offset_of!(Frame, executions), number, self.b.int(64, 1));
            let lanes = self.b.intrinsic_of("llvm.ctpop", &[self.b.resize(self.mask(), 64)]);
            self.count(offset_of!(Frame, lane_counts), number, lanes);
        }
        for i in block.first..block.first + block.body {
            self.instruction(i as usize);
        }
        // The budget of instructions (a fault when it is used up).
        let length = self.b.int(64, u64::from(block.len()));
        let budget = self.b.load(self.b.elem(Elem::I(64)), self.budget, 8);
        let (runaway, goes_on) = (self.b.block(self.function), self.b.block(self.function));
        self.b.likely(self.b.icmp(LLVMIntUGE, budget, length), goes_on, runaway);
        self.b.at(runaway);
        self.stop(number, Status::Runaway);
        self.b.at(goes_on);
        self.b.store(self.b.sub(budget, length), self.budget, 8);
        let next = number as u32 + 1;
        match block.end {
            End::Fall => self.go(next),
            End::Jump(target) => self.go(target),
            End::Scalar { condition, if_zero, target } => {
                let v = self.b.lane(self.row(condition), self.b.int(32, 0));
                let zero = self.b.icmp(LLVMIntEQ, v, self.b.int(32, 0));
                let (yes, no) = (self.b.block(self.function), self.b.block(self.function));
                if if_zero {
                    self.b.branch(zero, yes, no)
                } else {
                    self.b.branch(zero, no, yes)
                }
                self.b.at(yes);
                self.go(target);
                self.b.at(no);
                self.go(next);
            }
            End::Divergent { predicate, negate, target, reconverge } => {
                let p = self.read_predicate(predicate);
                let p = if negate { self.b.not(p) } else { p };
                let mask = self.mask();
                let taken = self.b.and(p, mask);
                let [none, some, all, both] = [(); 4].map(|()| self.b.block(self.function));
                self.b.branch(self.b.icmp(LLVMIntEQ, taken, self.b.int(self.b.n, 0)), none, some);
                self.b.at(none);
                self.go(next);
                self.b.at(some);
                self.b.branch(self.b.icmp(LLVMIntEQ, taken, mask), all, both);
                self.b.at(all);
                self.go(target);
                self.b.at(both);
                self.split((mask, taken), target, next, reconverge);
            }
            End::Exit | End::Barrier if !self.divergent[number] => {
                // No lane waits: the warp has ended, or stands at the barrier.
                match &self.schedule {
                    Some(schedule) => self.end_of_warp(schedule, number, block.end),
                    None => self.stop(number, Status::BlockEnd),
                }
            }
            End::Exit | End::Trap | End::Barrier => self.stop(number, Status::BlockEnd),
        }
    }

    /// Splits the warp: lanes of `taken` go to `target`, the others of `mask` to `next`. As
    /// [`Control::diverge`] does, which is called where lanes begin to wait.
    fn split(&self, (mask, taken): (V, V), target: u32, next: u32, reconverge: u32) {
        let b = &self.b;
        let call = || {
            b.store(b.resize(mask, 64), b.field(self.frame, offset_of!(Frame, mask)), 8);
            let place = |v: u32| b.int(32, u64::from(v));
            let arguments = [self.frame, b.resize(taken, 64), place(target), place(next), place(reconverge)];
            self.call(offset_of!(Helpers, diverge), &arguments);
        };
        let count = || {
            let splits = b.field(self.frame, offset_of!(Frame, splits));
            b.store(b.add(b.load(b.elem(Elem::I(64)), splits, 8), b.int(64, 1)), splits, 8);
        };
        if target == reconverge && next == reconverge {
            count();
            return self.go(target);
        }
        // Lanes that go to the reconvergence point wait there, the fall-through side runs first otherwise.
        let (lanes, to) = if next == reconverge { (taken, target) } else { (b.and(mask, b.not(taken)), next) };
        if target == reconverge || next == reconverge {
            // Others wait there already, as in a loop that lanes leave one after the other.
            let control = self.slot_pointer(offset_of!(WarpState, control));
            let waits = b.load(b.elem(Elem::I(32)), b.field(control, Control::RECONVERGE), 4);
            let first = self.form(b.icmp(LLVMIntEQ, waits, b.int(32, u64::from(reconverge))), true);
            count();
            b.store(lanes, self.mask, 1);
            self.next_form(self.blocks[to as usize], first);
        }
        call();
        b.store(lanes, self.mask, 1);
        b.jump(self.blocks[to as usize]);
    }

    /// Leaves the function at a block.
    pub(super) fn stop(&self, block: usize, status: Status) {
        self.b.store(self.b.int(32, block as u64), self.b.field(self.frame, offset_of!(Frame, pc)), 4);
        if let Some(schedule) = &self.schedule {
            let mut live = live_at_end(self.program, &schedule.live.at, block);
            if self.divergent[block] {
                live.add(&schedule.live.waiting_lanes);
            }
            self.forget(&live);
        }
        if self.whole && !self.in_region.get() {
            self.b.store(self.all(), self.mask, 1);
        }
        self.b.store(self.b.int(32, status as u64), self.status, 4);
        self.b.jump(self.leave);
    }

    /// Goes to a block with all active lanes: to what waits, if this is where they meet.
    fn go(&self, target: u32) {
        let to = self.blocks[target as usize];
        if !self.in_region.get() || !self.meeting[target as usize] {
            return self.b.jump(to);
        }
        let control = self.slot_pointer(offset_of!(WarpState, control));
        let reconverge = self.b.load(self.b.elem(Elem::I(32)), self.b.field(control, Control::RECONVERGE), 4);
        let meet = self.b.block(self.function);
        let here = self.b.int(32, u64::from(target));
        self.b.branch(self.b.icmp(LLVMIntEQ, reconverge, here), meet, to);
        self.b.at(meet);
        self.b.store(self.b.resize(self.mask(), 64), self.b.field(self.frame, offset_of!(Frame, mask)), 8);
        self.call(offset_of!(Helpers, reconverge), &[self.frame, here]);
        // Mostly nobody is left elsewhere.
        let goes_on = self.b.icmp(LLVMIntEQ, self.field(32, offset_of!(Frame, pc)), here);
        let elsewhere = self.form(goes_on, false);
        self.b.store(self.b.resize(self.field(64, offset_of!(Frame, mask)), self.b.n), self.mask, 1);
        self.next_form(to, elsewhere);
        let sides = &self.sides[target as usize];
        if self.schedule.is_none() || sides.is_empty() {
            return self.b.jump(self.dispatch);
        }
        self.b.store(self.b.resize(self.field(64, offset_of!(Frame, mask)), self.b.n), self.mask, 1);
        let cases: Vec<(u64, Block)> = sides.iter().map(|side| (u64::from(*side), self.blocks[*side as usize])).collect();
        self.b.switch(self.field(32, offset_of!(Frame, pc)), &cases, self.dispatch);
    }
}
