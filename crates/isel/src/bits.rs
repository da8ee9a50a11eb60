//! Bits: predicates, comparisons and choices.
//!
//! An `i1` of lanes is a predicate register; a uniform one is 0 or 1 in a scalar register.

use crate::emit::Emitter;
use crate::leaf::Leaf;
use crate::lower::floats::{FloatSource, plain};
use heddle_isa::{Cond, Inst, Op, Operand, Type};
use heddle_mir::{Bank, RegClass};

impl Emitter {
    /// A bit as a predicate register.
    pub fn predicate(&mut self, op: Operand) -> Operand {
        match self.bank(op) {
            Some(Bank::Predicate) => op,
            Some(Bank::Vector) => self.test_not_zero(op),
            _ => match op {
                Operand::Special(_) | Operand::Constant(_) => self.test_not_zero(op),
                _ => self.emit(Op::Mov, Type::Pred, RegClass::PREDICATE, [op]),
            },
        }
    }

    /// Whether a word is not 0, as a predicate.
    pub fn test_not_zero(&mut self, word: Operand) -> Operand {
        let p = self.register(RegClass::PREDICATE);
        self.push(not_zero(p, word));
        p
    }

    /// Emits a comparison: into a predicate, or 0/1 in a scalar register.
    pub fn compare(&mut self, cond: Cond, ty: Type, a: FloatSource, b: FloatSource) -> Operand {
        let class = match self.joint_bank(&[a.op, b.op]) {
            Bank::Scalar => RegClass::scalar(1),
            _ => RegClass::PREDICATE,
        };
        let dst = self.register(class);
        let mut inst = Inst::new(Op::Cmp, ty, dst, [a.op, b.op]);
        inst.mods.cond = Some(cond);
        inst.neg = u8::from(a.neg) | u8::from(b.neg) << 1;
        inst.abs = u8::from(a.abs) | u8::from(b.abs) << 1;
        self.push(inst);
        dst
    }

    /// `condition ? a : b` of one leaf.
    pub fn choose(&mut self, condition: Operand, leaf: Leaf, a: Operand, b: Operand) -> Operand {
        if a == b {
            return a;
        }
        let scalar = self.joint_bank(&[condition, a, b]) == Bank::Scalar;
        if leaf.words() == 0 && !scalar {
            let (a, b) = (self.predicate(a), self.predicate(b));
            return self.emit(Op::Sel, Type::Pred, RegClass::PREDICATE, [condition, a, b]);
        }
        let condition = match condition {
            Operand::Immediate(_) | Operand::Special(_) | Operand::Constant(_) => self.scalar(condition, 1),
            c if self.bank(c) == Some(Bank::Vector) => self.predicate(c),
            c => c,
        };
        let class = leaf.class(if scalar { Bank::Scalar } else { Bank::Vector });
        // Two different immediates need one register; an absent operand is zero.
        let (mut a, mut b) = (a, b);
        if let (Operand::Immediate(x), Operand::Immediate(y)) = (a, b) {
            if y == 0 {
                b = Operand::None;
            } else if x == 0 {
                a = Operand::None;
            }
        }
        self.emit(Op::Sel, leaf.bit_type(), class, [condition, a, b])
    }

    /// Logic on bits, in predicates or scalar words.
    pub fn logic(&mut self, op: Op, a: Operand, b: Operand) -> Operand {
        if self.joint_bank(&[a, b]) == Bank::Scalar {
            let word = |bit| if let Operand::Immediate(v) = bit { Operand::Immediate(v & 1) } else { bit };
            return self.emit(op, Type::B32, RegClass::scalar(1), [word(a), word(b)]);
        }
        let (a, b) = (self.predicate(a), self.predicate(b));
        self.emit(op, Type::Pred, RegClass::PREDICATE, [a, b])
    }

    /// An `i1` as 0 or 1 in a word.
    pub fn bit_to_word(&mut self, op: Operand) -> Operand {
        match self.bank(op) {
            Some(Bank::Predicate) => {
                self.emit(Op::Sel, Type::B32, RegClass::vector(1), [op, Operand::Immediate(1), Operand::None])
            }
            _ => match op {
                Operand::Immediate(v) => Operand::Immediate(v & 1),
                _ => op,
            },
        }
    }

