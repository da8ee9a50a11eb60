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
//! nothing across the beginning of a strand (C14), whichever lanes begin it.
//!
//! Reference: Muchnick, "Advanced Compiler Design and Implementation" (1997), 12.5, copy propagation; LLVM's
//! `MachineCopyPropagation` removes redundant copies within blocks.
//!
//! May touch: `mov` of allocated code without a guard, which go.

use cranelift_entity::SecondaryMap;
use fixedbitset::FixedBitSet;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use heddle_isa::{Inst, Mods, Op, Operand, PhysReg, Space, Type};
use heddle_mir::cfg::Cfg;
use heddle_mir::{Block, Function};

/// Functions of more copies keep them: sets of copies would take more memory than they save time.
const MOST_COPIES: usize = 4096;

/// A copy, but for its place: what two `mov` have in common that do the same. A local register is that of the cluster.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Copy {
    ty: Type,
    dst: PhysReg,
    src: Operand,
    cluster: u8,
}

/// One word of a register; of a local one with its cluster.
type Word = (PhysReg, u8);

impl Copy {
    /// What an instruction copies, if it is a copy that can be repeated: from a register, a word of the constant bank or an immediate.
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
        let copy = Copy { ty: inst.ty, dst, src, cluster: inst.cluster };
        // One onto itself in part would change what it has read.
        let overlaps = |w: Word| copy.words(src.as_phys()).any(|s| s == w);
        (can && !copy.words(Some(dst)).any(overlaps)).then_some(copy)
    }

    /// The words that it names of a register.
    fn words(&self, reg: Option<PhysReg>) -> impl Iterator<Item = Word> + use<> {
        words(reg, self.ty.words(), self.cluster)
    }

    /// The copy from its destination to its source.
    fn turned(&self) -> Option<Self> {
        Some(Copy { dst: self.src.as_phys()?, src: Operand::phys(self.dst.space, self.dst.index), ..*self })
    }

    /// Whether it names a register of the warp.
    fn is_of_warp(&self) -> bool {
        self.dst.space == Space::Scalar || self.src.as_phys().is_some_and(|s| s.space == Space::Scalar)
    }

    /// Whether it names a local register.
    fn is_local(&self) -> bool {
        self.dst.space == Space::Local || self.src.as_phys().is_some_and(|s| s.space == Space::Local)
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
    all: Vec<Copy>,
    number: FxHashMap<Copy, usize>,
    /// Those that name each word.
    naming: FxHashMap<Word, SmallVec<[u32; 4]>>,
    /// Those that name a local register.
    local: FixedBitSet,
    /// Those that what other lanes run may end: of registers of the warp, and of local ones where strands begin.
    of_warp: FixedBitSet,
}

impl Copies {
    fn of(function: &Function) -> Self {
        let (mut all, mut number, mut naming) = (Vec::new(), FxHashMap::default(), FxHashMap::default());
        for copy in function.layout.iter().flat_map(|b| &function.blocks[*b].insts).filter_map(Copy::of) {
            number.entry(copy).or_insert_with(|| {
                for word in copy.words(Some(copy.dst)).chain(copy.words(copy.src.as_phys())) {
                    let list: &mut SmallVec<[u32; 4]> = naming.entry(word).or_default();
                    list.push(all.len() as u32);
                }
                all.push(copy);
                all.len() - 1
            });
        }
        let those = |which: fn(&Copy) -> bool| {
            let mut set = FixedBitSet::with_capacity(all.len());
            all.iter().enumerate().filter(|(_, c)| which(c)).for_each(|(i, _)| set.insert(i));
            set
        };
        let (mut of_warp, local) = (those(Copy::is_of_warp), those(Copy::is_local));
        if function.layout.iter().any(|b| function.blocks[*b].insts.iter().any(|i| i.strand)) {
            of_warp.union_with(&local);
        }
        Copies { all, number, naming, local, of_warp }
    }

