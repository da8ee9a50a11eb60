//! What an SM's accesses have to wait for, while the levels that all SMs share have not answered yet.
//!
//! SMs are simulated for a while without looking at each other. A request to the shared levels then gets a
//! *ticket* instead of an answer; requests are served later, all SMs' together in order of simulated time,
//! and everything that needed the answer is done over again when it is there: lines filled, misses known to
//! return, loads given their bytes. Because no answer can come before the SMs have been stopped to hear it,
//! nothing they did in between depends on it.
//!
//! The cache that a request was made for is told as soon as the answer comes: which one of several misses ends
//! first makes no difference. All else that is put off is numbered in order and waits in the answers that it
//! needs; the last of them to come makes it known, and what is known goes on in the order of the numbers. An
//! answer is kept until all that waited in it has gone on. Lines travel in boxes that are used again and again.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use smallvec::SmallVec;

use super::Path;
use super::atomics::AtomicBox;
use super::cache::LineFrame;
use super::coalescer::Part;
use super::line::{
    ByteMask, LONGEST_LINE, LaneBytes, LaneOffsets, LaneWords, LineBox, LineBytes, LineNumber, bytes_of_sectors, copy_bytes,
    copy_sectors,
};
use super::lower_levels::{LineWrite, LowerLevels, ReadReply, SectorRead};
use super::policy::AccessPolicy;
use super::tlb::ArrivingRequest;
use super::undecided::Waiter;
use crate::DeviceMemory;
use crate::memory::{prefetch, prefetch_all};

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
    /// Perform an atomic.
    Atomic {
        /// The ticket of the answer.
        ticket: Ticket,
        /// The atomic.
        atomic: AtomicBox,
    },
}

/// What an answer brings.
enum Contents {
    /// A line's bytes.
    Line(Box<LineBytes>),
    /// An atomic that has been performed.
    Atomic(AtomicBox),
}

/// What the shared levels say to a request, for the one who made it.
pub struct Reply {
    ticket: Ticket,
    ready: u64,
    far: u32,
    contents: Contents,
}

impl Reply {
    /// An answer to a ticket: at a cycle, with so many sectors from memory, a line's bytes.
    pub fn new(ticket: Ticket, ready: u64, far: u32, data: Box<LineBytes>) -> Reply {
        Reply { ticket, ready, far, contents: Contents::Line(data) }
    }

