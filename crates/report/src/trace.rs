//! `heddle run --trace`: what happened when, in Chrome's trace-event format, for Perfetto and
//! chrome://tracing.
//!
//! The first process has the launches one after the other; each SM is a process. A warp slot of an SM has a
//! track with the lives of its warps and, nested in them, the stalls, and below as many tracks of
//! instructions from issue to result as were in flight at once: on no track do slices overlap without being
//! nested. Counters show instructions a cycle, L1 misses and bytes of data from memory. One microsecond of
//! the viewer is one cycle.
//!
//! Perfetto's importer asks for more than the format says: of slices that start together the enclosing one
//! must come first (it drops the others as overlapping), a thread 0 is taken for the one with its process's
//! number, and threads are told apart by number alone in places. So slices are sorted, and no two tracks of a
//! trace share a number.
//!
//! Events are written one by one; the document is never in memory.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use serde_json::{Value, json};

use heddle_isa::{Inst, SourceLoc, text};
use heddle_object::Image;
use heddle_runtime::run::Outcome;
use heddle_sim::Program;
use heddle_sim::trace::{Figure, Recording, Slice, SliceKind};
use heddle_target::Machine;

/// Tracks of a warp slot at most: its own, and instructions in flight.
const TRACKS: u64 = 1000;
/// Numbers of tracks of a process, from this times the process's number on: larger than any process's number.
const THREADS: u64 = 100_000;
/// The process of launches; SMs follow.
const LAUNCHES: u64 = 1;

/// Writes the trace of a run to a file.
///
/// # Errors
/// A sentence with the file's name; code that does not load.
pub fn write_file(path: &Path, outcome: &Outcome, image: &Image, machine: &Machine) -> Result<(), String> {
    let fail = |e: std::io::Error| format!("cannot write {}: {e}", path.display());
    if path.as_os_str() == "-" {
        let mut out = BufWriter::new(Output(std::io::stdout().lock()));
        write(&mut out, outcome, image, machine)?;
        return out.flush().map_err(|e| format!("standard output: {e}"));
    }
    let mut file = BufWriter::new(File::create(path).map_err(fail)?);
    write(&mut file, outcome, image, machine)?;
    file.flush().map_err(fail)
}

/// Standard output, whose reader may have seen enough: that is no error.
struct Output<W: Write>(W);

impl<W: Write> Write for Output<W> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        match self.0.write(bytes) {
            Err(e) if e.kind() == std::io::ErrorKind::BrokenPipe => Ok(bytes.len()),
            result => result,
        }
    }

    fn flush(&mut self) -> std::io::Result<()> {
        match self.0.flush() {
            Err(e) if e.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
            result => result,
        }
    }
}

/// An array of events under way.
struct Events<'a, W: Write> {
    out: &'a mut W,
    first: bool,
    error: Option<std::io::Error>,
}

impl<W: Write> Events<'_, W> {
    fn put(&mut self, event: &Value) {
        let separator = if std::mem::take(&mut self.first) { "\n" } else { ",\n" };
        if self.error.is_none() {
            self.error = write!(self.out, "{separator}{event}").err();
        }
    }

    /// Names a process, or a thread of it, and says where it stands among others.
    fn name(&mut self, pid: u64, tid: Option<u64>, name: &str) {
        let what = if tid.is_some() { "thread" } else { "process" };
        for (field, args) in [("name", json!({ "name": name })), ("sort_index", json!({ "sort_index": tid.unwrap_or(pid) }))] {
            let mut event = json!({ "ph": "M", "name": format!("{what}_{field}"), "pid": pid, "args": args });
            if let Some(tid) = tid {
                event["tid"] = tid.into();
            }
            self.put(&event);
        }
    }
}

/// Writes the trace of a run.
///
/// # Errors
/// What the output says; code that does not load.
pub fn write<W: Write>(out: &mut W, outcome: &Outcome, image: &Image, machine: &Machine) -> Result<(), String> {
    let recordings: Vec<(usize, &Recording)> = outcome
        .launches
        .iter()
        .flat_map(|l| l.statistics.timing.iter().flat_map(|t| t.recordings.iter().map(|r| (l.version, &**r))))
        .collect();
    let dropped: u64 = recordings.iter().map(|(_, r)| r.dropped).sum();
    let cycles: u64 = recordings.iter().map(|(_, r)| r.cycles).sum();
    let about = json!({
        "producer": concat!("heddle ", env!("CARGO_PKG_VERSION")),
        "machine": machine.name,
        "unit": "1 µs is 1 cycle",
        "cycles": cycles,
        "truncated": dropped > 0,
        "slices left out (--trace-limit)": dropped,
        "cycles of launches left out": outcome.total.timing.as_ref().map_or(0, |t| t.cycles.saturating_sub(cycles)),
    });
    let fail = |e: std::io::Error| format!("cannot write the trace: {e}");
    write!(out, "{{\"displayTimeUnit\":\"ms\",\"otherData\":{about},\"traceEvents\":[").map_err(fail)?;
    let mut events = Events { out, first: true, error: None };
    let launches = LAUNCHES * THREADS;
    events.name(LAUNCHES, None, "launches");
    events.name(LAUNCHES, Some(launches), "launches");
    let mut start = 0;
    let mut tracks: BTreeMap<(u64, u64), String> = BTreeMap::new();
    for (version, recording) in &recordings {
        let program = super::program(image, *version, machine)?;
        let kernel = program.header.symbol();
        let names = Names::new(&program, machine);
        events.put(
            &json!({ "ph": "X", "name": kernel, "cat": "launch", "pid": LAUNCHES, "tid": launches, "ts": start, "dur": recording.cycles }),
        );
        for (sm, slices) in recording.slices.iter().enumerate() {
            let pid = LAUNCHES + 1 + sm as u64;
            sm_slices(&mut events, &names, slices, pid, (start, recording.cycles), &mut tracks);
            counters(&mut events, recording, sm, pid, start, machine);
        }
        if recording.dropped > 0 {
            let name = format!("{} more slices left out (--trace-limit)", recording.dropped);
            events.put(
                &json!({ "ph": "i", "s": "g", "name": name, "pid": LAUNCHES, "tid": launches, "ts": start + recording.cycles }),
            );
        }
        start += recording.cycles;
    }
    for sm in 0..recordings.iter().map(|(_, r)| r.slices.len()).max().unwrap_or(0) {
        events.name(LAUNCHES + 1 + sm as u64, None, &format!("SM {sm}"));
    }
    for ((pid, tid), name) in &tracks {
        events.name(*pid, Some(*tid), name);
    }
    if let Some(e) = events.error {
        return Err(fail(e));
    }
    writeln!(out, "\n]}}").map_err(fail)
}

