//! From a loaded kernel to one LLVM function: registers, operands and results; its control flow is in [`super::flow`].
//!
//! The function runs a warp from the block in its frame until the warp reaches a barrier, ends, or faults; or it
//! runs whole work-groups ([`super::schedule`]). Registers are variables of the function that LLVM turns into SSA
//! form, read from the warp's rows at the start and written back at the end, or stay there ([`super::homes`]). A register of the
//! scalar file, a constant or an immediate is a scalar of the host, everything else a vector of N lanes.
//!
//! EXEC is a variable too. In blocks outside every divergent region (the blocks between a `brad` and its
//! reconvergence point) the reconvergence stack is empty, so that jumps need not look at it, and if the
//! function is compiled for whole warps all lanes are active there. A branch whose lanes all go one way is
//! decided in place; one that splits the warp, and reaching a reconvergence point, call
//! [`crate::warp::Control`], which says where to go on.

use std::mem::{offset_of, size_of};

use inkwell::llvm_sys::LLVMIntPredicate::*;

use super::access::Tables;
use super::arith::Out;
use super::atomic::SCRATCH;
use super::build::{Block, Build, Elem, V, Val};
use super::homes::homes_in_rows;
use super::host::Host;
use super::liveness::used;
use super::places::{Base, bases, is_device};
use super::regions::{depths, regions, sides};
use super::schedule::{LiveAcrossBarriers, Schedule};
use super::sums::may_keep_apart;
use super::wide::wide_order;
use super::{Frame, Helpers, Interpreted, Sizes, Status, Variant, WarpState};
use crate::program::Program;
use heddle_isa::{Guard, Inst, Meaning, MemoryAction, Op, Reg, Space, Special};

/// Predicates of a warp.
#[derive(Clone, Copy)]
pub enum Bits {
    /// One bit, the same in all lanes.
    Same(V),
    /// A mask: an integer of N bits.
    Lanes(V),
}

/// Where a row's value is.
#[derive(Clone, Copy)]
pub(super) enum Place {
    /// Not used.
    Unused,
    /// A constant.
    Constant(u32),
    /// The same for all warps of the launch.
    Invariant(Val),
    /// Ids, which do not change while a warp runs: a variable of the function; of vectors if true.
    Ids(V, bool),
    /// A variable of the function; of vectors if true.
    Variable(V, bool),
    /// The warp's row ([`super::homes`]); of a scalar register if false.
    Row(bool),
    /// EXEC, the low or high half.
    Exec(bool),
}

/// An instruction being translated.
pub struct Site<'i> {
    /// Its number.
    pub index: usize,
    /// The instruction.
    pub inst: &'i Inst,
    /// Rows of destination and sources.
    pub rows: [u16; 4],
    /// Active lanes under the guard; `None`: all, known now.
    pub active: Option<V>,
    /// The lane whose operands count, for u-marked instructions (S5).
    pub first: Option<V>,
    /// The destination is a predicate register.
    pub predicate_dst: bool,
}

/// Lines of LLVM IR beyond which less code is worth more than a faster store: LLVM takes half a second and more.
const LARGE: u64 = 4_000;

