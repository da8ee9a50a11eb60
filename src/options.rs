//! Options that several subcommands share, as words of the command line: code generation, the machine,
//! simulation. Subcommands, settings of sweeps and other programs all read this one definition.

use std::path::PathBuf;

use clap::Args;
use heddle_codegen::partition::Ownership;
use heddle_codegen::release::Release;
use heddle_codegen::{RegisterFile, Rename};
use heddle_frontend::FrontendOptions;
use heddle_isel::CacheHints;
use heddle_runtime::run::Mode;
use heddle_sim::{Options, Tolerance};
use heddle_target::{Machine, TargetError};

use crate::driver::CompileOptions;

/// Options of code generation, shared by `build` and `run`.
#[derive(Args, Clone, Debug, Default)]
pub struct CodegenArgs {
    /// Keep uniform values in vector registers instead of using the scalar unit.
    #[arg(long)]
    pub no_scalarize: bool,
    /// One version of each kernel: none for launches where every warp lies in one row of its work-group, in which ids
    /// of the other dimensions are uniform.
    #[arg(long)]
    pub no_versions: bool,
    /// Expect ids of 2³¹ and more, which are negative where a program keeps them in an int. Otherwise kernels that do
    /// so are compiled for launches below that, and others are refused.
    #[arg(long)]
    pub wide_ids: bool,
    /// Compute all addresses in code instead of letting the address-generation unit make those of global ids.
    #[arg(long)]
    pub no_global_id: bool,
    /// Cache policies of loads and stores: by the analysis of reuse, or one for all (.ca, .cg).
    #[arg(long, value_enum)]
    pub cache_hints: Option<CacheHints>,
    /// The same as --cache-hints=ca: cache everything at all levels.
    #[arg(long, conflicts_with = "cache_hints")]
    pub no_cache_hints: bool,
    /// Prefetch streams that come to new lines in every iteration of a loop.
    #[arg(long)]
    pub prefetch: bool,
    /// Register files that vector values may use: the clusters' local files and the main file, or the main
    /// file only.
    #[arg(long, value_enum)]
    pub regfile: Option<RegisterFile>,
    /// No register renaming: all main registers are a warp's own. Otherwise short-lived ones are shared by
    /// the warps of an SM where that makes room for more.
    #[arg(long)]
    pub no_rename: bool,
    /// Share short-lived registers even where the compiler expects no gain.
    #[arg(long, conflicts_with = "no_rename")]
    pub rename: bool,
    /// When shared registers are released: after each value's last read, or after the last mention of the
    /// register's name.
    #[arg(long, value_enum)]
    pub release: Option<Release>,
    /// Keep the order in which instructions were selected, and branches around short conditional loads.
    #[arg(long)]
    pub no_schedule: bool,
    /// How live ranges get the cluster that owns them: by energy, or by the publication's count of accesses.
    #[arg(long, value_enum)]
    pub ownership: Option<Ownership>,
    /// Main registers a work-item may use, below the machine's limit.
    #[arg(long, value_name = "N")]
    pub max_registers: Option<u32>,
    /// Verify the code between all stages and prove the register allocation.
    #[arg(long)]
    pub verify: bool,
}

impl CodegenArgs {
    /// Checks the options against the machine.
    ///
    /// # Errors
    /// A sentence about the option that does not fit.
    pub fn check(&self, machine: &Machine) -> Result<(), String> {
        let most = machine.sm.max_main_registers;
        match self.max_registers.filter(|n| !(1..=most).contains(n)) {
            Some(n) => Err(format!("--max-registers {n}: must be 1 to {most} (sm.max-main-registers)")),
            None => Ok(()),
        }
    }

    /// As compiler options.
    pub fn options(&self, frontend: FrontendOptions) -> CompileOptions {
        let mut options = CompileOptions { frontend, ..Default::default() };
        options.select.scalarize = !self.no_scalarize;
        options.select.versions = !self.no_versions;
        options.select.global_id = !self.no_global_id;
        options.select.cache_hints = match self.no_cache_hints {
            true => CacheHints::Ca,
            false => self.cache_hints.unwrap_or_default(),
        };
        options.wide_ids = self.wide_ids;
        options.select.prefetch = self.prefetch;
        options.codegen.regfile = self.regfile.unwrap_or_default();
        options.codegen.ownership = self.ownership.unwrap_or_default();
        options.codegen.rename = match (self.no_rename, self.rename) {
            (true, _) => Rename::Never,
            (_, true) => Rename::Always,
            _ => Rename::Auto,
        };
        options.codegen.release = self.release.unwrap_or_default();
        options.codegen.no_schedule = self.no_schedule;
        options.codegen.no_marks = self.no_scalarize;
        options.codegen.max_main_registers = self.max_registers;
        options.codegen.verify |= self.verify;
        options
    }
}

