//! Random functions through the whole of code generation, proved by the checker and executed before and
//! after; and mutations that the checker must catch.

use rand::prelude::*;
use rand_pcg::Pcg32;

use super::super::context::Context;
use super::super::partition::Ownership;
use super::super::pipeline::STAGES;
use super::super::release::Release;
use super::super::spill::{INSERTED, Origins};
use super::super::testing::{clustered, generate, interpret, machine};
use super::super::{CodegenOptions, FunctionStats, RegisterFile, Rename};
use heddle_isa::{Op, Operand, PhysReg, Reg};
use heddle_mir::{Form, Function, print, verify};
use heddle_target::Machine;

fn text(f: &Function) -> String {
    let mut out = String::new();
    print::print_function(f, &mut out);
    out
}

fn outcomes(f: &Function, noise: u32) -> Vec<interpret::Outcome> {
    [1u32, 77].iter().map(|seed| interpret::run(f, *seed, noise)).collect()
}

struct Case {
    before: Function,
    after: Function,
    origins: Origins,
    stats: FunctionStats,
}

/// Compiles a random function, which every stage leaves sound and with the same results; panics with the
/// function's text if not.
fn compile(seed: u64, size: i32, machine: &Machine) -> Case {
    let mut f = generate::function(seed, size);
    let options = CodegenOptions {
        regfile: if seed % 7 == 0 { RegisterFile::Single } else { RegisterFile::Multilevel },
        ownership: if seed % 3 == 0 { Ownership::Publication } else { Ownership::Energy },
        rename: if seed % 2 == 0 { Rename::Always } else { Rename::Auto },
        release: if seed % 4 == 0 { Release::Value } else { Release::Name },
        verify: true,
        ..Default::default()
    };
    verify::verify(&f, machine).unwrap_or_else(|m| panic!("seed {seed}, generated: {m}\n{}", text(&f)));
    let expected = outcomes(&f, 1);
    let mut context = Context::new(&f, machine, &options);
    let (mut before, mut after) = (f.clone(), None);
    for stage in STAGES {
        if stage.name == "partition" && seed % 2 == 1 {
            begin_strands(&mut f, seed);
        }
        if context.session().is_none() {
            before = f.clone();
        }
        let result = stage.apply(&mut f, &mut context).and_then(|()| stage.verify(&f, machine));
        result.unwrap_or_else(|e| panic!("seed {seed}, {}: {e}\n{}\n{}", stage.name, text(&before), text(&f)));
        assert!(outcomes(&f, 2) == expected, "seed {seed}, {}: another result\n{}", stage.name, text(&f));
        if f.form == Form::Allocated && after.is_none() {
            after = Some(f.clone());
        }
    }
    let origins = context.session().expect("allocation has begun").origins.clone();
    Case { before, after: after.expect("allocation has ended"), origins, stats: context.stats }
}

/// Lets strands begin at random (C14), in some functions often.
fn begin_strands(f: &mut Function, seed: u64) {
    let mut rng = Pcg32::seed_from_u64(seed);
    let often = *[0.03, 0.1, 0.3].choose(&mut rng).unwrap();
    for block in f.layout.clone() {
        f.blocks[block].insts.iter_mut().for_each(|i| i.strand = rng.random_bool(often));
    }
}

fn random_machine(seed: u64) -> Machine {
    let mut rng = Pcg32::seed_from_u64(seed ^ 0xabcdef);
    let main = *[18, 19, 20, 24, 32, 48, 64].choose(&mut rng).unwrap();
    let (scalar, predicate) = (*[8, 9, 12, 16, 64].choose(&mut rng).unwrap(), *[3, 4, 5, 7].choose(&mut rng).unwrap());
    let locals: Vec<u32> = (0..3).map(|_| *[0, 1, 2, 3, 4, 6, 8, 16, 64].choose(&mut rng).unwrap()).collect();
    clustered(main, scalar, predicate, rng.random_range(1..=8), &locals)
}

/// Functions of the normal mode; `HEDDLE_NIGHTLY=n` for more.
fn count(normal: u64) -> u64 {
    std::env::var("HEDDLE_NIGHTLY").ok().and_then(|n| n.parse().ok()).unwrap_or(normal)
}

#[test]
fn random_functions_compile_and_keep_their_results() {
    let mut spilled = [0; 5];
    for seed in 0..count(500) {
        let case = compile(seed, 20 + (seed % 120) as i32, &random_machine(seed));
        let s = case.stats;
        for (sum, n) in spilled.iter_mut().zip([
            s.spilled_to_memory,
            s.rematerialized,
            s.scalar_spilled,
            s.predicate_spilled,
            s.local_overflow,
        ]) {
            *sum += n;
        }
    }
    // The test is worth its name only if every kind of spilling happened.
    assert!(spilled.iter().all(|n| *n > 0), "{spilled:?}");
}

