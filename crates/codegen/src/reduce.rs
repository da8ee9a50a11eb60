//! Strength reduction: what a loop computes anew from its counter in each iteration steps along with it.
//!
//! # Problem
//! An address such as `4 * (k * pitch + column)` costs a product, a sum and a shift in each iteration. As an
//! induction variable of its own it costs an addition.
//!
//! # Algorithm
//! The basic induction variables of a loop are phis of its header that grow by what is invariant. An expression
//! of sums, differences, shifts by constants and products with something invariant is affine in them; all in
//! 32 bits, so that overflow changes nothing. Where such an expression feeds anything else and at least two
//! instructions are there for it alone, it becomes a phi: its value on entry is the expression with the
//! variables' first values, computed in the preheader; its step is the expression's difference over an
//! iteration, added at the end of the latch. A single scalar product or shift becomes one too if a load reads it: then the
//! addition costs no more, and the load at the beginning of an iteration does not wait for it. Inner loops come first, so that what they start from can step in
//! outer loops.
//!
//! A comparison of a variable with what is invariant, for equality, is made of the variable's next value and a
//! limit one step further: then the old value need not outlive the new one, and the variable stays in one
//! register.
//!
//! Steps are the same in all lanes; expressions of lanes whose steps are not stay. Blocks are looked at that run in every
//! iteration, or in one of four at least: behind two comparisons with bounds, say, where the addition at the end of the loop
//! still costs less, since a warp goes where any of its lanes does. What is made in preheaders is shared ([`super::share`]) and
//! leaves further loops ([`super::hoist`]).
//!
//! `c - x` is `c ^ x` to LLVM where `x` has no bit that `c` has not; of induction variables it becomes the difference again.
//! What does not step then has its scales distributed ([`super::scale`]).
//!
//! Reference: Cocke and Kennedy, "An algorithm for reduction of operator strength" (CACM 1977); Aho, Lam, Sethi
//! and Ullman, "Compilers", 9.1.8 (induction variables).
//!
//! May touch: SSA form only: adds phis, instructions in preheaders and latches, and removes what they replace. A
//! loop needs a preheader and one latch.

use cranelift_entity::SecondaryMap;
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

use super::CodegenError;
use super::cleanup;
use super::context::Context;
use super::hoist::{self, Preheaders};
use super::loops::Loops;
use super::scale;
use super::share;
use super::ssa::Definitions;
use heddle_isa::{Inst, Op, Operand, Reg, SourceLoc, Targets, Type, VReg};
use heddle_mir::cfg::{Cfg, Dominators};
use heddle_mir::{Bank, Block, Function, RegClass};

/// Steps of one loop at most, in S and in lanes: each is a register that lives through the loop.
const MOST: [u32; 2] = [24, 4];

/// Blocks that run in a smaller part of the iterations are left alone. By the cycles of 304 launches: of the 21 that take others
/// the geometric mean is 0.994, the best 0.975, the worst 1.011.
const OFTEN: f32 = 0.25;

/// How deep expressions are followed.
const DEPTH: u32 = 12;

/// Reduces the strength of affine expressions.
pub fn run(function: &mut Function, context: &mut Context) -> Result<(), CodegenError> {
    let cfg = Cfg::new(function);
    let loops = Loops::new(&cfg);
    if loops.loops.is_empty() {
        return Ok(());
    }
    // What selection leaves behind unread (upper halves of wide indices) would count as a use.
    cleanup::eliminate_dead_code(function);
    let mut reducer = Reducer::new(function, &cfg, &loops, !context.options.no_marks);
    for index in (0..loops.loops.len() as u32).rev() {
        reducer.reduce(function, index);
    }
    let edits = reducer.edits;
    let reduced = !edits.phis.is_empty() || !edits.tests.is_empty();
    if reduced {
        edits.apply(function);
        // What led to values that step now is read by nothing.
        cleanup::eliminate_dead_code(function);
    }
    let scaled = scale::run(function, &cfg, &loops, !context.options.no_marks);
    if scaled {
        // The sums that were scaled are read by nothing; they would hide what the new ones have in common.
        cleanup::eliminate_dead_code(function);
    }
    if !scaled && !reduced {
        return Ok(());
    }
    share::run(function, context)?;
    hoist::run(function, context)
}

