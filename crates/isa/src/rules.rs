//! What every instruction must satisfy on any machine: the instruction table's roles, types and flags, applied to one [`Inst`].
//!
//! One function, [`check`], serves the MIR verifier (over virtual registers, with their classes), the encoder
//! and assembler, the decoder and with them the simulator's loader (over physical registers), so that all
//! refuse the same instructions with the same sentences. The limits of a particular machine (file sizes,
//! which cluster has which unit) are `heddle_target::limits`'s.
//!
//! Rules: C12 (aligned tuples), C14 (strands), S5 (u bit), REN-5 (release marks), K6 (cache modifiers).

use cranelift_entity::PrimaryMap;

use super::inst::{ImageAccess, Inst, Operand, PhysReg, Reg, Targets, VReg};
use super::table::{Op, Role};
use super::types::{AddressMode, AtomicOp, CacheName, CacheOperation, CachePolicy, Cond, MemorySpace, Rounding, Space, Type};
use super::{Bank, CrossLane, Meaning, RegClass};

/// Classes of the virtual registers; `None` where only physical registers may appear.
pub type Classes<'a> = Option<&'a PrimaryMap<VReg, RegClass>>;

/// The register file an operand lies in; `None` for what is no register.
pub fn bank_of(operand: Operand, classes: Classes) -> Option<Bank> {
    match operand {
        Operand::Reg(Reg::Virtual { reg, .. }) => classes.and_then(|c| c.get(reg)).map(|c| c.bank),
        Operand::Reg(Reg::Physical(p)) => match p.space {
            Space::Local | Space::Main => Some(Bank::Vector),
            Space::Scalar => Some(Bank::Scalar),
            Space::Predicate => Some(Bank::Predicate),
            _ => None,
        },
        _ => None,
    }
}

/// Whether an operand of a role holds predicates: one bit a lane in P, or zero/non-zero in S.
pub fn is_predicate_role(inst: &Inst, role: Role) -> bool {
    role == Role::Predicate || (role == Role::Value && inst.ty == Type::Pred)
}

impl Inst {
    /// Whether source `i` holds a floating-point value, so that it may carry `neg` and `abs`.
    pub fn src_is_float(&self, i: usize) -> bool {
        self.info().flags.float_mods
            && match self.info().srcs.get(i) {
                Some(Role::Value) => self.ty.is_float(),
                Some(Role::From) => self.mods.from.is_some_and(Type::is_float),
                _ => false,
            }
    }
}

/// Whether the operation makes one value for the scalar file of what lanes hold.
fn gathers_lanes(inst: &Inst) -> bool {
    matches!(inst.info().meaning, Meaning::CrossLane(CrossLane::First | CrossLane::Ballot))
}

/// Checks one instruction.
///
/// # Errors
/// A sentence about the first defect.
pub fn check(inst: &Inst, classes: Classes) -> Result<(), String> {
    let info = inst.info();
    let flags = info.flags;
    if !info.types.contains(&inst.ty) {
        return Err(format!("`{}` has no type `{}`", info.mnemonic, inst.ty));
    }
    modifiers(inst)?;
    memory(inst)?;
    targets(inst)?;
    let arity = match inst.op {
        Op::Phi => inst.blocks().len(),
        Op::Tuple => usize::from(inst.ty.words()),
        _ => info.srcs.len(),
    };
    if inst.srcs.len() != arity {
        return Err(format!("`{}` has {} sources where {arity} belong", info.mnemonic, inst.srcs.len()));
    }
    let bank = bank_of(inst.dst, classes);
    let scalar = bank == Some(Bank::Scalar);
    if scalar && !flags.scalar && !flags.pseudo {
        return Err(format!("the scalar unit does not have `{}`", info.mnemonic));
    }
    if scalar && inst.is_memory() && inst.mods.address == AddressMode::Surface {
        return Err("a surface access is one a lane: no scalar destination (G6)".into());
    }
    if inst.op == Op::Load && inst.mods.space == Some(MemorySpace::Private) && (scalar || inst.uniform) {
        return Err("private memory holds another value in each lane: no load of it runs once".into());
    }
    if gathers_lanes(inst) && !scalar {
        return Err(format!("`{}` writes scalar registers only", info.mnemonic));
    }
    if scalar && inst.is_cache_control() {
        return Err(format!("`{}` has a result a lane", info.mnemonic));
    }
    if inst.uniform && (scalar || !flags.scalar || !inst.dst.is_some()) {
        return Err("the u bit belongs to operations of the scalar unit with a lane destination (S5)".into());
    }
    if inst.fresh && (inst.guard.is_none() || inst.dst.as_virt().is_none()) {
        return Err("only a guarded write of a virtual register can be fresh".into());
    }
    if inst.strand && flags.pseudo {
        return Err("no strand begins at an operation that no machine executes (C14)".into());
    }
    match (inst.dst, info.dst) {
        (o, Some(_)) if !inst.has_destination() => {
            if o.is_some() {
                return Err("only `qry1` has a destination (K5)".into());
            }
        }
        (Operand::None, Some(_)) if inst.op != Op::Atomic => return Err("the destination is missing".into()),
        (Operand::None, _) => {}
        (_, None) => return Err(format!("`{}` has no destination", info.mnemonic)),
        (Operand::Reg(_), Some(role)) => operand(inst, inst.dst, role, scalar, true, classes)?,
        _ => return Err("the destination is no register".into()),
    }
    if scalar && info.dst.is_some_and(|r| r == Role::Value && inst.ty == Type::Pred) {
        return Err("a `pred` operation writes predicate registers; scalar conditions are `b32`".into());
    }
    for (i, s) in inst.srcs.iter().enumerate() {
        operand(inst, *s, inst.src_role(i), scalar, false, classes)
            .map_err(|m| if inst.srcs.len() > 1 { format!("source {}: {m}", i + 1) } else { m })?;
    }
    immediates(inst)?;
    guard(inst, scalar, classes)?;
    release_marks(inst, classes)
}

