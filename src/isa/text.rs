//! The text of instructions, shared by MIR and assembly: printer and parser.
//!
//! `[cN ][@[!]pred ]mnemonic[.suffix…] dst, src, …[ !file:line:column]`. The suffixes stand in a fixed order: memory space, atomic
//! operation, condition, type, source type, rounding, `sat`, cache policy, `z` (branch if zero), `u` (the u bit). Memory operands are
//! `[base + u32 offset + immediate]`, each part optional; `u32`, `s32` or `a64` is the address mode. An absent operand is `_`. A `!` after a source
//! releases its register (REN-5). Printing and parsing are inverse.

use std::fmt::Write;
use std::str::FromStr;

use cranelift_entity::EntityRef;
use strum::IntoEnumIterator;

use super::inst::{Guard, Inst, Operand, PhysReg, Reg, SourceLoc, Targets, VReg};
use super::table::Op;
use super::types::{AddressMode, AtomicOp, CachePolicy, Cond, MemorySpace, Rounding, Space, Special, Type};
use crate::mir::Block;

/// Prints an instruction of MIR. Branch distances of encoded instructions print as signed numbers.
pub fn print_inst(inst: &Inst, _files: &[String]) -> String {
    print_with(inst, &|d| format!("{d:+}"))
}

/// Prints an instruction; `label` names the target at a distance.
pub fn print_with(inst: &Inst, label: &dyn Fn(i32) -> String) -> String {
    let mut s = String::new();
    let info = inst.info();
    if inst.cluster != 0 {
        let _ = write!(s, "c{} ", inst.cluster);
    }
    if let Some(g) = inst.guard {
        let _ = write!(s, "@{}{} ", if g.negate { "!" } else { "" }, operand(Operand::Reg(g.reg), 0));
    }
    s.push_str(info.mnemonic);
    let mut suffix = |t: &str| {
        s.push('.');
        s.push_str(t);
    };
    if let Some(space) = inst.mods.space {
        suffix(space.into());
    }
    if inst.op == Op::Atomic {
        suffix(inst.mods.atomic.into());
    }
    if let Some(c) = inst.mods.cond {
        suffix(c.into());
    }
    if inst.ty != Type::None {
        suffix(inst.ty.into());
    }
    if let Some(f) = inst.mods.from {
        suffix(f.into());
    }
    if inst.mods.rounding != Rounding::Rn {
        suffix(inst.mods.rounding.into());
    }
    if inst.mods.saturate {
        suffix("sat");
    }
    if inst.mods.cache != CachePolicy::Default {
        suffix(inst.mods.cache.into());
    }
    if inst.op == Op::BraScalar && inst.imm != 0 {
        suffix("z");
    }
    if inst.uniform {
        suffix("u");
    }
    let mut parts: Vec<String> = Vec::new();
    if info.dst.is_some() {
        parts.push(operand(inst.dst, inst.dst_words()));
    }
    let mut first = 0;
    if inst.is_memory() {
        parts.push(address(inst));
        first = 2;
    }
    if inst.op == Op::Phi {
        for (src, block) in inst.srcs.iter().zip(inst.blocks()) {
            parts.push(format!("[{}, {block}]", operand(*src, inst.ty.words())));
        }
    } else {
        parts.extend((first..inst.srcs.len()).map(|i| source(inst, i)));
        match &inst.targets {
            Targets::None => {}
            Targets::Blocks(b) => parts.extend(b.iter().map(|b| b.to_string())),
            Targets::Offsets { target, reconverge } => {
                parts.push(label(*target));
                parts.extend(reconverge.map(label));
            }
        }
    }
    if info.flags.imm && inst.op != Op::BraScalar {
        parts.push(inst.imm.to_string());
    }
    if !parts.is_empty() {
        let _ = write!(s, " {}", parts.join(", "));
    }
    if inst.loc != SourceLoc::default() {
        let _ = write!(s, " !{}:{}:{}", inst.loc.file, inst.loc.line, inst.loc.column);
    }
    s
}

fn source(inst: &Inst, i: usize) -> String {
    let mut t = operand(inst.srcs[i], inst.src_words(i));
    if inst.abs >> i & 1 == 1 {
        t = format!("|{t}|");
    }
    if inst.neg >> i & 1 == 1 {
        t.insert(0, '-');
    }
    if inst.release >> i & 1 == 1 {
        t.push('!');
    }
    t
}

