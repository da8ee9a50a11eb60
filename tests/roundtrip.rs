//! Round trips over the whole instruction table, and fuzzing of everything that reads bytes or text from outside.

use heddle::isa::encode::{decode, encode};
use heddle::isa::text::{BlockNames, parse_inst, print_inst};
use heddle::isa::{
    AddressMode, AtomicOp, CachePolicy, Cond, Guard, Inst, MemorySpace, Op, Operand, PhysReg, Reg, Rounding, SourceLoc, Space,
    Special, Targets, Type,
};
use heddle::mir::{parse, print};
use heddle::object::{read, write};
use heddle::target::Machine;
use proptest::prelude::*;
use strum::IntoEnumIterator;

fn operations() -> Vec<Op> {
    Op::iter().filter(|o| !o.info().flags.pseudo).collect()
}

/// A random instruction that the encoding can hold: every field of the table's row drawn at random.
fn instruction() -> impl Strategy<Value = Inst> {
    (prop::sample::select(operations()), any::<[u32; 12]>()).prop_map(|(op, r)| {
        let info = op.info();
        let pick = |n: u32, of: usize| n as usize % of;
        let ty = info.types[pick(r[0], info.types.len())];
        let register = |n: u32| {
            let space = [Space::Local, Space::Main, Space::Scalar, Space::Predicate][pick(n, 4)];
            Operand::Reg(Reg::Physical(PhysReg { space, index: (n >> 8) as u8 }))
        };
        let mut inst = Inst::new(op, ty, Operand::None, []);
        inst.cluster = (r[1] % 8) as u8;
        inst.uniform = r[1] & 64 != 0;
        if info.dst.is_some() {
            inst.dst = register(r[2]);
        }
        let mut immediate = false;
        for i in 0..info.srcs.len() {
            let n = r[3 + i];
            inst.srcs.push(match n % 5 {
                0 => Operand::None,
                1 => Operand::Special(Special::from_repr((n >> 8) as u8 % 33).unwrap_or(Special::LaneId)),
                2 => Operand::Constant((n >> 8) as u8),
                3 if !inst.is_memory() && op != Op::BraScalar => {
                    immediate = true;
                    Operand::Immediate(r[6])
                }
                _ => register(n >> 3),
            });
        }
        let sources = (1u8 << info.srcs.len()) - 1;
        // Only registers are released, and only values that are there carry marks in the text.
        let registers = inst.srcs.iter().enumerate().fold(0, |m, (i, s)| m | u8::from(matches!(s, Operand::Reg(_))) << i);
        inst.release = (r[7] as u8) & registers;
        if info.flags.float_mods && ty.is_float() {
            inst.neg = (r[7] >> 8) as u8 & sources;
            inst.abs = (r[7] >> 16) as u8 & sources;
        }
        if r[8] % 3 == 0 && op != Op::BraScalar || op == Op::BraDivergent {
            let reg = Reg::Physical(PhysReg { space: Space::Predicate, index: (r[8] >> 4) as u8 % 15 });
            inst.guard = Some(Guard { reg, negate: r[8] & 8 != 0 });
        }
        if info.flags.cond {
            inst.mods.cond = Cond::from_repr(r[9] as u8 % 20);
        }
        if info.flags.from {
            inst.mods.from = Type::from_repr(1 + r[9] as u8 % 13);
        }
        if info.flags.rounding {
            inst.mods.rounding = Rounding::from_repr(r[9] as u8 >> 6).unwrap_or_default();
        }
        if info.flags.saturate {
            inst.mods.saturate = r[9] & 1 << 20 != 0;
        }
        if inst.is_memory() {
            inst.mods.space = MemorySpace::from_repr(r[10] as u8 % 5);
            inst.mods.address = AddressMode::from_repr((r[10] >> 8) as u8 % 3).unwrap_or_default();
            inst.imm = r[6] as i32;
            if op != Op::Atomic {
                inst.mods.cache = CachePolicy::from_repr((r[10] >> 16) as u8 % 5).unwrap_or_default();
            } else {
                inst.mods.atomic = AtomicOp::from_repr((r[10] >> 16) as u8 % 11).unwrap_or_default();
            }
        } else if info.flags.imm && op != Op::BraScalar && !immediate {
            inst.imm = r[6] as i32;
        }
        if matches!(op, Op::Bra | Op::BraScalar | Op::BraDivergent) {
            let reconverge = (op == Op::BraDivergent && r[11] & 1 == 1).then_some(r[11] as i32);
            inst.targets = Targets::Offsets { target: r[6] as i32, reconverge };
            if op == Op::BraScalar {
                inst.imm = (r[11] & 1) as i32;
            }
        }
        inst
    })
}

