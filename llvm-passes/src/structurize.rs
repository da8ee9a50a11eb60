//! Structurizing what the machine's reconvergence would take apart: lanes of a warp that come to the same code run it together.
//!
//! # Problem
//! The machine reconverges at a branch's immediate post-dominator only. Where lanes can start another
//! iteration of a loop before they come there, lanes of a warp run different iterations one after the
//! other, and nothing in the loop is uniform ([`crate::uniformity`]). Where lanes of both sides of a branch come to the same blocks
//! before its post-dominator, they run those one after the other ([`acyclic`]).
//!
//! # Algorithm
//! LLVM's `lower-switch` makes branches of switches. Then all edges that leave such a loop or lead back to
//! its header go to a new block, the loop's only latch and its only exit, which goes where the edge went.
//! So that block post-dominates all others of the loop, and lanes that have left wait there for those of their
//! iteration. (LLVM's `unify-loop-exits` does the same for exits alone, by way of a `ControlFlowHub`.) The
//! time is linear in the edges of the loops.
//!
//! Irreducible regions are left to LLVM: `fix-irreducible` gives them one entry, and `structurizecfg`
//! rebuilds all branches of the function, so that lanes in different states of the region pass through
//! several of its blocks in an iteration. It needs a time that is quadratic in the branches, which is
//! minutes for functions of tens of thousands of blocks.
//!
//! # Limits
//! Switches become branches in the whole module if one kernel needs it.

mod acyclic;
mod edges;

use inkwell::module::Module;

use crate::error::PassError;
use crate::facts::Facts;
use crate::ir::cfg::Cfg;
use crate::ir::{self, function, llvm_passes};
use crate::uniformity::{self, Uniformity};
use edges::Edges;

/// How often loops are looked for: where one has been synchronised, another may be found that was not seen before.
const MOST_ROUNDS: usize = 8;

/// Structurizes a module in LCSSA form where lanes would be taken apart; it is in LCSSA form afterwards, too.
///
/// # Errors
/// LLVM's message.
pub fn structurize(module: &Module, facts: Facts) -> Result<(), PassError> {
    let mut found = analyses(module, facts);
    if found.iter().any(is_desynchronised) {
        synchronise_loops(module, facts)?;
        found = analyses(module, facts);
    }
    if acyclic::structurize(module, facts, found) {
        // In all functions, of whose loops some may need more then.
        acyclic::structurize(module, facts, without_switches(module, facts)?);
    }
    Ok(())
}

/// What is uniform in a module whose switches have become branches, its loops synchronised.
///
/// # Errors
/// LLVM's message.
fn without_switches(module: &Module, facts: Facts) -> Result<Vec<Uniformity>, PassError> {
    llvm_passes::run(module, "function(lower-switch,lcssa)")?;
    let found = analyses(module, facts);
    if !found.iter().any(is_desynchronised) {
        return Ok(found);
    }
    synchronise_loops(module, facts)?;
    Ok(analyses(module, facts))
}

/// Brings lanes to the same iteration of each loop.
fn synchronise_loops(module: &Module, facts: Facts) -> Result<(), PassError> {
    // A switch may desynchronise a loop where the branches that do the same do not: those have no way for a default that is
    // never taken.
    llvm_passes::run(module, "function(lower-switch,lcssa)")?;
    for _ in 0..MOST_ROUNDS {
        let mut found = analyses(module, facts);
        found.retain(is_desynchronised);
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

/// What is uniform in the functions that have branches.
fn analyses(module: &Module, facts: Facts) -> Vec<Uniformity> {
    let several = function::bodies(module).into_iter().filter(|f| ir::blocks(*f).len() > 1);
    several.map(|f| uniformity::analyze(f, facts)).collect()
}

/// Whether a function has loops in which lanes are in different iterations.
fn is_desynchronised(uniformity: &Uniformity) -> bool {
    uniformity.desynchronised_loops().next().is_some()
}

/// Leads all edges out of a loop and to its header through one block. Returns whether it did.
fn synchronise(module: &Module, cfg: &Cfg, id: usize) -> bool {
    let l = &cfg.loops[id];
    if l.irreducible {
        return false;
    }
    // What was added to the function since its graph was made is in none of its inner loops.
    let stays = |b| cfg.index.get(&b).is_some_and(|b| *b != l.header && l.members.contains(*b));
    let Some(edges) = Edges::of(cfg, l.members.ones(), vec![cfg.blocks[l.header]], stays) else { return false };
    edges::lead_through(module, cfg, &edges, [c"loop.latch", c"loop.exit"]);
    true
}
