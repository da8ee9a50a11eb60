//! Constants that an instruction cannot have as its immediate become words of the constant bank.
//!
//! # Problem
//! An instruction has one immediate of 32 bits. Another constant beside it, and nearly every double, takes scalar
//! instructions that put it into registers: in each block that reads it, or, for loops, on entry, from where it lives
//! through the whole kernel. A polynomial's coefficients alone can be more than the scalar file holds.
//!
//! # Algorithm
//! A scalar register whose definition moves immediates into it, and whose readers could all name the constant bank
//! instead, is a literal. Literals are placed behind the arguments, until operands can name no more words
//! ([`CONSTANT_WORDS`]): those of two words before those of one, which take one instruction to be in a register, and of
//! them those first that are read most often, by the blocks' frequencies. Equal ones share their words. The driver fills
//! them in with the arguments. Published machines do the same: NVIDIA's compilers keep such constants in a constant bank of
//! their own.
//!
//! May touch: SSA form only; constants' definitions, operands that read them, and the function's literals.

use std::cmp::Reverse;

use cranelift_entity::SecondaryMap;

use super::CodegenError;
use super::context::Context;
use heddle_isa::surface::LaunchValue;
use heddle_isa::{Inst, Op, Operand, Reg, Type, VReg, rules};
use heddle_mir::{Bank, Function};
use heddle_object::metadata::{CONSTANT_WORDS, Literals};

/// A register that holds a constant.
#[derive(Clone, Default)]
struct Constant {
    words: Vec<u32>,
    /// How often something reads it, by the blocks' frequencies.
    reads: f32,
    /// Whether all that read it could name the constant bank.
    everywhere: bool,
}

/// Places literals. A function that has some has been here.
pub fn run(function: &mut Function, _: &mut Context) -> Result<(), CodegenError> {
    if !function.literals.is_empty() {
        return Ok(());
    }
    let mut constants = constants(function);
    count_reads(function, &mut constants);
    let mut order: Vec<VReg> = function.vregs.keys().filter(|r| constants[*r].everywhere && constants[*r].reads > 0.0).collect();
    if order.is_empty() {
        return Ok(());
    }
    order.sort_by_key(|r| (Reverse(constants[*r].words.len()), Reverse(ordered(constants[*r].reads))));
    function.literals.offset = begin(function);
    let mut places: SecondaryMap<VReg, Option<u8>> = SecondaryMap::with_capacity(function.vregs.len());
    for reg in order {
        places[reg] = place(&mut function.literals, &constants[reg].words);
    }
    for block in &function.layout {
        for inst in &mut function.blocks[*block].insts {
            name_literals(inst, &places);
        }
    }
    if let Some(variables) = &mut function.variables {
        variables.rewrite(|op| match op.as_virt() {
            Some((reg, word)) if places[reg].is_some() => {
                constants[reg].words.get(usize::from(word)).map_or(Operand::None, |v| Operand::Immediate(*v))
            }
            _ => op,
        });
    }
    remove_definitions(function, &places);
    Ok(())
}

/// Byte offset of the first literal: behind the arguments, and whatever else code names that declares none.
fn begin(function: &Function) -> u32 {
    let mut end = Literals::begin(&function.args);
    let mut see = |word: u8, words: u8| end = end.max(4 * (u32::from(word) + u32::from(words.max(1))));
    for inst in function.layout.iter().flat_map(|b| &function.blocks[*b].insts) {
        for (i, source) in inst.srcs.iter().enumerate() {
            if let Operand::Constant(word) = source {
                see(*word, inst.src_words(i));
            }
        }
    }
    let of_surfaces = function.surfaces.iter().flat_map(|s| s.strides.iter().chain([&s.base]));
    let expressions = of_surfaces.chain(function.working_sets.iter().flat_map(|w| &w.strides));
    for value in expressions.flat_map(|e| &e.terms).flat_map(|(_, factors)| factors) {
        if let LaunchValue::Constant(word) = value {
            see(*word, 1);
        }
    }
    end.saturating_add(7) & !7
}

