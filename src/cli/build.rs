//! `heddle build`.

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;

use super::{CodegenArgs, Failure, MachineArgs, Outcome, compile_failure, write_output};
use heddle::driver::{self, Emit};
use heddle_frontend::args::{object_name, parse_clang_style};
use heddle_frontend::spirv::{SpecValue, parse_spec};
use heddle_frontend::{FrontendOptions, Language};

/// Compile OpenCL C (or C++, CUDA, HIP, SPIR-V, LLVM IR, MIR) to an object.
///
/// Takes clang's options as they are (-c -o -D -I -O -g -cl-* -W… -MD -MF …), so that it can stand
/// where clang stands in a Makefile; Heddle's own may stand between them. Several sources become one
/// object.
///
///   heddle build -O2 -DN=64 kernel.cl -o kernel.o
///   heddle build kernel.cl --emit asm -o -
///   heddle build kernel.cl --stop-after select -o -       # machine IR after instruction selection
#[derive(Args)]
#[command(verbatim_doc_comment, args_override_self = true)]
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
    /// Write optimisation remarks to a file (`-`: standard output): which addresses are made of global ids,
    /// and why others are not (YAML, as LLVM's).
    #[arg(long, value_name = "FILE")]
    remarks: Option<PathBuf>,
    /// An instance of a template in CUDA or HIP that is to be compiled, although the source uses it nowhere:
    /// 'scale<float>'. May be repeated.
    #[arg(long, value_name = "NAME")]
    kernel: Vec<String>,
    /// The value of a specialisation constant of SPIR-V, by its number. May be repeated.
    #[arg(long, value_name = "ID=VALUE")]
    spec: Vec<String>,
    #[command(flatten)]
    dump: super::DumpArgs,
    /// Print how many seconds the front end, selection, code generation and its stages, and the object
    /// took, as JSON on standard error.
    #[arg(long)]
    time: bool,
    /// Print what code generation did, as JSON on standard error.
    #[arg(long)]
    stats: bool,
    /// clang's options and the sources.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "CLANG OPTIONS AND SOURCES")]
    rest: Vec<String>,
}

impl Build {
    /// Runs the subcommand.
    pub fn run(self) -> Outcome {
        let line = parse_clang_style(&self.rest).map_err(Failure::input)?;
        let machine = super::load_machine(&self.machine)?;
        self.codegen.check(&machine).map_err(Failure::input)?;
        self.dump.check()?;
        if let Some(message) = wrong_instance(&self.kernel, &line.inputs) {
            return Err(Failure::input(message));
        }
        let frontend = FrontendOptions {
            clang_args: line.clang_args.clone(),
            kernels: self.kernel,
            spec_constants: [line.spec_constants.clone(), spec_constants(&self.spec)?].concat(),
            opt: line.opt,
            verbose: line.verbose,
            ..Default::default()
        };
        if line.preprocess || line.syntax_only {
            return heddle_frontend::preprocess(&line).map_err(|e| compile_failure(e.into()));
        }
        let mut options = self.codegen.options(frontend);
        for (stage, stop) in [(&self.stop_after, true), (&self.start_before, false)] {
            let Some(stage) = stage else { continue };
            let stages = if stop { driver::stages() } else { heddle_codegen::pipeline::names() };
            if !stages.contains(&stage.as_str()) {
                return Err(Failure::input(format!("no stage `{stage}`; the stages are {}", stages.join(", "))));
            }
        }
        if let (Some(stage), Some(input)) = (&self.start_before, line.inputs.iter().find(|i| !driver::is_mir(i))) {
            let kind = match input.extension().and_then(|e| e.to_str()) {
                Some("ll" | "bc") => "LLVM IR",
                Some("s") => "assembly",
                _ => Language::of(input).name(),
            };
            return Err(Failure::input(format!(
                "--start-before {stage}: the input must be machine IR (.mir) that has been through the earlier stages; \
                 {} is {kind}",
                input.display()
            )));
        }
        let whole = self.emit.filter(|e| *e != Emit::Mir).and_then(|e| clap::ValueEnum::to_possible_value(&e));
        if let (Some(stage), Some(emit)) = (&self.stop_after, &whole) {
            let emit = emit.get_name();
            return Err(Failure::input(format!("--stop-after {stage} writes machine IR; leave out --emit {emit}")));
        }
        options.select.remarks = self.remarks.is_some();
        options.codegen.dump.clone_from(&self.dump.dump);
        options.codegen.stop_after = self.stop_after;
        options.codegen.start_before = self.start_before;
        let emit = self.emit.unwrap_or(if line.assembly { Emit::Asm } else { Emit::Obj });
        let early =
            matches!(emit, Emit::Ir | Emit::AnnotatedIr) || options.codegen.stop_after.as_deref() == Some(driver::SELECTION);
        if early && !self.dump.dump.is_empty() {
            return Err(Failure::input(
                "--dump shows code generation, which --emit ir, --emit annotated-ir and --stop-after select leave out",
            ));
        }
        let result = driver::compile(&line.inputs, emit, &options, &machine).map_err(compile_failure)?;
        report(&result, self.remarks.as_deref(), self.time, self.stats)?;
        self.dump.write(&result.stats)?;
        let text = emit != Emit::Obj || options.codegen.stop_after.is_some();
        let output = match (&line.output, text) {
            (Some(o), _) => Some(o.clone()),
            (None, true) if !line.assembly => None,
            (None, _) => Some(object_name(&line)),
        };
        write_output(output.as_deref(), &result.output)
    }
}

/// What is wrong with names of instances.
fn wrong_instance(kernels: &[String], inputs: &[PathBuf]) -> Option<String> {
    let first = kernels.first()?;
    if !inputs.iter().any(|i| Language::of(i).is_cuda_like()) {
        return Some(format!("--kernel {first}: only CUDA and HIP (.cu, .hip) have instances of templates"));
    }
    let plain = kernels.iter().find(|k| !k.ends_with('>'))?;
    Some(format!(
        "--kernel {plain}: kernels that are no templates are compiled anyway; an instance is named as in 'scale<float>'"
    ))
}

/// Reads the values of specialisation constants.
fn spec_constants(words: &[String]) -> Result<Vec<(u32, SpecValue)>, Failure> {
    words.iter().map(|w| parse_spec(w).map_err(Failure::input)).collect()
}

/// Writes what was asked for beside the output.
fn report(result: &driver::Compilation, remarks: Option<&Path>, time: bool, stats: bool) -> Outcome {
    if let Some(path) = remarks {
        let text: String = result.remarks.iter().map(ToString::to_string).collect();
        write_output(Some(path), text.as_bytes())?;
    }
    if time {
        let seconds = |times: &[(&'static str, Duration)]| -> serde_json::Map<String, serde_json::Value> {
            times.iter().map(|(n, t)| ((*n).to_string(), t.as_secs_f64().into())).collect()
        };
        let mut times = seconds(&result.times);
        times.insert("stages of code generation".into(), seconds(&result.stats.times).into());
        heddle_report::say!("{}", serde_json::Value::Object(times));
    }
    if stats {
        heddle_report::say!("{}", serde_json::to_string(&result.stats).unwrap_or_default());
    }
    Ok(())
}
