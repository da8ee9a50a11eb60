//! Lowering of generic pointers: accesses through pointers of which only the run shows where they
//! point.
//!
//! # Problem
//! In `nvptx64` IR, address space 0 is that of private variables and of generic pointers alike. The
//! machine has separate instructions for private, local and global memory, and no generic ones.
//! [`crate::ir::address_space`] has the format of generic pointers.
//!
//! # Algorithm
//! 1. Nothing happens to modules without generic pointers. Those in structures that a kernel is given by value are global.
//! 2. LLVM's `InferAddressSpaces` (with the NVPTX target's description of address spaces) takes
//!    back the casts, which settles nearly all pointers once everything is inlined.
//! 3. What is left is compared with the apertures: each access becomes a call of a function that
//!    branches on the high word and accesses memory in the space found (5 stands for private
//!    memory). Spaces that no pointer of the kernel is converted from are left out. The functions
//!    are inlined at once, so uniformity and cache analyses see ordinary accesses in ordinary
//!    control flow.
//! 4. `to_global`, `to_local`, `to_private` and `get_fence` become comparisons.
//!
//! On private memory, atomics are plain accesses: nobody else has the address.
//!
//! # Reference
//! OpenCL C 3.0, 6.7.5 and 6.15.7.

use std::collections::HashSet;

use inkwell::llvm_sys::LLVMAtomicRMWBinOp;
use inkwell::llvm_sys::LLVMAtomicRMWBinOp::*;
use inkwell::llvm_sys::LLVMIntPredicate::*;
use inkwell::llvm_sys::LLVMOpcode::*;
use inkwell::llvm_sys::LLVMRealPredicate::{LLVMRealOGT, LLVMRealOLT};
use inkwell::llvm_sys::LLVMTypeKind::*;
use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::debuginfo::{LLVMInstructionGetDebugLoc, LLVMInstructionSetDebugLoc};
use inkwell::llvm_sys::prelude::*;
use inkwell::module::Module;

use crate::error::PassError;
use crate::ir::address_space::{CONSTANT, GENERIC, GLOBAL, LOCAL, LOCAL_APERTURE, PRIVATE, PRIVATE_APERTURE};
use crate::ir::build::{Builder, UNNAMED, append_block, context_of, inlined_function, replace_by_call};
use crate::ir::{self, Value, function, is_kernel, llvm_passes};

/// What to do after the casts are gone.
const CLEAN_UP: &str = "function(sroa,early-cse,instcombine<no-verify-fixpoint>,simplifycfg)";

/// More constant expressions in each other, and more steps of address arithmetic, than real code
/// has.
const MOST_DEPTH: u32 = 8;
const MOST_STEPS: usize = 16;

/// Lowers what is left of generic pointers after inlining.
///
/// # Errors
/// LLVM's message.
pub fn lower(module: &Module) -> Result<(), PassError> {
    function::bodies(module).into_iter().filter(|f| is_kernel(*f)).for_each(|f| cast_pointers_of_host(module, f));
    let concerns = |f| Sources::of(f).any() || !queries(f).is_empty() || !generic_accesses(f, false).is_empty();
    if !function::bodies(module).into_iter().any(concerns) {
        return Ok(());
    }
    llvm_passes::infer_address_spaces(module)?;
    llvm_passes::run(module, CLEAN_UP)?;
    // A copy between two generic pointers takes two rounds.
    for _ in 0..3 {
        let mut changed = false;
        for function in function::bodies(module) {
            changed |= lower_function(module, function);
        }
        if !changed {
            break;
        }
        llvm_passes::run(module, "always-inline,globaldce,function(early-cse)")?;
    }
    Ok(())
}

/// Casts pointers that a kernel loads from structures it is given by value to global memory and back: they come from the host,
/// which has no others (as LLVM's NVPTXLowerArgs takes them).
fn cast_pointers_of_host(module: &Module, kernel: Value) {
    let structures = ir::params(kernel).into_iter().enumerate();
    let given = structures.filter(|(i, _)| function::by_value_type(kernel, *i as u32).is_some()).map(|(_, p)| p);
    let mut places: Vec<Value> = given.collect();
    let mut loads = Vec::new();
    while let Some(place) = places.pop() {
        for user in place.users().filter(|u| u.is_instruction()) {
            match user.opcode() {
                LLVMGetElementPtr if user.operand(0) == place => places.push(user),
                LLVMLoad if is_generic(user) => loads.push(user),
                _ => {}
            }
        }
    }
    let context = context_of(module);
    for load in loads {
        // SAFETY: a live load, which has an instruction behind it, before which the builder stands.
        unsafe {
            let b = Builder::before(context, Value(LLVMGetNextInstruction(load.0)));
            let global = LLVMBuildAddrSpaceCast(b.0, load.0, LLVMPointerTypeInContext(context, GLOBAL), UNNAMED);
            let generic = LLVMBuildAddrSpaceCast(b.0, global, load.ty(), UNNAMED);
            LLVMReplaceAllUsesWith(load.0, generic);
            LLVMSetOperand(global, 0, load.0);
        }
    }
}

