//! Cluster assignment (C2): every vector instruction goes to a cluster that has the unit its class needs
//! (C1). Scalar and control instructions are in no cluster.
//!
//! # With local files
//! Bottom-up greedy, after Ellis' BUG ("Bulldog: a compiler for VLIW architectures", 1986): blocks in order
//! of frequency, instructions from the last to the first, so that users pull what they use; values that live
//! across blocks pull through the accesses already placed there. The measure is the one of
//! [`super::partition`]: what the register accesses of the values involved will cost, copies between clusters
//! included, plus the work the cluster has already, because clusters issue side by side: in the whole function,
//! and where warps do not take turns at the clusters also nearby, since warps in step want the same cluster at
//! the same time. An instruction that would find its cluster busy with the one before pays for the cycles.
//! Afterwards instructions move singly, in the order of the code, as long as that lowers the sum (Kernighan and Lin's
//! idea without its look-ahead).
//!
//! The greedy assignment does not know how many ranges fit into a local file, nor how warps get into each other's way. So it is
//! made with several weights of balance and waiting against energy, and what each comes to is found with a copy of the
//! function ([`outcome`]); the cheapest is kept. Where a local file has room for all that is live at once, which is so in most
//! functions, only the first weights are tried, to save time. Where clusters do not take turns, the assignment that is made
//! without local files is always compared with the others, which have to be better for certain.
//!
//! # Without
//! The cluster with the least work so far in the block, the lowest number on ties; work is counted in cycles
//! of the unit (the description's intervals).
//!
//! May touch: the cluster of each instruction; and each live range becomes a register of its own (C3).

mod outcome;

use cranelift_entity::SecondaryMap;
use rustc_hash::FxHashSet;
use smallvec::SmallVec;
use strum::IntoEnumIterator;

use super::context::Context;
use super::ranges::{self, LiveView};
use super::spill::{INSERTED, Origins};
use super::webs::{self, Accesses, Costs};
use super::{CodegenError, RegisterFile};
use heddle_isa::{Inst, OpClass, Operand, PhysReg, Reg, Space, VReg};
use heddle_mir::{Bank, Block, Function};
use heddle_target::Machine;

/// Where instructions of a unit class may go.
#[derive(Default)]
struct Candidate {
    /// The clusters that have its unit, alone or with others.
    clusters: SmallVec<[u8; 8]>,
    /// Cycles that an instruction keeps the unit busy.
    interval: u32,
    /// Bit c: cluster c shares the unit with others, which wait for it too: of the cluster itself an instruction takes only the
    /// issue slot.
    shared: u8,
}

impl Candidate {
    /// Cycles that an instruction takes of a cluster.
    fn work(&self, cluster: u8) -> u32 {
        if self.shared >> cluster & 1 == 1 { 1 } else { self.interval }
    }
}

/// By unit class.
struct Candidates(Vec<Candidate>);

impl Candidates {
    fn new(machine: &Machine) -> Self {
        let of = |class: OpClass| match machine.timing.get(&class) {
            Some(timing) => {
                let all = 0..machine.clusters.len();
                let shares = |c: &usize| machine.shared_unit(*c, timing.unit).is_some();
                Candidate {
                    clusters: all.clone().filter(|c| machine.cluster_has(*c, timing.unit)).map(|c| c as u8).collect(),
                    interval: timing.interval,
                    shared: all.filter(shares).fold(0, |bits, c| bits | 1 << c),
                }
            }
            None => Candidate::default(),
        };
        Candidates(OpClass::iter().map(of).collect())
    }

    /// Assigns an instruction that is in no cluster yet, and counts its work.
    fn assign(&self, inst: &mut Inst, scalar: bool, load: &mut [u64]) {
        inst.cluster = 0;
        let class = inst.class();
        if scalar || class == OpClass::Control {
            return;
        }
        let candidate = &self.0[class as usize];
        if let Some(&best) = candidate.clusters.iter().min_by_key(|c| load[**c as usize]) {
            // A u-marked instruction runs on the scalar unit; its cluster only says whose local registers it
            // may name.
            load[best as usize] += if inst.uniform { 0 } else { u64::from(candidate.work(best)) };
            inst.cluster = best;
        }
    }
}

