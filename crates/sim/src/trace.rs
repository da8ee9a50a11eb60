//! What timing mode records beside its statistics: a time line of issue slots, stalls and memory, and when
//! each instruction issued and completed.
//!
//! Each SM has a [`Recorder`] of its own, so SMs may be simulated in any order; [`Recording::new`] puts the
//! recorders together in the order of their numbers. A time line has at most [`MOST_BUCKETS`] buckets, which
//! double their width when a launch outlasts them: memory is bounded, and every event is in exactly one
//! bucket. Nothing here changes what is simulated.

use super::hierarchy::AccessCost;
use heddle_target::Machine;

/// Buckets of a time line at most.
pub const MOST_BUCKETS: u64 = 400;

/// Launches of a run that are recorded at most; a run of more has its first ones recorded.
pub const MOST_LAUNCHES: usize = 64;

/// What to record of a launch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Record {
    /// Whether to record a time line.
    pub time_line: bool,
    /// Slices (instructions, stalls, lives of warps) of a launch at most, shared out evenly among the SMs; 0: none.
    pub slices: usize,
}

impl Record {
    /// Whether anything is recorded.
    pub fn is_on(self) -> bool {
        self.time_line || self.slices > 0
    }
}

/// Why a warp did not issue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// Waits for the result of an arithmetic instruction.
    Dependence,
    /// Waits for memory.
    Memory,
    /// The unit or its cluster's slot is taken.
    Unit,
    /// Waits at a barrier.
    Barrier,
    /// Waits for shared registers (REN-3).
    Rename,
    /// Waits for instructions.
    Fetch,
    /// Could issue, but is not in the active set (C14).
    Inactive,
    /// Its cluster waits for operands from banks of the main file that others read (C13).
    Bank,
}

/// The causes, in the order of their columns.
pub const CAUSES: [Cause; 8] =
    [Cause::Dependence, Cause::Memory, Cause::Unit, Cause::Barrier, Cause::Rename, Cause::Fetch, Cause::Inactive, Cause::Bank];

impl Cause {
    /// As reports name it.
    pub fn name(self) -> &'static str {
        match self {
            Cause::Dependence => "dependence",
            Cause::Memory => "memory",
            Cause::Unit => "unit taken",
            Cause::Barrier => "barrier",
            Cause::Rename => "shared registers",
            Cause::Fetch => "instruction fetch",
            Cause::Inactive => "not active",
            Cause::Bank => "bank conflict",
        }
    }
}

/// Columns of a time line: issues of each cluster, of the scalar unit and of control; warp cycles lost to each cause; then these.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Figure {
    /// Active lanes, summed over the issues.
    Lanes,
    /// Sectors of global, constant and private memory that instructions accessed.
    Sectors,
    /// Of these, not found in L1.
    Misses,
    /// Of these, fetched from DRAM or system memory by L2.
    Far,
}

/// Counts by time, in buckets of as many cycles each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TimeLine {
    /// Cycles of a bucket, a power of two.
    pub width: u64,
    /// Clusters of the machine.
    pub clusters: usize,
    samples: Vec<u64>,
}

impl TimeLine {
    /// An empty time line.
    pub fn new(clusters: usize) -> TimeLine {
        TimeLine { width: 1, clusters, samples: Vec::new() }
    }

    /// Columns: clusters, scalar unit, control, causes, figures.
    fn columns(&self) -> usize {
        self.clusters + 2 + CAUSES.len() + 4
    }

    /// How many buckets there are.
    pub fn len(&self) -> usize {
        self.samples.len() / self.columns()
    }

    /// Whether nothing was recorded.
    pub fn is_empty(&self) -> bool {
        self.samples.is_empty()
    }

    /// Instructions issued in a bucket: by each cluster, then on the scalar unit's slot, then control.
    pub fn issued(&self, bucket: usize) -> &[u64] {
        &self.samples[bucket * self.columns()..][..self.clusters + 2]
    }

    /// Warp cycles lost in a bucket, in the order of [`CAUSES`].
    pub fn stalls(&self, bucket: usize) -> &[u64] {
        &self.samples[bucket * self.columns() + self.clusters + 2..][..CAUSES.len()]
    }

