//! Building instructions and functions through LLVM's C API.

use std::ffi::{CStr, CString};

use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::debuginfo::{LLVMInstructionGetDebugLoc, LLVMInstructionSetDebugLoc};
use inkwell::llvm_sys::prelude::{LLVMBasicBlockRef, LLVMBuilderRef, LLVMContextRef, LLVMTypeRef, LLVMValueRef};
use inkwell::llvm_sys::{LLVMAttributeFunctionIndex, LLVMIntPredicate, LLVMLinkage, LLVMOpcode};
use inkwell::module::Module;

use super::function::attribute_kind;
use super::types::Type;
use super::value::{BlockRef, Value};

/// The name of a value that needs none.
pub(crate) const UNNAMED: *const std::ffi::c_char = c"".as_ptr();

/// An instruction builder that is disposed of when it is dropped.
pub(crate) struct Builder(pub LLVMBuilderRef);

impl Builder {
    /// A builder without a place.
    pub fn new(context: LLVMContextRef) -> Builder {
        // SAFETY: a live context.
        Builder(unsafe { LLVMCreateBuilderInContext(context) })
    }

    /// A builder before an instruction.
    pub fn before(context: LLVMContextRef, instruction: Value) -> Builder {
        let builder = Builder::new(context);
        // SAFETY: a live instruction of the context.
        unsafe { LLVMPositionBuilderBefore(builder.0, instruction.0) };
        builder
    }
}

/// Building control flow. Values and blocks are live, of one function and of the builder's context.
impl Builder {
    /// Builds behind the last instruction of a block from now on.
    pub fn at_end(&self, block: BlockRef) {
        // SAFETY: a live block.
        unsafe { LLVMPositionBuilderAtEnd(self.0, block.0) };
    }

    /// Builds before an instruction from now on.
    pub fn at(&self, instruction: Value) {
        // SAFETY: a live instruction.
        unsafe { LLVMPositionBuilderBefore(self.0, instruction.0) };
    }

    /// A jump.
    pub fn jump(&self, to: BlockRef) -> Value {
        // SAFETY: a live block.
        Value(unsafe { LLVMBuildBr(self.0, to.0) })
    }

    /// A branch on a bit.
    pub fn branch(&self, condition: Value, yes: BlockRef, no: BlockRef) -> Value {
        // SAFETY: a live bit and live blocks.
        Value(unsafe { LLVMBuildCondBr(self.0, condition.0, yes.0, no.0) })
    }

    /// One of two values by a bit.
    pub fn select(&self, condition: Value, yes: Value, no: Value) -> Value {
        // SAFETY: a live bit, and live values of one type.
        Value(unsafe { LLVMBuildSelect(self.0, condition.0, yes.0, no.0, UNNAMED) })
    }

    /// Whether two integers are equal.
    pub fn equal(&self, x: Value, y: Value) -> Value {
        // SAFETY: live integers of one type.
        Value(unsafe { LLVMBuildICmp(self.0, LLVMIntPredicate::LLVMIntEQ, x.0, y.0, UNNAMED) })
    }

    /// An operation on two integers of one type.
    pub fn binary(&self, operation: LLVMOpcode, x: Value, y: Value) -> Value {
        // SAFETY: live integers of one type, and an operation on such.
        Value(unsafe { LLVMBuildBinOp(self.0, operation, x.0, y.0, UNNAMED) })
    }

    /// Whether two integers of one type are in an order.
    pub fn compare(&self, order: LLVMIntPredicate, x: Value, y: Value) -> Value {
        // SAFETY: live integers of one type.
        Value(unsafe { LLVMBuildICmp(self.0, order, x.0, y.0, UNNAMED) })
    }

    /// A conversion of an integer.
    pub fn cast(&self, operation: LLVMOpcode, x: Value, ty: LLVMTypeRef) -> Value {
        // SAFETY: a live integer, and an operation that makes the type of it.
        Value(unsafe { LLVMBuildCast(self.0, operation, x.0, ty, UNNAMED) })
    }

    /// Some number in the place of one that is poison, and else the number.
    pub fn freeze(&self, x: Value) -> Value {
        // SAFETY: a live value.
        Value(unsafe { LLVMBuildFreeze(self.0, x.0, UNNAMED) })
    }

    /// What is built from now on has the position in the source that an instruction has.
    pub fn locate(&self, instruction: Value) {
        // SAFETY: a live instruction of the context.
        unsafe { LLVMSetCurrentDebugLocation2(self.0, LLVMInstructionGetDebugLoc(instruction.0)) }
    }

