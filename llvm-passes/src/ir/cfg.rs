//! A function's control-flow graph as dense indices, with post-dominators, loops and reachability.
//!
//! Post-dominators: Cooper, Harvey and Kennedy, "A simple, fast dominance algorithm" (2001), on the
//! reversed graph with a virtual exit to which every block without successors leads; blocks from
//! which no exit can be reached have no post-dominator. Loops: natural loops of back edges found by
//! depth-first search; a retreating edge whose target does not dominate its source makes an
//! irreducible region, reported so that clients can be conservative.

use inkwell::llvm_sys::{LLVMOpcode, LLVMTypeKind};
use rustc_hash::FxHashMap;

use super::function::blocks;
use super::value::{BlockRef, Value};

/// Index of a block in [`Cfg::blocks`].
pub type Index = usize;

/// A loop.
#[derive(Clone, Debug)]
pub struct Loop {
    /// Its header (for an irreducible region: the entry met first).
    pub header: Index,
    /// Member blocks, as a bit a block.
    pub members: fixedbitset::FixedBitSet,
    /// Whether the region has more than one entry.
    pub irreducible: bool,
}

/// The graph.
#[derive(Clone, Debug)]
pub struct Cfg {
    /// Blocks in the function's order; 0 is the entry.
    pub blocks: Vec<BlockRef>,
    /// Index of each block.
    pub index: FxHashMap<BlockRef, Index>,
    /// Distinct successors.
    pub succs: Vec<Vec<Index>>,
    /// Distinct predecessors.
    pub preds: Vec<Vec<Index>>,
    /// Reachable blocks in reverse post-order.
    pub rpo: Vec<Index>,
    /// Position in `rpo`, or `usize::MAX` for unreachable blocks.
    pub rpo_number: Vec<usize>,
    /// Immediate dominators; the entry's is itself; `usize::MAX` for unreachable blocks.
    pub idom: Vec<Index>,
    /// Immediate post-dominators; `None` where only the virtual exit, or nothing, post-dominates. No way to `unreachable` counts, for
    /// there the machine traps: who gets there does not go on, and the others meet all the same.
    pub ipdom: Vec<Option<Index>>,
    /// Blocks from which a way leads to the function's end.
    pub ends: fixedbitset::FixedBitSet,
    /// Loops, outer before inner.
    pub loops: Vec<Loop>,
}

impl Cfg {
    /// Builds the graph of a function with a body.
    pub fn new(function: Value) -> Self {
        let blocks = blocks(function);
        let index: FxHashMap<_, _> = blocks.iter().enumerate().map(|(i, b)| (*b, i)).collect();
        let n = blocks.len();
        let mut succs = vec![Vec::new(); n];
        let mut preds = vec![Vec::new(); n];
        for (i, block) in blocks.iter().enumerate() {
            for s in block.terminator().successors() {
                let s = index[&s];
                if !succs[i].contains(&s) {
                    succs[i].push(s);
                    preds[s].push(i);
                }
            }
        }
        let mut cfg = Cfg {
            blocks,
            index,
            succs,
            preds,
            rpo: Vec::new(),
            rpo_number: vec![usize::MAX; n],
            idom: vec![usize::MAX; n],
            ipdom: vec![None; n],
            ends: fixedbitset::FixedBitSet::with_capacity(n),
            loops: Vec::new(),
        };
        cfg.rpo = post_order(0, n, |b| &cfg.succs[b]);
        cfg.rpo.reverse();
        for (i, b) in cfg.rpo.iter().enumerate() {
            cfg.rpo_number[*b] = i;
        }
        cfg.compute_dominators();
        cfg.compute_post_dominators();
        cfg.compute_loops();
        cfg
    }

    fn compute_dominators(&mut self) {
        self.idom = immediate_dominators(&self.rpo, &self.rpo_number, |b| &self.preds[b]);
    }

    fn compute_post_dominators(&mut self) {
        let n = self.blocks.len();
        let exit = n;
        // Reversed graph with the virtual exit as root.
        let is_exit =
            |b: &Index| self.succs[*b].is_empty() && self.blocks[*b].terminator().opcode() != LLVMOpcode::LLVMUnreachable;
        let exits: Vec<Index> = self.rpo.iter().copied().filter(is_exit).collect();
        let reversed = |b: Index| -> &Vec<Index> { if b == exit { &exits } else { &self.preds[b] } };
        let mut order = post_order(exit, n + 1, reversed);
        order.reverse();
        let mut number = vec![usize::MAX; n + 1];
        for (i, b) in order.iter().enumerate() {
            number[*b] = i;
        }
        let to_exit = vec![exit];
        let idom = immediate_dominators(&order, &number, |b| if is_exit(&b) { &to_exit } else { &self.succs[b] });
        self.ipdom = idom[..n].iter().map(|d| Some(*d).filter(|d| *d != usize::MAX && *d != exit)).collect();
        self.ends.extend((0..n).filter(|b| idom[*b] != usize::MAX));
    }

