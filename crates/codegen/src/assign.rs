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
//! made with several weights of balance and waiting against energy, and what the most promising come to is found with a copy
//! of the function ([`outcome`]); the cheapest is kept. Where warps take turns at alike clusters, one cluster for all
//! instructions of a warp is compared, too: it copies nothing, and the greedy assignment seldom finds it over many blocks. Where
//! clusters do not take turns, the assignment that is made without local files is always compared with the others, which have to
//! be better for certain.
//!
//! The scheduler knows several orders ([`super::schedule`]): the first favours local files, the others hide more latency of a warp
//! alone. If they differ and warps find room for what is live in them, the first assignment is tried with each. The one with which
//! it costs least is that of all other assignments; orders that save energy only are left out, as they cost cycles in the end, and
//! the one for latencies has to be cheaper for certain ([`ORDERS`]); but where a warp alone is clearly sooner done, an order may cost
//! a little more. Trying all assignments with two orders took up to twice the time and chose no better: over 283 launches the
//! cycles above those of the best of them all came to 0.69 % instead of 0.72 %.
//!
//! # Without
//! The cluster with the least work so far in the block, the lowest number on ties; work is counted in cycles
//! of the unit (the description's intervals).
//!
//! May touch: the cluster of each instruction; and each live range becomes a register of its own (C3).

mod greedy;
mod outcome;

use greedy::Prepared;
use outcome::{Outcome, Outcomes};
use rustc_hash::FxHashSet;
use smallvec::SmallVec;
use strum::IntoEnumIterator;

use super::context::Context;
use super::ranges;
use super::schedule::Order;
use super::spill::{INSERTED, Origins};
use super::webs;
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

    /// The cluster of an instruction that is in none yet; counts its work.
    fn least_loaded(&self, function: &Function, inst: &Inst, load: &mut [u64]) -> u8 {
        let class = inst.class();
        if is_scalar(function, inst.dst) || class == OpClass::Control {
            return 0;
        }
        let candidate = &self.0[class as usize];
        let Some(&best) = candidate.clusters.iter().min_by_key(|c| load[**c as usize]) else { return 0 };
        // A u-marked instruction runs on the scalar unit; its cluster only says whose local registers it may name.
        load[best as usize] += if inst.uniform { 0 } else { u64::from(candidate.work(best)) };
        best
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
    ranges::split_webs(function, Bank::Vector);
    let candidates = Candidates::new(machine);
    if context.options.regfile == RegisterFile::Multilevel && machine.clusters.iter().any(|c| c.local_registers > 0) {
        try_weights(function, context, &candidates)?;
    } else {
        let clusters = balance(function, machine, &candidates);
        set_clusters(function, &clusters);
    }
    Ok(())
}

/// Assigns clusters with each of the weights and keeps the assignment that costs least in the end.
fn try_weights(function: &mut Function, context: &mut Context, candidates: &Candidates) -> Result<(), CodegenError> {
    let machine = context.machine;
    let instructions: usize = function.layout.iter().map(|b| function.blocks[*b].insts.len()).sum();
    let tried = if instructions > MOST_TRIED { 1 } else { WEIGHTS.len() };
    let prepared = Prepared::new(function, context, candidates);
    let little = instructions < LITTLE;
    let mut assigned: Vec<Clusters> = map(little, WEIGHTS[..tried].iter().collect(), |w| prepared.assign(*w));
    if !machine.sm.rotate_clusters && instructions <= MOST_TRIED {
        // Warps in step want the same clusters: where slots limit, nothing goes before even use of them. It is favoured, since it
        // is what runs without local files, too, and energy of registers is to cost no cycles here.
        assigned.insert(0, balance(function, machine, candidates));
    }
    let alike = machine.clusters_alike(0);
    let takes_turns = machine.sm.rotate_clusters && alike.len() > 1;
    if takes_turns && instructions <= MOST_TRIED {
        assigned.push(first(function, candidates));
    }
    let mut known: FxHashSet<Clusters> = FxHashSet::default();
    // Where warps take turns at clusters, an assignment with others of these names is the same, or, with more than two of them,
    // nearly so: their order may be another one.
    let names = if takes_turns { &alike[..] } else { &[] };
    assigned.retain(|clusters| known.insert(in_order_of_names(function, clusters, names)));
    let is_single = |clusters: &Clusters| takes_turns && is_single(function, candidates, clusters);
    let best = match instructions > MOST_ORDERED {
        true => 0,
        false => best_of(function, context, (&prepared, little), &mut assigned, is_single)?,
    };
    set_clusters(function, &assigned[best]);
    Ok(())
}

