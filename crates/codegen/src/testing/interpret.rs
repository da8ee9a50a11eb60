//! Runs a function at any stage on one warp: virtual or physical registers, phis, the reconvergence stack of
//! `docs/ARCHITECTURE.md`. What an operation computes is its reference's to say (`heddle_isa::meaning`); of memory it knows
//! what the generator and the allocator use. Undefined registers hold noise that depends on `noise`.

use rustc_hash::FxHashMap;

use heddle_isa::{
    AddressMode, CrossLane, Inst, Meaning, MemoryAction, MemorySpace, Op, Operand, PhysReg, Reg, Space, Special, Type, rules,
};
use heddle_mir::{Bank, Block, Function};

/// Lanes of the warp.
pub const LANES: usize = 8;

/// Work-group memory at the end, or `None` if the function ran too long.
pub type Outcome = Option<std::collections::BTreeMap<u32, u32>>;

struct Entry {
    mask: u64,
    block: Block,
    reconverge: Option<Block>,
}

struct Warp<'a> {
    f: &'a Function,
    seed: u32,
    noise: u32,
    /// Words of vector and scalar registers: (register, word, lane); scalars in lane 0.
    words: FxHashMap<(Reg, u8, u8), u32>,
    predicates: FxHashMap<Reg, u64>,
    local: std::collections::BTreeMap<u32, u32>,
    private: FxHashMap<(u32, usize), u32>,
    came_from: [Option<Block>; LANES],
    /// Cluster of the instruction in execution: whose local registers it names.
    cluster: u8,
}

/// The register that holds word `word` of an operand.
fn part(reg: Reg, word: u8) -> (Reg, u8) {
    match reg {
        Reg::Virtual { reg, word: w } => (Reg::Virtual { reg, word: 0 }, w + word),
        Reg::Physical(p) => (Reg::Physical(PhysReg { space: p.space, index: p.index + word }), 0),
    }
}

