//! `printf`: calls become writes of messages into a buffer that the driver reads after the launch.
//!
//! # Problem
//! A GPU has no output. A call has to leave its arguments where the host finds them: without locks, from any number of work-items
//! at once, and such that messages do not mix.
//!
//! # Algorithm
//! Each call becomes one of a function made for its argument types and inlined at once. It reserves room with one atomic addition to the buffer's
//! first word, and
//! - if the message fits, stores the arguments and, last, the number of the format string, and returns 0;
//! - else counts the message as dropped, and returns -1.
//!
//! The counter only grows, so once a message does not fit, none after it does: the buffer holds the first messages without gaps. Format strings and
//! argument types go into the module's named metadata [`METADATA`]; strings for `%s` stay where they are, the message has their address.
//!
//! The buffer is the variable [`BUFFER`], its size the function [`ROOM`]; both are hidden arguments of the kernel. What is written there is read by
//! no kernel, so the other analyses may pass over it ([`is_buffer`]): it makes no other load volatile.
//!
//! # Limits
//! Formats have to be literals, seen through `select` and `phi` (LLVM merges calls that differ in the format only). `%s` takes
//! strings in constant or global memory.
//!
//! OpenCL C 3.0, 6.15.14. Runs after inlining, before loops are put into LCSSA form.

use std::collections::HashMap;
use std::ffi::CString;
use std::fmt;

use inkwell::attributes::{Attribute, AttributeLoc};
use inkwell::llvm_sys::LLVMIntPredicate::LLVMIntULE;
use inkwell::llvm_sys::LLVMOpcode::*;
use inkwell::llvm_sys::LLVMTypeKind::*;
use inkwell::llvm_sys::LLVMValueKind;
use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::debuginfo::{LLVMInstructionGetDebugLoc, LLVMInstructionSetDebugLoc};
use inkwell::llvm_sys::prelude::*;
use inkwell::llvm_sys::{LLVMAtomicOrdering, LLVMAtomicRMWBinOp};
use inkwell::module::{Linkage, Module};
use inkwell::values::AsValueRef;

use crate::PassError;
use crate::ir::{self, Value};
use crate::pipeline::run_llvm;
use heddle_object::format::{self, ArgumentType, Element, HEADER_BYTES, Layout};

/// The variable that stands for the buffer.
pub const BUFFER: &str = "heddle.printf.buffer";
/// The function that stands for the bytes of messages the buffer takes.
pub const ROOM: &str = "__heddle_printf_room";
/// Named metadata with a node for each format: its text and its argument types.
pub const METADATA: &str = "heddle.printf";

/// A format string and the types of what it prints.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Format {
    /// The string, without its NUL.
    pub text: Vec<u8>,
    /// Argument types as [`ArgumentType`] writes them, with spaces between.
    pub arguments: String,
}

/// A call that cannot be compiled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadCall {
    /// File, empty if unknown.
    pub file: String,
    /// Line, 0 if unknown.
    pub line: u32,
    /// Column, 0 if unknown.
    pub column: u32,
    /// What is wrong.
    pub message: String,
}

impl fmt::Display for BadCall {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        if self.line > 0 {
            write!(f, "{}:{}:{}: ", self.file, self.line, self.column)?;
        }
        write!(f, "error: printf: {}", self.message)
    }
}

/// Whether a pointer is into the buffer.
pub fn is_buffer(mut pointer: Value) -> bool {
    for _ in 0..8 {
        if pointer.is_instruction() && pointer.opcode() == LLVMGetElementPtr || is_constant_gep(pointer) {
            pointer = pointer.operand(0);
        } else {
            return pointer.is_global_variable() && pointer.name() == BUFFER;
        }
    }
    false
}

fn is_constant_gep(v: Value) -> bool {
    // SAFETY: reads a constant of a live module.
    unsafe { !LLVMIsAConstantExpr(v.0).is_null() && LLVMGetConstOpcode(v.0) == LLVMGetElementPtr }
}