    /// The block in which it builds.
    pub fn place(&self) -> BlockRef {
        // SAFETY: a builder with a place.
        BlockRef(unsafe { LLVMGetInsertBlock(self.0) })
    }

    /// A copy of an instruction that is no phi, with other operands, and other blocks that it goes to.
    pub fn copy(&self, instruction: Value, value: impl Fn(Value) -> Value, target: impl Fn(BlockRef) -> BlockRef) -> Value {
        // SAFETY: a live instruction; what stands for its operands is live and of their types.
        unsafe {
            let copy = LLVMInstructionClone(instruction.0);
            for i in 0..LLVMGetNumOperands(instruction.0) as u32 {
                let operand = LLVMGetOperand(instruction.0, i);
                let by = match LLVMValueIsBasicBlock(operand) {
                    0 => value(Value(operand)).0,
                    _ => LLVMBasicBlockAsValue(target(BlockRef(LLVMValueAsBasicBlock(operand))).0),
                };
                LLVMSetOperand(copy, i, by);
            }
            LLVMInsertIntoBuilder(self.0, copy);
            LLVMInstructionSetDebugLoc(copy, LLVMInstructionGetDebugLoc(instruction.0));
            Value(copy)
        }
    }

    /// Puts an instruction here that is elsewhere.
    pub fn move_here(&self, instruction: Value) {
        // SAFETY: a live instruction, whose operands the caller knows to be there.
        unsafe {
            LLVMInstructionRemoveFromParent(instruction.0);
            LLVMInsertIntoBuilder(self.0, instruction.0);
        }
    }

    /// A phi at the beginning of a block.
    pub fn phi(&self, block: BlockRef, ty: LLVMTypeRef, incoming: &[(Value, BlockRef)]) -> Value {
        let mut values: Vec<LLVMValueRef> = incoming.iter().map(|(v, _)| v.0).collect();
        let mut blocks: Vec<LLVMBasicBlockRef> = incoming.iter().map(|(_, b)| b.0).collect();
        // SAFETY: a live block, and live values of the type and blocks, as many of both.
        unsafe {
            match LLVMGetFirstInstruction(block.0) {
                first if first.is_null() => LLVMPositionBuilderAtEnd(self.0, block.0),
                first => LLVMPositionBuilderBefore(self.0, first),
            }
            let phi = LLVMBuildPhi(self.0, ty, UNNAMED);
            LLVMAddIncoming(phi, values.as_mut_ptr(), blocks.as_mut_ptr(), values.len() as u32);
            Value(phi)
        }
    }
}

/// Gives a phi one more value.
pub(crate) fn add_incoming(phi: Value, value: Value, from: BlockRef) {
    // SAFETY: a live phi, a live value of its type and a live block.
    unsafe { LLVMAddIncoming(phi.0, [value.0].as_mut_ptr(), [from.0].as_mut_ptr(), 1) };
}

/// The lanes of the warp that are here and for which a bit is set, a bit of 64 each.
pub(crate) fn ballot(module: &Module, b: &Builder, bit: Value) -> Value {
    let value = b.cast(LLVMOpcode::LLVMZExt, bit, integer(context_of(module), 32));
    // It reads no memory, ends, and depends on who is here.
    call(module, b, c"__heddle_ballot", value, &["memory", "nounwind", "willreturn", "convergent"])
}

/// The global offset in a dimension, of 64 bits.
pub(crate) fn global_offset(module: &Module, b: &Builder, d: u32) -> Value {
    let d = constant(context_of(module), 32, d.into());
    call(module, b, c"_Z17get_global_offsetj", d, &["memory", "nounwind", "willreturn"])
}

/// A call of a function of 32 bits that gives 64, with attributes without values.
fn call(module: &Module, b: &Builder, name: &CStr, argument: Value, attributes: &[&str]) -> Value {
    let context = context_of(module);
    // SAFETY: a live module and types of its context; a builder with a place; the function is of that type.
    unsafe {
        let ty = LLVMFunctionType(LLVMInt64TypeInContext(context), [LLVMInt32TypeInContext(context)].as_mut_ptr(), 1, 0);
        let mut function = LLVMGetNamedFunction(module.as_mut_ptr(), name.as_ptr());
        let is_new = function.is_null();
        if is_new {
            function = LLVMAddFunction(module.as_mut_ptr(), name.as_ptr(), ty);
        }
        let call = LLVMBuildCall2(b.0, ty, function, [argument.0].as_mut_ptr(), 1, UNNAMED);
        for name in attributes {
            let attribute = LLVMCreateEnumAttribute(context, attribute_kind(name), 0);
            LLVMAddCallSiteAttribute(call, LLVMAttributeFunctionIndex, attribute);
            // LLVM takes from calls what the function does not say, such as `convergent`.
            if is_new {
                LLVMAddAttributeAtIndex(function, LLVMAttributeFunctionIndex, attribute);
            }
        }
        Value(call)
    }
}

