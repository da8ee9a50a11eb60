//! The checker against an oracle that shares nothing with it: random walks of a warp of a few lanes with its
//! reconvergence stack, its rename table and, for each lane and name, whether what the lane wrote last is
//! still there. Real allocated code must pass both; of mutants of its releases the checker must refuse every
//! one that some walk finds wrong.

use std::collections::BTreeMap;

use rand::prelude::*;
use rand_pcg::Pcg32;

use super::super::context::Context;
use super::super::pipeline::STAGES;
use super::super::release::Release;
use super::super::testing::{generate, machine};
use super::super::{CodegenOptions, Rename};
use super::check;
use heddle_isa::{Inst, Op, Operand, Space, Type};
use heddle_mir::{Block, Function, parse, print};

const LANES: u32 = 4;

/// What a walk finds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Defect {
    Unmapped,
    Lost,
    Leak,
    Demand,
}

/// What a lane has in a register.
#[derive(Clone, Copy, PartialEq)]
enum Value {
    Nothing,
    Own,
    GivenBack,
}

struct Entry {
    mask: u32,
    block: Block,
    reconverge: Option<Block>,
}

struct Walk<'a> {
    function: &'a Function,
    first: usize,
    mapped: [bool; 256],
    values: Vec<[Value; 256]>,
    live: u32,
}

/// Numbers of an operand's main registers.
fn registers(op: Operand, words: u8) -> Vec<usize> {
    match op.as_phys() {
        Some(r) if r.space == Space::Main => (0..usize::from(words.max(1))).map(|w| usize::from(r.index) + w).collect(),
        _ => Vec::new(),
    }
}

/// None of the lanes, all of them, or some.
fn some_of(mask: u32, rng: &mut Pcg32) -> u32 {
    match rng.random_range(0..4) {
        0 => 0,
        1 => mask,
        _ => mask & rng.random::<u32>(),
    }
}

impl<'a> Walk<'a> {
    fn new(function: &'a Function) -> Self {
        let first = function.fixed_registers.unwrap_or(256) as usize;
        let values = vec![[Value::Nothing; 256]; LANES as usize];
        Walk { function, first, mapped: [false; 256], values, live: (1 << LANES) - 1 }
    }

    /// Executes an instruction that is no branch.
    fn execute(&mut self, inst: &Inst, mask: u32, rng: &mut Pcg32) -> Option<Defect> {
        let lanes = if inst.guard.is_some() { some_of(mask, rng) } else { mask };
        let first = self.first;
        let shared = |op, words| registers(op, words).into_iter().filter(move |r| *r >= first);
        let active: Vec<usize> = (0..LANES as usize).filter(|l| lanes >> l & 1 == 1).collect();
        if inst.op != Op::Release {
            for r in inst.srcs.iter().enumerate().flat_map(|(i, s)| shared(*s, inst.src_words(i))) {
                if !self.mapped[r] {
                    return Some(Defect::Unmapped);
                }
                if active.iter().any(|l| self.values[*l][r] == Value::GivenBack) {
                    return Some(Defect::Lost);
                }
            }
        }
        for r in shared(inst.dst, inst.dst_words()) {
            self.mapped[r] = true;
            active.iter().for_each(|l| self.values[*l][r] = Value::Own);
        }
        if self.mapped.iter().filter(|m| **m).count() > self.function.shared_demand as usize {
            return Some(Defect::Demand);
        }
        if inst.op != Op::Release || inst.imm == 0 || mask == self.live {
            for (i, s) in inst.srcs.iter().enumerate() {
                if inst.op == Op::Release || inst.release >> i & 1 == 1 {
                    for r in shared(*s, inst.src_words(i)).filter(|r| std::mem::take(&mut self.mapped[*r])) {
                        self.values.iter_mut().filter(|v| v[r] == Value::Own).for_each(|v| v[r] = Value::GivenBack);
                    }
                }
            }
        }
        None
    }

    /// Walks one way to its end, or for some steps.
    fn run(mut self, rng: &mut Pcg32) -> Option<Defect> {
        let next_of: BTreeMap<Block, Block> = self.function.layout.windows(2).map(|w| (w[0], w[1])).collect();
        let mut stack = vec![Entry { mask: self.live, block: self.function.entry(), reconverge: None }];
        for _ in 0..400 {
            let top = stack.last()?;
            let (mask, block) = (top.mask, top.block);
            if mask == 0 || top.reconverge == Some(block) {
                stack.pop();
                continue;
            }
            let mut next = next_of.get(&block).copied();
            let mut sides = None;
            let function = self.function;
            for inst in &function.blocks[block].insts {
                match inst.op {
                    Op::Trap => return None,
                    Op::Bra => next = Some(inst.blocks()[0]),
                    Op::BraScalar if rng.random() => {
                        next = Some(inst.blocks()[0]);
                        break;
                    }
                    Op::BraScalar => {}
                    Op::BraDivergent => {
                        sides = Some((some_of(mask, rng), inst.blocks()[0], inst.blocks().get(1).copied()));
                    }
                    Op::Exit => {
                        self.live &= !mask;
                        if self.live == 0 {
                            return self.mapped.contains(&true).then_some(Defect::Leak);
                        }
                        stack.iter_mut().for_each(|e| e.mask &= !mask);
                        next = None;
                    }
                    _ => {
                        if let Some(defect) = self.execute(inst, mask, rng) {
                            return Some(defect);
                        }
                    }
                }
            }
            let (Some(fall), Some(top)) = (next, stack.last_mut()) else { continue };
            match sides {
                Some((taken, to, reconverge)) if taken != 0 && taken != mask => {
                    match reconverge {
                        Some(j) => top.block = j,
                        None => top.mask = 0,
                    }
                    stack.push(Entry { mask: taken, block: to, reconverge });
                    stack.push(Entry { mask: mask & !taken, block: fall, reconverge });
                }
                Some((taken, to, _)) if taken == mask => top.block = to,
                _ => top.block = fall,
            }
        }
        None
    }
}

