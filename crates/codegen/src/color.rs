//! Graph colouring with aligned tuples and coalescing, shared by all register files (C2, C10, C12).
//!
//! # Problem
//! Nodes are live ranges of 1, 2 or 4 words. Every word has its own intervals of program points, so a tuple
//! of which two words are dead blocks two registers only. Nodes whose words overlap in time in the same
//! register interfere; a node of `n` words takes `n` consecutive registers from a multiple of `n` on (C12).
//! Copies want both their ends in one register. What gets no colour is given up to the spiller of the file.
//!
//! # Algorithm
//! *Coalescing* is optimistic (Park and Moon, "Optimistic register coalescing", TOPLAS 2004): copies in order
//! of execution count merge their ends into bundles whenever no word interferes, single words into their
//! place in a tuple included. A bundle that gets no colour is taken apart again before anything is spilled.
//!
//! *Colouring* visits bundles in the order of their starts, which on straight-line code and on trees of
//! blocks is a perfect elimination order of the interference graph (Hack, "Register allocation for programs
//! in SSA form", 2007): greedy colouring then needs no more registers than the pressure, alignment aside.
//! Registers are taken best-fit, so that single words fill partly used quads and leave whole ones to tuples.
//! If none is free, blockers that can sit elsewhere are moved; then the cheapest of the bundle itself and the
//! sets of its blockers is given up. A node of infinite cost is never given up: it evicts what is finite, or
//! what is narrower and can move.
//!
//! Where the file has banks, what one instruction reads should lie in different ones: among the free places that
//! do not take more registers, that with the fewest conflicts, weighted, with operands placed before comes
//! first. Copies that vanish come before that.
//!
//! The interference graph is never built, because it is quadratic in long blocks: two nodes interfere if
//! their intervals overlap, and each register keeps the intervals placed in it in a search tree. Time is near
//! n·log n, for 100,000 instructions as for 10,000 blocks.
//!
//! Deterministic: ties go to the earlier node and the lower register.

use std::cell::Cell;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use smallvec::SmallVec;

use heddle_isa::VReg;

/// Half-open interval of program points.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Segment {
    /// First point.
    pub start: u32,
    /// Point after the last.
    pub end: u32,
}

/// A live range to colour.
#[derive(Clone, Debug)]
pub struct Node {
    /// The virtual register, for the caller.
    pub reg: VReg,
    /// Registers it needs: 1, 2 or 4.
    pub words: u8,
    /// Cost of giving it up, per point of its length; infinite if it must get a colour.
    pub cost: f32,
    /// For each word its intervals, sorted and disjoint, as a range of [`Graph::segments`].
    pub live: [(u32, u32); 4],
}

/// A copy that vanishes if `color(a) + offset = color(b)`.
#[derive(Clone, Copy, Debug)]
pub struct Affinity {
    /// Index of a node.
    pub a: u32,
    /// Index of a node.
    pub b: u32,
    /// Wanted difference of the first registers.
    pub offset: i8,
    /// Executions of the copy.
    pub weight: f32,
}

/// Two registers that one instruction reads.
#[derive(Clone, Copy, Debug)]
pub struct ReadTogether {
    /// Index of a node and the word of it.
    pub a: (u32, u8),
    /// Index of a node and the word of it.
    pub b: (u32, u8),
    /// Executions of the instruction.
    pub weight: f32,
}

/// The colouring problem: interference is implied by the intervals.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    /// Live ranges.
    pub nodes: Vec<Node>,
    /// Intervals of all words of all nodes.
    pub segments: Vec<Segment>,
    /// Copies.
    pub affinities: Vec<Affinity>,
    /// Registers that are read in the same cycle.
    pub together: Vec<ReadTogether>,
}

impl Graph {
    /// Intervals of one word of a node.
    pub fn word(&self, node: usize, word: u8) -> &[Segment] {
        let (from, to) = self.nodes[node].live[usize::from(word)];
        &self.segments[from as usize..to as usize]
    }

