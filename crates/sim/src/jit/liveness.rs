//! Which rows and predicates an instruction reads and writes, and which a warp still needs at a block.
//!
//! Liveness is the usual backward data flow over blocks (Aho, Lam, Sethi and Ullman, *Compilers*, 9.2.5). A
//! definition in a divergent region ends no life: the lanes of the other side come by later, with the
//! registers as they were. Nor does one under a guard.

use crate::program::{BasicBlock, End, Program};
use heddle_isa::{Guard, Inst, Operand, Reg, Space};

/// A row or a predicate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Name {
    Row(u16),
    Predicate(u8),
}

/// Rows of an operand, or its predicate.
fn names(operand: Operand, row: u16, words: u8) -> impl Iterator<Item = Name> {
    let predicate = operand.as_phys().filter(|p| p.space == Space::Predicate).map(|p| Name::Predicate(p.index & 15));
    let words = if predicate.is_some() { 0 } else { u16::from(words.max(1)) };
    predicate.into_iter().chain((0..words).map(move |w| Name::Row(row + w)))
}

/// What an instruction reads.
fn reads(inst: &Inst, operands: [u16; 4]) -> impl Iterator<Item = Name> {
    let guard = match inst.guard {
        Some(Guard { reg: Reg::Physical(p), .. }) => Some(Name::Predicate(p.index & 15)),
        _ => None,
    };
    let sources = inst.srcs.iter().enumerate().flat_map(move |(i, s)| names(*s, operands[i + 1], inst.src_words(i)));
    // A surface's row stands where the offset would.
    let surface = inst.is_memory().then_some(Name::Row(operands[2]));
    guard.into_iter().chain(sources).chain(surface)
}

/// What an instruction writes. (A comparison writes one word of the scalar file.)
fn writes(inst: &Inst, operands: [u16; 4]) -> impl Iterator<Item = Name> {
    names(inst.dst, operands[0], inst.dst_words())
}

fn row(name: Name) -> Option<u16> {
    match name {
        Name::Row(row) => Some(row),
        Name::Predicate(_) => None,
    }
}

/// The rows that an instruction reads, each as often as it is named.
pub(super) fn read_rows(inst: &Inst, operands: [u16; 4]) -> impl Iterator<Item = u16> {
    reads(inst, operands).filter_map(row)
}

/// The rows that an instruction writes.
pub(super) fn written_rows(inst: &Inst, operands: [u16; 4]) -> impl Iterator<Item = u16> {
    writes(inst, operands).filter_map(row)
}

/// Rows and predicates that a program names.
pub(super) fn used(program: &Program) -> (Vec<bool>, [bool; 16]) {
    let mut used = Live::none(program);
    for (inst, operands) in program.insts.iter().zip(&program.operands) {
        reads(inst, *operands).chain(writes(inst, *operands)).for_each(|n| *used.of(n) = true);
    }
    (used.rows, used.predicates)
}

/// A set of rows and predicates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Live {
    /// By row.
    pub rows: Vec<bool>,
    /// By number.
    pub predicates: [bool; 16],
}

impl Live {
    pub(super) fn none(program: &Program) -> Live {
        Live { rows: vec![false; usize::from(program.rows.total)], predicates: [false; 16] }
    }

    fn of(&mut self, name: Name) -> &mut bool {
        match name {
            Name::Row(r) => &mut self.rows[usize::from(r)],
            Name::Predicate(p) => &mut self.predicates[usize::from(p & 15)],
        }
    }

    /// Adds another set. Returns whether that changed anything.
    pub(super) fn add(&mut self, other: &Live) -> bool {
        let mut changed = false;
        let own = self.rows.iter_mut().chain(&mut self.predicates);
        for (a, b) in own.zip(other.rows.iter().chain(&other.predicates)) {
            changed |= *b && !*a;
            *a |= *b;
        }
        changed
    }

    /// From the end of an instruction to its start.
    fn step_back(&mut self, inst: &Inst, operands: [u16; 4], divergent: bool) {
        if !divergent && inst.guard.is_none() {
            writes(inst, operands).for_each(|n| *self.of(n) = false);
        }
        reads(inst, operands).for_each(|n| *self.of(n) = true);
    }
}

/// What is live at a block's end, before the instruction that ends it. `live`: where blocks begin.
pub(super) fn live_at_end(program: &Program, live: &[Live], block: usize) -> Live {
    let BasicBlock { first, body, end } = program.blocks[block];
    let mut now = live_behind(program, live, block, end);
    if end != End::Fall {
        let last = (first + body) as usize;
        reads(&program.insts[last], program.operands[last]).for_each(|n| *now.of(n) = true);
    }
    now
}

/// What is live where the blocks begin that come behind one.
fn live_behind(program: &Program, live: &[Live], block: usize, end: End) -> Live {
    let next = Some(block as u32 + 1);
    let after = match end {
        End::Fall | End::Barrier => [next, None],
        End::Jump(target) => [Some(target), None],
        End::Scalar { target, .. } | End::Divergent { target, .. } => [next, Some(target)],
        End::Exit | End::Trap => [None; 2],
    };
    let mut now = Live::none(program);
    for successor in after.into_iter().flatten().filter_map(|s| live.get(s as usize)) {
        now.add(successor);
    }
    now
}

/// By block: what is live where it begins. `divergent`: blocks of divergent regions.
pub(super) fn live_in(program: &Program, divergent: &[bool]) -> Vec<Live> {
    let mut live = vec![Live::none(program); program.blocks.len()];
    let mut changed = true;
    while changed {
        changed = false;
        for (b, block) in program.blocks.iter().enumerate().rev() {
            let mut now = live_behind(program, &live, b, block.end);
            for i in (block.first..block.first + block.len()).rev() {
                now.step_back(&program.insts[i as usize], program.operands[i as usize], divergent[b]);
            }
            changed |= live[b].add(&now);
        }
    }
    live
}
