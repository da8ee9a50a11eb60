//! Where variables of the source are in the finished code.
//!
//! # Problem
//! A debugger asks, before any instruction, for the value of a variable. Selection says which value each variable is
//! bound to from which point of the program on ([`heddle_mir::variables`]); scheduling moves instructions across such
//! points, and allocation moves values between registers, slots and files, or lets go of them. What is said must never
//! be wrong; "not there" is always right.
//!
//! # Algorithm
//! No stage knows of bindings, so that code is the same with and without. Two analyses enclose them:
//!
//! 1. [`super::bindings::freeze`], before phis are lowered: what each variable is bound to at the start of each block, by a
//!    forward analysis, and for each instruction the point of the program that it stands for and the value that it
//!    defines. Where several values meet, a phi that merges just these is the variable's value.
//! 2. This stage, when allocation is done: which location holds which value before each instruction, by symbolic
//!    interpretation, after the allocation checker ([`super::checker`]). At an edge to phis, what holds an input
//!    holds the phi. A value that a block defines is unknown from the block's start, where locations may still have that
//!    of an earlier iteration.
//!
//! Before an instruction a variable has the value that it is bound to at the instruction's *point*, whatever was moved in
//! front of it, if some location holds that value. What is in private memory is known where no store has been moved
//! across the instruction.
//!
//! References: LLVM's instruction-referencing debug information ("How to Update Debug Info", `InstrRefBasedImpl.cpp`), which
//! also tracks values by their definitions over final machine code and joins them at phis; regalloc2's checker.
//!
//! # Divergence
//! As in the checker, each lane's registers follow its path. A scalar register survives the time that a lane waits only if
//! nothing on the other side writes it.
//!
//! May touch: the functions' bindings, and the points of instructions.

use std::collections::BTreeMap;
use std::rc::Rc;

use cranelift_entity::{EntityRef, SecondaryMap};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

use super::CodegenError;
use super::bindings::{Bound, Frozen, word_of};
use super::checker::state::{Entry, Locations, State, Symbol};
use super::context::{Allocation, Context};
use super::spill::{INSERTED, Origins};

use heddle_isa::{Inst, MemorySpace, Op, Operand, Space, VReg};
use heddle_mir::cfg::Cfg;
use heddle_mir::variables::{Held, Key};
use heddle_mir::{Bank, Block, Function};
use heddle_object::variables::{Value, Word};

/// Finds the places of variables.
pub fn run(function: &mut Function, context: &mut Context) -> Result<(), CodegenError> {
    let Some((frozen, mut variables)) = context.frozen.take().zip(function.variables.take()) else { return Ok(()) };
    let Allocation { session, .. } = context.allocation(function);
    let cfg = Cfg::new(function);
    let search = Search::new(function, &cfg, &frozen, &session.origins, session.first_slot);
    let entries = search.entries();
    let mut held: Vec<Held> = Vec::new();
    let mut points: Vec<(Block, Vec<u32>)> = Vec::new();
    for &block in &function.layout {
        let mut numbers = Vec::new();
        // What nothing reaches has no places.
        let all = match &entries[block] {
            Some(entry) => search.describe(block, entry, &variables.everywhere),
            None => vec![Held::default(); function.blocks[block].insts.len()],
        };
        for one in all {
            if held.last() != Some(&one) {
                held.push(one);
            }
            numbers.push(held.len() as u32);
        }
        points.push((block, numbers));
    }
    for (block, numbers) in points {
        for (inst, number) in function.blocks[block].insts.iter_mut().zip(numbers) {
            inst.loc.point = number;
        }
    }
    variables.held = held;
    function.variables = Some(variables);
    Ok(())
}

/// What an edge takes away: scalar registers that change while a lane waits on it, and local registers, which strands lose.
#[derive(Default)]
struct Lost {
    scalars: FxHashSet<u32>,
    locals: bool,
}

struct Search<'a> {
    function: &'a Function,
    cfg: &'a Cfg,
    frozen: &'a Frozen,
    origins: &'a Origins,
    locations: Locations,
    /// First symbol of each register.
    symbols: SecondaryMap<VReg, Symbol>,
    /// Bank of each symbol's register.
    banks: Vec<Bank>,
    /// Symbols of what never changes.
    fixed: FxHashMap<Operand, Symbol>,
    lost: FxHashMap<(Block, Block), Lost>,
    /// Blocks of the layout: others have gone, their code perhaps into one of these.
    is_placed: SecondaryMap<Block, bool>,
}

