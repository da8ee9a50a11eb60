//! Ranges of ids and sizes (`range` metadata on work-item queries).
//!
//! # Problem
//! LLVM knows nothing of what `get_local_id` may answer. It extends signs that are never set, shifts
//! a 24-bit number up and down again, divides as for negative numbers, and cannot join the bits of
//! two ids.
//!
//! # Algorithm
//! Each query gets the range of its answers: from the machine (no work-group has more work-items
//! than it allows, no warp more lanes than it has), from the kernel (`reqd_work_group_size`), and
//! from selection, which reads all of them from special registers of 32 bits. LLVM's `sccp` and
//! `instcombine`, which [`crate::prepare`] runs next, do the rest. AMDGPU does the same for its ids.
//!
//! # Why it is right
//! Launches beyond a range are refused: work-groups too large for the machine, of another size than
//! required, or global sizes of 2³² and more. The last work-group of a dimension may be smaller than
//! required, unless the kernel is launched with whole ones only.
//!
//! # Short ids
//! Programs keep ids in `int`, where those from 2³¹ on are negative, which no launch that anybody
//! waits for has. A kernel that does something with signs of such an integer gets ranges that end at
//! 2³¹ and a mark ([`rests_on_short_ids`]), with which larger launches are refused.
//!
//! May touch: the metadata `range` of calls, and the mark, an attribute. Reads LLVM IR in which the
//! queries are in kernels.

use std::ops::Range;

use inkwell::llvm_sys::LLVMIntPredicate::{LLVMIntSGE, LLVMIntSGT, LLVMIntSLE, LLVMIntSLT};
use inkwell::llvm_sys::LLVMOpcode;
use inkwell::module::Module;
use rustc_hash::FxHashSet;

use crate::builtins::{self, Builtin, Query};
use crate::facts::Facts;
use crate::ir::function::{self, required_work_group_size};
use crate::ir::metadata::Writer;
use crate::ir::{self, Type, Value, is_kernel};

/// The attribute of kernels whose ranges end at 2³¹.
const SHORT_IDS: &str = "heddle-short-ids";

/// Whether a kernel's code rests on ids, sizes and offsets below 2³¹ in each dimension.
pub fn rests_on_short_ids(kernel: Value) -> bool {
    function::string_attribute(kernel, SHORT_IDS).is_some()
}

/// Attaches ranges in all functions of a module; whether there was a query to attach one to.
pub fn attach(module: &Module, facts: Facts) -> bool {
    let mut any = false;
    for function in function::bodies(module) {
        let sizes = Sizes { required: required_work_group_size(function), whole: function::uniform_work_groups(function) };
        let writer = Writer::of_function(function);
        let calls = ir::blocks(function).into_iter().flat_map(|b| b.instructions());
        let queries: Vec<_> = calls.filter_map(|call| Some((call, query_of(call)?))).collect();
        let mut ids = queries.iter().filter(|(_, q)| is_id(*q)).map(|(call, _)| *call).peekable();
        let short = facts.short_ids && is_kernel(function) && ids.peek().is_some() && signs_matter(ids.collect());
        if short {
            function::set_string_attribute(function, SHORT_IDS, "true");
        }
        let facts = Facts { short_ids: short, ..facts };
        for (call, query) in queries {
            let dimension = call.operand(0).as_constant_int().filter(|_| query.has_dimension());
            if let Some(range) = range(query, dimension, sizes, facts, call.integer_bits()) {
                writer.attach(call, "range", writer.range(call, range));
                any = true;
            }
        }
    }
    any
}

/// What a kernel says of its work-groups.
#[derive(Clone, Copy, Default)]
struct Sizes {
    /// `reqd_work_group_size`.
    required: Option<[u32; 3]>,
    /// None is smaller than the others.
    whole: bool,
}

fn query_of(call: Value) -> Option<Query> {
    match (call.opcode() == LLVMOpcode::LLVMCall).then(|| builtins::of_call(call))?? {
        Builtin::Query(query) => Some(query),
        _ => None,
    }
}

/// Whether a query's answer is a global id, or what bounds one, in one dimension.
fn is_id(query: Query) -> bool {
    use Query::{GlobalId, GlobalOffset, GlobalSize, GroupId, NumGroups, RelativeId};
    matches!(query, GlobalId | GlobalOffset | GlobalSize | GroupId | NumGroups | RelativeId)
}

/// Intrinsics whose result depends on the sign of an operand.
const SIGNED_INTRINSICS: [&str; 3] = ["llvm.smax.", "llvm.smin.", "llvm.abs."];

/// Bits of an integer, or of the integers in a vector; 0 for other values.
fn bits_of(v: Value) -> u32 {
    let ty = Type(v.ty());
    if v.is_vector() { ty.element().map_or(0, Type::integer_bits) } else { ty.integer_bits() }
}

