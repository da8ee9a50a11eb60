//! How to compile.

use std::fmt;
use std::sync::Arc;

use crate::OptLevel;
use crate::spirv::SpecValue;

/// How to compile.
#[derive(Clone, Debug, Default)]
pub struct FrontendOptions {
    /// Arguments passed to clang as they are: `-D -I -cl-* -g -W… -MD …`.
    pub clang_args: Vec<String>,
    /// Kernels that are launched, where they are known: those that are instances of templates (`scale<float>`) are compiled
    /// although the source of CUDA or HIP uses them nowhere.
    pub kernels: Vec<String>,
    /// Values of program-scope variables of CUDA and HIP, by their names in the source, in the place of those that the source
    /// gives them. They count as unknown when code is optimised, as what a host copies to them.
    pub variables: Vec<(String, Vec<u8>)>,
    /// Values of specialisation constants of SPIR-V, by their numbers; the last one for a number counts.
    pub spec_constants: Vec<(u32, SpecValue)>,
    /// Nothing else is linked with a source: of a large one, what no kernel calls is left out before clang optimises.
    pub whole_program: bool,
    /// Optimisation level.
    pub opt: OptLevel,
    /// Print the clang commands on standard error.
    pub verbose: bool,
    /// Where clang's diagnostics go.
    pub diagnostics: Diagnostics,
    /// What ends clang before its time ([`FrontendError::Interrupted`](crate::FrontendError)).
    pub stop: Option<Stop>,
}

/// A question that is asked every few milliseconds while clang runs: whether it shall end.
#[derive(Clone)]
pub struct Stop(Arc<dyn Fn() -> bool + Send + Sync>);

impl Stop {
    /// Ends clang once this is true.
    pub fn when(requested: impl Fn() -> bool + Send + Sync + 'static) -> Stop {
        Stop(Arc::new(requested))
    }

    /// Whether it shall end.
    pub fn requested(&self) -> bool {
        (self.0)()
    }
}

impl fmt::Debug for Stop {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("Stop")
    }
}

/// Where clang's diagnostics go.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Diagnostics {
    /// To standard error, as clang writes them.
    #[default]
    Show,
    /// Into the error, if there is one; warnings are dropped.
    Keep,
}
