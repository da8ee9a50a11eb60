//! Scripts that run a sweep on existing engines: Slurm's job arrays, GNU parallel over ssh.
//!
//! Each task runs a range of points into a journal of its own in the sweep's folder, which all machines must
//! see under the same path (as the program, the sweep and the cases). A task that is started again goes on
//! where it was. Points that fail are results, so a task whose points failed has done its work; `--collect`
//! reports them.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use super::ExploreError;
use super::plan::Plan;

/// For which engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Engine {
    /// A job array for sbatch.
    Slurm,
    /// GNU parallel.
    Parallel,
}

/// What a script needs to know.
pub struct Script {
    /// This program.
    pub heddle: PathBuf,
    /// The sweep's file.
    pub sweep: PathBuf,
    /// Where the journals go.
    pub folder: PathBuf,
    /// Tasks.
    pub tasks: usize,
    /// GNU parallel's `--sshlogin`, in order.
    pub logins: Vec<String>,
}

/// The points of a task (both from 1): tasks differ by one point at most.
pub fn share(points: usize, tasks: usize, task: usize) -> (usize, usize) {
    (points * (task - 1) / tasks + 1, points * task / tasks)
}

/// A word for a POSIX shell.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+,:=@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) { word.into() } else { format!("'{}'", word.replace('\'', r"'\''")) }
}

fn path(path: &Path) -> Result<String, ExploreError> {
    let absolute = std::path::absolute(path).map_err(|e| ExploreError::file(path, "find the folder", e))?;
    match absolute.to_str().filter(|s| !s.contains('\n')) {
        Some(s) => Ok(s.to_string()),
        None => Err(ExploreError::Input(format!("{}: scripts can hold no such path", absolute.display()))),
    }
}

/// Tasks if nothing else is said: about ten points each, at most the thousand that Slurm allows in an array.
pub fn default_tasks(points: usize) -> usize {
    points.div_ceil(10).clamp(1, 1000)
}

/// The script.
///
/// # Errors
/// A path that no script can hold.
pub fn script(plan: &Plan, engine: Engine, script: &Script) -> Result<String, ExploreError> {
    let points = plan.len();
    let tasks = script.tasks.clamp(1, points.max(1));
    let (heddle, sweep, folder) = (path(&script.heddle)?, path(&script.sweep)?, path(&script.folder)?);
    let run = format!("{} sweep {}", quoted(&heddle), quoted(&sweep));
    let collect = format!("{run} --collect {}", quoted(&folder));
    let mut out = String::from("#!/bin/bash\n");
    let _ =
        writeln!(out, "# Sweep {}: {points} points in {tasks} tasks. Sweep hash {}.", plan.name.replace('\n', " "), plan.hash);
    match engine {
        Engine::Slurm => {
            let job: String = plan.name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
            // Slurm reads %-patterns in this path, and a backslash takes their meaning.
            let output = folder.replace('\\', "\\\\").replace('%', "%%");
            let _ = write!(
                out,
                "# Submit it with `sbatch`; other limits, partitions and accounts go on sbatch's command line. A task that \
                 was lost can be queued again\n\
                 # (`scontrol requeue`, or `sbatch --array=NUMBER` with this script): it goes on where it was. When all \
                 have ended:\n\
                 #   {collect}\n\
                 #SBATCH --job-name=heddle-{job}\n\
                 #SBATCH --array=1-{tasks}\n\
                 #SBATCH --ntasks=1\n\
                 #SBATCH --cpus-per-task=1\n\
                 #SBATCH --requeue\n\
                 #SBATCH --open-mode=append\n\
                 #SBATCH --output=\"{output}/task-%a.log\"\n\
                 set -eu\n\
                 points={points} tasks={tasks} task=$SLURM_ARRAY_TASK_ID\n\
                 first=$((points * (task - 1) / tasks + 1)) last=$((points * task / tasks))\n\
                 # Status 1 says that points failed; what they said is in the journal.\n\
                 status=0\n\
                 {run} --points \"$first-$last\" --journal {}/\"part-$task.jsonl\" \
                 --threads \"${{SLURM_CPUS_PER_TASK:-1}}\" || status=$?\n\
                 [ \"$status\" -le 1 ]\n",
                quoted(&folder)
            );
        }
        Engine::Parallel => {
            let logins: String = script.logins.iter().map(|l| format!(" --sshlogin {}", quoted(l))).collect();
            let ranges: Vec<String> = (1..=tasks)
                .map(|t| {
                    let (first, last) = share(points, tasks, t);
                    format!("{first}-{last}")
                })
                .collect();
            // No `--resume`: GNU parallel knows done tasks by number only, so it would leave out points of a
            // sweep that has changed since, and it cannot read a log with a host that is a command of several
            // words. The journals know better. The inner shell gets the command as one word with its own
            // quotes; {} is GNU parallel's.
            let inner = format!("{run} --points {{}} --journal {}/part-{{}}.jsonl --threads 1 || [ $? -eq 1 ]", quoted(&folder));
            let _ = write!(
                out,
                "# Runs on this machine, or over ssh on those given: `bash SCRIPT --sshlogin 8/fast,4/slow,:` (4/ is a \
                 number of jobs, : this machine). All words\n\
                 # go to GNU parallel. Started again, each task goes on where it was; one that is done says so and ends. \
                 When all have ended:\n\
                 #   {collect}\n\
                 set -eu\n\
                 mkdir -p {folder}\n\
                 # Status 1 of a task says that points failed; what they said is in the journal.\n\
                 exec parallel{logins} --joblog {folder}/joblog \"$@\" \\\n  \
                 {} \\\n  ::: {}\n",
                quoted(&inner),
                ranges.join(" "),
                folder = quoted(&folder),
            );
        }
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_cover_all_points_once() {
        for points in [1, 7, 200, 1001] {
            for tasks in [1, 2, 7, 13].into_iter().filter(|t| *t <= points) {
                let mut next = 1;
                for task in 1..=tasks {
                    let (first, last) = share(points, tasks, task);
                    assert_eq!(first, next);
                    assert!(last >= first, "{points} {tasks} {task}");
                    next = last + 1;
                }
                assert_eq!(next, points + 1);
            }
        }
    }

    #[test]
    fn words_are_quoted_for_the_shell() {
        assert_eq!(quoted("/a/b-c.toml"), "/a/b-c.toml");
        let word = "a b'$(c)\"";
        let out = std::process::Command::new("sh").arg("-c").arg(format!("printf %s {}", quoted(word))).output().unwrap();
        assert_eq!(String::from_utf8(out.stdout).unwrap(), word);
    }

    #[test]
    fn tasks_have_about_ten_points() {
        assert_eq!([1, 200, 100_000].map(default_tasks), [1, 20, 1000]);
    }
}