/// Lowers the queries of a function and one generic pointer of each of its accesses; whether there
/// were any.
fn lower_function(module: &Module, function: Value) -> bool {
    let sources = Sources::of(function);
    let context = context_of(module);
    let queries = queries(function);
    queries.iter().for_each(|call| lower_query(context, *call));
    let accesses = generic_accesses(function, sources.any());
    for access in &accesses {
        let sources = if access.private { Sources { private: true, ..Sources::default() } } else { sources };
        let spaces = sources.spaces_of(access.instruction.operand(access.pointer));
        AccessLowering { module, context, access: access.instruction, pointer: access.pointer }.lower(&spaces);
    }
    !queries.is_empty() || !accesses.is_empty()
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
                LLVMAddrSpaceCast if i.address_space() == GENERIC => s.add_cast_from(i.operand(0).address_space()),
                LLVMIntToPtr if i.address_space() == GENERIC => s.add_shared(),
                // Memory that other work-items, or initialisers, may have put pointers in.
                LLVMLoad if is_generic(i) && i.operand(0).address_space() != GENERIC => s.add_shared(),
                _ => {}
            }
            for operand in i.operands() {
                s.add_constant(operand, 0);
            }
        }
        s.private |= ir::params(function).iter().any(|p| is_generic(*p));
        // Copies of structures with pointers of the host, where they are not seen to come from there.
        let given = (0..ir::params(function).len()).filter_map(|i| function::by_value_type(function, i as u32));
        s.global |= is_kernel(function) && given.into_iter().any(has_pointers);
        s
    }

    fn add_cast_from(&mut self, space: u32) {
        match space {
            GLOBAL | CONSTANT => self.global = true,
            LOCAL => self.local = true,
            _ => {}
        }
    }

    /// Pointers that may be to whatever work-items share.
    fn add_shared(&mut self) {
        (self.global, self.local) = (true, true);
    }

    /// Casts in constant expressions.
    fn add_constant(&mut self, constant: Value, depth: u32) {
        let Some(opcode) = constant.constant_opcode().filter(|_| depth <= MOST_DEPTH) else { return };
        match opcode {
            LLVMAddrSpaceCast if is_generic(constant) => self.add_cast_from(constant.operand(0).address_space()),
            LLVMIntToPtr if is_generic(constant) => self.add_shared(),
            _ => {}
        }
        constant.operands().for_each(|operand| self.add_constant(operand, depth + 1));
    }

    /// Whether some pointer in space 0 may not be private.
    fn any(self) -> bool {
        self.global || self.local
    }

    /// The spaces that a pointer may be of, in the order in which they are tested.
    fn spaces_of(self, pointer: Value) -> Vec<Space> {
        // Inference leaves volatile atomics alone, also where the cast stands before them.
        let known = cast_from(pointer);
        let possible = |space: &Space| match space.number {
            GLOBAL => self.global,
            LOCAL => self.local,
            _ => self.private,
        };
        SPACES.into_iter().filter(|s| known.is_none_or(|k| k == s.number)).filter(possible).collect()
    }
}

/// An address space, the high word of generic pointers to it (`None`: any other), and the name of
/// the block that accesses it.
#[derive(Clone, Copy)]
struct Space {
    number: u32,
    aperture: Option<u32>,
    block: &'static std::ffi::CStr,
}

/// The spaces that a generic pointer may be of.
const SPACES: [Space; 3] = [
    Space { number: LOCAL, aperture: Some(LOCAL_APERTURE), block: c"local" },
    Space { number: PRIVATE, aperture: Some(PRIVATE_APERTURE), block: c"private" },
    Space { number: GLOBAL, aperture: None, block: c"global" },
];

fn is_generic(v: Value) -> bool {
    v.type_kind() == LLVMPointerTypeKind && v.address_space() == GENERIC
}

