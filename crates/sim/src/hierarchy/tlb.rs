//! Translation of addresses: what it adds to the time of a request. Bytes are where they are without it.
//!
//! L1 caches are looked up by virtual addresses, as micro-benchmarks find on GPUs (Jia et al., "Dissecting the
//! NVIDIA Volta GPU architecture via microbenchmarking", 2018), so only what goes on to L2 is translated: by
//! the SM's own TLB, then by one that all SMs share, then by a page walk, of which so many go on at once.

use rustc_hash::FxHashMap;

use super::replacement::EvictionOrder;
use crate::snapshot::Snapshot;
use heddle_target::{Memory, Replacement};

/// Tag of an entry without a page.
const EMPTY: u64 = u64::MAX;

/// What the requester's own TLB says of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Translation {
    /// There are no TLBs.
    None,
    /// The page is known, but its walk may still be under way.
    Known,
    /// The page is not known.
    Unknown,
}

/// A request as it comes to L2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ArrivingRequest {
    /// The cycle.
    pub cycle: u64,
    /// What is known of its page.
    pub translation: Translation,
}

/// A set-associative buffer of pages.
pub struct Tlb {
    tags: Vec<u64>,
    ways: usize,
    sets: u64,
    order: EvictionOrder,
}

impl Tlb {
    fn exchange(&mut self, snapshot: &mut Snapshot) {
        snapshot.words(&mut self.tags);
        self.order.exchange(snapshot);
    }

    /// An empty buffer; `None` without entries.
    fn new(entries: u32, ways: u32, replacement: Replacement, number: u64) -> Option<Tlb> {
        let sets = entries / ways;
        let order = EvictionOrder::new(replacement, sets as usize, ways as usize, number);
        let tlb = Tlb { tags: vec![EMPTY; entries as usize], ways: ways as usize, sets: u64::from(sets), order };
        (entries > 0).then_some(tlb)
    }

    /// Uses a page, which is known from then on. Whether it was before.
    fn access(&mut self, page: u64) -> bool {
        let first = (page % self.sets) as usize * self.ways;
        if let Some(way) = self.tags[first..first + self.ways].iter().position(|t| *t == page) {
            self.order.touch(first + way, false);
            return true;
        }
        let (victim, _) = self.order.victim(first);
        self.order.insert(victim, false);
        self.tags[victim] = page;
        false
    }
}

/// The translation that an SM does itself.
pub struct SmTranslation {
    tlb: Option<Tlb>,
    /// There is a TLB, here or behind.
    any: bool,
    latency: u64,
    page_shift: u32,
}

impl SmTranslation {
    /// Exchanges the pages that the TLB knows.
    pub fn exchange(&mut self, snapshot: &mut Snapshot) {
        self.tlb.iter_mut().for_each(|tlb| tlb.exchange(snapshot));
    }

    /// Of the SM of a number.
    pub fn new(m: &Memory, number: usize) -> SmTranslation {
        SmTranslation {
            tlb: Tlb::new(m.tlb.entries, m.tlb.ways, m.tlb.replacement, number as u64),
            any: m.tlb.entries + m.l2_tlb.entries > 0,
            latency: u64::from(m.tlb.latency),
            page_shift: m.tlb.page_bytes.trailing_zeros(),
        }
    }

    /// Looks up the page of an address. Returns what is known of it, and the cycles that this takes.
    #[inline]
    pub fn look_up(&mut self, address: u64) -> (Translation, u64) {
        if !self.any {
            return (Translation::None, 0);
        }
        match &mut self.tlb {
            Some(tlb) => {
                let known = tlb.access(address >> self.page_shift);
                (if known { Translation::Known } else { Translation::Unknown }, self.latency)
            }
            None => (Translation::Unknown, 0),
        }
    }

    /// Whether addresses are looked up in a TLB of the SM.
    pub fn has_tlb(&self) -> bool {
        self.tlb.is_some()
    }
}

/// The translation behind all SMs: the shared TLB and page walks.
pub struct SharedTranslation {
    tlb: Option<Tlb>,
    latency: u64,
    walk_latency: u64,
    page_shift: u32,
    /// Cycle from which each walker is free.
    walkers: Vec<u64>,
    /// Pages that were walked in this launch, and when they were known.
    walked: FxHashMap<u64, u64>,
    /// Requests that were looked up in the shared TLB, and that it did not know.
    pub look_ups: u64,
    pub misses: u64,
    /// Page walks.
    pub walks: u64,
}

impl SharedTranslation {
    /// Exchanges the pages that the TLB knows.
    pub fn exchange(&mut self, snapshot: &mut Snapshot) {
        self.tlb.iter_mut().for_each(|tlb| tlb.exchange(snapshot));
    }

    /// As described, with nothing known.
    pub fn new(m: &Memory) -> SharedTranslation {
        SharedTranslation {
            tlb: Tlb::new(m.l2_tlb.entries, m.l2_tlb.ways, m.l2_tlb.replacement, 0),
            latency: u64::from(m.l2_tlb.latency),
            walk_latency: u64::from(m.l2_tlb.walk_latency),
            page_shift: m.tlb.page_bytes.trailing_zeros(),
            walkers: vec![0; m.l2_tlb.walks as usize],
            walked: FxHashMap::default(),
            look_ups: 0,
            misses: 0,
            walks: 0,
        }
    }

