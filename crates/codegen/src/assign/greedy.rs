//! The greedy assignment of clusters and the moves after it, for some weights; [`super`] says how it works.
//!
//! What instructions access, where they may go and how far apart they are is the same for all weights, and for each of
//! the passes over the code: it is found once ([`Prepared`]). What webs cost with an instruction in each cluster changes only
//! when another one that mentions them moves, and is kept from pass to pass ([`Known`]).
//!
//! May touch: nothing; what comes out are numbers of clusters.

use std::sync::Arc;

use cranelift_entity::{EntitySet, SecondaryMap};
use smallvec::SmallVec;

use super::{Candidate, Candidates, Clusters, Weights, is_scalar, path};
use crate::context::Context;
use crate::costs::{Costs, MAX_CLUSTERS};
use crate::webs::{self, Accesses};
use heddle_isa::{Inst, Op, OpClass, VReg};
use heddle_mir::{Block, Function};

/// Instructions before one that may still keep its cluster busy: divisions take no longer.
const LONGEST_WORK: usize = 16;

/// Passes of single moves after the greedy assignment, with their factors on the price of balance.
const HEAT: [f32; 5] = [4.0, 2.0, 1.0, 1.0, 1.0];

/// Warps that an SM is expected to have, which decides how much work a cluster does unnoticed while warps
/// wait for memory.
const EXPECTED_WARPS: f32 = 8.0;

/// Price of an instruction for a unit that clusters share, in a cluster that collects operands for the average of them, in
/// picojoules of a lane: each cluster has operand collectors of its own, in which such instructions wait for the unit. Any price
/// from a third of this one to six times as much gives the same cycles within 0.1 % (`cargo xtask bench regfile`).
const COLLECT: f32 = 0.1;

/// Instructions before and behind one that warps in step with it are taken to be at.
const NEARBY: usize = 8;

/// Price of a cycle of work on a cluster that has the average load nearby, likewise. On `machines/mixed.toml` a third of it leaves
/// large launches a fifth slower, three times as much saves no cycles and a thirtieth less energy.
const NEARBY_BALANCE: f32 = 3.0;

/// What instructions take of a cluster, weighted with the frequencies of their blocks.
#[derive(Clone, Copy, Default)]
struct Load {
    /// Cycles of its own units.
    work: f32,
    /// Instructions for units that it shares with others, for which it collects operands.
    collected: f32,
}

impl Load {
    /// Of one instruction: none if the scalar unit runs it.
    fn of(inst: &Inst, candidate: &Candidate, cluster: u8, frequency: f32) -> Self {
        if inst.uniform {
            return Load::default();
        }
        if candidate.shared >> cluster & 1 == 1 {
            return Load { work: 0.0, collected: frequency };
        }
        Load { work: frequency * candidate.work(cluster) as f32, collected: 0.0 }
    }

    fn add(&mut self, other: Load, sign: f32) {
        self.work += sign * other.work;
        self.collected += sign * other.collected;
    }
}

/// A web, by the order in which the code mentions them.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Web(u32);

/// An access of an instruction.
struct Mention {
    web: Web,
    /// Words, weighted with the frequency.
    weight: f32,
    /// For a write the price of waiting for its result.
    wait: Option<f32>,
}

/// An instruction as far as its cluster is concerned.
struct Placement<'a> {
    /// Clusters that it may go to, and those of its class; `None` for scalar and control instructions.
    choices: Option<(SmallVec<[u8; MAX_CLUSTERS]>, &'a Candidate)>,
    /// What of a cluster it keeps busy; `None` if it is in no cluster or the scalar unit runs it.
    occupies: Option<&'a Candidate>,
    /// The scalar unit runs it for all lanes.
    marked: bool,
    /// What it takes of each cluster.
    taken: [Load; MAX_CLUSTERS],
    /// Its accesses to registers of lanes.
    mentions: SmallVec<[Mention; 4]>,
    /// The webs of the mentions, each once.
    webs: SmallVec<[Web; 4]>,
    /// Its number among all instructions.
    number: usize,
    /// The number of its first web among those of all instructions.
    first_price: usize,
    /// Distance to the nearest instruction before it whose result it reads, or beyond [`LONGEST_WORK`].
    operand: usize,
    /// Distance to the first instruction behind it that reads its result while it keeps its unit busy; the largest number if
    /// there is none.
    reader: usize,
}

