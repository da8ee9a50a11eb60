//! Options of a session: words of `heddle exec`, and environment variables of programs that are started by
//! something else.
//!
//! One definition makes both: the option `--trace-limit` is the variable `HEDDLE_TRACE_LIMIT`. `heddle exec`
//! hands its options to the program in these variables ([`variables`]), and the driver inside the program
//! reads them ([`ExecOptions::from_environment`]).

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Args, CommandFactory, Parser, ValueEnum, ValueHint};

use crate::driver::CompileOptions;
use crate::options::{CodegenArgs, MachineArgs, SimulationArgs};
use heddle_frontend::FrontendOptions;
use heddle_runtime::picks::Picks;
use heddle_runtime::run::Mode;
use heddle_sim::Options;
use heddle_target::Machine;

/// How launches of a program are simulated, and what is kept of them.
#[derive(Args, Clone, Debug)]
pub struct ExecOptions {
    /// Functional: results only, on all cores. Timing: cycles and energy of every launch; events then have
    /// simulated times.
    #[arg(long, value_enum, default_value = "functional")]
    pub mode: Mode,
    /// Time these launches, and run the others functionally: kernel names, in which * stands for any
    /// characters, and which launches of each kernel, counted from 1: 'sgemm*:2-3,7', '*:10', 'step:5-',
    /// 'step:5-/10' (one in ten). '#3' counts all launches of the program, '@HASH:1' those of the same code and
    /// sizes, whose hashes are in --json. May be repeated.
    #[arg(long, value_name = "NAME[:RANGES]")]
    pub timing: Vec<Picks>,
    /// What a launch of --timing finds in the caches if others ran functionally since the last timed one. Cold:
    /// nothing. Warm: the lines that the last timed launch left, with what memory holds now.
    #[arg(long, value_enum, default_value = "cold", value_name = "STATE")]
    pub timing_caches: TimingCaches,
    /// Check while running, comma-separated: races, uninitialised, barriers, marks, renames (as `heddle run
    /// --check`), api (a sentence about each wrong call), leaks (objects never released; also exit status 1),
    /// all (also --check alone: what the mode can). Bounds and alignment are always checked.
    #[arg(long, value_enum, value_delimiter = ',', value_name = "WHAT", num_args = 0..=1)]
    #[arg(default_missing_value = "all", require_equals = true)]
    pub check: Vec<Check>,
    /// Write statistics as JSON: each kernel, each launch.
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Write a report: index.html with all launches, and a page for each that was timed.
    #[arg(long, value_name = "FOLDER", value_hint = ValueHint::DirPath)]
    pub report: Option<PathBuf>,
    /// Write a time line for Perfetto (ui.perfetto.dev): host calls, queues, copies and kernels.
    #[arg(long, value_name = "FILE")]
    pub trace: Option<PathBuf>,
    /// Events that a trace holds at most; the trace says so if there were more.
    #[arg(long, value_name = "N", default_value_t = 1_000_000)]
    pub trace_limit: usize,
    /// Keep launches as cases that `heddle run`, `sweep` and `ablate` take: FOLDER/0001-NAME/case.json.
    #[arg(long, value_name = "FOLDER", value_hint = ValueHint::DirPath)]
    pub record: Option<PathBuf>,
    /// Launches that --record keeps, named as for --timing; all without it.
    #[arg(long, value_name = "NAME[:RANGES]")]
    pub record_only: Vec<Picks>,
    /// Write checkpoints: the device's memory and caches before the launches of --at, from which --restore goes on.
    /// With more than one launch each file has the launch's number behind its name.
    #[arg(long, value_name = "FILE")]
    pub checkpoint: Option<PathBuf>,
    /// Launches before which --checkpoint writes, named as for --timing; numbers alone count all launches of the
    /// program: 10,20.
    #[arg(long, value_name = "LAUNCH", value_parser = Picks::numbered)]
    pub at: Vec<Picks>,
    /// Go on from a file that --checkpoint wrote: the program runs again, without timing up to there. Cycles from
    /// there on are what they would be without the interruption; a program that does not repeat itself is refused.
    #[arg(long, value_name = "FILE")]
    pub restore: Option<PathBuf>,
    /// Print no summary at the end.
    #[arg(long, short)]
    pub quiet: bool,
    /// The type of device that the program finds.
    #[arg(long, value_enum, default_value = "gpu", value_name = "TYPE")]
    pub device_type: DeviceType,
    /// The machine.
    #[command(flatten)]
    pub machine: MachineArgs,
    /// Techniques on and off.
    #[command(flatten)]
    pub codegen: CodegenArgs,
    /// Limits and host threads.
    #[command(flatten)]
    pub simulation: SimulationArgs,
}

