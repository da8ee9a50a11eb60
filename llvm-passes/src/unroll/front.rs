//! Copies in front of loops that LLVM does not unroll well.
//!
//! # Problem
//! How often a loop goes round whose step only a launch knows (a grid-stride loop, `for (i = id; i < n; i += size)`) says a
//! division, and each lane's number may be another: a division costs more than short loops take, and behind it each lane has a
//! remainder of its own. Loops that are left in their middle, too (`if (found) break;`), LLVM takes for unpredictable; each of
//! their iterations counts and compares.
//!
//! # Algorithm
//! In front of a loop that goes round as long as a counter has not come to a uniform bound in uniform steps stands another one
//! of several copies without this comparison, in which the lanes of a warp stay together: they go round as long as all of them
//! have as many iterations left as there are copies. A lane has them while its counter is below `bound - (copies - 1) * step`,
//! which is computed once; where that or a counter could wrap around, the copies are not entered. Where lanes begin at ids below
//! the step, what the counter has grown by says it for all of them, elsewhere they vote. What is left over is done by the loop
//! as it was. Lanes leave the copies together, but for other ways out of the loop, so what the counter has grown by until then
//! is one number for all of them, from which the addresses behind are as plain as before. A counter that steps by one until it
//! is the bound has a multiple of the copies before it.
//!
//! # Reference
//! M. Harris, "CUDA Pro Tip: Write Flexible Kernels with Grid-Stride Loops" (2013), for the loops. The bound less some steps is
//! that of LLVM's inductive range check elimination (`InductiveRangeCheckElimination`).
//!
//! # Limits
//! The counter is an integer of 32 or 64 bits and compared as it is after its step. Loops with barriers stay as they are. In the
//! copies a debugger does not know the source's variables.
//!
//! Ways out that bring the same values are one condition to LLVM, which is no `break`; such loops stay as they are.
//!
//! May touch: the loops and what stands before them. Reads simplified and LCSSA form, which LLVM has to restore.

use inkwell::llvm_sys::LLVMIntPredicate::{self, *};
use inkwell::llvm_sys::LLVMOpcode::*;
use inkwell::module::Module;
use rustc_hash::FxHashMap;

use super::shape;
use crate::builtins::{self, Builtin, Query};
use crate::facts::Facts;
use crate::ir::build::{self, Builder, constant, context_of};
use crate::ir::cfg::{Cfg, Index, Loop};
use crate::ir::{BlockRef, Value, address_space, function, metadata};
use crate::relative_id;
use crate::uniformity::{self, Uniformity};

/// Copies at most: loops of such steps are mostly short, and what is left in the middle gains little from more.
const MOST_COPIES: usize = 4;

/// Puts copies in front of such loops, each of which may become so much code; whether there is one.
pub fn run(module: &Module, facts: Facts, size: usize, most_loops: usize) -> bool {
    let mut any = false;
    for function in function::bodies(module) {
        let cfg = Cfg::new(function);
        // What LLVM is to leave alone is not in the form that this needs.
        if cfg.loops.is_empty() || cfg.loops.len() > most_loops || cfg.left_loop().is_some() {
            continue;
        }
        let uniformity = uniformity::analyze(function, facts);
        let apart: Vec<usize> = uniformity.desynchronised_loops().collect();
        let loops = uniformity.cfg().loops.iter().enumerate();
        let candidates = loops.filter_map(|(i, l)| Candidate::of(&uniformity, l, apart.contains(&i), size));
        for candidate in candidates.collect::<Vec<_>>() {
            candidate.split(module);
            any = true;
        }
    }
    any
}

/// A loop that is to have copies.
struct Candidate {
    /// Its blocks, the header first, each behind those that lead to it.
    blocks: Vec<BlockRef>,
    preheader: BlockRef,
    latch: BlockRef,
    /// Where the loop goes when it has counted to its end.
    exit: BlockRef,
    /// Its other ways out: from where to where.
    others: Vec<(BlockRef, BlockRef)>,
    counter: Counter,
    starts: Starts,
    copies: usize,
}

/// Where the lanes of a warp begin to count.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Starts {
    /// At one number, so that all of them leave the loop together as it is.
    Together,
    /// Below the step.
    BelowStep,
    /// Below the step in launches without an offset in this dimension.
    BelowStepWithoutOffset(u32),
    Anywhere,
}

