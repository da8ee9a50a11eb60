//! Allocation of the main vector file M (C2): every vector register that no local file has taken gets its place
//! here, and allocation ends.
//!
//! # Problem
//! A main register that a warp names limits how many warps an SM can hold; a value without one costs a store
//! and reloads. So first the number of registers is chosen: all that are needed, or fewer where the warps that
//! then fit hide more latency than the spills cost. The prediction is a bound of the kind of Hong and Kim, "An
//! analytical model for a GPU architecture" (ISCA 2009): the larger of the time to issue and of latency spread
//! over the resident warps.
//!
//! # Steps
//! 0. [`super::lifetimes`] divides the registers into fixed and shared ones (REN-1, REN-4), where that pays.
//! 1. If more words are live somewhere than there are registers, [`super::main_spill`] moves values to
//!    private memory and back, or recomputes them, until the pressure fits, and the pieces become registers
//!    of their own.
//! 2. [`super::color`] assigns registers. Alignment of tuples (C12) may still leave one without a place; it
//!    is then spilled around each use.
//! 3. Reloads that are the last of their slot get the last-use policy (K7).
//! 4. The checker proves the result, all files at once.
//!
//! May touch: the whole function. It leaves no virtual register.

use super::allocate::color_bank;
use super::color::FileSpec;
use super::context::{Allocation, Context};
use super::{CodegenError, assign, checker, lifetimes, main_spill, ranges, spill};
use heddle_mir::cfg::Cfg;
use heddle_mir::{Bank, Form, Function};
use heddle_target::Machine;

/// Fewest registers that a limit for the sake of occupancy leaves a work-item.
const LEAST: u32 = 18;

/// How many registers a work-item should have: all it needs, or fewer, with spills, where the warps that then
/// fit hide more latency than the spills cost.
///
/// The prediction for w resident warps is the larger of what they take to issue and of the time of one warp
/// alone, each a warp: max(I, T / w), with instructions I and latency T weighted by block frequencies. A word
/// over the limit costs a store and a reload in its block.
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
        alone += f64::from(data.frequency * assign::path(machine, data.insts.iter()));
    }
    let reload = f64::from(machine.latency(heddle_isa::OpClass::LoadPrivate));
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
/// [`CodegenError::TooFewRegisters`] if a single instruction's operands do not fit;
/// [`CodegenError::Internal`] if the checker finds a defect.
pub fn run(function: &mut Function, context: &mut Context) -> Result<(), CodegenError> {
    let Allocation { machine, options, stats, session } = context.allocation(function);
    let registers = machine.sm.max_main_registers.min(options.max_main_registers.unwrap_or(u32::MAX));
    let internal = |function: &Function, message: String| CodegenError::Internal {
        kernel: function.name.clone(),
        stage: "main-file".into(),
        message,
    };
    let view = session.view(function);
    let pressure = ranges::pressure(function, view);
    let needed = pressure.worst[Bank::Vector as usize];
    stats.pressure[Bank::Vector as usize] = needed;
    let most = registers;
    let registers = best_limit(function, &pressure, machine, most);
    // Renaming first: it costs no spills.
    let mut renamed = needed <= most && lifetimes::run(function, session, machine, options, most, needed.min(registers));
    if needed > registers && !renamed {
        let view = session.take_view(function);
        main_spill::run(function, &view, &pressure, registers, &mut session.origins, stats);
        ranges::split_webs(function, Bank::Vector);
        spill::drop_unused_moves(function, &mut session.origins);
    }
    renamed = renamed || (needed > registers && lifetimes::run(function, session, machine, options, registers, registers));
    if !renamed {
        // So many registers leave room for all warps.
        let free = machine.sm.main_registers / (machine.sm.max_warps * machine.warp_size);
        color_bank(function, session, Bank::Vector, &FileSpec::new(registers).with_banks(machine.main_file.banks, free), stats)?;
    }
    if function.private_bytes > session.first_slot {
        let cfg = Cfg::new(function);
        spill::mark_last_reloads(function, &cfg, session.first_slot);
    }
    assign::inserted(function, machine, &session.origins);
    function.form = Form::Allocated;
    let virtual_left = function.layout.iter().flat_map(|b| &function.blocks[*b].insts).any(|i| {
        i.dst.as_virt().is_some()
            || i.srcs.iter().any(|s| s.as_virt().is_some())
            || matches!(i.guard, Some(heddle_isa::Guard { reg: heddle_isa::Reg::Virtual { .. }, .. }))
    });
    if virtual_left {
        return Err(internal(function, "virtual registers are left; the scalar file and predicates come first".into()));
    }
    if let Some(before) = session.before.take() {
        checker::check(&before, function, &session.origins).map_err(|m| internal(function, format!("checker: {m}")))?;
    }
    Ok(())
}
