//! Functions: blocks, parameters, calling convention, and the attributes that passes and selection
//! read.

use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::prelude::{LLVMAttributeRef, LLVMTypeRef};
use inkwell::llvm_sys::{LLVMAttributeFunctionIndex, LLVMTypeKind};
use inkwell::module::Module;

use super::metadata;
use super::value::{BlockRef, Value};

/// The blocks of a function, in order.
pub fn blocks(function: Value) -> Vec<BlockRef> {
    let mut result = Vec::new();
    // SAFETY: a live function.
    let mut next = unsafe { LLVMGetFirstBasicBlock(function.0) };
    while !next.is_null() {
        result.push(BlockRef(next));
        // SAFETY: a live block.
        next = unsafe { LLVMGetNextBasicBlock(next) };
    }
    result
}

/// The parameters of a function.
pub fn params(function: Value) -> Vec<Value> {
    // SAFETY: a live function.
    let n = unsafe { LLVMCountParams(function.0) };
    // SAFETY: as before; `i` is below the number of parameters.
    (0..n).map(|i| Value(unsafe { LLVMGetParam(function.0, i) })).collect()
}

/// The functions of a module that have a body, in order.
pub fn bodies(module: &Module) -> Vec<Value> {
    module.get_functions().filter(|f| f.count_basic_blocks() > 0).map(Value::of).collect()
}

/// Whether a function is a kernel, by its calling convention: clang gives OpenCL C kernels
/// `spir_kernel`; IR from elsewhere may have `ptx_kernel` or `amdgpu_kernel`.
pub fn is_kernel(function: Value) -> bool {
    const PTX_KERNEL: u32 = 71;
    const SPIR_KERNEL: u32 = 76;
    const AMDGPU_KERNEL: u32 = 91;
    // SAFETY: a live function.
    matches!(unsafe { LLVMGetFunctionCallConv(function.0) }, PTX_KERNEL | SPIR_KERNEL | AMDGPU_KERNEL)
}

/// Whether a module has a kernel with a body.
pub fn has_kernel(module: &Module) -> bool {
    bodies(module).into_iter().any(is_kernel)
}

/// Whether an instruction uses a function: calls it or takes its address.
pub fn is_called(function: Value) -> bool {
    function.users().any(Value::is_instruction)
}

/// Whether only launches enter a function: a kernel that nothing in its module calls. Its arguments
/// are then the same for all work-items, and all lanes come in together.
pub fn entered_by_launch(function: Value) -> bool {
    is_kernel(function) && !is_called(function)
}

/// `reqd_work_group_size` of a kernel.
pub fn required_work_group_size(kernel: Value) -> Option<[u32; 3]> {
    numbers(kernel, "reqd_work_group_size").try_into().ok()
}

/// `work_group_size_hint` of a kernel.
pub fn work_group_size_hint(kernel: Value) -> Option<[u32; 3]> {
    numbers(kernel, "work_group_size_hint").try_into().ok()
}

/// `intel_reqd_sub_group_size` of a kernel.
pub fn required_sub_group_size(kernel: Value) -> Option<u32> {
    numbers(kernel, "intel_reqd_sub_group_size").first().copied()
}

/// The numbers of a kind of metadata of a kernel; none if it has none.
fn numbers(kernel: Value, kind: &str) -> Vec<u32> {
    let values = metadata::of_function(kernel, kind).unwrap_or_default();
    values.iter().filter_map(|v| v.as_constant_int().map(|x| x as u32)).collect()
}

/// `vec_type_hint` of a kernel, as OpenCL C spells the type. The metadata have a value of it, and
/// whether it is signed.
pub fn vector_type_hint(kernel: Value) -> Option<String> {
    let operands = metadata::of_function(kernel, "vec_type_hint")?;
    let ty = operands.first()?.type_of();
    let signed = operands.get(1).and_then(|v| v.as_constant_int()) == Some(1);
    let element = ty.element().unwrap_or(ty);
    let name = match (element.kind(), element.integer_bits()) {
        (LLVMTypeKind::LLVMHalfTypeKind, _) => "half",
        (LLVMTypeKind::LLVMFloatTypeKind, _) => "float",
        (LLVMTypeKind::LLVMDoubleTypeKind, _) => "double",
        (_, 8) => "char",
        (_, 16) => "short",
        (_, 32) => "int",
        (_, 64) => "long",
        _ => return None,
    };
    let unsigned = if element.integer_bits() > 0 && !signed { "u" } else { "" };
    let count = if ty.element_count() > 1 { ty.element_count().to_string() } else { String::new() };
    Some(format!("{unsigned}{name}{count}"))
}

