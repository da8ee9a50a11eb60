//! SMs side by side on several host threads, with the same result on any number of them.
//!
//! The unit is a *cluster* of SMs that share an L1.5. In a *round* each cluster is simulated on its own up to
//! the same cycle; what it asks of the levels that all share is only noted. Requests are served in the order
//! of (cycle, SM), as if the SMs had been simulated in turns, as soon as no cluster can make an earlier one,
//! and the clusters receive the answers before a later round. This is conservative parallel simulation with
//! lookahead (Chandy and Misra, 1979), the lookahead being the way to L2 and back.
//!
//! A round is half of the lookahead, so a cluster that begins a round needs the answers to requests of all
//! rounds but the last one, and receives these and no others: what it knows does not depend on how fast the
//! others are. A cluster that waits for no answer has nothing to hear, and goes on for a *stretch* of rounds more,
//! some at a time. So nobody waits for all to end a round: while one thread serves the requests of a round, which
//! it does as soon as all have come to its end and without the lock on what they share, or still simulates a cluster
//! in it, others are in the next.
//!
//! Where DRAM chooses among requests, replies become known later than their requests are served, but early
//! enough (see [`undecided`](super::super::hierarchy::undecided)).
//!
//! A cluster stops before the end of a round, and goes on when all others have come as far, where the order
//! of all SMs matters at once:
//! - a work-group has ended, and the next one of the launch is to be given out. Only which one it is depends on
//!   the others, so it is enough that they are behind that cycle, while they are simulated, and with requests
//!   that have not been served,
//! - cache control, whose answers decide how the instruction goes on; atomics and texture reads where DRAM
//!   chooses among requests, because they do not wait to be chosen,
//! - a fault, because only the first one in simulated time is reported,
//! - all warps of an SM wait for others: whether anyone makes progress is a question to all.

mod exclusive;
mod service;

use std::collections::VecDeque;
use std::iter::Peekable;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use super::super::HostWrite;
use super::super::fault::{Deadlock, Fault};
use super::super::hierarchy::deferred::{Request, Timestamp};
use super::super::hierarchy::lower_levels::LowerLevels;
use super::sm::{LaunchContext, Waiting};
use super::sm_cluster::{Clock, Limits, NEVER, SmCluster, Stop};
use exclusive::{Exclusive, wait};
use service::{Received, Service, apply_host_writes};

/// Rounds of a stretch, in which a cluster that waits for no answer is ahead of what it has heard of the others.
const STRETCH: u64 = 64;

/// Rounds of a stretch that a thread simulates before it looks at the other clusters: a cluster's state is then longer in a
/// core's caches.
const ROUNDS_AT_ONCE: u64 = 8;

/// How far a cluster has been simulated, and what it exchanges with the levels that all share.
struct ClusterProgress {
    /// The round that it is in, or that is its next one.
    round: u64,
    /// Nothing happens in it before this.
    bound: Timestamp,
    /// It needs the others to come as far.
    stopped: bool,
    /// All it needs then is to know which work-groups are the next.
    wants_group: bool,
    /// A thread simulates it.
    busy: bool,
    /// The rounds that it simulates without having heard of the others, if it does.
    stretch: Option<Stretch>,
    /// Its requests that nobody has taken to be served, and the replies that it has not been given.
    requests: VecDeque<(Timestamp, Request)>,
    received: Received,
    /// Room for the next requests and replies.
    spare: Spare,
}

/// Queues that are empty, with the room that they had.
#[derive(Default)]
struct Spare {
    requests: VecDeque<(Timestamp, Request)>,
    received: Received,
}

/// Rounds that a cluster simulates without hearing of the others, since it waits for no answer. Where they end does not depend
/// on how fast anyone is.
#[derive(Clone, Copy)]
struct Stretch {
    /// The round behind the last one.
    end: u64,
    /// There were work-groups to be given out when it heard last.
    groups_left: bool,
}

/// Where a cluster is when no thread simulates it.
struct Place {
    bound: Timestamp,
    stopped: bool,
    wants_group: bool,
    /// It waits for answers.
    waits: bool,
}

