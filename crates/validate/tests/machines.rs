//! The simulator keeps to the descriptions of all machines that come with Heddle, and to changed ones; and a
//! simulator that does not is found out.

use std::path::{Path, PathBuf};

use heddle_sim::Options;
use heddle_target::Machine;
use heddle_validate::page::sentence;
use heddle_validate::{Defect, Report, validate};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn machine(file: Option<&str>, set: &[&str]) -> Machine {
    let file = file.map(|f| root().join(f));
    let set: Vec<String> = set.iter().map(ToString::to_string).collect();
    Machine::load(file.as_deref(), &set).unwrap()
}

fn options() -> Options {
    Options { threads: 1, ..Options::default() }
}

fn checked(machine: &Machine, defect: Option<&Defect>) -> Report {
    validate(machine, &options(), defect, &mut |_| {})
}

#[track_caller]
fn is_green(machine: &Machine) -> Report {
    let report = checked(machine, None);
    let failures: Vec<String> = report.failures().map(sentence).collect();
    assert!(failures.is_empty(), "{}:\n{}", machine.name, failures.join("\n"));
    report
}

#[test]
fn the_default_machine() {
    let report = is_green(&machine(None, &[]));
    let compared = report.checks.len() - report.left_out().count();
    assert!(compared > 130, "{compared} checks were compared");
}

#[test]
fn a_small_machine() {
    is_green(&machine(Some("machines/small.toml"), &[]));
}

#[test]
fn published_machines() {
    for file in ["machines/gtx480.toml", "machines/v100.toml", "machines/r9-nano.toml"] {
        is_green(&machine(Some(file), &[]));
    }
}

/// Policies and timings of memory that the default machine does not have.
#[test]
fn other_memories() {
    for set in [
        &["memory.data.replacement=random", "memory.uniform.replacement=random", "memory.constant.replacement=random"][..],
        &["memory.data.replacement=fifo", "memory.l2.replacement=fifo"],
        &["memory.data.replacement=rrip", "memory.l15.replacement=pseudo-lru"],
        &["memory.data.index=linear", "memory.l2.index=linear", "memory.l2.slice-hash=false"],
        &["memory.l2.write=through"],
        &["memory.l2.write-allocate=false"],
        &["memory.dram.t-rcd=30", "memory.dram.t-rp=25", "memory.dram.t-ras=60", "memory.dram.t-rrd=8", "memory.dram.t-wr=20"],
        &["memory.dram.scheduler=fr-fcfs", "memory.dram.t-rcd=30", "memory.dram.t-rp=25", "memory.dram.t-wr=20"],
        &["memory.dram.scheduler=fr-fcfs", "memory.data.misses=48"],
        &["memory.dram.t-ccd=24", "memory.dram.t-rtw=10", "memory.dram.t-wtr=12"],
        &["memory.dram.t-refi=4000", "memory.dram.t-rfc=400"],
        &["memory.dram.mapping=row:bank:channel:column", "memory.dram.hash=false"],
        &["energy.arrays.scalar-file-bytes=1024", "energy.static-power.sm-watts=0.7", "energy.static-power.power-gating=true"],
    ] {
        let mut machine = machine(None, set);
        machine.name = set.join(" ");
        is_green(&machine);
    }
}

/// Multiprocessors that are not plain.
#[test]
fn other_multiprocessors() {
    for set in [
        &["main-file.banks=4", "main-file.latency=2"][..],
        &["main-file.banks=8", "main-file.read-ports=2", "main-file.swizzle=false", "sm.schedulers=2"],
        &["main-file.latency=3", "sm.scheduler=round-robin", "sm.rotate-clusters=true"],
        &["sm.scheduler=two-level", "sm.active-warps=8", "launch-cycles=700", "end-cycles=90", "sm.dispatch-cycles=20"],
        &["sm.schedulers=4", "sm.issue-width=1", "sm.scheduler=oldest"],
    ] {
        let mut machine = machine(None, set);
        machine.name = set.join(" ");
        is_green(&machine);
    }
}

