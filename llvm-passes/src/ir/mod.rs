//! LLVM IR for passes: views of values and functions, metadata, the control-flow graph, the data
//! layout, builders, and LLVM's own passes.
//!
//! What is here knows LLVM and nothing of what the passes look for. It imports none of them
//! (`tests/layers.rs`). LLVM's C API offers no dominators, loops or uniformity; [`cfg`](mod@cfg)
//! computes what the passes need.

pub mod address_space;
pub mod build;
pub mod cfg;
pub mod debug;
pub mod diagnostics;
pub mod function;
pub mod layout;
pub mod link;
pub mod llvm_passes;
pub mod metadata;
pub mod selection;
pub mod signature;
pub mod types;
pub mod value;

pub use function::{blocks, entered_by_launch, is_kernel, params};
pub use types::Type;
pub use value::{BlockRef, SourcePosition, Value};
