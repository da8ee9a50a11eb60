//! The simulator: loads decoded object code and runs it, functionally or with timing.
//!
//! It uses [`heddle_isa`], [`heddle_target`] and [`heddle_object`], and nothing of the compiler. Without the
//! feature `jit`, which translates kernels to the host's instructions for functional mode, it needs no LLVM.
//!
//! What others use:
//! - [`Program`]: a kernel's code, decoded and checked. [`DeviceMemory`]: its memory. [`Launch`]: its sizes
//!   and arguments.
//! - [`Simulation`]: runs a launch in one of two modes: for its results only, or with cycles and energy
//!   through a [`Hierarchy`] of caches.
//! - [`Statistics`], or the [`Fault`] that ended the launch.
//! - [`Options`]: checks, limits, host threads; [`trace`]: what timing mode records by time.
//!
//! Inside:
//! - `exec`: what instructions do to registers and memory; knows no cycles. `jit`: the same in the host's
//!   instructions.
//! - `warp`: EXEC, program counter and reconvergence stack.
//! - `functional`: work-groups in parallel on all host cores, no timing.
//! - [`debug`]: a launch instruction by instruction.
//! - `turns`: diverged lanes that make progress in turn.
//! - `progress`: proofs that warps wait for others, and that a launch is in a deadlock.
//! - `derived`: what follows from a program's code, found once for all of its launches.
//! - `check`: data races, uninitialised reads, barriers that not all reach (functional mode).
//! - `interrupt`: launches that the host ends before their time.
//! - `timing`: deterministic cycles, stalls, energy; knows no arithmetic. `rename`: shared registers, counted
//!   and checked.
//! - [`hierarchy`]: caches with data, policies, DRAM (timing mode).
//! - [`tolerance`]: what programs do wrong that a launch lets pass.
//! - [`residency`]: how many work-groups an SM holds.
//! - [`snapshot`]: what stays from launch to launch, as bytes.
//! - [`image`]: texel formats, addressing and filtering.
//!
//! # Example
//! A kernel in assembly, in which each work-item stores three times its number, in both modes:
//! ```
//! use heddle_sim::{DeviceMemory, Hierarchy, Launch, Options, Program, Simulation};
//! use heddle_target::Machine;
//!
//! // `a` is the argument at byte 8 of the constant bank.
//! let source = concat!(
//!     r#".object {"version":1,"machine":"heddle","clusters":2,"kernels":[],"data_relocations":[],"data_align":1}"#,
//!     "\n",
//!     r#".kernel {"name":"triple","text_offset":0,"text_size":0,"local_bytes":0,"private_bytes":0,"#,
//!     r#""args":[{"name":"a","type_name":"uint*","kind":"global","offset":8,"size":8,"align":8}],"#,
//!     r#""main_registers":4,"fixed_registers":4,"shared_demand":0,"local_registers":[0,0],"#,
//!     r#""scalar_registers":0,"predicate_registers":0,"required_work_group":null,"warp_size":32}"#,
//!     "\n  mul.b32 m0, gid.x, 3",
//!     "\n  shl.b32 m1, gid.x, 2",
//!     "\n  st.global.b32 [c[0x8] + u32 m1], m0",
//!     "\n  exit\n",
//! );
//! let machine = Machine::default_machine();
//! let image = heddle_object::asm::assemble(source)?;
//! let program = Program::from_image(&image, 0, &machine)?;
//!
//! for timing in [false, true] {
//!     let mut memory = DeviceMemory::new(1 << 20);
//!     let a = memory.allocate("a", 4 * 100)?;
//!     let mut launch = Launch::new(&program, [100, 1, 1], [50, 1, 1]);
//!     launch.set_argument(8, &a.to_le_bytes());
//!     let options = Options::default();
//!     let simulation = Simulation::new(&launch, &memory, &machine, &options);
//!     let statistics = match timing {
//!         false => simulation.functional()?,
//!         true => simulation.timing(&mut Hierarchy::new(&machine))?,
//!     };
//!     assert_eq!((statistics.work_groups, statistics.warps), (2, 4));
//!     assert_eq!(statistics.timing.is_some_and(|t| t.cycles > 0), timing);
//!     let bytes = memory.read(a, 4 * 100).unwrap_or_default();
//!     let words = bytes.chunks_exact(4).map(|w| u32::from_le_bytes([w[0], w[1], w[2], w[3]]));
//!     assert!(words.eq((0..100).map(|i| 3 * i)));
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#[macro_use]
mod by_warp_size;
mod check;
pub mod debug;
mod derived;
pub mod energy;
mod exec;
pub mod fault;
mod features;
mod functional;
pub mod hierarchy;
pub mod image;
mod interrupt;
#[cfg(feature = "jit")]
mod jit;
#[cfg(not(feature = "jit"))]
#[path = "interpreted_only.rs"]
mod jit;
pub mod memory;
mod perturbation;
pub mod program;
mod progress;
mod rename;
pub mod residency;
pub mod snapshot;
mod static_power;
pub mod statistics;
mod timing;
pub mod tolerance;
mod touches;
pub mod trace;
pub mod translations;
mod turns;
mod warp;

