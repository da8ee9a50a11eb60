//! clang's optimisation pipeline, on what clang's front end has written.
//!
//! It runs in this process, so that Heddle has the first word ([`divisions`]) without a second start of clang, which takes
//! longer than all passes over a small kernel. For large programs it runs in clang, which can be ended before its time
//! ([`Stop`](crate::Stop)), and where options of the passes were given (`-mllvm`, `-R…`), which clang reads. Both run LLVM's
//! `default<O2>` as for clang's target, without vectorizers; clang sees uses of values in another order, as bitcode that Heddle writes
//! has none, which may change the order of blocks and names.
//!
//! May touch: LLVM, clang. Knows nothing of languages.

use std::fmt::Write as _;
use std::io::Write as _;

use heddle_llvm_passes::divisions;
use heddle_llvm_passes::ir::{diagnostics, llvm_passes};
use inkwell::context::Context;
use inkwell::memory_buffer::MemoryBuffer;

use crate::error::{llvm, pass};
use crate::{Diagnostics, FrontendError, FrontendOptions, OptLevel, clang};

/// Bytes of bitcode from which a program is large enough to be ended before its time: an estimate, not a measurement.
const LARGE: usize = 512 << 10;

/// The warning that tells of loops that LLVM could not unroll although the program asked for it, as clang names it.
const WARNING: &str = "-Wpass-failed=transform-warning";

/// Runs the passes on bitcode of which none has run; at `-O0` Heddle's own ones only. Warnings go where clang's go.
///
/// # Errors
/// What is no bitcode, and what keeps clang from ending well.
pub(crate) fn optimise(bitcode: &[u8], name: &str, options: &FrontendOptions) -> Result<Vec<u8>, FrontendError> {
    let (optimised, warnings) = optimise_quietly(bitcode, name, options)?;
    if options.diagnostics == Diagnostics::Show {
        let _gone = std::io::stderr().write_all(warnings.as_bytes());
    }
    Ok(optimised)
}

/// The same; gives the warnings as well, a line each, as far as clang does not show them.
pub(crate) fn optimise_quietly(
    bitcode: &[u8],
    name: &str,
    options: &FrontendOptions,
) -> Result<(Vec<u8>, String), FrontendError> {
    let context = Context::create();
    let buffer = MemoryBuffer::create_from_memory_range_copy(bitcode, name);
    let module = context.create_module_from_ir(buffer).map_err(|e| llvm(name, &e.to_string()))?;
    divisions::define_all(&module);
    let written = || module.write_bitcode_to_memory().as_slice().to_vec();
    let Some(pipeline) = pipeline(options.opt) else { return Ok((written(), String::new())) };
    let args = &options.clang_args;
    if bitcode.len() >= LARGE || !of_passes(args).is_empty() || args.iter().any(|a| a.starts_with("-Werror")) {
        let words: Vec<&String> = of_passes(args).into_iter().chain(of_warnings(args)).collect();
        return Ok((clang::optimise(&written(), name, &words, options)?, String::new()));
    }
    let (ended, messages) = diagnostics::noting(&module, || llvm_passes::run_for_target(&module, pipeline));
    ended.map_err(pass)?;
    if let Some(error) = messages.errors.first() {
        return Err(llvm(name, error));
    }
    let mut warnings = String::new();
    for text in messages.warnings.iter().filter(|_| shows_warnings(args)) {
        // LLVM gives the place as well, if it knows it.
        let (place, text) = text.split_once(": ").unwrap_or((name, text));
        let place = if place.starts_with("<unknown>") { name } else { place };
        let _ = writeln!(warnings, "{place}: warning: {text} [{WARNING}]");
    }
    Ok((written(), warnings))
}

/// LLVM's name for the passes of a level.
fn pipeline(opt: OptLevel) -> Option<&'static str> {
    match opt {
        OptLevel::O0 => None,
        OptLevel::O1 => Some("default<O1>"),
        OptLevel::O2 => Some("default<O2>"),
        OptLevel::O3 => Some("default<O3>"),
        OptLevel::Os => Some("default<Os>"),
        OptLevel::Oz => Some("default<Oz>"),
    }
}

/// The options for LLVM's passes, which are not in bitcode.
pub(crate) fn of_passes(clang_args: &[String]) -> Vec<&String> {
    let mut result = Vec::new();
    let mut args = clang_args.iter();
    while let Some(a) = args.next() {
        if a == "-mllvm" {
            result.push(a);
            // In front of the value stands what was in front of the option.
            result.extend(args.find(|a| *a != "-Xclang"));
        } else if ["-R", "-funroll", "-fno-unroll"].iter().any(|start| a.starts_with(start)) {
            result.push(a);
        }
    }
    result
}

/// The options for warnings.
fn of_warnings(clang_args: &[String]) -> impl Iterator<Item = &String> {
    let others = ["-Wp,", "-Wa,", "-Wl,"];
    clang_args.iter().filter(move |a| *a == "-w" || a.starts_with("-W") && !others.iter().any(|start| a.starts_with(start)))
}

/// Whether clang would show [`WARNING`].
fn shows_warnings(clang_args: &[String]) -> bool {
    let groups = ["everything", "pass-failed", "pass-failed=transform-warning"];
    let switch = |a: &&String| {
        let group = a.trim_start_matches("-W").trim_start_matches("no-");
        a.starts_with("-W") && groups.contains(&group)
    };
    !clang_args.iter().any(|a| a == "-w") && of_warnings(clang_args).filter(switch).last().is_none_or(|a| !a.starts_with("-Wno-"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        text.split_whitespace().map(String::from).collect()
    }

    #[test]
    fn options_of_passes_are_found_among_others() {
        let of = |text: &str| of_passes(&words(text)).into_iter().cloned().collect::<Vec<_>>().join(" ");
        assert_eq!(of("-DN=3 -mllvm -a=1 -Wall -Rpass=.* -fno-unroll-loops -g"), "-mllvm -a=1 -Rpass=.* -fno-unroll-loops");
        assert_eq!(of("-Xclang -mllvm -Xclang -a=1 -Xclang -b"), "-mllvm -a=1");
        assert_eq!(of("-mllvm"), "-mllvm");
        let of = |text: &str| of_warnings(&words(text)).cloned().collect::<Vec<_>>().join(" ");
        assert_eq!(of("-w -Wall -Wp,-DN=4 -Werror -DW"), "-w -Wall -Werror");
    }

    #[test]
    fn warnings_are_switched_as_clangs() {
        for (text, shown) in [
            ("", true),
            ("-Wall", true),
            ("-w", false),
            ("-Wno-everything", false),
            ("-Wno-pass-failed", false),
            ("-Wno-pass-failed=transform-warning -Wpass-failed", true),
            ("-Wno-unused", true),
        ] {
            assert_eq!(shows_warnings(&words(text)), shown, "{text}");
        }
    }
}
