//! The stages of code generation as values.
//!
//! [`STAGES`] is the whole pipeline in order. `--stop-after`, `--start-before`, their help and error
//! messages, the times of `--stats`, the graphs of `--dump`, the tests and `docs/STAGES.md` are all read from
//! it. A new stage is a file with a function `run`, a row here, and a lit test that names it.

use std::fmt::Write;
use std::time::{Duration, Instant};

use super::context::Context;
use super::dump::{self, Dump};
use super::{CodegenError, CodegenOptions, FunctionStats, RegisterFile};
use super::{
    assign, cleanup, finish, hoist, if_convert, literals, local_file, lower, main_file, marks, narrow, partition, place,
    predicates, reduce, release, release_check, scalar_file, schedule, share, simplify, strands, trim, variables,
};
use heddle_mir::{Form, Function};
use heddle_target::Machine;

/// A stage: what it is called, between which forms of a function it stands, and what it does.
pub struct Stage {
    /// Name on the command line. The file is called the same, with `_` for `-`.
    pub name: &'static str,
    /// What it does, for `docs/STAGES.md`.
    pub does: &'static str,
    /// Form of the functions it takes. A function that is past that form passes by.
    pub needs: Form,
    /// Form of the functions it makes.
    pub gives: Form,
    /// When it is left out, if options can leave it out.
    pub unless: Option<Unless>,
    /// The graph of `--dump` that shows the function as it is before this stage.
    pub shows: Option<Dump>,
    /// Transforms a function.
    pub run: fn(&mut Function, &mut Context) -> Result<(), CodegenError>,
}

/// When a stage is left out.
pub struct Unless {
    /// On the command line.
    pub option: &'static str,
    /// In the options.
    pub holds: fn(&CodegenOptions) -> bool,
}

