//! Reports, traces and graphs: what they say is what was counted, and the page draws in a real browser.
//!
//! The tests that need a browser look for Chromium (`tests/browser`) and say so if there is none.

mod browser;

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

use browser::{attribute, charts, chromium, dom};
use serde_json::Value;

fn heddle(args: &[&str]) -> std::process::Output {
    let output = Command::new(env!("CARGO_BIN_EXE_heddle")).args(args).current_dir(env!("CARGO_MANIFEST_DIR")).output().unwrap();
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    output
}

const CHARTS: [&str; 13] = [
    "summary",
    "timeline",
    "scalar",
    "mix",
    "registers",
    "energy",
    "caches",
    "traffic",
    "latency",
    "roofline",
    "flow",
    "live",
    "code",
];

#[test]
fn every_chart_draws_in_a_browser() {
    let Some(browser) = chromium() else { return };
    let folder = tempfile::tempdir().unwrap();
    let page = folder.path().join("report.html");
    for (case, width) in [("sgemm_tiled", 1400), ("bfs_step", 500)] {
        heddle(&["run", &format!("test-kernels/{case}/case.json"), "--quiet", "--report", page.to_str().unwrap()]);
        let dom = dom(&browser, &page, width);
        assert_eq!(attribute(&dom, "data-errors"), Some("0"), "{case}: {:?}", attribute(&dom, "data-error"));
        assert_eq!(attribute(&dom, "data-fits"), Some("true"), "{case}: the page scrolls sideways at {width} pixels");
        let charts = charts(&dom);
        assert_eq!(charts.len(), CHARTS.len(), "{case}: {:?}", charts.keys());
        for name in CHARTS {
            let (drawn, marks) = &charts[name];
            assert!(drawn.parse::<u32>().is_ok_and(|n| n > 0), "{case}: {name}: {drawn}");
            // The summary and the listing are no pictures.
            assert!(*marks > 0 || name == "summary" || name == "code", "{case}: {name} has no marks");
        }
    }
}

/// Numbers of axes: what they say is what is there, and neighbours differ.
#[test]
fn axes_have_the_digits_they_need() {
    let Some(browser) = chromium() else { return };
    let folder = tempfile::tempdir().unwrap();
    let page = folder.path().join("page.html");
    let wanted = [
        ("[0, 0.5, 1, 1.5]", "0 0.5 1 1.5"),
        ("[1, 1.25, 1.5]", "1 1.25 1.5"),
        ("[1.96, 1.98, 2]", "1.96 1.98 2"),
        ("[0, 2000, 4000]", "0 2\u{202f}000 4\u{202f}000"),
        ("[1.5e6, 1.505e6, 1.51e6]", "1.5M 1.505M 1.51M"),
        ("[0.01, 0.02]", "0.01 0.02"),
        ("[100, 200, 500, 1000]", "100 200 500 1\u{202f}000"),
    ];
    let energies = ("[45.1e6, 45.15e6, 45.2e6]", "45.1µJ 45.15µJ 45.2µJ");
    let label = "const [scale, unit] = unitOf(v, JOULES); return stepped(v / scale, step / scale) + unit;";
    let lists: Vec<String> = wanted
        .iter()
        .map(|(list, _)| format!("{list}.map(v => tick(v, apart({list})))"))
        .chain([format!("{list}.map(v => {{ const step = apart({list}); {label} }})", list = energies.0)])
        .map(|labels| format!("{labels}.join(' ')"))
        .collect();
    let html = format!(
        "<!doctype html><html><meta charset=\"utf-8\"><body><script id=\"data\" type=\"application/json\">{{}}</script><script>{}\n\
         root.dataset.labels = [{}].join(';'); root.dataset.ready = '1';</script></body></html>",
        include_str!("../crates/report/src/html/draw.js"),
        lists.join(", ")
    );
    fs::write(&page, html).unwrap();
    let dom = dom(&browser, &page, 900);
    let labels: Vec<&str> = attribute(&dom, "data-labels").unwrap().split(';').collect();
    let wanted: Vec<&str> = wanted.iter().chain([&energies]).map(|(_, labels)| *labels).collect();
    assert_eq!(labels, wanted);
}

