//! What an assignment of clusters comes to: the energy of register accesses and the cycles of a warp, found by
//! doing with a copy of the function what follows.
//!
//! # Problem
//! The greedy assignment ([`super`]) prices each live range as if its cluster's local file had room for it. Where
//! more is live than fits, or where long runs of instructions meet in one cluster, it may be far off, and other
//! weights of balance against copies lead to a better result. Which ones is not known before the files are
//! allocated.
//!
//! # Model
//! A copy of the function is scheduled, partitioned and given local registers. Then each access costs what its
//! register file does, near and far banks apart; a copy also its issue and, once, its fetch. Cycles are those of
//! warps that issue in order, oldest first: operands arrive by their latencies, a cluster's unit is busy for its
//! interval, and an instruction that finds it busy waits in a collector, if one is free. One warp alone shows
//! latency; several that are at different places of the block show whether they are in each other's way, which
//! long runs of instructions in one cluster are, then in another. Blocks count with their frequencies.
//!
//! # Limits
//! Blocks are looked at one by one. Loads take the time of a miss. The main file's banks, the scalar file and units
//! that clusters share never keep anybody waiting: assignment changes little in them.
//!
//! May touch: copies of the function only.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::{Candidates, Clusters};
use crate::allocate::Session;
use crate::context::Context;
use crate::costs::{Costs, MAX_CLUSTERS};
use crate::spill::{INSERTED, Origins};
use crate::webs;
use crate::{CodegenError, CodegenOptions, local_file, partition, schedule, strands};
use heddle_isa::{Inst, Op, OpClass, Operand, PhysReg, Reg, Space};
use heddle_mir::{Bank, Block, Function};
use heddle_target::Machine;

/// Price of a cycle of a warp alone, in picojoules of a lane.
const CYCLE: f32 = 2.0;

/// Price of a warp's share of the cycles that several take together, likewise, if the SM has one scheduler; of several each has
/// its part of the SM's time. About what a lane's part of static energy comes to in 8 SMs of 8 W together at 1400 MHz.
const SHARED_CYCLE: f32 = 22.0;

/// The same where warps do not take turns at clusters: energy of registers is saved at the price of cycles there, and is to cost
/// none. On `machines/mixed.toml` with the other price nine of 42 large launches took over 1 % more cycles than with the main
/// file alone, `image_filter` 9 %.
const SHARED_CYCLE_IN_STEP: f32 = 150.0;

/// Warps that share clusters, if a scheduler can have so many. On `machines/mixed.toml`, where it can have 48, half of these show
/// less of what limits `hash64`, twice as many less of what limits `fft` and `stencil_phases`.
const WARPS: u32 = 16;

/// Where warps are in step, as many show what others do not: the mean is taken.
const MORE_WARPS: u32 = 24;

/// Finds what assignments of one function come to. What does not depend on the clusters is done once.
pub(super) struct Outcomes<'a> {
    machine: &'a Machine,
    options: CodegenOptions,
    prices: Arc<Costs>,
    candidates: Candidates,
    /// The function scheduled, with what copies connect as one register.
    scheduled: Function,
    session: Session,
    /// For each block of the layout, which instruction of the function each of the scheduled one was.
    order: Vec<Vec<u32>>,
}

impl<'a> Outcomes<'a> {
    /// # Errors
    /// Those of the stages before the local files.
    pub(super) fn new(function: &Function, original: &Context<'a>) -> Result<Self, CodegenError> {
        let machine = original.machine;
        let options = CodegenOptions { verify: false, dump: Vec::new(), ..original.options.clone() };
        let mut scheduled = function.clone();
        let mut context = Context::new(&scheduled, machine, &options);
        let mut order: Vec<Vec<u32>> = Vec::new();
        let of = |block: &Block| (*block, (0..function.blocks[*block].insts.len() as u32).collect());
        let orders = match options.no_schedule {
            true => function.layout.iter().map(of).collect(),
            false => schedule::orders(function, machine),
        };
        for (block, indices) in orders {
            let insts = &mut scheduled.blocks[block].insts;
            *insts = schedule::in_order(std::mem::take(insts), &indices);
            order.push(indices);
        }
        strands::run(&mut scheduled, &mut context)?;
        partition::join_webs(&mut scheduled, context.allocation(function).session);
        let session = context.into_session(&scheduled);
        let (prices, candidates) = (original.costs(), Candidates::new(machine));
        Ok(Outcomes { machine, options, prices, candidates, scheduled, session, order })
    }

