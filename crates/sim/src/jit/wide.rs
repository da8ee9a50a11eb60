//! 64-bit values of lanes, out of two rows of words and back.
//!
//! Hosts interleave the words of two vectors within 128 bits (UNPCKLPS and UNPCKHPS of x86, ZIP1 and ZIP2 of Arm), and
//! take them apart again, in one instruction for a vector register. On x86 the lanes of the result are not in their
//! order then where registers are longer. Nothing that computes lane by lane minds, so they stay in that *wide order*
//! from the operands of an instruction to its results. To have them in the order of lanes takes four times as many
//! instructions.
//!
//! Values of accesses (addresses, data) are in the order of lanes ([`Translator::joined`]).

use inkwell::llvm_sys::LLVMIntPredicate::*;

use super::build::{Elem, V, Val};
use super::translate::Translator;

/// The lane at each place of the wide order, where vector registers have so many bits.
pub(super) fn wide_order(lanes: u32, register_bits: u32) -> Vec<u32> {
    let words = (register_bits / 32).min(lanes).max(4);
    let registers = (0..lanes).step_by(words as usize);
    // Of each 128 bits the lower two words for one register, the upper two for the next.
    let of_half =
        |first: u32, half: u32| (first..first + words).step_by(4).flat_map(move |group| [group + half, group + half + 1]);
    registers.flat_map(|first| of_half(first, 0).chain(of_half(first, 2)).collect::<Vec<_>>()).collect()
}

impl Translator<'_> {
    /// Two words as a 64-bit integer, in the wide order.
    pub(super) fn wide(&self, low: Val, high: Val) -> Val {
        if let (Val::Same(_), Val::Same(_)) = (low, high) {
            return self.joined(low, high);
        }
        let (b, n) = (&self.b, self.b.n);
        let places: Vec<u32> = self.wide_order.iter().flat_map(|lane| [*lane, n + lane]).collect();
        let words = b.shuffle(b.lanes(low), b.lanes(high), &places);
        Val::Lanes(b.as_vector(words, Elem::I(64), n))
    }

    /// A 64-bit integer in the wide order as words.
    pub(super) fn words_of_wide(&self, v: Val) -> Vec<Val> {
        let Val::Lanes(v) = v else { return self.words_of_int(v, 64) };
        [0, 1].map(|word| Val::Lanes(self.word_of_wide(v, word))).to_vec()
    }

    /// A word of each lane's 64 bits, which are in the wide order.
    fn word_of_wide(&self, v: V, word: u32) -> V {
        let words = self.b.as_vector(v, Elem::I(32), 2 * self.b.n);
        let places: Vec<u32> = self.places_in_wide_order().iter().map(|place| 2 * place + word).collect();
        self.b.shuffle(words, words, &places)
    }

    /// By lane: its place in the wide order.
    fn places_in_wide_order(&self) -> Vec<u32> {
        let mut places = vec![0; self.wide_order.len()];
        for (place, lane) in self.wide_order.iter().enumerate() {
            places[*lane as usize] = place as u32;
        }
        places
    }

    /// Elements of lanes, put into the wide order.
    pub(super) fn in_wide_order(&self, v: Val) -> Val {
        match v {
            Val::Same(_) => v,
            Val::Lanes(v) => Val::Lanes(self.b.shuffle(v, v, &self.wide_order)),
        }
    }

    /// Elements in the wide order, put into that of lanes.
    pub(super) fn in_lane_order(&self, v: Val) -> Val {
        match v {
            Val::Same(_) => v,
            Val::Lanes(v) => Val::Lanes(self.b.shuffle(v, v, &self.places_in_wide_order())),
        }
    }

    /// Bits in the wide order, put into that of lanes: by way of the words of what the host compares.
    pub(super) fn bits_in_lane_order(&self, bits: V) -> V {
        let b = &self.b;
        let Val::Lanes(compared) = b.sext(Val::Lanes(bits), Elem::I(64)) else { return bits };
        b.icmp(LLVMIntSLT, self.word_of_wide(compared, 0), b.splat(b.int(32, 0)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_interleaved_within_128_bits() {
        assert_eq!(wide_order(8, 128), [0, 1, 2, 3, 4, 5, 6, 7]);
        assert_eq!(wide_order(16, 256), [0, 1, 4, 5, 2, 3, 6, 7, 8, 9, 12, 13, 10, 11, 14, 15]);
        assert_eq!(wide_order(16, 512), [0, 1, 4, 5, 8, 9, 12, 13, 2, 3, 6, 7, 10, 11, 14, 15]);
        assert_eq!(wide_order(4, 512), [0, 1, 2, 3]);
        for (lanes, bits) in [(4, 256), (8, 512), (32, 256), (64, 512)] {
            let mut order = wide_order(lanes, bits);
            order.sort_unstable();
            assert_eq!(order, (0..lanes).collect::<Vec<_>>());
        }
    }
}
