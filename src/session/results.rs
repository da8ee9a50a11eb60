//! What processes of a program tell `heddle exec`, and the summary that it prints in the end.
//!
//! Each process that uses Heddle keeps a file in the session's folder: from its first fault, every few
//! seconds, and when it ends. A process that is killed has said what it could.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::outputs;
use heddle_report::grouped;
use heddle_sim::statistics::Sampling;
use heddle_sim::tolerance::Tolerated;

/// Kernels, and files, that a summary lists.
const SHOWN: usize = 12;

/// A kernel's launches together.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct KernelResults {
    /// Its name.
    pub name: String,
    /// Launches.
    pub launches: u64,
    /// Of these, with timing.
    pub timed: u64,
    /// Warp instructions.
    pub instructions: u64,
    /// Cycles of the timed ones.
    pub cycles: u64,
    /// Energy of the timed ones, in picojoules.
    pub energy_pj: f64,
    /// Bytes from and to device memory of the timed ones.
    pub dram_bytes: u64,
    /// Of how many launches cycles were extrapolated, and how sure they are.
    pub sampling: Option<Sampling>,
    /// Host time, in seconds.
    pub host_seconds: f64,
    /// What is undefined and was let pass, by instruction.
    pub tolerated: Vec<Tolerated>,
}

/// What a process did.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Results {
    /// The process.
    pub process: u32,
    /// The machine's clock.
    pub clock_mhz: f64,
    /// Kernels it launched.
    pub kernels: Vec<KernelResults>,
    /// Launches that a fault ended.
    pub faults: u64,
    /// Objects never released, if that was to be checked.
    pub leaks: u64,
    /// Calls with an error, if that was to be checked.
    pub api_errors: u64,
    /// Launches kept as cases.
    pub recorded: u64,
    /// Checkpoints written.
    pub checkpoints: Vec<PathBuf>,
    /// The launch from which the program went on, from a checkpoint.
    pub resumed: Option<u64>,
    /// What went wrong beside launches: sentences.
    pub problems: Vec<String>,
    /// Files and folders written, with their kinds.
    pub outputs: Vec<(String, PathBuf)>,
}

impl Results {
    /// Writes the file of a process into the session's folder. A process that ends after the session, as a daemon that has looked
    /// for devices may, has no place for it; if it launched nothing and nothing went wrong, nobody misses that.
    ///
    /// # Errors
    /// A sentence.
    pub fn write(&self, folder: &Path) -> Result<(), String> {
        let is_well = self.problems.is_empty() && self.leaks + self.api_errors + self.faults == 0;
        if self.kernels.is_empty() && is_well && !folder.exists() {
            return Ok(());
        }
        let text = serde_json::to_string(self).map_err(|e| e.to_string())?;
        outputs::write(&folder.join(format!("results-{}.json", self.process)), text.as_bytes())
    }

    /// What the processes of a session have written, all together.
    pub fn read_all(folder: &Path) -> Results {
        let mut all = Results::default();
        let mut files: Vec<PathBuf> =
            fs::read_dir(folder).map(|entries| entries.filter_map(|e| Some(e.ok()?.path())).collect()).unwrap_or_default();
        files.retain(|f| f.extension().is_some_and(|e| e == "json"));
        files.sort();
        for one in files.iter().filter_map(|f| serde_json::from_slice::<Results>(&fs::read(f).ok()?).ok()) {
            all.add(one);
        }
        all
    }

