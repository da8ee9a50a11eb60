//! In which order warps are asked to issue, by which scheduler, and which of them are active.
//!
//! Warps belong to schedulers by their slots; each scheduler has ports of its own, so that one pass over all warps in the
//! policy's order serves all schedulers.
//!
//! # Active set (C14, after Gebhart et al., "Energy-efficient mechanisms for managing thread context in throughput
//! # processors", ISCA 2011)
//! Only active warps issue. A warp leaves the set where the compiler says that it holds nothing in local registers: before
//! an instruction with a strand mark whose operands wait for a load or atomic from global, constant or private memory, at a
//! barrier with such an instruction behind it, and when it ends. A warp that could issue enters, the oldest first, as soon
//! as its scheduler has room; so does one that is new. One that stalls elsewhere keeps its place. If nobody can go on,
//! because active warps stand at a barrier without a mark behind it, or wait for shared registers (REN-8) that others hold, one
//! more enters: a machine would need a place in reserve for it.

use super::super::port_plan::PortPlan;
use super::super::warp_set::WarpSet;
use heddle_target::{Machine, Scheduler};

/// The schedulers of an SM. Sets may name ranks that no live warp has.
pub(super) struct Schedulers<const W: usize> {
    policy: Scheduler,
    /// By scheduler: its warps.
    warps: Vec<WarpSet<W>>,
    /// Round robin, by scheduler: the rank behind the warp that issued last.
    turns: Vec<usize>,
    /// By scheduler: places in the active set; empty where all warps are active.
    places: Vec<u64>,
    /// Resident warps that are not in it.
    inactive: WarpSet<W>,
    /// Of these, those that never were.
    fresh: WarpSet<W>,
    /// Whether the instructions that a scheduler issues to clusters a cycle are limited.
    narrow: bool,
    /// What schedulers issue in a cycle.
    slots: CycleSlots,
}

/// What the schedulers have left of a cycle.
#[derive(Clone, Copy)]
pub(super) struct CycleSlots {
    /// Scalar instructions, four bits a scheduler.
    scalar: u64,
    /// Instructions for clusters, likewise.
    vector: u64,
}

impl CycleSlots {
    /// Nothing.
    pub const NONE: CycleSlots = CycleSlots { scalar: 0, vector: 0 };

    /// A scalar instruction issues; whether its scheduler has no slot for another one.
    #[inline(always)]
    pub fn take_scalar(&mut self, scheduler: u8) -> bool {
        take(&mut self.scalar, scheduler)
    }

    /// Scalar instructions that a scheduler can still issue. Only where that is counted.
    #[inline(always)]
    pub fn scalar_left(&self, scheduler: u8) -> u64 {
        self.scalar >> (4 * scheduler) & 15
    }

    /// Whether a scheduler can issue another instruction to a cluster. Only where that is counted.
    #[inline(always)]
    pub fn has_vector(&self, scheduler: u8) -> bool {
        self.vector >> (4 * scheduler) & 15 != 0
    }

    /// An instruction issues to a cluster; whether its scheduler can issue no other one.
    #[inline(always)]
    pub fn take_vector(&mut self, scheduler: u8) -> bool {
        take(&mut self.vector, scheduler)
    }
}

/// Takes one of a scheduler's; whether it was the last one.
#[inline(always)]
fn take(slots: &mut u64, scheduler: u8) -> bool {
    *slots -= 1 << (4 * scheduler);
    *slots >> (4 * scheduler) & 15 == 0
}

/// The same number for each of 16 schedulers.
fn for_each(n: u32) -> u64 {
    0x1111_1111_1111_1111 * u64::from(n)
}

impl<const W: usize> Schedulers<W> {
    /// Of an SM without warps.
    pub fn new(machine: &Machine, plan: &PortPlan) -> Self {
        let n = plan.schedulers();
        let share = |warps: u32, k: usize| u64::from(warps) / n as u64 + u64::from((k as u64) < u64::from(warps) % n as u64);
        Schedulers {
            policy: machine.sm.scheduler,
            warps: vec![WarpSet::EMPTY; n],
            turns: vec![0; n],
            places: machine.active_set().map_or(Vec::new(), |warps| (0..n).map(|k| share(warps, k)).collect()),
            inactive: WarpSet::EMPTY,
            fresh: WarpSet::EMPTY,
            narrow: machine.sm.issue_width > 0,
            slots: CycleSlots { scalar: for_each(machine.sm.scalar_issue), vector: for_each(machine.sm.issue_width) },
        }
    }

    /// Bytes on the heap.
    pub fn heap_bytes(&self) -> usize {
        size_of_val(&self.warps[..]) + size_of_val(&self.turns[..]) + size_of_val(&self.places[..])
    }

