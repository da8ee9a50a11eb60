//! Running programs from the root of the project.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

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

/// Builds the `heddle` binary without what a first run does not need (result files in Parquet), and returns its
/// path.
pub fn build_first() -> Result<PathBuf> {
    check(cargo().args(["build", "--release", "--package", "heddle", "--no-default-features"]))?;
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
