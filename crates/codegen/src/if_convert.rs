//! If-conversion: short conditional code that loads becomes guarded instructions.
//!
//! # Problem
//! `if (inside) sum += a[i];` is a block of its own: its load starts when the block does, and what waits for the load comes right
//! behind it. So the loads of several such blocks, as of a window's elements or of a loop's copies, follow each other one latency
//! at a time.
//!
//! # Algorithm
//! A block with one way in, and one way out to where its branch goes otherwise, too, goes into the block before: its loads and
//! stores, and what something reads behind it, under the branch's condition, the rest, which nothing else reads, as it is. The block
//! behind follows if no other leads there, and what comes then may be of the same kind; the block itself may have one in it that ends
//! where it does, which runs under both conditions. This is done where code then waits half as
//! often for loads that may be far away: two that come to stand side by side, or, where loaded marks decide about loads, two for
//! which both marks are loaded first. Loads that give each other's address, or follow a store that waits for them, stay one after
//! the other: there a warp that skips the block has less to do. The scheduler then starts the loads together
//! ([`super::schedule`]).
//!
//! A load to a scalar register, which takes no guard, becomes one to lanes, and so does what is computed of it. What blocks that
//! became one compute twice, as the parts of an address, is computed once.
//!
//! # Reference
//! Allen, Kennedy, Porterfield and Warren, "Conversion of control dependence to data dependence" (POPL 1983); Park and Schlansker,
//! "On predicated execution" (HP Laboratories 1991).
//!
//! # Limits
//! Blocks with another one beside them (`else`), blocks that write scalar registers that something reads behind them and that
//! cannot move to lanes ([`super::scalar_values`]), and those with what takes long to compute stay. Within a conditional block there
//! may be one, which loads, and none within that.
//!
//! May touch: in the lowered form branches, the blocks behind them, guards, the banks of registers, what is computed twice, and the
//! layout.

use std::cell::OnceCell;

use cranelift_entity::SecondaryMap;
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::{SmallVec, smallvec};

use super::CodegenError;
use super::context::Context;
use super::place;
use super::scalar_values::Movable;
use super::schedule::{self, Reach};
use super::ssa::{Key, Substitution, is_pure};
use heddle_isa::{
    CachePolicy, Cond, Guard, Inst, MemorySpace, Op, OpClass, Operand, Reg, RegClass, Role, Special, Targets, Type, VReg,
};
use heddle_mir::cfg::Cfg;
use heddle_mir::liveness::{self, Liveness};
use heddle_mir::{Bank, Block, Function};

/// Instructions at most under a condition that is converted, copies not counted: a warp that would skip them executes so many more.
const MOST: usize = 8;

/// Copies at most, of which some remain.
const MOST_COPIES: usize = 4;

/// How many times as many loads as now, one after the other, blocks wait for that are converted.
const LEAST_GAIN: u32 = 2;

/// Converts blocks.
pub fn run(function: &mut Function, _: &mut Context) -> Result<(), CodegenError> {
    let has_load = function.layout.iter().flat_map(|b| &function.blocks[*b].insts).any(is_long_load);
    if function.layout.len() < 3 || !has_load {
        return Ok(());
    }
    place::jump_to_next(function);
    let finder = Finder::new(function);
    let mut converted = Vec::new();
    let mut gone: SecondaryMap<Block, bool> = SecondaryMap::new();
    for block in function.layout.clone() {
        // The block of the original code whose end is this one's now.
        let mut end = block;
        while !gone[block] {
            let chain = finder.chain(function, end, block);
            let Some(last) = chain.last() else { break };
            let (behind, joins) = (last.behind, last.joins);
            if end == block {
                converted.push(block);
            }
            for triangle in chain {
                triangle.convert(function, &finder, block, &mut gone);
            }
            if !joins {
                break;
            }
            end = behind;
        }
    }
    function.layout.retain(|b| !gone[*b]);
    share(function, &finder.liveness, &converted);
    Ok(())
}

