//! The list of passes, and textual pipelines of them for `heddle opt`.
//!
//! A textual pipeline is a comma-separated list that mixes LLVM's passes (`instcombine`,
//! `default<O2>`, `function(loop-rotate)`) with Heddle's own. Adding a pass of ours is one row in
//! [`PASSES`]: `heddle opt`, its help ([`help`]), annotated IR and the plug-in for LLVM's tools
//! (`plugin/`) take the passes from there.

use std::fmt::Write as _;
use std::io::Write;

use inkwell::module::Module;

use crate::error::PassError;
use crate::facts::{Facts, PARAMETERS};
use crate::ir::cfg::Cfg;
use crate::ir::{Value, function, is_kernel, llvm_passes};
use crate::{
    by_value, cache_hints, cuda_kernels, divisions, dynamic_local, expand_intrinsics, global_id, id_ranges, local_alignment,
    lower_copies, lower_generic, lower_printf, math_intrinsics, prepare, private_arrays, relative_id, surfaces, uniformity,
    unroll,
};

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

/// What a pass is run on, which says what it does, too.
#[derive(Clone, Copy)]
enum Run {
    /// Prints about every function with a body, in LCSSA form.
    PrintFunctions(fn(Value, Facts, &mut dyn Write) -> Result<(), PassError>),
    /// Prints about every kernel, in LCSSA form.
    PrintKernels(fn(Value, Facts, &mut dyn Write) -> Result<(), PassError>),
    /// Attaches metadata to every function with a body, in LCSSA form.
    AnnotateFunctions(fn(Value, Facts)),
    /// Attaches metadata to every kernel, in LCSSA form.
    AnnotateKernels(fn(Value, Facts)),
    /// Changes the module.
    Transform(fn(&Module, Facts) -> Result<(), PassError>),
}

/// One of Heddle's passes.
pub struct Pass {
    /// Its name in a pipeline; `heddle-NAME` and `print<heddle-NAME>` name it, too (in LLVM's own
    /// tools they are the only names).
    pub name: &'static str,
    /// What it does.
    pub about: &'static str,
    run: Run,
}

use Run::{AnnotateFunctions, AnnotateKernels, PrintFunctions, PrintKernels, Transform};

/// Heddle's passes: name, function, and what it does.
pub const PASSES: &[Pass] = &[
    pass("print<uniformity>", PrintFunctions(uniformity::print), "print the uniformity of every value and branch (S2-S4)"),
    pass(
        "uniformity",
        AnnotateFunctions(uniformity::annotate),
        "attach the uniformity of every value and branch as metadata (S2-S4)",
    ),
    pass("print<surfaces>", PrintKernels(surfaces::print), "print what is done with each surface, and its kind (G1-G4)"),
    pass(
        "print<global-id>",
        PrintKernels(global_id::print),
        "print which accesses have addresses of global ids, and why others have not (G5-G8)",
    ),
    pass("global-id", AnnotateKernels(global_id::annotate), "attach the same to accesses and kernels as metadata (G5-G8)"),
    pass(
        "print<cache-hints>",
        PrintKernels(cache_hints::print),
        "print the cache policy of every access of global memory, and why (K7)",
    ),
    pass(
        "cache-hints",
        AnnotateKernels(cache_hints::annotate),
        "attach the cache policy of every access of global memory as metadata (K7)",
    ),
    pass(
        "by-value",
        Transform(|m, _| {
            by_value::copy(m);
            Ok(())
        }),
        "make variables of structures that kernels take by value and change",
    ),
    pass("cuda-kernels", Transform(|m, _| cuda_kernels::import(m)), "make kernels of CUDA and HIP like those of OpenCL C"),
    pass(
        "math-intrinsics",
        Transform(|m, _| {
            // Without the library, what has the name of one of its functions keeps another one.
            let _ = math_intrinsics::import(m);
            Ok(())
        }),
        "call OpenCL's library for mathematical intrinsics",
    ),
    pass(
        "define-divisions",
        Transform(|m, _| {
            divisions::define_all(m);
            Ok(())
        }),
        "make divisions by 0 defined, before all other passes",
    ),
    pass(
        "trust-divisions",
        Transform(|m, _| {
            divisions::trust_machine(m);
            Ok(())
        }),
        "leave divisions by 0 to the machine, behind all other passes",
    ),
    pass(
        "dynamic-local",
        Transform(|m, _| dynamic_local::lower(m)),
        "make local memory whose size the launch says an argument of the kernel",
    ),
    pass("generic", Transform(|m, _| lower_generic::lower(m)), "resolve generic pointers, at run time where it must be"),
    pass(
        "intrinsics",
        Transform(|m, _| expand_intrinsics::expand(m)),
        "replace masked accesses, matrices and other intrinsics that a few instructions do",
    ),
    pass(
        "local-alignment",
        Transform(|m, _| {
            local_alignment::raise(m);
            Ok(())
        }),
        "align variables in local memory, and pointers to it, to the longest load",
    ),
    pass("copies", Transform(|m, _| lower_copies::lower(m)), "make loops of memcpy, memmove and memset that are large"),
    pass("printf", Transform(|m, _| lower_printf::lower(m)), "turn calls of printf into writes of messages into a buffer"),
    pass(
        "id-ranges",
        Transform(|m, f| {
            id_ranges::attach(m, f);
            Ok(())
        }),
        "attach the ranges of ids and sizes that LLVM simplifies by",
    ),
    pass(
        "private-arrays",
        Transform(|m, _| private_arrays::promote(m)),
        "unroll fixed loops that index private arrays, and make variables of these",
    ),
    pass("unroll", Transform(unroll::unroll), "unroll loops by whether lanes leave them together"),
    pass("relative-id", Transform(|m, _| relative_id::rewrite(m)), "turn group id times size plus local id into one query (G8)"),
    pass(
        "heddle-prepare",
        Transform(|m, f| prepare::prepare(m, f, prepare::Optimisation::Full)),
        "inline everything and put loops into the form selection expects",
    ),
];

