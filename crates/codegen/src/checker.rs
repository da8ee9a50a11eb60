//! The allocation checker: proof that allocated code computes what the code before allocation did.
//!
//! # Theory
//! A symbolic interpreter of the allocated code, after the checker of regalloc2 ("Cranelift, part 4:
//! correctness in register allocation", and `src/checker.rs` there). The state maps each location (a 32-bit
//! register of a space, a predicate, a word of a spill slot) to the set of symbols (words of virtual
//! registers) whose current value it holds. Instructions of the original program are matched by their origin;
//! each register they read must hold the symbol they read before allocation. Inserted instructions may only
//! be moves, spills, reloads and recomputations of constants; they move symbols around. At joins the state is
//! the intersection over the incoming edges; a symbol that no definition reaches on an edge counts as held
//! everywhere there. The analysis runs to a fixed point and only then judges reads.
//!
//! # Divergence
//! Registers of lanes (L, M, P) and spill slots change for active lanes only, so for each lane its own path
//! decides: ordinary data flow. Scalar registers are the warp's (hazard 1): their contents flow along the
//! *linear* control flow, in which the fall-through side of a divergent branch, when it reaches the
//! reconvergence block or ends, goes on to the waiting taken side. A scalar symbol in a lane's location (a
//! scalar saved to a vector register) must satisfy both: it does not survive the time during which the lane
//! waits if the other side redefines it.
//!
//! # Strands
//! Where a strand begins the warp may lose its local registers (C14): they hold nothing known any more. While
//! the lanes of one side of a divergent branch wait, the others may meet such places; then what the waiting
//! lanes have in local registers does not survive the edge on which they wait.
//!
//! The checker shares no data structure with the allocator: it reads the two functions and the origins. It
//! trusts [`heddle_mir::cfg`], and that slots are reached by inserted code only, which holds because their
//! addresses did not exist before.

mod partial;
pub(crate) mod state;
#[cfg(test)]
mod tests;

use cranelift_entity::{EntityRef, SecondaryMap};
use fixedbitset::FixedBitSet;
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

use self::partial::{Condition, Write};
use self::state::{Entry, Locations, State, Symbol};
use super::spill::{INSERTED, Origins};
use heddle_isa::text::print_inst;
use heddle_isa::{Cond, Guard, Inst, MemorySpace, Op, Operand, PhysReg, Reg, Space, Special, Type, VReg};
use heddle_mir::cfg::{Cfg, DivergentRegion};
use heddle_mir::liveness::Liveness;
use heddle_mir::{Bank, Block, Function};

/// Checks allocated code against the code before allocation.
///
/// # Errors
/// A description of the first read that would see a wrong value, with both instructions.
pub fn check(before: &Function, after: &Function, origins: &Origins) -> Result<(), String> {
    let cfg = Cfg::new(after);
    let checker = Checker::new(before, after, origins);
    checker.structure(&cfg)?;
    let flow = Flow::new(&checker, &cfg);
    let mut number: SecondaryMap<Block, usize> = SecondaryMap::with_default(usize::MAX);
    cfg.rpo.iter().enumerate().for_each(|(i, b)| number[*b] = i);
    let mut entries: SecondaryMap<Block, Option<Entry>> = SecondaryMap::new();
    entries[after.entry()] = Some(Entry { pairs: Vec::new(), undefined: checker.entry_undefined() });
    let mut queue: std::collections::BTreeSet<usize> = [0].into();
    let mut state = State::default();
    while let Some(position) = queue.pop_first() {
        let block = cfg.rpo[position];
        let Some(entry) = &entries[block] else { continue };
        state.load(entry);
        checker.block(block, &mut state, false)?;
        let out = state.store();
        for &s in &cfg.edges[block].succs {
            let lost = flow.lost.get(&(block, s));
            let mut arriving = match lost {
                Some(lost) => checker.without_scalars(&out, lost),
                None => out.clone(),
            };
            if flow.strand_begins.contains(&(block, s)) {
                arriving = checker.without_locals(arriving);
            }
            let changed = match &mut entries[s] {
                None => {
                    entries[s] = Some(arriving);
                    queue.extend(flow.linear_preds[s].iter().filter(|p| entries[**p].is_some()).map(|p| number[*p]));
                    true
                }
                Some(old) => old.meet(&arriving, |_| true, |_| true),
            };
            if changed {
                queue.insert(number[s]);
            }
        }
        for &s in &flow.linear[block] {
            // Only what is in scalar registers takes this way. A block not reached yet asks for it when it is.
            let scalar = |l: u32| checker.locations.is_scalar(l);
            if let Some(old) = &mut entries[s]
                && old.meet(&out, scalar, |s| checker.is_scalar_symbol(s))
            {
                queue.insert(number[s]);
            }
        }
    }
    for &block in &cfg.rpo {
        if let Some(entry) = &entries[block] {
            state.load(entry);
            checker.block(block, &mut state, true)?;
        }
    }
    Ok(())
}

