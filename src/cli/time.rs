//! `heddle time`.

use std::ffi::OsString;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use clap::parser::ValueSource;
use clap::{ArgAction, ArgMatches, Args, CommandFactory, Parser};

use super::{Failure, Outcome, write_output};
use heddle::explore::ExploreError;
use heddle::explore::engine::{Status, in_parallel, threads};
use heddle::explore::merged::Merged;
use heddle::explore::recorded::{self, Codes, Identity, Recording, Settings, ranges};
use heddle::options::{CodegenArgs, MachineArgs, SimulationArgs};
use heddle::session::TimingCaches;
use heddle::session::record::Listed;

/// Time the launches of a recorded program, on all cores, and report them as one program.
///
/// `heddle exec --record FOLDER` keeps a program's launches as cases. Each is timed by itself, by one
/// of several processes; results stand in FOLDER/timed, and a launch that has one of the same machine
/// and options is not timed again. With --launches only these are timed and nothing is reported: a
/// part of the work for another machine, or a task of GNU parallel or Slurm; --collect then reports
/// what all of them have left. Exit status 1 if launches are missing or did not pass.
///
///   heddle exec --record cases --warm -- ./program
///   heddle time cases --json program.json --report program.html
///   parallel heddle time cases --launches {} ::: 1-50 51-100
///   heddle time cases --collect --report program.html
#[derive(Args)]
#[command(verbatim_doc_comment)]
pub struct Time {
    /// The folder that `heddle exec --record` wrote.
    #[arg(value_name = "FOLDER")]
    folder: PathBuf,
    /// Launches at the same time; 0: as many as there are cores.
    #[arg(long, value_name = "N", default_value_t = 0)]
    jobs: usize,
    /// Time only these launches, by their numbers in the program, and report nothing.
    #[arg(long, value_name = "NUMBER or FIRST-LAST", value_parser = recorded::numbers)]
    launches: Option<RangeInclusive<u64>>,
    /// Time nothing: report the results that there are.
    #[arg(long, conflicts_with = "launches")]
    collect: bool,
    /// Folder of results; default: FOLDER/timed.
    #[arg(long, short, value_name = "FOLDER")]
    out: Option<PathBuf>,
    /// Write all figures as JSON (`-`: standard output, instead of the summary).
    #[arg(long, value_name = "FILE", conflicts_with = "launches")]
    json: Option<PathBuf>,
    /// Write a page with all launches.
    #[arg(long, value_name = "FILE", conflicts_with = "launches")]
    report: Option<PathBuf>,
    /// Print no summary.
    #[arg(long, short)]
    quiet: bool,
    #[command(flatten)]
    settings: SettingArgs,
}

/// Options of how launches are timed: a process that times some of them gets the same.
#[derive(Args, Clone)]
struct SettingArgs {
    /// What a launch finds in the caches. warm: what was recorded with it, where that is known. cold: nothing.
    #[arg(long, value_enum, default_value = "warm", value_name = "STATE", hide_possible_values = true)]
    timing_caches: TimingCaches,
    #[command(flatten)]
    machine: MachineArgs,
    #[command(flatten)]
    codegen: CodegenArgs,
    #[command(flatten)]
    simulation: SimulationArgs,
}

/// These options alone, for their names.
#[derive(Parser)]
struct SettingWords {
    #[command(flatten)]
    _settings: SettingArgs,
}

/// The words of a command line that say how launches are timed.
fn setting_words(matches: &ArgMatches) -> Vec<OsString> {
    let mut words = Vec::new();
    for option in SettingWords::command().get_arguments() {
        let (id, Some(long)) = (option.get_id().as_str(), option.get_long()) else { continue };
        let given = matches.try_contains_id(id).is_ok() && matches.value_source(id) == Some(ValueSource::CommandLine);
        if !given {
            continue;
        }
        if matches!(option.get_action(), ArgAction::SetTrue) {
            words.push(format!("--{long}").into());
            continue;
        }
        for value in matches.get_raw(id).into_iter().flatten() {
            let mut word = OsString::from(format!("--{long}="));
            word.push(value);
            words.push(word);
        }
    }
    words
}

