//! LLVM's builder in the terms of a warp: values that are the same in all lanes stay scalars of the host,
//! others are vectors of N elements.
//!
//! A thin layer over LLVM's C API. Every function here is a call of that API with values of this module's
//! context, which is what its `unsafe` blocks rely on.

use std::ffi::CString;

use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::prelude::*;
use inkwell::llvm_sys::{LLVMAtomicOrdering, LLVMAtomicRMWBinOp, LLVMIntPredicate, LLVMRealPredicate};

/// A value of the LLVM function.
pub type V = LLVMValueRef;
/// A basic block of the LLVM function.
pub type Block = LLVMBasicBlockRef;

/// A value of a warp.
#[derive(Clone, Copy)]
pub enum Val {
    /// The same in all lanes: a scalar.
    Same(V),
    /// A vector of N elements.
    Lanes(V),
}

/// Types of elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Elem {
    /// An integer of so many bits.
    I(u32),
    /// Half precision.
    F16,
    /// Single precision.
    F32,
    /// Double precision.
    F64,
}

impl Elem {
    /// Bytes of one.
    pub fn bytes(self) -> u32 {
        match self {
            Elem::I(bits) => bits.div_ceil(8),
            Elem::F16 => 2,
            Elem::F32 => 4,
            Elem::F64 => 8,
        }
    }
}

/// A builder for code about warps of `n` lanes.
pub struct Build {
    context: LLVMContextRef,
    module: LLVMModuleRef,
    b: LLVMBuilderRef,
    /// The alias scope of the warps' rows: no other access reads or writes them.
    rows: LLVMMetadataRef,
    /// Lanes of a warp.
    pub n: u32,
}

impl Drop for Build {
    fn drop(&mut self) {
        // SAFETY: created by `new`, disposed of once.
        unsafe { LLVMDisposeBuilder(self.b) };
    }
}

macro_rules! binary {
    ($($name:ident $f:ident;)*) => { $(
        #[doc = concat!("`", stringify!($f), "`.")]
        pub fn $name(&self, a: V, b: V) -> V {
            // SAFETY: the builder stands in a block of the function whose values these are.
            unsafe { $f(self.b, a, b, c"".as_ptr()) }
        }
    )* };
}

macro_rules! casts {
    ($($name:ident $f:ident;)*) => { $(
        #[doc = concat!("`", stringify!($f), "` of a scalar or a vector, by element type.")]
        pub fn $name(&self, a: Val, to: Elem) -> Val {
            match a {
                // SAFETY: the builder stands in a block of the function whose values these are.
                Val::Same(v) => Val::Same(unsafe { $f(self.b, v, self.elem(to), c"".as_ptr()) }),
                // SAFETY: the builder stands in a block of the function whose values these are.
                Val::Lanes(v) => Val::Lanes(unsafe { $f(self.b, v, self.vector(to, self.n), c"".as_ptr()) }),
            }
        }
    )* };
}

// SAFETY (all): see the module's documentation.
impl Build {
    /// A builder for `module`, which is of `context`; that outlives the builder.
    pub fn new(context: LLVMContextRef, module: LLVMModuleRef, n: u32) -> Self {
        // SAFETY: the caller's context outlives the builder (`Build::new`'s documentation), and the metadata are of it.
        unsafe {
            let name = |text: &str| LLVMMDStringInContext2(context, text.as_ptr().cast(), text.len());
            let node = |of: &mut [LLVMMetadataRef]| LLVMMDNodeInContext2(context, of.as_mut_ptr(), of.len());
            let domain = node(&mut [name("warp")]);
            let rows = node(&mut [node(&mut [name("rows"), domain])]);
            Build { context, module, b: LLVMCreateBuilderInContext(context), rows, n }
        }
    }

    /// Says of an access that it is one of the warps' rows ("alias.scope") or none of them ("noalias").
    fn of_rows(&self, access: V, kind: &str) {
        // SAFETY: the access is an instruction of the builder's context, and so are the metadata.
        unsafe {
            let kind = LLVMGetMDKindIDInContext(self.context, kind.as_ptr().cast(), kind.len() as u32);
            LLVMSetMetadata(access, kind, LLVMMetadataAsValue(self.context, self.rows));
        }
    }

