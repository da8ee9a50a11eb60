//! The scoreboard: from which cycle each register of each resident warp can be read (Thornton's CDC 6600, as
//! GPUs have it in each SM).

use super::super::super::hierarchy::deferred::PENDING;
use super::super::super::memory::prefetch;
use super::super::statics::{NEAR_WAITS, NEAR_WRITES};

/// Where a value comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Source {
    /// A unit of the SM.
    Unit = 0,
    /// Work-group memory or the constant bank.
    Memory = 1,
    /// Global, constant or private memory, through the memory hierarchy.
    Hierarchy = 3,
}

/// When a register can be read, or that nobody knows yet; and where its value comes from.
///
/// Four times the cycle, plus the [`Source`]; [`PENDING`] while the levels that all SMs share have not answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Ready(u64);

impl Ready {
    /// Nobody knows when.
    pub const UNKNOWN: Ready = Ready(PENDING);

    /// From a cycle on.
    #[inline(always)]
    pub fn at(cycle: u64, source: Source) -> Ready {
        Ready(cycle << 2 | source as u64)
    }
}

/// When all operands of an instruction are there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct OperandsReady {
    /// The cycle.
    pub cycle: u64,
    /// The last one to come is from memory.
    pub from_memory: bool,
}

/// The scoreboards of an SM's warps. A warp's rows are those of its registers, then its predicates.
pub(super) struct Scoreboard {
    /// Rows of a warp.
    rows: usize,
    /// By warp slot and row.
    ready: Vec<Ready>,
}

impl Scoreboard {
    /// Of no warps yet, each of which will have some rows.
    pub fn new(rows: usize) -> Scoreboard {
        Scoreboard { rows, ready: Vec::new() }
    }

    /// Makes room for the warps of `slots` slots.
    pub fn resize(&mut self, slots: usize) {
        self.ready.resize(slots * self.rows, Ready(0));
    }

    /// Another warp takes a slot: all its registers can be read.
    pub fn clear(&mut self, slot: usize) {
        self.ready[slot * self.rows..(slot + 1) * self.rows].fill(Ready(0));
    }

    /// A row of a warp will be needed soon: the host may fetch it into its caches.
    #[inline]
    pub fn prefetch(&self, slot: usize, row: u16) {
        if let Some(ready) = self.ready.get(slot * self.rows + usize::from(row)) {
            prefetch(ready);
        }
    }

    /// Bytes on the heap.
    pub fn heap_bytes(&self) -> usize {
        size_of_val(&self.ready[..])
    }

    /// Sets when some rows of a warp can be read.
    #[inline(always)]
    pub fn set(&mut self, slot: usize, rows: &[u16], ready: Ready) {
        let warp = &mut self.ready[slot * self.rows..(slot + 1) * self.rows];
        for row in rows {
            warp[usize::from(*row)] = ready;
        }
    }

    /// Sets the same of a few rows ([`super::super::statics::Statics::near_writes`]).
    #[inline(always)]
    pub fn set_near(&mut self, slot: usize, rows: &[u16; NEAR_WRITES], ready: Ready) {
        for row in rows {
            let at = self.place(slot, *row);
            // SAFETY: as `place` says.
            unsafe { *self.ready.get_unchecked_mut(at) = ready };
        }
    }

    /// Where a row of a warp is. It is one of the scoreboard: slots are those that [`Self::resize`] was told of, and rows are
    /// numbered by [`super::super::statics::statics`], which says how many there are.
    #[inline(always)]
    fn place(&self, slot: usize, row: u16) -> usize {
        let place = slot * self.rows + usize::from(row);
        debug_assert!(usize::from(row) < self.rows && place < self.ready.len());
        place
    }

    /// Whether it is not known when one of some rows can be read.
    pub fn any_unknown(&self, slot: usize, rows: &[u16]) -> bool {
        let warp = &self.ready[slot * self.rows..(slot + 1) * self.rows];
        rows.iter().any(|row| warp[usize::from(*row)].0 >= PENDING)
    }

    /// Whether one of some rows waits at a cycle for the memory hierarchy.
    pub fn waits_for_hierarchy(&self, slot: usize, rows: &[u16], now: u64) -> bool {
        let warp = &self.ready[slot * self.rows..(slot + 1) * self.rows];
        let waits = |r: u64| r >= PENDING || r & 3 == Source::Hierarchy as u64 && r >> 2 > now;
        rows.iter().any(|row| waits(warp[usize::from(*row)].0))
    }

