//! Control-flow graph of a MIR function: successors, predecessors, orders, dominators, post-dominators and
//! divergent regions.
//!
//! Dominators and post-dominators follow Cooper, Harvey and Kennedy, "A simple, fast dominance algorithm" (2001).

use cranelift_entity::{EntityRef, SecondaryMap};
use fixedbitset::FixedBitSet;
use smallvec::SmallVec;

use super::{Block, Function};
use heddle_isa::Op;

/// Where a block goes.
#[derive(Clone, Debug, Default)]
pub struct Edges {
    /// Successors: the taken side of a conditional branch first, then where control falls through.
    pub succs: SmallVec<[Block; 2]>,
    /// Predecessors, each once.
    pub preds: SmallVec<[Block; 4]>,
}

/// A divergent branch and the blocks that run while its lanes are apart.
#[derive(Clone, Debug)]
pub struct DivergentRegion {
    /// The block that ends in `brad`.
    pub branch: Block,
    /// Side of the lanes whose guard holds; waits first.
    pub taken: Block,
    /// Side that runs first.
    pub fall_through: Block,
    /// Where they meet.
    pub reconverge: Option<Block>,
}

/// The graph.
#[derive(Clone, Debug)]
pub struct Cfg {
    /// Edges of each block.
    pub edges: SecondaryMap<Block, Edges>,
    /// Reachable blocks in reverse post-order.
    pub rpo: Vec<Block>,
    /// Number of block indices.
    pub len: usize,
    /// Blocks that end in `trap`.
    traps: FixedBitSet,
}

/// The dominator tree of a graph's reachable blocks.
#[derive(Clone, Debug)]
pub struct Dominators {
    /// The nearest dominator of each block but itself; the entry and unreachable blocks have none.
    pub immediate: SecondaryMap<Block, Option<Block>>,
    depth: SecondaryMap<Block, u32>,
}

impl Dominators {
    /// Whether every way to `b` passes `a`.
    pub fn dominates(&self, a: Block, mut b: Block) -> bool {
        while self.depth[b] > self.depth[a] {
            let Some(up) = self.immediate[b] else { break };
            b = up;
        }
        a == b
    }

    /// The nearest block that dominates both.
    pub fn common(&self, mut a: Block, mut b: Block) -> Block {
        while a != b {
            let low = if self.depth[a] >= self.depth[b] { &mut a } else { &mut b };
            let Some(up) = self.immediate[*low] else { break };
            *low = up;
        }
        a
    }
}

/// The block control goes to when it does not branch, if the block can fall through or ends in `bra`.
fn successors(function: &Function, position: usize) -> SmallVec<[Block; 2]> {
    let insts = &function.blocks[function.layout[position]].insts;
    let mut succs = SmallVec::new();
    let mut falls = true;
    for inst in insts.iter().rev().take(2).rev() {
        match inst.op {
            Op::Bra => {
                succs.extend(inst.blocks().first().copied());
                falls = false;
            }
            Op::BraScalar | Op::BraDivergent => succs.extend(inst.blocks().first().copied()),
            Op::Exit | Op::Trap => falls = false,
            _ => {}
        }
    }
    if falls {
        succs.extend(function.layout.get(position + 1).copied());
    }
    succs
}

impl Cfg {
    /// Builds the graph.
    pub fn new(function: &Function) -> Self {
        let len = function.blocks.len();
        let mut traps = FixedBitSet::with_capacity(len);
        let ends_in_trap = |b: &&Block| function.blocks[**b].insts.last().is_some_and(|i| i.op == Op::Trap);
        function.layout.iter().filter(ends_in_trap).for_each(|b| traps.insert(b.index()));
        let mut edges: SecondaryMap<Block, Edges> = SecondaryMap::with_capacity(len);
        edges.resize(len);
        for (position, &block) in function.layout.iter().enumerate() {
            let succs = successors(function, position);
            for &s in &succs {
                if !edges[s].preds.contains(&block) {
                    edges[s].preds.push(block);
                }
            }
            edges[block].succs = succs;
        }
        let mut rpo = post_order(len, function.layout.first().map(|b| b.index()), |b| {
            edges[Block::new(b)].succs.iter().map(|s| s.index()).collect()
        });
        rpo.reverse();
        Cfg { edges, rpo: rpo.into_iter().map(Block::new).collect(), len, traps }
    }