/// The pipeline.
pub const STAGES: &[Stage] = &[
    Stage {
        name: "narrow",
        does: "64-bit operations of which only the low word is used become 32-bit ones",
        needs: Form::Ssa,
        gives: Form::Ssa,
        unless: None,
        shows: None,
        run: narrow::run,
    },
    Stage {
        name: "simplify",
        does: "algebra on words and predicates, masks that mask nothing, constants where they are read",
        needs: Form::Ssa,
        gives: Form::Ssa,
        unless: None,
        shows: None,
        run: simplify::run,
    },
    Stage {
        name: "share",
        does: "common subexpressions over blocks, scalar words that branches have in common, loop counters that go in step",
        needs: Form::Ssa,
        gives: Form::Ssa,
        unless: None,
        shows: None,
        run: share::run,
    },
    Stage {
        name: "hoist",
        does: "loop-invariant scalar code leaves loops",
        needs: Form::Ssa,
        gives: Form::Ssa,
        unless: None,
        shows: None,
        run: hoist::run,
    },
    Stage {
        name: "reduce",
        does: "what loops compute from their counters steps along with them (strength reduction); other sums are scaled term by term",
        needs: Form::Ssa,
        gives: Form::Ssa,
        unless: None,
        shows: None,
        run: reduce::run,
    },
    Stage {
        name: "cleanup",
        does: "copy propagation, dead code",
        needs: Form::Ssa,
        gives: Form::Ssa,
        unless: None,
        shows: None,
        run: cleanup::run,
    },
    Stage {
        name: "literals",
        does: "constants that instructions cannot have as immediates become operands in the constant bank",
        needs: Form::Ssa,
        gives: Form::Ssa,
        unless: None,
        shows: None,
        run: literals::run,
    },
    Stage {
        name: "trim",
        does: "loads and image reads give only the words that something reads",
        needs: Form::Ssa,
        gives: Form::Ssa,
        unless: Some(Unless { option: "-O0, --check", holds: |o| o.no_trim }),
        shows: None,
        run: trim::run,
    },
    Stage {
        name: "place",
        does: "the order of blocks: loops before what follows them, one branch on the way back",
        needs: Form::Ssa,
        gives: Form::Ssa,
        unless: None,
        shows: None,
        run: place::run,
    },
    Stage {
        name: "lower",
        does: "phis become parallel copies on the edges, tuples copies of their words",
        needs: Form::Ssa,
        gives: Form::Lowered,
        unless: None,
        shows: None,
        run: lower::run,
    },
    Stage {
        name: "if-convert",
        does: "short conditional code that loads becomes guarded instructions (if-conversion)",
        needs: Form::Lowered,
        gives: Form::Lowered,
        unless: Some(Unless { option: "--no-schedule", holds: |o| o.no_schedule }),
        shows: None,
        run: if_convert::run,
    },
    Stage {
        name: "marks",
        does: "u marks on vector instructions that the scalar unit executes once for all lanes (S5)",
        needs: Form::Lowered,
        gives: Form::Lowered,
        unless: Some(Unless { option: "--no-scalarize", holds: |o| o.no_marks }),
        shows: None,
        run: marks::run,
    },
    Stage {
        name: "assign",
        does: "a cluster for every vector instruction (C2)",
        needs: Form::Lowered,
        gives: Form::Lowered,
        unless: None,
        shows: None,
        run: assign::run,
    },
    Stage {
        name: "schedule",
        does: "list scheduling within blocks: loads early, their users late (C2)",
        needs: Form::Lowered,
        gives: Form::Lowered,
        unless: Some(Unless { option: "--no-schedule", holds: |o| o.no_schedule }),
        shows: Some(Dump::Ddg),
        run: schedule::run,
    },
    Stage {
        name: "strands",
        does: "marks where a warp may leave the active set, which no local live range crosses (C14)",
        needs: Form::Lowered,
        gives: Form::Lowered,
        unless: None,
        shows: None,
        run: strands::run,
    },
    Stage {
        name: "partition",
        does: "an owner for every live range, and the copies between register files that follow (C3–C12)",
        needs: Form::Lowered,
        gives: Form::Lowered,
        unless: Some(Unless { option: "--regfile=single", holds: |o| o.regfile == RegisterFile::Single }),
        shows: None,
        run: partition::run,
    },
    Stage {
        name: "scalar-file",
        does: "scalar registers, whose live ranges are linear; what overflows goes to vector registers",
        needs: Form::Lowered,
        gives: Form::Lowered,
        unless: None,
        shows: Some(Dump::Interference),
        run: scalar_file::run,
    },
    Stage {
        name: "predicates",
        does: "predicate registers; what overflows goes to vector registers",
        needs: Form::Lowered,
        gives: Form::Lowered,
        unless: None,
        shows: None,
        run: predicates::run,
    },
    Stage {
        name: "local-file",
        does: "registers of the clusters' local files; what overflows goes to the main file (C2)",
        needs: Form::Lowered,
        gives: Form::Lowered,
        unless: None,
        shows: None,
        run: local_file::run,
    },
    Stage {
        name: "main-file",
        does: "registers of the main file, fixed and shared (REN-1, REN-4), with spills; the checker proves all files at once",
        needs: Form::Lowered,
        gives: Form::Allocated,
        unless: None,
        shows: None,
        run: main_file::run,
    },
    Stage {
        name: "variables",
        does: "where the source's variables are before each instruction, for the debugger",
        needs: Form::Allocated,
        gives: Form::Allocated,
        unless: None,
        shows: None,
        run: variables::run,
    },
    Stage {
        name: "finish",
        does: "copies onto themselves and of what is there already, jumps to jumps and to the next block go away",
        needs: Form::Allocated,
        gives: Form::Allocated,
        unless: None,
        shows: None,
        run: finish::run,
    },
    Stage {
        name: "release",
        does: "marks and instructions that give shared registers back (REN-5, REN-6, REN-7)",
        needs: Form::Allocated,
        gives: Form::Allocated,
        unless: None,
        shows: None,
        run: release::run,
    },
    Stage {
        name: "release-check",
        does: "proof that no shared register is read unmapped, given back too early or kept at the end (REN-9)",
        needs: Form::Allocated,
        gives: Form::Allocated,
        unless: Some(Unless { option: "without --verify", holds: |o| !o.verify }),
        shows: None,
        run: release_check::run,
    },
];

impl Stage {
    /// Its source file, from the root of the repository.
    pub fn file(&self) -> String {
        format!("crates/codegen/src/{}.rs", self.name.replace('-', "_"))
    }

