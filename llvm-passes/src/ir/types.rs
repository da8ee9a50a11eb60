//! A thin, copyable view of LLVM types, under the same promise as [`Value`](super::value::Value):
//! they belong to a live context.

use inkwell::llvm_sys::LLVMTypeKind;
use inkwell::llvm_sys::LLVMTypeKind::*;
use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::prelude::LLVMTypeRef;

use super::value::taken;

/// A type.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Type(pub LLVMTypeRef);

impl Type {
    /// What kind of type it is.
    pub fn kind(self) -> LLVMTypeKind {
        // SAFETY: a live type.
        unsafe { LLVMGetTypeKind(self.0) }
    }

    /// How LLVM spells it.
    pub fn text(self) -> String {
        // SAFETY: a live type; the text is LLVM's to give.
        unsafe { taken(LLVMPrintTypeToString(self.0)) }
    }

    /// Bits of an integer type; 0 for others.
    pub fn integer_bits(self) -> u32 {
        match self.kind() {
            // SAFETY: a live integer type.
            LLVMIntegerTypeKind => unsafe { LLVMGetIntTypeWidth(self.0) },
            _ => 0,
        }
    }

    /// Address space of a pointer type; `None` for others.
    pub fn address_space(self) -> Option<u32> {
        // SAFETY: a live pointer type.
        (self.kind() == LLVMPointerTypeKind).then(|| unsafe { LLVMGetPointerAddressSpace(self.0) })
    }

    /// The type of the elements of an array or vector; `None` for others.
    pub fn element(self) -> Option<Type> {
        // SAFETY: a live array or vector type.
        matches!(self.kind(), LLVMArrayTypeKind | LLVMVectorTypeKind).then(|| Type(unsafe { LLVMGetElementType(self.0) }))
    }

    /// Elements of an array or vector; 0 for other types.
    pub fn element_count(self) -> u64 {
        match self.kind() {
            // SAFETY: a live array type.
            LLVMArrayTypeKind => unsafe { LLVMGetArrayLength2(self.0) },
            // SAFETY: a live vector type.
            LLVMVectorTypeKind => u64::from(unsafe { LLVMGetVectorSize(self.0) }),
            _ => 0,
        }
    }

    /// Number of a structure's fields; 0 for other types.
    pub fn field_count(self) -> u32 {
        match self.kind() {
            // SAFETY: a live structure type.
            LLVMStructTypeKind => unsafe { LLVMCountStructElementTypes(self.0) },
            _ => 0,
        }
    }

    /// The type of a structure's field; `None` if there is none with the number.
    pub fn field(self, number: u32) -> Option<Type> {
        // SAFETY: a live structure type that has the field.
        (number < self.field_count()).then(|| Type(unsafe { LLVMStructGetTypeAtIndex(self.0, number) }))
    }

    /// The types of a structure's fields, in order.
    pub fn fields(self) -> impl Iterator<Item = Type> {
        (0..self.field_count()).filter_map(move |i| self.field(i))
    }
}
