//! Register allocation, first form: scalar, predicate and main file, each by [`super::color`], spilling until everything fits.
//!
//! Live ranges are computed per virtual register over a linear numbering of the instructions: reads of instruction p stand at point 2p, its write
//! at 2p+1, so a source that dies may share its register with the result. Scalar liveness is the linear view (hazard 1), see
//! [`crate::mir::liveness`].

use cranelift_entity::SecondaryMap;

use super::color::{Coloring, Hint, Range, color};
use super::spill::{self, Origins};
use super::{CodegenError, CodegenOptions, FunctionStats, assign, checker};
use crate::isa::{Inst, Op, Operand, PhysReg, Reg, Space, VReg};
use crate::mir::cfg::Cfg;
use crate::mir::liveness::{self, Liveness};
use crate::mir::{Bank, Function, Stage};
use crate::target::Machine;

const BANKS: [Bank; 3] = [Bank::Scalar, Bank::Predicate, Bank::Vector];
/// More rounds of spilling than any real function needs; only a defect of the compiler would exceed it.
const MAX_ROUNDS: usize = 200;

/// Replaces every virtual register by a physical one.
///
/// # Errors
/// [`CodegenError::TooFewRegisters`] if a single instruction's operands do not fit; [`CodegenError::Internal`] if the checker
/// finds a defect.
pub fn run(
    function: &mut Function,
    machine: &Machine,
    options: &CodegenOptions,
    stats: &mut FunctionStats,
) -> Result<(), CodegenError> {
    let before = options.verify.then(|| function.clone());
    let mut origins: Origins = SecondaryMap::new();
    for block in &function.layout {
        origins[*block] = (0..function.blocks[*block].insts.len() as u32).collect();
    }
    let main = machine.sm.max_main_registers.min(options.max_main_registers.unwrap_or(u32::MAX));
    let files = [("scalar", machine.sm.scalar_registers), ("predicate", machine.sm.predicate_registers), ("main", main)];
    let mut pinned: SecondaryMap<VReg, bool> = SecondaryMap::new();
    let mut colors: SecondaryMap<VReg, Option<u16>> = SecondaryMap::new();
    'rounds: for round in 0.. {
        if round == MAX_ROUNDS {
            return Err(CodegenError::Internal {
                kernel: function.name.clone(),
                stage: "allocate".into(),
                message: "spilling does not converge".into(),
            });
        }
        let mut ranges = live_ranges(function, &pinned);
        for (bank, (file, registers)) in BANKS.into_iter().zip(files) {
            let ranges = &mut ranges[bank_index(bank)];
            let Coloring { color: coloring, spilled, .. } = color(ranges, registers)
                .map_err(|_| CodegenError::TooFewRegisters { kernel: function.name.clone(), file, available: registers })?;
            if !spilled.is_empty() {
                spill::rewrite(function, &mut origins, &spilled, &mut pinned, stats);
                assign::run(function, machine);
                continue 'rounds;
            }
            for range in ranges.iter() {
                colors[range.reg] = coloring[range.reg];
            }
        }
        break;
    }
    for block in &function.layout {
        for inst in &mut function.blocks[*block].insts {
            to_physical(inst, &function.vregs, &colors);
        }
    }
    function.stage = Stage::Allocated;
    if let Some(before) = before {
        checker::check(&before, function, &origins).map_err(|message| CodegenError::Internal {
            kernel: function.name.clone(),
            stage: "allocate (checker)".into(),
            message,
        })?;
    }
    Ok(())
}

/// Position of a bank in [`BANKS`].
fn bank_index(bank: Bank) -> usize {
    BANKS.iter().position(|b| *b == bank).unwrap_or(0)
}

fn physical(class: crate::mir::RegClass, color: Option<u16>, word: u8) -> Reg {
    let space = match class.bank {
        Bank::Vector => Space::Main,
        Bank::Scalar => Space::Scalar,
        Bank::Predicate => Space::Predicate,
    };
    // A register without colour is never live: its reads are of undefined values.
    Reg::Physical(PhysReg { space, index: color.unwrap_or(0) as u8 + word })
}

fn to_physical(
    inst: &mut Inst,
    classes: &cranelift_entity::PrimaryMap<VReg, crate::mir::RegClass>,
    colors: &SecondaryMap<VReg, Option<u16>>,
) {
    let map = |operand: &mut Operand| {
        if let Some((reg, word)) = operand.as_virt() {
            *operand = Operand::Reg(physical(classes[reg], colors[reg], word));
        }
    };
    map(&mut inst.dst);
    inst.srcs.iter_mut().for_each(map);
    if let Some(guard) = &mut inst.guard {
        if let Reg::Virtual { reg, .. } = guard.reg {
            guard.reg = physical(classes[reg], colors[reg], 0);
        }
    }
}

