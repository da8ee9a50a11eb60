//! One SM: its resident warps, which of them issue in a cycle, and what it counts.
//!
//! Warps are numbered by age (*rank*), so that sets of them are bit masks in the order in which they may
//! issue. A warp's next instruction has a cycle from which its operands are there and a port it issues
//! through; both are known when it becomes the next one. The SM looks at its warps only in cycles in which
//! one of them may issue: when the operands of one arrive, or when a port that stopped one is free again.
//!
//! A warp whose next instruction waits for an answer of the levels that all SMs share is *parked*: nobody
//! knows yet when it may issue, only that it is not before the SMs stop to hear ([`super::rounds`]). When
//! that is also the next thing to happen, the last cycle looked at stays open: where it ends, and what the
//! warps waited for in the meantime, is known after the answers.
//!
//! Parts: `groups` (work-groups and barriers), `warp_slots` and `slot` (where warps stand), `warp_states`
//! (what they wait for), `scheduler` (in which order they are asked, who is active), `front_end` (fetch, execution ahead of issue), `scoreboard`, `ports`, `main_file` (banks, operand collection), `issue`,
//! `load_queue` and `loads` (bytes that come late), `renaming` (shared registers), `stalls` (whose fault an
//! empty issue slot is), `standstill` (whether warps still make progress), `counters`.

mod counters;
mod front_end;
mod groups;
mod issue;
mod load_queue;
mod loads;
mod main_file;
mod ports;
mod renaming;
mod scheduler;
mod scoreboard;
mod slot;
mod stalls;
mod standstill;
mod warp_slots;
mod warp_states;

use super::super::Simulation;
use super::super::exec::Decoded;
use super::super::exec::scalar_lanes::ScalarLanes;
use super::super::exec::strands::Lost;
use super::super::fault::Fault;
use super::super::functional::{BlockCounts, GroupPlace, Warp};
use super::super::hierarchy::cluster_caches::ClusterCaches;
use super::super::perturbation::Perturbation;
use super::super::statistics::HostState;
use super::super::trace::Recorder;
use super::super::turns::{Plan, Turns};
use super::port_plan::{Port, PortKind, PortPlan};
use super::sampling::Sampler;
use super::statics::{CONTROL, SCALAR, Statics};
use super::warp_set::{ByRank, WarpSet};
use super::wheel::Wheel;
use counters::Counters;
pub(super) use counters::Totals;
use groups::ResidentGroups;
use load_queue::LoadQueue;
pub(super) use load_queue::sm_of;
pub(super) use loads::PREFETCHES;
use loads::{PATHS, Wait, WaitingLoads};
use main_file::MainFileState;
use ports::IssuePorts;
use renaming::RegisterPool;
use scheduler::{CycleSlots, Schedulers};
use scoreboard::Scoreboard;
pub(super) use scoreboard::Source;
use slot::Slot;
use standstill::Progress;
pub(super) use standstill::Waiting;
use std::cell::RefCell;
use std::sync::Arc;
use warp_slots::WarpSlots;
use warp_states::WarpStates;

/// Warps that an SM's numbering of private memories has room for: the machine description's limit.
const SLOTS: usize = 256;

/// A launch as the SMs see it: the same for all, and constant.
pub(super) struct LaunchContext<'a, const N: usize> {
    /// The launch and what it runs on.
    pub run: Simulation<'a>,
    /// The program's instructions, ready to be executed.
    pub code: Vec<Decoded<N>>,
    /// What the timing model knows of each of them.
    pub statics: Statics,
    /// Through which ports they issue.
    pub ports: PortPlan,
    /// The run-time scalarizer (S7) looks at instructions with at most this many active lanes; 0: at none.
    pub threshold: u32,
    /// How often lines are looked up for a lane of a load at most.
    pub lines_per_lane: usize,
    /// DRAM chooses among requests (FR-FCFS).
    pub chooses: bool,
    /// Random delays of work-groups.
    pub perturbation: Perturbation,
    /// How diverged lanes take turns, if they do.
    pub turns: Option<Arc<Plan>>,
    /// Work-groups.
    pub groups: GroupPlan,
    /// Which of them are timed, if not all.
    pub sampler: Option<Sampler>,
}

