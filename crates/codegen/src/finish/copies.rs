//! Copies to registers that hold the value already.
//!
//! # Problem
//! A phi's constant, or a scalar value that lanes take along as they leave a loop, is copied on each edge that needs it.
//! Colouring gives many of those copies one register, and then some find there what they bring: `sum = 0` before the branch
//! around a loop and again before the loop, a counter at each of the exits of an unrolled iteration.
//!
//! # Algorithm
//! Available copies, forward, as meet over all predecessors: behind `d = mov s` both hold the same until something writes either.
//! A `mov` that would repeat an available copy, or turn it round, goes.
//!
//! Lanes have registers of their own, so each lane's path is enough to look at (hazard 3). A scalar register is the warp's (hazard 1):
//! between two blocks of a lane's path the other side of a branch may run. So copies that name one end at a block in which lanes
//! meet and on the way into the side that waits; the fall-through side of a divergent branch begins at once. Local registers hold
//! nothing across the beginning of a strand (C14), whichever lanes begin it. Shared registers are left alone: they are to be
//! released early (REN-4), and without a copy they would have to be kept until the next one.
//!
//! Reference: Muchnick, "Advanced Compiler Design and Implementation" (1997), 12.5, copy propagation; LLVM's
//! `MachineCopyPropagation` removes redundant copies within blocks.
//!
//! May touch: `mov` of allocated code without a guard, which go.

use cranelift_entity::{EntityRef, SecondaryMap};
use fixedbitset::FixedBitSet;
use rustc_hash::FxHashMap;

use heddle_isa::{Inst, Mods, Op, Operand, PhysReg, Space, Type};
use heddle_mir::cfg::Cfg;
use heddle_mir::{Block, Function};

/// Functions of more different copies keep them: sets of copies would take more memory than they save time.
const MOST_COPIES: usize = 4096;

/// What two `mov` have in common that do the same. A local register is that of the cluster.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Transfer {
    ty: Type,
    dst: PhysReg,
    src: Operand,
    cluster: u8,
}

/// One word of a register; of a local one with its cluster.
type Word = (PhysReg, u8);

impl Transfer {
    /// What an instruction copies, if it is a copy that can be repeated: from a register, a word of the constant bank or an
    /// immediate, and not onto itself in part, which would change what it has read.
    fn of(inst: &Inst) -> Option<Self> {
        if inst.op != Op::Mov || inst.guard.is_some() || inst.neg != 0 || inst.abs != 0 || inst.mods != Mods::default() {
            return None;
        }
        let dst = inst.dst.as_phys().filter(|d| is_word(*d))?;
        let src = inst.srcs[0];
        let can = match src {
            Operand::Constant(_) | Operand::Immediate(_) => true,
            _ => src.as_phys().is_some_and(is_word),
        };
        let transfer = Transfer { ty: inst.ty, dst, src, cluster: inst.cluster };
        let overlaps = |w: Word| transfer.words(src.as_phys()).any(|s| s == w);
        (can && !transfer.words(Some(dst)).any(overlaps)).then_some(transfer)
    }

    /// The words that it names of a register.
    fn words(&self, reg: Option<PhysReg>) -> impl Iterator<Item = Word> + use<> {
        words(reg, self.ty.words(), self.cluster)
    }

    /// All words that it names.
    fn all_words(&self) -> impl Iterator<Item = Word> + use<> {
        self.words(Some(self.dst)).chain(self.words(self.src.as_phys()))
    }

    /// The copy from its destination to its source.
    fn turned(&self) -> Option<Self> {
        Some(Transfer { dst: self.src.as_phys()?, src: Operand::phys(self.dst.space, self.dst.index), ..*self })
    }

    /// Whether it names a register of some space.
    fn names(&self, space: Space) -> bool {
        self.dst.space == space || self.src.as_phys().is_some_and(|s| s.space == space)
    }

