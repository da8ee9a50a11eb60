//! Work-item functions: ids and sizes in special registers.

use crate::emit::Emitter;
use crate::leaf::Leaf;
use crate::{Selector, constants};
use heddle_isa::{Op, Operand, Special, Type};
use heddle_llvm_passes::ir::Value;

use heddle_llvm_passes::builtins::Query;

/// Selects a query.
pub(crate) fn query(s: &mut Selector, i: Value, q: Query) {
    let word = match q {
        Query::WorkDim => Operand::Special(Special::WorkDim),
        Query::LaneId => Operand::Special(Special::LaneId),
        Query::WarpId => Operand::Special(Special::WarpId),
        Query::NumWarps => Operand::Special(Special::NumWarps),
        Query::WarpSize => Operand::Immediate(s.cx.warp_size),
        Query::LocalLinearId => Operand::Special(Special::LocalLinearId),
        Query::GlobalLinearId => global_linear_id(&mut s.out),
        _ => query_dimension(s, q, i.operand(0)),
    };
    // An id that is one for the whole warp (`reqd_work_group_size`) still comes in lanes.
    let word = if s.cx.is_scalar(i) && !s.out.is_uniform_operand(word) { s.out.scalar(word, 1) } else { word };
    let leaf = s.leaf(i);
    if leaf.words() == 2 {
        s.values.low.insert(i, word);
        let wide = s.out.word_to_pair(word, false);
        s.values.set1(i, wide);
    } else {
        s.values.set1(i, word);
    }
}

/// What a query of a dimension gives; of one that is no constant, one after the other is compared with it.
fn query_dimension(s: &mut Selector, q: Query, dimension: Value) -> Operand {
    if let Some(d) = constants::sign_extended(dimension) {
        return query_special(q, d);
    }
    let d = s.operand(dimension);
    let mut value = Operand::Immediate(q.out_of_range());
    for k in 0..3 {
        let hit = s.out.is_index(d, k);
        value = s.out.choose(hit, Leaf::WORD, query_special(q, k as i64), value);
    }
    value
}

/// `(z * size y + y) * size x + x`, each id from its offset.
fn global_linear_id(out: &mut Emitter) -> Operand {
    use Special::*;
    let mut value: Option<Operand> = None;
    for (id, offset, size) in [
        (GlobalIdZ, GlobalOffsetZ, GlobalSizeY),
        (GlobalIdY, GlobalOffsetY, GlobalSizeX),
        (GlobalIdX, GlobalOffsetX, GlobalSizeX),
    ] {
        let relative = out.emit_joint(Op::Sub, Type::B32, 1, &[Operand::Special(id), Operand::Special(offset)]);
        let sum = match value {
            None => relative,
            Some(v) => out.emit_joint(Op::Add, Type::B32, 1, &[v, relative]),
        };
        value = Some(if id == GlobalIdX { sum } else { out.emit_joint(Op::Mul, Type::B32, 1, &[sum, Operand::Special(size)]) });
    }
    value.unwrap_or(Operand::Immediate(0))
}

/// The special register that answers a query in a dimension.
fn query_special(q: Query, dimension: i64) -> Operand {
    use Special::*;
    let table = match q {
        Query::GlobalId => [GlobalIdX, GlobalIdY, GlobalIdZ],
        Query::RelativeId => [RelativeIdX, RelativeIdY, RelativeIdZ],
        Query::LocalId => [LocalIdX, LocalIdY, LocalIdZ],
        Query::GroupId => [GroupIdX, GroupIdY, GroupIdZ],
        Query::GlobalSize => [GlobalSizeX, GlobalSizeY, GlobalSizeZ],
        Query::LocalSize => [LocalSizeX, LocalSizeY, LocalSizeZ],
        Query::EnqueuedLocalSize => [EnqueuedLocalSizeX, EnqueuedLocalSizeY, EnqueuedLocalSizeZ],
        Query::NumGroups => [NumGroupsX, NumGroupsY, NumGroupsZ],
        _ => [GlobalOffsetX, GlobalOffsetY, GlobalOffsetZ],
    };
    match usize::try_from(dimension).ok().and_then(|d| table.get(d)) {
        Some(s) => Operand::Special(*s),
        None => Operand::Immediate(q.out_of_range()),
    }
}
