//! Bringing lanes together where both sides of a divergent branch lead to the same blocks before its post-dominator.
//!
//! # Problem
//! `if (a || b) f();` with a condition `b` that is computed only where `a` does not hold: lanes with `a` come to `f` by another way
//! than those with `b`, and the first block that all lanes come to is behind it. So a warp with both runs `f` twice. LLVM makes such
//! code itself: where a side of a branch knows how a later branch goes, it leads that side past the later branch ("jump threading").
//! Then lanes come one by one to barriers and functions of sub-groups that the source has all of them call together.
//!
//! # Algorithm
//! The blocks that lanes can come to from a divergent branch before its post-dominator fall into those that only one side leads to and
//! those that both lead to. Edges from the first kind to the second, and to the post-dominator, go through one new block, which
//! so becomes the branch's post-dominator ([`super::edges`]); this is what a structurizer does for all branches (Karrenberg and Hack,
//! "Improving performance of OpenCL on CPUs", 2012; LLVM's `structurizecfg`), for those only that need it. Where the first shared block
//! does nothing but branch on a condition, and edges lead past it from where that condition is known, they lead to it instead, as
//! before jump threading: the branch may be uniform. New branches may need the same: regions are looked for several times, each time
//! those that have nothing in common with one before.
//!
//! # When
//! Always where both sides lead to an operation of several lanes; else where what would run twice is more than the new branch, its
//! phis, and what they keep alive ([`WORTH`]).
//!
//! # Limits
//! Branches that post-dominators are missing for, because lanes end in several places, irreducible regions, and branches that leave a
//! loop to where those that leave it elsewhere come together only later, stay as they are. So does what is left when [`MOST_ROUNDS`]
//! or [`MOST_VISITED`] has been reached.

use fixedbitset::FixedBitSet;
use inkwell::llvm_sys::LLVMOpcode;
use inkwell::module::Module;

use super::edges::{Edges, lead_through, lead_to_first};
use crate::builtins::{self, Builtin};
use crate::facts::Facts;
use crate::ir::cfg::{Cfg, Index};
use crate::ir::{BlockRef, Value, debug};
use crate::uniformity::{self, Uniformity};

/// How often branches are looked for: each time may leave new ones, one for each block at which sides come together.
const MOST_ROUNDS: usize = 64;

/// Instructions that both sides of a branch lead to from which on they are to run once, those in a loop counted as [`OF_LOOP`].
const WORTH: usize = 16;
const OF_LOOP: usize = 8;

/// Blocks that are looked at for all branches of a module, to save time where many branches share large regions.
const MOST_VISITED: usize = 1_000_000;

/// Brings lanes together in a module in LCSSA form, in which it stays; `found` is what is uniform in its functions with branches.
/// Returns whether switches would have to be branches for more.
pub(super) fn structurize(module: &Module, facts: Facts, mut found: Vec<Uniformity>) -> bool {
    let (mut switches, mut visited) = (false, 0);
    for _ in 0..MOST_ROUNDS {
        found.retain(|uniformity| {
            let changed = bring_together(module, uniformity, &mut visited);
            switches |= changed == Changed::Switches;
            changed == Changed::Branches
        });
        if found.is_empty() {
            break;
        }
        found = found.into_iter().map(|u| uniformity::analyze(u.cfg().blocks[0].function(), facts)).collect();
    }
    switches
}

/// What was done with a function.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Changed {
    Nothing,
    Branches,
    /// Nothing, since switches would have to be branches first.
    Switches,
}

/// What is between a branch and its post-dominator.
struct Region {
    branch: Index,
    end: Index,
    /// The branch's block, and those that only one of its sides leads to.
    own: FixedBitSet,
    /// Those that both lead to.
    shared: FixedBitSet,
}

/// Leads sides of divergent branches of a function together.
fn bring_together(module: &Module, uniformity: &Uniformity, visited: &mut usize) -> Changed {
    let cfg = uniformity.cfg();
    let mut touched = FixedBitSet::with_capacity(cfg.blocks.len());
    let (regions, mut switches) = regions(uniformity, visited);
    let mut changed = false;
    for region in regions {
        if !(region.own.is_disjoint(&touched) && region.shared.is_disjoint(&touched)) {
            continue;
        }
        let Some(edges) = region.edges(cfg) else {
            switches = true;
            continue;
        };
        match region.is_threaded(module, cfg, &edges) {
            true => lead_to_first(module, &edges),
            false => lead_through(module, cfg, &edges, [c"together", c"together.next"]),
        }
        touched.union_with(&region.own);
        touched.union_with(&region.shared);
        changed = true;
    }
    match (changed, switches) {
        (true, _) => Changed::Branches,
        (false, true) => Changed::Switches,
        (false, false) => Changed::Nothing,
    }
}

