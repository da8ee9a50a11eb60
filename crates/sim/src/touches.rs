//! Which lines of device memory a work-group's accesses touch, for caches that are kept warm while
//! functional mode runs.
//!
//! Work-groups run one after the other, but would run side by side; so the touches of as many as the machine
//! holds at once are put in turns.
//!
//! A work-group's accesses go through a small direct-mapped filter, which stands for the L1 caches: a line
//! that it has touched a moment ago is not touched again. What comes through is what L2 would be asked for, in
//! about the order in which it would be.

/// Lines that the filter knows: as many as an L1 of 32 KiB has.
const FILTER: usize = 256;

/// Work-groups whose touches are put in turns, at most, and touches that are kept for that.
const MOST_TOGETHER: u64 = 4096;
const MOST_KEPT: usize = 1 << 22;

/// A line that was touched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Touch {
    /// Its number: address divided by the size of a line.
    pub line: u64,
    /// Its sectors, a bit each.
    pub sectors: u64,
    /// Whether they were written.
    pub written: bool,
    /// Whether the line is then the first to be evicted, as the instruction's policy says (K3, K4).
    pub evict_first: bool,
}

/// The lines that one work-group after the other touches.
#[derive(Debug)]
pub struct Touches {
    line_shift: u32,
    sector_shift: u32,
    filter: Vec<Touch>,
    /// Touches of the work-groups that are put in turns, one after the other, and where each one's end.
    list: Vec<Touch>,
    ends: Vec<usize>,
    together: usize,
}

impl Touches {
    /// For lines and sectors of so many bytes, powers of two; `together` work-groups run side by side.
    pub fn new(line_bytes: u32, sector_bytes: u32, together: u64) -> Touches {
        let (line_shift, sector_shift) = (line_bytes.trailing_zeros(), sector_bytes.trailing_zeros());
        let filter = vec![Touch::default(); FILTER];
        let together = together.clamp(1, MOST_TOGETHER) as usize;
        Touches { line_shift, sector_shift, filter, list: Vec::new(), ends: Vec::new(), together }
    }

    /// The lanes of a mask access `bytes` bytes each.
    pub fn access(&mut self, addresses: &[u64], mask: u64, bytes: u32, (written, evict_first): (bool, bool)) {
        let none = Touch { line: u64::MAX, sectors: 0, written, evict_first };
        match run_of(addresses, mask, bytes) {
            Some(run) => self.access_run(run, none),
            None => self.access_lanes(addresses, mask, bytes, none),
        }
    }

    /// Lane by lane, wherever they access.
    fn access_lanes(&mut self, addresses: &[u64], mut mask: u64, bytes: u32, none: Touch) {
        let mut last = none;
        while mask != 0 {
            let address = addresses[mask.trailing_zeros() as usize];
            mask &= mask - 1;
            let line = address >> self.line_shift;
            if line != last.line {
                self.touch(last);
                last = Touch { line, ..none };
            }
            let (end, of_line) = (address + u64::from(bytes) - 1, address | ((1 << self.line_shift) - 1));
            last.sectors |= self.sectors(address, end.min(of_line));
            if end > of_line {
                // A vector that begins at any word.
                self.touch(last);
                last = Touch { line: line + 1, sectors: self.sectors(of_line + 1, end), ..none };
            }
        }
        self.touch(last);
    }

    /// All bytes from the first to the last are accessed, in the order of their addresses.
    fn access_run(&mut self, (first, last): (u64, u64), none: Touch) {
        for line in first >> self.line_shift..=last >> self.line_shift {
            let start = line << self.line_shift;
            let end = start + ((1 << self.line_shift) - 1);
            self.touch(Touch { line, sectors: self.sectors(first.max(start), last.min(end)), ..none });
        }
    }

    /// The sectors of a line from one of its bytes to another.
    fn sectors(&self, first: u64, last: u64) -> u64 {
        let in_line = |a: u64| (a & ((1 << self.line_shift) - 1)) >> self.sector_shift;
        (u64::MAX >> (63 - (in_line(last) - in_line(first)))) << in_line(first)
    }

    fn touch(&mut self, touch: Touch) {
        if touch.sectors == 0 {
            return;
        }
        let known = &mut self.filter[touch.line as usize % FILTER];
        let same = (known.line, known.written, known.evict_first) == (touch.line, touch.written, touch.evict_first);
        if same && known.sectors & touch.sectors == touch.sectors {
            return;
        }
        *known = Touch { sectors: touch.sectors | if same { known.sectors } else { 0 }, ..touch };
        self.list.push(touch);
    }

    /// The work-group has ended, and the next one begins with an empty filter. `each` is told of touches once
    /// there are as many work-groups as run side by side.
    pub fn end_group(&mut self, each: impl FnMut(Touch)) {
        self.filter.fill(Touch::default());
        self.ends.push(self.list.len());
        if self.ends.len() >= self.together || self.list.len() >= MOST_KEPT {
            self.flush(each);
        }
    }

    /// Tells of all touches that are left, of the work-groups in turns.
    pub fn flush(&mut self, mut each: impl FnMut(Touch)) {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        let mut left: Vec<_> = starts.zip(&self.ends).map(|(start, end)| start..*end).filter(|r| !r.is_empty()).collect();
        while !left.is_empty() {
            left.retain_mut(|range| {
                if let Some(touch) = range.next() {
                    each(self.list[touch]);
                }
                range.start < range.end
            });
        }
        self.list.clear();
        self.ends.clear();
    }
}

