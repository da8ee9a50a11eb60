//! Throughput: how often units, caches, the network and DRAM take work when there is always more.

use heddle_isa::OpClass;
use heddle_target::{Machine, Unit};

use crate::Plot;
use crate::bench::{Bench, Measured};
use crate::expect::{self, Resource};
use crate::kernel::{Kernel, Shape};
use crate::latency::{CHAINS, cluster, on};

/// How far a bandwidth may be from its closed form: a stream has an end, and warps do not keep step.
const STREAM: f64 = 0.05;

/// How far the issue of instructions for several units may be from what these could take together: warps run
/// into each other, and at the end there are too few of them for all units.
const TURNS: f64 = 0.1;

/// The bound of a stream that something limits. Where that is miss registers, the oldest warps have them, and at the
/// end there are too few warps for all; where it is the warps, what they do between loads counts.
fn bound_of(limit: &Resource) -> f64 {
    match limit.name {
        "miss registers" => 0.2,
        "warps" => 0.1,
        _ => STREAM,
    }
}

/// All checks of throughput.
pub fn all(bench: &mut Bench) {
    issue_of_classes(bench);
    issue_mixes(bench);
    scalar_issue(bench);
    coalescing(bench);
    l1_bandwidth(bench);
    l2_bandwidth(bench);
    atomics(bench);
    dram_bandwidth(bench);
}

/// Warps that keep a unit busy: as many as an SM holds, in one work-group.
fn many(machine: &Machine) -> u32 {
    machine.sm.max_warps.min(machine.sm.max_work_group_size / machine.warp_size).min(32)
}

/// Cycles a warp instruction takes when `warps` warps have nothing but these, `lines` a loop.
fn rate(bench: &mut Bench, machine: &Machine, warps: u32, lines: &[String]) -> Measured {
    let body: String = lines.iter().map(|l| format!("  {l}\n")).collect();
    let period = bench.period(machine, &Kernel::of(body), &Shape::warps(warps), [8, 24])?;
    Ok(period / f64::from(warps) / lines.len() as f64)
}

/// An instruction of a class that needs nothing of the loop's others: number `i` of them writes a register of its
/// own.
fn apart(text: &str, i: usize) -> String {
    let (name, operands) = text.split_once(' ').unwrap_or((text, ""));
    let (first, wide) = (6 + 2 * (i % 5), operands.starts_with("m["));
    let destination = if wide { format!("m[{first}:{}]", first + 1) } else { format!("m{first}") };
    let sources = operands.split_once(", ").map_or("", |o| o.1);
    format!("{name} {destination}, {sources}")
}

/// Cycles of a loop that one warp alone takes at least, with `lines` instructions of a class in different registers.
fn alone(machine: &Machine, class: OpClass, lines: f64) -> f64 {
    let t = expect::row(machine, class);
    let (latency, interval) = t.map_or((1.0, 1.0), |t| (f64::from(t.latency), f64::from(t.interval)));
    let counting = expect::scalar_chain(machine, OpClass::Int32).unwrap_or(1.0);
    // The loop's end, or a register that is written again.
    (interval * lines + counting + expect::branch(machine)).max(latency * lines / 5.0)
}

/// Each class alone on one cluster, and on all that have its unit.
fn issue_of_classes(bench: &mut Bench) {
    // So many that the loop's end does not count, in five registers.
    const LINES: usize = 40;
    let machine = bench.one_sm();
    let warps = many(&machine);
    for (class, text) in CHAINS {
        let unit = expect::row(&machine, class).map_or(Unit::Alu, |t| t.unit);
        let having: Vec<usize> = (0..machine.clusters.len()).filter(|c| machine.cluster_has(*c, unit)).collect();
        let mut expected = expect::issue_interval(&machine, class, 1);
        let bound = alone(&machine, class, LINES as f64) / f64::from(warps) / LINES as f64;
        expected = expected.max(bound);
        let on = having.first().copied().unwrap_or(0);
        let lines: Vec<String> = (0..LINES).map(|i| format!("c{on} {}", apart(text, i))).collect();
        let measured = rate(bench, &machine, warps, &lines);
        bench.compare(format!("{class} on one cluster"), "cycles", expected, measured, STREAM);
        let apart_units = having.iter().all(|c| machine.shared_unit(*c, unit).is_none());
        if having.len() > 1 && class == OpClass::Int32 && apart_units {
            let lines: Vec<String> =
                (0..LINES * having.len()).map(|i| format!("c{} {}", having[i % having.len()], apart(text, i))).collect();
            let expected = expect::issue_interval(&machine, class, having.len() as u32);
            let measured = rate(bench, &machine, warps, &lines);
            bench.compare(format!("{class} on {} clusters", having.len()), "cycles", expected, measured, TURNS);
        }
    }
}

