//! The instruction form shared by MIR, assembly and the decoder.

use cranelift_entity::entity_impl;
use smallvec::SmallVec;

use super::Block;
use super::{
    AddressMode, AtomicOp, CacheName, CacheOperation, CachePolicy, Cond, MemorySpace, Op, Rounding, Space, Special, Type,
};

/// A virtual register of a MIR function.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct VReg(u32);
entity_impl!(VReg, "%");

/// Where an access in mode [`AddressMode::Surface`] goes: the immediate field taken apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SurfacePlace {
    /// Descriptor.
    pub surface: u8,
    /// Constant distances from the global ids: dx, dy, dz.
    pub distance: [i8; 3],
}

impl SurfacePlace {
    /// From an immediate field: bits 0-7 descriptor, then dx, dy, dz.
    pub fn from_immediate(imm: i32) -> Self {
        let [surface, x, y, z] = imm.to_le_bytes();
        SurfacePlace { surface, distance: [x as i8, y as i8, z as i8] }
    }
    /// As an immediate field.
    pub fn immediate(self) -> i32 {
        let [x, y, z] = self.distance;
        i32::from_le_bytes([self.surface, x as u8, y as u8, z as u8])
    }
}

/// What a read or write of an image does: the immediate field of `sample` and `stimg` taken apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ImageAccess {
    /// Descriptor of the image.
    pub surface: u8,
    /// Coordinates are integers instead of floats.
    pub integer: bool,
    /// There is no sampler: a place outside is a fault.
    pub bare: bool,
    /// Words of the coordinates: 1, 2 or 4. What is not given is zero.
    pub coordinates: u8,
    /// Channels of the texel that a read gives, a bit each from x on: one, two or all four, in consecutive words.
    pub channels: u8,
}

impl ImageAccess {
    /// From an immediate field: bits 0-7 descriptor, bit 8 is 1, bit 9 integer coordinates, bit 10 no sampler, bits 11-12 words
    /// of the coordinates (0: four), bits 13-16 channels (0: all). `None` if it is none that [`Self::immediate`] gives.
    pub fn from_immediate(imm: i32) -> Option<Self> {
        let coordinates = match imm >> 11 & 3 {
            0 => 4,
            words @ (1 | 2) => words as u8,
            _ => return None,
        };
        let channels = match imm >> 13 & 0xf {
            0 => 0xf,
            some if some.count_ones() <= 2 => some as u8,
            _ => return None,
        };
        let [surface, ..] = imm.to_le_bytes();
        let access = ImageAccess { surface, integer: imm & 0x200 != 0, bare: imm & 0x400 != 0, coordinates, channels };
        (imm & 0x100 != 0 && imm >> 17 == 0).then_some(access)
    }

    /// As an immediate field.
    pub fn immediate(self) -> i32 {
        let coordinates = i32::from(self.coordinates & 3);
        let channels = if self.channels == 0xf { 0 } else { i32::from(self.channels) };
        let flags = 0x100 | i32::from(self.integer) << 9 | i32::from(self.bare) << 10;
        i32::from(self.surface) | flags | coordinates << 11 | channels << 13
    }

    /// Words of what a read gives: 1, 2 or 4.
    pub fn texel_words(self) -> u8 {
        self.channels.count_ones() as u8
    }
}

/// A physical register. `Space::Local` registers belong to the cluster of the instruction that names them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PhysReg {
    /// `Local`, `Main`, `Scalar` or `Predicate`.
    pub space: Space,
    /// Number within the space; for a tuple, its first register.
    pub index: u8,
}

/// A register, virtual or physical.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Reg {
    /// Words `word .. word + words` of a virtual register; the number of words is the operand role's (see [`super::OpInfo`]).
    Virtual {
        /// The register.
        reg: VReg,
        /// First word of the register that the operand names, 0 to 3.
        word: u8,
    },
    /// A physical register (or the first of a tuple).
    Physical(PhysReg),
}

