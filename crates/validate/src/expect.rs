//! The closed forms: what a micro-kernel must cost, from the fields of a machine description alone.
//!
//! Nothing in this file asks the simulator anything. Cycles are those of the SMs' clock; a *line* is a line of
//! the caches, a *sector* its unit of transfer.

use heddle_isa::OpClass;
use heddle_target::{Machine, Replacement, Timing};

/// A cache hierarchy's level, as a chain of loads sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// The path's own L1.
    L1,
    /// The L1.5 behind the uniform and the constant L1.
    L15,
    /// L2.
    L2,
    /// Device memory.
    Dram,
}

/// Which L1 a chain of loads looks up first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Path {
    /// Loads of global memory.
    Data,
    /// `ldu`.
    Uniform,
    /// Loads of constant memory.
    Constant,
}

/// What a chain of loads depends on of an L1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FirstLevel {
    /// Size.
    pub bytes: u32,
    /// Lines of a set.
    pub ways: u32,
    /// Cycles of a hit.
    pub latency: u32,
    /// Which line has to go.
    pub replacement: Replacement,
}

impl Path {
    /// The description of its L1.
    pub fn l1(self, machine: &Machine) -> FirstLevel {
        let m = &machine.memory;
        let cache = match self {
            Path::Data => {
                let c = &m.data;
                return FirstLevel { bytes: c.bytes, ways: c.ways, latency: c.latency, replacement: c.replacement };
            }
            Path::Uniform => &m.uniform,
            Path::Constant => &m.constant,
        };
        FirstLevel { bytes: cache.bytes, ways: cache.ways, latency: cache.latency, replacement: cache.replacement }
    }
}

/// Share of the loads that miss of a list of `ways` + 1 lines that all fall into one set of `ways`, walked around
/// and around; `None` where the policy has no closed form.
///
/// Least recently used and first in, first out drop the very line that is needed next. Where any line may have to
/// go, each of the `ways` others is as likely: the one that is missing comes after 1 to `ways` loads, so a miss
/// comes every (`ways` + 1) / 2 loads.
pub fn one_line_too_many(policy: Replacement, ways: u32) -> Option<f64> {
    match policy {
        Replacement::Lru | Replacement::Fifo => Some(1.0),
        Replacement::Random => Some(2.0 / f64::from(ways + 1)),
        Replacement::PseudoLru | Replacement::Rrip => None,
    }
}

/// Whether a list of twice as many lines as a cache has, walked around and around, misses it with every load.
pub fn twice_misses_all(policy: Replacement) -> bool {
    matches!(policy, Replacement::Lru | Replacement::Fifo)
}

/// The row of a class. A description has one for each.
pub fn row(machine: &Machine, class: OpClass) -> Option<&Timing> {
    machine.timing.get(&class)
}

fn latency_of(machine: &Machine, class: OpClass) -> f64 {
    row(machine, class).map_or(0.0, |t| f64::from(t.latency))
}

/// Cycles between instructions of a class on a vector unit each of which needs the result of the one before:
/// its latency, or the unit's interval where that is longer.
pub fn chain(machine: &Machine, class: OpClass) -> f64 {
    row(machine, class).map_or(0.0, |t| f64::from(t.latency.max(t.interval)))
}

/// The same on the scalar unit, which takes an instruction of a warp every cycle; `None` if it has none.
pub fn scalar_chain(machine: &Machine, class: OpClass) -> Option<f64> {
    row(machine, class).filter(|t| t.scalar_latency > 0).map(|t| f64::from(t.scalar_latency))
}

/// Cycles between instructions of a class each of which needs the result of the one before, and reads so many words of
/// one bank of the main file: it passes `read-ports` of them a cycle, and operands are `latency` on their way.
pub fn banked_chain(machine: &Machine, class: OpClass, of_one_bank: u32) -> f64 {
    let file = &machine.main_file;
    let reading = if file.banks == 0 { 0 } else { of_one_bank.div_ceil(file.read_ports) - 1 };
    row(machine, class).map_or(0.0, |t| f64::from((t.latency + file.latency + reading).max(t.interval)))
}

/// Cycles from a branch, taken or not, to the warp's next instruction.
pub fn branch(machine: &Machine) -> f64 {
    latency_of(machine, OpClass::Control).max(1.0)
}

/// Cycles of a branch at which lanes go both ways: it, the branch of the side that runs first, and one
/// instruction of the other side. Meeting again is free.
pub fn divergent_branch(machine: &Machine) -> f64 {
    2.0 * branch(machine) + 1.0
}

/// Cycles of a barrier for the `warps` warps of a work-group that meet at one after the other: they arrive
/// one a cycle, as the front end issues them, and go on when the last one is there, but each not before
/// its own barrier is over.
pub fn barrier(machine: &Machine, warps: u32) -> f64 {
    branch(machine).max(f64::from(warps))
}

