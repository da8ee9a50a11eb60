//! Mathematical intrinsics that the machine has no instruction for, as functions of OpenCL's library.
//!
//! # Problem
//! Front ends write `llvm.pow` or `llvm.tanh` where a source calls a function of C's library; clang's OpenCL C does for
//! `__builtin_powf`. OpenCL's library has the same functions for the same types, scalars and vectors, in the accuracy that
//! OpenCL asks for.
//!
//! # Algorithm
//! Calls on vectors of lengths that OpenCL does not have, and `llvm.powi` of vectors, are taken apart into their elements. Then
//! a declaration of such an intrinsic gets the name that clang gives the function (`_Z3powff`), or its uses go to that
//! function's declaration if there is one. As the library's code may branch on what an intrinsic passes on, arguments are frozen:
//! an element that is poison makes no other one undefined. What the file has by that name for itself, such as a wrapper of the intrinsic,
//! has another name until the library is linked: [`Displaced`]. Intrinsics that the machine approximates in
//! single and half precision (`llvm.sin`) stay as they are in these.
//!
//! # Reference
//! LLVM Language Reference, "Standard C/C++ Library Intrinsics"; Itanium C++ ABI, "External Names (a.k.a. Mangling)".
//!
//! # Limits
//! `llvm.powi` with an exponent of more than 32 bits stays.

use std::ffi::{CStr, CString};

use inkwell::llvm_sys::LLVMOpcode::LLVMCall;
use inkwell::llvm_sys::LLVMTypeKind::*;
use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::prelude::{LLVMTypeRef, LLVMValueRef};
use inkwell::module::Module;

use crate::ir::build::{Builder, UNNAMED, constant, context_of, poison, replace};
use crate::ir::{Type, Value};

/// What a file has by names of the library's functions, under other names meanwhile.
#[must_use]
#[derive(Default)]
pub struct Displaced(Vec<Renamed>);

struct Renamed {
    own: CString,
    meanwhile: CString,
}

impl Displaced {
    /// Gives what it names its own names back, once the library is linked, whose functions get others.
    pub fn restore(self, module: &Module) {
        for Renamed { own, meanwhile } in self.0 {
            let Some(value) = named(module, &meanwhile) else { continue };
            if let Some(library) = named(module, &own) {
                rename(library, &format!("{}.library", own.to_string_lossy()));
            }
            rename(value, &own.to_string_lossy());
        }
    }
}

/// Whether a module calls intrinsics that the library's functions stand for.
pub fn is_needed(module: &Module) -> bool {
    in_use(module).into_iter().any(|f| Intrinsic::of(f).is_some())
}

/// Gives intrinsics of a module the names of the library's functions.
pub fn import(module: &Module) -> Displaced {
    for function in in_use(module) {
        if let Some(intrinsic) = Intrinsic::of(function).filter(|i| !i.is_function()) {
            take_apart(module, &intrinsic);
        }
    }
    let mut displaced = Displaced::default();
    for function in in_use(module) {
        if let Some(name) = Intrinsic::of(function).filter(Intrinsic::is_function).and_then(|i| i.library_name()) {
            freeze_arguments(module, function);
            call(module, function, &name, &mut displaced);
        }
    }
    displaced
}

/// Functions without a body that something uses.
fn in_use(module: &Module) -> Vec<Value> {
    // SAFETY: a live function.
    let is_used = |f: &Value| unsafe { !LLVMGetFirstUse(f.0).is_null() };
    module.get_functions().filter(|f| f.count_basic_blocks() == 0).map(Value::of).filter(is_used).collect()
}