/// Changes allocated code at random; says what it did.
fn mutate(f: &mut Function, origins: &mut Origins, rng: &mut Pcg32) -> Option<String> {
    let block = *f.layout.choose(rng)?;
    let insts = &mut f.blocks[block].insts;
    if insts.is_empty() {
        return None;
    }
    let at = rng.random_range(0..insts.len());
    let ends = |i: usize, insts: &[heddle_isa::Inst]| insts.get(i).is_none_or(|i| i.info().flags.terminator);
    let movable = !ends(at, insts) && !ends(at + 1, insts);
    let inst = &mut insts[at];
    let name = heddle_isa::text::print_inst(inst, &[]);
    match rng.random_range(0..4) {
        // An instruction that only moves values is lost.
        0 if inst.op == Op::Mov || (origins[block][at] == INSERTED && inst.op != Op::Bra) => {
            insts.remove(at);
            origins[block].remove(at);
            Some(format!("dropped `{name}`"))
        }
        1 if origins[block][at] == INSERTED && inst.is_memory() => {
            inst.imm += if rng.random_bool(0.5) { 4 } else { -4 };
            Some(format!("moved the slot of `{name}`"))
        }
        2 if movable => {
            if origins[block][at] != INSERTED && origins[block][at + 1] != INSERTED {
                return None;
            }
            insts.swap(at, at + 1);
            origins[block].swap(at, at + 1);
            Some(format!("moved `{name}` down"))
        }
        _ => {
            let mut regs: Vec<&mut Reg> = inst
                .srcs
                .iter_mut()
                .chain([&mut inst.dst])
                .filter_map(|o| match o {
                    Operand::Reg(r) => Some(r),
                    _ => None,
                })
                .collect();
            regs.extend(inst.guard.as_mut().map(|g| &mut g.reg));
            let Some(Reg::Physical(PhysReg { index, .. })) = regs.into_iter().choose(rng) else { return None };
            let new = rng.random_range(0..18);
            if new == *index {
                return None;
            }
            *index = new;
            Some(format!("register {new} in `{name}`"))
        }
    }
}

#[test]
fn the_checker_catches_mutations() {
    let (mut wrong, mut missed) = (0u32, Vec::new());
    for seed in 0..count(60) {
        let machine = machine(if seed % 2 == 0 { 18 } else { 24 }, 9, 4);
        let case = compile(seed + 10_000, 30 + (seed % 60) as i32, &machine);
        let expected = outcomes(&case.after, 1);
        let mut rng = Pcg32::seed_from_u64(seed);
        for _ in 0..60 {
            let (mut after, mut origins) = (case.after.clone(), case.origins.clone());
            let Some(what) = mutate(&mut after, &mut origins, &mut rng) else { continue };
            if verify::verify(&after, &machine).is_err() {
                continue;
            }
            let changed = outcomes(&after, 3) != expected;
            let accepted = super::check(&case.before, &after, &origins).is_ok();
            wrong += u32::from(changed);
            if changed && accepted {
                missed.push(format!("seed {seed}: {what}"));
            }
        }
    }
    println!("{wrong} mutations changed a result, {} were missed", missed.len());
    assert!(wrong > 300, "only {wrong} mutations changed a result");
    assert!(missed.len() * 100 <= wrong as usize, "{} of {wrong} missed: {missed:#?}", missed.len());
}

/// Time of each stage on a function of 100,000 instructions and one of 10,000 blocks: `cargo test --release
/// -- --ignored large`.
#[test]
#[ignore = "a measurement"]
fn large_functions() {
    use super::super::{CodegenOptions, compile};
    for (name, registers, f) in [
        ("100,000 instructions", 64, generate::straight_line(100_000)),
        ("100,000 instructions, spilling", 18, generate::straight_line(100_000)),
        ("200,000 instructions", 64, generate::straight_line(200_000)),
        ("10,000 blocks", 64, generate::many_blocks(10_000)),
        ("10,000 blocks, spilling", 18, generate::many_blocks(10_000)),
        ("20,000 blocks", 64, generate::many_blocks(20_000)),
    ] {
        let mut module = heddle_mir::Module { functions: vec![f], ..Default::default() };
        let start = std::time::Instant::now();
        let stats = compile(&mut module, &machine(registers, 32, 7), &CodegenOptions::default()).unwrap();
        println!("{name}: {:?} {:?} {:?}", start.elapsed(), stats.times, stats.functions);
    }
}

/// A register with two definitions, of which the first, a constant, is recomputed where it is read instead of
/// kept. Found by a random program: the checker knew constants of registers with one definition only.
#[test]
fn constants_of_registers_with_several_definitions() {
    let parse = |text: &str| heddle_mir::parse::parse_module(text).unwrap().functions.remove(0);
    let before = "kernel @k stage lowered local 64 private 0 {\n  registers v1\nbb0: frequency 1\n  mov.b32 %0, 6\n\
        \x20 c3 st.local.b32 [0], %0\n  c3 ld.local.b32 %0, [4]\n  c3 st.local.b32 [8], %0\n  exit\n}\n";
    let after = |value: u32| {
        format!(
            "kernel @k stage allocated local 64 private 0 {{\nbb0: frequency 1\n  mov.b32 m1, {value}\n  c3 st.local.b32 [0], m1\n\
             \x20 c3 ld.local.b32 m0, [4]\n  c3 st.local.b32 [8], m0\n  exit\n}}\n"
        )
    };
    let before = parse(before);
    let mut origins = Origins::default();
    origins[before.entry()] = vec![INSERTED, 1, 2, 3, 4];
    super::check(&before, &parse(&after(6)), &origins).unwrap();
    let message = super::check(&before, &parse(&after(7)), &origins).unwrap_err();
    assert!(message.contains("reads %0.0 from m1"), "{message}");
}

