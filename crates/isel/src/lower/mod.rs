//! Lowering: one file for each family of operations, functions over the parts of
//! [`Selector`](crate::Selector).
//!
//! A function that only emits takes the [`Emitter`](crate::emit::Emitter); one that reads LLVM values takes
//! the selector.

pub(crate) mod atomics;
pub(crate) mod bitcast;
pub(crate) mod cache_control;
pub(crate) mod calls;
pub(crate) mod casts;
pub(crate) mod comparisons;
pub(crate) mod copies;
pub(crate) mod extremes;
pub(crate) mod float_intrinsics;
pub(crate) mod floats;
pub(crate) mod images;
pub(crate) mod integer_intrinsics;
pub(crate) mod integers;
pub(crate) mod intrinsics;
pub(crate) mod leafwise;
pub(crate) mod memory;
pub(crate) mod packing;
pub(crate) mod pieces;
pub(crate) mod queries;
pub(crate) mod vectors;
pub(crate) mod wide;