    /// The dominators of the reachable blocks.
    pub fn dominators(&self) -> Dominators {
        let order: Vec<usize> = self.rpo.iter().map(|b| b.index()).collect();
        let idom = solve(self.len, &order, |b| self.edges[Block::new(b)].preds.iter().map(|p| p.index()).collect());
        let immediate = self.to_map(&idom);
        let mut depth: SecondaryMap<Block, u32> = SecondaryMap::with_capacity(self.len);
        for b in &self.rpo {
            depth[*b] = immediate[*b].map_or(0, |d| depth[d] + 1);
        }
        Dominators { immediate, depth }
    }

    /// Immediate post-dominators; `None` where only the end of the program, or nothing, post-dominates. No
    /// way to a `trap` counts: who gets there does not go on, and the others must meet all the same (a
    /// `switch` whose default is unreachable, before a barrier). Nor does one into a loop that never ends,
    /// for those outside it; within, lanes meet as if the loop ended behind its last block.
    pub fn post_dominators(&self) -> SecondaryMap<Block, Option<Block>> {
        let mut alive = FixedBitSet::with_capacity(self.len);
        self.rpo.iter().filter(|b| !self.traps.contains(b.index())).for_each(|b| alive.insert(b.index()));
        let exits = alive.ones().filter(|b| self.edges[Block::new(*b)].succs.is_empty()).collect();
        let mut idom = self.post_dominators_within(&alive, &exits);
        let mut endless = alive;
        (0..self.len).filter(|b| idom[*b].is_some()).for_each(|b| endless.remove(b));
        if !endless.is_clear() {
            let ends = self.ends_of_loops(&endless);
            let within = self.post_dominators_within(&endless, &ends);
            endless.ones().for_each(|b| idom[b] = within[b]);
        }
        self.to_map(&idom)
    }

    /// Immediate post-dominators of the blocks of `alive` from which one of `exits` can be reached, as if the others did
    /// not exist.
    fn post_dominators_within(&self, alive: &FixedBitSet, exits: &FixedBitSet) -> Vec<Option<usize>> {
        let exit = self.len;
        let mut order = post_order(self.len + 1, Some(exit), |b| {
            if b == exit {
                exits.ones().collect()
            } else {
                self.edges[Block::new(b)].preds.iter().map(|p| p.index()).filter(|p| alive.contains(*p)).collect()
            }
        });
        order.reverse();
        solve(self.len + 1, &order, |b| {
            if b == exit {
                return SmallVec::new();
            }
            let ends = exits.contains(b).then_some(exit);
            self.edges[Block::new(b)].succs.iter().map(|s| s.index()).chain(ends).collect()
        })
    }

    /// For each innermost set of blocks of `endless` that nothing leaves, the last of them in reverse post-order: where a
    /// loop with one latch goes back.
    fn ends_of_loops(&self, endless: &FixedBitSet) -> FixedBitSet {
        let mut ends = FixedBitSet::with_capacity(self.len);
        let mut covered = FixedBitSet::with_capacity(self.len);
        for start in endless.ones() {
            if covered.contains(start) {
                continue;
            }
            let mut at = start;
            let (ahead, behind) = loop {
                let ahead = self.reach(at, endless, |e| &e.succs);
                let behind = self.reach(at, endless, |e| &e.preds);
                // What cannot come back is nearer to an end.
                match ahead.difference(&behind).next() {
                    Some(next) => at = next,
                    None => break (ahead, behind),
                }
            };
            ends.extend(self.rpo.iter().rev().map(|b| b.index()).find(|b| ahead.contains(*b)));
            covered.union_with(&behind);
        }
        ends
    }

