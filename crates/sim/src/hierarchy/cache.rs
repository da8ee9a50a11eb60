//! A set-associative cache of sectored lines that hold data (K8).
//!
//! A line has a bit for each valid sector and one for each dirty byte. A store allocates its line without
//! fetching it: dirty bytes are kept apart, and a later fill of their sector goes around them. Which line
//! makes room is said in [`replacement`](super::replacement). A sector on its way has data already, as
//! accesses act at issue, but is *ready* only when it arrives.

use std::ops::RangeInclusive;

use super::deferred::{PENDING, SectorTickets, Ticket};
use super::line::{ByteMask, LineNumber, bytes_of_sectors, copy_bytes, copy_sectors, runs, sectors_of, whole_sectors_of};
use super::mshr::Mshrs;
use super::polynomial::Polynomial;
use super::replacement::EvictionOrder;
use crate::memory::{prefetch, prefetch_all};
use crate::snapshot::Snapshot;
use heddle_target::{Replacement, SetIndex};

/// Tag of a frame without a line.
const EMPTY: LineNumber = LineNumber::MAX;

/// What a cache is, as a description says it.
#[derive(Clone, Copy, Debug)]
pub struct Organization {
    /// Size.
    pub bytes: u32,
    /// Lines of a set.
    pub ways: u32,
    /// Size of a line.
    pub line_bytes: u32,
    /// Size of a sector.
    pub sector_bytes: u32,
    /// Misses that may be on their way at once.
    pub misses: u32,
    /// Requests that may wait for a miss beside the first (0: no limit).
    pub merges: u32,
    /// Which line makes room.
    pub replacement: Replacement,
    /// Which set a line is in.
    pub index: SetIndex,
    /// Of so many caches that share the lines among them.
    pub slices: u32,
    /// Tells caches apart whose victims are random.
    pub number: u64,
}

/// Where the bytes of a write are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WriteKind {
    /// In this cache alone: they are dirty, and sectors all of whose bytes are dirty become valid.
    Dirty,
    /// Further down, too: sectors that are written whole become valid, and those that have not arrived by
    /// this cycle are given up, as what arrives may be older.
    Through(u64),
    /// Further down: this copy only follows.
    Follows,
}

/// In the state of a line: some bytes are dirty. The other bits say which sectors hold the line's bytes, or will.
const ANY_DIRTY: u64 = 1 << 63;
/// In the state of a line: its bytes are where the line is from, not here.
const NO_BYTES: u64 = 1 << 62;

/// Where a cache keeps a line (a block frame): the number of the set's first way plus the way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LineFrame(usize);

/// A line that left a cache with bytes to be written back.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DirtyLine {
    /// The line's number.
    pub line: LineNumber,
    /// The line's bytes, clean ones included; none if the cache did not have them.
    pub data: Vec<u8>,
    /// Dirty bytes, a bit each.
    pub bytes: ByteMask,
}

/// A dirty line, as it goes from place to place.
pub type DirtyBox = Box<DirtyLine>;

/// The line that had to make room for another one, if any.
#[derive(Clone, Debug, Default)]
pub struct Eviction {
    /// A line was evicted; whether it was marked evict-first.
    pub evict_first: Option<bool>,
    /// What must be written back of it.
    pub dirty: Option<DirtyBox>,
}

/// A set-associative cache of sectored lines with their data. Arrays have an element a frame.
pub struct Cache {
    sets: u64,
    /// The number of sets less one, if that is a mask.
    set_mask: Option<u64>,
    ways: usize,
    line_bytes: usize,
    sector_bytes: usize,
    /// Sectors of a line.
    sectors: usize,
    /// Line of each frame, or [`EMPTY`].
    tags: Vec<LineNumber>,
    /// By way, a byte that the line of its tag has in common with few others; those of a set begin a word, so that eight are
    /// compared at once. Of a way without a line it means nothing.
    signatures: Vec<u64>,
    /// By frame: the line's state, then by sector the cycle at which it is there, or [`PENDING`] with a ticket. Together, as all
    /// of it is needed where a line comes or goes, and rarely in the host's caches.
    states: Vec<u64>,
    order: EvictionOrder,
    /// Dirty bytes; none where the state says so.
    dirty: Vec<ByteMask>,
    data: Vec<u8>,
    index: SetIndex,
    /// Caches that share the lines.
    slices: u64,
    /// So many lower bits of a line's number say little but which of these has it.
    slice_bits: u32,
    /// What hashes the number of a line.
    polynomial: &'static Polynomial,
    /// Requests that wait for each line on its way beside the first, where these have a limit.
    waiting: Vec<u32>,
    merges: u32,
    /// The registers of misses on their way.
    pub mshrs: Mshrs,
    /// How often a line came or went or sectors of one came.
    changes: u64,
    /// Room for the next line that is dirty when it leaves.
    spare: Option<DirtyBox>,
}

