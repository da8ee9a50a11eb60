//! Mathematical intrinsics that the machine has no instruction for, as functions of OpenCL's library.
//!
//! # Problem
//! Front ends other than clang's OpenCL C call `llvm.pow` or `llvm.tanh` where a source calls a function of C's library.
//! OpenCL's library has the same functions for the same types, scalars and vectors, in the accuracy that OpenCL asks for.
//!
//! # Algorithm
//! A declaration of such an intrinsic gets the name that clang gives the function (`_Z3powff`), or its uses go to that
//! function's declaration if there is one. What the file defines by that name for itself, such as a wrapper of the intrinsic,
//! is renamed before. Linking the library does the rest. Intrinsics that the machine approximates in
//! single and half precision (`llvm.sin`) stay as they are in these.
//!
//! # Reference
//! LLVM Language Reference, "Standard C/C++ Library Intrinsics"; Itanium C++ ABI, "External Names (a.k.a. Mangling)".
//!
//! # Limits
//! `llvm.powi` of vectors, which have one exponent for all elements, stays. The library may lack a type, and vectors of lengths
//! that OpenCL does not have. What a program defines by a function's name for other files stays, and so do intrinsics then.

use std::ffi::{CStr, CString};

use inkwell::llvm_sys::LLVMLinkage;
use inkwell::llvm_sys::LLVMTypeKind::*;
use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::prelude::LLVMValueRef;
use inkwell::module::Module;

use crate::ir::{Type, Value};

/// Gives intrinsics of a module the names of the library's functions.
pub fn import(module: &Module) {
    let declarations: Vec<Value> = module.get_functions().filter(|f| f.count_basic_blocks() == 0).map(Value::of).collect();
    for intrinsic in declarations {
        // SAFETY: a live function.
        if unsafe { LLVMGetFirstUse(intrinsic.0) }.is_null() {
            continue;
        }
        if let Some(name) = library_name(intrinsic) {
            call(module, intrinsic, &name);
        }
    }
}

/// Makes calls of an intrinsic calls of the library's function of this name.
fn call(module: &Module, intrinsic: Value, name: &CStr) {
    let (m, text) = (module.as_mut_ptr(), name.as_ptr());
    // SAFETY: a live module, and names that end. What has the library's name is of the intrinsic's type: the name says it.
    unsafe {
        let known = LLVMGetNamedFunction(m, text);
        let other = !LLVMGetNamedGlobal(m, text).is_null() || !LLVMGetNamedGlobalAlias(m, text, name.count_bytes()).is_null();
        if other || !known.is_null() && LLVMIsDeclaration(known) == 0 && !is_local(known) {
            // The program's own: selection says that the intrinsic is not supported.
            return;
        }
        if known.is_null() || LLVMIsDeclaration(known) == 0 {
            // A function of this file alone, which may well be a wrapper of the intrinsic, has another name from here on.
            if !known.is_null() {
                let own = format!("{}.own", Value(known).name());
                LLVMSetValueName2(known, own.as_ptr().cast(), own.len());
            }
            LLVMSetValueName2(intrinsic.0, text, name.count_bytes());
        } else {
            LLVMReplaceAllUsesWith(intrinsic.0, known);
            LLVMDeleteFunction(intrinsic.0);
        }
    }
}

/// Whether no other file can call a function.
fn is_local(function: LLVMValueRef) -> bool {
    // SAFETY: a live function.
    matches!(unsafe { LLVMGetLinkage(function) }, LLVMLinkage::LLVMInternalLinkage | LLVMLinkage::LLVMPrivateLinkage)
}

/// The name of the function that does what an intrinsic does; `None` if it is not one of those.
fn library_name(intrinsic: Value) -> Option<CString> {
    let name = intrinsic.name();
    let base = name.strip_prefix("llvm.")?.split('.').next()?;
    // SAFETY: a live function.
    let function = unsafe { LLVMGlobalGetValueType(intrinsic.0) };
    // SAFETY: its type; the parameters are as many as there is room for.
    let parameters = unsafe {
        let mut parameters = vec![std::ptr::null_mut(); LLVMCountParamTypes(function) as usize];
        LLVMGetParamTypes(function, parameters.as_mut_ptr());
        parameters
    };
    let first = Type(*parameters.first()?);
    let scalar = first.element().unwrap_or(first);
    let own = match base {
        "pow" | "tan" | "asin" | "acos" | "atan" | "sinh" | "cosh" | "tanh" | "exp10" => base,
        "sin" | "cos" | "exp" | "exp2" | "log" | "log2" | "log10" if scalar.kind() == LLVMDoubleTypeKind => base,
        "powi" if first.element().is_none() && Type(parameters[1]).integer_bits() == 32 => "pown",
        _ => return None,
    };
    let letters = match scalar.kind() {
        LLVMHalfTypeKind => "Dh",
        LLVMFloatTypeKind => "f",
        LLVMDoubleTypeKind => "d",
        _ => return None,
    };
    let elements = if first.element().is_some() { format!("Dv{}_", first.element_count()) } else { String::new() };
    let others = match own {
        "pown" => "i",
        // A vector's type is written once.
        "pow" if !elements.is_empty() => "S_",
        "pow" => letters,
        _ => "",
    };
    CString::new(format!("_Z{}{own}{elements}{letters}{others}", own.len())).ok()
}
