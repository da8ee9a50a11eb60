//! The memory hierarchy of timing mode (K1): caches that hold data (K8), their policies (K3, K4), their
//! control (K5), and what everything costs.
//!
//! - [`policy`]: the tables K3 and K4.
//! - `line`: lines, their bytes and sectors.
//! - `coalescer`: a warp's access becomes one transaction a line.
//! - `cache`: one cache of sectored lines with data.
//! - `replacement`: which of its lines makes room for another.
//! - `mshr`: misses on their way.
//! - `sm_caches`: the L1 caches of an SM, and its port to the network.
//! - `cluster_caches`: the caches of an SM cluster, that is of the SMs that share an L1.5.
//! - `lower_levels`: L2, DRAM, system memory, which all SMs share.
//! - `atomics`: what a warp's atomics do in L2.
//! - `deferred`: what waits for them where SMs are simulated side by side.
//! - `undecided`: reads that wait until DRAM has chosen.
//! - `tlb`: what translation of addresses adds.
//! - `dram`: channels, banks, rows.
//!
//! A warp's access is cut into transactions, one for each line it touches (coalescing); an L1 looks up one a
//! cycle. L1 caches are **not coherent**: a load that hits sees what the line held when it was fetched,
//! whatever other SMs have stored since. Stores to global memory bypass L1 and discard matching lines on
//! their own SM's way (data and uniform L1, L1.5), so a work-group sees its own stores; L2 is the point of
//! coherence. Private memory is written back; its lanes' words lie side by side, so that a warp's access to
//! one variable is one line. Instructions are cached as tags: code does not change.
//!
//! Data moves when an access issues, in simulated order, so runs are deterministic; what an access returns is
//! also when its data is there.

pub(crate) mod atomics;
pub(crate) mod cache;
mod calendar;
pub(crate) mod cluster_caches;
mod coalescer;
pub(crate) mod deferred;
mod dram;
pub(crate) mod line;
pub(crate) mod lower_levels;
mod mshr;
pub mod policy;
mod polynomial;
mod replacement;
mod sm_caches;
mod tlb;
pub(crate) mod undecided;

use std::cell::RefCell;

use cluster_caches::ClusterCaches;
use lower_levels::LowerLevels;

use super::DeviceMemory;
use super::statistics::{CacheStatistics, HierarchyStatistics};
use super::touches::Touch;
use crate::snapshot::Snapshot;
use heddle_isa::{CacheName, CacheOperation, CachePolicy, MemorySpace};
use heddle_target::Machine;

/// Which L1 a load looks up, and whether the L1.5 lies behind it. An SM's L1 caches stand in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Path {
    /// The data L1; behind it is L2.
    Data,
    /// The uniform L1 (textures, `ldu`), then the L1.5.
    Uniform,
    /// The constant L1, then the L1.5.
    Constant,
    /// The instruction L1, then the L1.5.
    Instruction,
}

impl Path {
    /// What is counted of the path's L1.
    #[inline]
    fn counts(self, statistics: &mut HierarchyStatistics) -> &mut CacheStatistics {
        // Without a branch, since paths alternate.
        let HierarchyStatistics { data, uniform, constant, instruction, .. } = statistics;
        let all: [&mut CacheStatistics; 4] = [data, uniform, constant, instruction];
        let Some(counts) = all.into_iter().nth(self as usize) else { unreachable!("there are four paths") };
        counts
    }
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

/// A warp's access to memory that is cached.
#[derive(Clone, Copy, Debug)]
pub struct Access<'a> {
    /// Machine-wide number of the warp's SM.
    pub sm: usize,
    /// Cycle of issue.
    pub now: u64,
    /// Address space: global, constant or private.
    pub space: MemorySpace,
    /// Cache policy, as the instruction says (K3, K4).
    pub policy: CachePolicy,
    /// Byte address of each lane: in private memory, within the lane's own.
    pub addresses: &'a [u64],
    /// Active lanes, a bit each.
    pub mask: u64,
    /// Bytes that each lane accesses, 1 to 16.
    pub bytes: u32,
    /// First address of the warp's private memory, counted in bytes from [`PRIVATE_BASE`](lower_levels::PRIVATE_BASE).
    pub private: u64,
}

/// What an access cost, in cycles and in what it touched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AccessCost {
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