/// Whether a type has pointers in it.
fn has_pointers(ty: LLVMTypeRef) -> bool {
    // SAFETY: a live type, of which the elements that it has are asked for.
    unsafe {
        match LLVMGetTypeKind(ty) {
            LLVMPointerTypeKind => true,
            LLVMStructTypeKind => (0..LLVMCountStructElementTypes(ty)).any(|i| has_pointers(LLVMStructGetTypeAtIndex(ty, i))),
            LLVMArrayTypeKind | LLVMVectorTypeKind => has_pointers(LLVMGetElementType(ty)),
            _ => false,
        }
    }
}

/// An access to lower.
struct GenericAccess {
    instruction: Value,
    /// Number of the operand that is the generic pointer.
    pointer: u32,
    /// The pointer is private for certain.
    private: bool,
}

/// Accesses whose pointer may point elsewhere than into private memory, and atomics on private
/// memory. `any`: whether there are generic pointers at all.
fn generic_accesses(function: Value, any: bool) -> Vec<GenericAccess> {
    let mut result = Vec::new();
    for i in ir::blocks(function).iter().flat_map(|b| b.instructions()) {
        let pointers: &[u32] = match i.opcode() {
            LLVMLoad | LLVMAtomicRMW | LLVMAtomicCmpXchg => &[0],
            LLVMStore => &[1],
            LLVMCall => match i.called_name() {
                n if n.starts_with("llvm.memcpy.") || n.starts_with("llvm.memmove.") => &[0, 1],
                n if n.starts_with("llvm.memset.") => &[0],
                _ => &[],
            },
            _ => &[],
        };
        let atomic = matches!(i.opcode(), LLVMAtomicRMW | LLVMAtomicCmpXchg);
        let access = pointers
            .iter()
            .filter(|k| is_generic(i.operand(**k)))
            .map(|k| GenericAccess { instruction: i, pointer: *k, private: !any || is_private(i.operand(*k)) })
            .find(|a| atomic || !a.private);
        result.extend(access);
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
        // By-value structures are private copies; null points nowhere.
        } else if !p.is_null() && !p.is_undefined() && !p.is_argument() {
            return false;
        }
    }
    true
}

/// The space of the pointer that a pointer is a cast of, through constant and other address
/// arithmetic.
fn cast_from(mut pointer: Value) -> Option<u32> {
    for _ in 0..MOST_STEPS {
        match pointer.any_opcode()? {
            LLVMGetElementPtr | LLVMBitCast => pointer = pointer.operand(0),
            LLVMAddrSpaceCast => return Some(pointer.operand(0).address_space()).filter(|s| matches!(*s, GLOBAL | LOCAL)),
            _ => return None,
        }
    }
    None
}

/// Calls of the functions that ask where a generic pointer points.
fn queries(function: Value) -> Vec<Value> {
    let is_query = |i: &Value| i.opcode() == LLVMCall && QUERIES.contains(&i.called_name().as_str());
    ir::blocks(function).iter().flat_map(|b| b.instructions()).filter(is_query).collect()
}

const QUERIES: [&str; 5] = ["__to_global", "__to_local", "__to_private", "_Z9get_fencePv", "_Z9get_fencePKv"];

/// The high word of a generic pointer.
///
/// # Safety
/// The builder stands where the pointer is defined.
unsafe fn high_word(context: LLVMContextRef, b: &Builder, pointer: LLVMValueRef) -> LLVMValueRef {
    // SAFETY: the caller's promise.
    unsafe {
        let (word, long) = (LLVMInt32TypeInContext(context), LLVMInt64TypeInContext(context));
        let bits = LLVMBuildPtrToInt(b.0, pointer, long, UNNAMED);
        let high = LLVMBuildLShr(b.0, bits, LLVMConstInt(long, 32, 0), UNNAMED);
        LLVMBuildTrunc(b.0, high, word, UNNAMED)
    }
}

/// Whether a high word is an aperture.
///
/// # Safety
/// The builder stands where the high word, of 32 bits, is defined.
unsafe fn is_aperture(b: &Builder, high: LLVMValueRef, aperture: u32) -> LLVMValueRef {
    // SAFETY: the caller's promise.
    unsafe { LLVMBuildICmp(b.0, LLVMIntEQ, high, LLVMConstInt(LLVMTypeOf(high), aperture.into(), 0), UNNAMED) }
}

