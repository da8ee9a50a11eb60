//! A host thread of functional mode: runs work-groups one after the other, and more of them at once where they wait for each
//! other.
//!
//! A work-group all of whose warps wait for others is put aside, and the next one begins, as long as the machine would hold
//! that many; when one has ended, those put aside are asked again. So work-groups that wait for each other make progress as
//! they would on the machine, whatever the number of host threads, and those that wait for one which the machine does not
//! hold are in a deadlock here, too.

use std::cell::RefCell;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use super::resident::{Resident, Turn};
use super::{BlockCounts, Budget, GroupPlace, Warp, WorkGroups, local_memory};
use crate::check::Checker;
use crate::exec::scalar_lanes::ScalarLanes;
use crate::exec::strands::Lost;
use crate::fault::{Deadlock, Fault, WaitingWarp};
use crate::features::{ClassShares, GroupFeatures, weight};
use crate::jit::{self, Runs};
use crate::touches::Touches;
use crate::turns::Turns;
use crate::{Jit, Simulation};

/// What a host thread has for itself, beside its work-groups.
pub(super) struct Worker<'a, const N: usize> {
    pub counts: BlockCounts,
    /// What tells work-groups apart, if somebody wants to know.
    pub groups: Option<GroupObserver>,
    /// Work-groups put aside, in the order in which they began.
    aside: Vec<Resident<'a, N>>,
    /// Of work-groups that have ended.
    spare: Vec<Resident<'a, N>>,
}

impl<const N: usize> Worker<'_, N> {
    fn finish(mut self) -> (BlockCounts, ClassShares) {
        self.counts.settle(N as u64);
        (self.counts, self.groups.map(|g| g.shares).unwrap_or_default())
    }
}

/// Work-groups that have ended and have not been reported; they are when nobody counts them any more, however that comes about.
struct EndedGroups<'p> {
    count: u64,
    progress: &'p (dyn Fn(u64) + Sync),
}

impl EndedGroups<'_> {
    fn report(&mut self) {
        let count = std::mem::take(&mut self.count);
        if count > 0 {
            (self.progress)(count);
        }
    }
}

impl Drop for EndedGroups<'_> {
    fn drop(&mut self) {
        self.report();
    }
}

/// Finds what each work-group executed from what a host thread has counted.
pub(super) struct GroupObserver {
    weights: Vec<u64>,
    /// The sum of all counts with their weights before the work-group.
    before: u64,
    /// Instructions of each of its warps.
    pub warps: Vec<u64>,
    shares: ClassShares,
}

impl GroupObserver {
    fn new(blocks: usize, warps: usize) -> GroupObserver {
        let weights = (0..blocks).map(weight).collect();
        GroupObserver { weights, before: 0, warps: vec![0; warps], shares: ClassShares::default() }
    }

    /// A work-group has ended.
    fn ended(&mut self, counts: &BlockCounts) {
        let entries = counts.executions.iter().zip(&counts.whole).map(|(e, w)| e.wrapping_add(*w));
        let sum = entries.zip(&self.weights).fold(0u64, |sum, (n, w)| sum.wrapping_add(n.wrapping_mul(*w)));
        self.shares.add(&GroupFeatures {
            signature: sum.wrapping_sub(std::mem::replace(&mut self.before, sum)),
            instructions: self.warps.iter().sum(),
            longest: self.warps.iter().copied().max().unwrap_or(0),
        });
        self.shares.coarsen();
        self.warps.fill(0);
    }
}

/// Work-groups put aside by all host threads.
#[derive(Default)]
pub(super) struct Aside(AtomicU64);

/// Why a host thread does not go on.
struct Stopped;

impl<'a, const N: usize> WorkGroups<'a, N> {
    /// What a host thread does: runs work-groups until there are none, and `ran` after each. Returns what it counted.
    pub(super) fn work(&self, touches: Option<&RefCell<Touches>>, ran: impl FnMut()) -> (BlockCounts, ClassShares) {
        let Simulation { launch, memory, options, .. } = self.run;
        let checker = Checker::new(launch, memory, options, N as u32).map(RefCell::new);
        // What watches work-groups expects one after the other.
        let one_by_one = checker.is_some() || touches.is_some() || self.observes;
        let compiles = !one_by_one && options.jit != Jit::Never;
        let sums = if compiles { jit::Sums::new(launch, memory) } else { jit::Sums::default() };
        let new_warp = |_| {
            let mut warp = Warp::new(launch, memory, options);
            warp.lanes.lost = Lost::new(&self.run);
            warp.lanes.scalar_lanes = ScalarLanes::new(&self.run, self.turns.is_some());
            warp.lanes.sums = sums.pointers();
            warp.turns = self.turns.clone().map(|plan| Box::new(Turns::new(plan)));
            if checker.is_some() {
                (warp.lanes.checker, warp.lanes.local_banks) = (checker.as_ref(), 1);
                warp.lanes.quiet_descriptors = &self.quiet_descriptors;
            }
            if touches.is_some() {
                (warp.lanes.touches, warp.lanes.local_banks) = (touches, 1);
                warp.lanes.quiet_descriptors = &self.quiet_descriptors;
            }
            warp
        };
        let new_group = || Resident {
            number: 0,
            place: GroupPlace { id: [0; 3], size: [0; 3] },
            warps: (0..self.warps).map(new_warp).collect(),
            local: local_memory(launch.local_bytes),
            budget: Budget::new(options, self.communicates),
            many: None,
        };
        let mut worker: Worker<N> = Worker {
            counts: BlockCounts::new(launch.program),
            groups: self.observes.then(|| GroupObserver::new(launch.program.blocks.len(), self.warps)),
            aside: Vec::new(),
            spare: Vec::new(),
        };
        self.standstill.begin();
        // Stopped or not: what is counted has happened.
        let _stopped = self.run_all(&mut worker, new_group, one_by_one, ran);
        self.aside.0.fetch_sub(worker.aside.len() as u64, Ordering::Relaxed);
        sums.merge(memory);
        self.standstill.end();
        worker.finish()
    }