#[test]
fn functional_mode_says_what_it_does_not_know() {
    let Some(browser) = chromium() else { return };
    let folder = tempfile::tempdir().unwrap();
    let page = folder.path().join("report.html");
    heddle(&["run", "test-kernels/sgemm_tiled/case.json", "--mode", "functional", "--quiet", "--report", page.to_str().unwrap()]);
    let dom = dom(&browser, &page, 900);
    assert_eq!(attribute(&dom, "data-errors"), Some("0"), "{:?}", attribute(&dom, "data-error"));
    let charts = charts(&dom);
    for name in CHARTS {
        let empty = ["timeline", "scalar", "energy", "caches", "traffic", "latency", "roofline"].contains(&name);
        assert_eq!(charts[name].0 == "empty", empty, "{name}: {}", charts[name].0);
    }
    assert!(dom.contains("Functional mode computes results only"));
}

#[test]
fn names_and_sources_stay_text() {
    let folder = tempfile::tempdir().unwrap();
    let evil = "</script><script>document.documentElement.dataset.evil=1</script><img src=x onerror=\"document.documentElement.dataset.evil=2\">";
    let source = folder.path().join("a&b<i>.cl");
    fs::write(&source, format!("// {evil}\n__kernel void k(__global int *a) {{ a[get_global_id(0)] += 1; }} // {evil}\n"))
        .unwrap();
    let page = folder.path().join("report.html");
    let arguments = ["run", source.to_str().unwrap(), "--kernel", "k", "--global", "64", "--arg", "<b>=zeros:int32:64"];
    heddle(&[&arguments[..], &["--quiet", "--report", page.to_str().unwrap()]].concat());
    let text = fs::read_to_string(&page).unwrap();
    assert_eq!(text.matches("</script>").count(), 2, "the page's own");
    assert!(!text.contains("<img") && !text.contains("<i>"));
    let outside = text.replace("http://www.w3.org/2000/svg", "");
    assert!(!outside.contains("http://") && !outside.contains("https://"), "the page names an address");
    let Some(browser) = chromium() else { return };
    let dom = dom(&browser, &page, 900);
    assert_eq!(attribute(&dom, "data-errors"), Some("0"), "{:?}", attribute(&dom, "data-error"));
    assert_eq!(attribute(&dom, "data-evil"), None);
}

/// The data of a report's page.
fn data(arguments: &[&str]) -> Value {
    let folder = tempfile::tempdir().unwrap();
    let page = folder.path().join("report.html");
    heddle(&[&["run"], arguments, &["--quiet", "--report", page.to_str().unwrap()]].concat());
    let text = fs::read_to_string(&page).unwrap();
    let json = text.split_once("id=\"data\">").unwrap().1.split_once("</script>").unwrap().0;
    serde_json::from_str(json).unwrap()
}

fn total(v: &Value) -> u64 {
    match v {
        Value::Array(a) => a.iter().map(total).sum(),
        Value::Object(o) => o.values().map(total).sum(),
        v => v.as_u64().unwrap(),
    }
}

#[test]
fn the_time_line_holds_every_issue_and_every_stall() {
    for case in ["sgemm_tiled", "bfs_step", "reduction"] {
        let d = data(&[&format!("test-kernels/{case}/case.json")]);
        let timing = &d["total"]["timing"];
        let segments = d["timeline"]["segments"].as_array().unwrap();
        let sum = |of: &dyn Fn(&Value) -> u64| -> u64 { segments.iter().map(of).sum() };
        let clusters = timing["issued"].as_array().unwrap().len();
        for c in 0..clusters {
            assert_eq!(sum(&|s| total(&s["issued"][c])), timing["issued"][c].as_u64().unwrap(), "{case}: cluster {c}");
        }
        assert_eq!(sum(&|s| total(&s["issued"][clusters])), timing["scalar_issued"].as_u64().unwrap(), "{case}");
        assert_eq!(sum(&|s| total(&s["issued"])), d["total"]["instructions"].as_u64().unwrap(), "{case}");
        assert_eq!(sum(&|s| total(&s["busy"])), d["total"]["instructions"].as_u64().unwrap(), "{case}");
        for (i, cause) in ["dependence", "memory", "unit", "barrier", "rename", "fetch", "inactive", "bank"].iter().enumerate() {
            assert_eq!(sum(&|s| total(&s["stalls"][i])), timing["stalls"][cause].as_u64().unwrap(), "{case}: {cause}");
        }
        assert_eq!(sum(&|s| s["cycles"].as_u64().unwrap()), timing["cycles"].as_u64().unwrap(), "{case}");
        let splits: u64 = d["kernels"]
            .as_array()
            .unwrap()
            .iter()
            .flat_map(|k| k["blocks"].as_array().unwrap())
            .filter_map(|b| b["splits"].as_u64())
            .sum();
        assert_eq!(splits, d["total"]["divergent_branches"].as_u64().unwrap(), "{case}");
    }
}

