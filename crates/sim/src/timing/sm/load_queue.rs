//! Loads whose bytes are still to come from the levels that all SMs share.

use super::super::super::exec::Late;
use super::super::super::hierarchy::deferred::{Arrival, PendingLoad};
use super::super::super::hierarchy::line::LaneWords;
use super::super::super::memory::prefetch_all;

/// A load that waits for its bytes.
#[derive(Default)]
pub(super) struct OutstandingLoad<const N: usize> {
    /// The warp's slot, and which of the slot's warps it was.
    pub slot: u32,
    pub generation: u32,
    /// The instruction.
    pub index: u32,
    /// Cycle of issue.
    pub issued: u64,
    /// Cycle at which its access begins.
    pub begins: u64,
    /// Cycles from its issue to the result beside those of the hierarchy.
    pub latency: u64,
    /// What is to be done with the bytes; nothing if there is no such load.
    pub late: Option<Late<N>>,
    /// Active lanes, and the unit it was issued on: for what is recorded.
    pub lanes: u32,
    pub unit: u32,
}

/// The loads of an SM that wait. They have numbers, which the hierarchy gives back with the bytes.
pub(super) struct LoadQueue<const N: usize> {
    /// By number.
    loads: Vec<OutstandingLoad<N>>,
    /// Numbers that may be given again.
    free: Vec<usize>,
}

impl<const N: usize> LoadQueue<N> {
    /// No load waits.
    pub fn new() -> Self {
        LoadQueue { loads: Vec::new(), free: Vec::new() }
    }

    /// Room for a load, which is to be filled in, with the number that it gets.
    #[inline]
    pub fn add(&mut self) -> (usize, &mut OutstandingLoad<N>) {
        let number = self.free.pop().unwrap_or_else(|| {
            self.loads.push(OutstandingLoad::default());
            self.loads.len() - 1
        });
        if let Some(next) = self.free.last() {
            self.prefetch(*next);
        }
        (number, &mut self.loads[number])
    }

    /// Bytes have come, which lanes get as words. Whether they are all of the load that waits for them.
    #[inline]
    pub fn arrive(&mut self, load: &PendingLoad, words: &LaneWords) -> bool {
        match self.loads.get_mut(number_of(load.token)) {
            Some(OutstandingLoad { late: Some(Late::Texels(read)), .. }) => {
                read.arrive(load.number as usize, words, load.ready, load.far)
            }
            _ => true,
        }
    }

    /// The load of a number.
    #[inline]
    pub fn get(&self, number: usize) -> Option<&OutstandingLoad<N>> {
        self.loads.get(number)
    }

    /// The load of a number will be needed soon: the host may fetch it into its caches.
    #[inline]
    pub fn prefetch(&self, number: usize) {
        if let Some(load) = self.loads.get(number) {
            prefetch_all(load);
        }
    }

    /// Takes the load of a number out, with what is to be done with its bytes.
    #[inline]
    pub fn take(&mut self, number: usize) -> Option<(Late<N>, &OutstandingLoad<N>)> {
        let load = self.loads.get_mut(number)?;
        let late = load.late.take()?;
        self.free.push(number);
        Some((late, load))
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

    #[test]
    fn numbers_are_given_again() {
        let mut queue = LoadQueue::<8>::new();
        let add = |queue: &mut LoadQueue<8>, index| {
            let (number, load) = queue.add();
            (load.index, load.late) = (index, Some(Late::Words { finish: |_, _, _, _| {}, mask: 0 }));
            number
        };
        let take = |queue: &mut LoadQueue<8>, number| queue.take(number).map(|(_, load)| load.index);
        assert_eq!((add(&mut queue, 5), add(&mut queue, 6)), (0, 1));
        assert_eq!(take(&mut queue, 0), Some(5));
        assert!(take(&mut queue, 0).is_none() && take(&mut queue, 9).is_none());
        assert_eq!(add(&mut queue, 7), 0);
        assert_eq!((take(&mut queue, 1), take(&mut queue, 0)), (Some(6), Some(7)));
    }

    #[test]
    fn tokens_name_an_sm_and_a_number() {
        let t = token(79, 12);
        assert_eq!((sm_of(&Arrival::Fetch(t, 0)), number_of(t)), (79, 12));
    }
}
