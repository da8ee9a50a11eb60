//! A sweep from its plan to its files: points that are not in the journal run, and the results follow from
//! plan and journal alone.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::io::BufRead;
use std::path::{Path, PathBuf};
use std::time::Instant;

use serde_json::Value;

use super::ExploreError;
use super::axes;
use super::engine::{self, Compiler, Status};
use super::identity::Hash;
use super::journal::{self, Entry, Finished, Header, Journal};
use super::pareto;
use super::plan::{Plan, Point, PointNumber};
use super::progress::Progress;
use super::results::{self, Format, Table, write_whole};
use crate::explore::page;

/// Failing points that are told of while the sweep runs; all are in the results.
const FAILURES_SHOWN: usize = 5;

/// Which points, from 1, both ends included.
pub type PointRange = std::ops::RangeInclusive<PointNumber>;

/// Reads `A-B` or `A`.
///
/// # Errors
/// A sentence.
pub fn parse_range(text: &str, points: usize) -> Result<PointRange, ExploreError> {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    let range = first.trim().parse::<usize>().ok().zip(last.trim().parse::<usize>().ok());
    match range {
        Some((first, last)) if 1 <= first && first <= last && last <= points => Ok(first..=last),
        _ => Err(ExploreError::Input(format!("--points {text}: give FIRST-LAST, within 1-{points}"))),
    }
}

/// What a run did.
#[derive(Debug)]
pub struct Done {
    /// Everything the journal has now.
    pub finished: Finished,
    /// Points of the range that were there before.
    pub before: usize,
    /// Points run now.
    pub now: usize,
    /// Different codes compiled for them.
    pub compiled: usize,
}

/// Runs what is missing of a range of points.
///
/// # Errors
/// See [`Journal::open`]; the file system's. Points that fail are results.
pub fn run(plan: &Plan, range: PointRange, journal_path: &Path, threads: usize) -> Result<Done, ExploreError> {
    let header = Header::of(plan);
    let (journal, mut finished) = Journal::open(journal_path, &header)?;
    let wanted: Vec<Point> = range.filter_map(|n| plan.point(n)).collect();
    // Points that are the same machine, options and case run once.
    let mut seen: BTreeSet<&Hash> = BTreeSet::new();
    let missing: Vec<&Point> = wanted.iter().filter(|p| !finished.contains_key(p.id) && seen.insert(p.id)).collect();
    let before = wanted.iter().filter(|p| finished.contains_key(p.id)).count();
    let progress = Progress::new(missing.len(), "points");
    if before > 0 {
        progress.note(&format!("{before} of {} points are in {} already", wanted.len(), journal_path.display()));
    }
    let compiler = Compiler::default();
    let new = std::sync::Mutex::new((Vec::new(), 0usize));
    engine::in_parallel(missing.len(), threads, |i| {
        let point = missing[i];
        let started = Instant::now();
        let outcome = engine::run(&compiler, point.case, point.machine, point.options, plan.mode);
        let result = engine::result(outcome, point.machine);
        let entry = Entry { id: point.id.clone(), point: point.number, result, host_seconds: started.elapsed().as_secs_f64() };
        journal.append(&entry)?;
        let mut new = new.lock().unwrap_or_else(|e| e.into_inner());
        if entry.result.status != Status::Passed {
            new.1 += 1;
            if new.1 <= FAILURES_SHOWN {
                progress.note(&failure(plan, point, &entry));
            }
        }
        new.0.push(entry);
        progress.step();
        Ok(())
    })?;
    drop(progress);
    let (new, _) = new.into_inner().unwrap_or_else(|e| e.into_inner());
    let now = new.len();
    finished.extend(new.into_iter().map(|e| (e.id.clone(), e)));
    Ok(Done { finished, before, now, compiled: compiler.len() })
}

/// A point that did not pass, in a line.
fn failure(plan: &Plan, point: &Point, entry: &Entry) -> String {
    let what = [point.case.name.clone(), plan.describe(point.configuration)];
    let what: Vec<String> = what.into_iter().filter(|w| !w.is_empty()).collect();
    let error = entry.result.error.as_deref().unwrap_or_default().lines().next().unwrap_or_default();
    format!("point {} ({}): {}: {error}", point.number, what.join(", "), entry.result.status)
}

