//! Loads of an SM through its L1, and what becomes of lines that it reads.
//!
//! A load is cut into transactions of a line each. A line that is there gives its bytes at once; for one that is on its way, or
//! has to be asked of the levels below, the load waits, if these answer later.

use super::super::cache::{Eviction, LineFrame};
use super::super::coalescer::{Part, Transaction};
use super::super::deferred::{Continuation, KeptLine, LoadBox, PENDING, PendingLine, SectorTickets, Ticket};
use super::super::line::{ByteMask, LONGEST_LINE, LaneBytes, LaneWords, LineBytes, are_distinct};
use super::super::lower_levels::{SectorRead, count_eviction};
use super::super::policy::{self, AccessPolicy, L1Policy, LOADS};
use super::super::{Access, AccessCost, Path};
use super::{ClusterCaches, FullLine, LineLoad, Miss, Requester};
use crate::DeviceMemory;
use heddle_isa::MemorySpace;

/// A line that [`ClusterCaches::hit`] found.
struct Hit<'c> {
    /// Cycle at which it has been looked up.
    ready: u64,
    bytes: &'c [u8],
}

/// What [`ClusterCaches::read_line`] found.
#[derive(Default)]
pub(super) struct LineReply {
    /// Cycle at which the sectors are there, as far as is known.
    ready: u64,
    /// Sectors found in L1, or on their way.
    hits: u32,
    /// Sectors that are still to come.
    waits_for: SectorTickets,
    /// Bytes of these that stay as they are.
    keep: ByteMask,
    /// Where in L1 the bytes are; nowhere if they were given.
    frame: Option<LineFrame>,
}

/// A load that is being performed.
struct LoadProgress {
    /// What it costs so far.
    cost: AccessCost,
    /// What its lanes have got, and whether any have.
    out: Box<LaneWords>,
    some_known: bool,
    /// What it waits for, once it does.
    waiting: Option<LoadBox>,
}

impl LoadProgress {
    /// Lines for which it waits.
    #[inline]
    fn waiting_lines(&self) -> usize {
        self.waiting.as_ref().map_or(0, |load| load.lines.len() + load.kept.len())
    }
}

/// Room for what lanes get.
#[cold]
pub(super) fn new_lane_words() -> Box<LaneWords> {
    Box::new([[0; 64]; 4])
}

impl ClusterCaches {
    /// A load. Its lanes get what [`Self::loaded`] says, and it costs what [`Self::cost`] does. If it is
    /// [pending](AccessCost::pending), the rest comes when it is [completed](Self::complete_load).
    pub fn load(&mut self, memory: &DeviceMemory, path: Path, access: &Access) {
        if self.probed.is_some() {
            return self.probe(path, access);
        }
        let policy = policy::of(&LOADS, access.space, access.policy);
        let cost = self.begin_access(access);
        let out = self.access.out.take().unwrap_or_else(new_lane_words);
        let mut progress = LoadProgress { cost, out, some_known: false, waiting: None };
        let mut offsets = [0; 64];
        // What L1 misses is asked of L2, which answers later.
        let stays = matches!(policy.l1, L1Policy::Normal | L1Policy::EvictFirst);
        let goes_below = stays && path == Path::Data && self.lower.is_none() && !self.urgent_loads;
        for part in self.coalescer.parts(access) {
            let Part { number, bytes, .. } = part;
            let bytes = usize::from(bytes);
            let transactions = self.coalescer.coalesce(access, part, &mut offsets);
            let before = progress.waiting_lines();
            for t in &transactions {
                let from = self.next_transaction(access, t, &mut progress.cost);
                let readers = LaneBytes { lanes: t.lanes, offsets: &offsets, bytes, to: part.first_word() };
                let found = self.sms[from.sm].of(path).find(t.line);
                if let Some(line) = found.and_then(|frame| self.hit(path, from, frame, t, policy)) {
                    readers.scatter(line.bytes, &mut progress.out);
                    progress.cost.ready = progress.cost.ready.max(line.ready);
                    progress.cost.hits += t.sectors.count_ones();
                    progress.some_known = true;
                } else if found.is_none() && goes_below {
                    let (ticket, ready) = self.miss_line(memory, (path, from), t, policy);
                    progress.cost.ready = progress.cost.ready.max(ready);
                    let load = progress.waiting.get_or_insert_with(|| self.deferred.new_load());
                    load.lines.push(PendingLine { lanes: t.lanes, ticket, part: number, asked: true });
                } else {
                    let covers_line = policy.l1 == L1Policy::LastUse
                        && u64::from(t.lanes.count_ones()) * bytes as u64 == self.line_bytes()
                        && are_distinct(&offsets, t.lanes, bytes);
                    let line = LineLoad { path, from, transaction: *t, policy, covers_line, found, part: number };
                    self.load_line(memory, &line, &readers, &mut progress);
                }
            }
            self.coalescer.recycle(transactions);
            if progress.waiting_lines() > before
                && let Some(load) = &mut progress.waiting
            {
                load.offsets.resize(usize::from(number) + 1, offsets);
                load.set_bytes(part);
            }
        }
        let LoadProgress { mut cost, out, some_known, mut waiting } = progress;
        if let Some(load) = &mut waiting {
            load.ready = cost.ready;
            load.asked.append(&mut self.access.tickets);
            load.known = some_known.then(|| out.clone());
            cost.pending = true;
        }
        (self.access.load, self.access.out) = (waiting, Some(out));
        self.end_access(cost);
    }

