//! `heddle exec --checkpoint` and `--restore`: a program's launches up to a checkpoint, and from there on.
//!
//! A host program's own state cannot be kept, so a program that goes on from a checkpoint runs again from its
//! beginning. Launches before the checkpoint run functionally, and their events take the cycles that they
//! took. At the checkpoint the launches must have been the same, by code and sizes, and memory must hold the
//! same bytes; then caches and translation buffers get what they held, and timing goes on as it would have.
//! A program that does not repeat itself cannot go on, and is told what differs.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock};

use heddle_runtime::picks::{Picks, Selection};
use heddle_runtime::run::DeviceState;
use heddle_runtime::run::checkpoint::{self, ProgramPlace, Restored};
use heddle_target::Machine;

use super::options::ExecOptions;
use super::{Outputs, lock};
use crate::hash::{Hash, Hasher};

/// What a checkpoint has to do with a launch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Step {
    /// It is before the checkpoint: what it took, in cycles.
    pub replayed: Option<u64>,
    /// The checkpoint to be restored is of this launch: whether launches had run functionally before it, of
    /// which caches knew nothing.
    pub resumes: Option<bool>,
    /// A checkpoint is to be written before it.
    pub writes: bool,
    /// What was to be restored does not fit the program.
    pub failed: bool,
}

/// A program's checkpoints.
pub(super) struct Checkpoints {
    /// What states depend on.
    of: String,
    restore: Option<PathBuf>,
    write: Option<PathBuf>,
    /// Files are told apart by the launch's number.
    numbered: bool,
    /// What is read of the file to be restored, once a kernel is launched.
    read: OnceLock<Result<Option<ProgramPlace>, String>>,
    progress: Mutex<Progress>,
}

/// How far the program is.
struct Progress {
    selection: Selection,
    launches: Hash,
    cycles: Vec<u64>,
    restored: Option<Restored>,
    /// The launch before which the checkpoint to be restored was written; 0 without one.
    first: u64,
    behind: bool,
    /// Why the program could not go on from the checkpoint.
    failed: Option<String>,
}

/// The output that the process claims which goes on from a checkpoint.
const RESTORE: &str = "restore";

/// What to say when a program has ended of which no process came to a launch, so that none took up the checkpoint that was
/// to be restored; `folder`: the one of its session.
pub fn never_taken_up(options: &ExecOptions, folder: &Path) -> Option<String> {
    let path = options.restore.as_ref().filter(|_| !Outputs::is_taken(folder, RESTORE))?;
    Some(format!("checkpoint {}: the program ended without a launch; nothing went on from there", path.display()))
}

/// A hash of what a program's states depend on beside the program itself.
pub fn identity(options: &ExecOptions, machine: &Machine) -> String {
    let compiler = format!("{:?} {} {:?}", options.codegen, options.checked_code(), options.simulation.scalar_threshold);
    let pieces = format!("{}", options.check.is_empty());
    Hasher::default().part(format!("{machine:?}")).part(compiler).part(pieces).finish().to_string()
}

impl Checkpoints {
    /// Those that options ask for.
    pub fn new(options: &ExecOptions, machine: &Machine) -> Option<Checkpoints> {
        if options.checkpoint.is_none() && options.restore.is_none() {
            return None;
        }
        Some(Checkpoints {
            of: identity(options, machine),
            restore: options.restore.clone(),
            write: options.checkpoint.clone(),
            numbered: !Picks::mean_one(&options.at),
            read: OnceLock::new(),
            progress: Mutex::new(Progress {
                selection: Selection::new(&options.at),
                launches: Hasher::default().finish(),
                cycles: Vec::new(),
                restored: None,
                first: 0,
                behind: false,
                failed: None,
            }),
        })
    }

    /// Reads the file to be restored, the first time. Of several processes the first one goes on from it.
    fn place(&self, outputs: &Outputs) -> Result<Option<&ProgramPlace>, &str> {
        let read = self.read.get_or_init(|| {
            let Some(path) = self.restore.as_ref().filter(|_| outputs.is_first(RESTORE).unwrap_or(true)) else {
                return Ok(None);
            };
            let (restored, place) = checkpoint::read_program(path, &self.of)?;
            let mut progress = lock(&self.progress);
            progress.first = restored.launch;
            progress.restored = Some(restored);
            Ok(Some(place))
        });
        read.as_ref().map(Option::as_ref).map_err(String::as_str)
    }

