//! A thin, copyable view of LLVM values for analyses that touch every instruction: raw references
//! and safe accessors.
//!
//! inkwell's typed wrappers classify each value on creation, which a whole-function analysis pays
//! for millions of times. The references here are valid only while their module lives. Whoever
//! makes a [`Value`] or a [`BlockRef`] promises that, and every function of the crate that takes or
//! returns them borrows the module for at least as long. The `SAFETY` comments of this crate rest
//! on that promise where they say "live".

use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::debuginfo::LLVMInstructionGetDebugLoc;
use inkwell::llvm_sys::prelude::{LLVMBasicBlockRef, LLVMTypeRef, LLVMValueRef};
use inkwell::llvm_sys::{LLVMAtomicOrdering, LLVMOpcode, LLVMTypeKind};
use inkwell::llvm_sys::{LLVMFastMathAllowReciprocal, LLVMFastMathApproxFunc, LLVMFastMathNoNaNs, LLVMFastMathNoSignedZeros};

/// A value: instruction, argument, constant or global.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct Value(pub LLVMValueRef);

/// A basic block.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct BlockRef(pub LLVMBasicBlockRef);

/// What the flags of a float operation allow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FastMath {
    /// A NaN makes the result poison (`nnan`).
    pub no_nans: bool,
    /// The sign of a zero does not matter (`nsz`).
    pub no_signed_zeros: bool,
    /// A quotient may be an approximate product with a reciprocal (`arcp` and `afn`).
    pub approximate_quotient: bool,
}

/// A place in a source file. All of it is empty or 0 where nothing is known.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct SourcePosition {
    /// The file as clang was given it.
    pub file: String,
    /// Line, from 1.
    pub line: u32,
    /// Column, from 1.
    pub column: u32,
}

impl SourcePosition {
    /// Writes it as it stands before a message, `file:1:2: `; nothing if it is not known.
    pub(crate) fn write_before(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        if self.line == 0 {
            return Ok(());
        }
        write!(f, "{}:{}:{}: ", self.file, self.line, self.column)
    }
}

/// What a value is.
impl Value {
    /// The value behind one of inkwell's.
    pub fn of(value: impl inkwell::values::AsValueRef) -> Self {
        Value(value.as_value_ref())
    }

    /// Whether it is an instruction.
    pub fn is_instruction(self) -> bool {
        // SAFETY: a live value.
        unsafe { !LLVMIsAInstruction(self.0).is_null() }
    }

    /// Whether it is a constant; globals and functions are.
    pub fn is_constant(self) -> bool {
        // SAFETY: a live value.
        unsafe { LLVMIsConstant(self.0) != 0 }
    }

    /// Whether it is an argument of a function.
    pub fn is_argument(self) -> bool {
        // SAFETY: a live value.
        unsafe { !LLVMIsAArgument(self.0).is_null() }
    }

    /// Whether it is a variable outside all functions.
    pub fn is_global_variable(self) -> bool {
        // SAFETY: a live value.
        unsafe { !LLVMIsAGlobalVariable(self.0).is_null() }
    }

    /// Whether it is a function.
    pub fn is_function(self) -> bool {
        // SAFETY: a live value.
        unsafe { !LLVMIsAFunction(self.0).is_null() }
    }

    /// Whether it is a global without a definition.
    pub fn is_declaration(self) -> bool {
        // SAFETY: a live global.
        unsafe { LLVMIsDeclaration(self.0) != 0 }
    }

    /// Whether it is `undef` or `poison`.
    pub fn is_undefined(self) -> bool {
        // SAFETY: a live value.
        unsafe { LLVMIsUndef(self.0) != 0 }
    }

    /// Whether it is a null pointer or a constant of zeros.
    pub fn is_null(self) -> bool {
        // SAFETY: a live value.
        unsafe { LLVMIsNull(self.0) != 0 }
    }

