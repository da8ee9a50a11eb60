//! Code on control-flow edges (hazards 3, 5, 7).
//!
//! Code of an edge runs exactly for the lanes that take it, under their EXEC: at the end of a predecessor
//! with one successor; at the start of a successor with one predecessor, unless lanes meet there again; else
//! in a block of its own on the edge. An edge from a divergent branch straight to its reconvergence block
//! always gets a block: lanes that leave a loop in different iterations must run the code on their way out
//! (S4).

use cranelift_entity::SecondaryMap;
use smallvec::smallvec;

use heddle_isa::{Inst, Op, Operand, Targets, Type};
use heddle_mir::cfg::Cfg;
use heddle_mir::{Block, BlockData, Function};

/// Where code ended up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Placed {
    /// The block.
    pub block: Block,
    /// Position of its first instruction.
    pub at: usize,
}

/// Puts code on edges of one function, whose control flow was `cfg` before the first of them. New blocks
/// enter the layout in [`EdgeCode::finish`].
pub struct EdgeCode<'a> {
    cfg: &'a Cfg,
    /// Blocks to follow a block in the layout: they are fallen into.
    after: SecondaryMap<Block, Option<Block>>,
    /// Blocks reached by branches only.
    apart: Vec<Block>,
    next: SecondaryMap<Block, Option<Block>>,
    /// Position of each block in reverse post-order.
    number: SecondaryMap<Block, u32>,
}

impl<'a> EdgeCode<'a> {
    /// Starts on a function.
    pub fn new(function: &Function, cfg: &'a Cfg) -> Self {
        let mut next = SecondaryMap::with_capacity(function.blocks.len());
        for pair in function.layout.windows(2) {
            next[pair[0]] = Some(pair[1]);
        }
        let mut number = SecondaryMap::with_default(u32::MAX);
        cfg.rpo.iter().zip(0..).for_each(|(b, i)| number[*b] = i);
        EdgeCode { cfg, after: SecondaryMap::new(), apart: Vec::new(), next, number }
    }

    /// Puts phi copies on the edge from `pred` to `block`: as [`EdgeCode::place`], but copies that would need
    /// a block of their own may run before the branch, also for the lanes that do not take the edge. That is
    /// right on an edge forward in reverse post-order: `block` then does not dominate `pred`, so no phi of
    /// `block` has a value yet on the other side, and whatever reads one later passes `block` first. It pays
    /// if the edge is about as frequent as its start.
    pub fn place_copies(&mut self, function: &mut Function, pred: Block, block: Block, code: Vec<Inst>) -> Placed {
        const MOST: usize = 3;
        let forward = self.number[pred] < self.number[block];
        let often = 2.0 * function.blocks[block].frequency >= function.blocks[pred].frequency;
        if forward && often && code.len() <= MOST && self.needs_block(function, pred, block) {
            return before_terminators(function, pred, code);
        }
        self.place(function, pred, block, code)
    }

    /// Whether code on an edge needs a block of its own.
    fn needs_block(&self, function: &Function, pred: Block, block: Block) -> bool {
        let branch = function.blocks[pred].insts.iter().rev().take(2).find(|i| i.op == Op::BraDivergent);
        let meets_here = branch.is_some_and(|b| b.blocks().get(1) == Some(&block));
        let alone = self.cfg.edges[block].preds.len() == 1 && block != function.entry() && !meets_here;
        self.cfg.edges[pred].succs.len() > 1 && !alone
    }

    /// Puts code on the edge from `pred` to `block`. At most once for each edge.
    pub fn place(&mut self, function: &mut Function, pred: Block, block: Block, mut code: Vec<Inst>) -> Placed {
        if self.cfg.edges[pred].succs.len() < 2 {
            return before_terminators(function, pred, code);
        }
        if !self.needs_block(function, pred, block) {
            function.blocks[block].insts.splice(0..0, code);
            return Placed { block, at: 0 };
        }
        let data = &function.blocks[pred];
        let frequency = (data.frequency / 2.0).min(function.blocks[block].frequency);
        let loc = code.first().map(|c| c.loc).unwrap_or_default();
        code.push(bra(block, loc));
        let edge = function.blocks.push(BlockData { insts: code, frequency });
        let insts = &mut function.blocks[pred].insts;
        let mut falls = true;
        for inst in insts.iter_mut().rev().take(2) {
            falls &= inst.op != Op::Bra;
            if let (Targets::Blocks(targets), Op::Bra | Op::BraScalar | Op::BraDivergent) = (&mut inst.targets, inst.op)
                && targets[0] == block
            {
                targets[0] = edge;
            }
        }
        if falls && self.next[pred] == Some(block) {
            self.after[pred] = Some(edge);
        } else {
            self.apart.push(edge);
        }
        Placed { block: edge, at: 0 }
    }

    /// Enters the new blocks into the layout: those that are fallen into behind their predecessors, the
    /// others at the end.
    pub fn finish(self, function: &mut Function) {
        if self.apart.is_empty() && self.after.values().all(Option::is_none) {
            return;
        }
        let mut layout = Vec::with_capacity(function.layout.len() + self.apart.len());
        for &block in &function.layout {
            layout.push(block);
            layout.extend(self.after[block]);
        }
        layout.extend(self.apart);
        function.layout = layout;
    }
}

/// Puts code at the end of a block, before what leaves it.
fn before_terminators(function: &mut Function, block: Block, code: Vec<Inst>) -> Placed {
    let insts = &mut function.blocks[block].insts;
    let at = insts.iter().rposition(|i| !i.info().flags.terminator).map_or(0, |p| p + 1);
    insts.splice(at..at, code);
    Placed { block, at }
}

fn bra(target: Block, loc: heddle_isa::SourceLoc) -> Inst {
    let mut jump = Inst::new(Op::Bra, Type::None, Operand::None, []);
    jump.targets = Targets::Blocks(smallvec![target]);
    jump.loc = loc;
    jump
}
