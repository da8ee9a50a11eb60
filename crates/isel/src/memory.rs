//! Loads, stores, atomics and fences, and the cutting of typed accesses into machine accesses (hazard 8).
//!
//! An access of several leaves is cut into the widest pieces that its alignment allows: 16, 8, 4, 2 or 1 bytes. Narrow integers in a wide piece are
//! shifted out of its words; stores put them together first. Stores never touch bytes beyond the value.

use heddle_llvm_passes::cache_hints::Hint;
use heddle_llvm_passes::ir::Value;
use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::{LLVMAtomicOrdering, LLVMAtomicRMWBinOp, LLVMOpcode};
use rustc_hash::FxHashSet;

use super::address::Address;
use super::types::{self, Leaf, leaves};
use super::{CacheHints, Extension, Parts, Selector};
use heddle_isa::{AddressMode, AtomicOp, CacheName, CacheOperation, CachePolicy, Inst, MemorySpace, Op, Operand, Type};
use heddle_mir::{Bank, RegClass};

/// A machine access: byte offset in the value, and its size.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Piece {
    offset: u32,
    bytes: u32,
}

/// Cuts the bytes that leaves cover into aligned pieces.
fn pieces(leaves: &[Leaf], align: u32) -> Vec<Piece> {
    let mut result: Vec<Piece> = Vec::new();
    let mut i = 0;
    while i < leaves.len() {
        let start = leaves[i].offset;
        let aligned = if start == 0 { align } else { align.min(1 << start.trailing_zeros()) };
        // The longest run of bytes without gaps from here.
        let mut end = start;
        for leaf in &leaves[i..] {
            if leaf.offset != end {
                break;
            }
            end += leaf.bytes();
        }
        let own = leaves[i].bytes();
        let mut bytes = 16.min(aligned);
        while bytes > 1 && (start + bytes > end || !on_boundary(&leaves[i..], start + bytes, own, bytes)) {
            bytes /= 2;
        }
        result.push(Piece { offset: start, bytes });
        let mut position = start + bytes;
        while i < leaves.len() && leaves[i].offset + leaves[i].bytes() <= position {
            i += 1;
        }
        // A leaf larger than its piece is continued piece by piece.
        if i < leaves.len() && leaves[i].offset < position {
            let leaf_end = leaves[i].offset + leaves[i].bytes();
            while position < leaf_end {
                let mut next = bytes;
                while position % next != 0 || position + next > leaf_end {
                    next /= 2;
                }
                result.push(Piece { offset: position, bytes: next });
                position += next;
            }
            i += 1;
        }
    }
    result
}

/// Whether a piece that ends at `end` splits no leaf, or is a part of its first leaf.
fn on_boundary(leaves: &[Leaf], end: u32, own: u32, bytes: u32) -> bool {
    bytes < own || leaves.iter().any(|l| l.offset + l.bytes() == end)
}

/// How an access uses the caches (K7).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Caching {
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

