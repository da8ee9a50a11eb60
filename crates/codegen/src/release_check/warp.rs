//! The ways a warp can take through a function, from its control-flow graph and the rules of the
//! reconvergence stack.
//!
//! Where lanes go apart at a divergent branch, the fall-through side runs until its lanes stand at the
//! reconvergence block or have ended; then the taken side does; then those that are left go on together from
//! the reconvergence block. Each side may go apart again. So a divergent branch is like a call of its two
//! sides, which may be recursive (a loop with a divergent exit), and what the rename table is after it
//! follows from *summaries*, as in analyses of whole programs: Reps, Horwitz and Sagiv, "Precise
//! interprocedural dataflow analysis via graph reachability" (1995).
//!
//! A stretch of code runs in one of these contexts, each with its own summary:
//! - the whole warp, from the entry;
//! - the fall-through side of a branch; the taken side's lanes wait;
//! - the taken side of a branch, while lanes wait;
//! - the taken side of a branch when nobody waits, because all lanes of the other side have ended and nobody
//!   waited before.
//!
//! In the first and the last the warp is *alone*: a conditional release takes effect, and an exit is the
//! warp's end.

use cranelift_entity::SecondaryMap;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::super::names::Names;
use super::effect::Effect;
use super::uses::{Uses, lane_liveness};
use heddle_isa::Op;
use heddle_mir::cfg::{Cfg, DivergentRegion};
use heddle_mir::{Block, Function};

/// Number of the context of the whole warp.
const WARP: usize = 0;

/// Which lanes of a divergent branch run, beside which others.
#[derive(Clone, Copy)]
enum Side {
    FallThrough,
    TakenOthersWait,
    TakenAlone,
}

/// Number of the context of a branch's side.
fn context_of(branch: usize, side: Side) -> usize {
    1 + 3 * branch + side as usize
}

/// Code that runs under one entry of the reconvergence stack.
pub struct Context {
    start: Block,
    /// Where its lanes stop to wait for others.
    stop: Option<Block>,
    /// No other lane of the warp waits.
    pub alone: bool,
    /// From the start to the start of each block that it comes to.
    at: FxHashMap<Block, Effect>,
    /// From the start to the stop.
    reach: Effect,
    /// From the start to where all lanes have ended.
    exit: Effect,
    /// The rename table at the start.
    state: Effect,
    /// Names that the lanes that wait will read before they write them.
    pub needs: Names,
}

impl Context {
    fn new(start: Block, stop: Option<Block>, alone: bool) -> Self {
        let (at, none) = (FxHashMap::default(), Effect::default());
        Context { start, stop, alone, at, reach: none, exit: none, state: none, needs: Names::default() }
    }

    /// The rename table at the start of a block, if the context comes there.
    pub fn table_at(&self, block: Block) -> Option<Effect> {
        self.at.get(&block).map(|e| self.state.then(*e)).filter(Effect::is_possible)
    }
}

/// Every way that a warp can take.
pub struct Warp {
    cfg: Cfg,
    branches: Vec<DivergentRegion>,
    /// The divergent branch that ends a block.
    branch_of: SecondaryMap<Block, Option<usize>>,
    /// What a block does, by whether the warp is alone.
    blocks: SecondaryMap<Block, [Effect; 2]>,
    ends: SecondaryMap<Block, bool>,
    /// All contexts.
    pub contexts: Vec<Context>,
    /// Names that a lane at a block's start will read before it writes them.
    live: SecondaryMap<Block, Names>,
    /// Names that a lane at a block's end will read before it writes them.
    pub live_out: SecondaryMap<Block, Names>,
}

impl Warp {
    /// Finds them; `shared` are the names that are renamed.
    pub fn new(function: &Function, shared: Names) -> Self {
        let cfg = Cfg::new(function);
        let branches = cfg.divergent_branches(function);
        let mut branch_of = SecondaryMap::new();
        let mut contexts = vec![Context::new(function.entry(), None, true)];
        for (i, d) in branches.iter().enumerate() {
            branch_of[d.branch] = Some(i);
            contexts.push(Context::new(d.fall_through, d.reconverge, false));
            contexts.push(Context::new(d.taken, d.reconverge, false));
            contexts.push(Context::new(d.taken, d.reconverge, true));
        }
        let mut blocks: SecondaryMap<Block, [Effect; 2]> = SecondaryMap::new();
        let mut ends = SecondaryMap::new();
        for &block in &cfg.rpo {
            let insts = &function.blocks[block].insts;
            ends[block] = insts.last().is_some_and(|i| i.op == Op::Exit);
            blocks[block] = [false, true].map(|alone| {
                insts.iter().fold(Effect::identity(), |effect, inst| {
                    let uses = Uses::new(inst, shared);
                    effect.map(uses.writes).unmap(uses.given(alone))
                })
            });
        }
        let (live, live_out) = lane_liveness(function, &cfg, shared);
        let mut warp = Warp { cfg, branches, branch_of, blocks, ends, contexts, live, live_out };
        warp.summarize();
        warp.enter();
        warp
    }

