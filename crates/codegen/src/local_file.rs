//! Local register-file allocation (C2): colours each cluster's live ranges in its local file; what does not
//! fit goes to the main file.
//!
//! A range that finds no colour is renamed to its main register MVR (C10), which holds the same value
//! wherever the range is read: the copies between them become copies of a register onto itself and go away,
//! so the move to the main file costs nothing that C5 to C9 had not paid. A range that only its owner uses
//! moves to the main file as it is. Ranges are given up by what they save for each point of their length; by
//! default also those that save nothing. Colouring is [`super::color`]'s.
//!
//! May touch: vector registers with an owner, and copies that partitioning inserted.

use cranelift_entity::SecondaryMap;
use rustc_hash::FxHashMap;

use super::allocate::{Session, to_physical};
use super::color::{self, Affinity, FileSpec, Graph, Node, ReadTogether};
use super::context::{Allocation, Context};
use super::costs::Costs;
use super::partition::Ownership;
use super::ranges::LiveView;
use super::spill::{self, INSERTED};
use super::webs;
use super::{CodegenError, ranges};
use heddle_isa::{Inst, Op, Space, VReg};
use heddle_mir::{Function, liveness};
use heddle_target::Cluster;

/// Allocates the local files of all clusters.
pub fn run(function: &mut Function, context: &mut Context) -> Result<(), CodegenError> {
    if function.local.values().all(Option::is_none) {
        return Ok(());
    }
    let costs = context.costs();
    let Allocation { machine, options, stats, session } = context.allocation(function);
    let mut gains = Gains::new(function, &costs, session);
    if options.ownership == Ownership::Energy {
        let worthless: Vec<VReg> =
            function.vregs.keys().filter(|r| function.local[*r].is_some() && gains.local[*r] <= 0.0).collect();
        if give_up(function, &worthless, session) {
            gains = Gains::new(function, &costs, session);
        }
    }
    let mut all = Colors::with_capacity(function.vregs.len());
    let mut graph = graph_of(function);
    let mut stale = false;
    for (c, cluster) in machine.clusters.iter().enumerate() {
        let mine: Vec<VReg> = function.vregs.keys().filter(|r| function.local[*r] == Some(c as u8)).collect();
        if mine.is_empty() {
            continue;
        }
        if std::mem::take(&mut stale) {
            gains = Gains::new(function, &costs, session);
            graph = graph_of(function);
        }
        let colors = color_banks(function, &graph, &costs, c, cluster, &gains);
        mine.iter().for_each(|r| all[*r] = colors[*r]);
        // A register that is never live has no node; it goes the same way.
        let lost: Vec<VReg> = mine.into_iter().filter(|r| colors[*r].is_none()).collect();
        stats.local_overflow += lost.len();
        stale |= give_up(function, &lost, session);
    }
    // Only now: colouring one cluster's registers does not change where those of the others are live.
    let Function { blocks, layout, local, .. } = function;
    for block in layout.iter() {
        blocks[*block].insts.iter_mut().for_each(|i| to_physical(i, |r| local[r].map(|_| all[r]), Space::Local));
    }
    session.forget_view();
    Ok(())
}

/// Colours of registers.
type Colors = SecondaryMap<VReg, Option<u16>>;

/// Colours the registers of a cluster: first the near bank, by what the accesses of each save against the far bank for each
/// point of its length; then what is left in the far bank, by what it saves against the main file.
fn color_banks(function: &Function, all: &Graph, costs: &Costs, number: usize, cluster: &Cluster, gains: &Gains) -> Colors {
    let mut colors = Colors::with_capacity(function.vregs.len());
    let (near, far) = cluster.banks();
    if near > 0 {
        let bank = FileSpec { reserved: (0..far).collect(), ..FileSpec::new(cluster.local_registers) };
        let mut graph = uncolored(function, all, number, &colors, &gains.near);
        let broken = BrokenCopies::new(&graph, costs, number);
        let left_out = broken.keep_with_wide(&mut graph, &gains.near, near);
        color_in(&graph, &bank, &mut colors);
        left_out.into_iter().for_each(|r| colors[r] = None);
        broken.keep_together(&graph, &gains.near, &mut colors);
    }
    let graph = uncolored(function, all, number, &colors, &gains.local);
    color_in(&graph, &FileSpec::new(far), &mut colors);
    BrokenCopies::new(&graph, costs, number).give_up_scattered(&graph, &gains.local, &mut colors);
    colors
}

