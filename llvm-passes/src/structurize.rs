//! Structurizing kernels whose loops the machine's reconvergence would desynchronise.
//!
//! # Problem
//! The machine reconverges at a branch's immediate post-dominator only. Where that lies outside a
//! loop and two sides of the branch can both start another iteration, lanes of a warp run different
//! iterations one after the other, and nothing in the loop is uniform ([`crate::uniformity`]).
//!
//! # Algorithm
//! LLVM's own passes: switches become branches, irreducible regions get one entry, loops one exit,
//! and `structurizecfg` makes every divergent branch in a loop reconverge within the iteration. A
//! module without such a loop is left alone.
//!
//! # Limits
//! The passes run over the whole module if one kernel needs them.

use inkwell::module::Module;

use crate::error::PassError;
use crate::facts::Facts;
use crate::ir::{self, Value, function, llvm_passes};
use crate::uniformity;

/// Structurizes a module in LCSSA form if one of its loops is desynchronised; it is in LCSSA form
/// afterwards, too.
///
/// # Errors
/// LLVM's message.
pub fn structurize(module: &Module, facts: Facts) -> Result<(), PassError> {
    let needs = |f: Value| ir::blocks(f).len() > 1 && uniformity::analyze(f, facts).has_desynchronised_loop();
    if function::bodies(module).into_iter().any(needs) {
        llvm_passes::run(module, "function(lower-switch,fix-irreducible,unify-loop-exits,structurizecfg,lcssa)")?;
    }
    Ok(())
}
