//! `heddle sweep`, `compare` and `ablate`: kills and resumption, parts and their collection, points that fail, agreement with `heddle run`.

mod browser;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use assert_cmd::Command;
use predicates::prelude::*;
use predicates::str::contains;
use serde_json::Value;

fn heddle() -> Command {
    let mut c = Command::cargo_bin("heddle").unwrap();
    c.current_dir(env!("CARGO_MANIFEST_DIR"));
    c
}

/// Work for a few milliseconds, with barriers, divergence and memory.
const KERNEL: &str = "__kernel void work(__global const float *in, __global float *out, int rounds) {
    __local float tile[64];
    int i = get_global_id(0), l = get_local_id(0);
    float x = in[i];
    for (int r = 0; r < rounds; r++) {
        tile[l] = x;
        barrier(CLK_LOCAL_MEM_FENCE);
        x = tile[(l * 7 + r) & 63] * 0.5f + in[(i * 33 + r) & 1023];
        if (i & 1) x += 1.0f;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    out[i] = x;
}";

const CASE: &str = r#"{"source": "kernel.cl", "buffers": {"in": {"random": [1024], "seed": 3}, "out": {"zeros": [1024]}},
    "launches": [{"kernel": "work", "global": [1024], "local": [64], "args": [{"buffer": "in"}, {"buffer": "out"}, {"i32": 12}]}]}"#;

/// 2 x 5 x 5 x 2 x 2 = 200 points.
const SWEEP: &str = "cases = ['case.json']
minimise = ['cycles', 'energy_pj']
maximise = ['occupancy']
[axes]
warp-size = [16, 32]
sm.count = { from = 1, to = 5 }
sm.max-warps = [4, 8, 16, 24, 48]
regfile = ['multilevel', 'single']
scalar-threshold = [0, 4]
";

fn sweep_in(folder: &Path, kernel: &str, case: &str, sweep: &str) -> PathBuf {
    fs::write(folder.join("kernel.cl"), kernel).unwrap();
    fs::write(folder.join("case.json"), case).unwrap();
    let path = folder.join("small.toml");
    fs::write(&path, sweep).unwrap();
    path
}

const RESULTS: [&str; 4] = ["results.parquet", "results.csv", "results.jsonl", "pareto.html"];

fn results(folder: &Path) -> Vec<Vec<u8>> {
    RESULTS.iter().map(|f| fs::read(folder.join(f)).unwrap_or_else(|e| panic!("{f}: {e}"))).collect()
}

fn json_lines(path: &Path) -> Vec<Value> {
    fs::read_to_string(path).unwrap().lines().map(|l| serde_json::from_str(l).unwrap()).collect()
}

/// Whole lines of a file that may not exist yet.
fn lines(path: &Path) -> usize {
    fs::read(path).map_or(0, |b| b.iter().filter(|c| **c == b'\n').count())
}

/// Waits until the journal has this many points, and kills the process as the system would.
fn kill_at(mut child: Child, journal: &Path, points: usize) {
    let started = Instant::now();
    while lines(journal) < points + 1 {
        assert!(child.try_wait().unwrap().is_none(), "ended before it could be killed");
        assert!(started.elapsed() < Duration::from_secs(600), "too slow");
        std::thread::sleep(Duration::from_millis(1));
    }
    child.kill().unwrap();
    assert!(!child.wait().unwrap().success(), "killed while it ran");
}

