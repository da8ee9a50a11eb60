//! Every case of `test-kernels/` end to end: compiled, verified and proved by the checker, loaded from its object, run in both modes on four
//! warp sizes, compared with goldens that Heddle did not make. One test a combination, named `kernel/warp/mode`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock};

use heddle::build::Translations;
use heddle::build::cache::{Cache, DEFAULT_LIMIT};
use heddle::codegen::RegisterFile;
use heddle::codegen::partition::Ownership;
use heddle::codegen::release::Release;
use heddle::driver::{self, CompileOptions, Emit};
use heddle::frontend::{FrontendOptions, OptLevel, compile_to_bitcode};
use heddle::isel::CacheHints;
use heddle::object::{Image, read};
use heddle::runtime::case::Case;
use heddle::runtime::run::{Mode, Simulator, run_case};
use heddle::sim::Jit;
use heddle::sim::Options;
use heddle::target::{Machine, Unit};
use inkwell::context::Context;
use libtest_mimic::{Arguments, Failed, Trial};

/// As the program has it.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Files that are made once, each by the first test that wants it.
struct Files(Mutex<BTreeMap<String, Arc<Made>>>);

/// A file, or why there is none.
type Made = OnceLock<Result<PathBuf, String>>;

impl Files {
    const fn new() -> Files {
        Files(Mutex::new(BTreeMap::new()))
    }

    /// The file of this name, with what `make` says.
    fn get(&self, name: String, make: impl FnOnce() -> Result<Vec<u8>, String>) -> Result<PathBuf, String> {
        let made = self.0.lock().unwrap_or_else(|e| e.into_inner()).entry(name.clone()).or_default().clone();
        let write = || {
            let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
            std::fs::write(&file, make()?).map_err(|e| e.to_string())?;
            Ok(file)
        };
        made.get_or_init(write).clone()
    }
}

fn name_of(path: &Path) -> std::borrow::Cow<'_, str> {
    path.parent().and_then(Path::file_name).unwrap_or_default().to_string_lossy()
}

/// What clang makes of a case's source: the same for all machines.
fn bitcode(path: &Path, opt: OptLevel) -> Result<PathBuf, String> {
    static ALL: Files = Files::new();
    ALL.get(format!("{}-{opt:?}.bc", name_of(path)), || {
        let case = Case::read(path).map_err(|e| e.to_string())?;
        let (inputs, frontend) = driver::case_frontend(&case, &[])?;
        let [input] = &inputs[..] else { return Err(format!("{} sources", inputs.len())) };
        compile_to_bitcode(input, &FrontendOptions { opt, whole_program: true, ..frontend }).map_err(|e| e.to_string())
    })
}

/// What the front end makes of a case's source for a machine.
fn ir(path: &Path, machine: &Machine, opt: OptLevel) -> Result<PathBuf, Failed> {
    static ALL: Files = Files::new();
    Ok(ALL.get(format!("{}-{}-{opt:?}.ll", name_of(path), machine.warp_size), || {
        let case = Case::read(path).map_err(|e| e.to_string())?;
        let (_, frontend) = driver::case_frontend(&case, &[])?;
        let options = CompileOptions { frontend: FrontendOptions { opt, ..frontend }, ..Default::default() };
        Ok(driver::compile(&[bitcode(path, opt)?], Emit::Ir, &options, machine).map_err(|e| e.to_string())?.output)
    })?)
}

/// The files below a folder, each with a number that it keeps until another one is put in its place.
fn written(folder: &Path) -> std::io::Result<BTreeMap<PathBuf, u64>> {
    use std::os::unix::fs::MetadataExt;
    let mut files = BTreeMap::new();
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            files.extend(written(&path)?);
        } else {
            files.insert(path.clone(), path.metadata()?.ino());
        }
    }
    Ok(files)
}

fn run(path: &Path, overrides: &[String], mode: Mode, adjust: impl Fn(&mut CompileOptions)) -> Result<(), Failed> {
    let checks = Options { check_marks: true, check_renames: true, check_strands: true, ..Default::default() };
    let machine = Machine::load(None, overrides)?;
    let mut options = CompileOptions::default();
    adjust(&mut options);
    let image = compiled(&[ir(path, &machine, options.frontend.opt)?], options, &machine)?;
    run_image(path, &image, &machine, overrides, mode, checks)
}

