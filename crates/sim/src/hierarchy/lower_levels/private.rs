//! Private memory that has left the caches: pages that have been written, for a launch.

use rustc_hash::FxHashMap;

use crate::hierarchy::line::LONGEST_LINE;

/// Bytes of a page: a multiple of all lines.
const PAGE: u64 = 1 << 14;

/// The pages by their numbers.
#[derive(Default)]
pub(super) struct PrivateMemory(FxHashMap<u64, Box<[u8; PAGE as usize]>>);

impl PrivateMemory {
    /// Reads bytes from an address on that are all of a line; what was never written is 0.
    #[inline]
    pub fn read(&self, address: u64, out: &mut [u8]) {
        let at = (address % PAGE) as usize;
        match self.0.get(&(address / PAGE)).and_then(|page| page.get(at..at + out.len())) {
            Some(bytes) => out.copy_from_slice(bytes),
            None => out.fill(0),
        }
    }

    /// The line that begins at an address, with room for the longest one.
    #[inline]
    pub fn line_mut(&mut self, address: u64) -> &mut [u8] {
        let page = self.0.entry(address / PAGE).or_insert_with(|| Box::new([0; PAGE as usize]));
        let at = (address % PAGE) as usize;
        let end = (at + LONGEST_LINE).min(page.len());
        &mut page[at..end]
    }

    /// All of it is gone.
    pub fn clear(&mut self) {
        self.0.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_never_written_is_zero() {
        let mut m = PrivateMemory::default();
        m.line_mut(3 * PAGE - 128)[..4].copy_from_slice(&[1, 2, 3, 4]);
        let read = |m: &PrivateMemory, address: u64| {
            let mut out = [9; 4];
            m.read(address, &mut out);
            out
        };
        assert_eq!([3 * PAGE - 128, 3 * PAGE - 124, 3 * PAGE, 7].map(|a| read(&m, a)), [[1, 2, 3, 4], [0; 4], [0; 4], [0; 4]]);
        m.clear();
        assert_eq!(read(&m, 3 * PAGE - 128), [0; 4]);
    }
}
