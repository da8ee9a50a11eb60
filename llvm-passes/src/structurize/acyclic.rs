//! Bringing lanes together where both sides of a divergent branch, or several ways out of a loop that lanes leave one by one, lead to
//! the same blocks before its post-dominator.
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
//! A loop is dealt with as its header would be with a branch to all that the loop leads to: lanes that leave it early then meet those
//! that leave it at its end.
//!
//! # When
//! Always where both sides lead to an operation of several lanes; else where what would run twice is more than the new branch, its
//! phis, and what they keep alive ([`WORTH`]).
//!
//! # Limits
//! Branches that post-dominators are missing for, because lanes end in several places (traps are none), irreducible regions, and
//! loops that lanes leave together with one around them, stay as they are. So does what is left when [`MOST_ROUNDS`] or
//! [`MOST_VISITED`] has been reached.

use fixedbitset::FixedBitSet;
use inkwell::llvm_sys::LLVMOpcode;
use inkwell::module::Module;

use super::edges::{Edges, lead_through, lead_to_first};
use crate::builtins::{self, Builtin};
use crate::facts::Facts;
use crate::ir::cfg::{Cfg, Index, Loop};
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

/// What is between a branch, or a loop, and its post-dominator.
struct Region {
    /// The branch's block, or the loop's header.
    start: Index,
    end: Index,
    /// The branch's block, or the loop, and the blocks that only one of its sides leads to.
    own: FixedBitSet,
    /// Those that both lead to.
    shared: FixedBitSet,
    is_of_loop: bool,
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
/// Others lead into blocks of one side of a region where an outer branch, divergent or not, has not been dealt with. Its sides share
/// the blocks that they lead to, so it is looked for again with these as a reason.
fn regions(uniformity: &Uniformity, visited: &mut usize) -> (Vec<Region>, bool) {
    let cfg = uniformity.cfg();
    let loops = Loops::of(cfg);
    let mut wanted = FixedBitSet::with_capacity(cfg.blocks.len());
    loop {
        let before = wanted.count_ones(..);
        let (mut found, mut switches) = (Vec::new(), false);
        for &block in &cfg.rpo {
            for region in with_reason(uniformity, &loops, block, &wanted, visited) {
                let entered = region.entered_elsewhere(cfg);
                if !region.is_of_loop && cfg.succs[block].len() > 2 {
                    switches = true;
                } else if entered.is_empty() {
                    found.push(region);
                }
                wanted.extend(entered);
            }
            if *visited > MOST_VISITED {
                break;
            }
        }
        if wanted.count_ones(..) == before || *visited > MOST_VISITED {
            return (found, switches);
        }
    }
}

/// The regions that begin with a block, as its loop's header and as a branch, if there is a reason to lead their sides together;
/// blocks that are `wanted` are one.
fn with_reason(uniformity: &Uniformity, loops: &Loops, block: Index, wanted: &FixedBitSet, visited: &mut usize) -> Vec<Region> {
    let cfg = uniformity.cfg();
    let mut found = Vec::new();
    if let Some(id) = loops.left_one_by_one(uniformity, block) {
        let region = Region::of_loop(cfg, loops, id, visited);
        found.extend(region.filter(|r| !r.shared.is_disjoint(wanted) || r.is_worth_it(cfg, loops)));
    }
    let is_divergent = uniformity.branch_is_divergent(block);
    if is_divergent || !wanted.is_clear() && cfg.succs[block].len() > 1 {
        let pays = |r: &Region| is_divergent && r.is_worth_it(cfg, loops);
        let region = Region::of(cfg, loops, block, visited);
        found.extend(region.filter(|r| !r.shared.is_disjoint(wanted) || pays(r)));
    }
    found
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

    /// The loop of which a block is the header, if lanes leave it by themselves.
    fn left_one_by_one(&self, uniformity: &Uniformity, header: Index) -> Option<usize> {
        let cfg = uniformity.cfg();
        let id = self.innermost[header].filter(|id| cfg.loops[*id].header == header)?;
        let members = &cfg.loops[id].members;
        let leaves = |b: &Index| cfg.succs[*b].iter().any(|s| !members.contains(*s));
        members.ones().filter(leaves).any(|b| uniformity.branch_is_divergent(b)).then_some(id)
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
        let mut own = FixedBitSet::with_capacity(cfg.blocks.len());
        own.insert(branch);
        Region::between(cfg, [branch, end], own, &cfg.succs[branch], visited)
    }

    /// That of a loop, if several of its ways out share blocks before the first one that all lead to.
    fn of_loop(cfg: &Cfg, loops: &Loops, id: usize, visited: &mut usize) -> Option<Region> {
        let Loop { header, ref members, .. } = cfg.loops[id];
        if loops.irreducible.contains(header) {
            return None;
        }
        let mut end = cfg.ipdom[header]?;
        while members.contains(end) {
            end = cfg.ipdom[end]?;
        }
        // Outer loops come first.
        let around = (0..id).rev().find(|outer| cfg.loops[*outer].members.contains(header));
        if loops.innermost[end] != around {
            return None;
        }
        let mut targets: Vec<Index> =
            members.ones().flat_map(|b| &cfg.succs[b]).copied().filter(|b| !members.contains(*b)).collect();
        targets.sort_unstable();
        targets.dedup();
        let region = Region::between(cfg, [header, end], members.clone(), &targets, visited)?;
        Some(Region { is_of_loop: true, ..region })
    }

    /// That from where some blocks, among them the first, lead to others, if two of these lead to the same before the end.
    fn between(
        cfg: &Cfg,
        [start, end]: [Index; 2],
        mut own: FixedBitSet,
        targets: &[Index],
        visited: &mut usize,
    ) -> Option<Region> {
        let [mut all, mut shared] = [(); 2].map(|()| FixedBitSet::with_capacity(cfg.blocks.len()));
        for target in targets.iter().filter(|t| **t != end) {
            let side = reached(cfg, *target, [start, end], visited);
            if side.contains(start) {
                return None;
            }
            let mut both = side.clone();
            both.intersect_with(&all);
            shared.union_with(&both);
            all.union_with(&side);
        }
        all.difference_with(&shared);
        own.union_with(&all);
        (!shared.is_clear()).then_some(Region { start, end, own, shared, is_of_loop: false })
    }

    /// The blocks of one side that others lead to, too.
    fn entered_elsewhere(&self, cfg: &Cfg) -> Vec<Index> {
        let outside = |b: &Index| cfg.rpo_number[*b] != usize::MAX && !self.own.contains(*b);
        self.own.ones().filter(|b| *b != self.start && cfg.preds[*b].iter().any(outside)).collect()
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
            let depth = loops.depth[b].saturating_sub(loops.depth[self.end]);
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
        let stays = |b| cfg.index.get(&b).is_some_and(|b| self.own.contains(*b) || !cfg.ends.contains(*b));
        Edges::of(cfg, self.own.ones(), targets, stays)
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

    /// Whether a value is there wherever the branch or the loop is.
    fn is_before(&self, cfg: &Cfg, value: Value) -> bool {
        cfg.index.get(&value.parent()).is_some_and(|b| cfg.dominates(*b, self.start))
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
            if block == self.start || !self.own.contains(before) {
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
fn reached(cfg: &Cfg, from: Index, [start, end]: [Index; 2], visited: &mut usize) -> FixedBitSet {
    let mut found = FixedBitSet::with_capacity(cfg.blocks.len());
    let mut stack = vec![from];
    while let Some(b) = stack.pop() {
        // Who comes to a trap meets nobody.
        if b == end || !cfg.ends.contains(b) || found.put(b) || b == start {
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
