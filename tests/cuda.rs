//! Kernels in CUDA and HIP. Those of `cuda-kernels/` run in both modes and on several warp sizes (where their source does not
//! say that it is for warps of 32 lanes) against goldens that Heddle did not make. A `kernel.cu` beside a `kernel.cl` in
//! `test-kernels/` is the same kernel: as CUDA, as HIP and in OpenCL C it leaves the same bytes in all buffers.

mod languages;

use std::path::Path;

use heddle::runtime::case::Case;
use heddle::runtime::run::Mode;
use languages::{cases, name, run};
use libtest_mimic::{Arguments, Failed, Trial};

/// The same kernel in three languages.
fn same_bytes(path: &Path) -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let (cuda, hip) = (path.with_file_name("kernel.cu"), folder.path().join("kernel.hip"));
    std::fs::copy(&cuda, &hip)?;
    languages::same_bytes(path, &[cuda, hip], Mode::Functional)
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
            let test = move || run(&Case::read(&path).map_err(|e| e.to_string())?, warp, mode, 0).map(drop);
            trials.push(Trial::test(title, test));
        }
    }
    for path in cases("test-kernels", &["kernel.cu"])? {
        trials.push(Trial::test(format!("{}/same-bytes", name(&path)), move || same_bytes(&path)));
    }
    libtest_mimic::run(&arguments, trials).exit()
}