/// Interference of the local registers of all clusters.
fn graph_of(function: &Function) -> Graph {
    let mine = |r: VReg| function.local[r].is_some();
    ranges::interference_where(function, &LiveView::of(function, mine), mine, |_| false)
}

/// Of that the part of a cluster's registers that have no colour yet, each with what it gains for each point of its length.
fn uncolored(function: &Function, all: &Graph, cluster: usize, colors: &Colors, gains: &SecondaryMap<VReg, f32>) -> Graph {
    let mut graph = part(all, |r| function.local[r] == Some(cluster as u8) && colors[r].is_none());
    for node in &mut graph.nodes {
        let points = |(a, b): &(u32, u32)| graph.segments[*a as usize..*b as usize].iter().map(|s| s.end - s.start).sum::<u32>();
        let length: u32 = node.live.iter().map(points).sum();
        node.cost = gains[node.reg].max(0.0) / (length as f32 + 1.0);
    }
    graph
}

/// The part of a problem that is about the registers for which `wanted` holds.
fn part(all: &Graph, wanted: impl Fn(VReg) -> bool) -> Graph {
    let size = all.nodes.iter().filter(|node| wanted(node.reg)).count();
    let mut part = Graph { nodes: Vec::with_capacity(size), ..Graph::default() };
    let mut number: Vec<Option<u32>> = vec![None; all.nodes.len()];
    for (node, number) in all.nodes.iter().zip(&mut number).filter(|(node, _)| wanted(node.reg)) {
        *number = Some(part.nodes.len() as u32);
        let mut of = |&(from, to): &(u32, u32)| {
            let first = part.segments.len() as u32;
            part.segments.extend_from_slice(&all.segments[from as usize..to as usize]);
            (first, part.segments.len() as u32)
        };
        let live = std::array::from_fn(|word| of(&node.live[word]));
        part.nodes.push(Node { live, ..node.clone() });
    }
    let new = |node: u32| number[node as usize];
    let copies = all.affinities.iter();
    part.affinities = copies.filter_map(|c| Some(Affinity { a: new(c.a)?, b: new(c.b)?, ..*c })).collect();
    let read = |(node, word): (u32, u8)| Some((new(node)?, word));
    let pairs = all.together.iter();
    part.together = pairs.filter_map(|t| Some(ReadTogether { a: read(t.a)?, b: read(t.b)?, ..*t })).collect();
    part
}

/// Colours a graph in a bank and notes the colours. Costs are finite, so nothing can fail.
fn color_in(graph: &Graph, file: &FileSpec, colors: &mut Colors) {
    if let Ok(coloring) = color::color(graph, file) {
        graph.nodes.iter().zip(&coloring.color).for_each(|(node, color)| colors[node.reg] = *color);
    }
}

/// Copies that would vanish if their ends were side by side.
struct BrokenCopies {
    copies: Vec<BrokenCopy>,
    /// For each node the first node of the bundle that it is in if copies vanish, and the bundle's words.
    bundles: Vec<(u32, u8)>,
}

/// A copy between two nodes.
struct BrokenCopy {
    ends: [usize; 2],
    /// The second end's first register less the first's, if the copy is to vanish.
    offset: i32,
    /// What the copy costs if it stays.
    cost: f32,
}

impl BrokenCopies {
    fn new(graph: &Graph, costs: &Costs, cluster: usize) -> Self {
        let bundles = color::bundles(graph);
        let (read, write) = costs.local[cluster];
        let one = |c: &Affinity| BrokenCopy {
            ends: [c.a as usize, c.b as usize],
            offset: i32::from(c.offset),
            cost: c.weight * (read + write + costs.copy) + costs.fetch,
        };
        let within = |c: &&Affinity| bundles[c.a as usize].0 == bundles[c.b as usize].0;
        BrokenCopies { copies: graph.affinities.iter().filter(within).map(one).collect(), bundles }
    }

