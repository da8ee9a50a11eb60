//! SMs side by side on several host threads, with the same result on any number of them.
//!
//! The unit is a *cluster* of SMs that share an L1.5. In a *round* each cluster is simulated on its own up to the same cycle; what it asks of the levels that
//! all share is only noted. Between rounds one thread serves the requests of all clusters in the order of (cycle, SM), as if the SMs had been simulated in
//! turns, and the clusters hear the answers. A round is so short that no answer could have arrived within it, so each SM does exactly what it
//! would have done: this is conservative parallel simulation with lookahead (Chandy and Misra, 1979), the lookahead being the way to L2 and back.
//!
//! A cluster stops before the end of the round, and is served between rounds when all others have come as far, where the order of all SMs matters at once:
//! - a work-group has ended, and the next one of the launch is to be given out,
//! - atomics, cache control and texture reads, whose answers decide how the instruction goes on,
//! - a load for which it is not known whether a miss register is free,
//! - a fault, because only the first one in simulated time is reported.

use std::cell::RefCell;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard};

use super::super::HostWrite;
use super::super::fault::Fault;
use super::super::hierarchy::below::Below;
use super::super::hierarchy::deferred::Key;
use super::super::hierarchy::near::Near;
use super::sm::{Common, Progress, Sm, sm_of};

/// After everything.
const NEVER: Key = (u64::MAX, u32::MAX);

/// Why a cluster stopped before the end of a round. The SM is its number in the cluster.
enum Stop {
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
    near: &'a RefCell<Near>,
    /// Which SMs have no work left.
    done: Vec<bool>,
    stop: Option<(Key, Stop)>,
    /// Requests up to here have been served; the answers are heard when the cluster goes on.
    served: Option<Key>,
    /// Work-groups ended since it was last asked.
    ended: u64,
    /// The last cycle in which an SM did something.
    last: u64,
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
    pub fn new(near: &'a RefCell<Near>, numbers: std::ops::Range<usize>, common: &Common<'a, N>, resident: u32) -> Self {
        let sms: Vec<Sm<N, W>> = numbers.map(|n| Sm::new(n, near, common, resident)).collect();
        Cluster { near, done: vec![false; sms.len()], sms, stop: None, served: None, ended: 0, last: 0 }
    }

    fn key(&self, sm: usize) -> Key {
        (self.sms[sm].time, self.sms[sm].number as u32)
    }

    /// Nothing happens in the cluster before this; all that is known is that SMs whose cycle is open do not go on before `until`.
    fn bound(&self, until: u64) -> Key {
        if let Some((key, _)) = &self.stop {
            return *key;
        }
        let of = |i: usize| if self.sms[i].is_open() { (until, 0) } else { self.key(i) };
        (0..self.sms.len()).filter(|i| !self.done[*i]).map(of).min().unwrap_or(NEVER)
    }

    /// Simulates the cluster's SMs in turns up to a cycle, or until one must stop. `groups_left`: there are work-groups to be given out.
    fn run(&mut self, c: &Common<'a, N>, plan: &Plan, until: u64, groups_left: bool) {
        self.hear(c);
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
    fn cycle(&mut self, c: &Common<'a, N>, plan: &Plan, i: usize, direct: bool, until: u64, groups_left: bool) {
        let key = self.key(i);
        self.last = self.last.max(key.0);
        match self.sms[i].cycle(c, direct) {
            Ok(Progress::Done(ended)) => {
                self.ended += u64::from(ended);
                self.after_cycle(c, plan, i, until, groups_left);
            }
            Ok(Progress::NeedsDirect) => self.stop = Some((key, Stop::Direct(i))),
            Err(fault) => self.stop = Some((key, Stop::Fault(fault))),
        }
    }

    /// The end of a cycle, if it is known, and what follows.
    fn after_cycle(&mut self, c: &Common<'a, N>, plan: &Plan, i: usize, until: u64, groups_left: bool) {
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

    /// Hears the answers to requests that have been served.
    fn hear(&mut self, c: &Common<'a, N>) {
        let Some(until) = self.served.take() else { return };
        let Cluster { near, sms, .. } = self;
        let first = sms.first().map_or(0, |s| s.number);
        let mut arrivals = Vec::new();
        near.borrow_mut().answer(until, &mut |a| arrivals.push(a));
        for arrival in arrivals {
            sms[sm_of(&arrival) - first].arrived(c, arrival);
        }
    }
}

/// A cluster that one thread at a time has.
struct Exclusive<T>(Mutex<T>);

// SAFETY: a cluster's SMs hold pointers into their own work-groups' memory, and references to the `RefCell` of what is near them. Both are used
// only through the cluster, by the thread that holds the lock.
unsafe impl<T> Sync for Exclusive<T> {}
// SAFETY: as above.
unsafe impl<T> Send for Exclusive<T> {}

impl<T> Exclusive<T> {
    fn lock(&self) -> MutexGuard<'_, T> {
        self.0.lock().unwrap_or_else(|e| e.into_inner())
    }
}

/// What the threads of a round share.
struct Round {
    /// Number of the round.
    number: AtomicU64,
    until: AtomicU64,
    groups_left: AtomicBool,
    /// Of each cluster, the last round that a thread has taken it in.
    taken: Vec<AtomicU64>,
    /// Clusters that have been simulated. Threads that come late are not waited for: the others do their part.
    finished: AtomicUsize,
    stop: AtomicBool,
    /// A thread has panicked.
    broken: AtomicBool,
}

/// Waits for something that nearly always happens soon; lets other threads run if it does not.
fn wait(ready: impl Fn() -> bool) {
    let mut turns = 0u32;
    while !ready() {
        turns += 1;
        if turns < 4096 {
            std::hint::spin_loop();
        } else {
            std::thread::yield_now();
        }
    }
}

/// Ends the threads of a round, also when one of them cannot go on.
struct Ends<'r>(&'r Round);

