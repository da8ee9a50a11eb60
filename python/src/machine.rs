//! A machine with its memory and caches.

use std::path::PathBuf;
use std::sync::Arc;

use heddle::Machine as Description;
use heddle::build::{BuildOptions, Builder, Source, split};
use heddle::explore::options::PointOptions;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::device::{Memory, Shared};
use crate::errors;
use crate::interrupt::Watch;
use crate::program::Program;

/// A simulated machine: description, memory, caches.
#[pyclass(frozen, module = "heddle._native")]
pub struct Machine {
    pub shared: Arc<Shared>,
}

/// Settings of options as `heddle run` has them, from Python's values.
pub fn settings(settings: &Bound<'_, PyDict>) -> PyResult<PointOptions> {
    let mut values = Vec::new();
    for (name, value) in settings {
        let name: String = name.extract()?;
        let value = if let Ok(b) = value.extract::<bool>() {
            toml::Value::Boolean(b)
        } else if let Ok(i) = value.extract::<i64>() {
            toml::Value::Integer(i)
        } else {
            toml::Value::String(value.extract()?)
        };
        values.push((name, value));
    }
    PointOptions::new(values.iter().map(|(n, v)| (n.as_str(), v))).map_err(errors::input)
}

#[pymethods]
impl Machine {
    /// From a TOML file (without one the built-in machine) or a description's text, with changes `field=value`.
    #[new]
    #[pyo3(signature = (path, text, changes))]
    fn new(path: Option<PathBuf>, text: Option<&str>, changes: Vec<String>) -> PyResult<Machine> {
        let description = match text {
            Some(text) => Description::from_text(text, "description", &changes),
            None => Description::load(path.as_deref(), &changes),
        };
        let description = description.map_err(|e| errors::input(e.to_string().replace("--set ", "")))?;
        Ok(Machine { shared: Arc::new(Shared::new(description)?) })
    }

    /// The description as JSON.
    fn json(&self) -> PyResult<String> {
        serde_json::to_string(&self.shared.description).map_err(|e| errors::Error::new_err(e.to_string()))
    }

    /// The description as TOML.
    fn toml(&self) -> PyResult<String> {
        toml::to_string_pretty(&self.shared.description).map_err(|e| errors::Error::new_err(e.to_string()))
    }

    /// Memory of the device, zeroed.
    fn allocate(&self, py: Python<'_>, name: &str, bytes: u64) -> PyResult<Memory> {
        let shared = self.shared.clone();
        py.detach(move || Memory::new(shared, name, bytes))
    }

    /// Bytes that can still be allocated.
    fn available(&self, py: Python<'_>) -> u64 {
        py.detach(|| self.shared.state().memory.available())
    }

    /// Empties the caches.
    fn flush_caches(&self, py: Python<'_>) {
        py.detach(|| self.shared.state().flush_caches(&self.shared.description));
    }

    /// Compiles a program: its name for messages, its bytes, clang's words, instances of templates, and settings of options by
    /// name.
    fn compile(
        &self,
        py: Python<'_>,
        name: String,
        text: Vec<u8>,
        words: Vec<String>,
        instances: Vec<String>,
        techniques: &Bound<'_, PyDict>,
    ) -> PyResult<Program> {
        let options = settings(techniques)?;
        options.check(&self.shared.description).map_err(errors::input)?;
        let mut all = Vec::new();
        for word in &words {
            all.extend(split(word).map_err(errors::input)?);
        }
        all.extend(options.source_words());
        let build = BuildOptions::of(&all).map_err(errors::input)?.with_instances(instances);
        let compile = options.compile_options(Default::default());
        let builder = Builder::new(self.shared.description.clone()).with_options(compile).with_cache(self.shared.cache.clone());
        let watch = Watch::new();
        let wanted = build.clone().stopped_by(watch.stop());
        let built = py.detach(|| builder.build(&Source { name: &name, text: &text, headers: &[] }, &wanted));
        watch.check(py)?;
        Program::new(self.shared.clone(), (name, text), (builder, build), options, built.map_err(errors::build)?)
    }
}
