//! Every operation at every type with every modifier: the interpreter and, where it is built in, translated code against
//! the reference ([`Inst::evaluate`]), on edge and random values.
//!
//! An operation whose meaning is a function of a lane is tried with all conditions, roundings, source types and sign
//! modifiers that the rules allow, saturating and not, with a destination in lanes (all active; some active under a
//! guard; u-marked) and in the scalar file. What is compared are the bits of the destination in all lanes, those that
//! must keep what they held included.
//!
//! Of NaNs: where the result is a float that arithmetic made, one NaN is as good as another, as the host's instructions
//! choose sign and payload by the order of the operands. Results that only move or mask bits (moves, selects, logic,
//! `copysign`) are equal to the bit, NaN or not.
//!
//! Operations across lanes, atomics and loads are compared with formulations of their own.

use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;
use strum::IntoEnumIterator;

use super::*;
use crate::functional::{GroupPlace, Warp};
use crate::{Launch, Options};
use heddle_isa::meaning::{Words, updated};
use heddle_isa::{Cond, Inst, Meaning, MemoryAction, PhysReg, Role, Rounding, Type, rules};
use heddle_object::metadata::KernelHeader;
use heddle_target::Machine;

const N: usize = 32;

/// How an instruction gets its operands and gives its result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Layout {
    /// Lane registers, all lanes active.
    Whole,
    /// Lane registers, some lanes active, under a guard.
    Guarded,
    /// u-marked: lane registers with the same value in all lanes.
    Uniform,
    /// The scalar file.
    Scalar,
}

const LAYOUTS: [Layout; 4] = [Layout::Whole, Layout::Guarded, Layout::Uniform, Layout::Scalar];
/// Predicate registers: sources are p0 to p2, then the guard, then destinations.
const GUARD: u8 = 3;

impl Layout {
    /// Destinations that one program can have.
    fn slots(self, predicate: bool) -> usize {
        match self {
            Layout::Scalar => 28,
            _ if predicate => 11,
            _ => 60,
        }
    }

    fn source(self, i: usize, predicate: bool) -> Operand {
        match self {
            Layout::Scalar => Operand::phys(Space::Scalar, 4 * i as u8),
            _ if predicate => Operand::phys(Space::Predicate, i as u8),
            _ => Operand::phys(Space::Main, 4 * i as u8),
        }
    }

    fn destination(self, slot: usize, predicate: bool) -> Operand {
        match self {
            Layout::Scalar => Operand::phys(Space::Scalar, 12 + 4 * slot as u8),
            _ if predicate => Operand::phys(Space::Predicate, GUARD + 1 + slot as u8),
            _ => Operand::phys(Space::Main, 12 + 4 * slot as u8),
        }
    }
}

fn writes_predicate(inst: &Inst) -> bool {
    inst.info().dst.is_some_and(|role| rules::is_predicate_role(inst, role))
}

/// The instruction in a layout, if there is one.
fn laid_out(form: &Inst, layout: Layout, slot: usize, machine: &Machine) -> Option<Inst> {
    let mut inst = form.clone();
    inst.dst = layout.destination(slot, writes_predicate(form));
    inst.srcs = (0..form.info().srcs.len()).map(|i| layout.source(i, rules::is_predicate_role(form, form.src_role(i)))).collect();
    inst.uniform = layout == Layout::Uniform;
    if layout == Layout::Guarded {
        let reg = Reg::Physical(PhysReg { space: Space::Predicate, index: GUARD });
        inst.guard = Some(Guard { reg, negate: slot % 2 == 1 });
    }
    on_some_cluster(inst, machine)
}

/// The instruction on a cluster that has the unit, if it is one that the machine executes.
fn on_some_cluster(mut inst: Inst, machine: &Machine) -> Option<Inst> {
    (0..machine.clusters.len() as u8).find_map(|cluster| {
        inst.cluster = cluster;
        let fits = rules::check(&inst, None).and_then(|()| heddle_target::limits::check(&inst, None, true, machine));
        fits.is_ok().then(|| inst.clone())
    })
}

