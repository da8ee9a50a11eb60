//! `heddle run`: choice of what is timed, samples, and launches that are alike.

use assert_cmd::Command;
use serde_json::Value;

const SAXPY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/test-kernels/saxpy/kernel.cl");
const LOOK_BACK: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/test-kernels/scan_lookback/kernel.cl");

fn heddle(arguments: &[&str]) -> std::process::Output {
    Command::cargo_bin("heddle").unwrap().args(arguments).output().unwrap()
}

fn json(arguments: &[&str]) -> Value {
    let output = heddle(&[arguments, &["--json", "-"]].concat());
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// One launch of saxpy with a result that is kept, on a machine of one SM.
fn saxpy(n: u32, result: &std::path::Path, more: &[&str]) -> Value {
    let (global, last, save) = (n.to_string(), format!("i32={n}"), format!("y=random:float32:{n},save={}", result.display()));
    let x = format!("x=random:float32:{n}");
    let launch =
        ["run", SAXPY, "--global", &global, "--local", "64", "--arg", &x, "--arg", &save, "--arg", "f32=1.5", "--arg", &last];
    json(&[&launch[..], &["--set", "sm.count=1", "--set", "memory.l15.sms=1"], more].concat())
}

fn number(value: &Value, path: &str) -> f64 {
    path.split('.').fold(value, |v, key| &v[key]).as_f64().unwrap_or_else(|| panic!("no {path} in {value}"))
}

#[test]
fn a_sample_is_near_the_truth_and_says_how_near() {
    let folder = tempfile::tempdir().unwrap();
    let (a, b) = (folder.path().join("a.npy"), folder.path().join("b.npy"));
    let whole = saxpy(1 << 20, &a, &[]);
    let sampled = saxpy(1 << 20, &b, &["--sample"]);
    assert!(std::fs::read(a).unwrap() == std::fs::read(b).unwrap(), "results do not depend on samples");
    for exact in ["instructions", "work_groups", "lane_instructions", "registers.main.reads", "memory.global.bytes"] {
        assert_eq!(number(&whole["total"], exact), number(&sampled["total"], exact), "{exact}");
    }
    assert!(whole["total"]["timing"].get("sampling").is_none());
    let sampling = &sampled["total"]["timing"]["sampling"];
    let (truth, estimate) = (number(&whole, "total.timing.cycles"), number(&sampled, "total.timing.cycles"));
    assert!((estimate / truth - 1.0).abs() < 0.08, "{estimate}, {truth}");
    assert!(number(sampling, "spread") + number(sampling, "allowance") > 0.0);
    assert!(number(sampling, "timed_instructions") < 0.5 * number(sampling, "instructions"), "{sampling}");
    assert!(number(sampling, "measured_cycles") < 0.5 * estimate);
    let read = |v: &Value| number(v, "total.timing.hierarchy.dram_read_bytes");
    assert!((read(&sampled) / read(&whole) - 1.0).abs() < 0.02, "what L2 misses is followed, not extrapolated");
}

/// Work-groups that copy and work-groups that end at once, in long stretches: L2, which is small, is told of few.
#[test]
fn memory_traffic_of_unlike_work_groups_follows_what_they_access() {
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("stripes.cl");
    let text = "kernel void stripes(global const float *x, global float *y, uint stripe) {
        uint i = get_global_id(0);
        if (i / stripe % 2 == 0) y[i] = x[i];
    }";
    std::fs::write(&source, text).unwrap();
    let buffers = ["--arg", "x=random:float32:1048576", "--arg", "y=zeros:float32:1048576"];
    let machine = ["sm.count=1", "memory.l15.sms=1", "memory.l2.bytes=32768", "memory.l2.slices=1"];
    let machine: Vec<&str> = machine.iter().flat_map(|field| ["--set", field]).collect();
    for stripe in ["u32=60000", "u32=131072"] {
        let launch = ["run", source.to_str().unwrap(), "--global", "1048576", "--local", "64"];
        let launch = [&launch[..], &buffers, &["--arg", stripe], &machine].concat();
        let [whole, sampled] = [&[][..], &["--sample"]].map(|more| json(&[&launch[..], more].concat()));
        assert!(sampled["total"]["timing"].get("sampling").is_some());
        for figure in ["dram_read_bytes", "dram_written_bytes", "l2.misses"] {
            let of = |v: &Value| number(v, &format!("total.timing.hierarchy.{figure}"));
            let ratio = of(&sampled) / of(&whole);
            assert!((0.9..1.1).contains(&ratio), "{stripe}: {figure} {ratio}");
        }
    }
}

#[test]
fn a_sample_is_the_same_on_any_number_of_threads() {
    let folder = tempfile::tempdir().unwrap();
    let save = folder.path().join("a.npy");
    let mut totals = ["1", "2"].map(|threads| saxpy(1 << 19, &save, &["--sample", "--threads", threads])["total"].take());
    let timing = totals[0]["timing"].clone();
    assert!(timing.get("sampling").is_some());
    assert_eq!(totals[0].take(), totals[1].take());
}

