//! Arithmetic, logic, comparison, conversion and movement as LLVM IR, with the results of [`crate::exec`]'s
//! functions bit for bit.
//!
//! What is not here (special functions, rarer conversions) is executed by those functions themselves. Half
//! precision is in [`super::half`].

use inkwell::llvm_sys::LLVMIntPredicate::*;
use inkwell::llvm_sys::LLVMRealPredicate::{self, *};

use super::access::Elements;
use super::atomic::SCRATCH;
use super::build::{Elem, V, Val};
use super::translate::{Bits, Site, Translator};
use heddle_isa::{Cond, Inst, Op, Rounding, Type};

/// What an instruction computes.
pub enum Out {
    /// 32-bit words.
    Words(Vec<Val>),
    /// A bit a lane.
    Bits(Bits),
}

fn is_signed(ty: Type) -> bool {
    matches!(ty, Type::S8 | Type::S16 | Type::S32 | Type::S64)
}

fn float_elem(ty: Type) -> Elem {
    if ty == Type::F64 { Elem::F64 } else { Elem::F32 }
}

impl Translator<'_> {
    /// Translates an instruction without effects; `None` if it has to be interpreted.
    pub(super) fn compute(&self, s: &Site) -> Option<Out> {
        let (inst, ty) = (s.inst, s.inst.ty);
        if (ty == Type::F16 || inst.mods.from == Some(Type::F16)) && !self.translates_halves(inst.op) {
            return None;
        }
        match inst.op {
            Op::Mov | Op::Sel | Op::And | Op::AndNot | Op::Or | Op::Xor | Op::Not if ty == Type::Pred => self.logic(s),
            Op::Mov => Some(Out::Words((0..ty.words()).map(|w| self.word(s, 0, w)).collect())),
            Op::Sel => self.select(s),
            Op::First => Some(self.take_first(s)),
            Op::Ballot => Some(self.ballot(s)),
            Op::Cmp => Some(Out::Bits(self.compare(s))),
            Op::Cvt => self.convert(s).map(Out::Words),
            Op::MulWide => Some(self.wide_product(s)),
            Op::Add | Op::Mul | Op::Div | Op::Min | Op::Max if ty.is_float() => self.float(s),
            Op::Fma | Op::Sqrt | Op::Round | Op::Copysign | Op::Rcp | Op::Rsq => self.float(s),
            Op::Add | Op::Sub | Op::Mul | Op::MulHi | Op::Mad | Op::Abs | Op::Min | Op::Max => self.integer(s),
            Op::And | Op::AndNot | Op::Or | Op::Xor | Op::Not | Op::Shl | Op::Shr | Op::Fshl | Op::Fshr => self.integer(s),
            Op::Clz | Op::Ctz | Op::Popc | Op::Brev | Op::Bswap => self.integer(s),
            Op::Div | Op::Rem if ty.words() == 2 => Some(Out::Words(self.words_of_int(self.wide_quotient(s), 64))),
            Op::Div | Op::Rem => self.quotient(s).map(|v| Out::Words(vec![v])),
            Op::Shuffle => self.shuffled(s),
            // By the interpreter's functions: the host has no instruction for them, or they are rare.
            Op::Ldexp | Op::FrexpMant | Op::FrexpExp => None,
            Op::Sin | Op::Cos | Op::Ex2 | Op::Lg2 => None,
            // What has an effect or ends a block is not computed.
            Op::Load | Op::LoadUniform | Op::Store | Op::Atomic | Op::Sample | Op::ImageStore => None,
            Op::Fence | Op::CacheControl | Op::CacheControlLocal | Op::Barrier | Op::Nop | Op::Release => None,
            Op::Bra | Op::BraScalar | Op::BraDivergent | Op::Exit | Op::Trap => None,
            Op::Phi | Op::Tuple | Op::Undef => None,
        }
    }

    fn take_first(&self, s: &Site) -> Out {
        let lane = match s.active {
            Some(_) => self.first_lane(self.mask()),
            None => self.b.int(32, 0),
        };
        Out::Words((0..s.inst.ty.words()).map(|w| Val::Same(self.b.lane(self.word(s, 0, w), lane))).collect())
    }

    /// Each lane's word of the lane that it names.
    fn shuffled(&self, s: &Site) -> Option<Out> {
        let b = &self.b;
        if s.first.is_some() {
            return None;
        }
        let (value, lane) = (self.word(s, 0, 0), self.word(s, 1, 0));
        let lane = b.apply([lane, Val::Same(b.int(32, u64::from(b.n - 1)))], |[l, most]| b.and(l, most));
        Some(Out::Words(vec![match (value, lane) {
            (Val::Same(_), _) => value,
            (Val::Lanes(_), Val::Same(lane)) => Val::Same(b.lane(value, lane)),
            (Val::Lanes(v), Val::Lanes(lane)) => {
                // Not where the lanes' pointers go.
                let values = self.scratch[SCRATCH - 2];
                b.store(v, values, 64);
                let offset = b.shl(lane, b.splat(b.int(32, 2)));
                Val::Lanes(self.gathered(None, &Elements { base: values, offset, low: true, scattered: true }, 32))
            }
        }]))
    }

    fn ballot(&self, s: &Site) -> Out {
        let bits = self.bits_of(self.predicate(s, 0));
        let v = self.b.resize(self.b.and(bits, self.mask()), 64);
        let high = self.b.resize(self.b.lshr(v, self.b.int(64, 32)), 32);
        Out::Words(vec![Val::Same(self.b.resize(v, 32)), Val::Same(high)])
    }

    fn wide_product(&self, s: &Site) -> Out {
        let signed = is_signed(s.inst.ty);
        let (a, b) = (self.word(s, 0, 0), self.word(s, 1, 0));
        let extended = |v| if signed { self.b.sext(v, Elem::I(64)) } else { self.b.zext(v, Elem::I(64)) };
        let wide = |v| extended(self.in_wide_order(v));
        let v = self.b.apply([wide(a), wide(b)], |[a, b]| self.b.mul(a, b));
        Out::Words(self.words_of_wide(v))
    }

    /// What an instruction computes, of 64 bits in the wide order, or of 32, as words.
    fn words_of_result(&self, v: Val, bits: u32) -> Vec<Val> {
        if bits == 64 { self.words_of_wide(v) } else { vec![v] }
    }

    /// A 64-bit or 32-bit value as words.
    pub(super) fn words_of_int(&self, v: Val, bits: u32) -> Vec<Val> {
        if bits == 32 {
            return vec![v];
        }
        let high = self.b.apply([v, Val::Same(self.b.int(64, 32))], |[v, n]| self.b.lshr(v, n));
        vec![self.b.trunc(v, Elem::I(32)), self.b.trunc(high, Elem::I(32))]
    }

    pub(super) fn words_of_float(&self, v: Val, ty: Type) -> Vec<Val> {
        if ty == Type::F16 {
            return vec![self.word_of_half(v)];
        }
        let bits = 32 * u32::from(ty.words());
        self.words_of_result(self.b.bitcast(v, Elem::I(bits)), bits)
    }

    /// Source `i` as an integer, in the order of lanes.
    pub(super) fn int(&self, s: &Site, i: usize, bits: u32) -> Val {
        let low = self.word(s, i, 0);
        if bits == 32 {
            return low;
        }
        self.joined(low, self.word(s, i, 1))
    }

    /// Source `i` as an operand: of 64 bits in the wide order.
    fn operand(&self, s: &Site, i: usize, bits: u32) -> Val {
        let low = self.word(s, i, 0);
        if bits == 64 { self.wide(low, self.word(s, i, 1)) } else { low }
    }

    /// Two words as a 64-bit integer, in the order of lanes.
    pub(super) fn joined(&self, low: Val, high: Val) -> Val {
        let (low, high) = (self.b.zext(low, Elem::I(64)), self.b.zext(high, Elem::I(64)));
        self.b.apply([low, high, Val::Same(self.b.int(64, 32))], |[l, h, n]| self.b.or(l, self.b.shl(h, n)))
    }

    /// Source `i` as a float, with its modifiers: a double in the wide order, a half in single precision.
    pub(super) fn real(&self, s: &Site, i: usize, ty: Type) -> Val {
        let v = if ty == Type::F16 {
            self.half_of(self.word(s, i, 0))
        } else {
            self.b.bitcast(self.operand(s, i, 32 * u32::from(ty.words())), float_elem(ty))
        };
        let v = if s.inst.abs >> i & 1 == 1 { self.b.apply([v], |[v]| self.b.intrinsic_of("llvm.fabs", &[v])) } else { v };
        if s.inst.neg >> i & 1 == 1 { self.b.apply([v], |[v]| self.b.fneg(v)) } else { v }
    }

    /// Predicate operations.
    fn logic(&self, s: &Site) -> Option<Out> {
        if !s.predicate_dst {
            return None;
        }
        let p = |i| self.predicate(s, i);
        let both = |a: Bits, b: Bits, f: &dyn Fn(V, V) -> V| match (a, b) {
            (Bits::Same(a), Bits::Same(b)) => Bits::Same(f(a, b)),
            (a, b) => Bits::Lanes(f(self.bits_of(a), self.bits_of(b))),
        };
        let invert = |a: Bits| match a {
            Bits::Same(a) => Bits::Same(self.b.not(a)),
            Bits::Lanes(a) => Bits::Lanes(self.b.not(a)),
        };
        let and = |a, b| both(a, b, &|a, b| self.b.and(a, b));
        let or = |a, b| both(a, b, &|a, b| self.b.or(a, b));
        Some(Out::Bits(match s.inst.op {
            Op::Mov => p(0),
            Op::Sel => or(and(p(0), p(1)), and(invert(p(0)), p(2))),
            Op::And => and(p(0), p(1)),
            Op::AndNot => and(p(0), invert(p(1))),
            Op::Or => or(p(0), p(1)),
            Op::Xor => both(p(0), p(1), &|a, b| self.b.xor(a, b)),
            Op::Not => invert(p(0)),
            _ => return None,
        }))
    }

    fn select(&self, s: &Site) -> Option<Out> {
        let condition = self.predicate(s, 0);
        let pick = |w: u8| {
            let (a, b) = (self.word(s, 1, w), self.word(s, 2, w));
            match condition {
                Bits::Same(c) => self.b.apply([a, b], |[a, b]| self.b.select(c, a, b)),
                Bits::Lanes(c) => Val::Lanes(self.b.select(self.b.mask_to_lanes(c), self.b.lanes(a), self.b.lanes(b))),
            }
        };
        Some(Out::Words((0..s.inst.ty.words()).map(pick).collect()))
    }

    fn compare(&self, s: &Site) -> Bits {
        let ty = s.inst.ty;
        let cond = s.inst.mods.cond.unwrap_or(Cond::Eq);
        let result = if ty.is_float() {
            let p = float_predicate(cond);
            self.b.apply([self.real(s, 0, ty), self.real(s, 1, ty)], |[a, b]| self.b.fcmp(p, a, b))
        } else {
            let bits = 32 * u32::from(ty.words());
            let p = match (cond, is_signed(ty)) {
                (Cond::Ne, _) => LLVMIntNE,
                (Cond::Lt, true) => LLVMIntSLT,
                (Cond::Le, true) => LLVMIntSLE,
                (Cond::Gt, true) => LLVMIntSGT,
                (Cond::Ge, true) => LLVMIntSGE,
                (Cond::Lt, false) => LLVMIntULT,
                (Cond::Le, false) => LLVMIntULE,
                (Cond::Gt, false) => LLVMIntUGT,
                (Cond::Ge, false) => LLVMIntUGE,
                _ => LLVMIntEQ,
            };
            self.b.apply([self.operand(s, 0, bits), self.operand(s, 1, bits)], |[a, b]| self.b.icmp(p, a, b))
        };
        match result {
            Val::Same(v) => Bits::Same(v),
            Val::Lanes(v) if ty.words() == 2 => Bits::Lanes(self.b.lanes_to_mask(self.bits_in_lane_order(v))),
            Val::Lanes(v) => Bits::Lanes(self.b.lanes_to_mask(v)),
        }
    }

    fn float(&self, s: &Site) -> Option<Out> {
        let ty = s.inst.ty;
        self.float_value(s).map(|v| Out::Words(self.words_of_float(v, ty)))
    }

    /// The operations on floats that [`Self::compute`] lists.
    fn float_value(&self, s: &Site) -> Option<Val> {
        let (inst, ty) = (s.inst, s.inst.ty);
        let x = |i| self.real(s, i, ty);
        let one = Val::Same(self.b.float(float_elem(ty), 1.0));
        let unary = |name: &str| self.b.apply([x(0)], |[a]| self.b.intrinsic_of(name, &[a]));
        Some(match inst.op {
            Op::Add => self.b.apply([x(0), x(1)], |[a, b]| self.b.fadd(a, b)),
            Op::Mul => self.b.apply([x(0), x(1)], |[a, b]| self.b.fmul(a, b)),
            Op::Div => self.b.apply([x(0), x(1)], |[a, b]| self.b.fdiv(a, b)),
            Op::Fma if ty == Type::F16 => self.fma_half([x(0), x(1), x(2)]),
            Op::Fma => self.b.apply([x(0), x(1), x(2)], |a| self.b.intrinsic_of("llvm.fma", &a)),
            Op::Min | Op::Max => self.extremum(s, x(0), x(1)),
            Op::Sqrt => unary("llvm.sqrt"),
            Op::Copysign => self.b.apply([x(0), x(1)], |a| self.b.intrinsic_of("llvm.copysign", &a)),
            Op::Round => unary(rounding_intrinsic(inst.mods.rounding)),
            Op::Rcp => self.b.apply([one, x(0)], |[o, a]| self.b.fdiv(o, a)),
            Op::Rsq => {
                let root = unary("llvm.sqrt");
                self.b.apply([one, root], |[o, a]| self.b.fdiv(o, a))
            }
            _ => return None,
        })
    }

    /// minNum and maxNum as `isa::semantics` has them. Equal operands differ at most in the sign of zero; of
    /// those the intrinsics may give either.
    fn extremum(&self, s: &Site, a: Val, b: Val) -> Val {
        let bits = 32 * u32::from(s.inst.ty.words());
        let least = s.inst.op == Op::Min;
        let picked = self.b.apply([a, b], |a| self.b.intrinsic_of(if least { "llvm.minnum" } else { "llvm.maxnum" }, &a));
        let integers = [self.b.bitcast(a, Elem::I(bits)), self.b.bitcast(b, Elem::I(bits))];
        let tie = self.b.apply(integers, |[a, b]| if least { self.b.or(a, b) } else { self.b.and(a, b) });
        let tie = self.b.bitcast(tie, float_elem(s.inst.ty));
        self.b.apply([a, b, tie, picked], |[a, b, tie, picked]| self.b.select(self.b.fcmp(LLVMRealOEQ, a, b), tie, picked))
    }

    fn integer(&self, s: &Site) -> Option<Out> {
        let bits = 32 * u32::from(s.inst.ty.words());
        if !matches!(bits, 32 | 64) {
            return None;
        }
        self.integer_value(s, bits).map(|v| Out::Words(self.words_of_result(v, bits)))
    }

    /// The operations on integers that [`Self::compute`] lists.
    fn integer_value(&self, s: &Site, bits: u32) -> Option<Val> {
        let (inst, ty) = (s.inst, s.inst.ty);
        let signed = is_signed(ty);
        let x = |i| self.operand(s, i, bits);
        // Shift amounts are words whatever the type.
        let amount = |i: usize| {
            let v = self.b.apply([self.word(s, i, 0), Val::Same(self.b.int(32, u64::from(bits - 1)))], |[v, m]| self.b.and(v, m));
            if bits == 64 { self.wide(v, Val::Same(self.b.int(32, 0))) } else { v }
        };
        let zero_is_defined = Val::Same(self.b.int(1, 0));
        let scalar_flag = |name: &str| {
            let Val::Same(flag) = zero_is_defined else { return None };
            Some(self.b.apply([x(0)], |[a]| self.b.intrinsic_of(name, &[a, flag])))
        };
        let binary = |f: &dyn Fn(V, V) -> V| Some(self.b.apply([x(0), x(1)], |[a, b]| f(a, b)));
        let intrinsic = |name: &str| Some(self.b.apply([x(0), x(1)], |a| self.b.intrinsic_of(name, &a)));
        let unary = |name: &str| Some(self.b.apply([x(0)], |a| self.b.intrinsic_of(name, &a)));
        match inst.op {
            Op::Add if inst.mods.saturate => intrinsic(if signed { "llvm.sadd.sat" } else { "llvm.uadd.sat" }),
            Op::Sub if inst.mods.saturate => intrinsic(if signed { "llvm.ssub.sat" } else { "llvm.usub.sat" }),
            Op::Add => binary(&|a, b| self.b.add(a, b)),
            Op::Sub => binary(&|a, b| self.b.sub(a, b)),
            Op::Mul => binary(&|a, b| self.b.mul(a, b)),
            Op::Mad => Some(self.b.apply([x(0), x(1), x(2)], |[a, b, c]| self.b.add(self.b.mul(a, b), c))),
            Op::And => binary(&|a, b| self.b.and(a, b)),
            Op::AndNot => binary(&|a, b| self.b.and(a, self.b.not(b))),
            Op::Or => binary(&|a, b| self.b.or(a, b)),
            Op::Xor => binary(&|a, b| self.b.xor(a, b)),
            Op::Not => Some(self.b.apply([x(0)], |[a]| self.b.not(a))),
            Op::MulHi => {
                let double = Elem::I(2 * bits);
                let wide = |v| if signed { self.b.sext(v, double) } else { self.b.zext(v, double) };
                let product = [wide(x(0)), wide(x(1)), Val::Same(self.b.int(2 * bits, u64::from(bits)))];
                let high = self.b.apply(product, |[a, b, n]| self.b.lshr(self.b.mul(a, b), n));
                Some(self.b.trunc(high, Elem::I(bits)))
            }
            Op::Min => intrinsic(if signed { "llvm.smin" } else { "llvm.umin" }),
            Op::Max => intrinsic(if signed { "llvm.smax" } else { "llvm.umax" }),
            Op::Abs => scalar_flag("llvm.abs"),
            Op::Clz => scalar_flag("llvm.ctlz"),
            Op::Ctz => scalar_flag("llvm.cttz"),
            Op::Popc => unary("llvm.ctpop"),
            Op::Brev => unary("llvm.bitreverse"),
            Op::Bswap => unary("llvm.bswap"),
            Op::Shl => Some(self.b.apply([x(0), amount(1)], |[a, n]| self.b.shl(a, n))),
            Op::Shr if signed => Some(self.b.apply([x(0), amount(1)], |[a, n]| self.b.ashr(a, n))),
            Op::Shr => Some(self.b.apply([x(0), amount(1)], |[a, n]| self.b.lshr(a, n))),
            Op::Fshl => Some(self.b.apply([x(0), x(1), amount(2)], |a| self.b.intrinsic_of("llvm.fshl", &a))),
            Op::Fshr => Some(self.b.apply([x(0), x(1), amount(2)], |a| self.b.intrinsic_of("llvm.fshr", &a))),
            _ => None,
        }
    }

    /// Quotient or remainder of 32-bit integers, by way of double precision: a quotient that is no whole number is
    /// at least 2⁻³² of its size away from the next one, and rounding moves it by 2⁻⁵³ at most.
    fn quotient(&self, s: &Site) -> Option<Val> {
        let signed = match s.inst.ty {
            Type::S32 => true,
            Type::U32 => false,
            _ => return None,
        };
        let b = &self.b;
        let (dividend, divisor) = (self.word(s, 0, 0), self.word(s, 1, 0));
        let constant = |v: u32| Val::Same(b.int(32, u64::from(v)));
        let equal = |x: Val, y: u32| b.apply([x, constant(y)], |[x, y]| b.icmp(LLVMIntEQ, x, y));
        let pick = |c: Val, x: Val, y: Val| b.apply([c, x, y], |[c, x, y]| b.select(c, x, y));
        // x / 0 is x, MIN / -1 is MIN: neither is asked of the host.
        let (zero, minus) = (equal(divisor, 0), equal(divisor, u32::MAX));
        let defined = pick(zero, constant(1), divisor);
        let safe = if signed { pick(minus, constant(1), defined) } else { defined };
        let real = |v| if signed { b.sitofp(v, Elem::F64) } else { b.uitofp(v, Elem::F64) };
        let quotient = b.apply([real(dividend), real(safe)], |[x, y]| b.fdiv(x, y));
        let quotient = if signed { b.fptosi(quotient, Elem::I(32)) } else { b.fptoui(quotient, Elem::I(32)) };
        let quotient = match signed {
            true => pick(minus, b.apply([constant(0), dividend], |[x, y]| b.sub(x, y)), quotient),
            false => quotient,
        };
        if s.inst.op == Op::Div {
            return Some(quotient);
        }
        Some(b.apply([dividend, quotient, defined], |[x, q, y]| b.sub(x, b.mul(q, y))))
    }

    /// Quotient or remainder of 64-bit integers, lane by lane: the host has no instruction for vectors of them.
    fn wide_quotient(&self, s: &Site) -> Val {
        let b = &self.b;
        let signed = s.inst.ty == Type::S64;
        let (dividend, divisor) = (self.int(s, 0, 64), self.int(s, 1, 64));
        let (zero, one, minus) = (b.int(64, 0), b.int(64, 1), b.int(64, u64::MAX));
        let of_pair = |x: V, y: V| {
            // x / 0 is x, MIN / -1 is MIN: neither is asked of the host.
            let is_minus = b.icmp(LLVMIntEQ, y, minus);
            let defined = b.select(b.icmp(LLVMIntEQ, y, zero), one, y);
            let quotient = match signed {
                true => b.select(is_minus, b.sub(zero, x), b.sdiv(x, b.select(is_minus, one, defined))),
                false => b.udiv(x, defined),
            };
            if s.inst.op == Op::Div { quotient } else { b.sub(x, b.mul(quotient, defined)) }
        };
        if let (Val::Same(x), Val::Same(y)) = (dividend, divisor) {
            return Val::Same(of_pair(x, y));
        }
        let results = self.scratch[SCRATCH - 1];
        self.each_lane(s, &[b.lanes(dividend), b.lanes(divisor)], |lane, of_lane| {
            b.store(of_pair(of_lane[0], of_lane[1]), b.element(results, Elem::I(64), lane), 8);
        });
        Val::Lanes(b.load(b.vector(Elem::I(64), b.n), results, 64))
    }

    /// The frequent conversions.
    fn convert(&self, s: &Site) -> Option<Vec<Val>> {
        let Inst { ty: to, mods, .. } = *s.inst;
        let from = mods.from?;
        let nearest = mods.rounding == Rounding::Rn;
        let bits = |ty: Type| 32 * u32::from(ty.words());
        match (to.is_float(), from.is_float()) {
            // Integers that do not clamp: from the source's own width, cut or extended to the target's.
            (false, false) if !mods.saturate => {
                let low = self.narrowed(self.narrowed(self.word(s, 0, 0), from), to);
                let sign = |v| self.b.apply([v, Val::Same(self.b.int(32, 31))], |[v, n]| self.b.ashr(v, n));
                Some(match (bits(from), bits(to)) {
                    (64, 64) => vec![low, self.word(s, 0, 1)],
                    (_, 64) if is_signed(from) => vec![low, sign(low)],
                    (_, 64) => vec![low, Val::Same(self.b.int(32, 0))],
                    _ => vec![low],
                })
            }
            (true, false) if nearest && !mods.saturate => {
                let v = self.narrowed(self.operand(s, 0, bits(from)), from);
                if to == Type::F16 && bits(from) == 64 {
                    return None;
                }
                let elem = if to == Type::F16 { Elem::F64 } else { float_elem(to) };
                let v = if bits(to) > bits(from) { self.in_wide_order(v) } else { v };
                let v = if is_signed(from) { self.b.sitofp(v, elem) } else { self.b.uitofp(v, elem) };
                let v = if to == Type::F16 { self.rounded_to_odd(v) } else { v };
                let v = if bits(to) < bits(from) { self.in_lane_order(v) } else { v };
                Some(self.words_of_float(v, to))
            }
            (true, true) if nearest && !mods.saturate => {
                let v = self.real(s, 0, from);
                let v = match (from, to) {
                    (Type::F32 | Type::F16, Type::F64) => self.b.fpext(self.in_wide_order(v), Elem::F64),
                    (Type::F32, Type::F16) | (Type::F16, Type::F32) => v,
                    (Type::F64, Type::F16) => self.in_lane_order(self.rounded_to_odd(v)),
                    (Type::F64, Type::F32) => self.in_lane_order(self.b.fptrunc(v, Elem::F32)),
                    _ => return None,
                };
                Some(self.words_of_float(v, to))
            }
            // Clamping conversions with NaN to 0 are what the intrinsics do.
            (false, true) if to.words() == 1 => {
                let (width, signed) = match to {
                    Type::S8 | Type::U8 => (8, to == Type::S8),
                    Type::S16 | Type::U16 => (16, to == Type::S16),
                    _ => (32, to == Type::S32),
                };
                let name = if signed { "llvm.fptosi.sat" } else { "llvm.fptoui.sat" };
                let v = self.real(s, 0, from);
                // The intrinsics round to zero.
                let v = match mods.rounding {
                    Rounding::Rz => v,
                    rounding => self.b.apply([v], |[v]| self.b.intrinsic_of(rounding_intrinsic(rounding), &[v])),
                };
                let result = match v {
                    Val::Same(x) => Val::Same(self.b.intrinsic(name, &[self.b.elem(Elem::I(width)), self.b.type_of(x)], &[x])),
                    Val::Lanes(x) => {
                        Val::Lanes(self.b.intrinsic(name, &[self.b.vector(Elem::I(width), self.b.n), self.b.type_of(x)], &[x]))
                    }
                };
                let result = match (width, signed) {
                    (32, _) => result,
                    (_, true) => self.b.sext(result, Elem::I(32)),
                    (_, false) => self.b.zext(result, Elem::I(32)),
                };
                Some(vec![if from == Type::F64 { self.in_lane_order(result) } else { result }])
            }
            _ => None,
        }
    }

    /// The low bits of an integer of a narrow type, extended again as the type says.
    fn narrowed(&self, v: Val, ty: Type) -> Val {
        let (bits, signed) = match ty {
            Type::S8 => (8, true),
            Type::U8 => (8, false),
            Type::S16 => (16, true),
            Type::U16 => (16, false),
            _ => return v,
        };
        let cut = self.b.trunc(v, Elem::I(bits));
        if signed { self.b.sext(cut, Elem::I(32)) } else { self.b.zext(cut, Elem::I(32)) }
    }
}

/// The intrinsic that rounds to an integral value.
fn rounding_intrinsic(rounding: Rounding) -> &'static str {
    match rounding {
        Rounding::Rn => "llvm.roundeven",
        Rounding::Rz => "llvm.trunc",
        Rounding::Rp => "llvm.ceil",
        Rounding::Rm => "llvm.floor",
    }
}

fn float_predicate(cond: Cond) -> LLVMRealPredicate {
    match cond {
        Cond::Oeq => LLVMRealOEQ,
        Cond::One => LLVMRealONE,
        Cond::Olt => LLVMRealOLT,
        Cond::Ole => LLVMRealOLE,
        Cond::Ogt => LLVMRealOGT,
        Cond::Oge => LLVMRealOGE,
        Cond::Ord => LLVMRealORD,
        Cond::Ueq => LLVMRealUEQ,
        Cond::Une => LLVMRealUNE,
        Cond::Ult => LLVMRealULT,
        Cond::Ule => LLVMRealULE,
        Cond::Ugt => LLVMRealUGT,
        Cond::Uge => LLVMRealUGE,
        _ => LLVMRealUNO,
    }
}
