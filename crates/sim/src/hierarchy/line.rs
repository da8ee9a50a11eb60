//! Lines and their parts: numbers, bytes, masks of bytes and of sectors, and how lanes' bytes lie in them.

use std::ops::Range;

/// A line number: address divided by the size of a line.
pub type LineNumber = u64;

/// Bytes of the longest line (the machine description's limit).
pub const LONGEST_LINE: usize = 256;
/// A line's bytes, from the first on; those behind a shorter line's mean nothing.
pub type LineBytes = [u8; LONGEST_LINE];
/// A line that goes from place to place without being copied.
pub type LineBox = Box<LineBytes>;
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

/// Copies the bytes of a mask.
#[inline]
pub fn copy_bytes(to: &mut [u8], from: &[u8], mask: &ByteMask) {
    for (w, word) in mask.iter().enumerate().filter(|w| *w.1 != 0) {
        for run in runs(*word) {
            let range = w * 64 + run.start..w * 64 + run.end;
            to[range.clone()].copy_from_slice(&from[range]);
        }
    }
}

/// For each sector (whose size is a power of two, up to 64 bytes), a bit that says whether `is_wanted` says so of its bits of
/// a mask of bytes. Words without any are passed over.
#[inline]
fn small_sectors(mask: &ByteMask, sector_bytes: usize, is_wanted: impl Fn(u64) -> bool) -> u64 {
    let (full, in_word) = (u64::MAX >> (64 - sector_bytes), 64 >> sector_bytes.trailing_zeros());
    let mut sectors = 0;
    for (w, word) in mask.iter().enumerate().filter(|w| *w.1 != 0) {
        for s in 0..in_word {
            sectors |= u64::from(is_wanted(word >> (s * sector_bytes) & full)) << (w * in_word + s);
        }
    }
    sectors
}

/// The same for sectors of several words, of which `is_wanted` is told.
#[inline]
fn large_sectors(mask: &ByteMask, sector_bytes: usize, is_wanted: impl Fn(&[u64]) -> bool) -> u64 {
    mask.chunks(sector_bytes / 64).enumerate().fold(0, |all, (s, words)| all | u64::from(is_wanted(words)) << s)
}

/// Sectors (whose size is a power of two) that a mask of bytes touches, a bit each.
#[inline]
pub fn sectors_of(mask: &ByteMask, sector_bytes: usize) -> u64 {
    match sector_bytes {
        ..=64 => small_sectors(mask, sector_bytes, |bits| bits != 0),
        _ => large_sectors(mask, sector_bytes, |words| words.iter().any(|w| *w != 0)),
    }
}

/// Sectors (whose size is a power of two) of which a mask has every byte.
#[inline]
pub fn whole_sectors_of(mask: &ByteMask, sector_bytes: usize) -> u64 {
    match sector_bytes {
        ..=64 => small_sectors(mask, sector_bytes, |bits| bits == u64::MAX >> (64 - sector_bytes)),
        _ => large_sectors(mask, sector_bytes, |words| words.iter().all(|w| *w == u64::MAX)),
    }
}

