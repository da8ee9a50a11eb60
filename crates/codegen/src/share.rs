//! Common subexpressions over blocks, scalar words that branches have in common, and loop counters that go in step.
//!
//! # Problem
//! Addresses of several accesses share products and sums that selection expands once a block; loops that LLVM
//! unrolled have a counter of their own beside the program's.
//!
//! # Algorithm
//! Value numbering by hashing, blocks in reverse post-order: an instruction is replaced by one that computes
//! the same where that one's block dominates. Before a block's instructions its phis are compared in pairs:
//! two are one if their inputs are the same values under the assumption that they are.
//!
//! Across blocks all results in S are shared. There are many scalar registers, and a value that lives on in
//! one costs nothing; one that lives on in lanes costs a main register, and a predicate one of a few. So of
//! lanes a value of another block is taken only where it lives anyway, as the index that a reduction's steps
//! have in common: then there is one value less; and where its block alone leads here, as to what a test
//! guards, which is not far.
//! A value in S is written for the whole warp, so the earlier one has the same bits in whatever lanes run.
//!
//! References: Briggs, Cooper and Simpson, "Value numbering" (1997), for hashing over dominators; Alpern, Wegman
//! and Zadeck, "Detecting equality of variables in programs" (POPL 1988), for the assumption about phis.
//!
//! May touch: SSA form only, and no instruction with an effect.

mod busy;

use cranelift_entity::SecondaryMap;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::CodegenError;
use super::context::Context;
use super::ssa::{Definitions, Key, Substitution, is_pure};
use heddle_isa::{Inst, Op, Operand, Type, VReg};
use heddle_mir::cfg::Cfg;
use heddle_mir::liveness::Liveness;
use heddle_mir::{Bank, Block, Function};

/// How far the inputs of two phis are followed when they are compared.
const DEPTH: u32 = 4;

/// Shares what is computed twice.
pub fn run(function: &mut Function, context: &mut Context) -> Result<(), CodegenError> {
    let cfg = Cfg::new(function);
    let tree = Tree::new(&cfg);
    // An eighth of the file: most of it is left to what loops and blocks keep there.
    busy::run(function, &cfg, &tree, context.machine.sm.scalar_registers / 8);
    let definitions = Definitions::new(function);
    let mut replaced = Substitution::new(function);
    let size = cfg.rpo.iter().map(|b| function.blocks[*b].insts.len()).sum();
    let mut seen: FxHashMap<Key, SmallVec<[(Block, VReg); 2]>> = FxHashMap::with_capacity_and_hasher(size, Default::default());
    let lanes =
        |r: VReg| function.vregs[r].bank == Bank::Vector && definitions.of(function, Operand::virt(r)).is_some_and(is_pure);
    let liveness = Liveness::of(function, &cfg, lanes);
    // How many words of each register live where a block begins.
    let mut living: FxHashMap<VReg, u8> = FxHashMap::default();
    for &block in &cfg.rpo {
        living.clear();
        liveness.live_in(block).for_each(|(r, words)| *living.entry(r).or_default() += words.count_ones() as u8);
        merge_phis(function, &definitions, block, &mut replaced);
        for i in 0..function.blocks[block].insts.len() {
            let inst = &mut function.blocks[block].insts[i];
            replaced.redirect(inst);
            let Some((dst, 0)) = inst.dst.as_virt() else { continue };
            if !is_pure(inst) {
                continue;
            }
            let class = function.vregs[dst];
            if let (Op::Mov, Some((src, 0))) = (inst.op, inst.srcs[0].as_virt())
                && function.vregs[src] == class
            {
                replaced.replace(dst, src);
                continue;
            }
            let earlier = seen.entry(Key::new(inst, class)).or_default();
            let serves = |from: Block, same: VReg| match class.bank {
                _ if from == block => true,
                Bank::Scalar => tree.dominates(from, block),
                Bank::Vector => {
                    let lives = living.get(&same) == Some(&class.words) && tree.dominates(from, block);
                    lives || cfg.edges[block].preds[..] == [from]
                }
                _ => false,
            };
            match earlier.iter().find(|(from, same)| serves(*from, *same)) {
                Some((_, same)) => replaced.replace(dst, *same),
                None => earlier.push((block, dst)),
            }
        }
    }
    // Inputs of phis may come from blocks behind theirs.
    replaced.apply(function);
    Ok(())
}

/// The dominator tree with its blocks numbered on the way in and out.
struct Tree {
    interval: SecondaryMap<Block, (u32, u32)>,
    /// The closest block that dominates each.
    immediate: SecondaryMap<Block, Option<Block>>,
}