    /// The cost of an assignment, in picojoules of a lane.
    pub(super) fn cost(&self, clusters: &Clusters) -> Result<f32, CodegenError> {
        let machine = self.machine;
        let mut copy = self.scheduled.clone();
        for ((block, order), clusters) in self.scheduled.layout.iter().zip(&self.order).zip(clusters) {
            let origins = &self.session.origins[*block];
            let insts = copy.blocks[*block].insts.iter_mut().zip(origins);
            insts.for_each(|(inst, origin)| inst.cluster = clusters[order[*origin as usize] as usize]);
        }
        let mut context = Context::with_session(&copy, machine, &self.options, self.session.clone(), self.prices.clone());
        partition::distribute(&mut copy, &mut context);
        local_file::run(&mut copy, &mut context)?;
        let mut sum = 0.0;
        let schedulers = machine.sm.schedulers.max(1);
        let (price, numbers) = match machine.sm.rotate_clusters {
            true => (SHARED_CYCLE, &[WARPS][..]),
            false => (SHARED_CYCLE_IN_STEP, &[WARPS, MORE_WARPS][..]),
        };
        let shared_cycle = price / schedulers as f32;
        let most = (machine.sm.max_warps / schedulers).max(1);
        for &block in &copy.layout {
            let data = &copy.blocks[block];
            let energy: f32 = data.insts.iter().map(|i| energy(&copy, machine, &self.prices, i)).sum();
            let code = Code::new(&copy, machine, &self.candidates, &data.insts);
            let alone = code.cycles(1) as f32;
            let share = |warps: u32| code.cycles(warps as usize) as f32 / warps as f32;
            let shared = numbers.iter().map(|n| share((*n).min(most))).sum::<f32>() / numbers.len() as f32;
            sum += data.frequency * (energy + CYCLE * alone + shared_cycle * shared);
        }
        let origins = &context.allocation(&copy).session.origins;
        Ok(sum + inserted_copies(&copy, origins, &self.prices))
    }
}

/// Issue and fetch of the copies that partitioning inserted.
fn inserted_copies(function: &Function, origins: &Origins, prices: &Costs) -> f32 {
    let mut sum = 0.0;
    for &block in &function.layout {
        let data = &function.blocks[block];
        let copies = data.insts.iter().zip(&origins[block]).filter(|(i, origin)| **origin == INSERTED && i.op == Op::Mov);
        let words: u32 = copies.clone().map(|(i, _)| u32::from(i.dst_words().max(1))).sum();
        sum += data.frequency * words as f32 * prices.copy + copies.count() as f32 * prices.fetch;
    }
    sum
}

/// What an instruction's accesses to registers of lanes cost.
fn energy(function: &Function, machine: &Machine, prices: &Costs, inst: &Inst) -> f32 {
    let cluster = usize::from(webs::cluster_of(function, inst).unwrap_or(0)).min(MAX_CLUSTERS - 1);
    let shares = prices.shared[inst.class() as usize] >> cluster & 1 == 1;
    let price = |operand: Operand, words: u8, write: bool| {
        let of = |(read, wrote): (f32, f32)| if write { wrote } else { read };
        let one = match operand {
            Operand::Reg(Reg::Virtual { reg, .. }) if function.vregs[reg].bank == Bank::Vector => of(prices.main),
            Operand::Reg(Reg::Physical(PhysReg { space: Space::Local, index })) => {
                let near = machine.clusters.get(cluster).is_some_and(|c| u32::from(index) >= c.banks().1);
                let (price, wire) = match near {
                    true => (prices.near[cluster], prices.near_shared_wire[cluster]),
                    false => (prices.local[cluster], prices.shared_wire),
                };
                of(price) + if shares { wire } else { 0.0 }
            }
            _ => 0.0,
        };
        one * f32::from(words.max(1))
    };
    let read: f32 = inst.srcs.iter().enumerate().map(|(i, s)| price(*s, inst.src_words(i), false)).sum();
    read + price(inst.dst, inst.dst_words(), true)
}

/// A block's instructions as far as time is concerned.
struct Code<'a> {
    machine: &'a Machine,
    steps: Vec<Step>,
    /// Registers that they name.
    registers: usize,
    /// For each cluster those like it, among which warps take turns.
    alike: Vec<Vec<usize>>,
}

/// An instruction as far as time is concerned.
struct Step {
    sources: SmallVec<[u32; 6]>,
    results: SmallVec<[u32; 4]>,
    /// Its cluster; `None` on the scalar unit and for control.
    cluster: Option<usize>,
    /// Cycles for which it keeps its cluster's own unit.
    interval: u32,
    /// Cycles to its operands if it reads main registers.
    late: u32,
    /// Cycles from then on to its result.
    latency: u32,
}

/// A warp on its way through the code.
#[derive(Clone)]
struct Warp {
    /// Where it began.
    first: usize,
    /// Instructions that have issued.
    issued: usize,
    /// The place of the next one, and its cluster.
    place: usize,
    cluster: Option<usize>,
    /// Cycle from which that one may issue, as far as the warp itself is concerned.
    from: u32,
}

