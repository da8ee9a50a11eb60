//! What a session knows of its launches: totals of each kernel, entries of launches as far as an output lists
//! them, faults, errors of calls.

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::options::ExecOptions;
use super::outputs::{Outputs, command_line};
use super::results::{KernelResults, Results};
use super::{LaunchPlan, LaunchResult};
use heddle_report::html::launches::{KernelRow, LaunchRow};
use heddle_runtime::alike::AlikeLaunches;
use heddle_runtime::picks::Selection;
use heddle_runtime::run::Mode;
use heddle_sim::Statistics;
use heddle_sim::tolerance::Tolerated;
use heddle_target::Machine;

/// Launches of which entries are kept, at most.
const MOST_ENTRIES: usize = 100_000;
/// Of these, with all their statistics.
const MOST_WHOLE: usize = 4096;
/// Pages of launches in a report, at most.
const MOST_PAGES: usize = 256;
/// Pages of launches of one kernel, so that a kernel that is launched often leaves room for others.
const KERNEL_PAGES: usize = 32;
/// Faults, kinds of errors and of leaks that are kept.
const MOST_COMPLAINTS: usize = 1000;
/// Time between writes of outputs that are not yet complete.
const WRITE_EVERY: Duration = Duration::from_secs(2);

/// A kernel's launches together.
#[derive(Default)]
struct Kernel {
    name: String,
    /// Launches that have begun.
    begun: u64,
    pages: usize,
    warned: bool,
    row: KernelRow,
    /// What its launches did that was let pass.
    tolerated: Vec<Tolerated>,
    work_groups: u64,
    /// All that was counted, if statistics are to be written.
    statistics: Option<Box<Statistics>>,
}

/// A launch.
struct Entry {
    row: LaunchRow,
    mode: Mode,
    hash: Option<String>,
    cold: bool,
    offset: Vec<u64>,
    queue: u64,
    times: heddle_report::session_trace::CommandTimes,
    work_groups: u64,
    statistics: Option<Box<Statistics>>,
}

/// What is known of a launch that begins.
pub(super) struct Begun {
    pub number: u64,
    pub occurrence: u64,
    pub kernel: usize,
    /// It is to be timed.
    pub timed: bool,
    /// It would be timed, but for launches that are like it and were.
    pub extrapolated: bool,
    /// It is to be recorded.
    pub record: bool,
}

/// What a session knows.
pub(super) struct State {
    kernels: Vec<Kernel>,
    by_name: HashMap<String, usize>,
    /// Which launches are picked to be timed, and to be recorded.
    timed: Selection,
    recorded_only: Selection,
    alike: Option<AlikeLaunches>,
    begun: u64,
    ended: u64,
    /// Launches that ran functionally since the last timed one.
    pub functional_since: bool,
    /// Checkpoints that were written.
    pub checkpoints: Vec<PathBuf>,
    /// The launch from which a checkpoint was restored.
    resumed: Option<u64>,
    /// What went wrong beside launches, each once.
    problems: Vec<String>,
    entries: Vec<Entry>,
    /// Whether entries are kept, and with all statistics.
    keeps: bool,
    keeps_statistics: bool,
    whole: usize,
    not_kept: u64,
    pages: usize,
    pages_left_out: u64,
    faults: Vec<Value>,
    fault_count: u64,
    api_errors: BTreeMap<(String, String, String), u64>,
    api_error_count: u64,
    leaks: Vec<String>,
    leak_count: u64,
    recorded: u64,
    last_write: Instant,
    write_took: Duration,
}

/// Bytes from and to device memory.
fn dram_bytes(statistics: &Statistics) -> u64 {
    statistics.timing.as_ref().map_or(0, |t| t.hierarchy.dram_read_bytes + t.hierarchy.dram_written_bytes)
}

/// Statistics without what reports of a single kernel need.
fn totals_of(statistics: &Statistics) -> Statistics {
    let mut totals = Statistics { blocks: Vec::new(), ..statistics.clone() };
    if let Some(timing) = &mut totals.timing {
        timing.profile = Vec::new();
        timing.recordings = Vec::new();
    }
    totals
}

impl State {
    /// Nothing has happened yet.
    pub fn new(options: &ExecOptions) -> State {
        let keeps_statistics = options.json.is_some();
        State {
            kernels: Vec::new(),
            by_name: HashMap::new(),
            timed: Selection::new(&options.timing),
            recorded_only: Selection::new(&options.record_only),
            alike: None,
            begun: 0,
            ended: 0,
            functional_since: false,
            checkpoints: Vec::new(),
            resumed: None,
            problems: Vec::new(),
            entries: Vec::new(),
            keeps: keeps_statistics || options.report.is_some(),
            keeps_statistics,
            whole: 0,
            not_kept: 0,
            pages: 0,
            pages_left_out: 0,
            faults: Vec::new(),
            fault_count: 0,
            api_errors: BTreeMap::new(),
            api_error_count: 0,
            leaks: Vec::new(),
            leak_count: 0,
            recorded: 0,
            last_write: Instant::now(),
            write_took: Duration::ZERO,
        }
    }