/// A block of the layout, as far as clusters are concerned.
struct BlockPlacements<'a> {
    frequency: f32,
    /// Cycles that a warp alone takes for it.
    path: f32,
    insts: Vec<Placement<'a>>,
}

/// What assignments with any weights begin from.
pub(super) struct Prepared<'a> {
    costs: Arc<Costs>,
    blocks: Vec<BlockPlacements<'a>>,
    /// The blocks in order of frequency.
    order: Vec<usize>,
    /// The clusters that instructions have before.
    clusters: Clusters,
    /// Reads by the scalar unit.
    table: Vec<Accesses>,
    /// Instructions, and their webs, each counted once for each instruction.
    size: (usize, usize),
    /// All there is to take of clusters.
    total: Load,
    /// Cycles of one warp alone, shared by the warps expected on an SM.
    path: f32,
    /// Clusters of the machine.
    count: usize,
    /// Every warp asks the cluster that is written in the instruction, whichever took turns before.
    in_step: bool,
    /// Instructions before one for which it may have to wait.
    longest_wait: usize,
}

/// Finds what is the same for all assignments.
struct Finder<'a, 'b> {
    function: &'b Function,
    candidates: &'a Candidates,
    costs: &'b Costs,
    /// Clusters of the machine.
    clusters: usize,
    /// The register that stands for each web.
    representative: SecondaryMap<VReg, Option<VReg>>,
    number: SecondaryMap<VReg, Option<Web>>,
    webs: u32,
    /// Instructions so far.
    instructions: usize,
    /// Their webs so far, each counted once for each instruction.
    prices: usize,
}

impl<'a> Finder<'a, '_> {
    fn web(&mut self, reg: VReg) -> Web {
        let reg = self.representative[reg].unwrap_or(reg);
        *self.number[reg].get_or_insert_with(|| {
            self.webs += 1;
            Web(self.webs - 1)
        })
    }

    /// An instruction of a block; `late`: the rest of its block does not read its result.
    fn placement(&mut self, block: Block, i: usize, late: bool) -> Placement<'a> {
        let (function, candidates) = (self.function, self.candidates);
        let data = &function.blocks[block];
        let (insts, frequency) = (&data.insts, data.frequency);
        let inst = &insts[i];
        let class = inst.class();
        let candidate = &candidates.0[class as usize];
        let scalar = is_scalar(function, inst.dst);
        // The scalar unit delivers u-marked results to any cluster's registers; copies need only register ports.
        let choices = match scalar || class == OpClass::Control {
            true => None,
            false if inst.uniform || class == OpClass::Move => Some(((0..self.clusters as u8).collect(), candidate)),
            false => Some((candidate.clusters.clone(), candidate)),
        };
        let mut mentions: SmallVec<[Mention; 4]> = SmallVec::new();
        let wait = frequency * self.costs.wait(inst, late);
        webs::for_each_vector(function, inst, |reg, words, write| {
            mentions.push(Mention { web: self.web(reg), weight: frequency * f32::from(words), wait: write.then_some(wait) });
        });
        // A copy within a web is none.
        if let (Op::Mov, [a, b]) = (inst.op, &mentions[..])
            && a.web == b.web
        {
            mentions.clear();
        }
        let mut webs: SmallVec<[Web; 4]> = SmallVec::new();
        for m in &mentions {
            if !webs.contains(&m.web) {
                webs.push(m.web);
            }
        }
        let reads = |reader: &Inst, writer: &Inst| {
            let written = writer.dst.as_virt().map(|(r, _)| r);
            written.is_some() && reader.srcs.iter().any(|s| s.as_virt().map(|(r, _)| r) == written)
        };
        let before = (1..=LONGEST_WORK.min(i)).find(|d| reads(inst, &insts[i - d]));
        let behind = (1..insts.len() - i).take(candidate.interval as usize).find(|d| reads(&insts[i + d], inst));
        let (number, first_price) = (self.instructions, self.prices);
        self.instructions += 1;
        self.prices += webs.len();
        Placement {
            choices,
            occupies: (!inst.uniform && !scalar).then_some(candidate),
            marked: inst.uniform,
            taken: std::array::from_fn(|c| Load::of(inst, candidate, c as u8, frequency)),
            mentions,
            webs,
            number,
            first_price,
            operand: before.unwrap_or(LONGEST_WORK + 1),
            reader: behind.unwrap_or(usize::MAX),
        }
    }
}