/// Makes calls of an intrinsic calls of the library's function of this name.
fn call(module: &Module, intrinsic: Value, name: &CStr, displaced: &mut Displaced) {
    let known = named(module, name);
    // SAFETY: live functions.
    let type_of = |f: Value| unsafe { LLVMGlobalGetValueType(f.0) };
    match known.filter(|k| k.is_function() && k.is_declaration() && type_of(*k) == type_of(intrinsic)) {
        // SAFETY: two live functions of one type; nothing uses the intrinsic when it is deleted.
        Some(declaration) => unsafe {
            LLVMReplaceAllUsesWith(intrinsic.0, declaration.0);
            LLVMDeleteFunction(intrinsic.0);
        },
        None => {
            if let Some(own) = known {
                rename(own, &format!("{}.own", name.to_string_lossy()));
                // LLVM may have added a number to it.
                let meanwhile = CString::new(own.name()).unwrap_or_default();
                displaced.0.push(Renamed { own: name.into(), meanwhile });
            }
            rename(intrinsic, &name.to_string_lossy());
        }
    }
}

/// The function, variable, alias or indirect function of a name.
fn named(module: &Module, name: &CStr) -> Option<Value> {
    let (m, text, length) = (module.as_mut_ptr(), name.as_ptr(), name.count_bytes());
    // SAFETY: a live module, and a name of this length that ends.
    let found: [LLVMValueRef; 4] = unsafe {
        [
            LLVMGetNamedFunction(m, text),
            LLVMGetNamedGlobal(m, text),
            LLVMGetNamedGlobalAlias(m, text, length),
            LLVMGetNamedGlobalIFunc(m, text, length),
        ]
    };
    found.into_iter().find(|v| !v.is_null()).map(Value)
}

fn rename(value: Value, name: &str) {
    // SAFETY: a live value, and a text of this length.
    unsafe { LLVMSetValueName2(value.0, name.as_ptr().cast(), name.len()) };
}

/// An intrinsic that functions of the library stand for, or one for each element.
struct Intrinsic {
    function: Value,
    /// What OpenCL calls the function.
    name: &'static str,
    /// The first parameter's type, and with it the result's.
    ty: Type,
    /// The type of its elements, or itself.
    scalar: Type,
    /// How the scalar's type is mangled.
    letters: &'static str,
    /// The exponent's bits, of `llvm.powi`.
    exponent: Option<u32>,
}

impl Intrinsic {
    /// What a declaration is, if it is one of those.
    fn of(function: Value) -> Option<Intrinsic> {
        const ALWAYS: [&str; 9] = ["pow", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "exp10"];
        const IN_DOUBLE_PRECISION: [&str; 7] = ["sin", "cos", "exp", "exp2", "log", "log2", "log10"];
        let text = function.name();
        let base = text.strip_prefix("llvm.")?.split('.').next()?;
        let parameters = parameters(function);
        let ty = Type(*parameters.first()?);
        let scalar = ty.element().unwrap_or(ty);
        let letters = match scalar.kind() {
            LLVMHalfTypeKind => "Dh",
            LLVMFloatTypeKind => "f",
            LLVMDoubleTypeKind => "d",
            _ => return None,
        };
        let exponent = (base == "powi").then(|| parameters.get(1).map_or(0, |t| Type(*t).integer_bits()));
        let name = match base {
            "powi" => "pown",
            _ => {
                let double: &[&str] = if scalar.kind() == LLVMDoubleTypeKind { &IN_DOUBLE_PRECISION } else { &[] };
                ALWAYS.iter().chain(double).find(|name| **name == base)?
            }
        };
        let is_whole = exponent.is_none_or(|bits| (1..=32).contains(&bits));
        is_whole.then_some(Intrinsic { function, name, ty, scalar, letters, exponent })
    }

    /// Whether the library has a function for it, else for its elements.
    fn is_function(&self) -> bool {
        match self.ty.element() {
            None => self.exponent.is_none_or(|bits| bits == 32),
            Some(_) => self.exponent.is_none() && matches!(self.ty.element_count(), 2 | 3 | 4 | 8 | 16),
        }
    }