    /// An `i1` widened: 0 or 1, or 0 or -1.
    pub fn widen_bit(&mut self, op: Operand, to: Leaf, signed: bool) -> Operand {
        let ones = Operand::Immediate(if signed { u32::MAX } else { 1 });
        let low = match (op, self.bank(op)) {
            (Operand::Immediate(v), _) => Operand::Immediate(match (v & 1, signed) {
                (0, _) => 0,
                (_, true) => u32::MAX,
                (_, false) => 1,
            }),
            (_, Some(Bank::Predicate)) => self.emit(Op::Sel, Type::B32, RegClass::vector(1), [op, ones, Operand::None]),
            _ if signed => self.emit_joint(Op::Sub, Type::B32, 1, &[Operand::None, op]),
            _ => op,
        };
        if to.words() == 1 {
            return low;
        }
        match low {
            Operand::Immediate(v) => Operand::Immediate(v),
            _ => self.pair(low, if signed { low } else { Operand::Immediate(0) }),
        }
    }

    /// A bit of a word.
    pub fn bit_of_word(&mut self, word: Operand, k: u32) -> Operand {
        if let Operand::Immediate(v) = word {
            return Operand::Immediate(v >> k & 1);
        }
        let low = match k {
            0 => word,
            _ => self.emit_joint(Op::Shr, Type::U32, 1, &[word, Operand::Immediate(k)]),
        };
        let bit = self.and32(low, 1);
        if self.joint_bank(&[bit]) == Bank::Scalar { bit } else { self.test_not_zero(bit) }
    }

    /// Bits, the first lowest, as a word.
    pub fn word_of_bits(&mut self, bits: &[Operand]) -> Operand {
        let mut sum = Operand::Immediate(0);
        for (k, bit) in bits.iter().enumerate() {
            let wide = self.widen_bit(*bit, Leaf::WORD, false);
            let placed = match (k, wide) {
                (0, _) => wide,
                (_, Operand::Immediate(v)) => Operand::Immediate(v << k),
                _ => self.emit_joint(Op::Shl, Type::B32, 1, &[wide, Operand::Immediate(k as u32)]),
            };
            sum = match (sum, placed) {
                (Operand::Immediate(0), x) | (x, Operand::Immediate(0)) => x,
                (Operand::Immediate(a), Operand::Immediate(b)) => Operand::Immediate(a | b),
                _ => self.emit_joint(Op::Or, Type::B32, 1, &[sum, placed]),
            };
        }
        sum
    }

    /// Whether an index is `k`.
    pub fn is_index(&mut self, index: Operand, k: usize) -> Operand {
        self.compare(Cond::Eq, Type::B32, plain(index), plain(Operand::Immediate(k as u32)))
    }

    /// Whether a bit of an index is set.
    pub fn has_bit(&mut self, index: Operand, bit: u32) -> Operand {
        let word = self.and32(index, bit);
        self.compare(Cond::Ne, Type::B32, plain(word), plain(Operand::Immediate(0)))
    }

    /// Whether an index is `k` or more.
    pub fn at_least(&mut self, index: Operand, k: u32) -> Operand {
        self.compare(Cond::Ge, Type::U32, plain(index), plain(Operand::Immediate(k)))
    }

    /// A word: 1 if a word is less than another (unsigned), else 0.
    pub fn less(&mut self, a: Operand, b: Operand) -> Operand {
        match (a, b) {
            (Operand::Immediate(x), Operand::Immediate(y)) => Operand::Immediate(u32::from(x < y)),
            (_, Operand::Immediate(0)) => Operand::Immediate(0),
            _ if a == b => Operand::Immediate(0),
            _ => {
                let bit = self.compare(Cond::Lt, Type::U32, plain(a), plain(b));
                self.widen_bit(bit, Leaf::WORD, false)
            }
        }
    }
}

fn not_zero(predicate: Operand, word: Operand) -> Inst {
    let mut cmp = Inst::new(Op::Cmp, Type::B32, predicate, [word, Operand::Immediate(0)]);
    cmp.mods.cond = Some(Cond::Ne);
    cmp
}