impl Warp<'_> {
    fn is_scalar(&self, reg: Reg) -> bool {
        match reg {
            Reg::Virtual { reg, .. } => self.f.vregs[reg].bank == Bank::Scalar,
            Reg::Physical(p) => p.space == Space::Scalar,
        }
    }

    /// Number of a lane's copy of a register: scalars have one, local registers one in each cluster.
    fn lane_of(&self, reg: Reg, lane: usize) -> u8 {
        match reg {
            _ if self.is_scalar(reg) => 0,
            Reg::Physical(PhysReg { space: Space::Local, .. }) => lane as u8 + LANES as u8 * self.cluster,
            _ => lane as u8,
        }
    }

    fn word(&self, op: Operand, word: u8, lane: usize, ty: Type) -> u32 {
        match op {
            Operand::None => 0,
            Operand::Reg(reg) => {
                let lane = self.lane_of(reg, lane);
                let (reg, word) = part(reg, word);
                // Noise is the same in whatever place it is read.
                self.words.get(&(reg, word, lane)).copied().unwrap_or(self.noise)
            }
            Operand::Special(Special::LaneId | Special::LocalIdX) => lane as u32,
            Operand::Special(Special::GlobalIdX) => lane as u32 + self.seed % 1000 * 8,
            Operand::Special(s) => s as u32 * 77 + self.seed % 13,
            // Word 8 of the bank is the distance of the lanes' memory.
            Operand::Constant(8) if word == 0 => 1024,
            Operand::Constant(c) => {
                let place = u32::from(c) + u32::from(word);
                let of_launch = || place.wrapping_mul(0x9e37_79b9) ^ self.seed.wrapping_mul(0x85eb_ca6b);
                self.f.literals.word(4 * place).unwrap_or_else(of_launch)
            }
            Operand::Immediate(v) if word == 0 => v,
            Operand::Immediate(v) => {
                if ty.words() == 2 && (v as i32) < 0 {
                    u32::MAX
                } else {
                    0
                }
            }
        }
    }

    fn predicate(&self, op: Operand, lane: usize) -> bool {
        match op {
            Operand::Reg(reg) if self.is_scalar(reg) => self.word(op, 0, 0, Type::B32) != 0,
            Operand::Reg(reg) => self.predicates.get(&part(reg, 0).0).copied().unwrap_or(u64::from(self.noise)) >> lane & 1 == 1,
            other => self.word(other, 0, lane, Type::B32) != 0,
        }
    }

    fn write(&mut self, dst: Operand, word: u8, lane: usize, value: u32) {
        let Operand::Reg(reg) = dst else { return };
        let lane = self.lane_of(reg, lane);
        let (reg, word) = part(reg, word);
        self.words.insert((reg, word, lane), value);
    }

    fn lanes(mask: u64) -> impl Iterator<Item = usize> {
        (0..LANES).filter(move |l| mask >> l & 1 == 1)
    }

    fn guarded(&self, inst: &Inst, mask: u64) -> u64 {
        let Some(g) = inst.guard else { return mask };
        Self::lanes(mask).filter(|l| self.predicate(Operand::Reg(g.reg), *l) != g.negate).fold(0, |m, l| m | 1 << l)
    }

    fn phis(&mut self, insts: &[Inst], mask: u64) {
        let mut writes = Vec::new();
        for inst in insts.iter().take_while(|i| i.op == Op::Phi) {
            let scalar = matches!(inst.dst, Operand::Reg(r) if self.is_scalar(r));
            for lane in Self::lanes(mask).take(if scalar { 1 } else { LANES }) {
                let at = inst.blocks().iter().position(|b| Some(*b) == self.came_from[lane]).expect("a phi without an input");
                if inst.ty == Type::Pred && !scalar {
                    writes.push((inst.dst, 0, lane, u32::from(self.predicate(inst.srcs[at], lane)), true));
                } else {
                    for w in 0..inst.ty.words().max(1) {
                        writes.push((inst.dst, w, lane, self.word(inst.srcs[at], w, lane, inst.ty), false));
                    }
                }
            }
        }
        for (dst, word, lane, value, predicate) in writes {
            if predicate { self.set(dst, lane, value != 0) } else { self.write(dst, word, lane, value) }
        }
    }

    fn set(&mut self, dst: Operand, lane: usize, value: bool) {
        let Operand::Reg(reg) = dst else { return };
        if self.is_scalar(reg) {
            return self.write(dst, 0, 0, u32::from(value));
        }
        let noise = u64::from(self.noise);
        let bits = self.predicates.entry(part(reg, 0).0).or_insert(noise);
        *bits = *bits & !(1 << lane) | u64::from(value) << lane;
    }

    /// Executes an instruction; what it releases holds noise from then on, in all lanes, so that a release
    /// too early shows.
    fn execute(&mut self, inst: &Inst, mask: u64) {
        if inst.op != Op::Release {
            self.operate(inst, mask);
        }
        for (i, s) in inst.srcs.iter().enumerate() {
            let Some(reg) = s.as_phys().filter(|_| inst.release >> i & 1 == 1 || (inst.op == Op::Release && inst.imm == 0))
            else {
                continue;
            };
            for word in 0..inst.src_words(i).max(1) {
                let (key, word) = part(Reg::Physical(reg), word);
                for lane in 0..LANES as u8 {
                    self.words.remove(&(key, word, lane));
                }
            }
        }
    }

    fn operate(&mut self, inst: &Inst, mask: u64) {
        self.cluster = inst.cluster;
        let mask = self.guarded(inst, mask);
        let scalar = matches!(inst.dst, Operand::Reg(r) if self.is_scalar(r));
        let lanes: Vec<usize> = Self::lanes(mask).take(if scalar { 1 } else { LANES }).collect();
        if inst.op == Op::Tuple {
            for &lane in &lanes {
                let words: Vec<u32> = (0..inst.srcs.len()).map(|w| self.word(inst.srcs[w], 0, lane, Type::B32)).collect();
                words.iter().enumerate().for_each(|(w, v)| self.write(inst.dst, w as u8, lane, *v));
            }
            return;
        }
        match inst.info().meaning {
            Meaning::Lane(_) => lanes.into_iter().for_each(|lane| self.evaluate(inst, lane)),
            Meaning::CrossLane(CrossLane::First) => {
                let Some(&lane) = lanes.first() else { return };
                let words: Vec<u32> = (0..inst.ty.words()).map(|w| self.word(inst.srcs[0], w, lane, inst.ty)).collect();
                words.iter().enumerate().for_each(|(w, v)| self.write(inst.dst, w as u8, lane, *v));
            }
            Meaning::CrossLane(CrossLane::Ballot) => {
                let bits = Self::lanes(mask).filter(|l| self.predicate(inst.srcs[0], *l)).fold(0u32, |m, l| m | 1 << l);
                self.write(inst.dst, 0, 0, bits);
                self.write(inst.dst, 1, 0, 0);
            }
            Meaning::Memory(MemoryAction::Load | MemoryAction::Store) => {
                lanes.into_iter().for_each(|lane| self.memory(inst, lane));
            }
            Meaning::CrossLane(CrossLane::Shuffle) | Meaning::Memory(_) | Meaning::Control | Meaning::Pseudo => {
                panic!("the interpreter of the tests does not know {:?}", inst.op)
            }
        }
    }

    /// An operation on one lane's operands, by its reference.
    fn evaluate(&mut self, inst: &Inst, lane: usize) {
        let mut sources = [[0; 4]; 3];
        for (i, source) in sources.iter_mut().enumerate().take(inst.srcs.len()) {
            if rules::is_predicate_role(inst, inst.src_role(i)) {
                source[0] = u32::from(self.predicate(inst.srcs[i], lane));
                continue;
            }
            for w in 0..inst.src_words(i) {
                source[usize::from(w)] = self.word(inst.srcs[i], w, lane, inst.ty);
            }
        }
        let result = inst.evaluate(sources).unwrap_or_else(|| panic!("{inst:?} has no meaning"));
        if inst.info().dst.is_some_and(|role| rules::is_predicate_role(inst, role)) {
            return self.set(inst.dst, lane, result[0] != 0);
        }
        for w in 0..inst.dst_words() {
            self.write(inst.dst, w, lane, result[usize::from(w)]);
        }
    }

    fn memory(&mut self, inst: &Inst, lane: usize) {
        assert_eq!(inst.mods.address, AddressMode::U32);
        let base = self.word(inst.srcs[0], 0, lane, Type::B32);
        let address = base.wrapping_add(self.word(inst.srcs[1], 0, lane, Type::B32)).wrapping_add(inst.imm as u32);
        for w in 0..inst.ty.words() {
            let at = address.wrapping_add(4 * u32::from(w));
            match (inst.mods.space, inst.op) {
                (Some(MemorySpace::Local), Op::Load) => {
                    let v = self.local.get(&at).copied().unwrap_or(at ^ 0x55);
                    self.write(inst.dst, w, lane, v);
                }
                (Some(MemorySpace::Local), Op::Store) => {
                    let v = self.word(inst.srcs[2], w, lane, inst.ty);
                    self.local.insert(at, v);
                }
                (Some(MemorySpace::Private), Op::Load) => {
                    let v = self.private.get(&(at, lane)).copied().unwrap_or(self.noise);
                    self.write(inst.dst, w, lane, v);
                }
                (Some(MemorySpace::Private), Op::Store) => {
                    let v = self.word(inst.srcs[2], w, lane, inst.ty);
                    self.private.insert((at, lane), v);
                }
                other => panic!("memory operation {other:?}"),
            }
        }
    }
}

