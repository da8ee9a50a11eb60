//! Data races: two accesses of a byte by different work-items, at least one of them a write, not both atomic,
//! with nothing that orders them.
//!
//! # Shadow
//! Every word of global and work-group memory has a cell of three records: its last writer, its last reader,
//! and a reader before that one. A record is 64 bits: the checker's time (32), the work-item of the group
//! (12), the instruction among those that access memory (16), and the bytes of the word (4). Time starts at 1
//! and moves on at every start of a work-group, barrier, fence and atomic. As groups run one after the other,
//! the time of a record also tells its group, and three comparisons decide nearly every access: the record is
//! from before the last barrier of this group (ordered), from this work-item (ordered), or from an earlier
//! group (a conflict, in global memory). Only conflicts are looked at closely ([`super::order`]). Nothing is
//! cleared between groups: old records of work-group memory are all from before.
//!
//! Words whose bytes are accessed apart are split into cells of a byte the first time that happens.
//!
//! Writers, readers and other readers are three arrays, so that the usual access, lanes at consecutive words
//! and nothing in conflict, is vector code.
//!
//! # What is approximated
//! All of it errs towards missing a race, never towards a false report.
//! - Writes of the value that the location has by the other write are benign (all work-items store 0).
//! - Of the readers since the last write two are kept: the last of two work-items, or one of an earlier group
//!   and the last. If one of these is ordered by atomics or fences and a forgotten one is not, that race is
//!   missed.
//! - Ordering by atomics goes by warps, and by groups between groups, not by work-items; see [`super::order`]
//!   for more.
//! - A fence (`mem_fence`, `sub_group_barrier`) orders the accesses of the lanes of its warp.
//! - Images are not watched, nor is constant memory, which a kernel cannot write.
//! - After 2³² barriers, fences and atomics in a launch nothing more is watched.

use super::order::Order;
use super::{Access, Kind, Values};
use crate::Launch;
use crate::fault::{FaultKind, Race};
use crate::memory::DeviceMemory;
use heddle_isa::{CachePolicy, MemorySpace, Op};
use rustc_hash::FxHashMap;

/// Writer, reader, another reader; 0 for none.
type Cell = [u64; 3];
const WRITER: usize = 0;
const READER: usize = 1;
const OTHER: usize = 2;
/// Stands as the writer of a word that has been split into bytes.
const SPLIT: u64 = u64::MAX;

/// Work-items that records can tell apart.
pub const MAX_ITEMS: u32 = 1 << 12;

fn time(record: u64) -> u32 {
    (record >> 32) as u32
}
fn item(record: u64) -> u32 {
    (record >> 20) as u32 & (MAX_ITEMS - 1)
}
fn instruction(record: u64) -> usize {
    (record >> 4) as usize & 0xffff
}
const ONE_ITEM: u64 = 1 << 20;
const ITEM: u64 = (MAX_ITEMS as u64 - 1) * ONE_ITEM;
const BYTES: u64 = 15;

/// Cells of bytes, for 64 words.
type Page = Box<[[Cell; 4]; 64]>;

/// Words of a [`Chunk`].
const CHUNK: usize = 2048;

/// The three records of neighbouring words.
struct Chunk {
    writers: [u64; CHUNK],
    readers: [u64; CHUNK],
    others: [u64; CHUNK],
}

/// Chunks of a [`Directory`].
const DIRECTORY: usize = 1024;

/// Neighbouring chunks.
type Directory = Box<[Option<Box<Chunk>>; DIRECTORY]>;

/// The shadow of one memory. Directories and chunks are made when they are touched: allocations may lie far
/// apart.
struct Shadow {
    base: u64,
    /// Chunks that the memory has.
    chunks: usize,
    directories: Vec<Option<Directory>>,
    split: FxHashMap<usize, Page>,
}

impl Shadow {
    fn new(base: u64, bytes: u64) -> Self {
        let chunks = bytes.div_ceil(4 * CHUNK as u64) as usize;
        let directories = (0..chunks.div_ceil(DIRECTORY)).map(|_| None).collect();
        Shadow { base, chunks, directories, split: FxHashMap::default() }
    }

