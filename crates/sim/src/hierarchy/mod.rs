//! The memory hierarchy of timing mode (K1): caches that hold data (K8), their policies (K3, K4), their control (K5), and what everything costs.
//!
//! - [`policy`]: the tables K3 and K4.
//! - [`cache`]: one cache of sectored lines with data.
//! - [`near`]: the L1 caches of the SMs of an L1.5, and that.
//! - [`below`]: L2, DRAM, system memory, which all share.
//! - [`deferred`]: what waits for them where SMs are simulated side by side.
//! - [`dram`]: channels, banks, rows.
//!
//! A warp's access is cut into requests, one for each line it touches (coalescing); an L1 looks up one line a cycle. L1 caches are **not coherent**: a load
//! that hits sees what the line held when it was fetched, whatever other SMs have stored since. Stores to global memory bypass L1 and discard matching
//! lines on their own SM's way (data and uniform L1, L1.5), so a work-group sees its own stores; L2 is the point of coherence. Private memory is written back;
//! its lanes' words lie side by side, so that a warp's access to one variable is one line. Instructions are cached as tags: code does not change.
//!
//! Data moves when an access issues, in simulated order, so runs are deterministic; what an access returns is also when its data is there.

pub mod below;
pub mod cache;
pub mod deferred;
pub mod dram;
pub mod near;
pub mod policy;

use std::cell::RefCell;

use below::{Below, LineBytes};
use near::Near;

use super::DeviceMemory;
use super::statistics::HierarchyStatistics;
use heddle_isa::{CacheName, CacheOperation, CachePolicy, MemorySpace};
use heddle_target::Machine;

/// Through which L1 a load goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Path {
    /// Data L1.
    Data,
    /// Uniform L1 and L1.5.
    Uniform,
    /// Constant L1 and L1.5.
    Constant,
    /// Instruction L1 and L1.5.
    Instruction,
}

impl From<CacheName> for Path {
    /// The path whose L1 `cctl` names: textures share the uniform one.
    fn from(name: CacheName) -> Path {
        match name {
            CacheName::D => Path::Data,
            CacheName::U | CacheName::T => Path::Uniform,
            CacheName::C => Path::Constant,
            CacheName::I => Path::Instruction,
        }
    }
}

/// A warp's access.
#[derive(Clone, Copy, Debug)]
pub struct Access<'a> {
    /// SM.
    pub sm: usize,
    /// Cycle of issue.
    pub now: u64,
    /// Address space: global, constant or private.
    pub space: MemorySpace,
    /// Cache policy.
    pub policy: CachePolicy,
    /// Byte address of each lane: in private memory, within the lane's own.
    pub addresses: &'a [u64],
    /// Lanes.
    pub mask: u64,
    /// Bytes a lane.
    pub bytes: u32,
    /// First address of the warp's private memory, counted in bytes from [`PRIVATE_BASE`].
    pub private: u64,
}

/// What an access cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Done {
    /// Cycle at which all data is there.
    pub ready: u64,
    /// Cycles for which the load-store unit was busy.
    pub busy: u32,
    /// Lines touched.
    pub lines: u32,
    /// Sectors touched.
    pub sectors: u32,
    /// Of these, found in L1 (or on their way).
    pub hits: u32,
    /// Sectors that L2 had to fetch from memory.
    pub far: u32,
    /// Not all data is known to be there at `ready`, nor has all of it been given.
    pub pending: bool,
}

/// Each lane's byte in its line. Lines have at most 256 bytes.
type Places = [u8; 64];

/// The whole hierarchy.
pub struct Hierarchy {
    /// The SMs with what is near them, by L1.5.
    pub near: Vec<RefCell<Near>>,
    /// What all share; it is not here only while one of `near` has it.
    pub below: Option<Box<Below>>,
    sms: usize,
    /// Invalidations since the last launch.
    invalidations: u64,
}

impl Hierarchy {
    /// A machine's hierarchy, empty.
    pub fn new(machine: &Machine) -> Hierarchy {
        let sms = machine.memory.l15.sms as usize;
        let firsts = (0..machine.sm.count as usize).step_by(sms);
        Hierarchy {
            near: firsts.map(|first| RefCell::new(Near::new(machine, first))).collect(),
            below: Some(Box::new(Below::new(&machine.memory))),
            sms,
            invalidations: 0,
        }
    }

