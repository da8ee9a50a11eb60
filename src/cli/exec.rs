//! `heddle exec`: runs a program whose OpenCL device is Heddle, and `--install`, which makes Heddle a device
//! for every program.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::symlink;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus};

use clap::{ArgMatches, Args};

use super::{Failure, Outcome, signals};
use heddle::runtime::run::Mode;
use heddle::runtime::run::checkpoint::check_program;
use heddle::session::results::Results;
use heddle::session::{Check, ExecOptions, FOLDER_VARIABLE, Session, checkpoint_identity, never_taken_up, variables};

/// Run a program whose OpenCL device is the simulated machine.
///
/// The program is started as it is; everything that it launches runs on Heddle. What `heddle exec`
/// is told, it hands on in environment variables named as the options (--trace-limit is
/// HEDDLE_TRACE_LIMIT; flags are 1 or 0, values of repeated options stand between `;`). They also
/// work without `heddle exec` once Heddle is installed. The exit status is the program's; 1 if a
/// kernel had a fault and the program ended well; 128 and its number if a signal ended it; 2 if it
/// cannot be started.
///
///   heddle exec -- ./program arguments             # results only, as fast as possible
///   heddle exec --mode timing --report out -- python3 program.py
///   heddle exec --timing 'sgemm*:2-3' --json stats.json -- ./program
///   heddle exec --check -- ./program               # races, uninitialised reads, wrong calls, leaks
///   heddle exec --record cases --record-only 'step:10' -- ./program
///   heddle exec --mode timing --checkpoint state --at 100,200 -- ./program
///   heddle exec --mode timing --restore state.200 -- ./program
///   heddle exec --target machines/small.toml -- clinfo
///   heddle exec --install                          # for programs that are started by something else
#[derive(Args)]
#[command(verbatim_doc_comment)]
#[command(
    override_usage = "heddle exec [OPTIONS] -- PROGRAM [ARGUMENTS]\n       heddle exec --install[=WHERE] | --uninstall[=WHERE]"
)]
pub struct Exec {
    /// The program and its arguments.
    #[arg(value_name = "PROGRAM", trailing_var_arg = true, allow_hyphen_values = true)]
    #[arg(required_unless_present_any = ["install", "uninstall"])]
    program: Vec<OsString>,
    #[command(flatten)]
    options: ExecOptions,
    /// Keep the system's OpenCL platforms beside Heddle's. Without it the program finds Heddle alone.
    #[arg(long)]
    with_others: bool,
    /// Write the file by which OpenCL loaders find Heddle: for yourself (user), into /etc/OpenCL/vendors
    /// (system), or into a folder. For all but the system it says which variable programs need.
    #[arg(long, value_name = "WHERE", num_args = 0..=1, default_missing_value = "user", require_equals = true)]
    #[arg(conflicts_with = "program")]
    install: Option<OsString>,
    /// Remove that file.
    #[arg(long, value_name = "WHERE", num_args = 0..=1, default_missing_value = "user", require_equals = true)]
    #[arg(conflicts_with_all = ["program", "install"])]
    uninstall: Option<OsString>,
}

/// Names the driver's library, if it is not beside `heddle`.
const LIBRARY_VARIABLE: &str = "HEDDLE_OPENCL_LIBRARY";
/// The driver's library.
const LIBRARY: &str = "libheddle_opencl.so";
/// Where loaders look for vendors' files.
const SYSTEM_VENDORS: &str = "/etc/OpenCL/vendors";
/// Heddle's.
const VENDOR_FILE: &str = "heddle.icd";

impl Exec {
    /// Runs the subcommand; `words`: what the command line said of it.
    pub fn run(self, words: Option<&ArgMatches>) -> Outcome {
        if let Some(place) = &self.install {
            return install(place);
        }
        if let Some(place) = &self.uninstall {
            return uninstall(place);
        }
        let given = words.map(variables).unwrap_or_default();
        let options = effective(&given)?;
        prepare_outputs(&options)?;
        let library = find_library()?;
        let fail = |e: std::io::Error| Failure::input(format!("cannot make a temporary folder: {e}"));
        let folder = tempfile::Builder::new().prefix("heddle-exec-").tempdir().map_err(fail)?;
        let (vendors, results) = (folder.path().join("vendors"), folder.path().join("results"));
        fs::create_dir(&results).map_err(fail)?;
        write_vendors(&vendors, &library, self.with_others)?;
        let Some((program, arguments)) = self.program.split_first() else {
            return Err(Failure::input("name a program: heddle exec -- PROGRAM"));
        };
        let mut command = Command::new(program);
        command.args(arguments).envs(given);
        command.env("OCL_ICD_VENDORS", &vendors).env("OCL_ICD_FILENAMES", &library).env(FOLDER_VARIABLE, &results);
        signals::hold();
        let child = command.spawn().map_err(|e| not_started(program, &e))?;
        let status = wait(child)?;
        let all = Results::read_all(&results);
        let unrestored = never_taken_up(&options, &results);
        // Nobody has left anything there, not even the claim to an output.
        if fs::read_dir(&results).is_ok_and(|mut entries| entries.next().is_none()) {
            write_empty(&options, &results, unrestored.as_deref());
        }
        if let Some(message) = &unrestored {
            heddle_report::say!("heddle: {message}");
        }
        if !options.quiet {
            match status.signal() {
                // The driver leaves its results where the program ends by itself.
                Some(signal) if all.launches() == 0 => {
                    heddle_report::say!("heddle: signal {signal} ended the program before the driver could say what was launched")
                }
                _ => heddle_report::say!("{}", all.summary().trim_end()),
            }
        }
        let problems = unrestored.is_some() || !all.problems.is_empty();
        let found = all.faults > 0 || problems || (options.check.contains(&Check::Leaks) && all.leaks > 0);
        match status_of(status) {
            0 if found => Err(Failure { status: 1, message: String::new() }),
            0 => Ok(()),
            n => Err(Failure { status: n, message: String::new() }),
        }
    }
}