    /// The operation of a constant expression.
    pub fn constant_opcode(self) -> Option<LLVMOpcode> {
        // SAFETY: a live value; the opcode is read of constant expressions only.
        unsafe { (!LLVMIsAConstantExpr(self.0).is_null()).then(|| LLVMGetConstOpcode(self.0)) }
    }

    /// The operation of an instruction or of a constant expression.
    pub fn any_opcode(self) -> Option<LLVMOpcode> {
        if self.is_instruction() { Some(self.opcode()) } else { self.constant_opcode() }
    }

    /// The value of a constant integer of at most 64 bits, zero-extended.
    pub fn as_constant_int(self) -> Option<u64> {
        // SAFETY: a live value; the number is read of constant integers only.
        unsafe {
            let c = LLVMIsAConstantInt(self.0);
            (!c.is_null() && LLVMGetIntTypeWidth(LLVMTypeOf(c)) <= 64).then(|| LLVMConstIntGetZExtValue(c))
        }
    }

    /// The low 64 bits of a constant integer, sign-extended.
    pub fn as_signed_constant(self) -> Option<i64> {
        // SAFETY: a live value; the number is read of constant integers only.
        unsafe { (!LLVMIsAConstantInt(self.0).is_null()).then(|| LLVMConstIntGetSExtValue(self.0)) }
    }
}

/// Its type.
impl Value {
    /// The type.
    pub fn ty(self) -> LLVMTypeRef {
        // SAFETY: a live value.
        unsafe { LLVMTypeOf(self.0) }
    }

    /// The kind of its type.
    pub fn type_kind(self) -> LLVMTypeKind {
        // SAFETY: the type of a live value.
        unsafe { LLVMGetTypeKind(self.ty()) }
    }

    /// LLVM's text of its type.
    pub fn type_text(self) -> String {
        self.type_of().text()
    }

    /// Whether it has no value, as a store has none.
    pub fn is_void(self) -> bool {
        self.type_kind() == LLVMTypeKind::LLVMVoidTypeKind
    }

    /// Whether no bit is set in both operands of an `or`, which then adds them.
    pub fn is_disjoint(self) -> bool {
        // SAFETY: the flag of a live `or`.
        self.is_instruction() && self.opcode() == LLVMOpcode::LLVMOr && unsafe { LLVMGetIsDisjoint(self.0) != 0 }
    }

    /// Says of a sum that neither as a signed nor as an unsigned number it wraps around.
    pub fn set_no_wrap(self) {
        if self.is_instruction() {
            // SAFETY: the flags of a live sum; one of constants is no instruction and has none.
            unsafe {
                LLVMSetNUW(self.0, 1);
                LLVMSetNSW(self.0, 1);
            }
        }
    }

    /// What a float operation's flags allow.
    pub fn fast_math(self) -> FastMath {
        // SAFETY: the flags of a live instruction that may have some.
        let flags = unsafe {
            match self.is_instruction() && LLVMCanValueUseFastMathFlags(self.0) != 0 {
                true => LLVMGetFastMathFlags(self.0),
                false => 0,
            }
        };
        FastMath {
            no_nans: flags & LLVMFastMathNoNaNs != 0,
            no_signed_zeros: flags & LLVMFastMathNoSignedZeros != 0,
            approximate_quotient: flags & LLVMFastMathAllowReciprocal != 0 && flags & LLVMFastMathApproxFunc != 0,
        }
    }

    /// Bits of an integer; 0 for values of other types.
    pub fn integer_bits(self) -> u32 {
        match self.type_kind() {
            // SAFETY: the integer type of a live value.
            LLVMTypeKind::LLVMIntegerTypeKind => unsafe { LLVMGetIntTypeWidth(self.ty()) },
            _ => 0,
        }
    }

    /// Address space of a pointer.
    pub fn address_space(self) -> u32 {
        // SAFETY: the type of a live value; callers ask of pointers.
        unsafe { LLVMGetPointerAddressSpace(self.ty()) }
    }
}

