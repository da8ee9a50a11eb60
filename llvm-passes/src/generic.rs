//! The generic address space: accesses through pointers of which only the run shows where they point.
//!
//! # Problem
//! In `nvptx64` IR, address space 0 is that of private variables and of generic pointers alike. The machine has separate instructions for private, local
//! and global memory, and no generic ones.
//!
//! # Generic pointers
//! 64 bits. Global addresses are themselves; a local or private address is the low word, with [`LOCAL_APERTURE`] or
//! [`PRIVATE_APERTURE`] as high word, where device memory never is. The null pointer is 0 in every space; selection keeps offset 0 of local memory free where a kernel could tell.
//!
//! # Algorithm
//! 1. Nothing happens to modules without generic pointers.
//! 2. LLVM's `InferAddressSpaces` (with the NVPTX target's description of address spaces) takes back the casts, which settles nearly all pointers once
//!    everything is inlined.
//! 3. What is left is compared with the apertures: each access becomes a call of a function that branches on the high word and accesses memory in the space
//!    found (5 stands for private memory). Spaces that no pointer of the kernel is converted from are left out. The functions are inlined at once, so uniformity and cache
//!    analyses see ordinary accesses in ordinary control flow.
//! 4. `to_global`, `to_local`, `to_private` and `get_fence` become comparisons.
//!
//! On private memory, atomics are plain accesses: nobody else has the address.
//!
//! # Limits
//! `memcpy`, `memmove` and `memset` of generic pointers need a size that is a constant, as all of them do in selection.
//!
//! OpenCL C 3.0, 6.7.5 and 6.15.7.

use std::collections::HashSet;
use std::ffi::CString;

use inkwell::attributes::Attribute;
use inkwell::llvm_sys::LLVMAtomicRMWBinOp::*;
use inkwell::llvm_sys::LLVMIntPredicate::*;
use inkwell::llvm_sys::LLVMOpcode::*;
use inkwell::llvm_sys::LLVMTypeKind::*;
use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::debuginfo::{LLVMInstructionGetDebugLoc, LLVMInstructionSetDebugLoc};
use inkwell::llvm_sys::prelude::*;
use inkwell::llvm_sys::target::{LLVMInitializeNVPTXTarget, LLVMInitializeNVPTXTargetInfo, LLVMInitializeNVPTXTargetMC};
use inkwell::llvm_sys::target_machine::*;
use inkwell::module::Module;

use crate::PassError;
use crate::ir::{self, Value};
use crate::pipeline::{run_llvm, run_llvm_for};

/// High word of a generic pointer to local memory.
pub const LOCAL_APERTURE: u32 = 0x8000_0003;
/// High word of a generic pointer to private memory.
pub const PRIVATE_APERTURE: u32 = 0x8000_0005;
/// Address space of pointers that are known to be private.
pub const PRIVATE: u32 = 5;

/// What to do after the casts are gone.
const CLEAN_UP: &str = "function(sroa,early-cse,instcombine<no-verify-fixpoint>,simplifycfg)";

/// Lowers what is left of generic pointers after inlining.
///
/// # Errors
/// LLVM's message.
pub fn lower(module: &Module) -> Result<(), PassError> {
    let bodies = || module.get_functions().filter(|f| f.count_basic_blocks() > 0).map(Value::of);
    if !bodies().any(|f| Sources::of(f).any() || !queries(f).is_empty() || !generic_accesses(f, false).is_empty()) {
        return Ok(());
    }
    infer(module)?;
    run_llvm(module, CLEAN_UP)?;
    // A copy between two generic pointers takes two rounds.
    for _ in 0..3 {
        let mut changed = false;
        for function in bodies().collect::<Vec<_>>() {
            let sources = Sources::of(function);
            for call in queries(function) {
                Lowering { module, sources }.query(call);
                changed = true;
            }
            for (access, operand, private) in generic_accesses(function, sources.any()) {
                let sources = if private { Sources { private: true, ..Sources::default() } } else { sources };
                Lowering { module, sources }.access(access, operand);
                changed = true;
            }
        }
        if !changed {
            break;
        }
        run_llvm(module, "always-inline,globaldce,function(early-cse)")?;
    }
    Ok(())
}

