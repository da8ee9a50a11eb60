//! Integer and float arithmetic, comparisons, selects, vector and aggregate rearrangement.

use heddle_llvm_passes::ir::Value;
use inkwell::llvm_sys::LLVMOpcode::*;
use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::{LLVMIntPredicate, LLVMOpcode, LLVMRealPredicate};

use super::types::{self, Leaf, leaves};
use super::{Extension, Parts, Selector, constants};
use heddle_isa::{Cond, Inst, Op, Operand, Type};
use heddle_mir::{Bank, RegClass};

/// A float source with its modifiers.
#[derive(Clone, Copy)]
pub(super) struct FloatSource {
    pub op: Operand,
    pub neg: bool,
    pub abs: bool,
}

impl Selector<'_> {
    /// The bank of a value's leaves.
    pub(super) fn bank_of(&self, v: Value) -> Bank {
        if self.is_scalar(v) { Bank::Scalar } else { Bank::Vector }
    }

    /// A narrow integer with defined upper bits.
    pub(super) fn extend(&mut self, v: Value, op: Operand, bits: u32, signed: bool) -> Operand {
        if bits >= 32 {
            return op;
        }
        if let Operand::Immediate(x) = op {
            let shift = 32 - bits;
            return Operand::Immediate(if signed { ((x << shift) as i32 >> shift) as u32 } else { x << shift >> shift });
        }
        let wanted = if signed { Extension::Sign } else { Extension::Zero };
        if self.extended.get(&v) == Some(&wanted) {
            return op;
        }
        self.extend_bits(op, bits, signed)
    }

    /// Extends the low `bits` of a word.
    pub(super) fn extend_bits(&mut self, op: Operand, bits: u32, signed: bool) -> Operand {
        let bank = self.joint_bank(&[op]);
        let class = RegClass { bank, words: 1 };
        match (signed, bits) {
            (_, 32..) => op,
            (false, _) => self.and32(op, (1u32 << bits) - 1),
            (true, 8 | 16) => {
                let ty = if bits == 8 { Type::S8 } else { Type::S16 };
                let dst = Operand::virt(self.f.add_vreg(class));
                let mut inst = Inst::new(Op::Cvt, ty, dst, [op]);
                inst.mods.from = Some(Type::S32);
                self.push(inst);
                dst
            }
            (true, _) => {
                let up = self.emit(Op::Shl, Type::B32, class, [op, Operand::Immediate(32 - bits)]);
                self.emit(Op::Shr, Type::S32, class, [up, Operand::Immediate(32 - bits)])
            }
        }
    }

    /// A narrow or 32-bit integer as 64 bits.
    pub(super) fn extend_to_64(&mut self, v: Value, op: Operand, bits: u32, signed: bool) -> Operand {
        let low = self.extend(v, op, bits, signed);
        if let Operand::Immediate(x) = low {
            let value = if signed { x as i32 as i64 as u64 } else { u64::from(x) };
            return self.constant_operand(value, 2);
        }
        let high =
            if signed { self.emit_joint(Op::Shr, Type::S32, 1, &[low, Operand::Immediate(31)]) } else { Operand::Immediate(0) };
        self.pair(low, high)
    }

    /// The low 32 bits of an integer.
    pub(super) fn low_word(&mut self, v: Value) -> Operand {
        if let Some(op) = self.low.get(&v) {
            return *op;
        }
        if let Some(c) = constants::sign_extended(v) {
            return Operand::Immediate(c as u32);
        }
        let leaf = self.leaf(v);
        let op = self.operand(v);
        if leaf.bits < 32 {
            // A GEP index is signed.
            return self.extend(v, op, leaf.bits, true);
        }
        if leaf.words() == 2 { self.halves(op).0 } else { op }
    }

    pub(super) fn integer_binary(&mut self, i: Value) {
        let leaves = leaves(i.ty());
        let (a, b) = (i.operand(0), i.operand(1));
        let (pa, pb) = (self.parts(a), self.parts(b));
        let mut parts = Parts::new();
        for (k, leaf) in leaves.iter().enumerate() {
            let part = if leaf.bits == 1 {
                self.bit_operation(i, pa[k], pb[k])
            } else if leaf.words() == 2 {
                self.wide_integer(i, *leaf, pa[k], pb[k])
            } else {
                self.word_integer(i, *leaf, pa[k], pb[k])
            };
            parts.push(part);
        }
        if let ([leaf], true) = (&leaves[..], parts.len() == 1) {
            if leaf.words() == 2 {
                self.low_version(i);
            }
        }
        self.set(i, parts);
    }

    /// Arithmetic on `i1`.
    fn bit_operation(&mut self, i: Value, a: Operand, b: Operand) -> Operand {
        let op = match i.opcode() {
            LLVMAnd | LLVMMul => Op::And,
            LLVMOr => Op::Or,
            LLVMXor | LLVMAdd | LLVMSub => Op::Xor,
            _ => {
                self.error(Some(i), "a shift or division of an `i1` is not supported");
                return Operand::Immediate(0);
            }
        };
        if self.joint_bank(&[a, b]) == Bank::Scalar {
            let word = |o: Operand| if let Operand::Immediate(v) = o { Operand::Immediate(v & 1) } else { o };
            return self.emit(op, Type::B32, RegClass::scalar(1), [word(a), word(b)]);
        }
        // xor with true is the common negation.
        match (op, a, b) {
            (Op::Xor, x, Operand::Immediate(v)) | (Op::Xor, Operand::Immediate(v), x) if v & 1 == 1 => {
                let x = self.to_predicate(x);
                self.emit(Op::Not, Type::Pred, RegClass::PREDICATE, [x])
            }
            _ => {
                let (a, b) = (self.to_predicate(a), self.to_predicate(b));
                self.emit(op, Type::Pred, RegClass::PREDICATE, [a, b])
            }
        }
    }

    /// A bit as a predicate register.
    pub(super) fn to_predicate(&mut self, op: Operand) -> Operand {
        match self.bank(op) {
            Some(Bank::Predicate) => op,
            Some(Bank::Vector) => self.test_not_zero(op),
            _ => match op {
                Operand::Special(_) | Operand::Constant(_) => self.test_not_zero(op),
                _ => self.emit(Op::Mov, Type::Pred, RegClass::PREDICATE, [op]),
            },
        }
    }

    /// Arithmetic in one word. Narrow operands are extended where their upper bits matter.
    fn word_integer(&mut self, i: Value, leaf: Leaf, a: Operand, b: Operand) -> Operand {
        let (va, vb) = (i.operand(0), i.operand(1));
        let bits = leaf.bits;
        let scalar_value = types::leaf_count(i.ty()) == 1;
        let ext = |s: &mut Self, v: Value, o: Operand, signed: bool| {
            if scalar_value { s.extend(v, o, bits, signed) } else { s.extend_immediate_or(o, bits, signed) }
        };
        let (op, ty, a, b) = match i.opcode() {
            LLVMAdd => {
                if let Some(mad) = self.multiply_add(i, bits) {
                    return mad;
                }
                (Op::Add, Type::B32, a, b)
            }
            LLVMSub => (Op::Sub, Type::B32, a, b),
            LLVMMul => (Op::Mul, Type::B32, a, b),
            LLVMAnd => (Op::And, Type::B32, a, b),
            LLVMOr => (Op::Or, Type::B32, a, b),
            LLVMXor => (Op::Xor, Type::B32, a, b),
            LLVMShl => (Op::Shl, Type::B32, a, ext(self, vb, b, false)),
            LLVMLShr => (Op::Shr, Type::U32, ext(self, va, a, false), ext(self, vb, b, false)),
            LLVMAShr => (Op::Shr, Type::S32, ext(self, va, a, true), ext(self, vb, b, false)),
            LLVMUDiv => (Op::Div, Type::U32, ext(self, va, a, false), ext(self, vb, b, false)),
            LLVMURem => (Op::Rem, Type::U32, ext(self, va, a, false), ext(self, vb, b, false)),
            LLVMSDiv => (Op::Div, Type::S32, ext(self, va, a, true), ext(self, vb, b, true)),
            _ => (Op::Rem, Type::S32, ext(self, va, a, true), ext(self, vb, b, true)),
        };
        if scalar_value && bits < 32 {
            match i.opcode() {
                LLVMLShr | LLVMUDiv | LLVMURem => {
                    self.extended.insert(i, Extension::Zero);
                }
                LLVMAShr | LLVMSRem => {
                    self.extended.insert(i, Extension::Sign);
                }
                _ => {}
            }
        }
        self.emit_joint(op, ty, 1, &[a, b])
    }

    fn extend_immediate_or(&mut self, op: Operand, bits: u32, signed: bool) -> Operand {
        match op {
            Operand::Immediate(_) => self.extend(self.value, op, bits, signed),
            _ if bits >= 32 => op,
            _ => self.extend_bits(op, bits, signed),
        }
    }

    /// `add(mul(a, b), c)` as one instruction where the product has no other use.
    fn multiply_add(&mut self, add: Value, _bits: u32) -> Option<Operand> {
        if types::leaf_count(add.ty()) != 1 {
            return None;
        }
        for (m, c) in [(0, 1), (1, 0)] {
            let (product, other) = (add.operand(m), add.operand(c));
            let fits = product.is_instruction()
                && product.opcode() == LLVMMul
                && product.users().nth(1).is_none()
                && product.parent() == add.parent();
            if fits {
                let (x, y, z) = (self.operand(product.operand(0)), self.operand(product.operand(1)), self.operand(other));
                return Some(self.emit_joint(Op::Mad, Type::B32, 1, &[x, y, z]));
            }
        }
        None
    }

    fn wide_integer(&mut self, i: Value, leaf: Leaf, a: Operand, b: Operand) -> Operand {
        let bits = leaf.bits;
        // Integers of 33 to 63 bits have undefined upper bits too.
        let ext = |s: &mut Self, o: Operand, signed: bool| s.extend_wide(o, bits, signed);
        let amount = |s: &mut Self, o: Operand| s.halves(o).0;
        let class = |bank| RegClass { bank, words: 2 };
        // Moving and masking whole words costs no arithmetic.
        if bits == 64 {
            let zero = Operand::Immediate(0);
            match (i.opcode(), constants::sign_extended(i.operand(1))) {
                (LLVMAnd, Some(0xffff_ffff)) => {
                    let low = self.halves(a).0;
                    return self.pair(low, zero);
                }
                (LLVMLShr, Some(32)) => {
                    let high = self.halves(a).1;
                    return self.pair(high, zero);
                }
                (LLVMShl, Some(32)) => {
                    let low = self.halves(a).0;
                    return self.pair(zero, low);
                }
                _ => {}
            }
        }
        let (op, ty, a, b) = match i.opcode() {
            LLVMAdd => (Op::Add, Type::B64, a, b),
            LLVMSub => (Op::Sub, Type::B64, a, b),
            LLVMMul => {
                if let Some(product) = self.widening_multiply(i) {
                    return product;
                }
                (Op::Mul, Type::B64, a, b)
            }
            LLVMAnd => (Op::And, Type::B64, a, b),
            LLVMOr => (Op::Or, Type::B64, a, b),
            LLVMXor => (Op::Xor, Type::B64, a, b),
            LLVMShl => (Op::Shl, Type::B64, a, amount(self, b)),
            LLVMLShr => (Op::Shr, Type::U64, ext(self, a, false), amount(self, b)),
            LLVMAShr => (Op::Shr, Type::S64, ext(self, a, true), amount(self, b)),
            LLVMUDiv => (Op::Div, Type::U64, ext(self, a, false), ext(self, b, false)),
            LLVMURem => (Op::Rem, Type::U64, ext(self, a, false), ext(self, b, false)),
            LLVMSDiv => (Op::Div, Type::S64, ext(self, a, true), ext(self, b, true)),
            _ => (Op::Rem, Type::S64, ext(self, a, true), ext(self, b, true)),
        };
        let bank = self.joint_bank(&[a, b]);
        self.emit(op, ty, class(bank), [a, b])
    }

    pub(super) fn extend_wide(&mut self, op: Operand, bits: u32, signed: bool) -> Operand {
        if bits >= 64 {
            return op;
        }
        let bank = self.joint_bank(&[op]);
        let class = RegClass { bank, words: 2 };
        let amount = Operand::Immediate(64 - bits);
        let up = self.emit(Op::Shl, Type::B64, class, [op, amount]);
        self.emit(Op::Shr, if signed { Type::S64 } else { Type::U64 }, class, [up, amount])
    }

    /// A 64-bit product of two extended 32-bit values.
    fn widening_multiply(&mut self, i: Value) -> Option<Operand> {
        let (a, b) = (i.operand(0), i.operand(1));
        let narrow = |v: Value, opcode: LLVMOpcode| {
            (v.is_instruction() && v.opcode() == opcode).then(|| v.operand(0)).filter(|s| types::leaves(s.ty())[0].bits == 32)
        };
        for (opcode, ty) in [(LLVMZExt, Type::U32), (LLVMSExt, Type::S32)] {
            let Some(x) = narrow(a, opcode) else { continue };
            let y = match (narrow(b, opcode), constants::sign_extended(b)) {
                (Some(y), _) => self.operand(y),
                (None, Some(c)) if ty == Type::S32 && i32::try_from(c).is_ok() => Operand::Immediate(c as u32),
                (None, Some(c)) if ty == Type::U32 && u32::try_from(c).is_ok() => Operand::Immediate(c as u32),
                _ => continue,
            };
            let x = self.operand(x);
            let bank = self.joint_bank(&[x, y]);
            return Some(self.emit(Op::MulWide, ty, RegClass { bank, words: 2 }, [x, y]));
        }
        None
    }

    /// The low 32 bits of 64-bit arithmetic from the low words of its operands, for addresses. Unused copies are removed later.
    fn low_version(&mut self, i: Value) {
        let (a, b) = (i.operand(0), i.operand(1));
        let op = match i.opcode() {
            LLVMAdd => Op::Add,
            LLVMSub => Op::Sub,
            LLVMMul => Op::Mul,
            LLVMAnd => Op::And,
            LLVMOr => Op::Or,
            LLVMXor => Op::Xor,
            LLVMShl if constants::sign_extended(b).is_some_and(|s| (0..32).contains(&s)) => Op::Shl,
            // The pair clang uses to sign-extend: ashr(shl(x, 32), 32) has the low word of x.
            LLVMAShr | LLVMLShr if constants::sign_extended(b) == Some(32) => {
                if a.is_instruction() && a.opcode() == LLVMShl && constants::sign_extended(a.operand(1)) == Some(32) {
                    let low = self.low_word(a.operand(0));
                    self.low.insert(i, low);
                }
                return;
            }
            _ => return,
        };
        let (x, y) = (self.low_word(a), self.low_word(b));
        let low = match (op, y) {
            (Op::Add, _) => self.add32(x, y),
            (Op::Mul, Operand::Immediate(c)) => self.mad32(x, c, None),
            _ => self.emit_joint(op, Type::B32, 1, &[x, y]),
        };
        self.low.insert(i, low);
    }

    // ----- floats -----

    /// Looks through `fneg` and `fabs` of a scalar value.
    pub(super) fn float_source(&mut self, v: Value) -> FloatSource {
        let mut source = FloatSource { op: Operand::None, neg: false, abs: false };
        let mut current = v;
        if types::leaf_count(v.ty()) == 1 {
            while current.is_instruction() {
                match current.opcode() {
                    LLVMFNeg => {
                        if !source.abs {
                            source.neg = !source.neg;
                        }
                        current = current.operand(0);
                    }
                    LLVMCall if current.called_function().is_some_and(|f| f.name().starts_with("llvm.fabs.")) => {
                        source.abs = true;
                        current = current.operand(0);
                    }
                    _ => break,
                }
            }
        }
        source.op = self.operand(current);
        source
    }

    /// Emits a float operation with modifiers into a new register.
    pub(super) fn emit_float(&mut self, op: Op, ty: Type, sources: &[FloatSource]) -> Operand {
        let ops: Vec<Operand> = sources.iter().map(|s| s.op).collect();
        let bank = self.joint_bank(&ops);
        let dst = Operand::virt(self.f.add_vreg(RegClass { bank, words: ty.words() }));
        let mut inst = Inst::new(op, ty, dst, ops);
        for (i, s) in sources.iter().enumerate() {
            inst.neg |= u8::from(s.neg) << i;
            inst.abs |= u8::from(s.abs) << i;
        }
        self.push(inst);
        dst
    }

    pub(super) fn plain(op: Operand) -> FloatSource {
        FloatSource { op, neg: false, abs: false }
    }

    pub(super) fn float_arithmetic(&mut self, i: Value) {
        let leaves = leaves(i.ty());
        let single = leaves.len() == 1;
        let arity = i.operand_count();
        let all: Vec<Parts> = if single { Vec::new() } else { (0..arity).map(|k| self.parts(i.operand(k))).collect() };
        let mut parts = Parts::new();
        for (k, leaf) in leaves.iter().enumerate() {
            let mut sources: Vec<FloatSource> = (0..arity)
                .map(|n| if single { self.float_source(i.operand(n)) } else { Self::plain(all[n as usize][k]) })
                .collect();
            let ty = leaf.float_type();
            let op = match i.opcode() {
                LLVMFAdd => Op::Add,
                LLVMFSub => {
                    sources[1].neg = !sources[1].neg;
                    Op::Add
                }
                LLVMFMul => Op::Mul,
                LLVMFDiv => Op::Div,
                LLVMFNeg => {
                    let op = if single { self.operand(i.operand(0)) } else { all[0][k] };
                    parts.push(self.flip_sign(op, *leaf));
                    continue;
                }
                _ => {
                    self.error(Some(i), "floating-point remainder (`frem`) is not supported; use fmod");
                    return;
                }
            };
            parts.push(self.emit_float(op, ty, &sources));
        }
        self.set(i, parts);
    }

    /// `-x` by its sign bit.
    fn flip_sign(&mut self, op: Operand, leaf: Leaf) -> Operand {
        match leaf.bits {
            16 => self.emit_joint(Op::Xor, Type::B32, 1, &[op, Operand::Immediate(0x8000)]),
            32 => self.emit_joint(Op::Xor, Type::B32, 1, &[op, Operand::Immediate(0x8000_0000)]),
            _ => {
                let (low, high) = self.halves(op);
                let high = self.emit_joint(Op::Xor, Type::B32, 1, &[high, Operand::Immediate(0x8000_0000)]);
                self.pair(low, high)
            }
        }
    }

    // ----- comparisons and selects -----

    /// Emits a comparison: into a predicate, or 0/1 in a scalar register.
    pub(super) fn compare(&mut self, cond: Cond, ty: Type, a: FloatSource, b: FloatSource) -> Operand {
        let class = match self.joint_bank(&[a.op, b.op]) {
            Bank::Scalar => RegClass::scalar(1),
            _ => RegClass::PREDICATE,
        };
        let dst = Operand::virt(self.f.add_vreg(class));
        let mut inst = Inst::new(Op::Cmp, ty, dst, [a.op, b.op]);
        inst.mods.cond = Some(cond);
        inst.neg = u8::from(a.neg) | u8::from(b.neg) << 1;
        inst.abs = u8::from(a.abs) | u8::from(b.abs) << 1;
        self.push(inst);
        dst
    }

    pub(super) fn icmp(&mut self, i: Value) {
        use LLVMIntPredicate::*;
        // SAFETY: predicate of a live icmp.
        let predicate = unsafe { LLVMGetICmpPredicate(i.0) };
        let (cond, signed, order) = match predicate {
            LLVMIntEQ => (Cond::Eq, false, false),
            LLVMIntNE => (Cond::Ne, false, false),
            LLVMIntUGT => (Cond::Gt, false, true),
            LLVMIntUGE => (Cond::Ge, false, true),
            LLVMIntULT => (Cond::Lt, false, true),
            LLVMIntULE => (Cond::Le, false, true),
            LLVMIntSGT => (Cond::Gt, true, true),
            LLVMIntSGE => (Cond::Ge, true, true),
            LLVMIntSLT => (Cond::Lt, true, true),
            LLVMIntSLE => (Cond::Le, true, true),
        };
        let (va, vb) = (i.operand(0), i.operand(1));
        let leaves = leaves(va.ty());
        let single = leaves.len() == 1;
        let (pa, pb) = (self.parts(va), self.parts(vb));
        let mut parts = Parts::new();
        for (k, leaf) in leaves.iter().enumerate() {
            let (mut a, mut b) = (pa[k], pb[k]);
            let wide = leaf.words() == 2;
            if leaf.bits == 1 && leaf.pointer.is_none() {
                parts.push(self.compare_bits(i, cond, signed, a, b));
                continue;
            }
            if leaf.pointer.is_none() {
                if wide {
                    a = self.extend_wide(a, leaf.bits, signed);
                    b = self.extend_wide(b, leaf.bits, signed);
                } else if single {
                    // Equality may use either extension: take what the first operand has.
                    let s = if order { signed } else { self.extended.get(&va) == Some(&Extension::Sign) };
                    a = self.extend(va, a, leaf.bits, s);
                    b = self.extend(vb, b, leaf.bits, s);
                } else {
                    a = self.extend_immediate_or(a, leaf.bits, signed);
                    b = self.extend_immediate_or(b, leaf.bits, signed);
                }
            }
            let ty = match (order, signed, wide) {
                (false, _, false) => Type::B32,
                (false, _, true) => Type::B64,
                (true, true, false) => Type::S32,
                (true, false, false) => Type::U32,
                (true, true, true) => Type::S64,
                (true, false, true) => Type::U64,
            };
            parts.push(self.compare(cond, ty, Self::plain(a), Self::plain(b)));
        }
        self.set(i, parts);
    }

    /// Comparison of bits, by logic: `a < b` unsigned is `!a & b`; signed orders are reversed (true is -1).
    fn compare_bits(&mut self, i: Value, cond: Cond, signed: bool, a: Operand, b: Operand) -> Operand {
        let (cond, a, b) = match (cond, signed) {
            (Cond::Lt | Cond::Le | Cond::Gt | Cond::Ge, true) => (cond, b, a),
            _ => (cond, a, b),
        };
        let (a, b) = match cond {
            Cond::Gt | Cond::Ge => (b, a),
            _ => (a, b),
        };
        let scalar = self.joint_bank(&[a, b]) == Bank::Scalar;
        let (ty, class) = if scalar { (Type::B32, RegClass::scalar(1)) } else { (Type::Pred, RegClass::PREDICATE) };
        let fix = |s: &mut Self, o: Operand| {
            if scalar { if let Operand::Immediate(v) = o { Operand::Immediate(v & 1) } else { o } } else { s.to_predicate(o) }
        };
        let (a, b) = (fix(self, a), fix(self, b));
        let not = |s: &mut Self, o: Operand| {
            if scalar {
                s.emit(Op::Xor, Type::B32, class, [o, Operand::Immediate(1)])
            } else {
                s.emit(Op::Not, Type::Pred, class, [o])
            }
        };
        match cond {
            Cond::Ne => self.emit(Op::Xor, ty, class, [a, b]),
            Cond::Eq => {
                let x = self.emit(Op::Xor, ty, class, [a, b]);
                not(self, x)
            }
            Cond::Lt | Cond::Gt => {
                let n = not(self, a);
                self.emit(Op::And, ty, class, [n, b])
            }
            Cond::Le | Cond::Ge => {
                let n = not(self, a);
                self.emit(Op::Or, ty, class, [n, b])
            }
            _ => {
                self.error(Some(i), "this comparison of `i1` values is not supported");
                Operand::Immediate(0)
            }
        }
    }

    pub(super) fn fcmp(&mut self, i: Value) {
        use LLVMRealPredicate::*;
        // SAFETY: predicate of a live fcmp.
        let predicate = unsafe { LLVMGetFCmpPredicate(i.0) };
        let cond = match predicate {
            LLVMRealOEQ => Cond::Oeq,
            LLVMRealOGT => Cond::Ogt,
            LLVMRealOGE => Cond::Oge,
            LLVMRealOLT => Cond::Olt,
            LLVMRealOLE => Cond::Ole,
            LLVMRealONE => Cond::One,
            LLVMRealORD => Cond::Ord,
            LLVMRealUNO => Cond::Uno,
            LLVMRealUEQ => Cond::Ueq,
            LLVMRealUGT => Cond::Ugt,
            LLVMRealUGE => Cond::Uge,
            LLVMRealULT => Cond::Ult,
            LLVMRealULE => Cond::Ule,
            LLVMRealUNE => Cond::Une,
            LLVMRealPredicateFalse | LLVMRealPredicateTrue => {
                let bit = Operand::Immediate(u32::from(predicate == LLVMRealPredicateTrue));
                let parts = leaves(i.ty()).iter().map(|_| bit).collect();
                self.set(i, parts);
                return;
            }
        };
        let leaves = leaves(i.operand(0).ty());
        let parts: Parts = if let [leaf] = leaves[..] {
            let (a, b) = (self.float_source(i.operand(0)), self.float_source(i.operand(1)));
            smallvec::smallvec![self.compare(cond, leaf.float_type(), a, b)]
        } else {
            let (pa, pb) = (self.parts(i.operand(0)), self.parts(i.operand(1)));
            let pairs: Vec<_> = leaves.iter().enumerate().map(|(k, l)| (l.float_type(), pa[k], pb[k])).collect();
            pairs.into_iter().map(|(ty, a, b)| self.compare(cond, ty, Self::plain(a), Self::plain(b))).collect()
        };
        self.set(i, parts);
    }

    /// `condition ? a : b` of one leaf.
    pub(super) fn choose(&mut self, condition: Operand, leaf: Leaf, a: Operand, b: Operand) -> Operand {
        if a == b {
            return a;
        }
        let scalar = self.joint_bank(&[condition, a, b]) == Bank::Scalar;
        if leaf.words() == 0 && !scalar {
            let (a, b) = (self.to_predicate(a), self.to_predicate(b));
            return self.emit(Op::Sel, Type::Pred, RegClass::PREDICATE, [condition, a, b]);
        }
        let condition = match condition {
            Operand::Immediate(_) | Operand::Special(_) | Operand::Constant(_) => self.to_scalar(condition, 1),
            c if self.bank(c) == Some(Bank::Vector) => self.to_predicate(c),
            c => c,
        };
        let class = leaf.class(if scalar { Bank::Scalar } else { Bank::Vector });
        // Two different immediates need one register; an absent operand is zero.
        let (mut a, mut b) = (a, b);
        if let (Operand::Immediate(x), Operand::Immediate(y)) = (a, b) {
            if y == 0 {
                b = Operand::None;
            } else if x == 0 {
                a = Operand::None;
            }
        }
        self.emit(Op::Sel, leaf.bit_type(), class, [condition, a, b])
    }

    pub(super) fn select_instruction(&mut self, i: Value) {
        let (c, a, b) = (i.operand(0), i.operand(1), i.operand(2));
        let conditions = self.parts(c);
        if types::is_pointer(i.ty()) {
            if let Some(root) = self.single_root_address(i) {
                let (x, y) = (self.address(a), self.address(b));
                let x = self.whole_offset(&x);
                let y = self.whole_offset(&y);
                let leaf = Leaf { bits: 32, float: false, pointer: None, offset: 0 };
                let offset = self.choose(conditions[0], leaf, x, y);
                self.set_offset_address(i, root, offset);
                return;
            }
        }
        let leaves = leaves(i.ty());
        let (pa, pb) = (self.parts(a), self.parts(b));
        let parts: Parts = leaves
            .iter()
            .enumerate()
            .map(|(k, leaf)| {
                // One condition for all, or one for the leaves of each element.
                let condition = conditions[k * conditions.len() / leaves.len()];
                self.choose(condition, *leaf, pa[k], pb[k])
            })
            .collect();
        let known = |s: &Self, v: Value| s.extended.get(&v).copied();
        if let (Some(x), Some(y)) = (known(self, a), known(self, b)) {
            if x == y {
                self.extended.insert(i, x);
            }
        }
        self.set(i, parts);
    }

    /// Offset and immediate of an address as one word.
    pub(super) fn whole_offset(&mut self, a: &super::address::Address) -> Operand {
        let immediate = Operand::Immediate(a.immediate as u32);
        match self.offset(a) {
            None => immediate,
            Some(o) => self.add32(o, immediate),
        }
    }

    /// Gives a pointer the root of `root` and a new offset.
    pub(super) fn set_offset_address(&mut self, p: Value, root: super::address::Address, offset: Operand) {
        let mut address = super::address::Address { uniform: None, varying: None, immediate: 0, ..root };
        // A root that is itself an offset (a local argument) is part of the offset already.
        match offset {
            Operand::Immediate(v) => address.immediate = v as i32,
            o if self.is_uniform_operand(o) => address.uniform = Some(o),
            o => address.varying = Some(o),
        }
        self.addresses.insert(p, address);
    }

    // ----- vectors and aggregates -----

    pub(super) fn vector_or_aggregate(&mut self, i: Value) {
        match i.opcode() {
            LLVMExtractElement => {
                let parts = self.parts(i.operand(0));
                let index = i.operand(1);
                let leaves = leaves(i.ty());
                // Of an element of several leaves, the leaves one after the other.
                let element: Parts = leaves
                    .iter()
                    .enumerate()
                    .map(|(at, leaf)| {
                        let parts: Parts = parts.iter().skip(at).step_by(leaves.len()).copied().collect();
                        match constants::sign_extended(index) {
                            Some(k) => parts.get(k as usize).copied().unwrap_or(Operand::Immediate(0)),
                            None => self.dynamic_extract(&parts, index, *leaf),
                        }
                    })
                    .collect();
                self.set(i, element);
            }
            LLVMInsertElement => {
                let mut parts = self.parts(i.operand(0));
                let element = self.parts(i.operand(1));
                let index = i.operand(2);
                let leaves = leaves(i.operand(1).ty());
                match constants::sign_extended(index) {
                    Some(k) => {
                        let mine = parts.iter_mut().skip((k as usize).saturating_mul(leaves.len()));
                        mine.zip(element).for_each(|(part, new)| *part = new);
                    }
                    None => {
                        let index = self.low_word(index);
                        for (k, slots) in parts.chunks_mut(leaves.len()).enumerate() {
                            let hit = self.is_index(index, k);
                            for (at, part) in slots.iter_mut().enumerate() {
                                *part = self.choose(hit, leaves[at], element[at], *part);
                            }
                        }
                    }
                }
                self.set(i, parts);
            }
            LLVMShuffleVector => {
                let mut all = self.parts(i.operand(0));
                all.extend(self.parts(i.operand(1)));
                // SAFETY: mask of a live shufflevector.
                let count = unsafe { LLVMGetNumMaskElements(i.0) };
                let leaves = types::leaf_count(i.ty()) / count.max(1) as usize;
                let mut parts = Parts::new();
                for k in 0..count {
                    let m = usize::try_from(unsafe { LLVMGetMaskValue(i.0, k) });
                    // A negative element is poison.
                    let part = |at| m.ok().and_then(|m| all.get(m * leaves + at).copied()).unwrap_or(Operand::Immediate(0));
                    parts.extend((0..leaves).map(part));
                }
                self.set(i, parts);
            }
            LLVMExtractValue => {
                let parts = self.parts(i.operand(0));
                let (first, count) = self.aggregate_slice(i, i.operand(0).ty());
                self.set(i, parts[first..first + count].into());
            }
            _ => {
                let mut parts = self.parts(i.operand(0));
                let inserted = self.parts(i.operand(1));
                let (first, count) = self.aggregate_slice(i, i.ty());
                for k in 0..count {
                    parts[first + k] = inserted[k];
                }
                self.set(i, parts);
            }
        }
    }

    fn is_index(&mut self, index: Operand, k: usize) -> Operand {
        self.compare(Cond::Eq, Type::B32, Self::plain(index), Self::plain(Operand::Immediate(k as u32)))
    }

    fn dynamic_extract(&mut self, parts: &[Operand], index: Value, leaf: Leaf) -> Operand {
        let index = self.low_word(index);
        let mut result = parts[0];
        for (k, part) in parts.iter().enumerate().skip(1) {
            let hit = self.is_index(index, k);
            result = self.choose(hit, leaf, *part, result);
        }
        result
    }

    /// First leaf and number of leaves that `extractvalue` or `insertvalue` names.
    fn aggregate_slice(&self, i: Value, mut ty: inkwell::llvm_sys::prelude::LLVMTypeRef) -> (usize, usize) {
        // SAFETY: indices and types of a live instruction.
        unsafe {
            let n = LLVMGetNumIndices(i.0) as usize;
            let indices = std::slice::from_raw_parts(LLVMGetIndices(i.0), n);
            let mut first = 0;
            for &index in indices {
                let is_struct = LLVMGetTypeKind(ty) == inkwell::llvm_sys::LLVMTypeKind::LLVMStructTypeKind;
                let element = |k: u32| if is_struct { LLVMStructGetTypeAtIndex(ty, k) } else { LLVMGetElementType(ty) };
                first += (0..index).map(|k| types::leaf_count(element(k))).sum::<usize>();
                ty = element(index);
            }
            (first, types::leaf_count(ty))
        }
    }
}
