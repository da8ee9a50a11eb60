//! `heddle opt`.

use std::path::PathBuf;

use clap::Args;
use inkwell::context::Context;
use inkwell::memory_buffer::MemoryBuffer;

use super::{Failure, MachineArgs, Outcome, write_output};

/// Run passes on LLVM IR: LLVM's by name, and Heddle's.
///
/// Heddle's passes are listed below. Facts about the machine come from --target and --set, or from
/// a pass's parameters. The plug-in libheddle_passes.so has the same passes for LLVM's own opt, as
/// heddle-uniformity and so on.
///
///   heddle opt --passes='print<uniformity>' --disable-output kernel.ll
///   heddle opt --passes='heddle-prepare,uniformity<warp-size=64>' kernel.ll
///   heddle opt --passes='instcombine,loop-simplify,lcssa' kernel.ll -o out.ll
#[derive(Args)]
#[command(verbatim_doc_comment, after_help = heddle_llvm_passes::pipeline::help())]
pub struct Opt {
    #[command(flatten)]
    machine: MachineArgs,
    /// Passes, comma-separated.
    #[arg(long, value_name = "PASSES")]
    passes: String,
    /// LLVM IR or bitcode; `-` for standard input.
    input: PathBuf,
    /// Where the module goes; without it standard output.
    #[arg(short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Do not write the module, only what analyses print.
    #[arg(long)]
    disable_output: bool,
    /// Text output (always; accepted for opt's users).
    #[arg(short = 'S', hide = true)]
    text: bool,
}

impl Opt {
    /// Runs the subcommand.
    pub fn run(self) -> Outcome {
        let machine = super::load_machine(&self.machine)?;
        let facts = heddle::driver::facts(&machine, &heddle::driver::CompileOptions::default());
        let bytes = super::read_input(&self.input, "LLVM IR")?;
        let context = Context::create();
        let name = self.input.display().to_string();
        let buffer = MemoryBuffer::create_from_memory_range_copy(&bytes, &name);
        let module = context.create_module_from_ir(buffer).map_err(|e| Failure::input(format!("{name}: {}", e.to_string())))?;
        let mut printed = Vec::new();
        heddle_llvm_passes::pipeline::run_text_pipeline(&module, &self.passes, facts, &mut printed).map_err(Failure::input)?;
        write_output(None, &printed)?;
        if self.disable_output {
            return Ok(());
        }
        write_output(self.output.as_deref(), module.print_to_string().to_bytes())
    }
}
