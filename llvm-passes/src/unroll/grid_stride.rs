//! Unrolling of loops whose step only a launch knows, as grid-stride loops have it: `for (i = id; i < n; i += size)`.
//!
//! # Problem
//! How often such a loop goes round says a division, and each lane's number may be another, so LLVM's unroller has no good way: a
//! division costs more than short loops take, and behind it each lane has a remainder of its own.
//!
//! # Algorithm
//! In front of a loop that its lanes leave at a uniform bound and in uniform steps stands another one of several copies without
//! comparisons, in which the lanes of a warp stay together: they go round as long as all of them have as many iterations left as there
//! are copies, about which they vote. A lane has them while its counter is below `bound - (copies - 1) * step`, which is computed once;
//! where that or a counter could wrap around, the copies are not entered. What is left over is done by the loop as it was. Lanes leave
//! the copies together, so what the counter has grown by until then is one number for all of them, from which the addresses behind
//! are as plain as before.
//!
//! Clang computes an `int` counter that a size of 64 bits steps with 64 bits; it becomes one of 32 first.
//!
//! # Reference
//! M. Harris, "CUDA Pro Tip: Write Flexible Kernels with Grid-Stride Loops" (2013), for the loops. The bound less some steps is that of
//! LLVM's inductive range check elimination (`InductiveRangeCheckElimination`).
//!
//! # Limits
//! The counter is an integer of 32 or 64 bits and compared as it is after its step. Loops with barriers stay as they are. In the copies
//! a debugger does not know the source's variables.
//!
//! May touch: the loops and what stands before them. Keeps simplified and LCSSA form.

use inkwell::llvm_sys::LLVMIntPredicate::{self, *};
use inkwell::llvm_sys::LLVMOpcode::{self, *};
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

/// Copies at most: such loops are mostly short.
const MOST_COPIES: usize = 4;

