//! What a kernel's loops want the L1s to keep (K7), as [`heddle_llvm_passes::cache_hints`] found it: gathered while
//! the loads are selected, because selection decides through which L1 each one goes. The loop that needs most lines is
//! kept, for the launch to say how many work-groups an SM should hold.

use heddle_llvm_passes::cache_hints::LoopReuse;
use heddle_llvm_passes::ir::BlockRef;
use heddle_object::metadata::WorkingSet;

/// Bytes of a line, as the analysis has them.
const LINE: u32 = 128;
/// Instructions of an iteration for each line of a warp, above which lines are not what the loop waits for: a miss
/// takes the network and L2 about a cycle a lane, an instruction of a warp less than half a cycle of an SM with
/// several schedulers.
const MOST_INSTRUCTIONS_A_LINE: u64 = 4;

/// A loop's loads that come back to their lines.
struct LoopSets {
    header: BlockRef,
    instructions: u32,
    sets: Vec<WorkingSet>,
}

/// Those of all loops.
#[derive(Default)]
pub(crate) struct WorkingSets(Vec<LoopSets>);

impl WorkingSets {
    /// Takes note of a load.
    pub fn add(&mut self, reuse: &LoopReuse, uniform: bool) {
        let set = WorkingSet { uniform, strides: reuse.strides };
        match self.0.iter_mut().find(|l| l.header == reuse.header) {
            Some(l) => l.sets.push(set),
            None => self.0.push(LoopSets { header: reuse.header, instructions: reuse.instructions, sets: vec![set] }),
        }
    }

    /// Those of the loop whose warps touch most lines; none if it has much else to do, or if a warp's lines are more than an L1
    /// keeps for each of a few.
    pub fn largest(self, warp_size: u32, lines_a_warp: u32) -> Vec<WorkingSet> {
        let lines = |l: &LoopSets| l.sets.iter().map(|s| s.lines([warp_size, 1, 1], LINE)).sum::<u64>();
        let largest = self.0.into_iter().max_by_key(lines);
        let busy = |l: &LoopSets| u64::from(l.instructions) <= MOST_INSTRUCTIONS_A_LINE * lines(l);
        let fits = |l: &LoopSets| lines(l) <= u64::from(lines_a_warp);
        largest.filter(|l| busy(l) && fits(l)).map_or(Vec::new(), |l| l.sets)
    }
}
