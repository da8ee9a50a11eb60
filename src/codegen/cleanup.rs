//! SSA clean-up: copy propagation and dead code elimination.
//!
//! A `mov` of a register within one bank, or of an immediate into operands that take one, is replaced at its uses; what nothing uses and has no
//! effect goes away. One forward pass over blocks in layout order after a def table; dead code by a worklist. Linear.

use cranelift_entity::SecondaryMap;

use crate::isa::{Inst, Op, Operand, Role, VReg};
use crate::mir::{Bank, Function, liveness};

/// Runs copy propagation and dead code elimination.
pub fn run(function: &mut Function) {
    propagate_copies(function);
    eliminate_dead_code(function);
}

/// For each virtual register that is a plain copy, what it copies.
fn copies(function: &Function) -> SecondaryMap<VReg, Operand> {
    let mut map: SecondaryMap<VReg, Operand> = SecondaryMap::with_default(Operand::None);
    map.resize(function.vregs.len());
    for block in &function.layout {
        for inst in &function.blocks[*block].insts {
            if inst.op != Op::Mov || inst.guard.is_some() {
                continue;
            }
            let (Some((dst, 0)), Some((src, word))) = (inst.dst.as_virt(), inst.srcs[0].as_virt()) else { continue };
            if function.vregs[dst].bank == function.vregs[src].bank && function.vregs[dst].words == inst.ty.words() {
                map[dst] = Operand::virt_word(src, word);
            }
        }
    }
    map
}

fn resolve(map: &SecondaryMap<VReg, Operand>, operand: Operand) -> Operand {
    let mut current = operand;
    while let Some((reg, word)) = current.as_virt() {
        match map[reg].as_virt() {
            Some((source, base)) => current = Operand::virt_word(source, base + word),
            None => break,
        }
    }
    current
}

fn propagate_copies(function: &mut Function) {
    let map = copies(function);
    for block in &function.layout {
        for inst in &mut function.blocks[*block].insts {
            for i in 0..inst.srcs.len() {
                let new = resolve(&map, inst.srcs[i]);
                if new != inst.srcs[i] && aligned(inst, i, new) {
                    inst.srcs[i] = new;
                }
            }
            if let Some(g) = &mut inst.guard {
                if let Operand::Reg(r) = resolve(&map, Operand::Reg(g.reg)) {
                    g.reg = r;
                }
            }
        }
    }
}

/// A wider operand must start at a multiple of its width, so that it is an aligned tuple after allocation (C12).
fn aligned(inst: &Inst, i: usize, operand: Operand) -> bool {
    let words = inst.src_words(i).max(1);
    operand.as_virt().is_none_or(|(_, w)| w % words == 0)
}

/// Removes instructions whose result nothing reads and that have no effect.
pub fn eliminate_dead_code(function: &mut Function) {
    let mut uses: SecondaryMap<VReg, u32> = SecondaryMap::new();
    uses.resize(function.vregs.len());
    let count = |inst: &Inst, uses: &mut SecondaryMap<VReg, u32>, up: bool| {
        let mut change = |r: VReg| {
            let u = &mut uses[r];
            *u = if up { *u + 1 } else { *u - 1 };
        };
        liveness::for_each_use(inst, |r, _| change(r));
        if inst.op == Op::Phi {
            inst.srcs.iter().filter_map(|s| s.as_virt()).for_each(|(r, _)| change(r));
        }
    };
    for block in &function.layout {
        for inst in &function.blocks[*block].insts {
            count(inst, &mut uses, true);
        }
    }
    // A removal may make the inputs of earlier instructions dead; phis around loops may need another round.
    loop {
        let mut removed = false;
        for b in (0..function.layout.len()).rev() {
            let insts = &mut function.blocks[function.layout[b]].insts;
            let mut keep = vec![true; insts.len()];
            for (i, inst) in insts.iter_mut().enumerate().rev() {
                let flags = inst.info().flags;
                let dead_result = inst.dst.as_virt().is_some_and(|(r, _)| uses[r] == 0);
                if inst.op == Op::Atomic && dead_result {
                    inst.dst = Operand::None;
                } else if dead_result && !flags.side_effect && !flags.terminator && !flags.store {
                    count(inst, &mut uses, false);
                    keep[i] = false;
                    removed = true;
                }
            }
            let mut it = keep.iter();
            insts.retain(|_| *it.next().unwrap_or(&true));
        }
        if !removed {
            break;
        }
    }
}

/// Whether a source role takes a bare immediate.
pub fn takes_immediate(role: Role) -> bool {
    !matches!(role, Role::Base | Role::Offset | Role::ScalarCondition)
}

/// Whether a register is uniform by its bank.
pub fn is_scalar(function: &Function, reg: VReg) -> bool {
    function.vregs[reg].bank == Bank::Scalar
}
