//! Copies that run before a branch, and what they copy, in one register.
//!
//! # Problem
//! `if (c) s += x;` is a phi of the old sum and the new one. The copy of the old one runs before the branch, for all lanes
//! ([`super::edges`]); the side with code still reads the old sum, and so the two are live at once and get two registers: a copy for
//! every such statement.
//!
//! # Algorithm
//! Behind the copy both registers have the same value until the phi's is written again. Where the old one is read on the side with code
//! alone, and there only before a write of the phi's register, that side reads the phi's register instead. Then the old one ends at the
//! copy, and both become one register if neither is written while the other is live. Inner branches come first, so that what they leave
//! to read is known to outer ones.
//!
//! Lanes have registers of their own, so each lane's path is enough to look at (hazard 3); scalar registers stay as they are.
//!
//! Reference: the values of copies in Boissinot et al., "Revisiting out-of-SSA translation" (CGO 2009), 4.1, for what may share a
//! register though both are live.
//!
//! Chaitin, "Register allocation and spilling via graph coloring" (SIGPLAN 1982), for writes as what registers meet at.
//!
//! May touch: names of registers, and copies of registers onto themselves, which go.

use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

use heddle_isa::{Inst, Op, Operand, VReg};
use heddle_mir::cfg::{Cfg, Dominators};
use heddle_mir::liveness::{self, Liveness};
use heddle_mir::{Bank, Block, Function};

/// Blocks of a side that are looked at; longer ones keep their copies.
const MOST_BLOCKS: usize = 32;

/// A copy at the end of a block.
struct Early {
    block: Block,
    /// Its destination and its source.
    phi: VReg,
    old: VReg,
}

/// Lets the sides of branches read what was copied before.
pub(super) fn run(function: &mut Function) {
    let copies = early_copies(function);
    if copies.is_empty() {
        return;
    }
    let cfg = Cfg::new(function);
    let dominators = cfg.dominators();
    let wanted: FxHashSet<VReg> = copies.iter().map(|c| c.old).collect();
    let live = Liveness::of(function, &cfg, |r| wanted.contains(&r));
    // The blocks of a branch's sides come behind it.
    for copy in copies.iter().rev() {
        for k in 0..2 {
            let [side, join] = cfg.edges[copy.block].succs[..] else { break };
            let (side, join) = if k == 0 { (side, join) } else { (join, side) };
            if let Some(blocks) = side_blocks(&cfg, &dominators, copy.block, side, join)
                && !is_live(live.live_in(join), copy.old)
                && blocks.iter().all(|b| keeps_value(function, &live, *b, copy))
            {
                for block in blocks {
                    rename(&mut function.blocks[block].insts, copy);
                }
            }
        }
    }
    merge(function, &copies);
}

/// Copies of lanes' registers right before branches with two targets, in the order of the code.
fn early_copies(function: &Function) -> Vec<Early> {
    let mut result = Vec::new();
    for &block in &function.layout {
        let insts = &function.blocks[block].insts;
        let branches = insts.iter().rev().take(2).any(|i| matches!(i.op, Op::BraDivergent | Op::BraScalar));
        let end = insts.iter().rposition(|i| !i.info().flags.terminator).map_or(0, |p| p + 1);
        let mut written: SmallVec<[VReg; 4]> = SmallVec::new();
        for inst in insts[..end].iter().rev().take_while(|i| branches && i.op == Op::Mov) {
            if let Some((phi, old)) = whole_copy(function, inst)
                && function.vregs[phi].bank == Bank::Vector
                && !written.iter().any(|r| *r == phi || *r == old)
            {
                result.push(Early { block, phi, old });
            }
            written.extend(inst.dst.as_virt().map(|(r, _)| r));
        }
    }
    result
}

/// The ends of a copy of a whole register as it is: destination and source.
fn whole_copy(function: &Function, inst: &Inst) -> Option<(VReg, VReg)> {
    let ((to, 0), (from, 0)) = (inst.dst.as_virt()?, inst.srcs.first()?.as_virt()?) else { return None };
    let plain = inst.op == Op::Mov && inst.guard.is_none() && inst.neg == 0 && inst.abs == 0;
    let class = function.vregs[to];
    (plain && class == function.vregs[from] && inst.dst_words() == class.words).then_some((to, from))
}

/// The blocks of a side of a branch up to where lanes meet, if nothing else leads there.
fn side_blocks(cfg: &Cfg, dominators: &Dominators, branch: Block, side: Block, join: Block) -> Option<SmallVec<[Block; 4]>> {
    if side == join || cfg.edges[side].preds[..] != [branch] || dominators.dominates(side, join) {
        return None;
    }
    let mut blocks: SmallVec<[Block; 4]> = SmallVec::from_slice(&[side]);
    let mut next = 0;
    while next < blocks.len() {
        for &to in &cfg.edges[blocks[next]].succs {
            if to != join && !blocks.contains(&to) {
                blocks.push(to);
            }
        }
        next += 1;
        if blocks.len() > MOST_BLOCKS {
            return None;
        }
    }
    blocks.iter().all(|b| dominators.dominates(side, *b)).then_some(blocks)
}

