//! Structurizing kernels whose loops the machine's reconvergence would desynchronise.
//!
//! # Problem
//! The machine reconverges at a branch's immediate post-dominator only. Where lanes can start another
//! iteration of a loop before they come there, lanes of a warp run different iterations one after the
//! other, and nothing in the loop is uniform ([`crate::uniformity`]).
//!
//! # Algorithm
//! LLVM's `lower-switch` makes branches of switches. Then all edges that leave such a loop or lead back to
//! its header go to a new block, the loop's only latch and its only exit, which goes where the edge went.
//! So that block post-dominates all others of the loop, and lanes that have left wait there for those of their
//! iteration. (LLVM's `unify-loop-exits` does the same for exits alone, by way of a `ControlFlowHub`.) The
//! time is linear in the edges of the loops; acyclic code stays as it is.
//!
//! Irreducible regions are left to LLVM: `fix-irreducible` gives them one entry, and `structurizecfg`
//! rebuilds all branches of the function, so that lanes in different states of the region pass through
//! several of its blocks in an iteration. It needs a time that is quadratic in the branches, which is
//! minutes for functions of tens of thousands of blocks.
//!
//! # Limits
//! Switches become branches in the whole module if one kernel needs it.

use inkwell::llvm_sys::LLVMOpcode;
use inkwell::llvm_sys::core::LLVMSetSuccessor;
use inkwell::llvm_sys::debuginfo::{LLVMInstructionGetDebugLoc, LLVMInstructionSetDebugLoc};
use inkwell::module::Module;

use crate::error::PassError;
use crate::facts::Facts;
use crate::ir::build::{self, Builder, context_of};
use crate::ir::cfg::Cfg;
use crate::ir::{self, BlockRef, Value, function, llvm_passes};
use crate::uniformity::{self, Uniformity};

/// How often loops are looked for: where one has been synchronised, another may be found that was not seen before.
const MOST_ROUNDS: usize = 8;

/// Structurizes a module in LCSSA form if one of its loops is desynchronised; it is in LCSSA form
/// afterwards, too.
///
/// # Errors
/// LLVM's message.
pub fn structurize(module: &Module, facts: Facts) -> Result<(), PassError> {
    if needy(module, facts).is_empty() {
        return Ok(());
    }
    // A switch may desynchronise a loop where the branches that do the same do not: those have no way for a default that is
    // never taken.
    llvm_passes::run(module, "function(lower-switch,lcssa)")?;
    for _ in 0..MOST_ROUNDS {
        let found = needy(module, facts);
        if found.is_empty() {
            return Ok(());
        }
        let mut changed = false;
        for uniformity in found {
            for id in uniformity.desynchronised_loops() {
                changed |= synchronise(module, uniformity.cfg(), id);
            }
        }
        if !changed {
            break;
        }
        llvm_passes::run(module, "function(lcssa)")?;
    }
    llvm_passes::run(module, "function(fix-irreducible,unify-loop-exits,structurizecfg,lcssa)")
}

/// The functions with loops that are desynchronised.
fn needy(module: &Module, facts: Facts) -> Vec<Uniformity> {
    let several = function::bodies(module).into_iter().filter(|f| ir::blocks(*f).len() > 1);
    several.map(|f| uniformity::analyze(f, facts)).filter(|u| u.desynchronised_loops().next().is_some()).collect()
}

/// A member of a loop with edges out of it or to its header.
struct Source {
    block: BlockRef,
    /// Where these lead, as places in [`Edges::targets`]; a branch with two of them takes the first where its condition
    /// holds.
    to: [usize; 2],
    /// The condition of such a branch.
    condition: Option<Value>,
}

/// The edges out of a loop and to its header.
struct Edges {
    sources: Vec<Source>,
    /// The header, then the exits.
    targets: Vec<BlockRef>,
}

impl Edges {
    /// Those of a loop; `None` if it has terminators that are no branches.
    fn of(cfg: &Cfg, id: usize) -> Option<Edges> {
        let l = &cfg.loops[id];
        let mut edges = Edges { sources: Vec::new(), targets: vec![cfg.blocks[l.header]] };
        // What was added to the function since its graph was made is in none of its inner loops.
        let stays = |b: &BlockRef| cfg.index.get(b).is_some_and(|b| *b != l.header && l.members.contains(*b));
        for member in l.members.ones() {
            let block = cfg.blocks[member];
            let terminator = block.terminator();
            let to: Vec<BlockRef> = terminator.successors().filter(|s| !stays(s)).collect();
            if to.is_empty() {
                continue;
            }
            if terminator.opcode() != LLVMOpcode::LLVMBr {
                return None;
            }
            let to = to.iter().map(|b| edges.number(*b)).collect::<Vec<_>>();
            let condition = (to.len() == 2).then(|| terminator.operand(0));
            edges.sources.push(Source { block, to: [to[0], to[to.len() - 1]], condition });
        }
        Some(edges)
    }

    /// Whether a value is defined at all sources.
    fn reaches_all(&self, cfg: &Cfg, value: Value) -> bool {
        if !value.is_instruction() {
            return true;
        }
        let Some(&from) = cfg.index.get(&value.parent()) else { return false };
        self.sources.iter().all(|s| cfg.index.get(&s.block).is_some_and(|b| cfg.dominates(from, *b)))
    }

