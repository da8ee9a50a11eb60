//! Finished points on disk: a header line, then a JSON line for each point, flushed to disk before the next
//! is begun.
//!
//! A kill at any time loses at most the points that were running. It may leave half a line at the end, which
//! the next run cuts off. The file is locked while a process writes to it; the lock goes with the process.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use fs4::FileExt;
use serde::{Deserialize, Serialize};

use super::ExploreError;
use super::engine::PointResult;
use super::identity::Hash;
use super::plan::{Plan, PointNumber};

/// The first line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Header {
    /// Version of the format: 1.
    pub heddle_sweep_journal: u32,
    /// The sweep it was begun for.
    pub sweep: Hash,
    /// Its points.
    pub points: usize,
    /// The version of Heddle, for people.
    pub heddle: String,
}

impl Header {
    /// For a plan.
    pub fn of(plan: &Plan) -> Header {
        let heddle = env!("CARGO_PKG_VERSION").to_string();
        Header { heddle_sweep_journal: 1, sweep: plan.hash.clone(), points: plan.len(), heddle }
    }
}

/// A finished point.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// What the result depends on.
    pub id: Hash,
    /// The number it had in the sweep that ran it.
    pub point: PointNumber,
    /// What it gave.
    #[serde(flatten)]
    pub result: PointResult,
    /// Host seconds it took.
    pub host_seconds: f64,
}

/// Results by id.
pub type Finished = BTreeMap<Hash, Entry>;

/// What a journal's file holds.
struct Contents {
    header: Option<Header>,
    finished: Finished,
    /// Bytes up to the end of the last whole line.
    whole: usize,
}

/// Reads a journal's text. The last line may be torn; others may not.
fn parse(path: &Path, bytes: &[u8]) -> Result<Contents, ExploreError> {
    let whole = bytes.iter().rposition(|b| *b == b'\n').map_or(0, |i| i + 1);
    let fail = |line: usize, m: String| ExploreError::Input(format!("{}:{}: {m}", path.display(), line + 1));
    let mut contents = Contents { header: None, finished: Finished::new(), whole };
    for (number, line) in bytes[..whole].split_inclusive(|b| *b == b'\n').enumerate() {
        if number == 0 {
            let header: Header =
                serde_json::from_slice(line).map_err(|e| fail(number, format!("this is no journal of a sweep: {e}")))?;
            if header.heddle_sweep_journal != 1 {
                return Err(fail(number, format!("version {} of the format is unknown", header.heddle_sweep_journal)));
            }
            contents.header = Some(header);
            continue;
        }
        let entry: Entry = serde_json::from_slice(line).map_err(|e| fail(number, format!("not a finished point: {e}")))?;
        contents.finished.entry(entry.id.clone()).or_insert(entry);
    }
    Ok(contents)
}

/// Reads a journal without locking or changing it.
///
/// # Errors
/// An unreadable file; a line that is no point's.
pub fn read(path: &Path) -> Result<(Option<Header>, Finished), ExploreError> {
    let bytes = std::fs::read(path).map_err(|e| ExploreError::file(path, "read the journal", e))?;
    let contents = parse(path, &bytes)?;
    Ok((contents.header, contents.finished))
}

/// A journal that this process writes.
pub struct Journal {
    path: PathBuf,
    file: Mutex<File>,
}