    /// What each node's copies cost to nodes of which `is_apart` says that they are elsewhere.
    fn costs(&self, is_apart: impl Fn(usize) -> bool) -> Vec<f32> {
        let mut costs = vec![0.0; self.bundles.len()];
        for &BrokenCopy { ends: [a, b], cost, .. } in &self.copies {
            costs[a] += if is_apart(b) { cost } else { 0.0 };
            costs[b] += if is_apart(a) { cost } else { 0.0 };
        }
        costs
    }

    /// Gives up all of a bundle whose members did not find places side by side, where their copies cost more than the bundle
    /// gains: the main file has room for tuples.
    fn give_up_scattered(&self, graph: &Graph, gains: &SecondaryMap<VReg, f32>, colors: &mut Colors) {
        let color = |node: usize| colors[graph.nodes[node].reg].map(i32::from);
        let mut loss: FxHashMap<u32, f32> = FxHashMap::default();
        for copy in &self.copies {
            let stays = match copy.ends.map(color) {
                [Some(a), Some(b)] => a + copy.offset != b,
                [a, b] => a.is_some() != b.is_some(),
            };
            if stays {
                *loss.entry(self.bundles[copy.ends[0]].0).or_default() += copy.cost;
            }
        }
        if loss.is_empty() {
            return;
        }
        for (node, &(first, _)) in graph.nodes.iter().zip(&self.bundles) {
            if let Some(loss) = loss.get_mut(&first).filter(|_| colors[node.reg].is_some()) {
                *loss -= gains[node.reg];
            }
        }
        for (node, (first, _)) in graph.nodes.iter().zip(&self.bundles) {
            if loss.get(first).is_some_and(|l| *l > 0.0) {
                colors[node.reg] = None;
            }
        }
    }

    /// Finds parts of what is too wide for the near bank that lose more by their copies than they gain, and takes their
    /// intervals out of the graph.
    fn keep_with_wide(&self, graph: &mut Graph, gains: &SecondaryMap<VReg, f32>, near: u32) -> Vec<VReg> {
        let costs = self.costs(|node| u32::from(self.bundles[node].1) > near);
        let mut found = Vec::new();
        for (node, cost) in graph.nodes.iter_mut().zip(costs) {
            if gains[node.reg] <= cost {
                node.live = [(0, 0); 4];
                found.push(node.reg);
            }
        }
        found
    }

    /// Takes the near registers back of what would lose more by copies to where its neighbours are than it gains.
    fn keep_together(&self, graph: &Graph, gains: &SecondaryMap<VReg, f32>, colors: &mut Colors) {
        let reg = |node: usize| graph.nodes[node].reg;
        loop {
            let costs = self.costs(|node| colors[reg(node)].is_none());
            let lost = |node: &usize| colors[reg(*node)].is_some() && gains[reg(*node)] <= costs[*node];
            let lost: Vec<usize> = (0..graph.nodes.len()).filter(lost).collect();
            if lost.is_empty() {
                return;
            }
            lost.into_iter().for_each(|node| colors[reg(node)] = None);
        }
    }
}

/// Energy that each local register saves.
struct Gains {
    /// Against the main file: cheaper accesses, less the copies that go away with it.
    local: SecondaryMap<VReg, f32>,
    /// In the near bank, against the far one.
    near: SecondaryMap<VReg, f32>,
}

impl Gains {
    fn new(function: &Function, costs: &Costs, session: &Session) -> Self {
        let none = || {
            let mut map = SecondaryMap::with_capacity(function.vregs.len());
            map.resize(function.vregs.len());
            map
        };
        let mut gains = Gains { local: none(), near: none() };
        for &block in &function.layout {
            let data = &function.blocks[block];
            data.insts.iter().for_each(|inst| gains.add(function, costs, session, data.frequency, inst));
        }
        gains
    }