/// Two units of one cluster share its slot; units of two clusters do not.
fn issue_mixes(bench: &mut Bench) {
    let machine = bench.one_sm();
    let warps = many(&machine);
    let alu = CHAINS[1].1;
    for (class, text) in CHAINS.into_iter().filter(|(c, _)| [OpClass::Special, OpClass::Float64].contains(c)) {
        let of = cluster(&machine, class);
        let name = format!("int32 and {class} of one cluster, in turns");
        let has_alu = machine.cluster_has(of, Unit::Alu);
        let unit = expect::row(&machine, class).map_or(Unit::Alu, |t| t.unit);
        if !has_alu || unit == Unit::Alu {
            bench.leave_out(name, "no cluster has both units");
            continue;
        }
        let lines: Vec<String> =
            (0..40).map(|i| format!("c{of} {}", if i % 2 == 0 { apart(alu, i) } else { apart(text, i) })).collect();
        // Half of them each: the slot, or the slower unit.
        let slowest = expect::issue_interval(&machine, class, 1).max(expect::issue_interval(&machine, OpClass::Int32, 1));
        let expected = (slowest / 2.0).max(1.0);
        let measured = rate(bench, &machine, warps, &lines);
        // The warp that issued last goes first, so the slower unit waits for the slot now and then.
        bench.compare(name, "cycles", expected, measured, TURNS);
    }
}

/// The scalar unit alone, and beside a vector unit.
fn scalar_issue(bench: &mut Bench) {
    let described = bench.one_sm();
    let warps = many(&described);
    for slots in 1..=described.sm.scalar_issue {
        let mut machine = described.clone();
        machine.sm.scalar_issue = slots;
        let lines: Vec<String> = (0..39).map(|i| format!("mov.b32 s{}, 1", 2 + i % 5)).collect();
        // The loop's own instruction is one of them.
        let body: String = lines.iter().map(|l| format!("  {l}\n")).collect();
        let period = bench.period(&machine, &Kernel::of(body), &Shape::warps(warps), [8, 24]);
        let measured = period.map(|p| p / f64::from(warps) / 40.0);
        let expected = (1.0 / f64::from(slots)).max(1.0 / f64::from(warps));
        bench.compare(format!("scalar instructions, {slots} a cycle"), "cycles", expected, measured, 0.03);
    }
    let int32 = cluster(&described, OpClass::Int32);
    let pairs = |i: usize| {
        if i % 2 == 0 { format!("c{int32} {}", apart("add.b32 m2, m3, 1", i)) } else { format!("mov.b32 s{}, 1", 2 + i % 5) }
    };
    let lines: Vec<String> = (0..40).map(pairs).collect();
    let measured = rate(bench, &described, warps, &lines);
    // Twenty of either and the loop's own scalar instruction.
    let vector = 20.0 * expect::issue_interval(&described, OpClass::Int32, 1);
    let expected = vector.max(21.0 / f64::from(described.sm.scalar_issue)) / 40.0;
    bench.compare("vector and scalar instructions in turns", "cycles", expected, measured, TURNS);
}

