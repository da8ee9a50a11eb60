//! Words in S that several branches compute are computed before these part (code hoisting).
//!
//! # Problem
//! Selection expands an address where it is used. Where branches use the same one, as the tests of a stencil's
//! edges or `if`s in a row do, no use dominates another, and each has the same products and sums at its start, with
//! the access behind them waiting.
//!
//! # Algorithm
//! Values are numbered over the whole function: two instructions are congruent if they are alike in everything but
//! operands, and these are congruent. Where instructions of one class stand in several blocks, of which none
//! dominates all others, a copy goes to the end of the closest block that dominates all, if its operands are defined
//! there, and if it is expected to execute no more often there than they do together. Sharing then lets the copy
//! stand for them. Only sums, products, shifts and logic on words in S: they cost one slot of the scalar unit for
//! the warp, and a register of which there are many.
//!
//! References: Muchnick, "Advanced Compiler Design and Implementation" (1997), 13.5 (code hoisting); Briggs, Cooper and
//! Simpson, "Value numbering" (1997).
//!
//! May touch: SSA form only, and no instruction with an effect.

use std::collections::hash_map::Entry;

use cranelift_entity::SecondaryMap;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::Tree;
use crate::ssa::{Key, Substitution, is_pure};
use heddle_isa::{Inst, Op, Operand, VReg};
use heddle_mir::cfg::Cfg;
use heddle_mir::{Bank, Block, Function};

/// Instructions that compute the same.
struct Class {
    /// The first of them, in reverse post-order.
    first: VReg,
    inst: Inst,
    /// Where they stand, each block once.
    blocks: SmallVec<[Block; 4]>,
}

/// Adds the copies. `room`: words in S that may be made to live longer.
pub(super) fn run(function: &mut Function, cfg: &Cfg, tree: &Tree, room: u32) {
    if cfg.rpo.len() < 4 {
        return;
    }
    let mut congruent = Substitution::new(function);
    let mut defined: SecondaryMap<VReg, Option<Block>> = SecondaryMap::with_capacity(function.vregs.len());
    let mut classes: Vec<Class> = Vec::new();
    let mut index: FxHashMap<Key, usize> = FxHashMap::default();
    for &block in &cfg.rpo {
        for inst in &function.blocks[block].insts {
            let Some((dst, 0)) = inst.dst.as_virt() else { continue };
            defined[dst] = Some(block);
            let class = function.vregs[dst];
            if class.bank != Bank::Scalar || !is_pure(inst) {
                continue;
            }
            if let (Op::Mov, Some((src, 0))) = (inst.op, inst.srcs[0].as_virt())
                && function.vregs[src] == class
            {
                congruent.replace(dst, congruent.of(src));
                continue;
            }
            if !moves(inst) {
                continue;
            }
            let mut inst = inst.clone();
            congruent.redirect(&mut inst);
            match index.entry(Key::new(&inst, class)) {
                Entry::Vacant(v) => {
                    v.insert(classes.len());
                    classes.push(Class { first: dst, inst, blocks: SmallVec::from_slice(&[block]) });
                }
                Entry::Occupied(o) => {
                    let class = &mut classes[*o.get()];
                    congruent.replace(dst, class.first);
                    if class.blocks.last() != Some(&block) {
                        class.blocks.push(block);
                    }
                }
            }
        }
    }
    hoist(function, tree, classes, defined, room);
}

/// Puts a copy of each class that is worth it where the ways to its blocks part. Operands' classes come before their users'.
fn hoist(
    function: &mut Function,
    tree: &Tree,
    classes: Vec<Class>,
    mut defined: SecondaryMap<VReg, Option<Block>>,
    mut room: u32,
) {
    // Copies by the first of their class.
    let mut copies: FxHashMap<VReg, VReg> = FxHashMap::default();
    for class in classes.into_iter().filter(|c| c.blocks.len() > 1) {
        let Class { first, mut inst, blocks } = class;
        let Some(to) = blocks[1..].iter().try_fold(blocks[0], |a, b| tree.common(a, *b)) else { continue };
        // One that another one dominates is shared with it anyway.
        let alone = |b: &&Block| !blocks.iter().any(|other| other != *b && tree.dominates(*other, **b));
        let together: f32 = blocks.iter().filter(alone).map(|b| function.blocks[*b].frequency).sum();
        let words = u32::from(function.vregs[first].words);
        if blocks.contains(&to) || together < function.blocks[to].frequency || words > room {
            continue;
        }
        for source in &mut inst.srcs {
            if let Some((reg, word)) = source.as_virt() {
                *source = Operand::virt_word(copies.get(&reg).copied().unwrap_or(reg), word);
            }
        }
        let available = |reg: VReg| defined[reg].is_some_and(|b| tree.dominates(b, to));
        if !inst.srcs.iter().filter_map(|s| s.as_virt()).all(|(reg, _)| available(reg)) {
            continue;
        }
        room -= words;
        let copy = function.vregs.push(function.vregs[first]);
        inst.dst = Operand::virt(copy);
        defined[copy] = Some(to);
        copies.insert(first, copy);
        let insts = &mut function.blocks[to].insts;
        let end = insts.iter().rposition(|i| !i.info().flags.terminator).map_or(0, |p| p + 1);
        insts.insert(end, inst);
    }
}

/// Whether an instruction is one of those that move.
fn moves(inst: &Inst) -> bool {
    let word = matches!(
        inst.op,
        Op::Add | Op::Sub | Op::Mul | Op::Mad | Op::Shl | Op::Shr | Op::And | Op::Or | Op::Xor | Op::Min | Op::Max
    );
    word && !inst.ty.is_float() && !inst.srcs.iter().all(|s| matches!(s, Operand::Immediate(_) | Operand::None))
}
