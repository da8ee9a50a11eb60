//! Virtual-register partitioning (C3–C12): which live range lives in which cluster's local file, and the
//! copies that follow.
//!
//! The rules' examples (C-ex1, C-ex2) are `tests/lit/codegen/partition-example-*.mir`.
//!
//! Every live range (web, C3) gets an owner. By default that is the home of least energy, the main file
//! included; with [`Ownership::Publication`] it is the cluster with most accesses, counted statically (C4).
//! Then, for a range with register VR, its main register MVR (C10) and a register VRnew of another cluster:
//!
//! | access | rule | code |
//! |---|---|---|
//! | owner writes, another cluster reads | C5 | write VR; `mov MVR, VR` |
//! | another cluster reads once | C6 | reads MVR |
//! | another cluster reads several times | C7 | `mov VRnew, MVR` before its first read; reads VRnew |
//! | another cluster writes and reads | C8 | writes VRnew; `mov MVR, VRnew`; `mov VR, MVR` |
//! | another cluster only writes | C9 | writes MVR; `mov VR, MVR` |
//!
//! # Control flow (C11)
//! Copies behind a write follow every write of the range, under the same EXEC. The copy of C7 stands before
//! the first read of each stretch of a block between writes. If the range has a single write and the cluster
//! reads it in several blocks, or in a loop that the write is outside of, it stands once, in the nearest
//! common dominator of the reads that is in no deeper loop than need be; lanes that read have then passed it,
//! whatever EXEC is there.
//!
//! Where C7 would cost more than it saves (few reads, weighted), the cluster reads MVR each time; not with
//! the publication's rules.
//!
//! # Strands (C14)
//! Where warps lose their local registers between strands, [`super::strands`] says which reads a register that
//! was written before does not serve. For those the owner is as any other cluster: it reads MVR, or a copy
//! made in the strand (C6, C7). What an instruction reads at which a strand begins comes from MVR.
//!
//! May touch: MIR before allocation. Local registers that find no colour later go back to their MVR
//! (`local_file`).

use cranelift_entity::{EntitySet, SecondaryMap};
use rustc_hash::FxHashMap;

use super::allocate::Session;
use super::context::{Allocation, Context};
use super::costs::{Costs, MAX_CLUSTERS};
use super::spill::{self, INSERTED};
use super::strands::{Strand, Strands, Walk};
use super::webs::{self, Accesses, Home};
use super::{CodegenError, ranges};
use heddle_isa::{Inst, Op, Operand, SourceLoc, Type, VReg};
use heddle_mir::cfg::{Cfg, Dominators};
use heddle_mir::{Bank, Block, Function, RegClass, liveness};
use heddle_target::Machine;

/// How owners are chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Ownership {
    /// By energy, weighted with block frequencies; a range may stay in the main file.
    #[default]
    Energy,
    /// By the publication's count of accesses (C4), every copy as C5 to C9 say.
    Publication,
}

/// A range's home and registers.
#[derive(Clone, Debug)]
struct Plan {
    home: Home,
    /// The main register, if the range leaves its owner.
    main: Option<VReg>,
    /// VRnew of each cluster that has one (C7, C8).
    copies: [Option<VReg>; MAX_CLUSTERS],
    /// Clusters that write into their VRnew (C8).
    writes_copy: u8,
    /// Words each cluster reads.
    read_words: [u8; MAX_CLUSTERS],
    /// The owner reads the range.
    owner_reads: bool,
    /// Some cluster other than the owner, or the scalar unit, reads it.
    read_elsewhere: bool,
    /// Clusters whose copy is made once for the whole function.
    placed_once: u8,
}

/// The plans of the ranges that have one.
type Plans = SecondaryMap<VReg, Option<Box<Plan>>>;

/// Where the copies of C7 that serve several blocks stand: at the end of a block.
type Hoisted = FxHashMap<Block, Vec<(VReg, u8)>>;

/// Partitions the vector registers of a function whose instructions have their clusters.
pub fn run(function: &mut Function, context: &mut Context) -> Result<(), CodegenError> {
    join_webs(function, context.allocation(function).session);
    distribute(function, context);
    Ok(())
}