    binary! {
        add LLVMBuildAdd; sub LLVMBuildSub; mul LLVMBuildMul; and LLVMBuildAnd; or LLVMBuildOr; xor LLVMBuildXor;
        shl LLVMBuildShl; lshr LLVMBuildLShr; ashr LLVMBuildAShr;
        udiv LLVMBuildUDiv; sdiv LLVMBuildSDiv;
        fadd LLVMBuildFAdd; fsub LLVMBuildFSub; fmul LLVMBuildFMul; fdiv LLVMBuildFDiv;
    }

    casts! {
        trunc LLVMBuildTrunc; zext LLVMBuildZExt; sext LLVMBuildSExt; bitcast LLVMBuildBitCast;
        sitofp LLVMBuildSIToFP; uitofp LLVMBuildUIToFP; fptosi LLVMBuildFPToSI; fptoui LLVMBuildFPToUI; fpext LLVMBuildFPExt; fptrunc LLVMBuildFPTrunc;
    }

    /// An element type.
    pub fn elem(&self, e: Elem) -> LLVMTypeRef {
        // SAFETY: the context outlives the builder.
        unsafe {
            match e {
                Elem::I(bits) => LLVMIntTypeInContext(self.context, bits),
                Elem::F16 => LLVMHalfTypeInContext(self.context),
                Elem::F32 => LLVMFloatTypeInContext(self.context),
                Elem::F64 => LLVMDoubleTypeInContext(self.context),
            }
        }
    }

    /// A vector type.
    pub fn vector(&self, e: Elem, n: u32) -> LLVMTypeRef {
        // SAFETY: the context outlives the builder, and the element type is one of its types.
        unsafe { LLVMVectorType(self.elem(e), n) }
    }

    /// The pointer type.
    pub fn pointer(&self) -> LLVMTypeRef {
        // SAFETY: the context outlives the builder.
        unsafe { LLVMPointerTypeInContext(self.context, 0) }
    }

    /// A constant integer.
    pub fn int(&self, bits: u32, value: u64) -> V {
        // SAFETY: the type is an integer, float or pointer type of the builder's context.
        unsafe { LLVMConstInt(self.elem(Elem::I(bits)), value, 0) }
    }

    /// Any value: what nobody reads.
    pub fn any(&self, ty: LLVMTypeRef) -> V {
        // SAFETY: the type is of the builder's context.
        unsafe { LLVMGetPoison(ty) }
    }

    /// A constant of a float type.
    pub fn float(&self, e: Elem, value: f64) -> V {
        // SAFETY: the type is an integer, float or pointer type of the builder's context.
        unsafe { LLVMConstReal(self.elem(e), value) }
    }

    /// `0, step, 2 step, …` as a vector of integers of `bits` bits.
    pub fn ramp(&self, bits: u32, step: u64) -> V {
        let mut all: Vec<V> = (0..u64::from(self.n)).map(|i| self.int(bits, i.wrapping_mul(step))).collect();
        // SAFETY: `all` holds as many constants as are said, of one type.
        unsafe { LLVMConstVector(all.as_mut_ptr(), self.n) }
    }

    /// A scalar in all elements.
    pub fn splat(&self, v: V) -> V {
        // SAFETY: the builder stands in a block of the value's function; the vectors are of its type.
        unsafe {
            let ty = LLVMVectorType(LLVMTypeOf(v), self.n);
            let one = LLVMBuildInsertElement(self.b, LLVMGetPoison(ty), v, self.int(32, 0), c"".as_ptr());
            let zeros = LLVMConstNull(self.vector(Elem::I(32), self.n));
            LLVMBuildShuffleVector(self.b, one, LLVMGetPoison(ty), zeros, c"".as_ptr())
        }
    }

    /// As a vector.
    pub fn lanes(&self, v: Val) -> V {
        match v {
            Val::Lanes(v) => v,
            Val::Same(v) => self.splat(v),
        }
    }

    /// An element of a vector, or the scalar.
    pub fn lane(&self, v: Val, lane: V) -> V {
        match v {
            Val::Same(v) => v,
            // SAFETY: `v` is a vector and the builder stands in a block of its function.
            Val::Lanes(v) => unsafe { LLVMBuildExtractElement(self.b, v, lane, c"".as_ptr()) },
        }
    }