/// The first defect that random walks find.
fn oracle(function: &Function, walks: u32, rng: &mut Pcg32) -> Option<Defect> {
    (0..walks).find_map(|_| Walk::new(function).run(rng))
}

/// A random function, compiled with its registers shared; `None` if it shares none.
fn released(seed: u64) -> Option<Function> {
    let mut function = generate::function(seed, 15 + (seed % 60) as i32);
    let release = if seed % 4 == 0 { Release::Name } else { Release::Value };
    let options = CodegenOptions { rename: Rename::Always, release, verify: true, ..Default::default() };
    let machine = machine(64, 24, 7);
    let mut context = Context::new(&function, &machine, &options);
    for stage in STAGES {
        stage.apply(&mut function, &mut context).unwrap_or_else(|e| panic!("seed {seed}: {e}\n{}", listing(&function)));
    }
    function.fixed_registers.map(|_| function)
}

fn listing(function: &Function) -> String {
    let mut out = String::new();
    print::print_function(function, &mut out);
    out
}

/// A mark or an instruction that releases.
#[derive(Clone, Copy)]
struct Place {
    block: Block,
    inst: usize,
    /// The source that is marked; `None` for an instruction.
    source: Option<usize>,
}

fn places(function: &Function) -> Vec<Place> {
    let mut all = Vec::new();
    for &block in &function.layout {
        for (inst, i) in function.blocks[block].insts.iter().enumerate() {
            if i.op == Op::Release {
                all.push(Place { block, inst, source: None });
            }
            all.extend((0..i.srcs.len()).filter(|s| i.release >> s & 1 == 1).map(|s| Place { block, inst, source: Some(s) }));
        }
    }
    all
}

/// The instruction that releases what a place does.
fn release_of(function: &Function, place: Place) -> Inst {
    let inst = &function.blocks[place.block].insts[place.inst];
    let Some(source) = place.source else { return inst.clone() };
    let ty = match inst.src_words(source) {
        2 => Type::B64,
        4 => Type::B128,
        _ => Type::B32,
    };
    Inst::new(Op::Release, ty, Operand::None, [inst.srcs[source]])
}

fn drop_release(function: &mut Function, place: Place) {
    let insts = &mut function.blocks[place.block].insts;
    match place.source {
        Some(source) => insts[place.inst].release &= !(1 << source),
        None => {
            insts.remove(place.inst);
        }
    }
}

/// Puts a release anywhere in the code, half the time into the block it comes from.
fn insert_release(function: &mut Function, release: Inst, home: Block, rng: &mut Pcg32) {
    let block = if rng.random() { home } else { *function.layout.choose(rng).expect("a function has blocks") };
    let insts = &mut function.blocks[block].insts;
    let end = insts.iter().position(|i| i.info().flags.terminator).unwrap_or(insts.len());
    insts.insert(rng.random_range(0..=end), release);
}

const KINDS: [&str; 4] = ["dropped", "moved", "duplicated", "made unconditional"];

/// Changes one release; `None` if that kind of change does not fit it.
fn mutate(function: &mut Function, kind: usize, rng: &mut Pcg32) -> Option<()> {
    let place = *places(function).choose(rng)?;
    let release = release_of(function, place);
    match KINDS[kind] {
        "dropped" => drop_release(function, place),
        "moved" => {
            drop_release(function, place);
            insert_release(function, release, place.block, rng);
        }
        "duplicated" => insert_release(function, release, place.block, rng),
        _ => {
            let inst = &mut function.blocks[place.block].insts[place.inst];
            if place.source.is_some() || inst.imm == 0 {
                return None;
            }
            inst.imm = 0;
        }
    }
    Some(())
}

/// Functions of the normal mode; `HEDDLE_NIGHTLY=n` for more.
fn count(normal: u64) -> u64 {
    std::env::var("HEDDLE_NIGHTLY").ok().and_then(|n| n.parse().ok()).unwrap_or(normal)
}

