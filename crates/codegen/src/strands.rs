//! Strands (C14): where a warp may leave the active set, and what local registers can hold between such places.
//!
//! # Problem
//! Where only the active warps of a two-level scheduler hold local registers, a warp that waits for a
//! long-latency result, or at a barrier, leaves the active set and loses them. So no local live range may
//! cross a place where that can happen.
//!
//! # Marks
//! A strand begins at an instruction that reads or writes a register whose load, atomic or texture read may
//! still be on its way, and behind a barrier. Such instructions get the mark `strand`. Loads are issued
//! side by side and come back side by side: at a mark, what was loaded before it in the block counts as there.
//! An instruction that has to wait all the same, and has no mark, waits in the active set; that costs time
//! and is never wrong. Forward data flow over the graph says what may be on its way at the start of blocks.
//!
//! # Which strand a place is in
//! Two places are in one strand if no way between them meets a mark. Each mark begins a strand, and so does
//! each block that different strands flow into. EXEC is the warp's: while the lanes of one side of a
//! divergent branch wait, the others may meet marks, so that edges into the waiting side and into the
//! reconvergence block begin strands if the other side has marks (hazard 1, for local registers).
//! A register that is live where a strand begins may have been written before it: reads in that strand come
//! from the main file. Equal strands alone do not say that, because of loops.
//!
//! Strands after Gebhart et al., "Energy-efficient mechanisms for managing thread context in throughput
//! processors" (ISCA 2011) and "A compile-time managed multi-level register file hierarchy" (MICRO 2011).
//!
//! May touch: the marks. [`Strands`] only looks.

use cranelift_entity::{EntityRef, PrimaryMap, SecondaryMap, entity_impl};
use rustc_hash::FxHashSet;

use super::CodegenError;
use super::context::Context;
use super::ranges::LiveView;
use heddle_isa::{Inst, MemorySpace, Op, VReg};
use heddle_mir::cfg::Cfg;
use heddle_mir::{Bank, Block, Function, liveness};

/// A strand.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Strand(u32);
entity_impl!(Strand, "strand");

/// Marks the instructions at which strands begin.
pub fn run(function: &mut Function, context: &mut Context) -> Result<(), CodegenError> {
    if !context.machine.has_strands() {
        return Ok(());
    }
    let cfg = Cfg::new(function);
    let entering = pending_results(function, &cfg);
    let mut behind_barrier: SecondaryMap<Block, bool> = SecondaryMap::with_capacity(function.blocks.len());
    for &block in &cfg.rpo {
        let mut waits = std::mem::take(&mut behind_barrier[block]);
        let mut pending = entering[block].clone();
        let mut none = FxHashSet::default();
        for inst in &mut function.blocks[block].insts {
            inst.strand = waits || touches(inst, &pending);
            if inst.strand {
                std::mem::swap(&mut pending, &mut none);
                pending.clear();
            }
            waits = inst.op == Op::Barrier;
            pending.extend(late_result(inst));
        }
        if waits {
            cfg.edges[block].succs.iter().for_each(|s| behind_barrier[*s] = true);
        }
    }
    Ok(())
}

/// The register that holds the result of an instruction with a long latency.
fn late_result(inst: &Inst) -> Option<VReg> {
    let far = !matches!(inst.mods.space, Some(MemorySpace::Local | MemorySpace::Argument));
    let late = match inst.op {
        Op::Load | Op::LoadUniform | Op::Atomic => far,
        Op::Sample => true,
        _ => false,
    };
    inst.dst.as_virt().map(|d| d.0).filter(|_| late)
}

/// Whether an instruction names one of some registers.
fn touches(inst: &Inst, registers: &FxHashSet<VReg>) -> bool {
    if registers.is_empty() {
        return false;
    }
    let mut found = inst.dst.as_virt().is_some_and(|d| registers.contains(&d.0));
    liveness::for_each_use(inst, |r, _| found |= registers.contains(&r));
    found
}

/// For each block the registers whose results may be on their way at its start: those that some way has not
/// touched since their loads.
fn pending_results(function: &Function, cfg: &Cfg) -> SecondaryMap<Block, FxHashSet<VReg>> {
    let mut entering: SecondaryMap<Block, FxHashSet<VReg>> = SecondaryMap::with_capacity(function.blocks.len());
    entering.resize(function.blocks.len());
    let mut queue: Vec<Block> = cfg.rpo.iter().rev().copied().collect();
    while let Some(block) = queue.pop() {
        let mut pending = entering[block].clone();
        for inst in &function.blocks[block].insts {
            liveness::for_each_use(inst, |r, _| {
                pending.remove(&r);
            });
            if let Some((r, _)) = inst.dst.as_virt() {
                pending.remove(&r);
            }
            pending.extend(late_result(inst));
        }
        for &s in &cfg.edges[block].succs {
            let before = entering[s].len();
            entering[s].extend(pending.iter().copied());
            if entering[s].len() > before {
                queue.push(s);
            }
        }
    }
    entering
}

/// The strands of a function whose instructions are marked.
pub struct Strands {
    /// The strand at the start of each block, and at its end.
    starts: SecondaryMap<Block, Option<Strand>>,
    ends: SecondaryMap<Block, Option<Strand>>,
    /// The strands that begin within each block, in order.
    marks: SecondaryMap<Block, Vec<Strand>>,
    /// Vector registers live where each strand begins.
    live: PrimaryMap<Strand, FxHashSet<VReg>>,
}

impl Strands {
    /// The only strand of a function without marks.
    pub fn one() -> Strands {
        let mut live = PrimaryMap::new();
        let only = Some(live.push(FxHashSet::default()));
        let everywhere = || SecondaryMap::with_default(only);
        Strands { starts: everywhere(), ends: everywhere(), marks: SecondaryMap::new(), live }
    }