/// Makes each web a register of its own, whatever clusters its accesses are in.
pub(super) fn join_webs(function: &mut Function, session: &mut Session) {
    coalesce(function, session);
    // One register may have several live ranges, with different owners (C3).
    ranges::split_webs(function, Bank::Vector);
}

/// Gives each web its owner, and inserts the copies.
pub(super) fn distribute(function: &mut Function, context: &mut Context) {
    let costs = context.costs();
    let Allocation { machine, options, session, .. } = context.allocation(function);
    let ownership = options.ownership;
    let marked = function.layout.iter().any(|b| function.blocks[*b].insts.iter().any(|i| i.strand));
    let strands = if marked { Strands::new(function, session.view(function)) } else { Strands::one() };
    let table = webs::accesses(function, &costs, &strands);
    let mut plans: Plans = Plans::with_capacity(function.vregs.len());
    let registers: Vec<VReg> = function.vregs.keys().filter(|r| function.vregs[*r].bank == Bank::Vector).collect();
    for reg in registers {
        let home = match ownership {
            Ownership::Energy => table[reg].best(&costs).0,
            Ownership::Publication => table[reg].publication_owner(&costs),
        };
        if home != Home::Main {
            plans[reg] = Some(Box::new(plan(function, reg, home, &table[reg], &costs, ownership)));
        }
    }
    read_words(function, &mut plans);
    let placing = Placing { costs: &costs, ownership, strands: &strands };
    let hoisted = place_copies(function, &mut plans, &placing);
    rewrite(function, &plans, &hoisted, &placing, session);
    if ownership == Ownership::Energy {
        sink(function, machine, session);
    }
    session.forget_view();
    // Copies of different stretches are ranges of their own.
    let locals = function.local.clone();
    let split = ranges::split_webs_where(function, |r| locals[r].is_some());
    for (new, original) in split {
        function.local[new] = function.local[original];
        let main = session.main_of.get(original).copied().flatten();
        session.main_of[new] = main;
    }
}

/// Makes one register of what copies connect, and drops those copies.
fn coalesce(function: &mut Function, session: &mut Session) {
    let web = webs::representatives(function);
    for position in 0..function.layout.len() {
        let block = function.layout[position];
        let insts = &mut function.blocks[block].insts;
        for inst in insts.iter_mut() {
            ranges::for_each_operand_mut(inst, |reg, _| *reg = web.get(*reg).copied().flatten().unwrap_or(*reg));
        }
        let keep = |i: &Inst, _: u32| i.op != Op::Mov || i.dst != i.srcs[0] || i.guard.is_some();
        spill::retain(insts, &mut session.origins[block], keep);
    }
    session.forget_view();
}

/// Chooses the registers of a range: the main one if other clusters touch it (C10), copies where they pay
/// (C7, C8).
fn plan(function: &mut Function, reg: VReg, home: Home, a: &Accesses, costs: &Costs, ownership: Ownership) -> Plan {
    let class = function.vregs[reg];
    let owner = match home {
        Home::Owner(o) => usize::from(o),
        _ => usize::MAX,
    };
    let leaves = owner == usize::MAX || a.leaves(owner, costs.clusters);
    let mut plan = Plan {
        home,
        main: None,
        copies: [None; MAX_CLUSTERS],
        writes_copy: 0,
        read_words: [0; MAX_CLUSTERS],
        owner_reads: owner != usize::MAX && a.near_count(owner) > 0,
        read_elsewhere: a.read_elsewhere(owner, costs.clusters),
        placed_once: 0,
    };
    if owner != usize::MAX {
        function.local[reg] = Some(owner as u8);
        plan.main = leaves.then(|| function.vregs.push(class));
    } else {
        // Without an owner the register itself is the main one.
        plan.main = Some(reg);
    }
    let (main_read, _) = costs.main;
    for c in (0..costs.clusters).filter(|c| costs.usable[*c]) {
        let n = a.served_elsewhere(c, owner);
        let reads = if c == owner { a.far_reads[c] } else { a.reads[c] };
        let writes = owner != usize::MAX && c != owner && a.write_count[c] > 0 && a.near_count(c) > 0;
        let copied =
            reads / f32::from(n.max(1)) * (main_read + costs.local[c].1 + costs.copy) + costs.local[c].0 * reads + costs.fetch;
        let pays = ownership == Ownership::Publication || copied < main_read * reads;
        if writes || n >= 2 && pays {
            let copy = function.vregs.push(class);
            function.local[copy] = Some(c as u8);
            plan.copies[c] = Some(copy);
            plan.writes_copy |= u8::from(writes) << c;
            // With a single write its copy holds the value wherever it is read, but for other strands.
            let once = writes && a.far_count[c] == 0 && a.write_count.iter().sum::<u16>() == 1;
            plan.placed_once |= u8::from(once) << c;
        }
    }
    plan
}

