//! Latencies: chains of instructions each of which needs the result of the one before.

use heddle_isa::OpClass;
use heddle_target::{Machine, SetIndex, Unit};

use crate::Plot;
use crate::bench::{Bench, Measured};
use crate::expect::{self, Level, Path};
use crate::kernel::{Kernel, Shape};

/// An instruction of each class whose result is its own operand, on vector registers; on the scalar unit it
/// has `s` for `m`. `s0` counts the loop, so registers begin with 2.
pub const CHAINS: [(OpClass, &str); 13] = [
    (OpClass::Move, "mov.b32 m2, m2"),
    (OpClass::Int32, "add.b32 m2, m2, 1"),
    (OpClass::Int64, "add.b64 m[2:3], m[2:3], m[4:5]"),
    (OpClass::Mul32, "mul.b32 m2, m2, m3"),
    (OpClass::Mul64, "mad.b64 m[2:3], m[2:3], m[4:5], m[4:5]"),
    (OpClass::IntDivide, "div.u32 m2, m2, m3"),
    (OpClass::Float16, "fma.f16 m2, m2, m3, m4"),
    (OpClass::Float32, "fma.f32 m2, m2, m3, m4"),
    (OpClass::Float64, "fma.f64 m[2:3], m[2:3], m[4:5], m[4:5]"),
    (OpClass::FloatDivide, "sqrt.f32 m2, m2"),
    (OpClass::Convert, "cvt.f32.s32.rn m2, m2"),
    (OpClass::Special, "sin.f32 m2, m2"),
    (OpClass::CrossLane, "shfl.b32 m2, m2, 3"),
];

/// The first cluster that has the unit of a class.
pub fn cluster(machine: &Machine, class: OpClass) -> usize {
    let unit = expect::row(machine, class).map_or(Unit::Alu, |t| t.unit);
    (0..machine.clusters.len()).find(|c| machine.cluster_has(*c, unit)).unwrap_or(0)
}

/// Where an instruction of a class runs, as assembly writes it before its name: `c2 `.
pub fn on(machine: &Machine, class: OpClass) -> String {
    format!("c{} ", cluster(machine, class))
}

/// All checks of latency.
pub fn all(bench: &mut Bench) {
    units(bench);
    branches(bench);
    barriers(bench);
    local_memory(bench);
    arguments(bench);
    for (path, name) in [(Path::Data, "data"), (Path::Uniform, "uniform"), (Path::Constant, "constant")] {
        chase(bench, path, name);
        associativity(bench, path, name);
    }
    atomics(bench);
}

/// A chain of each unit class, on its vector unit and on the scalar unit.
fn units(bench: &mut Bench) {
    let machine = bench.one_sm();
    let one = Shape::warps(1);
    for (class, text) in CHAINS {
        let cluster = cluster(&machine, class);
        let measured = bench.each(&machine, &one, "", |_| format!("c{cluster} {text}"));
        bench.exact(format!("{class} on the vector unit"), expect::chain(&machine, class), measured);
    }
    for (class, text) in CHAINS {
        // It reads lanes.
        if class == OpClass::CrossLane {
            continue;
        }
        let name = format!("{class} on the scalar unit");
        let Some(expected) = expect::scalar_chain(&machine, class) else {
            bench.leave_out(name, "the scalar unit does not have it");
            continue;
        };
        let text = text.replace(" m", " s");
        let measured = bench.each(&machine, &one, "", |_| text.clone());
        bench.exact(name, expected, measured);
    }
}

/// Branches that are taken, that are not, and at which lanes go both ways.
fn branches(bench: &mut Bench) {
    let machine = bench.one_sm();
    let one = Shape::warps(1);
    let mut targets = |text: &str, before: &str| {
        bench.each(&machine, &one, before, |i| text.replace('#', &i.to_string()).replace("; ", "\n  ").replace(":", ":\n"))
    };
    let one_way = expect::branch(&machine);
    let jump = targets("bra T#; T#:", "");
    let uniform = targets("bras s1, T#; T#:", "  mov.b32 s1, 1");
    let through = targets("bras.z s1, T#; T#:", "  mov.b32 s1, 1");
    let half = machine.warp_size / 2;
    let split = "@p0 brad T#, J#; bra J#; T#:  nop; J#:";
    let compare = on(&machine, OpClass::Int32);
    let diverged = targets(split, &format!("  {compare}cmp.lt.u32 p0, lane, {half}"));
    let together = targets(split, &format!("  {compare}cmp.lt.u32 p0, lane, {}", machine.warp_size));
    bench.exact("branch of all lanes", one_way, jump);
    bench.exact("scalar branch, taken", one_way, uniform);
    bench.exact("scalar branch, not taken", one_way, through);
    bench.exact("divergent branch whose lanes go both ways, and meet", expect::divergent_branch(&machine), diverged);
    // The branch, and the instruction that it goes to.
    bench.exact("divergent branch whose lanes all go one way", one_way + 1.0, together);
}

