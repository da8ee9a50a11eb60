//! What an SM adds that is not plain: banks and latency of the main register file, several schedulers, their policies, the
//! cost of a launch. The other groups leave it out.

use heddle_isa::OpClass;
use heddle_target::{Machine, Scheduler};

use crate::Plot;
use crate::bench::{Bench, Measured};
use crate::expect;
use crate::kernel::{Kernel, Shape};
use crate::latency::on;

/// All checks of what an SM adds.
pub fn all(bench: &mut Bench) {
    main_file(bench);
    schedulers(bench);
    policies(bench);
    launch(bench);
}

/// Chains of an instruction that reads one, two and three words of one bank.
fn main_file(bench: &mut Bench) {
    let described = bench.machine.main_file;
    let machine = Machine { main_file: described, ..bench.one_sm() };
    if !described.is_modelled() {
        bench.leave_out(
            "chain by words of one bank of the main file",
            "the main file has as many ports as wanted, and no latency",
        );
        return;
    }
    let banks = described.banks.max(1);
    let registers = 3 + 2 * banks;
    let mut points = Vec::new();
    for words in 1..=3 {
        let name = format!("chain, {words} of 3 words in one bank of the main file");
        if registers > machine.sm.max_main_registers || (words < 3 && banks < 4 - words) {
            bench.leave_out(name, "so many words cannot be named, or have to share a bank");
            continue;
        }
        // Register 2 is in the bank of those that are a multiple of the banks behind it; the ones next to it are each in
        // one of their own.
        let other = |n: u32| if n < words { 2 + n * banks } else { 3 + n - words };
        let text = format!("{}fma.f32 m2, m2, m{}, m{}", on(&machine, OpClass::Float32), other(1), other(2));
        let mut period = |lines: usize| -> Measured {
            let kernel = Kernel { registers, ..Kernel::of(format!("  {text}\n").repeat(lines)) };
            bench.period(&machine, &kernel, &Shape::warps(1), [4, 8])
        };
        let measured = period(12).and_then(|long| Ok((long - period(4)?) / 8.0));
        let expected = expect::banked_chain(&machine, OpClass::Float32, words);
        points.push((f64::from(words), expected, measured.clone().unwrap_or(0.0)));
        bench.exact(name, expected, measured);
    }
    bench.plot(Plot {
        id: "register-banks",
        title: "A chain of float32, by words in one bank of the main file".into(),
        note: "A bank passes as many words a cycle as it has read ports.".into(),
        across: "words in one bank",
        up: "cycles an instruction",
        reference: "expected",
        points,
    });
}

/// Cycles that an int32 instruction of one cluster takes when all warps have nothing else.
fn rate(bench: &mut Bench, machine: &Machine) -> Measured {
    const LINES: usize = 40;
    let warps = machine.sm.max_warps.min(machine.sm.max_work_group_size / machine.warp_size).min(32);
    let add = on(machine, OpClass::Int32);
    let body: String = (0..LINES).map(|i| format!("  {add}add.b32 m{}, m3, 1\n", 6 + i % 5)).collect();
    let period = bench.period(machine, &Kernel::of(body), &Shape::warps(warps), [8, 24])?;
    Ok(period / f64::from(warps) / LINES as f64)
}

/// Each scheduler has issue slots and units of its own.
fn schedulers(bench: &mut Bench) {
    let schedulers = bench.machine.sm.schedulers;
    let name = "int32 on one cluster of each scheduler";
    let mut machine = bench.one_sm();
    let unit = expect::row(&machine, OpClass::Int32).map(|t| t.unit);
    let shared = unit.is_some_and(|u| (0..machine.clusters.len()).any(|c| machine.shared_unit(c, u).is_some()));
    if schedulers == 1 || shared {
        bench.leave_out(name, if shared { "its unit is shared" } else { "there is one scheduler" });
        return;
    }
    machine.sm.schedulers = schedulers;
    let expected = expect::issue_interval(&machine, OpClass::Int32, schedulers);
    let measured = rate(bench, &machine);
    bench.compare(name, "cycles", expected, measured, 0.1);
}

/// Who goes first does not change how much a unit does.
fn policies(bench: &mut Bench) {
    for policy in [Scheduler::GreedyOldest, Scheduler::Oldest, Scheduler::RoundRobin, Scheduler::TwoLevel] {
        let mut machine = bench.one_sm();
        (machine.sm.scheduler, machine.sm.active_warps) = (policy, 0);
        let expected = expect::issue_interval(&machine, OpClass::Int32, 1);
        let measured = rate(bench, &machine);
        bench.compare(format!("int32 on one cluster, {policy}"), "cycles", expected, measured, 0.05);
    }
}

/// What a launch costs before its first and behind its last work-group.
fn launch(bench: &mut Bench) {
    let with = bench.one_sm();
    let without = bench.variant(|m| {
        (m.sm.count, m.memory.l15.sms) = (1, 1);
        (m.launch_cycles, m.end_cycles) = (0, 0);
    });
    let name = "a launch, before its first and behind its last work-group";
    let expected = f64::from(with.launch_cycles + with.end_cycles);
    let add = on(&with, OpClass::Int32);
    let kernel = Kernel::of(format!("  {add}add.b32 m2, m2, 1"));
    let mut cycles = |machine: &Machine| bench.run(machine, &kernel, &Shape::warps(1)).map(|d| d.cycles() as f64);
    let measured = cycles(&with).and_then(|long| Ok(long - cycles(&without)?));
    bench.exact(name, expected, measured);
}