/// Runs LLVM's address-space inference as for the NVPTX target, whose address spaces these are.
fn infer(module: &Module) -> Result<(), PassError> {
    let fail = |what: &str| PassError::Llvm(format!("{what}: LLVM has no NVPTX target, which generic pointers need"));
    // SAFETY: initialisation may be repeated; the target machine is disposed of after its only use.
    unsafe {
        LLVMInitializeNVPTXTargetInfo();
        LLVMInitializeNVPTXTarget();
        LLVMInitializeNVPTXTargetMC();
        let triple = c"nvptx64--";
        let mut target = std::ptr::null_mut();
        let mut message = std::ptr::null_mut();
        if LLVMGetTargetFromTriple(triple.as_ptr(), &mut target, &mut message) != 0 {
            let text = std::ffi::CStr::from_ptr(message).to_string_lossy().into_owned();
            LLVMDisposeMessage(message);
            return Err(fail(&text));
        }
        let machine = LLVMCreateTargetMachine(
            target,
            triple.as_ptr(),
            c"".as_ptr(),
            c"".as_ptr(),
            LLVMCodeGenOptLevel::LLVMCodeGenLevelDefault,
            LLVMRelocMode::LLVMRelocDefault,
            LLVMCodeModel::LLVMCodeModelDefault,
        );
        if machine.is_null() {
            return Err(fail("creating the target machine"));
        }
        let result = run_llvm_for(module, "function(infer-address-spaces)", machine);
        LLVMDisposeTargetMachine(machine);
        result
    }
}

/// Where generic pointers of a function may come from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Sources {
    global: bool,
    local: bool,
    private: bool,
}

impl Sources {
    fn of(function: Value) -> Sources {
        let mut s = Sources::default();
        let blocks = ir::blocks(function);
        for i in blocks.iter().flat_map(|b| b.instructions()) {
            match i.opcode() {
                LLVMAlloca => s.private = true,
                LLVMAddrSpaceCast if i.address_space() == 0 => s.cast(i.operand(0).address_space()),
                LLVMIntToPtr if i.address_space() == 0 => s.all(),
                // Memory that other work-items, or initialisers, may have put pointers in.
                LLVMLoad if is_generic(i) && i.operand(0).address_space() != 0 => s.all(),
                _ => {}
            }
            for operand in i.operands() {
                s.constant(operand, 0);
            }
        }
        s.private |= ir::params(function).iter().any(|p| is_generic(*p));
        s
    }

    fn cast(&mut self, from: u32) {
        match from {
            1 | 4 => self.global = true,
            3 => self.local = true,
            _ => {}
        }
    }

    fn all(&mut self) {
        (self.global, self.local) = (true, true);
    }

    /// Casts in constant expressions.
    fn constant(&mut self, c: Value, depth: u32) {
        // SAFETY: reads constants of a live module.
        unsafe {
            if depth > 8 || LLVMIsAConstantExpr(c.0).is_null() {
                return;
            }
            match LLVMGetConstOpcode(c.0) {
                LLVMAddrSpaceCast if is_generic(c) => self.cast(c.operand(0).address_space()),
                LLVMIntToPtr if is_generic(c) => self.all(),
                _ => {}
            }
            (0..c.operand_count()).for_each(|i| self.constant(c.operand(i), depth + 1));
        }
    }

    /// Whether some pointer in space 0 may not be private.
    fn any(self) -> bool {
        self.global || self.local
    }
}

fn is_generic(v: Value) -> bool {
    v.type_kind() == LLVMPointerTypeKind && v.address_space() == 0
}

/// Accesses whose pointer may point elsewhere than into private memory, with the operand's number; and atomics on private memory. `any`: whether
/// there are generic pointers at all.
fn generic_accesses(function: Value, any: bool) -> Vec<(Value, u32, bool)> {
    let mut result = Vec::new();
    for block in ir::blocks(function) {
        for i in block.instructions() {
            let operands: &[u32] = match i.opcode() {
                LLVMLoad | LLVMAtomicRMW | LLVMAtomicCmpXchg => &[0],
                LLVMStore => &[1],
                LLVMCall => match i.called_function().map(Value::name).unwrap_or_default() {
                    n if n.starts_with("llvm.memcpy.") || n.starts_with("llvm.memmove.") => &[0, 1],
                    n if n.starts_with("llvm.memset.") => &[0],
                    _ => &[],
                },
                _ => &[],
            };
            let atomic = matches!(i.opcode(), LLVMAtomicRMW | LLVMAtomicCmpXchg);
            for k in operands.iter().filter(|k| is_generic(i.operand(**k))) {
                let private = !any || is_private(i.operand(*k));
                if atomic || !private {
                    result.push((i, *k, private));
                    break;
                }
            }
        }
    }
    result
}

