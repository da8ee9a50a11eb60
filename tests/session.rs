//! A program's launches as a driver tells them to a session: which are timed, what is written, and cases that
//! replay.
//!
//! The test of the index page looks for Chromium (`tests/browser`) and says so if there is none.

mod browser;
mod launches;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use browser::{attribute, charts, chromium, dom};
use heddle::driver::{self, CompileOptions, Emit};
use heddle::object::{Image, read};
use heddle::runtime::array::Array;
use heddle::runtime::case::{Argument as CaseArgument, Case};
use heddle::runtime::run::{Simulator, run_case};
use heddle::session::record::{Allocation, Argument, Description};
use heddle::session::results::Results;
use heddle::session::{CommandTimes, LaunchPlan, Session, SourceText};
use heddle::sim::{Fault, FaultKind, Statistics};
use heddle::{Machine, Mode};
use launches::{end_launch, launch, run_first, session};
use serde_json::Value;

fn fault() -> Fault {
    let ids = [0; 3];
    let (kernel, source) = ("saxpy".into(), Some("kernel.cl:3".into()));
    Fault { kind: FaultKind::Trap, kernel, source, global_id: ids, local_id: ids, group_id: ids }
}

fn json(path: &Path) -> Value {
    serde_json::from_slice(&fs::read(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))).unwrap()
}

#[test]
fn plans_follow_the_options() {
    let session = session(
        &[("HEDDLE_TIMING", "step:2-3,5;other:1"), ("HEDDLE_RECORD", "/nowhere"), ("HEDDLE_RECORD_ONLY", "step:4")],
        None,
    );
    let steps: Vec<LaunchPlan> = (0..6).map(|_| session.begin_launch("step", String::new)).collect();
    let timed: Vec<bool> = steps.iter().map(|p| p.mode == Mode::Timing).collect();
    assert_eq!(timed, [false, true, true, false, true, false]);
    // Empty where functional launches ran since the last timed one.
    assert_eq!(steps.iter().map(|p| p.cold).collect::<Vec<_>>(), [false, true, false, false, true, false]);
    assert_eq!(steps.iter().map(|p| p.record).collect::<Vec<_>>(), [false, false, false, true, false, false]);
    let other = session.begin_launch("other", String::new);
    assert_eq!((other.number, other.occurrence, other.mode), (7, 1, Mode::Timing));

    let warm = self::session(&[("HEDDLE_TIMING", "*:2"), ("HEDDLE_TIMING_CACHES", "warm")], None);
    assert!(!warm.begin_launch("k", String::new).cold && !warm.begin_launch("k", String::new).cold);
    let all = self::session(&[("HEDDLE_MODE", "timing")], None);
    assert!((0..3).all(|_| {
        let plan = all.begin_launch("k", String::new);
        plan.mode == Mode::Timing && !plan.cold && !plan.record
    }));
}

#[test]
fn outputs_say_what_was_launched() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).display().to_string();
    let (json_file, report, trace) = (at("out.json"), at("report"), at("trace.json"));
    let words =
        [("HEDDLE_TIMING", "saxpy:2"), ("HEDDLE_JSON", &*json_file), ("HEDDLE_REPORT", &*report), ("HEDDLE_TRACE", &*trace)];
    let results = folder.path().join("results");
    fs::create_dir(&results).unwrap();
    let session = session(&words, Some(&results));
    let (_, image, functional) = run_first("test-kernels/saxpy/case.json", Mode::Functional, None);
    session.host_call("clCreateContext", 5, 10, 20);
    launch(&session, &image, Ok(&functional.total), 1000);
    let plan = session.begin_launch("saxpy", String::new);
    assert!(plan.options.record.time_line, "its page has a time line");
    let (_, _, timed) = run_first("test-kernels/saxpy/case.json", Mode::Timing, Some(&plan));
    end_launch(&session, &plan, &image, Ok(&timed.total), 2000);
    session.command("copy", 1, 4096, &CommandTimes { queued: 2500, submitted: 2500, started: 2600, ended: 2700 });
    launch(&session, &image, Err(&fault()), 3000);
    // A fault is known at once, even if the program is killed now.
    assert_eq!(Results::read_all(&results).faults, 1);
    session.finish();
    session.finish();

    let cycles = timed.total.cycles().unwrap();
    let statistics = json(Path::new(&json_file));
    assert_eq!(statistics["passed"], false);
    assert_eq!(statistics["faults"][0]["kind"], "trap");
    let kernel = &statistics["kernels"][0];
    assert_eq!((&kernel["launches"], &kernel["timed"], &kernel["faults"]), (&3.into(), &1.into(), &1.into()));
    assert_eq!(kernel["statistics"]["timing"]["cycles"], cycles);
    assert_eq!(statistics["total"]["work_items"], 2 * 1024);
    let launches = statistics["launches"].as_array().unwrap();
    assert_eq!(launches.iter().map(|l| l["mode"].as_str().unwrap()).collect::<Vec<_>>(), ["functional", "timing", "functional"]);
    assert_eq!(launches[1]["statistics"]["timing"]["cycles"], cycles);
    assert_eq!(launches[1]["cold_caches"], true);

    let index = fs::read_to_string(Path::new(&report).join("index.html")).unwrap();
    assert!(index.contains("launch-0002.html") && index.contains(&format!("\"cycles\":{cycles}")), "{index}");
    let page = fs::read_to_string(Path::new(&report).join("launch-0002.html")).unwrap();
    assert!(page.contains("// in memory"), "the source that the program gave");
    assert!(!Path::new(&report).join("launch-0001.html").exists());

    let events = json(Path::new(&trace));
    let slices: Vec<&str> =
        events.as_array().unwrap().iter().filter(|e| e["ph"] == "X").map(|e| e["name"].as_str().unwrap()).collect();
    assert_eq!(slices, ["clCreateContext", "saxpy", "saxpy", "copy", "saxpy"]);

    let all = Results::read_all(&results);
    assert_eq!((all.kernels[0].launches, all.kernels[0].cycles), (3, cycles));
    assert_eq!(all.outputs.len(), 3, "{:?}", all.outputs);
    assert!(all.summary().contains("3 launches of 1 kernel"), "{}", all.summary());
}

