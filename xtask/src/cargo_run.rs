//! A run of `cargo test`, counted: which tests failed, and whether every program of tests came to its end.

use std::io::{BufRead, BufReader};

use anyhow::{Context, Result, bail};

use crate::shell::cargo;

/// How `cargo test` ended.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct CargoRun {
    /// Programs of tests that were started.
    pub started: usize,
    /// Those that came to their end and said how.
    pub ended: usize,
    /// Tests that passed.
    pub passed: u64,
    /// Tests that did not.
    pub failed: u64,
    /// The names of those, complete if there are as many.
    pub names: Vec<String>,
    /// The names that the program that runs has listed, if it has begun to.
    current: Option<Vec<String>>,
}

impl CargoRun {
    /// Runs all programs of tests with these arguments and prints what they print.
    ///
    /// # Errors
    /// A program did not come to its end, so that nobody knows what it would have found.
    pub fn of(args: &[&str]) -> Result<CargoRun> {
        // One pipe for what cargo says and what the programs say, so that the order is kept.
        let (reader, writer) = std::io::pipe().context("cannot make a pipe")?;
        let mut child = {
            let mut command = cargo();
            command.args(["test", "--workspace", "--release", "--no-fail-fast"]);
            if !args.is_empty() {
                command.arg("--").args(args);
            }
            command.stdout(writer.try_clone().context("cannot copy a pipe")?).stderr(writer);
            command.spawn().context("cannot run cargo test")?
        };
        let mut run = CargoRun::default();
        for line in BufReader::new(reader).split(b'\n') {
            let line = line?;
            let line = String::from_utf8_lossy(&line);
            println!("{line}");
            run.line(&line);
        }
        let status = child.wait()?;
        if run.started != run.ended || (!status.success() && run.failed == 0) {
            let (started, ended) = (run.started, run.ended);
            bail!("cargo test: {ended} of {started} programs counted their tests; another failed before it could ({status})");
        }
        Ok(run)
    }

    /// Reads a line that cargo or a program of tests has printed.
    fn line(&mut self, line: &str) {
        if let Some(rest) = line.strip_prefix("test result: ") {
            let words: Vec<&str> = rest.split([' ', ';']).collect();
            let number =
                |what: &str| -> u64 { words.windows(2).find(|w| w[1] == what).and_then(|w| w[0].parse().ok()).unwrap_or(0) };
            self.ended += 1;
            self.passed += number("passed");
            self.failed += number("failed");
            let names = self.current.take().unwrap_or_default();
            match names.len() as u64 == number("failed") {
                true => self.names.extend(names),
                false => self.names.push(format!("{} tests that it does not name ({})", number("failed"), rest.trim())),
            }
        } else if (line.starts_with("     Running ") && line.ends_with(')')) || line.starts_with("   Doc-tests ") {
            self.started += 1;
        } else if line == "failures:" {
            // The last such list has the names alone.
            self.current = Some(Vec::new());
        } else if let (Some(names), Some(name)) = (&mut self.current, line.strip_prefix("    ")) {
            names.push(name.to_string());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of libtest, twice, and of libtest-mimic.
    const OUTPUT: &str = "\
   Compiling heddle v0.1.0
     Running unittests src/lib.rs (target/release/deps/heddle-0123)

running 3 tests
    an indented line that a test has printed
test a::first ... ok
test a::second ... FAILED

failures:

---- a::second stdout ----
thread 'a::second' panicked at src/lib.rs:3:5:
    an indented line of its own

failures:
    a::second

test result: FAILED. 2 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.01s

error: test failed, to rerun pass `-p heddle --lib`
     Running tests/kernels.rs (target/release/deps/kernels-0123)

running 2 tests
test [kernel] abs  ... ok
test [kernel] b c  ... FAILED

failures:

---- b c ----
other bytes

failures:
    b c

test result: FAILED. 1 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 1.01s

   Doc-tests heddle

running 1 test
    an indented line that a test has printed
test src/lib.rs - (line 3) ... ok

test result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.01s
";

    #[test]
    fn cargo_is_understood() {
        let mut run = CargoRun::default();
        OUTPUT.lines().for_each(|l| run.line(l));
        let names = vec!["a::second".to_string(), "b c".to_string()];
        assert_eq!(run, CargoRun { started: 3, ended: 3, passed: 4, failed: 2, names, current: None });
    }

    #[test]
    fn programs_that_end_early_are_seen() {
        let mut run = CargoRun::default();
        OUTPUT.lines().take(8).for_each(|l| run.line(l));
        assert_eq!((run.started, run.ended), (1, 0));
    }
}