    /// A warp comes to a slot.
    pub fn add(&mut self, rank: usize, slot: usize) {
        let scheduler = slot % self.warps.len();
        self.warps[scheduler].insert(rank);
        if self.has_active_set() {
            self.inactive.insert(rank);
        }
    }

    /// A warp that has come may issue.
    pub fn start(&mut self, rank: usize) {
        if self.has_active_set() {
            self.fresh.insert(rank);
        }
    }

    /// Gives the warps of `kept` new ranks, from 0 on in their order; the others are gone.
    pub fn renumber(&mut self, kept: WarpSet<W>) {
        for warps in &mut self.warps {
            *warps = warps.renumbered(kept);
        }
        for turn in &mut self.turns {
            *turn = (kept - kept.from(*turn)).count() as usize;
        }
        self.inactive = self.inactive.renumbered(kept);
        self.fresh = self.fresh.renumbered(kept);
    }

    /// What schedulers issue in a cycle.
    #[inline(always)]
    pub fn slots(&self) -> CycleSlots {
        self.slots
    }

    /// Whether a scheduler issues less than clusters take.
    #[inline(always)]
    pub fn is_narrow(&self) -> bool {
        self.narrow
    }

    /// Whether it has to be counted what a scheduler issues in a cycle: more than one scalar instruction, or less than
    /// clusters take.
    #[inline(always)]
    pub fn counts_slots(&self) -> bool {
        self.narrow || self.slots.scalar != for_each(1)
    }

    /// A scheduler's warps.
    #[inline(always)]
    pub fn warps(&self, scheduler: u8) -> WarpSet<W> {
        self.warps[usize::from(scheduler)]
    }

    /// Divides warps that could issue into those that are asked first, oldest first, and those that follow. `issued`: those
    /// that did in the cycle before.
    #[inline(always)]
    pub fn order(&self, ready: WarpSet<W>, issued: WarpSet<W>) -> (WarpSet<W>, WarpSet<W>) {
        match self.policy {
            Scheduler::GreedyOldest | Scheduler::TwoLevel => (ready & issued, ready - issued),
            Scheduler::Oldest => (ready, WarpSet::EMPTY),
            Scheduler::RoundRobin => {
                let behind = |(warps, turn): (&WarpSet<W>, &usize)| *warps & ready.from(*turn);
                let first = self.warps.iter().zip(&self.turns).map(behind).fold(WarpSet::EMPTY, |all, some| all | some);
                (first, ready - first)
            }
        }
    }

    /// A warp issues.
    #[inline(always)]
    pub fn issues(&mut self, rank: usize, scheduler: u8) {
        if self.policy == Scheduler::RoundRobin {
            self.turns[usize::from(scheduler)] = rank + 1;
        }
    }

    /// Whether not all resident warps are active.
    #[inline(always)]
    pub fn has_active_set(&self) -> bool {
        !self.places.is_empty()
    }

    /// Warps that are not active, among others that no live warp has.
    #[inline(always)]
    pub fn inactive(&self) -> WarpSet<W> {
        self.inactive
    }

    /// An active warp leaves the set; whether it was in it.
    pub fn leave(&mut self, rank: usize) -> bool {
        let was_active = !self.inactive.contains(rank);
        self.inactive.insert(rank);
        was_active
    }

    /// Warps that could enter if there were room: those that could issue, and new ones.
    fn eligible(&self, live: WarpSet<W>, ready: WarpSet<W>) -> WarpSet<W> {
        live & self.inactive & (ready | self.fresh)
    }

    /// Whether a scheduler has room for another active warp.
    fn has_room(&self, scheduler: usize, live: WarpSet<W>) -> bool {
        ((self.warps[scheduler] & live) - self.inactive).count() < self.places[scheduler]
    }

    /// Lets warps enter, the oldest first, as far as there is room.
    pub fn fill(&mut self, live: WarpSet<W>, ready: WarpSet<W>) {
        for scheduler in 0..self.places.len() {
            while self.has_room(scheduler, live)
                && let Some(rank) = (self.eligible(live, ready) & self.warps[scheduler]).first()
            {
                self.enter(rank);
            }
        }
    }

    fn enter(&mut self, rank: usize) {
        self.inactive.remove(rank);
        self.fresh.remove(rank);
    }

    /// Whether a warp would enter in the next cycle.
    pub fn would_fill(&self, live: WarpSet<W>, ready: WarpSet<W>) -> bool {
        let some = |k: usize| self.has_room(k, live) && !(self.eligible(live, ready) & self.warps[k]).is_empty();
        (0..self.places.len()).any(some)
    }