/// Sign modifiers of so many sources: all combinations of one or two; of three each alone, and all.
fn signs(sources: usize) -> Vec<(u8, u8)> {
    let all = (1u8 << sources) - 1;
    if sources < 3 {
        return (0..=all).flat_map(|neg| (0..=all).map(move |abs| (neg, abs))).collect();
    }
    let alone = (0..sources).flat_map(|i| [(1 << i, 0), (0, 1 << i), (1 << i, 1 << i)]);
    alone.chain([(0, 0), (all, 0), (0, all), (all, all)]).collect()
}

/// Every form of an operation at a type: modifiers, without operands.
fn forms(op: Op, ty: Type) -> Vec<Inst> {
    let flags = op.info().flags;
    let some = |wanted: bool, all: Vec<Option<Type>>| if wanted { all } else { vec![None] };
    let conds: Vec<Option<Cond>> = if flags.cond { Cond::iter().map(Some).collect() } else { vec![None] };
    let froms = some(flags.from, op.info().types.iter().copied().map(Some).collect());
    let mut forms = Vec::new();
    for (cond, from) in conds.iter().flat_map(|c| froms.iter().map(move |f| (*c, *f))) {
        for (rounding, saturate) in Rounding::iter().flat_map(|r| [(r, false), (r, true)]) {
            let mut form = Inst::new(op, ty, Operand::None, []);
            (form.mods.cond, form.mods.from) = (cond, from);
            (form.mods.rounding, form.mods.saturate) = (rounding, saturate);
            let floats = (0..op.info().srcs.len()).filter(|i| form.src_is_float(*i)).count();
            for (neg, abs) in signs(floats) {
                forms.push(Inst { neg, abs, ..form.clone() });
            }
        }
    }
    forms
}

/// What values a source is given.
fn source_types(inst: &Inst) -> Vec<Type> {
    let ty = |i: usize| match inst.src_role(i) {
        role if rules::is_predicate_role(inst, role) => Type::Pred,
        Role::From => inst.mods.from.unwrap_or(Type::B32),
        Role::Value => inst.ty,
        _ => Type::B32,
    };
    (0..inst.info().srcs.len()).map(ty).collect()
}

/// Values at which operations of a type change what they do, and some at random.
fn values(ty: Type, rng: &mut impl Rng) -> Vec<Words> {
    let wide = |v: u64| [v as u32, (v >> 32) as u32, 0, 0];
    let mut all: Vec<Words> = match ty {
        Type::F16 => [
            0u32, 0x8000, 0x3c00, 0xbc00, 0x7bff, 0xfbff, 0x7c00, 0xfc00, 0x7e00, 0xfe01, 0x7d00, 1, 0x8001, 0x3ff, 0x400,
            0x8400, 0x3800, 0x3555, 0x3bff, 0x3c01, 0x6400, 0x6801, 0x5bff, 0xdc01, 0x4248, 0x7800,
        ]
        // The upper half of the register is anything.
        .map(|h| [h | rng.random::<u32>() << 16, 0, 0, 0])
        .to_vec(),
        Type::F32 => {
            let floats = [
                0.0f32,
                1.0,
                0.5,
                1.5,
                2.5,
                3.75,
                0.1,
                f32::MAX,
                f32::MIN_POSITIVE,
                f32::INFINITY,
                2147483648.0,
                2147483520.0,
                4294967296.0,
                16777217.0,
                65504.0,
                65519.0,
                65520.0,
                6.0e-8,
                2.9802322e-8,
                127.5,
                255.5,
                1.0009766,
                9.223372e18,
            ];
            let bits = [0x7fc0_0000u32, 0x7fa0_0001, 1, 0x007f_ffff, 0x3f7f_ffff, 0x3f80_0001];
            floats.map(f32::to_bits).into_iter().chain(bits).flat_map(|b| [b, b ^ 1 << 31]).map(|b| [b, 0, 0, 0]).collect()
        }
        Type::F64 => {
            let floats = [
                0.0f64,
                1.0,
                0.5,
                1.5,
                2.5,
                0.1,
                f64::MAX,
                f64::MIN_POSITIVE,
                f64::INFINITY,
                2147483647.5,
                4294967295.5,
                9007199254740993.0,
                9.223372036854775e18,
                1.8446744073709552e19,
                65519.99,
                65520.0,
                3.5e38,
                1e-46,
                1e-45,
                1.000000059604645,
                2.980232e-8,
                255.5,
            ];
            let bits = [0x7ff8_0000_0000_0000u64, 0x7ff4_0000_0000_0001, 1, 0x000f_ffff_ffff_ffff, 0x3fef_ffff_ffff_ffff];
            floats.map(f64::to_bits).into_iter().chain(bits).flat_map(|b| [b, b ^ 1 << 63]).map(wide).collect()
        }
        _ if ty.words() == 2 => {
            let near = [0u64, 1, 2, 7, 31, 63, 64, 1 << 31, 1 << 32, 1 << 53, 1 << 62, 1 << 63, 0x0123_4567_89ab_cdef];
            near.into_iter().flat_map(|v| [v, v.wrapping_neg(), v.wrapping_sub(1)]).map(wide).collect()
        }
        _ => {
            let near =
                [0u32, 1, 2, 7, 31, 32, 63, 64, 127, 128, 255, 256, 0x8000, 0xffff, 1 << 24, 1 << 30, 1 << 31, 0x89ab_cdef];
            near.into_iter().flat_map(|v| [v, v.wrapping_neg(), v.wrapping_sub(1)]).map(|v| [v, 0, 0, 0]).collect()
        }
    };
    all.sort_unstable();
    all.dedup();
    all.extend((0..10).map(|_| rng.random::<Words>()));
    all
}

