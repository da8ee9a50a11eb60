//! Addresses that are made of what memory holds: look-ups in tables, gathers, linked structures.
//!
//! The operands of an address are followed to what they are made of, through calls, too (`clamp`), but not to conditions: an index
//! that is one of two by what was loaded is as good as both, which lie near each other. Any memory counts, that of the work-group
//! among it, and so do the results of atomics.
//!
//! May touch: nothing.

use inkwell::llvm_sys::LLVMOpcode::*;
use rustc_hash::FxHashSet;

use crate::ir::Value;

/// Instructions of an address that are looked at; one of more is taken for no look-up.
const MOST: usize = 256;

/// Whether an address is made of what a load brings.
pub(super) fn is_loaded(address: Value) -> bool {
    let (mut seen, mut open) = (FxHashSet::default(), vec![address]);
    while let Some(value) = open.pop() {
        if !value.is_instruction() || seen.len() >= MOST || !seen.insert(value) {
            continue;
        }
        match value.opcode() {
            LLVMLoad | LLVMAtomicRMW | LLVMAtomicCmpXchg => return true,
            LLVMSelect => open.extend([value.operand(1), value.operand(2)]),
            LLVMPHI => open.extend(value.incoming().map(|(from, _)| from)),
            LLVMICmp | LLVMFCmp => {}
            _ => open.extend(value.operands()),
        }
    }
    false
}