/// Conditions, conversions, rounding, saturation, signs (table flags) and the immediate field.
fn modifiers(inst: &Inst) -> Result<(), String> {
    let flags = inst.info().flags;
    let mods = &inst.mods;
    match mods.cond {
        None if flags.cond => return Err("a condition is missing".into()),
        Some(cond) if !flags.cond => return Err(format!("condition `{cond}` does not belong here")),
        Some(cond) => {
            let sign_matters = !cond.is_float() && !matches!(cond, Cond::Eq | Cond::Ne);
            let fits = cond.is_float() == inst.ty.is_float()
                && (!sign_matters || matches!(inst.ty, Type::S32 | Type::U32 | Type::S64 | Type::U64));
            if !fits {
                return Err(format!("condition `{cond}` does not apply to `{}`", inst.ty));
            }
        }
        None => {}
    }
    match mods.from {
        None if flags.from => return Err("a source type is missing".into()),
        Some(from) if !flags.from => return Err(format!("source type `{from}` does not belong here")),
        Some(from) if !inst.info().types.contains(&from) => return Err(format!("`{from}` is no type to convert from")),
        _ => {}
    }
    if mods.rounding != Rounding::Rn {
        let fits = flags.rounding && (inst.ty.is_float() || mods.from.is_some_and(Type::is_float));
        if !fits {
            return Err(format!("rounding `.{}` does not belong here", mods.rounding));
        }
    }
    if mods.saturate {
        let fits = flags.saturate
            && if inst.op == Op::Cvt {
                !inst.ty.is_float()
            } else {
                matches!(inst.ty, Type::S32 | Type::U32 | Type::S64 | Type::U64)
            };
        if !fits {
            return Err(format!("`.sat` does not belong to `{}.{}`", inst.info().mnemonic, inst.ty));
        }
    }
    for i in 0..8 {
        if (inst.neg | inst.abs) >> i & 1 == 1 && !inst.src_is_float(i) {
            return Err("negation and absolute value apply to float operands only".into());
        }
    }
    let allowed = match inst.op {
        Op::BraScalar => (0..=1).contains(&inst.imm),
        Op::Sample => ImageAccess::from_immediate(inst.imm).is_some(),
        Op::ImageStore => ImageAccess::from_immediate(inst.imm).is_some_and(|a| a.channels == 0xf),
        _ if flags.imm => (0..=3).contains(&inst.imm),
        _ => inst.imm == 0 || inst.is_memory(),
    };
    if !allowed {
        return Err(format!("immediate field {} does not belong to `{}`", inst.imm, inst.info().mnemonic));
    }
    Ok(())
}

