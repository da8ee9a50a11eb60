//! The 128-bit encoding: one field table, from which encoder, decoder and documentation derive.
//!
//! All instructions share one layout; branches reuse the source fields for the distance to the reconvergence
//! point. Reserved bits are zero, [`super::rules`] holds on both sides, and the decoder refuses every word
//! that the encoder could not have made, so decoding and encoding are inverse (property-tested over random
//! words and random instructions). Limits of a particular machine are the verifier's to check.

use super::inst::{Guard, Inst, Operand, PhysReg, Reg, Targets};
use super::rules;
use super::table::Op;
use super::types::{
    AddressMode, AtomicOp, CacheName, CacheOperation, CachePolicy, Cond, MemorySpace, Rounding, Space, Special, Type,
};

/// A bit field of the instruction word.
#[derive(Clone, Copy, Debug)]
pub struct Field {
    /// Name in the documentation.
    pub name: &'static str,
    /// Lowest bit.
    pub low: u32,
    /// Width in bits.
    pub width: u32,
    /// What it holds.
    pub doc: &'static str,
}

macro_rules! fields {
    ($($id:ident $low:literal $width:literal $name:literal $doc:literal;)*) => {
        $(const $id: Field = Field { name: $name, low: $low, width: $width, doc: $doc };)*
        /// All fields, in order of their bits.
        pub const FIELDS: &[Field] = &[$($id),*];
    };
}

fields! {
    OPCODE 0 9 "opcode" "Row of the instruction table.";
    TYPE 9 4 "type" "Type of the operation's values.";
    GUARD 13 4 "guard" "Predicate register under which the instruction executes; 15: always.";
    GUARD_NEGATE 17 1 "guard.neg" "Execute where the guard is 0.";
    UNIFORM 18 1 "u" "The u bit (S5).";
    CLUSTER 19 3 "cluster" "Cluster that executes the instruction (C1).";
    DST 22 11 "dst" "Destination: register space (3 bits), index (8 bits).";
    SRC0 33 11 "a" "Source a: space, index. Branches: bits 0-10 of the reconvergence distance.";
    SRC1 44 11 "b" "Source b: space, index. Branches: bits 11-21 of the reconvergence distance.";
    SRC2 55 11 "c" "Source c: space, index. Branches: bits 22-31 of the reconvergence distance; bit 10: there is one.";
    RELEASE 66 3 "release" "Release marks of sources a, b, c (REN-5).";
    NEG 69 3 "neg" "Negation of sources a, b, c.";
    ABS 72 3 "abs" "Absolute value of sources a, b, c.";
    SECOND 75 4 "second" "Source type of cvt; operation of atom and of cctl.";
    COND 79 5 "cond" "Condition of cmp; bits 0-2 memory space and bits 3-4 address mode of memory operations.";
    CACHE 84 3 "cache" "Cache policy (K2); the cache of cctl (K5).";
    ROUNDING 87 2 "rounding" "Rounding mode.";
    SATURATE 89 1 "sat" "Saturate.";
    STRAND 90 1 "strand" "A strand begins here: the warp may leave the active set before it (C14).";
    RESERVED 91 5 "-" "Zero.";
    IMMEDIATE 96 32 "imm" "Immediate, address offset or branch distance in instructions from the next one.";
}

impl Field {
    const fn mask(self) -> u128 {
        ((1u128 << self.width) - 1) << self.low
    }
    const fn get(self, word: u128) -> u32 {
        ((word & self.mask()) >> self.low) as u32
    }
    fn set(self, word: &mut u128, value: u32) {
        *word = (*word & !self.mask()) | ((u128::from(value) << self.low) & self.mask());
    }
}

/// What cannot be encoded: virtual registers, pseudo operations, whatever breaks the rules of [`super::rules`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("cannot encode: {0}")]
pub struct EncodeError(pub String);

/// A word that is no instruction.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not an instruction: {0}")]
pub struct DecodeError(pub String);

/// Predicate number that stands for "always".
const ALWAYS: u32 = 15;