/// What ends a loop: it goes on while the counter with its step is below the bound.
#[derive(Clone, Copy)]
struct Counter {
    phi: Value,
    next: Value,
    step: Value,
    bound: Value,
    /// Below, not above, or another.
    order: LLVMIntPredicate,
}

/// The blocks between a loop and what stands before it.
struct NewBlocks {
    /// Where the copies begin.
    copies: BlockRef,
    /// Where they end.
    again: BlockRef,
    /// Behind them.
    left: BlockRef,
    /// Before the loop as it was.
    rest: BlockRef,
}

/// Where the counter begins, what it steps by, and up to where the copies are entered once more.
#[derive(Clone, Copy)]
struct Limits {
    start: Value,
    step: Value,
    last: Value,
}

/// What there is behind the copies.
struct Behind {
    /// What stands for the loop's values.
    values: FxHashMap<Value, Value>,
    /// What the counter has come to.
    reached: Value,
    /// What it has grown by, if that is a number of its own.
    grown: Option<Value>,
}

impl Starts {
    /// Whether only a comparison of each lane's own counter says how many iterations it has left.
    fn are_distinct(self) -> bool {
        matches!(self, Starts::Together | Starts::Anywhere)
    }

    /// For lanes that begin at ids: local ids are below local sizes, and so on.
    fn of(function: Value, start: Value, step: Value) -> Starts {
        use Query::{EnqueuedLocalSize, GlobalId, GlobalSize, LocalId, LocalSize, NumGroups, RelativeId};
        let mut factors = Vec::new();
        if !product(step, &mut factors, MOST_FACTORS) {
            return Starts::Anywhere;
        }
        let has = |d: u32, sizes: &[Query]| factors.iter().any(|(q, e)| *e == d && sizes.contains(q));
        let whole = function::uniform_work_groups(function);
        let group = |d, own| if own || whole { has(d, &[LocalSize, EnqueuedLocalSize]) } else { has(d, &[EnqueuedLocalSize]) };
        let launch = |d, own| has(d, &[GlobalSize]) && whole || group(d, own) && has(d, &[NumGroups]);
        let cut =
            |v: Value| if v.is_instruction() && matches!(v.opcode(), LLVMTrunc | LLVMZExt | LLVMSExt) { v.operand(0) } else { v };
        match relative_id::query(start) {
            Some((LocalId, d)) if group(d, true) || has(d, &[GlobalSize]) => Starts::BelowStep,
            Some((RelativeId, d)) if launch(d, true) => Starts::BelowStep,
            Some((GlobalId, d)) if has(d, &[GlobalSize]) || whole && launch(d, false) => Starts::BelowStepWithoutOffset(d),
            _ => match relative_id::made_by_hand(function, cut(start)) {
                Some((d, own)) if launch(d, own) => Starts::BelowStep,
                _ => Starts::Anywhere,
            },
        }
    }
}

/// More factors and extensions than a step has that is worth looking at.
const MOST_FACTORS: u32 = 8;

/// The queries of sizes that a number is the product of; whether it is one that has 32 bits, as sizes of launches have. Looks so
/// deep.
fn product(v: Value, factors: &mut Vec<(Query, u32)>, depth: u32) -> bool {
    use Query::{EnqueuedLocalSize, LocalSize, NumGroups};
    let size_of_group = |f: &(Query, u32)| matches!(f.0, LocalSize | EnqueuedLocalSize);
    // A narrower number is not the size.
    if depth == 0 || v.integer_bits() < 32 {
        return false;
    }
    if let Some(factor) = relative_id::query(v) {
        factors.push(factor);
        return match factors[..] {
            [_] => true,
            [a, b] => a.1 == b.1 && (size_of_group(&a) && b.0 == NumGroups || size_of_group(&b) && a.0 == NumGroups),
            _ => false,
        };
    }
    v.is_instruction()
        && match v.opcode() {
            LLVMTrunc | LLVMZExt | LLVMSExt => product(v.operand(0), factors, depth - 1),
            LLVMMul => product(v.operand(0), factors, depth - 1) && product(v.operand(1), factors, depth - 1),
            _ => false,
        }
}