    /// Adds what an instruction's accesses save.
    fn add(&mut self, function: &Function, costs: &Costs, session: &Session, frequency: f32, inst: &Inst) {
        let shared = costs.shared[inst.class() as usize];
        webs::for_each_vector(function, inst, |reg, words, write| {
            if let Some(c) = function.local[reg] {
                let (far, near) = (costs.local[usize::from(c)], costs.near[usize::from(c)]);
                let wire = if shared >> c & 1 == 1 { costs.shared_wire - costs.near_shared_wire[usize::from(c)] } else { 0.0 };
                let saved = wire + if write { far.1 - near.1 } else { far.0 - near.0 };
                self.near[reg] += frequency * f32::from(words) * saved;
            }
        });
        let (main_read, main_write) = costs.main;
        let weight = |words: u8| frequency * f32::from(words);
        let source = inst.srcs.first().and_then(|s| s.as_virt()).map(|s| s.0);
        if let (Op::Mov, Some((to, _)), Some(from)) = (inst.op, inst.dst.as_virt(), source) {
            let main_of = |r: VReg| session.main_of.get(r).copied().flatten();
            let words = weight(inst.dst_words().max(1));
            if let Some(c) = function.local[to].filter(|_| main_of(to) == Some(from)) {
                self.local[to] -= words * (main_read + costs.local[usize::from(c)].1 + costs.copy);
                return;
            }
            if let Some(c) = function.local[from].filter(|_| main_of(from) == Some(to)) {
                self.local[from] -= words * (costs.local[usize::from(c)].0 + main_write + costs.copy);
                // Without the copy the write goes to the main register.
                return;
            }
        }
        webs::for_each_vector(function, inst, |reg, words, write| {
            if let Some(c) = function.local[reg] {
                let (read, wrote) = costs.local[usize::from(c)];
                self.local[reg] += weight(words) * if write { main_write - wrote } else { main_read - read };
            }
        });
    }
}

/// Moves local registers to the main file; says whether there were any.
fn give_up(function: &mut Function, lost: &[VReg], session: &mut Session) -> bool {
    if lost.is_empty() {
        return false;
    }
    let mut instead: SecondaryMap<VReg, Option<VReg>> = SecondaryMap::with_capacity(function.vregs.len());
    for &reg in lost {
        function.local[reg] = None;
        instead[reg] = session.main_of.get(reg).copied().flatten();
    }
    for position in 0..function.layout.len() {
        let block = function.layout[position];
        let insts = &mut function.blocks[block].insts;
        for inst in insts.iter_mut() {
            ranges::for_each_operand_mut(inst, |reg, _| {
                if let Some(main) = instead.get(*reg).copied().flatten() {
                    *reg = main;
                }
            });
        }
        // Copies onto themselves, but not what the program itself moves: that has an origin, and `finish`
        // drops it.
        let keep = |i: &Inst, origin: u32| origin != INSERTED || i.op != Op::Mov || i.dst != i.srcs[0];
        spill::retain(insts, &mut session.origins[block], keep);
    }
    drop_dead_copies(function, session);
    session.forget_view();
    true
}

/// Removes inserted copies whose result nothing reads any more.
fn drop_dead_copies(function: &mut Function, session: &mut Session) {
    let mut used: SecondaryMap<VReg, bool> = SecondaryMap::with_capacity(function.vregs.len());
    used.resize(function.vregs.len());
    for inst in function.layout.iter().flat_map(|b| &function.blocks[*b].insts) {
        liveness::for_each_use(inst, |r, _| used[r] = true);
    }
    for position in 0..function.layout.len() {
        let block = function.layout[position];
        let dead = |i: &Inst, o: u32| o == INSERTED && i.op == Op::Mov && i.dst.as_virt().is_some_and(|(r, _)| !used[r]);
        spill::retain(&mut function.blocks[block].insts, &mut session.origins[block], |i, o| !dead(i, o));
    }
}
