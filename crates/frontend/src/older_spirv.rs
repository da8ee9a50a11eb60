//! SPIR-V 1.4 in the words of older versions, for translators that know these only: LLVM's of Debian 12 refuses the
//! instructions that came with 1.4.
//!
//! - `OpPtrEqual`, `OpPtrNotEqual` and `OpPtrDiff` become arithmetic of the addresses as integers,
//! - `OpCopyLogical` takes a value apart to what is no structure and no array, and puts it together with the other type,
//! - of the two sets of memory operands of `OpCopyMemorySized` one is made that is true of both sides,
//! - `OpCopyMemory` is a load and a store, in all versions: the same translator ends at it before its time,
//! - `OpDecorateString` and `OpMemberDecorateString`, which only name things, go.
//!
//! Reference: SPIR-V Specification 1.6, 3.49.8 "Memory Instructions", 3.49.12 "Composite Instructions", 3.26 "Memory
//! Operands". What is damaged, or not of a kind that these instructions take, stays as it is: the translator says what is wrong.

use std::collections::{BTreeSet, HashMap};

use spirv::Op;

use crate::spirv::{HEADER, Instruction, instructions};

/// Memory operands: an access is not left out; its alignment follows; a scope follows.
const VOLATILE: u32 = 1;
const ALIGNED: u32 = 2;
const MAKES_AVAILABLE: u32 = 8;
const MAKES_VISIBLE: u32 = 16;

/// Elements of an array that is copied one by one.
const MOST_ELEMENTS: u64 = 4096;

/// The words of a binary without what came with SPIR-V 1.4.
pub(crate) fn without_new_instructions(words: &[u32]) -> Vec<u32> {
    let Ok(all) = instructions(words) else { return words.to_vec() };
    let changed = [
        Op::CopyLogical,
        Op::PtrEqual,
        Op::PtrNotEqual,
        Op::PtrDiff,
        Op::CopyMemory,
        Op::CopyMemorySized,
        Op::DecorateString,
        Op::MemberDecorateString,
    ];
    let is_new = |i: &Instruction| changed.iter().any(|op| i.is(*op));
    if !all.iter().any(is_new) {
        return words.to_vec();
    }
    let (types, out) = (Types::of(&all), words[..HEADER].to_vec());
    let mut rewriter = Rewriter { types, bound: words[3], out, address: None, sizes: HashMap::new() };
    for i in &all {
        if i.is(Op::Function) && rewriter.address.is_none() {
            rewriter.declare(all.iter().filter(|i| i.is(Op::PtrDiff)));
        }
        if rewriter.replace(i).is_none() {
            rewriter.emit(i.op, i.operands);
        }
    }
    rewriter.out[3] = rewriter.bound;
    rewriter.out
}

/// What is known of a type.
enum Type {
    /// Scalars, and what else is no structure or array of values: bytes, which are its alignment, too.
    Plain(u64),
    /// A vector: its component's type and how many.
    Vector(u32, u64),
    /// An array: its element's type and how many.
    Array(u32, u64),
    /// A structure: its members' types.
    Struct(Vec<u32>),
}

/// The types of a binary.
struct Types {
    types: HashMap<u32, Type>,
    /// What pointers of a type point to.
    pointees: HashMap<u32, u32>,
    /// The types of values, as far as they are pointers.
    pointers: HashMap<u32, u32>,
    /// Integers of 64 bits.
    long: Option<u32>,
    /// Structures without padding.
    packed: Vec<u32>,
}

impl Types {
    fn of(all: &[Instruction]) -> Types {
        let mut found =
            Types { types: HashMap::new(), pointees: HashMap::new(), pointers: HashMap::new(), long: None, packed: Vec::new() };
        let mut numbers = HashMap::new();
        for i in all {
            let [first, rest @ ..] = i.operands else { continue };
            let known = match (i.op, rest) {
                (op, [bits, signed]) if op == Op::TypeInt as u32 => {
                    if (*bits, *signed) == (64, 0) {
                        found.long = Some(*first);
                    }
                    Type::Plain(u64::from(*bits / 8))
                }
                (op, [bits, ..]) if op == Op::TypeFloat as u32 => Type::Plain(u64::from(*bits / 8)),
                (op, _) if op == Op::TypeBool as u32 => Type::Plain(1),
                (op, [component, count]) if op == Op::TypeVector as u32 => Type::Vector(*component, (*count).into()),
                (op, [element, length]) if op == Op::TypeArray as u32 => {
                    Type::Array(*element, numbers.get(length).copied().unwrap_or_default())
                }
                (op, members) if op == Op::TypeStruct as u32 => Type::Struct(members.to_vec()),
                (op, [_, pointee]) if op == Op::TypePointer as u32 => {
                    found.pointees.insert(*first, *pointee);
                    Type::Plain(8)
                }
                (op, [result, low, high @ ..]) if op == Op::Constant as u32 => {
                    let high = high.first().copied().unwrap_or_default();
                    numbers.insert(*result, u64::from(high) << 32 | u64::from(*low));
                    continue;
                }
                (op, [decoration, ..]) if op == Op::Decorate as u32 && *decoration == spirv::Decoration::CPacked as u32 => {
                    found.packed.push(*first);
                    continue;
                }
                // A result behind its type; what is none of these has no such type.
                (_, [result, ..]) => {
                    if found.pointees.contains_key(first) {
                        found.pointers.insert(*result, *first);
                    }
                    continue;
                }
                _ => continue,
            };
            found.types.insert(*first, known);
        }
        found
    }

