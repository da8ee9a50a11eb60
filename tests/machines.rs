//! Kernels compute the same bytes on every machine of `machines/`.

use assert_cmd::Command;

/// Kernels with barriers, divergence, reductions, atomics and double precision.
const KERNELS: [&str; 5] = ["sgemm_tiled", "bitonic_sort", "gather_table", "atomics", "dot_f64"];

#[test]
fn kernels_are_right_on_every_published_gpu() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/machines");
    let mut machines: Vec<_> = std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()).filter(|p| p.is_file()).collect();
    machines.sort();
    assert!(machines.len() >= 4, "{machines:?}");
    for machine in machines {
        for kernel in KERNELS {
            let mut heddle = Command::cargo_bin("heddle").unwrap();
            heddle.current_dir(env!("CARGO_MANIFEST_DIR")).arg("run").arg(format!("test-kernels/{kernel}/case.json"));
            let out = heddle.arg("--verify").arg("--target").arg(&machine).assert().success();
            let text = String::from_utf8_lossy(&out.get_output().stdout).into_owned();
            assert!(text.contains("as expected"), "{kernel} on {}: {text}", machine.display());
        }
    }
}