    /// A figure of a bucket.
    pub fn figure(&self, bucket: usize, figure: Figure) -> u64 {
        self.samples[bucket * self.columns() + self.clusters + 2 + CAUSES.len() + figure as usize]
    }

    /// Makes room for a cycle.
    fn reach(&mut self, cycle: u64) {
        while cycle / self.width >= MOST_BUCKETS {
            self.widen();
        }
        let needed = (cycle / self.width + 1) as usize * self.columns();
        if self.samples.len() < needed {
            self.samples.resize(needed, 0);
        }
    }

    fn add(&mut self, column: usize, cycle: u64, n: u64) {
        self.reach(cycle);
        let at = (cycle / self.width) as usize * self.columns() + column;
        self.samples[at] += n;
    }

    /// Adds 1 for each cycle of `from..to`.
    fn add_span(&mut self, column: usize, from: u64, to: u64) {
        if from >= to {
            return;
        }
        self.reach(to - 1);
        let (columns, width) = (self.columns(), self.width);
        let mut at = from;
        while at < to {
            let bucket = at / width;
            let end = ((bucket + 1) * width).min(to);
            self.samples[bucket as usize * columns + column] += end - at;
            at = end;
        }
    }

    /// Doubles the width of the buckets.
    pub fn widen(&mut self) {
        let columns = self.columns();
        let mut wide = vec![0; self.len().div_ceil(2) * columns];
        for (i, n) in self.samples.iter().enumerate() {
            wide[i / columns / 2 * columns + i % columns] += n;
        }
        self.samples = wide;
        self.width *= 2;
    }

    /// Adds another time line of the same launch.
    fn merge(&mut self, mut other: TimeLine) {
        while self.width < other.width {
            self.widen();
        }
        while other.width < self.width {
            other.widen();
        }
        if self.samples.len() < other.samples.len() {
            self.samples.resize(other.samples.len(), 0);
        }
        self.samples.iter_mut().zip(&other.samples).for_each(|(a, b)| *a += b);
    }
}

/// What a slice of a warp slot's time is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SliceKind {
    /// A warp is resident: work-group, and the warp's number in it.
    Warp {
        /// Linear number of the work-group.
        group: u64,
        /// Warp of the work-group.
        number: u32,
    },
    /// An instruction from its issue to its result.
    Instruction {
        /// Instruction of the kernel.
        index: u32,
        /// Active lanes.
        lanes: u8,
        /// Cluster; the scalar unit and control follow the clusters.
        unit: u8,
    },
    /// The warp did not issue.
    Stall(Cause),
}

/// A piece of a warp slot's time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slice {
    /// Its first cycle.
    pub start: u64,
    /// Cycle after the last.
    pub end: u64,
    /// Warp slot of the SM.
    pub slot: u16,
    /// What it is.
    pub kind: SliceKind,
}

/// An instruction that a warp issues, for [`Recorder::issue`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Issued {
    /// The warp's slot.
    pub slot: usize,
    /// The instruction.
    pub index: usize,
    /// Active lanes.
    pub lanes: u32,
    /// Cluster; the scalar unit and control follow the clusters.
    pub unit: usize,
    /// Cycle of its issue.
    pub now: u64,
    /// Cycle at which its result is there.
    pub done: u64,
    /// How often it split a warp.
    pub splits: u64,
}

/// What one SM records during a launch.
#[derive(Clone, Debug)]
pub(crate) struct Recorder {
    time_line: TimeLine,
    slices: Vec<Slice>,
    limit: usize,
    dropped: u64,
    /// Of each slot: the warp in it and when it came.
    lives: Vec<Option<(u64, u64, u32)>>,
    /// Of each slot: a stall that may go on.
    stalls: Vec<Option<(Cause, u64, u64)>>,
    splits: Vec<u64>,
}

impl Recorder {
    /// The recorder of one SM for a launch of `instructions` instructions.
    pub fn new(record: Record, machine: &Machine, instructions: usize) -> Recorder {
        Recorder {
            time_line: TimeLine::new(machine.clusters.len()),
            slices: Vec::new(),
            limit: record.slices / machine.sm.count.max(1) as usize,
            dropped: 0,
            lives: Vec::new(),
            stalls: Vec::new(),
            splits: vec![0; instructions],
        }
    }

