//! Reads that wait for requests among which DRAM has not chosen yet.
//!
//! A channel chooses among the requests that have come (FR-FCFS), so what a read gets is known only when all
//! requests are that may come before the choice. Requests of all SMs are served in the order in which they are
//! made; one made at cycle t comes to DRAM at t + network.latency + l2.latency at the earliest. So when all up
//! to cycle S have been served, every choice before S + network.latency + l2.latency is final. What is chosen
//! later returns to its SM after S + 2 × network.latency + l2.latency + row-hit: no sooner than the answer to a
//! request that has not been made, so SMs may be simulated up to there without it.
//!
//! When a reply becomes known is part of it: the first S for which its last choice is final. Who hears of all
//! replies up to some S hears of the same ones, however far DRAM has come.

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::deferred::{Reply, Ticket, Timestamp};
use super::dram::Chosen;
use super::line::{LineBytes, LineNumber};
use heddle_target::Memory;

/// A read that waits.
pub struct Waiter {
    /// Number of the cluster that made it.
    pub cluster: usize,
    /// When it was made.
    pub made: Timestamp,
    /// The ticket of its answer.
    pub ticket: Ticket,
    /// Cycle at which it is there if it waits for nothing more.
    pub ready: u64,
    /// Cycles from what it waits for to the requester.
    pub back: u64,
    /// Sectors that L2 had to fetch.
    pub far: u32,
    /// The bytes.
    pub data: Box<LineBytes>,
}

/// A reply that comes later than its request is served.
pub struct LateReply {
    /// Number of the cluster that it is for.
    pub cluster: usize,
    /// When it becomes known.
    pub known: Timestamp,
    /// The reply.
    pub reply: Reply,
}

/// A request that DRAM has not chosen.
struct Fetch {
    line: LineNumber,
    sectors: u64,
    /// Places of the reads that wait for it.
    waiters: SmallVec<[usize; 2]>,
}

/// What waits for DRAM.
pub struct Undecided {
    /// Cycles from a request to DRAM, at least.
    way: u64,
    /// Requests that DRAM has not chosen, by number.
    fetches: FxHashMap<Ticket, Fetch>,
    /// Reads that wait, each with the number of requests that it waits for.
    waiters: Vec<Option<(Waiter, usize)>>,
    free: Vec<usize>,
    replies: Vec<LateReply>,
    /// All choices before this cycle have been made.
    before: u64,
}

impl Undecided {
    /// Nothing waits.
    pub fn new(m: &Memory) -> Undecided {
        Undecided {
            way: u64::from(m.network.latency) + u64::from(m.l2.latency),
            fetches: FxHashMap::default(),
            waiters: Vec::new(),
            free: Vec::new(),
            replies: Vec::new(),
            before: 0,
        }
    }

    /// A launch begins at cycle 0.
    pub fn restart_clock(&mut self) {
        self.fetches.clear();
        (self.waiters, self.free, self.replies) = (Vec::new(), Vec::new(), Vec::new());
        self.before = 0;
    }

    /// The cycle before which choices are final when all requests up to a cycle have been served.
    pub fn horizon(&mut self, cycle: u64) -> u64 {
        self.before = self.before.max(cycle.saturating_add(self.way));
        self.before
    }

    /// All choices before this cycle have been made.
    pub fn decided_before(&self) -> u64 {
        self.before
    }

    /// DRAM is asked for sectors.
    pub fn fetch(&mut self, number: Ticket, line: LineNumber, sectors: u64) {
        self.fetches.insert(number, Fetch { line, sectors, waiters: SmallVec::new() });
    }

    /// A read waits for some requests, of which one at least has not been chosen.
    pub fn wait(&mut self, waiter: Waiter, waits_for: &[Ticket]) {
        let place = self.free.pop().unwrap_or(self.waiters.len());
        let mut count = 0;
        for number in waits_for {
            if let Some(fetch) = self.fetches.get_mut(number) {
                fetch.waiters.push(place);
                count += 1;
            }
        }
        if place == self.waiters.len() {
            self.waiters.push(None);
        }
        self.waiters[place] = Some((waiter, count));
    }

    /// DRAM has chosen a request. Returns what it brings; nothing for a write.
    pub fn decide(&mut self, chosen: Chosen) -> Option<(LineNumber, u64)> {
        let Fetch { line, sectors, waiters } = self.fetches.remove(&chosen.number)?;
        for place in waiters {
            let Some((waiter, count)) = &mut self.waiters[place] else { continue };
            waiter.ready = waiter.ready.max(chosen.done + waiter.back);
            waiter.made = waiter.made.max((chosen.at.saturating_sub(self.way) + 1, 0));
            *count -= 1;
            if *count > 0 {
                continue;
            }
            if let Some((Waiter { cluster, made, ticket, ready, far, data, .. }, _)) = self.waiters[place].take() {
                self.replies.push(LateReply { cluster, known: made, reply: Reply::new(ticket, ready, far, data) });
                self.free.push(place);
            }
        }
        Some((line, sectors))
    }

    /// Replies to what has been decided since this was asked last.
    pub fn take_replies(&mut self) -> Vec<LateReply> {
        std::mem::take(&mut self.replies)
    }
}