impl Drop for Ends<'_> {
    fn drop(&mut self) {
        self.0.stop.store(true, Ordering::Relaxed);
        self.0.number.fetch_add(1, Ordering::Release);
    }
}

/// Notes that a cluster has been simulated, also when it could not be.
struct Finishes<'r>(&'r Round);

impl Drop for Finishes<'_> {
    fn drop(&mut self) {
        self.0.broken.fetch_or(std::thread::panicking(), Ordering::Relaxed);
        self.0.finished.fetch_add(1, Ordering::Release);
    }
}

/// Simulates clusters until all work-groups have ended.
///
/// # Errors
/// The first fault in simulated time.
pub(super) fn run<'a, const N: usize, const W: usize>(
    clusters: Vec<Cluster<'a, N, W>>,
    below: &mut Option<Box<Below>>,
    c: &Common<'a, N>,
    plan: &Plan,
    progress: &(dyn Fn(u64) + Sync),
) -> Result<Vec<Cluster<'a, N, W>>, Box<Fault>> {
    let clusters: Vec<Exclusive<Cluster<N, W>>> = clusters.into_iter().map(|c| Exclusive(Mutex::new(c))).collect();
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let wanted = if c.options.threads == 0 { cores } else { c.options.threads };
    let threads = if c.options.in_turns { 1 } else { wanted.clamp(1, clusters.len().max(1)) };
    let round = Round {
        number: AtomicU64::new(0),
        until: AtomicU64::new(0),
        groups_left: AtomicBool::new(false),
        taken: clusters.iter().map(|_| AtomicU64::new(0)).collect(),
        finished: AtomicUsize::new(0),
        stop: AtomicBool::new(false),
        broken: AtomicBool::new(false),
    };
    // Each thread begins with clusters of its own, whose state is then in its core's caches, and helps the others afterwards.
    let take_part = |thread: usize, number: u64| {
        let first = thread * clusters.len() / threads;
        for k in 0..clusters.len() {
            let k = (first + k) % clusters.len();
            let taken = round.taken[k].compare_exchange(number - 1, number, Ordering::AcqRel, Ordering::Relaxed);
            if taken.is_ok() {
                let (until, groups_left) = (round.until.load(Ordering::Relaxed), round.groups_left.load(Ordering::Relaxed));
                let _finishes = Finishes(&round);
                clusters[k].lock().run(c, plan, until, groups_left);
            }
        }
    };
    std::thread::scope(|scope| {
        let _ends = Ends(&round);
        for thread in 1..threads {
            let (round, take_part) = (&round, &take_part);
            scope.spawn(move || {
                let mut number = 0;
                loop {
                    wait(|| round.number.load(Ordering::Acquire) != number);
                    number = round.number.load(Ordering::Acquire);
                    if round.stop.load(Ordering::Relaxed) {
                        return;
                    }
                    take_part(thread, number);
                }
            });
        }
        let side_by_side = |until: u64, groups_left: bool| {
            round.until.store(until, Ordering::Relaxed);
            round.groups_left.store(groups_left, Ordering::Relaxed);
            round.finished.store(0, Ordering::Relaxed);
            let number = round.number.fetch_add(1, Ordering::Release) + 1;
            take_part(0, number);
            wait(|| round.finished.load(Ordering::Acquire) == clusters.len());
            assert!(!round.broken.load(Ordering::Relaxed), "a thread of the simulator panicked");
        };
        coordinate(&clusters, below, c, plan, progress, &side_by_side)
    })?;
    Ok(clusters.into_iter().map(|c| c.0.into_inner().unwrap_or_else(|e| e.into_inner())).collect())
}