#[test]
fn energy_of_instructions_is_that_of_their_components() {
    // With free caches and memory, what is left belongs to instructions entirely, but for static power, and comparisons of the scalarizer.
    let mut arguments = vec!["test-kernels/sgemm_tiled/case.json".to_string()];
    for part in ["data", "uniform", "constant", "instruction", "l15", "l2", "network", "dram", "system"] {
        arguments.push(format!("--set=memory.{part}.sector-pj=0"));
    }
    arguments.push("--set=memory.dram.activate-pj=0".into());
    let d = data(&arguments.iter().map(String::as_str).collect::<Vec<_>>());
    let components = d["total"]["energy_pj"].as_object().unwrap();
    let wanted: f64 =
        components.iter().filter(|(n, _)| *n != "static" && *n != "scalarizer").map(|(_, e)| e.as_f64().unwrap()).sum();
    let instructions: f64 = d["kernels"][0]["insts"].as_array().unwrap().iter().map(|i| i["pj"].as_f64().unwrap()).sum();
    assert!(wanted > 0.0 && (instructions / wanted - 1.0).abs() < 1e-9, "{instructions} of {wanted}");
}

#[test]
fn operations_of_the_roofline_are_known() {
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("k.cl");
    let text =
        "__kernel void k(__global float *a) { int i = get_global_id(0); float x = a[i]; a[i] = fma(x, x, x) * x + 2 * x; }";
    fs::write(&source, text).unwrap();
    let d = data(&[
        source.to_str().unwrap(),
        "--kernel",
        "k",
        "--global",
        "4096",
        "--arg",
        "a=zeros:float32:4096",
        "--option=-ffp-contract=off",
    ]);
    let p = &d["roofline"]["points"][0];
    // A fused multiply-add, two multiplications, an addition.
    assert_eq!(p["operations"]["float"].as_u64().unwrap(), 4096 * 5);
    // Read and written once; the code is fetched too.
    let bytes = p["dram_bytes"].as_u64().unwrap();
    assert!((32_768..32_768 + 4_096).contains(&bytes), "{bytes}");
}

/// What Perfetto's importer needs to keep every slice: taken by start, and otherwise in the order of the file, those of a track are disjoint or lie in the one that came
/// before; a track's number is its own in the whole trace and no process's; all tracks are named.
fn well_nested(events: &[Value]) {
    let number = |e: &Value, key: &str| e[key].as_u64().unwrap_or_else(|| panic!("{key} of {e}"));
    let mut tracks: BTreeMap<u64, Vec<(u64, u64)>> = BTreeMap::new();
    let mut owners: BTreeMap<u64, u64> = BTreeMap::new();
    for e in events.iter().filter(|e| e["ph"] == "X") {
        let (start, length) = (number(e, "ts"), number(e, "dur"));
        assert!(length > 0, "{e}");
        assert_eq!(*owners.entry(number(e, "tid")).or_insert(number(e, "pid")), number(e, "pid"), "{e}");
        tracks.entry(number(e, "tid")).or_default().push((start, start + length));
    }
    let named = |what: &str, key: &str| -> BTreeMap<u64, &str> {
        let names = events.iter().filter(|e| e["ph"] == "M" && e["name"] == what);
        names.map(|e| (number(e, key), e["args"]["name"].as_str().unwrap())).collect()
    };
    let (processes, threads) = (named("process_name", "pid"), named("thread_name", "tid"));
    for (tid, pid) in owners {
        assert!(threads.contains_key(&tid) && processes.contains_key(&pid), "track {tid} of process {pid} has no name");
        assert!(tid > 0 && pid > 0 && !processes.contains_key(&tid), "track {tid} of process {pid}");
    }
    for (track, mut slices) in tracks {
        slices.sort_by_key(|(start, _)| *start);
        let mut open: Vec<u64> = Vec::new();
        for (start, end) in slices {
            open.retain(|e| *e > start);
            assert!(open.iter().all(|e| end <= *e), "{track:?}: {start} – {end} in {open:?}");
            open.push(end);
        }
    }
}

