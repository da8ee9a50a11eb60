//! Random SSA functions: structured control flow with uniform and divergent branches, loops whose exits are
//! uniform or divergent, breaks, early exits, tuples, predicates, scalars, 64-bit values. Every function
//! ends, and its stores are its result.

use rand::prelude::*;
use rand_pcg::Pcg32;
use smallvec::{SmallVec, smallvec};

use heddle_isa::{Cond, Guard, Inst, MemorySpace, Op, Operand, Reg, Special, Targets, Type, VReg};
use heddle_mir::{Block, Function, RegClass};

const V1: RegClass = RegClass::vector(1);
const V2: RegClass = RegClass::vector(2);
const V4: RegClass = RegClass::vector(4);
const S1: RegClass = RegClass::scalar(1);
const S2: RegClass = RegClass::scalar(2);
const P: RegClass = RegClass::PREDICATE;

/// Values in scope, by class.
#[derive(Clone, Default)]
struct Scope {
    values: Vec<VReg>,
}

/// A block that leaves a loop by `break`, and the values in scope there.
type Break = (Block, Vec<VReg>);

struct Generator {
    f: Function,
    rng: Pcg32,
    block: Block,
    scope: Scope,
    /// Instructions still to be made.
    budget: i32,
    depth: u32,
    /// Inside a loop: where `break` goes, the depth of the loop's own statements, and the breaks so far with
    /// the values in scope.
    breaks: Option<(Block, u32, Vec<Break>)>,
    frequency: f32,
}

/// A random function of about `size` instructions.
pub fn function(seed: u64, size: i32) -> Function {
    let mut g = Generator::new(format!("random{seed}"), seed, size);
    g.prologue();
    g.statements();
    // Everything in scope is part of the result.
    let all = g.scope.values.clone();
    for v in all {
        g.store(v);
    }
    g.push(Inst::new(Op::Exit, Type::None, Operand::None, []));
    g.f
}

impl Generator {
    fn new(name: String, seed: u64, budget: i32) -> Self {
        let mut f = Function::new(name);
        let block = f.add_block();
        let rng = Pcg32::seed_from_u64(seed);
        Generator { f, rng, block, scope: Scope::default(), budget, depth: 0, breaks: None, frequency: 1.0 }
    }

    /// A few values of every class.
    fn prologue(&mut self) {
        for s in [Special::LaneId, Special::GlobalIdX, Special::LocalIdX] {
            self.define(Op::Mov, Type::B32, V1, [Operand::Special(s)]);
        }
        for i in 0..3 {
            self.define(Op::Mov, Type::B32, S1, [Operand::Constant(2 + i)]);
        }
        self.define(Op::Mov, Type::B64, S2, [Operand::Constant(6)]);
        self.define(Op::Mov, Type::B64, V2, [Operand::Immediate(0xffff_fff0)]);
        self.compare();
    }

    fn push(&mut self, inst: Inst) {
        self.f.blocks[self.block].insts.push(inst);
    }

    fn new_block(&mut self) -> Block {
        let b = self.f.add_block();
        self.f.blocks[b].frequency = self.frequency;
        self.f.layout.pop();
        b
    }

    /// Enters a block into the layout and continues there.
    fn start(&mut self, block: Block) {
        self.f.layout.push(block);
        self.block = block;
    }

    fn define(&mut self, op: Op, ty: Type, class: RegClass, srcs: impl IntoIterator<Item = Operand>) -> VReg {
        let reg = self.f.add_vreg(class);
        self.push(Inst::new(op, ty, Operand::virt(reg), srcs));
        self.scope.values.push(reg);
        reg
    }

    /// A value of a class in scope; recent ones are likelier.
    fn pick(&mut self, class: RegClass) -> Option<VReg> {
        let of: Vec<VReg> = self.scope.values.iter().copied().filter(|v| self.f.vregs[*v] == class).collect();
        if of.is_empty() {
            return None;
        }
        let n = of.len();
        let i = if self.rng.random_bool(0.5) { n - 1 - self.rng.random_range(0..n.min(4)) } else { self.rng.random_range(0..n) };
        Some(of[i])
    }

