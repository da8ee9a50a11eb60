//! Address spaces, as `nvptx64` IR numbers them, and the generic pointers among them.
//!
//! A generic pointer has 64 bits. Global addresses are themselves; a local or private address is
//! the low word, with [`LOCAL_APERTURE`] or [`PRIVATE_APERTURE`] as high word, where device memory
//! never is. The null pointer is 0 in every space; selection keeps offset 0 of local memory free
//! where a kernel could see the difference.

/// Private variables and generic pointers alike.
pub const GENERIC: u32 = 0;
/// Global memory.
pub const GLOBAL: u32 = 1;
/// Local memory of a work-group.
pub const LOCAL: u32 = 3;
/// Constant memory.
pub const CONSTANT: u32 = 4;
/// Pointers that are known to be private.
pub const PRIVATE: u32 = 5;

/// High word of a generic pointer to local memory.
pub const LOCAL_APERTURE: u32 = 0x8000_0003;
/// High word of a generic pointer to private memory.
pub const PRIVATE_APERTURE: u32 = 0x8000_0005;