#[test]
fn traces_are_complete_and_well_nested() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("trace.json");
    let read = |extra: &[&str]| -> Value {
        heddle(&[&["run", "test-kernels/bfs_step/case.json", "--quiet", "--trace", path.to_str().unwrap()], extra].concat());
        serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap()
    };
    let json = heddle(&["run", "test-kernels/bfs_step/case.json", "--json", "-"]).stdout;
    let json: Value = serde_json::from_slice(&json).unwrap();
    let trace = read(&[]);
    let events = trace["traceEvents"].as_array().unwrap();
    well_nested(events);
    let count = |category: &str| events.iter().filter(|e| e["cat"] == category).count() as u64;
    assert_eq!(count("instruction"), json["total"]["instructions"].as_u64().unwrap());
    assert_eq!(count("warp"), json["total"]["warps"].as_u64().unwrap());
    let stalled: u64 = events.iter().filter(|e| e["cat"] == "stall").map(|e| e["dur"].as_u64().unwrap()).sum();
    assert_eq!(stalled, total(&json["total"]["timing"]["stalls"]));
    assert_eq!(trace["otherData"]["truncated"], false);
    let names = |e: &Value| e["cat"] == "instruction" && e["name"] == "ld.global.b32.cg";
    assert!(events.iter().any(|e| names(e) && e["args"]["text"].as_str().unwrap().contains(" ld.global.b32.cg ")));
    let issued: Vec<f64> =
        events.iter().filter(|e| e["ph"] == "C").filter_map(|e| e["args"]["instructions a cycle"].as_f64()).collect();
    assert!(issued.iter().any(|v| *v > 0.0) && issued.iter().all(|v| (0.0..=64.0).contains(v)));
    assert!(events.iter().any(|e| e["ph"] == "M" && e["args"]["name"] == "SM 0"));
    let cut = read(&["--trace-limit", "400"]);
    let slices = cut["traceEvents"].as_array().unwrap().iter().filter(|e| e["cat"] != "launch" && e["ph"] == "X").count();
    assert!(slices <= 400 && cut["otherData"]["truncated"] == true, "{slices}");
    well_nested(cut["traceEvents"].as_array().unwrap());
}

#[test]
fn recording_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = |n: &str| folder.path().join(n).display().to_string();
    let run = |extra: &[&str]| -> Value {
        let out = heddle(&[&["run", "test-kernels/reduction/case.json", "--json", "-"], extra].concat()).stdout;
        serde_json::from_slice(&out).unwrap()
    };
    let (with, without) = (run(&["--report", &path("r.html"), "--trace", &path("t.json")]), run(&[]));
    assert_eq!(with["total"], without["total"]);
    let (a, b) = (fs::read(path("t.json")).unwrap(), {
        run(&["--trace", &path("u.json")]);
        fs::read(path("u.json")).unwrap()
    });
    assert!(a == b, "two runs give one trace");
}

