//! Functions with other parameters: the body moves into a new function, with its attributes and metadata.

use std::ffi::CString;

use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::prelude::{LLVMAttributeRef, LLVMTypeRef};
use inkwell::llvm_sys::{LLVMAttributeFunctionIndex, LLVMAttributeReturnIndex};
use inkwell::module::Module;

use super::build::{Builder, UNNAMED, context_of};
use super::function::{blocks, params};
use super::value::Value;

/// Puts a function with other parameters in the place of one with a body. The first parameters stand for the old ones;
/// pointers may be to another address space, from which the body converts them. Returns the new function, which has the old
/// one's name.
pub(crate) fn with_parameters(module: &Module, old: Value, parameters: &mut [LLVMTypeRef]) -> Value {
    let context = context_of(module);
    let name = CString::new(old.name()).unwrap_or_default();
    let (old_parameters, old_blocks) = (params(old), blocks(old));
    // SAFETY: a live module and types of its context. The old function has no body and no users any more when it is deleted.
    unsafe {
        let result = LLVMGetReturnType(LLVMGlobalGetValueType(old.0));
        let ty = LLVMFunctionType(result, parameters.as_mut_ptr(), parameters.len() as u32, 0);
        let new = Value(LLVMAddFunction(module.as_mut_ptr(), c"".as_ptr(), ty));
        LLVMSetLinkage(new.0, LLVMGetLinkage(old.0));
        LLVMSetFunctionCallConv(new.0, LLVMGetFunctionCallConv(old.0));
        copy_attributes(old, new, old_parameters.len() as u32);
        copy_metadata(old, new);
        let entry = LLVMAppendBasicBlockInContext(context, new.0, c"parameters".as_ptr());
        let mut last = entry;
        for block in &old_blocks {
            LLVMMoveBasicBlockAfter(block.0, last);
            last = block.0;
        }
        let builder = Builder::new(context);
        LLVMPositionBuilderAtEnd(builder.0, entry);
        for (before, after) in old_parameters.iter().zip(params(new)) {
            LLVMSetValueName2(after.0, before.name().as_ptr().cast(), before.name().len());
            let converted = match before.ty() == after.ty() {
                true => after.0,
                false => LLVMBuildAddrSpaceCast(builder.0, after.0, before.ty(), UNNAMED),
            };
            LLVMReplaceAllUsesWith(before.0, converted);
        }
        if let Some(first) = old_blocks.first() {
            LLVMBuildBr(builder.0, first.0);
        }
        LLVMReplaceAllUsesWith(old.0, new.0);
        LLVMDeleteFunction(old.0);
        LLVMSetValueName2(new.0, name.as_ptr(), name.count_bytes());
        new
    }
}

/// Copies the attributes of a function, its result and so many parameters.
unsafe fn copy_attributes(old: Value, new: Value, parameters: u32) {
    for index in [LLVMAttributeFunctionIndex, LLVMAttributeReturnIndex].into_iter().chain(1..=parameters) {
        // SAFETY: live functions, of which the second has as many parameters; LLVM writes as many attributes as it has counted.
        unsafe {
            let mut attributes: Vec<LLVMAttributeRef> =
                vec![std::ptr::null_mut(); LLVMGetAttributeCountAtIndex(old.0, index) as usize];
            LLVMGetAttributesAtIndex(old.0, index, attributes.as_mut_ptr());
            attributes.into_iter().for_each(|a| LLVMAddAttributeAtIndex(new.0, index, a));
        }
    }
}

/// Moves what is attached to a function, its description for debuggers included, which one function only may have.
unsafe fn copy_metadata(old: Value, new: Value) {
    // SAFETY: live functions; the list is disposed of after its last use.
    unsafe {
        let mut count = 0;
        let entries = LLVMGlobalCopyAllMetadata(old.0, &mut count);
        for i in 0..count as u32 {
            let (kind, node) = (LLVMValueMetadataEntriesGetKind(entries, i), LLVMValueMetadataEntriesGetMetadata(entries, i));
            LLVMGlobalSetMetadata(new.0, kind, node);
        }
        LLVMDisposeValueMetadataEntries(entries);
        LLVMGlobalClearMetadata(old.0);
    }
}
