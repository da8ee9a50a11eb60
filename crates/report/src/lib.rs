//! What a run did, for people and for programs.
//!
//! It uses what the simulator counted and recorded ([`heddle_sim::Statistics`], [`heddle_sim::trace`]) and
//! the runtime's [`Outcome`]; it runs nothing, and writes only to files that it is given.
//!
//! - [`summary`] and [`json`]: all figures of a run, as text and as JSON; [`fault_json`] for a run that a
//!   fault ended.
//! - [`profile`]: a kernel's code with what each instruction cost.
//! - [`html`]: a page with both, the blocks of each kernel, live registers (`live`), a roofline (`roofline`)
//!   and time lines.
//! - [`mod@trace`]: what was recorded by time, for trace viewers; [`session_trace`]: a program's host calls,
//!   copies and kernels.

/// As `eprintln!`, but a reader of standard error that has gone away is no reason to panic.
#[macro_export]
macro_rules! say {
    ($($text:tt)*) => {{
        use std::io::Write as _;
        let _gone = writeln!(std::io::stderr(), $($text)*);
    }};
}

pub mod html;
mod live;
pub mod profile;
mod roofline;
pub mod session_trace;
pub mod trace;

use std::fmt::Write;
use std::time::Duration;

use serde_json::json;

use heddle_object::Image;
use heddle_runtime::printf::Printed;
use heddle_runtime::run::{CaseLaunch, Mode, Outcome};
use heddle_sim::statistics::{Accesses, Forms, HierarchyStatistics, PoolStatistics, STATIC, Sampling, Stalls, TimingStatistics};
use heddle_sim::tolerance::Tolerated;
use heddle_sim::{Fault, FaultKind, Program, Statistics};
use heddle_target::Machine;

/// Host time of a run.
#[derive(Clone, Debug, Default)]
pub struct HostTimes {
    /// Compilation.
    pub compile: Duration,
    /// Simulation of the launches, without making, reading and comparing buffers.
    pub simulate: Duration,
    /// Of that, each launch, with the translation to the host's instructions if it had one.
    pub launches: Vec<Duration>,
}

/// The code that launches ran, decoded: a version of a kernel, by its number in the image.
fn program(image: &Image, version: usize, machine: &Machine) -> Result<Program, String> {
    match version < image.metadata.kernels.len() {
        true => Program::from_image(image, version, machine).map_err(|e| e.to_string()),
        false => Err(format!("the object has no kernel number {version}")),
    }
}

/// Statistics as JSON.
pub fn json(outcome: &Outcome, machine: &Machine, mode: Mode, times: &HostTimes) -> String {
    let launches = outcome.launches.iter().map(|l| json!({ "kernel": l.kernel, "statistics": l.statistics }));
    let launches: Vec<_> = launches.collect();
    let value = json!({
        "machine": machine.name,
        "warp_size": machine.warp_size,
        "register_files": register_files(machine),
        "mode": if mode == Mode::Timing { "timing" } else { "functional" },
        "partial": outcome.total.interrupted.is_some(),
        "launches_left": outcome.launches_left,
        "passed": outcome.mismatches.is_empty() && outcome.total.interrupted.is_none(),
        "checked": outcome.checked,
        "mismatches": outcome.mismatches.iter().map(|(b, m)| json!({ "buffer": b, "message": m })).collect::<Vec<_>>(),
        "printf": {
            "text": String::from_utf8_lossy(&outcome.printed.text),
            "messages": outcome.printed.messages,
            "dropped_messages": outcome.printed.dropped,
            "dropped_bytes": outcome.printed.dropped_bytes,
        },
        "host_seconds": {
            "compile": times.compile.as_secs_f64(),
            "simulate": times.simulate.as_secs_f64(),
            "launches": times.launches.iter().map(Duration::as_secs_f64).collect::<Vec<_>>(),
        },
        "total": outcome.total,
        "launches": launches,
    });
    format!("{value:#}\n")
}