/// The options that the program will see: those of the command line, and variables that were there.
fn effective(given: &[(String, OsString)]) -> Result<ExecOptions, Failure> {
    let known = |name: &str| given.iter().find(|(n, _)| n == name).map(|(_, v)| v.clone()).or_else(|| std::env::var_os(name));
    let options = ExecOptions::from_variables(known).map_err(Failure::input)?;
    let machine = super::load_machine(&options.machine)?;
    options.validate(&machine).map_err(Failure::input)?;
    if let Some(path) = &options.restore {
        check_program(path, &checkpoint_identity(&options, &machine)).map_err(Failure::input)?;
    }
    if options.mode == Mode::Timing && options.check.contains(&Check::All) {
        heddle_report::say!("--check=all: timing mode leaves out races, uninitialised, barriers; --mode functional checks them");
    }
    Ok(options)
}

/// Makes folders of outputs, so that what cannot be written is said before anything runs.
fn prepare_outputs(options: &ExecOptions) -> Outcome {
    for path in options.report.iter().chain(&options.record) {
        fs::create_dir_all(path).map_err(|e| Failure::input(format!("cannot make {}: {e}", path.display())))?;
    }
    for path in options.json.iter().chain(&options.trace).chain(&options.checkpoint).filter(|p| p.as_os_str() != "-") {
        let folder = path.parent().filter(|p| !p.as_os_str().is_empty());
        if let Some(folder) = folder.filter(|f| !f.is_dir()) {
            return Err(Failure::input(format!("cannot write {}: there is no folder {}", path.display(), folder.display())));
        }
    }
    // Cases of two recordings have the same names.
    if let Some(record) = &options.record
        && fs::read_dir(record).is_ok_and(|mut entries| entries.next().is_some())
    {
        return Err(Failure::input(format!("--record: {} is not empty; name a new folder, or remove it", record.display())));
    }
    Ok(())
}

/// What an output has if the program launched nothing; `problem`: what is wrong with that.
fn write_empty(options: &ExecOptions, folder: &Path, problem: Option<&str>) {
    let options = ExecOptions { record: None, trace: None, checkpoint: None, at: Vec::new(), restore: None, ..options.clone() };
    if let Ok(session) = Session::new(options, Some(folder.into())) {
        session.finish_empty(problem);
    }
}

/// The driver's library: named by a variable, beside `heddle`, or in `../lib`.
fn find_library() -> Result<PathBuf, Failure> {
    if let Some(path) = std::env::var_os(LIBRARY_VARIABLE).filter(|v| !v.is_empty()) {
        let path = PathBuf::from(path);
        let absolute = std::path::absolute(&path).unwrap_or_else(|_| path.clone());
        return match absolute.is_file() {
            true => Ok(absolute),
            false => Err(Failure::input(format!("{LIBRARY_VARIABLE}: there is no {}", path.display()))),
        };
    }
    let own = std::env::current_exe().and_then(fs::canonicalize).map_err(|e| Failure::input(format!("heddle itself: {e}")))?;
    let beside = own.parent().unwrap_or(Path::new("/"));
    let places = [beside.join(LIBRARY), beside.join("../lib").join(LIBRARY)];
    if let Some(found) = places.iter().find(|p| p.is_file()) {
        return Ok(fs::canonicalize(found).unwrap_or_else(|_| found.clone()));
    }
    Err(Failure::input(format!(
        "there is no {LIBRARY}, Heddle's OpenCL driver, in {} or {}; `cargo build --release -p heddle-opencl` builds it, \
         and {LIBRARY_VARIABLE} can name it",
        beside.display(),
        beside.join("../lib").display()
    )))
}

