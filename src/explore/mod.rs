//! Many runs of many machines, options and cases: `heddle sweep`, `heddle ablate`, `heddle compare`, `heddle time`.
//!
//! - [`options`]: the options of `heddle run` as values of an axis.
//! - [`axes`]: lists, ranges and their product, samples of it, conditions that leave points out.
//! - [`plan`]: `SWEEP.toml` → cases, configurations and points, all checked before anything runs.
//! - [`identity`]: what a point's result depends on, as a hash.
//! - [`engine`]: one point: compile (each code once), run, count; and many of them on all cores.
//! - [`journal`]: finished points on disk, one JSON line each; what makes a sweep survive a kill.
//! - [`sweep`]: plan, engine and journal together; collection of journals of several machines.
//! - [`emit`]: scripts for Slurm and GNU parallel.
//! - [`metrics`], [`results`]: statistics as columns; CSV, JSON lines and Parquet.
//! - [`pareto`]: the configurations that no other one beats.
//! - [`recorded`], [`merged`]: a recorded program's launches, timed by themselves, as one report.
//! - [`compare`], [`ablate`]: two runs; each technique off in turn.
//!
//! Result files say nothing about the run that made them (no times, no host): they are the same bytes however
//! the sweep went.

pub mod ablate;
pub mod axes;
pub mod compare;
pub mod emit;
pub mod engine;
pub mod identity;
pub mod journal;
pub mod merged;
pub mod metrics;
pub mod options;
pub mod page;
pub mod pareto;
#[cfg(feature = "parquet")]
mod parquet_file;
pub mod plan;
pub mod progress;
pub mod recorded;
pub mod results;
pub mod sweep;

/// What can go wrong.
#[derive(Debug, thiserror::Error)]
pub enum ExploreError {
    /// Bad input: nothing has run. Exit status 2.
    #[error("{0}")]
    Input(String),
    /// A check that failed. Exit status 1.
    #[error("{0}")]
    Check(String),
}

impl ExploreError {
    /// An error of the file system, and what could not be done: `read the sweep`.
    pub(crate) fn file(path: &std::path::Path, what: &str, error: impl std::fmt::Display) -> ExploreError {
        ExploreError::Input(format!("{}: cannot {what}: {error}", path.display()))
    }
}

/// The name that is most like an unknown one, if any is like it.
pub(crate) fn similar<'a>(unknown: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let scored = known.into_iter().map(|k| (strsim::jaro_winkler(k, unknown), k));
    scored.filter(|(s, _)| *s > 0.75).max_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, k)| k)
}

/// The geometric mean of positive numbers; `None` of nothing.
pub fn geometric_mean(values: &[f64]) -> Option<f64> {
    if values.is_empty() || values.iter().any(|v| !(*v > 0.0 && v.is_finite())) {
        return None;
    }
    Some((values.iter().map(|v| v.ln()).sum::<f64>() / values.len() as f64).exp())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn geometric_means() {
        assert!((geometric_mean(&[2.0, 8.0]).unwrap() - 4.0).abs() < 1e-12);
        assert_eq!(geometric_mean(&[]), None);
        assert_eq!(geometric_mean(&[1.0, 0.0]), None);
    }

    #[test]
    fn a_misspelt_name_has_a_neighbour() {
        assert_eq!(similar("regfle", ["rename", "regfile", "release"]), Some("regfile"));
        assert_eq!(similar("zzz", ["rename"]), None);
    }
}