impl Candidate {
    fn of(uniformity: &Uniformity, l: &Loop, desynchronised: bool, size: usize) -> Option<Candidate> {
        let cfg = uniformity.cfg();
        let latch = shape::counting_latch(cfg, l).filter(|_| shape::is_innermost(cfg, l))?;
        let counter = Counter::of(cfg, l, latch)?;
        if !uniformity.is_uniform(counter.step) || !uniformity.is_uniform(counter.bound) {
            return None;
        }
        let inside = |b: &Index| l.members.contains(*b);
        let mut before = cfg.preds[l.header].iter().copied().filter(|b| !inside(b));
        let preheader = before.next().filter(|b| before.next().is_none() && cfg.succs[*b].len() == 1)?;
        let exit = cfg.succs[latch].iter().copied().find(|b| !inside(b))?;
        let ways = |from: Index| cfg.succs[from].iter().copied().filter(|to| !inside(to)).map(move |to| (from, to));
        let others: Vec<(Index, Index)> = l.members.ones().filter(|b| *b != latch).flat_map(ways).collect();
        let end = cfg.blocks[latch].terminator();
        if metadata::loop_hints(end).iter().any(|hint| hint.starts_with("llvm.loop.unroll")) {
            return None;
        }
        let blocks: Vec<BlockRef> = cfg.rpo.iter().filter(|b| inside(b)).map(|b| cfg.blocks[*b]).collect();
        let start = counter.phi.incoming().find(|(_, from)| *from == cfg.blocks[preheader])?.0;
        let starts = match uniformity.branch_is_divergent(latch) {
            true => Starts::of(cfg.blocks[l.header].function(), start, counter.step),
            false => Starts::Together,
        };
        let is_nested = cfg.loops.iter().any(|other| other.header != l.header && other.members.contains(l.header));
        let waits = |i: Value| i.opcode() == LLVMLoad && i.operand(0).address_space() != address_space::LOCAL;
        let mut code = blocks.iter().flat_map(|b| b.instructions());
        let gains = match counter.step.is_constant() {
            // Others LLVM unrolls.
            true => !others.is_empty() && starts == Starts::Together,
            false => !(counter.bound.is_constant() || starts == Starts::Anywhere && is_nested) && code.any(waits),
        };
        // A phi has a value for each way by which a switch comes. Where lanes leave in the middle, those that are left meet
        // again at the end of an iteration at the earliest, and not at that of a copy.
        let is_plain = |from: &Index| cfg.blocks[*from].terminator().opcode() == LLVMBr;
        let meet = || !desynchronised && !blocks.iter().flat_map(|b| b.instructions()).any(depends_on_lanes);
        if !gains || !others.iter().all(|(from, _)| is_plain(from)) || !others.is_empty() && !meet() {
            return None;
        }
        let copies = shape::copies(shape::size(cfg, l), size).min(MOST_COPIES);
        let copied = blocks.iter().flat_map(|b| b.instructions()).all(may_be_copied);
        (copies > 1 && copied).then(|| Candidate {
            blocks,
            preheader: cfg.blocks[preheader],
            latch: cfg.blocks[latch],
            exit: cfg.blocks[exit],
            others: others.iter().map(|(from, to)| (cfg.blocks[*from], cfg.blocks[*to])).collect(),
            counter,
            starts,
            copies,
        })
    }

    /// Puts the copies before the loop.
    fn split(&self, module: &Module) {
        let context = context_of(module);
        let Counter { phi: counter, step, bound, order, .. } = self.counter;
        let function = self.blocks[0].function();
        let append = |name| BlockRef(build::append_block(context, function.0, name));
        let (copies, rest) = (append(c"copies"), append(c"rest"));
        let new = NewBlocks { copies, rest, again: append(c"copies.latch"), left: append(c"copies.exit") };
        let b = Builder::new(context);
        let end = self.preheader.terminator();
        b.at(end);
        b.locate(self.latch.terminator());

        // Before the loop: are there so many iterations? Where the program may leave before it compares, it may do so with numbers
        // that nobody may look at.
        let looked_at = |v: Value| if self.others.is_empty() || v.is_constant() { v } else { b.freeze(v) };
        let (start, step, bound) = (looked_at(self.first(counter)), looked_at(step), looked_at(bound));
        let (enter, last) = self.limits(module, &b, start, step, bound);
        b.branch(enter, new.copies, new.rest);
        build::erase(end);

        let behind = self.add_copies(module, &b, &new, Limits { start, step, last });

        // Is anything left?
        b.at_end(new.left);
        let more = b.compare(order, behind.reached, bound);
        b.branch(more, new.rest, self.exit);
        each_phi(self.exit, self.latch, |phi, value| build::add_incoming(phi, mapped(&behind.values, value), new.left));
        self.begin_rest(&b, &new, start, &behind);
    }

    /// The phis of the loop.
    fn phis(&self) -> Vec<Value> {
        self.blocks[0].instructions().take_while(|i| i.opcode() == LLVMPHI).collect()
    }