impl Default for ExecOptions {
    /// As without any option.
    fn default() -> ExecOptions {
        // Every option has a default or may be missing.
        Words::parse_from::<[&str; 0], &str>([]).options
    }
}

/// What `--timing-caches` says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum TimingCaches {
    /// The lines that the last timed launch left, with what memory holds now.
    Warm,
    /// Empty.
    Cold,
}

/// What `--check` watches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Check {
    /// Data races (functional mode, on one host thread).
    Races,
    /// Reads of work-group and private memory that was never written (functional mode).
    #[value(alias = "uninitialized")]
    Uninitialised,
    /// Barriers that not all work-items of a work-group reach (functional mode).
    Barriers,
    /// Wrong u bits, and scalar registers that hold what other lanes computed (S8).
    Marks,
    /// Reads of unmapped shared registers, and leaks of them (REN-9; timing mode).
    Renames,
    /// Reads of local registers that a warp may have lost (C14; machines with an active set).
    Strands,
    /// Calls of the interface that end with an error.
    Api,
    /// Objects that exist when the program ends.
    Leaks,
    /// Everything that the mode can check.
    All,
}

/// The device's type, as the program asks for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum DeviceType {
    /// What most programs ask for.
    Gpu,
    /// A processor.
    Cpu,
    /// An accelerator.
    Accelerator,
    /// All three at once.
    All,
}

/// The options alone, as words.
#[derive(Parser)]
#[command(no_binary_name = true, disable_help_flag = true)]
struct Words {
    #[command(flatten)]
    options: ExecOptions,
}

/// The options as clap knows them.
fn definitions() -> Vec<Arg> {
    let mut command = Words::command();
    command.build();
    command.get_arguments().filter(|a| a.get_long().is_some()).cloned().collect()
}

/// The environment variable of an option.
fn variable(option: &Arg) -> String {
    format!("HEDDLE_{}", option.get_long().unwrap_or_default().to_uppercase().replace('-', "_"))
}

/// Whether an option's value is a path.
fn is_path(option: &Arg) -> bool {
    matches!(option.get_value_hint(), ValueHint::AnyPath | ValueHint::FilePath | ValueHint::DirPath)
}

/// A path that stays the same when the program changes its folder; `-` is standard output.
fn absolute(value: &OsStr) -> OsString {
    if value == "-" { value.into() } else { std::path::absolute(value).map_or_else(|_| value.into(), PathBuf::into_os_string) }
}

/// The variables that stand for what the words of a command line say: name and value.
pub fn variables(words: &ArgMatches) -> Vec<(String, OsString)> {
    let mut found = Vec::new();
    for option in definitions() {
        let id = option.get_id().as_str();
        if words.value_source(id) != Some(ValueSource::CommandLine) {
            continue;
        }
        let value = match option.get_action() {
            ArgAction::SetTrue => OsString::from("1"),
            _ => {
                let values = words.get_raw(id).into_iter().flatten();
                let values: Vec<OsString> = values.map(|v| if is_path(&option) { absolute(v) } else { v.into() }).collect();
                values.join(OsStr::new("\n"))
            }
        };
        found.push((variable(&option), value));
    }
    found
}

