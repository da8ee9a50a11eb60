//! The allocation checker: proof that allocated code computes what the code before allocation did.
//!
//! # Theory
//! A symbolic interpreter of the allocated code, after the checker of regalloc2 ("Cranelift, part 4: correctness in register allocation",
//! and `src/checker.rs` there). The state maps each physical location (a 32-bit register of a space, a predicate, a word of a spill slot) to
//! the set of virtual words (register, word) whose current value it holds. Instructions of the original program are matched by
//! their origin; each of their register reads must find the virtual word it read before allocation in the location it reads now. Inserted
//! instructions may only be moves, spills, reloads and recomputations, and only move symbols around. At joins the state is the intersection over the
//! incoming edges; the analysis runs to a fixed point and only then checks.
//!
//! # Divergence
//! Vector and predicate locations belong to each lane, so each lane's own path decides: ordinary data flow. Scalar locations are shared by the lanes of a
//! warp (hazard 1): on the edge into the waiting side of a divergent branch everything scalar that the other side writes is lost, and
//! at the reconvergence block everything scalar that either side writes is lost.
//!
//! The checker shares no data structure with the allocator: it reads the two functions and the origins. It trusts that the spill slots
//! (private memory beyond what the function had before) are reached by inserted code only, which holds because their addresses did not exist before.

use cranelift_entity::{EntityRef, SecondaryMap};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

use super::spill::{INSERTED, Origins};
use crate::isa::{Cond, Inst, MemorySpace, Op, Operand, PhysReg, Space, VReg};
use crate::mir::cfg::Cfg;
use crate::mir::{Block, Function};

/// A place that holds one 32-bit word a lane (or a warp), or one predicate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Location {
    /// A register of a space; local registers with their cluster.
    Register(Space, u8, u8),
    /// A word of private memory above the program's own, by byte address.
    Slot(u32),
}

/// A word of a virtual register.
type Symbol = (VReg, u8);
/// What a location holds. Sorted.
type Symbols = SmallVec<[Symbol; 2]>;
type State = FxHashMap<Location, Symbols>;

/// Checks allocated code against the code before allocation.
///
/// # Errors
/// A description of the first read that would see a wrong value, with both instructions.
pub fn check(before: &Function, after: &Function, origins: &Origins) -> Result<(), String> {
    let cfg = Cfg::new(after);
    let checker = Checker { before, after, origins, recompute: recomputations(before) };
    checker.structure()?;
    let entry = after.entry();
    let mut inputs: SecondaryMap<Block, Option<State>> = SecondaryMap::new();
    inputs[entry] = Some(State::default());
    // Scalar locations lost on the way into the waiting side and into the reconvergence block.
    let mut lost_on_edge: FxHashMap<(Block, Block), FxHashSet<Location>> = FxHashMap::default();
    let mut lost_at: FxHashMap<Block, FxHashSet<Location>> = FxHashMap::default();
    for d in cfg.divergent_branches(after) {
        let first = checker.scalar_writes(&cfg.region(d.fall_through, d.reconverge));
        let second = checker.scalar_writes(&cfg.region(d.taken, d.reconverge));
        lost_on_edge.entry((d.branch, d.taken)).or_default().extend(first.iter().copied());
        if let Some(j) = d.reconverge {
            lost_at.entry(j).or_default().extend(first.into_iter().chain(second));
        }
    }
    let mut number = vec![usize::MAX; cfg.len];
    for (i, b) in cfg.rpo.iter().enumerate() {
        number[b.index()] = i;
    }
    let mut queue: std::collections::BTreeSet<usize> = [0].into();
    while let Some(position) = queue.pop_first() {
        let block = cfg.rpo[position];
        let Some(mut state) = inputs[block].clone() else { continue };
        checker.block(block, &mut state, false)?;
        for &s in &cfg.edges[block].succs {
            let mut out = state.clone();
            if let Some(lost) = lost_on_edge.get(&(block, s)) {
                out.retain(|l, _| !lost.contains(l));
            }
            if let Some(lost) = lost_at.get(&s) {
                out.retain(|l, _| !lost.contains(l));
            }
            let changed = match &mut inputs[s] {
                None => {
                    inputs[s] = Some(out);
                    true
                }
                Some(old) => meet(old, &out),
            };
            if changed {
                queue.insert(number[s.index()]);
            }
        }
    }
    for &block in &cfg.rpo {
        if let Some(mut state) = inputs[block].clone() {
            checker.block(block, &mut state, true)?;
        }
    }
    Ok(())
}

