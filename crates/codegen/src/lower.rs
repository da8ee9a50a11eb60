//! Phi and tuple lowering: SSA to copies.
//!
//! The copies of a block's phis form one parallel copy on each incoming edge, sequentialised with a temporary
//! for each cycle (hazard 5). Where they stand is the business of [`super::edges`]: copies into vector and
//! predicate registers run under the EXEC of exactly the lanes that take the edge (hazard 3); lanes that
//! leave a loop in different iterations take their values on the way out, not after they have met again (S4).
//! Copies into scalar registers run for the whole warp, as the branch that leads there does.
//!
//! Loop phis whose next value can take their place share a register with it and need no copy on the back edge
//! ([`super::coalesce`]), and so do those whose old value is copied before a branch ([`super::early_copies`]). An input that is `undef` needs no copy. Tuples become copies of their words. Sequences of parallel copies:
//! Boissinot et al., "Revisiting out-of-SSA translation" (CGO 2009).
//!
//! May touch: phis, tuples, and blocks on critical edges. Afterwards registers have several definitions.

use cranelift_entity::SecondaryMap;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::context::Context;
use super::edges::EdgeCode;
use super::{CodegenError, bindings};
use heddle_isa::{Inst, Op, Operand, SourceLoc, Type, VReg};
use heddle_mir::cfg::Cfg;
use heddle_mir::{Bank, Block, Form, Function, liveness};

/// A pending copy of a parallel copy.
#[derive(Clone, Copy)]
struct Copy {
    dst: VReg,
    src: Operand,
    loc: SourceLoc,
}

/// Lowers a function from [`Form::Ssa`] to [`Form::Lowered`].
pub fn run(function: &mut Function, context: &mut Context) -> Result<(), CodegenError> {
    context.frozen = bindings::freeze(function);
    lower_phis(function);
    super::early_copies::run(function);
    lower_tuples(function);
    function.form = Form::Lowered;
    Ok(())
}