    /// Nobody can go on: one more warp enters.
    pub fn exceed(&mut self, live: WarpSet<W>, ready: WarpSet<W>) {
        if let Some(rank) = self.eligible(live, ready).first() {
            self.enter(rank);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn schedulers(overrides: &[&str]) -> Schedulers<1> {
        let overrides: Vec<String> = overrides.iter().map(ToString::to_string).collect();
        let machine = heddle_target::testing::mixed(&overrides);
        Schedulers::new(&machine, &PortPlan::new(&machine))
    }

    fn set(ranks: &[usize]) -> WarpSet<1> {
        let mut set = WarpSet::EMPTY;
        ranks.iter().for_each(|rank| set.insert(*rank));
        set
    }

    /// In the order in which they are asked.
    fn order(s: &Schedulers<1>, ready: &[usize], issued: &[usize]) -> Vec<usize> {
        let (first, then) = s.order(set(ready), set(issued));
        first.iter().chain(then.iter()).collect()
    }

    #[test]
    fn policies_differ_in_who_comes_first() {
        let ready = [0, 2, 3, 7];
        assert_eq!(order(&schedulers(&[]), &ready, &[3, 4]), [3, 0, 2, 7]);
        assert_eq!(order(&schedulers(&["sm.scheduler=two-level"]), &ready, &[3, 4]), [3, 0, 2, 7]);
        assert_eq!(order(&schedulers(&["sm.scheduler=oldest"]), &ready, &[3, 4]), [0, 2, 3, 7]);
        let mut turns = schedulers(&["sm.scheduler=round-robin"]);
        (0..8).for_each(|slot| turns.add(slot, slot));
        assert_eq!(order(&turns, &ready, &[]), [0, 2, 3, 7]);
        turns.issues(2, 0);
        assert_eq!(order(&turns, &ready, &[2]), [3, 7, 0, 2]);
        turns.issues(7, 0);
        assert_eq!(order(&turns, &ready, &[7]), [0, 2, 3, 7]);
        // Warps 0 and 3 are gone: the one behind rank 2 was 3, and is 2 now.
        turns.issues(2, 0);
        turns.renumber(set(&[1, 2, 4, 5, 6, 7]));
        assert_eq!(order(&turns, &[0, 1, 2, 5], &[]), [2, 5, 0, 1]);
    }

    #[test]
    fn schedulers_take_turns_of_their_own() {
        let mut s = schedulers(&["sm.scheduler=round-robin", "sm.schedulers=2"]);
        (0..8).for_each(|slot| s.add(slot, slot));
        s.issues(4, 0);
        assert_eq!(order(&s, &[0, 1, 2, 3, 6, 7], &[]), [1, 3, 6, 7, 0, 2]);
        assert_eq!(s.warps(1).iter().collect::<Vec<_>>(), [1, 3, 5, 7]);
    }

    #[test]
    fn slots_of_a_cycle_are_counted_by_scheduler() {
        let s = schedulers(&["sm.schedulers=3", "sm.issue-width=2", "sm.scalar-issue=1"]);
        let mut slots = s.slots();
        assert!(s.is_narrow() && !schedulers(&[]).is_narrow());
        assert_eq!([slots.take_vector(2), slots.take_vector(0), slots.take_vector(2)], [false, false, true]);
        assert_eq!([slots.take_scalar(0), slots.take_scalar(2)], [true, true]);
    }

    #[test]
    fn the_active_set_is_filled_by_age() {
        let mut s = schedulers(&["sm.scheduler=two-level", "sm.active-warps=3", "sm.schedulers=2"]);
        assert_eq!(s.places, [2, 1]);
        (0..6).for_each(|slot| s.add(slot, slot));
        assert!(!s.would_fill(set(&[0, 1, 2, 3, 4, 5]), set(&[])), "nobody has begun");
        (0..6).for_each(|slot| s.start(slot));
        let live = set(&[0, 1, 2, 3, 4, 5]);
        let active = |s: &Schedulers<1>| (live - s.inactive()).iter().collect::<Vec<_>>();
        // All are new.
        s.fill(live, set(&[5]));
        assert_eq!(active(&s), [0, 1, 2]);
        assert!(!s.would_fill(live, live));
        assert!(s.leave(0) && !s.leave(0));
        // Warp 4 is new, 0 waits.
        assert!(s.would_fill(live, set(&[])));
        s.fill(live, set(&[]));
        assert_eq!(active(&s), [1, 2, 4]);
        assert!(s.leave(1) && s.leave(2) && s.leave(4));
        // 3 and 5 are new; 0 could issue.
        s.fill(live, set(&[0]));
        assert_eq!(active(&s), [0, 3]);
        assert!(!s.would_fill(live, set(&[0, 1, 3])) && s.would_fill(live, set(&[2])));
        s.exceed(live, set(&[1]));
        assert_eq!(active(&s), [0, 1, 3]);
        assert!(!schedulers(&["sm.active-warps=3"]).has_active_set());
    }
}
