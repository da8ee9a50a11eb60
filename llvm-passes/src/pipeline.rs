//! Pipelines: bringing a module into the form selection expects, and textual pipelines for `heddle opt`.
//!
//! A textual pipeline is a comma-separated list that mixes LLVM's passes (`instcombine`, `default<O2>`, `function(loop-rotate)`) with
//! Heddle's own. Adding a pass of ours is one entry in [`PASSES`]; the plug-in for LLVM's tools (`plugin/`) takes its passes from there, too.

use std::io::Write;

use inkwell::llvm_sys::target_machine::LLVMTargetMachineRef;
use inkwell::module::Module;
use inkwell::passes::PassBuilderOptions;

use crate::PassError;
use crate::cfg::Cfg;
use crate::ir::{self, Value};
use crate::uniformity::{self, Facts};
use crate::{cache_hints, generic, global_id, printf, surfaces};

/// What a pass does to a module: changes it or prints about it.
type Run = fn(&Module, Facts, &mut dyn Write) -> Result<(), PassError>;

/// What a pass leaves of a module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// It prints and changes nothing.
    Prints,
    /// It attaches metadata and changes nothing that other passes look at.
    Annotates,
    /// It changes instructions or blocks.
    Transforms,
}

/// One of Heddle's passes.
pub struct Pass {
    /// Its name in a pipeline; `heddle-NAME` and `print<heddle-NAME>` name it, too (in LLVM's own tools they are the only names).
    pub name: &'static str,
    /// What it does.
    pub about: &'static str,
    /// What it leaves of the module.
    pub effect: Effect,
    run: Run,
}

impl Pass {
    /// Runs the pass; what it prints goes to `out`.
    ///
    /// # Errors
    /// What the pass reports, and a module that it does not take.
    pub fn run(&self, module: &Module, facts: Facts, out: &mut dyn Write) -> Result<(), PassError> {
        (self.run)(module, facts, out)
    }
}

const fn pass(name: &'static str, effect: Effect, about: &'static str, run: Run) -> Pass {
    Pass { name, about, effect, run }
}

/// Heddle's passes.
pub const PASSES: &[Pass] = &[
    pass("print<uniformity>", Effect::Prints, "print the uniformity of every value and branch (S2-S4)", print_uniformity),
    pass(
        "uniformity",
        Effect::Annotates,
        "attach the uniformity of every value and branch as metadata (S2-S4)",
        annotate_uniformity,
    ),
    pass("print<surfaces>", Effect::Prints, "print what is done with each surface, and its kind (G1-G4)", print_surfaces),
    pass(
        "print<global-id>",
        Effect::Prints,
        "print which accesses have addresses of global ids, and why others have not (G5-G8)",
        print_global_ids,
    ),
    pass("global-id", Effect::Annotates, "attach the same to accesses and kernels as metadata (G5-G8)", annotate_global_ids),
    pass(
        "print<cache-hints>",
        Effect::Prints,
        "print the cache policy of every access of global memory, and why (K7)",
        print_cache_hints,
    ),
    pass(
        "cache-hints",
        Effect::Annotates,
        "attach the cache policy of every access of global memory as metadata (K7)",
        annotate_cache_hints,
    ),
    pass("generic", Effect::Transforms, "resolve generic pointers, at run time where it must be", |m, _, _| generic::lower(m)),
    pass("printf", Effect::Transforms, "turn calls of printf into writes of messages into a buffer", |m, _, _| printf::lower(m)),
    pass("heddle-prepare", Effect::Transforms, "inline everything and put loops into the form selection expects", |m, f, _| {
        prepare(m, f, false)
    }),
];

/// Parameters of a pass, in angle brackets after its name and separated by `;`, as LLVM's passes have them.
pub const PARAMETERS: &str = "warp-size=8|16|32|64, surface-components=1|2|3|4";

/// The pass that a pipeline's element names, and the facts with what its parameters say: `uniformity`, `heddle-uniformity`,
/// `print<heddle-uniformity>`, `heddle-uniformity<warp-size=64>`, `print<heddle-uniformity><warp-size=64>`. `None` if the name is not ours.
///
/// # Errors
/// A parameter that the passes do not have.
pub fn find(element: &str, facts: Facts) -> Result<Option<(&'static Pass, Facts)>, PassError> {
    let bare = |n: &str| n.strip_prefix("heddle-").unwrap_or(n).to_string();
    let (name, parameters) = match element.strip_prefix("print<").and_then(|rest| rest.split_once('>')) {
        Some((name, parameters)) => (format!("print<{}>", bare(name)), parameters),
        None => {
            let at = element.find('<').unwrap_or(element.len());
            (bare(&element[..at]), &element[at..])
        }
    };
    let Some(pass) =
        PASSES.iter().find(|p| p.name == name || p.name.strip_prefix("heddle-") == Some(&name) && element.starts_with("heddle-"))
    else {
        return Ok(None);
    };
    let written = element.strip_suffix(parameters).unwrap_or(element);
    let refused = |parameter: &str| PassError::Parameter { pass: written.into(), parameter: parameter.into() };
    let mut facts = facts;
    if !parameters.is_empty() {
        let inner = parameters.strip_prefix('<').and_then(|p| p.strip_suffix('>')).ok_or_else(|| refused(parameters))?;
        for parameter in inner.split(';') {
            let value = |name: &str| parameter.strip_prefix(name)?.strip_prefix('=')?.parse::<u32>().ok();
            match (value("warp-size"), value("surface-components")) {
                (Some(n @ (8 | 16 | 32 | 64)), _) => facts.warp_size = n,
                (_, Some(n @ 1..=4)) => facts.surface_components = n,
                _ => return Err(refused(parameter)),
            }
        }
    }
    Ok(Some((pass, facts)))
}

