//! One SM: its resident warps, which of them issue in a cycle, and what it counts.
//!
//! Warps are numbered by age (*rank*), so that sets of them are bit masks in the order in which they may issue. A warp's next instruction has a cycle from
//! which its operands are there and a port it issues through; both are known when it becomes the next one. The SM looks at its warps only
//! in cycles in which one of them may issue: when the operands of one arrive, or when a port that stopped one is free again.
//!
//! A warp whose next instruction waits for an answer of the levels that all SMs share is *parked*: nobody knows yet when it may issue, only that it is not
//! before the SMs stop to hear ([`super::rounds`]). When that is also the next thing to happen, the last cycle looked at stays
//! open: where it ends, and what the warps waited for in the meantime, is known after the answers.

mod counters;
mod renaming;
mod slot;
mod waiting;

use super::super::exec::Decoded;
use super::super::fault::{Fault, FaultKind};
use super::super::functional::{BlockCounts, GroupPlace, Warp, local_memory};
use super::super::hierarchy::cluster_caches::ClusterCaches;
use super::super::hierarchy::deferred::PENDING;
use super::super::program::End;
use super::super::residency::Admission;
use super::super::statistics::{Forms, HostState, InstructionProfile, Stalls};
use super::super::trace::{Cause, Recorder};
use super::super::{DeviceMemory, Launch, Options};
use super::set::Set;
use super::statics::{FIRST_UNIT, Position, SCALAR, Statics, UNITS};
use super::wheel::Wheel;
pub(super) use counters::multiply_out;
use counters::{Counters, count_latency};
use heddle_target::Machine;
use slot::Slot;
use std::cell::RefCell;
pub(super) use waiting::sm_of;
use waiting::{Late, token};

/// Warps that an SM's numbering of private memories has room for: the machine description's limit.
const SLOTS: usize = 256;
/// The first port of a cluster's unit.
const FIRST_PORT: usize = FIRST_UNIT as usize;

/// What all SMs share during a launch.
pub(super) struct Common<'a, const N: usize> {
    pub launch: &'a Launch<'a>,
    pub memory: &'a DeviceMemory,
    pub machine: &'a Machine,
    pub options: &'a Options,
    pub code: Vec<Decoded<N>>,
    pub statics: Statics,
    /// Of the run-time scalarizer (S7).
    pub threshold: u32,
    /// Lines that a lane of a load touches at most.
    pub parts: usize,
    /// Warps of a work-group.
    pub warps: usize,
    /// Shared registers that a work-group needs at once at most.
    pub group_demand: u32,
    /// Fixed registers of a work-group; 0 without renaming.
    pub group_fixed: u32,
    /// Registers of an SM; 0 without renaming.
    pub pool: u32,
}

/// A resident work-group.
struct Group {
    place: GroupPlace,
    local: Vec<u128>,
    live_warps: u32,
    waiting: u32,
    executed: u64,
    /// Shared registers that its warps hold.
    held: u32,
    used: bool,
}

/// A cycle that is being looked at, or whose end is open.
#[derive(Clone, Copy)]
struct Step<const W: usize> {
    /// Warps that may still issue in it.
    open: Set<W>,
    /// Those that issued in the cycle before, and the others.
    greedy: Set<W>,
    others: Set<W>,
    blocked_until: u64,
    starving: bool,
    scalar_slots: u32,
    ended: u32,
}

/// How far a cycle came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Progress {
    /// All warps have issued that could. How many work-groups ended.
    Done(u32),
    /// The next issue needs the levels below to answer at once.
    NeedsDirect,
}

/// What an SM does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// Comes to its next cycle.
    Between,
    /// Is in a cycle.
    Within,
    /// The end of a cycle is open.
    Open,
}

/// On which unit an instruction runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
enum Form {
    /// Decided by the compiler (or control).
    #[default]
    Static,
    /// Run-time scalarizer: one active lane.
    OneLane,
    /// Run-time scalarizer: few active lanes with the same operands.
    FewLanes,
    /// All active lanes have the same operands, but nothing makes use of it.
    Missed,
    /// One result a lane.
    Vector,
}