    /// The value with which a phi of the loop begins.
    fn first(&self, phi: Value) -> Value {
        phi.incoming().find(|(_, from)| *from == self.preheader).map_or(phi, |(v, _)| v)
    }

    /// The value that a phi of the loop has in the next iteration.
    fn around(&self, phi: Value) -> Value {
        phi.incoming().find(|(_, from)| *from == self.latch).map_or(phi, |(v, _)| v)
    }

    /// The copies, with what the counter has grown by as a number of its own if the counter varies, and the way back to them.
    fn add_copies(&self, module: &Module, b: &Builder, new: &NewBlocks, limits: Limits) -> Behind {
        let Counter { phi: counter, next, order, .. } = self.counter;
        let number = |n: u64| constant(context_of(module), counter.integer_bits(), n);
        let function = self.blocks[0].function();
        let phis = self.phis();
        b.at_end(new.copies);
        let entered: Vec<Value> =
            phis.iter().map(|phi| b.phi(new.copies, phi.ty(), &[(self.first(*phi), self.preheader)])).collect();
        let varies = self.starts != Starts::Together;
        let grown = varies.then(|| b.phi(new.copies, counter.ty(), &[(number(0), self.preheader)]));
        b.at_end(new.copies);
        let mut values: FxHashMap<Value, Value> = phis.iter().copied().zip(entered.iter().copied()).collect();
        if let Some(grown) = grown {
            values.insert(counter, b.binary(LLVMAdd, limits.start, grown));
        }
        for copy in 0..self.copies {
            let copied = self.copy(b, function, &values);
            b.jump(copied.blocks[&self.blocks[0]]);
            let end = copied.blocks[&self.latch];
            for (from, to) in &self.others {
                each_phi(*to, *from, |phi, value| build::add_incoming(phi, mapped(&copied.values, value), copied.blocks[from]));
            }
            values = copied.values;
            if copy + 1 < self.copies {
                let carried: Vec<Value> = phis.iter().map(|phi| mapped(&values, self.around(*phi))).collect();
                values.extend(phis.iter().copied().zip(carried));
            }
            b.at_end(end);
        }
        b.jump(new.again);

        // All of them once more?
        b.at_end(new.again);
        let grown_next = grown.map(|grown| {
            let steps = b.binary(LLVMMul, limits.step, number(self.copies as u64));
            b.binary(LLVMAdd, grown, steps)
        });
        if let Some(grown) = grown_next {
            values.insert(next, b.binary(LLVMAdd, limits.start, grown));
        }
        let reached = mapped(&values, next);
        let stay = match (self.starts, grown_next) {
            (Starts::BelowStep | Starts::BelowStepWithoutOffset(_), Some(grown)) => {
                b.compare(if is_signed(order) { LLVMIntSLE } else { LLVMIntULE }, grown, limits.last)
            }
            _ => self.vote(module, b, b.compare(order, reached, limits.last)),
        };
        let end = b.branch(stay, new.copies, new.left);
        // Nor do they become more if this comes to them again.
        let writer = metadata::Writer::of_function(function);
        writer.do_not_unroll(end);
        writer.do_not_unroll(self.latch.terminator());
        for (phi, entered) in phis.iter().zip(&entered) {
            build::add_incoming(*entered, mapped(&values, self.around(*phi)), new.again);
        }
        if let (Some(grown), Some(next)) = (grown, grown_next) {
            build::add_incoming(grown, next, new.again);
        }
        Behind { values, reached, grown: grown_next }
    }

    /// The loop begins where the copies have left off, or as before.
    fn begin_rest(&self, b: &Builder, new: &NewBlocks, start: Value, behind: &Behind) {
        let counter = self.counter.phi;
        let none = || constant(metadata::context_of(self.blocks[0].function()), counter.integer_bits(), 0);
        let grown = behind.grown.map(|next| b.phi(new.rest, next.ty(), &[(none(), self.preheader), (next, new.left)]));
        let merge = |phi: &Value| match grown {
            Some(_) if *phi == counter => None,
            _ => {
                let value = mapped(&behind.values, self.around(*phi));
                Some(b.phi(new.rest, phi.ty(), &[(self.first(*phi), self.preheader), (value, new.left)]))
            }
        };
        let phis = self.phis();
        let merged: Vec<Option<Value>> = phis.iter().map(merge).collect();
        b.at_end(new.rest);
        let begun = |merged: Option<Value>| merged.or_else(|| grown.map(|grown| b.binary(LLVMAdd, start, grown)));
        let begun: Vec<Option<Value>> = merged.into_iter().map(begun).collect();
        let header = self.blocks[0];
        b.jump(header);
        // LLVM's interface changes no block of a phi.
        for (phi, begun) in phis.iter().zip(begun) {
            let phi_of_rest = b.phi(header, phi.ty(), &[(begun.unwrap_or(*phi), new.rest), (self.around(*phi), self.latch)]);
            build::replace(*phi, phi_of_rest);
        }
    }

