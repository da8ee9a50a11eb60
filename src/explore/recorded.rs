//! A recorded program's launches, timed by themselves in several processes, and merged to one report: `heddle time`.
//!
//! `heddle exec --record FOLDER` makes a case of each launch, with what L2 held before it where that is known. No
//! launch needs another's results, so they are timed in any order, on all cores or on many machines. A result
//! is a file that appears whole or not at all and says what it depends on: this build of Heddle, the machine,
//! the options, the case. One that is there and depends on the same is not made again, and results that depend
//! on something else are not merged.

use std::collections::HashMap;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::time::Instant;

use serde::{Deserialize, Serialize};

use super::ExploreError;
use super::engine::{Failure, Status};
use super::identity::{self, Hash, Hasher, machine_text};
use crate::driver::{self, Emit};
use crate::options::{CodegenArgs, SimulationArgs};
use crate::session::TimingCaches;
use crate::session::record::{CACHES, LAUNCHES, Listed, Listing};
use heddle_object::{Image, read};
use heddle_runtime::case::Case;
use heddle_runtime::run::cached::CachedBytes;
use heddle_runtime::run::checkpoint::Checkpoints;
use heddle_runtime::run::{Mode, Refusal, RunError, Simulator, TimedLaunches, run_chosen};
use heddle_sim::Statistics;
use heddle_target::Machine;

/// The form of the results' files.
const VERSION: u32 = 1;

/// The launches of a program, as `heddle exec --record` keeps them.
#[derive(Clone, Debug)]
pub struct Recording {
    /// Its folder.
    pub folder: PathBuf,
    /// The program's command line.
    pub program: Vec<String>,
    /// Launches in the order in which they began.
    pub launches: Vec<Listed>,
}

/// How launches are timed.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The machine.
    pub machine: Machine,
    /// Techniques on and off.
    pub codegen: CodegenArgs,
    /// Limits, sampling, host threads.
    pub simulation: SimulationArgs,
    /// What a launch finds in the caches: what was recorded, or nothing.
    pub caches: TimingCaches,
}

/// What results depend on beside their cases.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity {
    build: Hash,
    machine: Hash,
    options: Hash,
    caches: String,
}

/// A launch's result.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct TimedLaunch {
    heddle_timed: u32,
    identity: Identity,
    /// Of the case and of what caches held.
    of: Hash,
    /// Which launch it is.
    pub launch: Listed,
    /// Global size.
    pub global: Vec<u64>,
    /// Work-group size.
    pub local: Vec<u64>,
    /// Global offset.
    pub offset: Vec<u64>,
    /// Caches were empty when it began.
    pub cold: bool,
    /// How it ended.
    pub status: Status,
    /// Why it did not pass.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Host time of the simulation, in seconds.
    pub host_seconds: f64,
    /// What was counted, if it came to its end.
    pub statistics: Option<Statistics>,
}

impl Recording {
    /// Reads the list of a folder's launches.
    ///
    /// # Errors
    /// A folder without one; a line that is no launch's.
    pub fn read(folder: &Path) -> Result<Recording, ExploreError> {
        let path = folder.join(LAUNCHES);
        let text = std::fs::read_to_string(&path).map_err(|e| {
            let hint = "`heddle exec --record FOLDER -- PROGRAM` records a program's launches";
            ExploreError::Input(format!("{}: cannot read the list of launches: {e} ({hint})", path.display()))
        })?;
        let wrong = |line: usize, e: &dyn std::fmt::Display| ExploreError::Input(format!("{}:{}: {e}", path.display(), line + 1));
        // A program that was killed may have left half a line.
        let mut lines = text.split_inclusive('\n').filter(|l| l.ends_with('\n')).enumerate();
        let (_, first) = lines.next().ok_or_else(|| wrong(0, &"the list is empty"))?;
        let listing: Listing = serde_json::from_str(first).map_err(|e| wrong(0, &format!("no list of launches: {e}")))?;
        if listing.heddle_recording != Listing::VERSION {
            return Err(wrong(0, &"recorded by another version of Heddle; record the program again"));
        }
        let launch = |(i, line): (usize, &str)| serde_json::from_str::<Listed>(line).map_err(|e| wrong(i, &e));
        let mut launches = lines.map(launch).collect::<Result<Vec<Listed>, _>>()?;
        launches.sort_by_key(|l| l.number);
        Ok(Recording { folder: folder.into(), program: listing.program, launches })
    }

