//! What one instruction must satisfy on a particular machine: registers that exist, and a cluster that has
//! its unit (C1).
//!
//! The machine-independent rules are [`heddle_isa::rules`]'. The verifier of machine IR and the simulator's
//! loader both check here.

use heddle_isa::rules::{self, Classes};
use heddle_isa::{Bank, Inst, OpClass, Operand, PhysReg, Space};

use crate::Machine;

/// Checks an instruction against a machine. `classes`: of its virtual registers, if it may name some.
/// `placed`: clusters have been assigned, so that the instruction's cluster must have its unit.
///
/// # Errors
/// A sentence about the first defect.
pub fn check(inst: &Inst, classes: Classes, placed: bool, machine: &Machine) -> Result<(), String> {
    let guard = inst.guard.map(|g| Operand::Reg(g.reg));
    limit(inst.dst, inst.dst_words(), inst, machine)?;
    for (i, s) in inst.srcs.iter().enumerate() {
        limit(*s, inst.src_words(i), inst, machine)?;
    }
    limit(guard.unwrap_or_default(), 0, inst, machine)?;
    let class = inst.class();
    let scalar = rules::bank_of(inst.dst, classes) == Some(Bank::Scalar);
    if !scalar && class != OpClass::Control && placed {
        let unit = machine.timing.get(&class).map(|t| t.unit);
        let cluster = usize::from(inst.cluster);
        match (unit, cluster < machine.clusters.len()) {
            // Copies need only the register ports, and u-marked instructions run on the scalar unit: their
            // cluster says whose registers they name.
            (Some(unit), true) if inst.uniform || class == OpClass::Move || machine.cluster_has(cluster, unit) => {}
            (_, false) => {
                return Err(format!("cluster {} does not exist: the machine has {}", inst.cluster, machine.clusters.len()));
            }
            _ => return Err(format!("cluster {} has no unit for {class} (C1)", inst.cluster)),
        }
    }
    Ok(())
}

/// Sizes of the machine's register files.
fn limit(op: Operand, words: u8, inst: &Inst, machine: &Machine) -> Result<(), String> {
    let Some(PhysReg { space, index }) = op.as_phys() else { return Ok(()) };
    let (limit, file) = match space {
        Space::Main => (machine.sm.max_main_registers, "main"),
        Space::Scalar => (machine.sm.scalar_registers, "scalar"),
        Space::Predicate => (machine.sm.predicate_registers, "predicate"),
        Space::Local => (machine.clusters.get(usize::from(inst.cluster)).map_or(0, |c| c.local_registers), "local"),
        _ => return Err("not a register space".into()),
    };
    if u32::from(index) + u32::from(words.max(1)) > limit {
        return Err(format!("{file} register {} where the machine has {limit}", u32::from(index) + u32::from(words.max(1)) - 1));
    }
    Ok(())
}
