//! The machine description: everything about a machine that the compiler and the simulator need to know.
//!
//! A description is a TOML file; `heddle.toml` at the root of the project is the default machine. Nothing about a machine is a
//! constant elsewhere.

pub mod limits;
mod load;
mod memory;
mod validate;

pub use load::{DEFAULT as DEFAULT_TEXT, TargetError};
pub use memory::{Cache, Dram, Memory, Network, SecondLevel, SharedCache, SystemMemory};
pub use validate::Violation;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use heddle_isa::OpClass;

/// A whole machine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Machine {
    /// Name, printed in reports and stored in objects.
    pub name: String,
    /// What it resembles, where the numbers come from.
    #[serde(default)]
    pub description: String,
    /// Lanes a warp: 8, 16, 32 or 64 (S1).
    pub warp_size: u32,
    /// Clock in MHz, to turn cycles into time.
    pub clock_mhz: f64,
    /// Streaming multiprocessors.
    pub sm: Sm,
    /// Clusters, in order of their numbers (C1).
    pub clusters: Vec<Cluster>,
    /// Per unit class: which unit, how long, how often, at what energy.
    pub timing: BTreeMap<OpClass, Timing>,
    /// Energies of register files, wires and fixed costs.
    pub energy: Energy,
    /// Memory latencies, sizes and energies.
    pub memory: Memory,
}

/// One streaming multiprocessor; all are alike.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Sm {
    /// SMs of the device.
    pub count: u32,
    /// Warps resident at most.
    pub max_warps: u32,
    /// Work-groups resident at most.
    pub max_work_groups: u32,
    /// Work-items of a work-group at most.
    pub max_work_group_size: u32,
    /// 32-bit main vector registers of the SM, counting every lane.
    pub main_registers: u32,
    /// Main registers a work-item may name at most (at most 256).
    pub max_main_registers: u32,
    /// Scalar registers of a warp (at most 256).
    pub scalar_registers: u32,
    /// Predicate registers of a warp (at most 15).
    pub predicate_registers: u32,
    /// Work-group memory, bytes.
    pub local_memory: u32,
    /// Scalar instructions issued a cycle: the scalar unit's own slots (S1, S6).
    pub scalar_issue: u32,
    /// Run-time scalarizer (S7): most active lanes with the same operands that make an unmarked instruction scalar; 0: none.
    pub scalar_threshold: u32,
}

/// A cluster: a private local register file and the units it serves (C1).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Cluster {
    /// Name for listings.
    pub name: String,
    /// Units of the cluster.
    pub units: Vec<Unit>,
    /// Local vector registers a work-item (0: none).
    pub local_registers: u32,
    /// Whether the cluster's operands travel the longer, shared data path (SFU, memory; NUMBERS).
    #[serde(default)]
    pub shared_path: bool,
}

/// Kinds of execution units.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, strum::Display, strum::EnumString)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum Unit {
    /// Integer, f32 and f16 arithmetic, moves.
    Alu,
    /// Special functions, division, conversion of the rarer kind.
    Sfu,
    /// Binary64.
    Double,
    /// Loads, stores, atomics.
    LoadStore,
    /// Front end: branches, barriers.
    Control,
}

/// Timing and energy of a unit class.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Timing {
    /// Unit that executes it; any cluster with this unit may.
    pub unit: Unit,
    /// Cycles from issue to the result's availability, without memory.
    pub latency: u32,
    /// Cycles the unit is busy with a warp's instruction.
    pub interval: u32,
    /// Latency on the scalar unit (0: the scalar unit cannot execute it).
    pub scalar_latency: u32,
    /// Picojoules a lane.
    pub energy_pj: f64,
}

/// Energies apart from the units'. Picojoules.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Energy {
    /// Reading 32 bits of one lane from the main file, wire included where `wire-pj-per-mm` is 0.
    pub main_read_pj: f64,
    /// Writing 32 bits of one lane to the main file.
    pub main_write_pj: f64,
    /// Reading 32 bits of one lane from a local file of 1, 2, 3 … registers a lane; the last entry serves larger files.
    pub local_read_pj: Vec<f64>,
    /// Writing 32 bits of one lane to a local file of 1, 2, 3 … registers a lane.
    pub local_write_pj: Vec<f64>,
    /// Reading a 32-bit scalar register.
    pub scalar_read_pj: f64,
    /// Writing a 32-bit scalar register.
    pub scalar_write_pj: f64,
    /// Reading or writing one bit of a predicate register.
    pub predicate_pj: f64,
    /// Moving 32 bits over 1 mm.
    pub wire_pj_per_mm: f64,
    /// Distances from a file to a data path, mm.
    pub distance_mm: Distances,
    /// Fetching, decoding and issuing one instruction for a warp.
    pub issue_pj: f64,
    /// Comparing the operands of one lane with the first active lane's (run-time scalarizer, S7).
    pub scalar_compare_pj: f64,
    /// Static power of the whole device, watts.
    pub static_watts: f64,
}

/// Distances, mm.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Distances {
    /// Main file to any data path.
    pub main: f64,
    /// Local file to its cluster's private data path.
    pub local: f64,
    /// Local file to a shared data path (SFU, memory).
    pub local_shared: f64,
    /// Scalar file to the scalar unit.
    pub scalar: f64,
}