/// Sources of 32 lanes at a time: all pairs of edge values, for three sources many triples.
fn rounds(types: &[Type], rng: &mut impl Rng) -> Vec<[[Words; N]; 3]> {
    let lists: Vec<Vec<Words>> = types.iter().map(|t| values(*t, rng)).collect();
    let mut tuples: Vec<[Words; 3]> = match &lists[..] {
        [] => vec![[[0; 4]; 3]],
        [a] => a.iter().map(|a| [*a, [0; 4], [0; 4]]).collect(),
        [a, b] => a.iter().flat_map(|a| b.iter().map(|b| [*a, *b, [0; 4]])).collect(),
        _ => (0..1500).map(|_| std::array::from_fn(|i| lists[i][rng.random_range(0..lists[i].len())])).collect(),
    };
    while tuples.len() % N != 0 {
        tuples.push(std::array::from_fn(|i| lists.get(i).map_or([0; 4], |l| l[rng.random_range(0..l.len())])));
    }
    tuples.chunks(N).map(|c| std::array::from_fn(|i| std::array::from_fn(|lane| c[lane][i]))).collect()
}

fn header() -> KernelHeader {
    KernelHeader {
        name: "meaning".into(),
        text_offset: 0,
        text_size: 0,
        args: Vec::new(),
        local_bytes: 4096,
        private_bytes: 0,
        main_registers: 256,
        fixed_registers: 256,
        shared_demand: 0,
        shared_typical: 0,
        working_sets: Vec::new(),
        surfaces: Vec::new(),
        literals: Default::default(),
        local_registers: Vec::new(),
        scalar_registers: 128,
        predicate_registers: 15,
        required_work_group: None,
        work_group_hint: None,
        vector_hint: None,
        required_sub_group: None,
        whole_work_groups: false,
        short_ids: false,
        unaligned_vectors: false,
        rows_fill_warps: false,
        relieves_data_l1: false,
        redzones: Vec::new(),
        warp_size: N as u32,
        variables: None,
    }
}

fn load(mut insts: Vec<Inst>, machine: &Machine) -> Program {
    insts.push(Inst::new(Op::Exit, Type::None, Operand::None, []));
    Program::load(insts, &header(), Vec::new(), machine).unwrap_or_else(|e| panic!("{e}"))
}

fn launch(program: &Program) -> Launch<'_> {
    Launch {
        program,
        global: [N as u32, 1, 1],
        local: [N as u32, 1, 1],
        offset: [0; 3],
        work_dim: 1,
        constants: Vec::new(),
        local_bytes: 4096,
        redzones: Vec::new(),
        descriptors: Vec::new(),
        images: Default::default(),
        tolerated: Default::default(),
    }
}

