//! Compiled code against the interpreter: random instructions over the whole table, warps with all and with some lanes.

use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;

use super::*;
use crate::functional::{Budget, run_interpreted};
use crate::{DeviceMemory, Launch};
use heddle_isa::{Guard, Inst, Operand, PhysReg, Reg, Space, Type, sample};
use heddle_object::metadata::{KernelHeader, Literals};
use heddle_target::Machine;

const N: usize = 32;
/// Instructions of a program; each has a destination of its own, and sources that none writes.
const LENGTH: usize = 24;
const FIRST_DESTINATION: u8 = 128;

/// Keeps sources below the destinations, and gives the `i`-th instruction its own destination.
fn place(inst: &mut Inst, i: usize) {
    let source = |p: PhysReg, words: u8| {
        let limit = match p.space {
            Space::Predicate => 8,
            Space::Scalar => 24,
            _ => FIRST_DESTINATION,
        };
        let space = if p.space == Space::Local { Space::Main } else { p.space };
        PhysReg { space, index: (p.index % limit) / words.max(1) * words.max(1) }
    };
    for k in 0..inst.srcs.len() {
        let words = inst.src_words(k);
        if let Operand::Reg(Reg::Physical(p)) = &mut inst.srcs[k] {
            *p = source(*p, words);
        }
    }
    if let Some(Guard { reg: Reg::Physical(p), .. }) = &mut inst.guard {
        *p = source(*p, 0);
    }
    if let Operand::Reg(Reg::Physical(p)) = &mut inst.dst {
        *p = match p.space {
            Space::Predicate => PhysReg { index: 8 + (i % 7) as u8, ..*p },
            Space::Scalar => PhysReg { index: 28 + 4 * i as u8, ..*p },
            _ => PhysReg { space: Space::Main, index: FIRST_DESTINATION + 4 * i as u8 },
        };
    }
    inst.release = 0;
}

