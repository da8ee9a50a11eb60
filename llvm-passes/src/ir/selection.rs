//! What instruction selection reads of single instructions, constants and variables, beside what all passes
//! read of a [`Value`].
//!
//! Each function says of which values it may be asked. As everywhere in [`ir`](super), a value is live as
//! long as its module, which the caller borrows.

use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::debuginfo::LLVMInstructionGetDebugLoc;
use inkwell::llvm_sys::{LLVMAtomicRMWBinOp, LLVMIntPredicate, LLVMOpcode, LLVMRealPredicate, LLVMTypeKind, LLVMValueKind};

use super::types::Type;
use super::value::{BlockRef, Value, copied};

/// Where an instruction stands in the source, without the text of the file's name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Line {
    /// Tells files apart: instructions with the same one are in the same file. The reverse need not hold.
    pub file: usize,
    /// Line, from 1; 0 for code that the compiler made.
    pub line: u32,
    /// Column, from 1; 0 if unknown.
    pub column: u32,
}

/// Types.
impl Value {
    /// The type, as a view.
    pub fn type_of(self) -> Type {
        Type(self.ty())
    }

    /// Whether it is a pointer.
    pub fn is_pointer(self) -> bool {
        self.type_kind() == LLVMTypeKind::LLVMPointerTypeKind
    }

    /// Whether it is a vector.
    pub fn is_vector(self) -> bool {
        self.type_kind() == LLVMTypeKind::LLVMVectorTypeKind
    }
}

/// Accesses of memory.
impl Value {
    /// Alignment that a load, store, private variable or variable outside all functions has; 0 if it has none
    /// of its own.
    pub fn alignment(self) -> u32 {
        // SAFETY: a live value that has an alignment, as the callers see by its opcode or kind.
        unsafe { LLVMGetAlignment(self.0) }
    }

    /// What an `atomicrmw` does.
    pub fn atomic_operation(self) -> LLVMAtomicRMWBinOp {
        debug_assert_eq!(self.opcode(), LLVMOpcode::LLVMAtomicRMW);
        // SAFETY: a live `atomicrmw`.
        unsafe { LLVMGetAtomicRMWBinOp(self.0) }
    }

    /// The type of the elements that an `alloca` makes room for.
    pub fn allocated_type(self) -> Type {
        debug_assert_eq!(self.opcode(), LLVMOpcode::LLVMAlloca);
        // SAFETY: a live `alloca`.
        Type(unsafe { LLVMGetAllocatedType(self.0) })
    }

    /// The type that the indices of a `getelementptr`, instruction or constant, step over.
    pub fn gep_source_type(self) -> Type {
        // SAFETY: a live `getelementptr`.
        Type(unsafe { LLVMGetGEPSourceElementType(self.0) })
    }
}

/// Comparisons, vectors and aggregates.
impl Value {
    /// The order that an `icmp` tests.
    pub fn integer_predicate(self) -> LLVMIntPredicate {
        debug_assert_eq!(self.opcode(), LLVMOpcode::LLVMICmp);
        // SAFETY: a live `icmp`.
        unsafe { LLVMGetICmpPredicate(self.0) }
    }

    /// The order that an `fcmp` tests.
    pub fn float_predicate(self) -> LLVMRealPredicate {
        debug_assert_eq!(self.opcode(), LLVMOpcode::LLVMFCmp);
        // SAFETY: a live `fcmp`.
        unsafe { LLVMGetFCmpPredicate(self.0) }
    }

    /// Which elements of its two vectors a `shufflevector` takes; `None` for poison.
    pub fn shuffle_mask(self) -> Vec<Option<usize>> {
        debug_assert_eq!(self.opcode(), LLVMOpcode::LLVMShuffleVector);
        // SAFETY: a live `shufflevector`, asked for as many elements as its mask has.
        unsafe { (0..LLVMGetNumMaskElements(self.0)).map(|k| usize::try_from(LLVMGetMaskValue(self.0, k)).ok()).collect() }
    }

