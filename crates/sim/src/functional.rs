//! Functional mode: work-groups in parallel on all host cores, no timing.
//!
//! Each host thread owns one set of warp states and runs work-groups one after the other; the warps of a
//! group take turns at barriers. Instructions are counted per basic block (executions and active lanes), so
//! statistics cost nothing per instruction: everything a block does is multiplied out at the end from its
//! static content.

mod budget;
mod resident;
mod standstill;
mod worker;

use std::cell::RefCell;
use std::ops::Range;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

pub use budget::Budget;
use standstill::Standstill;
use worker::{Aside, Worker};

use super::check::Checker;
use super::exec::{Decoded, Lanes, RANGES, Row, all_lanes, decoded, undefined};
use super::fault::{Fault, FaultKind};
use super::features::ClassShares;
use super::memory::DeviceMemory;
use super::program::{BasicBlock, End, Program};
use super::progress::WarpWatch;
use super::statistics::{Interruption, Statistics};
use super::touches::{Touch, Touches};
use super::turns::{Plan, Turns};
use super::warp::Control;
use super::{Descriptor, Hierarchy, Launch, Options, Simulation, energy};
use heddle_isa::Special;
use heddle_isa::surface::SurfaceIds;
use heddle_threads::host_threads;

/// Runs a launch.
///
/// # Errors
/// The fault of the first faulting work-group (in order of their numbers among those that ran).
pub(super) fn launch(run: Simulation) -> Result<Statistics, Box<Fault>> {
    by_warp_size!(run.machine.warp_size, of_warp_size(run))
}

/// Executions and active lanes of each block.
#[derive(Clone, Debug)]
pub struct BlockCounts {
    /// Times each block was entered.
    pub executions: Vec<u64>,
    /// Active lanes, summed over the entries.
    pub lanes: Vec<u64>,
    /// Branches that split a warp.
    pub splits: u64,
    /// Turns of diverged lanes ([`crate::turns`]).
    pub turns: u64,
    /// Lanes that the run-time scalarizer (S7) saved, per instruction; empty where it does not run.
    pub saved_lanes: Vec<u64>,
    /// Words of lane operands it compared.
    pub compared: u64,
    /// Entries of each block that compiled code counts, with all lanes active; [`BlockCounts::settle`] adds them to the others.
    pub whole: Vec<u64>,
}

impl BlockCounts {
    /// Zeros for a program.
    pub fn new(program: &Program) -> Self {
        let n = program.blocks.len();
        BlockCounts {
            executions: vec![0; n],
            lanes: vec![0; n],
            splits: 0,
            turns: 0,
            saved_lanes: Vec::new(),
            compared: 0,
            whole: vec![0; n],
        }
    }

    /// Adds the entries with all of `n` lanes to executions and lanes.
    pub fn settle(&mut self, n: u64) {
        for (b, whole) in self.whole.iter_mut().enumerate() {
            self.executions[b] += *whole;
            self.lanes[b] += std::mem::take(whole) * n;
        }
    }

    /// Adds others.
    pub fn add(&mut self, other: &BlockCounts) {
        for (a, b) in self.executions.iter_mut().zip(&other.executions) {
            *a += b;
        }
        for (a, b) in self.lanes.iter_mut().zip(&other.lanes) {
            *a += b;
        }
        self.splits += other.splits;
        self.turns += other.turns;
    }
}

/// One warp: registers and control. What every end of a block needs comes first.
#[repr(C, align(64))]
pub struct Warp<'a, const N: usize> {
    /// Control.
    pub control: Control,
    /// Where its lanes take turns: those whose turn it is not.
    pub turns: Option<Box<Turns>>,
    /// What is known of a warp that may make no progress ([`crate::progress`]).
    pub watch: Option<Box<WarpWatch<N>>>,
    /// Stands at a barrier.
    pub waiting: bool,
    /// Its portion of instructions is used up.
    pub paused: bool,
    /// Number in its work-group.
    pub number: u32,
    /// The barrier it stands at: instruction.
    pub barrier: u32,
    /// Registers and memory.
    pub lanes: Lanes<'a, N>,
}

/// Where a work-group is in its launch.
#[derive(Clone, Copy, Debug)]
pub struct GroupPlace {
    /// Its id.
    pub id: [u32; 3],
    /// Its size.
    pub size: [u32; 3],
}

