//! Bringing a module into the form that the analyses and selection expect.
//!
//! # Problem
//! The analyses look at one function, and the machine has no calls; temporal divergence shows only
//! where values leave loops through phis (LCSSA form).
//!
//! # Algorithm
//! Inline everything, say what ids may be ([`crate::id_ranges`]) and clean up, make local memory whose size the launch says an argument
//! ([`crate::dynamic_local`]), lower generic pointers ([`crate::lower_generic`]) and `printf`
//! ([`crate::lower_printf`]), find global ids that are made by hand ([`crate::relative_id`]), put
//! loops into simplified and LCSSA form, and structurize what would be desynchronised
//! ([`crate::structurize`]).
//!
//! # Limits
//! Recursion stays; selection refuses it.

use inkwell::module::Module;

use crate::error::PassError;
use crate::facts::Facts;
use crate::ir::{function, is_kernel, llvm_passes};
use crate::{dynamic_local, id_ranges, lower_generic, lower_printf, relative_id, structurize};

/// Prepares a module. `unoptimised`: the module comes from `-O0`, so memory is promoted and
/// simplified first.
///
/// # Errors
/// LLVM's message, and what the lowerings report.
pub fn prepare(module: &Module, facts: Facts, unoptimised: bool) -> Result<(), PassError> {
    let has_calls = function::bodies(module).into_iter().any(|f| !is_kernel(f) || function::is_called(f));
    if has_calls {
        llvm_passes::run(module, "always-inline,globaldce")?;
    }
    let has_ids = !unoptimised && id_ranges::attach(module, facts);
    let mut pipeline = Vec::new();
    match (has_calls, has_ids) {
        (true, _) => pipeline.push("function(sroa,early-cse,instcombine<no-verify-fixpoint>,simplifycfg)"),
        (false, true) => pipeline.push("function(sccp,instcombine<no-verify-fixpoint>)"),
        (false, false) => {}
    }
    if unoptimised {
        pipeline.push("function(sroa,early-cse,simplifycfg)");
    }
    if !pipeline.is_empty() {
        llvm_passes::run(module, &pipeline.join(","))?;
    }
    dynamic_local::lower(module)?;
    lower_generic::lower(module)?;
    lower_printf::lower(module)?;
    relative_id::rewrite(module)?;
    llvm_passes::run(module, "function(loop-simplify,lcssa)")?;
    structurize::structurize(module, facts)
}