/// Operands and users.
impl Value {
    /// Number of operands.
    pub fn operand_count(self) -> u32 {
        // SAFETY: a live value.
        unsafe { LLVMGetNumOperands(self.0) as u32 }
    }

    /// An operand by its number.
    pub fn operand(self, i: u32) -> Value {
        // SAFETY: a live value that has the operand.
        Value(unsafe { LLVMGetOperand(self.0, i) })
    }

    /// All operands, in order.
    pub fn operands(self) -> impl Iterator<Item = Value> {
        (0..self.operand_count()).map(move |i| self.operand(i))
    }

    /// Those that use it, once a use.
    pub fn users(self) -> impl Iterator<Item = Value> {
        // SAFETY: a live value.
        let mut next = unsafe { LLVMGetFirstUse(self.0) };
        std::iter::from_fn(move || {
            if next.is_null() {
                return None;
            }
            // SAFETY: a live use; the caller changes none while it iterates.
            let user = unsafe { LLVMGetUser(next) };
            // SAFETY: as before.
            next = unsafe { LLVMGetNextUse(next) };
            Some(Value(user))
        })
    }

    /// Whether anything uses it.
    pub fn has_uses(self) -> bool {
        // SAFETY: a live value.
        unsafe { !LLVMGetFirstUse(self.0).is_null() }
    }
}

/// Instructions.
impl Value {
    /// The operation of an instruction.
    pub fn opcode(self) -> LLVMOpcode {
        // SAFETY: a live instruction.
        unsafe { LLVMGetInstructionOpcode(self.0) }
    }

    /// Whether it ends its block.
    pub fn is_terminator(self) -> bool {
        // SAFETY: a live value.
        unsafe { !LLVMIsATerminatorInst(self.0).is_null() }
    }

    /// The block of an instruction.
    pub fn parent(self) -> BlockRef {
        // SAFETY: a live instruction.
        BlockRef(unsafe { LLVMGetInstructionParent(self.0) })
    }

    /// The targets of a terminator.
    pub fn successors(self) -> impl Iterator<Item = BlockRef> {
        // SAFETY: a live terminator.
        let n = unsafe { LLVMGetNumSuccessors(self.0) };
        // SAFETY: as before; `i` is below the number of successors.
        (0..n).map(move |i| BlockRef(unsafe { LLVMGetSuccessor(self.0, i) }))
    }

    /// Incoming values and blocks of a phi.
    pub fn incoming(self) -> impl Iterator<Item = (Value, BlockRef)> {
        // SAFETY: a live phi.
        let n = unsafe { LLVMCountIncoming(self.0) };
        // SAFETY: as before; `i` is below the number of incoming values.
        (0..n).map(move |i| unsafe { (Value(LLVMGetIncomingValue(self.0, i)), BlockRef(LLVMGetIncomingBlock(self.0, i))) })
    }

    /// The function a call calls, if it is direct.
    pub fn called_function(self) -> Option<Value> {
        // SAFETY: a live call.
        let f = unsafe { LLVMGetCalledValue(self.0) };
        // SAFETY: what a live call calls.
        (!unsafe { LLVMIsAFunction(f) }.is_null()).then_some(Value(f))
    }

    /// The name of the function that a call calls; empty if it is indirect.
    pub fn called_name(self) -> String {
        self.called_function().map(Value::name).unwrap_or_default()
    }

    /// Whether it says something of the source's variables, and does nothing.
    pub fn is_debug(self) -> bool {
        self.opcode() == LLVMOpcode::LLVMCall && self.called_name().starts_with("llvm.dbg")
    }

    /// Whether a load, store or atomic operation is volatile.
    pub fn is_volatile(self) -> bool {
        // SAFETY: a live access of memory.
        unsafe { LLVMGetVolatile(self.0) != 0 }
    }