impl Time {
    /// Runs the subcommand; `words`: what the command line said of it.
    pub fn run(self, words: Option<&ArgMatches>) -> Outcome {
        let SettingArgs { timing_caches, machine, codegen, simulation } = self.settings.clone();
        let machine = super::load_machine(&machine)?;
        codegen.check(&machine).map_err(Failure::input)?;
        simulation.check(&machine).map_err(Failure::input)?;
        for (given, option) in [(simulation.alike.is_some(), "--alike"), (simulation.warm, "--warm")] {
            if given {
                let why = "is about launches that follow each other; here each is timed by itself";
                return Err(Failure::input(format!("{option} {why} (`heddle exec` takes it)")));
            }
        }
        let settings = Settings { machine, codegen, simulation, caches: timing_caches };
        let recording = Recording::read(&self.folder)?;
        let out = self.out.clone().unwrap_or_else(|| self.folder.join("timed"));
        let identity = settings.identity()?;
        if let Some(range) = &self.launches {
            return self.time_some(range, &recording, &settings, &identity, &out);
        }
        if !self.collect {
            let all = recording.cases(&(1..=u64::MAX));
            let left = recorded::not_yet_timed(&recording, &all, &settings, &identity, &out)?;
            self.time_in_processes(&left, &words.map(setting_words).unwrap_or_default(), &out)?;
        }
        let results = recorded::results(&recording, &settings, &identity, &out)?;
        self.report(&Merged::new(&recording, &settings.machine, &results))
    }

    /// Times some launches, one after the other.
    fn time_some(
        &self,
        range: &RangeInclusive<u64>,
        recording: &Recording,
        settings: &Settings,
        identity: &Identity,
        out: &Path,
    ) -> Outcome {
        let meant = recording.cases(range);
        if meant.is_empty() {
            let cases: Vec<u64> = recording.cases(&(1..=u64::MAX)).iter().map(|l| l.number).collect();
            let there = if cases.is_empty() { "no cases at all".into() } else { ranges(&cases) };
            return Err(Failure::input(format!("--launches: none of these is a case; there are: {there}")));
        }
        let mut failed = Vec::new();
        let mut codes = Codes::default();
        for launch in recorded::not_yet_timed(recording, &meant, settings, identity, out)? {
            if recorded::time(recording, launch, settings, (identity, &mut codes), out)? != Status::Passed {
                failed.push(launch.number);
            }
        }
        match failed.is_empty() {
            true => Ok(()),
            false => Err(Failure::check(format!("launches that did not pass: {}; the results say why", ranges(&failed)))),
        }
    }

    /// Times launches in processes, several at a time. Each gets a few, of which those with the same source compile it
    /// once, and few enough that none goes on for long when the others are through.
    fn time_in_processes(&self, launches: &[&Listed], settings: &[OsString], out: &Path) -> Outcome {
        let jobs = threads(self.jobs, launches.len());
        let parts: Vec<&[&Listed]> = launches.chunks((launches.len() / (8 * jobs)).clamp(1, 100)).collect();
        let heddle = std::env::current_exe().map_err(Failure::input)?;
        // Several processes share the cores.
        let alone = jobs > 1 && self.settings.simulation.threads == 0;
        in_parallel(parts.len(), jobs, |i| {
            let (Some(first), Some(last)) = (parts[i].first(), parts[i].last()) else { return Ok(()) };
            let part = format!("{}-{}", first.number, last.number);
            let mut command = Command::new(&heddle);
            command.arg("time").arg(&self.folder).args(["--launches", &part, "--out"]).arg(out);
            // The option may stand but once, and 0 there is what is given here otherwise.
            let settings = settings.iter().filter(|word| !alone || *word != "--threads=0");
            command.args(settings).args(alone.then_some("--threads=1"));
            let output = command.stdin(Stdio::null()).stdout(Stdio::null()).output();
            let output = output.map_err(|e| ExploreError::Input(format!("cannot start {}: {e}", heddle.display())))?;
            match output.status.code() {
                Some(0 | 1) => Ok(()),
                _ => {
                    let said = String::from_utf8_lossy(&output.stderr);
                    Err(ExploreError::Input(format!("launches {part}: {}: {}", output.status, said.trim_end())))
                }
            }
        })?;
        Ok(())
    }

    fn report(&self, merged: &Merged) -> Outcome {
        let standard = self.json.as_ref().is_some_and(|p| p.as_os_str() == "-");
        if let Some(path) = &self.json {
            write_output(Some(path), format!("{:#}\n", merged.json()).as_bytes())?;
        }
        if let Some(path) = &self.report {
            write_output(Some(path), merged.page().as_bytes())?;
        }
        if !self.quiet && !standard {
            write_output(None, merged.text().as_bytes())?;
        }
        let mut wrong = merged.failures();
        let missing = merged.missing();
        if !missing.is_empty() {
            wrong.push(format!("launches {} are missing: they are not timed yet", ranges(&missing)));
        }
        if wrong.is_empty() { Ok(()) } else { Err(Failure::check(wrong.join("\n"))) }
    }
}
