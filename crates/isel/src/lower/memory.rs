//! Loads and stores, and how they use the caches (K7).
//!
//! An access of several leaves is cut into the widest pieces that its alignment allows
//! ([`crate::lower::pieces`], hazard 8).

use crate::address::Address;
use crate::emit::Emitter;
use crate::leaf::{Leaf, Leaves, Parts};
use crate::lower::pieces;
use crate::lower::pieces::Piece;
use crate::values::Extension;
use crate::{CacheHints, Selector, constant_bank, surface};
use heddle_isa::{CacheName, CacheOperation, CachePolicy, Inst, MemorySpace, Op, Operand, Type};
use heddle_llvm_passes::ir::{self, Value};
use heddle_mir::{Bank, RegClass};
use inkwell::llvm_sys::LLVMIntPredicate::*;
use inkwell::llvm_sys::LLVMOpcode::*;
use inkwell::llvm_sys::LLVMTypeKind::LLVMVectorTypeKind;

use heddle_llvm_passes::cache_hints::Hint;

/// Bytes of a word.
const WORD_BYTES: u32 = 4;
/// Bytes of the longest access.
const LONGEST_BYTES: u32 = 16;

/// How an access uses the caches (K7).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Caching {
    /// Policy of a load or store of global memory; of others, volatile or not.
    pub policy: CachePolicy,
    /// Through the uniform cache (`ldu`).
    pub uniform: bool,
}

impl From<CachePolicy> for Caching {
    fn from(policy: CachePolicy) -> Caching {
        Caching { policy, uniform: false }
    }
}

impl Caching {
    /// Puts the policy into an instruction whose address is set.
    fn apply(self, inst: &mut Inst) {
        let space = inst.mods.space;
        let device = matches!(space, Some(MemorySpace::Global | MemorySpace::Constant));
        if self.policy != CachePolicy::Default && device {
            // Constant memory is device memory: only the data cache's path has policies.
            inst.mods.space = Some(MemorySpace::Global);
        }
        if space != Some(MemorySpace::Argument) {
            inst.mods.cache = self.policy;
        }
        if self.uniform && space == Some(MemorySpace::Global) {
            inst.op = Op::LoadUniform;
        }
    }
}

/// Who chose loads through the uniform L1 in a kernel.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct UniformLoads {
    /// The analysis, to leave the data L1 to others.
    pub by_analysis: bool,
    /// The program, by a function of `heddle.h`.
    pub by_program: bool,
}

impl UniformLoads {
    /// Whether launches may do without all of them.
    pub fn are_optional(self) -> bool {
        self.by_analysis && !self.by_program
    }
}

/// How a load or store of the program uses the caches. Volatile accesses and those that other work-groups'
/// stores may concern are not a matter of choice.
fn caching(s: &Selector, i: Value, load: bool, space: MemorySpace) -> Caching {
    if i.is_volatile() || i.is_atomic_access() {
        return if load { CachePolicy::Cv } else { CachePolicy::Wt }.into();
    }
    if space != MemorySpace::Global {
        return Caching::default();
    }
    match (s.cx.hints.get(i), s.cx.options.cache_hints) {
        (Hint::Global, _) if load => CachePolicy::Cg.into(),
        (Hint::Stream, CacheHints::Analysis) => CachePolicy::Cs.into(),
        (Hint::UniformLoad, CacheHints::Analysis) => Caching { policy: CachePolicy::Default, uniform: true },
        (_, CacheHints::Cg) => CachePolicy::Cg.into(),
        _ => Caching::default(),
    }
}

/// A prefetch for the iterations to come, where the analysis found one that would pay.
fn prefetch(s: &mut Selector, i: Value) {
    if !s.cx.options.prefetch || s.cx.is_scalar(i) || s.cx.is_in_lanes(i) {
        return;
    }
    let decision = s.cx.hints.decision(i);
    let Some(ahead) = decision.and_then(|d| d.prefetch.as_ref()).and_then(|p| p.bytes_ahead().as_constant()) else { return };
    let address = s.address(i.operand(0));
    if address.space == MemorySpace::Global {
        cache_control(&mut s.out, &address, CacheName::D, CacheOperation::Pf1, ahead);
    }
}

/// `cctl`, `extra` bytes behind an address; the state, if that is asked for.
pub(crate) fn cache_control(
    out: &mut Emitter,
    address: &Address,
    cache: CacheName,
    operation: CacheOperation,
    extra: u32,
) -> Operand {
    let offset = out.offset(address);
    let query = operation == CacheOperation::Qry1;
    let dst = if query { out.register(RegClass::vector(1)) } else { Operand::None };
    let mut inst = Inst::new(Op::CacheControl, Type::None, dst, []);
    out.set_address(&mut inst, address, offset, extra);
    inst.mods.space = Some(MemorySpace::Global);
    inst.mods.control = Some((cache, operation));
    out.push(inst);
    dst
}