/// Cycles between dependent loads of arguments by an index in lanes.
pub fn argument_chain(machine: &Machine) -> f64 {
    latency_of(machine, OpClass::LoadArgument) + f64::from(machine.memory.argument_latency)
}

/// Greatest number of different words of one bank when `lanes` lanes access words `stride` apart.
pub fn bank_conflicts(lanes: u32, stride: u32, banks: u32) -> u32 {
    if stride == 0 {
        return 1;
    }
    // The lanes' words go around these banks in turn.
    let different = banks / greatest_common_divisor(stride, banks);
    lanes.div_ceil(different)
}

fn greatest_common_divisor(a: u32, b: u32) -> u32 {
    if b == 0 { a } else { greatest_common_divisor(b, a % b) }
}

/// Cycles between dependent loads of work-group memory, with so many words in the fullest bank.
pub fn local_chain(machine: &Machine, conflicts: u32) -> f64 {
    latency_of(machine, OpClass::LoadLocal) + f64::from(machine.memory.local_latency) + f64::from(conflicts - 1)
}

/// Cycles between issues of loads of work-group memory that do not depend on each other.
pub fn local_interval(machine: &Machine, conflicts: u32) -> f64 {
    row(machine, OpClass::LoadLocal).map_or(0.0, |t| f64::from(t.interval + conflicts - 1))
}

/// Cycles of a load of one sector that the caches above a level do not have, and that level has. In DRAM: of a
/// row that is open in all but `row_misses` of the loads.
pub fn load(machine: &Machine, path: Path, level: Level, row_misses: f64) -> f64 {
    let m = &machine.memory;
    let mut cycles = latency_of(machine, OpClass::LoadGlobal) + f64::from(path.l1(machine).latency);
    if level == Level::L1 {
        return cycles;
    }
    if path != Path::Data {
        cycles += f64::from(m.l15.latency);
        if level == Level::L15 {
            return cycles;
        }
    }
    cycles += f64::from(2 * m.network.latency + m.network.interval + m.l2.latency);
    if level == Level::Dram {
        let (hit, miss) = (f64::from(m.dram.row_hit), row_miss(machine));
        cycles += hit + row_misses * (miss - hit) + f64::from(m.dram.interval);
    }
    cycles
}

/// Cycles to a sector of a row that is not open, where another one is.
pub fn row_miss(machine: &Machine) -> f64 {
    let dram = &machine.memory.dram;
    // Without tRCD, `row-miss` has all but the precharge.
    let activate = if dram.t_rcd == 0 { dram.row_miss } else { dram.row_hit + dram.t_rcd };
    f64::from(activate + dram.t_rp)
}

/// Share of time in which a channel of DRAM is not refreshed.
pub fn unrefreshed(machine: &Machine) -> f64 {
    let dram = &machine.memory.dram;
    if dram.t_refi == 0 { 1.0 } else { 1.0 - f64::from(dram.t_rfc) / f64::from(dram.t_refi) }
}

/// Share of a walk through memory, `stride` bytes a step, whose steps come to another DRAM row.
pub fn row_misses(machine: &Machine, stride: u32) -> f64 {
    f64::from(stride) / f64::from(machine.memory.dram.row_bytes)
}

/// Where lanes that access words of 4 bytes, `stride` bytes apart from the beginning of a line, find them:
/// lines and sectors that a warp touches.
pub fn touched(machine: &Machine, stride: u32) -> (u64, u64) {
    let pieces = |bytes: u32| {
        let mut last = None;
        let places = (0..machine.warp_size).map(|lane| u64::from(lane * stride) / u64::from(bytes));
        places.filter(|p| last.replace(*p) != Some(*p)).count() as u64
    };
    (pieces(machine.memory.line_bytes), pieces(machine.memory.sector_bytes))
}

/// Cycles between atomics of all lanes each of which needs the old value that the one before returned; the lanes
/// touch `sectors` sectors of one line, and L2 has it.
pub fn atomic_chain(machine: &Machine, sectors: u64) -> f64 {
    let m = &machine.memory;
    let way = f64::from(2 * m.network.latency + m.l2.latency) + f64::from(m.network.interval) * sectors as f64;
    latency_of(machine, OpClass::Atomic) + way + f64::from(m.l2.atomic_interval * machine.warp_size)
}

/// Cycles of L2 for a warp's atomic on a line, of which there are as many as L2 can do: the slice's look-up, and
/// each lane.
pub fn atomic_interval(machine: &Machine) -> f64 {
    let l2 = &machine.memory.l2;
    f64::from(l2.interval + l2.atomic_interval * machine.warp_size)
}