/// Shares what blocks that became one compute more than once, as the parts of an address: only registers that are written once,
/// and not read in a block before, which could be a value of the iteration before.
fn share(function: &mut Function, liveness: &Liveness, converted: &[Block]) {
    if converted.is_empty() {
        return;
    }
    let mut definitions: SecondaryMap<VReg, u32> = SecondaryMap::new();
    for inst in function.layout.iter().flat_map(|b| &function.blocks[*b].insts) {
        if let Some((r, _)) = inst.dst.as_virt() {
            definitions[r] += 1;
        }
    }
    let mut replaced = Substitution::new(function);
    for &block in converted {
        let exposed: FxHashSet<VReg> = liveness.live_in(block).map(|(r, _)| r).collect();
        // Values of registers by how often the block has written them.
        let mut version: FxHashMap<VReg, u32> = FxHashMap::default();
        let mut seen: FxHashMap<(Key, SmallVec<[u32; 3]>), VReg> = FxHashMap::default();
        let mut insts = std::mem::take(&mut function.blocks[block].insts);
        insts.retain_mut(|inst| {
            replaced.redirect(inst);
            let Some((dst, word)) = inst.dst.as_virt() else { return true };
            *version.entry(dst).or_default() += 1;
            let class = function.vregs[dst];
            let once = definitions[dst] == 1 && !exposed.contains(&dst);
            if !is_pure(inst) || inst.op == Op::Mov || !once || word > 0 || inst.dst_words() != class.words {
                return true;
            }
            let of = |s: &Operand| s.as_virt().map_or(0, |(r, _)| version.get(&r).copied().unwrap_or(0));
            let key = (Key::new(inst, class), inst.srcs.iter().map(of).collect());
            match seen.get(&key) {
                Some(same) => replaced.replace(dst, *same),
                None => {
                    seen.insert(key, dst);
                    return true;
                }
            }
            false
        });
        function.blocks[block].insts = insts;
    }
    replaced.apply(function);
}

/// Whether an instruction loads what may be far away.
fn is_long_load(inst: &Inst) -> bool {
    matches!(inst.class(), OpClass::LoadGlobal | OpClass::LoadPrivate)
}

/// Whether an instruction names a register.
fn names(inst: &Inst, reg: VReg) -> bool {
    let mut any = liveness::def(inst).is_some_and(|(r, _)| r == reg);
    liveness::for_each_use(inst, |r, _| any |= r == reg);
    any
}

/// A block that runs under a condition, with those before and behind it.
struct Triangle {
    before: Block,
    inner: Block,
    /// What the inner block ends with instead of leading to the block behind.
    nested: Option<Box<Triangle>>,
    behind: Block,
    /// Under which the inner block runs; none where its branch is uniform.
    guard: Option<Guard>,
    /// Nothing else leads to the block behind.
    joins: bool,
    /// What something reads behind the inner block, and what is nested in it.
    live: FxHashSet<VReg>,
}

/// How many conditions a block under a condition may have in it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Nesting {
    None,
    One,
}

/// What is known of a function before anything is converted.
struct Finder {
    cfg: Cfg,
    liveness: Liveness,
    /// How many instructions name a block.
    named: SecondaryMap<Block, u32>,
    /// Scalar registers that can move to lanes, once one is asked for.
    movable: OnceCell<Movable>,
}

impl Finder {
    fn new(function: &Function) -> Finder {
        let cfg = Cfg::new(function);
        let liveness = Liveness::new(function, &cfg);
        let mut named: SecondaryMap<Block, u32> = SecondaryMap::new();
        for inst in function.layout.iter().flat_map(|b| &function.blocks[*b].insts) {
            let blocks = inst.blocks();
            for (i, b) in blocks.iter().enumerate() {
                named[*b] += u32::from(!blocks[..i].contains(b));
            }
        }
        Finder { cfg, liveness, named, movable: OnceCell::new() }
    }

    fn movable(&self, function: &Function) -> &Movable {
        self.movable.get_or_init(|| Movable::new(function))
    }

    /// The blocks that follow each other behind `from`, whose code is at the end of `into`, and are converted together: none if that
    /// does not pay.
    fn chain(&self, function: &Function, from: Block, into: Block) -> Vec<Triangle> {
        let (mut chain, mut block, mut at) = (Vec::new(), from, into);
        let (mut waits, mut serial, mut worth) = (Waits::new(function), 0, 0);
        // Private memory is mostly in the L1: not worth more instructions where loads wait for each other.
        let mut near = false;
        while let Some(triangle) =
            self.triangle(function, block, at, Nesting::One).filter(|t| chain.iter().all(|c: &Triangle| c.before != t.behind))
        {
            let condition = waits.of_condition(&function.blocks[at].insts);
            near |= triangle.insts(function).any(|i| i.class() == OpClass::LoadPrivate);
            serial += waits.pass(&function.blocks[triangle.inner].insts, condition);
            if let Some(nested) = &triangle.nested {
                let within = waits.of_condition(&function.blocks[triangle.inner].insts).max(condition);
                serial += waits.pass(&function.blocks[nested.inner].insts, within);
                serial += waits.pass(&function.blocks[nested.behind].insts, condition);
            }
            let (behind, joins) = (triangle.behind, triangle.joins);
            if joins {
                serial += waits.pass(&function.blocks[behind].insts, 0);
            }
            chain.push(triangle);
            if serial >= LEAST_GAIN * waits.most && (waits.most < 2 || !near) {
                worth = chain.len();
            }
            if !joins {
                break;
            }
            (block, at) = (behind, behind);
        }
        chain.truncate(worth);
        chain
    }