    /// A vector with another element at a place.
    pub fn insert(&self, v: V, element: V, place: V) -> V {
        // SAFETY: `v` is a vector of the element's type, and the builder stands in a block of their function.
        unsafe { LLVMBuildInsertElement(self.b, v, element, place, c"".as_ptr()) }
    }

    /// Applies an operation to scalars, or to vectors if any operand is one.
    pub fn apply<const K: usize>(&self, operands: [Val; K], f: impl FnOnce([V; K]) -> V) -> Val {
        if operands.iter().any(|v| matches!(v, Val::Lanes(_))) {
            Val::Lanes(f(operands.map(|v| self.lanes(v))))
        } else {
            Val::Same(f(operands.map(|v| match v {
                Val::Same(v) | Val::Lanes(v) => v,
            })))
        }
    }

    /// Integer comparison.
    pub fn icmp(&self, p: LLVMIntPredicate, a: V, b: V) -> V {
        // SAFETY: the builder stands in a block of the function whose values these are.
        unsafe { LLVMBuildICmp(self.b, p, a, b, c"".as_ptr()) }
    }

    /// Float comparison.
    pub fn fcmp(&self, p: LLVMRealPredicate, a: V, b: V) -> V {
        // SAFETY: the builder stands in a block of the function whose values these are.
        unsafe { LLVMBuildFCmp(self.b, p, a, b, c"".as_ptr()) }
    }

    /// Bitwise complement.
    pub fn not(&self, a: V) -> V {
        // SAFETY: the builder stands in a block of the function whose values these are.
        unsafe { LLVMBuildNot(self.b, a, c"".as_ptr()) }
    }

    /// Negation of a float.
    pub fn fneg(&self, a: V) -> V {
        // SAFETY: the builder stands in a block of the function whose values these are.
        unsafe { LLVMBuildFNeg(self.b, a, c"".as_ptr()) }
    }

    /// `c ? a : b`, by element where `c` is a vector.
    pub fn select(&self, c: V, a: V, b: V) -> V {
        // SAFETY: the builder stands in a block of the function whose values these are.
        unsafe { LLVMBuildSelect(self.b, c, a, b, c"".as_ptr()) }
    }

    /// A mask (an integer of N bits) as a vector of N times one bit: each lane tests its bit. A cast would
    /// say the same, but vectors of bits made from integers, once they are taken apart, send the combiner of
    /// LLVM 19's X86 back end round in circles.
    pub fn mask_to_lanes(&self, mask: V) -> V {
        let wide = self.resize(mask, 64);
        // SAFETY: the builder stands in a block of the mask's function; both types have as many bits.
        unsafe {
            let halves = LLVMBuildBitCast(self.b, wide, self.vector(Elem::I(32), 2), c"".as_ptr());
            let places: Vec<u32> = (0..self.n).map(|i| i / 32).collect();
            let spread = self.shuffle(halves, halves, &places);
            let mut bits: Vec<V> = (0..self.n).map(|i| self.int(32, 1 << (i % 32))).collect();
            let bits = LLVMConstVector(bits.as_mut_ptr(), self.n);
            let zero = LLVMConstNull(self.vector(Elem::I(32), self.n));
            self.icmp(LLVMIntPredicate::LLVMIntNE, self.and(spread, bits), zero)
        }
    }

    /// A vector of N times one bit as an integer of N bits.
    pub fn lanes_to_mask(&self, lanes: V) -> V {
        // SAFETY: the builder stands in a block of the vector's function; both types have as many bits.
        unsafe { LLVMBuildBitCast(self.b, lanes, self.elem(Elem::I(self.n)), c"".as_ptr()) }
    }

    /// Changes an integer's width, extending with zeros.
    pub fn resize(&self, v: V, bits: u32) -> V {
        // SAFETY: the builder stands in a block of the function of `v`, an integer.
        unsafe {
            let from = LLVMGetIntTypeWidth(LLVMTypeOf(v));
            let to = self.elem(Elem::I(bits));
            match from.cmp(&bits) {
                std::cmp::Ordering::Less => LLVMBuildZExt(self.b, v, to, c"".as_ptr()),
                std::cmp::Ordering::Equal => v,
                std::cmp::Ordering::Greater => LLVMBuildTrunc(self.b, v, to, c"".as_ptr()),
            }
        }
    }