    /// Whether it names a main register from `fixed` on: those are shared.
    fn is_shared(&self, fixed: Option<u32>) -> bool {
        let shared = |(reg, _): Word| reg.space == Space::Main && fixed.is_some_and(|f| u32::from(reg.index) >= f);
        self.all_words().any(shared)
    }
}

/// Whether a register holds words.
fn is_word(reg: PhysReg) -> bool {
    matches!(reg.space, Space::Local | Space::Main | Space::Scalar)
}

/// The words of a register that an instruction of a cluster names.
fn words(reg: Option<PhysReg>, count: u8, cluster: u8) -> impl Iterator<Item = Word> {
    let of = move |reg: PhysReg| {
        let cluster = if reg.space == Space::Local { cluster } else { 0 };
        (0..count.max(1)).map(move |w| (PhysReg { index: reg.index.wrapping_add(w), ..reg }, cluster))
    };
    reg.filter(|r| is_word(*r)).into_iter().flat_map(of)
}

/// All copies of a function, by number.
struct Copies {
    number: FxHashMap<Transfer, usize>,
    /// Those that name each word.
    naming: FxHashMap<Word, FixedBitSet>,
    /// Those that name a local register.
    local: FixedBitSet,
    /// Those that may end while other lanes run: of scalar registers, and of local ones if strands begin anywhere.
    of_warp: FixedBitSet,
}

impl Copies {
    /// `None` if there are none, or too many.
    fn of(function: &Function) -> Option<Self> {
        let mut number: FxHashMap<Transfer, usize> = FxHashMap::default();
        let insts = || function.layout.iter().flat_map(|b| &function.blocks[*b].insts);
        for transfer in insts().filter_map(Transfer::of).filter(|t| !t.is_shared(function.fixed_registers)) {
            let next = number.len();
            number.entry(transfer).or_insert(next);
        }
        let count = number.len();
        if count == 0 || count > MOST_COPIES {
            return None;
        }
        let those = |which: &dyn Fn(&Transfer) -> bool| {
            let mut set = FixedBitSet::with_capacity(count);
            number.iter().filter(|(t, _)| which(t)).for_each(|(_, n)| set.insert(*n));
            set
        };
        let (local, mut of_warp) = (those(&|t| t.names(Space::Local)), those(&|t| t.names(Space::Scalar)));
        if insts().any(|i| i.strand) {
            of_warp.union_with(&local);
        }
        let mut naming: FxHashMap<Word, FixedBitSet> = FxHashMap::default();
        for (transfer, n) in &number {
            for word in transfer.all_words() {
                naming.entry(word).or_insert_with(|| FixedBitSet::with_capacity(count)).insert(*n);
            }
        }
        Some(Copies { number, naming, local, of_warp })
    }

    /// None of them.
    fn none(&self) -> FixedBitSet {
        FixedBitSet::with_capacity(self.number.len())
    }

    /// Whether an instruction brings what its destination holds.
    fn is_redundant(&self, available: &FixedBitSet, inst: &Inst) -> bool {
        let Some(transfer) = Transfer::of(inst).filter(|_| !inst.strand) else { return false };
        let has = |t: Transfer| self.number.get(&t).is_some_and(|n| available.contains(*n));
        has(transfer) || transfer.turned().is_some_and(has)
    }

    /// What is available behind an instruction.
    fn step(&self, available: &mut FixedBitSet, inst: &Inst) {
        if inst.strand {
            available.difference_with(&self.local);
        }
        for word in words(inst.dst.as_phys(), inst.dst_words(), inst.cluster) {
            if let Some(ended) = self.naming.get(&word) {
                available.difference_with(ended);
            }
        }
        if let Some(number) = Transfer::of(inst).and_then(|t| self.number.get(&t)) {
            available.insert(*number);
        }
    }
}

/// Which ways between blocks a warp goes without doing anything else in between.
struct WarpWays {
    /// Blocks in which lanes meet, and those that begin the side of a branch that waits.
    interrupted: FixedBitSet,
    /// Blocks that end in a divergent branch.
    divergent: FixedBitSet,
    /// For each of these the side that runs at once.
    at_once: SecondaryMap<Block, Option<Block>>,
}

