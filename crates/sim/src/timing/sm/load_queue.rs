//! Loads whose bytes are still to come from the levels that all SMs share.

use super::super::super::exec::Late;
use super::super::super::hierarchy::deferred::{Arrival, PendingLoad};
use super::super::super::hierarchy::line::LaneWords;
use super::super::super::memory::prefetch_all;

/// A load that waits for its bytes.
pub(super) struct OutstandingLoad<const N: usize> {
    /// The warp's slot, and which of the slot's warps it was.
    pub slot: usize,
    pub generation: u32,
    /// The instruction.
    pub index: usize,
    /// Cycle of issue.
    pub issued: u64,
    /// Cycle at which its access begins.
    pub begins: u64,
    /// Cycles from its issue to the result beside those of the hierarchy.
    pub latency: u64,
    /// What is to be done with the bytes.
    pub late: Late<N>,
    /// Active lanes, and the unit it was issued on: for what is recorded.
    pub lanes: u32,
    pub unit: usize,
}

/// The loads of an SM that wait. They have numbers, which the hierarchy gives back with the bytes.
pub(super) struct LoadQueue<const N: usize> {
    /// By number; `None` if it may be given again.
    loads: Vec<Option<OutstandingLoad<N>>>,
    /// Numbers that may be given again.
    free: Vec<usize>,
}

impl<const N: usize> LoadQueue<N> {
    /// No load waits.
    pub fn new() -> Self {
        LoadQueue { loads: Vec::new(), free: Vec::new() }
    }

    /// Adds a load; returns its number.
    #[inline]
    pub fn add(&mut self, load: OutstandingLoad<N>) -> usize {
        let number = self.free.pop().unwrap_or_else(|| {
            self.loads.push(None);
            self.loads.len() - 1
        });
        self.loads[number] = Some(load);
        if let Some(next) = self.free.last() {
            self.prefetch(*next);
        }
        number
    }

    /// Bytes have come, which lanes get as words. Whether they are all of the load that waits for them.
    #[inline]
    pub fn arrive(&mut self, load: &PendingLoad, words: &LaneWords) -> bool {
        match self.loads.get_mut(number_of(load.token)) {
            Some(Some(OutstandingLoad { late: Late::Texels(read), .. })) => {
                read.arrive(load.number as usize, words, load.ready, load.far)
            }
            _ => true,
        }
    }

    /// The load of a number.
    #[inline]
    pub fn get(&self, number: usize) -> Option<&OutstandingLoad<N>> {
        self.loads.get(number)?.as_ref()
    }

    /// The load of a number will be needed soon: the host may fetch it into its caches.
    #[inline]
    pub fn prefetch(&self, number: usize) {
        if let Some(load) = self.loads.get(number) {
            prefetch_all(load);
        }
    }

    /// Takes the load of a number out.
    #[inline]
    pub fn take(&mut self, number: usize) -> Option<OutstandingLoad<N>> {
        let load = self.loads.get_mut(number)?.take()?;
        self.free.push(number);
        Some(load)
    }
}

/// How the hierarchy names what an SM waits for: the SM, and a number of its own.
#[inline]
pub(super) fn token(sm: usize, number: usize) -> u64 {
    (sm as u64) << 32 | number as u64
}

/// The number in a token.
#[inline]
pub(super) fn number_of(token: u64) -> usize {
    token as u32 as usize
}

/// The SM that waits for something.
#[inline]
pub(in super::super) fn sm_of(arrival: &Arrival) -> usize {
    let token = match arrival {
        Arrival::Load(load) => load.token,
        Arrival::Fetch(token, _) => *token,
    };
    (token >> 32) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load(index: usize) -> OutstandingLoad<8> {
        OutstandingLoad {
            slot: 0,
            generation: 0,
            index,
            issued: 0,
            begins: 0,
            latency: 0,
            late: Late::Words { finish: |_, _, _, _| {}, mask: 0 },
            lanes: 0,
            unit: 0,
        }
    }

    #[test]
    fn numbers_are_given_again() {
        let mut queue = LoadQueue::new();
        assert_eq!((queue.add(load(5)), queue.add(load(6))), (0, 1));
        assert_eq!(queue.take(0).map(|l| l.index), Some(5));
        assert!(queue.take(0).is_none() && queue.take(9).is_none());
        assert_eq!(queue.add(load(7)), 0);
        assert_eq!((queue.take(1).map(|l| l.index), queue.take(0).map(|l| l.index)), (Some(6), Some(7)));
    }

    #[test]
    fn tokens_name_an_sm_and_a_number() {
        let t = token(79, 12);
        assert_eq!((sm_of(&Arrival::Fetch(t, 0)), number_of(t)), (79, 12));
    }
}
