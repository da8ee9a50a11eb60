//! Spill code: what is kept elsewhere, where, and the instructions that bring it there and back.
//!
//! - *Vector* and *scalar* registers whose only definition moves an immediate, a constant of the bank or an
//!   unchanging special register are recomputed at their uses.
//! - *Vector* registers live in private memory: slots behind the kernel's own private memory, 32-bit addresses.
//! - *Scalar* registers live in a vector register. The save runs under the EXEC of the definition, the reload
//!   (`first`) under that of the use. Every lane that is active at the use has come through the definition on
//!   its own path, because before allocation the definition reaches the use on all of them; so the first
//!   active lane holds the value, and all active lanes agree on it.
//! - *Predicates* live as 0 or 1 in a vector register.
//!
//! Saves and reloads stand next to the definition or use and saves take its guard, so they run under the same
//! EXEC (hazard 3).

use cranelift_entity::SecondaryMap;
use fixedbitset::FixedBitSet;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::FunctionStats;
use heddle_isa::{CachePolicy, Cond, Inst, MemorySpace, Op, Operand, Reg, Role, SourceLoc, Special, Type, VReg};
use heddle_mir::cfg::Cfg;
use heddle_mir::{Bank, Block, Function, RegClass, liveness};

/// For each block the index of each instruction in the function before allocation; [`INSERTED`] for spill
/// code. The checker reads it.
pub type Origins = SecondaryMap<Block, Vec<u32>>;

/// Origin of an instruction that allocation added.
pub const INSERTED: u32 = u32::MAX;

/// The origins of a function as it is.
pub fn origins_of(function: &Function) -> Origins {
    let mut origins = Origins::new();
    for block in &function.layout {
        origins[*block] = (0..function.blocks[*block].insts.len() as u32).collect();
    }
    origins
}

/// Keeps the instructions of a block for which `keep` holds, given each with its origin.
pub fn retain(insts: &mut Vec<Inst>, origins: &mut Vec<u32>, keep: impl Fn(&Inst, u32) -> bool) {
    let kept: Vec<bool> = insts.iter().zip(origins.iter()).map(|(i, o)| keep(i, *o)).collect();
    if kept.iter().all(|k| *k) {
        return;
    }
    let mut k = kept.iter();
    insts.retain(|_| *k.next().unwrap_or(&true));
    let mut k = kept.iter();
    origins.retain(|_| *k.next().unwrap_or(&true));
}

/// Where a spilled register lives.
#[derive(Clone, Debug)]
pub enum Home {
    /// Byte address in private memory.
    Slot(u32),
    /// Recomputed by this instruction.
    Recompute(Box<Inst>),
    /// In this vector register.
    Vector(VReg),
}

/// Adds a slot for a vector register of some words to private memory.
pub fn new_slot(function: &mut Function, words: u8) -> u32 {
    let bytes = 4 * u32::from(words);
    let slot = function.private_bytes.next_multiple_of(bytes);
    function.private_bytes = slot + bytes;
    slot
}

/// Stores words of a vector register in its slot.
pub fn store(reg: Operand, words: u8, address: u32, loc: SourceLoc) -> Inst {
    let mut inst = Inst::new(Op::Store, RegClass::vector(words).copy_type(), Operand::None, [Operand::None, Operand::None, reg]);
    inst.mods.space = Some(MemorySpace::Private);
    inst.imm = address as i32;
    inst.loc = loc;
    inst
}

/// Loads words of a vector register from its slot.
pub fn load(reg: Operand, words: u8, address: u32, loc: SourceLoc) -> Inst {
    let mut inst = Inst::new(Op::Load, RegClass::vector(words).copy_type(), reg, [Operand::None, Operand::None]);
    inst.mods.space = Some(MemorySpace::Private);
    inst.imm = address as i32;
    inst.loc = loc;
    inst
}

/// Whether an operand reads the same whenever the work-item reads it.
pub(super) fn never_changes(operand: Operand) -> bool {
    match operand {
        Operand::Immediate(_) | Operand::Constant(_) => true,
        Operand::Special(s) => !matches!(s, Special::ExecLow | Special::ExecHigh | Special::ClockLow),
        _ => false,
    }
}

