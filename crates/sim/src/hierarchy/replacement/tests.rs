//! Each policy against a model of its own making: a list, a counter, a tree in words.

use super::*;
use proptest::prelude::*;

/// What a set does with a line: its number and whether it is marked evict-first.
type Use = (u32, bool);

/// Lines in their frames, and the order.
struct Set {
    order: EvictionOrder,
    lines: Vec<Option<u32>>,
}

impl Set {
    fn new(policy: Replacement, ways: usize) -> Set {
        Set { order: EvictionOrder::new(policy, 1, ways, 0), lines: vec![None; ways] }
    }

    /// Uses a line; returns the line that had to make room.
    fn access(&mut self, (line, marked): Use) -> Option<u32> {
        if let Some(frame) = self.lines.iter().position(|l| *l == Some(line)) {
            self.order.touch(frame, marked);
            return None;
        }
        let (frame, evicted) = self.order.victim(0);
        assert_eq!(evicted.is_some(), self.lines[frame].is_some(), "an empty way is no victim");
        if let Some(was_marked) = evicted {
            assert_eq!(was_marked, self.order.is_evict_first(frame));
            let any_marked = (0..self.lines.len()).any(|f| self.order.is_evict_first(f));
            assert_eq!(was_marked, any_marked, "marked lines go first");
        } else {
            assert_eq!(Some(frame), self.lines.iter().position(Option::is_none), "the first empty way");
        }
        self.order.remove(frame);
        self.order.insert(frame, marked);
        self.lines[frame].replace(line)
    }

    fn victims(&mut self, uses: &[u32]) -> Vec<Option<u32>> {
        uses.iter().map(|l| self.access((*l, false))).collect()
    }
}

/// A list of lines, the next victim first; those that are marked stand in a list of their own.
fn list_model(uses: &[Use], ways: usize, moves_on_use: bool) -> Vec<Option<u32>> {
    let mut list: Vec<(u32, bool)> = Vec::new();
    uses.iter()
        .map(|(line, marked)| {
            if let Some(at) = list.iter().position(|l| l.0 == *line) {
                if moves_on_use {
                    list.remove(at);
                    list.push((*line, *marked));
                } else {
                    list[at].1 = *marked;
                }
                return None;
            }
            let victim = (list.len() == ways).then(|| {
                let at = list.iter().position(|l| l.1).unwrap_or(0);
                list.remove(at).0
            });
            list.push((*line, *marked));
            victim
        })
        .collect()
}

/// The tree of a power of two of ways, as a function: whether the upper half was used last decides.
fn tree_model(uses: &[u32], ways: usize) -> Vec<Option<u32>> {
    struct Node {
        victim_is_upper: bool,
        halves: Option<Box<(Node, Node)>>,
    }
    impl Node {
        fn new(ways: usize) -> Node {
            let halves = (ways > 2).then(|| Box::new((Node::new(ways / 2), Node::new(ways / 2))));
            Node { victim_is_upper: false, halves }
        }
        fn victim(&self, ways: usize) -> usize {
            let offset = if self.victim_is_upper { ways / 2 } else { 0 };
            let below = self.halves.as_ref().map(|h| if self.victim_is_upper { &h.1 } else { &h.0 });
            offset + below.map_or(0, |n| n.victim(ways / 2))
        }
        fn use_way(&mut self, way: usize, ways: usize) {
            let upper = way >= ways / 2;
            self.victim_is_upper = !upper;
            let inside = way % (ways / 2);
            if let Some(h) = &mut self.halves {
                (if upper { &mut h.1 } else { &mut h.0 }).use_way(inside, ways / 2);
            }
        }
    }
    let (mut root, mut lines) = (Node::new(ways), vec![None; ways]);
    uses.iter()
        .map(|line| {
            let at = lines.iter().position(|l| *l == Some(*line));
            let empty = lines.iter().position(Option::is_none);
            let way = at.or(empty).unwrap_or_else(|| root.victim(ways));
            root.use_way(way, ways);
            if at.is_some() { None } else { lines[way].replace(*line) }
        })
        .collect()
}

/// SRRIP as its publication has it: count up until a line is at 3.
fn rrip_model(uses: &[u32], ways: usize) -> Vec<Option<u32>> {
    let mut lines: Vec<(u32, u8)> = Vec::new();
    uses.iter()
        .map(|line| {
            if let Some(l) = lines.iter_mut().find(|l| l.0 == *line) {
                l.1 = 0;
                return None;
            }
            if lines.len() < ways {
                lines.push((*line, 2));
                return None;
            }
            loop {
                if let Some(l) = lines.iter_mut().find(|l| l.1 == 3) {
                    return Some(std::mem::replace(l, (*line, 2)).0);
                }
                lines.iter_mut().for_each(|l| l.1 += 1);
            }
        })
        .collect()
}

