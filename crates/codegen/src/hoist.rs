//! Loop-invariant code leaves loops.
//!
//! # Problem
//! LLVM has moved what is invariant in its IR, but selection expands addresses, products of launch values and
//! extensions where they are used.
//!
//! # Algorithm
//! From the innermost loop of a block outward: a pure instruction whose operands are all defined outside the
//! loop moves to the end of the loop's preheader if its block runs in every iteration, or is the preheader of a loop
//! inside, which a test may go around. Sums, products and shifts of words, of which addresses are made, move from any
//! block: LLVM moves them wherever they stand, and it is selection that makes new ones. Those may run more often than before
//! where a side of a branch is rarely taken. Only results in S move, as many as scalar registers allow; a value that lives
//! through a loop in lanes would cost a register there, which is worth more than an instruction (the local files hold few).
//!
//! A scalar instruction that moves runs once for the warp before any of its lanes enters the loop; what it
//! computes does not depend on which lanes are active.
//!
//! Reference: Aho, Lam, Sethi and Ullman, "Compilers", 9.5 (code motion); blocks in reverse post-order, so that
//! operands have moved before their users are looked at.
//!
//! May touch: SSA form only; no instruction with an effect. A loop without a preheader stays as it is.

use cranelift_entity::SecondaryMap;
use rustc_hash::FxHashMap;

use super::CodegenError;
use super::context::Context;
use super::loops::Loops;
use super::ssa::is_pure;
use heddle_isa::{Inst, Op, Operand, Type, VReg};
use heddle_mir::cfg::{Cfg, Dominators};
use heddle_mir::{Bank, Block, Function};

/// Moves invariant code.
pub fn run(function: &mut Function, context: &mut Context) -> Result<(), CodegenError> {
    let cfg = Cfg::new(function);
    let loops = Loops::new(&cfg);
    if loops.loops.is_empty() {
        return Ok(());
    }
    let dominators = cfg.dominators();
    let places = Preheaders::new(&cfg, &loops);
    let mut defined: SecondaryMap<VReg, Option<Block>> = SecondaryMap::with_capacity(function.vregs.len());
    for &block in &cfg.rpo {
        function.blocks[block].insts.iter().filter_map(|i| i.dst.as_virt()).for_each(|(r, _)| defined[r] = Some(block));
    }
    // Words that live through the loops; a quarter of the file is left to what is computed in them.
    let mut room = context.machine.sm.scalar_registers as i32 * 3 / 4;
    for &block in &cfg.rpo {
        if loops.innermost[block].is_none() {
            continue;
        }
        let mut insts = std::mem::take(&mut function.blocks[block].insts);
        let mut moved: Vec<(Block, Inst)> = Vec::new();
        insts.retain_mut(|inst| {
            let Some(to) = target(function, &loops, &places, &dominators, &defined, block, inst) else { return true };
            let Some((dst, _)) = inst.dst.as_virt() else { return true };
            let words = i32::from(function.vregs[dst].words);
            if room < words {
                return true;
            }
            room -= words;
            defined[dst] = Some(to);
            moved.push((to, inst.clone()));
            false
        });
        function.blocks[block].insts = insts;
        for (to, inst) in moved {
            let insts = &mut function.blocks[to].insts;
            let end = insts.iter().rposition(|i| !i.info().flags.terminator).map_or(0, |p| p + 1);
            insts.insert(end, inst);
        }
    }
    Ok(())
}

/// The block an instruction moves to, if it moves.
fn target(
    function: &Function,
    loops: &Loops,
    places: &Preheaders,
    dominators: &Dominators,
    defined: &SecondaryMap<VReg, Option<Block>>,
    block: Block,
    inst: &Inst,
) -> Option<Block> {
    let (dst, 0) = inst.dst.as_virt()? else { return None };
    if function.vregs[dst].bank != Bank::Scalar || !is_pure(inst) {
        return None;
    }
    let anyway = may_run_anyway(inst);
    let (mut at, mut result) = (loops.innermost[block], None);
    while let Some(index) = at {
        let invariant = |r: VReg| defined[r].is_some_and(|b| !loops.contains(index, b));
        if !inst.srcs.iter().filter_map(|s| s.as_virt()).all(|(r, _)| invariant(r)) {
            break;
        }
        let place = &places.of[index as usize];
        let from = result.unwrap_or(block);
        match place.preheader {
            Some(preheader) if anyway || place.latches.iter().all(|l| dominators.dominates(places.entered(from), *l)) => {
                result = Some(preheader)
            }
            _ => break,
        }
        at = loops.loops[index as usize].parent;
    }
    result
}

/// Whether an instruction may be executed though its block is not: one of those that addresses are made of, such as
/// products of the launch's values, which LLVM would have moved.
fn may_run_anyway(inst: &Inst) -> bool {
    let linear = matches!(inst.op, Op::Add | Op::Sub | Op::Mul | Op::Shl | Op::Mad) && inst.ty == Type::B32;
    linear && !inst.srcs.iter().all(|s| matches!(s, Operand::Immediate(_) | Operand::None))
}

/// Where the code of each loop goes and where the loop closes.
pub(super) struct Preheaders {
    pub of: Vec<Preheader>,
    /// The only block that leads to each preheader, mostly with a test whether the loop runs at all.
    guards: FxHashMap<Block, Block>,
}

/// Of one loop.
pub(super) struct Preheader {
    /// The block before the header from which control goes nowhere else.
    pub preheader: Option<Block>,
    /// The blocks that go back to the header.
    pub latches: Vec<Block>,
}

impl Preheaders {
    pub fn new(cfg: &Cfg, loops: &Loops) -> Self {
        let of = (0u32..).zip(&loops.loops).map(|(index, l)| {
            let (latches, outside): (Vec<Block>, Vec<Block>) =
                cfg.edges[l.header].preds.iter().copied().partition(|p| loops.contains(index, *p));
            let preheader = match outside[..] {
                [one] if cfg.edges[one].succs.len() == 1 => Some(one),
                _ => None,
            };
            Preheader { preheader, latches }
        });
        let of: Vec<Preheader> = of.collect();
        let guarded = of.iter().filter_map(|p| {
            let preheader = p.preheader?;
            let [guard] = cfg.edges[preheader].preds[..] else { return None };
            Some((preheader, guard))
        });
        let guards = guarded.collect();
        Preheaders { of, guards }
    }

    /// The only block that leads to a preheader, as if there were no test; of another block, itself.
    fn entered(&self, block: Block) -> Block {
        self.guards.get(&block).copied().unwrap_or(block)
    }
}
