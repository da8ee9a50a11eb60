//! Timing mode: deterministic cycles, stalls by cause, energy.
//!
//! Each SM keeps work-groups resident as registers, work-group memory, warp and group limits allow. A warp issues in order, at most one
//! instruction a cycle, when its operands are ready (a scoreboard of ready times per register) and its cluster's slot and unit are free; per cycle each
//! cluster issues at most one instruction and the scalar unit one of its own (S6). Among ready warps the one that issued last goes first, then the
//! oldest (greedy then oldest). An instruction acts on registers and memory at issue; its latency only delays who needs the result.
//! Global, constant and private memory are the [hierarchy](super::hierarchy)'s; work-group memory and the constant bank have a flat latency and bank
//! conflicts. A warp that comes to another line of code waits for the instruction cache. SMs advance in order of their own
//! clocks, ties by number, so a run is reproducible; cycles without an issue are skipped.

use statics::{Static, statics};

use super::exec::uniform::differing_lane;
use super::exec::{Decoded, prepare};
mod statics;

use std::cell::RefCell;
use std::sync::Arc;

use super::fault::{Fault, FaultKind};
use super::functional::{BlockCounts, GroupPlace, Progress, Warp, local_memory};
use super::hierarchy::Hierarchy;
use super::memory::DeviceMemory;
use super::program::End;
use super::rename::{Table, is_safe};
use super::residency::{Admission, Residency, residency};
use super::statistics::{InstructionProfile, Stalls, Statistics, TimingStatistics};
use super::trace::{Cause, Recorder, Recording};
use super::{Launch, Options, energy};
use crate::isa::MemorySpace;
use crate::target::{Machine, Unit};

/// Runs a launch with timing. The hierarchy keeps what L2 holds from launch to launch.
///
/// # Errors
/// The first fault in simulated time.
pub fn launch(
    launch: &Launch,
    memory: &DeviceMemory,
    hierarchy: &RefCell<Hierarchy>,
    machine: &Machine,
    options: &Options,
    progress: Progress,
) -> Result<Statistics, Box<Fault>> {
    match machine.warp_size {
        8 => run::<8>(launch, memory, hierarchy, machine, options, progress),
        16 => run::<16>(launch, memory, hierarchy, machine, options, progress),
        64 => run::<64>(launch, memory, hierarchy, machine, options, progress),
        _ => run::<32>(launch, memory, hierarchy, machine, options, progress),
    }
}

/// Bytes of an instruction.
const INSTRUCTION_BYTES: u64 = 16;
/// Warps that an SM's numbering of private memories has room for: the machine description's limit.
const SLOTS: usize = 256;

/// A resident warp.
struct Slot<'a, const N: usize> {
    warp: Warp<'a, N>,
    group: usize,
    /// Next instruction.
    pc: usize,
    /// When each row is ready, and whether memory is what it waits for.
    ready: Vec<(u64, bool)>,
    /// Earliest issue of the next instruction by its operands.
    next: u64,
    waits_for_memory: bool,
    age: u64,
    issued_last: bool,
    form: Form,
    /// Mapped shared registers.
    table: Table,
    /// The next instruction waits for shared registers.
    starved: bool,
    /// Line of code fetched last.
    fetched: u64,
    /// The next instruction waits for its fetch.
    waits_for_fetch: bool,
    /// When the warp issued last.
    issued_at: u64,
}

/// A resident work-group.
struct Group {
    place: GroupPlace,
    local: Vec<u128>,
    live_warps: u32,
    waiting: u32,
    executed: u64,
    used: bool,
}

struct Sm<'a, const N: usize> {
    number: usize,
    time: u64,
    slots: Vec<Slot<'a, N>>,
    groups: Vec<Group>,
    /// When each unit of each cluster is free.
    units: Vec<[u64; 5]>,
    done: bool,
    occupied: u64,
    /// Registers free: neither a resident warp's fixed ones nor mapped.
    free: u32,
    admission: Admission,
    /// What is recorded, if anything.
    recorder: Option<Box<Recorder>>,
}