    /// The block under another condition at the end of a block under one, if both end at the same place and that one, too, could be
    /// converted.
    fn nested(&self, function: &Function, inner: Block, behind: Block) -> Option<Box<Triangle>> {
        if self.cfg.edges[inner].succs.len() != 2 || self.cfg.edges[inner].succs.contains(&behind) {
            return None;
        }
        let nested = self.triangle(function, inner, inner, Nesting::None)?;
        let ends = self.cfg.edges[nested.behind].succs[..] == [behind];
        (nested.joins && ends).then(|| Box::new(nested))
    }

    /// The block under a condition behind a block, whose code is at the end of `at`, if it can be converted.
    fn triangle(&self, function: &Function, before: Block, at: Block, nesting: Nesting) -> Option<Triangle> {
        let [.., branch, jump] = &function.blocks[at].insts[..] else { return None };
        let (to, otherwise) = (*branch.blocks().first()?, *jump.blocks().first()?);
        if jump.op != Op::Bra || jump.guard.is_some() || to == otherwise {
            return None;
        }
        let mut nested = None;
        let mut ends_at = |inner: Block, behind: Block| {
            let edges = &self.cfg.edges[inner];
            let is_entry = function.layout.first() == Some(&inner);
            if edges.preds[..] != [before] || [before, inner, at].contains(&behind) || is_entry {
                return false;
            }
            if nesting == Nesting::One {
                nested = self.nested(function, inner, behind);
            }
            nested.is_some() || edges.succs[..] == [behind]
        };
        // The inner block is the side that lanes fall into, or the one that the branch goes to.
        let (inner, behind, taken) = if ends_at(otherwise, to) {
            (otherwise, to, false)
        } else if ends_at(to, otherwise) {
            (to, otherwise, true)
        } else {
            return None;
        };
        let guard = match branch.op {
            Op::BraScalar => None,
            Op::BraDivergent if branch.blocks().get(1) == Some(&behind) => {
                Some(branch.guard.map(|g| Guard { negate: g.negate == taken, ..g })?)
            }
            _ => return None,
        };
        // These name it: the inner block's jump, and the branch, or the jump behind that, or both.
        let ours = 1 + u32::from(branch.blocks().contains(&behind)) + u32::from(taken);
        let joins =
            self.cfg.edges[behind].preds.len() == 2 && self.named[behind] == ours && function.layout.first() != Some(&behind);
        let live = self.liveness.live_in(behind).map(|(r, _)| r).collect();
        let triangle = Triangle { before, inner, nested, behind, guard, joins, live };
        triangle.can_be_converted(function, self).then_some(triangle)
    }
}

/// For how many loads that may be far away, one after the other, values of converted code wait.
struct Waits<'a> {
    function: &'a Function,
    of: FxHashMap<VReg, u32>,
    /// Of the stores to device memory: loads from there stay behind them.
    stores: Vec<(Reach, u32)>,
    /// The most.
    most: u32,
}