const fn pass(name: &'static str, run: Run, about: &'static str) -> Pass {
    Pass { name, about, run }
}

impl Pass {
    /// What it leaves of a module.
    pub const fn effect(&self) -> Effect {
        match self.run {
            PrintFunctions(_) | PrintKernels(_) => Effect::Prints,
            AnnotateFunctions(_) | AnnotateKernels(_) => Effect::Annotates,
            Transform(_) => Effect::Transforms,
        }
    }

    /// Its name with the prefix that every pass has in LLVM's own tools: `heddle-NAME` or
    /// `print<heddle-NAME>`.
    pub fn prefixed_name(&self) -> String {
        let prefixed = |name: &str| format!("heddle-{}", without_prefix(name));
        match self.name.strip_prefix("print<").and_then(|rest| rest.strip_suffix('>')) {
            Some(name) => format!("print<{}>", prefixed(name)),
            None => prefixed(self.name),
        }
    }

    /// Runs the pass; what it prints goes to `out`.
    ///
    /// # Errors
    /// What the pass reports, and a module that it does not take.
    pub fn run(&self, module: &Module, facts: Facts, out: &mut dyn Write) -> Result<(), PassError> {
        match self.run {
            PrintFunctions(print) => analysable(module)?.into_iter().try_for_each(|f| print(f, facts, out))?,
            PrintKernels(print) => analysable_kernels(module)?.into_iter().try_for_each(|f| print(f, facts, out))?,
            AnnotateFunctions(annotate) => analysable(module)?.into_iter().for_each(|f| annotate(f, facts)),
            AnnotateKernels(annotate) => analysable_kernels(module)?.into_iter().for_each(|f| annotate(f, facts)),
            Transform(transform) => transform(module, facts)?,
        }
        Ok(())
    }
}

/// The passes that attach metadata for LLVM's tools, in an order in which they can run.
pub fn annotating() -> impl Iterator<Item = &'static Pass> {
    PASSES.iter().filter(|p| p.effect() == Effect::Annotates)
}

/// The names of all passes, with commas between.
pub fn names() -> String {
    PASSES.iter().map(|p| p.name).collect::<Vec<_>>().join(", ")
}

/// A name without the prefix `heddle-`.
fn without_prefix(name: &str) -> &str {
    name.strip_prefix("heddle-").unwrap_or(name)
}

/// Bytes before what a pass does in a help text, and the most characters of its lines.
const HELP_INDENT: usize = 22;
const HELP_WIDTH: usize = 100;