/// What is to be changed.
#[derive(Default)]
struct Edits {
    phis: FxHashMap<Block, Vec<Inst>>,
    /// At the ends of preheaders and latches.
    ends: FxHashMap<Block, Vec<Inst>>,
    /// Registers whose definitions phis replace.
    removed: FxHashSet<VReg>,
    /// Definitions of the new registers.
    made: FxHashMap<VReg, Inst>,
    /// Comparisons that take a variable's next value, with their blocks.
    tests: Vec<(Block, Test)>,
}

impl Edits {
    fn apply(self, function: &mut Function) {
        let Edits { phis, ends, removed, tests, .. } = self;
        for (block, test) in tests {
            test.apply(&mut function.blocks[block].insts);
        }
        for &block in &function.layout.clone() {
            let insts = &mut function.blocks[block].insts;
            insts.retain(|i| i.op == Op::Phi || i.dst.as_virt().is_none_or(|(r, _)| !removed.contains(&r)));
            if let Some(new) = phis.get(&block) {
                insts.splice(0..0, new.iter().cloned());
            }
            if let Some(new) = ends.get(&block) {
                let end = insts.iter().rposition(|i| !i.info().flags.terminator).map_or(0, |p| p + 1);
                insts.splice(end..end, new.iter().cloned());
            }
        }
    }
}

/// A comparison of a variable's next value.
struct Test {
    /// Its result.
    result: VReg,
    /// Which source is the variable.
    source: usize,
    /// The variable's next value.
    next: VReg,
    /// What it is compared with.
    limit: Operand,
}

impl Test {
    /// Rewrites the comparison; the addition comes before it if it is in the same block.
    fn apply(&self, insts: &mut Vec<Inst>) {
        let place = |insts: &[Inst], r| insts.iter().position(|i| i.dst == Operand::virt(r));
        let Some(mut at) = place(insts, self.result) else { return };
        if let Some(add) = place(insts, self.next).filter(|add| *add > at) {
            let add = insts.remove(add);
            insts.insert(at, add);
            at += 1;
        }
        insts[at].srcs[self.source] = Operand::virt(self.next);
        insts[at].srcs[1 - self.source] = self.limit;
    }
}

/// A basic induction variable: its value on entry and what it grows by in an iteration.
struct Variable {
    initial: Operand,
    steps: SmallVec<[Operand; 2]>,
    /// The register that takes its next value, and where.
    next: Option<(VReg, Block)>,
}

impl Variable {
    /// Low bits that it never has.
    fn zeros(&self) -> u32 {
        let all = self.steps.iter().chain([&self.initial]);
        all.fold(u32::MAX, |zeros, o| match o {
            Operand::Immediate(n) => zeros & !(u32::MAX << n.trailing_zeros().min(31)),
            _ => 0,
        })
    }
}

/// How an operand depends on the induction variables of a loop.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Degree {
    Invariant,
    Affine,
}

struct Reducer<'a> {
    cfg: &'a Cfg,
    loops: &'a Loops,
    dominators: Dominators,
    preheaders: Preheaders,
    definitions: Definitions,
    /// The block that defines each register.
    home: SecondaryMap<VReg, Option<Block>>,
    uses: SecondaryMap<VReg, u32>,
    /// Registers that something reads which is no affine operation.
    feeds: SecondaryMap<VReg, bool>,
    /// Registers that a load reads.
    loads: SecondaryMap<VReg, bool>,
    /// Steps may be scalar registers.
    scalarize: bool,
    edits: Edits,
}