    /// Bytes from one element to the next of what a pointer points to.
    fn distance(&self, pointer: u32) -> Option<u64> {
        let pointee = self.pointees.get(self.pointers.get(&pointer)?)?;
        self.size(*pointee).map(|(bytes, _)| bytes).filter(|bytes| *bytes > 0)
    }

    /// Bytes of a type, and its alignment, as OpenCL C lays it out.
    fn size(&self, ty: u32) -> Option<(u64, u64)> {
        Some(match self.types.get(&ty)? {
            Type::Plain(bytes) => (*bytes, *bytes),
            Type::Vector(component, count) => {
                let bytes = self.size(*component)?.0 * count.next_power_of_two();
                (bytes, bytes)
            }
            Type::Array(element, count) => {
                let (bytes, align) = self.size(*element)?;
                (bytes * count, align)
            }
            Type::Struct(members) => {
                let packed = self.packed.contains(&ty);
                let (mut end, mut align) = (0u64, 1);
                for member in members {
                    let (bytes, needed) = self.size(*member)?;
                    let needed = if packed { 1 } else { needed };
                    end = end.checked_next_multiple_of(needed)? + bytes;
                    align = align.max(needed);
                }
                (end.next_multiple_of(align), align)
            }
        })
    }
}

struct Rewriter {
    types: Types,
    /// The first number that no value has.
    bound: u32,
    out: Vec<u32>,
    /// The type that addresses have as integers, once it is declared.
    address: Option<u32>,
    /// Constants of that type.
    sizes: HashMap<u64, u32>,
}

impl Rewriter {
    fn emit(&mut self, op: u32, operands: &[u32]) {
        self.out.push(((operands.len() as u32 + 1) << 16) | op);
        self.out.extend(operands);
    }

    fn new_id(&mut self) -> u32 {
        self.bound += 1;
        self.bound - 1
    }

    /// A new value of an instruction.
    fn value(&mut self, op: Op, ty: u32, operands: &[u32]) -> u32 {
        let result = self.new_id();
        let all: Vec<u32> = [ty, result].iter().chain(operands).copied().collect();
        self.emit(op as u32, &all);
        result
    }

