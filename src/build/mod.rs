//! Building programs that are in memory, as OpenCL's hosts do: compile, link, or both; with a log instead of
//! messages on standard error, and a cache on disk.
//!
//! A [`Builder`] is for one machine and one set of techniques. It can be used from several threads at once,
//! also inside of a foreign program: what needs stack runs on a thread of its own, and clang is a process
//! whose streams are not those of the program.
//!
//! ```
//! use heddle::build::{BuildOptions, Builder, Source};
//!
//! let builder = Builder::new(heddle::Machine::default_machine());
//! let source = Source { name: "scale.cl", text: b"#include \"n.h\"\nkernel void k(global int *a) { *a = N; }",
//!     headers: &[("n.h", b"#define N 4\n")] };
//! let program = builder.build(&source, &BuildOptions::parse("-cl-fast-relaxed-math")?)?;
//! assert_eq!(heddle::Program::from_object(&program.object)?.kernels().collect::<Vec<_>>(), ["k"]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod cache;
mod options;
mod translations;
mod unit;

use heddle_frontend::{Bitcode, FrontendError, FrontendOptions, OptLevel};
use heddle_target::Machine;
use inkwell::context::Context;

use crate::driver::{self, CompileError, CompileOptions, Emit};
use cache::{Cache, Entry, Key};
use heddle_codegen::CodegenError;

pub use heddle_frontend::source::Source;
pub use options::{BuildOptions, DEFAULT_STANDARD, InvalidOptions, LinkOptions, split};
pub use translations::{Translations, translations};
pub use unit::{NotAUnit, Unit};

/// Why there is no program.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BuildFailure {
    /// The options cannot be used.
    #[error("{0}")]
    Options(#[from] InvalidOptions),
    /// The program does not compile or link, or does what Heddle cannot compile.
    #[error("{log}")]
    Program {
        /// Messages with their places, warnings included.
        log: String,
    },
    /// It is not the program's fault: clang cannot be run, the disk is full, or Heddle has a defect.
    #[error("{0}")]
    Internal(String),
}

impl BuildFailure {
    /// What stands in the build log.
    pub fn log(&self) -> String {
        match self {
            BuildFailure::Program { log } => log.clone(),
            BuildFailure::Options(e) => format!("error: {e}\n"),
            BuildFailure::Internal(message) => format!("error: {message}\n"),
        }
    }

    /// The same with what was said before.
    fn after(self, earlier: &str) -> BuildFailure {
        match self {
            BuildFailure::Program { log } => BuildFailure::Program { log: format!("{earlier}{log}") },
            other => other,
        }
    }
}

impl From<FrontendError> for BuildFailure {
    fn from(e: FrontendError) -> BuildFailure {
        match e {
            FrontendError::Program { log } => BuildFailure::Program { log },
            FrontendError::Option(message) => BuildFailure::Options(InvalidOptions(message)),
            FrontendError::Unsupported(message) => BuildFailure::Program { log: format!("{}\n", message.trim_end()) },
            FrontendError::Clang { .. } | FrontendError::Input { .. } | FrontendError::Llvm { .. } | FrontendError::Parse(_) => {
                BuildFailure::Program { log: format!("error: {e}\n") }
            }
            FrontendError::NoClang { .. }
            | FrontendError::NoTool { .. }
            | FrontendError::Crash(_)
            | FrontendError::Io { .. }
            | FrontendError::Interrupted => BuildFailure::Internal(e.to_string()),
        }
    }
}

impl From<CompileError> for BuildFailure {
    fn from(e: CompileError) -> BuildFailure {
        match e {
            CompileError::Frontend(e) => e.into(),
            CompileError::Unsupported(_) => BuildFailure::Program { log: format!("{e}\n") },
            CompileError::Codegen(CodegenError::TooFewRegisters { .. }) => BuildFailure::Program { log: format!("error: {e}\n") },
            CompileError::Codegen(_) | CompileError::Write(_) | CompileError::Input(_) => BuildFailure::Internal(e.to_string()),
        }
    }
}

/// A program that can be loaded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Executable {
    /// An ELF object, for [`crate::Program::from_object`].
    pub object: Vec<u8>,
    /// What there is to say of it: clang's warnings.
    pub log: String,
    /// Whether it came from the cache.
    pub cached: bool,
}

/// What linking made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Linked {
    /// With `-create-library`.
    Library(Unit),
    /// Without.
    Executable(Executable),
}

/// Compiles and links programs for a machine.
#[derive(Clone, Debug)]
pub struct Builder {
    machine: Machine,
    options: CompileOptions,
    cache: Option<Cache>,
}

impl Builder {
    /// For a machine, with all techniques, without a cache.
    pub fn new(machine: Machine) -> Builder {
        Builder { machine, options: CompileOptions::default(), cache: None }
    }

    /// Generates code with these options. Those for the front end are each program's own; the ones here are
    /// not used.
    #[must_use]
    pub fn with_options(mut self, options: CompileOptions) -> Builder {
        self.options = CompileOptions { frontend: FrontendOptions::default(), ..options };
        self
    }