    /// Reads a line for a load in all other cases: some of its sectors are missing or on their way, or its policy is not to stay
    /// in L1, or the levels below answer at once.
    #[inline(never)]
    fn load_line(&mut self, memory: &DeviceMemory, load: &LineLoad, readers: &LaneBytes, progress: &mut LoadProgress) {
        let LineLoad { path, from, transaction: t, part: number, .. } = *load;
        let sector_bytes = self.sector_bytes();
        let mut data = [0; LONGEST_LINE];
        let mut reply = LineReply::default();
        self.read_line(memory, load, &mut data, &mut reply);
        let LoadProgress { cost, out, some_known, waiting } = progress;
        cost.ready = cost.ready.max(reply.ready);
        cost.hits += reply.hits;
        let line = match reply.frame {
            Some(frame) => self.sms[from.sm].of(path).bytes(frame),
            None => &data[..],
        };
        let parts = &reply.waits_for;
        if parts.is_empty() {
            readers.scatter(line, out);
            *some_known = true;
            return;
        }
        let load = waiting.get_or_insert_with(|| self.deferred.new_load());
        if reply.keep != ByteMask::default() {
            let mut kept = [0; LONGEST_LINE];
            kept[..line.len()].copy_from_slice(line);
            let (lanes, part, parts) = (t.lanes, number, parts.clone());
            load.kept.push(KeptLine { lanes, part, parts, line: kept, keep: reply.keep });
            return;
        }
        let to_come = parts.iter().fold(0, |all, p| all | p.1);
        let lanes = if to_come == t.sectors { t.lanes } else { readers.within(to_come, sector_bytes) };
        if lanes != t.lanes {
            LaneBytes { lanes: t.lanes & !lanes, ..*readers }.scatter(line, out);
            *some_known = true;
        }
        let several = parts.len() > 1;
        for &(ticket, sectors) in parts {
            let lanes = if several { lanes & readers.within(sectors, sector_bytes) } else { lanes };
            let asked = self.access.tickets.pop_if(|last| *last == ticket).is_some();
            load.lines.push(PendingLine { lanes, ticket, part: number, asked });
        }
    }