/// The words of an option that a variable stands for.
fn words_of(option: &Arg, value: &OsStr) -> Result<Vec<OsString>, String> {
    let long = option.get_long().unwrap_or_default();
    let assigned = |value: &OsStr| {
        let mut word = OsString::from(format!("--{long}="));
        word.push(value);
        word
    };
    let text = value.to_str();
    let optional_value = option.get_num_args().is_some_and(|n| n.takes_values() && n.min_values() == 0);
    match option.get_action() {
        ArgAction::SetTrue => match text {
            Some("1") => Ok(vec![format!("--{long}").into()]),
            Some("0") => Ok(Vec::new()),
            _ => Err(format!("{}: 1 or 0, not `{}`", variable(option), value.display())),
        },
        _ if optional_value && text == Some("1") => Ok(vec![format!("--{long}").into()]),
        _ if optional_value && text == Some("0") => Ok(Vec::new()),
        ArgAction::Append => {
            let text = text.ok_or_else(|| format!("{}: not Unicode", variable(option)))?;
            Ok(text.split(['\n', ';']).filter(|v| !v.is_empty()).map(|v| assigned(OsStr::new(v))).collect())
        }
        _ if is_path(option) => Ok(vec![assigned(&absolute(value))]),
        _ => Ok(vec![assigned(value)]),
    }
}

/// The first sentence of a message of clap's.
fn sentence(error: &clap::Error) -> String {
    let text = error.to_string();
    let first = text.lines().next().unwrap_or_default();
    first.strip_prefix("error: ").unwrap_or(first).to_string()
}

impl ExecOptions {
    /// The options that the environment's variables `HEDDLE_…` give: a flag is 1 or 0, values of one that may
    /// be repeated are separated by `;` or a line's end. Paths are made absolute.
    ///
    /// # Errors
    /// A sentence naming the variable.
    pub fn from_environment() -> Result<ExecOptions, String> {
        ExecOptions::from_variables(|name| std::env::var_os(name))
    }

    /// The same from variables that `get` knows.
    ///
    /// # Errors
    /// A sentence naming the variable.
    pub fn from_variables(get: impl Fn(&str) -> Option<OsString>) -> Result<ExecOptions, String> {
        let mut words: Vec<OsString> = Vec::new();
        for option in definitions() {
            let name = variable(&option);
            let Some(value) = get(&name).filter(|v| !v.is_empty()) else { continue };
            let own = words_of(&option, &value)?;
            // By itself, so that the message can name the variable.
            Words::try_parse_from(&own).map_err(|e| format!("{name}: {}", sentence(&e)))?;
            words.extend(own);
        }
        let parsed = Words::try_parse_from(&words).map_err(|e| format!("HEDDLE_… variables: {}", sentence(&e)))?;
        Ok(parsed.options)
    }

    /// Whether a check was asked for, by its name or as one of all.
    pub fn checks(&self, check: Check) -> bool {
        self.check.iter().any(|c| *c == check || *c == Check::All)
    }

    /// Whether the code is compiled for checking: optimisation then keeps what races and reads of nothing
    /// depend on.
    pub fn checked_code(&self) -> bool {
        self.mode == Mode::Functional && (self.checks(Check::Races) || self.checks(Check::Uninitialised))
    }