/// Takes note of a load that its loop wants the L1 to keep.
fn working_set(s: &mut Selector, i: Value, caching: Caching) {
    let reuse = s.cx.hints.decision(i).and_then(|d| d.reuse.clone());
    if let Some(reuse) = reuse.filter(|_| s.cx.options.cache_hints == CacheHints::Analysis && !s.cx.is_scalar(i)) {
        // Where the launch cannot compute the distance of work-items, nobody knows how many lines they touch: it limits nothing.
        let [x, y, z] = std::array::from_fn(|d| surface::launch_expression(s, &reuse.exact[d]));
        if let (Some(x), Some(y), Some(z)) = (x, y, z) {
            s.working_sets.add(&reuse, [x, y, z], caching.uniform);
        }
    }
}

/// Whether an address is a certain place of the constant bank, as that of a field of a structure argument: its word, with whatever
/// else is in it, takes the place of a load.
fn is_in_bank(address: &Address) -> bool {
    address.space == MemorySpace::Argument && address.uniform.is_none() && address.varying.is_none()
}

/// The alignment by which a load or store of a type is cut into accesses. Where the machine lets vectors of device memory begin at
/// any word, that of a word is as good as a longer one.
fn access_alignment(s: &mut Selector, i: Value, ty: ir::Type, space: MemorySpace) -> u32 {
    let known = i.alignment().max(1);
    let device = matches!(space, MemorySpace::Global | MemorySpace::Constant);
    if !(WORD_BYTES..LONGEST_BYTES).contains(&known) || !device || !s.cx.unaligned_vectors {
        return known;
    }
    s.out.f.unaligned_vectors |= s.cx.layout.size(ty) > u64::from(known);
    LONGEST_BYTES
}

/// Selects a load.
pub(crate) fn load(s: &mut Selector, i: Value) {
    let address = surface::surface_address(s, i).unwrap_or_else(|| s.address(i.operand(0)));
    let caching = caching(s, i, true, address.space);
    s.uniform_loads.by_analysis |= caching.uniform;
    let leaves = s.cx.leaves(i);
    let bank = s.cx.bank(i);
    let align = access_alignment(s, i, i.type_of(), address.space);
    let narrow = match leaves[..] {
        [leaf] => !is_in_bank(&address) && !leaf.float && leaf.pointer.is_none() && matches!(leaf.bits, 8 | 16),
        _ => false,
    };
    // What is not aligned is put together from bytes.
    let whole = leaves.first().is_some_and(|leaf| align * 8 >= leaf.bits);
    let extension = Extension::of(narrow && whole && wants_sign(i));
    let parts = match packed(s, i, i.type_of()) {
        Some(bits) => load_bits(&mut s.out, &address, bits, align, caching, bank),
        None => load_pieces(&mut s.out, &address, &leaves, align, caching, bank, extension),
    };
    prefetch(s, i);
    working_set(s, i, caching);
    if let [leaf] = leaves[..] {
        if narrow {
            s.values.extended.insert(i, extension);
        }
        if let Some(space) = leaf.pointer {
            s.addresses.set(i, s.out.register_address(space, parts[0]));
        }
    }
    s.values.set(i, parts);
}

/// Whether more users of a narrow integer want it extended by its sign than by zeros.
fn wants_sign(v: Value) -> bool {
    let wants = |user: Value| -> i32 {
        let signed = match user.opcode() {
            LLVMSExt | LLVMAShr | LLVMSDiv | LLVMSRem => true,
            LLVMZExt | LLVMLShr | LLVMUDiv | LLVMURem => false,
            LLVMICmp => match user.integer_predicate() {
                LLVMIntSGT | LLVMIntSGE | LLVMIntSLT | LLVMIntSLE => true,
                LLVMIntUGT | LLVMIntUGE | LLVMIntULT | LLVMIntULE => false,
                _ => return 0,
            },
            LLVMCall => match user.called_name().split('.').nth(1) {
                Some("smin" | "smax" | "abs" | "sadd" | "ssub" | "scmp") => true,
                Some("umin" | "umax" | "uadd" | "usub" | "ucmp") => false,
                _ => return 0,
            },
            _ => return 0,
        };
        if signed { 1 } else { -1 }
    };
    v.users().map(wants).sum::<i32>() > 0
}

/// Loads the leaves of a type; what is narrower than a word is extended by zeros.
pub(crate) fn load_value(
    out: &mut Emitter,
    address: &Address,
    leaves: &[Leaf],
    align: u32,
    caching: Caching,
    bank: Bank,
) -> Parts {
    load_pieces(out, address, leaves, align, caching, bank, Extension::Zero)
}

