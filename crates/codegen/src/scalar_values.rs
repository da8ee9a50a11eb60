//! Scalar registers whose values could as well be in lanes.
//!
//! # Problem
//! An instruction of the scalar unit takes no guard and writes its register for the whole warp. What is to run under a guard must
//! write lanes, and whoever reads the result must take a register of lanes.
//!
//! # Algorithm
//! A scalar register can move if every instruction that names it can have a register of lanes there: its definitions move, load or
//! compute, and its readers take lanes in that place; one that writes a scalar register of its own must move with it. The greatest
//! set of which this holds is found by taking out what cannot move until nothing changes. A register that only comparisons write
//! and only choices read becomes a predicate.
//!
//! May touch: the banks of registers, in code before the stage that marks uniform instructions.

use cranelift_entity::SecondaryMap;
use smallvec::SmallVec;

use super::ssa::is_pure;
use heddle_isa::{Inst, Op, RegClass, Role, Type, VReg};
use heddle_mir::liveness;
use heddle_mir::{Bank, Function};

/// Which scalar registers of a function can move to lanes.
pub(super) struct Movable {
    can: SecondaryMap<VReg, bool>,
    /// Those that a comparison writes.
    conditions: SecondaryMap<VReg, bool>,
    /// Scalar registers that are computed of a register.
    results: SecondaryMap<VReg, SmallVec<[VReg; 2]>>,
    /// Scalar registers that are copied to a register.
    copied: SecondaryMap<VReg, SmallVec<[VReg; 2]>>,
}

impl Movable {
    /// Looks at a function.
    pub fn new(function: &Function) -> Movable {
        let is_scalar = |r: VReg| function.vregs[r].bank == Bank::Scalar;
        let instructions = || function.layout.iter().flat_map(|b| &function.blocks[*b].insts);
        let written = |inst: &Inst| liveness::def(inst).map(|(r, _)| r).filter(|r| is_scalar(*r));
        let mut movable = Movable {
            can: SecondaryMap::with_default(true),
            conditions: SecondaryMap::new(),
            results: SecondaryMap::new(),
            copied: SecondaryMap::new(),
        };
        for condition in instructions().filter(|i| i.op == Op::Cmp).filter_map(written) {
            movable.conditions[condition] = true;
        }
        for inst in instructions() {
            let written = written(inst);
            if let Some(r) = written.filter(|r| !can_write_lanes(inst, movable.conditions[*r])) {
                movable.can[r] = false;
            }
            for (i, read) in inst.srcs.iter().enumerate() {
                let Some((read, _)) = read.as_virt().filter(|(r, _)| is_scalar(*r)) else { continue };
                if !takes_lanes(inst, i, movable.conditions[read]) {
                    movable.can[read] = false;
                }
                movable.results[read].extend(written);
                if let Some(written) = written.filter(|_| inst.op == Op::Mov) {
                    movable.copied[written].push(read);
                }
            }
        }
        // What a register that stays is computed of stays, too.
        let scalar: Vec<VReg> = function.vregs.keys().filter(|r| is_scalar(*r)).collect();
        loop {
            let stays = |r: &VReg| movable.can[*r] && movable.results[*r].iter().any(|w| !movable.can[*w]);
            let staying: Vec<VReg> = scalar.iter().copied().filter(stays).collect();
            if staying.is_empty() {
                return movable;
            }
            staying.into_iter().for_each(|r| movable.can[r] = false);
        }
    }

    /// Whether a scalar register can move.
    pub fn contains(&self, reg: VReg) -> bool {
        self.can[reg]
    }

    /// Moves a register that can, and those that are computed of it, to lanes; and those that are copied to them, if they can, for
    /// which they would stand in two registers and be waited for where they are copied.
    pub fn move_to_lanes(&self, function: &mut Function, reg: VReg) {
        let mut open = vec![reg];
        while let Some(reg) = open.pop() {
            if function.vregs[reg].bank == Bank::Scalar {
                function.vregs[reg] = match self.conditions[reg] {
                    true => RegClass { bank: Bank::Predicate, words: 0 },
                    false => RegClass { bank: Bank::Vector, ..function.vregs[reg] },
                };
                open.extend(&self.results[reg]);
                open.extend(self.copied[reg].iter().filter(|r| self.can[**r]));
            }
        }
    }
}

/// Whether an instruction that writes a scalar register, which may be a condition, could write lanes.
fn can_write_lanes(inst: &Inst, condition: bool) -> bool {
    let load = inst.info().flags.load && inst.op != Op::Atomic;
    (is_pure(inst) || load) && inst.ty != Type::Pred && (inst.op == Op::Cmp) == condition
}

/// Whether a source that is a scalar register, which may be a condition, could be a register of lanes.
fn takes_lanes(inst: &Inst, source: usize, condition: bool) -> bool {
    let flags = inst.info().flags;
    let role = inst.src_role(source);
    let fits = !matches!(role, Role::Base | Role::ScalarCondition) && (role == Role::Predicate) == condition;
    fits && !flags.terminator && !flags.convergent && inst.ty != Type::Pred
}