    /// Adds a node with the intervals of each of its words.
    pub fn add(&mut self, reg: VReg, cost: f32, words: &[&[(u32, u32)]]) -> usize {
        let mut live = [(0, 0); 4];
        for (slot, intervals) in live.iter_mut().zip(words) {
            let from = self.segments.len() as u32;
            self.segments.extend(intervals.iter().map(|&(start, end)| Segment { start, end }));
            *slot = (from, self.segments.len() as u32);
        }
        self.nodes.push(Node { reg, words: words.len() as u8, cost, live });
        self.nodes.len() - 1
    }
}

/// A register file.
#[derive(Clone, Debug)]
pub struct FileSpec {
    /// Registers.
    pub registers: u32,
    /// Registers that must not be used, sorted.
    pub reserved: Vec<u32>,
    /// Banks: register r is in bank r mod banks; 0: no banks.
    pub banks: u32,
    /// Using so many registers costs nothing.
    pub free: u32,
}

impl FileSpec {
    /// A file without reserved registers and banks.
    pub fn new(registers: u32) -> Self {
        FileSpec { registers, reserved: Vec::new(), banks: 0, free: 0 }
    }

    /// With banks, of which `free` registers may be used at no cost.
    pub fn with_banks(self, banks: u32, free: u32) -> Self {
        FileSpec { banks, free: free.min(self.registers), ..self }
    }
}

/// The outcome.
#[derive(Clone, Debug, Default)]
pub struct Coloring {
    /// First register of each node; `None` for those given up.
    pub color: Vec<Option<u16>>,
    /// Nodes given up, in order.
    pub spilled: Vec<u32>,
    /// Registers used: the highest, plus one.
    pub used: u32,
    /// Copies that vanish.
    pub coalesced: usize,
}

/// No colour for a node of infinite cost.
#[derive(Debug)]
pub struct OutOfRegisters {
    /// The node.
    pub node: u32,
}

/// Nodes that share a place: node and its offset from the bundle's first register.
type Members = SmallVec<[(u32, u8); 2]>;

/// Intervals of a word: most have one or two.
type Segments = SmallVec<[Segment; 2]>;

#[derive(Clone, Default)]
struct Bundle {
    members: Members,
    words: u8,
    cost: f32,
    live: [Segments; 4],
    start: u32,
    end: u32,
    place: Option<u32>,
}

/// Colours a graph.
///
/// # Errors
/// [`OutOfRegisters`] if nodes of infinite cost do not fit.
pub fn color(graph: &Graph, file: &FileSpec) -> Result<Coloring, OutOfRegisters> {
    let mut colorer = Colorer::new(graph, file);
    colorer.coalesce();
    colorer.assign()?;
    let mut result = Coloring { color: vec![None; graph.nodes.len()], spilled: colorer.spilled, ..Default::default() };
    for bundle in &colorer.bundles {
        let Some(place) = bundle.place else { continue };
        for &(node, offset) in &bundle.members {
            let first = place + u32::from(offset);
            result.color[node as usize] = Some(first as u16);
            result.used = result.used.max(first + u32::from(graph.nodes[node as usize].words));
        }
    }
    result.spilled.sort_unstable();
    for a in &graph.affinities {
        if let (Some(x), Some(y)) = (result.color[a.a as usize], result.color[a.b as usize]) {
            result.coalesced += usize::from(i32::from(x) + i32::from(a.offset) == i32::from(y));
        }
    }
    Ok(result)
}

/// Merges the ends of copies between nodes of the same width that do not interfere, heaviest copies first,
/// whatever that does to colourability. Returns for each node the first node of its bundle.
pub fn coalesced(graph: &Graph) -> Vec<u32> {
    let mut same = graph.clone();
    same.affinities.retain(|a| a.offset == 0 && graph.nodes[a.a as usize].words == graph.nodes[a.b as usize].words);
    let mut colorer = Colorer::new(&same, &FileSpec::new(0));
    colorer.coalesce();
    let mut result: Vec<u32> = (0..graph.nodes.len() as u32).collect();
    for bundle in &colorer.bundles {
        if let Some(first) = bundle.members.iter().map(|m| m.0).min() {
            bundle.members.iter().for_each(|m| result[m.0 as usize] = first);
        }
    }
    result
}