/// What decides how many work-groups and warps an SM holds.
pub(super) struct GroupPlan {
    /// Work-groups of the launch.
    pub total: u64,
    /// Work-groups that an SM holds at launch.
    pub resident: u32,
    /// Where registers are renamed: work-groups that an SM holds at most.
    pub most: Option<u32>,
    /// Warps of a work-group.
    pub warps: usize,
    /// Shared registers that a work-group needs at once at most.
    pub demand: u32,
    /// Fixed registers of a work-group; 0 without renaming.
    pub fixed: u32,
    /// Registers of an SM; 0 without renaming.
    pub pool: u32,
}

/// The candidates for issue of the cycle that is being looked at, or whose end is open.
#[derive(Clone, Copy)]
struct Candidates<const W: usize> {
    /// Warps that may still issue in it.
    open: WarpSet<W>,
    /// Of all that could at its beginning, those that are asked first, and the others, the oldest of each first.
    first: WarpSet<W>,
    others: WarpSet<W>,
    /// First cycle in which one of those could issue that found its port taken.
    blocked_until: u64,
    /// A warp waits for shared registers.
    starving: bool,
    /// A load waits for a miss register.
    missing: bool,
    /// What the schedulers can still issue.
    slots: CycleSlots,
    /// Work-groups that ended.
    ended: u32,
}

/// What an SM has done of a cycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CycleOutcome {
    /// Every warp that could has issued. How many work-groups ended.
    Complete(u32),
    /// The next issue needs the lower levels of the hierarchy to answer at once; the cycle is to be continued.
    NeedsLowerLevels,
}

/// How far an SM is in a cycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// It comes to its next cycle.
    Between,
    /// Its warps issue.
    Issuing,
    /// They have issued; where the cycle ends, and the next one begins, is not known yet.
    Open,
}

/// The cycle that an SM is in.
struct CurrentCycle<const W: usize> {
    phase: Phase,
    candidates: Candidates<W>,
    /// Warps that have issued in it.
    issued: WarpSet<W>,
    /// Those that issued in the cycle looked at before.
    issued_before: WarpSet<W>,
}

/// An SM of up to 64 × W warps of N lanes.
pub(super) struct Sm<'a, const N: usize, const W: usize> {
    /// Its machine-wide number.
    pub number: usize,
    /// The caches of its cluster.
    caches: &'a RefCell<ClusterCaches>,
    /// The cycle looked at last, while it is open; else the next one in which a warp may issue.
    pub time: u64,
    cycle: CurrentCycle<W>,
    groups: ResidentGroups,
    warps: WarpSlots<'a, N, W>,
    states: WarpStates<W>,
    schedulers: Schedulers<W>,
    scoreboard: Scoreboard,
    /// When warps that are not ready may issue by their operands.
    wheel: Wheel<W>,
    ports: IssuePorts<W>,
    /// Whether a warp's next instruction asks the memory hierarchy for an answer.
    asks_memory: ByRank<bool, W>,
    /// Banks and ports of main registers, if they are limited.
    main_file: Option<Box<MainFileState>>,
    /// Which clusters issue nothing in a cycle is known at its beginning: instructions wait in collectors, and schedulers
    /// issue to all clusters.
    finds_blocked_first: bool,
    /// The run-time scalarizer yields where scalar slots are taken.
    yields: bool,
    /// All that stops a warp whose operands are there is known at the beginning of a cycle, but what loads wait for.
    is_plain: bool,
    /// Each issue is recorded, or maps registers.
    notes_issues: bool,
    loads: LoadQueue<N>,
    /// By L1: loads that wait for a miss register.
    waiting_loads: [WaitingLoads<W>; PATHS],
    /// Registers that warps share (REN-1).
    pub registers: RegisterPool,
    /// The first cycle in which the warps of another work-group may begin.
    dispatches_from: u64,
    /// While work-groups are given out to it: the cycle behind which that is done, and to which it belongs what is asked of the
    /// levels that all SMs share.
    pub given_out_behind: Option<u64>,
    /// Whether its warps still make progress.
    pub progress: Progress,
    /// What it counts.
    pub counters: Counters,
    /// What is recorded by time, if anything.
    pub recorder: Option<Box<Recorder>>,
}