struct Machinery<'a, const N: usize> {
    launch: &'a Launch<'a>,
    memory: &'a DeviceMemory,
    hierarchy: &'a RefCell<Hierarchy>,
    machine: &'a Machine,
    code: Vec<Decoded<N>>,
    statics: Vec<Static>,
    counts: BlockCounts,
    timing: TimingStatistics,
    sectors: std::collections::BTreeMap<MemorySpace, u64>,
    limit: u64,
    ages: u64,
    /// Of the run-time scalarizer (S7).
    threshold: u32,
    /// Shared registers that a work-group needs at once at most, and those of an SM.
    group_demand: u32,
    group_warps: u64,
    /// Fixed registers of a work-group; 0 without renaming.
    group_fixed: u32,
    pool: u32,
    options: &'a Options,
}

fn run<const N: usize>(
    launch: &Launch,
    memory: &DeviceMemory,
    hierarchy: &RefCell<Hierarchy>,
    machine: &Machine,
    options: &Options,
    progress: Progress,
) -> Result<Statistics, Box<Fault>> {
    let program = launch.program;
    hierarchy.borrow_mut().start();
    let total: u64 = launch.groups().iter().map(|g| u64::from(*g)).product();
    let Residency { groups: resident, limit, most, renames } = residency(program, machine, launch.local, launch.local_bytes);
    let resident = resident.max(1) as usize;
    let warps = launch.local.iter().product::<u32>().div_ceil(N as u32) as usize;
    let mut m: Machinery<N> = Machinery {
        launch,
        memory,
        hierarchy,
        machine,
        code: prepare::<N>(program),
        // Without renaming no register is shared.
        statics: statics(program, machine, if renames { program.header.fixed_registers } else { u32::MAX }),
        counts: BlockCounts::new(program),
        timing: TimingStatistics { issued: vec![0; machine.clusters.len()], ..Default::default() },
        sectors: Default::default(),
        limit: options.max_instructions,
        ages: 0,
        threshold: options.scalar_threshold.unwrap_or(machine.sm.scalar_threshold),
        group_demand: 0,
        group_fixed: 0,
        group_warps: warps as u64,
        pool: 0,
        options,
    };
    m.counts.saved_lanes = vec![0; program.insts.len()];
    m.timing.profile = vec![InstructionProfile::default(); program.insts.len()];
    m.timing.resident_warps = (resident * warps) as u64;
    m.timing.residency_limit = limit.into();
    let header = &program.header;
    m.timing.named_registers = u64::from(header.main_registers);
    let registers = if renames { machine.sm.main_registers / machine.warp_size } else { 0 };
    if renames {
        m.timing.pool.size = u64::from(registers);
        m.timing.pool.fixed = u64::from(header.fixed_registers);
        m.timing.pool.named = u64::from(header.main_registers);
        m.timing.pool.demand = u64::from(header.shared_demand);
    }
    m.group_demand = header.shared_demand * warps as u32;
    m.pool = registers;
    m.group_fixed = if renames { header.fixed_registers * warps as u32 } else { 0 };
    let mut sms: Vec<Sm<N>> = (0..machine.sm.count as usize)
        .map(|number| Sm {
            number,
            time: 0,
            slots: Vec::new(),
            groups: Vec::new(),
            units: vec![[0; 5]; machine.clusters.len()],
            done: false,
            occupied: 0,
            free: registers,
            admission: Admission::new(resident as u32, registers, machine),
            recorder: Recorder::for_sm(options.record, machine, program.insts.len()),
        })
        .collect();
    let mut next_group = 0u64;
    let mut finished = 0u64;
    // Groups are dealt out in order, one an SM at a time, as hardware dispatchers do.
    for _ in 0..resident {
        for sm in &mut sms {
            if next_group < total {
                m.dispatch(sm, next_group, warps);
                next_group += 1;
            }
        }
    }
    sms.iter_mut().for_each(|s| s.done = s.slots.is_empty());
    let mut host = options.host_writes.iter().peekable();
    while let Some(index) = (0..sms.len()).filter(|i| !sms[*i].done).min_by_key(|i| (sms[*i].time, *i)) {
        let sm = &mut sms[index];
        while let Some(write) = host.next_if(|w| w.cycle <= sm.time) {
            memory.write_shared(write.address, &write.data);
        }
        let ended = m.cycle(sm)?;
        for _ in 0..ended {
            finished += 1;
            progress(1);
        }
        if renames {
            let room = m.group_fixed + 2 * m.group_demand;
            sm.admission.adapt(sm.time, sm.free, room, most);
        }
        let mut room = sm.admission.target().saturating_sub(sm.groups.iter().filter(|g| g.used).count() as u32);
        while room > 0 && next_group < total {
            m.dispatch(sm, next_group, warps);
            next_group += 1;
            room -= 1;
        }
        sm.done = !sm.groups.iter().any(|g| g.used);
    }
    debug_assert_eq!(finished, total);
    let cycles = sms.iter().map(|s| s.time).max().unwrap_or(0);
    let busy: u64 = sms.iter().map(|s| s.time).sum();
    let occupied: u64 = sms.iter().map(|s| s.occupied).sum();
    m.timing.cycles = cycles;
    m.timing.recordings.extend(Recording::new(sms.into_iter().map(|s| s.recorder), cycles).map(Arc::new));
    m.timing.profile.iter_mut().zip(&m.counts.saved_lanes).for_each(|(p, n)| p.saved_lanes = *n);
    m.timing.hierarchy = {
        let latencies = m.timing.hierarchy.latencies;
        let counted = hierarchy.borrow_mut().finish(memory);
        super::statistics::HierarchyStatistics { latencies, ..counted }
    };
    m.timing.occupancy = occupied as f64 / (busy.max(1) as f64 * f64::from(machine.sm.max_warps));
    let mut statistics = energy::count(program, &m.counts, N as u32);
    for (space, sectors) in &m.sectors {
        statistics.memory.entry(space.to_string()).or_default().sectors += sectors;
    }
    statistics.work_items = launch.global.iter().map(|g| u64::from(*g)).product();
    statistics.work_groups = total;
    statistics.warps = total * warps as u64;
    statistics.timing = Some(m.timing);
    statistics.energy_pj = energy::energy(program, &m.counts, &statistics, cycles, machine);
    Ok(statistics)
}

