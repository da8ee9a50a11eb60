//! Which registers decide what a loop does: a backward slice of the blocks that it executes (Weiser, "Program slicing", 1981).
//!
//! A register matters if it reaches a branch, a guard, an address or data that leaves the registers. A counter that nothing
//! in the loop asks for does not matter, whatever is done with it afterwards. The slice takes no order into account: a
//! register matters at any place of the blocks if it does at one.

use crate::program::Program;
use heddle_isa::{Guard, Inst, Operand, Reg, Space, Special};

/// The registers that matter, by what holds them.
#[derive(Clone, Debug, Default)]
pub struct Slice {
    /// Rows of the register file.
    pub rows: Vec<u16>,
    /// Predicate registers.
    pub predicates: u16,
    /// The clock matters: no two moments are alike.
    pub clock: bool,
    /// Loads whose value matters, and atomics: instructions.
    pub loads: Vec<u32>,
}

/// A set of rows and, behind them, predicate registers.
struct Matters {
    set: Vec<bool>,
    rows: usize,
}

impl Matters {
    /// The places of a source or destination operand of so many words.
    fn places(&self, operand: Operand, row: u16, words: u8) -> std::ops::Range<usize> {
        match operand {
            Operand::Reg(Reg::Physical(p)) if p.space == Space::Predicate => {
                let at = self.rows + usize::from(p.index & 15);
                at..at + 1
            }
            Operand::Reg(_) | Operand::Special(_) => usize::from(row)..usize::from(row) + usize::from(words.max(1)),
            _ => 0..0,
        }
    }

    fn any(&self, places: std::ops::Range<usize>) -> bool {
        self.set.get(places).is_some_and(|s| s.iter().any(|m| *m))
    }

    /// What an instruction reads matters. Returns whether that is new.
    fn add_sources(&mut self, inst: &Inst, rows: &[u16; 4]) -> bool {
        let mut new = false;
        let mut add = |set: &mut Vec<bool>, places: std::ops::Range<usize>| {
            for place in set.get_mut(places).unwrap_or_default() {
                new |= !std::mem::replace(place, true);
            }
        };
        for (i, source) in inst.srcs.iter().enumerate() {
            let places = self.places(*source, rows[i + 1], inst.src_words(i));
            add(&mut self.set, places);
        }
        if let Some(Guard { reg: Reg::Physical(p), .. }) = inst.guard {
            let at = self.rows + usize::from(p.index & 15);
            add(&mut self.set, at..at + 1);
        }
        new
    }
}

/// The slice of some blocks.
pub fn slice(program: &Program, blocks: &[u32]) -> Slice {
    let rows = usize::from(program.rows.total) + 4;
    let mut matters = Matters { set: vec![false; rows + 16], rows };
    let instructions = || {
        blocks.iter().flat_map(|b| {
            let block = &program.blocks[*b as usize];
            (block.first..block.first + block.len()).map(|i| i as usize)
        })
    };
    for i in instructions() {
        let inst = &program.insts[i];
        if inst.info().flags.terminator || inst.info().flags.side_effect || inst.is_memory() {
            matters.add_sources(inst, &program.operands[i]);
        }
    }
    loop {
        let mut new = false;
        for i in instructions() {
            let (inst, operands) = (&program.insts[i], &program.operands[i]);
            if inst.dst.is_some() && matters.any(matters.places(inst.dst, operands[0], inst.dst_words())) {
                new |= matters.add_sources(inst, operands);
            }
        }
        if !new {
            break;
        }
    }
    let clock = program.rows.specials.iter().find(|(s, _)| *s == Special::ClockLow);
    let reads = |i: &usize| {
        let inst = &program.insts[*i];
        let matters = || matters.any(matters.places(inst.dst, program.operands[*i][0], inst.dst_words()));
        inst.info().flags.load && inst.dst.is_some() && matters()
    };
    Slice {
        rows: (0..rows).filter(|r| matters.set[*r]).map(|r| r as u16).collect(),
        predicates: (0..16).filter(|p| matters.set[rows + p]).fold(0, |all, p| all | 1 << p),
        clock: clock.is_some_and(|(_, row)| matters.set[usize::from(*row)]),
        loads: instructions().filter(reads).map(|i| i as u32).collect(),
    }
}
