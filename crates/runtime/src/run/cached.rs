//! What caches hold when the first launch of a case begins, in a file: L2 of its buffers, the instruction L1s of
//! its kernel.
//!
//! A launch that was recorded out of a program has buffers at other addresses than in the program, so what its
//! caches held is kept by buffer: runs of bytes, those first that would be evicted first. Lines of what the
//! launch has no pointer to are not kept. Other L1 caches and translation buffers begin empty.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::device::DeviceState;

/// The form of the files.
const VERSION: u32 = 1;

/// What L2 holds of some buffers, and whether the kernel's code has been fetched.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CachedBytes {
    heddle_caches: u32,
    /// Names of buffers.
    buffers: Vec<String>,
    /// Which of the buffers, first byte in it, and how many; those first that would be evicted first.
    runs: Vec<(usize, u64, u64)>,
    /// An earlier launch has fetched the kernel's code.
    code: bool,
}

impl CachedBytes {
    /// Of runs of bytes of device memory what is in buffers: name, first address, bytes. `code`: an earlier launch
    /// has fetched the kernel's code.
    pub fn of(runs: &[(u64, u64)], buffers: &[(&str, u64, u64)], code: bool) -> CachedBytes {
        let mut kept = Vec::new();
        for (start, bytes) in runs {
            for (number, (_, address, length)) in buffers.iter().enumerate() {
                let (from, to) = ((*start).max(*address), (start + bytes).min(address + length));
                if from < to {
                    kept.push((number, from - address, to - from));
                }
            }
        }
        let buffers = buffers.iter().map(|(name, ..)| (*name).to_string()).collect();
        CachedBytes { heddle_caches: VERSION, buffers, runs: kept, code }
    }

    /// As the text of a file.
    ///
    /// # Errors
    /// A sentence.
    pub fn text(&self) -> Result<String, String> {
        serde_json::to_string(self).map(|text| text + "\n").map_err(|e| e.to_string())
    }

    /// Reads a file.
    ///
    /// # Errors
    /// A sentence naming it.
    pub fn read(path: &Path) -> Result<CachedBytes, String> {
        let failed = |e: &dyn std::fmt::Display| format!("caches {}: {e}", path.display());
        let text = std::fs::read(path).map_err(|e| failed(&e))?;
        let read: CachedBytes =
            serde_json::from_slice(&text).map_err(|e| failed(&format!("this is no file of what caches held: {e}")))?;
        if read.heddle_caches != VERSION {
            return Err(failed(&"written by another version of Heddle; record the launch again"));
        }
        Ok(read)
    }

    /// Gives L2 of a device the bytes of its buffers (first address and length of each, by name), and the
    /// instruction L1s the code: its first byte, and bytes.
    ///
    /// # Errors
    /// A buffer that there is not, or that ends before.
    pub(super) fn give(
        &self,
        device: &mut DeviceState,
        buffers: &BTreeMap<&str, (u64, u64)>,
        code: Option<[u64; 2]>,
    ) -> Result<(), String> {
        let mut runs = Vec::with_capacity(self.runs.len());
        for (number, offset, bytes) in &self.runs {
            let name = self.buffers.get(*number).map_or("", String::as_str);
            let Some((address, length)) = buffers.get(name) else {
                return Err(format!("--caches: the case has no buffer `{name}`"));
            };
            if offset.checked_add(*bytes).is_none_or(|end| end > *length) {
                return Err(format!("--caches: buffer `{name}` has {length} bytes; {bytes} from {offset} on are not in it"));
            }
            runs.push((address + offset, *bytes));
        }
        device.bring(&runs);
        if let Some(code) = code.filter(|_| self.code) {
            device.bring_code(code);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_kept_by_buffer() {
        let buffers = [("a", 0x1000, 0x100), ("b", 0x1200, 0x80)];
        let kept = CachedBytes::of(&[(0x1280, 64), (0x10c0, 0x180), (0x0f80, 0xa0)], &buffers, true);
        assert!(kept.code);
        assert_eq!(kept.runs, [(0, 0xc0, 0x40), (1, 0, 0x40), (0, 0, 0x20)]);
        assert_eq!(serde_json::from_str::<CachedBytes>(&kept.text().unwrap()).unwrap(), kept);
        assert!(CachedBytes::read(Path::new("/none")).unwrap_err().contains("/none: "));
    }
}
