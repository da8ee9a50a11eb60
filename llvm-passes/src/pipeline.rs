//! Pipelines: bringing a module into the form selection expects, and textual pipelines for `heddle opt`.
//!
//! A textual pipeline is a comma-separated list that mixes LLVM's passes (`instcombine`, `default<O2>`, `function(loop-rotate)`) with
//! Heddle's own. Adding a pass of ours is one line in [`PASSES`].

use std::io::Write;

use inkwell::llvm_sys::target_machine::LLVMTargetMachineRef;
use inkwell::module::Module;
use inkwell::passes::PassBuilderOptions;

use crate::PassError;
use crate::ir::Value;
use crate::uniformity::{self, Facts};
use crate::{cache_hints, generic, global_id, printf, surfaces};

/// What a pass does to a module: changes it or prints about it.
type Run = fn(&Module, Facts, &mut dyn Write) -> Result<(), PassError>;

/// Heddle's passes: name, what it does, the function.
pub const PASSES: &[(&str, &str, Run)] = &[
    ("print<uniformity>", "print the uniformity of every value and branch (S2-S4)", print_uniformity),
    ("uniformity", "attach the uniformity of every value and branch as metadata (S2-S4)", annotate_uniformity),
    ("print<surfaces>", "print what is done with each surface, and its kind (G1-G4)", print_surfaces),
    ("print<global-id>", "print which accesses have addresses of global ids, and why others have not (G5-G8)", print_global_ids),
    ("print<cache-hints>", "print the cache policy of every access of global memory, and why (K7)", print_cache_hints),
    ("cache-hints", "attach the cache policy of every access of global memory as metadata (K7)", annotate_cache_hints),
    ("generic", "resolve generic pointers, at run time where it must be", |m, _, _| generic::lower(m)),
    ("printf", "turn calls of printf into writes of messages into a buffer", |m, _, _| printf::lower(m)),
    ("heddle-prepare", "inline everything and put loops into the form selection expects", |m, f, _| prepare(m, f, false)),
];

fn print_uniformity(module: &Module, facts: Facts, out: &mut dyn Write) -> Result<(), PassError> {
    for function in module.get_functions().filter(|f| f.count_basic_blocks() > 0) {
        uniformity::print(Value::of(function), facts, out)?;
    }
    Ok(())
}

fn annotate_uniformity(module: &Module, facts: Facts, _: &mut dyn Write) -> Result<(), PassError> {
    for function in module.get_functions().filter(|f| f.count_basic_blocks() > 0) {
        uniformity::annotate(Value::of(function), facts);
    }
    Ok(())
}

fn print_surfaces(module: &Module, facts: Facts, out: &mut dyn Write) -> Result<(), PassError> {
    for function in module.get_functions().filter(|f| f.count_basic_blocks() > 0 && kernel_like(*f)) {
        surfaces::print(Value::of(function), facts.surface_components, out)?;
    }
    Ok(())
}

fn print_global_ids(module: &Module, facts: Facts, out: &mut dyn Write) -> Result<(), PassError> {
    for function in module.get_functions().filter(|f| f.count_basic_blocks() > 0 && kernel_like(*f)) {
        let value = Value::of(function);
        global_id::print(value, &uniformity::analyze(value, facts), out)?;
    }
    Ok(())
}

fn print_cache_hints(module: &Module, facts: Facts, out: &mut dyn Write) -> Result<(), PassError> {
    for function in module.get_functions().filter(|f| f.count_basic_blocks() > 0 && kernel_like(*f)) {
        let value = Value::of(function);
        cache_hints::print(value, &uniformity::analyze(value, facts), out)?;
    }
    Ok(())
}

fn annotate_cache_hints(module: &Module, facts: Facts, _: &mut dyn Write) -> Result<(), PassError> {
    for function in module.get_functions().filter(|f| f.count_basic_blocks() > 0 && kernel_like(*f)) {
        let value = Value::of(function);
        cache_hints::annotate(value, &uniformity::analyze(value, facts));
    }
    Ok(())
}

/// Runs an LLVM pipeline text on a module. The vectorizers stay off: lanes are the vector.
///
/// # Errors
/// LLVM's message.
pub fn run_llvm(module: &Module, pipeline: &str) -> Result<(), PassError> {
    run_llvm_for(module, pipeline, std::ptr::null_mut())
}

