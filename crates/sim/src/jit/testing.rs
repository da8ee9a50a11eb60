//! Translated code for tests of other modules.

use super::{Compiled, Variant, compile, run_warp};
use crate::Options;
use crate::functional::{BlockCounts, Budget, Warp};
use crate::program::Program;

/// A program's translation.
pub(crate) struct Translated(Compiled);

/// Translates a program, for warps whose lanes all live if `whole`.
pub(crate) fn translated<const N: usize>(program: &Program, whole: bool) -> Option<Translated> {
    let compiled = compile::<N>(program, Variant { whole, checked: false, groups: false }, None);
    assert!(compiled.is_some(), "LLVM does not translate for this host");
    compiled.map(Translated)
}

impl Translated {
    /// Runs a warp to its end.
    pub(crate) fn run<const N: usize>(&self, warp: &mut Warp<N>, program: &Program) {
        let options = Options { max_instructions: 10_000, ..Options::default() };
        let (mut counts, mut budget) = (BlockCounts::new(program), Budget::new(&options, false));
        assert_eq!(run_warp(&self.0, warp, program, &mut counts, &mut budget), None);
    }
}
