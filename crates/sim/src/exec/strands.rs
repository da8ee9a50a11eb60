//! Local registers that a warp has lost because it may have left the active set (checking mode, C14).
//!
//! At an instruction with a strand mark a warp may leave the active set of a two-level scheduler, whatever it does in this
//! run: all its local registers are lost, in all lanes. A lane may read one again that was written for it since.

use super::{Decoded, Lanes, all_lanes};
use crate::Simulation;
use crate::fault::FaultKind;
use heddle_isa::{Inst, Operand, Space};

/// The lost local registers of a warp.
#[derive(Clone, Debug)]
pub struct Lost {
    /// Row of the first local register.
    first: u16,
    /// By row from there on: the lanes that have lost it.
    lanes: Vec<u64>,
}

impl Lost {
    /// For a launch in which they are watched: on a machine whose active set does not hold all warps.
    pub fn new(run: &Simulation) -> Option<Box<Lost>> {
        let program = run.launch.program;
        let rows = &program.rows;
        let watched = run.options.check_strands && run.machine.active_set().is_some();
        let first = rows.local.first().copied().filter(|_| watched && program.insts.iter().any(|i| i.strand))?;
        Some(Box::new(Lost { first, lanes: vec![0; usize::from(rows.scalar - first)] }))
    }

    /// A warp begins.
    pub fn clear(&mut self) {
        self.lanes.fill(0);
    }

    fn at(&mut self, row: u16, words: u8) -> &mut [u64] {
        let from = usize::from(row.saturating_sub(self.first));
        self.lanes.get_mut(from..from + usize::from(words.max(1))).unwrap_or_default()
    }
}

/// An instruction is about to act, of which `rows` are destination and sources: a mark loses all local registers, a read
/// of a lost one is a fault, and what is written is there again.
pub fn observe<const N: usize>(l: &mut Lanes<N>, d: &Decoded<N>, inst: &Inst, rows: &[u16; 4]) {
    let active = l.active(d);
    let Some(lost) = &mut l.lost else { return };
    if inst.strand {
        lost.lanes.fill(all_lanes(N));
    }
    let local = |o: &Operand| o.as_phys().filter(|p| p.space == Space::Local);
    let mut found = None;
    for (i, source) in inst.srcs.iter().enumerate() {
        let Some(register) = local(source) else { continue };
        for (word, lanes) in lost.at(rows[i + 1], inst.src_words(i)).iter().enumerate() {
            if *lanes & active != 0 {
                let register = u32::from(register.index) + word as u32;
                found.get_or_insert((register, (*lanes & active).trailing_zeros()));
            }
        }
    }
    if local(&inst.dst).is_some() {
        lost.at(rows[0], inst.dst_words()).iter_mut().for_each(|lanes| *lanes &= !active);
    }
    if let Some((register, lane)) = found {
        l.set_fault(FaultKind::LostRegister { cluster: inst.cluster.into(), register }, d, lane);
    }
}

/// The instruction that ends a block: it has no operands in local registers.
pub fn observe_end<const N: usize>(l: &mut Lanes<N>, inst: &Inst) {
    if let Some(lost) = l.lost.as_mut().filter(|_| inst.strand) {
        lost.lanes.fill(all_lanes(N));
    }
}
