//! What checking mode watches besides the rules that always hold: data races, reads of what was never
//! written, barriers that not all reach.
//!
//! Functional mode only. A [`Checker`] belongs to one host thread. Every access of global, work-group or
//! private memory reports itself before it happens ([`Checker::access`]); barriers, fences and the starts of
//! work-groups move the checker's time on. With races watched a launch runs on one host thread, work-groups
//! one after the other, so that reports are the same in every run; that no two groups overlap in the
//! simulation does not hide a race, because order in time counts for nothing here, only barriers, fences and
//! atomics do ([`races`]).
//!
//! Reads of what was never written are marked here and followed by [`super::exec::undefined`], which reports
//! their use.
//!
//! Memory that the kernel only reads is not watched ([`Checker::quiet`]): its accesses keep their frequent
//! paths. Without `--check` none of this exists: the paths are left by the same test that timing mode uses
//! (`local_banks`).

mod order;
pub mod races;
mod written;

use races::Races;
use written::Written;

use super::exec::undefined::Copies;
use super::fault::FaultKind;
use super::memory::{Allocation, DeviceMemory};
use super::{Descriptor, Launch, Options};
use heddle_isa::MemorySpace;
use heddle_object::metadata::ArgumentKind;

/// What an access does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Reads.
    Load,
    /// Writes.
    Store,
    /// Reads and writes at once.
    Atomic,
}

/// An access of a warp, all of it in bounds and aligned.
pub struct Access<'x, const N: usize> {
    /// Instruction.
    pub index: u32,
    /// Memory.
    pub space: MemorySpace,
    /// What it does.
    pub kind: Kind,
    /// Address of each lane.
    pub addresses: &'x [u64; N],
    /// Active lanes, not empty.
    pub mask: u64,
    /// All lanes read one address, which stands in lane 0.
    pub scalar: bool,
    /// Bytes of each lane: a power of two up to 16.
    pub bytes: u32,
    /// Volatile or atomic load or store, by its cache policy.
    pub volatile: bool,
    /// Of each word of a store the lanes whose data is undefined.
    pub undefined: [u64; 4],
}

/// What is wrong with an access.
#[derive(Default)]
pub struct Verdict {
    /// A fault, and its lane.
    pub fault: Option<(FaultKind, u32)>,
    /// Of each word of a load the lanes that read what was never written; of a scalar one bit 0.
    pub missing: [u64; 4],
}

/// What the checker has to look up while it compares values.
pub trait Values {
    /// Word `k` of a lane's data.
    fn data(&self, lane: usize, k: usize) -> u32;
    /// A byte in memory.
    fn memory(&self, address: u64) -> u8;
}

/// Watches the work-groups of a host thread.
pub struct Checker {
    races: Option<Races>,
    written: Option<Written>,
    /// Where undefined values in work-group and private memory come from.
    pub copies: Copies,
    warp: usize,
    /// A read of unwritten work-group memory. If another work-item writes the bytes before the next barrier,
    /// it is a race, which says more; so it is kept until then: fault, warp, instruction, lane.
    pending: Option<(FaultKind, usize, u32, u32)>,
    /// The buffer of `printf`: the atomics on it order nothing, and what is written there cannot race.
    printf: std::ops::Range<u64>,
    /// Addresses of allocations that the kernel may write; `None`: any.
    written_buffers: Option<Vec<u64>>,
}

impl Checker {
    /// A checker for a launch, if the options ask for one.
    pub fn new(launch: &Launch, memory: &DeviceMemory, options: &Options, warp_size: u32) -> Option<Self> {
        if !options.check_races && !options.check_uninitialised {
            return None;
        }
        let items: u32 = launch.local.iter().product();
        let warps = items.div_ceil(warp_size) as usize;
        let lanes = warp_size as usize;
        let private_bytes = launch.program.header.private_bytes.next_multiple_of(16) as usize;
        let written = || Written::new(&launch.redzones, launch.local_bytes as usize, private_bytes, lanes, warps);
        Some(Checker {
            races: options.check_races.then(|| Races::new(launch, memory, lanes, warps)),
            written: options.check_uninitialised.then(written),
            copies: Copies::default(),
            warp: 0,
            pending: None,
            printf: printf_buffer(launch, memory),
            written_buffers: written_buffers(launch, memory),
        })
    }

    /// Whether accesses of an allocation need not be shown: nobody writes it during the launch, as far as the
    /// kernel's header tells.
    pub fn quiet(&self, allocation: &Allocation) -> bool {
        self.races.is_none() || self.written_buffers.as_ref().is_some_and(|w| !w.contains(&allocation.address))
    }

    /// Whether accesses of private memory have to be shown: for compiled code.
    #[cfg(feature = "jit")]
    pub fn watches_private(&self) -> bool {
        self.written.is_some()
    }

    /// The descriptor of a surface, without bounds if its memory is watched.
    pub fn quiet_surface(&self, descriptor: &Descriptor, memory: &DeviceMemory) -> Descriptor {
        let quiet = memory.find(descriptor.start, 0).is_some_and(|a| self.quiet(a));
        Descriptor { bounds: if quiet { descriptor.bounds } else { (0, 0) }, ..descriptor.clone() }
    }