/// Whether a kernel prints.
pub fn is_used_in(kernel: Value) -> bool {
    let calls = |i: Value| i.opcode() == LLVMCall && i.called_function().is_some_and(|f| f.name() == ROOM);
    ir::blocks(kernel).iter().any(|b| b.instructions().any(calls))
}

/// The formats of a module, by their numbers; messages have these plus 1.
pub fn formats(module: &Module) -> Vec<Format> {
    let name = CString::new(METADATA).unwrap_or_default();
    // SAFETY: reads the metadata of a live module; strings are copied.
    unsafe {
        let count = LLVMGetNamedMetadataNumOperands(module.as_mut_ptr(), name.as_ptr());
        let mut nodes = vec![std::ptr::null_mut(); count as usize];
        LLVMGetNamedMetadataOperands(module.as_mut_ptr(), name.as_ptr(), nodes.as_mut_ptr());
        let text = |v: LLVMValueRef| {
            let mut n = 0;
            let p = if v.is_null() { std::ptr::null() } else { LLVMGetMDString(v, &mut n) };
            if p.is_null() { Vec::new() } else { std::slice::from_raw_parts(p.cast::<u8>(), n as usize).to_vec() }
        };
        nodes
            .into_iter()
            .map(|node| {
                let mut operands = vec![std::ptr::null_mut(); LLVMGetMDNodeNumOperands(node) as usize];
                LLVMGetMDNodeOperands(node, operands.as_mut_ptr());
                let mut texts = operands.into_iter().map(text);
                let format = texts.next().unwrap_or_default();
                let arguments = String::from_utf8_lossy(&texts.next().unwrap_or_default()).into_owned();
                Format { text: format, arguments }
            })
            .collect()
    }
}

/// Replaces all calls of `printf`. Nothing happens if there is none.
///
/// # Errors
/// Calls that cannot be compiled, all of them; or LLVM's message.
pub fn lower(module: &Module) -> Result<(), PassError> {
    let Some(printf) = module.get_function("printf").filter(|f| f.count_basic_blocks() == 0) else { return Ok(()) };
    let calls: Vec<Value> = Value::of(printf).users().filter(|u| u.is_instruction()).collect();
    if calls.is_empty() {
        return Ok(());
    }
    let known = formats(module);
    let mut lowering =
        Lowering { module, numbers: HashMap::new(), added: Vec::new(), known: known.len(), functions: HashMap::new() };
    for (i, f) in known.into_iter().enumerate() {
        lowering.numbers.insert(f, i as u32);
    }
    let mut bad = Vec::new();
    for call in calls {
        if let Err(message) = lowering.call(call, Value::of(printf)) {
            let (file, line, column) = position(call);
            bad.push(BadCall { file, line, column, message });
        }
    }
    if !bad.is_empty() {
        bad.sort_by(|a, b| (&a.file, a.line, a.column).cmp(&(&b.file, b.line, b.column)));
        return Err(PassError::Printf(bad));
    }
    lowering.write_metadata();
    run_llvm(module, "always-inline,globaldce,function(dce)")
}

/// File, line and column of an instruction.
fn position(i: Value) -> (String, u32, u32) {
    // SAFETY: reads the debug location of a live instruction; the string is copied.
    unsafe {
        if LLVMInstructionGetDebugLoc(i.0).is_null() {
            return Default::default();
        }
        let mut n = 0;
        let p = LLVMGetDebugLocFilename(i.0, &mut n);
        let file = if p.is_null() { &[][..] } else { std::slice::from_raw_parts(p.cast::<u8>(), n as usize) };
        (String::from_utf8_lossy(file).into_owned(), LLVMGetDebugLocLine(i.0), LLVMGetDebugLocColumn(i.0))
    }
}

struct Lowering<'a, 'ctx> {
    module: &'a Module<'ctx>,
    numbers: HashMap<Format, u32>,
    /// Formats that are not in the metadata yet.
    added: Vec<Format>,
    /// Number of those that are.
    known: usize,
    /// Functions by their argument types.
    functions: HashMap<String, LLVMValueRef>,
}