/// Whether the destination is scalar.
fn is_scalar(function: &heddle_mir::Function, dst: Operand) -> bool {
    match dst {
        Operand::Reg(Reg::Virtual { reg, .. }) => function.vregs[reg].bank == Bank::Scalar,
        Operand::Reg(Reg::Physical(PhysReg { space, .. })) => space == Space::Scalar,
        _ => false,
    }
}

/// Assigns clusters.
pub fn run(function: &mut Function, context: &mut Context) -> Result<(), CodegenError> {
    let machine = context.machine;
    // Live ranges, not registers, are what clusters share or do not (C3).
    let view = LiveView::new(function);
    ranges::split_webs(function, &view, Bank::Vector);
    let candidates = Candidates::new(machine);
    if context.options.regfile == RegisterFile::Multilevel && machine.clusters.iter().any(|c| c.local_registers > 0) {
        try_weights(function, context, &candidates)?;
    } else {
        balance(function, machine, &candidates);
    }
    Ok(())
}

/// Assigns clusters with each of the weights and keeps the assignment that costs least in the end.
fn try_weights(function: &mut Function, context: &Context, candidates: &Candidates) -> Result<(), CodegenError> {
    let machine = context.machine;
    let instructions: usize = function.layout.iter().map(|b| function.blocks[*b].insts.len()).sum();
    let room = machine.clusters.iter().map(|c| c.local_registers).min().unwrap_or(0);
    let needed = ranges::pressure(function, &LiveView::new(function)).worst[Bank::Vector as usize];
    let tried = if instructions > MOST_TRIED || needed < room { 1 } else { WEIGHTS.len() };
    let assign = |weights: &Weights| {
        let mut copy = function.clone();
        Greedy::new(&mut copy, machine, candidates, *weights).run(machine);
        copy
    };
    let mut assigned: Vec<Function> = heddle_threads::map(WEIGHTS[..tried].iter().collect(), assign);
    if !machine.sm.rotate_clusters && instructions <= MOST_TRIED {
        // Warps in step want the same clusters: where slots limit, nothing goes before even use of them. It is favoured, since it
        // is what runs without local files, too, and energy of registers is to cost no cycles here.
        let mut copy = function.clone();
        balance(&mut copy, machine, candidates);
        assigned.insert(0, copy);
    }
    let mut known: FxHashSet<Vec<u8>> = FxHashSet::default();
    assigned.retain(|f| known.insert(clusters_of(f)));
    let mut costs = vec![0.0];
    if assigned.len() > 1 {
        let cost = |f: &Function| outcome::cost(f, machine, context.options);
        costs = heddle_threads::map(assigned.iter().collect(), cost).into_iter().collect::<Result<_, _>>()?;
    }
    // The first ones are favoured: what differs by less is not known that well.
    let better = |best: usize, i: usize| if costs[i] < costs[best] * (1.0 - SURE) { i } else { best };
    let best = (1..assigned.len()).fold(0, better);
    *function = assigned.swap_remove(best);
    Ok(())
}

/// The cluster of each instruction, in the order of the code.
fn clusters_of(function: &Function) -> Vec<u8> {
    function.layout.iter().flat_map(|b| &function.blocks[*b].insts).map(|i| i.cluster).collect()
}

/// Gives each instruction the cluster with the least work so far in its block.
fn balance(function: &mut Function, machine: &Machine, candidates: &Candidates) {
    let mut load = vec![0u64; machine.clusters.len()];
    for position in 0..function.layout.len() {
        let block = function.layout[position];
        load.iter_mut().for_each(|l| *l = 0);
        let mut insts = std::mem::take(&mut function.blocks[block].insts);
        for inst in &mut insts {
            candidates.assign(inst, is_scalar(function, inst.dst), &mut load);
        }
        function.blocks[block].insts = insts;
    }
}

/// Assigns clusters to what allocation inserted, beside the work that is there.
pub fn inserted(function: &mut Function, machine: &Machine, origins: &Origins) {
    let candidates = Candidates::new(machine);
    let mut load = vec![0u64; machine.clusters.len()];
    for position in 0..function.layout.len() {
        let block = function.layout[position];
        if !origins[block].contains(&INSERTED) {
            continue;
        }
        load.iter_mut().for_each(|l| *l = 0);
        let mut insts = std::mem::take(&mut function.blocks[block].insts);
        for (inst, origin) in insts.iter_mut().zip(&origins[block]) {
            let local = |o: &Operand| matches!(o.as_phys(), Some(PhysReg { space: Space::Local, .. }));
            if *origin == INSERTED && !inst.srcs.iter().chain([&inst.dst]).any(local) {
                candidates.assign(inst, is_scalar(function, inst.dst), &mut load);
            } else if let Some(l) = load.get_mut(usize::from(inst.cluster)) {
                *l += u64::from(candidates.0[inst.class() as usize].work(inst.cluster));
            }
        }
        function.blocks[block].insts = insts;
    }
}