    /// One bit in all N bits.
    pub fn spread(&self, bit: V) -> V {
        // SAFETY: the builder stands in a block of the function of `bit`, an integer of one bit.
        unsafe { LLVMBuildSExt(self.b, bit, self.elem(Elem::I(self.n)), c"".as_ptr()) }
    }

    /// A variable of the function. Only in its entry block.
    pub fn variable(&self, ty: LLVMTypeRef) -> V {
        // SAFETY: the builder stands in the entry block.
        unsafe { LLVMBuildAlloca(self.b, ty, c"".as_ptr()) }
    }

    /// A load, of which is not yet said of what.
    fn load_any(&self, ty: LLVMTypeRef, p: V, align: u32) -> V {
        // SAFETY: the builder stands in a block, and `p` is a pointer value of its function.
        unsafe {
            let v = LLVMBuildLoad2(self.b, ty, p, c"".as_ptr());
            LLVMSetAlignment(v, align);
            v
        }
    }

    /// A plain load, not of a warp's row.
    pub fn load(&self, ty: LLVMTypeRef, p: V, align: u32) -> V {
        let v = self.load_any(ty, p, align);
        self.of_rows(v, "noalias");
        v
    }

    /// A load of a warp's row.
    pub fn load_row(&self, ty: LLVMTypeRef, p: V, align: u32) -> V {
        let v = self.load_any(ty, p, align);
        self.of_rows(v, "alias.scope");
        v
    }

    /// A load of what does not change while the function runs.
    pub fn load_invariant(&self, ty: LLVMTypeRef, p: V, align: u32) -> V {
        // SAFETY: the builder stands in a block, `p` is a pointer value of its function, and the metadata
        // are of its context.
        unsafe {
            let v = self.load(ty, p, align);
            let name = "invariant.load";
            let kind = LLVMGetMDKindIDInContext(self.context, name.as_ptr().cast(), name.len() as u32);
            let node = LLVMMDNodeInContext2(self.context, std::ptr::null_mut(), 0);
            LLVMSetMetadata(v, kind, LLVMMetadataAsValue(self.context, node));
            v
        }
    }

    /// A load of a pointer to `bytes` bytes, aligned to 8, that may be read at any time, and does not change while the function
    /// runs.
    pub fn load_table(&self, p: V, bytes: u64) -> V {
        let v = self.load_invariant(self.pointer(), p, 8);
        for (name, value) in [("dereferenceable", bytes), ("align", 8)] {
            // SAFETY: the metadata are of the builder's context, and of the form that their names ask for.
            unsafe {
                let kind = LLVMGetMDKindIDInContext(self.context, name.as_ptr().cast(), name.len() as u32);
                let mut value = LLVMValueAsMetadata(self.int(64, value));
                let node = LLVMMDNodeInContext2(self.context, &raw mut value, 1);
                LLVMSetMetadata(v, kind, LLVMMetadataAsValue(self.context, node));
            }
        }
        v
    }

    /// A load of device memory, which others may write: happens once and where it stands.
    pub fn load_device(&self, ty: LLVMTypeRef, p: V, align: u32) -> V {
        // SAFETY: the builder stands in a block, and `p` is a pointer value of its function.
        unsafe {
            let v = self.load(ty, p, align);
            LLVMSetVolatile(v, 1);
            v
        }
    }

    /// A store, of which is not yet said where to.
    fn store_any(&self, v: V, p: V, align: u32) -> V {
        // SAFETY: the builder stands in a block, and both values are of its function, `p` a pointer.
        unsafe {
            let s = LLVMBuildStore(self.b, v, p);
            LLVMSetAlignment(s, align);
            s
        }
    }

    /// A plain store, not to a warp's row.
    pub fn store(&self, v: V, p: V, align: u32) {
        self.of_rows(self.store_any(v, p, align), "noalias");
    }

    /// A store to a warp's row.
    pub fn store_row(&self, v: V, p: V, align: u32) {
        self.of_rows(self.store_any(v, p, align), "alias.scope");
    }

