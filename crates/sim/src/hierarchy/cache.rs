//! A set-associative cache of sectored lines that hold data (K8).
//!
//! A line has a bit for each valid sector and one for each dirty byte. A store allocates its line without
//! fetching it: dirty bytes are kept apart, and a later fill of their sector goes around them. Within a set
//! the victim is an empty way, else the evict-first line unused for longest, else the line unused for
//! longest. A sector on its way has data already, as accesses act at issue, but is *ready* only when it
//! arrives.

use std::ops::RangeInclusive;

use super::deferred::{PENDING, SectorTickets, Ticket};
use super::line::{ByteMask, LineNumber, bytes_of, runs};
use super::mshr::Mshrs;

/// Tag of a frame without a line.
const EMPTY: LineNumber = LineNumber::MAX;
/// In a line's age: it is not evicted first. Worth more than any order of use.
const NORMAL: u64 = 1 << 63;

/// State of a line beside its bytes and age.
#[derive(Clone, Copy, Debug, Default)]
struct State {
    /// Sectors that hold the line's bytes, or will, a bit each.
    valid: u64,
    /// Some bytes are dirty.
    any_dirty: bool,
}

/// Where a cache keeps a line (a block frame): the number of the set's first way plus the way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LineFrame(usize);

/// A line that left a cache with bytes to be written back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DirtyLine {
    /// The line's number.
    pub line: LineNumber,
    /// The line's bytes, clean ones included.
    pub data: Vec<u8>,
    /// Dirty bytes, a bit each.
    pub bytes: ByteMask,
}

/// The line that had to make room for another one, if any.
#[derive(Clone, Debug, Default)]
pub struct Eviction {
    /// A line was evicted; whether it was marked evict-first.
    pub evict_first: Option<bool>,
    /// What must be written back of it.
    pub dirty: Option<DirtyLine>,
}

/// A set-associative cache of sectored lines with their data. Arrays have an element a frame.
pub struct Cache {
    sets: u64,
    ways: usize,
    line_bytes: usize,
    sector_bytes: usize,
    /// Sectors of a line.
    sectors: usize,
    /// Line of each frame, or [`EMPTY`].
    tags: Vec<LineNumber>,
    states: Vec<State>,
    /// Last use of each line, by order, with [`NORMAL`] unless it is evicted first; 0 where there is none.
    /// Apart from the states, as all those of a set are looked at for a victim.
    ages: Vec<u64>,
    /// Dirty bytes; none where the state says so.
    dirty: Vec<ByteMask>,
    /// Cycle at which each sector is there, or [`PENDING`] with a ticket.
    ready: Vec<u64>,
    data: Vec<u8>,
    /// Uses so far: what ages count.
    order: u64,
    /// The registers of misses on their way.
    pub mshrs: Mshrs,
    /// How often a line came or went or sectors of one came.
    changes: u64,
}

impl Cache {
    /// An empty cache.
    pub fn new(bytes: u32, ways: u32, line_bytes: u32, sector_bytes: u32, misses: u32) -> Cache {
        let lines = (bytes / line_bytes) as usize;
        let sectors = (line_bytes / sector_bytes) as usize;
        Cache {
            sets: lines as u64 / u64::from(ways),
            ways: ways as usize,
            line_bytes: line_bytes as usize,
            sector_bytes: sector_bytes as usize,
            sectors,
            tags: vec![EMPTY; lines],
            states: vec![State::default(); lines],
            ages: vec![0; lines],
            dirty: vec![[0; 4]; lines],
            ready: vec![0; lines * sectors],
            data: vec![0; bytes as usize],
            order: 0,
            mshrs: Mshrs::new(misses),
            changes: 0,
        }
    }

    /// First way of a line's set. Upper bits are folded in, so that power-of-two pitches do not fall into one set.
    fn set(&self, line: LineNumber) -> usize {
        let folded = line ^ (line >> 9) ^ (line >> 18);
        let set = if self.sets.is_power_of_two() { folded & (self.sets - 1) } else { folded % self.sets };
        set as usize * self.ways
    }

    /// The frame of a line, if the cache has it.
    pub fn find(&self, line: LineNumber) -> Option<LineFrame> {
        let first = self.set(line);
        self.tags[first..first + self.ways].iter().position(|t| *t == line).map(|w| LineFrame(first + w))
    }

    /// Finds a line or makes room for it, and notes its use.
    pub fn allocate(&mut self, line: LineNumber, evict_first: bool) -> (LineFrame, Eviction) {
        if let Some(frame) = self.find(line) {
            self.touch(frame, evict_first);
            return (frame, Eviction::default());
        }
        let first = self.set(line);
        let (mut victim, mut oldest) = (first, u64::MAX);
        for (i, age) in self.ages[first..first + self.ways].iter().enumerate() {
            (victim, oldest) = if *age < oldest { (first + i, *age) } else { (victim, oldest) };
        }
        let evict = (oldest != 0).then_some(oldest & NORMAL == 0);
        let dirty = self.take(LineFrame(victim));
        self.tags[victim] = line;
        self.touch(LineFrame(victim), evict_first);
        (LineFrame(victim), Eviction { evict_first: evict, dirty })
    }

