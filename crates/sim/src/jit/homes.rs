//! Which registers have their home in the warp's rows while a work-group runs.
//!
//! A register that is a variable of the function goes to its row before every barrier that it lives through, and comes
//! back behind it. Of the many that a large kernel has, the host keeps most on its stack meanwhile, so that each
//! barrier moves them twice, there and back. A register whose home is its row costs nothing at barriers and an access
//! of memory wherever the kernel names it, which is what one on the stack costs too. Both are estimated for each
//! register, by how deep in loops it is named and the barriers stand, and the cheaper one is taken, as allocators of
//! registers choose what to spill (Chaitin, *Register allocation and spilling via graph coloring*, 1982).
//!
//! What is decided here changes no result: only where a value is.

use super::liveness::{Live, read_rows, written_rows};
use super::regions::depths;
use crate::program::Program;

/// A loop is taken to run so many times.
const ITERATIONS: f64 = 8.0;
/// Loops deeper than this count as so deep.
const DEEPEST: u32 = 6;
/// What an access of a scalar in memory costs more than one of a register, in accesses of a vector register: chains of
/// scalars, such as a loop's counter, wait for it.
const SCALAR: f64 = 3.0;

/// By row: whether its home is the warp's row. `barriers`: the block behind each barrier, and what is live there;
/// `parts` and `room`: vector registers of the host that one row takes, and rows that all of them hold.
pub(super) fn homes_in_rows(program: &Program, barriers: &[(u32, Live)], (parts, room): (f64, f64)) -> Vec<bool> {
    let rows = &program.rows;
    let (vectors, scalars) = (4..usize::from(rows.scalar), usize::from(rows.scalar)..usize::from(rows.constants));
    let depths = depths(program);
    let weight = |block: usize| ITERATIONS.powi(depths[block].min(DEEPEST) as i32);
    // Of each row: what it costs at barriers, and how probable it is that the host keeps it on its stack, at most.
    let mut of_barriers = vec![0.0; usize::from(rows.total)];
    let mut spilled = vec![0.0_f64; usize::from(rows.total)];
    for (behind, live) in barriers {
        let weight = weight(*behind as usize - 1);
        let pressure = live.rows[vectors.clone()].iter().filter(|live| **live).count() as f64;
        let share = (1.0 - room / pressure.max(1.0)).max(0.0);
        for row in vectors.clone().filter(|row| live.rows[*row]) {
            of_barriers[row] += weight * parts * (2.0 + 2.0 * share);
            spilled[row] = spilled[row].max(share);
        }
        scalars.clone().filter(|row| live.rows[*row]).for_each(|row| of_barriers[row] += weight * (parts + 2.0));
    }
    let mut of_accesses = vec![0.0; usize::from(rows.total)];
    for (number, block) in program.blocks.iter().enumerate() {
        let weight = weight(number);
        for i in (block.first..block.first + block.len()).map(|i| i as usize) {
            let (inst, operands) = (&program.insts[i], program.operands[i]);
            let mut add = |row: u16, of_scalar: f64| {
                let row = usize::from(row);
                of_accesses[row] += weight * if scalars.contains(&row) { of_scalar } else { parts * (1.0 - spilled[row]) };
            };
            read_rows(inst, operands).for_each(|row| add(row, SCALAR));
            // All lanes of a scalar register's row are written.
            written_rows(inst, operands).for_each(|row| add(row, parts + SCALAR));
        }
    }
    let home = |row: usize| (vectors.contains(&row) || scalars.contains(&row)) && of_barriers[row] > of_accesses[row];
    (0..usize::from(rows.total)).map(home).collect()
}

#[cfg(test)]
mod tests {
    use super::super::regions::regions;
    use super::super::schedule::LiveAcrossBarriers;
    use super::*;
    use heddle_target::Machine;

    /// Of m0 to m3 and s0, which have their homes in rows.
    fn homes(body: &str) -> Vec<bool> {
        let text = format!(
            concat!(
                r#".object {{"version":1,"machine":"heddle","clusters":2,"kernels":[],"data_relocations":[],"data_align":1}}"#,
                "\n",
                r#".kernel {{"name":"k","text_offset":0,"text_size":0,"local_bytes":0,"private_bytes":0,"args":[],"#,
                r#""main_registers":4,"fixed_registers":4,"shared_demand":0,"local_registers":[0,0],"#,
                r#""scalar_registers":1,"predicate_registers":0,"required_work_group":null,"warp_size":32}}"#,
                "\n{}\n  exit\n"
            ),
            body
        );
        let image = heddle_object::asm::assemble(&text).unwrap();
        let program = Program::from_image(&image, 0, &Machine::default_machine()).unwrap();
        let live = LiveAcrossBarriers::new(&program, &regions(&program).0);
        let homes = homes_in_rows(&program, &live.resumed, (4.0, 4.0));
        let (main, scalar) = (usize::from(program.rows.main), usize::from(program.rows.scalar));
        homes[main..main + 4].iter().chain(&homes[scalar..scalar + 1]).copied().collect()
    }

    #[test]
    fn a_register_that_barriers_move_often_stays_in_its_row() {
        // m0 is written and read once over four barriers, m1 in every iteration of a loop between two of them, m2 never lives
        // through one; the scalar is the loop's counter.
        let body = "  mov.b32 m0, lid.x\n  mov.b32 m1, 0\n  bar 1\n  bar 1\n  mov.b32 s0, 9\nL0:\n  add.b32 m2, m1, 1\n  \
                    add.b32 m1, m2, m1\n  sub.b32 s0, s0, 1\n  bras s0, L0\n  bar 1\n  bar 1\n  add.b32 m0, m0, m1\n";
        assert_eq!(homes(body), [true, false, false, false, false]);
        // A loop around a barrier.
        let body =
            "  mov.b32 m0, lid.x\n  mov.b32 s0, 9\nL0:\n  bar 1\n  sub.b32 s0, s0, 1\n  bras s0, L0\n  add.b32 m0, m0, 1\n";
        assert_eq!(homes(body), [true, false, false, false, false]);
    }
}