/// The machine to compile for or simulate.
#[derive(Args, Clone, Debug, Default)]
pub struct MachineArgs {
    /// Machine description; without it the built-in default machine (see `heddle target`).
    #[arg(long, value_name = "FILE")]
    pub target: Option<PathBuf>,
    /// Change a field of the description: --set warp-size=16 --set clusters.0.local-registers=4. May be
    /// repeated.
    #[arg(long = "set", value_name = "FIELD=VALUE")]
    pub set: Vec<String>,
}

impl MachineArgs {
    /// Loads the machine.
    ///
    /// # Errors
    /// What is wrong with the description or with a change of it.
    pub fn load(&self) -> Result<Machine, TargetError> {
        Machine::load(self.target.as_deref(), &self.set)
    }
}

/// Options of the simulator, shared by `run` and `exec`.
#[derive(Args, Clone, Debug)]
pub struct SimulationArgs {
    /// Instructions a work-group may execute before it counts as runaway.
    #[arg(long, value_name = "N", default_value_t = Options::default().max_instructions)]
    pub max_instructions: u64,
    /// When functional mode translates code to the host's instructions: when it pays, at once, or never.
    /// Results do not depend on it, but for the sign and payload of NaNs.
    #[arg(long, value_enum, default_value = "auto", help_heading = "Simulation")]
    pub jit: heddle_sim::Jit,

    /// Bytes of messages that a launch may print; what does not fit is dropped, and the report says how much.
    #[arg(long, value_name = "BYTES", default_value_t = Options::default().printf_room)]
    pub printf_buffer: u32,
    /// Host threads of the simulator; 0: all cores. Results of timing mode do not depend on it.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub threads: usize,
    /// Run-time scalarizer: an unmarked instruction with at most this many active lanes, all with the same
    /// operands, runs on the scalar unit; 0 turns it off. Without it as the machine description says
    /// (sm.scalar-threshold).
    #[arg(long, value_name = "LANES")]
    pub scalar_threshold: Option<u32>,
    /// Timing mode: of launches with many work-groups, time some parts and extrapolate the rest: cycles are
    /// then estimates with an interval, and marked as such. PARTS: how many (6 or more; 8 if not said).
    /// Results are exact.
    #[arg(long, value_name = "PARTS", num_args = 0..=1, default_missing_value = "8", require_equals = true)]
    #[arg(value_parser = clap::value_parser!(u32).range(6..))]
    pub sample: Option<u32>,
    /// Of launches that are alike (the same code on the same sizes) time the first N (4 if not said) and then
    /// those whose number is a power of two; the others run functionally, and what they would take is
    /// extrapolated, with an interval, and marked as such. Implies --warm.
    #[arg(long, value_name = "N", num_args = 0..=1, default_missing_value = "4", require_equals = true)]
    #[arg(value_parser = clap::value_parser!(u32).range(2..))]
    pub alike: Option<u32>,
    /// What launches go on behind, although it is undefined, comma-separated (also --tolerate alone: all): accesses
    /// outside of buffers, barriers that a part of a warp comes to. Devices may let it pass, so that a program's author
    /// never knew. Each such place is named at the end.
    #[arg(long, value_enum, value_delimiter = ',', value_name = "WHAT", num_args = 0..=1)]
    #[arg(default_missing_value = "all", require_equals = true)]
    pub tolerate: Vec<Tolerate>,
    /// Launches that run functionally between timed ones keep L2 warm: the next timed one finds the lines that
    /// they touched. They run on one host thread.
    #[arg(long)]
    pub warm: bool,
}

impl SimulationArgs {
    /// Checks the options against the machine.
    ///
    /// # Errors
    /// A sentence about the option that does not fit.
    pub fn check(&self, machine: &Machine) -> Result<(), String> {
        match self.scalar_threshold.filter(|t| *t >= machine.warp_size) {
            Some(t) => Err(format!("--scalar-threshold {t}: must be below the warp size, {}", machine.warp_size)),
            None => Ok(()),
        }
    }