    /// The ticket that it answers.
    #[inline]
    pub fn ticket(&self) -> Ticket {
        self.ticket
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
    /// The atomic that it is the answer to, when that has been performed.
    atomic: Option<AtomicBox>,
    /// The miss that it ends, until it has come.
    miss: Option<PendingMiss>,
    /// Places of what waits for it.
    waiting: SmallVec<[u32; 4]>,
    /// What needs it and has not gone on, and how much of that needs the line's bytes.
    users: u32,
    readers: u32,
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

/// Lanes of a load whose bytes are in sectors of a line that come with one answer.
pub struct PendingLine {
    /// The lanes, a bit each.
    pub lanes: u64,
    /// The answer.
    pub ticket: Ticket,
    /// The number of the access' part that it is of.
    pub part: u8,
    /// The load itself asked for it, and counts what L2 had to fetch.
    pub asked: bool,
}

/// Lanes of a load whose bytes are in a line of which some are still to come and others stay as they are.
pub struct KeptLine {
    /// The lanes, a bit each.
    pub lanes: u64,
    /// The number of the access' part that it is of.
    pub part: u8,
    /// What is to come.
    pub parts: SectorTickets,
    /// The line at the time of the load.
    pub line: LineBytes,
    /// The bytes that stay.
    pub keep: ByteMask,
}

/// A load that waits for bytes of some of its lines.
///
/// Many wait at once, and are looked at when they begin to and when their bytes come, long after. So what most of them need
/// is side by side: a load all of whose lanes wait for one answer has nothing anywhere else.
#[repr(C, align(64))]
#[derive(Default)]
pub struct PendingLoad {
    /// Of whom: for whoever started it.
    pub token: u64,
    /// Cycle at which the data is there, as far as is known.
    pub ready: u64,
    /// Which one it is of an instruction's.
    pub number: u32,
    /// Sectors that L2 had to fetch.
    pub far: u32,
    /// Bytes of each lane that a part has.
    pub bytes: u8,
    /// Bytes of the lanes that are not cut ([`Part::WHOLE`]), where others are.
    pub whole_bytes: u8,
    /// It is an atomic, with the ticket of this answer.
    pub atomic: Option<Ticket>,
    /// Lines to come.
    pub lines: SmallVec<[PendingLine; 1]>,
    /// By part of the access: each lane's first byte in its line.
    pub offsets: SmallVec<[LaneOffsets; 1]>,
    /// Lines of which a part is to come.
    pub kept: Vec<KeptLine>,
    /// Answers that the load itself asked for, beside those that bring its lines.
    pub asked: Vec<Ticket>,
    /// What some lanes had got when it began to wait, if any had.
    pub known: Option<Box<LaneWords>>,
}

impl PendingLoad {
    /// A part of the access has so many bytes of each lane.
    #[inline]
    pub(super) fn set_bytes(&mut self, part: Part) {
        match part.number {
            Part::WHOLE => self.whole_bytes = part.bytes,
            _ => self.bytes = part.bytes,
        }
    }

    /// Makes it another load, of which nothing is known.
    fn clear(&mut self) {
        let PendingLoad { lines, kept, offsets, asked, .. } = self;
        lines.clear();
        kept.clear();
        offsets.clear();
        asked.clear();
        (self.token, self.number, self.atomic, self.ready, self.far) = (0, 0, None, 0, 0);
        self.known = None;
    }

    /// The answers that it needs, and whether it needs their bytes; some may be named twice.
    #[inline]
    fn for_each_ticket(&self, mut each: impl FnMut(Ticket, bool)) {
        self.asked.iter().for_each(|ticket| each(*ticket, false));
        self.lines.iter().for_each(|line| each(line.ticket, true));
        self.kept.iter().flat_map(|line| &line.parts).for_each(|p| each(p.0, true));
    }
}

/// A load that waits, as it goes from place to place.
pub type LoadBox = Box<PendingLoad>;

/// Sectors of a line that come to a cache.
#[derive(Clone, Copy, Debug)]
pub struct Fill {
    /// Where the line is, or was when its sectors were asked for.
    pub frame: LineFrame,
    /// The line.
    pub line: LineNumber,
    /// The sectors, a bit each.
    pub sectors: u64,
}

/// A miss of a cache of the cluster, which an answer ends.
#[derive(Clone, Copy, Debug)]
pub struct PendingMiss {
    /// The cache.
    pub target: FillTarget,
    /// What comes to it; nothing if what was asked for goes past it.
    pub fill: Option<Fill>,
    /// It holds a register of the cache.
    pub holds_register: bool,
}

/// An answer made of others and of what is known already.
pub struct Combination {
    /// Its ticket.
    pub ticket: Ticket,
    /// It does not come before this cycle.
    pub base: u64,
    /// The others, and the sectors that they bring.
    pub parts: SectorTickets,
}

/// What is done over when answers have come.
pub enum Continuation {
    /// An answer is made of others.
    Combine(Box<Combination>),
    /// A load has all its bytes when the answers of its lines are there.
    Load(LoadBox),
    /// A line of code is there, for whoever waits with this token.
    Fetch(u64, Ticket),
}

/// What an SM waited for, and has come.
pub enum Arrival {
    /// The bytes of a load, which is to be [completed](super::cluster_caches::ClusterCaches::complete_load).
    Load(LoadBox),
    /// A line of code: token and cycle.
    Fetch(u64, u64),
}

/// What is put off.
struct Entry {
    /// In which order it goes on.
    number: u64,
    /// Answers that have not come, of those that it needs.
    missing: u32,
    what: Continuation,
}

/// Requests, answers and what is put off, of the SMs of one L1.5.
#[derive(Default)]
pub struct Deferred {
    /// The cycle of an SM that is being simulated.
    pub now: Timestamp,
    /// Requests that nobody has taken to be served.
    pub requests: VecDeque<(Timestamp, Request)>,
    /// What is put off, by place, and the places that are free.
    entries: Vec<Option<Entry>>,
    free: Vec<u32>,
    /// Number of the next one.
    next: u64,
    /// What can go on, number and place: what has become known since the last look, what was known then (the last
    /// number first), and what became known since it goes on.
    fresh: Vec<(u64, u32)>,
    known: Vec<(u64, u32)>,
    late: BinaryHeap<Reverse<(u64, u32)>>,
    answers: VecDeque<Answer>,
    /// Ticket of the first of `answers`.
    first: Ticket,
    /// Boxes, and loads and atomics that are over, to be used again.
    boxes: Vec<LineBox>,
    loads: Vec<LoadBox>,
    atomics: Vec<AtomicBox>,
}

impl Deferred {
    /// A new ticket for an answer, of which some bytes may be known, and which does not come before a cycle.
    pub fn new_ticket(&mut self, data: Option<Box<LineBytes>>, not_before: u64) -> Ticket {
        self.answers.push_back(Answer {
            ready: PENDING,
            not_before,
            far: 0,
            data,
            atomic: None,
            miss: None,
            waiting: SmallVec::new(),
            users: 0,
            readers: 0,
        });
        self.first.wrapping_add(self.answers.len() as u32 - 1)
    }

    /// Room for a line, in which anything may be.
    #[inline]
    pub fn new_box(&mut self) -> Box<LineBytes> {
        self.boxes.pop().unwrap_or_else(|| Box::new([0; LONGEST_LINE]))
    }

    /// Takes rooms for lines that nobody needs any more.
    pub fn recycle_boxes(&mut self, boxes: &mut Vec<LineBox>) {
        self.boxes.append(boxes);
    }

    /// A load of which nothing is known.
    pub fn new_load(&mut self) -> LoadBox {
        let load = self.loads.pop();
        // The next one will be needed soon.
        if let Some(next) = self.loads.last() {
            prefetch_all(&**next);
        }
        load.unwrap_or_default()
    }

    /// Takes a load that is over, to be used again.
    pub fn recycle_load(&mut self, mut load: LoadBox) {
        load.clear();
        self.loads.push(load);
    }

    /// An atomic, in which anything may be.
    pub fn new_atomic(&mut self) -> AtomicBox {
        self.atomics.pop().unwrap_or_default()
    }

    /// Takes an atomic that is over, to be used again.
    pub fn recycle_atomic(&mut self, atomic: AtomicBox) {
        self.atomics.push(atomic);
    }

    /// Puts something off.
    pub fn defer(&mut self, what: Continuation) {
        let place = self.free.pop().unwrap_or_else(|| {
            self.entries.push(None);
            self.entries.len() as u32 - 1
        });
        if let Some(next) = self.free.last() {
            prefetch_all(&self.entries[*next as usize]);
        }
        let mut missing = 0;
        what.for_each_ticket(|ticket, reads| {
            let answer = &mut self.answers[ticket.wrapping_sub(self.first) as usize];
            answer.users += 1;
            answer.readers += u32::from(reads);
            if answer.ready >= PENDING {
                answer.waiting.push(place);
                missing += 1;
            }
        });
        if missing == 0 {
            self.fresh.push((self.next, place));
        }
        self.entries[place as usize] = Some(Entry { number: self.next, missing, what });
        self.next += 1;
    }

    /// The answer of a ticket.
    #[inline]
    pub fn answer(&mut self, ticket: Ticket) -> &mut Answer {
        &mut self.answers[ticket.wrapping_sub(self.first) as usize]
    }

    /// A reply will be recorded soon: the host may fetch its bytes and the answer into its caches.
    #[inline]
    pub fn prefetch_reply(&self, reply: &Reply) {
        if let Some(answer) = self.answers.get(reply.ticket.wrapping_sub(self.first) as usize) {
            prefetch_all(answer);
        }
        if let Contents::Line(data) = &reply.contents {
            // As long as most machines' lines are.
            prefetch_all(&data[..LONGEST_LINE / 2]);
        }
    }

    /// The same later: what waits for the answer, and where its bytes go, which is returned.
    #[inline]
    pub fn prefetch_waiting(&self, reply: &Reply) -> Option<(FillTarget, LineFrame)> {
        let answer = self.answers.get(reply.ticket.wrapping_sub(self.first) as usize)?;
        for place in &answer.waiting {
            prefetch(&self.entries[*place as usize]);
        }
        let miss = answer.miss.as_ref()?;
        Some((miss.target, miss.fill.as_ref()?.frame))
    }

    /// A load will be completed soon: the host may fetch into its caches what it waited for.
    #[inline]
    pub fn prefetch_answers(&self, load: &PendingLoad) {
        let Some(line) = load.lines.first() else { return };
        if let Some(answer) = self.answers.get(line.ticket.wrapping_sub(self.first) as usize) {
            prefetch_all(answer);
        }
    }

    /// An answer has come: what waited for it alone is known.
    fn make_known(&mut self, ticket: Ticket) {
        let at = ticket.wrapping_sub(self.first) as usize;
        let waiting = std::mem::take(&mut self.answers[at].waiting);
        for place in waiting {
            if let Some(entry) = &mut self.entries[place as usize] {
                entry.missing -= 1;
                if entry.missing == 0 {
                    self.fresh.push((entry.number, place));
                }
            }
        }
    }

    /// Makes an answer of others.
    pub fn combine(&mut self, of: &Combination, sector_bytes: usize) {
        let Combination { ticket, base, parts } = of;
        let (ticket, mut ready) = (*ticket, *base);
        let mut data = self.answer(ticket).data.take();
        for (part, sectors) in parts {
            let a = self.answer(*part);
            debug_assert!(a.ready < PENDING);
            ready = ready.max(a.ready);
            match &mut data {
                Some(data) => copy_sectors(&mut data[..], a.line(), *sectors, sector_bytes),
                // The only one, which nobody else needs any more, goes on as it is.
                None if a.readers == 1 && parts.len() == 1 => data = a.data.take(),
                None => {
                    let mut copy = self.new_box();
                    copy_sectors(&mut copy[..], self.answer(*part).line(), *sectors, sector_bytes);
                    data = Some(copy);
                }
            }
        }
        let answer = self.answer(ticket);
        (answer.data, answer.ready) = (data, ready);
        self.make_known(ticket);
    }

    /// Completes a load, which needs its answers no more: `out` gets what its lanes have got, and keeps what it has for others.
    pub fn complete(&mut self, load: &mut PendingLoad, out: &mut LaneWords, sector_bytes: usize) {
        let PendingLoad { lines, kept, offsets, bytes, whole_bytes, ready, far, known, .. } = load;
        if let Some(known) = known {
            *out = **known;
        }
        let shape = |part: u8| match part {
            Part::WHOLE => (0, usize::from(*whole_bytes)),
            word => (usize::from(word), usize::from(*bytes)),
        };
        for PendingLine { lanes, ticket, part, asked } in lines {
            let (to, bytes) = shape(*part);
            let a = self.answer(*ticket);
            *ready = (*ready).max(a.ready);
            *far += if *asked { a.far } else { 0 };
            LaneBytes { lanes: *lanes, offsets: &offsets[usize::from(*part)], bytes, to }.scatter(a.line(), out);
        }
        for KeptLine { lanes, part, parts, line, keep } in kept {
            for (ticket, sectors) in &*parts {
                let a = self.answer(*ticket);
                *ready = (*ready).max(a.ready);
                copy_around(line, a.line(), *sectors, keep, sector_bytes);
            }
            let (to, bytes) = shape(*part);
            LaneBytes { lanes: *lanes, offsets: &offsets[usize::from(*part)], bytes, to }.scatter(&line[..], out);
        }
        if let Some(ticket) = load.atomic {
            let a = self.answer(ticket);
            load.ready = load.ready.max(a.ready);
            if let Some(atomic) = a.atomic.take() {
                out[..2].copy_from_slice(&atomic.found);
                self.recycle_atomic(atomic);
            }
        }
        for ticket in &load.asked {
            load.far += self.answers[ticket.wrapping_sub(self.first) as usize].far;
        }
        load.for_each_ticket(|ticket, reads| self.drop_user(ticket, reads));
    }

    /// Takes out what can go on, the first that was put off. Its answers are to be [released](Self::release); a load's are when it
    /// is [completed](Self::complete).
    pub fn take_known(&mut self) -> Option<Continuation> {
        if self.known.is_empty() && self.late.is_empty() {
            // Answers come nearly in order, and so does what waits for them.
            std::mem::swap(&mut self.known, &mut self.fresh);
            self.known.sort_by_key(|entry| Reverse(entry.0));
        } else {
            self.late.extend(self.fresh.drain(..).map(Reverse));
        }
        let first = |known: &[(u64, u32)]| known.last().map_or(u64::MAX, |entry| entry.0);
        let (_, place) = match self.late.peek() {
            Some(Reverse((number, _))) if *number < first(&self.known) => self.late.pop()?.0,
            _ => self.known.pop()?,
        };
        self.free.push(place);
        self.entries[place as usize].take().map(|e| e.what)
    }

    /// Something has gone on: it needs its answers no more.
    pub fn release(&mut self, what: &Continuation) {
        what.for_each_ticket(|ticket, reads| self.drop_user(ticket, reads));
    }

    /// Somebody needs an answer no more.
    #[inline]
    fn drop_user(&mut self, ticket: Ticket, reads: bool) {
        let answer = &mut self.answers[ticket.wrapping_sub(self.first) as usize];
        answer.users -= 1;
        answer.readers -= u32::from(reads);
    }

    /// Whether there are answers that something waits for, or did when it was looked at last.
    #[inline]
    pub fn waits_for_answers(&self) -> bool {
        !self.answers.is_empty()
    }

    /// Forgets answers that nothing put off needs any more, nor can anything else.
    pub fn forget(&mut self) {
        while self.answers.front().is_some_and(|a| a.ready < PENDING && a.users == 0) {
            self.boxes.extend(self.answers.pop_front().and_then(|a| a.data));
            self.first = self.first.wrapping_add(1);
        }
    }

    /// A cache misses until an answer comes.
    #[inline]
    pub fn await_miss(&mut self, ticket: Ticket, miss: PendingMiss) {
        let answer = self.answer(ticket);
        debug_assert!(answer.ready >= PENDING && answer.miss.is_none());
        answer.users += 1;
        answer.readers += u32::from(miss.fill.is_some());
        answer.miss = Some(miss);
    }

    /// The miss that an answer ends, which has come.
    #[inline]
    pub fn take_miss(&mut self, ticket: Ticket) -> Option<(PendingMiss, &Answer)> {
        let answer = self.answer(ticket);
        let miss = answer.miss.take()?;
        answer.users -= 1;
        answer.readers -= u32::from(miss.fill.is_some());
        Some((miss, answer))
    }

    /// Keeps a reply. What waits for it goes on in
    /// [`ClusterCaches::resume_deferred`](super::cluster_caches::ClusterCaches::resume_deferred).
    pub fn record_reply(&mut self, reply: Reply) {
        let answer = self.answer(reply.ticket);
        (answer.ready, answer.far) = (reply.ready, reply.far);
        match reply.contents {
            Contents::Line(data) => answer.data = Some(data),
            Contents::Atomic(atomic) => answer.atomic = Some(atomic),
        }
        self.make_known(reply.ticket);
    }
}

impl Continuation {
    /// The answers that it needs, and whether it needs their bytes; some may be named twice.
    #[inline]
    fn for_each_ticket(&self, mut each: impl FnMut(Ticket, bool)) {
        match self {
            Continuation::Fetch(_, ticket) => each(*ticket, false),
            Continuation::Combine(of) => of.parts.iter().for_each(|p| each(p.0, true)),
            Continuation::Load(load) => load.for_each_ticket(each),
        }
    }
}

impl Request {
    /// The line that it is for, or the first of them.
    #[inline]
    pub fn line(&self) -> Option<LineNumber> {
        match self {
            Request::Read { read, .. } => Some(read.line),
            Request::Write { line, .. } => Some(*line),
            Request::Atomic { atomic, .. } => atomic.lines.first().map(|l| l.line),
        }
    }

    /// Serves the request of a cluster, made at a time. A read has a reply, now or later, an atomic has one now; the room of a write's
    /// bytes goes to `boxes`.
    pub fn serve(
        self,
        lower: &mut LowerLevels,
        memory: &DeviceMemory,
        (cluster, made): (usize, Timestamp),
        boxes: &mut Vec<LineBox>,
    ) -> Option<Reply> {
        match self {
            Request::Read { ticket, read, arrives, back, mut data } => {
                lower.far_sectors = 0;
                let ReadReply { ready, delay, waits_for } = lower.read(memory, read, arrives, &mut data);
                let (ready, far) = (ready + back, lower.far_sectors);
                if waits_for.is_empty() {
                    return Some(Reply::new(ticket, ready, far, data));
                }
                lower.wait(Waiter { cluster, made, ticket, ready, back: delay + back, far, data }, &waits_for);
                None
            }
            Request::Write { line, data, mask, policy, arrives, transactions } => {
                lower.write(memory, &LineWrite { line, data: &data[..], mask: &mask, policy, transactions }, arrives);
                boxes.push(data);
                None
            }
            Request::Atomic { ticket, mut atomic } => {
                lower.far_sectors = 0;
                let ready = atomic.perform(lower, memory);
                Some(Reply { ticket, ready, far: lower.far_sectors, contents: Contents::Atomic(atomic) })
            }
        }
    }
}

/// Copies sectors of a line, except for the bytes of `keep`.
fn copy_around(to: &mut LineBytes, from: &LineBytes, sectors: u64, keep: &ByteMask, sector_bytes: usize) {
    let mut mask = bytes_of_sectors(sectors, sector_bytes);
    mask.iter_mut().zip(keep).for_each(|(m, k)| *m &= !k);
    copy_bytes(to, from, &mask);
}

#[cfg(test)]
mod tests;