    #[inline(always)]
    fn chunk(&mut self, word: usize) -> &mut Chunk {
        let empty = || Box::new(Chunk { writers: [0; CHUNK], readers: [0; CHUNK], others: [0; CHUNK] });
        let chunk = word / CHUNK;
        let directory = self.directories[chunk / DIRECTORY].get_or_insert_with(|| Box::new([const { None }; DIRECTORY]));
        directory[chunk % DIRECTORY].get_or_insert_with(empty)
    }

    fn cell(&mut self, word: usize) -> Cell {
        let chunk = self.chunk(word);
        let k = word % CHUNK;
        [chunk.writers[k], chunk.readers[k], chunk.others[k]]
    }

    fn set(&mut self, word: usize, cell: Cell) {
        let chunk = self.chunk(word);
        let k = word % CHUNK;
        [chunk.writers[k], chunk.readers[k], chunk.others[k]] = cell;
    }

    /// An access of 2^`SHIFT` words a lane, the words of all lanes one behind the other from `word` on; of N
    /// items, those of `mask` are active. `first`: the record of item 0. True if nothing needed a closer
    /// look, and the access has been noted; otherwise nothing is changed.
    #[inline(always)]
    fn row<const N: usize, const SHIFT: usize>(&mut self, word: usize, mask: u64, first: u64, phase: Phase, store: bool) -> bool {
        let length = N << SHIFT;
        let (k, end) = (word % CHUNK, word % CHUNK + length);
        if end > CHUNK || word / CHUNK >= self.chunks {
            return false;
        }
        let chunk = self.chunk(word);
        let (w, r, o) = (&mut chunk.writers[k..end], &mut chunk.readers[k..end], &mut chunk.others[k..end]);
        let new = |j: usize| first + ((j >> SHIFT) as u64 * ONE_ITEM);
        let active = |j: usize| mask >> (j >> SHIFT) & 1;
        let mut bad = 0u64;
        for (j, ((writer, reader), other)) in w.iter().zip(&*r).zip(&*o).enumerate() {
            let (old, new) = (*writer, new(j));
            let have = (old | reader) & BYTES;
            let mut fine = (have == 0) | (have == BYTES) & (old != SPLIT);
            fine &= phase.harmless(old, new);
            if store {
                fine &= phase.harmless(*reader, new) & phase.harmless(*other, new);
            }
            bad |= u64::from(!fine) & active(j);
        }
        if bad != 0 {
            return false;
        }
        if store {
            for (j, writer) in w.iter_mut().enumerate() {
                *writer = if active(j) == 1 { new(j) } else { *writer };
            }
            return true;
        }
        // Where a word has been read before, the reader may have to be kept.
        let mut earlier = 0;
        for (j, reader) in r.iter().enumerate() {
            earlier |= (reader ^ new(j)) & active(j).wrapping_neg() & u64::from(*reader != 0).wrapping_neg();
        }
        for (j, (reader, kept)) in r.iter_mut().zip(o).enumerate() {
            if earlier != 0 {
                *kept = if active(j) == 1 { other([0, *reader, *kept], new(j), phase) } else { *kept };
            }
            *reader = if active(j) == 1 { new(j) } else { *reader };
        }
        true
    }

    /// An access of one lane to `words` words from an offset on, with the record `new`. False if one of them
    /// needs a closer look; the others have been noted.
    #[inline(always)]
    fn lane(&mut self, offset: u64, words: usize, new: u64, phase: Phase, load: bool) -> bool {
        let first = (offset / 4) as usize;
        let mut fits = true;
        for word in first..first + words {
            let chunk = self.chunk(word);
            let word = word % CHUNK;
            let (writer, reader) = (chunk.writers[word], chunk.readers[word]);
            let have = (writer | reader) & BYTES;
            let mut fine = (have == 0 || have == new & BYTES) && writer != SPLIT && phase.harmless(writer, new);
            if load {
                if fine && reader != new {
                    if reader != 0 {
                        chunk.others[word] = other([writer, reader, chunk.others[word]], new, phase);
                    }
                    chunk.readers[word] = new;
                }
            } else {
                // Without a reader there is no other one.
                fine = fine && (reader == 0 || phase.harmless(reader, new) && phase.harmless(chunk.others[word], new));
                if fine {
                    chunk.writers[word] = new;
                }
            }
            fits &= fine;
        }
        fits
    }

