//! The front end: drives clang, links the built-in library and brings the module into the form that selection expects.
//!
//! clang 19 runs as a process on OpenCL C sources and does the whole of its own optimisation pipeline with the vectorizers off
//! and the built-in library linked by `-mlink-builtin-bitcode` (lazy: about 50 ms a compilation, measured). Several inputs are linked
//! in process; then every function is inlined into the kernels and loops are put into LCSSA form, which instruction selection
//! relies on (S4). clang's diagnostics go to the user as they are.
//!
//! May touch: clang, LLVM. Knows nothing of MIR or the machine.

pub mod args;

use std::ffi::OsStr;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use heddle_llvm_passes::Facts;
use heddle_llvm_passes::PassError;
use heddle_llvm_passes::ir::{Value, is_kernel};
use inkwell::attributes::{Attribute, AttributeLoc};
use inkwell::context::Context;
use inkwell::memory_buffer::MemoryBuffer;
use inkwell::module::{Linkage, Module};
use inkwell::values::FunctionValue;

pub use args::{BuildInvocation, OptLevel};

/// The trimmed built-in library (see `build.rs`).
static BUILTINS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/builtins.bc"));

/// The header `heddle.h`.
static HEADER: &str = include_str!("../../../builtins/heddle.h");

/// What `__OPENCL_VERSION__` says, whatever `-cl-std=` is: it is the device's version.
const DEVICE_VERSION: u32 = 300;

/// The language version used unless `-cl-std=` says otherwise.
const DEFAULT_STANDARD: &str = "CL3.0";

/// What can go wrong between the sources and an optimised module.
#[derive(Debug, thiserror::Error)]
pub enum FrontendError {
    /// clang could not be started.
    #[error("cannot run clang ({path}): {error}; install clang 19 or set HEDDLE_CLANG")]
    NoClang {
        /// The program tried.
        path: String,
        /// What the system said.
        error: std::io::Error,
    },
    /// clang reported errors.
    #[error("{input}: clang reported errors{diagnostics}")]
    Clang {
        /// The source.
        input: String,
        /// Its diagnostics behind a colon and a line break; empty if they have been shown.
        diagnostics: String,
    },
    /// An input cannot be read, or is of no known kind.
    #[error("{input}: {reason}")]
    Input {
        /// The file.
        input: String,
        /// Why.
        reason: String,
    },
    /// LLVM refused to parse, link or transform a module.
    #[error("{what}: {reason}")]
    Llvm {
        /// The file or step.
        what: String,
        /// LLVM's message.
        reason: String,
    },
    /// LLVM refused to parse a file; the message has the place.
    #[error("{0}")]
    Parse(String),
    /// The program does what Heddle cannot compile; the message has the places.
    #[error("{0}")]
    Unsupported(String),
    /// A file operation of our own failed.
    #[error("{what}: {error}")]
    Io {
        /// What was being done.
        what: String,
        /// What the system said.
        error: std::io::Error,
    },
}

/// How to compile.
#[derive(Clone, Debug, Default)]
pub struct FrontendOptions {
    /// Arguments passed to clang as they are: `-D -I -cl-* -g -W… -MD …`.
    pub clang_args: Vec<String>,
    /// Optimisation level.
    pub opt: OptLevel,
    /// Print the clang commands on standard error.
    pub verbose: bool,
    /// Where clang's diagnostics go.
    pub diagnostics: Diagnostics,
}

/// Where clang's diagnostics go.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Diagnostics {
    /// To standard error, as clang writes them.
    #[default]
    Show,
    /// Into the error, if there is one; warnings are dropped.
    Keep,
}