impl<'a, const N: usize, const W: usize> Sm<'a, N, W> {
    /// An SM without work.
    pub fn new(number: usize, caches: &'a RefCell<ClusterCaches>, c: &LaunchContext<'a, N>) -> Self {
        let (program, machine) = (c.run.launch.program, c.run.machine);
        let none = Candidates {
            open: WarpSet::EMPTY,
            first: WarpSet::EMPTY,
            others: WarpSet::EMPTY,
            blocked_until: 0,
            starving: false,
            missing: false,
            slots: CycleSlots::NONE,
            ended: 0,
        };
        let (schedulers, main_file) = (Schedulers::new(machine, &c.ports), MainFileState::new(machine, &c.ports));
        let recorder = Recorder::for_sm(c.run.options.record, machine, program.insts.len());
        let finds_blocked_first = !schedulers.is_narrow() && main_file.as_ref().is_some_and(|m| m.collects());
        let yields = machine.sm.scalarizer_yields;
        Sm {
            number,
            caches,
            time: u64::from(machine.launch_cycles),
            cycle: CurrentCycle {
                phase: Phase::Between,
                candidates: none,
                issued: WarpSet::EMPTY,
                issued_before: WarpSet::EMPTY,
            },
            groups: ResidentGroups::default(),
            warps: WarpSlots::new(),
            states: WarpStates::EMPTY,
            finds_blocked_first,
            is_plain: finds_blocked_first && !yields && !schedulers.counts_slots() && c.groups.pool == 0,
            notes_issues: c.groups.pool > 0 || recorder.is_some(),
            schedulers,
            scoreboard: Scoreboard::new(c.statics.scoreboard),
            wheel: Wheel::new(),
            ports: IssuePorts::new(&c.ports),
            asks_memory: ByRank::new(false),
            main_file,
            yields,
            loads: LoadQueue::new(),
            waiting_loads: [WaitingLoads::NONE; PATHS],
            registers: RegisterPool::new(&c.groups, machine),
            dispatches_from: 0,
            given_out_behind: None,
            progress: Progress::default(),
            counters: Counters::new(program),
            recorder,
        }
    }

    /// Host memory for the state of warps, without loads on their way (how many of those there are at once
    /// depends on the host's threads).
    pub fn host_state(&self) -> HostState {
        let parts = self.warps.host_bytes() + self.groups.host_bytes() + self.scoreboard.heap_bytes();
        let bytes = size_of::<Self>() + parts + self.ports.heap_bytes() + self.wheel.heap_bytes() + self.schedulers.heap_bytes();
        let bytes = bytes + self.main_file.as_ref().map_or(0, |m| m.heap_bytes());
        HostState { bytes: bytes as u64, work_items: (self.warps.len() * N) as u64 }
    }

    /// Work-groups resident.
    #[inline]
    pub fn resident_groups(&self) -> u32 {
        self.groups.len() as u32
    }

    /// Whether the SM would take another work-group.
    #[inline]
    pub fn wants_group(&self) -> bool {
        let registers = &self.registers;
        registers.admission.target() > self.resident_groups() && registers.free >= registers.room
    }

    /// How many work-groups the SM would take one after the other.
    pub fn groups_wanted(&self, c: &LaunchContext<'a, N>) -> u64 {
        let RegisterPool { free, room, admission } = &self.registers;
        let by_number = u64::from(admission.target().saturating_sub(self.resident_groups()));
        let by_registers = match free.checked_sub(*room) {
            None => 0,
            // Each takes its fixed registers.
            Some(spare) => spare.checked_div(c.groups.fixed).map_or(u64::MAX, |more| u64::from(more) + 1),
        };
        by_number.min(by_registers)
    }

    /// Makes work-group `number` resident. Its warps begin when the SM has done with the work-groups before.
    pub fn dispatch(&mut self, c: &LaunchContext<'a, N>, number: u64) {
        let launch = c.run.launch;
        let id = launch.group_id(number);
        let place = GroupPlace { id, size: launch.group_size(id) };
        self.registers.free -= c.groups.fixed;
        let live = place.size.iter().product::<u32>().div_ceil(N as u32);
        let attention = standstill::WATCHED_FROM.min(c.run.options.max_instructions);
        let group = self.groups.add(place, live, launch.local_bytes, attention);
        let resident = self.groups.get(group);
        (resident.number, resident.begin) = (number, self.time);
        let local = resident.local();
        let turn = self.time.max(self.dispatches_from);
        self.dispatches_from = turn + u64::from(c.run.machine.sm.dispatch_cycles);
        let begin = turn + c.perturbation.delay(number, 0);
        self.close_ranks();
        let mut free = self.warps.free();
        for w in 0..live.min(c.groups.warps as u32) {
            let s = free.pop().unwrap_or_else(|| self.add_slot(c));
            let rank = self.warps.add_rank(s);
            self.states.live.insert(rank);
            self.schedulers.add(rank, s);
            self.scoreboard.clear(s);
            let (slot, warp) = self.warps.get_mut(s);
            warp.start(launch, place, w, local);
            warp.lanes.mask = warp.control.mask;
            let (generation, ports) = (slot.generation + 1, c.ports.of_slot(s));
            *slot = Slot { group, rank, issued_at: self.time, generation, ports, ..Slot::default() };
            enter_block(&mut self.counters.blocks, c, slot, warp);
            if let Some(recorder) = &mut self.recorder {
                recorder.start(s, number, w, self.time);
            }
            if begin == self.time {
                self.start(c, s, begin);
            } else {
                // It is looked at in the cycle before.
                self.states.starting.insert(rank);
                self.states.fetching.insert(rank);
                self.wheel.add(rank, begin - 1);
            }
        }
    }

