//! Which cycles of a pipeline, which begins with one thing a cycle, are taken.
//!
//! Requests are made in the order of their SMs' clocks, but arrive in another one: one that waited at its
//! SM's port comes later than one that is made behind it. Each takes the first cycles from its arrival on that
//! nobody has taken, so that who arrives early does not wait for who only asked early.
//!
//! A bit a cycle in a ring of the [`CYCLES`] cycles around the latest arrival. What arrives later than the
//! ring reaches moves it on, and cycles that it has left behind count as taken.

/// Words of the ring.
const WORDS: u64 = 16;
/// Cycles that the ring holds.
const CYCLES: u64 = 64 * WORDS;

/// The cycles that are taken.
#[derive(Clone, Debug, Default)]
pub(super) struct Calendar {
    /// The first cycle of the ring: a multiple of 64.
    first: u64,
    taken: [u64; WORDS as usize],
}

impl Calendar {
    /// Takes `count` cycles from `arrives` on, the first that are free. Returns the first of them, or the first
    /// free one if none is asked for.
    #[inline]
    pub fn take(&mut self, arrives: u64, count: u64) -> u64 {
        let start = self.next_free(arrives.max(self.first));
        let mut at = start;
        for _ in 0..count {
            at = self.next_free(at);
            self.taken[(at / 64 % WORDS) as usize] |= 1 << (at % 64);
        }
        start
    }

    /// The first free cycle from one on that the ring has not left behind.
    #[inline]
    fn next_free(&mut self, mut at: u64) -> u64 {
        loop {
            if at >= self.first + CYCLES {
                self.move_on(at);
            }
            let free = !self.taken[(at / 64 % WORDS) as usize] >> (at % 64);
            if free != 0 {
                return at + u64::from(free.trailing_zeros());
            }
            at = (at / 64 + 1) * 64;
        }
    }

    /// Moves the ring so that a cycle is in the last of its words.
    #[cold]
    fn move_on(&mut self, to: u64) {
        let first = (to / 64 + 1 - WORDS) * 64;
        for word in self.first / 64..(first / 64).min(self.first / 64 + WORDS) {
            self.taken[(word % WORDS) as usize] = 0;
        }
        self.first = first;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_arrives_early_does_not_wait_for_who_asked_early() {
        let mut c = Calendar::default();
        assert_eq!(c.take(100, 4), 100);
        assert_eq!(c.take(10, 2), 10);
        assert_eq!(c.take(10, 1), 12);
        assert_eq!(c.take(98, 3), 98, "two before the others, one behind them");
        assert_eq!(c.take(98, 1), 105);
        assert_eq!(c.take(50, 0), 50);
    }

    #[test]
    fn a_cycle_is_taken_once() {
        // Arrivals of a small generator, each for one cycle: as many different cycles, none before its arrival.
        let (mut c, mut seen, mut x) = (Calendar::default(), std::collections::HashSet::new(), 1u64);
        for i in 0..5000u64 {
            x = x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let arrives = i + (x >> 33) % 90;
            let got = c.take(arrives, 1);
            assert!(got >= arrives && seen.insert(got), "{i}: {arrives} got {got}");
        }
    }

    #[test]
    fn the_ring_moves_on() {
        let mut c = Calendar::default();
        assert_eq!(c.take(0, 2000), 0, "more than the ring holds");
        assert_eq!(c.take(0, 1), 2000);
        assert_eq!(c.take(1_000_000, 1), 1_000_000);
        assert_eq!(c.take(1_000_000, 1), 1_000_001);
        let left = c.take(0, 1);
        assert!((1_000_000 - CYCLES..1_000_000).contains(&left), "{left}");
    }
}
