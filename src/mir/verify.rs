//! The verifier: what every MIR function must satisfy at its stage. Runs between all stages when verification is on.
//!
//! Structure (terminators, branch targets, phis), SSA (one definition, which dominates its uses), operands against the instruction
//! table (roles, classes, spaces, widths, alignment of tuples, the single immediate), modifiers, and the machine's limits.

use cranelift_entity::{EntityRef, SecondaryMap};

use super::cfg::Cfg;
use super::{Bank, Block, Function, Stage};
use crate::isa::{Inst, Op, Operand, PhysReg, Reg, Role, Space, Type, VReg};
use crate::target::Machine;

/// Checks a function.
///
/// # Errors
/// A sentence about the first defect, with block and instruction.
pub fn verify(function: &Function, machine: &Machine) -> Result<(), String> {
    if function.layout.is_empty() {
        return Err("the function has no block".into());
    }
    let cfg = Cfg::new(function);
    for (position, &block) in function.layout.iter().enumerate() {
        let insts = &function.blocks[block].insts;
        let at = |inst: &Inst, m: String| format!("{block}: {m}\n  in: {}", crate::isa::text::print_inst(inst, &function.files));
        for (i, inst) in insts.iter().enumerate() {
            structure(function, &cfg, block, i, insts).map_err(|m| at(inst, m))?;
            instruction(inst, Some(function), machine).map_err(|m| at(inst, m))?;
        }
        let falls = !insts.last().is_some_and(|i| matches!(i.op, Op::Bra | Op::Exit | Op::Trap) && i.guard.is_none());
        if falls && position + 1 == function.layout.len() {
            return Err(format!("{block}: control falls off the end of the function"));
        }
    }
    if function.stage == Stage::Ssa { ssa(function, &cfg) } else { Ok(()) }
}

fn structure(function: &Function, cfg: &Cfg, block: Block, i: usize, insts: &[Inst]) -> Result<(), String> {
    let inst = &insts[i];
    if inst.info().flags.terminator {
        let conditional = matches!(inst.op, Op::BraScalar | Op::BraDivergent);
        let followed_by_bra = conditional && i + 2 == insts.len() && insts[i + 1].op == Op::Bra;
        if i + 1 != insts.len() && !followed_by_bra {
            return Err("a terminator in the middle of the block".into());
        }
    }
    for target in inst.blocks() {
        if !function.blocks.is_valid(*target) {
            return Err(format!("target {target} does not exist"));
        }
    }
    match inst.op {
        Op::Bra | Op::BraScalar if inst.blocks().len() != 1 => return Err("a branch needs one target".into()),
        Op::BraDivergent if inst.blocks().is_empty() || inst.blocks().len() > 2 => {
            return Err("brad needs a target and at most a reconvergence block".into());
        }
        Op::BraDivergent if inst.guard.is_none() => return Err("brad needs a guard".into()),
        Op::Phi => {
            if function.stage != Stage::Ssa {
                return Err("a phi after lowering".into());
            }
            if i > 0 && insts[i - 1].op != Op::Phi {
                return Err("a phi after other instructions".into());
            }
            let mut incoming: Vec<Block> = inst.blocks().to_vec();
            let mut preds: Vec<Block> = cfg.edges[block].preds.to_vec();
            incoming.sort_unstable();
            preds.sort_unstable();
            if incoming != preds || inst.srcs.len() != incoming.len() {
                return Err(format!("incoming blocks {incoming:?}, predecessors {preds:?}"));
            }
        }
        _ => {}
    }
    Ok(())
}