/// Whether a pointer points to a private variable whichever way it was chosen.
fn is_private(pointer: Value) -> bool {
    let mut seen = HashSet::new();
    let mut stack = vec![pointer];
    while let Some(p) = stack.pop() {
        if !seen.insert(p) {
            continue;
        }
        if p.is_instruction() {
            match p.opcode() {
                LLVMAlloca => {}
                LLVMGetElementPtr | LLVMBitCast | LLVMFreeze => stack.push(p.operand(0)),
                LLVMSelect => stack.extend([p.operand(1), p.operand(2)]),
                LLVMPHI => stack.extend(p.incoming().map(|(v, _)| v)),
                _ => return false,
            }
            continue;
        }
        // SAFETY: reads a live value.
        let nowhere = unsafe { LLVMIsNull(p.0) != 0 || LLVMIsUndef(p.0) != 0 };
        // By-value structures are private copies.
        if !nowhere && !p.is_argument() {
            return false;
        }
    }
    true
}

/// The space of the pointer that a pointer is a cast of, through constant and other address arithmetic.
fn cast_from(mut p: Value) -> Option<u32> {
    for _ in 0..16 {
        // SAFETY: reads a live value.
        let opcode = unsafe {
            match (p.is_instruction(), LLVMIsAConstantExpr(p.0).is_null()) {
                (true, _) => p.opcode(),
                (_, false) => LLVMGetConstOpcode(p.0),
                _ => return None,
            }
        };
        match opcode {
            LLVMGetElementPtr | LLVMBitCast => p = p.operand(0),
            LLVMAddrSpaceCast => return Some(p.operand(0).address_space()).filter(|s| matches!(s, 1 | 3)),
            _ => return None,
        }
    }
    None
}

/// Calls of the functions that ask where a generic pointer points.
fn queries(function: Value) -> Vec<Value> {
    let asks = |i: &Value| i.opcode() == LLVMCall && i.called_function().is_some_and(|f| QUERIES.contains(&f.name().as_str()));
    ir::blocks(function).iter().flat_map(|b| b.instructions().filter(asks).collect::<Vec<_>>()).collect()
}

const QUERIES: [&str; 5] = ["__to_global", "__to_local", "__to_private", "_Z9get_fencePv", "_Z9get_fencePKv"];

struct Lowering<'a, 'ctx> {
    module: &'a Module<'ctx>,
    sources: Sources,
}

/// A space and how to know it.
const SPACES: [(u32, Option<u32>); 3] = [(3, Some(LOCAL_APERTURE)), (PRIVATE, Some(PRIVATE_APERTURE)), (1, None)];

// SAFETY (all of it): values, types and blocks belong to the live module; builders are disposed of where they are made.
impl Lowering<'_, '_> {
    fn context(&self) -> LLVMContextRef {
        unsafe { LLVMGetModuleContext(self.module.as_mut_ptr()) }
    }

    /// The high word of a generic pointer.
    unsafe fn high(&self, b: LLVMBuilderRef, pointer: LLVMValueRef) -> LLVMValueRef {
        unsafe {
            let long = LLVMInt64TypeInContext(self.context());
            let word = LLVMInt32TypeInContext(self.context());
            let bits = LLVMBuildPtrToInt(b, pointer, long, c"".as_ptr());
            let high = LLVMBuildLShr(b, bits, LLVMConstInt(long, 32, 0), c"".as_ptr());
            LLVMBuildTrunc(b, high, word, c"".as_ptr())
        }
    }

