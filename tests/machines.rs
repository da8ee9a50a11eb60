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

/// The totals of a run of `saxpy` with static power for SMs.
fn totals(more: &[&str]) -> serde_json::Value {
    let mut heddle = Command::cargo_bin("heddle").unwrap();
    heddle.current_dir(env!("CARGO_MANIFEST_DIR")).args(["run", "test-kernels/saxpy/case.json", "--json", "-"]);
    heddle.args(["--set=clock-mhz=1000.0", "--set=energy.static-power={sm-watts=1.0,dram-watts=2.0}"]).args(more);
    let out = heddle.assert().success();
    let json: serde_json::Value = serde_json::from_slice(&out.get_output().stdout).unwrap();
    json["total"].clone()
}

#[test]
fn static_power_is_that_of_its_components_and_idle_sms_can_be_switched_off() {
    let number = |t: &serde_json::Value, path: &str| t.pointer(path).and_then(serde_json::Value::as_f64).unwrap();
    let sum = |t: &serde_json::Value| t["static_pj"].as_object().unwrap().values().map(|v| v.as_f64().unwrap()).sum::<f64>();
    let close = |a: f64, b: f64| assert!((a / b - 1.0).abs() < 1e-9, "{a} and {b}");
    // 64 SMs are more than the launch has work-groups.
    let on = totals(&["--set=sm.count=64"]);
    let (cycles, used) = (number(&on, "/timing/cycles"), number(&on, "/timing/sm_cycles"));
    assert!(used > 0.0 && used < 60.0 * cycles, "{used} of 64 x {cycles}");
    close(sum(&on), number(&on, "/energy_pj/static"));
    // All SMs draw 1 W, DRAM 2 W.
    let clock = 1e9;
    close(number(&on, "/static_pj/sm") + number(&on, "/static_pj/idle sms"), 64.0 * cycles / clock * 1e12);
    close(number(&on, "/static_pj/sm"), used / clock * 1e12);
    close(number(&on, "/static_pj/dram"), 2.0 * cycles / clock * 1e12);
    let off = totals(&[
        "--set=sm.count=64",
        "--set=energy.static-power.power-gating=true",
        "--set=energy.static-power.gated-share=0.25",
    ]);
    assert_eq!(number(&off, "/timing/cycles"), cycles);
    close(number(&off, "/static_pj/idle sms"), 0.25 * number(&on, "/static_pj/idle sms"));
    close(number(&off, "/static_pj/sm"), number(&on, "/static_pj/sm"));
}
