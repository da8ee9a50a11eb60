//! Blocks and edges, and where divergent branches reconverge: at their immediate post-dominator (S4).

use heddle_isa::{Op, Targets};
use heddle_llvm_passes::ir::BlockRef;
use heddle_mir::cfg::Cfg;
use heddle_mir::{Block, Function};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::Selector;
use crate::phis::PendingPhi;

/// How much more often a loop's body runs than what is around it.
const ITERATIONS: f32 = 8.0;
/// Loops deeper than that count as this deep.
const DEEPEST: u32 = 8;

/// The blocks, the edges between them, and the phis to complete.
#[derive(Default)]
pub(crate) struct Control {
    blocks: FxHashMap<BlockRef, Block>,
    /// MIR blocks that end an edge between LLVM blocks.
    edges: FxHashMap<(BlockRef, BlockRef), SmallVec<[Block; 2]>>,
    /// Phis whose inputs are filled in when every block has been selected.
    pub phis: Vec<PendingPhi>,
}

impl Control {
    /// The MIR block that an LLVM block starts with.
    pub fn block(&self, block: BlockRef) -> Block {
        self.blocks[&block]
    }

    /// Notes that a MIR block ends an edge.
    pub fn edge(&mut self, from: BlockRef, to: BlockRef, end: Block) {
        let ends = self.edges.entry((from, to)).or_default();
        if !ends.contains(&end) {
            ends.push(end);
        }
    }

    /// The MIR blocks that end an edge; none if nothing goes that way.
    pub fn ends(&self, from: BlockRef, to: BlockRef) -> SmallVec<[Block; 2]> {
        self.edges.get(&(from, to)).cloned().unwrap_or_default()
    }
}

/// Makes a block for each reachable LLVM block, in the function's order, with frequencies from loop depth.
pub(crate) fn create_blocks(s: &mut Selector) {
    let cfg = s.cx.uniformity.cfg();
    for (i, b) in cfg.blocks.iter().enumerate().filter(|(i, _)| cfg.rpo_number[*i] != usize::MAX) {
        let depth = cfg.loops.iter().filter(|l| l.members.contains(i)).count() as u32;
        let block = s.out.new_block(ITERATIONS.powi(depth.min(DEEPEST) as i32));
        s.control.blocks.insert(*b, block);
    }
}

/// Whether lanes may disagree about where a block's terminator goes.
pub(crate) fn is_divergent(s: &Selector, block: BlockRef) -> bool {
    s.cx.uniformity.branch_is_divergent(s.cx.uniformity.cfg().index[&block])
}

/// Ends an edge to an LLVM block here; the MIR block to go to.
pub(crate) fn end_edge(s: &mut Selector, from: BlockRef, to: BlockRef) -> Block {
    s.control.edge(from, to, s.out.current);
    s.control.block(to)
}

/// Divergent branches reconverge at their immediate post-dominator.
pub(crate) fn set_reconvergence(f: &mut Function) {
    let ipdom = Cfg::new(f).post_dominators();
    for block in &f.layout {
        for inst in f.blocks[*block].insts.iter_mut().rev().take(2).filter(|i| i.op == Op::BraDivergent) {
            if let (Some(j), Targets::Blocks(b)) = (ipdom[*block], &mut inst.targets) {
                b.push(j);
            }
        }
    }
}
