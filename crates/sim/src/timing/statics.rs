//! What the timing model knows of each instruction before the launch: scoreboard rows, unit, latencies.

use super::sm::Source;
use crate::program::{End, Program};
use crate::rename::Uses;
use heddle_isa::{AddressMode, Inst, MemorySpace, Op, OpClass, Operand, PhysReg, Reg, Space, Special};
use heddle_target::{Machine, Unit};

/// Where an instruction stands in its block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Position {
    /// Another one of the block follows.
    Inside,
    /// The last one of a block that falls through to the next.
    Falls,
    /// The one that ends the block.
    Ends,
}

/// Port through which an instruction issues: the scalar unit's slot.
pub(super) const SCALAR: u8 = 0;
/// The front end.
pub(super) const CONTROL: u8 = 1;
/// The first unit of the first cluster; units of a cluster follow each other.
pub(super) const FIRST_UNIT: u8 = 2;
/// Kinds of units, with room for a power of two of them.
pub(super) const UNITS: usize = 8;

/// Predicate registers of a warp at most.
const PREDICATES: usize = 16;

/// Scoreboard rows behind all others: one that nobody writes, and one that nobody reads.
const SPARE_ROWS: u16 = 2;

/// How an instruction uses the memory hierarchy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// Not, or without an answer.
    Free,
    /// A load, whose answer may come later.
    Load,
    /// An atomic, whose answer may come later.
    Atomic,
    /// A read of an image, likewise.
    Texture,
    /// The answer must come at once.
    Direct,
}

/// Scoreboard rows that an instruction has beside its other figures: those it waits for, and those it writes.
pub(super) const NEAR_WAITS: usize = 6;
pub(super) const NEAR_WRITES: usize = 2;
/// Words of main registers, likewise.
const NEAR_WORDS: usize = 4;

/// What the timing model needs to know of an instruction, worked out once. Times are cycles.
///
/// A line of the host's caches, with the rows and words of most instructions in it.
#[repr(C, align(64))]
pub(super) struct Static {
    /// Scoreboard rows: those it waits for (read or written), and the written ones. The rest of the room has rows that no
    /// instruction has, so that all of it can be looked at. In [`Statics::rows`] they are from `first` on, in all `rows`.
    near_waits: [u16; NEAR_WAITS],
    near_writes: [u16; NEAR_WRITES],
    first: u32,
    waits: u16,
    rows: u16,
    /// Main registers that it reads, then those that it writes, in all `main_words`, if those are kept. Where there are more
    /// than have room here, all are in [`Statics::main_words`] from `main_first` on.
    near_words: [u8; NEAR_WORDS],
    main_first: u32,
    main_reads: u8,
    main_words: u8,
    /// Lane operands that the run-time scalarizer compares, in words a lane.
    pub compared: u8,
    /// There are more scoreboard rows than have room here.
    far_rows: bool,
    /// Line of code that it is in.
    pub line: u32,
    /// The cluster that runs it, unless the scalar unit or the front end does.
    pub cluster: u8,
    /// Port, as the code knows it, unless the scalar unit runs it.
    pub port: u8,
    pub position: Position,
    /// The compiler has it run on the scalar unit.
    pub scalar: bool,
    /// The front end runs it.
    pub control: bool,
    /// The scalar unit could run it if all active lanes had the same operands.
    pub eligible: bool,
    /// Where its result comes from.
    pub source: Source,
    /// A strand begins with it (C14).
    pub strand: bool,
    /// How it uses the memory hierarchy.
    pub way: Way,
    /// Uses shared registers.
    pub renames: bool,
    /// Acts on nothing but its warp's registers, and does not fail: it may be executed before it issues.
    pub ahead: bool,
    /// From its issue to its result, without what the hierarchy adds.
    pub latency: u32,
    /// For how long it takes its unit.
    pub interval: u32,
    /// From its issue to its result on the scalar unit.
    pub scalar_latency: u32,
}