    /// The byte cells of a split word.
    fn bytes(&mut self, word: usize) -> &mut [Cell; 4] {
        &mut self.split.entry(word / 64).or_insert_with(|| Box::new([[[0; 3]; 4]; 64]))[word % 64]
    }
}

/// Which records need no look: those of times in `low .. barrier`, and those of the same work-item since.
#[derive(Clone, Copy)]
struct Phase {
    /// First time of the running group; 0 for work-group memory, where earlier groups do not count.
    low: u32,
    /// The last barrier that orders this memory.
    barrier: u32,
}

impl Phase {
    #[inline(always)]
    fn harmless(self, old: u64, new: u64) -> bool {
        let t = time(old);
        // No short circuits: vector code.
        (old == 0) | (t.wrapping_sub(self.low) < self.barrier - self.low) | (t >= self.barrier) & ((old ^ new) & ITEM == 0)
    }
}

/// The other reader that is kept when there is a new one.
#[inline(always)]
fn other(cell: Cell, new: u64, phase: Phase) -> u64 {
    let (old, other) = (cell[READER], cell[OTHER]);
    // A reader of an earlier group is kept: whoever writes in this group conflicts with it.
    let same_item = ((old ^ new) & ITEM == 0) & (time(old) >= phase.barrier);
    let keep = (old == new) | same_item | (other != 0) & (time(other) < phase.low);
    if keep { other } else { old }
}

/// Notes a reader.
#[inline(always)]
fn read(cell: &mut Cell, new: u64, phase: Phase) {
    cell[OTHER] = other(*cell, new, phase);
    cell[READER] = new;
}

/// Watches a launch for races.
pub struct Races {
    global: Shadow,
    local: Shadow,
    order: Order,
    time: u32,
    lanes: usize,
    /// Time at which each group started.
    groups: Vec<u32>,
    /// Barrier that orders work-group memory, global memory.
    barriers: [u32; 2],
    /// The last barrier, whatever it orders.
    last_barrier: u32,
    /// Number of each instruction among those that access memory.
    numbers: Vec<u16>,
    /// By that number: what it does, whether it is atomic, where it is.
    accesses: Vec<(&'static str, bool, Option<String>)>,
    /// What each allocation is, its start and its end.
    buffers: Vec<(String, u64, u64)>,
    /// Each group's id and size.
    places: Places,
}

struct Places {
    groups: [u32; 3],
    global: [u32; 3],
    local: [u32; 3],
}

impl Places {
    fn id(&self, number: u32) -> [u32; 3] {
        let [x, y, _] = self.groups;
        [number % x, number / x % y, number / x / y]
    }
    fn local_id(&self, group: [u32; 3], item: u32) -> [u32; 3] {
        let size: [u32; 3] = std::array::from_fn(|d| self.local[d].min(self.global[d] - group[d] * self.local[d]));
        [item % size[0], item / size[0] % size[1], item / (size[0] * size[1])]
    }
}

impl Races {
    /// Nothing has happened yet.
    pub fn new(launch: &Launch, memory: &DeviceMemory, lanes: usize, warps: usize) -> Self {
        let first = memory.allocations().first().map_or(0, |a| a.address & !255);
        let end = memory.allocations().last().map_or(first, |a| a.end());
        let mut numbers = Vec::new();
        let mut accesses = Vec::new();
        for (i, inst) in launch.program.insts.iter().enumerate() {
            numbers.push(accesses.len().min(0xffff) as u16);
            if inst.is_memory() && accesses.len() < 0xffff {
                let volatile = matches!(inst.mods.cache, CachePolicy::Cv | CachePolicy::Wt);
                let (what, atomic) = match inst.op {
                    Op::Store => ("store", volatile),
                    Op::Atomic => ("atomic", true),
                    _ => ("load", volatile),
                };
                accesses.push((what, atomic, launch.program.source(i)));
            }
        }
        accesses.resize(accesses.len().max(1), ("access", false, None));
        Races {
            global: Shadow::new(first, end - first),
            local: Shadow::new(0, u64::from(launch.local_bytes)),
            order: Order::new(warps),
            time: 0,
            lanes,
            groups: Vec::new(),
            barriers: [0; 2],
            last_barrier: 0,
            numbers,
            accesses,
            buffers: memory.allocations().iter().map(|a| (a.description(), a.address, a.end())).collect(),
            places: Places { groups: launch.groups(), global: launch.global, local: launch.local },
        }
    }

