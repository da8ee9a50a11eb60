//! Words: integers of 32 and 64 bits, their halves, extensions and conversions, with the simplest constants
//! folded.

use crate::emit::{Emitter, immediate_bits};
use heddle_isa::{Inst, Op, Operand, Rounding, Type};
use heddle_mir::RegClass;

impl Emitter {
    /// A 32-bit operation with folding of the simplest constants.
    pub fn add32(&mut self, a: Operand, b: Operand) -> Operand {
        match (a, b) {
            (Operand::Immediate(x), Operand::Immediate(y)) => Operand::Immediate(x.wrapping_add(y)),
            (Operand::Immediate(0), x) | (x, Operand::Immediate(0)) => x,
            _ => self.emit_joint(Op::Add, Type::B32, 1, &[a, b]),
        }
    }

    /// `a - b` in 32 bits.
    pub fn sub32(&mut self, a: Operand, b: Operand) -> Operand {
        match (a, b) {
            (Operand::Immediate(x), Operand::Immediate(y)) => Operand::Immediate(x.wrapping_sub(y)),
            (_, Operand::Immediate(0)) => a,
            _ => self.emit_joint(Op::Sub, Type::B32, 1, &[a, b]),
        }
    }

    /// `a * scale + b` in 32 bits.
    pub fn mad32(&mut self, a: Operand, scale: u32, b: Option<Operand>) -> Operand {
        match (a, scale, b) {
            (_, 0, b) => b.unwrap_or(Operand::Immediate(0)),
            (Operand::Immediate(x), _, b) => {
                let product = Operand::Immediate(x.wrapping_mul(scale));
                b.map_or(product, |b| self.add32(b, product))
            }
            (_, 1, None) => a,
            (_, 1, Some(b)) => self.add32(a, b),
            (_, _, None) if scale.is_power_of_two() => {
                self.emit_joint(Op::Shl, Type::B32, 1, &[a, Operand::Immediate(scale.trailing_zeros())])
            }
            (_, _, None) => self.emit_joint(Op::Mul, Type::B32, 1, &[a, Operand::Immediate(scale)]),
            (_, _, Some(b)) => self.emit_joint(Op::Mad, Type::B32, 1, &[a, Operand::Immediate(scale), b]),
        }
    }

    /// A word under a mask.
    pub fn and32(&mut self, op: Operand, mask: u32) -> Operand {
        match op {
            Operand::Immediate(v) => Operand::Immediate(v & mask),
            _ => self.emit_joint(Op::And, Type::B32, 1, &[op, Operand::Immediate(mask)]),
        }
    }

    /// A pair of two words.
    pub fn pair(&mut self, low: Operand, high: Operand) -> Operand {
        let bank = self.joint_bank(&[low, high]);
        self.emit(Op::Tuple, Type::B64, RegClass { bank, words: 2 }, [low, high])
    }

    /// The words of a 64-bit operand.
    pub fn halves(&mut self, op: Operand) -> (Operand, Operand) {
        match op {
            Operand::Immediate(v) => (op, Operand::Immediate(if (v as i32) < 0 { u32::MAX } else { 0 })),
            Operand::Constant(c) => (op, Operand::Constant(c + 1)),
            Operand::Reg(_) => match op.as_virt() {
                Some((r, w)) => (op, Operand::virt_word(r, w + 1)),
                None => (op, op),
            },
            Operand::None | Operand::Special(_) => (op, Operand::Immediate(0)),
        }
    }

    /// A 64-bit operand of two words: the pair that they are already, or a new one.
    pub fn join_halves(&mut self, low: Operand, high: Operand) -> Operand {
        if let (Operand::Immediate(l), Operand::Immediate(h)) = (low, high) {
            return self.constant_operand(u64::from(h) << 32 | u64::from(l), 2);
        }
        match (low.as_virt(), high.as_virt()) {
            (Some((a, w)), Some((b, v))) if a == b && w % 2 == 0 && v == w + 1 => low,
            _ => self.pair(low, high),
        }
    }

    /// The register of which words are all, in order.
    pub fn whole_register(&self, words: &[Operand]) -> Option<Operand> {
        let (register, _) = words[0].as_virt()?;
        let is_word = |(i, w): (usize, &Operand)| *w == Operand::virt_word(register, i as u8);
        let whole = self.f.vregs[register].words as usize == words.len() && words.iter().enumerate().all(is_word);
        whole.then_some(words[0])
    }

    /// Data of a wide store: the words as a tuple, or the register they already are.
    pub fn tuple(&mut self, words: &[Operand]) -> Operand {
        if let Some(register) = self.whole_register(words) {
            return register;
        }
        let ty = if words.len() == 2 { Type::B64 } else { Type::B128 };
        self.emit_joint(Op::Tuple, ty, words.len() as u8, words)
    }

