//! Phi and tuple lowering: SSA to copies.
//!
//! The copies of a block's phis form one parallel copy on each incoming edge, sequentialised with a temporary for each cycle (hazard 5).
//! They stand at the end of the predecessor, or, where the predecessor has several successors, in a block of their own on the edge.
//! An edge into the reconvergence point of a divergent branch gets its own block too: lanes that leave a loop in different iterations must
//! take their values on the way out, not after they have met again (S4).
//! Copies into vector and predicate registers run under the EXEC of the lanes that take the edge (hazard 3).

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::isa::{Inst, Op, Operand, Targets, Type, VReg};
use crate::mir::cfg::Cfg;
use crate::mir::{Block, Function, RegClass, Stage};

/// A pending copy of a parallel copy.
#[derive(Clone, Copy)]
struct Copy {
    dst: VReg,
    src: Operand,
}

/// Lowers a function from [`Stage::Ssa`] to [`Stage::Lowered`].
pub fn run(function: &mut Function) {
    lower_phis(function);
    lower_tuples(function);
    function.stage = Stage::Lowered;
}

fn lower_phis(function: &mut Function) {
    let cfg = Cfg::new(function);
    let mut undefined = rustc_hash::FxHashSet::default();
    for block in &function.layout {
        for inst in &function.blocks[*block].insts {
            if inst.op == Op::Undef {
                undefined.extend(inst.dst.as_virt().map(|d| d.0));
            }
        }
    }
    let blocks = function.layout.clone();
    for block in blocks {
        let phis: Vec<Inst> = function.blocks[block].insts.iter().take_while(|i| i.op == Op::Phi).cloned().collect();
        if phis.is_empty() {
            continue;
        }
        function.blocks[block].insts.drain(..phis.len());
        // The copies of each predecessor's edge.
        let mut edges: Vec<(Block, Vec<Copy>)> = Vec::new();
        for phi in &phis {
            let Some((dst, _)) = phi.dst.as_virt() else { continue };
            for (src, pred) in phi.srcs.iter().zip(phi.blocks()) {
                let position = edges.iter().position(|(p, _)| p == pred).unwrap_or_else(|| {
                    edges.push((*pred, Vec::new()));
                    edges.len() - 1
                });
                let skip = src.as_virt().is_some_and(|(r, _)| r == dst || undefined.contains(&r));
                if !skip {
                    edges[position].1.push(Copy { dst, src: *src });
                }
            }
        }
        for (pred, copies) in edges {
            if copies.is_empty() {
                continue;
            }
            let code = sequentialize(function, copies);
            place(function, &cfg, pred, block, code);
        }
    }
}

/// Puts copies on the edge from `pred` to `block`.
fn place(function: &mut Function, cfg: &Cfg, pred: Block, block: Block, mut code: Vec<Inst>) {
    let conditional = cfg.edges[pred].succs.len() > 1;
    if !conditional {
        let insts = &mut function.blocks[pred].insts;
        let at = insts.iter().rposition(|i| !i.info().flags.terminator).map_or(0, |p| p + 1);
        insts.splice(at..at, code);
        return;
    }
    let branch = function.blocks[pred].insts.iter().rev().take(2).find(|i| matches!(i.op, Op::BraDivergent | Op::BraScalar));
    let meets_here = branch.is_some_and(|b| b.op == Op::BraDivergent && b.blocks().get(1) == Some(&block));
    if cfg.edges[block].preds.len() == 1 && !meets_here {
        function.blocks[block].insts.splice(0..0, code);
        return;
    }
    // Split the edge.
    let edge = function.blocks.push(crate::mir::BlockData {
        insts: Vec::new(),
        frequency: function.blocks[pred].frequency.min(function.blocks[block].frequency),
    });
    let mut jump = Inst::new(Op::Bra, Type::None, Operand::None, []);
    jump.targets = Targets::Blocks(smallvec::smallvec![block]);
    jump.loc = code.first().map(|c| c.loc).unwrap_or_default();
    code.push(jump);
    function.blocks[edge].insts = code;
    let mut branches = false;
    for inst in function.blocks[pred].insts.iter_mut().rev().take(2) {
        if let Targets::Blocks(targets) = &mut inst.targets {
            if matches!(inst.op, Op::Bra | Op::BraScalar | Op::BraDivergent) && targets[0] == block {
                targets[0] = edge;
                branches = true;
            }
        }
    }
    let position = function.layout.iter().position(|b| *b == pred).unwrap_or(0);
    if branches {
        // Reached by a branch only: out of the way of every fall-through, but near.
        function.layout.push(edge);
    } else {
        function.layout.insert(position + 1, edge);
    }
}

/// The type of a whole-register copy of a class.
pub fn copy_type(class: RegClass) -> Type {
    match class.words {
        0 => Type::Pred,
        1 => Type::B32,
        2 => Type::B64,
        _ => Type::B128,
    }
}

