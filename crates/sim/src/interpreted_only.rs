//! Stands in for the translation to the host's instructions in builds without the feature `jit`: nothing is
//! ever compiled, and every warp is interpreted. The interface is that of `jit/mod.rs`.

use std::time::Duration;

use super::functional::{BlockCounts, Budget, Warp};
use super::program::Program;
use super::{DeviceMemory, Launch, Options};

/// A kernel in the host's instructions: there is none.
#[derive(Clone, Copy, Debug)]
pub enum Compiled {}

/// What compiled code would run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Runs {
    /// Whole work-groups.
    Groups,
    /// One warp.
    Warps,
}

/// Where a program's compiled code would be.
#[derive(Clone, Debug, Default)]
pub struct Slot;

/// Decides when to compile: never.
pub struct Tier;

impl Tier {
    /// For a launch.
    pub fn new(_launch: &Launch, _options: &Options, _groups: u64, _shape: (bool, bool), _threads: usize) -> Self {
        Tier
    }

    /// No code.
    pub fn compiled<const N: usize>(&self, _program: &Program, _runs: Runs, _at_once: bool) -> Option<&'static Compiled> {
        None
    }

    /// Nothing depends on what was executed.
    pub fn executed(&self, _runs: Runs, _time: Duration) {}
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

/// The state for running whole work-groups in compiled code: there is none.
#[derive(Clone, Copy, Debug)]
pub enum Many {}

/// A warp stopped in the middle of its work-group.
pub struct Stopped {
    /// The warp.
    pub warp: usize,
    /// The work-group is a long one.
    pub long: bool,
}

impl Many {
    /// Cannot be called.
    pub fn new<const N: usize>(compiled: &Compiled, _: &Launch, _: &mut [Warp<N>], _: &mut [u128]) -> Many {
        match *compiled {}
    }

    /// Cannot be called.
    pub fn run<const N: usize>(
        &mut self,
        _compiled: &Compiled,
        _launch: &Launch,
        _group: (&mut [Warp<N>], &mut [u128]),
        _groups: ([u32; 3], u64),
        _counts: &mut BlockCounts,
        _budget: &mut Budget,
    ) -> (u64, Option<Stopped>) {
        match *self {}
    }
}

/// Copies of memory for compiled code: there are none.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sums {
    _none: (),
}

impl Sums {
    /// None.
    pub fn new(_launch: &Launch, _memory: &DeviceMemory) -> Sums {
        Sums::default()
    }

    /// None.
    pub fn pointers(&self) -> &[*mut u8] {
        &[]
    }

    /// Nothing.
    pub fn merge(&self, _memory: &DeviceMemory) {}
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
