//! Random programs as a test of the whole of Heddle: one program, many ways to compile and run it, the same bytes from all.
//!
//! [`generate`] makes well-defined OpenCL C kernels; [`check`] compiles and runs one with every [`Setup`] and compares the results with those of the
//! first; [`reduce`] removes statements from a failing program as long as it fails in the same way. The front end runs once a program and optimisation
//! level; everything behind it runs for every setup, with verifier, allocation checker and the simulator's checks on.

pub mod generate;

use std::collections::BTreeMap;
use std::path::Path;

use self::generate::{CELLS, INPUTS, Program, Stmt};
use crate::codegen::partition::Ownership;
use crate::codegen::release::Release;
use crate::codegen::{RegisterFile, Rename};
use crate::driver::{self, CompileOptions, Emit};
use crate::frontend::OptLevel;
use crate::isel::CacheHints;
use crate::object::read;
use crate::runtime::case::Case;
use crate::runtime::run::{Mode, RunError, run_case};
use crate::sim::Options;
use crate::target::Machine;

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
}

fn setup(name: &str, set: &[&str], mode: Mode, adjust: fn(&mut CompileOptions)) -> Setup {
    Setup { name: name.into(), set: set.iter().map(|s| (*s).into()).collect(), adjust, mode, may_refuse: false }
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
        setup("past the L1 caches", &[], Timing, |o| o.select.cache_hints = CacheHints::Cg),
        setup("warps of 64", &["warp-size=64"], Functional, |o| o.codegen.regfile = RegisterFile::Single),
    ]
}

/// What is wrong with a program's compilation or results.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The setup in which it shows.
    pub setup: String,
    /// What kind of failure: reduction keeps it.
    pub kind: &'static str,
    /// Details.
    pub message: String,
}

type Buffers = BTreeMap<String, Vec<u8>>;

/// The case file of a program whose source is `kernel.ll` or `kernel.cl` beside it.
pub fn case_json(program: &Program, source: &str) -> serde_json::Value {
    let random = |n: u64, seed: u64| serde_json::json!({"random": [n], "dtype": "uint32", "seed": seed, "low": 0, "high": 4_294_967_296.0});
    serde_json::json!({
        "source": source,
        "buffers": {
            "in": random(INPUTS, program.seed),
            "out": {"zeros": [program.items()], "dtype": "uint32"},
            "cells": random(CELLS, program.seed ^ 1),
        },
        "launches": [{"kernel": "k", "global": program.global, "local": program.local,
            "args": [{"buffer": "in"}, {"buffer": "out"}, {"buffer": "cells"}, {"u32": program.seed % 1000}]}],
    })
}

/// Compiles and runs a program with each setup in `folder` and compares the results.
///
/// # Errors
/// The first finding.
pub fn check(program: &Program, setups: &[Setup], folder: &Path) -> Result<(), Finding> {
    let fail = |setup: &str, kind: &'static str, message: String| Finding { setup: setup.into(), kind, message };
    let source = folder.join("kernel.cl");
    let io = |e: std::io::Error| fail("", "files", e.to_string());
    std::fs::write(&source, program.text()).map_err(io)?;
    let mut compiled: BTreeMap<(bool, u32), std::path::PathBuf> = BTreeMap::new();
    let mut expected: Option<Buffers> = None;
    for s in setups {
        let machine = Machine::load(None, &s.set).map_err(|e| fail(&s.name, "machine", e.to_string()))?;
        let mut options = CompileOptions::default();
        options.codegen.verify = true;
        options.frontend.clang_args.push("-w".into());
        (s.adjust)(&mut options);
        let key = (options.frontend.opt == OptLevel::O0, machine.warp_size);
        let ir = match compiled.get(&key) {
            Some(path) => path.clone(),
            None => {
                let ir = driver::compile(std::slice::from_ref(&source), Emit::Ir, &options, &machine)
                    .map_err(|e| fail(&s.name, "front end", e.to_string()))?;
                let path = folder.join(format!("kernel-{}-{}.ll", u8::from(key.0), key.1));
                std::fs::write(&path, ir.output).map_err(io)?;
                compiled.insert(key, path.clone());
                path
            }
        };
        let name = ir.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
        let case_path = folder.join("case.json");
        std::fs::write(&case_path, case_json(program, &name).to_string()).map_err(io)?;
        let case = Case::read(&case_path).map_err(|e| fail(&s.name, "case", e.to_string()))?;
        let object =
            driver::compile(&[ir], Emit::Obj, &options, &machine).map_err(|e| fail(&s.name, "compiler", e.to_string()))?;
        let image = read::parse(&object.output).map_err(|e| fail(&s.name, "object", e.to_string()))?;
        let limits = Options {
            max_instructions: 50_000_000,
            check_marks: true,
            check_renames: true,
            check_races: true,
            check_uninitialised: true,
            check_barriers: true,
            ..Default::default()
        };
        let outcome = match run_case(&case, &image, &machine, s.mode, &limits, &mut |_, _| Box::new(|_| {})) {
            Err(RunError::Input(message)) if s.may_refuse && message.contains("fits an SM") => continue,
            result => result.map_err(|e| fail(&s.name, "fault", e.to_string()))?,
        };
        let found: Buffers = outcome.buffers.into_iter().map(|(n, a)| (n, a.data)).collect();
        match &expected {
            None => expected = Some(found),
            Some(e) if *e == found => {}
            Some(e) => {
                let (name, at) = e
                    .iter()
                    .find_map(|(n, bytes)| {
                        let other = &found[n];
                        (0..bytes.len().min(other.len()) / 4)
                            .find(|i| bytes[4 * i..4 * i + 4] != other[4 * i..4 * i + 4])
                            .map(|i| (n, i))
                    })
                    .unwrap_or((&s.name, 0));
                return Err(fail(&s.name, "results", format!("`{name}`[{at}] differs from that of `{}`", setups[0].name)));
            }
        }
    }
    Ok(())
}

/// Removes statements as long as the program fails in the same way: whole bodies first, then single statements, then replaces blocks by their bodies.
pub fn reduce(program: &Program, finding: &Finding, setups: &[Setup], folder: &Path) -> Program {
    let fails = |p: &Program| matches!(check(p, setups, folder), Err(f) if f.kind == finding.kind && f.setup == finding.setup);
    let mut best = program.clone();
    loop {
        let mut progress = false;
        let mut at = 0;
        while at < best.size() {
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
        if !progress {
            return best;
        }
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