    fn tick(&mut self) {
        self.time = self.time.saturating_add(1);
    }

    pub(super) fn start_group(&mut self) {
        if let Some(ended) = self.groups.len().checked_sub(1) {
            self.order.next_group(ended as u32);
        }
        self.tick();
        self.groups.push(self.time);
        self.barriers = [self.time; 2];
    }

    pub(super) fn barrier(&mut self, flags: i32) {
        self.tick();
        self.last_barrier = self.time;
        for (space, barrier) in self.barriers.iter_mut().enumerate() {
            if flags >> space & 1 == 1 {
                *barrier = self.time;
            }
        }
    }

    pub(super) fn fence(&mut self, warp: usize) {
        self.tick();
        self.order.fence(warp, self.time);
    }

    fn phase(&self, space: MemorySpace) -> Phase {
        match space {
            MemorySpace::Local => Phase { low: 0, barrier: self.barriers[0] },
            _ => Phase { low: self.groups.last().copied().unwrap_or(0), barrier: self.barriers[1] },
        }
    }

    /// The shadow of a memory.
    #[inline(always)]
    fn shadow(&mut self, space: MemorySpace) -> &mut Shadow {
        if space == MemorySpace::Local { &mut self.local } else { &mut self.global }
    }

    /// Notes an access of a warp. The first race of one of its lanes with an earlier access.
    pub(super) fn access<const N: usize>(
        &mut self,
        warp: usize,
        a: &Access<N>,
        values: &impl Values,
    ) -> Option<(FaultKind, u32)> {
        if self.time == u32::MAX {
            return None;
        }
        let phase = self.phase(a.space);
        let number = u64::from(self.numbers[a.index as usize]);
        let stamp = u64::from(self.time) << 32 | number << 4;
        let record = |lane: usize| stamp | ((warp * N + lane) as u64) << 20;
        if a.kind == Kind::Atomic || a.volatile {
            let mut fault = None;
            for lane in lanes(a) {
                fault = fault.or(self.atomic(warp, a, lane, record(lane), phase));
            }
            self.tick();
            return fault;
        }
        let mask = distinct_lanes(a);
        if a.bytes >= 4 && !a.scalar && mask == a.mask && self.note_row(a, record(0) | BYTES, phase) {
            return None;
        }
        let bytes = bytes_of(a);
        let words = words_of(a);
        let shadow = self.shadow(a.space);
        let mut close = 0u64;
        let mut rest = mask;
        while rest != 0 {
            let lane = rest.trailing_zeros() as usize;
            rest &= rest - 1;
            let offset = a.addresses[if a.scalar { 0 } else { lane }] - shadow.base;
            let new = record(lane) | bytes << (offset & 3);
            close |= u64::from(!shadow.lane(offset, words, new, phase, a.kind == Kind::Load)) << lane;
        }
        // The few that need a closer look. Words of theirs that were fine are so again: their record is their own.
        while close != 0 {
            let lane = close.trailing_zeros() as usize;
            close &= close - 1;
            let at = a.addresses[if a.scalar { 0 } else { lane }];
            for k in 0..words as u64 {
                let new = record(lane) | bytes << (at & 3);
                let conflict = self.close(warp, a, at + 4 * k, new, phase, |old, byte| {
                    a.kind == Kind::Store && self_equal(a, values, warp, lane, stamp, old, byte)
                });
                if let Some((old, byte)) = conflict {
                    return Some((self.report(a, byte, new, old, phase), lane as u32));
                }
            }
        }
        None
    }

