//! The slots of an SM, each with its warp's registers, and the warps' order of age.

use super::super::super::functional::Warp;
use super::super::warp_set::{ByRank, WarpSet};
use super::slot::Slot;

/// The warps of an SM. A *slot* is where a warp's state is as long as it is resident; its *rank* is its place
/// in the order of age.
pub(super) struct WarpSlots<'a, const N: usize, const W: usize> {
    /// By slot: where the warp stands.
    pub slots: Vec<Slot>,
    /// By slot: the warp's registers and control state.
    pub warps: Vec<Warp<'a, N>>,
    /// The slot of each rank, as far as they are given.
    slot_of: ByRank<u16, W>,
    /// Ranks that are given.
    ranks: usize,
}

impl<'a, const N: usize, const W: usize> WarpSlots<'a, N, W> {
    /// No warps.
    pub fn new() -> Self {
        WarpSlots { slots: Vec::new(), warps: Vec::new(), slot_of: ByRank::new(0), ranks: 0 }
    }

    /// Slots.
    pub fn len(&self) -> usize {
        self.slots.len()
    }

    /// The slot of a rank.
    #[inline(always)]
    pub fn slot_of(&self, rank: usize) -> usize {
        usize::from(self.slot_of[rank])
    }

    /// A slot with where its warp stands and its registers.
    #[inline(always)]
    pub fn get_mut(&mut self, slot: usize) -> (&mut Slot, &mut Warp<'a, N>) {
        (&mut self.slots[slot], &mut self.warps[slot])
    }

    /// The same to look at.
    #[inline(always)]
    pub fn get(&self, slot: usize) -> (&Slot, &Warp<'a, N>) {
        (&self.slots[slot], &self.warps[slot])
    }

    /// Adds a slot; returns its number.
    pub fn push(&mut self, warp: Warp<'a, N>) -> usize {
        self.warps.push(warp);
        self.slots.push(Slot::default());
        self.slots.len() - 1
    }

    /// Slots whose warps have ended.
    pub fn free(&self) -> Vec<usize> {
        (0..self.slots.len()).filter(|s| self.warps[*s].control.done()).collect()
    }

    /// Gives the youngest rank to the warp of a slot.
    pub fn add_rank(&mut self, slot: usize) -> usize {
        let rank = self.ranks;
        self.slot_of[rank] = slot as u16;
        self.ranks += 1;
        rank
    }

    /// Ranks that are given, from 0 on.
    pub fn ranks(&self) -> std::ops::Range<usize> {
        0..self.ranks
    }

    /// Gives the warps of `kept` new ranks, from 0 on in their order; the others are gone.
    pub fn renumber(&mut self, kept: WarpSet<W>) {
        self.slot_of.renumber(kept);
        self.ranks = kept.count() as usize;
        for rank in self.ranks() {
            let slot = self.slot_of(rank);
            self.slots[slot].rank = rank;
        }
    }

    /// Bytes of host memory.
    pub fn host_bytes(&self) -> usize {
        let warp = |w: &Warp<'a, N>| {
            let own = size_of::<Slot>() + size_of::<Warp<'a, N>>();
            own + size_of_val(&w.lanes.rows[..]) + size_of_val(&w.lanes.private[..])
        };
        self.warps.iter().map(warp).sum::<usize>()
    }
}
