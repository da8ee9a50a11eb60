//! `docs/BENCHMARKS.md`: the tables of each benchmark stand between `<!-- bench:NAME -->` and `<!--
//! /bench:NAME -->`, written by the benchmark.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result, ensure};

use super::report::{NotCompared, Report};
use crate::shell::{find, root};

/// Where and at what state of the project something was measured.
pub struct Place {
    commit: String,
    date: String,
    machine: String,
}

impl Place {
    /// This machine, today, and this tree.
    pub fn here() -> Result<Place> {
        let mut commit = format!("commit `{}`", said_by("git", &["rev-parse", "--short", "HEAD"])?);
        // The document itself changes while benchmarks are written one after the other.
        if !said_by("git", &["status", "--porcelain", "--", ".", ":!docs"])?.is_empty() {
            commit += " with changes that are not committed";
        }
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let cores = if cores == 1 { "1 core".to_string() } else { format!("{cores} cores") };
        let mut machine = format!("{cores} ({})", processor().context("which processor this is")?);
        let config = find("llvm-config-19").or_else(|| find("llvm-config"));
        if let Some(version) = config.and_then(|c| said_by(&c.to_string_lossy(), &["--version"]).ok()) {
            machine += &format!(", LLVM {version}");
        }
        Ok(Place { commit, date: said_by("date", &["-u", "+%F"])?, machine })
    }
}

/// What a program prints, in the root of the project.
fn said_by(program: &str, args: &[&str]) -> Result<String> {
    let output =
        Command::new(program).args(args).current_dir(root()).output().with_context(|| format!("cannot run {program}"))?;
    ensure!(output.status.success(), "{program} {}: {}", args.join(" "), String::from_utf8_lossy(&output.stderr));
    Ok(String::from_utf8(output.stdout)?.trim().to_string())
}

/// The name of the processor.
fn processor() -> Option<String> {
    let linux = std::fs::read_to_string("/proc/cpuinfo").ok().and_then(|text| {
        let value =
            |key: &str| text.lines().find_map(|l| l.strip_prefix(key)?.split_once(':').map(|(_, v)| v.trim().to_string()));
        value("model name").or_else(|| value("CPU part"))
    });
    linux.or_else(|| said_by("sysctl", &["-n", "machdep.cpu.brand_string"]).ok()).or_else(|| Some(std::env::consts::ARCH.into()))
}

fn path() -> PathBuf {
    root().join("docs/BENCHMARKS.md")
}

/// Puts the tables of a report into its region.
pub fn write(report: &Report, place: &Place) -> Result<()> {
    let path = path();
    let text = std::fs::read_to_string(&path).with_context(|| format!("reading {}", path.display()))?;
    let text = replaced(&text, &report.bench, &region(report, place))?;
    std::fs::write(&path, text).with_context(|| format!("writing {}", path.display()))
}

/// What stands in the region of a benchmark.
fn region(report: &Report, place: &Place) -> String {
    let Place { commit, date, machine } = place;
    let mut text =
        wrapped(&format!("Measured on {date} at {commit} by `cargo xtask bench {} --write`: {machine}.", report.bench));
    for table in &report.tables {
        text += &format!("\n{table}");
    }
    for paragraph in report.notes.iter().cloned().chain(NotCompared::paragraph(&report.not_compared)) {
        text += &format!("\n{}", wrapped(&paragraph));
    }
    text
}

/// A paragraph in lines of 100 characters.
fn wrapped(paragraph: &str) -> String {
    let (mut text, mut width) = (String::new(), 0);
    for word in paragraph.split_whitespace() {
        let length = word.chars().count();
        if width > 0 && width + 1 + length > 100 {
            text.push('\n');
            width = 0;
        } else if width > 0 {
            text.push(' ');
            width += 1;
        }
        text += word;
        width += length;
    }
    text + "\n"
}