/// Finds which of several assignments costs least in the end, and in which order of instructions, which it leaves to the scheduler.
/// What is not promising is no longer among them. `is_single`: one has one cluster for all of a warp.
fn best_of(
    function: &Function,
    context: &mut Context,
    (prepared, little): (&Prepared, bool),
    assigned: &mut Vec<Clusters>,
    is_single: impl Fn(&Clusters) -> bool,
) -> Result<usize, CodegenError> {
    let usual = Outcomes::new(function, context)?;
    if assigned.len() > PROMISING {
        let estimate = |clusters| prepared.energy(clusters) + usual.estimated_cycles(clusters);
        let estimates = map(little, assigned.iter().collect(), estimate);
        keep_promising(assigned, &estimates);
    }
    let mut others = Vec::new();
    for (kind, most) in ORDERS {
        let other = usual.with_other_order(function, context, kind)?;
        let is_new = |o: &Outcomes| others.iter().all(|(known, _): &(Outcomes, f32)| !known.has_order_of(o));
        if let Some(other) = other.filter(is_new) {
            others.push((other, most));
        }
    }
    if assigned.len() == 1 && others.is_empty() {
        context.orders = Some(usual.into_order());
        return Ok(0);
    }
    let (outcomes, first) = best_order(usual, others, &assigned[0])?;
    let found = map(little, assigned[1..].iter().collect(), |clusters| outcomes.of(clusters));
    let found = std::iter::once(Ok(first)).chain(found).collect::<Result<Vec<Outcome>, CodegenError>>()?;
    let least = found.iter().map(|f| f.cost).fold(f32::INFINITY, f32::min);
    let better = |best: usize, i: usize| {
        if found[i].is_better_than(&found[best], least, is_single(&assigned[i])) { i } else { best }
    };
    let best = (1..found.len()).fold(0, better);
    context.orders = Some(outcomes.into_order());
    Ok(best)
}

/// Of several orders the one with which an assignment costs least, or a warp alone takes clearly less time, and what it comes to.
/// Others than the usual one stand with the part of its cost that they may come to at most.
fn best_order<'a>(
    usual: Outcomes<'a>,
    others: Vec<(Outcomes<'a>, f32)>,
    clusters: &Clusters,
) -> Result<(Outcomes<'a>, Outcome), CodegenError> {
    let found = usual.of(clusters)?;
    let mut best = (usual, found);
    for (other, most) in others {
        let outcome = other.of(clusters)?;
        let cheaper = outcome.is_faster_than(&found) && outcome.cost < best.1.cost.min(found.cost * most);
        if cheaper || outcome.is_sooner_than(&best.1) {
            best = (other, outcome);
        }
    }
    Ok(best)
}

/// Keeps the assignments of least estimate, in their order, and the first, which is favoured. Of those that are estimated to
/// come to the same, as they do if clusters have only changed their names, the first is enough.
fn keep_promising(assigned: &mut Vec<Clusters>, estimates: &[f32]) {
    let mut order: Vec<usize> = (0..assigned.len()).collect();
    order.sort_by(|a, b| estimates[*a].total_cmp(&estimates[*b]));
    order.dedup_by(|other, first| {
        let same = estimates[*other] <= estimates[*first] * (1.0 + ROUNDING);
        *first = if same { (*first).min(*other) } else { *first };
        same
    });
    let least = order.first().map_or(0.0, |first| estimates[*first]);
    let near = |i: &usize| estimates[*i] <= least * (1.0 + PROMISING_MARGIN);
    let kept: FxHashSet<usize> = order.into_iter().filter(near).take(PROMISING).chain([0]).collect();
    let mut number = 0..;
    assigned.retain(|_| number.next().is_some_and(|i| kept.contains(&i)));
}

/// What `f` makes of each item, side by side unless there is little to do: threads that are new have to get memory of their own.
fn map<T: Send, R: Send>(little: bool, items: Vec<T>, f: impl Fn(T) -> R + Send + Sync) -> Vec<R> {
    if little { items.into_iter().map(f).collect() } else { heddle_threads::map(items, f) }
}

/// The clusters of a function's instructions: for each block of the layout those of its instructions.
type Clusters = Vec<Vec<u8>>;

/// Puts every instruction into its cluster.
fn set_clusters(function: &mut Function, clusters: &Clusters) {
    let Function { layout, blocks, .. } = function;
    for (block, clusters) in layout.iter().zip(clusters) {
        blocks[*block].insts.iter_mut().zip(clusters).for_each(|(inst, cluster)| inst.cluster = *cluster);
    }
}

/// Gives each instruction the cluster with the least work so far in its block.
fn balance(function: &Function, machine: &Machine, candidates: &Candidates) -> Clusters {
    let of = |block: &Block| {
        let mut load = vec![0u64; machine.clusters.len()];
        let insts = function.blocks[*block].insts.iter();
        insts.map(|inst| candidates.least_loaded(function, inst, &mut load)).collect()
    };
    function.layout.iter().map(of).collect()
}

