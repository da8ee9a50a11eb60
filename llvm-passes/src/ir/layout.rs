//! The data layout: sizes, alignments and offsets of types in memory, as LLVM computes them.
//!
//! # Which layout
//! clang writes the target's layout ([`NVPTX64`]) into every module, and [`Layout::of_module`]
//! reads it from there. IR from elsewhere may have none; LLVM then takes its own default, which
//! aligns `i64` to 4 bytes. What lays out memory for the machine and must not depend on that asks
//! [`Layout::of_target`].
//!
//! # Limits
//! LLVM remembers the layouts of structures by the addresses of their types, so a [`Layout`] must
//! not outlive the context whose types it is asked about. LLVM counts bits in 64 bits, so sizes
//! wrap around at 2⁶¹ bytes; [`Layout::checked_size`] says when they might. Scalable vectors have
//! no size here.

use std::ffi::CStr;

use inkwell::llvm_sys::LLVMOpcode::LLVMGetElementPtr;
use inkwell::llvm_sys::LLVMTypeKind::{LLVMArrayTypeKind, LLVMStructTypeKind};
use inkwell::llvm_sys::core::{LLVMGetDataLayoutStr, LLVMGetGlobalParent};
use inkwell::llvm_sys::target::*;
use inkwell::module::Module;

use super::types::Type;
use super::value::Value;

/// The layout that clang gives modules of the target `nvptx64--`: little-endian, 64-bit pointers in
/// every address space, every type aligned to its size, `i128` to 16 bytes.
pub const NVPTX64: &CStr = c"e-i64:64-i128:128-v16:16-v32:32-n16:32:64";

/// A data layout.
pub struct Layout(LLVMTargetDataRef);

/// An index of a `getelementptr`, and what it adds to the address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GepStep {
    /// A constant number of a structure's field: so many bytes.
    Field(u64),
    /// The index times so many bytes. An index of fewer bits than the address is sign-extended.
    Element {
        /// The index.
        index: Value,
        /// Bytes from one element to the next.
        stride: u64,
    },
}

impl Layout {
    /// The layout of the target, whatever the module says.
    pub fn of_target() -> Layout {
        // SAFETY: a layout's text; `drop` disposes of the result.
        Layout(unsafe { LLVMCreateTargetData(NVPTX64.as_ptr()) })
    }

    /// The layout of a module.
    pub fn of_module(module: &Module) -> Layout {
        // SAFETY: a live module, whose text is read at once; `drop` disposes of the result.
        Layout(unsafe { LLVMCreateTargetData(LLVMGetDataLayoutStr(module.as_mut_ptr())) })
    }

    /// The layout of a function's module.
    pub fn of_function(function: Value) -> Layout {
        // SAFETY: a live function; else as in `of_module`.
        Layout(unsafe { LLVMCreateTargetData(LLVMGetDataLayoutStr(LLVMGetGlobalParent(function.0))) })
    }

    /// Bytes from one element of an array of the type to the next: its size with padding at the
    /// end. Wraps around at 2⁶¹.
    pub fn size(&self, ty: Type) -> u64 {
        // SAFETY: a live layout and a sized type of a live context.
        unsafe { LLVMABISizeOfType(self.0, ty.0) }
    }

    /// The size as [`Layout::size`] gives it; `None` if it does not fit into 60 bits.
    pub fn checked_size(&self, ty: Type) -> Option<u64> {
        let fits = |size: &u64| *size < 1 << 60;
        let size = match (ty.kind(), ty.element()) {
            (LLVMArrayTypeKind, Some(element)) => self.checked_size(element)?.checked_mul(ty.element_count())?,
            (LLVMStructTypeKind, _) => {
                // Fields that fit together leave room for the padding between them.
                ty.fields().try_fold(0u64, |sum, field| sum.checked_add(self.checked_size(field)?).filter(fits))?;
                self.size(ty)
            }
            _ => self.size(ty),
        };
        Some(size).filter(fits)
    }

    /// Bytes that a load or store of the type touches: its size without padding at the end.
    pub fn store_size(&self, ty: Type) -> u64 {
        // SAFETY: as in `size`.
        unsafe { LLVMStoreSizeOfType(self.0, ty.0) }
    }

    /// The alignment that the ABI gives the type, in bytes.
    pub fn alignment(&self, ty: Type) -> u32 {
        // SAFETY: as in `size`.
        unsafe { LLVMABIAlignmentOfType(self.0, ty.0) }
    }