impl Selector<'_> {
    /// How a load or store of the program uses the caches. Volatile accesses and those that other work-groups' stores may concern are not a matter of choice.
    fn caching(&self, i: Value, load: bool, space: MemorySpace) -> Caching {
        // SAFETY: flags of a live load or store.
        let volatile =
            unsafe { LLVMGetVolatile(i.0) != 0 || LLVMGetOrdering(i.0) != LLVMAtomicOrdering::LLVMAtomicOrderingNotAtomic };
        if volatile {
            return if load { CachePolicy::Cv } else { CachePolicy::Wt }.into();
        }
        if space != MemorySpace::Global {
            return Caching::default();
        }
        match (self.hints.get(i), self.cache_hints) {
            (Hint::Global, _) if load => CachePolicy::Cg.into(),
            (Hint::Stream, CacheHints::Analysis) => CachePolicy::Cs.into(),
            (Hint::UniformLoad, CacheHints::Analysis) => Caching { policy: CachePolicy::Default, uniform: true },
            (_, CacheHints::Cg) => CachePolicy::Cg.into(),
            _ => Caching::default(),
        }
    }

    /// The policy in an instruction whose address is set.
    fn set_caching(inst: &mut Inst, caching: Caching) {
        let space = inst.mods.space;
        let device = matches!(space, Some(MemorySpace::Global | MemorySpace::Constant));
        if caching.policy != CachePolicy::Default && device {
            // Constant memory is device memory: only the data cache's path has policies.
            inst.mods.space = Some(MemorySpace::Global);
        }
        if space != Some(MemorySpace::Argument) {
            inst.mods.cache = caching.policy;
        }
        if caching.uniform && space == Some(MemorySpace::Global) && inst.mods.address != AddressMode::Surface {
            inst.op = Op::LoadUniform;
        }
    }

    /// A prefetch for the iterations to come, where the analysis found one that would pay.
    fn prefetch(&mut self, i: Value) {
        if !self.prefetches || self.is_scalar(i) {
            return;
        }
        let decision = self.hints.decision(i);
        let Some(ahead) = decision.and_then(|d| d.prefetch.as_ref()).and_then(|p| p.bytes_ahead().as_constant()) else { return };
        let address = self.address(i.operand(0));
        if address.space == MemorySpace::Global {
            self.cache_control(&address, CacheName::D, CacheOperation::Pf1, ahead);
        }
    }

    /// `cctl`, `extra` bytes behind an address.
    pub(super) fn cache_control(
        &mut self,
        address: &Address,
        cache: CacheName,
        operation: CacheOperation,
        extra: u32,
    ) -> Operand {
        let offset = self.offset(address);
        let query = operation == CacheOperation::Qry1;
        let dst = if query { Operand::virt(self.f.add_vreg(RegClass::vector(1))) } else { Operand::None };
        let mut inst = Inst::new(Op::CacheControl, Type::None, dst, []);
        self.set_address(&mut inst, address, offset, extra);
        inst.mods.space = Some(MemorySpace::Global);
        inst.mods.control = Some((cache, operation));
        self.push(inst);
        dst
    }

    pub(super) fn load(&mut self, i: Value) {
        let address = self.surface_address(i).unwrap_or_else(|| self.address(i.operand(0)));
        // SAFETY: alignment of a live load.
        let align = unsafe { LLVMGetAlignment(i.0) }.max(1);
        let caching = self.caching(i, true, address.space);
        let scalar = self.is_scalar(i);
        let parts = self.load_value(&address, i.ty(), align, caching, scalar);
        self.prefetch(i);
        let leaves = leaves(i.ty());
        if let ([leaf], false) = (&leaves[..], leaves.is_empty()) {
            if !leaf.float && leaf.bits < 32 && leaf.pointer.is_none() && (leaf.bits == 8 || leaf.bits == 16) {
                self.extended.insert(i, Extension::Zero);
            }
            if let Some(space) = leaf.pointer {
                let a = self.register_address(space, parts[0]);
                self.addresses.insert(i, a);
            }
        }
        self.set(i, parts);
    }

    /// Loads the leaves of a type.
    pub(super) fn load_value(
        &mut self,
        address: &Address,
        ty: inkwell::llvm_sys::prelude::LLVMTypeRef,
        align: u32,
        caching: Caching,
        scalar: bool,
    ) -> Parts {
        let leaves = leaves(ty);
        let offset = self.offset(address);
        let bank = if scalar { Bank::Scalar } else { Bank::Vector };
        // A structure argument at a constant place is in the constant bank: no load at all.
        if address.space == MemorySpace::Argument && offset.is_none() {
            return leaves.iter().map(|leaf| self.argument_leaf(address.immediate as u32, *leaf, bank)).collect();
        }
        let pieces = pieces(&leaves, align);
        let mut words: Vec<(Piece, Operand)> = Vec::new();
        for piece in pieces {
            let (load_type, class) = match piece.bytes {
                1 => (Type::U8, RegClass { bank, words: 1 }),
                2 => (Type::U16, RegClass { bank, words: 1 }),
                4 => (Type::B32, RegClass { bank, words: 1 }),
                8 => (Type::B64, RegClass { bank, words: 2 }),
                _ => (Type::B128, RegClass { bank, words: 4 }),
            };
            let dst = Operand::virt(self.f.add_vreg(class));
            let mut inst = Inst::new(Op::Load, load_type, dst, []);
            self.set_address(&mut inst, address, offset, piece.offset);
            Self::set_caching(&mut inst, caching);
            self.push(inst);
            words.push((piece, dst));
        }
        leaves.iter().map(|leaf| self.assemble(*leaf, &words, bank)).collect()
    }

    fn argument_leaf(&mut self, base: u32, leaf: Leaf, bank: Bank) -> Operand {
        let at = base + leaf.offset;
        let word = Operand::Constant((at / 4) as u8);
        if leaf.bytes() >= 4 {
            return if leaf.words() == 1 && leaf.bytes() == 8 { word } else { self.predicate_of(word, leaf, bank) };
        }
        let shifted = if at % 4 == 0 {
            word
        } else {
            self.emit(Op::Shr, Type::U32, RegClass { bank, words: 1 }, [word, Operand::Immediate(at % 4 * 8)])
        };
        self.predicate_of(shifted, leaf, bank)
    }

    /// A loaded `i1` as a predicate; other leaves unchanged.
    fn predicate_of(&mut self, word: Operand, leaf: Leaf, bank: Bank) -> Operand {
        if leaf.words() != 0 {
            return word;
        }
        let bit = self.emit(Op::And, Type::B32, RegClass { bank, words: 1 }, [word, Operand::Immediate(1)]);
        if bank == Bank::Scalar { bit } else { self.test_not_zero(bit) }
    }

    pub(super) fn test_not_zero(&mut self, word: Operand) -> Operand {
        let p = Operand::virt(self.f.add_vreg(RegClass::PREDICATE));
        let mut cmp = Inst::new(Op::Cmp, Type::B32, p, [word, Operand::Immediate(0)]);
        cmp.mods.cond = Some(heddle_isa::Cond::Ne);
        self.push(cmp);
        p
    }

    /// The leaf's value out of the loaded pieces.
    fn assemble(&mut self, leaf: Leaf, loaded: &[(Piece, Operand)], bank: Bank) -> Operand {
        let word_at = |piece: &Piece, op: Operand, at: u32| -> Operand {
            match op.as_virt() {
                Some((r, _)) => Operand::virt_word(r, ((at - piece.offset) / 4) as u8),
                None => op,
            }
        };
        let end = leaf.offset + leaf.bytes();
        let mine: Vec<&(Piece, Operand)> =
            loaded.iter().filter(|(p, _)| p.offset < end && leaf.offset < p.offset + p.bytes).collect();
        if let [(piece, op)] = mine[..] {
            let start = word_at(piece, *op, leaf.offset);
            if leaf.bytes() >= 4 {
                return start;
            }
            let shift = (leaf.offset - piece.offset) % 4 * 8;
            let value = if shift == 0 {
                start
            } else {
                self.emit(Op::Shr, Type::U32, RegClass { bank, words: 1 }, [start, Operand::Immediate(shift)])
            };
            return self.predicate_of(value, leaf, bank);
        }
        // Several pieces: put each 32-bit word together.
        let one = RegClass { bank, words: 1 };
        let mut words = Vec::new();
        for w in 0..leaf.bytes().div_ceil(4) {
            let low = leaf.offset + 4 * w;
            let mut value: Option<Operand> = None;
            for (piece, op) in &mine {
                if piece.offset + piece.bytes <= low || piece.offset >= low + 4 {
                    continue;
                }
                let part = word_at(piece, *op, piece.offset.max(low));
                let shift = piece.offset.saturating_sub(low) * 8;
                let part = if shift == 0 { part } else { self.emit(Op::Shl, Type::B32, one, [part, Operand::Immediate(shift)]) };
                value = Some(match value {
                    None => part,
                    Some(v) => self.emit(Op::Or, Type::B32, one, [v, part]),
                });
            }
            words.push(value.unwrap_or(Operand::Immediate(0)));
        }
        match (&words[..], leaf.words()) {
            ([low, high], 2) => self.emit(Op::Tuple, Type::B64, RegClass { bank, words: 2 }, [*low, *high]),
            ([first, ..], _) => self.predicate_of(*first, leaf, bank),
            ([], _) => Operand::Immediate(0),
        }
    }

    pub(super) fn store(&mut self, i: Value) {
        let value = i.operand(0);
        let address = self.surface_address(i).unwrap_or_else(|| self.address(i.operand(1)));
        // SAFETY: alignment of a live store.
        let align = unsafe { LLVMGetAlignment(i.0) }.max(1);
        let caching = self.caching(i, false, address.space);
        let parts = self.parts(value);
        if address.space == MemorySpace::Constant || address.space == MemorySpace::Argument {
            self.error(Some(i), "a store to constant memory");
            return;
        }
        self.store_value(&address, value.ty(), &parts, align, caching);
    }

    /// Stores the leaves of a type.
    pub(super) fn store_value(
        &mut self,
        address: &Address,
        ty: inkwell::llvm_sys::prelude::LLVMTypeRef,
        parts: &[Operand],
        align: u32,
        caching: Caching,
    ) {
        let leaves = leaves(ty);
        let offset = self.offset(address);
        // The value as (byte offset, 32-bit word or narrower) in memory order.
        let mut units: Vec<(u32, u32, Operand)> = Vec::new();
        for (leaf, part) in leaves.iter().zip(parts) {
            let part = if leaf.words() == 0 { self.bit_to_word(*part) } else { *part };
            if leaf.bytes() == 8 {
                let (low, high) = if leaf.words() == 2 { self.halves(part) } else { (part, Operand::Immediate(0)) };
                units.push((leaf.offset, 4, low));
                units.push((leaf.offset + 4, 4, high));
            } else {
                units.push((leaf.offset, leaf.bytes(), part));
            }
        }
        for piece in pieces(&leaves, align) {
            let mut words = Vec::new();
            let mut at = piece.offset;
            while at < piece.offset + piece.bytes {
                words.push(self.gather_word(&units, at, piece.bytes.min(4)));
                at += 4;
            }
            let (ty, data) = match (piece.bytes, &words[..]) {
                (1, [w]) => (Type::U8, *w),
                (2, [w]) => (Type::U16, *w),
                (4, [w]) => (Type::B32, *w),
                (8, _) => (Type::B64, self.tuple(&words)),
                _ => (Type::B128, self.tuple(&words)),
            };
            let mut inst = Inst::new(Op::Store, ty, Operand::None, []);
            self.set_address(&mut inst, address, offset, piece.offset);
            inst.srcs.push(data);
            Self::set_caching(&mut inst, caching);
            self.push(inst);
        }
    }

    /// The `bytes` bytes at `at` of a value given as units, in the low bits of a word.
    pub(super) fn gather_word(&mut self, units: &[(u32, u32, Operand)], at: u32, bytes: u32) -> Operand {
        let mut value: Option<Operand> = None;
        for &(offset, size, op) in units {
            if offset + size <= at || offset >= at + bytes {
                continue;
            }
            let mut part = op;
            if offset < at {
                part = self.emit_joint(Op::Shr, Type::U32, 1, &[part, Operand::Immediate((at - offset) * 8)]);
            } else if size < 4 && bytes > size {
                // Narrow units have undefined upper bits.
                part = self.and32(part, (1u32 << (size * 8)) - 1);
                if offset > at {
                    part = match part {
                        Operand::Immediate(v) => Operand::Immediate(v << ((offset - at) * 8)),
                        _ => self.emit_joint(Op::Shl, Type::B32, 1, &[part, Operand::Immediate((offset - at) * 8)]),
                    };
                }
            }
            value = Some(match (value, part) {
                (None, p) => p,
                (Some(Operand::Immediate(a)), Operand::Immediate(b)) => Operand::Immediate(a | b),
                (Some(v), p) => self.emit_joint(Op::Or, Type::B32, 1, &[v, p]),
            });
        }
        value.unwrap_or(Operand::Immediate(0))
    }

    pub(super) fn and32(&mut self, op: Operand, mask: u32) -> Operand {
        match op {
            Operand::Immediate(v) => Operand::Immediate(v & mask),
            _ => self.emit_joint(Op::And, Type::B32, 1, &[op, Operand::Immediate(mask)]),
        }
    }

    /// Data of a wide store: the words as a tuple, or the register they already are.
    fn tuple(&mut self, words: &[Operand]) -> Operand {
        if let Some((r, 0)) = words[0].as_virt() {
            let whole = self.f.vregs[r].words as usize == words.len()
                && words.iter().enumerate().all(|(i, w)| *w == Operand::virt_word(r, i as u8));
            if whole {
                return words[0];
            }
        }
        let bank = self.joint_bank(words);
        let ty = if words.len() == 2 { Type::B64 } else { Type::B128 };
        self.emit(Op::Tuple, ty, RegClass { bank, words: words.len() as u8 }, words.iter().copied())
    }

    /// An `i1` as 0 or 1 in a word.
    pub(super) fn bit_to_word(&mut self, op: Operand) -> Operand {
        match self.bank(op) {
            Some(Bank::Predicate) => {
                self.emit(Op::Sel, Type::B32, RegClass::vector(1), [op, Operand::Immediate(1), Operand::None])
            }
            _ => match op {
                Operand::Immediate(v) => Operand::Immediate(v & 1),
                _ => op,
            },
        }
    }

    pub(super) fn atomic_rmw(&mut self, i: Value) {
        use LLVMAtomicRMWBinOp::*;
        // SAFETY: operation of a live atomicrmw.
        let operation = unsafe { LLVMGetAtomicRMWBinOp(i.0) };
        let leaf = leaves(i.ty())[0];
        let (signed, unsigned, bits) =
            if leaf.words() == 2 { (Type::S64, Type::U64, Type::B64) } else { (Type::S32, Type::U32, Type::B32) };
        let (atomic, ty) = match operation {
            LLVMAtomicRMWBinOpXchg => (AtomicOp::Xchg, bits),
            LLVMAtomicRMWBinOpAdd => (AtomicOp::Add, bits),
            LLVMAtomicRMWBinOpSub => (AtomicOp::Sub, bits),
            LLVMAtomicRMWBinOpAnd => (AtomicOp::And, bits),
            LLVMAtomicRMWBinOpOr => (AtomicOp::Or, bits),
            LLVMAtomicRMWBinOpXor => (AtomicOp::Xor, bits),
            LLVMAtomicRMWBinOpMax => (AtomicOp::Max, signed),
            LLVMAtomicRMWBinOpMin => (AtomicOp::Min, signed),
            LLVMAtomicRMWBinOpUMax => (AtomicOp::Max, unsigned),
            LLVMAtomicRMWBinOpUMin => (AtomicOp::Min, unsigned),
            LLVMAtomicRMWBinOpUIncWrap => (AtomicOp::Inc, unsigned),
            LLVMAtomicRMWBinOpUDecWrap => (AtomicOp::Dec, unsigned),
            LLVMAtomicRMWBinOpFAdd => (AtomicOp::Add, leaf.float_type()),
            LLVMAtomicRMWBinOpFSub => (AtomicOp::Sub, leaf.float_type()),
            LLVMAtomicRMWBinOpFMax => (AtomicOp::Max, leaf.float_type()),
            LLVMAtomicRMWBinOpFMin => (AtomicOp::Min, leaf.float_type()),
            _ => {
                self.error(Some(i), "unsupported atomic operation");
                return;
            }
        };
        if leaf.bits != 32 && leaf.bits != 64 || ty == Type::F16 {
            self.error(Some(i), format!("atomic operation on {} bits; the machine has them on 32 and 64", leaf.bits));
            return;
        }
        let data = self.operand(i.operand(1));
        let result = self.atomic(i, atomic, ty, data, leaf);
        self.set1(i, result);
    }

    fn atomic(&mut self, i: Value, atomic: AtomicOp, ty: Type, data: Operand, leaf: Leaf) -> Operand {
        let address = self.surface_address(i).unwrap_or_else(|| self.address(i.operand(0)));
        let offset = self.offset(&address);
        let dst = Operand::virt(self.f.add_vreg(leaf.class(Bank::Vector)));
        let mut inst = Inst::new(Op::Atomic, ty, dst, []);
        self.set_address(&mut inst, &address, offset, 0);
        inst.mods.atomic = atomic;
        // Each lane's data: a register of its own kind keeps the encoding's immediate for the address.
        let class = leaf.class(self.joint_bank(&[data]));
        let words = if atomic == AtomicOp::CmpXchg { class.words * 2 } else { class.words };
        inst.srcs.push(match data {
            Operand::Immediate(v) => {
                let bits = if words == 2 { v as i32 as i64 as u64 } else { u64::from(v) };
                self.materialize(bits, words)
            }
            other => other,
        });
        self.push(inst);
        dst
    }

    pub(super) fn compare_exchange(&mut self, i: Value) {
        let expected = i.operand(1);
        let leaf = leaves(expected.ty())[0];
        if leaf.bits != 32 && leaf.bits != 64 {
            self.error(Some(i), format!("atomic operation on {} bits; the machine has them on 32 and 64", leaf.bits));
            return;
        }
        let comparand = self.operand(expected);
        let replacement = self.operand(i.operand(2));
        let mut words = Vec::new();
        for op in [comparand, replacement] {
            if leaf.words() == 2 {
                let (low, high) = self.halves(op);
                words.extend([low, high]);
            } else {
                words.push(op);
            }
        }
        let data = self.tuple(&words);
        let ty = leaf.bit_type();
        let old = self.atomic(i, AtomicOp::CmpXchg, ty, data, leaf);
        let success = Operand::virt(self.f.add_vreg(RegClass::PREDICATE));
        let mut cmp = Inst::new(Op::Cmp, ty, success, [old, comparand]);
        cmp.mods.cond = Some(heddle_isa::Cond::Eq);
        self.push(cmp);
        self.set(i, smallvec::smallvec![old, success]);
    }

    pub(super) fn fence(&mut self, _i: Value) {
        let mut inst = Inst::new(Op::Fence, Type::None, Operand::None, []);
        inst.imm = 3;
        self.push(inst);
    }

    /// Copies `size` bytes between two places, `step` bytes at a time at the largest alignment both have.
    pub(super) fn copy_bytes(&mut self, to: &Address, from: &Address, size: u32, align: u32) {
        let (to_offset, from_offset) = (self.offset(to), self.offset(from));
        let mut at = 0;
        // All loads of a group come before its stores, so that overlapping moves of up to a group are exact.
        let mut group: Vec<(u32, u32, Operand)> = Vec::new();
        while at < size {
            let mut bytes = 16.min(align.max(1));
            while at % bytes != 0 || at + bytes > size {
                bytes /= 2;
            }
            let (ty, words) = match bytes {
                1 => (Type::U8, 1),
                2 => (Type::U16, 1),
                4 => (Type::B32, 1),
                8 => (Type::B64, 2),
                _ => (Type::B128, 4),
            };
            let dst = Operand::virt(self.f.add_vreg(RegClass::vector(words)));
            let mut inst = Inst::new(Op::Load, ty, dst, []);
            self.set_address(&mut inst, from, from_offset, at);
            self.push(inst);
            group.push((at, bytes, dst));
            at += bytes;
        }
        for (at, bytes, data) in group {
            self.store_bytes(to, to_offset, at, bytes, data);
        }
    }

    /// Stores the low `bytes` bytes of a register.
    pub(super) fn store_bytes(&mut self, to: &Address, offset: Option<Operand>, at: u32, bytes: u32, data: Operand) {
        let ty = match bytes {
            1 => Type::U8,
            2 => Type::U16,
            4 => Type::B32,
            8 => Type::B64,
            _ => Type::B128,
        };
        let mut inst = Inst::new(Op::Store, ty, Operand::None, []);
        self.set_address(&mut inst, to, offset, at);
        inst.srcs.push(data);
        self.push(inst);
    }

    /// The alignment of an `llvm.mem*` pointer argument.
    pub(super) fn argument_align(&self, call: Value, argument: u32) -> u32 {
        // SAFETY: attribute of a live call.
        unsafe {
            let kind = LLVMGetEnumAttributeKindForName(c"align".as_ptr(), 5);
            let attribute = LLVMGetCallSiteEnumAttribute(call.0, argument + 1, kind);
            if attribute.is_null() { 1 } else { LLVMGetEnumAttributeValue(attribute) as u32 }
        }
    }

    /// Leaves of a type, for other files of the module.
    pub(super) fn leaf(&self, v: Value) -> Leaf {
        types::leaves(v.ty()).first().copied().unwrap_or(Leaf { bits: 32, float: false, pointer: None, offset: 0 })
    }
}