fn lower_phis(function: &mut Function) {
    let cfg = Cfg::new(function);
    let mut undefined: SecondaryMap<VReg, bool> = SecondaryMap::with_capacity(function.vregs.len());
    let mut any = false;
    for inst in function.layout.iter().flat_map(|b| &function.blocks[*b].insts) {
        any |= inst.op == Op::Phi;
        if let (Op::Undef, Some((reg, _))) = (inst.op, inst.dst.as_virt()) {
            undefined[reg] = true;
        }
    }
    if !any {
        return;
    }
    super::coalesce::run(function, &cfg);
    let mut edge_code = EdgeCode::new(function, &cfg);
    for position in 0..function.layout.len() {
        let block = function.layout[position];
        let count = function.blocks[block].insts.iter().take_while(|i| i.op == Op::Phi).count();
        if count == 0 {
            continue;
        }
        let phis: Vec<Inst> = function.blocks[block].insts.drain(..count).collect();
        // The copies of each predecessor's edge.
        let mut edges: Vec<(Block, Vec<Copy>)> = phis[0].blocks().iter().map(|p| (*p, Vec::new())).collect();
        for phi in &phis {
            let Some((dst, _)) = phi.dst.as_virt() else { continue };
            for (i, (src, pred)) in phi.srcs.iter().zip(phi.blocks()).enumerate() {
                // The phis of a block nearly always list its predecessors in one order.
                let position =
                    if edges.get(i).is_some_and(|e| e.0 == *pred) { Some(i) } else { edges.iter().position(|(p, _)| p == pred) };
                let skip = src.as_virt().is_some_and(|(r, _)| r == dst || undefined[r]);
                if let (Some(position), false) = (position, skip) {
                    edges[position].1.push(Copy { dst, src: *src, loc: phi.loc });
                }
            }
        }
        for (pred, copies) in edges {
            if !copies.is_empty() {
                let code = sequentialize(function, copies);
                edge_code.place_copies(function, pred, block, code);
            }
        }
    }
    edge_code.finish(function);
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
                code.push(copy(function, temp, Operand::virt(dst), pending[next_cycle].loc));
                let mut moved = 0;
                for (j, c) in pending.iter_mut().enumerate() {
                    if let (false, Some((r, word))) = (done[j], c.src.as_virt())
                        && r == dst
                    {
                        c.src = Operand::virt_word(temp, word);
                        moved += 1;
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
        code.push(copy(function, c.dst, c.src, c.loc));
        if let Some((r, _)) = c.src.as_virt() {
            let count = readers.entry(r).or_default();
            *count -= 1;
            if let Some(&j) = by_dst.get(&r)
                && !done[j]
                && !blocked(&readers, &pending[j])
            {
                ready.push(j);
            }
        }
    }
    code
}

fn copy(function: &Function, dst: VReg, src: Operand, loc: SourceLoc) -> Inst {
    let mut inst = Inst::new(Op::Mov, function.vregs[dst].copy_type(), Operand::virt(dst), [src]);
    inst.loc = loc;
    inst
}

/// `tuple` becomes a copy of each word, in pairs where two words come from an aligned pair; `undef` becomes zero.
///
/// A word that is computed in the same block, and read nowhere else, is written there at once: the scheduler then sees that the
/// tuple's reader is what ends its life, and the word has no other home that it would be copied from.
fn lower_tuples(function: &mut Function) {
    let (reads, writes) = reads_in_one_block(function);
    for block in function.layout.clone() {
        if !function.blocks[block].insts.iter().any(|i| matches!(i.op, Op::Tuple | Op::Undef)) {
            continue;
        }
        let old = std::mem::take(&mut function.blocks[block].insts);
        let mut new: Vec<Inst> = Vec::with_capacity(old.len() + 8);
        let mut defined: FxHashMap<VReg, usize> = FxHashMap::default();
        let mut renamed: FxHashMap<VReg, Operand> = FxHashMap::default();
        // Where each register was last read or written under its own name.
        let mut mentioned: FxHashMap<VReg, usize> = FxHashMap::default();
        for mut inst in old {
            let own_names = inst.srcs.iter().chain([&inst.dst]).filter_map(|o| o.as_virt()).filter(|_| inst.op != Op::Tuple);
            mentioned.extend(own_names.map(|(r, _)| (r, new.len())));
            for s in &mut inst.srcs {
                if let Some(word) = s.as_virt().and_then(|(r, _)| renamed.get(&r)) {
                    *s = *word;
                }
            }
            match (inst.op, inst.dst.as_virt()) {
                (Op::Undef, Some((dst, _))) => {
                    // Any value will do; words are written one by one because no wide move takes an immediate
                    // of 128 bits.
                    if function.vregs[dst].words == 4 {
                        for word in 0..4 {
                            new.push(Inst::new(Op::Mov, Type::B32, Operand::virt_word(dst, word), [Operand::Immediate(0)]));
                        }
                    } else {
                        new.push(copy(function, dst, Operand::Immediate(0), inst.loc));
                    }
                }
                (Op::Tuple, Some((to, _))) => {
                    // A tuple that takes words of what was in its register before is made elsewhere.
                    let reads_own = inst.srcs.iter().filter_map(|s| s.as_virt()).any(|(r, _)| r == to);
                    let dst = if reads_own { function.add_vreg(function.vregs[to]) } else { to };
                    let once = writes.get(dst).is_none_or(|n| *n <= 1);
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
                        // A register that is written elsewhere, too, does not keep the word for others.
                        let fits = |r: VReg| reads.get(r).is_some_and(|n| *n == 1 || *n > 1 && once);
                        let own = src.as_virt().filter(|(r, _)| fits(*r) && function.vregs[*r].bank == function.vregs[dst].bank);
                        // A loop's phi may have the tuple's register: its old value must have been read before.
                        let free = |at: &usize| mentioned.get(&dst).is_none_or(|last| last <= at);
                        if let Some((at, reg)) = own.and_then(|(r, _)| Some((*defined.get(&r).filter(|at| free(at))?, r))) {
                            new[at].dst = Operand::virt_word(dst, word);
                            for s in new[at..].iter_mut().flat_map(|i| &mut i.srcs).filter(|s| **s == Operand::virt(reg)) {
                                *s = Operand::virt_word(dst, word);
                            }
                            renamed.insert(reg, Operand::virt_word(dst, word));
                            defined.remove(&reg);
                            continue;
                        }
                        // The same word may be in the tuple twice.
                        let src = src.as_virt().and_then(|(r, _)| renamed.get(&r).copied()).unwrap_or(src);
                        mentioned.extend(src.as_virt().map(|(r, _)| (r, new.len())));
                        let mut m = Inst::new(Op::Mov, ty, Operand::virt_word(dst, word), [src]);
                        m.loc = inst.loc;
                        new.push(m);
                    }
                    if dst != to {
                        mentioned.insert(to, new.len());
                        new.push(copy(function, to, Operand::virt(dst), inst.loc));
                    }
                }
                _ => {
                    if let Some((reg, 0)) = inst.dst.as_virt().filter(|_| inst.guard.is_none()) {
                        defined.insert(reg, new.len());
                    }
                    new.push(inst);
                }
            }
        }
        function.blocks[block].insts = new;
    }
}

/// How often each vector register of one word is read that is written once and read in that block alone, as a source; and how often
/// each register is written.
fn reads_in_one_block(function: &Function) -> (SecondaryMap<VReg, u32>, SecondaryMap<VReg, u32>) {
    let mut writes: SecondaryMap<VReg, u32> = SecondaryMap::with_capacity(function.vregs.len());
    let mut home: SecondaryMap<VReg, Option<Block>> = SecondaryMap::with_capacity(function.vregs.len());
    let insts = |block: Block| function.blocks[block].insts.iter().map(move |i| (block, i));
    for (block, inst) in function.layout.iter().flat_map(|b| insts(*b)) {
        if let Some((r, _)) = inst.dst.as_virt() {
            writes[r] += 1;
            home[r] = Some(block);
        }
    }
    let mut reads: SecondaryMap<VReg, u32> = SecondaryMap::with_capacity(function.vregs.len());
    let mut elsewhere: SecondaryMap<VReg, bool> = SecondaryMap::with_capacity(function.vregs.len());
    for (block, inst) in function.layout.iter().flat_map(|b| insts(*b)) {
        liveness::for_each_use(inst, |r, _| {
            reads[r] += 1;
            elsewhere[r] |= home[r] != Some(block);
        });
    }
    for (reg, class) in function.vregs.iter() {
        if class.bank != Bank::Vector || class.words != 1 || writes[reg] != 1 || elsewhere[reg] {
            reads[reg] = 0;
        }
    }
    (reads, writes)
}