    /// A launch begins at cycle 0: nothing is on its way.
    pub fn start(&mut self) {
        let invalidations = std::mem::take(&mut self.invalidations);
        if let Some(below) = &mut self.below {
            below.settle();
            below.statistics = HierarchyStatistics { invalidations, ..Default::default() };
        }
        self.near.iter_mut().for_each(|n| n.get_mut().start());
    }

    /// A launch ends: dirty lines of L2 go to memory, private memory is gone. Returns what was counted.
    pub fn finish(&mut self, memory: &DeviceMemory) -> HierarchyStatistics {
        self.near.iter_mut().for_each(|n| n.get_mut().finish());
        if let Some(below) = &mut self.below {
            below.finish(memory);
        }
        self.statistics()
    }

    /// The driver's invalidation between dependent launches (K6).
    pub fn invalidate(&mut self) {
        self.near.iter_mut().for_each(|n| n.get_mut().invalidate());
        self.invalidations += 1;
    }

    /// The host has written memory between launches: L2 forgets the lines.
    pub fn host_wrote(&mut self, address: u64, bytes: u64) {
        let Some(below) = self.below.as_mut().filter(|_| bytes > 0) else { return };
        let line_bytes = below.line_bytes();
        (address / line_bytes..=(address + bytes - 1) / line_bytes).for_each(|line| below.discard_l2(line));
    }

    /// Lets an SM's accesses be answered at once.
    fn with<R>(&mut self, sm: usize, work: impl FnOnce(&mut Near) -> R) -> R {
        let near = self.near[sm / self.sms].get_mut();
        near.below = self.below.take();
        let result = work(near);
        self.below = near.below.take();
        result
    }

    /// A load: fills `out` for the lanes of the mask.
    pub fn load(&mut self, memory: &DeviceMemory, path: Path, a: &Access, out: &mut [[u8; 16]]) -> Done {
        self.with(a.sm, |n| n.load(memory, path, a, out))
    }

    /// A store of `data`, 16 bytes a lane.
    pub fn store(&mut self, memory: &DeviceMemory, a: &Access, data: &[[u8; 16]]) -> Done {
        self.with(a.sm, |n| n.store(memory, a, data))
    }

    /// Atomics, at L2: `update` turns the 8 bytes at a lane's address into new ones.
    pub fn atomic(&mut self, memory: &DeviceMemory, a: &Access, update: &mut dyn FnMut(usize, u64) -> u64) -> Done {
        self.with(a.sm, |n| n.atomic(memory, a, update))
    }

    /// Cache control (K5). Returns the cost; `status` gets bit 0 (valid) and bit 1 (dirty) of each lane's sector for `qry1`.
    pub fn control(
        &mut self,
        memory: &DeviceMemory,
        cache: CacheName,
        op: CacheOperation,
        a: &Access,
        status: &mut [u32],
    ) -> Done {
        self.with(a.sm, |n| n.control(memory, cache, op, a, status))
    }

    /// State of a line in an SM's data L1: valid sectors, dirty, first to be evicted. For tests and tools.
    pub fn l1_state(&self, sm: usize, address: u64) -> Option<(u64, bool, bool)> {
        self.near[sm / self.sms].borrow().l1_state(sm, address)
    }

    /// State of a line in L2: dirty, first to be evicted.
    pub fn l2_state(&self, address: u64) -> Option<(bool, bool)> {
        self.below.as_ref()?.l2_state(address)
    }

    /// Address under which [`Self::l1_state`] knows a byte of a lane's private memory.
    pub fn private_address(&self, base: u64, lane: u64, offset: u64) -> u64 {
        self.near[0].borrow().private_address(base, lane, offset)
    }

    /// What has been counted since the launch began.
    pub fn statistics(&self) -> HierarchyStatistics {
        let mut all = self.below.as_ref().map_or_else(Default::default, |b| b.statistics.clone());
        self.near.iter().for_each(|n| all.add(&n.borrow().statistics));
        all
    }
}

/// Gives each lane its bytes of a line, from byte `to` of the lane's on.
fn deal(line: &LineBytes, places: &Places, mut lanes: u64, bytes: usize, to: usize, out: &mut [[u8; 16]]) {
    macro_rules! each {
        ($n:expr) => {
            while lanes != 0 {
                let lane = lanes.trailing_zeros() as usize;
                lanes &= lanes - 1;
                let at = usize::from(places[lane]);
                out[lane][to..to + $n].copy_from_slice(&line[at..at + $n]);
            }
        };
    }
    // Copies of a length known to the compiler are single moves.
    match bytes {
        4 => each!(4),
        8 => each!(8),
        16 => each!(16),
        n => each!(n),
    }
}