/// A translation under way.
pub struct Translator<'p> {
    /// The builder.
    pub b: Build,
    pub(super) program: &'p Program,
    pub(super) sizes: Sizes,
    pub(super) frame: V,
    /// Variable: the warp that runs.
    pub(super) slot: V,
    pub(super) places: Vec<Place>,
    pub(super) predicates: Vec<Option<V>>,
    pub(super) mask: V,
    pub(super) budget: V,
    pub(super) status: V,
    /// Variables for loops over lanes: vectors of 64 bits a lane, and the lanes that are left.
    pub(super) scratch: [V; SCRATCH],
    pub(super) lanes_left: V,
    /// Variable: the first lane of those that load or store at once.
    pub(super) first_of_chunk: V,
    /// By instruction, if it loads from device memory in a loop: variable with the address of lane 0 when it did so last.
    pub(super) last: Vec<Option<V>>,
    pub(super) blocks: Vec<Block>,
    pub(super) dispatch: Block,
    pub(super) leave: Block,
    fault: Block,
    /// Compiled for warps whose lanes all live.
    pub(super) whole: bool,
    /// Compiled for checking mode.
    checked: bool,
    /// What the host's processor can do.
    pub(super) host: Host,
    /// The lane at each place of the wide order ([`super::wide`]).
    pub(super) wide_order: Vec<u32>,
    /// There is so much code that stores are loops ([`LARGE`]).
    pub(super) large: bool,
    /// Blocks of divergent regions.
    pub(super) divergent: Vec<bool>,
    /// Blocks where warps may reconverge.
    pub(super) meeting: Vec<bool>,
    /// How warps of whole work-groups follow each other, if it is these that are run.
    pub(super) schedule: Option<Schedule>,
    /// By block: where lanes may wait for those that reconverge there, other than there.
    pub(super) sides: Vec<Vec<u32>>,
    pub(super) function: V,
    pub(super) in_region: std::cell::Cell<bool>,
    /// The pointer arguments that accesses start from ([`super::places`]).
    pub(super) bases: Vec<Base>,
    pub(super) tables: Tables,
    /// Host threads may have copies of what the kernel's atomics change ([`super::sums`]).
    pub(super) apart: bool,
    /// The block that is being translated.
    pub(super) current: std::cell::Cell<usize>,
}

impl<'p> Translator<'p> {
    /// Builds the function of a program.
    pub fn translate(b: Build, program: &'p Program, sizes: Sizes, variant: Variant, name: &str, cpu: &str, features: &str) {
        let function = b.function(name, size_of::<Frame>() as u64, cpu, features);
        let (divergent, meeting) = regions(program);
        let entry = b.block(function);
        b.at(entry);
        let n = b.n;
        let frame = b.parameter(function);
        let (mask, budget, status) =
            (b.variable(b.elem(Elem::I(n))), b.variable(b.elem(Elem::I(64))), b.variable(b.elem(Elem::I(32))));
        let slot = b.variable(b.pointer());
        let scratch = [(); SCRATCH].map(|()| b.variable(b.vector(Elem::I(64), n)));
        let lanes_left = b.variable(b.elem(Elem::I(n)));
        let first_of_chunk = b.variable(b.elem(Elem::I(64)));
        let mut last = vec![None; program.insts.len()];
        for (block, _) in program.blocks.iter().zip(depths(program)).filter(|(_, depth)| *depth > 0) {
            let insts = program.insts.iter().enumerate().skip(block.first as usize);
            for (index, inst) in insts.take(block.body as usize) {
                if inst.info().meaning == Meaning::Memory(MemoryAction::Load) && is_device(inst) {
                    let variable = b.variable(b.elem(Elem::I(64)));
                    b.store(b.int(64, 0), variable, 8);
                    last[index] = Some(variable);
                }
            }
        }
        let blocks = program.blocks.iter().map(|_| b.block(function)).collect();
        let host = Host::new(cpu, features);
        let [dispatch, leave, fault] = [(); 3].map(|()| b.block(function));
        let bases = bases(program);
        let tables = Tables::new(&b, frame, program.header.surfaces.len(), bases.len());
        let mut t = Translator {
            b,
            program,
            sizes,
            frame,
            slot,
            places: Vec::new(),
            predicates: vec![None; 16],
            mask,
            budget,
            status,
            scratch,
            lanes_left,
            first_of_chunk,
            last,
            blocks,
            dispatch,
            leave,
            fault,
            whole: variant.whole,
            checked: variant.checked,
            host,
            wide_order: wide_order(n, host.vectors.0),
            large: super::lines(program) > LARGE,
            divergent,
            meeting,
            schedule: None,
            sides: sides(program),
            function,
            in_region: std::cell::Cell::new(true),
            bases,
            tables,
            apart: may_keep_apart(program) && !variant.checked,
            current: std::cell::Cell::new(0),
        };
        t.enter(variant.groups);
        for block in 0..program.blocks.len() {
            t.block(block);
        }
        t.finish();
    }

    /// A field of the frame.
    pub(super) fn field(&self, bits: u32, offset: usize) -> V {
        self.b.load(self.b.elem(Elem::I(bits)), self.b.field(self.frame, offset), 4)
    }