/// The loop that is worked on.
struct Current {
    index: u32,
    preheader: Block,
    variables: FxHashMap<VReg, Variable>,
    /// Copies of the loop's instructions with the variables' first values.
    first: FxHashMap<VReg, Operand>,
    loc: SourceLoc,
}

/// Whether an instruction is one of those that expressions are made of.
fn is_linear(inst: &Inst) -> bool {
    matches!(inst.op, Op::Add | Op::Sub | Op::Mul | Op::Shl | Op::Mad)
        && inst.ty == Type::B32
        && inst.guard.is_none()
        && !inst.mods.saturate
}

impl<'a> Reducer<'a> {
    fn new(function: &Function, cfg: &'a Cfg, loops: &'a Loops, scalarize: bool) -> Self {
        let registers = function.vregs.len();
        let mut home = SecondaryMap::with_capacity(registers);
        let mut uses: SecondaryMap<VReg, u32> = SecondaryMap::with_capacity(registers);
        let mut feeds: SecondaryMap<VReg, bool> = SecondaryMap::with_capacity(registers);
        let mut loads: SecondaryMap<VReg, bool> = SecondaryMap::with_capacity(registers);
        for &block in &cfg.rpo {
            for inst in &function.blocks[block].insts {
                if let Some((r, _)) = inst.dst.as_virt() {
                    home[r] = Some(block);
                }
                let other = !is_linear(inst);
                for (r, _) in inst.srcs.iter().filter_map(|s| s.as_virt()) {
                    uses[r] += 1;
                    feeds[r] |= other;
                    loads[r] |= inst.info().flags.load;
                }
            }
        }
        Reducer {
            cfg,
            loops,
            dominators: cfg.dominators(),
            preheaders: Preheaders::new(cfg, loops),
            definitions: Definitions::new(function),
            home,
            uses,
            feeds,
            loads,
            scalarize,
            edits: Edits::default(),
        }
    }

    fn reduce(&mut self, f: &mut Function, index: u32) {
        let place = &self.preheaders.of[index as usize];
        let (Some(preheader), [latch]) = (place.preheader, &place.latches[..]) else { return };
        let (latch, header) = (*latch, self.loops.loops[index as usize].header);
        let variables = self.variables(f, index, preheader, latch);
        if variables.is_empty() {
            return;
        }
        let mut current = Current { index, preheader, variables, first: FxHashMap::default(), loc: SourceLoc::default() };
        self.subtract(f, &current);
        self.compare_next(f, &mut current);
        let mut left = MOST;
        let mut blocks = self.loops.loops[index as usize].blocks.clone();
        let is_often = |b: Block| f.blocks[b].frequency >= OFTEN * f.blocks[latch].frequency;
        blocks.retain(|b| self.loops.innermost[*b] == Some(index) && (self.dominators.dominates(*b, latch) || is_often(*b)));
        blocks.sort_unstable();
        for block in blocks {
            for i in 0..f.blocks[block].insts.len() {
                let inst = &f.blocks[block].insts[i];
                let Some((dst, 0)) = inst.dst.as_virt() else { continue };
                let kind = usize::from(f.vregs[dst].bank == Bank::Vector);
                let worth = is_linear(inst)
                    && self.feeds[dst]
                    && left[kind] > 0
                    && self.degree(f, &current, Operand::virt(dst), DEPTH) == Some(Degree::Affine)
                    && !self.steps_already(f, &current, dst, latch)
                    && (self.alone(f, index, dst, DEPTH) >= 2 || self.delays_load(f, dst, inst));
                if !worth {
                    continue;
                }
                current.loc = inst.loc;
                let most_for_step = self.most_for_step(f, &current, dst);
                if self.replace(f, &mut current, header, latch, dst, most_for_step) {
                    left[kind] -= 1;
                }
            }
        }
    }

