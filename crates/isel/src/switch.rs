//! Switches: equality tests for few cases, a balanced tree of comparisons for many, one branch a target where
//! lanes may disagree.

use heddle_isa::{Cond, Op, Operand, Type};
use heddle_llvm_passes::ir::{BlockRef, Value};

use crate::lower::floats::plain;
use crate::{Selector, control};

/// Cases that are tested one after the other.
const FEW: usize = 3;

/// A switch on an operand.
struct Switch {
    here: BlockRef,
    op: Operand,
    /// Words of the operand.
    words: u8,
    default: BlockRef,
    /// How often its blocks run.
    frequency: f32,
}

/// A value of the operand, and where it goes.
type Case = (u64, BlockRef);

pub(crate) fn switch(s: &mut Selector, i: Value) {
    let (value, here) = (i.operand(0), i.parent());
    let leaf = s.leaf(value);
    let Some(default) = i.successors().next() else { return };
    // Operands after the first two are (value, block) pairs; blocks of the cases follow the default among the
    // successors.
    let mut cases: Vec<Case> = Vec::new();
    for (k, target) in i.successors().skip(1).enumerate() {
        let Some(c) = i.operand(2 + 2 * k as u32).as_constant_int() else {
            s.report.error(Some(i), "a case that is no integer of at most 64 bits is not supported");
            return;
        };
        if target != default {
            cases.push((c, target));
        }
    }
    cases.sort_by_key(|c| c.0);
    let op = s.operand(value);
    let op = if leaf.bits == 1 { s.out.bit_to_word(op) } else { op };
    let op = if leaf.words() == 2 { s.out.extend_wide(op, leaf.bits, false) } else { s.extend(value, op, leaf.bits, false) };
    let frequency = s.out.f.blocks[s.out.current].frequency;
    let switch = Switch { here, op, words: leaf.words().max(1), default, frequency };
    if control::is_divergent(s, here) { divergent(s, &switch, &cases) } else { tree(s, &switch, &cases) }
}

/// Whether the operand is a case's value.
fn is_case(s: &mut Selector, switch: &Switch, value: u64) -> Operand {
    let ty = if switch.words == 2 { Type::B64 } else { Type::B32 };
    let c = s.out.constant_operand(value, switch.words);
    s.out.compare(Cond::Eq, ty, plain(switch.op), plain(c))
}

/// Goes to the default.
fn otherwise(s: &mut Selector, switch: &Switch) {
    let target = control::end_edge(s, switch.here, switch.default);
    s.out.jump(target);
}

/// Goes to a target if a condition holds, else on: to a new block, or from the last test to the default.
fn test(s: &mut Selector, switch: &Switch, hit: Operand, target: BlockRef, last: bool, divergent: bool) {
    let target = control::end_edge(s, switch.here, target);
    if last {
        let default = control::end_edge(s, switch.here, switch.default);
        return s.out.conditional(hit, target, default, divergent);
    }
    let next = s.out.new_block(switch.frequency);
    s.out.conditional(hit, target, next, divergent);
    s.out.start(next);
}

/// A divergent switch: one branch a target, on the disjunction of its cases. Separate branches to one target
/// would reconverge only after the others, which may be outside a loop that the switch is in (see the
/// uniformity analysis, "desynchronised loops").
fn divergent(s: &mut Selector, switch: &Switch, cases: &[Case]) {
    let mut targets: Vec<BlockRef> = Vec::new();
    for (_, t) in cases {
        if !targets.contains(t) {
            targets.push(*t);
        }
    }
    if targets.is_empty() {
        return otherwise(s, switch);
    }
    for (k, target) in targets.iter().enumerate() {
        let mut hit: Option<Operand> = None;
        for (c, _) in cases.iter().filter(|(_, t)| t == target) {
            let equal = is_case(s, switch, *c);
            hit = Some(match hit {
                None => equal,
                Some(h) => s.out.logic(Op::Or, h, equal),
            });
        }
        test(s, switch, hit.unwrap_or(Operand::Immediate(0)), *target, k + 1 == targets.len(), true);
    }
}

/// A uniform switch on cases in order.
fn tree(s: &mut Selector, switch: &Switch, cases: &[Case]) {
    if cases.is_empty() {
        return otherwise(s, switch);
    }
    if cases.len() <= FEW {
        for (k, (c, target)) in cases.iter().enumerate() {
            let hit = is_case(s, switch, *c);
            test(s, switch, hit, *target, k + 1 == cases.len(), false);
        }
        return;
    }
    let (low, high) = cases.split_at(cases.len() / 2);
    let pivot = s.out.constant_operand(high[0].0, switch.words);
    let ty = if switch.words == 2 { Type::U64 } else { Type::U32 };
    let below = s.out.compare(Cond::Lt, ty, plain(switch.op), plain(pivot));
    let (left, right) = (s.out.new_block(switch.frequency), s.out.new_block(switch.frequency));
    s.out.conditional(below, left, right, false);
    s.out.start(left);
    tree(s, switch, low);
    s.out.start(right);
    tree(s, switch, high);
}
