//! Checkpoints: the state of a device before a launch of a case or of a program, in a file.
//!
//! A file has a line of JSON, which says of what and before which launch, and then the state: the contents of
//! all allocations, of caches and translation buffers, and which L1 lines may be stale. What is restored goes on
//! as it would have, to the cycle. What the state belongs to (machine, code, case) is hashed, and a file of
//! something else is refused.
//!
//! Of a program only the device's part can be kept. The program runs again, its launches before the checkpoint
//! without timing; then memory must hold what it held ([`Restored::same_memory`]), and caches get what they had.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use heddle_object::Image;
use heddle_sim::snapshot::Snapshot;
use heddle_target::Machine;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::super::case::Case;
use super::device::DeviceState;

/// The form of the files.
const VERSION: u32 = 1;

/// Where checkpoints of a run are written, and from where it goes on.
#[derive(Clone, Debug, Default)]
pub struct Checkpoints {
    /// Files, each written before the launch of a number, counted from 1 over all launches of the case.
    pub write: Vec<(u64, PathBuf)>,
    /// A file to go on from; launches before are left out.
    pub restore: Option<PathBuf>,
}

impl Checkpoints {
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.write.is_empty() && self.restore.is_none()
    }
}

/// What a checkpoint is of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Header {
    heddle_checkpoint: u32,
    /// A hash of machine, code and case.
    of: String,
    /// The launch that comes next.
    launch: u64,
    /// A hash of the state.
    state: String,
    /// What a program had done; none for a case.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    program: Option<ProgramPlace>,
}

/// What a program had done before a checkpoint.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProgramPlace {
    /// The kernel of the launch that comes next.
    pub kernel: String,
    /// A hash of all launches so far and of the next one: kernels, code, sizes.
    pub launches: String,
    /// Launches ran functionally since the last timed one.
    pub behind: bool,
    /// Cycles of each launch so far; 0 without timing.
    pub cycles: Vec<u64>,
}

/// A state that was read.
#[derive(Debug)]
pub struct Restored {
    /// The launch that comes next.
    pub launch: u64,
    state: Vec<u8>,
    path: PathBuf,
}

/// A hash of all that a state depends on.
pub fn identity(machine: &Machine, image: &Image, case: &Case) -> String {
    let mut hash = Sha256::new();
    let case = format!("{:?} {:?} {:?}", case.buffers, case.launches, case.folder);
    for part in [format!("{machine:?}"), format!("{:?}", image.metadata), case] {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part);
    }
    image.text.iter().for_each(|word| hash.update(word.to_le_bytes()));
    hash.update(&image.data);
    hexadecimal(hash)
}

/// The first half of a hash.
fn hexadecimal(hash: Sha256) -> String {
    hash.finalize().iter().take(16).map(|byte| format!("{byte:02x}")).collect()
}

/// An error about a file.
fn failed(path: &Path, what: impl std::fmt::Display) -> String {
    format!("checkpoint {}: {what}", path.display())
}

/// Writes the state of a device before a launch of a case, or of a program; the file appears whole or not at all.
///
/// # Errors
/// A sentence naming the file.
pub fn write(path: &Path, device: &mut DeviceState, of: &str, launch: u64, program: Option<ProgramPlace>) -> Result<(), String> {
    let mut snapshot = Snapshot::writer();
    device.exchange(&mut snapshot).map_err(|e| failed(path, e))?;
    let state = snapshot.into_bytes();
    let hash = hexadecimal(Sha256::new_with_prefix(&state));
    let header = Header { heddle_checkpoint: VERSION, of: of.into(), launch, state: hash, program };
    let mut bytes = serde_json::to_vec(&header).map_err(|e| failed(path, e))?;
    bytes.push(b'\n');
    bytes.extend(state);
    let mut unfinished = path.as_os_str().to_os_string();
    unfinished.push(".unfinished");
    std::fs::write(&unfinished, bytes).and_then(|()| std::fs::rename(&unfinished, path)).map_err(|e| failed(path, e))
}

/// Reads the first line of a checkpoint of what `of` says.
fn read_header(path: &Path, from: &mut impl BufRead, of: &str, of_program: bool) -> Result<Header, String> {
    let mut line = Vec::new();
    from.read_until(b'\n', &mut line).map_err(|e| failed(path, e))?;
    let header: Header = serde_json::from_slice(&line).map_err(|_| failed(path, "this is no checkpoint"))?;
    if header.heddle_checkpoint != VERSION {
        return Err(failed(path, "written by another version of Heddle; write it again"));
    }
    match (&header.program, of_program) {
        (Some(_), false) => return Err(failed(path, "it is of a program: `heddle exec --restore` goes on from it")),
        (None, true) => return Err(failed(path, "it is of a case: `heddle run CASE --restore` goes on from it")),
        _ => {}
    }
    if header.of != of {
        let what = if of_program { "other options of the compiler" } else { "other code or another case" };
        return Err(failed(path, format!("of another machine, {what}; write it again with these")));
    }
    Ok(header)
}

fn open(path: &Path) -> Result<BufReader<File>, String> {
    File::open(path).map(BufReader::new).map_err(|e| failed(path, e))
}

fn read_state(path: &Path, header: &Header, mut from: impl Read) -> Result<Restored, String> {
    let mut state = Vec::new();
    from.read_to_end(&mut state).map_err(|e| failed(path, e))?;
    if hexadecimal(Sha256::new_with_prefix(&state)) != header.state {
        return Err(failed(path, "it is cut short or damaged"));
    }
    Ok(Restored { launch: header.launch, state, path: path.into() })
}

/// Reads a checkpoint of a case, of which `of` is the [`identity`].
///
/// # Errors
/// A sentence naming the file.
pub fn read(path: &Path, of: &str) -> Result<Restored, String> {
    let mut file = open(path)?;
    let header = read_header(path, &mut file, of, false)?;
    read_state(path, &header, file)
}

/// Reads a checkpoint of a program; `of` says with which machine and options.
///
/// # Errors
/// A sentence naming the file.
pub fn read_program(path: &Path, of: &str) -> Result<(Restored, ProgramPlace), String> {
    let mut file = open(path)?;
    let header = read_header(path, &mut file, of, true)?;
    let restored = read_state(path, &header, file)?;
    Ok((restored, header.program.unwrap_or_default()))
}

/// Whether a program can go on from a checkpoint, as far as its first line says.
///
/// # Errors
/// A sentence naming the file.
pub fn check_program(path: &Path, of: &str) -> Result<(), String> {
    read_header(path, &mut open(path)?, of, true).map(|_| ())
}

impl Restored {
    /// Whether a device's memory holds what it held when the checkpoint was written.
    ///
    /// # Errors
    /// A sentence about the first allocation that is not as it was.
    pub fn same_memory(&mut self, device: &DeviceState) -> Result<(), String> {
        let mut state = Snapshot::reader(std::mem::take(&mut self.state));
        let compared = device.compare_memory(&mut state);
        self.state = state.into_bytes();
        compared
    }

    /// Gives a device the state.
    ///
    /// # Errors
    /// A sentence naming the file.
    pub fn give(self, device: &mut DeviceState) -> Result<(), String> {
        let mut snapshot = Snapshot::reader(self.state);
        let given = device.exchange(&mut snapshot);
        match given {
            Ok(()) if snapshot.fits() => Ok(()),
            Ok(()) => Err(format!("checkpoint {}: it is cut short or damaged", self.path.display())),
            Err(e) => Err(format!("checkpoint {}: {e}", self.path.display())),
        }
    }
}