/// What slices are called.
struct Names {
    mnemonics: Vec<String>,
    texts: Vec<String>,
    places: Vec<String>,
    units: Vec<String>,
}

impl Names {
    fn new(program: &Program, machine: &Machine) -> Names {
        // Without cluster and guard, which stand in front; the whole text is among the arguments.
        let plain = |i: &Inst| Inst { cluster: 0, guard: None, loc: SourceLoc::default(), ..i.clone() };
        let mnemonic = |i: &Inst| text::print_inst(&plain(i), &[]).split(' ').next().unwrap_or_default().to_string();
        let whole = |i: &Inst| text::print_inst(&Inst { loc: SourceLoc::default(), ..i.clone() }, &[]).trim().to_string();
        let short = |s: String| s.rsplit('/').next().unwrap_or_default().to_string();
        let units = machine.clusters.iter().map(|c| c.name.clone()).chain(["scalar".into(), "control".into()]);
        Names {
            mnemonics: program.insts.iter().map(mnemonic).collect(),
            texts: program.insts.iter().map(whole).collect(),
            places: (0..program.insts.len()).map(|i| program.source(i).map(short).unwrap_or_default()).collect(),
            units: units.collect(),
        }
    }
}

/// Slices of an SM, each on a track where it fits.
fn sm_slices<W: Write>(
    events: &mut Events<W>,
    names: &Names,
    slices: &[Slice],
    pid: u64,
    (start, cycles): (u64, u64),
    tracks: &mut BTreeMap<(u64, u64), String>,
) {
    // Until when each track of instructions of a slot is taken.
    let mut taken: BTreeMap<u16, Vec<u64>> = BTreeMap::new();
    // A result that nobody waits for may come after the launch's end; the next launch starts there.
    let mut sorted: Vec<Slice> = slices.iter().map(|s| Slice { end: s.end.min(cycles), ..*s }).collect();
    let inner = |s: &Slice| !matches!(s.kind, SliceKind::Warp { .. });
    sorted.sort_by_key(|s| (s.start, std::cmp::Reverse(s.end), inner(s)));
    for s in &sorted {
        let own = pid * THREADS + u64::from(s.slot) * TRACKS;
        let (tid, name, category, args) = match s.kind {
            SliceKind::Warp { group, number } => (own, format!("group {group} warp {number}"), "warp", json!({})),
            SliceKind::Stall(cause) => (own, cause.name().to_string(), "stall", json!({})),
            SliceKind::Instruction { index, lanes, unit } => {
                let taken = taken.entry(s.slot).or_default();
                let track = taken.iter().position(|t| *t <= s.start).unwrap_or_else(|| {
                    taken.push(0);
                    taken.len() - 1
                });
                taken[track] = s.end;
                let i = index as usize;
                let name = names.mnemonics.get(i).cloned().unwrap_or_default();
                let args = json!({ "pc": index, "text": names.texts.get(i), "at": names.places.get(i), "lanes": lanes, "unit": names.units.get(usize::from(unit)) });
                (own + 1 + (track as u64).min(TRACKS - 2), name, "instruction", args)
            }
        };
        tracks.entry((pid, tid)).or_insert_with(|| match tid - own {
            0 => format!("warp slot {}", s.slot),
            n => format!("warp slot {}, in flight {n}", s.slot),
        });
        events.put(&json!({
            "ph": "X", "name": name, "cat": category, "pid": pid, "tid": tid, "ts": start + s.start, "dur": s.end - s.start, "args": args
        }));
    }
}

/// Counters of an SM and what they count; Perfetto shows both, one behind the other.
const COUNTERS: [(&str, &str); 3] =
    [("issued", "instructions a cycle"), ("L1 missed", "sectors a cycle"), ("memory read for data", "bytes a cycle")];

fn counters<W: Write>(events: &mut Events<W>, recording: &Recording, sm: usize, pid: u64, start: u64, machine: &Machine) {
    let Some(line) = recording.sms.get(sm) else { return };
    let width = line.width as f64;
    for b in 0..line.len() {
        let at = start + b as u64 * line.width;
        let issued: u64 = line.issued(b).iter().sum();
        let bytes = line.figure(b, Figure::Far) * u64::from(machine.memory.sector_bytes);
        let values = [issued as f64 / width, line.figure(b, Figure::Misses) as f64 / width, bytes as f64 / width];
        for ((name, series), value) in COUNTERS.into_iter().zip(values) {
            events.put(&json!({ "ph": "C", "name": name, "pid": pid, "ts": at, "args": { series: value } }));
        }
    }
    for (name, series) in COUNTERS {
        events.put(&json!({ "ph": "C", "name": name, "pid": pid, "ts": start + recording.cycles, "args": { series: 0 } }));
    }
}
