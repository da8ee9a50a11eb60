//! Our uniformity verdicts against LLVM's, value by value, over all test kernels.
//!
//! LLVM has no uniformity for Heddle's target, so the IR is given to its AMDGPU one with the same meaning: kernels become `amdgpu_kernel`, uniform work-item
//! queries become loads from constant memory (uniform there), the varying ones stay unknown calls (divergent there). Private memory has
//! address space 0, which is AMDGPU's flat space, whose loads it calls divergent, as ours are.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use rayon::prelude::*;

/// Function and value name.
type Name = (String, String);

fn opt() -> PathBuf {
    let places = ["/usr/lib/llvm-19/bin/opt", "/usr/lib/llvm19/bin/opt", "/opt/homebrew/opt/llvm@19/bin/opt"];
    places.iter().map(PathBuf::from).find(|p| p.is_file()).unwrap_or_else(|| "opt-19".into())
}

fn output(command: &mut Command, input: &str) -> (String, String) {
    use std::io::Write;
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut pipe = child.stdin.take().unwrap();
    let text = input.to_string();
    let writer = std::thread::spawn(move || pipe.write_all(text.as_bytes()));
    let out = child.wait_with_output().unwrap();
    let _closed_early = writer.join().unwrap();
    let (stdout, stderr) = (String::from_utf8_lossy(&out.stdout).into_owned(), String::from_utf8_lossy(&out.stderr).into_owned());
    assert!(out.status.success(), "{command:?}: {stderr}");
    (stdout, stderr)
}

fn heddle() -> Command {
    Command::new(env!("CARGO_BIN_EXE_heddle"))
}

/// Our verdicts with their explanations.
fn ours(ir: &str) -> BTreeMap<Name, String> {
    let (text, _) = output(heddle().args(["opt", "--passes=print<uniformity>", "--disable-output", "-"]), ir);
    let mut function = String::new();
    let mut result = BTreeMap::new();
    for line in text.lines() {
        if let Some(name) = line.strip_prefix("uniformity of '") {
            function = name.trim_end_matches("':").into();
        } else if let Some((verdict, value)) = line.split_once(": %") {
            let name = value.split(" = ").next().unwrap_or_default();
            result.insert((function.clone(), name.into()), verdict.trim().to_string());
        }
    }
    result
}

/// The same program for AMDGPU.
fn for_amdgpu(ir: &str) -> String {
    const UNIFORM: &[&str] = &[
        "get_group_id",
        "get_global_size",
        "get_local_size",
        "get_enqueued_local_size",
        "get_num_groups",
        "get_global_offset",
        "get_work_dim",
    ];
    let mut out = String::new();
    for line in ir.lines().filter(|l| !l.starts_with("target ")) {
        // Kernels of AMDGPU take structures by reference.
        let line = line.replace("spir_kernel", "amdgpu_kernel").replace("spir_func ", "").replace("byval(", "byref(");
        let query = UNIFORM.iter().any(|q| line.contains(&format!("{q}j(")) || line.contains(&format!("{q}v(")))
            || line.contains("@__heddle_warp");
        match line.split_once(" = ") {
            Some((name, call)) if query && call.contains("call") => {
                let ty = if call.contains(" i64 @") { "i64" } else { "i32" };
                out += &format!("{name} = load {ty}, ptr addrspace(4) @uniform.{ty}\n");
            }
            _ => {
                out += &line;
                out.push('\n');
            }
        }
    }
    out + "@uniform.i64 = external addrspace(4) global i64\n@uniform.i32 = external addrspace(4) global i32\n"
}

/// The values LLVM calls divergent.
fn llvm(ir: &str) -> BTreeSet<Name> {
    let mut command = Command::new(opt());
    command.args(["-mtriple=amdgcn", "-mcpu=gfx1030", "-passes=print<uniformity>", "-disable-output", "-"]);
    let (_, text) = output(&mut command, &for_amdgpu(ir));
    let mut function = String::new();
    let mut result = BTreeSet::new();
    for line in text.lines() {
        if let Some(name) = line.strip_prefix("UniformityInfo for function '") {
            function = name.trim_end_matches("':").into();
        } else if let Some((mark, value)) = line.split_once('%') {
            let is_definition = mark.trim() == "DIVERGENT:" && value.contains(" = ");
            if is_definition {
                result.insert((function.clone(), value.split(" = ").next().unwrap_or_default().into()));
            }
        }
    }
    result
}

