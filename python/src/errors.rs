//! Exceptions, and which of Heddle's errors becomes which. Each has Heddle's own message.

use heddle::build::BuildFailure;
use heddle::explore::ExploreError;
use heddle::runtime::run::{Refusal, RunError};
use heddle::sim::{Fault, FaultKind};
use pyo3::create_exception;
use pyo3::exceptions::PyException;
use pyo3::prelude::*;

create_exception!(
    heddle,
    Error,
    PyException,
    "What all of Heddle's exceptions are. Its text is Heddle's message, with file, line and what can be done."
);
create_exception!(
    heddle,
    InputError,
    Error,
    "Something that was given makes no sense: a machine's field, an option, a case file. Nothing has run."
);
create_exception!(
    heddle,
    CompileError,
    Error,
    "A program does not compile. The text is the build log: messages of the compiler with file, line and column."
);
create_exception!(
    heddle,
    LaunchError,
    Error,
    "A launch is not possible: arguments that do not fit the kernel's parameters, sizes or resources that the machine lacks."
);
create_exception!(
    heddle,
    FaultError,
    Error,
    "A kernel did something wrong while it ran. Attributes: `kind` (a word, as `out-of-bounds`), `source` (`file:line`, or \
     None), `kernel`, and the work-item's `global_id`, `local_id` and `group_id` (tuples of three). Arrays hold what the launch \
     had written until then."
);
create_exception!(heddle, CheckError, Error, "Results are not what was expected of them.");
create_exception!(
    heddle,
    Interrupted,
    Error,
    "SIGINT has ended a launch, and its handler has raised nothing (or is another thread's). Arrays hold what it had written."
);

/// Adds them to the module.
///
/// # Errors
/// The interpreter's.
pub fn add_to(m: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = m.py();
    m.add("Error", py.get_type::<Error>())?;
    m.add("InputError", py.get_type::<InputError>())?;
    m.add("CompileError", py.get_type::<CompileError>())?;
    m.add("LaunchError", py.get_type::<LaunchError>())?;
    m.add("FaultError", py.get_type::<FaultError>())?;
    m.add("CheckError", py.get_type::<CheckError>())?;
    m.add("Interrupted", py.get_type::<Interrupted>())
}

/// Bad input.
pub fn input(e: impl ToString) -> PyErr {
    InputError::new_err(e.to_string())
}

/// A build that failed.
pub fn build(e: BuildFailure) -> PyErr {
    match e {
        BuildFailure::Options(e) => input(e),
        BuildFailure::Program { log } => CompileError::new_err(log.trim_end().to_string()),
        BuildFailure::Internal(m) => Error::new_err(m),
    }
}

/// A compilation of files that failed.
pub fn compile(e: heddle::driver::CompileError) -> PyErr {
    build(e.into())
}

/// A sweep or a comparison that failed.
pub fn explore(e: ExploreError) -> PyErr {
    match e {
        ExploreError::Input(m) => input(m),
        ExploreError::Check(m) => CheckError::new_err(m),
    }
}

/// A run that failed. A launch that SIGINT has ended raises what the handler raises.
pub fn run(py: Python<'_>, e: RunError) -> PyErr {
    match e {
        RunError::Input(message) | RunError::Refused(Refusal { message, .. }) => LaunchError::new_err(message),
        RunError::Fault(f) if f.kind == FaultKind::Interrupted => {
            py.check_signals().err().unwrap_or_else(|| Interrupted::new_err(f.to_string()))
        }
        RunError::Fault(f) => fault(py, &f).unwrap_or_else(|e| e),
    }
}

/// An exception of a fault, with its attributes.
fn fault(py: Python<'_>, f: &Fault) -> PyResult<PyErr> {
    let error = FaultError::new_err(f.to_string());
    let value = error.value(py);
    value.setattr("kind", f.kind.name())?;
    value.setattr("source", f.source.as_deref())?;
    value.setattr("kernel", f.kernel.as_str())?;
    let triple = |[x, y, z]: [u32; 3]| (x, y, z);
    value.setattr("global_id", triple(f.global_id))?;
    value.setattr("local_id", triple(f.local_id))?;
    value.setattr("group_id", triple(f.group_id))?;
    Ok(error)
}