    /// The frequent case: an access of whole words whose lanes are one behind the other; `first` is the
    /// record of lane 0. Whether that is so and nothing needs a closer look; then it has been noted.
    #[inline(always)]
    fn note_row<const N: usize>(&mut self, a: &Access<N>, first: u64, phase: Phase) -> bool {
        let shadow = self.shadow(a.space);
        let lane = a.mask.trailing_zeros() as usize;
        let size = u64::from(a.bytes);
        let start = a.addresses[lane].wrapping_sub(size * lane as u64);
        let mut different = 0;
        for (lane, at) in a.addresses.iter().enumerate() {
            let active = (a.mask >> lane & 1).wrapping_neg();
            different |= (at ^ start.wrapping_add(size * lane as u64)) & active;
        }
        if different != 0 || start < shadow.base {
            return false;
        }
        let word = ((start - shadow.base) / 4) as usize;
        let store = a.kind == Kind::Store;
        match words_of(a) {
            1 => shadow.row::<N, 0>(word, a.mask, first, phase, store),
            2 => shadow.row::<N, 1>(word, a.mask, first, phase, store),
            _ => shadow.row::<N, 2>(word, a.mask, first, phase, store),
        }
    }

    /// An atomic (or volatile) access of a lane.
    #[cold]
    fn atomic<const N: usize>(
        &mut self,
        warp: usize,
        a: &Access<N>,
        lane: usize,
        record: u64,
        phase: Phase,
    ) -> Option<(FaultKind, u32)> {
        let at = a.addresses[if a.scalar { 0 } else { lane }];
        for k in 0..words_of(a) as u64 {
            let new = record | bytes_of(a) << (at & 3);
            if let Some((old, byte)) = self.close(warp, a, at + 4 * k, new, phase, |_, _| false) {
                return Some((self.report(a, byte, new, old, phase), lane as u32));
            }
        }
        None
    }

    /// Looks closely at the accessed bytes of a word; notes the access. A conflict: the other record, and the address.
    fn close<const N: usize>(
        &mut self,
        warp: usize,
        a: &Access<N>,
        address: u64,
        new: u64,
        phase: Phase,
        benign: impl Fn(u64, u64) -> bool,
    ) -> Option<(u64, u64)> {
        // Not by `shadow`: the rest of the watch is used beside it.
        let shadow = if a.space == MemorySpace::Local { &mut self.local } else { &mut self.global };
        let start = address & !3;
        let word = ((address - shadow.base) / 4) as usize;
        let cell = shadow.cell(word);
        let have = (cell[WRITER] | cell[READER]) & BYTES;
        if cell[WRITER] != SPLIT && have != 0 && have != new & BYTES {
            shadow.set(word, [SPLIT, 0, 0]);
            let bytes = shadow.bytes(word);
            for (b, byte) in bytes.iter_mut().enumerate() {
                *byte = if have >> b & 1 == 1 { cell } else { [0; 3] };
            }
        }
        let (order, groups, accesses, lanes) = (&mut self.order, &self.groups, &self.accesses, self.lanes);
        let atomic = |record: u64| accesses.get(instruction(record)).is_some_and(|(_, atomic, _)| *atomic);
        let new_atomic = a.kind == Kind::Atomic || a.volatile;
        let mut look = |cell: &mut Cell, at: u64, mask: u64| -> Option<(u64, u64)> {
            // What the location's last atomic knows, this one knows.
            let old = cell[WRITER];
            if new_atomic && old != 0 && atomic(old) {
                let (t, start) = (time(old), groups.last().copied().unwrap_or(0));
                if t >= start {
                    order.hear(warp, item(old) as usize / lanes, t);
                } else if phase.low != 0 {
                    order.hear_group(group_of(groups, t), t);
                }
            }
            let against = if a.kind == Kind::Load { 1 } else { 3 };
            for old in cell.iter().copied().take(against) {
                if phase.harmless(old, new) || new_atomic && atomic(old) {
                    continue;
                }
                let t = time(old);
                let ordered = match t >= phase.barrier {
                    true => order.after(warp, item(old) as usize / lanes, t),
                    false => order.after_group(group_of(groups, t), t),
                };
                if ordered {
                    continue;
                }
                let writes = old == cell[WRITER];
                let same = writes && !atomic(old) && (0..4).filter(|b| mask >> b & 1 == 1).all(|b| benign(old, at + b));
                if !same {
                    let first = (0..4).find(|b| mask >> b & 1 == 1).unwrap_or(0);
                    return Some((old, at + first));
                }
            }
            if a.kind == Kind::Load {
                read(cell, new, phase);
            } else {
                cell[WRITER] = new;
            }
            None
        };
        let mut cell = shadow.cell(word);
        if cell[WRITER] != SPLIT {
            let found = look(&mut cell, start, new & BYTES);
            shadow.set(word, cell);
            return found;
        }
        let bytes = shadow.bytes(word);
        (0..4).filter(|b| new >> b & 1 == 1).find_map(|b| look(&mut bytes[b], start, 1 << b))
    }

