//! SPIR-V 1.4 in the instructions of older versions, for translators that know these only: `llvm-spirv-15`, Debian 12's,
//! ends at those that came with 1.4. Newer translators get the same words, which mean the same to them.
//!
//! - `OpPtrEqual`, `OpPtrNotEqual` and `OpPtrDiff` become arithmetic of the addresses as integers,
//! - `OpCopyLogical` takes a value apart to what is no structure and no array, and puts it into one of the other type, part by
//!   part: the same translator takes an `OpCompositeConstruct` of structures for one of constants,
//! - of the two sets of memory operands of `OpCopyMemorySized` one is made that is true of both sides,
//! - `OpCopyMemory` is a load and a store, and of structures and arrays an `OpCopyMemorySized`, in all versions: the same
//!   translator ends at it before its time,
//! - `OpDecorateString` and `OpMemberDecorateString`, which only name things, go.
//!
//! Reference: SPIR-V Specification 1.6, 3.49.8 "Memory Instructions", 3.49.12 "Composite Instructions", 3.26 "Memory
//! Operands". What is damaged, or not of a kind that these instructions take, stays as it is: the translator says what is wrong.

use std::collections::{BTreeSet, HashMap};

use spirv::Op;

use crate::spirv::{HEADER, Instruction, instructions};

// Bits of memory operands. Of those that have an operand of their own, the operands follow in the order of the bits.
/// `Volatile`.
const VOLATILE: u32 = 1;
/// `Aligned`: the alignment in bytes follows.
const ALIGNED: u32 = 2;
/// `Nontemporal`.
const NONTEMPORAL: u32 = 4;
/// `MakePointerAvailable`: a scope follows.
const MAKES_AVAILABLE: u32 = 8;
/// `MakePointerVisible`: a scope follows.
const MAKES_VISIBLE: u32 = 16;
/// `NonPrivatePointer`.
const NOT_PRIVATE: u32 = 32;
/// `AliasScopeINTELMask`: a list of alias scopes follows.
const ALIAS_SCOPES: u32 = 0x10000;
/// `NoAliasINTELMask`: a list of alias scopes follows.
const NO_ALIAS: u32 = 0x20000;

/// Parts that a value has at most that is copied to another type of the same structure; larger ones are left to the translator.
const MOST_PARTS: usize = 4096;