impl Journal {
    /// Opens or makes a journal and returns what it holds.
    ///
    /// # Errors
    /// Another process writes to it; it is no journal; the file system's errors.
    pub fn open(path: &Path, header: &Header) -> Result<(Journal, Finished), ExploreError> {
        if let Some(folder) = path.parent().filter(|f| !f.as_os_str().is_empty()) {
            std::fs::create_dir_all(folder).map_err(|e| ExploreError::file(folder, "make the folder", e))?;
        }
        let io = |e: std::io::Error| ExploreError::file(path, "write the journal", e);
        let mut file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path).map_err(io)?;
        match FileExt::try_lock(&file) {
            Ok(()) => {}
            Err(fs4::TryLockError::WouldBlock) => {
                let message = "another process is running this sweep; wait for it, or give a --journal of its own";
                return Err(ExploreError::Input(format!("{}: {message}", path.display())));
            }
            Err(fs4::TryLockError::Error(e)) => return Err(io(e)),
        }
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(io)?;
        let contents = parse(path, &bytes)?;
        file.set_len(contents.whole as u64).map_err(io)?;
        file.seek(SeekFrom::End(0)).map_err(io)?;
        let journal = Journal { path: path.to_path_buf(), file: Mutex::new(file) };
        if contents.header.is_none() {
            journal.line(header)?;
        }
        Ok((journal, contents.finished))
    }

    /// Writes a finished point. It is on disk when this returns.
    ///
    /// # Errors
    /// The file system's.
    pub fn append(&self, entry: &Entry) -> Result<(), ExploreError> {
        self.line(entry)
    }

    fn line(&self, value: &impl Serialize) -> Result<(), ExploreError> {
        let io = |e: &dyn std::fmt::Display| ExploreError::Check(format!("{}: {e}", self.path.display()));
        let mut line = serde_json::to_vec(value).map_err(|e| io(&e))?;
        line.push(b'\n');
        let mut file = self.file.lock().unwrap_or_else(|e| e.into_inner());
        file.write_all(&line).and_then(|()| file.sync_data()).map_err(|e| io(&e))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explore::engine::Status;
    use crate::explore::identity::Hasher;

    fn header() -> Header {
        Header { heddle_sweep_journal: 1, sweep: Hasher::default().finish(), points: 3, heddle: "0".into() }
    }

    fn entry(n: usize) -> Entry {
        let metrics = [("x".to_string(), serde_json::json!(0.1 + n as f64 / 3.0))].into();
        let result = PointResult { status: Status::Passed, error: None, metrics };
        Entry { id: Hasher::default().part(n.to_string()).finish(), point: n, result, host_seconds: 0.5 }
    }

    #[test]
    fn a_torn_line_is_cut_off_and_the_rest_survives() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("deep/journal.jsonl");
        let (journal, finished) = Journal::open(&path, &header()).unwrap();
        assert!(finished.is_empty());
        journal.append(&entry(1)).unwrap();
        journal.append(&entry(2)).unwrap();
        drop(journal);
        let whole = std::fs::read(&path).unwrap();
        // However much of the last line, or of the header, a kill leaves.
        let last = whole[..whole.len() - 1].iter().rposition(|b| *b == b'\n').unwrap() + 1;
        for cut in [last, last + 1, whole.len() - 1] {
            std::fs::write(&path, &whole[..cut]).unwrap();
            let (journal, finished) = Journal::open(&path, &header()).unwrap();
            assert_eq!(finished.into_values().collect::<Vec<_>>(), [entry(1)]);
            journal.append(&entry(2)).unwrap();
            drop(journal);
            assert_eq!(std::fs::read(&path).unwrap(), whole);
        }
        std::fs::write(&path, &whole[..10]).unwrap();
        assert!(Journal::open(&path, &header()).unwrap().1.is_empty());
        assert_eq!(read(&path).unwrap().0, Some(header()));
    }

    #[test]
    fn two_writers_and_other_files_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal.jsonl");
        let first = Journal::open(&path, &header()).unwrap();
        let error = Journal::open(&path, &header()).err().unwrap().to_string();
        assert!(error.contains("another process"), "{error}");
        drop(first);
        Journal::open(&path, &header()).unwrap();
        std::fs::write(&path, "{\"a\": 1}\n").unwrap();
        assert!(Journal::open(&path, &header()).err().unwrap().to_string().contains(":1: this is no journal"));
        let text = serde_json::to_string(&header()).unwrap() + "\nnonsense\n";
        std::fs::write(&path, &text).unwrap();
        assert!(Journal::open(&path, &header()).err().unwrap().to_string().contains(":2: not a finished point"));
        assert_eq!(std::fs::read_to_string(&path).unwrap(), text, "a file that is refused is left alone");
    }

    #[test]
    fn numbers_survive_the_journal_exactly() {
        let numbers = [0.1 + 0.2, 1e-300, 123_456_789.123_456_79, f64::MAX, 5e-324, 1.0 / 3.0];
        for n in numbers {
            let mut e = entry(0);
            e.result.metrics.insert("n".into(), n.into());
            let text = serde_json::to_string(&e).unwrap();
            let again: Entry = serde_json::from_str(&text).unwrap();
            assert_eq!(again.result.metrics["n"].as_f64().unwrap().to_bits(), n.to_bits());
            assert_eq!(again, e);
        }
    }
}
