//! clang as a process: what it is told of the language and the device, and what comes back.
//!
//! clang 19 compiles OpenCL C sources to bitcode, without passes and with the built-in library linked by
//! `-mlink-builtin-bitcode`. Its diagnostics go to the user as they are. On bitcode it runs its optimisation pipeline, where that
//! does not run in process (`passes.rs`).
//!
//! A small kernel takes 22 ms of processor time, of which clang needs 18 to start, if it needs nothing of the
//! library; 36 with the smaller part of it, 52 with all of it.

use std::ffi::OsStr;
use std::fs;
use std::io::{Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

use heddle_llvm_passes::unroll;

use crate::error::io;
use crate::language::{self, Language};
use crate::library::{Library, Part};
use crate::options::Stop;
use crate::{BuildInvocation, Diagnostics, FrontendError, FrontendOptions, OptLevel, features};

/// The header `heddle.h`.
static HEADER: &str = include_str!("../../../builtins/heddle.h");

/// What `__OPENCL_VERSION__` says, whatever `-cl-std=` is: it is the device's version.
const DEVICE_VERSION: &str = "300";

/// Aligned loads and stores of one half, which are plain ones. OpenCL C 1.1 has them, later ones do not and neither does clang, but
/// programs call them, since drivers went on to know them (<https://github.com/KhronosGroup/OpenCL-Docs/issues/648>). Arguments
/// in parentheses make a program's own definition an error, instead of one of the plain function that calls itself.
const ONE_ALIGNED_HALF: &[(&str, &str)] = &[
    ("vloada_half(i,p)", "vload_half((i),(p))"),
    ("vstorea_half(v,i,p)", "vstore_half((v),(i),(p))"),
    ("vstorea_half_rte(v,i,p)", "vstore_half_rte((v),(i),(p))"),
    ("vstorea_half_rtz(v,i,p)", "vstore_half_rtz((v),(i),(p))"),
    ("vstorea_half_rtp(v,i,p)", "vstore_half_rtp((v),(i),(p))"),
    ("vstorea_half_rtn(v,i,p)", "vstore_half_rtn((v),(i),(p))"),
];

/// The language version used unless `-cl-std=` says otherwise.
const DEFAULT_STANDARD: &str = "CL3.0";

/// The same for C++ for OpenCL.
const DEFAULT_CPP_STANDARD: &str = "CLC++2021";

/// The target that clang compiles for, whose IR selection understands.
const TARGET: &str = "--target=nvptx64--";

/// LLVM's vectorizers are of no use to a machine that runs lanes.
const NO_VECTORS: [&str; 2] = ["-fno-vectorize", "-fno-slp-vectorize"];

/// The clang that compiles sources: `HEDDLE_CLANG`, or the one found when Heddle was built.
pub fn clang_path() -> PathBuf {
    std::env::var_os("HEDDLE_CLANG").map_or_else(|| PathBuf::from(env!("HEDDLE_CLANG_DEFAULT")), PathBuf::from)
}

/// The part of the library that a program is compiled with first.
pub(crate) fn part_for(text: &[u8], headers: &[(&str, &[u8])], language: Language, options: &FrontendOptions) -> Part {
    // Their functions have other names.
    if language.is_cuda_like() {
        return Part::WHOLE;
    }
    // What files have that are not here is not known.
    let included = |text: &[u8]| -> bool {
        let lines = text.split(|b| *b == b'\n').map(|l| String::from_utf8_lossy(l.trim_ascii_start()));
        let targets = lines.filter_map(|l| Some(l.strip_prefix('#')?.trim_start().strip_prefix("include")?.trim().to_string()));
        let known = |target: String| headers.iter().any(|(name, _)| target.trim_matches(['<', '>', '"']).ends_with(name));
        targets.map(known).any(|known| !known)
    };
    let unknown = options.clang_args.iter().any(|a| a.starts_with("-i")) || headers.iter().any(|(_, text)| included(text));
    if unknown || included(text) {
        return Part::WHOLE;
    }
    let texts = headers.iter().map(|(_, text)| *text).chain([text]);
    texts.chain(options.clang_args.iter().map(|a| a.as_bytes())).map(Part::for_text).fold(Part::NOTHING, Part::and)
}

/// Compiles with a part of the library, and again with all of it if that was too little.
pub(crate) fn with_library(
    part: Part,
    mut compile: impl FnMut(&[Library], bool) -> Result<Vec<u8>, FrontendError>,
) -> Result<Vec<u8>, FrontendError> {
    let bitcode = compile(&Library::find(part)?, false)?;
    if part.suffices(&bitcode) {
        return Ok(bitcode);
    }
    compile(&Library::find(Part::WHOLE)?, true)
}

/// Tells clang how to compile to bitcode, on which no pass has run; `header`: the folder with `heddle.h`. The user's arguments
/// are not among what it adds: they come behind.
pub(crate) fn compilation(
    command: &mut Command,
    header: &Path,
    libraries: &[Library],
    language: Language,
    options: &FrontendOptions,
) {
    add_language_arguments(command, header, language, options);
    command.args(["-emit-llvm", "-c"]);
    for library in libraries {
        command.args(["-Xclang", "-mlink-builtin-bitcode", "-Xclang"]).arg(library.path());
    }
    command.args(NO_VECTORS).args(unroll::CLANG).arg("-fno-discard-value-names");
    let cuda_like = language.is_cuda_like();
    // C99 gives inline functions no body of their own; a kernel needs one wherever clang does not inline.
    // (OpenCL C++ has bodies anyway.)
    let is_cpp =
        language != Language::OpenClC || options.clang_args.iter().any(|a| a.to_ascii_lowercase().contains("-std=clc++"));
    if !is_cpp {
        command.arg("-fgnu89-inline");
    }
    // At -O0 clang would mark every function `optnone`; selection wants SSA values, so the rest runs in
    // process.
    // Passes are to see uses in the order in which clang made them, on which what they do first depends.
    command.args(["-Xclang", "-disable-llvm-passes", "-Xclang", "-emit-llvm-uselists"]);
    if options.opt == OptLevel::O0 {
        command.args(["-Xclang", "-disable-O0-optnone"]);
    }
    // Lines are needed for faults and diagnostics whatever the user asked for; a user's own -g comes later
    // and wins. Names of arguments are needed by hosts that ask for them.
    command.arg("-gline-tables-only");
    if options.clang_args.iter().any(|a| a.starts_with("-g")) {
        // Which of a variable's assignments are in memory selection does not follow; without it, those that stay in
        // memory are declared to be there.
        command.args(["-Xclang", "-fexperimental-assignment-tracking=disabled"]);
    }
    if !cuda_like {
        command.arg("-cl-kernel-arg-info");
    }
}

/// Runs clang's optimisation pipeline on bitcode, with these options for it.
pub(crate) fn optimise(
    bitcode: &[u8],
    name: &str,
    args: &[&String],
    options: &FrontendOptions,
) -> Result<Vec<u8>, FrontendError> {
    let words: Vec<&OsStr> = args.iter().map(OsStr::new).collect();
    compile_ir(bitcode, name, options, &words)
}

/// Links bitcode with what it calls of a part of the built-in library, and runs no pass.
pub(crate) fn link_library(bitcode: &[u8], name: &str, part: Part, options: &FrontendOptions) -> Result<Vec<u8>, FrontendError> {
    let libraries = Library::find(part)?;
    if libraries.is_empty() {
        return Ok(bitcode.to_vec());
    }
    let mut words = ["-Xclang", "-disable-llvm-passes"].map(OsStr::new).to_vec();
    for library in &libraries {
        words.extend(["-Xclang", "-mlink-builtin-bitcode", "-Xclang"].map(OsStr::new));
        words.push(library.path().as_os_str());
    }
    compile_ir(bitcode, name, options, &words)
}

/// Runs clang on bitcode.
fn compile_ir(bitcode: &[u8], name: &str, options: &FrontendOptions, more: &[&OsStr]) -> Result<Vec<u8>, FrontendError> {
    const WHAT: &str = "writing a temporary file";
    let folder = tempfile::tempdir().map_err(io(WHAT))?;
    let (input, output) = (folder.path().join("kept.bc"), folder.path().join("kernel.bc"));
    fs::write(&input, bitcode).map_err(io(WHAT))?;
    let mut command = Command::new(clang_path());
    // The level comes first: it would switch the vectorizers on again.
    command
        .args(["-x", "ir", TARGET, "-emit-llvm", "-c"])
        .arg(options.opt.flag())
        .args(NO_VECTORS)
        .args(unroll::CLANG)
        .args(more);
    // What others compiled names its target in another way.
    command.arg("-Wno-override-module");
    command.arg(&input).arg("-o").arg(&output);
    execute(&mut command, options, name.to_string(), &output)?;
    fs::read(&output).map_err(io(WHAT))
}

/// Runs clang's preprocessor (`-E`, `-M`, `-MM`) or its checks alone (`-fsyntax-only`): the same language as
/// for [`compile_to_module`].
///
/// # Errors
/// See [`FrontendError`].
pub fn preprocess(line: &BuildInvocation) -> Result<(), FrontendError> {
    let options =
        FrontendOptions { clang_args: line.clang_args.clone(), opt: line.opt, verbose: line.verbose, ..Default::default() };
    if let Some(input) = line.inputs.iter().find(|i| Language::of(i).is_spirv()) {
        let reason = "SPIR-V has no preprocessor, and clang does not check it".to_string();
        return Err(FrontendError::Input { input: input.display().to_string(), reason });
    }
    let mut command = Command::new(clang_path());
    let folder = tempfile::tempdir().map_err(io("writing heddle.h"))?;
    let header = write_header(folder.path())?;
    let language = line.inputs.first().map_or(Language::OpenClC, |i| Language::of(i));
    add_language_arguments(&mut command, &header, language, &options);
    let texts = line.inputs.iter().filter_map(|input| fs::read(input).ok());
    command.args(texts.filter_map(|text| language::host_definition(language, &text)).take(1));
    command.arg(if line.syntax_only { "-fsyntax-only" } else { "-E" }).args(&line.clang_args).args(&line.inputs);
    if let Some(o) = &line.output {
        command.arg("-o").arg(o);
    }
    let inputs = line.inputs.iter().map(|i| i.display().to_string()).collect::<Vec<_>>().join(", ");
    // Where the host program does not let clang's status be seen, its messages are all there is.
    execute(&mut command, &options, inputs, folder.path())
}

/// Writes our headers to a folder in this one.
pub(crate) fn write_header(folder: &Path) -> Result<PathBuf, FrontendError> {
    let include = folder.join("include");
    let written = fs::create_dir_all(&include).and_then(|()| fs::write(include.join("heddle.h"), HEADER));
    written.map_err(io("writing heddle.h"))?;
    language::write_headers(&include)?;
    Ok(include)
}

/// Tells clang the language, the device and our headers, which are in the folder `header`.
pub(crate) fn add_language_arguments(command: &mut Command, header: &Path, language: Language, options: &FrontendOptions) {
    if language.is_cuda_like() {
        return language::add_arguments(command, language, header, options);
    }
    command.args(["-x", "cl", TARGET]);
    if !options.clang_args.iter().any(|a| a.starts_with("-cl-std=") || a.starts_with("-std=")) {
        let standard = if language == Language::OpenClCpp { DEFAULT_CPP_STANDARD } else { DEFAULT_STANDARD };
        command.arg(format!("-cl-std={standard}"));
    }
    command.args(["-Xclang", &features::extensions(false)]);
    // Functions that clang declares by macros, which older programs may define themselves.
    let older = |a: &String| a.contains("-std=CL1") || a.contains("-std=cl1");
    if !options.clang_args.iter().any(older) {
        command.args(features::definitions(false));
    }
    // What the device has; what clang defines for the target it borrows goes. A user's own definition is no
    // second one.
    let device = [("__OPENCL_VERSION__", DEVICE_VERSION), ("__IMAGE_SUPPORT__", "1")];
    let word = |text: &str| text.split(['=', '(']).next().unwrap_or_default().to_string();
    let defined = |name: &str| options.clang_args.iter().any(|a| word(a.trim_start_matches("-D")) == word(name));
    let definitions = device.iter().chain(ONE_ALIGNED_HALF).filter(|(name, _)| !defined(name));
    command.args(definitions.map(|(name, value)| format!("-D{name}={value}")));
    command.args(["-U__NVPTX__", "-U__PTX__"]);
    command.arg("-isystem").arg(header).arg(format!("-fdebug-prefix-map={}=heddle", header.display()));
    command.arg(options.opt.flag());
}

/// Runs clang, which writes `output`.
pub(crate) fn execute(
    command: &mut Command,
    options: &FrontendOptions,
    input: String,
    output: &Path,
) -> Result<(), FrontendError> {
    let keep = options.diagnostics == Diagnostics::Keep;
    command.stdout(Stdio::inherit());
    let (ended, text) = run(command, options, keep)?;
    if ended.well(output) {
        return Ok(());
    }
    let diagnostics = if keep { format!(":\n{}", text.trim_end()) } else { String::new() };
    Err(FrontendError::Clang { input, diagnostics })
}

/// How clang ended.
pub(crate) enum Ended {
    /// With this status.
    With(ExitStatus),
    /// Nobody knows: the process that Heddle is part of ignores SIGCHLD, or waits for all children itself.
    Unseen,
}

impl Ended {
    /// Whether clang did what it was to do. It makes its output's name only when the contents are whole.
    pub fn well(&self, output: &Path) -> bool {
        match self {
            Ended::With(status) => status.success(),
            Ended::Unseen => output.exists(),
        }
    }

    /// Whether clang itself failed, rather than found errors.
    pub fn crashed(&self) -> bool {
        matches!(self, Ended::With(status) if !matches!(status.code(), Some(0 | 1)))
    }
}

/// Runs clang to its end; `keep`: with its messages, which are else shown as it writes them.
pub(crate) fn run(command: &mut Command, options: &FrontendOptions, keep: bool) -> Result<(Ended, String), FrontendError> {
    let no_clang = |error| FrontendError::NoClang { path: clang_path().display().to_string(), error };
    run_program(command, options, keep, no_clang)
}

/// The same for another program; `missing` is the error if it cannot be run.
pub(crate) fn run_program(
    command: &mut Command,
    options: &FrontendOptions,
    keep: bool,
    missing: impl Fn(std::io::Error) -> FrontendError,
) -> Result<(Ended, String), FrontendError> {
    // A file rather than a pipe: nobody has to read it meanwhile, and where the host program has closed its
    // standard streams, a pipe's ends would take their numbers.
    let mut messages = if keep { Some(tempfile::tempfile().map_err(io("making a temporary file"))?) } else { None };
    let stderr = match &messages {
        Some(file) => Stdio::from(file.try_clone().map_err(io("making a temporary file"))?),
        None => Stdio::inherit(),
    };
    command.stdin(Stdio::null()).stderr(stderr);
    if options.verbose {
        let _gone = writeln!(std::io::stderr(), "{command:?}");
    }
    let mut child = command.spawn().map_err(&missing)?;
    let status = match &options.stop {
        Some(stop) => wait_or_stop(&mut child, stop)?,
        None => child.wait(),
    };
    let ended = match status {
        Ok(status) => Ended::With(status),
        Err(e) if e.raw_os_error() == Some(NO_CHILD) => Ended::Unseen,
        Err(e) => return Err(missing(e)),
    };
    let mut text = Vec::new();
    if let Some(file) = &mut messages {
        file.rewind().and_then(|()| file.read_to_end(&mut text)).map_err(io("reading clang's messages"))?;
    }
    Ok((ended, String::from_utf8_lossy(&text).into_owned()))
}

/// How often a clang that may be stopped is looked at. It takes 20 ms to start.
const LOOK_EVERY: Duration = Duration::from_millis(1);

/// Waits for clang, or ends it.
fn wait_or_stop(child: &mut Child, stop: &Stop) -> Result<std::io::Result<ExitStatus>, FrontendError> {
    loop {
        match child.try_wait() {
            Ok(None) if stop.requested() => {
                // One that has ended meanwhile cannot be killed, and need not be.
                let _ended = child.kill();
                let _status = child.wait();
                return Err(FrontendError::Interrupted);
            }
            Ok(None) => std::thread::sleep(LOOK_EVERY),
            Ok(Some(status)) => return Ok(Ok(status)),
            Err(e) => return Ok(Err(e)),
        }
    }
}

/// `ECHILD`, on all systems that Heddle runs on.
const NO_CHILD: i32 = 10;