/// The byte that tells most lines of a set apart.
#[inline]
fn signature(line: LineNumber) -> u8 {
    // Fibonacci hashing (Knuth, The Art of Computer Programming, volume 3, 6.4).
    (line.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as u8
}

impl Cache {
    /// An empty cache.
    pub fn new(o: &Organization) -> Cache {
        let Organization { bytes, ways, line_bytes, sector_bytes, .. } = *o;
        let lines = (bytes / line_bytes) as usize;
        let sectors = (line_bytes / sector_bytes) as usize;
        let sets = lines / ways as usize;
        Cache {
            sets: sets as u64,
            set_mask: sets.is_power_of_two().then(|| sets as u64 - 1),
            ways: ways as usize,
            line_bytes: line_bytes as usize,
            sector_bytes: sector_bytes as usize,
            sectors,
            tags: vec![EMPTY; lines],
            signatures: vec![0; sets * (ways as usize).div_ceil(8)],
            states: vec![0; lines * (1 + sectors)],
            order: EvictionOrder::new(o.replacement, sets, ways as usize, o.number),
            dirty: vec![[0; 4]; lines],
            data: vec![0; bytes as usize],
            index: o.index,
            slices: u64::from(o.slices),
            slice_bits: o.slices.checked_ilog2().unwrap_or(0),
            polynomial: Polynomial::of_sets(sets),
            waiting: vec![0; if o.merges == 0 { 0 } else { lines }],
            merges: o.merges,
            mshrs: Mshrs::new(o.misses),
            changes: 0,
            spare: None,
        }
    }

    /// Where the state of a frame's line is; the sectors' cycles follow.
    #[inline]
    fn state_at(&self, frame: usize) -> usize {
        frame * (1 + self.sectors)
    }

    /// The number of a line's set.
    #[inline]
    fn set(&self, line: LineNumber) -> usize {
        let number = match self.index {
            SetIndex::Hashed => self.polynomial.hash(line >> self.slice_bits),
            // Of the lines of a slice each set gets as many.
            SetIndex::Linear => line / self.slices,
        };
        (match self.set_mask {
            Some(mask) => number & mask,
            None => number % self.sets,
        }) as usize
    }

    /// The frame of a line, if the cache has it.
    #[inline(always)]
    pub fn find(&self, line: LineNumber) -> Option<LineFrame> {
        const ONES: u64 = 0x0101_0101_0101_0101;
        let (set, words) = (self.set(line), self.ways.div_ceil(8));
        let wanted = u64::from(signature(line)) * ONES;
        for (k, word) in self.signatures[set * words..(set + 1) * words].iter().enumerate() {
            // A byte's upper bit is set where signatures are equal, and maybe in bytes above one of these.
            let different = word ^ wanted;
            let mut maybe = different.wrapping_sub(ONES) & !different & (ONES << 7);
            while maybe != 0 {
                let way = 8 * k + maybe.trailing_zeros() as usize / 8;
                maybe &= maybe - 1;
                // Behind the last way there are those of other sets, which never have the line.
                if self.tags.get(set * self.ways + way) == Some(&line) {
                    return Some(LineFrame(set * self.ways + way));
                }
            }
        }
        None
    }

    /// A line will be looked for soon: the host may fetch what is known of its set into its caches.
    #[inline]
    pub fn prefetch_set(&self, line: LineNumber) {
        let set = self.set(line);
        let first = set * self.ways;
        prefetch(&self.signatures[set * self.ways.div_ceil(8)]);
        prefetch(&self.tags[first]);
        self.order.prefetch(first);
    }

    /// The same later, when what is known of the line's set is there: the state of its frame, or of the one that probably makes
    /// room for it.
    #[inline]
    pub fn prefetch_line(&self, line: LineNumber) {
        match self.find(line) {
            Some(frame) => self.prefetch_state(frame),
            None => self.prefetch_state(LineFrame(self.order.oldest(self.set(line) * self.ways).0)),
        }
    }

    /// Sectors of a line will come to a frame soon: the host may fetch what that changes into its caches.
    #[inline]
    pub fn prefetch_frame(&self, frame: LineFrame) {
        prefetch(&self.tags[frame.0]);
        self.prefetch_state(frame);
        prefetch_all(self.bytes(frame));
    }

    /// The state of a frame's line will be looked at soon.
    #[inline]
    pub fn prefetch_state(&self, frame: LineFrame) {
        let at = self.state_at(frame.0);
        prefetch_all(&self.states[at..=at + self.sectors]);
    }

    /// A frame has a line.
    #[inline]
    fn set_tag(&mut self, frame: usize, line: LineNumber) {
        self.tags[frame] = line;
        let (set, way) = (frame / self.ways, frame % self.ways);
        let word = &mut self.signatures[set * self.ways.div_ceil(8) + way / 8];
        *word = *word & !(0xff << (way % 8 * 8)) | u64::from(signature(line)) << (way % 8 * 8);
    }

    /// Finds a line or makes room for it, and notes its use.
    pub fn allocate(&mut self, line: LineNumber, evict_first: bool) -> (LineFrame, Eviction) {
        if let Some(frame) = self.find(line) {
            self.touch(frame, evict_first);
            return (frame, Eviction::default());
        }
        self.insert(line, evict_first)
    }

    /// Makes room for a line that the cache has not.
    pub fn insert(&mut self, line: LineNumber, evict_first: bool) -> (LineFrame, Eviction) {
        let (victim, evict_first_was) = self.order.victim(self.set(line) * self.ways);
        let dirty = self.take(LineFrame(victim));
        self.set_tag(victim, line);
        self.order.insert(victim, evict_first);
        if let Some(waiting) = self.waiting.get_mut(victim) {
            *waiting = 0;
        }
        (LineFrame(victim), Eviction { evict_first: evict_first_was, dirty })
    }

    /// Notes a use of a line, which decides when it is evicted.
    #[inline]
    pub fn touch(&mut self, frame: LineFrame, evict_first: bool) {
        self.order.touch(frame.0, evict_first);
    }

    /// A miss of a line is sent of which nothing is on its way.
    #[inline]
    pub fn begin_miss(&mut self, frame: LineFrame) {
        if let Some(waiting) = self.waiting.get_mut(frame.0) {
            *waiting = 0;
        }
    }

    /// One more request waits for a line on its way.
    #[inline]
    pub fn merge(&mut self, frame: LineFrame) {
        if let Some(waiting) = self.waiting.get_mut(frame.0) {
            *waiting += 1;
        }
    }

    /// Whether one of `count` more requests of a line finds sectors on their way at a cycle, and too many that wait for them.
    pub fn is_full(&self, line: LineNumber, count: u64, now: u64) -> bool {
        let Some(frame) = self.find(line) else { return false };
        self.ready(frame, u64::MAX) > now
            && u64::from(self.waiting.get(frame.0).copied().unwrap_or(0)) + count > u64::from(self.merges)
    }

    /// Whether requests that wait for a line have a limit.
    #[inline]
    pub fn limits_merges(&self) -> bool {
        self.merges > 0
    }

    /// Changes with every line that comes or goes, and with sectors that come: between two equal ones all
    /// lines are where they were, as far as nobody writes to the cache.
    pub fn changes(&self) -> u64 {
        self.changes
    }

    /// Removes a line and returns its dirty bytes.
    pub fn take(&mut self, frame: LineFrame) -> Option<DirtyBox> {
        self.changes += 1;
        let i = frame.0;
        let line = std::mem::replace(&mut self.tags[i], EMPTY);
        let (any_dirty, has_bytes) = (self.is_dirty(frame), self.has_bytes(frame));
        self.order.remove(i);
        let at = self.state_at(i);
        self.states[at..=at + self.sectors].fill(0);
        any_dirty.then(|| self.take_dirty(line, frame, has_bytes))
    }

    /// The dirty bytes of a line, which are so no more, in room that was used before, if there is any.
    fn take_dirty(&mut self, line: LineNumber, frame: LineFrame, has_bytes: bool) -> DirtyBox {
        let mut dirty = self.spare.take().unwrap_or_default();
        dirty.data.clear();
        if has_bytes {
            dirty.data.extend_from_slice(self.bytes(frame));
        }
        (dirty.line, dirty.bytes) = (line, std::mem::take(&mut self.dirty[frame.0]));
        dirty
    }

    /// The bytes of a line of which the cache has nothing yet stay where they are: the cache only knows which sectors it
    /// would have, and which bytes would be dirty.
    #[inline]
    pub fn leave_bytes(&mut self, frame: LineFrame) {
        let at = self.state_at(frame.0);
        if self.states[at] == 0 {
            self.states[at] = NO_BYTES;
        }
    }

    /// Whether the cache has a line's bytes.
    #[inline]
    pub fn has_bytes(&self, frame: LineFrame) -> bool {
        self.states[self.state_at(frame.0)] & NO_BYTES == 0
    }

    /// The lines whose bytes are elsewhere, with room for them, where they are from now on.
    pub fn take_bytes(&mut self) -> impl Iterator<Item = (LineNumber, &mut [u8])> {
        let states = self.states.iter_mut().step_by(1 + self.sectors);
        let lines = self.tags.iter().zip(states).zip(self.data.chunks_exact_mut(self.line_bytes));
        lines.filter(|((line, state), _)| **line != EMPTY && **state & NO_BYTES != 0).map(|((line, state), bytes)| {
            *state &= !NO_BYTES;
            (*line, bytes)
        })
    }

    /// Takes the room of a line back that has been written back.
    pub fn recycle(&mut self, dirty: DirtyBox) {
        self.spare = Some(dirty);
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
        let states = self.states.iter().step_by(1 + self.sectors);
        let lines = self.tags.iter().zip(states).zip(self.data.chunks_exact_mut(self.line_bytes));
        let here = |state: u64| state & (ANY_DIRTY | NO_BYTES) == 0;
        lines.filter(move |((line, state), _)| **line != EMPTY && here(**state)).map(|((line, _), bytes)| (*line, bytes))
    }

    /// All lines whose bytes the cache has.
    pub fn lines_mut(&mut self) -> impl Iterator<Item = (LineNumber, &mut [u8])> {
        let states = self.states.iter().step_by(1 + self.sectors);
        let lines = self.tags.iter().zip(states).zip(self.data.chunks_exact_mut(self.line_bytes));
        lines.filter(|((line, state), _)| **line != EMPTY && **state & NO_BYTES == 0).map(|((line, _), bytes)| (*line, bytes))
    }

    /// Lines that are dirty and whose bytes the cache has, with which of them are.
    pub fn dirty_lines(&self) -> impl Iterator<Item = (LineNumber, &[u8], &ByteMask)> {
        let frames = (0..self.tags.len()).map(LineFrame).filter(|f| self.is_dirty(*f) && self.has_bytes(*f));
        frames.map(|f| (self.tags[f.0], self.bytes(f), &self.dirty[f.0]))
    }

    /// The valid sectors of each line, with how lately the line was used, or came, as the order of eviction sees it.
    pub fn valid_sectors(&self) -> impl Iterator<Item = (u64, LineNumber, u64)> {
        let frames = (0..self.tags.len()).filter(|f| self.tags[*f] != EMPTY);
        frames.map(|f| (self.order.age(f), self.tags[f], self.valid(LineFrame(f))))
    }

    /// Removes all lines; returns what is dirty.
    pub fn take_all(&mut self) -> Vec<DirtyBox> {
        (0..self.tags.len()).filter_map(|i| self.take(LineFrame(i))).collect()
    }

    /// Exchanges what the cache holds.
    pub fn exchange(&mut self, snapshot: &mut Snapshot) {
        self.changes += 1;
        snapshot.words(&mut self.tags);
        for frame in 0..self.tags.len() {
            self.set_tag(frame, self.tags[frame]);
        }
        snapshot.words(&mut self.states);
        snapshot.words(self.dirty.iter_mut().flatten());
        snapshot.bytes(&mut self.data);
        self.order.exchange(snapshot);
    }

    /// The dirty bytes of a line, which are clean from now on.
    pub fn clean(&mut self, frame: LineFrame) -> Option<DirtyBox> {
        let i = frame.0;
        if !self.is_dirty(frame) {
            return None;
        }
        let (at, has_bytes) = (self.state_at(i), self.has_bytes(frame));
        self.states[at] &= !ANY_DIRTY;
        Some(self.take_dirty(self.tags[i], frame, has_bytes))
    }

    /// Cleans all lines; returns what was dirty.
    pub fn clean_all(&mut self) -> Vec<DirtyBox> {
        (0..self.tags.len()).filter_map(|i| self.clean(LineFrame(i))).collect()
    }

    /// A line's bytes; those of invalid sectors mean nothing unless they are dirty.
    pub fn bytes(&self, frame: LineFrame) -> &[u8] {
        &self.data[frame.0 * self.line_bytes..(frame.0 + 1) * self.line_bytes]
    }

    /// Valid sectors of a line, a bit each; those on their way are valid.
    pub fn valid(&self, frame: LineFrame) -> u64 {
        self.states[self.state_at(frame.0)] & !(ANY_DIRTY | NO_BYTES)
    }

    /// Whether a line has dirty bytes.
    pub fn is_dirty(&self, frame: LineFrame) -> bool {
        self.states[self.state_at(frame.0)] & ANY_DIRTY != 0
    }

    /// Whether a line is the first to be evicted.
    pub fn is_evict_first(&self, frame: LineFrame) -> bool {
        self.order.is_evict_first(frame.0)
    }

    /// Cycle at which all of these sectors are there.
    pub fn ready(&self, frame: LineFrame, sectors: u64) -> u64 {
        let at = self.state_at(frame.0);
        let ready = &self.states[at + 1..=at + self.sectors];
        ready.iter().enumerate().fold(0, |most, (s, r)| most.max(r & (sectors >> s & 1).wrapping_neg()))
    }

    /// Fills sectors, around dirty bytes, if the cache has the line's bytes; they are there at cycle `ready`.
    pub fn fill(&mut self, frame: LineFrame, sectors: u64, from: &[u8], ready: u64) {
        self.changes += 1;
        let (i, size, at) = (frame.0, self.sector_bytes, self.state_at(frame.0));
        if !self.has_bytes(frame) {
            runs(sectors).for_each(|run| self.states[at + 1..][run].fill(ready));
            self.states[at] |= sectors;
            return;
        }
        let any_dirty = self.is_dirty(frame);
        let dirty = self.dirty[i];
        let data = &mut self.data[i * self.line_bytes..(i + 1) * self.line_bytes];
        if any_dirty {
            let mut clean = bytes_of_sectors(sectors, size);
            clean.iter_mut().zip(dirty).for_each(|(c, d)| *c &= !d);
            copy_bytes(data, from, &clean);
        }
        if !any_dirty {
            copy_sectors(data, from, sectors, size);
        }
        runs(sectors).for_each(|run| self.states[at + 1..][run].fill(ready));
        self.states[at] |= sectors;
    }

    /// Writes the bytes of `mask`, if the cache has the line's.
    pub fn write(&mut self, frame: LineFrame, from: &[u8], mask: &ByteMask, kind: WriteKind) {
        let (i, at) = (frame.0, self.state_at(frame.0));
        if self.has_bytes(frame) {
            copy_bytes(&mut self.data[i * self.line_bytes..(i + 1) * self.line_bytes], from, mask);
        }
        match kind {
            WriteKind::Follows => {}
            WriteKind::Dirty => {
                self.states[at] |= ANY_DIRTY;
                for (d, m) in self.dirty[i].iter_mut().zip(mask) {
                    *d |= m;
                }
                self.states[at] |= whole_sectors_of(&self.dirty[i], self.sector_bytes);
            }
            WriteKind::Through(now) => {
                self.changes += 1;
                let written = sectors_of(mask, self.sector_bytes);
                for s in (0..self.sectors).filter(|s| written >> s & 1 == 1) {
                    if self.states[at + 1 + s] > now {
                        self.states[at + 1 + s] = 0;
                        self.states[at] &= !(1 << s);
                    }
                }
                self.states[at] |= whole_sectors_of(mask, self.sector_bytes);
            }
        }
    }

    /// Sectors are on their way, with the answer of a ticket.
    pub fn fill_later(&mut self, frame: LineFrame, sectors: u64, ticket: Ticket) {
        self.changes += 1;
        let at = self.state_at(frame.0);
        for s in (0..self.sectors).filter(|s| sectors >> s & 1 == 1) {
            self.states[at + 1 + s] = PENDING | u64::from(ticket);
        }
        self.states[at] |= sectors;
    }

    /// Those of the sectors that are still on their way with this ticket arrive. Of the line it is said where it was when they
    /// were asked for.
    pub fn arrive(&mut self, (line, frame): (LineNumber, LineFrame), sectors: u64, ticket: Ticket, from: &[u8], ready: u64) {
        let Some(frame) = (if self.tags[frame.0] == line { Some(frame) } else { self.find(line) }) else { return };
        let (at, mut still) = (self.state_at(frame.0), 0);
        for s in (0..self.sectors).filter(|s| sectors >> s & 1 == 1) {
            still |= u64::from(self.states[at + 1 + s] == PENDING | u64::from(ticket)) << s;
        }
        self.fill(frame, still, from, ready);
    }

    /// Those of the sectors, which have their bytes, that are still on their way with this ticket arrive at a cycle.
    pub fn arrive_at(&mut self, line: LineNumber, sectors: u64, ticket: Ticket, ready: u64) {
        let Some(frame) = self.find(line) else { return };
        let at = self.state_at(frame.0);
        for s in (0..self.sectors).filter(|s| sectors >> s & 1 == 1) {
            let sector = &mut self.states[at + 1 + s];
            if *sector == PENDING | u64::from(ticket) {
                *sector = ready;
            }
        }
    }

    /// Gives up those of a line's sectors that are there later than at a cycle.
    pub fn give_up(&mut self, line: LineNumber, sectors: u64, later_than: u64) {
        let Some(frame) = self.find(line) else { return };
        let at = self.state_at(frame.0);
        for s in (0..self.sectors).filter(|s| sectors >> s & 1 == 1) {
            let sector = &mut self.states[at + 1 + s];
            if *sector > later_than {
                *sector = 0;
                self.states[at] &= !(1 << s);
            }
        }
        self.changes += 1;
    }

    /// Adds to a list which of the sectors are on their way with which ticket.
    pub fn pending(&self, frame: LineFrame, sectors: u64, parts: &mut SectorTickets) {
        let at = self.state_at(frame.0);
        for s in (0..self.sectors).filter(|s| sectors >> s & 1 == 1) {
            let ready = self.states[at + 1 + s];
            if ready >= PENDING {
                match parts.iter_mut().find(|p: &&mut (Ticket, u64)| p.0 == ready as Ticket) {
                    Some(p) => p.1 |= 1 << s,
                    None => parts.push((ready as Ticket, 1 << s)),
                }
            }
        }
    }

    /// Dirty bytes of a line.
    pub fn dirty_bytes(&self, frame: LineFrame) -> ByteMask {
        if self.is_dirty(frame) { self.dirty[frame.0] } else { [0; 4] }
    }

    /// A launch begins at cycle 0: nothing is on its way.
    pub fn restart_clock(&mut self) {
        self.changes += 1;
        self.mshrs.clear();
        self.states.chunks_mut(1 + self.sectors).for_each(|of_line| of_line[1..].fill(0));
    }
}

#[cfg(test)]
mod tests;
