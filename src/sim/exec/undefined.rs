//! Undefined values in registers: what was read where nothing had been written (checking mode).
//!
//! Such a read is no error as long as nothing depends on it: compilers move loads ahead of the branch that guards them, and copy structures with
//! their padding. So, as Memcheck does (Seward and Nethercote, USENIX 2005), a load marks its destination, and the mark follows the value through
//! moves, arithmetic, private and work-group memory. The first use that matters is reported, at the load: an address, a branch, the guard of an
//! access, the data of an atomic or of a store to global memory. What goes through memory keeps its first read ([`Copies`]).
//!
//! Marks are of words and lanes. Where a defined operand decides the result of `and`, `or` and `sel`, the result is defined; any other result is
//! undefined if an operand is. As long as nothing is marked, which is nearly always, an instruction costs one comparison.

use rustc_hash::FxHashMap;

use super::access::lanes;
use super::{Decoded, Lanes, all_lanes};
use crate::isa::{Inst, MemorySpace, Op};
use crate::sim::fault::FaultKind;
use crate::sim::program::End;

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
}

/// Where undefined values in memory come from that have been stored there: the first read. By warp (`None`: work-group memory), lane and word.
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
    /// Lanes in which all data of the store under way is undefined.
    storing: Marked,
}

/// Lanes, and the origin of some of them.
#[derive(Clone, Copy, Debug, Default)]
struct Marked {
    lanes: u64,
    origin: u32,
}

impl Marked {
    fn or(self, other: Marked) -> Marked {
        Marked { lanes: self.lanes | other.lanes, origin: if self.lanes != 0 { self.origin } else { other.origin } }
    }
    fn of(self, lanes: u64) -> Marked {
        Marked { lanes: self.lanes & lanes, ..self }
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
        self.storing = Marked::default();
    }

    /// Lanes in which all data of the store under way is undefined.
    pub fn storing(&self) -> u64 {
        self.storing.lanes
    }

    /// Notes where the undefined values come from that a store of warp `warp` puts into memory.
    pub fn stored<const N: usize>(&self, d: &Decoded<N>, warp: u32, addresses: &[u64; N], bytes: u32, copies: &mut Copies) {
        let Some(reads) = self.origins.get(self.storing.origin as usize) else { return };
        for lane in lanes(self.storing.lanes) {
            for k in 0..u64::from(bytes.div_ceil(4)) {
                copies.insert(place(d.space, warp, lane, addresses[lane] / 4 + k), reads[lane]);
            }
        }
    }

    fn get(&self, key: Key) -> Marked {
        let mark = self.marks.iter().find(|m| m.key == key);
        mark.map_or(Marked::default(), |m| Marked { lanes: m.lanes, origin: m.origin })
    }

    /// A register gets a value in lanes `written`, an undefined one in those of `marked`.
    fn set(&mut self, key: Key, written: u64, marked: Marked) {
        let lanes = marked.lanes & written;
        let Some(i) = self.marks.iter().position(|m| m.key == key) else {
            if lanes != 0 {
                self.marks.push(Mark { key, lanes, origin: marked.origin });
            }
            return;
        };
        let mark = &mut self.marks[i];
        mark.lanes = mark.lanes & !written | lanes;
        if lanes != 0 {
            mark.origin = marked.origin;
        }
        if mark.lanes == 0 {
            self.marks.swap_remove(i);
        }
    }

    /// A load of warp `warp` has found nothing written in lanes `missing`.
    pub fn loaded<const N: usize>(
        &mut self,
        d: &Decoded<N>,
        warp: u32,
        missing: u64,
        addresses: &[u64; N],
        bytes: u32,
        copies: &Copies,
    ) {
        if self.origins.len() > 256 {
            self.forget_origins();
        }
        let lanes = if d.scalar { all_lanes(N) } else { missing };
        let read = |lane: usize| {
            let lane = if d.scalar { 0 } else { lane };
            let address = addresses[lane];
            let copied = copies.get(&place(d.space, warp, lane, address / 4));
            copied.copied().unwrap_or(Read { index: d.index, space: d.space, bytes, address })
        };
        let marked = Marked { lanes, origin: self.origins.len() as u32 };
        self.origins.push((0..N).map(read).collect());
        for w in 0..u16::from(d.dst_words) {
            self.set(Key::from(d.dst + w), lanes, marked);
        }
    }