/// Functions with bodies, in the form that the analyses need.
fn bodies(module: &Module) -> Result<Vec<Value>, PassError> {
    let functions: Vec<Value> = module.get_functions().filter(|f| f.count_basic_blocks() > 0).map(Value::of).collect();
    for &function in &functions {
        if let Some(value) = Cfg::new(function).left_loop() {
            return Err(PassError::NotLcssa { function: function.name(), value: value.text() });
        }
    }
    Ok(functions)
}

/// The kernels among them.
fn kernels(module: &Module) -> Result<Vec<Value>, PassError> {
    Ok(bodies(module)?.into_iter().filter(|f| ir::is_kernel(*f)).collect())
}

fn print_uniformity(module: &Module, facts: Facts, out: &mut dyn Write) -> Result<(), PassError> {
    for function in bodies(module)? {
        uniformity::print(function, facts, out)?;
    }
    Ok(())
}

fn annotate_uniformity(module: &Module, facts: Facts, _: &mut dyn Write) -> Result<(), PassError> {
    bodies(module)?.into_iter().for_each(|f| uniformity::annotate(f, facts));
    Ok(())
}

fn print_surfaces(module: &Module, facts: Facts, out: &mut dyn Write) -> Result<(), PassError> {
    for kernel in kernels(module)? {
        surfaces::print(kernel, facts.surface_components, out)?;
    }
    Ok(())
}

fn print_global_ids(module: &Module, facts: Facts, out: &mut dyn Write) -> Result<(), PassError> {
    for kernel in kernels(module)? {
        global_id::print(kernel, &uniformity::analyze(kernel, facts), out)?;
    }
    Ok(())
}

fn annotate_global_ids(module: &Module, facts: Facts, _: &mut dyn Write) -> Result<(), PassError> {
    kernels(module)?.into_iter().for_each(|k| global_id::annotate(k, &uniformity::analyze(k, facts)));
    Ok(())
}

fn print_cache_hints(module: &Module, facts: Facts, out: &mut dyn Write) -> Result<(), PassError> {
    for kernel in kernels(module)? {
        cache_hints::print(kernel, &uniformity::analyze(kernel, facts), out)?;
    }
    Ok(())
}

fn annotate_cache_hints(module: &Module, facts: Facts, _: &mut dyn Write) -> Result<(), PassError> {
    kernels(module)?.into_iter().for_each(|k| cache_hints::annotate(k, &uniformity::analyze(k, facts)));
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
    let has_calls = module.get_functions().any(|f| f.count_basic_blocks() > 0 && (!ir::is_kernel(Value::of(f)) || called(f)));
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
        match find(&name, facts)? {
            Some((pass, facts)) => pass.run(module, facts, out)?,
            None => run_llvm(module, &name).map_err(|e| PassError::UnknownPass {
                name: name.clone(),
                known: PASSES.iter().map(|p| p.name).collect::<Vec<_>>().join(", "),
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

#[cfg(test)]
mod tests {
    use super::*;

    const FACTS: Facts = Facts { warp_size: 32, surface_components: 4 };

    fn found(element: &str) -> Option<(&'static str, u32, u32)> {
        find(element, FACTS).unwrap().map(|(p, f)| (p.name, f.warp_size, f.surface_components))
    }

    #[test]
    fn passes_have_plain_and_prefixed_names_and_parameters() {
        assert_eq!(found("uniformity"), Some(("uniformity", 32, 4)));
        assert_eq!(found("heddle-uniformity<warp-size=64>"), Some(("uniformity", 64, 4)));
        assert_eq!(found("print<heddle-global-id>"), Some(("print<global-id>", 32, 4)));
        assert_eq!(found("print<surfaces><surface-components=2;warp-size=8>"), Some(("print<surfaces>", 8, 2)));
        assert_eq!(found("heddle-prepare"), Some(("heddle-prepare", 32, 4)));
    }

    #[test]
    fn other_names_are_llvms() {
        for name in ["prepare", "print<cfg>", "heddle-", "instcombine<no-verify-fixpoint>", "function(lcssa)", "heddle-surfaces"]
        {
            assert_eq!(found(name), None, "{name}");
        }
    }

    #[test]
    fn bad_parameters_are_refused() {
        for p in ["<warp-size=33>", "<warp-size>", "<>", "<speed=1>", "<warp-size=32", "x", "<warp-size=32;>"] {
            let element = format!("print<heddle-uniformity>{p}");
            assert!(matches!(find(&element, FACTS), Err(PassError::Parameter { .. })), "{element}");
        }
    }
}
