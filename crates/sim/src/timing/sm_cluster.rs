//! An SM cluster: the SMs that share an L1.5, simulated in turns up to where they need others.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::super::fault::Fault;
use super::super::hierarchy::cluster_caches::ClusterCaches;
use super::super::hierarchy::deferred::{Arrival, Reply, Timestamp};
use super::super::hierarchy::lower_levels::LowerLevels;
use super::sm::{CycleOutcome, LaunchContext, PREFETCHES, Sm, Waiting, sm_of};

/// So many replies, or arrivals, lie between the one that is dealt with and the one for which the host is told what to fetch into
/// its caches next, and as many between that and the one for which it is told what to fetch first. The first ones of a batch
/// are not fetched ahead.
const AHEAD: usize = 2;

/// Cycles after which a cluster says again how far it has come.
const SHOWN_EVERY: u64 = 4;

/// After everything.
pub(super) const NEVER: Timestamp = (u64::MAX, u32::MAX);

/// Why a cluster stopped before the end of a round. The SM is its number in the cluster.
pub(super) enum Stop {
    /// Work-groups may be given to an SM.
    WantsGroup(usize),
    /// An SM's cycle needs the lower levels of the hierarchy to answer at once.
    NeedsLowerLevels(usize),
    /// What follows an SM's cycle depends on when it ends.
    OpenCycle(usize),
    /// All warps of an SM wait for others.
    Standstill,
    /// An instruction failed.
    Fault(Box<Fault>),
}

/// What a cluster knows of the others while it is simulated.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// Cycle up to which it needs none of them.
    pub until: u64,
    /// There are work-groups to be given out.
    pub groups_left: bool,
}

/// How far a cluster has come that a thread simulates, for the others to see: nothing happens in it before this cycle. It has a
/// line of the host's caches of its own.
#[derive(Default)]
#[repr(align(64))]
pub(super) struct Clock(AtomicU64);

impl Clock {
    /// The cycle.
    pub fn now(&self) -> u64 {
        self.0.load(Ordering::Acquire)
    }

    /// The cluster comes to a cycle.
    pub fn set(&self, cycle: u64) {
        self.0.store(cycle, Ordering::Release);
    }
}

/// The SMs that share an L1.5.
pub(super) struct SmCluster<'a, const N: usize, const W: usize> {
    /// The SMs, in the order of their numbers.
    pub sms: Vec<Sm<'a, N, W>>,
    /// Their caches.
    pub caches: &'a RefCell<ClusterCaches>,
    /// Which SMs have no work left.
    pub done: Vec<bool>,
    /// How far it has come.
    pub clock: Arc<Clock>,
    /// Why it does not go on, and since when.
    pub stop: Option<(Timestamp, Stop)>,
    /// It knows that there are no more work-groups.
    exhausted: bool,
    /// Replies that it has not received, with when the requests were made.
    replies: VecDeque<(Timestamp, Reply)>,
    /// What its SMs waited for and has come, while they are told.
    arrivals: VecDeque<Arrival>,
    /// Work-groups ended since it was last asked.
    pub ended: u64,
    /// The last cycle in which an SM did something.
    pub last: u64,
}

impl<'a, const N: usize, const W: usize> SmCluster<'a, N, W> {
    /// Idle SMs with the caches of their cluster.
    pub fn new(caches: &'a RefCell<ClusterCaches>, numbers: Range<usize>, c: &LaunchContext<'a, N>) -> Self {
        let sms: Vec<Sm<N, W>> = numbers.map(|n| Sm::new(n, caches, c)).collect();
        SmCluster {
            caches,
            done: vec![false; sms.len()],
            sms,
            clock: Arc::default(),
            stop: None,
            exhausted: false,
            replies: VecDeque::new(),
            arrivals: VecDeque::new(),
            ended: 0,
            last: 0,
        }
    }

    /// The next cycle of an SM, as requests made in it are ordered.
    #[inline]
    pub fn key(&self, sm: usize) -> Timestamp {
        (self.sms[sm].time, self.sms[sm].number as u32)
    }

