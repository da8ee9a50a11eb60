//! Lowering of `printf`: calls become writes of messages into a buffer that the driver reads after
//! the launch.
//!
//! # Problem
//! A GPU has no output. A call has to leave its arguments where the host finds them: without locks,
//! from any number of work-items at once, and such that messages do not mix.
//!
//! # Algorithm
//! Each call becomes one of a function made for its argument types and inlined at once. It reserves
//! room with one atomic addition to the buffer's first word, and
//! - if the message fits, stores the arguments and, last, the number of the format string, and
//!   returns 0;
//! - else counts the message as dropped, and returns -1.
//!
//! The counter only grows, so once a message does not fit, none after it does: the buffer holds the
//! first messages without gaps. What stands where is in [`crate::printf`]. The stores are
//! non-temporal and no other kernel code reads them, so the pass makes no other load volatile.
//!
//! # Reference
//! OpenCL C 3.0, 6.15.14.
//!
//! # Limits
//! Formats have to be literals, seen through `select` and `phi` (LLVM merges calls that differ in
//! the format only). `%s` takes strings in constant or global memory. Runs after inlining, before
//! loops are put into LCSSA form.

use std::collections::HashMap;

use heddle_object::format::{self, ArgumentType, Element, HEADER_BYTES, Layout};
use inkwell::attributes::{Attribute, AttributeLoc};
use inkwell::llvm_sys::LLVMIntPredicate::LLVMIntULE;
use inkwell::llvm_sys::LLVMOpcode::*;
use inkwell::llvm_sys::LLVMTypeKind::*;
use inkwell::llvm_sys::LLVMValueKind;
use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::prelude::*;
use inkwell::llvm_sys::{LLVMAtomicOrdering, LLVMAtomicRMWBinOp};
use inkwell::module::{Linkage, Module};
use inkwell::values::AsValueRef;

use crate::error::{BadPrintf, PassError};
use crate::ir::build::{Builder, UNNAMED, append_block, context_of, inlined_function, replace_by_call};
use crate::ir::metadata::Writer;
use crate::ir::{Value, address_space, llvm_passes};
use crate::printf::{BUFFER, Format, METADATA, ROOM, formats};

/// Replaces all calls of `printf`. Nothing happens if there is none.
///
/// # Errors
/// Calls that cannot be compiled, all of them; or LLVM's message.
pub fn lower(module: &Module) -> Result<(), PassError> {
    let Some(printf) = module.get_function("printf").filter(|f| f.count_basic_blocks() == 0) else { return Ok(()) };
    let printf = Value::of(printf);
    let calls: Vec<Value> = printf.users().filter(|u| u.is_instruction()).collect();
    if calls.is_empty() {
        return Ok(());
    }
    let mut lowering = Lowering::new(module);
    let mut bad = Vec::new();
    for call in calls {
        if let Err(message) = lowering.call(call, printf) {
            bad.push(BadPrintf { position: call.source_position(), message });
        }
    }
    if !bad.is_empty() {
        bad.sort_by(|a, b| a.position.cmp(&b.position));
        return Err(PassError::Printf(bad));
    }
    lowering.write_metadata();
    llvm_passes::run(module, "always-inline,globaldce,function(dce)")
}

/// The formats and functions of a module while its calls are lowered.
struct Lowering<'a, 'ctx> {
    module: &'a Module<'ctx>,
    context: LLVMContextRef,
    /// Formats by text and types; messages have the number plus 1.
    numbers: HashMap<Format, u32>,
    /// Formats that are not in the metadata yet.
    added: Vec<Format>,
    /// Number of those that are.
    known: usize,
    /// Functions that write a message, by their argument types.
    writers: HashMap<String, LLVMValueRef>,
}

/// The format of a call while it is looked for.
struct FormatUse<'a> {
    types: &'a [ArgumentType],
    /// The types as the metadata have them.
    arguments: &'a str,
    /// Pointers that have been looked at, with the values made for them.
    seen: HashMap<Value, Value>,
}

