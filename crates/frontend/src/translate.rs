//! From SPIR-V to bitcode of SPIR: the programs that do it, where they are, and what they say. What becomes of the bitcode is
//! the same as for bitcode that clang makes for `spir64`.
//!
//! The translator is Khronos' `llvm-spirv`, whose bitcode LLVM 19 reads if it is of LLVM 19 or older. Text is assembled by
//! `spirv-as` of SPIRV-Tools, which also say what is wrong with a binary that the translator fails on (`spirv-val`).

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::clang::{self, Ended};
use crate::error::io;
use crate::older_spirv::without_new_instructions;
use crate::spirv::Binary;
use crate::{FrontendError, FrontendOptions, Language};

/// How to get the translator.
const TRANSLATOR_HINT: &str = "install it (Debian: apt-get install llvm-spirv-15; Ubuntu: llvm-spirv-19 or an older one; \
     Fedora: dnf install spirv-llvm-translator-tools; Arch: pacman -S spirv-llvm-translator; macOS: brew install \
     spirv-llvm-translator), or let HEDDLE_LLVM_SPIRV name it; it must be of LLVM 19 or older";

/// How to get the assembler.
const ASSEMBLER_HINT: &str = "install SPIRV-Tools (Debian, Ubuntu: apt-get install spirv-tools; Fedora: dnf install \
     spirv-tools; Arch: pacman -S spirv-tools; macOS: brew install spirv-tools), or let HEDDLE_SPIRV_AS name it";

/// Names of the translator, the newest that fits first.
const TRANSLATORS: [&str; 6] =
    ["llvm-spirv-19", "llvm-spirv-18", "llvm-spirv-17", "llvm-spirv-16", "llvm-spirv-15", "llvm-spirv"];

/// The version of SPIR-V that text is assembled for unless its head says another: that of OpenCL 2.2.
const DEFAULT_VERSION: &str = "1.2";