/// The words of a register in a lane.
fn register(warp: &Warp<N>, row: u16, words: u8, lane: usize) -> Words {
    std::array::from_fn(|w| if w < usize::from(words) { warp.lanes.rows[usize::from(row) + w].0[lane] } else { 0 })
}

/// Bit-equal, or both NaN where arithmetic made them.
fn same(inst: &Inst, a: Words, b: Words) -> bool {
    let moves_bits = inst.op == Op::Copysign || matches!(inst.info().dst, Some(Role::Word | Role::Pair));
    let nan = |w: Words| match inst.ty {
        Type::F16 => w[0] & 0x7fff > 0x7c00 && w[0] >> 16 == 0,
        Type::F32 => f32::from_bits(w[0]).is_nan(),
        Type::F64 => f64::from_bits(u64::from(w[0]) | u64::from(w[1]) << 32).is_nan(),
        _ => false,
    };
    a == b || !moves_bits && !writes_predicate(inst) && nan(a) && nan(b)
}

/// Puts the sources of a round into a warp's registers.
fn fill(warp: &mut Warp<N>, program: &Program, layout: Layout, sources: &[[Words; N]; 3]) {
    for (i, lanes) in sources.iter().enumerate() {
        warp.lanes.predicates[i] = (0..N).fold(0, |m, lane| m | u64::from(lanes[lane][0] & 1) << lane);
        let start = if layout == Layout::Scalar { program.rows.scalar } else { program.rows.main };
        let rows = warp.lanes.rows.iter_mut().skip(usize::from(start) + 4 * i).take(4);
        for (w, row) in rows.enumerate() {
            row.0 = lanes.map(|words| words[w]);
        }
    }
}

/// What an instruction leaves in its destination's lanes: the reference's results where it acts, else what was there.
fn expected(inst: &Inst, before: &Warp<N>, mask: u64, row: u16, sources: &[[Words; N]; 3], layout: Layout) -> [Words; N] {
    let predicates = &before.lanes.predicates;
    let active = match inst.guard {
        None => mask,
        Some(g) => mask & if g.negate { !predicates[usize::from(GUARD)] } else { predicates[usize::from(GUARD)] },
    };
    std::array::from_fn(|lane| {
        let acts = layout == Layout::Scalar || active >> lane & 1 == 1;
        if !acts {
            return match inst.dst.as_phys() {
                Some(p) if p.space == Space::Predicate => [(predicates[usize::from(p.index)] >> lane & 1) as u32, 0, 0, 0],
                _ => register(before, row, inst.dst_words(), lane),
            };
        }
        let of_lane = std::array::from_fn(|i| {
            let mut words = sources[i][lane];
            if i < inst.srcs.len() && rules::is_predicate_role(inst, inst.src_role(i)) && layout != Layout::Scalar {
                words[0] &= 1;
            }
            words
        });
        inst.evaluate(of_lane).unwrap_or_else(|| panic!("{inst:?} has no meaning"))
    })
}

/// Compares a program's results with the reference's.
fn judge(who: &str, program: &Program, before: &Warp<N>, after: &Warp<N>, mask: u64, sources: &[[Words; N]; 3], layout: Layout) {
    for (index, inst) in program.insts.iter().enumerate().filter(|(_, i)| i.op != Op::Exit) {
        let row = program.operands[index][0];
        let wanted = expected(inst, before, mask, row, sources, layout);
        for (lane, wanted) in wanted.into_iter().enumerate() {
            let found = match inst.dst.as_phys() {
                Some(p) if p.space == Space::Predicate => {
                    [(after.lanes.predicates[usize::from(p.index)] >> lane & 1) as u32, 0, 0, 0]
                }
                _ => register(after, row, inst.dst_words().max(1), lane),
            };
            let operands: Vec<Words> = (0..inst.srcs.len()).map(|i| sources[i][lane]).collect();
            assert!(
                same(inst, found, wanted),
                "{who}: {:?} of {}, {:?}, neg {:b}, abs {:b}, {layout:?}, mask {mask:x}, lane {lane}, operands {operands:x?}: \
                 {found:x?}, the reference says {wanted:x?}",
                inst.op,
                inst.ty,
                inst.mods,
                inst.neg,
                inst.abs
            );
        }
    }
}