impl<'a> Waits<'a> {
    fn new(function: &'a Function) -> Waits<'a> {
        Waits { function, of: FxHashMap::default(), stores: Vec::new(), most: 0 }
    }

    /// Of the condition that a block ends with.
    fn of_condition(&self, insts: &[Inst]) -> u32 {
        insts.iter().rev().take(2).map(|i| self.of_sources(i)).max().unwrap_or(0)
    }

    fn of_sources(&self, inst: &Inst) -> u32 {
        let mut most = 0;
        liveness::for_each_use(inst, |r, _| most = most.max(self.of.get(&r).copied().unwrap_or(0)));
        most
    }

    /// Goes through a block that is executed where a condition holds that waits for so many loads. Returns for how many the block
    /// waits as it stands, when all that comes from before it is there.
    fn pass(&mut self, insts: &[Inst], condition: u32) -> u32 {
        let mut alone = Waits::new(self.function);
        for inst in insts {
            self.execute(inst, condition);
            alone.execute(inst, 0);
        }
        alone.most
    }

    fn execute(&mut self, inst: &Inst, condition: u32) {
        let mut waits = self.of_sources(inst).max(condition);
        let here = schedule::reach(self.function, inst);
        if is_long_load(inst) {
            let behind = self.stores.iter().filter(|(store, _)| !schedule::are_apart(self.function, *store, here));
            waits = behind.map(|(_, waits)| *waits).fold(waits, u32::max) + 1;
        } else if inst.info().flags.store && here.0 == MemorySpace::Global {
            self.stores.push((here, waits));
        }
        if let Some((r, _)) = liveness::def(inst) {
            let whole = inst.guard.is_none() && inst.dst_words() == self.function.vregs[r].words;
            let before = self.of.get(&r).copied().filter(|_| condition > 0 || !whole).unwrap_or(0);
            self.of.insert(r, waits.max(before));
        }
        self.most = self.most.max(waits);
    }
}

impl Triangle {
    /// The instructions that run under the condition, those that end blocks left out.
    fn insts<'f>(&self, function: &'f Function) -> impl Iterator<Item = &'f Inst> + use<'f> {
        let nested = self.nested.iter().flat_map(|n| [n.inner, n.behind]);
        let blocks: SmallVec<[Block; 3]> = [self.inner].into_iter().chain(nested).collect();
        blocks.into_iter().flat_map(|b| &function.blocks[b].insts).filter(|i| !i.info().flags.terminator)
    }

    fn can_be_converted(&self, function: &Function, finder: &Finder) -> bool {
        let last = self.nested.as_ref().map_or(self.inner, |n| n.behind);
        let Some(end) = function.blocks[last].insts.last() else { return false };
        let insts = || self.insts(function);
        let copies = insts().filter(|i| i.op == Op::Mov).count();
        let guard = self.guard.and_then(|g| Operand::Reg(g.reg).as_virt());
        let keeps_guard = |i: &Inst| guard.is_none_or(|(g, _)| liveness::def(i).is_none_or(|(r, _)| r != g));
        end.op == Op::Bra
            && end.guard.is_none()
            && copies <= MOST_COPIES
            && insts().count() - copies <= MOST
            && insts().any(is_long_load)
            && insts().all(|i| Self::may_move(i) && keeps_guard(i) && self.is_in_lanes(function, finder, i))
    }

    /// Whether an instruction may run under a guard, or for lanes that do not need it.
    fn may_move(inst: &Inst) -> bool {
        let flags = inst.info().flags;
        let takes_long = matches!(
            inst.class(),
            OpClass::IntDivide | OpClass::FloatDivide | OpClass::Float64 | OpClass::Mul64 | OpClass::Special | OpClass::Atomic
        );
        let stays = flags.terminator || flags.convergent || flags.unguarded || flags.side_effect && !flags.store;
        let special = |s: &Operand| matches!(s, Operand::Special(Special::ExecLow | Special::ExecHigh | Special::ClockLow));
        !inst.srcs.iter().any(special)
            && !takes_long
            && !stays
            && inst.op != Op::Atomic
            && inst.guard.is_none()
            && inst.mods.cache != CachePolicy::Cv
    }

    /// Whether an instruction of the inner block writes no scalar register that something reads behind it, and loads none, or one
    /// that can be of lanes instead.
    fn is_in_lanes(&self, function: &Function, finder: &Finder, inst: &Inst) -> bool {
        let Some(dst) = scalar_destination(function, inst) else { return true };
        let local =
            !self.live.contains(&dst) && (!inst.info().flags.load || is_loaded_for_lanes(function, dst, || self.insts(function)));
        local || finder.movable(function).contains(dst)
    }