    /// The basic induction variables of a loop.
    fn variables(&self, f: &Function, index: u32, preheader: Block, latch: Block) -> FxHashMap<VReg, Variable> {
        let header = self.loops.loops[index as usize].header;
        let mut result = FxHashMap::default();
        for phi in f.blocks[header].insts.iter().take_while(|i| i.op == Op::Phi && i.srcs.len() == 2) {
            let Some((dst, 0)) = phi.dst.as_virt() else { continue };
            let input = |from: Block| phi.blocks().iter().position(|b| *b == from).map(|p| phi.srcs[p]);
            let (Some(initial), Some(mut next)) = (input(preheader), input(latch)) else { continue };
            if phi.ty != Type::B32 {
                continue;
            }
            let mut steps: SmallVec<[Operand; 2]> = SmallVec::new();
            while next != Operand::virt(dst) && steps.len() < 8 {
                let Some(sum) = self.definitions.of(f, next).filter(|i| is_linear(i) && i.op == Op::Add) else { break };
                let Some(step) = (0..2).find(|i| self.outside(index, sum.srcs[*i])) else { break };
                steps.push(sum.srcs[step]);
                next = sum.srcs[1 - step];
            }
            if next == Operand::virt(dst) && !steps.is_empty() {
                let next = input(latch).and_then(Operand::as_virt).and_then(|(r, _)| Some((r, self.home[r]?)));
                result.insert(dst, Variable { initial, steps, next });
            }
        }
        result
    }

    /// Makes differences of what LLVM makes of them: `c - x` is `c ^ x` where `x` has no bit that `c` has not.
    fn subtract(&self, f: &mut Function, current: &Current) {
        for block in &self.loops.loops[current.index as usize].blocks {
            for inst in &mut f.blocks[*block].insts {
                let (Op::Xor, Type::B32, [x, c @ Operand::Immediate(bits)]) = (inst.op, inst.ty, &inst.srcs[..]) else {
                    continue;
                };
                let variable = x.as_virt().and_then(|(r, _)| current.variables.get(&r));
                if variable.is_some_and(|v| !bits & !v.zeros() == 0) {
                    (inst.op, inst.srcs) = (Op::Sub, [*c, *x].into_iter().collect());
                }
            }
        }
    }

    /// Tests of variables for equality take the next value.
    fn compare_next(&mut self, f: &mut Function, current: &mut Current) {
        for block in self.loops.loops[current.index as usize].blocks.clone() {
            for i in 0..f.blocks[block].insts.len() {
                let inst = &f.blocks[block].insts[i];
                let equality = inst.op == Op::Cmp && inst.ty == Type::B32 && inst.guard.is_none();
                let Some((result, 0)) = inst.dst.as_virt().filter(|_| equality) else { continue };
                let Some((source, next, step)) = (0..2).find_map(|k| {
                    let (variable, 0) = inst.srcs[k].as_virt()? else { return None };
                    let Variable { steps, next, .. } = current.variables.get(&variable)?;
                    let ((next, at), [step]) = ((*next)?, &steps[..]) else { return None };
                    let there = at == block || self.dominators.dominates(at, block);
                    (there && self.outside(current.index, inst.srcs[1 - k])).then_some((k, next, *step))
                }) else {
                    continue;
                };
                let limit = inst.srcs[1 - source];
                current.loc = inst.loc;
                if let Some(limit) = self.uniform(f, current, Op::Add, &[limit, step]) {
                    self.edits.tests.push((block, Test { result, source, next, limit }));
                }
            }
        }
    }

    /// Whether an operand is defined outside a loop.
    fn outside(&self, index: u32, op: Operand) -> bool {
        match op.as_virt() {
            Some((r, _)) => self.home[r].is_some_and(|b| !self.loops.contains(index, b)),
            None => !matches!(op, Operand::Reg(Reg::Physical(_))),
        }
    }

