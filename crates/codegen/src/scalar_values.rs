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
    /// Scalar registers that one is computed of.
    sources: SecondaryMap<VReg, SmallVec<[VReg; 2]>>,
    /// Those that are copied to it.
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
            sources: SecondaryMap::new(),
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
                let Some(written) = written else { continue };
                movable.results[read].push(written);
                movable.sources[written].push(read);
                if inst.op == Op::Mov {
                    movable.copied[written].push(read);
                }
            }
        }
        // What a register that stays is computed of stays, too.
        let mut staying: Vec<VReg> = function.vregs.keys().filter(|r| is_scalar(*r) && !movable.can[*r]).collect();
        while let Some(stays) = staying.pop() {
            for &source in &movable.sources[stays] {
                if std::mem::replace(&mut movable.can[source], false) {
                    staying.push(source);
                }
            }
        }
        movable
    }

    /// Whether a scalar register can move.
    pub fn contains(&self, reg: VReg) -> bool {
        self.can[reg]
    }

    /// Moves a register that can, and those that are computed of it, to lanes; and what is copied to them, if it can: otherwise the
    /// value would be in two registers, and the copy would wait for it.
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
