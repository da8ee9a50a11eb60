//! What the translation asks of a program's control flow.

use crate::program::{End, Program};
use crate::warp::NOWHERE;

/// Blocks between any divergent branch and its reconvergence point, and blocks that are reconvergence points.
pub(super) fn regions(program: &Program) -> (Vec<bool>, Vec<bool>) {
    let n = program.blocks.len();
    let (mut inside, mut meeting) = (vec![false; n], vec![false; n]);
    for (b, block) in program.blocks.iter().enumerate() {
        let End::Divergent { target, reconverge, .. } = block.end else { continue };
        if reconverge != NOWHERE {
            meeting[reconverge as usize] = true;
        }
        let mut seen = vec![false; n];
        let mut work = vec![b as u32 + 1, target];
        while let Some(at) = work.pop() {
            if at == reconverge || at as usize >= n || std::mem::replace(&mut seen[at as usize], true) {
                continue;
            }
            inside[at as usize] = true;
            match program.blocks[at as usize].end {
                End::Fall | End::Barrier => work.push(at + 1),
                End::Jump(t) => work.push(t),
                End::Scalar { target, .. } | End::Divergent { target, .. } => work.extend([at + 1, target]),
                End::Exit | End::Trap => {}
            }
        }
    }
    (inside, meeting)
}

/// By block: in how many loops it is. A loop is what lies between a block and the last branch back to it.
pub(super) fn depths(program: &Program) -> Vec<u32> {
    let mut last = vec![None; program.blocks.len()];
    for (b, block) in program.blocks.iter().enumerate() {
        if let End::Jump(target) | End::Scalar { target, .. } | End::Divergent { target, .. } = block.end
            && target as usize <= b
        {
            last[target as usize] = Some(b);
        }
    }
    let mut depths = vec![0; program.blocks.len()];
    for (head, last) in last.into_iter().enumerate() {
        last.into_iter().for_each(|last| depths[head..=last].iter_mut().for_each(|depth| *depth += 1));
    }
    depths
}

/// By reconvergence point: the sides of branches that wait until the other one has come there.
pub(super) fn sides(program: &Program) -> Vec<Vec<u32>> {
    let mut sides = vec![Vec::new(); program.blocks.len()];
    for (b, block) in program.blocks.iter().enumerate() {
        if let End::Divergent { target, reconverge, .. } = block.end
            && target != reconverge
            && b as u32 + 1 != reconverge
            && let Some(of_point) = sides.get_mut(reconverge as usize)
            && !of_point.contains(&target)
        {
            of_point.push(target);
        }
    }
    sides
}
