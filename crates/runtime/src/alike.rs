//! Launches that are alike: the same code on the same sizes. Of those, some are timed, and what the others
//! would take is extrapolated.
//!
//! The first launches of a kind are timed, then fewer and fewer: the 1st to the Nth, and after that those whose
//! number is a power of two. The others run functionally, which counts their instructions. A kernel's cycles
//! for an instruction vary little among launches of a kind (kernels are grouped by their instructions in Sieve,
//! ISPASS 2023, and in Principal Kernel Analysis, MICRO 2021), so cycles are the instructions times the mean of
//! what was timed, the first launch left out where others are there, because it finds cold caches. The
//! interval is Student's for that mean; as launches of a kind share it, their intervals add up.

use std::collections::{BTreeMap, HashMap};

use heddle_object::Image;
use heddle_sim::Statistics;
use heddle_sim::statistics::{CONFIDENCE, Sampling, student};
use sha2::{Digest, Sha256};

/// Launches of a kind that are timed one after the other, if nothing else is said.
pub const DEFAULT_TIMED: u32 = 4;

/// Share of the cycles by which an extrapolated launch may be off even if all that were timed took the same.
const LEAST: f64 = 0.005;

/// A hash of a kernel's code, in hexadecimal digits.
pub fn code_hash(image: &Image, kernel: usize) -> String {
    let mut hash = Sha256::new();
    if let Some(header) = image.metadata.kernels.get(kernel) {
        let words = |bytes: u64| (bytes / size_of::<u128>() as u64) as usize;
        let (first, count) = (words(header.text_offset), words(header.text_size));
        image.text.iter().skip(first).take(count).for_each(|word| hash.update(word.to_le_bytes()));
        hash.update(header.local_bytes.to_le_bytes());
    }
    digits(hash)
}

/// A hash of a launch's code and sizes: 12 hexadecimal digits. `code` is [`code_hash`].
pub fn launch_hash(code: &str, global: &[u64], local: &[u64], offset: &[u64]) -> String {
    let mut hash = Sha256::new();
    hash.update(code);
    for sizes in [global, local, offset] {
        hash.update((sizes.len() as u64).to_le_bytes());
        sizes.iter().for_each(|n| hash.update(n.to_le_bytes()));
    }
    let mut text = digits(hash);
    text.truncate(12);
    text
}