impl<'a, 'ctx> Lowering<'a, 'ctx> {
    fn new(module: &'a Module<'ctx>) -> Self {
        let known = formats(module);
        Lowering {
            module,
            context: context_of(module),
            added: Vec::new(),
            known: known.len(),
            numbers: known.into_iter().zip(0..).collect(),
            writers: HashMap::new(),
        }
    }

    /// Puts a write of a message in the place of a call.
    fn call(&mut self, call: Value, printf: Value) -> Result<(), String> {
        let arguments = call.operand_count().saturating_sub(2);
        if call.opcode() != LLVMCall || call.called_function() != Some(printf) || call.operand_count() < 2 {
            return Err("is used other than in a call".into());
        }
        let types = (1..=arguments)
            .map(|i| {
                let v = without_conversion(call.operand(i));
                argument_type(v.ty()).ok_or_else(|| format!("argument {i} has a type that cannot be printed: `{}`", v.text()))
            })
            .collect::<Result<Vec<_>, _>>()?;
        let text = types.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ");
        let mut format = FormatUse { types: &types, arguments: &text, seen: HashMap::new() };
        let number = self.number(call.operand(0), &mut format)?;
        let writer = self.writer(&types, &text);
        let mut operands: Vec<LLVMValueRef> =
            std::iter::once(number.0).chain((1..=arguments).map(|i| without_conversion(call.operand(i)).0)).collect();
        replace_by_call(self.context, call, writer, &mut operands);
        Ok(())
    }

    fn word(&self) -> LLVMTypeRef {
        // SAFETY: a live context.
        unsafe { LLVMInt32TypeInContext(self.context) }
    }

    /// The number, plus 1, of the format a pointer points to, as a value where the pointer is
    /// defined.
    fn number(&mut self, pointer: Value, format: &mut FormatUse) -> Result<Value, String> {
        if let Some(v) = format.seen.get(&pointer) {
            return Ok(*v);
        }
        if let Some(text) = literal(pointer) {
            return self.number_of_literal(text, format);
        }
        let result = match pointer.is_instruction().then(|| pointer.opcode()) {
            Some(LLVMSelect) => self.number_of_select(pointer, format),
            Some(LLVMPHI) => self.number_of_phi(pointer, format),
            _ => Err("the format is no string literal; it has to be known when the kernel is compiled".into()),
        }?;
        format.seen.insert(pointer, result);
        Ok(result)
    }

    fn number_of_literal(&mut self, text: Vec<u8>, format: &FormatUse) -> Result<Value, String> {
        format::check(&format::parse(&text)?, format.types)?;
        let format = Format { text, arguments: format.arguments.into() };
        let next = (self.known + self.added.len()) as u32;
        let number = *self.numbers.entry(format.clone()).or_insert(next);
        if number == next {
            self.added.push(format);
        }
        // SAFETY: a constant of a live context.
        Ok(Value(unsafe { LLVMConstInt(self.word(), u64::from(number) + 1, 0) }))
    }

    fn number_of_select(&mut self, select: Value, format: &mut FormatUse) -> Result<Value, String> {
        let b = Builder::before(self.context, select);
        let sides = (self.number(select.operand(1), format), self.number(select.operand(2), format));
        let (x, y) = (sides.0?, sides.1?);
        // SAFETY: values that are defined before the select.
        Ok(Value(unsafe { LLVMBuildSelect(b.0, select.operand(0).0, x.0, y.0, UNNAMED) }))
    }