impl<'a> Prepared<'a> {
    /// For a function each of whose live ranges has a register of its own.
    pub(super) fn new(function: &Function, context: &Context, candidates: &'a Candidates) -> Self {
        let (machine, costs) = (context.machine, context.costs());
        let (representative, number) = (webs::representatives(function), SecondaryMap::new());
        let clusters = machine.clusters.len();
        let mut finder =
            Finder { function, candidates, costs: &costs, clusters, representative, number, webs: 0, instructions: 0, prices: 0 };
        let mut read = EntitySet::with_capacity(function.vregs.len());
        let block = |b: &Block| {
            let data = &function.blocks[*b];
            let late = webs::read_late(&data.insts, &mut read);
            let insts = (0..data.insts.len()).map(|i| finder.placement(*b, i, late[i])).collect();
            BlockPlacements { frequency: data.frequency, path: path(machine, data.insts.iter()), insts }
        };
        let blocks: Vec<BlockPlacements> = function.layout.iter().map(block).collect();
        let (table, size) = (vec![Accesses::default(); finder.webs as usize], (finder.instructions, finder.prices));
        let mut order: Vec<usize> = (0..blocks.len()).collect();
        order.sort_by(|a, b| blocks[*b].frequency.total_cmp(&blocks[*a].frequency));
        let clusters = function.layout.iter().map(|b| function.blocks[*b].insts.iter().map(|i| i.cluster).collect()).collect();
        let (count, in_step) = (machine.clusters.len(), !machine.sm.rotate_clusters);
        let total = Load::default();
        let busy = blocks.iter().flat_map(|b| &b.insts).filter_map(|i| i.occupies);
        let longest_wait = busy.map(|c| LONGEST_WORK.min((c.interval as usize).saturating_sub(1))).max().unwrap_or(0);
        let mut prepared =
            Prepared { costs, blocks, order, clusters, table, size, total, path: 0.0, count, in_step, longest_wait };
        prepared.count_once();
        prepared
    }

    /// Sums what does not depend on the assignment.
    fn count_once(&mut self) {
        for &b in &self.order {
            let block = &self.blocks[b];
            self.path += block.frequency * block.path / EXPECTED_WARPS;
            for inst in &block.insts {
                match &inst.choices {
                    Some((choices, _)) => {
                        if let Some(first) = choices.first() {
                            self.total.add(inst.taken[usize::from(*first)], 1.0);
                        }
                    }
                    // The scalar unit's reads of lane registers.
                    None => {
                        let reads = inst.mentions.iter().filter(|m| m.wait.is_none());
                        reads.for_each(|m| self.table[m.web.0 as usize].read(None, m.weight, 1.0));
                    }
                }
            }
        }
    }

    /// Assigns clusters with some weights.
    pub(super) fn assign(&self, weights: Weights) -> Clusters {
        // Work that a cluster can take without holding up a warp: the time of one warp alone, shared by the warps expected on an SM.
        let idle = if weights.uses_idle_time { self.path } else { 0.0 };
        let (table, load, clusters) = (self.table.clone(), vec![Load::default(); self.count], self.clusters.clone());
        let known = Known::new(self.size, table.len());
        let mean = |total: f32| total / self.count as f32;
        let mean = Load { work: mean(self.total.work).max(idle).max(1e-6), collected: mean(self.total.collected).max(1e-6) };
        let mut greedy = Greedy { prepared: self, clusters, table, load, known, mean, temperature: HEAT[0], weights };
        greedy.run();
        greedy.clusters
    }
}

impl Prepared<'_> {
    /// What the registers of an assignment cost if each local file has room for all that is to be in it, in picojoules of a lane.
    pub(super) fn energy(&self, clusters: &Clusters) -> f32 {
        let mut table = self.table.clone();
        for (block, clusters) in self.blocks.iter().zip(clusters) {
            let placed = block.insts.iter().zip(clusters).filter(|(inst, _)| inst.choices.is_some());
            placed.for_each(|(inst, cluster)| account(&mut table, &inst.mentions, *cluster, 1.0));
        }
        table.iter().map(|web| web.best(&self.costs).1).sum()
    }
}