/// A cluster that instructions issue to.
#[derive(Clone, Default)]
struct Issuing {
    /// When its own units are free.
    free: u32,
    /// When its collectors are free.
    collectors: SmallVec<[u32; 4]>,
    /// The cycle from which an instruction may issue to it.
    accepts_from: u32,
}

impl<'a> Code<'a> {
    fn new(function: &Function, machine: &'a Machine, candidates: &Candidates, insts: &[Inst]) -> Self {
        let mut numbers: FxHashMap<(Reg, u8), u32> = FxHashMap::default();
        let steps = insts.iter().map(|inst| Step::new(function, machine, candidates, inst, &mut numbers)).collect();
        let turns = |c: usize| if machine.sm.rotate_clusters { machine.clusters_alike(c) } else { vec![c] };
        let alike = (0..machine.clusters.len()).map(turns).collect();
        Code { machine, steps, registers: numbers.len(), alike }
    }

    /// Cycles until each of several warps has executed the code once, beginning at places as far apart as can be, or in step
    /// where they do not take turns at clusters.
    fn cycles(&self, warps: usize) -> u32 {
        let n = self.steps.len();
        let collectors = SmallVec::from_elem(0, self.machine.main_file.collectors as usize);
        let mut clusters = vec![Issuing { collectors, ..Default::default() }; self.machine.clusters.len()];
        // Warps that do not take turns at clusters are in each other's way most where they are in step.
        let apart = if self.machine.sm.rotate_clusters { n } else { 0 };
        let begin = |w: usize| Warp { first: w * apart / warps, issued: 0, place: 0, cluster: None, from: 0 };
        let mut state: Vec<Warp> = (0..warps).map(begin).collect();
        // When registers hold their last result, of one warp after the other.
        let mut ready = vec![0; warps * self.registers];
        if n > 0 {
            (0..warps).for_each(|w| self.arrive(&mut state[w], w, 0, &[]));
        }
        let (mut cycle, mut end) = (0, 0);
        loop {
            let mut soonest = u32::MAX;
            for (w, warp) in state.iter_mut().enumerate().filter(|(_, warp)| warp.issued < n) {
                let from = warp.from.max(warp.cluster.map_or(0, |c| clusters[c].accepts_from));
                if from > cycle {
                    soonest = soonest.min(from);
                    continue;
                }
                let step = &self.steps[warp.place];
                let start = warp.cluster.map_or(cycle, |c| clusters[c].take(step, cycle));
                let ready = &mut ready[w * self.registers..][..self.registers];
                step.results.iter().for_each(|r| ready[*r as usize] = start + step.latency);
                warp.issued += 1;
                self.arrive(warp, w, cycle + 1, ready);
                end = cycle + 1;
                soonest = soonest.min(cycle + 1);
            }
            if soonest == u32::MAX {
                return end;
            }
            cycle = soonest;
        }
    }

    /// A warp comes to its next instruction in some cycle.
    fn arrive(&self, warp: &mut Warp, number: usize, cycle: u32, ready: &[u32]) {
        warp.place = (warp.issued + warp.first) % self.steps.len();
        let step = &self.steps[warp.place];
        warp.cluster = step.cluster.map(|c| {
            let alike = &self.alike[c];
            alike[(alike.iter().position(|a| *a == c).unwrap_or(0) + number) % alike.len()]
        });
        let operands = step.sources.iter().map(|r| ready.get(*r as usize).copied().unwrap_or(0)).max();
        warp.from = cycle.max(operands.unwrap_or(0));
    }
}

impl Step {
    fn new(
        function: &Function,
        machine: &Machine,
        candidates: &Candidates,
        inst: &Inst,
        numbers: &mut FxHashMap<(Reg, u8), u32>,
    ) -> Self {
        let class = inst.class();
        let mut number = |r| {
            let next = numbers.len() as u32;
            *numbers.entry(r).or_insert(next)
        };
        let (mut sources, mut results) = (SmallVec::new(), SmallVec::new());
        for (i, s) in inst.srcs.iter().enumerate() {
            each_register(*s, inst.src_words(i), inst.cluster, |r| sources.push(number(r)));
        }
        if let Some(guard) = inst.guard {
            each_register(Operand::Reg(guard.reg), 1, inst.cluster, |r| sources.push(number(r)));
        }
        each_register(inst.dst, inst.dst_words(), inst.cluster, |r| results.push(number(r)));
        let cluster = webs::cluster_of(function, inst).filter(|_| !inst.uniform).map(usize::from);
        let cluster = cluster.filter(|c| *c < machine.clusters.len());
        let candidate = &candidates.0[class as usize];
        let shares = cluster.is_some_and(|c| candidate.shared >> c & 1 == 1);
        let main = |s: &Operand| s.as_virt().is_some_and(|(r, _)| function.vregs[r].bank == Bank::Vector);
        let reads_main = inst.srcs.iter().any(main);
        let timing = machine.timing.get(&class).filter(|_| cluster.is_none() && class != OpClass::Control);
        let sooner = timing.map_or(0, |t| t.latency.saturating_sub(t.scalar_latency));
        Step {
            sources,
            results,
            cluster,
            interval: if shares { 0 } else { candidate.interval },
            late: if reads_main { machine.main_file.latency } else { 0 },
            latency: machine.latency(class).saturating_sub(sooner),
        }
    }
}

