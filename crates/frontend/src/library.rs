//! The built-in library as a file that clang can link: libclc's functions and ours, prepared by `build.rs`
//! and embedded here.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use crate::FrontendError;
use crate::error::io;

/// The library's bitcode.
pub(crate) static BUILTINS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/builtins.bc"));

/// The library's name in the cache, with a hash of its contents.
const NAME: &str = concat!("builtins-", env!("HEDDLE_BUILTINS_HASH"), ".bc");

/// A file with the built-in library.
pub(crate) enum Library {
    /// In the user's cache folder, shared by all runs of this build.
    Cached(PathBuf),
    /// A temporary file, removed with this value: there is no cache folder that can be written.
    Own(tempfile::TempPath),
}

impl Library {
    /// Finds the library in the user's cache, or writes it there, where it appears whole or not at all.
    pub fn find() -> Result<Library, FrontendError> {
        if let Some(folder) = cache_folder() {
            let path = folder.join(NAME);
            if is_whole(&path) || write_to_cache(&folder, &path).is_ok() {
                return Ok(Library::Cached(path));
            }
        }
        own_file().map(Library::Own).map_err(io("writing the built-in library"))
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        match self {
            Library::Cached(path) => path,
            Library::Own(path) => path,
        }
    }
}

/// Heddle's folder in the user's cache: below `XDG_CACHE_HOME`, else below `HOME`.
pub fn cache_folder() -> Option<PathBuf> {
    let variable = |name| std::env::var_os(name).filter(|v| !v.is_empty()).map(PathBuf::from);
    let cache = variable("XDG_CACHE_HOME").or_else(|| Some(variable("HOME")?.join(".cache")))?;
    // A relative one means another folder for every process.
    cache.is_absolute().then(|| cache.join("heddle"))
}

fn is_whole(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|m| m.is_file() && m.len() == BUILTINS.len() as u64)
}

fn write_to_cache(folder: &Path, path: &Path) -> std::io::Result<()> {
    fs::create_dir_all(folder)?;
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(BUILTINS)?;
    file.persist(path).map_err(|e| e.error)?;
    Ok(())
}

fn own_file() -> std::io::Result<tempfile::TempPath> {
    let mut file = tempfile::Builder::new().prefix("heddle-builtins-").suffix(".bc").tempfile()?;
    file.write_all(BUILTINS)?;
    Ok(file.into_temp_path())
}
