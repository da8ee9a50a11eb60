//! clang as a process: what it is told of the language and the device, and what comes back.
//!
//! clang 19 runs on OpenCL C sources and does the whole of its own optimisation pipeline with the vectorizers
//! off and the built-in library linked by `-mlink-builtin-bitcode` (lazy: about 50 ms a compilation,
//! measured). Its diagnostics go to the user as they are.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::error::io;
use crate::library::Library;
use crate::{BuildInvocation, Diagnostics, FrontendError, FrontendOptions, OptLevel, features};

/// The header `heddle.h`.
static HEADER: &str = include_str!("../../../builtins/heddle.h");

/// What `__OPENCL_VERSION__` says, whatever `-cl-std=` is: it is the device's version.
const DEVICE_VERSION: u32 = 300;

/// The language version used unless `-cl-std=` says otherwise.
const DEFAULT_STANDARD: &str = "CL3.0";

/// The target that clang compiles for, whose IR selection understands.
const TARGET: &str = "--target=nvptx64--";

/// LLVM's vectorizers are of no use to a machine that runs lanes.
const NO_VECTORS: [&str; 2] = ["-fno-vectorize", "-fno-slp-vectorize"];

/// The clang that compiles sources: `HEDDLE_CLANG`, or the one found when Heddle was built.
pub fn clang_path() -> PathBuf {
    std::env::var_os("HEDDLE_CLANG").map_or_else(|| PathBuf::from(env!("HEDDLE_CLANG_DEFAULT")), PathBuf::from)
}

/// Compiles one source to LLVM bitcode as clang leaves it: input for [`compile_to_module`], which goes on
/// from there.
///
/// # Errors
/// See [`FrontendError`].
pub fn compile_to_bitcode(input: &Path, options: &FrontendOptions) -> Result<Vec<u8>, FrontendError> {
    run_clang(input, options, false)
}

/// Compiles one source to LLVM bitcode; `checked`: for checking mode, in which Heddle has a pass before all
/// of clang's.
pub(crate) fn run_clang(input: &Path, options: &FrontendOptions, checked: bool) -> Result<Vec<u8>, FrontendError> {
    let folder = tempfile::tempdir().map_err(io("making a temporary folder"))?;
    let output = folder.path().join("kernel.bc");
    let mut command = Command::new(clang_path());
    language(&mut command, folder.path(), options).map_err(io("writing heddle.h"))?;
    command.args(["-emit-llvm", "-c"]);
    let library = Library::find()?;
    command.args(["-Xclang", "-mlink-builtin-bitcode", "-Xclang"]).arg(library.path());
    command.args(NO_VECTORS).arg("-fno-discard-value-names");
    // C99 gives inline functions no body of their own; a kernel needs one wherever clang does not inline.
    // (OpenCL C++ has bodies anyway.)
    if !options.clang_args.iter().any(|a| a.to_ascii_lowercase().contains("-std=clc++")) {
        command.arg("-fgnu89-inline");
    }
    // At -O0 clang would mark every function `optnone`; selection wants SSA values, so the rest runs in
    // process.
    if checked && options.opt != OptLevel::O0 {
        command.args(["-Xclang", "-disable-llvm-passes"]);
    }
    if options.opt == OptLevel::O0 {
        command.args(["-Xclang", "-disable-O0-optnone"]);
    }
    // Lines are needed for faults and diagnostics whatever the user asked for; a user's own -g comes later
    // and wins.
    command.arg("-gline-tables-only");
    command.args(&options.clang_args);
    command.arg(input).arg("-o").arg(&output);
    execute(&mut command, options, input.display().to_string())?;
    fs::read(&output).map_err(io("reading clang's output"))
}

/// Runs clang's optimisation pipeline on bitcode.
pub(crate) fn optimise(bitcode: &[u8], name: &str, options: &FrontendOptions) -> Result<Vec<u8>, FrontendError> {
    const WHAT: &str = "writing a temporary file";
    let folder = tempfile::tempdir().map_err(io(WHAT))?;
    let (input, output) = (folder.path().join("kept.bc"), folder.path().join("kernel.bc"));
    fs::write(&input, bitcode).map_err(io(WHAT))?;
    let mut command = Command::new(clang_path());
    command.args(["-x", "ir", TARGET, "-emit-llvm", "-c"]).args(NO_VECTORS);
    command.args(pipeline_args(&options.clang_args));
    command.arg(options.opt.flag()).arg(&input).arg("-o").arg(&output);
    execute(&mut command, options, name.to_string())?;
    fs::read(&output).map_err(io(WHAT))
}

