//! When an SM's warps may issue: a timing wheel, as most of them wait for a few cycles only.
//!
//! Each of the next [`NEAR`] cycles has its set of warps; those that wait for longer are few and are kept with their cycles.

use super::warp_set::WarpSet;

/// Cycles that the wheel holds.
const NEAR: u64 = 64;

/// Warps by the cycle from which they may issue.
pub(super) struct Wheel<const W: usize> {
    /// Cycles before this one have been taken.
    from: u64,
    /// The warps of each cycle from `from` on, by the cycle modulo [`NEAR`], and which of the sets are not empty.
    near: [WarpSet<W>; NEAR as usize],
    occupied: u64,
    /// Warps of later cycles, the least of these, and the cycle of each.
    far: WarpSet<W>,
    least_far: u64,
    times: Vec<u64>,
}

impl<const W: usize> Wheel<W> {
    /// Nobody waits.
    pub fn new() -> Self {
        Wheel {
            from: 0,
            near: [WarpSet::EMPTY; NEAR as usize],
            occupied: 0,
            far: WarpSet::EMPTY,
            least_far: u64::MAX,
            times: vec![u64::MAX; 64 * W],
        }
    }

    /// Bytes on the heap.
    pub fn heap_bytes(&self) -> usize {
        size_of_val(&self.times[..])
    }

    /// Adds a warp that waits until a cycle that has not been taken; `u64::MAX`: for something else.
    #[inline(always)]
    pub fn add(&mut self, rank: usize, time: u64) {
        debug_assert!(time >= self.from);
        if time.wrapping_sub(self.from) < NEAR {
            self.near[(time % NEAR) as usize].insert(rank);
            self.occupied |= 1 << (time % NEAR);
        } else if time != u64::MAX {
            self.times[rank] = time;
            self.far.insert(rank);
            self.least_far = self.least_far.min(time);
        }
    }

    /// The first cycle for which a warp waits; `u64::MAX` if there is none.
    #[inline(always)]
    pub fn least(&self) -> u64 {
        if self.occupied == 0 {
            return self.least_far;
        }
        let ahead = self.occupied.rotate_right((self.from % NEAR) as u32).trailing_zeros();
        (self.from + u64::from(ahead)).min(self.least_far)
    }

    /// Takes the warps out that wait for cycles up to `now`.
    #[inline(always)]
    pub fn take(&mut self, now: u64) -> WarpSet<W> {
        let mut awake = WarpSet::EMPTY;
        let span = (now + 1).saturating_sub(self.from);
        let mut due = self.occupied.rotate_right((self.from % NEAR) as u32);
        if span < NEAR {
            due &= (1 << span) - 1;
        }
        while due != 0 {
            let i = (self.from + u64::from(due.trailing_zeros())) % NEAR;
            due &= due - 1;
            awake = awake | std::mem::replace(&mut self.near[i as usize], WarpSet::EMPTY);
            self.occupied &= !(1 << i);
        }
        self.from = self.from.max(now + 1);
        if self.least_far <= now {
            awake = awake | self.take_far(now);
        }
        awake
    }

    fn take_far(&mut self, now: u64) -> WarpSet<W> {
        let mut awake = WarpSet::EMPTY;
        self.least_far = u64::MAX;
        for rank in self.far.iter() {
            if self.times[rank] <= now {
                awake.insert(rank);
            } else {
                self.least_far = self.least_far.min(self.times[rank]);
            }
        }
        self.far = self.far - awake;
        awake
    }

    /// Gives the warps of `kept` new numbers, from 0 on in their order; the others wait no more.
    pub fn renumber(&mut self, kept: WarpSet<W>) {
        let mut occupied = self.occupied;
        while occupied != 0 {
            let set = &mut self.near[occupied.trailing_zeros() as usize];
            *set = set.renumbered(kept);
            occupied &= occupied - 1;
        }
        self.far = self.far.renumbered(kept);
        for (new, old) in kept.iter().enumerate() {
            self.times[new] = self.times[old];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn warps_wake_in_their_cycles() {
        let mut w = Wheel::<1>::new();
        for (rank, time) in [(0, 0), (1, 63), (2, 64), (3, 5), (4, 1000), (5, u64::MAX), (6, 5)] {
            w.add(rank, time);
        }
        let ranks = |s: WarpSet<1>| s.iter().collect::<Vec<_>>();
        assert_eq!(w.least(), 0);
        assert_eq!(ranks(w.take(0)), [0]);
        assert_eq!(w.least(), 5);
        assert!(w.take(4).is_empty());
        assert_eq!(ranks(w.take(5)), [3, 6]);
        w.add(7, 69);
        assert_eq!(w.least(), 63);
        let mut kept = WarpSet::EMPTY;
        [1, 2, 4, 7].into_iter().for_each(|rank| kept.insert(rank));
        w.renumber(kept);
        assert_eq!(ranks(w.take(64)), [0, 1]);
        assert_eq!(w.least(), 69);
        assert_eq!(ranks(w.take(2000)), [2, 3]);
        assert_eq!(w.least(), u64::MAX);
        w.add(0, 2001);
        assert_eq!(w.least(), 2001);
    }
}