    /// A field of the frame that does not change while the function runs.
    pub(super) fn constant_field(&self, bits: u32, offset: usize) -> V {
        self.b.load_invariant(self.b.elem(Elem::I(bits)), self.b.field(self.frame, offset), 4)
    }

    /// A pointer in the frame.
    pub(super) fn constant_pointer(&self, offset: usize) -> V {
        self.b.load_invariant(self.b.pointer(), self.b.field(self.frame, offset), 8)
    }

    /// A field of the warp that runs; it does not change.
    pub(super) fn slot_pointer(&self, offset: usize) -> V {
        let slot = self.b.load(self.b.pointer(), self.slot, 8);
        self.b.load_invariant(self.b.pointer(), self.b.field(slot, offset), 8)
    }

    /// A field of [`Helpers`]. LLVM is not told that it does not change: it would keep what seldom is needed in a register.
    fn helper(&self, field: usize) -> V {
        self.b.load(self.b.pointer(), self.b.field(self.frame, offset_of!(Frame, helpers) + field), 8)
    }

    /// A call of a function of [`Helpers`].
    pub(super) fn call(&self, helper: usize, arguments: &[V]) -> V {
        self.b.call(self.helper(helper), arguments)
    }

    fn row_pointer(&self, row: u16) -> V {
        self.b.field(self.slot_pointer(offset_of!(WarpState, rows)), usize::from(row) * self.sizes.row)
    }

    /// Reads a row of the warp.
    pub(super) fn read_row(&self, row: u16, lanes: bool) -> Val {
        let p = self.row_pointer(row);
        if lanes {
            Val::Lanes(self.b.load_row(self.b.vector(Elem::I(32), self.b.n), p, 4))
        } else {
            Val::Same(self.b.load_row(self.b.elem(Elem::I(32)), p, 4))
        }
    }

    /// Writes a row of the warp, all lanes.
    pub(super) fn write_row(&self, row: u16, v: Val) {
        self.b.store_row(self.b.lanes(v), self.row_pointer(row), 4);
    }

    /// Decides where each row's value is, and starts a function's execution.
    fn enter(&mut self, groups: bool) {
        self.b.store(self.constant_pointer(offset_of!(Frame, slot)), self.slot, 8);
        let rows = &self.program.rows;
        let (used, predicates) = used(self.program);
        let scalar = rows.scalar..rows.scalar + self.program.header.scalar_registers as u16;
        let live = groups.then(|| LiveAcrossBarriers::new(self.program, &self.divergent));
        let homes = match &live {
            Some(live) => homes_in_rows(self.program, &live.resumed, self.host.registers_of_row(self.b.n)),
            None => vec![false; usize::from(rows.total)],
        };
        let variable = |lanes: bool| {
            let ty = if lanes { self.b.vector(Elem::I(32), self.b.n) } else { self.b.elem(Elem::I(32)) };
            self.b.variable(ty)
        };
        let literal = |row: u16| {
            let word = row.checked_sub(rows.constants).filter(|w| *w < rows.constant_words)?;
            self.program.header.literals.word(4 * u32::from(word))
        };
        let place = |row: u16| {
            let special = rows.specials.iter().find(|(_, r)| *r == row || *r + 1 == row);
            if !used[usize::from(row)] {
                Place::Unused
            } else if row < 4 {
                Place::Constant(0)
            } else if row >= rows.immediates {
                Place::Constant(rows.immediate_values[usize::from(row - rows.immediates)])
            } else if row >= rows.surfaces {
                Place::Ids(variable(true), true)
            } else if let Some((special, first)) = special {
                match special {
                    _ if *first != row => Place::Constant(0),
                    Special::ExecLow => Place::Exec(false),
                    Special::ExecHigh => Place::Exec(true),
                    Special::LaneId => Place::Invariant(Val::Lanes(self.b.ramp(32, 1))),
                    Special::WarpId | Special::GroupIdX | Special::GroupIdY | Special::GroupIdZ => {
                        Place::Ids(variable(false), false)
                    }
                    s if s.is_uniform() => Place::Invariant(self.read_row(row, false)),
                    _ => Place::Ids(variable(true), true),
                }
            } else if let Some(word) = literal(row) {
                Place::Constant(word)
            } else if row >= rows.constants && row < rows.constants + rows.constant_words {
                Place::Invariant(self.read_row(row, false))
            } else {
                let lanes = !scalar.contains(&row);
                if homes[usize::from(row)] { Place::Row(lanes) } else { Place::Variable(variable(lanes), lanes) }
            }
        };
        let places = (0..rows.total).map(place).collect();
        let predicate = |used: bool| used.then(|| self.b.variable(self.b.elem(Elem::I(self.b.n))));
        let predicates = predicates.into_iter().map(predicate).collect();
        (self.places, self.predicates) = (places, predicates);
        if let Some(live) = live {
            self.schedule = Some(self.begin_schedule(live));
            return;
        }
        for (row, place) in self.places.iter().enumerate() {
            if let Place::Variable(variable, lanes) | Place::Ids(variable, lanes) = *place {
                let (Val::Same(v) | Val::Lanes(v)) = self.read_row(row as u16, lanes);
                self.b.store(v, variable, 4);
            }
        }
        for (i, variable) in self.predicates.iter().enumerate() {
            if let Some(variable) = *variable {
                self.read_predicate_word(i, variable);
            }
        }
        self.b.store(self.field(64, offset_of!(Frame, budget)), self.budget, 8);
        self.b.jump(self.dispatch);
    }

