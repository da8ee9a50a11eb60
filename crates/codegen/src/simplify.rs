//! Algebra: instructions that a simpler one replaces.
//!
//! # Problem
//! Selection expands one LLVM instruction after the other: products by powers of two, sums and shifts of
//! products, masks that mask nothing, `&&` as a choice between a condition and false, conditions moved into
//! predicates that could be read where they are, comparisons of conditions with zero.
//!
//! # Algorithm
//! Blocks in reverse post-order, each instruction rewritten in place as long as a rule applies: identities and
//! constants of integer operations on 32 bits, sums, shifts and products of such with constants drawn together,
//! logic on predicates, negated conditions turned around at their users, special registers and constants
//! read where they are used. A forward analysis of bits known to be zero removes masks. What is no longer used
//! goes with dead code (`cleanup`). A rewritten instruction is checked against the instruction table; what does
//! not fit (two immediates, say) is left as it was.
//!
//! References: Muchnick, "Advanced compiler design and implementation" (1997), 12.3 (algebraic simplification);
//! Warren, "Hacker's delight", 2-1 (bits of sums).
//!
//! May touch: SSA form only; rewrites instructions in place, adds and removes none.

use cranelift_entity::SecondaryMap;
use smallvec::smallvec;

use super::CodegenError;
use super::context::Context;
use super::ssa::Definitions;
use heddle_isa::{Cond, Guard, Inst, Mods, Op, Operand, Reg, Role, Special, Type, VReg, rules};
use heddle_mir::cfg::Cfg;
use heddle_mir::{Bank, Block, Function, RegClass};

/// Rewrites instructions.
pub fn run(function: &mut Function, _: &mut Context) -> Result<(), CodegenError> {
    let order = Cfg::new(function).rpo;
    let definitions = Definitions::new(function);
    let mut uses: SecondaryMap<VReg, u32> = SecondaryMap::with_capacity(function.vregs.len());
    for inst in function.layout.iter().flat_map(|b| &function.blocks[*b].insts) {
        let guard = inst.guard.and_then(|g| Operand::Reg(g.reg).as_virt());
        inst.srcs.iter().filter_map(|s| s.as_virt()).chain(guard).for_each(|(r, _)| uses[r] += 1);
    }
    let zeros = SecondaryMap::with_capacity(function.vregs.len());
    let mut rules = Rules { definitions, uses, zeros, here: function.entry() };
    for block in order {
        rules.here = block;
        for i in 0..function.blocks[block].insts.len() {
            // Each rule leaves fewer or simpler operands, so this ends; the bound is for the reader.
            for _ in 0..8 {
                let inst = &function.blocks[block].insts[i];
                let Some(new) = rules.rewritten(function, inst).filter(|n| rules::check(n, Some(&function.vregs)).is_ok()) else {
                    break;
                };
                function.blocks[block].insts[i] = new;
            }
            let inst = &function.blocks[block].insts[i];
            if let Some((r, 0)) = inst.dst.as_virt() {
                rules.zeros[r] = rules.known_zeros(function, inst);
            }
        }
    }
    Ok(())
}

/// Operations to look through for what is known of a word.
const DEPTH: u32 = 4;

/// What the rules look at.
struct Rules {
    definitions: Definitions,
    /// Reads of each register before anything was rewritten.
    uses: SecondaryMap<VReg, u32>,
    /// Bits of one-word registers that are known to be zero.
    zeros: SecondaryMap<VReg, u32>,
    /// The block of the instruction that is looked at.
    here: Block,
}

/// The value of an operand that is an immediate or absent.
fn immediate(op: Operand) -> Option<u32> {
    match op {
        Operand::Immediate(v) => Some(v),
        Operand::None => Some(0),
        _ => None,
    }
}

/// `inst` as another operation on other operands.
fn with(inst: &Inst, op: Op, ty: Type, srcs: &[Operand]) -> Inst {
    Inst { op, ty, srcs: srcs.into(), mods: Mods::default(), neg: 0, abs: 0, ..inst.clone() }
}

fn copy(inst: &Inst, src: Operand) -> Inst {
    with(inst, Op::Mov, inst.ty, &[src])
}