/// Intersects `into` with `other`; says whether it changed.
fn meet(into: &mut State, other: &State) -> bool {
    let mut changed = false;
    into.retain(|location, symbols| {
        let n = symbols.len();
        match other.get(location) {
            Some(theirs) => symbols.retain(|s| theirs.contains(s)),
            None => symbols.clear(),
        }
        changed |= symbols.len() != n;
        !symbols.is_empty()
    });
    changed
}

/// Registers with exactly one definition, a whole unguarded move of something that never changes, and that source.
fn recomputations(before: &Function) -> FxHashMap<VReg, Inst> {
    let mut found: FxHashMap<VReg, Option<Inst>> = FxHashMap::default();
    for block in &before.layout {
        for inst in &before.blocks[*block].insts {
            if let Some((reg, _)) = inst.dst.as_virt() {
                let fixed = inst.op == Op::Mov
                    && inst.guard.is_none()
                    && inst.dst_words() == before.vregs[reg].words
                    && matches!(inst.srcs[0], Operand::Immediate(_) | Operand::Special(_) | Operand::Constant(_));
                let candidate = fixed.then(|| inst.clone());
                found.entry(reg).and_modify(|e| *e = None).or_insert(candidate);
            }
        }
    }
    found.into_iter().filter_map(|(r, i)| Some((r, i?))).collect()
}

/// Word `word` of what a move of a fixed source writes, as (source kind, bits).
fn fixed_word(inst: &Inst, word: u8) -> Option<(u8, u32)> {
    match inst.srcs[0] {
        Operand::Immediate(v) if word == 0 => Some((0, v)),
        Operand::Immediate(v) => Some((0, if (v as i32) < 0 { u32::MAX } else { 0 })),
        Operand::Constant(c) => Some((1, u32::from(c) + u32::from(word))),
        Operand::Special(s) if word == 0 => Some((2, s as u32)),
        _ => None,
    }
}

struct Checker<'a> {
    before: &'a Function,
    after: &'a Function,
    origins: &'a Origins,
    recompute: FxHashMap<VReg, Inst>,
}

