//! `heddle objdump`.

use std::path::PathBuf;

use clap::Args;

use super::{Failure, Outcome, read_input, write_output};
use heddle_object::asm;
use heddle_object::read;

/// Disassemble an object. The output is what `heddle as` reads.
#[derive(Args)]
pub struct Objdump {
    /// The object; `-` for standard input.
    input: PathBuf,
    /// Where the text goes; without it standard output.
    #[arg(short, value_name = "FILE")]
    output: Option<PathBuf>,
}

impl Objdump {
    /// Runs the subcommand.
    pub fn run(self) -> Outcome {
        let name = self.input.display();
        let image = read::parse(&read_input(&self.input, "object")?).map_err(|e| Failure::input(format!("{name}: {e}")))?;
        let text = asm::disassemble(&image).map_err(|e| Failure::input(format!("{name}: {e}")))?;
        write_output(self.output.as_deref(), text.as_bytes())
    }
}
