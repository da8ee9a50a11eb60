//! `--tolerate`: the same bytes in both modes, interpreted and translated, and each place is named.

use std::fs;

use assert_cmd::Command;
use predicates::prelude::*;
use predicates::str::contains;

fn heddle() -> Command {
    let mut c = Command::cargo_bin("heddle").unwrap();
    c.current_dir(env!("CARGO_MANIFEST_DIR"));
    c
}

#[test]
fn what_devices_let_pass_is_tolerated_where_it_is_wanted_and_named() {
    // Words behind the end of a buffer and of work-group memory, an atomic and a store outside, a barrier that a part of a warp
    // comes to.
    let kernel = "\
__kernel void k(__global int *a, __global int *b) {
  __local int part[64];
  int i = get_global_id(0), l = get_local_id(0);
  part[l] = a[i + 5] + 1;
  barrier(CLK_LOCAL_MEM_FENCE);
  int sum = part[l] + part[l + 7];
  if (i == 3) sum += atomic_add(&b[10000], 1);
  if (l < 8) { barrier(CLK_LOCAL_MEM_FENCE); sum += 10; }
  if (i == 1) b[-9000] = 7;
  b[i] = sum;
}
";
    let case = r#"{"source":"kernel.cl","buffers":{"a":{"npy":"a.npy"},"b":{"zeros":[64],"dtype":"int32","expect":"b.npy"}},
        "launches":[{"kernel":"k","global":[64],"local":[64],"args":[{"buffer":"a"},{"buffer":"b"}]}]}"#;
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("kernel.cl"), kernel).unwrap();
    let path = folder.path().join("case.json");
    fs::write(&path, case).unwrap();
    let write = |name: &str, of: &dyn Fn(i32) -> i32| {
        let bytes: Vec<u8> = (0..64).flat_map(|i| of(i).to_le_bytes()).collect();
        let array = heddle::runtime::array::Array { dtype: heddle::runtime::array::DType::Int32, shape: vec![64], data: bytes };
        array.write(&folder.path().join(name)).unwrap();
    };
    let part = |l: i32| if l >= 64 { 0 } else { 1 + if l + 5 < 64 { 100 * (l + 5) } else { 0 } };
    write("a.npy", &|i| 100 * i);
    write("b.npy", &|i| part(i) + part(i + 7) + if i < 8 { 10 } else { 0 });
    for (mode, jit) in [("functional", "never"), ("functional", "always"), ("timing", "never")] {
        let run = |options: &[&str]| heddle().arg("run").arg(&path).args(["--mode", mode, "--jit", jit]).args(options).assert();
        run(&[]).code(1).stderr(contains("kernel.cl:4: load of 4 bytes out of bounds").and(contains("--tolerate=out-of-bounds")));
        run(&["--tolerate=out-of-bounds"]).code(1).stderr(contains("kernel.cl:8: divergent barrier: 8 of the warp's 32"));
        run(&["--tolerate=divergent-barriers"]).code(1).stderr(contains("kernel.cl:4: load"));
        let output = run(&["--tolerate"]).success();
        let text = String::from_utf8_lossy(&output.get_output().stdout);
        let named =
            |by: &str, what: &str| text.lines().any(|l| l.contains(&format!("tolerated {by} in kernel `k`")) && l.contains(what));
        assert!(named("5 times", "kernel.cl:4: load of 4 bytes out of bounds in global memory"), "{text}");
        assert!(named("7 times", "kernel.cl:6: load of 4 bytes out of bounds in local memory"), "{text}");
        assert!(named("once", "kernel.cl:7: atomic of 4 bytes"), "{text}");
        assert!(named("8 times", "kernel.cl:8: divergent barrier"), "{text}");
        assert!(named("once", "kernel.cl:9: store of 4 bytes"), "{text}");
    }
    heddle().arg("run").arg(&path).args(["--tolerate", "--check"]).assert().code(2).stderr(contains("cannot be used with"));
    let json = heddle().arg("run").arg(&path).args(["--tolerate", "--json", "-"]).assert().success();
    let json: serde_json::Value = serde_json::from_slice(&json.get_output().stdout).unwrap();
    let tolerated = &json["total"]["tolerated"];
    assert_eq!((&tolerated[0]["kind"], &tolerated[0]["times"]), (&"out-of-bounds".into(), &5.into()), "{json}");
}
