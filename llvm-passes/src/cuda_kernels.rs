//! Device code of CUDA and HIP as the rest of Heddle expects it: kernels like those of OpenCL C.
//!
//! # Problem
//! clang compiles CUDA and HIP for the same IR target as OpenCL C, but
//! - kernels are functions like others, which metadata (`nvvm.annotations`) name;
//! - their pointer parameters are generic, although the host can only give addresses of global memory;
//! - they have C++'s mangled names, and nothing says how the source calls their parameters' types;
//! - constants that clang makes (texts, tables) are in the generic address space, where memory is that of work-items;
//! - functions carry a processor's name, which keeps LLVM from inlining the built-in library into them.
//!
//! # Algorithm
//! Kernels get the calling convention, global pointers, the name that the source has for them (`scale<float>`), and the
//! metadata on parameters that clang attaches to kernels of OpenCL C. The body converts a pointer back to a generic one, which
//! LLVM's inference of address spaces then undoes. Variables move to constant or global memory. Modules of OpenCL C stay as
//! they are.
//!
//! # Reference
//! NVVM IR Specification, "Global Property Annotation" (`kernel`); Itanium C++ ABI, "External Names (a.k.a. Mangling)".
//!
//! # Limits
//! Assembly of other machines in a source (`asm`) is an error. A kernel that is overloaded has its parameters' types in its
//! name.

use std::collections::HashMap;
use std::ffi::CString;

use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::prelude::LLVMTypeRef;
use inkwell::llvm_sys::{LLVMAttributeFunctionIndex, LLVMLinkage, LLVMOpcode, LLVMTypeKind};
use inkwell::module::Module;

use crate::error::{BadCode, PassError};
use crate::ir::build::context_of;
use crate::ir::layout::Layout;
use crate::ir::metadata::{self, Writer};
use crate::ir::signature::with_parameters;
use crate::ir::{self, Value, address_space, function, is_kernel};

mod names;

/// What the symbols of the pointers begin with by which the front end makes clang instantiate kernels. The kernel's name follows
/// as the user has written it.
pub const INSTANCE: &str = "__heddle_kernel ";

/// The calling convention of kernels.
const KERNEL_CONVENTION: u32 = 76;

/// Brings what clang made of CUDA or HIP into the form of OpenCL C's kernels.
///
/// # Errors
/// What a kernel may not have.
pub fn import(module: &Module) -> Result<(), PassError> {
    let kernels = annotated(module);
    if kernels.is_empty() {
        return Ok(());
    }
    refuse_assembly(module)?;
    function::bodies(module).into_iter().for_each(forget_processor);
    drop_lists_of_used(module);
    let requested = instances(module);
    move_variables(module);
    let spoken: Vec<names::Signature> = kernels.iter().map(|k| names::Signature::of(&k.name())).collect();
    let mut uses: HashMap<&str, u32> = HashMap::new();
    spoken.iter().for_each(|s| *uses.entry(&s.name).or_default() += 1);
    for (kernel, signature) in kernels.into_iter().zip(&spoken) {
        let overloaded = uses.get(signature.name.as_str()).is_some_and(|n| *n > 1);
        let derived = if overloaded { &signature.whole } else { &signature.name };
        let name = requested.get(&kernel).unwrap_or(derived);
        let kernel = with_global_pointers(module, kernel);
        describe(kernel, signature);
        // SAFETY: a live function, whose new name is copied.
        unsafe {
            LLVMSetFunctionCallConv(kernel.0, KERNEL_CONVENTION);
            LLVMSetLinkage(kernel.0, LLVMLinkage::LLVMExternalLinkage);
            LLVMSetValueName2(kernel.0, name.as_ptr().cast(), name.len());
        }
    }
    Ok(())
}

/// Functions that metadata call kernels and that have no kernel's calling convention.
fn annotated(module: &Module) -> Vec<Value> {
    let mut kernels = Vec::new();
    for node in metadata::named_operands(module, "nvvm.annotations") {
        let Some(Some(function)) = node.first().copied() else { continue };
        let says_kernel = node.iter().flatten().any(|o| metadata::string(*o) == b"kernel");
        let is_new = says_kernel && function.is_function() && !is_kernel(function) && !kernels.contains(&function);
        if is_new && !ir::blocks(function).is_empty() {
            kernels.push(function);
        }
    }
    kernels
}