/// The bytes of sectors, a bit each.
#[inline]
pub fn bytes_of_sectors(sectors: u64, sector_bytes: usize) -> ByteMask {
    let mut mask = ByteMask::default();
    for run in runs(sectors) {
        let (start, end) = (run.start * sector_bytes, (run.end * sector_bytes).min(LONGEST_LINE));
        for (w, word) in mask.iter_mut().enumerate() {
            let (from, to) = (start.clamp(w * 64, w * 64 + 64) - w * 64, end.clamp(w * 64, w * 64 + 64) - w * 64);
            if from < to {
                *word |= span(from, to - from);
            }
        }
    }
    mask
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

/// Copies sectors of a line. Those that are not needed are not even read: they are rarely in the host's caches.
#[inline]
pub fn copy_sectors(to: &mut [u8], from: &[u8], sectors: u64, sector_bytes: usize) {
    for run in runs(sectors) {
        let range = run.start * sector_bytes..run.end * sector_bytes;
        to[range.clone()].copy_from_slice(&from[range]);
    }
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
pub struct LaneBytes<'o> {
    /// The lanes, a bit each.
    pub lanes: u64,
    /// Their first bytes in the line.
    pub offsets: &'o LaneOffsets,
    /// Bytes of each lane.
    pub bytes: usize,
    /// First byte of the lane's value that they are.
    pub to: usize,
}

impl LaneBytes<'_> {
    /// Those of the lanes whose first byte is in one of some sectors (whose size is a power of two).
    #[inline]
    pub fn within(&self, sectors: u64, sector_bytes: usize) -> u64 {
        let (mut lanes, mut within) = (self.lanes, 0);
        while lanes != 0 {
            let lane = lanes.trailing_zeros() as usize;
            lanes &= lanes - 1;
            let sector = usize::from(self.offsets[lane]) >> sector_bytes.trailing_zeros();
            within |= (sectors >> sector & 1) << lane;
        }
        within
    }

    /// Puts each lane's bytes into a line, those of later lanes over those of earlier ones. Returns where they are.
    #[inline]
    pub fn gather(&self, lanes: &[[u8; 16]], line: &mut LineBytes) -> ByteMask {
        let (mut rest, mut mask, from) = (self.lanes, ByteMask::default(), self.to);
        macro_rules! each {
            ($n:expr) => {
                while rest != 0 {
                    let lane = rest.trailing_zeros() as usize;
                    rest &= rest - 1;
                    let at = usize::from(self.offsets[lane]);
                    line[at..at + $n].copy_from_slice(&lanes[lane][from..from + $n]);
                    add_bytes(&mut mask, at, $n);
                }
            };
        }
        match self.bytes {
            4 => each!(4),
            8 => each!(8),
            16 => each!(16),
            n => each!(n),
        }
        mask
    }

    /// Gives each lane its bytes of a line.
    #[inline]
    pub fn scatter(&self, line: &[u8], out: &mut [[u8; 16]]) {
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
        assert_eq!(sectors_of(&mask, 32), 0b1101);
        assert_eq!((sectors_of(&mask, 128), whole_sectors_of(&mask, 128)), (0b1, 0));
        assert_eq!((sectors_of(&mask, 16), whole_sectors_of(&mask, 16)), (0b1111_0010, 0b1111_0000));
        assert_eq!((whole_sectors_of(&mask, 32), whole_sectors_of(&mask, 64)), (0b1100, 0b10));
        assert_eq!(whole_sectors_of(&[u64::MAX, u64::MAX, u64::MAX, 1], 128), 0b1);
        assert_eq!(bytes_of_sectors(0b1101, 32), [0xffff_ffff, u64::MAX, 0, 0]);
        assert_eq!(bytes_of_sectors(0b10, 128), [0, 0, u64::MAX, u64::MAX]);
        let (from, mut to) = ([7; LONGEST_LINE], [0; LONGEST_LINE]);
        copy_bytes(&mut to, &from, &mask);
        let copied: Vec<usize> = (0..LONGEST_LINE).filter(|b| to[*b] == 7).collect();
        assert_eq!(copied, (30..32).chain(64..128).collect::<Vec<_>>());
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
        let readers = LaneBytes { lanes: 0b101, offsets: &offsets, bytes: 2, to: 4 };
        assert_eq!((readers.within(0b1, 4), readers.within(0b10, 4), readers.within(0b11, 4)), (0b001, 0b100, 0b101));
        readers.scatter(&line, &mut out);
        assert_eq!((out[0][3..7].to_vec(), out[2][4..6].to_vec()), (vec![0xff, 0, 1, 0xff], vec![6, 7]));
        assert_eq!(out[1], [0xff; 16]);
    }
}
