//! `heddle target`.

use clap::Args;

use heddle_target::Machine;

use super::{Failure, MachineArgs, Outcome, write_output};

/// Print a machine description, or check one.
///
/// Prints the description with all overrides applied, as TOML: a starting point for a machine of
/// your own.
///
///   heddle target > my-machine.toml
///   heddle target --target my-machine.toml --check
///   heddle target --set warp-size=16 --set sm.count=4
///   heddle target --register-files                     # capacity, area and price of each register file
///   heddle target --fields                             # every field: type, range, unit, default, meaning
#[derive(Args)]
#[command(verbatim_doc_comment)]
pub struct Target {
    #[command(flatten)]
    machine: MachineArgs,
    /// Only check it.
    #[arg(long)]
    check: bool,
    /// Print the reference of all fields of a description (Markdown).
    #[arg(long, conflicts_with = "check")]
    fields: bool,
    /// Print what the machine's register files hold, take and cost (C13).
    #[arg(long, conflicts_with_all = ["check", "fields"])]
    register_files: bool,
}

/// A table of the register files of an SM: capacity, area, access time of an array, and what 32 bits of a lane cost with
/// their wires.
fn register_files(machine: &Machine) -> String {
    use std::fmt::Write;
    let prices = machine.register_prices();
    let mut files = Vec::new();
    for (name, file) in machine.register_files() {
        let cluster = machine.clusters.iter().position(|c| name == format!("local {}", c.name));
        match cluster {
            Some(c) if machine.near_bank(c).bits > 0 => {
                files.push((format!("{name}, near"), machine.near_bank(c), prices.near[c]));
                files.push((format!("{name}, far"), machine.far_bank(c), prices.local[c]));
            }
            Some(c) => files.push((name, file, prices.local[c])),
            None if name == "main" => files.push((name, file, prices.main)),
            None => files.push((name, file, prices.scalar)),
        }
    }
    let width = files.iter().map(|(name, ..)| name.len()).max().unwrap_or(0);
    let mut out = format!("{:<width$}   KiB an SM   mm² an SM   array bytes   access ns   read pJ   write pJ\n", "file");
    for (name, f, price) in &files {
        let _ = writeln!(
            out,
            "{name:<width$} {:>11.1} {:>11.3} {:>13.0} {:>11.3} {:>9.3} {:>10.3}",
            f.bits as f64 / 8192.0,
            f.area_mm2,
            f.array_bytes,
            f.access_ns,
            price[0],
            price[1]
        );
    }
    let (bits, area) = files.iter().fold((0, 0.0), |(b, a), (_, f, _)| (b + f.bits, a + f.area_mm2));
    let _ = writeln!(out, "{:<width$} {:>11.1} {:>11.3}", "all", bits as f64 / 8192.0, area);
    out
}

impl Target {
    /// Runs the subcommand.
    pub fn run(self) -> Outcome {
        if self.fields {
            return write_output(None, heddle_target::docs::reference().as_bytes());
        }
        let machine = super::load_machine(&self.machine)?;
        if self.check {
            let Machine { name, sm, warp_size, .. } = &machine;
            let text = format!("{name}: a valid machine of {} SMs with warps of {warp_size} lanes\n", sm.count);
            return write_output(None, text.as_bytes());
        }
        if self.register_files {
            return write_output(None, register_files(&machine).as_bytes());
        }
        if self.machine.target.is_none() && self.machine.set.is_empty() {
            // The commented original says more than a serialised copy.
            return write_output(None, heddle_target::DEFAULT_TEXT.as_bytes());
        }
        let text = toml::to_string_pretty(&machine).map_err(Failure::check)?;
        write_output(None, text.as_bytes())
    }
}
