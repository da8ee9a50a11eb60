//! Options of selection.

use crate::division::DivisionCosts;
use crate::scalar_slots::IssueRates;

/// Options of selection.
#[derive(Clone, Debug)]
pub struct SelectOptions {
    /// Use scalar registers for uniform values (S5). Off: everything but what the machine needs uniform is
    /// one value a lane.
    pub scalarize: bool,
    /// Make a second version of kernels in which more is uniform where every warp lies in one row of its
    /// work-group, for launches of that kind.
    pub versions: bool,
    /// What the machine issues in a cycle. If the scalar unit cannot keep up with a loop's uniform values, they are computed in
    /// lanes.
    pub issue_rates: Option<IssueRates>,
    /// What divisions by constants cost.
    pub division: DivisionCosts,
    /// Let the address-generation unit make addresses of global ids (G5, G6).
    pub global_id: bool,
    /// Surface descriptors of the machine, at most 256.
    pub surfaces: u32,
    /// Lines that an L1 keeps for each of the fewest warps that hide its latency. Where a loop wants more, fewer warps would wait
    /// longer than they save.
    pub lines_a_warp: u32,
    /// How cache policies are chosen.
    pub cache_hints: CacheHints,
    /// Prefetch far streams in loops.
    pub prefetch: bool,
    /// Say what happened to accesses. LLVM goes through a whole function for the text of one value.
    pub remarks: bool,
    /// Leave bytes between variables in work-group and private memory that nothing may access (checking mode).
    pub redzones: bool,
}

/// How loads and stores of global memory get their cache policies, where the program leaves a choice (K7).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum CacheHints {
    /// By the reuse that the analysis found.
    #[default]
    Analysis,
    /// All loads `.ca`, all stores `.wb`.
    Ca,
    /// All loads and stores `.cg`.
    Cg,
}

impl Default for SelectOptions {
    fn default() -> Self {
        SelectOptions {
            scalarize: true,
            versions: true,
            issue_rates: None,
            division: DivisionCosts::default(),
            global_id: true,
            surfaces: 256,
            lines_a_warp: u32::MAX,
            cache_hints: CacheHints::Analysis,
            prefetch: false,
            remarks: false,
            redzones: false,
        }
    }
}
