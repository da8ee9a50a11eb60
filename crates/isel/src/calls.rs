//! Calls: work-item functions, barriers and LLVM's intrinsics.

use heddle_llvm_passes::builtins::{self, Builtin, Query};
use heddle_llvm_passes::ir::{self, Value};
use inkwell::llvm_sys::core::{LLVMGetCalledValue, LLVMIsAInlineAsm};
use rustc_hash::FxHashSet;

use super::types::{Leaf, leaves};
use super::{Parts, Selector, constants, memory};
use heddle_isa::{Cond, Inst, Op, Operand, Rounding, Special, Type};
use heddle_mir::{Bank, RegClass};

/// What an OpenCL device may do without, by the functions that clang makes of it.
fn optional_feature(name: &str) -> Option<&'static str> {
    let name = name.strip_prefix("__")?;
    let pipe = name.ends_with("_pipe") || name.contains("_pipe_");
    let enqueue = name.starts_with("enqueue_kernel") || name.starts_with("get_kernel_");
    match (pipe, enqueue) {
        (true, _) => Some("pipes are"),
        (_, true) => Some("launching kernels from kernels (blocks, enqueue_kernel) is"),
        _ => None,
    }
}

impl Selector<'_> {
    pub(super) fn call(&mut self, i: Value) {
        let Some(function) = i.called_function() else {
            // SAFETY: the callee of a live call.
            let assembly = unsafe { !LLVMIsAInlineAsm(LLVMGetCalledValue(i.0)).is_null() };
            let message = if assembly {
                "inline assembly is not supported"
            } else {
                "a call through a pointer: OpenCL C has no function pointers"
            };
            self.error(Some(i), message);
            return;
        };
        let name = function.name();
        match builtins::by_name(&name) {
            Some(Builtin::Query(q)) => return self.query(i, q),
            Some(Builtin::Barrier) => return self.synchronize(i, Op::Barrier),
            Some(Builtin::Fence) => return self.synchronize(i, Op::Fence),
            Some(Builtin::Shuffle) => {
                let (value, lane) = (self.operand(i.operand(0)), self.operand(i.operand(1)));
                // Other lanes read the register, so it is one of lanes.
                let value = self.emit(Op::Mov, Type::B32, RegClass::vector(1), [value]);
                let result = self.emit(Op::Shuffle, Type::B32, RegClass::vector(1), [value, lane]);
                return self.set1(i, result);
            }
            Some(Builtin::Ballot) => {
                let value = self.operand(i.operand(0));
                // Without a value a lane there is one bit for all.
                let value = self.emit(Op::Mov, Type::B32, RegClass::vector(1), [value]);
                let predicate = self.to_predicate(value);
                let lanes = self.emit(Op::Ballot, Type::None, RegClass::scalar(2), [predicate]);
                let result = self.emit(Op::Mov, Type::B64, RegClass::vector(2), [lanes]);
                return self.set1(i, result);
            }
            Some(Builtin::PrintfRoom) => {
                // Behind the address.
                return self.set1(i, Operand::Constant((self.printf / 4 + 2) as u8));
            }
            None => {}
        }
        if self.image_call(i, &name) || self.cache_call(i, &name) {
            return;
        }
        match name.strip_prefix("llvm.") {
            Some(intrinsic) => self.intrinsic(i, intrinsic),
            // A function that could not be inlined is reported once, for itself.
            None if !ir::blocks(function).is_empty() => {
                self.error(Some(i), format!("call of `{}`, which cannot be inlined", demangle(&name)));
            }
            None => {
                let message = match optional_feature(&name) {
                    Some(feature) => format!("{feature} not supported"),
                    None => {
                        let readable = demangle(&name);
                        format!("call of `{readable}`, which no source defines and the built-in library does not have")
                    }
                };
                self.error(Some(i), message);
            }
        }
    }

    fn synchronize(&mut self, i: Value, op: Op) {
        // CLK_LOCAL_MEM_FENCE is 1, CLK_GLOBAL_MEM_FENCE 2.
        let flags = constants::sign_extended(i.operand(0)).unwrap_or(3) as i32 & 3;
        let mut inst = Inst::new(op, Type::None, Operand::None, []);
        inst.imm = flags;
        self.push(inst);
    }

    fn query(&mut self, i: Value, q: Query) {
        let word = match q {
            Query::WorkDim => Operand::Special(Special::WorkDim),
            Query::LaneId => Operand::Special(Special::LaneId),
            Query::WarpId => Operand::Special(Special::WarpId),
            Query::NumWarps => Operand::Special(Special::NumWarps),
            Query::WarpSize => Operand::Immediate(self.warp_size),
            Query::LocalLinearId => Operand::Special(Special::LocalLinearId),
            Query::GlobalLinearId => self.global_linear_id(),
            _ => {
                let dimension = i.operand(0);
                match constants::sign_extended(dimension) {
                    Some(d) => query_special(q, d),
                    None => {
                        let d = self.operand(dimension);
                        let leaf = Leaf { bits: 32, float: false, pointer: None, offset: 0 };
                        let mut value = Operand::Immediate(q.out_of_range());
                        for k in 0..3 {
                            let hit = self.compare(Cond::Eq, Type::B32, Self::plain(d), Self::plain(Operand::Immediate(k)));
                            value = self.choose(hit, leaf, query_special(q, i64::from(k)), value);
                        }
                        value
                    }
                }
            }
        };
        // An id that is one for the whole warp (`reqd_work_group_size`) still comes in lanes.
        let word = if self.is_scalar(i) && !self.is_uniform_operand(word) { self.to_scalar(word, 1) } else { word };
        let leaf = self.leaf(i);
        if leaf.words() == 2 {
            self.low.insert(i, word);
            let wide = match word {
                Operand::Immediate(v) => self.constant_operand(u64::from(v), 2),
                w => self.pair(w, Operand::Immediate(0)),
            };
            self.set1(i, wide);
        } else {
            self.set1(i, word);
        }
    }

    fn global_linear_id(&mut self) -> Operand {
        use Special::*;
        let mut value: Option<Operand> = None;
        for (id, offset, size) in [
            (GlobalIdZ, GlobalOffsetZ, GlobalSizeY),
            (GlobalIdY, GlobalOffsetY, GlobalSizeX),
            (GlobalIdX, GlobalOffsetX, GlobalSizeX),
        ] {
            let relative = self.emit_joint(Op::Sub, Type::B32, 1, &[Operand::Special(id), Operand::Special(offset)]);
            let sum = match value {
                None => relative,
                Some(v) => self.emit_joint(Op::Add, Type::B32, 1, &[v, relative]),
            };
            value =
                Some(if id == GlobalIdX { sum } else { self.emit_joint(Op::Mul, Type::B32, 1, &[sum, Operand::Special(size)]) });
        }
        value.unwrap_or(Operand::Immediate(0))
    }

    /// Applies `f` to each leaf of the result with the operands' parts.
    fn each(&mut self, i: Value, count: u32, mut f: impl FnMut(&mut Self, Leaf, &[Operand]) -> Operand) {
        let all: Vec<Parts> = (0..count).map(|k| self.parts(i.operand(k))).collect();
        let leaves = leaves(i.ty());
        let parts = leaves
            .iter()
            .enumerate()
            .map(|(k, leaf)| {
                let args: Vec<Operand> = all.iter().map(|p| if p.len() > 1 { p[k] } else { p[0] }).collect();
                f(self, *leaf, &args)
            })
            .collect();
        self.set(i, parts);
    }

    fn intrinsic(&mut self, i: Value, name: &str) {
        // "smax.v4i32" → "smax"; "sadd.with.overflow.i32" → "sadd.with.overflow".
        let base: Vec<&str> = name.split('.').take_while(|p| !is_type_suffix(p)).collect();
        let base = base.join(".");
        match base.as_str() {
            "lifetime.start"
            | "lifetime.end"
            | "assume"
            | "dbg.declare"
            | "dbg.value"
            | "dbg.label"
            | "donothing"
            | "experimental.noalias.scope.decl"
            | "invariant.start"
            | "invariant.end"
            | "sideeffect"
            | "prefetch" => {}
            "expect" | "expect.with.probability" | "ssa.copy" | "annotation" | "launder.invariant.group" => {
                let parts = self.parts(i.operand(0));
                self.set(i, parts);
            }
            "is.constant" => self.set1(i, Operand::Immediate(0)),
            "trap" | "ubsantrap" | "debugtrap" => {
                // Control cannot go on: the block's `unreachable` follows and traps.
            }
            "fma" | "fmuladd" => self.float_intrinsic(i, 3, Op::Fma),
            "sqrt" => self.float_intrinsic(i, 1, Op::Sqrt),
            "minnum" | "minimumnum" => self.float_intrinsic(i, 2, Op::Min),
            "maxnum" | "maximumnum" => self.float_intrinsic(i, 2, Op::Max),
            "copysign" => self.float_intrinsic(i, 2, Op::Copysign),
            "floor" => self.round(i, Rounding::Rm),
            "ceil" => self.round(i, Rounding::Rp),
            "trunc" => self.round(i, Rounding::Rz),
            "rint" | "nearbyint" | "roundeven" => self.round(i, Rounding::Rn),
            "round" => self.each(i, 1, |s, leaf, a| s.round_half_away(leaf, a[0])),
            "fabs" => self.each(i, 1, |s, leaf, a| s.clear_sign(leaf, a[0])),
            "ldexp" => self.each(i, 2, |s, leaf, a| {
                let ty = leaf.float_type();
                s.emit_float(Op::Ldexp, ty, &[Self::plain(a[0]), Self::plain(a[1])])
            }),
            "frexp" => {
                let op = self.operand(i.operand(0));
                let ty = leaves(i.operand(0).ty())[0].float_type();
                let mantissa = self.emit_float(Op::FrexpMant, ty, &[Self::plain(op)]);
                let bank = self.joint_bank(&[op]);
                let exponent = self.emit(Op::FrexpExp, ty, RegClass { bank, words: 1 }, [op]);
                self.set(i, smallvec::smallvec![mantissa, exponent]);
            }
            "sin" | "cos" | "exp2" | "log2" | "exp" | "log" | "log10" => self.approximate(i, &base),
            "minimum" | "maximum" => {
                // NaN operands give NaN, unlike minNum.
                let op = if base == "minimum" { Op::Min } else { Op::Max };
                self.each(i, 2, |s, leaf, a| {
                    let ty = leaf.float_type();
                    let (x, y) = (Self::plain(a[0]), Self::plain(a[1]));
                    let chosen = s.emit_float(op, ty, &[x, y]);
                    let sum = s.emit_float(Op::Add, ty, &[x, y]);
                    let nan = s.compare(Cond::Uno, ty, x, y);
                    s.choose(nan, leaf, sum, chosen)
                });
            }
            "is.fpclass" => self.float_class(i),
            "abs" => self.each(i, 1, |s, leaf, a| {
                let (op, ty) = s.widened(leaf, a[0], true);
                s.emit_joint(Op::Abs, ty, leaf.words(), &[op])
            }),
            "smin" | "smax" | "umin" | "umax" => self.each(i, 2, |s, leaf, a| s.extreme(&base, leaf, a[0], a[1])),
            "vector.reduce.smin" | "vector.reduce.smax" | "vector.reduce.umin" | "vector.reduce.umax" => {
                let parts = self.parts(i.operand(0));
                let (leaf, which) = (self.leaf(i), &base["vector.reduce.".len()..]);
                let result = parts[1..].iter().fold(parts[0], |all, part| self.extreme(which, leaf, all, *part));
                self.set1(i, result);
            }
            "sadd.sat" | "uadd.sat" | "ssub.sat" | "usub.sat" => {
                let signed = base.starts_with('s');
                let op = if base.contains("add") { Op::Add } else { Op::Sub };
                self.each(i, 2, |s, leaf, a| s.saturating(op, leaf, a[0], a[1], signed));
            }
            "sadd.with.overflow" | "uadd.with.overflow" | "ssub.with.overflow" | "usub.with.overflow" | "smul.with.overflow"
            | "umul.with.overflow" => self.with_overflow(i, &base),
            "ctlz" | "cttz" => self.each(i, 1, |s, leaf, a| s.count_zeros(leaf, a[0], base == "ctlz")),
            "ctpop" => self.each(i, 1, |s, leaf, a| {
                let (op, _) = s.widened(leaf, a[0], false);
                s.one_word_count(Op::Popc, leaf, op)
            }),
            "bswap" => self.each(i, 1, |s, leaf, a| s.reverse(Op::Bswap, leaf, a[0])),
            "bitreverse" => self.each(i, 1, |s, leaf, a| s.reverse(Op::Brev, leaf, a[0])),
            "fshl" | "fshr" => self.each(i, 3, |s, leaf, a| s.funnel_shift(leaf, a, base == "fshl")),
            "fptosi.sat" | "fptoui.sat" => {
                let signed = base.starts_with("fptosi");
                let from = leaves(i.operand(0).ty())[0];
                self.each(i, 1, |s, leaf, a| s.float_to_integer_saturating(a[0], from, leaf, signed));
            }
            "memcpy" | "memcpy.inline" | "memmove" => {
                let Some(size) = constants::sign_extended(i.operand(2)) else {
                    self.error(Some(i), format!("`{base}` of a size that is not a constant is not supported"));
                    return;
                };
                // The padding of structures, for one: LLVM splits it from the fields and still copies it.
                if memory::never_written(i.operand(1), &mut FxHashSet::default()) {
                    return;
                }
                let align = self.argument_align(i, 0).min(self.argument_align(i, 1));
                let (to, from) = (self.address(i.operand(0)), self.address(i.operand(1)));
                self.copy_bytes(&to, &from, size as u32, align);
            }
            "memset" | "memset.inline" => self.memset(i),
            "vector.reduce.add" | "vector.reduce.mul" | "vector.reduce.and" | "vector.reduce.or" | "vector.reduce.xor" => {
                let op = match base.as_str() {
                    "vector.reduce.add" => Op::Add,
                    "vector.reduce.mul" => Op::Mul,
                    "vector.reduce.and" => Op::And,
                    "vector.reduce.or" => Op::Or,
                    _ => Op::Xor,
                };
                self.reduce(i, op);
            }
            _ => self.error(Some(i), format!("unsupported intrinsic `llvm.{name}`")),
        }
    }

    fn float_intrinsic(&mut self, i: Value, arity: u32, op: Op) {
        let leaves = leaves(i.ty());
        if let [leaf] = leaves[..] {
            let sources: Vec<_> = (0..arity).map(|k| self.float_source(i.operand(k))).collect();
            let result = self.emit_float(op, leaf.float_type(), &sources);
            self.set1(i, result);
        } else {
            self.each(i, arity, |s, leaf, a| {
                let sources: Vec<_> = a.iter().map(|o| Self::plain(*o)).collect();
                s.emit_float(op, leaf.float_type(), &sources)
            });
        }
    }

    fn round(&mut self, i: Value, rounding: Rounding) {
        self.each(i, 1, |s, leaf, a| s.round_to(leaf, a[0], rounding));
    }

    fn round_to(&mut self, leaf: Leaf, op: Operand, rounding: Rounding) -> Operand {
        let ty = leaf.float_type();
        let bank = self.joint_bank(&[op]);
        let dst = Operand::virt(self.f.add_vreg(RegClass { bank, words: ty.words() }));
        let mut inst = Inst::new(Op::Round, ty, dst, [op]);
        inst.mods.rounding = rounding;
        self.push(inst);
        dst
    }

    /// Round half away from zero: `t = trunc(x); |x - t| >= 0.5 ? t + copysign(1, x) : t`; exact because x - t is.
    fn round_half_away(&mut self, leaf: Leaf, x: Operand) -> Operand {
        let ty = leaf.float_type();
        let constant = |s: &mut Self, value: f64| match ty {
            Type::F16 => Operand::Immediate(u32::from(half::f16::from_f64(value).to_bits())),
            Type::F32 => Operand::Immediate((value as f32).to_bits()),
            _ => s.constant_operand(value.to_bits(), 2),
        };
        let t = self.round_to(leaf, x, Rounding::Rz);
        let mut negated = Self::plain(t);
        negated.neg = true;
        let rest = self.emit_float(Op::Add, ty, &[Self::plain(x), negated]);
        let half = constant(self, 0.5);
        let mut magnitude = Self::plain(rest);
        magnitude.abs = true;
        let up = self.compare(Cond::Oge, ty, magnitude, Self::plain(half));
        let one = constant(self, 1.0);
        let zero = constant(self, 0.0);
        let step = self.choose(up, leaf, one, zero);
        let step = self.emit_float(Op::Copysign, ty, &[Self::plain(step), Self::plain(x)]);
        let sum = self.emit_float(Op::Add, ty, &[Self::plain(t), Self::plain(step)]);
        // -0.3 rounds to -0, which adding +0 would lose; the sign is the argument's always.
        self.emit_float(Op::Copysign, ty, &[Self::plain(sum), Self::plain(x)])
    }

    fn clear_sign(&mut self, leaf: Leaf, op: Operand) -> Operand {
        match leaf.bits {
            16 => self.and32(op, 0x7fff),
            32 => self.and32(op, 0x7fff_ffff),
            _ => {
                let (low, high) = self.halves(op);
                let high = self.and32(high, 0x7fff_ffff);
                self.pair(low, high)
            }
        }
    }

    /// The special-function unit's operations. They are what `native_` built-ins and half-precision ask for; libclc writes the
    /// correctly bounded functions out.
    fn approximate(&mut self, i: Value, base: &str) {
        const LN_2: f32 = std::f32::consts::LN_2;
        const LOG2_E: f32 = std::f32::consts::LOG2_E;
        const LOG10_2: f32 = std::f32::consts::LOG10_2;
        let wide = leaves(i.ty()).iter().any(|l| l.bits == 64);
        if wide {
            self.error(
                Some(i),
                format!("`llvm.{base}` in double precision: the machine has the approximation in single precision only"),
            );
            return;
        }
        let base = base.to_string();
        self.each(i, 1, |s, leaf, a| {
            let x = if leaf.bits == 16 { s.convert(a[0], Type::F16, Type::F32, Rounding::Rn) } else { a[0] };
            let one = |s: &mut Self, op: Op, x: Operand| s.emit_float(op, Type::F32, &[Self::plain(x)]);
            let times = |s: &mut Self, x: Operand, c: f32| {
                s.emit_float(Op::Mul, Type::F32, &[Self::plain(x), Self::plain(Operand::Immediate(c.to_bits()))])
            };
            let y = match base.as_str() {
                "sin" => one(s, Op::Sin, x),
                "cos" => one(s, Op::Cos, x),
                "exp2" => one(s, Op::Ex2, x),
                "log2" => one(s, Op::Lg2, x),
                "exp" => {
                    let t = times(s, x, LOG2_E);
                    one(s, Op::Ex2, t)
                }
                "log" => {
                    let t = one(s, Op::Lg2, x);
                    times(s, t, LN_2)
                }
                _ => {
                    let t = one(s, Op::Lg2, x);
                    times(s, t, LOG10_2)
                }
            };
            if leaf.bits == 16 { s.convert(y, Type::F32, Type::F16, Rounding::Rn) } else { y }
        });
    }

    /// `llvm.is.fpclass`: tests on the bits of the absolute value and the sign.
    fn float_class(&mut self, i: Value) {
        let mask = constants::sign_extended(i.operand(1)).unwrap_or(0) as u32;
        let all = self.parts(i.operand(0));
        let from = leaves(i.operand(0).ty());
        let mut parts = Parts::new();
        for (leaf, x) in from.iter().zip(all) {
            parts.push(self.float_class_of(*leaf, x, mask));
        }
        self.set(i, parts);
    }

    fn float_class_of(&mut self, leaf: Leaf, x: Operand, mask: u32) -> Operand {
        // Of 64-bit values the high word decides, with the low word folded into a sticky bit below the mantissa's part there.
        let (bits, infinity, quiet, smallest_normal) = match leaf.bits {
            16 => (self.and32(x, 0xffff), 0x7c00u32, 0x7e00u32, 0x0400u32),
            32 => (x, 0x7f80_0000, 0x7fc0_0000, 0x0080_0000),
            _ => {
                let (low, high) = self.halves(x);
                let sticky = self.compare(Cond::Ne, Type::B32, Self::plain(low), Self::plain(Operand::Immediate(0)));
                let word = Leaf { bits: 32, float: false, pointer: None, offset: 0 };
                let sticky = self.choose(sticky, word, Operand::Immediate(1), Operand::Immediate(0));
                (self.emit_joint(Op::Or, Type::B32, 1, &[high, sticky]), 0x7ff0_0000, 0x7ff8_0000, 0x0010_0000)
            }
        };
        let sign_bit = if leaf.bits == 16 { 0x8000 } else { 0x8000_0000 };
        let magnitude = self.and32(bits, sign_bit - 1);
        // (class bits negative, positive, lowest magnitude, highest magnitude)
        let classes = [
            (1 << 2, 1 << 9, infinity, infinity),
            (1 << 3, 1 << 8, smallest_normal, infinity - 1),
            (1 << 4, 1 << 7, 1, smallest_normal - 1),
            (1 << 5, 1 << 6, 0, 0),
        ];
        let mut result: Option<Operand> = None;
        let add = |s: &mut Self, test: Operand, result: &mut Option<Operand>| {
            *result = Some(match *result {
                None => test,
                Some(r) => s.logic(Op::Or, r, test),
            });
        };
        let range = |s: &mut Self, value: Operand, low: u32, high: u32| {
            let shifted = s.add32(value, Operand::Immediate(low.wrapping_neg()));
            s.compare(Cond::Le, Type::U32, Self::plain(shifted), Self::plain(Operand::Immediate(high - low)))
        };
        for (negative, positive, low, high) in classes {
            match (mask & negative != 0, mask & positive != 0) {
                (false, false) => {}
                (true, true) => {
                    let t = range(self, magnitude, low, high);
                    add(self, t, &mut result);
                }
                (n, _) => {
                    let base = if n { sign_bit } else { 0 };
                    let t = range(self, bits, base | low, base | high);
                    add(self, t, &mut result);
                }
            }
        }
        let top = sign_bit - 1;
        for (bit, low, high) in [(1, infinity + 1, quiet - 1), (2, quiet, top)] {
            if mask & bit != 0 {
                let t = range(self, magnitude, low, high);
                add(self, t, &mut result);
            }
        }
        result.unwrap_or(Operand::Immediate(0))
    }

    /// Logic on bits, in predicates or scalar words.
    pub(super) fn logic(&mut self, op: Op, a: Operand, b: Operand) -> Operand {
        if self.joint_bank(&[a, b]) == Bank::Scalar {
            return self.emit(op, Type::B32, RegClass::scalar(1), [a, b]);
        }
        let (a, b) = (self.to_predicate(a), self.to_predicate(b));
        self.emit(op, Type::Pred, RegClass::PREDICATE, [a, b])
    }

    /// An integer leaf with defined upper bits, and the signed or unsigned machine type of its register.
    fn widened(&mut self, leaf: Leaf, op: Operand, signed: bool) -> (Operand, Type) {
        let ty = match (leaf.words(), signed) {
            (2, true) => Type::S64,
            (2, false) => Type::U64,
            (_, true) => Type::S32,
            (_, false) => Type::U32,
        };
        let op = match (leaf.words(), op) {
            (2, _) => self.extend_wide(op, leaf.bits, signed),
            (0, _) => self.bit_to_word(op),
            (_, Operand::Immediate(_)) => self.extend(self.value, op, leaf.bits, signed),
            _ => self.extend_bits(op, leaf.bits, signed),
        };
        (op, ty)
    }

    fn saturating(&mut self, op: Op, leaf: Leaf, a: Operand, b: Operand, signed: bool) -> Operand {
        let (x, ty) = self.widened(leaf, a, signed);
        let (y, _) = self.widened(leaf, b, signed);
        let native = leaf.bits == 32 || leaf.bits == 64;
        if native {
            let bank = self.joint_bank(&[x, y]);
            let dst = Operand::virt(self.f.add_vreg(RegClass { bank, words: ty.words() }));
            let mut inst = Inst::new(op, ty, dst, [x, y]);
            inst.mods.saturate = true;
            self.push(inst);
            return dst;
        }
        // Narrow: exact in 32 bits, then clamped. Unsigned subtraction may be negative, so it clamps as signed.
        let sum = self.emit_joint(op, Type::B32, 1, &[x, y]);
        let bits = leaf.bits;
        let (low, high) = if signed { (-(1i64 << (bits - 1)), (1i64 << (bits - 1)) - 1) } else { (0, (1i64 << bits) - 1) };
        let up = self.emit_joint(Op::Max, Type::S32, 1, &[sum, Operand::Immediate(low as u32)]);
        self.emit_joint(Op::Min, Type::S32, 1, &[up, Operand::Immediate(high as u32)])
    }

    fn with_overflow(&mut self, i: Value, base: &str) {
        let leaf = leaves(i.operand(0).ty())[0];
        let signed = base.starts_with('s');
        let (a, b) = (self.operand(i.operand(0)), self.operand(i.operand(1)));
        let (x, ty) = self.widened(leaf, a, signed);
        let (y, _) = self.widened(leaf, b, signed);
        let words = leaf.words();
        let bits_type = leaf.bit_type();
        let plain = Self::plain;
        let (result, overflow) = if leaf.bits < 32 {
            // Exact in 32 bits for sums, and for products of up to 16 bits.
            let op = match &base[1..4] {
                "add" => Op::Add,
                "sub" => Op::Sub,
                _ => Op::Mul,
            };
            let wide = self.emit_joint(op, Type::B32, 1, &[x, y]);
            let back = self.extend_bits(wide, leaf.bits, signed);
            let overflow = self.compare(Cond::Ne, Type::B32, plain(wide), plain(back));
            (wide, overflow)
        } else {
            match &base[1..4] {
                "mul" => {
                    let low = self.emit_joint(Op::Mul, bits_type, words, &[x, y]);
                    let high = self.emit_joint(Op::MulHi, ty, words, &[x, y]);
                    let expected = if signed {
                        let amount = Operand::Immediate(leaf.bits - 1);
                        self.emit_joint(Op::Shr, ty, words, &[low, amount])
                    } else {
                        Operand::Immediate(0)
                    };
                    let overflow = self.compare(Cond::Ne, bits_type, plain(high), plain(expected));
                    (low, overflow)
                }
                kind => {
                    let add = kind == "add";
                    let op = if add { Op::Add } else { Op::Sub };
                    let sum = self.emit_joint(op, bits_type, words, &[x, y]);
                    let overflow = if signed {
                        // The saturated result differs exactly when it overflowed.
                        let bank = self.joint_bank(&[x, y]);
                        let dst = Operand::virt(self.f.add_vreg(RegClass { bank, words }));
                        let mut inst = Inst::new(op, ty, dst, [x, y]);
                        inst.mods.saturate = true;
                        self.push(inst);
                        self.compare(Cond::Ne, bits_type, plain(dst), plain(sum))
                    } else if add {
                        self.compare(Cond::Lt, ty, plain(sum), plain(x))
                    } else {
                        self.compare(Cond::Lt, ty, plain(x), plain(y))
                    };
                    (sum, overflow)
                }
            }
        };
        self.set(i, smallvec::smallvec![result, overflow]);
    }

    fn one_word_count(&mut self, op: Op, leaf: Leaf, x: Operand) -> Operand {
        self.emit_joint(op, leaf.bit_type(), leaf.words().max(1), &[x])
    }

    fn count_zeros(&mut self, leaf: Leaf, x: Operand, leading: bool) -> Operand {
        let native = leaf.bits == 32 || leaf.bits == 64;
        if native {
            return self.one_word_count(if leading { Op::Clz } else { Op::Ctz }, leaf, x);
        }
        let width = if leaf.words() == 2 { 64 } else { 32 };
        if leading {
            let (x, _) = self.widened(leaf, x, false);
            let count = self.one_word_count(Op::Clz, leaf, x);
            let difference = Operand::Immediate((leaf.bits as i32 - width) as u32);
            if width == 32 {
                return self.add32(count, difference);
            }
            return self.emit_joint(Op::Add, Type::B64, 2, &[count, difference]);
        }
        // A bit just above the value stops the count there.
        if width == 32 {
            let marked = self.emit_joint(Op::Or, Type::B32, 1, &[x, Operand::Immediate(1 << leaf.bits)]);
            return self.one_word_count(Op::Ctz, leaf, marked);
        }
        let marker = self.constant_operand(1 << leaf.bits, 2);
        let marked = self.emit_joint(Op::Or, Type::B64, 2, &[x, marker]);
        self.one_word_count(Op::Ctz, leaf, marked)
    }

    fn reverse(&mut self, op: Op, leaf: Leaf, x: Operand) -> Operand {
        let full = self.emit_joint(op, leaf.bit_type(), leaf.words().max(1), &[x]);
        match leaf.bits {
            32 | 64 => full,
            bits if bits < 32 => self.emit_joint(Op::Shr, Type::U32, 1, &[full, Operand::Immediate(32 - bits)]),
            bits => self.emit_joint(Op::Shr, Type::U64, 2, &[full, Operand::Immediate(64 - bits)]),
        }
    }

    fn funnel_shift(&mut self, leaf: Leaf, a: &[Operand], left: bool) -> Operand {
        let op = if left { Op::Fshl } else { Op::Fshr };
        if leaf.bits == 32 || leaf.bits == 64 {
            let amount = if leaf.bits == 64 { self.halves(a[2]).0 } else { a[2] };
            return self.emit_joint(op, leaf.bit_type(), leaf.words(), &[a[0], a[1], amount]);
        }
        if leaf.bits > 32 {
            self.error(None, format!("a funnel shift of {} bits is not supported", leaf.bits));
            return Operand::Immediate(0);
        }
        // Narrow: shift the concatenation in one word (two of at most 16 bits), or through 64 bits for odd widths.
        let bits = leaf.bits;
        let (amount, _) = self.widened(leaf, a[2], false);
        let amount = if bits.is_power_of_two() {
            self.and32(amount, bits - 1)
        } else {
            self.emit_joint(Op::Rem, Type::U32, 1, &[amount, Operand::Immediate(bits)])
        };
        let (low, _) = self.widened(leaf, a[1], false);
        if bits > 16 {
            let (high, _) = self.widened(leaf, a[0], false);
            let (high, low) = (self.pair(high, Operand::Immediate(0)), self.pair(low, Operand::Immediate(0)));
            let up = self.emit_joint(Op::Shl, Type::B64, 2, &[high, Operand::Immediate(bits)]);
            let both = self.emit_joint(Op::Or, Type::B64, 2, &[up, low]);
            let shifted = if left {
                let by = self.emit_joint(Op::Sub, Type::B32, 1, &[Operand::Immediate(bits), amount]);
                self.emit_joint(Op::Shr, Type::U64, 2, &[both, by])
            } else {
                self.emit_joint(Op::Shr, Type::U64, 2, &[both, amount])
            };
            return self.halves(shifted).0;
        }
        let up = self.emit_joint(Op::Shl, Type::B32, 1, &[a[0], Operand::Immediate(bits)]);
        let both = self.emit_joint(Op::Or, Type::B32, 1, &[up, low]);
        if left {
            let by = self.emit_joint(Op::Sub, Type::B32, 1, &[Operand::Immediate(bits), amount]);
            self.emit_joint(Op::Shr, Type::U32, 1, &[both, by])
        } else {
            self.emit_joint(Op::Shr, Type::U32, 1, &[both, amount])
        }
    }

    fn memset(&mut self, i: Value) {
        let Some(size) = constants::sign_extended(i.operand(2)) else {
            self.error(Some(i), "`memset` of a size that is not a constant is not supported");
            return;
        };
        let byte = self.operand(i.operand(1));
        let low = self.and32(byte, 0xff);
        let word = match low {
            Operand::Immediate(v) => self.materialize(u64::from(v * 0x0101_0101), 1),
            other => self.emit_joint(Op::Mul, Type::B32, 1, &[other, Operand::Immediate(0x0101_0101)]),
        };
        let bank = self.joint_bank(&[word]);
        let wide = self.emit(Op::Tuple, Type::B128, RegClass { bank, words: 4 }, [word; 4]);
        let to = self.address(i.operand(0));
        let offset = self.offset(&to);
        let align = self.argument_align(i, 0).clamp(1, 16);
        let mut at = 0;
        while at < size as u32 {
            let mut bytes = align;
            while at % bytes != 0 || at + bytes > size as u32 {
                bytes /= 2;
            }
            self.store_bytes(&to, offset, at, bytes, wide);
            at += bytes;
        }
    }

    /// `smin`, `smax`, `umin` or `umax` of two integers.
    fn extreme(&mut self, which: &str, leaf: Leaf, a: Operand, b: Operand) -> Operand {
        let signed = which.starts_with('s');
        let op = if which.ends_with("min") { Op::Min } else { Op::Max };
        let (x, ty) = self.widened(leaf, a, signed);
        let (y, _) = self.widened(leaf, b, signed);
        self.emit_joint(op, ty, leaf.words(), &[x, y])
    }

    fn reduce(&mut self, i: Value, op: Op) {
        let parts = self.parts(i.operand(0));
        let leaf = leaves(i.ty())[0];
        let mut result = parts[0];
        for part in &parts[1..] {
            result = if leaf.words() == 0 {
                let op = if op == Op::Add {
                    Op::Xor
                } else if op == Op::Mul {
                    Op::And
                } else {
                    op
                };
                self.logic(op, result, *part)
            } else {
                self.emit_joint(op, leaf.bit_type(), leaf.words(), &[result, *part])
            };
        }
        self.set1(i, result);
    }
}

/// Whether a piece of an intrinsic's name is a type: `i32`, `v4f32`, `p1`, `f64`.
fn is_type_suffix(piece: &str) -> bool {
    let digits = |s: &str| !s.is_empty() && s.bytes().all(|b| b.is_ascii_digit());
    let scalar = |s: &str| ["i", "f", "p", "bf"].iter().any(|k| s.strip_prefix(k).is_some_and(digits));
    scalar(piece)
        || piece.strip_prefix('v').is_some_and(|rest| {
            let n = rest.bytes().take_while(u8::is_ascii_digit).count();
            n > 0 && scalar(&rest[n..])
        })
}

/// The special register that answers a query in a dimension.
fn query_special(q: Query, dimension: i64) -> Operand {
    use Special::*;
    let table = match q {
        Query::GlobalId => [GlobalIdX, GlobalIdY, GlobalIdZ],
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

/// The plain name inside an Itanium-mangled one: `_Z3foof` → `foo`.
fn demangle(name: &str) -> String {
    let Some(rest) = name.strip_prefix("_Z") else { return name.to_string() };
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    match rest[..digits].parse::<usize>() {
        Ok(n) if digits + n <= rest.len() => rest[digits..digits + n].to_string(),
        _ => name.to_string(),
    }
}
