//! Cluster assignment, first form: every vector instruction goes to a cluster that has the unit its class needs (C1).
//!
//! Among several candidates the one with the least work so far in the block is taken, the lowest number on ties; work is counted in
//! cycles of the unit (the description's intervals). Scalar and control instructions are in no cluster.

use smallvec::SmallVec;
use strum::IntoEnumIterator;

use super::spill::{INSERTED, Origins};
use crate::isa::{Inst, OpClass, Operand, PhysReg, Reg, Space};
use crate::mir::{Bank, Function};
use crate::target::Machine;

/// For each unit class the clusters that have its unit, and the cycles an instruction keeps the unit busy.
struct Candidates(Vec<(SmallVec<[u8; 4]>, u32)>);

impl Candidates {
    fn new(machine: &Machine) -> Self {
        let of = |class: OpClass| match machine.timing.get(&class) {
            Some(timing) => {
                let clusters = machine.clusters.iter().enumerate().filter(|(_, c)| c.units.contains(&timing.unit));
                (clusters.map(|(i, _)| i as u8).collect(), timing.interval)
            }
            None => (SmallVec::new(), 0),
        };
        Candidates(OpClass::iter().map(of).collect())
    }

    /// Assigns an instruction that is in no cluster yet, and counts its work.
    fn assign(&self, inst: &mut Inst, scalar: bool, load: &mut [u64]) {
        inst.cluster = 0;
        let class = inst.class();
        if scalar || class == OpClass::Control {
            return;
        }
        let (clusters, interval) = &self.0[class as usize];
        if let Some(&best) = clusters.iter().min_by_key(|c| load[**c as usize]) {
            // A u-marked instruction runs on the scalar unit; its cluster only says whose local registers it may name.
            load[best as usize] += if inst.uniform { 0 } else { u64::from(*interval) };
            inst.cluster = best;
        }
    }
}

/// Whether the destination is scalar.
fn is_scalar(function: &crate::mir::Function, dst: Operand) -> bool {
    match dst {
        Operand::Reg(Reg::Virtual { reg, .. }) => function.vregs[reg].bank == Bank::Scalar,
        Operand::Reg(Reg::Physical(PhysReg { space, .. })) => space == Space::Scalar,
        _ => false,
    }
}

/// Assigns clusters.
pub fn run(function: &mut Function, machine: &Machine) {
    let candidates = Candidates::new(machine);
    let mut load = vec![0u64; machine.clusters.len()];
    for position in 0..function.layout.len() {
        let block = function.layout[position];
        load.iter_mut().for_each(|l| *l = 0);
        let mut insts = std::mem::take(&mut function.blocks[block].insts);
        for inst in &mut insts {
            candidates.assign(inst, is_scalar(function, inst.dst), &mut load);
        }
        function.blocks[block].insts = insts;
    }
}

/// Assigns clusters to what allocation inserted, beside the work that is there.
pub fn inserted(function: &mut Function, machine: &Machine, origins: &Origins) {
    let candidates = Candidates::new(machine);
    let mut load = vec![0u64; machine.clusters.len()];
    for position in 0..function.layout.len() {
        let block = function.layout[position];
        if !origins[block].contains(&INSERTED) {
            continue;
        }
        load.iter_mut().for_each(|l| *l = 0);
        let mut insts = std::mem::take(&mut function.blocks[block].insts);
        for (inst, origin) in insts.iter_mut().zip(&origins[block]) {
            if *origin == INSERTED {
                candidates.assign(inst, is_scalar(function, inst.dst), &mut load);
            } else if let Some(l) = load.get_mut(usize::from(inst.cluster)) {
                *l += u64::from(candidates.0[inst.class() as usize].1);
            }
        }
        function.blocks[block].insts = insts;
    }
}