impl<'a, const N: usize> Warp<'a, N> {
    /// A warp whose registers hold nothing yet.
    pub fn new(launch: &'a Launch, memory: &'a DeviceMemory, options: &Options) -> Self {
        let program = launch.program;
        let rows = &program.rows;
        let mut file = vec![Row([0; N]); usize::from(rows.total)];
        for (i, v) in rows.immediate_values.iter().enumerate() {
            file[usize::from(rows.immediates) + i] = Row([*v; N]);
        }
        for w in 0..usize::from(rows.constant_words) {
            let bytes = launch.constants.get(4 * w..4 * w + 4).map_or([0; 4], |b| [b[0], b[1], b[2], b[3]]);
            file[usize::from(rows.constants) + w] = Row([u32::from_le_bytes(bytes); N]);
        }
        let private_bytes = program.header.private_bytes.next_multiple_of(16);
        Warp {
            lanes: Lanes {
                rows: file,
                predicates: [0; 16],
                mask: 0,
                memory,
                local: std::ptr::null_mut(),
                local_bytes: launch.local_bytes,
                private: vec![Row([0; N]); private_bytes as usize / 4],
                private_bytes,
                constants: &launch.constants,
                descriptors: &launch.descriptors,
                unaligned_vectors: program.header.unaligned_vectors,
                ranges: [(0, 0); RANGES],
                quiet: [(0, 0); RANGES],
                bases: Vec::new(),
                sums: &[],
                quiet_descriptors: &[],
                undefined: Default::default(),
                lost: None,
                scalar_lanes: None,
                fault: None,
                hierarchy: None,
                late: None,
                sm: 0,
                private_base: 0,
                checker: None,
                touches: None,
                watch: None,
                local_banks: 0,
                access: None,
                check_marks: options.check_marks,
                tolerance: options.tolerate,
                tolerated: &launch.tolerated,
                clock: 0,
            },
            control: Control::new(0),
            waiting: false,
            number: 0,
            barrier: 0,
            paused: false,
            turns: None,
            watch: None,
        }
    }

    /// Starts warp `number` of a work-group: ids into special registers, lanes beyond the group's size inactive.
    pub fn start(&mut self, launch: &Launch, place: GroupPlace, number: u32, local: *mut u8) {
        let items = place.size.iter().product::<u32>();
        let first = number * N as u32;
        let count = items.saturating_sub(first).min(N as u32) as usize;
        self.control.reset(all_lanes(count));
        (self.waiting, self.paused) = (false, false);
        (self.watch, self.lanes.watch) = (None, None);
        if let Some(turns) = &mut self.turns {
            turns.reset();
        }
        self.number = number;
        self.lanes.local = local;
        self.lanes.fault = None;
        self.lanes.undefined.clear();
        if let Some(lost) = &mut self.lanes.lost {
            lost.clear();
        }
        if let Some(scalars) = &mut self.lanes.scalar_lanes {
            scalars.clear();
        }
        let ids = local_ids::<N>(place.size, first, items);
        let groups = launch.groups();
        let warps = items.div_ceil(N as u32);
        for &(special, row) in &launch.program.rows.specials {
            let id = |lane: usize, d: usize| ids[d][lane];
            let global = |lane: usize, d: usize| launch.offset[d] + place.id[d] * launch.local[d] + id(lane, d);
            let relative = |lane: usize, d: usize| place.id[d] * place.size[d] + id(lane, d);
            let same = |v: u32| [v; N];
            use Special::*;
            let values: [u32; N] = match special {
                LocalIdX => std::array::from_fn(|l| id(l, 0)),
                LocalIdY => std::array::from_fn(|l| id(l, 1)),
                LocalIdZ => std::array::from_fn(|l| id(l, 2)),
                GlobalIdX => std::array::from_fn(|l| global(l, 0)),
                GlobalIdY => std::array::from_fn(|l| global(l, 1)),
                GlobalIdZ => std::array::from_fn(|l| global(l, 2)),
                GroupIdX => same(place.id[0]),
                GroupIdY => same(place.id[1]),
                GroupIdZ => same(place.id[2]),
                LocalSizeX => same(place.size[0]),
                LocalSizeY => same(place.size[1]),
                LocalSizeZ => same(place.size[2]),
                EnqueuedLocalSizeX => same(launch.local[0]),
                EnqueuedLocalSizeY => same(launch.local[1]),
                EnqueuedLocalSizeZ => same(launch.local[2]),
                GlobalSizeX => same(launch.global[0]),
                GlobalSizeY => same(launch.global[1]),
                GlobalSizeZ => same(launch.global[2]),
                NumGroupsX => same(groups[0]),
                NumGroupsY => same(groups[1]),
                NumGroupsZ => same(groups[2]),
                GlobalOffsetX => same(launch.offset[0]),
                GlobalOffsetY => same(launch.offset[1]),
                GlobalOffsetZ => same(launch.offset[2]),
                WorkDim => same(launch.work_dim),
                LaneId => std::array::from_fn(|l| l as u32),
                WarpId => same(number),
                NumWarps => same(warps),
                LocalLinearId => std::array::from_fn(|l| first + l as u32),
                RelativeIdX => std::array::from_fn(|l| relative(l, 0)),
                RelativeIdY => std::array::from_fn(|l| relative(l, 1)),
                RelativeIdZ => std::array::from_fn(|l| relative(l, 2)),
                ExecLow | ExecHigh | ClockLow | SmId => same(0),
            };
            self.lanes.rows[usize::from(row)] = Row(values);
        }
        // The address-generation unit's share of each surface's offsets (G6).
        for (row, descriptor) in (usize::from(launch.program.rows.surfaces)..).zip(&launch.descriptors) {
            let [x, y, z] = descriptor.strides;
            self.lanes.rows[row] = Row(std::array::from_fn(|lane| {
                let id = |d: usize| ids[d][lane];
                let [ix, iy, iz]: [u32; 3] = match descriptor.ids {
                    SurfaceIds::Global => std::array::from_fn(|d| launch.offset[d] + place.id[d] * launch.local[d] + id(d)),
                    SurfaceIds::Relative => std::array::from_fn(|d| place.id[d] * place.size[d] + id(d)),
                    SurfaceIds::Local => std::array::from_fn(id),
                };
                ix.wrapping_mul(x).wrapping_add(iy.wrapping_mul(y)).wrapping_add(iz.wrapping_mul(z))
            }));
        }
    }