/// Spaces, address modes, atomic operations and cache policies.
fn memory(inst: &Inst) -> Result<(), String> {
    let mods = &inst.mods;
    let Some(space) = mods.space else {
        if inst.is_memory() {
            return Err("a memory space is missing".into());
        }
        let plain = mods.atomic == AtomicOp::Add && mods.cache == CachePolicy::Default && mods.control.is_none();
        if mods.address != AddressMode::U32 || !plain {
            return Err("memory modifiers do not belong here".into());
        }
        return Ok(());
    };
    if !inst.is_memory() {
        return Err(format!("memory space `{space}` does not belong here"));
    }
    let narrow = matches!(space, MemorySpace::Local | MemorySpace::Private | MemorySpace::Argument);
    if narrow && mods.address != AddressMode::U32 {
        return Err(format!("the {space} space has 32-bit addresses: mode u32 only"));
    }
    cache_modifiers(inst, space)?;
    if !matches!(inst.op, Op::Load | Op::LoadUniform) && matches!(space, MemorySpace::Constant | MemorySpace::Argument) {
        return Err(format!("the {space} space is read-only"));
    }
    if mods.address == AddressMode::Surface {
        if inst.srcs.get(1).is_some_and(|o| o.is_some()) {
            return Err("a surface access takes no per-lane offset: the address-generation unit knows the global ids (G6)".into());
        }
        if inst.uniform {
            return Err("a surface access is one a lane: no u bit (G6)".into());
        }
    }
    if mods.address == AddressMode::A64
        && (inst.srcs.first().is_some_and(|b| b.is_some()) || !matches!(inst.srcs.get(1), Some(Operand::Reg(_))))
    {
        return Err("mode a64 takes a 64-bit address in registers and no base".into());
    }
    if inst.op == Op::Atomic {
        if space == MemorySpace::Private {
            return Err("atomics are on global and local memory".into());
        }
        if !atomic_exists(mods.atomic, inst.ty) {
            return Err(format!("`atom.{}` has no type `{}`", mods.atomic, inst.ty));
        }
    } else if mods.atomic != AtomicOp::Add {
        return Err("an atomic operation does not belong here".into());
    }
    Ok(())
}

/// K2–K6: policies, spaces of `ldu`, operations of `cctl`.
fn cache_modifiers(inst: &Inst, space: MemorySpace) -> Result<(), String> {
    let mods = &inst.mods;
    let mnemonic = inst.info().mnemonic;
    if !has_policy(inst.op, mods.cache) {
        return Err(format!("`{mnemonic}` has no cache policy `.{}` (K6)", mods.cache));
    }
    let cached = matches!(space, MemorySpace::Global | MemorySpace::Private);
    // Of work-group memory, which no cache holds, the volatile policies say only that the access must happen.
    let volatile = space == MemorySpace::Local && matches!(mods.cache, CachePolicy::Cv | CachePolicy::Wt);
    if mods.cache != CachePolicy::Default && !cached && !volatile {
        return Err(format!("the {space} space has no cache policy `.{}` (K6)", mods.cache));
    }
    if inst.op == Op::LoadUniform {
        if !matches!(space, MemorySpace::Global | MemorySpace::Constant) {
            return Err(format!("`ldu` reads global and constant memory, not {space} (K2)"));
        }
    }
    match (inst.op, mods.control) {
        (Op::CacheControl | Op::CacheControlLocal, None) => Err(format!("`{mnemonic}` needs an operation (K5)")),
        (Op::CacheControl | Op::CacheControlLocal, Some((cache, op))) => {
            let wanted = if inst.op == Op::CacheControl { MemorySpace::Global } else { MemorySpace::Private };
            if space != wanted {
                return Err(format!("`{mnemonic}` controls caches of {wanted} memory (K5)"));
            }
            if !has_control(inst.op, cache, op) {
                return Err(format!("`{mnemonic}.{cache}` has no operation `.{op}` (K6)"));
            }
            if op == CacheOperation::Ivall && (inst.srcs.iter().any(|s| s.is_some()) || inst.imm != 0) {
                return Err("`ivall` takes no address: it is about the whole cache (K5)".into());
            }
            if mods.address == AddressMode::Surface {
                return Err(format!("`{mnemonic}` takes no surface (K5)"));
            }
            Ok(())
        }
        (_, Some(_)) => Err("a cache operation does not belong here (K6)".into()),
        (_, None) => Ok(()),
    }
}