    /// Whether it has something to do.
    fn applies(&self, function: &Function, options: &CodegenOptions) -> bool {
        function.form == self.needs && !self.unless.as_ref().is_some_and(|u| (u.holds)(options))
    }

    /// Runs the stage on a function, unless it passes by.
    ///
    /// # Errors
    /// The stage's own.
    pub fn apply(&self, function: &mut Function, context: &mut Context) -> Result<(), CodegenError> {
        if self.applies(function, context.options) {
            (self.run)(function, context)?;
            debug_assert!(function.form == self.gives, "{} does not give what it says", self.name);
        }
        Ok(())
    }

    /// Checks what the stage made against the rules of its form.
    ///
    /// # Errors
    /// [`CodegenError::Internal`] with the first defect.
    pub fn verify(&self, function: &Function, machine: &Machine) -> Result<(), CodegenError> {
        heddle_mir::verify::verify(function, machine).map_err(|message| self.defect(function, message))
    }

    /// A defect of the compiler that shows after this stage.
    fn defect(&self, function: &Function, message: String) -> CodegenError {
        CodegenError::Internal { kernel: function.name.clone(), stage: self.name.into(), message }
    }
}

/// The stage of a name.
pub fn find(name: &str) -> Option<&'static Stage> {
    STAGES.iter().find(|s| s.name == name)
}

/// The stages' names, in order.
pub fn names() -> Vec<&'static str> {
    STAGES.iter().map(|s| s.name).collect()
}

/// Runs the stages that the options leave one function, and says how long each took.
pub(super) fn compile_function(
    function: &mut Function,
    machine: &Machine,
    options: &CodegenOptions,
) -> Result<(FunctionStats, Vec<Duration>), CodegenError> {
    let mut context = Context::new(function, machine, options);
    let mut times = vec![Duration::ZERO; STAGES.len()];
    let first = options.start_before.as_ref().and_then(|n| STAGES.iter().position(|s| s.name == n)).unwrap_or(0);
    for (stage, time) in STAGES.iter().zip(&mut times).skip(first) {
        if let Some(graph) = stage.shows.filter(|_| function.form == stage.needs) {
            dump::make(graph, function, &mut context);
        }
        let start = Instant::now();
        stage.apply(function, &mut context)?;
        *time = start.elapsed();
        if options.verify {
            stage.verify(function, machine)?;
        }
        if options.stop_after.as_deref() == Some(stage.name) {
            break;
        }
    }
    dump::make(Dump::Cfg, function, &mut context);
    let mut stats = context.stats;
    match dump::in_order(&options.dump, &mut stats) {
        None => Ok((stats, times)),
        Some(graph) => {
            let stage = STAGES.iter().find(|s| s.shows == Some(graph)).map_or("none", |s| s.name);
            Err(CodegenError::NoGraph { kernel: function.name.clone(), graph, stage })
        }
    }
}

/// The pipeline as a document.
pub fn reference() -> String {
    let mut out = String::from(
        "\
# Stages of code generation

*Generated from the array `STAGES` of `crates/codegen/src/pipeline.rs`; do not edit.*

Instruction selection (`select`) makes functions in SSA form; each stage takes and gives one of
three forms:

- **ssa**: virtual registers with one definition each, phis and tuples;
- **lowered**: virtual registers with several definitions, no pseudo operations;
- **allocated**: physical registers only.

`heddle build --stop-after=STAGE` writes the functions as machine IR after a stage,
`--start-before=STAGE` reads them again. A function that is past the form a stage needs passes it
by. With `--verify` each result is checked against the rules of its form.

| stage | what it does | needs | gives | left out | file |
|---|---|---|---|---|---|
",
    );
    for s in STAGES {
        let unless = s.unless.as_ref().map_or(String::new(), |u| match u.option.strip_prefix("without ") {
            Some(option) => format!("without `{option}`"),
            None => format!("`{}`", u.option),
        });
        let _ = writeln!(out, "| `{}` | {} | {} | {} | {unless} | `{}` |", s.name, s.does, s.needs, s.gives, s.file());
    }
    out
}

#[cfg(test)]
mod tests;
