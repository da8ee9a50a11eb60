//! The cutting of typed accesses into machine accesses (hazard 8).
//!
//! An access of several leaves is cut into the widest pieces that its alignment allows: 16, 8, 4, 2 or 1
//! bytes. Narrow integers in a wide piece are shifted out of its words; stores put them together first.
//! Stores never touch bytes beyond the value.

use crate::constant_bank::predicate_of;
use crate::emit::Emitter;
use crate::leaf::Leaf;
use crate::lower::packing::{self, Element};
use heddle_isa::{Op, Operand, Type};
use heddle_mir::{Bank, RegClass};

/// A machine access: byte offset in the value, and its size.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Piece {
    pub offset: u32,
    pub bytes: u32,
}

/// A part of a value in memory order: byte offset, size of at most a word, and what holds it in its low bits.
#[derive(Clone, Copy)]
pub(crate) struct Unit {
    pub offset: u32,
    pub bytes: u32,
    pub op: Operand,
}

/// Type and words of an access of so many bytes.
pub(crate) fn access_type(bytes: u32) -> (Type, u8) {
    match bytes {
        1 => (Type::U8, 1),
        2 => (Type::U16, 1),
        4 => (Type::B32, 1),
        8 => (Type::B64, 2),
        _ => (Type::B128, 4),
    }
}

/// Cuts the bytes that leaves cover into aligned pieces.
pub(crate) fn pieces(leaves: &[Leaf], align: u32) -> Vec<Piece> {
    let mut result: Vec<Piece> = Vec::new();
    let mut i = 0;
    while i < leaves.len() {
        let start = leaves[i].offset;
        let aligned = if start == 0 { align } else { align.min(1 << start.trailing_zeros()) };
        // The longest run of bytes without gaps from here.
        let mut end = start;
        for leaf in &leaves[i..] {
            if leaf.offset != end {
                break;
            }
            end += leaf.bytes();
        }
        let own = leaves[i].bytes();
        let mut bytes = 16.min(aligned);
        while bytes > 1 && (start + bytes > end || !on_boundary(&leaves[i..], start + bytes, own, bytes)) {
            bytes /= 2;
        }
        result.push(Piece { offset: start, bytes });
        let mut position = start + bytes;
        while i < leaves.len() && leaves[i].offset + leaves[i].bytes() <= position {
            i += 1;
        }
        // A leaf larger than its piece is continued piece by piece.
        if i < leaves.len() && leaves[i].offset < position {
            let leaf_end = leaves[i].offset + leaves[i].bytes();
            while position < leaf_end {
                let mut next = bytes;
                while position % next != 0 || position + next > leaf_end {
                    next /= 2;
                }
                result.push(Piece { offset: position, bytes: next });
                position += next;
            }
            i += 1;
        }
    }
    result
}

/// Whether a piece that ends at `end` splits no leaf, or is a part of its first leaf.
fn on_boundary(leaves: &[Leaf], end: u32, own: u32, bytes: u32) -> bool {
    bytes < own || leaves.iter().any(|l| l.offset + l.bytes() == end)
}

/// The leaf's value out of the loaded pieces.
pub(crate) fn assemble(out: &mut Emitter, leaf: Leaf, loaded: &[(Piece, Operand)], bank: Bank) -> Operand {
    let end = leaf.offset + leaf.bytes();
    let mine: Vec<&(Piece, Operand)> =
        loaded.iter().filter(|(p, _)| p.offset < end && leaf.offset < p.offset + p.bytes).collect();
    if let [(piece, op)] = mine[..] {
        let start = word_of(piece, *op, leaf.offset);
        if leaf.bytes() >= 4 {
            return start;
        }
        let shift = (leaf.offset - piece.offset) % 4 * 8;
        let value = if shift == 0 {
            start
        } else {
            out.emit(Op::Shr, Type::U32, RegClass { bank, words: 1 }, [start, Operand::Immediate(shift)])
        };
        return predicate_of(out, value, leaf, bank);
    }
    let words: Vec<Operand> =
        (0..leaf.bytes().div_ceil(4)).map(|w| put_together(out, leaf.offset + 4 * w, &mine, bank)).collect();
    match (&words[..], leaf.words()) {
        ([low, high], 2) => out.emit(Op::Tuple, Type::B64, RegClass { bank, words: 2 }, [*low, *high]),
        ([first, ..], _) => predicate_of(out, *first, leaf, bank),
        ([], _) => Operand::Immediate(0),
    }
}