impl ClusterProgress {
    /// The cluster is somewhere else.
    fn put(&mut self, place: Place) {
        (self.bound, self.stopped, self.wants_group) = (place.bound, place.stopped, place.wants_group);
        let ends = |s: &Stretch| place.waits || self.round >= s.end || place.stopped && !place.wants_group;
        self.stretch = self.stretch.filter(|s| !ends(s));
    }
}

/// When the next work-groups are given out.
enum Next {
    /// Now, to a cluster.
    Now(usize),
    /// When all clusters that are being simulated are behind a cycle.
    Behind(u64),
}

/// What the threads share, and one at a time works on.
struct SharedState<'a, 'b> {
    positions: Vec<ClusterProgress>,
    /// Nothing while a thread serves requests.
    service: Option<Box<Service<'a, 'b>>>,
    next_group: u64,
    /// When the last work-group was given out.
    exhausted: Timestamp,
    /// All requests up to here have been served.
    served: Timestamp,
    /// How the launch ended.
    result: Option<Result<(), Box<Fault>>>,
}

/// What a cluster is to do next: receive the replies up to a time and the work-groups that it has been given, then go on.
struct Run {
    cluster: usize,
    /// The round that it is in.
    round: u64,
    received: Received,
    requests: VecDeque<(Timestamp, Request)>,
    heard: Option<Timestamp>,
    given: Option<GivenGroups>,
    stretch: Stretch,
}

/// Work-groups that an SM of a cluster is given behind a cycle.
struct GivenGroups {
    sm: usize,
    behind: u64,
    numbers: Range<u64>,
}

/// What a thread is to do next.
enum Task<'a, 'b> {
    /// Simulate a cluster.
    Run(Run),
    /// Serve requests up to a time.
    Serve(Box<Service<'a, 'b>>, Timestamp),
    /// Wait for the others: until something changes, or all that are being simulated are behind a cycle.
    Wait(Option<u64>),
    /// The launch has ended.
    End,
}

/// A launch on several threads.
struct Rounds<'s, 'a, const N: usize, const W: usize> {
    clusters: &'s [Exclusive<SmCluster<'a, N, W>>],
    context: &'s LaunchContext<'a, N>,
    /// Cycles of a round.
    length: u64,
    /// Cycles from a request in which no answer to it comes, nor any that is not known by then.
    lookahead: u64,
    threads: usize,
    /// Rounds of a stretch.
    stretch: u64,
    /// How far the clusters have come that are being simulated; the others are at the end of time.
    clocks: Vec<Arc<Clock>>,
    /// Work-groups can be given out while requests of earlier cycles have not been served.
    gives_out_early: bool,
    /// Changes with what is shared.
    version: AtomicU64,
}

/// Lets the other threads end when one cannot go on.
struct EndOnPanic<'c, 'a, 'b>(&'c Exclusive<SharedState<'a, 'b>>, &'c AtomicU64);

impl Drop for EndOnPanic<'_, '_, '_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.lock().result.get_or_insert(Ok(()));
            self.1.fetch_add(1, Ordering::Release);
        }
    }
}

/// Clusters as a launch leaves them.
pub(super) struct Finished<'a, const N: usize, const W: usize> {
    pub clusters: Vec<SmCluster<'a, N, W>>,
    /// The host has interrupted the launch, and wants to know what has been counted.
    pub interrupted: bool,
}

