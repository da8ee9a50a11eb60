//! Blocks, branches, switches, phis and the entry block.

use heddle_llvm_passes::ir::{BlockRef, Value};
use heddle_llvm_passes::memory;
use inkwell::llvm_sys::LLVMOpcode::*;
use inkwell::llvm_sys::core::*;
use smallvec::SmallVec;

use super::address::Address;
use super::types::{self, leaves};
use super::{Parts, Selector, constants};
use heddle_isa::{Cond, Guard, Inst, MemorySpace, Op, Operand, Targets, Type};
use heddle_mir::cfg::Cfg;
use heddle_mir::{Bank, Block, RegClass};
use heddle_object::metadata::Redzone;

/// A phi whose inputs are filled in when every block has been selected.
pub(super) struct PendingPhi {
    phi: Value,
    block: Block,
    /// Positions of the MIR phis in the block, one a leaf.
    positions: Vec<usize>,
    /// The phi merges offsets from this root.
    root: Option<Address>,
}

/// Bytes of local memory that are kept free where the null pointer needs an address of its own.
const NULL_BYTES: u32 = 16;

impl Selector<'_> {
    /// Makes a block for each reachable LLVM block, in the function's order, with frequencies from loop depth.
    pub(super) fn create_blocks(&mut self) {
        let cfg = self.uniformity.cfg();
        let mut order: Vec<(usize, BlockRef)> = Vec::new();
        for (i, b) in cfg.blocks.iter().enumerate() {
            if cfg.rpo_number[i] != usize::MAX {
                order.push((i, *b));
            }
        }
        let depths: Vec<u32> =
            order.iter().map(|(i, _)| cfg.loops.iter().filter(|l| l.members.contains(*i)).count() as u32).collect();
        for ((_, b), depth) in order.into_iter().zip(depths) {
            let block = self.f.add_block();
            self.f.blocks[block].frequency = 8f32.powi(depth.min(8) as i32);
            self.blocks.insert(b, block);
        }
    }

    /// Keeps offset 0 of local memory free if the kernel could take it for the null pointer: where local pointers are compared or leave their
    /// space.
    pub(super) fn reserve_null(&mut self) {
        let tells = |i: Value| match i.opcode() {
            LLVMICmp | LLVMAddrSpaceCast | LLVMPtrToInt => {
                types::is_pointer(i.operand(0).ty()) && i.operand(0).address_space() == 3
            }
            LLVMStore => types::is_pointer(i.operand(0).ty()) && i.operand(0).address_space() == 3,
            _ => false,
        };
        let blocks = &self.uniformity.cfg().blocks;
        let constants = |i: Value| i.operands().any(|o| o.is_constant() && constants::leaves_local(o));
        if blocks.iter().flat_map(|b| b.instructions()).any(|i| tells(i) || constants(i)) {
            self.local_bytes = NULL_BYTES.into();
            self.f.local_bytes = NULL_BYTES;
        }
    }

    /// Private variables get their addresses; by-value structures that are written get their copies.
    pub(super) fn entry_code(&mut self) {
        self.current = self.f.layout[0];
        let blocks = self.uniformity.cfg().blocks.clone();
        for block in &blocks {
            for i in block.instructions() {
                if i.opcode() != LLVMAlloca {
                    continue;
                }
                self.locate(i);
                // SAFETY: reads a live alloca.
                let (ty, align) = unsafe { (LLVMGetAllocatedType(i.0), LLVMGetAlignment(i.0)) };
                let Some(count) = constants::sign_extended(i.operand(0)) else {
                    self.error(Some(i), "an array whose size is not a constant is not supported");
                    continue;
                };
                let align = align.max(types::abi_align(ty)).max(1);
                let at = self.f.private_bytes.checked_next_multiple_of(align).unwrap_or(0);
                let bytes = types::wide_size(ty).saturating_mul(count as u64);
                self.private_bytes = self.private_bytes.next_multiple_of(align.into()).saturating_add(bytes);
                self.f.private_bytes = at.wrapping_add(bytes as u32);
                self.redzone(MemorySpace::Private);
                self.addresses.insert(i, Address::zero(MemorySpace::Private, at as i32));
            }
        }
        let params: Vec<Value> = self.by_value.keys().copied().collect();
        for p in params {
            if !memory::only_loaded(p) {
                self.copy_by_value(p);
            }
        }
    }

    /// Bytes behind the last variable that nothing may access.
    pub(super) fn redzone(&mut self, space: MemorySpace) {
        if !self.redzones {
            return;
        }
        let (bytes, all) = match space {
            MemorySpace::Local => (&mut self.f.local_bytes, &mut self.local_bytes),
            _ => (&mut self.f.private_bytes, &mut self.private_bytes),
        };
        // Too much memory is an error anyway.
        if *all < u64::from(u32::MAX / 2) {
            let zone = Redzone::behind(space, *bytes);
            *all = all.next_multiple_of(4) + u64::from(zone.end - zone.start);
            *bytes = zone.end;
            self.f.redzones.push(zone);
        }
    }

    fn copy_by_value(&mut self, p: Value) {
        let Some(argument) = self.by_value.get(&p).copied() else { return };
        let align = argument.align.max(4);
        let at = self.f.private_bytes.next_multiple_of(align);
        self.f.private_bytes = at + argument.size;
        self.private_bytes = self.private_bytes.next_multiple_of(align.into()) + u64::from(argument.size);
        self.redzone(MemorySpace::Private);
        let from = self.address(p);
        self.addresses.remove(&p);
        if let Some(b) = self.by_value.get_mut(&p) {
            b.copy = Some(at);
        }
        let to = self.address(p);
        self.copy_bytes(&to, &from, argument.size, argument.align.min(16));
    }

    fn branch(&mut self, op: Op, srcs: Vec<Operand>, guard: Option<Guard>, targets: &[Block], imm: i32) {
        let mut inst = Inst::new(op, Type::None, Operand::None, srcs);
        inst.guard = guard;
        inst.imm = imm;
        inst.targets = Targets::Blocks(targets.iter().copied().collect());
        self.push(inst);
    }

    /// Ends the current block with a two-way branch; `divergent` if lanes may disagree.
    fn conditional(&mut self, condition: Operand, yes: Block, no: Block, divergent: bool) {
        if yes == no {
            return self.branch(Op::Bra, vec![], None, &[yes], 0);
        }
        if let Operand::Immediate(v) = condition {
            let target = if v & 1 == 1 { yes } else { no };
            return self.branch(Op::Bra, vec![], None, &[target], 0);
        }
        // The block that follows in the layout is reached by falling through.
        let next = Block::from_u32(self.current.as_u32() + 1);
        let (target, other, negate) = if yes == next { (no, yes, true) } else { (yes, no, false) };
        if divergent || !self.is_uniform_operand(condition) {
            let predicate = self.to_predicate(condition);
            let Operand::Reg(reg) = predicate else { return };
            // The reconvergence block is added when all blocks exist.
            self.branch(Op::BraDivergent, vec![], Some(Guard { reg, negate }), &[target], 0);
        } else {
            let s = self.to_scalar(condition, 1);
            self.branch(Op::BraScalar, vec![s], None, &[target], i32::from(negate));
        }
        self.branch(Op::Bra, vec![], None, &[other], 0);
    }

    fn edge(&mut self, from: BlockRef, to: BlockRef) {
        let block = self.current;
        let list = self.edges.entry((from, to)).or_default();
        if !list.contains(&block) {
            list.push(block);
        }
    }

    pub(super) fn terminator(&mut self, i: Value) {
        let here = i.parent();
        match i.opcode() {
            LLVMRet => self.push(Inst::new(Op::Exit, Type::None, Operand::None, [])),
            LLVMUnreachable => self.push(Inst::new(Op::Trap, Type::None, Operand::None, [])),
            LLVMBr => {
                let targets: SmallVec<[BlockRef; 2]> = i.successors().collect();
                for t in &targets {
                    self.edge(here, *t);
                }
                let blocks: Vec<Block> = targets.iter().map(|t| self.blocks[t]).collect();
                if let [target] = blocks[..] {
                    return self.branch(Op::Bra, vec![], None, &[target], 0);
                }
                let index = self.uniformity.cfg().index[&here];
                let divergent = self.uniformity.branch_is_divergent(index);
                let condition = self.operand(i.operand(0));
                self.conditional(condition, blocks[0], blocks[1], divergent);
            }
            _ => self.switch(i, here),
        }
    }

    /// A switch: equality tests for few cases, a balanced tree of comparisons for many.
    fn switch(&mut self, i: Value, here: BlockRef) {
        let value = i.operand(0);
        let leaf = self.leaf(value);
        let default = i.successors().next();
        let Some(default) = default else { return };
        // Operands after the first two are (value, block) pairs; blocks of the cases follow the default among the successors.
        let targets: Vec<BlockRef> = i.successors().skip(1).collect();
        let mut cases: Vec<(u64, BlockRef)> = Vec::new();
        for (k, target) in targets.iter().enumerate() {
            let Some(c) = i.operand(2 + 2 * k as u32).as_constant_int() else {
                self.error(Some(i), "a case that is no integer of at most 64 bits is not supported");
                return;
            };
            if *target != default {
                cases.push((c, *target));
            }
        }
        cases.sort_by_key(|c| c.0);
        let op = self.operand(value);
        let op = if leaf.bits == 1 { self.bit_to_word(op) } else { op };
        let op =
            if leaf.words() == 2 { self.extend_wide(op, leaf.bits, false) } else { self.extend(value, op, leaf.bits, false) };
        let index = self.uniformity.cfg().index[&here];
        let divergent = self.uniformity.branch_is_divergent(index);
        let frequency = self.f.blocks[self.current].frequency;
        if divergent {
            return self.divergent_switch(here, op, leaf.words() == 2, &cases, default, frequency);
        }
        self.switch_tree(here, op, leaf.words() == 2, &cases, default, divergent, frequency);
    }

    /// A divergent switch: one branch a target, on the disjunction of its cases. Separate branches to one target would reconverge only after
    /// the others, which may be outside a loop that the switch is in (see the uniformity analysis, "desynchronised loops").
    fn divergent_switch(
        &mut self,
        here: BlockRef,
        op: Operand,
        wide: bool,
        cases: &[(u64, BlockRef)],
        default: BlockRef,
        frequency: f32,
    ) {
        let words = if wide { 2 } else { 1 };
        let ty = if wide { Type::B64 } else { Type::B32 };
        let mut targets: Vec<BlockRef> = Vec::new();
        for (_, t) in cases {
            if !targets.contains(t) {
                targets.push(*t);
            }
        }
        if targets.is_empty() {
            self.edge(here, default);
            let target = self.blocks[&default];
            return self.branch(Op::Bra, vec![], None, &[target], 0);
        }
        for (k, target) in targets.iter().enumerate() {
            let mut hit: Option<Operand> = None;
            for (c, _) in cases.iter().filter(|(_, t)| t == target) {
                let c = self.constant_operand(*c, words);
                let equal = self.compare(Cond::Eq, ty, Self::plain(op), Self::plain(c));
                hit = Some(match hit {
                    None => equal,
                    Some(h) => self.logic(Op::Or, h, equal),
                });
            }
            self.edge(here, *target);
            let last = k + 1 == targets.len();
            let next = if last {
                self.edge(here, default);
                self.blocks[&default]
            } else {
                self.new_block(frequency)
            };
            let block = self.blocks[target];
            self.conditional(hit.unwrap_or(Operand::Immediate(0)), block, next, true);
            if !last {
                self.start(next);
            }
        }
    }

    #[allow(clippy::too_many_arguments)]
    fn switch_tree(
        &mut self,
        here: BlockRef,
        op: Operand,
        wide: bool,
        cases: &[(u64, BlockRef)],
        default: BlockRef,
        divergent: bool,
        frequency: f32,
    ) {
        let words = if wide { 2 } else { 1 };
        if cases.is_empty() {
            self.edge(here, default);
            let target = self.blocks[&default];
            return self.branch(Op::Bra, vec![], None, &[target], 0);
        }
        let constant = |s: &mut Self, c: u64| s.constant_operand(c, words);
        if cases.len() <= 3 {
            for (k, (c, target)) in cases.iter().enumerate() {
                let c = constant(self, *c);
                let ty = if wide { Type::B64 } else { Type::B32 };
                let hit = self.compare(Cond::Eq, ty, Self::plain(op), Self::plain(c));
                self.edge(here, *target);
                let last = k + 1 == cases.len();
                let next = if last {
                    self.edge(here, default);
                    self.blocks[&default]
                } else {
                    self.new_block(frequency)
                };
                let target = self.blocks[target];
                self.conditional(hit, target, next, divergent);
                if !last {
                    self.start(next);
                }
            }
            return;
        }
        let (low, high) = cases.split_at(cases.len() / 2);
        let pivot = constant(self, high[0].0);
        let ty = if wide { Type::U64 } else { Type::U32 };
        let below = self.compare(Cond::Lt, ty, Self::plain(op), Self::plain(pivot));
        let (left, right) = (self.new_block(frequency), self.new_block(frequency));
        self.conditional(below, left, right, divergent);
        self.start(left);
        self.switch_tree(here, op, wide, low, default, divergent, frequency);
        self.start(right);
        self.switch_tree(here, op, wide, high, default, divergent, frequency);
    }

    fn new_block(&mut self, frequency: f32) -> Block {
        let block = self.f.add_block();
        self.f.blocks[block].frequency = frequency;
        block
    }

    fn start(&mut self, block: Block) {
        self.current = block;
        self.materialized.clear();
    }

    // ----- phis -----

    pub(super) fn phi(&mut self, phi: Value) {
        if types::is_pointer(phi.ty()) {
            if let Some(root) = self.single_root_address(phi) {
                let bank = self.bank_of(phi);
                let reg = self.f.add_vreg(heddle_mir::RegClass { bank, words: 1 });
                let position = self.append_phi(Type::B32, Operand::virt(reg));
                self.phis.push(PendingPhi { phi, block: self.current, positions: vec![position], root: Some(root) });
                self.set_offset_address(phi, root, Operand::virt(reg));
                return;
            }
        }
        let mut parts = Parts::new();
        let mut positions = Vec::new();
        for leaf in leaves(phi.ty()).iter() {
            let reg = self.new_reg(phi, *leaf);
            let ty = self.f.vregs[reg].copy_type();
            positions.push(self.append_phi(ty, Operand::virt(reg)));
            parts.push(Operand::virt(reg));
        }
        self.phis.push(PendingPhi { phi, block: self.current, positions, root: None });
        if types::is_pointer(phi.ty()) {
            let address = self.register_address(phi.address_space(), parts[0]);
            self.addresses.insert(phi, address);
        }
        self.set(phi, parts);
    }

    fn append_phi(&mut self, ty: Type, dst: Operand) -> usize {
        let mut inst = Inst::new(Op::Phi, ty, dst, []);
        inst.loc = self.loc;
        inst.targets = Targets::Blocks(SmallVec::new());
        let insts = &mut self.f.blocks[self.current].insts;
        // Phis stand first even if constants were materialised for an address above them.
        let at = insts.iter().position(|i| i.op != Op::Phi).unwrap_or(insts.len());
        insts.insert(at, inst);
        at
    }

    /// Fills in the phis' inputs; what an input needs is computed at the end of its block.
    pub(super) fn complete_phis(&mut self) {
        for pending in std::mem::take(&mut self.phis) {
            self.at = Some(pending.phi);
            let incoming: Vec<(Value, BlockRef)> = pending.phi.incoming().collect();
            let to = pending.phi.parent();
            let mut seen: SmallVec<[BlockRef; 4]> = SmallVec::new();
            for (value, from) in incoming {
                if seen.contains(&from) {
                    continue;
                }
                seen.push(from);
                let Some(preds) = self.edges.get(&(from, to)).cloned() else { continue };
                for pred in preds {
                    let tail = self.open_tail(pred);
                    let divergent = tail.iter().any(|i| i.op == Op::BraDivergent);
                    let parts: Parts = match pending.root {
                        Some(_) => {
                            let address = self.address(value);
                            smallvec::smallvec![self.whole_offset(&address)]
                        }
                        None => self.parts(value),
                    };
                    let parts: Parts = parts
                        .into_iter()
                        .zip(&pending.positions)
                        .map(|(op, position)| self.phi_input(op, pending.block, *position, divergent))
                        .collect();
                    self.f.blocks[pred].insts.extend(tail);
                    for (op, position) in parts.into_iter().zip(&pending.positions) {
                        let phi = &mut self.f.blocks[pending.block].insts[*position];
                        phi.srcs.push(op);
                        if let Targets::Blocks(b) = &mut phi.targets {
                            b.push(pred);
                        }
                    }
                }
            }
        }
    }

    /// An input in the register file of its phi, where a plain copy would not do.
    ///
    /// A copy on an edge of a divergent branch may run after the other side has run on, and changed scalar registers of a loop the lanes leave (S4).
    /// So scalars are copied to the lanes before such a branch.
    fn phi_input(&mut self, op: Operand, block: Block, position: usize, divergent: bool) -> Operand {
        let dst = self.f.blocks[block].insts[position].dst.as_virt();
        let bank = dst.map(|(r, _)| self.f.vregs[r].bank);
        match (bank, self.bank(op)) {
            (Some(Bank::Scalar), Some(Bank::Vector | Bank::Predicate)) => {
                let words = dst.map_or(1, |(r, _)| self.f.vregs[r].words);
                self.to_scalar(op, words)
            }
            (Some(Bank::Vector), Some(Bank::Scalar)) if divergent => {
                let class = dst.map_or(RegClass::vector(1), |(r, _)| self.f.vregs[r]);
                self.emit(Op::Mov, class.copy_type(), class, [op])
            }
            (Some(Bank::Predicate), Some(Bank::Scalar)) if divergent => self.to_predicate(op),
            (Some(Bank::Predicate), Some(Bank::Vector)) => self.to_predicate(op),
            (Some(Bank::Predicate), None) if !matches!(op, Operand::Immediate(_)) => self.to_predicate(op),
            _ => op,
        }
    }

    /// Takes the terminators off a finished block, so that code can be appended before them.
    fn open_tail(&mut self, block: Block) -> Vec<Inst> {
        let insts = &mut self.f.blocks[block].insts;
        let at = insts.iter().position(|i| i.info().flags.terminator).unwrap_or(insts.len());
        let tail = insts.split_off(at);
        self.start(block);
        tail
    }

    /// Divergent branches reconverge at their immediate post-dominator.
    pub(super) fn set_reconvergence(&mut self) {
        let cfg = Cfg::new(&self.f);
        let ipdom = cfg.post_dominators();
        for block in &self.f.layout {
            for inst in self.f.blocks[*block].insts.iter_mut().rev().take(2) {
                if inst.op == Op::BraDivergent {
                    if let (Some(j), Targets::Blocks(b)) = (ipdom[*block], &mut inst.targets) {
                        b.push(j);
                    }
                }
            }
        }
    }
}