/// Control flow beyond the graph's edges.
struct Flow {
    /// Linear successors (module documentation) that are no successors of the graph.
    linear: SecondaryMap<Block, Vec<Block>>,
    /// Their inverse.
    linear_preds: SecondaryMap<Block, Vec<Block>>,
    /// Edges on which a lane waits while a strand may begin.
    strand_begins: FxHashSet<(Block, Block)>,
    /// Scalar symbols redefined between leaving one block and entering the other, while the lane waits.
    lost: FxHashMap<(Block, Block), FxHashSet<Symbol>>,
}

impl Flow {
    fn new(checker: &Checker, cfg: &Cfg) -> Self {
        let mut flow = Flow {
            linear: SecondaryMap::new(),
            linear_preds: SecondaryMap::new(),
            strand_begins: FxHashSet::default(),
            lost: FxHashMap::default(),
        };
        for d in cfg.divergent_branches(checker.after) {
            let first = cfg.region(d.fall_through, d.reconverge);
            let second = cfg.region(d.taken, d.reconverge);
            flow.find_strands(checker, &d, &first, &second);
            let redefined = checker.scalar_definitions(&first);
            if !redefined.is_empty() {
                flow.lost.entry((d.branch, d.taken)).or_default().extend(&redefined);
            }
            let redefined_second = checker.scalar_definitions(&second);
            for b in first.ones().map(Block::new) {
                let succs = &cfg.edges[b].succs;
                let meets = d.reconverge.is_some_and(|j| succs.contains(&j));
                if (meets || succs.is_empty()) && Some(d.taken) != d.reconverge && !flow.linear[b].contains(&d.taken) {
                    flow.linear[b].push(d.taken);
                    flow.linear_preds[d.taken].push(b);
                }
                if let (true, Some(j), false) = (meets, d.reconverge, redefined_second.is_empty()) {
                    flow.lost.entry((b, j)).or_default().extend(&redefined_second);
                }
            }
        }
        flow
    }

    /// Notes on which edges of a divergent branch lanes wait while the other side begins strands.
    fn find_strands(&mut self, checker: &Checker, d: &DivergentRegion, first: &FixedBitSet, second: &FixedBitSet) {
        let begins = |b: usize| checker.after.blocks[Block::new(b)].insts.iter().any(|i| i.strand);
        if first.ones().any(begins) {
            self.strand_begins.insert((d.branch, d.taken));
        }
        let Some(join) = d.reconverge.filter(|_| second.ones().any(begins)) else { return };
        self.strand_begins.insert((d.branch, join));
        self.strand_begins.extend(first.ones().map(|b| (Block::new(b), join)));
    }
}

/// Which source a fixed move has, and its bits.
type Fixed = (u8, u32);

struct Checker<'a> {
    before: &'a Function,
    after: &'a Function,
    origins: &'a Origins,
    locations: Locations,
    /// First symbol of each virtual register.
    symbols: SecondaryMap<VReg, Symbol>,
    /// Register of each symbol.
    registers: Vec<VReg>,
    /// Symbols that always hold a constant once defined.
    constants: FxHashMap<Fixed, SmallVec<[Symbol; 2]>>,
    /// Constants as locations that never change: which symbols hold one now, by the moves that defined them.
    places: FxHashMap<Fixed, u32>,
}

/// Word `word` of what a move of something that never changes writes.
fn fixed_word(inst: &Inst, word: u8) -> Option<Fixed> {
    match inst.srcs[0] {
        Operand::Immediate(v) if word == 0 => Some((0, v)),
        Operand::Immediate(v) => Some((0, if (v as i32) < 0 { u32::MAX } else { 0 })),
        Operand::Constant(c) => Some((1, u32::from(c) + u32::from(word))),
        Operand::Special(Special::ExecLow | Special::ExecHigh | Special::ClockLow) => None,
        Operand::Special(s) if word == 0 => Some((2, s as u32)),
        _ => None,
    }
}