/// Puts comparisons in the place of `to_global(p)` and its like.
fn lower_query(context: LLVMContextRef, call: Value) {
    let name = call.called_name();
    let pointer = call.operand(0).0;
    let b = Builder::before(context, call);
    // SAFETY: a live call with a generic pointer, before which the builder stands; nothing uses the
    // call when it is erased.
    unsafe {
        LLVMSetCurrentDebugLocation2(b.0, LLVMInstructionGetDebugLoc(call.0));
        let high = high_word(context, &b, pointer);
        let (local, private) = (is_aperture(&b, high, LOCAL_APERTURE), is_aperture(&b, high, PRIVATE_APERTURE));
        let null = LLVMConstNull(call.ty());
        let select = |c, x, y| LLVMBuildSelect(b.0, c, x, y, UNNAMED);
        let result = match name.as_str() {
            "__to_global" => {
                let cast = LLVMBuildAddrSpaceCast(b.0, pointer, call.ty(), UNNAMED);
                select(LLVMBuildOr(b.0, local, private, UNNAMED), null, cast)
            }
            "__to_local" => select(local, LLVMBuildAddrSpaceCast(b.0, pointer, call.ty(), UNNAMED), null),
            "__to_private" => select(private, pointer, null),
            // CLK_LOCAL_MEM_FENCE is 1, CLK_GLOBAL_MEM_FENCE 2; private memory needs none.
            _ => {
                let flags = |n| LLVMConstInt(call.ty(), n, 0);
                select(local, flags(1), select(private, flags(0), flags(2)))
            }
        };
        LLVMReplaceAllUsesWith(call.0, result);
        LLVMInstructionEraseFromParent(call.0);
    }
}

/// Lowers an access to a function that makes it in the space of its pointer.
struct AccessLowering<'a, 'ctx> {
    module: &'a Module<'ctx>,
    context: LLVMContextRef,
    access: Value,
    /// Number of the operand that is the pointer.
    pointer: u32,
}

impl AccessLowering<'_, '_> {
    /// Puts a call in the place of the access.
    fn lower(&self, spaces: &[Space]) {
        let access = self.access;
        let count = access.operand_count() - u32::from(access.opcode() == LLVMCall);
        // What is not constant becomes a parameter, the pointer in any case.
        let passed: Vec<u32> = (0..count).filter(|i| *i == self.pointer || !access.operand(*i).is_constant()).collect();
        let mut types: Vec<LLVMTypeRef> = passed.iter().map(|i| access.operand(*i).ty()).collect();
        let f = inlined_function(self.module, "__heddle_generic", access.ty(), &mut types);
        let mut operands: Vec<LLVMValueRef> = access.operands().map(|o| o.0).collect();
        for (parameter, i) in passed.iter().enumerate() {
            // SAFETY: the function has a parameter for each operand passed.
            operands[*i as usize] = unsafe { LLVMGetParam(f, parameter as u32) };
        }
        self.build_body(f, spaces, &operands);
        let mut arguments: Vec<LLVMValueRef> = passed.iter().map(|i| access.operand(*i).0).collect();
        replace_by_call(self.context, access, f, &mut arguments);
    }

    /// Builds the function: a test of the high word for each space but the last, and the access in
    /// each. `operands` are those of the access in the function.
    fn build_body(&self, f: LLVMValueRef, spaces: &[Space], operands: &[LLVMValueRef]) {
        let b = Builder::new(self.context);
        let block = |name| append_block(self.context, f, name);
        let mut here = block(c"entry");
        let end = block(c"end");
        let generic = operands[self.pointer as usize];
        let mut results = Vec::new();
        // SAFETY: values, types and blocks belong to the live function; each block gets its
        // terminator here.
        unsafe {
            LLVMPositionBuilderAtEnd(b.0, here);
            let high = if spaces.len() > 1 { Some(high_word(self.context, &b, generic)) } else { None };
            for (k, space) in spaces.iter().enumerate() {
                LLVMPositionBuilderAtEnd(b.0, here);
                if let (Some(high), Some(aperture), true) = (high, space.aperture, k + 1 < spaces.len()) {
                    let (inside, next) = (block(space.block), block(c"other"));
                    LLVMBuildCondBr(b.0, is_aperture(&b, high, aperture), inside, next);
                    LLVMPositionBuilderAtEnd(b.0, inside);
                    here = next;
                }
                let pointer = LLVMPointerTypeInContext(self.context, space.number);
                let mut operands = operands.to_vec();
                operands[self.pointer as usize] = LLVMBuildAddrSpaceCast(b.0, generic, pointer, UNNAMED);
                let value = self.build_access(&b, &operands, space.number);
                results.push((value, LLVMGetInsertBlock(b.0)));
                LLVMBuildBr(b.0, end);
            }
            LLVMPositionBuilderAtEnd(b.0, end);
            if self.access.is_void() {
                LLVMBuildRetVoid(b.0);
            } else {
                let phi = LLVMBuildPhi(b.0, self.access.ty(), UNNAMED);
                for (mut value, mut from) in results {
                    LLVMAddIncoming(phi, &mut value, &mut from, 1);
                }
                LLVMBuildRet(b.0, phi);
            }
        }
    }