    /// The strands of a function with marks, and what is live where they begin.
    pub fn new(function: &Function, view: &LiveView) -> Strands {
        let mut strands = Strands {
            starts: SecondaryMap::with_capacity(function.blocks.len()),
            ends: SecondaryMap::with_capacity(function.blocks.len()),
            marks: SecondaryMap::with_capacity(function.blocks.len()),
            live: PrimaryMap::new(),
        };
        for &block in &function.layout {
            strands.find_marks(function, view, block);
        }
        strands.flow(function, view);
        strands
    }

    /// Numbers the strands that begin within a block.
    fn find_marks(&mut self, function: &Function, view: &LiveView, block: Block) {
        let vector = |r: VReg| function.vregs[r].bank == Bank::Vector;
        let insts = &function.blocks[block].insts;
        let Some(first) = insts.iter().position(|i| i.strand) else { return };
        let mut live: rustc_hash::FxHashMap<VReg, u8> = view.live_out(block).filter(|(r, _)| vector(*r)).collect();
        let mut found = Vec::new();
        for inst in insts[first..].iter().rev() {
            if let Some((reg, _)) = liveness::def(inst).filter(|(r, _)| vector(*r))
                && let Some(words) = live.get_mut(&reg)
            {
                *words &= !liveness::kill_mask(inst);
                if *words == 0 {
                    live.remove(&reg);
                }
            }
            liveness::for_each_use(inst, |r, words| {
                if vector(r) {
                    *live.entry(r).or_default() |= words;
                }
            });
            if inst.strand {
                found.push(live.keys().copied().collect::<FxHashSet<_>>());
            }
        }
        self.marks[block] = found.into_iter().rev().map(|live| self.live.push(live)).collect();
    }

    /// Finds the strand that each block begins in.
    fn flow(&mut self, function: &Function, view: &LiveView) {
        let lost = lost_edges(function, &view.cfg);
        let mut own: SecondaryMap<Block, Option<Strand>> = SecondaryMap::with_capacity(function.blocks.len());
        let mut changed = true;
        while changed {
            changed = false;
            for &block in &view.cfg.rpo {
                let mut flows_in = None;
                let mut several = own[block].is_some() || block == function.entry();
                for &p in &view.cfg.edges[block].preds {
                    let Some(strand) = self.ends[p] else { continue };
                    several |= lost.contains(&(p, block)) || flows_in.is_some_and(|s| s != strand);
                    flows_in = Some(strand);
                }
                let start = if several {
                    let strand = match own[block] {
                        Some(strand) => strand,
                        None => {
                            let vector = |r: &VReg| function.vregs[*r].bank == Bank::Vector;
                            self.live.push(view.live_in(block).map(|x| x.0).filter(vector).collect())
                        }
                    };
                    own[block] = Some(strand);
                    Some(strand)
                } else {
                    flows_in
                };
                let end = self.marks[block].last().copied().or(start);
                changed |= self.starts[block] != start || self.ends[block] != end;
                (self.starts[block], self.ends[block]) = (start, end);
            }
        }
    }

    /// The strand at the start of a block.
    pub fn at_start(&self, block: Block) -> Strand {
        // Blocks that nothing reaches are in no strand; what they hold does not matter.
        self.starts[block].unwrap_or(Strand::new(0))
    }

    /// The strand before the instructions that end a block.
    pub fn before_end(&self, function: &Function, block: Block) -> Strand {
        let insts = &function.blocks[block].insts;
        let body = insts.iter().take_while(|i| !i.info().flags.terminator);
        let marks = body.filter(|i| i.strand).count();
        if marks == 0 { self.at_start(block) } else { self.marks[block][marks - 1] }
    }

    /// Walks through the strands of a block.
    pub fn walk(&self, block: Block) -> Walk<'_> {
        Walk { strands: self, now: self.at_start(block), next: self.marks[block].iter() }
    }

    /// Whether a register may hold in a strand what was written before the strand began.
    pub fn carries(&self, strand: Strand, reg: VReg) -> bool {
        self.live[strand].contains(&reg)
    }
}

/// A place in a block that moves from instruction to instruction.
pub struct Walk<'a> {
    strands: &'a Strands,
    now: Strand,
    next: std::slice::Iter<'a, Strand>,
}

impl Walk<'_> {
    /// Comes to the next instruction.
    pub fn step(&mut self, inst: &Inst) {
        if inst.strand {
            self.now = self.next.next().copied().unwrap_or(self.now);
        }
    }

    /// The strand of the instruction come to last.
    pub fn strand(&self) -> Strand {
        self.now
    }

    /// Whether reads of a register at the instruction come to last are served by the main file only, as its
    /// value may be from before the strand.
    pub fn carries(&self, reg: VReg) -> bool {
        self.strands.carries(self.now, reg)
    }
}

/// Edges on which lanes wait while others of their warp may meet marks: into the taken side of a divergent
/// branch if the side that goes first has marks, and into the reconvergence block from there if the taken side
/// has.
fn lost_edges(function: &Function, cfg: &Cfg) -> FxHashSet<(Block, Block)> {
    let marked = |region: &fixedbitset::FixedBitSet| {
        region.ones().map(Block::new).any(|b| function.blocks[b].insts.iter().any(|i| i.strand))
    };
    let mut lost = FxHashSet::default();
    for d in cfg.divergent_branches(function) {
        let (first, second) = (cfg.region(d.fall_through, d.reconverge), cfg.region(d.taken, d.reconverge));
        if marked(&first) {
            lost.insert((d.branch, d.taken));
        }
        if let Some(join) = d.reconverge.filter(|_| marked(&second)) {
            lost.extend(first.ones().map(Block::new).chain([d.branch]).map(|b| (b, join)));
        }
    }
    lost
}
