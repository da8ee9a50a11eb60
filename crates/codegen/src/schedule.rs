//! List scheduling within blocks (C2), after clusters are assigned and before live ranges are partitioned.
//!
//! # Problem
//! A warp issues in order, so the first instruction that waits for memory holds up everything behind it.
//! Loads should therefore start as early as their addresses allow, one after another, and their users come
//! late; everything else should stay close to where it is, because live ranges that grow need more registers,
//! and the local files are small.
//!
//! # Algorithm
//! The block's dependence graph: registers by word (true, anti and output dependences, guards included),
//! memory (accesses of different spaces, or to different bytes from one address or of surfaces that are alike
//! but for a number of bytes, or through different arguments of which one is `restrict`, are independent;
//! loads do not order loads), side effects and volatile accesses in order. Cycle by cycle, among the
//! instructions whose operands are ready, the one is taken that starts the longest path of long latencies
//! (memory, divides); on ties, as long as few more words are live than where the code starts ([`ROOM`]), one
//! that waits for no short latency either, and of these the one that starts the longest path of all latencies,
//! so that independent chains take turns; on further ties one after which fewer words are live, if nothing
//! keeps it from issuing, so that results do not wait in registers (code made of vectors does each step for
//! all of their elements); else the first of the original order. If none is ready the one that will be soonest
//! is. While more words are live than a full SM of warps can have each, only instructions that do not add to
//! them are moved up; while nearly all predicate registers are live, nothing that sets another one.
//!
//! Where no more words are to be live, instructions stay in the order of the code, in which many wait for the one before although
//! others could stand between. Other orders hide more of that and need more registers, so that local files hold less ([`Order`]).
//! Which one is better is not known before registers are allocated; cluster assignment compares them where it compares assignments
//! ([`super::assign`]).
//!
//! List scheduling by critical path: Gibbons and Muchnick, "Efficient instruction scheduling for a pipelined
//! architecture" (1986); with an eye on pressure: Goodman and Hsu, "Code scheduling and register allocation in
//! large basic blocks" (ICS 1988).
//!
//! May touch: the order within a block. Terminators stay last; nothing crosses a block's end, so EXEC is the
//! same before and after. Deterministic.

use std::cmp::Reverse;

use cranelift_entity::SecondaryMap;
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

use super::CodegenError;
use super::context::Context;
use heddle_isa::surface::Surface;
use heddle_isa::{AddressMode, CachePolicy, Inst, MemorySpace, Op, OpClass, Operand, SurfacePlace, VReg};
use heddle_mir::{Bank, Block, Function, liveness};
use heddle_object::metadata::ARGUMENTS_START;
use heddle_target::Machine;

/// Latencies from here on are worth registers; shorter ones other warps hide, if there are enough of them.
const LONG: u32 = 40;

/// For their sake scalar and predicate registers that are live may grow by this part of all that a warp has.
const PART: i32 = 4;

/// When this part of all predicate registers of a warp are live more than at the start, what sets another one is not moved up where
/// instructions are guarded: guards live until what waits for the loads under them has run.
const MOST_CONDITIONS: i32 = 2;

/// When all but so many predicate registers of a warp are live, what sets another one is not moved up: one of them would live as 0
/// or 1 in a register of lanes.
const PREDICATES_LEFT: i32 = 4;

/// By so many words what is live of registers of lanes may grow for them. Launches of few warps gain most: of 202 small ones 2.1 % of
/// the cycles (geometric mean), 1.0 % of the energy of registers is the price; with 6 words 2.6 % and 1.7 %, without limits 4.3 % and
/// 3.8 %. Of 42 large ones it is .1 % and 1.0 %. On `machines/mixed.toml`, where 48 warps hide more, small ones gain about as
/// much, large ones lose .3 to .4 % (measured with 6 words, and with 4 but no limit for scalar registers).
const ROOM: i32 = 4;

/// Waits of so many cycles and longer ones are alike, as long as they are no long latencies.
const LONGEST_SHORT: u32 = 4;

/// Paths that differ by fewer cycles are alike.
const PATH_STEP: u32 = 4;

/// Blocks beyond this are scheduled in pieces of this many instructions, so that time stays linear.
const PIECE: usize = 1024;