    /// From a divergent branch that a context runs to where its lanes go on together, and to where all have
    /// ended.
    fn apart(&self, branch: usize, alone: bool) -> (Effect, Effect) {
        let side = |s| &self.contexts[context_of(branch, s)];
        let (first, second) = (side(Side::FallThrough), side(Side::TakenOthersWait));
        let last = side(if alone { Side::TakenAlone } else { Side::TakenOthersWait });
        // Some of the first side wait at the reconvergence block, or all have ended.
        let waited = first.reach.then(second.reach.or(second.exit));
        (waited.or(first.exit.then(last.reach)), first.exit.then(last.exit))
    }

    /// Summaries of all contexts, to a fixed point.
    fn summarize(&mut self) {
        // Contexts that run a branch, and so depend on its sides.
        let mut runners: Vec<Vec<usize>> = vec![Vec::new(); self.branches.len()];
        let mut queue: Vec<usize> = (0..self.contexts.len()).collect();
        while let Some(c) = queue.pop() {
            let before = (self.contexts[c].reach, self.contexts[c].exit);
            self.follow(c, &mut runners);
            if c == WARP || before == (self.contexts[c].reach, self.contexts[c].exit) {
                continue;
            }
            for &runner in &runners[(c - 1) / 3] {
                if !queue.contains(&runner) {
                    queue.push(runner);
                }
            }
        }
    }

    /// Follows one context through its blocks, with the summaries there are.
    fn follow(&mut self, c: usize, runners: &mut [Vec<usize>]) {
        let (start, alone) = (self.contexts[c].start, self.contexts[c].alone);
        // What was found with earlier summaries still holds; only what lies behind branches can be more.
        let mut queue: Vec<Block> = self.contexts[c].at.keys().copied().filter(|b| self.branch_of[*b].is_some()).collect();
        queue.sort_unstable();
        if self.arrive(c, start, Effect::identity()) {
            queue.push(start);
        }
        while let Some(block) = queue.pop() {
            let end = self.contexts[c].at[&block].then(self.blocks[block][usize::from(alone)]);
            if self.ends[block] {
                self.contexts[c].exit = self.contexts[c].exit.or(end);
            }
            let mut onward: SmallVec<[(Block, Effect); 3]> = self.cfg.edges[block].succs.iter().map(|s| (*s, end)).collect();
            if let Some(branch) = self.branch_of[block] {
                if !runners[branch].contains(&c) {
                    runners[branch].push(c);
                }
                let (joined, ended) = self.apart(branch, alone);
                self.contexts[c].exit = self.contexts[c].exit.or(end.then(ended));
                onward.extend(self.branches[branch].reconverge.map(|j| (j, end.then(joined))));
            }
            for (target, effect) in onward {
                if self.arrive(c, target, effect) {
                    queue.push(target);
                }
            }
        }
    }

    /// Notes that a context comes to a block; says whether it goes on there with something new.
    fn arrive(&mut self, c: usize, block: Block, effect: Effect) -> bool {
        let context = &mut self.contexts[c];
        if Some(block) == context.stop {
            context.reach = context.reach.or(effect);
            return false;
        }
        if !effect.is_possible() {
            return false;
        }
        let known = context.at.entry(block).or_default();
        let all = known.or(effect);
        std::mem::replace(known, all) != all
    }

    /// The rename table at the start of each context, and what the lanes need that wait meanwhile, to a fixed
    /// point.
    fn enter(&mut self) {
        self.contexts[WARP].state = Effect::unmapped();
        let mut queue = vec![WARP];
        while let Some(c) = queue.pop() {
            let runner = &self.contexts[c];
            let (alone, needs) = (runner.alone, runner.needs);
            let mut calls: Vec<(usize, Effect)> = (runner.at.iter())
                .filter_map(|(b, e)| Some((self.branch_of[*b]?, runner.state.then(*e).then(self.blocks[*b][usize::from(alone)]))))
                .collect();
            calls.sort_unstable_by_key(|(branch, _)| *branch);
            for (branch, state) in calls {
                let d = &self.branches[branch];
                let first = &self.contexts[context_of(branch, Side::FallThrough)];
                let (reached, ended) = (state.then(first.reach), state.then(first.exit));
                let taken = self.live[d.taken];
                let joined = d.reconverge.map_or(Names::default(), |j| self.live[j]);
                let last = if alone { Side::TakenAlone } else { Side::TakenOthersWait };
                for (side, state, needs) in [
                    (Side::FallThrough, state, needs.or(taken)),
                    (Side::TakenOthersWait, reached, needs.or(joined)),
                    (last, ended, needs),
                ] {
                    if state.is_possible() {
                        let context = &mut self.contexts[context_of(branch, side)];
                        let new = (context.state.or(state), context.needs.or(needs));
                        if new != (context.state, context.needs) {
                            (context.state, context.needs) = new;
                            queue.push(context_of(branch, side));
                        }
                    }
                }
            }
        }
    }
}
