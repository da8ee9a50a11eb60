//! What the allocation of every register file shares: colouring in rounds until nothing is spilled, and the
//! change to physical registers.
//!
//! The order of the files is S, P, M: what overflows in the first two needs registers of the last.

use cranelift_entity::SecondaryMap;

use super::color::{self, FileSpec};
use super::ranges::{self, LiveView};
use super::spill::{self, Origins};
use super::{CodegenError, FunctionStats};
use heddle_isa::{Inst, Operand, PhysReg, Reg, Space, VReg};
use heddle_mir::{Bank, Function};

/// More rounds of spilling than any real function needs; only a defect of the compiler would exceed it.
const MAX_ROUNDS: usize = 100;

/// What allocation keeps about a function from one file to the next.
#[derive(Clone)]
pub struct Session {
    /// The function before allocation, if the checker will run.
    pub before: Option<Box<Function>>,
    /// Which instruction of it each instruction is.
    pub origins: Origins,
    /// Address of the first spill slot.
    pub first_slot: u32,
    /// The main register MVR of each local register that has one (C10).
    pub main_of: SecondaryMap<VReg, Option<VReg>>,
    /// Liveness, while it holds.
    view: Option<LiveView>,
}

impl Session {
    /// Starts allocation of a function.
    pub fn new(function: &Function, verify: bool) -> Self {
        Session {
            before: verify.then(|| Box::new(function.clone())),
            origins: spill::origins_of(function),
            first_slot: function.private_bytes.next_multiple_of(4),
            main_of: SecondaryMap::new(),
            view: None,
        }
    }

    /// Liveness of the function as it is.
    pub fn view(&mut self, function: &Function) -> &LiveView {
        self.view.get_or_insert_with(|| LiveView::new(function))
    }

    /// The function has changed.
    pub fn forget_view(&mut self) {
        self.view = None;
    }

    /// Takes the liveness out; the function is about to change.
    pub fn take_view(&mut self, function: &Function) -> LiveView {
        self.view.take().unwrap_or_else(|| LiveView::new(function))
    }
}

/// Colours one bank and replaces its virtual registers; what does not fit is spilled everywhere, and the rest
/// coloured again.
///
/// # Errors
/// [`CodegenError::TooFewRegisters`] if a single instruction's operands do not fit.
pub fn color_bank(
    function: &mut Function,
    session: &mut Session,
    bank: Bank,
    file: &FileSpec,
    stats: &mut FunctionStats,
) -> Result<(), CodegenError> {
    let (name, space) = match bank {
        Bank::Vector => ("main", Space::Main),
        Bank::Scalar => ("scalar", Space::Scalar),
        Bank::Predicate => ("predicate", Space::Predicate),
    };
    if !function.vregs.values().any(|c| c.bank == bank) {
        return Ok(());
    }
    let mut pinned: SecondaryMap<VReg, bool> = SecondaryMap::new();
    for _ in 0..MAX_ROUNDS {
        let graph = ranges::interference(function, session.view(function), bank, |r| pinned.get(r).copied().unwrap_or(false));
        let coloring = color::color(&graph, file).map_err(|_| CodegenError::TooFewRegisters {
            kernel: function.name.clone(),
            file: name,
            available: file.registers,
        })?;
        if coloring.spilled.is_empty() {
            let mut colors: SecondaryMap<VReg, Option<u16>> = SecondaryMap::with_capacity(function.vregs.len());
            for (node, color) in graph.nodes.iter().zip(&coloring.color) {
                colors[node.reg] = *color;
            }
            let Function { blocks, layout, vregs, .. } = function;
            for block in layout.iter() {
                blocks[*block]
                    .insts
                    .iter_mut()
                    .for_each(|i| to_physical(i, |r| (vregs[r].bank == bank).then(|| colors[r]), space));
            }
            return Ok(());
        }
        let spilled: Vec<VReg> = coloring.spilled.iter().map(|n| graph.nodes[*n as usize].reg).collect();
        session.view = None;
        spill::everywhere(function, &mut session.origins, &spilled, &mut pinned, stats);
    }
    Err(CodegenError::Internal {
        kernel: function.name.clone(),
        stage: name.into(),
        message: "spilling does not converge".into(),
    })
}

/// Replaces the virtual registers for which `color` knows the file.
pub fn to_physical(inst: &mut Inst, color: impl Fn(VReg) -> Option<Option<u16>>, space: Space) {
    let map = |reg: Reg| match reg {
        Reg::Virtual { reg: v, word } => match color(v) {
            // A register without colour is never live: its reads are of undefined values.
            Some(c) => Reg::Physical(PhysReg { space, index: c.unwrap_or(0) as u8 + word }),
            None => reg,
        },
        physical => physical,
    };
    for operand in inst.srcs.iter_mut().chain([&mut inst.dst]) {
        if let Operand::Reg(reg) = operand {
            *reg = map(*reg);
        }
    }
    inst.fresh &= inst.dst.as_virt().is_some();
    if let Some(guard) = &mut inst.guard {
        guard.reg = map(guard.reg);
    }
}