/// Gives each instruction the first cluster that it can have.
fn first(function: &Function, candidates: &Candidates) -> Clusters {
    let of = |inst: &Inst| candidates.0[inst.class() as usize].clusters.first().copied().unwrap_or(0);
    function.layout.iter().map(|block| function.blocks[*block].insts.iter().map(of).collect()).collect()
}

/// The same assignment with the clusters of `names` in the order of their first instructions. Of what is in no cluster the number
/// means nothing, and is 0.
fn in_order_of_names(function: &Function, clusters: &Clusters, names: &[usize]) -> Clusters {
    let mut given: SmallVec<[Option<u8>; 8]> = SmallVec::new();
    let mut next = names.iter().map(|c| *c as u8);
    let mut name = |inst: &Inst, cluster: u8| {
        if webs::cluster_of(function, inst).is_none() {
            return 0;
        }
        let old = usize::from(cluster);
        if !names.contains(&old) {
            return cluster;
        }
        given.resize(given.len().max(old + 1), None);
        *given[old].get_or_insert_with(|| next.next().unwrap_or(cluster))
    };
    let of = |(block, clusters): (&Block, &Vec<u8>)| {
        function.blocks[*block].insts.iter().zip(clusters).map(|(inst, cluster)| name(inst, *cluster)).collect()
    };
    function.layout.iter().zip(clusters).map(of).collect()
}

/// Whether all instructions that have a choice are in one cluster.
fn is_single(function: &Function, candidates: &Candidates, clusters: &Clusters) -> bool {
    let insts = function.layout.iter().flat_map(|block| &function.blocks[*block].insts).zip(clusters.iter().flatten());
    let has_choice = |inst: &Inst| candidates.0[inst.class() as usize].clusters.len() > 1 && !is_scalar(function, inst.dst);
    let mut chosen = insts.filter(|(inst, _)| has_choice(inst)).map(|(_, cluster)| *cluster);
    chosen.next().is_none_or(|first| chosen.all(|c| c == first))
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
                inst.cluster = candidates.least_loaded(function, inst, &mut load);
            } else if let Some(l) = load.get_mut(usize::from(inst.cluster)) {
                *l += u64::from(candidates.0[inst.class() as usize].work(inst.cluster));
            }
        }
        function.blocks[block].insts = insts;
    }
}

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

/// The weights that are tried: without and with a price of balance, with low and high ones of a busy cluster. With all of them
/// the cost ([`outcome`]) of the test kernels' functions is 0.01 % above that with two more, `balance: 0.0, busy: 3.0` and
/// `balance: 1.2, busy: 2.0`, which would take two sevenths of the time. Without any one of these it is 0.02 to 0.15 % more.
/// Measured before assignments were compared with other orders.
const WEIGHTS: [Weights; 5] = [
    Weights { balance: 0.3, busy: 2.0, uses_idle_time: true },
    Weights { balance: 0.0, busy: 1.0, uses_idle_time: true },
    Weights { balance: 0.3, busy: 6.0, uses_idle_time: true },
    Weights { balance: 0.0, busy: 0.3, uses_idle_time: true },
    Weights { balance: 2.4, busy: 3.0, uses_idle_time: false },
];

/// Functions of more instructions are assigned with the first weights only, to save time.
const MOST_TRIED: usize = 4096;

/// Those of even more stay in the usual order, likewise.
const MOST_ORDERED: usize = 8192;

/// The assignments of functions with fewer instructions are tried one after the other. From 100 to 600 it makes no difference on
/// two cores.
const LITTLE: usize = 200;

/// Beside the first assignment so many are compared, those of least estimate.
const PROMISING: usize = 4;

/// An assignment that is estimated to cost more than the least by this part is not compared.
const PROMISING_MARGIN: f32 = 0.06;

/// The orders that are compared with the usual one, and the part of its cost that they may come to at most. Each was forced in turn
/// on 312 launches of test kernels, CUDA kernels and workloads. As they are chosen here they take .984 of the cycles of the usual one
/// on the default machine and .977 on `machines/mixed.toml`; without the last one .987 and .982. If it may come to as much as the
/// usual one, it saves .1 and .2 % more, at the price of .6 % of the energy of registers on the default machine.
const ORDERS: [(Order, f32); 2] = [(Order::Recent, 1.0), (Order::Latency, 0.98)];

/// Estimates that differ by this part differ by the order in which they were summed.
const ROUNDING: f32 = 1e-5;

/// Cycles that a warp alone takes for a block: issue in order, operands by their latencies.
pub fn path<'a>(machine: &Machine, insts: impl Iterator<Item = &'a Inst>) -> f32 {
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