    /// Byte offset of a structure's field.
    pub fn field_offset(&self, structure: Type, field: u32) -> u64 {
        assert!(field < structure.field_count(), "field {field} of a structure of {}", structure.field_count());
        // SAFETY: a live layout and a structure that has the field.
        unsafe { LLVMOffsetOfElement(self.0, structure.0, field) }
    }

    /// What the indices of a `getelementptr`, instruction or constant, add to its pointer, in
    /// order.
    pub fn gep_steps(&self, gep: Value) -> Vec<GepStep> {
        assert_eq!(gep.any_opcode(), Some(LLVMGetElementPtr));
        let mut ty = gep.gep_source_type();
        let step = |i: u32| {
            let index = gep.operand(i);
            if i > 1 {
                let field = index.as_constant_int().unwrap_or(0) as u32;
                if let Some(inner) = ty.field(field) {
                    return GepStep::Field(self.field_offset(std::mem::replace(&mut ty, inner), field));
                }
                ty = ty.element().unwrap_or(ty);
            }
            GepStep::Element { index, stride: self.size(ty) }
        };
        (1..gep.operand_count()).map(step).collect()
    }

    /// Bytes that a `getelementptr` of constant indices adds, modulo 2⁶⁴; `None` if an index is no
    /// constant.
    pub fn constant_offset(&self, gep: Value) -> Option<u64> {
        self.gep_steps(gep).into_iter().try_fold(0u64, |sum, step| {
            let bytes = match step {
                GepStep::Field(bytes) => bytes,
                GepStep::Element { index, stride } => (index.as_signed_constant()? as u64).wrapping_mul(stride),
            };
            Some(sum.wrapping_add(bytes))
        })
    }
}

impl Drop for Layout {
    fn drop(&mut self) {
        // SAFETY: every constructor creates its own.
        unsafe { LLVMDisposeTargetData(self.0) }
    }
}

#[cfg(test)]
mod tests {
    use inkwell::context::Context;
    use inkwell::memory_buffer::MemoryBuffer;
    use inkwell::types::{AnyTypeEnum, AsTypeRef};

    use super::*;
    use crate::ir::function::blocks;

