//! `bench compile`: compile times against clang alone and against llc's AMDGPU back end on the same
//! IR.
//!
//! Each figure is the median of several runs; ratios are within one run of the benchmark.
//! `clang_ms` is the clang that Heddle itself runs, with the same options but without the built-in
//! library. Heddle's back-end time is what it reports for selection, code generation and object
//! writing; llc's is its whole process less the time it takes on an empty module.
//!
//! Beside times, the size of the code: static instructions of a source's kernels over those of llc's
//! assembly, what it inserts to wait (`s_waitcnt`) included, the padding behind kernels left out.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::Instant;

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;

use super::kernels::{Kernel, number};
use super::report::{NotCompared, Report, Table};
use super::{Progress, Setup, geomean, largest, median};
use crate::shell::find;

/// How often each compiler runs on a kernel.
const RUNS: usize = 5;
/// Kernels that the table shows of those with most instructions against llc's.
const WORST: usize = 15;

/// Seconds of a process that must succeed.
fn time(command: &mut Command) -> Result<f64> {
    let start = Instant::now();
    let output = command.output().with_context(|| format!("cannot run {:?}", command.get_program()))?;
    let seconds = start.elapsed().as_secs_f64();
    if !output.status.success() {
        bail!("{:?}: {}", command.get_program(), String::from_utf8_lossy(&output.stderr));
    }
    Ok(seconds)
}

fn median_time(runs: usize, mut make: impl FnMut() -> Command) -> Result<f64> {
    let times: Result<Vec<f64>> = (0..runs).map(|_| time(&mut make())).collect();
    Ok(median(times?))
}

pub fn run(setup: &Setup, report: &mut Report) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let (folder, runs) = (folder.path(), setup.times(RUNS));
    let llc = Llc::find();
    let base = match &llc {
        Some(llc) => llc.empty(folder, runs)?,
        None => 0.0,
    };
    let (mut backend_ratios, mut total_ratios, mut refused) = (Vec::new(), Vec::new(), Vec::new());
    let mut sizes = Vec::new();
    let kernels = setup.kernels()?;
    let progress = Progress::new(kernels.len());
    for kernel in &kernels {
        let object = folder.join("k.o");
        let build = || {
            let mut command = kernel.build(&setup.heddle);
            command.arg("-o").arg(&object);
            command
        };
        let total = median_time(runs, build)?;
        let backend = (0..runs).map(|_| backend_seconds(build().arg("--time"))).collect::<Result<Vec<f64>>>()?;
        let backend = median(backend);
        let words = clang_words(build().arg("-v"), folder)?;
        let front = median_time(runs, || clang(&words))?;
        let entry = report.kernels.entry(kernel.name.clone()).or_default();
        entry.insert("heddle_ms".into(), total * 1e3);
        entry.insert("backend_ms".into(), backend * 1e3);
        entry.insert("clang_ms".into(), front * 1e3);
        total_ratios.push(total / front);
        if let Some(llc) = &llc {
            let file = llc.input(kernel, &setup.heddle, folder)?;
            match median_time(runs, || llc.object(&file, folder)) {
                Ok(t) => {
                    let llc_time = (t - base).max(1e-4);
                    entry.insert("llc_ms".into(), llc_time * 1e3);
                    backend_ratios.push(backend / llc_time);
                    let here = instructions(&kernel.text(&setup.heddle, &["--emit", "asm", "--no-versions"])?);
                    let there = instructions(&llc.text(&file)?);
                    entry.insert("instructions".into(), here);
                    entry.insert("llc_instructions".into(), there);
                    sizes.push(Size { kernel: kernel.name.clone(), here, there });
                }
                Err(e) => refused.push((kernel.name.clone(), Llc::reason(&e.to_string()))),
            }
        }
        progress.step();
    }
    if !backend_ratios.is_empty() {
        report.figure("backend_over_llc.max", largest(&backend_ratios));
        report.figure("backend_over_llc.median", median(backend_ratios));
    }
    report.figure("total_over_clang.median", median(total_ratios));
    large(setup, report, folder)?;
    static_figures(report, &sizes);
    report.figures_table();
    static_table(report, sizes);
    report.notes.extend(Llc::note(kernels.len(), &refused));
    if llc.is_none() {
        let (what, why) = ("the back end's time".to_string(), "llc-19 is not installed".to_string());
        report.not_compared.push(NotCompared { peer: "LLVM's AMDGPU back end", what, why });
    }
    Ok(())
}

/// Static instructions of a source's kernels, and of what llc makes of them.
struct Size {
    kernel: String,
    here: f64,
    there: f64,
}

impl Size {
    fn ratio(&self) -> f64 {
        self.here / self.there
    }
}