    /// Reads the warp's predicates of number `i` into a variable.
    pub(super) fn read_predicate_word(&self, i: usize, variable: V) {
        let value = self.b.load(self.b.elem(Elem::I(64)), self.predicate_pointer(i), 8);
        self.b.store(self.b.resize(value, self.b.n), variable, 1);
    }

    /// Writes a variable to the warp's predicates of number `i`.
    pub(super) fn write_predicate_word(&self, i: usize, variable: V) {
        self.b.store(self.b.resize(self.read_mask(variable), 64), self.predicate_pointer(i), 8);
    }

    fn predicate_pointer(&self, i: usize) -> V {
        self.b.field(self.slot_pointer(offset_of!(WarpState, predicates)), 8 * i)
    }

    /// The blocks that all others share.
    fn finish(&self) {
        self.b.at(self.dispatch);
        self.b.store(self.b.resize(self.field(64, offset_of!(Frame, mask)), self.b.n), self.mask, 1);
        if let Some(schedule) = &self.schedule {
            // Where lanes go on of which only the stack knows.
            self.forget(&schedule.live.waiting_lanes);
            self.b.store(self.b.int(32, Status::BlockStart as u64), self.status, 4);
            self.b.jump(self.leave);
        } else {
            let nowhere = self.b.block(self.function);
            let cases: Vec<(u64, Block)> = self.blocks.iter().enumerate().map(|(i, b)| (i as u64, *b)).collect();
            self.b.switch(self.field(32, offset_of!(Frame, pc)), &cases, nowhere);
            self.b.at(nowhere);
            self.b.unreachable();
        }

        self.b.at(self.leave);
        for (row, place) in self.places.iter().enumerate() {
            if let Place::Variable(variable, lanes) = *place {
                self.save(row as u16, variable, lanes);
            }
        }
        for (i, p) in self.predicates.iter().enumerate() {
            if let Some(p) = *p {
                self.write_predicate_word(i, p);
            }
        }
        self.b.store(self.b.resize(self.read_mask(self.mask), 64), self.b.field(self.frame, offset_of!(Frame, mask)), 8);
        let budget = self.b.load(self.b.elem(Elem::I(64)), self.budget, 8);
        self.b.store(budget, self.b.field(self.frame, offset_of!(Frame, budget)), 8);
        self.b.ret(self.b.load(self.b.elem(Elem::I(32)), self.status, 4));

        self.b.at(self.fault);
        self.b.ret(self.b.int(32, Status::Fault as u64));
    }

    /// Writes a variable to the warp's row.
    pub(super) fn save(&self, row: u16, variable: V, lanes: bool) {
        let e = Elem::I(32);
        self.write_row(
            row,
            match lanes {
                true => Val::Lanes(self.b.load(self.b.vector(e, self.b.n), variable, 4)),
                false => Val::Same(self.b.load(self.b.elem(e), variable, 4)),
            },
        );
    }