    /// A work-group begins.
    pub fn start_group(&mut self) {
        if let Some(written) = &mut self.written {
            written.clear();
            self.copies.clear();
        }
        if let Some(races) = &mut self.races {
            races.start_group();
        }
    }

    /// The warp whose accesses follow.
    pub fn run_warp(&mut self, number: u32) {
        self.warp = number as usize;
    }

    /// The warp that runs.
    pub fn warp(&self) -> u32 {
        self.warp as u32
    }

    /// All warps have reached a barrier with these fence flags (1 local, 2 global memory).
    pub fn barrier(&mut self, flags: i32) {
        if let Some(races) = &mut self.races {
            races.barrier(flags);
        }
    }

    /// All warps stand: the read that turned out not to be a race, if there was one: fault, warp, instruction, lane.
    pub fn take_pending(&mut self) -> Option<(FaultKind, usize, u32, u32)> {
        self.pending.take()
    }

    /// The running warp executes a fence.
    pub fn fence(&mut self) {
        if let Some(races) = &mut self.races {
            races.fence(self.warp);
        }
    }

    /// A use of what was never written: true if it is kept until the next barrier, because it may turn out to be a race.
    pub fn defer(&mut self, space: MemorySpace, fault: &FaultKind, index: u32, lane: u32) -> bool {
        let wait = space == MemorySpace::Local && self.races.is_some();
        if wait {
            self.pending.get_or_insert((fault.clone(), self.warp, index, lane));
        }
        wait
    }

    /// An access that is about to happen.
    pub fn access<const N: usize>(&mut self, a: &Access<N>, values: &impl Values) -> Verdict {
        let mut verdict = Verdict::default();
        if let Some(written) = self.written.as_mut().filter(|_| matches!(a.space, MemorySpace::Local | MemorySpace::Private)) {
            let found = written.access(self.warp, a);
            if found.outside != 0 {
                let lane = found.outside.trailing_zeros();
                verdict.fault = Some((between(a, lane as usize), if a.scalar { a.mask.trailing_zeros() } else { lane }));
                return verdict;
            }
            if a.kind == Kind::Load {
                verdict.missing = found.missing;
            } else if found.missing[0] != 0 {
                // An atomic depends on what it reads.
                let lane = found.missing[0].trailing_zeros();
                let fault = FaultKind::Uninitialised {
                    space: a.space.into(),
                    address: a.addresses[lane as usize],
                    bytes: a.bytes,
                    used: a.index,
                    used_at: None,
                };
                if !self.defer(a.space, &fault, a.index, lane) {
                    verdict.fault = Some((fault, lane));
                    return verdict;
                }
            }
        }
        if a.space == MemorySpace::Global && self.printf.contains(&a.addresses[a.mask.trailing_zeros() as usize % N]) {
            return verdict;
        }
        if let Some(races) = self.races.as_mut().filter(|_| matches!(a.space, MemorySpace::Global | MemorySpace::Local)) {
            verdict.fault = races.access(self.warp, a, values);
        }
        verdict
    }
}

/// A lane accesses bytes that belong to no variable.
fn between<const N: usize>(a: &Access<N>, lane: usize) -> FaultKind {
    let access = match a.kind {
        Kind::Load => "load",
        Kind::Store => "store",
        Kind::Atomic => "atomic",
    };
    let nearest = "beyond a variable, before the next one".to_string();
    FaultKind::OutOfBounds { access, space: a.space.into(), address: a.addresses[lane], bytes: a.bytes, nearest }
}

/// Where a launch's buffer of `printf` is; empty if its kernel does not print.
fn printf_buffer(launch: &Launch, memory: &DeviceMemory) -> std::ops::Range<u64> {
    let word = launch.program.header.printf_argument().and_then(|at| launch.constants.get(at as usize..at as usize + 8));
    let address = word.map_or(0, |w| w.iter().rev().fold(0, |v, b| v << 8 | u64::from(*b)));
    memory.find(address, 0).map_or(0..0, |a| a.address..a.end())
}

/// Addresses of the allocations that a launch may write, by its kernel's arguments; `None` if that is not known.
fn written_buffers(launch: &Launch, memory: &DeviceMemory) -> Option<Vec<u64>> {
    let mut read = Vec::new();
    let mut written = Vec::new();
    for argument in &launch.program.header.args {
        let list = match argument.kind {
            ArgumentKind::Global if !argument.read_only => &mut written,
            ArgumentKind::Global | ArgumentKind::Constant => &mut read,
            _ => continue,
        };
        let at = argument.offset as usize;
        let bytes = launch.constants.get(at..at + 8)?;
        let address = bytes.iter().rev().fold(0, |v, b| v << 8 | u64::from(*b));
        list.extend(memory.find(address, 0).map(|a| a.address));
    }
    // What no argument names, program-scope variables for one, may be written.
    let others = memory.allocations().iter().map(|a| a.address).filter(|a| !read.contains(a));
    Some(others.chain(written.iter().copied()).collect())
}