/// What a block's instructions are ordered for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    /// Few words are live: beyond [`ROOM`] the order of the code decides.
    Usual,
    /// Beyond that it is how many words that the last [`LATELY`] instructions have named an instruction reads, if it waits for
    /// nothing; then the order of the code.
    Recent,
    /// Instructions wait for no short latencies: what is live may grow within a block by as much as a full SM of warps has room for.
    Latency,
}

/// So many instructions behind the one that named it last, a value is likely to be in a local file still.
const LATELY: u32 = 12;

/// Schedules every block.
pub fn run(function: &mut Function, context: &mut Context) -> Result<(), CodegenError> {
    let orders = context.orders.take().unwrap_or_else(|| orders(function, context.machine, Order::Usual));
    for (&block, order) in function.layout.iter().zip(orders) {
        let insts = &mut function.blocks[block].insts;
        *insts = in_order(std::mem::take(insts), &order);
    }
    Ok(())
}

/// For each block of the layout the indices of its instructions in their new order. They do not depend on clusters.
pub(super) fn orders(function: &Function, machine: &Machine, kind: Order) -> Vec<Vec<u32>> {
    let view = super::ranges::LiveView::new(function);
    let full = machine.sm.main_registers / (machine.sm.max_warps * machine.warp_size).max(1);
    let limit = full.max(24) as i32;
    let of = |block: Block| {
        let live_out: Vec<(VReg, u8)> = view.live_out(block).collect();
        let insts = &function.blocks[block].insts;
        let end = insts.iter().rposition(|i| !i.info().flags.terminator).map_or(0, |p| p + 1);
        let mut scheduled = Vec::with_capacity(insts.len());
        while scheduled.len() < end {
            let from = scheduled.len();
            let to = end.min(from + PIECE);
            // Within a large block what later pieces read counts as live.
            let mut live: FxHashMap<VReg, u8> = live_out.iter().copied().collect();
            for inst in &insts[to..] {
                liveness::for_each_use(inst, |r, m| *live.entry(r).or_default() |= m);
            }
            let piece = &insts[from..to];
            let order = schedule(machine, piece, Live::new(function, piece, &live), limit, kind);
            scheduled.extend(order.into_iter().map(|i| from as u32 + i));
        }
        scheduled.extend(end as u32..insts.len() as u32);
        scheduled
    };
    function.layout.iter().copied().map(of).collect()
}

/// Instructions in a new order.
pub(super) fn in_order(insts: Vec<Inst>, order: &[u32]) -> Vec<Inst> {
    let mut slots: Vec<Option<Inst>> = insts.into_iter().map(Some).collect();
    order.iter().filter_map(|i| slots[*i as usize].take()).collect()
}

/// An instruction in the dependence graph.
#[derive(Default)]
struct Node {
    /// Users with the cycles they wait.
    successors: SmallVec<[(u32, u32); 4]>,
    predecessors: u32,
    /// Long latencies on the longest path from here.
    height: u32,
    /// All latencies on the longest path from here.
    path: u32,
    /// Earliest cycle.
    ready: u32,
}

/// What a memory access touches.
struct Access {
    index: u32,
    space: MemorySpace,
    store: bool,
    /// Through what it reaches its memory.
    through: Option<Through>,
    /// Where it goes in a work-item, but for a number of bytes.
    place: Place,
    /// The number, modulo 2³².
    from: i32,
    bytes: i32,
}

/// An address of a work-item, but for a number of bytes: equal ones are equal addresses.
#[derive(PartialEq, Eq)]
struct Place {
    /// Base and offset with the versions of their registers.
    registers: [(Operand, u32); 2],
    /// The first of the surfaces that differ only by a number of bytes, and the distances whose strides are known only at launch.
    surface: Option<(u32, [i8; 3])>,
}

/// The memory that an instruction accesses, whatever its address: the space, and through what it reaches it.
pub(super) type Reach = (MemorySpace, Option<Through>);

/// What names memory of a kernel.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Through {
    /// The module's data section.
    Data,
    /// An argument, by its number.
    Argument(u32),
}

/// Words of registers that are live at a place of the new order.
struct Live<'a> {
    function: &'a Function,
    /// Registers read behind the piece.
    out: &'a FxHashMap<VReg, u8>,
    /// Reads of each register that are still to come.
    reads_left: SecondaryMap<VReg, u32>,
    /// By bank, more than before the first instruction. Predicates have no words: each that is set counts here, and none that goes
    /// away. With those counted the geometric means of 603 launches are .9992 to .9999 of the cycles, and `geometry` takes 1.21.
    words: Words,
    /// Predicates, more than before the first instruction.
    predicates: i32,
    /// Predicates before the first instruction.
    predicates_before: i32,
}