/// Registers that hold one constant wherever they are defined: every definition moves it, or copies a
/// register that holds it.
fn fixed_registers(before: &Function) -> FxHashMap<VReg, SmallVec<[Fixed; 2]>> {
    let mut definitions: FxHashMap<VReg, SmallVec<[&Inst; 2]>> = FxHashMap::default();
    for inst in before.layout.iter().flat_map(|b| &before.blocks[*b].insts) {
        if let Some((reg, _)) = inst.dst.as_virt() {
            definitions.entry(reg).or_default().push(inst);
        }
    }
    let whole = |i: &Inst, reg: VReg| i.op == Op::Mov && i.guard.is_none() && i.dst_words() == before.vregs[reg].words;
    definitions.retain(|reg, insts| insts.iter().all(|i| whole(i, *reg)));
    let mut known: FxHashMap<VReg, SmallVec<[Fixed; 2]>> = FxHashMap::default();
    loop {
        let value = |i: &Inst, word: u8| match i.srcs[0].as_virt() {
            Some((from, at)) => known.get(&from).and_then(|v| v.get(usize::from(at + word)).copied()),
            None => fixed_word(i, word),
        };
        let same = |insts: &[&Inst]| -> Option<SmallVec<[Fixed; 2]>> {
            let words = |i: &Inst| (0..i.dst_words()).map(|w| value(i, w)).collect::<Option<SmallVec<[Fixed; 2]>>>();
            let first = words(insts[0])?;
            insts.iter().all(|i| words(i).as_ref() == Some(&first)).then_some(first)
        };
        let new: Vec<_> =
            definitions.iter().filter(|(r, _)| !known.contains_key(r)).filter_map(|(r, i)| Some((*r, same(i)?))).collect();
        if new.is_empty() {
            return known;
        }
        known.extend(new);
    }
}

impl<'a> Checker<'a> {
    fn new(before: &'a Function, after: &'a Function, origins: &'a Origins) -> Self {
        let mut symbols = SecondaryMap::with_capacity(before.vregs.len());
        let mut registers = Vec::new();
        for (reg, class) in before.vregs.iter() {
            symbols[reg] = registers.len() as Symbol;
            registers.extend((0..class.registers()).map(|_| reg));
        }
        let mut checker = Checker {
            before,
            after,
            origins,
            locations: Locations::new(before.private_bytes),
            symbols,
            registers,
            constants: FxHashMap::default(),
            places: FxHashMap::default(),
        };
        for inst in before.layout.iter().flat_map(|b| &before.blocks[*b].insts).filter(|i| i.op == Op::Mov) {
            for value in (0..inst.dst_words()).filter_map(|w| fixed_word(inst, w)) {
                let next = Locations::constant(checker.places.len());
                checker.places.entry(value).or_insert(next);
            }
        }
        for (reg, values) in fixed_registers(before) {
            for (word, value) in values.into_iter().enumerate() {
                checker.constants.entry(value).or_default().push(checker.symbols[reg] + word as Symbol);
            }
        }
        checker.constants.values_mut().for_each(|s| s.sort_unstable());
        checker
    }

    fn is_scalar_symbol(&self, symbol: Symbol) -> bool {
        self.before.vregs[self.registers[symbol as usize]].bank == Bank::Scalar
    }

    fn bank(&self, symbol: Symbol) -> Bank {
        self.before.vregs[self.registers[symbol as usize]].bank
    }

    fn name(&self, symbol: Symbol) -> String {
        let reg = self.registers[symbol as usize];
        format!("{reg}.{}", symbol - self.symbols[reg])
    }

    /// Symbols that may be read although no definition reaches the read on some path: undefined at the start.
    fn entry_undefined(&self) -> Vec<Symbol> {
        let live = Liveness::new(self.before, &Cfg::new(self.before));
        let mut result: Vec<Symbol> = live
            .live_in(self.before.entry())
            .flat_map(|(reg, mask)| (0..8).filter(move |w| mask >> w & 1 == 1).map(move |w| (reg, w)))
            .map(|(reg, w)| self.symbols[reg] + w)
            .collect();
        result.sort_unstable();
        result
    }