/// Instructions before one that may still keep its cluster busy: divisions take no longer.
const LONGEST_WORK: usize = 16;

/// Passes of single moves after the greedy assignment, with their factors on the price of balance.
const HEAT: [f32; 5] = [4.0, 2.0, 1.0, 1.0, 1.0];

/// Warps that an SM is expected to have, which decides how much work a cluster does unnoticed while warps
/// wait for memory.
const EXPECTED_WARPS: f32 = 8.0;

/// What the greedy assignment weighs register energy against.
#[derive(Clone, Copy)]
struct Weights {
    /// Price of a cycle of work on a cluster that has the average load, in picojoules of a lane: what keeps one
    /// cluster from doing everything.
    balance: f32,
    /// Price of a cycle that a warp waits because its own instruction keeps the cluster busy, likewise.
    busy: f32,
    /// Work that fits into the time in which warps wait is free.
    uses_idle_time: bool,
}

/// The weights that are tried: without and with a price of balance, with low and high ones of a busy cluster. Together they save
/// 2 % more register energy than the first alone; no test kernel takes 1.2 % more cycles than with a single file, where with the
/// first alone one takes 3.4 % more.
const WEIGHTS: [Weights; 5] = [
    Weights { balance: 0.3, busy: 2.0, uses_idle_time: true },
    Weights { balance: 0.0, busy: 3.0, uses_idle_time: true },
    Weights { balance: 0.0, busy: 1.0, uses_idle_time: true },
    Weights { balance: 1.2, busy: 2.0, uses_idle_time: false },
    Weights { balance: 0.3, busy: 6.0, uses_idle_time: true },
];

/// Functions of more instructions are assigned with the first weights only, to save time.
const MOST_TRIED: usize = 4096;

/// By how much of the cost another assignment has to be better than the first.
const SURE: f32 = 0.002;

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

/// State of the greedy assignment.
struct Greedy<'a> {
    function: &'a mut Function,
    candidates: &'a Candidates,
    costs: Costs,
    /// The register that stands for each web.
    web: SecondaryMap<VReg, Option<VReg>>,
    /// Accesses of the instructions placed so far.
    table: SecondaryMap<VReg, Accesses>,
    /// What is taken of each cluster.
    load: Vec<Load>,
    /// All there is to take.
    total: Load,
    /// Work that a cluster can take without holding up a warp: the time of one warp alone, shared by the
    /// warps expected on an SM.
    idle: f32,
    /// Factor on the price of balance, which falls from pass to pass: chains of instructions first spread, then join.
    temperature: f32,
    /// Every warp asks the cluster that is written in the instruction, whichever took turns before.
    in_step: bool,
    /// What energy is weighed against.
    weights: Weights,
    /// For each instruction whether the rest of its block does not read its result.
    late: SecondaryMap<Block, Vec<bool>>,
}

/// The accesses of one instruction: register, weight, and for a write the cycles to its result.
type Mentions = SmallVec<[(VReg, f32, Option<f32>); 4]>;

impl<'a> Greedy<'a> {
    fn new(function: &'a mut Function, machine: &Machine, candidates: &'a Candidates, weights: Weights) -> Self {
        let costs = Costs::new(machine);
        let mut table = SecondaryMap::with_capacity(function.vregs.len());
        table.resize(function.vregs.len());
        let load = vec![Load::default(); machine.clusters.len()];
        let web = webs::representatives(function, &LiveView::new(function));
        let (total, idle) = (Load::default(), 0.0);
        let in_step = !machine.sm.rotate_clusters;
        let mut late = SecondaryMap::new();
        for &block in &function.layout {
            late[block] = webs::read_late(&function.blocks[block].insts);
        }
        Greedy { web, function, candidates, costs, table, load, total, idle, temperature: HEAT[0], in_step, weights, late }
    }

