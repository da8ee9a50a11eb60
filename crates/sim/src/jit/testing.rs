//! Translated code for tests of other modules.

use super::{Compiled, Variant, compile, run_warp};
use crate::functional::{BlockCounts, Warp};
use crate::program::Program;

/// A program's translation.
pub(crate) struct Translated(Compiled);

/// Translates a program, for warps whose lanes all live if `whole`.
pub(crate) fn translated<const N: usize>(program: &Program, whole: bool) -> Option<Translated> {
    let compiled = compile::<N>(program, Variant { whole, checked: false });
    assert!(compiled.is_some(), "LLVM does not translate for this host");
    compiled.map(Translated)
}

impl Translated {
    /// Runs a warp to its end.
    pub(crate) fn run<const N: usize>(&self, warp: &mut Warp<N>, program: &Program) {
        let (mut counts, mut budget) = (BlockCounts::new(program), 10_000);
        assert_eq!(run_warp(&self.0, warp, program, &mut counts, &mut budget, 10_000), None);
    }
}