    /// A new warp may issue from a cycle on.
    fn start(&mut self, c: &LaunchContext<'a, N>, s: usize, begin: u64) {
        self.schedulers.start(self.warps.slots[s].rank);
        self.prepare_next(c, s, begin);
    }

    /// Makes room for one more warp; returns its slot.
    fn add_slot(&mut self, c: &LaunchContext<'a, N>) -> usize {
        let mut warp = Warp::new(c.run.launch, c.run.memory, c.run.options);
        warp.lanes.local_banks = c.run.machine.memory.local_banks;
        warp.lanes.hierarchy = Some(self.caches);
        warp.lanes.sm = self.number;
        warp.lanes.lost = Lost::new(&c.run);
        warp.lanes.scalar_lanes = ScalarLanes::new(&c.run, c.turns.is_some());
        warp.turns = c.turns.clone().map(|plan| Box::new(Turns::new(plan)));
        // Private memory is the hierarchy's.
        warp.lanes.private = Vec::new();
        let number = (self.number * SLOTS + self.warps.len()) as u64;
        warp.lanes.private_base = number * u64::from(warp.lanes.private_bytes) * N as u64;
        let slot = self.warps.push(warp);
        self.scoreboard.resize(self.warps.len());
        slot
    }

    /// Gives the ranks of ended warps to younger ones.
    fn close_ranks(&mut self) {
        let kept = self.states.live;
        self.states.renumber(kept);
        self.cycle.issued_before = self.cycle.issued_before.renumbered(kept);
        self.schedulers.renumber(kept);
        self.wheel.renumber(kept);
        self.ports.renumber(kept);
        self.asks_memory.renumber(kept);
        self.warps.renumber(kept);
        self.waiting_loads = [WaitingLoads::NONE; PATHS];
    }

    /// Looks at a cycle. Unless the levels below answer at once (`direct`), it may stop where they must, to be continued.
    ///
    /// # Errors
    /// The fault of an instruction.
    pub fn cycle(&mut self, c: &LaunchContext<'a, N>, direct: bool) -> Result<CycleOutcome, Box<Fault>> {
        if self.cycle.phase == Phase::Between {
            self.begin_cycle(c);
        }
        if self.is_plain { self.issue_candidates::<true>(c, direct) } else { self.issue_candidates::<false>(c, direct) }
    }

