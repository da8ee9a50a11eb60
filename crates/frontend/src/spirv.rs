//! SPIR-V binaries: whether they are kernels that can be compiled here, and their specialisation constants.
//!
//! A binary is words of 32 bits: a header of five, then instructions, each with its length and operation in its first
//! word. What concerns Heddle stands in few of them; the rest is the translator's to read. It is not made for input that
//! is damaged or for graphics, so that is found here. Specialisation constants get their values in the binary itself:
//! they are then its defaults.
//!
//! Reference: SPIR-V Specification 1.6, 2.3 "Physical Layout", 2.12 "Specialization"; OpenCL SPIR-V Environment
//! Specification.

use std::collections::HashMap;

use half::f16;
use spirv::{AddressingModel, Capability, Decoration, ExecutionModel, MAGIC_NUMBER, Op};

/// Words of the header.
pub(crate) const HEADER: usize = 5;

/// What the device does not have, and how it is called.
const LACKING: [(Capability, &str); 8] = [
    (Capability::Pipes, "pipes"),
    (Capability::PipeStorage, "pipes"),
    (Capability::DeviceEnqueue, "kernels that kernels enqueue"),
    (Capability::SubgroupDispatch, "kernels that kernels enqueue"),
    (Capability::NamedBarrier, "named barriers"),
    (Capability::ImageMipmap, "images with mipmaps"),
    (Capability::FunctionPointersINTEL, "pointers to functions"),
    (Capability::AsmINTEL, "assembly of other machines"),
];

/// The value for a specialisation constant.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum SpecValue {
    /// As a user writes it: `16`, `-1`, `0x10`, `2.5`, `true`.
    Text(String),
    /// As a host has it in memory, in its byte order, as many bytes as the type has; one for a Boolean.
    Bytes(Vec<u8>),
}

/// A specialisation constant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpecConstant {
    /// The number by which it is named (`SpecId`).
    pub id: u32,
    /// Its name in the source, if the binary has one.
    pub name: String,
    kind: Kind,
    /// The word at which its instruction begins.
    at: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Bool,
    Int { bits: u32, signed: bool },
    Float { bits: u32 },
}

impl SpecConstant {
    /// Bytes of its value in a host.
    pub fn size(&self) -> usize {
        match self.kind {
            Kind::Bool => 1,
            Kind::Int { bits, .. } | Kind::Float { bits } => bits as usize / 8,
        }
    }

    /// As messages name it: `3 (N, 32-bit integer)`.
    fn described(&self) -> String {
        let ty = match self.kind {
            Kind::Bool => "true or false".to_string(),
            Kind::Int { bits, .. } => format!("{bits}-bit integer"),
            Kind::Float { bits } => format!("{bits}-bit floating point"),
        };
        let name = if self.name.is_empty() { String::new() } else { format!("{}, ", self.name) };
        format!("{} ({name}{ty})", self.id)
    }

    /// The bits of a value, if it fits the type.
    fn bits(&self, value: &SpecValue) -> Result<u64, String> {
        let wrong = |what: &str| Err(format!("specialisation constant {}: {what}", self.described()));
        let text = match value {
            SpecValue::Bytes(bytes) if bytes.len() == self.size() => {
                let mut word = [0; 8];
                word[..bytes.len()].copy_from_slice(bytes);
                return Ok(if self.kind == Kind::Bool { u64::from(word != [0; 8]) } else { u64::from_le_bytes(word) });
            }
            SpecValue::Bytes(bytes) => return wrong(&format!("its value has {} bytes, not {}", self.size(), bytes.len())),
            SpecValue::Text(text) => text.trim(),
        };
        let bits = match self.kind {
            Kind::Bool => match text {
                "true" | "1" => Some(1),
                "false" | "0" => Some(0),
                _ => None,
            },
            Kind::Int { bits, .. } => integer(text, bits),
            Kind::Float { bits } => text.parse::<f64>().ok().map(|x| match bits {
                16 => u64::from(f16::from_f64(x).to_bits()),
                32 => u64::from((x as f32).to_bits()),
                _ => x.to_bits(),
            }),
        };
        bits.map_or_else(|| wrong(&format!("`{text}` is no value for it")), Ok)
    }
}