/// The passes for a help text, by what they leave of a module.
pub fn help() -> String {
    let mut text = String::new();
    for (effect, heading) in [
        (Effect::Prints, "Passes that print"),
        (Effect::Annotates, "Passes that attach metadata"),
        (Effect::Transforms, "Passes that change code"),
    ] {
        let _ = writeln!(text, "{heading}:");
        for pass in PASSES.iter().filter(|p| p.effect() == effect) {
            let mut line = format!("  {:<width$}", pass.name, width = HELP_INDENT - 2);
            let mut separator = "";
            for word in pass.about.split(' ') {
                if line.chars().count() + separator.len() + word.chars().count() > HELP_WIDTH {
                    let _ = writeln!(text, "{line}");
                    (line, separator) = (" ".repeat(HELP_INDENT), "");
                }
                line = line + separator + word;
                separator = " ";
            }
            let _ = writeln!(text, "{line}");
        }
        text.push('\n');
    }
    let _ = write!(text, "Parameters:\n  {}", PARAMETERS.replace(", ", "\n  "));
    text
}

/// The pass that a pipeline's element names, and the facts with what its parameters say:
/// `uniformity`, `heddle-uniformity`, `print<heddle-uniformity>`,
/// `heddle-uniformity<warp-size=64>`, `print<heddle-uniformity><warp-size=64>`. `None` if the name
/// is not ours.
///
/// # Errors
/// A parameter that the passes do not have.
pub fn find(element: &str, facts: Facts) -> Result<Option<(&'static Pass, Facts)>, PassError> {
    let (name, parameters) = match element.strip_prefix("print<").and_then(|rest| rest.split_once('>')) {
        Some((name, parameters)) => (format!("print<{}>", without_prefix(name)), parameters),
        None => {
            let at = element.find('<').unwrap_or(element.len());
            (without_prefix(&element[..at]).to_string(), &element[at..])
        }
    };
    let Some(pass) =
        PASSES.iter().find(|p| p.name == name || p.name.strip_prefix("heddle-") == Some(&name) && element.starts_with("heddle-"))
    else {
        return Ok(None);
    };
    let written = element.strip_suffix(parameters).unwrap_or(element);
    let refused = |parameter: &str| PassError::Parameter { pass: written.into(), parameter: parameter.into() };
    if parameters.is_empty() {
        return Ok(Some((pass, facts)));
    }
    let inner = parameters.strip_prefix('<').and_then(|p| p.strip_suffix('>')).ok_or_else(|| refused(parameters))?;
    let facts = inner.split(';').try_fold(facts, |facts, p| facts.with_parameter(p).ok_or_else(|| refused(p)))?;
    Ok(Some((pass, facts)))
}

/// Functions with bodies, in the form that the analyses need.
fn analysable(module: &Module) -> Result<Vec<Value>, PassError> {
    let functions = function::bodies(module);
    for &function in &functions {
        if let Some(value) = Cfg::new(function).left_loop() {
            return Err(PassError::NotLcssa { function: function.name(), value: value.text() });
        }
    }
    Ok(functions)
}

/// The kernels among them.
fn analysable_kernels(module: &Module) -> Result<Vec<Value>, PassError> {
    Ok(analysable(module)?.into_iter().filter(|f| is_kernel(*f)).collect())
}

/// Runs a textual pipeline; analyses print to `out`.
///
/// # Errors
/// An unknown pass, or what a pass reports.
pub fn run_text_pipeline(module: &Module, text: &str, facts: Facts, out: &mut dyn Write) -> Result<(), PassError> {
    for name in split(text) {
        match find(&name, facts)? {
            Some((pass, facts)) => pass.run(module, facts, out)?,
            None => llvm_passes::run(module, &name).map_err(|e| PassError::UnknownPass {
                name: name.clone(),
                known: names(),
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

    const FACTS: Facts = Facts::OF_DEFAULT_MACHINE;

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
    fn an_unknown_name_is_answered_with_all_names() {
        let context = inkwell::context::Context::create();
        let module = context.create_module("empty");
        let error = run_text_pipeline(&module, "nonsense", FACTS, &mut std::io::sink()).unwrap_err().to_string();
        let names = PASSES.iter().map(|p| p.name).collect::<Vec<_>>().join(", ");
        let wanted = format!(
            "unknown pass `nonsense`; Heddle's passes are {names}; any other name goes to LLVM, which said: \
             LLVM: unknown pass name 'nonsense'"
        );
        assert_eq!(error, wanted);
    }

    #[test]
    fn bad_parameters_are_refused() {
        for p in ["<warp-size=33>", "<warp-size>", "<>", "<speed=1>", "<warp-size=32", "x", "<warp-size=32;>"] {
            let element = format!("print<heddle-uniformity>{p}");
            assert!(matches!(find(&element, FACTS), Err(PassError::Parameter { .. })), "{element}");
        }
    }
}
