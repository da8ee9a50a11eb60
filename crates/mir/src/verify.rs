//! The verifier: what every MIR function must satisfy in its form. Runs between all stages when verification
//! is on.
//!
//! Structure (terminators, branch targets, phis), SSA (one definition, which dominates its uses), operands
//! against the instruction table (roles, classes, spaces, widths, alignment of tuples, the single immediate),
//! modifiers, and the machine's limits.

use cranelift_entity::{EntityRef, SecondaryMap};
use fixedbitset::FixedBitSet;

use super::cfg::Cfg;
use super::{Bank, Block, Form, Function};
use heddle_isa::{Inst, Op, Operand, VReg, rules};
use heddle_target::{Machine, limits};

/// A defect and its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// A sentence with block and instruction.
    pub message: String,
    /// Which instruction of the function it is, in order of the layout.
    pub inst: Option<usize>,
}

impl From<String> for Violation {
    fn from(message: String) -> Self {
        Violation { message, inst: None }
    }
}

/// Checks a function.
///
/// # Errors
/// A sentence about the first defect, with block and instruction.
pub fn verify(function: &Function, machine: &Machine) -> Result<(), String> {
    verify_in_place(function, machine).map_err(|v| v.message)
}

/// Checks a function.
///
/// # Errors
/// The first defect.
pub fn verify_in_place(function: &Function, machine: &Machine) -> Result<(), Violation> {
    if function.layout.is_empty() {
        return Err(Violation::from("the function has no block".to_string()));
    }
    function.literals.check(&function.args)?;
    let mut in_layout = FixedBitSet::with_capacity(function.blocks.len());
    for block in &function.layout {
        if !function.blocks.is_valid(*block) || in_layout.put(block.index()) {
            return Err(format!("{block} stands in the layout twice, or does not exist").into());
        }
    }
    // Before the graph is built, so that it never follows a target that is not there.
    for &block in &function.layout {
        for (i, inst) in function.blocks[block].insts.iter().enumerate() {
            if let Some(target) = inst.blocks().iter().find(|t| !in_layout.contains(t.index())) {
                return Err(at(function, block, i, format!("{target} does not exist")));
            }
        }
    }
    let cfg = Cfg::new(function);
    for (position, &block) in function.layout.iter().enumerate() {
        let insts = &function.blocks[block].insts;
        for (i, inst) in insts.iter().enumerate() {
            structure(&cfg, block, i, insts).map_err(|m| at(function, block, i, m))?;
            instruction(inst, Some(function), machine).map_err(|m| at(function, block, i, m))?;
        }
        let falls = !insts.last().is_some_and(|i| matches!(i.op, Op::Bra | Op::Exit | Op::Trap) && i.guard.is_none());
        if falls && position + 1 == function.layout.len() {
            let message = "control falls off the end of the function";
            return Err(match insts.len() {
                0 => format!("{block}: {message}").into(),
                n => at(function, block, n - 1, message.into()),
            });
        }
    }
    if function.form == Form::Ssa { ssa(function, &cfg) } else { Ok(()) }
}

/// A message with its block and the instruction it is about.
fn at(function: &Function, block: Block, i: usize, message: String) -> Violation {
    let inst = &function.blocks[block].insts[i];
    let before = function.layout.iter().take_while(|b| **b != block).map(|b| function.blocks[*b].insts.len()).sum::<usize>();
    let message = format!("{block}: {message}\n  in: {}", heddle_isa::text::print_inst(inst, &function.files));
    Violation { message, inst: Some(before + i) }
}

fn structure(cfg: &Cfg, block: Block, i: usize, insts: &[Inst]) -> Result<(), String> {
    let inst = &insts[i];
    if inst.info().flags.terminator {
        let conditional = matches!(inst.op, Op::BraScalar | Op::BraDivergent);
        let followed_by_bra = conditional && i + 2 == insts.len() && insts[i + 1].op == Op::Bra;
        if i + 1 != insts.len() && !followed_by_bra {
            return Err("a terminator in the middle of the block".into());
        }
    }
    if matches!(inst.targets, heddle_isa::Targets::Offsets { .. }) {
        return Err("an encoded branch in machine IR".into());
    }
    if inst.op == Op::Phi {
        if i > 0 && insts[i - 1].op != Op::Phi {
            return Err("a phi after other instructions".into());
        }
        let mut incoming: Vec<Block> = inst.blocks().to_vec();
        let mut preds: Vec<Block> = cfg.edges[block].preds.to_vec();
        incoming.sort_unstable();
        preds.sort_unstable();
        if incoming != preds {
            return Err(format!("incoming blocks {}, predecessors {}", list(&incoming), list(&preds)));
        }
    }
    Ok(())
}