/// An integer of some bits, signed or not, decimal or hexadecimal.
fn integer(text: &str, bits: u32) -> Option<u64> {
    let (negative, digits) = text.strip_prefix('-').map_or((false, text), |d| (true, d));
    let number = match digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
        Some(digits) => i128::from_str_radix(digits, 16).ok()?,
        None => digits.parse::<i128>().ok()?,
    };
    let number = if negative { -number } else { number };
    let fits = number >= -(1 << (bits - 1)) && number < 1 << bits;
    fits.then_some(number as u64 & (u64::MAX >> (64 - bits)))
}

/// A SPIR-V binary with kernels of OpenCL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Binary {
    words: Vec<u32>,
    constants: Vec<SpecConstant>,
}

/// An instruction: its operation, its operands, and the word at which it begins.
#[derive(Clone, Copy)]
pub(crate) struct Instruction<'a> {
    pub op: u32,
    pub operands: &'a [u32],
    at: usize,
}

impl Instruction<'_> {
    pub fn is(&self, op: Op) -> bool {
        self.op == op as u32
    }

    fn operand(&self, number: usize) -> Result<u32, String> {
        let short = || format!("it is damaged: the instruction at word {} is too short", self.at);
        self.operands.get(number).copied().ok_or_else(short)
    }

    /// The text that begins with an operand.
    fn text(&self, from: usize) -> String {
        let bytes = self.operands.iter().skip(from).flat_map(|w| w.to_le_bytes());
        String::from_utf8_lossy(&bytes.take_while(|b| *b != 0).collect::<Vec<u8>>()).into_owned()
    }
}

impl Binary {
    /// Whether bytes begin as those of a SPIR-V binary do, in either byte order.
    pub fn begins(bytes: &[u8]) -> bool {
        let first = bytes.first_chunk::<4>().map(|b| u32::from_le_bytes(*b));
        first.is_some_and(|w| w == MAGIC_NUMBER || w.swap_bytes() == MAGIC_NUMBER)
    }

    /// Reads a binary.
    ///
    /// # Errors
    /// What is wrong with it, as the end of a sentence about it.
    pub fn read(bytes: &[u8]) -> Result<Binary, String> {
        if !Binary::begins(bytes) {
            return Err("this is no SPIR-V: it does not begin with its magic number 0x07230203".into());
        }
        let (chunks, rest) = bytes.as_chunks::<4>();
        if chunks.len() < HEADER || !rest.is_empty() {
            return Err(format!("it is truncated: {} bytes are no whole number of words, or less than a header", bytes.len()));
        }
        let mut words: Vec<u32> = chunks.iter().map(|c| u32::from_le_bytes(*c)).collect();
        if words[0] != MAGIC_NUMBER {
            words.iter_mut().for_each(|w| *w = w.swap_bytes());
        }
        let instructions = instructions(&words)?;
        check(&instructions)?;
        let constants = constants(&instructions)?;
        Ok(Binary { words, constants })
    }

    /// The version of SPIR-V that its header names: major and minor number.
    pub fn version(&self) -> (u32, u32) {
        let word = self.words.get(1).copied().unwrap_or_default();
        (word >> 16 & 0xff, word >> 8 & 0xff)
    }

    /// Its specialisation constants.
    pub fn constants(&self) -> &[SpecConstant] {
        &self.constants
    }

    /// Its words.
    pub(crate) fn words(&self) -> &[u32] {
        &self.words
    }

    /// As bytes, with little-endian words.
    pub fn to_bytes(&self) -> Vec<u8> {
        self.words.iter().flat_map(|w| w.to_le_bytes()).collect()
    }

    /// The same with values for specialisation constants.
    ///
    /// # Errors
    /// A value that does not fit, or one for a constant that there is not.
    pub fn specialise(&mut self, values: &[(u32, SpecValue)]) -> Result<(), String> {
        for (id, value) in values {
            let mut any = false;
            for constant in self.constants.iter().filter(|c| c.id == *id) {
                any = true;
                let (bits, at) = (constant.bits(value)?, constant.at);
                match constant.kind {
                    Kind::Bool => {
                        let op = if bits == 1 { Op::SpecConstantTrue } else { Op::SpecConstantFalse };
                        self.words[at] = self.words[at] & 0xffff_0000 | op as u32;
                    }
                    // Narrow ones fill their word: with their sign, if they have one.
                    Kind::Int { bits: width @ ..32, signed: true } => {
                        let unused = 64 - width;
                        self.words[at + 3] = (((bits << unused) as i64) >> unused) as u32;
                    }
                    Kind::Int { bits: 64, .. } | Kind::Float { bits: 64 } => {
                        self.words[at + 3] = bits as u32;
                        self.words[at + 4] = (bits >> 32) as u32;
                    }
                    _ => self.words[at + 3] = bits as u32,
                }
            }
            if !any {
                return Err(unknown(*id, &self.constants));
            }
        }
        Ok(())
    }
}