/// Runs a function on one warp.
pub fn run(f: &Function, seed: u32, noise: u32) -> Outcome {
    let mut warp = Warp {
        f,
        seed,
        noise,
        words: FxHashMap::default(),
        predicates: FxHashMap::default(),
        local: Default::default(),
        private: FxHashMap::default(),
        came_from: [None; LANES],
        cluster: 0,
    };
    let next_of: FxHashMap<Block, Block> = f.layout.windows(2).map(|w| (w[0], w[1])).collect();
    let mut stack = vec![Entry { mask: (1 << LANES) - 1, block: f.entry(), reconverge: None }];
    let mut steps = 0;
    while let Some(top) = stack.last() {
        let (mask, block) = (top.mask, top.block);
        if mask == 0 || top.reconverge == Some(block) {
            stack.pop();
            continue;
        }
        let insts = &f.blocks[block].insts;
        warp.phis(insts, mask);
        let mut next = next_of.get(&block).copied();
        let mut taken: Option<(u64, Block, Option<Block>)> = None;
        let mut ended = false;
        for inst in insts.iter().skip_while(|i| i.op == Op::Phi) {
            steps += 1;
            if inst.strand {
                // The warp may have lost its local registers (C14).
                warp.words.retain(|(r, ..), _| !matches!(r, Reg::Physical(p) if p.space == Space::Local));
            }
            match inst.op {
                Op::Bra => next = Some(inst.blocks()[0]),
                Op::BraScalar => {
                    let condition = warp.word(inst.srcs[0], 0, 0, Type::B32) != 0;
                    if condition == (inst.imm == 0) {
                        next = Some(inst.blocks()[0]);
                        break;
                    }
                }
                Op::BraDivergent => {
                    taken = Some((warp.guarded(inst, mask), inst.blocks()[0], inst.blocks().get(1).copied()));
                }
                Op::Exit => ended = true,
                _ => warp.execute(inst, mask),
            }
        }
        if steps > 200_000 {
            return None;
        }
        Warp::lanes(mask).for_each(|l| warp.came_from[l] = Some(block));
        if ended {
            stack.iter_mut().for_each(|e| e.mask &= !mask);
            continue;
        }
        let here = stack.len() - 1;
        match (taken, next) {
            (Some((t, to, reconverge)), Some(fall)) if t != 0 && t != mask => {
                match reconverge {
                    Some(j) => stack[here].block = j,
                    None => stack[here].mask = 0,
                }
                stack.push(Entry { mask: t, block: to, reconverge });
                stack.push(Entry { mask: mask & !t, block: fall, reconverge });
            }
            (Some((t, to, _)), _) if t == mask => stack[here].block = to,
            (_, Some(next)) => stack[here].block = next,
            (_, None) => panic!("control falls off the end"),
        }
    }
    Some(warp.local)
}