/// Banks of registers.
const BANKS: usize = 3;

/// Words of registers by bank.
type Words = [i32; BANKS];

impl<'a> Live<'a> {
    fn new(function: &'a Function, insts: &[Inst], out: &'a FxHashMap<VReg, u8>) -> Self {
        let reads_left = SecondaryMap::with_capacity(function.vregs.len());
        let is_predicate = |r: &VReg| function.vregs[*r].bank == Bank::Predicate;
        let mut before: FxHashSet<VReg> = out.keys().copied().filter(is_predicate).collect();
        let mut live = Live { function, out, reads_left, words: [0; BANKS], predicates: 0, predicates_before: 0 };
        for inst in insts.iter().rev() {
            if let Some((r, _)) = liveness::def(inst).filter(|_| inst.guard.is_none()) {
                before.remove(&r);
            }
            liveness::for_each_use(inst, |r, _| {
                live.reads_left[r] += 1;
                if is_predicate(&r) {
                    before.insert(r);
                }
            });
        }
        live.predicates_before = before.len() as i32;
        live
    }

    /// By how many words an instruction changes what is live.
    fn changes(&self, inst: &Inst) -> Words {
        let stays = |r: VReg| self.out.contains_key(&r);
        let bank = |r: VReg| self.function.vregs[r].bank as usize;
        let mut delta = [0; BANKS];
        if let Some((r, m)) = liveness::def(inst) {
            delta[bank(r)] += if self.reads_left[r] > 0 || stays(r) { m.count_ones() as i32 } else { 0 };
        }
        let mut seen: SmallVec<[VReg; 4]> = SmallVec::new();
        liveness::for_each_use(inst, |r, _| {
            if !seen.contains(&r) {
                seen.push(r);
                let mut here = 0;
                liveness::for_each_use(inst, |x, _| here += u32::from(x == r));
                if self.reads_left[r] <= here && !stays(r) {
                    delta[bank(r)] -= i32::from(self.function.vregs[r].words);
                }
            }
        });
        delta
    }

    /// By how many words of registers of lanes it does.
    fn change(&self, inst: &Inst) -> i32 {
        self.changes(inst)[Bank::Vector as usize]
    }

    /// How many predicates something reads for the last time here.
    fn last_reads_of_predicates(&self, inst: &Inst) -> i32 {
        let mut read: SmallVec<[VReg; 4]> = SmallVec::new();
        liveness::for_each_use(inst, |r, _| read.push(r));
        let ends = |(i, r): (usize, &VReg)| {
            let times = read.iter().filter(|x| *x == r).count() as u32;
            let is_predicate = self.function.vregs[*r].bank == Bank::Predicate && !read[..i].contains(r);
            is_predicate && self.reads_left[*r] <= times && !self.out.contains_key(r)
        };
        read.iter().enumerate().filter(|r| ends(*r)).count() as i32
    }

    /// How many predicates more are live behind an instruction.
    fn change_of_predicates(&self, inst: &Inst) -> i32 {
        self.changes(inst)[Bank::Predicate as usize] - self.last_reads_of_predicates(inst)
    }

    /// By how many words an instruction adds to what is live of registers of lanes and of predicates, where each counts.
    fn growth(&self, inst: &Inst, [lanes, predicates]: [bool; 2]) -> i32 {
        if !lanes && !predicates {
            return 0;
        }
        let changes = self.changes(inst);
        let of = |counts: bool, bank: Bank| if counts { changes[bank as usize].max(0) } else { 0 };
        of(lanes, Bank::Vector) + of(predicates, Bank::Predicate)
    }

    /// An instruction takes its place.
    fn place(&mut self, inst: &Inst) {
        let changes = self.changes(inst);
        self.predicates += self.change_of_predicates(inst);
        self.words.iter_mut().zip(changes).for_each(|(words, change)| *words += change);
        liveness::for_each_use(inst, |r, _| self.reads_left[r] = self.reads_left[r].saturating_sub(1));
    }