use std::ops::Range;
use std::sync::Arc;

use heddle_isa::surface::{LaunchValue, SurfaceIds};
use heddle_object::metadata::Redzone;
use heddle_target::Machine;
use residency::Residency;

pub use check::races::MAX_ITEMS as MAX_CHECKED_ITEMS;
pub use exec::banks;
pub use fault::{Fault, FaultKind};
pub use hierarchy::Hierarchy;
pub use interrupt::Interrupt;
pub use memory::{DeviceMemory, MAX_ALLOCATION};
pub use program::Program;
pub use statistics::{Interruption, Statistics};
pub use tolerance::Tolerance;
pub use translations::TranslationStore;

/// A kernel launch.
#[derive(Clone, Debug)]
pub struct Launch<'a> {
    /// The code.
    pub program: &'a Program,
    /// Global size; 1 in unused dimensions.
    pub global: [u32; 3],
    /// Work-group size; 1 in unused dimensions. The last group of a dimension may be smaller.
    pub local: [u32; 3],
    /// Global offset.
    pub offset: [u32; 3],
    /// Dimensions, 1 to 3.
    pub work_dim: u32,
    /// The constant bank, at most 1024 bytes, arguments in place.
    pub constants: Vec<u8>,
    /// Work-group memory, static and dynamic, bytes.
    pub local_bytes: u32,
    /// Bytes of work-group and private memory that nothing may access (checking mode).
    pub redzones: Vec<Redzone>,
    /// The descriptor table (G7): one for each surface of the kernel's header.
    pub descriptors: Vec<Descriptor>,
    /// Image arguments by number: device address and shape.
    pub images: std::collections::BTreeMap<u32, (u64, image::Image)>,
    /// What it did that was let pass.
    pub tolerated: tolerance::Log,
}

/// A launch with all that it runs on and how: what either mode is given.
#[derive(Clone, Copy)]
pub struct Simulation<'a> {
    /// The launch.
    pub launch: &'a Launch<'a>,
    /// Device memory, which the kernel reads and writes.
    pub memory: &'a DeviceMemory,
    /// The machine it runs on.
    pub machine: &'a Machine,
    /// How to simulate.
    pub options: &'a Options,
    /// Is told the number of work-groups that have ended since it was told last, from any of the host's threads.
    pub progress: &'a (dyn Fn(u64) + Sync),
}

impl<'a> Simulation<'a> {
    /// A launch whose progress nobody watches.
    pub fn new(launch: &'a Launch<'a>, memory: &'a DeviceMemory, machine: &'a Machine, options: &'a Options) -> Self {
        Simulation { launch, memory, machine, options, progress: &|_| {} }
    }