fn list(blocks: &[Block]) -> String {
    let names: Vec<String> = blocks.iter().map(ToString::to_string).collect();
    if names.is_empty() { "none".into() } else { names.join(" ") }
}

/// Checks one instruction against the table ([`rules`]) and the machine; with a function, also the classes of
/// virtual registers and what its form allows.
///
/// # Errors
/// A sentence about the first defect.
pub fn instruction(inst: &Inst, function: Option<&Function>, machine: &Machine) -> Result<(), String> {
    rules::check(inst, function.map(|f| &f.vregs))?;
    if let Some(f) = function {
        allowed(inst, f)?;
    }
    let placed = function.is_none_or(|f| f.form == Form::Allocated);
    limits::check(inst, function.map(|f| &f.vregs), placed, machine)
}

/// What a function's form allows.
fn allowed(inst: &Inst, function: &Function) -> Result<(), String> {
    let pseudo = inst.info().flags.pseudo;
    let registers = inst.srcs.iter().chain([&inst.dst]).copied().chain(inst.guard.map(|g| Operand::Reg(g.reg)));
    match function.form {
        Form::Ssa => {
            if let Some((reg, word)) = inst.dst.as_virt() {
                let class = function.vregs[reg];
                // A condition in S (no words in the role) is a whole 32-bit register.
                let words = if class.bank == Bank::Scalar { inst.dst_words().max(1) } else { inst.dst_words() };
                if word != 0 || words != class.words {
                    return Err(format!("{reg} is defined in part, which SSA form does not allow"));
                }
            }
        }
        Form::Lowered if pseudo => {
            return Err(format!("`{}` after lowering", inst.info().mnemonic));
        }
        Form::Allocated if pseudo => return Err(format!("`{}` after allocation", inst.info().mnemonic)),
        Form::Lowered => {
            for (reg, _) in registers.filter_map(Operand::as_virt) {
                if let Some(home) = function.local[reg].filter(|c| *c != inst.cluster) {
                    return Err(format!("cluster {} names {reg}, a local register of cluster {home} (C1)", inst.cluster));
                }
            }
        }
        Form::Allocated => {
            if let Some((reg, _)) = registers.filter_map(Operand::as_virt).next() {
                return Err(format!("virtual register {reg} after allocation"));
            }
        }
    }
    Ok(())
}

fn ssa(function: &Function, cfg: &Cfg) -> Result<(), Violation> {
    let mut def: SecondaryMap<VReg, Option<(Block, usize)>> = SecondaryMap::new();
    def.resize(function.vregs.len());
    for &block in &function.layout {
        for (i, inst) in function.blocks[block].insts.iter().enumerate() {
            if let Some((r, _)) = inst.dst.as_virt() {
                if def[r].is_some() {
                    return Err(at(function, block, i, format!("{r} is defined twice")));
                }
                def[r] = Some((block, i));
            }
        }
    }
    let dominators = cfg.dominators();
    let mut reachable = FixedBitSet::with_capacity(cfg.len);
    cfg.rpo.iter().for_each(|b| reachable.insert(b.index()));
    for &block in &cfg.rpo {
        for (i, inst) in function.blocks[block].insts.iter().enumerate() {
            let mut error = None;
            let mut check = |r: VReg, place: Block, position: usize| {
                let fine = match def[r] {
                    Some((b, d)) => {
                        if b == place {
                            d < position
                        } else {
                            dominators.dominates(b, place)
                        }
                    }
                    None => false,
                };
                if !fine && error.is_none() {
                    error = Some(format!("{r} is used where its definition does not reach"));
                }
            };
            if inst.op == Op::Phi {
                for (s, p) in inst.srcs.iter().zip(inst.blocks()) {
                    if let (Some((r, _)), true) = (s.as_virt(), reachable.contains(p.index())) {
                        check(r, *p, usize::MAX);
                    }
                }
            } else {
                super::liveness::for_each_use(inst, |r, _| check(r, block, i));
            }
            if let Some(e) = error {
                return Err(at(function, block, i, e));
            }
        }
    }
    Ok(())
}