    /// Moves the inner block, and the one behind if nothing else leads there, into `into`, where the block before is now.
    fn convert(mut self, function: &mut Function, finder: &Finder, into: Block, gone: &mut SecondaryMap<Block, bool>) {
        if let Some(nested) = self.nested.take() {
            nested.convert(function, finder, self.inner, gone);
        }
        let mut insts = std::mem::take(&mut function.blocks[into].insts);
        insts.pop();
        let Some(branch) = insts.pop() else { return };
        let guard = self.guard.unwrap_or_else(|| {
            let (test, guard) = self.test(function, &branch);
            insts.push(test);
            guard
        });
        let mut inner = std::mem::take(&mut function.blocks[self.inner].insts);
        inner.pop();
        for at in 0..inner.len() {
            let Some(dst) = scalar_destination(function, &inner[at]) else { continue };
            if self.live.contains(&dst) || inner[at].info().flags.load && !is_loaded_for_lanes(function, dst, || inner.iter()) {
                finder.movable(function).move_to_lanes(function, dst);
            }
        }
        load_to_lanes(function, &mut inner);
        self.write_directly(function, &mut inner);
        // This condition and that of the block within, which all guarded instructions have.
        let mut within: Option<Guard> = None;
        for mut inst in inner {
            let flags = inst.info().flags;
            let lives = liveness::def(&inst).is_some_and(|(r, _)| self.live.contains(&r));
            if let Some(own) = inst.guard {
                let both = *within.get_or_insert_with(|| {
                    let (test, both) = both(function, guard, own);
                    insts.push(Inst { loc: branch.loc, ..test });
                    both
                });
                inst.guard = Some(both);
                inst.fresh &= !lives;
            } else if lives || flags.load || flags.store {
                inst.guard = Some(guard);
                // What other lanes hold in it only the inner block could read, which does not run for them.
                inst.fresh = !lives && inst.dst.as_virt().is_some();
            }
            insts.push(inst);
        }
        gone[self.inner] = true;
        if self.joins {
            insts.append(&mut function.blocks[self.behind].insts);
            gone[self.behind] = true;
        } else {
            let mut jump = Inst::new(Op::Bra, Type::None, Operand::None, []);
            jump.targets = Targets::Blocks(smallvec![self.behind]);
            jump.loc = branch.loc;
            insts.push(jump);
        }
        function.blocks[into].insts = insts;
    }

    /// The condition of a uniform branch as a predicate of lanes, and the guard that it gives the inner block.
    fn test(&self, function: &mut Function, branch: &Inst) -> (Inst, Guard) {
        let reg = function.vregs.push(RegClass { bank: Bank::Predicate, words: 0 });
        let mut test = Inst::new(Op::Cmp, Type::B32, Operand::virt(reg), [branch.srcs[0], Operand::Immediate(0)]);
        // The branch goes to its target where the condition is zero, if its immediate is 1.
        let taken = branch.blocks().first() == Some(&self.inner);
        test.mods.cond = Some(if (branch.imm == 1) == taken { Cond::Eq } else { Cond::Ne });
        test.loc = branch.loc;
        (test, Guard { reg: Reg::Virtual { reg, word: 0 }, negate: false })
    }

    /// What is computed, or loaded, and only copied to a register that lives on is written there.
    fn write_directly(&self, function: &Function, inner: &mut Vec<Inst>) {
        let mut at = 0;
        while at < inner.len() {
            match self.definition_of_copied(function, inner, at) {
                Some(definition) => {
                    inner[definition].dst = inner[at].dst;
                    inner.remove(at);
                }
                None => at += 1,
            }
        }
    }

    /// Where what an instruction copies is defined, if nothing else reads it and the copy's destination can be written there.
    fn definition_of_copied(&self, function: &Function, inner: &[Inst], at: usize) -> Option<usize> {
        let copy = &inner[at];
        let ((to, 0), (from, 0)) = (copy.dst.as_virt()?, copy.srcs.first()?.as_virt()?) else { return None };
        if copy.op != Op::Mov || function.vregs[to] != function.vregs[from] || self.live.contains(&from) {
            return None;
        }
        let definition = inner[..at].iter().rposition(|i| i.dst == Operand::virt(from))?;
        let once = inner.iter().filter(|i| names(i, from)).count() == 2;
        let whole = inner[definition].dst_words() == copy.dst_words() && inner[definition].guard == copy.guard;
        // What comparisons write moves to predicates, and nothing else does.
        if inner[definition].op == Op::Cmp && function.vregs[to].bank == Bank::Scalar {
            return None;
        }
        let free = !inner[definition + 1..at].iter().any(|i| names(i, to));
        (once && whole && free).then_some(definition)
    }
}

