//! Pages of a report: of one launch, and the index of all.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::outputs::command_line;
use super::state::State;
use super::{LaunchPlan, LaunchResult};
use heddle_report::HostTimes;
use heddle_report::html::Run;
use heddle_report::html::launches::{Launches, page};
use heddle_runtime::case::{Case, Launch};
use heddle_runtime::run::{CaseLaunch, Outcome};
use heddle_sim::Statistics;
use heddle_target::Machine;

/// Launches that an index page lists at most.
const MOST_LISTED: usize = 2000;

/// The page of one launch.
///
/// # Errors
/// Code that does not load.
pub(super) fn launch_page(
    kernel: &str,
    plan: &LaunchPlan,
    result: &LaunchResult,
    statistics: &Statistics,
    machine: &Machine,
) -> Result<String, String> {
    let spec = Launch {
        kernel: kernel.into(),
        global: result.global.into(),
        local: Some(result.local.into()),
        offset: Some(result.offset.into()),
        repeat: 1,
        args: Vec::new(),
    };
    let files = result.source.map_or(&[][..], |s| &s.files);
    let case = Case {
        source: files.first().map_or_else(|| "a binary".into(), |(name, _)| name.clone()),
        options: Vec::new(),
        buffers: BTreeMap::new(),
        variables: BTreeMap::new(),
        launches: vec![spec],
        folder: PathBuf::new(),
    };
    let title = format!("{kernel}, launch {}", plan.number);
    let outcome = Outcome {
        total: statistics.clone(),
        launches: vec![CaseLaunch { number: 0, kernel: kernel.into(), version: result.version, statistics: statistics.clone() }],
        simulated: result.host,
        launch_times: vec![result.host],
        ..Outcome::default()
    };
    let times = HostTimes { compile: Default::default(), simulate: result.host, launches: vec![result.host] };
    let run = Run {
        title: &title,
        command: command_line().join(" "),
        case: &case,
        image: result.image,
        machine,
        mode: plan.mode,
        sources: files,
    };
    heddle_report::html::page(&run, &outcome, &times)
}

/// The index of all launches.
pub(super) fn index_page(state: &State, machine: &Machine) -> String {
    let command = command_line();
    let title = command.first().map_or("a program", |c| c.rsplit('/').next().unwrap_or(c));
    let (launches, left_out) = state.rows(MOST_LISTED);
    let mut notes = Vec::new();
    if left_out > 0 {
        let left_out = heddle_report::grouped(left_out);
        notes.push(format!("{left_out} launches are not listed one by one; the kernels' totals have them."));
    }
    if let Some(note) = state.pages_left_out() {
        notes.push(note);
    }
    page(&Launches { title, command: &command.join(" "), kernels: state.kernel_rows(), launches, notes }, machine)
}
