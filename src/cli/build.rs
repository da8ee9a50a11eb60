//! `heddle build`.

use std::path::PathBuf;

use clap::Args;

use super::{CodegenArgs, Failure, MachineArgs, Outcome, compile_failure, write_output};
use heddle::driver::{self, Emit};
use heddle_frontend::FrontendOptions;
use heddle_frontend::args::{object_name, parse_clang_style};

/// Compile OpenCL C (or LLVM IR, or MIR) to an object.
///
/// Takes clang's options as they are (-c -o -D -I -O -g -cl-* -W… -MD -MF …), so that it can stand
/// where clang stands in a Makefile. Several sources become one object.
///
///   heddle build -O2 -DN=64 kernel.cl -o kernel.o
///   heddle build kernel.cl --emit asm -o -
///   heddle build kernel.cl --stop-after select -o -       # machine IR after instruction selection
#[derive(Args)]
#[command(verbatim_doc_comment)]
pub struct Build {
    #[command(flatten)]
    machine: MachineArgs,
    #[command(flatten)]
    codegen: CodegenArgs,
    /// What to write.
    #[arg(long, value_enum)]
    emit: Option<Emit>,
    #[arg(long, value_name = "STAGE", help = format!("Stop after a stage and write machine IR: {}", driver::stages().join(", ")))]
    stop_after: Option<String>,
    /// Start with a stage (the input is machine IR that has been through the earlier ones).
    #[arg(long, value_name = "STAGE")]
    start_before: Option<String>,
    /// Write optimisation remarks to a file (`-`: standard output): which addresses are made of global ids, and why others are not (YAML, as LLVM's).
    #[arg(long, value_name = "FILE")]
    remarks: Option<PathBuf>,
    #[command(flatten)]
    dump: super::DumpArgs,
    /// Print how long each stage took, as JSON on standard error.
    #[arg(long)]
    time: bool,
    /// Print what code generation did, as JSON on standard error.
    #[arg(long)]
    stats: bool,
    /// clang's options and the sources.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "CLANG OPTIONS AND SOURCES")]
    rest: Vec<String>,
}

/// Heddle's own long options, which may stand anywhere on the line.
const OWN: &[(&str, bool)] = &[
    ("--target", true),
    ("--set", true),
    ("--no-scalarize", false),
    ("--regfile", true),
    ("--no-schedule", false),
    ("--no-global-id", false),
    ("--cache-hints", true),
    ("--no-cache-hints", false),
    ("--prefetch", false),
    ("--rename", false),
    ("--no-rename", false),
    ("--release", true),
    ("--ownership", true),
    ("--max-registers", true),
    ("--verify", false),
    ("--emit", true),
    ("--stop-after", true),
    ("--start-before", true),
    ("--remarks", true),
    ("--dump", true),
    ("--dump-dir", true),
    ("--time", false),
    ("--stats", false),
];

impl Build {
    /// Takes Heddle's own options out of what follows clang's.
    fn absorb_trailing(self) -> Result<Build, Failure> {
        use clap::{Args as _, FromArgMatches};
        let mut own: Vec<String> = vec!["heddle build".into()];
        let mut rest = Vec::new();
        let mut words = self.rest.iter();
        while let Some(word) = words.next() {
            let name = word.split('=').next().unwrap_or_default();
            match OWN.iter().find(|(o, _)| *o == name) {
                Some((_, takes_value)) => {
                    own.push(word.clone());
                    if *takes_value && !word.contains('=') {
                        own.extend(words.next().cloned());
                    }
                }
                None => rest.push(word.clone()),
            }
        }
        if own.len() == 1 {
            return Ok(Build { rest, ..self });
        }
        let command = Build::augment_args(clap::Command::new("heddle build").no_binary_name(false));
        let usage = |e: clap::Error| Failure::input(e.to_string().trim_end());
        let matches = command.try_get_matches_from(own).map_err(usage)?;
        let late = Build::from_arg_matches(&matches).map_err(usage)?;
        let mut set = self.machine.set;
        set.extend(late.machine.set);
        Ok(Build {
            machine: MachineArgs { target: late.machine.target.or(self.machine.target), set },
            codegen: CodegenArgs {
                no_scalarize: self.codegen.no_scalarize || late.codegen.no_scalarize,
                no_global_id: self.codegen.no_global_id || late.codegen.no_global_id,
                cache_hints: late.codegen.cache_hints.or(self.codegen.cache_hints),
                no_cache_hints: self.codegen.no_cache_hints || late.codegen.no_cache_hints,
                prefetch: self.codegen.prefetch || late.codegen.prefetch,
                no_rename: self.codegen.no_rename || late.codegen.no_rename,
                rename: self.codegen.rename || late.codegen.rename,
                release: late.codegen.release.or(self.codegen.release),
                no_schedule: self.codegen.no_schedule || late.codegen.no_schedule,
                regfile: late.codegen.regfile.or(self.codegen.regfile),
                ownership: late.codegen.ownership.or(self.codegen.ownership),
                max_registers: late.codegen.max_registers.or(self.codegen.max_registers),
                verify: self.codegen.verify || late.codegen.verify,
            },
            emit: late.emit.or(self.emit),
            stop_after: late.stop_after.or(self.stop_after),
            start_before: late.start_before.or(self.start_before),
            remarks: late.remarks.or(self.remarks),
            dump: super::DumpArgs {
                dump: [self.dump.dump, late.dump.dump].concat(),
                dump_dir: late.dump.dump_dir.or(self.dump.dump_dir),
            },
            time: self.time || late.time,
            stats: self.stats || late.stats,
            rest,
        })
    }