/// The regions whose sides are to be led together, the branches in reverse post-order; and whether a switch has such sides.
///
/// Others lead into blocks of one side of a region where an outer branch has not been dealt with. Its sides share the blocks that
/// they lead to, so it is looked for again with these as a reason.
fn regions(uniformity: &Uniformity, visited: &mut usize) -> (Vec<Region>, bool) {
    let cfg = uniformity.cfg();
    let loops = Loops::of(cfg);
    let mut wanted = FixedBitSet::with_capacity(cfg.blocks.len());
    loop {
        let before = wanted.count_ones(..);
        let (mut found, mut switches) = (Vec::new(), false);
        for &branch in cfg.rpo.iter().filter(|b| uniformity.branch_is_divergent(**b)) {
            if *visited > MOST_VISITED {
                break;
            }
            let Some(region) = Region::of(cfg, &loops, branch, visited) else { continue };
            if region.shared.is_disjoint(&wanted) && !region.is_worth_it(cfg, &loops) {
                continue;
            }
            let entered = region.entered_elsewhere(cfg);
            if cfg.succs[branch].len() > 2 {
                switches = true;
            } else if entered.is_empty() {
                found.push(region);
            }
            wanted.extend(entered);
        }
        if wanted.count_ones(..) == before || *visited > MOST_VISITED {
            return (found, switches);
        }
    }
}

/// By block, how many loops it is in, and the innermost one.
struct Loops {
    depth: Vec<usize>,
    innermost: Vec<Option<usize>>,
    irreducible: FixedBitSet,
}

impl Loops {
    fn of(cfg: &Cfg) -> Loops {
        let n = cfg.blocks.len();
        let mut loops = Loops { depth: vec![0; n], innermost: vec![None; n], irreducible: FixedBitSet::with_capacity(n) };
        for (id, l) in cfg.loops.iter().enumerate() {
            for b in l.members.ones() {
                loops.depth[b] += 1;
                // Outer loops come first.
                loops.innermost[b] = Some(id);
            }
            if l.irreducible {
                loops.irreducible.union_with(&l.members);
            }
        }
        loops
    }
}

impl Region {
    /// That of a branch or switch, if its sides share blocks before its post-dominator.
    fn of(cfg: &Cfg, loops: &Loops, branch: Index, visited: &mut usize) -> Option<Region> {
        let end = cfg.ipdom[branch]?;
        // A branch that ends an iteration separates nothing that is in the loop.
        if loops.innermost[end] != loops.innermost[branch] || loops.irreducible.contains(branch) {
            return None;
        }
        let targets = cfg.succs[branch].iter().filter(|t| **t != end);
        let [mut own, mut shared] = [(); 2].map(|()| FixedBitSet::with_capacity(cfg.blocks.len()));
        for (i, target) in targets.enumerate() {
            let side = reached(cfg, *target, [branch, end], visited);
            if side.contains(branch) {
                return None;
            }
            if i > 0 {
                let mut both = side.clone();
                both.intersect_with(&own);
                shared.union_with(&both);
            }
            own.union_with(&side);
        }
        own.difference_with(&shared);
        own.insert(branch);
        (!shared.is_clear()).then_some(Region { branch, end, own, shared })
    }

    /// The blocks of one side that others lead to, too.
    fn entered_elsewhere(&self, cfg: &Cfg) -> Vec<Index> {
        let outside = |b: &Index| cfg.rpo_number[*b] != usize::MAX && !self.own.contains(*b);
        self.own.ones().filter(|b| *b != self.branch && cfg.preds[*b].iter().any(outside)).collect()
    }

    /// Whether it pays to run what both sides lead to once, or has to be.
    fn is_worth_it(&self, cfg: &Cfg, loops: &Loops) -> bool {
        let mut size = 0;
        for b in self.shared.ones() {
            let mut count = 0;
            for i in cfg.blocks[b].instructions() {
                if is_of_several_lanes(i) {
                    return true;
                }
                count += usize::from(i.opcode() != LLVMOpcode::LLVMPHI && !i.is_debug());
            }
            let depth = loops.depth[b].saturating_sub(loops.depth[self.branch]);
            size += count * OF_LOOP.pow(depth.min(3) as u32);
        }
        size >= WORTH
    }

