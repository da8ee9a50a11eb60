//! `heddle run --report`: one page with everything a run counted, for a browser, without network.
//!
//! This file gathers the figures as JSON; `draw.js`, `charts.js`, `time.js`, `graph.js` and `code.js` draw
//! them as SVG and tables, `style.css` says how they look, in light and dark. The page holds all of it. Every
//! figure was counted while running, none is estimated from the code. The page forbids itself to load
//! anything (Content-Security-Policy), and the data stands in a JSON script element in which `<` is escaped,
//! so that no name or source text can end it.

pub mod blocks;
pub mod launches;

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use serde_json::{Value, json};

use super::{HostTimes, live, roofline};
use heddle_isa::{Inst, Op, SourceLoc, text};
use heddle_object::Image;
use heddle_runtime::case::Case;
use heddle_runtime::run::{Mode, Outcome};
use heddle_sim::program::{BasicBlock, End};
use heddle_sim::statistics::{BlockProfile, InstructionProfile};
use heddle_sim::trace::{CAUSES, Figure, MOST_LAUNCHES, Recording};
use heddle_sim::{Program, energy};
use heddle_target::Machine;

/// Buckets of all launches' time lines together, at most.
const MOST_BUCKETS: usize = 4800;
/// Cells of a launch's picture of its SMs, at most.
const MOST_CELLS: usize = 6400;
/// Source files of more lines are shown only around the lines that became code.
const WHOLE_FILE: usize = 1500;
/// Lines shown around each of those.
const CONTEXT: u32 = 3;

/// What was run.
pub struct Run<'a> {
    /// Title of the page.
    pub title: &'a str,
    /// The command line.
    pub command: String,
    /// The case.
    pub case: &'a Case,
    /// The object that ran.
    pub image: &'a Image,
    /// The machine.
    pub machine: &'a Machine,
    /// Functional or timing.
    pub mode: Mode,
    /// Source files that are not on disk, as debug information names them, with their texts.
    pub sources: &'a [(String, String)],
}

/// The page.
///
/// # Errors
/// Code that does not load.
pub fn page(run: &Run, outcome: &Outcome, times: &HostTimes) -> Result<String, String> {
    let data = data(run, outcome, times)?;
    let script = concat!(
        include_str!("draw.js"),
        include_str!("charts.js"),
        include_str!("time.js"),
        include_str!("graph.js"),
        include_str!("code.js"),
        include_str!("main.js"),
    );
    Ok(assemble(run.title, include_str!("style.css"), &data, script))
}

/// A page of its parts: what scripts draw is in `data`.
pub(super) fn assemble(title: &str, style: &str, data: &Value, script: &str) -> String {
    let mut out = String::with_capacity(style.len() + script.len() + 65536);
    // The template names each part once; parts are put in as they come, so that nothing in them is taken for a name.
    let mut rest = include_str!("page.html");
    while let Some((before, after)) = rest.split_once("{{") {
        out.push_str(before);
        let (name, after) = after.split_once("}}").unwrap_or((after, ""));
        match name {
            "title" => out.push_str(&escaped(title)),
            "style" => out.push_str(style),
            "data" => out.push_str(&script_data(data)),
            "script" => out.push_str(script),
            _ => {}
        }
        rest = after;
    }
    out.push_str(rest);
    out
}

/// Text as HTML.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// JSON that can stand in a script element, whatever its strings say.
fn script_data(value: &Value) -> String {
    value
        .to_string()
        .replace('<', "\\u003c")
        .replace('>', "\\u003e")
        .replace('\u{2028}', "\\u2028")
        .replace('\u{2029}', "\\u2029")
}