    /// Declares, before the first function, integers of 64 bits, unless the binary has them, and the sizes by which differences of
    /// pointers are divided.
    fn declare<'a>(&mut self, differences: impl Iterator<Item = &'a Instruction<'a>>) {
        let address = self.types.long.unwrap_or_else(|| {
            let ty = self.new_id();
            self.emit(Op::TypeInt as u32, &[ty, 64, 0]);
            ty
        });
        self.address = Some(address);
        for size in differences.filter_map(|i| self.types.distance(*i.operands.get(2)?)).collect::<BTreeSet<u64>>() {
            let id = self.value(Op::Constant, address, &[size as u32, (size >> 32) as u32]);
            self.sizes.insert(size, id);
        }
    }

    /// Writes other instructions in an instruction's place; `None` if it stays.
    fn replace(&mut self, i: &Instruction) -> Option<()> {
        match i.operands {
            _ if i.is(Op::DecorateString) || i.is(Op::MemberDecorateString) => {}
            [ty, result, a, b] if i.is(Op::PtrEqual) || i.is(Op::PtrNotEqual) => {
                let address = self.address?;
                let [a, b] = [a, b].map(|p| self.value(Op::ConvertPtrToU, address, &[*p]));
                let op = if i.is(Op::PtrEqual) { Op::IEqual } else { Op::INotEqual };
                self.emit(op as u32, &[*ty, *result, a, b]);
            }
            [ty, result, a, b] if i.is(Op::PtrDiff) => self.difference((*ty, *result), [*a, *b])?,
            [ty, result, operand] if i.is(Op::CopyLogical) => {
                let (Type::Struct(_) | Type::Array(..)) = self.types.types.get(ty)? else { return None };
                self.copied(*ty, *operand, &mut Vec::new(), Some(*result))?;
            }
            [target, source, operands @ ..] if i.is(Op::CopyMemory) => self.copy(*target, *source, operands)?,
            [target, source, size, operands @ ..] if i.is(Op::CopyMemorySized) && operands.len() > 1 => {
                let all: Vec<u32> = [*target, *source, *size].into_iter().chain(for_both(operands)?).collect();
                self.emit(i.op, &all);
            }
            _ => return None,
        }
        Some(())
    }

    /// A copy of what a pointer points to.
    fn copy(&mut self, target: u32, source: u32, operands: &[u32]) -> Option<()> {
        let pointee = *self.types.pointees.get(self.types.pointers.get(&source)?)?;
        // The operands of the source follow those of the target; one set is for both.
        let behind = if operands.is_empty() { operands } else { memory_operands(operands)?.1 };
        let (of_target, of_source) = match behind {
            [] => (operands, operands),
            _ => (&operands[..operands.len() - behind.len()], behind),
        };
        let value = self.value(Op::Load, pointee, &[&[source], of_source].concat());
        self.emit(Op::Store as u32, &[&[target, value], of_target].concat());
        Some(())
    }

    /// How many elements one pointer is behind another.
    fn difference(&mut self, (ty, result): (u32, u32), pointers: [u32; 2]) -> Option<()> {
        let address = self.address?;
        let size = *self.sizes.get(&self.types.distance(pointers[0])?)?;
        let Type::Plain(width) = *self.types.types.get(&ty)? else { return None };
        let [a, b] = pointers.map(|p| self.value(Op::ConvertPtrToU, address, &[p]));
        let bytes = self.value(Op::ISub, address, &[a, b]);
        let elements = self.value(Op::SDiv, address, &[bytes, size]);
        let op = match width {
            8 if ty == address => Op::CopyObject,
            8 => Op::Bitcast,
            _ => Op::UConvert,
        };
        self.emit(op as u32, &[ty, result, elements]);
        Some(())
    }

    /// What a value has at a path of members, as a value of a type with the same structure; it gets a number, if one is given.
    fn copied(&mut self, ty: u32, value: u32, path: &mut Vec<u32>, result: Option<u32>) -> Option<u32> {
        let members = match self.types.types.get(&ty)? {
            Type::Struct(members) => members.clone(),
            Type::Array(element, count) if *count <= MOST_ELEMENTS => vec![*element; *count as usize],
            Type::Array(..) => return None,
            Type::Plain(_) | Type::Vector(..) => {
                let operands: Vec<u32> = std::iter::once(value).chain(path.iter().copied()).collect();
                return Some(self.value(Op::CompositeExtract, ty, &operands));
            }
        };
        let mut parts = Vec::new();
        for (number, member) in members.into_iter().enumerate() {
            path.push(number as u32);
            parts.push(self.copied(member, value, path, None)?);
            path.pop();
        }
        let result = result.unwrap_or_else(|| self.new_id());
        let operands: Vec<u32> = [ty, result].into_iter().chain(parts).collect();
        self.emit(Op::CompositeConstruct as u32, &operands);
        Some(result)
    }
}

/// What is said of an access to memory.
struct MemoryOperands {
    mask: u32,
    /// In bytes, if it is said.
    alignment: Option<u32>,
}

/// One set of memory operands of those of the target and the source of a copy: what holds for both. `None` if there is one only.
fn for_both(operands: &[u32]) -> Option<Vec<u32>> {
    let (target, rest) = memory_operands(operands)?;
    let (source, _) = memory_operands(rest)?;
    let alignment = target.alignment.zip(source.alignment).map(|(a, b)| a.min(b));
    let mask = (target.mask | source.mask) & VOLATILE | if alignment.is_some() { ALIGNED } else { 0 };
    Some(std::iter::once(mask).chain(alignment).collect())
}

