//! Atomics as LLVM IR, and loops over lanes.
//!
//! Lanes take their turns in order, as in the interpreter. On device memory each is one atomic of the host. A
//! work-group's memory belongs to the host thread that runs the work-group: there, plain loads and stores do.
//! Where all lanes add to one place and nobody asks for what was there, they add at once. Where the host thread has a copy of
//! the place for itself ([`super::sums`]), plain loads and stores do, too.

use std::mem::size_of;

use inkwell::llvm_sys::LLVMAtomicRMWBinOp::{self, *};
use inkwell::llvm_sys::LLVMIntPredicate::*;

use super::access::Target;
use super::build::{Elem, V, Val};
use super::places::{self, known};
use super::translate::{Site, Translator};
use heddle_isa::{AtomicOp, MemorySpace, Type};

/// Vectors of 64 bits a lane that a loop over lanes may have: offset, two of data, result.
pub(super) const SCRATCH: usize = 4;

/// What the host does for an atomic on integers; `None` for compare and exchange.
fn host_operation(op: AtomicOp, ty: Type) -> Option<LLVMAtomicRMWBinOp> {
    let signed = matches!(ty, Type::S32 | Type::S64);
    Some(match op {
        AtomicOp::Add => LLVMAtomicRMWBinOpAdd,
        AtomicOp::Sub => LLVMAtomicRMWBinOpSub,
        AtomicOp::Xchg => LLVMAtomicRMWBinOpXchg,
        AtomicOp::And => LLVMAtomicRMWBinOpAnd,
        AtomicOp::Or => LLVMAtomicRMWBinOpOr,
        AtomicOp::Xor => LLVMAtomicRMWBinOpXor,
        AtomicOp::Min if signed => LLVMAtomicRMWBinOpMin,
        AtomicOp::Max if signed => LLVMAtomicRMWBinOpMax,
        AtomicOp::Min => LLVMAtomicRMWBinOpUMin,
        AtomicOp::Max => LLVMAtomicRMWBinOpUMax,
        AtomicOp::Inc => LLVMAtomicRMWBinOpUIncWrap,
        AtomicOp::Dec => LLVMAtomicRMWBinOpUDecWrap,
        AtomicOp::CmpXchg => return None,
    })
}

/// The floating type of an atomic's values.
fn float(ty: Type) -> Option<Elem> {
    match ty {
        Type::F32 => Some(Elem::F32),
        Type::F64 => Some(Elem::F64),
        _ => None,
    }
}