/// Targets of encoded branches print as signed distances.
struct Distances(Vec<i32>);
impl heddle::isa::text::TargetNames for Distances {
    fn target(&mut self, _: &mut Inst, name: &str) -> Result<(), String> {
        self.0.push(name.parse().map_err(|e| format!("{name}: {e}"))?);
        Ok(())
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4000, failure_persistence: None, ..Default::default() })]

    #[test]
    fn encode_then_decode(inst in instruction()) {
        let word = encode(&inst).unwrap();
        prop_assert_eq!(decode(word).unwrap(), inst);
    }

    #[test]
    fn print_then_parse(mut inst in instruction(), line in 1u32..5000) {
        inst.loc = SourceLoc { file: 0, line, column: line % 80 };
        let text = print_inst(&inst, &[]);
        let mut distances = Distances(Vec::new());
        let mut parsed = parse_inst(&text, &mut distances).map_err(|e| TestCaseError::fail(format!("{text}: {e}")))?;
        if let Some(target) = distances.0.first() {
            parsed.targets = Targets::Offsets { target: *target, reconverge: distances.0.get(1).copied() };
        }
        prop_assert_eq!(&parsed, &inst, "{}", text);
    }

    #[test]
    fn any_word_decodes_to_itself_or_is_refused(low in any::<u64>(), high in any::<u64>(), op in 0u128..80) {
        // Opcodes are made likely to exist; everything else is random.
        let word = (u128::from(high) << 64 | u128::from(low)) & !0x1ff | op;
        if let Ok(inst) = decode(word) {
            prop_assert_eq!(encode(&inst).unwrap(), word);
        }
        // Few bits set, which decodes more often.
        let sparse = word & (u128::from(low.rotate_left(17)) << 40) & u128::from(high) << 20 | op | 15 << 13;
        if let Ok(inst) = decode(sparse) {
            prop_assert_eq!(encode(&inst).unwrap(), sparse);
        }
    }

    #[test]
    fn parsers_do_not_panic(text in "[ -~\n]{0,200}") {
        let _ = parse_inst(&text, &mut BlockNames);
        let _ = parse::parse_module(&text);
        let _ = heddle::isa::asm::assemble(&text);
        let _ = Machine::from_text(&text, "x", &[]);
    }
}

fn saxpy() -> Vec<u8> {
    let machine = Machine::default_machine();
    let source = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("test-kernels/saxpy/kernel.cl");
    heddle::driver::compile(&[source], heddle::driver::Emit::Obj, &Default::default(), &machine).unwrap().output
}

#[test]
fn assembling_what_objdump_prints_gives_the_same_object() {
    let object = saxpy();
    let image = read::parse(&object).unwrap();
    let text = heddle::isa::asm::disassemble(&image).unwrap();
    let again = heddle::isa::asm::assemble(&text).unwrap();
    assert_eq!(again, image);
    assert_eq!(write::write_image(&again).unwrap(), object);
}

#[test]
fn printed_mir_parses_to_itself_after_every_stage() {
    let machine = Machine::default_machine();
    let source = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("test-kernels/sgemm_tiled/kernel.cl");
    for stage in std::iter::once(&"select").chain(heddle::codegen::STAGES) {
        let mut options = heddle::driver::CompileOptions::default();
        options.codegen.stop_after = Some((*stage).into());
        let text =
            heddle::driver::compile(std::slice::from_ref(&source), heddle::driver::Emit::Mir, &options, &machine).unwrap().output;
        let text = String::from_utf8(text).unwrap();
        let module = parse::parse_module(&text).unwrap();
        assert_eq!(print::print_module(&module), text, "after {stage}");
    }
}

/// Truncated and bit-flipped objects are refused or run to a fault or an end; never a panic.
#[test]
fn damaged_objects_are_refused_or_harmless() {
    use heddle::sim::{self, DeviceMemory, Launch, Options};
    let object = saxpy();
    let machine = Machine::default_machine();
    for n in (0..object.len()).step_by(7) {
        assert!(read::parse(&object[..n]).is_err() || n > 64);
    }
    let mut ran = 0;
    for bit in (0..object.len() * 8).step_by(3) {
        let mut damaged = object.clone();
        damaged[bit / 8] ^= 1 << (bit % 8);
        let Ok(image) = read::parse(&damaged) else { continue };
        for kernel in 0..image.metadata.kernels.len() {
            let Ok(program) = image.load(kernel, &machine) else { continue };
            let mut memory = DeviceMemory::new(1 << 20);
            let address = memory.allocate("buffer", 4096).unwrap();
            let mut constants = vec![0; 1024];
            for at in [8, 16] {
                constants[at..at + 8].copy_from_slice(&address.to_le_bytes());
            }
            constants[28] = 40;
            let launch = Launch {
                program: &program,
                global: [64, 1, 1],
                local: [64, 1, 1],
                offset: [0; 3],
                work_dim: 1,
                constants,
                local_bytes: 0,
            };
            let options = Options { max_instructions: 10_000, threads: 1 };
            let _ = sim::functional::launch(&launch, &memory, &machine, &options, &|_| {});
            ran += 1;
        }
    }
    assert!(ran > 100, "only {ran} damaged objects were runnable");
}