/// Bits and area of an SM's register files by name (C13).
fn register_files(machine: &Machine) -> serde_json::Map<String, serde_json::Value> {
    let files = machine.register_files().into_iter();
    files.map(|(name, f)| (name, json!({ "bits": f.bits, "area_mm2": f.area_mm2 }))).collect()
}

/// A run that a fault ended, as JSON; `printed` is what its kernels had printed by then.
pub fn fault_json(fault: &Fault, machine: &Machine, mode: Mode, printed: &[u8]) -> String {
    let value = json!({
        "machine": machine.name,
        "warp_size": machine.warp_size,
        "mode": if mode == Mode::Timing { "timing" } else { "functional" },
        "passed": false,
        "fault": {
            "kind": fault.kind.name(),
            "message": fault.kind.to_string(),
            "source": fault.source,
            "kernel": fault.kernel,
            "global_id": fault.global_id,
            "local_id": fault.local_id,
            "group_id": fault.group_id,
        },
        "printf": { "text": String::from_utf8_lossy(printed) },
    });
    format!("{value:#}\n")
}

/// What to say if messages of `printf` did not fit their buffer.
pub fn dropped(printed: &Printed, room: u32) -> Option<String> {
    (printed.dropped > 0).then(|| {
        format!(
            "printf: {} messages of {} bytes dropped, because a launch's buffer of {} bytes was full; \
             --printf-buffer sets its size",
            grouped(printed.dropped),
            grouped(printed.dropped_bytes),
            grouped(room.into())
        )
    })
}

/// Cycles, with their interval if a part of them was extrapolated.
pub fn estimated(t: &TimingStatistics) -> String {
    match &t.sampling {
        Some(s) => format!("{} ± {}", marked(t.cycles, Some(s)), grouped(s.half_width().ceil() as u64)),
        None => grouped(t.cycles),
    }
}

/// Cycles, marked if a part of them was extrapolated.
pub fn marked(cycles: u64, sampling: Option<&Sampling>) -> String {
    if sampling.is_some() { format!("≈{}", grouped(cycles)) } else { grouped(cycles) }
}

/// What to say of cycles of which a part was extrapolated.
pub fn sampling_note(s: &Sampling, cycles: u64) -> String {
    let plural = if s.launches == 1 { "" } else { "es" };
    format!(
        "sampled: {} launch{plural}; timed {:.2} % of their {} warp instructions, extrapolated the rest. Cycles ± {:.2} % \
         ({:.0} % confidence: spread {:.2} %, allowance {:.2} %); what else depends on time or caches is scaled, without \
         an interval of its own",
        grouped(s.launches),
        percent(s.timed_instructions as f64, s.instructions as f64),
        grouped(s.instructions),
        percent(s.half_width(), cycles as f64),
        s.confidence * 100.0,
        percent(s.spread, cycles as f64),
        percent(s.allowance, cycles as f64),
    )
}

/// The option that lets a fault pass, in a sentence.
pub fn fault_hint(fault: &Fault) -> Option<String> {
    let what = match fault.kind {
        // Nobody puts a buffer at a null pointer.
        FaultKind::OutOfBounds { address: 4096.., .. } => "out-of-bounds",
        FaultKind::OutOfBounds { space: "local" | "private", .. } => "out-of-bounds",
        FaultKind::DivergentBarrier { .. } => "divergent-barriers",
        _ => return None,
    };
    Some(format!("a device may let this pass; --tolerate={what} goes on behind it, and names each such place"))
}

/// Places that are named.
const NAMED: usize = 12;