/// Whether a pointer is to a private variable that nothing is ever written to, but what other variables like this have. `seen`: variables that are
/// taken to be so while they are looked at.
pub(super) fn never_written(pointer: Value, seen: &mut FxHashSet<Value>) -> bool {
    let mut variable = pointer;
    while variable.is_instruction()
        && matches!(variable.opcode(), LLVMOpcode::LLVMGetElementPtr | LLVMOpcode::LLVMBitCast | LLVMOpcode::LLVMAddrSpaceCast)
    {
        variable = variable.operand(0);
    }
    if !variable.is_instruction() || variable.opcode() != LLVMOpcode::LLVMAlloca {
        return false;
    }
    if !seen.insert(variable) {
        return true;
    }
    let mut pointers = vec![variable];
    while let Some(p) = pointers.pop() {
        for user in p.users() {
            if !user.is_instruction() {
                return false;
            }
            match user.opcode() {
                LLVMOpcode::LLVMGetElementPtr | LLVMOpcode::LLVMBitCast | LLVMOpcode::LLVMAddrSpaceCast => pointers.push(user),
                LLVMOpcode::LLVMLoad => {}
                LLVMOpcode::LLVMCall => {
                    let name = user.called_function().map(|f| f.name()).unwrap_or_default();
                    let copy = name.starts_with("llvm.memcpy.") || name.starts_with("llvm.memmove.");
                    let harmless = name.starts_with("llvm.lifetime.")
                        || copy && (user.operand(0) != p || never_written(user.operand(1), seen));
                    if !harmless {
                        return false;
                    }
                }
                _ => return false,
            }
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run_of(bits: u32, count: u32) -> Vec<Leaf> {
        (0..count).map(|i| Leaf { bits, float: false, pointer: None, offset: i * bits / 8 }).collect()
    }

    #[test]
    fn pieces_respect_alignment_and_end() {
        let sizes = |leaves: &[Leaf], align| pieces(leaves, align).iter().map(|p| p.bytes).collect::<Vec<_>>();
        assert_eq!(sizes(&run_of(32, 4), 16), [16]);
        assert_eq!(sizes(&run_of(32, 3), 16), [8, 4]);
        assert_eq!(sizes(&run_of(32, 3), 4), [4, 4, 4]);
        assert_eq!(sizes(&run_of(64, 1), 4), [4, 4]);
        assert_eq!(sizes(&run_of(32, 1), 1), [1, 1, 1, 1]);
        assert_eq!(sizes(&run_of(8, 4), 4), [4]);
        assert_eq!(sizes(&run_of(8, 3), 4), [2, 1]);
        assert_eq!(sizes(&run_of(16, 16), 32), [16, 16]);
    }
}
