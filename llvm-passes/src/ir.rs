//! A thin, copyable view of LLVM values for analyses that touch every instruction: raw references and safe accessors.
//!
//! inkwell's typed wrappers classify each value on creation, which a whole-function analysis pays for millions of times. The
//! references here are only valid while the module lives; every function of the crate that takes or returns them borrows
//! a `FunctionValue` of that module for at least as long.

use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::prelude::{LLVMBasicBlockRef, LLVMTypeRef, LLVMValueRef};
use inkwell::llvm_sys::{LLVMOpcode, LLVMTypeKind};

/// A value: instruction, argument, constant or global.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct Value(pub LLVMValueRef);

/// A basic block.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct BlockRef(pub LLVMBasicBlockRef);

// SAFETY (whole file): the references come from a live module, see the module documentation; the calls only read.
#[allow(missing_docs)]
impl Value {
    pub fn of(value: impl inkwell::values::AsValueRef) -> Self {
        Value(value.as_value_ref())
    }
    pub fn is_instruction(self) -> bool {
        unsafe { !LLVMIsAInstruction(self.0).is_null() }
    }
    pub fn is_constant(self) -> bool {
        unsafe { LLVMIsConstant(self.0) != 0 }
    }
    pub fn is_argument(self) -> bool {
        unsafe { !LLVMIsAArgument(self.0).is_null() }
    }
    pub fn is_global_variable(self) -> bool {
        unsafe { !LLVMIsAGlobalVariable(self.0).is_null() }
    }
    pub fn opcode(self) -> LLVMOpcode {
        unsafe { LLVMGetInstructionOpcode(self.0) }
    }
    pub fn is_terminator(self) -> bool {
        unsafe { !LLVMIsATerminatorInst(self.0).is_null() }
    }
    pub fn operand_count(self) -> u32 {
        unsafe { LLVMGetNumOperands(self.0) as u32 }
    }
    pub fn operand(self, i: u32) -> Value {
        Value(unsafe { LLVMGetOperand(self.0, i) })
    }
    pub fn operands(self) -> impl Iterator<Item = Value> {
        (0..self.operand_count()).map(move |i| self.operand(i))
    }
    pub fn ty(self) -> LLVMTypeRef {
        unsafe { LLVMTypeOf(self.0) }
    }
    pub fn parent(self) -> BlockRef {
        BlockRef(unsafe { LLVMGetInstructionParent(self.0) })
    }
    pub fn successors(self) -> impl Iterator<Item = BlockRef> {
        let n = unsafe { LLVMGetNumSuccessors(self.0) };
        (0..n).map(move |i| BlockRef(unsafe { LLVMGetSuccessor(self.0, i) }))
    }
    pub fn users(self) -> impl Iterator<Item = Value> {
        let mut next = unsafe { LLVMGetFirstUse(self.0) };
        std::iter::from_fn(move || {
            if next.is_null() {
                return None;
            }
            let user = unsafe { LLVMGetUser(next) };
            next = unsafe { LLVMGetNextUse(next) };
            Some(Value(user))
        })
    }
    pub fn has_uses(self) -> bool {
        unsafe { !LLVMGetFirstUse(self.0).is_null() }
    }
    /// Incoming values and blocks of a phi.
    pub fn incoming(self) -> impl Iterator<Item = (Value, BlockRef)> {
        let n = unsafe { LLVMCountIncoming(self.0) };
        (0..n).map(move |i| unsafe { (Value(LLVMGetIncomingValue(self.0, i)), BlockRef(LLVMGetIncomingBlock(self.0, i))) })
    }
    /// The function a call calls, if it is direct.
    pub fn called_function(self) -> Option<Value> {
        let f = unsafe { LLVMGetCalledValue(self.0) };
        (!unsafe { LLVMIsAFunction(f) }.is_null()).then_some(Value(f))
    }
    pub fn name(self) -> String {
        let mut len = 0;
        let p = unsafe { LLVMGetValueName2(self.0, &mut len) };
        if p.is_null() {
            return String::new();
        }
        String::from_utf8_lossy(unsafe { std::slice::from_raw_parts(p.cast::<u8>(), len) }).into_owned()
    }
    /// The name of an instruction or argument, or its number in LLVM's text if it has none.
    pub fn label(self) -> String {
        let name = self.name();
        if !name.is_empty() {
            return name;
        }
        let text = self.text();
        let number = if self.is_instruction() { text.split(" = ").next() } else { text.rsplit(' ').next() };
        number.unwrap_or_default().trim_start_matches('%').to_string()
    }
    /// The value of a constant integer of at most 64 bits, zero-extended.
    pub fn as_constant_int(self) -> Option<u64> {
        unsafe {
            let c = LLVMIsAConstantInt(self.0);
            (!c.is_null() && LLVMGetIntTypeWidth(LLVMTypeOf(c)) <= 64).then(|| LLVMConstIntGetZExtValue(c))
        }
    }
    /// File and line of a function's definition, if it has debug information.
    pub fn definition_place(self) -> Option<(String, u32)> {
        unsafe {
            let mut length = 0;
            let file = LLVMGetDebugLocFilename(self.0, &mut length);
            let file = (!file.is_null()).then(|| std::slice::from_raw_parts(file.cast(), length as usize))?;
            Some((String::from_utf8_lossy(file).into_owned(), LLVMGetDebugLocLine(self.0)))
        }
    }
    pub fn type_kind(self) -> LLVMTypeKind {
        unsafe { LLVMGetTypeKind(self.ty()) }
    }
    pub fn is_void(self) -> bool {
        self.type_kind() == LLVMTypeKind::LLVMVoidTypeKind
    }
    /// Address space of a pointer-typed value.
    pub fn address_space(self) -> u32 {
        unsafe { LLVMGetPointerAddressSpace(self.ty()) }
    }
    /// LLVM's text of the value.
    pub fn text(self) -> String {
        unsafe {
            let p = LLVMPrintValueToString(self.0);
            let s = std::ffi::CStr::from_ptr(p).to_string_lossy().trim().to_string();
            LLVMDisposeMessage(p);
            s
        }
    }
}

