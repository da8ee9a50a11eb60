//! Allocation of the main vector file M, first form: every vector register goes there (C2; local files come with partitioning).
//!
//! 1. If more words are live somewhere than there are registers, [`super::main_spill`] moves values to private memory and back, or
//!    recomputes them, until the pressure fits, and the pieces become registers of their own.
//! 2. [`super::color`] assigns registers. Alignment of tuples (C12) may still leave one without a place; it is then spilled around each use.
//! 3. Reloads that are the last of their slot get the last-use policy (K7).
//! 4. The checker proves the result, all three files at once.

use cranelift_entity::SecondaryMap;
use rustc_hash::FxHashMap;

use super::allocate::{Session, color_bank, to_physical};
use super::color::{self, FileSpec};
use super::{CodegenError, CodegenOptions, FunctionStats, assign, checker, main_spill, ranges, spill};
use crate::isa::{Op, Space, VReg};
use crate::mir::cfg::Cfg;
use crate::mir::{Bank, Block, Function, Stage, liveness};
use crate::target::Machine;

/// Colours long-lived registers from 0 on and short-lived ones behind them (REN-4), if both fit `registers` names without spilling; says whether. Long-lived is
/// what is live across a barrier or into a loop's header over its back edge, and what may be read without having been written.
fn color_by_lifetime(function: &mut Function, session: &mut Session, registers: u32) -> bool {
    let view = session.view(function);
    let mut long: SecondaryMap<VReg, bool> = SecondaryMap::with_capacity(function.vregs.len());
    long.resize(function.vregs.len());
    let mine = |f: &Function, r: VReg| f.vregs[r].bank == Bank::Vector && f.local[r].is_none();
    let mut number: SecondaryMap<Block, usize> = SecondaryMap::with_default(usize::MAX);
    view.cfg.rpo.iter().enumerate().for_each(|(i, b)| number[*b] = i);
    view.maybe_undefined().for_each(|r| long[r] = true);
    for &block in &function.layout {
        let loops = view.cfg.edges[block].succs.iter().any(|s| number[*s] <= number[block]);
        for (reg, _) in view.live_out(block).filter(|_| loops) {
            long[reg] = true;
        }
        let insts = &function.blocks[block].insts;
        if insts.iter().any(|i| i.op == Op::Barrier) {
            let mut live: FxHashMap<VReg, ()> = view.live_out(block).map(|(r, _)| (r, ())).collect();
            for inst in insts.iter().rev() {
                if inst.op == Op::Barrier {
                    live.keys().for_each(|r| long[*r] = true);
                }
                if let Some((r, _)) = liveness::def(inst).filter(|_| inst.guard.is_none()) {
                    live.remove(&r);
                }
                liveness::for_each_use(inst, |r, _| {
                    live.insert(r, ());
                });
            }
        }
    }
    let color = |function: &Function, view: &ranges::LiveView, wanted: bool, room: u32| {
        let graph = ranges::interference_where(function, view, |r| mine(function, r) && long[r] == wanted, |_| false);
        let coloring = color::color(&graph, &FileSpec::new(room)).ok().filter(|c| c.spilled.is_empty())?;
        let colors: Vec<(VReg, u16)> =
            graph.nodes.iter().zip(&coloring.color).filter_map(|(n, c)| Some((n.reg, (*c)?))).collect();
        Some((colors, coloring.used))
    };
    let Some((fixed, used)) = color(function, view, true, registers) else { return false };
    let first = used.next_multiple_of(4);
    let Some((shared, _)) = registers.checked_sub(first).and_then(|room| color(function, view, false, room)) else {
        return false;
    };
    if shared.is_empty() {
        return false;
    }
    let mut colors: SecondaryMap<VReg, Option<u16>> = SecondaryMap::with_capacity(function.vregs.len());
    fixed.into_iter().for_each(|(r, c)| colors[r] = Some(c));
    shared.into_iter().for_each(|(r, c)| colors[r] = Some(c + first as u16));
    let Function { blocks, layout, vregs, local, .. } = function;
    for block in layout.iter() {
        blocks[*block].insts.iter_mut().for_each(|i| {
            to_physical(i, |r| (vregs[r].bank == Bank::Vector && local[r].is_none()).then(|| colors[r]), Space::Main);
        });
    }
    function.fixed_registers = Some(first);
    session.forget_view();
    true
}

