//! `heddle exec --report`: the index page of a program's launches, and what its rows are.
//!
//! The page shows which kernels take which share of cycles, energy and traffic, totals of each kernel, and a
//! list of launches; columns sort when their heads are pressed. `launches.js` draws it, with `draw.js`, for
//! the width it finds.

use serde::Serialize;
use serde_json::json;

use super::assemble;
use heddle_sim::statistics::Sampling;
use heddle_target::Machine;

/// A kernel's launches together.
#[derive(Clone, Debug, Default, Serialize)]
pub struct KernelRow {
    /// The kernel's name.
    pub name: String,
    /// Launches.
    pub launches: u64,
    /// Of these, with timing.
    pub timed: u64,
    /// Of these, ended by a fault.
    pub faults: u64,
    /// Work-items of all launches.
    pub work_items: u64,
    /// Warp instructions of all launches.
    pub instructions: u64,
    /// Cycles of the timed ones, and of those that were extrapolated.
    pub cycles: u64,
    /// What was extrapolated, and how sure it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sampling: Option<Sampling>,
    /// Energy of the timed ones, in picojoules.
    pub energy_pj: f64,
    /// Bytes from and to device memory of the timed ones.
    pub dram_bytes: u64,
    /// Host time of all launches, in seconds.
    pub host_seconds: f64,
}

/// A launch.
#[derive(Clone, Debug, Default, Serialize)]
pub struct LaunchRow {
    /// Its number among all launches of the program, from 1.
    pub number: u64,
    /// Its number among its kernel's, from 1.
    pub occurrence: u64,
    /// Which of the kernels.
    pub kernel: usize,
    /// Global size.
    pub global: Vec<u64>,
    /// Work-group size.
    pub local: Vec<u64>,
    /// Whether it was timed.
    pub timed: bool,
    /// Whether a fault ended it.
    pub fault: bool,
    /// Work-items.
    pub work_items: u64,
    /// Warp instructions.
    pub instructions: u64,
    /// Cycles, if it was timed or extrapolated.
    pub cycles: Option<u64>,
    /// How sure they are, if they were extrapolated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sampling: Option<Sampling>,
    /// Energy in picojoules, if it was timed.
    pub energy_pj: Option<f64>,
    /// Bytes from and to device memory, if it was timed.
    pub dram_bytes: Option<u64>,
    /// Host time in seconds.
    pub host_seconds: f64,
    /// The page of this launch, relative to the index.
    pub page: Option<String>,
}

/// What an index page shows.
#[derive(Clone, Debug, Serialize)]
pub struct Launches<'a> {
    /// The program.
    pub title: &'a str,
    /// Its command line.
    pub command: &'a str,
    /// Kernels.
    pub kernels: Vec<KernelRow>,
    /// Launches to be listed.
    pub launches: Vec<LaunchRow>,
    /// Sentences about what stands out or is left out.
    pub notes: Vec<String>,
}

/// The page.
pub fn page(launches: &Launches, machine: &Machine) -> String {
    let data = json!({
        "run": launches,
        "version": env!("CARGO_PKG_VERSION"),
        "machine": {
            "name": machine.name,
            "description": machine.description,
            "clock_mhz": machine.clock_mhz,
            "sms": machine.sm.count,
            "warp_size": machine.warp_size,
        },
    });
    let style = concat!(include_str!("style.css"), include_str!("explore.css"), include_str!("launches.css"));
    let script = concat!(include_str!("draw.js"), include_str!("launches.js"));
    assemble(launches.title, style, &data, script)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_has_its_rows_and_needs_no_network() {
        let kernel = KernelRow { name: "</script><b>k".into(), launches: 2, ..KernelRow::default() };
        let launch = LaunchRow { page: Some("launch-1.html".into()), cycles: Some(77), ..LaunchRow::default() };
        let launches = Launches {
            title: "program",
            command: "program & more",
            kernels: vec![kernel],
            launches: vec![launch],
            notes: vec![],
        };
        let text = page(&launches, &Machine::default_machine());
        assert_eq!(text.matches("</script>").count(), 2, "the page's own");
        assert!(!text.replace("http://www.w3.org/2000/svg", "").contains("://"), "no network");
        assert!(text.contains(r#""cycles":77"#) && text.contains("launch-1.html"));
    }
}
