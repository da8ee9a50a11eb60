//! Runs that are ended from outside: Ctrl-C gives what was counted so far, and what was killed goes on from its
//! checkpoints.

use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// One launch that ends, and one that does not.
const ENDLESS: &str = "__kernel void short_one(__global int *a) { a[get_global_id(0)] = 1; }
__kernel void endless(__global volatile int *a) { while (a[get_global_id(0)]) a[get_global_id(0) + 64] += 1; }
";

/// Each launch reads what others have written in the launch before.
const STEP: &str = "__kernel void step(__global uint *a) {
  uint i = get_global_id(0), x = a[i * 17u % 16384u];
  for (uint k = 0; k < 40u; k++)
    x = x * 1664525u + a[x >> 18];
  a[i] = x;
}
";

/// A case in a folder of its own.
fn write_case(folder: &Path, source: &str, case: &Value) -> String {
    std::fs::write(folder.join("kernel.cl"), source).unwrap();
    let path = folder.join("case.json");
    std::fs::write(&path, case.to_string()).unwrap();
    path.display().to_string()
}

fn heddle(arguments: &[&str]) -> Command {
    let mut command = Command::new(assert_cmd::cargo::cargo_bin("heddle"));
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    // Whoever runs the tests in the background may have them ignore Ctrl-C, and Heddle would, too.
    // SAFETY: `signal` may be called between fork and exec.
    unsafe {
        command.pre_exec(|| {
            libc::signal(libc::SIGINT, libc::SIG_DFL);
            Ok(())
        });
    }
    command
}

/// Runs until a file is there, sends a signal, and waits for the end.
fn signalled(arguments: &[&str], file: &Path, signal: libc::c_int) -> Output {
    let child = heddle(arguments).spawn().unwrap();
    let begun = Instant::now();
    while !file.exists() {
        assert!(begun.elapsed() < Duration::from_secs(600), "{} does not appear", file.display());
        std::thread::sleep(Duration::from_millis(2));
    }
    // SAFETY: sends a signal to a child that has not been waited for.
    assert_eq!(unsafe { libc::kill(libc::pid_t::try_from(child.id()).unwrap(), signal) }, 0);
    child.wait_with_output().unwrap()
}

fn read_json(path: &Path) -> Value {
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

#[test]
fn an_interrupted_run_reports_what_it_has_done() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let case = json!({
        "source": "kernel.cl",
        "buffers": { "a": { "zeros": [256], "dtype": "int32", "save": "a.npy" } },
        "launches": [
            { "kernel": "short_one", "global": [256], "local": [64], "args": [{ "buffer": "a" }] },
            { "kernel": "endless", "global": [128], "local": [64], "args": [{ "buffer": "a" }] },
            { "kernel": "short_one", "global": [256], "local": [64], "args": [{ "buffer": "a" }] },
        ],
    });
    let case = write_case(folder.path(), ENDLESS, &case);
    let (checkpoint, statistics, page) = (at("second"), at("partial.json"), at("partial.html"));
    for (mode, signal, status) in
        [("timing", libc::SIGINT, 130), ("functional", libc::SIGINT, 130), ("timing", libc::SIGTERM, 143)]
    {
        // It is written before the launch that does not end.
        let _not_there = std::fs::remove_file(&checkpoint);
        let [first, second, third] = [&checkpoint, &statistics, &page].map(|p| p.to_str().unwrap());
        let arguments = ["run", &case, "--mode", mode, "--checkpoint", first, "--at", "2", "--json", second, "--report", third];
        let output = signalled(&arguments, &checkpoint, signal);
        let (text, errors) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert_eq!(output.status.code(), Some(status), "{mode}: {errors}");
        assert!(errors.contains("interrupted in launch 2 (`endless`), of whose 2 work-groups 0 had ended"), "{errors}");
        assert!(text.contains("PARTIAL: interrupted in launch 2") && text.contains("with 1 launch left"), "{text}");
        assert!(!text.contains("PASS") && !text.contains("done;"), "{text}");
        let json = read_json(&statistics);
        assert_eq!((&json["partial"], &json["passed"], &json["launches_left"]), (&json!(true), &json!(false), &json!(1)));
        let [whole, part] = [0, 1].map(|i| &json["launches"][i]["statistics"]);
        assert!(whole.get("interrupted").is_none() && whole["work_groups"] == 4);
        assert_eq!(part["interrupted"], json!({ "work_groups": 2, "ended": 0 }));
        let counted = |s: &Value| s["instructions"].as_u64().unwrap();
        assert!(counted(whole) > 0 && counted(&json["total"]) == counted(whole) + counted(part), "{mode}");
        if mode == "timing" {
            let cycles = |s: &Value| s["timing"]["cycles"].as_u64().unwrap();
            assert!(cycles(whole) > 0 && cycles(&json["total"]) == cycles(whole) + cycles(part));
        }
        assert!(std::fs::read_to_string(&page).unwrap().contains("interrupted in launch 2"));
        assert!(!at("a.npy").exists(), "unfinished buffers are not saved");
    }
}

#[test]
fn a_run_killed_at_three_places_comes_to_the_same_cycles() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let mut steps = vec![json!({ "kernel": "step", "global": [16384], "local": [128], "args": [{ "buffer": "a" }] }); 8];
    // So long that nobody comes too late to kill it.
    (steps[7]["global"], steps[7]["repeat"]) = (json!([8192]), json!(100));
    let case = json!({
        "source": "kernel.cl",
        "buffers": { "a": { "random": [16384], "dtype": "uint32", "seed": 3, "save": "a.npy" } },
        "launches": steps,
    });
    let case = write_case(folder.path(), STEP, &case);
    let (file, statistics) = (at("checkpoint"), at("statistics.json"));
    let [file, json] = [&file, &statistics].map(|p| p.to_str().unwrap());
    let ran = |more: &[&str]| {
        let output = heddle(&[&["run", &case, "--json", json], more].concat()).output().unwrap();
        assert!(output.status.success(), "{more:?}: {}", String::from_utf8_lossy(&output.stderr));
        (read_json(&statistics), std::fs::read(at("a.npy")).unwrap())
    };
    let (whole, result) = ran(&[]);
    std::fs::remove_file(at("a.npy")).unwrap();
    let places = [3, 5, 7];
    let mut restore: Option<String> = None;
    for place in places {
        let next = format!("{file}.{place}");
        let mut arguments = vec!["run", &case, "--checkpoint", file, "--at", "3,5,7"];
        arguments.extend(restore.iter().flat_map(|from| ["--restore", from.as_str()]));
        let output = signalled(&arguments, Path::new(&next), libc::SIGKILL);
        assert!(output.status.code().is_none(), "it was killed, and did not end before");
        assert!(!at("a.npy").exists());
        restore = Some(next);
    }
    let page = at("page.html");
    let (rest, restored) = ran(&["--restore", &restore.unwrap(), "--report", page.to_str().unwrap()]);
    assert!(std::fs::read_to_string(&page).unwrap().contains(r#""global":[8192]"#), "sizes are those of the launches that ran");
    assert!(restored == result, "the same bytes");
    let launches = |v: &Value| v["launches"].as_array().unwrap().iter().map(|l| l["statistics"].clone()).collect::<Vec<_>>();
    let (mut all, last) = (launches(&whole), launches(&rest));
    assert_eq!((all.len(), last.len()), (8, 2));
    // What differs are only the host's threads.
    for (a, b) in all.split_off(6).iter_mut().zip(last) {
        assert!(a["timing"]["cycles"].as_u64().unwrap() > 0);
        assert_eq!(*a, b);
    }
}