/// The 32-bit word at a place out of several pieces.
fn put_together(out: &mut Emitter, at: u32, loaded: &[&(Piece, Operand)], bank: Bank) -> Operand {
    let one = RegClass { bank, words: 1 };
    let mut value: Option<Operand> = None;
    for (piece, op) in loaded {
        if piece.offset + piece.bytes <= at || piece.offset >= at + 4 {
            continue;
        }
        let part = word_of(piece, *op, piece.offset.max(at));
        let shift = piece.offset.saturating_sub(at) * 8;
        let part = if shift == 0 { part } else { out.emit(Op::Shl, Type::B32, one, [part, Operand::Immediate(shift)]) };
        value = Some(match value {
            None => part,
            Some(v) => out.emit(Op::Or, Type::B32, one, [v, part]),
        });
    }
    value.unwrap_or(Operand::Immediate(0))
}

/// The word of a loaded piece that has a byte.
fn word_of(piece: &Piece, op: Operand, at: u32) -> Operand {
    match op.as_virt() {
        Some((r, _)) => Operand::virt_word(r, ((at - piece.offset) / 4) as u8),
        None => op,
    }
}

/// A value's leaves in memory order.
pub(crate) fn units(out: &mut Emitter, leaves: &[Leaf], parts: &[Operand]) -> Vec<Unit> {
    let mut units = Vec::new();
    for (leaf, part) in leaves.iter().zip(parts) {
        let part = if leaf.words() == 0 { out.bit_to_word(*part) } else { *part };
        if leaf.bytes() == 8 {
            let (low, high) = if leaf.words() == 2 { out.halves(part) } else { (part, Operand::Immediate(0)) };
            units.push(Unit { offset: leaf.offset, bytes: 4, op: low });
            units.push(Unit { offset: leaf.offset + 4, bytes: 4, op: high });
        } else {
            units.push(Unit { offset: leaf.offset, bytes: leaf.bytes(), op: part });
        }
    }
    units
}

/// The `bytes` bytes at `at` of a value given as units, in the low bits of a word.
pub(crate) fn gather_word(out: &mut Emitter, units: &[Unit], at: u32, bytes: u32) -> Operand {
    let mine = || units.iter().filter(|u| u.offset + u.bytes > at && u.offset < at + bytes);
    let narrow: Vec<Element> = mine().filter(|u| u.bytes < 4).map(|u| Element { op: u.op, bits: 8 * u.bytes }).collect();
    if bytes == 4 && narrow.iter().map(|e| e.bits).sum::<u32>() == 32 {
        if let Some(word) = packing::whole_word(out, &narrow) {
            return word;
        }
        if packing::moved(out, &narrow) > 1 {
            return packing::pack(out, &narrow);
        }
    }
    let mut value: Option<Operand> = None;
    for unit in mine() {
        let mut part = unit.op;
        if unit.offset < at {
            part = out.emit_joint(Op::Shr, Type::U32, 1, &[part, Operand::Immediate((at - unit.offset) * 8)]);
        } else if unit.bytes < 4 && bytes > unit.bytes {
            // Narrow units have undefined upper bits.
            part = out.and32(part, (1u32 << (unit.bytes * 8)) - 1);
            if unit.offset > at {
                part = match part {
                    Operand::Immediate(v) => Operand::Immediate(v << ((unit.offset - at) * 8)),
                    _ => out.emit_joint(Op::Shl, Type::B32, 1, &[part, Operand::Immediate((unit.offset - at) * 8)]),
                };
            }
        }
        value = Some(match (value, part) {
            (None, p) => p,
            (Some(Operand::Immediate(a)), Operand::Immediate(b)) => Operand::Immediate(a | b),
            (Some(v), p) => out.emit_joint(Op::Or, Type::B32, 1, &[v, p]),
        });
    }
    value.unwrap_or(Operand::Immediate(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run_of(bits: u32, count: u32) -> Vec<Leaf> {
        (0..count).map(|i| Leaf { bits, float: false, pointer: None, offset: i * bits / 8 }).collect()
    }

    #[test]
    fn pieces_respect_alignment_and_end() {
        let sizes = |leaves: &[Leaf], align| pieces(leaves, align).iter().map(|p| p.bytes).collect::<Vec<_>>();
        assert_eq!(sizes(&run_of(32, 4), 16), [16]);
        assert_eq!(sizes(&run_of(32, 3), 16), [8, 4]);
        assert_eq!(sizes(&run_of(32, 3), 4), [4, 4, 4]);
        assert_eq!(sizes(&run_of(64, 1), 4), [4, 4]);
        assert_eq!(sizes(&run_of(32, 1), 1), [1, 1, 1, 1]);
        assert_eq!(sizes(&run_of(8, 4), 4), [4]);
        assert_eq!(sizes(&run_of(8, 3), 4), [2, 1]);
        assert_eq!(sizes(&run_of(16, 16), 32), [16, 16]);
    }
}
