//! Fixed or shared: which main registers of a kernel each warp owns and which come from the SM's pool (REN-1,
//! REN-4).
//!
//! Long-lived values go to fixed registers from 0 on, short-lived ones behind them. What counts as long-lived
//! is weighed by what happens meanwhile, not by length: a value that is live across a barrier, over a loop's
//! back edge, or while the warp waits for memory holds its register for most of the warp's time, so sharing
//! it gains nothing. Where the boundary F lies is chosen per kernel: each of a few divisions is coloured and
//! its releases are placed; the one that lets most warps be resident wins, and only if they are more than
//! without renaming.
//!
//! May touch main registers only, before they are physical; the checker and [`super::release_check`] prove
//! the result.

use cranelift_entity::SecondaryMap;
use rustc_hash::FxHashMap;

use super::allocate::{Session, to_physical};
use super::color::{self, FileSpec};
use super::{CodegenOptions, Rename, ranges, release};
use heddle_isa::{Op, OpClass, Space, VReg};
use heddle_mir::{Bank, Block, Function, liveness};
use heddle_target::Machine;

/// What makes a value long-lived, beside being read where nothing may have been written (which must never
/// find its register unmapped).
#[derive(Clone, Copy)]
struct Criteria {
    /// Live across a barrier or over a back edge.
    loops: bool,
    /// Live where the warp waits for global memory.
    waits: bool,
}

/// Divisions that are tried.
const DIVISIONS: [Criteria; 4] = [
    Criteria { loops: true, waits: false },
    Criteria { loops: true, waits: true },
    Criteria { loops: false, waits: false },
    Criteria { loops: false, waits: true },
];

/// Main registers by their vector registers, and where the shared ones start.
struct Division {
    colors: SecondaryMap<VReg, Option<u16>>,
    first: u32,
}

/// Warps that an SM probably comes to hold: each takes its fixed registers and what it holds most of the
/// time, and the oldest has its reserve.
fn resident(machine: &Machine, fixed: u32, demand: u32, typical: u32) -> u32 {
    let all = machine.sm.main_registers / machine.warp_size;
    let Some(rest) = all.checked_sub(fixed + demand) else { return 0 };
    (1 + rest / (fixed + typical).max(1)).min(machine.sm.max_warps)
}

/// Divides the registers and gives every vector register its main register, if that is worth it and all fit
/// `registers` names without spilling; says whether it did. `otherwise` registers would be named without
/// renaming.
pub fn run(
    function: &mut Function,
    session: &mut Session,
    machine: &Machine,
    options: &CodegenOptions,
    registers: u32,
    otherwise: u32,
) -> bool {
    let without = (machine.sm.main_registers / (otherwise.max(1) * machine.warp_size)).min(machine.sm.max_warps);
    if options.rename == Rename::Never || (options.rename == Rename::Auto && without == machine.sm.max_warps) {
        return false;
    }
    let mut best: Option<(u32, Function)> = None;
    for criteria in DIVISIONS {
        let Some(division) = divide(function, session, machine, registers, criteria) else { continue };
        let mut result = function.clone();
        apply(&mut result, &division);
        let mut trial = result.clone();
        release::place(&mut trial, machine, options.release);
        let (fixed, demand) = (division.first, trial.shared_demand);
        // What the machine can count on must not be much less than without.
        if options.rename == Rename::Auto && 4 * (fixed + demand) > 5 * otherwise {
            continue;
        }
        let warps = resident(machine, fixed, demand, trial.shared_typical);
        if best.as_ref().is_none_or(|b| b.0 < warps) {
            best = Some((warps, result));
        }
    }
    match best {
        Some((warps, result)) if options.rename == Rename::Always || warps > without => {
            *function = result;
            session.forget_view();
            true
        }
        _ => false,
    }
}

fn mine(function: &Function, r: VReg) -> bool {
    function.vregs[r].bank == Bank::Vector && function.local[r].is_none()
}