    /// A 32-bit operand for a vector instruction.
    fn word(&mut self) -> Operand {
        match self.rng.random_range(0..12) {
            0 => Operand::Immediate(self.rng.random_range(0..40)),
            1 => Operand::Constant(self.rng.random_range(2..8)),
            2 => Operand::Special(Special::LaneId),
            3 | 4 => self.pick(S1).map_or(Operand::Immediate(3), Operand::virt),
            5 | 6 => {
                let word = self.rng.random_range(0..2);
                self.pick(V2).map_or(Operand::Immediate(5), |v| Operand::virt_word(v, word))
            }
            7 | 8 => {
                let word = self.rng.random_range(0..4);
                self.pick(V4).map_or(Operand::Constant(3), |v| Operand::virt_word(v, word))
            }
            _ => self.pick(V1).map_or(Operand::Immediate(9), Operand::virt),
        }
    }

    /// A 64-bit operand for a vector instruction.
    fn pair(&mut self) -> Operand {
        match self.rng.random_range(0..8) {
            0 => Operand::Constant(4),
            1 => self.pick(S2).map_or(Operand::Constant(4), Operand::virt),
            2 | 3 => {
                let word = 2 * self.rng.random_range(0..2);
                self.pick(V4).map_or(Operand::Constant(2), |v| Operand::virt_word(v, word))
            }
            _ => self.pick(V2).map_or(Operand::Constant(2), Operand::virt),
        }
    }

    fn scalar(&mut self) -> Operand {
        match self.rng.random_range(0..5) {
            0 => Operand::Immediate(self.rng.random_range(1..30)),
            1 => Operand::Constant(self.rng.random_range(2..8)),
            _ => self.pick(S1).map_or(Operand::Special(Special::GroupIdX), Operand::virt),
        }
    }

    /// At most one immediate an instruction.
    fn one_immediate(mut srcs: SmallVec<[Operand; 3]>) -> SmallVec<[Operand; 3]> {
        let mut seen = false;
        for s in &mut srcs {
            if matches!(s, Operand::Immediate(_)) && std::mem::replace(&mut seen, true) {
                *s = Operand::Constant(5);
            }
        }
        srcs
    }

    fn arithmetic(&mut self, scalar: bool) {
        let (op, n) = *[(Op::Add, 2), (Op::Sub, 2), (Op::Mul, 2), (Op::And, 2), (Op::Xor, 2), (Op::Mad, 3), (Op::Mov, 1)]
            .choose(&mut self.rng)
            .unwrap();
        let wide = self.rng.random_bool(0.25);
        let srcs: SmallVec<[Operand; 3]> = (0..n)
            .map(|_| match (scalar, wide) {
                (true, true) => self.pick(S2).map_or(Operand::Constant(4), Operand::virt),
                (true, false) => self.scalar(),
                (false, true) => self.pair(),
                (false, false) => self.word(),
            })
            .collect();
        let class = match (scalar, wide) {
            (true, true) => S2,
            (true, false) => S1,
            (false, true) => V2,
            (false, false) => V1,
        };
        self.define(op, if wide { Type::B64 } else { Type::B32 }, class, Self::one_immediate(srcs));
    }

    fn compare(&mut self) -> VReg {
        let srcs = Self::one_immediate(smallvec![self.word(), self.word()]);
        let reg = self.f.add_vreg(P);
        let cond = *[Cond::Eq, Cond::Ne, Cond::Lt, Cond::Ge].choose(&mut self.rng).unwrap();
        let mut inst = Inst::new(Op::Cmp, Type::U32, Operand::virt(reg), srcs);
        if matches!(cond, Cond::Eq | Cond::Ne) {
            inst.ty = Type::B32;
        }
        inst.mods.cond = Some(cond);
        self.push(inst);
        self.scope.values.push(reg);
        reg
    }

    /// A predicate that differs between lanes, mostly.
    fn condition(&mut self) -> VReg {
        if self.rng.random_bool(0.3)
            && let Some(p) = self.pick(P)
        {
            return p;
        }
        let low = self.define(Op::And, Type::B32, V1, Vec::new());
        let src = self.pick(V1).unwrap_or(low);
        let at = self.f.blocks[self.block].insts.len() - 1;
        let src = if src == low { Operand::Special(Special::LaneId) } else { Operand::virt(src) };
        self.f.blocks[self.block].insts[at].srcs = smallvec![src, Operand::Immediate(self.rng.random_range(1..16))];
        let reg = self.f.add_vreg(P);
        let mut inst = Inst::new(Op::Cmp, Type::U32, Operand::virt(reg), [Operand::virt(low), Operand::Special(Special::LaneId)]);
        inst.mods.cond = Some(*[Cond::Lt, Cond::Ge, Cond::Gt].choose(&mut self.rng).unwrap());
        self.push(inst);
        self.scope.values.push(reg);
        reg
    }