/// As [`run_llvm`], with the cost model and address spaces of a target; null for none.
///
/// # Errors
/// LLVM's message.
pub(crate) fn run_llvm_for(module: &Module, pipeline: &str, machine: LLVMTargetMachineRef) -> Result<(), PassError> {
    use inkwell::llvm_sys::error::{LLVMDisposeErrorMessage, LLVMGetErrorMessage};
    use inkwell::llvm_sys::transforms::pass_builder::LLVMRunPasses;
    let options = PassBuilderOptions::create();
    options.set_loop_vectorization(false);
    options.set_loop_slp_vectorization(false);
    options.set_verify_each(cfg!(debug_assertions));
    let text = std::ffi::CString::new(pipeline).map_err(|e| PassError::Llvm(e.to_string()))?;
    // SAFETY: module and options are live; a null target machine gives the target-independent cost model, which is what we want.
    unsafe {
        let error = LLVMRunPasses(module.as_mut_ptr(), text.as_ptr(), machine, options.as_mut_ptr());
        if error.is_null() {
            return Ok(());
        }
        let message = LLVMGetErrorMessage(error);
        let result = std::ffi::CStr::from_ptr(message).to_string_lossy().into_owned();
        LLVMDisposeErrorMessage(message);
        Err(PassError::Llvm(result))
    }
}

/// Inlines everything, cleans up, and puts loops into LCSSA form. `unoptimised`: the module comes from `-O0`, so memory is
/// promoted and simplified first.
///
/// # Errors
/// LLVM's message.
pub fn prepare(module: &Module, facts: Facts, unoptimised: bool) -> Result<(), PassError> {
    let called = |f| Value::of(f).users().any(|u| u.is_instruction());
    let has_calls = module.get_functions().any(|f| f.count_basic_blocks() > 0 && (!kernel_like(f) || called(f)));
    let mut pipeline = String::new();
    if has_calls {
        pipeline.push_str("always-inline,globaldce,function(sroa,early-cse,instcombine<no-verify-fixpoint>,simplifycfg),");
    }
    if unoptimised {
        pipeline.push_str("function(sroa,early-cse,simplifycfg),");
    }
    if !pipeline.is_empty() {
        run_llvm(module, pipeline.trim_end_matches(','))?;
    }
    generic::lower(module)?;
    printf::lower(module)?;
    run_llvm(module, "function(loop-simplify,lcssa)")?;
    structurize_desynchronised(module, facts)
}

fn kernel_like(function: inkwell::values::FunctionValue) -> bool {
    matches!(function.get_call_conventions(), 71 | 76 | 91)
}

/// Kernels whose loops the machine's reconvergence would desynchronise (see [`uniformity`]) are structurized by LLVM's own
/// passes, so that every divergent branch in a loop reconverges within the iteration.
fn structurize_desynchronised(module: &Module, facts: Facts) -> Result<(), PassError> {
    let needs = |f: &inkwell::values::FunctionValue| {
        f.count_basic_blocks() > 1 && uniformity::analyze(Value::of(*f), facts).has_desynchronised_loop()
    };
    if module.get_functions().any(|f| needs(&f)) {
        run_llvm(module, "function(lower-switch,fix-irreducible,unify-loop-exits,structurizecfg,lcssa)")?;
    }
    Ok(())
}

/// Runs a textual pipeline; analyses print to `out`.
///
/// # Errors
/// An unknown pass, or what a pass reports.
pub fn run_text_pipeline(module: &Module, text: &str, facts: Facts, out: &mut dyn Write) -> Result<(), PassError> {
    for name in split(text) {
        match PASSES.iter().find(|(n, ..)| *n == name) {
            Some((_, _, run)) => run(module, facts, out)?,
            None => run_llvm(module, &name).map_err(|e| PassError::UnknownPass {
                name: name.clone(),
                known: PASSES.iter().map(|(n, ..)| *n).collect::<Vec<_>>().join(", "),
                llvm: e.to_string(),
            })?,
        }
    }
    Ok(())
}

/// Splits at commas outside parentheses and angle brackets.
fn split(text: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut depth = 0;
    for c in text.chars() {
        match c {
            '(' | '<' => depth += 1,
            ')' | '>' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(String::new());
                continue;
            }
            _ => {}
        }
        if let Some(last) = parts.last_mut() {
            last.push(c);
        }
    }
    parts.into_iter().map(|p| p.trim().to_string()).filter(|p| !p.is_empty()).collect()
}
