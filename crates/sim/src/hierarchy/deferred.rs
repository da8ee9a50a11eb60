//! What an SM's accesses have to wait for, while the levels that all SMs share have not answered yet.
//!
//! SMs are simulated for a while without looking at each other. A request to the shared levels then gets a
//! *ticket* instead of an answer; requests are served later, all SMs' together in order of simulated time,
//! and everything that needed the answer is done over again when it is there: lines filled, misses known to
//! return, loads given their bytes. Because no answer can come before the SMs have been stopped to hear it,
//! nothing they did in between depends on it.

use std::collections::VecDeque;

use smallvec::SmallVec;

use super::Path;
use super::line::{ByteMask, LONGEST_LINE, LaneBytes, LineBytes, LineNumber, runs};
use super::lower_levels::{LineWrite, LowerLevels, ReadReply, SectorRead};
use super::policy::AccessPolicy;
use super::tlb::ArrivingRequest;
use super::undecided::Waiter;
use crate::DeviceMemory;

/// Number of an answer that is still to come.
pub type Ticket = u32;
/// As a cycle: an answer still to come; its ticket in the low bits.
pub const PENDING: u64 = 1 << 63;
/// When a request was made: the cycle that the SM was simulating, and the SM's number. Requests of one cycle
/// of an SM follow each other.
pub type Timestamp = (u64, u32);
/// Tickets with the sectors of a line that each of them brings.
pub type SectorTickets = SmallVec<[(Ticket, u64); 2]>;

/// A request to the shared levels.
pub enum Request {
    /// Read sectors of a line.
    Read {
        /// The ticket of the answer.
        ticket: Ticket,
        /// What is read.
        read: SectorRead<'static>,
        /// Its arrival at L2.
        arrives: ArrivingRequest,
        /// Cycles from there to the requester.
        back: u64,
        /// Room for the answer.
        data: Box<LineBytes>,
    },
    /// Write bytes of a line.
    Write {
        /// The line.
        line: LineNumber,
        /// The line's bytes.
        data: Box<LineBytes>,
        /// Which of them are written.
        mask: ByteMask,
        /// What L2 does (K4).
        policy: &'static AccessPolicy,
        /// Its arrival at L2.
        arrives: ArrivingRequest,
        /// Stores that go to system memory one by one if the policy says so.
        transactions: u32,
    },
}

/// What the shared levels say to a request, for the one who made it.
pub struct Reply {
    ticket: Ticket,
    ready: u64,
    far: u32,
    data: Box<LineBytes>,
}

impl Reply {
    /// An answer to a ticket: at a cycle, with so many sectors from memory, a line's bytes.
    pub fn new(ticket: Ticket, ready: u64, far: u32, data: Box<LineBytes>) -> Reply {
        Reply { ticket, ready, far, data }
    }
}

/// An answer: when, and what.
pub struct Answer {
    /// Cycle at which it is there, or [`PENDING`].
    pub ready: u64,
    /// It does not come before this cycle.
    pub not_before: u64,
    /// Sectors that L2 had to fetch.
    pub far: u32,
    /// The line, when it is there or as far as it is known.
    data: Option<Box<LineBytes>>,
}

impl Answer {
    /// The line's bytes, as far as they are known.
    pub fn line(&self) -> &LineBytes {
        self.data.as_deref().unwrap_or(&[0; LONGEST_LINE])
    }
}

/// The cache that a line comes to.
#[derive(Clone, Copy, Debug)]
pub enum FillTarget {
    /// An L1 of the SM of this number in its cluster.
    L1(usize, Path),
    /// The cluster's L1.5.
    L15,
}

/// A line of a load whose bytes are not all there.
pub struct PendingLine {
    /// What was there at the time of the load.
    pub data: Box<LineBytes>,
    /// Bytes of it that nothing replaces.
    pub keep: ByteMask,
    /// What is to come.
    pub parts: SectorTickets,
    /// Which of its bytes go to which lanes.
    pub readers: LaneBytes,
}