    /// Nothing happens in the cluster before this; all that is known is that SMs whose cycle is open do not go on before `until`.
    pub fn bound(&self, until: u64) -> Timestamp {
        if let Some((key, _)) = &self.stop {
            return *key;
        }
        let of = |i: usize| if self.sms[i].is_open() { (until, 0) } else { self.key(i) };
        (0..self.sms.len()).filter(|i| !self.done[*i]).map(of).min().unwrap_or(NEVER)
    }

    /// Simulates the cluster's SMs in turns up to a cycle, or until one must stop.
    pub fn run(&mut self, c: &LaunchContext<'a, N>, limits: Limits) {
        if !c.chooses {
            self.caches.borrow_mut().no_answer_before = limits.until;
        }
        for i in 0..self.sms.len() {
            if self.stop.is_none() && !self.done[i] && self.sms[i].is_open() {
                self.after_cycle(c, i, limits);
            }
        }
        let mut shown = 0;
        while self.stop.is_none() {
            // Of those of the earliest cycle the first: they stand in the order of their numbers.
            let (mut next, mut earliest) = (None, limits.until);
            for (i, sm) in self.sms.iter().enumerate() {
                if sm.time < earliest && !self.done[i] && !sm.is_open() {
                    (next, earliest) = (Some(i), sm.time);
                }
            }
            let Some(i) = next else { return };
            if earliest >= shown + SHOWN_EVERY {
                shown = earliest;
                self.clock.set(earliest);
            }
            self.cycle(c, i, false, limits);
        }
    }

    /// One cycle of an SM. `direct`: the lower levels answer at once.
    #[inline]
    pub fn cycle(&mut self, c: &LaunchContext<'a, N>, i: usize, direct: bool, limits: Limits) {
        let key = self.key(i);
        self.last = self.last.max(key.0);
        match self.sms[i].cycle(c, direct) {
            // Where no work-group has ended and their number is fixed, there is nothing to decide.
            Ok(CycleOutcome::Complete(0)) if c.groups.most.is_none() => {
                self.sms[i].end_cycle(c, limits.until);
            }
            Ok(CycleOutcome::Complete(ended)) => {
                self.ended += u64::from(ended);
                self.after_cycle(c, i, limits);
            }
            Ok(CycleOutcome::NeedsLowerLevels) => self.stop = Some((key, Stop::NeedsLowerLevels(i))),
            Err(fault) => self.stop = Some((key, Stop::Fault(fault))),
        }
        if self.sms[i].progress.asks && self.stop.is_none() {
            self.sms[i].progress.asks = false;
            self.stop = Some((key, Stop::Standstill));
        }
    }

    /// The end of a cycle, if it is known, and what follows.
    pub fn after_cycle(&mut self, c: &LaunchContext<'a, N>, i: usize, limits: Limits) {
        let key = self.key(i);
        let sm = &mut self.sms[i];
        let groups_left = limits.groups_left && !self.exhausted;
        if !sm.end_cycle(c, limits.until) {
            // Another work-group may follow at once.
            if groups_left && (c.groups.most.is_some() || sm.wants_group()) {
                self.stop = Some((key, Stop::OpenCycle(i)));
            }
            return;
        }
        self.between_cycles(c, i, key, groups_left);
    }

    /// Goes on with a cycle of which all that can be known is known, until when its SM does nothing else: it ends
    /// then, or, if there are work-groups for the SM and nobody knows yet, at once.
    pub fn settle_cycle(&mut self, c: &LaunchContext<'a, N>, i: usize, limits: Limits) {
        self.exhausted |= !limits.groups_left;
        let key = self.key(i);
        self.after_cycle(c, i, limits);
        if matches!(self.stop, Some((_, Stop::OpenCycle(_)))) {
            self.stop = None;
            self.sms[i].end_cycle_at_once(c);
            self.between_cycles(c, i, key, limits.groups_left);
        }
    }

    /// What follows a cycle: more work-groups, if there are any for the SM.
    fn between_cycles(&mut self, c: &LaunchContext<'a, N>, i: usize, key: Timestamp, groups_left: bool) {
        let sm = &mut self.sms[i];
        if let Some(most) = c.groups.most {
            let room = c.groups.fixed + 2 * c.groups.demand;
            let free = sm.registers.free;
            sm.registers.admission.adapt(sm.time, free, room, most);
        }
        if groups_left && sm.wants_group() {
            self.stop = Some((key, Stop::WantsGroup(i)));
        } else {
            self.done[i] = sm.resident_groups() == 0;
        }
    }