    /// Loads that are probed are only cut into transactions, which are looked at.
    #[cold]
    fn probe(&mut self, path: Path, access: &Access) {
        let policy = policy::of(&LOADS, access.space, access.policy);
        let parts = self.coalescer.parts(access).count() as u64;
        let (mut probe, mut offsets) = (self.probed.take().unwrap_or_default(), [0; 64]);
        for part in self.coalescer.parts(access) {
            let transactions = self.coalescer.coalesce(access, part, &mut offsets);
            let cache = self.sms[access.sm - self.first_sm].of(path);
            let held = |t: &Transaction| cache.find(t.line).is_some_and(|f| t.sectors & !cache.valid(f) == 0);
            probe.miss = probe.miss.or_else(|| match policy.l1 {
                L1Policy::NoCache => Some(Miss::Always),
                _ => transactions.iter().find(|t| !held(t)).map(|t| Miss::Sectors(t.line, t.sectors)),
            });
            if cache.limits_merges() {
                let lines = || transactions.iter().map(|t| FullLine { line: t.line, requests: parts });
                probe.full = probe.full.or_else(|| lines().find(|full| full.still_is(cache, access.now)));
            }
            self.coalescer.recycle(transactions);
        }
        self.probed = Some(probe);
        self.cost = AccessCost { ready: access.now + self.wait, pending: true, ..AccessCost::default() };
    }

    /// The most frequent load by lane 0 alone, of bytes in one sector: they are in L1 when they have been looked up, and the line
    /// stays. Returns the bytes; `None`: nothing has been done, and [`Self::load`] is to do it.
    #[inline]
    pub fn load_one(&mut self, path: Path, access: &Access) -> Option<&[u8]> {
        let policy = policy::of(&LOADS, access.space, access.policy);
        if self.probed.is_some() || access.space == MemorySpace::Private {
            return None;
        }
        let (address, bytes) = (access.addresses[0], access.bytes as usize);
        let (t, at) = self.coalescer.one_lane(address);
        let from = Requester { sm: access.sm - self.first_sm, now: access.now, wait: self.wait };
        let frame = self.sms[from.sm].of(path).find(t.line)?;
        let Hit { ready, .. } = self.hit(path, from, frame, &t, policy)?;
        self.cost = AccessCost { ready, busy: 1, lines: 1, sectors: 1, hits: 1, far: 0, pending: false };
        Some(&self.sms[from.sm].get(path).bytes(frame)[at..at + bytes])
    }

    /// What the lanes of the last load, or of the one that was [completed](Self::complete_load) last, have got, as far as it is
    /// known. What there is for other lanes is left over from other loads.
    #[inline]
    pub fn loaded(&self) -> &LaneWords {
        self.access.out.as_deref().unwrap_or(&[[0; 64]; 4])
    }

    /// The last load, if it waits and nobody waits for it yet.
    pub fn take_load(&mut self) -> Option<LoadBox> {
        self.access.load.take()
    }

    /// A load waits; the [`Arrival`](super::super::deferred::Arrival) that [`Self::resume_deferred`] makes of it has this token.
    pub fn wait_for_load(&mut self, mut load: LoadBox, token: u64) {
        load.token = token;
        self.deferred.defer(Continuation::Load(load));
    }

