//! Loads and image reads give only the words that something reads.
//!
//! # Problem
//! A texel has four channels, and most programs that read images of one channel use its first; a vector that is loaded
//! whole may have elements that nothing uses. What nothing reads would still be written to a register file, would take
//! registers of a tuple, and whatever gets such a register next would wait for the load.
//!
//! # Algorithm
//! One pass over all uses says which words of each register are read; all words of phis' and tuples' operands are.
//! A `sample` of which one or two channels are read gives just these (its immediate has a mask, as the `dmask` of AMD's
//! image instructions); a load of which the read words are one, or an aligned pair, loads these from their place. The
//! words get new numbers everywhere, in what debuggers know of variables too: there a variable of which words went is
//! lost.
//!
//! Left alone are instructions with guards, volatile and atomic loads (`.cv`), loads of surfaces, whose immediate is no
//! number of bytes, and all of code that is compiled with `-O0` or for checks that look at what the program
//! reads.
//!
//! May touch: SSA form only; loads and samples, classes of what they define, and the operands that name that.

use cranelift_entity::SecondaryMap;

use super::context::Context;
use super::{CodegenError, bindings};
use heddle_isa::{AddressMode, CachePolicy, ImageAccess, Inst, Op, Operand, Type, VReg};
use heddle_mir::{Function, liveness};

/// Trims loads and image reads.
pub fn run(function: &mut Function, _: &mut Context) -> Result<(), CodegenError> {
    let read = read_words(function);
    // Of a register that becomes narrower the words that stay.
    let mut kept: SecondaryMap<VReg, u8> = SecondaryMap::with_capacity(function.vregs.len());
    for &block in &function.layout {
        for inst in &mut function.blocks[block].insts {
            let Some((reg, 0)) = inst.dst.as_virt() else { continue };
            let (words, all) = (read[reg], function.vregs[reg].words);
            if words.count_ones() < u32::from(all) && inst.dst_words() == all && trim(inst, words) {
                kept[reg] = words;
                function.vregs[reg].words = inst.dst_words();
            }
        }
    }
    if kept.values().any(|words| *words != 0) {
        renumber(function, &kept);
    }
    Ok(())
}

/// Which words of each register something reads.
fn read_words(function: &Function) -> SecondaryMap<VReg, u8> {
    let mut read: SecondaryMap<VReg, u8> = SecondaryMap::with_capacity(function.vregs.len());
    for inst in function.layout.iter().flat_map(|b| &function.blocks[*b].insts) {
        liveness::for_each_use(inst, |reg, words| read[reg] |= words);
        if inst.op == Op::Phi {
            let words = inst.ty.words();
            inst.srcs.iter().filter_map(|s| s.as_virt()).for_each(|(reg, w)| read[reg] |= liveness::word_mask(w, words));
        }
    }
    read
}

/// Makes a load or an image read give some of its words only. Whether that can be.
fn trim(inst: &mut Inst, words: u8) -> bool {
    if inst.guard.is_some() || !matches!(words.count_ones(), 1 | 2) {
        return false;
    }
    match inst.op {
        Op::Sample => {
            let all = ImageAccess::from_immediate(inst.imm).filter(|access| access.channels == 0xf);
            all.map(|access| inst.imm = ImageAccess { channels: words, ..access }.immediate()).is_some()
        }
        // `volatile` accesses are made as they are written.
        Op::Load | Op::LoadUniform if inst.mods.address != AddressMode::Surface && inst.mods.cache != CachePolicy::Cv => {
            let first = words.trailing_zeros();
            let place = i32::try_from(4 * first).ok().and_then(|bytes| inst.imm.checked_add(bytes));
            let ty = match words >> first {
                1 => Type::B32,
                3 if first % 2 == 0 => Type::B64,
                _ => return false,
            };
            let Some(place) = place else { return false };
            (inst.ty, inst.imm) = (ty, place);
            true
        }
        _ => false,
    }
}

/// Names the words of registers that have lost some by their new numbers.
fn renumber(function: &mut Function, kept: &SecondaryMap<VReg, u8>) {
    let renamed = |op: Operand| match op.as_virt() {
        Some((reg, word)) if kept[reg] != 0 => {
            let before = kept[reg] & ((1 << word) - 1);
            Operand::virt_word(reg, before.count_ones() as u8)
        }
        _ => op,
    };
    // By the old numbers.
    bindings::resolve(function);
    for &block in &function.layout {
        for inst in &mut function.blocks[block].insts {
            inst.srcs.iter_mut().for_each(|source| *source = renamed(*source));
        }
    }
    if let Some(variables) = &mut function.variables {
        variables.rewrite(|op| match op.as_virt() {
            Some((reg, word)) if kept[reg] != 0 && kept[reg] >> word & 1 == 0 => Operand::None,
            _ => renamed(op),
        });
    }
}