/// A load that waits for bytes of some of its lines.
#[derive(Default)]
pub struct PendingLoad {
    /// Of whom: for whoever started it.
    pub token: u64,
    /// Lines to come.
    pub lines: Vec<PendingLine>,
    /// Answers that the load itself asked for.
    pub asked: SmallVec<[Ticket; 4]>,
    /// Cycle at which the data is there, as far as is known.
    pub ready: u64,
    /// The lanes' bytes, as far as they are known.
    pub out: Vec<[u8; 16]>,
    /// Sectors that L2 had to fetch.
    pub far: u32,
}

/// What is done over when answers have come.
pub enum Continuation {
    /// Sectors of a line come to a cache.
    Fill(FillTarget, LineNumber, u64, Ticket),
    /// An answer made of others: not before a cycle, and of what is known already.
    Combine(Ticket, u64, SectorTickets),
    /// It becomes known when a miss of an L1 returns; the SM is its number in its cluster.
    Miss(usize, Path, Ticket),
    /// A load has all its bytes when the answers of its lines are there.
    Load(Box<PendingLoad>),
    /// A line of code is there, for whoever waits with this token.
    Fetch(u64, Ticket),
}

/// What an SM waited for, and has come.
pub enum Arrival {
    /// The bytes of a load.
    Load(Box<PendingLoad>),
    /// A line of code: token and cycle.
    Fetch(u64, u64),
}

/// Requests, answers and what is put off, of the SMs of one L1.5.
#[derive(Default)]
pub struct Deferred {
    /// The cycle of an SM that is being simulated.
    pub now: Timestamp,
    /// Requests that nobody has taken to be served.
    pub requests: VecDeque<(Timestamp, Request)>,
    /// What is put off, numbered in order.
    log: VecDeque<(u64, Continuation)>,
    /// Number of the next one.
    next: u64,
    answers: VecDeque<Answer>,
    /// Ticket of the first of `answers`.
    first: Ticket,
    /// Tickets that nobody needs when all entries before a number have been taken.
    retire: VecDeque<(u64, Ticket)>,
}

impl Deferred {
    /// A new ticket for an answer, of which some bytes may be known, and which does not come before a cycle.
    pub fn new_ticket(&mut self, data: Option<Box<LineBytes>>, not_before: u64) -> Ticket {
        self.answers.push_back(Answer { ready: PENDING, not_before, far: 0, data });
        self.first.wrapping_add(self.answers.len() as u32 - 1)
    }

    /// Puts something off.
    pub fn defer(&mut self, entry: Continuation) {
        self.log.push_back((self.next, entry));
        self.next += 1;
    }

    /// The answer of a ticket.
    pub fn answer(&mut self, ticket: Ticket) -> &mut Answer {
        &mut self.answers[ticket.wrapping_sub(self.first) as usize]
    }

    /// Makes an answer of others; returns when it is there.
    pub fn combine(&mut self, ticket: Ticket, base: u64, parts: &SectorTickets, sector_bytes: usize) -> u64 {
        let mut ready = base;
        let mut data = self.answer(ticket).data.take().unwrap_or_else(|| Box::new([0; LONGEST_LINE]));
        for (part, sectors) in parts {
            let a = self.answer(*part);
            debug_assert!(a.ready < PENDING);
            ready = ready.max(a.ready);
            copy_sectors(&mut data, a.line(), *sectors, &ByteMask::default(), sector_bytes);
        }
        let answer = self.answer(ticket);
        (answer.data, answer.ready) = (Some(data), ready);
        ready
    }