    /// A launch begins.
    pub fn begin(&mut self, name: &str, hash: Option<&str>, options: &ExecOptions) -> Begun {
        let index = match self.by_name.get(name) {
            Some(index) => *index,
            None => {
                self.kernels.push(Kernel {
                    name: name.into(),
                    row: KernelRow { name: name.into(), ..KernelRow::default() },
                    ..Kernel::default()
                });
                self.by_name.insert(name.into(), self.kernels.len() - 1);
                self.kernels.len() - 1
            }
        };
        let kernel = &mut self.kernels[index];
        self.begun += 1;
        kernel.begun += 1;
        let occurrence = kernel.begun;
        let picked = self.timed.begin(name, hash);
        let kept = self.recorded_only.begin(name, hash) || options.record_only.is_empty();
        let chosen = picked || options.mode == Mode::Timing;
        let alike = options.simulation.alike.filter(|_| chosen).zip(hash);
        let timed = match alike {
            Some((first, hash)) => self.alike.get_or_insert_with(|| AlikeLaunches::new(first)).begin(hash),
            None => chosen,
        };
        Begun {
            number: self.begun,
            occurrence,
            kernel: index,
            timed,
            extrapolated: chosen && !timed,
            record: options.record.is_some() && kept,
        }
    }

    /// Whether there is room for a page of one more launch of a kernel; if so it is taken.
    pub fn takes_page(&mut self, kernel: usize) -> bool {
        let of_kernel = &mut self.kernels[kernel].pages;
        let room = self.pages < MOST_PAGES && *of_kernel < KERNEL_PAGES;
        *of_kernel += usize::from(room);
        self.pages += usize::from(room);
        self.pages_left_out += u64::from(!room);
        room
    }

    /// Whether a launch in a mode finds caches of which nobody knows what functional launches would have left.
    pub fn finds_cold_caches(&mut self, mode: Mode) -> bool {
        match mode {
            Mode::Functional => {
                self.functional_since = true;
                false
            }
            Mode::Timing => std::mem::take(&mut self.functional_since),
        }
    }

    /// Adds to the statistics of a launch what it would have taken.
    pub fn extrapolate(&self, hash: &str, statistics: &mut Statistics) {
        if let Some(alike) = &self.alike {
            alike.extrapolate(hash, statistics);
        }
    }

    /// Whether no launch has ended with a fault.
    pub fn is_without_faults(&self) -> bool {
        self.fault_count == 0
    }

    /// Launches that have ended.
    pub fn launches(&self) -> u64 {
        self.ended
    }

    /// A kernel's name.
    pub fn kernel_name(&self, kernel: usize) -> &str {
        self.kernels.get(kernel).map_or("", |k| &k.name)
    }

    /// A launch has ended. Whether it is the kernel's first of which messages were dropped.
    pub fn end(&mut self, plan: &LaunchPlan, result: &LaunchResult, page: Option<String>) -> bool {
        self.ended += 1;
        let timed = plan.mode == Mode::Timing;
        let known = result.outcome.ok().and_then(|s| s.timing.as_ref());
        let interval = known.and_then(|t| t.sampling);
        if let (Some(alike), Some(hash), Ok(statistics)) =
            (&mut self.alike, plan.hash.as_deref().filter(|_| timed), result.outcome)
        {
            alike.timed(hash, statistics);
        }
        let host_seconds = result.host.as_secs_f64();
        let Some(kernel) = self.kernels.get_mut(plan.kernel) else { return false };
        let row = &mut kernel.row;
        row.launches += 1;
        row.timed += u64::from(timed);
        if let Some(interval) = interval {
            row.sampling.get_or_insert_default().add(&interval);
        }
        row.host_seconds += host_seconds;
        row.faults += u64::from(result.outcome.is_err());
        if let Ok(s) = result.outcome {
            row.work_items += s.work_items;
            row.instructions += s.instructions;
            kernel.work_groups += s.work_groups;
            Tolerated::merge(&mut kernel.tolerated, &s.tolerated);
            if known.is_some() {
                row.cycles += s.cycles().unwrap_or(0);
                row.energy_pj += s.energy_pj.values().sum::<f64>();
                row.dram_bytes += dram_bytes(s);
            }
            if self.keeps_statistics {
                kernel.statistics.get_or_insert_default().add(&totals_of(s));
            }
        }
        let dropped = result.printed.dropped > 0 && !std::mem::replace(&mut kernel.warned, result.printed.dropped > 0);
        if let Err(fault) = result.outcome {
            self.fault_count += 1;
            if self.faults.len() < MOST_COMPLAINTS {
                self.faults.push(json!({
                    "launch": plan.number, "kind": fault.kind.name(), "message": fault.kind.to_string(), "source": fault.source,
                    "kernel": fault.kernel, "global_id": fault.global_id, "local_id": fault.local_id, "group_id": fault.group_id,
                }));
            }
        }
        if self.keeps {
            self.keep(plan, result, page);
        }
        dropped
    }

