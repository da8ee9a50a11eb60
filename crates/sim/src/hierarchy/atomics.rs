//! Atomics of a warp, as they go to L2: what each lane does there, and what it found.
//!
//! Where SMs are simulated side by side, L2 performs them later, in the order of simulated time like everything that is
//! asked of it (see [`deferred`](super::deferred)); so they carry their operands with them.

use super::line::{ByteMask, LaneOffsets, LaneWords, LineBytes, LineNumber, add_bytes};
use super::lower_levels::{LowerLevels, SectorRead};
use super::policy::{self, AccessPolicy, L2Policy, LOADS};
use super::tlb::ArrivingRequest;
use crate::DeviceMemory;
use heddle_isa::meaning::updated;
use heddle_isa::{AtomicOp, CachePolicy, MemorySpace, Type};

/// What the lanes of a warp do with the values that they find.
#[derive(Clone)]
pub struct AtomicOperation {
    /// The operation.
    pub op: AtomicOp,
    /// The type of the values.
    pub ty: Type,
    /// By word: each lane's operand and, behind it, what a comparison that succeeds puts in place.
    pub operands: LaneWords,
}

impl Default for AtomicOperation {
    fn default() -> AtomicOperation {
        AtomicOperation { op: AtomicOp::default(), ty: Type::B32, operands: [[0; 64]; 4] }
    }
}

impl AtomicOperation {
    /// Words of its operands that it uses.
    pub fn words(&self) -> usize {
        self.ty.bytes() as usize / 4 * if self.op == AtomicOp::CmpXchg { 2 } else { 1 }
    }

    /// What a lane leaves where it finds `before`.
    #[inline]
    pub fn apply(&self, lane: usize, before: u64) -> u64 {
        let word = |k: usize| u64::from(self.operands[k][lane]);
        let value = |first: usize| if self.ty.bytes() == 8 { word(2 * first) | word(2 * first + 1) << 32 } else { word(first) };
        let replacement = if self.op == AtomicOp::CmpXchg { value(1) } else { 0 };
        // The loader refuses an operation at a type that it does not have.
        updated(self.op, self.ty, before, value(0), replacement).unwrap_or(before)
    }
}

/// The part of a warp's atomic that is in one line.
pub struct LineAtomic {
    /// The line.
    pub line: LineNumber,
    /// Its sectors that lanes touch, a bit each.
    pub sectors: u64,
    /// The lanes, a bit each.
    pub lanes: u64,
    /// Its arrival at L2.
    pub arrives: ArrivingRequest,
    /// Cycles from there to the requester.
    pub back: u64,
}

impl LineAtomic {
    /// Performs it in L2: `update` turns the bytes at a lane's address, as many as `bytes` says, into new ones. Returns the
    /// cycle at which the requester knows.
    pub fn perform(
        &self,
        (lower, memory): (&mut LowerLevels, &DeviceMemory),
        offsets: &LaneOffsets,
        bytes: usize,
        update: &mut dyn FnMut(usize, u64) -> u64,
    ) -> u64 {
        let mut all = |line: &mut LineBytes| {
            let (mut mask, mut rest) = (ByteMask::default(), self.lanes);
            while rest != 0 {
                let lane = rest.trailing_zeros() as usize;
                rest &= rest - 1;
                let at = usize::from(offsets[lane]);
                let mut cell = [0; 8];
                cell[..bytes].copy_from_slice(&line[at..at + bytes]);
                let new = update(lane, u64::from_le_bytes(cell)).to_le_bytes();
                line[at..at + bytes].copy_from_slice(&new[..bytes]);
                add_bytes(&mut mask, at, bytes);
            }
            mask
        };
        // The line is fetched from system memory each time and written through, so that the host sees atomics
        // and they see the host's stores.
        let volatile = policy::of(&LOADS, MemorySpace::Global, CachePolicy::Cv);
        let policy = AccessPolicy { l2_device: L2Policy::Normal, ..*volatile };
        let read = SectorRead { line: self.line, sectors: self.sectors, policy: &policy };
        lower.atomic(memory, read, self.arrives, self.lanes.count_ones(), &mut all) + self.back
    }
}

/// An atomic, as it goes from place to place.
pub type AtomicBox = Box<DeferredAtomic>;

/// A warp's atomic that is performed later.
pub struct DeferredAtomic {
    /// What it does.
    pub operation: AtomicOperation,
    /// Each lane's first byte in its line.
    pub offsets: LaneOffsets,
    /// The lines, in the order in which they come to L2.
    pub lines: Vec<LineAtomic>,
    /// By word: what each lane has found.
    pub found: [[u32; 64]; 2],
}

impl Default for DeferredAtomic {
    fn default() -> DeferredAtomic {
        let (operation, found) = (AtomicOperation::default(), [[0; 64]; 2]);
        DeferredAtomic { operation, offsets: [0; 64], lines: Vec::new(), found }
    }
}

impl DeferredAtomic {
    /// Performs it in L2. Returns the cycle at which the requester knows.
    pub fn perform(&mut self, lower: &mut LowerLevels, memory: &DeviceMemory) -> u64 {
        let DeferredAtomic { operation, offsets, lines, found } = self;
        let bytes = operation.ty.bytes() as usize;
        let mut update = |lane: usize, before: u64| {
            (found[0][lane], found[1][lane]) = (before as u32, (before >> 32) as u32);
            operation.apply(lane, before)
        };
        lines.iter().map(|line| line.perform((&mut *lower, memory), offsets, bytes, &mut update)).max().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operands_are_as_wide_as_their_type() {
        let mut operation = AtomicOperation { op: AtomicOp::Add, ty: Type::B64, ..AtomicOperation::default() };
        for (k, words) in operation.operands.iter_mut().enumerate() {
            words[3] = k as u32 + 1;
        }
        assert_eq!((operation.words(), operation.apply(3, u64::from(u32::MAX))), (2, (2 << 32) + 1 + u64::from(u32::MAX)));
        operation.ty = Type::B32;
        assert_eq!((operation.words(), operation.apply(3, 41)), (1, 42));
        operation.op = AtomicOp::CmpXchg;
        assert_eq!((operation.words(), operation.apply(3, 1), operation.apply(3, 5)), (2, 2, 5));
        operation.ty = Type::B64;
        let (expected, other) = (1 | 2 << 32, 1);
        assert_eq!((operation.words(), operation.apply(3, expected), operation.apply(3, other)), (4, 3 | 4 << 32, other));
        // An operation that the type has not leaves everything as it is.
        operation.ty = Type::F32;
        assert_eq!(operation.apply(3, 7), 7);
    }
}