/// Sectors and lines of an access, by the distance between lanes.
fn coalescing(bench: &mut Bench) {
    let machine = bench.one_sm();
    let (load, multiply) = (on(&machine, OpClass::LoadGlobal), on(&machine, OpClass::Mul32));
    let mut points = Vec::new();
    for stride in [0, 4, 8, 12, 16, 32, 64, 128, 256, 512] {
        let kernel = Kernel::of(format!("  {load}ld.global.b32.cg m3, [c[0x10] + u32 m2]"))
            .after(format!("  {multiply}mul.b32 m2, lane, {stride}"));
        let shape = Shape { times: 4, ..Shape::warps(1) };
        let done = bench.run(&machine, &kernel, &shape);
        let (lines, sectors) = expect::touched(&machine, stride);
        let counted = |what: fn(&heddle_sim::statistics::InstructionProfile) -> u64| -> Measured {
            let done = done.as_ref().map_err(Clone::clone)?;
            let profile = &done.statistics.timing.as_ref().ok_or("no timing")?.profile;
            Ok(profile.iter().map(what).sum::<u64>() as f64 / 4.0)
        };
        let simulated = counted(|p| p.sectors);
        points.push((f64::from(stride), sectors as f64, simulated.clone().unwrap_or(0.0)));
        bench.compare(format!("sectors of a load, lanes {stride} bytes apart"), "sectors", sectors as f64, simulated, 0.0);
        bench.compare(format!("lines of a load, lanes {stride} bytes apart"), "lines", lines as f64, counted(|p| p.lines), 0.0);
    }
    bench.plot(Plot {
        id: "coalescing",
        title: "Sectors of a load, by the distance between lanes".into(),
        note: "Lanes that touch one sector share it.".into(),
        across: "bytes between lanes",
        up: "sectors",
        reference: "expected",
        points,
    });
}

/// Loads that keep memory busy: so many of a warp at once that hardly any others are needed.
struct Loads {
    kernel: Kernel,
    /// Loads of the loop.
    count: usize,
    /// Warps of a work-group that has room for their registers.
    warps: u32,
}

impl Loads {
    /// Loads of consecutive words of a warp, of eight places in turns.
    fn new(machine: &Machine, policy: &str) -> Loads {
        let count = (machine.sm.max_main_registers as usize - 3).min(48);
        let registers = count as u32 + 3;
        let warps = many(machine).min(expect::resident_groups(machine, 1, registers, 0)).max(1);
        let (load, shift) = (on(machine, OpClass::LoadGlobal), on(machine, OpClass::Int32));
        let bytes = (4 * machine.warp_size).next_multiple_of(machine.memory.line_bytes);
        let place = |i: usize| bytes as usize * (i % PLACES);
        let line = |i: usize| format!("  {load}ld.global.b32{policy} m{}, [c[0x10] + u32 m2 + {}]\n", 3 + i, place(i));
        let kernel = Kernel::of((0..count).map(line).collect::<String>()).after(format!("  {shift}shl.b32 m2, lane, 2"));
        Loads { kernel: Kernel { registers, ..kernel }, count, warps }
    }

    /// Loads on their way at most.
    fn in_flight(&self) -> u64 {
        u64::from(self.warps) * self.count as u64
    }

    /// Cycles a load.
    fn measure(&self, bench: &mut Bench, machine: &Machine, groups: u32) -> Measured {
        let shape = Shape { groups, ..Shape::warps(self.warps) };
        let period = bench.period(machine, &self.kernel, &shape, [4, 12])?;
        Ok(period / self.in_flight() as f64)
    }
}

/// Places that [`Loads`] read.
const PLACES: usize = 8;

/// Hits in L1: one line a cycle.
fn l1_bandwidth(bench: &mut Bench) {
    let machine = bench.one_sm();
    let (lines, sectors) = expect::touched(&machine, 4);
    let name = "L1, hits of all warps";
    if PLACES as u64 * lines * u64::from(machine.memory.line_bytes) > u64::from(machine.memory.data.bytes) / 2 {
        bench.leave_out(name, "the L1 is too small to hold a few lines");
        return;
    }
    let loads = Loads::new(&machine, "");
    let hit = expect::load(&machine, expect::Path::Data, expect::Level::L1, 0.0);
    let expected = expect::load_interval(&machine, lines as f64).max(hit / loads.in_flight() as f64);
    let bytes = sectors as f64 * f64::from(machine.memory.sector_bytes);
    let measured = loads.measure(bench, &machine, 1).map(|cycles| bytes / cycles);
    bench.compare(name, "bytes a cycle", bytes / expected, measured, STREAM);
}