    /// Ends a block: moves control. Returns false if the warp stops here (barrier, end, fault).
    #[inline]
    pub fn end_block(&mut self, end: End, index: u32, splits: &mut u64) -> bool {
        if self.turns.is_some() {
            return self.end_block_in_turn(end, index, splits);
        }
        self.end_block_together(end, index, splits)
    }

    /// The same where lanes take turns.
    #[cold]
    #[inline(never)]
    fn end_block_in_turn(&mut self, end: End, index: u32, splits: &mut u64) -> bool {
        let block = self.control.pc;
        let Some(turns) = &mut self.turns else { return false };
        if end == End::Barrier {
            self.control.jump(block + 1);
            if turns.at_barrier(&mut self.control, &mut self.lanes, index) {
                return true;
            }
            (self.waiting, self.barrier) = (true, index);
            return false;
        }
        let goes_on = self.end_block_together(end, index, splits);
        let Some(turns) = self.turns.as_mut().filter(|_| self.lanes.fault.is_none()) else { return false };
        if !goes_on {
            // Its lanes have ended.
            let another = turns.ended(&mut self.control, &mut self.lanes);
            self.waiting = !another && self.control.live != 0;
            self.barrier = turns.stands_at().unwrap_or(index);
            return another;
        }
        if end != End::Fall {
            let backward = self.control.pc <= block;
            turns.after_block(&mut self.control, &mut self.lanes, backward);
        }
        true
    }

    /// All warps of the work-group stand at a barrier: it goes on.
    #[inline]
    pub fn leave_barrier(&mut self) {
        self.waiting = false;
        if let Some(turns) = &mut self.turns {
            turns.leave_barrier();
        }
    }