/// Live ranges of all virtual registers, by bank.
fn live_ranges(function: &Function, pinned: &SecondaryMap<VReg, bool>) -> [Vec<Range>; 3] {
    let cfg = Cfg::new(function);
    let live = Liveness::new(function, &cfg);
    let n = function.vregs.len();
    let mut segments: SecondaryMap<VReg, Vec<(u32, u32)>> = SecondaryMap::with_capacity(n);
    let mut mask: SecondaryMap<VReg, u8> = SecondaryMap::with_capacity(n);
    let mut end: SecondaryMap<VReg, u32> = SecondaryMap::with_capacity(n);
    let mut cost: SecondaryMap<VReg, f32> = SecondaryMap::with_capacity(n);
    let mut hints: SecondaryMap<VReg, Vec<Hint>> = SecondaryMap::with_capacity(n);
    segments.resize(n);
    mask.resize(n);
    end.resize(n);
    let mut open: Vec<VReg> = Vec::new();
    let mut point = 0u32;
    for &block in &function.layout {
        let data = &function.blocks[block];
        let first = point;
        let last = first + data.insts.len() as u32;
        point = last;
        open.clear();
        for (reg, m) in live.live_out(block) {
            mask[reg] = m;
            end[reg] = 2 * last;
            open.push(reg);
        }
        for (i, inst) in data.insts.iter().enumerate().rev() {
            let p = first + i as u32;
            if let Some((reg, defined)) = liveness::def(inst) {
                cost[reg] += data.frequency * f32::from(inst.dst_words().max(1));
                if mask[reg] & defined == 0 {
                    // Nothing reads it: the write still needs a register of its own for a moment.
                    segments[reg].push((2 * p + 1, 2 * p + 2));
                }
                let after = mask[reg] & !liveness::kill_mask(inst);
                if mask[reg] != 0 && after == 0 {
                    segments[reg].push((2 * p + 1, end[reg]));
                }
                mask[reg] = after;
            }
            liveness::for_each_use(inst, |reg, used| {
                cost[reg] += data.frequency * used.count_ones() as f32;
                if mask[reg] == 0 {
                    end[reg] = 2 * p + 1;
                    open.push(reg);
                }
                mask[reg] |= used;
            });
            copy_hints(function, inst, data.frequency, &mut hints);
        }
        for reg in open.drain(..) {
            if mask[reg] != 0 {
                segments[reg].push((2 * first, end[reg]));
                mask[reg] = 0;
            }
        }
    }
    let mut result: [Vec<Range>; 3] = Default::default();
    for (reg, class) in function.vregs.iter() {
        if segments[reg].is_empty() {
            continue;
        }
        let segments = merge(std::mem::take(&mut segments[reg]));
        let length: u32 = segments.iter().map(|(s, e)| e - s).sum();
        let weight = if pinned.get(reg).copied().unwrap_or(false) { f32::INFINITY } else { cost[reg] / (length as f32 + 4.0) };
        let hints = std::mem::take(&mut hints[reg]);
        result[bank_index(class.bank)].push(Range { reg, width: class.registers(), weight, segments, hints });
    }
    result
}

fn merge(mut segments: Vec<(u32, u32)>) -> Vec<(u32, u32)> {
    segments.sort_unstable();
    let mut merged: Vec<(u32, u32)> = Vec::with_capacity(segments.len());
    for (start, end) in segments {
        match merged.last_mut() {
            Some(last) if start <= last.1 => last.1 = last.1.max(end),
            _ => merged.push((start, end)),
        }
    }
    merged
}

/// Preferences from a copy between registers of one bank.
fn copy_hints(function: &Function, inst: &Inst, weight: f32, hints: &mut SecondaryMap<VReg, Vec<Hint>>) {
    if inst.op != Op::Mov || inst.guard.is_some() {
        return;
    }
    if let (Some((dst, to)), Some((src, from))) = (inst.dst.as_virt(), inst.srcs[0].as_virt()) {
        if dst != src && function.vregs[dst].bank == function.vregs[src].bank {
            let offset = i16::from(from) - i16::from(to);
            hints[dst].push(Hint { other: src, offset, weight });
            hints[src].push(Hint { other: dst, offset: -offset, weight });
        }
    }
}
