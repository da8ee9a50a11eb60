//! What `heddle-sim`'s tests of every operation leave out: sizes of warps, and operands that overlap.

use super::*;
use heddle_isa::{Inst, Meaning, Op, Operand, Space, Type};

/// Rows in which every word says where it is.
fn rows<const N: usize>() -> Vec<Row<N>> {
    (0..8).map(|row| Row(std::array::from_fn(|lane| 1000 * row + lane as u32))).collect()
}

/// The rows that an instruction leaves.
fn run<const N: usize>(op: Op, ty: Type, operands: &Operands, active: u64) -> Vec<Row<N>> {
    let sources = (0..3).map(|_| Operand::phys(Space::Main, 0)).take(if op == Op::Mov { 1 } else { 2 });
    let inst = Inst::new(op, ty, Operand::phys(Space::Main, 0), sources);
    let (mut rows, mut predicates) = (rows::<N>(), [0; PREDICATES]);
    let Meaning::Lane(Some(lane_loop)) = LaneLoop::<N>::select(&inst) else { panic!("an operation of lanes") };
    // SAFETY: the tests name rows below 8.
    unsafe { lane_loop.run(&mut rows, &mut predicates, active, operands) };
    rows
}

fn sizes(active: u64) {
    fn one<const N: usize>(active: u64) {
        let operands = Operands { destination: 4, sources: [1, 2, 0], ..Operands::default() };
        let after = run::<N>(Op::Add, Type::B32, &operands, active);
        for (row, (after, before)) in after.iter().zip(rows::<N>()).enumerate() {
            for lane in 0..N {
                let written = row == 4 && active >> lane & 1 == 1;
                let expected = if written { 3000 + 2 * lane as u32 } else { before.0[lane] };
                assert_eq!(after.0[lane], expected, "row {row}, lane {lane} of {N}");
            }
        }
    }
    one::<8>(active);
    one::<16>(active);
    one::<32>(active);
    one::<64>(active);
}

#[test]
fn active_lanes_are_written() {
    [u64::MAX, 0, 1, 1 << 63, 0x00ff_ff00_5aa5_81ff].into_iter().for_each(sizes);
}

#[test]
fn what_overlaps_is_read_before_it_is_written() {
    for scalar in [false, true] {
        for (destination, source) in [(2, 1), (1, 2), (3, 3)] {
            let operands = Operands { destination, sources: [source, 0, 0], scalar, ..Operands::default() };
            let after = run::<32>(Op::Mov, Type::B128, &operands, u64::MAX);
            for k in 0..4 {
                let from = &rows::<32>()[usize::from(source) + k].0;
                let expected = if scalar { [from[0]; 32] } else { *from };
                assert_eq!(after[usize::from(destination) + k].0, expected, "{operands:?}, word {k}");
            }
        }
    }
    // Sums of two words, one word further on.
    let operands = Operands { destination: 2, sources: [1, 1, 0], ..Operands::default() };
    let after = run::<16>(Op::Add, Type::B64, &operands, u64::MAX);
    for lane in 0..16 {
        assert_eq!((after[2].0[lane], after[3].0[lane]), (2000 + 2 * lane as u32, 4000 + 2 * lane as u32));
    }
}
