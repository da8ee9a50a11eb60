//! Programs that have been built, on disk; and their translations to the host's instructions.
//!
//! An entry's name is a hash of what was asked for: source, own headers, options, what the compiler reads of
//! the machine, techniques, this very build of Heddle, and clang. Files that a program includes from folders
//! are not known before clang has read them; the entry lists them with hashes of their contents, taken from
//! clang's list of dependencies, and it counts only while all of them are as they were, and while none has
//! appeared where clang would now find another one. (Hashing preprocessed text instead would cost half of a
//! compilation for every look-up.) A program that asks for the time or for the existence of a file is not kept.
//!
//! Any number of processes may share a folder. An entry is written under another name and renamed, so it
//! appears whole; it has a hash of itself, and what is damaged counts as absent and is written anew. When the
//! folder is larger than allowed, the entries that were used longest ago go. A folder that cannot be written
//! keeps nothing, and nobody is told.
//!
//! `HEDDLE_CACHE=0` means no cache, `HEDDLE_CACHE_DIR` names the folder (else `heddle` in the user's cache
//! folder), `HEDDLE_CACHE_SIZE` its greatest size in bytes or with `K`, `M`, `G` (else 512M).

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, SystemTime};

use heddle_frontend::Language;
use heddle_frontend::source::Source;
use heddle_target::Machine;
use serde::{Deserialize, Serialize};

use super::{BuildOptions, Unit};
use crate::driver::CompileOptions;
use crate::hash::{Hash, Hasher};

/// Version of the format and of what goes into a name.
const VERSION: u32 = 1;
/// Bytes that a cache may take unless told otherwise.
pub const DEFAULT_LIMIT: u64 = 512 << 20;
/// After this time, a file that was to be renamed has lost its process.
const LOST: Duration = Duration::from_secs(3600);

/// What a result depends on, as far as it is known before clang runs.
#[derive(Clone)]
pub struct Key {
    hasher: Hasher,
    /// Whether the result can be found again: it depends on nothing else but files.
    lasting: bool,
}

/// What source can ask for that a hash of it does not have.
const PASSING: [&[u8]; 4] = [b"__DATE__", b"__TIME__", b"__TIMESTAMP__", b"__has_include"];

fn contains(text: &[u8], word: &[u8]) -> bool {
    text.windows(word.len()).any(|w| w == word)
}

fn is_passing(text: &[u8]) -> bool {
    // All of them begin with two underscores, which most text has nowhere.
    contains(text, b"__") && PASSING.iter().any(|word| contains(text, word))
}

impl Key {
    /// For one kind of result on a machine, with these techniques.
    pub fn new(kind: &str, machine: &Machine, options: &CompileOptions) -> Key {
        let machine = serde_json::to_string(&machine.compilers_view());
        let lasting = machine.is_ok() && this_build().is_some();
        let hasher = Hasher::default()
            .part(VERSION.to_le_bytes())
            .part(this_build().unwrap_or_default())
            .part(clang())
            .part(kind)
            .part(machine.unwrap_or_default())
            .part(format!("{:?} {:?} {} {}", options.select, options.codegen, options.checked, options.wide_ids));
        Key { hasher, lasting }
    }

    /// For the translation of a kernel to the host's instructions; `depends`: all that it depends on besides this build of
    /// Heddle.
    pub fn translation(depends: &[u8]) -> Key {
        let hasher = Hasher::default()
            .part(VERSION.to_le_bytes())
            .part(this_build().unwrap_or_default())
            .part("translation")
            .part(depends);
        Key { hasher, lasting: this_build().is_some() }
    }

    /// As a hash.
    pub fn hash(self) -> Hash {
        self.hasher.finish()
    }

    /// With a program.
    #[must_use]
    pub fn source(self, source: &Source, options: &BuildOptions) -> Key {
        let frontend = options.frontend();
        let mut hasher = self.hasher.part(source.name).part(source.text).part(frontend.opt.flag());
        let mut lasting = self.lasting && !is_passing(source.text);
        hasher = hasher.part(source.headers.len().to_le_bytes());
        for (name, text) in source.headers {
            hasher = hasher.part(name).part(text);
            lasting &= !is_passing(text);
        }
        hasher = frontend.clang_args.iter().fold(hasher, |h, a| h.part(a));
        hasher = frontend.kernels.iter().fold(hasher, |h, k| h.part("kernel").part(k));
        if Language::of(Path::new(source.name)).is_spirv() {
            let translator = heddle_frontend::translate::translator().and_then(|p| stamp(&fs::canonicalize(p).ok()?));
            hasher = hasher.part(translator.unwrap_or_default()).part(format!("{:?}", frontend.spec_constants));
        }
        // Where the process is decides what relative names mean, if there are any.
        let includes = contains(source.text, b"include") || frontend.clang_args.iter().any(|a| a.contains("-i"));
        if includes || source.headers.iter().any(|(_, text)| contains(text, b"include")) {
            hasher = hasher.part(std::env::current_dir().unwrap_or_default().as_os_str().as_encoded_bytes());
        }
        Key { hasher, lasting }
    }