    unsafe fn is_in(&self, b: LLVMBuilderRef, high: LLVMValueRef, aperture: u32) -> LLVMValueRef {
        unsafe {
            let word = LLVMInt32TypeInContext(self.context());
            LLVMBuildICmp(b, LLVMIntEQ, high, LLVMConstInt(word, aperture.into(), 0), c"".as_ptr())
        }
    }

    /// `to_global(p)` and its like.
    fn query(&self, call: Value) {
        let name = call.called_function().map(Value::name).unwrap_or_default();
        let pointer = call.operand(0);
        unsafe {
            let b = LLVMCreateBuilderInContext(self.context());
            LLVMPositionBuilderBefore(b, call.0);
            LLVMSetCurrentDebugLocation2(b, LLVMInstructionGetDebugLoc(call.0));
            let high = self.high(b, pointer.0);
            let (local, private) = (self.is_in(b, high, LOCAL_APERTURE), self.is_in(b, high, PRIVATE_APERTURE));
            let null = LLVMConstNull(call.ty());
            let select = |c, x, y| LLVMBuildSelect(b, c, x, y, c"".as_ptr());
            let result = match name.as_str() {
                "__to_global" => {
                    let cast = LLVMBuildAddrSpaceCast(b, pointer.0, call.ty(), c"".as_ptr());
                    select(LLVMBuildOr(b, local, private, c"".as_ptr()), null, cast)
                }
                "__to_local" => select(local, LLVMBuildAddrSpaceCast(b, pointer.0, call.ty(), c"".as_ptr()), null),
                "__to_private" => select(private, pointer.0, null),
                // CLK_LOCAL_MEM_FENCE is 1, CLK_GLOBAL_MEM_FENCE 2; private memory needs none.
                _ => {
                    let flags = |n| LLVMConstInt(call.ty(), n, 0);
                    select(local, flags(1), select(private, flags(0), flags(2)))
                }
            };
            LLVMReplaceAllUsesWith(call.0, result);
            LLVMInstructionEraseFromParent(call.0);
            LLVMDisposeBuilder(b);
        }
    }

    /// Replaces an access by a call of a function that makes it in the space of the pointer.
    fn access(&self, access: Value, pointer: u32) {
        // Inference leaves volatile atomics alone, also where the cast stands before them.
        let known = cast_from(access.operand(pointer));
        let spaces: Vec<(u32, Option<u32>)> = SPACES
            .into_iter()
            .filter(|(space, _)| known.is_none_or(|k| k == *space))
            .filter(|(space, _)| match *space {
                1 => self.sources.global,
                3 => self.sources.local,
                _ => self.sources.private,
            })
            .collect();
        unsafe {
            let context = self.context();
            let count = access.operand_count() - u32::from(access.opcode() == LLVMCall);
            // What is not constant becomes a parameter, the pointer in any case.
            let passed: Vec<u32> = (0..count).filter(|i| *i == pointer || !access.operand(*i).is_constant()).collect();
            let mut types: Vec<LLVMTypeRef> = passed.iter().map(|i| access.operand(*i).ty()).collect();
            let ty = LLVMFunctionType(access.ty(), types.as_mut_ptr(), types.len() as u32, 0);
            let name = CString::new("__heddle_generic").unwrap_or_default();
            let f = LLVMAddFunction(self.module.as_mut_ptr(), name.as_ptr(), ty);
            LLVMSetLinkage(f, inkwell::llvm_sys::LLVMLinkage::LLVMInternalLinkage);
            let always = Attribute::get_named_enum_kind_id("alwaysinline");
            // The index of the function itself.
            LLVMAddAttributeAtIndex(f, u32::MAX, LLVMCreateEnumAttribute(context, always, 0));
            let b = LLVMCreateBuilderInContext(context);
            let block = |name: &std::ffi::CStr| LLVMAppendBasicBlockInContext(context, f, name.as_ptr());
            let mut here = block(c"entry");
            let end = block(c"end");
            let at = |i: u32| passed.iter().position(|p| *p == i).map(|k| LLVMGetParam(f, k as u32));
            let generic = at(pointer).unwrap_or(access.operand(pointer).0);
            LLVMPositionBuilderAtEnd(b, here);
            let high = if spaces.len() > 1 { Some(self.high(b, generic)) } else { None };
            let mut results = Vec::new();
            for (k, (space, aperture)) in spaces.iter().enumerate() {
                LLVMPositionBuilderAtEnd(b, here);
                if let (Some(high), Some(aperture), true) = (high, aperture, k + 1 < spaces.len()) {
                    let name = if *space == 3 { c"local" } else { c"private" };
                    let (inside, next) = (block(name), block(c"other"));
                    LLVMBuildCondBr(b, self.is_in(b, high, *aperture), inside, next);
                    LLVMPositionBuilderAtEnd(b, inside);
                    here = next;
                }
                let specific = LLVMBuildAddrSpaceCast(b, generic, LLVMPointerTypeInContext(context, *space), c"".as_ptr());
                let value = self.access_in(b, access, pointer, specific, &at, *space);
                results.push((value, LLVMGetInsertBlock(b)));
                LLVMBuildBr(b, end);
            }
            LLVMPositionBuilderAtEnd(b, end);
            if access.is_void() {
                LLVMBuildRetVoid(b);
            } else {
                let phi = LLVMBuildPhi(b, access.ty(), c"".as_ptr());
                for (mut value, mut from) in results {
                    LLVMAddIncoming(phi, &mut value, &mut from, 1);
                }
                LLVMBuildRet(b, phi);
            }
            LLVMPositionBuilderBefore(b, access.0);
            let mut arguments: Vec<LLVMValueRef> = passed.iter().map(|i| access.operand(*i).0).collect();
            let call = LLVMBuildCall2(b, ty, f, arguments.as_mut_ptr(), arguments.len() as u32, c"".as_ptr());
            LLVMInstructionSetDebugLoc(call, LLVMInstructionGetDebugLoc(access.0));
            if !access.is_void() {
                LLVMReplaceAllUsesWith(access.0, call);
            }
            LLVMInstructionEraseFromParent(access.0);
            LLVMDisposeBuilder(b);
        }
    }

