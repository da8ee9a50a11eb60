//! Words of the constant bank as operands: instructions name the first ones, the others are loaded into registers.

use heddle_isa::{Inst, MemorySpace, Op, Operand, Type};
use heddle_mir::{Bank, RegClass};
use heddle_object::metadata::CONSTANT_WORDS;

use crate::address::Address;
use crate::emit::Emitter;
use crate::leaf::Leaf;

/// So many words of the constant bank, from the one that has the byte at `offset`, as an operand; `None` if instructions cannot name
/// them all.
pub(crate) fn named(offset: u32, words: u32) -> Option<Operand> {
    let first = offset / 4;
    (first + words.max(1) <= CONSTANT_WORDS).then_some(Operand::Constant(first as u8))
}

impl Emitter {
    /// One or two words of the constant bank from the word that has the byte at `offset`: named, or loaded here.
    pub fn bank_words(&mut self, offset: u32, words: u8, bank: Bank) -> Operand {
        if let Some(op) = named(offset, words.into()) {
            return op;
        }
        let offset = offset & !3;
        if words == 2 && offset % 8 != 0 {
            let halves = [offset, offset + 4].map(|at| self.bank_words(at, 1, bank));
            return self.tuple(&halves);
        }
        let class = RegClass { bank, words };
        let dst = self.register(class);
        let mut inst = Inst::new(Op::Load, class.copy_type(), dst, []);
        self.set_address(&mut inst, &Address::zero(MemorySpace::Argument, offset as i32), None, 0);
        self.push(inst);
        dst
    }

    /// The same for all of the kernel: what is loaded is loaded on entry, once.
    pub fn bank_words_on_entry(&mut self, offset: u32, words: u8) -> Operand {
        if let Some(op) = named(offset, words.into()).or_else(|| self.far_words.get(&(offset, words)).copied()) {
            return op;
        }
        let bank = if self.scalarize { Bank::Scalar } else { Bank::Vector };
        let elsewhere = self.enter_entry();
        let op = self.bank_words(offset, words, bank);
        self.leave_entry(elsewhere);
        self.far_words.insert((offset, words), op);
        op
    }
}

/// A leaf of a structure in the constant bank. In packed structures it may begin at any byte.
pub(crate) fn argument_leaf(out: &mut Emitter, base: u32, leaf: Leaf, bank: Bank) -> Operand {
    let at = base + leaf.offset;
    match leaf.words() {
        2 if at % 4 == 0 => out.bank_words(at, 2, bank),
        2 => {
            let words = [at, at + 4].map(|at| bank_bytes(out, at, 4, bank));
            out.tuple(&words)
        }
        _ => {
            let word = bank_bytes(out, at, leaf.bytes().min(4), bank);
            predicate_of(out, word, leaf, bank)
        }
    }
}

/// The same for all of the kernel, read on entry.
pub(crate) fn argument_leaf_on_entry(out: &mut Emitter, base: u32, leaf: Leaf) -> Operand {
    let at = base + leaf.offset;
    if leaf.words() != 0 && at % 4 == 0 {
        return out.bank_words_on_entry(at, leaf.words());
    }
    let bank = if out.scalarize { Bank::Scalar } else { Bank::Vector };
    let elsewhere = out.enter_entry();
    let op = argument_leaf(out, base, leaf, bank);
    out.leave_entry(elsewhere);
    op
}

/// Up to four bytes of the constant bank in the low bits of a word, with others above them.
fn bank_bytes(out: &mut Emitter, at: u32, bytes: u32, bank: Bank) -> Operand {
    let word = out.bank_words(at, 1, bank);
    let skipped = at % 4;
    if skipped == 0 {
        return word;
    }
    let one = RegClass { bank, words: 1 };
    let low = out.emit(Op::Shr, Type::U32, one, [word, Operand::Immediate(8 * skipped)]);
    if skipped + bytes <= 4 {
        return low;
    }
    let next = out.bank_words(at + 4, 1, bank);
    let high = out.emit(Op::Shl, Type::B32, one, [next, Operand::Immediate(32 - 8 * skipped)]);
    out.emit(Op::Or, Type::B32, one, [low, high])
}

/// A loaded `i1` as a predicate; other leaves unchanged.
pub(crate) fn predicate_of(out: &mut Emitter, word: Operand, leaf: Leaf, bank: Bank) -> Operand {
    if leaf.words() != 0 {
        return word;
    }
    let bit = out.emit(Op::And, Type::B32, RegClass { bank, words: 1 }, [word, Operand::Immediate(1)]);
    if bank == Bank::Scalar { bit } else { out.test_not_zero(bit) }
}