/// Fewest registers that a limit for the sake of occupancy leaves a work-item.
const LEAST: u32 = 18;

/// How many registers a work-item should have: all it needs, or fewer, with spills, where the warps that then fit hide more latency than the spills cost.
///
/// The prediction for w resident warps is the larger of what they take to issue and of the time of one warp alone, each a warp: max(I, T / w), with
/// instructions I and latency T weighted by block frequencies. A word over the limit costs a store and a reload in its block.
fn best_limit(function: &Function, pressure: &ranges::Pressure, machine: &Machine, most: u32) -> u32 {
    let needed = pressure.worst[Bank::Vector as usize];
    let warps =
        |registers: u32| (machine.sm.main_registers / (registers.max(1) * machine.warp_size)).clamp(1, machine.sm.max_warps);
    if needed > most || warps(needed) == machine.sm.max_warps {
        return most;
    }
    let (mut issue, mut alone) = (0.0, 0.0);
    for &block in &function.layout {
        let data = &function.blocks[block];
        issue += f64::from(data.frequency) * data.insts.len() as f64;
        alone += f64::from(data.frequency * assign::path(machine, &data.insts));
    }
    let reload = f64::from(machine.latency(crate::isa::OpClass::LoadPrivate));
    let predict = |registers: u32| {
        let words: f64 = function
            .layout
            .iter()
            .map(|b| f64::from(function.blocks[*b].frequency) * f64::from(pressure.vector[*b].saturating_sub(registers)))
            .sum();
        (issue + 2.0 * words).max((alone + reload * words) / f64::from(warps(registers)))
    };
    let candidates = (warps(needed) + 1..=machine.sm.max_warps)
        .map(|w| machine.sm.main_registers / (w * machine.warp_size))
        .filter(|r| (LEAST..needed).contains(r));
    // Only a clear gain is worth spilling for.
    let mut best = (predict(needed) * 0.95, most);
    for limit in candidates {
        let time = predict(limit);
        if time < best.0 {
            best = (time, limit);
        }
    }
    best.1
}

/// Allocates the main file and finishes allocation.
///
/// # Errors
/// [`CodegenError::TooFewRegisters`] if a single instruction's operands do not fit; [`CodegenError::Internal`] if the checker finds
/// a defect.
pub fn run(
    function: &mut Function,
    machine: &Machine,
    options: &CodegenOptions,
    session: &mut Session,
    stats: &mut FunctionStats,
) -> Result<(), CodegenError> {
    let registers = machine.sm.max_main_registers.min(options.max_main_registers.unwrap_or(u32::MAX));
    let internal = |function: &Function, message: String| CodegenError::Internal {
        kernel: function.name.clone(),
        stage: "main-file".into(),
        message,
    };
    let view = session.view(function);
    let pressure = ranges::pressure(function, view);
    let registers = best_limit(function, &pressure, machine, registers);
    stats.pressure[Bank::Vector as usize] = pressure.worst[Bank::Vector as usize];
    if pressure.worst[Bank::Vector as usize] > registers {
        let view = session.take_view(function);
        main_spill::run(function, &view, &pressure, registers, &mut session.origins, stats);
        let view = session.take_view(function);
        ranges::split_webs(function, &view, Bank::Vector);
        spill::drop_unused_moves(function, &mut session.origins);
    }
    if !options.rename || !color_by_lifetime(function, session, registers) {
        color_bank(function, session, Bank::Vector, &FileSpec::new(registers), stats)?;
    }
    if function.private_bytes > session.first_slot {
        let cfg = Cfg::new(function);
        spill::mark_last_reloads(function, &cfg, session.first_slot);
    }
    assign::inserted(function, machine, &session.origins);
    function.stage = Stage::Allocated;
    let virtual_left = function.layout.iter().flat_map(|b| &function.blocks[*b].insts).any(|i| {
        i.dst.as_virt().is_some()
            || i.srcs.iter().any(|s| s.as_virt().is_some())
            || matches!(i.guard, Some(crate::isa::Guard { reg: crate::isa::Reg::Virtual { .. }, .. }))
    });
    if virtual_left {
        return Err(internal(function, "virtual registers are left; the scalar file and predicates come first".into()));
    }
    if let Some(before) = session.before.take() {
        checker::check(&before, function, &session.origins).map_err(|m| internal(function, format!("checker: {m}")))?;
    }
    Ok(())
}