    /// Whether what is live may grow for the sake of short latencies.
    fn is_roomy(&self, machine: &Machine) -> bool {
        let room = |bank: Bank| match bank {
            Bank::Vector => ROOM,
            Bank::Scalar => machine.sm.scalar_registers as i32 / PART,
            Bank::Predicate => machine.sm.predicate_registers as i32 / PART,
        };
        [Bank::Vector, Bank::Scalar, Bank::Predicate].into_iter().all(|bank| self.words[bank as usize] < room(bank))
    }
}

/// Which registers the instructions that have their places have named last.
struct Recent {
    /// For each register behind which of them, and whether that wrote it; 0 for those that none has named.
    named: SecondaryMap<VReg, (u32, bool)>,
    /// How many there are.
    count: u32,
}

impl Recent {
    fn new(function: &Function) -> Self {
        Recent { named: SecondaryMap::with_capacity(function.vregs.len()), count: 0 }
    }

    /// Words of registers of lanes that an instruction reads and the last ones have named, as often as it reads them. What they have
    /// written counts twice: if it is read no more, it need not live in the main file at all.
    fn words(&self, function: &Function, inst: &Inst) -> u32 {
        let mut words = 0;
        liveness::for_each_use(inst, |r, mask| {
            let (at, written) = self.named[r];
            if function.vregs[r].bank == Bank::Vector && at > 0 && self.count - at < LATELY {
                words += mask.count_ones() * if written { 2 } else { 1 };
            }
        });
        words
    }

    /// An instruction takes its place.
    fn place(&mut self, inst: &Inst) {
        self.count += 1;
        liveness::for_each_use(inst, |r, _| self.named[r] = (self.count, false));
        if let Some((r, _)) = liveness::def(inst) {
            self.named[r] = (self.count, true);
        }
    }
}

/// The new order of the instructions of a piece.
fn schedule(machine: &Machine, insts: &[Inst], mut live: Live, limit: i32, kind: Order) -> Vec<u32> {
    let n = insts.len();
    if n < 3 {
        return (0..n as u32).collect();
    }
    let mut nodes: Vec<Node> = (0..n).map(|_| Node::default()).collect();
    dependences(live.function, machine, insts, &mut nodes);
    for i in (0..n).rev() {
        let height = nodes[i].successors.iter().map(|(s, _)| nodes[*s as usize].height).max().unwrap_or(0);
        let own = latency(machine, &insts[i]);
        nodes[i].height = height + if own >= LONG { own } else { 0 };
        nodes[i].path = nodes[i].successors.iter().map(|(s, wait)| nodes[*s as usize].path + wait).max().unwrap_or(0);
    }
    let predicates = machine.sm.predicate_registers as i32;
    let has_guards = insts.iter().any(|i| i.guard.is_some() && !i.info().flags.terminator);
    // Ready instructions in original order.
    let mut ready: Vec<u32> = (0..n as u32).filter(|i| nodes[*i as usize].predecessors == 0).collect();
    let mut cycle = 0u32;
    let mut recent = (kind == Order::Recent).then(|| Recent::new(live.function));
    let mut order: Vec<u32> = Vec::with_capacity(n);
    while !ready.is_empty() {
        let crowded = live.words[Bank::Vector as usize] >= limit;
        let conditions = has_guards && live.predicates >= predicates / MOST_CONDITIONS;
        let exhausted = live.predicates_before + live.predicates >= (predicates - PREDICATES_LEFT).max(1);
        let roomy = kind == Order::Latency || live.is_roomy(machine);
        let urgency = |i: &u32| {
            let node = &nodes[*i as usize];
            let waits = node.ready.saturating_sub(cycle);
            let (short, long) = if waits < LONG { (waits.min(LONGEST_SHORT), 0) } else { (LONGEST_SHORT, waits) };
            let overflows = exhausted && live.change_of_predicates(&insts[*i as usize]) > 0;
            let grows = live.growth(&insts[*i as usize], [crowded, conditions]);
            let height = if crowded { 0 } else { node.height };
            // Short waits are worth registers that are free.
            let (short, path) = if roomy { (short, node.path / PATH_STEP) } else { (0, 0) };
            let waits_for_nothing = node.ready <= cycle;
            let ends = if waits_for_nothing { live.change(&insts[*i as usize]).min(0) } else { 0 };
            let recent = match &recent {
                Some(recent) if !roomy && waits_for_nothing => recent.words(live.function, &insts[*i as usize]),
                _ => 0,
            };
            (overflows, long, grows, Reverse(height), short, Reverse(path), ends, Reverse(recent), *i)
        };
        let best = ready.iter().copied().min_by_key(urgency).unwrap_or(ready[0]);
        ready.retain(|i| *i != best);
        live.place(&insts[best as usize]);
        if let Some(recent) = &mut recent {
            recent.place(&insts[best as usize]);
        }
        cycle = cycle.max(nodes[best as usize].ready) + 1;
        order.push(best);
        let successors = std::mem::take(&mut nodes[best as usize].successors);
        for (s, wait) in successors {
            let node = &mut nodes[s as usize];
            node.ready = node.ready.max(cycle - 1 + wait);
            node.predecessors -= 1;
            if node.predecessors == 0 {
                ready.push(s);
            }
        }
    }
    order
}

