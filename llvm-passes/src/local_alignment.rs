//! Alignment of work-group memory.
//!
//! # Problem
//! Clang aligns an array of `float` to four bytes. Then several elements in a row, as of a tile, are as many loads, though its
//! rows are as long as vectors are.
//!
//! # Algorithm
//! A variable in local memory whose size is a multiple of the longest load's begins where one does, and so does what a kernel's
//! pointer to local memory points to: the driver puts it there. LLVM finds out what that says about elements
//! (`infer-alignment`) and makes one load of several (`load-store-vectorizer`).
//!
//! # Reference
//! LLVM's `getOrEnforceKnownAlignment`, which its vectoriser calls for variables on the stack.
//!
//! # Limits
//! Variables of other sizes stay as they are: their rows are not aligned. Kernels that kernels call stay, too.
//!
//! May touch: alignments of variables in local memory and of kernels' parameters.

use heddle_object::metadata::LOCAL_ARGUMENT_ALIGN;
use inkwell::llvm_sys::core::*;
use inkwell::module::Module;

use crate::ir::layout::Layout;
use crate::ir::{Value, address_space, entered_by_launch, function, metadata, params};

/// Aligns the variables and parameters of a module.
pub fn raise(module: &Module) {
    let layout = Layout::of_module(module);
    for variable in module.get_globals().map(Value::of) {
        let is_local = variable.address_space() == address_space::LOCAL && !variable.is_declaration();
        let fits = |bytes: u64| bytes > 0 && bytes.is_multiple_of(LOCAL_ARGUMENT_ALIGN.into());
        if is_local
            && variable.alignment() < LOCAL_ARGUMENT_ALIGN
            && layout.checked_size(variable.variable_type()).is_some_and(fits)
        {
            // SAFETY: a live variable, and a power of two.
            unsafe { LLVMSetAlignment(variable.0, LOCAL_ARGUMENT_ALIGN) };
        }
    }
    for kernel in function::bodies(module).into_iter().filter(|f| entered_by_launch(*f)) {
        let align = function::attribute_kind("align");
        for (number, parameter) in (0..).zip(params(kernel)) {
            let is_local = parameter.is_pointer() && parameter.address_space() == address_space::LOCAL;
            if is_local && function::parameter_alignment(kernel, number) < LOCAL_ARGUMENT_ALIGN {
                // SAFETY: a live function with such a parameter, whose attributes are numbered from one on.
                unsafe {
                    LLVMRemoveEnumAttributeAtIndex(kernel.0, number + 1, align);
                    let attribute = LLVMCreateEnumAttribute(metadata::context_of(kernel), align, LOCAL_ARGUMENT_ALIGN.into());
                    LLVMAddAttributeAtIndex(kernel.0, number + 1, attribute);
                }
            }
        }
    }
}