/// A frequency as a number that sorts as it does.
fn ordered(frequency: f32) -> u32 {
    // Positive floats sort as their bits.
    frequency.max(0.0).to_bits()
}

/// The constant words that an instruction moves into a register, if it does nothing else.
fn moved_words(inst: &Inst) -> Option<Vec<u32>> {
    if inst.guard.is_some() || inst.neg | inst.abs != 0 {
        return None;
    }
    let word = |op: &Operand| match op {
        Operand::Immediate(v) => Some(*v),
        _ => None,
    };
    match (inst.op, inst.ty) {
        (Op::Mov, Type::B32) => Some(vec![word(&inst.srcs[0])?]),
        (Op::Tuple, Type::B64) => inst.srcs.iter().map(word).collect(),
        _ => None,
    }
}

/// The scalar registers that hold constants.
fn constants(function: &Function) -> SecondaryMap<VReg, Constant> {
    let mut constants: SecondaryMap<VReg, Constant> = SecondaryMap::with_capacity(function.vregs.len());
    for inst in function.layout.iter().flat_map(|b| &function.blocks[*b].insts) {
        let Some((reg, 0)) = inst.dst.as_virt() else { continue };
        if function.vregs[reg].bank == Bank::Scalar
            && let Some(words) = moved_words(inst)
        {
            constants[reg] = Constant { words, reads: 0.0, everywhere: true };
        }
    }
    constants
}

/// Finds out how often constants are read, and whether all readers could name the constant bank.
fn count_reads(function: &Function, constants: &mut SecondaryMap<VReg, Constant>) {
    for block in &function.layout {
        let data = &function.blocks[*block];
        for inst in &data.insts {
            for (i, source) in inst.srcs.iter().enumerate() {
                let Some((reg, word)) = source.as_virt() else { continue };
                let constant = &constants[reg];
                if !constant.everywhere {
                    continue;
                }
                let whole = word == 0 && usize::from(inst.src_words(i)) == constant.words.len();
                let fits = whole && could_name(function, inst, i);
                let constant = &mut constants[reg];
                constant.everywhere = fits;
                constant.reads += data.frequency;
            }
            if let Some(Reg::Virtual { reg, .. }) = inst.guard.map(|g| g.reg) {
                constants[reg].everywhere = false;
            }
        }
    }
}

/// Whether the constant bank could stand in a source's place.
fn could_name(function: &Function, inst: &Inst, source: usize) -> bool {
    let mut named = inst.clone();
    named.srcs[source] = Operand::Constant(0);
    rules::check(&named, Some(&function.vregs)).is_ok()
}

/// The first word of a literal in the constant bank, if there is room for it.
fn place(literals: &mut Literals, words: &[u32]) -> Option<u8> {
    let known = literals.words.windows(words.len()).position(|w| w == words);
    let at = known.unwrap_or(literals.words.len());
    let first = (literals.offset / 4).saturating_add(at as u32);
    if first.saturating_add(words.len() as u32) > CONSTANT_WORDS {
        return None;
    }
    if known.is_none() {
        literals.words.extend(words);
    }
    u8::try_from(first).ok()
}

/// Names literals where their registers were read.
fn name_literals(inst: &mut Inst, places: &SecondaryMap<VReg, Option<u8>>) {
    for source in &mut inst.srcs {
        if let Some((reg, _)) = source.as_virt()
            && let Some(word) = places[reg]
        {
            *source = Operand::Constant(word);
        }
    }
}

/// Removes the definitions of registers that have become literals.
fn remove_definitions(function: &mut Function, places: &SecondaryMap<VReg, Option<u8>>) {
    let Function { layout, blocks, .. } = function;
    for block in layout.iter() {
        blocks[*block].insts.retain(|i| i.dst.as_virt().is_none_or(|(reg, _)| places[reg].is_none()));
    }
}
