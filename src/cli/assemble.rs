//! `heddle as`.

use std::path::PathBuf;

use clap::Args;

use super::{Failure, Outcome, compile_failure, read_input, write_output};
use heddle::driver;
use heddle_object::write;

/// Assemble the text that `heddle objdump` prints into an object.
#[derive(Args)]
pub struct As {
    /// Assembly text; `-` for standard input.
    input: PathBuf,
    /// The object.
    #[arg(short, value_name = "FILE")]
    output: PathBuf,
}

impl As {
    /// Runs the subcommand.
    pub fn run(self) -> Outcome {
        let name = self.input.display();
        let bytes = read_input(&self.input, "assembly")?;
        let image = driver::assemble(&name.to_string(), &bytes).map_err(compile_failure)?;
        let object = write::write(&image).map_err(Failure::input)?;
        write_output(Some(&self.output), &object)
    }
}