/// Whether an instruction is a whole, unguarded move of something that never changes into a register of a class.
fn is_fixed_move(inst: &Inst, class: RegClass) -> bool {
    inst.op == Op::Mov && inst.guard.is_none() && inst.dst_words() == class.words && never_changes(inst.srcs[0])
}

/// Registers that can be recomputed: their only definition is a move of something that never changes.
pub fn recomputable(function: &Function) -> FxHashMap<VReg, Inst> {
    let mut found: FxHashMap<VReg, Option<Inst>> = FxHashMap::default();
    for block in &function.layout {
        for inst in &function.blocks[*block].insts {
            let Some((reg, _)) = inst.dst.as_virt() else { continue };
            let class = function.vregs[reg];
            match found.get_mut(&reg) {
                Some(other) => *other = None,
                None if is_fixed_move(inst, class) => {
                    found.insert(reg, Some(inst.clone()));
                }
                None => {
                    found.insert(reg, None);
                }
            }
        }
    }
    found.into_iter().filter_map(|(r, i)| Some((r, i?))).collect()
}

/// The move of words `word .. word + words` of what the fixed move `inst` moves.
pub fn recompute(inst: &Inst, word: u8, words: u8, dst: Operand, loc: SourceLoc) -> Inst {
    let mut part = inst.clone();
    part.dst = dst;
    part.loc = loc;
    // Strands begin where they began.
    part.strand = false;
    if words == inst.ty.words() {
        return part;
    }
    part.ty = RegClass::vector(words).copy_type();
    part.srcs[0] = match inst.srcs[0] {
        Operand::Constant(c) => Operand::Constant(c.wrapping_add(word)),
        // A 64-bit move sign-extends its immediate.
        Operand::Immediate(v) if word == 1 => Operand::Immediate(if (v as i32) < 0 { u32::MAX } else { 0 }),
        other => other,
    };
    part
}

/// Removes moves of fixed values into vector registers that nothing reads any more, because every use
/// recomputes them.
pub fn drop_unused_moves(function: &mut Function, origins: &mut Origins) {
    let mut used: SecondaryMap<VReg, bool> = SecondaryMap::with_capacity(function.vregs.len());
    for block in &function.layout {
        function.blocks[*block].insts.iter().for_each(|i| liveness::for_each_use(i, |r, _| used[r] = true));
    }
    let Function { blocks, layout, vregs, .. } = function;
    for block in layout.iter() {
        let keep = |i: &Inst, _: u32| {
            let unused = i.dst.as_virt().is_some_and(|(r, _)| vregs[r].bank == Bank::Vector && !used[r]);
            !(unused && i.op == Op::Mov && never_changes(i.srcs[0]))
        };
        retain(&mut blocks[*block].insts, &mut origins[*block], keep);
    }
}

/// Marks the reloads that read their slot for the last time (K7: `.lu`, an encoding shared with `.cs`): no
/// lane that executes the load reads the slot again before it writes it. `first` is the address of the first
/// slot.
pub fn mark_last_reloads(function: &mut Function, cfg: &Cfg, first: u32) {
    let words = function.private_bytes.saturating_sub(first).div_ceil(4) as usize;
    if words == 0 {
        return;
    }
    let slot = |inst: &Inst| -> Option<std::ops::Range<usize>> {
        let spill = inst.mods.space == Some(MemorySpace::Private)
            && matches!(inst.op, Op::Load | Op::Store)
            && inst.srcs[..2] == [Operand::None, Operand::None]
            && inst.imm as u32 >= first;
        let at = ((inst.imm as u32).wrapping_sub(first) / 4) as usize;
        (spill && at + usize::from(inst.ty.words()) <= words).then(|| at..at + usize::from(inst.ty.words()))
    };
    // Backward through a block: a store ends what is read later, a load begins it.
    let step = |inst: &mut Inst, live: &mut FixedBitSet, mark: bool| {
        let Some(range) = slot(inst) else { return };
        if inst.op == Op::Store {
            if inst.guard.is_none() {
                live.set_range(range, false);
            }
            return;
        }
        if mark && live.count_ones(range.clone()) == 0 {
            inst.mods.cache = CachePolicy::Cs;
        }
        live.set_range(range, true);
    };
    let mut live_in: SecondaryMap<Block, FixedBitSet> = SecondaryMap::with_default(FixedBitSet::with_capacity(words));
    live_in.resize(cfg.len);
    let mut queue: std::collections::VecDeque<Block> = cfg.rpo.iter().rev().copied().collect();
    let mut queued: SecondaryMap<Block, bool> = SecondaryMap::with_default(true);
    queued.resize(cfg.len);
    let out = |block: Block, live_in: &SecondaryMap<Block, FixedBitSet>| {
        let mut live = FixedBitSet::with_capacity(words);
        cfg.edges[block].succs.iter().for_each(|s| live.union_with(&live_in[*s]));
        live
    };
    while let Some(block) = queue.pop_front() {
        queued[block] = false;
        let mut live = out(block, &live_in);
        function.blocks[block].insts.iter_mut().rev().for_each(|i| step(i, &mut live, false));
        if live != live_in[block] {
            live_in[block] = live;
            for p in &cfg.edges[block].preds {
                if !std::mem::replace(&mut queued[*p], true) {
                    queue.push_back(*p);
                }
            }
        }
    }
    for &block in &cfg.rpo {
        let mut live = out(block, &live_in);
        function.blocks[block].insts.iter_mut().rev().for_each(|i| step(i, &mut live, true));
    }
}

