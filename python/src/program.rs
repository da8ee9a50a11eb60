//! Compiled programs: their kernels, and what the compiler's stages made of them.

use std::sync::{Arc, OnceLock};

use heddle::build::{BuildFailure, BuildOptions, Builder, Executable, Source, Unit};
use heddle::driver::Emit;
use heddle::explore::options::PointOptions;
use heddle::object::Image;
use heddle::object::read;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::device::Shared;
use crate::errors;
use crate::interrupt::Watch;

/// A program that can be launched: its code, and the number by which a device knows it.
pub struct Code {
    pub image: Arc<Image>,
    pub number: u64,
}

impl Code {
    /// Of an object's bytes.
    pub fn new(object: &[u8]) -> PyResult<Code> {
        static NUMBERS: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(0);
        let image = read::parse(object).map_err(|e| errors::Error::new_err(e.to_string()))?;
        Ok(Code { image: Arc::new(image), number: NUMBERS.fetch_add(1, std::sync::atomic::Ordering::Relaxed) })
    }
}

/// A compiled program.
#[pyclass(frozen, module = "heddle._native")]
pub struct Program {
    pub shared: Arc<Shared>,
    /// The machine that it is for.
    pub machine: Arc<heddle::Machine>,
    /// Name and bytes.
    pub source: (String, Vec<u8>),
    pub code: Code,
    /// Options of the points that it is compiled with.
    pub options: PointOptions,
    builder: Builder,
    build: BuildOptions,
    built: Executable,
    unit: OnceLock<Unit>,
    checked: OnceLock<Vec<u8>>,
}

impl Program {
    /// What was built.
    pub fn new(
        shared: Arc<Shared>,
        source: (String, Vec<u8>),
        (builder, build): (Builder, BuildOptions),
        options: PointOptions,
        built: Executable,
    ) -> PyResult<Program> {
        let code = Code::new(&built.object)?;
        if code.image.metadata.launchable().next().is_none() {
            let message = format!("{}: no kernel function (mark one with __kernel)", source.0);
            return Err(errors::CompileError::new_err(message));
        }
        let (unit, checked) = (OnceLock::new(), OnceLock::new());
        let machine = Arc::new(shared.description.clone());
        Ok(Program { shared, machine, source, code, options, builder, build, built, unit, checked })
    }

    fn as_source(&self) -> Source<'_> {
        Source { name: &self.source.0, text: &self.source.1, headers: &[] }
    }

    /// The object compiled for checking mode.
    pub fn checked(&self, py: Python<'_>) -> PyResult<Code> {
        let object = self.once(py, &self.checked, |build| {
            let mut options = self.options.compile_options(Default::default());
            options.checked = true;
            self.builder.clone().with_options(options).build(&self.as_source(), build).map(|e| e.object)
        })?;
        Code::new(object)
    }

    /// Bitcode of the source.
    fn unit(&self, py: Python<'_>) -> PyResult<&Unit> {
        self.once(py, &self.unit, |build| self.builder.compile_source(&self.as_source(), build))
    }

    /// What is made once, unless Ctrl-C ends it.
    fn once<'a, T: Send + Sync>(
        &self,
        py: Python<'_>,
        made: &'a OnceLock<T>,
        make: impl FnOnce(&BuildOptions) -> Result<T, BuildFailure> + Send,
    ) -> PyResult<&'a T> {
        if let Some(there) = made.get() {
            return Ok(there);
        }
        let watch = Watch::new();
        let build = self.build.clone().stopped_by(watch.stop());
        let new = py.detach(|| make(&build));
        watch.check(py)?;
        let new = new.map_err(errors::build)?;
        Ok(made.get_or_init(|| new))
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        self.shared.unload(self.code.number);
    }
}

#[pymethods]
impl Program {
    /// What the compiler had to say: warnings.
    #[getter]
    fn log(&self) -> &str {
        &self.built.log
    }

    /// The ELF object.
    fn object<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.built.object)
    }

    /// Headers of the kernels as JSON.
    fn kernels(&self) -> PyResult<String> {
        serde_json::to_string(&self.code.image.metadata.launchable().collect::<Vec<_>>())
            .map_err(|e| errors::Error::new_err(e.to_string()))
    }

    /// The program as text: `ir`, `annotated-ir`, `mir` or `asm`.
    fn text(&self, py: Python<'_>, form: &str) -> PyResult<String> {
        let emit = match form {
            "ir" => Emit::Ir,
            "annotated-ir" => Emit::AnnotatedIr,
            "mir" => Emit::Mir,
            "asm" => Emit::Asm,
            other => return Err(errors::input(format!("`{other}` is no form of a program: ir, annotated-ir, mir, asm"))),
        };
        let unit = self.unit(py)?;
        let bytes = py.detach(|| self.builder.emit(&[unit], emit)).map_err(errors::build)?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// What a pass of `heddle opt` prints.
    fn analyse(&self, py: Python<'_>, passes: &str) -> PyResult<String> {
        let unit = self.unit(py)?;
        py.detach(|| self.builder.analyse(&[unit], passes)).map_err(errors::build)
    }
}
