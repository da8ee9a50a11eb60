//! Casts.

use heddle_llvm_passes::ir::{Value, address_space};
use inkwell::llvm_sys::LLVMOpcode::*;

use super::types::{self, Leaf, leaves};
use super::{Extension, Parts, Selector};
use heddle_isa::{Cond, Inst, Op, Operand, Rounding, Type};
use heddle_mir::{Bank, RegClass};

/// The integer type of a width and sign for conversions.
fn integer_type(bits: u32, signed: bool) -> Type {
    match (bits, signed) {
        (0..=8, true) => Type::S8,
        (0..=8, false) => Type::U8,
        (9..=16, true) => Type::S16,
        (9..=16, false) => Type::U16,
        (17..=32, true) => Type::S32,
        (17..=32, false) => Type::U32,
        (_, true) => Type::S64,
        (_, false) => Type::U64,
    }
}

impl Selector<'_> {
    pub(super) fn cast(&mut self, i: Value) {
        let source = i.operand(0);
        match i.opcode() {
            LLVMBitCast if types::is_pointer(i.ty()) => {
                let a = self.address(source);
                self.addresses.insert(i, a);
                return;
            }
            LLVMBitCast => return self.bitcast(i),
            LLVMAddrSpaceCast => return self.address_space_cast(i),
            LLVMIntToPtr => {
                let op = self.operand(source);
                let bits = self.leaf(source).bits;
                let wide = matches!(i.address_space(), 0 | 1 | 4);
                let op = match (wide, bits > 32) {
                    (true, true) | (false, false) => op,
                    (true, false) => self.extend_to_64(source, op, bits, false),
                    (false, true) => self.halves(op).0,
                };
                self.set1(i, op);
                return;
            }
            _ => {}
        }
        let parts = self.parts(source);
        let (from, to) = (leaves(source.ty()), leaves(i.ty()));
        let single = from.len() == 1;
        let mut result = Parts::new();
        for (k, (f, t)) in from.iter().zip(to.iter()).enumerate() {
            let known = single.then_some(source);
            result.push(match i.opcode() {
                LLVMTrunc => self.truncate(known, parts[k], *f, *t),
                LLVMZExt => self.widen(known, parts[k], *f, *t, false),
                LLVMSExt => self.widen(known, parts[k], *f, *t, true),
                LLVMPtrToInt => self.pointer_to_integer(parts[k], *f, *t),
                LLVMFPToUI => self.float_to_integer(parts[k], *f, *t, false),
                LLVMFPToSI => self.float_to_integer(parts[k], *f, *t, true),
                LLVMUIToFP => self.integer_to_float(known, parts[k], *f, *t, false),
                LLVMSIToFP => self.integer_to_float(known, parts[k], *f, *t, true),
                _ => self.convert(parts[k], f.float_type(), t.float_type(), Rounding::Rn),
            });
        }
        if single {
            self.note_extension(i, source, from[0], to[0]);
        }
        self.set(i, result);
    }

    /// Records what is known of the result's upper bits and low word.
    fn note_extension(&mut self, i: Value, source: Value, from: Leaf, to: Leaf) {
        match i.opcode() {
            LLVMZExt if to.bits < 32 => {
                self.extended.insert(i, Extension::Zero);
            }
            LLVMSExt if to.bits < 32 => {
                self.extended.insert(i, Extension::Sign);
            }
            LLVMZExt | LLVMSExt if to.words() == 2 && from.words() == 1 => {
                let op = self.operand(source);
                let low = self.extend(source, op, from.bits, i.opcode() == LLVMSExt);
                self.low.insert(i, low);
            }
            _ => {}
        }
    }

    fn truncate(&mut self, known: Option<Value>, op: Operand, from: Leaf, to: Leaf) -> Operand {
        if to.words() == 2 {
            return op;
        }
        let low = match (from.words(), known) {
            (2, Some(v)) => self.low_word(v),
            (2, None) => self.halves(op).0,
            _ => op,
        };
        if to.bits != 1 {
            return low;
        }
        if let Operand::Immediate(v) = low {
            return Operand::Immediate(v & 1);
        }
        let bit = self.and32(low, 1);
        if self.joint_bank(&[bit]) == Bank::Scalar { bit } else { self.test_not_zero(bit) }
    }

    pub(super) fn widen(&mut self, known: Option<Value>, op: Operand, from: Leaf, to: Leaf, signed: bool) -> Operand {
        if from.bits == 1 {
            return self.widen_bit(op, to, signed);
        }
        if to.words() == 1 {
            return match known {
                Some(v) => self.extend(v, op, from.bits, signed),
                None => self.extend_plain(op, from.bits, signed),
            };
        }
        if from.words() == 2 {
            return self.extend_wide(op, from.bits, signed);
        }
        let low = match known {
            Some(v) => self.extend(v, op, from.bits, signed),
            None => self.extend_plain(op, from.bits, signed),
        };
        self.extend_to_64(self.value, low, 32, signed)
    }

    fn extend_plain(&mut self, op: Operand, bits: u32, signed: bool) -> Operand {
        match op {
            Operand::Immediate(_) => self.extend(self.value, op, bits, signed),
            _ => self.extend_bits(op, bits, signed),
        }
    }

    /// An `i1` widened: 0 or 1, or 0 or -1.
    pub(super) fn widen_bit(&mut self, op: Operand, to: Leaf, signed: bool) -> Operand {
        let ones = Operand::Immediate(if signed { u32::MAX } else { 1 });
        let low = match (op, self.bank(op)) {
            (Operand::Immediate(v), _) => Operand::Immediate(match (v & 1, signed) {
                (0, _) => 0,
                (_, true) => u32::MAX,
                (_, false) => 1,
            }),
            (_, Some(Bank::Predicate)) => self.emit(Op::Sel, Type::B32, RegClass::vector(1), [op, ones, Operand::None]),
            _ if signed => self.emit_joint(Op::Sub, Type::B32, 1, &[Operand::None, op]),
            _ => op,
        };
        if to.words() == 1 {
            return low;
        }
        match low {
            Operand::Immediate(v) => Operand::Immediate(v),
            _ => self.pair(low, if signed { low } else { Operand::Immediate(0) }),
        }
    }

    /// To and from generic pointers ([`generic`]).
    fn address_space_cast(&mut self, i: Value) {
        let source = i.operand(0);
        let (from, to) = (source.address_space(), i.address_space());
        let wide = |space: u32| matches!(space, 0 | 1 | 4);
        let op = self.operand(source);
        let result = match (from, to) {
            _ if wide(from) && wide(to) || from == to => op,
            (0, _) => self.halves(op).0,
            (3 | address_space::PRIVATE, 0) => {
                let aperture = if from == 3 { address_space::LOCAL_APERTURE } else { address_space::PRIVATE_APERTURE };
                let pointer = self.pair(op, Operand::Immediate(aperture));
                // The null pointer stays one; variables and arguments are none.
                let known = self.root(source).is_some_and(|r| r.is_argument() || r.is_global_variable());
                if known {
                    pointer
                } else {
                    let null = self.compare(Cond::Eq, Type::B32, Self::plain(op), Self::plain(Operand::Immediate(0)));
                    let leaf = Leaf { bits: 64, float: false, pointer: None, offset: 0 };
                    self.choose(null, leaf, Operand::Immediate(0), pointer)
                }
            }
            // Left of a branch that is never taken, or undefined: there is no such pointer.
            _ if wide(to) => self.materialize(0, 2),
            _ => Operand::Immediate(0),
        };
        self.set1(i, result);
    }

    fn pointer_to_integer(&mut self, op: Operand, from: Leaf, to: Leaf) -> Operand {
        match (from.words(), to.words()) {
            (2, 2) | (1, 1) => op,
            (2, _) => self.halves(op).0,
            _ => self.pair(op, Operand::Immediate(0)),
        }
    }

    /// A conversion between machine types.
    pub(super) fn convert(&mut self, op: Operand, from: Type, to: Type, rounding: Rounding) -> Operand {
        let op = match op {
            // The machine reads a 64-bit immediate of a float as its upper half; selection never has one.
            Operand::Immediate(v) if from == Type::F64 => self.materialize(v as i32 as i64 as u64, 2),
            o => o,
        };
        let bank = self.joint_bank(&[op]);
        let dst = Operand::virt(self.f.add_vreg(RegClass { bank, words: to.words() }));
        let mut inst = Inst::new(Op::Cvt, to, dst, [op]);
        inst.mods.from = Some(from);
        inst.mods.rounding = rounding;
        self.push(inst);
        dst
    }

    pub(super) fn float_to_integer(&mut self, op: Operand, from: Leaf, to: Leaf, signed: bool) -> Operand {
        if to.bits == 1 {
            let word = self.convert(op, from.float_type(), Type::S32, Rounding::Rz);
            let bit = self.and32(word, 1);
            return if self.joint_bank(&[bit]) == Bank::Scalar { bit } else { self.test_not_zero(bit) };
        }
        // Out-of-range inputs are undefined in LLVM; a conversion at the full register width has the most defined results.
        let ty = if to.words() == 2 { integer_type(64, signed) } else { integer_type(32, signed) };
        self.convert(op, from.float_type(), ty, Rounding::Rz)
    }

    /// Conversion that clamps to the width (`llvm.fpto[su]i.sat`).
    pub(super) fn float_to_integer_saturating(&mut self, op: Operand, from: Leaf, to: Leaf, signed: bool) -> Operand {
        self.convert(op, from.float_type(), integer_type(to.bits, signed), Rounding::Rz)
    }

    fn integer_to_float(&mut self, known: Option<Value>, op: Operand, from: Leaf, to: Leaf, signed: bool) -> Operand {
        let op = if from.bits == 1 {
            let word = Leaf { bits: 32, ..from };
            self.widen_bit(op, word, signed)
        } else if from.words() == 2 {
            self.extend_wide(op, from.bits, signed)
        } else {
            match known {
                Some(v) => self.extend(v, op, from.bits, signed),
                None => self.extend_plain(op, from.bits, signed),
            }
        };
        let ty = integer_type(if from.words() == 2 { 64 } else { 32 }, signed);
        self.convert(op, ty, to.float_type(), Rounding::Rn)
    }

    /// Bits regrouped: scalars and vectors of any element width.
    fn bitcast(&mut self, i: Value) {
        let source = i.operand(0);
        let parts = self.parts(source);
        let (from, to) = (leaves(source.ty()), leaves(i.ty()));
        let same = from.len() == to.len() && from.iter().zip(to.iter()).all(|(a, b)| a.words() == b.words() && a.bits == b.bits);
        if same {
            if let Some(e) = self.extended.get(&source).copied() {
                self.extended.insert(i, e);
            }
            self.set(i, parts);
            return;
        }
        // Vectors of bits are integers of so many bits, element 0 lowest.
        let bits = |side: &[Leaf]| side.len() % 8 == 0 && side.iter().all(|l| l.bits == 1);
        let whole = |side: &[Leaf]| side.iter().all(|l| l.bits >= 8 && l.bits % 8 == 0);
        if !(bits(&from) || whole(&from)) || !(bits(&to) || whole(&to)) {
            self.error(Some(i), "a bitcast of elements that are no whole bytes is not supported");
            return;
        }
        // As 32-bit words in memory order, then regrouped.
        let mut units: Vec<(u32, u32, Operand)> = Vec::new();
        for (leaf, part) in from.iter().zip(&parts).filter(|_| whole(&from)) {
            if leaf.bytes() == 8 {
                let (low, high) = self.halves(*part);
                units.push((leaf.offset, 4, low));
                units.push((leaf.offset + 4, 4, high));
            } else {
                units.push((leaf.offset, leaf.bytes(), *part));
            }
        }
        let words: Vec<Operand> = if bits(&from) {
            parts.chunks(32).map(|chunk| self.word_of_bits(chunk)).collect()
        } else {
            let total: u32 = from.iter().map(|l| l.bytes()).sum();
            (0..total.div_ceil(4)).map(|w| self.gather_word(&units, 4 * w, 4)).collect()
        };
        if bits(&to) {
            let bit = |(k, _): (usize, &Leaf)| {
                let word = words.get(k / 32).copied().unwrap_or(Operand::Immediate(0));
                self.bit_of_word(word, k as u32 % 32)
            };
            let result: Parts = to.iter().enumerate().map(bit).collect();
            self.set(i, result);
            return;
        }
        let result: Parts = to
            .iter()
            .map(|leaf| {
                let first = words.get(leaf.offset as usize / 4).copied().unwrap_or(Operand::Immediate(0));
                match leaf.bytes() {
                    8 => {
                        let high = words.get(leaf.offset as usize / 4 + 1).copied().unwrap_or(Operand::Immediate(0));
                        self.join_halves(first, high)
                    }
                    4 => first,
                    _ if leaf.offset % 4 == 0 => first,
                    _ => match first {
                        Operand::Immediate(v) => Operand::Immediate(v >> (leaf.offset % 4 * 8)),
                        _ => self.emit_joint(Op::Shr, Type::U32, 1, &[first, Operand::Immediate(leaf.offset % 4 * 8)]),
                    },
                }
            })
            .collect();
        self.set(i, result);
    }

    /// Bits, the first lowest, as a word.
    fn word_of_bits(&mut self, bits: &[Operand]) -> Operand {
        let word = Leaf { bits: 32, float: false, pointer: None, offset: 0 };
        let mut sum = Operand::Immediate(0);
        for (k, bit) in bits.iter().enumerate() {
            let wide = self.widen_bit(*bit, word, false);
            let placed = match (k, wide) {
                (0, _) => wide,
                (_, Operand::Immediate(v)) => Operand::Immediate(v << k),
                _ => self.emit_joint(Op::Shl, Type::B32, 1, &[wide, Operand::Immediate(k as u32)]),
            };
            sum = match (sum, placed) {
                (Operand::Immediate(0), x) | (x, Operand::Immediate(0)) => x,
                (Operand::Immediate(a), Operand::Immediate(b)) => Operand::Immediate(a | b),
                _ => self.emit_joint(Op::Or, Type::B32, 1, &[sum, placed]),
            };
        }
        sum
    }

    /// A bit of a word.
    pub(super) fn bit_of_word(&mut self, word: Operand, k: u32) -> Operand {
        if let Operand::Immediate(v) = word {
            return Operand::Immediate(v >> k & 1);
        }
        let low = match k {
            0 => word,
            _ => self.emit_joint(Op::Shr, Type::U32, 1, &[word, Operand::Immediate(k)]),
        };
        let bit = self.and32(low, 1);
        if self.joint_bank(&[bit]) == Bank::Scalar { bit } else { self.test_not_zero(bit) }
    }

    pub(super) fn join_halves(&mut self, low: Operand, high: Operand) -> Operand {
        match (low, high) {
            (Operand::Immediate(l), Operand::Immediate(h)) => self.constant_operand(u64::from(h) << 32 | u64::from(l), 2),
            _ => {
                if let (Some((a, w)), Some((b, v))) = (low.as_virt(), high.as_virt()) {
                    if a == b && w % 2 == 0 && v == w + 1 {
                        return low;
                    }
                }
                self.pair(low, high)
            }
        }
    }
}
