//! The options of code generation as words of the command line. Subcommands, settings of sweeps and other
//! programs all read this one definition.

use clap::Args;
use heddle_codegen::partition::Ownership;
use heddle_codegen::release::Release;
use heddle_codegen::{RegisterFile, Rename};
use heddle_frontend::FrontendOptions;
use heddle_isel::CacheHints;
use heddle_target::Machine;

use crate::driver::CompileOptions;

/// Options of code generation, shared by `build` and `run`.
#[derive(Args, Clone, Debug, Default)]
pub struct CodegenArgs {
    /// Keep uniform values in vector registers instead of using the scalar unit.
    #[arg(long)]
    pub no_scalarize: bool,
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
    /// Keep the order in which instructions were selected.
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
        options.select.global_id = !self.no_global_id;
        options.select.cache_hints = match self.no_cache_hints {
            true => CacheHints::Ca,
            false => self.cache_hints.unwrap_or_default(),
        };
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
