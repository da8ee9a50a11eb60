//! LLVM types as lists of scalar leaves with byte offsets, after the module's data layout (`nvptx64--`: natural alignment, 64-bit
//! pointers in every address space).

use inkwell::llvm_sys::LLVMTypeKind::*;
use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::prelude::LLVMTypeRef;
use smallvec::SmallVec;

use heddle_isa::Type;
use heddle_mir::{Bank, RegClass};

/// A scalar of a (possibly nested) type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Leaf {
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
    /// Bytes in memory.
    pub fn bytes(self) -> u32 {
        self.bits.div_ceil(8).next_power_of_two()
    }

    /// Registers: 0 for a predicate; pointers to local memory, and to what is known to be private, are one word.
    pub fn words(self) -> u8 {
        match self.pointer {
            Some(0 | 1 | 4) => 2,
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

    /// The float type; `B32` if it is none.
    pub fn float_type(self) -> Type {
        match self.bits {
            16 => Type::F16,
            32 => Type::F32,
            _ => Type::F64,
        }
    }
}

/// Whether a type is a vector.
pub fn is_vector(ty: LLVMTypeRef) -> bool {
    unsafe { LLVMGetTypeKind(ty) == LLVMVectorTypeKind }
}

/// Bits of an integer type, or of the elements of a vector of integers; 0 for others.
pub fn widest_integer(ty: LLVMTypeRef) -> u32 {
    unsafe {
        match LLVMGetTypeKind(ty) {
            LLVMIntegerTypeKind => LLVMGetIntTypeWidth(ty),
            LLVMVectorTypeKind => widest_integer(LLVMGetElementType(ty)),
            _ => 0,
        }
    }
}

/// Whether a type is a pointer.
pub fn is_pointer(ty: LLVMTypeRef) -> bool {
    unsafe { LLVMGetTypeKind(ty) == LLVMPointerTypeKind }
}

/// Scalar leaves of a type, in order.
pub fn leaves(ty: LLVMTypeRef) -> SmallVec<[Leaf; 4]> {
    let mut result = SmallVec::new();
    collect(ty, 0, &mut result);
    result
}

fn collect(ty: LLVMTypeRef, offset: u32, out: &mut SmallVec<[Leaf; 4]>) {
    // SAFETY (file): type queries on types of a live context.
    unsafe {
        let leaf = |bits, float, pointer| Leaf { bits, float, pointer, offset };
        match LLVMGetTypeKind(ty) {
            // What is wider than two words is a list of two words each, lowest first.
            LLVMIntegerTypeKind => {
                let bits = LLVMGetIntTypeWidth(ty);
                for low in (0..bits).step_by(64) {
                    out.push(Leaf { offset: offset + low / 8, ..leaf((bits - low).min(64), false, None) });
                }
            }
            LLVMHalfTypeKind => out.push(leaf(16, true, None)),
            LLVMFloatTypeKind => out.push(leaf(32, true, None)),
            LLVMDoubleTypeKind => out.push(leaf(64, true, None)),
            LLVMPointerTypeKind => out.push(leaf(64, false, Some(LLVMGetPointerAddressSpace(ty)))),
            LLVMVectorTypeKind => {
                let element = LLVMGetElementType(ty);
                let size = alloc_size(element);
                for i in 0..LLVMGetVectorSize(ty) {
                    collect(element, offset + i * size, out);
                }
            }
            LLVMArrayTypeKind => {
                let element = LLVMGetElementType(ty);
                let size = alloc_size(element);
                for i in 0..LLVMGetArrayLength2(ty) as u32 {
                    collect(element, offset + i * size, out);
                }
            }
            LLVMStructTypeKind => {
                for i in 0..LLVMCountStructElementTypes(ty) {
                    collect(LLVMStructGetTypeAtIndex(ty, i), offset + field_offset(ty, i), out);
                }
            }
            _ => {}
        }
    }
}

/// Byte offset of a structure's field.
pub fn field_offset(ty: LLVMTypeRef, field: u32) -> u32 {
    unsafe {
        let packed = LLVMIsPackedStruct(ty) != 0;
        let mut offset = 0u32;
        for i in 0..=field {
            let element = LLVMStructGetTypeAtIndex(ty, i);
            if !packed {
                offset = offset.next_multiple_of(abi_align(element));
            }
            if i < field {
                offset += alloc_size(element);
            }
        }
        offset
    }
}

/// Number of leaves of a type.
pub fn leaf_count(ty: LLVMTypeRef) -> usize {
    leaves(ty).len()
}

/// ABI alignment in bytes.
pub fn abi_align(ty: LLVMTypeRef) -> u32 {
    unsafe {
        match LLVMGetTypeKind(ty) {
            LLVMIntegerTypeKind => (LLVMGetIntTypeWidth(ty).div_ceil(8)).next_power_of_two().min(16),
            LLVMHalfTypeKind => 2,
            LLVMFloatTypeKind => 4,
            LLVMDoubleTypeKind | LLVMPointerTypeKind => 8,
            LLVMVectorTypeKind => {
                let bits = scalar_bits(LLVMGetElementType(ty)) * LLVMGetVectorSize(ty);
                bits.div_ceil(8).next_power_of_two().max(1)
            }
            LLVMArrayTypeKind => abi_align(LLVMGetElementType(ty)),
            LLVMStructTypeKind if LLVMIsPackedStruct(ty) != 0 => 1,
            LLVMStructTypeKind => {
                (0..LLVMCountStructElementTypes(ty)).map(|i| abi_align(LLVMStructGetTypeAtIndex(ty, i))).max().unwrap_or(1)
            }
            _ => 1,
        }
    }
}

fn scalar_bits(ty: LLVMTypeRef) -> u32 {
    unsafe {
        match LLVMGetTypeKind(ty) {
            LLVMIntegerTypeKind => LLVMGetIntTypeWidth(ty),
            LLVMHalfTypeKind => 16,
            LLVMFloatTypeKind => 32,
            _ => 64,
        }
    }
}

/// Allocated size in bytes, padding included.
pub fn alloc_size(ty: LLVMTypeRef) -> u32 {
    unsafe {
        match LLVMGetTypeKind(ty) {
            LLVMIntegerTypeKind => LLVMGetIntTypeWidth(ty).div_ceil(8).next_multiple_of(abi_align(ty)),
            LLVMVectorTypeKind => abi_align(ty),
            LLVMArrayTypeKind => alloc_size(LLVMGetElementType(ty)).wrapping_mul(LLVMGetArrayLength2(ty) as u32),
            LLVMStructTypeKind => {
                let n = LLVMCountStructElementTypes(ty);
                if n == 0 {
                    return 0;
                }
                let last = LLVMStructGetTypeAtIndex(ty, n - 1);
                (field_offset(ty, n - 1) + alloc_size(last)).next_multiple_of(abi_align(ty))
            }
            _ => abi_align(ty),
        }
    }
}

/// Allocated size in bytes of a type that may be too large for an address.
pub fn wide_size(ty: LLVMTypeRef) -> u64 {
    unsafe {
        match LLVMGetTypeKind(ty) {
            LLVMArrayTypeKind => wide_size(LLVMGetElementType(ty)).saturating_mul(LLVMGetArrayLength2(ty)),
            LLVMStructTypeKind => {
                let fields = (0..LLVMCountStructElementTypes(ty)).map(|i| wide_size(LLVMStructGetTypeAtIndex(ty, i)));
                fields.fold(0u64, u64::saturating_add).max(alloc_size(ty).into())
            }
            _ => alloc_size(ty).into(),
        }
    }
}

/// Elements of an array or vector type.
pub fn element_count(ty: LLVMTypeRef) -> u32 {
    unsafe { if LLVMGetTypeKind(ty) == LLVMVectorTypeKind { LLVMGetVectorSize(ty) } else { LLVMGetArrayLength2(ty) as u32 } }
}
