//! Random programs as a test of the whole of Heddle: one program, many ways to compile and run it, the same bytes from all.
//!
//! [`generate`] makes well-defined OpenCL C kernels; [`Checker::check`] compiles and runs one with every [`Setup`] and compares the results with those of
//! the first, and with those of an OpenCL implementation of the host, if there is one ([`opencl`]); [`Checker::reduce`] removes statements from a failing
//! program as long as it fails in the same way. clang runs once a program and optimisation level; everything behind it runs for every setup, with
//! verifier, allocation checker and the simulator's checks on.

pub mod bytes;
pub mod generate;
pub mod opencl;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use base64::prelude::*;

use self::generate::{CELLS, INPUTS, Program, Stmt, WIDE_CELLS};
use heddle::driver::{self, CompileOptions, Emit};
use heddle_codegen::partition::Ownership;
use heddle_codegen::release::Release;
use heddle_codegen::{RegisterFile, Rename};
use heddle_frontend::OptLevel;
use heddle_isel::CacheHints;
use heddle_object::Image;
use heddle_object::read;
use heddle_runtime::case::Case;
use heddle_runtime::run::{Mode, Refusal, RunError, Simulator, run_case};
use heddle_sim::Jit;
use heddle_sim::Options;
use heddle_target::Machine;

/// A way to compile and run a program.
pub struct Setup {
    /// Name for messages.
    pub name: String,
    /// Changes to the machine.
    pub set: Vec<String>,
    /// Changes to the compiler's options.
    pub adjust: fn(&mut CompileOptions),
    /// How to simulate.
    pub mode: Mode,
    /// The machine may refuse the launch: too few registers.
    pub may_refuse: bool,
    /// Translate to the host's instructions, which checks cannot watch.
    pub host: bool,
}

fn setup(name: &str, set: &[&str], mode: Mode, adjust: fn(&mut CompileOptions)) -> Setup {
    let set: Vec<String> = set.iter().map(|s| (*s).into()).collect();
    // Programs with many live values need more than a small file has.
    let may_refuse = set.iter().any(|s| s.starts_with("sm.main-registers="));
    Setup { name: name.into(), set, adjust, mode, may_refuse, host: false }
}

/// Every technique on and off, several machines, both simulation modes.
pub fn setups() -> Vec<Setup> {
    use Mode::{Functional, Timing};
    vec![
        setup("default", &[], Functional, |_| {}),
        setup("timing", &[], Timing, |_| {}),
        setup("-O0", &[], Functional, |o| o.frontend.opt = OptLevel::O0),
        setup("no-scalarize", &[], Functional, |o| {
            o.select.scalarize = false;
            o.codegen.no_marks = true;
        }),
        setup("no-global-id", &[], Functional, |o| o.select.global_id = false),
        setup("single register file, renaming, little room", &["sm.count=1", "sm.main-registers=8192"], Timing, |o| {
            o.codegen.regfile = RegisterFile::Single;
            o.codegen.rename = Rename::Always;
        }),
        setup("renaming by name", &["sm.count=1", "sm.main-registers=8192", "sm.max-main-registers=200"], Timing, |o| {
            o.codegen.rename = Rename::Always;
            o.codegen.release = Release::Name;
        }),
        setup(
            "18 registers, few scalars and predicates",
            &["sm.scalar-registers=16", "sm.predicate-registers=3"],
            Functional,
            |o| {
                o.codegen.max_main_registers = Some(18);
            },
        ),
        setup("no schedule, ownership of the publication", &[], Functional, |o| {
            o.codegen.no_schedule = true;
            o.codegen.ownership = Ownership::Publication;
        }),
        setup("warps of 8", &["warp-size=8", "sm.scalar-threshold=7"], Timing, |_| {}),
        setup(
            "small caches, spills, prefetches",
            &[
                "memory.data.bytes=512",
                "memory.data.ways=2",
                "memory.uniform.bytes=512",
                "memory.uniform.ways=2",
                "memory.l15.bytes=1024",
                "memory.l2.bytes=4096",
                "memory.l2.ways=4",
            ],
            Timing,
            |o| {
                o.codegen.max_main_registers = Some(18);
                o.select.prefetch = true;
            },
        ),
        setup(
            "one scalar slot that yields beside wide clusters",
            &["sm.schedulers=1", "timing.int32.interval=1", "timing.load-global.interval=1", "sm.scalarizer-yields=true"],
            Timing,
            |_| {},
        ),
        setup("past the L1 caches", &[], Timing, |o| o.select.cache_hints = CacheHints::Cg),
        setup("warps of 64", &["warp-size=64"], Functional, |o| o.codegen.regfile = RegisterFile::Single),
        Setup { host: true, ..setup("in the host's instructions", &[], Functional, |_| {}) },
    ]
}

