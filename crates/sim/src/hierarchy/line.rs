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

/// Bytes of a word of a mask.
pub const MASK_WORD: u64 = 64;

/// Adds `bytes` bytes (1 to 64) from `offset` on, inside a word of a mask as the parts of accesses are, to a mask.
#[inline]
pub fn add_bytes(mask: &mut ByteMask, offset: usize, bytes: usize) {
    mask[offset / 64] |= span(offset, bytes);
}

/// Adds bytes from `offset` on, in any words, to a mask.
#[inline]
fn add_run(mask: &mut ByteMask, offset: usize, bytes: usize) {
    for (w, word) in mask.iter_mut().enumerate() {
        let (from, to) = (offset.clamp(w * 64, w * 64 + 64), (offset + bytes).clamp(w * 64, w * 64 + 64));
        if from < to {
            *word |= span(from, to - from);
        }
    }
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
        add_run(&mut mask, start, end - start);
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

/// Values of up to 64 lanes: by word of the value, one for each lane.
pub type LaneWords = [[u32; 64]; 4];

/// The bytes of a lane's value.
pub fn bytes_of_lane(values: &LaneWords, lane: usize) -> [u8; 16] {
    let mut bytes = [0; 16];
    for (bytes, words) in bytes.chunks_exact_mut(4).zip(values) {
        bytes.copy_from_slice(&words[lane].to_le_bytes());
    }
    bytes
}

/// The values of lanes that are given as bytes.
pub fn words_of_lanes(lanes: &[[u8; 16]]) -> LaneWords {
    let mut values = [[0; 64]; 4];
    for (lane, bytes) in lanes.iter().enumerate() {
        for (words, bytes) in values.iter_mut().zip(bytes.chunks_exact(4)) {
            words[lane] = u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
        }
    }
    values
}

/// Which bytes of a line are which lanes' of an access.
#[derive(Clone, Copy, Debug)]
pub struct LaneBytes<'o> {
    /// The lanes, a bit each.
    pub lanes: u64,
    /// Their first bytes in the line.
    pub offsets: &'o LaneOffsets,
    /// Bytes of each lane.
    pub bytes: usize,
    /// First word of the lane's value that they are.
    pub to: usize,
}

/// How lanes that follow each other use a line.
enum Pattern {
    /// Words that follow each other.
    Row,
    /// The same bytes.
    Same,
    Other,
}

