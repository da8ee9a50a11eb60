//! What names registers and places before allocation: blocks, register banks and classes.

use cranelift_entity::entity_impl;

use super::Type;

/// A basic block.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Block(u32);
entity_impl!(Block, "bb");

/// The register file a virtual register belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Bank {
    /// One value a lane: local or main vector registers.
    Vector,
    /// One value a warp.
    Scalar,
    /// One bit a lane.
    Predicate,
}

/// Class of a virtual register: bank and number of 32-bit words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RegClass {
    /// The bank.
    pub bank: Bank,
    /// 1, 2 or 4 for vector and scalar registers; 0 for predicates. Tuples take consecutive aligned registers (C12).
    pub words: u8,
}

impl RegClass {
    /// Vector register of `words` words.
    pub const fn vector(words: u8) -> Self {
        RegClass { bank: Bank::Vector, words }
    }
    /// Scalar register of `words` words.
    pub const fn scalar(words: u8) -> Self {
        RegClass { bank: Bank::Scalar, words }
    }
    /// Predicate register.
    pub const PREDICATE: Self = RegClass { bank: Bank::Predicate, words: 0 };

    /// Registers of its file that a value of the class occupies (1 for a predicate).
    pub const fn registers(self) -> u8 {
        if self.words == 0 { 1 } else { self.words }
    }

    /// The type of a copy of a whole value of the class.
    pub const fn copy_type(self) -> Type {
        match self.words {
            0 => Type::Pred,
            1 => Type::B32,
            2 => Type::B64,
            _ => Type::B128,
        }
    }
}
