//! From sources to an object: the stages in order, each of which can be the last.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use heddle_llvm_passes::Facts;
use inkwell::context::Context;

use heddle_codegen::{CodegenError, CodegenOptions, CodegenStats};
use heddle_frontend::args::parse_clang_style;
use heddle_frontend::{FrontendError, FrontendOptions, OptLevel};
use heddle_isel::{Diagnostic, DivisionCosts, IssueRates, SelectOptions};
use heddle_mir::{Module, parse, print};
use heddle_object::write::{self, WriteError};
use heddle_object::{Image, asm};
use heddle_runtime::case::Case;
use heddle_target::Machine;

/// Name of instruction selection, the stage before those of [`heddle_codegen::STAGES`].
pub const SELECTION: &str = "select";

/// Stages after which `--stop-after` can stop, in order.
pub fn stages() -> Vec<&'static str> {
    [vec![SELECTION], heddle_codegen::pipeline::names()].concat()
}

/// What to print or write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Emit {
    /// Optimised LLVM IR as selection sees it.
    Ir,
    /// The same with the results of Heddle's analyses as metadata.
    AnnotatedIr,
    /// Machine IR after the last stage run.
    Mir,
    /// Assembly.
    Asm,
    /// The ELF object.
    Obj,
}

/// What can go wrong.
#[derive(Debug, thiserror::Error)]
pub enum CompileError {
    /// Front end.
    #[error(transparent)]
    Frontend(#[from] FrontendError),
    /// Constructs that Heddle does not compile.
    #[error("{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))]
    Unsupported(Vec<Diagnostic>),
    /// Code generation.
    #[error(transparent)]
    Codegen(#[from] CodegenError),
    /// Object.
    #[error(transparent)]
    Write(#[from] WriteError),
    /// Machine IR or assembly as input.
    #[error("{0}")]
    Input(String),
}

/// How to compile.
#[derive(Clone, Debug, Default)]
pub struct CompileOptions {
    /// Front end.
    pub frontend: FrontendOptions,
    /// Selection.
    pub select: SelectOptions,
    /// Code generation.
    pub codegen: CodegenOptions,
    /// For checking mode: reads of uninitialised variables stay, and no load is made unconditional.
    pub checked: bool,
    /// Launches may have ids of 2³¹ and more, which are negative as `int`s.
    pub wide_ids: bool,
}

/// What came out.
#[derive(Debug, Default)]
pub struct Compilation {
    /// The bytes or text asked for.
    pub output: Vec<u8>,
    /// Code generation's statistics.
    pub stats: CodegenStats,
    /// What happened to accesses and why, if selection was asked to say it.
    pub remarks: Vec<heddle_isel::Remark>,
    /// Time of each stage.
    pub times: Vec<(&'static str, Duration)>,
}

/// Whether an input is machine IR, by its extension.
pub fn is_mir(input: &Path) -> bool {
    input.extension().is_some_and(|e| e == "mir")
}

/// Whether an input is assembly, by its extension.
pub fn is_assembly(input: &Path) -> bool {
    input.extension().is_some_and(|e| e == "s")
}

/// Compiles sources (or one `.mir` or `.s` file) to what `emit` says.
///
/// # Errors
/// See [`CompileError`].
pub fn compile(inputs: &[PathBuf], emit: Emit, options: &CompileOptions, machine: &Machine) -> Result<Compilation, CompileError> {
    let mut work = Work::new(emit, options, machine);
    if let Some(assembly) = inputs.iter().find(|i| is_assembly(i)) {
        not_for(assembly, "assembly", &options.frontend)?;
        return work.assemble(assembly, inputs.len());
    }
    let mir = inputs.iter().find(|i| is_mir(i));
    if let Some(mir) = mir {
        not_for(mir, "machine IR", &options.frontend)?;
    }
    if let Some(mir) = mir.filter(|_| inputs.len() > 1) {
        return Err(CompileError::Input(format!("{}: machine IR is compiled alone", mir.display())));
    }
    if let Some(mir) = mir {
        let module = read_mir(mir, options, machine)?;
        work.lap("selection");
        return work.generate(module);
    }
    let context = Context::create();
    let ir = heddle_frontend::compile_to_module(&context, inputs, &options.frontend, options.checked, facts(machine, options))?;
    work.lap("front end");
    work.lower(&ir)
}

/// Refuses values that the front end alone puts into code, for an input that it does not see.
fn not_for(input: &Path, kind: &str, frontend: &FrontendOptions) -> Result<(), CompileError> {
    let name = input.display();
    if let Some((variable, _)) = frontend.variables.first() {
        let message = format!(
            "{name}: variables.{variable}: only variables of CUDA and HIP (.cu, .hip) get values from outside; this is {kind}"
        );
        return Err(CompileError::Input(message));
    }
    match frontend.spec_constants.first() {
        Some((id, _)) => Err(CompileError::Input(format!(
            "{name}: --spec {id}=…: only SPIR-V (.spv, .spvasm) has specialisation constants; this is {kind}"
        ))),
        None => Ok(()),
    }
}

/// What passes are told of a machine and of launches.
pub fn facts(machine: &Machine, options: &CompileOptions) -> Facts {
    Facts {
        warp_size: machine.warp_size,
        surface_components: machine.memory.surface_components,
        rows_fill_warps: false,
        max_work_group_size: machine.sm.max_work_group_size,
        short_ids: !options.wide_ids,
        // Who checks wants to know of what other machines refuse.
        unaligned_vectors: machine.memory.unaligned_vectors && !options.checked,
    }
}

/// Warps of each scheduler that hide the latency of hits in an L1. With one, rows of 512 bytes a lane took 1.3 to 1.5 times as long as
/// with all that an SM holds, though these found less in the L1 (`gemv_rows`, 16 and 32 KiB).
const FEWEST_WARPS: u32 = 2;
/// The same for an SM, however few its schedulers are: one that issues to four clusters wants more than two warps.
const FEWEST_OF_SM: u32 = 8;

/// Lines that half of an L1, which working sets may fill, keeps for each of the fewest warps that are worth it.
fn lines_a_warp(machine: &Machine) -> u32 {
    let lines = machine.memory.data.bytes / machine.memory.line_bytes.max(1) / 2;
    lines / (FEWEST_WARPS * machine.sm.schedulers).max(FEWEST_OF_SM)
}

/// Goes on from a module that the front end prepared.
///
/// # Errors
/// See [`CompileError`].
pub fn compile_module(
    ir: &inkwell::module::Module,
    emit: Emit,
    options: &CompileOptions,
    machine: &Machine,
) -> Result<Compilation, CompileError> {
    Work::new(emit, options, machine).lower(ir)
}

/// Assembles the bytes of a file of some name.
///
/// # Errors
/// The first line that is wrong, with the file's name.
pub fn assemble(name: &str, bytes: &[u8]) -> Result<Image, CompileError> {
    let text = std::str::from_utf8(bytes).map_err(|_| CompileError::Input(format!("{name}: not text")))?;
    let place = |e: asm::AsmError| CompileError::Input(format!("{name}:{}:{}: {}", e.line, e.column, e.message));
    asm::assemble(text).map_err(place)
}

/// Reads machine IR and checks it.
fn read_mir(mir: &Path, options: &CompileOptions, machine: &Machine) -> Result<Module, CompileError> {
    let name = mir.display();
    let text =
        std::fs::read_to_string(mir).map_err(|e| CompileError::Input(format!("{name}: cannot read the machine IR: {e}")))?;
    let (module, places) = parse::parse_with_places(&text).map_err(|e| CompileError::Input(format!("{name}:{e}")))?;
    for (f, places) in module.functions.iter().zip(&places) {
        heddle_mir::verify::verify_in_place(f, machine).map_err(|v| {
            let place = v.inst.and_then(|i| places.get(i)).map(|(line, column)| format!("{line}:{column}: "));
            let place = place.unwrap_or_else(|| " ".into());
            CompileError::Input(format!("{name}:{place}kernel @{}: {}", f.name, v.message))
        })?;
        let needed = options.codegen.start_before.as_deref().and_then(heddle_codegen::pipeline::find).map(|s| s.needs);
        if let Some(needed) = needed.filter(|n| *n > f.form) {
            let stage = options.codegen.start_before.as_deref().unwrap_or_default();
            return Err(CompileError::Input(format!(
                "{name}: kernel @{} is in stage {}; --start-before {stage} needs stage {needed}",
                f.name, f.form
            )));
        }
    }
    Ok(module)
}

/// A compilation on its way.
struct Work<'a> {
    emit: Emit,
    options: &'a CompileOptions,
    machine: &'a Machine,
    result: Compilation,
    clock: Instant,
}

impl<'a> Work<'a> {
    fn new(emit: Emit, options: &'a CompileOptions, machine: &'a Machine) -> Work<'a> {
        Work { emit, options, machine, result: Compilation::default(), clock: Instant::now() }
    }

    /// Notes how long a stage took.
    fn lap(&mut self, name: &'static str) {
        self.result.times.push((name, self.clock.elapsed()));
        self.clock = Instant::now();
    }

    /// From LLVM IR.
    fn lower(mut self, ir: &inkwell::module::Module) -> Result<Compilation, CompileError> {
        let (options, facts) = (self.options, facts(self.machine, self.options));
        if self.emit == Emit::AnnotatedIr {
            let wanted = |name: &str| match name {
                "global-id" => options.select.global_id,
                "cache-hints" => options.select.cache_hints == heddle_isel::CacheHints::Analysis,
                _ => true,
            };
            for pass in heddle_llvm_passes::pipeline::annotating().filter(|p| wanted(p.name)) {
                pass.run(ir, facts, &mut std::io::sink()).map_err(|e| CompileError::Input(e.to_string()))?;
            }
        }
        if matches!(self.emit, Emit::Ir | Emit::AnnotatedIr) {
            self.result.output = ir.print_to_string().to_bytes().to_vec();
            return Ok(self.result);
        }
        let select = SelectOptions {
            surfaces: options.select.surfaces.min(self.machine.memory.surfaces),
            lines_a_warp: lines_a_warp(self.machine),
            issue_rates: Some(IssueRates::of(self.machine)),
            division: DivisionCosts::of(self.machine),
            redzones: options.checked,
            ..options.select.clone()
        };
        let module = heddle_isel::select(ir, &select, facts, &mut self.result.remarks).map_err(CompileError::Unsupported)?;
        self.lap("selection");
        self.generate(module)
    }

    /// From machine IR.
    fn generate(mut self, mut module: Module) -> Result<Compilation, CompileError> {
        let (options, machine) = (self.options, self.machine);
        if options.codegen.verify {
            verify(&module, machine)?;
        }
        if options.codegen.stop_after.as_deref() == Some(SELECTION) {
            self.result.output = print::print_module(&module).into_bytes();
            return Ok(self.result);
        }
        let whole = options.checked || options.frontend.opt == OptLevel::O0;
        let codegen = CodegenOptions { no_trim: whole || options.codegen.no_trim, ..options.codegen.clone() };
        self.result.stats = heddle_codegen::compile(&mut module, machine, &codegen)?;
        self.lap("code generation");
        if self.emit == Emit::Mir || options.codegen.stop_after.is_some() {
            self.result.output = print::print_module(&module).into_bytes();
            return Ok(self.result);
        }
        self.write(&heddle_codegen::emit::assemble(&module, machine)?)
    }

    /// From assembly, one file of `inputs`: there is nothing left to do but to encode it.
    fn assemble(self, path: &Path, inputs: usize) -> Result<Compilation, CompileError> {
        let name = path.display();
        let wrong = |message: &str| Err(CompileError::Input(format!("{name}: {message}")));
        if inputs > 1 {
            return wrong("assembly is a whole object; it is assembled alone");
        }
        let codegen = &self.options.codegen;
        if !matches!(self.emit, Emit::Asm | Emit::Obj) || codegen.stop_after.is_some() || codegen.start_before.is_some() {
            return wrong("assembly has been through all stages; what can be written of it is --emit asm or obj");
        }
        let bytes = std::fs::read(path).map_err(|e| CompileError::Input(format!("{name}: cannot read the assembly: {e}")))?;
        self.write(&assemble(&name.to_string(), &bytes)?)
    }

    /// The last stage: an object, or its text.
    fn write(mut self, image: &Image) -> Result<Compilation, CompileError> {
        self.result.output = if self.emit == Emit::Asm {
            asm::disassemble(image).map_err(CompileError::Input)?.into_bytes()
        } else {
            write::write(image)?
        };
        self.lap("object");
        Ok(self.result)
    }
}

/// Inputs and front-end options of a case, with `more` words after its own.
///
/// # Errors
/// A sentence about the case's options.
pub fn case_frontend(case: &Case, more: &[String]) -> Result<(Vec<PathBuf>, FrontendOptions), String> {
    let mut words: Vec<String> = case.options.iter().chain(more).cloned().collect();
    words.push(case.source().display().to_string());
    let line = parse_clang_style(&words)?;
    let clang_args = relative_includes(line.clang_args, case);
    let kernels = case.launches.iter().map(|l| l.kernel.clone()).collect::<std::collections::BTreeSet<_>>();
    let kernels = kernels.into_iter().collect();
    let mut variables = Vec::new();
    for (name, value) in &case.variables {
        let contents = value.contents(&case.folder).map_err(|m| format!("variables.{name}: {m}"))?;
        variables.push((name.clone(), contents.data));
    }
    let (opt, verbose, spec_constants) = (line.opt, line.verbose, line.spec_constants);
    Ok((line.inputs, FrontendOptions { clang_args, kernels, variables, spec_constants, opt, verbose, ..Default::default() }))
}

/// `-I folder` in a case is relative to the case.
fn relative_includes(args: Vec<String>, case: &Case) -> Vec<String> {
    let mut result: Vec<String> = Vec::new();
    for a in args {
        let previous_is_include = result.last().is_some_and(|p| p == "-I" || p == "-isystem" || p == "-iquote");
        result.push(match a.strip_prefix("-I").filter(|p| !p.is_empty()) {
            Some(p) => format!("-I{}", case.folder.join(p).display()),
            None if previous_is_include => case.folder.join(&a).display().to_string(),
            None => a,
        });
    }
    result.push(format!("-I{}", if case.folder.as_os_str().is_empty() { ".".into() } else { case.folder.display().to_string() }));
    result
}

fn verify(module: &Module, machine: &Machine) -> Result<(), CompileError> {
    for f in &module.functions {
        heddle_mir::verify::verify(f, machine).map_err(|message| {
            CompileError::Codegen(CodegenError::Internal { kernel: f.name.clone(), stage: "selection".into(), message })
        })?;
    }
    Ok(())
}