impl<'a> Search<'a> {
    fn new(function: &'a Function, cfg: &'a Cfg, frozen: &'a Frozen, origins: &'a Origins, first_slot: u32) -> Self {
        let mut symbols = SecondaryMap::with_capacity(frozen.vregs.len());
        let mut banks = Vec::new();
        for (reg, class) in frozen.vregs.iter() {
            symbols[reg] = banks.len() as Symbol;
            banks.extend((0..class.registers()).map(|_| class.bank));
        }
        let mut fixed = FxHashMap::default();
        let mut add = |op: Operand| {
            for word in (0..2).filter_map(|w| word_of(op, w)).filter(|w| w.as_virt().is_none()) {
                let next = (banks.len() + fixed.len()) as Symbol;
                fixed.entry(word).or_insert(next);
            }
        };
        let moves = function.layout.iter().flat_map(|b| &function.blocks[*b].insts).filter(|i| i.op == Op::Mov);
        moves.for_each(|i| add(i.srcs[0]));
        frozen.phis.values().flatten().flat_map(|p| &p.inputs).for_each(|(_, op)| add(*op));
        let locations = Locations::new(first_slot);
        let mut is_placed = SecondaryMap::with_capacity(function.blocks.len());
        function.layout.iter().for_each(|b| is_placed[*b] = true);
        let lost = FxHashMap::default();
        let mut search = Search { function, cfg, frozen, origins, locations, symbols, banks, fixed, lost, is_placed };
        search.find_lost();
        search
    }

    /// Notes what edges take away.
    fn find_lost(&mut self) {
        for d in self.cfg.divergent_branches(self.function) {
            let first = self.cfg.region(d.fall_through, d.reconverge);
            let second = self.cfg.region(d.taken, d.reconverge);
            let (one, two) = (self.changes(first.ones()), self.changes(second.ones()));
            let mut note = |from: Block, to: Block, changes: &Lost| {
                let lost = self.lost.entry((from, to)).or_default();
                lost.scalars.extend(&changes.scalars);
                lost.locals |= changes.locals;
            };
            note(d.branch, d.taken, &one);
            let Some(join) = d.reconverge else { continue };
            for &p in &self.cfg.edges[join].preds {
                if p == d.branch || first.contains(p.index()) || second.contains(p.index()) {
                    note(p, join, &one);
                    note(p, join, &two);
                }
            }
        }
    }

    /// What blocks do to registers of lanes that wait.
    fn changes(&self, blocks: impl Iterator<Item = usize>) -> Lost {
        let mut lost = Lost::default();
        for inst in blocks.flat_map(|b| &self.function.blocks[Block::new(b)].insts) {
            lost.locals |= inst.strand;
            if let Some(dst) = inst.dst.as_phys().filter(|d| d.space == Space::Scalar) {
                lost.scalars.extend(self.locations.of(dst, inst.dst_words(), 0));
            }
        }
        lost
    }

    /// What locations hold at the start of each block that is reached.
    fn entries(&self) -> SecondaryMap<Block, Option<Entry>> {
        let mut number: SecondaryMap<Block, usize> = SecondaryMap::with_default(usize::MAX);
        self.cfg.rpo.iter().enumerate().for_each(|(i, b)| number[*b] = i);
        let mut entries: SecondaryMap<Block, Option<Entry>> = SecondaryMap::new();
        entries[self.function.entry()] = Some(Entry::default());
        let mut queue: std::collections::BTreeSet<usize> = [0].into();
        let mut state = State::default();
        while let Some(position) = queue.pop_first() {
            let block = self.cfg.rpo[position];
            let Some(entry) = &entries[block] else { continue };
            state.load(entry);
            self.enter(block, &mut state);
            for (inst, origin) in self.instructions(block) {
                self.execute(inst, origin, &mut state);
            }
            let out = state.store();
            for &to in &self.cfg.edges[block].succs {
                let arriving = self.along(block, to, &out, &mut state);
                let changed = match &mut entries[to] {
                    None => {
                        entries[to] = Some(arriving);
                        true
                    }
                    Some(old) => old.meet(&arriving, |_| true, |_| true),
                };
                if changed {
                    queue.insert(number[to]);
                }
            }
        }
        entries
    }