    fn number_of_phi(&mut self, pointer: Value, format: &mut FormatUse) -> Result<Value, String> {
        let b = Builder::before(self.context, pointer);
        // SAFETY: the builder stands among the phis of a live block.
        let phi = Value(unsafe { LLVMBuildPhi(b.0, self.word(), UNNAMED) });
        // Before its incoming values: a loop may bring the phi itself.
        format.seen.insert(pointer, phi);
        let mut failed = None;
        for (value, mut block) in pointer.incoming() {
            match self.number(value, format) {
                // SAFETY: a value that is defined at the end of the live block.
                Ok(mut v) => unsafe { LLVMAddIncoming(phi.0, &mut v.0, &mut block.0, 1) },
                Err(e) => failed = Some(e),
            }
        }
        failed.map_or(Ok(phi), Err)
    }

    /// The function that writes a message with these arguments.
    fn writer(&mut self, types: &[ArgumentType], text: &str) -> LLVMValueRef {
        if let Some(f) = self.writers.get(text) {
            return *f;
        }
        let word = self.word();
        let mut parameters: Vec<LLVMTypeRef> =
            std::iter::once(word).chain(types.iter().map(|t| llvm_type(self.context, *t))).collect();
        let name = format!("__heddle_printf.{}", text.replace(' ', "."));
        let f = inlined_function(self.module, &name, word, &mut parameters);
        let block = |name| append_block(self.context, f, name);
        let (entry, write, full, end) = (block(c"entry"), block(c"write"), block(c"full"), block(c"end"));
        let message = MessageBuilder { b: Builder::new(self.context), context: self.context, buffer: self.buffer() };
        let layout = Layout::of(types);
        // SAFETY: the builder's blocks, values and types belong to the live module, and each block
        // gets its terminator here.
        unsafe {
            let b = message.b.0;
            LLVMPositionBuilderAtEnd(b, entry);
            let (start, fits) = message.reserve(layout.bytes, self.room());
            LLVMBuildCondBr(b, fits, write, full);

            LLVMPositionBuilderAtEnd(b, write);
            message.store(f, start, types, &layout);
            LLVMBuildBr(b, end);

            LLVMPositionBuilderAtEnd(b, full);
            message.add(8, 1);
            LLVMBuildBr(b, end);

            LLVMPositionBuilderAtEnd(b, end);
            let phi = LLVMBuildPhi(b, word, UNNAMED);
            let mut results = [LLVMConstInt(word, 0, 0), LLVMConstAllOnes(word)];
            LLVMAddIncoming(phi, results.as_mut_ptr(), [write, full].as_mut_ptr(), 2);
            LLVMBuildRet(b, phi);
        }
        self.writers.insert(text.into(), f);
        f
    }

    /// The variable that stands for the buffer.
    fn buffer(&self) -> LLVMValueRef {
        if let Some(g) = self.module.get_global(BUFFER) {
            return g.as_value_ref();
        }
        let byte = self.module.get_context().i8_type();
        let g = self.module.add_global(byte, Some(inkwell::AddressSpace::from(address_space::GLOBAL as u16)), BUFFER);
        g.set_linkage(Linkage::External);
        g.set_alignment(16);
        g.as_value_ref()
    }

    /// The function that stands for the size of the buffer.
    fn room(&self) -> LLVMValueRef {
        if let Some(f) = self.module.get_function(ROOM) {
            return f.as_value_ref();
        }
        let context = self.module.get_context();
        let f = self.module.add_function(ROOM, context.i32_type().fn_type(&[], false), Some(Linkage::External));
        // No side effect, always the same.
        for (name, value) in [("memory", 0), ("nounwind", 0), ("willreturn", 0)] {
            let attribute = context.create_enum_attribute(Attribute::get_named_enum_kind_id(name), value);
            f.add_attribute(AttributeLoc::Function, attribute);
        }
        f.as_value_ref()
    }

    /// Adds the new formats to the module's metadata.
    fn write_metadata(&self) {
        let writer = Writer::of_module(self.module);
        for f in &self.added {
            writer.append(self.module, METADATA, writer.strings(&[f.text.as_slice(), f.arguments.as_bytes()]));
        }
    }
}