    /// The definition of a register, if expressions may go through it.
    fn linear<'f>(&'f self, f: &'f Function, op: Operand) -> Option<&'f Inst> {
        let (reg, 0) = op.as_virt()? else { return None };
        if self.edits.removed.contains(&reg) {
            return None;
        }
        let inst = self.edits.made.get(&reg).or_else(|| self.definitions.of(f, op))?;
        is_linear(inst).then_some(inst)
    }

    fn degree(&self, f: &Function, current: &Current, op: Operand, depth: u32) -> Option<Degree> {
        if self.outside(current.index, op) {
            return Some(Degree::Invariant);
        }
        if let Some((r, 0)) = op.as_virt()
            && current.variables.contains_key(&r)
        {
            return Some(Degree::Affine);
        }
        let inst = self.linear(f, op).filter(|_| depth > 0)?;
        let of = |i: usize| self.degree(f, current, inst.srcs[i], depth - 1);
        use Degree::*;
        let join = |a, b| if a == Affine || b == Affine { Affine } else { Invariant };
        let product = |a, b| if (a, b) == (Affine, Affine) { None } else { Some(join(a, b)) };
        Some(match inst.op {
            Op::Add | Op::Sub => join(of(0)?, of(1)?),
            Op::Mul => product(of(0)?, of(1)?)?,
            Op::Mad => join(product(of(0)?, of(1)?)?, of(2)?),
            _ => {
                let Operand::Immediate(_) = inst.srcs[1] else { return None };
                of(0)?
            }
        })
    }

    /// Whether a register is a variable's own next value.
    fn steps_already(&self, f: &Function, current: &Current, dst: VReg, latch: Block) -> bool {
        let header = self.loops.loops[current.index as usize].header;
        let phis = f.blocks[header].insts.iter().take_while(|i| i.op == Op::Phi);
        let mut next = phis.filter(|p| p.dst.as_virt().is_some_and(|(r, _)| current.variables.contains_key(&r)));
        let takes = |p: &Inst| p.srcs.iter().zip(p.blocks()).any(|(s, b)| *b == latch && *s == Operand::virt(dst));
        next.any(takes)
    }

    /// How many instructions of the loop are there for a value alone.
    fn alone(&self, f: &Function, index: u32, reg: VReg, depth: u32) -> u32 {
        let Some(inst) = self.linear(f, Operand::virt(reg)).filter(|_| depth > 0) else { return 0 };
        let only = |r: &VReg| self.uses[*r] == 1 && self.home[*r].is_some_and(|b| self.loops.innermost[b] == Some(index));
        let inner = inst.srcs.iter().filter_map(|s| s.as_virt()).map(|(r, _)| r).filter(only);
        1 + inner.map(|r| self.alone(f, index, r, depth - 1)).sum::<u32>()
    }

    /// How many instructions may compute a value's step. Where a variable steps by a number that the launch has, such as the size of a
    /// work-group, work-items share the iterations: there are few for each of them to make up for more than one, unless more than one
    /// is saved.
    fn most_for_step(&self, f: &Function, current: &Current, dst: VReg) -> usize {
        let shared = self.steps_by_launch(f, current, Operand::virt(dst), DEPTH);
        if shared && self.alone(f, current.index, dst, DEPTH) < 3 { 1 } else { usize::MAX }
    }

    /// Whether an affine expression has a variable in it that steps by anything but an immediate.
    fn steps_by_launch(&self, f: &Function, current: &Current, op: Operand, depth: u32) -> bool {
        if self.outside(current.index, op) {
            return false;
        }
        let variable = op.as_virt().and_then(|(r, _)| current.variables.get(&r));
        match (variable, self.linear(f, op).filter(|_| depth > 0)) {
            (Some(variable), _) => variable.steps.iter().any(|s| !matches!(s, Operand::Immediate(_))),
            (None, Some(inst)) => inst.srcs.iter().any(|s| self.steps_by_launch(f, current, *s, depth - 1)),
            (None, None) => false,
        }
    }

