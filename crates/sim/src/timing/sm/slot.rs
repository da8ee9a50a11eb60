//! Where a resident warp stands.

use super::super::super::features::GroupFeatures;
use super::super::super::hierarchy::cluster_caches::{FullLine, Miss};
use super::super::super::memory::prefetch;
use super::super::super::rename::Table;

/// No line of code.
const NO_LINE: u32 = u32::MAX;

/// Where a resident warp stands. What it computes with is in its `Warp`, when its registers are ready in the
/// scoreboard. Times are cycles.
///
/// What every issue needs comes first, in the host's first two cache lines.
#[repr(C, align(64))]
pub(super) struct Slot {
    /// Next instruction.
    pub pc: u32,
    /// The instructions from `first` to before `ahead` have been looked at, and those of them that may be have been executed.
    pub first: u32,
    pub ahead: u32,
    /// Line of code fetched last.
    pub fetched: u32,
    /// Which instructions from `first` on run on the scalar unit although the compiler did not say so, a bit each.
    pub scalarised: u64,
    /// Number of the warp's work-group in the SM.
    pub group: usize,
    /// The warp's rank by age.
    pub rank: usize,
    /// When the warp issued last.
    pub issued_at: u64,
    /// From when on the next instruction could issue if its code and operands were there.
    pub begin: u64,
    /// When the next instruction's line of code is there, which may be pending.
    pub code_ready: u64,
    /// Earliest issue of the next instruction by its code and operands, and by a barrier.
    pub next: u64,
    /// When the warp left a barrier behind its last instruction; 0 if there was none.
    pub released: u64,
    /// Where the ports of its warps begin in the plan's table.
    pub ports: u32,
    /// Loads of the warp that wait for their bytes.
    pub loads: u32,
    /// Why the next instruction, a load, needed a miss register when none was free.
    pub miss: Option<Miss>,
    /// For which line enough waited when the next instruction, a load, needed it.
    pub full: Option<FullLine>,
    /// How many warps had the slot before.
    pub generation: u32,
    /// At a barrier.
    pub at_barrier: bool,
    /// Of those of `scalarised`, which ones because one lane alone executes them.
    pub one_lane: u64,
    /// The cycle in which the warp was parked.
    pub parked_at: u64,
    /// Mapped shared registers.
    pub table: Table,
    /// What the warp has executed, where a sample wants to know.
    pub executed: GroupFeatures,
}

impl Slot {
    /// It will be needed soon: the host may fetch what every issue needs, and what tells its warps apart, into its caches.
    #[inline]
    pub fn prefetch(&self) {
        prefetch(&self.pc);
        prefetch(&self.released);
        prefetch(&self.generation);
    }

    /// Whether the next instruction runs on the scalar unit although the compiler did not say so.
    #[inline(always)]
    pub fn is_scalarised(&self) -> bool {
        self.scalarised >> (self.pc - self.first) & 1 == 1
    }
}

impl Default for Slot {
    fn default() -> Self {
        Slot {
            pc: 0,
            first: 0,
            ahead: 0,
            fetched: NO_LINE,
            scalarised: 0,
            one_lane: 0,
            group: 0,
            rank: 0,
            miss: None,
            full: None,
            begin: 0,
            code_ready: 0,
            next: 0,
            released: 0,
            issued_at: 0,
            parked_at: 0,
            ports: 0,
            table: Table::default(),
            generation: 0,
            loads: 0,
            at_barrier: false,
            executed: GroupFeatures::default(),
        }
    }
}
