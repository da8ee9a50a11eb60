//! Final clean-up of allocated code and its register usage.
//!
//! Copies onto themselves and branches to the next block go away.

use super::FunctionStats;
use crate::isa::{Op, Operand, PhysReg, Reg, Space};
use crate::mir::Function;

/// Removes what does nothing and counts what is left.
pub fn run(function: &mut Function, stats: &mut FunctionStats) {
    for position in 0..function.layout.len() {
        let next = function.layout.get(position + 1).copied();
        let insts = &mut function.blocks[function.layout[position]].insts;
        insts.retain(|i| !(i.op == Op::Mov && i.dst == i.srcs[0]) && i.op != Op::Nop);
        if insts.last().is_some_and(|i| i.op == Op::Bra && i.guard.is_none() && i.blocks().first().copied() == next) {
            insts.pop();
        }
        stats.instructions += insts.len();
        stats.copies +=
            insts.iter().filter(|i| i.op == Op::Mov && matches!((i.dst, i.srcs[0]), (Operand::Reg(_), Operand::Reg(_)))).count();
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
