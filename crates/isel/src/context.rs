//! The context of selecting a kernel: what selection reads and never changes.
//!
//! The kernel's values belong to the module that the caller of [`crate::select`] borrows; the data layout
//! outlives neither.

use heddle_llvm_passes::Facts;
use heddle_llvm_passes::cache_hints::{self, Hints};
use heddle_llvm_passes::global_id::{self, GlobalIds};
use heddle_llvm_passes::ir::layout::Layout;
use heddle_llvm_passes::ir::{self, BlockRef, Value};
use heddle_llvm_passes::polynomial::Poly;
use heddle_llvm_passes::uniformity::{self, Uniformity};
use heddle_mir::{Bank, RegClass};
use inkwell::llvm_sys::LLVMOpcode;
use rustc_hash::{FxHashMap, FxHashSet};
use std::cell::OnceCell;

use crate::leaf::{self, Leaf, Leaves};
use crate::{SelectOptions, scalar_slots};

/// Most surfaces that an instruction can name.
const MOST_SURFACES: u32 = 256;

/// A kernel, what the analyses found in it, and the machine's facts.
pub(crate) struct Context<'a> {
    pub kernel: Value,
    pub params: Vec<Value>,
    pub options: &'a SelectOptions,
    /// The target's, whatever the module says.
    pub layout: &'a Layout,
    pub warp_size: u32,
    /// Accesses of 8 and 16 bytes of device memory may begin at any word.
    pub unaligned_vectors: bool,
    pub uniformity: Uniformity,
    pub global_ids: GlobalIds,
    /// What their addresses share across blocks.
    pub shared_bytes: FxHashSet<Poly>,
    pub hints: Hints,
    /// Uniform values that are computed in lanes all the same.
    in_lanes: FxHashSet<Value>,
    /// The numbers of the kernel's instructions in its order, once somebody asks.
    numbers: OnceCell<FxHashMap<Value, u32>>,
}

impl<'a> Context<'a> {
    /// Runs the analyses on a kernel.
    pub fn new(kernel: Value, layout: &'a Layout, options: &'a SelectOptions, facts: Facts) -> Context<'a> {
        let uniformity = uniformity::analyze(kernel, facts);
        Context::with(kernel, layout, options, facts, uniformity)
    }

    /// For the version of the kernel for launches whose rows fill warps, if more is uniform there.
    pub fn for_rows(general: &Context<'a>, facts: Facts) -> Option<Context<'a>> {
        let Context { kernel, layout, options, .. } = *general;
        let facts = Facts { rows_fill_warps: true, ..facts };
        let uniformity = uniformity::analyze(kernel, facts);
        let gains = uniformity.gains_over(&general.uniformity);
        gains.then(|| Context::with(kernel, layout, options, facts, uniformity))
    }

    /// With what is known of values; what is known of accesses rests on it.
    fn with(kernel: Value, layout: &'a Layout, options: &'a SelectOptions, facts: Facts, uniformity: Uniformity) -> Context<'a> {
        let hints = cache_hints::analyze(kernel, &uniformity);
        let mut global_ids = if options.global_id { global_id::analyze(kernel, &uniformity) } else { Default::default() };
        let in_lanes = scalar_slots::overload(kernel, &uniformity, &mut global_ids, options.issue_rates.as_ref());
        let shared_bytes = shared_bytes(&global_ids);
        let (params, warp_size, unaligned_vectors) = (ir::params(kernel), facts.warp_size, facts.unaligned_vectors);
        let numbers = OnceCell::new();
        Context {
            kernel,
            params,
            options,
            layout,
            warp_size,
            unaligned_vectors,
            uniformity,
            global_ids,
            shared_bytes,
            hints,
            in_lanes,
            numbers,
        }
    }

    /// The number of an instruction in the kernel's order, and of other values the largest: what code's order may depend on, as it
    /// must not on where LLVM keeps them.
    pub fn number(&self, v: Value) -> u32 {
        let instructions = || ir::blocks(self.kernel).into_iter().flat_map(|b| b.instructions());
        let numbers = self.numbers.get_or_init(|| instructions().zip(0..).collect());
        numbers.get(&v).copied().unwrap_or(u32::MAX)
    }

    /// Whether a value is computed on the scalar unit.
    pub fn is_scalar(&self, v: Value) -> bool {
        self.options.scalarize && self.uniformity.is_uniform(v) && !self.is_in_lanes(v)
    }

    /// Whether a uniform value is computed in lanes all the same.
    pub fn is_in_lanes(&self, v: Value) -> bool {
        self.in_lanes.contains(&v)
    }

    /// Whether uniform loads are done in lanes, where the scalar unit would have too much to do.
    pub fn has_uniform_loads_in_lanes(&self) -> bool {
        self.options.scalarize && self.in_lanes.iter().any(|v| v.opcode() == LLVMOpcode::LLVMLoad)
    }

    /// The bank of a value's leaves.
    pub fn bank(&self, v: Value) -> Bank {
        if self.is_scalar(v) { Bank::Scalar } else { Bank::Vector }
    }

    /// The register class of a leaf of a value.
    pub fn class(&self, v: Value, leaf: Leaf) -> RegClass {
        leaf.class(self.bank(v))
    }

    /// The scalar leaves of a value's type.
    pub fn leaves(&self, v: Value) -> Leaves {
        leaf::leaves(self.layout, v.type_of())
    }

    /// The number of the parameter that a value is.
    pub fn parameter(&self, v: Value) -> Option<usize> {
        self.params.iter().position(|p| *p == v)
    }

    /// Surfaces that the kernel may use.
    pub fn most_surfaces(&self) -> usize {
        self.options.surfaces.min(MOST_SURFACES) as usize
    }
}

/// The parts of surface accesses' addresses that are the same in a whole work-group and needed in several blocks.
fn shared_bytes(ids: &GlobalIds) -> FxHashSet<Poly> {
    let mut first: FxHashMap<Poly, BlockRef> = FxHashMap::default();
    let mut shared = FxHashSet::default();
    for (access, a) in &ids.accesses {
        let (fixed, _) = a.uniform.split_fixed();
        if !fixed.0.is_empty() && *first.entry(fixed.clone()).or_insert(access.parent()) != access.parent() {
            shared.insert(fixed);
        }
    }
    shared
}