    /// Ends a block where all active lanes go on together.
    #[inline(always)]
    fn end_block_together(&mut self, end: End, index: u32, splits: &mut u64) -> bool {
        let block = self.control.pc;
        match end {
            End::Fall => self.control.jump(block + 1),
            End::Jump(target) => self.control.jump(target),
            End::Scalar { condition, if_zero, target } => {
                let zero = self.lanes.rows[usize::from(condition)].0[0] == 0;
                self.control.jump(if zero == if_zero { target } else { block + 1 });
            }
            End::Divergent { predicate, negate, target, reconverge } => {
                let p = self.lanes.predicates[usize::from(predicate & 15)];
                let taken = if negate { !p } else { p };
                *splits += u64::from(self.control.diverge(taken, target, block + 1, reconverge));
            }
            End::Exit => self.control.exit(),
            End::Trap => {
                self.lanes.fault.get_or_insert((FaultKind::Trap, index, self.control.mask.trailing_zeros()));
                return false;
            }
            End::Barrier => {
                if self.control.mask != self.control.live {
                    let (arrived, live) = (self.control.mask.count_ones(), self.control.live.count_ones());
                    let kind = FaultKind::DivergentBarrier { arrived, live };
                    if !self.lanes.tolerance.divergent_barriers {
                        self.lanes.fault.get_or_insert((kind, index, self.control.mask.trailing_zeros()));
                        return false;
                    }
                    let rank = u64::from(arrived) << 32 | u64::from(live);
                    self.lanes.tolerated.note(index, arrived, rank, || kind);
                }
                self.control.jump(block + 1);
                self.waiting = true;
                self.barrier = index;
                return false;
            }
        }
        self.lanes.mask = self.control.mask;
        self.control.mask != 0
    }

    /// Ends a block for which the budget's portion has no room: from its end on the warp may go on with the next one.
    #[cold]
    pub fn end_portion(&mut self, block: &BasicBlock, budget: &mut Budget, splits: &mut u64) {
        match budget.take_more(u64::from(block.len())) {
            Ok(()) => self.paused = self.end_block(block.end, block.first + block.body, splits),
            Err(kind) => {
                let index = block.first + block.body.min(block.len() - 1);
                self.lanes.fault = Some((kind, index, self.control.mask.trailing_zeros()));
            }
        }
    }

    /// The warp's fault as a report.
    pub fn fault(&self, launch: &Launch, place: GroupPlace) -> Option<Fault> {
        let (kind, index, lane) = self.lanes.fault.clone()?;
        Some(self.fault_of(launch, place, kind, index, lane))
    }

    /// A fault of an instruction and lane.
    fn fault_of(&self, launch: &Launch, place: GroupPlace, mut kind: FaultKind, index: u32, lane: u32) -> Fault {
        let source = launch.program.source(index as usize);
        if let FaultKind::Uninitialised { used, used_at, .. } = &mut kind {
            *used_at = launch.program.source(*used as usize).filter(|at| source.as_ref() != Some(at));
        }
        let linear = self.number * N as u32 + lane;
        let [sx, sy, _] = place.size;
        let local_id = [linear % sx, linear / sx % sy, linear / (sx * sy)];
        let global_id = std::array::from_fn(|d| launch.offset[d] + place.id[d] * launch.local[d] + local_id[d]);
        Fault { kind, kernel: launch.program.header.name.clone(), source, global_id, local_id, group_id: place.id }
    }
}

/// A work-group's memory, 16-byte aligned.
pub fn local_memory(bytes: u32) -> Vec<u128> {
    vec![0; (bytes as usize).div_ceil(16)]
}

/// What work-groups did that ran functionally in the middle of a launch.
#[derive(Debug)]
pub struct Part {
    /// Executions of blocks.
    pub counts: BlockCounts,
    /// How many there were of each class.
    pub shares: ClassShares,
}

impl Part {
    /// Adds what others did.
    pub fn add(&mut self, other: Part) {
        self.counts.add(&other.counts);
        self.shares.merge(other.shares);
        self.shares.coarsen();
    }
}

/// Runs some work-groups of a launch, one after the other. `touched`, if there is one, is told which lines of memory they
/// touch, as if so many of them as it says had run side by side: the first that each touched, then the second of each, and
/// so on.
///
/// # Errors
/// The first fault.
pub fn part<const N: usize>(
    run: Simulation,
    groups: Range<u64>,
    touched: Option<(u64, &mut dyn FnMut(Touch))>,
) -> Result<Part, Box<Fault>> {
    // In order, so that the caches are left the same each time.
    let options = Options { threads: 1, ..run.options.clone() };
    let memory = &run.machine.memory;
    let mut groups = WorkGroups::<N>::new(Simulation { options: &options, ..run }, groups);
    groups.observes = true;
    let (counts, shares) = match touched {
        Some((together, touched)) => {
            // No surface is in bounds for accesses on frequent paths: all are seen.
            groups.quiet_descriptors =
                run.launch.descriptors.iter().map(|d| Descriptor { bounds: (0, 0), ..d.clone() }).collect();
            let touches = RefCell::new(Touches::new(memory.line_bytes, memory.sector_bytes, together));
            let done = groups.work(Some(&touches), || touches.borrow_mut().end_group(&mut *touched));
            touches.borrow_mut().flush(&mut *touched);
            done
        }
        None => groups.work(None, || {}),
    };
    match groups.first_fault.into_inner().unwrap_or_else(|e| e.into_inner()) {
        Some((_, fault)) => Err(Box::new(fault)),
        None => Ok(Part { counts, shares }),
    }
}