/// The dependence graph of a piece of a block: each instruction's users with the cycles that they wait.
pub(super) fn dependence_edges(function: &Function, machine: &Machine, insts: &[Inst]) -> Vec<SmallVec<[(u32, u32); 4]>> {
    let mut nodes: Vec<Node> = insts.iter().map(|_| Node::default()).collect();
    dependences(function, machine, insts, &mut nodes);
    nodes.into_iter().map(|n| n.successors).collect()
}

/// Cycles until others can read an instruction's result. Arrays of all work-items seldom fit into an L1, so loads of private memory
/// are long ones like those of global memory, although the machine's latency is that of a hit.
fn latency(machine: &Machine, inst: &Inst) -> u32 {
    let cycles = machine.latency(inst.class());
    if inst.class() == OpClass::LoadPrivate { cycles.max(LONG) } else { cycles }
}

fn dependences(function: &Function, machine: &Machine, insts: &[Inst], nodes: &mut [Node]) {
    let mut last_write: FxHashMap<(VReg, u8), u32> = FxHashMap::default();
    let mut readers: FxHashMap<(VReg, u8), SmallVec<[u32; 4]>> = FxHashMap::default();
    let mut version: FxHashMap<VReg, u32> = FxHashMap::default();
    let mut accesses: Vec<Access> = Vec::new();
    // The last instruction that nothing with effects may cross, and those since.
    let mut fence: Option<u32> = None;
    let mut since: Vec<u32> = Vec::new();
    let mut edge = |from: u32, to: u32, wait: u32| {
        if from != to {
            let list = &mut nodes[from as usize].successors;
            match list.iter_mut().find(|(s, _)| *s == to) {
                Some((_, w)) => *w = (*w).max(wait),
                None => {
                    list.push((to, wait));
                    nodes[to as usize].predecessors += 1;
                }
            }
        }
    };
    for (i, inst) in insts.iter().enumerate() {
        let i = i as u32;
        liveness::for_each_use(inst, |r, mask| {
            for w in liveness::bits(mask).map(|w| w as u8) {
                if let Some(&d) = last_write.get(&(r, w)) {
                    edge(d, i, latency(machine, &insts[d as usize]));
                }
                readers.entry((r, w)).or_default().push(i);
            }
        });
        let flags = inst.info().flags;
        let volatile = matches!(inst.mods.cache, CachePolicy::Cv);
        let fixed = flags.side_effect || flags.convergent || volatile || inst.op == Op::Atomic || reads_clock(inst);
        if (fixed || flags.load || flags.store)
            && let Some(f) = fence
        {
            edge(f, i, 1);
        }
        if fixed {
            since.drain(..).for_each(|s| edge(s, i, 1));
            fence = Some(i);
            accesses.clear();
        } else if flags.load || flags.store {
            let here = access(function, inst, i, &version);
            for other in &accesses {
                if (here.store || other.store) && may_overlap(function, &here, other) {
                    edge(other.index, i, 1);
                }
            }
            accesses.push(here);
            since.push(i);
        }
        if let Some((r, mask)) = liveness::def(inst) {
            *version.entry(r).or_default() += 1;
            for w in liveness::bits(mask).map(|w| w as u8) {
                // A guarded write keeps the old value of other lanes, which makes it a reader too.
                if let Some(d) = last_write.insert((r, w), i) {
                    edge(d, i, if inst.guard.is_some() && !inst.fresh { latency(machine, &insts[d as usize]) } else { 1 });
                }
                for reader in readers.remove(&(r, w)).unwrap_or_default() {
                    edge(reader, i, 0);
                }
            }
        }
    }
}