/// What each node shares its place with once the ends of copies have been merged as far as they can be, whatever that does to
/// colourability: the first node of its bundle, and the bundle's words.
pub fn bundles(graph: &Graph) -> Vec<(u32, u8)> {
    if graph.affinities.is_empty() {
        return graph.nodes.iter().zip(0..).map(|(node, number)| (number, node.words)).collect();
    }
    let mut colorer = Colorer::new(graph, &FileSpec::new(0));
    colorer.coalesce();
    let of = |b: u32| &colorer.bundles[b as usize];
    let first = |b: &Bundle| b.members.iter().map(|m| m.0).min().unwrap_or(0);
    colorer.bundle_of.iter().map(|b| (first(of(*b)), of(*b).words)).collect()
}

struct Colorer<'a> {
    graph: &'a Graph,
    bundles: Vec<Bundle>,
    /// Bundle of each node.
    bundle_of: Vec<u32>,
    /// Per register: start of an interval to its end and bundle.
    file: Vec<BTreeMap<u32, (u32, u32)>>,
    reserved: Vec<bool>,
    /// Last point in use, per register.
    last: Vec<u32>,
    /// An interval placed in each register, where the last search ended: most searches end at the same one.
    occupant: Vec<Cell<(u32, u32)>>,
    /// Copies of each node, heaviest first, as (other node, wanted difference other − this).
    neighbours: Vec<SmallVec<[(u32, i8); 2]>>,
    /// Of each node the operands read with it: its word, the other node and word, weight. Empty without banks.
    together: Vec<SmallVec<[Conflict; 2]>>,
    /// Banks of the file; 0 or 1: none.
    banks: u32,
    /// Registers below this cost nothing.
    high: u32,
    spilled: Vec<u32>,
}

/// A word of a node, the node and word that are read with it, and how often.
type Conflict = (u8, (u32, u8), f32);

/// Whether two sorted lists of intervals are disjoint.
fn disjoint(a: &[Segment], b: &[Segment]) -> bool {
    let (small, large) = if a.len() <= b.len() { (a, b) } else { (b, a) };
    match (large.first(), large.last(), small.first(), small.last()) {
        (Some(lf), Some(ll), Some(sf), Some(sl)) if lf.start < sl.end && sf.start < ll.end => {}
        _ => return true,
    }
    small.iter().all(|s| {
        let at = large.partition_point(|l| l.end <= s.start);
        large.get(at).is_none_or(|l| l.start >= s.end)
    })
}

/// Adds intervals to a sorted list; neighbours that touch become one.
fn unite(into: &mut Segments, other: &[Segment]) {
    if other.is_empty() {
        return;
    }
    let from = into.partition_point(|s| s.end < other[0].start);
    let tail: SmallVec<[Segment; 8]> = into.drain(from..).collect();
    let (mut a, mut b) = (tail.iter().peekable(), other.iter().peekable());
    while let Some(next) = match (a.peek(), b.peek()) {
        (Some(x), Some(y)) if x.start <= y.start => a.next(),
        (_, Some(_)) => b.next(),
        _ => a.next(),
    } {
        match into.last_mut() {
            Some(last) if last.end >= next.start => last.end = last.end.max(next.end),
            _ => into.push(*next),
        }
    }
}