fn address(inst: &Inst) -> String {
    let mut parts = Vec::new();
    let release = |i: usize| if inst.release >> i & 1 == 1 { "!" } else { "" };
    if inst.srcs[0].is_some() {
        parts.push(format!("{}{}", operand(inst.srcs[0], inst.src_words(0)), release(0)));
    }
    if inst.srcs[1].is_some() || inst.mods.address != AddressMode::U32 {
        parts.push(format!("{} {}{}", inst.mods.address, operand(inst.srcs[1], inst.src_words(1)), release(1)));
    }
    if inst.imm != 0 || parts.is_empty() {
        parts.push(inst.imm.to_string());
    }
    format!("[{}]", parts.join(" + "))
}

fn operand(op: Operand, words: u8) -> String {
    match op {
        Operand::None => "_".into(),
        Operand::Reg(Reg::Virtual { reg, word: 0 }) => reg.to_string(),
        Operand::Reg(Reg::Virtual { reg, word }) => format!("{reg}.{word}"),
        Operand::Reg(Reg::Physical(PhysReg { space, index })) => {
            let letter = match space {
                Space::Local => 'l',
                Space::Main => 'm',
                Space::Scalar => 's',
                _ => 'p',
            };
            if words > 1 {
                format!("{letter}[{index}:{}]", u32::from(index) + u32::from(words) - 1)
            } else {
                format!("{letter}{index}")
            }
        }
        Operand::Special(s) => s.to_string(),
        Operand::Constant(c) => format!("c[{:#x}]", u32::from(c) * 4),
        Operand::Immediate(v) if v < 4096 => v.to_string(),
        Operand::Immediate(v) => format!("{v:#x}"),
    }
}

/// How a target name becomes a target: blocks in MIR, labels in assembly.
pub trait TargetNames {
    /// Adds a target of the instruction being parsed.
    ///
    /// # Errors
    /// A sentence if the name is no target.
    fn target(&mut self, inst: &mut Inst, name: &str) -> Result<(), String>;
}

/// Targets are blocks `bbN`.
pub struct BlockNames;

impl TargetNames for BlockNames {
    fn target(&mut self, inst: &mut Inst, name: &str) -> Result<(), String> {
        let block = parse_block(name)?;
        match &mut inst.targets {
            Targets::Blocks(b) => b.push(block),
            t => *t = Targets::Blocks(smallvec::smallvec![block]),
        }
        Ok(())
    }
}

/// Parses `bbN`.
///
/// # Errors
/// A sentence if it is none.
pub fn parse_block(name: &str) -> Result<Block, String> {
    let n = name.strip_prefix("bb").and_then(|n| n.parse::<u32>().ok()).filter(|n| *n < 1 << 24);
    n.map(|n| Block::new(n as usize)).ok_or_else(|| format!("`{name}` is no block (bbN)"))
}