proptest! {
    #[test]
    fn lru_and_fifo_are_lists(uses in proptest::collection::vec((0u32..12, any::<bool>()), 0..200), ways in 1usize..9) {
        for (policy, moves) in [(Replacement::Lru, true), (Replacement::Fifo, false)] {
            let mut set = Set::new(policy, ways);
            let victims: Vec<_> = uses.iter().map(|u| set.access(*u)).collect();
            prop_assert_eq!(victims, list_model(&uses, ways, moves), "{}", policy);
        }
    }

    #[test]
    fn pseudo_lru_is_a_tree(uses in proptest::collection::vec(0u32..24, 0..200), log in 1u32..5) {
        let ways = 1 << log;
        prop_assert_eq!(Set::new(Replacement::PseudoLru, ways).victims(&uses), tree_model(&uses, ways));
    }

    #[test]
    fn rrip_is_the_published_one(uses in proptest::collection::vec(0u32..12, 0..200), ways in 1usize..9) {
        prop_assert_eq!(Set::new(Replacement::Rrip, ways).victims(&uses), rrip_model(&uses, ways));
    }

    /// K3, K4: whatever the policy, marked lines go first (which [`Set::access`] asserts), and a line is evicted once.
    #[test]
    fn marked_lines_go_first(uses in proptest::collection::vec((0u32..24, any::<bool>()), 0..200), ways in 1usize..20) {
        for policy in [Replacement::PseudoLru, Replacement::Random, Replacement::Rrip] {
            let mut set = Set::new(policy, ways);
            for u in &uses {
                set.access(*u);
            }
            let mut held: Vec<_> = set.lines.iter().flatten().collect();
            held.sort_unstable();
            held.dedup();
            prop_assert_eq!(held.len(), set.lines.iter().flatten().count());
        }
    }
}

/// Four lines, the first used again, then new ones: each policy has victims of its own.
#[test]
fn exact_victims() {
    let uses = [1, 2, 3, 4, 1, 5, 6, 1, 7, 8, 9];
    let victims = |policy| Set::new(policy, 4).victims(&uses).into_iter().flatten().collect::<Vec<_>>();
    assert_eq!(victims(Replacement::Lru), [2, 3, 4, 5, 6]);
    assert_eq!(victims(Replacement::Fifo), [1, 2, 3, 4, 5, 6]);
    assert_eq!(victims(Replacement::PseudoLru), [3, 2, 4, 6, 5]);
    assert_eq!(victims(Replacement::Rrip), [2, 3, 4, 5, 6]);
}

#[test]
fn a_line_used_again_outlives_a_scan_under_rrip_alone() {
    let uses: Vec<u32> = [0, 0].into_iter().chain(1..9).chain([0]).collect();
    let hits = |policy| {
        let mut set = Set::new(policy, 4);
        set.victims(&uses[..uses.len() - 1]);
        set.lines.contains(&Some(0))
    };
    assert!(!hits(Replacement::Lru) && !hits(Replacement::Fifo));
    // Distances count up once a round of the set: two rounds of new lines are survived.
    let mut set = Set::new(Replacement::Rrip, 4);
    let victims = set.victims(&[0, 0, 1, 2, 3, 4, 5, 6]).into_iter().flatten().collect::<Vec<_>>();
    assert_eq!(victims, [1, 2, 3]);
    assert!(set.lines.contains(&Some(0)));
}

#[test]
fn ways_that_are_no_power_of_two_are_all_used_by_the_tree() {
    for ways in [1, 3, 5, 7, 12, 65] {
        let mut set = Set::new(Replacement::PseudoLru, ways);
        let mut evicted: Vec<u32> = set.victims(&(0..3 * ways as u32).collect::<Vec<_>>()).into_iter().flatten().collect();
        evicted.sort_unstable();
        evicted.dedup();
        assert_eq!(evicted.len(), 2 * ways, "{ways} ways");
        assert!(set.lines.iter().all(|l| l.is_some_and(|l| l >= ways as u32)), "{ways} ways: every way has been a victim");
    }
}

#[test]
fn random_victims_repeat_and_are_spread() {
    let uses: Vec<u32> = (0..4004).collect();
    let run = |number| {
        let mut set = Set { order: EvictionOrder::new(Replacement::Random, 1, 4, number), lines: vec![None; 4] };
        let mut counts = [0; 4];
        for line in &uses {
            set.access((*line, false));
            counts[set.lines.iter().position(|l| *l == Some(*line)).unwrap()] += 1;
        }
        counts
    };
    assert_eq!(run(0), run(0));
    assert_ne!(run(0), run(1), "caches of different numbers choose differently");
    assert!(run(0).iter().all(|n| (850..1150).contains(n)), "{:?}", run(0));
    // The first choices of the first cache, as a machine's results depend on them.
    let first = Set::new(Replacement::Random, 4).victims(&[0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    assert_eq!(first.into_iter().flatten().count(), 6);
}