/// What Heddle knows and LLVM does not, with the values that rest on it directly; everything computed from them differs too.
fn explained(line: &str, required: bool) -> Option<&'static str> {
    if required && (line.contains("get_local_id") || line.contains("get_global_id")) {
        return Some("reqd_work_group_size: a dimension of the work-group is 1 wide, or the ones before it fill whole warps");
    }
    if line.contains("load") && line.contains("ptr %") {
        return Some("a by-value structure argument lies in constant memory; AMDGPU sees a flat pointer");
    }
    if line.contains("get_image_") {
        return Some("an image's shape is the same for all work-items; for LLVM it is an unknown call");
    }
    if line.contains("__heddle_ballot") {
        return Some("what a ballot says is the same in all active lanes; for LLVM it is an unknown call");
    }
    if line.contains("__translate_sampler_initializer") {
        return Some("a sampler that the program writes is the same for all work-items; for LLVM it is an unknown call");
    }
    None
}

/// How often which verdict was given.
#[derive(Default)]
struct Verdicts {
    compared: usize,
    /// Varying here and for LLVM.
    both: usize,
    /// Varying here and uniform for LLVM.
    stricter: usize,
    /// A line for each value that varies for LLVM alone.
    precise: Vec<String>,
}

/// Compares the verdicts on a test kernel; nothing if its source is not OpenCL C.
fn compare(folder: &Path) -> Verdicts {
    let mut verdicts = Verdicts::default();
    let source = folder.join("kernel.cl");
    if !source.is_file() {
        return verdicts;
    }
    let case: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(folder.join("case.json")).unwrap()).unwrap();
    let options: Vec<String> =
        case["options"].as_array().into_iter().flatten().filter_map(|o| o.as_str().map(String::from)).collect();
    let (ir, _) = output(heddle().args(["build", "--emit=ir", "-o", "-", "-I"]).arg(folder).args(options).arg(&source), "");
    let (ir, _) = output(heddle().args(["opt", "--passes=function(instnamer)", "-"]), &ir);
    let (ours, divergent) = (ours(&ir), llvm(&ir));
    assert!(!ours.is_empty(), "no verdicts for {}", source.display());
    let required = ir.contains("reqd_work_group_size");
    let lines: BTreeMap<&str, &str> = ir.lines().filter_map(|l| l.trim().strip_prefix('%')?.split_once(" = ")).collect();
    for ((function, name), verdict) in &ours {
        verdicts.compared += 1;
        let key = (function.clone(), name.clone());
        let varies = verdict.starts_with("varying");
        match (varies, divergent.contains(&key)) {
            (true, false) => verdicts.stricter += 1,
            (false, true) => {
                let text = lines.get(name.as_str()).copied().unwrap_or_default();
                // Either a source that Heddle knows better, or computed from such values only.
                let from_precise = text.split('%').skip(1).any(|o| {
                    let operand: String = o.chars().take_while(|c| c.is_alphanumeric() || "._-".contains(*c)).collect();
                    let k = (function.clone(), operand);
                    divergent.contains(&k) && ours.get(&k).is_some_and(|v| !v.starts_with("varying"))
                });
                let why = explained(text, required).or(from_precise.then_some("computed from such a value"));
                let why = why.unwrap_or_else(|| {
                    panic!("{}: %{name} in {function} is {verdict} here and divergent for LLVM: {text}", source.display())
                });
                verdicts.precise.push(format!("{}: %{name}: {why}", source.display()));
            }
            (true, true) => verdicts.both += 1,
            (false, false) => {}
        }
    }
    verdicts
}

#[test]
fn verdicts_agree_with_llvm() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("test-kernels");
    let folders: Vec<PathBuf> = std::fs::read_dir(root).unwrap().map(|entry| entry.unwrap().path()).collect();
    let all: Vec<Verdicts> = folders.par_iter().map(|f| compare(f)).collect();
    let sum = |count: fn(&Verdicts) -> usize| -> usize { all.iter().map(count).sum() };
    let (compared, both, stricter) = (sum(|v| v.compared), sum(|v| v.both), sum(|v| v.stricter));
    all.iter().flat_map(|v| &v.precise).for_each(|p| println!("more precise: {p}"));
    println!(
        "{compared} values compared, {both} varying for both, {stricter} varying here and uniform for LLVM, {} the other way round",
        sum(|v| v.precise.len())
    );
    assert!(compared > 1000 && both > 500, "only {compared} values compared, {both} varying for both");
}
