//! What the resident warps of an SM wait for, as sets of ranks.

use super::super::super::trace::Cause;
use super::super::warp_set::WarpSet;

/// What warps wait for. Sets may name ranks that no live warp has; who uses them restricts them to those of `live`.
#[derive(Clone, Copy)]
pub(super) struct WarpStates<const W: usize> {
    /// Not ended.
    pub live: WarpSet<W>,
    /// At a barrier.
    pub at_barrier: WarpSet<W>,
    /// The next instruction may issue by its operands and code.
    pub ready: WarpSet<W>,
    /// Otherwise, it waits for its fetch.
    pub fetching: WarpSet<W>,
    /// Otherwise, it waits for memory.
    pub loading: WarpSet<W>,
    /// Waits for the SM to begin its work-group.
    pub starting: WarpSet<W>,
    /// The next instruction waits for shared registers (REN-3).
    pub starved: WarpSet<W>,
    /// In the cycle looked at, the next instruction's cluster reads operands of another one from taken banks (C13).
    pub conflicted: WarpSet<W>,
    /// Nobody knows when the next instruction may issue.
    pub parked: WarpSet<W>,
    /// Issued in the cycle in which it was parked.
    pub parked_after_issue: WarpSet<W>,
    /// The next instruction goes to the scalar unit only as long as nobody else needs that.
    pub yielding: WarpSet<W>,
}

impl<const W: usize> WarpStates<W> {
    /// No warps.
    pub const EMPTY: WarpStates<W> = WarpStates {
        live: WarpSet::EMPTY,
        at_barrier: WarpSet::EMPTY,
        ready: WarpSet::EMPTY,
        fetching: WarpSet::EMPTY,
        loading: WarpSet::EMPTY,
        starting: WarpSet::EMPTY,
        starved: WarpSet::EMPTY,
        conflicted: WarpSet::EMPTY,
        parked: WarpSet::EMPTY,
        parked_after_issue: WarpSet::EMPTY,
        yielding: WarpSet::EMPTY,
    };

    /// Whether a warp that is not at a barrier is parked.
    #[inline]
    pub fn any_parked(&self) -> bool {
        !(self.parked - self.at_barrier).is_empty()
    }

    /// What each live warp waits for that does not issue, of which some are not in the active set: each has one cause, but
    /// parked ones have none until they are not.
    #[inline(always)]
    pub fn by_cause(&self, inactive: WarpSet<W>) -> [(Cause, WarpSet<W>); 8] {
        let barrier = self.live & self.at_barrier;
        let could = (self.live & self.ready) - self.at_barrier;
        let stopped = could - inactive;
        let pending = self.live - self.at_barrier - self.ready - self.parked;
        let operands = pending - self.fetching;
        [
            (Cause::Barrier, barrier),
            (Cause::Unit, stopped - self.starved - self.conflicted),
            (Cause::Fetch, pending & self.fetching),
            (Cause::Memory, operands & self.loading),
            (Cause::Dependence, operands - self.loading),
            (Cause::Rename, stopped & self.starved),
            (Cause::Inactive, could & inactive),
            (Cause::Bank, (stopped & self.conflicted) - self.starved),
        ]
    }

    /// How many of the causes of [`Self::by_cause`], the first ones, some warp may have.
    #[inline(always)]
    pub fn causes(&self, inactive: WarpSet<W>) -> usize {
        if (self.starved | self.conflicted | inactive).is_empty() { 5 } else { 8 }
    }

    /// What a parked warp waits for.
    #[inline]
    pub fn parked_cause(&self, rank: usize) -> Cause {
        if self.fetching.contains(rank) {
            Cause::Fetch
        } else if self.loading.contains(rank) {
            Cause::Memory
        } else {
            Cause::Dependence
        }
    }

    /// Gives the warps of `kept` new ranks, from 0 on in their order; the others are gone.
    pub fn renumber(&mut self, kept: WarpSet<W>) {
        let WarpStates { live, at_barrier, ready, fetching, loading, starting, starved, conflicted, .. } = self;
        for set in [live, at_barrier, ready, fetching, loading, starting, starved, conflicted] {
            *set = set.renumbered(kept);
        }
        for set in [&mut self.parked, &mut self.parked_after_issue, &mut self.yielding] {
            *set = set.renumbered(kept);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_warp_has_one_cause() {
        let mut s = WarpStates::<1>::EMPTY;
        (0..8).for_each(|rank| s.live.insert(rank));
        s.at_barrier.insert(0);
        s.ready.insert(0);
        for rank in [1, 2] {
            s.ready.insert(rank);
        }
        s.starved.insert(1);
        for rank in [3, 4] {
            s.fetching.insert(rank);
        }
        for rank in [4, 5] {
            s.loading.insert(rank);
        }
        s.parked.insert(6);
        let mut inactive = WarpSet::EMPTY;
        [0, 2, 3].into_iter().for_each(|rank| inactive.insert(rank));
        let causes = s.by_cause(inactive);
        let of = |cause| causes.iter().find(|c| c.0 == cause).unwrap().1.iter().collect::<Vec<_>>();
        assert_eq!((of(Cause::Barrier), of(Cause::Rename), of(Cause::Inactive)), (vec![0], vec![1], vec![2]));
        assert!(of(Cause::Unit).is_empty());
        let mut all = s.by_cause(WarpSet::EMPTY);
        assert_eq!(all.iter().find(|c| c.0 == Cause::Unit).unwrap().1.first(), Some(2));
        s.conflicted.insert(2);
        all = s.by_cause(WarpSet::EMPTY);
        assert_eq!(all.iter().find(|c| c.0 == Cause::Bank).unwrap().1.first(), Some(2));
        assert!(all.iter().find(|c| c.0 == Cause::Unit).unwrap().1.is_empty());
        assert_eq!((of(Cause::Fetch), of(Cause::Memory), of(Cause::Dependence)), (vec![3, 4], vec![5], vec![7]));
        assert!(s.any_parked() && s.parked_cause(6) == Cause::Dependence);
        let mut kept = WarpSet::EMPTY;
        [2, 5].into_iter().for_each(|rank| kept.insert(rank));
        s.renumber(kept);
        assert_eq!((s.live.count(), s.ready.first(), s.loading.first(), s.any_parked()), (2, Some(0), Some(1), false));
    }
}