/// A value that a guarded instruction defines beside its place, which inserted code completes: after the guard itself was
/// reloaded to another predicate register, by way of another place, or from the other side.
#[test]
fn guarded_definitions_completed_under_a_reloaded_guard() {
    let parse = |text: &str| heddle_mir::parse::parse_module(text).unwrap().functions.remove(0);
    let before = "kernel @k stage lowered local 64 private 0 {\n  registers v1 p\nbb0: frequency 1\n  mov.b32 %0, lane\n\
        \x20 cmp.gt.b32 %1, %0, 3\n  @%1 mov.b32 %0, 7\n  c3 st.local.b32 [0], %0\n  exit\n}\n";
    let before = parse(before);
    let check = |inserted: &[&str], read: &str| {
        let text = format!(
            "kernel @k stage allocated local 64 private 0 {{\nbb0: frequency 1\n  mov.b32 m0, lane\n  cmp.gt.b32 p0, m0, 3\n\
             \x20 mov.b32 m5, m0\n  sel.b32 m9, p0, 1, _\n  @p0 mov.b32 m1, 7\n{}  c3 st.local.b32 [0], {read}\n  exit\n}}\n",
            inserted.iter().map(|i| format!("  {i}\n")).collect::<String>()
        );
        let mut origins = Origins::default();
        origins[before.entry()] = [0, 1, INSERTED, INSERTED, 2].into();
        origins[before.entry()].extend(std::iter::repeat_n(INSERTED, inserted.len()));
        origins[before.entry()].extend([3, 4]);
        super::check(&before, &parse(&text), &origins)
    };
    check(&["@p0 mov.b32 m0, m1"], "m0").unwrap();
    check(&["cmp.ne.b32 p1, m9, 0", "@p1 mov.b32 m0, m1"], "m0").unwrap();
    check(&["mov.b32 m2, m1", "mov.b32 m6, m5", "cmp.ne.b32 p0, m9, 0", "@p0 mov.b32 m6, m2"], "m6").unwrap();
    check(&["@!p0 mov.b32 m1, m5"], "m1").unwrap();
    for (wrong, read) in [
        (&["@!p0 mov.b32 m0, m1"][..], "m0"),
        (&["@p0 mov.b32 m0, m1"], "m1"),
        (&["@p0 mov.b32 m1, m5"], "m1"),
        // Another predicate, or the place is not the old value's, or the new one's, any more.
        (&["cmp.ne.b32 p1, m0, 0", "@p1 mov.b32 m0, m1"], "m0"),
        (&["mov.b32 m0, m9", "@p0 mov.b32 m0, m1"], "m0"),
        (&["mov.b32 m1, m9", "@p0 mov.b32 m0, m1"], "m0"),
        (&["mov.b32 m2, m9", "@p0 mov.b32 m2, m1"], "m2"),
    ] {
        let message = check(wrong, read).unwrap_err();
        assert!(message.contains("reads %0.0 from"), "{wrong:?}: {message}");
    }
}

/// The copy of such a value that went with its register: it is where the value is completed, and not before.
#[test]
fn copies_of_guarded_definitions_are_completed_with_them() {
    let parse = |text: &str| heddle_mir::parse::parse_module(text).unwrap().functions.remove(0);
    let before = "kernel @k stage lowered local 64 private 0 {\n  registers v1 p v1\nbb0: frequency 1\n  mov.b32 %0, lane\n\
        \x20 cmp.gt.b32 %1, %0, 3\n  @%1 mov.b32 %0, 7\n  mov.b32 %2, %0\n  c3 st.local.b32 [0], %2\n  exit\n}\n";
    let before = parse(before);
    let check = |inserted: &str, read: &str| {
        let text = format!(
            "kernel @k stage allocated local 64 private 0 {{\nbb0: frequency 1\n  mov.b32 m0, lane\n  cmp.gt.b32 p0, m0, 3\n\
             \x20 @p0 mov.b32 m1, 7\n  {inserted}\n  c3 st.local.b32 [0], {read}\n  exit\n}}\n"
        );
        let mut origins = Origins::default();
        origins[before.entry()] = [0, 1, 2, INSERTED, 4, 5].into();
        super::check(&before, &parse(&text), &origins)
    };
    check("@p0 mov.b32 m0, m1", "m0").unwrap();
    for (wrong, read) in [("@!p0 mov.b32 m0, m1", "m0"), ("@p0 mov.b32 m0, m1", "m1"), ("mov.b32 m2, m1", "m2")] {
        let message = check(wrong, read).unwrap_err();
        assert!(message.contains("reads %2.0 from"), "{wrong}: {message}");
    }
}