    fn number(&mut self, target: BlockRef) -> usize {
        self.targets.iter().position(|t| *t == target).unwrap_or_else(|| {
            self.targets.push(target);
            self.targets.len() - 1
        })
    }
}

/// Leads all edges out of a loop and to its header through one block. Returns whether it did.
fn synchronise(module: &Module, cfg: &Cfg, id: usize) -> bool {
    if cfg.loops[id].irreducible {
        return false;
    }
    let Some(edges) = Edges::of(cfg, id) else { return false };
    let context = context_of(module);
    let function = edges.targets[0].function();
    let append = |name| BlockRef(build::append_block(context, function.0, name));
    let latch = append(c"loop.latch");
    // The last target shares the branch of the one before.
    let last = edges.targets.len() - 1;
    let mut from = vec![latch];
    for k in 1..=last {
        from.push(if k < last { append(c"loop.exit") } else { from[k - 1] });
    }
    let b = Builder::new(context);
    // With one exit, whether lanes stay; else the target's number.
    let number =
        |k: usize| if last < 2 { build::constant(context, 1, u64::from(k == 0)) } else { build::constant(context, 32, k as u64) };
    let choices: Vec<(Value, BlockRef)> = edges.sources.iter().map(|s| (choice(&b, s, number), s.block)).collect();
    let chosen = b.phi(latch, number(0).ty(), &choices);
    for (k, from) in from.iter().enumerate() {
        reroute(&b, cfg, &edges, k, (latch, *from));
    }
    // SAFETY: live instructions; what says where they are from outlives them.
    let position = edges.sources.first().map(|s| unsafe { LLVMInstructionGetDebugLoc(s.block.terminator().0) });
    edges.sources.iter().for_each(|s| redirect(&b, s, &edges.targets, latch));
    for k in 0..last.max(1) {
        b.at_end(from[k]);
        let branch = match last {
            0 => b.jump(edges.targets[0]),
            _ => {
                let holds = if last == 1 { chosen } else { b.equal(chosen, number(k)) };
                b.branch(holds, edges.targets[k], if k + 1 == last { edges.targets[last] } else { from[k + 1] })
            }
        };
        if let Some(position) = position {
            // SAFETY: a live instruction, and a position of its function, or none.
            unsafe { LLVMInstructionSetDebugLoc(branch.0, position) };
        }
    }
    true
}

/// The number of the target that a source leads to.
fn choice(b: &Builder, source: &Source, number: impl Fn(usize) -> Value) -> Value {
    match source.condition {
        Some(condition) if source.to[0] != source.to[1] => {
            b.at(source.block.terminator());
            b.select(condition, number(source.to[0]), number(source.to[1]))
        }
        _ => number(source.to[0]),
    }
}

/// Brings the values that phis of a target have from the sources there by way of the new latch.
fn reroute(b: &Builder, cfg: &Cfg, edges: &Edges, number: usize, (latch, from): (BlockRef, BlockRef)) {
    let target = edges.targets[number];
    let phis: Vec<Value> = target.instructions().take_while(|i| i.opcode() == LLVMOpcode::LLVMPHI).collect();
    for phi in phis {
        let incoming: Vec<(Value, BlockRef)> = phi.incoming().collect();
        let of = |block: BlockRef| incoming.iter().find(|(_, from)| *from == block).map(|(v, _)| *v);
        let value = |s: &Source| if s.to.contains(&number) { of(s.block) } else { None };
        let values: Vec<_> = edges.sources.iter().map(|s| (value(s).unwrap_or(build::poison(phi.ty())), s.block)).collect();
        let mut given = edges.sources.iter().filter_map(value);
        let first = given.next();
        let merged = match first {
            // The same from everywhere, and there wherever the sources are.
            Some(v) if edges.reaches_all(cfg, v) && given.all(|w| w == v) => v,
            _ => b.phi(latch, phi.ty(), &values),
        };
        let is_source = |block: BlockRef| edges.sources.iter().any(|s| s.block == block);
        let mut others: Vec<_> = incoming.iter().copied().filter(|(_, from)| !is_source(*from)).collect();
        others.push((merged, from));
        build::replace(phi, b.phi(target, phi.ty(), &others));
    }
}

/// Leads the edges of a source to the new latch.
fn redirect(b: &Builder, source: &Source, targets: &[BlockRef], latch: BlockRef) {
    let terminator = source.block.terminator();
    if source.condition.is_some() {
        b.at(terminator);
        let jump = b.jump(latch);
        // SAFETY: live instructions.
        unsafe { LLVMInstructionSetDebugLoc(jump.0, LLVMInstructionGetDebugLoc(terminator.0)) };
        return build::erase(terminator);
    }
    for (i, successor) in (0..).zip(terminator.successors().collect::<Vec<_>>()) {
        if targets[source.to[0]] == successor {
            // SAFETY: a live branch with that successor, and a block of its function.
            unsafe { LLVMSetSuccessor(terminator.0, i, latch.0) };
        }
    }
}
