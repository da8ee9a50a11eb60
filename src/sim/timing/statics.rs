//! What the timing model knows of each instruction before the launch: scoreboard rows, unit, latencies.

use crate::isa::{AddressMode, Inst, MemorySpace, Op, Operand, Reg, Space};
use crate::sim::program::Program;
use crate::sim::rename::Uses;
use crate::target::{Machine, Unit};

/// What the timing model needs to know of an instruction, worked out once.
pub(super) struct Static {
    /// Rows read, predicates as `PREDICATE_ROWS + number`.
    pub reads: Vec<u16>,
    /// Rows written.
    pub writes: Vec<u16>,
    pub cluster: usize,
    pub unit: Unit,
    pub latency: u32,
    pub interval: u32,
    pub scalar: bool,
    pub control: bool,
    /// The scalar unit could run it if all active lanes had the same operands.
    pub eligible: bool,
    /// Cycles to the result on the scalar unit.
    pub scalar_latency: u32,
    /// Lane operands that the run-time scalarizer compares, in words a lane.
    pub compared: u32,
    /// Shared registers (REN-3).
    pub shared: Uses,
}

/// Scoreboard rows of the predicates come after all register rows. Main registers from `fixed` on are shared.
pub(super) fn statics(program: &Program, machine: &Machine, fixed: u32) -> Vec<Static> {
    let predicates = program.rows.total;
    let row = |operand: Operand, row: u16, words: u8, out: &mut Vec<u16>| match operand {
        Operand::Reg(Reg::Physical(p)) if p.space == Space::Predicate => out.push(predicates + u16::from(p.index)),
        Operand::Reg(_) => out.extend((0..u16::from(words.max(1))).map(|w| row + w)),
        _ => {}
    };
    program
        .insts
        .iter()
        .enumerate()
        .map(|(i, inst)| {
            let rows = program.operands[i];
            let (mut reads, mut writes) = (Vec::new(), Vec::new());
            for (k, s) in inst.srcs.iter().enumerate() {
                row(*s, rows[k + 1], inst.src_words(k), &mut reads);
            }
            if let Some(g) = inst.guard {
                row(Operand::Reg(g.reg), 0, 0, &mut reads);
            }
            row(inst.dst, rows[0], inst.dst_words(), &mut writes);
            let class = inst.class();
            let control = class == crate::isa::OpClass::Control;
            let scalar = inst.runs_on_scalar_unit();
            let t = machine.timing.get(&class).copied();
            let (unit, mut latency, interval) = t.map_or((Unit::Alu, 1, 1), |t| (t.unit, t.latency, t.interval));
            let mut scalar_latency = t.map_or(1, |t| if t.scalar_latency == 0 { t.latency } else { t.scalar_latency });
            scalar_latency += memory_latency(inst, machine);
            latency += memory_latency(inst, machine);
            if scalar {
                latency = scalar_latency;
            }
            let lane_words =
                |i: usize, s: &Operand| if s.is_uniform_physical() { 0 } else { u32::from(inst.src_words(i).max(1)) };
            Static {
                reads,
                writes,
                cluster: usize::from(inst.cluster),
                unit,
                latency,
                interval,
                scalar,
                control,
                eligible: inst.info().flags.scalar && !scalar && !control && inst.dst.is_some(),
                scalar_latency,
                shared: Uses::new(inst, fixed),
                compared: inst.srcs.iter().enumerate().map(|(i, s)| lane_words(i, s)).sum(),
            }
        })
        .collect()
}

fn memory_latency(inst: &Inst, machine: &Machine) -> u32 {
    if !matches!(inst.op, Op::Load | Op::LoadUniform | Op::Atomic) {
        return 0;
    }
    let m = &machine.memory;
    let surface = if inst.mods.address == AddressMode::Surface { m.surface_latency } else { 0 };
    surface
        + match inst.mods.space {
            Some(MemorySpace::Local) => m.local_latency,
            Some(MemorySpace::Argument) => m.argument_latency,
            // As long as the hierarchy says.
            _ => 0,
        }
}