/// Parses one instruction.
///
/// # Errors
/// A sentence that says what is wrong with which part of the text.
pub fn parse_inst(text: &str, names: &mut dyn TargetNames) -> Result<Inst, String> {
    let mut rest = text.trim();
    let mut loc = SourceLoc::default();
    if let Some((head, tail)) = rest.rsplit_once(" !") {
        let numbers: Vec<u32> = tail.split(':').filter_map(|n| n.trim().parse().ok()).collect();
        if let [file, line, column] = numbers[..] {
            loc = SourceLoc { file, line, column };
            rest = head.trim_end();
        }
    }
    let mut cluster = 0;
    let mut guard = None;
    let mut word;
    loop {
        (word, rest) = rest.split_once(char::is_whitespace).map_or((rest, ""), |(a, b)| (a, b.trim_start()));
        if let Some(n) = word.strip_prefix('c').and_then(|n| n.parse::<u8>().ok()) {
            if n > 7 {
                return Err(format!("cluster {n}: the encoding has clusters 0 to 7"));
            }
            cluster = n;
        } else if let Some(g) = word.strip_prefix('@') {
            let (negate, name) = g.strip_prefix('!').map_or((false, g), |n| (true, n));
            match parse_operand(name)? {
                Operand::Reg(reg) => guard = Some(Guard { reg, negate }),
                _ => return Err(format!("`{name}` is no predicate register")),
            }
        } else {
            break;
        }
    }
    let mut suffixes = word.split('.').peekable();
    let mnemonic = suffixes.next().unwrap_or_default();
    let op = Op::iter()
        .find(|o| o.info().mnemonic == mnemonic)
        .ok_or_else(|| format!("unknown instruction `{mnemonic}`; `heddle isa` lists them"))?;
    let info = op.info();
    let mut inst = Inst::new(op, Type::None, Operand::None, []);
    (inst.cluster, inst.guard, inst.loc) = (cluster, guard, loc);
    fn take<T: FromStr>(suffixes: &mut std::iter::Peekable<std::str::Split<char>>) -> Option<T> {
        let value = T::from_str(suffixes.peek()?).ok()?;
        suffixes.next();
        Some(value)
    }
    if matches!(op, Op::Load | Op::Store | Op::Atomic) {
        let space = take::<MemorySpace>(&mut suffixes);
        inst.mods.space = Some(space.ok_or("a memory instruction needs a space: global, local, private, constant or argument")?);
    }
    if op == Op::Atomic {
        inst.mods.atomic = take::<AtomicOp>(&mut suffixes).ok_or("`atom` needs an operation: add, cmpxchg, …")?;
    }
    if info.flags.cond {
        inst.mods.cond = Some(take::<Cond>(&mut suffixes).ok_or("a condition is missing: eq, lt, olt, …")?);
    }
    if !info.types.contains(&Type::None) {
        inst.ty = take::<Type>(&mut suffixes).ok_or_else(|| format!("`{mnemonic}` needs a type"))?;
        if !info.types.contains(&inst.ty) {
            return Err(format!("`{mnemonic}` has no type `{}`", inst.ty));
        }
    }
    if info.flags.from {
        inst.mods.from = Some(take::<Type>(&mut suffixes).ok_or("a source type is missing")?);
    }
    if info.flags.rounding {
        inst.mods.rounding = take::<Rounding>(&mut suffixes).unwrap_or_default();
    }
    for s in suffixes {
        match s {
            "sat" if info.flags.saturate => inst.mods.saturate = true,
            "z" if op == Op::BraScalar => inst.imm = 1,
            "u" => inst.uniform = true,
            _ => match CachePolicy::from_str(s) {
                Ok(c) if matches!(op, Op::Load | Op::Store) => inst.mods.cache = c,
                _ => return Err(format!("`{mnemonic}` does not take `.{s}`")),
            },
        }
    }
    operands(&mut inst, rest, names)?;
    Ok(inst)
}

fn operands(inst: &mut Inst, text: &str, names: &mut dyn TargetNames) -> Result<(), String> {
    let info = inst.info();
    let mut parts = split_commas(text)?.into_iter();
    let mut next = |what: &str| parts.next().ok_or_else(|| format!("`{}` needs {what}", info.mnemonic));
    if info.dst.is_some() {
        inst.dst = parse_operand(&next("a destination")?)?;
        if !matches!(inst.dst, Operand::Reg(_) | Operand::None) {
            return Err("the destination is no register".into());
        }
    }
    if inst.op == Op::Phi {
        for part in parts {
            let inner = part.strip_prefix('[').and_then(|p| p.strip_suffix(']')).ok_or("a phi takes [value, block] pairs")?;
            let (value, block) = inner.split_once(',').ok_or("a phi takes [value, block] pairs")?;
            inst.srcs.push(parse_operand(value.trim())?);
            names.target(inst, block.trim())?;
        }
        return Ok(());
    }
    if inst.op == Op::Tuple {
        for part in parts {
            inst.srcs.push(parse_operand(&part)?);
        }
        return Ok(());
    }
    let mut first = 0;
    if inst.is_memory() {
        parse_address(inst, &next("an address in brackets")?)?;
        first = 2;
    }
    for i in first..info.srcs.len() {
        let text = next("more operands")?;
        let mut t = text.as_str();
        if let Some(inner) = t.strip_suffix('!') {
            inst.release |= 1 << i;
            t = inner;
        }
        if info.flags.float_mods && !t[1..].is_empty() {
            if let Some(inner) = t.strip_prefix('-').filter(|i| !i.starts_with(|c: char| c.is_ascii_digit())) {
                inst.neg |= 1 << i;
                t = inner;
            }
            if let Some(inner) = t.strip_prefix('|').and_then(|t| t.strip_suffix('|')) {
                inst.abs |= 1 << i;
                t = inner;
            }
        }
        inst.srcs.push(parse_operand(t)?);
    }
    if matches!(inst.op, Op::Bra | Op::BraScalar | Op::BraDivergent) {
        let target = next("a target")?;
        names.target(inst, &target)?;
        if inst.op == Op::BraDivergent {
            if let Some(reconverge) = parts.next() {
                names.target(inst, &reconverge)?;
            }
        }
    } else if info.flags.imm {
        let t = next("a number")?;
        inst.imm = parse_number(&t).ok_or_else(|| format!("`{t}` is no number"))? as i32;
    }
    match parts.next() {
        Some(extra) => Err(format!("`{}` does not take `{extra}`", info.mnemonic)),
        None => Ok(()),
    }
}