    fn address(&mut self) -> VReg {
        // Somewhere in the lane's own part of the memory.
        let slot = self.rng.random_range(0..64u32) * 16;
        let reg = self.f.add_vreg(V1);
        let srcs = [Operand::Special(Special::LaneId), Operand::Constant(8), Operand::Immediate(slot)];
        self.push(Inst::new(Op::Mad, Type::B32, Operand::virt(reg), srcs));
        reg
    }

    fn store(&mut self, v: VReg) {
        let class = self.f.vregs[v];
        let address = self.address();
        let (ty, data) = match class {
            P => {
                let word = self.f.add_vreg(V1);
                let srcs = [Operand::virt(v), Operand::Immediate(1), Operand::None];
                self.push(Inst::new(Op::Sel, Type::B32, Operand::virt(word), srcs));
                (Type::B32, word)
            }
            _ => (class.copy_type(), v),
        };
        let mut inst = Inst::new(Op::Store, ty, Operand::None, [Operand::None, Operand::virt(address), Operand::virt(data)]);
        inst.mods.space = Some(MemorySpace::Local);
        if self.rng.random_bool(0.2) {
            let negate = self.rng.random_bool(0.5);
            inst.guard = self.pick(P).map(|p| Guard { reg: Reg::Virtual { reg: p, word: 0 }, negate });
        }
        self.push(inst);
    }

    fn simple(&mut self) {
        self.budget -= 1;
        match self.rng.random_range(0..22) {
            0..=8 => self.arithmetic(false),
            9..=11 => self.arithmetic(true),
            12 => {
                self.compare();
            }
            13 => {
                let p = self.condition();
                let srcs: SmallVec<[Operand; 3]> = smallvec![Operand::virt(p), self.word(), self.word()];
                self.define(Op::Sel, Type::B32, V1, Self::one_immediate(srcs));
            }
            14 => {
                let srcs: Vec<Operand> = (0..2).map(|_| self.word()).collect();
                self.define(Op::Tuple, Type::B64, V2, srcs);
            }
            15 => {
                let srcs: Vec<Operand> = (0..4).map(|_| self.word()).collect();
                self.define(Op::Tuple, Type::B128, V4, srcs);
            }
            16 => {
                let (ty, class) = *[(Type::B32, V1), (Type::B64, V2), (Type::B128, V4)].choose(&mut self.rng).unwrap();
                let address = self.address();
                let reg = self.define(Op::Load, ty, class, [Operand::None, Operand::virt(address)]);
                let at = self.f.blocks[self.block].insts.len() - 1;
                self.f.blocks[self.block].insts[at].mods.space = Some(MemorySpace::Local);
                debug_assert!(self.f.vregs[reg] == class);
            }
            17 => {
                if let Some(v) = self.pick(V1) {
                    self.define(Op::First, Type::B32, S1, [Operand::virt(v)]);
                }
            }
            18 => {
                if let (Some(a), Some(b)) = (self.pick(P), self.pick(P)) {
                    let op = *[Op::And, Op::Xor].choose(&mut self.rng).unwrap();
                    self.define(op, Type::Pred, P, [Operand::virt(a), Operand::virt(b)]);
                }
            }
            19 => {
                if let Some(p) = self.pick(P) {
                    self.define(Op::Ballot, Type::None, S2, [Operand::virt(p)]);
                }
            }
            20 => {
                let srcs: SmallVec<[Operand; 3]> = smallvec![self.word(), self.word()];
                self.define(Op::MulWide, Type::U32, V2, Self::one_immediate(srcs));
            }
            _ => {
                if let Some(v) = self.scope.values.choose(&mut self.rng).copied() {
                    self.store(v);
                }
            }
        }
    }

    fn statements(&mut self) {
        while self.budget > 0 {
            match self.rng.random_range(0..16) {
                0 | 1 if self.depth < 5 => self.branch(),
                2 if self.depth < 4 => self.natural_loop(),
                3 if self.depth > 0 && self.rng.random_bool(0.5) => return,
                4 if self.depth > 0 && self.rng.random_bool(0.5) => self.divergent_break(),
                5 if self.depth == 0 && self.rng.random_bool(0.15) => self.early_exit(),
                _ => self.simple(),
            }
        }
    }

