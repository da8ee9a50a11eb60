//! Kernels in CUDA and HIP. Those of `cuda-kernels/` run in both modes and on several warp sizes (where their source does not say that
//! it is for warps of 32 lanes) against goldens that Heddle did not make. A `kernel.cu` beside a `kernel.cl` in `test-kernels/` is the same kernel: as CUDA, as HIP and in OpenCL C it leaves the same
//! bytes in all buffers.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use heddle::driver::{self, CompileOptions, Emit};
use heddle::object::read;
use heddle::runtime::array::Array;
use heddle::runtime::case::Case;
use heddle::runtime::run::{Mode, Simulator, run_case};
use heddle::sim::Options;
use heddle::target::Machine;
use libtest_mimic::{Arguments, Failed, Trial};

/// Runs a case with the code and the simulator's checks on; its buffers afterwards.
fn run(case: &Case, warp: u32, mode: Mode) -> Result<BTreeMap<String, Array>, Failed> {
    let machine = Machine::load(None, &[format!("warp-size={warp}")])?;
    let (inputs, frontend) = driver::case_frontend(case, &[])?;
    let options = CompileOptions { frontend, ..Default::default() };
    let object = driver::compile(&inputs, Emit::Obj, &options, &machine)?.output;
    let options = Options { check_marks: true, check_renames: mode == Mode::Timing, ..Default::default() };
    let simulator = Simulator { machine: &machine, mode, options: &options };
    let outcome = run_case(case, &read::parse(&object)?, &simulator, &mut ())?;
    match &outcome.mismatches[..] {
        [] if outcome.checked > 0 => Ok(outcome.buffers),
        [] => Err("the case checks nothing".into()),
        [(buffer, message), ..] => Err(format!("buffer `{buffer}`: {message}").into()),
    }
}

/// The same kernel in three languages.
fn same_bytes(path: &Path) -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let (cuda, hip) = (path.with_file_name("kernel.cu"), folder.path().join("kernel.hip"));
    std::fs::copy(&cuda, &hip)?;
    let case = Case::read(path).map_err(|e| e.to_string())?;
    let expected = run(&case, 32, Mode::Functional)?;
    for source in [cuda, hip] {
        let case = Case { source: source.display().to_string(), ..case.clone() };
        for (name, array) in run(&case, 32, Mode::Functional)? {
            if expected.get(&name).is_none_or(|e| e.data != array.data) {
                return Err(format!("{}: buffer `{name}` has other bytes than in OpenCL C", source.display()).into());
            }
        }
    }
    Ok(())
}

/// The cases below a folder that have a source of one of these names beside them.
fn cases(folder: &str, sources: &[&str]) -> std::io::Result<Vec<PathBuf>> {
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

fn name(path: &Path) -> String {
    path.parent().and_then(Path::file_name).unwrap_or_default().to_string_lossy().into_owned()
}

fn main() -> std::io::Result<()> {
    let arguments = Arguments::from_args();
    let mut trials = Vec::new();
    for path in cases("cuda-kernels", &["kernel.cu", "kernel.hip"])? {
        let source = std::fs::read_to_string(path.with_file_name("kernel.cu")).unwrap_or_default();
        let all = [(32, Mode::Timing), (8, Mode::Functional), (64, Mode::Timing)];
        let narrow = [(32, Mode::Timing), (32, Mode::Functional)];
        for (warp, mode) in if source.contains("// For warps of 32 lanes") { &narrow[..] } else { &all[..] } {
            let (warp, mode) = (*warp, *mode);
            let (title, path) = (format!("{}/warp-{warp}/{mode:?}", name(&path)), path.clone());
            let test = move || run(&Case::read(&path).map_err(|e| e.to_string())?, warp, mode).map(drop);
            trials.push(Trial::test(title, test));
        }
    }
    for path in cases("test-kernels", &["kernel.cu"])? {
        trials.push(Trial::test(format!("{}/same-bytes", name(&path)), move || same_bytes(&path)));
    }
    libtest_mimic::run(&arguments, trials).exit()
}