#[test]
fn text_and_page_mark_what_is_extrapolated() {
    let folder = tempfile::tempdir().unwrap();
    let page = folder.path().join("page.html");
    let launch = ["run", SAXPY, "--global", "1048576", "--local", "64", "--set", "sm.count=1", "--set", "memory.l15.sms=1"];
    let arguments =
        ["--arg", "x=zeros:float32:1048576", "--arg", "y=zeros:float32:1048576", "--arg", "f32=1", "--arg", "i32=1048576"];
    let output = heddle(&[&launch[..], &arguments, &["--sample", "--report", page.to_str().unwrap()]].concat());
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.lines().any(|l| l.starts_with("  saxpy:") && l.contains("≈") && l.contains(" ± ")), "{text}");
    assert!(text.contains("sampled: 1 launch; timed") && text.contains("95 % confidence"), "{text}");
    assert!(std::fs::read_to_string(page).unwrap().contains("\"sampling\""));
}

#[test]
fn launches_whose_work_groups_may_wait_for_each_other_are_timed_whole() {
    // Its work-groups spin until the one before has written its sum.
    let source = std::fs::read_to_string(LOOK_BACK).unwrap();
    let kernel = source.lines().find_map(|l| l.split_once("void ")?.1.split_once('(')).unwrap().0.trim().to_string();
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/test-kernels/scan_lookback/case.json");
    let total = json(&["run", folder, "--sample", "--set", "sm.count=1", "--set", "memory.l15.sms=1"]);
    assert!(total["total"]["timing"].get("sampling").is_none(), "{kernel}");
    assert_eq!(total["passed"], true);
}

/// A case of saxpy, launched 20 times on one size and 4 times on another.
fn many(folder: &std::path::Path) -> String {
    let launch = |n: u32, repeat: u32| {
        serde_json::json!({ "kernel": "saxpy", "global": [n], "local": [64], "repeat": repeat,
            "args": [{ "buffer": "x" }, { "buffer": "y" }, { "f32": 1.5 }, { "u32": n }] })
    };
    let buffer = |seed: u32| serde_json::json!({ "random": [16384], "dtype": "float32", "seed": seed });
    let case = serde_json::json!({ "source": SAXPY, "buffers": { "x": buffer(1), "y": buffer(2) },
        "launches": [launch(16384, 20), launch(8192, 4)] });
    let path = folder.join("case.json");
    std::fs::write(&path, case.to_string()).unwrap();
    path.display().to_string()
}

#[test]
fn alike_launches_are_timed_once_in_a_while() {
    let folder = tempfile::tempdir().unwrap();
    let case = many(folder.path());
    let whole = json(&["run", &case]);
    let alike = json(&["run", &case, "--alike=2"]);
    assert_eq!(number(&whole, "total.instructions"), number(&alike, "total.instructions"));
    let (truth, estimate) = (number(&whole, "total.timing.cycles"), number(&alike, "total.timing.cycles"));
    assert!((estimate / truth - 1.0).abs() < 0.02, "{estimate}, {truth}");
    let sampling = &alike["total"]["timing"]["sampling"];
    // Of twenty the 1st, 2nd, 4th, 8th and 16th are timed, of four the 1st, 2nd and 4th.
    assert_eq!(number(sampling, "launches"), 16.0, "{sampling}");
    let half = number(sampling, "spread") + number(sampling, "allowance");
    assert!(half > 0.0 && (estimate - truth).abs() <= half, "{sampling}, {estimate}, {truth}");
}

#[test]
fn picked_launches_are_timed_and_caches_are_kept_warm() {
    let folder = tempfile::tempdir().unwrap();
    let case = many(folder.path());
    let cycles = |picks: &str, more: &[&str]| {
        let all = json(&[&["run", &case, "--timing", picks][..], more].concat());
        number(&all, "total.timing.cycles")
    };
    let one = cycles("#1", &[]);
    assert_eq!(cycles("saxpy:1", &[]), one);
    assert_eq!(cycles("@*:1", &[]), one + cycles("#21", &[]), "the first of each size");
    assert!((cycles("saxpy:1-3/2", &[]) - 2.0 * one).abs() < 1.0, "each finds empty caches");
    let of =
        |picks: &str, path: &str| number(&json(&["run", &case, "--timing", picks, "--warm"]), &format!("total.timing.{path}"));
    assert_eq!(of("#1", "cycles"), one);
    // The launches before have left their lines in L2; L1 caches and code are still to be fetched.
    assert!(of("#3", "cycles") < 0.8 * one);
    let (cold, warm) = (of("#1", "hierarchy.dram_read_bytes"), of("#3", "hierarchy.dram_read_bytes"));
    assert!(warm < 0.1 * cold, "{warm}, {cold}");
}