/// Checks one instruction against the table and the machine; with a function, also the classes of virtual registers.
///
/// # Errors
/// A sentence about the first defect.
pub fn instruction(inst: &Inst, function: Option<&Function>, machine: &Machine) -> Result<(), String> {
    let info = inst.info();
    let flags = info.flags;
    if !info.types.contains(&inst.ty) {
        return Err(format!("{} has no type {}", info.mnemonic, inst.ty));
    }
    if flags.cond != inst.mods.cond.is_some() || flags.from != inst.mods.from.is_some() {
        return Err("a modifier is missing or does not belong here".into());
    }
    if let Some(cond) = inst.mods.cond {
        let order = !matches!(cond, crate::isa::Cond::Eq | crate::isa::Cond::Ne);
        let fits = if cond.is_float() {
            inst.ty.is_float()
        } else {
            !inst.ty.is_float() && (!order || matches!(inst.ty, Type::S32 | Type::U32 | Type::S64 | Type::U64))
        };
        if !fits {
            return Err(format!("condition {cond} does not apply to {}", inst.ty));
        }
    }
    if inst.is_memory() != inst.mods.space.is_some() {
        return Err("a memory space is missing or does not belong here".into());
    }
    if (inst.neg | inst.abs) != 0 && !(flags.float_mods && (inst.ty.is_float() || inst.mods.from.is_some_and(Type::is_float))) {
        return Err("neg and abs apply to float operands only".into());
    }
    if inst.mods.saturate && !flags.saturate {
        return Err("`.sat` does not belong here".into());
    }
    cache_policy(inst)?;
    let expected = info.srcs.len();
    if !flags.pseudo && inst.srcs.len() != expected {
        return Err(format!("{} sources where {expected} belong", inst.srcs.len()));
    }
    let scalar = bank_of(inst.dst, function) == Some(Bank::Scalar);
    if scalar && !flags.scalar && !flags.pseudo {
        return Err("the scalar unit does not have this operation".into());
    }
    if inst.uniform && (scalar || !flags.scalar) {
        return Err("the u bit does not belong here".into());
    }
    if inst.dst.is_some() != info.dst.is_some() && inst.op != Op::Atomic {
        return Err("a destination is missing or does not belong here".into());
    }
    if inst.dst.is_some() {
        if let Some(role) = info.dst {
            operand(inst, inst.dst, role, true, scalar, function, machine)?;
        }
    }
    let mut immediate = None;
    for (i, s) in inst.srcs.iter().enumerate() {
        operand(inst, *s, inst.src_role(i), false, scalar, function, machine)?;
        if let Operand::Immediate(v) = s {
            // Pseudo operations become separate moves.
            if !flags.pseudo && (inst.imm != 0 || immediate.is_some_and(|w| w != *v)) {
                return Err("more than one immediate".into());
            }
            immediate = Some(*v);
        }
    }
    if let Some(guard) = inst.guard {
        if bank_of(Operand::Reg(guard.reg), function) != Some(Bank::Predicate) {
            return Err("the guard is no predicate register".into());
        }
        physical(Operand::Reg(guard.reg), 0, inst, machine)?;
    }
    let class = inst.class();
    if !scalar && class != crate::isa::OpClass::Control && function.is_none_or(|f| f.stage == Stage::Allocated) {
        let unit = machine.timing.get(&class).map(|t| t.unit);
        let cluster = machine.clusters.get(usize::from(inst.cluster));
        match (unit, cluster) {
            (Some(unit), Some(cluster)) if cluster.units.contains(&unit) => {}
            (_, None) => return Err(format!("cluster {} does not exist", inst.cluster)),
            _ => return Err(format!("cluster {} has no unit for {class}", inst.cluster)),
        }
    }
    Ok(())
}

/// K6: policies that a load or store does not have.
fn cache_policy(inst: &Inst) -> Result<(), String> {
    use crate::isa::CachePolicy as P;
    let valid = matches!(
        (inst.op, inst.mods.cache),
        (_, P::Default) | (Op::Load, P::Cg | P::Cs | P::Cv) | (Op::Store, P::Cg | P::Cs | P::Wt)
    );
    if valid { Ok(()) } else { Err(format!("`{}` has no cache policy `.{}` (K6)", inst.info().mnemonic, inst.mods.cache)) }
}

fn bank_of(operand: Operand, function: Option<&Function>) -> Option<Bank> {
    match operand {
        Operand::Reg(Reg::Virtual { reg, .. }) => function.map(|f| f.vregs[reg].bank),
        Operand::Reg(Reg::Physical(p)) => match p.space {
            Space::Local | Space::Main => Some(Bank::Vector),
            Space::Scalar => Some(Bank::Scalar),
            Space::Predicate => Some(Bank::Predicate),
            _ => None,
        },
        _ => None,
    }
}

