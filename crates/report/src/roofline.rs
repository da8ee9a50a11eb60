//! Roofline: what a kernel computed a second, against what the machine can compute and move (Williams,
//! Waterman, Patterson, "Roofline", CACM 2009).
//!
//! Operations are counted: active lanes of executed arithmetic instructions, a multiply-add as two; an
//! instruction that ran on the scalar unit counts once. Moves, conversions, cross-lane operations, address
//! generation and memory instructions are no operations. Ceilings come from the machine description: clusters
//! that have the unit, lanes a warp, cycles a unit is busy, SMs, clock; sectors a cycle of DRAM channels and
//! L2 slices.

use std::collections::BTreeMap;

use serde::Serialize;

use heddle_isa::{Op, OpClass};
use heddle_runtime::run::Outcome;
use heddle_sim::Program;
use heddle_sim::statistics::Statistics;
use heddle_target::Machine;

/// What a launch's kernel computed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Operations {
    /// Floating-point operations of any width, special functions and divisions included.
    pub float: u64,
    /// Integer operations.
    pub integer: u64,
}

impl Operations {
    /// Both.
    pub fn total(&self) -> u64 {
        self.float + self.integer
    }
}

/// A kernel's place.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Point {
    /// Kernel, in the version that ran.
    pub kernel: String,
    /// Operations of all its launches.
    pub operations: Operations,
    /// Cycles of all its launches.
    pub cycles: u64,
    /// Bytes between L2 and device or system memory.
    pub dram_bytes: u64,
    /// Bytes between L2 and the SMs.
    pub l2_bytes: u64,
    /// Operations a second.
    pub rate: f64,
}

/// A ceiling: operations or bytes a second.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Ceiling {
    /// What limits.
    pub name: String,
    /// A second.
    pub rate: f64,
}

/// The chart.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Roofline {
    /// Horizontal ceilings.
    pub compute: Vec<Ceiling>,
    /// Slanted ceilings: bytes a second.
    pub memory: Vec<Ceiling>,
    /// Kernels.
    pub points: Vec<Point>,
}

/// Operations of a launch, from how often its blocks ran.
pub fn operations(program: &Program, s: &Statistics) -> Operations {
    let mut result = Operations::default();
    for (block, counted) in program.blocks.iter().zip(&s.blocks) {
        let first = block.first as usize;
        for (i, inst) in (first..).zip(&program.insts[first..first + block.len() as usize]) {
            let saved = s.timing.as_ref().and_then(|t| t.profile.get(i)).map_or(0, |p| p.saved_lanes);
            let times = if inst.runs_on_scalar_unit() { counted.executions } else { counted.lanes.saturating_sub(saved) };
            let times = times * if matches!(inst.op, Op::Mad | Op::Fma) { 2 } else { 1 };
            match inst.class() {
                OpClass::Float16 | OpClass::Float32 | OpClass::Float64 | OpClass::FloatDivide | OpClass::Special => {
                    result.float += times;
                }
                OpClass::Int32 | OpClass::Int64 | OpClass::Mul32 | OpClass::Mul64 | OpClass::IntDivide => result.integer += times,
                _ => {}
            }
        }
    }
    result
}

/// Operations a second of one class on all SMs, one an instruction and lane.
fn peak(machine: &Machine, class: OpClass) -> Option<f64> {
    let t = machine.timing.get(&class)?;
    let lanes = f64::from(machine.unit_count(t.unit)) * f64::from(machine.warp_size) * f64::from(machine.sm.count);
    Some(lanes / f64::from(t.interval.max(1)) * machine.clock_mhz * 1e6)
}

/// The chart of a run in timing mode; `programs` are the versions of kernels that ran, by their numbers in the image.
pub fn roofline(outcome: &Outcome, programs: &BTreeMap<usize, Program>, machine: &Machine) -> Roofline {
    let mut points: BTreeMap<String, Point> = BTreeMap::new();
    let mut wide = false;
    for launch in &outcome.launches {
        let s = &launch.statistics;
        let (Some(t), Some(program)) = (&s.timing, programs.get(&launch.version)) else { continue };
        let (kernel, o) = (program.header.symbol(), operations(program, s));
        wide |= s.classes.keys().any(|c| *c == OpClass::Float64.to_string());
        let p = points.entry(kernel.clone()).or_insert_with(|| Point {
            kernel,
            operations: Operations::default(),
            cycles: 0,
            dram_bytes: 0,
            l2_bytes: 0,
            rate: 0.0,
        });
        let h = &t.hierarchy;
        p.operations.float += o.float;
        p.operations.integer += o.integer;
        p.cycles += t.cycles;
        p.dram_bytes += h.dram_read_bytes + h.dram_written_bytes + h.system_read_bytes + h.system_written_bytes;
        p.l2_bytes += h.l2_to_l1_bytes + h.l1_to_l2_bytes;
    }
    let hertz = machine.clock_mhz * 1e6;
    let mut points: Vec<Point> = points.into_values().collect();
    for p in &mut points {
        p.rate = p.operations.total() as f64 / (p.cycles.max(1) as f64 / hertz);
    }
    let mut compute = Vec::new();
    let mut ceiling = |name: &str, class: OpClass, operations: f64| {
        if let Some(rate) = peak(machine, class) {
            compute.push(Ceiling { name: name.into(), rate: rate * operations });
        }
    };
    ceiling("float32 multiply-add", OpClass::Float32, 2.0);
    ceiling("without multiply-add", OpClass::Int32, 1.0);
    if wide {
        ceiling("float64 multiply-add", OpClass::Float64, 2.0);
    }
    let m = &machine.memory;
    let sector = f64::from(m.sector_bytes);
    let dram = f64::from(m.dram.channels) * sector / f64::from(m.dram.interval.max(1)) * hertz;
    // What the slices deliver, and what the SMs' ports take.
    let slices = f64::from(m.l2.slices) / f64::from(m.l2.interval.max(1));
    let ports = f64::from(machine.sm.count) / f64::from(m.network.interval.max(1));
    let l2 = slices.min(ports) * sector * hertz;
    Roofline {
        compute,
        memory: vec![Ceiling { name: "DRAM".into(), rate: dram }, Ceiling { name: "L2".into(), rate: l2 }],
        points,
    }
}
