//! Spill code: a register that got no colour lives elsewhere between its uses.
//!
//! - *Vector* registers: recomputed at each use if their only definition is a move of an immediate, a special register or a constant;
//!   else kept in private memory. Reloads that are the last use of the slot on straight-line code carry the last-use policy (K7).
//! - *Scalar* registers: kept in a vector register. The save runs under the EXEC of the definition, the reload (`first`) under that of the use. A use
//!   is only reached by lanes that executed the definition, so the first active lane holds the value, and all lanes agree on it.
//! - *Predicates*: kept as 0 or 1 in a vector register.
//!
//! Saves and reloads stand next to the definition or use and take its guard, so they run under the same EXEC (hazard 3).

use cranelift_entity::{EntityRef, SecondaryMap};
use rustc_hash::FxHashMap;

use super::FunctionStats;
use super::lower::copy_type;
use crate::isa::{CachePolicy, Cond, Inst, MemorySpace, Op, Operand, Reg, Role, Type, VReg};
use crate::mir::{Bank, Block, Function, RegClass, liveness};

/// For each block the index of each instruction in the function before allocation; [`INSERTED`] for spill code.
pub type Origins = SecondaryMap<Block, Vec<u32>>;

/// Origin of an instruction that allocation added.
pub const INSERTED: u32 = u32::MAX;

/// Where a spilled register lives.
#[derive(Clone, Debug)]
enum Home {
    /// Byte address in private memory.
    Slot(u32),
    /// Recomputed by this instruction.
    Recompute(Inst),
    /// In this vector register.
    Vector(VReg),
}