/// What the host threads of a launch share.
struct WorkGroups<'a, const N: usize> {
    run: Simulation<'a>,
    interpreter: Interpreter<'a, N>,
    /// Behind the last work-group.
    end: u64,
    /// Whether it is wanted what each work-group executed.
    observes: bool,
    /// Warps of a work-group.
    warps: usize,
    /// Host threads.
    threads: usize,
    /// The descriptor table for accesses that checking mode need not watch; empty where there is none.
    quiet_descriptors: Vec<Descriptor>,
    /// First work-group that no thread has taken, and how many are taken at once at first; 1: always.
    next: AtomicU64,
    step: u64,
    /// Work-groups behind this one need not run, as it ended with a fault.
    stop: AtomicU64,
    /// The fault of the first work-group that had one.
    first_fault: Mutex<Option<(u64, Fault)>>,
    /// Work-groups that the machine holds at once.
    capacity: u64,
    /// Work-items may learn of others' writes other than at barriers.
    communicates: bool,
    /// How diverged lanes take turns, if they do.
    turns: Option<Arc<Plan>>,
    /// Which host threads cannot go on, and how many work-groups they have put aside.
    standstill: Standstill,
    aside: Aside,
}

/// How long one host thread works on a launch before others help.
const ALONE: Duration = Duration::from_micros(30);

/// By dimension: the local ids of the lanes of a warp whose first work-item is `first` of `items`. Lanes without a work-item
/// have the last one's.
fn local_ids<const N: usize>([sx, sy, _]: [u32; 3], first: u32, items: u32) -> [[u32; N]; 3] {
    let [mut xs, mut ys, mut zs] = [[0; N]; 3];
    // One division a warp.
    let start = first.min(items.saturating_sub(1));
    let (mut x, mut y, mut z) = (start % sx, start / sx % sy, start / (sx * sy));
    if x + N as u32 <= sx {
        return [std::array::from_fn(|lane| x + lane as u32), [y; N], [z; N]];
    }
    for (lane, of_lane) in xs.iter_mut().zip(&mut ys).zip(&mut zs).enumerate() {
        let ((to_x, to_y), to_z) = of_lane;
        (*to_x, *to_y, *to_z) = (x, y, z);
        if first + (lane as u32) + 1 < items {
            x += 1;
            if x == sx {
                (x, y) = (0, y + 1);
            }
            if y == sy {
                (y, z) = (0, z + 1);
            }
        }
    }
    [xs, ys, zs]
}

/// Runs a launch on one host thread and keeps L2 warm.
///
/// # Errors
/// The first fault.
pub(super) fn warming(run: Simulation, hierarchy: &mut Hierarchy) -> Result<Statistics, Box<Fault>> {
    let held = run.launch.residency(run.machine);
    let together = u64::from(held.groups.max(1)) * u64::from(run.machine.sm.count);
    let all = 0..run.launch.groups().iter().map(|g| u64::from(*g)).product();
    let ran = hierarchy
        .warm(run.memory, |touched| by_warp_size!(run.machine.warp_size, part(run, all.clone(), Some((together, touched)))))?;
    let warps = run.launch.local.iter().product::<u32>().div_ceil(run.machine.warp_size);
    let mut statistics = energy::count(run.launch.program, &ran.counts, run.machine);
    statistics.work_items = run.launch.global.iter().map(|g| u64::from(*g)).product();
    statistics.work_groups = all.end;
    statistics.warps = all.end * u64::from(warps);
    Ok(statistics)
}