    /// Blocks of `alive` that `next` leads to from `from`, itself among them.
    fn reach<'a>(&'a self, from: usize, alive: &FixedBitSet, next: impl Fn(&'a Edges) -> &'a [Block]) -> FixedBitSet {
        let mut seen = FixedBitSet::with_capacity(self.len);
        let mut stack = vec![from];
        while let Some(b) = stack.pop() {
            if alive.contains(b) && !seen.put(b) {
                stack.extend(next(&self.edges[Block::new(b)]).iter().map(|b| b.index()));
            }
        }
        seen
    }

    fn to_map(&self, idom: &[Option<usize>]) -> SecondaryMap<Block, Option<Block>> {
        let mut map = SecondaryMap::with_capacity(self.len);
        map.resize(self.len);
        for b in 0..self.len {
            map[Block::new(b)] = idom[b].filter(|d| *d < self.len && *d != b).map(Block::new);
        }
        map
    }

    /// Blocks reachable from `from` without passing `stop`; empty if `from` is `stop`.
    pub fn region(&self, from: Block, stop: Option<Block>) -> FixedBitSet {
        let mut seen = FixedBitSet::with_capacity(self.len);
        let mut stack = vec![from];
        while let Some(b) = stack.pop() {
            if Some(b) != stop && !seen.put(b.index()) {
                stack.extend(&self.edges[b].succs);
            }
        }
        seen
    }

    /// The divergent branches of reachable blocks.
    pub fn divergent_branches(&self, function: &Function) -> Vec<DivergentRegion> {
        let mut result = Vec::new();
        for &block in &self.rpo {
            let Some(inst) = function.blocks[block].insts.iter().rev().take(2).find(|i| i.op == Op::BraDivergent) else {
                continue;
            };
            let succs = &self.edges[block].succs;
            if let [taken, fall_through] = succs[..] {
                result.push(DivergentRegion { branch: block, taken, fall_through, reconverge: inst.blocks().get(1).copied() });
            }
        }
        result
    }
}

fn post_order(len: usize, root: Option<usize>, succs: impl Fn(usize) -> SmallVec<[usize; 4]>) -> Vec<usize> {
    let mut seen = FixedBitSet::with_capacity(len);
    let mut order = Vec::with_capacity(len);
    let mut stack: Vec<(usize, SmallVec<[usize; 4]>, usize)> = Vec::new();
    if let Some(root) = root {
        seen.insert(root);
        stack.push((root, succs(root), 0));
    }
    while let Some((node, next, i)) = stack.last_mut() {
        if let Some(&s) = next.get(*i) {
            *i += 1;
            if !seen.put(s) {
                stack.push((s, succs(s), 0));
            }
        } else {
            order.push(*node);
            stack.pop();
        }
    }
    order
}

/// Immediate dominators for nodes in reverse post-order `order` of a graph given by predecessors.
fn solve(len: usize, order: &[usize], preds: impl Fn(usize) -> SmallVec<[usize; 4]>) -> Vec<Option<usize>> {
    let mut number = vec![usize::MAX; len];
    for (i, b) in order.iter().enumerate() {
        number[*b] = i;
    }
    let mut idom: Vec<Option<usize>> = vec![None; len];
    let Some(&root) = order.first() else { return idom };
    idom[root] = Some(root);
    let mut changed = true;
    while changed {
        changed = false;
        for &b in &order[1..] {
            let mut new: Option<usize> = None;
            for p in preds(b) {
                if idom[p].is_none() {
                    continue;
                }
                new = Some(match new {
                    None => p,
                    Some(mut a) => {
                        let mut c = p;
                        while a != c {
                            while number[a] > number[c] {
                                a = idom[a].unwrap_or(root);
                            }
                            while number[c] > number[a] {
                                c = idom[c].unwrap_or(root);
                            }
                        }
                        a
                    }
                });
            }
            if new.is_some() && idom[b] != new {
                idom[b] = new;
                changed = true;
            }
        }
    }
    idom
}
