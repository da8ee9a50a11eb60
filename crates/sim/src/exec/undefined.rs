//! Undefined values in registers: what was read where nothing had been written (checking mode).
//!
//! Such a read is no error as long as nothing depends on it: compilers move loads ahead of the branch that
//! guards them, and copy structures with their padding. So, as Memcheck does (Seward and Nethercote, USENIX
//! 2005), a load marks its destination, and the mark follows the value through moves, arithmetic, private and
//! work-group memory. The first use that matters is reported, at the load: an address, a branch, the guard of
//! an access, the data of an atomic or of a store to global memory. What goes through memory keeps its first
//! read ([`Copies`]).
//!
//! Marks are of words and lanes; a word any byte of which has been written is defined. Where a defined
//! operand decides the result of `and`, `or` and `sel`, the result is defined; any other result is undefined
//! if an operand is. As long as nothing is marked, which is nearly always, an instruction costs one
//! comparison.
//!
//! Loads of private variables that the program contains are volatile in checking mode
//! (`heddle_llvm_passes::uninitialised`). Others come from the optimiser, which takes copies of structures
//! apart; that their padding goes on to global memory is not reported.

use rustc_hash::FxHashMap;
use smallvec::{SmallVec, smallvec};

use super::lanes;
use super::{Decoded, Lanes, all_lanes};
use crate::fault::FaultKind;
use crate::program::End;
use heddle_isa::{CachePolicy, CrossLane, Inst, Meaning, MemoryAction, MemorySpace, Op};

/// A register's row, or behind all rows a predicate register.
type Key = u32;
const PREDICATES: Key = 1 << 16;

/// A lane's read of what was never written.
#[derive(Clone, Copy, Debug)]
pub struct Read {
    index: u32,
    space: MemorySpace,
    bytes: u32,
    address: u64,
    /// The program reads this: not a part of a copy.
    certain: bool,
}

/// Where undefined values in memory come from that have been stored there: the first read. By warp (`None`:
/// work-group memory), lane and word.
pub type Copies = FxHashMap<(Option<u32>, u32, u64), Read>;

/// Lanes of a register, and where their value comes from.
#[derive(Clone, Copy, Debug)]
struct Mark {
    key: Key,
    lanes: u64,
    origin: u32,
}

/// The undefined values of a warp.
#[derive(Clone, Debug, Default)]
pub struct Undefined {
    marks: Vec<Mark>,
    /// The read of each lane.
    origins: Vec<Vec<Read>>,
    /// Of each word of the store under way, the lanes whose data is undefined.
    storing: [Marked; 4],
}

/// Lanes with their origins; no lane is in two parts.
#[derive(Clone, Debug, Default)]
struct Marked(SmallVec<[(u64, u32); 2]>);

impl Marked {
    fn new(lanes: u64, origin: u32) -> Marked {
        if lanes == 0 { Marked::default() } else { Marked(smallvec![(lanes, origin)]) }
    }
    fn lanes(&self) -> u64 {
        self.0.iter().fold(0, |all, (lanes, _)| all | lanes)
    }
    /// Lanes of either, with this one's origin if of both.
    fn or(mut self, other: Marked) -> Marked {
        let mine = self.lanes();
        self.0.extend(other.of(!mine).0);
        self
    }
    /// Those of some lanes.
    fn of(mut self, lanes: u64) -> Marked {
        self.0.iter_mut().for_each(|part| part.0 &= lanes);
        self.0.retain(|part| part.0 != 0);
        self
    }
    /// What one lane's mark means for all.
    fn spread(self, lane: u64, n: usize) -> Marked {
        self.0.iter().find(|(lanes, _)| lanes & lane != 0).map_or(Marked::default(), |(_, o)| Marked::new(all_lanes(n), *o))
    }
}

