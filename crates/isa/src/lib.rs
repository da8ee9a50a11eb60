//! The instruction set: one table, from which everything else derives.
//!
//! [`table`] lists every operation with its types, operand roles, flags, unit class and [`meaning`]. The encoder, decoder,
//! assembler, printer, verifier, operand constraints, interpreter and `docs/ISA.md` are all driven by it; none of them names
//! an operation to say what the table already says. [`Inst`] is the one instruction form of the machine layer: over virtual
//! registers in MIR, over physical registers after allocation, in assembly and after decoding.
//!
//! Rules: C1 (clusters and register spaces), S5 (u bit), REN-5 (release marks), K2–K5 (cache modifiers).

pub mod docs;
pub mod encode;
pub mod inst;
pub mod meaning;
pub mod registers;
pub mod rules;
pub mod sample;
pub mod semantics;
pub mod surface;
pub mod table;
pub mod text;
pub mod types;

pub use inst::{Guard, ImageAccess, Inst, Mods, Operand, PhysReg, Reg, SourceLoc, SurfacePlace, Targets, VReg};
pub use meaning::{CrossLane, Meaning, MemoryAction};
pub use registers::{Bank, Block, RegClass};
pub use table::{Op, OpInfo, Role, UnitRule};
pub use types::{
    AddressMode, AtomicOp, CacheName, CacheOperation, CachePolicy, Cond, MemorySpace, OpClass, Rounding, Space, Special, Type,
};