/// What to say of a number that none of some specialisation constants has.
pub(crate) fn unknown(id: u32, constants: &[SpecConstant]) -> String {
    let all: Vec<String> = constants.iter().map(SpecConstant::described).collect();
    let all = if all.is_empty() { "there are none".into() } else { format!("there are: {}", all.join(", ")) };
    format!("there is no specialisation constant {id}; {all}")
}

/// All instructions.
pub(crate) fn instructions(words: &[u32]) -> Result<Vec<Instruction<'_>>, String> {
    let mut result = Vec::new();
    let mut at = HEADER;
    while at < words.len() {
        let length = (words[at] >> 16) as usize;
        let Some(operands) = words.get(at + 1..at + length).filter(|_| length > 0) else {
            return Err(match length {
                0 => format!("it is damaged: the instruction at word {at} has no length"),
                _ => format!(
                    "it is truncated: the instruction at word {at} has {length} words, of which {} are left",
                    words.len() - at
                ),
            });
        };
        result.push(Instruction { op: words[at] & 0xffff, operands, at });
        at += length;
    }
    Ok(result)
}

/// Whether these are kernels that the device can have.
fn check(instructions: &[Instruction]) -> Result<(), String> {
    let mut capabilities = Vec::new();
    let mut model = None;
    let mut open = false;
    let mut entries = Vec::new();
    for i in instructions {
        if i.is(Op::Capability) {
            capabilities.push(i.operand(0)?);
        } else if i.is(Op::MemoryModel) {
            model = Some(i.operand(0)?);
        } else if i.is(Op::EntryPoint) {
            entries.push((i.operand(0)?, i.text(2)));
        } else if i.is(Op::Function) || i.is(Op::FunctionEnd) {
            if open == i.is(Op::Function) {
                return Err(format!(
                    "it is damaged: a function begins or ends at word {}, inside of another one or of none",
                    i.at
                ));
            }
            open = !open;
        }
    }
    if open {
        return Err("it is truncated: its last function has no end".into());
    }
    let has = |c: Capability| capabilities.contains(&(c as u32));
    let other = entries.iter().find(|(m, _)| *m != ExecutionModel::Kernel as u32);
    if other.is_some() || has(Capability::Shader) && !has(Capability::Kernel) {
        let entry = other.map(|(model, name)| match ExecutionModel::from_u32(*model) {
            Some(model) => format!(" (entry point `{name}`, {model:?})"),
            None => format!(" (entry point `{name}`)"),
        });
        let entry = entry.unwrap_or_default();
        return Err(format!("it is a shader of a graphics system{entry}; Heddle runs kernels of OpenCL (capability Kernel)"));
    }
    match model.map(AddressingModel::from_u32) {
        Some(Some(AddressingModel::Physical64)) => {}
        Some(Some(other)) => {
            return Err(format!(
                "its addresses are {other:?}, and those of the device have 64 bits; make it for Physical64 (spir64, spirv64)"
            ));
        }
        _ => return Err("it has no addressing model (OpMemoryModel)".into()),
    }
    match LACKING.iter().find(|(c, _)| has(*c)) {
        Some((capability, what)) => Err(format!("it needs {what} (capability {capability:?}), which the device does not have")),
        None => Ok(()),
    }
}

