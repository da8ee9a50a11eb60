//! The machine description: everything about a machine that the compiler and the simulator need to know.
//!
//! A description is a TOML file; `heddle.toml` at the root of the project is the default machine. Nothing
//! about a machine is a constant elsewhere. A field is one row of a table, with its meaning, range and
//! default (`machine.rs`, `memory.rs`, `power.rs`; `words.rs`, `mapping.rs`: types of values; how rows are
//! written: `describe.rs`); rules across fields are functions of `validate.rs`. `docs/FIELDS.md` is generated
//! from the rows.

mod clusters;
mod describe;
pub mod docs;
pub mod limits;
mod load;
mod machine;
mod mapping;
mod memory;
mod power;
pub mod registers;
#[doc(hidden)]
pub mod testing;
mod validate;
mod words;

pub use describe::Violation;
pub use load::{DEFAULT as DEFAULT_TEXT, TargetError};
pub use machine::{Arrays, Cluster, Distances, Energy, Machine, MainFile, Perturbation, SharedUnits, Sm, Timing, Unit};
pub use mapping::{AddressField, AddressMapping, AddressPart};
pub use memory::{
    Cache, DataCache, Dram, InstructionCache, Memory, Network, SecondLevel, SharedCache, SharedTlb, SystemMemory, Tlb,
};
pub use power::StaticPower;
pub use words::{DramScheduler, Replacement, Scheduler, SetIndex, WritePolicy};