    /// Whether it is a load or store with an atomic ordering.
    pub fn is_atomic_access(self) -> bool {
        matches!(self.opcode(), LLVMOpcode::LLVMLoad | LLVMOpcode::LLVMStore)
            // SAFETY: a live load or store.
            && unsafe { LLVMGetOrdering(self.0) } != LLVMAtomicOrdering::LLVMAtomicOrderingNotAtomic
    }
}

/// Names, texts and places.
impl Value {
    /// Its name; empty if it has none.
    pub fn name(self) -> String {
        let mut length = 0;
        // SAFETY: a live value, whose name is copied.
        unsafe {
            let p = LLVMGetValueName2(self.0, &mut length);
            String::from_utf8_lossy(&copied(p, length)).into_owned()
        }
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

    /// LLVM's text of the value.
    pub fn text(self) -> String {
        // SAFETY: a live value; the text is copied and freed.
        unsafe { taken(LLVMPrintValueToString(self.0)) }.trim().to_string()
    }

    /// File and line of a function's or variable's definition, if it has debug information.
    pub fn definition_place(self) -> Option<(String, u32)> {
        let mut length = 0;
        // SAFETY: a live global, whose file name is copied.
        unsafe {
            let file = LLVMGetDebugLocFilename(self.0, &mut length);
            (!file.is_null())
                .then(|| (String::from_utf8_lossy(&copied(file, length as usize)).into_owned(), LLVMGetDebugLocLine(self.0)))
        }
    }

    /// Where an instruction stands in the source.
    pub fn source_position(self) -> SourcePosition {
        let mut length = 0;
        // SAFETY: a live instruction, whose file name is copied; without a location it is not asked
        // for one.
        unsafe {
            if LLVMInstructionGetDebugLoc(self.0).is_null() {
                return SourcePosition::default();
            }
            let file = LLVMGetDebugLocFilename(self.0, &mut length);
            SourcePosition {
                file: String::from_utf8_lossy(&copied(file, length as usize)).into_owned(),
                line: LLVMGetDebugLocLine(self.0),
                column: LLVMGetDebugLocColumn(self.0),
            }
        }
    }
}

impl BlockRef {
    /// Its instructions, in order.
    pub fn instructions(self) -> impl Iterator<Item = Value> {
        // SAFETY: a live block.
        let mut next = unsafe { LLVMGetFirstInstruction(self.0) };
        std::iter::from_fn(move || {
            if next.is_null() {
                return None;
            }
            let this = next;
            // SAFETY: a live instruction, which the caller has not been given yet.
            next = unsafe { LLVMGetNextInstruction(this) };
            Some(Value(this))
        })
    }

    /// The instruction that ends it.
    pub fn terminator(self) -> Value {
        // SAFETY: a live block of a verified module, which has one.
        Value(unsafe { LLVMGetBasicBlockTerminator(self.0) })
    }

    /// Its name; empty if it has none.
    pub fn name(self) -> String {
        // SAFETY: a live block, whose name is copied.
        unsafe {
            let p = LLVMGetBasicBlockName(self.0);
            if p.is_null() { String::new() } else { std::ffi::CStr::from_ptr(p).to_string_lossy().into_owned() }
        }
    }
}

/// A copy of bytes that LLVM owns; empty for null.
///
/// # Safety
/// `text` is null or points to `length` bytes.
pub(super) unsafe fn copied(text: *const std::ffi::c_char, length: usize) -> Vec<u8> {
    if text.is_null() {
        return Vec::new();
    }
    // SAFETY: the caller's promise.
    unsafe { std::slice::from_raw_parts(text.cast::<u8>(), length) }.to_vec()
}

/// A copy of a text that LLVM made for its caller, which is freed.
///
/// # Safety
/// `message` is such a text and is not used again.
pub(super) unsafe fn taken(message: *mut std::ffi::c_char) -> String {
    // SAFETY: the caller's promise.
    unsafe {
        let text = std::ffi::CStr::from_ptr(message).to_string_lossy().into_owned();
        LLVMDisposeMessage(message);
        text
    }
}
