//! Building instructions and functions through LLVM's C API.

use std::ffi::{CStr, CString};

use inkwell::llvm_sys::LLVMLinkage;
use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::debuginfo::{LLVMInstructionGetDebugLoc, LLVMInstructionSetDebugLoc};
use inkwell::llvm_sys::prelude::{LLVMBasicBlockRef, LLVMBuilderRef, LLVMContextRef, LLVMTypeRef, LLVMValueRef};
use inkwell::module::Module;

use super::function::attribute_kind;
use super::value::Value;

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
        LLVMAddAttributeAtIndex(function, inkwell::llvm_sys::LLVMAttributeFunctionIndex, always);
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
