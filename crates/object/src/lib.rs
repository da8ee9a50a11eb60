//! ELF objects: the file a compilation leaves and the simulator loads.
//!
//! ELF64, little-endian, machine number [`MACHINE`] (of the range that the System V ABI leaves unassigned).
//! Sections: `.text` with 16-byte instruction words, `.heddle.kernels` with the metadata (JSON),
//! `.heddle.data` with program-scope data, DWARF's `.debug_line` and what it needs with source positions.
//! Each kernel is a function symbol.

pub mod asm;
pub mod error;
pub mod format;
pub mod image;
pub mod metadata;
pub mod printf;
pub mod read;
pub mod variables;
pub mod write;

pub use image::Image;

/// ELF machine number.
pub const MACHINE: u16 = 0x4844;
/// Version of the metadata format.
pub const VERSION: u32 = 1;
/// Bytes of an instruction.
pub const INSTRUCTION_BYTES: usize = 16;