    /// A recorder for each SM, if anything is to be recorded.
    pub fn for_sm(record: Record, machine: &Machine, instructions: usize) -> Option<Box<Recorder>> {
        record.is_on().then(|| Box::new(Recorder::new(record, machine, instructions)))
    }

    fn push(&mut self, slot: usize, start: u64, end: u64, kind: SliceKind) {
        if self.slices.len() < self.limit {
            self.slices.push(Slice { start, end, slot: slot as u16, kind });
        } else if self.limit > 0 {
            self.dropped += 1;
        }
    }

    fn close_stall(&mut self, slot: usize) {
        if let Some((cause, from, to)) = self.stalls.get_mut(slot).and_then(Option::take) {
            self.push(slot, from, to, SliceKind::Stall(cause));
        }
    }

    /// A warp of a work-group comes to a slot.
    pub fn start(&mut self, slot: usize, group: u64, number: u32, now: u64) {
        let slots = self.lives.len().max(slot + 1);
        self.lives.resize(slots, None);
        self.stalls.resize(slots, None);
        self.lives[slot] = Some((now, group, number));
    }

    /// The warp of a slot has ended.
    pub fn end(&mut self, slot: usize, now: u64) {
        self.close_stall(slot);
        if let Some((from, group, number)) = self.lives.get_mut(slot).and_then(Option::take) {
            self.push(slot, from, now, SliceKind::Warp { group, number });
        }
    }

    /// A warp issues an instruction.
    pub fn issue(&mut self, issued: &Issued) {
        let Issued { slot, index, lanes, unit, now, done, splits } = *issued;
        let first = self.time_line.clusters + 2 + CAUSES.len();
        self.time_line.add(unit, now, 1);
        self.time_line.add(first + Figure::Lanes as usize, now, u64::from(lanes));
        self.splits[index] += splits;
        let kind = SliceKind::Instruction { index: index as u32, lanes: lanes as u8, unit: unit as u8 };
        self.push(slot, now, done.max(now + 1), kind);
    }

    /// A warp divided `splits` times at an instruction that is recorded later.
    pub fn split(&mut self, index: usize, splits: u64) {
        self.splits[index] += splits;
    }

    /// The warp of a slot does not issue in the cycles `from..to`.
    pub fn stall(&mut self, slot: usize, cause: Cause, from: u64, to: u64) {
        if from >= to {
            return;
        }
        let column = self.time_line.clusters + 2 + cause as usize;
        self.time_line.add_span(column, from, to);
        if self.limit == 0 {
            return;
        }
        match self.stalls.get_mut(slot) {
            Some(Some((c, _, end))) if *c == cause && *end == from => *end = to,
            _ => {
                self.close_stall(slot);
                if let Some(open) = self.stalls.get_mut(slot) {
                    *open = Some((cause, from, to));
                }
            }
        }
    }

    /// An access went through the hierarchy.
    pub fn memory(&mut self, now: u64, done: &AccessCost) {
        let first = self.time_line.clusters + 2 + CAUSES.len();
        self.time_line.add(first + Figure::Sectors as usize, now, u64::from(done.sectors));
        self.time_line.add(first + Figure::Misses as usize, now, u64::from(done.sectors.saturating_sub(done.hits)));
        self.time_line.add(first + Figure::Far as usize, now, u64::from(done.far));
    }
}

/// What was recorded of a launch.
#[derive(Clone, Debug, PartialEq)]
pub struct Recording {
    /// Cycles of the launch.
    pub cycles: u64,
    /// All SMs together.
    pub time_line: TimeLine,
    /// Instructions issued by each SM, in buckets as wide as the time line's.
    pub busy: Vec<Vec<u64>>,
    /// Each SM's own time line; only with slices.
    pub sms: Vec<TimeLine>,
    /// Slices of each SM, in the order in which they were known.
    pub slices: Vec<Vec<Slice>>,
    /// Slices for which there was no room.
    pub dropped: u64,
    /// Of each instruction: times a warp divided at it.
    pub splits: Vec<u64>,
}