#[test]
fn killed_twice_in_parts_or_at_once_a_sweep_gives_the_same_files() {
    let folder = tempfile::tempdir().unwrap();
    let sweep = sweep_in(folder.path(), KERNEL, CASE, SWEEP);
    let at = |name: &str| folder.path().join(name);
    // Without a stop, on all cores.
    let whole = at("whole");
    heddle().arg("sweep").arg(&sweep).arg("--out").arg(&whole).assert().success().stdout(contains("200 points"));
    let expected = results(&whole);

    // Killed twice.
    let killed = at("killed");
    let journal = killed.join("journal.jsonl");
    for points in [40, 120] {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_heddle"));
        command.arg("sweep").arg(&sweep).arg("--out").arg(&killed).args(["--threads", "1"]);
        let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        kill_at(child, &journal, points);
        let done = lines(&journal) - 1;
        assert!((points..200).contains(&done), "{done} points after a kill");
        assert!(!killed.join("results.csv").exists());
        // As if the kill had come in the middle of a line.
        let torn = [fs::read(&journal).unwrap(), b"{\"id\":\"0123".to_vec()].concat();
        fs::write(&journal, torn).unwrap();
    }
    heddle().arg("sweep").arg(&sweep).arg("--out").arg(&killed).assert().success().stderr(contains("points are in"));
    assert!(results(&killed) == expected, "other bytes after two kills");
    // No point was lost, none ran twice.
    let ids: Vec<String> = json_lines(&journal)[1..].iter().map(|e| e["id"].as_str().unwrap().to_string()).collect();
    assert_eq!((ids.len(), ids.iter().collect::<BTreeSet<_>>().len()), (200, 200));

    // In parts, by several processes at once, one of them missing at first.
    let parts = at("parts");
    let part = |range: &str| {
        let mut c = heddle();
        c.arg("sweep").arg(&sweep).args(["--points", range, "--out"]).arg(&parts);
        c
    };
    std::thread::scope(|s| {
        for range in ["1-70", "91-200"] {
            s.spawn(move || part(range).assert().success());
        }
    });
    heddle()
        .arg("sweep")
        .arg(&sweep)
        .arg("--collect")
        .arg(&parts)
        .assert()
        .code(1)
        .stderr(contains("20 of 200 points are missing in 2 journals").and(contains("--points 71-90")));
    part("71-90").assert().success();
    heddle().arg("sweep").arg(&sweep).arg("--collect").arg(&parts).assert().success();
    assert!(results(&parts) == expected, "other bytes from parts");

    // The rows are those of `heddle run`.
    let rows = json_lines(&whole.join("results.jsonl"));
    assert_eq!(rows.len(), 200);
    for row in [&rows[0], &rows[87], &rows[199]] {
        let set = |field: &str| format!("--set={field}={}", row[field]);
        let run = heddle()
            .arg("run")
            .arg(at("case.json"))
            .args(["--json", "-", &set("warp-size"), &set("sm.count"), &set("sm.max-warps")])
            .arg(format!("--regfile={}", row["regfile"].as_str().unwrap()))
            .arg(format!("--scalar-threshold={}", row["scalar-threshold"]))
            .assert()
            .success();
        let run: Value = serde_json::from_slice(&run.get_output().stdout).unwrap();
        let total = &run["total"];
        assert_eq!(row["cycles"], total["timing"]["cycles"]);
        assert_eq!(row["instructions"], total["instructions"]);
        assert_eq!(row["timing.hierarchy.l2.reads"], total["timing"]["hierarchy"]["l2"]["reads"]);
        assert_eq!(row["energy_pj.static"], total["energy_pj"]["static"]);
    }

    // A larger sweep runs only what is new; a journal of another sweep is not merged.
    fs::write(&sweep, SWEEP.replace("to = 5", "to = 6")).unwrap();
    heddle().arg("sweep").arg(&sweep).arg("--out").arg(&killed).assert().success().stderr(contains("40 points run"));
    heddle().arg("sweep").arg(&sweep).arg("--collect").arg(&parts).assert().code(2).stderr(contains("belongs to another sweep"));

    // Sweeps are compared point by point.
    let file = |f: &Path| f.join("results.jsonl");
    heddle()
        .arg("compare")
        .args([file(&whole), file(&killed)])
        .args(["--fail-if-any", "cycles>1"])
        .assert()
        .code(1)
        .stderr(contains("without partner"));
    heddle()
        .arg("compare")
        .args([file(&whole), file(&parts)])
        .args(["--fail-if-any", "cycles>1", "--fail-if", "energy_pj<1"])
        .assert()
        .success()
        .stdout(contains("mean of 200"));
}

#[test]
fn points_that_fail_are_results_and_the_rest_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    // Writes out of bounds with OUT, does not compile with BAD, is wrong with WRONG.
    let kernel = "