/// Whether the sign of an integer of 32 bits or fewer that is computed of some values decides about anything.
fn signs_matter(mut open: Vec<Value>) -> bool {
    use LLVMOpcode::*;
    let mut seen: FxHashSet<Value> = open.iter().copied().collect();
    while let Some(v) = open.pop() {
        let narrow = bits_of(v) <= 32;
        for user in v.users().filter(|u| u.is_instruction()) {
            let signed = match user.opcode() {
                LLVMSExt | LLVMSIToFP | LLVMSDiv | LLVMSRem => narrow,
                LLVMICmp => narrow && matches!(user.integer_predicate(), LLVMIntSGE | LLVMIntSGT | LLVMIntSLE | LLVMIntSLT),
                LLVMCall => narrow && SIGNED_INTRINSICS.iter().any(|name| user.called_name().starts_with(name)),
                // A sign is extended by two shifts, too.
                LLVMAShr => narrow || v.opcode() == LLVMShl,
                _ => false,
            };
            if signed {
                return true;
            }
            // Not what mixes bits, as hashes do: of that nothing is known.
            let moves = matches!(user.opcode(), LLVMPHI | LLVMSelect | LLVMFreeze)
                || matches!(user.opcode(), LLVMInsertElement | LLVMExtractElement | LLVMShuffleVector);
            let computes = matches!(user.opcode(), LLVMTrunc | LLVMZExt | LLVMAdd | LLVMSub | LLVMMul | LLVMUDiv | LLVMURem)
                || matches!(user.opcode(), LLVMShl | LLVMLShr | LLVMAnd | LLVMOr);
            if (moves || computes) && bits_of(user) > 0 && seen.insert(user) {
                open.push(user);
            }
        }
    }
    false
}

/// Answers of a query, in `bits` bits; `dimension`: where it is a constant. `None`: any number.
fn range(query: Query, dimension: Option<u64>, sizes: Sizes, facts: Facts, bits: u32) -> Option<Range<u64>> {
    if dimension.is_some_and(|d| d > 2) {
        return Some(u64::from(query.out_of_range())..u64::from(query.out_of_range()) + 1);
    }
    let words = 1 << 32;
    let ids = if facts.short_ids { 1 << 31 } else { words };
    let most = u64::from(facts.max_work_group_size);
    let warp = u64::from(facts.warp_size);
    // Of one dimension, if it is known which; dimensions that a launch leaves out have size 1.
    let size = |all: [u32; 3]| dimension.map(|d| u64::from(all[d as usize]));
    let exact = sizes.required.and_then(size);
    let items = sizes.required.map_or(most, |all| all.iter().map(|n| u64::from(*n)).product());
    let range = match query {
        Query::LocalId => 0..exact.unwrap_or(most),
        Query::LocalSize if !sizes.whole => 1..exact.unwrap_or(most) + 1,
        Query::LocalSize | Query::EnqueuedLocalSize => exact.unwrap_or(1)..exact.unwrap_or(most) + 1,
        Query::LocalLinearId => 0..items,
        Query::WorkDim => 1..4,
        Query::LaneId => 0..warp,
        Query::WarpId => 0..items.div_ceil(warp),
        Query::NumWarps => 1..items.div_ceil(warp) + 1,
        Query::WarpSize => warp..warp + 1,
        Query::NumGroups => 1..ids,
        Query::GlobalId | Query::GroupId | Query::GlobalSize | Query::GlobalOffset | Query::RelativeId => 0..ids,
        Query::GlobalLinearId => 0..words,
    };
    // A range of all numbers is none; an empty one comes from a kernel that cannot be launched.
    let fits = range.start < range.end && (bits == 64 || (bits == 32 && range.end < words));
    fits.then_some(range)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FACTS: Facts = Facts { max_work_group_size: 1000, ..Facts::OF_DEFAULT_MACHINE };

    const ANY: Sizes = Sizes { required: None, whole: false };

    #[test]
    fn ranges_follow_from_the_machine_and_the_kernel() {
        let required = Sizes { required: Some([48, 2, 1]), whole: false };
        assert_eq!(range(Query::LocalId, Some(0), ANY, FACTS, 64), Some(0..1000));
        assert_eq!(range(Query::LocalId, Some(1), required, FACTS, 64), Some(0..2));
        assert_eq!(range(Query::LocalId, None, required, FACTS, 64), Some(0..1000));
        assert_eq!(range(Query::LocalId, Some(3), required, FACTS, 64), Some(0..1));
        assert_eq!(range(Query::LocalSize, None, ANY, FACTS, 64), Some(1..1001));
        assert_eq!(range(Query::LocalLinearId, None, required, FACTS, 64), Some(0..96));
        assert_eq!(range(Query::WarpId, None, required, FACTS, 32), Some(0..3));
        assert_eq!(range(Query::NumWarps, None, ANY, FACTS, 32), Some(1..33));
    }

    #[test]
    fn the_last_work_group_may_be_smaller_than_required() {
        let required = Sizes { required: Some([48, 2, 1]), whole: false };
        let whole = Sizes { whole: true, ..required };
        assert_eq!(range(Query::LocalSize, Some(0), required, FACTS, 64), Some(1..49));
        assert_eq!(range(Query::LocalSize, Some(0), whole, FACTS, 64), Some(48..49));
        assert_eq!(range(Query::EnqueuedLocalSize, Some(0), required, FACTS, 64), Some(48..49));
    }

    #[test]
    fn ids_have_32_bits_or_31() {
        let wide = Facts { short_ids: false, ..FACTS };
        assert_eq!(range(Query::GlobalId, Some(0), ANY, wide, 64), Some(0..1 << 32));
        assert_eq!(range(Query::GlobalId, Some(0), ANY, wide, 32), None);
        assert_eq!(range(Query::GlobalId, Some(0), ANY, FACTS, 32), Some(0..1 << 31));
        assert_eq!(range(Query::GlobalLinearId, None, ANY, FACTS, 64), Some(0..1 << 32));
        assert_eq!(range(Query::GlobalSize, Some(4), ANY, FACTS, 64), Some(1..2));
    }

    #[test]
    fn a_kernel_that_cannot_be_launched_has_no_ranges() {
        let none = Sizes { required: Some([0, 1, 1]), whole: false };
        assert_eq!(range(Query::LocalId, Some(0), none, FACTS, 64), None);
    }
}