    /// Checks the options against the machine and each other.
    ///
    /// # Errors
    /// A sentence about what makes no sense.
    pub fn validate(&self, machine: &Machine) -> Result<(), String> {
        self.codegen.check(machine)?;
        self.simulation.check(machine)?;
        let functional = [(Check::Races, "races"), (Check::Uninitialised, "uninitialised"), (Check::Barriers, "barriers")];
        let timed = self.mode == Mode::Timing;
        if timed && !self.timing.is_empty() {
            return Err("--timing picks launches to be timed among functional ones; --mode timing times all".into());
        }
        for (check, name) in functional {
            if timed && self.check.contains(&check) {
                return Err(format!("--check={name} needs --mode functional"));
            }
        }
        if !timed && self.timing.is_empty() && self.check.contains(&Check::Renames) {
            return Err("--check=renames needs --mode timing or --timing: functional mode has no shared registers".into());
        }
        if !self.simulation.tolerate.is_empty() && self.check.iter().any(|c| !matches!(c, Check::Api | Check::Leaks)) {
            return Err("--tolerate lets pass what --check is to find; of checks it goes with api and leaks".into());
        }
        if !self.timing.is_empty() && self.checked_code() {
            return Err("--check=races, uninitialised and all change the code, so that cycles of --timing would mean \
                        nothing; check in one run and time in another"
                .into());
        }
        let simulation = &self.simulation;
        for (given, option) in
            [(simulation.sample.is_some(), "--sample"), (simulation.alike.is_some(), "--alike"), (simulation.warm, "--warm")]
        {
            // What caches hold is recorded with launches, to be timed later.
            let recorded = option == "--warm" && self.record.is_some();
            if given && !timed && self.timing.is_empty() && !recorded {
                let record = if option == "--warm" { ", or --record FOLDER" } else { "" };
                return Err(format!("{option} is about timed launches: --mode timing, or --timing NAME{record}"));
            }
        }
        if !self.record_only.is_empty() && self.record.is_none() {
            return Err("--record-only says which launches --record FOLDER keeps; there is no --record".into());
        }
        if self.checkpoint.is_some() == self.at.is_empty() {
            return Err("--checkpoint FILE and --at LAUNCH go together: where checkpoints are written, and before what".into());
        }
        if self.simulation.alike.is_some() && (self.checkpoint.is_some() || self.restore.is_some()) {
            return Err("--alike learns from all launches before; it goes with neither --checkpoint nor --restore".into());
        }
        let standard = |path: &Option<PathBuf>| path.as_deref() == Some(Path::new("-"));
        for (path, option) in [
            (&self.report, "--report"),
            (&self.record, "--record"),
            (&self.trace, "--trace"),
            (&self.checkpoint, "--checkpoint"),
            (&self.restore, "--restore"),
        ] {
            if standard(path) {
                let what = if ["--report", "--record"].contains(&option) { "folder" } else { "file" };
                return Err(format!("{option} needs a {what}; standard output is the program's"));
            }
        }
        Ok(())
    }

    /// How programs are compiled. `frontend` has what the program's own build options say.
    pub fn compile_options(&self, frontend: FrontendOptions) -> CompileOptions {
        let mut options = self.codegen.options(frontend);
        options.checked = self.checked_code();
        options
    }