    /// Launches that are cases, of those whose numbers are in a range.
    pub fn cases(&self, range: &RangeInclusive<u64>) -> Vec<&Listed> {
        self.launches.iter().filter(|l| l.case.is_some() && range.contains(&l.number)).collect()
    }

    /// The file of a launch's case.
    fn case(&self, launch: &Listed) -> PathBuf {
        self.folder.join(launch.case.as_deref().unwrap_or_default()).join("case.json")
    }

    /// What L2 held before a launch, if that is known.
    fn caches(&self, launch: &Listed, settings: &Settings) -> Option<PathBuf> {
        let path = self.case(launch).with_file_name(CACHES);
        (settings.caches == TimingCaches::Warm && path.is_file()).then_some(path)
    }

    /// What a launch's result depends on: the case, whose arrays and sources are named by their contents, and
    /// what caches held.
    fn hash(&self, launch: &Listed, settings: &Settings) -> Result<Hash, ExploreError> {
        let mut hasher = Hasher::default();
        for path in [Some(self.case(launch)), self.caches(launch, settings)].into_iter().flatten() {
            hasher = hasher.part(std::fs::read(&path).map_err(|e| ExploreError::file(&path, "read the case", e))?);
        }
        Ok(hasher.finish())
    }
}

/// `3` or `2-5`: numbers of launches.
///
/// # Errors
/// A sentence.
pub fn numbers(text: &str) -> Result<RangeInclusive<u64>, String> {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    let number = |t: &str| t.trim().parse::<u64>().ok().filter(|n| *n > 0);
    match number(first).zip(number(last)) {
        Some((first, last)) if first <= last => Ok(first..=last),
        _ => Err(format!("`{text}`: give NUMBER or FIRST-LAST; launches are counted from 1")),
    }
}

/// Numbers as ranges, for people.
pub fn ranges(numbers: &[u64]) -> String {
    let mut runs: Vec<(u64, u64)> = Vec::new();
    for n in numbers {
        match runs.last_mut().filter(|(_, last)| last + 1 == *n) {
            Some((_, last)) => *last = *n,
            None => runs.push((*n, *n)),
        }
    }
    let run = |(first, last): &(u64, u64)| if first == last { first.to_string() } else { format!("{first}-{last}") };
    runs.iter().map(run).collect::<Vec<_>>().join(", ")
}

impl Settings {
    /// What results depend on.
    ///
    /// # Errors
    /// The program's own file cannot be read.
    pub fn identity(&self) -> Result<Identity, ExploreError> {
        let s = &self.simulation;
        let SimulationArgs { max_instructions, printf_buffer, scalar_threshold, sample, tolerate, .. } = s;
        let simulation = format!("{max_instructions} {printf_buffer} {scalar_threshold:?} {sample:?} {tolerate:?}");
        Ok(Identity {
            build: identity::build()?,
            machine: Hasher::default().part(machine_text(&self.machine)?).finish(),
            options: Hasher::default().part(format!("{:?}", self.codegen)).part(simulation).finish(),
            caches: if self.caches == TimingCaches::Warm { "recorded" } else { "cold" }.into(),
        })
    }
}

impl Identity {
    /// In what another one is not the same.
    fn difference(&self, other: &Identity) -> Option<&'static str> {
        let parts = [
            (self.build == other.build, "another build of Heddle"),
            (self.machine == other.machine, "another machine (--target, --set)"),
            (self.options == other.options, "other options of compiler or simulator"),
            (self.caches == other.caches, "another --timing-caches"),
        ];
        parts.iter().find(|(same, _)| !same).map(|(_, what)| *what)
    }
}

/// The file of a launch's result.
fn result_file(out: &Path, launch: &Listed) -> PathBuf {
    out.join(format!("launch-{:04}.json", launch.number))
}