impl Rules {
    /// The instruction in a simpler form, if a rule applies.
    fn rewritten(&self, f: &Function, inst: &Inst) -> Option<Inst> {
        if inst.info().flags.pseudo {
            return None;
        }
        let changed = match (inst.op, inst.ty) {
            (Op::Add | Op::Sub | Op::Mul | Op::Shl | Op::Mad, Type::B32) if !inst.mods.saturate => self.sum(f, inst),
            (Op::And | Op::Or | Op::Xor, Type::B32) => self.bitwise(f, inst),
            (Op::And, Type::B64) => self.masked_by_opposite(f, inst),
            (Op::Cvt, Type::S8 | Type::S16) if !inst.mods.saturate => self.extended(f, inst),
            (Op::Fshr, Type::B32) => funnel(inst),
            (Op::And | Op::Or | Op::Xor | Op::Not | Op::Sel, Type::Pred) => self.logic(f, inst),
            (Op::Sel, _) => self.choice(f, inst),
            (Op::BraScalar, _) => self.branch(f, inst),
            _ => None,
        };
        changed.or_else(|| self.guard(f, inst)).or_else(|| self.operands(f, inst))
    }

    /// The definition of a register in the same bank as the destination: what it reads, the instruction may
    /// read as well.
    fn inner<'f>(&self, f: &'f Function, inst: &Inst, op: Operand) -> Option<&'f Inst> {
        self.inner_of(f, inst, op, Type::B32)
    }

    /// The same of an operation of another type.
    fn inner_of<'f>(&self, f: &'f Function, inst: &Inst, op: Operand, ty: Type) -> Option<&'f Inst> {
        let (reg, 0) = op.as_virt()? else { return None };
        let (dst, _) = inst.dst.as_virt()?;
        let definition = self.definitions.of(f, op)?;
        let plain = definition.guard.is_none() && !definition.mods.saturate && definition.ty == ty;
        (plain && f.vregs[reg] == f.vregs[dst]).then_some(definition)
    }

    /// Whether one register is read once.
    fn once(&self, op: Operand) -> bool {
        op.as_virt().is_some_and(|(r, _)| self.uses[r] == 1)
    }

    /// Sums, products and shifts of words.
    fn sum(&self, f: &Function, inst: &Inst) -> Option<Inst> {
        use Operand::Immediate;
        let (a, b) = (inst.srcs[0], inst.srcs[1]);
        let (x, y) = (immediate(a), immediate(b));
        let make = |op, srcs: &[Operand]| Some(with(inst, op, Type::B32, srcs));
        let new = |v: u32| Some(copy(inst, Immediate(v)));
        match (inst.op, x, y) {
            (Op::Add, Some(x), Some(y)) => new(x.wrapping_add(y)),
            (Op::Add, Some(0), None) => Some(copy(inst, b)),
            (Op::Add | Op::Sub | Op::Shl, _, Some(0)) => Some(copy(inst, a)),
            (Op::Sub, Some(x), Some(y)) => new(x.wrapping_sub(y)),
            (Op::Sub, None, Some(y)) => make(Op::Add, &[a, Immediate(y.wrapping_neg())]),
            (Op::Sub, None, None) if a == b => new(0),
            (Op::Mul | Op::Add, Some(_), None) => make(inst.op, &[b, a]),
            (Op::Mul, Some(x), Some(y)) => new(x.wrapping_mul(y)),
            (Op::Mul, _, Some(0)) => new(0),
            (Op::Mul, _, Some(1)) => Some(copy(inst, a)),
            (Op::Shl, Some(x), Some(k)) => new(x.wrapping_shl(k)),
            (Op::Mul, None, Some(y)) => {
                self.scaled(f, inst, a, y).or_else(|| self.chosen(f, inst, a, |v| v.wrapping_mul(y))).or_else(|| {
                    let shift = Immediate(y.trailing_zeros());
                    y.is_power_of_two().then(|| with(inst, Op::Shl, Type::B32, &[a, shift]))
                })
            }
            (Op::Shl, None, Some(k)) => {
                self.scaled(f, inst, a, 1u32.wrapping_shl(k)).or_else(|| self.chosen(f, inst, a, |v| v.wrapping_shl(k)))
            }
            (Op::Add, None, y) => self.added(f, inst, a, b, y),
            (Op::Mad, x, y) => self.product_and_sum(f, inst, x, y),
            _ => None,
        }
    }

    /// `a * factor` where a is a product or a shift itself.
    fn scaled(&self, f: &Function, inst: &Inst, a: Operand, factor: u32) -> Option<Inst> {
        let inner = self.inner(f, inst, a)?;
        let by = immediate(*inner.srcs.get(1)?)?;
        let by = match inner.op {
            Op::Mul => by,
            Op::Shl => 1u32.wrapping_shl(by),
            _ => return None,
        };
        Some(with(inst, Op::Mul, Type::B32, &[inner.srcs[0], Operand::Immediate(by.wrapping_mul(factor))]))
    }

    /// A function of a choice between a constant and zero, which keeps zero: the choice of its result.
    fn chosen(&self, f: &Function, inst: &Inst, a: Operand, function: impl Fn(u32) -> u32) -> Option<Inst> {
        let choice = self.inner(f, inst, a).filter(|i| i.op == Op::Sel && self.once(a) && immediate(i.srcs[2]) == Some(0))?;
        let Operand::Immediate(v) = choice.srcs[1] else { return None };
        Some(with(inst, Op::Sel, Type::B32, &[choice.srcs[0], Operand::Immediate(function(v)), Operand::None]))
    }

    /// `a + b`, where a may be a sum with a constant, or one of both a product that nothing else reads.
    fn added(&self, f: &Function, inst: &Inst, a: Operand, b: Operand, constant: Option<u32>) -> Option<Inst> {
        if let Some(y) = constant {
            let inner = self.inner(f, inst, a).filter(|i| i.op == Op::Add && self.once(a))?;
            let x = immediate(inner.srcs[1])?;
            return Some(with(inst, Op::Add, Type::B32, &[inner.srcs[0], Operand::Immediate(x.wrapping_add(y))]));
        }
        [(a, b), (b, a)].into_iter().find_map(|(product, other)| {
            // Only within a block: the product may stand before a loop in which the sum is.
            let here = product.as_virt().is_some_and(|(r, _)| self.definitions.block(r) == Some(self.here));
            let inner =
                self.inner(f, inst, product).filter(|i| here && self.once(product) && matches!(i.op, Op::Mul | Op::Shl))?;
            let factor = match (inner.op, immediate(inner.srcs[1])) {
                (Op::Mul, _) => inner.srcs[1],
                (Op::Shl, Some(k)) => Operand::Immediate(1u32.wrapping_shl(k)),
                _ => return None,
            };
            let new = with(inst, Op::Mad, Type::B32, &[inner.srcs[0], factor, other]);
            rules::check(&new, Some(&f.vregs)).is_ok().then_some(new)
        })
    }

    fn product_and_sum(&self, f: &Function, inst: &Inst, x: Option<u32>, y: Option<u32>) -> Option<Inst> {
        let [a, b, c] = inst.srcs[..] else { return None };
        let make = |op, srcs: &[Operand]| Some(with(inst, op, Type::B32, srcs));
        match (x, y) {
            (Some(x), Some(y)) => make(Op::Add, &[c, Operand::Immediate(x.wrapping_mul(y))]),
            (_, Some(0)) | (Some(0), _) => Some(copy(inst, c)),
            (_, Some(1)) => make(Op::Add, &[a, c]),
            (Some(1), _) => make(Op::Add, &[b, c]),
            _ if immediate(c) == Some(0) => make(Op::Mul, &[a, b]),
            (Some(_), None) => make(Op::Mad, &[b, a, c]),
            (None, Some(y)) => {
                let inner = self.inner(f, inst, a).filter(|i| matches!(i.op, Op::Mul | Op::Shl) && self.once(a))?;
                let by = immediate(inner.srcs[1])?;
                let by = if inner.op == Op::Mul { by } else { 1u32.wrapping_shl(by) };
                make(Op::Mad, &[inner.srcs[0], Operand::Immediate(by.wrapping_mul(y)), c])
            }
            (None, None) => None,
        }
    }

    /// Logic on words.
    fn bitwise(&self, f: &Function, inst: &Inst) -> Option<Inst> {
        let (a, b) = (inst.srcs[0], inst.srcs[1]);
        let (a, b) = if immediate(a).is_some() { (b, a) } else { (a, b) };
        let Some(y) = immediate(b) else {
            let same = a == b && inst.op != Op::Xor;
            return same
                .then(|| copy(inst, a))
                .or_else(|| self.halves_of_shift(f, inst, a, b))
                .or_else(|| self.masked_by_opposite(f, inst));
        };
        if let Some(x) = immediate(a) {
            return Some(copy(inst, Operand::Immediate(combine(inst.op, x, y))));
        }
        match inst.op {
            // All that it takes away is zero already.
            Op::And if !y & !self.zeros_of(a) == 0 => Some(copy(inst, a)),
            Op::And if y == 0 => Some(copy(inst, Operand::Immediate(0))),
            Op::Or | Op::Xor if y == 0 => Some(copy(inst, a)),
            Op::Xor if y == 1 => {
                // Turned around twice.
                let inner = self.inner(f, inst, a).filter(|i| i.op == Op::Xor && i.srcs[1] == Operand::Immediate(1))?;
                Some(copy(inst, inner.srcs[0]))
            }
            _ => {
                let inner = self.inner(f, inst, a).filter(|i| i.op == inst.op && self.once(a))?;
                let together = combine(inst.op, immediate(inner.srcs[1])?, y);
                Some(with(inst, inst.op, Type::B32, &[inner.srcs[0], Operand::Immediate(together)]))
            }
        }
    }

    /// `x & (y ^ -1)`: one operation takes the bits of y away.
    fn masked_by_opposite(&self, f: &Function, inst: &Inst) -> Option<Inst> {
        let (dst, _) = inst.dst.as_virt()?;
        let opposite = |op: Operand| {
            let (reg, 0) = op.as_virt()? else { return None };
            let definition = self.definitions.of(f, op)?;
            let turned = match definition.op {
                Op::Xor => definition.srcs[1] == Operand::Immediate(u32::MAX),
                op => op == Op::Not,
            };
            let plain = definition.guard.is_none() && definition.ty == inst.ty && f.vregs[reg] == f.vregs[dst];
            (plain && turned && in_bank_of(f, definition.srcs[0], dst)).then(|| definition.srcs[0])
        };
        let (a, b) = (inst.srcs[0], inst.srcs[1]);
        let (kept, taken) = [(a, b), (b, a)].into_iter().find_map(|(x, y)| Some((x, opposite(y)?)))?;
        (inst.op == Op::And).then(|| with(inst, Op::AndNot, inst.ty, &[kept, taken]))
    }

    /// `x >> k | y << 32 - k`: a funnel shift of both.
    fn halves_of_shift(&self, f: &Function, inst: &Inst, a: Operand, b: Operand) -> Option<Inst> {
        let shift = |op: Operand| {
            let definition = self.definitions.of(f, op).filter(|d| d.guard.is_none())?;
            let Operand::Immediate(by @ 1..32) = definition.srcs.get(1).copied()? else { return None };
            Some((definition.op, definition.ty, definition.srcs[0], by))
        };
        let ((x, y), once) = ((shift(a)?, shift(b)?), self.once(a) || self.once(b));
        let ((_, _, low, down), (_, _, high, up)) = match (x, y) {
            ((Op::Shr, Type::U32, ..), (Op::Shl, Type::B32, ..)) => (x, y),
            ((Op::Shl, Type::B32, ..), (Op::Shr, Type::U32, ..)) => (y, x),
            _ => return None,
        };
        let fits = once && down + up == 32;
        fits.then(|| with(inst, Op::Fshr, Type::B32, &[high, low, Operand::Immediate(down)]))
    }

    /// The sign extension of the low bits of a word.
    fn extended(&self, f: &Function, inst: &Inst) -> Option<Inst> {
        let (bits, source) = (if inst.ty == Type::S8 { 8 } else { 16 }, inst.srcs[0]);
        if !matches!(inst.mods.from, Some(Type::S32 | Type::U32)) {
            return None;
        }
        let word = |op, ty, srcs: &[Operand]| Some(with(inst, op, ty, srcs));
        if self.is_extended(f, source, bits, DEPTH) {
            return word(Op::Mov, Type::B32, &[source]);
        }
        // Of the uppermost bits.
        let inner = self.inner_of(f, inst, source, Type::U32).filter(|i| i.op == Op::Shr)?;
        let (dst, _) = inst.dst.as_virt()?;
        let uppermost = immediate(inner.srcs[1])? == 32 - bits && in_bank_of(f, inner.srcs[0], dst);
        uppermost.then(|| with(inst, Op::Shr, Type::S32, &inner.srcs))
    }

    /// Whether a word is the sign extension of so many of its low bits; `depth`: operations to look through.
    fn is_extended(&self, f: &Function, op: Operand, bits: u32, depth: u32) -> bool {
        if bits >= 32 || self.zeros_of(op).leading_ones() > 32 - bits {
            return true;
        }
        if let Operand::Immediate(v) = op {
            return (v as i32) << (32 - bits) >> (32 - bits) == v as i32;
        }
        let Some(inst) = self.definitions.of(f, op).filter(|i| depth > 0 && i.guard.is_none() && !i.mods.saturate) else {
            return false;
        };
        let source = |i: usize, bits: u32| inst.srcs.get(i).is_some_and(|s| self.is_extended(f, *s, bits, depth - 1));
        match (inst.op, inst.ty) {
            (Op::Load | Op::LoadUniform | Op::Cvt, Type::S8) => bits >= 8,
            (Op::Load | Op::LoadUniform | Op::Cvt, Type::S16) => bits >= 16,
            (Op::Mov, Type::B32) => source(0, bits),
            (Op::Min | Op::Max, Type::S32) => source(0, bits) && source(1, bits),
            (Op::Sel, Type::B32) => source(1, bits) && source(2, bits),
            (Op::Add | Op::Sub, Type::B32) => source(0, bits - 1) && source(1, bits - 1),
            (Op::Shr, Type::S32) => immediate(inst.srcs[1]).is_some_and(|k| bits + k >= 32),
            _ => false,
        }
    }

    /// What a predicate operand is a copy of: a condition in S that has been copied in this block (S4), a
    /// predicate, or an immediate.
    fn condition(&self, f: &Function, op: Operand) -> Option<Operand> {
        let definition = self.definitions.of(f, op).filter(|i| i.op == Op::Mov && i.ty == Type::Pred && i.guard.is_none())?;
        let source = definition.srcs[0];
        let in_lanes = source.as_virt().is_none_or(|(r, _)| f.vregs[r].bank == Bank::Predicate);
        let here = op.as_virt().is_some_and(|(r, _)| self.definitions.block(r) == Some(self.here));
        (in_lanes || here).then_some(source)
    }

    /// What a predicate operand is the opposite of.
    fn negated(&self, f: &Function, op: Operand) -> Option<Operand> {
        let definition = self.definitions.of(f, op)?;
        let not = definition.op == Op::Not && definition.ty == Type::Pred && definition.guard.is_none();
        not.then(|| definition.srcs[0])
    }

    /// Logic on predicates.
    fn logic(&self, f: &Function, inst: &Inst) -> Option<Inst> {
        let make = |op, srcs: &[Operand]| Some(with(inst, op, Type::Pred, srcs));
        for (i, s) in inst.srcs.iter().enumerate() {
            if let Some(source) = self.condition(f, *s) {
                let mut new = inst.clone();
                new.srcs[i] = source;
                return Some(new);
            }
        }
        let truth = |op: Operand| if let Operand::Immediate(v) = op { Some(v != 0) } else { None };
        let a = inst.srcs[0];
        match inst.op {
            Op::Not => {
                if let Some(source) = self.negated(f, a) {
                    return Some(copy(inst, source));
                }
                // The opposite comparison; the other one goes if nothing else reads it.
                let comparison = self.definitions.of(f, a).filter(|i| i.op == Op::Cmp && i.guard.is_none())?;
                let class = a.as_virt().map(|(r, _)| f.vregs[r])?;
                if class != RegClass::PREDICATE || !self.once(a) {
                    return None;
                }
                let mods = Mods { cond: Some(opposite(comparison.mods.cond?)?), ..comparison.mods };
                Some(Inst { dst: inst.dst, mods, loc: inst.loc, ..comparison.clone() })
            }
            Op::Sel => match (truth(a), truth(inst.srcs[1]), truth(inst.srcs[2])) {
                (Some(true), _, _) => Some(copy(inst, inst.srcs[1])),
                (Some(false), _, _) => Some(copy(inst, inst.srcs[2])),
                (_, Some(x), Some(y)) if x == y => Some(copy(inst, inst.srcs[1])),
                (_, Some(true), Some(false)) => Some(copy(inst, a)),
                (_, Some(false), Some(true)) => make(Op::Not, &[a]),
                (_, _, Some(false)) => make(Op::And, &[a, inst.srcs[1]]),
                (_, Some(true), _) => make(Op::Or, &[a, inst.srcs[2]]),
                (_, Some(false), _) => make(Op::AndNot, &[inst.srcs[2], a]),
                _ => {
                    let source = self.negated(f, a)?;
                    make(Op::Sel, &[source, inst.srcs[2], inst.srcs[1]])
                }
            },
            _ => self.predicates(f, inst, truth),
        }
    }

    /// `and`, `or` and `xor` of predicates.
    fn predicates(&self, f: &Function, inst: &Inst, truth: impl Fn(Operand) -> Option<bool>) -> Option<Inst> {
        let (a, b) = (inst.srcs[0], inst.srcs[1]);
        let (a, b) = if truth(a).is_some() { (b, a) } else { (a, b) };
        if let Some(constant) = truth(b) {
            return match (inst.op, constant) {
                (Op::And, true) | (Op::Or | Op::Xor, false) => Some(copy(inst, a)),
                (Op::And, false) | (Op::Or, true) => Some(copy(inst, b)),
                _ => Some(with(inst, Op::Not, Type::Pred, &[a])),
            };
        }
        if inst.op != Op::And {
            return None;
        }
        let turned = [(a, b), (b, a)].into_iter().find_map(|(x, y)| Some((x, self.negated(f, y)?)));
        turned.map(|(x, y)| with(inst, Op::AndNot, Type::Pred, &[x, y]))
    }

    /// A choice between words.
    fn choice(&self, f: &Function, inst: &Inst) -> Option<Inst> {
        let [c, a, b] = inst.srcs[..] else { return None };
        if a == b {
            return Some(copy(inst, a)).filter(|_| a.is_some());
        }
        if let Some(source) = self.negated(f, c) {
            return Some(with(inst, Op::Sel, inst.ty, &[source, b, a]));
        }
        if let Some(source @ Operand::Reg(_)) = self.condition(f, c) {
            return Some(with(inst, Op::Sel, inst.ty, &[source, a, b]));
        }
        // A bit that is turned into a word is one already.
        let is_one_or_zero = (a, immediate(b)) == (Operand::Immediate(1), Some(0)) && inst.ty == Type::B32;
        let same_bank = || c.as_virt().zip(inst.dst.as_virt()).is_some_and(|((x, _), (y, _))| f.vregs[x] == f.vregs[y]);
        (is_one_or_zero && same_bank() && !self.zeros_of(c) & !1 == 0).then(|| copy(inst, c))
    }

    /// A branch on a comparison of a register with zero goes by the register.
    fn branch(&self, f: &Function, inst: &Inst) -> Option<Inst> {
        let condition = inst.srcs[0];
        let definition = self.definitions.of(f, condition).filter(|i| i.guard.is_none() && i.ty == Type::B32)?;
        let source = definition.srcs[0];
        let flipped = match (definition.op, definition.mods.cond, immediate(*definition.srcs.get(1)?)) {
            (Op::Cmp, Some(Cond::Ne), Some(0)) => false,
            (Op::Cmp, Some(Cond::Eq), Some(0)) => true,
            (Op::Xor, None, Some(1)) if !self.zeros_of(source) & !1 == 0 => true,
            _ => return None,
        };
        let mut new = inst.clone();
        new.srcs = smallvec![source];
        new.imm ^= i32::from(flipped);
        Some(new)
    }

    /// A guard that is the opposite of another predicate.
    fn guard(&self, f: &Function, inst: &Inst) -> Option<Inst> {
        let guard = inst.guard?;
        let Operand::Reg(reg @ Reg::Virtual { .. }) = self.negated(f, Operand::Reg(guard.reg))? else { return None };
        Some(Inst { guard: Some(Guard { reg, negate: !guard.negate }), ..inst.clone() })
    }

    /// What is copied is read where it is used: registers of the same class, constants, special registers.
    fn operands(&self, f: &Function, inst: &Inst) -> Option<Inst> {
        (0..inst.srcs.len()).find_map(|i| {
            if let Some(source) = self.word_of_tuple(f, inst, i) {
                let mut new = inst.clone();
                new.srcs[i] = source;
                return rules::check(&new, Some(&f.vregs)).is_ok().then_some(new);
            }
            let moved =
                self.definitions.of(f, inst.srcs[i]).filter(|d| d.op == Op::Mov && d.ty == Type::B32 && d.guard.is_none())?;
            let source = moved.srcs[0];
            if self.inner(f, moved, source).is_some() {
                let mut new = inst.clone();
                new.srcs[i] = source;
                return Some(new);
            }
            let fits = matches!(source, Operand::Constant(_) | Operand::Immediate(_))
                || matches!(source, Operand::Special(s) if s != Special::ClockLow);
            let word = inst.src_words(i) == 1 && !matches!(inst.src_role(i), Role::Predicate | Role::ScalarCondition);
            if !fits || !word || (inst.neg | inst.abs) >> i & 1 == 1 {
                return None;
            }
            let mut new = inst.clone();
            new.srcs[i] = source;
            rules::check(&new, Some(&f.vregs)).is_ok().then_some(new)
        })
    }

    /// What a word of a tuple was made of, where an instruction reads just that word.
    fn word_of_tuple(&self, f: &Function, inst: &Inst, i: usize) -> Option<Operand> {
        let (reg, word) = inst.srcs[i].as_virt()?;
        let tuple = self.definitions.of(f, Operand::virt(reg)).filter(|d| d.op == Op::Tuple)?;
        let source = *tuple.srcs.get(usize::from(word)).filter(|s| s.is_some())?;
        let plain = inst.src_words(i) == 1 && (inst.neg | inst.abs) >> i & 1 == 0;
        // A word in S may have changed since it was taken into lanes, in a loop that lanes leave one by one (S4).
        let in_lanes = f.vregs[reg].bank == Bank::Vector && self.definitions.block(reg) == Some(self.here);
        let same_bank = source.as_virt().is_none_or(|(r, _)| f.vregs[r].bank == f.vregs[reg].bank || in_lanes);
        (plain && same_bank && source != Operand::Special(Special::ClockLow)).then_some(source)
    }

    /// Bits of an operand of one word that are known to be zero.
    fn zeros_of(&self, op: Operand) -> u32 {
        match op {
            Operand::Immediate(v) => !v,
            Operand::None => !0,
            _ => op.as_virt().filter(|(_, word)| *word == 0).map_or(0, |(r, _)| self.zeros[r]),
        }
    }

    /// Bits of a result of one word that are known to be zero.
    fn known_zeros(&self, f: &Function, inst: &Inst) -> u32 {
        let Some((dst, _)) = inst.dst.as_virt() else { return 0 };
        if f.vregs[dst].words != 1 || inst.guard.is_some() {
            return 0;
        }
        let zeros = |i: usize| inst.srcs.get(i).map_or(0, |s| self.zeros_of(*s));
        match (inst.op, inst.ty) {
            (Op::Cmp, _) => !1,
            (Op::Load | Op::LoadUniform | Op::Cvt, Type::U8) => !0xff,
            (Op::Load | Op::LoadUniform | Op::Cvt, Type::U16) => !0xffff,
            (Op::Popc | Op::Clz | Op::Ctz, _) => !0x7f,
            // Below both, or below the greater of both.
            (Op::Min, Type::U32) => leading(zeros(0).leading_ones().max(zeros(1).leading_ones())),
            (Op::Max, Type::U32) => leading(zeros(0).leading_ones().min(zeros(1).leading_ones())),
            (Op::Min, Type::S32) if (zeros(0) & zeros(1)) >> 31 == 1 => {
                leading(zeros(0).leading_ones().max(zeros(1).leading_ones()))
            }
            // Not below 0, and in as many bits as both.
            (Op::Max, Type::S32) if (zeros(0) | zeros(1)) >> 31 == 1 => {
                let fit = |bits: &u32| (0..2).all(|i| self.is_extended(f, inst.srcs[i], *bits, DEPTH));
                leading([8, 9, 16, 17, 24].into_iter().find(fit).map_or(1, |bits| 33 - bits))
            }
            (Op::Rem, Type::U32) => match inst.srcs[1] {
                Operand::Immediate(v) if v > 0 => leading((v - 1).leading_zeros()),
                _ => leading(zeros(0).leading_ones()),
            },
            (Op::Div, Type::U32) if matches!(inst.srcs[1], Operand::Immediate(1..)) => leading(zeros(0).leading_ones()),
            (Op::Mov, Type::B32) => zeros(0),
            (Op::And, Type::B32) => zeros(0) | zeros(1),
            (Op::Or | Op::Xor, Type::B32) => zeros(0) & zeros(1),
            (Op::Sel, Type::B32) => zeros(1) & zeros(2),
            (Op::Shl, Type::B32) => immediate(inst.srcs[1]).map_or(0, |k| !(!zeros(0)).wrapping_shl(k)),
            (Op::Shr, Type::U32) => immediate(inst.srcs[1]).map_or(0, |k| !(!zeros(0)).wrapping_shr(k)),
            (Op::Add, Type::B32) if !inst.mods.saturate => {
                let (a, b) = (zeros(0), zeros(1));
                let low = a.trailing_ones().min(b.trailing_ones());
                // A carry may reach one bit further.
                let high = a.leading_ones().min(b.leading_ones()).saturating_sub(1);
                u32::MAX.checked_shl(low).map_or(u32::MAX, |m| !m) | leading(high)
            }
            (Op::Mul, Type::B32) => {
                let low = zeros(0).trailing_ones() + zeros(1).trailing_ones();
                u32::MAX.checked_shl(low).map_or(u32::MAX, |m| !m)
            }
            _ => 0,
        }
    }
}