#[test]
fn images_are_kept_warm_too() {
    let folder = tempfile::tempdir().unwrap();
    let case = folder.path().join("case.json");
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/test-kernels/image_warp/kernel.cl");
    let image = serde_json::json!({ "width": 64, "height": 64, "format": "RGBA_UINT8" });
    let launch = serde_json::json!({
        "kernel": "warp", "global": [64, 64], "local": [8, 8],
        "args": [{ "buffer": "in" }, { "buffer": "out" }, { "i32": [900, -350, 400, 880] }, { "i32": [2000, -3000] }],
    });
    let text = serde_json::json!({
        "source": source,
        "buffers": {
            "in": { "random": [64, 64, 4], "dtype": "uint8", "low": 0, "high": 255, "image": image },
            "out": { "zeros": [64, 64, 4], "dtype": "uint8", "image": image },
        },
        "launches": [launch, launch],
    });
    std::fs::write(&case, text.to_string()).unwrap();
    let read = |pick: &str| {
        let all = json(&["run", &case.display().to_string(), "--timing", pick, "--warm"]);
        number(&all, "total.timing.hierarchy.dram_read_bytes")
    };
    let (cold, warm) = (read("#1"), read("#2"));
    assert!(cold > 4096.0 && warm < 0.1 * cold, "{warm}, {cold}");
}

#[test]
fn options_that_are_about_timing_need_it() {
    for option in ["--sample", "--alike", "--warm", "--timing=saxpy"] {
        let output = heddle(&["run", SAXPY, "--global", "64", "--mode", "functional", option]);
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{text}");
        assert!(text.contains("needs --mode timing"), "{option}: {text}");
    }
    for (option, part) in [("--sample=3", "6.."), ("--timing=a:0", "no range"), ("--alike=1", "2..")] {
        let output = heddle(&["run", SAXPY, "--global", "64", option]);
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.code() == Some(2) && text.contains(part), "{option}: {text}");
    }
}

#[test]
fn a_run_that_is_restored_gives_the_same_cycles() {
    let folder = tempfile::tempdir().unwrap();
    let case = many(folder.path());
    let file = folder.path().join("state");
    let file = file.to_str().unwrap();
    let whole = json(&["run", &case, "--checkpoint", file, "--at", "3,20,23"]);
    // Launches as they were written: what is in the files is all that the rest needs.
    let cycles = |total: &Value| number(total, "total.timing.cycles");
    for (at, left_out) in [(3, "saxpy:1-2"), (20, "saxpy:1-19"), (23, "saxpy:1-22")] {
        let rest = json(&["run", &case, "--restore", &format!("{file}.{at}")]);
        let before = json(&["run", &case, "--timing", left_out]);
        assert_eq!(cycles(&rest) + cycles(&before), cycles(&whole), "from launch {at} on");
        let misses = |total: &Value| number(total, "total.timing.hierarchy.l2.misses");
        assert_eq!(misses(&rest) + misses(&before), misses(&whole), "from launch {at} on");
    }
}

#[test]
fn a_checkpoint_of_something_else_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let case = many(folder.path());
    let file = folder.path().join("state");
    let file = file.to_str().unwrap();
    json(&["run", &case, "--mode", "functional", "--checkpoint", file, "--at", "2"]);
    let refused = |arguments: &[&str], part: &str| {
        let output = heddle(&[&["run", &case], arguments].concat());
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.code() == Some(2) && text.contains(part), "{arguments:?}: {text}");
    };
    refused(&["--restore", file, "--set", "sm.count=4"], "another machine");
    let bytes = std::fs::read(file).unwrap();
    std::fs::write(file, &bytes[..bytes.len() - 1]).unwrap();
    refused(&["--restore", file], "cut short");
    // A bit of what memory holds.
    let mut damaged = bytes.clone();
    damaged[bytes.len() / 2] ^= 1;
    std::fs::write(file, &damaged).unwrap();
    refused(&["--restore", file], "damaged");
    std::fs::write(file, "nothing").unwrap();
    refused(&["--restore", file], "no checkpoint");
    refused(&["--restore", "/nowhere"], "/nowhere");
    refused(&["--checkpoint", file], "--at");
    refused(&["--restore", file, "--alike"], "--alike");
}

/// What only the first work-items do is a larger part of what was timed than of the launch.
#[test]
fn a_sample_of_work_groups_unlike_the_others_counts_no_more_than_there_is() {
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("early.cl");
    let text = "__kernel void early(__global int *a) { if (get_global_id(0) == 0 && get_global_id(1) == 0) a[0] = 7; }";
    std::fs::write(&source, text).unwrap();
    let source = source.to_str().unwrap();
    let two_sms = ["--set", "sm.count=2"];
    let launch = ["run", source, "--global", "16777216", "--local", "64", "--arg", "a=zeros:int32:4", "--sample"];
    let sampled = json(&[&launch[..], &two_sms].concat());
    assert!(sampled["total"]["timing"].get("sampling").is_some());
    let forms = &sampled["total"]["timing"]["forms"];
    let all: u64 = forms.as_object().unwrap().values().map(|n| n.as_u64().unwrap()).sum();
    assert!(all <= sampled["total"]["instructions"].as_u64().unwrap(), "{forms}");
}
