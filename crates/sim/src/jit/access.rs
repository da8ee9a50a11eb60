//! Where accesses go, and what is checked before memory is touched: bounds, alignment, and whether lanes follow
//! each other. What the lanes then do is in [`super::transfer`] and [`super::atomic`].

use std::mem::{offset_of, size_of};

use inkwell::llvm_sys::LLVMIntPredicate::*;

use super::build::{Block, Elem, V, Val};
use super::translate::{Site, Translator};
use super::{Frame, WarpState};
use crate::Descriptor;
use crate::exec::RANGES;
use heddle_isa::{AddressMode, MemorySpace, SurfacePlace};

/// Where an access goes.
pub(super) struct Target {
    /// Host pointer to offset 0 (of lane 0).
    pub pointer: V,
    /// Highest offset at which the access fits (64 bits).
    pub limit: V,
    /// Whether the base is in bounds and aligned (one bit).
    pub fits: V,
    /// Offsets, 32 bits.
    pub offset: Val,
    /// Each word of the lanes' memories is a row: private memory.
    pub rows: bool,
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
        if inst.mods.address == AddressMode::Surface {
            let place = SurfacePlace::from_immediate(inst.imm);
            let field = b.field(self.frame, offset_of!(Frame, descriptors));
            // A launch with fewer descriptors is interpreted. (Rows of surfaces may be more: their number is even.)
            let surfaces = self.program.header.surfaces.len();
            let table = b.load_table(field, (surfaces * size_of::<Descriptor>()) as u64);
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
            let offset = lane_offset(sum(self.word(s, 1, 0), Val::Same(add)));
            return Some(Target { pointer, limit, fits, offset, rows: false });
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
            let base = Val::Same(same(self.word(s, 0, 0)));
            let length = self.constant_field(64, length);
            let fits = b.icmp(LLVMIntUGE, length, size);
            let (limit, offset) = (b.sub(length, size), lane_offset(sum(sum(base, imm), self.word(s, 1, 0))));
            return Some(Target { pointer, limit, fits, offset, rows: space == MemorySpace::Private });
        }
        let ranges = self.slot_pointer(offset_of!(WarpState, ranges));
        let range = b.field(ranges, (s.index % RANGES) * size_of::<(u64, u64)>());
        let end = |offset: usize| b.load(b.elem(Elem::I(64)), b.field(range, offset), 8);
        let (low, high) = (end(offset_of!((u64, u64), 0)), end(offset_of!((u64, u64), 1)));
        let host = self.constant_pointer(offset_of!(Frame, host));
        let wide_imm = Val::Same(b.int(64, i64::from(inst.imm) as u64));
        let address = match inst.mods.address {
            AddressMode::U32 => {
                let base = same(self.int(s, 0, 64));
                let (fits, limit) = self.room(base, low, high, bytes);
                let offset = lane_offset(sum(self.word(s, 1, 0), imm));
                return Some(Target { pointer: b.offset(host, base), limit, fits, offset, rows: false });
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
                Some(Target { pointer: b.offset(host, base), limit, fits, offset, rows: false })
            }
            // Offsets from the start of the allocation; those of lanes outside may not be cut to 32 bits.
            Val::Lanes(addresses) => {
                let (fits, limit) = self.room(low, low, high, bytes);
                let offsets = b.sub(addresses, b.splat(low));
                let inside = self.everywhere(s, b.icmp(LLVMIntULE, offsets, b.splat(limit)));
                let short = b.icmp(LLVMIntULE, limit, b.int(64, u64::from(u32::MAX)));
                let fits = b.and(b.and(fits, short), inside);
                let offset = b.trunc(Val::Lanes(offsets), Elem::I(32));
                Some(Target { pointer: b.offset(host, low), limit, fits, offset, rows: false })
            }
        }
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
    pub(super) fn good(&self, t: &Target, offset: V, bytes: u64) -> V {
        let b = &self.b;
        let aligned = b.icmp(LLVMIntEQ, b.and(offset, b.int(32, bytes - 1)), b.int(32, 0));
        b.and(b.and(t.fits, b.icmp(LLVMIntULE, b.resize(offset, 64), t.limit)), aligned)
    }

    /// Whether lanes follow one another `bytes` apart, in bounds; and the offset of lane 0 (which may be inactive).
    pub(super) fn consecutive(&self, s: &Site, t: &Target, offset: V, bytes: u64) -> (V, V) {
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
    pub(super) fn scattered(&self, s: &Site, t: &Target, offset: V, bytes: u64) -> V {
        let b = &self.b;
        // What contains a narrow value may begin up to three bytes further on (`containing`).
        let most = b.int(64, if bytes < 4 { u64::from(u32::MAX) - 4 } else { u64::from(u32::MAX) });
        let limit = b.intrinsic_of("llvm.umin", &[t.limit, most]);
        let inside = b.icmp(LLVMIntULE, offset, b.splat(b.resize(limit, 32)));
        let aligned = b.icmp(LLVMIntEQ, b.and(offset, b.splat(b.int(32, bytes - 1))), b.splat(b.int(32, 0)));
        b.and(t.fits, self.everywhere(s, b.and(inside, aligned)))
    }

    /// Pointers of all lanes, `k` words behind their offsets.
    pub(super) fn pointers(&self, t: &Target, offset: V, k: u64) -> V {
        let b = &self.b;
        if !t.rows {
            // The host adds signed numbers of 32 bits: half of the offsets' range lies below the base.
            let middle = b.field(t.pointer, 4 * k as usize + (1 << 31));
            return b.offset(middle, b.xor(offset, b.splat(b.int(32, 1 << 31))));
        }
        let row = self.addresses.row_bytes as u64;
        let lanes = |bits: u32, offset: V| {
            let factor = b.splat(b.int(bits, row / 4));
            b.add(b.mul(offset, factor), b.ramp(bits, 4))
        };
        let base = b.field(t.pointer, (k * row) as usize);
        let bytes = u64::from(self.program.header.private_bytes) + 16;
        if bytes * (row / 4) < 1 << 31 {
            return b.offset(base, lanes(32, offset));
        }
        let (Val::Same(wide) | Val::Lanes(wide)) = b.zext(Val::Lanes(offset), Elem::I(64));
        b.offset(base, lanes(64, wide))
    }

    /// The row of an offset that is the same in all lanes, `k` words behind it: private memory.
    pub(super) fn row_of(&self, t: &Target, offset: V, k: u64) -> V {
        let b = &self.b;
        let row = self.addresses.row_bytes as u64;
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
