//! Block placement: the order of blocks in the code, and which way branches go.
//!
//! # Problem
//! LLVM's order of blocks is the source's: a loop's body often stands behind what follows the loop, and its
//! warps jump there and back. Each jump costs an issue, and code that is apart costs instruction fetches.
//!
//! # Algorithm
//! A topological order of the graph without its back edges, in which a loop is finished before what follows
//! it. Behind a block comes the successor that it need not branch to, else the one that is run more often, else
//! what became ready last; blocks that end in `trap` come where nothing else is left. Then branches are turned: to fall
//! into the next block; a uniform branch with both targets elsewhere goes to the more frequent one, so that a
//! loop's way back is one instruction; a divergent one leaves the side without code, whose lanes are at the
//! meeting point at once, to the fall-through. Linear but for loops' nesting.
//!
//! After Pettis and Hansen, "Profile guided code positioning" (PLDI 1990), with frequencies by loop depth.
//!
//! May touch: the layout, and the sides of branches where lanes' scalars have no registers yet.

use cranelift_entity::SecondaryMap;
use smallvec::{SmallVec, smallvec};

use super::CodegenError;
use super::context::Context;
use super::loops::Loops;
use heddle_isa::{Inst, Op, Operand, Targets, Type};
use heddle_mir::cfg::Cfg;
use heddle_mir::{Block, Function};

/// Places blocks and turns branches.
pub fn run(function: &mut Function, _: &mut Context) -> Result<(), CodegenError> {
    order(function);
    for (block, next) in with_next(function) {
        turn(function, block, next);
    }
    Ok(())
}

/// Each block of the layout with the one behind it.
pub fn with_next(function: &Function) -> Vec<(Block, Option<Block>)> {
    let following = function.layout.iter().skip(1).copied().map(Some).chain([None]);
    function.layout.iter().copied().zip(following).collect()
}

/// Brings the blocks into their order. All that had fallen into the next one jump there.
pub fn order(function: &mut Function) {
    jump_to_next(function);
    let cfg = Cfg::new(function);
    let loops = Loops::new(&cfg);
    let mut placement = Placement::new(&cfg, &loops);
    let mut at = function.layout.first().copied();
    let mut layout = Vec::with_capacity(function.layout.len());
    while let Some(block) = at {
        layout.push(block);
        placement.place(block);
        at = placement.next(function, block);
    }
    // What nothing reaches stays, since phis may name it.
    layout.extend(function.layout.iter().filter(|b| !placement.placed[**b]));
    function.layout = layout;
}

/// Blocks that fall into the next one end in a jump to it.
pub fn jump_to_next(function: &mut Function) {
    for (block, next) in with_next(function) {
        let insts = &mut function.blocks[block].insts;
        let ends = insts.last().is_some_and(|i| matches!(i.op, Op::Bra | Op::Exit | Op::Trap) && i.guard.is_none());
        if let (false, Some(next)) = (ends, next) {
            let mut jump = Inst::new(Op::Bra, Type::None, Operand::None, []);
            jump.targets = Targets::Blocks(smallvec![next]);
            jump.loc = insts.last().map(|i| i.loc).unwrap_or_default();
            insts.push(jump);
        }
    }
}

/// Blocks that have a place, and those that may have the next.
struct Placement<'a> {
    cfg: &'a Cfg,
    loops: &'a Loops,
    /// Position in reverse post-order.
    number: SecondaryMap<Block, usize>,
    placed: SecondaryMap<Block, bool>,
    /// Predecessors that come before a block and have no place yet.
    waits_for: SecondaryMap<Block, usize>,
    /// Blocks without a place that wait for nothing, those that became ready last behind the others.
    ready: Vec<Block>,
    /// Blocks of each loop that have no place yet.
    left: Vec<usize>,
}

impl<'a> Placement<'a> {
    fn new(cfg: &'a Cfg, loops: &'a Loops) -> Self {
        let mut number = SecondaryMap::with_default(usize::MAX);
        cfg.rpo.iter().enumerate().for_each(|(i, b)| number[*b] = i);
        let mut waits_for = SecondaryMap::new();
        for b in &cfg.rpo {
            waits_for[*b] = cfg.edges[*b].preds.iter().filter(|p| number[**p] < number[*b]).count();
        }
        let left = loops.loops.iter().map(|l| l.blocks.len()).collect();
        Placement { cfg, loops, number, placed: SecondaryMap::new(), waits_for, ready: Vec::new(), left }
    }

    /// A block has its place.
    fn place(&mut self, block: Block) {
        self.placed[block] = true;
        self.ready.retain(|b| *b != block);
        let mut at = self.loops.innermost[block];
        while let Some(l) = at {
            self.left[l as usize] -= 1;
            at = self.loops.loops[l as usize].parent;
        }
        let mut successors: SmallVec<[Block; 2]> = self.cfg.edges[block].succs.clone();
        successors.dedup();
        for s in successors {
            if self.number[s] > self.number[block] && self.number[s] != usize::MAX {
                self.waits_for[s] -= 1;
                if self.waits_for[s] == 0 && !self.placed[s] {
                    self.ready.push(s);
                }
            }
        }
    }