/// The document with another text in a region.
fn replaced(document: &str, name: &str, text: &str) -> Result<String> {
    let (begin, end) = (format!("<!-- bench:{name} -->\n"), format!("<!-- /bench:{name} -->\n"));
    let (head, rest) = document.split_once(&begin).with_context(|| format!("docs/BENCHMARKS.md has no {}", begin.trim()))?;
    let (_, tail) = rest.split_once(&end).with_context(|| format!("docs/BENCHMARKS.md has no {}", end.trim()))?;
    Ok(format!("{head}{begin}{text}{end}{tail}"))
}

#[cfg(test)]
mod tests {
    use super::super::BENCHES;
    use super::super::report::Table;
    use super::*;

    #[test]
    fn a_region_is_replaced_and_nothing_else() {
        let document = "a\n<!-- bench:x -->\nold\n<!-- /bench:x -->\nb\n<!-- bench:y -->\n<!-- /bench:y -->\n";
        let new = replaced(document, "x", "new\n").expect("a region of x");
        assert_eq!(new, document.replace("old", "new"));
        assert!(replaced(document, "z", "new\n").is_err());
        assert!(replaced("<!-- bench:x -->\n", "x", "new\n").is_err());
    }

    #[test]
    fn a_region_says_where_its_figures_are_from_and_what_they_lack() {
        let mut report = Report::new("x");
        let mut table = Table::new(["kernel", "s"]);
        table.row(["sgemm", "1"]);
        report.tables.push(table);
        report.notes.push("One note.".into());
        report.not_compared.push(NotCompared { peer: "PoCL", what: "sgemm".into(), why: "no pyopencl".into() });
        let place =
            Place { commit: "commit `abc`".into(), date: "2026-01-02".into(), machine: "2 cores (CPU), LLVM 19.1".into() };
        assert_eq!(
            region(&report, &place),
            "Measured on 2026-01-02 at commit `abc` by `cargo xtask bench x --write`: 2 cores (CPU), LLVM 19.1.\n\
             \n| kernel | s |\n|---|--:|\n| sgemm | 1 |\n\
             \nOne note.\n\
             \nNot compared: sgemm with PoCL (no pyopencl). `cargo xtask setup --peers` installs what is missing,\n\
             or says what to install.\n"
        );
    }

    #[test]
    fn this_place_has_a_name() {
        assert!(processor().is_some_and(|p| !p.is_empty()));
    }

    /// Tables are never written by hand: each benchmark has its region, which says what it was
    /// measured at, and there is no table elsewhere.
    #[test]
    fn the_document_has_a_region_for_every_benchmark_and_no_table_outside() {
        let document = std::fs::read_to_string(path()).expect("docs/BENCHMARKS.md");
        let mut outside = document.clone();
        for bench in BENCHES {
            assert!(document.contains(&format!("\n## `bench {}`", bench.name)), "no section about bench {}", bench.name);
            let begin = format!("<!-- bench:{} -->\n", bench.name);
            let end = format!("<!-- /bench:{} -->\n", bench.name);
            assert_eq!(
                (document.matches(&begin).count(), document.matches(&end).count()),
                (1, 1),
                "the region of {}",
                bench.name
            );
            let inside = document.split_once(&begin).and_then(|(_, rest)| rest.split_once(&end)).expect("a region").0;
            let first = inside.lines().next().unwrap_or_default();
            assert!(first.starts_with("Measured on "), "the region of {} begins with: {first}", bench.name);
            let paragraph = inside.split("\n\n").next().unwrap_or_default();
            assert!(paragraph.contains("commit"), "the region of {} states no commit", bench.name);
            assert!(inside.contains("\n|---|"), "the region of {} has no table", bench.name);
            outside = replaced(&outside, bench.name, "").expect("a region");
        }
        let regions = document.matches("<!-- bench:").count();
        assert_eq!(regions, BENCHES.len(), "a region of a benchmark that there is not");
        let stray: Vec<&str> = outside.lines().filter(|l| l.trim_start().starts_with('|')).collect();
        assert!(stray.is_empty(), "tables outside the regions: {stray:?}");
    }
}
