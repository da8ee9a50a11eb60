//! Heddle's passes over LLVM IR, driven through inkwell and, where it has no call, LLVM's C API.
//!
//! The crate knows LLVM and nothing of MIR. Its files form layers, and `tests/layers.rs` keeps
//! them:
//!
//! 1. *Helpers*: [`ir`] (views of IR, metadata, control-flow graph, data layout, builders), and
//!    what OpenCL C kernels have in common: [`builtins`], [`memory`], [`printf`], [`facts`],
//!    [`error`].
//! 2. *Passes*: one pass, one file. A pass may use the result of an analysis before it, as
//!    [`cache_hints`] uses [`global_id`], and that uses [`uniformity`]; no two files use each
//!    other.
//! 3. [`pipeline`] lists the passes ([`pipeline::PASSES`]) and runs them by their names. Nothing in
//!    the crate imports it. The driver, `heddle opt`, its help and the plug-in for LLVM's tools
//!    (`plugin/`) take the passes from that list.
//!
//! Adding a pass is a file with its `mod` line here, a row in that list, and a lit test in
//! `tests/lit/passes` that names it (`tests/passes.rs` asks for it).

#![warn(clippy::undocumented_unsafe_blocks)]
#![warn(clippy::needless_range_loop, clippy::too_many_arguments, clippy::type_complexity)]
#![warn(clippy::wrong_self_convention)]

// Helpers.
pub mod builtins;
pub mod by_value;
pub mod error;
pub mod expand_intrinsics;
pub mod facts;
pub mod ir;
pub mod memory;
pub mod printf;

// Passes.
mod address_cost;
pub mod cache_hints;
pub mod cuda_kernels;
pub mod divisions;
pub mod dynamic_local;
pub mod global_id;
pub mod id_ranges;
pub mod local_alignment;
pub mod lower_copies;
pub mod lower_generic;
pub mod lower_printf;
pub mod math_intrinsics;
pub mod neighbours;
pub mod polynomial;
pub mod prepare;
pub mod private_arrays;
pub mod relative_id;
pub mod spir;
pub mod structurize;
pub mod surfaces;
pub mod uniformity;
pub mod uninitialised;
pub mod unroll;
pub mod wide_integers;

// Running them.
pub mod pipeline;

pub use error::PassError;
pub use facts::Facts;