    /// A launch begins. `behind`: launches ran functionally since the last timed one.
    pub fn begin(&self, (number, kernel, hash): (u64, &str, &str), behind: bool, outputs: &Outputs) -> Step {
        let place = self.place(outputs);
        let mut progress = lock(&self.progress);
        let writes = progress.selection.begin(kernel, Some(hash));
        let so_far = progress.launches.to_string();
        progress.launches = Hasher::default().part(so_far).part(kernel).part(hash).finish();
        progress.behind = behind;
        let Ok(place) = place else { return Step { failed: true, ..Step::default() } };
        let Some(place) = place.filter(|_| number <= progress.first) else {
            return Step { writes, failed: progress.failed.is_some(), ..Step::default() };
        };
        if number < progress.first {
            let taken = place.cycles.get(number as usize - 1).copied().unwrap_or(0);
            return Step { replayed: Some(taken), ..Step::default() };
        }
        progress.behind = place.behind;
        Step { resumes: Some(place.behind), writes, ..Step::default() }
    }

    /// A launch has ended, after so many cycles.
    pub fn end(&self, number: u64, cycles: u64) {
        let mut progress = lock(&self.progress);
        // Those between were refused.
        progress.cycles.resize(number.saturating_sub(1) as usize, 0);
        progress.cycles.push(cycles);
    }

    /// Brings the device to the checkpoint that is to be restored.
    ///
    /// # Errors
    /// What keeps the program from going on from there.
    pub fn restore(&self, device: &mut DeviceState) -> Result<(), String> {
        let path = self.restore.as_deref().unwrap_or(Path::new("")).display();
        let place = match self.read.get() {
            Some(Ok(Some(place))) => place,
            Some(Err(message)) => return Err(message.clone()),
            _ => return Ok(()),
        };
        let mut progress = lock(&self.progress);
        let first = progress.first;
        let Some(mut restored) = progress.restored.take() else {
            return progress.failed.clone().map_or(Ok(()), Err);
        };
        let refused = |why: String| format!("checkpoint {path}: the program cannot go on from it. {why}");
        let given = if progress.launches.to_string() != place.launches {
            Err(refused(format!(
                "Its launches up to launch {first}, of kernel `{}`, are not those that there were, by kernels, code and sizes; \
                 is it the same program with the same arguments?",
                place.kernel
            )))
        } else {
            let same = restored.same_memory(device).map_err(|why| {
                refused(format!(
                    "Before launch {first} device memory is not what it was when the checkpoint was written: {why}. Its \
                     results depend on more than its input (the order of atomics, time, random numbers)"
                ))
            });
            same.and_then(|()| restored.give(device))
        };
        progress.failed = given.as_ref().err().cloned();
        given
    }

    /// Writes a checkpoint before a launch. Returns its name.
    ///
    /// # Errors
    /// A sentence naming the file.
    pub fn write(
        &self,
        number: u64,
        kernel: &str,
        device: &mut DeviceState,
        outputs: &Outputs,
    ) -> Result<Option<PathBuf>, String> {
        let Some(base) = self.write.as_deref().and_then(|path| outputs.file("checkpoint", path)) else { return Ok(None) };
        let path = match self.numbered {
            true => PathBuf::from(format!("{}.{number}", base.display())),
            false => base,
        };
        let progress = lock(&self.progress);
        let mut cycles = progress.cycles.clone();
        cycles.resize(number.saturating_sub(1) as usize, 0);
        let place =
            ProgramPlace { kernel: kernel.into(), launches: progress.launches.to_string(), behind: progress.behind, cycles };
        checkpoint::write(&path, device, &self.of, number, Some(place))?;
        Ok(Some(path))
    }

    /// What to say when the program has ended after so many launches: it never came to the checkpoint.
    pub fn never_reached(&self, launches: u64) -> Option<String> {
        let progress = lock(&self.progress);
        let path = self.restore.as_ref().filter(|_| progress.restored.is_some() && launches < progress.first)?;
        let first = progress.first;
        Some(format!(
            "checkpoint {}: the program ended after {launches} launches, before launch {first}; nothing was timed from there on",
            path.display()
        ))
    }
}