    /// The conditional branch at the end of the current block: uniform with a scalar condition, or divergent.
    fn end_with_branch(&mut self, divergent: bool, taken: Block, reconverge: Option<Block>) {
        if divergent {
            let p = self.condition();
            let mut inst = Inst::new(Op::BraDivergent, Type::None, Operand::None, []);
            inst.guard = Some(Guard { reg: Reg::Virtual { reg: p, word: 0 }, negate: self.rng.random_bool(0.5) });
            inst.targets = Targets::Blocks([Some(taken), reconverge].into_iter().flatten().collect());
            self.push(inst);
        } else {
            let bit = self.rng.random_range(0..3);
            let srcs = Self::one_immediate(smallvec![self.scalar(), Operand::Immediate(1 << bit)]);
            let c = self.define(Op::And, Type::B32, S1, srcs);
            let mut inst = Inst::new(Op::BraScalar, Type::None, Operand::None, [Operand::virt(c)]);
            inst.targets = Targets::Blocks(smallvec![taken]);
            inst.imm = self.rng.random_range(0..2);
            self.push(inst);
        }
    }

    fn bra(&mut self, to: Block) {
        let mut inst = Inst::new(Op::Bra, Type::None, Operand::None, []);
        inst.targets = Targets::Blocks(smallvec![to]);
        self.push(inst);
    }

    /// `if` with or without `else`, and phis where it ends.
    fn branch(&mut self) {
        let divergent = self.rng.random_bool(0.6);
        let with_else = self.rng.random_bool(0.6);
        let (first, join) = (self.new_block(), self.new_block());
        let second = if with_else { self.new_block() } else { join };
        self.end_with_branch(divergent, second, Some(join));
        let (origin, outer) = (self.block, self.scope.clone());
        self.depth += 1;
        let budget = self.budget;
        self.budget = self.rng.random_range(1..12).min(budget);
        let mut left = budget - self.budget;
        self.start(first);
        self.statements();
        let (end_first, scope_first) = (self.block, std::mem::replace(&mut self.scope, outer.clone()));
        left += self.budget.min(0);
        if with_else {
            self.bra(join);
            self.budget = self.rng.random_range(1..12).min(left.max(1));
            left -= self.budget;
            self.start(second);
            self.statements();
            left += self.budget.min(0);
        }
        let (end_second, scope_second) =
            if with_else { (self.block, std::mem::replace(&mut self.scope, outer)) } else { (origin, outer) };
        self.scope = scope_second.clone();
        self.scope.values.retain(|v| scope_first.values.contains(v));
        self.depth -= 1;
        self.budget = left;
        self.start(join);
        let mut phis = Vec::new();
        for _ in 0..self.rng.random_range(0..5) {
            // At a divergent join only lanes' values (S3).
            let class = *[V1, V2, V4, P, V1, S1, S2].choose(&mut self.rng).unwrap();
            if divergent && (class == S1 || class == S2) {
                continue;
            }
            let choose = |scope: &Scope, this: &mut Self| {
                let of: Vec<VReg> = scope.values.iter().rev().copied().filter(|v| this.f.vregs[*v] == class).take(5).collect();
                of.choose(&mut this.rng).copied()
            };
            let (Some(a), Some(b)) = (choose(&scope_first, self), choose(&scope_second, self)) else { continue };
            phis.push((class, [(a, end_first), (b, end_second)]));
        }
        for (class, inputs) in phis {
            self.phi(class, &inputs);
        }
    }

    /// `if (p) break;` among a loop's own statements.
    fn divergent_break(&mut self) {
        let Some((exit, depth, _)) = self.breaks else { return };
        if depth != self.depth {
            return;
        }
        let next = self.new_block();
        let p = self.condition();
        let negate = self.rng.random_bool(0.5);
        let leaves_first = self.rng.random_bool(0.5);
        let mut inst = Inst::new(Op::BraDivergent, Type::None, Operand::None, []);
        inst.guard = Some(Guard { reg: Reg::Virtual { reg: p, word: 0 }, negate });
        inst.targets = Targets::Blocks(smallvec![if leaves_first { next } else { exit }, exit]);
        self.push(inst);
        if leaves_first {
            self.bra(exit);
        }
        let (block, values) = (self.block, self.scope.values.clone());
        if let Some(b) = &mut self.breaks {
            b.2.push((block, values));
        }
        self.start(next);
    }