fn static_figures(report: &mut Report, sizes: &[Size]) {
    if sizes.is_empty() {
        return;
    }
    let ratios: Vec<f64> = sizes.iter().map(Size::ratio).collect();
    let above = ratios.iter().filter(|r| **r > 1.0).count() as f64 / ratios.len() as f64;
    report.figure("static_over_llc.geomean", geomean(&ratios));
    report.figure("static_over_llc.max", largest(&ratios));
    report.figure("static_over_llc.above_one", above);
}

/// The kernels with most instructions against llc's.
fn static_table(report: &mut Report, mut sizes: Vec<Size>) {
    if sizes.is_empty() {
        return;
    }
    sizes.sort_by(|a, b| b.ratio().total_cmp(&a.ratio()));
    let mut table = Table::new(["kernel", "static instructions", "llc's", "ratio"]);
    for size in sizes.iter().take(WORST) {
        let cells = [format!("{:.0}", size.here), format!("{:.0}", size.there), format!("{:.3}", size.ratio())];
        table.row([format!("`{}`", size.kernel)].into_iter().chain(cells));
    }
    report.tables.push(table);
}

/// Lines of assembly that are instructions, Heddle's or LLVM's. `s_code_end` is padding.
fn instructions(assembly: &str) -> f64 {
    let code = assembly.lines().map(|line| line.split(';').next().unwrap_or("").trim());
    code.filter(|l| !l.is_empty() && !l.ends_with(':') && !l.starts_with('.') && !l.starts_with("s_code_end")).count() as f64
}

/// Seconds in the back end, as `heddle build --time` says.
fn backend_seconds(command: &mut Command) -> Result<f64> {
    let output = command.output().context("cannot run heddle")?;
    let text = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "heddle build --time: {text}");
    let line = text.lines().rev().find(|l| l.starts_with('{')).context("no times from heddle")?;
    let times: Value = serde_json::from_str(line)?;
    let sum: f64 = ["selection", "code generation", "object"].iter().map(|part| number(&times, part)).sum();
    ensure!(sum.is_finite(), "heddle build --time names its stages otherwise: {line}");
    Ok(sum)
}

/// The command line of the clang that Heddle runs, as `heddle build -v` says it, without the
/// built-in library and with the passes, which Heddle runs by itself.
fn clang_words(command: &mut Command, folder: &Path) -> Result<Vec<String>> {
    let output = command.output().context("cannot run heddle")?;
    let text = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "heddle build -v: {text}");
    let said = text.lines().map(quoted_words).find(|words| words.iter().any(|w| w == "-emit-llvm"));
    let mut words = said.context("heddle build -v shows no command of clang's")?;
    // A kernel that calls nothing of the library is compiled without it. Else the words are
    // `-Xclang -mlink-builtin-bitcode -Xclang FILE`.
    if let Some(library) = words.iter().position(|w| w == "-mlink-builtin-bitcode") {
        words.drain(library - 1..library + 3);
    }
    for own in ["-disable-llvm-passes", "-emit-llvm-uselists"] {
        let at = words.iter().position(|w| w == own).with_context(|| format!("clang is not told {own}"))?;
        words.drain(at - 1..=at);
    }
    let out = words.iter().position(|w| w == "-o").context("clang is told no output")?;
    words[out + 1] = folder.join("k.bc").display().to_string();
    Ok(words)
}

fn clang(words: &[String]) -> Command {
    let mut command = Command::new(&words[0]);
    command.args(&words[1..]);
    command
}

/// The words of a command as Rust shows it: each in quotes, quotes and backslashes in it escaped.
fn quoted_words(line: &str) -> Vec<String> {
    let (mut words, mut characters) = (Vec::new(), line.chars());
    while characters.by_ref().any(|c| c == '"') {
        let mut word = String::new();
        while let Some(c) = characters.next().filter(|c| *c != '"') {
            word.extend(if c == '\\' { characters.next() } else { Some(c) });
        }
        words.push(word);
    }
    words
}

/// LLVM's AMDGPU back end.
pub struct Llc(PathBuf);

impl Llc {
    /// The installed one.
    pub fn find() -> Option<Llc> {
        find("llc-19").map(Llc)
    }

    fn command(&self) -> Command {
        let mut command = Command::new(&self.0);
        command.args(["-mtriple=amdgcn", "-mcpu=gfx1030", "-O2"]);
        command
    }

    /// Compiles to an object.
    fn object(&self, input: &Path, folder: &Path) -> Command {
        let mut command = self.command();
        command.args(["-filetype=obj", "-o"]).arg(folder.join("out.o")).arg(input);
        command
    }

    /// Seconds on an empty module.
    fn empty(&self, folder: &Path, runs: usize) -> Result<f64> {
        let file = folder.join("empty.ll");
        std::fs::write(&file, "")?;
        median_time(runs, || self.object(&file, folder))
    }

