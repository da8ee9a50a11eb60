//! Where accesses go, and what is checked before memory is touched: bounds, alignment, and whether lanes follow
//! each other. What the lanes then do is in [`super::transfer`] and [`super::atomic`].

use std::mem::{offset_of, size_of};

use inkwell::llvm_sys::LLVMIntPredicate::*;

use super::build::{Block, Build, Elem, V, Val};
use super::places::{Known, known};
use super::translate::{Site, Translator};
use super::{Frame, WarpState};
use crate::Descriptor;
use crate::exec::RANGES;
use heddle_isa::{AddressMode, Meaning, MemorySpace, Op, Space, SurfacePlace};

/// Where an access goes.
pub(super) struct Target {
    /// Host pointer to offset 0 (of lane 0).
    pub pointer: V,
    /// Highest offset of 32 bits at which the access fits (64 bits, signed); -1: none, as the base does not fit.
    pub limit: V,
    /// Whether the base is in bounds and aligned (one bit).
    pub fits: V,
    /// Offsets, 32 bits.
    pub offset: Val,
    /// The part of offsets that differs between lanes, and what is added to it, if there is such: the part often stays the
    /// same in loops.
    pub parts: Option<(V, V)>,
    /// Each word of the lanes' memories is a row: private memory.
    pub rows: bool,
}

/// Tables that the caller has for compiled code, loaded where the function begins: what LLVM takes out of a loop on suspicion, it
/// does not believe to be readable any more, and then it leaves in the loop what is read from there.
#[derive(Clone, Copy)]
pub(super) struct Tables {
    descriptors: V,
    bases: V,
    pub sums: V,
}

impl Tables {
    /// Loads them.
    pub fn new(b: &Build, frame: V, surfaces: usize, bases: usize) -> Tables {
        let table = |at: usize, bytes: usize| b.load_table(b.field(frame, at), bytes as u64);
        Tables {
            // A launch with fewer descriptors is interpreted. (Rows of surfaces may be more: their number is even.)
            descriptors: table(offset_of!(Frame, descriptors), surfaces * size_of::<Descriptor>()),
            bases: table(offset_of!(Frame, bases), bases * size_of::<(u64, u64)>()),
            sums: table(offset_of!(Frame, sums), (surfaces + bases) * size_of::<usize>()),
        }
    }
}

/// Where lanes' elements are.
#[derive(Clone, Copy)]
pub(super) struct Elements {
    pub base: V,
    /// Offsets from there, of 32 or 64 bits, without a sign.
    pub offset: V,
    /// Offsets of 32 bits are below 2³¹.
    pub low: bool,
    /// That lanes' places follow each other is seldom or another form: this one is worth much code.
    pub scattered: bool,
}

impl Target {
    /// The same access to a copy of the memory from its pointer on.
    pub fn moved_to(&self, pointer: V) -> Target {
        Target { pointer, ..*self }
    }
}

