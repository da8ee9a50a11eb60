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

    /// The first cycle from which one more may be free: when the first of those that are taken returns, as far as is known.
    pub fn free_from(&self) -> u64 {
        self.returns.peek().map_or(u64::MAX, |Reverse(t)| *t).min(self.not_before)
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
    fn nobody_needs_to_ask_before_the_first_returns() {
        let mut m = Mshrs::new(2);
        m.add(100);
        m.add_unknown(80);
        assert_eq!(m.free_from(), 80);
        m.resolve(250);
        assert_eq!(m.free_from(), 100);
        assert!(m.is_any_free(100));
        assert_eq!(m.free_from(), 250);
    }
}
