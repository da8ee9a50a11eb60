//! Machine-layer stages from SSA MIR to allocated code (C2).
//!
//! The stages are the rows of [`pipeline::STAGES`], one file each; `docs/STAGES.md` is printed from them.
//! Each transforms one function; functions are compiled in parallel.
//!
//! May touch: [`heddle_isa`], [`heddle_mir`], [`heddle_target`]. Never the simulator or LLVM.

pub mod allocate;
pub mod assign;
pub mod bindings;
pub mod checker;
pub mod cleanup;
mod coalesce;
pub mod color;
pub mod context;
pub mod costs;
pub mod dump;
mod early_copies;
pub mod edges;
pub mod emit;
pub mod finish;
pub mod hoist;
pub mod if_convert;
pub mod lifetimes;
pub mod literals;
pub mod local_file;
pub mod loops;
pub mod lower;
pub mod main_file;
pub mod main_spill;
pub mod marks;
pub mod names;
pub mod narrow;
pub mod partition;
pub mod pipeline;
pub mod place;
pub mod predicates;
pub mod ranges;
pub mod reduce;
pub mod release;
pub mod release_check;
pub mod scalar_file;
mod scalar_values;
mod scale;
pub mod schedule;
pub mod share;
pub mod simplify;
pub mod spill;
mod ssa;
pub mod strands;
#[cfg(test)]
mod testing;
pub mod trim;
pub mod variables;
pub mod webs;

use std::time::Duration;

use serde::Serialize;

pub use self::pipeline::STAGES;
use heddle_mir::Module;
use heddle_object::metadata::version_name;
use heddle_target::Machine;

/// What can go wrong in code generation.
#[derive(Debug, thiserror::Error)]
pub enum CodegenError {
    /// The registers allowed cannot hold even one instruction's operands.
    #[error(
        "{kernel}: {available} {file} registers are too few: an instruction needs more at once; \
         allow more (--max-registers, or the machine description's register files)"
    )]
    TooFewRegisters {
        /// Kernel.
        kernel: String,
        /// Which file.
        file: &'static str,
        /// How many there are.
        available: u32,
    },
    /// A graph was asked for that belongs to a stage that did not run.
    #[error("{kernel}: no graph `{graph}`: it is made before the stage {stage}, which --start-before or --stop-after leave out")]
    NoGraph {
        /// Kernel.
        kernel: String,
        /// Which.
        graph: dump::Dump,
        /// Before which stage it is made.
        stage: &'static str,
    },
    /// An option names a stage that does not exist.
    #[error("there is no stage `{0}`; the stages are {list}", list = pipeline::names().join(", "))]
    UnknownStage(String),
    /// The checker or the verifier found a defect of the compiler.
    #[error("internal error in {stage} of {kernel}: {message}")]
    Internal {
        /// Kernel.
        kernel: String,
        /// Stage after which it was found.
        stage: String,
        /// What is wrong.
        message: String,
    },
}

/// Which vector register files the compiler uses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum RegisterFile {
    /// Local files of the clusters and the main file (C1).
    #[default]
    Multilevel,
    /// The main file only.
    Single,
}

/// Whether main registers are divided into fixed and shared ones (REN-1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Rename {
    /// Where more warps can be resident for it.
    #[default]
    Auto,
    /// Wherever there are short-lived values.
    Always,
    /// Nowhere: all are fixed.
    Never,
}

/// Options of code generation.
#[derive(Clone, Debug, Default)]
pub struct CodegenOptions {
    /// Main registers a work-item may use, below the machine's own limit.
    pub max_main_registers: Option<u32>,
    /// Which register files there are.
    pub regfile: RegisterFile,
    /// How owners of live ranges are chosen (C4).
    pub ownership: partition::Ownership,
    /// Whether the main registers are divided into fixed and shared ones (REN-1); otherwise all are fixed.
    pub rename: Rename,
    /// When shared registers are released.
    pub release: release::Release,
    /// Keep the order of instructions, and branches around short conditional loads.
    pub no_schedule: bool,
    /// Leave out the u marks (S5).
    pub no_marks: bool,
    /// Leave loads and image reads as wide as the program has them: for checks of what it reads, and for debuggers.
    pub no_trim: bool,
    /// Verify between stages and check the allocation.
    pub verify: bool,
    /// Stop after the stage of this name.
    pub stop_after: Option<String>,
    /// Start with the stage of this name (the input has been through the earlier ones).
    pub start_before: Option<String>,
    /// Graphs to make.
    pub dump: Vec<dump::Dump>,
}

/// What code generation did to one kernel.
#[derive(Clone, Debug, Default, Serialize)]
pub struct FunctionStats {
    /// Kernel.
    pub kernel: String,
    /// It is the kernel's version for launches whose rows fill warps.
    pub rows_fill_warps: bool,
    /// Instructions of the result.
    pub instructions: usize,
    /// Virtual registers moved to private memory.
    pub spilled_to_memory: usize,
    /// Virtual registers recomputed at their uses instead.
    pub rematerialized: usize,
    /// Scalar registers moved to vector registers.
    pub scalar_spilled: usize,
    /// Predicates moved to vector registers.
    pub predicate_spilled: usize,
    /// Live ranges that found no room in their cluster's local file.
    pub local_overflow: usize,
    /// Copies left after coalescing.
    pub copies: usize,
    /// Words live at the worst place before spilling: vector, scalar, predicate.
    pub pressure: [u32; 3],
    /// Graphs asked for, as DOT.
    #[serde(skip)]
    pub dumps: Vec<(dump::Dump, String)>,
}

impl FunctionStats {
    /// The name of the kernel's symbol in the object; versions of one kernel differ.
    pub fn symbol(&self) -> String {
        version_name(&self.kernel, self.rows_fill_warps)
    }
}

/// What code generation did.
#[derive(Clone, Debug, Default, Serialize)]
pub struct CodegenStats {
    /// Per kernel.
    pub functions: Vec<FunctionStats>,
    /// Time of each stage, summed over kernels, in the order of the pipeline.
    #[serde(skip)]
    pub times: Vec<(&'static str, Duration)>,
}

/// Compiles every function of a module.
///
/// # Errors
/// The first function's error, in order of the functions.
pub fn compile(module: &mut Module, machine: &Machine, options: &CodegenOptions) -> Result<CodegenStats, CodegenError> {
    for name in [&options.stop_after, &options.start_before].into_iter().flatten() {
        if pipeline::find(name).is_none() {
            return Err(CodegenError::UnknownStage(name.clone()));
        }
    }
    let results: Vec<Result<_, CodegenError>> =
        heddle_threads::map(module.functions.iter_mut().collect(), |f| pipeline::compile_function(f, machine, options));
    let mut stats = CodegenStats { times: STAGES.iter().map(|s| (s.name, Duration::ZERO)).collect(), ..Default::default() };
    for result in results {
        let (function, times) = result?;
        stats.functions.push(function);
        for (total, time) in stats.times.iter_mut().zip(times) {
            total.1 += time;
        }
    }
    Ok(stats)
}
