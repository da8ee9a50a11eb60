//! What checking mode watches besides the rules that always hold: data races, reads of what was never written, barriers that not all reach.
//!
//! Functional mode only. A [`Checker`] belongs to one host thread. Every access of global, work-group or private memory reports itself before it happens
//! ([`Checker::access`]); barriers, fences and the starts of work-groups move the checker's time on. With races watched a launch runs on one
//! host thread, work-groups one after the other, so that reports are the same in every run; that no two groups overlap in the simulation does
//! not hide a race, because order in time counts for nothing here, only barriers, fences and atomics do ([`races`]).
//!
//! Without `--check` none of this exists: the accesses' frequent paths are left by the same test that timing mode uses (`local_banks`).

mod order;
pub mod races;

use races::Races;

use super::exec::all_lanes;
use super::fault::FaultKind;
use super::memory::DeviceMemory;
use super::{Launch, Options};
use crate::isa::MemorySpace;

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
    uninitialised: bool,
    /// Bytes of work-group memory written by the group.
    local: Vec<u8>,
    /// Bytes of private memory written, warp after warp, lane after lane.
    private: Vec<u8>,
    private_bytes: usize,
    lanes: usize,
    warp: usize,
    /// A read of unwritten work-group memory. If another work-item writes the bytes before the next barrier, it is a race, which says more; so it
    /// is kept until then: fault, warp, instruction, lane.
    pending: Option<(FaultKind, usize, u32, u32)>,
    /// The buffer of `printf`: the atomics on it order nothing, and what is written there cannot race.
    printf: std::ops::Range<u64>,
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
        let sized = |bytes: usize| vec![0; if options.check_uninitialised { bytes } else { 0 }];
        Some(Checker {
            races: options.check_races.then(|| Races::new(launch, memory, lanes, warps)),
            uninitialised: options.check_uninitialised,
            local: sized(launch.local_bytes as usize + 16),
            private: sized(private_bytes * lanes * warps),
            private_bytes,
            lanes,
            warp: 0,
            pending: None,
            printf: printf_buffer(launch, memory),
        })
    }

    /// A work-group begins.
    pub fn start_group(&mut self) {
        self.local.fill(0);
        self.private.fill(0);
        if let Some(races) = &mut self.races {
            races.start_group();
        }
    }

    /// The warp whose accesses follow.
    pub fn run_warp(&mut self, number: u32) {
        self.warp = number as usize;
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

    /// An access that is about to happen: what is wrong with it, and for which lane.
    pub fn access<const N: usize>(&mut self, a: &Access<N>, values: &impl Values) -> Option<(FaultKind, u32)> {
        if self.uninitialised && matches!(a.space, MemorySpace::Local | MemorySpace::Private) {
            if let Some((fault, lane)) = self.written(a) {
                if a.space == MemorySpace::Private || self.races.is_none() {
                    return Some((fault, lane));
                }
                self.pending.get_or_insert((fault, self.warp, a.index, lane));
            }
        }
        if a.space == MemorySpace::Global && self.printf.contains(&a.addresses[a.mask.trailing_zeros() as usize % N]) {
            return None;
        }
        match &mut self.races {
            Some(races) if matches!(a.space, MemorySpace::Global | MemorySpace::Local) => races.access(self.warp, a, values),
            _ => None,
        }
    }

    /// Notes what is written; a load none of whose bytes has been is a fault.
    fn written<const N: usize>(&mut self, a: &Access<N>) -> Option<(FaultKind, u32)> {
        let (marks, stride) = match a.space {
            MemorySpace::Local => (&mut self.local[..], 0),
            _ => {
                let warp = self.private_bytes * self.lanes;
                (&mut self.private[self.warp * warp..(self.warp + 1) * warp], self.private_bytes)
            }
        };
        let bytes = a.bytes as usize;
        // A scalar load stands for all lanes; its address is in lane 0.
        let mask = if a.scalar { 1 } else { a.mask };
        let mut missing = 0u64;
        for lane in 0..N {
            if mask != all_lanes(N) && mask >> lane & 1 == 0 {
                continue;
            }
            let at = a.addresses[lane] as usize + stride * lane;
            let mark = &mut marks[at..at + bytes];
            if a.kind != Kind::Store && mark.iter().all(|m| *m == 0) {
                missing |= 1 << lane;
            }
            if a.kind != Kind::Load {
                mark.fill(1);
            }
        }
        if missing == 0 {
            return None;
        }
        let lane = missing.trailing_zeros();
        let kind = FaultKind::Uninitialised { space: a.space.into(), address: a.addresses[lane as usize], bytes: a.bytes };
        Some((kind, if a.scalar { a.mask.trailing_zeros() } else { lane }))
    }
}

/// Where a launch's buffer of `printf` is; empty if its kernel does not print.
fn printf_buffer(launch: &Launch, memory: &DeviceMemory) -> std::ops::Range<u64> {
    let word = launch.program.header.printf_argument().and_then(|at| launch.constants.get(at as usize..at as usize + 8));
    let address = word.map_or(0, |w| w.iter().rev().fold(0, |v, b| v << 8 | u64::from(*b)));
    memory.find(address, 0).map_or(0..0, |a| a.address..a.end())
}