    /// `if (p) return;`: the sides meet no more.
    fn early_exit(&mut self) {
        let (leaving, next) = (self.new_block(), self.new_block());
        let p = self.condition();
        let (outer, waits) = (self.scope.clone(), self.rng.random_bool(0.5));
        let mut inst = Inst::new(Op::BraDivergent, Type::None, Operand::None, []);
        inst.guard = Some(Guard { reg: Reg::Virtual { reg: p, word: 0 }, negate: self.rng.random_bool(0.5) });
        inst.targets = Targets::Blocks(smallvec![if waits { leaving } else { next }]);
        self.push(inst);
        if waits {
            self.bra(next);
        }
        self.start(leaving);
        for _ in 0..self.rng.random_range(1..5) {
            self.simple();
            if let Some(v) = self.scope.values.choose(&mut self.rng).copied() {
                self.store(v);
            }
        }
        self.push(Inst::new(Op::Exit, Type::None, Operand::None, []));
        self.scope = outer;
        self.start(next);
    }

    fn phi(&mut self, class: RegClass, inputs: &[(VReg, Block)]) -> VReg {
        let ty = class.copy_type();
        let reg = self.define(Op::Phi, ty, class, inputs.iter().map(|i| Operand::virt(i.0)));
        let at = self.f.blocks[self.block].insts.len() - 1;
        self.f.blocks[self.block].insts[at].targets = Targets::Blocks(inputs.iter().map(|i| i.1).collect());
        reg
    }

    /// A loop that runs a few times, with loop-carried values and perhaps a break.
    fn natural_loop(&mut self) {
        let divergent = self.rng.random_bool(0.5);
        let (header, exit) = (self.new_block(), self.new_block());
        let (limit, carried) = self.loop_values(divergent);
        let preheader = self.block;
        let outer_breaks = self.breaks.replace((exit, self.depth + 1, Vec::new()));
        let (frequency, budget) = (self.frequency, self.budget);
        self.frequency *= 4.0;
        self.f.blocks[header].frequency = self.frequency;
        self.start(header);
        let phis: Vec<VReg> = carried.iter().map(|(c, v)| self.phi(*c, &[(*v, preheader)])).collect();
        let outer = self.scope.clone();
        self.depth += 1;
        self.budget = self.rng.random_range(2..16).min(budget.max(2));
        let left = budget - self.budget;
        self.statements();
        self.depth -= 1;
        self.budget = left + self.budget.min(0);
        let next = self.next_values(&carried, &phis);
        let latch = self.block;
        self.loop_branch(divergent, [phis[0], limit], header, exit);
        for (k, value) in next.iter().enumerate() {
            let inst = &mut self.f.blocks[header].insts[k];
            inst.srcs.push(Operand::virt(*value));
            if let Targets::Blocks(b) = &mut inst.targets {
                b.push(latch);
            }
        }
        let breaks = std::mem::replace(&mut self.breaks, outer_breaks).map(|b| b.2).unwrap_or_default();
        self.frequency = frequency;
        let inner = std::mem::replace(&mut self.scope, outer);
        self.scope_behind_loop(&inner, &phis, &breaks, divergent || !breaks.is_empty());
        self.start(exit);
        self.closed_phis(&inner, &breaks, latch);
    }

    /// The limit of a rotated loop's count, and what the loop carries: the count, a vector if the exit is
    /// divergent, and other values.
    fn loop_values(&mut self, divergent: bool) -> (VReg, Vec<(RegClass, VReg)>) {
        let class = if divergent { V1 } else { S1 };
        let start = self.define(Op::Mov, Type::B32, class, [Operand::Immediate(0)]);
        let limit = if divergent {
            let lane = Operand::Special(Special::LaneId);
            self.define(Op::And, Type::B32, V1, [lane, Operand::Immediate(3)])
        } else {
            self.define(Op::And, Type::B32, S1, [Operand::Constant(3), Operand::Immediate(3)])
        };
        let mut carried = vec![(class, start)];
        for _ in 0..self.rng.random_range(0..5) {
            let class = *[V1, V1, V2, V4, P, S1].choose(&mut self.rng).unwrap();
            if let Some(v) = self.pick(class) {
                carried.push((class, v));
            }
        }
        (limit, carried)
    }

    /// Values of the carried registers for the next iteration: the count and one, swaps and rotations, or
    /// anything in scope.
    fn next_values(&mut self, carried: &[(RegClass, VReg)], phis: &[VReg]) -> Vec<VReg> {
        let mut next: Vec<VReg> = Vec::new();
        for (i, (class, _)) in carried.iter().enumerate() {
            if i == 0 {
                let srcs = [Operand::virt(phis[0]), Operand::Immediate(1)];
                next.push(self.define(Op::Add, Type::B32, *class, srcs));
            } else if self.rng.random_bool(0.3) {
                let same: Vec<VReg> = (0..phis.len()).filter(|j| carried[*j].0 == *class).map(|j| phis[j]).collect();
                next.push(*same.choose(&mut self.rng).unwrap());
            } else {
                let v = self.pick(*class).unwrap_or(phis[i]);
                next.push(v);
            }
        }
        next
    }