#[test]
fn what_the_compiler_makes_passes_the_checker_and_the_walks() {
    let mut shared = 0;
    for seed in 0..count(150) {
        let Some(function) = released(20_000 + seed) else { continue };
        shared += 1;
        let found = oracle(&function, 100, &mut Pcg32::seed_from_u64(seed));
        assert_eq!(found, None, "seed {seed}\n{}", listing(&function));
    }
    assert!(shared * 2 > count(150), "only {shared} functions share registers");
}

#[test]
fn mutants_of_releases_are_killed() {
    // By kind: mutants, those wrong on some walk, those refused, those wrong and refused.
    let mut tally = [[0u32; 4]; KINDS.len()];
    let mut missed = Vec::new();
    for seed in 0..count(60) {
        let Some(function) = released(30_000 + seed) else { continue };
        let mut rng = Pcg32::seed_from_u64(seed);
        for round in 0..40 {
            let (kind, mut mutant) = (round % KINDS.len(), function.clone());
            if mutate(&mut mutant, kind, &mut rng).is_none() {
                continue;
            }
            let refused = check(&mutant).is_err();
            let wrong = oracle(&mutant, 200, &mut rng);
            for (n, holds) in tally[kind].iter_mut().zip([true, wrong.is_some(), refused, refused && wrong.is_some()]) {
                *n += u32::from(holds);
            }
            if let Some(defect) = wrong.filter(|_| !refused) {
                missed.push(format!("seed {seed}, {}: {defect:?}\n{}", KINDS[kind], listing(&mutant)));
            }
        }
    }
    for (kind, [all, wrong, refused, both]) in KINDS.iter().zip(tally) {
        println!(
            "{kind}: {all} mutants, {wrong} wrong on some walk, of which {both} refused; {} refused besides",
            refused - both
        );
    }
    let sum = |i: usize| tally.iter().map(|t| t[i]).sum::<u32>();
    let (all, wrong, refused, both) = (sum(0), sum(1), sum(2), sum(3));
    println!(
        "all: {all} mutants, {refused} refused; {wrong} wrong, {both} of them refused ({:.1} %)",
        f64::from(both * 100) / f64::from(wrong)
    );
    assert!(missed.is_empty(), "{} of {wrong} wrong mutants pass:\n{}", missed.len(), missed[0]);
    assert!(wrong > 300 && tally.iter().all(|t| t[1] > 0), "too few mutants are wrong: {tally:?}");
    // What is refused besides is wrong on ways that the walks did not find; were that much, the checker would
    // be too strict.
    assert!(refused - both <= all / 10, "{} mutants are refused that no walk finds wrong", refused - both);
}

/// A kernel of shared registers from m4 on.
fn kernel(demand: u32, body: &str) -> Function {
    let text = format!("kernel @k stage allocated local 512 private 0 fixed 4 demand {demand} typical 1 {{\n{body}}}\n");
    parse::parse_module(&text).unwrap().functions.remove(0)
}

fn refusal(demand: u32, body: &str) -> String {
    check(&kernel(demand, body)).unwrap_err()
}

#[test]
fn lanes_that_wait_behind_an_exit_of_the_taken_side() {
    // All lanes of the taken side end; those that wait at the reconvergence block go on with what they left,
    // and leak it.
    let body = |release: &str| {
        format!(
            "bb0: frequency 1\n  mov.b32 m4, lid.x\n  cmp.lt.s32 p0, m0, 16\n  @p0 brad bb2, bb3\nbb1: frequency 1\n  bra bb3\n\
             bb2: frequency 1\n  release.b32 m4, 1\n  exit\nbb3: frequency 1\n{release}  exit\n"
        )
    };
    check(&kernel(1, &body("  release.b32 m4, 0\n"))).unwrap();
    let message = refusal(1, &body(""));
    assert!(message.contains("bb3: m4 may stay mapped at the end (REN-9)"), "{message}");
}

#[test]
fn a_register_written_again_is_not_the_value_given_back() {
    // m4 is mapped when bb3 reads it, because bb2 wrote it; the lanes of bb1 have lost theirs.
    let body = "bb0: frequency 1\n  mov.b32 m4, lid.x\n  cmp.lt.s32 p0, m0, 16\n  @p0 brad bb2, bb3\nbb1: frequency 1\n\
                \x20 c3 st.local.b32 [0], m4!\n  bra bb3\nbb2: frequency 1\n  mov.b32 m4, 1\nbb3: frequency 1\n\
                \x20 c3 st.local.b32 [0], m4!\n  exit\n";
    let message = refusal(1, body);
    assert!(message.contains("bb1: m4 is released before its last read (REN-5)"), "{message}");
}

#[test]
fn a_demand_above_the_header_is_refused() {
    let body = "bb0: frequency 1\n  mov.b32 m4, lid.x\n  mov.b32 m5, 1\n  add.b32 m0, m4!, m5!\n  exit\n";
    check(&kernel(2, body)).unwrap();
    let message = refusal(1, body);
    assert!(message.contains("2 shared registers are mapped, the header says 1 (REN-8)"), "{message}");
}