/// A barrier, by the warps of the work-group.
fn barriers(bench: &mut Bench) {
    let machine = bench.one_sm();
    let most = machine.sm.max_warps.min(machine.sm.max_work_group_size / machine.warp_size);
    let mut points = Vec::new();
    for warps in [1, 2, 4, 8, 16, 32].into_iter().filter(|w| *w <= most) {
        let measured = bench.each(&machine, &Shape::warps(warps), "", |_| "bar 1".into());
        let expected = expect::barrier(&machine, warps);
        points.push((f64::from(warps), expected, measured.clone().unwrap_or(0.0)));
        bench.exact(format!("barrier of {warps} warps"), expected, measured);
    }
    bench.plot(Plot {
        id: "barrier",
        title: "A barrier, by warps of the work-group".into(),
        note: "The front end issues one barrier a cycle; a warp goes on when its own is over and the last warp is there.".into(),
        across: "warps",
        up: "cycles",
        reference: "expected",
        points,
    });
}

/// Work-group memory, by the words of the fullest bank.
fn local_memory(bench: &mut Bench) {
    let machine = bench.one_sm();
    let cluster = cluster(&machine, OpClass::LoadLocal);
    let banks = machine.memory.local_banks;
    let warps = machine.sm.max_warps.min(machine.sm.max_work_group_size / machine.warp_size).min(16);
    let mut points = Vec::new();
    for stride in [0, 1, 2, 3, 4, 8, 16, 32, 33] {
        let conflicts = expect::bank_conflicts(machine.warp_size, stride, banks);
        let bytes = 4 * stride * machine.warp_size + 4;
        let name = |what: &str| format!("work-group memory, {what}, words {stride} apart: {conflicts} in a bank");
        if bytes > machine.sm.local_memory {
            bench.leave_out(name("chain"), "the machine has too little of it");
            continue;
        }
        // Each word holds its own address.
        let multiply = on(&machine, OpClass::Mul32);
        let before = format!("  {multiply}mul.b32 m2, lane, {}\n  c{cluster} st.local.b32 [u32 m2], m2", 4 * stride);
        let kernel = |line: &dyn Fn(usize) -> String, lines: usize| Kernel {
            local_bytes: bytes,
            ..Kernel::of((0..lines).map(|i| format!("  {}\n", line(i))).collect::<String>()).after(&*before)
        };
        let dependent = |_| format!("c{cluster} ld.local.b32 m2, [u32 m2]");
        let mut period = |lines| bench.period(&machine, &kernel(&dependent, lines), &Shape::warps(1), [4, 8]);
        let chain: Measured = period(12).and_then(|long| Ok((long - period(4)?) / 8.0));
        // So many loads that nobody waits for a result.
        let apart = kernel(&|i| format!("c{cluster} ld.local.b32 m{}, [u32 m2]", 3 + i), 12);
        let apart = bench.period(&machine, &apart, &Shape::warps(warps), [8, 24]).map(|p| p / f64::from(warps) / 12.0);
        let expected = expect::local_chain(&machine, conflicts);
        points.push((f64::from(conflicts), expected, chain.clone().unwrap_or(0.0)));
        bench.exact(name("chain"), expected, chain);
        let expected = expect::local_interval(&machine, conflicts).max(expected / f64::from(warps * 12));
        bench.compare(name("unit"), "cycles", expected, apart, 0.1);
    }
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    bench.plot(Plot {
        id: "banks",
        title: "Work-group memory, by words in the fullest bank".into(),
        note: "Each further word takes a cycle more.".into(),
        across: "words in a bank",
        up: "cycles of a dependent load",
        reference: "expected",
        points,
    });
}

/// The constant bank: by an index in lanes, and as an operand.
fn arguments(bench: &mut Bench) {
    let machine = bench.one_sm();
    let loads = cluster(&machine, OpClass::LoadArgument);
    // The kernel's own number is where it stands.
    let shape = Shape { number: 12, ..Shape::warps(1) };
    let before = format!("  {}mov.b32 m2, 12", on(&machine, OpClass::Move));
    let measured = bench.each(&machine, &shape, &before, |_| format!("c{loads} ld.argument.b32 m2, [u32 m2]"));
    bench.exact("argument by an index of each lane", expect::argument_chain(&machine), measured);
    let adds = cluster(&machine, OpClass::Int32);
    let measured = bench.each(&machine, &shape, "", |_| format!("c{adds} add.b32 m2, m2, c[0xc]"));
    bench.exact("argument as an operand", expect::chain(&machine, OpClass::Int32), measured);
}