/// Notes which words each cluster reads of each range.
fn read_words(function: &Function, plans: &mut Plans) {
    for inst in function.layout.iter().flat_map(|b| &function.blocks[*b].insts) {
        let Some(cluster) = webs::cluster_of(function, inst) else { continue };
        liveness::for_each_use(inst, |reg, words| {
            if let Some(plan) = plans.get_mut(reg).and_then(Option::as_mut) {
                plan.read_words[usize::from(cluster)] |= words;
            }
        });
    }
}

/// A range's places in the code.
#[derive(Default)]
struct Sites {
    definition: Option<Block>,
    /// Price of a copy's wait for it at the end of its block, if nothing else waits there.
    wait: f32,
    definitions: u32,
    reads: Vec<Read>,
}

/// Reads of a range by a cluster that has a copy of it.
struct Read {
    cluster: u8,
    block: Block,
    strand: Strand,
    /// Words, weighted with the block's frequency.
    words: f32,
}

/// Ranges with a copy (C7, C8) and a single definition, in order, and where they are read.
fn defined_once(function: &Function, plans: &Plans, costs: &Costs, strands: &Strands) -> Vec<(VReg, Sites)> {
    if plans.values().flatten().all(|plan| plan.copies.iter().all(Option::is_none)) {
        return Vec::new();
    }
    let mut sites: FxHashMap<VReg, Sites> = FxHashMap::default();
    let mut read = EntitySet::with_capacity(function.vregs.len());
    for &block in &function.layout {
        let frequency = function.blocks[block].frequency;
        let mut place = strands.walk(block);
        let late = webs::read_late(&function.blocks[block].insts, &mut read);
        for (i, inst) in function.blocks[block].insts.iter().enumerate() {
            place.step(inst);
            let cluster = webs::cluster_of(function, inst).filter(|_| !inst.strand);
            webs::for_each_vector(function, inst, |reg, words, write| {
                let Some(plan) = plans.get(reg).and_then(Option::as_ref) else { return };
                if plan.copies.iter().all(Option::is_none) {
                    return;
                }
                let s = sites.entry(reg).or_default();
                if write {
                    s.definitions += 1;
                    s.definition = Some(block);
                    s.wait = if late[i] { frequency * costs.wait(inst, true) } else { 0.0 };
                } else if let Some(cluster) = cluster.filter(|c| plan.reads_copy(reg, *c, &place).is_some()) {
                    s.reads.push(Read { cluster, block, strand: place.strand(), words: frequency * f32::from(words) });
                }
            });
        }
    }
    let mut ordered: Vec<(VReg, Sites)> = sites.into_iter().filter(|(_, s)| s.definitions == 1).collect();
    ordered.sort_unstable_by_key(|s| s.0);
    ordered
}

/// The block of least frequency between a definition and what it dominates; `None` if it does not dominate it.
fn out_of_loops(function: &Function, dominators: &Dominators, definition: Block, common: Block) -> Option<Block> {
    let (mut place, mut at) = (common, common);
    while at != definition {
        at = dominators.immediate[at]?;
        if function.blocks[at].frequency < function.blocks[place].frequency {
            place = at;
        }
    }
    Some(place)
}

/// By what copies find their places.
struct Placing<'a> {
    costs: &'a Costs,
    ownership: Ownership,
    strands: &'a Strands,
}

