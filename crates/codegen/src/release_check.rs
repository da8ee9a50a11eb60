//! Proof of renamed code: no shared register is read unmapped, given back while a lane needs it, or mapped at
//! the end of the warp (REN-5, REN-7, REN-9), and the kernel's demand is what it says (REN-8).
//!
//! # What is proved
//! The rename table belongs to the warp, while values belong to lanes: one side of a divergent branch runs on
//! the table that the other side left. [`warp`] finds every way that a warp can take through the code with
//! every order in which its lanes wait for each other, and [`effect`] what happens to each name on the way.
//! On each of them:
//! - a read finds its register mapped (REN-9);
//! - a release takes nothing that a waiting lane will read before it writes it (REN-7), nor the running lanes
//!   themselves (REN-5). One with the condition 1 takes effect only when nobody waits;
//! - when the last lanes of a warp exit, no register is mapped (REN-9);
//! - no more registers are mapped at once than the kernel's header says (REN-8).
//!
//! Conditions of branches and guards are not looked at: every way through the graph counts, and a write under
//! a guard may leave any lane's old value. Otherwise the answer is exact for each name.
//!
//! Shares nothing with [`super::release`], which it checks, but the set type [`super::names`]: that stage
//! works on linear liveness; this one on the paths of the warp and the liveness of single lanes.
//!
//! May touch nothing.

mod effect;
mod uses;
mod warp;

use self::uses::Uses;
use self::warp::{Context, Warp};
use super::CodegenError;
use super::context;
use super::names::Names;
use heddle_isa::{Inst, Op, text};
use heddle_mir::{Block, Function};

/// Proves a function.
///
/// # Errors
/// [`CodegenError::Internal`] with the first defect.
pub fn run(function: &mut Function, _: &mut context::Context) -> Result<(), CodegenError> {
    check(function).map_err(|message| CodegenError::Internal {
        kernel: function.name.clone(),
        stage: "release-check".into(),
        message,
    })
}

/// Proves a function whose registers from [`Function::fixed_registers`] on are shared.
///
/// # Errors
/// The first defect in the order of the code.
pub fn check(function: &Function) -> Result<(), String> {
    let Some(fixed) = function.fixed_registers else { return Ok(()) };
    let shared = Names::from(fixed);
    let warp = Warp::new(function, shared);
    for &block in &function.layout {
        let uses: Vec<Uses> = function.blocks[block].insts.iter().map(|i| Uses::new(i, shared)).collect();
        // What the running lanes read behind each instruction.
        let mut after = vec![warp.live_out[block]; uses.len()];
        for i in (1..uses.len()).rev() {
            after[i - 1] = uses[i].live_before(after[i]);
        }
        for context in &warp.contexts {
            judge(function, block, context, &uses, &after)?;
        }
    }
    Ok(())
}

/// Judges a block in one context.
fn judge(function: &Function, block: Block, context: &Context, uses: &[Uses], after: &[Names]) -> Result<(), String> {
    let Some(mut table) = context.table_at(block) else { return Ok(()) };
    for ((inst, uses), after) in function.blocks[block].insts.iter().zip(uses).zip(after) {
        refuse(block, inst, uses.reads.and(table.unmaps), "may be unmapped when it is read (REN-9)")?;
        table = table.map(uses.writes);
        if table.maps.count() > function.shared_demand {
            let (mapped, demand) = (table.maps.count(), function.shared_demand);
            let place = text::print_inst(inst, &function.files);
            return Err(format!(
                "{block}: {mapped} shared registers are mapped, the header says {demand} (REN-8)\n  in: {place}"
            ));
        }
        let given = uses.given(context.alone);
        let taken = given.and(table.maps);
        refuse(block, inst, taken.and(context.needs), "is released while waiting lanes need it (REN-7)")?;
        refuse(block, inst, taken.and(*after), "is released before its last read (REN-5)")?;
        table = table.unmap(given);
        if inst.op == Op::Exit && context.alone {
            refuse(block, inst, table.maps, "may stay mapped at the end (REN-9)")?;
        }
    }
    Ok(())
}

/// A defect if there is a name among those given.
fn refuse(block: Block, inst: &Inst, names: Names, what: &str) -> Result<(), String> {
    match names.first() {
        Some(name) => Err(format!("{block}: m{name} {what}\n  in: {}", text::print_inst(inst, &[]))),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests;
