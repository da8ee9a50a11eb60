//! Lowering of `memcpy`, `memmove` and `memset` to loops, where their size is known at run time only, or large.
//!
//! # Problem
//! Selection writes an access for every piece of a copy. That needs a size that is a constant, and code that is as long as the
//! copy; `memmove` needs registers for all of it.
//!
//! # Algorithm
//! Each call becomes one of a function that is inlined at once. It copies in units of the alignment that both pointers have, of
//! 16 bytes at most: four units in each iteration, all loaded before the first is stored, as loads take long; then what
//! is left unit by unit, then byte by byte. `memmove` goes from the last byte to the first where the destination is behind the
//! source. Units that overlap are right in both directions, as what an iteration stores has been loaded by it or
//! before.
//!
//! # Reference
//! LLVM's `LowerMemIntrinsics`, which has no C interface; its loops have one access at a time.
//!
//! # Limits
//! Pointers must have been given their address spaces ([`crate::lower_generic`]).

use inkwell::llvm_sys::LLVMIntPredicate::{LLVMIntEQ, LLVMIntULE};
use inkwell::llvm_sys::LLVMOpcode::LLVMCall;
use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::prelude::{LLVMBasicBlockRef, LLVMContextRef, LLVMTypeRef, LLVMValueRef};
use inkwell::module::Module;

use crate::error::PassError;
use crate::ir::address_space::{GENERIC, PRIVATE};
use crate::ir::build::{Builder, UNNAMED, append_block, constant, context_of, inlined_function, replace_by_call};
use crate::ir::{self, Type, Value, function, llvm_passes};

/// Accesses of a constant size that selection writes one by one.
const MOST_PIECES: u64 = 64;
/// The same where all are loaded first.
const MOST_PIECES_MOVED: u64 = 16;
/// Bytes of the largest access.
const MOST_BYTES: u32 = 16;
/// Units that an iteration copies.
const UNROLLED: u64 = 4;

/// Lowers the calls of a module.
///
/// # Errors
/// LLVM's message.
pub fn lower(module: &Module) -> Result<(), PassError> {
    let all = function::bodies(module).into_iter().flat_map(ir::blocks).flat_map(|b| b.instructions());
    let calls: Vec<Copy> = all.filter_map(Copy::of).filter(Copy::needs_loop).collect();
    if calls.is_empty() {
        return Ok(());
    }
    for copy in &calls {
        copy.lower(module);
    }
    llvm_passes::run(module, "always-inline,globaldce,function(dce,simplifycfg)")
}

/// Where the bytes are from.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// `memcpy`.
    Apart,
    /// `memmove`.
    Overlapping,
    /// `memset`.
    OneByte,
}

/// A call.
struct Copy {
    call: Value,
    kind: Kind,
    /// The alignment of all pointers, as far as the machine has accesses.
    unit: u32,
    volatile: bool,
}

impl Copy {
    fn of(call: Value) -> Option<Copy> {
        if call.opcode() != LLVMCall {
            return None;
        }
        let name = call.called_name();
        let kind = match name.strip_prefix("llvm.")?.split('.').next()? {
            "memcpy" => Kind::Apart,
            "memmove" => Kind::Overlapping,
            "memset" => Kind::OneByte,
            _ => return None,
        };
        // Those of atomic accesses have other operands.
        if name.contains("element.unordered.atomic") {
            return None;
        }
        let pointers = if kind == Kind::OneByte { 1 } else { 2 };
        let alignment = (0..pointers).map(|k| function::argument_alignment(call, k)).min().unwrap_or(1);
        let volatile = call.operand(3).as_constant_int() == Some(1);
        Some(Copy { call, kind, unit: alignment.clamp(1, MOST_BYTES), volatile })
    }

    /// Whether selection leaves it to a loop.
    fn needs_loop(&self) -> bool {
        let most = if self.kind == Kind::Overlapping { MOST_PIECES_MOVED } else { MOST_PIECES };
        self.call.operand(2).as_constant_int().is_none_or(|size| size / u64::from(self.unit) > most)
    }