fn digits(hash: Sha256) -> String {
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// What is known of one kind.
#[derive(Debug, Default)]
struct Kind {
    launches: u64,
    /// Instructions and cycles of those that were timed.
    timed: Vec<(u64, u64)>,
    /// All that was counted of these but the first, or of the first as long as it is alone.
    total: Statistics,
}

/// Decides which of alike launches are timed, and extrapolates the others.
#[derive(Debug)]
pub struct AlikeLaunches {
    first: u64,
    kinds: HashMap<String, Kind>,
}

impl AlikeLaunches {
    /// The first `first` launches of each kind are timed one after the other.
    pub fn new(first: u32) -> AlikeLaunches {
        AlikeLaunches { first: u64::from(first.max(1)), kinds: HashMap::new() }
    }

    /// A launch of a kind begins: whether it is to be timed. If not, it is to run functionally.
    pub fn begin(&mut self, hash: &str) -> bool {
        let kind = self.kinds.entry(hash.into()).or_default();
        kind.launches += 1;
        kind.launches <= self.first || kind.launches.is_power_of_two() || kind.timed.is_empty()
    }

    /// A launch that was timed has ended.
    pub fn timed(&mut self, hash: &str, statistics: &Statistics) {
        let Some(cycles) = statistics.cycles() else { return };
        let kind = self.kinds.entry(hash.into()).or_default();
        if kind.timed.len() == 1 {
            kind.total = Statistics::default();
        }
        kind.timed.push((statistics.instructions, cycles));
        let mut counted = statistics.clone();
        if let Some(timing) = &mut counted.timing {
            (timing.recordings, timing.profile) = (Vec::new(), Vec::new());
        }
        kind.total.add(&counted);
    }

    /// A launch of a kind ran functionally: adds to its statistics what timing it would have given.
    pub fn extrapolate(&self, hash: &str, statistics: &mut Statistics) {
        let Some(kind) = self.kinds.get(hash).filter(|k| !k.timed.is_empty()) else { return };
        let Some(timing) = &kind.total.timing else { return };
        let known = if kind.timed.len() > 1 { &kind.timed[1..] } else { &kind.timed[..] };
        let rates: Vec<f64> = known.iter().map(|(instructions, cycles)| *cycles as f64 / (*instructions).max(1) as f64).collect();
        let n = rates.len() as f64;
        let mean = rates.iter().sum::<f64>() / n;
        let variance = rates.iter().map(|r| (r - mean).powi(2)).sum::<f64>() / (n - 1.0).max(1.0);
        // One launch says nothing of how much they differ.
        let half = if rates.len() < 2 { mean } else { student(rates.len() - 1) * (variance / n).sqrt() };
        let instructions = statistics.instructions as f64;
        let share = instructions / kind.total.instructions.max(1) as f64;
        let cycles = (mean * instructions).round() as u64;
        let mut estimate = timing.clone();
        estimate.scale(share);
        estimate.cycles = cycles;
        let inner = estimate.sampling.take().unwrap_or_default();
        estimate.sampling = Some(Sampling {
            launches: 1,
            work_groups: statistics.work_groups,
            timed_work_groups: 0,
            instructions: statistics.instructions,
            timed_instructions: 0,
            cycles,
            measured_cycles: 0,
            confidence: CONFIDENCE,
            spread: 0.0,
            // What was timed may itself be a sample.
            allowance: half.max(LEAST * mean) * instructions + inner.half_width() * share,
        });
        let scaled = |of: &BTreeMap<String, f64>| of.iter().map(|(name, pj)| (name.clone(), pj * share)).collect();
        (statistics.energy_pj, statistics.static_pj) = (scaled(&kind.total.energy_pj), scaled(&kind.total.static_pj));
        for (space, traffic) in &mut statistics.memory {
            let sectors = kind.total.memory.get(space).map_or(0, |t| t.sectors);
            traffic.sectors = heddle_sim::statistics::scaled(sectors, share);
        }
        statistics.timing = Some(estimate);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use heddle_sim::statistics::TimingStatistics;

    fn statistics(instructions: u64, cycles: Option<u64>) -> Statistics {
        let timing = cycles.map(|cycles| TimingStatistics { cycles, ..TimingStatistics::default() });
        Statistics { instructions, timing, energy_pj: BTreeMap::from([("static".into(), 7.0)]), ..Statistics::default() }
    }

    #[test]
    fn hashes_are_of_code_and_sizes() {
        let hash = launch_hash("code", &[64, 1], &[8], &[0]);
        assert_eq!(hash.len(), 12);
        assert_eq!(hash, launch_hash("code", &[64, 1], &[8], &[0]));
        for (code, global, local) in
            [("other", vec![64, 1], vec![8]), ("code", vec![64], vec![1, 8]), ("code", vec![64, 2], vec![8])]
        {
            assert_ne!(hash, launch_hash(code, &global, &local, &[0]));
        }
    }

    #[test]
    fn fewer_and_fewer_are_timed() {
        let mut alike = AlikeLaunches::new(3);
        let mut timed = Vec::new();
        for number in 1..=40 {
            if alike.begin("a") {
                timed.push(number);
                alike.timed("a", &statistics(1000, Some(500)));
            }
        }
        assert_eq!(timed, [1, 2, 3, 4, 8, 16, 32]);
        assert!(alike.begin("b"), "another kind");
    }

    #[test]
    fn others_follow_from_those_that_were_timed() {
        let mut alike = AlikeLaunches::new(3);
        for (instructions, cycles) in [(1000, 9000), (1000, 2000), (2000, 4200)] {
            alike.timed("a", &statistics(instructions, Some(cycles)));
        }
        let mut more = statistics(3000, None);
        alike.extrapolate("a", &mut more);
        assert_eq!(more.cycles(), Some(6150), "2.05 cycles an instruction: the first, with cold caches, does not count");
        let sampling = more.timing.as_ref().and_then(|t| t.sampling).unwrap();
        let half = 12.706 * 0.05 * 3000.0;
        assert!((sampling.half_width() - half).abs() < 0.01 * half, "{sampling:?}");
        assert_eq!(more.energy_pj["static"], 14.0);
        let mut unknown = statistics(3000, None);
        alike.extrapolate("b", &mut unknown);
        assert_eq!(unknown.cycles(), None);
    }
}