    /// Asks the candidates of the cycle to issue, one after the other. `PLAIN`: nothing but a load's or atomic's wait for
    /// memory stops one, beside those that have issued ([`Self::is_plain`]).
    #[inline(always)]
    fn issue_candidates<const PLAIN: bool>(
        &mut self,
        c: &LaunchContext<'a, N>,
        direct: bool,
    ) -> Result<CycleOutcome, Box<Fault>> {
        let now = self.time;
        let mut candidates = self.cycle.candidates;
        for (some, behind) in [(candidates.first, candidates.others), (candidates.others, WarpSet::EMPTY)] {
            while let Some(rank) = (candidates.open & some).first() {
                candidates.open.remove(rank);
                let mut port = self.ports.of(rank);
                let yields = !PLAIN && self.states.yielding.contains(rank) && !self.has_scalar_slot(&candidates, port, now);
                if yields {
                    let Some(own) = self.own_port(c, rank, candidates.slots, now) else {
                        candidates.blocked_until = now + 1;
                        continue;
                    };
                    port = own;
                }
                let blocked = if PLAIN || self.finds_blocked_first {
                    None
                } else if self.main_file.is_some() {
                    self.blocked_by_main_file(port, now)
                } else {
                    self.ports.busy_until(port, now).map(|until| (until, self.ports.warps(port)))
                };
                if let Some((until, stopped)) = blocked {
                    candidates.blocked_until = candidates.blocked_until.min(until);
                    candidates.open = candidates.open - stopped;
                    continue;
                }
                if !PLAIN && c.groups.pool > 0 {
                    let starves = !self.registers_free(c, rank);
                    self.states.starved.set(rank, starves);
                    if starves {
                        candidates.starving = true;
                        continue;
                    }
                }
                if self.asks_memory[rank] {
                    if let Some(Wait { until, others }) = self.waits_for_register(c, rank) {
                        candidates.blocked_until = candidates.blocked_until.min(until);
                        candidates.missing = true;
                        candidates.open = candidates.open - (others & self.ports.warps(port));
                        continue;
                    }
                    if !direct && self.needs_lower_levels(c, rank) {
                        candidates.open.insert(rank);
                        self.cycle.candidates = candidates;
                        return Ok(CycleOutcome::NeedsLowerLevels);
                    }
                }
                if yields {
                    self.withdraw(rank, port);
                }
                // Whom this issue stops until the next cycle.
                let mut stopped = self.ports.warps_of_cluster(port);
                if !PLAIN && self.schedulers.counts_slots() {
                    match port.kind {
                        PortKind::Unit if self.schedulers.is_narrow() && candidates.slots.take_vector(port.scheduler) => {
                            stopped = self.warps_for_clusters(c, port.scheduler);
                        }
                        PortKind::Scalar if !candidates.slots.take_scalar(port.scheduler) => stopped = WarpSet::EMPTY,
                        PortKind::Unit | PortKind::Control | PortKind::Scalar => {}
                    }
                }
                if !(stopped & (some.above(rank) | behind)).is_empty() {
                    candidates.blocked_until = now + 1;
                }
                if !PLAIN && self.yields {
                    self.ports.note_issue(port, now);
                    stopped = stopped - self.states.yielding;
                }
                candidates.open = candidates.open - stopped;
                self.cycle.issued.insert(rank);
                self.schedulers.issues(rank, port.scheduler);
                self.ports.remove(rank);
                candidates.ended += self.issue(c, rank, port, now)?;
            }
        }
        self.cycle.candidates = candidates;
        self.cycle.issued_before = self.cycle.issued;
        self.cycle.phase = Phase::Open;
        Ok(CycleOutcome::Complete(candidates.ended))
    }

    /// Whether a scheduler has a scalar slot for an instruction that need not run on the scalar unit: one that no other one wants.
    fn has_scalar_slot(&self, candidates: &Candidates<W>, port: Port, now: u64) -> bool {
        let wanted = (candidates.open & self.ports.warps(port)) - self.states.yielding;
        let left = match self.schedulers.counts_slots() {
            true => candidates.slots.scalar_left(port.scheduler),
            false => u64::from(!self.ports.is_taken(port, now)),
        };
        left > wanted.count()
    }

    /// The port of its own unit through which a warp's next instruction can issue that the run-time scalarizer sent to the scalar
    /// unit.
    fn own_port(&mut self, c: &LaunchContext<'a, N>, rank: usize, slots: CycleSlots, now: u64) -> Option<Port> {
        let slot = &self.warps.slots[self.warps.slot_of(rank)];
        let port = c.ports.port(slot.ports, c.statics.insts[slot.pc as usize].port);
        if self.ports.is_taken(port, now) || self.schedulers.is_narrow() && !slots.has_vector(port.scheduler) {
            return None;
        }
        let blocked = match self.main_file {
            Some(_) => self.blocked_by_main_file(port, now).is_some(),
            None => self.ports.busy_until(port, now).is_some(),
        };
        (!blocked).then_some(port)
    }

    /// A scheduler's warps whose next instruction goes to a cluster.
    fn warps_for_clusters(&self, c: &LaunchContext<'a, N>, scheduler: u8) -> WarpSet<W> {
        let others = [SCALAR, CONTROL].map(|known| self.ports.warps(c.ports.of_scheduler(scheduler.into(), known)));
        self.schedulers.warps(scheduler) - others[0] - others[1]
    }