impl Undefined {
    /// Nothing is marked.
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.marks.is_empty()
    }

    /// A warp starts.
    pub fn clear(&mut self) {
        self.marks.clear();
        self.origins.clear();
        self.storing = Default::default();
    }

    /// Of each word of the store under way, the lanes whose data is undefined.
    pub fn storing(&self) -> [u64; 4] {
        [0, 1, 2, 3].map(|w: usize| self.storing[w].lanes())
    }

    /// Notes where the undefined values come from that a store of warp `warp` puts into memory.
    pub fn stored<const N: usize>(&self, d: &Decoded<N>, warp: u32, addresses: &[u64; N], copies: &mut Copies) {
        for (k, word) in self.storing.iter().enumerate() {
            for (part, origin) in &word.0 {
                let Some(reads) = self.origins.get(*origin as usize) else { continue };
                for lane in lanes(*part) {
                    copies.insert(place(d.space, warp, lane, addresses[lane] / 4 + k as u64), reads[lane]);
                }
            }
        }
    }

    fn get(&self, key: Key) -> Marked {
        Marked(self.marks.iter().filter(|m| m.key == key).map(|m| (m.lanes, m.origin)).collect())
    }

    /// A register gets a value in lanes `written`, an undefined one in those of `marked`.
    fn set(&mut self, key: Key, written: u64, marked: Marked) {
        for mark in self.marks.iter_mut().filter(|m| m.key == key) {
            mark.lanes &= !written;
        }
        self.marks.retain(|m| m.lanes != 0);
        self.marks.extend(marked.of(written).0.into_iter().map(|(lanes, origin)| Mark { key, lanes, origin }));
    }

    /// A load of warp `warp` has found nothing written in lanes `missing`.
    pub fn loaded<const N: usize>(
        &mut self,
        d: &Decoded<N>,
        warp: u32,
        missing: &[u64; 4],
        addresses: &[u64; N],
        bytes: u32,
        copies: &Copies,
    ) {
        if self.origins.len() > 256 {
            self.forget_origins();
        }
        let volatile = d.policy == CachePolicy::Cv;
        // Loads of work-group memory are not told apart: what was not copied there is read by the program.
        let certain = volatile || d.space == MemorySpace::Local;
        for (w, missing) in missing.iter().enumerate().take(usize::from(d.dst_words)).filter(|(_, m)| **m != 0) {
            let lanes = if d.scalar { all_lanes(N) } else { *missing };
            let read = |lane: usize| {
                let lane = if d.scalar { 0 } else { lane };
                let address = addresses[lane];
                let first = copies.get(&place(d.space, warp, lane, address / 4 + w as u64)).copied();
                let first = first.unwrap_or(Read { index: d.index, space: d.space, bytes, address, certain });
                Read { certain: first.certain || volatile, ..first }
            };
            let marked = Marked::new(lanes, self.origins.len() as u32);
            self.origins.push((0..N).map(read).collect());
            self.set(Key::from(d.dst + w as u16), lanes, marked);
        }
    }

    /// Those lanes whose value the program has read.
    fn certain(&self, mut marked: Marked) -> Marked {
        for (part, origin) in &mut marked.0 {
            let reads = self.origins.get(*origin as usize);
            let certain = |lane: &usize| reads.and_then(|r| r.get(*lane)).is_some_and(|r| r.certain);
            *part = lanes(*part).filter(certain).fold(0, |m, l| m | 1 << l);
        }
        marked.of(u64::MAX)
    }

    /// Drops the origins of values that are gone.
    fn forget_origins(&mut self) {
        let mut kept: Vec<Vec<Read>> = Vec::new();
        let mut numbers: FxHashMap<u32, u32> = FxHashMap::default();
        for mark in &mut self.marks {
            mark.origin = *numbers.entry(mark.origin).or_insert_with(|| {
                kept.push(self.origins[mark.origin as usize].clone());
                kept.len() as u32 - 1
            });
        }
        self.origins = kept;
    }
}

/// A word in [`Copies`].
fn place(space: MemorySpace, warp: u32, lane: usize, word: u64) -> (Option<u32>, u32, u64) {
    match space {
        MemorySpace::Private => (Some(warp), lane as u32, word),
        _ => (None, 0, word),
    }
}

