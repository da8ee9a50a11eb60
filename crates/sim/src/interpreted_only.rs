//! Stands in for the translation to the host's instructions in builds without the feature `jit`: nothing is
//! ever compiled, and every warp is interpreted. The interface is that of `jit/mod.rs`.

use super::Options;
use super::functional::{BlockCounts, Budget, Warp};
use super::program::Program;

/// A kernel in the host's instructions: there is none.
#[derive(Clone, Copy, Debug)]
pub enum Compiled {}

/// Where a program's compiled code would be.
#[derive(Clone, Debug, Default)]
pub struct Slot;

/// Decides when to compile: never.
pub struct Tier;

impl Tier {
    /// For a launch.
    pub fn new(_program: &Program, _options: &Options, _groups: u64, _whole: bool, _threads: usize) -> Self {
        Tier
    }

    /// No code.
    pub fn compiled<const N: usize>(&self, _program: &Program) -> Option<&'static Compiled> {
        None
    }

    /// Nothing depends on what was executed.
    pub fn executed(&self, _instructions: u64) {}
}

/// Cannot be called: there is no compiled code.
pub fn run_warp<const N: usize>(
    compiled: &Compiled,
    _warp: &mut Warp<N>,
    _program: &Program,
    _counts: &mut BlockCounts,
    _budget: &mut Budget,
) -> Option<u32> {
    match *compiled {}
}

/// Translated code for tests: there is none.
#[cfg(test)]
pub(crate) mod testing {
    use super::{Program, Warp};

    /// A program's translation.
    pub(crate) enum Translated {}

    /// Translates nothing.
    pub(crate) fn translated<const N: usize>(_program: &Program, _whole: bool) -> Option<Translated> {
        None
    }

    impl Translated {
        /// Cannot be called.
        pub(crate) fn run<const N: usize>(&self, _warp: &mut Warp<N>, _program: &Program) {
            match *self {}
        }
    }
}
