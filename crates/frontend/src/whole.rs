//! Large programs, compiled as a whole: functions that no kernel calls go before clang optimises.
//!
//! Functions of OpenCL C are visible to other programs, so clang keeps and optimises all that a source or its headers
//! define. Where nothing else will be linked, only what kernels reach is needed. A program that brings a library of its
//! own in headers (ciphers, linear algebra) spends most of the passes' time on the rest. For it they run on what is left; of a
//! small program nothing is looked for.
//! Of a large source that will be linked, the passes wait for that ([`link_whole`](crate::link_whole)).

use std::fs;
use std::path::{Path, PathBuf};

use heddle_llvm_passes::ir::{self, Value, llvm_passes};
use inkwell::context::Context;
use inkwell::memory_buffer::MemoryBuffer;
use inkwell::module::Linkage;

use crate::error::{llvm, pass};
use crate::{FrontendError, FrontendOptions, Language, OptLevel};

/// Bytes of text from which a program is large: an estimate, not a measurement.
const LARGE: usize = 64 << 10;

/// What clang's passes run on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Passes {
    /// All that clang has written of the source, at once.
    AtOnce,
    /// What kernels reach of it.
    OnReachable,
    /// What kernels reach of all that it is linked with.
    AtLink,
}

impl Passes {
    /// Those of a source. `headers`: those in memory, by the names that include them; `folder`: the one of the source, in
    /// which others are looked for, and in those of `-I`.
    pub fn of(text: &[u8], headers: &[(&str, &[u8])], folder: &Path, language: Language, options: &FrontendOptions) -> Passes {
        let possible = match options.whole_program {
            true => options.opt != OptLevel::O0,
            // Who links does not know of other levels.
            false => options.opt == OptLevel::default(),
        };
        let possible = possible && !language.is_cuda_like() && !language.is_spirv();
        match possible && is_large(text, headers, folder, &options.clang_args) {
            false => Passes::AtOnce,
            true if options.whole_program => Passes::OnReachable,
            true => Passes::AtLink,
        }
    }
}

/// Whether a text and what it includes have so many bytes that clang would be long at it. What a macro includes is taken to
/// be long, what cannot be found not to be there.
fn is_large(text: &[u8], headers: &[(&str, &[u8])], folder: &Path, clang_args: &[String]) -> bool {
    let folders: Vec<PathBuf> = folders(clang_args).map(PathBuf::from).collect();
    let mut seen = Vec::new();
    let mut bytes = 0;
    let mut waiting = vec![(text.to_vec(), folder.to_path_buf())];
    while let Some((text, folder)) = waiting.pop() {
        bytes += text.len();
        if bytes >= LARGE {
            return true;
        }
        for target in included(&text) {
            let Some(name) = target.strip_prefix(['"', '<']).and_then(|t| t.split(['"', '>']).next()) else { return true };
            if let Some((_, text)) = headers.iter().find(|(known, _)| *known == name) {
                if !seen.iter().any(|s| s == Path::new(name)) {
                    seen.push(name.into());
                    waiting.push((text.to_vec(), folder.clone()));
                }
                continue;
            }
            let found = std::iter::once(&folder).chain(&folders).map(|f| f.join(name)).find(|p| p.is_file());
            if let Some(path) = found.filter(|p| !seen.contains(p))
                && let Ok(text) = fs::read(&path)
            {
                let folder = path.parent().unwrap_or(&folder).to_path_buf();
                seen.push(path);
                waiting.push((text, folder));
            }
        }
    }
    false
}

/// What a text includes, as it is written.
fn included(text: &[u8]) -> impl Iterator<Item = String> {
    let lines = text.split(|b| *b == b'\n').map(|l| l.trim_ascii()).filter(|l| l.starts_with(b"#"));
    lines.filter_map(|l| {
        let target = l[1..].trim_ascii_start().strip_prefix(b"include")?.trim_ascii();
        (!target.is_empty()).then(|| String::from_utf8_lossy(target).into_owned())
    })
}

/// The folders of `-I`, `-isystem` and `-iquote`.
fn folders(clang_args: &[String]) -> impl Iterator<Item = &str> {
    const OPTIONS: [&str; 3] = ["-I", "-isystem", "-iquote"];
    let joined = clang_args.iter().filter_map(|a| OPTIONS.iter().find_map(|o| a.strip_prefix(o))).filter(|f| !f.is_empty());
    let apart = clang_args.windows(2).filter(|w| OPTIONS.contains(&w[0].as_str())).map(|w| w[1].as_str());
    joined.chain(apart)
}

/// Between the steps: bitcode without what no kernel reaches. A program without kernels stays as it is: what uses it will say
/// so.
pub(crate) fn reachable(bitcode: &[u8], name: &str) -> Result<Vec<u8>, FrontendError> {
    let context = Context::create();
    let buffer = MemoryBuffer::create_from_memory_range_copy(bitcode, name);
    let module = context.create_module_from_ir(buffer).map_err(|e| llvm(name, &e.to_string()))?;
    if !ir::function::has_kernel(&module) {
        return Ok(bitcode.to_vec());
    }
    let functions = module.get_functions().filter(|f| f.count_basic_blocks() > 0 && !ir::is_kernel(Value::of(*f)));
    functions.for_each(|f| f.set_linkage(Linkage::Internal));
    llvm_passes::run(&module, "globaldce").map_err(pass)?;
    Ok(module.write_bitcode_to_memory().as_slice().to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_count_once_each() {
        let folder = tempfile::tempdir().unwrap();
        let other = folder.path().join("other");
        fs::create_dir(&other).unwrap();
        let part = vec![b'/'; LARGE / 2];
        fs::write(folder.path().join("a.h"), &part).unwrap();
        fs::write(other.join("b.h"), &part).unwrap();
        let large = |text: &str, headers: &[(&str, &[u8])], args: &[&str]| {
            let args: Vec<String> = args.iter().map(ToString::to_string).collect();
            is_large(text.as_bytes(), headers, folder.path(), &args)
        };
        let also = format!("-I{}", other.display());
        let both = "#include \"a.h\"\n  #  include <b.h>\n";
        assert!(!large(both, &[], &[]) && large(both, &[], &[&also]));
        assert!(large(both, &[], &["-I", other.to_str().unwrap()]));
        assert!(large(both, &[("b.h", &part)], &[]));
        assert!(!large("#include \"a.h\"\n#include \"a.h\"\n", &[], &[]));
        assert!(!large("#include \"c.h\"\n", &[("c.h", b"#include \"c.h\"\n")], &[]));
        assert!(large("#include NAME\n", &[], &[]) && !large("#define include(x)\nint include;\n#include\n", &[], &[]));
    }
}
