//! SMs that share an L1.5, simulated in turns up to where they need others.

use std::cell::RefCell;
use std::collections::VecDeque;

use super::super::fault::Fault;
use super::super::hierarchy::cluster_caches::ClusterCaches;
use super::super::hierarchy::deferred::{Reply, Timestamp};
use super::super::hierarchy::lower_levels::LowerLevels;
use super::sm::{Common, Progress, Sm, sm_of};

/// After everything.
pub(super) const NEVER: Timestamp = (u64::MAX, u32::MAX);

/// Why a cluster stopped before the end of a round. The SM is its number in the cluster.
pub(super) enum Stop {
    /// Work-groups may be given to an SM.
    Groups(usize),
    /// An SM's cycle needs the levels below to answer at once.
    Direct(usize),
    /// What follows an SM's cycle depends on when it ends.
    Open(usize),
    /// An instruction failed.
    Fault(Box<Fault>),
}

/// SMs that share an L1.5.
pub(super) struct Cluster<'a, const N: usize, const W: usize> {
    pub sms: Vec<Sm<'a, N, W>>,
    pub near: &'a RefCell<ClusterCaches>,
    /// Which SMs have no work left.
    pub done: Vec<bool>,
    /// Why it does not go on, and since when.
    pub stop: Option<(Timestamp, Stop)>,
    /// Replies that it has not heard, with when the requests were made.
    replies: VecDeque<(Timestamp, Reply)>,
    /// Work-groups ended since it was last asked.
    pub ended: u64,
    /// The last cycle in which an SM did something.
    pub last: u64,
}

/// What decides about work-groups.
pub(super) struct Plan {
    /// Work-groups of the launch.
    pub total: u64,
    /// Work-groups of an SM at launch.
    pub resident: u32,
    /// Where registers are renamed: work-groups of an SM at most.
    pub most: Option<u32>,
}

impl<'a, const N: usize, const W: usize> Cluster<'a, N, W> {
    /// SMs with what is near them.
    pub fn new(near: &'a RefCell<ClusterCaches>, numbers: std::ops::Range<usize>, common: &Common<'a, N>, resident: u32) -> Self {
        let sms: Vec<Sm<N, W>> = numbers.map(|n| Sm::new(n, near, common, resident)).collect();
        Cluster { near, done: vec![false; sms.len()], sms, stop: None, replies: VecDeque::new(), ended: 0, last: 0 }
    }

    /// The next cycle of an SM, as requests made in it are ordered.
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

    /// Simulates the cluster's SMs in turns up to a cycle, or until one must stop. `groups_left`: there are work-groups to be given out.
    pub fn run(&mut self, c: &Common<'a, N>, plan: &Plan, until: u64, groups_left: bool) {
        for i in 0..self.sms.len() {
            if self.stop.is_none() && !self.done[i] && self.sms[i].is_open() {
                self.after_cycle(c, plan, i, until, groups_left);
            }
        }
        while self.stop.is_none() {
            // Of those of the earliest cycle the first: they stand in the order of their numbers.
            let (mut next, mut earliest) = (None, until);
            for (i, sm) in self.sms.iter().enumerate() {
                if sm.time < earliest && !self.done[i] && !sm.is_open() {
                    (next, earliest) = (Some(i), sm.time);
                }
            }
            let Some(i) = next else { return };
            self.cycle(c, plan, i, false, until, groups_left);
        }
    }

    /// One cycle of an SM.
    pub fn cycle(&mut self, c: &Common<'a, N>, plan: &Plan, i: usize, direct: bool, until: u64, groups_left: bool) {
        let key = self.key(i);
        self.last = self.last.max(key.0);
        match self.sms[i].cycle(c, direct) {
            // Where no work-group has ended and their number is fixed, there is nothing to decide.
            Ok(Progress::Done(0)) if plan.most.is_none() => {
                self.sms[i].close(c, until);
            }
            Ok(Progress::Done(ended)) => {
                self.ended += u64::from(ended);
                self.after_cycle(c, plan, i, until, groups_left);
            }
            Ok(Progress::NeedsDirect) => self.stop = Some((key, Stop::Direct(i))),
            Err(fault) => self.stop = Some((key, Stop::Fault(fault))),
        }
    }

    /// The end of a cycle, if it is known, and what follows.
    pub fn after_cycle(&mut self, c: &Common<'a, N>, plan: &Plan, i: usize, until: u64, groups_left: bool) {
        let key = self.key(i);
        let sm = &mut self.sms[i];
        let wants = |sm: &Sm<'a, N, W>| groups_left && sm.admission.target() > sm.resident_groups();
        if !sm.close(c, until) {
            // Another work-group may follow at once.
            if groups_left && (plan.most.is_some() || wants(sm)) {
                self.stop = Some((key, Stop::Open(i)));
            }
            return;
        }
        if let Some(most) = plan.most {
            let room = c.group_fixed + 2 * c.group_demand;
            sm.admission.adapt(sm.time, sm.free, room, most);
        }
        if wants(sm) {
            self.stop = Some((key, Stop::Groups(i)));
        } else {
            self.done[i] = sm.resident_groups() == 0;
        }
    }

    /// Takes replies, and hears the answers to requests up to `until`, all of which it has been given.
    pub fn hear(&mut self, c: &Common<'a, N>, replies: Vec<(Timestamp, Reply)>, until: Option<Timestamp>) {
        self.replies.extend(replies);
        let Some(until) = until else { return };
        let Cluster { near, sms, .. } = self;
        let first = sms.first().map_or(0, |s| s.number);
        let mut arrivals = Vec::new();
        {
            let near = &mut *near.borrow_mut();
            let known = self.replies.iter().take_while(|r| r.0 <= until).count();
            self.replies.drain(..known).for_each(|(_, reply)| near.deferred.record_reply(reply));
            near.resume_deferred(&mut |a| arrivals.push(a));
        }
        for arrival in arrivals {
            sms[sm_of(&arrival) - first].arrived(c, arrival);
        }
    }

    /// Lets the levels below answer at once.
    pub fn with_below<R>(&mut self, below: &mut Option<Box<LowerLevels>>, work: impl FnOnce(&mut Self) -> R) -> R {
        self.near.borrow_mut().lower = below.take();
        let result = work(self);
        *below = self.near.borrow_mut().lower.take();
        result
    }

    /// Makes work-groups from `next` on resident in an SM, as many as it takes, where the levels below answer at once.
    pub fn dispatch(&mut self, c: &Common<'a, N>, plan: &Plan, i: usize, next: &mut u64) {
        let sm = &mut self.sms[i];
        while *next < plan.total && sm.admission.target() > sm.resident_groups() {
            sm.dispatch(c, *next);
            *next += 1;
        }
        self.done[i] = sm.resident_groups() == 0;
    }
}
