//! Final clean-up of allocated code and its register usage.
//!
//! Copies onto themselves, copies of what is there already ([`copies`]) and branches to the next block go away; branches to blocks
//! that only branch on go straight to the end; blocks that other stages added get their place, and scalar branches are turned for
//! it. Divergent branches keep their sides: which runs first decides what scalar registers must survive (hazard 1).
//!
//! May touch: allocated code, without moving any value to another register.

mod copies;

use super::context::Context;
use super::{CodegenError, FunctionStats, marks, place};
use cranelift_entity::SecondaryMap;

use heddle_isa::{Inst, Op, Operand, PhysReg, Reg, Space, Targets};
use heddle_mir::{Block, Function};

/// Removes what does nothing, counts what is left, and marks what allocation added.
pub fn run(function: &mut Function, context: &mut Context) -> Result<(), CodegenError> {
    tidy(function, &mut context.stats);
    if !context.options.no_marks {
        // Spilled scalars and recomputed constants are uniform too.
        marks::mark(function);
    }
    Ok(())
}

/// Removes what does nothing and counts what is left.
fn tidy(function: &mut Function, stats: &mut FunctionStats) {
    for block in function.layout.clone() {
        function.blocks[block].insts.retain(|i| !(i.op == Op::Mov && i.dst == i.srcs[0]) && i.op != Op::Nop);
    }
    copies::remove(function);
    place::order(function);
    thread_jumps(function);
    for (block, next) in place::with_next(function) {
        let turns = |branch: &Inst, jump: &Inst| {
            let [to, other] = [branch, jump].map(|i| i.blocks().first().copied());
            let (Some(to), Some(other)) = (to, other) else { return false };
            let uniform = branch.op == Op::BraScalar && jump.op == Op::Bra && jump.guard.is_none();
            uniform && Some(other) != next && place::is_better_target(function, other, to, next)
        };
        let turns = matches!(&function.blocks[block].insts[..], [.., branch, jump] if turns(branch, jump));
        let insts = &mut function.blocks[block].insts;
        if turns && let [.., branch, jump] = &mut insts[..] {
            place::swap_sides(branch, jump);
        }
        if insts.last().is_some_and(|i| i.op == Op::Bra && i.guard.is_none() && i.blocks().first().copied() == next) {
            insts.pop();
        }
        stats.instructions += insts.len();
        stats.copies +=
            insts.iter().filter(|i| i.op == Op::Mov && matches!((i.dst, i.srcs[0]), (Operand::Reg(_), Operand::Reg(_)))).count();
    }
}

/// Branches to a block that only branches on take its target; such blocks go away where nothing falls into them.
fn thread_jumps(function: &mut Function) {
    let mut onward: SecondaryMap<Block, Option<Block>> = SecondaryMap::new();
    for block in &function.layout {
        if let [only] = &function.blocks[*block].insts[..]
            && only.op == Op::Bra
            && only.blocks().first() != Some(block)
        {
            onward[*block] = only.blocks().first().copied();
        }
    }
    // A reconvergence block stays: lanes that jumped past it would not meet the others there.
    for block in &function.layout {
        for inst in &function.blocks[*block].insts {
            if inst.op == Op::BraDivergent
                && let Some(j) = inst.blocks().get(1)
            {
                onward[*j] = None;
            }
        }
    }
    // Chains are short; a cycle of empty blocks is an endless loop and stays one.
    let end = |mut b: Block| {
        for _ in 0..16 {
            match onward[b] {
                Some(next) => b = next,
                None => break,
            }
        }
        b
    };
    let mut targeted: SecondaryMap<Block, bool> = SecondaryMap::new();
    for block in &function.layout {
        for inst in &mut function.blocks[*block].insts {
            if let Targets::Blocks(targets) = &mut inst.targets {
                if let Some(first) = targets.first_mut() {
                    *first = end(*first);
                }
                targets.iter().for_each(|t| targeted[*t] = true);
            }
        }
    }
    let layout = std::mem::take(&mut function.layout);
    for (position, block) in layout.iter().enumerate() {
        let fallen_into = position == 0 || {
            let before = function.blocks[layout[position - 1]].insts.last();
            !before.is_some_and(|i| matches!(i.op, Op::Bra | Op::Exit | Op::Trap))
        };
        if onward[*block].is_none() || targeted[*block] || fallen_into {
            function.layout.push(*block);
        }
    }
}

/// Registers an allocated function names, by file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RegisterUsage {
    /// Main vector registers.
    pub main: u32,
    /// Local registers, per cluster.
    pub local: Vec<u32>,
    /// Scalar registers.
    pub scalar: u32,
    /// Predicate registers.
    pub predicate: u32,
}

/// Counts the registers an allocated function names, on a machine of `clusters` clusters.
pub fn register_usage(function: &Function, clusters: usize) -> RegisterUsage {
    let mut usage = RegisterUsage { local: vec![0; clusters], ..Default::default() };
    for block in &function.layout {
        for inst in &function.blocks[*block].insts {
            let mut see = |reg: PhysReg, words: u8| {
                let end = u32::from(reg.index) + u32::from(words.max(1));
                let count = match reg.space {
                    Space::Main => &mut usage.main,
                    Space::Scalar => &mut usage.scalar,
                    Space::Predicate => &mut usage.predicate,
                    Space::Local => match usage.local.get_mut(usize::from(inst.cluster)) {
                        Some(l) => l,
                        None => return,
                    },
                    _ => return,
                };
                *count = (*count).max(end);
            };
            if let Some(r) = inst.dst.as_phys() {
                see(r, inst.dst_words());
            }
            for (i, s) in inst.srcs.iter().enumerate() {
                if let Some(r) = s.as_phys() {
                    see(r, inst.src_words(i));
                }
            }
            if let Some(Reg::Physical(r)) = inst.guard.map(|g| g.reg) {
                see(r, 0);
            }
        }
    }
    usage
}