    /// A launch begins at cycle 0: no walk is under way.
    pub fn restart_clock(&mut self) {
        self.walkers.fill(0);
        self.walked.clear();
        (self.look_ups, self.misses, self.walks) = (0, 0, 0);
    }

    /// The cycle at which the address of a request is translated.
    #[inline]
    pub fn translate(&mut self, address: u64, request: ArrivingRequest) -> u64 {
        let ArrivingRequest { cycle, translation } = request;
        match translation {
            Translation::None => cycle,
            Translation::Known => cycle.max(self.walked_at(address >> self.page_shift)),
            Translation::Unknown => self.look_up(address >> self.page_shift, cycle),
        }
    }

    fn walked_at(&self, page: u64) -> u64 {
        self.walked.get(&page).copied().unwrap_or(0)
    }

    /// A page that the requester does not know.
    fn look_up(&mut self, page: u64, cycle: u64) -> u64 {
        let mut cycle = cycle;
        if let Some(tlb) = &mut self.tlb {
            self.look_ups += 1;
            cycle += self.latency;
            if tlb.access(page) {
                return cycle.max(self.walked_at(page));
            }
            self.misses += 1;
        }
        // A walk that is under way serves this request, too.
        let under_way = self.walked_at(page);
        if under_way > cycle {
            return under_way;
        }
        self.walks += 1;
        let Some(walker) = self.walkers.iter_mut().min() else { return cycle };
        let done = cycle.max(*walker) + self.walk_latency;
        *walker = done;
        self.walked.insert(page, done);
        done
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use heddle_target::Machine;

    fn memory(set: &[&str]) -> Memory {
        Machine::load(None, &set.iter().map(ToString::to_string).collect::<Vec<_>>()).unwrap().memory
    }

    const PAGE: u64 = 65536;

    #[test]
    fn without_tlbs_nothing_is_translated() {
        let m = memory(&[]);
        assert_eq!(SmTranslation::new(&m, 0).look_up(5 * PAGE), (Translation::None, 0));
        let request = ArrivingRequest { cycle: 7, translation: Translation::None };
        let mut shared = SharedTranslation::new(&m);
        assert_eq!((shared.translate(PAGE, request), shared.walks), (7, 0));
    }

    #[test]
    fn an_sm_knows_the_pages_it_used_last() {
        let m = memory(&["memory.tlb.entries=4", "memory.tlb.ways=2", "memory.tlb.latency=3"]);
        let mut sm = SmTranslation::new(&m, 0);
        let known = |sm: &mut SmTranslation, page: u64| {
            let (t, latency) = sm.look_up(page * PAGE + 17);
            assert_eq!(latency, 3);
            t == Translation::Known
        };
        // Even pages share a set of two ways.
        let pages = [0, 2, 0, 1, 4, 0, 2, 1];
        assert_eq!(pages.map(|p| known(&mut sm, p)), [false, false, true, false, false, true, false, true]);
        // Without a TLB of its own an SM asks the shared one each time.
        let mut none = SmTranslation::new(&memory(&["memory.l2-tlb.entries=16"]), 0);
        assert!(!none.has_tlb());
        assert_eq!([0, 0].map(|p| none.look_up(p)), [(Translation::Unknown, 0); 2]);
    }

    #[test]
    fn unknown_pages_are_walked_so_many_at_once() {
        let m = memory(&["memory.tlb.entries=16", "memory.l2-tlb.walks=2", "memory.l2-tlb.walk-latency=100"]);
        let mut shared = SharedTranslation::new(&m);
        let mut unknown = |page: u64, cycle| {
            let request = ArrivingRequest { cycle, translation: Translation::Unknown };
            shared.translate(page * PAGE, request)
        };
        assert_eq!([unknown(0, 10), unknown(1, 20), unknown(2, 30), unknown(3, 40)], [110, 120, 210, 220]);
        // A walk under way is joined; when it is over there is another one, as nobody has kept the page.
        assert_eq!([unknown(0, 109), unknown(0, 110), unknown(0, 309)], [110, 310, 310]);
        assert_eq!((shared.walks, shared.look_ups), (5, 0));
        // A page that the SM knows already, while it is walked for the first time.
        let known = |cycle| ArrivingRequest { cycle, translation: Translation::Known };
        assert_eq!((shared.translate(2 * PAGE, known(50)), shared.translate(2 * PAGE, known(211))), (210, 211));
        assert_eq!(shared.translate(9 * PAGE, known(50)), 50);
    }

    #[test]
    fn the_shared_tlb_saves_walks() {
        let set =
            ["memory.tlb.entries=16", "memory.l2-tlb.entries=16", "memory.l2-tlb.latency=10", "memory.l2-tlb.walk-latency=100"];
        let mut shared = SharedTranslation::new(&memory(&set));
        let mut unknown = |page: u64, cycle| {
            let request = ArrivingRequest { cycle, translation: Translation::Unknown };
            shared.translate(page * PAGE, request)
        };
        // A walk, a request that joins it, one that finds the page.
        assert_eq!([unknown(0, 0), unknown(0, 50), unknown(0, 200)], [110, 110, 210]);
        assert_eq!((shared.look_ups, shared.misses, shared.walks), (3, 1, 1));
        shared.restart_clock();
        let request = ArrivingRequest { cycle: 0, translation: Translation::Unknown };
        assert_eq!((shared.translate(0, request), shared.look_ups, shared.misses), (10, 1, 0), "pages stay known");
    }
}