    /// The access through a pointer of a known space.
    unsafe fn access_in(
        &self,
        b: LLVMBuilderRef,
        access: Value,
        pointer: u32,
        specific: LLVMValueRef,
        at: &dyn Fn(u32) -> Option<LLVMValueRef>,
        space: u32,
    ) -> LLVMValueRef {
        let operand = |i: u32| if i == pointer { specific } else { at(i).unwrap_or(access.operand(i).0) };
        unsafe {
            match access.opcode() {
                LLVMCall => {
                    let callee = access.called_function().map_or(std::ptr::null_mut(), |f| f.0);
                    let id = LLVMGetIntrinsicID(callee);
                    let copies = access.operand_count() == 5;
                    let mut arguments: Vec<LLVMValueRef> = (0..4).map(operand).collect();
                    let overloaded: &[usize] = if copies { &[0, 1, 2] } else { &[0, 2] };
                    let mut types: Vec<LLVMTypeRef> = overloaded.iter().map(|i| LLVMTypeOf(arguments[*i])).collect();
                    let f = LLVMGetIntrinsicDeclaration(self.module.as_mut_ptr(), id, types.as_mut_ptr(), types.len());
                    let call = LLVMBuildCall2(b, LLVMGlobalGetValueType(f), f, arguments.as_mut_ptr(), 4, c"".as_ptr());
                    copy_alignments(access.0, call, if copies { 2 } else { 1 });
                    call
                }
                LLVMAtomicRMW if space == PRIVATE => {
                    let ty = access.ty();
                    let old = LLVMBuildLoad2(b, ty, specific, c"".as_ptr());
                    let new = updated(b, LLVMGetAtomicRMWBinOp(access.0), old, operand(1));
                    LLVMBuildStore(b, new, specific);
                    old
                }
                LLVMAtomicCmpXchg if space == PRIVATE => {
                    let old = LLVMBuildLoad2(b, access.operand(1).ty(), specific, c"".as_ptr());
                    let same = LLVMBuildICmp(b, LLVMIntEQ, old, operand(1), c"".as_ptr());
                    LLVMBuildStore(b, LLVMBuildSelect(b, same, operand(2), old, c"".as_ptr()), specific);
                    let result = LLVMBuildInsertValue(b, LLVMGetUndef(access.ty()), old, 0, c"".as_ptr());
                    LLVMBuildInsertValue(b, result, same, 1, c"".as_ptr())
                }
                _ => {
                    let clone = LLVMInstructionClone(access.0);
                    LLVMInstructionSetDebugLoc(clone, std::ptr::null_mut());
                    for i in 0..access.operand_count() {
                        LLVMSetOperand(clone, i, operand(i));
                    }
                    LLVMInsertIntoBuilder(b, clone);
                    clone
                }
            }
        }
    }
}