impl Plan {
    /// The copy (C7, C8) that would serve a read by a cluster, if the owner's register does not.
    fn reads_copy(&self, reg: VReg, cluster: u8, place: &Walk) -> Option<VReg> {
        let own = self.home == Home::Owner(cluster) && !place.carries(reg);
        self.copies[usize::from(cluster)].filter(|_| !own)
    }
}

/// Finds the copies of C7 that are made once for reads in several blocks or in loops (C11).
fn place_copies(function: &Function, plans: &mut Plans, placing: &Placing) -> Hoisted {
    let Placing { costs, ownership, strands } = *placing;
    let mut hoisted = Hoisted::default();
    let ordered = defined_once(function, plans, costs, strands);
    if ordered.is_empty() {
        return hoisted;
    }
    let dominators = Cfg::new(function).dominators();
    for (reg, s) in ordered {
        let Some(definition) = s.definition else { continue };
        for c in 0..costs.clusters as u8 {
            let reads: Vec<&Read> = s.reads.iter().filter(|r| r.cluster == c).collect();
            let Some(first) = reads.first() else { continue };
            let plan = plans[reg].as_mut();
            let Some(plan) = plan.filter(|p| p.writes_copy >> c & 1 == 0) else { continue };
            let common = reads.iter().fold(first.block, |common, r| dominators.common(common, r.block));
            let several = reads.iter().any(|r| r.block != common);
            let place = out_of_loops(function, &dominators, definition, common);
            let Some(place) = place.filter(|p| several || *p != common) else { continue };
            // The place dominates the reads, so that a strand that holds all of them holds every way between (C14).
            let strand = strands.before_end(function, place);
            if reads.iter().any(|r| r.strand != strand) {
                continue;
            }
            let words = reads.iter().map(|r| r.words).sum::<f32>();
            let each = f32::from(plan.read_words[usize::from(c)].count_ones() as u8) * function.blocks[place].frequency;
            let (read, write) = costs.local[usize::from(c)];
            let waits = if place == definition { s.wait } else { 0.0 };
            let once = each * (costs.main.0 + write + costs.copy) + words * read + costs.fetch + waits;
            if ownership == Ownership::Energy && once >= words * costs.main.0 {
                continue;
            }
            plan.placed_once |= 1 << c;
            hoisted.entry(place).or_default().push((reg, c));
        }
    }
    hoisted
}

/// A copy between registers of one range: the words of `mask`, executed by a cluster.
fn copy(class: RegClass, to: VReg, from: VReg, mask: u8, cluster: u8, loc: SourceLoc, out: &mut Vec<Inst>) {
    let whole = liveness::class_mask(class);
    let mut push = |ty: Type, word: u8| {
        let mut inst = Inst::new(Op::Mov, ty, Operand::virt_word(to, word), [Operand::virt_word(from, word)]);
        inst.cluster = cluster;
        inst.loc = loc;
        out.push(inst);
    };
    if mask == whole {
        push(class.copy_type(), 0);
    } else {
        let mut word = 0;
        while word < class.words {
            if mask >> word & 1 == 0 {
                word += 1;
            } else if word % 2 == 0 && mask >> word & 3 == 3 {
                push(Type::B64, word);
                word += 2;
            } else {
                push(Type::B32, word);
                word += 1;
            }
        }
    }
}