/// Writes the result files of a sweep of which all points are finished, and returns their paths.
///
/// # Errors
/// The file system's.
pub fn write_results(plan: &Plan, finished: &Finished, folder: &Path, formats: &[Format]) -> Result<Vec<PathBuf>, ExploreError> {
    let table = Table::new(plan, finished);
    let mut paths = Vec::new();
    for format in formats {
        let path = folder.join(format!("results.{}", format.extension()));
        write_whole(&path, &table.bytes(*format)?)?;
        paths.push(path);
    }
    let path = folder.join("pareto.html");
    write_whole(&path, page::pareto::page(plan, &pareto::fronts(plan, finished)).as_bytes())?;
    paths.push(path);
    Ok(paths)
}

/// How many points of each status other than passed.
pub fn failures(plan: &Plan, finished: &Finished) -> Vec<(Status, usize)> {
    use Status::{Fault, InternalError, Mismatch, NotCompiled, Refused};
    let count = |s: Status| plan.points().filter(|p| finished.get(p.id).is_some_and(|e| e.result.status == s)).count();
    [Mismatch, Fault, Refused, NotCompiled, InternalError].map(|s| (s, count(s))).into_iter().filter(|(_, n)| *n > 0).collect()
}

/// The front of all cases, for the terminal.
pub fn summary(plan: &Plan, finished: &Finished) -> String {
    let mut out = String::new();
    let fronts = pareto::fronts(plan, finished);
    let Some(front) = fronts.first() else { return out };
    let best: Vec<_> = front.candidates.iter().filter(|c| c.optimal).collect();
    let of = if plan.cases.len() > 1 { format!(" (geometric means over {} cases)", plan.cases.len()) } else { String::new() };
    let _ = writeln!(out, "{} of {} configurations are Pareto-optimal{of}", best.len(), front.candidates.len());
    if front.left_out > 0 {
        let _ = writeln!(out, "{} more are left out: a case did not pass, or there is no value", front.left_out);
    }
    let mut rows = best.clone();
    rows.sort_by(|a, b| {
        let pairs = a.values.iter().zip(&b.values).map(|(x, y)| x.total_cmp(y));
        pairs.fold(std::cmp::Ordering::Equal, std::cmp::Ordering::then)
    });
    let names: Vec<String> =
        plan.objectives.iter().map(|o| format!("{} {}", if o.maximise { "↑" } else { "↓" }, o.name)).collect();
    let header: String = names.iter().map(|n| format!("{n:>18}")).collect();
    let _ = writeln!(out, "{header}");
    let variant = (!plan.variants.is_empty()).then_some("variant");
    let settings: Vec<&str> = variant.into_iter().chain(plan.axes.iter().map(|a| a.name.as_str())).collect();
    let mut lines: Vec<String> = Vec::new();
    for same in rows.chunk_by(|a, b| a.values == b.values) {
        let values: String = same[0].values.iter().map(|v| format!("{:>18}", heddle_report::html::blocks::number(*v))).collect();
        let words = |v: Value| v.as_str().map_or_else(|| v.to_string(), String::from);
        let all: Vec<Vec<String>> =
            same.iter().map(|c| results::settings(plan, c.configuration).into_iter().map(words).collect()).collect();
        // What makes no difference is one line, if it is all combinations of some settings.
        match pareto::merged(&all) {
            Some(one) => {
                let text: Vec<String> = settings.iter().zip(one).map(|(n, v)| format!("{n} = {}", v.join(" or "))).collect();
                lines.push(format!("{values}   {}", text.join(", ")));
            }
            None => lines.extend(same.iter().map(|c| format!("{values}   {}", plan.describe(c.configuration)))),
        }
    }
    lines.iter().take(20).for_each(|l| out.push_str(&format!("{l}\n")));
    if lines.len() > 20 {
        let _ = writeln!(out, "… and {} more", lines.len() - 20);
    }
    out
}

