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
    /// Name and text.
    pub source: (String, String),
    pub code: Code,
    /// Options of the points that it is compiled with.
    pub options: PointOptions,
    builder: Builder,
    build: BuildOptions,
    built: Executable,
    unit: OnceLock<Result<Unit, BuildFailure>>,
    checked: OnceLock<Result<Vec<u8>, BuildFailure>>,
}

impl Program {
    /// What was built.
    pub fn new(
        shared: Arc<Shared>,
        source: (String, String),
        (builder, build): (Builder, BuildOptions),
        options: PointOptions,
        built: Executable,
    ) -> PyResult<Program> {
        let code = Code::new(&built.object)?;
        if code.image.metadata.kernels.is_empty() {
            let message = format!("{}: no kernel function (mark one with __kernel)", source.0);
            return Err(errors::CompileError::new_err(message));
        }
        let (unit, checked) = (OnceLock::new(), OnceLock::new());
        let machine = Arc::new(shared.description.clone());
        Ok(Program { shared, machine, source, code, options, builder, build, built, unit, checked })
    }

    fn as_source(&self) -> Source<'_> {
        Source { name: &self.source.0, text: self.source.1.as_bytes(), headers: &[] }
    }

    /// The object compiled for checking mode.
    pub fn checked(&self, py: Python<'_>) -> PyResult<Code> {
        let object = py.detach(|| {
            self.checked.get_or_init(|| {
                let mut options = self.options.compile_options(Default::default());
                options.checked = true;
                self.builder.clone().with_options(options).build(&self.as_source(), &self.build).map(|e| e.object)
            })
        });
        Code::new(object.as_ref().map_err(|e| errors::build(e.clone()))?)
    }

    /// Bitcode of the source.
    fn unit(&self) -> Result<&Unit, BuildFailure> {
        let unit = self.unit.get_or_init(|| self.builder.compile_source(&self.as_source(), &self.build));
        unit.as_ref().map_err(Clone::clone)
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
        serde_json::to_string(&self.code.image.metadata.kernels).map_err(|e| errors::Error::new_err(e.to_string()))
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
        let bytes = py.detach(|| self.builder.emit(&[self.unit()?], emit)).map_err(errors::build)?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// What a pass of `heddle opt` prints.
    fn analyse(&self, py: Python<'_>, passes: &str) -> PyResult<String> {
        py.detach(|| self.builder.analyse(&[self.unit()?], passes)).map_err(errors::build)
    }
}
