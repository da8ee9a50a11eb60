//! How to compile.

use crate::OptLevel;

/// How to compile.
#[derive(Clone, Debug, Default)]
pub struct FrontendOptions {
    /// Arguments passed to clang as they are: `-D -I -cl-* -g -W… -MD …`.
    pub clang_args: Vec<String>,
    /// Optimisation level.
    pub opt: OptLevel,
    /// Print the clang commands on standard error.
    pub verbose: bool,
    /// Where clang's diagnostics go.
    pub diagnostics: Diagnostics,
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