/// How long a program that fails is shrunk.
const SHRINKING: Duration = Duration::from_secs(180);

/// What is wrong with a program's compilation or results.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The setup in which it shows, or the OpenCL device.
    pub setup: String,
    /// What kind of failure: reduction keeps it.
    pub kind: &'static str,
    /// Details.
    pub message: String,
    /// It shows on the OpenCL device only: all setups of Heddle agree with each other.
    pub only_opencl: bool,
}

type Buffers = BTreeMap<String, Vec<u8>>;

/// The case file of a program whose source is `source`, beside it.
pub fn case_json(program: &Program, source: &str) -> serde_json::Value {
    let random = |n: u64, seed: u64| serde_json::json!({"random": [n], "dtype": "uint32", "seed": seed, "low": 0, "high": 4_294_967_296.0});
    let [whole, tight] = program.structures().map(|bytes| BASE64_STANDARD.encode(bytes));
    serde_json::json!({
        "source": source,
        "buffers": {
            "in": random(INPUTS + program.items(), program.seed),
            "out": {"zeros": [program.items()], "dtype": "uint32"},
            "cells": random(CELLS, program.seed ^ 1),
            "wide": {"zeros": [WIDE_CELLS + program.items()], "dtype": "uint64"},
            "narrow": {"zeros": [program.items()], "dtype": "int16"},
        },
        "launches": [{"kernel": "k", "global": program.global, "local": program.local,
            "args": [{"buffer": "in"}, {"buffer": "out"}, {"buffer": "cells"}, {"buffer": "wide"}, {"buffer": "narrow"},
                {"u32": program.seed % 1000}, {"bytes": whole}, {"bytes": tight}]}],
    })
}

/// Compiles and runs programs in every setup and, where there is one, on an OpenCL device.
pub struct Checker {
    setups: Vec<(Setup, Machine)>,
    folder: tempfile::TempDir,
    opencl: Option<opencl::Client>,
    /// Setups a program runs in: the first, and others in turn.
    ways: usize,
    /// Seeds of programs of which the OpenCL device has one result with its optimisation and another one without (none, or one of them, is that of Heddle).
    pub no_witness: BTreeSet<u64>,
    /// Host time by part of the work.
    pub times: BTreeMap<&'static str, Duration>,
}

/// What the setups of one program have in common: the front end's results and the objects made so far.
#[derive(Default)]
struct Made {
    bitcode: BTreeMap<&'static str, PathBuf>,
    objects: BTreeMap<String, Image>,
}

impl Checker {
    /// A checker with these setups; the results of the first are what the others are compared with. A program runs in the first and `ways` - 1 of the others,
    /// which take turns (0: in all).
    ///
    /// # Errors
    /// A machine that does not exist, or no temporary folder.
    pub fn new(setups: Vec<Setup>, ways: usize, opencl: Option<opencl::Client>) -> Result<Checker, String> {
        let machine = |s: Setup| match Machine::load(None, &s.set) {
            Ok(machine) => Ok((s, machine)),
            Err(e) => Err(format!("setup `{}`: {e}", s.name)),
        };
        let setups = setups.into_iter().map(machine).collect::<Result<_, _>>()?;
        let folder = tempfile::tempdir().map_err(|e| format!("cannot make a temporary folder: {e}"))?;
        Ok(Checker { setups, folder, opencl, ways, no_witness: BTreeSet::new(), times: BTreeMap::new() })
    }

    /// Compiles and runs a program with each setup and compares the results.
    ///
    /// # Errors
    /// The first finding.
    pub fn check(&mut self, program: &Program) -> Result<(), Finding> {
        let others = self.setups.len().saturating_sub(1);
        let turns = if self.ways == 0 { others } else { (self.ways - 1).min(others) };
        let first = (program.seed as usize).wrapping_mul(turns);
        let chosen: Vec<usize> = std::iter::once(0).chain((0..turns).map(|k| 1 + first.wrapping_add(k) % others)).collect();
        self.check_with(program, &chosen, true)
    }

