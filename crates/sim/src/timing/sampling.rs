//! Sampling within a launch: some work-groups are timed in their place, the others run functionally, and what
//! these would have taken is extrapolated, with an interval.
//!
//! The launch's work-groups, in the order in which they are given out, are cut into equal strata. In each, at a
//! pseudo-random place, begins a *part* that is timed; what lies between is *skipped*. A part goes on until it
//! has some *waves* of work-groups (as many as the machine holds at once) and enough cycles, after some that
//! only let caches, queues and rows of DRAM come to where they would be (where work-groups are short). The
//! dispatcher does not notice: when a part has come to its end, what follows runs functionally at that moment,
//! in no simulated time, and the next part's first work-group is given out instead. So the machine stays as
//! full as it would be, and ramp and drain are the launch's own, not the parts'. The last skipped work-groups before
//! each part tell L2 which lines they touch ([`crate::touches`]). Memory is exact: each work-group runs once.
//!
//! What a work-group costs is the time for which it is resident, over the number of those resident on average
//! (Little's law); [`estimate`] has the arithmetic.
//!
//! The parts are after SMARTS (Wunderlich et al., ISCA 2003), work-groups as the unit and alike ones as one
//! class after TBPoint (Huang et al., IPDPS 2014) and Photon (Liu et al., MICRO 2023).

mod estimate;

use std::ops::Range;
use std::sync::Mutex;

use super::super::Simulation;
use super::super::fault::Fault;
use super::super::features::{ClassShares, GroupFeatures, weight};
use super::super::functional::{self, BlockCounts};
use super::super::hierarchy::lower_levels::{LowerLevels, WarmTraffic};
use super::super::program::{End, Program};
use super::super::statistics::CacheStatistics;
use super::super::touches::Touch;
pub(super) use estimate::Estimate;
use heddle_isa::{CachePolicy, Inst, MemorySpace, Op, Operand};

/// Parts that the smallest sample has.
pub(super) const FEWEST_PARTS: u32 = 6;
/// Cycles of a part before it counts.
const WARM_UP: u64 = 2048;
/// Cycles of a part that count, at least, and waves: what alike work-groups take goes up and down from wave to
/// wave where they run in step.
const MEASURED: u64 = 6144;
const WAVES: u64 = 3;
/// L2 is told what the last of the skipped work-groups touch: so many of them that they make so many times as many accesses
/// as it has sectors, and so many waves at least. What those before them touched has been evicted by then, touched again, or seldom
/// is (the boundary line of Haskins and Skadron, "Memory reference reuse latency", ISPASS 2003).
const WARM_TIMES: u64 = 8;
const WARM_WAVES: u64 = 4;

/// A work-group that was timed.
#[derive(Clone, Copy, Debug)]
pub(super) struct TimedGroup {
    /// Its number in the launch.
    pub number: u64,
    /// When it became resident, and when it ended.
    pub begin: u64,
    pub end: u64,
    /// What it executed.
    pub features: GroupFeatures,
}

/// What a skipped part had.
#[derive(Clone, Debug)]
struct Skipped {
    groups: Range<u64>,
    shares: ClassShares,
}

/// A part that is timed.
#[derive(Clone, Copy, Debug, Default)]
struct Part {
    /// Its first work-group, and the cycle in which this was given out.
    begin: (u64, u64),
    /// From which work-group and cycle on it counts, once it does.
    counts_from: Option<(u64, u64)>,
    /// Behind its last work-group, once it has ended.
    end: u64,
}

/// What L2 was told of skipped work-groups.
#[derive(Clone, Copy, Debug, Default)]
struct Told {
    /// What those moved that stand for all, and bytes that their lanes accessed.
    moved: WarmTraffic,
    accessed: u64,
    /// Bytes that the lanes of others accessed.
    others: u64,
}

impl Told {
    /// What all would have moved: by byte accessed as much as those that stand for them.
    fn all(&self) -> WarmTraffic {
        self.moved * (1.0 + self.others as f64 / self.accessed.max(1) as f64)
    }
}

/// How far the launch is.
#[derive(Default)]
struct Progress {
    /// Parts that have ended.
    timed: Vec<Part>,
    current: Part,
    /// Cycles that a wave took in the first part.
    wave_cycles: u64,
    skipped: Vec<Skipped>,
    counts: Option<BlockCounts>,
    told: Told,
}