    fn add(&mut self, other: Results) {
        for k in other.kernels {
            match self.kernels.iter_mut().find(|mine| mine.name == k.name) {
                None => self.kernels.push(k),
                Some(mine) => {
                    mine.launches += k.launches;
                    mine.timed += k.timed;
                    mine.instructions += k.instructions;
                    mine.cycles += k.cycles;
                    mine.energy_pj += k.energy_pj;
                    mine.dram_bytes += k.dram_bytes;
                    mine.host_seconds += k.host_seconds;
                    Tolerated::merge(&mut mine.tolerated, &k.tolerated);
                    if let Some(sampling) = &k.sampling {
                        mine.sampling.get_or_insert_default().add(sampling);
                    }
                }
            }
        }
        self.clock_mhz = self.clock_mhz.max(other.clock_mhz);
        self.faults += other.faults;
        self.leaks += other.leaks;
        self.api_errors += other.api_errors;
        self.recorded += other.recorded;
        self.checkpoints.extend(other.checkpoints);
        self.resumed = self.resumed.or(other.resumed);
        self.problems.extend(other.problems);
        self.outputs.extend(other.outputs);
    }

    /// How many launches there were.
    pub fn launches(&self) -> u64 {
        self.kernels.iter().map(|k| k.launches).sum()
    }

    /// A summary for people: launches, kernels by cycles or host time, what was written.
    pub fn summary(&self) -> String {
        let mut out = String::new();
        let (launches, timed, cycles, pj, instructions) = self.kernels.iter().fold((0, 0, 0, 0.0, 0), |t, k| {
            (t.0 + k.launches, t.1 + k.timed, t.2 + k.cycles, t.3 + k.energy_pj, t.4 + k.instructions)
        });
        if launches == 0 {
            return "heddle: the program launched no kernel on Heddle\n".into();
        }
        let host: f64 = self.kernels.iter().map(|k| k.host_seconds).sum();
        let _ = write!(
            out,
            "heddle: {} of {}, simulated in {}",
            counted(launches, "launch", "launches"),
            counted(self.kernels.len() as u64, "kernel", "kernels"),
            seconds(host)
        );
        let mut sampling: Option<Sampling> = None;
        for s in self.kernels.iter().filter_map(|k| k.sampling.as_ref()) {
            sampling.get_or_insert_default().add(s);
        }
        if timed > 0 {
            let time = seconds(cycles as f64 / (self.clock_mhz.max(1e-6) * 1e6));
            let _ = write!(
                out,
                "; {} timed: {} cycles ({time}), {:.3} µJ",
                grouped(timed),
                heddle_report::marked(cycles, sampling.as_ref()),
                pj * 1e-6
            );
        }
        out.push('\n');
        if let Some(sampling) = &sampling {
            let _ = writeln!(out, "heddle: {}", heddle_report::sampling_note(sampling, cycles));
        }
        let mut kernels: Vec<&KernelResults> = self.kernels.iter().collect();
        kernels.sort_by_key(|k| std::cmp::Reverse((k.cycles, k.instructions)));
        self.table(&mut out, &kernels, if timed > 0 { Some(cycles) } else { None }, instructions);
        if self.faults > 0 {
            let _ = writeln!(out, "heddle: {} ended by a fault", counted(self.faults, "launch", "launches"));
        }
        let tolerated = self.kernels.iter().map(|k| (k.name.as_str(), k.tolerated.as_slice()));
        for note in heddle_report::tolerated_notes(tolerated) {
            let _ = writeln!(out, "heddle: {note}");
        }
        if self.recorded > 0 {
            let _ = writeln!(out, "heddle: {} recorded", counted(self.recorded, "launch", "launches"));
        }
        if let Some(launch) = self.resumed {
            let _ = writeln!(out, "heddle: launches before {} ran functionally, up to the checkpoint", grouped(launch));
        }
        for path in self.checkpoints.iter().take(SHOWN) {
            let _ = writeln!(out, "heddle: checkpoint: {}", path.display());
        }
        if self.checkpoints.len() > SHOWN {
            let _ = writeln!(out, "heddle: … and {} more checkpoints", self.checkpoints.len() - SHOWN);
        }
        for (kind, path) in &self.outputs {
            let shown = if kind == "report" { path.join("index.html") } else { path.clone() };
            let _ = writeln!(out, "heddle: {kind}: {}", shown.display());
        }
        out
    }