    /// When some rows can be read, by an instruction whose code is there at a cycle (or pending); `None` if
    /// nobody knows. Of what comes in the same cycle, the code and then the first row count as what the warp
    /// waits for.
    #[inline(always)]
    pub fn operands_ready(&self, slot: usize, rows: &[u16], code_ready: u64) -> Option<OperandsReady> {
        let warp = &self.ready[slot * self.rows..(slot + 1) * self.rows];
        last_ready(rows.iter().map(|row| warp[usize::from(*row)]), code_ready)
    }

    /// The same of a few rows ([`super::super::statics::Statics::near_waits`]).
    #[inline(always)]
    pub fn near_operands_ready(&self, slot: usize, rows: &[u16; NEAR_WAITS], code_ready: u64) -> Option<OperandsReady> {
        // SAFETY: as `place` says.
        last_ready(rows.iter().map(|row| unsafe { *self.ready.get_unchecked(self.place(slot, *row)) }), code_ready)
    }
}

/// When the last one of some operands is there, and the code of the instruction.
#[inline(always)]
fn last_ready(operands: impl Iterator<Item = Ready>, code_ready: u64) -> Option<OperandsReady> {
    // Times are compared without their lowest bits, and what is pending is later than all.
    let (mut latest, mut any) = (code_ready << 2, code_ready);
    for Ready(ready) in operands {
        any |= ready;
        latest = if ready > latest | 3 { ready } else { latest };
    }
    (any < PENDING).then_some(OperandsReady { cycle: latest >> 2, from_memory: latest & 1 == 1 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_operand_decides() {
        let mut s = Scoreboard::new(4);
        s.resize(2);
        s.set(1, &[0], Ready::at(20, Source::Unit));
        s.set(1, &[2, 3], Ready::at(30, Source::Memory));
        let ready = |rows: &[u16], code| s.operands_ready(1, rows, code).map(|r| (r.cycle, r.from_memory));
        assert_eq!(ready(&[0, 1], 5), Some((20, false)));
        assert_eq!(ready(&[0, 2], 5), Some((30, true)));
        // The code is as late: that is what the warp waits for.
        assert_eq!(ready(&[0, 2], 30), Some((30, false)));
        assert_eq!(s.operands_ready(0, &[0, 2], 5), Some(OperandsReady { cycle: 5, from_memory: false }), "another warp's");
        let near = |row: u16, code| s.near_operands_ready(1, &[0, row, 1, 1, 1, 1], code).map(|r| (r.cycle, r.from_memory));
        assert_eq!((near(1, 5), near(2, 5), near(2, 30)), (Some((20, false)), Some((30, true)), Some((30, false))));
        s.set_near(1, &[1, 3], Ready::UNKNOWN);
        assert_eq!((s.near_operands_ready(1, &[0, 1, 2, 2, 2, 2], 5), s.any_unknown(1, &[3])), (None, true));
    }

    #[test]
    fn what_waits_for_the_hierarchy() {
        let mut s = Scoreboard::new(4);
        s.resize(1);
        for (row, source) in [(0, Source::Unit), (1, Source::Memory), (2, Source::Hierarchy)] {
            s.set(0, &[row], Ready::at(30, source));
        }
        s.set(0, &[3], Ready::UNKNOWN);
        let waits = |rows: &[u16], now| s.waits_for_hierarchy(0, rows, now);
        assert_eq!((waits(&[0, 1], 5), waits(&[0, 2], 29), waits(&[0, 2], 30), waits(&[3], 1000)), (false, true, false, true));
        let from = |row| s.operands_ready(0, &[row], 0).map(|r| r.from_memory);
        assert_eq!([0, 1, 2].map(from), [Some(false), Some(true), Some(true)]);
    }

    #[test]
    fn nobody_knows_when() {
        let mut s = Scoreboard::new(2);
        s.resize(1);
        s.set(0, &[1], Ready::UNKNOWN);
        assert!(s.any_unknown(0, &[0, 1]) && !s.any_unknown(0, &[0]));
        assert_eq!(s.operands_ready(0, &[0, 1], 7), None);
        assert_eq!(s.operands_ready(0, &[0], PENDING), None);
        s.clear(0);
        assert_eq!(s.operands_ready(0, &[0, 1], 7), Some(OperandsReady { cycle: 7, from_memory: false }));
    }
}
