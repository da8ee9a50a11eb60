//! Kernels in SPIR-V. A `kernel.spvasm` beside a `kernel.cl` in `test-kernels/` is the same kernel, made of it by
//! `test-kernels/spirv.py`: it leaves the same bytes in all buffers, in both modes. `spirv-as` and `llvm-spirv` are needed;
//! where they cannot be had, the tests are ignored, and say so.

mod languages;

use heddle::runtime::run::Mode;
use languages::{cases, name, same_bytes};
use libtest_mimic::{Arguments, Trial};

/// What is missing of the programs that the tests need.
fn missing() -> Option<&'static str> {
    if heddle_frontend::translate::translator().is_none() {
        return Some("llvm-spirv");
    }
    heddle_frontend::translate::assembler().is_none().then_some("spirv-as")
}

fn main() -> std::io::Result<()> {
    let arguments = Arguments::from_args();
    let missing = missing();
    if let Some(program) = missing {
        eprintln!("skipped: {program} is not installed (`cargo xtask setup` says how to get it)");
    }
    let mut trials = Vec::new();
    for path in cases("test-kernels", &["kernel.spvasm"])? {
        for mode in [Mode::Functional, Mode::Timing] {
            let (title, path) = (format!("{}/{mode:?}", name(&path)), path.clone());
            let test = move || same_bytes(&path, &[path.with_file_name("kernel.spvasm")], mode);
            trials.push(Trial::test(title, test).with_ignored_flag(missing.is_some()));
        }
    }
    libtest_mimic::run(&arguments, trials).exit()
}