    /// Whether `a` dominates `b`; both reachable.
    pub fn dominates(&self, a: Index, mut b: Index) -> bool {
        while self.rpo_number[b] > self.rpo_number[a] {
            b = self.idom[b];
        }
        a == b
    }

    /// A value that is used outside a loop in which it is defined, but not by a phi at the exit:
    /// the function is then not in LCSSA form. Irreducible regions have no such form and do not
    /// count.
    pub fn left_loop(&self) -> Option<Value> {
        let reachable = |b: &BlockRef| self.index.get(b).copied().filter(|b| self.rpo_number[*b] != usize::MAX);
        for l in self.loops.iter().filter(|l| !l.irreducible) {
            let outside = |b: &BlockRef| reachable(b).is_some_and(|b| !l.members.contains(b));
            for value in l.members.ones().flat_map(|b| self.blocks[b].instructions()) {
                let leaves = |user: Value| match user.opcode() {
                    LLVMOpcode::LLVMPHI => user.incoming().any(|(v, from)| v == value && outside(&from)),
                    _ => outside(&user.parent()),
                };
                // A token has no phi.
                if value.type_kind() != LLVMTypeKind::LLVMTokenTypeKind && value.users().any(leaves) {
                    return Some(value);
                }
            }
        }
        None
    }

    fn compute_loops(&mut self) {
        let n = self.blocks.len();
        let mut by_header: FxHashMap<Index, usize> = FxHashMap::default();
        // Latches in reverse post-order of their headers, so that outer loops come first.
        let mut edges: Vec<(Index, Index)> = Vec::new();
        for &b in &self.rpo {
            for &s in &self.succs[b] {
                if self.rpo_number[s] <= self.rpo_number[b] {
                    edges.push((s, b));
                }
            }
        }
        edges.sort_by_key(|(h, l)| (self.rpo_number[*h], self.rpo_number[*l]));
        for (header, latch) in edges {
            let natural = self.dominates(header, latch);
            let id = *by_header.entry(header).or_insert_with(|| {
                self.loops.push(Loop { header, members: fixedbitset::FixedBitSet::with_capacity(n), irreducible: false });
                self.loops.len() - 1
            });
            let l = &mut self.loops[id];
            l.irreducible |= !natural;
            l.members.insert(header);
            // Blocks that reach the latch without passing the header. For an irreducible region the
            // walk may leave through other entries; restricting it to blocks after the header in
            // reverse post-order keeps it to the region.
            let mut stack = vec![latch];
            while let Some(b) = stack.pop() {
                if l.members.put(b) {
                    continue;
                }
                stack.extend(self.preds[b].iter().filter(|p| {
                    self.rpo_number[**p] != usize::MAX && (natural || self.rpo_number[**p] >= self.rpo_number[header])
                }));
            }
        }
    }
}

/// Immediate dominators in a graph whose nodes stand in `order`, the root first; `number` is the
/// inverse of `order`. The root is its own; nodes that `order` lacks have `usize::MAX`.
fn immediate_dominators<'a>(order: &[Index], number: &[usize], preds: impl Fn(Index) -> &'a Vec<Index>) -> Vec<Index> {
    let mut idom = vec![usize::MAX; number.len()];
    idom[order[0]] = order[0];
    let mut changed = true;
    while changed {
        changed = false;
        for &b in &order[1..] {
            let known = preds(b).iter().copied().filter(|p| idom[*p] != usize::MAX);
            let new = known.reduce(|a, p| intersect(&idom, number, p, a)).unwrap_or(usize::MAX);
            if idom[b] != new {
                idom[b] = new;
                changed = true;
            }
        }
    }
    idom
}

/// The nearest common dominator of two nodes.
fn intersect(idom: &[usize], number: &[usize], mut a: usize, mut b: usize) -> usize {
    while a != b {
        while number[a] > number[b] {
            a = idom[a];
        }
        while number[b] > number[a] {
            b = idom[b];
        }
    }
    a
}

/// Post-order of the nodes reachable from `root`, without recursion.
fn post_order<'a>(root: usize, n: usize, succs: impl Fn(usize) -> &'a Vec<usize>) -> Vec<usize> {
    let mut seen = fixedbitset::FixedBitSet::with_capacity(n);
    let mut order = Vec::with_capacity(n);
    let mut stack = vec![(root, 0)];
    seen.insert(root);
    while let Some((node, next)) = stack.last_mut() {
        match succs(*node).get(*next) {
            Some(&s) => {
                *next += 1;
                if !seen.put(s) {
                    stack.push((s, 0));
                }
            }
            None => {
                order.push(*node);
                stack.pop();
            }
        }
    }
    order
}