const _: () = assert!(size_of::<Static>() == 64);

/// All instructions.
pub(super) struct Statics {
    pub insts: Vec<Static>,
    /// Scoreboard rows.
    rows: Vec<u16>,
    /// Words of main registers modulo the number of banks, where these are modelled.
    main_words: Vec<u8>,
    /// Scoreboard rows of a warp: those of its registers, then the predicates, then those that no instruction has.
    pub scoreboard: usize,
    /// Shared registers (REN-3), an instruction each.
    pub shared: Vec<Uses>,
    /// Some special register changes while a warp runs.
    pub refreshes: bool,
}

impl Statics {
    /// Rows an instruction waits for: what it reads, and what it writes, because results return in any order otherwise.
    #[inline(always)]
    pub fn waits<'s>(&'s self, s: &Static) -> &'s [u16] {
        &self.rows[s.first as usize..][..usize::from(s.waits)]
    }
    /// The same where there are few, with rows behind them for which nobody waits.
    #[inline(always)]
    pub fn near_waits<'s>(&self, s: &'s Static) -> Option<&'s [u16; NEAR_WAITS]> {
        (!s.far_rows).then_some(&s.near_waits)
    }
    /// Rows it writes.
    #[inline(always)]
    pub fn writes<'s>(&'s self, s: &Static) -> &'s [u16] {
        &self.rows[s.first as usize..][usize::from(s.waits)..usize::from(s.rows)]
    }
    /// The same where there are few, with rows behind them that nobody reads.
    #[inline(always)]
    pub fn near_writes<'s>(&self, s: &'s Static) -> Option<&'s [u16; NEAR_WRITES]> {
        (!s.far_rows).then_some(&s.near_writes)
    }
    /// Main registers it reads, modulo the number of banks, a word each; empty where these are not modelled.
    #[inline(always)]
    pub fn main_reads<'s>(&'s self, s: &'s Static) -> &'s [u8] {
        let (reads, all) = (usize::from(s.main_reads), usize::from(s.main_words));
        if all <= NEAR_WORDS { &s.near_words[..reads] } else { &self.main_words[s.main_first as usize..][..reads] }
    }
    /// Main registers it writes, likewise.
    #[inline(always)]
    pub fn main_writes<'s>(&'s self, s: &'s Static) -> &'s [u8] {
        let (reads, all) = (usize::from(s.main_reads), usize::from(s.main_words));
        if all <= NEAR_WORDS { &s.near_words[reads..all] } else { &self.main_words[s.main_first as usize..][reads..all] }
    }
}

/// The first values of a list, as many as have room, and behind them others.
fn near<T: Copy, const ROOM: usize>(list: &[T], others: T) -> [T; ROOM] {
    std::array::from_fn(|i| list.get(i).copied().unwrap_or(others))
}

/// Bytes of an instruction.
pub(super) const INSTRUCTION_BYTES: u64 = 16;

/// Position of a unit among a cluster's.
pub(super) fn unit_index(unit: Unit) -> u8 {
    match unit {
        Unit::Alu => 0,
        Unit::Sfu => 1,
        Unit::Double => 2,
        Unit::LoadStore => 3,
        Unit::Control => 4,
    }
}