    fn instructions(&self, block: Block) -> impl Iterator<Item = (&'a Inst, u32)> + use<'a> {
        let origins = self.origins[block].iter().copied().chain(std::iter::repeat(INSERTED));
        self.function.blocks[block].insts.iter().zip(origins)
    }

    /// A block begins: locations may hold what its definitions made the last time.
    fn enter(&self, block: Block, state: &mut State) {
        for reg in self.frozen.defined.get(block).into_iter().flatten() {
            self.symbols_of(*reg).for_each(|s| state.forget(s));
        }
    }

    fn symbols_of(&self, reg: VReg) -> std::ops::Range<Symbol> {
        let first = self.symbols[reg];
        first..first + Symbol::from(self.frozen.vregs[reg].registers())
    }

    /// The symbol of a word.
    fn symbol(&self, word: Operand) -> Option<Symbol> {
        match word.as_virt() {
            Some((reg, w)) if w < self.frozen.vregs.get(reg)?.registers() => Some(self.symbols[reg] + Symbol::from(w)),
            Some(_) => None,
            None => self.fixed.get(&word).copied(),
        }
    }

    /// The block of the frozen function from which an edge comes: blocks that were put on edges are passed.
    fn origin_of(&self, mut block: Block) -> Block {
        for _ in 0..self.function.blocks.len() {
            match self.cfg.edges[block].preds[..] {
                [only] if block.index() >= self.frozen.blocks => block = only,
                _ => break,
            }
        }
        block
    }

    /// What arrives over an edge: without what is lost on it, and phis hold what their inputs held.
    fn along(&self, from: Block, to: Block, out: &Entry, state: &mut State) -> Entry {
        let phis = self.frozen.phis.get(to).map_or(&[][..], |p| p);
        let lost = self.lost.get(&(from, to));
        if phis.is_empty() && lost.is_none() {
            return out.clone();
        }
        state.load(out);
        if let Some(lost) = lost {
            lost.scalars.iter().for_each(|l| state.clear(*l));
            if lost.locals {
                state.clear_where(|l| self.locations.is_local(l));
            }
        }
        let pred = self.origin_of(from);
        let mut new: Vec<(Symbol, SmallVec<[u32; 2]>)> = Vec::new();
        for phi in phis {
            let input = phi.inputs.iter().find(|(b, _)| *b == pred).map_or(Operand::None, |i| i.1);
            for (word, symbol) in (0u8..).zip(self.symbols_of(phi.reg)) {
                let holders = word_of(input, word).and_then(|w| self.symbol(w)).map(|s| state.holders(s)).unwrap_or_default();
                new.push((symbol, holders));
            }
        }
        new.iter().for_each(|(symbol, _)| state.forget(*symbol));
        for (symbol, holders) in new {
            holders.into_iter().for_each(|l| state.add(l, symbol));
        }
        state.store()
    }

    /// Executes an instruction on symbols.
    fn execute(&self, inst: &Inst, origin: u32, state: &mut State) {
        if inst.strand {
            state.clear_where(|l| self.locations.is_local(l));
        }
        let inserted = origin == INSERTED;
        let words = if inst.op == Op::Store { inst.ty.words() } else { inst.dst_words() };
        let slot = inserted && inst.mods.space == Some(MemorySpace::Private);
        let slots = || self.locations.slots(inst.imm as u32, words).filter(|_| slot).unwrap_or_default();
        let of = |op: Operand| -> SmallVec<[u32; 4]> {
            op.as_phys().map(|r| self.locations.of(r, words, inst.cluster).collect()).unwrap_or_default()
        };
        let to = if inst.op == Op::Store { slots() } else { of(inst.dst) };
        if to.is_empty() {
            return;
        }
        let from = match inst.op {
            Op::Mov | Op::First => of(inst.srcs[0]),
            Op::Sel | Op::Cmp if inserted => {
                inst.srcs[0].as_phys().into_iter().flat_map(|r| self.locations.of(r, 1, inst.cluster)).collect()
            }
            Op::Load => slots(),
            Op::Store => of(inst.srcs[2]),
            _ => SmallVec::new(),
        };
        let defined = self.defined(inst, inserted);
        let passes = |s: &Symbol| {
            let bank = self.banks.get(*s as usize);
            let fits = match inst.op {
                Op::First => bank.is_none_or(|b| *b == Bank::Scalar),
                Op::Sel | Op::Cmp => bank == Some(&Bank::Predicate),
                _ => true,
            };
            fits && !defined.as_ref().is_some_and(|d| d.contains(s))
        };
        let incoming: SmallVec<[SmallVec<[Symbol; 2]>; 4]> = (0..to.len())
            .map(|i| {
                let moved = from.get(i).map(|l| state.at(*l).clone()).unwrap_or_default();
                let known = || self.symbol(word_of(inst.srcs[0], i as u8)?);
                let known = if inst.op == Op::Mov { known().filter(|s| *s as usize >= self.banks.len()) } else { None };
                let all = moved.into_iter().chain(known).filter(passes);
                // Under a guard, what both hold.
                all.filter(|s| inst.guard.is_none() || state.at(to[i]).contains(s)).collect()
            })
            .collect();
        for s in defined.clone().into_iter().flatten() {
            state.forget(s);
        }
        for (i, (location, symbols)) in to.iter().zip(incoming).enumerate() {
            state.clear(*location);
            symbols.into_iter().for_each(|s| state.add(*location, s));
            if let (Some(d), None) = (&defined, inst.guard) {
                state.add(*location, d.start + i as Symbol);
            }
        }
    }

    /// The symbols that an instruction defines.
    fn defined(&self, inst: &Inst, inserted: bool) -> Option<std::ops::Range<Symbol>> {
        let frozen = self.frozen.insts.get((inst.loc.point as usize).checked_sub(1)?).filter(|_| !inserted)?;
        let symbols = self.symbols_of(frozen.defines?);
        (symbols.len() == usize::from(inst.dst_words().max(1))).then_some(symbols)
    }

    /// What holds before each instruction of a block.
    fn describe(&self, block: Block, entry: &Entry, everywhere: &BTreeMap<Key, Value<Operand>>) -> Vec<Held> {
        let mut state = State::default();
        state.load(entry);
        self.enter(block, &mut state);
        let home = self.origin_of(block);
        let positions = self.positions(block, home);
        let mut wanted: Vec<u32> = positions.iter().map(|p| p.events).collect();
        wanted.sort_unstable();
        wanted.dedup();
        let bound: FxHashMap<u32, Rc<Bound>> = self.frozen.bound_at(home, &wanted);
        let stores = self.private_stores(block);
        let mut result = Vec::new();
        for (at, ((inst, origin), position)) in self.instructions(block).zip(&positions).enumerate() {
            if inst.strand {
                state.clear_where(|l| self.locations.is_local(l));
            }
            let settled = !stores.iter().any(|(index, order)| (*index < at) != (*order < position.order));
            let Position { scope, moved, instance, .. } = *position;
            let mut held = Held { scope, moved, instance, values: BTreeMap::new() };
            // What its statement finds is not what is there.
            let unsettled: Vec<u32> =
                if position.moved { self.frozen.bound_behind(home, position.events).collect() } else { Vec::new() };
            let own = bound.get(&position.events).filter(|_| !position.absorbed);
            let own = own.into_iter().flat_map(|b| b.iter()).map(|(k, v)| (k, &**v));
            for (key, value) in own.chain(everywhere) {
                let moving = matches!(value, Value::Memory(a) if a.space == MemorySpace::Private) && !settled;
                if moving || unsettled.contains(&key.0) {
                    continue;
                }
                if let Some(value) = value.map(|word| self.place(*word, &state)) {
                    held.values.insert(*key, value);
                }
            }
            result.push(held);
            self.execute(inst, origin, &mut state);
        }
        result
    }

    /// The program's own stores to private memory: index, and place in the order of the program.
    fn private_stores(&self, block: Block) -> Vec<(usize, u32)> {
        let stores = self
            .instructions(block)
            .enumerate()
            .filter(|(_, (i, origin))| i.info().flags.store && i.mods.space == Some(MemorySpace::Private) && *origin != INSERTED);
        stores.map(|(at, (inst, _))| (at, inst.loc.point)).collect()
    }

    /// The place of each instruction in the order of the program. What comes from elsewhere stands where the one before it
    /// stands; on an edge, at the end of the block that it leaves.
    fn positions(&self, block: Block, home: Block) -> Vec<Position> {
        let end = u32::MAX;
        let start = if home == block { 0 } else { end };
        let mut last = Position { events: start, order: start, scope: None, moved: false, instance: 0, absorbed: false };
        let is_absorbed = |b: Block| b != block && !self.is_placed[b];
        let all = self.function.blocks[block].insts.iter().map(|inst| {
            let point = (inst.loc.point as usize).checked_sub(1).and_then(|p| self.frozen.insts.get(p));
            if let Some(point) = point {
                last.scope = point.scope.or(last.scope);
                last.moved = point.moved;
                last.absorbed = point.block.is_some_and(is_absorbed);
                // A statement does not begin where code of it has been moved to.
                last.instance = if last.absorbed || point.block == Some(block) { point.instance } else { 0 };
                if point.block == Some(block) {
                    (last.events, last.order) = (point.events, inst.loc.point);
                }
            }
            last
        });
        all.collect()
    }

    /// Where a word is.
    fn place(&self, word: Operand, state: &State) -> Option<Word> {
        match word {
            Operand::Immediate(v) => return Some(Word::Known(v)),
            Operand::Constant(c) => return Some(Word::Constant(c)),
            Operand::Special(s) => return Some(Word::Special(s as u8)),
            _ => {}
        }
        let holders = state.holders(self.symbol(word)?);
        self.locations.word(holders.into_iter().min()?)
    }
}

/// A place in the order of the program.
#[derive(Clone, Copy)]
struct Position {
    events: u32,
    order: u32,
    scope: Option<u32>,
    moved: bool,
    instance: u32,
    /// It is from a block that another one has taken in ([`super::if_convert`]): what variables were bound to there by then is not known.
    absorbed: bool,
}

#[cfg(test)]
mod tests;