fn parse_address(inst: &mut Inst, text: &str) -> Result<(), String> {
    let inner = text.strip_prefix('[').and_then(|t| t.strip_suffix(']'));
    let inner = inner.ok_or_else(|| format!("`{text}` is no address: [base + u32 offset + number]"))?;
    let (mut base, mut offset) = (Operand::None, Operand::None);
    for part in inner.split(" + ").map(str::trim) {
        let (part, release) = part.strip_suffix('!').map_or((part, false), |p| (p, true));
        if let Some((mode, rest)) = part.split_once(' ') {
            inst.mods.address =
                AddressMode::from_str(mode).map_err(|_| format!("`{mode}` is no address mode (u32, s32, a64)"))?;
            offset = parse_operand(rest.trim())?;
            inst.release |= u8::from(release) << 1;
        } else if let Some(v) = parse_number(part) {
            inst.imm = i32::try_from(v).map_err(|_| format!("{v} does not fit 32 bits"))?;
        } else {
            base = parse_operand(part)?;
            inst.release |= u8::from(release);
        }
    }
    inst.srcs.extend([base, offset]);
    Ok(())
}

/// Splits at commas outside brackets.
fn split_commas(text: &str) -> Result<Vec<String>, String> {
    let mut parts = Vec::new();
    let mut depth = 0i32;
    let mut current = String::new();
    for c in text.chars() {
        match c {
            '[' => depth += 1,
            ']' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(current.trim().to_string());
                current.clear();
                continue;
            }
            _ => {}
        }
        current.push(c);
    }
    if depth != 0 {
        return Err("brackets do not match".into());
    }
    if !current.trim().is_empty() || !parts.is_empty() {
        parts.push(current.trim().to_string());
    }
    if parts.iter().any(String::is_empty) {
        return Err("an operand is empty".into());
    }
    Ok(parts)
}

fn parse_number(text: &str) -> Option<i64> {
    let (negative, digits) = text.strip_prefix('-').map_or((false, text), |d| (true, d));
    let digits = digits.strip_prefix('+').unwrap_or(digits);
    let value = match digits.strip_prefix("0x") {
        Some(hex) => i64::from_str_radix(hex, 16).ok()?,
        None if digits.starts_with(|c: char| c.is_ascii_digit()) => digits.parse().ok()?,
        None => return None,
    };
    Some(if negative { -value } else { value })
}

/// Parses an operand without modifiers.
///
/// # Errors
/// A sentence if the text is no operand.
pub fn parse_operand(text: &str) -> Result<Operand, String> {
    let bad = || format!("`{text}` is no operand");
    if text == "_" {
        return Ok(Operand::None);
    }
    if let Some(v) = text.strip_prefix('%') {
        let (reg, word) = v.split_once('.').map_or((v, "0"), |(r, w)| (r, w));
        let reg: u32 = reg.parse().map_err(|_| bad())?;
        let word: u8 = word.parse().map_err(|_| bad())?;
        if word > 3 || reg >= 1 << 28 {
            return Err(bad());
        }
        return Ok(Operand::virt_word(VReg::new(reg as usize), word));
    }
    if let Ok(s) = Special::from_str(text) {
        return Ok(Operand::Special(s));
    }
    if let Some(v) = parse_number(text) {
        return if (i64::from(i32::MIN)..=i64::from(u32::MAX)).contains(&v) {
            Ok(Operand::Immediate(v as u32))
        } else {
            Err(format!("{text} does not fit 32 bits"))
        };
    }
    if let Some(offset) = text.strip_prefix("c[").and_then(|t| t.strip_suffix(']')) {
        let offset = parse_number(offset).ok_or_else(bad)?;
        if offset % 4 != 0 || !(0..1024).contains(&offset) {
            return Err(format!("`{text}`: the constant bank has words at byte offsets 0, 4, … 1020"));
        }
        return Ok(Operand::Constant((offset / 4) as u8));
    }
    let space = match text.as_bytes().first() {
        Some(b'm') => Space::Main,
        Some(b'l') => Space::Local,
        Some(b's') => Space::Scalar,
        Some(b'p') => Space::Predicate,
        _ => return Err(bad()),
    };
    let digits = match text[1..].strip_prefix('[').and_then(|t| t.strip_suffix(']')) {
        Some(range) => range.split_once(':').ok_or_else(bad)?.0,
        None => &text[1..],
    };
    digits.parse::<u8>().map(|index| Operand::phys(space, index)).map_err(|_| bad())
}