    pub(super) fn read_mask(&self, variable: V) -> V {
        self.b.load(self.b.elem(Elem::I(self.b.n)), variable, 1)
    }

    /// All lanes.
    pub(super) fn all(&self) -> V {
        self.b.int(self.b.n, u64::MAX)
    }

    /// EXEC.
    pub(super) fn mask(&self) -> V {
        if self.whole && !self.in_region.get() { self.all() } else { self.read_mask(self.mask) }
    }

    /// The value of a row.
    pub(super) fn row(&self, row: u16) -> Val {
        match self.places[usize::from(row)] {
            Place::Unused => Val::Same(self.b.int(32, 0)),
            Place::Constant(v) => Val::Same(self.b.int(32, u64::from(v))),
            Place::Invariant(v) => v,
            Place::Variable(v, true) | Place::Ids(v, true) => Val::Lanes(self.b.load(self.b.vector(Elem::I(32), self.b.n), v, 4)),
            Place::Variable(v, false) | Place::Ids(v, false) => Val::Same(self.b.load(self.b.elem(Elem::I(32)), v, 4)),
            Place::Row(lanes) => self.read_row(row, lanes),
            Place::Exec(high) => {
                let mask = self.b.resize(self.mask(), 64);
                let shifted = self.b.lshr(mask, self.b.int(64, if high { 32 } else { 0 }));
                Val::Same(self.b.resize(shifted, 32))
            }
        }
    }

    /// A word of a source; of a u-marked instruction, that of the lane that counts.
    pub(super) fn word(&self, s: &Site, i: usize, w: u8) -> Val {
        let v = self.row(s.rows[i + 1] + u16::from(w));
        match s.first {
            Some(lane) => Val::Same(self.b.lane(v, lane)),
            None => v,
        }
    }

    /// A source that is a predicate: a register, or a row that is not zero.
    pub(super) fn predicate(&self, s: &Site, i: usize) -> Bits {
        match s.inst.srcs[i].as_phys() {
            Some(p) if p.space == Space::Predicate => {
                let mask = self.read_predicate(p.index);
                match s.first {
                    Some(lane) => {
                        let bit = self.b.lshr(mask, self.b.resize(lane, self.b.n));
                        Bits::Same(self.b.resize(bit, 1))
                    }
                    None => Bits::Lanes(mask),
                }
            }
            _ => {
                let v = self.b.lane(self.row(s.rows[i + 1]), self.b.int(32, 0));
                Bits::Same(self.b.icmp(LLVMIntNE, v, self.b.int(32, 0)))
            }
        }
    }

    pub(super) fn read_predicate(&self, index: u8) -> V {
        match self.predicates[usize::from(index & 15)] {
            Some(p) => self.read_mask(p),
            None => self.b.int(self.b.n, 0),
        }
    }

    /// As a mask.
    pub(super) fn bits_of(&self, bits: Bits) -> V {
        match bits {
            Bits::Same(v) => self.b.spread(v),
            Bits::Lanes(v) => v,
        }
    }

    /// The active lanes of an instruction; `None`: all.
    fn active(&self, inst: &Inst) -> Option<V> {
        let mask = if self.whole && !self.in_region.get() { None } else { Some(self.read_mask(self.mask)) };
        let Some(Guard { reg: Reg::Physical(p), negate }) = inst.guard else { return mask };
        let guard = self.read_predicate(p.index);
        let guard = if negate { self.b.not(guard) } else { guard };
        Some(mask.map_or(guard, |m| self.b.and(m, guard)))
    }

    /// Writes words of the destination in the active lanes.
    pub(super) fn write(&self, s: &Site, values: &[Val]) {
        for (k, v) in values.iter().enumerate() {
            let row = s.rows[0] + k as u16;
            match self.places[usize::from(row)] {
                Place::Row(true) => {
                    let mut new = self.b.lanes(*v);
                    if let (Some(active), Val::Lanes(old)) = (s.active, self.read_row(row, true)) {
                        new = self.b.select(self.b.mask_to_lanes(active), new, old);
                    }
                    self.write_row(row, Val::Lanes(new));
                }
                Place::Row(false) => self.write_row(row, Val::Same(self.b.lane(*v, self.b.int(32, 0)))),
                Place::Variable(variable, true) => {
                    let mut new = self.b.lanes(*v);
                    if let Some(active) = s.active {
                        let old = self.b.load(self.b.vector(Elem::I(32), self.b.n), variable, 4);
                        new = self.b.select(self.b.mask_to_lanes(active), new, old);
                    }
                    self.b.store(new, variable, 4);
                }
                Place::Variable(variable, false) => {
                    self.b.store(self.b.lane(*v, self.b.int(32, 0)), variable, 4);
                }
                _ => {}
            }
        }
    }