    /// Runs the subcommand.
    pub fn run(self) -> Outcome {
        let this = self.absorb_trailing()?;
        let line = parse_clang_style(&this.rest).map_err(Failure::input)?;
        let machine = this.machine.load()?;
        this.codegen.check(&machine).map_err(Failure::input)?;
        this.dump.check()?;
        let frontend =
            FrontendOptions { clang_args: line.clang_args.clone(), opt: line.opt, verbose: line.verbose, ..Default::default() };
        if line.preprocess || line.syntax_only {
            return heddle_frontend::preprocess(&line).map_err(|e| compile_failure(e.into()));
        }
        let mut options = this.codegen.options(frontend);
        for (stage, stop) in [(&this.stop_after, true), (&this.start_before, false)] {
            let Some(stage) = stage else { continue };
            let stages = if stop { driver::stages() } else { heddle_codegen::pipeline::names() };
            if !stages.contains(&stage.as_str()) {
                return Err(Failure::input(format!("no stage `{stage}`; the stages are {}", stages.join(", "))));
            }
        }
        if let (Some(stage), Some(input)) = (&this.start_before, line.inputs.iter().find(|i| !driver::is_mir(i))) {
            let kind = match input.extension().and_then(|e| e.to_str()) {
                Some("ll" | "bc") => "LLVM IR",
                _ => "OpenCL C",
            };
            return Err(Failure::input(format!(
                "--start-before {stage}: the input must be machine IR (.mir) that has been through the earlier stages; {} is {kind}",
                input.display()
            )));
        }
        let whole = this.emit.filter(|e| *e != Emit::Mir).and_then(|e| clap::ValueEnum::to_possible_value(&e));
        if let (Some(stage), Some(emit)) = (&this.stop_after, &whole) {
            let emit = emit.get_name();
            return Err(Failure::input(format!("--stop-after {stage} writes machine IR; leave out --emit {emit}")));
        }
        options.codegen.dump.clone_from(&this.dump.dump);
        options.codegen.stop_after = this.stop_after;
        options.codegen.start_before = this.start_before;
        let emit = this.emit.unwrap_or(if line.assembly { Emit::Asm } else { Emit::Obj });
        let early = matches!(emit, Emit::Ir | Emit::AnnotatedIr) || options.codegen.stop_after.as_deref() == Some(driver::SELECTION);
        if early && !this.dump.dump.is_empty() {
            return Err(Failure::input(
                "--dump shows code generation, which --emit ir, --emit annotated-ir and --stop-after select leave out",
            ));
        }
        let result = driver::compile(&line.inputs, emit, &options, &machine).map_err(compile_failure)?;
        if let Some(path) = &this.remarks {
            let text: String = result.remarks.iter().map(ToString::to_string).collect();
            write_output(Some(path), text.as_bytes())?;
        }
        this.dump.write(&result.stats)?;
        if this.time {
            let times: serde_json::Map<String, serde_json::Value> =
                result.times.iter().map(|(n, t)| ((*n).to_string(), t.as_secs_f64().into())).collect();
            heddle_report::say!("{}", serde_json::Value::Object(times));
        }
        if this.stats {
            heddle_report::say!("{}", serde_json::to_string(&result.stats).unwrap_or_default());
        }
        let text = emit != Emit::Obj || options.codegen.stop_after.is_some();
        let output = match (&line.output, text) {
            (Some(o), _) => Some(o.clone()),
            (None, true) if !line.assembly => None,
            (None, _) => Some(object_name(&line)),
        };
        write_output(output.as_deref(), &result.output)
    }
}
