//! Variables of the source beside machine IR: what each one is bound to from which point on.
//!
//! Bindings are no instructions, so that nothing that looks at instructions can see them: code is the same with and
//! without. Instead each instruction has a point ([`heddle_isa::SourceLoc::point`]), its place in the order of the
//! program, whatever later stages do with it, and each binding says from which point of its block on it holds. This is
//! the order in which the debugger tells of the program: before an instruction, a variable has the value that it has at
//! the instruction's point.

use std::collections::BTreeMap;

use heddle_isa::{Inst, Operand, VReg};
use heddle_object::variables::{Value, Variables, Word};

use crate::Block;

/// A place in the order of the program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Point {
    /// Block as it was selected.
    pub block: Option<Block>,
    /// How many events of the function come before it.
    pub events: u32,
    /// Scope; `None` if there is none.
    pub scope: Option<u32>,
    /// Its instruction was moved to where its statement does not begin.
    pub moved: bool,
    /// Which of the function's statements it belongs to, one in each copy of an unrolled loop; 0 if none is known.
    pub instance: u32,
}

/// What is bound: a variable, and the part of it (first bit, bits).
pub type Key = (u32, Option<(u32, u32)>);

/// A variable is bound to something else from here on.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// Block.
    pub block: Block,
    /// What.
    pub key: Key,
    /// To what; `None` if that is not known.
    pub value: Option<Value<Operand>>,
}

/// What holds before one instruction.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Held {
    /// Scope.
    pub scope: Option<u32>,
    /// The instruction was moved to where its statement does not begin.
    pub moved: bool,
    /// Which of the function's statements it belongs to, one in each copy of an unrolled loop; 0 if none is known.
    pub instance: u32,
    /// Where the values are that are known.
    pub values: BTreeMap<Key, Value<Word>>,
}

/// The variables of a function and what they are bound to.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Bindings {
    /// Types, scopes and variables. Places and locations are added when code is emitted.
    pub variables: Variables,
    /// Points; instructions name them by their number plus 1.
    pub points: Vec<Point>,
    /// Changes, by block in the order of the program.
    pub events: Vec<Event>,
    /// Bindings that hold everywhere: of what is in memory.
    pub everywhere: BTreeMap<Key, Value<Operand>>,
    /// After allocation, what holds before instructions, which name it by its number plus 1.
    pub held: Vec<Held>,
}

impl Bindings {
    /// What holds before an instruction of allocated code.
    pub fn held_before(&self, inst: &Inst) -> Option<&Held> {
        self.held.get((inst.loc.point as usize).checked_sub(1)?)
    }

    /// Replaces operands of all bindings.
    pub fn rewrite(&mut self, mut new: impl FnMut(Operand) -> Operand) {
        for event in &mut self.events {
            if let Some(value) = &mut event.value {
                *value = value.map(|op| Some(new(*op))).unwrap_or_else(|| value.clone());
            }
        }
    }

    /// Some words of a register no longer have the value that they had.
    pub fn forget(&mut self, lost: impl Fn(VReg, u8) -> bool) {
        self.rewrite(|op| match op.as_virt() {
            Some((reg, word)) if lost(reg, word) => Operand::None,
            _ => op,
        });
    }
}