    fn run(mut self, machine: &Machine) {
        let mut order = self.function.layout.clone();
        order.sort_by(|a, b| self.function.blocks[*b].frequency.total_cmp(&self.function.blocks[*a].frequency));
        for block in &order {
            let data = &self.function.blocks[*block];
            if self.weights.uses_idle_time {
                self.idle += data.frequency * path(machine, &data.insts) / EXPECTED_WARPS;
            }
            for (i, inst) in data.insts.iter().enumerate() {
                if let Some((choices, candidate)) = self.choices(inst) {
                    if let Some(first) = choices.first() {
                        self.total.add(Load::of(inst, candidate, *first, data.frequency), 1.0);
                    }
                } else {
                    // The scalar unit's reads of lane registers.
                    let mentions = self.mentions(*block, i);
                    mentions.iter().filter(|m| m.2.is_none()).for_each(|m| self.table[m.0].read(None, m.1, 1.0));
                }
            }
        }
        for &block in &order {
            for i in (0..self.function.blocks[block].insts.len()).rev() {
                self.place(block, i, None);
            }
        }
        let layout = self.function.layout.clone();
        for heat in HEAT {
            self.temperature = heat;
            let mut moved = false;
            for &block in &layout {
                for i in 0..self.function.blocks[block].insts.len() {
                    let now = self.function.blocks[block].insts[i].cluster;
                    moved |= self.place(block, i, Some(now));
                }
            }
            if !moved && heat == 1.0 {
                break;
            }
        }
    }

    /// Clusters an instruction may go to, and those of its class; `None` for scalar and control instructions.
    fn choices(&self, inst: &Inst) -> Option<(SmallVec<[u8; 8]>, &'a Candidate)> {
        let class = inst.class();
        if is_scalar(self.function, inst.dst) || class == OpClass::Control {
            return None;
        }
        let candidate = &self.candidates.0[class as usize];
        // The scalar unit delivers u-marked results to any cluster's registers; copies need only register ports.
        if inst.uniform || class == OpClass::Move {
            return Some(((0..self.load.len() as u8).collect(), candidate));
        }
        Some((candidate.clusters.clone(), candidate))
    }

    fn mentions(&self, block: Block, i: usize) -> Mentions {
        let data = &self.function.blocks[block];
        let (inst, frequency) = (&data.insts[i], data.frequency);
        let mut result = Mentions::new();
        let wait = frequency * self.costs.wait(inst, self.late[block][i]);
        webs::for_each_vector(self.function, inst, |reg, words, write| {
            let reg = self.web[reg].unwrap_or(reg);
            result.push((reg, frequency * f32::from(words), write.then_some(wait)));
        });
        // A copy within a web is none.
        if let (heddle_isa::Op::Mov, [a, b]) = (inst.op, &result[..])
            && a.0 == b.0
        {
            result.clear();
        }
        result
    }

    fn account(&mut self, mentions: &Mentions, cluster: u8, sign: f32) {
        for (reg, weight, write) in mentions {
            match write {
                Some(wait) => self.table[*reg].write(cluster, *weight, *wait, sign),
                None => self.table[*reg].read(Some(cluster), *weight, sign),
            }
        }
    }

    /// What it costs to take more of a cluster, from what is taken of it beside the average.
    fn crowding(&self, cluster: u8, taken: Load) -> f32 {
        let load = self.load[usize::from(cluster)];
        let clusters = self.load.len() as f32;
        let price = |taken: f32, load: f32, mean: f32| taken * (load / mean.max(1e-6)).powi(2);
        let work = price(taken.work, load.work, (self.total.work / clusters).max(self.idle));
        let collected = price(taken.collected, load.collected, self.total.collected / clusters);
        self.temperature * (self.weights.balance * work + COLLECT * collected)
    }

    /// Cycles that an instruction keeps a cluster busy: none if it is in no cluster or in another one.
    fn busy(&self, inst: &Inst, cluster: u8) -> u32 {
        if inst.cluster != cluster || inst.uniform || is_scalar(self.function, inst.dst) {
            return 0;
        }
        self.candidates.0[inst.class() as usize].work(cluster)
    }

    /// What it costs that instructions nearby use the cluster, too; `placed`: those before it are in clusters already.
    fn crowding_nearby(&self, block: Block, i: usize, cluster: u8, work: u32, placed: bool) -> f32 {
        let insts = &self.function.blocks[block].insts;
        let from = if placed { i.saturating_sub(NEARBY) } else { i + 1 };
        let others = || (from..(i + NEARBY + 1).min(insts.len())).filter(|j| *j != i).map(|j| &insts[j]);
        let load = |c: u8| others().map(|other| self.busy(other, c)).sum::<u32>() as f32;
        let clusters = self.load.len() as u8;
        let mean = (0..clusters).map(load).sum::<f32>() / f32::from(clusters);
        let idle = others().count() as f32 / EXPECTED_WARPS;
        self.temperature * NEARBY_BALANCE * work as f32 * (load(cluster) / mean.max(idle).max(1e-6)).powi(2)
    }