/// What is expected follows the description: each of these changes it.
#[test]
fn expectations_follow_the_description() {
    let name = |r: &Report, of: &str| r.checks.iter().find(|c| c.name == of).map(|c| c.expected);
    for (set, of, expected) in [
        (["timing.int32.latency=9"], "int32 on the vector unit", 9.0),
        (["timing.float32.interval=12"], "float32 on the vector unit", 12.0),
        (["memory.local-latency=41"], "work-group memory, chain, words 2 apart: 2 in a bank", 46.0),
        (["timing.control.latency=7"], "barrier of 2 warps", 7.0),
        (["memory.l2.atomic-interval=3"], "atomics of all warps on one word", 97.0),
    ] {
        let report = is_green(&machine(None, &set));
        assert_eq!(name(&report, of), Some(expected), "{set:?}");
    }
    for set in [
        "memory.dram.row-hit=333",
        "memory.dram.interval=9",
        "memory.network.latency=17",
        "memory.network.interval=3",
        "memory.l2.interval=5",
        "memory.data.latency=77",
        "memory.data.misses=8",
        "sm.scalar-issue=2",
        "warp-size=16",
        "memory.sector-bytes=64",
    ] {
        is_green(&machine(None, &[set]));
    }
}

/// A simulator that is wrong in one thing fails, and the checks that fail are about it.
#[test]
fn defects_are_found() {
    let described = machine(None, &[]);
    let defects: [(&str, &Defect, &str); 20] = [
        ("a latency", &|m| m.timing.values_mut().take(1).for_each(|t| t.latency += 1), "on the vector unit"),
        ("a scalar latency", &|m| m.timing.values_mut().take(1).for_each(|t| t.scalar_latency += 1), "on the scalar unit"),
        ("an interval", &|m| m.timing.values_mut().for_each(|t| t.interval += 1), "on one cluster"),
        ("work-group memory", &|m| m.memory.local_latency += 1, "work-group memory, chain"),
        ("banks", &|m| m.memory.local_banks = 16, "in a bank"),
        ("arguments", &|m| m.memory.argument_latency += 1, "argument by an index"),
        ("the L1", &|m| m.memory.data.latency += 1, "data path, a list over"),
        ("the L1's size", &|m| m.memory.data.bytes /= 2, "data path, a list over all of the L1"),
        ("the L1's ways", &|m| m.memory.data.ways *= 2, "data L1, a list of 9 lines"),
        ("the L1.5", &|m| m.memory.l15.latency += 1, "uniform path"),
        ("L2", &|m| m.memory.l2.latency += 1, "data path, a list over twice the L1"),
        ("L2's slices", &|m| m.memory.l2.interval += 1, "one L2 slice"),
        ("atomics", &|m| m.memory.l2.atomic_interval += 1, "atomics of a warp on one word"),
        ("the network", &|m| m.memory.network.latency += 1, "data path, a list over twice the L1"),
        ("rows of DRAM", &|m| m.memory.dram.row_hit += 20, "twice L2"),
        ("operands", &|m| m.main_file.latency += 1, "in one bank of the main file"),
        ("prices by capacity", &|m| m.energy.arrays.read_exponent += 0.1, "energy: register-file scalar"),
        ("prices of local files", &|m| m.energy.arrays.table_warps *= 2, "energy: register-file local"),
        ("wires to shared units", &|m| m.energy.distance_mm.local_shared += 0.1, "energy: register-file local"),
        ("DRAM's bus", &|m| m.memory.dram.interval += 1, "DRAM channel, read"),
    ];
    for (what, defect, of) in defects {
        let report = checked(&described, Some(defect));
        let failures: Vec<&str> = report.failures().map(|c| c.name.as_str()).collect();
        assert!(failures.iter().any(|f| f.contains(of)), "{what}: {failures:?}");
    }
}

#[test]
fn a_launch_that_costs_something_else_is_found() {
    let described = machine(None, &["launch-cycles=700"]);
    let report = checked(&described, Some(&|m| m.launch_cycles /= 2));
    let failures: Vec<&str> = report.failures().map(|c| c.name.as_str()).collect();
    assert_eq!(failures, ["a launch, before its first and behind its last work-group"]);
}

#[test]
fn what_is_published_of_a_machine_stands_beside_it() {
    let report = checked(&machine(Some("machines/v100.toml"), &[]), None);
    let plot = report.plots.iter().find(|p| p.id == "published-chase").expect("the V100 has a curve");
    assert!(plot.reference == "published" && plot.points.len() > 8, "{} points", plot.points.len());
    // The description was fitted to it: nothing is far off, and far from L1 and L2 both step.
    let worst = plot.points.iter().map(|p| (p.2 / p.1 - 1.0).abs()).fold(0.0, f64::max);
    assert!(worst < 0.6, "{:?}", plot.points);
    assert!(checked(&machine(None, &[]), None).plots.iter().all(|p| p.reference == "expected"));
}