    fn write_bits(&self, s: &Site, bits: Bits) {
        if !s.predicate_dst {
            let bit = match bits {
                Bits::Same(v) => v,
                Bits::Lanes(v) => self.b.resize(v, 1),
            };
            return self.write(s, &[Val::Same(self.b.resize(bit, 32))]);
        }
        let Some(p) = s.inst.dst.as_phys().and_then(|p| self.predicates[usize::from(p.index & 15)]) else { return };
        let mut new = self.bits_of(bits);
        if let Some(active) = s.active {
            let old = self.read_mask(p);
            new = self.b.or(self.b.and(old, self.b.not(active)), self.b.and(new, active));
        }
        self.b.store(new, p, 1);
    }

    /// Executes an instruction by the interpreter's function: its operands go to the warp's rows, its results come back.
    pub(super) fn interpret(&self, s: &Site) {
        let inst = s.inst;
        let sync = |row: u16| match self.places[usize::from(row)] {
            Place::Variable(variable, lanes) | Place::Ids(variable, lanes) => self.save(row, variable, lanes),
            Place::Exec(_) => {
                let (Val::Same(v) | Val::Lanes(v)) = self.row(row);
                self.write_row(row, Val::Same(v));
            }
            _ => {}
        };
        let mut predicates = Vec::new();
        for (i, src) in inst.srcs.iter().enumerate() {
            match src.as_phys() {
                Some(p) if p.space == Space::Predicate => predicates.push(p.index),
                _ => (0..u16::from(inst.src_words(i).max(1))).for_each(|w| sync(s.rows[i + 1] + w)),
            }
        }
        if let Some(Guard { reg: Reg::Physical(p), .. }) = inst.guard {
            predicates.push(p.index);
        }
        if s.predicate_dst {
            predicates.extend(inst.dst.as_phys().map(|p| p.index));
        } else {
            (0..u16::from(inst.dst_words().max(1))).filter(|_| inst.dst.is_some()).for_each(|w| sync(s.rows[0] + w));
        }
        for p in predicates {
            let mask = self.b.resize(self.read_predicate(p), 64);
            self.b.store(mask, self.predicate_pointer(usize::from(p & 15)), 8);
        }
        self.b.store(self.b.resize(self.mask(), 64), self.b.field(self.frame, offset_of!(Frame, mask)), 8);
        let code = self.b.field(self.helper(offset_of!(Helpers, code)), s.index * self.sizes.decoded);
        let result = self.call(offset_of!(Helpers, interpret), &[self.frame, code]);
        let is = |what: Interpreted| self.b.icmp(LLVMIntEQ, result, self.b.int(32, what as u64));
        let next = self.b.block(self.function);
        let pauses = self.checked && matches!(inst.op, Op::Load | Op::LoadUniform);
        if pauses {
            self.b.branch(is(Interpreted::Fault), self.fault, next);
        } else {
            self.b.likely(is(Interpreted::Done), next, self.fault);
        }
        self.b.at(next);
        if s.predicate_dst {
            if let Some(p) = inst.dst.as_phys() {
                let v = self.b.load(self.b.elem(Elem::I(64)), self.predicate_pointer(usize::from(p.index & 15)), 8);
                if let Some(variable) = self.predicates[usize::from(p.index & 15)] {
                    self.b.store(self.b.resize(v, self.b.n), variable, 1);
                }
            }
        } else if inst.dst.is_some() {
            for w in 0..u16::from(inst.dst_words().max(1)) {
                let row = s.rows[0] + w;
                if let Place::Variable(variable, lanes) = self.places[usize::from(row)] {
                    let (Val::Same(v) | Val::Lanes(v)) = self.read_row(row, lanes);
                    self.b.store(v, variable, 4);
                }
            }
        }
        if pauses {
            let (goes_on, pause) = (self.b.block(self.function), self.b.block(self.function));
            self.b.likely(is(Interpreted::Done), goes_on, pause);
            self.b.at(pause);
            let resume = self.b.int(32, s.index as u64 + 1);
            self.b.store(resume, self.b.field(self.frame, offset_of!(Frame, resume)), 4);
            self.stop(self.current.get(), Status::Undefined);
            self.b.at(goes_on);
        }
    }