/// Builds the parts of a function that writes a message.
struct MessageBuilder {
    b: Builder,
    context: LLVMContextRef,
    buffer: LLVMValueRef,
}

// Each function takes values of the function that the builder stands in, which belongs to the live
// module.
impl MessageBuilder {
    fn long(&self) -> LLVMTypeRef {
        // SAFETY: a live context.
        unsafe { LLVMInt64TypeInContext(self.context) }
    }

    fn number(&self, n: u64) -> LLVMValueRef {
        // SAFETY: a constant of a live context.
        unsafe { LLVMConstInt(self.long(), n, 0) }
    }

    /// The address so many bytes from the buffer's start.
    fn at(&self, mut bytes: LLVMValueRef) -> LLVMValueRef {
        // SAFETY: see the `impl`.
        unsafe { LLVMBuildGEP2(self.b.0, LLVMInt8TypeInContext(self.context), self.buffer, &mut bytes, 1, UNNAMED) }
    }

    /// Adds to a counter at the buffer's start, atomically; the result is what it was.
    fn add(&self, offset: u64, n: u64) -> LLVMValueRef {
        let to = if offset == 0 { self.buffer } else { self.at(self.number(offset)) };
        let order = LLVMAtomicOrdering::LLVMAtomicOrderingMonotonic;
        // SAFETY: see the `impl`.
        unsafe { LLVMBuildAtomicRMW(self.b.0, LLVMAtomicRMWBinOp::LLVMAtomicRMWBinOpAdd, to, self.number(n), order, 0) }
    }

    /// Reserves room for a message: its start behind the header, and whether it fits.
    fn reserve(&self, bytes: u32, room: LLVMValueRef) -> (LLVMValueRef, LLVMValueRef) {
        let b = self.b.0;
        let start = self.add(0, bytes.into());
        // SAFETY: see the `impl`; `room` takes no arguments.
        unsafe {
            let behind = LLVMBuildAdd(b, start, self.number(bytes.into()), UNNAMED);
            let room = LLVMBuildCall2(b, LLVMGlobalGetValueType(room), room, std::ptr::null_mut(), 0, UNNAMED);
            let room = LLVMBuildZExt(b, room, self.long(), UNNAMED);
            (start, LLVMBuildICmp(b, LLVMIntULE, behind, room, UNNAMED))
        }
    }

    /// Stores the arguments of the function, and last the number of the format.
    fn store(&self, function: LLVMValueRef, start: LLVMValueRef, types: &[ArgumentType], layout: &Layout) {
        let metadata = Writer::of_function(Value(function));
        // Nobody reads it before the launch ends.
        let nontemporal = metadata.number(1);
        let arguments = types.iter().zip(&layout.offsets).zip(1..).map(|((t, offset), i)| (i, *offset, t.align()));
        for (parameter, offset, alignment) in arguments.chain([(0, 0, 8)]) {
            // SAFETY: see the `impl`; the function has a parameter for each type, and one before
            // them.
            unsafe {
                let bytes = LLVMBuildAdd(self.b.0, start, self.number(u64::from(HEADER_BYTES + offset)), UNNAMED);
                let store = LLVMBuildStore(self.b.0, LLVMGetParam(function, parameter), self.at(bytes));
                LLVMSetAlignment(store, alignment);
                metadata.attach(Value(store), "nontemporal", nontemporal);
            }
        }
    }
}

/// The bytes of a string literal up to its NUL.
fn literal(pointer: Value) -> Option<Vec<u8>> {
    let (variable, skip) = match pointer.constant_opcode() {
        Some(LLVMGetElementPtr) => (pointer.operand(0), byte_index(pointer)?),
        _ => (pointer, 0),
    };
    let bytes = constant_bytes(without_conversion(variable))?;
    let bytes = bytes.get(skip..)?;
    Some(bytes[..bytes.iter().position(|b| *b == 0)?].to_vec())
}

