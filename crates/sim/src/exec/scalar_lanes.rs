//! For which lanes of a warp a scalar register holds its value (checking mode, S8).
//!
//! A scalar register is one word for all lanes, so what the compiler keeps there has to be the same in all lanes that
//! read it. Where lanes of a warp run different iterations of a loop one after the other, or come to a place by different
//! ways, a value that is computed from equal operands each time still differs between them: the one that was written last
//! is not that of the lanes that were not active then. So each scalar register has the lanes for which it was last written,
//! and a read by another lane is a fault. Writing the value that is there already takes it from no lane.

use heddle_isa::{Inst, Operand, Space};

use super::{Decoded, Lanes, Row};
use crate::Simulation;
use crate::fault::FaultKind;
use crate::program::End;

/// The lanes of a warp's scalar registers.
#[derive(Clone, Debug)]
pub struct ScalarLanes {
    /// Row of the first scalar register.
    first: u16,
    words: Vec<Word>,
}

/// A word of a scalar register.
#[derive(Clone, Copy, Debug)]
struct Word {
    /// For which the value is theirs.
    lanes: u64,
    /// The active lanes of a write since, and what was there before it: a load may bring its value later.
    written: Option<(u64, u32)>,
}

impl Word {
    const OF_ALL: Word = Word { lanes: u64::MAX, written: None };

    /// The lanes whose value it is, now that it holds `value`.
    fn settle(&mut self, value: u32) -> u64 {
        if let Some((lanes, before)) = self.written.take() {
            self.lanes = if value == before { self.lanes | lanes } else { lanes };
        }
        self.lanes
    }
}

impl ScalarLanes {
    /// For a launch in which they are watched. Where lanes take turns ([`crate::turns`]), each path has scalar registers of its
    /// own, and nothing is watched.
    pub fn new(run: &Simulation, turns: bool) -> Option<Box<ScalarLanes>> {
        let program = run.launch.program;
        let count = program.header.scalar_registers as usize;
        let watched = run.options.check_marks && count > 0 && !turns;
        watched.then(|| Box::new(ScalarLanes { first: program.rows.scalar, words: vec![Word::OF_ALL; count] }))
    }

    /// A warp begins.
    pub fn clear(&mut self) {
        self.words.fill(Word::OF_ALL);
    }

    fn word<'a, const N: usize>(&'a mut self, rows: &[Row<N>], row: u16) -> Option<(&'a mut Word, u32)> {
        let word = self.words.get_mut(usize::from(row.checked_sub(self.first)?))?;
        Some((word, rows.get(usize::from(row))?.0[0]))
    }

    /// The active lanes write a row.
    fn write<const N: usize>(&mut self, rows: &[Row<N>], row: u16, active: u64) {
        if let Some((word, value)) = self.word(rows, row) {
            word.settle(value);
            word.written = Some((active, value));
        }
    }

    /// Those of `lanes` whose value a row is not, if it is a scalar register's.
    fn foreign<const N: usize>(&mut self, rows: &[Row<N>], row: u16, lanes: u64) -> u64 {
        self.word(rows, row).map_or(0, |(word, value)| lanes & !word.settle(value))
    }
}

/// An instruction is about to act, of which `rows` are destination and sources: a read of a scalar register by a lane for
/// which it was not written is a fault.
pub fn observe<const N: usize>(l: &mut Lanes<N>, d: &Decoded<N>, inst: &Inst, rows: &[u16; 4]) {
    // Scalar instructions act whatever their guard says.
    let active = if d.scalar { l.mask } else { l.active(d) };
    let Lanes { rows: file, scalar_lanes: Some(scalars), .. } = l else { return };
    let scalar = |o: &Operand| o.as_phys().filter(|p| p.space == Space::Scalar);
    let mut found = None;
    for (i, source) in inst.srcs.iter().enumerate() {
        let Some(register) = scalar(source) else { continue };
        for word in 0..u16::from(inst.src_words(i).max(1)) {
            let lanes = scalars.foreign(file, rows[i + 1] + word, active);
            if lanes != 0 {
                found.get_or_insert((u32::from(register.index) + u32::from(word), lanes.trailing_zeros()));
            }
        }
    }
    if scalar(&inst.dst).is_some() {
        for word in 0..u16::from(inst.dst_words().max(1)) {
            scalars.write(file, rows[0] + word, active);
        }
    }
    if let Some((register, lane)) = found {
        l.set_fault(FaultKind::ForeignScalar { register }, d, lane);
    }
}

/// The same of the instruction that ends a block, of which `index` is the number: a branch on a scalar register.
pub fn observe_end<const N: usize>(l: &mut Lanes<N>, end: End, index: u32) {
    let Lanes { rows: file, scalar_lanes: Some(scalars), mask, .. } = l else { return };
    let End::Scalar { condition, .. } = end else { return };
    let lanes = scalars.foreign(file, condition, *mask);
    if lanes != 0 {
        let register = u32::from(condition - scalars.first);
        l.fault.get_or_insert((FaultKind::ForeignScalar { register }, index, lanes.trailing_zeros()));
    }
}