/// Launches of kernels with these names, all as `statistics` says; the index page.
fn index(folder: &Path, mode: &str, names: &[&str], image: &Arc<Image>, statistics: &Statistics) -> PathBuf {
    let report = folder.join(mode);
    let session = session(&[("HEDDLE_MODE", mode), ("HEDDLE_REPORT", report.to_str().unwrap())], Some(folder));
    for name in names {
        let plan = session.begin_launch(name, String::new);
        // The page of a launch needs the kernel's code.
        let mut image = Image::clone(image);
        image.metadata.kernels[0].name = name.to_string();
        end_launch(&session, &plan, &Arc::new(image), Ok(statistics), plan.number * 1000);
    }
    session.finish();
    report.join("index.html")
}

#[test]
fn the_index_page_draws_and_sorts_in_a_browser() {
    let Some(browser) = chromium() else { return };
    let folder = tempfile::tempdir().unwrap();
    let (_, image, timed) = run_first("test-kernels/saxpy/case.json", Mode::Timing, None);
    let names: Vec<String> = (0..30).map(|i| format!("kernel_{:02}_with_a_long_name", i % 11)).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let page = index(folder.path(), "timing", &names, &image, &timed.total);
    // The first column of kernels and launches after their heads were pressed twice.
    let press = "<script>for (const id of ['kernels', 'launches']) { const at = id === 'kernels' ? 0 : 1; \
                 const press = () => document.querySelectorAll(`#${id} th button`)[at].click(); press(); press(); \
                 root.dataset[id] = document.querySelectorAll(`#${id} tbody tr`)[0].children[at].textContent; }</script>";
    let text = fs::read_to_string(&page).unwrap();
    fs::write(&page, text.replace("</body>", &format!("{press}</body>"))).unwrap();
    for width in [1400, 500] {
        let dom = dom(&browser, &page, width);
        assert_eq!(attribute(&dom, "data-errors"), Some("0"), "{:?}", attribute(&dom, "data-error"));
        assert_eq!(attribute(&dom, "data-fits"), Some("true"), "the page scrolls sideways at {width} pixels");
        let charts = charts(&dom);
        assert!(charts["shares"].1 > 30, "{charts:?}");
        assert_eq!((&*charts["kernels"].0, &*charts["launches"].0), ("11", "30"));
        assert_eq!(attribute(&dom, "data-kernels"), Some("kernel_10_with_a_long_name"));
        assert_eq!(attribute(&dom, "data-launches"), Some("kernel_10_with_a_long_name :1"));
        assert!(dom.contains("href=\"launch-0030.html\"") && dom.contains("10.0&nbsp;%"), "shares and links");
    }
    // No launch timed, and none at all.
    let (_, image, counted) = run_first("test-kernels/saxpy/case.json", Mode::Functional, None);
    for names in [&["a", "b"][..], &[]] {
        let other = tempfile::tempdir().unwrap();
        let page = index(other.path(), "functional", names, &image, &counted.total);
        if names.is_empty() {
            // Who launches nothing writes nothing; `heddle exec` does.
            assert!(!page.exists());
            let report = other.path().join("functional");
            session(&[("HEDDLE_REPORT", report.to_str().unwrap())], Some(other.path())).finish_empty(None);
        }
        let dom = dom(&browser, &page, 900);
        assert_eq!(attribute(&dom, "data-errors"), Some("0"), "{:?}", attribute(&dom, "data-error"));
        assert_eq!(charts(&dom)["shares"].0 == "empty", names.is_empty());
    }
}