fn of_warp_size<const N: usize>(run: Simulation) -> Result<Statistics, Box<Fault>> {
    let all: u64 = run.launch.groups().iter().map(|g| u64::from(*g)).product();
    let mut groups = WorkGroups::<N>::new(run, 0..all);
    // Who works alone has no use for others, and makes none.
    let kept = if groups.threads > 1 { heddle_threads::pool(groups.threads - 1) } else { None };
    if kept.is_none() {
        groups.threads = 1;
    }
    let started = Instant::now();
    let shared = &groups;
    let others = Mutex::new(BlockCounts::new(run.launch.program));
    let mut counts = match kept {
        None => shared.work(None, || {}).0,
        Some(pool) => pool.in_place_scope(|scope| {
            let mut alone = true;
            let (counts, _) = shared.work(None, || {
                if alone && started.elapsed() >= ALONE {
                    alone = false;
                    for _ in 1..shared.threads {
                        scope.spawn(|_| {
                            let (counts, _) = shared.work(None, || {});
                            others.lock().unwrap_or_else(|e| e.into_inner()).add(&counts);
                        });
                    }
                }
            });
            counts
        }),
    };
    counts.add(&others.into_inner().unwrap_or_else(|e| e.into_inner()));
    let (total, warps) = (all, groups.warps);
    let fault = groups.first_fault.into_inner().unwrap_or_else(|e| e.into_inner());
    let fault = fault.map(|(_, fault)| fault);
    let interrupted = fault.as_ref().is_some_and(|fault| run.options.keeps(fault));
    if let Some(fault) = fault.filter(|_| !interrupted) {
        return Err(Box::new(fault));
    }
    let mut statistics = energy::count(run.launch.program, &counts, run.machine);
    statistics.interrupted = interrupted.then(Interruption::default);
    statistics.work_items = run.launch.global.iter().map(|g| u64::from(*g)).product();
    statistics.work_groups = total;
    statistics.warps = total * warps as u64;
    Ok(statistics)
}

impl<'a, const N: usize> WorkGroups<'a, N> {
    /// Work-groups of a launch, none of which has begun.
    fn new(run: Simulation<'a>, groups: Range<u64>) -> Self {
        let Simulation { launch, memory, machine, options, .. } = run;
        let total = groups.end - groups.start;
        let communicates = launch.program.communicates();
        let held = launch.residency(machine);
        // Races are reported in the order of work-groups.
        let wanted = if options.check_races { 1 } else { options.threads };
        let threads = if wanted == 0 { host_threads() } else { wanted }.min(total.max(1) as usize);
        // All accesses of surfaces in memory that is not watched stay on their frequent paths.
        let surfaces = !launch.descriptors.is_empty();
        let quiet_descriptors = match Checker::new(launch, memory, options, N as u32).filter(|_| surfaces) {
            Some(checker) => launch.descriptors.iter().map(|d| checker.quiet_surface(d, memory)).collect(),
            None => Vec::new(),
        };
        WorkGroups {
            run,
            interpreter: Interpreter::new(launch.program, memory, decoded::<N>(launch.program)),
            end: groups.end,
            observes: false,
            warps: launch.local.iter().product::<u32>().div_ceil(N as u32) as usize,
            threads,
            quiet_descriptors,
            next: AtomicU64::new(groups.start),
            // Several groups a step keep the counter cold when groups are short. Where they may wait for each other, they
            // begin in their order, as on the machine.
            step: if launch.program.learns() { 1 } else { (total / (threads as u64 * 64)).clamp(1, 64) },
            stop: AtomicU64::new(u64::MAX),
            first_fault: Mutex::new(None),
            capacity: u64::from(held.most.max(held.groups).max(1)) * u64::from(machine.sm.count.max(1)),
            communicates,
            turns: Plan::new(&run),
            standstill: Standstill::default(),
            aside: Aside::default(),
        }
    }
}

/// Blocks for which a warp is watched that may make no progress: loops that wait are shorter.
const WATCHED_BLOCKS: u32 = 4096;

/// Runs warps, one instruction after the other.
struct Interpreter<'a, const N: usize> {
    program: &'a Program,
    /// What the host lends is in it.
    memory: &'a DeviceMemory,
    code: Arc<Vec<Decoded<N>>>,
    /// The program reads special registers that change while a warp runs.
    refreshes: bool,
}

