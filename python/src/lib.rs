//! `heddle._native`: what the Python package `heddle` has of Heddle's library. The package's own modules give it the shape
//! that Python's users expect; everything that is compiled, simulated, counted or written is done by the crate `heddle`.
//!
//! - [`device`]: memory and caches; [`machine`]: a machine that has them; [`program`]: what is compiled for it.
//! - [`arguments`]: Python's objects as kernel arguments; [`launch`]: launches; [`run`]: what they did.
//! - [`explore`]: case files, sweeps, comparisons.
//! - [`errors`]: exceptions; [`interrupt`]: Ctrl-C.
//!
//! Whatever takes time is done without the interpreter's lock.

mod arguments;
mod device;
mod errors;
mod explore;
mod interrupt;
mod launch;
mod machine;
mod program;
mod run;

use pyo3::prelude::*;

/// The path of the clang that compiles programs, as configured or found.
#[pyfunction]
fn clang_path() -> std::path::PathBuf {
    heddle::frontend::clang_path()
}

#[pymodule]
fn _native(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add("__version__", env!("CARGO_PKG_VERSION"))?;
    m.add("FIELDS", heddle::target::docs::paths())?;
    m.add("PRINTF_BUFFER", heddle::sim::Options::default().printf_room)?;
    m.add_class::<machine::Machine>()?;
    m.add_class::<device::Memory>()?;
    m.add_class::<program::Program>()?;
    m.add_class::<launch::Kernel>()?;
    m.add_class::<arguments::Local>()?;
    m.add_class::<arguments::Sampler>()?;
    m.add_class::<arguments::Image>()?;
    m.add_class::<run::Run>()?;
    m.add_class::<explore::Plan>()?;
    m.add_class::<explore::Journal>()?;
    m.add_function(wrap_pyfunction!(explore::run_case, m)?)?;
    m.add_function(wrap_pyfunction!(explore::compare, m)?)?;
    m.add_function(wrap_pyfunction!(explore::ablate, m)?)?;
    m.add_function(wrap_pyfunction!(explore::headlines, m)?)?;
    m.add_function(wrap_pyfunction!(explore::option_names, m)?)?;
    m.add_function(wrap_pyfunction!(clang_path, m)?)?;
    errors::add_to(m)
}