fn data(run: &Run, outcome: &Outcome, times: &HostTimes) -> Result<Value, String> {
    let machine = run.machine;
    let mut programs: BTreeMap<usize, Program> = BTreeMap::new();
    for version in outcome.launches.iter().map(|l| l.version).collect::<BTreeSet<_>>() {
        programs.insert(version, super::program(run.image, version, machine)?);
    }
    let names: BTreeMap<usize, String> = programs.iter().map(|(version, p)| (*version, p.header.symbol())).collect();
    let timing = run.mode == Mode::Timing;
    let launches: Vec<Value> = outcome
        .launches
        .iter()
        .filter_map(|l| Some((l, run.case.launches.get(l.number)?)))
        .map(|(l, spec)| json!({ "kernel": names.get(&l.version), "global": spec.global, "local": spec.local, "repeat": spec.repeat, "statistics": l.statistics }))
        .collect();
    let mut kernels: Vec<(&String, Value)> = programs.iter().map(|(v, p)| (&names[v], kernel(*v, p, outcome, run))).collect();
    kernels.sort_by_key(|(name, _)| *name);
    let kernels: Vec<Value> = kernels.into_iter().map(|(_, k)| k).collect();
    Ok(json!({
        "title": run.title,
        "command": run.command,
        "version": env!("CARGO_PKG_VERSION"),
        "source": run.case.source().display().to_string(),
        "mode": if timing { "timing" } else { "functional" },
        "partial": super::partial_note(outcome),
        "passed": outcome.mismatches.is_empty() && outcome.total.interrupted.is_none(),
        "checked": outcome.checked,
        "mismatches": outcome.mismatches,
        "host_seconds": { "compile": times.compile.as_secs_f64(), "simulate": times.simulate.as_secs_f64() },
        "machine": {
            "name": machine.name,
            "description": machine.description,
            "warp_size": machine.warp_size,
            "clock_mhz": machine.clock_mhz,
            "sms": machine.sm.count,
            "max_warps": machine.sm.max_warps,
            "scalar_issue": machine.sm.scalar_issue,
            "clusters": machine.clusters.iter().map(|c| &c.name).collect::<Vec<_>>(),
            "cluster_units": (0..machine.clusters.len()).map(|c| machine.cluster_units(c).iter().map(ToString::to_string).collect()).collect::<Vec<Vec<_>>>(),
            "sector_bytes": machine.memory.sector_bytes,
            "register_files": machine.register_files().iter()
                .map(|(name, f)| json!({ "name": name, "bits": f.bits, "area_mm2": f.area_mm2 })).collect::<Vec<_>>(),
        },
        "total": outcome.total,
        "launches": launches,
        "kernels": kernels,
        "timeline": timing.then(|| time_line(outcome, &names)),
        "roofline": timing.then(|| roofline::roofline(outcome, &programs, machine)),
    }))
}

/// The time lines of all launches that were recorded, one after the other.
fn time_line(outcome: &Outcome, names: &BTreeMap<usize, String>) -> Value {
    let mut segments: Vec<(&str, Recording)> = Vec::new();
    for launch in &outcome.launches {
        let kernel = names.get(&launch.version).map_or(launch.kernel.as_str(), String::as_str);
        let recordings = launch.statistics.timing.iter().flat_map(|t| &t.recordings);
        segments.extend(recordings.map(|r| {
            let (busy, time_line) = (r.busy.clone(), r.time_line.clone());
            (kernel, Recording { cycles: r.cycles, time_line, busy, sms: vec![], slices: vec![], dropped: 0, splits: vec![] })
        }));
    }
    let cycles: u64 = segments.iter().map(|(_, r)| r.cycles).sum();
    // The SMs' rows keep the width at which they were recorded.
    let widths: Vec<u64> = segments.iter().map(|(_, r)| r.time_line.width).collect();
    while segments.iter().map(|(_, r)| r.time_line.len()).sum::<usize>() > MOST_BUCKETS {
        let Some((_, longest)) =
            segments.iter_mut().max_by_key(|(_, r)| r.time_line.len()).filter(|(_, r)| r.time_line.len() > 1)
        else {
            break;
        };
        longest.time_line.widen();
    }
    let parts: Vec<Value> = segments.iter_mut().zip(widths).map(|((kernel, r), w)| segment(kernel, r, w)).collect();
    json!({
        "causes": CAUSES.map(|c| c.name()),
        "segments": parts,
        "recorded_launches": segments.len(),
        "recorded_cycles": cycles,
        "most_launches": MOST_LAUNCHES,
    })
}

