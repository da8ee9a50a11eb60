//! What a sampled launch would have taken.
//!
//! - A work-group is resident from when it is given out to when its last warp ends. In the steady state, in
//!   which every place that becomes free is taken at once, the times of all work-groups add up to the cycles
//!   that pass times the work-groups resident. So each adds its own time over that number, and a launch with
//!   more of them takes so much longer (Little's law).
//! - The time of a skipped work-group is the mean of those of its class that were timed, or of those with
//!   about as many instructions; or else it follows from its instructions. Left out are the first and the
//!   last wave: in these the machine fills up and empties.
//! - Each part has a ratio of what its work-groups took to what their classes' means say. Between two
//!   parts the ratio is that of the later one. So what changes slowly in the course of a launch is followed, and
//!   what only takes its time to settle, as many waves as are timed, counts as settled where it is.
//! - The interval is that of the mean of these ratios, from the differences of successive ones (the usual
//!   estimate for systematic samples: Wolter, Introduction to Variance Estimation, 2007, §8.2), with
//!   Student's t, and an allowance for what sampling itself changes, which no sample can show.

use std::collections::BTreeMap;
use std::ops::Range;

use super::{Skipped, TimedGroup};
use crate::features::{Class, GroupFeatures};
use crate::statistics::student;

/// Share of what is extrapolated by which it may be wrong beside the sample's spread: L1 caches and DRAM's
/// rows after a skipped part, work-groups that run beside others than they would. `cargo xtask bench sampling`
/// shows how far off estimates are.
const ALLOWANCE: f64 = 0.025;

/// What a launch is estimated to have taken.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(in super::super) struct Estimate {
    /// Cycles of the launch.
    pub cycles: u64,
    /// Half of the interval by the sample's spread, in cycles.
    pub spread: f64,
    /// What the interval has beside that on each side, in cycles.
    pub allowance: f64,
    /// Work-groups timed, and their instructions.
    pub timed_groups: u64,
    pub timed_instructions: u64,
    /// Instructions of those that were not.
    pub skipped_instructions: u64,
}

/// A mean in the making.
#[derive(Clone, Copy, Default)]
struct Mean {
    sum: f64,
    n: f64,
}

impl Mean {
    fn add(&mut self, x: f64, n: f64) {
        self.sum += x;
        self.n += n;
    }

    fn get(&self) -> f64 {
        self.sum / self.n
    }
}

/// What work-groups take by their classes.
#[derive(Default)]
struct Costs {
    classes: BTreeMap<Class, Mean>,
    coarse: BTreeMap<(u16, u16), Mean>,
    /// Cycles for an instruction.
    instruction: Mean,
}

impl Costs {
    fn add(&mut self, group: &TimedGroup) {
        let (features, time) = (&group.features, (group.end - group.begin) as f64);
        self.classes.entry(features.class()).or_default().add(time, 1.0);
        let (instructions, longest, _) = features.coarse_class();
        self.coarse.entry((instructions, longest)).or_default().add(time, 1.0);
        self.instruction.add(time, features.instructions as f64);
    }

    /// Cycles of `groups` work-groups of a class, which have so many instructions.
    fn of(&self, class: Class, groups: u64, instructions: u64) -> f64 {
        let known = self.classes.get(&class).or_else(|| self.coarse.get(&(class.0, class.1)));
        match known {
            Some(mean) => mean.get() * groups as f64,
            None => self.instruction.get() * instructions as f64,
        }
    }

    fn of_group(&self, features: &GroupFeatures) -> f64 {
        self.of(features.class(), 1, features.instructions)
    }
}

/// Work-groups resident on average from the first one on until the last one is given out.
fn resident(groups: &[TimedGroup]) -> f64 {
    let first = groups.iter().map(|g| g.begin).min().unwrap_or(0);
    let last = groups.iter().map(|g| g.begin).max().unwrap_or(0);
    let time: u64 = groups.iter().map(|g| g.end.min(last) - g.begin.min(last)).sum();
    (time as f64 / (last - first).max(1) as f64).max(1.0)
}