    /// The most frequent transaction of a load: all its sectors are in L1 when they have been looked up, and the line stays.
    #[inline(always)]
    fn hit(&mut self, path: Path, from: Requester, frame: LineFrame, t: &Transaction, policy: &AccessPolicy) -> Option<Hit<'_>> {
        let ready = from.now + self.latencies[path as usize];
        let stays = matches!(policy.l1, L1Policy::Normal | L1Policy::EvictFirst) && !self.urgent_loads;
        let cache = self.sms[from.sm].of(path);
        if !stays || t.sectors & !cache.valid(frame) != 0 || cache.ready(frame, t.sectors) > ready {
            return None;
        }
        path.counts(&mut self.statistics).reads += u64::from(t.sectors.count_ones());
        cache.touch(frame, policy.l1 != L1Policy::Normal);
        Some(Hit { ready: ready + from.wait, bytes: cache.bytes(frame) })
    }

    /// Reads a line's sectors through an L1, where the reply says that they are; past it, they are in `out`. Sectors that
    /// are still to come are in the reply, which was empty, and their bytes mean nothing yet.
    pub(super) fn read_line(&mut self, memory: &DeviceMemory, load: &LineLoad, out: &mut LineBytes, reply: &mut LineReply) {
        let LineLoad { path, from, transaction: Transaction { line, sectors, .. }, policy, covers_line, found, .. } = *load;
        let cache = self.sms[from.sm].of(path);
        let counts = path.counts(&mut self.statistics);
        counts.reads += u64::from(sectors.count_ones());
        let looked_up = from.now + self.latencies[path as usize];
        if self.urgent_loads {
            cache.give_up(line, sectors, looked_up);
        }
        let last_use = policy.l1 == L1Policy::LastUse && covers_line;
        if policy.l1 == L1Policy::NoCache || last_use && found.is_none() {
            return self.read_past_l1(memory, load, looked_up, out, reply);
        }
        let evict_first = policy.l1 != L1Policy::Normal;
        let (frame, eviction) = match found {
            Some(frame) => {
                cache.touch(frame, evict_first);
                (frame, Eviction::default())
            }
            None => cache.insert(line, evict_first),
        };
        count_eviction(counts, &eviction, self.coalescer.geometry.sector_bytes as usize);
        let missing = sectors & !cache.valid(frame);
        counts.misses += u64::from(missing.count_ones());
        let present = sectors & !missing;
        let there = cache.ready(frame, present);
        // What is pending arrives later than it could be looked up.
        reply.hits = present.count_ones();
        if there > looked_up {
            counts.merged += u64::from(present.count_ones());
            cache.merge(frame);
        } else if missing != 0 {
            cache.begin_miss(frame);
        }
        if let Some(dirty) = eviction.dirty {
            self.write_back(memory, (path, from), dirty);
        }
        let mut pending = there >= PENDING;
        if missing != 0 {
            let leaving = Requester { now: looked_up, ..from };
            let read = SectorRead { line, sectors: missing, policy };
            // What is to be evicted first does not take room in the L1.5, nor the time to look there.
            let arrives = if path == Path::Data || evict_first {
                self.read_lower(memory, leaving, read, out)
            } else {
                self.read_l15(memory, leaving, read, out)
            };
            self.fill_miss((from.sm, path), frame, read, out, arrives);
            pending |= arrives >= PENDING;
        }
        let cache = self.sms[from.sm].of(path);
        reply.frame = Some(frame);
        let mut known = sectors;
        if pending {
            cache.pending(frame, sectors, &mut reply.waits_for);
            reply.keep = cache.dirty_bytes(frame);
            known &= !reply.waits_for.iter().fold(0, |all, p| all | p.1);
        }
        reply.ready = cache.ready(frame, known).max(looked_up + from.wait);
        if last_use {
            // K3 [2]: what the line held is used up; its write-back is cancelled. Its bytes are where they were.
            if let Some(dirty) = cache.take(frame) {
                cache.recycle(dirty);
            }
            self.statistics.data.last_uses += 1;
        }
    }

    /// Reads a line's sectors from L2, leaving none of it in the L1, where it has been looked up at a cycle.
    fn read_past_l1(
        &mut self,
        memory: &DeviceMemory,
        load: &LineLoad,
        looked_up: u64,
        out: &mut LineBytes,
        reply: &mut LineReply,
    ) {
        let LineLoad { path, from, transaction: Transaction { line, sectors, .. }, policy, .. } = *load;
        let cache = self.sms[from.sm].of(path);
        let counts = path.counts(&mut self.statistics);
        counts.discarded += u64::from(cache.discard(line));
        counts.bypassed += u64::from(sectors.count_ones());
        let arrives = self.read_lower(memory, Requester { now: looked_up, ..from }, SectorRead { line, sectors, policy }, out);
        self.hold_mshr(from.sm, path, arrives);
        if arrives < PENDING {
            reply.ready = arrives;
        } else {
            reply.waits_for.push((arrives as Ticket, sectors));
            reply.ready = looked_up + from.wait;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::Hierarchy;
    use super::*;
    use heddle_isa::CachePolicy;

    /// Lane 0 loads some bytes, and finds them in L1 if it can without [`ClusterCaches::load`]. Returns what it gets if so.
    fn load(h: &mut Hierarchy, memory: &DeviceMemory, access: &Access, wait: u64, briefly: bool) -> Option<Vec<u8>> {
        h.with_lower(0, |caches| {
            caches.wait = wait;
            if briefly {
                return caches.load_one(Path::Data, access).map(<[u8]>::to_vec);
            }
            caches.load(memory, Path::Data, access);
            let words = caches.loaded().iter().flat_map(|words| words[0].to_le_bytes());
            Some(words.take(access.bytes as usize).collect())
        })
    }

    #[test]
    fn a_load_by_one_lane_is_like_any_other() {
        let machine = heddle_target::testing::mixed::<String>(&[]);
        let mut memory = DeviceMemory::new(1 << 20);
        let start = memory.allocate("data", 1 << 16).unwrap();
        let bytes: Vec<u8> = (0..1 << 16).map(|i: u32| (i ^ i >> 8) as u8).collect();
        assert!(memory.write(start, &bytes));
        let mut both = [(); 2].map(|()| Hierarchy::new(&machine));
        both.iter_mut().for_each(|h| h.start(&memory, false));
        let mut now = 0;
        for policy in [CachePolicy::Default, CachePolicy::Cs] {
            for (offset, bytes) in [(0, 4), (4, 1), (30, 2), (40, 8), (112, 16), (60, 4)] {
                for wait in [0, 3] {
                    let addresses = [start + offset];
                    let access = |now| {
                        let space = MemorySpace::Global;
                        Access { sm: 0, now, space, policy, addresses: &addresses, mask: 1, bytes, private: 0 }
                    };
                    let [one, other] = &mut both;
                    // The line comes, or is there.
                    for h in [&mut *one, &mut *other] {
                        load(h, &memory, &access(now), wait, false);
                    }
                    now += 10_000;
                    let got = load(one, &memory, &access(now), wait, true);
                    assert!(got.is_some() && got == load(other, &memory, &access(now), wait, false), "{policy:?}, {bytes} bytes");
                    let cost = |h: &mut Hierarchy| h.clusters[0].get_mut().cost;
                    assert_eq!(cost(one), cost(other));
                    assert_eq!(one.statistics(), other.statistics());
                    assert_eq!(one.l1_state(0, addresses[0]), other.l1_state(0, addresses[0]));
                    now += 10_000;
                }
            }
        }
    }

    #[test]
    fn what_is_not_simply_there_is_left_alone() {
        let machine = heddle_target::testing::mixed::<String>(&[]);
        let mut memory = DeviceMemory::new(1 << 20);
        let start = memory.allocate("data", 1 << 16).unwrap();
        let mut h = Hierarchy::new(&machine);
        h.start(&memory, false);
        let addresses = [start];
        let access =
            |now, policy, space| Access { sm: 0, now, space, policy, addresses: &addresses, mask: 1, bytes: 4, private: 0 };
        let plain = |now| access(now, CachePolicy::Default, MemorySpace::Global);
        let before = h.statistics();
        assert_eq!(load(&mut h, &memory, &plain(0), 0, true), None, "it misses");
        assert_eq!(h.statistics(), before);
        load(&mut h, &memory, &plain(0), 0, false);
        let before = h.statistics();
        assert_eq!(load(&mut h, &memory, &plain(1), 0, true), None, "it is on its way");
        for (policy, space) in [
            (CachePolicy::Cg, MemorySpace::Global),
            (CachePolicy::Cv, MemorySpace::Global),
            (CachePolicy::Default, MemorySpace::Private),
        ] {
            assert_eq!(load(&mut h, &memory, &access(10_000, policy, space), 0, true), None, "{policy:?} {space:?}");
        }
        h.clusters[0].get_mut().begin_probe();
        assert_eq!(load(&mut h, &memory, &plain(10_000), 0, true), None, "it is only probed");
        h.clusters[0].get_mut().end_probe();
        assert_eq!(h.statistics(), before);
        assert!(load(&mut h, &memory, &plain(10_000), 0, true).is_some());
    }
}