impl<'a> Colorer<'a> {
    fn new(graph: &'a Graph, file: &FileSpec) -> Self {
        let registers = file.registers as usize;
        let mut reserved = vec![false; registers];
        for r in &file.reserved {
            if let Some(slot) = reserved.get_mut(*r as usize) {
                *slot = true;
            }
        }
        // Those that are taken apart become more.
        let mut bundles = Vec::with_capacity(2 * graph.nodes.len());
        bundles.extend((0..graph.nodes.len()).map(|n| single(graph, n as u32)));
        let mut order: Vec<usize> = (0..graph.affinities.len()).collect();
        order.sort_by(|x, y| graph.affinities[*y].weight.total_cmp(&graph.affinities[*x].weight));
        let mut neighbours: Vec<SmallVec<[(u32, i8); 2]>> = vec![SmallVec::new(); graph.nodes.len()];
        for i in order {
            let Affinity { a, b, offset, .. } = graph.affinities[i];
            neighbours[a as usize].push((b, offset));
            neighbours[b as usize].push((a, -offset));
        }
        let mut together = Vec::new();
        if file.banks > 1 {
            together.resize(graph.nodes.len(), SmallVec::new());
            for t in &graph.together {
                together[t.a.0 as usize].push((t.a.1, t.b, t.weight));
                together[t.b.0 as usize].push((t.b.1, t.a, t.weight));
            }
        }
        Colorer {
            graph,
            bundles,
            bundle_of: (0..graph.nodes.len() as u32).collect(),
            file: vec![BTreeMap::new(); registers],
            reserved,
            last: vec![0; registers],
            occupant: vec![Cell::new((0, 0)); registers],
            neighbours,
            together,
            banks: file.banks,
            high: if file.banks > 1 { file.free } else { 0 },
            spilled: Vec::new(),
        }
    }

    /// Merges the ends of copies that do not interfere.
    fn coalesce(&mut self) {
        let mut order: Vec<usize> = (0..self.graph.affinities.len()).collect();
        order.sort_by(|x, y| self.graph.affinities[*y].weight.total_cmp(&self.graph.affinities[*x].weight));
        for i in order {
            let Affinity { a, b, offset, .. } = self.graph.affinities[i];
            let (x, y) = (self.bundle_of[a as usize], self.bundle_of[b as usize]);
            if x == y {
                continue;
            }
            let place = |bundle: u32, node: u32| {
                self.bundles[bundle as usize].members.iter().find(|m| m.0 == node).map_or(0, |m| i32::from(m.1))
            };
            // First register of y's bundle minus that of x's.
            let difference = place(x, a) + i32::from(offset) - place(y, b);
            let (wide, narrow, at) = if self.bundles[x as usize].words >= self.bundles[y as usize].words {
                (x as usize, y as usize, difference)
            } else {
                (y as usize, x as usize, -difference)
            };
            let (w, n) = (i32::from(self.bundles[wide].words), i32::from(self.bundles[narrow].words));
            // Nodes that must have a colour stay small and movable.
            let infinite = self.bundles[wide].cost.is_infinite() || self.bundles[narrow].cost.is_infinite();
            if at < 0 || at + n > w || at % n != 0 || infinite {
                continue;
            }
            let at = at as usize;
            let free = (0..n as usize).all(|i| disjoint(&self.bundles[wide].live[at + i], &self.bundles[narrow].live[i]));
            if free {
                self.merge(wide, narrow, at);
            }
        }
    }

    fn merge(&mut self, wide: usize, narrow: usize, at: usize) {
        let other = std::mem::take(&mut self.bundles[narrow]);
        let bundle = &mut self.bundles[wide];
        for &(node, offset) in &other.members {
            self.bundle_of[node as usize] = wide as u32;
            bundle.members.push((node, offset + at as u8));
        }
        for (i, live) in other.live.into_iter().enumerate().take(usize::from(other.words)) {
            let into = &mut bundle.live[at + i];
            if into.len() >= live.len() {
                unite(into, &live);
            } else {
                let old = std::mem::replace(into, live);
                unite(into, &old);
            }
        }
        bundle.cost = bundle.cost.max(other.cost);
        bundle.start = bundle.start.min(other.start);
        bundle.end = bundle.end.max(other.end);
    }

