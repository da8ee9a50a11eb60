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
        if self.machine.target.is_none() && self.machine.set.is_empty() {
            // The commented original says more than a serialised copy.
            return write_output(None, heddle_target::DEFAULT_TEXT.as_bytes());
        }
        let text = toml::to_string_pretty(&machine).map_err(Failure::check)?;
        write_output(None, text.as_bytes())
    }
}