/// Encodes an instruction over physical registers.
///
/// # Errors
/// See [`EncodeError`].
pub fn encode(inst: &Inst) -> Result<u128, EncodeError> {
    let error = |m: &str| EncodeError(format!("{m}, in `{}`", super::text::print_inst(inst, &[])));
    if inst.info().flags.pseudo {
        return Err(error("a pseudo operation of machine IR"));
    }
    rules::check(inst, None).map_err(|m| error(&m))?;
    if inst.cluster > 7 {
        return Err(error("the encoding has clusters 0 to 7"));
    }
    let mut word = 0u128;
    OPCODE.set(&mut word, inst.op as u32);
    TYPE.set(&mut word, inst.ty as u32);
    GUARD.set(&mut word, ALWAYS);
    if let Some(Guard { reg: Reg::Physical(p), negate }) = inst.guard {
        GUARD.set(&mut word, u32::from(p.index));
        GUARD_NEGATE.set(&mut word, u32::from(negate));
    }
    UNIFORM.set(&mut word, u32::from(inst.uniform));
    STRAND.set(&mut word, u32::from(inst.strand));
    CLUSTER.set(&mut word, u32::from(inst.cluster));
    let mut immediate = inst.imm as u32;
    DST.set(&mut word, operand(inst.dst, &mut immediate));
    for (s, field) in inst.srcs.iter().zip([SRC0, SRC1, SRC2]) {
        field.set(&mut word, operand(*s, &mut immediate));
    }
    RELEASE.set(&mut word, u32::from(inst.release));
    NEG.set(&mut word, u32::from(inst.neg));
    ABS.set(&mut word, u32::from(inst.abs));
    let second = match (inst.op, inst.mods.control) {
        (Op::Atomic, _) => inst.mods.atomic as u32,
        (_, Some((_, operation))) => operation as u32,
        _ => inst.mods.from.map_or(0, |t| t as u32),
    };
    SECOND.set(&mut word, second);
    let condition = match (inst.mods.space, inst.mods.cond) {
        (Some(space), _) => space as u32 | (inst.mods.address as u32) << 3,
        (None, cond) => cond.map_or(0, |c| c as u32),
    };
    COND.set(&mut word, condition);
    CACHE.set(&mut word, inst.mods.control.map_or(inst.mods.cache as u32, |(cache, _)| cache as u32));
    ROUNDING.set(&mut word, inst.mods.rounding as u32);
    SATURATE.set(&mut word, u32::from(inst.mods.saturate));
    match (&inst.targets, is_branch(inst.op)) {
        (Targets::Offsets { target, reconverge }, true) => {
            if inst.op == Op::BraScalar {
                // The condition's sense has no immediate left: it is the guard's negation bit, which scalar branches do not use.
                GUARD_NEGATE.set(&mut word, inst.imm as u32);
            }
            IMMEDIATE.set(&mut word, *target as u32);
            if let Some(r) = reconverge {
                let r = *r as u32;
                SRC0.set(&mut word, r & 0x7ff);
                SRC1.set(&mut word, r >> 11 & 0x7ff);
                SRC2.set(&mut word, r >> 22 | 1 << 10);
            }
        }
        (_, false) => IMMEDIATE.set(&mut word, immediate),
        _ => return Err(error("branch targets are not distances yet")),
    }
    Ok(word)
}

fn is_branch(op: Op) -> bool {
    op.info().flags.targets > 0
}

/// Space and index bits; the value of an immediate operand goes into the shared field.
fn operand(op: Operand, immediate: &mut u32) -> u32 {
    let (space, index) = match op {
        // `rules::check` has refused virtual registers.
        Operand::None | Operand::Reg(Reg::Virtual { .. }) => (Space::None, 0),
        Operand::Reg(Reg::Physical(PhysReg { space, index })) => (space, index),
        Operand::Special(s) => (Space::Special, s as u8),
        Operand::Constant(c) => (Space::Constant, c),
        Operand::Immediate(v) => {
            *immediate = v;
            (Space::Immediate, 0)
        }
    };
    space as u32 | u32::from(index) << 3
}

fn decode_operand(bits: u32, immediate: u32) -> Result<Operand, String> {
    let index = (bits >> 3) as u8;
    let space = Space::from_repr((bits & 7) as u8).ok_or("operand space")?;
    match space {
        Space::None | Space::Immediate if index != 0 => Err("an operand without index has one".into()),
        Space::None => Ok(Operand::None),
        Space::Immediate => Ok(Operand::Immediate(immediate)),
        Space::Special => Special::from_repr(index).map(Operand::Special).ok_or_else(|| format!("special register {index}")),
        Space::Constant => Ok(Operand::Constant(index)),
        _ => Ok(Operand::phys(space, index)),
    }
}

/// Decodes a word.
///
/// # Errors
/// Says which field is invalid, or which rule of [`super::rules`] the instruction breaks. Limits of the machine are the
/// loader's to check.
pub fn decode(word: u128) -> Result<Inst, DecodeError> {
    fields_of(word).map_err(|m| DecodeError(format!("{m} (word {word:#034x})")))
}