    /// Compares the count with its limit, and goes back or out.
    fn loop_branch(&mut self, divergent: bool, compared: [VReg; 2], header: Block, exit: Block) {
        let srcs = compared.map(Operand::virt);
        if divergent {
            let p = self.f.add_vreg(P);
            let mut inst = Inst::new(Op::Cmp, Type::U32, Operand::virt(p), srcs);
            inst.mods.cond = Some(Cond::Ge);
            self.push(inst);
            // Either side may be the loop.
            let mut inst = Inst::new(Op::BraDivergent, Type::None, Operand::None, []);
            let back = self.rng.random_bool(0.5);
            inst.guard = Some(Guard { reg: Reg::Virtual { reg: p, word: 0 }, negate: back });
            inst.targets = Targets::Blocks(smallvec![if back { header } else { exit }, exit]);
            self.push(inst);
            if !back {
                self.bra(header);
            }
        } else {
            let c = self.define(Op::Cmp, Type::U32, S1, srcs);
            let at = self.f.blocks[self.block].insts.len() - 1;
            self.f.blocks[self.block].insts[at].mods.cond = Some(Cond::Lt);
            let mut inst = Inst::new(Op::BraScalar, Type::None, Operand::None, [Operand::virt(c)]);
            inst.targets = Targets::Blocks(smallvec![header]);
            self.push(inst);
        }
    }

    /// Values of the loop behind it: lanes' values live on, scalars only past a uniform exit (S4).
    fn scope_behind_loop(&mut self, inner: &Scope, phis: &[VReg], breaks: &[Break], divergent: bool) {
        let scalar = |f: &Function, v: VReg| f.vregs[v] == S1 || f.vregs[v] == S2;
        if divergent {
            let carried_scalars: Vec<VReg> = phis.iter().copied().filter(|p| scalar(&self.f, *p)).collect();
            self.scope.values.retain(|v| !carried_scalars.contains(v));
        }
        for &v in &inner.values {
            let known = self.scope.values.contains(&v) || (divergent && scalar(&self.f, v));
            if !known && breaks.iter().all(|b| b.1.contains(&v)) && self.rng.random_bool(0.3) {
                self.scope.values.push(v);
            }
        }
    }

    /// Closed-SSA phis of the loop's values, on the exit edges.
    fn closed_phis(&mut self, inner: &Scope, breaks: &[Break], latch: Block) {
        for _ in 0..self.rng.random_range(0..4) {
            let class = *[V1, V2, V4, P].choose(&mut self.rng).unwrap();
            let mut inputs = Vec::new();
            for (block, values) in breaks.iter().cloned().chain([(latch, inner.values.clone())]) {
                let of: Vec<VReg> = values.iter().rev().copied().filter(|v| self.f.vregs[*v] == class).take(6).collect();
                inputs.extend(of.choose(&mut self.rng).map(|v| (*v, block)));
            }
            if inputs.len() == breaks.len() + 1 {
                self.phi(class, &inputs);
            }
        }
    }
}

/// A block of `size` instructions.
pub fn straight_line(size: i32) -> Function {
    let mut g = Generator::new("straight".into(), 1, size);
    g.prologue();
    while g.budget > 0 {
        g.simple();
        // Only recent values stay in use, or the pressure would grow with the size.
        if g.scope.values.len() > 80 {
            g.scope.values.drain(8..40);
        }
    }
    g.push(Inst::new(Op::Exit, Type::None, Operand::None, []));
    g.f
}

/// A function of about `blocks` blocks: branches and loops one after another.
pub fn many_blocks(blocks: usize) -> Function {
    let mut g = Generator::new("blocks".into(), 1, i32::MAX);
    g.prologue();
    while g.f.layout.len() < blocks {
        g.budget = 20;
        if g.rng.random_bool(0.7) {
            g.branch()
        } else {
            g.natural_loop()
        }
        if g.scope.values.len() > 60 {
            g.scope.values.drain(8..30);
        }
    }
    g.push(Inst::new(Op::Exit, Type::None, Operand::None, []));
    g.f
}