/// Whether an operand, if it is a register, is in the bank of another one: a word in S may have changed since lanes took it, in a
/// loop that they leave one by one (S4).
fn in_bank_of(f: &Function, op: Operand, reg: VReg) -> bool {
    op.as_virt().is_none_or(|(r, _)| f.vregs[r].bank == f.vregs[reg].bank)
}

/// The uppermost bits, so many.
fn leading(count: u32) -> u32 {
    !u32::MAX.checked_shr(count).unwrap_or(0)
}

/// A funnel shift with zeros on one side, or by nothing.
fn funnel(inst: &Inst) -> Option<Inst> {
    let [high, low, by] = inst.srcs[..] else { return None };
    let by = immediate(by)? % 32;
    let make = |op, ty, a, by| Some(with(inst, op, ty, &[a, Operand::Immediate(by)]));
    match (immediate(high), immediate(low)) {
        _ if by == 0 => Some(copy(inst, low)),
        (_, Some(0)) => make(Op::Shl, Type::B32, high, 32 - by),
        (Some(0), _) => make(Op::Shr, Type::U32, low, by),
        _ => None,
    }
}

fn combine(op: Op, x: u32, y: u32) -> u32 {
    match op {
        Op::And => x & y,
        Op::Or => x | y,
        _ => x ^ y,
    }
}

/// The condition that holds where another does not; NaN operands included.
fn opposite(cond: Cond) -> Option<Cond> {
    use Cond::*;
    Some(match cond {
        Eq => Ne,
        Ne => Eq,
        Lt => Ge,
        Ge => Lt,
        Gt => Le,
        Le => Gt,
        Oeq => Une,
        Une => Oeq,
        One => Ueq,
        Ueq => One,
        Olt => Uge,
        Uge => Olt,
        Ogt => Ule,
        Ule => Ogt,
        Ole => Ugt,
        Ugt => Ole,
        Oge => Ult,
        Ult => Oge,
        Ord => Uno,
        Uno => Ord,
    })
}