fn fields_of(word: u128) -> Result<Inst, String> {
    let number = OPCODE.get(word);
    let op = u16::try_from(number).ok().and_then(Op::from_repr).ok_or_else(|| format!("there is no opcode {number}"))?;
    let info = op.info();
    let ty = Type::from_repr(TYPE.get(word) as u8).ok_or("type")?;
    if info.flags.pseudo {
        return Err(format!("`{}` exists only in machine IR", info.mnemonic));
    }
    if RESERVED.get(word) != 0 {
        return Err("reserved bits are set".into());
    }
    let immediate = IMMEDIATE.get(word);
    let mut inst = Inst::new(op, ty, Operand::None, []);
    let guard = GUARD.get(word);
    let negate = GUARD_NEGATE.get(word) == 1;
    if guard != ALWAYS {
        inst.guard = Some(Guard { reg: Reg::Physical(PhysReg { space: Space::Predicate, index: guard as u8 }), negate });
    } else if negate && op != Op::BraScalar {
        return Err("negation without a guard".into());
    }
    inst.uniform = UNIFORM.get(word) == 1;
    inst.strand = STRAND.get(word) == 1;
    inst.cluster = CLUSTER.get(word) as u8;
    inst.dst = decode_operand(DST.get(word), 0)?;
    for (i, field) in [SRC0, SRC1, SRC2].iter().enumerate() {
        if i < info.srcs.len() {
            inst.srcs.push(decode_operand(field.get(word), immediate)?);
        } else if field.get(word) != 0 && op != Op::BraDivergent {
            return Err(format!("operand {} where none belongs", field.name));
        }
    }
    inst.release = RELEASE.get(word) as u8;
    inst.neg = NEG.get(word) as u8;
    inst.abs = ABS.get(word) as u8;
    let second = SECOND.get(word) as u8;
    if op == Op::Atomic {
        inst.mods.atomic = AtomicOp::from_repr(second).ok_or_else(|| format!("there is no atomic operation {second}"))?;
    } else if info.flags.from {
        inst.mods.from = Some(Type::from_repr(second).ok_or("source type")?);
    } else if inst.is_cache_control() {
        let cache = CACHE.get(word) as u8;
        let cache = CacheName::from_repr(cache).ok_or_else(|| format!("there is no cache {cache} (K5)"))?;
        let operation = CacheOperation::from_repr(second).ok_or_else(|| format!("there is no cache operation {second} (K5)"))?;
        inst.mods.control = Some((cache, operation));
    } else if second != 0 {
        return Err("a second type where none belongs".into());
    }
    let condition = COND.get(word) as u8;
    if inst.is_memory() {
        inst.mods.space =
            Some(MemorySpace::from_repr(condition & 7).ok_or_else(|| format!("there is no memory space {}", condition & 7))?);
        inst.mods.address = AddressMode::from_repr(condition >> 3).unwrap_or_default();
    } else if info.flags.cond {
        inst.mods.cond = Some(Cond::from_repr(condition).ok_or_else(|| format!("there is no condition {condition}"))?);
    } else if condition != 0 {
        return Err("a condition where none belongs".into());
    }
    let cache = if inst.mods.control.is_some() { 0 } else { CACHE.get(word) as u8 };
    inst.mods.cache = CachePolicy::from_repr(cache).ok_or_else(|| format!("there is no cache policy {cache} (K6)"))?;
    inst.mods.rounding = Rounding::from_repr(ROUNDING.get(word) as u8).ok_or("rounding")?;
    inst.mods.saturate = SATURATE.get(word) == 1;
    let immediate_operand = inst.srcs.iter().any(|s| matches!(s, Operand::Immediate(_)));
    if is_branch(op) {
        let mut reconverge = None;
        if op == Op::BraDivergent {
            let high = SRC2.get(word);
            if high >> 10 == 1 {
                reconverge = Some((SRC0.get(word) | SRC1.get(word) << 11 | (high & 0x3ff) << 22) as i32);
            } else if SRC0.get(word) | SRC1.get(word) | high != 0 {
                return Err("a reconvergence distance that is not marked".into());
            }
        }
        inst.targets = Targets::Offsets { target: immediate as i32, reconverge };
        if op == Op::BraScalar {
            inst.imm = i32::from(negate);
        }
    } else if !immediate_operand {
        inst.imm = immediate as i32;
    }
    rules::check(&inst, None)?;
    Ok(inst)
}