impl Recording {
    /// Puts the SMs' recorders together, in order of the SMs' numbers; `None` if there are none.
    pub(crate) fn new(recorders: impl IntoIterator<Item = Option<Box<Recorder>>>, cycles: u64) -> Option<Recording> {
        let mut recorders: Vec<Recorder> = recorders.into_iter().flatten().map(|r| *r).collect();
        let first = recorders.first()?;
        let (clusters, instructions) = (first.time_line.clusters, first.splits.len());
        let width = recorders.iter().map(|r| r.time_line.width).max().unwrap_or(1);
        let mut all = Recording {
            cycles,
            time_line: TimeLine { width, clusters, samples: Vec::new() },
            busy: Vec::new(),
            sms: Vec::new(),
            slices: Vec::new(),
            dropped: 0,
            splits: vec![0; instructions],
        };
        for r in &mut recorders {
            for slot in 0..r.stalls.len() {
                r.close_stall(slot);
            }
            while r.time_line.width < width {
                r.time_line.widen();
            }
            let line = &r.time_line;
            all.busy.push((0..line.len()).map(|b| line.issued(b).iter().sum()).collect());
            all.splits.iter_mut().zip(&r.splits).for_each(|(a, b)| *a += b);
            all.dropped += r.dropped;
            all.slices.push(std::mem::take(&mut r.slices));
            if r.limit > 0 {
                all.sms.push(line.clone());
            }
            all.time_line.merge(r.time_line.clone());
        }
        Some(all)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recorder(slices: usize) -> Recorder {
        let machine = heddle_target::testing::mixed(&["sm.count=1"]);
        Recorder::new(Record { time_line: true, slices }, &machine, 4)
    }

    fn sum(line: &TimeLine, of: impl Fn(&TimeLine, usize) -> u64) -> u64 {
        (0..line.len()).map(|b| of(line, b)).sum()
    }

    #[test]
    fn buckets_widen_and_lose_nothing() {
        let mut r = recorder(0);
        for cycle in [0, 1, 399, 400, 799, 800, 12_345] {
            r.issue(&Issued { slot: 0, index: 1, lanes: 7, unit: 0, now: cycle, done: cycle + 4, splits: 0 });
        }
        r.stall(0, Cause::Memory, 10, 9_010);
        let line = &r.time_line;
        assert!(line.len() as u64 <= MOST_BUCKETS && line.width == 32, "{} of {}", line.len(), line.width);
        assert_eq!(sum(line, |l, b| l.issued(b)[0]), 7);
        assert_eq!(sum(line, |l, b| l.figure(b, Figure::Lanes)), 49);
        assert_eq!(sum(line, |l, b| l.stalls(b)[Cause::Memory as usize]), 9_000);
        assert_eq!(line.stalls(0)[Cause::Memory as usize], 22);
        assert_eq!(line.stalls(1)[Cause::Memory as usize], 32);
    }

    #[test]
    fn recorders_of_different_widths_become_one() {
        let (mut a, mut b) = (recorder(0), recorder(0));
        a.issue(&Issued { slot: 0, index: 0, lanes: 1, unit: 1, now: 5, done: 6, splits: 1 });
        b.issue(&Issued { slot: 0, index: 2, lanes: 1, unit: 1, now: 5_000, done: 5_001, splits: 0 });
        let all = Recording::new([Some(Box::new(a)), Some(Box::new(b))], 5_001).unwrap();
        assert_eq!(all.time_line.width, 16);
        assert_eq!((all.time_line.issued(0)[1], all.time_line.issued(312)[1]), (1, 1));
        assert_eq!(all.busy.iter().map(|b| b.iter().sum::<u64>()).collect::<Vec<_>>(), [1, 1]);
        assert_eq!(all.splits, [1, 0, 0, 0]);
    }

    #[test]
    fn stalls_that_go_on_are_one_slice_and_the_limit_holds() {
        let mut r = recorder(3);
        r.start(2, 9, 1, 0);
        r.stall(2, Cause::Memory, 0, 5);
        r.stall(2, Cause::Memory, 5, 8);
        r.stall(2, Cause::Fetch, 8, 9);
        r.issue(&Issued { slot: 2, index: 0, lanes: 32, unit: 0, now: 9, done: 13, splits: 0 });
        r.end(2, 9);
        assert_eq!((r.slices.len(), r.dropped), (3, 1));
        assert_eq!(r.slices[0], Slice { start: 0, end: 8, slot: 2, kind: SliceKind::Stall(Cause::Memory) });
        assert_eq!(r.slices[1].kind, SliceKind::Instruction { index: 0, lanes: 32, unit: 0 });
    }
}
