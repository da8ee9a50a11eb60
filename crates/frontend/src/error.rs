//! What can go wrong between the sources and an optimised module.

use heddle_llvm_passes::PassError;

/// What can go wrong between the sources and an optimised module.
#[derive(Debug, thiserror::Error)]
pub enum FrontendError {
    /// clang could not be started.
    #[error("cannot run clang ({path}): {error}; install clang 19 or set HEDDLE_CLANG")]
    NoClang {
        /// The program tried.
        path: String,
        /// What the system said.
        error: std::io::Error,
    },
    /// A program beside clang is missing, or cannot be started.
    #[error("{message}")]
    NoTool {
        /// Which, what for, and how to get it.
        message: String,
    },
    /// clang reported errors.
    #[error("{input}: clang reported errors{diagnostics}")]
    Clang {
        /// The source.
        input: String,
        /// Its diagnostics behind a colon and a line break; empty if they have been shown.
        diagnostics: String,
    },
    /// clang does not know an option, or not its value.
    #[error("{0}")]
    Option(String),
    /// A program does not compile, or its parts do not fit together.
    #[error("{log}")]
    Program {
        /// What clang and Heddle have to say, warnings included.
        log: String,
    },
    /// clang itself failed.
    #[error("clang failed:\n{0}")]
    Crash(String),
    /// An input cannot be read, or is of no known kind.
    #[error("{input}: {reason}")]
    Input {
        /// The file.
        input: String,
        /// Why.
        reason: String,
    },
    /// LLVM refused to parse, link or transform a module.
    #[error("{what}: {reason}")]
    Llvm {
        /// The file or step.
        what: String,
        /// LLVM's message.
        reason: String,
    },
    /// LLVM refused to parse a file; the message has the place.
    #[error("{0}")]
    Parse(String),
    /// The program does what Heddle cannot compile; the message has the places.
    #[error("{0}")]
    Unsupported(String),
    /// Whoever wanted the program does not want it any more.
    #[error("interrupted")]
    Interrupted,
    /// A file operation of our own failed.
    #[error("{what}: {error}")]
    Io {
        /// What was being done.
        what: String,
        /// What the system said.
        error: std::io::Error,
    },
}

/// LLVM's refusal of a file or step.
pub(crate) fn llvm(what: &str, reason: &str) -> FrontendError {
    FrontendError::Llvm { what: what.into(), reason: reason.trim_end().into() }
}

/// A pass of Heddle's that failed.
pub(crate) fn pass(error: PassError) -> FrontendError {
    match error {
        PassError::Printf(_) | PassError::Code(_) => FrontendError::Unsupported(error.to_string()),
        e => FrontendError::Llvm { what: "preparing the module".into(), reason: e.to_string() },
    }
}

/// A file operation of our own that failed.
pub(crate) fn io(what: &str) -> impl FnOnce(std::io::Error) -> FrontendError {
    let what = what.to_string();
    move |error| FrontendError::Io { what, error }
}