    /// Scalar symbols that original instructions of some blocks define.
    fn scalar_definitions(&self, region: &FixedBitSet) -> FxHashSet<Symbol> {
        let blocks = region.ones().map(Block::new).filter(|b| self.before.blocks.is_valid(*b));
        let mut result = FxHashSet::default();
        for inst in blocks.flat_map(|b| &self.before.blocks[b].insts) {
            if let Some((reg, word)) = inst.dst.as_virt().filter(|(r, _)| self.before.vregs[*r].bank == Bank::Scalar) {
                let first = self.symbols[reg] + Symbol::from(word);
                result.extend(first..first + Symbol::from(inst.dst_words().max(1)));
            }
        }
        result
    }

    /// A state without some scalar symbols in lanes' locations.
    fn without_scalars(&self, entry: &Entry, lost: &FxHashSet<Symbol>) -> Entry {
        let keep = |&(l, s): &(u32, Symbol)| self.locations.is_scalar(l) || !lost.contains(&s);
        Entry { pairs: entry.pairs.iter().copied().filter(keep).collect(), undefined: entry.undefined.clone() }
    }

    /// A state without what local registers hold.
    fn without_locals(&self, entry: Entry) -> Entry {
        let pairs = entry.pairs.into_iter().filter(|p| !self.locations.is_local(p.0)).collect();
        Entry { pairs, undefined: entry.undefined }
    }

    /// Where control goes from a block of the allocated code if blocks of inserted code are passed through.
    fn resolve(&self, mut block: Block, cfg: &Cfg) -> Result<Block, String> {
        for _ in 0..=self.after.blocks.len() {
            if self.before.blocks.is_valid(block) {
                return Ok(block);
            }
            match cfg.edges[block].succs[..] {
                [next] if self.origins[block].iter().all(|o| *o == INSERTED) => block = next,
                _ => return Err(format!("{block}: an inserted block that does not lie on an edge")),
            }
        }
        Err(format!("{block}: inserted blocks in a circle"))
    }

    /// The control flow is as it was, and every original instruction is there once and in order, but for
    /// moves without other effect.
    fn structure(&self, cfg: &Cfg) -> Result<(), String> {
        let old = Cfg::new(self.before);
        if self.before.layout.first() != self.after.layout.first() {
            return Err("the entry block changed".into());
        }
        for &block in &old.rpo {
            let origins = &self.origins[block];
            if origins.len() != self.after.blocks[block].insts.len() {
                return Err(format!("{block}: origins do not match the code"));
            }
            let targets: Result<SmallVec<[Block; 2]>, String> =
                cfg.edges[block].succs.iter().map(|s| self.resolve(*s, cfg)).collect();
            if targets? != old.edges[block].succs {
                return Err(format!("{block}: its successors changed"));
            }
            let insts = &self.before.blocks[block].insts;
            let mut expected = 0;
            for origin in origins.iter().filter(|o| **o != INSERTED).map(|o| *o as usize).chain([insts.len()]) {
                if origin < expected || origin > insts.len() {
                    return Err(format!("{block}: instruction {origin} is out of order"));
                }
                if let Some(lost) = insts[expected..origin].iter().find(|i| i.op != Op::Mov) {
                    return Err(format!("{block}: an instruction is lost: {}", print_inst(lost, &[])));
                }
                expected = origin + 1;
            }
        }
        Ok(())
    }

    fn block(&self, block: Block, state: &mut State, judge: bool) -> Result<(), String> {
        let (before, after, origins) = (self.before, self.after, self.origins);
        let old = before.blocks.get(block).map_or(&[][..], |b| &b.insts);
        // A lost move counts as lost right behind the original instruction before it: inserted code may
        // recompute its value already.
        let mut left = origins[block].iter().copied().filter(|o| *o != INSERTED).map(|o| o as usize).chain([old.len()]);
        let mut lose = |from: usize, state: &mut State| {
            let to = left.next().unwrap_or(from);
            old[from..to].iter().for_each(|lost| self.undefine(lost, state));
        };
        lose(0, state);
        for (inst, &origin) in after.blocks[block].insts.iter().zip(&origins[block]) {
            if inst.strand {
                state.clear_where(|l| self.locations.is_local(l));
                state.partials.forget_where(|l| self.locations.is_local(l));
            }
            if origin == INSERTED {
                self.inserted(inst, state).map_err(|m| format!("{block}: {m}\n  in: {}", print_inst(inst, &[])))?;
                continue;
            }
            let original = &old[origin as usize];
            self.original(original, inst, state, judge)
                .map_err(|m| format!("{block}: {m}\n  in: {}\n  was: {}", print_inst(inst, &[]), print_inst(original, &[])))?;
            lose(origin as usize + 1, state);
        }
        Ok(())
    }

