//! Loads and stores as LLVM IR.
//!
//! An access first asks whether it is of a frequent form: lanes one behind the other (one vector access), all
//! lanes at one place (one scalar load), or all within one allocation (gather and scatter). Everything is
//! checked before it is touched: bounds, alignment. What fits no form, and every fault, goes to the
//! interpreter's function for the instruction, which finds the allocation and reports.

use std::mem::{offset_of, size_of};

use inkwell::llvm_sys::LLVMIntPredicate::*;

use super::Frame;
use super::build::{Block, Elem, V, Val};
use super::translate::{Site, Translator};
use crate::Descriptor;
use crate::exec::RANGES;
use heddle_isa::{AddressMode, MemorySpace, SurfacePlace, Type};

/// Where an access goes.
struct Target {
    /// Host pointer to offset 0 of lane 0.
    pointer: V,
    /// Highest offset at which the access fits (64 bits).
    limit: V,
    /// Whether the base is in bounds and aligned (one bit).
    fits: V,
    /// Offsets, 32 bits.
    offset: Val,
    /// Bytes from one lane's memory to the next: private memory.
    stride: Option<V>,
}

impl Translator<'_> {
    /// The target of an access of `bytes` bytes; `None` for forms that are interpreted.
    fn target(&self, s: &Site, bytes: u64) -> Option<Target> {
        let (b, inst) = (&self.b, s.inst);
        let space = inst.mods.space.unwrap_or(MemorySpace::Global);
        let imm = Val::Same(b.int(32, u64::from(inst.imm as u32)));
        let sum = |x: Val, y: Val| b.apply([x, y], |[x, y]| b.add(x, y));
        let same = |v: Val| b.lane(v, b.int(32, 0));
        let size = b.int(64, bytes);
        if inst.mods.address == AddressMode::Surface {
            let place = SurfacePlace::from_immediate(inst.imm);
            let table = self.constant_pointer(offset_of!(Frame, descriptors));
            let at = b.field(table, usize::from(place.surface) * size_of::<Descriptor>());
            let word = |bits: u32, offset: usize| b.load_invariant(b.elem(Elem::I(bits)), b.field(at, offset), 4);
            let mut add = b.add(word(32, offset_of!(Descriptor, base)), same(self.word(s, 0, 0)));
            for (d, n) in place.distance.into_iter().enumerate().filter(|(_, n)| *n != 0) {
                let stride = word(32, offset_of!(Descriptor, strides) + 4 * d);
                add = b.add(add, b.mul(stride, b.int(32, u64::from(i32::from(n) as u32))));
            }
            let start = word(64, offset_of!(Descriptor, start));
            let bounds = offset_of!(Descriptor, bounds);
            let (low, high) = (word(64, bounds + offset_of!((u64, u64), 0)), word(64, bounds + offset_of!((u64, u64), 1)));
            let (fits, limit) = self.room(start, low, high, bytes);
            let pointer = b.offset(self.constant_pointer(offset_of!(Frame, host)), start);
            return Some(Target { pointer, limit, fits, offset: sum(self.word(s, 1, 0), Val::Same(add)), stride: None });
        }
        let narrow = match space {
            MemorySpace::Local => Some((offset_of!(Frame, local), offset_of!(Frame, local_bytes))),
            MemorySpace::Private => Some((offset_of!(Frame, private), offset_of!(Frame, private_bytes))),
            MemorySpace::Argument => return None,
            _ => None,
        };
        if let Some((pointer, length)) = narrow {
            if inst.mods.address == AddressMode::A64 {
                return None;
            }
            let base = Val::Same(same(self.word(s, 0, 0)));
            let length = self.constant_field(64, length);
            let fits = b.icmp(LLVMIntUGE, length, size);
            let stride = (space == MemorySpace::Private).then_some(length);
            let pointer = self.constant_pointer(pointer);
            return Some(Target {
                pointer,
                limit: b.sub(length, size),
                fits,
                offset: sum(sum(base, imm), self.word(s, 1, 0)),
                stride,
            });
        }
        let pair = |i: usize| match self.int(s, i, 64) {
            Val::Same(v) => v,
            Val::Lanes(v) => b.lane(Val::Lanes(v), b.int(32, 0)),
        };
        let (base, offset) = match inst.mods.address {
            AddressMode::U32 => (pair(0), sum(self.word(s, 1, 0), imm)),
            AddressMode::S32 => match self.word(s, 1, 0) {
                Val::Same(o) => {
                    let wide = |v| match b.sext(Val::Same(v), Elem::I(64)) {
                        Val::Same(v) | Val::Lanes(v) => v,
                    };
                    let base = b.add(b.add(pair(0), wide(o)), b.int(64, i64::from(inst.imm) as u64));
                    (base, Val::Same(b.int(32, 0)))
                }
                Val::Lanes(_) => return None,
            },
            _ => match self.int(s, 1, 64) {
                Val::Same(address) => (b.add(address, b.int(64, i64::from(inst.imm) as u64)), Val::Same(b.int(32, 0))),
                Val::Lanes(_) => return None,
            },
        };
        let ranges = self.constant_pointer(offset_of!(Frame, ranges));
        let range = b.field(ranges, (s.index % RANGES) * size_of::<(u64, u64)>());
        let end = |offset: usize| b.load(b.elem(Elem::I(64)), b.field(range, offset), 8);
        let (low, high) = (end(offset_of!((u64, u64), 0)), end(offset_of!((u64, u64), 1)));
        let (fits, limit) = self.room(base, low, high, bytes);
        let pointer = b.offset(self.constant_pointer(offset_of!(Frame, host)), base);
        Some(Target { pointer, limit, fits, offset, stride: None })
    }

    /// Whether a base lies in a range and is aligned, and the highest offset from it at which `bytes` bytes fit.
    fn room(&self, base: V, low: V, high: V, bytes: u64) -> (V, V) {
        let b = &self.b;
        let room = b.sub(high, base);
        let inside = b.and(b.icmp(LLVMIntUGE, base, low), b.icmp(LLVMIntUGE, high, base));
        let enough = b.icmp(LLVMIntUGE, room, b.int(64, bytes));
        let aligned = b.icmp(LLVMIntEQ, b.and(base, b.int(64, bytes - 1)), b.int(64, 0));
        (b.and(b.and(inside, enough), aligned), b.sub(room, b.int(64, bytes)))
    }

    /// One bit: the bits of a vector are 1 in all active lanes.
    pub(super) fn everywhere(&self, s: &Site, lanes: V) -> V {
        let bits = self.b.lanes_to_mask(lanes);
        let bits = match s.active {
            Some(m) => self.b.or(bits, self.b.not(m)),
            None => bits,
        };
        self.b.icmp(LLVMIntEQ, bits, self.b.int(self.b.n, u64::MAX))
    }

    /// An offset that is in bounds and aligned (one bit).
    fn good(&self, t: &Target, offset: V, bytes: u64) -> V {
        let b = &self.b;
        let aligned = b.icmp(LLVMIntEQ, b.and(offset, b.int(32, bytes - 1)), b.int(32, 0));
        b.and(b.and(t.fits, b.icmp(LLVMIntULE, b.resize(offset, 64), t.limit)), aligned)
    }

    /// Whether lanes follow one another `bytes` apart, in bounds; and the offset of lane 0 (which may be inactive).
    fn consecutive(&self, s: &Site, t: &Target, offset: V, bytes: u64) -> (V, V) {
        let b = &self.b;
        let first = b.lane(Val::Lanes(offset), b.int(32, 0));
        let ordered = b.icmp(LLVMIntEQ, b.sub(offset, b.splat(first)), b.ramp(32, bytes));
        let ordered = self.everywhere(s, ordered);
        let n = b.n;
        let place = |lane: V| b.add(first, b.mul(b.resize(lane, 32), b.int(32, bytes)));
        let (low, high) = match s.active {
            None => (first, place(b.int(32, u64::from(n - 1)))),
            Some(m) => {
                let zero_is_defined = b.int(1, 0);
                let low = b.intrinsic_of("llvm.cttz", &[m, zero_is_defined]);
                let leading = b.intrinsic_of("llvm.ctlz", &[m, zero_is_defined]);
                (place(low), place(b.sub(b.int(n, u64::from(n - 1)), leading)))
            }
        };
        let in_bounds = b.and(self.good(t, high, bytes), b.icmp(LLVMIntULE, low, high));
        let some = s.active.map_or(b.int(1, 1), |m| b.icmp(LLVMIntNE, m, b.int(n, 0)));
        let aligned = b.icmp(LLVMIntEQ, b.and(first, b.int(32, bytes - 1)), b.int(32, 0));
        // A place below the allocation's start wraps around, and is above `high` then; lane 0 itself may lie
        // outside if it is inactive.
        let from_first = b.sub(b.resize(low, 64), b.resize(b.sub(low, first), 64));
        (b.and(b.and(ordered, in_bounds), b.and(some, aligned)), from_first)
    }

    /// Whether all active lanes are in bounds and aligned.
    fn scattered(&self, s: &Site, t: &Target, offset: V, bytes: u64) -> V {
        let b = &self.b;
        let most = b.int(64, u64::from(u32::MAX));
        let limit = b.intrinsic_of("llvm.umin", &[t.limit, most]);
        let inside = b.icmp(LLVMIntULE, offset, b.splat(b.resize(limit, 32)));
        let aligned = b.icmp(LLVMIntEQ, b.and(offset, b.splat(b.int(32, bytes - 1))), b.splat(b.int(32, 0)));
        b.and(t.fits, self.everywhere(s, b.and(inside, aligned)))
    }

    /// Pointers of all lanes to word `k`.
    fn pointers(&self, t: &Target, offset: V, k: u64) -> V {
        let b = &self.b;
        let (Val::Same(mut wide) | Val::Lanes(mut wide)) = b.zext(Val::Lanes(offset), Elem::I(64));
        if let Some(stride) = t.stride {
            wide = b.add(wide, b.mul(b.splat(stride), b.ramp(64, 1)));
        }
        b.offset(b.field(t.pointer, 4 * k as usize), wide)
    }

    fn active_lanes(&self, s: &Site) -> V {
        self.b.mask_to_lanes(s.active.unwrap_or(self.b.int(self.b.n, u64::MAX)))
    }

    /// The pointer to a lane's offset.
    fn at(&self, t: &Target, offset: V) -> V {
        self.b.offset(t.pointer, self.b.resize(offset, 64))
    }

    /// Starts a form: code that is reached if `condition` holds. Returns where it goes on otherwise.
    pub(super) fn form(&self, condition: V, usual: bool) -> Block {
        let (yes, no) = (self.new_block(), self.new_block());
        if usual {
            self.b.likely(condition, yes, no)
        } else {
            self.b.branch(condition, yes, no)
        }
        self.b.at(yes);
        no
    }

    /// Ends a form.
    pub(super) fn next_form(&self, done: Block, otherwise: Block) {
        self.b.jump(done);
        self.b.at(otherwise);
    }

    /// Translates a load; false: it has to be interpreted.
    pub(super) fn load(&self, s: &Site) -> bool {
        let b = &self.b;
        let n = b.n;
        let ty = s.inst.ty;
        let bytes = u64::from(ty.bytes());
        let words = u64::from(ty.words());
        let Some(t) = self.target(s, bytes) else { return false };
        let done = self.new_block();
        let memory_bits = if words == 1 { 8 * ty.bytes() } else { 32 };
        let extend = |v: Val| match ty {
            Type::S8 | Type::S16 => b.sext(v, Elem::I(32)),
            Type::U8 | Type::U16 => b.zext(v, Elem::I(32)),
            _ => v,
        };
        let align = memory_bits / 8;
        // One scalar load a word, for all lanes.
        let one_place = |offset: V| {
            let word = |k: u64| {
                let p = b.field(self.at(&t, offset), 4 * k as usize);
                extend(Val::Same(b.load_device(b.elem(Elem::I(memory_bits)), p, align)))
            };
            let values: Vec<Val> = (0..words).map(word).collect();
            self.write(s, &values);
        };
        match t.offset {
            Val::Same(offset) if t.stride.is_none() => {
                let mut condition = self.good(&t, offset, bytes);
                let guarded = s.inst.guard.is_some() && !s.inst.writes_scalar_register();
                if let Some(m) = s.active.filter(|_| guarded) {
                    condition = b.and(condition, b.icmp(LLVMIntNE, m, b.int(n, 0)));
                }
                let slow = self.form(condition, true);
                one_place(offset);
                self.next_form(done, slow);
            }
            offset => {
                let offset = b.lanes(offset);
                // One vector.
                if t.stride.is_none() && (words == 1 || s.active.is_none()) {
                    let (condition, first) = self.consecutive(s, &t, offset, bytes);
                    let other = self.form(condition, true);
                    let p = b.offset(t.pointer, first);
                    let values: Vec<Val> = if words == 1 {
                        let vector = b.vector(Elem::I(memory_bits), n);
                        let v = match s.active {
                            None => b.load_device(vector, p, align),
                            Some(_) => {
                                b.compiler_fence();
                                let rest = b.int(32, u64::from(align));
                                let nothing = b.splat(b.int(memory_bits, 0));
                                let arguments = [p, rest, self.active_lanes(s), nothing];
                                b.intrinsic("llvm.masked.load", &[vector, b.pointer()], &arguments)
                            }
                        };
                        vec![extend(Val::Lanes(v))]
                    } else {
                        let all = b.load_device(b.vector(Elem::I(32), n * words as u32), p, 4);
                        (0..words as u32)
                            .map(|k| {
                                let places: Vec<u32> = (0..n).map(|i| i * words as u32 + k).collect();
                                Val::Lanes(b.shuffle(all, all, &places))
                            })
                            .collect()
                    };
                    self.write(s, &values);
                    self.next_form(done, other);
                }
                // One place.
                if t.stride.is_none() {
                    let first = b.lane(Val::Lanes(offset), b.int(32, 0));
                    let equal = self.everywhere(s, b.icmp(LLVMIntEQ, offset, b.splat(first)));
                    let mut condition = b.and(equal, self.good(&t, first, bytes));
                    if let Some(m) = s.active {
                        condition = b.and(condition, b.icmp(LLVMIntNE, m, b.int(n, 0)));
                    }
                    let other = self.form(condition, false);
                    one_place(first);
                    self.next_form(done, other);
                }
                // Anywhere in the allocation.
                if bytes >= 4 {
                    let other = self.form(self.scattered(s, &t, offset, bytes), true);
                    b.compiler_fence();
                    let vector = b.vector(Elem::I(32), n);
                    let nothing = b.splat(b.int(32, 0));
                    let values: Vec<Val> = (0..words)
                        .map(|k| {
                            let p = self.pointers(&t, offset, k);
                            let arguments = [p, b.int(32, 4), self.active_lanes(s), nothing];
                            Val::Lanes(b.intrinsic("llvm.masked.gather", &[vector, b.type_of(p)], &arguments))
                        })
                        .collect();
                    self.write(s, &values);
                    self.next_form(done, other);
                }
            }
        }
        self.interpret(s);
        b.jump(done);
        b.at(done);
        true
    }

    /// Translates a store; false: it has to be interpreted.
    pub(super) fn store(&self, s: &Site) -> bool {
        let b = &self.b;
        let n = b.n;
        let ty = s.inst.ty;
        let bytes = u64::from(ty.bytes());
        let words = u64::from(ty.words());
        let Some(t) = self.target(s, bytes) else { return false };
        // Lanes that write one place do so in order: the interpreter's way.
        let offset = match t.offset {
            Val::Same(_) if t.stride.is_none() => return false,
            v => b.lanes(v),
        };
        let done = self.new_block();
        let data: Vec<V> = (0..words).map(|k| b.lanes(self.word(s, 2, k as u8))).collect();
        let memory_bits = if words == 1 { 8 * ty.bytes() } else { 32 };
        let align = memory_bits / 8;
        if t.stride.is_none() && (words == 1 || s.active.is_none()) {
            let (condition, first) = self.consecutive(s, &t, offset, bytes);
            let other = self.form(condition, true);
            let p = b.offset(t.pointer, first);
            if words == 1 {
                let v = if memory_bits < 32 {
                    let (Val::Same(v) | Val::Lanes(v)) = b.trunc(Val::Lanes(data[0]), Elem::I(memory_bits));
                    v
                } else {
                    data[0]
                };
                match s.active {
                    None => b.store_device(v, p, align),
                    Some(_) => {
                        b.compiler_fence();
                        let arguments = [v, p, b.int(32, u64::from(align)), self.active_lanes(s)];
                        b.intrinsic("llvm.masked.store", &[b.type_of(v), b.pointer()], &arguments);
                    }
                }
            } else {
                // Two vectors of words become one of pairs; two of those one of quads.
                let weave = |x: V, y: V, chunk: u32, count: u32| {
                    let places: Vec<u32> = (0..2 * count)
                        .map(|i| i / (2 * chunk) * chunk + i % chunk + if i / chunk % 2 == 1 { count } else { 0 })
                        .collect();
                    b.shuffle(x, y, &places)
                };
                let pairs: Vec<V> = data.chunks(2).map(|d| weave(d[0], d[1], 1, n)).collect();
                let all = if pairs.len() == 2 { weave(pairs[0], pairs[1], 2, 2 * n) } else { pairs[0] };
                b.store_device(all, p, 4);
            }
            self.next_form(done, other);
        }
        if bytes >= 4 {
            let other = self.form(self.scattered(s, &t, offset, bytes), true);
            b.compiler_fence();
            for (k, v) in data.iter().enumerate() {
                let p = self.pointers(&t, offset, k as u64);
                let arguments = [*v, p, b.int(32, 4), self.active_lanes(s)];
                b.intrinsic("llvm.masked.scatter", &[b.type_of(*v), b.type_of(p)], &arguments);
            }
            self.next_form(done, other);
        }
        self.interpret(s);
        b.jump(done);
        b.at(done);
        true
    }
}