// SAFETY (all of it): values, types and blocks belong to the live module; builders are disposed of where they are made.
impl Lowering<'_, '_> {
    fn call(&mut self, call: Value, printf: Value) -> Result<(), String> {
        let arguments = call.operand_count().saturating_sub(2);
        if call.opcode() != LLVMCall || call.called_function() != Some(printf) || call.operand_count() < 2 {
            return Err("is used other than in a call".into());
        }
        let types = (1..=arguments)
            .map(|i| {
                let v = call.operand(i);
                argument_type(v.ty()).ok_or_else(|| format!("argument {i} has a type that cannot be printed: `{}`", v.text()))
            })
            .collect::<Result<Vec<_>, _>>()?;
        let text = types.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ");
        let number = self.number(call.operand(0), &types, &text, &mut HashMap::new())?;
        let function = self.function(&types, &text);
        unsafe {
            let context = LLVMGetModuleContext(self.module.as_mut_ptr());
            let builder = LLVMCreateBuilderInContext(context);
            LLVMPositionBuilderBefore(builder, call.0);
            let mut operands: Vec<LLVMValueRef> =
                std::iter::once(number.0).chain((1..=arguments).map(|i| call.operand(i).0)).collect();
            let ty = LLVMGlobalGetValueType(function);
            let new = LLVMBuildCall2(builder, ty, function, operands.as_mut_ptr(), operands.len() as u32, c"".as_ptr());
            LLVMInstructionSetDebugLoc(new, LLVMInstructionGetDebugLoc(call.0));
            LLVMReplaceAllUsesWith(call.0, new);
            LLVMInstructionEraseFromParent(call.0);
            LLVMDisposeBuilder(builder);
        }
        Ok(())
    }

    /// The number, plus 1, of the format a pointer points to, as a value where the pointer is defined.
    fn number(
        &mut self,
        pointer: Value,
        types: &[ArgumentType],
        text: &str,
        seen: &mut HashMap<Value, Value>,
    ) -> Result<Value, String> {
        if let Some(v) = seen.get(&pointer) {
            return Ok(*v);
        }
        unsafe {
            let context = LLVMGetModuleContext(self.module.as_mut_ptr());
            let word = LLVMInt32TypeInContext(context);
            if let Some(bytes) = literal(pointer) {
                let pieces = format::parse(&bytes)?;
                format::check(&pieces, types)?;
                let format = Format { text: bytes, arguments: text.into() };
                let next = (self.known + self.added.len()) as u32;
                let number = *self.numbers.entry(format.clone()).or_insert(next);
                if number == next {
                    self.added.push(format);
                }
                return Ok(Value(LLVMConstInt(word, u64::from(number) + 1, 0)));
            }
            let choice = pointer.is_instruction() && matches!(pointer.opcode(), LLVMSelect | LLVMPHI);
            if !choice {
                return Err("the format is no string literal; it has to be known when the kernel is compiled".into());
            }
            let builder = LLVMCreateBuilderInContext(context);
            LLVMPositionBuilderBefore(builder, pointer.0);
            let result = if pointer.opcode() == LLVMSelect {
                let sides =
                    (self.number(pointer.operand(1), types, text, seen), self.number(pointer.operand(2), types, text, seen));
                match sides {
                    (Ok(a), Ok(b)) => Ok(Value(LLVMBuildSelect(builder, pointer.operand(0).0, a.0, b.0, c"".as_ptr()))),
                    (Err(e), _) | (_, Err(e)) => Err(e),
                }
            } else {
                let phi = LLVMBuildPhi(builder, word, c"".as_ptr());
                seen.insert(pointer, Value(phi));
                let mut failed = None;
                for (value, mut block) in pointer.incoming() {
                    match self.number(value, types, text, seen) {
                        Ok(mut v) => LLVMAddIncoming(phi, &mut v.0, &mut block.0, 1),
                        Err(e) => failed = Some(e),
                    }
                }
                failed.map_or(Ok(Value(phi)), Err)
            };
            LLVMDisposeBuilder(builder);
            if let Ok(v) = result {
                seen.insert(pointer, v);
            }
            result
        }
    }

