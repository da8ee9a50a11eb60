//! Random delays, by which the same launch takes another course.
//!
//! The cycles of one deterministic run are one sample of what a machine takes: another order of two accesses that
//! happen to meet may change them by percents, in favour of either of two designs. So a run is repeated with small
//! random delays, and means are compared with their intervals of confidence (Alameldeen and Wood, Variability in
//! Architectural Simulations of Multi-Threaded Workloads, HPCA 2003, who delay misses of L2 by 0 to 4 ns). Delays
//! depend on the seed and on what is delayed, and on no host thread.

use heddle_target::Machine;

/// Delays of a machine's description, drawn evenly from 0 to its most cycles.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Perturbation {
    /// Values that a delay may have; 1: no delays.
    values: u64,
    seed: u64,
}

impl Perturbation {
    /// Of a machine.
    pub fn new(machine: &Machine) -> Perturbation {
        let described = machine.perturbation;
        Perturbation { values: u64::from(described.cycles) + 1, seed: mix(u64::from(described.seed)) }
    }

    /// Cycles by which an event is later: the same for the same event at the same time.
    #[inline]
    pub fn delay(self, event: u64, at: u64) -> u64 {
        if self.values == 1 { 0 } else { mix(mix(event ^ self.seed) ^ at) % self.values }
    }
}

/// A number that looks like chance, of a counter (the output function of SplitMix64: Steele, Lea, Flood, OOPSLA 2014).
pub(crate) fn mix(counter: u64) -> u64 {
    let mut z = counter.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays_are_even_and_depend_on_all_that_they_are_drawn_from() {
        let mut machine = Machine::default_machine();
        assert!((0..100).all(|i| Perturbation::new(&machine).delay(i, 7) == 0));
        machine.perturbation.cycles = 4;
        let of_seed = |seed| {
            let mut machine = machine.clone();
            machine.perturbation.seed = seed;
            Perturbation::new(&machine)
        };
        let mut counts = [0; 5];
        (0..5000).for_each(|i| counts[of_seed(1).delay(i, 3) as usize] += 1);
        assert!(counts.iter().all(|n| (900..1100).contains(n)), "{counts:?}");
        let drawn = |seed, at| -> Vec<u64> { (0..50).map(|i| of_seed(seed).delay(i, at)).collect() };
        assert_eq!(drawn(1, 3), drawn(1, 3));
        assert!(drawn(1, 3) != drawn(2, 3) && drawn(1, 3) != drawn(1, 4));
    }
}