    /// Whether there are so many iterations that the copies are entered, and up to where they are entered once more.
    fn limits(&self, module: &Module, b: &Builder, start: Value, step: Value, bound: Value) -> (Value, Value) {
        let context = context_of(module);
        let Counter { phi, order, .. } = self.counter;
        let bits = phi.integer_bits();
        let number = |n: u64| constant(context, bits, n);
        if order == LLVMIntNE {
            // One up or down each time: so many iterations, and those that the copies leave over.
            let up = self.counter.step.as_signed_constant() == Some(1);
            let iterations = if up { b.binary(LLVMSub, bound, start) } else { b.binary(LLVMSub, start, bound) };
            let rest = b.binary(LLVMAnd, iterations, number(self.copies as u64 - 1));
            let last = b.binary(if up { LLVMSub } else { LLVMAdd }, bound, rest);
            return (b.compare(LLVMIntUGE, iterations, number(self.copies as u64)), last);
        }
        // What begins below the step is, so many steps further, below one more.
        let steps = self.copies as u64 - u64::from(self.starts.are_distinct());
        let distance = b.binary(LLVMMul, step, number(steps));
        let last = b.binary(LLVMSub, bound, distance);
        let most = (1u64 << (bits - 1)) - 1;
        let short = b.compare(LLVMIntULE, step, number(most / steps));
        let far = b.compare(if is_signed(order) { LLVMIntSGE } else { LLVMIntUGE }, bound, distance);
        let plain = b.binary(LLVMAnd, short, far);
        let enter = match self.starts {
            Starts::BelowStep => plain,
            Starts::BelowStepWithoutOffset(d) => {
                let offset = build::global_offset(module, b, d);
                let none = b.compare(LLVMIntEQ, offset, constant(context, 64, 0));
                b.binary(LLVMAnd, plain, none)
            }
            Starts::Together | Starts::Anywhere => {
                let enough = b.compare(order, start, last);
                self.vote(module, b, b.binary(LLVMAnd, plain, enough))
            }
        };
        (enter, last)
    }

    /// Whether something holds for all lanes that are here.
    fn vote(&self, module: &Module, b: &Builder, holds: Value) -> Value {
        if self.starts == Starts::Together {
            return holds;
        }
        let fails = b.binary(LLVMXor, holds, constant(context_of(module), 1, 1));
        let lanes = build::ballot(module, b, fails);
        b.compare(LLVMIntEQ, lanes, constant(context_of(module), 64, 0))
    }

    /// A copy of the loop's blocks that goes nowhere at its end, with other values for what it uses.
    fn copy(&self, b: &Builder, function: Value, values: &FxHashMap<Value, Value>) -> Copied {
        let append =
            |block: &BlockRef| (*block, BlockRef(build::append_block(metadata::context_of(function), function.0, c"copy")));
        let blocks: FxHashMap<BlockRef, BlockRef> = self.blocks.iter().map(append).collect();
        let mut values = values.clone();
        let here = b.place();
        for block in &self.blocks {
            let to = blocks[block];
            for instruction in block.instructions() {
                let is_end = *block == self.latch && instruction.is_terminator();
                if is_end || instruction.is_debug() || *block == self.blocks[0] && instruction.opcode() == LLVMPHI {
                    continue;
                }
                let copy = if instruction.opcode() == LLVMPHI {
                    let incoming: Vec<_> = instruction.incoming().map(|(v, from)| (mapped(&values, v), blocks[&from])).collect();
                    b.phi(to, instruction.ty(), &incoming)
                } else {
                    b.at_end(to);
                    b.copy(instruction, |v| mapped(&values, v), |target| blocks.get(&target).copied().unwrap_or(target))
                };
                values.insert(instruction, copy);
            }
        }
        b.at_end(here);
        Copied { blocks, values }
    }
}