    /// The numbers by which an `extractvalue` or `insertvalue` finds its element.
    pub fn indices(self) -> Vec<u32> {
        debug_assert!(matches!(self.opcode(), LLVMOpcode::LLVMExtractValue | LLVMOpcode::LLVMInsertValue));
        // SAFETY: a live instruction of the two that have indices; the list is copied.
        unsafe { std::slice::from_raw_parts(LLVMGetIndices(self.0), LLVMGetNumIndices(self.0) as usize) }.to_vec()
    }
}

/// Calls and places in the source.
impl Value {
    /// Whether a call is of inline assembly.
    pub fn calls_assembly(self) -> bool {
        // SAFETY: what a live call calls.
        unsafe { !LLVMIsAInlineAsm(LLVMGetCalledValue(self.0)).is_null() }
    }

    /// Where an instruction stands in the source, if it has a debug location.
    pub fn line(self) -> Option<Line> {
        // SAFETY: a live instruction, asked for its line only if it has a location; the file's name is not
        // read.
        unsafe {
            if LLVMInstructionGetDebugLoc(self.0).is_null() {
                return None;
            }
            let file = LLVMGetDebugLocFilename(self.0, &mut 0) as usize;
            Some(Line { file, line: LLVMGetDebugLocLine(self.0), column: LLVMGetDebugLocColumn(self.0) })
        }
    }

    /// The name of the module of a function or variable.
    pub fn module_name(self) -> String {
        let mut length = 0;
        // SAFETY: the module of a live global, whose name is copied.
        let name = unsafe { copied(LLVMGetModuleIdentifier(LLVMGetGlobalParent(self.0), &mut length), length) };
        String::from_utf8_lossy(&name).into_owned()
    }
}

/// Constants and variables.
impl Value {
    /// What kind of value it is.
    pub fn kind(self) -> LLVMValueKind {
        // SAFETY: a live value.
        unsafe { LLVMGetValueKind(self.0) }
    }

    /// The bits of a floating-point constant of at most 64 bits. A number on the way would quiet signalling NaNs.
    pub fn constant_float_bits(self) -> Option<u64> {
        let bits = match self.type_of().kind() {
            LLVMTypeKind::LLVMHalfTypeKind | LLVMTypeKind::LLVMBFloatTypeKind => 16,
            LLVMTypeKind::LLVMFloatTypeKind => 32,
            LLVMTypeKind::LLVMDoubleTypeKind => 64,
            _ => return None,
        };
        // SAFETY: a live value; a floating-point constant is read as an integer of its width, which LLVM folds to a constant.
        unsafe {
            if LLVMIsAConstantFP(self.0).is_null() {
                return None;
            }
            let integer = LLVMIntTypeInContext(LLVMGetTypeContext(self.type_of().0), bits);
            Value(LLVMConstBitCast(self.0, integer)).as_constant_int()
        }
    }

    /// An element of a constant structure, array or vector; `None` where LLVM has none, as of an expression.
    pub fn aggregate_element(self, i: u32) -> Option<Value> {
        // SAFETY: a live constant.
        let element = unsafe { LLVMGetAggregateElement(self.0, i) };
        (!element.is_null()).then_some(Value(element))
    }

    /// The type of what a variable outside all functions holds.
    pub fn variable_type(self) -> Type {
        debug_assert!(self.is_global_variable());
        // SAFETY: a live variable.
        Type(unsafe { LLVMGlobalGetValueType(self.0) })
    }

    /// What a variable outside all functions holds at first; `None` if that is defined elsewhere.
    pub fn initializer(self) -> Option<Value> {
        debug_assert!(self.is_global_variable());
        // SAFETY: a live variable.
        let initializer = unsafe { LLVMGetInitializer(self.0) };
        (!initializer.is_null()).then_some(Value(initializer))
    }
}

impl BlockRef {
    /// Its function.
    pub fn function(self) -> Value {
        // SAFETY: a live block.
        Value(unsafe { LLVMGetBasicBlockParent(self.0) })
    }
}