    #[cold]
    fn report<const N: usize>(&self, a: &Access<N>, address: u64, new: u64, old: u64, phase: Phase) -> FaultKind {
        let other_group = (time(old) < phase.low).then(|| self.places.id(group_of(&self.groups, time(old))));
        let group = self.places.id(self.groups.len() as u32 - 1);
        let what = |record: u64| self.accesses.get(instruction(record)).map_or("access", |(what, ..)| what);
        let buffer = match a.space {
            MemorySpace::Local => None,
            _ => self.buffers.iter().find(|(_, start, end)| (*start..*end).contains(&address)),
        };
        FaultKind::Race(Box::new(Race {
            space: a.space.into(),
            address,
            buffer: buffer.map(|(name, start, _)| (name.clone(), address - start)),
            access: what(new),
            local_id: self.places.local_id(group, item(new)),
            group_id: group,
            other_access: what(old),
            other_source: self.accesses.get(instruction(old)).and_then(|(.., source)| source.clone()),
            other_local_id: self.places.local_id(other_group.unwrap_or(group), item(old)),
            other_group_id: other_group,
            unfenced_barrier: other_group.is_none() && time(old) < self.last_barrier,
        }))
    }
}

/// Words that each lane accesses.
fn words_of<const N: usize>(a: &Access<N>) -> usize {
    (a.bytes / 4).max(1) as usize
}

/// Bytes of a word that each lane accesses, a bit each, if the lane's address is a multiple of 4.
fn bytes_of<const N: usize>(a: &Access<N>) -> u64 {
    if a.bytes < 4 { (1u64 << a.bytes) - 1 } else { BYTES }
}

/// Lanes that need to be looked at: of those that read one word, as all do of a scalar load, the first and
/// the last stand for all.
fn distinct_lanes<const N: usize>(a: &Access<N>) -> u64 {
    let first = a.mask.trailing_zeros() as usize;
    let same = |lane: usize| a.addresses[lane] == a.addresses[first];
    if a.kind == Kind::Load && (a.scalar || lanes(a).all(same)) {
        let last = 63 - a.mask.leading_zeros();
        return 1 << first | 1 << last;
    }
    a.mask
}

/// Active lanes.
fn lanes<const N: usize>(a: &Access<N>) -> impl Iterator<Item = usize> {
    let mask = a.mask;
    (0..N).filter(move |i| mask >> i & 1 == 1)
}

/// The group that ran at a time.
fn group_of(groups: &[u32], time: u32) -> u32 {
    (groups.partition_point(|start| *start <= time) as u32).saturating_sub(1)
}

/// Whether a lane stores into a byte what the writer `old` left there: another lane of this instruction, or
/// an earlier store, whose value is in memory.
fn self_equal<const N: usize>(
    a: &Access<N>,
    values: &impl Values,
    warp: usize,
    lane: usize,
    stamp: u64,
    old: u64,
    byte: u64,
) -> bool {
    let value = |lane: usize| {
        let at = byte - a.addresses[lane];
        (values.data(lane, at as usize / 4) >> (8 * (at & 3))) as u8
    };
    let other = (item(old) as usize).wrapping_sub(warp * N);
    let this = old & !(ITEM | BYTES) == stamp
        && other < lane
        && a.mask >> other & 1 == 1
        && (a.addresses[other]..a.addresses[other] + u64::from(a.bytes)).contains(&byte);
    value(lane) == if this { value(other) } else { values.memory(byte) }
}