/// Runs a program of instructions that read the same sources in the interpreter and translated. Returns the number of
/// comparisons of an instruction with its reference.
fn compare(insts: Vec<Inst>, layout: Layout, rounds: &[[[Words; N]; 3]], machine: &Machine, rng: &mut impl Rng) -> usize {
    let count = insts.len();
    let program = load(insts, machine);
    let (launch, memory, options) = (launch(&program), DeviceMemory::new(1 << 20), Options::default());
    let code = prepare::<N>(&program);
    let whole = !matches!(layout, Layout::Guarded | Layout::Uniform);
    let translated = crate::jit::testing::translated::<N>(&program, whole);
    let place = GroupPlace { id: [0; 3], size: [N as u32, 1, 1] };
    let start: Vec<[u32; N]> = (0..program.rows.total).map(|_| rng.random()).collect();
    for sources in rounds {
        // Where the layout wants one value for all lanes, one lane's serves, another each time.
        let one = rng.random_range(0..N);
        let sources = &match layout {
            Layout::Scalar | Layout::Uniform => sources.map(|lanes| [lanes[one]; N]),
            Layout::Whole | Layout::Guarded => *sources,
        };
        let mask = if whole { all_lanes(N) } else { u64::from(rng.random::<u32>()).max(1) };
        let predicates: [u64; 16] = std::array::from_fn(|_| u64::from(rng.random::<u32>()));
        let warp = || {
            let mut warp: Warp<N> = Warp::new(&launch, &memory, &options);
            warp.start(&launch, place, 0, std::ptr::null_mut());
            let scalar = program.rows.scalar..program.rows.constants;
            for r in program.rows.main..program.rows.constants {
                let row = start[usize::from(r)];
                warp.lanes.rows[usize::from(r)] = Row(if scalar.contains(&r) { [row[0]; N] } else { row });
            }
            warp.lanes.predicates = predicates;
            fill(&mut warp, &program, layout, sources);
            warp.control.reset(mask);
            warp.lanes.mask = mask;
            warp
        };
        let before = warp();
        let mut interpreted = warp();
        for d in &code[..count] {
            (d.run)(&mut interpreted.lanes, d);
        }
        assert!(interpreted.lanes.fault.is_none());
        judge("interpreter", &program, &before, &interpreted, mask, sources, layout);
        if let Some(translated) = &translated {
            let mut warp = warp();
            translated.run(&mut warp, &program);
            judge("translated", &program, &before, &warp, mask, sources, layout);
        }
    }
    count * rounds.len()
}

#[test]
fn every_operation_does_what_its_reference_says() {
    let machine = heddle_target::testing::mixed::<String>(&[]);
    let mut rng = Pcg64Mcg::seed_from_u64(19);
    // Instructions with sources of the same types share programs.
    let mut groups: std::collections::BTreeMap<Vec<Type>, Vec<Inst>> = Default::default();
    for op in Op::iter() {
        match op.info().meaning {
            Meaning::Lane(_) => {}
            Meaning::CrossLane(_) | Meaning::Memory(_) | Meaning::Control | Meaning::Pseudo => continue,
        }
        for &ty in op.info().types {
            let forms: Vec<Inst> =
                forms(op, ty).into_iter().filter(|f| LAYOUTS.iter().any(|l| laid_out(f, *l, 0, &machine).is_some())).collect();
            assert!(!forms.is_empty(), "no instruction `{}.{ty}` fits the machine", op.info().mnemonic);
            for form in forms {
                groups.entry(source_types(&form)).or_default().push(form);
            }
        }
    }
    let mut compared = 0;
    for (types, forms) in groups {
        let rounds = rounds(&types, &mut rng);
        for layout in LAYOUTS {
            for predicate in [false, true] {
                let fitting: Vec<&Inst> = forms
                    .iter()
                    .filter(|f| writes_predicate(f) == predicate && laid_out(f, layout, 0, &machine).is_some())
                    .collect();
                for chunk in fitting.chunks(layout.slots(predicate)) {
                    let insts = chunk
                        .iter()
                        .enumerate()
                        .map(|(slot, f)| laid_out(f, layout, slot, &machine).unwrap_or_else(|| panic!("no place for {f:?}")));
                    let insts = insts.collect();
                    compared += compare(insts, layout, &rounds, &machine, &mut rng);
                }
            }
        }
    }
    assert!(compared > 100_000, "{compared}");
}