    /// The kernels with the largest share.
    fn table(&self, out: &mut String, kernels: &[&KernelResults], cycles: Option<u64>, instructions: u64) {
        let widest = kernels.iter().take(SHOWN).map(|k| k.name.chars().count()).max().unwrap_or(0).clamp(6, 40);
        let timed_heads = if cycles.is_some() { "     timed           cycles   share     energy" } else { "   share" };
        let _ = writeln!(out, "  {:<widest$}   launches     instructions{timed_heads}  host time", "kernel");
        for k in kernels.iter().take(SHOWN) {
            let name: String = k.name.chars().take(40).collect();
            let _ = write!(out, "  {name:<widest$} {:>10} {:>16}", grouped(k.launches), grouped(k.instructions));
            let share = |part: u64, whole: u64| 100.0 * part as f64 / whole.max(1) as f64;
            let _ = match cycles {
                Some(all) => write!(
                    out,
                    " {:>9} {:>16} {:>6.1}% {:>7.2} µJ",
                    grouped(k.timed),
                    heddle_report::marked(k.cycles, k.sampling.as_ref()),
                    share(k.cycles, all),
                    k.energy_pj * 1e-6
                ),
                None => write!(out, " {:>6.1}%", share(k.instructions, instructions)),
            };
            let _ = writeln!(out, " {:>10}", seconds(k.host_seconds));
        }
        if kernels.len() > SHOWN {
            let _ = writeln!(out, "  … and {} more kernels", kernels.len() - SHOWN);
        }
    }
}

/// A number of things.
fn counted(n: u64, one: &str, many: &str) -> String {
    format!("{} {}", grouped(n), if n == 1 { one } else { many })
}

/// A time for people.
fn seconds(s: f64) -> String {
    match s {
        s if s >= 1.0 => format!("{s:.2} s"),
        s if s >= 1e-3 => format!("{:.2} ms", s * 1e3),
        s => format!("{:.2} µs", s * 1e6),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_of_processes_add_up() {
        let folder = tempfile::tempdir().unwrap();
        let kernel = |name: &str, cycles| KernelResults {
            name: name.into(),
            launches: 2,
            timed: 1,
            cycles,
            energy_pj: 5e6,
            ..KernelResults::default()
        };
        let one =
            Results { process: 1, clock_mhz: 1000.0, kernels: vec![kernel("a", 300), kernel("b", 100)], ..Results::default() };
        let two = Results { process: 2, kernels: vec![kernel("b", 900)], faults: 1, ..Results::default() };
        one.write(folder.path()).unwrap();
        two.write(folder.path()).unwrap();
        two.write(folder.path()).unwrap();
        fs::write(folder.path().join("results-3.json"), "cut sho").unwrap();
        let all = Results::read_all(folder.path());
        assert_eq!((all.faults, all.kernels.len(), all.kernels[1].cycles), (1, 2, 1000));
        let text = all.summary();
        assert!(text.starts_with("heddle: 6 launches of 2 kernels"), "{text}");
        assert!(text.contains("3 timed: 1 300 cycles (1.30 µs), 15.000 µJ"), "{text}");
        assert!(text.find("  b ").unwrap() < text.find("  a ").unwrap(), "the largest first: {text}");
        assert!(text.contains("76.9%") && text.contains("1 launch ended by a fault"), "{text}");
        assert!(Results::default().summary().contains("no kernel"));
    }

    #[test]
    fn a_process_that_ends_too_late_says_so_only_if_it_launched_anything() {
        let folder = tempfile::tempdir().unwrap().path().join("gone");
        assert_eq!(Results::default().write(&folder), Ok(()));
        let launched = Results { kernels: vec![KernelResults::default()], ..Results::default() };
        let leaked = Results { leaks: 1, ..Results::default() };
        for results in [launched, leaked] {
            assert!(results.write(&folder).is_err_and(|e| e.contains("results-0.json")));
        }
    }
}