/// Which work-groups of a launch are timed, and what is known of the others.
pub(super) struct Sampler {
    /// Work-groups of the launch.
    total: u64,
    /// Parts that are timed.
    parts: u64,
    /// Work-groups that the machine holds at once.
    wave: u64,
    /// Weights of blocks in signatures.
    pub weights: Vec<u64>,
    /// Bytes of device memory that a lane accesses in each block.
    bytes: Vec<u64>,
    progress: Mutex<Progress>,
}

/// Whether work-groups may wait for each other: there is a loop in which an atomic's result or volatile
/// global memory is read. One that runs functionally, to its end, might then wait forever.
fn may_wait(program: &Program) -> bool {
    let waits = |block: usize| {
        let block = &program.blocks[block];
        program.insts[block.first as usize..(block.first + block.len()) as usize].iter().any(|i| {
            let global = matches!(i.mods.space, Some(MemorySpace::Global));
            match i.op {
                Op::Atomic => global && i.dst != Operand::None,
                Op::Load | Op::LoadUniform => global && matches!(i.mods.cache, CachePolicy::Cv),
                _ => false,
            }
        })
    };
    program.blocks.iter().enumerate().any(|(b, block)| {
        let target = match block.end {
            End::Jump(target) | End::Scalar { target, .. } | End::Divergent { target, .. } => target as usize,
            _ => return false,
        };
        target <= b && (target..=b).any(waits)
    })
}

/// Bytes of device memory that a lane accesses in a block.
fn bytes_of_lane(program: &Program, block: usize) -> u64 {
    let block = &program.blocks[block];
    let insts = &program.insts[block.first as usize..(block.first + block.len()) as usize];
    let device = |i: &&Inst| {
        let space = i.mods.space.unwrap_or(MemorySpace::Global);
        i.is_memory() && matches!(space, MemorySpace::Global | MemorySpace::Constant)
    };
    insts.iter().filter(device).map(|i| u64::from(i.ty.bytes())).sum()
}

impl Sampler {
    /// For a launch, if it is to be sampled and can be: an SM holds `resident` of its work-groups.
    pub fn new(run: &Simulation, total: u64, resident: u32) -> Option<Sampler> {
        let parts = run.options.sample.map(|n| u64::from(n.max(FEWEST_PARTS)))?;
        let program = run.launch.program;
        let wave = u64::from(resident.max(1)) * u64::from(run.machine.sm.count);
        // It pays where a good part is left out.
        if !run.options.host_writes.is_empty() || total / 2 < parts * WAVES * wave || may_wait(program) {
            return None;
        }
        let weights = (0..program.blocks.len()).map(weight).collect();
        let bytes = (0..program.blocks.len()).map(|block| bytes_of_lane(program, block)).collect();
        Some(Sampler { total, parts, wave, weights, bytes, progress: Mutex::default() })
    }

    /// Where part `i`, of which not the last, begins.
    fn begin(&self, i: u64) -> u64 {
        let bound = |i: u64| (u128::from(self.total) * u128::from(i) / u128::from(self.parts)) as u64;
        // Not at regular distances, which might be those of something in the launch.
        bound(i) + weight(i as usize) % ((bound(i + 1) - bound(i)) / 2 + 1)
    }

    /// Work-group `next` is about to be given out in cycle `now`. Returns what is to be skipped before that.
    fn decide(&self, progress: &mut Progress, next: u64, now: u64) -> Option<Range<u64>> {
        let Progress { timed, current, wave_cycles, .. } = progress;
        let number = timed.len() as u64;
        if number + 1 == self.parts {
            return None;
        }
        let Some((first, since)) = current.counts_from else {
            // At the launch's begin two waves pass before the machine is as it then stays.
            let settled = number > 0 || next >= 2 * self.wave;
            if settled && now >= current.begin.1 + WARM_UP {
                current.counts_from = Some((next, now));
            }
            return None;
        };
        if next - first < WAVES * self.wave || now - since < MEASURED {
            return None;
        }
        let length = next - current.begin.0;
        let begin = match number + 2 == self.parts {
            true => self.total.saturating_sub(length + 2 * self.wave),
            false => self.begin(number + 1),
        };
        timed.push(Part { end: next, ..*current });
        if number == 0 {
            *wave_cycles = (u128::from(now) * u128::from(self.wave) / u128::from(next)) as u64;
        }
        // What is shorter than a part is not worth the disturbance. Whole waves are skipped, so that work-groups
        // come to the SMs that have what their neighbours left in L1.
        let skipped = if begin >= next + length { next..begin - (begin - next) % self.wave } else { next..next };
        // What lasts long does not notice how it begins.
        let begin = (skipped.end, now);
        *current = Part { begin, counts_from: (*wave_cycles >= 2 * WARM_UP).then_some(begin), end: 0 };
        (!skipped.is_empty()).then_some(skipped)
    }