#[test]
fn no_process_overwrites_anothers_files() {
    let folder = tempfile::tempdir().unwrap();
    let (out, report) = (folder.path().join("out.json"), folder.path().join("report"));
    let words = [("HEDDLE_JSON", out.to_str().unwrap()), ("HEDDLE_REPORT", report.to_str().unwrap())];
    let (_, image, ran) = run_first("test-kernels/saxpy/case.json", Mode::Functional, None);
    let run = |session_folder: Option<&Path>, launches: usize| {
        let session = session(&words, session_folder);
        (0..launches).for_each(|_| _ = launch(&session, &image, Ok(&ran.total), 0));
    };
    let count = |path: &Path| json(path)["launches"].as_array().unwrap().len();
    let (own, id) = (folder.path().join("session"), std::process::id());
    fs::create_dir(&own).unwrap();
    run(Some(&own), 0);
    assert!(!out.exists(), "who launches nothing takes no name");
    run(Some(&own), 1);
    run(Some(&own), 2);
    let second = folder.path().join(format!("out-{id}.json"));
    assert_eq!((count(&out), count(&second)), (1, 2));
    assert!(report.join("index.html").exists() && report.join(format!("process-{id}/index.html")).exists());
    // Another run takes the names again; without `heddle exec` nothing that is there is overwritten.
    let next = folder.path().join("next");
    fs::create_dir(&next).unwrap();
    run(Some(&next), 3);
    assert_eq!(count(&out), 3);
    fs::remove_file(&second).unwrap();
    run(None, 4);
    assert_eq!((count(&out), count(&second)), (3, 4));
}

#[test]
fn complaints_are_of_what_is_checked() {
    let folder = tempfile::tempdir().unwrap();
    let quiet = session(&[], Some(folder.path()));
    quiet.api_error("clFinish", "CL_INVALID_COMMAND_QUEUE", "no queue");
    quiet.leak("buffer", 3, "");
    quiet.finish();
    assert_eq!(Results::read_all(folder.path()).leaks, 0);
    let checking = session(&[("HEDDLE_CHECK", "1")], Some(folder.path()));
    (0..2).for_each(|_| checking.api_error("clFinish", "CL_INVALID_COMMAND_QUEUE", "no queue"));
    checking.leak("buffer", 3, "of 16 bytes");
    checking.finish();
    let all = Results::read_all(folder.path());
    assert_eq!((all.leaks, all.api_errors), (3, 2));
}

/// Contents of buffers at addresses, before or after a launch.
fn contents(buffers: &BTreeMap<String, (Allocation, Array)>, address: u64, bytes: usize) -> Option<Vec<u8>> {
    let (_, array) = buffers.values().find(|(a, _)| a.address == address)?;
    (array.data.len() == bytes).then(|| array.data.clone())
}

/// Records the first launch of a case; returns the recorded one.
fn record(session: &Session, path: &str) -> Option<PathBuf> {
    record_of(session, path, |case| {
        let text = fs::read_to_string(case.source()).unwrap();
        SourceText { files: vec![("kernel.cl".into(), text)], options: case.options.clone(), bitcode: None }
    })
}