/// How deep structures and arrays are in each other at most; deeper ones, and such as contain themselves, are left alone.
const DEEPEST: u32 = 64;

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
    if !all.iter().any(|i| changed.iter().any(|op| i.is(*op))) {
        return words.to_vec();
    }
    let (types, out) = (Types::of(&all), words[..HEADER].to_vec());
    let mut rewriter = Rewriter { types, bound: words[3], out, address: None, sizes: HashMap::new() };
    for i in &all {
        if i.is(Op::Function) && rewriter.address.is_none() {
            rewriter.declare(&all);
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
                (op, [element, length]) if op == Op::TypeArray as u32 => match numbers.get(length) {
                    Some(count) => Type::Array(*element, *count),
                    // Known to the translator only.
                    None => continue,
                },
                (op, members) if op == Op::TypeStruct as u32 => Type::Struct(members.to_vec()),
                (op, [_, pointee]) if op == Op::TypePointer as u32 => {
                    found.pointees.insert(*first, *pointee);
                    Type::Plain(8)
                }
                // Specialisation constants have got their values.
                (op, [result, low, high @ ..]) if [Op::Constant, Op::SpecConstant].map(|o| o as u32).contains(&op) => {
                    let high = high.first().copied().unwrap_or_default();
                    numbers.insert(*result, u64::from(high) << 32 | u64::from(*low));
                    continue;
                }
                (op, [decoration, ..]) if op == Op::Decorate as u32 && *decoration == spirv::Decoration::CPacked as u32 => {
                    found.packed.push(*first);
                    continue;
                }
                (op, targets) if op == Op::GroupDecorate as u32 => {
                    if found.packed.contains(first) {
                        found.packed.extend(targets);
                    }
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

    /// Bytes of a type, and its alignment, as OpenCL C lays it out; `None` if they are not known.
    fn size(&self, ty: u32) -> Option<(u64, u64)> {
        self.size_at(ty, 0)
    }

    fn size_at(&self, ty: u32, depth: u32) -> Option<(u64, u64)> {
        if depth > DEEPEST {
            return None;
        }
        let size = |ty: u32| self.size_at(ty, depth + 1);
        Some(match self.types.get(&ty)? {
            Type::Plain(bytes) => (*bytes, (*bytes).max(1)),
            Type::Vector(component, count) => {
                let bytes = size(*component)?.0.checked_mul(count.checked_next_power_of_two()?)?;
                (bytes, bytes.max(1))
            }
            Type::Array(element, count) => {
                let (bytes, align) = size(*element)?;
                (bytes.checked_mul(*count)?, align)
            }
            Type::Struct(members) => {
                let packed = self.packed.contains(&ty);
                let (mut end, mut align) = (0u64, 1);
                for member in members {
                    let (bytes, needed) = size(*member)?;
                    let needed = if packed { 1 } else { needed };
                    end = end.checked_next_multiple_of(needed)?.checked_add(bytes)?;
                    align = align.max(needed);
                }
                (end.checked_next_multiple_of(align)?, align)
            }
        })
    }

    /// The paths of members to all that is no structure or array, with their types; `None` if they are too many or not known.
    fn parts(&self, ty: u32) -> Option<Vec<(Vec<u32>, u32)>> {
        let mut parts = Vec::new();
        let mut open = vec![(Vec::new(), ty)];
        while let Some((path, ty)) = open.pop() {
            let members: Vec<u32> = match self.types.get(&ty)? {
                Type::Struct(members) => members.clone(),
                Type::Array(element, count) if *count <= MOST_PARTS as u64 => vec![*element; *count as usize],
                Type::Array(..) => return None,
                Type::Plain(_) | Type::Vector(..) => {
                    parts.push((path, ty));
                    continue;
                }
            };
            let inside = members.into_iter().enumerate().map(|(k, m)| ([&path[..], &[k as u32]].concat(), m));
            open.extend(inside);
            if open.len() + parts.len() > MOST_PARTS || path.len() as u32 > DEEPEST {
                return None;
            }
        }
        parts.reverse();
        Some(parts)
    }

    /// Whether a type is a structure or an array.
    fn is_aggregate(&self, ty: u32) -> bool {
        matches!(self.types.get(&ty), Some(Type::Struct(_) | Type::Array(..)))
    }

    /// What a pointer points to.
    fn pointee(&self, pointer: u32) -> Option<u32> {
        self.pointees.get(self.pointers.get(&pointer)?).copied()
    }

    /// The bytes of what a pointer points to, if an instruction's replacement needs them as a constant.
    fn size_needed(&self, i: &Instruction) -> Option<u64> {
        let pointer = match i.operands {
            [_, _, a, ..] if i.is(Op::PtrDiff) => *a,
            [_, source, ..] if i.is(Op::CopyMemory) && self.is_aggregate(self.pointee(*source)?) => *source,
            _ => return None,
        };
        self.size(self.pointee(pointer)?).map(|(bytes, _)| bytes).filter(|bytes| *bytes > 0)
    }
}

/// A binary that is written anew, instruction by instruction.
struct Rewriter {
    types: Types,
    /// The first number that no value has.
    bound: u32,
    out: Vec<u32>,
    /// The type that addresses have as integers, once it is declared.
    address: Option<u32>,
    /// The constants of that type that were declared, by their value.
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

    /// Declares, before the first function, integers of 64 bits, if they are needed and the binary has none, and the sizes that
    /// replacements need.
    fn declare(&mut self, all: &[Instruction]) {
        let sizes: BTreeSet<u64> = all.iter().filter_map(|i| self.types.size_needed(i)).collect();
        let compares = all.iter().any(|i| i.is(Op::PtrEqual) || i.is(Op::PtrNotEqual));
        if sizes.is_empty() && !compares {
            return;
        }
        let address = self.types.long.unwrap_or_else(|| {
            let ty = self.new_id();
            self.emit(Op::TypeInt as u32, &[ty, 64, 0]);
            ty
        });
        self.address = Some(address);
        for size in sizes {
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
                self.copy_value(*ty, *operand, *result)?;
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
        let pointee = self.types.pointee(source)?;
        // The operands of the source follow those of the target; one set is for both.
        let (first, behind) =
            if operands.is_empty() { (None, operands) } else { memory_operands(operands).map(|(m, b)| (Some(m), b))? };
        let second = if behind.is_empty() { None } else { Some(memory_operands(behind)?.0) };
        if self.types.is_aggregate(pointee) {
            let (bytes, align) = self.types.size(pointee)?;
            let size = *self.sizes.get(&bytes)?;
            let said: Vec<&MemoryOperands> = first.iter().chain(&second).collect();
            // What nothing is said of has the alignment of its type.
            let alignment = said.iter().map(|m| m.alignment.map_or(align, u64::from)).min().unwrap_or(align);
            let volatile = said.iter().fold(0, |mask, m| mask | m.mask & VOLATILE);
            self.emit(Op::CopyMemorySized as u32, &[target, source, size, volatile | ALIGNED, u32::try_from(alignment).ok()?]);
            return Some(());
        }
        let (of_target, of_source) = match second {
            None => (operands, operands),
            Some(_) => (&operands[..operands.len() - behind.len()], behind),
        };
        let value = self.value(Op::Load, pointee, &[&[source], of_source].concat());
        self.emit(Op::Store as u32, &[&[target, value], of_target].concat());
        Some(())
    }

    /// How many elements one pointer is behind another.
    fn difference(&mut self, (ty, result): (u32, u32), pointers: [u32; 2]) -> Option<()> {
        let address = self.address?;
        let bytes = self.types.size(self.types.pointee(pointers[0])?)?.0;
        let size = *self.sizes.get(&bytes)?;
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

    /// A value as one of another type with the same structure.
    fn copy_value(&mut self, ty: u32, value: u32, result: u32) -> Option<()> {
        let parts = self.types.parts(ty).filter(|parts| self.types.is_aggregate(ty) && !parts.is_empty())?;
        let undefined = self.new_id();
        self.emit(Op::Undef as u32, &[ty, undefined]);
        let (mut whole, last) = (undefined, parts.len() - 1);
        for (number, (path, part)) in parts.into_iter().enumerate() {
            let extracted = self.value(Op::CompositeExtract, part, &[&[value], &path[..]].concat());
            let next = if number == last { result } else { self.new_id() };
            self.emit(Op::CompositeInsert as u32, &[&[ty, next, extracted, whole], &path[..]].concat());
            whole = next;
        }
        Some(())
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
    let (source, []) = memory_operands(rest)? else { return None };
    let alignment = target.alignment.zip(source.alignment).map(|(a, b)| a.min(b));
    let mask = (target.mask | source.mask) & VOLATILE | if alignment.is_some() { ALIGNED } else { 0 };
    Some(std::iter::once(mask).chain(alignment).collect())
}

/// A set of memory operands, and what follows it; `None` if something is said that is not known.
fn memory_operands(operands: &[u32]) -> Option<(MemoryOperands, &[u32])> {
    let (mask, mut rest) = operands.split_first()?;
    let known = VOLATILE | ALIGNED | NONTEMPORAL | MAKES_AVAILABLE | MAKES_VISIBLE | NOT_PRIVATE | ALIAS_SCOPES | NO_ALIAS;
    if mask & !known != 0 {
        return None;
    }
    let mut alignment = None;
    for bit in [ALIGNED, MAKES_AVAILABLE, MAKES_VISIBLE, ALIAS_SCOPES, NO_ALIAS] {
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
        assert_eq!(for_both(&[ALIGNED | ALIAS_SCOPES | NO_ALIAS, 4, 8, 9]), None, "one set with lists of scopes");
        assert_eq!(for_both(&[ALIGNED | ALIAS_SCOPES, 4, 8, VOLATILE | ALIGNED, 2]), Some(vec![VOLATILE | ALIGNED, 2]));
        assert_eq!(for_both(&[VOLATILE, 1 << 30]), None, "nobody knows what follows");
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

    #[test]
    fn structures_may_be_packed_in_groups_and_arrays_as_long_as_a_specialisation_constant() {
        let words = binary(&[
            (Op::Decorate, &[9, spirv::Decoration::CPacked as u32]),
            (Op::DecorationGroup, &[9]),
            (Op::GroupDecorate, &[9, 5, 6]),
            (Op::TypeInt, &[1, 8, 0]),
            (Op::TypeInt, &[2, 32, 0]),
            (Op::SpecConstant, &[2, 3, 7]),
            (Op::TypeArray, &[4, 2, 3]),
            (Op::TypeStruct, &[5, 1, 4]),
            (Op::SpecConstantOp, &[2, 7, Op::IAdd as u32, 3, 3]),
            (Op::TypeArray, &[8, 2, 7]),
        ]);
        let types = Types::of(&instructions(&words).unwrap());
        assert_eq!([4, 5, 8].map(|ty| types.size(ty)), [Some((28, 4)), Some((29, 1)), None]);
    }

    #[test]
    fn types_of_themselves_and_huge_ones_are_left_alone() {
        let words = binary(&[
            (Op::TypeInt, &[1, 64, 0]),
            (Op::TypeStruct, &[2, 2]),
            (Op::Constant, &[1, 3, 4096, 0]),
            (Op::TypeArray, &[4, 1, 3]),
            (Op::TypeArray, &[5, 4, 3]),
            (Op::Constant, &[1, 6, u32::MAX, u32::MAX]),
            (Op::TypeArray, &[7, 1, 6]),
        ]);
        let types = Types::of(&instructions(&words).unwrap());
        assert_eq!([2, 7].map(|ty| types.size(ty)), [None; 2]);
        assert_eq!([2, 5, 7].map(|ty| types.parts(ty)), [const { None }; 3]);
        assert_eq!(types.parts(4).map(|parts| parts.len()), Some(4096));
    }

    #[test]
    fn copies_of_structures_have_a_size_and_others_are_loads_and_stores() {
        let types: [(Op, &[u32]); 8] = [
            (Op::TypeInt, &[1, 32, 0]),
            (Op::TypeInt, &[2, 64, 0]),
            (Op::TypeStruct, &[3, 1, 2]),
            (Op::TypePointer, &[4, 5, 1]),
            (Op::TypePointer, &[5, 5, 3]),
            (Op::Function, &[6, 7, 0, 8]),
            (Op::FunctionParameter, &[4, 9]),
            (Op::FunctionParameter, &[5, 10]),
        ];
        let all: Vec<(Op, &[u32])> =
            [&types[..], &[(Op::CopyMemory, &[11, 9, VOLATILE, ALIGNED, 2]), (Op::CopyMemory, &[12, 10, ALIGNED, 4, VOLATILE])]]
                .concat();
        let replaced: [(Op, &[u32]); 3] = [
            (Op::Load, &[1, 101, 9, ALIGNED, 2]),
            (Op::Store, &[11, 101, VOLATILE]),
            (Op::CopyMemorySized, &[12, 10, 100, VOLATILE | ALIGNED, 4]),
        ];
        let size: [(Op, &[u32]); 1] = [(Op::Constant, &[2, 100, 16, 0])];
        let mut expected = binary(&[&types[..5], &size, &types[5..], &replaced].concat());
        expected[3] = 102;
        assert_eq!(without_new_instructions(&binary(&all)), expected);
    }
}