    /// Whether an instruction brings what its destination holds.
    fn is_redundant(&self, available: &FixedBitSet, inst: &Inst) -> bool {
        let Some(copy) = Copy::of(inst).filter(|_| !inst.strand) else { return false };
        let has = |c: Copy| self.number.get(&c).is_some_and(|n| available.contains(*n));
        has(copy) || copy.turned().is_some_and(has)
    }

    /// What is available behind an instruction.
    fn step(&self, available: &mut FixedBitSet, inst: &Inst) {
        if inst.strand {
            available.difference_with(&self.local);
        }
        for word in words(inst.dst.as_phys(), inst.dst_words(), inst.cluster) {
            for copy in self.naming.get(&word).into_iter().flatten() {
                available.set(*copy as usize, false);
            }
        }
        if let Some(number) = Copy::of(inst).and_then(|c| self.number.get(&c)) {
            available.insert(*number);
        }
    }
}

/// Which ways between blocks a warp goes without doing anything else in between.
struct WarpWays {
    /// Blocks in which lanes meet, and those that begin the side of a branch that waits.
    interrupted: FixedBitSet,
    /// For each block that ends in a divergent branch the side that runs at once.
    at_once: SecondaryMap<Block, Option<Block>>,
    divergent: FixedBitSet,
}

impl WarpWays {
    fn new(function: &Function, cfg: &Cfg) -> Self {
        let (mut interrupted, mut divergent) = (FixedBitSet::with_capacity(cfg.len), FixedBitSet::with_capacity(cfg.len));
        let mut at_once: SecondaryMap<Block, Option<Block>> = SecondaryMap::new();
        for (block, inst) in function.layout.iter().flat_map(|b| function.blocks[*b].insts.iter().map(move |i| (*b, i))) {
            if inst.op == Op::BraDivergent {
                divergent.insert(block.as_u32() as usize);
                inst.blocks().iter().for_each(|b| interrupted.insert(b.as_u32() as usize));
            }
        }
        for branch in cfg.divergent_branches(function) {
            at_once[branch.branch] = Some(branch.fall_through);
        }
        WarpWays { interrupted, at_once, divergent }
    }

    fn is_straight(&self, from: Block, to: Block) -> bool {
        let diverges = self.divergent.contains(from.as_u32() as usize);
        !self.interrupted.contains(to.as_u32() as usize) && (!diverges || self.at_once[from] == Some(to))
    }
}

/// Removes copies of what is there.
pub(super) fn remove(function: &mut Function) {
    let copies = Copies::of(function);
    if copies.all.is_empty() || copies.all.len() > MOST_COPIES {
        return;
    }
    let cfg = Cfg::new(function);
    let ways = WarpWays::new(function, &cfg);
    // `None`: not reached yet, where all copies may be available.
    let mut behind: SecondaryMap<Block, Option<FixedBitSet>> = SecondaryMap::new();
    let at = |block: Block, behind: &SecondaryMap<Block, Option<FixedBitSet>>| {
        let mut available: Option<FixedBitSet> = None;
        for &from in &cfg.edges[block].preds {
            let Some(mut set) = behind[from].clone() else { continue };
            if !ways.is_straight(from, block) {
                set.difference_with(&copies.of_warp);
            }
            match &mut available {
                Some(available) => available.intersect_with(&set),
                None => available = Some(set),
            }
        }
        let entry = cfg.rpo.first() == Some(&block);
        available.filter(|_| !entry).unwrap_or_else(|| FixedBitSet::with_capacity(copies.all.len()))
    };
    let mut changed = true;
    while changed {
        changed = false;
        for &block in &cfg.rpo {
            let mut available = at(block, &behind);
            function.blocks[block].insts.iter().for_each(|inst| copies.step(&mut available, inst));
            if behind[block].as_ref() != Some(&available) {
                behind[block] = Some(available);
                changed = true;
            }
        }
    }
    for &block in &cfg.rpo {
        let mut available = at(block, &behind);
        function.blocks[block].insts.retain(|inst| {
            let redundant = copies.is_redundant(&available, inst);
            if !redundant {
                copies.step(&mut available, inst);
            }
            !redundant
        });
    }
}
