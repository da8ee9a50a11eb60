//! A source file becomes bitcode: clang writes code, and passes run on it.
//!
//! May touch: what runs clang and passes. [`crate::source`] does the same for programs in memory.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::error::io;
use crate::language::{self, Language};
use crate::whole::Passes;
use crate::{Diagnostics, FrontendError, FrontendOptions, clang, passes, whole};

/// Compiles one source to LLVM bitcode as clang leaves it: input for [`crate::compile_to_module`], which goes on
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
    let header = clang::write_header(folder.path())?;
    let (name, language) = (input.display().to_string(), Language::of(input));
    // What cannot be read clang will complain of.
    let text = fs::read(input).unwrap_or_default();
    let instances = if language.is_cuda_like() { language::with_instances(&name, &text, &options.kernels) } else { None };
    let beside = input.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let when = Passes::of(&text, &[], beside, language, options);
    let completed = folder.path().join("kernel");
    if let Some(text) = &instances {
        fs::write(&completed, text).map_err(io("writing a temporary file"))?;
    }
    let bitcode = clang::with_library(clang::part_for(&text, &[], language, options), |libraries, again| {
        let mut command = Command::new(clang::clang_path());
        clang::compilation(&mut command, &header, libraries, language, options);
        command.args(language::host_definition(language, &text)).args(&options.clang_args);
        if instances.is_some() {
            // Headers beside the source are not beside what is compiled.
            command.arg("-iquote").arg(beside);
        }
        command.arg(if instances.is_some() { &completed } else { input }).arg("-o").arg(&output);
        let diagnostics = if again { Diagnostics::Keep } else { options.diagnostics };
        let options = FrontendOptions { diagnostics, ..options.clone() };
        clang::execute(&mut command, &options, name.clone(), &output)?;
        fs::read(&output).map_err(io("reading clang's output"))
    })?;
    match language.is_cuda_like() {
        true => finish_device_code(&bitcode, &name, options, checked),
        false if checked => Ok(bitcode),
        false if when == Passes::OnReachable => passes::optimise(&whole::reachable(&bitcode, &name)?, &name, options),
        false => passes::optimise(&bitcode, &name, options),
    }
}

/// What follows on clang for CUDA and HIP: kernels like those of OpenCL C, and the passes that clang has not run.
pub(crate) fn finish_device_code(
    bitcode: &[u8],
    name: &str,
    options: &FrontendOptions,
    checked: bool,
) -> Result<Vec<u8>, FrontendError> {
    let bitcode = language::import_kernels(bitcode, name, options)?;
    if checked { Ok(bitcode) } else { passes::optimise(&bitcode, name, options) }
}
