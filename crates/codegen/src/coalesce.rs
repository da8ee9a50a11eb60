//! Loop phis and their next values in one register.
//!
//! # Problem
//! `next = add i, 1` and the phi that takes it are two registers with a copy on the back edge. Colouring gives
//! both the same register where they do not meet; but the scheduler moves the addition up, past reads of the old
//! value, and then a copy stays, with a block of its own and a jump.
//!
//! # Algorithm
//! For each phi of a loop's header whose value from the latch is computed in the latch: if the phi is read
//! nowhere behind that computation (after it has moved down as far as its own readers allow), both become one
//! register, written twice. Dependences between its reads and writes then keep the scheduler from undoing it.
//!
//! The old value must not be read outside the loop or on the back edge. Then it is dead behind the computation on
//! every way: from the latch control goes to the header, where the new value is the phi, or out.
//!
//! Reference: Sreedhar, Ju, Gillies and Santhanam, "Translating out of static single assignment form" (SAS 1999),
//! for phis whose inputs do not interfere; aggressive here only where no copy can follow.
//!
//! May touch: order within latches; names of registers. Leaves SSA form, so it is the first part of `lower`.

use cranelift_entity::SecondaryMap;
use smallvec::SmallVec;

use super::loops::Loops;
use super::ssa::{Substitution, is_pure};
use heddle_isa::{Guard, Inst, Op, Operand, Reg, VReg};
use heddle_mir::cfg::Cfg;
use heddle_mir::{Block, Function};

/// A phi and the value that it takes from the latch.
struct Pair {
    phi: VReg,
    next: VReg,
    index: u32,
    latch: Block,
    /// Nothing has been found that reads the phi too late.
    fits: bool,
}

/// Gives phis and their next values one register where no copy is needed.
pub(super) fn run(function: &mut Function, cfg: &Cfg) {
    let loops = Loops::new(cfg);
    let mut pairs: Vec<Pair> = Vec::new();
    let mut by_phi: SecondaryMap<VReg, Option<u32>> = SecondaryMap::with_capacity(function.vregs.len());
    let mut taken: SecondaryMap<VReg, bool> = SecondaryMap::with_capacity(function.vregs.len());
    for (index, l) in (0u32..).zip(&loops.loops) {
        let latches: SmallVec<[Block; 2]> =
            cfg.edges[l.header].preds.iter().copied().filter(|p| loops.contains(index, *p)).collect();
        // In a block of an inner loop the old value would be read again.
        let Some(&latch) = latches.first().filter(|b| latches.len() == 1 && loops.innermost[**b] == Some(index)) else {
            continue;
        };
        let phis = function.blocks[l.header].insts.iter().take_while(|i| i.op == Op::Phi);
        for phi in phis {
            let next = phi.srcs.iter().zip(phi.blocks()).find(|(_, b)| **b == latch).and_then(|(s, _)| s.as_virt());
            let (Some((dst, 0)), Some((next, 0))) = (phi.dst.as_virt(), next) else { continue };
            if function.vregs[dst] == function.vregs[next] && !taken[next] && dst != next {
                taken[next] = true;
                by_phi[dst] = Some(pairs.len() as u32);
                pairs.push(Pair { phi: dst, next, index, latch, fits: true });
            }
        }
    }
    if pairs.is_empty() {
        return;
    }
    refuse_late_reads(function, &loops, &by_phi, &mut pairs);
    let mut renamed = Substitution::new(function);
    let mut any = false;
    for pair in pairs.iter().filter(|p| p.fits) {
        if moved_down(&mut function.blocks[pair.latch].insts, pair, &by_phi) {
            renamed.replace(pair.next, pair.phi);
            any = true;
        }
    }
    if !any {
        return;
    }
    renamed.apply(function);
    for block in function.layout.clone() {
        for inst in &mut function.blocks[block].insts {
            inst.dst = renamed.operand(inst.dst);
        }
    }
}

/// Refuses phis that are read outside of their loop or on its back edge.
fn refuse_late_reads(function: &Function, loops: &Loops, by_phi: &SecondaryMap<VReg, Option<u32>>, pairs: &mut [Pair]) {
    for &block in &function.layout {
        for inst in &function.blocks[block].insts {
            for (k, (reg, _)) in inst.srcs.iter().enumerate().filter_map(|(k, s)| Some((k, s.as_virt()?))) {
                let Some(pair) = by_phi[reg].map(|p| &mut pairs[p as usize]) else { continue };
                // A phi reads at the end of the block that its input comes from.
                let at = if inst.op == Op::Phi { inst.blocks().get(k).copied().unwrap_or(block) } else { block };
                pair.fits &= loops.contains(pair.index, at) && !(inst.op == Op::Phi && at == pair.latch);
            }
            if let Some((reg, _)) = inst.guard.and_then(|g| Operand::Reg(g.reg).as_virt())
                && let Some(pair) = by_phi[reg].map(|p| &mut pairs[p as usize])
            {
                pair.fits &= loops.contains(pair.index, block);
            }
        }
    }
}

/// Whether the next value is computed in the latch behind all reads of the phi, once it stands as low as its own
/// readers allow; then it does.
fn moved_down(insts: &mut Vec<Inst>, pair: &Pair, by_phi: &SecondaryMap<VReg, Option<u32>>) -> bool {
    let Some(at) = insts.iter().position(|i| i.dst == Operand::virt(pair.next)) else { return false };
    let inst = &insts[at];
    if inst.op == Op::Phi || inst.guard.is_some() {
        return false;
    }
    let last = insts.iter().rposition(|i| reads(i, pair.phi)).unwrap_or(0).max(at);
    if last == at {
        return true;
    }
    if !is_pure(inst) || insts[at + 1..=last].iter().any(|i| reads(i, pair.next)) || insts[last].info().flags.terminator {
        return false;
    }
    // It must not read another phi's old value behind that one's next.
    if inst.srcs.iter().filter_map(|s| s.as_virt()).any(|(r, _)| r != pair.phi && by_phi[r].is_some()) {
        return false;
    }
    let inst = insts.remove(at);
    insts.insert(last, inst);
    true
}

fn reads(inst: &Inst, reg: VReg) -> bool {
    let guard = matches!(inst.guard, Some(Guard { reg: Reg::Virtual { reg: r, .. }, .. }) if r == reg);
    guard || inst.op != Op::Phi && inst.srcs.iter().any(|s| s.as_virt().is_some_and(|(r, _)| r == reg))
}
