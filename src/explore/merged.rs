//! The launches of a recorded program, timed one by one, as one report: text, JSON, a page.
//!
//! Totals are of what was timed. What is missing is told by number, and what a launch found in the caches when
//! it began stands beside it, as its cycles depend on that.

use std::fmt::Write;

use serde_json::{Value, json};

use super::engine::Status;
use super::recorded::{Recording, TimedLaunch, ranges};
use heddle_report::html::launches::{KernelRow, LaunchRow, Launches, page};
use heddle_report::{grouped, marked, sampling_note};
use heddle_sim::Statistics;
use heddle_sim::statistics::Sampling;
use heddle_target::Machine;

/// Launches that the text lists, and the page.
const LISTED: usize = 60;
const PAGE_LISTED: usize = 2000;

/// All that was timed of a recording.
#[derive(Debug)]
pub struct Merged<'a> {
    recording: &'a Recording,
    machine: &'a Machine,
    launches: &'a [TimedLaunch],
}

/// A kernel's launches together.
#[derive(Default)]
struct Kernel {
    row: KernelRow,
    statistics: Statistics,
}

fn sampling(statistics: &Statistics) -> Option<Sampling> {
    statistics.timing.as_ref()?.sampling
}

fn dram_bytes(statistics: &Statistics) -> u64 {
    statistics.timing.as_ref().map_or(0, |t| t.hierarchy.dram_read_bytes + t.hierarchy.dram_written_bytes)
}

fn energy(statistics: &Statistics) -> f64 {
    statistics.energy_pj.values().sum()
}

impl<'a> Merged<'a> {
    /// Of these results.
    pub fn new(recording: &'a Recording, machine: &'a Machine, launches: &'a [TimedLaunch]) -> Merged<'a> {
        Merged { recording, machine, launches }
    }

    /// Numbers of launches that are cases and have no result.
    pub fn missing(&self) -> Vec<u64> {
        let timed = |number: u64| self.launches.iter().any(|l| l.launch.number == number);
        let cases = self.recording.launches.iter().filter(|l| l.case.is_some());
        cases.map(|l| l.number).filter(|n| !timed(*n)).collect()
    }

    /// Launches that did not pass: number, kernel and why.
    pub fn failures(&self) -> Vec<String> {
        let failed = self.launches.iter().filter(|l| l.status != Status::Passed);
        failed
            .map(|l| {
                let why = l.error.as_deref().unwrap_or_default();
                format!("launch {}, kernel `{}`: {}: {why}", l.launch.number, l.launch.kernel, l.status)
            })
            .collect()
    }

    fn kernels(&self) -> Vec<Kernel> {
        let mut kernels: Vec<Kernel> = Vec::new();
        for launch in self.launches {
            let at = kernels.iter().position(|k| k.row.name == launch.launch.kernel).unwrap_or_else(|| {
                let row = KernelRow { name: launch.launch.kernel.clone(), ..KernelRow::default() };
                kernels.push(Kernel { row, ..Kernel::default() });
                kernels.len() - 1
            });
            let Kernel { row, statistics } = &mut kernels[at];
            row.launches += 1;
            row.faults += u64::from(launch.status == Status::Fault);
            row.host_seconds += launch.host_seconds;
            let Some(s) = &launch.statistics else { continue };
            row.timed += 1;
            row.work_items += s.work_items;
            row.instructions += s.instructions;
            row.cycles += s.cycles().unwrap_or(0);
            row.energy_pj += energy(s);
            row.dram_bytes += dram_bytes(s);
            if let Some(one) = sampling(s) {
                row.sampling.get_or_insert_default().add(&one);
            }
            statistics.add(s);
        }
        kernels
    }

    fn total(&self) -> Statistics {
        let mut total = Statistics::default();
        self.launches.iter().filter_map(|l| l.statistics.as_ref()).for_each(|s| total.add(s));
        total
    }

    /// Sentences about what the totals leave out, and about caches.
    pub fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        let cold = self.launches.iter().filter(|l| l.cold).count();
        let all = self.launches.len();
        notes.push(match cold {
            0 => "Caches when a launch began: L2 as recorded, L1 empty.".into(),
            n if n == all => "Caches when a launch began: empty.".into(),
            n => format!(
                "Caches when a launch began: L2 as recorded and L1 empty for {}, all empty for {}.",
                grouped((all - n) as u64),
                grouped(n as u64)
            ),
        });
        let passed = self.launches.iter().filter_map(|l| Some((l.launch.kernel.as_str(), l.statistics.as_ref()?)));
        notes.extend(heddle_report::tolerated_notes(passed.map(|(kernel, s)| (kernel, s.tolerated.as_slice()))));
        let missing = self.missing();
        if !missing.is_empty() {
            notes.push(format!("MISSING: {} not timed yet: {}.", grouped(missing.len() as u64), ranges(&missing)));
        }
        let numbers: Vec<u64> = self.recording.launches.iter().map(|l| l.number).collect();
        let most = numbers.last().copied().unwrap_or(0);
        let recorded: std::collections::BTreeSet<u64> = numbers.into_iter().collect();
        let not_recorded: Vec<u64> = (1..most).filter(|n| !recorded.contains(n)).take(100_000).collect();
        if !not_recorded.is_empty() {
            let list = ranges(&not_recorded);
            notes.push(format!("Not recorded, and in no total: launches {}.", list.chars().take(400).collect::<String>()));
        }
        let left_out: Vec<u64> = self.recording.launches.iter().filter(|l| l.left_out.is_some()).map(|l| l.number).collect();
        if !left_out.is_empty() {
            notes.push(format!("No cases, and in no total: launches {} (left-out.txt says why).", ranges(&left_out)));
        }
        notes
    }

