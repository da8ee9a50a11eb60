//! Heddle's passes over LLVM IR, driven through inkwell and, where it has no call, LLVM's C API.
//!
//! One pass, one file. The crate knows LLVM and nothing of MIR. LLVM's C API offers no dominators, alias analysis or uniformity;
//! [`cfg`] computes what the passes need.

pub mod builtins;
pub mod cache_hints;
pub mod cfg;
pub mod generic;
pub mod global_id;
pub mod ir;
pub mod pipeline;
pub mod printf;
pub mod surfaces;
pub mod uniformity;
pub mod uninitialised;

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
    #[error("pass `{pass}` has no parameter `{parameter}`; parameters are {}, separated by `;`", pipeline::PARAMETERS)]
    Parameter {
        /// The pass.
        pass: String,
        /// What was given.
        parameter: String,
    },
    /// A module in which loops do not show where values leave them.
    #[error(
        "@{function} is not in LCSSA form: `{value}` is used outside its loop; run `function(loop-simplify,lcssa)` or `heddle-prepare` first"
    )]
    NotLcssa {
        /// The function.
        function: String,
        /// What leaves a loop.
        value: String,
    },
    /// Calls of `printf` that cannot be compiled.
    #[error("{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))]
    Printf(Vec<printf::BadCall>),
    /// Writing an analysis failed.
    #[error("writing: {0}")]
    Io(#[from] std::io::Error),
}
