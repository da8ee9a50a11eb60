//! What tests of all crates share.

use std::path::Path;

use crate::Machine;

/// The machine `machines/mixed.toml`, whose clusters are of different kinds, with some fields changed.
///
/// # Panics
/// If that makes no machine.
pub fn mixed<S: ToString>(overrides: &[S]) -> Machine {
    let overrides: Vec<String> = overrides.iter().map(ToString::to_string).collect();
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../machines/mixed.toml");
    Machine::load(Some(Path::new(path)), &overrides).unwrap_or_else(|e| panic!("{e}"))
}
