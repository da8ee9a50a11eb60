//! `cargo xtask test`: lint, cargo's tests, the lit suite, the generators of the test kernels, the
//! Python package, benchmarks in their small form; ends with the totals.

use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, anyhow, bail};

use crate::bench;
use crate::cargo_run::CargoRun;
use crate::python;
use crate::setup;
use crate::shell::{build_all, cargo, check, python as python_with, root};

/// Formatting and clippy.
pub fn lint() -> Result<()> {
    check(cargo().args(["fmt", "--all", "--check"]))?;
    check(cargo().args(["clippy", "--workspace", "--all-targets", "--release", "--quiet", "--", "-D", "warnings"]))?;
    // What machines without LLVM build.
    let simulator = ["--package", "heddle-sim", "--no-default-features", "--all-targets", "--release", "--quiet"];
    check(cargo().arg("clippy").args(simulator).args(["--", "-D", "warnings"]))
}

/// Everything. False if a test failed.
pub fn run() -> Result<bool> {
    // Packages come over the network while clippy looks at the code.
    std::thread::scope(|scope| {
        scope.spawn(setup::for_tests);
        lint()
    })?;
    let (binary, plugin) = build_all()?;
    let mut totals = Totals::default();
    totals.cargo()?;
    totals.lit(&binary, &plugin)?;
    totals.generators()?;
    totals.python(&binary);
    totals.benchmarks(&binary);
    // At the end, where nobody has to look for them.
    for line in totals.skipped.iter().chain(&totals.unstable).chain(&totals.failures) {
        println!("{line}");
    }
    println!("{} passed, {} failed", totals.passed, totals.failed);
    Ok(totals.failed == 0)
}

#[derive(Default)]
struct Totals {
    passed: u64,
    failed: u64,
    /// What could not be checked here and why, said at the end.
    skipped: Vec<String>,
    /// What failed beside other tests and passed alone, said at the end.
    unstable: Vec<String>,
    /// What failed, said at the end.
    failures: Vec<String>,
}

impl Totals {
    /// cargo's tests. The few that fail run once more, each alone: what passes then is unstable, and said to be; where many
    /// fail, it is no accident, and none runs again.
    fn cargo(&mut self) -> Result<()> {
        const ACCIDENTS: usize = 5;
        let run = CargoRun::of(&[])?;
        self.passed += run.passed;
        self.failed += run.failed;
        for name in &run.names {
            if run.names.len() <= ACCIDENTS {
                println!("once more, alone: {name}");
                let alone = CargoRun::of(&["--exact", name])?;
                if alone.passed > 0 && alone.failed == 0 {
                    self.unstable.push(format!("UNSTABLE: {name} failed beside other tests and passed alone; it wants mending"));
                    self.passed += 1;
                    self.failed -= 1;
                    continue;
                }
            }
            self.failures.push(format!("FAIL: {name}"));
        }
        Ok(())
    }

    /// LLVM's lit over `tests/lit`.
    fn lit(&mut self, heddle: &Path, plugin: &Path) -> Result<()> {
        let lit = ["/usr/lib/llvm-19/build/utils/lit/lit.py", "/usr/lib/llvm19/build/utils/lit/lit.py"]
            .iter()
            .map(Path::new)
            .find(|p| p.is_file());
        let mut command = match lit {
            Some(path) => {
                let mut c = Command::new("python3");
                c.arg(path);
                c
            }
            None => Command::new("lit"),
        };
        let suite = root().join("tests/lit");
        let output = command
            .args(["-v", "--no-progress-bar"])
            .arg(&suite)
            .env("HEDDLE_BIN", heddle)
            .env("HEDDLE_PLUGIN", plugin)
            .stderr(Stdio::inherit())
            .output()
            .context("cannot run lit (llvm-19-tools has it; python3 is needed)")?;
        let text = String::from_utf8_lossy(&output.stdout);
        print!("{text}");
        for line in text.lines() {
            let Some((name, count)) = line.trim().split_once(':') else { continue };
            let count: u64 = count.trim().split(' ').next().and_then(|c| c.parse().ok()).unwrap_or(0);
            match name.trim() {
                "Passed" | "Expectedly Failed" => self.passed += count,
                "Failed" | "Unresolved" | "Timed Out" | "Unexpectedly Passed" => self.failed += count,
                _ => {}
            }
        }
        let bad = ["FAIL: ", "UNRESOLVED: ", "TIMEOUT: ", "XPASS: "];
        self.failures.extend(text.lines().filter(|l| bad.iter().any(|b| l.starts_with(b))).map(String::from));
        if !output.status.success() && self.failed == 0 {
            bail!("lit failed ({})", output.status);
        }
        Ok(())
    }

    /// Counts a test of our own and says how it ended.
    fn count(&mut self, name: &str, result: Result<()>) {
        match result {
            Ok(()) => {
                println!("PASS: {name}");
                self.passed += 1;
            }
            Err(e) => {
                println!("FAIL: {name}: {e:#}");
                self.failures.push(format!("FAIL: {name}"));
                self.failed += 1;
            }
        }
    }

    /// The inputs and goldens of the test kernels and the workloads are what their generators make.
    fn generators(&mut self) -> Result<()> {
        let scripts = ["test-kernels/generate.py", "benches/workloads/generate.py"];
        let Some(python) = python_with(&["numpy"]) else {
            self.skipped
                .push(format!("Not checked, for no python3 has numpy (`cargo xtask setup --peers`): {}.", scripts.join(", ")));
            return Ok(());
        };
        for script in scripts {
            let output = Command::new(&python).arg(root().join(script)).arg("--check").output().context("cannot run python3")?;
            let text = String::from_utf8_lossy(&output.stdout);
            let errors = String::from_utf8_lossy(&output.stderr);
            let good = output.status.success();
            self.count(script, if good { Ok(()) } else { Err(anyhow!("{}{}", text.trim_end(), errors.trim_end())) });
            let left_out = text.lines().filter(|l| l.starts_with("left out: "));
            self.skipped.extend(left_out.map(|l| format!("{script}: {l}; see `cargo xtask setup --peers`.")));
        }
        Ok(())
    }

    /// The Python package's tests, and the notebooks.
    fn python(&mut self, heddle: &Path) {
        let Some(interpreter) = python::interpreter() else {
            let why = "there is no environment for it (python3 of version 3.10 with venv, and PyPI, make one)";
            self.skipped.push(format!("Not checked: the Python package and examples/notebooks, for {why}."));
            return;
        };
        match python::test(&interpreter, heddle) {
            Ok(counts) => {
                self.passed += counts.passed;
                self.failed += counts.failed;
                self.failures.extend(counts.failures);
                self.unstable.extend(counts.unstable);
                if counts.skipped > 0 {
                    self.skipped.push(format!("{} tests of the Python package were skipped; pytest says why.", counts.skipped));
                }
            }
            Err(e) => self.count("python/tests", Err(e)),
        }
    }

    /// Every benchmark in its small form: it runs, and what comes out are numbers.
    fn benchmarks(&mut self, heddle: &Path) {
        let mut not_compared = Vec::new();
        for bench in bench::BENCHES {
            let result = bench::smoke(bench, heddle).map(|list| not_compared.extend(list));
            self.count(&format!("bench {} --smoke", bench.name), result);
        }
        self.skipped.extend(bench::not_compared(&not_compared));
    }
}