    /// A store to device memory.
    pub fn store_device(&self, v: V, p: V, align: u32) {
        let s = self.store_any(v, p, align);
        self.of_rows(s, "noalias");
        // SAFETY: a store.
        unsafe { LLVMSetVolatile(s, 1) };
    }

    /// An atomic of the host, in one order with all others; returns what was at `p`.
    pub fn atomic(&self, operation: LLVMAtomicRMWBinOp, p: V, v: V) -> V {
        let order = LLVMAtomicOrdering::LLVMAtomicOrderingSequentiallyConsistent;
        // SAFETY: the builder stands in a block, both values are of its function, and `p` is an aligned pointer.
        unsafe { LLVMBuildAtomicRMW(self.b, operation, p, v, order, 0) }
    }

    /// Compares what is at `p` with a value and, where they are equal, puts another there, at once; returns what was at `p`.
    pub fn compare_exchange(&self, p: V, expected: V, new: V) -> V {
        let order = LLVMAtomicOrdering::LLVMAtomicOrderingSequentiallyConsistent;
        // SAFETY: the builder stands in a block, the values are of its function, and `p` is an aligned pointer; the result is
        // a pair of which the old value is the first.
        unsafe {
            let pair = LLVMBuildAtomicCmpXchg(self.b, p, expected, new, order, order, 0);
            LLVMBuildExtractValue(self.b, pair, 0, c"".as_ptr())
        }
    }

    /// Has the host bring the line at `p` near, to be read. No fault where nothing is.
    pub fn prefetch(&self, p: V) {
        let [reading, nearest, data] = [0, 3, 1].map(|k| self.int(32, k));
        self.intrinsic("llvm.prefetch", &[self.pointer()], &[p, reading, nearest, data]);
    }

    /// Keeps the compiler from moving accesses that cannot be volatile across this place. No code.
    pub fn compiler_fence(&self) {
        // SAFETY: the builder stands in a block.
        unsafe { LLVMBuildFence(self.b, LLVMAtomicOrdering::LLVMAtomicOrderingSequentiallyConsistent, 1, c"".as_ptr()) };
    }

    /// `p + bytes`.
    pub fn offset(&self, p: V, bytes: V) -> V {
        let mut index = [bytes];
        // SAFETY: the builder stands in a block; `index` holds the one index that is said.
        unsafe { LLVMBuildGEP2(self.b, self.elem(Elem::I(8)), p, index.as_mut_ptr(), 1, c"".as_ptr()) }
    }

    /// Element `i` of the elements at `p`.
    pub fn element(&self, p: V, e: Elem, i: V) -> V {
        let mut index = [i];
        // SAFETY: the builder stands in a block; `index` holds the one index that is said.
        unsafe { LLVMBuildGEP2(self.b, self.elem(e), p, index.as_mut_ptr(), 1, c"".as_ptr()) }
    }

    /// The type of a vector's elements, which are integers.
    pub fn element_of(&self, v: V) -> Elem {
        // SAFETY: `v` is a vector of integers.
        unsafe { Elem::I(LLVMGetIntTypeWidth(LLVMGetElementType(LLVMTypeOf(v)))) }
    }

    /// Whether a pointer is not null.
    pub fn is_some(&self, p: V) -> V {
        self.icmp(LLVMIntPredicate::LLVMIntNE, self.address_of(p), self.int(64, 0))
    }

    /// A pointer as a number.
    pub fn address_of(&self, p: V) -> V {
        // SAFETY: the builder stands in a block, and `p` is a pointer value of its function.
        unsafe { LLVMBuildPtrToInt(self.b, p, self.elem(Elem::I(64)), c"".as_ptr()) }
    }

    /// Pointers of lanes as numbers.
    pub fn addresses_of(&self, p: V) -> V {
        // SAFETY: the builder stands in a block, and `p` is a vector of pointers of its function.
        unsafe { LLVMBuildPtrToInt(self.b, p, self.vector(Elem::I(64), self.n), c"".as_ptr()) }
    }

    /// A number of 64 bits as a pointer.
    pub fn pointer_to(&self, address: V) -> V {
        // SAFETY: the builder stands in a block, and `address` is an integer of its function.
        unsafe { LLVMBuildIntToPtr(self.b, address, self.pointer(), c"".as_ptr()) }
    }