    /// With programs that are linked.
    #[must_use]
    pub fn units(self, units: &[&Unit]) -> Key {
        Key { hasher: units.iter().fold(self.hasher, |h, u| h.part(u.to_bytes())), ..self }
    }
}

/// This build of Heddle: the file that this code was loaded from, program or library. `None` if it is gone or
/// replaced.
fn this_build() -> Option<&'static str> {
    static BUILD: OnceLock<Option<String>> = OnceLock::new();
    BUILD
        .get_or_init(|| {
            let file = stamp(&own_file()?)?;
            let (major, minor, patch) = inkwell::support::get_llvm_version();
            Some(format!("{} {file} LLVM {major}.{minor}.{patch}", env!("CARGO_PKG_VERSION")))
        })
        .as_deref()
}

/// The file that has this code: a program, or a library that one has loaded.
pub(crate) fn own_file() -> Option<PathBuf> {
    let Ok(maps) = fs::read_to_string("/proc/self/maps") else { return std::env::current_exe().ok() };
    let here = own_file as *const () as u64;
    let line = maps.lines().find(|line| {
        let range = line.split(' ').next().and_then(|r| r.split_once('-'));
        let number = |s: &str| u64::from_str_radix(s, 16).ok();
        range.and_then(|(start, end)| Some((number(start)?..number(end)?).contains(&here))).unwrap_or(false)
    })?;
    // A file that was replaced while it is in use is called `(deleted)`, so there is none of its name.
    Some(PathBuf::from(&line[line.find('/')?..]))
}

/// clang, as far as one can see without running it.
fn clang() -> String {
    let path = heddle_frontend::clang_path();
    let found = if path.components().count() > 1 {
        Some(path.clone())
    } else {
        let folders = std::env::var_os("PATH").unwrap_or_default();
        std::env::split_paths(&folders).map(|f| f.join(&path)).find(|p| p.is_file())
    };
    let real = found.and_then(|p| fs::canonicalize(p).ok()).unwrap_or(path);
    format!("{} {}", real.display(), stamp(&real).unwrap_or_default())
}

/// What changes when a file does.
fn stamp(path: &Path) -> Option<String> {
    let data = fs::metadata(path).ok()?;
    let time = data.modified().ok()?.duration_since(SystemTime::UNIX_EPOCH).ok()?;
    Some(format!("{} {} {}", path.display(), data.len(), time.as_nanos()))
}

/// What is kept.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Entry {
    /// An object, or a unit.
    pub bytes: Vec<u8>,
    /// What stood in the log.
    pub log: String,
    /// Files that were included, with hashes of their contents.
    files: Vec<(PathBuf, Hash)>,
    /// Files that were not there, and would be included if they were.
    absent: Vec<PathBuf>,
    /// Whether it is to be kept.
    passing: bool,
}

/// The first line of an entry's file.
#[derive(Serialize, Deserialize)]
struct Header {
    version: u32,
    name: String,
    files: Vec<(PathBuf, Hash)>,
    absent: Vec<PathBuf>,
    log: usize,
    bytes: usize,
    /// Of log and bytes.
    hash: Hash,
}

impl Entry {
    /// A result that depends on nothing but its key.
    pub fn new(bytes: Vec<u8>, log: String) -> Entry {
        Entry { bytes, log, ..Entry::default() }
    }

