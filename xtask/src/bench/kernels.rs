//! The programs that benchmarks run: the test kernels, and workloads (the same kernels on launches
//! that fill SMs several times).

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use super::Setup;
use crate::shell::root;

/// The kernel of the small form: it needs an option of its own case to compile.
const SMOKE_KERNEL: &str = "conv_stream";
/// The workload of the small form.
const SMOKE_WORKLOAD: &str = "vectoradd_pitch";

/// A test kernel.
pub struct Kernel {
    /// The folder's name.
    pub name: String,
    /// Where it is.
    pub folder: PathBuf,
    /// The compiler's options that its case names.
    pub options: Vec<String>,
}

impl Kernel {
    fn read(folder: PathBuf) -> Result<Kernel> {
        let file = folder.join("case.json");
        let text = std::fs::read_to_string(&file).with_context(|| format!("reading {}", file.display()))?;
        let case: Value = serde_json::from_str(&text).with_context(|| file.display().to_string())?;
        let words = case["options"].as_array().into_iter().flatten();
        let options = words.filter_map(Value::as_str).map(String::from).collect();
        let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Ok(Kernel { name, folder, options })
    }

    /// Its case file.
    pub fn case(&self) -> PathBuf {
        self.folder.join("case.json")
    }

    /// `heddle build` of its source with the options of its case; what it is to make is still open.
    pub fn build(&self, heddle: &Path) -> Command {
        let mut command = Command::new(heddle);
        command.arg("build").arg("-I").arg(&self.folder).args(&self.options).arg(self.folder.join("kernel.cl"));
        command
    }

    /// What `heddle build` writes to standard output with these options.
    pub fn text(&self, heddle: &Path, options: &[&str]) -> Result<String> {
        let output = self.build(heddle).args(options).args(["-o", "-"]).output().context("cannot run heddle")?;
        ensure!(output.status.success(), "{} {options:?}: {}", self.name, String::from_utf8_lossy(&output.stderr));
        Ok(String::from_utf8(output.stdout)?)
    }
}

impl Setup {
    /// The test kernels.
    pub fn kernels(&self) -> Result<Vec<Kernel>> {
        let folder = root().join("test-kernels");
        if self.smoke {
            return Ok(vec![Kernel::read(folder.join(SMOKE_KERNEL))?]);
        }
        let mut result = Vec::new();
        for entry in std::fs::read_dir(folder)? {
            let path = entry?.path();
            if path.join("kernel.cl").is_file() {
                result.push(Kernel::read(path)?);
            }
        }
        result.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(result.into_iter().step_by(self.every).collect())
    }

    /// The workloads: name and case file.
    pub fn workloads(&self) -> Result<Vec<(String, PathBuf)>> {
        let mut result = Vec::new();
        for entry in std::fs::read_dir(root().join("benches/workloads"))? {
            let path = entry?.path();
            let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            if path.extension().is_some_and(|e| e == "json") && (!self.smoke || name == SMOKE_WORKLOAD) {
                result.push((name, path));
            }
        }
        result.sort();
        Ok(result.into_iter().step_by(self.every).collect())
    }

    /// Runs a case and returns the statistics of all its launches together.
    pub fn simulate<S: AsRef<str>>(&self, case: &Path, options: &[S]) -> Result<Value> {
        let options: Vec<&str> = options.iter().map(AsRef::as_ref).collect();
        let mut command = Command::new(&self.heddle);
        command.arg("run").arg(case).args(["--json", "-"]).args(&options);
        let output = command.output().context("cannot run heddle")?;
        let words = || format!("{} {}", case.display(), options.join(" "));
        ensure!(output.status.success(), "{}: {}", words(), String::from_utf8_lossy(&output.stderr));
        let mut json: Value = serde_json::from_slice(&output.stdout).with_context(words)?;
        Ok(json["total"].take())
    }
}

/// A number of a JSON value by its path. One that is not there is an error of the benchmark, not a
/// zero: fields get new names.
pub fn number(value: &Value, path: &str) -> f64 {
    path.split('.').try_fold(value, |v, key| v.get(key)).and_then(Value::as_f64).unwrap_or(f64::NAN)
}

/// Simulated energy, all parts.
pub fn energy(total: &Value) -> f64 {
    sum_of(total, |_| true)
}

/// Simulated energy of the parts whose name is chosen.
pub fn sum_of(total: &Value, chosen: impl Fn(&str) -> bool) -> f64 {
    let Some(parts) = total["energy_pj"].as_object() else { return f64::NAN };
    parts.iter().filter(|(name, _)| chosen(name)).filter_map(|(_, e)| e.as_f64()).fold(0.0, |sum, e| sum + e)
}