/// Simulates clusters until all work-groups have ended.
///
/// # Errors
/// The first fault in simulated time.
pub(super) fn run<'a, const N: usize, const W: usize>(
    mut clusters: Vec<SmCluster<'a, N, W>>,
    lower: &mut Option<Box<LowerLevels>>,
    c: &LaunchContext<'a, N>,
) -> Result<Finished<'a, N, W>, Box<Fault>> {
    // An interruption of which nobody wants to know how far it came is a fault like others.
    let interrupted = |result: Result<(), Box<Fault>>| match result {
        Err(fault) if c.run.options.keeps(&fault) => Ok(true),
        result => result.map(|()| false),
    };
    // From a request to its answer, less what the lines of one access take to be looked up.
    let m = &c.run.machine.memory;
    let way = 2 * u64::from(m.network.latency) + u64::from(m.l2.latency);
    let lines = (N * c.lines_per_lane) as u64;
    let mut length = way.saturating_sub(lines) / 2;
    let mut lookahead = 2 * length;
    let mut wanted = if c.run.options.threads == 0 { heddle_threads::host_threads() } else { c.run.options.threads };
    if c.chooses {
        // Replies come late anyway: instead of turns there are the shortest rounds.
        let latencies = [m.data.latency, m.uniform.latency, m.constant.latency, m.instruction.latency];
        let look_up = lines + u64::from(latencies.into_iter().max().unwrap_or(0)) + u64::from(m.l15.latency) + 1;
        length = length.min((way + u64::from(m.dram.row_hit)).saturating_sub(look_up) / 2).max(1);
        lookahead = 2 * length;
        (length, wanted) = if c.run.options.in_turns { (1, 1) } else { (length, wanted) };
    }
    let next_group = first_groups(&mut clusters, lower, c);
    let host = c.run.options.host_writes.iter().peekable();
    // Where nothing can be known ahead, all is done in turns.
    if c.run.options.in_turns && !c.chooses || length == 0 {
        let interrupted = interrupted(in_turns(&mut clusters, lower, c, next_group, host))?;
        return Ok(Finished { clusters, interrupted });
    }
    let clocks: Vec<Arc<Clock>> = clusters.iter().map(|k| k.clock.clone()).collect();
    clocks.iter().for_each(|clock| clock.set(u64::MAX));
    let clusters: Vec<_> = clusters.into_iter().map(|c| Exclusive(Mutex::new(c))).collect();
    let position = |cluster: &Exclusive<SmCluster<N, W>>| ClusterProgress {
        round: 0,
        bound: cluster.lock().bound(0),
        stopped: false,
        wants_group: false,
        busy: false,
        stretch: None,
        requests: VecDeque::new(),
        received: Received::default(),
        spare: Spare::default(),
    };
    let count = clusters.len();
    let requests = (0..count).map(|_| VecDeque::new()).collect();
    let received = (0..count).map(|_| Received::default()).collect();
    let central = Exclusive(Mutex::new(SharedState {
        positions: clusters.iter().map(position).collect(),
        service: Some(Box::new(Service { lower, host, requests, received, last: (0, 0) })),
        next_group,
        exhausted: if next_group < c.groups.total { NEVER } else { (0, 0) },
        served: (0, 0),
        result: None,
    }));
    let threads = wanted.clamp(1, clusters.len().max(1));
    let stretch = if c.chooses { 1 } else { STRETCH };
    // A sample warms the levels that all share, and DRAM must not choose in between.
    let gives_out_early = c.sampler.is_none() && !c.chooses;
    let (clusters_of, version) = (&clusters, AtomicU64::new(0));
    let rounds =
        Rounds { clusters: clusters_of, context: c, length, lookahead, threads, stretch, clocks, gives_out_early, version };
    std::thread::scope(|scope| {
        for thread in 1..threads {
            let (rounds, central) = (&rounds, &central);
            // Where the host makes no more threads, those that there are do all.
            if std::thread::Builder::new().spawn_scoped(scope, move || rounds.work(central, thread)).is_err() {
                break;
            }
        }
        rounds.work(&central, 0);
    });
    let result = central.lock().result.take();
    let interrupted = interrupted(result.unwrap_or(Ok(())))?;
    let clusters = clusters.into_iter().map(|c| c.0.into_inner().unwrap_or_else(|e| e.into_inner())).collect();
    Ok(Finished { clusters, interrupted })
}

/// Groups are dealt out in order, one an SM at a time, as hardware dispatchers do. Returns the next one's number.
fn first_groups<'a, const N: usize, const W: usize>(
    clusters: &mut [SmCluster<'a, N, W>],
    lower: &mut Option<Box<LowerLevels>>,
    c: &LaunchContext<'a, N>,
) -> u64 {
    let mut next = 0;
    for _ in 0..c.groups.resident {
        for cluster in &mut *clusters {
            cluster.with_lower(lower, |cluster| {
                for sm in &mut cluster.sms {
                    if next < c.groups.total {
                        sm.dispatch(c, next);
                        next += 1;
                    }
                }
            });
        }
    }
    for cluster in clusters {
        cluster.done = cluster.sms.iter().map(|s| s.resident_groups() == 0).collect();
    }
    next
}