    /// A result for which clang has read these files.
    #[must_use]
    pub fn with_files(mut self, files: Vec<PathBuf>, source: &Source, options: &BuildOptions) -> Entry {
        let here = std::env::current_dir().unwrap_or_default();
        let mut folders: BTreeSet<PathBuf> = options.folders().iter().map(|f| here.join(f)).collect();
        folders.insert(here);
        let mut names: BTreeSet<PathBuf> = source.headers.iter().map(|(name, _)| PathBuf::from(name)).collect();
        let read: BTreeSet<PathBuf> = files.into_iter().collect();
        for path in &read {
            // Under each folder that it may have been found in, its name is the rest of its path.
            names.extend(folders.iter().filter_map(|f| Some(path.strip_prefix(f).ok()?.to_path_buf())));
        }
        folders.extend(read.iter().filter_map(|p| Some(p.parent()?.to_path_buf())));
        let candidates = folders.iter().flat_map(|f| names.iter().map(move |n| f.join(n)));
        self.absent = candidates.filter(|c| !c.exists()).collect::<BTreeSet<_>>().into_iter().collect();
        for path in read {
            match fs::read(&path) {
                Ok(text) if !is_passing(&text) => self.files.push((path, Hasher::default().part(text).finish())),
                _ => self.passing = true,
            }
        }
        self
    }

    /// Whether all files are as they were.
    fn holds(&self) -> bool {
        let same = |(path, hash): &(PathBuf, Hash)| fs::read(path).is_ok_and(|t| Hasher::default().part(t).finish() == *hash);
        self.files.iter().all(same) && !self.absent.iter().any(|p| p.exists())
    }

    fn to_bytes(&self, name: &str) -> Option<Vec<u8>> {
        let header = Header {
            version: VERSION,
            name: name.into(),
            files: self.files.clone(),
            absent: self.absent.clone(),
            log: self.log.len(),
            bytes: self.bytes.len(),
            hash: Hasher::default().part(&self.log).part(&self.bytes).finish(),
        };
        let header = serde_json::to_string(&header).ok()?;
        Some([header.as_bytes(), b"\n", self.log.as_bytes(), &self.bytes].concat())
    }

    /// Reads an entry of this name; `None` if it is damaged or another's.
    fn from_bytes(bytes: &[u8], name: &str) -> Option<Entry> {
        let end = bytes.iter().position(|b| *b == b'\n')?;
        let header: Header = serde_json::from_slice(&bytes[..end]).ok()?;
        let rest = &bytes[end + 1..];
        if header.version != VERSION || header.name != name || header.log.checked_add(header.bytes)? != rest.len() {
            return None;
        }
        let (log, bytes) = rest.split_at(header.log);
        if Hasher::default().part(log).part(bytes).finish() != header.hash {
            return None;
        }
        let log = String::from_utf8(log.to_vec()).ok()?;
        Some(Entry { bytes: bytes.to_vec(), log, files: header.files, absent: header.absent, passing: false })
    }
}

/// A folder of entries.
#[derive(Clone, Debug)]
pub struct Cache {
    folder: PathBuf,
    limit: u64,
    /// Bytes in the folder when this process last counted, and what it has written since; `u64::MAX` before.
    size: Arc<AtomicU64>,
}

impl Cache {
    /// In this folder, of at most so many bytes.
    pub fn new(folder: impl Into<PathBuf>, limit: u64) -> Cache {
        Cache { folder: folder.into().join("builds"), limit, size: Arc::new(AtomicU64::new(u64::MAX)) }
    }

    /// As the environment says; `None` if it says that there is to be none, or there is no place for it.
    ///
    /// # Errors
    /// A sentence about a variable whose value has no meaning.
    pub fn from_environment() -> Result<Option<Cache>, String> {
        let text = |name| std::env::var_os(name).filter(|v| !v.is_empty());
        match text("HEDDLE_CACHE").as_ref().map(|v| v.to_string_lossy()).as_deref() {
            None | Some("1") => {}
            Some("0") => return Ok(None),
            Some(other) => return Err(format!("HEDDLE_CACHE={other}: 0 or 1")),
        }
        let limit = match text("HEDDLE_CACHE_SIZE") {
            Some(size) => bytes_of(&size.to_string_lossy())?,
            None => DEFAULT_LIMIT,
        };
        let folder = text("HEDDLE_CACHE_DIR").map(PathBuf::from).or_else(heddle_frontend::cache_folder);
        // The process may go elsewhere later.
        Ok(folder.and_then(|f| std::path::absolute(f).ok()).map(|f| Cache::new(f, limit)))
    }

    /// What was kept for a key.
    pub fn get(&self, key: &Key) -> Option<Entry> {
        self.get_if(key, |path| File::open(path).ok())
    }

    /// What was kept for a key by this user, or by the system's, in a file that others cannot write: to be run.
    pub fn get_own(&self, key: &Key) -> Option<Entry> {
        self.get_if(key, own)
    }