/// Moves copies down to where their result is first needed, so that a warp does not wait for an operand
/// earlier than without local files: issue is in order.
fn sink(function: &mut Function, machine: &Machine, session: &mut Session) {
    for position in 0..function.layout.len() {
        let block = function.layout[position];
        let insts = std::mem::take(&mut function.blocks[block].insts);
        let origins = std::mem::take(&mut session.origins[block]);
        let mut code = Code::with_capacity(insts.len());
        // Copies on their way down, in order.
        let mut waiting: Vec<Inst> = Vec::new();
        // Results that take long, with the instruction's number.
        let mut slow: FxHashMap<VReg, usize> = FxHashMap::default();
        for (i, (inst, origin)) in insts.into_iter().zip(origins).enumerate() {
            let source = inst.srcs.first().and_then(|s| s.as_virt()).map(|s| s.0);
            let late = |r: VReg| slow.get(&r).is_some_and(|at| i - at < NEAR);
            let held = source.is_some_and(|s| waiting.iter().any(|w| w.dst.as_virt().is_some_and(|d| d.0 == s)));
            if origin == INSERTED && inst.op == Op::Mov && (source.is_some_and(late) || held) {
                waiting.push(inst);
                continue;
            }
            if inst.strand {
                // Nothing in a local file waits for the next strand (C14).
                waiting.drain(..).for_each(|w| code.push(w, INSERTED));
            }
            let mut touched: Vec<VReg> = Vec::new();
            liveness::for_each_use(&inst, |r, _| touched.push(r));
            let written = inst.dst.as_virt().map(|d| d.0);
            let needed = |w: &Inst| {
                let (to, from) = (w.dst.as_virt().map(|d| d.0), w.srcs[0].as_virt().map(|s| s.0));
                to.is_some_and(|t| touched.contains(&t)) || written.is_some() && (written == to || written == from)
            };
            // The last copy needed, and all before it: they may build on each other.
            let count =
                if inst.info().flags.terminator { waiting.len() } else { waiting.iter().rposition(needed).map_or(0, |p| p + 1) };
            waiting.drain(..count).for_each(|w| code.push(w, INSERTED));
            if let Some(r) = written {
                if machine.latency(inst.class()) >= SLOW {
                    slow.insert(r, i);
                } else {
                    slow.remove(&r);
                }
            }
            code.push(inst, origin);
        }
        code.insert(&mut waiting);
        (function.blocks[block].insts, session.origins[block]) = (code.insts, code.origins);
    }
}

/// Results of this latency and more make a copy right behind them wait long enough to move it.
const SLOW: u32 = 4;

/// Beyond so many instructions a result is there.
const NEAR: usize = 64;

/// Puts the registers of the plans into the code, with the copies of C5 to C9.
fn rewrite(function: &mut Function, plans: &Plans, hoisted: &Hoisted, placing: &Placing, session: &mut Session) {
    for (reg, plan) in plans.iter() {
        let Some(plan) = plan else { continue };
        if let Some(main) = plan.main {
            let locals = plan.copies.iter().flatten().copied().chain((main != reg).then_some(reg));
            locals.for_each(|l| session.main_of[l] = Some(main));
        }
    }
    let mut rewriter = Rewriter::new(plans, placing);
    for position in 0..function.layout.len() {
        let block = function.layout[position];
        let old = std::mem::take(&mut function.blocks[block].insts);
        let origins = std::mem::take(&mut session.origins[block]);
        let mut code = Code::with_capacity(old.len() + 8);
        let mut pending = hoisted.get(&block).cloned().unwrap_or_default();
        rewriter.start_block(function, block, &old);
        let mut place = placing.strands.walk(block);
        for (mut inst, origin) in old.into_iter().zip(origins) {
            let cluster = webs::cluster_of(function, &inst);
            place.step(&inst);
            rewriter.begin_strand(&inst);
            let reader = cluster.filter(|_| !inst.strand);
            rewriter.copies_for_other_blocks(function, &inst, reader, &place, &mut pending);
            rewriter.sources(function, &mut inst, reader, &place);
            code.insert(&mut rewriter.copies);
            rewriter.destination(function, &mut inst, cluster);
            code.push(inst, origin);
            code.insert(&mut rewriter.copies);
        }
        // Blocks that fall through have no terminator to stand before.
        pending.into_iter().for_each(|(reg, c)| rewriter.fill(function, reg, c, SourceLoc::default()));
        code.insert(&mut rewriter.copies);
        (function.blocks[block].insts, session.origins[block]) = (code.insts, code.origins);
    }
}

/// A block's instructions with their origins, while it is written anew.
struct Code {
    insts: Vec<Inst>,
    origins: Vec<u32>,
}

impl Code {
    fn with_capacity(n: usize) -> Self {
        Code { insts: Vec::with_capacity(n), origins: Vec::with_capacity(n) }
    }

    fn push(&mut self, inst: Inst, origin: u32) {
        self.insts.push(inst);
        self.origins.push(origin);
    }

    /// Moves copies that partitioning adds to the end.
    fn insert(&mut self, copies: &mut Vec<Inst>) {
        self.insts.append(copies);
        self.origins.resize(self.insts.len(), INSERTED);
    }
}