/// Simulates SMs in turns, cycle by cycle, with the levels lower answering at once.
fn in_turns<'a, const N: usize, const W: usize>(
    clusters: &mut [SmCluster<'a, N, W>],
    lower: &mut Option<Box<LowerLevels>>,
    c: &LaunchContext<'a, N>,
    mut next_group: u64,
    mut host: Peekable<std::slice::Iter<HostWrite>>,
) -> Result<(), Box<Fault>> {
    loop {
        if let Some(fault) = c.run.options.interrupted(c.run.launch) {
            return Err(fault);
        }
        let bounds = clusters.iter().map(|k| k.bound(u64::MAX)).enumerate();
        let Some((first, now)) = bounds.min_by_key(|b| b.1).filter(|b| b.1 != NEVER) else { break };
        let cluster = &mut clusters[first];
        match cluster.stop.take() {
            Some((_, Stop::Fault(fault))) => return Err(fault),
            Some((_, Stop::WantsGroup(i))) => cluster.with_lower(lower, |k| k.dispatch(c, i, &mut next_group))?,
            Some((_, Stop::Standstill)) if host.peek().is_none() => {
                if let Some(fault) = deadlock(&mut *clusters, c, next_group) {
                    return Err(fault);
                }
            }
            Some((_, Stop::NeedsLowerLevels(_) | Stop::OpenCycle(_) | Stop::Standstill)) => {}
            None => {
                apply_host_writes(&mut host, c, now.0);
                let Some(i) = (0..cluster.sms.len()).find(|i| !cluster.done[*i] && cluster.key(*i) == now) else { break };
                cluster.with_lower(lower, |k| {
                    k.cycle(c, i, true, Limits { until: u64::MAX, groups_left: next_group < c.groups.total })
                });
            }
        }
        report_ended(&mut clusters[first], c);
    }
    apply_host_writes(&mut host, c, clusters.iter().map(|k| k.last).max().unwrap_or(0));
    Ok(())
}

/// The fault of a launch all of whose warps wait for each other, if they do.
///
/// Each of them must have gone through its loop once more since the last one came to wait, long enough behind that for the
/// last write to have reached it.
fn deadlock<'x, 'a: 'x, const N: usize, const W: usize>(
    clusters: impl IntoIterator<Item = &'x mut SmCluster<'a, N, W>>,
    c: &LaunchContext<'a, N>,
    next_group: u64,
) -> Option<Box<Fault>> {
    let mut clusters: Vec<_> = clusters.into_iter().collect();
    let all = clusters.iter().try_fold(Waiting::NONE, |all, k| Some(all.and(k.waiting_since()?)))?;
    let way = 4 * u64::from(c.run.machine.memory.far_latency()) + WAY;
    if all.found_from < all.since + way {
        return None;
    }
    let sms = || clusters.iter().flat_map(|k| &k.sms);
    let resident = sms().map(|s| u64::from(s.resident_groups())).sum();
    let not_begun = c.groups.total.saturating_sub(next_group);
    let warps = clusters.iter_mut().flat_map(|k| &mut k.sms).flat_map(|s| s.waiting_warps(c)).collect();
    let deadlock = Deadlock { warps, resident, not_begun, one_by_one: false, independent: c.run.machine.sm.independent_threads };
    Some(Box::new(Fault::deadlock(c.run.launch, deadlock)))
}

/// Cycles that a write may take to reach all others, beside the latencies.
const WAY: u64 = 2000;

/// Reports a cluster's work-groups that have ended as the launch's progress.
fn report_ended<'a, const N: usize, const W: usize>(cluster: &mut SmCluster<'a, N, W>, c: &LaunchContext<'a, N>) {
    let ended = std::mem::take(&mut cluster.ended);
    if ended > 0 {
        (c.run.progress)(ended);
    }
}