/// Rewrites a function so that the registers of `spilled` live elsewhere between every definition and use.
/// New registers that must not be spilled again are added to `pinned`.
pub fn everywhere(
    function: &mut Function,
    origins: &mut Origins,
    spilled: &[VReg],
    pinned: &mut SecondaryMap<VReg, bool>,
    stats: &mut FunctionStats,
) {
    let mut homes: FxHashMap<VReg, Home> = FxHashMap::default();
    let recomputable = recomputable(function);
    for &reg in spilled {
        let class = function.vregs[reg];
        let home = match (class.bank, recomputable.get(&reg)) {
            (Bank::Vector | Bank::Scalar, Some(inst)) => {
                stats.rematerialized += 1;
                Home::Recompute(Box::new(inst.clone()))
            }
            (Bank::Vector, None) => {
                stats.spilled_to_memory += 1;
                Home::Slot(new_slot(function, class.words))
            }
            (Bank::Scalar, None) => {
                stats.scalar_spilled += 1;
                Home::Vector(function.add_vreg(RegClass::vector(class.words)))
            }
            (Bank::Predicate, _) => {
                stats.predicate_spilled += 1;
                Home::Vector(function.add_vreg(RegClass::vector(1)))
            }
        };
        homes.insert(reg, home);
    }
    for position in 0..function.layout.len() {
        let block = function.layout[position];
        let touches = function.blocks[block].insts.iter().any(|i| {
            let mut any = i.dst.as_virt().is_some_and(|(r, _)| homes.contains_key(&r));
            liveness::for_each_use(i, |r, _| any |= homes.contains_key(&r));
            any
        });
        if !touches {
            continue;
        }
        let old = std::mem::take(&mut function.blocks[block].insts);
        let old_origins = std::mem::take(&mut origins[block]);
        let mut rewriter =
            Rewriter { function, homes: &homes, pinned, insts: Vec::with_capacity(old.len() * 2), origins: Vec::new() };
        for (inst, origin) in old.into_iter().zip(old_origins) {
            rewriter.instruction(inst, origin);
        }
        let (insts, new_origins) = (rewriter.insts, rewriter.origins);
        function.blocks[block].insts = insts;
        origins[block] = new_origins;
    }
}

struct Rewriter<'a> {
    function: &'a mut Function,
    homes: &'a FxHashMap<VReg, Home>,
    pinned: &'a mut SecondaryMap<VReg, bool>,
    insts: Vec<Inst>,
    origins: Vec<u32>,
}

/// A reload that stands before the current instruction: register, word, words, and where it is now.
type Loaded = SmallVec<[(VReg, u8, u8, VReg); 4]>;