    /// Drops the origins of values that are gone.
    fn forget_origins(&mut self) {
        let mut kept = Vec::new();
        for mark in &mut self.marks {
            kept.push(self.origins[mark.origin as usize].clone());
            mark.origin = kept.len() as u32 - 1;
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
    l.undefined.storing = Marked::default();
    if inst.op == Op::Release {
        return;
    }
    let active = if d.scalar && inst.op != Op::First { all_lanes(N) } else { l.active(d) };
    let word = |l: &Lanes<N>, i: usize, w: u16| l.undefined.get(Key::from(d.src[i] + w));
    let source = |l: &Lanes<N>, i: usize| {
        if i >= inst.srcs.len() {
            return Marked::default();
        }
        if d.predicate_sources >> i & 1 == 1 {
            return l.undefined.get(PREDICATES + Key::from(d.src[i] & 15));
        }
        let words = u16::from(inst.src_words(i).max(1));
        (0..words).fold(Marked::default(), |all, w| all.or(word(l, i, w)))
    };
    let guard = match d.guard {
        255 => Marked::default(),
        g => l.undefined.get(PREDICATES + Key::from(g & 15)).of(l.mask),
    };
    let [a, b, c] = [0, 1, 2].map(|i| source(l, i));
    let any = a.or(b).or(c);
    let device = !matches!(d.space, MemorySpace::Local | MemorySpace::Private);
    let (used, result) = match inst.op {
        Op::Load | Op::LoadUniform => (guard.or(a.or(b).of(active)), Marked::default()),
        Op::Store if device => (guard.or(any.of(active)), Marked::default()),
        Op::Store => {
            let words = u16::from(inst.src_words(2).max(1));
            let all = (0..words).fold(active, |all, w| all & word(l, 2, w).lanes);
            l.undefined.storing = c.of(all);
            (guard.or(a.or(b).of(active)), Marked::default())
        }
        Op::Atomic | Op::Sample | Op::ImageStore => (guard.or(any.of(active)), Marked::default()),
        Op::CacheControl | Op::CacheControlLocal => (Marked::default(), Marked::default()),
        Op::Sel => {
            let p = l.predicate(d, 0);
            (Marked::default(), a.or(b.of(p)).or(c.of(!p)))
        }
        Op::And | Op::Or => {
            // A defined operand that is zero, or all ones, decides.
            let decides = |i: usize| {
                let wanted = inst.op == Op::Or;
                if d.predicate_sources >> i & 1 == 1 {
                    let p = l.predicate(d, i);
                    return if wanted { p } else { !p };
                }
                let words = u16::from(inst.src_words(i).max(1));
                let whole = if wanted { u32::MAX } else { 0 };
                let lane = |k: usize| (0..words).all(|w| l.row(d.src[i] + w)[k] == whole);
                (0..N).fold(0, |m, k| m | u64::from(lane(k)) << k)
            };
            let by_a = decides(0) & !a.lanes;
            let by_b = decides(1) & !b.lanes;
            (Marked::default(), any.of(!(by_a | by_b)))
        }
        Op::Shuffle => {
            let from = l.row(d.src[1]);
            let lane = |k: usize| a.lanes >> (from[k] as usize % N) & 1;
            let moved = Marked { lanes: (0..N).fold(0, |m, k| m | lane(k) << k), ..a };
            (Marked::default(), moved.or(b))
        }
        Op::First => {
            let first = active.trailing_zeros().min(63);
            let whole = if a.lanes >> first & 1 == 1 { all_lanes(N) } else { 0 };
            (Marked::default(), Marked { lanes: whole, ..a })
        }
        Op::Ballot => {
            let whole = if a.lanes & active != 0 { all_lanes(N) } else { 0 };
            (Marked::default(), Marked { lanes: whole, ..a })
        }
        // A guard decides which of two values the destination has.
        _ => (Marked::default(), any.or(guard)),
    };
    if used.lanes != 0 {
        report(l, used);
        return;
    }
    if !d.has_dst {
        return;
    }
    let written = if d.scalar { all_lanes(N) } else { active | guard.lanes };
    if d.dst_words == 0 {
        l.undefined.set(PREDICATES + Key::from(d.dst & 15), written, result);
    }
    for w in 0..u16::from(d.dst_words) {
        l.undefined.set(Key::from(d.dst + w), written, result);
    }
}

/// Looks at the end of a block: a branch on an undefined value is a use.
pub fn observe_end<const N: usize>(l: &mut Lanes<N>, end: End) {
    let used = match end {
        End::Scalar { condition, .. } => l.undefined.get(Key::from(condition)),
        End::Divergent { predicate, .. } => l.undefined.get(PREDICATES + Key::from(predicate & 15)).of(l.mask),
        _ => return,
    };
    if used.lanes != 0 {
        report(l, used);
    }
}

/// An undefined value is used.
fn report<const N: usize>(l: &mut Lanes<N>, used: Marked) {
    let lane = used.lanes.trailing_zeros();
    let reads = l.undefined.origins.get(used.origin as usize);
    let Some(Read { index, space, bytes, address }) = reads.and_then(|r| r.get(lane as usize)).copied() else { return };
    let kind = FaultKind::Uninitialised { space: space.into(), address, bytes };
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
        u.set(3, 0b1111, Marked { lanes: 0b0110, origin: 0 });
        assert_eq!(u.get(3).lanes, 0b0110);
        u.set(3, 0b0011, Marked::default());
        assert_eq!(u.get(3).lanes, 0b0100);
        u.set(3, 0b0001, Marked { lanes: u64::MAX, origin: 7 });
        assert_eq!((u.get(3).lanes, u.get(3).origin), (0b0101, 7));
        u.set(3, u64::MAX, Marked::default());
        assert!(u.is_empty());
    }
}
