//! Leading edges of a function through one new block.
//!
//! Each edge brings the number of its target along, in a phi, and the new block goes where that says. What phis of the targets had
//! from the edges comes through phis of the new block, with `poison` for edges that lead elsewhere, whose lanes do not read it.

use inkwell::llvm_sys::LLVMOpcode;
use inkwell::llvm_sys::core::LLVMSetSuccessor;
use inkwell::llvm_sys::debuginfo::{LLVMInstructionGetDebugLoc, LLVMInstructionSetDebugLoc};
use inkwell::module::Module;
use std::ffi::CStr;

use crate::ir::build::{self, Builder, context_of};
use crate::ir::cfg::{Cfg, Index};
use crate::ir::{BlockRef, Value};

/// A block with edges that are led elsewhere.
pub(super) struct Source {
    pub(super) block: BlockRef,
    /// Where these lead, as places in [`Edges::targets`]; a branch with two of them takes the first where its condition
    /// holds.
    pub(super) to: [usize; 2],
    /// The condition of such a branch.
    pub(super) condition: Option<Value>,
}

/// The edges of some blocks that lead to others.
pub(super) struct Edges {
    pub(super) sources: Vec<Source>,
    pub(super) targets: Vec<BlockRef>,
}

impl Edges {
    /// The edges of blocks that do not lead to a block that `stays` names; `targets` come first. `None` if one of the blocks has a
    /// terminator with such edges that is no branch.
    pub(super) fn of(
        cfg: &Cfg,
        members: impl Iterator<Item = Index>,
        targets: Vec<BlockRef>,
        stays: impl Fn(BlockRef) -> bool,
    ) -> Option<Edges> {
        let mut edges = Edges { sources: Vec::new(), targets };
        for member in members {
            let block = cfg.blocks[member];
            let terminator = block.terminator();
            let to: Vec<BlockRef> = terminator.successors().filter(|s| !stays(*s)).collect();
            if to.is_empty() {
                continue;
            }
            if terminator.opcode() != LLVMOpcode::LLVMBr {
                return None;
            }
            let to = to.iter().map(|b| edges.number(*b)).collect::<Vec<_>>();
            let condition = (to.len() == 2).then(|| terminator.operand(0));
            edges.sources.push(Source { block, to: [to[0], to[to.len() - 1]], condition });
        }
        Some(edges)
    }

    /// Whether a value is defined at all sources, and leaves no loop on the way to the new block: there LCSSA form wants a phi.
    fn reaches_all(&self, cfg: &Cfg, value: Value) -> bool {
        if !value.is_instruction() {
            return true;
        }
        let Some(&from) = cfg.index.get(&value.parent()) else { return false };
        let targets = || self.targets.iter().filter_map(|t| cfg.index.get(t));
        if cfg.loops.iter().any(|l| l.members.contains(from) && !targets().any(|t| l.members.contains(*t))) {
            return false;
        }
        self.sources.iter().all(|s| cfg.index.get(&s.block).is_some_and(|b| cfg.dominates(from, *b)))
    }

    fn number(&mut self, target: BlockRef) -> usize {
        self.targets.iter().position(|t| *t == target).unwrap_or_else(|| {
            self.targets.push(target);
            self.targets.len() - 1
        })
    }
}

/// Leads all edges through one block, and behind it through others if there are more than two targets; `names` are theirs.
pub(super) fn lead_through(module: &Module, cfg: &Cfg, edges: &Edges, names: [&CStr; 2]) {
    let context = context_of(module);
    let function = edges.targets[0].function();
    let append = |name| BlockRef(build::append_block(context, function.0, name));
    let meeting = append(names[0]);
    // The last target shares the branch of the one before.
    let last = edges.targets.len() - 1;
    let mut from = vec![meeting];
    for k in 1..=last {
        from.push(if k < last { append(names[1]) } else { from[k - 1] });
    }
    let b = Builder::new(context);
    // With two targets, whether it is the first; else the target's number.
    let number =
        |k: usize| if last < 2 { build::constant(context, 1, u64::from(k == 0)) } else { build::constant(context, 32, k as u64) };
    let choices: Vec<(Value, BlockRef)> = edges.sources.iter().map(|s| (choice(&b, s, number), s.block)).collect();
    let chosen = b.phi(meeting, number(0).ty(), &choices);
    for (k, from) in from.iter().enumerate() {
        reroute(&b, cfg, edges, k, (meeting, *from));
    }
    // SAFETY: live instructions; what says where they are from outlives them.
    let position = edges.sources.first().map(|s| unsafe { LLVMInstructionGetDebugLoc(s.block.terminator().0) });
    edges.sources.iter().for_each(|s| redirect(&b, s, &edges.targets, meeting));
    for k in 0..last.max(1) {
        b.at_end(from[k]);
        let branch = match last {
            0 => b.jump(edges.targets[0]),
            _ => {
                let holds = if last == 1 { chosen } else { b.equal(chosen, number(k)) };
                b.branch(holds, edges.targets[k], if k + 1 == last { edges.targets[last] } else { from[k + 1] })
            }
        };
        if let Some(position) = position {
            // SAFETY: a live instruction, and a position of its function, or none.
            unsafe { LLVMInstructionSetDebugLoc(branch.0, position) };
        }
    }
}