/// What to say of instructions that did what is undefined and was let pass, given what launches of kernels noted: a line for each
/// of the first places.
pub fn tolerated_notes<'a>(launches: impl Iterator<Item = (&'a str, &'a [Tolerated])>) -> Vec<String> {
    let mut kernels: Vec<(&str, Vec<Tolerated>)> = Vec::new();
    for (kernel, tolerated) in launches.filter(|(_, tolerated)| !tolerated.is_empty()) {
        match kernels.iter_mut().find(|(name, _)| *name == kernel) {
            Some((_, all)) => Tolerated::merge(all, tolerated),
            None => kernels.push((kernel, tolerated.to_vec())),
        }
    }
    let places = kernels.iter().flat_map(|(kernel, all)| all.iter().map(move |t| (kernel, t)));
    let mut notes: Vec<String> = places
        .map(|(kernel, t)| {
            let place = t.source.as_ref().map(|s| format!("{s}: ")).unwrap_or_default();
            let times = if t.times == 1 { "once".into() } else { format!("{} times", grouped(t.times)) };
            format!("tolerated {times} in kernel `{kernel}`: {place}{}", t.message)
        })
        .collect();
    if let Some(more) = notes.len().checked_sub(NAMED).filter(|n| *n > 0) {
        notes.truncate(NAMED);
        notes.push(format!("tolerated at {more} more places"));
    }
    notes
}

/// What to say of a run that was interrupted: which launch, and how far it was.
pub fn partial_note(outcome: &Outcome) -> Option<String> {
    let (how_far, kernel) = (outcome.total.interrupted?, &outcome.launches.last()?.kernel);
    let left = match outcome.launches_left {
        0 => String::new(),
        1 => ", with 1 launch left".into(),
        n => format!(", with {} launches left", grouped(n as u64)),
    };
    Some(format!(
        "interrupted in launch {} (`{kernel}`), of whose {} work-groups {} had ended{left}; all figures are of what was done \
         by then",
        grouped(outcome.launches.len() as u64),
        grouped(how_far.work_groups),
        grouped(how_far.ended),
    ))
}

/// A number with thousands separators.
pub fn grouped(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::new();
    for (i, c) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i) % 3 == 0 {
            out.push(' ');
        }
        out.push(c);
    }
    out
}

fn percent(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { 100.0 * part / whole } else { 0.0 }
}

/// A bar of up to 30 characters.
fn bar(share: f64) -> String {
    "█".repeat((share * 0.3).round().clamp(0.0, 30.0) as usize)
}

/// A readable summary.
pub fn summary(outcome: &Outcome, machine: &Machine, mode: Mode, times: &HostTimes) -> String {
    let mut out = String::new();
    let s = &outcome.total;
    let mode = if mode == Mode::Timing { "timing" } else { "functional" };
    let _ = writeln!(out, "machine {} · warps of {} · {mode} mode", machine.name, machine.warp_size);
    if let Some(note) = partial_note(outcome) {
        let _ = writeln!(out, "PARTIAL: {note}");
    }
    for CaseLaunch { kernel, statistics: s, .. } in &outcome.launches {
        let cycles = s.timing.as_ref().map_or(String::new(), |t| format!(", {} cycles", estimated(t)));
        let _ = writeln!(
            out,
            "  {kernel}: {} work-items in {} work-groups, {} warp instructions{cycles}",
            grouped(s.work_items),
            grouped(s.work_groups),
            grouped(s.instructions)
        );
    }
    for note in tolerated_notes(outcome.launches.iter().map(|l| (l.kernel.as_str(), l.statistics.tolerated.as_slice()))) {
        let _ = writeln!(out, "  {note}");
    }
    counts(&mut out, s, machine);
    if let Some(t) = &s.timing {
        time(&mut out, s, t, machine);
        forms(&mut out, &t.forms);
        pool(&mut out, &t.pool);
        scheduling(&mut out, t);
        stalls(&mut out, &t.stalls);
        hierarchy(&mut out, &t.hierarchy);
    }
    energy(&mut out, s);
    let _ = writeln!(
        out,
        "\nhost: compiled in {:.0} ms, simulated in {:.0} ms",
        times.compile.as_secs_f64() * 1e3,
        times.simulate.as_secs_f64() * 1e3
    );
    if outcome.total.interrupted.is_some() {
        let _ = writeln!(out, "PARTIAL: nothing was compared");
    } else if outcome.mismatches.is_empty() {
        let _ = match outcome.checked {
            0 => writeln!(out, "done; nothing was compared, as no buffer says what to expect"),
            1 => writeln!(out, "PASS: 1 buffer as expected"),
            n => writeln!(out, "PASS: {n} buffers as expected"),
        };
    } else {
        let _ = writeln!(out, "FAIL: {} of {} buffers differ", outcome.mismatches.len(), outcome.checked);
    }
    out
}