    /// A summary for people.
    pub fn text(&self) -> String {
        let mut out = String::new();
        let (total, kernels) = (self.total(), self.kernels());
        let cycles = total.cycles().unwrap_or(0);
        let seconds = cycles as f64 / (self.machine.clock_mhz * 1e6);
        let host: f64 = self.launches.iter().map(|l| l.host_seconds).sum();
        let of = self.recording.launches.iter().filter(|l| l.case.is_some()).count();
        let _ = writeln!(out, "program {}", self.recording.program.join(" "));
        let _ = writeln!(
            out,
            "machine {} · {} of {} recorded launches timed: {} cycles ({:.3} ms), {:.3} µJ; simulated in {host:.2} s",
            self.machine.name,
            grouped(self.launches.len() as u64),
            grouped(of as u64),
            marked(cycles, sampling(&total).as_ref()),
            seconds * 1e3,
            energy(&total) * 1e-6
        );
        if let Some(sampling) = sampling(&total) {
            let _ = writeln!(out, "{}", sampling_note(&sampling, cycles));
        }
        self.notes().iter().for_each(|note| _ = writeln!(out, "{note}"));
        let widest = kernels.iter().map(|k| k.row.name.chars().count()).max().unwrap_or(0).clamp(6, 40);
        let share = |part: u64| 100.0 * part as f64 / cycles.max(1) as f64;
        let _ = writeln!(out, "\n  {:<widest$}   launches     instructions           cycles   share     energy", "kernel");
        for Kernel { row: k, .. } in &kernels {
            let name: String = k.name.chars().take(40).collect();
            let _ = writeln!(
                out,
                "  {name:<widest$} {:>10} {:>16} {:>16} {:>6.1}% {:>7.2} µJ",
                grouped(k.launches),
                grouped(k.instructions),
                marked(k.cycles, k.sampling.as_ref()),
                share(k.cycles),
                k.energy_pj * 1e-6
            );
        }
        let _ = writeln!(out, "\n  launch {:<widest$}     instructions           cycles   share     energy  caches", "kernel");
        for l in self.launches.iter().take(LISTED) {
            let name: String = l.launch.kernel.chars().take(40).collect();
            let caches = if l.cold { "cold" } else { "recorded" };
            let Some(s) = &l.statistics else {
                let _ = writeln!(out, "  {:>6} {name:<widest$} {}", l.launch.number, l.status);
                continue;
            };
            let cycles = s.cycles().unwrap_or(0);
            let _ = writeln!(
                out,
                "  {:>6} {name:<widest$} {:>16} {:>16} {:>6.1}% {:>7.2} µJ  {caches}",
                l.launch.number,
                grouped(s.instructions),
                marked(cycles, sampling(s).as_ref()),
                share(cycles),
                energy(s) * 1e-6
            );
        }
        if self.launches.len() > LISTED {
            let _ = writeln!(out, "  … and {} more launches: --json has all", grouped((self.launches.len() - LISTED) as u64));
        }
        out
    }