/// Orders a parallel copy so that no source is overwritten before it is read; cycles go through a temporary.
fn sequentialize(function: &mut Function, mut pending: Vec<Copy>) -> Vec<Inst> {
    let mut code = Vec::new();
    let mut readers: FxHashMap<VReg, u32> = FxHashMap::default();
    for c in &pending {
        if let Some((r, _)) = c.src.as_virt() {
            *readers.entry(r).or_default() += 1;
        }
    }
    let blocked = |readers: &FxHashMap<VReg, u32>, c: &Copy| {
        let own = c.src.as_virt().is_some_and(|(r, _)| r == c.dst);
        readers.get(&c.dst).copied().unwrap_or(0) > u32::from(own)
    };
    let mut ready: Vec<usize> = Vec::new();
    let mut done = vec![false; pending.len()];
    let mut by_dst: FxHashMap<VReg, usize> = FxHashMap::default();
    for (i, c) in pending.iter().enumerate() {
        by_dst.insert(c.dst, i);
        if !blocked(&readers, c) {
            ready.push(i);
        }
    }
    ready.reverse();
    let mut left = pending.len();
    let mut next_cycle = 0;
    while left > 0 {
        let i = match ready.pop() {
            Some(i) if done[i] => continue,
            Some(i) => i,
            None => {
                // Only cycles are left: save one destination's old value and let its readers take it from there.
                while done[next_cycle] {
                    next_cycle += 1;
                }
                let dst = pending[next_cycle].dst;
                let temp = function.add_vreg(function.vregs[dst]);
                code.push(copy(function, temp, Operand::virt(dst)));
                let mut moved = 0;
                for (j, c) in pending.iter_mut().enumerate() {
                    if let (false, Some((r, word))) = (done[j], c.src.as_virt()) {
                        if r == dst {
                            c.src = Operand::virt_word(temp, word);
                            moved += 1;
                        }
                    }
                }
                readers.insert(dst, 0);
                readers.insert(temp, moved);
                next_cycle
            }
        };
        done[i] = true;
        left -= 1;
        let c = pending[i];
        code.push(copy(function, c.dst, c.src));
        if let Some((r, _)) = c.src.as_virt() {
            let count = readers.entry(r).or_default();
            *count -= 1;
            if let Some(&j) = by_dst.get(&r) {
                if !done[j] && !blocked(&readers, &pending[j]) {
                    ready.push(j);
                }
            }
        }
    }
    code
}

fn copy(function: &Function, dst: VReg, src: Operand) -> Inst {
    Inst::new(Op::Mov, copy_type(function.vregs[dst]), Operand::virt(dst), [src])
}

/// `tuple` becomes a copy of each word, in pairs where two words come from an aligned pair; `undef` becomes zero.
fn lower_tuples(function: &mut Function) {
    for block in function.layout.clone() {
        if !function.blocks[block].insts.iter().any(|i| matches!(i.op, Op::Tuple | Op::Undef)) {
            continue;
        }
        let old = std::mem::take(&mut function.blocks[block].insts);
        let mut new = Vec::with_capacity(old.len() + 8);
        for inst in old {
            match (inst.op, inst.dst.as_virt()) {
                (Op::Undef, Some((dst, _))) => {
                    // Any value will do; words are written one by one because no wide move takes an immediate of 128 bits.
                    if function.vregs[dst].words == 4 {
                        for word in 0..4 {
                            new.push(Inst::new(Op::Mov, Type::B32, Operand::virt_word(dst, word), [Operand::Immediate(0)]));
                        }
                    } else {
                        new.push(copy(function, dst, Operand::Immediate(0)));
                    }
                }
                (Op::Tuple, Some((dst, _))) => {
                    let mut pieces: SmallVec<[(u8, Type, Operand); 4]> = SmallVec::new();
                    let mut i = 0;
                    while i < inst.srcs.len() {
                        let pair = match (inst.srcs[i].as_virt(), inst.srcs.get(i + 1).and_then(|s| s.as_virt())) {
                            (Some((a, w)), Some((b, v))) => i % 2 == 0 && a == b && w % 2 == 0 && v == w + 1,
                            _ => false,
                        };
                        if inst.srcs[i].is_some() {
                            pieces.push((i as u8, if pair { Type::B64 } else { Type::B32 }, inst.srcs[i]));
                        }
                        i += if pair { 2 } else { 1 };
                    }
                    for (word, ty, src) in pieces {
                        let mut m = Inst::new(Op::Mov, ty, Operand::virt_word(dst, word), [src]);
                        m.loc = inst.loc;
                        new.push(m);
                    }
                }
                _ => new.push(inst),
            }
        }
        function.blocks[block].insts = new;
    }
}
