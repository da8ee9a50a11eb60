//! Which line of a set makes room for another one.
//!
//! Every policy takes an empty way first, then chooses among the lines that are marked evict-first (K3, K4),
//! and only then among all. What it decides depends on nothing but the order in which the cache was used.

use crate::memory::prefetch;
use crate::perturbation::mix;
use crate::snapshot::Snapshot;
use heddle_target::Replacement;

/// In a line's age: it is not evicted first. Worth more than any order of use.
const NORMAL: u64 = 1 << 63;
/// RRIP with 2 bits: a line whose next use is farthest away, and one that has just come.
const DISTANT: u8 = 3;
const LONG: u8 = 2;

/// The order in which the lines of a cache make room. Arrays have an element a frame.
pub struct EvictionOrder {
    policy: Replacement,
    ways: usize,
    /// Last use (LRU) or arrival (FIFO) of each line by order, with [`NORMAL`] unless it is evicted first; 0
    /// where there is none. Under other policies the order is 1.
    ages: Vec<u64>,
    /// Uses so far: what ages count.
    order: u64,
    /// Tree pseudo-LRU: bits of the inner nodes of a set's tree, `tree_words` for each set. A bit is 1 if the
    /// next victim is in the upper half.
    trees: Vec<u64>,
    tree_words: usize,
    /// RRIP: predicted distance of each line's next use.
    distances: Vec<u8>,
    /// Random: choices so far, and what tells this cache from others.
    choices: u64,
    seed: u64,
}

impl EvictionOrder {
    /// Exchanges the order.
    pub fn exchange(&mut self, snapshot: &mut Snapshot) {
        snapshot.words(&mut self.ages);
        snapshot.words(&mut self.trees);
        snapshot.words([&mut self.order, &mut self.choices]);
        snapshot.bytes(&mut self.distances);
    }

    /// Of an empty cache. `number` tells caches apart whose choices are random.
    pub fn new(policy: Replacement, sets: usize, ways: usize, number: u64) -> EvictionOrder {
        let frames = sets * ways;
        let tree_words = ways.next_power_of_two().div_ceil(64);
        let of = |wanted: Replacement, n: usize| if policy == wanted { n } else { 0 };
        EvictionOrder {
            policy,
            ways,
            ages: vec![0; frames],
            order: 0,
            trees: vec![0; of(Replacement::PseudoLru, sets * tree_words)],
            tree_words,
            distances: vec![0; of(Replacement::Rrip, frames)],
            choices: 0,
            seed: mix(number),
        }
    }

    /// A line comes to a frame.
    #[inline]
    pub fn insert(&mut self, frame: usize, evict_first: bool) {
        self.order += 1;
        let order = if matches!(self.policy, Replacement::Lru | Replacement::Fifo) { self.order } else { 1 };
        self.ages[frame] = order | normal(evict_first);
        match self.policy {
            Replacement::PseudoLru => self.point_away(frame),
            Replacement::Rrip => self.distances[frame] = if evict_first { DISTANT } else { LONG },
            Replacement::Lru | Replacement::Fifo | Replacement::Random => {}
        }
    }

    /// A line is used again.
    #[inline]
    pub fn touch(&mut self, frame: usize, evict_first: bool) {
        self.order += 1;
        let order = if self.policy == Replacement::Lru { self.order } else { self.ages[frame] & !NORMAL };
        self.ages[frame] = order | normal(evict_first);
        match self.policy {
            Replacement::PseudoLru => self.point_away(frame),
            Replacement::Rrip => self.distances[frame] = if evict_first { DISTANT } else { 0 },
            Replacement::Lru | Replacement::Fifo | Replacement::Random => {}
        }
    }

    /// The line of a frame is gone.
    #[inline]
    pub fn remove(&mut self, frame: usize) {
        self.ages[frame] = 0;
    }

    /// The host may fetch the ages of a set, whose first frame is given, into its caches.
    #[inline]
    pub fn prefetch(&self, first: usize) {
        for eight in self.ages[first..first + self.ways].chunks(8) {
            prefetch(eight.as_ptr());
        }
    }

    /// Where a line is in the order of eviction: lines with less go first.
    pub fn age(&self, frame: usize) -> u64 {
        self.ages[frame]
    }

