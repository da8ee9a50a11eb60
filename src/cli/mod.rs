//! The command line: one file a subcommand, no logic.
//!
//! Exit status: 0 success, 1 a failed check or a fault of the program, 2 bad usage or input, 130 or 143 a run
//! that Ctrl-C or SIGTERM interrupted, whose partial results were reported.

mod ablate;
mod assemble;
mod build;
mod compare;
mod debug;
mod exec;
mod launch;
mod objdump;
mod opt;
mod run;
mod signals;
mod sweep;
mod target;
mod time;
mod validate;
mod words;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, CommandFactory, FromArgMatches, Parser, Subcommand};

use heddle::options::{CodegenArgs, MachineArgs};
use heddle_codegen::dump::Dump;
use heddle_target::Machine;

/// An error with its exit status.
#[derive(Debug)]
pub struct Failure {
    status: u8,
    message: String,
}

impl Failure {
    /// Bad usage or input: status 2.
    pub fn input(message: impl std::fmt::Display) -> Self {
        Failure { status: 2, message: message.to_string() }
    }
    /// Interrupted by a signal, after partial results: status 130 or 143.
    pub fn interrupted(message: impl std::fmt::Display) -> Self {
        Failure { status: signals::status(), message: message.to_string() }
    }
    /// A failed check or program fault: status 1.
    pub fn check(message: impl std::fmt::Display) -> Self {
        Failure { status: 1, message: message.to_string() }
    }
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}

impl From<heddle::explore::ExploreError> for Failure {
    fn from(error: heddle::explore::ExploreError) -> Failure {
        match error {
            heddle::explore::ExploreError::Input(m) => Failure::input(m),
            heddle::explore::ExploreError::Check(m) => Failure::check(m),
        }
    }
}

/// What a subcommand returns.
pub type Outcome = Result<(), Failure>;

/// Compile OpenCL C for a GPU you describe, and run it on a simulator of that GPU.
#[derive(Parser)]
#[command(name = "heddle", version, max_term_width = 110)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Build(build::Build),
    Run(Box<run::Run>),
    Debug(Box<debug::Debug>),
    Exec(Box<exec::Exec>),
    Opt(opt::Opt),
    As(assemble::As),
    Objdump(objdump::Objdump),
    Target(target::Target),
    Compare(compare::Compare),
    Ablate(ablate::Ablate),
    Sweep(sweep::Sweep),
    Time(Box<time::Time>),
    Validate(validate::Validate),
    /// Print the instruction set reference (Markdown).
    Isa,
}

/// Loads the machine that options describe: bad usage if it cannot be.
pub fn load_machine(options: &MachineArgs) -> Result<Machine, Failure> {
    options.load().map_err(Failure::input)
}

/// Graphs of the compiler's work.
#[derive(Args, Clone, Debug, Default)]
pub struct DumpArgs {
    /// Write graphs of each kernel as DOT (graphviz), comma-separated: cfg (blocks of the finished code), ddg
    /// (dependences within blocks, as the scheduler sees them), interference (live ranges that cannot share a
    /// register, before allocation).
    #[arg(long, value_enum, value_delimiter = ',', value_name = "GRAPH")]
    pub dump: Vec<Dump>,
    /// Folder for the graphs, as KERNEL.GRAPH.dot, and of versions of a kernel as KERNEL.rows-fill-warps.GRAPH.dot;
    /// without it they go to standard output.
    #[arg(long, value_name = "FOLDER")]
    pub dump_dir: Option<PathBuf>,
}

impl DumpArgs {
    /// Checks that the folder is for something.
    ///
    /// # Errors
    /// Status 2.
    pub fn check(&self) -> Outcome {
        match self.dump_dir.is_some() && self.dump.is_empty() {
            true => Err(Failure::input("--dump-dir says where --dump=cfg,ddg,interference writes; there is no --dump")),
            false => Ok(()),
        }
    }