/// A stretch of a block in which a copy of C7 would hold a range's value: range, cluster, and how many writes of
/// the range and beginnings of strands come before it in the block.
type Stretch = (VReg, u8, u32);

/// What one block's rewriting remembers.
struct Rewriter<'a> {
    plans: &'a Plans,
    placing: &'a Placing<'a>,
    /// Words that a cluster reads of a range in each stretch in which no copy is there from the beginning.
    words: FxHashMap<Stretch, u16>,
    /// Strands that have begun in the block, and writes of each range.
    begun: u32,
    writes: FxHashMap<VReg, u32>,
    /// Clusters whose copy of C7 holds the range's value at this point of the block, a bit each.
    held: FxHashMap<VReg, u8>,
    /// Copies to stand before or behind the instruction at hand.
    copies: Vec<Inst>,
}

impl<'a> Rewriter<'a> {
    fn new(plans: &'a Plans, placing: &'a Placing<'a>) -> Self {
        Rewriter {
            plans,
            placing,
            words: FxHashMap::default(),
            begun: 0,
            writes: FxHashMap::default(),
            held: FxHashMap::default(),
            copies: Vec::new(),
        }
    }

    /// Comes to a block: counts what its stretches read.
    fn start_block(&mut self, function: &Function, block: Block, insts: &[Inst]) {
        self.restart();
        self.words.clear();
        if self.placing.ownership == Ownership::Publication {
            return;
        }
        let mut place = self.placing.strands.walk(block);
        for inst in insts {
            place.step(inst);
            self.begin_strand(inst);
            let cluster = webs::cluster_of(function, inst);
            if let Some(c) = cluster.filter(|_| !inst.strand) {
                for (i, s) in inst.srcs.iter().enumerate() {
                    let Some((reg, _)) = s.as_virt() else { continue };
                    let Some(Some(plan)) = self.plans.get(reg) else { continue };
                    let held = self.held.get(&reg).copied().unwrap_or(0) | plan.placed_once;
                    if held >> c & 1 == 0 && plan.reads_copy(reg, c, &place).is_some() {
                        *self.words.entry(self.stretch(reg, c)).or_default() += u16::from(inst.src_words(i).max(1));
                    }
                }
            }
            if let (Some((reg, word)), Some(c)) = (inst.dst.as_virt(), cluster)
                && let Some(Some(plan)) = self.plans.get(reg)
            {
                self.written(
                    plan,
                    reg,
                    c,
                    liveness::word_mask(word, inst.dst_words()) == liveness::class_mask(function.vregs[reg]),
                );
            }
        }
        self.restart();
    }

    /// At the beginning of a block no copy is held.
    fn restart(&mut self) {
        self.begun = 0;
        self.writes.clear();
        self.held.clear();
    }

    /// Local registers hold nothing where a strand begins (C14).
    fn begin_strand(&mut self, inst: &Inst) {
        if inst.strand {
            self.begun += 1;
            self.held.clear();
        }
    }

    /// The stretch that a read at this point is in.
    fn stretch(&self, reg: VReg, c: u8) -> Stretch {
        (reg, c, self.begun + self.writes.get(&reg).copied().unwrap_or(0))
    }

    /// A cluster has written a range; `whole`: all words. Its own copy (C8) holds the value, no other.
    fn written(&mut self, plan: &Plan, reg: VReg, c: u8, whole: bool) {
        *self.writes.entry(reg).or_default() += 1;
        // A partial write leaves the rest as the last copy or write left it.
        let copied = whole && plan.home != Home::Owner(c) && plan.main.is_some() && plan.writes_copy >> c & 1 == 1;
        self.held.insert(reg, u8::from(copied) << c);
    }

    /// Whether a copy for the reads of a stretch costs less than reading the main register each time; the
    /// publication's rules do not ask.
    fn pays(&self, plan: &Plan, reg: VReg, c: u8) -> bool {
        let Placing { costs, ownership, .. } = self.placing;
        let words = f32::from(self.words.get(&self.stretch(reg, c)).copied().unwrap_or(0));
        let (read, write) = costs.local[usize::from(c)];
        let copied = plan.read_words[usize::from(c)].count_ones() as f32;
        *ownership == Ownership::Publication || copied * (costs.main.0 + write + costs.copy) + words * read < words * costs.main.0
    }