    fn assign(&mut self) -> Result<(), OutOfRegisters> {
        // Earliest start first; of those that start together the longest.
        let key = |b: &Bundle, i: usize| (b.start, Reverse(b.end), i as u32);
        let mut initial: Vec<_> =
            self.bundles.iter().enumerate().filter(|(_, b)| !b.members.is_empty()).map(|(i, b)| key(b, i)).collect();
        initial.sort_unstable();
        let mut initial = initial.into_iter().peekable();
        let mut again: BinaryHeap<Reverse<(u32, Reverse<u32>, u32)>> = BinaryHeap::new();
        loop {
            let i = match again.pop() {
                Some(Reverse(k)) => k.2 as usize,
                None => match initial.next() {
                    Some(k) => k.2 as usize,
                    None => return Ok(()),
                },
            };
            if let Some(place) = self.find(i) {
                self.put(i, place);
                continue;
            }
            if self.relocate(i) {
                continue;
            }
            if self.bundles[i].members.len() > 1 {
                for part in self.take_apart(i) {
                    again.push(Reverse(key(&self.bundles[part], part)));
                }
                continue;
            }
            // The cheapest set of blockers, if cheaper than the bundle itself.
            let (cost, words) = (self.bundles[i].cost, self.bundles[i].words);
            let mut best: Option<(f32, u32, Vec<u32>)> = None;
            for base in self.positions(words) {
                let blockers = self.blockers(i, base);
                let price: f32 = blockers
                    .iter()
                    .map(|b| &self.bundles[*b as usize])
                    // A narrower bundle of infinite cost moves; it is not given up.
                    .map(|b| if b.cost.is_infinite() && b.words < words { f32::MAX / 1e6 } else { b.cost })
                    .sum();
                if best.as_ref().is_none_or(|b| price < b.0) {
                    best = Some((price, base, blockers));
                }
            }
            match best {
                Some((price, base, blockers)) if price < cost => {
                    for &b in &blockers {
                        self.remove(b as usize);
                    }
                    self.put(i, base);
                    for b in blockers {
                        let b = b as usize;
                        if let Some(place) = self.find(b) {
                            self.put(b, place);
                        } else if self.bundles[b].cost.is_infinite() || self.bundles[b].members.len() > 1 {
                            again.push(Reverse(key(&self.bundles[b], b)));
                        } else {
                            self.spill(b);
                        }
                    }
                }
                _ if cost.is_finite() => self.spill(i),
                _ => return Err(OutOfRegisters { node: self.bundles[i].members[0].0 }),
            }
        }
    }

    fn spill(&mut self, bundle: usize) {
        self.spilled.extend(self.bundles[bundle].members.iter().map(|m| m.0));
    }

    /// First registers a bundle of some width may have.
    fn positions(&self, words: u8) -> impl Iterator<Item = u32> + use<> {
        let words = u32::from(words);
        (0..self.file.len() as u32 / words).map(move |b| b * words)
    }

    /// Whether a register is free at every point of some intervals.
    fn fits(&self, register: u32, live: &[Segment]) -> bool {
        let r = register as usize;
        let (Some(first), false) = (live.first(), self.reserved[r]) else { return !self.reserved[r] };
        if self.last[r] <= first.start {
            return true;
        }
        let (from, to) = self.occupant[r].get();
        if from <= first.start && first.start < to {
            return false;
        }
        live.iter().all(|s| match self.file[r].range(..s.end).next_back() {
            Some((start, (end, _))) if *end > s.start => {
                self.occupant[r].set((*start, *end));
                false
            }
            _ => true,
        })
    }

    fn free(&self, bundle: usize, base: u32) -> bool {
        let bundle = &self.bundles[bundle];
        base + u32::from(bundle.words) <= self.file.len() as u32
            && (0..u32::from(bundle.words)).all(|w| self.fits(base + w, &bundle.live[w as usize]))
    }

    /// Whether a register is in use at a point.
    fn busy(&self, register: u32, point: u32) -> bool {
        let r = register as usize;
        self.last[r] > point && self.file[r].range(..=point).next_back().is_some_and(|(_, (end, _))| *end > point)
    }

