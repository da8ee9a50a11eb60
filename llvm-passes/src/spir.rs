//! IR of SPIR, as translators of SPIR-V write it and clang for `spir64`, as IR of the target that OpenCL C is compiled for.
//!
//! # Problem
//! SPIR numbers address spaces otherwise (constant 2 and generic 4, not 4 and 0), has a calling convention for functions,
//! spells address spaces in the names of built-in functions, and its functions do not say that work-items do something
//! together in them.
//!
//! # Algorithm
//! Functions get the target's names ([`mangling`]); the module is printed, its types are changed in the text ([`text`]),
//! and it is read again. Then functions are marked as clang marks those of OpenCL C: `convergent` unless they only compute.
//! [`settle_generic`] makes calls that take generic pointers ordinary code in ordinary address spaces, as far as LLVM finds out.
//!
//! # Reference
//! The SPIR Specification 1.2, 2.2 "Address Spaces"; SPIR-V, 3.7 "Storage Class"; clang's `SPIR.h`.
//!
//! # Limits
//! Addresses of 64 bits only.

use inkwell::context::Context;
use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::{LLVMAttributeFunctionIndex, LLVMOpcode, LLVMTypeKind};
use inkwell::memory_buffer::MemoryBuffer;
use inkwell::module::Module;
use inkwell::targets::TargetTriple;

use crate::error::{BadCode, PassError};
use crate::ir::layout::NVPTX64;
use crate::ir::{self, SourcePosition, Value, address_space, function, is_kernel, llvm_passes};

mod mangling;
mod text;

/// What clang says of the target.
const TRIPLE: &str = "nvptx64-unknown-unknown";

/// Whether a module is for SPIR.
pub fn is_spir(module: &Module) -> bool {
    module.get_triple().as_str().to_bytes().starts_with(b"spir")
}

/// The target's name of a built-in function that has this name in SPIR; `None` if the name is not mangled as theirs are.
pub fn target_name(name: &str) -> Option<String> {
    mangling::for_target(name)
}

/// The module for the target. `uniform`: kernels are launched with whole work-groups only.
///
/// # Errors
/// What the target does not have, or LLVM's message.
pub fn import<'c>(context: &'c Context, module: Module<'c>, uniform: bool) -> Result<Module<'c>, PassError> {
    let triple = module.get_triple().as_str().to_string_lossy().into_owned();
    if !triple.starts_with("spir64") && !triple.starts_with("spirv64") {
        return Err(bad(format!(
            "the code is for `{triple}`, whose addresses do not have 64 bits; compile it for spir64 or spirv64"
        )));
    }
    rename_functions(&module);
    module.set_triple(&TargetTriple::create(TRIPLE));
    // SAFETY: a live module, and a text that LLVM copies.
    unsafe { LLVMSetDataLayout(module.as_mut_ptr(), NVPTX64.as_ptr()) };
    let text = text::for_target(&module.print_to_string().to_string()).map_err(bad)?;
    let name = module.get_name().to_string_lossy().into_owned();
    let buffer = MemoryBuffer::create_from_memory_range_copy(text.as_bytes(), &name);
    let module = context.create_module_from_ir(buffer).map_err(|e| PassError::Llvm(e.to_string()))?;
    // SPIR-V says it with the storage class, which translators of it do not repeat.
    for variable in module.get_globals() {
        if Value::of(variable).address_space() == address_space::CONSTANT && variable.get_initializer().is_some() {
            variable.set_constant(true);
        }
    }
    for function in module.get_functions().map(Value::of) {
        mark(function, uniform);
        agree(function);
    }
    Ok(module)
}

fn bad(message: String) -> PassError {
    PassError::Code(vec![BadCode { position: SourcePosition::default(), message }])
}

