//! SSA clean-up: copy propagation and dead code elimination.
//!
//! A `mov` of a register within one bank, or of an immediate into operands that take one, is replaced at its
//! uses; what nothing uses and has no effect goes away. One pass over the blocks for each; dead code by mark
//! and sweep. Linear.
//!
//! May touch: SSA form only, and no instruction with an effect.

use cranelift_entity::SecondaryMap;

use super::context::Context;
use super::{CodegenError, bindings};
use heddle_isa::{Inst, Op, Operand, VReg};
use heddle_mir::{Block, Function, liveness};

/// Runs copy propagation and dead code elimination.
pub fn run(function: &mut Function, _: &mut Context) -> Result<(), CodegenError> {
    bindings::resolve(function);
    propagate_copies(function);
    eliminate_dead_code(function);
    Ok(())
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
            if let Some(g) = &mut inst.guard
                && let Operand::Reg(r) = resolve(&map, Operand::Reg(g.reg))
            {
                g.reg = r;
            }
        }
    }
}

/// A wider operand must start at a multiple of its width, so that it is an aligned tuple after allocation (C12).
fn aligned(inst: &Inst, i: usize, operand: Operand) -> bool {
    let words = inst.src_words(i).max(1);
    operand.as_virt().is_none_or(|(_, w)| w % words == 0)
}

/// Removes instructions whose result nothing that has an effect depends on, cycles of phis included: marks
/// from the effects, sweeps the rest.
pub fn eliminate_dead_code(function: &mut Function) {
    let mut needed: SecondaryMap<VReg, bool> = SecondaryMap::new();
    needed.resize(function.vregs.len());
    let mut definitions: SecondaryMap<VReg, Option<(Block, u32)>> = SecondaryMap::new();
    definitions.resize(function.vregs.len());
    let mut work: Vec<VReg> = Vec::new();
    let mut need = |inst: &Inst, work: &mut Vec<VReg>| {
        let mut mark = |r: VReg| {
            if !std::mem::replace(&mut needed[r], true) {
                work.push(r);
            }
        };
        liveness::for_each_use(inst, |r, _| mark(r));
        if inst.op == Op::Phi {
            inst.srcs.iter().filter_map(|s| s.as_virt()).for_each(|(r, _)| mark(r));
        }
    };
    for block in &function.layout {
        for (i, inst) in function.blocks[*block].insts.iter().enumerate() {
            if let Some((r, _)) = inst.dst.as_virt() {
                definitions[r] = Some((*block, i as u32));
            }
            if has_effect(inst) {
                need(inst, &mut work);
            }
        }
    }
    while let Some(r) = work.pop() {
        if let Some((block, i)) = definitions[r] {
            need(&function.blocks[block].insts[i as usize], &mut work);
        }
    }
    for block in &function.layout {
        function.blocks[*block].insts.retain_mut(|inst| {
            let unread = inst.dst.as_virt().is_some_and(|(r, _)| !needed[r]);
            if inst.op == Op::Atomic && unread {
                inst.dst = Operand::None;
            }
            has_effect(inst) || !unread
        });
    }
}

/// Whether an instruction does more than write its destination.
fn has_effect(inst: &Inst) -> bool {
    let flags = inst.info().flags;
    flags.side_effect || flags.terminator || flags.store
}

#[cfg(test)]
mod tests {
    use super::super::context::Context;
    use super::super::{CodegenOptions, testing};
    use heddle_mir::{parse, print};

    #[test]
    fn dead_phi_circles_and_copies_go() {
        let text = "kernel @k stage ssa local 0 private 0 {\n registers v1 v1 v1 v1 v1 s1 v1\nbb0: frequency 1\n mov.b32 %0, gid.x\n \
                    mov.b32 %4, %0\nbb1: frequency 1\n phi.b32 %1, [%0, bb0], [%2, bb1]\n phi.b32 %6, [%4, bb0], [%6, bb1]\n \
                    add.b32 %2, %1, 1\n bras %5, bb1\nbb2: frequency 1\n add.b32 %3, %4, 3\n st.local.b32 [u32 %3], %6\n exit\n}\n";
        let mut module = parse::parse_module(text).unwrap();
        let (options, machine) = (CodegenOptions::default(), testing::machine(32, 16, 7));
        let function = &mut module.functions[0];
        let mut context = Context::new(function, &machine, &options);
        super::run(function, &mut context).unwrap();
        let out = print::print_module(&module);
        assert!(!out.contains("%1") && !out.contains("%2") && !out.contains("%4"), "{out}");
        assert!(out.contains("add.b32 %3, %0, 3"), "{out}");
    }
}