/// One launch: each column an array over its buckets.
fn segment(kernel: &str, r: &mut Recording, recorded_width: u64) -> Value {
    let line = &r.time_line;
    let buckets = 0..line.len();
    let columns = |count: usize, of: &dyn Fn(usize) -> Vec<u64>| -> Vec<Vec<u64>> {
        let rows: Vec<Vec<u64>> = buckets.clone().map(of).collect();
        (0..count).map(|c| rows.iter().map(|row| row[c]).collect()).collect()
    };
    let figure = |f: Figure| -> Vec<u64> { buckets.clone().map(|b| line.figure(b, f)).collect() };
    let (mut busy, mut busy_width) = (std::mem::take(&mut r.busy), recorded_width);
    // Coarser if there are many SMs.
    while busy.iter().map(Vec::len).max().unwrap_or(0) * busy.len() > MOST_CELLS {
        busy.iter_mut().for_each(|row| *row = row.chunks(2).map(|c| c.iter().sum()).collect());
        busy_width *= 2;
    }
    json!({
        "kernel": kernel,
        "cycles": r.cycles,
        "width": line.width,
        "issued": columns(line.clusters + 2, &|b| line.issued(b).to_vec()),
        "stalls": columns(CAUSES.len(), &|b| line.stalls(b).to_vec()),
        "lanes": figure(Figure::Lanes),
        "sectors": figure(Figure::Sectors),
        "misses": figure(Figure::Misses),
        "far": figure(Figure::Far),
        "busy": busy,
        "busy_width": busy_width,
    })
}

/// An instruction of the listing.
#[derive(Serialize)]
struct Listed {
    text: String,
    file: u32,
    line: u32,
    issues: u64,
    lanes: u64,
    cycles: u64,
    sectors: u64,
    hits: u64,
    far: u64,
    latency: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pj: Option<f64>,
    memory: bool,
}

/// A version of a kernel: its code with what each instruction did, its graph, its live ranges.
fn kernel(version: usize, program: &Program, outcome: &Outcome, run: &Run) -> Value {
    let launches: Vec<_> = outcome.launches.iter().filter(|l| l.version == version).map(|l| &l.statistics).collect();
    let mut blocks = vec![BlockProfile::default(); program.blocks.len()];
    let mut profile = vec![InstructionProfile::default(); program.insts.len()];
    let mut splits: Option<Vec<u64>> = None;
    let mut timed = false;
    for s in &launches {
        for (a, b) in blocks.iter_mut().zip(&s.blocks) {
            a.executions += b.executions;
            a.lanes += b.lanes;
        }
        if let Some(t) = &s.timing {
            timed = true;
            profile.iter_mut().zip(&t.profile).for_each(|(a, b)| a.add(b));
            for r in &t.recordings {
                let sums = splits.get_or_insert_with(|| vec![0; program.insts.len()]);
                sums.iter_mut().zip(&r.splits).for_each(|(a, b)| *a += b);
            }
        }
    }
    let block_of = block_numbers(program);
    if !timed {
        for (i, p) in profile.iter_mut().enumerate() {
            let b = blocks[block_of[i]];
            (p.issues, p.lanes) = (b.executions, b.lanes);
        }
    }
    let pj = timed.then(|| energy::by_instruction(program, &profile, run.machine));
    let insts: Vec<Listed> = (program.insts.iter().zip(&profile).enumerate())
        .map(|(i, (inst, p))| {
            let label = |distance: i32| {
                let target = (i as i64 + 1 + i64::from(distance)) as usize;
                block_of.get(target).map_or_else(|| distance.to_string(), |b| format!("bb{b}"))
            };
            let literal = |offset| program.header.literals.word(offset);
            Listed {
                // Without the place, which has columns of its own.
                text: text::print_with(&Inst { loc: SourceLoc::default(), ..inst.clone() }, &label, &literal).trim().to_string(),
                file: inst.loc.file,
                line: inst.loc.line,
                issues: p.issues,
                lanes: p.lanes,
                cycles: p.cycles,
                sectors: p.sectors,
                hits: p.hits,
                far: p.far,
                latency: p.latency,
                pj: pj.as_ref().map(|e| e[i]),
                memory: inst.info().flags.load || inst.info().flags.store || inst.op == Op::Atomic,
            }
        })
        .collect();
    let header = &program.header;
    json!({
        "name": header.symbol(),
        "registers": { "main": header.main_registers, "fixed": header.fixed_registers, "local": header.local_registers,
            "scalar": header.scalar_registers, "predicate": header.predicate_registers },
        "local_bytes": header.local_bytes,
        "private_bytes": header.private_bytes,
        "insts": insts,
        "blocks": program.blocks.iter().enumerate().map(|(b, block)| graph_block(b, block, blocks[b], splits.as_deref())).collect::<Vec<_>>(),
        "live": live::files(program),
        "files": sources(program, run.sources),
    })
}