    fn lower(&self, module: &Module) {
        let context = context_of(module);
        let mut operands: Vec<Value> = (0..3).map(|k| self.call.operand(k)).collect();
        // Sizes have no sign, unlike offsets.
        let b = Builder::before(context, self.call);
        // SAFETY: a live integer of 64 bits at most, before the call that has it.
        operands[2] = Value(unsafe { LLVMBuildIntCast2(b.0, operands[2].0, LLVMInt64TypeInContext(context), 0, UNNAMED) });
        // A constant size is one in the function, too, so that it has only the loops that it needs.
        let size = operands[2].is_constant().then_some(operands[2]);
        let passed = if size.is_some() { &operands[..2] } else { &operands[..] };
        let mut types: Vec<LLVMTypeRef> = passed.iter().map(|o| o.ty()).collect();
        // SAFETY: a live context.
        let void = unsafe { LLVMVoidTypeInContext(context) };
        let f = inlined_function(module, "__heddle_copy", void, &mut types);
        // SAFETY: the function has these parameters.
        let parameter = |k: u32| Value(unsafe { LLVMGetParam(f, k) });
        let body = Body {
            context,
            b: Builder::new(context),
            function: f,
            copy: self,
            to: parameter(0),
            from: parameter(1),
            size: size.unwrap_or_else(|| parameter(2)),
        };
        body.build();
        let mut arguments: Vec<LLVMValueRef> = passed.iter().map(|o| o.0).collect();
        replace_by_call(context, self.call, f, &mut arguments);
    }
}

/// A function that copies.
struct Body<'a> {
    context: LLVMContextRef,
    b: Builder,
    function: LLVMValueRef,
    copy: &'a Copy,
    to: Value,
    /// The source, or the byte.
    from: Value,
    size: Value,
}

