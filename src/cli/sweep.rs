//! `heddle sweep`.

use std::path::PathBuf;

use clap::Args;

use super::{Failure, Outcome, write_output};
use heddle::explore::emit::{self, Engine, Script};
use heddle::explore::journal::Finished;
use heddle::explore::plan::Plan;
use heddle::explore::results::Format;
use heddle::explore::sweep;

/// Run cases on many machines and with many options; results as Parquet, CSV and JSON lines, and the Pareto
/// front as a page.
///
/// A sweep is a TOML file. Everything but `cases` may be left out; paths are relative to the file:
///
///   cases = ["test-kernels/saxpy/case.json", "mine/*/case.json"]
///   minimise = ["cycles", "energy_pj"]        # of the Pareto front (this is the default);
///                                             # also maximise; columns, or numeric axes
///   sample = 200                              # configurations taken at random; see also seed
///   mode = "timing"                           # or "functional": instructions and results only
///   [machine]
///   base = "machines/small.toml"              # default: the built-in machine
///   set.sm.count = 4                          # other values of single fields
///   [options]                                 # of all points: the options of `heddle run`
///   no-rename = true
///   [axes]                                    # each with each
///   warp-size = [16, 32, 64]                  # fields as `heddle target` prints them
///   sm.max-warps = { from = 16, to = 48, step = 16 }
///   memory.data.bytes = { powers-of-two = [8192, 65536] }
///   "clusters.*.local-registers" = [0, 3, 6]
///   regfile = ["multilevel", "single"]        # options of `heddle run`; switches: true or false
///   source-options = ["-DTILE=8", "-DTILE=16"]
///   [[variants]]                              # several fields at once, under a name
///   name = "small caches"
///   set = { memory.uniform.bytes = 8192, memory.l2.bytes = 262144 }
///   [[exclude]]                               # leaves out configurations of which all this holds
///   warp-size = 64
///   regfile = ["single"]
///
/// Finished points are in a journal, so a sweep that was killed goes on where it was when it is
/// started again; a changed sweep keeps the points that have not changed. A point that fails is a
/// result with its error; exit status 1 if there is one. Result files are the same bytes however
/// the sweep went.
///
///   heddle sweep caches.toml                           # journal and results in caches.sweep/
///   heddle sweep caches.toml --dry-run                 # what it would run
///   heddle sweep caches.toml --emit slurm > caches.sbatch && sbatch caches.sbatch
///   heddle sweep caches.toml --emit parallel > caches.sh && bash caches.sh --sshlogin 8/fast,4/slow
///   heddle sweep caches.toml --collect caches.sweep    # result files of what those engines ran
#[derive(Args)]
#[command(verbatim_doc_comment)]
pub struct Sweep {
    /// The sweep.
    #[arg(value_name = "SWEEP.toml")]
    sweep: PathBuf,
    /// Folder of journal and results; default: the sweep's name with .sweep, in the current folder.
    #[arg(long, short, value_name = "FOLDER")]
    out: Option<PathBuf>,
    /// Formats of the result file, comma-separated; default: all that this build has (`parquet` needs the
    /// feature of that name, which plain cargo builds have and `cargo xtask demo` leaves out).
    #[arg(long, value_enum, value_delimiter = ',', value_name = "FORMAT")]
    format: Vec<Format>,
    /// Points at the same time; 0: as many as there are cores.
    #[arg(long, value_name = "N", default_value_t = 0)]
    threads: usize,
    /// Run only these points (from 1, both included) and write no results: a part of a sweep, for --collect.
    #[arg(long, value_name = "FIRST-LAST")]
    points: Option<String>,
    /// The journal; default: journal.jsonl in the folder, with --points part-FIRST-LAST.jsonl.
    #[arg(long, value_name = "FILE")]
    journal: Option<PathBuf>,
    /// Merge the journals of a folder and write the results; says which points are missing.
    #[arg(long, value_name = "FOLDER", conflicts_with_all = ["points", "journal", "emit", "dry_run"])]
    collect: Option<PathBuf>,
    /// Print a script that runs the sweep on an engine.
    #[arg(long, value_enum, value_name = "ENGINE", conflicts_with_all = ["points", "journal", "dry_run"])]
    emit: Option<Engine>,
    /// Tasks of the script; default: about ten points each, at most 1000.
    #[arg(long, value_name = "N", requires = "emit")]
    tasks: Option<usize>,
    /// Where GNU parallel runs tasks, as its own --sshlogin. May be repeated.
    #[arg(long, value_name = "[N/]HOST", requires = "emit")]
    sshlogin: Vec<String>,
    /// Check the sweep and print what it would run.
    #[arg(long)]
    dry_run: bool,
}

