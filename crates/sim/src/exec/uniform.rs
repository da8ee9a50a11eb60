//! Instructions that run once for all active lanes although they write lane registers: those with the u bit
//! (S5, S6), and the comparison of operands by which the run-time scalarizer finds more (S7) and checking
//! mode tests the marks (S8).

use super::{Decoded, Lanes, all_lanes};
use crate::fault::FaultKind;

/// The lowest lane of `mask` whose operands differ from those of the first, or `None` if all active lanes have the same.
///
/// `mask` is not empty. Operands that come from scalar registers, constants and immediates are the same by construction.
#[inline]
pub fn differing_lane<const N: usize>(l: &Lanes<N>, d: &Decoded<N>, mask: u64) -> Option<u32> {
    let first = mask.trailing_zeros() as usize;
    let mut different = 0u64;
    for i in 0..3 {
        if d.predicate_sources >> i & 1 == 1 {
            let p = l.predicates[usize::from(d.src[i] & 15)];
            different |= if p >> first & 1 == 1 { !p } else { p };
            continue;
        }
        for w in 0..u16::from(d.lane_words[i]) {
            let row = l.row(d.src[i] + w);
            let wanted = row[first];
            let mut any = 0;
            for x in row {
                any |= x ^ wanted;
            }
            // Only if some lane differs is it worth asking which.
            if any != 0 {
                for (lane, x) in row.iter().enumerate() {
                    different |= u64::from(*x != wanted) << lane;
                }
            }
        }
    }
    let different = different & mask & all_lanes(N);
    (different != 0).then(|| different.trailing_zeros())
}

/// Whether all lanes of `mask`, which is not empty, have the same operands.
#[inline]
pub fn same_operands<const N: usize>(l: &Lanes<N>, d: &Decoded<N>, mask: u64) -> bool {
    let first = mask.trailing_zeros() as usize;
    let last = mask.ilog2() as usize % N;
    // Nearly always two lanes of one operand tell.
    if let Some(source) = d.first_lanes {
        let row = l.row(source);
        if row[last] != row[first] {
            return false;
        }
    }
    let whole = mask == all_lanes(N);
    for i in 0..3 {
        if d.predicate_sources >> i & 1 == 1 {
            let p = l.predicates[usize::from(d.src[i] & 15)];
            if (if p >> first & 1 == 1 { !p } else { p }) & mask != 0 {
                return false;
            }
            continue;
        }
        for w in 0..u16::from(d.lane_words[i]) {
            let row = l.row(d.src[i] + w);
            let wanted = row[first];
            if row[last] != wanted {
                return false;
            }
            let mut any = 0;
            if whole {
                for x in row {
                    any |= x ^ wanted;
                }
            } else {
                for (lane, x) in row.iter().enumerate() {
                    any |= (x ^ wanted) & ((mask >> lane & 1) as u32).wrapping_neg();
                }
            }
            if any != 0 {
                return false;
            }
        }
    }
    true
}

/// Executes a u-marked instruction: the first active lane's result goes to all active lanes. With checking
/// on, lanes with other operands are a fault (S8).
pub(super) fn marked<const N: usize>(l: &mut Lanes<N>, d: &Decoded<N>) {
    let mask = l.active(d);
    if mask == 0 {
        return;
    }
    let different = if l.check_marks { differing_lane(l, d, mask) } else { None };
    if let Some(lane) = different {
        l.set_fault(FaultKind::WrongMark { first: mask.trailing_zeros() }, d, lane);
        return;
    }
    (d.inner)(l, d);
    let first = mask.trailing_zeros() as usize;
    if d.dst_words == 0 {
        let p = &mut l.predicates[usize::from(d.dst & 15)];
        *p = if *p >> first & 1 == 1 { *p | mask } else { *p & !mask };
        return;
    }
    for w in 0..u16::from(d.dst_words) {
        let row = l.row_mut(d.dst + w);
        let value = row[first];
        for (lane, x) in row.iter_mut().enumerate() {
            *x = if mask >> lane & 1 == 1 { value } else { *x };
        }
    }
}