    /// Work-group `next` is about to be given out in cycle `now`: if something is to be skipped before that,
    /// it runs, with L2 told what it touches. Returns the number of the work-group to be given out.
    ///
    /// # Errors
    /// The fault of a skipped work-group.
    pub fn advance<const N: usize>(
        &self,
        run: Simulation,
        (next, now): (u64, u64),
        lower: Option<&mut LowerLevels>,
    ) -> Result<u64, Box<Fault>> {
        let mut progress = self.progress.lock().unwrap_or_else(|e| e.into_inner());
        let Some(groups) = self.decide(&mut progress, next, now) else { return Ok(next) };
        let ran = match lower {
            Some(lower) => {
                let skipped: u64 = progress.skipped.iter().map(|s| s.groups.end - s.groups.start).sum();
                let from = self.warms_from(&groups, next - skipped, (&lower.statistics.l2, lower.sectors()));
                lower.begin_warming(run.memory);
                let mut told = progress.told;
                let ran = self.skip::<N>(run, &groups, from, (&mut *lower, &mut told));
                lower.warmed = told.all();
                progress.told = told;
                lower.end_warming(run.memory);
                ran?
            }
            None => functional::part::<N>(run, groups.clone(), None)?,
        };
        match &mut progress.counts {
            Some(counts) => counts.add(&ran.counts),
            None => progress.counts = Some(ran.counts),
        }
        let end = groups.end;
        progress.skipped.push(Skipped { groups, shares: ran.shares });
        Ok(end)
    }

    /// The first of the work-groups to be skipped of which L2 is told what they touch, after `timed` work-groups that were timed.
    /// L2, which has so many sectors, has counted what those touched.
    fn warms_from(&self, groups: &Range<u64>, timed: u64, (l2, sectors): (&CacheStatistics, u64)) -> u64 {
        let enough = (WARM_TIMES * sectors * timed).checked_div(l2.reads + l2.writes).unwrap_or(u64::MAX);
        let waves = enough.div_ceil(self.wave).max(WARM_WAVES);
        // In whole waves, as they are skipped.
        groups.end.saturating_sub(waves.saturating_mul(self.wave)).max(groups.start)
    }

    /// Bytes of device memory that lanes access, in all.
    fn accessed(&self, part: &functional::Part) -> u64 {
        part.counts.lanes.iter().zip(&self.bytes).map(|(lanes, bytes)| lanes * bytes).sum()
    }

    /// Runs work-groups that are skipped; L2 is told what those from `from` on touch.
    fn skip<const N: usize>(
        &self,
        run: Simulation,
        groups: &Range<u64>,
        from: u64,
        (lower, told): (&mut LowerLevels, &mut Told),
    ) -> Result<functional::Part, Box<Fault>> {
        let memory = run.memory;
        let warm = |groups, lower: &mut LowerLevels| {
            functional::part::<N>(run, groups, Some((self.wave, &mut |touch: Touch| lower.warm(memory, touch))))
        };
        if from == groups.start {
            let before = lower.warmed;
            let ran = warm(groups.clone(), lower)?;
            told.moved = told.moved + (lower.warmed - before);
            told.accessed += self.accessed(&ran);
            return Ok(ran);
        }
        let mut ran = functional::part::<N>(run, groups.start..from, None)?;
        // What the first half of them miss, those before them may have brought. So the second half stand for all.
        let middle = from + (groups.end - from) / 2 / self.wave * self.wave;
        ran.add(warm(from..middle, lower)?);
        told.others += self.accessed(&ran);
        let before = lower.warmed;
        let last = warm(middle..groups.end, lower)?;
        told.moved = told.moved + (lower.warmed - before);
        told.accessed += self.accessed(&last);
        ran.add(last);
        Ok(ran)
    }