/// Loads past L1 of what L2 has: to one SM, and from one slice to several.
fn l2_bandwidth(bench: &mut Bench) {
    let machine = bench.one_sm();
    let (lines, sectors) = expect::touched(&machine, 4);
    let bytes = sectors as f64 * f64::from(machine.memory.sector_bytes);
    let loads = Loads::new(&machine, ".cg");
    let limit = expect::stream(&machine, loads.in_flight(), lines, sectors, None);
    let measured = loads.measure(bench, &machine, 1).map(|cycles| bytes / cycles);
    let name = format!("L2 to one SM, limited by the {}", limit.name);
    bench.compare(name, "bytes a cycle", bytes / limit.cycles, measured, bound_of(&limit));
    let sms = bench.machine.sm.count.min(4);
    let machine = bench.one_slice(sms);
    let limit = expect::stream(&machine, loads.in_flight(), lines, sectors, None);
    let slice = f64::from(machine.memory.l2.interval) * sectors as f64;
    let expected = (limit.cycles / f64::from(sms)).max(slice);
    let measured = loads.measure(bench, &machine, sms).map(|cycles| bytes * f64::from(sms) / cycles);
    let name = format!("one L2 slice to {sms} SMs");
    bench.compare(name, "bytes a cycle", bytes / expected, measured, bound_of(&limit));
    little(bench);
}

/// Dependent loads of one line a warp, by warps.
fn little(bench: &mut Bench) {
    // All warps load the same line, of one slice.
    let machine = bench.one_slice(1);
    let (load, add) = (on(&machine, OpClass::LoadGlobal), on(&machine, OpClass::Int32));
    let (lines, sectors) = expect::touched(&machine, 4);
    let bytes = sectors as f64 * f64::from(machine.memory.sector_bytes);
    let line = format!("  {load}ld.global.b32.cg m3, [c[0x10] + u32 m2]\n  {add}add.b32 m2, m2, m3\n");
    let kernel = Kernel::of(line.repeat(4)).after(format!("  {add}shl.b32 m2, lane, 2"));
    let path = expect::Path::Data;
    let m = &machine.memory;
    let reply = f64::from(m.network.interval) * (sectors as f64 - 1.0);
    let again = expect::load(&machine, path, expect::Level::L2, 0.0) + reply + expect::chain(&machine, OpClass::Int32);
    let limit = expect::stream(&machine, u64::MAX, lines, sectors, None);
    let slowest = limit.cycles;
    let mut points = Vec::new();
    for warps in [1, 2, 4, 8, 16, 24, 32, 48, 64].into_iter().filter(|w| *w <= machine.sm.max_warps) {
        let shape = Shape { groups: warps, ..Shape::warps(1) };
        if warps > expect::resident_groups(&machine, 1, 16, 0) {
            continue;
        }
        let measured = bench.period(&machine, &kernel, &shape, [8, 24]).map(|p| bytes * f64::from(warps) * 4.0 / p);
        let expected = bytes * (f64::from(warps) / again).min(1.0 / slowest);
        points.push((f64::from(warps), expected, measured.clone().unwrap_or(0.0)));
        // Near the knee warps wait for each other now and then.
        let near = (f64::from(warps) * slowest / again - 1.0).abs() < 0.4;
        let full = f64::from(warps) * slowest > again;
        let bound = if near {
            0.2
        } else if full {
            bound_of(&limit)
        } else {
            STREAM
        };
        bench.compare(format!("Little's law, {warps} warps with a load each"), "bytes a cycle", expected, measured, bound);
    }
    bench.plot(Plot {
        id: "little",
        title: "Bandwidth of L2, by warps with a load on its way each".into(),
        note: "Warps over latency (Little's law), up to what the slowest place passes.".into(),
        across: "warps",
        up: "bytes a cycle",
        reference: "expected",
        points,
    });
}

/// Atomics of many warps on one word: L2 does them one after the other.
fn atomics(bench: &mut Bench) {
    const LINES: usize = 4;
    let machine = bench.one_sm();
    let warps = many(&machine);
    let (unit, move_) = (on(&machine, OpClass::Atomic), on(&machine, OpClass::Move));
    let atomic = |to: &str| format!("  {unit}atom.global.add.b32 {to}, [c[0x10]], m4\n");
    // Behind the loop each warp waits for its last one, which waits for all others.
    let behind = format!("{}  {move_}mov.b32 m6, m5", atomic("m5"));
    let before = format!("  {move_}mov.b32 m4, 1");
    let kernel = Kernel { behind, ..Kernel::of(atomic("_").repeat(LINES)).after(before) };
    let measured = bench.period(&machine, &kernel, &Shape::warps(warps), [4, 12]);
    let measured = measured.map(|p| p / f64::from(warps) / LINES as f64);
    let interval = expect::row(&machine, OpClass::Atomic).map_or(1.0, |t| f64::from(t.interval));
    let expected = expect::atomic_interval(&machine).max(interval);
    bench.compare("atomics of all warps on one word", "cycles", expected, measured, STREAM);
}