    /// As [`Self::check`], with some setups, and with or without the OpenCL device.
    fn check_with(&mut self, program: &Program, setups: &[usize], opencl: bool) -> Result<(), Finding> {
        let mut made = Made::default();
        let mut expected: Option<Buffers> = None;
        for &i in setups {
            let Some(found) = self.run(program, i, &mut made)? else { continue };
            match &expected {
                None => expected = Some(found),
                Some(e) => self.compare(e, &found, &self.setups[i].0.name, false)?,
            }
        }
        let Some(mut client) = (if opencl { self.opencl.take() } else { None }) else { return Ok(()) };
        let result = self.check_opencl(program, &mut client, expected);
        self.opencl = Some(client);
        result
    }

    fn check_opencl(&mut self, program: &Program, client: &mut opencl::Client, expected: Option<Buffers>) -> Result<(), Finding> {
        let name = client.description().name.clone();
        let fail = |message: String| Finding { setup: name.clone(), kind: "OpenCL", message, only_opencl: true };
        let whole;
        let (program, expected) = if client.description().non_uniform || program.has_whole_groups() {
            (program, expected)
        } else {
            whole = program.with_whole_groups();
            let found = self.run(&whole, 0, &mut Made::default())?;
            (&whole, found)
        };
        let case = Case::parse(&case_json(program, "kernel.cl").to_string(), "case", self.folder.path().into());
        let case = case.map_err(|e| fail(e.to_string()))?;
        let started = Instant::now();
        let found = client.run(&program.text(), &case, false);
        *self.times.entry("OpenCL").or_default() += started.elapsed();
        let found = found.map_err(fail)?;
        let Some(Err(finding)) = expected.map(|e| self.compare(&e, &found, &name, true)) else { return Ok(()) };
        // Who says two things of one program is no witness.
        if client.run(&program.text(), &case, true).is_ok_and(|other| other != found) {
            self.no_witness.insert(program.seed);
            return Ok(());
        }
        Err(finding)
    }

    fn compare(&self, expected: &Buffers, found: &Buffers, setup: &str, only_opencl: bool) -> Result<(), Finding> {
        if expected == found {
            return Ok(());
        }
        let place = expected.iter().find_map(|(name, bytes)| {
            let other = found.get(name)?;
            let at = bytes.iter().zip(other).position(|(a, b)| a != b)?;
            Some(format!("byte {at} of `{name}` differs from that of `{}`", self.setups[0].0.name))
        });
        let mut message = place.unwrap_or_else(|| "there are other buffers".into());
        if only_opencl {
            message += "; all setups of Heddle agree with each other";
        }
        Err(Finding { setup: setup.into(), kind: "results", message, only_opencl })
    }

    /// Compiles and runs a program with one setup. `None` if the machine may refuse the launch and does.
    fn run(&mut self, program: &Program, setup: usize, made: &mut Made) -> Result<Option<Buffers>, Finding> {
        let (s, machine) = &self.setups[setup];
        let name = s.name.clone();
        let fail = |kind: &'static str, message: String| Finding { setup: name.clone(), kind, message, only_opencl: false };
        let (folder, times) = (self.folder.path(), &mut self.times);
        let attempt = || run_setup(program, s, machine, folder, made, times).map_err(|(kind, message)| fail(kind, message));
        // A panic is a finding like others: the next programs are not to blame.
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(attempt)).unwrap_or_else(|panic| {
            let text = panic.downcast_ref::<String>().map(String::as_str).or_else(|| panic.downcast_ref::<&str>().copied());
            Err(fail("panic", text.unwrap_or("without a message").into()))
        })
    }

    /// Removes statements as long as the program fails in the same way: whole bodies first, then single statements, then replaces blocks by their
    /// bodies. Only the setup that fails is tried, and the first, which it is compared with. After [`SHRINKING`] the program is as it is then:
    /// one that hangs takes a minute each time.
    pub fn reduce(&mut self, program: &Program, finding: &Finding) -> Program {
        let setups: Vec<usize> = (0..self.setups.len()).filter(|i| *i == 0 || self.setups[*i].0.name == finding.setup).collect();
        let mut fails = |p: &Program| matches!(self.check_with(p, &setups, finding.only_opencl), Err(f) if f.kind == finding.kind && f.setup == finding.setup);
        let (mut best, started) = (program.clone(), Instant::now());
        loop {
            let mut progress = false;
            let mut at = 0;
            while at < best.size() && started.elapsed() < SHRINKING {
                let candidates = [Edit::Remove, Edit::Flatten].map(|edit| {
                    let mut p = best.clone();
                    let mut position = at;
                    apply(&mut p.body, &mut position, edit).then_some(p)
                });
                match candidates.into_iter().flatten().find(|p| p.size() < best.size() && fails(p)) {
                    Some(p) => {
                        best = p;
                        progress = true;
                    }
                    None => at += 1,
                }
            }
            if !progress || started.elapsed() >= SHRINKING {
                return best;
            }
        }
    }
}