/// The memory hierarchy of a machine: what its caches hold stays from launch to launch.
pub struct Hierarchy {
    /// The caches of each SM cluster.
    pub(crate) clusters: Vec<RefCell<ClusterCaches>>,
    /// What all SMs share; it is not here only while one of `clusters` has it.
    pub(crate) lower: Option<Box<LowerLevels>>,
    /// SMs of a cluster.
    cluster_sms: usize,
    /// Invalidations since the last launch.
    invalidations: u64,
    /// Something was accessed: the caches are not empty.
    used: bool,
}

impl Hierarchy {
    /// A machine's hierarchy, empty.
    pub fn new(machine: &Machine) -> Hierarchy {
        let sms = machine.memory.l15.sms as usize;
        let firsts = (0..machine.sm.count as usize).step_by(sms);
        Hierarchy {
            clusters: firsts.map(|first| RefCell::new(ClusterCaches::new(machine, first))).collect(),
            lower: Some(Box::new(LowerLevels::new(machine))),
            cluster_sms: sms,
            invalidations: 0,
            used: false,
        }
    }

    /// A launch begins at cycle 0: nothing is on its way. `alone`: nobody but the launch writes to device memory meanwhile.
    pub fn start(&mut self, memory: &DeviceMemory, alone: bool) {
        self.used = true;
        let invalidations = std::mem::take(&mut self.invalidations);
        if let Some(lower) = &mut self.lower {
            lower.begin(memory, alone);
            lower.statistics = HierarchyStatistics { invalidations, ..Default::default() };
        }
        self.clusters.iter_mut().for_each(|n| n.get_mut().start());
    }

    /// A launch ends: dirty lines of L2 go to memory, private memory is gone. Returns what was counted.
    pub fn finish(&mut self, memory: &DeviceMemory) -> HierarchyStatistics {
        self.clusters.iter_mut().for_each(|n| n.get_mut().finish());
        if let Some(lower) = &mut self.lower {
            lower.finish(memory);
        }
        self.statistics()
    }

    /// Exchanges all that stays from launch to launch.
    pub fn exchange(&mut self, snapshot: &mut Snapshot) {
        let mut used = u64::from(self.used);
        snapshot.words([&mut used, &mut self.invalidations]);
        self.used = used != 0;
        self.clusters.iter_mut().for_each(|c| c.get_mut().exchange(snapshot));
        self.lower.iter_mut().for_each(|l| l.exchange(snapshot));
    }

    /// Whether nothing was accessed since the hierarchy was made: all caches are empty.
    pub fn is_empty(&self) -> bool {
        !self.used
    }

    /// A launch ends with a fault: dirty lines of L2 go to memory. What was on its way to other caches has
    /// not come, so these forget their lines.
    pub fn abandon(&mut self, memory: &DeviceMemory) {
        self.clusters.iter_mut().for_each(|n| n.get_mut().invalidate());
        if let Some(lower) = &mut self.lower {
            lower.finish(memory);
        }
    }

    /// Memory was written between launches by others than this hierarchy or the host: L2 keeps its lines and
    /// gets what they are now.
    pub fn refresh(&mut self, memory: &DeviceMemory) {
        if let Some(lower) = &mut self.lower {
            lower.refresh(memory);
        }
    }

    /// A launch runs functionally: `run` is given what tells L2 of a line that was touched. Afterwards memory and
    /// L2 hold the same.
    pub(crate) fn warm<R>(&mut self, memory: &DeviceMemory, run: impl FnOnce(&mut dyn FnMut(Touch)) -> R) -> R {
        self.used = true;
        let Some(lower) = &mut self.lower else { return run(&mut |_| {}) };
        lower.begin_warming(memory);
        let result = run(&mut |touch| lower.warm(memory, touch));
        lower.settle_warm_lines();
        lower.end_warming(memory);
        result
    }

    /// What L2 has of device and system memory: first addresses and bytes of runs of sectors, those first that would
    /// be evicted first.
    pub fn resident(&self) -> Vec<(u64, u64)> {
        self.lower.as_ref().map_or_else(Vec::new, |lower| lower.resident())
    }

    /// L2 gets what it has not of these runs of bytes, the first one as the first to be evicted. Takes no time, and
    /// is not counted.
    pub fn bring(&mut self, memory: &DeviceMemory, runs: &[(u64, u64)]) {
        let Some(lower) = self.lower.as_deref() else { return };
        let touches: Vec<Touch> = runs.iter().flat_map(|(address, bytes)| lower.touches(*address, *bytes)).collect();
        self.warm(memory, |warm| touches.into_iter().for_each(warm));
    }

