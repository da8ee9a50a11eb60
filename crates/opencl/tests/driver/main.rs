//! The driver as a whole, through its table of entry points, as programs use it.
//!
//! The library is loaded as a loader does it, without a loader. All tests share one process and so one device.
//! Cargo does not build a cdylib for its tests: run `cargo build -p heddle-opencl` in the same profile before.

#![allow(clippy::undocumented_unsafe_blocks, reason = "tests read what they wrote; entry points are called by macros")]

mod host;
mod memory;
mod objects;
mod programs;
mod queues;
mod stress;