/// See the module.
pub(super) fn estimate(
    mut groups: Vec<TimedGroup>,
    timed: &[Range<u64>],
    skipped: &[Skipped],
    wave: u64,
    measured: u64,
) -> Estimate {
    groups.sort_unstable_by_key(|g| g.number);
    let resident = resident(&groups);
    let wave = (wave as usize).min(groups.len().saturating_sub(1) / 2);
    let steady = &groups[wave..groups.len() - wave];
    let mut costs = Costs::default();
    steady.iter().for_each(|g| costs.add(g));
    // Of each timed part: what its work-groups took over what the means say.
    let ratios: Vec<Option<f64>> = timed
        .iter()
        .map(|part| {
            let of_part = steady.iter().filter(|g| part.contains(&g.number));
            let (mut took, mut expected) = (0.0, 0.0);
            for group in of_part {
                took += (group.end - group.begin) as f64;
                expected += costs.of_group(&group.features);
            }
            (expected > 0.0).then_some(took / expected)
        })
        .collect();
    let mut extrapolated = 0.0;
    let mut plain = 0.0;
    let mut skipped_instructions = 0;
    for part in skipped {
        let expected: f64 = part.shares.0.iter().map(|(class, s)| costs.of(*class, s.groups, s.instructions)).sum();
        skipped_instructions += part.shares.0.values().map(|s| s.instructions).sum::<u64>();
        let before = timed.partition_point(|t| t.end <= part.groups.start).saturating_sub(1);
        let of = |part: usize| ratios.get(part).copied().flatten();
        let ratio = match (of(before), of(before + 1)) {
            (_, Some(after)) => after,
            (Some(before), None) => before,
            _ => 1.0,
        };
        plain += expected / resident;
        extrapolated += expected * ratio / resident;
    }
    let ratios: Vec<f64> = ratios.into_iter().flatten().collect();
    let differences: f64 = ratios.windows(2).map(|r| (r[1] - r[0]).powi(2)).sum();
    let n = ratios.len();
    let spread = match n {
        0 | 1 => extrapolated,
        _ => {
            let deviation = (differences / (2.0 * (n - 1) as f64)).sqrt();
            student(n - 1) * deviation / (n as f64).sqrt() * plain
        }
    };
    Estimate {
        cycles: measured + extrapolated.round() as u64,
        spread,
        allowance: ALLOWANCE * extrapolated,
        timed_groups: groups.len() as u64,
        timed_instructions: groups.iter().map(|g| g.features.instructions).sum(),
        skipped_instructions,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::features::ClassShares;

    /// A machine with `places` places; work-group i takes `time(i)` cycles. Cycles of those in `timed`, and
    /// when each ran.
    fn simulated(timed: &[Range<u64>], places: usize, time: impl Fn(u64) -> u64) -> (u64, Vec<TimedGroup>) {
        let mut free = vec![0u64; places];
        let mut groups = Vec::new();
        for number in timed.iter().flat_map(Clone::clone) {
            let place = (0..places).min_by_key(|p| free[*p]).unwrap();
            let begin = free[place];
            free[place] += time(number);
            groups.push(TimedGroup { number, begin, end: free[place], features: features(number) });
        }
        (free.into_iter().max().unwrap(), groups)
    }

    /// Odd work-groups execute something else than even ones.
    fn features(number: u64) -> GroupFeatures {
        let instructions = if number % 2 == 0 { 1000 } else { 4000 };
        GroupFeatures { signature: number % 2, instructions, longest: 100 }
    }

    fn parts(total: u64) -> Vec<Range<u64>> {
        (0..12).map(|i| total * i / 12..if i == 11 { total } else { total * i / 12 + 10 }).collect()
    }

    fn check(total: u64, time: impl Fn(u64) -> u64) -> (Estimate, u64) {
        let timed = parts(total);
        let (measured, groups) = simulated(&timed, 10, &time);
        let skipped: Vec<Skipped> = timed
            .windows(2)
            .map(|p| {
                let mut shares = ClassShares::default();
                (p[0].end..p[1].start).for_each(|n| shares.add(&features(n)));
                Skipped { groups: p[0].end..p[1].start, shares }
            })
            .collect();
        let (truth, _) = simulated(std::slice::from_ref(&(0..total)), 10, &time);
        (estimate(groups, &timed, &skipped, 10, measured), truth)
    }

    fn error(estimate: &Estimate, truth: u64) -> f64 {
        (estimate.cycles as f64 / truth as f64 - 1.0).abs()
    }

    #[test]
    fn alike_groups_are_extrapolated_exactly() {
        let (e, truth) = check(5000, |_| 777);
        assert!(error(&e, truth) < 0.01, "{e:?}, {truth}");
        assert!(e.spread < 1.0 && e.timed_groups > 120, "{e:?}");
        assert_eq!(e.timed_instructions + e.skipped_instructions, 2500 * 1000 + 2500 * 4000);
    }

    #[test]
    fn classes_have_times_of_their_own() {
        let (e, truth) = check(5000, |n| if n % 2 == 0 { 300 } else { 5000 });
        assert!(error(&e, truth) < 0.02, "{e:?}, {truth}");
    }

    #[test]
    fn what_changes_slowly_is_followed() {
        let (e, truth) = check(5000, |n| 1000 + n / 5);
        assert!(error(&e, truth) < 0.04, "{e:?}, {truth}");
    }

    #[test]
    fn chance_is_in_the_interval() {
        let random = |n: u64| 500 + crate::features::weight(n as usize) % 1000;
        let (e, truth) = check(20_000, random);
        let off = (e.cycles as f64 - truth as f64).abs();
        assert!(off < e.spread + e.allowance && e.spread > 0.0, "{e:?}, {truth}");
        assert!(e.spread < 0.2 * truth as f64, "{e:?}, {truth}");
    }
}