    /// The simulator's options of launches in a mode.
    pub(super) fn simulator_options(&self, mode: Mode) -> Options {
        let functional = mode == Mode::Functional;
        Options {
            check_marks: self.checks(Check::Marks),
            check_renames: !functional && self.checks(Check::Renames),
            check_strands: self.checks(Check::Strands),
            check_races: functional && self.checks(Check::Races),
            check_uninitialised: functional && self.checks(Check::Uninitialised),
            check_barriers: functional && self.checks(Check::Barriers),
            translations: crate::build::translations(),
            ..self.simulation.options()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    /// The variables that words become.
    fn as_variables(words: &[&str]) -> BTreeMap<String, OsString> {
        variables(&Words::command().get_matches_from(words)).into_iter().collect()
    }

    fn options(words: &[&str]) -> ExecOptions {
        let variables = as_variables(words);
        ExecOptions::from_variables(|name| variables.get(name).cloned()).unwrap()
    }

    #[test]
    fn words_go_through_variables_and_come_out_the_same() {
        let lines: [&[&str]; 10] = [
            &[],
            &["--mode", "timing", "--no-scalarize", "--quiet"],
            &["--set", "warp-size=16", "--set", "sm.count=2", "--threads=3", "--jit", "never"],
            &["--timing", "a:1,3", "--timing=b*:2-", "--timing-caches", "warm"],
            &["--check"],
            &["--check=races,api", "--check=leaks", "--device-type", "cpu"],
            &["--tolerate", "--check=api"],
            &["--tolerate=out-of-bounds", "--tolerate=divergent-barriers"],
            &["--json", "/x/out.json", "--report", "/x/y", "--record", "/x/z", "--record-only", "k:1"],
            &["--checkpoint", "/x/c", "--at", "3,5-7", "--at", "step:2", "--restore", "/x/d"],
        ];
        for words in lines {
            let direct = Words::try_parse_from(words).unwrap().options;
            assert_eq!(format!("{:?}", options(words)), format!("{direct:?}"), "{words:?}");
        }
        assert_eq!(format!("{:?}", ExecOptions::default()), format!("{:?}", options(&[])));
    }

    #[test]
    fn variables_are_named_as_the_options() {
        let all = as_variables(&["--trace-limit", "5", "--no-rename", "--json", "out.json"]);
        assert_eq!(all["HEDDLE_TRACE_LIMIT"], "5");
        assert_eq!(all["HEDDLE_NO_RENAME"], "1");
        // The program may change its folder.
        assert!(Path::new(&all["HEDDLE_JSON"]).is_absolute());
        assert_eq!(all.len(), 3, "only what was said: {all:?}");
    }

    #[test]
    fn variables_that_a_person_writes() {
        let given = |list: &[(&str, &str)]| {
            let list: BTreeMap<String, OsString> = list.iter().map(|(n, v)| ((*n).into(), (*v).into())).collect();
            ExecOptions::from_variables(|name| list.get(name).cloned())
        };
        let options = given(&[
            ("HEDDLE_SET", "warp-size=16;sm.count=2"),
            ("HEDDLE_CHECK", "1"),
            ("HEDDLE_VERIFY", "0"),
            ("HEDDLE_MODE", ""),
        ]);
        let options = options.unwrap();
        assert_eq!(options.machine.set, ["warp-size=16", "sm.count=2"]);
        assert_eq!(options.check, [Check::All]);
        assert!(!options.codegen.verify && options.mode == Mode::Functional);
        for (name, value) in
            [("HEDDLE_MODE", "fast"), ("HEDDLE_VERIFY", "yes"), ("HEDDLE_TIMING", "a:0"), ("HEDDLE_THREADS", "-1")]
        {
            let message = given(&[(name, value)]).unwrap_err();
            assert!(message.starts_with(name) && !message.contains('\n'), "{message}");
        }
        let message = given(&[("HEDDLE_RENAME", "1"), ("HEDDLE_NO_RENAME", "1")]).unwrap_err();
        assert!(message.contains("cannot be used with"), "{message}");
    }

    #[test]
    fn combinations_that_make_no_sense_are_refused() {
        let machine = Machine::default_machine();
        for (words, part) in [
            (&["--mode", "timing", "--timing", "a"][..], "times all"),
            (&["--tolerate", "--check=api,races"], "--tolerate lets pass"),
            (&["--mode", "timing", "--check=races"], "needs --mode functional"),
            (&["--check=renames"], "no shared registers"),
            (&["--timing", "a", "--check"], "change the code"),
            (&["--record-only", "a"], "no --record"),
            (&["--trace", "-"], "needs a file"),
            (&["--checkpoint", "x"], "go together"),
            (&["--at", "3"], "go together"),
            (&["--mode", "timing", "--alike", "--restore", "x"], "learns from all"),
            (&["--scalar-threshold", "1000"], "warp size"),
        ] {
            let message = options(words).validate(&machine).unwrap_err();
            assert!(message.contains(part), "{words:?}: {message}");
        }
        for words in [&["--mode", "timing", "--check"][..], &["--timing", "a", "--check=renames,marks,api"], &["--json", "-"]] {
            options(words).validate(&machine).unwrap();
        }
    }

    #[test]
    fn checks_are_of_the_mode_that_can_do_them() {
        let all = options(&["--check"]);
        assert!(all.compile_options(FrontendOptions::default()).checked);
        let functional = all.simulator_options(Mode::Functional);
        assert!(functional.check_races && functional.check_uninitialised && functional.check_barriers);
        assert!(functional.check_marks && !functional.check_renames);
        let timing = options(&["--check", "--mode", "timing"]);
        assert!(!timing.compile_options(FrontendOptions::default()).checked);
        let timing = timing.simulator_options(Mode::Timing);
        assert!(timing.check_renames && timing.check_marks && !timing.check_races);
        assert!(!options(&["--check=barriers"]).compile_options(FrontendOptions::default()).checked);
    }
}
