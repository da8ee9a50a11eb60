//! What can go wrong in a pass.

use std::fmt;

use crate::facts::PARAMETERS;
use crate::ir::SourcePosition;

/// What can go wrong in a pass.
#[derive(Debug, thiserror::Error)]
pub enum PassError {
    /// LLVM refused a pipeline or produced an error.
    #[error("LLVM: {0}")]
    Llvm(String),
    /// A pass name nobody knows.
    #[error("unknown pass `{name}`; Heddle's passes are {known}; any other name goes to LLVM, which said: {llvm}")]
    UnknownPass {
        /// The name.
        name: String,
        /// Ours.
        known: String,
        /// LLVM's message.
        llvm: String,
    },
    /// A parameter that a pass does not have.
    #[error("pass `{pass}` has no parameter `{parameter}`; parameters are {PARAMETERS}, separated by `;`")]
    Parameter {
        /// The pass.
        pass: String,
        /// What was given.
        parameter: String,
    },
    /// A module in which loops do not show where values leave them.
    #[error(
        "@{function} is not in LCSSA form: `{value}` is used outside its loop; \
         run `function(loop-simplify,lcssa)` or `heddle-prepare` first"
    )]
    NotLcssa {
        /// The function.
        function: String,
        /// What leaves a loop.
        value: String,
    },
    /// Calls of `printf` that cannot be compiled.
    #[error("{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))]
    Printf(Vec<BadPrintf>),
    /// Code that cannot be compiled.
    #[error("{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))]
    Code(Vec<BadCode>),
    /// Writing an analysis failed.
    #[error("writing: {0}")]
    Io(#[from] std::io::Error),
}

/// Code that cannot be compiled.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct BadCode {
    /// Where it stands.
    pub position: SourcePosition,
    /// What is wrong.
    pub message: String,
}

impl fmt::Display for BadCode {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        self.position.write_before(f)?;
        write!(f, "error: {}", self.message)
    }
}

/// A call of `printf` that cannot be compiled.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct BadPrintf {
    /// Where it stands.
    pub position: SourcePosition,
    /// What is wrong.
    pub message: String,
}

impl fmt::Display for BadPrintf {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        self.position.write_before(f)?;
        write!(f, "error: printf: {}", self.message)
    }
}
