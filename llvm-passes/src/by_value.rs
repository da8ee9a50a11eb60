//! Structures that kernels take by value and change.
//!
//! # Problem
//! A structure argument is memory to clang's NVPTX target, and the kernel's own: `key.x += 3` stores to the argument. LLVM makes no
//! values of what is in an argument's memory, so that each such field would be stored and loaded again in private memory.
//!
//! # Algorithm
//! The kernel copies the structure to a variable when it begins, and all uses name that. LLVM makes values of its fields (`sroa`); what
//! it cannot, an array that data index, say, stays in private memory, as it would have. Where a structure is only read in the end, the
//! copy goes, since nothing else writes the argument and nothing else names it.
//!
//! # Reference
//! LLVM's NVPTXLowerArgs, which does the same.
//!
//! # Limits
//! Structures that are loaded and copied only stay arguments.
//!
//! May touch: by-value parameters of kernels, their attributes, and the kernels' first blocks.

use inkwell::llvm_sys::core::*;
use inkwell::module::Module;

use crate::ir::build::{Builder, UNNAMED, context_of};
use crate::ir::layout::Layout;
use crate::ir::{self, Type, Value, function, is_kernel, metadata, params};
use crate::memory;

/// Makes variables of the structures that kernels may write, or whose addresses they hand on; whether there is one.
pub fn copy(module: &Module) -> bool {
    let layout = Layout::of_module(module);
    let mut any = false;
    for kernel in function::bodies(module).into_iter().filter(|f| is_kernel(*f)) {
        for (number, parameter) in (0..).zip(params(kernel)) {
            let Some(ty) = function::by_value_type(kernel, number).map(Type) else { continue };
            if memory::only_loaded(parameter) {
                continue;
            }
            let align = function::parameter_alignment(kernel, number).max(layout.alignment(ty));
            // A type without a size has an error of its own in selection.
            let Some(bytes) = layout.checked_size(ty) else { continue };
            make_variable(module, (kernel, number, parameter), ty, bytes, align);
            any = true;
        }
    }
    any
}

/// Copies a parameter, of so many bytes and so aligned, to a variable that takes its place.
fn make_variable(module: &Module, (kernel, number, parameter): (Value, u32, Value), ty: Type, bytes: u64, align: u32) {
    let context = context_of(module);
    let Some(first) = ir::blocks(kernel).first().and_then(|entry| entry.instructions().next()) else { return };
    let b = Builder::before(context, first);
    // SAFETY: a live function, parameter and builder of one context; the size is that of the type; attributes of parameters are
    // numbered from one on.
    unsafe {
        let variable = LLVMBuildAlloca(b.0, ty.0, UNNAMED);
        LLVMSetAlignment(variable, align);
        LLVMReplaceAllUsesWith(parameter.0, variable);
        let size = LLVMConstInt(LLVMInt64TypeInContext(context), bytes, 0);
        LLVMBuildMemCpy(b.0, variable, align, parameter.0, align, size);
        for name in ["noalias", "readonly"] {
            let attribute = LLVMCreateEnumAttribute(metadata::context_of(kernel), function::attribute_kind(name), 0);
            LLVMAddAttributeAtIndex(kernel.0, number + 1, attribute);
        }
        for name in ["writeonly", "readnone"] {
            LLVMRemoveEnumAttributeAtIndex(kernel.0, number + 1, function::attribute_kind(name));
        }
    }
}