    /// Cycles for which an instruction finds its cluster busy with one before, or keeps it from one behind, in the same warp.
    /// Where one reads the other's result it waits for that longer.
    fn waits(&self, block: Block, i: usize, cluster: u8, work: u32, placed: bool) -> usize {
        let insts = &self.function.blocks[block].insts;
        let reads = |reader: &Inst, writer: &Inst| {
            let written = writer.dst.as_virt().map(|(r, _)| r);
            written.is_some() && reader.srcs.iter().any(|s| s.as_virt().map(|(r, _)| r) == written)
        };
        let mut cycles = 0;
        let longest = if placed { LONGEST_WORK.min(i) } else { 0 };
        for distance in 1..=longest {
            let before = &insts[i - distance];
            if reads(&insts[i], before) {
                break;
            }
            let busy = self.busy(before, cluster) as usize;
            if busy > distance {
                cycles = busy - distance;
                break;
            }
        }
        for distance in 1..work as usize {
            let Some(behind) = insts.get(i + distance).filter(|b| !reads(b, &insts[i])) else { break };
            if self.busy(behind, cluster) > 0 {
                cycles += work as usize - distance;
                break;
            }
        }
        cycles
    }

    /// Places an instruction where it costs least; `from` is where it is. Says whether it moved.
    fn place(&mut self, block: Block, i: usize, from: Option<u8>) -> bool {
        let data = &self.function.blocks[block];
        let inst = &data.insts[i];
        let frequency = data.frequency;
        let Some((choices, candidate)) = self.choices(inst) else { return false };
        let marked = inst.uniform;
        let mentions = self.mentions(block, i);
        let taken: [Load; webs::MAX_CLUSTERS] = std::array::from_fn(|c| Load::of(inst, candidate, c as u8, frequency));
        if let Some(now) = from {
            self.account(&mentions, now, -1.0);
            self.load[usize::from(now)].add(taken[usize::from(now)], -1.0);
        }
        let mut best = (f32::INFINITY, from.unwrap_or(0));
        if choices.len() == 1 {
            best = (0.0, choices[0]);
        } else {
            for &c in &choices {
                self.account(&mentions, c, 1.0);
                let mut cost = self.crowding(c, taken[usize::from(c)]);
                if !marked {
                    let work = candidate.work(c);
                    cost += frequency * self.weights.busy * self.waits(block, i, c, work, from.is_some()) as f32;
                    if self.in_step {
                        cost += frequency * self.crowding_nearby(block, i, c, work, from.is_some());
                    }
                }
                for (k, (reg, ..)) in mentions.iter().enumerate() {
                    if !mentions[..k].iter().any(|m| m.0 == *reg) {
                        cost += self.table[*reg].best(&self.costs).1;
                    }
                }
                self.account(&mentions, c, -1.0);
                // Staying is worth a little, so that ties do not swing.
                let stay = if from == Some(c) { 1e-3 * frequency } else { 0.0 };
                if cost - stay < best.0 - 1e-4 {
                    best = (cost - stay, c);
                }
            }
        }
        self.account(&mentions, best.1, 1.0);
        self.load[usize::from(best.1)].add(taken[usize::from(best.1)], 1.0);
        self.function.blocks[block].insts[i].cluster = best.1;
        from.is_some_and(|f| f != best.1)
    }
}

/// Cycles that a warp alone takes for a block: issue in order, operands by their latencies.
pub fn path(machine: &Machine, insts: &[Inst]) -> f32 {
    let mut ready: rustc_hash::FxHashMap<VReg, u32> = Default::default();
    let mut cycle = 0;
    for inst in insts {
        heddle_mir::liveness::for_each_use(inst, |r, _| cycle = cycle.max(ready.get(&r).copied().unwrap_or(0)));
        if let Some((r, _)) = inst.dst.as_virt() {
            ready.insert(r, cycle + machine.latency(inst.class()));
        }
        cycle += 1;
    }
    cycle as f32
}