pub(super) fn header() -> KernelHeader {
    KernelHeader {
        name: "random".into(),
        text_offset: 0,
        text_size: 0,
        args: Vec::new(),
        local_bytes: 0,
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

fn value(rng: &mut impl Rng) -> u32 {
    match rng.random_range(0..5) {
        0 => rng.random_range(-64i32..64) as u32,
        1 => 1u32.rotate_left(rng.random_range(0..32)),
        2 => (rng.random_range(-100i32..100) as f32 / 8.0).to_bits(),
        3 => [0, 0x8000_0000, 0x7f80_0000, 0xff80_0000, 0x7fc0_0000, 1, u32::MAX, 0x7ff0_0000][rng.random_range(0..8)],
        _ => rng.random(),
    }
}

/// NaNs may differ in payload: the host's operations take that of either operand.
fn same(ty: Type, a: &[u32], b: &[u32]) -> bool {
    let double = |w: &[u32]| f64::from_bits(u64::from(w[0]) | u64::from(w[1]) << 32);
    a == b
        || match ty {
            Type::F16 => [a, b].iter().all(|w| w[0] & 0x7fff > 0x7c00 && w[0] >> 16 == 0),
            Type::F32 => f32::from_bits(a[0]).is_nan() && f32::from_bits(b[0]).is_nan(),
            Type::F64 => double(a).is_nan() && double(b).is_nan(),
            _ => false,
        }
}

/// Runs one program both ways. Returns how many of its instructions the machine accepts.
fn compare(seed: u64, machine: &Machine) -> usize {
    let mut rng = Pcg64Mcg::seed_from_u64(seed);
    let operations: Vec<_> = sample::operations()
        .into_iter()
        .filter(|(op, _)| {
            let flags = op.info().flags;
            let memory = flags.load || flags.store;
            !flags.terminator
                && !memory
                && !matches!(op, Op::Barrier | Op::Sample | Op::ImageStore | Op::CacheControl | Op::CacheControlLocal)
        })
        .collect();
    let exit = Inst::new(Op::Exit, Type::None, Operand::None, []);
    let mut insts = Vec::new();
    while insts.len() < LENGTH {
        let (op, ty) = operations[rng.random_range(0..operations.len())];
        let mut inst = sample::instruction(op, ty, &mut rng);
        place(&mut inst, insts.len());
        inst.cluster = if inst.writes_scalar_register() { 0 } else { rng.random_range(0..machine.clusters.len()) as u8 };
        let clock = |s: &Operand| matches!(s, Operand::Special(Special::ClockLow));
        if inst.srcs.iter().any(clock) {
            continue;
        }
        if Program::load(vec![inst.clone(), exit.clone()], &header(), Vec::new(), machine).is_ok() {
            insts.push(inst);
        }
    }
    let accepted = insts.len();
    insts.push(exit);
    let program = Program::load(insts, &header(), Vec::new(), machine).unwrap();
    let memory = DeviceMemory::new(1 << 20);
    let constants: Vec<u8> = (0..1024).map(|_| rng.random()).collect();
    let launch = Launch {
        program: &program,
        global: [64, 1, 1],
        local: [64, 1, 1],
        offset: [0; 3],
        work_dim: 1,
        constants,
        local_bytes: 0,
        redzones: Vec::new(),
        descriptors: Vec::new(),
        images: Default::default(),
        tolerated: Default::default(),
    };
    let options = Options::default();
    let place = crate::functional::GroupPlace { id: [0; 3], size: [64, 1, 1] };
    let rows = usize::from(program.rows.main)..usize::from(program.rows.constants);
    let contents: Vec<[u32; N]> = rows
        .clone()
        .map(|r| {
            let scalar = r >= usize::from(program.rows.scalar);
            let one = value(&mut rng);
            std::array::from_fn(|_| if scalar { one } else { value(&mut rng) })
        })
        .collect();
    let predicates: [u64; 16] = std::array::from_fn(|_| u64::from(rng.random::<u32>()));
    for (whole, checked) in [(true, false), (false, false), (true, true), (false, true)] {
        let live = if whole { all_lanes(N) } else { u64::from(rng.random::<u32>()).max(1) };
        let mut warps = [(); 2].map(|()| {
            let mut warp: Warp<N> = Warp::new(&launch, &memory, &options);
            warp.start(&launch, place, 0, std::ptr::null_mut());
            for (r, c) in rows.clone().zip(&contents) {
                warp.lanes.rows[r] = Row(*c);
            }
            warp.lanes.predicates = predicates;
            warp.control.reset(live);
            warp
        });
        let compiled = compile::<N>(&program, Variant { whole, checked, groups: false }, None).unwrap();
        let (mut counts, mut expected) = (BlockCounts::new(&program), BlockCounts::new(&program));
        let limited = Options { max_instructions: 1000, ..Options::default() };
        let (mut budget, mut expected_budget) = (Budget::new(&limited, false), Budget::new(&limited, false));
        assert_eq!(run_warp(&compiled, &mut warps[0], &program, &mut counts, &mut budget), None);
        run_interpreted(&mut warps[1], &program, &prepare::<N>(&program), &mut expected, &mut expected_budget);
        counts.settle(N as u64);
        assert_eq!((counts.executions, counts.lanes), (expected.executions, expected.lanes));
        assert_eq!(budget.left, expected_budget.left);
        let [found, wanted] = &warps;
        for (i, inst) in program.insts.iter().enumerate() {
            let row = usize::from(program.operands[i][0]);
            for lane in 0..N {
                let words = |w: &Warp<N>| -> Vec<u32> {
                    (0..usize::from(inst.dst_words())).map(|k| w.lanes.rows[row + k].0[lane]).collect()
                };
                if inst.dst.is_some() && inst.dst_words() > 0 {
                    let (a, b) = (words(found), words(wanted));
                    assert!(same(inst.ty, &a, &b), "seed {seed}, {inst:?}, lane {lane}, live {live:x}: {a:x?}, not {b:x?}");
                }
            }
        }
        assert_eq!(found.lanes.predicates, wanted.lanes.predicates, "seed {seed}, live {live:x}: {:#?}", program.insts);
    }
    accepted
}

#[test]
fn compiled_instructions_do_what_interpreted_ones_do() {
    let machine = heddle_target::testing::mixed::<String>(&[]);
    let accepted: usize = (0..60).map(|seed| compare(seed, &machine)).sum();
    assert_eq!(accepted, 60 * LENGTH);
}

#[test]
fn a_kernel_that_is_launched_again_and_again_is_translated() {
    let machine = heddle_target::testing::mixed::<String>(&[]);
    let exit = Inst::new(Op::Exit, Type::None, Operand::None, []);
    let program = Program::load(vec![exit], &header(), Vec::new(), &machine).unwrap();
    let options = Options::default();
    let one = Launch::new(&program, [1; 3], [1; 3]);
    let launch = || Tier::new(&one, &options, 1, (true, true), 1);
    let compiled = |tier: Tier| tier.compiled::<N>(&program, Runs::Groups, false).is_some();
    assert!(!compiled(launch()));
    launch().executed(Runs::Groups, Duration::from_micros(10));
    assert!(!compiled(launch()), "so much is interpreted sooner than translated");
    let last = launch();
    last.executed(Runs::Groups, Duration::from_nanos(compile_time(lines(&program))));
    assert!(!compiled(last), "nothing is left of this launch");
    assert!(compiled(launch()));
}

/// What takes LLVM seconds waits until so much has been interpreted, even for a work-group that runs for long.
#[test]
fn a_long_kernel_is_translated_when_it_pays() {
    let machine = heddle_target::testing::mixed::<String>(&[]);
    let nop = Inst::new(Op::Nop, Type::None, Operand::None, []);
    let exit = Inst::new(Op::Exit, Type::None, Operand::None, []);
    let code = std::iter::repeat_n(nop, LONG as usize / 7 + 1).chain([exit]).collect();
    let program = Program::load(code, &header(), Vec::new(), &machine).unwrap();
    let options = Options::default();
    let one = Launch::new(&program, [1; 3], [1; 3]);
    let launch = || Tier::new(&one, &options, 1, (true, true), 1);
    let compiled = |tier: Tier| tier.compiled::<N>(&program, Runs::Warps, true).is_some();
    assert!(!compiled(launch()));
    launch().executed(Runs::Warps, Duration::from_nanos(compile_time(lines(&program))));
    assert!(compiled(launch()));
}

/// The host asks whether a launch shall end between calls: one that has run for long leaves work-groups to the next, however
/// short those were at its beginning.
#[test]
fn a_call_ends_when_its_portion_is_used_up() {
    // Work-group n executes about n million instructions.
    let text = concat!(
        r#".object {"version":1,"machine":"heddle","clusters":2,"kernels":[],"data_relocations":[],"data_align":1}"#,
        "\n",
        r#".kernel {"name":"k","text_offset":0,"text_size":0,"local_bytes":0,"private_bytes":0,"args":[],"#,
        r#""main_registers":4,"fixed_registers":4,"shared_demand":0,"local_registers":[0,0],"#,
        r#""scalar_registers":1,"predicate_registers":0,"required_work_group":null,"warp_size":32}"#,
        "\n  mul.b32 s0, group.x, 500000\n  add.b32 s0, s0, 1\nL0:\n  sub.b32 s0, s0, 1\n  bras s0, L0\n  exit\n",
    );
    let machine = Machine::default_machine();
    let program = Program::from_image(&heddle_object::asm::assemble(text).unwrap(), 0, &machine).unwrap();
    let (memory, options) = (DeviceMemory::new(1 << 20), Options::default());
    let launch = Launch::new(&program, [64 * N as u32, 1, 1], [N as u32, 1, 1]);
    let compiled = compile::<N>(&program, Variant { whole: true, checked: false, groups: true }, None).unwrap();
    let (mut warps, mut local) = (vec![Warp::<N>::new(&launch, &memory, &options)], Vec::new());
    let mut many = Many::new(&compiled, &launch, &mut warps, &mut local);
    let (mut counts, mut budget) = (BlockCounts::new(&program), Budget::new(&options, false));
    let state = (&mut warps[..], &mut local[..]);
    let (ended, stopped) = many.run(&compiled, &launch, state, ([0; 3], 64), &mut counts, &mut budget);
    assert!(stopped.is_none());
    // 0, 1, 2 and 3 million: the portion of 4 million ends in the last one.
    assert_eq!(ended, 4);
}

/// A store in memory, which counts and may spoil what it has.
#[derive(Debug, Default)]
struct Kept {
    objects: std::sync::Mutex<Vec<(Vec<u8>, Vec<u8>)>>,
    /// Returns only so many bytes.
    cut: Option<usize>,
    /// How often it was asked for what it has.
    found: AtomicU64,
}

// SAFETY: what it returns is what it was given, or less of it, which is no object.
unsafe impl TranslationStore for Kept {
    fn get(&self, key: &[u8]) -> Option<Vec<u8>> {
        let objects = self.objects.lock().unwrap();
        let (_, object) = objects.iter().find(|(k, _)| k == key)?;
        self.found.fetch_add(1, Ordering::Relaxed);
        Some(object[..self.cut.unwrap_or(object.len())].to_vec())
    }

    fn put(&self, key: &[u8], object: &[u8]) {
        self.objects.lock().unwrap().push((key.to_vec(), object.to_vec()));
    }
}

/// Runs a program that nobody has translated yet, of one work-group of one warp. Returns the instructions it executed.
fn run_anew(store: &Arc<Kept>, jit: Jit) -> u64 {
    run_with(store, jit, Literals::default())
}

/// The same with literals, of which it reads the word at byte 8.
fn run_with(store: &Arc<Kept>, jit: Jit, literals: Literals) -> u64 {
    let machine = heddle_target::testing::mixed::<String>(&[]);
    let to = Operand::Reg(Reg::Physical(PhysReg { space: Space::Scalar, index: 0 }));
    let reads = Inst::new(Op::Mov, Type::B32, to, [Operand::Constant(2)]);
    let exit = Inst::new(Op::Exit, Type::None, Operand::None, []);
    let header = KernelHeader { literals, ..header() };
    let program = Program::load(vec![reads, exit], &header, Vec::new(), &machine).unwrap();
    let options = Options { jit, threads: 1, translations: Some(store.clone()), ..Options::default() };
    let memory = DeviceMemory::new(1 << 20);
    let launch = Launch::new(&program, [N as u32, 1, 1], [N as u32, 1, 1]);
    crate::Simulation::new(&launch, &memory, &machine, &options).functional().unwrap().instructions
}

#[test]
fn what_a_store_has_is_not_compiled() {
    let store = Arc::new(Kept::default());
    let counts = |store: &Kept| (store.found.load(Ordering::Relaxed), store.objects.lock().unwrap().len());
    let executed = run_anew(&store, Jit::Never);
    assert_eq!(run_anew(&store, Jit::Auto), executed);
    assert_eq!(counts(&store), (0, 0), "so short a launch asks for nothing");
    assert_eq!(run_anew(&store, Jit::Always), executed);
    assert_eq!(counts(&store), (0, 1));
    assert_eq!(run_anew(&store, Jit::Always), executed);
    assert_eq!(counts(&store), (1, 1));
}

#[test]
fn what_is_no_object_is_compiled_anew() {
    let store = Arc::new(Kept::default());
    let executed = run_anew(&store, Jit::Always);
    let objects = store.objects.lock().unwrap().clone();
    for cut in [0, 1, 64, objects[0].1.len() / 2] {
        let store = Arc::new(Kept { objects: objects.clone().into(), cut: Some(cut), ..Kept::default() });
        assert_eq!(run_anew(&store, Jit::Always), executed);
        assert_eq!((store.found.load(Ordering::Relaxed), store.objects.lock().unwrap().len()), (1, 2), "{cut} bytes");
    }
}

#[test]
fn code_with_other_literals_is_translated_anew() {
    let store = Arc::new(Kept::default());
    let with = |word| run_with(&store, Jit::Always, Literals { offset: 8, words: vec![word] });
    // Translations have literals in them.
    for (word, translations) in [(5, 1), (6, 2), (5, 2)] {
        with(word);
        assert_eq!(store.objects.lock().unwrap().len(), translations);
    }
}
