//! Bitcasts: bits regrouped, between scalars and vectors of any element width.

use crate::Selector;
use crate::emit::Emitter;
use crate::leaf::{Leaf, Parts};
use crate::lower::pieces;
use heddle_isa::{Operand, Type};
use heddle_llvm_passes::ir::Value;

/// Bits regrouped: scalars and vectors of any element width.
pub(crate) fn bitcast(s: &mut Selector, i: Value) {
    let source = i.operand(0);
    let parts = s.parts(source);
    let (from, to) = (s.cx.leaves(source), s.cx.leaves(i));
    let same = from.len() == to.len() && from.iter().zip(to.iter()).all(|(a, b)| a.words() == b.words() && a.bits == b.bits);
    if same {
        if let Some(e) = s.values.extended.get(&source).copied() {
            s.values.extended.insert(i, e);
        }
        s.values.set(i, parts);
        return;
    }
    // Vectors of bits are integers of so many bits, element 0 lowest; so many need not be whole bytes.
    let bits = |side: &[Leaf]| side.iter().all(|l| l.bits == 1);
    let whole = |side: &[Leaf]| side.len() == 1 || side.iter().all(|l| l.bits % 8 == 0);
    if !(bits(&from) || whole(&from)) || !(bits(&to) || whole(&to)) {
        s.report.error(Some(i), "a bitcast of elements that are no whole bytes is not supported");
        return;
    }
    // As 32-bit words in memory order, then regrouped.
    let words: Vec<Operand> = if bits(&from) {
        parts.chunks(32).map(|chunk| s.out.word_of_bits(chunk)).collect()
    } else {
        let units = pieces::units(&mut s.out, &from, &parts);
        let total: u32 = from.iter().map(|l| l.bytes()).sum();
        (0..total.div_ceil(4)).map(|w| pieces::gather_word(&mut s.out, &units, 4 * w, 4)).collect()
    };
    let word = |k: usize| words.get(k).copied().unwrap_or(Operand::Immediate(0));
    let result: Parts = if bits(&to) {
        (0..to.len()).map(|k| s.out.bit_of_word(word(k / 32), k as u32 % 32)).collect()
    } else {
        to.iter().map(|leaf| leaf_of_words(&mut s.out, *leaf, &word)).collect()
    };
    s.values.set(i, result);
}

/// A leaf out of the words of a value in memory order.
fn leaf_of_words(out: &mut Emitter, leaf: Leaf, word: &dyn Fn(usize) -> Operand) -> Operand {
    let at = leaf.offset as usize / 4;
    let first = word(at);
    match (leaf.bytes(), leaf.offset % 4) {
        (8, _) => out.join_halves(first, word(at + 1)),
        (4, _) | (_, 0) => first,
        (_, bytes) => out.word_shift(Type::U32, first, bytes * 8),
    }
}
