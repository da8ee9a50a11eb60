//! The emitter: the machine function being built, the block and source line that instructions go to, and
//! constants in registers.
//!
//! It knows nothing of LLVM. An operation goes to the scalar unit if all its operands are uniform (S5), which
//! the operands' banks tell. Every instruction becomes legal on its way in: at most one immediate, and what
//! the encoding wants in a register is put into one. More of its vocabulary is in `words.rs` (integers of one
//! and two words) and `bits.rs` (predicates).

use heddle_isa::{AddressMode, Guard, Inst, Op, Operand, Role, SourceLoc, Targets, Type};
use heddle_mir::{Bank, Block, Function, RegClass};

use rustc_hash::FxHashMap;

/// The machine function being built.
pub(crate) struct Emitter {
    pub f: Function,
    /// Where instructions are appended.
    pub current: Block,
    /// The source line of the instruction that is being selected.
    pub loc: SourceLoc,
    /// Use scalar registers for uniform values (S5).
    pub scalarize: bool,
    pub pool: ConstantPool,
    pub files: SourceFiles,
    /// Whether a branch had a condition that turned out constant: one of its edges is missing.
    pub dropped_edges: bool,
    /// Words of the constant bank that no operand can name, loaded on entry, by byte offset and number.
    pub far_words: FxHashMap<(u32, u8), Operand>,
    /// What one-word results of logic and of shifts to the right were computed from, as it was asked for.
    bitwise: FxHashMap<Operand, Bitwise>,
}

/// How a word was computed, bit by bit.
#[derive(Clone, Copy)]
pub(crate) struct Bitwise {
    pub op: Op,
    pub sources: [Operand; 2],
}

/// The numbers of source files in the function's list.
#[derive(Default)]
pub(crate) struct SourceFiles {
    by_name: FxHashMap<String, u32>,
    /// The last one that was asked for: what tells it apart, and its number.
    last: (usize, u32),
}

impl SourceFiles {
    /// The number of a file. `key` tells files apart faster than their names do.
    pub fn number(&mut self, f: &mut Function, key: usize, name: impl FnOnce() -> String) -> u32 {
        if key != self.last.0 {
            let name = name();
            let next = f.files.len() as u32;
            let number = *self.by_name.entry(name.clone()).or_insert(next);
            if number == next {
                f.files.push(name);
            }
            self.last = (key, number);
        }
        self.last.1
    }
}

/// Constants that are in scalar registers, by bits and width in words.
#[derive(Default)]
pub(crate) struct ConstantPool {
    /// Made in the current block.
    here: FxHashMap<(u64, u8), Operand>,
    /// Made on entry, for use in loops.
    on_entry: FxHashMap<(u64, u8), Operand>,
    /// The bits of each that has two words.
    wide: FxHashMap<Operand, u64>,
    /// The current block is in a loop.
    pub in_loop: bool,
}

impl ConstantPool {
    fn note(&mut self, register: Operand, bits: u64, words: u8) {
        if words == 2 {
            self.wide.insert(register, bits);
        }
    }
}

/// Where the emitter was before it went to the entry block, and what ends that one.
pub(crate) struct Elsewhere {
    block: Block,
    tail: Vec<Inst>,
}

impl Emitter {
    /// Starts a function.
    pub fn new(name: String, scalarize: bool) -> Emitter {
        Emitter {
            f: Function::new(name),
            current: Block::from_u32(0),
            loc: SourceLoc::default(),
            scalarize,
            pool: ConstantPool::default(),
            files: SourceFiles::default(),
            dropped_edges: false,
            far_words: FxHashMap::default(),
            bitwise: FxHashMap::default(),
        }
    }

    /// How a word was computed, if it is the result of logic or of a logical shift to the right.
    pub fn bitwise(&self, word: Operand) -> Option<Bitwise> {
        self.bitwise.get(&word).copied()
    }

    /// A new register.
    pub fn register(&mut self, class: RegClass) -> Operand {
        Operand::virt(self.f.add_vreg(class))
    }

    /// The class of the register that an operand is.
    pub fn class_of(&self, op: Operand) -> Option<RegClass> {
        op.as_virt().map(|(r, _)| self.f.vregs[r])
    }

    /// The bank of an operand: `None` for immediates, constants and uniform specials (they fit anywhere).
    pub fn bank(&self, op: Operand) -> Option<Bank> {
        match op {
            Operand::Reg(_) => self.class_of(op).map(|c| c.bank),
            Operand::Special(s) if !s.is_uniform() => Some(Bank::Vector),
            _ => None,
        }
    }

    /// Whether an operand is the same in all lanes.
    pub fn is_uniform_operand(&self, op: Operand) -> bool {
        !matches!(self.bank(op), Some(Bank::Vector | Bank::Predicate))
    }