impl Issuing {
    /// Takes an instruction; the cycle in which its unit does.
    fn take(&mut self, step: &Step, now: u32) -> u32 {
        let unit = if step.interval == 0 { 0 } else { self.free };
        let start = (now + step.late).max(unit);
        if let Some(collector) = self.collectors.iter_mut().min() {
            *collector = start + 1;
        }
        if step.interval > 0 {
            self.free = start + step.interval;
        }
        self.accepts_from = (now + 1).max(self.collectors.iter().copied().min().unwrap_or(self.free));
        start
    }
}

/// Calls `f` with each register that an operand of a cluster's instruction names: a virtual one as a whole, a physical one for
/// each word, a local one with the cluster.
fn each_register(operand: Operand, words: u8, cluster: u8, mut f: impl FnMut((Reg, u8))) {
    match operand {
        Operand::Reg(Reg::Virtual { reg, .. }) => f((Reg::Virtual { reg, word: 0 }, 0)),
        Operand::Reg(Reg::Physical(p)) => {
            let of = if p.space == Space::Local { cluster } else { 0 };
            (0..words.max(1)).for_each(|w| f((Reg::Physical(PhysReg { index: p.index.wrapping_add(w), ..p }), of)));
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Independent instructions of two cycles in the clusters given, among which warps take turns.
    fn cycles(clusters: &[usize], warps: usize) -> u32 {
        cycles_on(&Machine::default_machine(), clusters, warps)
    }

    fn cycles_on(machine: &Machine, clusters: &[usize], warps: usize) -> u32 {
        let step = |c: &usize| Step {
            sources: SmallVec::new(),
            results: SmallVec::new(),
            cluster: Some(*c),
            interval: 2,
            late: 0,
            latency: 4,
        };
        let turns = |c| if machine.sm.rotate_clusters { machine.clusters_alike(c) } else { vec![c] };
        let alike = (0..machine.clusters.len()).map(turns).collect();
        Code { machine, steps: clusters.iter().map(step).collect(), registers: 0, alike }.cycles(warps)
    }

    #[test]
    fn a_warp_alone_issues_each_cycle_only_if_it_changes_clusters() {
        let (one, two) = ([0; 32], [0, 1].repeat(16));
        assert_eq!(cycles(&two, 1), 32);
        // The last two wait in the collectors.
        assert!((60..=64).contains(&cycles(&one, 1)));
    }

    #[test]
    fn several_warps_are_in_each_others_way_where_runs_are_long() {
        let (one, two) = ([0; 64], [0, 1].repeat(32));
        let runs = [[0; 16], [1; 16]].concat().repeat(2);
        // Each cluster starts an instruction every other cycle.
        assert!(cycles(&two, 8) < 520 && cycles(&one, 8) < 520);
        assert!(cycles(&runs, 8) > cycles(&two, 8));
    }

    #[test]
    fn warps_in_step_want_one_cluster_at_a_time() {
        let mut machine = Machine::default_machine();
        machine.sm.rotate_clusters = false;
        let runs = [[0; 16], [1; 16]].concat();
        let (one, two) = (cycles_on(&machine, &runs, 8), cycles_on(&machine, &[0, 1].repeat(16), 8));
        assert!(one > two, "{one} {two}");
        assert!(one > cycles(&runs, 8));
    }

    #[test]
    fn a_result_is_waited_for() {
        let machine = Machine::default_machine();
        let step = |sources: &[u32], results: &[u32]| Step {
            sources: sources.into(),
            results: results.into(),
            cluster: Some(0),
            interval: 2,
            late: 1,
            latency: 4,
        };
        let steps = vec![step(&[], &[0]), step(&[0], &[1]), step(&[], &[])];
        let code = Code { machine: &machine, steps, registers: 2, alike: vec![vec![0, 1], vec![0, 1]] };
        // Operands come a cycle late, the result four cycles behind; the third issues behind the second.
        assert_eq!(code.cycles(1), 7);
    }
}