    /// An original move that is not there any more: its result is where its source is.
    fn undefine(&self, lost: &Inst, state: &mut State) {
        let same = self.places_of_source(lost, state);
        let copied = self.copied(lost);
        if let Some((reg, word)) = lost.dst.as_virt() {
            for w in 0..lost.dst_words().max(1) {
                let symbol = self.symbols[reg] + Symbol::from(word + w);
                state.forget(symbol);
                state.define(symbol);
                state.partials.redefine(symbol);
                if let Some(from) = copied {
                    state.partials.copy(from + Symbol::from(w), symbol);
                }
            }
        }
        same.into_iter().for_each(|(symbol, location)| state.add(location, symbol));
    }

    /// Where the value of an unguarded move into a vector register already is: for the lanes that execute it,
    /// every place that holds the source holds the result. Pairs of a symbol of the result and a location.
    fn places_of_source(&self, original: &Inst, state: &State) -> SmallVec<[(Symbol, u32); 4]> {
        let mut result = SmallVec::new();
        if let (Op::Mov, None, Some((to, word))) = (original.op, original.guard, original.dst.as_virt())
            && self.before.vregs[to].bank == Bank::Vector
            && original.srcs[0].as_virt().is_none()
        {
            let places = (0..original.dst_words()).filter_map(|w| {
                let place = self.places.get(&fixed_word(original, w)?)?;
                Some((self.symbols[to] + Symbol::from(word + w), *place))
            });
            return places.collect();
        }
        if let (Some(from), Some((to, word))) = (self.copied(original), original.dst.as_virt()) {
            for w in 0..original.dst_words() {
                let symbol = self.symbols[to] + Symbol::from(word + w);
                result.extend(state.holders(from + Symbol::from(w)).into_iter().map(|l| (symbol, l)));
            }
        }
        result
    }

    /// The first symbol that an unguarded move between vector registers copies.
    fn copied(&self, original: &Inst) -> Option<Symbol> {
        let ((to, _), (from, word)) = (original.dst.as_virt()?, original.srcs.first()?.as_virt()?);
        let vectors = [to, from].iter().all(|r| self.before.vregs[*r].bank == Bank::Vector);
        (original.op == Op::Mov && original.guard.is_none() && vectors).then(|| self.symbols[from] + Symbol::from(word))
    }

