//! Local register-file allocation (C2): colours each cluster's live ranges in its local file; what does not
//! fit goes to the main file.
//!
//! A range that finds no colour is renamed to its main register MVR (C10), which holds the same value
//! wherever the range is read: the copies between them become copies of a register onto itself and go away,
//! so the move to the main file costs nothing that C5 to C9 had not paid. A range that only its owner uses
//! moves to the main file as it is. Ranges are given up by what they save for each point of their length; by
//! default also those that save nothing. Colouring is [`super::color`]'s.
//!
//! May touch: vector registers with an owner, and copies that partitioning inserted.

use cranelift_entity::SecondaryMap;

use super::allocate::{Session, to_physical};
use super::color::{self, FileSpec};
use super::context::{Allocation, Context};
use super::partition::Ownership;
use super::spill::{self, INSERTED};
use super::webs::{self, Costs};
use super::{CodegenError, ranges};
use heddle_isa::{Inst, Op, Space, VReg};
use heddle_mir::{Function, liveness};

/// Allocates the local files of all clusters.
pub fn run(function: &mut Function, context: &mut Context) -> Result<(), CodegenError> {
    if function.local.values().all(Option::is_none) {
        return Ok(());
    }
    let Allocation { machine, options, stats, session } = context.allocation(function);
    let costs = Costs::new(machine);
    if options.ownership == Ownership::Energy {
        let gains = gains(function, &costs, session);
        let worthless: Vec<VReg> = function.vregs.keys().filter(|r| function.local[*r].is_some() && gains[*r] <= 0.0).collect();
        give_up(function, &worthless, session);
    }
    for (c, cluster) in machine.clusters.iter().enumerate() {
        let mine: SecondaryMap<VReg, Option<u8>> = function.local.clone();
        let is_mine = |r: VReg| mine[r] == Some(c as u8);
        if !function.vregs.keys().any(is_mine) {
            continue;
        }
        let gains = gains(function, &costs, session);
        let mut graph = ranges::interference_where(function, session.view(function), is_mine, |_| false);
        for node in &mut graph.nodes {
            let length: u32 = node
                .live
                .iter()
                .map(|(a, b)| graph.segments[*a as usize..*b as usize].iter().map(|s| s.end - s.start).sum::<u32>())
                .sum();
            node.cost = gains[node.reg].max(0.0) / (length as f32 + 1.0);
        }
        // Costs are finite, so nothing can fail.
        let Ok(coloring) = color::color(&graph, &FileSpec::new(cluster.local_registers)) else { continue };
        let mut colors: SecondaryMap<VReg, Option<u16>> = SecondaryMap::with_capacity(function.vregs.len());
        for (node, color) in graph.nodes.iter().zip(&coloring.color) {
            colors[node.reg] = *color;
        }
        // A register that is never live has no node; it goes the same way.
        let lost: Vec<VReg> = function.vregs.keys().filter(|r| is_mine(*r) && colors[*r].is_none()).collect();
        stats.local_overflow += lost.len();
        give_up(function, &lost, session);
        let Function { blocks, layout, local, .. } = function;
        for block in layout.iter() {
            blocks[*block].insts.iter_mut().for_each(|i| {
                to_physical(i, |r| (local[r] == Some(c as u8)).then(|| colors[r]), Space::Local);
            });
        }
        session.forget_view();
    }
    Ok(())
}

/// Energy that each local register saves against the main file: cheaper accesses, less the copies that go
/// away with it.
fn gains(function: &Function, costs: &Costs, session: &Session) -> SecondaryMap<VReg, f32> {
    let mut gains: SecondaryMap<VReg, f32> = SecondaryMap::with_capacity(function.vregs.len());
    gains.resize(function.vregs.len());
    let (main_read, main_write) = costs.main;
    for &block in &function.layout {
        let data = &function.blocks[block];
        for inst in &data.insts {
            let weight = |words: u8| data.frequency * f32::from(words);
            let source = inst.srcs.first().and_then(|s| s.as_virt()).map(|s| s.0);
            if let (Op::Mov, Some((to, _)), Some(from)) = (inst.op, inst.dst.as_virt(), source) {
                let main_of = |r: VReg| session.main_of.get(r).copied().flatten();
                let words = weight(inst.dst_words().max(1));
                if let Some(c) = function.local[to].filter(|_| main_of(to) == Some(from)) {
                    gains[to] -= words * (main_read + costs.local[usize::from(c)].1 + costs.copy);
                    continue;
                }
                if let Some(c) = function.local[from].filter(|_| main_of(from) == Some(to)) {
                    gains[from] -= words * (costs.local[usize::from(c)].0 + main_write + costs.copy);
                    // Without the copy the write goes to the main register.
                    continue;
                }
            }
            webs::for_each_vector(function, inst, |reg, words, write| {
                if let Some(c) = function.local[reg] {
                    let (read, wrote) = costs.local[usize::from(c)];
                    gains[reg] += weight(words) * if write { main_write - wrote } else { main_read - read };
                }
            });
        }
    }
    gains
}

/// Moves local registers to the main file.
fn give_up(function: &mut Function, lost: &[VReg], session: &mut Session) {
    if lost.is_empty() {
        return;
    }
    let mut instead: SecondaryMap<VReg, Option<VReg>> = SecondaryMap::with_capacity(function.vregs.len());
    for &reg in lost {
        function.local[reg] = None;
        instead[reg] = session.main_of.get(reg).copied().flatten();
    }
    for position in 0..function.layout.len() {
        let block = function.layout[position];
        let insts = &mut function.blocks[block].insts;
        for inst in insts.iter_mut() {
            ranges::for_each_operand_mut(inst, |reg, _| {
                if let Some(main) = instead.get(*reg).copied().flatten() {
                    *reg = main;
                }
            });
        }
        // Copies onto themselves, but not what the program itself moves: that has an origin, and `finish`
        // drops it.
        let keep = |i: &Inst, origin: u32| origin != INSERTED || i.op != Op::Mov || i.dst != i.srcs[0];
        spill::retain(insts, &mut session.origins[block], keep);
    }
    drop_dead_copies(function, session);
    session.forget_view();
}

/// Removes inserted copies whose result nothing reads any more.
fn drop_dead_copies(function: &mut Function, session: &mut Session) {
    let mut used: SecondaryMap<VReg, bool> = SecondaryMap::with_capacity(function.vregs.len());
    used.resize(function.vregs.len());
    for inst in function.layout.iter().flat_map(|b| &function.blocks[*b].insts) {
        liveness::for_each_use(inst, |r, _| used[r] = true);
    }
    for position in 0..function.layout.len() {
        let block = function.layout[position];
        let dead = |i: &Inst, o: u32| o == INSERTED && i.op == Op::Mov && i.dst.as_virt().is_some_and(|(r, _)| !used[r]);
        spill::retain(&mut function.blocks[block].insts, &mut session.origins[block], |i, o| !dead(i, o));
    }
}