fn reads_clock(inst: &Inst) -> bool {
    use heddle_isa::Special;
    inst.srcs.iter().any(|s| matches!(s, Operand::Special(Special::ClockLow)))
}

fn access(function: &Function, inst: &Inst, index: u32, version: &FxHashMap<VReg, u32>) -> Access {
    let (space, through) = reach(function, inst);
    let part = |k: usize| {
        let op = inst.srcs.get(k).copied().unwrap_or_default();
        (op, op.as_virt().map_or(0, |(r, _)| version.get(&r).copied().unwrap_or(0)))
    };
    let (surface, from) = match inst.mods.address {
        AddressMode::Surface => on_surface(function, SurfacePlace::from_immediate(inst.imm)),
        _ => (None, inst.imm),
    };
    Access {
        index,
        space,
        store: inst.info().flags.store,
        through,
        place: Place { registers: [part(0), part(1)], surface },
        from,
        bytes: inst.ty.bytes() as i32,
    }
}

/// A place on a surface: the first of the surfaces that are alike but for a number of bytes, the distances whose strides are
/// known only at launch, and the number of bytes.
fn on_surface(function: &Function, place: SurfacePlace) -> (Option<(u32, [i8; 3])>, i32) {
    let Some(surface) = function.surfaces.get(usize::from(place.surface)) else { return (None, 0) };
    let alike = |other: &Surface| {
        let same = (other.argument, other.ids, &other.strides) == (surface.argument, surface.ids, &surface.strides);
        same && other.base.parts().0 == surface.base.parts().0
    };
    let first = function.surfaces.iter().position(alike).unwrap_or_default();
    let mut from = surface.base.parts().1;
    let mut distances = place.distance;
    for (distance, stride) in distances.iter_mut().zip(&surface.strides) {
        if let ([], stride) = (&stride.parts().0[..], stride.parts().1) {
            from = from.wrapping_add(stride.wrapping_mul(i32::from(*distance) as u32));
            *distance = 0;
        }
    }
    (Some((first as u32, distances)), from as i32)
}

/// The memory that an instruction accesses.
pub(super) fn reach(function: &Function, inst: &Inst) -> Reach {
    let through = match inst.mods.address {
        AddressMode::Surface => {
            let surface = function.surfaces.get(usize::from(SurfacePlace::from_immediate(inst.imm).surface));
            surface.map(|s| Through::Argument(s.argument))
        }
        _ => through(function, inst.srcs.first().copied().unwrap_or_default()),
    };
    (inst.mods.space.unwrap_or(MemorySpace::Global), through)
}

/// What a base in the constant bank is.
fn through(function: &Function, base: Operand) -> Option<Through> {
    match base {
        Operand::Constant(word) if 4 * u32::from(word) < ARGUMENTS_START => Some(Through::Data),
        Operand::Constant(word) => {
            let number = function.args.iter().position(|a| a.offset == 4 * u32::from(word))?;
            Some(Through::Argument(number as u32))
        }
        _ => None,
    }
}

/// Whether it is a `restrict` argument of the kernel.
fn is_restrict(function: &Function, through: Through) -> bool {
    matches!(through, Through::Argument(number) if function.args.get(number as usize).is_some_and(|a| a.restrict))
}

/// Whether no address is in both.
pub(super) fn are_apart(function: &Function, a: Reach, b: Reach) -> bool {
    // Constant memory and arguments are never written; global and constant addresses may name the same bytes
    // only through a kernel's own error.
    let kind = |s: MemorySpace| if s == MemorySpace::Constant { MemorySpace::Global } else { s };
    // What is reached through a `restrict` argument is reached through no other.
    let restrict = |x: Through, y: Through| x != y && (is_restrict(function, x) || is_restrict(function, y));
    kind(a.0) != kind(b.0) || a.1.zip(b.1).is_some_and(|(x, y)| restrict(x, y))
}

fn may_overlap(function: &Function, a: &Access, b: &Access) -> bool {
    if are_apart(function, (a.space, a.through), (b.space, b.through)) {
        return false;
    }
    if a.place == b.place {
        let apart = a.from.wrapping_sub(b.from);
        return -a.bytes < apart && apart < b.bytes;
    }
    true
}