    fn original(&self, original: &Inst, inst: &Inst, state: &mut State, judge: bool) -> Result<(), String> {
        state.partials.clear();
        let same = original.op == inst.op
            && original.ty == inst.ty
            && original.mods == inst.mods
            && original.imm == inst.imm
            && (original.neg, original.abs) == (inst.neg, inst.abs)
            && original.uniform == inst.uniform
            && original.srcs.len() == inst.srcs.len()
            && original.blocks().len() == inst.blocks().len()
            && original.blocks().get(1) == inst.blocks().get(1);
        if !same {
            return Err("the instruction changed".into());
        }
        if judge {
            for (i, (was, now)) in original.srcs.iter().zip(&inst.srcs).enumerate() {
                self.read(*was, *now, original.src_words(i), inst.cluster, state)?;
            }
        }
        match (original.guard, inst.guard) {
            (None, None) => {}
            (Some(a), Some(b)) if a.negate == b.negate => {
                if judge {
                    self.read(Operand::Reg(a.reg), Operand::Reg(b.reg), 0, inst.cluster, state)?;
                }
            }
            _ => return Err("the guard changed".into()),
        }
        let words = inst.dst_words();
        let place = match (original.dst, inst.dst.as_phys()) {
            (Operand::None, _) if inst.dst == Operand::None => return Ok(()),
            (Operand::Reg(Reg::Physical(was)), Some(now)) if was == now => {
                self.locations.of(now, words, inst.cluster).for_each(|l| state.clear(l));
                return Ok(());
            }
            (Operand::Reg(Reg::Virtual { .. }), Some(place)) => place,
            _ => return Err(format!("destination {:?} became {:?}", original.dst, inst.dst)),
        };
        let Some((reg, word)) = original.dst.as_virt() else { return Ok(()) };
        // What an unguarded copy's source holds, its destination holds too.
        let copied = match inst.srcs.first().and_then(|s| s.as_phys()) {
            Some(from) if inst.op == Op::Mov && inst.guard.is_none() && inst.ty != Type::Pred => {
                self.locations.of(from, words, inst.cluster).map(|l| state.at(l).clone()).collect()
            }
            _ => SmallVec::<[_; 4]>::new(),
        };
        let same = self.places_of_source(original, state);
        let first = self.symbols[reg] + Symbol::from(word);
        let defined = first..first + Symbol::from(words.max(1));
        let written: SmallVec<[u32; 4]> = self.locations.of(place, words, inst.cluster).collect();
        let guard = original.guard.and_then(|g| Some((self.symbols[Operand::Reg(g.reg).as_virt()?.0], g.negate)));
        for (i, location) in self.locations.of(place, words, inst.cluster).enumerate() {
            let symbol = first + i as Symbol;
            // Under a guard the old value stays in the other lanes: the location must hold it, unless no lane
            // has one, or needs it any more.
            let lost = original.fresh || state.is_undefined(symbol);
            let whole = inst.guard.is_none() || lost || state.at(location).contains(&symbol);
            // A guard that its own instruction changes is gone for what follows.
            if let Some(guard) = guard.filter(|g| !defined.contains(&g.0)) {
                let old = (!lost).then(|| state.holders(symbol).into_iter().filter(|l| !written.contains(l)).collect());
                state.partials.define(guard, symbol, location, old);
            }
            state.forget(symbol);
            state.define(symbol);
            state.clear(location);
            for s in copied.get(i).into_iter().flatten().filter(|s| !defined.contains(s)) {
                state.add(location, *s);
            }
            if whole {
                state.add(location, symbol);
            }
        }
        // Places other than the destination still hold what they held.
        same.into_iter().filter(|(_, l)| !written.contains(l)).for_each(|(symbol, location)| state.add(location, symbol));
        Ok(())
    }

    fn read(&self, was: Operand, now: Operand, words: u8, cluster: u8, state: &State) -> Result<(), String> {
        let Some((reg, word)) = was.as_virt() else {
            return if was == now { Ok(()) } else { Err(format!("operand {was:?} became {now:?}")) };
        };
        let Some(place) = now.as_phys() else { return Err(format!("register {reg} became {now:?}")) };
        for (i, location) in self.locations.of(place, words, cluster).enumerate() {
            let symbol = self.symbols[reg] + Symbol::from(word) + i as Symbol;
            if !state.at(location).contains(&symbol) && !state.is_undefined(symbol) {
                let holds: Vec<String> = state.at(location).iter().map(|s| self.name(*s)).collect();
                return Err(format!(
                    "reads {} from {}, which holds {}",
                    self.name(symbol),
                    self.locations.name(location),
                    if holds.is_empty() { "nothing known".into() } else { holds.join(", ") }
                ));
            }
        }
        Ok(())
    }