    /// Runs the launch for its results only, as fast as possible.
    ///
    /// # Errors
    /// The fault of the first faulting work-group (in order of their numbers among those that ran).
    pub fn functional(self) -> Result<Statistics, Box<Fault>> {
        self.noted(interrupt::partial(self, functional::launch))
    }

    /// The launch as a debugger wants it: it executes when it is told to.
    pub fn debuggee(self) -> Box<dyn debug::Debuggee + 'a> {
        debug::debuggee(self)
    }

    /// Runs the launch for its results on one host thread, and tells L2 which lines it touches, so that the next
    /// launch with timing finds it as warm as if this one had been timed, too.
    ///
    /// # Errors
    /// The fault of the first faulting work-group.
    pub fn warming(self, hierarchy: &mut Hierarchy) -> Result<Statistics, Box<Fault>> {
        self.noted(interrupt::partial(self, |simulation| functional::warming(simulation, hierarchy)))
    }

    /// Runs the launch with cycles and energy. The hierarchy keeps what L2 holds from launch to launch.
    ///
    /// # Errors
    /// The first fault in simulated time.
    pub fn timing(self, hierarchy: &mut Hierarchy) -> Result<Statistics, Box<Fault>> {
        self.noted(interrupt::partial(self, |simulation| timing::launch(simulation, hierarchy)))
    }

    /// Statistics with what was let pass.
    fn noted(&self, outcome: Result<Statistics, Box<Fault>>) -> Result<Statistics, Box<Fault>> {
        outcome.map(|statistics| Statistics { tolerated: self.launch.tolerated.tolerated(self.launch.program), ..statistics })
    }
}

/// What the address-generation unit knows of a surface during a launch (G7).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Descriptor {
    /// Device address of the allocation that the argument points into.
    pub start: u64,
    /// Bytes from it, modulo 2³².
    pub base: u32,
    /// Bytes from one work-item to the next in each dimension, modulo 2³².
    pub strides: [u32; 3],
    /// The ids that the strides multiply.
    pub ids: SurfaceIds,
    /// First address that may be accessed, and the first behind.
    pub bounds: (u64, u64),
    /// Name of the argument, for faults.
    pub name: String,
    /// The image, if it is one.
    pub image: Option<image::Image>,
}

impl<'a> Launch<'a> {
    /// A launch of a kernel without arguments, from offset 0, in the work-group memory that its code needs.
    pub fn new(program: &'a Program, global: [u32; 3], local: [u32; 3]) -> Self {
        let header = &program.header;
        Launch {
            program,
            global,
            local,
            offset: [0; 3],
            work_dim: 3,
            constants: header.constant_bank(),
            local_bytes: header.local_bytes,
            redzones: header.redzones.clone(),
            descriptors: Vec::new(),
            images: Default::default(),
            tolerated: Default::default(),
        }
    }

    /// Writes the bytes of an argument to its offset in the constant bank. Bytes behind the bank's end are left out.
    pub fn set_argument(&mut self, offset: usize, bytes: &[u8]) {
        for (to, from) in self.constants.iter_mut().skip(offset).zip(bytes) {
            *to = *from;
        }
    }

    /// A value that the launch gives.
    fn value(&self, value: LaunchValue) -> u32 {
        use heddle_isa::Special::*;
        match value {
            LaunchValue::Constant(w) => self.constant_word(4 * usize::from(w)),
            LaunchValue::Special(s) => match s {
                GlobalSizeX => self.global[0],
                GlobalSizeY => self.global[1],
                GlobalSizeZ => self.global[2],
                EnqueuedLocalSizeX => self.local[0],
                EnqueuedLocalSizeY => self.local[1],
                EnqueuedLocalSizeZ => self.local[2],
                NumGroupsX => self.groups()[0],
                NumGroupsY => self.groups()[1],
                NumGroupsZ => self.groups()[2],
                GlobalOffsetX => self.offset[0],
                GlobalOffsetY => self.offset[1],
                GlobalOffsetZ => self.offset[2],
                // The parser lets nothing else pass.
                _ => 0,
            },
        }
    }