/// The phis of a block, each with its value by way of another block.
fn each_phi(block: BlockRef, from: BlockRef, mut with: impl FnMut(Value, Value)) {
    let phis: Vec<Value> = block.instructions().take_while(|i| i.opcode() == LLVMPHI).collect();
    for phi in phis {
        if let Some((value, _)) = phi.incoming().find(|(_, at)| *at == from) {
            with(phi, value);
        }
    }
}

/// A copy of a loop's blocks.
struct Copied {
    blocks: FxHashMap<BlockRef, BlockRef>,
    values: FxHashMap<Value, Value>,
}

/// What stands for a value.
fn mapped(values: &FxHashMap<Value, Value>, v: Value) -> Value {
    values.get(&v).copied().unwrap_or(v)
}

/// Whether a call's result depends on which lanes are here, as far as is known.
fn depends_on_lanes(instruction: Value) -> bool {
    let asks = || matches!(builtins::of_call(instruction), Some(Builtin::Query(_)));
    instruction.opcode() == LLVMCall && !asks() && !instruction.called_name().starts_with("llvm.")
}

fn may_be_copied(instruction: Value) -> bool {
    match instruction.opcode() {
        LLVMCall => {
            let name = instruction.called_name();
            let of_scopes = name.starts_with("llvm.experimental.noalias");
            !name.is_empty() && !of_scopes && builtins::of_call(instruction) != Some(Builtin::Barrier)
        }
        LLVMAlloca | LLVMInvoke | LLVMCallBr | LLVMIndirectBr => false,
        _ => true,
    }
}

impl Counter {
    /// What ends a loop, if it steps by what does not change in it.
    fn of(cfg: &Cfg, l: &Loop, latch: Index) -> Option<Counter> {
        let end = cfg.blocks[latch].terminator();
        let condition = end.operand(0);
        let inside = |v: Value| shape::is_defined_inside(cfg, l, v);
        let (mut next, mut bound, mut order) = (condition.operand(0), condition.operand(1), condition.integer_predicate());
        if !inside(next) {
            (next, bound, order) = (bound, next, swapped(order));
        }
        if end.successors().next() != Some(cfg.blocks[l.header]) {
            order = inverse(order);
        }
        if !inside(next) || inside(bound) || next.opcode() != LLVMAdd || !matches!(next.integer_bits(), 32 | 64) {
            return None;
        }
        let is_phi = |v: Value| inside(v) && v.opcode() == LLVMPHI && v.parent() == cfg.blocks[l.header];
        let (mut phi, mut step) = (next.operand(0), next.operand(1));
        if !is_phi(phi) {
            (phi, step) = (step, phi);
        }
        let steps = is_phi(phi) && phi.incoming().any(|(v, from)| v == next && from == cfg.blocks[latch]);
        let fits = match order {
            LLVMIntNE => matches!(step.as_signed_constant(), Some(1 | -1)),
            LLVMIntSLT | LLVMIntSLE | LLVMIntULT | LLVMIntULE => true,
            _ => false,
        };
        (steps && !inside(step) && fits).then_some(Counter { phi, next, step, bound, order })
    }
}

fn is_signed(order: LLVMIntPredicate) -> bool {
    matches!(order, LLVMIntSLT | LLVMIntSLE | LLVMIntSGT | LLVMIntSGE)
}

/// The order of the operands the other way round.
fn swapped(order: LLVMIntPredicate) -> LLVMIntPredicate {
    match order {
        LLVMIntSLT => LLVMIntSGT,
        LLVMIntSLE => LLVMIntSGE,
        LLVMIntSGT => LLVMIntSLT,
        LLVMIntSGE => LLVMIntSLE,
        LLVMIntULT => LLVMIntUGT,
        LLVMIntULE => LLVMIntUGE,
        LLVMIntUGT => LLVMIntULT,
        LLVMIntUGE => LLVMIntULE,
        same => same,
    }
}

/// The order that holds where one does not.
fn inverse(order: LLVMIntPredicate) -> LLVMIntPredicate {
    match order {
        LLVMIntSLT => LLVMIntSGE,
        LLVMIntSLE => LLVMIntSGT,
        LLVMIntSGT => LLVMIntSLE,
        LLVMIntSGE => LLVMIntSLT,
        LLVMIntULT => LLVMIntUGE,
        LLVMIntULE => LLVMIntUGT,
        LLVMIntUGT => LLVMIntULE,
        LLVMIntUGE => LLVMIntULT,
        LLVMIntEQ => LLVMIntNE,
        LLVMIntNE => LLVMIntEQ,
    }
}