/// The names by which instances of templates were requested. The pointers that did it go.
fn instances(module: &Module) -> HashMap<Value, String> {
    let mut result = HashMap::new();
    for pointer in module.get_globals().map(Value::of).collect::<Vec<_>>() {
        let symbol = pointer.name();
        // A symbol that the source gives has a byte in front that says so.
        let Some(name) = symbol.trim_start_matches('\u{1}').strip_prefix(INSTANCE) else { continue };
        // SAFETY: a live variable; it is deleted if nothing uses it.
        unsafe {
            let kernel = LLVMGetInitializer(pointer.0);
            if !kernel.is_null() {
                result.insert(Value(kernel), name.to_string());
            }
            if !pointer.has_uses() {
                LLVMDeleteGlobal(pointer.0);
            }
        }
    }
    result
}

/// Errors for assembly in the source.
fn refuse_assembly(module: &Module) -> Result<(), PassError> {
    let mut bad = Vec::new();
    for i in function::bodies(module).into_iter().flat_map(ir::blocks).flat_map(|b| b.instructions().collect::<Vec<_>>()) {
        if i.opcode() == LLVMOpcode::LLVMCall && i.calls_assembly() {
            let message = "assembly of another machine (asm) cannot be compiled; use a function of C++".into();
            bad.push(BadCode { position: i.source_position(), message });
        }
    }
    if bad.is_empty() { Ok(()) } else { Err(PassError::Code(bad)) }
}

/// Takes the name of a processor from a function.
fn forget_processor(function: Value) {
    for name in ["target-cpu", "target-features"] {
        // SAFETY: a live function; what it does not have is not removed.
        unsafe {
            LLVMRemoveStringAttributeAtIndex(function.0, LLVMAttributeFunctionIndex, name.as_ptr().cast(), name.len() as u32);
        }
    }
}

/// Drops the lists that keep variables for a host that looks for them by name.
fn drop_lists_of_used(module: &Module) {
    for name in [c"llvm.used", c"llvm.compiler.used"] {
        // SAFETY: a live module; nothing uses such a list.
        unsafe {
            let list = LLVMGetNamedGlobal(module.as_mut_ptr(), name.as_ptr());
            if !list.is_null() {
                LLVMDeleteGlobal(list);
            }
        }
    }
}

/// Moves variables of the generic address space to constant memory, or to global memory if they may change. What the host
/// could change before a launch has its initial value.
fn move_variables(module: &Module) {
    for variable in module.get_globals().map(Value::of).collect::<Vec<_>>() {
        // SAFETY: a live variable; once it has no users it is deleted.
        unsafe {
            LLVMSetExternallyInitialized(variable.0, 0);
            if variable.address_space() != address_space::GENERIC || variable.name().starts_with("llvm.") {
                continue;
            }
            let constant = LLVMIsGlobalConstant(variable.0) != 0;
            let space = if constant { address_space::CONSTANT } else { address_space::GLOBAL };
            let ty = LLVMGlobalGetValueType(variable.0);
            let moved = LLVMAddGlobalInAddressSpace(module.as_mut_ptr(), ty, c"".as_ptr(), space);
            LLVMSetGlobalConstant(moved, i32::from(constant));
            LLVMSetAlignment(moved, LLVMGetAlignment(variable.0));
            LLVMSetLinkage(moved, LLVMGetLinkage(variable.0));
            LLVMSetUnnamedAddress(moved, LLVMGetUnnamedAddress(variable.0));
            let initializer = LLVMGetInitializer(variable.0);
            if !initializer.is_null() {
                LLVMSetInitializer(moved, initializer);
            }
            LLVMReplaceAllUsesWith(variable.0, LLVMConstAddrSpaceCast(moved, variable.ty()));
            let name = CString::new(variable.name()).unwrap_or_default();
            LLVMDeleteGlobal(variable.0);
            LLVMSetValueName2(moved, name.as_ptr(), name.count_bytes());
        }
    }
}