    fn keep(&mut self, plan: &LaunchPlan, result: &LaunchResult, page: Option<String>) {
        if self.entries.len() >= MOST_ENTRIES {
            self.not_kept += 1;
            return;
        }
        let statistics = result.outcome.ok();
        let timed = statistics.filter(|s| s.timing.is_some());
        let whole = self.keeps_statistics && timed.is_some() && self.whole < MOST_WHOLE;
        self.whole += usize::from(whole);
        self.entries.push(Entry {
            row: LaunchRow {
                number: plan.number,
                occurrence: plan.occurrence,
                kernel: plan.kernel,
                global: result.global.into(),
                local: result.local.into(),
                timed: plan.mode == Mode::Timing,
                fault: result.outcome.is_err(),
                work_items: statistics.map_or(0, |s| s.work_items),
                instructions: statistics.map_or(0, |s| s.instructions),
                cycles: timed.and_then(Statistics::cycles),
                sampling: timed.and_then(|s| s.timing.as_ref()?.sampling),
                energy_pj: timed.map(|s| s.energy_pj.values().sum()),
                dram_bytes: timed.map(dram_bytes),
                host_seconds: result.host.as_secs_f64(),
                page,
            },
            mode: plan.mode,
            hash: plan.hash.clone(),
            cold: plan.cold,
            offset: result.offset.into(),
            queue: result.queue,
            times: result.times,
            work_groups: statistics.map_or(0, |s| s.work_groups),
            statistics: timed.filter(|_| whole).map(|s| Box::new(totals_of(s))),
        });
    }

    /// An erroneous call; whether it is the first of its kind.
    pub fn api_error(&mut self, function: &str, code: &str, sentence: &str) -> bool {
        self.api_error_count += 1;
        let key = (function.to_string(), code.to_string(), sentence.to_string());
        if !self.api_errors.contains_key(&key) && self.api_errors.len() >= MOST_COMPLAINTS {
            return false;
        }
        let count = self.api_errors.entry(key).or_default();
        *count += 1;
        *count == 1
    }

    /// A checkpoint was restored before the launch of this number.
    pub fn resumed(&mut self, launch: u64) {
        self.resumed = Some(launch);
    }

    /// Something went wrong that is no launch's fault: said on standard error, once.
    pub fn problem(&mut self, message: &str) {
        if self.problems.len() < MOST_COMPLAINTS && !self.problems.iter().any(|known| known == message) {
            heddle_report::say!("heddle: {message}");
            self.note_problem(Some(message));
        }
    }

    /// The same where it has been said.
    pub fn note_problem(&mut self, message: Option<&str>) {
        self.problems.extend(message.map(String::from));
    }

    /// Objects that exist in the end.
    pub fn leak(&mut self, count: u64, line: String) {
        self.leak_count += count;
        if self.leaks.len() < MOST_COMPLAINTS {
            self.leaks.push(line);
        }
    }

    /// A launch has been kept as a case.
    pub fn recorded(&mut self) {
        self.recorded += 1;
    }

    /// Whether it is time to write what there is, for the case that the program is killed: after the first
    /// launch, and every few seconds; more rarely the longer it takes.
    /// `host`: how long the launch took that has just ended.
    pub fn is_due(&self, host: Duration) -> bool {
        // The clock is not free for who launches a million kernels.
        self.ended == 1
            || (self.ended % 16 == 0 || host > Duration::from_millis(1))
                && self.last_write.elapsed() > WRITE_EVERY.max(self.write_took * 20)
    }

    /// What there was has been written.
    pub fn written(&mut self, began: Instant) {
        self.last_write = Instant::now();
        self.write_took = began.elapsed();
    }

    /// Rows of the index page.
    pub fn kernel_rows(&self) -> Vec<KernelRow> {
        self.kernels.iter().map(|k| k.row.clone()).collect()
    }