impl Form {
    fn is_scalarised(self) -> bool {
        matches!(self, Form::OneLane | Form::FewLanes)
    }
}

/// An SM of up to 64 × W warps of N lanes.
pub(super) struct Sm<'a, const N: usize, const W: usize> {
    pub number: usize,
    near: &'a RefCell<ClusterCaches>,
    /// The cycle looked at last, while it is open; else the next one in which a warp may issue.
    pub time: u64,
    phase: Phase,
    step: Step<W>,
    late: Vec<Option<Late<N>>>,
    late_free: Vec<usize>,
    pub counters: Counters,
    pub admission: Admission,
    slots: Vec<Slot>,
    /// Of each slot: the warp.
    warps: Vec<Warp<'a, N>>,
    /// When each row of each slot's warp is ready, times two, and 1 if memory is what it waits for; [`PENDING`] if nobody knows.
    scoreboard: Vec<u64>,
    groups: Vec<Group>,
    /// Resident work-groups, oldest first.
    order: Vec<usize>,
    /// Slot of each rank.
    slot_of: Vec<u16>,
    /// When warps that are not `ready` may issue by their operands.
    wheel: Wheel<W>,
    /// By rank: port of the next instruction.
    port: Vec<u8>,
    /// Warps by the port of their next instruction, if it is known.
    at_port: Vec<Set<W>>,
    /// The next instruction asks the memory hierarchy for an answer.
    asking: Set<W>,
    /// Not ended.
    live: Set<W>,
    /// At a barrier.
    waiting: Set<W>,
    /// The next instruction may issue by its operands.
    ready: Set<W>,
    /// Otherwise, it waits for its fetch.
    fetching: Set<W>,
    /// Otherwise, it waits for memory.
    loading: Set<W>,
    /// The next instruction waits for shared registers.
    starved: Set<W>,
    /// Nobody knows when the next instruction may issue.
    parked: Set<W>,
    /// Issued in the cycle in which it was parked.
    parked_late: Set<W>,
    /// Issued in the last cycle looked at, and so far in the one that is being looked at.
    last: Set<W>,
    issued: Set<W>,
    /// When each unit is free, by port.
    units: Vec<u64>,
    /// Registers free: neither a resident warp's fixed ones nor mapped.
    pub free: u32,
    /// What is recorded, if anything.
    pub recorder: Option<Box<Recorder>>,
}

impl<'a, const N: usize, const W: usize> Sm<'a, N, W> {
    /// An SM without work.
    pub fn new(number: usize, near: &'a RefCell<ClusterCaches>, common: &Common<'a, N>, resident: u32) -> Self {
        let (program, machine) = (common.launch.program, common.machine);
        let clusters = machine.clusters.len();
        let ports = usize::from(FIRST_UNIT) + UNITS * clusters;
        let mut blocks = BlockCounts::new(program);
        blocks.saved_lanes = vec![0; program.insts.len()];
        Sm {
            number,
            near,
            time: 0,
            phase: Phase::Between,
            step: Step {
                open: Set::EMPTY,
                greedy: Set::EMPTY,
                others: Set::EMPTY,
                blocked_until: 0,
                starving: false,
                scalar_slots: 0,
                ended: 0,
            },
            late: Vec::new(),
            late_free: Vec::new(),
            counters: Counters {
                blocks,
                profile: vec![InstructionProfile::default(); program.insts.len()],
                cycles: vec![0; program.insts.len()],
                stalls: Stalls::default(),
                forms: Forms::default(),
                scalarised: vec![0; program.insts.len()],
                sectors: [None; 8],
                latencies: [0; 16],
                resident_warps: 0,
                peak: 0,
                histogram: [0; 11],
                occupied: 0,
            },
            admission: Admission::new(resident, common.pool, machine),
            slots: Vec::new(),
            warps: Vec::new(),
            scoreboard: Vec::new(),
            groups: Vec::new(),
            order: Vec::new(),
            slot_of: Vec::new(),
            wheel: Wheel::new(),
            port: vec![0; 64 * W],
            at_port: vec![Set::EMPTY; ports],
            asking: Set::EMPTY,
            live: Set::EMPTY,
            waiting: Set::EMPTY,
            ready: Set::EMPTY,
            fetching: Set::EMPTY,
            loading: Set::EMPTY,
            starved: Set::EMPTY,
            parked: Set::EMPTY,
            parked_late: Set::EMPTY,
            last: Set::EMPTY,
            issued: Set::EMPTY,
            units: vec![0; ports],
            free: common.pool,
            recorder: Recorder::for_sm(common.options.record, machine, program.insts.len()),
        }
    }