    /// Notes a use of a line, which decides when it is evicted.
    pub fn touch(&mut self, frame: LineFrame, evict_first: bool) {
        self.order += 1;
        self.ages[frame.0] = self.order | if evict_first { 0 } else { NORMAL };
    }

    /// Changes with every line that comes or goes, and with sectors that come: between two equal ones all
    /// lines are where they were, as far as nobody writes to the cache.
    pub fn changes(&self) -> u64 {
        self.changes
    }

    /// Removes a line and returns its dirty bytes.
    pub fn take(&mut self, frame: LineFrame) -> Option<DirtyLine> {
        self.changes += 1;
        let i = frame.0;
        let line = std::mem::replace(&mut self.tags[i], EMPTY);
        let state = std::mem::take(&mut self.states[i]);
        self.ages[i] = 0;
        self.ready[i * self.sectors..(i + 1) * self.sectors].fill(0);
        state.any_dirty.then(|| {
            let bytes = std::mem::take(&mut self.dirty[i]);
            DirtyLine { line, data: self.bytes(frame).to_vec(), bytes }
        })
    }

    /// Removes a line without writing it back. Whether it was there.
    pub fn discard(&mut self, line: LineNumber) -> bool {
        match self.find(line) {
            Some(frame) => {
                self.take(frame);
                true
            }
            None => false,
        }
    }

    /// Lines that the cache has room for.
    pub fn frames(&self) -> usize {
        self.tags.len()
    }

    /// Removes lines without writing them back.
    pub fn discard_range(&mut self, lines: &RangeInclusive<LineNumber>) {
        for i in 0..self.tags.len() {
            if self.tags[i] != EMPTY && lines.contains(&self.tags[i]) {
                self.take(LineFrame(i));
            }
        }
    }

    /// The lines without dirty bytes, each with its bytes.
    pub fn clean_lines(&mut self) -> impl Iterator<Item = (LineNumber, &mut [u8])> {
        let lines = self.tags.iter().zip(&self.states).zip(self.data.chunks_exact_mut(self.line_bytes));
        lines.filter(|((line, state), _)| **line != EMPTY && !state.any_dirty).map(|((line, _), bytes)| (*line, bytes))
    }

    /// Removes all lines; returns what is dirty.
    pub fn take_all(&mut self) -> Vec<DirtyLine> {
        (0..self.tags.len()).filter_map(|i| self.take(LineFrame(i))).collect()
    }

    /// The dirty bytes of a line, which are clean from now on.
    pub fn clean(&mut self, frame: LineFrame) -> Option<DirtyLine> {
        let i = frame.0;
        if !self.states[i].any_dirty {
            return None;
        }
        self.states[i].any_dirty = false;
        Some(DirtyLine { line: self.tags[i], data: self.bytes(frame).to_vec(), bytes: std::mem::take(&mut self.dirty[i]) })
    }

    /// Cleans all lines; returns what was dirty.
    pub fn clean_all(&mut self) -> Vec<DirtyLine> {
        (0..self.tags.len()).filter_map(|i| self.clean(LineFrame(i))).collect()
    }

    /// A line's bytes; those of invalid sectors mean nothing unless they are dirty.
    pub fn bytes(&self, frame: LineFrame) -> &[u8] {
        &self.data[frame.0 * self.line_bytes..(frame.0 + 1) * self.line_bytes]
    }

    /// Valid sectors of a line, a bit each; those on their way are valid.
    pub fn valid(&self, frame: LineFrame) -> u64 {
        self.states[frame.0].valid
    }

    /// Whether a line has dirty bytes.
    pub fn is_dirty(&self, frame: LineFrame) -> bool {
        self.states[frame.0].any_dirty
    }

    /// Whether a line is the first to be evicted.
    pub fn is_evict_first(&self, frame: LineFrame) -> bool {
        self.ages[frame.0] & NORMAL == 0
    }

    /// Cycle at which all of these sectors are there.
    pub fn ready(&self, frame: LineFrame, sectors: u64) -> u64 {
        let ready = &self.ready[frame.0 * self.sectors..(frame.0 + 1) * self.sectors];
        ready.iter().enumerate().fold(0, |most, (s, r)| most.max(r & (sectors >> s & 1).wrapping_neg()))
    }

    /// Fills sectors, around dirty bytes; they are there at cycle `ready`.
    pub fn fill(&mut self, frame: LineFrame, sectors: u64, from: &[u8], ready: u64) {
        self.changes += 1;
        let (i, size) = (frame.0, self.sector_bytes);
        let dirty = self.dirty[i];
        let data = &mut self.data[i * self.line_bytes..(i + 1) * self.line_bytes];
        for run in runs(sectors) {
            let range = run.start * size..run.end * size;
            if self.states[i].any_dirty {
                for b in range {
                    if dirty[b / 64] >> (b % 64) & 1 == 0 {
                        data[b] = from[b];
                    }
                }
            } else {
                data[range.clone()].copy_from_slice(&from[range]);
            }
            self.ready[i * self.sectors..][run].fill(ready);
        }
        self.states[i].valid |= sectors;
    }

