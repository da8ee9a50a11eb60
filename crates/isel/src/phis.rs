//! Phis: registers on entry to a block, their inputs once every block has been selected.
//!
//! The pass relies on LCSSA form (S4) and leaves the copies on the edges to the machine layer's lowering.

use heddle_isa::{Inst, Op, Operand, Targets, Type};
use heddle_llvm_passes::ir::Value;
use heddle_mir::cfg::Cfg;
use heddle_mir::{Bank, Block, Function, RegClass};
use smallvec::SmallVec;

use crate::emit::Emitter;
use crate::leaf::Parts;
use crate::{Selector, pointers};

/// A phi whose inputs are filled in when every block has been selected.
pub(crate) struct PendingPhi {
    phi: Value,
    block: Block,
    /// Positions of the MIR phis in the block, one a leaf.
    positions: Vec<usize>,
    /// The phi merges offsets from one root.
    offsets: bool,
}

/// The registers of a phi. A uniform value that comes from lanes is merged in lanes, and taken from the first lane behind the
/// phi: before the branch, as for other phis, it would be taken in each iteration of the loop that it leaves.
pub(crate) fn phi(s: &mut Selector, phi: Value) {
    let from_lanes = s.cx.is_scalar(phi) && phi.incoming().any(|(v, _)| s.cx.is_in_lanes(v));
    let bank = if from_lanes { Bank::Vector } else { s.cx.bank(phi) };
    if let Some(root) = phi.is_pointer().then(|| pointers::single_root_address(s, phi)).flatten() {
        let reg = s.out.register(RegClass { bank, words: 1 });
        let position = append_phi(&mut s.out, Type::B32, reg);
        let reg = if from_lanes { s.out.scalar(reg, 1) } else { reg };
        s.control.phis.push(PendingPhi { phi, block: s.out.current, positions: vec![position], offsets: true });
        s.addresses.set(phi, s.out.with_offset(root, reg));
        return;
    }
    let mut parts = Parts::new();
    let mut positions = Vec::new();
    for leaf in s.cx.leaves(phi) {
        let class = leaf.class(bank);
        let reg = s.out.register(class);
        positions.push(append_phi(&mut s.out, class.copy_type(), reg));
        parts.push(if from_lanes { s.out.scalar(reg, leaf.words()) } else { reg });
    }
    s.control.phis.push(PendingPhi { phi, block: s.out.current, positions, offsets: false });
    if phi.is_pointer() {
        s.addresses.set(phi, s.out.register_address(phi.address_space(), parts[0]));
    }
    s.values.set(phi, parts);
}

fn append_phi(out: &mut Emitter, ty: Type, dst: Operand) -> usize {
    let mut inst = Inst::new(Op::Phi, ty, dst, []);
    inst.loc = out.loc;
    inst.targets = Targets::Blocks(SmallVec::new());
    let insts = &mut out.f.blocks[out.current].insts;
    // Phis stand first even if constants were materialised for an address above them.
    let at = insts.iter().position(|i| i.op != Op::Phi).unwrap_or(insts.len());
    insts.insert(at, inst);
    at
}

/// Fills in the phis' inputs.
pub(crate) fn complete_phis(s: &mut Selector) {
    for pending in std::mem::take(&mut s.control.phis) {
        s.report.at = Some(pending.phi);
        let to = pending.phi.parent();
        let mut seen = SmallVec::<[_; 4]>::new();
        for (value, from) in pending.phi.incoming() {
            if !seen.contains(&from) {
                seen.push(from);
                for end in s.control.ends(from, to) {
                    add_input(s, &pending, value, end);
                }
            }
        }
    }
}

/// Takes away phis' inputs from blocks that do not lead to theirs, as where a condition is found constant only in selection.
pub(crate) fn drop_absent_inputs(f: &mut Function) {
    let cfg = Cfg::new(f);
    for &block in &cfg.rpo {
        let from = &cfg.edges[block].preds;
        for phi in f.blocks[block].insts.iter_mut().take_while(|i| i.op == Op::Phi) {
            let Targets::Blocks(blocks) = &mut phi.targets else { continue };
            let kept: SmallVec<[bool; 4]> = blocks.iter().map(|b| from.contains(b)).collect();
            let (mut of_block, mut of_source) = (kept.iter(), kept.iter());
            blocks.retain(|_| *of_block.next().unwrap_or(&true));
            phi.srcs.retain(|_| *of_source.next().unwrap_or(&true));
        }
    }
}

/// Adds what a phi has when control comes from a block; what is needed for that is computed at the block's end.
fn add_input(s: &mut Selector, pending: &PendingPhi, value: Value, from: Block) {
    let tail = s.out.open_tail(from);
    let divergent = tail.iter().any(|i| i.op == Op::BraDivergent);
    let parts = if pending.offsets {
        let address = s.address(value);
        smallvec::smallvec![s.out.whole_offset(&address)]
    } else {
        s.parts(value)
    };
    let mut inputs = Parts::new();
    for (op, position) in parts.into_iter().zip(&pending.positions) {
        let class = s.out.class_of(s.out.f.blocks[pending.block].insts[*position].dst);
        inputs.push(phi_input(&mut s.out, op, class, divergent));
    }
    s.out.f.blocks[from].insts.extend(tail);
    for (op, position) in inputs.into_iter().zip(&pending.positions) {
        let phi = &mut s.out.f.blocks[pending.block].insts[*position];
        phi.srcs.push(op);
        if let Targets::Blocks(b) = &mut phi.targets {
            b.push(from);
        }
    }
}

/// An input in the register file of its phi, where a plain copy would not do.
///
/// A copy on an edge of a divergent branch may run after the other side has run on, and changed scalar
/// registers of a loop the lanes leave (S4). So scalars are copied to the lanes before such a branch.
fn phi_input(out: &mut Emitter, op: Operand, class: Option<RegClass>, divergent: bool) -> Operand {
    let Some(class) = class else { return op };
    match (class.bank, out.bank(op)) {
        (Bank::Scalar, Some(Bank::Vector | Bank::Predicate)) => out.scalar(op, class.words),
        (Bank::Vector, Some(Bank::Scalar)) if divergent => out.emit(Op::Mov, class.copy_type(), class, [op]),
        (Bank::Predicate, Some(Bank::Scalar)) if divergent => out.predicate(op),
        (Bank::Predicate, Some(Bank::Vector)) => out.predicate(op),
        (Bank::Predicate, None) if !matches!(op, Operand::Immediate(_)) => out.predicate(op),
        _ => op,
    }
}