impl Checker<'_> {
    /// Every original instruction is there once and in order, but for definitions of what is recomputed.
    fn structure(&self) -> Result<(), String> {
        for &block in &self.before.layout {
            let origins = &self.origins[block];
            if origins.len() != self.after.blocks[block].insts.len() {
                return Err(format!("{block}: origins do not match the code"));
            }
            let mut expected = 0u32;
            for &origin in origins.iter().filter(|o| **o != INSERTED) {
                while expected < origin {
                    let missing = &self.before.blocks[block].insts[expected as usize];
                    let recomputed = missing.dst.as_virt().is_some_and(|(r, _)| self.recompute.contains_key(&r));
                    if !recomputed {
                        return Err(format!("{block}: instruction lost: {missing:?}"));
                    }
                    expected += 1;
                }
                if origin != expected {
                    return Err(format!("{block}: instruction {origin} out of order"));
                }
                expected += 1;
            }
        }
        Ok(())
    }

    fn scalar_writes(&self, region: &fixedbitset::FixedBitSet) -> FxHashSet<Location> {
        let mut writes = FxHashSet::default();
        for b in region.ones() {
            for inst in &self.after.blocks[Block::new(b)].insts {
                if let Some(r) = inst.dst.as_phys().filter(|r| r.space == Space::Scalar) {
                    writes.extend(locations(r, inst.dst_words(), inst.cluster));
                }
            }
        }
        writes
    }

    fn block(&self, block: Block, state: &mut State, report: bool) -> Result<(), String> {
        let insts = &self.after.blocks[block].insts;
        for (inst, &origin) in insts.iter().zip(&self.origins[block]) {
            let result = if origin == INSERTED {
                self.inserted(inst, state)
            } else {
                let original = &self.before.blocks[block].insts[origin as usize];
                self.original(original, inst, state, report)
            };
            result.map_err(|m| format!("{block}: {m}\n  in: {inst:?}"))?;
        }
        Ok(())
    }

    fn original(&self, original: &Inst, inst: &Inst, state: &mut State, report: bool) -> Result<(), String> {
        let same = original.op == inst.op
            && original.ty == inst.ty
            && original.mods == inst.mods
            && original.imm == inst.imm
            && original.neg == inst.neg
            && original.abs == inst.abs
            && original.targets == inst.targets
            && original.srcs.len() == inst.srcs.len();
        if !same {
            return Err(format!("the instruction changed; it was {original:?}"));
        }
        if report {
            for (i, (was, now)) in original.srcs.iter().zip(&inst.srcs).enumerate() {
                self.read(*was, *now, original.src_words(i), inst.cluster, state)?;
            }
            match (original.guard, inst.guard) {
                (None, None) => {}
                (Some(a), Some(b)) if a.negate == b.negate => {
                    self.read(Operand::Reg(a.reg), Operand::Reg(b.reg), 0, inst.cluster, state)?;
                }
                _ => return Err("the guard changed".into()),
            }
        }
        // A copy makes its destination hold what its source holds, besides the new register.
        let words = inst.dst_words();
        let copied: Option<Vec<Symbols>> = (inst.op == Op::Mov && inst.guard.is_none()).then(|| match inst.srcs[0].as_phys() {
            Some(r) => locations(r, words, inst.cluster).map(|l| state.get(&l).cloned().unwrap_or_default()).collect(),
            None => vec![Symbols::new(); usize::from(words.max(1))],
        });
        match (original.dst, inst.dst) {
            (Operand::None, Operand::None) => {}
            (was, now) => {
                let (Some((reg, word)), Some(place)) = (was.as_virt(), now.as_phys()) else {
                    return Err(format!("destination {was:?} became {now:?}"));
                };
                let guarded = inst.guard.is_some();
                for (i, location) in locations(place, words, inst.cluster).enumerate() {
                    let symbol = (reg, word + i as u8);
                    // The register's old value is gone everywhere. Under a guard it is replaced in some lanes only: the location must hold the other
                    // lanes' values already, unless no location does (then those lanes have none).
                    let merges =
                        state.get(&location).is_some_and(|s| s.contains(&symbol)) || !state.values().any(|s| s.contains(&symbol));
                    for symbols in state.values_mut() {
                        symbols.retain(|s| *s != symbol);
                    }
                    let mut new = match &copied {
                        Some(c) => c[i].iter().copied().filter(|s| *s != symbol).collect(),
                        None => Symbols::new(),
                    };
                    if !guarded || merges {
                        new.push(symbol);
                        new.sort_unstable();
                    }
                    state.insert(location, new);
                }
                state.retain(|_, s| !s.is_empty());
            }
        }
        Ok(())
    }

    fn read(&self, was: Operand, now: Operand, words: u8, cluster: u8, state: &State) -> Result<(), String> {
        let Some((reg, word)) = was.as_virt() else {
            return if was == now { Ok(()) } else { Err(format!("operand {was:?} became {now:?}")) };
        };
        let Some(place) = now.as_phys() else { return Err(format!("register {reg} became {now:?}")) };
        for (i, location) in locations(place, words, cluster).enumerate() {
            let symbol = (reg, word + i as u8);
            let holds = state.get(&location);
            if !holds.is_some_and(|s| s.contains(&symbol)) && self.has_value(symbol) {
                return Err(format!("reads {reg}.{} from {location:?}, which holds {holds:?}", symbol.1));
            }
        }
        Ok(())
    }

    /// Registers that are never defined read as anything (they come from `undef`).
    fn has_value(&self, symbol: Symbol) -> bool {
        self.before.layout.iter().any(|b| {
            self.before.blocks[*b]
                .insts
                .iter()
                .any(|i| i.dst.as_virt().is_some_and(|(r, w)| r == symbol.0 && (w..w + i.dst_words().max(1)).contains(&symbol.1)))
        })
    }

    fn inserted(&self, inst: &Inst, state: &mut State) -> Result<(), String> {
        let words = inst.dst_words();
        let slots = |inst: &Inst, words: u8| {
            let base = inst.imm as u32;
            (0..words).map(move |w| Location::Slot(base + 4 * u32::from(w)))
        };
        let private =
            inst.mods.space == Some(MemorySpace::Private) && inst.srcs[0] == Operand::None && inst.srcs[1] == Operand::None;
        let (from, to): (Vec<Location>, Vec<Location>) = match (inst.op, inst.dst.as_phys()) {
            (Op::Mov | Op::First, Some(d)) => match inst.srcs[0].as_phys() {
                Some(s) => (locations(s, words, inst.cluster).collect(), locations(d, words, inst.cluster).collect()),
                None => return self.recomputed(inst, d, state),
            },
            // A predicate saved as 0 or 1, and back.
            (Op::Sel, Some(d)) if inst.srcs[1] == Operand::Immediate(1) && inst.srcs[2] == Operand::None => {
                let Some(s) = inst.srcs[0].as_phys() else { return Err("unexpected inserted instruction".into()) };
                (locations(s, 0, 0).collect(), locations(d, 1, inst.cluster).collect())
            }
            (Op::Cmp, Some(d)) if inst.mods.cond == Some(Cond::Ne) && inst.srcs[1] == Operand::Immediate(0) => {
                let Some(s) = inst.srcs[0].as_phys() else { return Err("unexpected inserted instruction".into()) };
                (locations(s, 1, inst.cluster).collect(), locations(d, 0, 0).collect())
            }
            (Op::Load, Some(d)) if private => (slots(inst, words).collect(), locations(d, words, inst.cluster).collect()),
            (Op::Store, None) if private && inst.imm as u32 >= self.before.private_bytes => {
                let words = inst.ty.words();
                let Some(s) = inst.srcs[2].as_phys() else { return Err("unexpected inserted instruction".into()) };
                (locations(s, words, inst.cluster).collect(), slots(inst, words).collect())
            }
            _ => return Err("unexpected inserted instruction".into()),
        };
        let values: Vec<Symbols> = from.iter().map(|l| state.get(l).cloned().unwrap_or_default()).collect();
        for (location, mut symbols) in to.into_iter().zip(values) {
            if inst.guard.is_some() {
                // Only some lanes are saved: the rest must have been saved before.
                let old = state.get(&location).cloned().unwrap_or_default();
                symbols.retain(|s| old.is_empty() || old.contains(s));
            }
            if symbols.is_empty() {
                state.remove(&location);
            } else {
                state.insert(location, symbols);
            }
        }
        Ok(())
    }

    /// An inserted move of a fixed source recomputes every register whose only definition is the same move.
    fn recomputed(&self, inst: &Inst, d: PhysReg, state: &mut State) -> Result<(), String> {
        if inst.guard.is_some() {
            return Err("recomputation under a guard".into());
        }
        for (i, location) in locations(d, inst.dst_words(), inst.cluster).enumerate() {
            let value = fixed_word(inst, i as u8);
            let mut symbols: Symbols = self
                .recompute
                .iter()
                .flat_map(|(reg, original)| {
                    (0..original.dst_words().max(1))
                        .filter(move |w| value.is_some() && fixed_word(original, *w) == value)
                        .map(|w| (*reg, w))
                })
                .collect();
            symbols.sort_unstable();
            state.insert(location, symbols);
        }
        Ok(())
    }
}

/// The locations of a register tuple.
fn locations(reg: PhysReg, words: u8, cluster: u8) -> impl Iterator<Item = Location> {
    let cluster = if reg.space == Space::Local { cluster } else { 0 };
    (0..words.max(1)).map(move |w| Location::Register(reg.space, cluster, reg.index.wrapping_add(w)))
}