    /// `p + bytes`, a constant.
    pub fn field(&self, p: V, bytes: usize) -> V {
        self.offset(p, self.int(64, bytes as u64))
    }

    /// The bits of a vector as one of `n` elements of another type.
    pub fn as_vector(&self, v: V, e: Elem, n: u32) -> V {
        // SAFETY: the builder stands in a block of the vector's function; the caller's types have as many bits.
        unsafe { LLVMBuildBitCast(self.b, v, self.vector(e, n), c"".as_ptr()) }
    }

    /// A shuffle of two vectors of any length.
    pub fn shuffle(&self, a: V, b: V, places: &[u32]) -> V {
        let mut mask: Vec<V> = places.iter().map(|p| self.int(32, u64::from(*p))).collect();
        // SAFETY: the vectors are of one type, and `mask` holds as many constants as its vector is long.
        unsafe {
            let mask = LLVMConstVector(mask.as_mut_ptr(), mask.len() as u32);
            LLVMBuildShuffleVector(self.b, a, b, mask, c"".as_ptr())
        }
    }

    /// A call of an intrinsic that is overloaded on `types`.
    pub fn intrinsic(&self, name: &str, types: &[LLVMTypeRef], arguments: &[V]) -> V {
        let (mut types, mut arguments) = (types.to_vec(), arguments.to_vec());
        // SAFETY: the lists are as long as is said; the name is an intrinsic's that is overloaded on these
        // types.
        unsafe {
            let id = LLVMLookupIntrinsicID(name.as_ptr().cast(), name.len());
            let f = LLVMGetIntrinsicDeclaration(self.module, id, types.as_mut_ptr(), types.len());
            let ty = LLVMIntrinsicGetType(self.context, id, types.as_mut_ptr(), types.len());
            let call = LLVMBuildCall2(self.b, ty, f, arguments.as_mut_ptr(), arguments.len() as u32, c"".as_ptr());
            if name.starts_with("llvm.masked.") {
                self.of_rows(call, "noalias");
            }
            call
        }
    }

    /// An intrinsic of one type: that of its first argument.
    pub fn intrinsic_of(&self, name: &str, arguments: &[V]) -> V {
        // SAFETY: every value has a type.
        self.intrinsic(name, &[unsafe { LLVMTypeOf(arguments[0]) }], arguments)
    }

    /// The type of a value.
    pub fn type_of(&self, v: V) -> LLVMTypeRef {
        // SAFETY: every value has a type.
        unsafe { LLVMTypeOf(v) }
    }

    /// A call of a function that returns 32 bits, at a pointer.
    pub fn call(&self, function: V, arguments: &[V]) -> V {
        let mut arguments = arguments.to_vec();
        // SAFETY: the builder stands in a block, and the values are of its function, `function` a pointer to one with
        // these arguments; the lists are as long as is said.
        unsafe {
            let mut types: Vec<LLVMTypeRef> = arguments.iter().map(|a| LLVMTypeOf(*a)).collect();
            let ty = LLVMFunctionType(self.elem(Elem::I(32)), types.as_mut_ptr(), types.len() as u32, 0);
            LLVMBuildCall2(self.b, ty, function, arguments.as_mut_ptr(), arguments.len() as u32, c"".as_ptr())
        }
    }