    /// Writes the bytes of `mask`. They become dirty, and sectors all of whose bytes are dirty become valid;
    /// without `keep_dirty` neither: the write has gone further down, and this copy only follows.
    pub fn write(&mut self, frame: LineFrame, from: &[u8], mask: &ByteMask, keep_dirty: bool) {
        let i = frame.0;
        let data = &mut self.data[i * self.line_bytes..(i + 1) * self.line_bytes];
        bytes_of(mask).for_each(|b| data[b] = from[b]);
        if !keep_dirty {
            return;
        }
        self.states[i].any_dirty = true;
        for (d, m) in self.dirty[i].iter_mut().zip(mask) {
            *d |= m;
        }
        for s in 0..self.sectors {
            let full = (0..self.sector_bytes).all(|b| {
                let b = s * self.sector_bytes + b;
                self.dirty[i][b / 64] >> (b % 64) & 1 == 1
            });
            if full {
                self.states[i].valid |= 1 << s;
            }
        }
    }

    /// Sectors are on their way, with the answer of a ticket.
    pub fn fill_later(&mut self, frame: LineFrame, sectors: u64, ticket: Ticket) {
        self.changes += 1;
        for s in (0..self.sectors).filter(|s| sectors >> s & 1 == 1) {
            self.ready[frame.0 * self.sectors + s] = PENDING | u64::from(ticket);
        }
        self.states[frame.0].valid |= sectors;
    }

    /// Those of the sectors that are still on their way with this ticket arrive.
    pub fn arrive(&mut self, line: LineNumber, sectors: u64, ticket: Ticket, from: &[u8], ready: u64) {
        let Some(frame) = self.find(line) else { return };
        let mut still = 0;
        for s in (0..self.sectors).filter(|s| sectors >> s & 1 == 1) {
            still |= u64::from(self.ready[frame.0 * self.sectors + s] == PENDING | u64::from(ticket)) << s;
        }
        self.fill(frame, still, from, ready);
    }

    /// Which of the sectors are on their way with which ticket.
    pub fn pending(&self, frame: LineFrame, sectors: u64) -> SectorTickets {
        let mut parts = SectorTickets::new();
        for s in (0..self.sectors).filter(|s| sectors >> s & 1 == 1) {
            let ready = self.ready[frame.0 * self.sectors + s];
            if ready >= PENDING {
                match parts.iter_mut().find(|p: &&mut (Ticket, u64)| p.0 == ready as Ticket) {
                    Some(p) => p.1 |= 1 << s,
                    None => parts.push((ready as Ticket, 1 << s)),
                }
            }
        }
        parts
    }

    /// Dirty bytes of a line.
    pub fn dirty_bytes(&self, frame: LineFrame) -> ByteMask {
        if self.states[frame.0].any_dirty { self.dirty[frame.0] } else { [0; 4] }
    }

    /// A launch begins at cycle 0: nothing is on its way.
    pub fn restart_clock(&mut self) {
        self.changes += 1;
        self.mshrs.clear();
        self.ready.fill(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(n: u8) -> Vec<u8> {
        vec![n; 128]
    }

    /// Byte `b` only.
    fn byte(b: usize) -> ByteMask {
        let mut m = [0; 4];
        m[b / 64] = 1 << (b % 64);
        m
    }

    #[test]
    fn evict_first_lines_go_before_older_ones() {
        let mut c = Cache::new(2 * 128, 2, 128, 32, 4);
        c.allocate(1, false);
        c.allocate(2, true);
        let (_, e) = c.allocate(3, false);
        assert_eq!(e.evict_first, Some(true));
        assert!(c.find(1).is_some() && c.find(2).is_none());
        let (_, e) = c.allocate(4, false);
        assert_eq!(e.evict_first, Some(false));
        assert!(c.find(1).is_none() && c.find(3).is_some());
    }

    #[test]
    fn fills_go_around_dirty_bytes() {
        let mut c = Cache::new(1024, 2, 128, 32, 4);
        let (p, _) = c.allocate(5, false);
        c.write(p, &bytes(7), &byte(3), true);
        assert_eq!(c.valid(p), 0);
        c.fill(p, 1, &bytes(9), 10);
        assert_eq!((c.bytes(p)[2], c.bytes(p)[3], c.valid(p)), (9, 7, 1));
        assert_eq!((c.ready(p, 1), c.ready(p, 2)), (10, 0));
        let dirty = c.take(p).unwrap();
        assert_eq!((dirty.line, dirty.bytes), (5, byte(3)));
        assert!(c.find(5).is_none());
    }

    #[test]
    fn a_sector_written_whole_is_valid() {
        let mut c = Cache::new(1024, 2, 128, 32, 4);
        let (p, _) = c.allocate(5, false);
        c.write(p, &bytes(7), &[0xffff_ffff << 32, 0, 0, 0], true);
        assert_eq!(c.valid(p), 2);
        assert!(c.clean(p).is_some() && c.clean(p).is_none() && c.valid(p) == 2);
    }
}