impl Translator<'_> {
    /// Does `body` for each active lane, in their order, with the lane's number (64 bits) and its elements of `vectors`.
    pub(super) fn each_lane(&self, s: &Site, vectors: &[V], body: impl FnOnce(V, &[V])) {
        self.each_of(s.active, vectors, body);
    }

    /// The same for these lanes, or all.
    pub(super) fn each_of(&self, lanes: Option<V>, vectors: &[V], body: impl FnOnce(V, &[V])) {
        let b = &self.b;
        let places: Vec<(V, Elem)> = vectors.iter().zip(self.scratch).map(|(v, place)| (place, b.element_of(*v))).collect();
        for (v, (place, _)) in vectors.iter().zip(&places) {
            b.store(*v, *place, 64);
        }
        b.store(lanes.unwrap_or_else(|| self.all()), self.lanes_left, 1);
        let [head, lane, done] = [(); 3].map(|()| self.new_block());
        b.jump(head);
        b.at(head);
        let left = self.read_mask(self.lanes_left);
        b.branch(b.icmp(LLVMIntNE, left, b.int(b.n, 0)), lane, done);
        b.at(lane);
        let number = b.resize(b.intrinsic_of("llvm.cttz", &[left, b.int(1, 1)]), 64);
        b.store(b.and(left, b.sub(left, b.int(b.n, 1))), self.lanes_left, 1);
        let of_lane: Vec<V> =
            places.iter().map(|(place, e)| b.load(b.elem(*e), b.element(*place, *e, number), e.bytes())).collect();
        body(number, &of_lane);
        b.jump(head);
        b.at(done);
    }

    /// Translates an atomic; false: it has to be interpreted.
    pub(super) fn atomic(&self, s: &Site) -> bool {
        let b = &self.b;
        let (ty, op) = (s.inst.ty, s.inst.mods.atomic);
        let bytes = u64::from(ty.bytes());
        let bits = 8 * ty.bytes();
        if matches!(ty, Type::F32 | Type::F64) && !matches!(op, AtomicOp::Add | AtomicOp::Sub) {
            return false;
        }
        let Some(t) = self.target(s, bytes) else { return false };
        let words = ty.words();
        let operand = |first: u8| match words {
            1 => self.word(s, 2, first),
            _ => self.joined(self.word(s, 2, first), self.word(s, 2, first + 1)),
        };
        let data = operand(0);
        let replacement = (op == AtomicOp::CmpXchg).then(|| operand(words));
        let done = self.new_block();
        let apart = self.kept_apart(s);
        let sums = matches!(op, AtomicOp::Add | AtomicOp::Sub) && !ty.is_float() && !s.inst.dst.is_some();
        if let (Val::Same(offset), true) = (t.offset, sums) {
            let other = self.form(b.and(self.good(&t, offset, bytes), self.any(s)), true);
            let mut all = b.lanes(data);
            if s.active.is_some() {
                all = b.select(self.active_lanes(s), all, b.splat(b.int(bits, 0)));
            }
            let sum = b.intrinsic_of("llvm.vector.reduce.add", &[all]);
            if let Some(pointer) = apart {
                let none = self.form(b.is_some(pointer), false);
                self.updated_plainly(s, self.at(&t.moved_to(pointer), offset), sum, None);
                self.next_form(done, none);
            }
            self.updated_place(s, self.at(&t, offset), sum, None);
            self.next_form(done, other);
        } else {
            let offset = b.lanes(t.offset);
            let other = self.form(self.scattered(s, &t, offset, bytes), true);
            if let Some(pointer) = apart {
                let none = self.form(b.is_some(pointer), false);
                self.lanes_apart(s, &t.moved_to(pointer), offset, data);
                self.next_form(done, none);
            }
            self.lanes_in_turn(s, &t, offset, data, replacement);
            self.next_form(done, other);
        }
        self.interpret(s);
        b.jump(done);
        b.at(done);
        true
    }

    /// An atomic of each lane.
    fn lanes_in_turn(&self, s: &Site, t: &Target, offset: V, data: Val, replacement: Option<Val>) {
        let b = &self.b;
        let bits = 8 * s.inst.ty.bytes();
        let mut vectors = vec![offset];
        vectors.extend([Some(data), replacement].into_iter().flatten().filter_map(|v| match v {
            Val::Lanes(v) => Some(v),
            Val::Same(_) => None,
        }));
        let results = self.scratch[SCRATCH - 1];
        self.each_lane(s, &vectors, |lane, of_lane| {
            let mut rest = of_lane[1..].iter().copied();
            let mut value = |v: Val| match v {
                Val::Same(v) => v,
                Val::Lanes(_) => rest.next().unwrap_or_else(|| b.int(bits, 0)),
            };
            let data = value(data);
            let replacement = replacement.map(value);
            let old = self.updated_place(s, self.at(t, of_lane[0]), data, replacement);
            if s.inst.dst.is_some() {
                b.store(old, b.element(results, Elem::I(bits), lane), bits / 8);
            }
        });
        if s.inst.dst.is_some() {
            let v = b.load(b.vector(Elem::I(bits), b.n), results, 64);
            self.write(s, &self.words_of_int(Val::Lanes(v), bits));
        }
    }

    /// Where the host thread has what an access counts from (the target's pointer), if it may have a copy; null if it has none.
    fn kept_apart(&self, s: &Site) -> Option<V> {
        let b = &self.b;
        let number = known(self.program, s.index).filter(|_| self.apart)?;
        let number = places::number(self.program, &self.bases, number)?;
        Some(b.load_invariant(b.pointer(), b.field(self.tables.sums, number * size_of::<usize>()), 8))
    }

    /// Each lane's operation on the host thread's copy.
    fn lanes_apart(&self, s: &Site, t: &Target, offset: V, data: Val) {
        let b = &self.b;
        let done = self.new_block();
        let some = s.active.map(|m| self.form(b.icmp(LLVMIntEQ, m, self.all()), true));
        // By way of memory, which the compiler must not notice: processors that guess from an address's registers whether a load
        // wants what was stored last (Zen 4) guess wrong again and again where lanes' offsets come from vectors directly.
        let [offsets, values, ..] = self.scratch;
        b.store(offset, offsets, 64);
        if let Val::Lanes(data) = data {
            b.store(data, values, 64);
        }
        let e = Elem::I(8 * s.inst.ty.bytes());
        for lane in (0..b.n).map(|lane| b.int(64, u64::from(lane))) {
            let of_lane = |at: V, e: Elem| b.load_device(b.elem(e), b.element(at, e, lane), e.bytes());
            let value = match data {
                Val::Lanes(_) => of_lane(values, e),
                Val::Same(v) => v,
            };
            self.updated_plainly(s, self.at(t, of_lane(offsets, Elem::I(32))), value, None);
        }
        if let Some(some) = some {
            self.next_form(done, some);
            self.each_lane(s, &[offset, b.lanes(data)], |_, of_lane| {
                self.updated_plainly(s, self.at(t, of_lane[0]), of_lane[1], None);
            });
        }
        b.jump(done);
        b.at(done);
    }

    /// One atomic: returns what was at `p`.
    fn updated_place(&self, s: &Site, p: V, data: V, replacement: Option<V>) -> V {
        let b = &self.b;
        let (ty, op) = (s.inst.ty, s.inst.mods.atomic);
        if s.inst.mods.space != Some(MemorySpace::Local) {
            if let Some(replacement) = replacement {
                return b.compare_exchange(p, data, replacement);
            }
            return match (float(ty), host_operation(op, ty)) {
                (Some(e), _) => {
                    let operation = if op == AtomicOp::Sub { LLVMAtomicRMWBinOpFSub } else { LLVMAtomicRMWBinOpFAdd };
                    self.cast(b.atomic(operation, p, self.cast(data, e)), Elem::I(8 * ty.bytes()))
                }
                (None, Some(operation)) => b.atomic(operation, p, data),
                (None, None) => data,
            };
        }
        self.updated_plainly(s, p, data, replacement)
    }

    /// A scalar's bits as another type.
    fn cast(&self, v: V, e: Elem) -> V {
        match self.b.bitcast(Val::Same(v), e) {
            Val::Same(v) | Val::Lanes(v) => v,
        }
    }

    /// The same where nobody else accesses the place.
    fn updated_plainly(&self, s: &Site, p: V, data: V, replacement: Option<V>) -> V {
        let b = &self.b;
        let (ty, op) = (s.inst.ty, s.inst.mods.atomic);
        let (float, bits) = (float(ty), 8 * ty.bytes());
        let cast = |v: V, e: Elem| self.cast(v, e);
        let old = b.load(b.elem(Elem::I(bits)), p, bits / 8);
        let pick = |c: V, x: V, y: V| b.select(c, x, y);
        let (zero, one) = (b.int(bits, 0), b.int(bits, 1));
        let new = match (op, float) {
            (AtomicOp::Add, Some(e)) => cast(b.fadd(cast(old, e), cast(data, e)), Elem::I(bits)),
            (AtomicOp::Sub, Some(e)) => cast(b.fsub(cast(old, e), cast(data, e)), Elem::I(bits)),
            (AtomicOp::Add, None) => b.add(old, data),
            (AtomicOp::Sub, None) => b.sub(old, data),
            (AtomicOp::Xchg, _) => data,
            (AtomicOp::And, _) => b.and(old, data),
            (AtomicOp::Or, _) => b.or(old, data),
            (AtomicOp::Xor, _) => b.xor(old, data),
            (AtomicOp::Min | AtomicOp::Max, _) => {
                let signed = matches!(ty, Type::S32 | Type::S64);
                let name = match (op, signed) {
                    (AtomicOp::Min, true) => "llvm.smin",
                    (AtomicOp::Min, false) => "llvm.umin",
                    (_, true) => "llvm.smax",
                    (_, false) => "llvm.umax",
                };
                b.intrinsic_of(name, &[old, data])
            }
            (AtomicOp::Inc, _) => pick(b.icmp(LLVMIntUGE, old, data), zero, b.add(old, one)),
            (AtomicOp::Dec, _) => {
                let wraps = b.or(b.icmp(LLVMIntEQ, old, zero), b.icmp(LLVMIntUGT, old, data));
                pick(wraps, data, b.sub(old, one))
            }
            (AtomicOp::CmpXchg, _) => pick(b.icmp(LLVMIntEQ, old, data), replacement.unwrap_or(data), old),
        };
        b.store(new, p, bits / 8);
        old
    }
}