#[allow(missing_docs)]
impl BlockRef {
    pub fn instructions(self) -> impl Iterator<Item = Value> {
        let mut next = unsafe { LLVMGetFirstInstruction(self.0) };
        std::iter::from_fn(move || {
            if next.is_null() {
                return None;
            }
            let this = next;
            next = unsafe { LLVMGetNextInstruction(this) };
            Some(Value(this))
        })
    }
    pub fn terminator(self) -> Value {
        Value(unsafe { LLVMGetBasicBlockTerminator(self.0) })
    }
    pub fn name(self) -> String {
        let p = unsafe { LLVMGetBasicBlockName(self.0) };
        if p.is_null() { String::new() } else { unsafe { std::ffi::CStr::from_ptr(p) }.to_string_lossy().into_owned() }
    }
}

/// The blocks of a function, in order.
pub fn blocks(function: Value) -> Vec<BlockRef> {
    let mut result = Vec::new();
    let mut next = unsafe { LLVMGetFirstBasicBlock(function.0) };
    while !next.is_null() {
        result.push(BlockRef(next));
        next = unsafe { LLVMGetNextBasicBlock(next) };
    }
    result
}

/// The parameters of a function.
pub fn params(function: Value) -> Vec<Value> {
    let n = unsafe { LLVMCountParams(function.0) };
    (0..n).map(|i| Value(unsafe { LLVMGetParam(function.0, i) })).collect()
}

/// Whether a function has a kernel's calling convention: PTX's, SPIR's or AMD's.
pub fn is_kernel(function: Value) -> bool {
    matches!(unsafe { LLVMGetFunctionCallConv(function.0) }, 71 | 76 | 91)
}

/// Whether only launches enter a function: a kernel that nothing in its module calls. Its arguments are then the same for all work-items, and all
/// lanes come in together.
pub fn entered_by_launch(function: Value) -> bool {
    is_kernel(function) && !function.users().any(Value::is_instruction)
}