/// Looks at an instruction that is about to run: reports a use, or marks what it writes. Only needed while something is marked.
#[cold]
pub fn observe<const N: usize>(l: &mut Lanes<N>, d: &Decoded<N>, inst: &Inst) {
    l.undefined.storing = Default::default();
    let meaning = inst.info().meaning;
    if matches!(meaning, Meaning::Control) {
        return;
    }
    let active = if d.scalar && !matches!(meaning, Meaning::CrossLane(CrossLane::First)) { all_lanes(N) } else { l.active(d) };
    let guard = match d.guard {
        255 => Marked::default(),
        g => l.undefined.get(PREDICATES + Key::from(g & 15)).of(l.mask),
    };
    let [a, b, c] = [0, 1, 2].map(|i| source(l, d, inst, i));
    let address = a.or(b);
    let used = match meaning {
        Meaning::Memory(MemoryAction::Load) => guard.clone().or(address.of(active)),
        Meaning::Memory(MemoryAction::Store) => {
            for w in 0..u16::from(inst.src_words(2).clamp(1, 4)) {
                l.undefined.storing[usize::from(w)] = l.undefined.get(Key::from(d.src[2] + w)).of(active);
            }
            let device = !matches!(d.space, MemorySpace::Local | MemorySpace::Private);
            let data = l.undefined.storing.iter().fold(Marked::default(), |all, m| all.or(l.undefined.certain(m.clone())));
            guard.clone().or(address.of(active)).or(if device { data } else { Marked::default() })
        }
        Meaning::Memory(MemoryAction::Atomic | MemoryAction::ReadImage | MemoryAction::WriteImage) => {
            guard.clone().or(address.or(c).of(active))
        }
        Meaning::Memory(MemoryAction::Fence | MemoryAction::CacheControl) => Marked::default(),
        Meaning::Lane(_) | Meaning::CrossLane(_) | Meaning::Control | Meaning::Pseudo => Marked::default(),
    };
    if used.lanes() != 0 {
        report(l, &used, d.index);
        return;
    }
    if !d.has_dst {
        return;
    }
    let written = if d.scalar { all_lanes(N) } else { active | guard.lanes() };
    if d.dst_words == 0 {
        let result = result(l, d, inst, 0, active).or(guard.clone());
        l.undefined.set(PREDICATES + Key::from(d.dst & 15), written, result);
    }
    // All results before the first is set: a destination may be a source.
    let results: SmallVec<[Marked; 4]> =
        (0..u16::from(d.dst_words)).map(|w| result(l, d, inst, w, active).or(guard.clone())).collect();
    for (w, result) in results.into_iter().enumerate() {
        l.undefined.set(Key::from(d.dst) + w as u32, written, result);
    }
}

/// A source: all its words.
fn source<const N: usize>(l: &Lanes<N>, d: &Decoded<N>, inst: &Inst, i: usize) -> Marked {
    let words = if i < inst.srcs.len() { u16::from(inst.src_words(i).max(1)) } else { 0 };
    (0..words).fold(Marked::default(), |all, w| all.or(word(l, d, i, w)))
}

/// A word of a source, or a predicate.
fn word<const N: usize>(l: &Lanes<N>, d: &Decoded<N>, i: usize, w: u16) -> Marked {
    match d.predicate_sources >> i & 1 {
        1 => l.undefined.get(PREDICATES + Key::from(d.src[i] & 15)),
        _ => l.undefined.get(Key::from(d.src[i] + w)),
    }
}

/// What word `w` of an instruction's result is, or the predicate it writes.
fn result<const N: usize>(l: &Lanes<N>, d: &Decoded<N>, inst: &Inst, w: u16, active: u64) -> Marked {
    match inst.info().meaning {
        Meaning::Lane(_) => lane_result(l, d, inst, w),
        Meaning::CrossLane(CrossLane::First) => word(l, d, 0, w).spread(1 << active.trailing_zeros().min(63), N),
        Meaning::CrossLane(CrossLane::Ballot) => word(l, d, 0, 0).spread(active, N),
        Meaning::CrossLane(CrossLane::Shuffle) => {
            let (mut a, from) = (word(l, d, 0, 0), l.row(d.src[1]));
            // The origin of a lane that gets another's value is that of its own at the same load, as near as it can be told.
            for (part, _) in &mut a.0 {
                *part = (0..N).fold(0, |m, k| m | (*part >> (from[k] as usize % N) & 1) << k);
            }
            a.or(word(l, d, 1, 0))
        }
        // What is in memory is another matter.
        Meaning::Memory(_) | Meaning::Control | Meaning::Pseudo => Marked::default(),
    }
}