    /// Writes what Heddle's selection gets of a kernel, for the other target.
    fn input(&self, kernel: &Kernel, heddle: &Path, folder: &Path) -> Result<PathBuf> {
        let file = folder.join(format!("{}.ll", kernel.name));
        std::fs::write(&file, for_amdgpu(&kernel.text(heddle, &["--emit", "ir"])?))?;
        Ok(file)
    }

    /// Its assembly of a kernel, or why it refuses.
    pub fn assembly(&self, kernel: &Kernel, heddle: &Path, folder: &Path) -> Result<std::result::Result<String, String>> {
        let output = self.to_standard_output(&self.input(kernel, heddle, folder)?)?;
        if !output.status.success() {
            return Ok(Err(Llc::reason(&String::from_utf8_lossy(&output.stderr))));
        }
        Ok(Ok(String::from_utf8(output.stdout)?))
    }

    fn to_standard_output(&self, input: &Path) -> Result<Output> {
        self.command().args(["-o", "-"]).arg(input).output().context("cannot run llc")
    }

    /// Its assembly of what it is known to compile.
    fn text(&self, input: &Path) -> Result<String> {
        let output = self.to_standard_output(input)?;
        ensure!(output.status.success(), "llc: {}", String::from_utf8_lossy(&output.stderr));
        Ok(String::from_utf8(output.stdout)?)
    }

    /// The line of its errors that says why.
    fn reason(errors: &str) -> String {
        let line = errors.lines().find_map(|l| l.split_once("error: ").or_else(|| l.split_once("ERROR: ")));
        let reason = line.map_or("it stopped", |(_, reason)| reason);
        // Addresses of its data structures differ from run to run.
        reason.split_whitespace().filter(|w| !w.starts_with("0x")).collect::<Vec<_>>().join(" ")
    }

    /// What to say of the kernels that it refuses.
    pub fn note(all: usize, refused: &[(String, String)]) -> Option<String> {
        let reasons: Vec<String> = refused.iter().map(|(name, reason)| format!("`{name}` ({reason})")).collect();
        let compared = all - refused.len();
        (!refused.is_empty()).then(|| format!("llc compiles {compared} of {all} kernels; it refuses {}.", reasons.join(", ")))
    }
}

/// IR for another target: its triple, no data layout, its kernel calling convention, under which
/// structures come by reference.
fn for_amdgpu(ir: &str) -> String {
    let lines = ir.lines().filter(|l| !l.starts_with("target "));
    let feature = |l: &str| match (l.find("\"target-features\"=\""), l.starts_with("attributes ")) {
        (Some(at), true) => {
            let rest = &l[at + "\"target-features\"=\"".len()..];
            format!("{}{}", &l[..at], rest.split_once('"').map_or("", |(_, after)| after))
        }
        _ => l.to_string(),
    };
    lines.map(|l| feature(l).replace("spir_kernel", "amdgpu_kernel").replace(" byval(", " byref(")).collect::<Vec<_>>().join("\n")
}

/// Compile time of generated functions: 100,000 instructions in one block, and 10,000 blocks. The
/// small form has a hundredth.
pub fn large(setup: &Setup, report: &mut Report, folder: &Path) -> Result<()> {
    let (instructions, diamonds, loads) = if setup.smoke { (1_000, 33, 10) } else { (100_000, 3_333, 1_000) };
    let texts = [
        ("instructions_100000", straight(instructions)),
        ("blocks_10000", branches(diamonds)),
        ("loads_in_loop_1000", unrolled(loads)),
    ];
    for (name, text) in texts {
        let file = folder.join(format!("{name}.ll"));
        std::fs::write(&file, text)?;
        let mut command = Command::new(&setup.heddle);
        command.arg("build").arg(&file).arg("-o").arg(folder.join("large.o"));
        report.figure(format!("large_seconds.{name}"), time(&mut command)?);
    }
    Ok(())
}

/// A kernel of one block.
fn straight(instructions: usize) -> String {
    let mut text = String::from(
        "define spir_kernel void @k(ptr addrspace(1) %p, i32 %n) {\n\
         \x20 %a0 = load i32, ptr addrspace(1) %p\n  %a1 = xor i32 %a0, %n\n",
    );
    for i in 2..instructions {
        let (operation, other) = (["add", "xor", "mul", "sub"][i % 4], i - 2 - (i * 7) % 20.min(i - 1));
        text += &format!("  %a{i} = {operation} i32 %a{}, %a{other}\n", i - 1);
    }
    text + &format!("  store i32 %a{}, ptr addrspace(1) %p\n  ret void\n}}\n", instructions - 1)
}