/// The type of integers of so many bits.
pub(crate) fn integer(context: LLVMContextRef, bits: u32) -> LLVMTypeRef {
    // SAFETY: a live context.
    unsafe { LLVMIntTypeInContext(context, bits) }
}

/// Removes an instruction that has another value in its place.
pub(crate) fn replace(instruction: Value, by: Value) {
    // SAFETY: live values of one type; nothing uses the instruction when it is erased.
    unsafe {
        LLVMReplaceAllUsesWith(instruction.0, by.0);
        LLVMInstructionEraseFromParent(instruction.0);
    }
}

/// Removes an instruction without a value.
pub(crate) fn erase(instruction: Value) {
    // SAFETY: a live instruction that nothing can use.
    unsafe { LLVMInstructionEraseFromParent(instruction.0) };
}

/// A constant of an integer type of so many bits.
pub(crate) fn constant(context: LLVMContextRef, bits: u32, value: u64) -> Value {
    // SAFETY: a live context.
    Value(unsafe { LLVMConstInt(LLVMIntTypeInContext(context, bits), value, 0) })
}

/// A number as a constant of an integer type, or of each element of a vector of some.
pub(crate) fn splat(ty: LLVMTypeRef, number: i64) -> Value {
    match Type(ty).element() {
        Some(element) => {
            let mut elements = vec![splat(element.0, number).0; Type(ty).element_count() as usize];
            // SAFETY: live constants of one type.
            Value(unsafe { LLVMConstVector(elements.as_mut_ptr(), elements.len() as u32) })
        }
        // SAFETY: a live type.
        None => Value(unsafe { LLVMConstInt(ty, number as u64, 1) }),
    }
}

/// A value of a type that nobody may rely on.
pub(crate) fn poison(ty: LLVMTypeRef) -> Value {
    // SAFETY: a live type.
    Value(unsafe { LLVMGetPoison(ty) })
}

impl Drop for Builder {
    fn drop(&mut self) {
        // SAFETY: `new` created it, and nothing else disposes of it.
        unsafe { LLVMDisposeBuilder(self.0) }
    }
}

/// The context of a module.
pub(crate) fn context_of(module: &Module) -> LLVMContextRef {
    // SAFETY: a live module.
    unsafe { LLVMGetModuleContext(module.as_mut_ptr()) }
}

/// Adds a function that the module alone sees and that LLVM inlines wherever it is called.
pub(crate) fn inlined_function(module: &Module, name: &str, result: LLVMTypeRef, parameters: &mut [LLVMTypeRef]) -> LLVMValueRef {
    let name = CString::new(name).unwrap_or_default();
    // SAFETY: a live module and types of its context.
    unsafe {
        let ty = LLVMFunctionType(result, parameters.as_mut_ptr(), parameters.len() as u32, 0);
        let function = LLVMAddFunction(module.as_mut_ptr(), name.as_ptr(), ty);
        LLVMSetLinkage(function, LLVMLinkage::LLVMInternalLinkage);
        let always = LLVMCreateEnumAttribute(context_of(module), attribute_kind("alwaysinline"), 0);
        LLVMAddAttributeAtIndex(function, LLVMAttributeFunctionIndex, always);
        function
    }
}

/// Appends a block to a function.
pub(crate) fn append_block(context: LLVMContextRef, function: LLVMValueRef, name: &CStr) -> LLVMBasicBlockRef {
    // SAFETY: a live function of the context.
    unsafe { LLVMAppendBasicBlockInContext(context, function, name.as_ptr()) }
}

/// Puts a call in the place of an instruction, with its position in the source, and removes the
/// instruction.
pub(crate) fn replace_by_call(
    context: LLVMContextRef,
    instruction: Value,
    function: LLVMValueRef,
    arguments: &mut [LLVMValueRef],
) {
    let b = Builder::before(context, instruction);
    // SAFETY: a live instruction, and a function of its module that takes the arguments. Nothing
    // uses the instruction any more when it is erased.
    unsafe {
        let ty = LLVMGlobalGetValueType(function);
        let call = LLVMBuildCall2(b.0, ty, function, arguments.as_mut_ptr(), arguments.len() as u32, UNNAMED);
        LLVMInstructionSetDebugLoc(call, LLVMInstructionGetDebugLoc(instruction.0));
        if !instruction.is_void() {
            LLVMReplaceAllUsesWith(instruction.0, call);
        }
        LLVMInstructionEraseFromParent(instruction.0);
    }
}