    /// A narrow or 32-bit integer with its upper bits extended.
    pub fn extend(&mut self, op: Operand, bits: u32, signed: bool) -> Operand {
        if let (Operand::Immediate(v), 0..32) = (op, bits) {
            let shift = 32 - bits;
            return Operand::Immediate(if signed { ((v << shift) as i32 >> shift) as u32 } else { v << shift >> shift });
        }
        let bank = self.joint_bank(&[op]);
        let class = RegClass { bank, words: 1 };
        match (signed, bits) {
            (_, 32..) => op,
            (false, _) => self.and32(op, (1u32 << bits) - 1),
            (true, 8 | 16) => {
                let ty = if bits == 8 { Type::S8 } else { Type::S16 };
                let dst = self.register(class);
                let mut inst = Inst::new(Op::Cvt, ty, dst, [op]);
                inst.mods.from = Some(Type::S32);
                self.push(inst);
                dst
            }
            (true, _) => {
                let up = self.emit(Op::Shl, Type::B32, class, [op, Operand::Immediate(32 - bits)]);
                self.emit(Op::Shr, Type::S32, class, [up, Operand::Immediate(32 - bits)])
            }
        }
    }

    /// A word with defined upper bits as 64 bits.
    pub fn word_to_pair(&mut self, low: Operand, signed: bool) -> Operand {
        if let Operand::Immediate(v) = low {
            return self.constant_operand(if signed { immediate_bits(v, 2) } else { u64::from(v) }, 2);
        }
        let high = if signed { self.word_shift(Type::S32, low, 31) } else { Operand::Immediate(0) };
        self.pair(low, high)
    }

    /// An integer of 33 to 64 bits with its upper bits extended.
    pub fn extend_wide(&mut self, op: Operand, bits: u32, signed: bool) -> Operand {
        if bits >= 64 {
            return op;
        }
        let bank = self.joint_bank(&[op]);
        let class = RegClass { bank, words: 2 };
        let amount = Operand::Immediate(64 - bits);
        let up = self.emit(Op::Shl, Type::B64, class, [op, amount]);
        self.emit(Op::Shr, if signed { Type::S64 } else { Type::U64 }, class, [up, amount])
    }

    /// A conversion between machine types.
    pub fn convert(&mut self, op: Operand, from: Type, to: Type, rounding: Rounding) -> Operand {
        let op = match op {
            // This is a sign-extended word, and the machine reads a double's immediate as its upper half.
            Operand::Immediate(v) if from == Type::F64 => self.materialize(immediate_bits(v, 2), 2),
            o => o,
        };
        let bank = self.joint_bank(&[op]);
        let dst = self.register(RegClass { bank, words: to.words() });
        let mut inst = Inst::new(Op::Cvt, to, dst, [op]);
        inst.mods.from = Some(from);
        inst.mods.rounding = rounding;
        self.push(inst);
        dst
    }

    /// A word shifted right by a constant.
    pub fn word_shift(&mut self, ty: Type, op: Operand, by: u32) -> Operand {
        match op {
            Operand::Immediate(v) if ty == Type::S32 => Operand::Immediate((v as i32 >> by) as u32),
            Operand::Immediate(v) => Operand::Immediate(v >> by),
            _ => self.emit_joint(Op::Shr, ty, 1, &[op, Operand::Immediate(by)]),
        }
    }

    /// A 32-bit operation on the scalar unit.
    pub fn scalar32(&mut self, op: Op, a: Operand, b: Operand) -> Operand {
        self.emit(op, Type::B32, RegClass::scalar(1), [a, b])
    }

    /// As a base of an address: a scalar register or a word of the constant bank.
    pub fn scalar_word(&mut self, op: Operand) -> Operand {
        match op {
            Operand::Constant(_) => op,
            other => self.scalar(other, 1),
        }
    }

    /// `and`, `or` or `xor` of two words, at most one of them an immediate afterwards.
    pub fn combine(&mut self, op: Op, a: Operand, b: Operand) -> Operand {
        match (op, a, b) {
            (Op::And, Operand::Immediate(x), Operand::Immediate(y)) => Operand::Immediate(x & y),
            (Op::Or, Operand::Immediate(x), Operand::Immediate(y)) => Operand::Immediate(x | y),
            (_, Operand::Immediate(x), Operand::Immediate(y)) => Operand::Immediate(x ^ y),
            (Op::And, Operand::Immediate(0), _) | (Op::And, _, Operand::Immediate(0)) => Operand::Immediate(0),
            (Op::And, Operand::Immediate(u32::MAX), x) | (Op::And, x, Operand::Immediate(u32::MAX)) => x,
            (Op::Or | Op::Xor, Operand::Immediate(0), x) | (Op::Or | Op::Xor, x, Operand::Immediate(0)) => x,
            (_, Operand::Immediate(_), _) => self.emit_joint(op, Type::B32, 1, &[b, a]),
            _ => self.emit_joint(op, Type::B32, 1, &[a, b]),
        }
    }
}