/// Energy: of what was done first, each component as a share of that, then static power's as a share of it.
fn energy(out: &mut String, s: &Statistics) {
    if s.energy_pj.is_empty() {
        return;
    }
    let total: f64 = s.energy_pj.values().sum();
    let _ = writeln!(out, "\nenergy                  {:>13.3} µJ", total * 1e-6);
    let dynamic = s.energy_pj.iter().filter(|(name, _)| *name != STATIC);
    part(out, "dynamic", s.dynamic_pj(), total, dynamic);
    let still = s.energy_pj.get(STATIC).copied().unwrap_or_default();
    part(out, STATIC, still, total, s.static_pj.iter());
}

/// A part of the energy and its components.
fn part<'a>(out: &mut String, name: &str, pj: f64, total: f64, components: impl Iterator<Item = (&'a String, &'a f64)>) {
    let _ = writeln!(out, "  {name:<22}{:>13.3} µJ {:>5.1}%", pj * 1e-6, percent(pj, total));
    for (name, part) in components {
        let share = percent(*part, pj);
        let _ = writeln!(out, "    {name:<23}{:>10.3} µJ {share:>5.1}% {}", part * 1e-6, bar(share));
    }
}

/// Cycles and occupancy.
fn time(out: &mut String, s: &Statistics, t: &TimingStatistics, machine: &Machine) {
    let _ = writeln!(out, "\ntime");
    let seconds = t.cycles as f64 / (machine.clock_mhz * 1e6);
    let cycles = marked(t.cycles, t.sampling.as_ref());
    let _ = writeln!(out, "  cycles                {cycles:>16}   {:.3} ms at {} MHz", seconds * 1e3, machine.clock_mhz);
    if let Some(sampling) = &t.sampling {
        let _ = writeln!(out, "    {}", sampling_note(sampling, t.cycles));
    }
    let per_cycle = s.instructions as f64 / t.cycles.max(1) as f64;
    let _ = writeln!(out, "  instructions a cycle  {per_cycle:>16.3}");
    let _ = writeln!(
        out,
        "  occupancy             {:>15.1}%   at most {} warps an SM, limited by {}",
        100.0 * t.occupancy,
        t.resident_warps,
        t.residency_limit
    );
}

/// On which units instructions ran, and what was redundant.
fn forms(out: &mut String, f: &Forms) {
    let share = |n: u64| percent(n as f64, f.total() as f64);
    let _ = writeln!(out, "  redundant work (one result for all active lanes)   {:>5.1}% of instructions", share(f.oracle()));
    for (name, n) in [
        ("scalar instructions", f.scalar),
        ("u-marked", f.marked),
        ("scalarised, one lane", f.one_lane),
        ("scalarised, few lanes", f.few_lanes),
        ("missed", f.missed),
    ] {
        let _ = writeln!(out, "    {name:<22}{:>14} {:>5.1}% {}", grouped(n), share(n), bar(share(n)));
    }
    let _ = writeln!(
        out,
        "    of which run once    {:>14.1}%   by the compiler alone {:.1}%",
        percent(f.caught() as f64, f.oracle() as f64),
        percent(f.caught_by_compiler() as f64, f.oracle() as f64)
    );
}

