//! LLVM types as lists of scalar leaves with byte offsets, after the target's data layout
//! ([`heddle_llvm_passes::ir::layout::NVPTX64`]).
//!
//! An integer of more than 64 bits is a list of leaves of 64 bits, lowest first.

use heddle_isa::{Operand, Type};
use heddle_llvm_passes::ir::layout::Layout;
use heddle_llvm_passes::ir::{self, address_space};
use heddle_mir::{Bank, RegClass};
use inkwell::llvm_sys::LLVMTypeKind::*;
use smallvec::SmallVec;

/// The leaves of a type, in order.
pub(crate) type Leaves = SmallVec<[Leaf; 4]>;

/// What holds a value: an operand for each leaf of its type.
pub(crate) type Parts = SmallVec<[Operand; 4]>;

/// A scalar of a (possibly nested) type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Leaf {
    /// Width in bits; of pointers in memory 64.
    pub bits: u32,
    /// An IEEE float of 16, 32 or 64 bits.
    pub float: bool,
    /// Address space, if the leaf is a pointer.
    pub pointer: Option<u32>,
    /// Byte offset in memory.
    pub offset: u32,
}

impl Leaf {
    /// An integer of 32 bits.
    pub const WORD: Leaf = Leaf { bits: 32, float: false, pointer: None, offset: 0 };

    /// Bytes in memory.
    pub fn bytes(self) -> u32 {
        self.bits.div_ceil(8).next_power_of_two()
    }

    /// Registers: 0 for a predicate; pointers to local memory, and to what is known to be private, are one
    /// word.
    pub fn words(self) -> u8 {
        match self.pointer {
            Some(space) if is_wide(space) => 2,
            Some(_) => 1,
            None if self.bits == 1 => 0,
            None if self.bits <= 32 => 1,
            None => 2,
        }
    }

    /// Register class in a bank; a scalar `i1` is a word.
    pub fn class(self, bank: Bank) -> RegClass {
        match (self.words(), bank) {
            (0, Bank::Scalar) => RegClass::scalar(1),
            (0, _) => RegClass::PREDICATE,
            (words, bank) => RegClass { bank, words },
        }
    }

    /// The untyped move of the leaf.
    pub fn bit_type(self) -> Type {
        if self.words() == 2 { Type::B64 } else { Type::B32 }
    }

    /// The float type of the leaf's width.
    pub fn float_type(self) -> Type {
        match self.bits {
            16 => Type::F16,
            32 => Type::F32,
            _ => Type::F64,
        }
    }
}

/// Whether pointers of an address space have 64 bits in registers: those to device memory, and generic ones.
pub(crate) fn is_wide(space: u32) -> bool {
    matches!(space, address_space::GENERIC | address_space::GLOBAL | address_space::CONSTANT)
}

/// Bits of an integer type, or of the elements of a vector of integers; 0 for others.
pub(crate) fn widest_integer(ty: ir::Type) -> u32 {
    match (ty.kind(), ty.element()) {
        (LLVMVectorTypeKind, Some(element)) => element.integer_bits(),
        _ => ty.integer_bits(),
    }
}

/// What of a type no register holds and no instruction works on, if there is such a thing: floats other than IEEE's of 16,
/// 32 and 64 bits, scalable vectors, types of other targets.
pub(crate) fn unsupported(ty: ir::Type) -> Option<ir::Type> {
    match ty.kind() {
        LLVMVectorTypeKind | LLVMArrayTypeKind => unsupported(ty.element()?),
        LLVMStructTypeKind => ty.fields().find_map(unsupported),
        LLVMBFloatTypeKind
        | LLVMX86_FP80TypeKind
        | LLVMFP128TypeKind
        | LLVMPPC_FP128TypeKind
        | LLVMX86_MMXTypeKind
        | LLVMX86_AMXTypeKind
        | LLVMScalableVectorTypeKind
        | LLVMTargetExtTypeKind => Some(ty),
        _ => None,
    }
}

/// What of a type has no size in memory that is known when a kernel is compiled: LLVM aborts where it is asked for it.
pub(crate) fn of_unknown_size(ty: ir::Type) -> Option<ir::Type> {
    unsupported(ty).filter(|part| match part.kind() {
        LLVMScalableVectorTypeKind => true,
        // SPIR-V's are pointers.
        LLVMTargetExtTypeKind => !part.text().starts_with("target(\"spirv."),
        _ => false,
    })
}

/// Scalar leaves of a type, in order.
pub(crate) fn leaves(layout: &Layout, ty: ir::Type) -> Leaves {
    let mut result = SmallVec::new();
    collect(layout, ty, 0, &mut result);
    result
}

fn collect(layout: &Layout, ty: ir::Type, offset: u32, out: &mut Leaves) {
    let leaf = |bits, float, pointer| Leaf { bits, float, pointer, offset };
    match ty.kind() {
        LLVMIntegerTypeKind => {
            let bits = ty.integer_bits();
            for low in (0..bits).step_by(64) {
                out.push(Leaf { offset: offset + low / 8, ..leaf((bits - low).min(64), false, None) });
            }
        }
        LLVMHalfTypeKind => out.push(leaf(16, true, None)),
        LLVMFloatTypeKind => out.push(leaf(32, true, None)),
        LLVMDoubleTypeKind => out.push(leaf(64, true, None)),
        LLVMPointerTypeKind => out.push(leaf(64, false, ty.address_space())),
        LLVMVectorTypeKind | LLVMArrayTypeKind => {
            let Some(element) = ty.element() else { return };
            let size = layout.size(element) as u32;
            for i in 0..ty.element_count() as u32 {
                collect(layout, element, offset + i * size, out);
            }
        }
        LLVMStructTypeKind => {
            for (i, field) in ty.fields().enumerate() {
                collect(layout, field, offset + layout.field_offset(ty, i as u32) as u32, out);
            }
        }
        _ => {}
    }
}