    /// The bank of a result computed from operands: scalar if all are uniform.
    pub fn joint_bank(&self, ops: &[Operand]) -> Bank {
        if self.scalarize && ops.iter().all(|o| self.is_uniform_operand(*o)) { Bank::Scalar } else { Bank::Vector }
    }

    /// Appends an instruction after making its operands legal: at most one immediate, conditions and bases in
    /// their files.
    pub fn push(&mut self, mut inst: Inst) {
        inst.loc = self.loc;
        self.legalize(&mut inst);
        self.f.blocks[self.current].insts.push(inst);
    }

    /// Puts immediates into registers where the encoding has no room for them.
    fn legalize(&mut self, inst: &mut Inst) {
        if inst.info().flags.pseudo {
            return;
        }
        let surface = inst.mods.address == AddressMode::Surface;
        let mut immediate = ((inst.imm != 0 || surface) && inst.op != Op::BraScalar).then_some(None);
        for i in 0..inst.srcs.len() {
            let (words, role) = (inst.src_words(i), inst.src_role(i));
            let double = inst.ty == Type::F64 && words == 2;
            let plain = (inst.neg | inst.abs) >> i & 1 == 0;
            let short = match inst.srcs[i] {
                source if double && role == Role::Value && plain => self.upper_half(source),
                Operand::Immediate(v) if !double && role != Role::ScalarCondition => Some(v),
                _ => None,
            };
            let fits = |v: &u32| immediate.is_none_or(|other| other == Some(*v));
            if let Some(v) = short.filter(fits) {
                immediate = Some(Some(v));
                inst.srcs[i] = Operand::Immediate(v);
            } else if let Operand::Immediate(v) = inst.srcs[i] {
                inst.srcs[i] = self.materialize(immediate_bits(v, words), words.max(1));
            }
        }
    }

    /// The upper half of a constant double whose lower half is zero: that can be an immediate.
    fn upper_half(&self, source: Operand) -> Option<u32> {
        let bits = match source {
            Operand::Immediate(v) => immediate_bits(v, 2),
            _ => *self.pool.wide.get(&source)?,
        };
        (bits as u32 == 0).then_some((bits >> 32) as u32)
    }

    /// A scalar register that holds a constant of 1 or 2 words: once a block, or on entry for all blocks in
    /// loops.
    pub fn materialize(&mut self, bits: u64, words: u8) -> Operand {
        if self.pool.in_loop {
            if let Some(op) = self.pool.on_entry.get(&(bits, words)) {
                return *op;
            }
            let dst = self.register(RegClass::scalar(words));
            self.insert_at_entry(constant_code(dst, bits, words));
            self.pool.on_entry.insert((bits, words), dst);
            self.pool.note(dst, bits, words);
            return dst;
        }
        if let Some(op) = self.pool.here.get(&(bits, words)) {
            return *op;
        }
        let dst = self.register(RegClass::scalar(words));
        let mut inst = constant_code(dst, bits, words);
        inst.loc = self.loc;
        self.f.blocks[self.current].insts.push(inst);
        self.pool.here.insert((bits, words), dst);
        self.pool.note(dst, bits, words);
        dst
    }

    /// An operand for constant bits: an immediate, or a register if 64 bits are not a sign-extended word.
    pub fn constant_operand(&mut self, bits: u64, words: u8) -> Operand {
        if words == 2 && bits as i64 != i64::from(bits as u32 as i32) {
            return self.materialize(bits, 2);
        }
        Operand::Immediate(bits as u32)
    }

    /// Emits an operation into a new register of a class.
    pub fn emit(&mut self, op: Op, ty: Type, class: RegClass, srcs: impl IntoIterator<Item = Operand>) -> Operand {
        let dst = self.register(class);
        let inst = Inst::new(op, ty, dst, srcs);
        let logic = matches!(op, Op::And | Op::AndNot | Op::Or | Op::Xor) && ty == Type::B32;
        if (logic || op == Op::Shr && ty == Type::U32) && inst.srcs.len() == 2 {
            self.bitwise.insert(dst, Bitwise { op, sources: [inst.srcs[0], inst.srcs[1]] });
        }
        self.push(inst);
        dst
    }

    /// Emits an operation whose result is scalar if all sources are uniform; `words` of the result.
    pub fn emit_joint(&mut self, op: Op, ty: Type, words: u8, srcs: &[Operand]) -> Operand {
        let bank = self.joint_bank(srcs);
        self.emit(op, ty, RegClass { bank, words }, srcs.iter().copied())
    }

    /// An operand as a scalar register (for conditions and bases); the value is uniform.
    pub fn scalar(&mut self, op: Operand, words: u8) -> Operand {
        match self.bank(op) {
            Some(Bank::Scalar) => op,
            // Uniform, but computed where it lives in lanes: the first active lane has it.
            Some(Bank::Vector) => {
                let ty = if words == 2 { Type::B64 } else { Type::B32 };
                self.emit(Op::First, ty, RegClass::scalar(words), [op])
            }
            Some(Bank::Predicate) => {
                let v = self.emit(Op::Sel, Type::B32, RegClass::vector(1), [op, Operand::Immediate(1), Operand::None]);
                self.emit(Op::First, Type::B32, RegClass::scalar(1), [v])
            }
            None => match op {
                Operand::Immediate(v) => self.materialize(immediate_bits(v, words), words),
                _ => {
                    let ty = if words == 2 { Type::B64 } else { Type::B32 };
                    self.emit(Op::Mov, ty, RegClass::scalar(words), [op])
                }
            },
        }
    }