    /// Comes to a cycle: warps whose operands have arrived are candidates.
    #[inline]
    fn begin_cycle(&mut self, c: &LaunchContext<'a, N>) {
        let now = self.time;
        let mut awake = self.wheel.take(now);
        let starting = awake & self.states.starting;
        if !starting.is_empty() {
            awake = awake - starting;
            self.states.starting = self.states.starting - starting;
            for rank in starting.iter() {
                self.start(c, self.warps.slot_of(rank), now + 1);
            }
        }
        self.states.ready = self.states.ready | awake;
        if self.schedulers.has_active_set() {
            self.schedulers.fill(self.states.live, self.states.ready);
        }
        let ready = self.states.ready - self.schedulers.inactive();
        let (first, others) = self.schedulers.order(ready, self.cycle.issued_before);
        self.states.conflicted = WarpSet::EMPTY;
        self.cycle.phase = Phase::Issuing;
        self.cycle.issued = WarpSet::EMPTY;
        let (mut open, mut blocked_until) = (ready, u64::MAX);
        if self.finds_blocked_first
            && let Some(main) = &self.main_file
        {
            // All that stops a cluster is known before the first one issues.
            for (cluster, blocked) in main.all_blocked(now) {
                let stopped = self.ports.warps_for(cluster) & open;
                let until = if stopped.is_empty() { u64::MAX } else { blocked.until };
                blocked_until = blocked_until.min(until);
                open = open - stopped;
                let conflicted = if blocked.by_banks { stopped } else { WarpSet::EMPTY };
                self.states.conflicted = self.states.conflicted | conflicted;
            }
        }
        self.cycle.candidates = Candidates {
            open,
            first,
            others,
            blocked_until,
            starving: false,
            missing: false,
            slots: self.schedulers.slots(),
            ended: 0,
        };
    }

    /// Ends the open cycle: skips to the next one in which something can happen. Not if that may depend on what the SM does not
    /// know, and is not before `until`: then it stays open, and the result is false.
    #[inline]
    pub fn end_cycle(&mut self, c: &LaunchContext<'a, N>, until: u64) -> bool {
        if self.cycle.phase != Phase::Open {
            return true;
        }
        let Candidates { blocked_until, starving, missing, .. } = self.cycle.candidates;
        let (issued, now) = (self.cycle.issued, self.time);
        // Ready warps go on when their unit is free, or when an issue may have released registers.
        let mut next = self.wheel.least().min(blocked_until);
        let parked = self.states.any_parked();
        let stuck = next == u64::MAX && !parked;
        let active_set = self.schedulers.has_active_set();
        let enters = active_set && self.schedulers.would_fill(self.states.live, self.states.ready);
        // What issues beside a load that waits for a miss register may bring its line; and as the next cycle is
        // looked at, which warps issued before it does not depend on how early it is known when a register is free.
        // Where a work-group has ended, another one may begin in the next cycle.
        let replaced = self.cycle.candidates.ended > 0 && self.wants_group();
        if (starving || missing) && !issued.is_empty() || stuck || enters || replaced {
            next = now + 1;
        }
        if parked && next > now + 1 && next >= until {
            return false;
        }
        self.go_to(c, next);
        if stuck && active_set && issued.is_empty() && !enters {
            self.schedulers.exceed(self.states.live, self.states.ready);
        }
        true
    }

    /// Ends the open cycle where nobody knows when something can happen: the next one follows it.
    pub fn end_cycle_at_once(&mut self, c: &LaunchContext<'a, N>) {
        self.go_to(c, self.time + 1);
    }

    /// Ends the open cycle. The next one that is looked at is given.
    #[inline]
    fn go_to(&mut self, c: &LaunchContext<'a, N>, next: u64) {
        self.attribute(c, next - self.time);
        self.time = next;
        self.cycle.phase = Phase::Between;
    }

    /// Whether the end of the cycle looked at last is open.
    #[inline]
    pub fn is_open(&self) -> bool {
        self.cycle.phase == Phase::Open
    }
}

/// Counts the entry of the warp's current block.
fn enter_block<const N: usize>(counts: &mut BlockCounts, c: &LaunchContext<'_, N>, slot: &mut Slot, warp: &mut Warp<'_, N>) {
    let b = warp.control.pc as usize;
    counts.executions[b] += 1;
    counts.lanes[b] += u64::from(warp.control.mask.count_ones());
    let block = &c.run.launch.program.blocks[b];
    slot.pc = block.first;
    if let Some(sampler) = &c.sampler {
        slot.executed.signature = slot.executed.signature.wrapping_add(sampler.weights[b]);
        slot.executed.instructions += u64::from(block.len());
    }
    (slot.first, slot.ahead) = (slot.pc, slot.pc);
    if warp.watch.is_some() {
        standstill::enter_watched(c, slot, warp);
    }
}