/// Use of the registers that warps share; nothing if they share none.
fn pool(out: &mut String, p: &PoolStatistics) {
    if p.size == 0 {
        return;
    }
    let cycles: u64 = p.histogram.iter().sum();
    let mean: f64 = p.histogram.iter().enumerate().map(|(i, n)| i as f64 * *n as f64).sum::<f64>() * 10.0 / cycles.max(1) as f64;
    let _ = writeln!(
        out,
        "  shared registers      {:>16}   a pool for {} fixed and up to {} shared registers a warp ({} named); \
         at most {} in use, \
         {mean:.0}% on average",
        p.size, p.fixed, p.demand, p.named, p.peak
    );
}

/// Departures from the active set, and conflicts in the main file; nothing where there are none.
fn scheduling(out: &mut String, t: &TimingStatistics) {
    if t.departures > 0 {
        let _ = writeln!(out, "  left the active set   {:>16}   times, waiting for memory or at barriers", grouped(t.departures));
    }
    let m = &t.main_file;
    if m.read_words > 0 {
        let _ = writeln!(
            out,
            "  main file             {:>16}   registers read; conflicts of banks: {} cycles reading, {} writing",
            grouped(m.read_words),
            grouped(m.read_conflicts),
            grouped(m.write_conflicts)
        );
    }
}

/// Empty issue slots by cause.
fn stalls(out: &mut String, s: &Stalls) {
    let all = (s.dependence + s.memory + s.unit + s.barrier + s.rename + s.fetch + s.inactive + s.bank) as f64;
    let _ = writeln!(out, "  stalled warp cycles");
    for (name, n) in [
        ("memory", s.memory),
        ("dependence", s.dependence),
        ("unit taken", s.unit),
        ("barrier", s.barrier),
        ("shared registers", s.rename),
        ("instruction fetch", s.fetch),
        ("not active", s.inactive),
        ("bank conflict", s.bank),
    ] {
        // What only some machines have is not a line of all reports.
        if n == 0 && matches!(name, "not active" | "bank conflict") {
            continue;
        }
        let share = percent(n as f64, all);
        let _ = writeln!(out, "    {name:<20}{:>16} {share:>5.1}% {}", grouped(n), bar(share));
    }
}

/// Caches and memory.
fn hierarchy(out: &mut String, h: &HierarchyStatistics) {
    let _ =
        writeln!(out, "\ncaches (sectors)             reads       found    past it      writes  evicted: by age  evict-first");
    for (name, c) in [
        ("data L1", &h.data),
        ("uniform L1", &h.uniform),
        ("constant L1", &h.constant),
        ("instruction L1", &h.instruction),
        ("L1.5", &h.l15),
        ("L2", &h.l2),
    ] {
        if c.reads + c.writes > 0 {
            let _ = writeln!(
                out,
                "  {name:<16}{:>16} {:>10.1}% {:>10} {:>11} {:>16} {:>12}",
                grouped(c.reads),
                100.0 * c.hit_rate(),
                grouped(c.bypassed),
                grouped(c.writes),
                grouped(c.evicted_normal),
                grouped(c.evicted_first)
            );
        }
    }
    let _ = writeln!(out, "traffic (bytes)                            in             out");
    for (name, down, up) in [
        ("L2 and SMs", h.l2_to_l1_bytes, h.l1_to_l2_bytes),
        ("device memory", h.dram_read_bytes, h.dram_written_bytes),
        ("system memory", h.system_read_bytes, h.system_written_bytes),
    ] {
        if down + up > 0 {
            let _ = writeln!(out, "  {name:<26}{:>16} {:>15}", grouped(down), grouped(up));
        }
    }
    let rows = h.dram_row_hits + h.dram_row_misses;
    if rows > 0 {
        let _ = writeln!(out, "  rows found open in DRAM {:>17.1}%", percent(h.dram_row_hits as f64, rows as f64));
    }
    for (name, t) in [("TLBs of the SMs", &h.tlb), ("shared TLB", &h.l2_tlb)] {
        if t.look_ups > 0 {
            let found = percent((t.look_ups - t.misses) as f64, t.look_ups as f64);
            let _ = writeln!(out, "  {name:<24}{:>16} {found:>10.1}% found", grouped(t.look_ups));
        }
    }
    if h.page_walks > 0 {
        let _ = writeln!(out, "  {:<24}{:>16}", "page walks", grouped(h.page_walks));
    }
    let loads: u64 = h.latencies.iter().sum();
    if loads > 0 {
        let _ = writeln!(out, "latency of loads (cycles)");
        for (bin, n) in h.latencies.iter().enumerate().filter(|(_, n)| **n > 0) {
            let share = percent(*n as f64, loads as f64);
            let _ =
                writeln!(out, "  {:>6} – {:<10}{:>21} {share:>5.1}% {}", 1u64 << bin, (2u64 << bin) - 1, grouped(*n), bar(share));
        }
    }
}