#ifdef BAD
#error bad
#endif
#ifndef OUT
#define OUT 0
#endif
#ifndef WRONG
#define WRONG 0
#endif
__kernel void k(__global int *a) { int i = get_global_id(0); a[i + OUT] = WRONG; }";
    let case = r#"{"source": "kernel.cl", "buffers": {"a": {"zeros": [64], "dtype": "int32", "expect": "a.npy"}},
        "launches": [{"kernel": "k", "global": [64], "local": [64], "args": [{"buffer": "a"}]}]}"#;
    let sweep = "cases = ['case.json']\n[axes]\nsource-options = ['', '-DBAD', '-DOUT=1000000', '-DWRONG=3']\nsm.max-work-group-size = [32, 64]\n";
    let sweep = sweep_in(folder.path(), kernel, case, sweep);
    heddle::runtime::array::Array::zeros(heddle::runtime::array::DType::Int32, vec![64])
        .write(&folder.path().join("a.npy"))
        .unwrap();
    let out = folder.path().join("out");
    let run = || {
        let mut c = heddle();
        c.arg("sweep").arg(&sweep).arg("--out").arg(&out).args(["--format", "jsonl"]);
        c
    };
    let failures = "1 mismatch, 1 fault, 3 refused, 2 not-compiled";
    run().assert().code(1).stderr(contains(failures));
    let rows = json_lines(&out.join("results.jsonl"));
    let status: Vec<&str> = rows.iter().map(|r| r["status"].as_str().unwrap()).collect();
    // The axes are in order of their names: the last, source-options, changes fastest.
    assert_eq!(status, ["refused", "not-compiled", "refused", "refused", "passed", "not-compiled", "fault", "mismatch"]);
    assert!(rows[6]["error"].as_str().unwrap().contains("out of bounds"), "{}", rows[6]["error"]);
    assert!(rows[7]["error"].as_str().unwrap().contains("3 instead of 0"));
    assert!(rows[0]["cycles"].is_null() && rows[4]["cycles"].as_u64().unwrap() > 0);
    assert!(!out.join("results.csv").exists());
    // Failed points are finished points.
    run().assert().code(1).stderr(contains("0 points run").and(contains(failures)));
    assert!(fs::read_to_string(out.join("pareto.html")).unwrap().contains("1 of 1 configurations"));
}

#[test]
fn mistakes_end_before_anything_runs() {
    let folder = tempfile::tempdir().unwrap();
    let sweep = sweep_in(folder.path(), KERNEL, CASE, &SWEEP.replace("sm.count", "sm.cuont"));
    let out = folder.path().join("out");
    heddle()
        .arg("sweep")
        .arg(&sweep)
        .arg("--out")
        .arg(&out)
        .assert()
        .code(2)
        .stderr(contains("small.toml:6:").and(contains("is `count` meant?")));
    assert!(!out.exists());
    let sweep = sweep_in(folder.path(), KERNEL, CASE, SWEEP);
    heddle().arg("sweep").arg(&sweep).args(["--points", "0-5"]).assert().code(2).stderr(contains("within 1-200"));
    heddle()
        .arg("sweep")
        .arg(&sweep)
        .arg("--dry-run")
        .assert()
        .success()
        .stdout(contains("200 points").and(contains("sm.count: 1, 2")));
    heddle().arg("sweep").arg(folder.path().join("none.toml")).assert().code(2).stderr(contains("none.toml"));
}

#[test]
fn scripts_of_engines_are_shell() {
    let folder = tempfile::tempdir().unwrap();
    let odd = folder.path().join("a folder's $name");
    fs::create_dir(&odd).unwrap();
    let sweep = sweep_in(&odd, KERNEL, CASE, SWEEP);
    let emit = |words: &[&str]| {
        let run = heddle().arg("sweep").arg(&sweep).arg("--out").arg(odd.join("out")).args(words).assert().success();
        String::from_utf8(run.get_output().stdout.clone()).unwrap()
    };
    let slurm = emit(&["--emit", "slurm", "--tasks", "7"]);
    let parallel = emit(&["--emit", "parallel", "--tasks", "7", "--sshlogin", "2/far", "--sshlogin", ":"]);
    assert!(slurm.contains("#SBATCH --array=1-7"), "{slurm}");
    assert!(parallel.contains("--sshlogin 2/far --sshlogin : "), "{parallel}");
    assert!(
        parallel.contains("--joblog") && !parallel.contains("--resume"),
        "a changed sweep has other points under the same numbers"
    );
    assert!(parallel.contains("::: 1-28 29-57 58-85 86-114 115-142 143-171 172-200"), "{parallel}");
    let bash = |words: &[&str], script: &str| {
        Command::new("bash").args(words).write_stdin(script).timeout(Duration::from_secs(600)).assert()
    };
    for script in [&slurm, &parallel] {
        bash(&["-n"], script).success();
    }
    // A task of the array, as Slurm starts it.
    let task = Command::new("bash").env("SLURM_ARRAY_TASK_ID", "3").write_stdin(slurm.as_str()).assert().success();
    assert!(String::from_utf8_lossy(&task.get_output().stderr).contains("28 points run"));
    assert_eq!(lines(&odd.join("out/part-3.jsonl")), 29);
    heddle().arg("sweep").arg(&sweep).args(["--emit", "slurm", "--sshlogin", "x"]).assert().code(2);
}

