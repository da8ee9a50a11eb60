//! Files of a session: names that no two processes share, and how they are written.

use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use super::lock;

/// The file that says that the outputs of a kind are taken.
fn marker(folder: &Path, kind: &str) -> PathBuf {
    folder.join(format!("taken-{kind}"))
}

/// The names of a process's files.
pub(super) struct Outputs {
    /// The folder of `heddle exec`, where processes say which outputs they have taken.
    session: Option<PathBuf>,
    taken: Mutex<Taken>,
}

#[derive(Default)]
struct Taken {
    /// Outputs by kind; `None`: it cannot be written, which has been said.
    names: BTreeMap<&'static str, Option<PathBuf>>,
}

impl Outputs {
    /// Nothing is taken yet.
    pub fn new(session: Option<PathBuf>) -> Outputs {
        Outputs { session, taken: Mutex::default() }
    }

    /// The folder for results.
    pub fn session_folder(&self) -> Option<&Path> {
        self.session.as_deref()
    }

    /// What has been taken: kind and path.
    pub fn names(&self) -> Vec<(String, PathBuf)> {
        let taken = lock(&self.taken);
        // Checkpoints are told by themselves: there may be several.
        let told = taken.names.iter().filter(|(kind, _)| **kind != "checkpoint");
        told.filter_map(|(kind, path)| Some((kind.to_string(), path.clone()?))).collect()
    }

    /// Says that an output cannot be written, once.
    pub fn complain(&self, kind: &'static str, message: &str) {
        let mut taken = lock(&self.taken);
        if !matches!(taken.names.insert(kind, None), Some(None)) {
            heddle_report::say!("heddle: {message}");
        }
    }

    /// Says what went wrong, if anything did.
    pub fn report(&self, kind: &'static str, written: Result<(), String>) {
        if let Err(message) = written {
            self.complain(kind, &message);
        }
    }

    fn take(&self, kind: &'static str, claim: impl FnOnce() -> Result<PathBuf, String>) -> Option<PathBuf> {
        if let Some(known) = lock(&self.taken).names.get(kind) {
            return known.clone();
        }
        match claim() {
            Ok(path) => {
                lock(&self.taken).names.insert(kind, Some(path.clone()));
                Some(path)
            }
            Err(message) => {
                self.complain(kind, &message);
                None
            }
        }
    }

    /// Whether this process is the first of the session to write outputs of a kind; `None` without a session.
    pub fn is_first(&self, kind: &str) -> Option<bool> {
        let marker = marker(self.session.as_ref()?, kind);
        Some(OpenOptions::new().write(true).create_new(true).open(marker).is_ok())
    }

    /// Whether a process of the session of a folder has been the first for a kind.
    pub fn is_taken(folder: &Path, kind: &str) -> bool {
        marker(folder, kind).exists()
    }

    /// The file for an output that is to be at `path`.
    pub fn file(&self, kind: &'static str, path: &Path) -> Option<PathBuf> {
        self.take(kind, || {
            let fail = |e: std::io::Error| format!("cannot write {}: {e}", path.display());
            // Standard output, a pipe, a terminal.
            if path.as_os_str() == "-" || path.metadata().is_ok_and(|m| !m.is_file()) {
                return Ok(path.into());
            }
            match self.is_first(kind) {
                Some(true) => return Ok(path.into()),
                Some(false) => {}
                None => match OpenOptions::new().write(true).create_new(true).open(path) {
                    Ok(_) => return Ok(path.into()),
                    Err(e) if e.kind() == ErrorKind::AlreadyExists => {}
                    Err(e) => return Err(fail(e)),
                },
            }
            let mut name = path.file_stem().unwrap_or_default().to_os_string();
            name.push(format!("-{}", std::process::id()));
            if let Some(extension) = path.extension() {
                name.push(".");
                name.push(extension);
            }
            Ok(path.with_file_name(name))
        })
    }

    /// The folder for an output that is to be at `path`. `entry`: what a folder that is taken has in it.
    pub fn folder(&self, kind: &'static str, path: &Path, entry: &str) -> Option<PathBuf> {
        self.take(kind, || {
            let make = |p: &Path| fs::create_dir_all(p).map_err(|e| format!("cannot make {}: {e}", p.display()));
            make(path)?;
            let first = self.is_first(kind).unwrap_or_else(|| !path.join(entry).exists());
            let folder = if first { path.to_path_buf() } else { path.join(format!("process-{}", std::process::id())) };
            make(&folder)?;
            Ok(folder)
        })
    }
}

/// Writes a file whole: who reads it while it is written sees what was there before. `-` is standard output.
///
/// # Errors
/// A sentence with the file's name.
pub(super) fn write(path: &Path, bytes: &[u8]) -> Result<(), String> {
    if path.as_os_str() == "-" {
        let written = std::io::stdout().write_all(bytes).and_then(|()| std::io::stdout().flush());
        return match written {
            Err(e) if e.kind() != ErrorKind::BrokenPipe => Err(format!("standard output: {e}")),
            _ => Ok(()),
        };
    }
    let fail = |e: std::io::Error| format!("cannot write {}: {e}", path.display());
    if path.metadata().is_ok_and(|m| !m.is_file()) {
        return fs::write(path, bytes).map_err(fail);
    }
    let mut name = path.file_name().unwrap_or_default().to_os_string();
    name.push(format!(".{}", std::process::id()));
    let beside = path.with_file_name(name);
    fs::write(&beside, bytes).and_then(|()| fs::rename(&beside, path)).map_err(|e| {
        let _gone = fs::remove_file(&beside);
        fail(e)
    })
}

/// The command line of this process.
pub(super) fn command_line() -> Vec<String> {
    std::env::args_os().map(|a| a.to_string_lossy().into_owned()).collect()
}
