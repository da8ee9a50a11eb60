//! Checking mode: every kernel of `tests/seeded/`, each with a known defect, is reported with the line it is on, and no case of `test-kernels/` is
//! reported at all.
//!
//! The first lines of a seeded kernel say how it is launched (`// RUN:`, the words of `heddle run`) and what is expected: `// EXPECT: line 7:
//! data race in local memory; line 6` means a report at line 7 that says "data race in local memory" and names line 6 too; `// EXPECT: no report` marks programs that are correct for a reason which is easily missed.

use std::path::{Path, PathBuf};

use heddle::driver::{self, CompileOptions, Emit};
use heddle::frontend::FrontendOptions;
use heddle::frontend::args::parse_clang_style;
use heddle::object::Image;
use heddle::object::read;
use heddle::runtime::case::Case;
use heddle::runtime::quick::Quick;
use heddle::runtime::run::{Mode, RunError, Simulator, run_case};
use heddle::sim::Jit;
use heddle::sim::Options;
use heddle::target::Machine;
use libtest_mimic::{Arguments, Failed, Trial};

/// As the program has it.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// The report of a case in functional mode with all checks on, if there is one: the same from interpreted and from translated code.
fn report(case: &Case) -> Result<Option<String>, Failed> {
    let machine = Machine::default_machine();
    let mut words = case.options.clone();
    words.push(case.source().display().to_string());
    let line = parse_clang_style(&words)?;
    let frontend = FrontendOptions { clang_args: line.clang_args, opt: line.opt, verbose: false, ..Default::default() };
    let mut options = CompileOptions { frontend, checked: true, ..Default::default() };
    options.codegen.verify = true;
    let image = read::parse(&driver::compile(&line.inputs, Emit::Obj, &options, &machine)?.output)?;
    let interpreted = run(case, &image, &machine, Jit::Never)?;
    let translated = run(case, &image, &machine, Jit::Always)?;
    if interpreted != translated {
        return Err(format!("interpreted: {interpreted:?}\ntranslated: {translated:?}").into());
    }
    Ok(interpreted)
}

fn run(case: &Case, image: &Image, machine: &Machine, jit: Jit) -> Result<Option<String>, Failed> {
    let options = Options {
        max_instructions: 100_000_000,
        jit,
        check_marks: true,
        check_races: true,
        check_uninitialised: true,
        check_barriers: true,
        ..Default::default()
    };
    match run_case(case, image, &Simulator { machine, mode: Mode::Functional, options: &options }, &mut ()) {
        Ok(outcome) => match outcome.mismatches.first() {
            Some((buffer, message)) => Err(format!("buffer `{buffer}`: {message}").into()),
            None => Ok(None),
        },
        Err(RunError::Fault(fault)) => Ok(Some(fault.to_string())),
        Err(e) => Err(e.into()),
    }
}

fn quick(path: &Path, words: &str) -> Result<Quick, Failed> {
    let mut quick = Quick { source: path.display().to_string(), ..Default::default() };
    let mut words = words.split_whitespace();
    while let Some(option) = words.next() {
        let value = words.next().ok_or("an option without a value")?.to_string();
        match option {
            "--kernel" => quick.kernel = value,
            "--global" => quick.global = Some(value),
            "--local" => quick.local = Some(value),
            "--arg" => quick.args.push(value),
            "--option" => quick.options.push(value),
            _ => return Err(format!("unknown option {option}").into()),
        }
    }
    Ok(quick)
}

fn seeded(path: &Path) -> Result<(), Failed> {
    let text = std::fs::read_to_string(path)?;
    let after = |key: &str| text.lines().find_map(|l| l.strip_prefix(key)).ok_or(format!("no `{key}`"));
    let case = Case::parse(&quick(path, after("// RUN: ")?)?.case_text()?, "seeded", PathBuf::new())?;
    if after("// EXPECT: ")? == "no report" {
        return match report(&case)? {
            Some(report) => Err(format!("false report: {report}").into()),
            None => Ok(()),
        };
    }
    let expect = after("// EXPECT: line ")?;
    let (line, parts) = expect.split_once(": ").ok_or("no line in EXPECT")?;
    let report = report(&case)?.ok_or(format!("no report; expected line {expect}"))?;
    let file = path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
    if !report.contains(&format!("{file}:{line}: ")) {
        return Err(format!("expected line {line}: {report}").into());
    }
    for part in parts.split(';').map(str::trim) {
        let part = part.strip_prefix("line ").map_or_else(|| part.to_string(), |n| format!("{file}:{n}"));
        if !report.contains(&part) {
            return Err(format!("expected `{part}`: {report}").into());
        }
    }
    if !report.contains("in kernel `k`, work-item global (") {
        return Err(format!("no work-item: {report}").into());
    }
    Ok(())
}

fn clean(path: &Path) -> Result<(), Failed> {
    match report(&Case::read(path)?)? {
        Some(report) => Err(format!("false report: {report}").into()),
        None => Ok(()),
    }
}

fn entries(folder: &str) -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let mut result: Vec<PathBuf> = std::fs::read_dir(root).into_iter().flatten().flatten().map(|e| e.path()).collect();
    result.sort();
    result
}

fn main() {
    let arguments = Arguments::from_args();
    let mut trials = Vec::new();
    let name = |p: &Path| p.file_stem().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
    for path in entries("tests/seeded").into_iter().filter(|p| p.extension().is_some_and(|e| e == "cl")) {
        trials.push(Trial::test(format!("seeded/{}", name(&path)), move || seeded(&path)));
    }
    let defect = |p: &PathBuf| std::fs::read_to_string(p).is_ok_and(|t| t.contains("// EXPECT: line "));
    let count = entries("tests/seeded").iter().filter(|p| defect(p)).count();
    trials.push(Trial::test("seeded/at-least-40", move || {
        if count >= 40 { Ok(()) } else { Err(format!("{count} seeded kernels").into()) }
    }));
    for path in entries("test-kernels") {
        let case = path.join("case.json");
        if case.is_file() {
            trials.push(Trial::test(format!("clean/{}", name(&path)), move || clean(&case)));
        }
    }
    libtest_mimic::run(&arguments, trials).exit();
}