    /// Looks up programs in a cache and keeps them there.
    #[must_use]
    pub fn with_cache(mut self, cache: Option<Cache>) -> Builder {
        self.cache = cache;
        self
    }

    /// Compiles a program for linking: `clCompileProgram`.
    ///
    /// # Errors
    /// See [`BuildFailure`].
    pub fn compile_source(&self, source: &Source, options: &BuildOptions) -> Result<Unit, BuildFailure> {
        let key = self.key("unit").source(source, options);
        if let Some(found) = self.look_up(&key)
            && let Ok(unit) = Unit::from_bytes(&found.bytes)
        {
            return Ok(Unit { log: found.log, ..unit });
        }
        let (unit, files) = self.clang(source, options, false)?;
        self.keep(&key, || Entry::new(unit.to_bytes(), unit.log.clone()).with_files(files, source, options));
        Ok(unit)
    }

    /// Links programs: `clLinkProgram`.
    ///
    /// # Errors
    /// See [`BuildFailure`].
    pub fn link(&self, units: &[&Unit], options: &LinkOptions) -> Result<Linked, BuildFailure> {
        if options.create_library {
            return large_stack(|| library(units)).map(Linked::Library);
        }
        let key = self.key("link").units(units);
        if let Some(found) = self.look_up(&key) {
            return Ok(Linked::Executable(Executable { object: found.bytes, log: found.log, cached: true }));
        }
        let object = large_stack(|| self.lower(units, Emit::Obj))?;
        self.keep(&key, || Entry::new(object.clone(), String::new()));
        Ok(Linked::Executable(Executable { object, log: String::new(), cached: false }))
    }

    /// Compiles and links a program: `clBuildProgram`.
    ///
    /// # Errors
    /// See [`BuildFailure`].
    pub fn build(&self, source: &Source, options: &BuildOptions) -> Result<Executable, BuildFailure> {
        let key = self.key("program").source(source, options);
        if let Some(found) = self.look_up(&key) {
            return Ok(Executable { object: found.bytes, log: found.log, cached: true });
        }
        let (unit, files) = self.clang(source, options, true)?;
        let object = large_stack(|| self.lower(&[&unit], Emit::Obj)).map_err(|e| e.after(&unit.log))?;
        self.keep(&key, || Entry::new(object.clone(), unit.log.clone()).with_files(files, source, options));
        Ok(Executable { object, log: unit.log, cached: false })
    }

    /// Links units and returns what `emit` says: LLVM IR, machine IR or assembly as text, or an object.
    ///
    /// # Errors
    /// See [`BuildFailure`].
    pub fn emit(&self, units: &[&Unit], emit: Emit) -> Result<Vec<u8>, BuildFailure> {
        large_stack(|| self.lower(units, emit))
    }

    /// Links units and runs passes as `heddle opt --passes` does; returns what they print (`print<uniformity>`).
    ///
    /// # Errors
    /// See [`BuildFailure`]; a name of no pass is an option that cannot be used.
    pub fn analyse(&self, units: &[&Unit], passes: &str) -> Result<String, BuildFailure> {
        large_stack(|| {
            let context = Context::create();
            let mut out = Vec::new();
            let (ir, facts) = (self.module(&context, units)?, driver::facts(&self.machine, &self.options));
            heddle_llvm_passes::pipeline::run_text_pipeline(&ir, passes, facts, &mut out)
                .map_err(|e| InvalidOptions(e.to_string()))?;
            Ok(String::from_utf8_lossy(&out).into_owned())
        })
    }

    /// What tells the code of this builder from that of other versions, for other machines or by other techniques:
    /// hexadecimal digits.
    pub fn fingerprint(&self) -> String {
        self.key("binary").hash().to_string()
    }

    /// Runs clang. `whole`: nothing will be linked with the program.
    fn clang(
        &self,
        source: &Source,
        options: &BuildOptions,
        whole: bool,
    ) -> Result<(Unit, Vec<std::path::PathBuf>), BuildFailure> {
        let (frontend, checked) = (options.frontend(), self.options.checked);
        let whole = FrontendOptions { whole_program: whole, ..frontend.clone() };
        let compiled = heddle_frontend::source::compile_source(source, &whole, checked)?;
        let mut unit = Unit::new(source.name.into(), compiled.bitcode, frontend.opt, checked, compiled.log);
        unit.header.passes_left = compiled.passes_left;
        Ok((unit, compiled.files))
    }

    /// Links units and generates code, as far as `emit` says.
    fn lower(&self, units: &[&Unit], emit: Emit) -> Result<Vec<u8>, BuildFailure> {
        let context = Context::create();
        let ir = self.module(&context, units)?;
        let mut options = self.options.clone();
        options.frontend.opt = opt_of(units);
        Ok(driver::compile_module(&ir, emit, &options, &self.machine)?.output)
    }