impl Rewriter<'_> {
    fn pin(&mut self, class: RegClass) -> VReg {
        let reg = self.function.add_vreg(class);
        self.pinned[reg] = true;
        reg
    }

    fn push(&mut self, inst: Inst, origin: u32) {
        self.insts.push(inst);
        self.origins.push(origin);
    }

    /// Class of an access to some words of a register.
    fn part(&self, reg: VReg, words: u8) -> RegClass {
        let bank = self.function.vregs[reg].bank;
        // A predicate-typed access to a scalar register is one word.
        RegClass { bank, words: if bank == Bank::Predicate { 0 } else { words.max(1) } }
    }

    fn instruction(&mut self, mut inst: Inst, origin: u32) {
        let (loc, homes) = (inst.loc, self.homes);
        if let Some((reg, _)) = inst.dst.as_virt()
            && matches!(homes.get(&reg), Some(Home::Recompute(_)))
        {
            return;
        }
        let scalar_destination = inst.dst.as_virt().is_some_and(|(r, _)| self.function.vregs[r].bank == Bank::Scalar);
        let mut loaded = Loaded::new();
        for i in 0..inst.srcs.len() {
            let Some((reg, word)) = inst.srcs[i].as_virt() else { continue };
            let Some(home) = homes.get(&reg) else { continue };
            let role = inst.src_role(i);
            if let (Home::Vector(v), Bank::Scalar) = (home, self.function.vregs[reg].bank) {
                // A vector instruction reads a spilled scalar straight from its vector register where the
                // role allows it.
                let needs_scalar = matches!(role, Role::Base | Role::ScalarCondition | Role::Predicate)
                    || (role == Role::Value && inst.ty == Type::Pred)
                    || scalar_destination;
                if !needs_scalar {
                    inst.srcs[i] = Operand::virt_word(*v, word);
                    continue;
                }
            }
            inst.srcs[i] = Operand::virt(self.reload(reg, word, inst.src_words(i), home, loc, &mut loaded));
        }
        if let Some(guard) = &mut inst.guard
            && let Reg::Virtual { reg, .. } = guard.reg
            && let Some(home) = homes.get(&reg)
        {
            guard.reg = Reg::Virtual { reg: self.reload(reg, 0, 0, home, loc, &mut loaded), word: 0 };
        }
        let spilled = inst.dst.as_virt().and_then(|(reg, word)| Some((reg, word, homes.get(&reg)?)));
        let Some((reg, word, home)) = spilled else { return self.push(inst, origin) };
        let class = self.part(reg, inst.dst_words());
        let temp = self.pin(class);
        inst.dst = Operand::virt(temp);
        let guard = inst.guard;
        // The save right behind, under the same guard, is all that reads it.
        inst.fresh = guard.is_some();
        self.push(inst, origin);
        let mut save = match home {
            Home::Slot(slot) => store(Operand::virt(temp), class.words, slot + 4 * u32::from(word), loc),
            // An absent operand reads as zero, and the one immediate is the 1.
            Home::Vector(v) if class.bank == Bank::Predicate => {
                Inst::new(Op::Sel, Type::B32, Operand::virt(*v), [Operand::virt(temp), Operand::Immediate(1), Operand::None])
            }
            Home::Vector(v) => Inst::new(Op::Mov, class.copy_type(), Operand::virt_word(*v, word), [Operand::virt(temp)]),
            Home::Recompute(_) => return,
        };
        save.guard = guard;
        save.loc = loc;
        self.push(save, INSERTED);
    }

    /// Brings words of a spilled register into a new register.
    fn reload(&mut self, reg: VReg, word: u8, words: u8, home: &Home, loc: SourceLoc, loaded: &mut Loaded) -> VReg {
        if let Some(known) = loaded.iter().find(|l| (l.0, l.1, l.2) == (reg, word, words)) {
            return known.3;
        }
        let class = self.part(reg, words);
        let temp = self.pin(class);
        let dst = Operand::virt(temp);
        let mut inst = match home {
            Home::Slot(slot) => load(dst, class.words, slot + 4 * u32::from(word), loc),
            Home::Recompute(inst) => recompute(inst, word, class.words, dst, loc),
            Home::Vector(v) if class.bank == Bank::Predicate => {
                let mut cmp = Inst::new(Op::Cmp, Type::B32, dst, [Operand::virt(*v), Operand::Immediate(0)]);
                cmp.mods.cond = Some(Cond::Ne);
                cmp
            }
            Home::Vector(v) => Inst::new(Op::First, class.copy_type(), dst, [Operand::virt_word(*v, word)]),
        };
        inst.loc = loc;
        self.push(inst, INSERTED);
        loaded.push((reg, word, words, temp));
        temp
    }
}
