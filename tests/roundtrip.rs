//! Round trips over the whole instruction table, and fuzzing of everything that reads bytes or text from outside.

use heddle::isa::encode::{decode, encode};
use heddle::isa::text::{BlockNames, parse_inst, print_inst};
use heddle::isa::{Inst, SourceLoc, Targets, sample};
use heddle::mir::{parse, print};
use heddle::object::{read, write};
use heddle::target::Machine;
use proptest::prelude::*;

/// A random valid instruction of any row of the table.
fn instruction() -> impl Strategy<Value = Inst> {
    any::<u64>().prop_map(|seed| {
        use rand::{Rng, SeedableRng};
        let mut rng = rand_pcg::Pcg64Mcg::seed_from_u64(seed);
        let operations = sample::operations();
        let (op, ty) = operations[rng.random_range(0..operations.len())];
        sample::instruction(op, ty, &mut rng)
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
        inst.loc = SourceLoc { file: 0, line, column: line % 80, point: 0 };
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
        let _ = heddle::object::asm::assemble(&text);
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
    let text = heddle::object::asm::disassemble(&image).unwrap();
    let again = heddle::object::asm::assemble(&text).unwrap();
    assert_eq!(again, image);
    assert_eq!(write::write(&again).unwrap(), object);
}

#[test]
fn printed_mir_parses_to_itself_after_every_stage() {
    let machine = Machine::default_machine();
    let source = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("test-kernels/sgemm_tiled/kernel.cl");
    for stage in heddle::driver::stages() {
        let mut options = heddle::driver::CompileOptions::default();
        options.codegen.stop_after = Some(stage.into());
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
            let Ok(program) = heddle::sim::Program::from_image(&image, kernel, &machine) else { continue };
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
                redzones: Vec::new(),
                descriptors: Vec::new(),
                images: Default::default(),
                tolerated: Default::default(),
            };
            let options = Options { max_instructions: 10_000, threads: 1, ..Default::default() };
            let _ = sim::Simulation::new(&launch, &memory, &machine, &options).functional();
            ran += 1;
        }
    }
    assert!(ran > 100, "only {ran} damaged objects were runnable");
}
