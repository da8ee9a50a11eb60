//! Checkpoints: the state of a device before a launch of a case, in a file.
//!
//! A file has a line of JSON, which says of what and before which launch, and then the state: the contents of
//! all allocations, of caches and translation buffers, and which L1 lines may be stale. A case that is restored
//! goes on as it would have, to the cycle. What the state belongs to (machine, code, case) is hashed, and a
//! file of something else is refused.

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

/// Writes the state of a device before a launch; the file appears whole or not at all.
///
/// # Errors
/// A sentence naming the file.
pub fn write(path: &Path, device: &mut DeviceState, of: &str, launch: u64) -> Result<(), String> {
    let failed = |e: &dyn std::fmt::Display| format!("checkpoint {}: {e}", path.display());
    let mut snapshot = Snapshot::writer();
    device.exchange(&mut snapshot).map_err(|e| failed(&e))?;
    let state = snapshot.into_bytes();
    let hash = hexadecimal(Sha256::new_with_prefix(&state));
    let header = Header { heddle_checkpoint: VERSION, of: of.into(), launch, state: hash };
    let mut bytes = serde_json::to_vec(&header).map_err(|e| failed(&e))?;
    bytes.push(b'\n');
    bytes.extend(state);
    let mut unfinished = path.as_os_str().to_os_string();
    unfinished.push(".unfinished");
    std::fs::write(&unfinished, bytes).and_then(|()| std::fs::rename(&unfinished, path)).map_err(|e| failed(&e))
}

/// Reads a checkpoint of what `of` says.
///
/// # Errors
/// A sentence naming the file.
pub fn read(path: &Path, of: &str) -> Result<Restored, String> {
    let failed = |e: &dyn std::fmt::Display| format!("checkpoint {}: {e}", path.display());
    let mut bytes = std::fs::read(path).map_err(|e| failed(&e))?;
    let end = bytes.iter().position(|b| *b == b'\n').ok_or_else(|| failed(&"this is no checkpoint"))?;
    let header: Header = serde_json::from_slice(&bytes[..end]).map_err(|_| failed(&"this is no checkpoint"))?;
    if header.heddle_checkpoint != VERSION {
        return Err(failed(&"written by another version of Heddle; write it again"));
    }
    if header.of != of {
        return Err(failed(&"of another machine, other code or another case; write it again with these"));
    }
    let state = bytes.split_off(end + 1);
    if hexadecimal(Sha256::new_with_prefix(&state)) != header.state {
        return Err(failed(&"it is cut short or damaged"));
    }
    Ok(Restored { launch: header.launch, state, path: path.into() })
}

impl Restored {
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