/// What a generic pointer is a conversion of, as those to texts of C++ are.
fn without_conversion(value: Value) -> Value {
    if value.any_opcode() == Some(LLVMAddrSpaceCast) { value.operand(0) } else { value }
}

/// The number of the byte that a constant address is of: all indices zero, or bytes, which is
/// LLVM's canonical form.
fn byte_index(gep: Value) -> Option<usize> {
    let last = gep.operand_count() - 1;
    let others = (1..last).all(|i| gep.operand(i).as_constant_int() == Some(0));
    // SAFETY: type queries on a live constant.
    let of_bytes = unsafe {
        let element = LLVMGetGEPSourceElementType(gep.0);
        let byte = |t: LLVMTypeRef| LLVMGetTypeKind(t) == LLVMIntegerTypeKind && LLVMGetIntTypeWidth(t) == 8;
        byte(element)
            || LLVMGetTypeKind(element) == LLVMArrayTypeKind && byte(LLVMGetElementType(element)) && gep.operand_count() == 3
    };
    if !others || !of_bytes {
        return None;
    }
    usize::try_from(gep.operand(last).as_constant_int()?).ok()
}

/// The bytes of a constant variable.
fn constant_bytes(variable: Value) -> Option<Vec<u8>> {
    // SAFETY: reads a live value, of variables their initializer; the string is copied.
    unsafe {
        if !variable.is_global_variable() || LLVMIsGlobalConstant(variable.0) == 0 {
            return None;
        }
        let initializer = LLVMGetInitializer(variable.0);
        if initializer.is_null() {
            return None;
        }
        match LLVMGetValueKind(initializer) {
            LLVMValueKind::LLVMConstantDataArrayValueKind => {
                let mut n = 0;
                let p = LLVMGetAsString(initializer, &mut n);
                (!p.is_null()).then(|| std::slice::from_raw_parts(p.cast::<u8>(), n).to_vec())
            }
            // An empty string is an array of one zero.
            LLVMValueKind::LLVMConstantAggregateZeroValueKind => Some(vec![0]),
            _ => None,
        }
    }
}

/// The printable type of an LLVM type.
fn argument_type(ty: LLVMTypeRef) -> Option<ArgumentType> {
    // SAFETY: type queries in a live context.
    unsafe {
        let (element, count) = match LLVMGetTypeKind(ty) {
            LLVMVectorTypeKind => (LLVMGetElementType(ty), LLVMGetVectorSize(ty)),
            _ => (ty, 1),
        };
        if !matches!(count, 1 | 2 | 3 | 4 | 8 | 16) {
            return None;
        }
        let element = match LLVMGetTypeKind(element) {
            LLVMIntegerTypeKind => match LLVMGetIntTypeWidth(element) {
                n @ (8 | 16 | 32 | 64) => Element::Integer(n / 8),
                _ => return None,
            },
            LLVMHalfTypeKind => Element::Float(2),
            LLVMFloatTypeKind => Element::Float(4),
            LLVMDoubleTypeKind => Element::Float(8),
            LLVMPointerTypeKind if count == 1 => Element::Pointer(LLVMGetPointerAddressSpace(element)),
            _ => return None,
        };
        Some(ArgumentType { element, count })
    }
}

/// The LLVM type of a printable one.
fn llvm_type(context: LLVMContextRef, t: ArgumentType) -> LLVMTypeRef {
    // SAFETY: makes types in a live context.
    unsafe {
        let element = match t.element {
            Element::Integer(bytes) => LLVMIntTypeInContext(context, 8 * bytes),
            Element::Float(2) => LLVMHalfTypeInContext(context),
            Element::Float(4) => LLVMFloatTypeInContext(context),
            Element::Float(_) => LLVMDoubleTypeInContext(context),
            Element::Pointer(space) => LLVMPointerTypeInContext(context, space),
        };
        if t.count == 1 { element } else { LLVMVectorType(element, t.count) }
    }
}