impl LaneBytes<'_> {
    /// The lanes, if they follow each other.
    #[inline]
    fn range(&self) -> Option<Range<usize>> {
        let first = self.lanes.trailing_zeros();
        let count = self.lanes.checked_shr(first)?.trailing_ones();
        (count == self.lanes.count_ones()).then_some(first as usize..(first + count) as usize)
    }

    /// How lanes that follow each other use a line of some bytes, of which each has a word.
    #[inline]
    fn pattern(&self, range: &Range<usize>, line_bytes: usize) -> Pattern {
        let offsets = &self.offsets[range.clone()];
        let first = offsets[0];
        // Sixteen at a time are one vector of the host.
        const STEPS: [u8; 16] = {
            let (mut steps, mut i) = ([0; 16], 0);
            while i < steps.len() {
                steps[i] = 4 * i as u8;
                i += 1;
            }
            steps
        };
        let (mut row, mut same, mut next) = ([0; 16], [0; 16], first);
        let (chunks, rest) = offsets.as_chunks::<16>();
        for chunk in chunks {
            for (k, offset) in chunk.iter().enumerate() {
                row[k] |= offset ^ next.wrapping_add(STEPS[k]);
                same[k] |= offset ^ first;
            }
            next = next.wrapping_add(64);
        }
        for (k, offset) in rest.iter().enumerate() {
            row[k] |= offset ^ next.wrapping_add(STEPS[k]);
            same[k] |= offset ^ first;
        }
        let any = |bits: [u8; 16]| bits.into_iter().fold(0, |all, b| all | b);
        match (any(row), any(same)) {
            // Behind the line's end numbers begin again.
            (0, _) if usize::from(first) + 4 * offsets.len() <= line_bytes => Pattern::Row,
            (_, 0) => Pattern::Same,
            _ => Pattern::Other,
        }
    }

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
    /// `values`: by word, one for each lane.
    #[inline]
    pub fn gather(&self, values: &[&[u32]], line: &mut LineBytes) -> ByteMask {
        let (mut rest, mut mask) = (self.lanes, ByteMask::default());
        if self.bytes == 4 {
            let values = values[self.to];
            if let Some(range) = self.range()
                && let Pattern::Row = self.pattern(&range, LONGEST_LINE)
            {
                let start = usize::from(self.offsets[range.start]);
                for (bytes, value) in line[start..].chunks_exact_mut(4).zip(&values[range.clone()]) {
                    bytes.copy_from_slice(&value.to_le_bytes());
                }
                add_run(&mut mask, start, 4 * range.len());
                return mask;
            }
            while rest != 0 {
                let lane = rest.trailing_zeros() as usize;
                rest &= rest - 1;
                let at = usize::from(self.offsets[lane]);
                line[at..at + 4].copy_from_slice(&values[lane].to_le_bytes());
                add_bytes(&mut mask, at, 4);
            }
            return mask;
        }
        while rest != 0 {
            let lane = rest.trailing_zeros() as usize;
            rest &= rest - 1;
            let at = usize::from(self.offsets[lane]);
            for (bytes, values) in line[at..at + self.bytes].chunks_mut(4).zip(&values[self.to..]) {
                bytes.copy_from_slice(&values[lane].to_le_bytes()[..bytes.len()]);
            }
            add_bytes(&mut mask, at, self.bytes);
        }
        mask
    }

    /// Gives each lane its bytes of a line; those of a word that they do not fill are zeros.
    #[inline]
    pub fn scatter(&self, line: &[u8], out: &mut LaneWords) {
        let mut rest = self.lanes;
        if self.bytes == 4 {
            let out = &mut out[self.to];
            let word = |at: usize| u32::from_le_bytes([line[at], line[at + 1], line[at + 2], line[at + 3]]);
            if rest.is_power_of_two() {
                let lane = rest.trailing_zeros() as usize;
                out[lane] = word(usize::from(self.offsets[lane]));
                return;
            }
            if let Some(range) = self.range() {
                let start = usize::from(self.offsets[range.start]);
                match self.pattern(&range, line.len()) {
                    Pattern::Row => {
                        for (value, bytes) in out[range].iter_mut().zip(line[start..].chunks_exact(4)) {
                            *value = u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
                        }
                    }
                    Pattern::Same => out[range].fill(word(start)),
                    Pattern::Other => {
                        for (value, at) in out[range.clone()].iter_mut().zip(&self.offsets[range]) {
                            *value = word(usize::from(*at));
                        }
                    }
                }
                return;
            }
            while rest != 0 {
                let lane = rest.trailing_zeros() as usize;
                rest &= rest - 1;
                out[lane] = word(usize::from(self.offsets[lane]));
            }
            return;
        }
        while rest != 0 {
            let lane = rest.trailing_zeros() as usize;
            rest &= rest - 1;
            let at = usize::from(self.offsets[lane]);
            for (bytes, out) in line[at..at + self.bytes].chunks(4).zip(&mut out[self.to..]) {
                let mut word = [0; 4];
                word[..bytes.len()].copy_from_slice(bytes);
                out[lane] = u32::from_le_bytes(word);
            }
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
        let mut out = [[u32::MAX; 64]; 4];
        let readers = LaneBytes { lanes: 0b101, offsets: &offsets, bytes: 2, to: 1 };
        assert_eq!((readers.within(0b1, 4), readers.within(0b10, 4), readers.within(0b11, 4)), (0b001, 0b100, 0b101));
        readers.scatter(&line, &mut out);
        assert_eq!(out[1][..4], [0x0100, u32::MAX, 0x0706, u32::MAX]);
        assert_eq!((out[0], out[2]), ([u32::MAX; 64], [u32::MAX; 64]));
    }

    /// What lanes get and give does not depend on the shortcuts for those that follow each other.
    #[test]
    fn lanes_read_and_write_words_of_a_line() {
        let line: LineBytes = std::array::from_fn(|b| b as u8 ^ 0x5a);
        let value = |at: usize, bytes: usize| (0..bytes).fold(0u128, |v, b| v | u128::from(line[at + b]) << (8 * b));
        let patterns: [fn(usize) -> usize; 5] =
            [|lane| 64 + 4 * lane, |_| 12, |lane| (4 * lane + 200) % 256, |lane| 252 - 4 * lane, |lane| lane / 2 * 16 % 256];
        let all_lanes = [u64::MAX, 0xffff_ffff, 0x000f_ffff, 0x1_ffff << 5, 0xff00, 1, 1 << 63, 0x8421_0ff0, 0x5555_5555, 0];
        for (lanes, pattern, bytes) in
            all_lanes.iter().flat_map(|l| patterns.map(|p| [1, 2, 4, 8, 16].map(|b| (*l, p, b)))).flatten()
        {
            let offsets: LaneOffsets = std::array::from_fn(|lane| (pattern(lane) / bytes * bytes) as u8);
            let accesses = LaneBytes { lanes, offsets: &offsets, bytes, to: 0 };
            let mut out = [[7; 64]; 4];
            accesses.scatter(&line, &mut out);
            let (mut written, mut expected, mut mask) = ([0; LONGEST_LINE], [0; LONGEST_LINE], ByteMask::default());
            for lane in 0..64 {
                let (at, words) = (usize::from(offsets[lane]), bytes.div_ceil(4));
                let got = (0..words).fold(0, |v, k| v | u128::from(out[k][lane]) << (32 * k));
                if lanes >> lane & 1 == 0 {
                    assert!((0..4).all(|k| out[k][lane] == 7));
                    continue;
                }
                assert_eq!(got, value(at, bytes), "lane {lane} of {lanes:#x}, {bytes} bytes");
                for b in 0..bytes {
                    expected[at + b] = (lane as u8).wrapping_add(40u8.wrapping_mul(b as u8));
                    mask[(at + b) / 64] |= 1 << ((at + b) % 64);
                }
            }
            let values: LaneWords = std::array::from_fn(|k| {
                std::array::from_fn(|lane| {
                    u32::from_le_bytes(std::array::from_fn(|b| (lane as u8).wrapping_add(40u8.wrapping_mul((4 * k + b) as u8))))
                })
            });
            assert_eq!(accesses.gather(&values.each_ref().map(|w| &w[..]), &mut written), mask, "{lanes:#x}, {bytes} bytes");
            assert_eq!(written, expected, "{lanes:#x}, {bytes} bytes");
        }
    }
}