    /// Whether a load waits for a scalar product or shift.
    fn delays_load(&self, f: &Function, dst: VReg, inst: &Inst) -> bool {
        f.vregs[dst].bank == Bank::Scalar && self.loads[dst] && matches!(inst.op, Op::Mul | Op::Shl | Op::Mad)
    }

    /// Makes a register a phi that steps; false if its step is not the same in all lanes, or takes more instructions than it may.
    fn replace(&mut self, f: &mut Function, current: &mut Current, header: Block, latch: Block, dst: VReg, most: usize) -> bool {
        let made = |s: &Self, current: &Current| s.edits.ends.get(&current.preheader).map_or(0, Vec::len);
        let ends = made(self, current);
        let step = self.difference(f, current, Operand::virt(dst)).filter(|s| self.is_step(f, *s));
        let Some(step) = step.filter(|_| made(self, current) <= ends.saturating_add(most)) else {
            // What was made for it goes with dead code; nothing else may use it.
            if let Some(list) = self.edits.ends.get_mut(&current.preheader) {
                for inst in list.drain(ends..) {
                    let made = inst.dst.as_virt().map(|(r, _)| r);
                    made.iter().for_each(|r| drop(self.edits.made.remove(r)));
                    current.first.retain(|_, op| op.as_virt().map(|(r, _)| r) != made);
                }
            }
            return false;
        };
        let initial = self.first_value(f, current, Operand::virt(dst));
        let class = f.vregs[dst];
        let next = f.add_vreg(class);
        let mut add = Inst::new(Op::Add, Type::B32, Operand::virt(next), [Operand::virt(dst), step]);
        add.loc = current.loc;
        self.home[next] = Some(latch);
        self.edits.ends.entry(latch).or_default().push(add);
        let mut phi = Inst::new(Op::Phi, Type::B32, Operand::virt(dst), []);
        let mut blocks: SmallVec<[Block; 2]> = SmallVec::new();
        for pred in &self.cfg.edges[header].preds {
            phi.srcs.push(if *pred == latch { Operand::virt(next) } else { initial });
            blocks.push(*pred);
        }
        phi.targets = Targets::Blocks(blocks);
        phi.loc = current.loc;
        self.edits.phis.entry(header).or_default().push(phi);
        self.edits.removed.insert(dst);
        self.home[dst] = Some(header);
        current.variables.insert(dst, Variable { initial, steps: [step].into_iter().collect(), next: None });
        true
    }

    /// Whether an operand is the same in all lanes.
    fn is_step(&self, f: &Function, op: Operand) -> bool {
        match op {
            Operand::Immediate(_) => true,
            Operand::Constant(_) => self.scalarize,
            Operand::Special(s) => s.is_uniform() && self.scalarize,
            Operand::Reg(_) => op.as_virt().is_some_and(|(r, _)| f.vregs[r].bank == Bank::Scalar),
            Operand::None => false,
        }
    }

    /// An operand's value in the first iteration, computed in the preheader.
    fn first_value(&mut self, f: &mut Function, current: &mut Current, op: Operand) -> Operand {
        if self.outside(current.index, op) {
            return op;
        }
        let Some((reg, _)) = op.as_virt() else { return op };
        if let Some(variable) = current.variables.get(&reg) {
            return variable.initial;
        }
        if let Some(known) = current.first.get(&reg) {
            return *known;
        }
        let Some(inst) = self.linear(f, op).cloned() else { return op };
        let srcs: SmallVec<[Operand; 3]> = inst.srcs.iter().map(|s| self.first_value(f, current, *s)).collect();
        let value = self.build(f, current, inst.op, f.vregs[reg], &srcs);
        current.first.insert(reg, value);
        value
    }