    /// A module of the target whose function `f` has the given text.
    fn module<'c>(context: &'c Context, layout: &str, text: &str) -> Module<'c> {
        let text = format!("{layout}\n{text}\0");
        let buffer = MemoryBuffer::create_from_memory_range_copy(text.trim_end_matches('\0').as_bytes(), "test");
        context.create_module_from_ir(buffer).unwrap()
    }

    /// A type by LLVM's text of it.
    fn type_of(context: &Context, text: &str) -> Type {
        let module = module(context, "", &format!("@g = external global {text}"));
        let ty = module.get_global("g").unwrap().get_value_type();
        Type(match ty {
            AnyTypeEnum::ArrayType(t) => t.as_type_ref(),
            AnyTypeEnum::FloatType(t) => t.as_type_ref(),
            AnyTypeEnum::IntType(t) => t.as_type_ref(),
            AnyTypeEnum::PointerType(t) => t.as_type_ref(),
            AnyTypeEnum::StructType(t) => t.as_type_ref(),
            AnyTypeEnum::VectorType(t) => t.as_type_ref(),
            other => panic!("{other:?}"),
        })
    }

    #[test]
    fn types_are_aligned_to_their_size() {
        let context = Context::create();
        let layout = Layout::of_target();
        for (text, size, alignment, stored) in [
            ("i1", 1, 1, 1),
            ("i8", 1, 1, 1),
            ("i16", 2, 2, 2),
            ("i24", 4, 4, 3),
            ("i32", 4, 4, 4),
            ("i48", 8, 8, 6),
            ("i64", 8, 8, 8),
            ("i128", 16, 16, 16),
            ("i256", 32, 16, 32),
            ("half", 2, 2, 2),
            ("float", 4, 4, 4),
            ("double", 8, 8, 8),
            ("ptr", 8, 8, 8),
            ("ptr addrspace(1)", 8, 8, 8),
            ("ptr addrspace(3)", 8, 8, 8),
            ("ptr addrspace(5)", 8, 8, 8),
            ("<2 x i8>", 2, 2, 2),
            ("<3 x i8>", 4, 4, 3),
            ("<8 x i1>", 1, 1, 1),
            ("<4 x half>", 8, 8, 8),
            ("<3 x i32>", 16, 16, 12),
            ("<4 x i32>", 16, 16, 16),
            ("<16 x double>", 128, 128, 128),
            ("[3 x i16]", 6, 2, 6),
            ("[2 x <3 x float>]", 32, 16, 32),
            ("[0 x i64]", 0, 8, 0),
            ("{}", 0, 1, 0),
            ("{ i8, i32 }", 8, 4, 8),
            ("<{ i8, i32 }>", 5, 1, 5),
            ("{ i8, { i16, i64 }, i8 }", 32, 8, 32),
            ("{ i32, [2 x i128] }", 48, 16, 48),
        ] {
            let ty = type_of(&context, text);
            assert_eq!((layout.size(ty), layout.alignment(ty), layout.store_size(ty)), (size, alignment, stored), "{text}");
            assert_eq!(layout.checked_size(ty), Some(size), "{text}");
        }
    }

    #[test]
    fn fields_stand_at_their_alignment_unless_they_are_packed() {
        let context = Context::create();
        let layout = Layout::of_target();
        let offsets = |text: &str, count: u32| {
            let ty = type_of(&context, text);
            (0..count).map(|i| layout.field_offset(ty, i)).collect::<Vec<_>>()
        };
        assert_eq!(offsets("{ i8, i64, i16, <3 x i32>, ptr }", 5), [0, 8, 16, 32, 48]);
        assert_eq!(offsets("<{ i8, i64, i16, <3 x i32>, ptr }>", 5), [0, 1, 9, 11, 27]);
        assert_eq!(offsets("{ half, { i8, i8 }, i128 }", 3), [0, 2, 16]);
    }

    #[test]
    fn sizes_beyond_an_address_are_refused() {
        let context = Context::create();
        let layout = Layout::of_target();
        for (text, wanted) in [
            ("[288230376151711743 x i32]", Some((1 << 60) - 4)),
            ("[288230376151711744 x i32]", None),
            ("[4611686018427387904 x i32]", None),
            ("[4294967296 x [4294967296 x i8]]", None),
            ("{ i32, [4611686018427387904 x i32] }", None),
            ("{ [576460752303423488 x i8], [576460752303423488 x i8] }", None),
            ("{ [576460752303423488 x i8], i16 }", Some((1 << 59) + 2)),
        ] {
            assert_eq!(layout.checked_size(type_of(&context, text)), wanted, "{text}");
        }
    }

    const GEPS: &str = "%s = type { i8, i64, [4 x { i16, i32 }] }
        define void @f(ptr %p, i64 %i, i32 %j) {
          %a = getelementptr %s, ptr %p, i64 -1, i32 2, i64 3, i32 1
          %b = getelementptr %s, ptr %p, i64 %i, i32 2, i32 %j
          %c = getelementptr <4 x i16>, ptr %p, i32 2, i32 1
          ret void
        }";

    #[test]
    fn indices_of_an_address_become_bytes() {
        let context = Context::create();
        let module = module(&context, "target datalayout = \"e-i64:64\"", GEPS);
        let function = Value::of(module.get_function("f").unwrap());
        let layout = Layout::of_function(function);
        let instructions: Vec<Value> = blocks(function)[0].instructions().collect();
        let (a, b, c) = (instructions[0], instructions[1], instructions[2]);
        assert_eq!(layout.constant_offset(a), Some((-48i64 + 16 + 3 * 8 + 4) as u64));
        assert_eq!(layout.constant_offset(b), None);
        assert_eq!(layout.constant_offset(c), Some(2 * 8 + 2));
        let wanted = [
            GepStep::Element { index: b.operand(1), stride: 48 },
            GepStep::Field(16),
            GepStep::Element { index: b.operand(3), stride: 8 },
        ];
        assert_eq!(layout.gep_steps(b), wanted);
    }

    #[test]
    fn a_module_without_a_layout_has_llvms_default() {
        let context = Context::create();
        let ty = type_of(&context, "{ i8, i64 }");
        let plain = module(&context, "", GEPS);
        let clang = module(&context, &format!("target datalayout = {NVPTX64:?}"), GEPS);
        assert_eq!(Layout::of_module(&plain).field_offset(ty, 1), 4);
        assert_eq!(Layout::of_module(&clang).field_offset(ty, 1), 8);
        assert_eq!(Layout::of_target().field_offset(ty, 1), 8);
    }
}