    /// Writes the graphs of a compilation.
    ///
    /// # Errors
    /// Status 2.
    pub fn write(&self, stats: &heddle_codegen::CodegenStats) -> Outcome {
        for (function, (dump, text)) in stats.functions.iter().flat_map(|f| f.dumps.iter().map(move |d| (f, d))) {
            let path = self.dump_dir.as_ref().map(|folder| folder.join(format!("{}.{dump}.dot", function.symbol())));
            if let Some(folder) = &self.dump_dir {
                let fail = |e: std::io::Error| Failure::input(format!("cannot make {}: {e}", folder.display()));
                std::fs::create_dir_all(folder).map_err(fail)?;
            }
            write_output(path.as_deref(), text.as_bytes())?;
        }
        Ok(())
    }
}

/// Maps a compile error to its status: what the user gave is bad (2), except for defects of Heddle (1).
pub fn compile_failure(error: heddle::driver::CompileError) -> Failure {
    use heddle::driver::CompileError as E;
    use heddle_codegen::CodegenError;
    match &error {
        E::Frontend(_) | E::Unsupported(_) | E::Input(_) => Failure::input(error),
        E::Codegen(CodegenError::TooFewRegisters { .. } | CodegenError::NoGraph { .. }) => Failure::input(error),
        E::Codegen(_) | E::Write(_) => Failure::check(error),
    }
}

/// Reads a file, or standard input for `-`. `what` it should be stands in the message if there is none.
pub fn read_input(path: &std::path::Path, what: &str) -> Result<Vec<u8>, Failure> {
    use std::io::Read;
    if path.as_os_str() == "-" {
        let mut bytes = Vec::new();
        std::io::stdin().read_to_end(&mut bytes).map_err(|e| Failure::input(format!("standard input: {e}")))?;
        return Ok(bytes);
    }
    std::fs::read(path).map_err(|e| Failure::input(format!("{}: cannot read the {what}: {e}", path.display())))
}

/// Writes a file, or standard output for `-` or none.
pub fn write_output(path: Option<&std::path::Path>, bytes: &[u8]) -> Outcome {
    use std::io::Write;
    match path {
        Some(p) if p.as_os_str() != "-" => {
            std::fs::write(p, bytes).map_err(|e| Failure::input(format!("cannot write {}: {e}", p.display())))
        }
        _ => match std::io::stdout().write_all(bytes).and_then(|()| std::io::stdout().flush()) {
            // A reader that has seen enough is no error.
            Err(e) if e.kind() != std::io::ErrorKind::BrokenPipe => Err(Failure::input(format!("standard output: {e}"))),
            _ => Ok(()),
        },
    }
}

/// Runs the command line.
pub fn main() -> ExitCode {
    let matches = Cli::command().get_matches_from(words::sorted(&Cli::command(), std::env::args_os().collect()));
    let cli = Cli::from_arg_matches(&matches).unwrap_or_else(|e| e.format(&mut Cli::command()).exit());
    let outcome = match cli.command {
        Command::Build(c) => c.run(),
        Command::Run(c) => c.run(),
        Command::Debug(c) => c.run(),
        Command::Exec(c) => c.run(matches.subcommand_matches("exec")),
        Command::Opt(c) => c.run(),
        Command::As(c) => c.run(),
        Command::Objdump(c) => c.run(),
        Command::Target(c) => c.run(),
        Command::Compare(c) => c.run(),
        Command::Ablate(c) => c.run(),
        Command::Sweep(c) => c.run(),
        Command::Time(c) => c.run(matches.subcommand_matches("time")),
        Command::Validate(c) => c.run(),
        Command::Isa => write_output(None, heddle_isa::docs::reference().as_bytes()),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(Failure { status, message }) => {
            if !message.is_empty() {
                let prefix = if message.contains("error: ") { "" } else { "error: " };
                heddle_report::say!("{prefix}{message}");
            }
            ExitCode::from(status)
        }
    }
}
