//! The value map: LLVM values and the operands that hold them.
//!
//! A value becomes one operand for each scalar leaf of its type ([`crate::leaf`]). Beside the operands the
//! map has what is known of them: the low word of a 64-bit integer that exists apart from the pair, and how
//! the upper bits of a narrow integer are.

use heddle_isa::{Inst, Op, Operand};
use heddle_llvm_passes::ir::Value;
use rustc_hash::FxHashMap;
use smallvec::smallvec;

use crate::leaf::{Leaf, Parts};
use crate::{Selector, constant_bank, constants, pointers};

/// How the upper bits of a register that holds a narrow integer are known to be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Extension {
    Zero,
    Sign,
}

impl Extension {
    /// Of a signed or unsigned integer.
    pub fn of(signed: bool) -> Extension {
        if signed { Extension::Sign } else { Extension::Zero }
    }
}

/// What holds the values that have been selected.
#[derive(Default)]
pub(crate) struct ValueMap {
    parts: FxHashMap<Value, Parts>,
    /// Low 32 bits of 64-bit integers, where they exist apart from the pair.
    pub low: FxHashMap<Value, Operand>,
    /// Narrow integers with defined upper bits.
    pub extended: FxHashMap<Value, Extension>,
    /// Constant samplers.
    pub samplers: FxHashMap<Value, Operand>,
}

impl ValueMap {
    /// The operands of a value that has been selected.
    pub fn get(&self, v: Value) -> Option<&Parts> {
        self.parts.get(&v)
    }

    /// Gives a value its operands.
    pub fn set(&mut self, v: Value, parts: Parts) {
        self.parts.insert(v, parts);
    }

    /// Gives a value of one leaf its operand.
    pub fn set1(&mut self, v: Value, op: Operand) {
        self.set(v, smallvec![op]);
    }
}

impl Selector<'_> {
    /// The operand of a value with one leaf.
    pub fn operand(&mut self, v: Value) -> Operand {
        self.parts(v).first().copied().unwrap_or(Operand::Immediate(0))
    }

    /// The operands of a value, one a leaf.
    pub fn parts(&mut self, v: Value) -> Parts {
        if let Some(p) = self.values.get(v) {
            return p.clone();
        }
        if v.is_pointer() {
            let address = self.address(v);
            return smallvec![pointers::pointer_bits(self, &address, v.address_space())];
        }
        if v.is_constant() && !v.is_argument() {
            return constants::constant_parts(self, v);
        }
        let parts = if v.is_argument() { argument_parts(self, v) } else { undefined_parts(self, v) };
        self.values.set(v, parts.clone());
        parts
    }

    /// The first leaf of a value's type.
    pub fn leaf(&self, v: Value) -> Leaf {
        self.cx.leaves(v).first().copied().unwrap_or(Leaf::WORD)
    }

    /// The low 32 bits of an integer.
    pub fn low_word(&mut self, v: Value) -> Operand {
        if let Some(op) = self.values.low.get(&v) {
            return *op;
        }
        if let Some(c) = constants::sign_extended(v) {
            return Operand::Immediate(c as u32);
        }
        let leaf = self.leaf(v);
        let op = self.operand(v);
        if leaf.bits < 32 {
            // A GEP index is signed.
            return self.extend(v, op, leaf.bits, true);
        }
        if leaf.words() == 2 { self.out.halves(op).0 } else { op }
    }

    /// The operand of a narrow integer with defined upper bits.
    pub fn extend(&mut self, v: Value, op: Operand, bits: u32, signed: bool) -> Operand {
        match self.values.extended.get(&v) {
            Some(known) if *known == Extension::of(signed) && !matches!(op, Operand::Immediate(_)) => op,
            _ => self.out.extend(op, bits, signed),
        }
    }

    /// The operand of a narrow or 32-bit integer as 64 bits.
    pub fn extend_to_64(&mut self, v: Value, op: Operand, bits: u32, signed: bool) -> Operand {
        let low = self.extend(v, op, bits, signed);
        self.out.word_to_pair(low, signed)
    }
}

/// Values in unreachable blocks, or after an error.
fn undefined_parts(s: &mut Selector, v: Value) -> Parts {
    let undefined = |leaf: &Leaf| {
        let class = s.cx.class(v, *leaf);
        let reg = s.out.register(class);
        let entry = s.out.f.layout[0];
        s.out.f.blocks[entry].insts.insert(0, Inst::new(Op::Undef, class.copy_type(), reg, []));
        reg
    };
    s.cx.leaves(v).iter().map(undefined).collect()
}

/// A by-value argument's leaves: constants of the bank.
fn argument_parts(s: &mut Selector, v: Value) -> Parts {
    let base = s.arguments.offset(v);
    s.cx.leaves(v).iter().map(|leaf| constant_bank::argument_leaf_on_entry(&mut s.out, base, *leaf)).collect()
}