    /// Copies what a cluster reads of a range from its main register into the cluster's own (C7).
    fn fill(&mut self, function: &Function, reg: VReg, c: u8, loc: SourceLoc) {
        let Some(plan) = &self.plans[reg] else { return };
        if let (Some(to), Some(main)) = (plan.copies[usize::from(c)], plan.main) {
            copy(function.vregs[reg], to, main, plan.read_words[usize::from(c)], c, loc, &mut self.copies);
        }
    }

    /// Copies for other blocks stand before the branch that leaves, or before this block's own first read of
    /// them. A read of the owner's register in an earlier strand is none: they would not outlive that strand.
    fn copies_for_other_blocks(
        &mut self,
        function: &Function,
        inst: &Inst,
        cluster: Option<u8>,
        place: &Walk,
        pending: &mut Vec<(VReg, u8)>,
    ) {
        let leaves = inst.info().flags.terminator;
        pending.retain(|&(reg, c)| {
            let served = || self.plans[reg].as_ref().is_some_and(|p| p.reads_copy(reg, c, place).is_some());
            let named = inst.srcs.iter().any(|s| s.as_virt().is_some_and(|(r, _)| r == reg));
            let reads = cluster == Some(c) && named && served();
            if leaves || reads {
                self.fill(function, reg, c, inst.loc);
            }
            !(leaves || reads)
        });
    }

    /// Names the registers that the instruction's cluster reads (C5, C6), and fills those that hold no copy
    /// yet (C7).
    fn sources(&mut self, function: &Function, inst: &mut Inst, cluster: Option<u8>, place: &Walk) {
        let loc = inst.loc;
        for s in &mut inst.srcs {
            let Some((reg, word)) = s.as_virt() else { continue };
            let Some(Some(plan)) = self.plans.get(reg) else { continue };
            let target = match cluster {
                Some(c) if plan.home == Home::Owner(c) && !place.carries(reg) => reg,
                Some(c) => match (plan.copies[usize::from(c)], plan.main) {
                    (Some(local), Some(main)) => {
                        let bit = 1u8 << c;
                        let held = self.held.get(&reg).copied().unwrap_or(0) | plan.placed_once;
                        if held & bit != 0 {
                            local
                        } else if self.pays(plan, reg, c) {
                            *self.held.entry(reg).or_default() |= bit;
                            self.fill(function, reg, c, loc);
                            local
                        } else {
                            main
                        }
                    }
                    (None, main) => main.unwrap_or(reg),
                    (Some(local), None) => local,
                },
                None => plan.main.unwrap_or(reg),
            };
            *s = Operand::virt_word(target, word);
        }
    }

    /// Names the register that the instruction's cluster writes, and passes the value on: the owner's to the
    /// main register (C5), another cluster's to the main register and the owner (C8, C9).
    fn destination(&mut self, function: &Function, inst: &mut Inst, cluster: Option<u8>) {
        let (Some((reg, word)), Some(c)) = (inst.dst.as_virt(), cluster) else { return };
        let Some(Some(plan)) = self.plans.get(reg) else { return };
        let class = function.vregs[reg];
        let mask = liveness::word_mask(word, inst.dst_words());
        self.written(plan, reg, c, mask == liveness::class_mask(class));
        if plan.home == Home::Owner(c) {
            if let Some(main) = plan.main.filter(|_| plan.read_elsewhere) {
                copy(class, main, reg, mask, c, inst.loc, &mut self.copies);
            }
            return;
        }
        let Some(main) = plan.main else { return };
        let own = plan.copies[usize::from(c)].filter(|_| plan.writes_copy >> c & 1 == 1);
        inst.dst = Operand::virt_word(own.unwrap_or(main), word);
        if let Some(local) = own {
            copy(class, main, local, mask, c, inst.loc, &mut self.copies);
        }
        if let (Home::Owner(o), true) = (plan.home, plan.owner_reads) {
            copy(class, reg, main, mask, o, inst.loc, &mut self.copies);
        }
    }
}