    /// A function from a pointer, to so many bytes, to 32 bits, for the host's processor.
    pub fn function(&self, name: &str, bytes: u64, cpu: &str, features: &str) -> V {
        let name = CString::new(name).unwrap_or_default();
        // SAFETY: the module is of the builder's context; names, types and attribute texts are valid for the
        // calls, which copy them.
        unsafe {
            let mut parameters = [self.pointer()];
            let ty = LLVMFunctionType(self.elem(Elem::I(32)), parameters.as_mut_ptr(), 1, 0);
            let f = LLVMAddFunction(self.module, name.as_ptr(), ty);
            // Half of the lanes of a warp of 32 in one register of the host, where it has such.
            for (key, value) in [
                ("target-cpu", cpu),
                ("target-features", features),
                ("prefer-vector-width", "512"),
                ("min-legal-vector-width", "512"),
            ] {
                let a = LLVMCreateStringAttribute(
                    self.context,
                    key.as_ptr().cast(),
                    key.len() as u32,
                    value.as_ptr().cast(),
                    value.len() as u32,
                );
                LLVMAddAttributeAtIndex(f, inkwell::llvm_sys::LLVMAttributeFunctionIndex, a);
            }
            // Nothing unwinds through it (the interpreter's functions abort instead), so objects need no tables for that.
            let key = "nounwind";
            let kind = LLVMGetEnumAttributeKindForName(key.as_ptr().cast(), key.len());
            let attribute = LLVMCreateEnumAttribute(self.context, kind, 0);
            LLVMAddAttributeAtIndex(f, inkwell::llvm_sys::LLVMAttributeFunctionIndex, attribute);
            // The parameter may be read at any time.
            for (key, value) in [("dereferenceable", bytes), ("align", 8)] {
                let kind = LLVMGetEnumAttributeKindForName(key.as_ptr().cast(), key.len());
                LLVMAddAttributeAtIndex(f, 1, LLVMCreateEnumAttribute(self.context, kind, value));
            }
            f
        }
    }

    /// A function's parameter.
    pub fn parameter(&self, function: V) -> V {
        // SAFETY: functions that `function` makes have one parameter.
        unsafe { LLVMGetParam(function, 0) }
    }

    /// A new block.
    pub fn block(&self, function: V) -> Block {
        // SAFETY: the function is of the builder's context.
        unsafe { LLVMAppendBasicBlockInContext(self.context, function, c"".as_ptr()) }
    }

    /// Goes on building at the end of a block.
    pub fn at(&self, block: Block) {
        // SAFETY: the block is of the function under construction.
        unsafe { LLVMPositionBuilderAtEnd(self.b, block) };
    }

    /// An unconditional branch.
    pub fn jump(&self, to: Block) {
        // SAFETY: the builder stands in a block without an end, and the target is of the same function.
        unsafe { LLVMBuildBr(self.b, to) };
    }

    /// A conditional branch.
    pub fn branch(&self, c: V, yes: Block, no: Block) {
        // SAFETY: the builder stands in a block without an end, and both targets are of the same function.
        unsafe { LLVMBuildCondBr(self.b, c, yes, no) };
    }

    /// A conditional branch that nearly always goes to `yes`.
    pub fn likely(&self, c: V, yes: Block, no: Block) {
        // SAFETY: the builder stands in a block without an end, and both targets are of the same function;
        // the metadata are of its context.
        unsafe {
            let branch = LLVMBuildCondBr(self.b, c, yes, no);
            let text = "branch_weights";
            let mut operands = [
                LLVMMDStringInContext2(self.context, text.as_ptr().cast(), text.len()),
                LLVMValueAsMetadata(self.int(32, 2000)),
                LLVMValueAsMetadata(self.int(32, 1)),
            ];
            let node = LLVMMDNodeInContext2(self.context, operands.as_mut_ptr(), operands.len());
            let kind = LLVMGetMDKindIDInContext(self.context, c"prof".as_ptr(), 4);
            LLVMSetMetadata(branch, kind, LLVMMetadataAsValue(self.context, node));
        }
    }

    /// A switch.
    pub fn switch(&self, v: V, cases: &[(u64, Block)], otherwise: Block) {
        // SAFETY: the builder stands in a block without an end; the cases are constants of the value's type,
        // their targets of the same function.
        unsafe {
            let bits = LLVMGetIntTypeWidth(LLVMTypeOf(v));
            let s = LLVMBuildSwitch(self.b, v, otherwise, cases.len() as u32);
            for (value, block) in cases {
                LLVMAddCase(s, self.int(bits, *value), *block);
            }
        }
    }

    /// Returns.
    pub fn ret(&self, v: V) {
        // SAFETY: the builder stands in a block without an end, and the value is of the function's type.
        unsafe { LLVMBuildRet(self.b, v) };
    }

    /// Not reached.
    pub fn unreachable(&self) {
        // SAFETY: the builder stands in a block without an end.
        unsafe { LLVMBuildUnreachable(self.b) };
    }
}