/// The specialisation constants.
fn constants(instructions: &[Instruction]) -> Result<Vec<SpecConstant>, String> {
    let (mut ids, mut names, mut kinds) = (HashMap::new(), HashMap::new(), HashMap::new());
    let mut constants = Vec::new();
    for i in instructions {
        if i.is(Op::Decorate) && i.operand(1)? == Decoration::SpecId as u32 {
            ids.insert(i.operand(0)?, i.operand(2)?);
        } else if i.is(Op::Name) {
            names.insert(i.operand(0)?, i.text(1));
        } else if i.is(Op::TypeBool) {
            kinds.insert(i.operand(0)?, Kind::Bool);
        } else if i.is(Op::TypeInt) {
            kinds.insert(i.operand(0)?, Kind::Int { bits: i.operand(1)?, signed: i.operand(2)? == 1 });
        } else if i.is(Op::TypeFloat) {
            kinds.insert(i.operand(0)?, Kind::Float { bits: i.operand(1)? });
        } else if [Op::SpecConstant, Op::SpecConstantTrue, Op::SpecConstantFalse].iter().any(|op| i.is(*op)) {
            let (ty, result) = (i.operand(0)?, i.operand(1)?);
            let (Some(id), Some(kind)) = (ids.get(&result).copied(), kinds.get(&ty).copied()) else { continue };
            let literals = match kind {
                Kind::Bool => 0,
                Kind::Int { bits: 8 | 16 | 32, .. } | Kind::Float { bits: 16 | 32 } => 1,
                Kind::Int { bits: 64, .. } | Kind::Float { bits: 64 } => 2,
                _ => return Err(format!("specialisation constant {id} has a type that OpenCL C does not have")),
            };
            if i.operands.len() != 2 + literals || (kind == Kind::Bool) == i.is(Op::SpecConstant) {
                return Err(format!("it is damaged: the specialisation constant at word {} does not fit its type", i.at));
            }
            constants.push(SpecConstant { id, name: names.get(&result).cloned().unwrap_or_default(), kind, at: i.at });
        }
    }
    Ok(constants)
}

