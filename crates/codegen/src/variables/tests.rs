//! Bindings of a loop's counter through all stages.

use super::super::context::Context;
use super::super::{CodegenOptions, RegisterFile, STAGES, testing};
use heddle_isa::{Op, Operand, Space};
use heddle_mir::variables::{Bindings, Event, Key, Point};
use heddle_mir::{Block, Form, Function, parse};
use heddle_object::variables::{Piece, Value, Word};

const LOOP: &str = "kernel @k stage ssa local 256 private 0 {\n registers v1 v1 v1 v1 p v1\nbb0: frequency 1\n \
    ld.local.b32 %0, [u32 gid.x]\nbb1: frequency 8\n phi.b32 %1, [%0, bb0], [%2, bb1]\n \
    st.local.b32 [u32 %1], gid.x\n add.b32 %2, %1, 3\n st.local.b32 [u32 %2], gid.x\n cmp.lt.s32 %4, %2, 200\n @%4 brad bb1, bb2\n\
    bb2: frequency 1\n st.local.b32 [0], %2\n exit\n}\n";

fn word(reg: u32) -> Value<Operand> {
    let words = vec![Operand::virt(heddle_isa::VReg::from_u32(reg))];
    Value::Pieces(vec![Piece { offset: 0, bytes: 4, skipped: 0, words }], Vec::new())
}

const J: Key = (0, None);

/// The loop with points as selection makes them and these bindings: (block, instructions of the block before it, register).
fn bound(bindings: &[(u32, usize, u32)]) -> Function {
    let mut function = parse::parse_module(LOOP).unwrap().functions.remove(0);
    let mut all = Bindings::default();
    for block in function.layout.clone() {
        for (i, inst) in function.blocks[block].insts.iter_mut().enumerate() {
            for (_, _, reg) in bindings.iter().filter(|b| Block::from_u32(b.0) == block && b.1 == i) {
                all.events.push(Event { block, key: J, value: Some(word(*reg)) });
            }
            let events = all.events.len() as u32;
            all.points.push(Point { block: Some(block), events, scope: None, moved: false, instance: 0 });
            inst.loc.point = all.points.len() as u32;
        }
    }
    function.variables = Some(Box::new(all));
    function
}

fn compiled(mut function: Function, options: &CodegenOptions) -> Function {
    let machine = testing::machine(32, 16, 7);
    let mut context = Context::new(&function, &machine, options);
    for stage in STAGES {
        stage.apply(&mut function, &mut context).unwrap();
        stage.verify(&function, &machine).unwrap();
    }
    function
}

/// Where `j` is before each instruction of an operation.
fn at(function: &Function, op: Op) -> Vec<Option<Value<Word>>> {
    let insts = function.layout.iter().flat_map(|b| &function.blocks[*b].insts).filter(|i| i.op == op);
    let held = |i| function.variables.as_ref().unwrap().held_before(i).and_then(|h| h.values.get(&J).cloned());
    insts.map(held).collect()
}

fn main(function: &Function, op: Op) -> Value<Word> {
    let inst = function.layout.iter().flat_map(|b| &function.blocks[*b].insts).find(|i| i.op == op).unwrap();
    let reg = inst.dst.as_phys().filter(|r| r.space == Space::Main).unwrap();
    Value::Pieces(vec![Piece { offset: 0, bytes: 4, skipped: 0, words: vec![Word::Main(reg.index)] }], Vec::new())
}

#[test]
fn a_counter_is_followed_through_its_loop() {
    // j is the phi from the loop's start, and the sum behind the addition.
    let function = compiled(
        bound(&[(1, 1, 1), (1, 3, 2)]),
        &CodegenOptions { verify: true, regfile: RegisterFile::Single, ..Default::default() },
    );
    assert_eq!(function.form, Form::Allocated);
    let (stores, sum) = (at(&function, Op::Store), main(&function, Op::Add));
    assert!(stores.len() == 3 && stores[0].is_some(), "{stores:?}");
    assert_eq!(stores[1], Some(sum.clone()));
    assert_eq!(stores[2], Some(sum));
}

#[test]
fn what_the_iteration_before_had_is_not_said() {
    // Of the sum of the iteration before nothing says where it is in the next one, before the addition.
    let function =
        compiled(bound(&[(1, 3, 2)]), &CodegenOptions { verify: true, regfile: RegisterFile::Single, ..Default::default() });
    let stores = at(&function, Op::Store);
    assert_eq!(stores[0], None);
    assert_eq!(stores[1], Some(main(&function, Op::Add)));
}

#[test]
fn code_does_not_depend_on_bindings() {
    let options = CodegenOptions { verify: true, regfile: RegisterFile::Single, ..Default::default() };
    let (mut with, mut without) = (
        compiled(bound(&[(1, 1, 1), (1, 3, 2)]), &options),
        compiled(parse::parse_module(LOOP).unwrap().functions.remove(0), &options),
    );
    for function in [&mut with, &mut without] {
        function.variables = None;
        for block in function.layout.clone() {
            function.blocks[block].insts.iter_mut().for_each(|i| i.loc.point = 0);
        }
    }
    assert!(with == without);
}