fn operand(
    inst: &Inst,
    op: Operand,
    role: Role,
    is_dst: bool,
    scalar_inst: bool,
    function: Option<&Function>,
    machine: &Machine,
) -> Result<(), String> {
    let words = inst.role_words(role);
    let bank = bank_of(op, function);
    let lane_value = |b: Option<Bank>| b == Some(Bank::Vector);
    // What `pred`-typed values and Predicate roles take.
    let predicate_like = role == Role::Predicate || (role == Role::Value && inst.ty == Type::Pred);
    match op {
        Operand::None => match role {
            Role::Base | Role::Offset => return Ok(()),
            _ if is_dst || predicate_like => return Err("an operand is missing".into()),
            _ => return Ok(()),
        },
        Operand::Special(s) => {
            if predicate_like || words > 1 || matches!(role, Role::Base) {
                return Err(format!("special register {s} does not fit here"));
            }
            if scalar_inst && !s.is_uniform() {
                return Err(format!("a scalar instruction reads {s}, which differs between lanes"));
            }
        }
        Operand::Constant(c) => {
            if predicate_like || words == 4 {
                return Err("a constant does not fit here".into());
            }
            if u32::from(c) + u32::from(words) > 256 {
                return Err("constant beyond the bank".into());
            }
        }
        Operand::Immediate(_) => {
            if matches!(role, Role::Base | Role::Offset | Role::ScalarCondition) || words == 4 {
                return Err("an immediate does not fit here".into());
            }
        }
        Operand::Reg(_) => {
            let fits = if predicate_like {
                bank == Some(Bank::Predicate) || bank == Some(Bank::Scalar)
            } else {
                match role {
                    Role::Base | Role::ScalarCondition => bank == Some(Bank::Scalar),
                    _ => bank != Some(Bank::Predicate),
                }
            };
            if !fits {
                return Err(format!("operand {op:?} is in the wrong register file for {role:?}"));
            }
            let crosses = matches!(inst.op, Op::First | Op::Ballot);
            if scalar_inst && !is_dst && !crosses && (lane_value(bank) || bank == Some(Bank::Predicate)) {
                return Err("a scalar instruction reads a value that differs between lanes".into());
            }
            if let (Some((reg, word)), Some(f)) = (op.as_virt(), function) {
                let class = f.vregs[reg];
                let width = words.max(1);
                let scalar_predicate = predicate_like && class.bank == Bank::Scalar;
                if !scalar_predicate && (word + width > class.registers() || word % width != 0) {
                    return Err(format!("words {word}..{} of {reg}, which has {}", word + width, class.words));
                }
                let whole = f.stage == Stage::Ssa && is_dst;
                if whole && !scalar_predicate && (word != 0 || (words != class.words)) {
                    return Err(format!("{reg} is defined in part"));
                }
            }
            physical(op, words, inst, machine)?;
        }
    }
    Ok(())
}

/// Limits and alignment of a physical register (C12).
fn physical(op: Operand, words: u8, inst: &Inst, machine: &Machine) -> Result<(), String> {
    let Some(PhysReg { space, index }) = op.as_phys() else { return Ok(()) };
    let words = words.max(1);
    let limit = match space {
        Space::Main => machine.sm.max_main_registers,
        Space::Scalar => machine.sm.scalar_registers,
        Space::Predicate => machine.sm.predicate_registers,
        Space::Local => machine.clusters.get(usize::from(inst.cluster)).map_or(0, |c| c.local_registers),
        _ => return Err("not a register space".into()),
    };
    if u32::from(index) + u32::from(words) > limit {
        return Err(format!("register {index} of {space:?} where the machine has {limit}"));
    }
    if index % words != 0 {
        return Err(format!("tuple of {words} at unaligned register {index} (C12)"));
    }
    Ok(())
}

fn ssa(function: &Function, cfg: &Cfg) -> Result<(), String> {
    let mut def: SecondaryMap<VReg, Option<(Block, usize)>> = SecondaryMap::new();
    def.resize(function.vregs.len());
    for &block in &function.layout {
        for (i, inst) in function.blocks[block].insts.iter().enumerate() {
            if let Some((r, _)) = inst.dst.as_virt() {
                if def[r].is_some() {
                    return Err(format!("{block}: {r} is defined twice"));
                }
                def[r] = Some((block, i));
            }
        }
    }
    let idom = cfg.dominators();
    let mut depth: SecondaryMap<Block, u32> = SecondaryMap::new();
    depth.resize(function.blocks.len());
    for b in &cfg.rpo {
        depth[*b] = idom[*b].map_or(0, |d| depth[d] + 1);
    }
    let dominates = |a: Block, mut b: Block| {
        while depth[b] > depth[a] {
            b = idom[b].unwrap_or(b);
        }
        a == b
    };
    let mut reachable = fixedbitset::FixedBitSet::with_capacity(cfg.len);
    cfg.rpo.iter().for_each(|b| reachable.insert(b.index()));
    for &block in &cfg.rpo {
        for (i, inst) in function.blocks[block].insts.iter().enumerate() {
            let mut error = None;
            let mut check = |r: VReg, at: Block, position: usize| {
                let fine = match def[r] {
                    Some((b, d)) => {
                        if b == at {
                            d < position
                        } else {
                            dominates(b, at)
                        }
                    }
                    None => false,
                };
                if !fine && error.is_none() {
                    error = Some(format!("{block}: {r} is used where its definition does not reach"));
                }
            };
            if inst.op == Op::Phi {
                for (s, p) in inst.srcs.iter().zip(inst.blocks()) {
                    if let (Some((r, _)), true) = (s.as_virt(), reachable.contains(p.index())) {
                        check(r, *p, usize::MAX);
                    }
                }
            } else {
                super::liveness::for_each_use(inst, |r, _| check(r, block, i));
            }
            if let Some(e) = error {
                return Err(format!("{e}\n  in: {}", crate::isa::text::print_inst(inst, &function.files)));
            }
        }
    }
    Ok(())
}