fn apply(function: &mut Function, division: &Division) {
    let Function { blocks, layout, vregs, local, .. } = function;
    for block in layout.iter() {
        blocks[*block].insts.iter_mut().for_each(|i| {
            let main = |r| (vregs[r].bank == Bank::Vector && local[r].is_none()).then(|| division.colors[r]);
            to_physical(i, main, Space::Main);
        });
    }
    function.fixed_registers = Some(division.first);
}

/// Instructions of a block at which a warp stands still: barriers, and the first use of something loaded from
/// global memory in the block.
fn stands(insts: &[heddle_isa::Inst], criteria: Criteria) -> Vec<bool> {
    let mut loading: FxHashMap<VReg, ()> = FxHashMap::default();
    insts
        .iter()
        .map(|inst| {
            let mut stands = criteria.loops && inst.op == Op::Barrier;
            if criteria.waits {
                liveness::for_each_use(inst, |r, _| stands |= loading.contains_key(&r));
                if stands {
                    // Everything in flight arrives about then.
                    loading.clear();
                }
                if let (OpClass::LoadGlobal, Some((r, _))) = (inst.class(), inst.dst.as_virt()) {
                    loading.insert(r, ());
                }
            }
            stands
        })
        .collect()
}

/// Colours the two classes; `None` if they do not fit or nothing is shared.
fn divide(function: &Function, session: &mut Session, machine: &Machine, registers: u32, criteria: Criteria) -> Option<Division> {
    let view = session.view(function);
    let mut long: SecondaryMap<VReg, bool> = SecondaryMap::with_capacity(function.vregs.len());
    long.resize(function.vregs.len());
    let mut number: SecondaryMap<Block, usize> = SecondaryMap::with_default(usize::MAX);
    view.cfg.rpo.iter().enumerate().for_each(|(i, b)| number[*b] = i);
    view.maybe_undefined().for_each(|r| long[r] = true);
    for &block in &function.layout {
        let goes_back = view.cfg.edges[block].succs.iter().any(|s| number[*s] <= number[block]);
        for (reg, _) in view.live_out(block).filter(|_| criteria.loops && goes_back) {
            long[reg] = true;
        }
        let insts = &function.blocks[block].insts;
        let stands = stands(insts, criteria);
        if !stands.contains(&true) {
            continue;
        }
        let mut live: FxHashMap<VReg, ()> = view.live_out(block).map(|(r, _)| (r, ())).collect();
        for (inst, stands) in insts.iter().zip(stands).rev() {
            // What is live behind it was live while the warp stood, except what it writes itself.
            if let Some((r, _)) = liveness::def(inst).filter(|_| inst.guard.is_none()) {
                live.remove(&r);
            }
            if stands {
                live.keys().for_each(|r| long[*r] = true);
            }
            liveness::for_each_use(inst, |r, _| {
                live.insert(r, ());
            });
        }
    }
    let color = |wanted: bool, room: u32| {
        let graph = ranges::interference_where(function, view, |r| mine(function, r) && long[r] == wanted, |_| false);
        let coloring = color::color(&graph, &FileSpec::new(room)).ok().filter(|c| c.spilled.is_empty())?;
        let colors: Vec<(VReg, u16)> =
            graph.nodes.iter().zip(&coloring.color).filter_map(|(n, c)| Some((n.reg, (*c)?))).collect();
        Some((colors, coloring.used))
    };
    let registers = registers.min(machine.sm.max_main_registers);
    let (fixed, used) = color(true, registers)?;
    // Shared tuples are aligned too.
    let widest = function.vregs.iter().filter(|(r, _)| mine(function, *r) && !long[*r]).map(|(_, c)| c.words).max();
    let first = used.next_multiple_of(u32::from(widest.unwrap_or(1).max(1)));
    let (shared, _) = color(false, registers.checked_sub(first)?)?;
    if shared.is_empty() {
        return None;
    }
    let mut colors: SecondaryMap<VReg, Option<u16>> = SecondaryMap::with_capacity(function.vregs.len());
    fixed.into_iter().for_each(|(r, c)| colors[r] = Some(c));
    shared.into_iter().for_each(|(r, c)| colors[r] = Some(c + first as u16));
    Some(Division { colors, first })
}