/// Gives variables at program scope other values, by their names in the source. LLVM takes them for unknown.
///
/// # Errors
/// A sentence: there is no such variable, or it has another size.
pub fn set_variables(module: &Module, values: &[(String, Vec<u8>)]) -> Result<(), String> {
    let layout = Layout::of_module(module);
    for (name, bytes) in values {
        let spoken = |v: &Value| names::Signature::of(&v.name()).name;
        let on_device = |v: &Value| matches!(v.address_space(), address_space::GLOBAL | address_space::CONSTANT);
        let all: Vec<Value> = module.get_globals().map(Value::of).filter(on_device).collect();
        let Some(variable) = all.iter().copied().find(|v| spoken(v) == *name) else {
            let mut there: Vec<String> = all.iter().map(spoken).filter(|n| !n.starts_with(['.', '_'])).collect();
            there.sort();
            let there = if there.is_empty() { "there are none".into() } else { format!("there are: {}", there.join(", ")) };
            return Err(format!("variables.{name}: there is no such variable; {there}"));
        };
        let size = layout.size(variable.variable_type());
        if size != bytes.len() as u64 {
            return Err(format!("variables.{name}: the variable has {size} bytes, and its value {}", bytes.len()));
        }
        replace_value(module, variable, bytes);
    }
    Ok(())
}

/// Replaces a variable by one of bytes, which has another value and counts as changed from outside.
fn replace_value(module: &Module, variable: Value, bytes: &[u8]) {
    // SAFETY: a live variable; once it has no users it is deleted. The bytes are copied.
    unsafe {
        let value = LLVMConstStringInContext2(context_of(module), bytes.as_ptr().cast(), bytes.len(), 1);
        let space = variable.address_space();
        let new = LLVMAddGlobalInAddressSpace(module.as_mut_ptr(), LLVMTypeOf(value), c"".as_ptr(), space);
        LLVMSetInitializer(new, value);
        LLVMSetExternallyInitialized(new, 1);
        LLVMSetGlobalConstant(new, LLVMIsGlobalConstant(variable.0));
        // An array of bytes could be anywhere.
        let align = LLVMGetAlignment(variable.0);
        LLVMSetAlignment(new, if align > 0 { align } else { 16 });
        LLVMSetLinkage(new, LLVMGetLinkage(variable.0));
        LLVMReplaceAllUsesWith(variable.0, new);
        let name = CString::new(variable.name()).unwrap_or_default();
        LLVMDeleteGlobal(variable.0);
        LLVMSetValueName2(new, name.as_ptr(), name.count_bytes());
    }
}

/// The kernel with parameters that are pointers to global memory where they were generic.
fn with_global_pointers(module: &Module, kernel: Value) -> Value {
    // SAFETY: a type of a live context.
    let global = unsafe { LLVMPointerTypeInContext(context_of(module), address_space::GLOBAL) };
    let generic = |(i, p): (usize, &Value)| {
        p.type_kind() == LLVMTypeKind::LLVMPointerTypeKind
            && p.address_space() == address_space::GENERIC
            && function::by_value_type(kernel, i as u32).is_none()
    };
    let parameters = ir::params(kernel);
    let mut types: Vec<LLVMTypeRef> =
        parameters.iter().enumerate().map(|(i, p)| if generic((i, p)) { global } else { p.ty() }).collect();
    with_parameters(module, kernel, &mut types)
}

/// Attaches what the driver knows of OpenCL C's parameters: names, types, qualifiers.
fn describe(kernel: Value, signature: &names::Signature) {
    let parameters = ir::params(kernel);
    let spoken = |i: usize, p: &Value| signature.parameters.get(i).cloned().unwrap_or_else(|| names::Parameter::of_type(*p));
    let all: Vec<names::Parameter> = parameters.iter().enumerate().map(|(i, p)| spoken(i, p)).collect();
    let writer = Writer::of_function(kernel);
    let types: Vec<&str> = all.iter().map(|p| p.type_name.as_str()).collect();
    let names: Vec<String> = parameters.iter().map(|p| p.name()).collect();
    let qualifiers: Vec<&str> = all.iter().map(|p| if p.points_to_const { "const" } else { "" }).collect();
    let access = vec!["none"; parameters.len()];
    writer.attach_to_function(kernel, "kernel_arg_type", writer.strings(&types));
    writer.attach_to_function(kernel, "kernel_arg_base_type", writer.strings(&types));
    writer.attach_to_function(kernel, "kernel_arg_name", writer.strings(&names));
    writer.attach_to_function(kernel, "kernel_arg_type_qual", writer.strings(&qualifiers));
    writer.attach_to_function(kernel, "kernel_arg_access_qual", writer.strings(&access));
}
