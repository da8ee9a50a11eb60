//! 64-bit operations of which only the low word is used become 32-bit ones.
//!
//! # Problem
//! LLVM widens loop counters to 64 bits, and `size_t` is as wide in OpenCL C; addresses and comparisons use their
//! low words. A 64-bit addition takes two registers, three operands of two words and twice the time.
//!
//! # Algorithm
//! Backward over definitions, to a fixed point from what has an effect or reads whole registers: which words of
//! each register are demanded. The low word of sums, products, left shifts by less than 32, logic, choices, copies,
//! phis and tuples follows from the low words of their operands; that of a right shift from a funnel shift. Where
//! the upper word is not demanded, operation and register are narrowed; a register's first word is named as the
//! narrow register is. A right shift by 32 or more needs the upper word of its operand alone: where nothing else
//! needs the lower one, it is made of shifts of the upper. Of a product of two words of which the lower word is not needed the
//! upper one is computed alone.
//!
//! Reference: the demanded bits of LLVM (`DemandedBits.cpp`), by words; Muchnick, "Advanced compiler design and
//! implementation" (1997), 18.10 (dead code by demand).
//!
//! May touch: SSA form only; rewrites instructions in place and classes of registers.

use cranelift_entity::SecondaryMap;
use smallvec::{SmallVec, smallvec};

use super::context::Context;
use super::ssa::Definitions;
use super::{CodegenError, bindings};
use heddle_isa::{Inst, Op, Operand, RegClass, Type, VReg};
use heddle_mir::{Function, liveness};

/// Narrows operations.
pub fn run(function: &mut Function, _: &mut Context) -> Result<(), CodegenError> {
    if !function.vregs.values().any(|c| c.words == 2) {
        return Ok(());
    }
    let demanded = demanded_words(function);
    forget_words(function, &demanded);
    for block in function.layout.clone() {
        let vregs = &mut function.vregs;
        let old = std::mem::take(&mut function.blocks[block].insts);
        let insts = &mut function.blocks[block].insts;
        insts.reserve(old.len());
        for mut inst in old {
            let changes = passes_words(&inst) || follows_from_words(&inst);
            let dst = inst.dst.as_virt().filter(|(r, word)| *word == 0 && vregs[*r].words == 2 && changes);
            match dst.map(|(r, _)| (r, demanded[r] & 3)) {
                // Its operands may have been narrowed as if it did not exist.
                Some((_, 0)) => continue,
                Some((r, 1)) => {
                    narrow(&mut inst);
                    vregs[r].words = 1;
                }
                Some((_, 2)) if inst.op == Op::Tuple => inst.srcs[0] = Operand::None,
                Some((r, 2)) if inst.op == Op::MulWide => {
                    let word = vregs.push(RegClass { words: 1, ..vregs[r] });
                    insts.push(upper_word_of_product(&mut inst, Operand::virt(word)));
                }
                Some((r, _)) if !reads_lower_word(&inst, &demanded) => {
                    let word = RegClass { words: 1, ..vregs[r] };
                    insts.extend(shift_of_upper_word(&mut inst, || Operand::virt(vregs.push(word))));
                }
                _ => {}
            }
            insts.push(inst);
        }
    }
    Ok(())
}

/// Whether the lower word of an instruction's first operand will still be there.
fn reads_lower_word(inst: &Inst, demanded: &SecondaryMap<VReg, u8>) -> bool {
    inst.srcs.first().and_then(|s| s.as_virt()).is_none_or(|(r, word)| demanded[r] >> word & 1 == 1)
}

/// Makes a right shift by 32 or more a tuple of what these instructions compute from the upper word: by its operand
/// rules the 64-bit instruction would read the lower word too, of which nothing is left.
fn shift_of_upper_word(inst: &mut Inst, mut word: impl FnMut() -> Operand) -> SmallVec<[Inst; 2]> {
    let Some(by @ 32..) = shifts_down(inst) else { return SmallVec::new() };
    let (_, upper) = halves(inst.srcs[0]);
    let signed = inst.ty == Type::S64;
    let mut shifts = SmallVec::new();
    let mut shift = |by: u32| {
        let ty = if signed { Type::S32 } else { Type::U32 };
        let dst = word();
        shifts.push(Inst { ty, dst, srcs: smallvec![upper, Operand::Immediate(by)], ..inst.clone() });
        dst
    };
    let low = if by == 32 { upper } else { shift(by - 32) };
    let high = if signed { shift(31) } else { Operand::Immediate(0) };
    (inst.op, inst.ty, inst.srcs) = (Op::Tuple, Type::B64, smallvec![low, high]);
    shifts
}

/// Makes a product of two words of which only the upper one is needed a tuple of that.
fn upper_word_of_product(inst: &mut Inst, word: Operand) -> Inst {
    let upper = Inst { op: Op::MulHi, dst: word, ..inst.clone() };
    (inst.op, inst.ty, inst.srcs) = (Op::Tuple, Type::B64, smallvec![Operand::None, word]);
    upper
}