    /// Completes a load: its late lines are given to their lanes.
    pub fn complete(&mut self, load: &mut PendingLoad, sector_bytes: usize) {
        for line in &mut load.lines {
            for (ticket, sectors) in &line.parts {
                let a = self.answer(*ticket);
                load.ready = load.ready.max(a.ready);
                copy_sectors(&mut line.data, a.line(), *sectors, &line.keep, sector_bytes);
            }
            line.readers.scatter(&line.data, &mut load.out[..]);
        }
        for ticket in &load.asked {
            load.far += self.answer(*ticket).far;
        }
    }

    /// Takes the log, of which what can be done is done in order and the rest is put back. An entry changes
    /// only what waits for its own tickets, so that it need not wait for those before it.
    pub fn take_log(&mut self) -> VecDeque<(u64, Continuation)> {
        std::mem::take(&mut self.log)
    }

    /// Puts off again what a log that was taken still holds.
    pub fn put_back(&mut self, log: VecDeque<(u64, Continuation)>) {
        debug_assert!(self.log.is_empty());
        self.log = log;
    }

    /// Whether all answers that an entry needs are there.
    pub fn is_known(&self, entry: &Continuation) -> bool {
        let known = |ticket: &Ticket| self.answers[ticket.wrapping_sub(self.first) as usize].ready < PENDING;
        match entry {
            Continuation::Fill(_, _, _, ticket) | Continuation::Miss(_, _, ticket) | Continuation::Fetch(_, ticket) => {
                known(ticket)
            }
            Continuation::Combine(_, _, parts) => parts.iter().all(|p| known(&p.0)),
            Continuation::Load(load) => {
                load.asked.iter().chain(load.lines.iter().flat_map(|l| l.parts.iter().map(|p| &p.0))).all(known)
            }
        }
    }

    /// Forgets answers that nothing put off can need any more. What the known ones were needed for has been
    /// done, but for entries that wait for others, too.
    pub fn forget(&mut self) {
        let known = self.answers.iter().take_while(|a| a.ready < PENDING).count();
        self.retire.push_back((self.next, self.first.wrapping_add(known as u32)));
        let oldest = self.log.front().map_or(self.next, |e| e.0);
        while let Some((_, bound)) = self.retire.front().filter(|(next, _)| *next <= oldest) {
            let gone = bound.wrapping_sub(self.first) as usize;
            self.answers.drain(..gone);
            self.first = *bound;
            self.retire.pop_front();
        }
    }

    /// Keeps a reply. What waits for it goes on in
    /// [`ClusterCaches::resume_deferred`](super::cluster_caches::ClusterCaches::resume_deferred).
    pub fn record_reply(&mut self, reply: Reply) {
        let answer = self.answer(reply.ticket);
        (answer.ready, answer.far, answer.data) = (reply.ready, reply.far, Some(reply.data));
    }
}

impl Request {
    /// Serves the request of a cluster, made at a time. A read has a reply, now or later.
    pub fn serve(self, lower: &mut LowerLevels, memory: &DeviceMemory, (cluster, made): (usize, Timestamp)) -> Option<Reply> {
        match self {
            Request::Read { ticket, read, arrives, back, mut data } => {
                lower.far_sectors = 0;
                let ReadReply { ready, delay, waits_for } = lower.read(memory, read, arrives, &mut data);
                let (ready, far) = (ready + back, lower.far_sectors);
                if waits_for.is_empty() {
                    return Some(Reply { ticket, ready, far, data });
                }
                lower.wait(Waiter { cluster, made, ticket, ready, back: delay + back, far, data }, &waits_for);
                None
            }
            Request::Write { line, data, mask, policy, arrives, transactions } => {
                lower.write(memory, &LineWrite { line, data: &data[..], mask: &mask, policy, transactions }, arrives);
                None
            }
        }
    }
}