    /// A free place: where copies would vanish, else the one that fills its quad best, without going beyond
    /// the registers in use if possible.
    fn find(&self, i: usize) -> Option<u32> {
        let bundle = &self.bundles[i];
        let words = u32::from(bundle.words);
        for &(node, offset) in &bundle.members {
            for &(other, difference) in &self.neighbours[node as usize] {
                let b = self.bundle_of[other as usize];
                let Some(place) = self.bundles[b as usize].place else { continue };
                let Some(m) = self.bundles[b as usize].members.iter().find(|m| m.0 == other) else { continue };
                let base = place as i32 + i32::from(m.1) - i32::from(difference) - i32::from(offset);
                if base >= 0 && base as u32 % words == 0 && self.free(i, base as u32) {
                    return Some(base as u32);
                }
            }
        }
        if let Some(base) = self.in_other_banks(i) {
            return Some(base);
        }
        let mut best: Option<(u32, u32)> = None;
        for base in self.positions(bundle.words) {
            if base >= self.high && best.is_some() {
                break;
            }
            if !self.free(i, base) {
                continue;
            }
            if words == 4 || base >= self.high {
                return Some(best.map_or(base, |b| b.1));
            }
            let quad = base & !3;
            let room = (quad..(quad + 4).min(self.file.len() as u32)).filter(|r| !self.busy(*r, bundle.start)).count() as u32;
            if room <= words {
                return Some(base);
            }
            if best.is_none_or(|b| room < b.0) {
                best = Some((room, base));
            }
        }
        best.map(|b| b.1)
    }

    /// Where a bundle is read with others that have their places: the free place with the fewest conflicts, among
    /// the registers in use. `None` if there are no such others, or no place.
    fn in_other_banks(&self, i: usize) -> Option<u32> {
        if self.together.is_empty() {
            return None;
        }
        let bundle = &self.bundles[i];
        let mut price = vec![0.0f32; self.banks as usize];
        let mut any = false;
        for &(node, offset) in &bundle.members {
            for &(word, (other, of_other), weight) in &self.together[node as usize] {
                let b = self.bundle_of[other as usize];
                let Some(place) = self.bundles[b as usize].place.filter(|_| b as usize != i) else { continue };
                let Some(m) = self.bundles[b as usize].members.iter().find(|m| m.0 == other) else { continue };
                // The bundle's first register that brings both words into one bank.
                let taken = place + u32::from(m.1) + u32::from(of_other);
                let first = taken + 16 * self.banks - u32::from(offset) - u32::from(word);
                price[(first % self.banks) as usize] += weight;
                any = true;
            }
        }
        if !any {
            return None;
        }
        let inside = self.positions(bundle.words).take_while(|base| base + u32::from(bundle.words) <= self.high);
        let free = inside.filter(|base| self.free(i, *base));
        let cost = |base: &u32| price[(base % self.banks) as usize];
        free.min_by(|a, b| cost(a).total_cmp(&cost(b)).then(a.cmp(b)))
    }

    fn put(&mut self, i: usize, base: u32) {
        let bundle = &mut self.bundles[i];
        bundle.place = Some(base);
        for w in 0..usize::from(bundle.words) {
            let r = base as usize + w;
            for s in &bundle.live[w] {
                self.file[r].insert(s.start, (s.end, i as u32));
            }
            if let Some(s) = bundle.live[w].last() {
                self.last[r] = self.last[r].max(s.end);
            }
        }
        self.high = self.high.max(base + u32::from(bundle.words));
    }

    fn remove(&mut self, i: usize) {
        let bundle = &mut self.bundles[i];
        let Some(base) = bundle.place.take() else { return };
        for w in 0..usize::from(bundle.words) {
            let r = base as usize + w;
            for s in &bundle.live[w] {
                self.file[r].remove(&s.start);
            }
            self.occupant[r].set((0, 0));
            self.last[r] = self.file[r].last_key_value().map_or(0, |(_, (end, _))| *end);
        }
    }