/// Reads a word that sets a specialisation constant: `3=16`.
///
/// # Errors
/// A sentence about the word.
pub fn parse_spec(word: &str) -> Result<(u32, SpecValue), String> {
    let parts = word.split_once('=').and_then(|(id, value)| Some((id.trim().parse().ok()?, value)));
    match parts.filter(|(_, value)| !value.trim().is_empty()) {
        Some((id, value)) => Ok((id, SpecValue::Text(value.into()))),
        None => Err(format!("--spec {word}: a specialisation constant is set by its number, as in --spec 3=16")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Words of a binary of instructions: (operation, operands).
    fn binary(instructions: &[(Op, &[u32])]) -> Vec<u8> {
        let mut words = vec![MAGIC_NUMBER, 0x0001_0000, 0, 100, 0];
        for (op, operands) in instructions {
            words.push(((operands.len() as u32 + 1) << 16) | *op as u32);
            words.extend(*operands);
        }
        words.iter().flat_map(|w| w.to_le_bytes()).collect()
    }

    const KERNEL: [(Op, &[u32]); 2] = [(Op::Capability, &[6]), (Op::MemoryModel, &[2, 2])];

    fn with(more: &[(Op, &[u32])]) -> Vec<u8> {
        binary(&[&KERNEL, more].concat())
    }

    fn error(bytes: &[u8]) -> String {
        Binary::read(bytes).unwrap_err()
    }

    #[test]
    fn what_is_no_kernel_is_refused_with_its_reason() {
        assert!(error(b"").contains("no SPIR-V") && error(b"BC\xc0\xde1234").contains("no SPIR-V"));
        assert!(error(&MAGIC_NUMBER.to_le_bytes()).contains("truncated"));
        let whole = with(&[(Op::Name, &[1, 0x41])]);
        assert!(Binary::read(&whole).is_ok());
        for cut in 21..whole.len() {
            // A cut between instructions may leave what is whole.
            let cut_inside = Binary::read(&whole[..cut]).is_err() || [28, 40].contains(&cut);
            assert!(cut_inside, "{cut}");
        }
        assert!(error(&with(&[(Op::Function, &[1, 2, 0, 3])])).contains("no end"));
        assert!(error(&with(&[(Op::FunctionEnd, &[])])).contains("damaged"));
        let zero = [with(&[]), vec![0; 4]].concat();
        assert!(error(&zero).contains("no length"), "{}", error(&zero));
        let shader: [(Op, &[u32]); 3] =
            [(Op::Capability, &[1]), (Op::MemoryModel, &[0, 1]), (Op::EntryPoint, &[5, 4, 0x6e69_616d, 0])];
        let text = error(&binary(&shader));
        assert!(text.contains("shader") && text.contains("`main`, GLCompute"), "{text}");
        let narrow = error(&binary(&[(Op::Capability, &[6]), (Op::MemoryModel, &[1, 2])]));
        assert!(narrow.contains("Physical32") && narrow.contains("spir64"), "{narrow}");
        let pipes = error(&with(&[(Op::Capability, &[Capability::Pipes as u32])]));
        assert!(pipes.contains("pipes (capability Pipes)"), "{pipes}");
    }

    #[test]
    fn the_other_byte_order_is_read() {
        let bytes = with(&[(Op::Name, &[1, 0x41])]);
        let swapped: Vec<u8> = bytes.chunks(4).flat_map(|c| c.iter().rev().copied().collect::<Vec<u8>>()).collect();
        assert_eq!(Binary::read(&swapped), Binary::read(&bytes));
        assert_eq!(Binary::read(&swapped).unwrap().to_bytes(), bytes);
    }

    /// One constant of each type: 8-bit signed 1, 32-bit 2, 64-bit 3, half 4, double 5, Boolean 6.
    fn specialisable() -> Binary {
        let spec_id = Decoration::SpecId as u32;
        let decorations: Vec<[u32; 3]> = (1..=6).map(|n| [20 + n, spec_id, n]).collect();
        let mut instructions: Vec<(Op, &[u32])> = decorations.iter().map(|d| (Op::Decorate, &d[..])).collect();
        instructions.extend::<[(Op, &[u32]); 13]>([
            (Op::Name, &[22, 0x4e]),
            (Op::TypeInt, &[1, 8, 1]),
            (Op::TypeInt, &[2, 32, 0]),
            (Op::TypeInt, &[3, 64, 0]),
            (Op::TypeFloat, &[4, 16]),
            (Op::TypeFloat, &[5, 64]),
            (Op::TypeBool, &[6]),
            (Op::SpecConstant, &[1, 21, 7]),
            (Op::SpecConstant, &[2, 22, 7]),
            (Op::SpecConstant, &[3, 23, 7, 0]),
            (Op::SpecConstant, &[4, 24, 7]),
            (Op::SpecConstant, &[5, 25, 7, 0]),
            (Op::SpecConstantTrue, &[6, 26]),
        ]);
        Binary::read(&with(&instructions)).unwrap()
    }

    #[test]
    fn constants_take_values_of_their_types() {
        let mut binary = specialisable();
        assert_eq!(binary.constants().iter().map(SpecConstant::size).collect::<Vec<_>>(), [1, 4, 8, 2, 8, 1]);
        let text = |n: u32, t: &str| (n, SpecValue::Text(t.into()));
        let values =
            [text(1, "-2"), text(2, "0xffffffff"), text(3, "4294967296"), text(4, "1.5"), text(5, "-0.5"), text(6, "false")];
        binary.specialise(&values).unwrap();
        let words = |n: usize| &binary.words[binary.constants[n].at..];
        assert_eq!(words(0)[3], -2i32 as u32);
        assert_eq!(words(1)[3], u32::MAX);
        assert_eq!(words(2)[3..5], [0, 1]);
        assert_eq!(words(3)[3], 0x3e00);
        assert_eq!(words(4)[3..5], [0, 0xbfe0_0000]);
        assert_eq!(words(5)[0] & 0xffff, Op::SpecConstantFalse as u32);
        // Hosts give bytes.
        let mut binary = specialisable();
        binary.specialise(&[(2, SpecValue::Bytes(vec![1, 2, 3, 4])), (6, SpecValue::Bytes(vec![2]))]).unwrap();
        assert_eq!(binary.words[binary.constants[1].at + 3], 0x0403_0201);
        assert_eq!(binary.words[binary.constants[5].at] & 0xffff, Op::SpecConstantTrue as u32);
        assert!(Binary::read(&binary.to_bytes()).is_ok());
    }

    #[test]
    fn values_that_do_not_fit_are_refused() {
        let mut binary = specialisable();
        for (id, value) in [(1, "256"), (1, "-129"), (2, "1.5"), (2, "4294967296"), (5, "x"), (6, "2")] {
            let text = binary.specialise(&[(id, SpecValue::Text(value.into()))]).unwrap_err();
            assert!(text.contains(&format!("specialisation constant {id} (")) && text.contains(value), "{text}");
        }
        let text = binary.specialise(&[(2, SpecValue::Bytes(vec![0; 8]))]).unwrap_err();
        assert_eq!(text, "specialisation constant 2 (N, 32-bit integer): its value has 4 bytes, not 8");
        let text = binary.specialise(&[(9, SpecValue::Text("1".into()))]).unwrap_err();
        assert!(text.starts_with("there is no specialisation constant 9; there are: 1 (8-bit integer), 2 (N, "), "{text}");
    }
}
