//! K6: of which allocations L1 caches may hold lines that are not what memory holds.
//!
//! What counts are allocations as a whole, by their addresses: two names of one allocation, overlapping
//! sub-buffers and pointers into the middle are all the same.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use heddle_sim::DeviceMemory;
use heddle_sim::snapshot::Snapshot;
use smallvec::SmallVec;

/// The allocations that a launch may access, each with whether it may write it.
#[derive(Clone, Debug, Default)]
pub(super) struct Accesses(SmallVec<[(Range<u64>, bool); 8]>);

impl Accesses {
    /// Adds the allocation that an address is in, if it is in one.
    pub fn add(&mut self, memory: &DeviceMemory, address: u64, writes: bool) {
        if let Some(root) = memory.root(address) {
            self.0.push((root, writes));
        }
    }

    /// Bytes of the allocations that are only read.
    pub fn read_only_bytes(&self) -> u64 {
        let mut ranges: SmallVec<[_; 8]> = self.0.iter().filter(|a| !a.1).map(|a| (a.0.start, a.0.end)).collect();
        ranges.sort_unstable();
        ranges.dedup();
        ranges.iter().map(|r| r.1 - r.0).sum()
    }
}

/// Allocations by what happened to them since the L1 caches were invalidated last.
#[derive(Clone, Debug, Default)]
pub(super) struct Stale {
    /// Accessed by a launch with timing: L1 caches may have lines of them. By address.
    used: BTreeSet<u64>,
    /// Of these, perhaps written since by a launch or the host.
    written: BTreeSet<u64>,
    /// Ranges of addresses that were freed while L1 caches may have had lines of them: end by start.
    freed: BTreeMap<u64, u64>,
}

impl Stale {
    /// Exchanges what is known.
    pub fn exchange(&mut self, snapshot: &mut Snapshot) {
        const MOST: usize = 1 << 24;
        for set in [&mut self.used, &mut self.written] {
            let mut list: Vec<u64> = set.iter().copied().collect();
            list.resize(snapshot.length(list.len(), MOST), 0);
            snapshot.words(&mut list);
            *set = list.into_iter().collect();
        }
        let mut freed: Vec<(u64, u64)> = self.freed.iter().map(|(start, end)| (*start, *end)).collect();
        freed.resize(snapshot.length(freed.len(), MOST), (0, 0));
        snapshot.words(freed.iter_mut().flat_map(|(start, end)| [start, end]));
        self.freed = freed.into_iter().collect();
    }

    /// Whether a launch would read or write what may be stale.
    pub fn concerns(&self, launch: &Accesses) -> bool {
        let freed = |root: &Range<u64>| {
            let below = self.freed.range(..root.end).next_back();
            below.is_some_and(|(_, end)| *end > root.start)
        };
        launch.0.iter().any(|(root, _)| self.written.contains(&root.start) || freed(root))
    }

    /// A launch is about to run. `cached`: its accesses go through caches.
    pub fn launched(&mut self, launch: &Accesses, cached: bool) {
        for (root, writes) in &launch.0 {
            if cached {
                self.used.insert(root.start);
            }
            if *writes && self.used.contains(&root.start) {
                self.written.insert(root.start);
            }
        }
    }

    /// The host has written to an allocation.
    pub fn host_wrote(&mut self, root: &Range<u64>) {
        if self.used.contains(&root.start) {
            self.written.insert(root.start);
        }
    }

    /// An allocation is freed: its addresses may be another one's soon.
    pub fn freed(&mut self, root: &Range<u64>) {
        self.written.remove(&root.start);
        if self.used.remove(&root.start) {
            self.freed.insert(root.start, root.end);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn accesses(memory: &DeviceMemory, list: &[(u64, bool)]) -> Accesses {
        let mut result = Accesses::default();
        list.iter().for_each(|(address, writes)| result.add(memory, *address, *writes));
        result
    }

    #[test]
    fn pointers_into_an_allocation_are_the_allocation() {
        let mut memory = DeviceMemory::new(1 << 20);
        let (a, b) = (memory.allocate("a", 1024).unwrap(), memory.allocate("b", 1024).unwrap());
        let mut stale = Stale::default();
        let writes = accesses(&memory, &[(a + 512, true), (b, false), (0, true)]);
        assert!(!stale.concerns(&writes));
        stale.launched(&writes, true);
        assert!(stale.concerns(&accesses(&memory, &[(a + 4, false)])));
        assert!(!stale.concerns(&accesses(&memory, &[(b + 4, true), (0, false)])));
        stale.host_wrote(&memory.root(b + 100).unwrap());
        assert!(stale.concerns(&accesses(&memory, &[(b, false)])));
    }

    #[test]
    fn what_no_cache_has_is_not_stale() {
        let mut memory = DeviceMemory::new(1 << 20);
        let a = memory.allocate("a", 1024).unwrap();
        let mut stale = Stale::default();
        stale.host_wrote(&memory.root(a).unwrap());
        let reads = accesses(&memory, &[(a, false)]);
        stale.launched(&reads, false);
        stale.host_wrote(&memory.root(a).unwrap());
        assert!(!stale.concerns(&reads));
    }

    #[test]
    fn addresses_that_are_used_again_are_stale() {
        let mut memory = DeviceMemory::new(1 << 20);
        let a = memory.allocate("a", 4096).unwrap();
        let mut stale = Stale::default();
        stale.launched(&accesses(&memory, &[(a, false)]), true);
        stale.freed(&memory.root(a).unwrap());
        assert!(memory.free(a));
        let (b, c) = (memory.allocate("b", 16).unwrap(), memory.allocate("c", 8192).unwrap());
        assert!(b == a && c > a);
        assert!(stale.concerns(&accesses(&memory, &[(b, false)])) && stale.concerns(&accesses(&memory, &[(c, false)])));
        let d = memory.allocate("d", 16).unwrap();
        assert!(!stale.concerns(&accesses(&memory, &[(d, false)])));
    }
}
