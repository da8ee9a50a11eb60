//! Bringing a module into the form that the analyses and selection expect.
//!
//! # Problem
//! The analyses look at one function, and the machine has no calls; temporal divergence shows only
//! where values leave loops through phis (LCSSA form).
//!
//! # Algorithm
//! Make divisions by 0 defined ([`crate::divisions`]), inline everything, make variables of structures that are
//! changed ([`crate::by_value`]), replace intrinsics ([`crate::expand_intrinsics`]), find global ids that are made
//! by hand ([`crate::relative_id`]), say what ids may be ([`crate::id_ranges`]), take vectors apart and clean up,
//! make local memory whose size the launch says an argument ([`crate::dynamic_local`]), lower generic pointers
//! ([`crate::lower_generic`]), hoist what both sides of a branch compute, make variables of private arrays
//! ([`crate::private_arrays`]), unroll loops ([`crate::unroll`]), align local memory
//! ([`crate::local_alignment`]), make accesses of neighbours one ([`crate::neighbours`]), take integers of more
//! than 64 bits apart ([`crate::wide_integers`]), lower large copies ([`crate::lower_copies`]) and `printf`
//! ([`crate::lower_printf`]), find the ids made by hand that now stand in one place, infer alignments, put loops
//! into simplified and LCSSA form, leave divisions by 0 to the machine, and structurize what would be
//! desynchronised ([`crate::structurize`]).
//!
//! # Limits
//! Recursion stays; selection refuses it.

use inkwell::llvm_sys::LLVMOpcode::*;
use inkwell::module::Module;

use crate::error::PassError;
use crate::facts::Facts;
use crate::ir::{self, Value, function, is_kernel, llvm_passes};
use crate::{
    by_value, divisions, dynamic_local, expand_intrinsics, id_ranges, local_alignment, lower_copies, lower_generic, lower_printf,
    neighbours, private_arrays, relative_id, structurize, unroll, wide_integers,
};

/// What a module has been through, and what it is to become.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Optimisation {
    /// It comes from `-O0`: memory is promoted and simplified, and the rest stays as it is.
    Little,
    /// Loops stay as clang leaves them: small code was asked for, or that no loop is unrolled.
    KeepLoops,
    /// All there is.
    Full,
}

/// Prepares a module.
///
/// # Errors
/// LLVM's message, and what the lowerings report.
pub fn prepare(module: &Module, facts: Facts, optimisation: Optimisation) -> Result<(), PassError> {
    let unoptimised = optimisation == Optimisation::Little;
    divisions::define(module);
    let has_calls = function::bodies(module).into_iter().any(|f| !is_kernel(f) || function::is_called(f));
    if has_calls {
        // Variables in memory become values function by function: of one that has inlined hundreds, each with its own, that takes
        // LLVM ten times as long as all the rest.
        let promotion = if unoptimised { "function(sroa)," } else { "" };
        llvm_passes::run(module, &format!("{promotion}always-inline,globaldce"))?;
    }
    let has_copies = by_value::copy(module);
    expand_intrinsics::expand(module)?;
    if !unoptimised {
        // What comes from CUDA is to have the ranges of ids, too.
        relative_id::rewrite(module)?;
    }
    let has_ids = !unoptimised && id_ranges::attach(module, facts);
    if let Some(passes) =
        simplifying(has_calls || has_copies, has_ids, !unoptimised && has_vector_arithmetic(module), unoptimised)
    {
        llvm_passes::run(module, &format!("function({passes})"))?;
    }
    dynamic_local::lower(module)?;
    lower_generic::lower(module)?;
    if optimisation == Optimisation::Full {
        // What both sides of a branch compute. Loads are often there, as clang adds one to the side that has none for what reads
        // the value behind both; what is left of that side then is nothing, and the other one may be if-converted.
        llvm_passes::run(module, "function(gvn-hoist)")?;
        private_arrays::promote(module)?;
        unroll::unroll(module, facts)?;
    }
    if !unoptimised {
        // Clang splits the load of a vector whose elements are used one by one, and the copy of a structure. This is behind the
        // lowering of generic pointers, of which two neighbours would become a vector of integers.
        local_alignment::raise(module);
        neighbours::merge(module, facts)?;
    }
    wide_integers::lower(module);
    lower_copies::lower(module)?;
    lower_printf::lower(module)?;
    relative_id::rewrite(module)?;
    // Accesses that LLVM has moved out of loops have an alignment of one byte, which selection would take apart.
    llvm_passes::run(module, "function(infer-alignment,loop-simplify,lcssa)")?;
    divisions::trust_machine(module);
    structurize::structurize(module, facts)
}

/// LLVM's passes over what is new to them: inlined calls and variables, ranges of ids, and elements of vectors. The vectors that programs
/// compute with end here: lanes have no vector operations, and what one element does not need is not computed for it, nor
/// in every iteration because another one changes.
fn simplifying(calls: bool, ids: bool, vectors: bool, unoptimised: bool) -> Option<String> {
    const COMBINE: &str = "instcombine<no-verify-fixpoint>";
    let mut passes = Vec::new();
    if calls {
        passes.extend(["sroa", "early-cse"]);
    }
    if ids && !calls {
        passes.push("sccp");
    }
    if vectors {
        passes.extend(["scalarizer", "early-cse"]);
    }
    if calls || ids || vectors {
        passes.push(COMBINE);
    }
    if vectors {
        passes.push("loop-mssa(licm)");
    }
    if calls {
        passes.push("simplifycfg");
    }
    if unoptimised {
        passes.extend(["sroa", "early-cse", "simplifycfg"]);
    }
    (!passes.is_empty()).then(|| passes.join(","))
}

/// Whether functions compute with vectors, rather than loading, storing, making and taking them apart; and choose no element
/// by a number that they compute, for which selection has a better way than LLVM's comparisons one after the other.
fn has_vector_arithmetic(module: &Module) -> bool {
    let all = || function::bodies(module).into_iter().flat_map(ir::blocks).flat_map(|b| b.instructions());
    let number = |i: Value| match i.opcode() {
        LLVMExtractElement => Some(i.operand(1)),
        LLVMInsertElement => Some(i.operand(2)),
        _ => None,
    };
    let moves = |i: Value| matches!(i.opcode(), LLVMLoad | LLVMInsertElement | LLVMExtractElement | LLVMShuffleVector);
    all().any(|i| i.is_vector() && !moves(i)) && all().filter_map(number).all(|n| n.as_constant_int().is_some())
}
