//! The text of instructions, shared by MIR and assembly: printer and parser, inverse to each other
//! (property-tested over the table).
//!
//! ```text
//! [cN ][@[!]pred ]mnemonic[.suffix…] dst, src, …[ !file:line:column][ ; comment]
//!
//!   c1 @!p2 fma.f32 m4, -m1, |s3|, 0x3f800000 !0:12:7 ; 1.0
//!   ld.global.b64.cs %7, [c[0x10] + u32 %4 + 16]
//!   brad bb3, bb5
//! ```
//!
//! - Suffixes stand in a fixed order: memory space, atomic operation, condition, type, source type, rounding,
//!   `sat`, cache policy, `z` (branch if zero), `u` (the u bit, S5), `strand` (a strand begins, C14),
//!   and, of virtual registers, `fresh` (a live range begins although the write is guarded).
//! - Registers: virtual `%12`, from word 1 on `%12.1`; physical `m4 l3 s2 p1`, tuples `m[4:5]`. Specials by
//!   their names (`gid.x`), the constant bank by byte offset `c[0x10]`; an absent operand is `_`.
//! - Immediates are decimal or hexadecimal; the bits of floats are hexadecimal with their value in a comment.
//!   `-x` and `|x|` are the modifiers of float operands; an integer operand takes `-5` as a number. A `!`
//!   after a source releases its register (REN-5).
//! - Memory operands are `[base + mode offset + immediate]`, each part optional; the mode (`u32`, `s32`,
//!   `a64`) stands with the per-lane offset.

use std::fmt::Write;
use std::str::FromStr;
use std::sync::LazyLock;

use cranelift_entity::EntityRef;
use rustc_hash::FxHashMap;
use strum::IntoEnumIterator;

use super::Block;
use super::inst::{Guard, ImageAccess, Inst, Operand, PhysReg, Reg, SourceLoc, SurfacePlace, Targets, VReg};
use super::table::Op;
use super::types::{
    AddressMode, AtomicOp, CacheName, CacheOperation, CachePolicy, Cond, MemorySpace, Rounding, Space, Special, Type,
};

/// Column of a byte offset in a line, from 1, in characters.
pub fn column_of(line: &str, offset: usize) -> usize {
    line.char_indices().take_while(|(i, _)| *i < offset).count() + 1
}

/// Prints an instruction of MIR. Branch distances of encoded instructions print as signed numbers.
pub fn print_inst(inst: &Inst, _files: &[String]) -> String {
    print_with(inst, &|d| format!("{d:+}"), &|_| None)
}