/// Rewrites a function so that the registers of `spilled` live elsewhere. New registers that must not be spilled again are added
/// to `pinned`.
pub fn rewrite(
    function: &mut Function,
    origins: &mut Origins,
    spilled: &[VReg],
    pinned: &mut SecondaryMap<VReg, bool>,
    stats: &mut FunctionStats,
) {
    let mut homes: FxHashMap<VReg, Home> = FxHashMap::default();
    let recomputable = recomputable(function, spilled);
    for &reg in spilled {
        let class = function.vregs[reg];
        let home = match class.bank {
            Bank::Vector => {
                if let Some(inst) = recomputable.get(&reg) {
                    stats.rematerialized += 1;
                    Home::Recompute(inst.clone())
                } else {
                    stats.spilled_to_memory += 1;
                    let bytes = 4 * u32::from(class.words);
                    let slot = function.private_bytes.next_multiple_of(bytes);
                    function.private_bytes = slot + bytes;
                    Home::Slot(slot)
                }
            }
            Bank::Scalar => {
                stats.scalar_spilled += 1;
                Home::Vector(function.add_vreg(RegClass::vector(class.words)))
            }
            Bank::Predicate => {
                stats.predicate_spilled += 1;
                Home::Vector(function.add_vreg(RegClass::vector(1)))
            }
        };
        homes.insert(reg, home);
    }
    for block in function.layout.clone() {
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

/// Spilled vector registers whose single, unguarded, whole definition is a move of something that never changes.
fn recomputable(function: &Function, spilled: &[VReg]) -> FxHashMap<VReg, Inst> {
    let mut found: FxHashMap<VReg, Option<Inst>> = spilled.iter().map(|r| (*r, None)).collect();
    let mut definitions: FxHashMap<VReg, u32> = FxHashMap::default();
    for block in &function.layout {
        for inst in &function.blocks[*block].insts {
            let Some((reg, _)) = inst.dst.as_virt() else { continue };
            let Some(slot) = found.get_mut(&reg) else { continue };
            *definitions.entry(reg).or_default() += 1;
            let source_is_fixed =
                matches!(inst.srcs.first(), Some(Operand::Immediate(_) | Operand::Special(_) | Operand::Constant(_)));
            if inst.op == Op::Mov && source_is_fixed && inst.guard.is_none() && inst.dst_words() == function.vregs[reg].words {
                *slot = Some(inst.clone());
            }
        }
    }
    found.into_iter().filter(|(r, _)| definitions.get(r) == Some(&1)).filter_map(|(r, i)| Some((r, i?))).collect()
}

struct Rewriter<'a> {
    function: &'a mut Function,
    homes: &'a FxHashMap<VReg, Home>,
    pinned: &'a mut SecondaryMap<VReg, bool>,
    insts: Vec<Inst>,
    origins: Vec<u32>,
}

impl Rewriter<'_> {
    fn pin(&mut self, class: RegClass) -> VReg {
        let reg = self.function.add_vreg(class);
        self.pinned.resize(reg.index() + 1);
        self.pinned[reg] = true;
        reg
    }

    fn insert(&mut self, inst: Inst) {
        self.insts.push(inst);
        self.origins.push(INSERTED);
    }

    fn instruction(&mut self, mut inst: Inst, origin: u32) {
        let loc = inst.loc;
        // The definition of a recomputable register goes away; so does a copy's meaning stay with its uses.
        if let Some((reg, _)) = inst.dst.as_virt() {
            if matches!(self.homes.get(&reg), Some(Home::Recompute(_))) {
                return;
            }
        }
        let scalar_destination = inst.dst.as_virt().is_some_and(|(r, _)| self.function.vregs[r].bank == Bank::Scalar);
        let mut loaded: Vec<(VReg, u8, u8, VReg)> = Vec::new();
        for i in 0..inst.srcs.len() {
            let Some((reg, word)) = inst.srcs[i].as_virt() else { continue };
            let Some(home) = self.homes.get(&reg).cloned() else { continue };
            let words = inst.src_words(i);
            // A vector instruction reads a spilled scalar straight from its vector register where the role allows it.
            if let (Home::Vector(v), Bank::Scalar) = (&home, self.function.vregs[reg].bank) {
                let uniform_role = matches!(inst.src_role(i), Role::Base | Role::ScalarCondition | Role::Predicate);
                if !uniform_role && !scalar_destination && inst.op != Op::First {
                    inst.srcs[i] = Operand::virt_word(*v, word);
                    continue;
                }
            }
            let known = loaded.iter().find(|(r, w, n, _)| *r == reg && *w == word && *n == words).map(|l| l.3);
            let temp = match known {
                Some(temp) => temp,
                None => {
                    let temp = self.reload(reg, word, words, &home, loc);
                    loaded.push((reg, word, words, temp));
                    temp
                }
            };
            inst.srcs[i] = Operand::virt(temp);
        }
        if let Some(guard) = &mut inst.guard {
            if let Reg::Virtual { reg, .. } = guard.reg {
                if let Some(home) = self.homes.get(&reg).cloned() {
                    let temp = self.reload(reg, 0, 0, &home, loc);
                    guard.reg = Reg::Virtual { reg: temp, word: 0 };
                }
            }
        }
        let Some((reg, word)) = inst.dst.as_virt() else { return self.push(inst, origin) };
        let Some(home) = self.homes.get(&reg).cloned() else { return self.push(inst, origin) };
        let words = inst.dst_words();
        let class = RegClass { bank: self.function.vregs[reg].bank, words };
        let temp = self.pin(class);
        inst.dst = Operand::virt(temp);
        let guard = inst.guard;
        self.push(inst, origin);
        let mut save = match home {
            Home::Slot(slot) => {
                let mut st =
                    Inst::new(Op::Store, copy_type(class), Operand::None, [Operand::None, Operand::None, Operand::virt(temp)]);
                st.mods.space = Some(MemorySpace::Private);
                st.imm = (slot + 4 * u32::from(word)) as i32;
                st
            }
            // An absent operand reads as zero, and the one immediate is the 1.
            Home::Vector(v) if class.bank == Bank::Predicate => {
                Inst::new(Op::Sel, Type::B32, Operand::virt(v), [Operand::virt(temp), Operand::Immediate(1), Operand::None])
            }
            Home::Vector(v) => Inst::new(Op::Mov, copy_type(class), Operand::virt_word(v, word), [Operand::virt(temp)]),
            Home::Recompute(_) => return,
        };
        save.guard = guard;
        save.loc = loc;
        self.insert(save);
    }

    fn push(&mut self, inst: Inst, origin: u32) {
        self.insts.push(inst);
        self.origins.push(origin);
    }

    /// Brings `words` words of a spilled register from `word` on into a new register.
    fn reload(&mut self, reg: VReg, word: u8, words: u8, home: &Home, loc: crate::isa::SourceLoc) -> VReg {
        let bank = self.function.vregs[reg].bank;
        let class = RegClass { bank, words };
        let temp = self.pin(class);
        let dst = Operand::virt(temp);
        let mut inst = match home {
            Home::Slot(slot) => {
                let mut ld = Inst::new(Op::Load, copy_type(class), dst, [Operand::None, Operand::None]);
                ld.mods.space = Some(MemorySpace::Private);
                ld.imm = (slot + 4 * u32::from(word)) as i32;
                ld.mods.cache = CachePolicy::Default;
                ld
            }
            Home::Recompute(inst) => part_of_move(inst, word, words, dst),
            Home::Vector(v) if bank == Bank::Predicate => {
                let mut cmp = Inst::new(Op::Cmp, Type::B32, dst, [Operand::virt(*v), Operand::Immediate(0)]);
                cmp.mods.cond = Some(Cond::Ne);
                cmp
            }
            Home::Vector(v) => Inst::new(Op::First, copy_type(class), dst, [Operand::virt_word(*v, word)]),
        };
        inst.loc = loc;
        self.insert(inst);
        temp
    }
}

/// The move of words `word .. word + words` of what `inst` moves.
fn part_of_move(inst: &Inst, word: u8, words: u8, dst: Operand) -> Inst {
    let mut part = inst.clone();
    part.dst = dst;
    if words == inst.ty.words() {
        return part;
    }
    part.ty = copy_type(RegClass::vector(words));
    part.srcs[0] = match inst.srcs[0] {
        Operand::Constant(c) => Operand::Constant(c + word),
        // A 64-bit move sign-extends its immediate.
        Operand::Immediate(v) if word == 1 => Operand::Immediate(if (v as i32) < 0 { u32::MAX } else { 0 }),
        other => other,
    };
    part
}
