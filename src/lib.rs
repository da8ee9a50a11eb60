//! Heddle: an out-of-tree GPU target for LLVM.
//!
//! OpenCL C goes through clang to LLVM IR; inkwell-driven passes analyse and rewrite the IR; a machine layer selects, clusters,
//! schedules, allocates and encodes; a simulator of the same machine runs the object and says what it cost. The modules stand in
//! order of the data flow: [`frontend`], [`isel`], [`mir`], [`codegen`], [`object`], [`runtime`], [`sim`], [`report`]; [`isa`]
//! and [`target`] are what they share. [`explore`] runs many points of machines, options and cases.

pub mod cli;
pub mod codegen;
pub mod driver;
pub mod explore;
pub mod frontend;
pub mod fuzz;
pub mod isa;
pub mod isel;
pub mod mir;
pub mod object;
pub mod report;
pub mod runtime;
pub mod sim;
pub mod target;