    /// By how much an operand grows in an iteration; `None` if lanes differ in it.
    fn difference(&mut self, f: &mut Function, current: &mut Current, op: Operand) -> Option<Operand> {
        const ZERO: Operand = Operand::Immediate(0);
        if self.outside(current.index, op) {
            return Some(ZERO);
        }
        let (reg, _) = op.as_virt()?;
        if let Some(variable) = current.variables.get(&reg) {
            let steps = variable.steps.clone();
            return steps.into_iter().try_fold(ZERO, |sum, step| self.uniform(f, current, Op::Add, &[sum, step]));
        }
        let inst = self.linear(f, op)?.clone();
        let source = |i: usize| inst.srcs.get(i).copied().unwrap_or_default();
        let (a, b) = (self.difference(f, current, source(0))?, self.difference(f, current, source(1))?);
        match inst.op {
            Op::Add | Op::Sub => self.uniform(f, current, inst.op, &[a, b]),
            Op::Shl => self.uniform(f, current, Op::Shl, &[a, source(1)]),
            _ => {
                let c = if inst.op == Op::Mad { self.difference(f, current, source(2))? } else { ZERO };
                let (grows, by) = if a == ZERO { (b, source(0)) } else { (a, source(1)) };
                if grows == ZERO {
                    return Some(c);
                }
                let factor = self.first_value(f, current, by);
                let product = self.uniform(f, current, Op::Mul, &[grows, factor])?;
                self.uniform(f, current, Op::Add, &[product, c])
            }
        }
    }

    /// An operation of operands that are the same in all lanes.
    fn uniform(&mut self, f: &mut Function, current: &mut Current, op: Op, srcs: &[Operand]) -> Option<Operand> {
        let fits = srcs.iter().all(|s| self.is_step(f, *s));
        fits.then(|| self.build(f, current, op, RegClass::scalar(1), srcs))
    }

    /// An operation in the preheader, with the simplest constants folded.
    fn build(&mut self, f: &mut Function, current: &Current, op: Op, class: RegClass, srcs: &[Operand]) -> Operand {
        use Operand::Immediate as I;
        let plain = |o: Operand| if o.is_some() { o } else { I(0) };
        let (a, b, c) = (plain(srcs[0]), plain(srcs[1]), srcs.get(2).map_or(I(0), |c| plain(*c)));
        match (op, a, b) {
            (Op::Add, I(x), I(y)) => return I(x.wrapping_add(y)),
            (Op::Sub, I(x), I(y)) => return I(x.wrapping_sub(y)),
            (Op::Mul, I(x), I(y)) => return I(x.wrapping_mul(y)),
            (Op::Shl, I(x), I(y)) => return I(x.wrapping_shl(y)),
            (Op::Add, I(0), x) | (Op::Add | Op::Sub | Op::Shl, x, I(0)) => return x,
            (Op::Mul, _, I(0)) | (Op::Mul, I(0), _) => return I(0),
            (Op::Mul, x, I(1)) | (Op::Mul, I(1), x) => return x,
            (Op::Mul, x, I(y)) | (Op::Mul, I(y), x) if y.is_power_of_two() => {
                return self.build(f, current, Op::Shl, class, &[x, I(y.trailing_zeros())]);
            }
            // At most one immediate.
            (Op::Mad, ..) if matches!(c, I(_)) || matches!((a, b), (I(_), _) | (_, I(0 | 1))) => {
                let product = self.build(f, current, Op::Mul, class, &[a, b]);
                return self.build(f, current, Op::Add, class, &[product, c]);
            }
            _ => {}
        }
        let srcs: SmallVec<[Operand; 3]> =
            if op == Op::Mad { [a, b, c].into_iter().collect() } else { [a, b].into_iter().collect() };
        let dst = f.add_vreg(class);
        let mut inst = Inst::new(op, Type::B32, Operand::virt(dst), srcs);
        inst.loc = current.loc;
        self.home[dst] = Some(current.preheader);
        self.edits.made.insert(dst, inst.clone());
        self.edits.ends.entry(current.preheader).or_default().push(inst);
        Operand::virt(dst)
    }
}