    /// What was extrapolated, and the executions of blocks of what was skipped; `measured`: cycles of what
    /// was timed. `None`: all was timed.
    pub fn estimate(&self, groups: Vec<TimedGroup>, measured: u64) -> Option<(Estimate, BlockCounts)> {
        let mut progress = std::mem::take(&mut *self.progress.lock().unwrap_or_else(|e| e.into_inner()));
        let counts = progress.counts.take()?;
        progress.timed.push(Part { end: self.total, ..progress.current });
        let counting = progress.timed.iter().map(|p| p.counts_from.map_or(p.begin.0, |c| c.0)..p.end).collect::<Vec<_>>();
        Some((estimate::estimate(groups, &counting, &progress.skipped, self.wave, measured), counts))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gives out a launch's work-groups, `rate` a cycle; returns the parts that count and those that are skipped.
    fn parts(total: u64, wave: u64, rate: f64) -> (Vec<Part>, Vec<Range<u64>>) {
        let sampler = Sampler { total, parts: 8, wave, weights: Vec::new(), bytes: Vec::new(), progress: Mutex::default() };
        let (mut progress, mut next, mut given, mut skipped) = (Progress::default(), wave, wave, Vec::new());
        while next < total {
            if let Some(groups) = sampler.decide(&mut progress, next, (given as f64 / rate) as u64) {
                assert_eq!(groups.start, next);
                next = groups.end;
                skipped.push(groups);
            }
            next += 1;
            given += 1;
        }
        let last = Part { end: total, ..progress.current };
        (progress.timed.into_iter().chain([last]).collect(), skipped)
    }

    #[test]
    fn parts_have_a_wave_and_some_time() {
        for (total, wave, rate) in [(1_000_000, 100, 1.0), (100_000, 32, 0.001), (1 << 22, 8, 0.5)] {
            let (timed, skipped) = parts(total, wave, rate);
            assert_eq!((timed.len(), skipped.len()), (8, 7));
            for part in &timed[..7] {
                let (first, since) = part.counts_from.unwrap();
                assert!(part.end - first >= WAVES * wave && first >= part.begin.0 && since >= part.begin.1, "{part:?}");
            }
            let last = &timed[7];
            assert!(last.end == total && total - last.begin.0 >= 2 * wave, "{last:?}");
            let all: u64 = timed.iter().map(|p| p.end - p.begin.0).chain(skipped.iter().map(|s| s.end - s.start)).sum();
            assert_eq!(all, total);
            assert!(skipped.iter().all(|s| (s.end - s.start) % wave == 0), "whole waves");
        }
    }

    #[test]
    fn l2_is_told_of_as_much_as_it_holds_several_times() {
        let sampler =
            Sampler { total: 1 << 20, parts: 8, wave: 100, weights: Vec::new(), bytes: Vec::new(), progress: Mutex::default() };
        let told = |reads: u64, writes: u64, groups: Range<u64>| {
            let l2 = CacheStatistics { reads, writes, ..Default::default() };
            groups.end - sampler.warms_from(&groups, 1000, (&l2, 10_000))
        };
        // A thousand work-groups touched 20 sectors each: so 4,000 touch eight times 10,000.
        assert_eq!(told(20_000, 0, 0..100_000), 4_000);
        assert_eq!(told(5_000, 15_000, 0..100_000), 4_000);
        // In whole waves, four at least, and never more than there are.
        assert_eq!(told(19_000, 0, 0..100_000), 4_300);
        assert_eq!(told(20_000_000, 0, 0..100_000), 400);
        assert_eq!(told(20_000, 0, 500..3_500), 3_000);
        assert_eq!(told(0, 0, 0..100_000), 100_000, "who touches nothing knows nothing");
    }

    #[test]
    fn what_is_short_is_timed_whole() {
        let (timed, skipped) = parts(20_000, 100, 1.0);
        assert!(skipped.is_empty() && !timed.is_empty(), "{timed:?}");
    }
}