/// A list through memory: each element holds the place of the next, `stride` bytes further, and the last one that
/// of the first. Lanes walk it together.
fn list(elements: u32, stride: u32) -> Vec<u32> {
    let mut words = vec![0; (elements * stride / 4) as usize];
    for i in 0..elements {
        words[(i * stride / 4) as usize] = (i + 1) % elements * stride;
    }
    words
}

/// Cycles of a step of a walk along such a list, `rounds` times around, when it has been walked before.
fn walk(bench: &mut Bench, machine: &Machine, path: Path, elements: u32, stride: u32, rounds: u32) -> Measured {
    follow(bench, machine, path, list(elements, stride), elements, rounds)
}

/// The same along any list of so many elements, from the first one on.
pub fn follow(bench: &mut Bench, machine: &Machine, path: Path, words: Vec<u32>, elements: u32, rounds: u32) -> Measured {
    let unit = cluster(machine, OpClass::LoadGlobal);
    let load = match path {
        Path::Data => "ld.global.b32",
        Path::Uniform => "ldu.global.b32",
        Path::Constant => "ld.constant.b32",
    };
    const UNROLLED: u32 = 4;
    let line = format!("  c{unit} {load} m2, [c[0x10] + u32 m2]\n");
    let kernel = Kernel::of(line.repeat(UNROLLED as usize)).after(format!("  {}mov.b32 m2, 0", on(machine, OpClass::Move)));
    // Once around to bring it in, and again to measure.
    let around = elements.div_ceil(UNROLLED).max(2);
    let bytes = (words.len() as u64 * 4).max(4096);
    let shape = Shape { words, bytes, ..Shape::warps(1) };
    let times = [around + 2, (1 + rounds) * around + 2];
    Ok(bench.period(machine, &kernel, &shape, times)? / f64::from(UNROLLED))
}

/// Whether all lines of a region fall evenly into sets by their numbers' low bits.
fn even(bytes: u32, ways: u32, slices: u32, line: u32) -> bool {
    (bytes / ways / slices / line).is_power_of_two() && slices.is_power_of_two()
}

/// A walk over regions of many sizes: a plateau for each level, and a step where one is full.
fn chase(bench: &mut Bench, path: Path, name: &str) {
    let machine = bench.one_sm();
    let m = &machine.memory;
    let line = m.line_bytes;
    let (l1, l15, l2) = (path.l1(&machine), &m.l15, &m.l2);
    let mut sizes: Vec<(u32, Level, &str)> = vec![(l1.bytes / 2, Level::L1, "half of the L1")];
    if even(l1.bytes, l1.ways, 1, line) {
        sizes.push((l1.bytes, Level::L1, "all of the L1"));
    }
    // Beyond a level all steps miss it, as its oldest line is always the next one needed.
    let behind = |bytes: u32| 2 * bytes;
    let policies = if path == Path::Data { vec![l1.replacement, l2.replacement] } else { vec![l1.replacement, l15.replacement] };
    if let Some(policy) = policies.into_iter().find(|p| !expect::twice_misses_all(*p)) {
        let reason = format!("how much of a list a smaller cache keeps is not known of `{policy}`");
        bench.leave_out(format!("{name} path, lists that are larger than a cache"), reason);
        sizes.truncate(2);
        sizes.retain(|s| s.1 == Level::L1);
        walks(bench, path, name, &machine, sizes);
        return;
    }
    let (next, next_level) = if path == Path::Data { (l2.bytes, Level::L2) } else { (l15.bytes, Level::L15) };
    // Lines of a region that do not fall evenly into sets want room.
    let next = if even(l2.bytes, l2.ways, l2.slices, line) { next / 2 } else { next / 4 };
    if behind(l1.bytes) <= next {
        sizes.push((behind(l1.bytes), next_level, "twice the L1"));
        sizes.push((next, next_level, "a part of what is behind the L1"));
    }
    if path != Path::Data && behind(l15.bytes) <= l2.bytes / 2 && behind(l1.bytes) <= behind(l15.bytes) {
        sizes.push((behind(l15.bytes), Level::L2, "twice the L1.5"));
    }
    // The others would find the same behind L2.
    if path == Path::Data {
        sizes.push((behind(l2.bytes), Level::Dram, "twice L2"));
    }
    walks(bench, path, name, &machine, sizes);
}