/// A program of one of these names, from the environment or the search path.
fn find(variable: &str, names: &[&str]) -> Option<PathBuf> {
    if let Some(given) = std::env::var_os(variable).filter(|v| !v.is_empty()) {
        return Some(PathBuf::from(given));
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders: Vec<PathBuf> =
        std::env::split_paths(&path).chain(["/opt/homebrew/bin".into(), "/usr/local/bin".into()]).collect();
    names.iter().flat_map(|name| folders.iter().map(move |f| f.join(name))).find(|p| p.is_file())
}

/// The translator, `llvm-spirv`: `HEDDLE_LLVM_SPIRV`, or the one found.
pub fn translator() -> Option<PathBuf> {
    find("HEDDLE_LLVM_SPIRV", &TRANSLATORS)
}

/// The assembler, `spirv-as`: `HEDDLE_SPIRV_AS`, or the one found.
pub fn assembler() -> Option<PathBuf> {
    find("HEDDLE_SPIRV_AS", &["spirv-as"])
}

/// What a program said when it failed.
enum Failed {
    /// It says what is wrong with its input.
    Refused(String),
    /// It did not come to its end.
    Crashed(String),
}

/// Runs a program, which writes `output`.
fn run(
    program: &Path,
    arguments: &[OsString],
    output: &Path,
    options: &FrontendOptions,
    hint: &str,
) -> Result<Result<(), Failed>, FrontendError> {
    let missing =
        |error: std::io::Error| FrontendError::NoTool { message: format!("cannot run {}: {error}; {hint}", program.display()) };
    let mut command = Command::new(program);
    command.args(arguments).stdout(Stdio::null());
    // They are for the host's programs.
    ["LD_PRELOAD", "DYLD_INSERT_LIBRARIES"].iter().for_each(|name| _ = command.env_remove(name));
    let (ended, text) = clang::run_program(&mut command, options, true, missing)?;
    if ended.well(output) {
        return Ok(Ok(()));
    }
    // What LLVM says of its own stack concerns nobody.
    let lines = text.lines().take_while(|l| !l.starts_with("PLEASE submit") && !l.starts_with("Stack dump"));
    let text = lines.map(str::trim_end).collect::<Vec<_>>().join("\n").trim().to_string();
    Ok(Err(match ended {
        Ended::With(status) if status.code().is_none_or(|c| c > 127) || text.is_empty() => Failed::Crashed(text),
        _ => Failed::Refused(text),
    }))
}

/// Reads SPIR-V, of which text is assembled first. Its specialisation constants have their defaults.
///
/// # Errors
/// [`FrontendError::Input`] and [`FrontendError::Parse`] for what is no SPIR-V, [`FrontendError::NoTool`] if the assembler
/// is missing.
pub(crate) fn binary(name: &str, bytes: &[u8], language: Language, options: &FrontendOptions) -> Result<Binary, FrontendError> {
    let assembled = if language == Language::SpirVText { Some(assemble(name, bytes, options)?) } else { None };
    let wrong = |reason: String| FrontendError::Input { input: name.into(), reason };
    Binary::read(assembled.as_deref().unwrap_or(bytes)).map_err(wrong)
}

/// Makes a binary of SPIR-V's text.
fn assemble(name: &str, text: &[u8], options: &FrontendOptions) -> Result<Vec<u8>, FrontendError> {
    const WHAT: &str = "assembling SPIR-V";
    let Some(program) = assembler() else {
        return Err(FrontendError::NoTool { message: format!("{name}: the text of SPIR-V needs spirv-as; {ASSEMBLER_HINT}") });
    };
    let folder = tempfile::tempdir().map_err(io(WHAT))?;
    let (input, output) = (folder.path().join("kernel.spvasm"), folder.path().join("kernel.spv"));
    fs::write(&input, text).map_err(io(WHAT))?;
    let head = String::from_utf8_lossy(&text[..text.len().min(1000)]).into_owned();
    let said = head.lines().find_map(|l| l.strip_prefix("; Version: ")).map_or(DEFAULT_VERSION, str::trim);
    let version = if ["1.0", "1.1", "1.2", "1.3", "1.4", "1.5", "1.6"].contains(&said) { said } else { DEFAULT_VERSION };
    let arguments = ["--target-env".into(), format!("spv{version}").into(), "-o".into(), output.clone().into(), input.into()];
    match run(&program, &arguments, &output, options, ASSEMBLER_HINT)? {
        Ok(()) => fs::read(&output).map_err(io(WHAT)),
        Err(Failed::Refused(text) | Failed::Crashed(text)) => {
            Err(FrontendError::Parse(text.lines().map(|l| placed(name, l)).collect::<Vec<_>>().join("\n")))
        }
    }
}

/// A message of the assembler, `error: 2: 1: what`, as others are: `name:2:1: error: what`.
fn placed(name: &str, line: &str) -> String {
    let parts: Vec<&str> = line.splitn(4, ": ").collect();
    match parts[..] {
        [kind, row, column, what] if row.parse::<u32>().is_ok() => format!("{name}:{row}:{column}: {kind}: {what}"),
        _ => format!("{name}: {line}"),
    }
}

/// Makes LLVM's bitcode of a binary.
///
/// # Errors
/// [`FrontendError::Input`] for what cannot be translated, [`FrontendError::NoTool`] if the translator is missing.
pub(crate) fn to_bitcode(name: &str, binary: &Binary, options: &FrontendOptions) -> Result<Vec<u8>, FrontendError> {
    const WHAT: &str = "translating SPIR-V";
    let Some(program) = translator() else {
        return Err(FrontendError::NoTool {
            message: format!("{name}: SPIR-V needs Khronos' translator llvm-spirv; {TRANSLATOR_HINT}"),
        });
    };
    let folder = tempfile::tempdir().map_err(io(WHAT))?;
    let (input, output) = (folder.path().join("kernel.spv"), folder.path().join("kernel.bc"));
    let words = without_new_instructions(binary.words());
    fs::write(&input, words.iter().flat_map(|w| w.to_le_bytes()).collect::<Vec<u8>>()).map_err(io(WHAT))?;
    let mut arguments: Vec<OsString> =
        ["-r", "--spirv-target-env=CL2.0", "--spirv-gen-kernel-arg-name-md"].map(OsString::from).into();
    arguments.extend(["-o".into(), output.clone().into(), input.clone().into()]);
    let why = match run(&program, &arguments, &output, options, TRANSLATOR_HINT)? {
        Ok(()) => return fs::read(&output).map_err(io(WHAT)),
        Err(Failed::Refused(text)) => text,
        Err(Failed::Crashed(text)) => format!("it ended before its time\n{text}").trim_end().to_string(),
    };
    let mut reason = format!("{} cannot translate it: {why}", program.display());
    // What is wrong is said of the binary as it came.
    fs::write(&input, binary.to_bytes()).map_err(io(WHAT))?;
    if let Some(wrong) = validation(&input, binary.version(), options) {
        reason = format!("it is no valid SPIR-V: {wrong}\n{reason}");
    }
    Err(FrontendError::Input { input: name.into(), reason })
}

/// The environment that a binary of a version is validated for: the newest of OpenCL, or, for versions behind those that it
/// knows, the version's own. `None` for those that the validator does not know.
fn environment((major, minor): (u32, u32)) -> Option<String> {
    match (major, minor) {
        (1, 0..=2) => Some("opencl2.2".into()),
        (1, 3..=6) => Some(format!("spv1.{minor}")),
        _ => None,
    }
}

/// What the validator finds wrong with a binary of a version, if there is one and it finds anything.
fn validation(input: &Path, version: (u32, u32), options: &FrontendOptions) -> Option<String> {
    let program = find("HEDDLE_SPIRV_VAL", &["spirv-val"])?;
    let arguments = ["--target-env".into(), environment(version)?.into(), input.into()];
    match run(&program, &arguments, Path::new(""), options, ASSEMBLER_HINT).ok()? {
        Err(Failed::Refused(text)) => text.lines().next().map(|l| l.strip_prefix("error: ").unwrap_or(l).into()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use heddle_llvm_passes::spir::target_name;
    use inkwell::context::Context;
    use inkwell::memory_buffer::MemoryBuffer;

    use super::*;
    use crate::library::BUILTINS;

    #[test]
    fn messages_of_the_assembler_have_their_places_in_front() {
        assert_eq!(
            placed("k.spvasm", "error: 2: 1: Invalid Opcode name 'OpFoo'"),
            "k.spvasm:2:1: error: Invalid Opcode name 'OpFoo'"
        );
        assert_eq!(placed("k.spvasm", "error: no file"), "k.spvasm: error: no file");
    }

    #[test]
    fn no_binary_is_refused_for_its_version() {
        let environments = [(1, 0), (1, 2), (1, 3), (1, 4), (2, 0)].map(environment);
        let known = ["opencl2.2", "opencl2.2", "spv1.3", "spv1.4"].map(|e| Some(e.to_string()));
        assert_eq!((&environments[..4], &environments[4]), (&known[..], &None));
    }

    #[test]
    fn names_are_written_as_clang_writes_them() {
        let context = Context::create();
        let bitcode = MemoryBuffer::create_from_memory_range_copy(BUILTINS, "builtins");
        let library = context.create_module_from_ir(bitcode).unwrap();
        let names = library.get_functions().map(|f| f.get_name().to_string_lossy().into_owned());
        // Constant memory has another number in SPIR, where this one stands for generic pointers.
        let names: Vec<String> = names.filter(|n| n.starts_with("_Z") && !n.contains("U3AS4")).collect();
        assert!(names.len() > 10_000);
        let changed: Vec<&String> = names.iter().filter(|n| target_name(n).as_ref() != Some(n)).collect();
        assert!(
            changed.is_empty(),
            "{} names are written in another way: {:?}",
            changed.len(),
            &changed[..changed.len().min(10)]
        );
    }
}