/// Whether a kernel is only launched with whole work-groups: OpenCL C before 2.0, or
/// `-cl-uniform-work-group-size`.
pub fn uniform_work_groups(kernel: Value) -> bool {
    string_attribute(kernel, "uniform-work-group-size").is_some_and(|v| v == b"true")
}

/// The value of an attribute of a function that has a name of its own.
pub(crate) fn string_attribute(function: Value, name: &str) -> Option<Vec<u8>> {
    // SAFETY: reads an attribute of a live function.
    unsafe {
        let attribute =
            LLVMGetStringAttributeAtIndex(function.0, LLVMAttributeFunctionIndex, name.as_ptr().cast(), name.len() as u32);
        if attribute.is_null() {
            return None;
        }
        let mut length = 0;
        let value = LLVMGetStringAttributeValue(attribute, &mut length);
        Some(super::value::copied(value, length as usize).to_vec())
    }
}

/// Gives a function an attribute with a name of its own.
pub(crate) fn set_string_attribute(function: Value, name: &str, value: &str) {
    // SAFETY: a live function, and an attribute of its context.
    unsafe {
        let context = LLVMGetTypeContext(function.ty());
        let attribute = LLVMCreateStringAttribute(
            context,
            name.as_ptr().cast(),
            name.len() as u32,
            value.as_ptr().cast(),
            value.len() as u32,
        );
        LLVMAddAttributeAtIndex(function.0, LLVMAttributeFunctionIndex, attribute);
    }
}

/// The number that LLVM gives an attribute's name.
pub(crate) fn attribute_kind(name: &str) -> u32 {
    // SAFETY: reads the name only.
    unsafe { LLVMGetEnumAttributeKindForName(name.as_ptr().cast(), name.len()) }
}

/// An attribute of a function's parameter.
fn parameter_attribute(function: Value, parameter: u32, name: &str) -> Option<LLVMAttributeRef> {
    // SAFETY: reads an attribute of a live function; its first parameter has index 1.
    let attribute = unsafe { LLVMGetEnumAttributeAtIndex(function.0, parameter + 1, attribute_kind(name)) };
    (!attribute.is_null()).then_some(attribute)
}

/// Whether an argument has an attribute without a value, as `noalias`.
pub fn has_attribute(argument: Value, name: &str) -> bool {
    // SAFETY: a live argument.
    let function = Value(unsafe { LLVMGetParamParent(argument.0) });
    let number = params(function).iter().position(|p| *p == argument);
    number.is_some_and(|i| parameter_attribute(function, i as u32, name).is_some())
}

/// The type of the structure that a parameter passes by value.
pub fn by_value_type(function: Value, parameter: u32) -> Option<LLVMTypeRef> {
    // SAFETY: `byval` is an attribute with a type.
    parameter_attribute(function, parameter, "byval").map(|a| unsafe { LLVMGetTypeAttributeValue(a) })
}

/// The alignment that a function is promised for what a parameter points to; 1 if none is.
pub fn parameter_alignment(function: Value, parameter: u32) -> u32 {
    // SAFETY: `align` is an attribute with a number.
    parameter_attribute(function, parameter, "align").map_or(1, |a| unsafe { LLVMGetEnumAttributeValue(a) } as u32)
}

/// The alignment that a call promises for a pointer that it passes; 1 if it promises none.
pub fn argument_alignment(call: Value, argument: u32) -> u32 {
    // SAFETY: reads an attribute of a live call; its first argument has index 1.
    unsafe {
        let attribute = LLVMGetCallSiteEnumAttribute(call.0, argument + 1, attribute_kind("align"));
        if attribute.is_null() { 1 } else { LLVMGetEnumAttributeValue(attribute) as u32 }
    }
}