impl Translator<'_> {
    /// The target of an access of `bytes` bytes; `None` for forms that are interpreted.
    pub(super) fn target(&self, s: &Site, bytes: u64) -> Option<Target> {
        let (b, inst) = (&self.b, s.inst);
        let space = inst.mods.space.unwrap_or(MemorySpace::Global);
        let imm = Val::Same(b.int(32, u64::from(inst.imm as u32)));
        let sum = |x: Val, y: Val| b.apply([x, y], |[x, y]| b.add(x, y));
        let same = |v: Val| b.lane(v, b.int(32, 0));
        // An access that writes a scalar register is of lane 0 alone.
        let lane_offset = |v: Val| if inst.writes_scalar_register() { Val::Same(same(v)) } else { v };
        let size = b.int(64, bytes);
        let parts = |row: Val, add: V| match row {
            Val::Lanes(v) => Some((v, add)),
            Val::Same(_) => None,
        };
        if inst.mods.address == AddressMode::Surface {
            let place = SurfacePlace::from_immediate(inst.imm);
            let at = b.field(self.tables.descriptors, usize::from(place.surface) * size_of::<Descriptor>());
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
            let row = lane_offset(self.word(s, 1, 0));
            let (offset, parts) = (sum(row, Val::Same(add)), parts(row, add));
            return Some(Target { pointer, limit, fits, offset, parts, rows: false });
        }
        if space == MemorySpace::Argument {
            return None;
        }
        if matches!(space, MemorySpace::Local | MemorySpace::Private) {
            if inst.mods.address == AddressMode::A64 {
                return None;
            }
            let (pointer, length) = if space == MemorySpace::Local {
                (self.constant_pointer(offset_of!(Frame, local)), offset_of!(Frame, local_bytes))
            } else {
                (self.slot_pointer(offset_of!(WarpState, private)), offset_of!(Frame, private_bytes))
            };
            let add = sum(Val::Same(same(self.word(s, 0, 0))), imm);
            let length = self.constant_field(64, length);
            let fits = b.icmp(LLVMIntUGE, length, size);
            let limit = b.select(fits, b.sub(length, size), b.int(64, u64::MAX));
            let row = lane_offset(self.word(s, 1, 0));
            let (offset, parts) = (sum(add, row), parts(row, same(add)));
            return Some(Target { pointer, limit, fits, offset, parts, rows: space == MemorySpace::Private });
        }
        let (low, high) = self.range(s);
        let host = self.constant_pointer(offset_of!(Frame, host));
        let wide_imm = Val::Same(b.int(64, i64::from(inst.imm) as u64));
        let address = match inst.mods.address {
            AddressMode::U32 => {
                // Offsets from the allocation's start, since the base may be behind what is accessed.
                let base = same(self.int(s, 0, 64));
                let (fits, limit) = self.room(low, low, high, bytes);
                let one_window = b.icmp(LLVMIntEQ, b.lshr(b.xor(base, low), b.int(64, 32)), b.int(64, 0));
                let aligned = b.icmp(LLVMIntEQ, b.and(base, b.int(64, bytes - 1)), b.int(64, 0));
                let fits = b.and(fits, b.and(one_window, aligned));
                let limit = b.select(fits, limit, b.int(64, u64::MAX));
                let add = b.add(same(b.trunc(Val::Same(b.sub(base, low)), Elem::I(32))), same(imm));
                let row = lane_offset(self.word(s, 1, 0));
                let (offset, parts) = (sum(row, Val::Same(add)), parts(row, add));
                return Some(Target { pointer: b.offset(host, low), limit, fits, offset, parts, rows: false });
            }
            AddressMode::S32 => {
                let base = Val::Same(same(self.int(s, 0, 64)));
                sum(sum(base, wide_imm), b.sext(self.word(s, 1, 0), Elem::I(64)))
            }
            _ => sum(self.int(s, 1, 64), wide_imm),
        };
        match lane_offset(address) {
            Val::Same(base) => {
                let (fits, limit) = self.room(base, low, high, bytes);
                let offset = Val::Same(b.int(32, 0));
                Some(Target { pointer: b.offset(host, base), limit, fits, offset, parts: None, rows: false })
            }
            // Offsets from the start of the allocation; those of lanes outside may not be cut to 32 bits.
            Val::Lanes(addresses) => {
                let (fits, limit) = self.room(low, low, high, bytes);
                let offsets = b.sub(addresses, b.splat(low));
                let inside = self.everywhere(s, b.icmp(LLVMIntULE, offsets, b.splat(limit)));
                let fits = b.and(fits, inside);
                let limit = b.select(fits, limit, b.int(64, u64::MAX));
                let offset = b.trunc(Val::Lanes(offsets), Elem::I(32));
                Some(Target { pointer: b.offset(host, low), limit, fits, offset, parts: None, rows: false })
            }
        }
    }

    /// The allocation in which an access will land most probably: that of its base, if it is known, or where it landed last.
    fn range(&self, s: &Site) -> (V, V) {
        let b = &self.b;
        let (start, end) = (offset_of!((u64, u64), 0), offset_of!((u64, u64), 1));
        if let Some(Known::Base(base)) = known(self.program, s.index)
            && let Some(k) = self.bases.iter().position(|b| *b == base)
        {
            let word = |at: usize| {
                b.load_invariant(b.elem(Elem::I(64)), b.field(self.tables.bases, k * size_of::<(u64, u64)>() + at), 8)
            };
            return (word(start), word(end));
        }
        let ranges = self.slot_pointer(offset_of!(WarpState, ranges));
        let range = b.field(ranges, (s.index % RANGES) * size_of::<(u64, u64)>());
        let word = |at: usize| b.load(b.elem(Elem::I(64)), b.field(range, at), 8);
        (word(start), word(end))
    }

    /// Whether a base lies in a range and is aligned, and the highest offset of 32 bits from it at which `bytes` bytes fit, -1 if
    /// there is none.
    fn room(&self, base: V, low: V, high: V, bytes: u64) -> (V, V) {
        let b = &self.b;
        let room = b.sub(high, base);
        let inside = b.and(b.icmp(LLVMIntUGE, base, low), b.icmp(LLVMIntUGE, high, base));
        let enough = b.icmp(LLVMIntUGE, room, b.int(64, bytes));
        let aligned = b.icmp(LLVMIntEQ, b.and(base, b.int(64, bytes - 1)), b.int(64, 0));
        let fits = b.and(b.and(inside, enough), aligned);
        let limit = b.intrinsic_of("llvm.umin", &[b.sub(room, b.int(64, bytes)), b.int(64, u64::from(u32::MAX))]);
        (fits, b.select(fits, limit, b.int(64, u64::MAX)))
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
    pub(super) fn good(&self, t: &Target, offset: V, bytes: u64) -> V {
        let b = &self.b;
        let aligned = b.icmp(LLVMIntEQ, b.and(offset, b.int(32, bytes - 1)), b.int(32, 0));
        b.and(b.icmp(LLVMIntSLE, b.resize(offset, 64), t.limit), aligned)
    }

    /// Whether lanes follow one another `bytes` apart, in bounds; and the offset of lane 0 (which may be inactive). Where no lane
    /// is active, anything.
    pub(super) fn consecutive(&self, s: &Site, t: &Target, offset: V, bytes: u64) -> (V, V) {
        let b = &self.b;
        let n = b.n;
        let (part, add) = t.parts.unwrap_or((offset, b.int(32, 0)));
        let first = b.lane(Val::Lanes(part), b.int(32, 0));
        let ordered = b.icmp(LLVMIntEQ, b.sub(part, b.splat(first)), b.ramp(32, bytes));
        let ordered = self.everywhere(s, ordered);
        let first = b.add(first, add);
        // The offset of the first active lane, and how far the last one is from there.
        let (low, span) = match s.active {
            None => (first, b.int(64, u64::from(n - 1) * bytes)),
            Some(m) => {
                let zero_is_defined = b.int(1, 0);
                let before = b.resize(b.intrinsic_of("llvm.cttz", &[m, zero_is_defined]), 64);
                let behind = b.resize(b.intrinsic_of("llvm.ctlz", &[m, zero_is_defined]), 64);
                let low = b.add(first, b.mul(b.resize(before, 32), b.int(32, bytes)));
                (low, b.mul(b.sub(b.int(64, u64::from(n - 1)), b.add(before, behind)), b.int(64, bytes)))
            }
        };
        // No offset on the way wraps around, as the limit is one of 32 bits.
        let in_bounds = b.icmp(LLVMIntSLE, b.add(b.resize(low, 64), span), t.limit);
        let aligned = b.icmp(LLVMIntEQ, b.and(low, b.int(32, bytes - 1)), b.int(32, 0));
        // Lane 0 itself may lie below the base if it is inactive.
        let from_first = b.sub(b.resize(low, 64), b.resize(b.sub(low, first), 64));
        (b.and(b.and(ordered, in_bounds), aligned), from_first)
    }

    /// Whether lanes 0 and 1 follow one another: where they do not, neither do all lanes.
    pub(super) fn neighbours(&self, t: &Target, offset: V, bytes: u64) -> V {
        let b = &self.b;
        let (part, _) = t.parts.unwrap_or((offset, offset));
        let lane = |i: u64| b.lane(Val::Lanes(part), b.int(32, i));
        b.icmp(LLVMIntEQ, b.sub(lane(1), lane(0)), b.int(32, bytes))
    }

    /// Whether the offsets of an access come from memory, as far as its block says: then lanes seldom follow one another.
    pub(super) fn depends_on_memory(&self, s: &Site) -> bool {
        self.is_loaded(s.index, s.rows[2], 4)
    }

    /// Whether an instruction's row has something in it that lanes have loaded, within so many steps.
    fn is_loaded(&self, before: usize, row: u16, steps: u32) -> bool {
        let program = self.program;
        let first = program.blocks[self.current.get()].first as usize;
        let writes = |i: &usize| {
            let (inst, dst) = (&program.insts[*i], program.operands[*i][0]);
            let predicate = matches!(inst.dst.as_phys(), Some(p) if p.space == Space::Predicate);
            inst.dst.is_some() && !predicate && (dst..dst + u16::from(inst.dst_words().max(1))).contains(&row)
        };
        let Some(i) = (first..before).rev().find(writes) else { return false };
        let (inst, operands) = (&program.insts[i], program.operands[i]);
        match inst.info().meaning {
            Meaning::Memory(_) => !inst.writes_scalar_register() && inst.op != Op::LoadUniform,
            Meaning::Lane(_) if steps > 0 => (0..inst.srcs.len()).any(|k| {
                let predicate = matches!(inst.srcs[k].as_phys(), Some(p) if p.space == Space::Predicate);
                !predicate && self.is_loaded(i, operands[k + 1], steps - 1)
            }),
            _ => false,
        }
    }

    /// Whether all active lanes are in bounds and aligned.
    pub(super) fn scattered(&self, s: &Site, t: &Target, offset: V, bytes: u64) -> V {
        let b = &self.b;
        // What contains a narrow value may begin up to three bytes further on (`containing`).
        let most = b.int(64, if bytes < 4 { u64::from(u32::MAX) - 4 } else { u64::from(u32::MAX) });
        let limit = b.intrinsic_of("llvm.umin", &[t.limit, most]);
        let inside = b.icmp(LLVMIntULE, offset, b.splat(b.resize(limit, 32)));
        let aligned = b.icmp(LLVMIntEQ, b.and(offset, b.splat(b.int(32, bytes - 1))), b.splat(b.int(32, 0)));
        b.and(t.fits, self.everywhere(s, b.and(inside, aligned)))
    }

    /// The elements of all lanes, `k` words behind their offsets.
    pub(super) fn elements(&self, t: &Target, offset: V, k: u64) -> Elements {
        let b = &self.b;
        if !t.rows {
            return Elements { base: b.field(t.pointer, 4 * k as usize), offset, low: false, scattered: false };
        }
        let row = self.sizes.row as u64;
        let lanes = |bits: u32, offset: V| {
            let factor = b.splat(b.int(bits, row / 4));
            b.add(b.mul(offset, factor), b.ramp(bits, 4))
        };
        let base = b.field(t.pointer, (k * row) as usize);
        let bytes = u64::from(self.program.header.private_bytes) + 16;
        if bytes * (row / 4) < 1 << 31 {
            return Elements { base, offset: lanes(32, offset), low: true, scattered: true };
        }
        let (Val::Same(wide) | Val::Lanes(wide)) = b.zext(Val::Lanes(offset), Elem::I(64));
        Elements { base, offset: lanes(64, wide), low: false, scattered: true }
    }

    /// Pointers to them.
    pub(super) fn pointers(&self, e: &Elements) -> V {
        let b = &self.b;
        if e.low || b.element_of(e.offset) != Elem::I(32) {
            return b.offset(e.base, e.offset);
        }
        // The host adds signed numbers of 32 bits: half of the offsets' range lies below the base.
        b.offset(b.field(e.base, 1 << 31), b.xor(e.offset, b.splat(b.int(32, 1 << 31))))
    }

    /// The row of an offset that is the same in all lanes, `k` words behind it: private memory.
    pub(super) fn row_of(&self, t: &Target, offset: V, k: u64) -> V {
        let b = &self.b;
        let row = self.sizes.row as u64;
        let word = b.resize(b.and(offset, b.int(32, !3 & 0xffff_ffff)), 64);
        b.field(b.offset(t.pointer, b.mul(word, b.int(64, row / 4))), (k * row) as usize)
    }

    pub(super) fn active_lanes(&self, s: &Site) -> V {
        self.b.mask_to_lanes(s.active.unwrap_or(self.b.int(self.b.n, u64::MAX)))
    }

    /// The pointer to a lane's offset.
    pub(super) fn at(&self, t: &Target, offset: V) -> V {
        self.b.offset(t.pointer, self.b.resize(offset, 64))
    }

    /// One bit: some lane is active.
    pub(super) fn any(&self, s: &Site) -> V {
        s.active.map_or(self.b.int(1, 1), |m| self.b.icmp(LLVMIntNE, m, self.b.int(self.b.n, 0)))
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
}
