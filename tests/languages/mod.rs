//! One kernel in several languages: cases whose sources stand beside each other, and whether they leave the same bytes.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use heddle::driver::{self, CompileOptions, Emit};
use heddle::object::read;
use heddle::runtime::array::Array;
use heddle::runtime::case::Case;
use heddle::runtime::run::{Mode, Simulator, run_case};
use heddle::sim::Options;
use heddle::target::Machine;
use libtest_mimic::Failed;

/// Runs a case with the code and the simulator's checks on, on so many host threads (0: as many as the host has); its buffers
/// afterwards.
pub fn run(case: &Case, warp: u32, mode: Mode, threads: usize) -> Result<BTreeMap<String, Array>, Failed> {
    let machine = Machine::load(None, &[format!("warp-size={warp}")])?;
    let (inputs, frontend) = driver::case_frontend(case, &[])?;
    let options = CompileOptions { frontend, ..Default::default() };
    let object = driver::compile(&inputs, Emit::Obj, &options, &machine)?.output;
    let options = Options { check_marks: true, check_renames: mode == Mode::Timing, threads, ..Default::default() };
    let simulator = Simulator { machine: &machine, mode, options: &options };
    let outcome = run_case(case, &read::parse(&object)?, &simulator, &mut ())?;
    match &outcome.mismatches[..] {
        [] if outcome.checked > 0 => Ok(outcome.buffers),
        [] => Err("the case checks nothing".into()),
        [(buffer, message), ..] => Err(format!("buffer `{buffer}`: {message}").into()),
    }
}

/// Whether a case leaves the same bytes with each of these sources as with its own, which is in OpenCL C. On one host thread:
/// where work-groups take their places in a buffer by atomics (`compact`), its bytes tell in which order they ran.
pub fn same_bytes(path: &Path, sources: &[PathBuf], mode: Mode) -> Result<(), Failed> {
    let case = Case::read(path).map_err(|e| e.to_string())?;
    let expected = run(&case, 32, mode, 1)?;
    for source in sources {
        let case = Case { source: source.display().to_string(), ..case.clone() };
        for (name, array) in run(&case, 32, mode, 1)? {
            if expected.get(&name).is_none_or(|e| e.data != array.data) {
                return Err(format!("{}: buffer `{name}` has other bytes than in OpenCL C", source.display()).into());
            }
        }
    }
    Ok(())
}

/// The cases below a folder of the repository that have a source of one of these names beside them.
pub fn cases(folder: &str, sources: &[&str]) -> std::io::Result<Vec<PathBuf>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let mut found = Vec::new();
    for entry in std::fs::read_dir(root)? {
        let folder = entry?.path();
        if sources.iter().any(|s| folder.join(s).is_file()) {
            found.push(folder.join("case.json"));
        }
    }
    found.sort();
    Ok(found)
}

/// The name of a case: that of its folder.
pub fn name(path: &Path) -> String {
    path.parent().and_then(Path::file_name).unwrap_or_default().to_string_lossy().into_owned()
}