fn counts(out: &mut String, s: &Statistics, machine: &Machine) {
    let _ = writeln!(out, "\ninstructions            {:>16}", grouped(s.instructions));
    let share = percent(s.scalar_instructions as f64, s.instructions as f64);
    let _ = writeln!(out, "  on the scalar unit    {:>16} {share:>5.1}%", grouped(s.scalar_instructions));
    let _ = writeln!(out, "  divergent branches    {:>16}", grouped(s.divergent_branches));
    if s.turns > 0 {
        let _ = writeln!(out, "  turns of lanes        {:>16}", grouped(s.turns));
    }
    let mut classes: Vec<_> = s.classes.iter().collect();
    classes.sort_by_key(|(_, n)| std::cmp::Reverse(**n));
    for (class, n) in classes {
        let share = percent(*n as f64, s.instructions as f64);
        let _ = writeln!(out, "  {class:<22}{:>16} {share:>5.1}% {}", grouped(*n), bar(share));
    }
    registers(out, s, machine);
    if !s.memory.is_empty() {
        let _ = writeln!(out, "\nmemory                   loads      stores     atomics            bytes          sectors");
        for (space, t) in &s.memory {
            let _ = writeln!(
                out,
                "  {space:<15}{:>13} {:>11} {:>11} {:>16} {:>16}",
                grouped(t.loads),
                grouped(t.stores),
                grouped(t.atomics),
                grouped(t.bytes),
                grouped(t.sectors)
            );
        }
    }
}

/// Accesses to the register files, with what each holds and takes of an SM.
fn registers(out: &mut String, s: &Statistics, machine: &Machine) {
    let _ = writeln!(out, "\nregister accesses                  reads           writes   an SM's file");
    let files = machine.register_files();
    let mut line = |name: &str, a: &Accesses, file: &str| {
        if a.reads + a.writes > 0 {
            let size = files
                .iter()
                .find(|(n, _)| n == file)
                .map_or(String::new(), |(_, f)| format!("   {:>6.1} KiB {:>7.3} mm²", f.bits as f64 / 8192.0, f.area_mm2));
            let _ = writeln!(out, "  {name:<22}{:>16} {:>16}{size}", grouped(a.reads), grouped(a.writes));
        }
    };
    let r = &s.registers;
    line("main", &r.main, "main");
    for (i, a) in r.local.iter().enumerate() {
        let file = machine.clusters.get(i).map_or(String::new(), |c| format!("local {}", c.name));
        line(&format!("local of cluster {i}"), a, &file);
    }
    line("… by shared units", &r.local_by_shared_units, "");
    line("scalar", &r.scalar, "scalar");
    line("predicate", &r.predicate, "");
    let local = |f: fn(&Accesses) -> u64, main: u64| {
        let n: u64 = r.local.iter().map(f).sum();
        percent(n as f64, (n + main) as f64)
    };
    let (reads, writes) = (local(|a| a.reads, r.main.reads), local(|a| a.writes, r.main.writes));
    if reads + writes > 0.0 {
        let _ = writeln!(
            out,
            "  served by local files {reads:>15.1}% {writes:>15.1}%   {} copies between registers",
            grouped(s.copies)
        );
    }
}