/// Words of variables that nothing else needs may be lost, or be computed from lost ones.
fn forget_words(function: &mut Function, demanded: &SecondaryMap<VReg, u8>) {
    bindings::resolve(function);
    let Some(mut variables) = function.variables.take() else { return };
    let definitions = Definitions::new(function);
    let changes = |inst: &Inst| passes_words(inst) || follows_from_words(inst);
    variables.forget(|reg, word| {
        let narrowed = function.vregs[reg].words == 2 && definitions.of(function, Operand::virt(reg)).is_some_and(changes);
        narrowed && demanded[reg] >> word & 1 == 0
    });
    function.variables = Some(variables);
}

/// An instruction that computes the low word of what it computed.
fn narrow(inst: &mut Inst) {
    if let Some(by) = shifts_down(inst) {
        let (low, high) = halves(inst.srcs[0]);
        let rest = if inst.ty == Type::S64 { Type::S32 } else { Type::U32 };
        (inst.op, inst.ty, inst.srcs) = match by {
            0..32 => (Op::Fshr, Type::B32, smallvec![high, low, Operand::Immediate(by)]),
            32 => (Op::Mov, Type::B32, smallvec![high]),
            _ => (Op::Shr, rest, smallvec![high, Operand::Immediate(by - 32)]),
        };
        return;
    }
    match inst.op {
        Op::MulWide => inst.op = Op::Mul,
        Op::Tuple => {
            inst.op = Op::Mov;
            inst.srcs.truncate(1);
        }
        _ => {}
    }
    inst.ty = Type::B32;
}

/// Whether the low word of a result is a simpler operation of words.
fn follows_from_words(inst: &Inst) -> bool {
    inst.op == Op::MulWide && inst.guard.is_none() || shifts_down(inst).is_some()
}

/// Whether the low word of a 64-bit result follows from the low words of the operands.
fn passes_words(inst: &Inst) -> bool {
    let operation = match inst.op {
        Op::Add | Op::Sub | Op::Mul | Op::Mad | Op::And | Op::AndNot | Op::Or | Op::Xor | Op::Not => true,
        Op::Mov | Op::Sel | Op::Phi | Op::Tuple | Op::Undef => true,
        Op::Shl => matches!(inst.srcs[1], Operand::Immediate(0..32)),
        _ => false,
    };
    operation && inst.ty == Type::B64 && inst.guard.is_none() && !inst.mods.saturate
}

/// By how much an instruction shifts a register of two words right.
fn shifts_down(inst: &Inst) -> Option<u32> {
    let shifts = inst.op == Op::Shr && matches!(inst.ty, Type::S64 | Type::U64) && inst.guard.is_none();
    match (inst.srcs.first()?.as_virt(), inst.srcs.get(1)?) {
        (Some(_), Operand::Immediate(by @ 0..64)) if shifts => Some(*by),
        _ => None,
    }
}

/// The words of a register of two.
fn halves(op: Operand) -> (Operand, Operand) {
    (op, op.as_virt().map_or(op, |(r, word)| Operand::virt_word(r, word + 1)))
}

/// Which words of each register something needs.
fn demanded_words(function: &Function) -> SecondaryMap<VReg, u8> {
    let definitions = Definitions::new(function);
    let mut demand = Demand { words: SecondaryMap::with_capacity(function.vregs.len()), work: Vec::new() };
    for inst in
        function.layout.iter().flat_map(|b| &function.blocks[*b].insts).filter(|i| !passes_words(i) && !follows_from_words(i))
    {
        liveness::for_each_use(inst, |r, mask| demand.add(r, mask));
        if inst.op == Op::Phi {
            let words = inst.ty.words();
            inst.srcs.iter().filter_map(|s| s.as_virt()).for_each(|(r, w)| demand.add(r, liveness::word_mask(w, words)));
        }
    }
    while let Some(r) = demand.work.pop() {
        let mask = demand.words[r];
        let Some(inst) = definitions.of(function, Operand::virt(r)) else { continue };
        if let (Some(by), Some((source, word))) = (shifts_down(inst), inst.srcs.first().and_then(|s| s.as_virt())) {
            demand.add(source, (if by < 32 { 3 } else { 2 }) << word);
            continue;
        }
        if !passes_words(inst) {
            if inst.op == Op::MulWide {
                liveness::for_each_use(inst, |r, mask| demand.add(r, mask));
            }
            continue;
        }
        // Carries go upward only.
        let carried = if mask & 2 != 0 { 3 } else { mask };
        for (i, s) in inst.srcs.iter().enumerate() {
            let Some((source, word)) = s.as_virt() else { continue };
            let words = match (inst.op, i) {
                (Op::Add | Op::Sub | Op::Mul | Op::Mad, _) | (Op::Shl, 0) => carried,
                (Op::Sel, 0) | (Op::Shl, _) => 1,
                (Op::Tuple, _) => mask >> i & 1,
                _ => mask,
            };
            demand.add(source, words << word);
        }
    }
    demand.words
}

/// The words demanded so far, and the registers of which more are than was passed on.
struct Demand {
    words: SecondaryMap<VReg, u8>,
    work: Vec<VReg>,
}

impl Demand {
    fn add(&mut self, reg: VReg, words: u8) {
        if words & !self.words[reg] != 0 {
            self.words[reg] |= words;
            self.work.push(reg);
        }
    }
}