/// Copies sectors of a line, except for the bytes of `keep`.
fn copy_sectors(to: &mut LineBytes, from: &LineBytes, sectors: u64, keep: &ByteMask, sector_bytes: usize) {
    for run in runs(sectors) {
        let range = run.start * sector_bytes..run.end * sector_bytes;
        if *keep == ByteMask::default() {
            to[range.clone()].copy_from_slice(&from[range]);
        } else {
            for b in range.filter(|b| keep[b / 64] >> (b % 64) & 1 == 0) {
                to[b] = from[b];
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A reply to a ticket at a cycle, of bytes that are all alike, of which `far` sectors came from memory.
    fn reply(ticket: Ticket, ready: u64, byte: u8, far: u32) -> Reply {
        Reply::new(ticket, ready, far, Box::new([byte; LONGEST_LINE]))
    }

    #[test]
    fn an_answer_is_made_of_others() {
        let mut d = Deferred::default();
        let [a, b] = [1, 2].map(|not_before| d.new_ticket(None, not_before));
        let whole = d.new_ticket(Some(Box::new([9; LONGEST_LINE])), 3);
        assert_eq!((d.answer(b).not_before, d.answer(b).ready), (2, PENDING));
        let parts: SectorTickets = [(a, 0b001), (b, 0b110)].into_iter().collect();
        d.record_reply(reply(a, 10, 1, 0));
        assert!(!d.is_known(&Continuation::Combine(whole, 15, parts.clone())));
        d.record_reply(reply(b, 20, 2, 0));
        assert!(d.is_known(&Continuation::Combine(whole, 15, parts.clone())));
        assert_eq!((d.combine(whole, 15, &parts, 32), d.answer(whole).ready), (20, 20));
        assert_eq!([0, 31, 32, 95, 96].map(|byte| d.answer(whole).line()[byte]), [1, 1, 2, 2, 9]);
        assert_eq!(d.combine(whole, 25, &parts, 32), 25, "what was known comes last");
    }

    #[test]
    fn a_load_gets_its_bytes_around_those_that_it_keeps() {
        let mut d = Deferred::default();
        let [a, b] = [1, 2].map(|not_before| d.new_ticket(None, not_before));
        let mut offsets = [0; 64];
        (offsets[1], offsets[2]) = (4, 64);
        let readers = LaneBytes { lanes: 0b111, offsets, bytes: 4, to: 0 };
        let parts = [(a, 0b001)].into_iter().collect();
        let line = PendingLine { data: Box::new([9; LONGEST_LINE]), keep: [0b1111, 0, 0, 0], parts, readers };
        let mut load = PendingLoad {
            lines: vec![line],
            asked: [a, b].into_iter().collect(),
            ready: 12,
            out: vec![[0; 16]; 3],
            far: 1,
            ..PendingLoad::default()
        };
        d.record_reply(reply(a, 10, 1, 4));
        d.record_reply(reply(b, 30, 2, 8));
        d.complete(&mut load, 32);
        assert_eq!([0, 1, 2].map(|lane| load.out[lane][..5].to_vec()), [[9, 9, 9, 9, 0], [1, 1, 1, 1, 0], [9, 9, 9, 9, 0]]);
        assert_eq!((load.ready, load.far), (12, 13), "it waits for its lines, and counts what it asked for");
    }

    #[test]
    fn answers_are_kept_as_long_as_something_waits_for_them() {
        let mut d = Deferred::default();
        let [first, second, third] = [1, 2, 3].map(|not_before| d.new_ticket(None, not_before));
        d.defer(Continuation::Fetch(7, second));
        d.record_reply(reply(first, 10, 1, 0));
        assert!(d.is_known(&Continuation::Fetch(0, first)) && !d.is_known(&Continuation::Fetch(0, second)));
        // What waits may need the first one, too.
        d.forget();
        assert_eq!((d.answers.len(), d.answer(first).ready), (3, 10));
        d.record_reply(reply(second, 20, 1, 0));
        d.take_log();
        d.forget();
        assert_eq!((d.answers.len(), d.answer(third).not_before), (1, 3));
        assert_eq!((d.new_ticket(None, 4), d.answer(third + 1).not_before), (third + 1, 4));
    }
}