/// The number of the target that a source leads to.
fn choice(b: &Builder, source: &Source, number: impl Fn(usize) -> Value) -> Value {
    match source.condition {
        Some(condition) if source.to[0] != source.to[1] => {
            b.at(source.block.terminator());
            b.select(condition, number(source.to[0]), number(source.to[1]))
        }
        _ => number(source.to[0]),
    }
}

/// Brings the values that phis of a target have from the sources there by way of the new block.
fn reroute(b: &Builder, cfg: &Cfg, edges: &Edges, number: usize, (meeting, from): (BlockRef, BlockRef)) {
    let target = edges.targets[number];
    for phi in phis(target) {
        let incoming: Vec<(Value, BlockRef)> = phi.incoming().collect();
        let value = |s: &Source| if s.to.contains(&number) { incoming_from(phi, s.block) } else { None };
        let values: Vec<_> = edges.sources.iter().map(|s| (value(s).unwrap_or(build::poison(phi.ty())), s.block)).collect();
        let mut given = edges.sources.iter().filter_map(value);
        let first = given.next();
        let merged = match first {
            // The same from everywhere, and there wherever the sources are.
            Some(v) if edges.reaches_all(cfg, v) && given.all(|w| w == v) => v,
            _ => b.phi(meeting, phi.ty(), &values),
        };
        let is_source = |block: BlockRef| edges.sources.iter().any(|s| s.block == block);
        let mut others: Vec<_> = incoming.iter().copied().filter(|(_, from)| !is_source(*from)).collect();
        others.push((merged, from));
        build::replace(phi, b.phi(target, phi.ty(), &others));
    }
}

/// The phis of a block.
fn phis(block: BlockRef) -> Vec<Value> {
    block.instructions().take_while(|i| i.opcode() == LLVMOpcode::LLVMPHI).collect()
}

/// What a phi has from a block.
fn incoming_from(phi: Value, block: BlockRef) -> Option<Value> {
    phi.incoming().find(|(_, from)| *from == block).map(|(v, _)| v)
}

/// Leads all edges to the second of two targets to the first instead, which has nothing but phis and a branch, and from which lanes
/// of these edges then go to the second; nothing else leads to the first. No source leads to both.
pub(super) fn lead_to_first(module: &Module, edges: &Edges) {
    let [first, second] = edges.targets[..] else { return };
    let b = Builder::new(context_of(module));
    for phi in phis(second) {
        let from_first = incoming_from(phi, first).unwrap_or(build::poison(phi.ty()));
        let in_first = from_first.is_instruction() && from_first.parent() == first;
        let value = |s: &Source| match s.to[0] {
            0 if in_first => incoming_from(from_first, s.block),
            0 => Some(from_first),
            _ => incoming_from(phi, s.block),
        };
        let values: Vec<_> = edges.sources.iter().map(|s| (value(s).unwrap_or(build::poison(phi.ty())), s.block)).collect();
        let merged = match values.iter().all(|(v, _)| *v == from_first) {
            true => from_first,
            false => b.phi(first, phi.ty(), &values),
        };
        let led = |block: BlockRef| block == first || edges.sources.iter().any(|s| s.block == block && s.to[0] == 1);
        let mut others: Vec<_> = phi.incoming().filter(|(_, from)| !led(*from)).collect();
        others.push((merged, first));
        build::replace(phi, b.phi(second, phi.ty(), &others));
    }
    let led = || edges.sources.iter().filter(|s| s.to[0] == 1);
    for phi in phis(first) {
        let is_new = |s: &&Source| incoming_from(phi, s.block).is_none();
        led().filter(is_new).for_each(|s| build::add_incoming(phi, build::poison(phi.ty()), s.block));
    }
    led().for_each(|s| redirect(&b, s, &edges.targets, first));
}

/// Leads the edges of a source to the new block.
fn redirect(b: &Builder, source: &Source, targets: &[BlockRef], meeting: BlockRef) {
    let terminator = source.block.terminator();
    if source.condition.is_some() {
        b.at(terminator);
        let jump = b.jump(meeting);
        // SAFETY: live instructions.
        unsafe { LLVMInstructionSetDebugLoc(jump.0, LLVMInstructionGetDebugLoc(terminator.0)) };
        return build::erase(terminator);
    }
    for (i, successor) in (0..).zip(terminator.successors().collect::<Vec<_>>()) {
        if targets[source.to[0]] == successor {
            // SAFETY: a live branch with that successor, and a block of its function.
            unsafe { LLVMSetSuccessor(terminator.0, i, meeting.0) };
        }
    }
}
