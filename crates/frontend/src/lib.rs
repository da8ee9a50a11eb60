//! The front end: drives clang, links the built-in library and brings the module into the form that selection
//! expects.
//!
//! - [`args`]: a command line as clang reads it.
//! - [`features`]: what the device announces of OpenCL C.
//! - `library.rs`: the built-in library as a file.
//! - `clang.rs`: clang as a process.
//! - [`Language`]: which language a source is in; CUDA and HIP.
//! - [`source`]: programs from memory.
//! - [`spirv`]: binaries of SPIR-V, and their specialisation constants.
//! - [`translate`]: Khronos' translator, which makes IR of them.
//! - `compile.rs`: a source file becomes bitcode.
//! - `passes.rs`: clang's optimisation pipeline.
//! - `whole.rs`: large programs without what no kernel calls.
//! - `module.rs`: from sources to one module that is ready for selection.
//!
//! May touch: clang, LLVM. Knows nothing of MIR or the machine.

pub mod args;
mod clang;
mod compile;
mod dependencies;
mod error;
pub mod features;
mod language;
mod library;
mod module;
mod older_spirv;
mod options;
mod passes;
pub mod source;
pub mod spirv;
pub mod translate;
mod whole;

pub use args::{BuildInvocation, OptLevel};
pub use clang::{clang_path, preprocess};
pub use compile::compile_to_bitcode;
pub use error::FrontendError;
pub use language::Language;
pub use library::cache_folder;
pub use module::{Bitcode, compile_to_module, link_to_bitcode, link_to_module, link_whole, run_passes};
pub use options::{Diagnostics, FrontendOptions, Stop};