    /// The edges from blocks of one side to those of both and to the end, which stands last.
    fn edges(&self, cfg: &Cfg) -> Option<Edges> {
        let leads_there = |b: &Index| self.own.ones().any(|own| cfg.succs[own].contains(b));
        let mut targets: Vec<Index> =
            self.shared.ones().filter(|b| cfg.preds[*b].iter().any(|p| self.own.contains(*p))).collect();
        targets.sort_by_key(|b| cfg.rpo_number[*b]);
        targets.extend(Some(self.end).filter(leads_there));
        let targets = targets.into_iter().map(|b| cfg.blocks[b]).collect();
        Edges::of(cfg, self.own.ones(), targets, |b| cfg.index.get(&b).is_some_and(|b| self.own.contains(*b)))
    }

    /// Whether edges to the end would come there by way of the only other target, too, which does nothing but branch.
    fn is_threaded(&self, module: &Module, cfg: &Cfg, edges: &Edges) -> bool {
        let [first, end] = edges.targets[..] else { return false };
        let only_branches = |i: Value| i.opcode() == LLVMOpcode::LLVMPHI || i.is_debug() || i.is_terminator();
        let at = cfg.index[&first];
        let Some(asked) = condition(cfg, at).filter(|_| first.instructions().all(only_branches)) else { return false };
        let mut successors = first.terminator().successors();
        let ends_if = successors.next() == Some(end);
        if !(ends_if || successors.next() == Some(end)) || !cfg.preds[at].iter().all(|p| self.own.contains(*p)) {
            return false;
        }
        // LLVM's interface puts no phi before what a block without phis has of the debugger's.
        let has_phis = |b: BlockRef| b.instructions().next().is_some_and(|i| i.opcode() == LLVMOpcode::LLVMPHI);
        if has_phis(end) && !has_phis(first) && debug::has_variables(module) {
            return false;
        }
        // What the branch asks is the same everywhere.
        let is_before = !asked.is_instruction() || self.is_before(cfg, asked);
        let would_end = |block: BlockRef| self.holds(cfg, cfg.index[&block], asked, end) == Some(ends_if);
        is_before && edges.sources.iter().all(|s| s.condition.is_none() && (s.to[0] == 0 || would_end(s.block)))
    }

    /// Whether a value is there wherever the branch is.
    fn is_before(&self, cfg: &Cfg, value: Value) -> bool {
        cfg.index.get(&value.parent()).is_some_and(|b| cfg.dominates(*b, self.branch))
    }

    /// Whether a condition holds on the way from a block to another one, as far as branches on it since the region's say.
    fn holds(&self, cfg: &Cfg, from: Index, asked: Value, to: BlockRef) -> Option<bool> {
        let (mut block, mut to) = (from, to);
        loop {
            if condition(cfg, block) == Some(asked) {
                let mut successors = cfg.blocks[block].terminator().successors();
                return Some(successors.next() == Some(to));
            }
            let [before] = cfg.preds[block][..] else { return None };
            if block == self.branch || !self.own.contains(before) {
                return None;
            }
            (block, to) = (before, cfg.blocks[block]);
        }
    }
}

/// The condition of a block's branch with two targets.
fn condition(cfg: &Cfg, block: Index) -> Option<Value> {
    let terminator = cfg.blocks[block].terminator();
    (terminator.opcode() == LLVMOpcode::LLVMBr && cfg.succs[block].len() == 2).then(|| terminator.operand(0))
}

/// The blocks that a block leads to, itself among them, up to some blocks; the first of these only counts as reached.
fn reached(cfg: &Cfg, from: Index, [branch, end]: [Index; 2], visited: &mut usize) -> FixedBitSet {
    let mut found = FixedBitSet::with_capacity(cfg.blocks.len());
    let mut stack = vec![from];
    while let Some(b) = stack.pop() {
        if b == end || found.put(b) || b == branch {
            continue;
        }
        *visited += 1;
        stack.extend(&cfg.succs[b]);
    }
    found
}

/// Whether what an instruction does depends on which lanes do it together.
fn is_of_several_lanes(i: Value) -> bool {
    i.opcode() == LLVMOpcode::LLVMCall
        && match builtins::of_call(i) {
            Some(Builtin::Barrier | Builtin::Shuffle | Builtin::Ballot) => true,
            Some(_) => false,
            // A function with a body, which may do so.
            None => i.called_function().is_some_and(|f| !f.is_declaration()),
        }
}