/// Any operation that a program may contain is one that the interpreter has: with random modifiers, whatever they are.
#[test]
fn every_instruction_that_the_rules_allow_is_executable() {
    let mut rng = Pcg64Mcg::seed_from_u64(5);
    for (op, ty) in heddle_isa::sample::operations() {
        for _ in 0..300 {
            let inst = heddle_isa::sample::instruction(op, ty, &mut rng);
            assert!(is_executable(&inst), "{inst:?}");
        }
    }
}

/// Runs instructions on one warp with these contents of m0 to m11, and shows it.
fn run(insts: Vec<Inst>, mask: u64, rows: &[[u32; N]], local: &mut [u32], check: impl FnOnce(&Warp<N>, &Program)) {
    let machine = heddle_target::testing::mixed::<String>(&[]);
    let placed = insts.into_iter().map(|i| on_some_cluster(i.clone(), &machine).unwrap_or_else(|| panic!("{i:?}"))).collect();
    let program = load(placed, &machine);
    let (launch, memory, options) = (launch(&program), DeviceMemory::new(1 << 20), Options::default());
    let mut warp: Warp<N> = Warp::new(&launch, &memory, &options);
    warp.start(&launch, GroupPlace { id: [0; 3], size: [N as u32, 1, 1] }, 0, local.as_mut_ptr().cast());
    for (i, row) in rows.iter().enumerate() {
        warp.lanes.rows[usize::from(program.rows.main) + i] = Row(*row);
    }
    warp.lanes.predicates[0] = 0xdead_beef;
    warp.lanes.mask = mask;
    let code = prepare::<N>(&program);
    for d in &code[..code.len() - 1] {
        (d.run)(&mut warp.lanes, d);
    }
    assert!(warp.lanes.fault.is_none());
    check(&warp, &program);
}

#[test]
fn operations_across_lanes() {
    let mut rng = Pcg64Mcg::seed_from_u64(7);
    for mask in [0xffff_ffff, 0x8000_0000, 0x00ff_1230] {
        let rows: [[u32; N]; 4] = rng.random();
        let m = |index| Operand::phys(Space::Main, index);
        let s = |index| Operand::phys(Space::Scalar, index);
        let insts = vec![
            Inst::new(Op::First, Type::B64, s(0), [m(0)]),
            Inst::new(Op::First, Type::B32, s(2), [m(2)]),
            Inst::new(Op::Ballot, Type::None, s(4), [Operand::phys(Space::Predicate, 0)]),
            Inst::new(Op::Shuffle, Type::B32, m(4), [m(2), m(3)]),
        ];
        run(insts, mask, &rows, &mut [], |warp, program| {
            let lane = mask.trailing_zeros() as usize;
            let scalar = |i: u16| warp.lanes.rows[usize::from(program.rows.scalar + i)].0[5];
            assert_eq!([0, 1, 2].map(scalar), [rows[0][lane], rows[1][lane], rows[2][lane]]);
            assert_eq!([4, 5].map(scalar), [0xdead_beef & mask as u32, 0]);
            let shuffled = warp.lanes.rows[usize::from(program.rows.main) + 4].0;
            for lane in (0..N).filter(|l| mask >> l & 1 == 1) {
                assert_eq!(shuffled[lane], rows[2][rows[3][lane] as usize % N]);
            }
        });
    }
}