/// What the timing model knows of a program's instructions. Main registers from `fixed` on are shared.
/// `checked`: something is checked of instructions when they issue. `turns`: lanes may take turns at the end of a block.
pub(super) fn statics(program: &Program, machine: &Machine, fixed: u32, checked: bool, turns: bool) -> Statics {
    let changing = [Special::ExecLow, Special::ExecHigh, Special::ClockLow];
    let mut all = Statics {
        insts: Vec::new(),
        rows: Vec::new(),
        main_words: Vec::new(),
        scoreboard: usize::from(program.rows.constants) + PREDICATES + usize::from(SPARE_ROWS),
        shared: program.insts.iter().map(|i| Uses::new(i, fixed)).collect(),
        refreshes: program.rows.specials.iter().any(|(s, _)| changing.contains(s)),
    };
    let positions = positions(program);
    for (i, inst) in program.insts.iter().enumerate() {
        let all_scalars = turns && positions[i] == Position::Ends;
        let (first, waits, writes) = all.add_rows(program, inst, i, all_scalars);
        let (main_first, main_reads, main_writes) =
            if machine.main_file.is_modelled() { all.add_main_words(inst, machine.main_file.banks) } else { (0, 0, 0) };
        let class = inst.class();
        let scalar = inst.runs_on_scalar_unit();
        let control = class == OpClass::Control;
        let (unit, interval, latency, scalar_latency) = cost(inst, machine);
        let lane_words = |i: usize, s: &Operand| if s.is_uniform_physical() { 0 } else { inst.src_words(i).max(1) };
        let uses = &all.shared[i];
        let offset = program.header.text_offset + INSTRUCTION_BYTES * i as u64;
        let (never_written, never_read) = (all.scoreboard as u16 - SPARE_ROWS, all.scoreboard as u16 - 1);
        let (waited_for, written) = all.rows[first as usize..].split_at(usize::from(waits));
        all.insts.push(Static {
            near_waits: near(waited_for, never_written),
            near_writes: near(written, never_read),
            far_rows: waited_for.len() > NEAR_WAITS || written.len() > NEAR_WRITES,
            first,
            waits,
            rows: waits + writes,
            near_words: near(all.main_words.get(main_first as usize..).unwrap_or_default(), 0),
            main_first,
            main_reads,
            main_words: main_reads + main_writes,
            line: (offset / u64::from(machine.memory.line_bytes)) as u32,
            cluster: inst.cluster,
            port: match (scalar, control) {
                (true, _) => SCALAR,
                (_, true) => CONTROL,
                _ => FIRST_UNIT + UNITS as u8 * inst.cluster + unit_index(unit),
            },
            position: positions[i],
            scalar,
            control,
            eligible: inst.info().flags.scalar && !scalar && !control && inst.dst.is_some(),
            source: match way(inst) {
                Way::Load | Way::Atomic | Way::Texture | Way::Direct if inst.op != Op::CacheControl => Source::Hierarchy,
                _ if inst.is_memory() => Source::Memory,
                _ => Source::Unit,
            },
            strand: inst.strand,
            way: way(inst),
            renames: !(uses.reads.is_empty() && uses.writes.is_empty() && uses.releases.is_empty()),
            ahead: !all.refreshes && !checked && positions[i] != Position::Ends && acts_on_registers(class),
            latency: if scalar { scalar_latency } else { latency },
            interval,
            scalar_latency,
            compared: inst.srcs.iter().enumerate().map(|(i, s)| lane_words(i, s)).sum(),
        });
    }
    all
}

impl Statics {
    /// Adds the words of main registers that an instruction reads, then those that it writes, modulo the number of banks;
    /// returns where they begin, and the number of either.
    fn add_main_words(&mut self, inst: &Inst, banks: u32) -> (u32, u8, u8) {
        let first = self.main_words.len();
        let column = |register: u8| u32::from(register).checked_rem(banks).unwrap_or(0) as u8;
        let mut add = |operand: &Operand, words: u8| match operand.as_phys() {
            Some(PhysReg { space: Space::Main, index }) => {
                self.main_words.extend((0..words.max(1)).map(|w| column(index.wrapping_add(w))));
                words.max(1)
            }
            _ => 0,
        };
        let reads = inst.srcs.iter().enumerate().map(|(i, s)| add(s, inst.src_words(i))).sum();
        let writes = add(&inst.dst, inst.dst_words());
        (first as u32, reads, writes)
    }