/// What an atomic operation leaves in memory.
///
/// # Safety
/// The values belong to the builder's function.
unsafe fn updated(
    b: LLVMBuilderRef,
    op: inkwell::llvm_sys::LLVMAtomicRMWBinOp,
    old: LLVMValueRef,
    v: LLVMValueRef,
) -> LLVMValueRef {
    unsafe {
        let n = c"".as_ptr();
        let chosen = |predicate| LLVMBuildSelect(b, LLVMBuildICmp(b, predicate, old, v, n), old, v, n);
        let float = |predicate| LLVMBuildSelect(b, LLVMBuildFCmp(b, predicate, old, v, n), old, v, n);
        use inkwell::llvm_sys::LLVMRealPredicate::{LLVMRealOGT, LLVMRealOLT};
        match op {
            LLVMAtomicRMWBinOpXchg => v,
            LLVMAtomicRMWBinOpAdd => LLVMBuildAdd(b, old, v, n),
            LLVMAtomicRMWBinOpSub => LLVMBuildSub(b, old, v, n),
            LLVMAtomicRMWBinOpAnd => LLVMBuildAnd(b, old, v, n),
            LLVMAtomicRMWBinOpNand => LLVMBuildNot(b, LLVMBuildAnd(b, old, v, n), n),
            LLVMAtomicRMWBinOpOr => LLVMBuildOr(b, old, v, n),
            LLVMAtomicRMWBinOpXor => LLVMBuildXor(b, old, v, n),
            LLVMAtomicRMWBinOpMax => chosen(LLVMIntSGT),
            LLVMAtomicRMWBinOpMin => chosen(LLVMIntSLT),
            LLVMAtomicRMWBinOpUMax => chosen(LLVMIntUGT),
            LLVMAtomicRMWBinOpUMin => chosen(LLVMIntULT),
            LLVMAtomicRMWBinOpFAdd => LLVMBuildFAdd(b, old, v, n),
            LLVMAtomicRMWBinOpFSub => LLVMBuildFSub(b, old, v, n),
            LLVMAtomicRMWBinOpFMax => float(LLVMRealOGT),
            LLVMAtomicRMWBinOpFMin => float(LLVMRealOLT),
            LLVMAtomicRMWBinOpUIncWrap => {
                let ty = LLVMTypeOf(v);
                let more = LLVMBuildAdd(b, old, LLVMConstInt(ty, 1, 0), n);
                LLVMBuildSelect(b, LLVMBuildICmp(b, LLVMIntUGE, old, v, n), LLVMConstInt(ty, 0, 0), more, n)
            }
            LLVMAtomicRMWBinOpUDecWrap => {
                let ty = LLVMTypeOf(v);
                let less = LLVMBuildSub(b, old, LLVMConstInt(ty, 1, 0), n);
                let zero = LLVMBuildICmp(b, LLVMIntEQ, old, LLVMConstInt(ty, 0, 0), n);
                let above = LLVMBuildICmp(b, LLVMIntUGT, old, v, n);
                LLVMBuildSelect(b, LLVMBuildOr(b, zero, above, n), v, less, n)
            }
        }
    }
}

/// Copies the alignments of a call's first arguments to another call.
///
/// # Safety
/// Both are live calls.
unsafe fn copy_alignments(from: LLVMValueRef, to: LLVMValueRef, arguments: u32) {
    unsafe {
        let kind = LLVMGetEnumAttributeKindForName(c"align".as_ptr(), 5);
        for i in 1..=arguments {
            let attribute = LLVMGetCallSiteEnumAttribute(from, i, kind);
            if !attribute.is_null() {
                LLVMAddCallSiteAttribute(to, i, attribute);
            }
        }
    }
}
