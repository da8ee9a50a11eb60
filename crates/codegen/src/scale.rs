//! Scales go to the terms: `(x + v) << k` in a loop in which `v` does not change becomes `x * 2^k + (v << k)`.
//!
//! # Problem
//! An address of an element is `4 * (row + column)`, a sum and a shift. Where the column is clamped to an image, or comes from
//! memory, nothing steps along with the loop ([`super::reduce`]), though the row stays the same.
//!
//! # Algorithm
//! A shift by a constant whose only operand is a sum, a product, or both, for it alone: the invariant terms are shifted before
//! the loop, and a multiplication, or one and an addition, is left, of which the machine makes one instruction. A shifted term in
//! lanes is one register more that lives through the loop, unless it takes the other's place; where it does not, several shifts
//! have to need it. All in 32 bits, so that overflow changes nothing.
//!
//! Reference: Aho, Lam, Sethi and Ullman, "Compilers", 9.5 (code motion), with the distributive law.
//!
//! May touch: SSA form only: shifts in loops become products, and preheaders get shifts. Sums may be dead afterwards.

use cranelift_entity::SecondaryMap;
use rustc_hash::FxHashMap;
use smallvec::smallvec;

use super::hoist::Preheaders;
use super::loops::Loops;
use super::spill;
use super::ssa::Definitions;
use heddle_isa::{Inst, Op, Operand, Reg, SourceLoc, Type, VReg};
use heddle_mir::cfg::Cfg;
use heddle_mir::{Bank, Block, Function, RegClass};

/// So many instructions of a loop are worth a register of lanes through it. With half as many four of silx's convolutions take
/// 0.5 to 3.2 % more cycles; 304 launches of test kernels and workloads take the same.
const FOR_A_REGISTER: u32 = 4;

/// A shift that becomes a multiplication, or one and an addition.
struct Change {
    block: Block,
    /// Its position.
    at: usize,
    /// What changes in the loop.
    varies: Operand,
    /// What that is multiplied by, before the shift; `None`: one.
    factor: Option<Operand>,
    /// What is added, before the shift; `None`: nothing.
    term: Option<Operand>,
    /// Bits by which is shifted.
    by: u32,
}

/// Distributes scales in all loops; whether there was one. `scalarize`: launch values may be computed with in S.
pub(super) fn run(f: &mut Function, cfg: &Cfg, loops: &Loops, scalarize: bool) -> bool {
    let places = Preheaders::new(cfg, loops);
    let definitions = Definitions::new(f);
    let mut uses: SecondaryMap<VReg, u32> = SecondaryMap::with_capacity(f.vregs.len());
    for block in &cfg.rpo {
        let sources = f.blocks[*block].insts.iter().flat_map(|i| &i.srcs);
        sources.filter_map(|s| s.as_virt()).for_each(|(r, _)| uses[r] += 1);
    }
    let mut any = false;
    for index in 0..loops.loops.len() as u32 {
        let Some(preheader) = places.of[index as usize].preheader else { continue };
        let finder = Finder { f, loops, definitions: &definitions, uses: &uses, index, scalarize };
        let mut changes = finder.changes();
        finder.keep_what_pays(&mut changes, preheader);
        let mut shifted = Shifted { preheader, known: FxHashMap::default() };
        any |= !changes.is_empty();
        for change in changes {
            let loc = f.blocks[change.block].insts[change.at].loc;
            let term = change.term.map(|term| shifted.of(f, term, change.by, loc));
            let factor = match change.factor {
                None => Operand::Immediate(1 << change.by),
                Some(factor) => shifted.of(f, factor, change.by, loc),
            };
            let inst = &mut f.blocks[change.block].insts[change.at];
            (inst.op, inst.srcs) = match term {
                Some(term) => (Op::Mad, smallvec![change.varies, factor, term]),
                None => (Op::Mul, smallvec![change.varies, factor]),
            };
        }
    }
    any
}

/// Finds shifts in a loop, and in no loop inside.
struct Finder<'a> {
    f: &'a Function,
    loops: &'a Loops,
    definitions: &'a Definitions,
    uses: &'a SecondaryMap<VReg, u32>,
    index: u32,
    scalarize: bool,
}

