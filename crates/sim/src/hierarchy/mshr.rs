//! Miss-status holding registers (MSHRs): how many misses of an L1 may be on their way at once (Kroft, ISCA 1981).
//!
//! Only their number and the cycles of their returns matter here: which sectors a miss brings is in the cache's lines.

use std::collections::VecDeque;

/// A cache's miss-status holding registers.
pub struct Mshrs {
    /// Cycles at which misses on their way return, the earliest first. They become known nearly in this order.
    returns: VecDeque<u64>,
    /// Misses on their way of which it is not known when they return: for each a cycle before which it does not.
    unknown: VecDeque<u64>,
    /// How many registers there are.
    capacity: usize,
    /// None becomes free before this cycle.
    taken_until: u64,
    /// Room to find it.
    cycles: Vec<u64>,
}

impl Mshrs {
    /// Free registers.
    pub fn new(capacity: u32) -> Mshrs {
        Mshrs {
            returns: VecDeque::new(),
            unknown: VecDeque::new(),
            capacity: capacity as usize,
            taken_until: 0,
            cycles: Vec::new(),
        }
    }

    /// Whether a register is free at a cycle, where those of which it is not known when they return do so later.
    pub fn is_any_free(&mut self, now: u64) -> bool {
        while self.returns.front().is_some_and(|t| *t <= now) {
            self.returns.pop_front();
        }
        self.returns.len() + self.unknown.len() < self.capacity
    }

    /// A miss takes a register until cycle `returns`.
    #[inline]
    pub fn add(&mut self, returns: u64) {
        let behind = self.returns.iter().rev().take_while(|t| **t > returns).count();
        self.returns.insert(self.returns.len() - behind, returns);
    }

    /// A miss takes a register until nobody knows when, but not before some cycle.
    pub fn add_unknown(&mut self, not_before: u64) {
        self.unknown.push_back(not_before);
    }

    /// It is known when a miss of [`Self::add_unknown`] returns.
    pub fn resolve(&mut self, not_before: u64, returns: u64) {
        // Most become known in the order in which they were sent; in which order they stand makes no difference.
        if let Some(at) = self.unknown.iter().position(|n| *n == not_before) {
            self.unknown.remove(at);
        }
        self.add(returns);
    }

    /// A cycle before which none is free, where none is at `now`: so many have to return that one is left, as
    /// early as they may. Those of which it is not known when they return do not before `no_answer_before`.
    pub fn free_from(&mut self, now: u64, no_answer_before: u64) -> u64 {
        // What has been added since it was found comes on top, and what has become known returns no earlier.
        if self.taken_until > now {
            return self.taken_until;
        }
        let Mshrs { returns, unknown, capacity, cycles, .. } = self;
        let taken = returns.len() + unknown.len();
        let too_many = taken.saturating_sub(*capacity);
        self.taken_until = match returns.get(too_many) {
            _ if too_many >= taken => now,
            // Nothing of which it is not known comes before.
            Some(returns) if unknown.is_empty() || *returns <= no_answer_before => *returns,
            _ => {
                let unknown = unknown.iter().map(|not_before| (*not_before).max(no_answer_before));
                cycles.clear();
                cycles.extend(returns.iter().copied().chain(unknown));
                *cycles.select_nth_unstable(too_many).1
            }
        };
        self.taken_until
    }

    /// Nothing is on its way.
    pub fn clear(&mut self) {
        self.returns.clear();
        self.unknown.clear();
        self.taken_until = 0;
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
        m.resolve(400, 110);
        assert!(m.is_any_free(120));
    }

    #[test]
    fn nobody_needs_to_ask_before_the_first_returns() {
        let mut m = Mshrs::new(2);
        m.add(100);
        m.add_unknown(80);
        assert_eq!(m.free_from(10, 0), 80);
        m.resolve(80, 250);
        assert_eq!((m.free_from(79, 0), m.free_from(80, 0)), (80, 100));
        assert!(m.is_any_free(100));
        m.add(300);
        assert_eq!(m.free_from(100, 0), 250);
    }

    #[test]
    fn no_answer_is_there_before_its_time() {
        let mut m = Mshrs::new(2);
        m.add(200);
        m.add_unknown(80);
        assert_eq!(m.free_from(10, 150), 150);
        assert_eq!(m.free_from(150, 300), 200, "what is known returns when it does");
    }

    #[test]
    fn where_too_many_are_taken_several_have_to_return() {
        let mut m = Mshrs::new(2);
        [70, 50, 60].into_iter().for_each(|t| m.add(t));
        m.add_unknown(55);
        assert_eq!(m.free_from(0, 0), 60, "50, 55 and 60 leave one");
        m.add(40);
        assert_eq!(m.free_from(0, 0), 60, "still not before");
        assert!(!m.is_any_free(60));
        m.resolve(55, 65);
        assert_eq!(m.free_from(60, 0), 65);
        assert!(!m.is_any_free(64) && m.is_any_free(65));
        m.clear();
        assert_eq!(m.free_from(3, 0), 3);
    }
}