impl Sweep {
    /// Runs the subcommand.
    pub fn run(self) -> Outcome {
        let plan = Plan::read(&self.sweep)?;
        if self.dry_run {
            return write_output(None, sweep::overview(&plan).as_bytes());
        }
        let folder = self.out.clone().unwrap_or_else(|| PathBuf::from(format!("{}.sweep", plan.name)));
        if let Some(engine) = self.emit {
            if engine == Engine::Slurm && !self.sshlogin.is_empty() {
                return Err(Failure::input("--sshlogin goes with --emit parallel; where Slurm runs tasks, Slurm decides"));
            }
            if self.tasks == Some(0) {
                return Err(Failure::input("--tasks 0: there must be one"));
            }
            // Slurm opens its log files before a task can make the folder.
            std::fs::create_dir_all(&folder)
                .map_err(|e| Failure::input(format!("cannot make the folder {}: {e}", folder.display())))?;
            let script = Script {
                heddle: std::env::current_exe().map_err(Failure::input)?,
                sweep: self.sweep,
                folder,
                tasks: self.tasks.unwrap_or_else(|| emit::default_tasks(plan.len())),
                logins: self.sshlogin,
            };
            return write_output(None, emit::script(&plan, engine, &script)?.as_bytes());
        }
        if let Some(parts) = &self.collect {
            let finished = sweep::collect(&plan, parts)?;
            let folder = self.out.as_deref().unwrap_or(parts);
            return finish(&plan, &finished, folder, &self.format);
        }
        if let Some(text) = &self.points {
            let range = sweep::parse_range(text, plan.len())?;
            let name = format!("part-{}-{}.jsonl", range.start(), range.end());
            let journal = self.journal.unwrap_or_else(|| folder.join(name));
            let done = sweep::run(&plan, range.clone(), &journal, self.threads)?;
            heddle_report::say!("{} points run, {} were there before: {}", done.now, done.before, journal.display());
            let failed = |p: &usize| {
                let point = plan.point(*p).and_then(|p| done.finished.get(p.id));
                point.is_some_and(|e| e.result.status != heddle::explore::engine::Status::Passed)
            };
            let failed = range.filter(failed).count();
            return if failed == 0 { Ok(()) } else { Err(Failure::check(format!("{failed} points did not pass"))) };
        }
        let journal = self.journal.unwrap_or_else(|| folder.join("journal.jsonl"));
        let done = sweep::run(&plan, 1..=plan.len(), &journal, self.threads)?;
        heddle_report::say!("{} points run ({} codes compiled), {} were there before", done.now, done.compiled, done.before);
        finish(&plan, &done.finished, &folder, &self.format)
    }
}

/// Writes the results of a whole sweep and says what they are.
fn finish(plan: &Plan, finished: &Finished, folder: &std::path::Path, formats: &[Format]) -> Outcome {
    let formats = if formats.is_empty() { Format::ALL } else { formats };
    let paths = sweep::write_results(plan, finished, folder, formats)?;
    let names: Vec<String> = paths.iter().map(|p| p.display().to_string()).collect();
    let text = format!("{} points: {}\n{}", plan.len(), names.join(", "), sweep::summary(plan, finished));
    write_output(None, text.as_bytes())?;
    let failures: Vec<String> = sweep::failures(plan, finished).iter().map(|(s, n)| format!("{n} {s}")).collect();
    if failures.is_empty() {
        return Ok(());
    }
    Err(Failure::check(format!("points that did not pass: {}; their errors are in the results", failures.join(", "))))
}
