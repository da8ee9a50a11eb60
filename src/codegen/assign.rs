//! Cluster assignment, first form: every vector instruction goes to a cluster that has the unit its class needs (C1).
//!
//! Among several candidates the one with the least work so far in the block is taken, the lowest number on ties; work is counted in
//! cycles of the unit (the description's intervals). Scalar and control instructions are in no cluster.

use smallvec::SmallVec;

use crate::isa::OpClass;
use crate::mir::{Bank, Function};
use crate::target::Machine;

/// Assigns clusters.
pub fn run(function: &mut Function, machine: &Machine) {
    let mut candidates: std::collections::BTreeMap<OpClass, (SmallVec<[u8; 4]>, u32)> = Default::default();
    for (class, timing) in &machine.timing {
        let clusters = machine.clusters.iter().enumerate().filter(|(_, c)| c.units.contains(&timing.unit)).map(|(i, _)| i as u8);
        candidates.insert(*class, (clusters.collect(), timing.interval));
    }
    let mut load = vec![0u64; machine.clusters.len()];
    for block in &function.layout {
        load.iter_mut().for_each(|l| *l = 0);
        for inst in &mut function.blocks[*block].insts {
            inst.cluster = 0;
            let class = inst.class();
            if class == OpClass::Control {
                continue;
            }
            if inst.dst.as_virt().is_some_and(|(r, _)| function.vregs[r].bank == Bank::Scalar) {
                continue;
            }
            let Some((clusters, interval)) = candidates.get(&class) else { continue };
            if let Some(&best) = clusters.iter().min_by_key(|c| load[**c as usize]) {
                load[best as usize] += u64::from(*interval);
                inst.cluster = best;
            }
        }
    }
}
