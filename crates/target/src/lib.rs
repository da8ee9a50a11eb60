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
mod validate;
mod words;

pub use describe::Violation;
pub use load::{DEFAULT as DEFAULT_TEXT, TargetError};
pub use machine::{Arrays, Cluster, Distances, Energy, Machine, MainFile, SharedUnits, Sm, Timing, Unit};
pub use mapping::{AddressField, AddressMapping, AddressPart};
pub use memory::{
    Cache, DataCache, Dram, InstructionCache, Memory, Network, SecondLevel, SharedCache, SharedTlb, SystemMemory, Tlb,
};
pub use power::StaticPower;
pub use words::{DramScheduler, Replacement, Scheduler, SetIndex, WritePolicy};

/// What tests of all crates share.
#[doc(hidden)]
pub mod testing {
    use super::Machine;

    /// The machine `machines/mixed.toml`, whose clusters are of different kinds, with some fields changed.
    ///
    /// # Panics
    /// If that makes no machine.
    pub fn mixed<S: ToString>(overrides: &[S]) -> Machine {
        let overrides: Vec<String> = overrides.iter().map(ToString::to_string).collect();
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../machines/mixed.toml");
        Machine::load(Some(std::path::Path::new(path)), &overrides).unwrap_or_else(|e| panic!("{e}"))
    }
}
