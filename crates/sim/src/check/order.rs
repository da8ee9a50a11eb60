//! What happens before what by other means than barriers: fences within a warp, and atomics.
//!
//! Every atomic is taken for acquire and release at once, as the instruction does not say more; so is a
//! `volatile` load or store, which instruction selection makes the same as an atomic one. Two atomics on one
//! location order what the first one's warp did before against what the second one's warp does after. A
//! missing fence next to an atomic is thus not found; no hand-over that works is reported.

use rustc_hash::FxHashMap;

/// Times at which warps of the running group and earlier groups were last heard of.
pub struct Order {
    warps: usize,
    /// `clocks[w * warps + v]`: what warp v did up to this time is before what warp w does now. Times only
    /// grow, so that those left from earlier groups mean nothing.
    clocks: Vec<u32>,
    /// The last fence of each warp.
    fences: Vec<u32>,
    /// Earlier groups the running one has heard of directly, and up to which time.
    heard: FxHashMap<u32, u32>,
    /// The same with those they have heard of; made when asked for.
    known: Option<FxHashMap<u32, u32>>,
    /// What each earlier group had heard of, unless nothing.
    history: FxHashMap<u32, Vec<(u32, u32)>>,
}

impl Order {
    /// For groups of so many warps.
    pub fn new(warps: usize) -> Self {
        Order {
            warps,
            clocks: vec![0; warps * warps],
            fences: vec![0; warps],
            heard: FxHashMap::default(),
            known: None,
            history: FxHashMap::default(),
        }
    }

    /// Group `ended` is over.
    pub fn next_group(&mut self, ended: u32) {
        if !self.heard.is_empty() {
            self.history.insert(ended, self.heard.drain().collect());
        }
        self.known = None;
    }

    /// A fence of a warp: what its lanes did before is before what they do after.
    pub fn fence(&mut self, warp: usize, time: u32) {
        self.fences[warp] = time;
    }

    /// A warp has seen an atomic of a warp of the same group.
    pub fn hear(&mut self, warp: usize, from: usize, time: u32) {
        let n = self.warps;
        if self.clocks[warp * n + from] >= time {
            return;
        }
        if warp != from {
            for v in 0..n {
                self.clocks[warp * n + v] = self.clocks[warp * n + v].max(self.clocks[from * n + v]);
            }
        }
        self.clocks[warp * n + from] = time;
    }

    /// The group has seen an atomic of an earlier group.
    pub fn hear_group(&mut self, group: u32, time: u32) {
        let t = self.heard.entry(group).or_insert(0);
        if *t < time {
            *t = time;
            self.known = None;
        }
    }

    /// Whether what warp `from` of the same group did at `time` is before what `warp` does now.
    pub fn after(&self, warp: usize, from: usize, time: u32) -> bool {
        warp == from && time < self.fences[warp] || self.clocks[warp * self.warps + from] >= time
    }

    /// Whether what an earlier group did at `time` is before what the running one does now.
    pub fn after_group(&mut self, group: u32, time: u32) -> bool {
        if self.heard.is_empty() {
            return false;
        }
        let (heard, history) = (&self.heard, &self.history);
        let known = self.known.get_or_insert_with(|| {
            let mut known = heard.clone();
            let mut work: Vec<u32> = known.keys().copied().collect();
            while let Some(g) = work.pop() {
                for (from, time) in history.get(&g).into_iter().flatten() {
                    let t = known.entry(*from).or_insert_with(|| {
                        work.push(*from);
                        0
                    });
                    *t = (*t).max(*time);
                }
            }
            known
        });
        known.get(&group).is_some_and(|t| *t >= time)
    }
}