    /// As the simulator's options, without checks.
    pub fn options(&self) -> Options {
        Options {
            max_instructions: self.max_instructions,
            threads: self.threads,
            jit: self.jit,
            scalar_threshold: self.scalar_threshold,
            printf_room: self.printf_buffer,
            sample: self.sample,
            warm: self.warm || self.alike.is_some(),
            tolerate: Tolerate::set(&self.tolerate),
            ..Options::default()
        }
    }
}

/// What `--tolerate` lets pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Tolerate {
    /// Accesses outside of their buffer or memory: loads and atomics give zeros, stores and atomics change nothing.
    OutOfBounds,
    /// Barriers that only some of a warp's work-items come to: the warp counts as arrived, and the others go on.
    DivergentBarriers,
    /// All of these.
    All,
}

impl Tolerate {
    fn set(tolerated: &[Tolerate]) -> Tolerance {
        let on = |what: Tolerate| tolerated.iter().any(|t| *t == what || *t == Tolerate::All);
        Tolerance { out_of_bounds: on(Tolerate::OutOfBounds), divergent_barriers: on(Tolerate::DivergentBarriers) }
    }
}

/// What `--check` watches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum, strum::Display)]
#[strum(serialize_all = "kebab-case")]
pub enum Check {
    /// Wrong u bits, and scalar registers that hold what other lanes computed (S8).
    Marks,
    /// Reads of unmapped shared registers, and leaks (REN-9; timing mode).
    Renames,
    /// Reads of local registers that a warp may have lost (C14; machines with an active set).
    Strands,
    /// Data races (functional mode, on one host thread).
    Races,
    /// Reads of work-group and private memory that was never written (functional mode).
    #[value(alias = "uninitialized")]
    Uninitialised,
    /// Barriers that not all work-items of a work-group reach (functional mode).
    Barriers,
    /// Everything that the mode can check.
    All,
}

impl Check {
    /// Those that only functional mode does.
    pub const FUNCTIONAL: [Check; 3] = [Check::Races, Check::Uninitialised, Check::Barriers];

    /// The mode that finds what is to be checked.
    pub fn mode(checks: &[Check]) -> Mode {
        let functional = checks.iter().any(|c| *c == Check::All || Check::FUNCTIONAL.contains(c));
        if functional { Mode::Functional } else { Mode::Timing }
    }

    /// Whether a mode does all that is asked for by name.
    ///
    /// # Errors
    /// A check that it does not do, and the mode that does, with the reason if it is not plain.
    pub fn possible(checks: &[Check], mode: Mode) -> Result<(), (Check, &'static str)> {
        let other = |c: &&Check| match mode {
            Mode::Timing => Check::FUNCTIONAL.contains(c),
            Mode::Functional => **c == Check::Renames,
        };
        let needed = match mode {
            Mode::Timing => "functional",
            Mode::Functional => "timing: functional mode has no shared registers",
        };
        checks.iter().find(other).map_or(Ok(()), |c| Err((*c, needed)))
    }

    /// Whether code must be compiled for what is checked ([`CompileOptions::checked`]).
    pub fn compiled(checks: &[Check], mode: Mode) -> bool {
        let needs = |c: &Check| matches!(c, Check::Races | Check::Uninitialised | Check::All);
        mode == Mode::Functional && checks.iter().any(needs)
    }

    /// The simulator's options with what is to be checked in a mode.
    pub fn set(checks: &[Check], mode: Mode, options: Options) -> Options {
        let functional = mode == Mode::Functional;
        let on = |check: Check| checks.iter().any(|c| *c == check || *c == Check::All);
        Options {
            check_marks: on(Check::Marks),
            check_renames: on(Check::Renames),
            check_strands: on(Check::Strands),
            check_races: functional && on(Check::Races),
            check_uninitialised: functional && on(Check::Uninitialised),
            check_barriers: functional && on(Check::Barriers),
            ..options
        }
    }
}

/// Reads the name of a check.
///
/// # Errors
/// A sentence with the names that there are.
pub fn parse_check(name: &str) -> Result<Check, String> {
    use clap::ValueEnum;
    Check::from_str(name, false).map_err(|_| {
        let names: Vec<String> = Check::value_variants().iter().map(ToString::to_string).collect();
        format!("there is no check `{name}`; there are: {}", names.join(", "))
    })
}