/// The same with either extension.
fn load_pieces(
    out: &mut Emitter,
    address: &Address,
    leaves: &[Leaf],
    align: u32,
    caching: Caching,
    bank: Bank,
    extension: Extension,
) -> Parts {
    let offset = out.offset(address);
    if is_in_bank(address) {
        return leaves.iter().map(|leaf| constant_bank::argument_leaf(out, address.immediate as u32, *leaf, bank)).collect();
    }
    let mut loaded: Vec<(Piece, Operand)> = Vec::new();
    for piece in pieces::pieces(leaves, align) {
        let (ty, words) = pieces::access_type(piece.bytes);
        let ty = match (ty, extension) {
            (Type::U8, Extension::Sign) => Type::S8,
            (Type::U16, Extension::Sign) => Type::S16,
            _ => ty,
        };
        let dst = out.register(RegClass { bank, words });
        let mut inst = Inst::new(Op::Load, ty, dst, []);
        out.set_address(&mut inst, address, offset, piece.offset);
        caching.apply(&mut inst);
        out.push(inst);
        loaded.push((piece, dst));
    }
    leaves.iter().map(|leaf| pieces::assemble(out, *leaf, &loaded, bank)).collect()
}

/// Selects a store.
pub(crate) fn store(s: &mut Selector, i: Value) {
    let value = i.operand(0);
    let address = surface::surface_address(s, i).unwrap_or_else(|| s.address(i.operand(1)));
    let caching = caching(s, i, false, address.space);
    let parts = s.parts(value);
    if address.space == MemorySpace::Constant || address.space == MemorySpace::Argument {
        s.report.error(Some(i), "a store to constant memory");
        return;
    }
    let align = access_alignment(s, i, value.type_of(), address.space);
    if packed(s, i, value.type_of()).is_some() {
        let words: Vec<Operand> = parts.chunks(32).map(|bits| s.out.word_of_bits(bits)).collect();
        let leaves = bit_leaves(parts.len());
        let parts: Vec<Operand> = leaves.iter().map(|leaf| part_of(&mut s.out, &words, leaf.offset)).collect();
        store_value(&mut s.out, &address, &leaves, &parts, align, caching);
        return;
    }
    let leaves = s.cx.leaves(value);
    store_value(&mut s.out, &address, &leaves, &parts, align, caching);
}

/// How many elements a vector of bits has, which lie in memory without gaps, element 0 in the lowest bit of the first byte;
/// none for other types. Other elements that are no whole bytes are an error.
fn packed(s: &mut Selector, i: Value, ty: ir::Type) -> Option<usize> {
    let element = if ty.kind() == LLVMVectorTypeKind { ty.element()?.integer_bits() } else { 0 };
    if element > 1 && !(element.is_power_of_two() && element % 8 == 0) {
        s.report.error(Some(i), format!("a vector in memory whose elements have {element} bits is not supported"));
    }
    (element == 1).then(|| ty.element_count() as usize)
}

/// A vector of so many bits in memory, as words, and what is left as a half word and a byte.
fn bit_leaves(bits: usize) -> Leaves {
    let end = bits.div_ceil(8) as u32;
    let mut leaves = Leaves::new();
    let mut offset = 0;
    while offset < end {
        let bytes = [4, 2, 1].into_iter().find(|b| offset + b <= end).unwrap_or(1);
        leaves.push(Leaf { bits: 8 * bytes, offset, ..Leaf::WORD });
        offset += bytes;
    }
    leaves
}

/// What words have from a byte on, in the low bits.
fn part_of(out: &mut Emitter, words: &[Operand], offset: u32) -> Operand {
    let word = words[offset as usize / 4];
    if offset % 4 == 0 { word } else { out.word_shift(Type::U32, word, offset % 4 * 8) }
}

/// Loads a vector of bits.
fn load_bits(out: &mut Emitter, address: &Address, bits: usize, align: u32, caching: Caching, bank: Bank) -> Parts {
    let leaves = bit_leaves(bits);
    let loaded = load_value(out, address, &leaves, align, caching, bank);
    let units = pieces::units(out, &leaves, &loaded);
    let words: Vec<Operand> = (0..bits.div_ceil(32) as u32).map(|w| pieces::gather_word(out, &units, 4 * w, 4)).collect();
    (0..bits).map(|k| out.bit_of_word(words[k / 32], k as u32 % 32)).collect()
}

/// Stores the leaves of a type.
pub(crate) fn store_value(
    out: &mut Emitter,
    address: &Address,
    leaves: &[Leaf],
    parts: &[Operand],
    align: u32,
    caching: Caching,
) {
    let offset = out.offset(address);
    let units = pieces::units(out, leaves, parts);
    for piece in pieces::pieces(leaves, align) {
        let mut words = Vec::new();
        for at in (piece.offset..piece.offset + piece.bytes).step_by(4) {
            words.push(pieces::gather_word(out, &units, at, piece.bytes.min(4)));
        }
        let data = if let [word] = words[..] { word } else { out.tuple(&words) };
        let mut inst = Inst::new(Op::Store, pieces::access_type(piece.bytes).0, Operand::None, []);
        out.set_address(&mut inst, address, offset, piece.offset);
        inst.srcs.push(data);
        caching.apply(&mut inst);
        out.push(inst);
    }
}