    /// The block to come behind one that has just got its place.
    fn next(&self, function: &Function, block: Block) -> Option<Block> {
        let mut within = self.loops.innermost[block];
        while let Some(l) = within
            && self.left[l as usize] == 0
        {
            within = self.loops.loops[l as usize].parent;
        }
        let fits = |b: &Block| within.is_none_or(|l| self.loops.contains(l, *b));
        let traps = |b: Block| function.blocks[b].insts.last().is_some_and(|i| i.op == Op::Trap);
        let branch = function.blocks[block].insts.iter().rev().take(2).find(|i| i.op == Op::BraDivergent);
        let rank = |i: usize, b: Block| {
            let fallen_into = self.cfg.edges[block].succs.last() == Some(&b);
            let follows = self.cfg.edges[block].succs.contains(&b);
            let frequency = if follows { function.blocks[b].frequency } else { 0.0 };
            (!traps(b), branch.is_some() && fallen_into, follows, frequency, fallen_into, i)
        };
        let ready = self.ready.iter().copied().enumerate().filter(|(_, b)| fits(b));
        let best = ready.max_by(|a, b| rank(a.0, a.1).partial_cmp(&rank(b.0, b.1)).unwrap_or(std::cmp::Ordering::Equal));
        // Irreducible control flow may leave nothing ready.
        let any = || self.cfg.rpo.iter().copied().find(|b| !self.placed[*b] && fits(b));
        best.map(|(_, b)| b).or_else(any)
    }
}

/// Turns the branch that ends a block, where that pays.
fn turn(function: &mut Function, block: Block, next: Option<Block>) {
    let [.., branch, jump] = &function.blocks[block].insts[..] else { return };
    let (Some(&to), Some(&other)) = (branch.blocks().first(), jump.blocks().first()) else { return };
    if jump.op != Op::Bra || jump.guard.is_some() || Some(other) == next {
        return;
    }
    let pays = match branch.op {
        Op::BraScalar => is_better_target(function, other, to, next),
        Op::BraDivergent => Some(to) == next || branch.blocks().get(1) == Some(&to),
        _ => false,
    };
    if pays && let [.., branch, jump] = &mut function.blocks[block].insts[..] {
        swap_sides(branch, jump);
    }
}

/// Whether a uniform branch should go to `other` and the jump behind it to `to`, rather than the other way round,
/// where `other` is not next.
pub fn is_better_target(function: &Function, other: Block, to: Block, next: Option<Block>) -> bool {
    Some(to) == next || function.blocks[other].frequency > function.blocks[to].frequency
}

/// Turns a branch and the jump behind it.
pub fn swap_sides(branch: &mut Inst, jump: &mut Inst) {
    match &mut branch.guard {
        Some(guard) => guard.negate = !guard.negate,
        None => branch.imm = 1 - branch.imm,
    }
    if let (Targets::Blocks(a), Targets::Blocks(b)) = (&mut branch.targets, &mut jump.targets) {
        std::mem::swap(&mut a[0], &mut b[0]);
    }
}

#[cfg(test)]
mod tests {
    use super::super::{CodegenOptions, testing};
    use super::*;
    use heddle_mir::{parse, print, verify};

    fn placed(text: &str) -> String {
        let mut module = parse::parse_module(text).unwrap();
        let (options, machine) = (CodegenOptions::default(), testing::machine(32, 16, 7));
        let function = &mut module.functions[0];
        let mut context = Context::new(function, &machine, &options);
        run(function, &mut context).unwrap();
        verify::verify(function, &machine).unwrap();
        print::print_module(&module)
    }

    fn labels(text: &str) -> Vec<&str> {
        text.lines().filter_map(|l| l.strip_prefix("bb")).filter_map(|l| l.split(':').next()).collect()
    }

    #[test]
    fn a_loop_stands_before_what_follows_it_and_goes_back_with_one_branch() {
        let text = "kernel @k stage lowered local 0 private 0 {\n registers s1\nbb0: frequency 1\n bra bb2\nbb1: frequency 1\n \
                    exit\nbb2: frequency 8\n bras %0, bb1\nbb3: frequency 8\n bras %0, bb1\n bra bb2\n}\n";
        let out = placed(text);
        assert_eq!(labels(&out), ["0", "2", "3", "1"], "{out}");
        assert!(out.contains("bras.z %0, bb2\n  bra bb1"), "{out}");
    }

    #[test]
    fn arms_stand_before_the_block_where_they_meet_and_traps_last() {
        let text = "kernel @k stage lowered local 0 private 0 {\n registers s1 p\nbb0: frequency 1\n @%1 brad bb3, bb4\n \
                    bra bb2\nbb1: frequency 1\n trap\nbb2: frequency 1\n bras %0, bb1\n bra bb4\nbb3: frequency 1\n \
                    bra bb4\nbb4: frequency 1\n exit\n}\n";
        let out = placed(text);
        assert_eq!(labels(&out), ["0", "2", "3", "4", "1"], "{out}");
    }

    #[test]
    fn lanes_that_leave_a_loop_fall_through() {
        let text = "kernel @k stage lowered local 0 private 0 {\n registers p\nbb0: frequency 1\nbb1: frequency 8\n \
                    @%0 brad bb2, bb2\n bra bb1\nbb2: frequency 1\n exit\n}\n";
        let out = placed(text);
        assert!(out.contains("@!%0 brad bb1, bb2\n  bra bb2"), "{out}");
    }
}