/// The options for clang's passes, which are not in the module, and for their warnings.
fn pipeline_args(clang_args: &[String]) -> Vec<&String> {
    let mut result = Vec::new();
    let mut args = clang_args.iter();
    while let Some(a) = args.next() {
        if a == "-mllvm" {
            result.push(a);
            result.extend(args.next());
        } else if a == "-w" || ["-W", "-R", "-funroll", "-fno-unroll"].iter().any(|start| a.starts_with(start)) {
            result.push(a);
        }
    }
    result
}

/// Runs clang's preprocessor (`-E`, `-M`, `-MM`) or its checks alone (`-fsyntax-only`): the same language as
/// for [`compile_to_module`].
///
/// # Errors
/// See [`FrontendError`].
pub fn preprocess(line: &BuildInvocation) -> Result<(), FrontendError> {
    let options =
        FrontendOptions { clang_args: line.clang_args.clone(), opt: line.opt, verbose: line.verbose, ..Default::default() };
    let mut command = Command::new(clang_path());
    let folder = tempfile::tempdir().map_err(io("writing heddle.h"))?;
    language(&mut command, folder.path(), &options).map_err(io("writing heddle.h"))?;
    command.arg(if line.syntax_only { "-fsyntax-only" } else { "-E" }).args(&line.clang_args).args(&line.inputs);
    if let Some(o) = &line.output {
        command.arg("-o").arg(o);
    }
    execute(&mut command, &options, line.inputs.iter().map(|i| i.display().to_string()).collect::<Vec<_>>().join(", "))
}

/// Tells clang the language, the device and `heddle.h`, which is written to a temporary folder.
pub(crate) fn language(command: &mut Command, folder: &Path, options: &FrontendOptions) -> std::io::Result<()> {
    let include = folder.join("include");
    fs::create_dir(&include)?;
    fs::write(include.join("heddle.h"), HEADER)?;
    command.args(["-x", "cl", TARGET]);
    if !options.clang_args.iter().any(|a| a.starts_with("-cl-std=") || a.starts_with("-std=")) {
        command.arg(format!("-cl-std={DEFAULT_STANDARD}"));
    }
    command.args(["-Xclang", &features::extensions(false)]);
    // Functions that clang declares by macros, which older programs may define themselves.
    let older = |a: &String| a.contains("-std=CL1") || a.contains("-std=cl1");
    if !options.clang_args.iter().any(older) {
        command.args(features::definitions(false));
    }
    // What the device has; what clang defines for the target it borrows goes. A user's own definition is no
    // second one.
    let device = [("__OPENCL_VERSION__", DEVICE_VERSION), ("__IMAGE_SUPPORT__", 1)];
    let defined = |name: &str| options.clang_args.iter().any(|a| a.trim_start_matches("-D").split('=').next() == Some(name));
    command.args(device.iter().filter(|(name, _)| !defined(name)).map(|(name, value)| format!("-D{name}={value}")));
    command.args(["-U__NVPTX__", "-U__PTX__"]);
    command.arg("-isystem").arg(&include).arg(format!("-fdebug-prefix-map={}=heddle", include.display()));
    command.arg(options.opt.flag());
    Ok(())
}

/// Runs clang.
fn execute(command: &mut Command, options: &FrontendOptions, input: String) -> Result<(), FrontendError> {
    let keep = options.diagnostics == Diagnostics::Keep;
    let stderr = if keep { Stdio::piped() } else { Stdio::inherit() };
    command.stdin(Stdio::null()).stderr(stderr).stdout(Stdio::inherit());
    if options.verbose {
        let _gone = writeln!(std::io::stderr(), "{command:?}");
    }
    let run = command.spawn().and_then(std::process::Child::wait_with_output);
    let output = run.map_err(|error| FrontendError::NoClang { path: clang_path().display().to_string(), error })?;
    if output.status.success() {
        return Ok(());
    }
    let text = String::from_utf8_lossy(&output.stderr);
    let diagnostics = if keep { format!(":\n{}", text.trim_end()) } else { String::new() };
    Err(FrontendError::Clang { input, diagnostics })
}