    /// Host memory for the state of warps, without loads on their way (how many of those there are at once depends on the host's threads).
    pub fn host_state(&self) -> HostState {
        let warp = |w: &Warp<'a, N>| {
            let own = size_of::<Slot>() + size_of::<Warp<'a, N>>();
            own + size_of_val(&w.lanes.rows[..]) + size_of_val(&w.lanes.private[..])
        };
        let group = |g: &Group| size_of::<Group>() + size_of_val(&g.local[..]);
        let sets = size_of_val(&self.at_port[..]) + self.wheel.heap_bytes();
        let ranks = size_of_val(&self.port[..]) + size_of_val(&self.slot_of[..]);
        let slots = self.warps.iter().map(warp).sum::<usize>() + size_of_val(&self.scoreboard[..]);
        let groups: usize = self.groups.iter().map(group).sum();
        let bytes = size_of::<Self>() + slots + groups + sets + ranks + size_of_val(&self.units[..]);
        HostState { bytes: bytes as u64, work_items: (self.slots.len() * N) as u64 }
    }

    /// Work-groups resident.
    pub fn resident_groups(&self) -> u32 {
        self.order.len() as u32
    }

    /// Makes work-group `number` resident.
    pub fn dispatch(&mut self, c: &Common<'a, N>, number: u64) {
        let id = c.launch.group_id(number);
        let place = GroupPlace { id, size: c.launch.group_size(id) };
        self.free -= c.group_fixed;
        let live = place.size.iter().product::<u32>().div_ceil(N as u32);
        let index = match self.groups.iter().position(|g| !g.used) {
            Some(i) => i,
            None => {
                let local = local_memory(c.launch.local_bytes);
                self.groups.push(Group { place, local, live_warps: 0, waiting: 0, executed: 0, held: 0, used: false });
                self.groups.len() - 1
            }
        };
        self.order.push(index);
        let group = &mut self.groups[index];
        (group.place, group.live_warps, group.used) = (place, live, true);
        (group.waiting, group.executed, group.held) = (0, 0, 0);
        group.local.fill(0);
        let local = group.local.as_mut_ptr().cast::<u8>();
        self.close_ranks();
        let mut free: Vec<usize> = (0..self.slots.len()).filter(|s| self.warps[*s].control.done()).collect();
        for w in 0..live.min(c.warps as u32) {
            let s = free.pop().unwrap_or_else(|| self.add_slot(c));
            let rank = self.slot_of.len();
            self.slot_of.push(s as u16);
            self.live.insert(rank);
            let (slot, warp) = (&mut self.slots[s], &mut self.warps[s]);
            warp.start(c.launch, place, w, local);
            warp.lanes.mask = warp.control.mask;
            let rows = c.statics.scoreboard;
            self.scoreboard[s * rows..(s + 1) * rows].fill(0);
            *slot = Slot { group: index, rank, issued_at: self.time, generation: slot.generation + 1, ..Slot::default() };
            enter_block(&mut self.counters.blocks, c, slot, warp);
            if let Some(recorder) = &mut self.recorder {
                recorder.start(s, number, w, self.time);
            }
            self.prepare_next(c, s, self.time);
        }
    }

    /// Makes room for one more warp; returns its slot.
    fn add_slot(&mut self, c: &Common<'a, N>) -> usize {
        let s = self.slots.len();
        let mut warp = Warp::new(c.launch, c.memory, c.options);
        warp.lanes.local_banks = c.machine.memory.local_banks;
        warp.lanes.hierarchy = Some(self.near);
        warp.lanes.sm = self.number;
        // Private memory is the hierarchy's.
        warp.lanes.private = Vec::new();
        let number = (self.number * SLOTS + s) as u64;
        warp.lanes.private_base = number * u64::from(warp.lanes.private_bytes) * N as u64;
        self.warps.push(warp);
        self.slots.push(Slot::default());
        self.scoreboard.resize((s + 1) * c.statics.scoreboard, 0);
        s
    }

    /// Gives the ranks of ended warps to younger ones.
    fn close_ranks(&mut self) {
        let old: Vec<usize> = self.live.iter().collect();
        let move_set = |set: &mut Set<W>| *set = set.renumbered(&old);
        let wakeful = [&mut self.ready, &mut self.parked, &mut self.parked_late, &mut self.waiting, &mut self.last];
        wakeful.into_iter().chain([&mut self.fetching, &mut self.loading, &mut self.starved]).for_each(move_set);
        self.at_port.iter_mut().chain([&mut self.asking]).for_each(move_set);
        self.wheel.renumber(&old);
        move_set(&mut self.live);
        for (new, old) in old.iter().enumerate() {
            self.slot_of[new] = self.slot_of[*old];
            self.port[new] = self.port[*old];
            self.slots[usize::from(self.slot_of[new])].rank = new;
        }
        self.slot_of.truncate(old.len());
        self.port[old.len()..].fill(0);
    }

    /// Looks at a cycle. Unless the levels below answer at once (`direct`), it may stop where they must, to be continued.
    ///
    /// # Errors
    /// The fault of an instruction.
    pub fn cycle(&mut self, c: &Common<'a, N>, direct: bool) -> Result<Progress, Box<Fault>> {
        let now = self.time;
        if self.phase == Phase::Between {
            self.begin_cycle(c);
        }
        let mut step = self.step;
        // Greedy then oldest: those that issued last, then the others.
        for (some, behind) in [(step.greedy, step.others), (step.others, Set::EMPTY)] {
            while let Some(rank) = (step.open & some).first() {
                step.open.remove(rank);
                let port = usize::from(self.port[rank]);
                if port >= FIRST_PORT && self.units[port] > now {
                    step.blocked_until = step.blocked_until.min(self.units[port]);
                    step.open = step.open - self.at_port[port];
                    continue;
                }
                if c.pool > 0 {
                    let starves = !self.registers_free(c, rank);
                    self.starved.set(rank, starves);
                    if starves {
                        step.starving = true;
                        continue;
                    }
                }
                if !direct && self.asking.contains(rank) && self.needs_direct(c, rank) {
                    step.open.insert(rank);
                    self.step = step;
                    return Ok(Progress::NeedsDirect);
                }
                // Whom this issue stops until the next cycle.
                let stopped = if port >= FIRST_PORT {
                    self.at_cluster(port)
                } else if port == usize::from(SCALAR) {
                    step.scalar_slots -= 1;
                    if step.scalar_slots > 0 { Set::EMPTY } else { self.at_port[port] }
                } else {
                    self.at_port[port]
                };
                if !(stopped & (some.above(rank) | behind)).is_empty() {
                    step.blocked_until = now + 1;
                }
                step.open = step.open - stopped;
                self.issued.insert(rank);
                self.at_port[port].remove(rank);
                step.ended += self.issue(c, rank, now)?;
            }
        }
        self.step = step;
        self.last = self.issued;
        self.phase = Phase::Open;
        Ok(Progress::Done(step.ended))
    }

    /// Warps whose next instruction takes any port of the same cluster.
    #[inline(always)]
    fn at_cluster(&self, port: usize) -> Set<W> {
        let first = port - (port - FIRST_PORT) % UNITS;
        self.at_port[first..first + UNITS].iter().fold(Set::EMPTY, |all, at| all | *at)
    }

    fn begin_cycle(&mut self, c: &Common<'a, N>) {
        let now = self.time;
        self.ready = self.ready | self.wheel.take(now);
        let ready = self.ready;
        self.phase = Phase::Within;
        self.issued = Set::EMPTY;
        self.step = Step {
            open: ready,
            greedy: ready & self.last,
            others: ready - self.last,
            blocked_until: u64::MAX,
            starving: false,
            scalar_slots: c.machine.sm.scalar_issue,
            ended: 0,
        };
        let scalar = self.at_port[usize::from(SCALAR)];
        if self.step.scalar_slots == 0 && !(ready & scalar).is_empty() {
            self.step.blocked_until = now + 1;
            self.step.open = ready - scalar;
        }
    }

    /// Ends the open cycle: skips to the next one in which something can happen. Not if that may depend on what the SM does not
    /// know, and is not before `until`.
    pub fn close(&mut self, c: &Common<'a, N>, until: u64) -> bool {
        if self.phase != Phase::Open {
            return true;
        }
        let Step { blocked_until, starving, .. } = self.step;
        let (issued, now) = (self.issued, self.time);
        // Ready warps go on when their unit is free, or when an issue may have released registers.
        let mut next = self.wheel.least().min(blocked_until);
        let parked = !(self.parked - self.waiting).is_empty();
        if starving && !issued.is_empty() || next == u64::MAX && !parked {
            next = now + 1;
        }
        if parked && next > now + 1 && next >= until {
            return false;
        }
        self.attribute(c, issued, next - now, starving);
        self.time = next;
        self.phase = Phase::Between;
        true
    }

    /// Whether the end of the cycle looked at last is open.
    pub fn is_open(&self) -> bool {
        self.phase == Phase::Open
    }

    /// Attributes the warps' empty issue slots of some cycles, in the first of which the warps of `issued` did issue.
    fn attribute(&mut self, c: &Common<'a, N>, issued: Set<W>, cycles: u64, starving: bool) {
        let live = self.live;
        let stopped = (live & self.ready) - self.waiting;
        let pending = live - self.waiting - self.ready - self.parked;
        let lost = |set: Set<W>| cycles * set.count() - (set & issued).count();
        let stalls = &mut self.counters.stalls;
        if !self.waiting.is_empty() {
            stalls.barrier += lost(live & self.waiting);
        }
        if c.pool > 0 {
            stalls.rename += lost(stopped & self.starved);
        }
        stalls.unit += lost(stopped - self.starved);
        stalls.fetch += lost(pending & self.fetching);
        let operands = pending - self.fetching;
        stalls.memory += lost(operands & self.loading);
        stalls.dependence += lost(operands - self.loading);
        if let Some(recorder) = &mut self.recorder {
            let causes = [
                (Cause::Barrier, live & self.waiting),
                (Cause::Rename, stopped & self.starved),
                (Cause::Unit, stopped - self.starved),
                (Cause::Fetch, pending & self.fetching),
                (Cause::Memory, operands & self.loading),
                (Cause::Dependence, operands - self.loading),
            ];
            for (cause, set) in causes {
                for rank in set.iter() {
                    let from = self.time + u64::from(issued.contains(rank));
                    recorder.stall(usize::from(self.slot_of[rank]), cause, from, self.time + cycles);
                }
            }
        }
        if c.pool > 0 {
            self.admission.observe(self.free, if starving { cycles } else { 0 });
            let counters = &mut self.counters;
            counters.resident_warps = counters.resident_warps.max((self.order.len() * c.warps) as u64);
            let used = u64::from(c.pool - self.free);
            counters.peak = counters.peak.max(used);
            counters.histogram[(used * 10 / u64::from(c.pool)) as usize] += cycles;
        }
        self.counters.occupied += live.count() * cycles;
    }

    /// Issues the next instruction of a warp. Returns 1 if its work-group ended.
    fn issue(&mut self, c: &Common<'a, N>, rank: usize, now: u64) -> Result<u32, Box<Fault>> {
        let s = usize::from(self.slot_of[rank]);
        let slot = &mut self.slots[s];
        let index = slot.pc as usize;
        let st = &c.statics.insts[index];
        self.ready.remove(rank);
        self.counters.cycles[index] += now - slot.issued_at;
        slot.issued_at = now;
        let group = &mut self.groups[slot.group];
        group.executed += 1;
        let runaway = group.executed > c.options.max_instructions;
        let on_scalar_unit = st.scalar || slot.is_scalarised();
        if slot.pc >= slot.ahead || st.position != Position::Inside || runaway || c.pool > 0 || self.recorder.is_some() {
            return self.issue_any(c, s, now, on_scalar_unit, runaway);
        }
        // It has been executed already.
        if !on_scalar_unit && !st.control {
            self.units[usize::from(st.port)] = now + u64::from(st.interval);
        }
        let ready = (now + u64::from(if on_scalar_unit { st.scalar_latency } else { st.latency })) << 1;
        let scoreboard = &mut self.scoreboard[s * c.statics.scoreboard..(s + 1) * c.statics.scoreboard];
        for row in c.statics.writes(st) {
            scoreboard[usize::from(*row)] = ready;
        }
        slot.pc += 1;
        self.prepare_next(c, s, now + 1);
        Ok(0)
    }

    /// Issues an instruction of any kind. Returns 1 if the work-group ended.
    fn issue_any(
        &mut self,
        c: &Common<'a, N>,
        s: usize,
        now: u64,
        on_scalar_unit: bool,
        runaway: bool,
    ) -> Result<u32, Box<Fault>> {
        let program = c.launch.program;
        let (slot, warp) = (&mut self.slots[s], &mut self.warps[s]);
        let (g, rank) = (slot.group, slot.rank);
        let index = slot.pc as usize;
        let st = &c.statics.insts[index];
        let exec = warp.control.mask;
        warp.lanes.clock = now;
        if runaway {
            let limit = c.options.max_instructions;
            warp.lanes.fault = Some((FaultKind::Runaway { limit }, index as u32, exec.trailing_zeros()));
        }
        let mut latency = u64::from(if on_scalar_unit { st.scalar_latency } else { st.latency });
        let counters = &mut self.counters;
        let clusters = c.machine.clusters.len();
        let unit = if on_scalar_unit {
            clusters
        } else if st.control {
            clusters + 1
        } else {
            usize::from(st.cluster)
        };
        let (lanes, splits) = (exec.count_ones(), counters.blocks.splits);
        let mut pending = false;
        let at_end = st.position == Position::Ends;
        if !at_end {
            (warp.lanes.access, warp.lanes.late) = (None, None);
            if slot.pc >= slot.ahead {
                if c.statics.refreshes {
                    warp.lanes.refresh(program);
                }
                self.near.borrow_mut().deferred.now = (now, self.number as u32);
                let d = &c.code[index];
                (d.run)(&mut warp.lanes, d);
            }
            let mut busy = u64::from(st.interval);
            if let Some(access) = warp.lanes.access {
                let extra = u64::from(access.units.saturating_sub(1));
                match access.done {
                    None => {
                        busy += extra;
                        latency += extra;
                    }
                    Some(done) => {
                        let waits = done.ready.saturating_sub(now);
                        busy += u64::from(done.busy.saturating_sub(1));
                        latency += waits;
                        *counters.sectors[access.space as usize & 7].get_or_insert(0) += u64::from(access.units);
                        let profile = &mut counters.profile[index];
                        profile.sectors += u64::from(done.sectors);
                        profile.lines += u64::from(done.lines);
                        profile.hits += u64::from(done.hits);
                        profile.far += u64::from(done.far);
                        if let Some(recorder) = &mut self.recorder {
                            recorder.memory(now, &done);
                        }
                        if waits > 0 && !done.pending {
                            count_latency(counters, index, latency);
                        }
                    }
                }
            }
            if !on_scalar_unit && !st.control {
                self.units[usize::from(st.port)] = now + busy;
            }
            let mut ready = (now + latency) << 1 | u64::from(st.from_memory);
            if let Some(late) = warp.lanes.late {
                ready = PENDING;
                let (finish, mask) = (late.finish, late.mask);
                // What the hierarchy adds is not known.
                let latency = u64::from(if on_scalar_unit { st.scalar_latency } else { st.latency });
                pending = true;
                slot.loads += 1;
                let late = Late { slot: s, generation: slot.generation, index, now, latency, finish, mask, lanes, unit };
                let place = self.late_free.pop().unwrap_or_else(|| {
                    self.late.push(None);
                    self.late.len() - 1
                });
                self.late[place] = Some(late);
                self.near.borrow_mut().wait_for_load(token(self.number, place));
            }
            let first = s * c.statics.scoreboard;
            for row in c.statics.writes(st) {
                self.scoreboard[first + usize::from(*row)] = ready;
            }
            slot.pc += 1;
            if st.position == Position::Falls {
                warp.end_block(End::Fall, index as u32, &mut counters.blocks.splits);
                enter_block(&mut counters.blocks, c, slot, warp);
            }
        } else {
            let end = program.blocks[warp.control.pc as usize].end;
            let goes_on = warp.end_block(end, index as u32, &mut counters.blocks.splits);
            if goes_on || warp.waiting {
                warp.lanes.mask = warp.control.mask;
                enter_block(&mut counters.blocks, c, slot, warp);
            }
        }
        if st.position != Position::Inside {
            // Empty blocks only fall through.
            while !warp.control.done() && program.blocks[warp.control.pc as usize].is_empty() {
                warp.end_block(End::Fall, index as u32, &mut counters.blocks.splits);
                enter_block(&mut counters.blocks, c, slot, warp);
            }
        }
        let done = warp.control.done();
        if let Some(recorder) = &mut self.recorder {
            let splits = counters.blocks.splits - splits;
            if pending {
                recorder.split(index, splits);
            } else {
                recorder.issue(s, index, lanes, unit, now, now + latency, splits);
            }
            if done {
                recorder.end(s, now + 1);
            }
        }
        if c.pool > 0 {
            if st.renames {
                self.rename(c, s, index);
            }
            if done {
                self.give_back(c, s, index);
            }
        }
        let warp = &self.warps[s];
        if warp.lanes.fault.is_some() {
            if let Some(fault) = warp.fault(c.launch, self.groups[g].place) {
                return Err(Box::new(fault));
            }
        }
        let waiting = warp.waiting;
        self.slots[s].waiting = waiting;
        if done {
            self.live.remove(rank);
            self.groups[g].live_warps -= 1;
        } else {
            // A branch delays the warp's next instruction; everything else only who needs the result.
            let next = now + if at_end { latency.max(1) } else { 1 };
            self.prepare_next(c, s, next);
            if waiting {
                self.waiting.insert(rank);
                self.groups[g].waiting += 1;
            }
        }
        if done || waiting {
            return Ok(self.arrive(c, g, now));
        }
        Ok(0)
    }

    /// A warp of a group has ended or come to a barrier: the group may end, or all its warps go on. Returns 1 if it ended.
    fn arrive(&mut self, c: &Common<'a, N>, g: usize, now: u64) -> u32 {
        let group = &mut self.groups[g];
        if group.live_warps == 0 {
            group.used = false;
            self.free += c.group_fixed;
            self.order.retain(|o| *o != g);
            return 1;
        }
        if group.waiting == group.live_warps {
            group.waiting = 0;
            for rank in self.waiting.iter() {
                let s = usize::from(self.slot_of[rank]);
                let slot = &mut self.slots[s];
                if slot.group == g {
                    (self.warps[s].waiting, slot.waiting) = (false, false);
                    slot.released = now + 1;
                    slot.next = slot.next.max(now + 1);
                    let next = slot.next;
                    self.waiting.remove(rank);
                    if self.parked.contains(rank) {
                        self.park(s);
                    } else {
                        self.wheel.add(rank, next);
                    }
                }
            }
        }
        0
    }
}

/// Counts the entry of the warp's current block.
fn enter_block<const N: usize>(counts: &mut BlockCounts, c: &Common<'_, N>, slot: &mut Slot, warp: &Warp<'_, N>) {
    let b = warp.control.pc as usize;
    counts.executions[b] += 1;
    counts.lanes[b] += u64::from(warp.control.mask.count_ones());
    slot.pc = c.launch.program.blocks[b].first;
    (slot.first, slot.ahead) = (slot.pc, slot.pc);
}