    /// Whether the operands of a u-marked instruction are the same in all active lanes (one bit, S8).
    fn same_operands(&self, s: &Site, first: V) -> V {
        let b = &self.b;
        let mut same = b.int(1, 1);
        for (i, src) in s.inst.srcs.iter().enumerate() {
            if let Some(p) = src.as_phys().filter(|p| p.space == Space::Predicate) {
                let mask = self.read_predicate(p.index);
                let bit = b.resize(b.lshr(mask, b.resize(first, b.n)), 1);
                let different = b.xor(mask, b.spread(bit));
                let different = s.active.map_or(different, |m| b.and(different, m));
                same = b.and(same, b.icmp(LLVMIntEQ, different, b.int(b.n, 0)));
                continue;
            }
            let surface = i == 1 && s.inst.is_memory();
            for w in 0..u16::from(s.inst.src_words(i)).max(u16::from(surface)) {
                if let v @ Val::Lanes(lanes) = self.row(s.rows[i + 1] + w) {
                    let equal = b.icmp(LLVMIntEQ, lanes, b.splat(b.lane(v, first)));
                    same = b.and(same, self.everywhere(s, equal));
                }
            }
        }
        same
    }

    /// A new block of the function.
    pub(super) fn new_block(&self) -> Block {
        self.b.block(self.function)
    }

    /// The number of the first lane of a mask (32 bits); if it has none, that of any lane: an element that a vector has.
    pub(super) fn first_lane(&self, mask: V) -> V {
        let b = &self.b;
        let lane = b.intrinsic_of("llvm.cttz", &[mask, b.int(1, 0)]);
        b.and(b.resize(lane, 32), b.int(32, u64::from(b.n - 1)))
    }

    /// Translates an instruction that does not end a block.
    pub(super) fn instruction(&self, index: usize) {
        let inst = &self.program.insts[index];
        let mut active = self.active(inst);
        let scalar = inst.writes_scalar_register();
        let first = inst.uniform.then(|| match active {
            None => self.b.int(32, 0),
            Some(m) => self.first_lane(m),
        });
        if scalar && inst.op != Op::First {
            active = None;
        }
        let predicate_dst = matches!(inst.dst.as_phys(), Some(p) if p.space == Space::Predicate);
        let site = Site { index, inst, rows: self.program.operands[index], active, first, predicate_dst };
        match first {
            Some(lane) if self.checked => {
                let done = self.new_block();
                let differ = self.form(self.same_operands(&site, lane), true);
                self.translated(&site);
                self.next_form(done, differ);
                // Reports it, or does it, as the options say.
                self.interpret(&site);
                self.b.jump(done);
                self.b.at(done);
            }
            _ => self.translated(&site),
        }
    }

    /// Translates an instruction, or has it interpreted.
    fn translated(&self, site: &Site) {
        match site.inst.info().meaning {
            Meaning::Memory(MemoryAction::Load) if self.load(site) => {}
            Meaning::Memory(MemoryAction::Store) if self.store(site) => {}
            Meaning::Memory(MemoryAction::Atomic) if self.atomic(site) => {}
            Meaning::Memory(_) => self.interpret(site),
            Meaning::Lane(_) | Meaning::CrossLane(_) => match self.compute(site) {
                Some(Out::Words(words)) => self.write(site, &words),
                Some(Out::Bits(bits)) => self.write_bits(site, bits),
                None => self.interpret(site),
            },
            // Nothing is to be done in lanes. (What ends a block is `block`'s.)
            Meaning::Control | Meaning::Pseudo => {}
        }
    }
}