fn read_result(path: &Path) -> Result<Option<TimedLaunch>, String> {
    match std::fs::read(path) {
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(e) => Err(e.to_string()),
        Ok(bytes) => {
            let read: TimedLaunch = serde_json::from_slice(&bytes).map_err(|e| format!("no result of a launch: {e}"))?;
            if read.heddle_timed == VERSION { Ok(Some(read)) } else { Err("written by another version of Heddle".into()) }
        }
    }
}

/// Of launches, those that have no result in a folder yet, of this case and identity.
///
/// # Errors
/// A case that cannot be read.
pub fn not_yet_timed<'a>(
    recording: &Recording,
    launches: &[&'a Listed],
    settings: &Settings,
    identity: &Identity,
    out: &Path,
) -> Result<Vec<&'a Listed>, ExploreError> {
    let mut left = Vec::new();
    for launch in launches {
        let of = recording.hash(launch, settings)?;
        let there = read_result(&result_file(out, launch)).ok().flatten();
        if there.is_none_or(|t| t.identity.difference(identity).is_some() || t.of != of) {
            left.push(*launch);
        }
    }
    Ok(left)
}

/// The codes of a recording's programs, each compiled once, by source and options.
#[derive(Default)]
pub struct Codes(HashMap<(PathBuf, Vec<String>, bool), Result<Image, Failure>>);

impl Codes {
    /// The code of a case.
    fn of(&mut self, case: &Case, settings: &Settings) -> Result<&Image, Failure> {
        let key = (case.source(), case.options.clone(), case.has_wide_ids());
        let code = self.0.entry(key).or_insert_with(|| compile(case, settings));
        code.as_ref().map_err(Clone::clone)
    }
}

fn compile(case: &Case, settings: &Settings) -> Result<Image, Failure> {
    let refused = |m: String| (Status::NotCompiled, m);
    let (inputs, mut frontend) = driver::case_frontend(case, &[]).map_err(refused)?;
    // The program's build has said them.
    frontend.clang_args.push("-w".into());
    let mut options = settings.codegen.options(frontend);
    options.wide_ids |= case.has_wide_ids();
    let compiled = driver::compile(&inputs, Emit::Obj, &options, &settings.machine).map_err(|e| refused(e.to_string()))?;
    read::parse(&compiled.output).map_err(|e| (Status::InternalError, e.to_string()))
}

/// Times a launch, and writes its result into a folder.
///
/// # Errors
/// What cannot be read or written. A launch that does not pass is a result.
pub fn time(
    recording: &Recording,
    launch: &Listed,
    settings: &Settings,
    (identity, codes): (&Identity, &mut Codes),
    out: &Path,
) -> Result<Status, ExploreError> {
    let path = recording.case(launch);
    let case = Case::read(&path).map_err(|e| ExploreError::Input(e.to_string()))?;
    let of = recording.hash(launch, settings)?;
    let caches = recording.caches(launch, settings);
    let cached = caches.as_deref().map(CachedBytes::read).transpose().map_err(ExploreError::Input)?;
    let spec = case.launches.first().ok_or_else(|| ExploreError::Input(format!("{}: it has no launch", path.display())))?;
    let began = Instant::now();
    let cold = cached.is_none();
    let (status, error, statistics, seconds) = match simulate(&case, cached, settings, codes) {
        Ok((statistics, mismatches, seconds)) => {
            let status = if mismatches.is_empty() { Status::Passed } else { Status::Mismatch };
            (status, (!mismatches.is_empty()).then(|| mismatches.join("; ")), Some(statistics), seconds)
        }
        Err((status, error)) => (status, Some(error), None, began.elapsed().as_secs_f64()),
    };
    let result = TimedLaunch {
        heddle_timed: VERSION,
        identity: identity.clone(),
        of,
        launch: launch.clone(),
        global: spec.global.clone(),
        local: spec.local.clone().unwrap_or_default(),
        offset: spec.offset.clone().unwrap_or_default(),
        cold,
        status,
        error,
        host_seconds: seconds,
        statistics,
    };
    let file = result_file(out, launch);
    let failed = |e: &dyn std::fmt::Display| ExploreError::Input(format!("cannot write {}: {e}", file.display()));
    let text = serde_json::to_string(&result).map_err(|e| failed(&e))?;
    let unfinished = file.with_extension(format!("json.{}", std::process::id()));
    std::fs::create_dir_all(out).and_then(|()| std::fs::write(&unfinished, text + "\n")).map_err(|e| failed(&e))?;
    std::fs::rename(&unfinished, &file).map_err(|e| failed(&e))?;
    Ok(status)
}