/// The first and the last byte that lanes access, if each goes on where the one before ended, or all are at one place.
fn run_of(addresses: &[u64], mask: u64, bytes: u32) -> Option<(u64, u64)> {
    let lanes = mask.trailing_ones() as usize;
    // Lanes without gaps between them, from the first on.
    if lanes == 0 || (lanes < 64 && mask >> lanes != 0) {
        return None;
    }
    let addresses = addresses.get(..lanes)?;
    let (first, last) = (addresses[0], addresses[lanes - 1]);
    let bytes = u64::from(bytes);
    let step = if last == first { 0 } else { bytes };
    // Without an early end, so that the lanes are compared side by side.
    let differences = addresses.iter().zip(0u64..).fold(0, |d, (a, lane)| d | (a ^ first.wrapping_add(lane * step)));
    (differences == 0).then(|| (first, last + (bytes - 1)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taken(touches: &mut Touches) -> Vec<Touch> {
        let mut list = Vec::new();
        touches.end_group(|t| list.push(t));
        list
    }

    #[test]
    fn lanes_of_a_line_are_one_touch() {
        let mut touches = Touches::new(128, 32, 1);
        let row: Vec<u64> = (0..32).map(|i| 4096 + 64 + 4 * i).collect();
        touches.access(&row, u64::from(u32::MAX), 4, (false, false));
        let lines = [
            Touch { line: 32, sectors: 0b1100, written: false, evict_first: false },
            Touch { line: 33, sectors: 0b11, written: false, evict_first: false },
        ];
        assert_eq!(taken(&mut touches), lines);
    }

    proptest::proptest! {
        /// Rows, places that all lanes share, and what is nearly so, give the touches that the lanes give one by one.
        #[test]
        fn runs_are_what_their_lanes_are(
            (first, step) in (0u64..4096, proptest::sample::select(vec![0u64, 1, 2])),
            (log_bytes, lanes) in (0u32..5, 1usize..=64),
            (hole, moved) in (0u32..128, 0usize..128),
        ) {
            let bytes = 1u64 << log_bytes;
            let mut addresses: Vec<u64> = (0..lanes as u64).map(|i| (first + i * step) * bytes).collect();
            if let Some(address) = addresses.get_mut(moved) {
                *address += 64 * bytes;
            }
            let mask = (u64::MAX >> (64 - lanes)) & !(1u64.checked_shl(hole).unwrap_or(0));
            let (mut fast, mut slow) = (Touches::new(128, 32, 1), Touches::new(128, 32, 1));
            let none = Touch { line: u64::MAX, sectors: 0, written: false, evict_first: true };
            for _ in 0..2 {
                fast.access(&addresses, mask, bytes as u32, (false, true));
                slow.access_lanes(&addresses, mask, bytes as u32, none);
                addresses.iter_mut().for_each(|a| *a += 32);
            }
            proptest::prop_assert_eq!(taken(&mut fast), taken(&mut slow));
        }
    }

    #[test]
    fn what_was_touched_a_moment_ago_is_not_touched_again() {
        let mut touches = Touches::new(128, 32, 1);
        for written in [false, false, true] {
            touches.access(&[4096], 1, 16, (written, false));
        }
        touches.access(&[4096 + 32], 1, 4, (true, false));
        touches.access(&[4096, 4096 + 32], 3, 4, (true, false));
        let touch = |sectors, written| Touch { line: 32, sectors, written, evict_first: false };
        assert_eq!(taken(&mut touches), [touch(1, false), touch(1, true), touch(2, true)]);
        touches.access(&[4096], 1, 16, (false, false));
        assert_eq!(taken(&mut touches), [touch(1, false)], "the next work-group has another L1");
    }

    #[test]
    fn vectors_at_any_word_touch_two_lines() {
        let mut touches = Touches::new(128, 32, 1);
        touches.access(&[128 * 32 - 8, 128 * 40 + 28], 3, 16, (false, false));
        let touch = |line, sectors| Touch { line, sectors, written: false, evict_first: false };
        assert_eq!(taken(&mut touches), [touch(31, 0b1000), touch(32, 0b1), touch(40, 0b11)]);
    }

    #[test]
    fn work_groups_that_run_side_by_side_take_turns() {
        let mut touches = Touches::new(128, 32, 2);
        for lines in [&[1, 2, 3][..], &[11, 12]] {
            for line in lines {
                touches.access(&[line * 128], 1, 4, (false, false));
            }
            let early = taken(&mut touches);
            let numbers: Vec<u64> = early.iter().map(|t| t.line).collect();
            assert_eq!(numbers, if lines.len() == 3 { vec![] } else { vec![1, 11, 2, 12, 3] });
        }
        touches.access(&[5 * 128], 1, 4, (false, false));
        assert_eq!(taken(&mut touches), []);
        let mut rest = Vec::new();
        touches.flush(|t| rest.push(t.line));
        assert_eq!(rest, [5]);
    }

    #[test]
    fn lanes_that_are_not_active_touch_nothing() {
        let mut touches = Touches::new(128, 32, 1);
        touches.access(&[0, 4096, 1 << 40], 0b010, 1, (false, false));
        assert_eq!(taken(&mut touches), [Touch { line: 32, sectors: 1, written: false, evict_first: false }]);
        touches.access(&[0; 4], 0, 4, (false, false));
        assert_eq!(taken(&mut touches), []);
    }
}