/// The work between rounds.
fn coordinate<'a, const N: usize, const W: usize>(
    clusters: &[Exclusive<Cluster<'a, N, W>>],
    below: &mut Option<Box<Below>>,
    c: &Common<'a, N>,
    plan: &Plan,
    progress: &(dyn Fn(u64) + Sync),
    side_by_side: &dyn Fn(u64, bool),
) -> Result<(), Box<Fault>> {
    // From a request to its answer, less what the lines of one access take to be looked up.
    let m = &c.machine.memory;
    let way = 2 * u64::from(m.network.latency) + u64::from(m.l2.latency);
    let ahead = if c.options.in_turns { 0 } else { way.saturating_sub((N * c.parts) as u64) };
    let mut host = c.options.host_writes.iter().peekable();
    let mut write = |until: u64| {
        while let Some(write) = host.next_if(|w: &&HostWrite| w.cycle <= until) {
            c.memory.write_shared(write.address, &write.data);
        }
    };
    let mut next_group = 0;
    // Groups are dealt out in order, one an SM at a time, as hardware dispatchers do.
    for _ in 0..plan.resident {
        for cluster in clusters {
            let cluster = &mut *cluster.lock();
            for i in 0..cluster.sms.len() {
                if next_group < plan.total {
                    cluster.near.borrow_mut().below = below.take();
                    cluster.sms[i].dispatch(c, next_group);
                    *below = cluster.near.borrow_mut().below.take();
                    next_group += 1;
                }
            }
        }
    }
    for cluster in clusters {
        let cluster = &mut *cluster.lock();
        cluster.done = cluster.sms.iter().map(|s| s.resident_groups() == 0).collect();
    }
    let mut until = 0;
    loop {
        let mut all: Vec<_> = clusters.iter().map(Exclusive::lock).collect();
        let now = loop {
            let bounds = all.iter().map(|k| k.bound(until)).enumerate();
            let Some((first, now)) = bounds.min_by_key(|b| b.1) else { return Ok(()) };
            if let Some(below) = below {
                serve(&mut all, below, c, now, &mut write);
            }
            all.iter_mut().for_each(|k| k.served = Some(now));
            let ended: u64 = all.iter_mut().map(|k| std::mem::take(&mut k.ended)).sum();
            if ended > 0 {
                progress(ended);
            }
            if now == NEVER {
                all.iter_mut().for_each(|k| k.hear(c));
                write(all.iter().map(|k| k.last).max().unwrap_or(0));
                return Ok(());
            }
            let cluster = &mut *all[first];
            cluster.hear(c);
            let groups_left = next_group < plan.total;
            match cluster.stop.take() {
                // Where nothing can be known ahead, all is done here, in turns.
                None if ahead == 0 => {
                    write(now.0);
                    let i = (0..cluster.sms.len()).find(|i| !cluster.done[*i] && cluster.key(*i) == now);
                    let Some(i) = i else { break now };
                    cluster.near.borrow_mut().below = below.take();
                    cluster.cycle(c, plan, i, true, u64::MAX, groups_left);
                    *below = cluster.near.borrow_mut().below.take();
                }
                None => break now,
                Some((_, Stop::Fault(fault))) => return Err(fault),
                Some((_, Stop::Open(i))) => cluster.after_cycle(c, plan, i, until, groups_left),
                Some((_, Stop::Direct(i))) => {
                    write(now.0);
                    cluster.near.borrow_mut().below = below.take();
                    cluster.cycle(c, plan, i, true, until, groups_left);
                    *below = cluster.near.borrow_mut().below.take();
                }
                Some((_, Stop::Groups(i))) => {
                    cluster.near.borrow_mut().below = below.take();
                    while next_group < plan.total && cluster.sms[i].admission.target() > cluster.sms[i].resident_groups() {
                        cluster.sms[i].dispatch(c, next_group);
                        next_group += 1;
                    }
                    *below = cluster.near.borrow_mut().below.take();
                    cluster.done[i] = cluster.sms[i].resident_groups() == 0;
                }
            }
        };
        drop(all);
        // Shorter than could be, so that a cluster that stopped before the end has room to catch up while the others go on.
        until = (now.0 + ahead).min(until.max(now.0) + (ahead / 2).max(1));
        side_by_side(until, next_group < plan.total);
    }
}

/// Serves the requests of all clusters up to `until` in the order of simulated time.
fn serve<const N: usize, const W: usize>(
    clusters: &mut [MutexGuard<'_, Cluster<'_, N, W>>],
    below: &mut Below,
    c: &Common<'_, N>,
    until: Key,
    write: &mut dyn FnMut(u64),
) {
    let mut nears: Vec<_> = clusters.iter().map(|k| k.near.borrow_mut()).collect();
    loop {
        let heads = nears.iter().map(|n| n.deferred.requests.front().map_or(NEVER, |r| r.0)).enumerate();
        let Some((first, key)) = heads.min_by_key(|h| h.1).filter(|h| h.1 <= until && h.1 != NEVER) else { return };
        write(key.0);
        let deferred = &mut nears[first].deferred;
        // Those of one cycle follow each other.
        while deferred.requests.front().is_some_and(|r| r.0 == key) {
            deferred.serve(below, c.memory);
        }
    }
}