/// What the webs of instructions cost with the instruction in each cluster: most instructions stay where they are, and nothing
/// has changed for them from one pass to the next.
struct Known {
    /// How often an instruction that mentions a web has been placed in another cluster.
    changes: Vec<u32>,
    /// For each instruction the sum of its webs' changes when the prices were found.
    found_at: Vec<u64>,
    /// For each web of each instruction its price by the instruction's cluster.
    prices: Vec<[f32; MAX_CLUSTERS]>,
}

impl Known {
    /// For so many instructions and webs of instructions (`size`), and so many webs. Nothing is known.
    fn new(size: (usize, usize), webs: usize) -> Self {
        Known { changes: vec![0; webs], found_at: vec![u64::MAX; size.0], prices: vec![[0.0; MAX_CLUSTERS]; size.1] }
    }

    /// The prices of an instruction's webs, and whether they hold.
    fn of(&mut self, inst: &Placement) -> (&mut [[f32; MAX_CLUSTERS]], bool) {
        let now = inst.webs.iter().map(|w| u64::from(self.changes[w.0 as usize])).sum();
        let holds = std::mem::replace(&mut self.found_at[inst.number], now) == now;
        (&mut self.prices[inst.first_price..][..inst.webs.len()], holds)
    }

    /// An instruction has another cluster: the others' prices do not hold any more; its own do, they are without it.
    fn moved(&mut self, inst: &Placement) {
        inst.webs.iter().for_each(|w| self.changes[w.0 as usize] += 1);
        if self.found_at[inst.number] != u64::MAX {
            self.found_at[inst.number] += inst.webs.len() as u64;
        }
    }
}

/// State of an assignment.
struct Greedy<'a> {
    prepared: &'a Prepared<'a>,
    clusters: Clusters,
    /// Accesses of the instructions placed so far.
    table: Vec<Accesses>,
    /// What is taken of each cluster.
    load: Vec<Load>,
    /// Prices that may still hold.
    known: Known,
    /// What is taken of a cluster on average, or holds up nobody.
    mean: Load,
    /// Factor on the price of balance, which falls from pass to pass: chains of instructions first spread, then join.
    temperature: f32,
    /// What energy is weighed against.
    weights: Weights,
}