/// Compiles and links inputs (`.cl`, `.ll`, `.bc`; by extension, anything else is taken as OpenCL C) into one module in which
/// everything is inlined into the kernels and loops are in LCSSA form. `checked`: see [`heddle_llvm_passes::uninitialised`].
///
/// # Errors
/// See [`FrontendError`]; clang's own diagnostics have already been written to standard error.
pub fn compile_to_module<'ctx>(
    context: &'ctx Context,
    inputs: &[PathBuf],
    options: &FrontendOptions,
    checked: bool,
    facts: Facts,
) -> Result<Module<'ctx>, FrontendError> {
    let mut linked: Option<Module<'ctx>> = None;
    let mut defined: Vec<(String, &PathBuf)> = Vec::new();
    for input in inputs {
        let module = load(context, input, options, checked)?;
        for f in module.get_functions().filter(|f| f.count_basic_blocks() > 0 && f.get_linkage() == Linkage::External) {
            let name = f.get_name().to_string_lossy().into_owned();
            let first = linked.as_ref().and_then(|l| l.get_function(&name));
            if let Some((first, (_, earlier))) = first.zip(defined.iter().find(|(n, _)| *n == name)) {
                let of_one_header =
                    || Value::of(f).definition_place().is_some_and(|p| Value::of(first).definition_place() == Some(p));
                // Each source has its own of an inline function, which at -O0 nothing but its place tells.
                if is_inline(f) || !is_kernel(Value::of(f)) && of_one_header() {
                    f.set_linkage(Linkage::Internal);
                    continue;
                } else if is_inline(first) {
                    first.set_linkage(Linkage::Internal);
                } else {
                    let reason = format!("`{name}` is defined in {} already", earlier.display());
                    return Err(FrontendError::Input { input: input.display().to_string(), reason });
                }
            }
            defined.push((name, input));
        }
        linked = Some(match linked {
            None => module,
            Some(first) => {
                first
                    .link_in_module(module)
                    .map_err(|e| FrontendError::Llvm { what: format!("linking {}", input.display()), reason: e.to_string() })?;
                first
            }
        });
    }
    let module =
        linked.ok_or_else(|| FrontendError::Input { input: "no input".into(), reason: "give at least one source".into() })?;
    mark(&module)?;
    let module = if checked { optimise_checked(context, module, options)? } else { module };
    // For messages without a line.
    let all: Vec<String> = inputs.iter().map(|i| i.display().to_string()).collect();
    module.set_name(&all.join(", "));
    prepare(&module, options, facts)?;
    Ok(module)
}

/// Whether a function was declared `inline` (known where clang optimises).
fn is_inline(function: FunctionValue) -> bool {
    function.get_enum_attribute(AttributeLoc::Function, Attribute::get_named_enum_kind_id("inlinehint")).is_some()
}

fn llvm(what: &str, reason: &str) -> FrontendError {
    FrontendError::Llvm { what: what.into(), reason: reason.trim_end().into() }
}

fn load<'ctx>(
    context: &'ctx Context,
    input: &Path,
    options: &FrontendOptions,
    checked: bool,
) -> Result<Module<'ctx>, FrontendError> {
    let name = input.display().to_string();
    if !input.is_file() {
        return Err(FrontendError::Input { input: name, reason: "no such file".into() });
    }
    let bitcode = match input.extension().and_then(OsStr::to_str) {
        Some("ll" | "bc") => MemoryBuffer::create_from_file(input).map_err(|e| llvm(&name, &e.to_string()))?,
        _ => {
            let output = run_clang(input, options, checked)?;
            MemoryBuffer::create_from_memory_range_copy(&output, &name)
        }
    };
    let module = context.create_module_from_ir(bitcode).map_err(|e| {
        let text = e.to_string();
        if text.starts_with(&format!("{name}:")) { FrontendError::Parse(text.trim_end().into()) } else { llvm(&name, &text) }
    })?;
    // What clang wrote is valid; what a user wrote may parse without being so.
    module.verify().map_err(|e| llvm(&name, &e.to_string()))?;
    Ok(module)
}

/// The clang that compiles sources: `HEDDLE_CLANG`, or the one found when Heddle was built.
pub fn clang_path() -> PathBuf {
    std::env::var_os("HEDDLE_CLANG").map_or_else(|| PathBuf::from(env!("HEDDLE_CLANG_DEFAULT")), PathBuf::from)
}

/// Compiles one source to LLVM bitcode as clang leaves it: input for [`compile_to_module`], which goes on from there.
///
/// # Errors
/// See [`FrontendError`].
pub fn compile_to_bitcode(input: &Path, options: &FrontendOptions) -> Result<Vec<u8>, FrontendError> {
    run_clang(input, options, false)
}

fn run_clang(input: &Path, options: &FrontendOptions, checked: bool) -> Result<Vec<u8>, FrontendError> {
    let io = |what: &str| {
        let what = what.to_string();
        move |error| FrontendError::Io { what, error }
    };
    let folder = tempfile::tempdir().map_err(io("making a temporary folder"))?;
    let output = folder.path().join("kernel.bc");
    let mut command = Command::new(clang_path());
    language(&mut command, folder.path(), options).map_err(io("writing heddle.h"))?;
    command.args(["-emit-llvm", "-c"]);
    let library = builtin_library()?;
    command.args(["-Xclang", "-mlink-builtin-bitcode", "-Xclang"]).arg(library.path());
    command.args(["-fno-vectorize", "-fno-slp-vectorize", "-fno-discard-value-names"]);
    // C99 gives inline functions no body of their own; a kernel needs one wherever clang does not inline. (OpenCL C++ has bodies anyway.)
    if !options.clang_args.iter().any(|a| a.to_ascii_lowercase().contains("-std=clc++")) {
        command.arg("-fgnu89-inline");
    }
    // At -O0 clang would mark every function `optnone`; selection wants SSA values, so the rest runs in process.
    if checked && options.opt != OptLevel::O0 {
        command.args(["-Xclang", "-disable-llvm-passes"]);
    }
    if options.opt == OptLevel::O0 {
        command.args(["-Xclang", "-disable-O0-optnone"]);
    }
    // Lines are needed for faults and diagnostics whatever the user asked for; a user's own -g comes later and wins.
    command.arg("-gline-tables-only");
    command.args(&options.clang_args);
    command.arg(input).arg("-o").arg(&output);
    execute(&mut command, options, input.display().to_string())?;
    fs::read(&output).map_err(io("reading clang's output"))
}