    /// The instruction L1s get so many bytes of code from an offset on, as if they had been fetched by an earlier launch.
    pub fn bring_code(&mut self, [offset, bytes]: [u64; 2]) {
        self.used = true;
        self.clusters.iter_mut().for_each(|c| c.get_mut().bring_code([offset, bytes]));
    }

    /// Bytes that work-groups without timing would have read from memory and written to it since the launch
    /// began.
    pub(crate) fn warmed_bytes(&self) -> (u64, u64) {
        let Some(lower) = &self.lower else { return (0, 0) };
        let sector = lower.sector_bytes() as u64;
        (lower.warmed.missed * sector, lower.warmed.written * sector)
    }

    /// The driver's invalidation between dependent launches (K6).
    pub fn invalidate(&mut self) {
        self.clusters.iter_mut().for_each(|n| n.get_mut().invalidate());
        self.invalidations += 1;
    }

    /// The host has written memory between launches: L2 forgets the lines.
    pub fn host_wrote(&mut self, address: u64, bytes: u64) {
        let used = self.used;
        let Some(lower) = self.lower.as_mut().filter(|_| bytes > 0 && used) else { return };
        let line_bytes = lower.line_bytes();
        lower.discard_lines(address / line_bytes..=(address + bytes - 1) / line_bytes);
    }

    /// Lets an SM's accesses be answered at once.
    fn with_lower<R>(&mut self, sm: usize, work: impl FnOnce(&mut ClusterCaches) -> R) -> R {
        self.used = true;
        let caches = self.clusters[sm / self.cluster_sms].get_mut();
        caches.lower = self.lower.take();
        caches.set_urgent(true);
        let result = work(caches);
        caches.set_urgent(false);
        self.lower = caches.lower.take();
        result
    }

    /// A load: fills `out` for the lanes of the mask.
    pub fn load(&mut self, memory: &DeviceMemory, path: Path, access: &Access, out: &mut [[u8; 16]]) -> AccessCost {
        self.with_lower(access.sm, |c| {
            c.load(memory, path, access);
            for (lane, out) in out.iter_mut().enumerate().filter(|(lane, _)| access.mask >> lane & 1 == 1) {
                *out = line::bytes_of_lane(c.loaded(), lane);
            }
            c.cost
        })
    }

    /// A store of `data`, 16 bytes a lane.
    pub fn store(&mut self, memory: &DeviceMemory, access: &Access, data: &[[u8; 16]]) -> AccessCost {
        let values = line::words_of_lanes(data);
        self.with_lower(access.sm, |c| {
            c.store(memory, access, &values.each_ref().map(|words| &words[..]));
            c.cost
        })
    }

    /// Atomics, at L2: `update` turns the 8 bytes at a lane's address into new ones.
    pub fn atomic(&mut self, memory: &DeviceMemory, access: &Access, update: &mut dyn FnMut(usize, u64) -> u64) -> AccessCost {
        self.with_lower(access.sm, |c| {
            c.atomic(memory, access, update);
            c.cost
        })
    }

    /// Cache control (K5). Returns the cost; `status` gets bit 0 (valid) and bit 1 (dirty) of each lane's sector for `qry1`.
    pub fn control(
        &mut self,
        memory: &DeviceMemory,
        cache: CacheName,
        op: CacheOperation,
        access: &Access,
        status: &mut [u32],
    ) -> AccessCost {
        self.with_lower(access.sm, |c| {
            c.control(memory, cache, op, access, status);
            c.cost
        })
    }

    /// State of a line in an SM's data L1: valid sectors, dirty, first to be evicted. For tests and tools.
    pub fn l1_state(&self, sm: usize, address: u64) -> Option<(u64, bool, bool)> {
        self.clusters[sm / self.cluster_sms].borrow().l1_state(sm, address)
    }

    /// State of a line in L2: dirty, first to be evicted.
    pub fn l2_state(&self, address: u64) -> Option<(bool, bool)> {
        self.lower.as_ref()?.l2_state(address)
    }

    /// Address under which [`Self::l1_state`] knows a byte of a lane's private memory.
    pub fn private_address(&self, base: u64, lane: u64, offset: u64) -> u64 {
        self.clusters[0].borrow().private_address(base, lane, offset)
    }

    /// What has been counted since the launch began.
    pub fn statistics(&self) -> HierarchyStatistics {
        let mut all = self.lower.as_ref().map_or_else(Default::default, |b| b.statistics.clone());
        self.clusters.iter().for_each(|n| all.add(&n.borrow().statistics));
        all
    }
}