/// Compiles and runs a program. Errors are the kind of failure and the details.
fn run_setup(
    program: &Program,
    s: &Setup,
    machine: &Machine,
    folder: &Path,
    made: &mut Made,
    times: &mut BTreeMap<&'static str, Duration>,
) -> Result<Option<Buffers>, (&'static str, String)> {
    let mut options = CompileOptions::default();
    options.codegen.verify = true;
    options.frontend.clang_args.push("-w".into());
    (s.adjust)(&mut options);
    let mut clock = Instant::now();
    let mut lap = |part: &'static str| {
        *times.entry(part).or_default() += clock.elapsed();
        clock = Instant::now();
    };
    let level = options.frontend.opt.flag();
    if !made.bitcode.contains_key(level) {
        let source = folder.join("kernel.cl");
        std::fs::write(&source, program.text()).map_err(|e| ("files", e.to_string()))?;
        let bitcode =
            heddle_frontend::compile_to_bitcode(&source, &options.frontend).map_err(|e| ("front end", e.to_string()))?;
        let path = folder.join(format!("kernel{level}.bc"));
        std::fs::write(&path, bitcode).map_err(|e| ("files", e.to_string()))?;
        made.bitcode.insert(level, path);
        lap("clang");
    }
    // What is compiled alike gives the same object: some setups differ in how they simulate only.
    let key = format!("{options:?} {:?}", s.set);
    if !made.objects.contains_key(&key) {
        let bitcode = made.bitcode[level].clone();
        let object = driver::compile(&[bitcode], Emit::Obj, &options, machine).map_err(|e| ("compiler", e.to_string()))?;
        let image = read::parse(&object.output).map_err(|e| ("object", e.to_string()))?;
        made.objects.insert(key.clone(), image);
        lap("Heddle's compiler");
    }
    let case = case_json(program, "kernel.cl").to_string();
    let case = Case::parse(&case, "case", folder.into()).map_err(|e| ("case", e.to_string()))?;
    let limits = Options {
        max_instructions: 50_000_000,
        jit: if s.host { Jit::Always } else { Jit::Never },
        check_marks: !s.host,
        check_renames: true,
        check_strands: !s.host,
        check_races: !s.host,
        check_uninitialised: !s.host,
        check_barriers: !s.host,
        threads: 1,
        ..Default::default()
    };
    let result = run_case(&case, &made.objects[&key], &Simulator { machine, mode: s.mode, options: &limits }, &mut ());
    lap("simulation");
    match result {
        Err(RunError::Refused(Refusal { message, .. })) if s.may_refuse && message.contains("fits an SM") => Ok(None),
        Err(e) => Err(("fault", e.to_string())),
        Ok(outcome) => Ok(Some(outcome.buffers.into_iter().map(|(n, a)| (n, a.data)).collect())),
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Edit {
    Remove,
    Flatten,
}

/// Edits the statement of a number, in preorder. Whether it did.
fn apply(body: &mut Vec<Stmt>, position: &mut usize, edit: Edit) -> bool {
    for i in 0..body.len() {
        if *position == 0 {
            return match (edit, body.remove(i)) {
                (Edit::Remove, _) => true,
                (Edit::Flatten, Stmt::Blocks(blocks))
                    if blocks.iter().all(|(head, _)| head.starts_with("if") || head == "else") =>
                {
                    let inner: Vec<Stmt> = blocks.into_iter().flat_map(|(_, b)| b).collect();
                    body.splice(i..i, inner);
                    true
                }
                (_, other) => {
                    body.insert(i, other);
                    false
                }
            };
        }
        *position -= 1;
        if let Stmt::Blocks(blocks) = &mut body[i] {
            for (_, inner) in blocks {
                if apply(inner, position, edit) {
                    return true;
                }
            }
        }
    }
    false
}