    /// Adds the scoreboard rows of an instruction: of what it reads and writes, for which it waits, then
    /// again of what it writes. Returns where they begin and the number of either. Those of the predicates
    /// come after all register rows, behind which constants and the like, for which nobody waits, have their
    /// rows.
    fn add_rows(&mut self, program: &Program, inst: &Inst, index: usize, all_scalars: bool) -> (u32, u16, u16) {
        let predicates = program.rows.constants;
        let row = |operand: Operand, row: u16, words: u8, out: &mut Vec<u16>| match operand {
            Operand::Reg(Reg::Physical(p)) if p.space == Space::Predicate => out.push(predicates + u16::from(p.index)),
            Operand::Reg(_) if row < predicates => out.extend((0..u16::from(words.max(1))).map(|w| row + w)),
            _ => {}
        };
        let rows = program.operands[index];
        let all = &mut self.rows;
        let first = all.len();
        for (k, s) in inst.srcs.iter().enumerate() {
            row(*s, rows[k + 1], inst.src_words(k), all);
        }
        if let Some(g) = inst.guard {
            row(Operand::Reg(g.reg), 0, 0, all);
        }
        row(inst.dst, rows[0], inst.dst_words(), all);
        if all_scalars {
            // A turn saves them.
            all.extend((0..program.header.scalar_registers as u16).map(|r| program.rows.scalar + r));
        }
        // Each row once. Which comes first decides what a warp is said to wait for.
        let mut last = first;
        for k in first..all.len() {
            if !all[first..last].contains(&all[k]) {
                all[last] = all[k];
                last += 1;
            }
        }
        all.truncate(last);
        row(inst.dst, rows[0], inst.dst_words(), all);
        (first as u32, (last - first) as u16, (all.len() - last) as u16)
    }
}

/// Where each instruction stands in its block.
fn positions(program: &Program) -> Vec<Position> {
    let mut positions = vec![Position::Inside; program.insts.len()];
    for block in &program.blocks {
        let end = (block.first + block.body) as usize;
        if block.end != End::Fall {
            positions[end] = Position::Ends;
        } else if block.body > 0 {
            positions[end - 1] = Position::Falls;
        }
    }
    positions
}

/// What an instruction costs: its unit, for how many cycles it takes that, and cycles to its result, there
/// and on the scalar unit.
fn cost(inst: &Inst, machine: &Machine) -> (Unit, u32, u32, u32) {
    let memory = memory_latency(inst, machine);
    let Some(t) = machine.timing.get(&inst.class()) else { return (Unit::Alu, 1, 1 + memory, 1 + memory) };
    let scalar = if t.scalar_latency == 0 { t.latency } else { t.scalar_latency };
    (t.unit, t.interval, t.latency + memory, scalar + memory)
}

/// Whether an instruction acts on nothing but its warp's registers, and does not fail.
fn acts_on_registers(class: OpClass) -> bool {
    use OpClass as C;
    !matches!(class, C::LoadGlobal | C::LoadLocal | C::LoadPrivate | C::LoadArgument | C::Store | C::Atomic | C::MemoryControl)
}

/// How an instruction uses the memory hierarchy.
fn way(inst: &Inst) -> Way {
    let cached = !matches!(inst.mods.space, Some(MemorySpace::Local | MemorySpace::Argument));
    match inst.op {
        Op::Load | Op::LoadUniform if cached => Way::Load,
        Op::Atomic if cached => Way::Atomic,
        Op::Sample => Way::Texture,
        Op::CacheControl | Op::CacheControlLocal => Way::Direct,
        _ => Way::Free,
    }
}

/// Cycles that an instruction's memory adds to its latency, where they are flat.
fn memory_latency(inst: &Inst, machine: &Machine) -> u32 {
    if !matches!(inst.op, Op::Load | Op::LoadUniform | Op::Atomic) {
        return 0;
    }
    let m = &machine.memory;
    let surface = if inst.mods.address == AddressMode::Surface { m.surface_latency } else { 0 };
    surface
        + match inst.mods.space {
            Some(MemorySpace::Local) => m.local_latency,
            Some(MemorySpace::Argument) => m.argument_latency,
            // As long as the hierarchy says.
            _ => 0,
        }
}