    /// A word of the constant bank; 0 behind its end.
    fn constant_word(&self, at: usize) -> u32 {
        self.constants.get(at..at + 4).map_or(0, |b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]))
    }

    /// How many of its work-groups an SM holds.
    pub fn residency(&self, machine: &Machine) -> Residency {
        residency::residency_at(&self.program.header, machine, self.local, self.local_bytes, &|v| self.value(v))
    }

    /// Fills the descriptor table from the header and the arguments (G7).
    pub fn descriptors(&self, memory: &DeviceMemory) -> Vec<Descriptor> {
        let header = &self.program.header;
        let word = |at: usize| self.constant_word(at);
        let value = |v: LaunchValue| self.value(v);
        header
            .surfaces
            .iter()
            .map(|s| {
                let argument = header.args.get(s.argument as usize);
                if let Some((start, image)) = self.images.get(&s.argument) {
                    return Descriptor {
                        start: *start,
                        bounds: (*start, start + image.bytes()),
                        name: argument.map_or_else(String::new, |a| a.name.clone()),
                        image: Some(*image),
                        ..Default::default()
                    };
                }
                let at = argument.map_or(0, |a| a.offset as usize);
                let start = u64::from(word(at)) | u64::from(word(at + 4)) << 32;
                let bounds = memory.find(start, 0).map_or((0, 0), |a| (a.address, a.end()));
                // Offsets count from the allocation's start, not from a pointer into it, which may be followed
                // down, too; as far as 32 bits reach.
                let inside = u32::try_from(start.wrapping_sub(bounds.0)).ok();
                let (start, inside) = match inside.filter(|_| (1..=1 << 32).contains(&(bounds.1 - bounds.0))) {
                    Some(inside) => (bounds.0, inside),
                    None => (start, 0),
                };
                Descriptor {
                    start,
                    base: s.base.evaluate(value).wrapping_add(inside),
                    strides: [0, 1, 2].map(|d: usize| s.strides[d].evaluate(value)),
                    ids: s.ids,
                    bounds,
                    name: argument.map_or_else(String::new, |a| a.name.clone()),
                    image: None,
                }
            })
            .collect()
    }

    /// Work-groups in each dimension.
    pub fn groups(&self) -> [u32; 3] {
        std::array::from_fn(|d| self.global[d].div_ceil(self.local[d]))
    }

    /// Ids of the work-group of a linear number, dimension 0 fastest.
    pub fn group_id(&self, number: u64) -> [u32; 3] {
        let [x, y, _] = self.groups().map(u64::from);
        [(number % x) as u32, (number / x % y) as u32, (number / (x * y)) as u32]
    }

    /// Size of a work-group: the enqueued one, cut at the range's end.
    pub fn group_size(&self, group: [u32; 3]) -> [u32; 3] {
        std::array::from_fn(|d| self.local[d].min(self.global[d] - group[d] * self.local[d]))
    }

    /// How many of these work-groups have the enqueued size, from the first on.
    fn groups_of_full_size(&self, numbers: Range<u64>) -> u64 {
        let full: [u32; 3] = std::array::from_fn(|d| self.global[d] / self.local[d]);
        let most = numbers.end.saturating_sub(numbers.start);
        if full == self.groups() {
            return most;
        }
        let id = self.group_id(numbers.start);
        let inside = (0..3).all(|d| id[d] < full[d]);
        if inside { most.min(u64::from(full[0] - id[0])) } else { 0 }
    }
}

/// When functional mode translates a kernel to the host's instructions. Built without the feature `jit`, it always interprets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, strum::Display, strum::EnumString, clap::ValueEnum)]
#[strum(serialize_all = "lowercase")]
pub enum Jit {
    /// When what remains of a launch takes longer than compiling.
    #[default]
    Auto,
    /// Before the first work-group.
    Always,
    /// Not at all.
    Never,
}