    /// Bundles that block a place, sorted.
    fn blockers(&self, i: usize, base: u32) -> Vec<u32> {
        let bundle = &self.bundles[i];
        let mut found = Vec::new();
        for w in 0..usize::from(bundle.words) {
            let r = base as usize + w;
            if self.reserved[r] {
                // Nothing can be evicted from here: the bundle blocks itself, at its own cost.
                return vec![i as u32];
            }
            for s in &bundle.live[w] {
                let before = self.file[r].range(..s.start).next_back().filter(|(_, (end, _))| *end > s.start);
                found.extend(before.map(|(_, (_, b))| *b));
                found.extend(self.file[r].range(s.start..s.end).map(|(_, (_, b))| *b));
            }
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    /// Places a bundle by moving a few blockers to other free registers.
    fn relocate(&mut self, i: usize) -> bool {
        const MOST: usize = 6;
        for base in self.positions(self.bundles[i].words) {
            let blockers = self.blockers(i, base);
            if blockers.len() > MOST || blockers.contains(&(i as u32)) {
                continue;
            }
            let old: SmallVec<[(usize, u32); 8]> =
                blockers.iter().filter_map(|b| Some((*b as usize, self.bundles[*b as usize].place?))).collect();
            for &(b, _) in &old {
                self.remove(b);
            }
            self.put(i, base);
            let moved = old.iter().all(|&(b, _)| match self.find(b) {
                Some(place) => {
                    self.put(b, place);
                    true
                }
                None => false,
            });
            if moved {
                return true;
            }
            self.remove(i);
            for &(b, _) in &old {
                self.remove(b);
            }
            for &(b, place) in &old {
                self.put(b, place);
            }
        }
        false
    }

    /// Undoes coalescing: each member becomes a bundle of its own.
    fn take_apart(&mut self, i: usize) -> Vec<usize> {
        let members = std::mem::take(&mut self.bundles[i].members);
        let mut parts = Vec::with_capacity(members.len());
        for (k, (node, _)) in members.into_iter().enumerate() {
            let bundle = single(self.graph, node);
            let at = if k == 0 {
                self.bundles[i] = bundle;
                i
            } else {
                self.bundles.push(bundle);
                self.bundles.len() - 1
            };
            self.bundle_of[node as usize] = at as u32;
            parts.push(at);
        }
        parts
    }
}

/// The bundle of one node.
fn single(graph: &Graph, node: u32) -> Bundle {
    let n = &graph.nodes[node as usize];
    let mut bundle = Bundle { members: SmallVec::new(), words: n.words, cost: n.cost, start: u32::MAX, ..Default::default() };
    bundle.members.push((node, 0));
    for w in 0..n.words {
        let live = graph.word(node as usize, w);
        if let (Some(first), Some(last)) = (live.first(), live.last()) {
            bundle.start = bundle.start.min(first.start);
            bundle.end = bundle.end.max(last.end);
        }
        bundle.live[usize::from(w)] = Segments::from_slice(live);
    }
    bundle
}

#[cfg(test)]
mod tests {
    use super::*;
    use cranelift_entity::EntityRef;

    fn graph(nodes: &[(u8, (u32, u32))]) -> Graph {
        let mut g = Graph::default();
        for (i, (words, interval)) in nodes.iter().enumerate() {
            let live: Vec<&[(u32, u32)]> = (0..*words).map(|_| std::slice::from_ref(interval)).collect();
            g.add(VReg::new(i), 1.0, &live);
        }
        g
    }

    #[test]
    fn tuples_are_aligned_and_disjoint() {
        let c = color(&graph(&[(1, (0, 10)), (2, (1, 9)), (4, (2, 8)), (1, (3, 4))]), &FileSpec::new(8)).unwrap();
        assert_eq!(c.color, [Some(0), Some(2), Some(4), Some(1)]);
        assert!(c.spilled.is_empty());
    }

    #[test]
    fn dead_words_of_a_tuple_are_free() {
        let mut g = Graph::default();
        g.add(VReg::new(0), 1.0, &[&[(0, 10)], &[(0, 2)], &[(0, 2)], &[(0, 10)]]);
        g.add(VReg::new(1), 1.0, &[&[(4, 6)]]);
        g.add(VReg::new(2), 1.0, &[&[(4, 6)]]);
        let c = color(&g, &FileSpec::new(4)).unwrap();
        assert_eq!(c.color, [Some(0), Some(1), Some(2)]);
    }

    #[test]
    fn the_cheapest_range_is_given_up() {
        let mut g = graph(&[(1, (0, 10)), (1, (1, 9)), (1, (2, 8))]);
        g.nodes[1].cost = 0.5;
        assert_eq!(color(&g, &FileSpec::new(2)).unwrap().spilled, [1]);
        g.nodes.iter_mut().for_each(|n| n.cost = f32::INFINITY);
        assert!(color(&g, &FileSpec::new(2)).is_err());
    }

    #[test]
    fn holes_are_used() {
        let mut g = Graph::default();
        g.add(VReg::new(0), 1.0, &[&[(0, 2), (8, 10)]]);
        g.add(VReg::new(1), 1.0, &[&[(2, 8)]]);
        assert_eq!(color(&g, &FileSpec::new(1)).unwrap().used, 1);
    }

    #[test]
    fn copies_vanish_also_into_tuples() {
        let mut g = graph(&[(1, (0, 4)), (1, (0, 5)), (1, (0, 3)), (1, (0, 3))]);
        g.add(VReg::new(4), 1.0, &[&[(3, 9)], &[(3, 9)], &[(4, 9)], &[(5, 9)]]);
        for (word, node) in [(0, 2), (1, 3), (2, 0), (3, 1)] {
            g.affinities.push(Affinity { a: 4, b: node, offset: word, weight: 1.0 });
        }
        let c = color(&g, &FileSpec::new(4)).unwrap();
        assert_eq!(c.coalesced, 4);
        assert_eq!(c.color, [Some(2), Some(3), Some(0), Some(1), Some(0)]);
    }

    #[test]
    fn blockers_move_out_of_the_way_of_tuples() {
        // Two singles that outlive their neighbours leave no free pair, until one moves.
        let g = graph(&[(1, (0, 2)), (1, (0, 20)), (1, (0, 2)), (1, (0, 20)), (2, (4, 8))]);
        let c = color(&g, &FileSpec::new(4)).unwrap();
        assert!(c.spilled.is_empty(), "{c:?}");
    }

    #[test]
    fn infinite_nodes_evict_finite_and_narrower_ones() {
        let mut g = graph(&[(1, (0, 9)), (1, (0, 9)), (1, (2, 6)), (2, (4, 6))]);
        g.nodes[2].cost = f32::INFINITY;
        g.nodes[3].cost = f32::INFINITY;
        let c = color(&g, &FileSpec::new(4)).unwrap();
        assert!(c.color[2].is_some() && c.color[3].is_some());
        let c = color(&g, &FileSpec::new(3)).unwrap();
        assert!(c.color[2].is_some() && c.color[3].is_some());
    }

    #[test]
    fn operands_of_an_instruction_lie_in_different_banks() {
        // Four ranges that live side by side, of which 0 and 3 are read together, in a file of two banks.
        let mut g = graph(&[(1, (0, 9)), (1, (1, 9)), (1, (2, 9)), (1, (3, 9))]);
        let plain = color(&g, &FileSpec::new(8)).unwrap().color;
        assert_eq!(plain, [Some(0), Some(1), Some(2), Some(3)]);
        g.together.push(ReadTogether { a: (0, 0), b: (2, 0), weight: 1.0 });
        let banked = |free| color(&g, &FileSpec::new(8).with_banks(2, free)).unwrap();
        assert_eq!(banked(4).color, [Some(0), Some(1), Some(3), Some(2)]);
        // No register more is taken for it.
        assert_eq!((banked(0).color[2], banked(8).used), (Some(2), 4));
        // The words of a tuple count where they are.
        let mut g = graph(&[(1, (0, 9)), (2, (1, 9))]);
        g.together.push(ReadTogether { a: (0, 0), b: (1, 1), weight: 1.0 });
        let c = color(&g, &FileSpec::new(8).with_banks(4, 8)).unwrap();
        let [Some(single), Some(pair)] = c.color[..] else { panic!("{c:?}") };
        assert_ne!(single % 4, (pair + 1) % 4);
    }

    #[test]
    fn reserved_registers_are_not_used() {
        let c = color(&graph(&[(1, (0, 9)), (2, (0, 9))]), &FileSpec { reserved: vec![0, 3], ..FileSpec::new(6) }).unwrap();
        assert_eq!(c.color, [Some(1), Some(4)]);
    }
}