/// Walks over regions of some bytes, each of which a level has.
fn walks(bench: &mut Bench, path: Path, name: &str, machine: &Machine, sizes: Vec<(u32, Level, &str)>) {
    let line = machine.memory.line_bytes;
    let mut points = Vec::new();
    for (bytes, level, what) in sizes {
        let elements = (bytes / line).max(1);
        let expected = expect::load(machine, path, level, expect::row_misses(machine, line));
        let title = format!("{name} path, a list over {what} ({bytes} bytes)");
        let measured = walk(bench, machine, path, elements, line, 1);
        points.push((f64::from(bytes) / 1024.0, expected, measured.clone().unwrap_or(0.0)));
        if level == Level::Dram {
            // Of two lists of one size one may come to a row more; refreshes come in between.
            let bound = if machine.memory.dram.t_refi > 0 { 0.2 } else { 0.01 };
            bench.compare(title, "cycles", expected, measured, bound);
        } else {
            bench.exact(title, expected, measured);
        }
    }
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    bench.plot(Plot {
        id: name_of(path),
        title: format!("A list through the {name} path, by its size"),
        note: "One plateau a level; a step where one is full.".into(),
        across: "KiB",
        up: "cycles a load",
        reference: "expected",
        points,
    });
}

fn name_of(path: Path) -> &'static str {
    match path {
        Path::Data => "chase-data",
        Path::Uniform => "chase-uniform",
        Path::Constant => "chase-constant",
    }
}

/// A set holds as many lines as the description says, and not one more: a list of lines of one set.
fn associativity(bench: &mut Bench, path: Path, name: &str) {
    const SETS: u32 = 4;
    let line = bench.machine.memory.line_bytes;
    let ways = path.l1(bench.machine).ways;
    let title = |more: u32| format!("{name} L1, a list of {} lines of a set of {ways}", ways + more);
    let mut machine = bench.one_sm();
    let m = &mut machine.memory;
    let (bytes, index) = match path {
        Path::Data => (&mut m.data.bytes, &mut m.data.index),
        Path::Uniform => (&mut m.uniform.bytes, &mut m.uniform.index),
        Path::Constant => (&mut m.constant.bytes, &mut m.constant.index),
    };
    // By the lower bits of its number a line is in the set of the line so many further.
    (*bytes, *index) = (ways * line * SETS, SetIndex::Linear);
    let hit = expect::load(&machine, path, Level::L1, 0.0);
    let full = walk(bench, &machine, path, ways, SETS * line, 1);
    bench.exact(title(0), hit, full);
    let policy = path.l1(&machine).replacement;
    let Some(share) = expect::one_line_too_many(policy, ways) else {
        bench.leave_out(title(1), format!("how much of it the L1 keeps is not known of `{policy}`"));
        return;
    };
    let next = if path == Path::Data { Level::L2 } else { Level::L15 };
    let miss = expect::load(&machine, path, next, 0.0);
    let expected = hit + share * (miss - hit);
    if share == 1.0 {
        let measured = walk(bench, &machine, path, ways + 1, SETS * line, 1);
        bench.exact(title(1), expected, measured);
    } else {
        let measured = walk(bench, &machine, path, ways + 1, SETS * line, 2000 / ways);
        bench.compare(title(1), "cycles", expected, measured, 0.05);
    }
}

/// Atomics on one word, and on the words of a line.
fn atomics(bench: &mut Bench) {
    let machine = bench.one_sm();
    let unit = cluster(&machine, OpClass::Atomic);
    let m = &machine.memory;
    let (_, sectors) = expect::touched(&machine, 4);
    for (what, stride, sectors) in [("one word", 0, 1), ("words of a line", 4, sectors)] {
        let name = format!("atomics of a warp on {what}");
        if stride * machine.warp_size > m.line_bytes {
            bench.leave_out(name, "a warp's words are more than a line");
            continue;
        }
        // What is added is 0, and so is what was there before.
        let (multiply, move_) = (on(&machine, OpClass::Mul32), on(&machine, OpClass::Move));
        let before = format!("  {multiply}mul.b32 m2, lane, {stride}\n  {move_}mov.b32 m3, m2\n  {move_}mov.b32 m4, 0");
        let add = cluster(&machine, OpClass::Int32);
        let text = format!("c{unit} atom.global.add.b32 m5, [c[0x10] + u32 m2], m4\n  c{add} add.b32 m2, m3, m5");
        let measured = bench.each(&machine, &Shape::warps(1), &before, |_| text.clone());
        let expected = expect::atomic_chain(&machine, sectors) + expect::chain(&machine, OpClass::Int32);
        bench.exact(name, expected, measured);
    }
}