    /// Inserts an instruction at the end of the straight-line code at the top of the entry block, so that it dominates
    /// everything.
    pub fn insert_at_entry(&mut self, inst: Inst) {
        let entry = self.f.layout[0];
        let insts = &mut self.f.blocks[entry].insts;
        let at = end_of_code(insts);
        insts.insert(at, inst);
    }

    /// A new block that runs so often.
    pub fn new_block(&mut self, frequency: f32) -> Block {
        let block = self.f.add_block();
        self.f.blocks[block].frequency = frequency;
        block
    }

    /// Goes on in a block, which starts without constants in registers.
    pub fn start(&mut self, block: Block) {
        self.current = block;
        self.pool.here.clear();
    }

    /// Takes the terminators off a finished block, so that code can be appended before them.
    pub fn open_tail(&mut self, block: Block) -> Vec<Inst> {
        let insts = &mut self.f.blocks[block].insts;
        let at = insts.iter().position(|i| i.info().flags.terminator).unwrap_or(insts.len());
        let tail = insts.split_off(at);
        self.start(block);
        tail
    }

    /// Goes on at the end of the straight-line code at the top of the entry block, until
    /// [`Emitter::leave_entry`].
    pub fn enter_entry(&mut self) -> Elsewhere {
        let entry = self.f.layout[0];
        let insts = &mut self.f.blocks[entry].insts;
        let tail = insts.split_off(end_of_code(insts));
        Elsewhere { block: std::mem::replace(&mut self.current, entry), tail }
    }

    /// Goes on where the emitter was.
    pub fn leave_entry(&mut self, was: Elsewhere) {
        self.f.blocks[self.current].insts.extend(was.tail);
        self.current = was.block;
    }

    /// Ends the current block.
    pub fn jump(&mut self, target: Block) {
        self.branch(Inst::new(Op::Bra, Type::None, Operand::None, []), target);
    }

    fn branch(&mut self, mut inst: Inst, target: Block) {
        inst.targets = Targets::Blocks([target].into_iter().collect());
        self.push(inst);
    }

    /// Ends the current block with a two-way branch; `divergent` if lanes may disagree.
    pub fn conditional(&mut self, condition: Operand, yes: Block, no: Block, divergent: bool) {
        if yes == no {
            return self.jump(yes);
        }
        if let Operand::Immediate(v) = condition {
            self.dropped_edges = true;
            return self.jump(if v & 1 == 1 { yes } else { no });
        }
        // The block that follows in the layout is reached by falling through.
        let next = Block::from_u32(self.current.as_u32() + 1);
        let (target, other, negate) = if yes == next { (no, yes, true) } else { (yes, no, false) };
        if divergent || !self.is_uniform_operand(condition) {
            let predicate = self.predicate(condition);
            let Operand::Reg(reg) = predicate else { return };
            // The reconvergence block is added when all blocks exist.
            let mut inst = Inst::new(Op::BraDivergent, Type::None, Operand::None, []);
            inst.guard = Some(Guard { reg, negate });
            self.branch(inst, target);
        } else {
            let condition = self.scalar(condition, 1);
            let mut inst = Inst::new(Op::BraScalar, Type::None, Operand::None, [condition]);
            inst.imm = i32::from(negate);
            self.branch(inst, target);
        }
        self.jump(other);
    }
}

/// Code that puts a constant of 1 or 2 words into a register.
fn constant_code(dst: Operand, bits: u64, words: u8) -> Inst {
    if words == 1 {
        return Inst::new(Op::Mov, Type::B32, dst, [Operand::Immediate(bits as u32)]);
    }
    if bits as i64 == i64::from(bits as u32 as i32) {
        return Inst::new(Op::Mov, Type::B64, dst, [Operand::Immediate(bits as u32)]);
    }
    Inst::new(Op::Tuple, Type::B64, dst, [Operand::Immediate(bits as u32), Operand::Immediate((bits >> 32) as u32)])
}

/// The bits of an immediate in an operand of so many words: as 64 bits, it is sign-extended.
pub(crate) fn immediate_bits(v: u32, words: u8) -> u64 {
    if words == 2 { v as i32 as i64 as u64 } else { u64::from(v) }
}

/// Where the straight-line code of a block ends.
fn end_of_code(insts: &[Inst]) -> usize {
    insts.iter().rposition(|i| !i.info().flags.terminator).map_or(0, |p| p + 1)
}