/// Runs clang's preprocessor (`-E`, `-M`, `-MM`) or its checks alone (`-fsyntax-only`): the same language as for [`compile_to_module`].
///
/// # Errors
/// See [`FrontendError`].
pub fn preprocess(line: &BuildInvocation) -> Result<(), FrontendError> {
    let folder = tempfile::tempdir();
    let options =
        FrontendOptions { clang_args: line.clang_args.clone(), opt: line.opt, verbose: line.verbose, ..Default::default() };
    let mut command = Command::new(clang_path());
    let io = |error| FrontendError::Io { what: "writing heddle.h".into(), error };
    let folder = folder.map_err(io)?;
    language(&mut command, folder.path(), &options).map_err(io)?;
    command.arg(if line.syntax_only { "-fsyntax-only" } else { "-E" }).args(&line.clang_args).args(&line.inputs);
    if let Some(o) = &line.output {
        command.arg("-o").arg(o);
    }
    execute(&mut command, &options, line.inputs.iter().map(|i| i.display().to_string()).collect::<Vec<_>>().join(", "))
}

/// Tells clang the language, the device and `heddle.h`, which is written to a temporary folder.
fn language(command: &mut Command, folder: &Path, options: &FrontendOptions) -> std::io::Result<()> {
    let include = folder.join("include");
    fs::create_dir(&include)?;
    fs::write(include.join("heddle.h"), HEADER)?;
    command.args(["-x", "cl", "--target=nvptx64--"]);
    if !options.clang_args.iter().any(|a| a.starts_with("-cl-std=") || a.starts_with("-std=")) {
        command.arg(format!("-cl-std={DEFAULT_STANDARD}"));
    }
    command.args([
        "-Xclang",
        "-cl-ext=+cl_khr_fp16,+cl_khr_fp64,+__opencl_c_fp64,+cl_khr_int64_base_atomics,+cl_khr_int64_extended_atomics,+__opencl_c_images,+__opencl_c_read_write_images,+cl_khr_3d_image_writes,+__opencl_c_3d_image_writes,+__opencl_c_program_scope_global_variables,+__opencl_c_generic_address_space,+__opencl_c_subgroups,+cl_khr_subgroups",
    ]);
    // Features whose functions `builtins/heddle.cl` has; clang declares them by these macros.
    let older = |a: &String| a.contains("-std=CL1") || a.contains("-std=cl1");
    if !options.clang_args.iter().any(older) {
        let features = ["atomic_order_acq_rel", "atomic_order_seq_cst", "atomic_scope_device", "work_group_collective_functions"];
        command.args(features.map(|f| format!("-D__opencl_c_{f}=1")));
        let extensions = [
            "extended_types",
            "shuffle",
            "shuffle_relative",
            "rotate",
            "ballot",
            "non_uniform_vote",
            "non_uniform_arithmetic",
            "clustered_reduce",
        ];
        command.args(extensions.map(|e| format!("-Dcl_khr_subgroup_{e}=1")));
    }
    // What the device has; what clang defines for the target it borrows goes. A user's own definition is no second one.
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

/// A file with the built-in library.
enum Library {
    /// In the user's cache folder, shared by all runs of this build.
    Cached(PathBuf),
    /// A temporary file, removed with this value: there is no cache folder that can be written.
    Own(tempfile::TempPath),
}

impl Library {
    fn path(&self) -> &Path {
        match self {
            Library::Cached(path) => path,
            Library::Own(path) => path,
        }
    }
}

/// Finds the built-in library in the user's cache, or writes it there. Its name has a hash of its contents, and it appears whole or not at all.
fn builtin_library() -> Result<Library, FrontendError> {
    let home = || Some(PathBuf::from(std::env::var_os("HOME").filter(|h| !h.is_empty())?).join(".cache"));
    let cache = std::env::var_os("XDG_CACHE_HOME").filter(|c| !c.is_empty()).map(PathBuf::from).or_else(home);
    if let Some(folder) = cache.map(|c| c.join("heddle")) {
        let path = folder.join(concat!("builtins-", env!("HEDDLE_BUILTINS_HASH"), ".bc"));
        let whole = |p: &Path| fs::metadata(p).is_ok_and(|m| m.is_file() && m.len() == BUILTINS.len() as u64);
        let write = || -> std::io::Result<()> {
            fs::create_dir_all(&folder)?;
            let mut file = tempfile::NamedTempFile::new_in(&folder)?;
            file.write_all(BUILTINS)?;
            file.persist(&path).map_err(|e| e.error)?;
            Ok(())
        };
        if whole(&path) || write().is_ok() {
            return Ok(Library::Cached(path));
        }
    }
    let write = || -> std::io::Result<tempfile::TempPath> {
        let mut file = tempfile::Builder::new().prefix("heddle-builtins-").suffix(".bc").tempfile()?;
        file.write_all(BUILTINS)?;
        Ok(file.into_temp_path())
    };
    write().map(Library::Own).map_err(|error| FrontendError::Io { what: "writing the built-in library".into(), error })
}

/// Marks everything but kernels to be inlined.
fn mark(module: &Module) -> Result<(), FrontendError> {
    let context = module.get_context();
    let always = context.create_enum_attribute(Attribute::get_named_enum_kind_id("alwaysinline"), 0);
    let drop: Vec<u32> = ["noinline", "optnone"].iter().map(|n| Attribute::get_named_enum_kind_id(n)).collect();
    let mut any_kernel = false;
    for function in module.get_functions() {
        if function.count_basic_blocks() == 0 {
            continue;
        }
        for kind in &drop {
            function.remove_enum_attribute(AttributeLoc::Function, *kind);
        }
        if is_kernel(Value::of(function)) {
            any_kernel = true;
            // A kernel that other kernels call is a function there.
            if Value::of(function).users().any(|u| u.is_instruction()) {
                function.add_attribute(AttributeLoc::Function, always);
            }
        } else {
            function.add_attribute(AttributeLoc::Function, always);
            function.set_linkage(Linkage::Internal);
        }
    }
    if !any_kernel {
        let what = module.get_name().to_string_lossy().into_owned();
        return Err(FrontendError::Input { input: what, reason: "no kernel function (mark one with __kernel)".into() });
    }
    Ok(())
}

/// Optimises a module of which clang has run no pass yet, for checking mode: what LLVM would remove as undefined is kept first, then clang runs
/// its pipeline.
fn optimise_checked<'ctx>(
    context: &'ctx Context,
    module: Module<'ctx>,
    options: &FrontendOptions,
) -> Result<Module<'ctx>, FrontendError> {
    heddle_llvm_passes::uninitialised::keep(&module)
        .map_err(|e| FrontendError::Llvm { what: "preparing the module".into(), reason: e.to_string() })?;
    if options.opt == OptLevel::O0 {
        return Ok(module);
    }
    let io = |error| FrontendError::Io { what: "writing a temporary file".into(), error };
    let folder = tempfile::tempdir().map_err(io)?;
    let input = folder.path().join("kept.bc");
    let bitcode = module.write_bitcode_to_memory();
    fs::write(&input, bitcode.as_slice()).map_err(io)?;
    let output = folder.path().join("kernel.bc");
    let clang = clang_path();
    let mut command = Command::new(&clang);
    command.args(["-x", "ir", "--target=nvptx64--", "-emit-llvm", "-c", "-fno-vectorize", "-fno-slp-vectorize"]);
    command.args(pipeline_args(&options.clang_args));
    command.arg(options.opt.flag()).arg(&input).arg("-o").arg(&output);
    let name = module.get_name().to_string_lossy().into_owned();
    execute(&mut command, options, name.clone())?;
    let bytes = fs::read(&output).map_err(io)?;
    let bitcode = MemoryBuffer::create_from_memory_range_copy(&bytes, &name);
    context.create_module_from_ir(bitcode).map_err(|e| llvm(&name, &e.to_string()))
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

/// Inlines everything into the kernels, drops what nothing uses and puts loops into LCSSA form.
fn prepare(module: &Module, options: &FrontendOptions, facts: Facts) -> Result<(), FrontendError> {
    heddle_llvm_passes::prepare::prepare(module, facts, options.opt == OptLevel::O0).map_err(|e| match e {
        PassError::Printf(_) => FrontendError::Unsupported(e.to_string()),
        e => FrontendError::Llvm { what: "preparing the module".into(), reason: e.to_string() },
    })
}