/// Whether a block leaves the old value alone, and nothing in it or behind it reads that once the phi's register has been written there.
fn keeps_value(function: &Function, live: &Liveness, block: Block, copy: &Early) -> bool {
    let (mut written, mut fits) = (false, true);
    for inst in &function.blocks[block].insts {
        liveness::for_each_use(inst, |r, _| fits &= r != copy.old || !written);
        let to = inst.dst.as_virt().map(|(r, _)| r);
        fits &= to != Some(copy.old);
        written |= to == Some(copy.phi);
    }
    fits && !(written && is_live(live.live_out(block), copy.old))
}

fn is_live(mut set: impl Iterator<Item = (VReg, u8)>, reg: VReg) -> bool {
    set.any(|(r, _)| r == reg)
}

/// Reads the phi's register in place of the old one.
fn rename(insts: &mut [Inst], copy: &Early) {
    for source in insts.iter_mut().flat_map(|i| &mut i.srcs) {
        if let Some((reg, word)) = source.as_virt()
            && reg == copy.old
        {
            *source = Operand::virt_word(copy.phi, word);
        }
    }
}

/// Registers of copies that are looked at; further ones keep their own.
const MOST_REGISTERS: usize = 512;

/// Gives the ends of copies one register, and drops the copies, where neither end is written while the other one is needed: else the
/// scheduler would move a copy up, past reads of the old value.
fn merge(function: &mut Function, copies: &[Early]) {
    let copies = &copies[..copies.len().min(MOST_REGISTERS / 2)];
    let ends: FxHashSet<VReg> = copies.iter().flat_map(|c| [c.phi, c.old]).collect();
    let apart = interferences(function, &ends);
    let mut classes: FxHashMap<VReg, SmallVec<[VReg; 4]>> = ends.iter().map(|r| (*r, SmallVec::from_slice(&[*r]))).collect();
    let mut of: FxHashMap<VReg, VReg> = ends.iter().map(|r| (*r, *r)).collect();
    for copy in copies {
        let (phi, old) = (of[&copy.phi], of[&copy.old]);
        let meet = |a: &VReg| classes[&old].iter().any(|b| apart.contains(&(*a.min(b), *a.max(b))));
        if phi == old || classes[&phi].iter().any(meet) {
            continue;
        }
        let moved = classes.remove(&phi).unwrap_or_default();
        moved.iter().for_each(|r| {
            of.insert(*r, old);
        });
        classes.entry(old).or_default().extend(moved);
    }
    let named = |op: Operand| match op.as_virt() {
        Some((r, word)) => Operand::virt_word(of.get(&r).copied().unwrap_or(r), word),
        None => op,
    };
    for block in function.layout.clone() {
        let mut insts = std::mem::take(&mut function.blocks[block].insts);
        insts.retain_mut(|inst| {
            inst.dst = named(inst.dst);
            inst.srcs.iter_mut().for_each(|s| *s = named(*s));
            whole_copy(function, inst).is_none_or(|(to, from)| to != from)
        });
        function.blocks[block].insts = insts;
    }
}

/// Pairs of registers, the lower number first, of which one is written while the other is live, but for copies of the one into the other.
fn interferences(function: &Function, ends: &FxHashSet<VReg>) -> FxHashSet<(VReg, VReg)> {
    let cfg = Cfg::new(function);
    let live = Liveness::of(function, &cfg, |r| ends.contains(&r));
    let mut result = FxHashSet::default();
    for &block in &function.layout {
        let mut now: FxHashMap<VReg, u8> = live.live_out(block).collect();
        for inst in function.blocks[block].insts.iter().rev() {
            if let Some((reg, _)) = liveness::def(inst).filter(|(r, _)| ends.contains(r)) {
                let copied = whole_copy(function, inst).map(|(_, from)| from);
                let others = now.keys().filter(|r| **r != reg && Some(**r) != copied);
                result.extend(others.map(|r| (*r.min(&reg), *r.max(&reg))));
                if let Some(words) = now.get_mut(&reg) {
                    *words &= !liveness::kill_mask(inst);
                    if *words == 0 {
                        now.remove(&reg);
                    }
                }
            }
            liveness::for_each_use(inst, |r, words| {
                if ends.contains(&r) {
                    *now.entry(r).or_default() |= words;
                }
            });
        }
    }
    result
}
