//! What a kernel's loops want the L1s to keep (K7), as [`heddle_llvm_passes::cache_hints`] found it: gathered while
//! the loads are selected, because selection decides through which L1 each one goes. The loop that needs most lines is
//! kept, for the launch to say how many work-groups an SM should hold.

use heddle_isa::surface::LaunchExpression;
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
    /// Lines of a warp, as far as the compiler knows.
    lines: u64,
}

/// Those of all loops.
pub(crate) struct WorkingSets {
    loops: Vec<LoopSets>,
    warp_size: u32,
}

impl WorkingSets {
    /// For warps of so many lanes.
    pub fn new(warp_size: u32) -> WorkingSets {
        WorkingSets { loops: Vec::new(), warp_size }
    }

    /// Takes note of a load, with its strides in values of the launch.
    pub fn add(&mut self, reuse: &LoopReuse, strides: [LaunchExpression; 3], uniform: bool) {
        let set = WorkingSet { uniform, strides };
        let lines = WorkingSet::lines(reuse.strides, [self.warp_size, 1, 1], LINE);
        match self.loops.iter_mut().find(|l| l.header == reuse.header) {
            Some(l) => {
                l.sets.push(set);
                l.lines += lines;
            }
            None => {
                let (header, instructions) = (reuse.header, reuse.instructions);
                self.loops.push(LoopSets { header, instructions, sets: vec![set], lines });
            }
        }
    }

    /// Those of the loop whose warps touch most lines; none if it has much else to do, or if a warp's lines are more than an L1
    /// keeps for each of a few.
    pub fn largest(self, lines_a_warp: u32) -> Vec<WorkingSet> {
        let largest = self.loops.into_iter().max_by_key(|l| l.lines);
        let busy = |l: &LoopSets| u64::from(l.instructions) <= MOST_INSTRUCTIONS_A_LINE * l.lines;
        let fits = |l: &LoopSets| l.lines <= u64::from(lines_a_warp);
        largest.filter(|l| busy(l) && fits(l)).map_or(Vec::new(), |l| l.sets)
    }
}
