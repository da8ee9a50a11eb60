//! Lines and their parts: numbers, bytes, masks of bytes and of sectors, and how lanes' bytes lie in them.

use std::ops::Range;

/// A line number: address divided by the size of a line.
pub type LineNumber = u64;

/// Bytes of the longest line (the machine description's limit).
pub const LONGEST_LINE: usize = 256;
/// A line's bytes, from the first on; those behind a shorter line's mean nothing.
pub type LineBytes = [u8; LONGEST_LINE];
/// Bytes of a line, a bit each.
pub type ByteMask = [u64; LONGEST_LINE / 64];
/// Each lane's first byte in its line.
pub type LaneOffsets = [u8; 64];

/// Adds `bytes` bytes (1 to 64) from `offset` on, inside a word of 64 bytes as aligned accesses are, to a mask.
#[inline]
pub fn add_bytes(mask: &mut ByteMask, offset: usize, bytes: usize) {
    mask[offset / 64] |= span(offset, bytes);
}

/// The bits of bytes from `offset` on in their word of a mask.
#[inline]
fn span(offset: usize, bytes: usize) -> u64 {
    (u64::MAX >> (64 - bytes)) << (offset % 64)
}

/// Bytes of a mask, lowest first.
#[inline]
pub fn bytes_of(mask: &ByteMask) -> impl Iterator<Item = usize> {
    mask.iter().enumerate().flat_map(|(w, word)| {
        let mut rest = *word;
        std::iter::from_fn(move || {
            let b = (rest != 0).then(|| w * 64 + rest.trailing_zeros() as usize);
            rest &= rest.wrapping_sub(1);
            b
        })
    })
}

/// Sectors that a mask of bytes touches, a bit each.
#[inline]
pub fn sectors_of(mask: &ByteMask, sector_bytes: usize) -> u64 {
    let mut sectors = 0;
    for (w, m) in mask.iter().enumerate() {
        let mut m = *m;
        while m != 0 {
            let b = w * 64 + m.trailing_zeros() as usize;
            let s = b / sector_bytes;
            sectors |= 1 << s;
            // On to the next sector.
            let next = (s + 1) * sector_bytes;
            if next >= (w + 1) * 64 {
                break;
            }
            m &= u64::MAX << (next - w * 64);
        }
    }
    sectors
}

/// Sectors of a mask that follow each other: most accesses take whole lines, and one copy is cheaper than several.
#[inline]
pub fn runs(mut sectors: u64) -> impl Iterator<Item = Range<usize>> {
    std::iter::from_fn(move || {
        if sectors == 0 {
            return None;
        }
        let start = sectors.trailing_zeros();
        let end = start + (sectors >> start).trailing_ones();
        sectors &= u64::MAX.checked_shl(end).unwrap_or(0);
        Some(start as usize..end as usize)
    })
}

/// Whether the lanes' bytes, `bytes` each, do not overlap.
pub fn are_distinct(offsets: &LaneOffsets, lanes: u64, bytes: usize) -> bool {
    let mut seen = ByteMask::default();
    for lane in (0..64).filter(|l| lanes >> l & 1 == 1) {
        let at = usize::from(offsets[lane]);
        if seen[at / 64] & span(at, bytes) != 0 {
            return false;
        }
        add_bytes(&mut seen, at, bytes);
    }
    true
}

/// Which bytes of a line go to which lanes of a load.
#[derive(Clone, Copy, Debug)]
pub struct LaneBytes {
    /// The lanes, a bit each.
    pub lanes: u64,
    /// Their first bytes in the line.
    pub offsets: LaneOffsets,
    /// Bytes of each lane.
    pub bytes: usize,
    /// First byte of the lane's value that they are.
    pub to: usize,
}

impl LaneBytes {
    /// Gives each lane its bytes of a line.
    #[inline]
    pub fn scatter(&self, line: &LineBytes, out: &mut [[u8; 16]]) {
        let (mut lanes, to) = (self.lanes, self.to);
        macro_rules! each {
            ($n:expr) => {
                while lanes != 0 {
                    let lane = lanes.trailing_zeros() as usize;
                    lanes &= lanes - 1;
                    let at = usize::from(self.offsets[lane]);
                    out[lane][to..to + $n].copy_from_slice(&line[at..at + $n]);
                }
            };
        }
        // Copies of a length known to the compiler are single moves.
        match self.bytes {
            4 => each!(4),
            8 => each!(8),
            16 => each!(16),
            n => each!(n),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sectors_that_follow_each_other() {
        let all = |sectors| runs(sectors).map(|r| (r.start, r.end)).collect::<Vec<_>>();
        assert!(all(0).is_empty());
        assert_eq!(all(0b1101_0110), [(1, 3), (4, 5), (6, 8)]);
        assert_eq!(all(u64::MAX), [(0, 64)]);
        assert_eq!(all(1 << 63), [(63, 64)]);
    }

    #[test]
    fn bytes_and_their_sectors() {
        let mut mask = ByteMask::default();
        add_bytes(&mut mask, 30, 2);
        add_bytes(&mut mask, 64, 64);
        assert_eq!(bytes_of(&mask).take(3).collect::<Vec<_>>(), [30, 31, 64]);
        assert_eq!(bytes_of(&mask).count(), 66);
        assert_eq!(sectors_of(&mask, 32), 0b1101);
        assert_eq!(sectors_of(&mask, 128), 0b1);
    }

    #[test]
    fn lanes_may_share_bytes() {
        let mut offsets = [0; 64];
        (offsets[0], offsets[1], offsets[2]) = (0, 4, 6);
        assert!(are_distinct(&offsets, 0b011, 4) && !are_distinct(&offsets, 0b111, 4));
        assert!(are_distinct(&offsets, 0b111, 2));
        let mut line = [0; LONGEST_LINE];
        (0..8u8).for_each(|b| line[usize::from(b)] = b);
        let mut out = [[0xff; 16]; 3];
        LaneBytes { lanes: 0b101, offsets, bytes: 2, to: 4 }.scatter(&line, &mut out);
        assert_eq!((out[0][3..7].to_vec(), out[2][4..6].to_vec()), (vec![0xff, 0, 1, 0xff], vec![6, 7]));
        assert_eq!(out[1], [0xff; 16]);
    }
}
