//! `heddle debug`.

use std::io::{BufRead, IsTerminal};

use clap::Args;

use super::launch::LaunchArgs;
use super::{CodegenArgs, Failure, MachineArgs, Outcome, compile_failure};
use heddle::debug::console::{Console, Lines};
use heddle::debug::dap::Dap;
use heddle::debug::{Debugger, FrontEnd};
use heddle::driver::{self, Emit};
use heddle_object::read;
use heddle_runtime::case::Case;
use heddle_runtime::run::{Mode, Outcome as CaseOutcome, RunError, Simulator, run_case};
use heddle_sim::{FaultKind, Options};
use heddle_target::Machine;

/// Debug a kernel: stop, look at lanes, registers and memory, and go back, in functional mode.
///
/// Commands come from --command, then from standard input; `help` lists them. Work-groups run one
/// after the other, in an order that is the same each time.
///
///   heddle debug case.json
///   heddle debug scale.cl --kernel scale --global 64 --arg a=zeros:float32:64 --command 'break 4' --command c
///   heddle debug --dap case.json                    # for editors, on standard input and output
#[derive(Args)]
#[command(verbatim_doc_comment)]
pub struct Debug {
    #[command(flatten)]
    launch: LaunchArgs,
    #[command(flatten)]
    machine: MachineArgs,
    #[command(flatten)]
    codegen: CodegenArgs,
    /// A command of the debugger, before those of standard input. May be repeated.
    #[arg(long, short = 'x', value_name = "COMMAND", conflicts_with = "dap")]
    command: Vec<String>,
    /// Serve the Debug Adapter Protocol on standard input and output.
    #[arg(long)]
    dap: bool,
}

/// Commands of the command line, then of standard input; those of a script are echoed.
struct Input {
    given: std::vec::IntoIter<String>,
    editor: Option<rustyline::DefaultEditor>,
}

impl Lines for Input {
    fn next(&mut self, prompt: &str) -> Result<Option<String>, String> {
        use rustyline::error::ReadlineError;
        if let Some(line) = self.given.next() {
            println!("{prompt}{line}");
            return Ok(Some(line));
        }
        if let Some(editor) = &mut self.editor {
            return match editor.readline(prompt) {
                Ok(line) => {
                    // A history that is full is no reason to stop.
                    let _ = editor.add_history_entry(&line);
                    Ok(Some(line))
                }
                Err(ReadlineError::Eof | ReadlineError::Interrupted) => Ok(None),
                Err(e) => Err(format!("standard input: {e}")),
            };
        }
        let mut line = String::new();
        match std::io::stdin().lock().read_line(&mut line) {
            Ok(0) => Ok(None),
            Ok(_) => {
                println!("{prompt}{}", line.trim_end());
                Ok(Some(line))
            }
            Err(e) => Err(format!("standard input: {e}")),
        }
    }
}

impl Debug {
    /// Runs the subcommand.
    pub fn run(self) -> Outcome {
        let machine = super::load_machine(&self.machine)?;
        self.codegen.check(&machine).map_err(Failure::input)?;
        let mut case = self.launch.read_case()?;
        let (inputs, mut frontend) = driver::case_frontend(&case, &self.launch.more_options()?)
            .map_err(|m| Failure::input(format!("{}: options: {m}", self.launch.case.display())))?;
        // Variables are wanted, if the user has not said how much is.
        if !frontend.clang_args.iter().any(|a| a.starts_with("-g")) {
            frontend.clang_args.insert(0, "-g".into());
        }
        let mut options = self.codegen.options(frontend);
        options.wide_ids |= case.has_wide_ids();
        let compilation = driver::compile(&inputs, Emit::Obj, &options, &machine).map_err(compile_failure)?;
        let image =
            read::parse(&compilation.output).map_err(|e| Failure::input(format!("{}: {e}", self.launch.case.display())))?;
        self.launch.choose_kernel(&mut case, &image)?;
        let (mut input, mut output) = (std::io::stdin().lock(), std::io::stdout());
        if self.dap {
            let mut dap = Dap::new(&mut input, &mut output);
            let (result, left) = debug(&case, &image, &machine, &mut dap);
            let status = if result.is_ok() { 0 } else { 1 };
            return match left {
                Some(message) => left_with(message),
                None => dap.finished(status).map_err(Failure::check),
            };
        }
        drop(input);
        let editor = match std::io::stdin().is_terminal() {
            true => Some(rustyline::DefaultEditor::new().map_err(|e| Failure::input(format!("terminal: {e}")))?),
            false => None,
        };
        let mut lines = Input { given: self.command.into_iter(), editor };
        let mut console = Console::new(&mut lines, &mut output);
        let (result, left) = debug(&case, &image, &machine, &mut console);
        let name = self.launch.case.display();
        match (result, left) {
            (Err(RunError::Fault(f)), Some(message)) if f.kind == FaultKind::Interrupted => left_with(message),
            (Err(RunError::Fault(f)), _) => Err(Failure::check(f)),
            (Err(e), _) => Err(Failure::input(format!("{name}: {e}"))),
            (Ok(_), Some(message)) if !message.is_empty() => left_with(message),
            (Ok(outcome), _) => {
                let text: Vec<String> = outcome.mismatches.iter().map(|(b, m)| format!("{name}: buffer `{b}`: {m}")).collect();
                if text.is_empty() { Ok(()) } else { Err(Failure::check(text.join("\n"))) }
            }
        }
    }
}

/// Somebody has left: on purpose, or because input or output failed.
fn left_with(message: String) -> Outcome {
    if message.is_empty() { Ok(()) } else { Err(Failure::input(message)) }
}

/// Debugs a case. What came of it, and if the front end has left why.
fn debug(
    case: &Case,
    image: &heddle_object::Image,
    machine: &Machine,
    front_end: &mut dyn FrontEnd,
) -> (Result<CaseOutcome, RunError>, Option<String>) {
    let options = Options { threads: 1, ..Options::default() };
    let simulator = Simulator { machine, mode: Mode::Functional, options: &options };
    let mut debugger = Debugger::new(front_end, &case.folder);
    let result = run_case(case, image, &simulator, &mut debugger);
    (result, debugger.left)
}