    /// The function that writes a message with these arguments.
    fn function(&mut self, types: &[ArgumentType], text: &str) -> LLVMValueRef {
        if let Some(f) = self.functions.get(text) {
            return *f;
        }
        let layout = Layout::of(types);
        unsafe {
            let context = LLVMGetModuleContext(self.module.as_mut_ptr());
            let module = self.module.as_mut_ptr();
            let word = LLVMInt32TypeInContext(context);
            let long = LLVMInt64TypeInContext(context);
            let byte = LLVMInt8TypeInContext(context);
            let mut parameters: Vec<LLVMTypeRef> =
                std::iter::once(word).chain(types.iter().map(|t| llvm_type(context, *t))).collect();
            let ty = LLVMFunctionType(word, parameters.as_mut_ptr(), parameters.len() as u32, 0);
            let name = CString::new(format!("__heddle_printf.{}", text.replace(' ', "."))).unwrap_or_default();
            let f = LLVMAddFunction(module, name.as_ptr(), ty);
            LLVMSetLinkage(f, inkwell::llvm_sys::LLVMLinkage::LLVMInternalLinkage);
            let always = Attribute::get_named_enum_kind_id("alwaysinline");
            // The index of the function itself.
            LLVMAddAttributeAtIndex(f, u32::MAX, LLVMCreateEnumAttribute(context, always, 0));
            let block = |name: &std::ffi::CStr| LLVMAppendBasicBlockInContext(context, f, name.as_ptr());
            let (entry, write, full, end) = (block(c"entry"), block(c"write"), block(c"full"), block(c"end"));
            let b = LLVMCreateBuilderInContext(context);
            let buffer = self.buffer();
            let at = |n: LLVMValueRef, offset: u64| {
                let mut index = [if offset == 0 { n } else { LLVMBuildAdd(b, n, LLVMConstInt(long, offset, 0), c"".as_ptr()) }];
                LLVMBuildGEP2(b, byte, buffer, index.as_mut_ptr(), 1, c"".as_ptr())
            };
            let add = |to: LLVMValueRef, n: u64| {
                let order = LLVMAtomicOrdering::LLVMAtomicOrderingMonotonic;
                LLVMBuildAtomicRMW(b, LLVMAtomicRMWBinOp::LLVMAtomicRMWBinOpAdd, to, LLVMConstInt(long, n, 0), order, 0)
            };
            LLVMPositionBuilderAtEnd(b, entry);
            let bytes = u64::from(layout.bytes);
            let start = add(buffer, bytes);
            let behind = LLVMBuildAdd(b, start, LLVMConstInt(long, bytes, 0), c"".as_ptr());
            let room = self.room();
            let room = LLVMBuildCall2(b, LLVMGlobalGetValueType(room), room, std::ptr::null_mut(), 0, c"".as_ptr());
            let room = LLVMBuildZExt(b, room, long, c"".as_ptr());
            let fits = LLVMBuildICmp(b, LLVMIntULE, behind, room, c"".as_ptr());
            LLVMBuildCondBr(b, fits, write, full);

            LLVMPositionBuilderAtEnd(b, write);
            // Nobody reads it before the launch ends.
            let kind = LLVMGetMDKindIDInContext(context, c"nontemporal".as_ptr(), 11);
            let mut one = LLVMValueAsMetadata(LLVMConstInt(word, 1, 0));
            let nontemporal = LLVMMetadataAsValue(context, LLVMMDNodeInContext2(context, &mut one, 1));
            let message = u64::from(HEADER_BYTES);
            for (i, (t, offset)) in types.iter().zip(&layout.offsets).enumerate() {
                let store = LLVMBuildStore(b, LLVMGetParam(f, i as u32 + 1), at(start, message + u64::from(*offset)));
                LLVMSetAlignment(store, t.align());
                LLVMSetMetadata(store, kind, nontemporal);
            }
            let store = LLVMBuildStore(b, LLVMGetParam(f, 0), at(start, message));
            LLVMSetAlignment(store, 8);
            LLVMSetMetadata(store, kind, nontemporal);
            LLVMBuildBr(b, end);

            LLVMPositionBuilderAtEnd(b, full);
            add(at(LLVMConstInt(long, 8, 0), 0), 1);
            LLVMBuildBr(b, end);

            LLVMPositionBuilderAtEnd(b, end);
            let phi = LLVMBuildPhi(b, word, c"".as_ptr());
            let mut results = [LLVMConstInt(word, 0, 0), LLVMConstAllOnes(word)];
            LLVMAddIncoming(phi, results.as_mut_ptr(), [write, full].as_mut_ptr(), 2);
            LLVMBuildRet(b, phi);
            LLVMDisposeBuilder(b);
            self.functions.insert(text.into(), f);
            f
        }
    }