/// A place that every access of a stream must pass, and the cycles that it takes there.
pub struct Resource {
    /// Its name.
    pub name: &'static str,
    /// Cycles an access.
    pub cycles: f64,
}

/// Cycles for which a load of so many lines has its unit: its interval, and a cycle for each further line.
pub fn load_interval(machine: &Machine, lines: f64) -> f64 {
    row(machine, OpClass::LoadGlobal).map_or(1.0, |t| f64::from(t.interval)) + lines - 1.0
}

/// What limits a stream of loads that L2 serves, or DRAM, cycles a load: an SM's warps have `in_flight` of them on their
/// way, each of `lines` lines and `sectors` sectors. `dram`: of the times that a warp waits for its loads, the share in
/// which one of them opens a row of DRAM.
pub fn stream(machine: &Machine, in_flight: u64, lines: u64, sectors: u64, dram: Option<f64>) -> Resource {
    let m = &machine.memory;
    let (lines, sectors) = (lines as f64, sectors as f64);
    let far = if dram.is_some() { Level::Dram } else { Level::L2 };
    // The slowest of a warp's loads counts.
    let opening = dram.filter(|_| row_miss(machine) > f64::from(m.dram.row_hit)).unwrap_or(0.0);
    let alone = load(machine, Path::Data, far, opening) + f64::from(m.network.interval) * (sectors - 1.0);
    let held = alone - latency_of(machine, OpClass::LoadGlobal);
    let port = f64::from(m.network.interval);
    let mut all = vec![
        Resource { name: "load-store unit", cycles: load_interval(machine, lines) },
        Resource { name: "network", cycles: port * sectors.max(lines) },
        Resource { name: "L2 slices", cycles: f64::from(m.l2.interval) * sectors / f64::from(m.l2.slices) },
        // Little's law: as many as are on their way, each for as long as it takes.
        Resource { name: "warps", cycles: alone / in_flight as f64 },
        // Taken when a load issues, until it is back.
        Resource { name: "miss registers", cycles: held * lines / f64::from(m.data.misses) },
    ];
    if dram.is_some() {
        let cycles = dram_bus(machine, sectors as u64).max(row_time(machine, sectors));
        all.push(Resource { name: "DRAM", cycles });
    }
    let slowest = all.into_iter().max_by(|a, b| a.cycles.total_cmp(&b.cycles));
    slowest.unwrap_or(Resource { name: "nothing", cycles: 0.0 })
}

/// Cycles a load of `sectors` sectors of a walk through memory if opening rows is what limits it: each of a
/// channel's banks opens one every `row-cycle`, or when the one before may be closed and is, and the channel one
/// every `t-rrd`.
fn row_time(machine: &Machine, sectors: f64) -> f64 {
    let (m, dram) = (&machine.memory, &machine.memory.dram);
    let rows = sectors * f64::from(m.sector_bytes) / f64::from(dram.row_bytes);
    let of_bank = dram.row_cycle.max(if dram.t_ras > 0 { dram.t_ras + dram.t_rp } else { 0 });
    let each = (f64::from(of_bank) / f64::from(dram.banks)).max(f64::from(dram.t_rrd));
    rows * each / f64::from(dram.channels)
}

/// DRAM's bus: cycles of an access of so many sectors, of which all channels have equal shares.
pub fn dram_bus(machine: &Machine, sectors: u64) -> f64 {
    let dram = &machine.memory.dram;
    let access = (f64::from(dram.interval) * sectors as f64).max(f64::from(dram.t_ccd));
    access / f64::from(dram.channels) / unrefreshed(machine)
}

/// Cycles in which the units of one class take a warp's instruction, where `clusters` clusters that have it get
/// equal shares and each cluster issues one instruction a cycle.
pub fn issue_interval(machine: &Machine, class: OpClass, clusters: u32) -> f64 {
    row(machine, class).map_or(1.0, |t| f64::from(t.interval)) / f64::from(clusters)
}

/// Work-groups that an SM holds, each of `warps` warps that name `registers` main registers, with `local` bytes
/// of work-group memory.
pub fn resident_groups(machine: &Machine, warps: u32, registers: u32, local: u32) -> u32 {
    let sm = &machine.sm;
    let by_registers = sm.main_registers / (machine.warp_size * registers.max(1) * warps);
    let by_memory = sm.local_memory.checked_div(local).unwrap_or(u32::MAX);
    (sm.max_warps / warps).min(sm.max_work_groups).min(by_registers).min(by_memory)
}

/// Warp instructions that the device issues a cycle at most: each SM's clusters one each, its scalar unit, and
/// its front end.
pub fn most_issued(machine: &Machine) -> f64 {
    f64::from(machine.sm.count) * f64::from(machine.clusters.len() as u32 + machine.sm.scalar_issue + 1)
}
