//! A debugger for kernels: stops, looks inside, and goes back, on the functional core.
//!
//! - [`layout`]: how bytes are read.
//! - [`place`]: what can be looked at: arguments and their elements, registers, memory.
//! - [`value`]: variables of the source with their types.
//! - [`expression`]: expressions of C over both.
//! - [`engine`]: breakpoints, watched places, steps, and the way back, which is deterministic re-execution.
//! - [`console`]: commands in lines of text, as gdb has them.
//! - [`dap`]: the same for editors, by the Debug Adapter Protocol.
//!
//! A launch is debugged where the runtime would have run it in functional mode ([`Debugger`] is an observer of launches), so
//! memory, arguments and launches before and after it are those of `heddle run`.

pub mod console;
pub mod dap;
pub mod engine;
pub mod expression;
pub mod layout;
pub mod place;
pub mod value;

use std::path::{Path, PathBuf};

use heddle_runtime::run::Observer;
use heddle_sim::{Fault, Simulation, Statistics};

use engine::Engine;

/// Where commands come from and answers go.
pub trait FrontEnd {
    /// A launch is to be debugged; returns when it is to go on to its end.
    ///
    /// # Errors
    /// Input or output failed, or the user has left: the sentence for that.
    fn debug(&mut self, engine: &mut Engine) -> Result<(), String>;
    /// What a launch has printed.
    fn printed(&mut self, text: &str);
}

/// Debugs the launches of a case, one after the other.
pub struct Debugger<'x> {
    front_end: &'x mut dyn FrontEnd,
    sources: Sources,
    /// The user has left, or nobody listens any more: launches run to their ends.
    pub left: Option<String>,
}

impl<'x> Debugger<'x> {
    /// Sources are looked for in `folder` if their names are relative.
    pub fn new(front_end: &'x mut dyn FrontEnd, folder: &Path) -> Self {
        Debugger { front_end, sources: Sources { folder: folder.to_path_buf() }, left: None }
    }
}

impl Observer for Debugger<'_> {
    fn begins(&mut self, _kernel: &str, _work_groups: u64) -> Box<dyn Fn(u64) + Sync> {
        Box::new(|_| {})
    }

    fn printed(&mut self, text: &[u8]) {
        self.front_end.printed(&String::from_utf8_lossy(text));
    }

    fn takes(&mut self, launch: Simulation) -> Option<Result<Statistics, Box<Fault>>> {
        let mut engine = Engine::new(launch, self.sources.clone());
        self.left = self.front_end.debug(&mut engine).err();
        // A launch that somebody has left may be one that never ends.
        Some(if self.left.is_some() { engine.abandon() } else { engine.finish() })
    }
}

/// Finds lines of sources.
#[derive(Clone, Debug)]
pub struct Sources {
    folder: PathBuf,
}

impl Sources {
    /// The path of a source, if it is there.
    pub fn path(&self, file: &str) -> Option<PathBuf> {
        let here = PathBuf::from(file);
        let beside = self.folder.join(file);
        [here, beside].into_iter().find(|p| p.is_file())
    }

    /// Lines of a source, 1 being the first.
    pub fn lines(&self, file: &str) -> Option<Vec<String>> {
        let text = std::fs::read_to_string(self.path(file)?).ok()?;
        Some(text.lines().map(str::to_string).collect())
    }

    /// A line of a source.
    pub fn line(&self, file: &str, line: u32) -> Option<String> {
        self.lines(file)?.get((line as usize).checked_sub(1)?).cloned()
    }
}