    fn buffer(&self) -> LLVMValueRef {
        if let Some(g) = self.module.get_global(BUFFER) {
            return g.as_value_ref();
        }
        let byte = self.module.get_context().i8_type();
        let g = self.module.add_global(byte, Some(inkwell::AddressSpace::from(1)), BUFFER);
        g.set_linkage(Linkage::External);
        g.set_alignment(16);
        g.as_value_ref()
    }

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

    fn write_metadata(&self) {
        let name = CString::new(METADATA).unwrap_or_default();
        unsafe {
            let context = LLVMGetModuleContext(self.module.as_mut_ptr());
            for f in &self.added {
                let string = |s: &[u8]| LLVMMDStringInContext2(context, s.as_ptr().cast(), s.len());
                let mut operands = [string(&f.text), string(f.arguments.as_bytes())];
                let node = LLVMMetadataAsValue(context, LLVMMDNodeInContext2(context, operands.as_mut_ptr(), 2));
                LLVMAddNamedMetadataOperand(self.module.as_mut_ptr(), name.as_ptr(), node);
            }
        }
    }
}

/// The bytes of a string literal up to its NUL.
fn literal(pointer: Value) -> Option<Vec<u8>> {
    // SAFETY: reads constants of a live module.
    unsafe {
        let mut variable = pointer;
        let mut skip = 0usize;
        if is_constant_gep(pointer) {
            // All indices zero, or bytes: LLVM's canonical form.
            let last = pointer.operand(pointer.operand_count() - 1).as_constant_int()?;
            let others = (1..pointer.operand_count() - 1).all(|i| pointer.operand(i).as_constant_int() == Some(0));
            let element = LLVMGetGEPSourceElementType(pointer.0);
            let bytes = |t: LLVMTypeRef| LLVMGetTypeKind(t) == LLVMIntegerTypeKind && LLVMGetIntTypeWidth(t) == 8;
            let of_bytes = bytes(element)
                || LLVMGetTypeKind(element) == LLVMArrayTypeKind
                    && bytes(LLVMGetElementType(element))
                    && pointer.operand_count() == 3;
            if !others || !of_bytes {
                return None;
            }
            skip = usize::try_from(last).ok()?;
            variable = pointer.operand(0);
        }
        if !variable.is_global_variable() || LLVMIsGlobalConstant(variable.0) == 0 {
            return None;
        }
        let initializer = LLVMGetInitializer(variable.0);
        if initializer.is_null() {
            return None;
        }
        let bytes = match LLVMGetValueKind(initializer) {
            LLVMValueKind::LLVMConstantDataArrayValueKind => {
                let mut n = 0;
                let p = LLVMGetAsString(initializer, &mut n);
                if p.is_null() { return None } else { std::slice::from_raw_parts(p.cast::<u8>(), n).to_vec() }
            }
            // An empty string is an array of one zero.
            LLVMValueKind::LLVMConstantAggregateZeroValueKind => vec![0],
            _ => return None,
        };
        let bytes = bytes.get(skip..)?;
        Some(bytes[..bytes.iter().position(|b| *b == 0)?].to_vec())
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
