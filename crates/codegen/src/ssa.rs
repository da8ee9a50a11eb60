//! What the stages over SSA form share: where values are defined, which instructions may be shared or moved,
//! and one value standing in for another.

use cranelift_entity::SecondaryMap;
use smallvec::SmallVec;

use heddle_isa::{Guard, Inst, Mods, Op, Operand, Reg, Special, Type, VReg};
use heddle_mir::{Block, Function, RegClass};

/// Where each virtual register is defined: block and position. Instructions may be rewritten in place, but
/// neither added nor removed, while this is in use.
pub(super) struct Definitions(SecondaryMap<VReg, Option<(Block, u32)>>);

impl Definitions {
    /// Of a function in SSA form.
    pub fn new(function: &Function) -> Self {
        let mut places: SecondaryMap<VReg, Option<(Block, u32)>> = SecondaryMap::with_capacity(function.vregs.len());
        for &block in &function.layout {
            for (i, inst) in function.blocks[block].insts.iter().enumerate() {
                if let Some((r, _)) = inst.dst.as_virt() {
                    places[r] = Some((block, i as u32));
                }
            }
        }
        Definitions(places)
    }

    /// The block that defines a register.
    pub fn block(&self, reg: VReg) -> Option<Block> {
        self.0[reg].map(|(block, _)| block)
    }

    /// The instruction that defines the register that an operand names from its first word on.
    pub fn of<'f>(&self, function: &'f Function, op: Operand) -> Option<&'f Inst> {
        let (reg, 0) = op.as_virt()? else { return None };
        let (block, i) = self.0[reg]?;
        Some(&function.blocks[block].insts[i as usize])
    }
}

/// Whether the result of an instruction depends on nothing but its operands, wherever it executes. Phis and
/// undefined values are no computations.
pub(super) fn is_pure(inst: &Inst) -> bool {
    let flags = inst.info().flags;
    let acts = flags.load || flags.store || flags.side_effect || flags.terminator || flags.convergent;
    let value = matches!(inst.op, Op::Phi | Op::Undef);
    let changes = |s: &Operand| matches!(s, Operand::Special(Special::ExecLow | Special::ExecHigh | Special::ClockLow));
    !acts && !value && inst.guard.is_none() && !inst.srcs.iter().any(changes)
}

/// What makes two pure instructions compute the same value.
#[derive(PartialEq, Eq, Hash)]
pub(super) struct Key {
    op: Op,
    ty: Type,
    mods: Mods,
    class: RegClass,
    srcs: SmallVec<[Operand; 3]>,
    neg: u8,
    abs: u8,
    imm: i32,
}

impl Key {
    /// Of an instruction that writes a register of this class.
    pub fn new(inst: &Inst, class: RegClass) -> Key {
        Key {
            op: inst.op,
            ty: inst.ty,
            mods: inst.mods,
            class,
            srcs: inst.srcs.clone(),
            neg: inst.neg,
            abs: inst.abs,
            imm: inst.imm,
        }
    }
}

/// Registers that stand for others.
pub(super) struct Substitution {
    by: SecondaryMap<VReg, Option<VReg>>,
    any: bool,
}

impl Substitution {
    /// Nothing stands for anything yet.
    pub fn new(function: &Function) -> Self {
        Substitution { by: SecondaryMap::with_capacity(function.vregs.len()), any: false }
    }

    /// From now on `by` stands for `reg`.
    pub fn replace(&mut self, reg: VReg, by: VReg) {
        self.by[reg] = Some(by);
        self.any = true;
    }

    /// What stands for a register.
    pub fn of(&self, mut reg: VReg) -> VReg {
        while let Some(other) = self.by[reg] {
            reg = other;
        }
        reg
    }

    /// What stands for an operand.
    pub fn operand(&self, op: Operand) -> Operand {
        match op.as_virt() {
            Some((r, word)) => Operand::virt_word(self.of(r), word),
            None => op,
        }
    }

    /// Replaces an instruction's operands, those of phis included.
    pub fn redirect(&self, inst: &mut Inst) {
        for s in &mut inst.srcs {
            *s = self.operand(*s);
        }
        if let Some(Guard { reg: Reg::Virtual { reg, .. }, .. }) = &mut inst.guard {
            *reg = self.of(*reg);
        }
    }

    /// Replaces all operands of a function.
    pub fn apply(&self, function: &mut Function) {
        if self.any {
            for block in &function.layout {
                function.blocks[*block].insts.iter_mut().for_each(|inst| self.redirect(inst));
            }
            if let Some(variables) = &mut function.variables {
                variables.rewrite(|op| self.operand(op));
            }
        }
    }
}