/// Cases, axes and points, for `--dry-run`.
pub fn overview(plan: &Plan) -> String {
    let mut out = String::new();
    let _ = writeln!(out, "{} cases", plan.cases.len());
    for case in &plan.cases {
        let _ = writeln!(out, "  {}", case.name);
    }
    let _ = writeln!(out, "{} configurations", plan.configurations.len());
    if !plan.variants.is_empty() {
        let _ = writeln!(out, "  variants: {}", plan.variants.join(", "));
    }
    for axis in &plan.axes {
        let values: Vec<String> = axis.values.iter().map(axes::inline).collect();
        let _ = writeln!(out, "  {}: {}", axis.name, values.join(", "));
    }
    let refused = plan.points().filter(|p| p.machine.is_err()).count();
    let _ = writeln!(out, "{} points", plan.len());
    if refused > 0 {
        let first = plan.points().find_map(|p| p.machine.err().map(|e| format!("point {}: {e}", p.number))).unwrap_or_default();
        let _ = writeln!(out, "  of which {refused} make no machine and will be recorded as refused ({first})");
    }
    out
}

/// Merges the journals of a folder.
///
/// # Errors
/// Journals of another sweep or build; points with two results; points that are missing, with the commands
/// that run them.
pub fn collect(plan: &Plan, folder: &Path) -> Result<Finished, ExploreError> {
    let mut paths: Vec<PathBuf> = std::fs::read_dir(folder)
        .map_err(|e| ExploreError::file(folder, "read the folder of journals", e))?
        .filter_map(|e| e.ok().map(|e| e.path()))
        .filter(|p| p.extension().is_some_and(|e| e == "jsonl") && is_journal(p))
        .collect();
    paths.sort();
    let wanted: BTreeSet<&Hash> = plan.points().map(|p| p.id).collect();
    let mut finished = Finished::new();
    for path in &paths {
        let (header, entries) = journal::read(path)?;
        if header.as_ref().is_some_and(|h| h.sweep != plan.hash) {
            let what = "belongs to another sweep: the file, a case or Heddle has changed since";
            return Err(ExploreError::Input(format!("{}: {what}; remove it, or give its sweep", path.display())));
        }
        for (id, entry) in entries.into_iter().filter(|(id, _)| wanted.contains(id)) {
            if let Some(other) = finished.get(&id).filter(|o: &&Entry| o.result != entry.result) {
                let point = other.point;
                return Err(ExploreError::Check(format!("{}: point {point} has another result elsewhere", path.display())));
            }
            finished.insert(id, entry);
        }
    }
    let missing: Vec<PointNumber> = plan.points().filter(|p| !finished.contains_key(p.id)).map(|p| p.number).collect();
    if missing.is_empty() {
        return Ok(finished);
    }
    let mut message =
        format!("{} of {} points are missing in {} journals; this runs them:", missing.len(), plan.len(), paths.len());
    let ranges = ranges(&missing);
    for (first, last) in ranges.iter().take(10) {
        let journal = folder.join(format!("part-{first}-{last}.jsonl"));
        let _ =
            write!(message, "\n  heddle sweep {} --points {first}-{last} --journal {}", plan.file.display(), journal.display());
    }
    if ranges.len() > 10 {
        let _ = write!(message, "\n  … and {} more ranges", ranges.len() - 10);
    }
    Err(ExploreError::Check(message))
}

/// Whether a file begins as a journal; also if a kill has left less than its first line.
fn is_journal(path: &Path) -> bool {
    let Ok(file) = std::fs::File::open(path) else { return true };
    let mut line = Vec::new();
    let _best_effort = std::io::BufReader::new(file).read_until(b'\n', &mut line);
    let start = b"{\"heddle_sweep_journal\"";
    line.starts_with(start) || start.starts_with(line.as_slice())
}

/// Consecutive numbers as ranges.
fn ranges(numbers: &[PointNumber]) -> Vec<(PointNumber, PointNumber)> {
    let mut result: Vec<(PointNumber, PointNumber)> = Vec::new();
    for n in numbers {
        match result.last_mut() {
            Some((_, last)) if *last + 1 == *n => *last = *n,
            _ => result.push((*n, *n)),
        }
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_of_points() {
        assert_eq!(ranges(&[1, 2, 3, 7, 9, 10]), [(1, 3), (7, 7), (9, 10)]);
        assert_eq!(parse_range("3-5", 10).unwrap(), 3..=5);
        assert_eq!(parse_range("4", 10).unwrap(), 4..=4);
        for bad in ["0-3", "5-4", "1-11", "a", "", "1-2-3", "-3"] {
            assert!(parse_range(bad, 10).is_err(), "{bad}");
        }
    }
}