/// Accesses of a warp at once in a stream.
const ACCESSES: u32 = 4;

/// Streams from and to DRAM through one channel: its bus, or how fast its banks open rows.
fn dram_bandwidth(bench: &mut Bench) {
    let (_, sectors) = expect::touched(bench.machine, 4);
    let line = bench.machine.memory.line_bytes;
    // All of a warp's words in one line.
    let bytes = 4 * bench.machine.warp_size;
    for (what, reads, writes) in [("read", 1, 0), ("written", 0, 1), ("copied", 1, 1)] {
        let name = format!("DRAM channel, {what}");
        if line % bytes != 0 && bytes % line != 0 {
            bench.leave_out(name, "a warp's words are no whole lines");
            continue;
        }
        let machine = bench.variant(|m| {
            (m.sm.count, m.memory.l15.sms) = (1, 1);
            // As little of L2 as there can be, so that what is written has to leave it.
            m.memory.l2.bytes = m.memory.l2.ways * m.memory.line_bytes;
            (m.memory.l2.slices, m.memory.dram.channels) = (1, 1);
        });
        let warps = many(&machine).min(8);
        let (load, store) = (on(&machine, OpClass::LoadGlobal), on(&machine, OpClass::Store));
        let add = on(&machine, OpClass::Int32);
        let mut body = String::new();
        for i in 0..ACCESSES {
            let place = format!("u32 m2 + {}]\n", bytes * warps * i);
            if reads > 0 {
                body += &format!("  {load}ld.global.b32.cg m{}, [c[0x10] + {place}", 3 + i);
            }
            if writes > 0 {
                body += &format!("  {store}st.global.b32 [c[0x18] + {}, m{}\n", place.trim_end(), 3 + i);
            }
        }
        body += &format!("  {add}add.b32 m2, m2, {}\n", bytes * warps * ACCESSES);
        if reads == 0 {
            // Stores wait for nothing, so warps would drift apart and write many rows at once.
            body += "  bar 1\n";
        }
        let before = format!("  {add}shl.b32 m2, gid.x, 2");
        // A load of places that nothing has touched waits behind all that was written.
        let behind = format!("  {load}ld.global.b32.cg m4, [c[0x18] + u32 m2 + {}]\n  {add}add.b32 m4, m4, 1", 1 << 22);
        let kernel = Kernel { behind, ..Kernel::of(body).after(before) };
        let times = [16, 64];
        let size = u64::from(bytes * warps * ACCESSES) * (u64::from(times[1]) + 2);
        let shape = Shape { bytes: size + (1 << 22) + 4096, ..Shape::warps(warps) };
        let each = f64::from(warps * ACCESSES);
        let measured = bench.period(&machine, &kernel, &shape, times);
        let measured = measured.map(|p| f64::from(bytes) * f64::from(reads + writes) * each / p);
        // The bus has all of it; reads wait for what comes, and writes have to get there.
        let bus = expect::dram_bus(&machine, sectors) * f64::from(reads + writes);
        let near = match reads {
            0 => {
                let m = &machine.memory;
                Resource { name: "port", cycles: f64::from(m.network.interval.max(m.l2.interval)) * sectors as f64 }
            }
            _ => {
                // The warp that is ahead of the others comes to new rows first, and none can pass it.
                // For a bound of both streams at once all rows are open.
                let new = if writes > 0 { 0 } else { bytes * warps * ACCESSES };
                let rows = f64::from(new) / f64::from(machine.memory.dram.row_bytes);
                expect::stream(&machine, u64::from(warps * ACCESSES), 1, sectors, Some(rows.min(1.0)))
            }
        };
        let expected = f64::from(bytes) * f64::from(reads + writes) / bus.max(near.cycles);
        if reads > 0 && writes > 0 {
            // Two streams open rows of each other's banks; how often is not the description's to say.
            bench.at_most(name, "bytes a cycle", expected, measured);
        } else {
            bench.compare(name, "bytes a cycle", expected, measured, bound_of(&near));
        }
    }
}
