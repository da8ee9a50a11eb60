//! u marks: vector instructions that the scalar unit executes once for all active lanes (S5, S6).
//!
//! A conditionally uniform value has two forms. In S it costs one scalar instruction, and vector instructions
//! read it as they read any source; that is what selection chooses. Where it must lie in lane registers all
//! the same (an input of a phi at a divergent join or loop exit, a word of a tuple, a spilled scalar), the
//! u-marked form writes them directly.
//!
//! # Cost rule
//! Both forms take one issue of the scalar unit and spend one lane's energy, where an unmarked instruction
//! takes a cluster's slot and the energy of all active lanes. So (1) an instruction whose one use is a copy
//! from S to lanes writes the lanes itself, which saves the copy; (2) any instruction that the scalar unit
//! has and whose sources are all uniform is marked, but for loads of a function in which selection has put uniform
//! loads into lanes.
//!
//! Marks are right by construction: a source that is scalar, constant or immediate is the same in all lanes
//! (S8 checks it at run time).
//!
//! May touch: the u bit, and copies from scalar to vector registers.

use cranelift_entity::SecondaryMap;

use super::CodegenError;
use super::context::Context;
use heddle_isa::{CachePolicy, Guard, Inst, MemorySpace, Op, Operand, Reg, SourceLoc, Space, VReg};
use heddle_mir::{Bank, Form, Function};

/// Folds copies and marks instructions over virtual registers, before clusters are assigned.
pub fn run(function: &mut Function, _: &mut Context) -> Result<(), CodegenError> {
    fold_copies(function);
    mark(function);
    Ok(())
}

/// Whether an operand is the same in all lanes.
fn is_uniform(function: &Function, op: Operand) -> bool {
    match op.as_virt() {
        Some((reg, _)) => function.vregs[reg].bank == Bank::Scalar,
        None => op.is_uniform_physical(),
    }
}

/// Marks every instruction of the scalar unit that writes lanes from uniform sources. Works on virtual and
/// physical registers.
pub fn mark(function: &mut Function) {
    for position in 0..function.layout.len() {
        let block = function.layout[position];
        let mut insts = std::mem::take(&mut function.blocks[block].insts);
        for inst in &mut insts {
            let flags = inst.info().flags;
            let writes_lanes = match inst.dst {
                Operand::Reg(Reg::Virtual { reg, .. }) => function.vregs[reg].bank != Bank::Scalar,
                Operand::Reg(Reg::Physical(p)) => p.space != Space::Scalar,
                _ => false,
            };
            // One address of private memory is another place in every lane; volatile accesses happen once a lane.
            // A place on a surface goes by the work-item's ids, which are no operands.
            let per_lane = matches!(inst.op, Op::Load | Op::LoadUniform)
                && (function.loads_in_lanes
                    || inst.mods.space == Some(MemorySpace::Private)
                    || inst.mods.cache == CachePolicy::Cv
                    || inst.mods.address == heddle_isa::AddressMode::Surface);
            if flags.scalar && writes_lanes && !flags.pseudo && !flags.convergent && !per_lane {
                inst.uniform |= inst.srcs.iter().all(|s| is_uniform(function, *s));
            }
        }
        function.blocks[block].insts = insts;
    }
    debug_assert!(function.form != Form::Ssa);
}

/// `s = op …; …; m = mov s` with no other use of s becomes `m = op.u …`.
fn fold_copies(function: &mut Function) {
    let mut definitions: SecondaryMap<VReg, u32> = SecondaryMap::with_capacity(function.vregs.len());
    let mut uses: SecondaryMap<VReg, u32> = SecondaryMap::with_capacity(function.vregs.len());
    for inst in function.layout.iter().flat_map(|b| &function.blocks[*b].insts) {
        if let Some((r, _)) = inst.dst.as_virt() {
            definitions[r] += 1;
        }
        each_read(inst, |r| uses[r] += 1);
    }
    let mut last_mention: SecondaryMap<VReg, usize> = SecondaryMap::with_capacity(function.vregs.len());
    let mut defined_at: SecondaryMap<VReg, usize> = SecondaryMap::with_capacity(function.vregs.len());
    for position in 0..function.layout.len() {
        let block = function.layout[position];
        let mut insts = std::mem::take(&mut function.blocks[block].insts);
        // Positions count from 1; 0 is no mention in this block.
        last_mention.clear();
        defined_at.clear();
        let mut dead = Vec::new();
        for i in 0..insts.len() {
            if let Some(at) = foldable(function, &insts, i, &definitions, &uses, &defined_at, &last_mention) {
                let (dst, loc) = (insts[i].dst, insts[i].loc);
                let definition = &mut insts[at];
                definition.dst = dst;
                definition.uniform = true;
                if definition.loc.line == 0 {
                    definition.loc = SourceLoc { point: definition.loc.point, ..loc };
                }
                dead.push(i);
            }
            let inst = &insts[i];
            each_read(inst, |r| last_mention[r] = i + 1);
            if let Some((r, _)) = inst.dst.as_virt() {
                last_mention[r] = i + 1;
                defined_at[r] = i + 1;
            }
        }
        let mut i = 0;
        insts.retain(|_| {
            i += 1;
            !dead.contains(&(i - 1))
        });
        function.blocks[block].insts = insts;
    }
}

/// The position of the definition that instruction `i`, a copy from S to lanes, can be folded into.
fn foldable(
    function: &Function,
    insts: &[Inst],
    i: usize,
    definitions: &SecondaryMap<VReg, u32>,
    uses: &SecondaryMap<VReg, u32>,
    defined_at: &SecondaryMap<VReg, usize>,
    last_mention: &SecondaryMap<VReg, usize>,
) -> Option<usize> {
    let copy = &insts[i];
    if copy.op != Op::Mov || copy.guard.is_some() {
        return None;
    }
    let ((to, _), (from, word)) = (copy.dst.as_virt()?, copy.srcs[0].as_virt()?);
    let (to_class, from_class) = (function.vregs[to], function.vregs[from]);
    if to_class.bank != Bank::Vector || from_class.bank != Bank::Scalar || word != 0 || definitions[from] != 1 || uses[from] != 1
    {
        return None;
    }
    let at = defined_at[from].checked_sub(1)?;
    let definition = &insts[at];
    let flags = definition.info().flags;
    // Nothing may read or write the destination in between; whole registers only.
    let free = last_mention[to] < at + 1;
    let fits = flags.scalar
        && !flags.convergent
        && !flags.pseudo
        && definition.guard.is_none()
        && definition.dst_words() == copy.dst_words()
        && from_class.words == copy.dst_words()
        && definition.op != Op::Cmp;
    (free && fits).then_some(at)
}

fn each_read(inst: &Inst, mut f: impl FnMut(VReg)) {
    for s in &inst.srcs {
        if let Some((r, _)) = s.as_virt() {
            f(r);
        }
    }
    if let Some(Guard { reg: Reg::Virtual { reg, .. }, .. }) = inst.guard {
        f(reg);
    }
}