/// Atomics on work-group memory, one place a lane: what is read is what was there, what is left is the reference's.
#[test]
fn atomics_do_what_their_reference_says() {
    let mut rng = Pcg64Mcg::seed_from_u64(3);
    let mut forms = 0;
    for &ty in Op::Atomic.info().types {
        for atomic in AtomicOp::iter().filter(|a| rules::atomic_exists(*a, ty)) {
            let list = values(ty, &mut rng);
            for _ in 0..20 {
                // Addresses, then data with a replacement where both are compared.
                let pick: [[Words; N]; 3] =
                    std::array::from_fn(|_| std::array::from_fn(|_| list[rng.random_range(0..list.len())]));
                let words = usize::from(ty.words());
                let mut rows = vec![std::array::from_fn(|lane| 8 * lane as u32); 4];
                for w in 0..2 * words {
                    rows.push(std::array::from_fn(|lane| pick[w / words][lane][w % words]));
                }
                let mut local: Vec<u32> = (0..2 * N).map(|i| pick[if rng.random() { 2 } else { 0 }][i / 2][i % 2]).collect();
                let before = local.clone();
                let m = |index| Operand::phys(Space::Main, index);
                let mut inst = Inst::new(Op::Atomic, ty, m(16), [Operand::None, m(0), m(4)]);
                inst.mods.space = Some(MemorySpace::Local);
                inst.mods.atomic = atomic;
                run(vec![inst.clone()], all_lanes(N), &rows, &mut local, |warp, program| {
                    for lane in 0..N {
                        let number = |w: &[u32]| u64::from(w[0]) | if words == 2 { u64::from(w[1]) << 32 } else { 0 };
                        let old = number(&before[2 * lane..]);
                        let found = register(warp, program.rows.main + 16, ty.words(), lane);
                        assert_eq!(number(&found), old, "{inst:?}");
                    }
                });
                for lane in 0..N {
                    let wide = |w: Words| u64::from(w[0]) | if words == 2 { u64::from(w[1]) << 32 } else { 0 };
                    let at = |m: &[u32]| wide([m[2 * lane], m[2 * lane + 1], 0, 0]);
                    let new = updated(atomic, ty, at(&before), wide(pick[0][lane]), wide(pick[1][lane])).unwrap();
                    let (found, new) = (at(&local), new);
                    let halves = |v: u64| [v as u32, (v >> 32) as u32, 0, 0];
                    assert!(same(&inst, halves(found), halves(new)), "{atomic} {ty}, lane {lane}: {found:x}, not {new:x}");
                }
                forms += 1;
            }
        }
    }
    assert!(forms > 500);
}

/// Loads extend, stores cut.
#[test]
fn loads_and_stores_of_every_type() {
    let mut rng = Pcg64Mcg::seed_from_u64(4);
    let m = |index| Operand::phys(Space::Main, index);
    // `ldu` reads device memory only, by the functions of `ld`.
    for op in [Op::Load, Op::Store] {
        let stores = matches!(op.info().meaning, Meaning::Memory(MemoryAction::Store));
        for &ty in op.info().types {
            let mut local: Vec<u32> = (0..4 * N).map(|_| rng.random()).collect();
            let before = local.clone();
            let mut rows = vec![std::array::from_fn(|lane| 16 * lane as u32); 4];
            rows.extend((0..4).map(|_| rng.random::<[u32; N]>()));
            let (dst, mut srcs) =
                if stores { (Operand::None, vec![Operand::None, m(0)]) } else { (m(8), vec![Operand::None, m(0)]) };
            srcs.extend(stores.then(|| m(4)));
            let mut inst = Inst::new(op, ty, dst, srcs);
            inst.mods.space = Some(MemorySpace::Local);
            let bytes = ty.bytes() as usize;
            let data = rows.clone();
            run(vec![inst], all_lanes(N), &rows, &mut local, |warp, program| {
                for lane in (0..N).filter(|_| !stores) {
                    let found = register(warp, program.rows.main + 8, ty.words(), lane);
                    let mut wanted: Words = std::array::from_fn(|w| if 4 * w < bytes { before[4 * lane + w] } else { 0 });
                    wanted[0] = match ty {
                        Type::S8 => wanted[0] as i8 as u32,
                        Type::U8 => wanted[0] & 0xff,
                        Type::S16 => wanted[0] as i16 as u32,
                        Type::U16 => wanted[0] & 0xffff,
                        _ => wanted[0],
                    };
                    assert_eq!(found, wanted, "{op:?} {ty}");
                }
            });
            for i in (0..4 * N).filter(|_| stores) {
                let (lane, w) = (i / 4, i % 4);
                let written = bytes.saturating_sub(4 * w).min(4);
                let mask = ((1u64 << (8 * written)) - 1) as u32;
                assert_eq!(local[i], data[4 + w][lane] & mask | before[i] & !mask, "{op:?} {ty}");
            }
        }
    }
}
