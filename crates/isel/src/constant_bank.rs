//! Words of the constant bank as operands: instructions name the first ones, the others are loaded into registers.

use heddle_isa::{Inst, MemorySpace, Op, Operand};
use heddle_mir::{Bank, RegClass};
use heddle_object::metadata::CONSTANT_WORDS;

use crate::address::Address;
use crate::emit::Emitter;

/// The words of the constant bank from a byte offset on as an operand, if instructions can name them all.
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
