//! Miss-status holding registers (MSHRs): how many misses of an L1 may be on their way at once (Kroft, ISCA 1981).
//!
//! Only their number and the cycles of their returns matter here: which sectors a miss brings is in the cache's lines.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A cache's miss-status holding registers.
pub struct Mshrs {
    /// Cycles at which misses on their way return.
    returns: BinaryHeap<Reverse<u64>>,
    /// Misses on their way of which it is not known when they return.
    unknown: usize,
    /// A cycle before which none of the unknown ones returns.
    not_before: u64,
    /// How many registers there are.
    capacity: usize,
}

impl Mshrs {
    /// Free registers.
    pub fn new(capacity: u32) -> Mshrs {
        Mshrs { returns: BinaryHeap::new(), unknown: 0, not_before: u64::MAX, capacity: capacity as usize }
    }

    /// When a miss that is found at cycle `now` can leave: at once, or when an earlier one has returned if
    /// all registers are taken.
    #[inline]
    pub fn admit(&mut self, now: u64) -> u64 {
        while self.returns.peek().is_some_and(|Reverse(t)| *t <= now) {
            self.returns.pop();
        }
        if self.returns.len() + self.unknown < self.capacity {
            return now;
        }
        debug_assert!(self.unknown == 0 || self.returns.peek().is_some_and(|Reverse(t)| *t <= self.not_before));
        self.returns.pop().map_or(now, |Reverse(t)| t)
    }

    /// Whether a register is free at a cycle, where those of which it is not known when they return do so later.
    pub fn is_any_free(&mut self, now: u64) -> bool {
        while self.returns.peek().is_some_and(|Reverse(t)| *t <= now) {
            self.returns.pop();
        }
        self.returns.len() + self.unknown < self.capacity
    }

    /// A miss takes a register until cycle `returns`.
    #[inline]
    pub fn add(&mut self, returns: u64) {
        self.returns.push(Reverse(returns));
    }

    /// A miss takes a register until nobody knows when, but not before some cycle.
    pub fn add_unknown(&mut self, not_before: u64) {
        self.unknown += 1;
        self.not_before = self.not_before.min(not_before);
    }

    /// It is known when a miss of [`Self::add_unknown`] returns.
    pub fn resolve(&mut self, returns: u64) {
        self.unknown -= 1;
        if self.unknown == 0 {
            self.not_before = u64::MAX;
        }
        self.returns.push(Reverse(returns));
    }

    /// Whether there are misses on their way of which it is not known when they return.
    #[inline]
    pub fn any_unknown(&self) -> bool {
        self.unknown > 0
    }

    /// Whether [`Self::admit`] can tell for `count` more misses, of which none returns before `earliest`, when they can leave.
    #[inline]
    pub fn can_admit(&self, count: usize, earliest: u64) -> bool {
        let taken = self.returns.len() + self.unknown;
        if taken + count <= self.capacity {
            return true;
        }
        // As many must return before any of which it is not known when.
        let bound = self.not_before.min(earliest);
        self.returns.iter().filter(|Reverse(t)| *t <= bound).count() >= taken + count - self.capacity
    }

    /// Nothing is on its way.
    pub fn clear(&mut self) {
        self.returns.clear();
        (self.unknown, self.not_before) = (0, u64::MAX);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn misses_wait_for_a_register() {
        let mut m = Mshrs::new(2);
        m.add(100);
        m.add(50);
        assert_eq!(m.admit(10), 50);
        m.add(120);
        assert_eq!(m.admit(110), 110);
    }

    #[test]
    fn a_register_is_free_or_not() {
        let mut m = Mshrs::new(2);
        m.add(100);
        assert!(m.is_any_free(10));
        m.add_unknown(400);
        assert!(!m.is_any_free(99) && m.is_any_free(100));
        m.add(120);
        m.add(130);
        assert!(!m.is_any_free(120), "more than there are");
        m.resolve(110);
        assert!(m.is_any_free(120));
    }

    #[test]
    fn it_is_known_who_leaves_first_or_not() {
        let mut m = Mshrs::new(2);
        assert!(m.can_admit(2, 500) && !m.can_admit(3, 500), "the first two may be the ones to wait for");
        m.add(100);
        m.add_unknown(400);
        assert!(m.can_admit(1, 500) && !m.can_admit(2, 500));
        assert_eq!(m.admit(10), 100);
        m.resolve(450);
        assert_eq!(m.admit(10), 10);
    }
}
