//! Operations that do the same to each leaf of a value, as those on vectors do.

use heddle_isa::Operand;
use heddle_llvm_passes::ir::Value;

use crate::Selector;
use crate::leaf::{Leaf, Parts};

/// Applies `f` to each leaf of the result with the operands' parts.
pub(crate) fn each_leaf(s: &mut Selector, i: Value, count: u32, mut f: impl FnMut(&mut Selector, Leaf, &[Operand]) -> Operand) {
    let all: Vec<Parts> = (0..count).map(|k| s.parts(i.operand(k))).collect();
    let leaves = s.cx.leaves(i);
    let parts = leaves
        .iter()
        .enumerate()
        .map(|(k, leaf)| {
            let args: Vec<Operand> = all.iter().map(|p| if p.len() > 1 { p[k] } else { p[0] }).collect();
            f(s, *leaf, &args)
        })
        .collect();
    s.values.set(i, parts);
}