    fn inserted(&self, inst: &Inst, state: &mut State) -> Result<(), String> {
        const UNEXPECTED: &str = "not an instruction that allocation inserts";
        let cluster = inst.cluster;
        let words = if inst.op == Op::Store { inst.ty.words() } else { inst.dst_words() };
        let private = inst.mods.space == Some(MemorySpace::Private) && inst.srcs[..2] == [Operand::None, Operand::None];
        let slots = |this: &Self| this.locations.slots(inst.imm as u32, words).ok_or("not a spill slot");
        let reg = |operand: Operand| operand.as_phys().ok_or(UNEXPECTED);
        let spaces = (inst.srcs.first().and_then(|s| s.as_phys()).map(|r| r.space), inst.dst.as_phys().map(|r| r.space));
        // Symbols of which banks pass.
        let any: &[Bank] = &[Bank::Vector, Bank::Scalar, Bank::Predicate];
        let (from, to, banks): (SmallVec<[u32; 4]>, SmallVec<[u32; 4]>, &[Bank]) = match inst.op {
            Op::Bra => return Ok(()),
            Op::Mov if spaces.0.is_none() => return self.constant(inst, state),
            Op::Mov | Op::First => {
                let (s, d) = (reg(inst.srcs[0])?, reg(inst.dst)?);
                let scalar = |p: PhysReg| p.space == Space::Scalar;
                if (scalar(d) && !scalar(s)) != (inst.op == Op::First) || inst.ty == Type::Pred && s.space != d.space {
                    return Err(UNEXPECTED.into());
                }
                // Only what is the same in all lanes fits in a scalar register.
                let banks = if scalar(d) { &[Bank::Scalar] } else { any };
                (self.locations.of(s, words, cluster).collect(), self.locations.of(d, words, cluster).collect(), banks)
            }
            // A predicate saved as 0 or 1, and back.
            Op::Sel if inst.ty == Type::B32 && inst.srcs[1..] == [Operand::Immediate(1), Operand::None] => {
                let (s, d) = (reg(inst.srcs[0])?, reg(inst.dst)?);
                (self.locations.of(s, 0, 0).collect(), self.locations.of(d, 1, cluster).collect(), &[Bank::Predicate])
            }
            Op::Cmp if inst.mods.cond == Some(Cond::Ne) && inst.ty == Type::B32 && inst.srcs[1] == Operand::Immediate(0) => {
                let (s, d) = (reg(inst.srcs[0])?, reg(inst.dst)?);
                (self.locations.of(s, 1, cluster).collect(), self.locations.of(d, 0, 0).collect(), &[Bank::Predicate])
            }
            Op::Load if private => (slots(self)?, self.locations.of(reg(inst.dst)?, words, cluster).collect(), any),
            Op::Store if private => (self.locations.of(reg(inst.srcs[2])?, words, cluster).collect(), slots(self)?, any),
            _ => return Err(UNEXPECTED.into()),
        };
        let values: SmallVec<[_; 4]> = from.iter().map(|l| state.at(*l).clone()).collect();
        let fits = |s: Symbol| banks.contains(&self.bank(s));
        let write = |from: u32| match inst.guard {
            None => Write::Copy(from),
            Some(guard) => self.condition(guard, state).map_or(Write::Other, |c| Write::CopyUnder(from, c)),
        };
        let writes: SmallVec<[_; 4]> = to.iter().zip(&from).map(|(to, from)| (*to, write(*from))).collect();
        for (location, symbols) in to.iter().zip(values) {
            // Under a guard some lanes only: what both held before stays.
            let stays = |s: &Symbol| inst.guard.is_none() || state.at(*location).contains(s);
            let symbols: SmallVec<[Symbol; 4]> = symbols.into_iter().filter(|s| fits(*s) && stays(s)).collect();
            state.clear(*location);
            symbols.into_iter().for_each(|s| state.add(*location, s));
        }
        let whole = state.partials.write(&writes, fits);
        whole.into_iter().for_each(|(location, symbol)| state.add(location, symbol));
        Ok(())
    }

    /// What a guard of allocated code lets through, if that is known: of the predicates that its register holds, the one
    /// that pending definitions are about.
    fn condition(&self, guard: Guard, state: &State) -> Option<Condition> {
        let place = Operand::Reg(guard.reg).as_phys()?;
        let location = self.locations.of(place, 0, 0).next()?;
        let symbol = state.partials.guard().filter(|g| state.at(location).contains(g))?;
        Some((symbol, guard.negate))
    }

    /// An inserted move of a constant gives its destination every symbol that always holds this constant.
    fn constant(&self, inst: &Inst, state: &mut State) -> Result<(), String> {
        let Some(d) = inst.dst.as_phys() else { return Err("an inserted move without destination".into()) };
        if inst.guard.is_some() || d.space == Space::Predicate {
            return Err("an inserted recomputation under a guard or of a predicate".into());
        }
        let mut writes: SmallVec<[_; 4]> = SmallVec::new();
        for (i, location) in self.locations.of(d, inst.dst_words(), inst.cluster).enumerate() {
            state.clear(location);
            let value = fixed_word(inst, i as u8);
            let place = value.and_then(|v| self.places.get(&v)).filter(|_| d.space != Space::Scalar);
            writes.push((location, place.map_or(Write::Other, |p| Write::Copy(*p))));
            let Some(value) = value else { continue };
            for s in self.constants.get(&value).into_iter().flatten() {
                if d.space != Space::Scalar || self.is_scalar_symbol(*s) {
                    state.add(location, *s);
                }
            }
            let now = place.map(|l| state.at(*l).clone());
            now.into_iter().flatten().for_each(|s| state.add(location, s));
        }
        let whole = state.partials.write(&writes, |s| self.bank(s) != Bank::Predicate);
        whole.into_iter().for_each(|(location, symbol)| state.add(location, symbol));
        Ok(())
    }
}