impl<'a, const N: usize, const W: usize> Rounds<'_, 'a, N, W> {
    /// Cycle in which a round begins.
    fn begin(&self, round: u64) -> u64 {
        round * self.length
    }

    /// The last key before a round, if anything is before it.
    fn before(&self, round: u64) -> Option<Timestamp> {
        Some((self.begin(round).checked_sub(1)?, u32::MAX))
    }

    /// What a thread does.
    fn work(&self, central: &Exclusive<SharedState<'a, '_>>, thread: usize) {
        let _ends = EndOnPanic(central, &self.version);
        loop {
            let mut shared = central.lock();
            let next = self.next(&mut shared, thread);
            let version = self.version.load(Ordering::Relaxed);
            drop(shared);
            match next {
                Task::End => return,
                Task::Wait(behind) => wait(|| {
                    let all_behind = |cycle| self.clocks.iter().all(|clock| clock.now() > cycle);
                    self.version.load(Ordering::Acquire) != version || behind.is_some_and(all_behind)
                }),
                Task::Run(run) => {
                    let k = run.cluster;
                    let (place, round, mut spare) = self.run(run);
                    let mut shared = central.lock();
                    let position = &mut shared.positions[k];
                    position.busy = false;
                    self.clocks[k].set(u64::MAX);
                    position.round = round;
                    position.put(place);
                    if position.requests.is_empty() {
                        std::mem::swap(&mut position.requests, &mut spare.requests);
                    } else {
                        position.requests.append(&mut spare.requests);
                    }
                    position.spare = spare;
                    self.changed();
                }
                Task::Serve(mut service, until) => {
                    service.serve(self.context, until);
                    let shared = &mut *central.lock();
                    service.hand_out(&mut shared.positions);
                    shared.served = shared.served.max(until);
                    shared.service = Some(service);
                    self.changed();
                }
            }
        }
    }

    /// Simulates a cluster for some rounds. Returns where it is then, the round that it is in, and what it asks of the levels
    /// that all share, with room for the next replies.
    fn run(&self, run: Run) -> (Place, u64, Spare) {
        let Run { cluster, mut round, mut received, requests, heard, given, stretch: Stretch { end, groups_left } } = run;
        let cluster = &mut *self.clusters[cluster].lock();
        received.give(cluster, self.context, heard);
        if let Some(GivenGroups { sm, behind, numbers }) = given {
            cluster.dispatch_given(self.context, sm, numbers, behind);
        }
        let end = end.min(round + ROUNDS_AT_ONCE);
        let until = loop {
            let until = self.begin(round + 1);
            cluster.run(self.context, Limits { until, groups_left });
            if cluster.stop.is_some() {
                break until;
            }
            round += 1;
            // Who waits for no answer has nothing to hear between rounds.
            if round >= end || cluster.caches.borrow().deferred.waits_for_answers() {
                break until;
            }
        };
        let requests = std::mem::replace(&mut cluster.caches.borrow_mut().deferred.requests, requests);
        report_ended(cluster, self.context);
        (self.place(cluster, until), round, Spare { requests, received })
    }

    /// What is shared has changed: who waits looks again.
    fn changed(&self) {
        self.version.fetch_add(1, Ordering::Release);
    }

    /// Does what only one thread at a time may do, until there is a cluster to be simulated.
    fn next<'b>(&self, shared: &mut SharedState<'a, 'b>, thread: usize) -> Task<'a, 'b> {
        loop {
            if shared.result.is_some() {
                return Task::End;
            }
            if let Some(fault) = self.context.run.options.interrupted(self.context.run.launch) {
                shared.result = Some(Err(fault));
                self.changed();
                continue;
            }
            let behind = match self.next_to_get_groups(shared) {
                Some(Next::Now(k)) => {
                    // Who has others of its own to simulate leaves it to the thread in whose core's caches it is.
                    if self.owner(k) != thread
                        && let Some(own) = self.choose(shared, |other| self.owner(other) == thread)
                    {
                        return own;
                    }
                    let given = self.give_out(shared, k);
                    self.changed();
                    match given {
                        Some(run) => return Task::Run(run),
                        None => continue,
                    }
                }
                Some(Next::Behind(cycle)) => Some(cycle),
                None => None,
            };
            let bounds = shared.positions.iter().map(|p| p.bound).enumerate();
            let (first, now) = bounds.min_by_key(|b| b.1).unwrap_or((0, NEVER));
            if shared.service.is_none() {
                return self.choose_any(shared, thread).unwrap_or(Task::Wait(behind));
            }
            if now == NEVER {
                self.serve(shared, now);
                let mut last = 0;
                for (cluster, position) in self.clusters.iter().zip(&mut shared.positions) {
                    let mut cluster = cluster.lock();
                    position.received.give(&mut cluster, self.context, Some(now));
                    last = last.max(cluster.last);
                }
                if let Some(service) = &mut shared.service {
                    apply_host_writes(&mut service.host, self.context, last);
                }
                shared.result = Some(Ok(()));
                self.changed();
                continue;
            }
            if shared.positions[first].stopped {
                self.serve(shared, now);
                if let Err(fault) = self.resume(shared, first, now) {
                    shared.result = Some(Err(fault));
                }
                self.changed();
                continue;
            }
            // Those of a round that all have simulated are served beside the next one, by the thread in whose core's caches
            // the levels that all share are.
            let whole_round = thread == 0 && shared.served < (self.begin(now.0 / self.length), 0);
            if !whole_round && let Some(next) = self.choose_any(shared, thread) {
                return next;
            }
            if now <= shared.served {
                return Task::Wait(behind);
            }
            if let Some(mut service) = shared.service.take() {
                service.collect(&mut shared.positions);
                // Who waits may go on with what has been served.
                return Task::Serve(service, now);
            }
        }
    }

    /// The thread that simulates a cluster as long as it has not less to do than others.
    fn owner(&self, cluster: usize) -> usize {
        cluster * self.threads / self.clusters.len()
    }

    /// A cluster that can go on: one of the thread's own, whose state is then in its core's caches, or else
    /// the one that is furthest behind.
    fn choose_any<'b>(&self, shared: &mut SharedState<'a, 'b>, thread: usize) -> Option<Task<'a, 'b>> {
        self.choose(shared, |k| self.owner(k) == thread).or_else(|| self.choose(shared, |_| true))
    }

    /// Of some clusters that can go on the one that is furthest behind.
    fn choose<'b>(&self, shared: &mut SharedState<'a, 'b>, of: impl Fn(usize) -> bool) -> Option<Task<'a, 'b>> {
        let served = shared.served;
        let knows = |p: &ClusterProgress| p.stretch.is_some() || served >= (self.begin(p.round.max(1) - 1), 0);
        let ready = |p: &ClusterProgress| !p.busy && !p.stopped && p.bound != NEVER && knows(p);
        let all = shared.positions.iter().enumerate().filter(|(k, p)| of(*k) && ready(p));
        let (k, _) = all.min_by_key(|(_, p)| p.round)?;
        Some(Task::Run(self.begin_run(shared, k, None)))
    }

    /// A thread is to simulate a cluster, which has been given work-groups if it waited for some.
    fn begin_run(&self, shared: &mut SharedState<'a, '_>, k: usize, given: Option<GivenGroups>) -> Run {
        let groups_left = shared.next_group < self.context.groups.total;
        let position = &mut shared.positions[k];
        position.busy = true;
        self.clocks[k].set(position.bound.0);
        let (round, last) = (position.round, position.round.max(1) - 1);
        let heard = if position.stretch.is_some() { None } else { self.before(last) };
        // Whether or not the last one has been given out since.
        let left_then = shared.exhausted >= (self.begin(last), 0);
        let stretch = position.stretch.get_or_insert(Stretch { end: round + self.stretch, groups_left: left_then });
        if given.is_some() {
            stretch.groups_left = groups_left;
        }
        let stretch = *stretch;
        let Spare { requests, received: spare } = std::mem::take(&mut position.spare);
        let received = std::mem::replace(&mut position.received, spare);
        Run { cluster: k, round, received, requests, heard, given, stretch }
    }

    /// Serves the requests of all clusters up to a time, where no other thread does.
    fn serve(&self, shared: &mut SharedState<'a, '_>, until: Timestamp) {
        shared.served = shared.served.max(until);
        if let Some(service) = &mut shared.service {
            service.collect(&mut shared.positions);
            service.serve(self.context, until);
            service.hand_out(&mut shared.positions);
        }
    }

    /// Lets a cluster go on that stopped, when all others have come as far.
    fn resume(&self, shared: &mut SharedState<'a, '_>, k: usize, now: Timestamp) -> Result<(), Box<Fault>> {
        let Some(service) = &mut shared.service else { return Ok(()) };
        let cluster = &mut *self.clusters[k].lock();
        let position = &mut shared.positions[k];
        position.received.give(cluster, self.context, Some(now));
        let groups_left = shared.next_group < self.context.groups.total;
        let until = self.begin(position.round + 1);
        let limits = Limits { until, groups_left };
        match cluster.stop.take() {
            None => {}
            Some((_, Stop::Fault(fault))) => return Err(fault),
            Some((_, Stop::Standstill)) if service.host.peek().is_none() => {
                let mut others: Vec<_> =
                    self.clusters.iter().enumerate().filter(|(j, _)| *j != k).map(|(_, other)| other.lock()).collect();
                let all = others.iter_mut().map(|other| &mut **other).chain([&mut *cluster]);
                if let Some(fault) = deadlock(all, self.context, shared.next_group) {
                    return Err(fault);
                }
            }
            Some((_, Stop::Standstill)) => {}
            Some((_, Stop::OpenCycle(i))) if self.context.chooses => {
                let until = until.max(now.0 + self.lookahead);
                cluster.settle_cycle(self.context, i, Limits { until, groups_left });
            }
            Some((_, Stop::OpenCycle(i))) => cluster.after_cycle(self.context, i, limits),
            Some((_, Stop::NeedsLowerLevels(i))) => {
                apply_host_writes(&mut service.host, self.context, now.0);
                cluster.with_lower(service.lower, |k| k.cycle(self.context, i, true, limits));
            }
            Some((_, Stop::WantsGroup(i))) => {
                cluster.with_lower(service.lower, |k| k.dispatch(self.context, i, &mut shared.next_group))?;
                if groups_left && shared.next_group == self.context.groups.total {
                    shared.exhausted = now;
                }
            }
        }
        report_ended(cluster, self.context);
        // Where it stopped before it looked at all of its open cycles, no more is known of the others than at the round's begin.
        position.put(self.place(cluster, self.begin(position.round)));
        Ok(())
    }

    /// Where a cluster is that has come as far as it can in a round which ends at a cycle.
    fn place(&self, cluster: &SmCluster<'a, N, W>, until: u64) -> Place {
        let wants_group = self.gives_out_early && matches!(cluster.stop, Some((_, Stop::WantsGroup(_))));
        let waits = cluster.caches.borrow().deferred.waits_for_answers();
        Place { bound: cluster.bound(until), stopped: cluster.stop.is_some(), wants_group, waits }
    }

    /// The cluster that gets the next work-groups, if all others are behind the cycle in which it stopped for them. Those that
    /// threads simulate are as far as they say, whatever they will have asked for.
    fn next_to_get_groups(&self, shared: &SharedState<'a, '_>) -> Option<Next> {
        let positions = || shared.positions.iter().enumerate();
        let (k, key) = positions().filter(|p| p.1.wants_group).map(|(k, p)| (k, p.bound)).min_by_key(|p| p.1)?;
        let reached = |j: usize, p: &ClusterProgress| if p.busy { p.bound.max((self.clocks[j].now(), 0)) } else { p.bound };
        let mut others = positions().filter(|(j, p)| *j != k && reached(*j, p) <= key).peekable();
        if others.peek().is_none() {
            return Some(Next::Now(k));
        }
        others.all(|(_, p)| p.busy).then_some(Next::Behind(key.0))
    }

    /// Gives a cluster the work-groups that it stopped for, with which it goes on. What that asks of the levels that all share is
    /// served later, in its place.
    fn give_out(&self, shared: &mut SharedState<'a, '_>, k: usize) -> Option<Run> {
        let cluster = &mut *self.clusters[k].lock();
        let position = &mut shared.positions[k];
        (position.stopped, position.wants_group) = (false, false);
        let Some((key, Stop::WantsGroup(sm))) = cluster.stop.take() else { return None };
        let left = self.context.groups.total - shared.next_group;
        let first = shared.next_group;
        shared.next_group += cluster.sms[sm].groups_wanted(self.context).min(left);
        if left > 0 && shared.next_group == self.context.groups.total {
            shared.exhausted = key;
        }
        let given = GivenGroups { sm, behind: key.0, numbers: first..shared.next_group };
        Some(self.begin_run(shared, k, Some(given)))
    }
}
