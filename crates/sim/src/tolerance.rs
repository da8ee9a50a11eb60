//! Errors of programs behind which a launch goes on, as it would on most devices, where [`Options::tolerate`] says so.
//!
//! What the standards leave undefined ends a launch here. A device may let it pass: pages are larger than buffers, AMD's
//! buffer and LDS instructions give zeros outside of their bounds ("RDNA 2 Instruction Set Architecture", range checking), and
//! a barrier counts warps, whichever of their lanes come to it. Programs that have only run there may rest on it unknowingly.
//!
//! Nothing of this is silent: what was let pass is noted for each instruction, and is in the launch's statistics. A launch that
//! a fault ends in spite of it has none; then the fault is what there is to say.
//!
//! [`Options::tolerate`]: super::Options::tolerate

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use serde::{Deserialize, Serialize};

use super::{FaultKind, Program};

/// What is let pass.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tolerance {
    /// Accesses outside of their memory: loads and atomics give zeros there, stores and atomics change nothing. Misaligned ones
    /// and texels outside of an image stay faults.
    pub out_of_bounds: bool,
    /// Barriers that only some of a warp's work-items come to: the warp counts as arrived.
    pub divergent_barriers: bool,
}

/// What an instruction did that was let pass.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tolerated {
    /// The fault's kind, as a word.
    pub kind: String,
    /// The fault that it would have been; of several the one of the lowest address, or of the fewest work-items.
    pub message: String,
    /// `file:line` of the instruction, if known.
    pub source: Option<String>,
    /// How often: of each warp's instruction so often as it has work-items that did it.
    pub times: u64,
}

impl Tolerated {
    /// Adds what another launch of the same kernel did. The first one's messages stay.
    pub fn merge(all: &mut Vec<Tolerated>, more: &[Tolerated]) {
        for t in more {
            let same = |own: &Tolerated| match (&own.source, &t.source) {
                (None, None) => own.message == t.message,
                (own_source, source) => own.kind == t.kind && own_source == source,
            };
            match all.iter().position(same) {
                Some(own) => all[own].times += t.times,
                None if all.len() < MOST => all.push(t.clone()),
                None => {}
            }
        }
    }
}

/// Places that are kept of all launches of a kernel.
const MOST: usize = 100;

/// What a launch's warps note, by instruction. Copies of a launch share it.
#[derive(Clone, Debug, Default)]
pub struct Log(Arc<Mutex<BTreeMap<u32, Noted>>>);

#[derive(Debug)]
struct Noted {
    times: u64,
    /// By what the first is chosen, whatever the order of host threads.
    least: u64,
    kind: FaultKind,
}

impl Log {
    /// Notes what some work-items did at an instruction; `rank`: of several faults the one of the least is kept.
    #[cold]
    pub(crate) fn note(&self, instruction: u32, work_items: u32, rank: u64, kind: impl FnOnce() -> FaultKind) {
        let mut noted = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match noted.get_mut(&instruction) {
            Some(entry) => {
                entry.times += u64::from(work_items);
                if rank < entry.least {
                    (entry.least, entry.kind) = (rank, kind());
                }
            }
            None => {
                noted.insert(instruction, Noted { times: work_items.into(), least: rank, kind: kind() });
            }
        }
    }

    /// What was noted, in the order of the code.
    pub(crate) fn tolerated(&self, program: &Program) -> Vec<Tolerated> {
        let noted = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let of = |(instruction, noted): (&u32, &Noted)| Tolerated {
            kind: noted.kind.name().into(),
            message: noted.kind.to_string(),
            source: program.source(*instruction as usize),
            times: noted.times,
        };
        noted.iter().map(of).collect()
    }
}