/// Prints an instruction; `label` names the target at a distance, `literal` gives the word at a byte offset in the constant
/// bank if it is a constant of the code.
pub fn print_with(inst: &Inst, label: &dyn Fn(i32) -> String, literal: &dyn Fn(u32) -> Option<u32>) -> String {
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
    match (inst.mods.control, inst.mods.space) {
        (Some((cache, operation)), _) => {
            suffix(cache.into());
            suffix(operation.into());
        }
        (None, Some(space)) => suffix(space.into()),
        (None, None) => {}
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
        suffix(if is_last_use(inst) { "lu" } else { inst.mods.cache.into() });
    }
    if inst.op == Op::BraScalar && inst.imm != 0 {
        suffix("z");
    }
    if inst.uniform {
        suffix("u");
    }
    if inst.strand {
        suffix("strand");
    }
    if inst.fresh {
        suffix("fresh");
    }
    let mut parts: Vec<String> = Vec::new();
    if inst.has_destination() {
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
    if (SourceLoc { point: 0, ..inst.loc }) != SourceLoc::default() {
        let _ = write!(s, " !{}:{}:{}", inst.loc.file, inst.loc.line, inst.loc.column);
    }
    let mut commented = false;
    for (i, src) in inst.srcs.iter().enumerate() {
        let wide = inst.src_words(i) == 2;
        let bits = match *src {
            _ if !inst.src_is_float(i) || inst.srcs[..i].contains(src) => None,
            // A double's immediate is its upper half.
            Operand::Immediate(bits @ 1..) => Some(if wide { u64::from(bits) << 32 } else { bits.into() }),
            Operand::Constant(c) => {
                let word = |c: u32| literal(4 * c).map(u64::from);
                let upper = if wide { word(u32::from(c) + 1) } else { Some(0) };
                word(c.into()).zip(upper).map(|(low, high)| high << 32 | low)
            }
            _ => None,
        };
        if let Some(bits) = bits {
            let separator = if std::mem::replace(&mut commented, true) { "," } else { " ;" };
            let ty = if inst.info().flags.from { inst.mods.from } else { Some(inst.ty) };
            let _ = write!(s, "{separator} {}", float_value(bits, ty));
        }
    }
    s
}

/// The value of a constant float operand, for the reader.
fn float_value(bits: u64, ty: Option<Type>) -> String {
    match ty {
        Some(Type::F16) => format!("{:?}", half::f16::from_bits(bits as u16).to_f32()),
        Some(Type::F64) => format!("{:?}", f64::from_bits(bits)),
        _ => format!("{:?}", f32::from_bits(bits as u32)),
    }
}

fn source(inst: &Inst, i: usize) -> String {
    let mut t = match inst.srcs[i] {
        // Small negative numbers; a float's sign would be read as the modifier.
        Operand::Immediate(v) if (v as i32) < 0 && (v as i32) > -4096 && !inst.src_is_float(i) => (v as i32).to_string(),
        other => operand(other, inst.src_words(i)),
    };
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
    if inst.mods.address == AddressMode::Surface {
        let SurfacePlace { surface, distance: [x, y, z] } = SurfacePlace::from_immediate(inst.imm);
        let place = match (x, y, z) {
            (0, 0, 0) => String::new(),
            (_, _, 0) => format!("({x}, {y})"),
            _ => format!("({x}, {y}, {z})"),
        };
        let uniform = match inst.srcs[0] {
            Operand::None => String::new(),
            o => format!(" + {}", operand(o, 1)),
        };
        return format!("[t{surface}{place}{uniform}]");
    }
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

const fn letter(space: Space) -> char {
    match space {
        Space::Local => 'l',
        Space::Main => 'm',
        Space::Scalar => 's',
        _ => 'p',
    }
}

fn operand(op: Operand, words: u8) -> String {
    match op {
        Operand::None => "_".into(),
        Operand::Reg(Reg::Virtual { reg, word: 0 }) => reg.to_string(),
        Operand::Reg(Reg::Virtual { reg, word }) => format!("{reg}.{word}"),
        Operand::Reg(Reg::Physical(PhysReg { space, index })) => {
            let letter = letter(space);
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

/// A part of an instruction's text that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct TextError {
    /// Byte offset of the part in the text given to [`parse_inst`].
    pub offset: usize,
    /// What is wrong, with a hint where there is one.
    pub message: String,
}

/// Collects errors about parts of one text.
#[derive(Clone, Copy)]
struct Source<'a>(&'a str);

impl<'a> Source<'a> {
    /// An error about `part`, which must be a slice of the text.
    fn error(self, part: &str, message: impl Into<String>) -> TextError {
        let offset = (part.as_ptr() as usize).wrapping_sub(self.0.as_ptr() as usize).min(self.0.len());
        TextError { offset, message: message.into() }
    }

    /// The end of the text, as a part.
    fn end(self) -> &'a str {
        &self.0[self.0.len()..]
    }
}

/// How a target name becomes a target: blocks in MIR, labels or distances in assembly.
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

/// Targets are signed distances in instructions, as [`print_inst`] shows them for encoded branches.
pub struct Distances;

impl TargetNames for Distances {
    fn target(&mut self, inst: &mut Inst, name: &str) -> Result<(), String> {
        let distance = name.parse::<i32>().map_err(|_| format!("`{name}` is no distance in instructions"))?;
        match &mut inst.targets {
            Targets::Offsets { reconverge, .. } => *reconverge = Some(distance),
            t => *t = Targets::Offsets { target: distance, reconverge: None },
        }
        Ok(())
    }
}

/// Parses `bbN`.
///
/// # Errors
/// A sentence if it is none.
pub fn parse_block(name: &str) -> Result<Block, String> {
    let n = name.strip_prefix("bb").filter(|n| n.bytes().all(|b| b.is_ascii_digit())).and_then(|n| n.parse::<u32>().ok());
    n.filter(|n| *n < 1 << 22).map(|n| Block::new(n as usize)).ok_or_else(|| format!("`{name}` is no block (bbN)"))
}

/// Operations by mnemonic.
static MNEMONICS: LazyLock<FxHashMap<&'static str, Op>> = LazyLock::new(|| Op::iter().map(|o| (o.info().mnemonic, o)).collect());

/// Parses one instruction. Syntax only: [`super::rules`] says whether the instruction is valid.
///
/// # Errors
/// What is wrong, and where in the text.
pub fn parse_inst(text: &str, names: &mut dyn TargetNames) -> Result<Inst, TextError> {
    let source = Source(text);
    let mut rest = text.split(';').next().unwrap_or_default().trim();
    let mut loc = SourceLoc::default();
    if let Some((head, tail)) = rest.rsplit_once(" !") {
        let mut numbers = tail.split(':').map(|n| n.trim().parse::<u32>());
        if let (Some(Ok(file)), Some(Ok(line)), Some(Ok(column)), None) =
            (numbers.next(), numbers.next(), numbers.next(), numbers.next())
        {
            loc = SourceLoc { file, line, column, point: 0 };
            rest = head.trim_end();
        }
    }
    let (mut cluster, mut guard) = (None, None);
    let mut word;
    loop {
        (word, rest) = rest.split_once(char::is_whitespace).map_or((rest, &rest[rest.len()..]), |(a, b)| (a, b.trim_start()));
        if let Some(n) = word.strip_prefix('c').and_then(|n| n.parse::<u8>().ok()) {
            if n > 7 {
                return Err(source.error(word, format!("cluster {n}: the encoding has clusters 0 to 7")));
            }
            if cluster.replace(n).is_some() || guard.is_some() {
                return Err(source.error(word, "the cluster stands once, before the guard"));
            }
        } else if let Some(g) = word.strip_prefix('@') {
            let (negate, name) = g.strip_prefix('!').map_or((false, g), |n| (true, n));
            let Ok((Operand::Reg(reg), None)) = parse_operand(name) else {
                return Err(source.error(word, format!("`{name}` is no predicate register; a guard is `@p1` or `@!p1`")));
            };
            if guard.replace(Guard { reg, negate }).is_some() {
                return Err(source.error(word, "a second guard"));
            }
        } else {
            break;
        }
    }
    let mut inst = mnemonic(source, word)?;
    (inst.cluster, inst.guard, inst.loc) = (cluster.unwrap_or(0), guard, loc);
    operands(source, &mut inst, rest, names)?;
    Ok(inst)
}

/// The mnemonic with its suffixes.
fn mnemonic(source: Source, word: &str) -> Result<Inst, TextError> {
    let mut suffixes = word.split('.').peekable();
    let mnemonic = suffixes.next().unwrap_or_default();
    let op = *MNEMONICS.get(mnemonic).ok_or_else(|| {
        let near = MNEMONICS.keys().map(|m| (strsim::osa_distance(m, mnemonic), *m)).min().filter(|(d, _)| *d <= 2);
        let hint = near.map_or("`heddle isa` lists them".to_string(), |(_, m)| format!("did you mean `{m}`?"));
        source.error(word, format!("unknown instruction `{mnemonic}`; {hint}"))
    })?;
    let info = op.info();
    let mut inst = Inst::new(op, Type::None, Operand::None, []);
    fn take<T: FromStr>(suffixes: &mut std::iter::Peekable<std::str::Split<char>>) -> Option<T> {
        let value = T::from_str(suffixes.peek()?).ok()?;
        suffixes.next();
        Some(value)
    }
    let missing = |what: String| source.error(word, what);
    if inst.is_cache_control() {
        let cache = take::<CacheName>(&mut suffixes).unwrap_or(CacheName::D);
        let hint = || {
            missing(format!(
                "`{mnemonic}` needs an operation: qry1, pf1, pf1.5, pf2, wb, iv, ivall or rs, as in `{mnemonic}.d.iv`"
            ))
        };
        let mut operation = take::<CacheOperation>(&mut suffixes).ok_or_else(hint)?;
        if operation == CacheOperation::Pf1 && suffixes.peek() == Some(&"5") {
            suffixes.next();
            operation = CacheOperation::Pf15;
        }
        inst.mods.control = Some((cache, operation));
        inst.mods.space = Some(if op == Op::CacheControl { MemorySpace::Global } else { MemorySpace::Private });
    } else if inst.is_memory() {
        let hint = "a memory instruction needs a space: global, local, private, constant or argument";
        inst.mods.space =
            Some(take::<MemorySpace>(&mut suffixes).ok_or_else(|| missing(format!("{hint}, as in `{mnemonic}.global.b32`")))?);
    }
    if op == Op::Atomic {
        inst.mods.atomic = take::<AtomicOp>(&mut suffixes)
            .ok_or_else(|| missing("`atom` needs an operation, as in `atom.global.add.b32`".into()))?;
    }
    if info.flags.cond {
        inst.mods.cond = Some(
            take::<Cond>(&mut suffixes)
                .ok_or_else(|| missing("a condition is missing, as in `cmp.lt.s32` or `cmp.olt.f32`".into()))?,
        );
    }
    if !info.types.contains(&Type::None) {
        let types = || listed(info.types);
        inst.ty = match take::<Type>(&mut suffixes) {
            Some(ty) => ty,
            None => match suffixes.peek().filter(|s| !s.is_empty() && !["sat", "u", "strand", "fresh"].contains(s)) {
                Some(s) => return Err(source.error(s, format!("`{mnemonic}` has no type `{s}`; it has {}", types()))),
                None => return Err(missing(format!("`{mnemonic}` needs a type: {}", types()))),
            },
        };
        if !info.types.contains(&inst.ty) {
            return Err(missing(format!("`{mnemonic}` has no type `{}`; it has {}", inst.ty, types())));
        }
    }
    if info.flags.from {
        let mut ahead = suffixes.clone();
        let missing_type = || match ahead.next().filter(|s| !s.is_empty() && *s != "sat" && Rounding::from_str(s).is_err()) {
            Some(s) => source.error(s, format!("`{s}` is no type; the source type is one of {}", listed(info.types))),
            None => missing("a source type is missing, as in `cvt.f32.s32`".into()),
        };
        let from = suffixes.peek().and_then(|s| Type::from_str(s).ok()).ok_or_else(missing_type)?;
        suffixes.next();
        inst.mods.from = Some(from);
    }
    if info.flags.rounding {
        inst.mods.rounding = take::<Rounding>(&mut suffixes).unwrap_or_default();
    }
    for s in suffixes {
        match s {
            "sat" if info.flags.saturate => inst.mods.saturate = true,
            "z" if op == Op::BraScalar => inst.imm = 1,
            "u" => inst.uniform = true,
            "strand" => inst.strand = true,
            "fresh" => inst.fresh = true,
            // The defaults' names (K3, K4).
            "ca" if op == Op::Load => {}
            "wb" if op == Op::Store => {}
            "lu" if op == Op::Load && inst.mods.space == Some(MemorySpace::Private) => inst.mods.cache = CachePolicy::Cs,
            "cs" if op == Op::Load && inst.mods.space == Some(MemorySpace::Private) => {
                return Err(
                    source.error(s, "a load of private memory has no `.cs`: on it the encoding means `.lu`, last use (K3)")
                );
            }
            _ => match CachePolicy::from_str(s) {
                Ok(c) if matches!(op, Op::Load | Op::Store) && c != CachePolicy::Default => inst.mods.cache = c,
                Ok(c) if c != CachePolicy::Default => {
                    return Err(source.error(s, format!("`{mnemonic}` has no cache policy `.{c}` (K6)")));
                }
                _ => return Err(source.error(s, format!("`{mnemonic}` does not take `.{s}`"))),
            },
        }
    }
    Ok(inst)
}

fn listed(types: &[Type]) -> String {
    types.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

/// K3: `.cs` of a private load is `.lu`.
fn is_last_use(inst: &Inst) -> bool {
    inst.op == Op::Load && inst.mods.space == Some(MemorySpace::Private) && inst.mods.cache == CachePolicy::Cs
}

fn operands(source: Source, inst: &mut Inst, text: &str, names: &mut dyn TargetNames) -> Result<(), TextError> {
    let info = inst.info();
    let mut parts = split_commas(source, text)?;
    // The number comes last, but may say how many words operands have.
    let numbered = info.flags.imm && info.flags.targets == 0;
    let operands = usize::from(inst.has_destination()) + info.srcs.len();
    match parts.get(operands) {
        Some(number) if numbered => {
            inst.imm = parse_number(number)
                .and_then(|v| i32::try_from(v).ok())
                .ok_or_else(|| source.error(number, format!("`{number}` is no number of 32 bits")))?;
            if matches!(inst.op, Op::Sample | Op::ImageStore) && ImageAccess::from_immediate(inst.imm).is_none() {
                return Err(source.error(number, format!("`{number}` says nothing of an access to an image")));
            }
            parts.remove(operands);
        }
        None if numbered => return Err(source.error(source.end(), format!("`{}` needs a number", info.mnemonic))),
        _ => {}
    }
    let mut parts = parts.into_iter();
    let mut next =
        |what: &str| parts.next().ok_or_else(|| source.error(source.end(), format!("`{}` needs {what}", info.mnemonic)));
    if inst.has_destination() {
        let part = next("a destination")?;
        let (operand, range) = parse_operand(part).map_err(|m| source.error(part, m))?;
        if !matches!(operand, Operand::Reg(_) | Operand::None) {
            return Err(source.error(part, "the destination is no register"));
        }
        inst.dst = operand;
        width(operand, range, inst.dst_words()).map_err(|m| source.error(part, m))?;
    }
    if inst.op == Op::Phi {
        inst.targets = Targets::Blocks(smallvec::SmallVec::new());
        for part in parts {
            let inner = part.strip_prefix('[').and_then(|p| p.strip_suffix(']')).and_then(|p| p.split_once(','));
            let (value, block) = inner.ok_or_else(|| source.error(part, "a phi takes pairs [value, block]"))?;
            let (operand, _) = parse_operand(value.trim()).map_err(|m| source.error(value, m))?;
            inst.srcs.push(operand);
            names.target(inst, block.trim()).map_err(|m| source.error(block, m))?;
        }
        return Ok(());
    }
    if inst.op == Op::Tuple {
        for part in parts {
            inst.srcs.push(parse_operand(part).map_err(|m| source.error(part, m))?.0);
        }
        return Ok(());
    }
    let mut first = 0;
    if inst.is_memory() {
        parse_address(source, inst, next("an address in brackets")?)?;
        first = 2;
    }
    for i in first..info.srcs.len() {
        let part = next("more operands")?;
        let mut t = part;
        if let Some(inner) = t.strip_suffix('!') {
            inst.release |= 1 << i;
            t = inner;
        }
        if inst.src_is_float(i) {
            if let Some(inner) = t.strip_prefix('-') {
                inst.neg |= 1 << i;
                t = inner;
            }
            if let Some(inner) = t.strip_prefix('|').and_then(|t| t.strip_suffix('|')) {
                inst.abs |= 1 << i;
                t = inner;
            }
        }
        let (operand, range) = parse_operand(t).map_err(|m| source.error(part, m))?;
        inst.srcs.push(operand);
        width(operand, range, inst.src_words(i)).map_err(|m| source.error(part, m))?;
    }
    if info.flags.targets > 0 {
        let target = next("a target")?;
        names.target(inst, target).map_err(|m| source.error(target, m))?;
        let second = if info.flags.targets > 1 { parts.next() } else { None };
        if let Some(reconverge) = second {
            names.target(inst, reconverge).map_err(|m| source.error(reconverge, m))?;
        }
    }
    match parts.next() {
        Some(extra) => Err(source.error(extra, format!("`{}` does not take `{extra}`", info.mnemonic))),
        None => Ok(()),
    }
}

/// The registers that the text names must be as many as the operand has.
fn width(operand: Operand, range: Option<u8>, words: u8) -> Result<(), String> {
    let Some(PhysReg { space, index }) = operand.as_phys() else { return Ok(()) };
    // A predicate role has no words; in S it is one register.
    let words = words.max(1);
    if range.unwrap_or(1) == words || space == Space::Predicate {
        return Ok(());
    }
    let letter = letter(space);
    let wanted = if words == 1 {
        format!("`{letter}{index}`")
    } else {
        format!("`{letter}[{index}:{}]`", u32::from(index) + u32::from(words) - 1)
    };
    Err(format!("the operand has {words} word{}: {wanted}", if words == 1 { "" } else { "s" }))
}

fn parse_address(source: Source, inst: &mut Inst, text: &str) -> Result<(), TextError> {
    let inner = text.strip_prefix('[').and_then(|t| t.strip_suffix(']'));
    let inner = inner.ok_or_else(|| source.error(text, format!("`{text}` is no address: [base + u32 offset + number]")))?;
    if let Some(rest) = inner.strip_prefix('t').filter(|r| r.starts_with(|c: char| c.is_ascii_digit())) {
        return parse_surface(source, inst, text, rest);
    }
    let (mut base, mut offset, mut immediate) = (None, None, None);
    for part in inner.split(" + ").map(str::trim) {
        let fail = |m: String| source.error(part, m);
        let (operand, release) = part.strip_suffix('!').map_or((part, false), |p| (p, true));
        let twice = if let Some((mode, rest)) = operand.split_once(' ') {
            inst.mods.address =
                AddressMode::from_str(mode).map_err(|_| fail(format!("`{mode}` is no address mode (u32, s32, a64)")))?;
            inst.release |= u8::from(release) << 1;
            offset.replace(parse_operand(rest.trim()).map_err(fail)?).is_some()
        } else if let Some(v) = parse_number(part) {
            let v = i32::try_from(v).map_err(|_| fail(format!("{v} does not fit a signed 32-bit offset")))?;
            immediate.replace(v).is_some()
        } else {
            inst.release |= u8::from(release);
            base.replace(parse_operand(operand).map_err(fail)?).is_some()
        };
        if twice {
            return Err(fail(format!(
                "`{part}`: the address has such a part already; the per-lane offset needs its mode, as in `u32 {part}`"
            )));
        }
    }
    inst.imm = immediate.unwrap_or(0);
    for (i, part) in [base, offset].into_iter().enumerate() {
        let (operand, range) = part.unwrap_or_default();
        inst.srcs.push(operand);
        width(operand, range, inst.src_words(i)).map_err(|m| source.error(text, m))?;
    }
    Ok(())
}

/// `NUMBER(dx, dy, dz) + uniform` behind the `t`.
fn parse_surface(source: Source, inst: &mut Inst, text: &str, rest: &str) -> Result<(), TextError> {
    let fail = |m: &str| source.error(text, format!("`{text}` is no place on a surface, as [t0(1, -2) + s4]: {m}"));
    inst.mods.address = AddressMode::Surface;
    let (place, uniform) = rest.split_once(" + ").map_or((rest, None), |(p, u)| (p, Some(u.trim())));
    let (number, distances) = match place.split_once('(') {
        None => (place, None),
        Some((n, d)) => (n, Some(d.trim().strip_suffix(')').ok_or_else(|| fail("a parenthesis is missing"))?)),
    };
    let surface = number.trim().parse().map_err(|_| fail("surfaces are t0 to t255"))?;
    let mut distance = [0i8; 3];
    for (i, d) in distances.iter().flat_map(|d| d.split(',')).enumerate() {
        let place = distance.get_mut(i).ok_or_else(|| fail("there are three dimensions"))?;
        *place = d.trim().parse().map_err(|_| fail("distances are from -128 to 127"))?;
    }
    inst.imm = SurfacePlace { surface, distance }.immediate();
    let (operand, range) = match uniform {
        Some(u) => parse_operand(u).map_err(|m| source.error(u, m))?,
        None => Default::default(),
    };
    inst.srcs.push(operand);
    width(operand, range, 1).map_err(|m| source.error(text, m))?;
    inst.srcs.push(Operand::None);
    Ok(())
}

/// Splits at commas outside brackets.
fn split_commas<'a>(source: Source, text: &'a str) -> Result<Vec<&'a str>, TextError> {
    let mut parts = Vec::new();
    let (mut depth, mut start) = (0i32, 0);
    for (i, c) in text.char_indices() {
        match c {
            '[' => depth += 1,
            ']' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(text[start..i].trim());
                start = i + 1;
            }
            _ => {}
        }
    }
    if depth != 0 {
        return Err(source.error(text, "brackets do not match"));
    }
    if !text[start..].trim().is_empty() || !parts.is_empty() {
        parts.push(text[start..].trim());
    }
    match parts.iter().find(|p| p.is_empty()) {
        Some(empty) => Err(source.error(empty, "an operand is empty; an absent one is `_`")),
        None => Ok(parts),
    }
}

