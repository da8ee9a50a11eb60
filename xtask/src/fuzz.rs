//! `cargo xtask fuzz --minutes N`: `heddle-fuzz` for a time, from a seed that is stated so that the run can be repeated and continued.

use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result};
use clap::Args;

use crate::shell::{cargo, check, release, root};

/// Options of the task.
#[derive(Args)]
pub struct Fuzz {
    /// How long, in minutes.
    #[arg(long, value_name = "N", default_value_t = 10.0)]
    minutes: f64,
    /// First seed. Without it a random one is taken, so that every run sees other programs.
    #[arg(long, value_name = "SEED")]
    start: Option<u64>,
    /// Where failing programs go.
    #[arg(long, value_name = "FOLDER", default_value = "fuzz-findings")]
    out: PathBuf,
    /// Passed to `heddle-fuzz` as they are: `-- --opencl require`.
    #[arg(last = true)]
    rest: Vec<String>,
}

impl Fuzz {
    /// Builds and runs. False if something was found.
    pub fn run(&self) -> Result<bool> {
        check(cargo().args(["build", "--release", "--package", "heddle-fuzz"]))?;
        let program = release().join("heddle-fuzz");
        // Multiples of a million are easy to remember, and two runs do not overlap.
        let start = self.start.unwrap_or_else(|| {
            let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_micros() as u64);
            (now.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 44) * 1_000_000
        });
        let out = if self.out.is_absolute() { self.out.clone() } else { root().join(&self.out) };
        println!("seeds from {start} for {} minutes", self.minutes);
        let mut child = Command::new(&program)
            .args(["--seeds", &format!("{start}..{}", u64::MAX), "--minutes", &self.minutes.to_string(), "--out"])
            .arg(&out)
            .args(&self.rest)
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| format!("cannot run {}", program.display()))?;
        let mut end = None;
        if let Some(stdout) = child.stdout.take() {
            for line in BufReader::new(stdout).lines() {
                let line = line?;
                println!("{line}");
                end = end.or_else(|| seeds_end(&line));
            }
        }
        let status = child.wait()?;
        if let Some(end) = end {
            println!("to go on: cargo xtask fuzz --minutes {} --start {end}", self.minutes);
        }
        if !status.success() && out.is_dir() {
            println!("failing programs, each with its case file: {}", out.display());
        }
        Ok(status.success())
    }
}

/// The end of the range in `N programs, seeds A..B, …`.
fn seeds_end(line: &str) -> Option<u64> {
    line.split_once(" programs, seeds ")?.1.split_once("..")?.1.split(',').next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_a_run_is_read_from_its_summary() {
        assert_eq!(seeds_end("40 programs, seeds 5..45, 13 setups each: 0 failed"), Some(45));
        assert_eq!(seeds_end("2.0 s, 8.12 programs/s; clang 30 %"), None);
    }
}