/// Puts copies in front of such loops, each of which may become so much code; whether there is one.
pub fn run(module: &Module, facts: Facts, size: usize, most_loops: usize) -> bool {
    let mut any = false;
    for function in function::bodies(module) {
        let cfg = Cfg::new(function);
        if cfg.loops.is_empty() || cfg.loops.len() > most_loops {
            continue;
        }
        cfg.loops.iter().for_each(|l| narrow(&cfg, l));
        let uniformity = uniformity::analyze(function, facts);
        let candidates = uniformity.cfg().loops.iter().filter_map(|l| Candidate::of(&uniformity, l, size));
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
    exit: BlockRef,
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
    /// Below, or not above.
    order: LLVMIntPredicate,
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
        if !product(step, &mut factors) {
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

/// The queries of sizes that a number is the product of; whether it is one. It is below 2³², as sizes of launches are, if no size is twice
/// in it.
fn product(v: Value, factors: &mut Vec<(Query, u32)>) -> bool {
    if let Some((query, d)) = relative_id::query(v) {
        let again = factors.iter().any(|(_, e)| *e != d) || factors.len() == 2;
        factors.push((query, d));
        return !again;
    }
    if !v.is_instruction() {
        return false;
    }
    match v.opcode() {
        LLVMTrunc | LLVMZExt | LLVMSExt => product(v.operand(0), factors),
        LLVMMul => product(v.operand(0), factors) && product(v.operand(1), factors),
        _ => false,
    }
}

impl Candidate {
    fn of(uniformity: &Uniformity, l: &Loop, size: usize) -> Option<Candidate> {
        let cfg = uniformity.cfg();
        let latch = shape::end(cfg, l).filter(|_| shape::is_innermost(cfg, l))?;
        let counter = Counter::of(cfg, l, latch)?;
        if !uniformity.is_uniform(counter.step) || !uniformity.is_uniform(counter.bound) {
            return None;
        }
        let inside = |b: &Index| l.members.contains(*b);
        let mut before = cfg.preds[l.header].iter().copied().filter(|b| !inside(b));
        let preheader = before.next().filter(|b| before.next().is_none() && cfg.succs[*b].len() == 1)?;
        let exit = cfg.succs[latch].iter().copied().find(|b| !inside(b)).filter(|b| cfg.preds[*b].len() == 1)?;
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
        let few = counter.bound.is_constant() || starts == Starts::Anywhere && is_nested;
        if few || !blocks.iter().flat_map(|b| b.instructions()).any(waits) {
            return None;
        }
        let copies = shape::copies(shape::size(cfg, l), size).min(MOST_COPIES);
        let copied = blocks.iter().flat_map(|b| b.instructions()).all(may_be_copied);
        (copies > 1 && copied).then(|| Candidate {
            blocks,
            preheader: cfg.blocks[preheader],
            latch: cfg.blocks[latch],
            exit: cfg.blocks[exit],
            counter,
            starts,
            copies,
        })
    }

    /// Puts the copies before the loop.
    fn split(&self, module: &Module) {
        let context = context_of(module);
        let Counter { phi: counter, next, step, bound, order } = self.counter;
        let bits = counter.integer_bits();
        let number = |n: u64| constant(context, bits, n);
        let header = self.blocks[0];
        let function = header.function();
        let append = |name| BlockRef(build::append_block(context, function.0, name));
        let (front, rest) = (append(c"copies"), append(c"rest"));
        let (again, left) = (append(c"copies.latch"), append(c"copies.exit"));
        let b = Builder::new(context);
        let end = self.preheader.terminator();
        b.at(end);
        b.locate(self.latch.terminator());

        // Before the loop: are there so many iterations? What begins below the step is, so many steps further, below one more.
        let steps = self.copies as u64 - u64::from(self.starts.are_distinct());
        let distance = b.binary(LLVMMul, step, number(steps));
        let last = b.binary(LLVMSub, bound, distance);
        let most = (1u64 << (bits - 1)) - 1;
        let short = b.compare(LLVMIntULE, step, number(most / steps));
        let far = b.compare(if is_signed(order) { LLVMIntSGE } else { LLVMIntUGE }, bound, distance);
        let plain = b.binary(LLVMAnd, short, far);
        let from_outside = |phi: Value| phi.incoming().find(|(_, from)| *from == self.preheader).map_or(phi, |(v, _)| v);
        let around = |phi: Value| phi.incoming().find(|(_, from)| *from == self.latch).map_or(phi, |(v, _)| v);
        let start = from_outside(counter);
        let enter = match self.starts {
            Starts::BelowStep => plain,
            Starts::BelowStepWithoutOffset(d) => {
                let offset = build::global_offset(module, &b, d);
                let none = b.compare(LLVMIntEQ, offset, constant(context, 64, 0));
                b.binary(LLVMAnd, plain, none)
            }
            Starts::Together | Starts::Anywhere => {
                let enough = b.compare(order, start, last);
                self.vote(module, &b, b.binary(LLVMAnd, plain, enough))
            }
        };
        b.branch(enter, front, rest);
        build::erase(end);

        // The copies, with what the counter has grown by as a number of its own if the counter varies.
        let phis: Vec<Value> = header.instructions().take_while(|i| i.opcode() == LLVMPHI).collect();
        b.at_end(front);
        let entered: Vec<Value> =
            phis.iter().map(|phi| b.phi(front, phi.ty(), &[(from_outside(*phi), self.preheader)])).collect();
        let grown = (self.starts != Starts::Together).then(|| b.phi(front, counter.ty(), &[(number(0), self.preheader)]));
        b.at_end(front);
        let mut values: FxHashMap<Value, Value> = phis.iter().copied().zip(entered.iter().copied()).collect();
        if let Some(grown) = grown {
            values.insert(counter, b.binary(LLVMAdd, start, grown));
        }
        for copy in 0..self.copies {
            let copied = self.copy(&b, function, &values);
            b.jump(copied.blocks[&header]);
            let last = copied.blocks[&self.latch];
            values = copied.values;
            if copy + 1 < self.copies {
                let carried: Vec<Value> = phis.iter().map(|phi| mapped(&values, around(*phi))).collect();
                values.extend(phis.iter().copied().zip(carried));
            }
            b.at_end(last);
        }
        b.jump(again);

        // All of them once more?
        b.at_end(again);
        let grown_next = grown.map(|grown| {
            let steps = b.binary(LLVMMul, step, number(self.copies as u64));
            b.binary(LLVMAdd, grown, steps)
        });
        if let Some(grown) = grown_next {
            values.insert(next, b.binary(LLVMAdd, start, grown));
        }
        let reached = mapped(&values, next);
        let stay = match (self.starts, grown_next) {
            (Starts::BelowStep | Starts::BelowStepWithoutOffset(_), Some(grown)) => {
                b.compare(if is_signed(order) { LLVMIntSLE } else { LLVMIntULE }, grown, last)
            }
            _ => self.vote(module, &b, b.compare(order, reached, last)),
        };
        b.branch(stay, front, left);
        for (phi, entered) in phis.iter().zip(&entered) {
            build::add_incoming(*entered, mapped(&values, around(*phi)), again);
        }
        if let (Some(grown), Some(next)) = (grown, grown_next) {
            build::add_incoming(grown, next, again);
        }

        // Is anything left?
        b.at_end(left);
        let more = b.compare(order, reached, bound);
        b.branch(more, rest, self.exit);
        for phi in self.exit.instructions().take_while(|i| i.opcode() == LLVMPHI) {
            let value = phi.incoming().find(|(_, from)| *from == self.latch).map_or(phi, |(v, _)| v);
            build::add_incoming(phi, mapped(&values, value), left);
        }
        let grown = grown_next.map(|next| b.phi(rest, next.ty(), &[(number(0), self.preheader), (next, left)]));
        let merge = |phi: &Value| match grown {
            Some(_) if *phi == counter => None,
            _ => {
                let value = mapped(&values, around(*phi));
                Some(b.phi(rest, phi.ty(), &[(from_outside(*phi), self.preheader), (value, left)]))
            }
        };
        let merged: Vec<Option<Value>> = phis.iter().map(merge).collect();
        b.at_end(rest);
        let begun = |merged: Option<Value>| merged.or_else(|| grown.map(|grown| b.binary(LLVMAdd, start, grown)));
        let begun: Vec<Option<Value>> = merged.into_iter().map(begun).collect();
        b.jump(header);
        // LLVM's interface changes no block of a phi.
        for (phi, begun) in phis.iter().zip(begun) {
            let new = b.phi(header, phi.ty(), &[(begun.unwrap_or(*phi), rest), (around(*phi), self.latch)]);
            build::replace(*phi, new);
        }
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

/// A copy of a loop's blocks.
struct Copied {
    blocks: FxHashMap<BlockRef, BlockRef>,
    values: FxHashMap<Value, Value>,
}

/// What stands for a value.
fn mapped(values: &FxHashMap<Value, Value>, v: Value) -> Value {
    values.get(&v).copied().unwrap_or(v)
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
    /// What ends a loop, if it steps by what does not change in it and no constant is.
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
        let known = inside(step) || step.as_constant_int().is_some();
        let ordered = matches!(order, LLVMIntSLT | LLVMIntSLE | LLVMIntULT | LLVMIntULE);
        (steps && !known && ordered).then_some(Counter { phi, next, step, bound, order })
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

/// Makes counters of a loop of which only the low word is read, extended for a step of 64 bits, counters of 32 bits.
fn narrow(cfg: &Cfg, l: &Loop) {
    if l.irreducible {
        return;
    }
    let phis = cfg.blocks[l.header].instructions().take_while(|i| i.opcode() == LLVMPHI);
    let wide: Vec<Wide> = phis.filter_map(|phi| Wide::of(cfg, l, phi)).collect();
    wide.iter().for_each(Wide::narrow);
}

/// A counter that is computed with 64 bits.
struct Wide {
    phi: Value,
    next: Value,
    /// What it steps by, of 64 bits.
    step: Value,
    /// Where `next` is the sum of 64 bits, those of its users that take the low word of it.
    cuts: Vec<Value>,
    /// Where `phi` has 64 bits, its users that take its low word or extend that, with the instruction that does.
    reads: Vec<(Value, Option<LLVMOpcode>)>,
}

/// The number by which words are shifted into the high half and back.
const WORD: u64 = 32;

impl Wide {
    fn of(cfg: &Cfg, l: &Loop, phi: Value) -> Option<Wide> {
        let inside = |v: Value| shape::is_defined_inside(cfg, l, v);
        let has_bits =
            |bits: u32| phi.type_kind() == inkwell::llvm_sys::LLVMTypeKind::LLVMIntegerTypeKind && phi.integer_bits() == bits;
        let back: Vec<Value> = phi
            .incoming()
            .filter(|(_, from)| cfg.index.get(from).is_some_and(|b| l.members.contains(*b)))
            .map(|(v, _)| v)
            .collect();
        let [next] = back[..] else { return None };
        if phi.incoming().count() != 2 || !inside(next) {
            return None;
        }
        let is_constant = |v: Value, n: u64| v.as_constant_int() == Some(n);
        let sum = if has_bits(64) { next } else { (has_bits(32) && next.opcode() == LLVMTrunc).then(|| next.operand(0))? };
        if !inside(sum) || sum.opcode() != LLVMAdd || sum.integer_bits() != 64 {
            return None;
        }
        // Which operand is the step?
        let (mut low, mut step) = (sum.operand(0), sum.operand(1));
        if !inside(low) {
            (low, step) = (step, low);
        }
        if !inside(low) || inside(step) || step.as_constant_int().is_some() {
            return None;
        }
        if has_bits(32) {
            let extends = matches!(low.opcode(), LLVMSExt | LLVMZExt) && low.operand(0) == phi;
            return extends.then_some(Wide { phi, next, step, cuts: Vec::new(), reads: Vec::new() });
        }
        let is_cut = |v: Value| v.is_instruction() && v.opcode() == LLVMTrunc && v.integer_bits() == 32;
        let mut reads = Vec::new();
        for user in phi.users() {
            match user.opcode() {
                LLVMTrunc if is_cut(user) => reads.push((user, None)),
                LLVMAnd if is_constant(user.operand(1), u32::MAX.into()) => reads.push((user, Some(LLVMZExt))),
                LLVMShl if is_constant(user.operand(1), WORD) => {
                    for shifted in user.users() {
                        let back = match shifted.opcode() {
                            LLVMAShr => LLVMSExt,
                            LLVMLShr => LLVMZExt,
                            _ => return None,
                        };
                        if !is_constant(shifted.operand(1), WORD) {
                            return None;
                        }
                        reads.push((shifted, Some(back)));
                    }
                }
                _ => return None,
            }
        }
        let cuts: Vec<Value> = next.users().filter(|u| *u != phi).collect();
        let extended = reads.iter().any(|(v, extension)| *v == low && extension.is_some());
        (extended && cuts.iter().all(|c| is_cut(*c))).then_some(Wide { phi, next, step, cuts, reads })
    }

    fn narrow(&self) {
        let context = metadata::context_of(self.phi.parent().function());
        let word = build::integer(context, WORD as u32);
        let b = Builder::new(context);
        let cut = |v: Value, before: Value| {
            b.at(before);
            b.cast(LLVMTrunc, v, word)
        };
        let outside = self.phi.incoming().find(|(v, _)| *v != self.next).map_or(self.next, |(_, from)| from.terminator());
        let step = cut(self.step, outside);
        b.at(self.next);
        b.locate(self.next);
        if self.phi.integer_bits() == 32 {
            build::replace(self.next, b.binary(LLVMAdd, self.phi, step));
            return;
        }
        let incoming =
            self.phi.incoming().map(|(v, from)| if v == self.next { (v, from) } else { (cut(v, from.terminator()), from) });
        let incoming: Vec<(Value, BlockRef)> = incoming.collect();
        // The sum has the phi for its operand, and the phi the sum.
        let phi = b.phi(self.phi.parent(), word, &[]);
        b.at(self.next);
        let next = b.binary(LLVMAdd, phi, step);
        for (v, from) in incoming {
            build::add_incoming(phi, if v == self.next { next } else { v }, from);
        }
        for (read, extension) in &self.reads {
            let by = match extension {
                None => phi,
                Some(extension) => {
                    b.at(*read);
                    b.cast(*extension, phi, read.ty())
                }
            };
            build::replace(*read, by);
        }
        self.cuts.iter().for_each(|c| build::replace(*c, next));
        // The old ones name each other and nothing else names them.
        build::replace(self.phi, build::poison(self.phi.ty()));
    }
}