/// Launches of both versions of a kernel: each is shown by the code that ran, with what that did.
#[test]
fn versions_of_a_kernel_are_shown_by_their_own_code() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let text = "kernel void mm(global float *c, global const float *a, global const float *b, int n) {
  int x = get_global_id(0), y = get_global_id(1);
  float s = 0;
  for (int k = 0; k < n; k++) s += a[y * n + k] * b[k * n + x];
  c[y * n + x] = s; }";
    fs::write(path("mm.cl"), text).unwrap();
    let launch = |local: &str| {
        let arguments = r#"[{"buffer": "c"}, {"buffer": "a"}, {"buffer": "b"}, {"i32": 64}]"#;
        format!(r#"{{"kernel": "mm", "global": [64, 64], "local": {local}, "args": {arguments}}}"#)
    };
    let buffer = r#"{"dtype": "float32", "zeros": [4096]}"#;
    let (rows, general) = (launch("[32, 4]"), launch("[16, 8]"));
    let case = format!(
        r#"{{"source": "mm.cl", "buffers": {{"c": {buffer}, "a": {buffer}, "b": {buffer}}}, "launches": [{rows}, {general}, {rows}]}}"#
    );
    fs::write(path("case.json"), case).unwrap();
    let page = data(&[&path("case.json")]);
    let names =
        |v: &Value, key: &str| v.as_array().unwrap().iter().map(|k| k[key].as_str().unwrap().to_string()).collect::<Vec<_>>();
    assert_eq!(names(&page["kernels"], "name"), ["mm", "mm.rows-fill-warps"]);
    assert_eq!(names(&page["launches"], "kernel"), ["mm.rows-fill-warps", "mm", "mm.rows-fill-warps"]);
    assert_eq!(names(&page["roofline"]["points"], "kernel"), ["mm", "mm.rows-fill-warps"]);
    // 64 x 64 sums of 64 products.
    for (point, launches) in page["roofline"]["points"].as_array().unwrap().iter().zip([1, 2]) {
        assert_eq!(point["operations"]["float"], launches * 2 * 64 * 64 * 64, "{point}");
    }
    for (kernel, launches) in page["kernels"].as_array().unwrap().iter().zip([&[1][..], &[0, 2]]) {
        let done: u64 = launches.iter().map(|l| page["launches"][*l]["statistics"]["instructions"].as_u64().unwrap()).sum();
        let insts = kernel["insts"].as_array().unwrap();
        assert_eq!(insts.iter().map(|i| i["issues"].as_u64().unwrap()).sum::<u64>(), done, "{}", kernel["name"]);
        let ended = insts.iter().filter(|i| i["text"].as_str().unwrap().contains("exit")).map(|i| i["issues"].as_u64().unwrap());
        assert_eq!(ended.sum::<u64>(), 128 * launches.len() as u64, "each of the warps ends once: {}", kernel["name"]);
    }
    let trace = path("trace.json");
    let out = heddle(&["run", &path("case.json"), "--quiet", "--profile", "--trace", &trace]);
    let listing = String::from_utf8_lossy(&out.stdout).into_owned();
    let (general, version) = listing.split_once("profile of mm.rows-fill-warps: ").unwrap();
    assert!(general.contains("profile of mm: "), "{listing}");
    // Rows' elements are the same in all lanes of a warp, where rows fill warps.
    let scalar_loads = |text: &str| text.lines().filter(|l| l.contains(".global.b32 s")).count();
    assert!(scalar_loads(general) < scalar_loads(version), "{listing}");
    let trace: Value = serde_json::from_slice(&fs::read(trace).unwrap()).unwrap();
    let launches = trace["traceEvents"].as_array().unwrap().iter().filter(|e| e["cat"] == "launch");
    assert_eq!(
        launches.map(|e| e["name"].as_str().unwrap()).collect::<Vec<_>>(),
        ["mm.rows-fill-warps", "mm", "mm.rows-fill-warps"]
    );
}

#[test]
fn graphs_are_dot() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().display().to_string();
    heddle(&[
        "build",
        "test-kernels/bfs_step/kernel.cl",
        "-o",
        &format!("{out}/k.o"),
        "--dump=cfg,ddg,interference",
        "--dump-dir",
        &out,
    ]);
    let files: Vec<PathBuf> = fs::read_dir(folder.path())
        .unwrap()
        .map(|e| e.unwrap().path())
        .filter(|p| p.extension().is_some_and(|e| e == "dot"))
        .collect();
    assert!(files.len() >= 3 && files.len() % 3 == 0, "{files:?}");
    for file in &files {
        let Ok(output) = Command::new("dot").arg("-Tplain").arg(file).output() else {
            eprintln!("skipped: no graphviz");
            return;
        };
        assert!(output.status.success(), "{}: {}", file.display(), String::from_utf8_lossy(&output.stderr));
    }
}

#[test]
fn what_cannot_be_shown_is_refused() {
    let fails = |args: &[&str], says: &str| {
        let output =
            Command::new(env!("CARGO_BIN_EXE_heddle")).args(args).current_dir(env!("CARGO_MANIFEST_DIR")).output().unwrap();
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.code() == Some(2) && text.contains(says), "{args:?}: {text}");
    };
    let case = "test-kernels/saxpy/case.json";
    fails(&["run", case, "--mode", "functional", "--trace", "t.json"], "--trace needs --mode timing");
    fails(&["run", case, "--trace-limit", "5"], "--trace");
    fails(&["run", case, "--quiet", "--report", "/nowhere/at/all.html"], "cannot write /nowhere/at/all.html");
    fails(&["run", case, "--quiet", "--trace", "/nowhere/at/all.json"], "cannot write /nowhere/at/all.json");
    let kernel = "test-kernels/saxpy/kernel.cl";
    fails(&["build", kernel, "-o", "-", "--stop-after", "lower", "--dump=ddg"], "no graph `ddg`");
    fails(&["build", kernel, "-o", "-", "--stop-after", "select", "--dump=cfg"], "--dump");
    fails(&["build", kernel, "-o", "-", "--emit", "ir", "--dump=cfg"], "--dump");
    fails(&["build", kernel, "-o", "-", "--dump-dir", "x"], "--dump");
}