impl Tree {
    fn new(cfg: &Cfg) -> Tree {
        let immediate = cfg.dominators().immediate;
        let mut children: SecondaryMap<Block, SmallVec<[Block; 4]>> = SecondaryMap::with_capacity(cfg.len);
        for &block in &cfg.rpo {
            if let Some(up) = immediate[block] {
                children[up].push(block);
            }
        }
        let mut interval: SecondaryMap<Block, (u32, u32)> = SecondaryMap::with_capacity(cfg.len);
        let (mut time, mut stack) = (0, Vec::new());
        stack.extend(cfg.rpo.first().map(|b| (*b, 0)));
        while let Some((block, next)) = stack.last_mut() {
            if *next == 0 {
                interval[*block].0 = time;
                time += 1;
            }
            match children[*block].get(*next) {
                Some(&child) => {
                    *next += 1;
                    stack.push((child, 0));
                }
                None => {
                    interval[*block].1 = time;
                    stack.pop();
                }
            }
        }
        Tree { interval, immediate }
    }

    /// Whether every way to `b` passes `a`.
    fn dominates(&self, a: Block, b: Block) -> bool {
        let (from, to) = self.interval[a];
        (from..to).contains(&self.interval[b].0)
    }

    /// The closest block that dominates both.
    fn common(&self, a: Block, b: Block) -> Option<Block> {
        std::iter::successors(Some(a), |up| self.immediate[*up]).find(|up| self.dominates(*up, b))
    }
}

/// Replaces phis of a block by earlier ones that always have the same value.
fn merge_phis(function: &Function, definitions: &Definitions, block: Block, replaced: &mut Substitution) {
    let insts = &function.blocks[block].insts;
    let count = insts.iter().take_while(|i| i.op == Op::Phi).count();
    // Unrolled loops have two or three counters; many phis are other things.
    let mut candidates: SmallVec<[(VReg, &Inst); 8]> = SmallVec::new();
    for phi in insts[..count].iter().filter(|i| i.srcs.len() == 2) {
        let Some((dst, 0)) = phi.dst.as_virt() else { continue };
        if function.vregs[dst].bank == Bank::Predicate {
            continue;
        }
        let mut proof = Proof { function, definitions, replaced, assumed: SmallVec::new() };
        match candidates.iter().find(|(r, other)| {
            proof.assumed.clear();
            proof.assumed.push((*r, dst));
            function.vregs[*r] == function.vregs[dst] && proof.same_inputs(other, phi)
        }) {
            Some((same, _)) => replaced.replace(dst, *same),
            None if candidates.len() < 8 => candidates.push((dst, phi)),
            None => {}
        }
    }
}

/// That two phis are the same, if they are.
struct Proof<'a> {
    function: &'a Function,
    definitions: &'a Definitions,
    replaced: &'a Substitution,
    /// The pair of phis that is assumed to be the same.
    assumed: SmallVec<[(VReg, VReg); 1]>,
}

impl Proof<'_> {
    fn same_inputs(&self, a: &Inst, b: &Inst) -> bool {
        a.ty == b.ty && a.blocks() == b.blocks() && a.srcs.iter().zip(&b.srcs).all(|(x, y)| self.same(*x, *y, DEPTH))
    }

    /// What stands for an operand: a special register, a word of the constant bank or a number that it is a copy of.
    fn standing_for(&self, op: Operand) -> Operand {
        let op = self.replaced.operand(op);
        let copied = self.definitions.of(self.function, op).filter(|i| i.op == Op::Mov && i.ty == Type::B32 && is_pure(i));
        copied.map(|i| i.srcs[0]).filter(|source| source.as_virt().is_none()).unwrap_or(op)
    }

    fn same(&self, a: Operand, b: Operand, depth: u32) -> bool {
        let (a, b) = (self.standing_for(a), self.standing_for(b));
        if a == b {
            return true;
        }
        let (Some((x, v)), Some((y, w))) = (a.as_virt(), b.as_virt()) else { return false };
        if v == w && self.assumed.contains(&(x, y)) {
            return true;
        }
        let defined = |op| self.definitions.of(self.function, op).filter(|i| is_pure(i));
        let (Some(i), Some(j)) = (defined(a), defined(b)) else { return false };
        depth > 0
            && self.function.vregs[x] == self.function.vregs[y]
            && (i.op, i.ty, i.mods, i.neg, i.abs, i.imm) == (j.op, j.ty, j.mods, j.neg, j.abs, j.imm)
            && i.srcs.len() == j.srcs.len()
            && i.srcs.iter().zip(&j.srcs).all(|(s, t)| self.same(*s, *t, depth - 1))
    }
}