/// Loads a page in a browser, wide and narrow: no error, no scrolling sideways, and just these charts, each with something in it.
fn drawn(page: &Path, names: &[&str]) {
    let Some(browser) = browser::chromium() else { return };
    let text = fs::read_to_string(page).unwrap().replace("http://www.w3.org/2000/svg", "");
    assert!(!text.contains("http://") && !text.contains("https://"), "the page names an address");
    for width in [1280, 500] {
        let dom = browser::dom(&browser, page, width);
        assert_eq!(browser::attribute(&dom, "data-errors"), Some("0"), "{:?}", browser::attribute(&dom, "data-error"));
        assert_eq!(browser::attribute(&dom, "data-fits"), Some("true"), "the page scrolls sideways at {width} pixels");
        let charts = browser::charts(&dom);
        assert_eq!(charts.keys().map(String::as_str).collect::<BTreeSet<_>>(), names.iter().copied().collect());
        for (name, (drawn, marks)) in &charts {
            assert!(drawn.parse::<u32>().is_ok_and(|n| n > 0), "{name}: {drawn}");
            // Tables are no pictures.
            assert!(*marks > 0 || ["counters", "table", "front"].contains(&name.as_str()), "{name} has no marks");
        }
    }
}

#[test]
fn the_page_of_a_sweep_draws_in_a_browser() {
    let folder = tempfile::tempdir().unwrap();
    let axes = "cases = ['case.json']\nminimise = ['cycles', 'energy_pj', 'register_file_mm2']\n[axes]\nsm.count = [1, 2, 4]\nregfile = ['multilevel', 'single']\nsource-options = ['', '-DBAD']\n";
    // Half of the points do not compile.
    let kernel = format!("#ifdef BAD\n#error bad\n#endif\n{KERNEL}");
    let sweep = sweep_in(folder.path(), &kernel, CASE, axes);
    heddle().arg("sweep").arg(&sweep).arg("--out").arg(folder.path().join("out")).assert().code(1);
    let page = folder.path().join("out/pareto.html");
    drawn(&page, &["plane", "effects", "front"]);
    // Capacities are the machine's, whatever the kernel does with them.
    let rows = json_lines(&folder.path().join("out/results.jsonl"));
    let bits: BTreeSet<String> = rows.iter().map(|r| r["register_file_bits"].to_string()).collect();
    let registers = 65536 * 32 + 4 * 128 * 8 * 32 + 2 * 8 * 32 * 32 * 32;
    assert_eq!(bits, BTreeSet::from([registers.to_string(), "null".into()]));
    assert!(fs::read_to_string(page).unwrap().contains("Not shown: 6 in which a case did not end"));
}

#[test]
fn compare_two_runs() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name).display().to_string();
    let run = |case: &str, option: &str, name: &str| {
        // Its main file is as fast as its local files.
        let machine = ["--target", "machines/mixed.toml"];
        heddle().args(["run", case, "--quiet", option, "--json", &file(name)]).args(machine).assert().success();
    };
    let gram = "test-kernels/gramschmidt/case.json";
    run(gram, "--verify", "a.json");
    run(gram, "--regfile=single", "b.json");
    run("test-kernels/saxpy/case.json", "--set=warp-size=16", "c.json");
    let compare = || {
        let mut c = heddle();
        c.args(["compare", &file("a.json"), &file("b.json")]);
        c
    };
    compare()
        .args(["--html", &file("c.html"), "--json", &file("c.json.out"), "--all"])
        .assert()
        .success()
        .stdout(contains("register_file_pj").and(contains("mean of")));
    let json: Value = serde_json::from_str(&fs::read_to_string(file("c.json.out")).unwrap()).unwrap();
    let row = json["rows"].as_array().unwrap().iter().find(|r| r["name"] == "register_file_pj").unwrap();
    let (a, b) = (row["a"].as_f64().unwrap(), row["b"].as_f64().unwrap());
    assert!(b > a && (row["ratio"].as_f64().unwrap() - b / a).abs() < 1e-12);
    // Register files cost no time, the schedule does.
    drawn(&folder.path().join("c.html"), &["headlines", "energy", "stalls", "counters"]);
    run(gram, "--no-schedule", "d.json");
    heddle().args(["compare", &file("a.json"), &file("d.json"), "--html", &file("d.html")]).assert().success();
    drawn(&folder.path().join("d.html"), &["headlines", "energy", "stalls", "parts-cycles", "parts-energy_pj", "counters"]);
    compare().args(["--fail-if", "register_file_pj>1.01"]).assert().code(1).stderr(contains("register_file_pj>1.01: "));
    compare().args(["--fail-if", "register_file_pj<1.01"]).assert().success();
    compare().args(["--fail-if", "cycles"]).assert().code(2);
    compare().args(["--fail-if", "cyles>1"]).assert().code(2).stderr(contains("is `cycles` meant?"));
    heddle()
        .args(["compare", &file("a.json"), &file("c.json")])
        .assert()
        .success()
        .stdout(contains("note: warp_size: 32 in A, 16 in B").and(contains("only in B: saxpy")));
    heddle().args(["compare", &file("a.json"), "Cargo.toml"]).assert().code(2).stderr(contains("Cargo.toml"));
}