/// A decimal or hexadecimal number with an optional sign.
fn parse_number(text: &str) -> Option<i64> {
    let (negative, digits) = text.strip_prefix('-').map_or((false, text), |d| (true, d));
    let digits = if negative { digits } else { digits.strip_prefix('+').unwrap_or(digits) };
    let (digits, radix) = digits.strip_prefix("0x").map_or((digits, 10), |d| (d, 16));
    let value = i64::try_from(u64::from_str_radix(digits, radix).ok().filter(|_| !digits.starts_with('+'))?).ok()?;
    Some(if negative { -value } else { value })
}

/// Parses an operand without modifiers; for a range of physical registers also how many.
///
/// # Errors
/// A sentence if the text is no operand.
pub fn parse_operand(text: &str) -> Result<(Operand, Option<u8>), String> {
    let bad = || format!("`{text}` is no operand (%3, %3.1, m4, m[4:5], s2, p1, gid.x, c[0x10], 42, _)");
    if text == "_" {
        return Ok((Operand::None, None));
    }
    if let Some(v) = text.strip_prefix('%') {
        let (reg, word) = v.split_once('.').unwrap_or((v, "0"));
        let digits = |t: &str| !t.is_empty() && t.bytes().all(|b| b.is_ascii_digit());
        let number = digits(reg).then(|| reg.parse::<u32>().ok()).flatten().filter(|r| *r < 1 << 28).ok_or_else(bad)?;
        let word = digits(word).then(|| word.parse::<u8>().ok()).flatten().filter(|w| *w < 4).ok_or_else(bad)?;
        return Ok((Operand::virt_word(VReg::new(number as usize), word), None));
    }
    if let Ok(s) = Special::from_str(text) {
        return Ok((Operand::Special(s), None));
    }
    if let Some(v) = parse_number(text) {
        return if (i64::from(i32::MIN)..=i64::from(u32::MAX)).contains(&v) {
            Ok((Operand::Immediate(v as u32), None))
        } else {
            Err(format!("{text} does not fit 32 bits"))
        };
    }
    if let Some(offset) = text.strip_prefix("c[").and_then(|t| t.strip_suffix(']')) {
        let offset = parse_number(offset).ok_or_else(bad)?;
        if offset % 4 != 0 || !(0..1024).contains(&offset) {
            return Err(format!("`{text}`: the constant bank has words at byte offsets 0, 4, … 1020"));
        }
        return Ok((Operand::Constant((offset / 4) as u8), None));
    }
    let space = match text.as_bytes().first() {
        Some(b'm') => Space::Main,
        Some(b'l') => Space::Local,
        Some(b's') => Space::Scalar,
        Some(b'p') => Space::Predicate,
        _ => return Err(bad()),
    };
    let index = |digits: &str| -> Result<u8, String> {
        let fine = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
        let number = fine.then(|| digits.parse::<u32>().ok()).flatten().ok_or_else(bad)?;
        u8::try_from(number).map_err(|_| format!("`{text}`: registers go from 0 to 255"))
    };
    match text[1..].strip_prefix('[').and_then(|t| t.strip_suffix(']')) {
        Some(range) => {
            let (first, last) = range.split_once(':').ok_or_else(bad)?;
            let (first, last) = (index(first)?, index(last)?);
            let count = last.checked_sub(first).and_then(|d| d.checked_add(1)).ok_or_else(bad)?;
            Ok((Operand::phys(space, first), Some(count)))
        }
        None => Ok((Operand::phys(space, index(&text[1..])?), None)),
    }
}
