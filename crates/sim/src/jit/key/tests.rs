//! What makes another key, and what does not.

use super::*;
use crate::jit::tests::header;
use heddle_isa::{Inst, Op, Operand, PhysReg, Reg, SourceLoc, Space, Type};
use heddle_target::Machine;

fn machine() -> Machine {
    heddle_target::testing::mixed::<String>(&[])
}

fn program(change: impl FnOnce(&mut Vec<Inst>, &mut KernelHeader)) -> Program {
    let register = |index| Operand::Reg(Reg::Physical(PhysReg { space: Space::Main, index }));
    let add = Inst::new(Op::Add, Type::B32, register(0), [register(1), Operand::Immediate(7)]);
    let exit = Inst::new(Op::Exit, Type::None, Operand::None, []);
    let (mut insts, mut header) = (vec![add, exit], header());
    change(&mut insts, &mut header);
    Program::load(insts, &header, Vec::new(), &machine()).unwrap()
}

const VARIANT: Variant = Variant { whole: true, checked: false, groups: true };

fn key_of(program: &Program) -> Vec<u8> {
    key::<32>(&bare(program), VARIANT, &Compiler::new().unwrap())
}

#[test]
fn equal_code_has_one_key_whatever_it_is_called_and_wherever_it_lies() {
    let one = key_of(&program(|_, _| {}));
    assert_eq!(one, key_of(&program(|_, _| {})));
    assert_eq!(one, key_of(&program(|_, h| (h.name, h.text_offset) = ("other".into(), 4096))));
    assert_eq!(one, key_of(&program(|i, _| i[0].loc = SourceLoc { file: 1, line: 2, column: 3, point: 4 })));
}

#[test]
fn what_a_translation_depends_on_makes_another_key() {
    let compiler = Compiler::new().unwrap();
    let plain = program(|_, _| {});
    let with = |variant| key::<32>(&bare(&plain), variant, &compiler);
    let other_host = |change: &dyn Fn(&mut Compiler)| {
        let mut compiler = Compiler::new().unwrap();
        change(&mut compiler);
        key::<32>(&bare(&plain), VARIANT, &compiler)
    };
    let register = |index| Operand::Reg(Reg::Physical(PhysReg { space: Space::Main, index }));
    let keys = [
        key_of(&plain),
        key_of(&program(|i, _| i[0].op = Op::Sub)),
        key_of(&program(|i, _| i[0].ty = Type::S32)),
        key_of(&program(|i, _| i[0].srcs[1] = Operand::Immediate(8))),
        key_of(&program(|i, _| i[0].srcs[0] = register(2))),
        key_of(&program(|i, _| i[0].dst = register(3))),
        key_of(&program(|i, _| i.insert(0, i[0].clone()))),
        key_of(&program(|_, h| h.private_bytes = 64)),
        key_of(&program(|_, h| h.scalar_registers = 3)),
        key_of(&program(|_, h| h.main_registers = 200)),
        with(Variant { whole: false, ..VARIANT }),
        with(Variant { checked: true, ..VARIANT }),
        with(Variant { groups: false, ..VARIANT }),
        key::<16>(&bare(&plain), VARIANT, &compiler),
        other_host(&|h| h.cpu.push('x')),
        other_host(&|h| h.features.push_str(",+x")),
    ];
    for (i, a) in keys.iter().enumerate() {
        for (j, b) in keys.iter().enumerate().skip(i + 1) {
            assert_ne!(a, b, "keys {i} and {j}");
        }
    }
}