#[test]
fn ablation_agrees_with_run() {
    let folder = tempfile::tempdir().unwrap();
    let (page, json) = (folder.path().join("a.html"), folder.path().join("a.json"));
    let cases = ["test-kernels/sgemm_tiled/case.json", "test-kernels/spmv_csr/case.json"];
    heddle()
        .arg("ablate")
        .args(cases)
        .arg("--html")
        .arg(&page)
        .arg("--json")
        .arg(&json)
        .assert()
        .success()
        .stdout(contains("geometric means of the ratios over 2 cases").and(contains("DIFFERENT").not()));
    assert!(fs::read_to_string(&page).unwrap().contains("same bytes"));
    drawn(&page, &["cycles", "energy_pj", "register_file_pj", "dram_bytes", "table"]);
    let json: Value = serde_json::from_str(&fs::read_to_string(json).unwrap()).unwrap();
    for (case, option, row) in [(0, "--no-schedule", "no list scheduling"), (1, "--regfile=single", "no local register files")] {
        let run = heddle().args(["run", cases[case], "--json", "-", option]).assert().success();
        let run: Value = serde_json::from_slice(&run.get_output().stdout).unwrap();
        let rows = json["cases"][case]["rows"].as_array().unwrap();
        let row = rows.iter().find(|r| r["setup"] == row).unwrap();
        assert_eq!(row["values"]["cycles"].as_f64(), run["total"]["timing"]["cycles"].as_f64());
        assert_eq!(row["statistics"]["timing.stalls.memory"], run["total"]["timing"]["stalls"]["memory"]);
        assert_eq!(row["status"], "passed");
    }
    heddle().args(["ablate", "none.json"]).assert().code(2);
}

/// Each repeated run is that of `heddle run` with its seed, and bytes are the same with all of them.
#[test]
fn repeated_ablations_have_means_and_intervals() {
    let case = "test-kernels/group_functions/case.json";
    let ablation = heddle().args(["ablate", case, "--runs", "3", "--json", "-"]).assert().success();
    let json: Value = serde_json::from_slice(&ablation.get_output().stdout).unwrap();
    let rows = json["cases"][0]["rows"].as_array().unwrap();
    let cycles = |options: &[&str]| -> Vec<f64> {
        let of_seed = |seed: u32| {
            let seed = format!("perturbation.seed={seed}");
            let delays = ["--set", "perturbation.cycles=16", "--set", &seed];
            let run = heddle().args(["run", case, "--json", "-"]).args(delays).args(options).assert().success();
            let run: Value = serde_json::from_slice(&run.get_output().stdout).unwrap();
            run["total"]["timing"]["cycles"].as_f64().unwrap()
        };
        (1..=3).map(of_seed).collect()
    };
    let (on, off) = (cycles(&[]), cycles(&["--regfile=single"]));
    assert!(on[0] != on[1] && on[1] != on[2], "{on:?}");
    let row = rows.iter().find(|r| r["setup"] == "no local register files").unwrap();
    let mean = |v: &[f64]| v.iter().sum::<f64>() / 3.0;
    let ratio = mean(&off) / mean(&on);
    let differences = on.iter().zip(&off).map(|(a, b)| b / mean(&off) - a / mean(&on));
    // Student's t of two degrees of freedom.
    let half = 4.303 * (differences.map(|d| d * d).sum::<f64>() / 2.0 / 3.0).sqrt() * ratio;
    let near = |value: &Value, expected: f64| (value.as_f64().unwrap() / expected - 1.0).abs() < 1e-9;
    assert!(near(&row["values"]["cycles"], mean(&off)) && near(&row["ratios"]["cycles"], ratio), "{row}");
    assert!(near(&row["intervals"]["cycles"], half) && half > 0.0, "{row}, {half}");
    heddle().args(["ablate", case, "--runs", "2"]).assert().success().stdout(contains("±"));
    heddle().args(["ablate", case, "--runs", "0"]).assert().code(2);
}