fn compiled(source: &[PathBuf], mut options: CompileOptions, machine: &Machine) -> Result<Image, Failed> {
    options.codegen.verify = true;
    Ok(read::parse(&driver::compile(source, Emit::Obj, &options, machine)?.output)?)
}

/// Runs a case's kernels and compares what they leave with what it expects; `overrides` are those that `machine` was made with.
fn run_image(
    path: &Path,
    image: &Image,
    machine: &Machine,
    overrides: &[String],
    mode: Mode,
    simulation: Options,
) -> Result<(), Failed> {
    let case = Case::read(path)?;
    let options = Options { max_instructions: 100_000_000, threads: 1, ..simulation };
    let run = |options: &Options| run_case(&case, image, &Simulator { machine, mode, options }, &mut ());
    let outcome = run(&options)?;
    let plain =
        matches!(overrides, [one] if one.starts_with("warp-size=")) || overrides.iter().any(|o| o.starts_with("sm.scheduler="));
    if mode == Mode::Timing && plain {
        // Side by side on any number of host threads, SMs do the same as in turns: every cycle and count.
        for options in [Options { threads: 2, ..options.clone() }, Options { in_turns: true, ..options.clone() }] {
            let other = run(&options)?;
            if other.launches != outcome.launches || other.mismatches != outcome.mismatches {
                let how = if options.in_turns { "in turns" } else { "on two threads" };
                return Err(format!("other statistics {how}: {:?}\nand not {:?}", other.total, outcome.total).into());
            }
        }
    }
    match outcome.mismatches.first() {
        Some((buffer, message)) => Err(format!("buffer `{buffer}`: {message}").into()),
        None if outcome.checked == 0 => Err("the case expects nothing".into()),
        None => Ok(()),
    }
}

/// A kernel on machines of other shapes: clusters, local registers and main registers, each two of which meet in all their values. The same
/// bytes on all (C1, C2). The front end runs once: what it makes is the same for all of them.
fn shapes(path: &Path) -> Result<(), Failed> {
    let case = Case::read(path)?;
    let machine = Machine::default_machine();
    let source = ir(path, &machine, OptLevel::default())?;
    let context = Context::create();
    let module = heddle::frontend::compile_to_module(
        &context,
        &[source],
        &FrontendOptions::default(),
        false,
        driver::facts(&machine, &Default::default()),
    )?;
    for (i, clusters) in [1, 2, 4, 8].into_iter().enumerate() {
        for (k, local) in [0, 2, 4, 8, 16].into_iter().enumerate() {
            let mut machine = Machine::default_machine();
            machine.shared_units.clear();
            let mut template = machine.clusters[0].clone();
            template.units = vec![Unit::Alu, Unit::Sfu, Unit::Double, Unit::Control];
            machine.clusters = (0..clusters)
                .map(|i| {
                    let mut c = template.clone();
                    c.name = format!("c{i}");
                    c.local_registers = local;
                    c.units.extend((i + 1 == clusters).then_some(Unit::LoadStore));
                    c
                })
                .collect();
            let registers = [16, 32, 64, 128][(i + k) % 4];
            let shape = format!("{clusters} clusters, {local} local, {registers} main registers");
            let mut options = CompileOptions::default();
            options.codegen.verify = true;
            options.codegen.max_main_registers = Some(registers);
            let object =
                driver::compile_module(&module, Emit::Obj, &options, &machine).map_err(|e| format!("{shape}: {e}"))?.output;
            let image = read::parse(&object)?;
            let options = Options { max_instructions: 100_000_000, check_marks: true, ..Default::default() };
            let simulator = Simulator { machine: &machine, mode: Mode::Functional, options: &options };
            let outcome = run_case(&case, &image, &simulator, &mut ())?;
            if let Some((buffer, message)) = outcome.mismatches.first() {
                return Err(format!("{shape}: buffer `{buffer}`: {message}").into());
            }
        }
    }
    Ok(())
}