/// A set of memory operands, and what follows it.
fn memory_operands(operands: &[u32]) -> Option<(MemoryOperands, &[u32])> {
    let (mask, mut rest) = operands.split_first()?;
    let mut alignment = None;
    for bit in [ALIGNED, MAKES_AVAILABLE, MAKES_VISIBLE] {
        if mask & bit != 0 {
            let (operand, behind) = rest.split_first()?;
            if bit == ALIGNED {
                alignment = Some(*operand);
            }
            rest = behind;
        }
    }
    Some((MemoryOperands { mask: *mask, alignment }, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A binary of instructions, with numbers up to 99.
    fn binary(all: &[(Op, &[u32])]) -> Vec<u32> {
        let mut words = vec![spirv::MAGIC_NUMBER, 0x1_0400, 0, 100, 0];
        for (op, operands) in all {
            words.push(((operands.len() as u32 + 1) << 16) | *op as u32);
            words.extend(*operands);
        }
        words
    }

    #[test]
    fn what_is_older_stays_as_it_is() {
        let words = binary(&[(Op::TypeInt, &[1, 32, 0]), (Op::Function, &[2, 3, 0, 4]), (Op::FunctionEnd, &[])]);
        assert_eq!(without_new_instructions(&words), words);
        // So does what is damaged.
        let mut short = words;
        short.pop();
        short.push(9 << 16 | Op::PtrEqual as u32);
        assert_eq!(without_new_instructions(&short), short);
    }

    #[test]
    fn integers_of_64_bits_are_declared_where_there_are_none() {
        let all: [(Op, &[u32]); 5] = [
            (Op::TypeBool, &[1]),
            (Op::Function, &[2, 3, 0, 4]),
            (Op::PtrEqual, &[1, 5, 6, 7]),
            (Op::DecorateString, &[5, 5635, 0]),
            (Op::FunctionEnd, &[]),
        ];
        let mut expected = binary(&[
            (Op::TypeBool, &[1]),
            (Op::TypeInt, &[100, 64, 0]),
            (Op::Function, &[2, 3, 0, 4]),
            (Op::ConvertPtrToU, &[100, 101, 6]),
            (Op::ConvertPtrToU, &[100, 102, 7]),
            (Op::IEqual, &[1, 5, 101, 102]),
            (Op::FunctionEnd, &[]),
        ]);
        expected[3] = 103;
        assert_eq!(without_new_instructions(&binary(&all)), expected);
    }

    #[test]
    fn differences_of_unknown_types_and_of_nothing_stay() {
        let all: [(Op, &[u32]); 5] = [
            (Op::TypeInt, &[1, 64, 0]),
            (Op::TypePointer, &[2, 5, 9]),
            (Op::Function, &[3, 4, 0, 8]),
            (Op::FunctionParameter, &[2, 5]),
            (Op::PtrDiff, &[1, 6, 5, 5]),
        ];
        assert_eq!(without_new_instructions(&binary(&all)), binary(&all));
        let mut empty = all.to_vec();
        empty.insert(1, (Op::TypeStruct, &[9]));
        assert_eq!(without_new_instructions(&binary(&empty)), binary(&empty));
    }

    #[test]
    fn one_set_of_memory_operands_is_true_of_both_sides() {
        assert_eq!(for_both(&[VOLATILE]), None, "there is one only");
        assert_eq!(for_both(&[ALIGNED, 16, ALIGNED, 4]), Some(vec![ALIGNED, 4]));
        assert_eq!(for_both(&[ALIGNED, 16, VOLATILE]), Some(vec![VOLATILE]));
        assert_eq!(for_both(&[MAKES_AVAILABLE | ALIGNED, 8, 77, 4]), Some(vec![0]));
        assert_eq!(for_both(&[ALIGNED]), None, "it is damaged");
    }

    #[test]
    fn sizes_are_those_of_opencl_c() {
        let all: [(Op, &[u32]); 9] = [
            (Op::Decorate, &[8, spirv::Decoration::CPacked as u32]),
            (Op::TypeInt, &[1, 8, 0]),
            (Op::TypeInt, &[2, 32, 0]),
            (Op::Constant, &[2, 3, 5]),
            (Op::TypeVector, &[4, 2, 3]),
            (Op::TypeArray, &[5, 1, 3]),
            (Op::TypeStruct, &[6, 1, 4, 1]),
            (Op::TypeStruct, &[7, 2, 5]),
            (Op::TypeStruct, &[8, 1, 2]),
        ];
        let words = binary(&all);
        let types = Types::of(&instructions(&words).unwrap());
        let sizes = [1, 4, 5, 6, 7, 8].map(|ty| types.size(ty));
        assert_eq!(sizes, [Some((1, 1)), Some((16, 16)), Some((5, 1)), Some((48, 16)), Some((12, 4)), Some((5, 1))]);
        assert_eq!(types.size(9), None);
    }
}
