//! What an SM has of the memory hierarchy for itself: its L1 caches, and its port to the network that leads to L2.

use super::Path;
use super::cache::{Cache, LineFrame, Organization};
use super::line::LineNumber;
use super::tlb::SmTranslation;
use heddle_target::Memory;

/// An SM's L1 caches and its network port.
pub(super) struct SmCaches {
    /// By [`Path`]: the L1 of global memory's loads and private memory, of textures and `ldu`, of the constant address space, and of
    /// code, which are only tags.
    l1: [Cache; 4],
    /// Lines of code that were found whole.
    pub fetched: RecentFetches,
    /// To L2 and back.
    pub port: NetworkPort,
    /// Of the addresses of what goes to L2.
    pub translation: SmTranslation,
}

impl SmCaches {
    /// Empty caches of the SM of a number.
    pub fn new(m: &Memory, number: usize) -> SmCaches {
        let mut count = 4 * number as u64;
        macro_rules! cache {
            ($of:expr, $merges:expr) => {{
                count += 1;
                Cache::new(&Organization {
                    bytes: $of.bytes,
                    ways: $of.ways,
                    line_bytes: m.line_bytes,
                    sector_bytes: m.sector_bytes,
                    misses: $of.misses,
                    merges: $merges,
                    replacement: $of.replacement,
                    index: $of.index,
                    slices: 1,
                    number: count,
                })
            }};
        }
        SmCaches {
            l1: [
                cache!(m.data, m.data.merges),
                cache!(m.uniform, m.uniform.merges),
                cache!(m.constant, m.constant.merges),
                cache!(m.instruction, 0),
            ],
            fetched: RecentFetches::new(),
            port: NetworkPort::default(),
            translation: SmTranslation::new(m, number),
        }
    }

    /// The L1 of a path. Found without a branch, since paths alternate.
    #[inline]
    pub fn of(&mut self, path: Path) -> &mut Cache {
        &mut self.l1[path as usize]
    }

    /// The same to look at.
    #[inline]
    pub fn get(&self, path: Path) -> &Cache {
        &self.l1[path as usize]
    }

    /// All of them, by path.
    pub fn all(&mut self) -> &mut [Cache; 4] {
        &mut self.l1
    }

    /// A launch begins at cycle 0: nothing is on its way.
    pub fn restart_clock(&mut self) {
        self.l1.iter_mut().for_each(Cache::restart_clock);
        self.port = NetworkPort::default();
    }
}

/// An SM's port to the network: one direction for requests, one for replies, each busy for some cycles a sector.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct NetworkPort {
    /// Cycle from which the next request can enter the network.
    request_free: u64,
    /// Cycle from which the next reply can leave it.
    reply_free: u64,
}

impl NetworkPort {
    /// A request enters the network behind those before it and takes the port for `cycles`. Returns the cycle at which it enters.
    #[inline]
    pub fn inject(&mut self, now: u64, cycles: u64) -> u64 {
        let enters = self.request_free.max(now);
        self.request_free = enters + cycles;
        enters
    }

    /// Takes the port for `cycles` of a reply to a request made at `now`. Returns the first of them, if the network took no time.
    #[inline]
    pub fn reserve_reply(&mut self, now: u64, cycles: u64) -> u64 {
        let starts = self.reply_free.max(now);
        self.reply_free = starts + cycles;
        starts
    }
}

/// Lines of code an SM's [`RecentFetches`] remember.
const REMEMBERED: usize = 64;

/// Lines of code that were there together with those that are fetched ahead of need. As long as their cache
/// has not changed, fetching them again finds the same: what the look-up would say is kept.
pub(super) struct RecentFetches(Box<[RecentFetch; REMEMBERED]>);

/// A line of code that was there, with those behind it.
#[derive(Clone, Copy, Default)]
pub(super) struct RecentFetch {
    /// The line.
    pub line: LineNumber,
    /// [`Cache::changes`] at that time.
    pub changes: u64,
    /// Where the line is in the cache.
    pub frame: LineFrame,
    /// Cycle from which it was there.
    pub ready: u64,
}

impl RecentFetches {
    fn new() -> RecentFetches {
        RecentFetches(Box::new([RecentFetch::default(); REMEMBERED]))
    }

    /// What is known of a line, if the cache still is as it was.
    #[inline]
    pub fn get(&self, line: LineNumber, changes: u64) -> Option<RecentFetch> {
        let known = self.0[line as usize % REMEMBERED];
        (known.line == line && known.changes == changes).then_some(known)
    }

    /// Remembers a line.
    #[inline]
    pub fn put(&mut self, fetch: RecentFetch) {
        self.0[fetch.line as usize % REMEMBERED] = fetch;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_serves_one_request_after_the_other() {
        let mut port = NetworkPort::default();
        assert_eq!(port.inject(10, 4), 10);
        assert_eq!(port.inject(11, 4), 14);
        assert_eq!(port.inject(30, 1), 30);
        // Replies have a direction of their own.
        assert_eq!(port.reserve_reply(10, 8), 10);
        assert_eq!(port.reserve_reply(10, 8), 18);
    }

    #[test]
    fn a_fetch_is_forgotten_when_the_cache_changes() {
        let mut fetches = RecentFetches::new();
        fetches.put(RecentFetch { line: 7, changes: 3, ready: 90, ..Default::default() });
        assert_eq!(fetches.get(7, 3).map(|f| f.ready), Some(90));
        assert!(fetches.get(7, 4).is_none() && fetches.get(7 + REMEMBERED as u64, 3).is_none());
    }
}