/// Options of a simulation.
#[derive(Clone, Debug)]
pub struct Options {
    /// Instructions a work-group may execute (a warp's instruction counts once); more is a fault.
    pub max_instructions: u64,
    /// Host threads, the caller's among them; 0: all cores. There are fewer where the host makes no more. Results of timing
    /// mode do not depend on it.
    pub threads: usize,
    /// When functional mode translates code to the host's instructions. Results do not depend on it, but for the sign and
    /// payload of NaNs that arithmetic gives.
    pub jit: Jit,
    /// Where functional mode finds translations that other processes have made, and keeps its own. `None`: nowhere.
    pub translations: Option<Arc<dyn TranslationStore>>,
    /// Timing mode: SMs in turns, cycle by cycle, on one host thread. The result is the same; tests compare.
    pub in_turns: bool,
    /// Compare the operands of all active lanes of every u-marked instruction; a difference is a fault (S8).
    pub check_marks: bool,
    /// A read of an unmapped shared register, or one left mapped at a warp's end, is a fault (REN-9). Timing mode only.
    pub check_renames: bool,
    /// Where a machine's active set does not hold all warps, a read of a local register in another strand than its write is
    /// a fault (C14).
    pub check_strands: bool,
    /// Data races are faults (`check::races`). Functional mode only, on one host thread.
    pub check_races: bool,
    /// Loads from work-group or private memory of which nothing was written are faults. Functional mode only.
    pub check_uninitialised: bool,
    /// A barrier that not all work-items of a work-group reach is a fault, also where the others have ended
    /// or stand at another one. Functional mode only.
    pub check_barriers: bool,
    /// What is undefined and no fault. Whoever checks should let nothing pass: what is let pass is not checked.
    pub tolerate: Tolerance,
    /// Run-time scalarizer (S7): an unmarked instruction with at most this many active lanes, all with the
    /// same operands, runs on the scalar unit. 0: off. `None`: as the machine description says. Timing mode
    /// only; results do not depend on it.
    pub scalar_threshold: Option<u32>,
    /// Bytes of messages that the buffer of `printf` takes.
    pub printf_room: u32,
    /// What the host writes while a launch runs, in order of cycles (timing mode).
    pub host_writes: Vec<HostWrite>,
    /// What to record by time (timing mode).
    pub record: trace::Record,
    /// Functional mode between launches with timing: the device keeps L2 warm ([`Simulation::warming`]).
    pub warm: bool,
    /// Timing mode: of launches with many work-groups so many parts are timed (6 at least), and the rest is
    /// extrapolated ([`statistics::Sampling`]). `None`: all.
    pub sample: Option<u32>,
    /// What ends a launch before its time, as a fault.
    pub interrupt: Option<Interrupt>,
    /// An interrupted launch is no fault: its statistics are what has been counted, and say how far it was
    /// ([`Statistics::interrupted`]).
    pub partial: bool,
}

/// A write of the host to memory it shares with the device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostWrite {
    /// Cycle of the launch from which it is in memory.
    pub cycle: u64,
    /// Device address.
    pub address: u64,
    /// Bytes.
    pub data: Vec<u8>,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            max_instructions: 10_000_000_000,
            threads: 0,
            jit: Jit::Auto,
            translations: None,
            in_turns: false,
            check_marks: false,
            check_renames: false,
            check_strands: false,
            check_races: false,
            check_uninitialised: false,
            check_barriers: false,
            tolerate: Tolerance::default(),
            scalar_threshold: None,
            printf_room: heddle_object::metadata::PRINTF_ROOM,
            host_writes: Vec::new(),
            record: trace::Record::default(),
            warm: false,
            sample: None,
            interrupt: None,
            partial: false,
        }
    }
}
