//! What a point's result depends on, as a hash: the case with its source, headers and arrays, the machine,
//! the options, and this build of Heddle.
//!
//! Nothing else goes in (no paths, no place in the sweep), so a point keeps its id when the sweep around it
//! changes.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::ExploreError;
use super::options::PointOptions;
pub use crate::hash::{Hash, Hasher};
use heddle_runtime::case::Case;
use heddle_runtime::run::Mode;
use heddle_target::Machine;

/// This build of Heddle: the program file itself and the LLVM it loads. Two builds that differ in anything
/// are different.
///
/// # Errors
/// The program's own file cannot be read.
pub fn build() -> Result<Hash, ExploreError> {
    let exe =
        crate::build::cache::own_file().ok_or_else(|| ExploreError::Input("cannot find Heddle's own program file".into()))?;
    let bytes = std::fs::read(&exe).map_err(|e| ExploreError::file(&exe, "read this program", e))?;
    let (major, minor, patch) = inkwell::support::get_llvm_version();
    Ok(Hasher::default().part(bytes).part(format!("LLVM {major}.{minor}.{patch}")).finish())
}

/// A case, ready to run many times, with the hash of everything it reads.
#[derive(Clone, Debug)]
pub struct LoadedCase {
    /// How results name it.
    pub name: String,
    /// The case; nothing in it is saved to files.
    pub case: Case,
    /// Of the case file, the source, what it includes, and the arrays.
    pub hash: Hash,
}

/// Reads a case file and everything it names.
///
/// # Errors
/// An unreadable file; what is wrong with the case.
pub fn load_case(path: &Path, name: String) -> Result<LoadedCase, ExploreError> {
    let mut case = Case::read(path).map_err(|e| ExploreError::Input(e.to_string()))?;
    let read = |p: &Path, what: &str| {
        let message = |e| format!("{}: {}: cannot read the {what}: {e}", path.display(), p.display());
        std::fs::read(p).map_err(|e| ExploreError::Input(message(e)))
    };
    let mut hasher = Hasher::default().part(read(path, "case file")?);
    let source = case.source();
    let text = read(&source, "source")?;
    hasher = hasher.part(&text);
    let mut headers = BTreeSet::new();
    headers_of(&source, &text, &include_folders(&case), &mut headers);
    for header in headers {
        hasher = hasher.part(read(&header, "header")?);
    }
    for buffer in case.buffers.values().chain(case.variables.values()) {
        for file in [&buffer.npy, &buffer.expect].into_iter().flatten() {
            hasher = hasher.part(read(&case.folder.join(file), ".npy file")?);
        }
    }
    // Points run side by side: they would overwrite each other's files.
    for buffer in case.buffers.values_mut() {
        buffer.save = None;
    }
    Ok(LoadedCase { name, case, hash: hasher.finish() })
}

/// Folders in which the case's headers may be.
fn include_folders(case: &Case) -> Vec<PathBuf> {
    let words = &case.options;
    let mut folders = vec![case.folder.clone()];
    for (i, w) in words.iter().enumerate() {
        let attached = w.strip_prefix("-I").filter(|f| !f.is_empty());
        let separate = || ["-I", "-isystem", "-iquote", "-idirafter"].contains(&w.as_str()).then(|| words.get(i + 1)).flatten();
        folders.extend(attached.map(str::to_string).or_else(|| separate().cloned()).map(|f| case.folder.join(f)));
    }
    folders
}

/// Files that a source may include, and those they may include; conditions are not looked at. What is not
/// found is one of Heddle's or clang's own headers (or an error that the compiler will report).
fn headers_of(file: &Path, text: &[u8], folders: &[PathBuf], found: &mut BTreeSet<PathBuf>) {
    for line in String::from_utf8_lossy(text).lines() {
        let Some(rest) = line.trim_start().strip_prefix('#').map(str::trim_start).and_then(|l| l.strip_prefix("include")) else {
            continue;
        };
        let rest = rest.trim_start();
        let end = match rest.chars().next() {
            Some('"') => '"',
            Some('<') => '>',
            _ => continue,
        };
        let Some(name) = rest[1..].split(end).next() else { continue };
        let beside = file.parent().map(Path::to_path_buf);
        let path = beside.iter().chain(folders).map(|f| f.join(name)).find(|p| p.is_file());
        let Some(path) = path.filter(|p| !found.contains(p)) else { continue };
        let Ok(text) = std::fs::read(&path) else { continue };
        found.insert(path.clone());
        headers_of(&path, &text, folders, found);
    }
}

/// The id of a point.
pub fn point(build: &Hash, case: &LoadedCase, machine: &str, options: &PointOptions, mode: Mode) -> Hash {
    let mode = if mode == Mode::Timing { "timing" } else { "functional" };
    Hasher::default().part(build).part(&case.hash).part(machine).part(options.text()).part(mode).finish()
}

/// A machine as text that is equal for equal machines.
///
/// # Errors
/// A defect of Heddle: a machine that is no TOML.
pub fn machine_text(machine: &Machine) -> Result<String, ExploreError> {
    toml::to_string(machine).map_err(|e| ExploreError::Check(format!("the machine cannot be written as TOML: {e}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_of_a_case_follows_its_files() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
        write("kernel.cl", "#include \"a.h\"\n__kernel void k(__global int *p) { *p = N; }");
        write("a.h", " # include <inner/b.h>\n");
        std::fs::create_dir_all(folder.path().join("more/inner")).unwrap();
        write("more/inner/b.h", "#define N 1\n");
        write(
            "case.json",
            r#"{"source": "kernel.cl", "options": ["-I", "more"],
                "buffers": {"p": {"zeros": [1], "dtype": "int32", "save": "out.npy"}},
               "launches": [{"kernel": "k", "global": [1], "args": [{"buffer": "p"}]}]}"#,
        );
        let load = || load_case(&folder.path().join("case.json"), "k".into()).unwrap();
        let first = load();
        assert!(first.case.buffers["p"].save.is_none());
        assert_eq!(first.hash, load().hash);
        write("more/inner/b.h", "#define N 2\n");
        let second = load();
        assert_ne!(first.hash, second.hash);
        write("kernel.cl", "#include \"a.h\"\n__kernel void k(__global int *p) { *p = N + 1; }");
        assert_ne!(second.hash, load().hash);
        std::fs::remove_file(folder.path().join("kernel.cl")).unwrap();
        assert!(load_case(&folder.path().join("case.json"), "k".into()).unwrap_err().to_string().contains("kernel.cl"));
    }
}