/// The condition that two guards hold, as an instruction and the guard that it gives.
fn both(function: &mut Function, a: Guard, b: Guard) -> (Inst, Guard) {
    let reg = function.vregs.push(RegClass { bank: Bank::Predicate, words: 0 });
    let (op, first, second, negate) = match (a.negate, b.negate) {
        (false, false) => (Op::And, a, b, false),
        (false, true) => (Op::AndNot, a, b, false),
        (true, false) => (Op::AndNot, b, a, false),
        (true, true) => (Op::Or, a, b, true),
    };
    let inst = Inst::new(op, Type::Pred, Operand::virt(reg), [Operand::Reg(first.reg), Operand::Reg(second.reg)]);
    (inst, Guard { reg: Reg::Virtual { reg, word: 0 }, negate })
}

/// The scalar register that an instruction writes.
fn scalar_destination(function: &Function, inst: &Inst) -> Option<VReg> {
    liveness::def(inst).map(|(r, _)| r).filter(|r| function.vregs[*r].bank == Bank::Scalar)
}

/// Whether a scalar register that a block loads, once, is read there only where a register of lanes could stand.
fn is_loaded_for_lanes<'i, I: Iterator<Item = &'i Inst>>(function: &Function, loaded: VReg, insts: impl Fn() -> I) -> bool {
    let takes_lanes = |i: &Inst| {
        let role = |s: usize| matches!(i.src_role(s), Role::Base | Role::ScalarCondition | Role::Predicate);
        let is_it = |s: usize| i.srcs[s].as_virt().is_some_and(|(r, _)| r == loaded);
        scalar_destination(function, i).is_none()
            && !i.info().flags.load
            && i.ty != Type::Pred
            && !(0..i.srcs.len()).any(|s| is_it(s) && role(s))
    };
    let reads = |i: &Inst| {
        let mut any = false;
        liveness::for_each_use(i, |r, _| any |= r == loaded);
        any
    };
    insts().filter(|i| liveness::def(i).is_some_and(|(r, _)| r == loaded)).count() == 1
        && insts().all(|i| !reads(i) || takes_lanes(i))
}

/// Loads to scalar registers become loads to lanes.
fn load_to_lanes(function: &mut Function, inner: &mut [Inst]) {
    for at in 0..inner.len() {
        let Some((scalar, 0)) = inner[at].dst.as_virt() else { continue };
        if !inner[at].info().flags.load || function.vregs[scalar].bank != Bank::Scalar {
            continue;
        }
        let lanes = function.vregs.push(RegClass { bank: Bank::Vector, ..function.vregs[scalar] });
        let renamed = |op: &mut Operand| {
            if let Some((_, word)) = op.as_virt().filter(|(r, _)| *r == scalar) {
                *op = Operand::virt_word(lanes, word);
            }
        };
        renamed(&mut inner[at].dst);
        inner[at + 1..].iter_mut().flat_map(|i| &mut i.srcs).for_each(renamed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fmt::Write;

    /// Each rung's block looks as if it had the next one nested in it. Found in review: the search went down to the last.
    #[test]
    fn long_ladders_of_conditions_take_linear_time_and_little_stack() {
        const RUNGS: usize = 30_000;
        let mut text = String::from("kernel @k stage lowered local 256 private 0 {\n  registers s1 v1 v1\nbb0: frequency 1\n");
        text += "  mov.b32 %0, c[0x10]\n  ld.global.b32 %2, [c[0x8] + u32 lid.x]\n  bra bb1\n";
        let end = 2 * RUNGS + 2;
        for rung in (1..=2 * RUNGS).step_by(2) {
            let (case, next) = (rung + 1, rung + 2);
            let _ = write!(text, "bb{rung}: frequency 1\n  bras.z %0, bb{case}\n  bra bb{next}\n");
            let _ = write!(text, "bb{case}: frequency 1\n  add.b32 %2, %2, {rung}\n  bra bb{end}\n");
        }
        let _ = write!(text, "bb{}: frequency 1\n  bra bb{end}\nbb{end}: frequency 1\n", end - 1);
        text += "  st.local.b32 [0], %2\n  exit\n}\n";
        let mut function = heddle_mir::parse::parse_module(&text).unwrap().functions.remove(0);
        let machine = heddle_target::Machine::default_machine();
        let options = super::super::CodegenOptions::default();
        let mut context = Context::new(&function, &machine, &options);
        let blocks = function.layout.len();
        run(&mut function, &mut context).unwrap();
        assert_eq!(function.layout.len(), blocks, "nothing is converted");
    }
}