/// K5, K6: whether a cache has an operation. Only the data cache holds dirty lines; only the others have an L1.5 behind them.
pub fn has_control(op: Op, cache: CacheName, operation: CacheOperation) -> bool {
    match (cache, operation) {
        _ if op == Op::CacheControlLocal && cache != CacheName::D => false,
        (CacheName::D, CacheOperation::Pf15) => false,
        (CacheName::D, _) => true,
        (_, CacheOperation::Wb | CacheOperation::Rs) => false,
        _ => true,
    }
}

/// K3, K4, K6: whether a load or store has a cache policy.
pub fn has_policy(op: Op, policy: CachePolicy) -> bool {
    match policy {
        CachePolicy::Default => true,
        CachePolicy::Cg | CachePolicy::Cs => matches!(op, Op::Load | Op::Store),
        CachePolicy::Cv => op == Op::Load,
        CachePolicy::Wt => op == Op::Store,
    }
}

/// Which types an atomic operation has.
pub const fn atomic_exists(op: AtomicOp, ty: Type) -> bool {
    match op {
        AtomicOp::Add | AtomicOp::Sub => matches!(ty, Type::B32 | Type::B64 | Type::F32 | Type::F64),
        AtomicOp::Xchg | AtomicOp::And | AtomicOp::Or | AtomicOp::Xor | AtomicOp::CmpXchg => matches!(ty, Type::B32 | Type::B64),
        AtomicOp::Min | AtomicOp::Max => !matches!(ty, Type::B32 | Type::B64),
        AtomicOp::Inc | AtomicOp::Dec => matches!(ty, Type::U32 | Type::U64),
    }
}

/// Number and kind of targets.
fn targets(inst: &Inst) -> Result<(), String> {
    let mnemonic = inst.info().mnemonic;
    let most = usize::from(inst.info().flags.targets);
    match &inst.targets {
        Targets::None if most > 0 => Err(format!("`{mnemonic}` needs a target")),
        Targets::None => Ok(()),
        Targets::Blocks(_) if inst.op == Op::Phi => Ok(()),
        Targets::Blocks(b) if most > 0 && (1..=most).contains(&b.len()) => Ok(()),
        Targets::Offsets { reconverge, .. } if most == 2 || (most == 1 && reconverge.is_none()) => Ok(()),
        _ if most == 0 => Err(format!("`{mnemonic}` takes no target")),
        _ => Err(format!(
            "`{mnemonic}` takes {}",
            if most == 1 { "one target" } else { "a target and at most a reconvergence point" }
        )),
    }
}

/// The encoding has one 32-bit immediate, shared by immediate operands and the address offset.
fn immediates(inst: &Inst) -> Result<(), String> {
    if inst.info().flags.pseudo {
        // Pseudo operations become separate moves.
        return Ok(());
    }
    let mut first = None;
    for s in &inst.srcs {
        if let Operand::Immediate(v) = s {
            if inst.imm != 0 || inst.mods.address == AddressMode::Surface {
                return Err("an immediate operand besides an address offset: there is one 32-bit immediate".into());
            }
            if first.is_some_and(|w| w != *v) {
                return Err("two different immediates: there is one 32-bit immediate".into());
            }
            first = Some(*v);
        }
    }
    Ok(())
}

fn guard(inst: &Inst, scalar: bool, classes: Classes) -> Result<(), String> {
    let mnemonic = inst.info().mnemonic;
    let Some(guard) = inst.guard else {
        return if inst.info().flags.guard_required { Err(format!("`{mnemonic}` needs a guard")) } else { Ok(()) };
    };
    if inst.info().flags.unguarded || inst.info().flags.pseudo {
        return Err(format!("`{mnemonic}` takes no guard"));
    }
    if scalar {
        return Err("a scalar instruction takes no guard".into());
    }
    if bank_of(Operand::Reg(guard.reg), classes) != Some(Bank::Predicate) || matches!(guard.reg, Reg::Virtual { word: 1.., .. }) {
        return Err("the guard is no predicate register".into());
    }
    physical(Operand::Reg(guard.reg), 0)
}

/// REN-5: marks are for main vector registers, of real instructions.
fn release_marks(inst: &Inst, classes: Classes) -> Result<(), String> {
    for i in 0..8 {
        if inst.release >> i & 1 == 0 {
            continue;
        }
        let source = inst.srcs.get(i).copied().unwrap_or_default();
        let local = matches!(source.as_phys(), Some(PhysReg { space: Space::Local, .. }));
        if inst.info().flags.pseudo || local || bank_of(source, classes) != Some(Bank::Vector) {
            return Err("a release mark belongs to a main vector register (REN-5)".into());
        }
    }
    Ok(())
}