/// A source or destination.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub enum Operand {
    /// Absent. A value, data or word source that is absent reads as zero; an absent base or offset adds nothing.
    #[default]
    None,
    /// A register.
    Reg(Reg),
    /// A special register.
    Special(Special),
    /// A word of the constant bank, counted in 32-bit words; 64-bit roles read two consecutive words.
    Constant(u8),
    /// The 32-bit immediate: sign-extended for 64-bit integer and bit types, the upper half of the value for `f64`.
    Immediate(u32),
}

impl Operand {
    /// Whether all lanes read the same from this operand of allocated code: scalar registers, constants,
    /// immediates, uniform specials.
    pub fn is_uniform_physical(self) -> bool {
        match self {
            Operand::Reg(Reg::Physical(p)) => p.space == Space::Scalar,
            Operand::Reg(Reg::Virtual { .. }) => false,
            Operand::Special(s) => s.is_uniform(),
            Operand::None | Operand::Constant(_) | Operand::Immediate(_) => true,
        }
    }
    /// The whole of a virtual register.
    pub const fn virt(reg: VReg) -> Self {
        Operand::Reg(Reg::Virtual { reg, word: 0 })
    }
    /// One word (or, for wider roles, the words from `word` on) of a virtual register.
    pub const fn virt_word(reg: VReg, word: u8) -> Self {
        Operand::Reg(Reg::Virtual { reg, word })
    }
    /// A physical register.
    pub const fn phys(space: Space, index: u8) -> Self {
        Operand::Reg(Reg::Physical(PhysReg { space, index }))
    }
    /// The virtual register this operand names, with its first word.
    pub const fn as_virt(self) -> Option<(VReg, u8)> {
        match self {
            Operand::Reg(Reg::Virtual { reg, word }) => Some((reg, word)),
            _ => None,
        }
    }
    /// The physical register this operand names.
    pub const fn as_phys(self) -> Option<PhysReg> {
        match self {
            Operand::Reg(Reg::Physical(p)) => Some(p),
            _ => None,
        }
    }
    /// Whether an operand is present.
    pub const fn is_some(self) -> bool {
        !matches!(self, Operand::None)
    }
}

/// The predicate under which an instruction executes: lanes whose bit (inverted if `negate`) is 0 do nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Guard {
    /// A predicate register, virtual or physical.
    pub reg: Reg,
    /// Execute where the predicate is 0.
    pub negate: bool,
}

/// Modifiers. Each operation uses those its table row names; the others keep their default.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct Mods {
    /// Condition of a comparison.
    pub cond: Option<Cond>,
    /// Source type of a conversion.
    pub from: Option<Type>,
    /// Rounding of `cvt` and `round`.
    pub rounding: Rounding,
    /// Saturate: `cvt` clamps to the destination's range; `add`/`sub` on `s32`/`u32`/`s64`/`u64` clamp.
    pub saturate: bool,
    /// Memory space of a memory operation.
    pub space: Option<MemorySpace>,
    /// Address form of a memory operation.
    pub address: AddressMode,
    /// Atomic operation.
    pub atomic: AtomicOp,
    /// Cache policy.
    pub cache: CachePolicy,
    /// Cache and operation of `cctl` and `cctll` (K5).
    pub control: Option<(CacheName, CacheOperation)>,
}

/// A source position: an index into the function's or object's file table, and a line (1-based; 0 is unknown).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, PartialOrd, Ord)]
pub struct SourceLoc {
    /// Index of the file.
    pub file: u32,
    /// Line.
    pub line: u32,
    /// Column, 0 if unknown.
    pub column: u32,
    /// While code is generated: number of the point in the function's source variables, 0 if there is none. No text has it.
    pub point: u32,
}

/// Where control goes. In MIR blocks, in machine code signed distances in instructions from the next instruction.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default)]
pub enum Targets {
    /// No targets.
    #[default]
    None,
    /// Branches: `[target]` or, for `bra.div`, `[target, reconvergence]` (an absent second block means that the sides
    /// reconverge only at the end of the program). `phi`: the incoming blocks, in the order of the sources.
    Blocks(SmallVec<[Block; 2]>),
    /// Encoded form: target, and reconvergence point of `bra.div` (`None`: no reconvergence before the end).
    Offsets {
        /// Distance to the target.
        target: i32,
        /// Distance to the reconvergence point.
        reconverge: Option<i32>,
    },
}