/// Makes a folder with Heddle's vendor file, and those of other platforms if they are wanted.
fn write_vendors(folder: &Path, library: &Path, with_others: bool) -> Outcome {
    let fail = |e: std::io::Error| Failure::input(format!("cannot write {}: {e}", folder.display()));
    fs::create_dir_all(folder).map_err(fail)?;
    let mut line = library.as_os_str().to_os_string();
    line.push("\n");
    let own = folder.join(VENDOR_FILE);
    fs::write(&own, line.as_encoded_bytes()).map_err(fail)?;
    if !with_others {
        return Ok(());
    }
    // Where the user's own loader would look.
    let named = std::env::var_os("OCL_ICD_VENDORS").map(PathBuf::from).filter(|p| p.is_dir());
    let others = named.unwrap_or_else(|| SYSTEM_VENDORS.into());
    for entry in fs::read_dir(others).into_iter().flatten().flatten() {
        let path = entry.path();
        let is_vendor = path.extension().is_some_and(|e| e == "icd") && entry.file_name() != VENDOR_FILE;
        let link = folder.join(entry.file_name());
        if is_vendor && link.symlink_metadata().is_err() {
            symlink(&path, &link).map_err(fail)?;
        }
    }
    Ok(())
}

/// Why a program did not start.
fn not_started(program: &OsStr, error: &std::io::Error) -> Failure {
    let path = Path::new(program);
    let shown = path.display();
    let is_name = path.components().count() == 1;
    let hint = match error.kind() {
        ErrorKind::NotFound if is_name && path.is_file() => format!("; ./{shown} is the one in this folder"),
        ErrorKind::NotFound if path.is_file() => "; the program that its first line names is missing".into(),
        ErrorKind::NotFound if is_name => " (it is in no folder of PATH)".into(),
        ErrorKind::PermissionDenied if path.is_file() => {
            format!("; it is not executable (chmod +x {shown}), or wants an interpreter")
        }
        _ => String::new(),
    };
    Failure::input(format!("cannot start {shown}: {error}{hint}"))
}

/// Waits for the program; signals for `heddle exec` go to it.
fn wait(mut child: Child) -> Result<ExitStatus, Failure> {
    signals::pass_to(child.id());
    child.wait().map_err(|e| Failure::check(format!("cannot wait for the program: {e}")))
}

/// The exit status as a shell tells it.
fn status_of(status: ExitStatus) -> u8 {
    let signal = || status.signal().map(|s| 128 + s);
    u8::try_from(status.code().or_else(signal).unwrap_or(1)).unwrap_or(1)
}

/// The folder that `--install` means.
fn vendors_folder(place: &OsStr) -> Result<PathBuf, Failure> {
    let variable = |name| std::env::var_os(name).filter(|v| !v.is_empty()).map(PathBuf::from);
    match place.to_str() {
        Some("system") => Ok(SYSTEM_VENDORS.into()),
        Some("user") => {
            let data = variable("XDG_DATA_HOME").filter(|p| p.is_absolute());
            let data = data.or_else(|| Some(variable("HOME")?.join(".local/share")));
            data.map(|d| d.join("heddle/OpenCL/vendors"))
                .ok_or_else(|| Failure::input("neither HOME nor XDG_DATA_HOME is set; --install=FOLDER names a folder"))
        }
        _ => std::path::absolute(place).map_err(|e| Failure::input(format!("{}: {e}", Path::new(place).display()))),
    }
}

fn install(place: &OsStr) -> Outcome {
    let folder = vendors_folder(place)?;
    let library = find_library()?;
    let system = place == "system";
    write_vendors(&folder, &library, !system).map_err(|e| match system {
        true => Failure::input(format!("{e}; writing there takes the rights of root")),
        false => e,
    })?;
    let mut text = format!("{} names {}\n", folder.join(VENDOR_FILE).display(), library.display());
    if !system {
        text += &format!(
            "Loaders look in {SYSTEM_VENDORS} alone unless told otherwise. This folder has Heddle and links to what is there; for \
             programs to find it:\n  export OCL_ICD_VENDORS={}\n",
            quoted(&folder)
        );
    }
    super::write_output(None, text.as_bytes())
}

fn uninstall(place: &OsStr) -> Outcome {
    let folder = vendors_folder(place)?;
    let file = folder.join(VENDOR_FILE);
    fs::remove_file(&file).map_err(|e| Failure::input(format!("cannot remove {}: {e}", file.display())))?;
    if place != "system" {
        // The links that --install made; what a user has put there stays, and with it the folder.
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if fs::read_link(&path).is_ok_and(|to| to.parent() == Some(Path::new(SYSTEM_VENDORS))) {
                let _stays = fs::remove_file(path);
            }
        }
        let _not_empty = fs::remove_dir(&folder);
    }
    super::write_output(None, format!("removed {}\n", file.display()).as_bytes())
}

/// A path as a word for a shell.
fn quoted(path: &Path) -> String {
    let text = path.display().to_string();
    let plain = text.chars().all(|c| c.is_ascii_alphanumeric() || "/._-+=:@".contains(c));
    if plain { text } else { format!("'{}'", text.replace('\'', r"'\''")) }
}