/// One operand against its role.
fn operand(inst: &Inst, op: Operand, role: Role, scalar: bool, is_dst: bool, classes: Classes) -> Result<(), String> {
    let words = inst.role_words(role);
    let predicate = is_predicate_role(inst, role);
    match op {
        Operand::None => {
            if predicate || role == Role::ScalarCondition {
                return Err("the operand is missing".into());
            }
        }
        Operand::Special(s) => {
            if predicate || words > 1 || matches!(role, Role::Base | Role::ScalarCondition) || inst.op == Op::Release {
                return Err(format!("special register `{s}` does not fit here"));
            }
            if scalar && !s.is_uniform() && !matches!(inst.info().meaning, Meaning::CrossLane(CrossLane::First)) {
                return Err(format!("a scalar instruction reads `{s}`, which differs between lanes"));
            }
        }
        Operand::Constant(c) => {
            if predicate || words == 4 || role == Role::ScalarCondition || inst.op == Op::Release {
                return Err("a constant does not fit here".into());
            }
            if u32::from(c) + u32::from(words) > 256 {
                return Err("the constant reaches beyond the bank".into());
            }
        }
        Operand::Immediate(_) => {
            if matches!(role, Role::Base | Role::Offset | Role::ScalarCondition) || words == 4 || inst.op == Op::Release {
                return Err("an immediate does not fit here".into());
            }
        }
        Operand::Reg(reg) => register(inst, reg, role, scalar, is_dst, classes)?,
    }
    Ok(())
}

fn register(inst: &Inst, reg: Reg, role: Role, scalar: bool, is_dst: bool, classes: Classes) -> Result<(), String> {
    let op = Operand::Reg(reg);
    let words = inst.role_words(role);
    let predicate = is_predicate_role(inst, role);
    let Some(bank) = bank_of(op, classes) else {
        return Err(match reg {
            Reg::Virtual { reg, .. } if classes.is_none() => format!("{reg} is a virtual register"),
            Reg::Virtual { reg, .. } => format!("{reg} is not declared"),
            Reg::Physical(p) => format!("{:?} is no register space", p.space),
        });
    };
    let fits = match role {
        _ if predicate => matches!(bank, Bank::Predicate | Bank::Scalar),
        Role::Base | Role::ScalarCondition => bank == Bank::Scalar,
        _ if inst.op == Op::Release => bank == Bank::Vector,
        _ => bank != Bank::Predicate,
    };
    if !fits {
        let wanted = match role {
            _ if predicate => "a predicate or scalar register",
            Role::Base | Role::ScalarCondition => "a scalar register",
            _ if inst.op == Op::Release => "a vector register",
            _ => "a vector or scalar register",
        };
        return Err(format!("{} where {wanted} belongs", article(bank)));
    }
    if scalar && !is_dst && !gathers_lanes(inst) && bank != Bank::Scalar {
        return Err(format!("a scalar instruction reads {}, which differs between lanes", article(bank)));
    }
    match reg {
        Reg::Virtual { reg, word } => {
            let Some(class) = classes.and_then(|c| c.get(reg)) else { return Ok(()) };
            let width = if predicate { 1 } else { words };
            if u32::from(word) + u32::from(width) > u32::from(class.registers()) || word % width.max(1) != 0 {
                return Err(format!(
                    "words {word} to {} of {reg}, which has {}",
                    u32::from(word) + u32::from(width) - 1,
                    class.words
                ));
            }
            Ok(())
        }
        Reg::Physical(_) => physical(op, words),
    }
}

fn article(bank: Bank) -> &'static str {
    match bank {
        Bank::Vector => "a vector register",
        Bank::Scalar => "a scalar register",
        Bank::Predicate => "a predicate register",
    }
}

/// C12: a tuple starts at a multiple of its size and ends inside what the encoding can name.
fn physical(op: Operand, words: u8) -> Result<(), String> {
    let Some(PhysReg { space, index }) = op.as_phys() else { return Ok(()) };
    // Number 15 of the guard field stands for "always".
    if space == Space::Predicate && index > 14 {
        return Err(format!("predicate register {index}: there are p0 to p14"));
    }
    let words = words.max(1);
    if space != Space::Predicate && index % words != 0 {
        return Err(format!("a tuple of {words} at register {index}, which is no multiple of {words} (C12)"));
    }
    Ok(())
}