    /// The access with operands of which the pointer is of a known space.
    ///
    /// # Safety
    /// The builder stands where the operands are defined.
    unsafe fn build_access(&self, b: &Builder, operands: &[LLVMValueRef], space: u32) -> LLVMValueRef {
        let access = self.access;
        // SAFETY: the caller's promise; the live access says which operands there are.
        unsafe {
            match access.opcode() {
                LLVMCall => self.build_memory_intrinsic(b, operands),
                LLVMAtomicRMW if space == PRIVATE => {
                    let old = LLVMBuildLoad2(b.0, access.ty(), operands[0], UNNAMED);
                    let new = build_update(b, LLVMGetAtomicRMWBinOp(access.0), old, operands[1]);
                    LLVMBuildStore(b.0, new, operands[0]);
                    old
                }
                LLVMAtomicCmpXchg if space == PRIVATE => {
                    let old = LLVMBuildLoad2(b.0, access.operand(1).ty(), operands[0], UNNAMED);
                    let same = LLVMBuildICmp(b.0, LLVMIntEQ, old, operands[1], UNNAMED);
                    LLVMBuildStore(b.0, LLVMBuildSelect(b.0, same, operands[2], old, UNNAMED), operands[0]);
                    let result = LLVMBuildInsertValue(b.0, LLVMGetUndef(access.ty()), old, 0, UNNAMED);
                    LLVMBuildInsertValue(b.0, result, same, 1, UNNAMED)
                }
                _ => {
                    let clone = LLVMInstructionClone(access.0);
                    LLVMInstructionSetDebugLoc(clone, std::ptr::null_mut());
                    for (i, operand) in operands.iter().enumerate() {
                        LLVMSetOperand(clone, i as u32, *operand);
                    }
                    LLVMInsertIntoBuilder(b.0, clone);
                    clone
                }
            }
        }
    }

    /// A `memcpy`, `memmove` or `memset` like the access, overloaded for the operands' types.
    ///
    /// # Safety
    /// As for `build_access`.
    unsafe fn build_memory_intrinsic(&self, b: &Builder, operands: &[LLVMValueRef]) -> LLVMValueRef {
        let callee = self.access.called_function().map_or(std::ptr::null_mut(), |f| f.0);
        // `memset` has a byte where the others have the source.
        let copies = !self.access.called_name().starts_with("llvm.memset.");
        let overloaded: &[usize] = if copies { &[0, 1, 2] } else { &[0, 2] };
        let mut arguments = operands[..4].to_vec();
        // SAFETY: the caller's promise; the callee is the intrinsic that the live access calls.
        unsafe {
            let mut types: Vec<LLVMTypeRef> = overloaded.iter().map(|i| LLVMTypeOf(arguments[*i])).collect();
            let id = LLVMGetIntrinsicID(callee);
            let f = LLVMGetIntrinsicDeclaration(self.module.as_mut_ptr(), id, types.as_mut_ptr(), types.len());
            let call = LLVMBuildCall2(b.0, LLVMGlobalGetValueType(f), f, arguments.as_mut_ptr(), 4, UNNAMED);
            copy_alignments(self.access.0, call, if copies { 2 } else { 1 });
            call
        }
    }
}

/// What an atomic operation leaves in memory.
///
/// # Safety
/// The values belong to the builder's function.
unsafe fn build_update(b: &Builder, op: LLVMAtomicRMWBinOp, old: LLVMValueRef, v: LLVMValueRef) -> LLVMValueRef {
    let b = b.0;
    // SAFETY: the caller's promise.
    unsafe {
        let n = UNNAMED;
        let chosen = |predicate| LLVMBuildSelect(b, LLVMBuildICmp(b, predicate, old, v, n), old, v, n);
        let float = |predicate| LLVMBuildSelect(b, LLVMBuildFCmp(b, predicate, old, v, n), old, v, n);
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
    // SAFETY: the caller's promise.
    unsafe {
        let kind = function::attribute_kind("align");
        for i in 1..=arguments {
            let attribute = LLVMGetCallSiteEnumAttribute(from, i, kind);
            if !attribute.is_null() {
                LLVMAddCallSiteAttribute(to, i, attribute);
            }
        }
    }
}