/// Likewise, as a launch of a program of this source.
fn record_of(session: &Session, path: &str, source: impl Fn(&Case) -> SourceText) -> Option<PathBuf> {
    let (case, image, outcome) = run_first(path, Mode::Functional, None);
    let spec = &case.launches[0];
    let header = &image.metadata.kernels[image.kernel(&spec.kernel).unwrap()];
    let place = |(i, (name, array)): (usize, (String, Array))| {
        let allocation = Allocation { address: 0x10000 * (i as u64 + 1), bytes: array.data.len() as u64, system: false };
        (name, (allocation, array))
    };
    let initial = case.buffers.iter().map(|(name, b)| (name.clone(), b.contents(&case.folder).unwrap()));
    let before: BTreeMap<_, _> = initial.enumerate().map(place).collect();
    let after: BTreeMap<_, _> = outcome.buffers.into_iter().enumerate().map(place).collect();
    let given = spec.arguments().unwrap();
    let arguments: Vec<Argument> = (spec.args.iter().zip(given).zip(header.visible_args()))
        .map(|((words, value), parameter)| match value {
            CaseArgument::Local(n) => Argument::Local(n),
            CaseArgument::Value { bytes, .. } if words.contains_key("sampler") => {
                Argument::Sampler(u32::from_le_bytes(bytes.try_into().unwrap()))
            }
            CaseArgument::Value { bytes, .. } => Argument::Value(bytes),
            _ => {
                let name = words["buffer"].as_str().unwrap();
                let allocation = before[name].0;
                match &case.buffers[name].image {
                    Some(image) if parameter.type_name.starts_with("image") => {
                        Argument::Image(allocation, 0, image.shape(&parameter.type_name).unwrap())
                    }
                    _ => Argument::Pointer(allocation, 0),
                }
            }
        })
        .collect();
    let source = source(&case);
    let (global, local) = (&spec.global[..], &spec.local.clone().unwrap()[..]);
    let offset = spec.offset.clone().unwrap_or_else(|| vec![0; global.len()]);
    let description = Description { header, source: &source, global, local, offset: &offset, arguments: &arguments, cached: &[] };
    let plan = session.begin_launch(&spec.kernel, String::new);
    let pending = session.begin_recording(&plan, &description, &|at, bytes| contents(&before, at, bytes))?;
    session.end_recording(pending, &|at, bytes| contents(&after, at, bytes), true);
    Some(session.options().record.as_ref()?.join(format!("{:04}-{}", plan.number, spec.kernel)).join("case.json"))
}

/// A program that was linked has bitcode for its source, which is built as the program was.
#[test]
fn linked_programs_are_recorded_with_their_options() {
    let folder = tempfile::tempdir().unwrap();
    let cases = folder.path().join("cases");
    let session = session(&[("HEDDLE_RECORD", cases.to_str().unwrap())], None);
    let linked = |_: &Case| SourceText { files: Vec::new(), options: vec!["-O0".into()], bitcode: Some(b"BC".to_vec()) };
    let case = Case::read(&record_of(&session, "test-kernels/saxpy/case.json", linked).unwrap()).unwrap();
    assert_eq!(fs::read(case.source()).unwrap(), b"BC");
    assert!(case.options.contains(&"-O0".to_string()), "{:?}", case.options);
}

#[test]
fn recorded_launches_replay() {
    let folder = tempfile::tempdir().unwrap();
    let cases = folder.path().join("cases");
    let session = session(&[("HEDDLE_RECORD", cases.to_str().unwrap())], None);
    let machine = Machine::default_machine();
    for name in ["saxpy", "sgemm_tiled", "histogram", "images", "struct_args", "work_items", "atomics", "reduction", "saxpy"] {
        let path = record(&session, &format!("test-kernels/{name}/case.json")).unwrap();
        let case = Case::read(&path).unwrap_or_else(|e| panic!("{name}: {e}"));
        let (inputs, frontend) = driver::case_frontend(&case, &[]).unwrap();
        let compiled = driver::compile(&inputs, Emit::Obj, &CompileOptions { frontend, ..Default::default() }, &machine);
        let image = read::parse(&compiled.unwrap_or_else(|e| panic!("{name}: {e}")).output).unwrap();
        let simulator = Simulator { machine: &machine, mode: Mode::Timing, options: &Default::default() };
        let replayed = run_case(&case, &image, &simulator, &mut ()).unwrap_or_else(|e| panic!("{name}: {e}"));
        assert!(replayed.checked > 0 && replayed.mismatches.is_empty(), "{name}: {:?}", replayed.mismatches);
        for (buffer, spec) in &case.buffers {
            if let Some(expect) = &spec.expect {
                let expected = Array::read(&case.folder.join(expect)).unwrap();
                assert_eq!(replayed.buffers[buffer].data, expected.data, "{name}: {buffer}, bit by bit");
            }
        }
    }
    // The second launch of saxpy brought nothing new but its case.
    let entries = |name: &str| fs::read_dir(cases.join(name)).unwrap().count();
    assert_eq!(entries("sources"), 8);
    let typed = json(&cases.join("0001-saxpy/case.json"));
    assert_eq!(typed["buffers"]["y"]["npy"], json(&cases.join("0009-saxpy/case.json"))["buffers"]["y"]["npy"]);
    assert_eq!(
        Array::read(&cases.join("0001-saxpy").join(typed["buffers"]["x"]["npy"].as_str().unwrap())).unwrap().dtype.to_string(),
        "float32"
    );
    session.leave_out(&session.begin_launch("indirect", String::new), "indirect", "it follows pointers in memory");
    let left_out = fs::read_to_string(cases.join("left-out.txt")).unwrap();
    assert_eq!(left_out, "launch 10, kernel `indirect`: it follows pointers in memory\n");
}