/// A kernel of so many conditional blocks, one after the other.
fn branches(diamonds: usize) -> String {
    let mut text = String::from(
        "define spir_kernel void @k(ptr addrspace(1) %p, i32 %n) {\n\
         entry:\n  %v = load i32, ptr addrspace(1) %p\n  br label %b0\n",
    );
    for i in 0..diamonds {
        let before = if i == 0 { "%v".to_string() } else { format!("%x{}", i - 1) };
        let from = if i == 0 { "entry".to_string() } else { format!("j{}", i - 1) };
        let next = if i + 1 == diamonds { "end".to_string() } else { format!("b{}", i + 1) };
        text += &format!("b{i}:\n  %y{i} = phi i32 [ {before}, %{from} ]\n  %c{i} = icmp slt i32 %y{i}, {i}\n");
        text += &format!("  br i1 %c{i}, label %t{i}, label %j{i}\n");
        text += &format!("t{i}:\n  %m{i} = mul i32 %y{i}, {}\n  store i32 %m{i}, ptr addrspace(1) %p\n  br label %j{i}\n", i + 3);
        text += &format!("j{i}:\n  %x{i} = phi i32 [ %y{i}, %b{i} ], [ %m{i}, %t{i} ]\n  br label %{next}\n");
    }
    text + &format!("end:\n  store i32 %x{}, ptr addrspace(1) %p\n  ret void\n}}\n", diamonds - 1)
}

/// A loop of so many loads from a stream that moves on by what the launch says, as unrolling makes it.
fn unrolled(loads: usize) -> String {
    let mut text = String::from(
        "define spir_kernel void @k(ptr addrspace(1) %p, i64 %step, i32 %n) {\n\
         entry:\n  br label %loop\nloop:\n\
         \x20 %i = phi i64 [ 0, %entry ], [ %next, %loop ]\n  %a0 = phi i32 [ 0, %entry ], [ %sum, %loop ]\n\
         \x20 %from = mul i64 %i, %step\n  %row = getelementptr i8, ptr addrspace(1) %p, i64 %from\n",
    );
    for i in 0..loads {
        text += &format!("  %p{i} = getelementptr i8, ptr addrspace(1) %row, i64 {}\n", 12 * i);
        text += &format!("  %v{i} = load i32, ptr addrspace(1) %p{i}\n  %a{} = add i32 %a{i}, %v{i}\n", i + 1);
    }
    text += &format!("  %sum = add i32 %a{loads}, 1\n  %next = add i64 %i, 1\n  %at = trunc i64 %next to i32\n");
    text += "  %more = icmp slt i32 %at, %n\n  br i1 %more, label %loop, label %end\n";
    text + "end:\n  store i32 %sum, ptr addrspace(1) %p\n  ret void\n}\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_read_as_rust_shows_it() {
        let mut command = Command::new("clang");
        command.args(["-DTEXT=\"a b\"", "c\\d", ""]);
        assert_eq!(quoted_words(&format!("{command:?}")), ["clang", "-DTEXT=\"a b\"", "c\\d", ""]);
    }

    #[test]
    fn ir_is_made_fit_for_the_other_target() {
        let ir = "target triple = \"nvptx64--\"\ndefine spir_kernel void @k(ptr noundef byval(%s) align 4 %x) #0 {\n\
                  attributes #0 = { nounwind \"target-features\"=\"+ptx42\" \"x\"=\"y\" }";
        let expected = "define amdgpu_kernel void @k(ptr noundef byref(%s) align 4 %x) #0 {\n\
                        attributes #0 = { nounwind  \"x\"=\"y\" }";
        assert_eq!(for_amdgpu(ir), expected);
    }

    #[test]
    fn instructions_are_counted_without_labels_directives_and_padding() {
        let heddle = ".object {}\n.kernel {\"name\":\"k\"}\n  add.b32 s0, c[0x8], 1 !0:1:2\nL1:\n  exit !0:2:1\n";
        assert_eq!(instructions(heddle), 2.0);
        let llc = "\t.text\nk:  ; @k\n; %bb.0:\n\ts_waitcnt vmcnt(0) ; wait\n\ts_endpgm\n\ts_code_end\n.Lend:\n\t.p2align 8\n";
        assert_eq!(instructions(llc), 2.0);
    }

    #[test]
    fn what_llc_refuses_is_said_with_its_reason() {
        assert_eq!(Llc::note(3, &[]), None);
        let reason = Llc::reason("a warning\nLLVM ERROR: Cannot select: 0x5624712a2d90: i64 = FrameIndex<0>\nmore");
        assert_eq!(reason, "Cannot select: i64 = FrameIndex<0>");
        let note = Llc::note(3, &[("language".into(), reason)]);
        let said = "llc compiles 2 of 3 kernels; it refuses `language` (Cannot select: i64 = FrameIndex<0>).";
        assert_eq!(note.as_deref(), Some(said));
    }
}
