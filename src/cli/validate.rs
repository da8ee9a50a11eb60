//! `heddle validate`.

use std::path::PathBuf;

use clap::Args;

use heddle::options::MachineArgs;
use heddle_report::html::blocks::number;
use heddle_sim::Options;
use heddle_target::Machine;
use heddle_validate::page::{page, percent, sentence};
use heddle_validate::{Check, Defect, Report};

use super::{Failure, Outcome, write_output};

/// Check the simulator against closed forms of a machine's description.
///
/// Micro-kernels in assembly measure latencies, throughputs and laws (Little's, conservation, energy);
/// what each must give is computed from the description, so it moves with --target and --set. Prints
/// what was expected and simulated, the error, and the bound it must keep. Exit status 1 if one does
/// not, 2 if the machine cannot be read. docs/VALIDATE.md lists the closed forms.
///
///   heddle validate
///   heddle validate --target machines/small.toml --html validation.html
///   heddle validate --set timing.int32.latency=9        # the expectations follow
///   heddle validate --only latency --json -             # a group, for a script
///   heddle validate --defect timing.int32.latency=9     # would it notice? (it fails)
#[derive(Args)]
#[command(verbatim_doc_comment)]
pub struct Validate {
    #[command(flatten)]
    machine: MachineArgs,
    /// Write a page with all comparisons and curves, which needs no network.
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Write all comparisons and curves as JSON (`-`: standard output, instead of the table).
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Groups to check, comma-separated: latency, throughput, multiprocessor, laws; default: all. Laws of sums ask the runs of
    /// the groups before them.
    #[arg(long, value_enum, value_delimiter = ',', value_name = "GROUP")]
    only: Vec<Group>,
    /// Simulate a machine with another value in a field than the description says, and expect what the description says:
    /// shows which comparisons notice a simulator that is wrong in this. May be repeated.
    #[arg(long, value_name = "FIELD=VALUE")]
    defect: Vec<String>,
    /// Print only what is beyond its bound.
    #[arg(long, short)]
    quiet: bool,
}

/// Groups of checks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Group {
    /// Dependent instructions and loads.
    Latency,
    /// Issue rates and bandwidths.
    Throughput,
    /// Schedulers, banks of the main register file, launches.
    Multiprocessor,
    /// Residency, sums of counters, energy, runs that differ in one thing.
    Laws,
}

impl Group {
    fn name(self) -> &'static str {
        ["latency", "throughput", "multiprocessor", "laws"][self as usize]
    }
}

impl Validate {
    /// Runs the subcommand.
    pub fn run(self) -> Outcome {
        let machine = super::load_machine(&self.machine)?;
        let wrong = |m: &Machine| -> Result<Machine, Failure> {
            let text = toml::to_string(m).map_err(Failure::check)?;
            Machine::from_text(&text, "--defect", &self.defect).map_err(Failure::input)
        };
        wrong(&machine)?;
        // A micro-kernel's variant of the machine that cannot have the value is simulated as it is described.
        let defect = |m: &mut Machine| *m = wrong(m).unwrap_or_else(|_| m.clone());
        let defect: Option<&Defect> = if self.defect.is_empty() { None } else { Some(&defect) };
        let options = Options { threads: 1, ..Options::default() };
        let wanted = |group: &str| self.only.is_empty() || self.only.iter().any(|g| g.name() == group);
        let mut progress = |group: &str| {
            if !self.quiet {
                heddle_report::say!("{group} …");
            }
        };
        let report = heddle_validate::validate_groups(&machine, &options, defect, &wanted, &mut progress);
        if let Some(path) = &self.json {
            let text = serde_json::to_string_pretty(&report).map_err(Failure::check)?;
            write_output(Some(path), (text + "\n").as_bytes())?;
        }
        if let Some(path) = &self.html {
            write_output(Some(path), page(&report).as_bytes())?;
        }
        if !self.quiet && self.json.as_ref().is_none_or(|p| p.as_os_str() != "-") {
            write_output(None, table(&report).as_bytes())?;
        }
        let failures: Vec<String> = report.failures().map(sentence).collect();
        if failures.is_empty() {
            return Ok(());
        }
        Err(Failure::check(format!("{} checks beyond their bounds:\n{}", failures.len(), failures.join("\n"))))
    }
}

/// Characters of a check's name in the table; the page and the JSON have all of it.
const WIDEST: usize = 80;

/// The comparisons as a table, and what they come to.
fn table(report: &Report) -> String {
    let longest = report.checks.iter().map(|c| c.name.chars().count()).max().unwrap_or(0).min(WIDEST);
    let mut out = String::new();
    let mut group = "";
    for c in &report.checks {
        if c.group != group {
            group = c.group;
            let heads = ["expected", "simulated", "error", "bound"].map(|h| format!("{h:>11}")).concat();
            out += &format!("{}{group:<longest$}{heads}\n", if out.is_empty() { "" } else { "\n" });
        }
        out += &line(c, longest);
    }
    let (failed, left_out) = (report.failures().count(), report.left_out().count());
    out += &format!(
        "\n{}: {} comparisons, {failed} beyond their bounds, {left_out} not applicable; {} launches of {} cycles\n",
        report.machine,
        report.checks.len() - left_out,
        report.launches,
        number(report.cycles as f64)
    );
    out
}

fn line(c: &Check, longest: usize) -> String {
    let mut name = c.name.clone();
    if name.chars().count() > longest {
        name = name.chars().take(longest.saturating_sub(1)).chain(['…']).collect();
    }
    if let Some(reason) = &c.not_applicable {
        return format!("{name:<longest$}  not applicable: {reason}\n");
    }
    let limit = if c.at_most { "≤ " } else { "" };
    let figures = [format!("{limit}{}", number(c.expected)), number(c.simulated), percent(c.error), percent(c.bound)];
    let figures = figures.map(|f| format!("{f:>11}")).concat();
    format!("{name:<longest$}{figures}{}\n", if c.failed() { "  beyond" } else { "" })
}