/// One instruction.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Inst {
    /// The operation.
    pub op: Op,
    /// Its type; [`Type::None`] for untyped operations.
    pub ty: Type,
    /// Modifiers.
    pub mods: Mods,
    /// Guard predicate.
    pub guard: Option<Guard>,
    /// The u bit (S5): same operands in all active lanes, may run once on the scalar unit with its result broadcast.
    /// Only on instructions with a vector destination; an instruction whose destination is in S always runs there.
    pub uniform: bool,
    /// A strand begins here (C14): the warp may leave the active set before this instruction, and loses its local registers
    /// when it does. No local register holds anything across it.
    pub strand: bool,
    /// Under a guard: what the destination holds for other lanes nothing reads any more, so that a live range begins here as it does
    /// without a guard. Only while registers are virtual; no machine knows it.
    pub fresh: bool,
    /// Cluster that executes the instruction (C1); meaningless for scalar and control instructions (0).
    pub cluster: u8,
    /// Destination.
    pub dst: Operand,
    /// Sources, in the order of the table's roles. Length equals the table row's, except for `phi` and `tuple`.
    pub srcs: SmallVec<[Operand; 3]>,
    /// Bit i: source i is negated (float types only).
    pub neg: u8,
    /// Bit i: source i's absolute value is taken, before negation (float types only).
    pub abs: u8,
    /// Bit i: source i's register is released after this read (REN-5).
    pub release: u8,
    /// Byte offset of a memory operand, or the operation's immediate field where the row says so (`release`, `bar`, `sample`).
    /// Never in use together with an [`Operand::Immediate`] source: the encoding has one 32-bit immediate.
    pub imm: i32,
    /// Branch targets or incoming blocks.
    pub targets: Targets,
    /// Source position.
    pub loc: SourceLoc,
}

impl Inst {
    /// An instruction with a destination and sources and everything else at its default.
    pub fn new(op: Op, ty: Type, dst: Operand, srcs: impl IntoIterator<Item = Operand>) -> Self {
        Inst {
            op,
            ty,
            mods: Mods::default(),
            guard: None,
            uniform: false,
            strand: false,
            fresh: false,
            cluster: 0,
            dst,
            srcs: srcs.into_iter().collect(),
            neg: 0,
            abs: 0,
            release: 0,
            imm: 0,
            targets: Targets::None,
            loc: SourceLoc::default(),
        }
    }

    /// The blocks this MIR instruction names; empty after encoding.
    pub fn blocks(&self) -> &[Block] {
        match &self.targets {
            Targets::Blocks(b) => b,
            _ => &[],
        }
    }

    /// Whether the scalar unit executes the instruction of allocated code, in either of the forms of S5.
    pub fn runs_on_scalar_unit(&self) -> bool {
        self.uniform || self.writes_scalar_register()
    }

    /// Whether the instruction runs on the scalar unit because its destination is a physical scalar register (S5). Over virtual
    /// registers ask the function for the register's class instead.
    pub fn writes_scalar_register(&self) -> bool {
        matches!(self.dst.as_phys(), Some(PhysReg { space: Space::Scalar, .. }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accesses_to_images_have_one_immediate_each() {
        let given: Vec<ImageAccess> = (0..1 << 18).filter_map(ImageAccess::from_immediate).collect();
        // Surfaces, flags, widths of coordinates, and channels: four alone, six pairs, all.
        assert_eq!(given.len(), 256 * 4 * 3 * 11);
        for imm in (0..1 << 18).chain([-1, i32::MIN, i32::MIN | 0x100, 1 << 30 | 0x100]) {
            let again = ImageAccess::from_immediate(imm).map(ImageAccess::immediate);
            assert!(again.is_none_or(|again| again == imm), "{imm:#x}");
        }
    }
}