    fn get_if(&self, key: &Key, open: impl FnOnce(&Path) -> Option<File>) -> Option<Entry> {
        if !key.lasting {
            return None;
        }
        let name = key.hasher.clone().finish().to_string();
        let path = self.path(&name);
        let mut file = open(&path)?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).ok()?;
        let entry = Entry::from_bytes(&bytes, &name).filter(Entry::holds)?;
        // Used now; in a folder that cannot be written it is as good.
        let _kept = File::options().append(true).open(&path).and_then(|f| f.set_modified(SystemTime::now()));
        Some(entry)
    }

    /// Keeps a result. One that cannot be written is not kept.
    pub fn put(&self, key: &Key, entry: &Entry) {
        if key.lasting && !entry.passing {
            let name = key.hasher.clone().finish().to_string();
            let _not_kept = self.write(&name, entry);
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name.get(..2).unwrap_or_default()).join(name)
    }

    fn write(&self, name: &str, entry: &Entry) -> std::io::Result<()> {
        let Some(bytes) = entry.to_bytes(name).filter(|b| b.len() as u64 <= self.limit) else { return Ok(()) };
        let path = self.path(name);
        let folder = path.parent().unwrap_or(&self.folder);
        fs::create_dir_all(folder)?;
        let mut file = tempfile::Builder::new().prefix(TEMPORARY).tempfile_in(folder)?;
        file.write_all(&bytes)?;
        file.persist(&path).map_err(|e| e.error)?;
        let more = bytes.len() as u64;
        let grown = |size: u64| Some(size.saturating_add(more));
        let before = self.size.fetch_update(Ordering::Relaxed, Ordering::Relaxed, grown).unwrap_or(u64::MAX);
        if before.saturating_add(more) > self.limit { self.trim() } else { Ok(()) }
    }

    /// Counts the folder's bytes, and removes what was used longest ago if there are too many.
    fn trim(&self) -> std::io::Result<()> {
        let lock = File::options().create(true).truncate(false).write(true).open(self.folder.join("lock"))?;
        // Who has the lock does it.
        if fs4::FileExt::try_lock(&lock).is_err() {
            return Ok(());
        }
        let mut entries = Vec::new();
        for folder in fs::read_dir(&self.folder)?.flatten().filter(|f| f.path().is_dir()) {
            for file in fs::read_dir(folder.path())?.flatten() {
                let Ok(data) = file.metadata() else { continue };
                let used = data.modified().unwrap_or(SystemTime::UNIX_EPOCH);
                if !file.file_name().to_string_lossy().starts_with(TEMPORARY) {
                    entries.push((used, data.len(), file.path()));
                } else if used.elapsed().is_ok_and(|age| age > LOST) {
                    let _gone = fs::remove_file(file.path());
                }
            }
        }
        let mut size: u64 = entries.iter().map(|(_, bytes, _)| bytes).sum();
        if size > self.limit {
            // Some more than needed, so that the next entries find room.
            let goal = self.limit / 10 * 9;
            entries.sort();
            for (_, bytes, path) in entries {
                if size <= goal {
                    break;
                }
                if fs::remove_file(path).is_ok() {
                    size -= bytes;
                }
            }
        }
        self.size.store(size, Ordering::Relaxed);
        Ok(())
    }
}

/// Whether a file is this user's, or the system's, and nobody else may write it.
fn own(path: &Path) -> Option<File> {
    use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
    // Others may have put a link or a pipe there.
    let file = File::options().read(true).custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK).open(path).ok()?;
    let data = file.metadata().ok()?;
    // SAFETY: it has no conditions.
    let user = unsafe { libc::geteuid() };
    let own = data.is_file() && data.nlink() == 1 && (data.uid() == user || data.uid() == 0) && data.mode() & 0o022 == 0;
    own.then_some(file)
}

/// What names of files begin with that are still being written.
const TEMPORARY: &str = "writing-";

/// `512M` as bytes.
fn bytes_of(text: &str) -> Result<u64, String> {
    let (digits, shift) = match text.trim().to_ascii_uppercase() {
        t if t.ends_with('K') => (t[..t.len() - 1].to_string(), 10),
        t if t.ends_with('M') => (t[..t.len() - 1].to_string(), 20),
        t if t.ends_with('G') => (t[..t.len() - 1].to_string(), 30),
        t => (t, 0),
    };
    let bytes = digits.parse::<u64>().ok().and_then(|n| n.checked_mul(1 << shift));
    bytes.ok_or_else(|| format!("HEDDLE_CACHE_SIZE={text}: a number of bytes, or one with K, M or G"))
}

#[cfg(test)]
mod tests;