/// Position of a unit in an SM's table.
fn unit_index(unit: Unit) -> usize {
    match unit {
        Unit::Alu => 0,
        Unit::Sfu => 1,
        Unit::Double => 2,
        Unit::LoadStore => 3,
        Unit::Control => 4,
    }
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

impl<'a, const N: usize> Machinery<'a, N> {
    /// Makes a work-group resident.
    fn dispatch(&mut self, sm: &mut Sm<'a, N>, number: u64, warps: usize) {
        let id = self.launch.group_id(number);
        let place = GroupPlace { id, size: self.launch.group_size(id) };
        sm.free -= self.group_fixed;
        let live = place.size.iter().product::<u32>().div_ceil(N as u32);
        let index = match sm.groups.iter().position(|g| !g.used) {
            Some(i) => i,
            None => {
                let local = local_memory(self.launch.local_bytes);
                sm.groups.push(Group { place, local, live_warps: 0, waiting: 0, executed: 0, used: false });
                sm.groups.len() - 1
            }
        };
        let group = &mut sm.groups[index];
        *group = Group { place, local: std::mem::take(&mut group.local), live_warps: live, waiting: 0, executed: 0, used: true };
        group.local.fill(0);
        let local = group.local.as_mut_ptr().cast::<u8>();
        let mut free: Vec<usize> = (0..sm.slots.len()).filter(|s| sm.slots[*s].warp.control.done()).collect();
        for w in 0..live.min(warps as u32) {
            let s = free.pop().unwrap_or_else(|| {
                let mut warp = Warp::new(self.launch, self.memory, self.options);
                warp.lanes.local_banks = self.machine.memory.local_banks;
                warp.lanes.hierarchy = Some(self.hierarchy);
                warp.lanes.sm = sm.number;
                // Private memory is the hierarchy's.
                warp.lanes.private = Vec::new();
                let slot = (sm.number * SLOTS + sm.slots.len()) as u64;
                warp.lanes.private_base = slot * u64::from(warp.lanes.private_bytes) * N as u64;
                let rows = usize::from(self.launch.program.rows.total) + 16;
                sm.slots.push(Slot {
                    warp,
                    group: index,
                    pc: 0,
                    ready: vec![(0, false); rows],
                    next: 0,
                    waits_for_memory: false,
                    age: 0,
                    issued_last: false,
                    form: Form::Static,
                    table: Table::default(),
                    starved: false,
                    fetched: u64::MAX,
                    waits_for_fetch: false,
                    issued_at: 0,
                });
                sm.slots.len() - 1
            });
            let slot = &mut sm.slots[s];
            slot.warp.start(self.launch, place, w, local);
            slot.warp.lanes.mask = slot.warp.control.mask;
            slot.group = index;
            slot.ready.fill((0, false));
            slot.fetched = u64::MAX;
            slot.issued_at = sm.time;
            slot.next = sm.time;
            slot.waits_for_memory = false;
            slot.age = self.ages;
            slot.issued_last = false;
            slot.table = Table::default();
            slot.starved = false;
            self.ages += 1;
            self.enter_block(slot);
            self.prepare_next(slot, sm.time);
            if let Some(recorder) = &mut sm.recorder {
                recorder.start(s, number, w, sm.time);
            }
        }
    }

    /// Counts the entry of the warp's current block.
    fn enter_block(&mut self, slot: &mut Slot<'a, N>) {
        let b = slot.warp.control.pc as usize;
        self.counts.executions[b] += 1;
        self.counts.lanes[b] += u64::from(slot.warp.control.mask.count_ones());
        slot.pc = self.launch.program.blocks[b].first as usize;
    }

    /// When the operands of the next instruction are ready.
    fn prepare_next(&self, slot: &mut Slot<'a, N>, now: u64) {
        let Some(s) = self.statics.get(slot.pc) else { return };
        let offset = self.launch.program.header.text_offset + INSTRUCTION_BYTES * slot.pc as u64;
        let line = offset / u64::from(self.machine.memory.line_bytes);
        let mut next = now;
        if line != slot.fetched {
            slot.fetched = line;
            next = self.hierarchy.borrow_mut().fetch(self.memory, slot.warp.lanes.sm, offset, now);
        }
        let fetched = next;
        let mut memory = false;
        // A write waits for the register's last write too: results return in any order otherwise.
        for row in s.reads.iter().chain(&s.writes) {
            let (at, from_memory) = slot.ready[usize::from(*row)];
            if at > next {
                next = at;
                memory = from_memory;
            }
        }
        slot.next = next;
        slot.waits_for_memory = memory;
        slot.waits_for_fetch = next == fetched && fetched > now;
        slot.form = self.form(slot, s);
    }

    /// On which unit the warp's next instruction runs, and why. Registers hold their values already: execution is in order.
    fn form(&self, slot: &Slot<'a, N>, s: &Static) -> Form {
        if s.scalar || s.control {
            return Form::Static;
        }
        let lanes = &slot.warp.lanes;
        let d = &self.code[slot.pc];
        let mask = lanes.active(d);
        if !s.eligible || mask == 0 {
            return Form::Vector;
        }
        let active = mask.count_ones();
        if active == 1 && self.threshold >= 1 {
            return Form::OneLane;
        }
        if differing_lane(lanes, d, mask).is_some() {
            Form::Vector
        } else if active <= self.threshold && active < N as u32 {
            Form::FewLanes
        } else {
            Form::Missed
        }
    }

    /// Counts an issued instruction by its form (issue statistics), and what the run-time scalarizer did for it.
    fn count_form(&mut self, index: usize, form: Form, exec: u64) {
        let st = &self.statics[index];
        let forms = &mut self.timing.forms;
        match form {
            Form::Static if st.control => {}
            Form::Static if self.code[index].scalar => forms.scalar += 1,
            Form::Static => forms.marked += 1,
            Form::OneLane => forms.one_lane += 1,
            Form::FewLanes => forms.few_lanes += 1,
            Form::Missed => forms.missed += 1,
            Form::Vector => forms.vector += 1,
        }
        // EXEC, not the guard, is what the comparators see.
        let active = exec.count_ones();
        if form.is_scalarised() {
            self.counts.saved_lanes[index] += u64::from(active - 1);
        }
        if st.eligible && active > 1 && active <= self.threshold && active < N as u32 {
            self.counts.compared += u64::from(active * st.compared);
        }
    }

    /// One cycle of an SM, and the skip to the next one in which something can happen. Returns how many work-groups ended.
    fn cycle(&mut self, sm: &mut Sm<'a, N>) -> Result<u32, Box<Fault>> {
        let now = sm.time;
        let mut cluster_used = [false; 16];
        let mut scalar_slots = self.machine.sm.scalar_issue;
        let mut control_used = false;
        let mut ended = 0;
        // Greedy then oldest.
        let mut order: Vec<usize> = (0..sm.slots.len())
            .filter(|s| !sm.slots[*s].warp.control.done() && !sm.slots[*s].warp.waiting && sm.slots[*s].next <= now)
            .collect();
        order.sort_by_key(|s| (!sm.slots[*s].issued_last, sm.slots[*s].age));
        let mut issued = vec![false; sm.slots.len()];
        let mut blocked_until = u64::MAX;
        let mut starving = false;
        for s in order {
            let Some(st) = self.statics.get(sm.slots[s].pc) else { continue };
            let on_scalar_unit = st.scalar || sm.slots[s].form.is_scalarised();
            let free = if on_scalar_unit {
                if scalar_slots == 0 { now + 1 } else { 0 }
            } else if st.control {
                if control_used { now + 1 } else { 0 }
            } else if cluster_used[st.cluster & 15] {
                now + 1
            } else {
                sm.units[st.cluster][unit_index(st.unit)]
            };
            if free > now {
                blocked_until = blocked_until.min(free);
                continue;
            }
            if !self.registers_free(sm, s) {
                sm.slots[s].starved = true;
                starving = true;
                continue;
            }
            sm.slots[s].starved = false;
            if on_scalar_unit {
                scalar_slots -= 1;
            } else if st.control {
                control_used = true;
            } else {
                cluster_used[st.cluster & 15] = true;
            }
            issued[s] = true;
            ended += self.issue(sm, s, now)?;
        }
        for (slot, issued) in sm.slots.iter_mut().zip(&issued) {
            slot.issued_last = *issued;
        }
        // The next cycle in which something can issue.
        let mut next = u64::MAX;
        let mut live = 0;
        for slot in &sm.slots {
            if slot.warp.control.done() {
                continue;
            }
            live += 1;
            if !slot.warp.waiting && slot.next > now {
                next = next.min(slot.next);
            }
        }
        // Ready warps go on when their unit is free, or when an issue may have released registers.
        next = next.min(blocked_until);
        if starving && issued.contains(&true) {
            next = now + 1;
        }
        let next = if next == u64::MAX { now + 1 } else { next };
        let cycles = next - now;
        for (i, slot) in sm.slots.iter().enumerate() {
            if slot.warp.control.done() {
                continue;
            }
            let lost = cycles - u64::from(issued.get(i).copied().unwrap_or(false)).min(cycles);
            let cause = if slot.warp.waiting {
                Cause::Barrier
            } else if slot.next > now {
                match (slot.waits_for_fetch, slot.waits_for_memory) {
                    (true, _) => Cause::Fetch,
                    (_, true) => Cause::Memory,
                    _ => Cause::Dependence,
                }
            } else if slot.starved {
                Cause::Rename
            } else {
                Cause::Unit
            };
            let Stalls { dependence, memory, unit, barrier, rename, fetch } = &mut self.timing.stalls;
            *match cause {
                Cause::Dependence => dependence,
                Cause::Memory => memory,
                Cause::Unit => unit,
                Cause::Barrier => barrier,
                Cause::Rename => rename,
                Cause::Fetch => fetch,
            } += lost;
            if let Some(recorder) = &mut sm.recorder {
                recorder.stall(i, cause, next - lost, next);
            }
        }
        if self.pool > 0 {
            sm.admission.observe(sm.free, if starving { cycles } else { 0 });
            let held = sm.groups.iter().filter(|g| g.used).count() as u64 * self.group_warps;
            self.timing.resident_warps = self.timing.resident_warps.max(held);
            let used = u64::from(self.pool - sm.free);
            self.timing.pool.peak = self.timing.pool.peak.max(used);
            self.timing.pool.histogram[(used * 10 / u64::from(self.pool)) as usize] += cycles;
        }
        sm.occupied += live * cycles;
        sm.time = next;
        Ok(ended)
    }

    /// Whether the warp's next instruction can have the shared registers that it maps (REN-3, REN-8).
    fn registers_free(&self, sm: &Sm<'a, N>, s: usize) -> bool {
        let slot = &sm.slots[s];
        let Some(st) = self.statics.get(slot.pc) else { return true };
        let needed = st.shared.writes.iter().filter(|n| !slot.table.is_mapped(**n)).count() as u32;
        if needed == 0 {
            return true;
        }
        // Resident groups, oldest first, with what their warps hold.
        let mut groups: Vec<(u64, usize, u32)> = Vec::new();
        for slot in sm.slots.iter().filter(|s| !s.warp.control.done()) {
            match groups.iter_mut().find(|g| g.1 == slot.group) {
                Some(g) => {
                    g.0 = g.0.min(slot.age);
                    g.2 += slot.table.count();
                }
                None => groups.push((slot.age, slot.group, slot.table.count())),
            }
        }
        groups.sort_unstable();
        let held: Vec<u32> = groups.iter().map(|g| g.2).collect();
        let at = groups.iter().position(|g| g.1 == slot.group).unwrap_or(0);
        is_safe(sm.free, &held, at, needed, self.group_demand)
    }

    /// Maps what an instruction writes, and releases what it releases. A defect of the code is a fault if checking is on.
    fn rename(&self, sm: &mut Sm<'a, N>, s: usize, index: usize) {
        let uses = &self.statics[index].shared;
        if uses.reads.is_empty() && uses.writes.is_empty() && uses.releases.is_empty() {
            return;
        }
        let slot = &mut sm.slots[s];
        let fixed = self.launch.program.header.fixed_registers;
        let lane = slot.warp.control.mask.trailing_zeros();
        if self.options.check_renames {
            if let Some(name) = uses.reads.iter().find(|n| !slot.table.is_mapped(**n)) {
                let kind = FaultKind::UnmappedRegister { register: fixed + u32::from(*name) };
                slot.warp.lanes.fault.get_or_insert((kind, index as u32, lane));
            }
        }
        for name in &uses.writes {
            sm.free -= u32::from(slot.table.map(*name));
        }
        if !uses.conditional || slot.warp.control.mask == slot.warp.control.live {
            for name in &uses.releases {
                sm.free += u32::from(slot.table.release(*name));
            }
        }
    }

    /// A warp's end gives back all its registers.
    fn give_back(&self, sm: &mut Sm<'a, N>, s: usize, index: usize) {
        let slot = &mut sm.slots[s];
        if let (true, Some(name)) = (self.options.check_renames, slot.table.first()) {
            let register = self.launch.program.header.fixed_registers + u32::from(name);
            slot.warp.lanes.fault.get_or_insert((FaultKind::RegisterLeak { register }, index as u32, 0));
        }
        sm.free += slot.table.count();
        slot.table = Table::default();
    }

    /// Issues the next instruction of a warp. Returns 1 if its work-group ended.
    fn issue(&mut self, sm: &mut Sm<'a, N>, s: usize, now: u64) -> Result<u32, Box<Fault>> {
        let program = self.launch.program;
        let slot = &mut sm.slots[s];
        let index = slot.pc;
        let st = &self.statics[index];
        let inst = &program.insts[index];
        let block = slot.warp.control.pc as usize;
        let end_index = (program.blocks[block].first + program.blocks[block].body) as usize;
        let end = program.blocks[block].end;
        slot.warp.lanes.clock = now;
        let group = &mut sm.groups[slot.group];
        group.executed += 1;
        if group.executed > self.limit {
            let lane = slot.warp.control.mask.trailing_zeros();
            slot.warp.lanes.fault = Some((FaultKind::Runaway { limit: self.limit }, index as u32, lane));
        }
        let place = group.place;
        let form = slot.form;
        let on_scalar_unit = st.scalar || form.is_scalarised();
        let mut latency = u64::from(if on_scalar_unit { st.scalar_latency } else { st.latency });
        let profile = &mut self.timing.profile[index];
        profile.issues += 1;
        profile.lanes += u64::from(slot.warp.control.mask.count_ones());
        profile.cycles += now - slot.issued_at;
        slot.issued_at = now;
        self.count_form(index, form, slot.warp.control.mask);
        let st = &self.statics[index];
        if on_scalar_unit {
            self.timing.scalar_issued += 1;
        } else if !st.control {
            self.timing.issued[st.cluster] += 1;
        }
        let clusters = self.machine.clusters.len();
        let issued_on = if on_scalar_unit {
            clusters
        } else if st.control {
            clusters + 1
        } else {
            st.cluster
        };
        let (active, splits) = (slot.warp.control.mask.count_ones(), self.counts.splits);
        let at_end = index == end_index && end != End::Fall;
        if !at_end {
            slot.warp.lanes.refresh(program);
            slot.warp.lanes.access = None;
            let d = &self.code[index];
            (d.run)(&mut slot.warp.lanes, d);
            let mut busy = u64::from(st.interval);
            if let Some(access) = slot.warp.lanes.access {
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
                        *self.sectors.entry(access.space).or_default() += u64::from(access.units);
                        let profile = &mut self.timing.profile[index];
                        profile.sectors += u64::from(done.sectors);
                        profile.lines += u64::from(done.lines);
                        profile.hits += u64::from(done.hits);
                        profile.far += u64::from(done.far);
                        if let Some(recorder) = &mut sm.recorder {
                            recorder.memory(now, &done);
                        }
                        if waits > 0 {
                            profile.latency += latency;
                            let bin = (u64::BITS - 1 - latency.max(1).leading_zeros()).min(15);
                            self.timing.hierarchy.latencies[bin as usize] += 1;
                        }
                    }
                }
            }
            if !on_scalar_unit && !st.control {
                sm.units[st.cluster][unit_index(st.unit)] = now + busy;
            }
            let from_memory = inst.is_memory();
            for row in &st.writes {
                slot.ready[usize::from(*row)] = (now + latency, from_memory);
            }
            slot.pc += 1;
            if slot.pc == end_index && end == End::Fall {
                slot.warp.end_block(End::Fall, index as u32, &mut self.counts.splits);
                self.enter_block(slot);
            }
        } else {
            let goes_on = slot.warp.end_block(end, index as u32, &mut self.counts.splits);
            if goes_on || slot.warp.waiting {
                slot.warp.lanes.mask = slot.warp.control.mask;
                self.enter_block(slot);
            }
        }
        if let Some(recorder) = &mut sm.recorder {
            recorder.issue(s, index, active, issued_on, now, now + latency, self.counts.splits - splits);
            if slot.warp.control.done() {
                recorder.end(s, now + 1);
            }
        }
        // Empty blocks only fall through.
        while !slot.warp.control.done() && program.blocks[slot.warp.control.pc as usize].is_empty() {
            slot.warp.end_block(End::Fall, index as u32, &mut self.counts.splits);
            self.enter_block(slot);
        }
        if self.pool > 0 {
            self.rename(sm, s, index);
            if sm.slots[s].warp.control.done() {
                self.give_back(sm, s, index);
            }
        }
        let slot = &mut sm.slots[s];
        if let Some(fault) = slot.warp.fault(self.launch, place) {
            return Err(Box::new(fault));
        }
        // A branch delays the warp's next instruction; everything else only who needs the result.
        let next = now + if at_end { latency.max(1) } else { 1 };
        self.prepare_next(&mut sm.slots[s], next);
        let slot = &sm.slots[s];
        let g = slot.group;
        if slot.warp.control.done() {
            sm.groups[g].live_warps -= 1;
        } else if slot.warp.waiting {
            sm.groups[g].waiting += 1;
        }
        let group = &mut sm.groups[g];
        if group.live_warps == 0 {
            group.used = false;
            sm.free += self.group_fixed;
            return Ok(1);
        }
        if group.waiting == group.live_warps {
            group.waiting = 0;
            for slot in sm.slots.iter_mut().filter(|s| s.group == g && s.warp.waiting) {
                slot.warp.waiting = false;
                slot.next = slot.next.max(now + 1);
            }
        }
        Ok(0)
    }
}