    /// Up to `most` launches for the index page, timed ones and faults before others, and how many are left
    /// out.
    pub fn rows(&self, most: usize) -> (Vec<LaunchRow>, u64) {
        let important = |e: &&Entry| e.row.timed || e.row.fault;
        let mut rows: Vec<&Entry> = self.entries.iter().filter(important).take(most).collect();
        let others = self.entries.iter().filter(|e| !important(e)).take(most - rows.len());
        rows.extend(others);
        rows.sort_by_key(|e| e.row.number);
        let left_out = self.ended - rows.len() as u64;
        (rows.into_iter().map(|e| e.row.clone()).collect(), left_out)
    }

    /// A sentence about timed launches without pages.
    pub fn pages_left_out(&self) -> Option<String> {
        (self.pages_left_out > 0).then(|| {
            format!(
                "{} timed launches have no page of their own: there are at most {MOST_PAGES}, and {KERNEL_PAGES} of one \
                 kernel; --timing picks which.",
                heddle_report::grouped(self.pages_left_out)
            )
        })
    }

    /// Statistics as JSON.
    pub fn json(&self, machine: &Machine, mode: Mode) -> String {
        let name = |mode: Mode| if mode == Mode::Timing { "timing" } else { "functional" };
        let mut total = Statistics::default();
        self.kernels.iter().filter_map(|k| k.statistics.as_deref()).for_each(|s| total.add(s));
        let kernels: Vec<Value> = self
            .kernels
            .iter()
            .map(|k| {
                let r = &k.row;
                json!({
                    "kernel": k.name, "launches": r.launches, "timed": r.timed, "faults": r.faults,
                    "host_seconds": r.host_seconds, "dram_bytes": r.dram_bytes, "energy_pj": r.energy_pj, "sampling": r.sampling,
                    "statistics": k.statistics,
                })
            })
            .collect();
        let launches: Vec<Value> = self
            .entries
            .iter()
            .map(|e| {
                let r = &e.row;
                let mut value = json!({
                    "number": r.number, "kernel": self.kernel_name(r.kernel), "occurrence": r.occurrence, "mode": name(e.mode),
                    "global": r.global, "local": r.local, "offset": e.offset, "queue": e.queue, "fault": r.fault,
                    "queued_ns": e.times.queued, "submitted_ns": e.times.submitted,
                    "started_ns": e.times.started, "ended_ns": e.times.ended, "host_seconds": r.host_seconds,
                });
                match &e.statistics {
                    Some(statistics) => value["statistics"] = json!(statistics),
                    None => {
                        let counts =
                            json!({ "work_items": r.work_items, "work_groups": e.work_groups, "instructions": r.instructions });
                        value["statistics"] = counts;
                        if let Some(cycles) = r.cycles {
                            value["statistics"]["timing"] = json!({ "cycles": cycles });
                            if let Some(sampling) = r.sampling {
                                value["statistics"]["timing"]["sampling"] = json!(sampling);
                            }
                        }
                    }
                }
                if let Some(hash) = &e.hash {
                    value["hash"] = hash.as_str().into();
                }
                if e.mode == Mode::Timing {
                    value["cold_caches"] = e.cold.into();
                }
                value
            })
            .collect();
        let errors: Vec<Value> = self
            .api_errors
            .iter()
            .map(|((function, code, sentence), n)| json!({ "function": function, "code": code, "message": sentence, "count": n }))
            .collect();
        let value = json!({
            "program": command_line(),
            "process": std::process::id(),
            "machine": machine.name,
            "warp_size": machine.warp_size,
            "mode": name(mode),
            "passed": self.fault_count == 0 && self.problems.is_empty(),
            "problems": self.problems,
            "restored_before": self.resumed,
            "faults": self.faults,
            "api_errors": errors,
            "leaks": self.leaks,
            "total": total,
            "kernels": kernels,
            "launches": launches,
            "launches_left_out": self.not_kept,
        });
        format!("{value:#}\n")
    }

    /// What `heddle exec` wants to know.
    pub fn results(&self, process: u32, machine: &Machine, outputs: &Outputs) -> Results {
        let kernel = |k: &Kernel| KernelResults {
            name: k.name.clone(),
            launches: k.row.launches,
            timed: k.row.timed,
            instructions: k.row.instructions,
            cycles: k.row.cycles,
            energy_pj: k.row.energy_pj,
            dram_bytes: k.row.dram_bytes,
            sampling: k.row.sampling,
            host_seconds: k.row.host_seconds,
            tolerated: k.tolerated.clone(),
        };
        Results {
            process,
            clock_mhz: machine.clock_mhz,
            kernels: self.kernels.iter().filter(|k| k.row.launches > 0).map(kernel).collect(),
            faults: self.fault_count,
            leaks: self.leak_count,
            api_errors: self.api_error_count,
            recorded: self.recorded,
            checkpoints: self.checkpoints.clone(),
            resumed: self.resumed,
            problems: self.problems.clone(),
            outputs: outputs.names(),
        }
    }
}