impl Greedy<'_> {
    fn run(&mut self) {
        let blocks = &self.prepared.blocks;
        for &b in &self.prepared.order {
            for i in (0..blocks[b].insts.len()).rev() {
                self.place(b, i, None);
            }
        }
        for heat in HEAT {
            self.temperature = heat;
            let mut moved = false;
            for (b, block) in blocks.iter().enumerate() {
                for i in 0..block.insts.len() {
                    let now = self.clusters[b][i];
                    moved |= self.place(b, i, Some(now));
                }
            }
            if !moved && heat == 1.0 {
                break;
            }
        }
    }

    /// What it costs to take more of a cluster, from what is taken of it beside the average.
    fn crowding(&self, cluster: u8, taken: Load) -> f32 {
        let load = self.load[usize::from(cluster)];
        let price = |taken: f32, load: f32, mean: f32| if taken == 0.0 { 0.0 } else { taken * (load / mean).powi(2) };
        let work = price(taken.work, load.work, self.mean.work);
        let collected = price(taken.collected, load.collected, self.mean.collected);
        self.temperature * (self.weights.balance * work + COLLECT * collected)
    }

    /// Cycles that an instruction keeps a cluster busy: none if it is in no cluster or in another one.
    fn busy(&self, block: usize, i: usize, cluster: u8) -> u32 {
        match self.prepared.blocks[block].insts[i].occupies {
            Some(candidate) if self.clusters[block][i] == cluster => candidate.work(cluster),
            _ => 0,
        }
    }

    /// What it costs that instructions nearby use the cluster, too; `placed`: those before it are in clusters already.
    fn crowding_nearby(&self, block: usize, i: usize, cluster: u8, work: u32, placed: bool) -> f32 {
        let count = self.prepared.blocks[block].insts.len();
        let from = if placed { i.saturating_sub(NEARBY) } else { i + 1 };
        let others = || (from..(i + NEARBY + 1).min(count)).filter(|j| *j != i);
        let mut load = [0u32; MAX_CLUSTERS];
        for other in others() {
            let c = self.clusters[block][other];
            load[usize::from(c)] += self.busy(block, other, c);
        }
        let mean = load.iter().sum::<u32>() as f32 / self.load.len() as f32;
        let idle = others().count() as f32 / EXPECTED_WARPS;
        self.temperature * NEARBY_BALANCE * work as f32 * (load[usize::from(cluster)] as f32 / mean.max(idle).max(1e-6)).powi(2)
    }

    /// Cycles for which an instruction finds its cluster busy with one before, or keeps it from one behind, in the same warp.
    /// Where one reads the other's result it waits for that longer.
    fn waits(&self, block: usize, i: usize, cluster: u8, work: u32, placed: bool) -> usize {
        let insts = &self.prepared.blocks[block].insts;
        let mut cycles = 0;
        let longest = if placed { self.prepared.longest_wait.min(i).min(insts[i].operand - 1) } else { 0 };
        for distance in 1..=longest {
            let busy = self.busy(block, i - distance, cluster) as usize;
            if busy > distance {
                cycles = busy - distance;
                break;
            }
        }
        for distance in 1..(work as usize).min(insts[i].reader).min(insts.len() - i) {
            if self.busy(block, i + distance, cluster) > 0 {
                cycles += work as usize - distance;
                break;
            }
        }
        cycles
    }

    /// Finds what an instruction's webs cost with it in each of the clusters that it may go to; `from` is where it is.
    fn find_prices(&mut self, inst: &Placement, choices: &[u8], from: Option<u8>) {
        let (prices, holds) = self.known.of(inst);
        if holds {
            return;
        }
        let table = &mut self.table;
        if let Some(now) = from {
            account(table, &inst.mentions, now, -1.0);
        }
        for &c in choices {
            account(table, &inst.mentions, c, 1.0);
            for (price, web) in prices.iter_mut().zip(&inst.webs) {
                price[usize::from(c)] = table[web.0 as usize].best(&self.prepared.costs).1;
            }
            account(table, &inst.mentions, c, -1.0);
        }
        if let Some(now) = from {
            account(table, &inst.mentions, now, 1.0);
        }
    }

    /// Places an instruction where it costs least; `from` is where it is. Says whether it moved.
    fn place(&mut self, block: usize, i: usize, from: Option<u8>) -> bool {
        let prepared = self.prepared;
        let BlockPlacements { frequency, insts, .. } = &prepared.blocks[block];
        let inst = &insts[i];
        let Some((choices, candidate)) = &inst.choices else { return false };
        if let Some(now) = from {
            self.load[usize::from(now)].add(inst.taken[usize::from(now)], -1.0);
        }
        let mut best = (f32::INFINITY, from.unwrap_or(0));
        if choices.len() == 1 {
            best = (0.0, choices[0]);
        } else {
            self.find_prices(inst, choices, from);
            for &c in choices {
                let mut cost = self.crowding(c, inst.taken[usize::from(c)]);
                if !inst.marked {
                    let work = candidate.work(c);
                    cost += frequency * self.weights.busy * self.waits(block, i, c, work, from.is_some()) as f32;
                    if prepared.in_step {
                        cost += frequency * self.crowding_nearby(block, i, c, work, from.is_some());
                    }
                }
                cost = self.known.prices[inst.first_price..][..inst.webs.len()]
                    .iter()
                    .fold(cost, |cost, p| cost + p[usize::from(c)]);
                // Staying is worth a little, so that ties do not swing.
                let stay = if from == Some(c) { 1e-3 * frequency } else { 0.0 };
                if cost - stay < best.0 - 1e-4 {
                    best = (cost - stay, c);
                }
            }
        }
        self.load[usize::from(best.1)].add(inst.taken[usize::from(best.1)], 1.0);
        self.clusters[block][i] = best.1;
        if from == Some(best.1) {
            return false;
        }
        if let Some(now) = from {
            account(&mut self.table, &inst.mentions, now, -1.0);
        }
        account(&mut self.table, &inst.mentions, best.1, 1.0);
        self.known.moved(inst);
        from.is_some()
    }
}

/// Adds an instruction's accesses in a cluster to those of its webs, or with a negative `sign` takes them away.
fn account(table: &mut [Accesses], mentions: &[Mention], cluster: u8, sign: f32) {
    for m in mentions {
        let accesses = &mut table[m.web.0 as usize];
        match m.wait {
            Some(wait) => accesses.write(cluster, m.weight, wait, sign),
            None => accesses.read(Some(cluster), m.weight, sign),
        }
    }
}