    /// The name of that function.
    fn library_name(&self) -> Option<CString> {
        let Intrinsic { name, letters, .. } = self;
        let elements = if self.ty.element().is_some() { format!("Dv{}_", self.ty.element_count()) } else { String::new() };
        let others = match *name {
            "pown" => "i",
            // A vector's type is written once.
            "pow" if !elements.is_empty() => "S_",
            "pow" => letters,
            _ => "",
        };
        CString::new(format!("_Z{}{name}{elements}{letters}{others}", name.len())).ok()
    }
}

fn parameters(function: Value) -> Vec<LLVMTypeRef> {
    // SAFETY: a live function's type, whose parameters are as many as there is room for.
    unsafe {
        let ty = LLVMGlobalGetValueType(function.0);
        let mut parameters = vec![std::ptr::null_mut(); LLVMCountParamTypes(ty) as usize];
        LLVMGetParamTypes(ty, parameters.as_mut_ptr());
        parameters
    }
}

/// The calls of a function.
fn calls(function: Value) -> Vec<Value> {
    let is_call = |user: &Value| user.opcode() == LLVMCall && user.called_function() == Some(function);
    function.users().filter(|user| user.is_instruction()).filter(is_call).collect()
}

fn freeze_arguments(module: &Module, function: Value) {
    let count = parameters(function).len() as u32;
    for call in calls(function) {
        let b = Builder::before(context_of(module), call);
        for k in 0..count {
            // SAFETY: a live call that has the argument.
            unsafe { LLVMSetOperand(call.0, k, LLVMBuildFreeze(b.0, call.operand(k).0, UNNAMED)) };
        }
    }
}

/// Makes calls of an intrinsic calls for each element, with exponents of 32 bits.
fn take_apart(module: &Module, intrinsic: &Intrinsic) {
    let context = context_of(module);
    let word = constant(context, 32, 0).ty();
    let mut overloaded = vec![intrinsic.scalar.0];
    overloaded.extend(intrinsic.exponent.map(|_| word));
    // SAFETY: a live module and intrinsic, and types of its context that it can have.
    let (scalar, ty) = unsafe {
        let id = LLVMGetIntrinsicID(intrinsic.function.0);
        if id == 0 {
            return;
        }
        let scalar = LLVMGetIntrinsicDeclaration(module.as_mut_ptr(), id, overloaded.as_mut_ptr(), overloaded.len());
        (scalar, LLVMGlobalGetValueType(scalar))
    };
    for call in calls(intrinsic.function) {
        let b = Builder::before(context, call);
        let element = |argument: Value, index: u64| -> LLVMValueRef {
            // SAFETY: a live argument of the call; a vector has the element, and an integer is an exponent.
            unsafe {
                match Type(argument.ty()).kind() {
                    LLVMVectorTypeKind => LLVMBuildExtractElement(b.0, argument.0, constant(context, 32, index).0, UNNAMED),
                    LLVMIntegerTypeKind => LLVMBuildIntCast2(b.0, argument.0, word, 1, UNNAMED),
                    _ => argument.0,
                }
            }
        };
        let of_element = |index: u64| -> LLVMValueRef {
            let count = parameters(intrinsic.function).len() as u32;
            let mut arguments: Vec<LLVMValueRef> = (0..count).map(|k| element(call.operand(k), index)).collect();
            // SAFETY: a live function of the module that takes the arguments.
            unsafe { LLVMBuildCall2(b.0, ty, scalar, arguments.as_mut_ptr(), count, UNNAMED) }
        };
        let result = match intrinsic.ty.element() {
            None => Value(of_element(0)),
            Some(_) => (0..intrinsic.ty.element_count()).fold(poison(intrinsic.ty.0), |vector, index| {
                // SAFETY: a live vector that has the element.
                Value(unsafe {
                    LLVMBuildInsertElement(b.0, vector.0, of_element(index), constant(context, 32, index).0, UNNAMED)
                })
            }),
        };
        replace(call, result);
    }
}