/// What was counted, what is not as expected, and host seconds; or how it ended.
type Simulated = Result<(Statistics, Vec<String>, f64), Failure>;

fn simulate(case: &Case, cached: Option<CachedBytes>, settings: &Settings, codes: &mut Codes) -> Simulated {
    let image = codes.of(case, settings)?;
    let options = settings.simulation.options();
    let simulator = Simulator { machine: &settings.machine, mode: Mode::Timing, options: &options };
    let timed = TimedLaunches { cached, ..TimedLaunches::default() };
    let outcome = run_chosen(case, image, &simulator, &timed, &Checkpoints::default(), &mut ()).map_err(|e| match e {
        RunError::Input(m) | RunError::Refused(Refusal { message: m, .. }) => (Status::Refused, m),
        RunError::Fault(f) => (Status::Fault, f.to_string()),
    })?;
    let mismatches = outcome.mismatches.iter().map(|(buffer, m)| format!("buffer `{buffer}`: {m}")).collect();
    let mut total = outcome.total;
    // Reports of a single kernel need these; a program's does not.
    total.blocks = Vec::new();
    Ok((total, mismatches, outcome.simulated.as_secs_f64()))
}

/// The results of a recording, in a folder, in the order of the launches; those that there are not are missing.
///
/// # Errors
/// A result of something else: which one, and in what it differs.
pub fn results(
    recording: &Recording,
    settings: &Settings,
    identity: &Identity,
    out: &Path,
) -> Result<Vec<TimedLaunch>, ExploreError> {
    let mut all = Vec::new();
    for launch in recording.cases(&(1..=u64::MAX)) {
        let file = result_file(out, launch);
        let wrong = |m: &str| ExploreError::Input(format!("{}: {m}", file.display()));
        let Some(result) = read_result(&file).map_err(|m| wrong(&m))? else { continue };
        if let Some(what) = result.identity.difference(identity) {
            return Err(wrong(&format!("it is of {what}; time launch {} again, or merge with the same options", launch.number)));
        }
        if result.of != recording.hash(launch, settings)? {
            return Err(wrong(&format!("it is of another recording; time launch {} again", launch.number)));
        }
        all.push(result);
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_ranges() {
        assert_eq!((numbers("3"), numbers("2-5")), (Ok(3..=3), Ok(2..=5)));
        assert!(["", "0", "5-2", "x", "1-", "-1"].iter().all(|t| numbers(t).is_err()));
        assert_eq!(ranges(&[1, 2, 3, 5, 8, 9]), "1-3, 5, 8-9");
        assert_eq!(ranges(&[]), "");
    }

    #[test]
    fn a_torn_line_is_left_out_and_a_wrong_one_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let write = |text: &str| std::fs::write(folder.path().join(LAUNCHES), text).unwrap();
        assert!(Recording::read(folder.path()).unwrap_err().to_string().contains("heddle exec --record"));
        let head = "{\"heddle_recording\":1,\"program\":[\"p\"]}\n";
        let second = "{\"number\":2,\"occurrence\":1,\"kernel\":\"k\",\"left_out\":\"why\"}\n";
        let first = "{\"number\":1,\"occurrence\":1,\"kernel\":\"j\",\"case\":\"0001-j\"}\n";
        write(&format!("{head}{second}{first}{{\"numb"));
        let recording = Recording::read(folder.path()).unwrap();
        assert_eq!(recording.launches.iter().map(|l| l.number).collect::<Vec<_>>(), [1, 2]);
        assert_eq!(recording.cases(&(1..=9)).len(), 1);
        write(&format!("{head}{{}}\n"));
        assert!(Recording::read(folder.path()).unwrap_err().to_string().contains("launches.jsonl:2: "));
        write(&head.replace('1', "9"));
        assert!(Recording::read(folder.path()).unwrap_err().to_string().contains("another version"));
    }
}
