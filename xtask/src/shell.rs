//! Running programs from the root of the project.

use std::io::{Read, Seek};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

/// The root of the project.
pub fn root() -> PathBuf {
    let xtask = Path::new(env!("CARGO_MANIFEST_DIR"));
    xtask.parent().unwrap_or(xtask).to_path_buf()
}

/// Cargo's program.
pub fn cargo() -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(root());
    command
}

/// Runs a program; its failure is an error.
pub fn run(program: &Path, args: &[&str]) -> Result<()> {
    let mut command = Command::new(program);
    command.current_dir(root()).args(args);
    check(&mut command)
}

/// Runs a command; its failure is an error.
pub fn check(command: &mut Command) -> Result<()> {
    let shown = format!(
        "{} {}",
        command.get_program().to_string_lossy(),
        command.get_args().map(|a| a.to_string_lossy()).collect::<Vec<_>>().join(" ")
    );
    eprintln!("$ {shown}");
    let status = command.status().with_context(|| format!("cannot run {shown}"))?;
    if !status.success() {
        bail!("{shown} failed ({status})");
    }
    Ok(())
}

/// How a program ended that was given a time.
pub struct Ended {
    /// Its exit code; none if a signal ended it.
    pub code: Option<i32>,
    /// Whether it was ended because its time was over.
    pub timed_out: bool,
    /// What it printed, on standard output and standard error.
    pub text: String,
}

/// Runs a program for a time at most; after that it is killed. It stays in the group of processes that an
/// interruption of the task ends.
pub fn within(command: &mut Command, limit: Duration) -> Result<Ended> {
    // A file takes any amount of output without anybody reading it.
    let mut file = tempfile::tempfile()?;
    let shown = command.get_program().to_string_lossy().into_owned();
    command.stdout(file.try_clone()?).stderr(file.try_clone()?);
    let mut child = command.spawn().with_context(|| format!("cannot run {shown}"))?;
    let started = Instant::now();
    let mut timed_out = false;
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        if !timed_out && started.elapsed() > limit {
            timed_out = true;
            // It may have ended just now.
            let _gone = child.kill();
        }
        std::thread::sleep(Duration::from_millis(10));
    };
    file.rewind()?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    Ok(Ended { code: status.code(), timed_out, text: String::from_utf8_lossy(&bytes).into_owned() })
}

/// Builds the OpenCL driver in release mode and returns its path; or returns the one that lies beside
/// what `HEDDLE_BIN` names.
pub fn build_driver() -> Result<PathBuf> {
    let name = format!("{}heddle_opencl{}", std::env::consts::DLL_PREFIX, std::env::consts::DLL_SUFFIX);
    if std::env::var_os("HEDDLE_BIN").is_some() {
        let driver = build()?.with_file_name(name);
        anyhow::ensure!(driver.is_file(), "HEDDLE_BIN: there is no driver {}", driver.display());
        return Ok(driver);
    }
    check(cargo().args(["build", "--release", "--package", "heddle-opencl"]))?;
    Ok(release().join(name))
}

/// Builds the `heddle` binary in release mode and returns its path; or returns the one that
/// `HEDDLE_BIN` names.
pub fn build() -> Result<PathBuf> {
    if let Some(binary) = std::env::var_os("HEDDLE_BIN").map(PathBuf::from) {
        let absolute = std::path::absolute(&binary)?;
        anyhow::ensure!(absolute.is_file(), "HEDDLE_BIN: there is no file {}", binary.display());
        return Ok(absolute);
    }
    check(cargo().args(["build", "--release", "--package", "heddle"]))?;
    Ok(release().join("heddle"))
}

/// Builds the `heddle` binary without what a first run does not need (result files in Parquet), and the OpenCL
/// driver beside it; returns the binary's path.
pub fn build_first() -> Result<PathBuf> {
    check(cargo().args(["build", "--release", "--package", "heddle", "--package", "heddle-opencl", "--no-default-features"]))?;
    Ok(release().join("heddle"))
}

/// Builds everything in release mode, tests too, so that nothing is compiled twice for them;
/// returns the paths of the `heddle` binary and of the plug-in for LLVM's tools.
pub fn build_all() -> Result<(PathBuf, PathBuf)> {
    check(cargo().args(["build", "--release", "--workspace", "--all-targets"]))?;
    let plugin = format!("{}heddle_passes{}", std::env::consts::DLL_PREFIX, std::env::consts::DLL_SUFFIX);
    Ok((release().join("heddle"), release().join(plugin)))
}

/// Where cargo leaves what it builds in release mode.
pub fn release() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from).join("release")
}

/// Whether a program is in the PATH.
pub fn find(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|f| f.join(name)).find(|p| p.is_file())
}

/// A Python that has these modules. Several may be installed, and a distribution's modules are
/// those of its own.
pub fn python(modules: &[&str]) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let all = std::env::split_paths(&path).chain(["/usr/bin".into(), "/usr/local/bin".into()]).map(|f| f.join("python3"));
    let import = format!("import {}", modules.join(", "));
    let has = |program: &PathBuf| {
        let mut command = Command::new(program);
        command.args(["-c", &import]).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command.status().is_ok_and(|s| s.success())
    };
    all.filter(|p| p.is_file()).find(has)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_hangs_is_ended() {
        let shell = |script: &str, limit: u64| within(Command::new("sh").args(["-c", script]), Duration::from_millis(limit));
        let ended = shell("echo out; echo err >&2; exit 3", 60_000).expect("a shell");
        assert_eq!((ended.code, ended.timed_out, ended.text.as_str()), (Some(3), false, "out\nerr\n"));
        let started = Instant::now();
        let ended = shell("echo first; exec sleep 60", 200).expect("a shell");
        assert_eq!((ended.code, ended.timed_out, ended.text.as_str()), (None, true, "first\n"));
        assert!(started.elapsed() < Duration::from_secs(30));
        let ended = shell("kill -SEGV $$", 60_000).expect("a shell");
        assert_eq!((ended.code, ended.timed_out), (None, false));
    }
}