/// The block of each instruction.
fn block_numbers(program: &Program) -> Vec<usize> {
    let mut result = vec![0; program.insts.len()];
    for (b, block) in program.blocks.iter().enumerate() {
        result[block.first as usize..(block.first + block.len()) as usize].fill(b);
    }
    result
}

/// A block with its edges: target, and how control gets there.
fn graph_block(b: usize, block: &BasicBlock, counted: BlockProfile, splits: Option<&[u64]>) -> Value {
    let next = b as u32 + 1;
    let (end, edges, reconverge): (_, Vec<(u32, &str)>, _) = match block.end {
        End::Fall => ("fall", vec![(next, "")], None),
        End::Jump(t) => ("jump", vec![(t, "")], None),
        End::Scalar { target, .. } => ("uniform", vec![(target, "taken"), (next, "else")], None),
        End::Divergent { target, reconverge, .. } => (
            "divergent",
            vec![(target, "taken"), (next, "else")],
            Some(reconverge).filter(|r| *r != heddle_sim::program::NOWHERE),
        ),
        End::Exit => ("exit", vec![], None),
        End::Trap => ("trap", vec![], None),
        End::Barrier => ("barrier", vec![(next, "")], None),
    };
    json!({
        "first": block.first,
        "length": block.len(),
        "executions": counted.executions,
        "lanes": counted.lanes,
        "end": end,
        "edges": edges,
        "reconverge": reconverge,
        "splits": splits.filter(|_| end == "divergent").map(|s| s[(block.first + block.body) as usize]),
    })
}

/// Source files that instructions name: path, and the lines worth showing with their text; no lines if the file
/// is not among `known` and cannot be read.
fn sources(program: &Program, known: &[(String, String)]) -> Vec<Value> {
    let mut named: BTreeMap<u32, BTreeSet<u32>> = BTreeMap::new();
    for inst in program.insts.iter().filter(|i| i.loc.line > 0) {
        named.entry(inst.loc.file).or_default().insert(inst.loc.line);
    }
    let files = named.into_iter().filter_map(|(file, wanted)| {
        let path = program.files.get(file as usize)?;
        let is = |name: &str| path.strip_suffix(name).is_some_and(|before| before.is_empty() || before.ends_with('/'));
        let text = match known.iter().find(|(name, _)| is(name)) {
            Some((_, text)) => text.clone(),
            None => std::fs::read_to_string(path).unwrap_or_default(),
        };
        let lines: Vec<&str> = text.lines().collect();
        let whole = lines.len() <= WHOLE_FILE && !path.contains("/heddle/builtins");
        let shown: Vec<(u32, &str)> = (1u32..)
            .zip(&lines)
            .filter(|(n, _)| whole || wanted.range(n.saturating_sub(CONTEXT)..=n + CONTEXT).next().is_some())
            .map(|(n, t)| (n, *t))
            .collect();
        Some(json!({ "file": file, "path": path, "lines": shown }))
    });
    files.collect()
}