/// Kernels that run on many schedulers: barriers, divergence, atomics, images, many registers.
const SCHEDULED: [&str; 12] = [
    "atomics",
    "bfs_step",
    "dot_f64",
    "fft",
    "histogram",
    "images",
    "nested_exits",
    "radix_sort",
    "reduction",
    "scan",
    "sgemm_tiled",
    "shuffles",
];

/// What else the SMs are like.
const SMS: [(&str, &[&str]); 5] = [
    ("whole", &["sm.schedulers=1", "sm.active-warps=8"]),
    ("sub-cores", &["sm.schedulers=4", "sm.issue-width=1", "sm.active-warps=4", "sm.rotate-clusters=true"]),
    ("banks", &["sm.schedulers=1", "main-file.banks=2", "main-file.latency=2", "sm.active-warps=3"]),
    (
        "collectors",
        &[
            "main-file.banks=4",
            "main-file.collectors=2",
            "sm.schedulers=2",
            "shared-units=[{name='all',units=['load-store','sfu','double'],clusters=['a0','a1']}]",
            "sm.dispatch-cycles=25",
        ],
    ),
    ("renamed", &["sm.count=1", "sm.schedulers=1", "sm.main-registers=4096", "sm.max-main-registers=120", "sm.active-warps=2"]),
];

fn cases() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("test-kernels");
    let mut result: Vec<PathBuf> = std::fs::read_dir(root)
        .into_iter()
        .flatten()
        .flatten()
        .map(|e| e.path().join("case.json"))
        .filter(|p| p.is_file())
        .collect();
    result.sort();
    result
}

