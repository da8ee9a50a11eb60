//! What stays from launch to launch, written to bytes and read back: one walk through the state serves both.
//!
//! Between launches nothing is on its way, so a state is the contents of caches and translation buffers, the
//! order in which their lines would be evicted, and the open rows of DRAM. Sizes follow from the machine and
//! are not written; bytes of another machine's state do not fit, and are refused.

/// Goes through a state.
#[derive(Debug)]
pub struct Snapshot {
    bytes: Vec<u8>,
    /// Where reading is; `None` while writing.
    read: Option<usize>,
    fits: bool,
}

impl Snapshot {
    /// Takes a state.
    pub fn writer() -> Snapshot {
        Snapshot { bytes: Vec::new(), read: None, fits: true }
    }

    /// Gives one back.
    pub fn reader(bytes: Vec<u8>) -> Snapshot {
        Snapshot { bytes, read: Some(0), fits: true }
    }

    /// The bytes that were written.
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    /// Whether all that was read was there, and nothing is left.
    pub fn fits(&self) -> bool {
        self.fits && self.read.is_none_or(|at| at == self.bytes.len())
    }

    /// Exchanges bytes, as many as there are.
    pub fn bytes(&mut self, bytes: &mut [u8]) {
        let Some(at) = self.read else { return self.bytes.extend_from_slice(bytes) };
        match self.bytes.get(at..at + bytes.len()) {
            Some(from) => bytes.copy_from_slice(from),
            None => self.fits = false,
        }
        self.read = Some(at + bytes.len());
    }

    /// Exchanges a number.
    pub fn word(&mut self, word: &mut u64) {
        let mut bytes = word.to_le_bytes();
        self.bytes(&mut bytes);
        *word = u64::from_le_bytes(bytes);
    }

    /// Exchanges numbers, as many as there are.
    pub fn words<'a>(&mut self, words: impl IntoIterator<Item = &'a mut u64>) {
        words.into_iter().for_each(|w| self.word(w));
    }

    /// Exchanges how many there are of something, at most `most`; as many are exchanged then.
    pub fn length(&mut self, length: usize, most: usize) -> usize {
        let mut word = length as u64;
        self.word(&mut word);
        let fits = word <= most as u64;
        self.fits &= fits;
        if fits { word as usize } else { 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_is_read() {
        let walk = |s: &mut Snapshot, (a, b): (&mut u64, &mut [u8])| {
            s.word(a);
            s.bytes(b);
        };
        let mut writer = Snapshot::writer();
        walk(&mut writer, (&mut 7, &mut [1, 2, 3]));
        let bytes = writer.into_bytes();
        let (mut a, mut b) = (0, [0; 3]);
        let mut reader = Snapshot::reader(bytes.clone());
        assert!(!reader.fits(), "nothing has been read");
        walk(&mut reader, (&mut a, &mut b));
        assert!(reader.fits() && (a, b) == (7, [1, 2, 3]));
        let mut longer = Snapshot::reader(bytes);
        walk(&mut longer, (&mut a, &mut [0; 4]));
        assert!(!longer.fits());
        let mut long = Snapshot::reader(u64::MAX.to_le_bytes().to_vec());
        assert!(long.length(0, 10) == 0 && !long.fits());
    }
}