    /// Links units into one module, as selection takes it.
    fn module<'c>(&self, context: &'c Context, units: &[&Unit]) -> Result<inkwell::module::Module<'c>, BuildFailure> {
        let frontend = FrontendOptions { opt: opt_of(units), ..options::quiet() };
        let checked = units.iter().any(|u| u.header.checked);
        let facts = driver::facts(&self.machine, &self.options);
        // In checking mode they run behind what has to come first.
        if !checked && passes_left(units).is_some() {
            let (name, bytes) = (names(units), linked_bitcode(units)?);
            let whole = [Bitcode { name: &name, bytes: &bytes }];
            return Ok(heddle_frontend::link_to_module(context, &whole, &frontend, checked, facts)?);
        }
        Ok(heddle_frontend::link_to_module(context, &parts(units), &frontend, checked, facts)?)
    }

    /// Linked code before Heddle's part.
    ///
    /// # Errors
    /// See [`BuildFailure`].
    pub fn linked_bitcode(&self, units: &[&Unit]) -> Result<Vec<u8>, BuildFailure> {
        large_stack(|| linked_bitcode(units))
    }

    /// The options that such code is to be built with: `-O0`, if some of the units are to stay as they are.
    pub fn linked_options(units: &[&Unit]) -> Vec<String> {
        if opt_of(units) == OptLevel::O0 { vec!["-O0".into()] } else { Vec::new() }
    }

    fn key(&self, kind: &str) -> Key {
        Key::new(kind, &self.machine, &self.options)
    }

    fn look_up(&self, key: &Key) -> Option<Entry> {
        self.cache.as_ref()?.get(key)
    }

    fn keep(&self, key: &Key, entry: impl FnOnce() -> Entry) {
        if let Some(cache) = &self.cache {
            cache.put(key, &entry());
        }
    }
}

fn parts<'a>(units: &[&'a Unit]) -> Vec<Bitcode<'a>> {
    units.iter().map(|u| Bitcode { name: &u.header.name, bytes: &u.bitcode }).collect()
}

/// How far units that are linked are optimised: not at all, if some are to stay as they are.
fn opt_of(units: &[&Unit]) -> OptLevel {
    if units.iter().any(|u| u.header.unoptimised) { OptLevel::O0 } else { OptLevel::default() }
}

/// What messages call units that are linked.
fn names(units: &[&Unit]) -> String {
    let names: Vec<&str> = units.iter().map(|u| u.name()).collect();
    names.join(", ")
}

/// The options of clang's passes, if these have not run on some of the units.
fn passes_left(units: &[&Unit]) -> Option<Vec<String>> {
    let mut left = units.iter().filter_map(|u| u.header.passes_left.as_deref()).peekable();
    left.peek()?;
    Some(left.flatten().cloned().collect())
}

/// Links units, and runs clang's passes where they have not run: on all units, unless some are to stay as they are.
fn linked_bitcode(units: &[&Unit]) -> Result<Vec<u8>, BuildFailure> {
    let passes = |words: &[String]| {
        let clang_args = words.iter().cloned().chain(["-w".into()]).collect();
        FrontendOptions { clang_args, ..options::quiet() }
    };
    match passes_left(units) {
        Some(words) if !units.iter().any(|u| u.header.unoptimised || u.header.checked) => {
            Ok(heddle_frontend::link_whole(&parts(units), &passes(&words))?)
        }
        _ => {
            let finish = |part: &Bitcode, unit: &&Unit| match &unit.header.passes_left {
                Some(words) if !unit.header.checked => heddle_frontend::run_passes(*part, &passes(words)),
                _ => Ok(part.bytes.to_vec()),
            };
            let parts = parts(units);
            let finished = parts.iter().zip(units).map(|(part, unit)| finish(part, unit)).collect::<Result<Vec<_>, _>>()?;
            let parts: Vec<_> = parts.iter().zip(&finished).map(|(part, bytes)| Bitcode { bytes, ..*part }).collect();
            Ok(heddle_frontend::link_to_bitcode(&parts)?)
        }
    }
}

/// Links units into a library.
fn library(units: &[&Unit]) -> Result<Unit, BuildFailure> {
    let bitcode = heddle_frontend::link_to_bitcode(&parts(units))?;
    let opt = opt_of(units);
    let checked = units.iter().any(|u| u.header.checked);
    let mut unit = Unit::new(names(units), bitcode, opt, checked, String::new());
    unit.header.library = true;
    unit.header.passes_left = passes_left(units);
    Ok(unit)
}

/// Bytes of stack for LLVM's passes and code generation, which recurse over a program; a host may build on a
/// thread with a small one.
const STACK: usize = 64 << 20;

/// Does work on a thread that has enough stack.
fn large_stack<T: Send>(work: impl FnOnce() -> Result<T, BuildFailure> + Send) -> Result<T, BuildFailure> {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().name("heddle-build".into()).stack_size(STACK);
        let running =
            thread.spawn_scoped(scope, work).map_err(|e| BuildFailure::Internal(format!("cannot start a thread: {e}")))?;
        running.join().unwrap_or_else(|panic| {
            let message = panic.downcast_ref::<String>().map(String::as_str);
            let message = message.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no message");
            Err(BuildFailure::Internal(format!("internal error of the compiler: {message}")))
        })
    })
}

#[cfg(test)]
mod tests;