/// The same of a function of each lane's operands: undefined if an operand is, but for operations of which more is known.
fn lane_result<const N: usize>(l: &Lanes<N>, d: &Decoded<N>, inst: &Inst, w: u16) -> Marked {
    match inst.op {
        // Words apart.
        Op::Mov | Op::Not => word(l, d, 0, w),
        Op::Xor => word(l, d, 0, w).or(word(l, d, 1, w)),
        Op::Sel => {
            let p = l.predicate(d, 0);
            word(l, d, 0, 0).or(word(l, d, 1, w).of(p)).or(word(l, d, 2, w).of(!p))
        }
        Op::And | Op::AndNot | Op::Or => {
            // A defined operand that is zero, or all ones, decides.
            let decides = |i: usize| {
                let ones = inst.op == Op::Or || inst.op == Op::AndNot && i == 1;
                let lanes = if d.predicate_sources >> i & 1 == 1 {
                    let p = l.predicate(d, i);
                    if ones { p } else { !p }
                } else {
                    let whole = if ones { u32::MAX } else { 0 };
                    l.row(d.src[i] + w).iter().enumerate().fold(0, |m, (k, v)| m | u64::from(*v == whole) << k)
                };
                lanes & !word(l, d, i, w).lanes()
            };
            word(l, d, 0, w).or(word(l, d, 1, w)).of(!(decides(0) | decides(1)))
        }
        _ => [0, 1, 2].map(|i| source(l, d, inst, i)).into_iter().fold(Marked::default(), Marked::or),
    }
}

/// Looks at the end of a block, instruction `index`: a branch on an undefined value is a use.
pub fn observe_end<const N: usize>(l: &mut Lanes<N>, end: End, index: u32) {
    let used = match end {
        End::Scalar { condition, .. } => l.undefined.get(Key::from(condition)),
        End::Divergent { predicate, .. } => l.undefined.get(PREDICATES + Key::from(predicate & 15)).of(l.mask),
        _ => return,
    };
    if used.lanes() != 0 {
        report(l, &used, index);
    }
}

/// An undefined value is used by instruction `used`.
fn report<const N: usize>(l: &mut Lanes<N>, marked: &Marked, used: u32) {
    let lane = marked.lanes().trailing_zeros();
    let origin = marked.0.iter().find(|(lanes, _)| lanes >> lane & 1 == 1);
    let reads = origin.and_then(|(_, origin)| l.undefined.origins.get(*origin as usize));
    let Some(Read { index, space, bytes, address, .. }) = reads.and_then(|r| r.get(lane as usize)).copied() else { return };
    let kind = FaultKind::Uninitialised { space: space.into(), address, bytes, used, used_at: None };
    // Lanes that are not there have no work-item.
    let lane = if l.mask >> lane & 1 == 1 { lane } else { l.mask.trailing_zeros() };
    let deferred = l.checker.is_some_and(|c| c.borrow_mut().defer(space, &kind, index, lane));
    if deferred {
        l.undefined.clear();
    } else {
        l.fault.get_or_insert((kind, index, lane));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_follow_what_is_written() {
        let mut u = Undefined::default();
        u.set(3, 0b1111, Marked::new(0b0110, 0));
        assert_eq!(u.get(3).lanes(), 0b0110);
        u.set(3, 0b0011, Marked::default());
        assert_eq!(u.get(3).lanes(), 0b0100);
        u.set(3, 0b0001, Marked::new(u64::MAX, 7));
        assert_eq!(u.get(3).0[..], [(0b0100, 0), (0b0001, 7)]);
        assert_eq!(u.get(3).or(Marked::new(0b0011, 9)).0[..], [(0b0100, 0), (0b0001, 7), (0b0010, 9)]);
        u.set(3, u64::MAX, Marked::default());
        assert!(u.is_empty());
    }
}