    /// Whether a line is the first to be evicted.
    #[inline]
    pub fn is_evict_first(&self, frame: usize) -> bool {
        self.ages[frame] & NORMAL == 0
    }

    /// The frame to be used next of the set whose first frame is given. If a line is in it: whether it is
    /// marked evict-first.
    #[inline]
    pub fn victim(&mut self, first: usize) -> (usize, Option<bool>) {
        let (victim, oldest) = self.oldest(first);
        if oldest == 0 {
            return (victim, None);
        }
        let marked = oldest & NORMAL == 0;
        let victim = match self.policy {
            Replacement::Lru | Replacement::Fifo => victim,
            Replacement::PseudoLru => self.follow_tree(first, marked),
            Replacement::Random => self.choose(first, marked),
            // Marked lines are all as far away.
            Replacement::Rrip if marked => victim,
            Replacement::Rrip => self.most_distant(first),
        };
        (victim, Some(marked))
    }

    /// The first frame with the least age of the set whose first frame is given, and that age. Empty ways have none, and marked
    /// lines are older than all others.
    #[inline]
    pub fn oldest(&self, first: usize) -> (usize, u64) {
        let ages = &self.ages[first..first + self.ways];
        let (eights, rest) = ages.as_chunks::<8>();
        let mut least = [u64::MAX; 8];
        for ages in eights {
            for (least, age) in least.iter_mut().zip(ages) {
                *least = (*least).min(*age);
            }
        }
        let oldest = least.iter().chain(rest).fold(u64::MAX, |least, age| least.min(*age));
        (first + ages.iter().position(|age| *age == oldest).unwrap_or(0), oldest)
    }

    /// Whether the line of a frame is one of those that the policy chooses among.
    #[inline]
    fn is_candidate(&self, frame: usize, marked: bool) -> bool {
        !marked || self.is_evict_first(frame)
    }

    /// Tree pseudo-LRU: every node above a frame points to the other half.
    fn point_away(&mut self, frame: usize) {
        let (set, way) = (frame / self.ways, frame % self.ways);
        let tree = &mut self.trees[set * self.tree_words..(set + 1) * self.tree_words];
        let leaves = self.ways.next_power_of_two();
        let mut node = leaves + way;
        while node > 1 {
            let upper = node & 1;
            node /= 2;
            let bit = 1u64 << (node % 64);
            tree[node / 64] = if upper == 1 { tree[node / 64] & !bit } else { tree[node / 64] | bit };
        }
    }

    /// Tree pseudo-LRU: from the root to where the nodes point, but never to a half without a candidate.
    fn follow_tree(&self, first: usize, marked: bool) -> usize {
        let set = first / self.ways;
        let tree = &self.trees[set * self.tree_words..(set + 1) * self.tree_words];
        let (mut node, mut from, mut size) = (1, 0, self.ways.next_power_of_two());
        while size > 1 {
            size /= 2;
            let has = |from: usize| (from..(from + size).min(self.ways)).any(|w| self.is_candidate(first + w, marked));
            let upper = tree[node / 64] >> (node % 64) & 1 == 1;
            let upper = if upper { has(from + size) } else { !has(from) };
            (node, from) = (2 * node + usize::from(upper), from + if upper { size } else { 0 });
        }
        first + from
    }

    /// Random: one of the candidates, each as likely as the others.
    fn choose(&mut self, first: usize, marked: bool) -> usize {
        let all = first..first + self.ways;
        let count = all.clone().filter(|f| self.is_candidate(*f, marked)).count();
        self.choices += 1;
        let number = mix(self.seed ^ self.choices) % count.max(1) as u64;
        all.filter(|f| self.is_candidate(*f, marked)).nth(number as usize).unwrap_or(first)
    }

    /// RRIP: the first line of the greatest distance; all come nearer to it by as much as it lacks.
    fn most_distant(&mut self, first: usize) -> usize {
        let distances = &mut self.distances[first..first + self.ways];
        let most = distances.iter().copied().max().unwrap_or(DISTANT);
        let at = distances.iter().position(|d| *d == most).unwrap_or(0);
        distances.iter_mut().for_each(|d| *d += DISTANT - most);
        first + at
    }
}

#[inline]
fn normal(evict_first: bool) -> u64 {
    if evict_first { 0 } else { NORMAL }
}

#[cfg(test)]
mod tests;