impl WarpWays {
    fn new(function: &Function, cfg: &Cfg) -> Self {
        let (mut interrupted, mut divergent) = (FixedBitSet::with_capacity(cfg.len), FixedBitSet::with_capacity(cfg.len));
        for (block, inst) in function.layout.iter().flat_map(|b| function.blocks[*b].insts.iter().map(move |i| (*b, i))) {
            if inst.op == Op::BraDivergent {
                divergent.insert(block.index());
                inst.blocks().iter().for_each(|b| interrupted.insert(b.index()));
            }
        }
        let mut at_once: SecondaryMap<Block, Option<Block>> = SecondaryMap::new();
        for branch in cfg.divergent_branches(function) {
            at_once[branch.branch] = Some(branch.fall_through);
        }
        WarpWays { interrupted, divergent, at_once }
    }

    fn is_straight(&self, from: Block, to: Block) -> bool {
        !self.interrupted.contains(to.index()) && (!self.divergent.contains(from.index()) || self.at_once[from] == Some(to))
    }
}

/// Available copies at the ends of blocks, by position in reverse post-order.
struct Available<'a> {
    copies: &'a Copies,
    cfg: &'a Cfg,
    ways: WarpWays,
    position: SecondaryMap<Block, Option<usize>>,
    /// `None`: not reached yet, where all copies may be available.
    behind: Vec<Option<FixedBitSet>>,
}

impl<'a> Available<'a> {
    /// A worklist in reverse post-order, until nothing changes.
    fn new(function: &Function, copies: &'a Copies, cfg: &'a Cfg) -> Self {
        let mut position: SecondaryMap<Block, Option<usize>> = SecondaryMap::new();
        cfg.rpo.iter().enumerate().for_each(|(i, b)| position[*b] = Some(i));
        let ways = WarpWays::new(function, cfg);
        let mut found = Available { copies, cfg, ways, position, behind: vec![None; cfg.rpo.len()] };
        let mut wanted = FixedBitSet::with_capacity(cfg.rpo.len());
        wanted.insert_range(..);
        while let Some(i) = wanted.minimum() {
            wanted.set(i, false);
            let block = cfg.rpo[i];
            let mut available = found.at(i);
            function.blocks[block].insts.iter().for_each(|inst| copies.step(&mut available, inst));
            if found.behind[i].as_ref() != Some(&available) {
                found.behind[i] = Some(available);
                cfg.edges[block].succs.iter().filter_map(|s| found.position[*s]).for_each(|s| wanted.insert(s));
            }
        }
        found
    }

    /// At the start of a block: what is available on all ways to it.
    fn at(&self, i: usize) -> FixedBitSet {
        let mut available: Option<FixedBitSet> = None;
        let block = self.cfg.rpo[i];
        for &from in self.cfg.edges[block].preds.iter().filter(|_| i > 0) {
            let Some(behind) = self.position[from].and_then(|p| self.behind[p].as_ref()) else { continue };
            let mut set = behind.clone();
            if !self.ways.is_straight(from, block) {
                set.difference_with(&self.copies.of_warp);
            }
            match &mut available {
                Some(available) => available.intersect_with(&set),
                None => available = Some(set),
            }
        }
        available.unwrap_or_else(|| self.copies.none())
    }
}

/// Removes copies of what is there.
pub(super) fn remove(function: &mut Function) {
    let Some(copies) = Copies::of(function) else { return };
    let cfg = Cfg::new(function);
    let found = Available::new(function, &copies, &cfg);
    for (i, block) in cfg.rpo.iter().enumerate() {
        let mut available = found.at(i);
        function.blocks[*block].insts.retain(|inst| {
            let redundant = copies.is_redundant(&available, inst);
            if !redundant {
                copies.step(&mut available, inst);
            }
            !redundant
        });
    }
}