    /// Takes replies, and goes on with what waits for the answers to requests up to `until`, all of which have been given to it.
    pub fn receive_replies(&mut self, c: &LaunchContext<'a, N>, replies: &mut Vec<(Timestamp, Reply)>, until: Option<Timestamp>) {
        self.replies.extend(replies.drain(..));
        if c.chooses {
            // Some become known later than they are asked for.
            self.replies.make_contiguous().sort_by_key(|r| r.0);
        }
        let Some(until) = until else { return };
        let SmCluster { caches, sms, replies, arrivals, .. } = self;
        let first = sms.first().map_or(0, |s| s.number);
        {
            let caches = &mut *caches.borrow_mut();
            let known = replies.iter().take_while(|r| r.0 <= until).count();
            // What they change was last looked at long ago.
            for left in (1..=known).rev() {
                if let Some((_, reply)) = replies.get(2 * AHEAD).filter(|_| left > 2 * AHEAD) {
                    caches.deferred.prefetch_reply(reply);
                }
                if let Some((_, reply)) = replies.get(AHEAD).filter(|_| left > AHEAD) {
                    caches.prefetch_miss(reply);
                }
                if let Some((_, reply)) = replies.pop_front() {
                    caches.record_reply(reply);
                }
            }
            caches.resume_deferred(arrivals);
        }
        while let Some(arrival) = arrivals.pop_front() {
            for step in 0..PREFETCHES {
                if let Some(later) = arrivals.get(AHEAD * (PREFETCHES - step)) {
                    sms[sm_of(later) - first].prefetch_arrival(c, later, step);
                }
            }
            sms[sm_of(&arrival) - first].wake(c, arrival);
        }
        caches.borrow_mut().deferred.forget();
    }

    /// Since when all warps of the cluster wait for others; `None` if one of them does not.
    pub fn waiting_since(&self) -> Option<Waiting> {
        self.sms.iter().try_fold(Waiting::NONE, |all, sm| Some(all.and(sm.waiting_since()?)))
    }

    /// Lets the lower levels of the hierarchy answer at once.
    pub fn with_lower<R>(&mut self, lower: &mut Option<Box<LowerLevels>>, work: impl FnOnce(&mut Self) -> R) -> R {
        self.caches.borrow_mut().lower = lower.take();
        let result = work(self);
        *lower = self.caches.borrow_mut().lower.take();
        result
    }

    /// Makes work-groups resident that have been given to an SM behind a cycle, to which what this asks of the lower levels
    /// belongs.
    pub fn dispatch_given(&mut self, c: &LaunchContext<'a, N>, i: usize, given: Range<u64>, behind: u64) {
        let sm = &mut self.sms[i];
        sm.given_out_behind = Some(behind);
        self.exhausted |= given.end == c.groups.total;
        given.for_each(|number| sm.dispatch(c, number));
        sm.given_out_behind = None;
        self.done[i] = sm.resident_groups() == 0;
    }

    /// Makes work-groups from `next` on resident in an SM, as many as it takes, while the lower levels answer at once.
    ///
    /// # Errors
    /// The fault of a work-group that a sample skips.
    pub fn dispatch(&mut self, c: &LaunchContext<'a, N>, i: usize, next: &mut u64) -> Result<(), Box<Fault>> {
        let SmCluster { sms, caches, .. } = self;
        let sm = &mut sms[i];
        while *next < c.groups.total && sm.wants_group() {
            if let Some(sampler) = &c.sampler {
                let first = *next;
                *next = sampler.advance::<N>(c.run, (first, sm.time), caches.borrow_mut().lower.as_deref_mut())?;
                (c.run.progress)(*next - first);
            }
            sm.dispatch(c, *next);
            *next += 1;
        }
        self.exhausted |= *next >= c.groups.total;
        self.done[i] = sm.resident_groups() == 0;
        Ok(())
    }
}
