//! Where accesses to device memory go, as far as it is known before a launch begins: to a surface, or from a pointer argument on.
//!
//! What is known of a place need not be asked at every access, and LLVM takes what depends on it out of loops.

use super::super::exec::Lanes;
use super::super::program::Program;
use crate::DeviceMemory;
use heddle_isa::{AddressMode, Inst, MemorySpace, SurfacePlace};

/// A pointer argument to which accesses add offsets of 32 bits, and what they add at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Base {
    /// The first of its two words in the constant bank.
    word: u16,
    imm: i32,
}

impl Base {
    /// Its device address in a launch with these constants.
    pub fn address(self, constants: &[u8]) -> u64 {
        let at = 4 * usize::from(self.word);
        constants.get(at..at + 8).and_then(|b| b.try_into().ok()).map_or(0, u64::from_le_bytes)
    }

    /// The allocation that the pointer points to. What is added at once says nothing of its own, as it may only take back what
    /// an offset has too much: sums of offsets wrap at 32 bits.
    pub fn allocation<'m>(self, memory: &'m DeviceMemory, constants: &[u8]) -> Option<&'m crate::memory::Allocation> {
        memory.find(self.address(constants), 1)
    }
}

/// A place that is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Known {
    Surface(u8),
    Base(Base),
}

/// Whether an access is to device memory.
pub(super) fn is_device(inst: &Inst) -> bool {
    matches!(inst.mods.space.unwrap_or(MemorySpace::Global), MemorySpace::Global | MemorySpace::Constant)
}

/// The place of an instruction's access to device memory.
pub(super) fn known(program: &Program, index: usize) -> Option<Known> {
    let inst = &program.insts[index];
    if !is_device(inst) {
        return None;
    }
    let (rows, row) = (&program.rows, program.operands[index][1]);
    match inst.mods.address {
        AddressMode::Surface => Some(Known::Surface(SurfacePlace::from_immediate(inst.imm).surface)),
        // Not the data section's, in words 0 and 1: its variables are allocations each.
        AddressMode::U32 if row >= rows.constants + 2 && row + 1 < rows.constants + rows.constant_words => {
            Some(Known::Base(Base { word: row - rows.constants, imm: inst.imm }))
        }
        _ => None,
    }
}

/// All bases of a program, each once, in the order of the code.
pub(super) fn bases(program: &Program) -> Vec<Base> {
    let mut bases = Vec::new();
    for index in 0..program.insts.len() {
        if let (true, Some(Known::Base(base))) = (program.insts[index].is_memory(), known(program, index))
            && !bases.contains(&base)
        {
            bases.push(base);
        }
    }
    bases
}

/// A place's number: surfaces come first.
pub(super) fn number(program: &Program, bases: &[Base], known: Known) -> Option<usize> {
    match known {
        Known::Surface(surface) => Some(usize::from(surface)),
        Known::Base(base) => Some(program.header.surfaces.len() + bases.iter().position(|b| *b == base)?),
    }
}

/// By base, the range of addresses that compiled code may access without asking: its allocation, if nobody watches that.
pub(super) fn ranges<const N: usize>(bases: &[Base], lanes: &Lanes<N>) -> Vec<(u64, u64)> {
    let range = |base: &Base| {
        let found = base.allocation(lanes.memory, lanes.constants).filter(|_| lanes.touches.is_none())?;
        lanes.checker.is_none_or(|c| c.borrow().quiet(found)).then_some((found.address, found.end()))
    };
    bases.iter().map(|base| range(base).unwrap_or((0, 0))).collect()
}