impl Finder<'_> {
    fn changes(&self) -> Vec<Change> {
        let own = |b: &&Block| self.loops.innermost[**b] == Some(self.index);
        let mut blocks: Vec<Block> = self.loops.loops[self.index as usize].blocks.iter().filter(own).copied().collect();
        blocks.sort_unstable();
        let all = blocks.into_iter().flat_map(|block| (0..self.f.blocks[block].insts.len()).map(move |at| (block, at)));
        all.filter_map(|(block, at)| self.change(block, at)).collect()
    }

    fn change(&self, block: Block, at: usize) -> Option<Change> {
        let plain = |i: &Inst| i.ty == Type::B32 && i.guard.is_none() && !i.mods.saturate;
        let shift = &self.f.blocks[block].insts[at];
        let (Op::Shl, [sum, Operand::Immediate(by @ 1..32)]) = (shift.op, &shift.srcs[..]) else { return None };
        let (register, 0) = sum.as_virt()? else { return None };
        let inside = self.loops.innermost[self.definitions.block(register)?] == Some(self.index);
        if !plain(shift) || self.uses[register] != 1 || !inside {
            return None;
        }
        let inst = self.definitions.of(self.f, *sum).filter(|i| plain(i))?;
        let (product, term) = match (inst.op, &inst.srcs[..]) {
            (Op::Add, [a, b]) if self.is_invariant(*b) => ((*a, None), Some(*b)),
            (Op::Add, [a, b]) if self.is_invariant(*a) => ((*b, None), Some(*a)),
            (Op::Mul, [a, b]) if self.is_uniform(*b) => ((*a, Some(*b)), None),
            (Op::Mul, [a, b]) if self.is_uniform(*a) => ((*b, Some(*a)), None),
            (Op::Mad, [a, b, c]) if self.is_invariant(*c) && self.is_uniform(*b) => ((*a, Some(*b)), Some(*c)),
            (Op::Mad, [a, b, c]) if self.is_invariant(*c) && self.is_uniform(*a) => ((*b, Some(*a)), Some(*c)),
            _ => return None,
        };
        let varies = product.0.as_virt().is_some_and(|_| !self.is_invariant(product.0));
        // With an immediate an access has it for its own offset.
        (varies && !matches!(term, Some(Operand::Immediate(_)))).then_some(Change {
            block,
            at,
            varies: product.0,
            factor: product.1,
            term,
            by: *by,
        })
    }

    /// Whether an operand is there before the loop, in S or in a register of lanes, and does not change in it.
    fn is_invariant(&self, op: Operand) -> bool {
        match op {
            Operand::Reg(Reg::Virtual { reg, word: 0 }) => {
                self.definitions.block(reg).is_some_and(|b| !self.loops.contains(self.index, b))
            }
            _ => self.is_uniform(op),
        }
    }

    /// Whether it is invariant and the same in all lanes.
    fn is_uniform(&self, op: Operand) -> bool {
        match op {
            Operand::Immediate(_) => true,
            Operand::Constant(_) => self.scalarize,
            Operand::Special(s) => s.is_uniform() && spill::never_changes(op) && self.scalarize,
            Operand::Reg(Reg::Virtual { reg, .. }) => self.f.vregs[reg] == RegClass::scalar(1) && self.is_invariant(op),
            _ => false,
        }
    }

    /// Terms that lanes have stay if shifted ones would take another register and save little.
    fn keep_what_pays(&self, changes: &mut Vec<Change>, preheader: Block) {
        let lanes = |c: &Change| c.term?.as_virt().map(|(r, _)| r).filter(|r| self.f.vregs[*r].bank == Bank::Vector);
        let mut read: FxHashMap<(VReg, u32), u32> = FxHashMap::default();
        for (term, by) in changes.iter().filter_map(|c| Some((lanes(c)?, c.by))) {
            *read.entry((term, by)).or_default() += 1;
        }
        // What comes from outside an outer loop lives through that, too.
        let near = |r: VReg| self.definitions.block(r).map(|b| self.loops.innermost[b]) == Some(self.loops.innermost[preheader]);
        let pays = |r: VReg, by: u32| read[&(r, by)] == self.uses[r] && near(r) || read[&(r, by)] >= FOR_A_REGISTER;
        changes.retain(|c| lanes(c).is_none_or(|r| pays(r, c.by)));
    }
}

/// What is shifted before a loop.
struct Shifted {
    preheader: Block,
    known: FxHashMap<(Operand, u32), Operand>,
}

impl Shifted {
    fn of(&mut self, f: &mut Function, op: Operand, by: u32, loc: SourceLoc) -> Operand {
        if let Operand::Immediate(n) = op {
            return Operand::Immediate(n << by);
        }
        if let Some(known) = self.known.get(&(op, by)) {
            return *known;
        }
        let bank = op.as_virt().map_or(Bank::Scalar, |(r, _)| f.vregs[r].bank);
        let result = Operand::virt(f.add_vreg(RegClass { bank, words: 1 }));
        let mut shift = Inst::new(Op::Shl, Type::B32, result, [op, Operand::Immediate(by)]);
        shift.loc = loc;
        let insts = &mut f.blocks[self.preheader].insts;
        let end = insts.iter().rposition(|i| !i.info().flags.terminator).map_or(0, |p| p + 1);
        insts.insert(end, shift);
        self.known.insert((op, by), result);
        result
    }
}