/// All values and blocks are of the function. The `SAFETY` comments rest on that.
impl Body<'_> {
    fn build(&self) {
        let first = self.block();
        // SAFETY: a block of the function, which has no other yet; every block gets its terminator.
        unsafe {
            LLVMPositionBuilderAtEnd(self.b.0, first);
            if self.may_overlap() {
                let (up, down) = (self.block(), self.block());
                let address =
                    |pointer: Value| LLVMBuildPtrToInt(self.b.0, pointer.0, LLVMInt64TypeInContext(self.context), UNNAMED);
                let before = LLVMBuildICmp(self.b.0, LLVMIntULE, address(self.to), address(self.from), UNNAMED);
                LLVMBuildCondBr(self.b.0, before, up, down);
                LLVMPositionBuilderAtEnd(self.b.0, down);
                self.copy_all(false);
                LLVMBuildRetVoid(self.b.0);
                LLVMPositionBuilderAtEnd(self.b.0, up);
            }
            self.copy_all(true);
            LLVMBuildRetVoid(self.b.0);
        }
    }

    /// Whether the bytes may be some of those that are written.
    fn may_overlap(&self) -> bool {
        let space = |pointer: Value| match Type(pointer.ty()).address_space() {
            // Both are private memory's.
            Some(PRIVATE) => Some(GENERIC),
            other => other,
        };
        self.copy.kind == Kind::Overlapping && space(self.to) == space(self.from)
    }

    /// Copies everything, upwards or downwards.
    fn copy_all(&self, upwards: bool) {
        let unit = u64::from(self.copy.unit);
        // What is copied up to here is a number of iterations of so many units, then of units.
        let [many, units] = [UNROLLED * unit, unit].map(|step| self.rounded(step));
        let mut parts = vec![(self.number(0), many, unit, UNROLLED), (many, units, unit, 1)];
        if unit > 1 {
            parts.push((units, self.size, 1, 1));
        }
        if !upwards {
            parts.reverse();
        }
        for (start, end, unit, count) in parts {
            self.copy_part(start, end, (unit, count), upwards);
        }
    }

    /// The size, less what is left over when it is divided by a power of two.
    fn rounded(&self, step: u64) -> Value {
        // SAFETY: integers of one type.
        Value(unsafe { LLVMBuildAnd(self.b.0, self.size.0, self.number(step.wrapping_neg()).0, UNNAMED) })
    }

    /// A loop over bytes, so many units of so many bytes in each iteration.
    fn copy_part(&self, start: Value, end: Value, (unit, count): (u64, u64), upwards: bool) {
        // SAFETY: integers of one type; the builder stands at the end of a block without a terminator, and does so afterwards.
        unsafe {
            let nothing = Value(LLVMBuildICmp(self.b.0, LLVMIntEQ, start.0, end.0, UNNAMED));
            if nothing.as_constant_int() == Some(1) {
                return;
            }
            let (before, body, behind) = (LLVMGetInsertBlock(self.b.0), self.block(), self.block());
            LLVMBuildCondBr(self.b.0, nothing.0, behind, body);
            LLVMPositionBuilderAtEnd(self.b.0, body);
            let (mut enters, leaves) = if upwards { (start.0, end.0) } else { (end.0, start.0) };
            let at = LLVMBuildPhi(self.b.0, LLVMTypeOf(enters), UNNAMED);
            let step = self.number(unit * count).0;
            let next = if upwards {
                self.copy_units(Value(at), unit, count);
                LLVMBuildNUWAdd(self.b.0, at, step, UNNAMED)
            } else {
                let next = LLVMBuildNUWSub(self.b.0, at, step, UNNAMED);
                self.copy_units(Value(next), unit, count);
                next
            };
            let done = LLVMBuildICmp(self.b.0, LLVMIntEQ, next, leaves, UNNAMED);
            LLVMBuildCondBr(self.b.0, done, behind, body);
            let (mut again, mut before, mut inside) = (next, before, body);
            LLVMAddIncoming(at, &mut enters, &mut before, 1);
            LLVMAddIncoming(at, &mut again, &mut inside, 1);
            LLVMPositionBuilderAtEnd(self.b.0, behind);
        }
    }

    /// Copies units from an offset on: all are loaded before one is stored.
    fn copy_units(&self, at: Value, unit: u64, count: u64) {
        let ty = self.unit_type(unit);
        let source = |k: u64| match self.copy.kind {
            Kind::OneByte => self.splat(unit),
            // SAFETY: a pointer to what is copied, aligned to the unit.
            _ => unsafe {
                let load = LLVMBuildLoad2(self.b.0, ty, self.pointer(self.from, at, k * unit), UNNAMED);
                LLVMSetAlignment(load, unit as u32);
                LLVMSetVolatile(load, i32::from(self.copy.volatile));
                Value(load)
            },
        };
        let loaded: Vec<Value> = (0..count).map(source).collect();
        for (k, value) in (0..).zip(loaded) {
            // SAFETY: a pointer to where it goes, aligned to the unit.
            unsafe {
                let store = LLVMBuildStore(self.b.0, value.0, self.pointer(self.to, at, k * unit));
                LLVMSetAlignment(store, unit as u32);
                LLVMSetVolatile(store, i32::from(self.copy.volatile));
            }
        }
    }

    /// The byte in all bytes of a unit.
    fn splat(&self, unit: u64) -> Value {
        if unit == 1 {
            return self.from;
        }
        let (ty, bits) = (self.unit_type(unit), 8 * unit.min(4) as u32);
        let word = constant(self.context, bits, 0x0101_0101 & (u64::MAX >> (64 - bits)));
        // SAFETY: integers of one type; a vector of them has elements of it.
        unsafe {
            let byte = LLVMBuildZExt(self.b.0, self.from.0, word.ty(), UNNAMED);
            let word = LLVMBuildMul(self.b.0, byte, word.0, UNNAMED);
            let elements = Type(ty).element_count();
            if elements == 0 {
                return Value(word);
            }
            let with = |vector, k| LLVMBuildInsertElement(self.b.0, vector, word, constant(self.context, 32, k).0, UNNAMED);
            Value((0..elements).fold(LLVMGetPoison(ty), with))
        }
    }

    /// What a unit is loaded as.
    fn unit_type(&self, unit: u64) -> LLVMTypeRef {
        // SAFETY: a live context.
        unsafe {
            let integer = LLVMIntTypeInContext(self.context, 8 * unit.min(4) as u32);
            if unit > 4 { LLVMVectorType(integer, (unit / 4) as u32) } else { integer }
        }
    }

    fn pointer(&self, base: Value, at: Value, bytes: u64) -> LLVMValueRef {
        // SAFETY: integers of one type, and a pointer to bytes.
        unsafe {
            let byte = LLVMInt8TypeInContext(self.context);
            let mut offset = at.0;
            let start = LLVMBuildInBoundsGEP2(self.b.0, byte, base.0, &mut offset, 1, UNNAMED);
            if bytes == 0 {
                return start;
            }
            let mut offset = self.number(bytes).0;
            LLVMBuildInBoundsGEP2(self.b.0, byte, start, &mut offset, 1, UNNAMED)
        }
    }

    /// A constant of the size's type.
    fn number(&self, value: u64) -> Value {
        // SAFETY: an integer type.
        Value(unsafe { LLVMConstInt(self.size.ty(), value, 0) })
    }

    fn block(&self) -> LLVMBasicBlockRef {
        append_block(self.context, self.function, c"")
    }
}
