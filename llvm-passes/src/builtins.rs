//! The calls that stay open after the OpenCL built-in library is linked: work-item functions,
//! barriers and fences.
//!
//! libclc's generic `nvptx64--` library leaves exactly these to the target (DESIGN §3); Heddle
//! drops the library's own `get_global_id` and `get_global_size`, so that the passes see them.
//! Names are the Itanium-mangled ones clang emits.

use crate::ir::Value;
use crate::printf;

/// A work-item query.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Query {
    GlobalId,
    LocalId,
    GroupId,
    GlobalSize,
    LocalSize,
    EnqueuedLocalSize,
    NumGroups,
    GlobalOffset,
    WorkDim,
    GlobalLinearId,
    LocalLinearId,
    /// Work-group id times this work-group's size, plus the local id; [`crate::relative_id`] makes
    /// it.
    RelativeId,
    /// Lane of the warp.
    LaneId,
    /// Warp of the work-group.
    WarpId,
    /// Warps of the work-group.
    NumWarps,
    /// Lanes of a warp.
    WarpSize,
}

impl Query {
    /// Whether all work-items of a work-group get the same answer (S3).
    pub fn is_uniform(self) -> bool {
        use Query::{GlobalId, GlobalLinearId, LaneId, LocalId, LocalLinearId, RelativeId};
        !matches!(self, GlobalId | LocalId | RelativeId | GlobalLinearId | LocalLinearId | LaneId)
    }
    /// Whether the query takes a dimension.
    pub fn has_dimension(self) -> bool {
        use Query::{GlobalLinearId, LaneId, LocalLinearId, NumWarps, WarpId, WarpSize, WorkDim};
        !matches!(self, WorkDim | GlobalLinearId | LocalLinearId | LaneId | WarpId | NumWarps | WarpSize)
    }
    /// What a query answers for a dimension beyond 2 (OpenCL C: 0 for ids and offsets, 1 for
    /// sizes).
    pub fn out_of_range(self) -> u32 {
        match self {
            Query::GlobalId | Query::LocalId | Query::RelativeId | Query::GroupId | Query::GlobalOffset => 0,
            _ => 1,
        }
    }
}

/// A call Heddle understands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Builtin {
    /// A work-item query; the dimension is the call's first operand, if the query has one.
    Query(Query),
    /// `barrier(flags)`, `work_group_barrier(flags[, scope])`.
    Barrier,
    /// `mem_fence(flags)` and its read and write forms.
    Fence,
    /// `__heddle_shuffle(value, lane)`: the value of another lane of the warp.
    Shuffle,
    /// `__heddle_ballot(value)`: the active lanes of the warp whose value is not 0, a bit each.
    Ballot,
    /// `__heddle_clock()`: the low word of the SM's cycle counter.
    Clock,
    /// `__heddle_printf_room()`: bytes of messages that the buffer of `printf` takes.
    PrintfRoom,
}

const TABLE: &[(&str, Builtin)] = &[
    ("_Z13get_global_idj", Builtin::Query(Query::GlobalId)),
    ("_Z12get_local_idj", Builtin::Query(Query::LocalId)),
    ("_Z12get_group_idj", Builtin::Query(Query::GroupId)),
    ("_Z15get_global_sizej", Builtin::Query(Query::GlobalSize)),
    ("_Z14get_local_sizej", Builtin::Query(Query::LocalSize)),
    ("_Z23get_enqueued_local_sizej", Builtin::Query(Query::EnqueuedLocalSize)),
    ("_Z14get_num_groupsj", Builtin::Query(Query::NumGroups)),
    ("_Z17get_global_offsetj", Builtin::Query(Query::GlobalOffset)),
    ("_Z12get_work_dimv", Builtin::Query(Query::WorkDim)),
    ("_Z20get_global_linear_idv", Builtin::Query(Query::GlobalLinearId)),
    ("_Z19get_local_linear_idv", Builtin::Query(Query::LocalLinearId)),
    ("__heddle_relative_id", Builtin::Query(Query::RelativeId)),
    // What builtins/heddle.cl makes the sub-group functions of.
    ("__heddle_lane", Builtin::Query(Query::LaneId)),
    ("__heddle_warp", Builtin::Query(Query::WarpId)),
    ("__heddle_warps", Builtin::Query(Query::NumWarps)),
    ("__heddle_warp_size", Builtin::Query(Query::WarpSize)),
    ("__heddle_shuffle", Builtin::Shuffle),
    ("__heddle_ballot", Builtin::Ballot),
    ("__heddle_clock", Builtin::Clock),
    (printf::ROOM, Builtin::PrintfRoom),
    ("_Z7barrierj", Builtin::Barrier),
    ("_Z18work_group_barrierj", Builtin::Barrier),
    ("_Z18work_group_barrierj12memory_scope", Builtin::Barrier),
    ("_Z9mem_fencej", Builtin::Fence),
    ("_Z14read_mem_fencej", Builtin::Fence),
    ("_Z15write_mem_fencej", Builtin::Fence),
];

/// The built-in a function name stands for.
pub fn by_name(name: &str) -> Option<Builtin> {
    TABLE.iter().find(|(n, _)| *n == name).map(|(_, b)| *b)
}

/// Whether a function answers the same for all work-items and touches no memory: the `get_image_…`
/// queries, and the making of constant samplers.
pub fn is_image_query(name: &str) -> bool {
    name == "__translate_sampler_initializer" || name.starts_with("_Z") && name.contains("get_image_")
}

/// Whether a function reads or writes texels of an image.
pub fn is_image_access(name: &str) -> bool {
    name.starts_with("_Z") && (name.contains("read_image") || name.contains("write_image"))
}

/// The built-in a call instruction calls.
pub fn of_call(call: Value) -> Option<Builtin> {
    by_name(&call.called_function()?.name())
}