/// Gives functions the names that the target has for them.
fn rename_functions(module: &Module) {
    let renamed = |f: Value| mangling::for_target(&f.name()).filter(|new| *new != f.name()).map(|new| (f, new));
    let all: Vec<(Value, String)> =
        module.get_functions().map(Value::of).filter(|f| !is_kernel(*f)).filter_map(renamed).collect();
    // A new name may be the old one of another function.
    for (f, _) in &all {
        set_name(*f, "heddle.renamed");
    }
    for (f, new) in &all {
        match module.get_function(new).map(Value::of) {
            // One with a private pointer and one with a generic pointer have become the same.
            Some(other) if ir::blocks(*f).is_empty() => {
                // SAFETY: two live functions; pointers to functions have one type. The first has no users then.
                unsafe {
                    LLVMReplaceAllUsesWith(f.0, other.0);
                    LLVMDeleteFunction(f.0);
                }
            }
            _ => set_name(*f, new),
        }
    }
}

fn set_name(function: Value, name: &str) {
    // SAFETY: a live function, whose new name is copied.
    unsafe { LLVMSetValueName2(function.0, name.as_ptr().cast(), name.len()) }
}

/// Marks a function as clang does with those of OpenCL C.
fn mark(function: Value, uniform: bool) {
    if function.name().starts_with("llvm.") {
        return;
    }
    // SAFETY: a live function, and attributes of its context.
    unsafe {
        let context = LLVMGetTypeContext(function.ty());
        let has = |name: &str| {
            !LLVMGetEnumAttributeAtIndex(function.0, LLVMAttributeFunctionIndex, function::attribute_kind(name)).is_null()
        };
        if !ir::blocks(function).is_empty() || !has("memory") {
            let convergent = LLVMCreateEnumAttribute(context, function::attribute_kind("convergent"), 0);
            LLVMAddAttributeAtIndex(function.0, LLVMAttributeFunctionIndex, convergent);
        }
        if is_kernel(function) {
            function::set_string_attribute(function, "uniform-work-group-size", if uniform { "true" } else { "false" });
        }
    }
}

/// Makes the calls of a function fit it. Those of a kernel have the convention of functions, which LLVM takes for code that is
/// never reached; and what may not be inlined is marked so at its calls too, where it would count although the machine has no
/// calls.
fn agree(function: Value) {
    for call in function.users().filter(|u| u.is_instruction() && u.opcode() == LLVMOpcode::LLVMCall) {
        if call.called_function() == Some(function) {
            // SAFETY: a live call, and a live function; what is not there is not removed.
            unsafe {
                LLVMSetInstructionCallConv(call.0, LLVMGetFunctionCallConv(function.0));
                LLVMRemoveCallSiteEnumAttribute(call.0, LLVMAttributeFunctionIndex, function::attribute_kind("noinline"));
            }
        }
    }
}

/// Inlines functions that take generic pointers, and takes back the conversions to them, so that LLVM's pipeline sees which
/// memory is accessed: SPIR-V's built-in functions have generic pointers wherever OpenCL C allows them. The built-in library
/// has been linked.
///
/// # Errors
/// LLVM's message.
pub fn settle_generic(module: &Module) -> Result<(), PassError> {
    let is_generic =
        |p: &Value| p.type_kind() == LLVMTypeKind::LLVMPointerTypeKind && p.address_space() == address_space::GENERIC;
    let mut any = false;
    for f in function::bodies(module).into_iter().filter(|f| !is_kernel(*f)) {
        if ir::params(f).iter().any(is_generic) && function::is_called(f) {
            any = true;
            // SAFETY: a live function, and attributes of its context.
            unsafe {
                let context = LLVMGetTypeContext(f.ty());
                let always = LLVMCreateEnumAttribute(context, function::attribute_kind("alwaysinline"), 0);
                for drop in ["noinline", "optnone"] {
                    LLVMRemoveEnumAttributeAtIndex(f.0, LLVMAttributeFunctionIndex, function::attribute_kind(drop));
                }
                LLVMAddAttributeAtIndex(f.0, LLVMAttributeFunctionIndex, always);
            }
        }
    }
    if any {
        llvm_passes::run(module, "always-inline,globaldce,function(sroa)")?;
    }
    llvm_passes::infer_address_spaces(module)
}