fn main() {
    let arguments = Arguments::from_args();
    let mut trials = Vec::new();
    for path in cases() {
        let name = path.parent().and_then(|p| p.file_name()).map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
        // S1: any number of lanes.
        for warp in [8, 16, 32, 64] {
            for (text, mode) in [("functional", Mode::Functional), ("timing", Mode::Timing)] {
                let path = path.clone();
                let set = vec![format!("warp-size={warp}")];
                trials.push(Trial::test(format!("{name}/{warp}/{text}"), move || run(&path, &set, mode, |_| {})));
            }
        }
        // Where clusters issue more than the scalar unit, and the run-time scalarizer yields.
        let p = path.clone();
        let set = ["sm.schedulers=1", "timing.int32.interval=1", "sm.scalarizer-yields=true"].map(String::from).to_vec();
        trials.push(Trial::test(format!("{name}/one-scalar-slot"), move || run(&p, &set, Mode::Timing, |_| {})));
        // Translated to the host's instructions from the start; then with the translations that another process would find.
        let p = path.clone();
        trials.push(Trial::test(format!("{name}/host-code"), move || {
            // With the front end at work, as users have it.
            let machine = Machine::default_machine();
            let (inputs, frontend) = driver::case_frontend(&Case::read(&p)?, &[])?;
            let image = compiled(&inputs, CompileOptions { frontend, ..Default::default() }, &machine)?;
            let folder = tempfile::tempdir()?;
            let store = Translations::new(Cache::new(folder.path(), DEFAULT_LIMIT));
            let options = Options { jit: Jit::Always, translations: Some(Arc::new(store)), ..Default::default() };
            run_image(&p, &image, &machine, &[], Mode::Functional, options.clone())?;
            let made = written(folder.path())?;
            run_image(&p, &image, &machine, &[], Mode::Functional, options)?;
            if written(folder.path())? != made {
                return Err("it was translated again".into());
            }
            Ok(())
        }));
        // Each technique off gives the same bytes.
        let p = path.clone();
        trials.push(Trial::test(format!("{name}/no-scalarize"), move || {
            run(&p, &[], Mode::Functional, |o| {
                o.select.scalarize = false;
                o.codegen.no_marks = true;
            })
        }));
        let p = path.clone();
        trials.push(Trial::test(format!("{name}/no-global-id"), move || {
            run(&p, &[], Mode::Timing, |o| o.select.global_id = false)
        }));
        // K7, K8: policies change what is stale, never what a race-free kernel computes; small caches evict all the time.
        for (text, hints) in [("ca", CacheHints::Ca), ("cg", CacheHints::Cg)] {
            let p = path.clone();
            trials.push(Trial::test(format!("{name}/cache-hints-{text}"), move || {
                run(&p, &[], Mode::Timing, |o| o.select.cache_hints = hints)
            }));
        }
        let p = path.clone();
        trials.push(Trial::test(format!("{name}/small-caches"), move || {
            let set = [
                "memory.data.bytes=512",
                "memory.data.ways=2",
                "memory.uniform.bytes=512",
                "memory.uniform.ways=2",
                "memory.l15.bytes=1024",
                "memory.l2.bytes=4096",
                "memory.l2.ways=4",
            ];
            run(&p, &set.map(String::from), Mode::Timing, |o| o.select.prefetch = true)
        }));
        // S6, S7: the scalar unit and the run-time scalarizer change costs, not results.
        for threshold in [0, 1, 7] {
            let p = path.clone();
            trials.push(Trial::test(format!("{name}/scalar-threshold-{threshold}"), move || {
                run(&p, &[format!("sm.scalar-threshold={threshold}")], Mode::Timing, |_| {})
            }));
        }
        let p = path.clone();
        trials.push(Trial::test(format!("{name}/no-marks"), move || run(&p, &[], Mode::Timing, |o| o.codegen.no_marks = true)));
        // Register files.
        let p = path.clone();
        trials.push(Trial::test(format!("{name}/shapes"), move || shapes(&p)));
        let p = path.clone();
        trials.push(Trial::test(format!("{name}/single-file"), move || {
            run(&p, &[], Mode::Timing, |o| o.codegen.regfile = RegisterFile::Single)
        }));
        let p = path.clone();
        trials.push(Trial::test(format!("{name}/publication"), move || {
            run(&p, &[], Mode::Timing, |o| o.codegen.ownership = Ownership::Publication)
        }));
        let p = path.clone();
        trials.push(Trial::test(format!("{name}/no-schedule"), move || {
            run(&p, &[], Mode::Functional, |o| o.codegen.no_schedule = true)
        }));
        // Renaming, with little room: shared registers are mapped when read and released at the end, and no launch hangs.
        for (text, release) in [("value", Release::Value), ("name", Release::Name)] {
            let p = path.clone();
            trials.push(Trial::test(format!("{name}/rename-{text}"), move || {
                let set = ["sm.count=1", "sm.main-registers=4096", "sm.max-main-registers=120"].map(String::from);
                run(&p, &set, Mode::Timing, |o| {
                    o.codegen.rename = heddle::codegen::Rename::Always;
                    o.codegen.regfile = RegisterFile::Single;
                    o.codegen.release = release;
                })
            }));
        }
        // Schedulers, sub-cores, banks of the main file, shared units: the same bytes on all, and no read of what is lost (C14).
        for policy in ["greedy-oldest", "oldest", "round-robin", "two-level"].into_iter().filter(|_| SCHEDULED.contains(&&*name))
        {
            for (text, sets) in SMS {
                let p = path.clone();
                let policy = format!("sm.scheduler={policy}");
                trials.push(Trial::test(format!("{name}/{policy}/{text}"), move || {
                    let sets: Vec<String> = sets.iter().map(ToString::to_string).chain([policy.clone()]).collect();
                    run(&p, &sets, Mode::Timing, |o| {
                        if text == "renamed" {
                            o.codegen.rename = heddle::codegen::Rename::Always;
                            o.codegen.regfile = RegisterFile::Single;
                        }
                    })
                }));
            }
        }
        // Register pressure: down to 18 main registers, and few scalar and predicate registers.
        let p = path.clone();
        trials.push(Trial::test(format!("{name}/18-registers"), move || {
            run(&p, &[], Mode::Functional, |o| o.codegen.max_main_registers = Some(18))
        }));
        let p = path.clone();
        trials.push(Trial::test(format!("{name}/few-scalars-and-predicates"), move || {
            let set = ["sm.scalar-registers=12".to_string(), "sm.predicate-registers=3".to_string()];
            run(&p, &set, Mode::Functional, |_| {})
        }));
        let p = path.clone();
        trials.push(Trial::test(format!("{name}/unoptimised"), move || {
            run(&p, &[], Mode::Functional, |o| o.frontend.opt = OptLevel::O0)
        }));
    }
    libtest_mimic::run(&arguments, trials).exit();
}