    /// Runs work-groups until there are none, or one has faulted.
    fn run_all<'b>(
        &self,
        worker: &mut Worker<'b, N>,
        new_group: impl Fn() -> Resident<'b, N>,
        one_by_one: bool,
        mut ran: impl FnMut(),
    ) -> Result<(), Stopped>
    where
        'a: 'b,
    {
        let Simulation { launch, options, progress, .. } = self.run;
        let program = launch.program;
        let whole = launch.local.iter().product::<u32>() % N as u32 == 0;
        // Compiled code does not say which registers it reads, and knows nothing of turns.
        let watched = Lost::new(&self.run).is_some() || self.turns.is_some();
        // It reads all descriptors, whichever accesses it comes to.
        let watched = watched || launch.descriptors.len() < program.header.surfaces.len();
        let first = self.next.load(Ordering::Relaxed).min(self.end);
        // Compiled code that runs many work-groups says nothing of each, and lets warps wait at different barriers.
        let many_at_once = !(one_by_one || options.check_barriers);
        let tier = jit::Tier::new(launch, options, self.end - first, (whole, many_at_once), self.threads);
        let compiled_for = |runs, at_once| if watched { None } else { tier.compiled::<N>(program, runs, at_once) };
        let (mut numbers, mut ended) = (0..0, EndedGroups { count: 0, progress });
        loop {
            if numbers.is_empty() {
                ended.report();
            }
            if numbers.is_empty() && !self.is_full(worker) {
                numbers = self.take(first);
            }
            if self.is_full(worker) || numbers.is_empty() {
                if worker.aside.is_empty() {
                    return Ok(());
                }
                let compiled = compiled_for(Runs::Warps, false);
                let all_begun = numbers.is_empty() && self.next.load(Ordering::Relaxed) >= self.end;
                self.resume_aside(worker, compiled, all_begun, &mut ran)?;
                continue;
            }
            let number = numbers.start;
            if let Some(fault) = options.interrupted(launch) {
                return self.stop_at(number, *fault);
            }
            if number > self.stop.load(Ordering::Relaxed) {
                return Err(Stopped);
            }
            let many = launch.groups_of_full_size(numbers.clone());
            let runs = if many > 0 && many_at_once && worker.aside.is_empty() { Runs::Groups } else { Runs::Warps };
            let compiled = compiled_for(runs, false);
            let mut group = worker.spare.pop().unwrap_or_else(&new_group);
            let budget = Budget::new(options, self.communicates);
            let (mut done, mut code) = (0, compiled);
            let stopped = match compiled.filter(|_| runs == Runs::Groups) {
                Some(groups) => {
                    let stopped;
                    (done, stopped) = group.run_many(&self.run, worker, groups, (number..number + many, budget));
                    if let Some(Ok(long)) = stopped {
                        code = compiled_for(Runs::Warps, long);
                    }
                    stopped
                }
                None => {
                    group.start(launch, number, budget);
                    Some(Ok(false))
                }
            };
            let turn = stopped.map(|stopped| {
                let begun = code.is_none().then(Instant::now);
                let turn = stopped.and_then(|_| group.run(&self.run, &self.interpreter, worker, code));
                if let Some(begun) = begun {
                    tier.executed(if compiled.is_some() { Runs::Warps } else { runs }, begun.elapsed());
                }
                turn
            });
            let number = number + done;
            numbers.start = number + u64::from(turn.is_some());
            ended.count += done;
            match turn {
                None => {
                    worker.spare.push(group);
                    ran();
                }
                Some(Err(fault)) => return self.stop_at(number, *fault),
                Some(Ok(Turn::Ended)) => {
                    worker.spare.push(group);
                    if let Some(groups) = &mut worker.groups {
                        groups.ended(&worker.counts);
                    }
                    ran();
                    ended.count += 1;
                    if !worker.aside.is_empty() {
                        self.run_aside(worker, compiled_for(Runs::Warps, false), &mut ran)?;
                    }
                }
                Some(Ok(Turn::Waits { .. })) if one_by_one => {
                    let warps = group.waiting(&self.run);
                    return self.stop_at(number, self.deadlock(warps, true));
                }
                Some(Ok(Turn::Waits { .. })) => {
                    worker.aside.push(group);
                    self.aside.0.fetch_add(1, Ordering::Relaxed);
                }
            }
        }
    }

    /// Takes work-groups; `first`: the first one that was there to be taken. As many as have been taken before, so that others
    /// come to help soon and threads then seldom meet in the memory of neighbours; but few at the end, so that all end together.
    fn take(&self, first: u64) -> Range<u64> {
        let step = |next: u64| {
            let left = self.end.saturating_sub(next) / (self.threads as u64 * 4);
            if self.step == 1 { 1 } else { next.saturating_sub(first).min(left).max(self.step) }
        };
        let end = |next: u64| next.saturating_add(step(next)).min(self.end);
        let order = Ordering::Relaxed;
        let start = self.next.fetch_update(order, order, |next| Some(end(next).max(next))).unwrap_or(self.end).min(self.end);
        start..end(start)
    }

    /// Whether the machine would hold no more work-groups than those put aside. A thread that has none runs one in any case.
    fn is_full(&self, worker: &Worker<N>) -> bool {
        !worker.aside.is_empty() && self.aside.0.load(Ordering::Relaxed) >= self.capacity
    }

    /// Asks the work-groups put aside. Returns whether one of them has done something.
    fn run_aside(
        &self,
        worker: &mut Worker<N>,
        compiled: Option<&jit::Compiled>,
        ran: &mut impl FnMut(),
    ) -> Result<bool, Stopped> {
        let mut any_moved = false;
        let mut i = 0;
        let mut aside = std::mem::take(&mut worker.aside);
        while let Some(group) = aside.get_mut(i) {
            match group.run(&self.run, &self.interpreter, worker, compiled) {
                Err(fault) => {
                    let number = group.number;
                    worker.aside = aside;
                    return self.stop_at(number, *fault).map(|()| false);
                }
                Ok(Turn::Ended) => {
                    worker.spare.push(aside.remove(i));
                    self.aside.0.fetch_sub(1, Ordering::Relaxed);
                    any_moved = true;
                    ran();
                    (self.run.progress)(1);
                }
                Ok(Turn::Waits { moved }) => {
                    any_moved |= moved;
                    i += 1;
                }
            }
        }
        worker.aside = aside;
        Ok(any_moved)
    }

    /// Asks the work-groups put aside until one of them can go on, or there is room for more and `all_begun` is false.
    fn resume_aside(
        &self,
        worker: &mut Worker<N>,
        compiled: Option<&jit::Compiled>,
        all_begun: bool,
        ran: &mut impl FnMut(),
    ) -> Result<(), Stopped> {
        let Simulation { launch, options, .. } = self.run;
        if self.run_aside(worker, compiled, ran)? {
            return Ok(());
        }
        self.standstill.sleep();
        let mut looked = None;
        let result = loop {
            let first = worker.aside.first().map_or(0, |g| g.number);
            if let Some(fault) = options.interrupted(launch) {
                break self.stop_at(first, *fault);
            }
            if self.stop.load(Ordering::Relaxed) != u64::MAX {
                break Err(Stopped);
            }
            if !all_begun && !self.is_full(worker) {
                break Ok(());
            }
            let generation = self.standstill.all_idle();
            match self.run_aside(worker, compiled, ran) {
                Err(stopped) => break Err(stopped),
                Ok(true) => break Ok(()),
                Ok(false) => {}
            }
            let Some(generation) = generation.filter(|g| looked != Some(*g)) else {
                std::thread::yield_now();
                continue;
            };
            looked = Some(generation);
            let warps = worker.aside.iter_mut().flat_map(|g| g.waiting(&self.run)).collect();
            if let Some(warps) = self.standstill.found_nothing(generation, warps) {
                break self.stop_at(first, self.deadlock(warps, false));
            }
        };
        self.standstill.wake();
        result
    }

    /// The fault of warps that wait for each other.
    fn deadlock(&self, warps: Vec<WaitingWarp>, one_by_one: bool) -> Fault {
        let resident = self.aside.0.load(Ordering::Relaxed);
        let not_begun = self.end.saturating_sub(self.next.load(Ordering::Relaxed));
        let not_begun = if one_by_one { 0 } else { not_begun };
        Fault::deadlock(
            self.run.launch,
            Deadlock { warps, resident, not_begun, one_by_one, independent: self.run.machine.sm.independent_threads },
        )
    }

    /// A work-group ended with a fault.
    fn stop_at(&self, number: u64, fault: Fault) -> Result<(), Stopped> {
        self.stop.fetch_min(number, Ordering::Relaxed);
        let mut first = self.first_fault.lock().unwrap_or_else(|e| e.into_inner());
        if first.as_ref().is_none_or(|(n, _)| number < *n) {
            *first = Some((number, fault));
        }
        Err(Stopped)
    }
}
