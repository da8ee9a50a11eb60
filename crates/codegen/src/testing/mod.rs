//! What the tests of code generation share: a machine, random SSA functions with loops and divergence, and an
//! interpreter that runs a function at any stage on one warp.

pub mod generate;
pub mod interpret;

use std::collections::BTreeMap;

use strum::IntoEnumIterator;

use heddle_isa::OpClass;
use heddle_target::{Cluster, Distances, Energy, Machine, Memory, Sm, Timing, Unit};

/// Unit of a class, as in the default machine.
fn unit(class: OpClass) -> Unit {
    match class {
        OpClass::Control => Unit::Control,
        OpClass::LoadGlobal
        | OpClass::LoadLocal
        | OpClass::LoadPrivate
        | OpClass::LoadArgument
        | OpClass::Store
        | OpClass::Atomic
        | OpClass::MemoryControl => Unit::LoadStore,
        OpClass::Float64 => Unit::Double,
        OpClass::Special | OpClass::FloatDivide | OpClass::IntDivide => Unit::Sfu,
        _ => Unit::Alu,
    }
}

/// A machine with given register files (main, scalar, predicate) and the four clusters of the default machine.
pub fn machine(main: u32, scalar: u32, predicate: u32) -> Machine {
    clustered(main, scalar, predicate, 4, &[8])
}

/// A machine of `clusters` clusters with local files of the sizes given (in turn). The last cluster has the
/// load-store unit, all have the others.
pub fn clustered(main: u32, scalar: u32, predicate: u32, clusters: usize, local: &[u32]) -> Machine {
    let timing = |class| Timing { unit: unit(class), latency: 4, interval: 1, scalar_latency: 4, energy_pj: 1.0 };
    let cluster = |i: usize| {
        let mut units = vec![Unit::Alu, Unit::Sfu, Unit::Double];
        if i + 1 == clusters {
            units.push(Unit::LoadStore);
        }
        let local_registers = local[i % local.len()];
        Cluster { name: format!("c{i}"), units, local_registers, near_registers: local_registers / 3, shared_path: i % 2 == 1 }
    };
    let default = Machine::default_machine();
    Machine {
        name: "test".into(),
        warp_size: 8,
        sm: Sm {
            count: 1,
            max_warps: 8,
            max_work_groups: 8,
            max_main_registers: main,
            scalar_registers: scalar,
            predicate_registers: predicate,
            scalar_threshold: 0,
            ..default.sm
        },
        clusters: (0..clusters).map(cluster).collect(),
        timing: OpClass::iter().map(|c| (c, timing(c))).collect::<BTreeMap<_, _>>(),
        energy: Energy {
            main_read_pj: 1.0,
            main_write_pj: 1.0,
            local_read_pj: vec![0.1, 0.2, 0.4],
            local_write_pj: vec![0.1, 0.2, 0.4],
            scalar_read_pj: 0.1,
            scalar_write_pj: 0.1,
            predicate_pj: 0.01,
            wire_pj_per_mm: 1.0,
            distance_mm: Distances { main: 1.0, local: 0.1, near: 0.02, local_shared: 0.2, scalar: 0.1 },
            issue_pj: 1.0,
            scalar_compare_pj: 0.1,
            ..default.energy
        },
        memory: Memory { device_bytes: 1 << 20, ..default.memory },
        ..default
    }
}