impl<'a, const N: usize> Interpreter<'a, N> {
    fn new(program: &'a Program, memory: &'a DeviceMemory, code: Arc<Vec<Decoded<N>>>) -> Self {
        let changes = |s: Special| matches!(s, Special::ExecLow | Special::ExecHigh | Special::ClockLow);
        let refreshes = program.rows.specials.iter().any(|(s, _)| changes(*s));
        Interpreter { program, memory, code, refreshes }
    }

    /// Runs a warp until it waits, ends or faults, from instruction `from` of its block on; if that is not 0,
    /// the block has been counted.
    fn run(&self, warp: &mut Warp<N>, counts: &mut BlockCounts, budget: &mut Budget, from: u32) {
        warp.lanes.mask = warp.control.mask;
        let mut from = from as usize;
        loop {
            let pc = warp.control.pc as usize;
            let block = &self.program.blocks[pc];
            if from == 0 {
                counts.executions[pc] += 1;
                counts.lanes[pc] += u64::from(warp.lanes.mask.count_ones());
            }
            if self.refreshes {
                warp.lanes.refresh(self.program);
            }
            let first = block.first as usize;
            self.run_body(warp, block, &self.code[first + std::mem::take(&mut from)..first + block.body as usize]);
            if warp.lanes.fault.is_some() {
                return;
            }
            let length = u64::from(block.len());
            warp.lanes.clock += length;
            match budget.left.checked_sub(length) {
                Some(left) => budget.left = left,
                None => {
                    warp.end_portion(block, budget, &mut counts.splits);
                    return;
                }
            }
            if !warp.end_block(block.end, block.first + block.body, &mut counts.splits) {
                return;
            }
        }
    }

    /// Runs a warp for some blocks while it is watched, at no cost to its budget. Returns whether it waits for others to change
    /// memory: then it is where it was when that was found.
    fn run_watched(&self, warp: &mut Warp<N>, counts: &mut BlockCounts, watch: &mut WarpWatch<N>) -> bool {
        warp.lanes.mask = warp.control.mask;
        for _ in 0..WATCHED_BLOCKS {
            if watch.at_block(self.program, (&warp.control, warp.turns.as_deref()), &mut warp.lanes) {
                return !watch.host_may_end(self.program, &warp.lanes, self.memory);
            }
            let pc = warp.control.pc as usize;
            let block = &self.program.blocks[pc];
            counts.executions[pc] += 1;
            counts.lanes[pc] += u64::from(warp.lanes.mask.count_ones());
            if self.refreshes {
                warp.lanes.refresh(self.program);
            }
            self.run_body(warp, block, &self.code[block.first as usize..(block.first + block.body) as usize]);
            warp.lanes.clock += u64::from(block.len());
            if warp.lanes.fault.is_some() || !warp.end_block(block.end, block.first + block.body, &mut counts.splits) {
                return false;
            }
        }
        false
    }

    /// Runs instructions of a block but the one that ends it.
    #[inline(always)]
    fn run_body(&self, warp: &mut Warp<N>, block: &BasicBlock, body: &[Decoded<N>]) {
        if warp.lanes.checker.is_none() && !warp.lanes.is_observed() {
            for d in body {
                (d.run)(&mut warp.lanes, d);
            }
            return;
        }
        for d in body {
            if !warp.lanes.undefined.is_empty() {
                undefined::observe(&mut warp.lanes, d, &self.program.insts[d.index as usize]);
            }
            if warp.lanes.is_observed() {
                warp.lanes.observe(d, self.program);
            }
            (d.run)(&mut warp.lanes, d);
        }
        if !warp.lanes.undefined.is_empty() {
            undefined::observe_end(&mut warp.lanes, block.end, block.first + block.body);
        }
        if block.end != End::Fall {
            warp.lanes.observe_end(block.end, block.first + block.body, self.program);
        }
    }
}

/// Runs a warp in the interpreter, for tests of other ways to run it. Special registers are refreshed in any case.
#[cfg(all(test, feature = "jit"))]
pub fn run_interpreted<const N: usize>(
    warp: &mut Warp<N>,
    program: &Program,
    code: &[Decoded<N>],
    counts: &mut BlockCounts,
    budget: &mut Budget,
) {
    let memory = DeviceMemory::new(0);
    let interpreter = Interpreter { refreshes: true, ..Interpreter::new(program, &memory, Arc::new(code.to_vec())) };
    interpreter.run(warp, counts, budget, 0);
}