    /// All figures, in the form that `heddle exec --json` has.
    pub fn json(&self) -> Value {
        let launches: Vec<Value> = self
            .launches
            .iter()
            .map(|l| {
                json!({
                    "number": l.launch.number, "kernel": l.launch.kernel, "occurrence": l.launch.occurrence, "mode": "timing",
                    "global": l.global, "local": l.local, "offset": l.offset, "fault": l.status == Status::Fault,
                    "status": l.status, "error": l.error, "cold_caches": l.cold, "host_seconds": l.host_seconds,
                    "statistics": l.statistics.clone().unwrap_or_default(),
                })
            })
            .collect();
        let kernels: Vec<Value> = self
            .kernels()
            .iter()
            .map(|Kernel { row, statistics }| {
                json!({
                    "kernel": row.name, "launches": row.launches, "timed": row.timed, "faults": row.faults,
                    "host_seconds": row.host_seconds, "dram_bytes": row.dram_bytes, "energy_pj": row.energy_pj,
                    "sampling": row.sampling, "statistics": statistics,
                })
            })
            .collect();
        let left_out: Vec<_> = self.recording.launches.iter().filter(|l| l.left_out.is_some()).collect();
        let missing = self.missing();
        json!({
            "program": self.recording.program,
            "machine": self.machine.name,
            "warp_size": self.machine.warp_size,
            "mode": "timing",
            "passed": self.failures().is_empty() && missing.is_empty(),
            "missing": missing,
            "left_out": left_out,
            "notes": self.notes(),
            "total": self.total(),
            "kernels": kernels,
            "launches": launches,
        })
    }

    /// The page, as `heddle exec --report` has it of a program.
    pub fn page(&self) -> String {
        let kernels = self.kernels();
        let index = |name: &str| kernels.iter().position(|k| k.row.name == name).unwrap_or(0);
        let row = |l: &TimedLaunch| {
            let statistics = l.statistics.as_ref();
            LaunchRow {
                number: l.launch.number,
                occurrence: l.launch.occurrence,
                kernel: index(&l.launch.kernel),
                global: l.global.clone(),
                local: l.local.clone(),
                timed: statistics.is_some(),
                fault: l.status == Status::Fault,
                work_items: statistics.map_or(0, |s| s.work_items),
                instructions: statistics.map_or(0, |s| s.instructions),
                cycles: statistics.and_then(Statistics::cycles),
                sampling: statistics.and_then(sampling),
                energy_pj: statistics.map(energy),
                dram_bytes: statistics.map(dram_bytes),
                host_seconds: l.host_seconds,
                page: None,
            }
        };
        let mut notes = self.notes();
        if self.launches.len() > PAGE_LISTED {
            let more = grouped((self.launches.len() - PAGE_LISTED) as u64);
            notes.push(format!("{more} launches are not listed one by one; the kernels' totals have them."));
        }
        let title = self.recording.program.first().map_or("a program", |c| c.rsplit('/').next().unwrap_or(c));
        let launches = Launches {
            title,
            command: &self.recording.program.join(" "),
            launches: self.launches.iter().take(PAGE_LISTED).map(row).collect(),
            notes,
            kernels: kernels.iter().map(|k| k.row.clone()).collect(),
        };
        page(&launches, self.machine)
    }
}
