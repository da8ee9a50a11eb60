//! The small vocabularies of the instruction set: value types, register spaces, conditions, special registers, memory spaces.
//!
//! Every enum's discriminants are the bits of the encoding, and every name (`strum`) is the word of the assembly language.

use serde::{Deserialize, Serialize};
use strum::{Display, EnumIter, EnumString, FromRepr, IntoStaticStr};

/// The type of an operation's values. Four bits of the encoding.
///
/// `B` types are bits without interpretation (moves, loads, stores, selects); `I` types are integers of either sign; `S` and `U`
/// types are for operations that depend on the sign.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Display, EnumIter, EnumString, FromRepr, IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
#[repr(u8)]
pub enum Type {
    /// One bit a lane, in a predicate register (or 0/1 in a scalar register).
    Pred = 0,
    /// 8 bits in memory, sign-extended to a 32-bit register.
    S8 = 1,
    /// 8 bits in memory, zero-extended to a 32-bit register.
    U8 = 2,
    /// 16 bits in memory, sign-extended to a 32-bit register.
    S16 = 3,
    /// 16 bits in memory, zero-extended to a 32-bit register.
    U16 = 4,
    /// Signed 32-bit integer.
    S32 = 5,
    /// Unsigned 32-bit integer.
    U32 = 6,
    /// Signed 64-bit integer, in an aligned pair.
    S64 = 7,
    /// Unsigned 64-bit integer, in an aligned pair.
    U64 = 8,
    /// IEEE binary16 in the low half of a register; the upper half reads as anything and is written as zero.
    F16 = 9,
    /// IEEE binary32.
    F32 = 10,
    /// IEEE binary64, in an aligned pair.
    F64 = 11,
    /// 32 bits, or an integer operation that does not depend on the sign.
    B32 = 12,
    /// 64 bits in an aligned pair, or an integer operation that does not depend on the sign.
    B64 = 13,
    /// 128 bits in an aligned quad.
    B128 = 14,
    /// The operation has no type.
    None = 15,
}

impl Type {
    /// 32-bit registers a value of this type occupies; 0 for predicates and untyped operations.
    #[inline]
    pub const fn words(self) -> u8 {
        match self {
            Type::Pred | Type::None => 0,
            Type::S64 | Type::U64 | Type::F64 | Type::B64 => 2,
            Type::B128 => 4,
            _ => 1,
        }
    }

    /// Bytes a value of this type occupies in memory.
    pub const fn bytes(self) -> u32 {
        match self {
            Type::Pred | Type::None => 0,
            Type::S8 | Type::U8 => 1,
            Type::S16 | Type::U16 | Type::F16 => 2,
            Type::S64 | Type::U64 | Type::F64 | Type::B64 => 8,
            Type::B128 => 16,
            _ => 4,
        }
    }

    /// Whether the type is an IEEE floating-point type.
    pub const fn is_float(self) -> bool {
        matches!(self, Type::F16 | Type::F32 | Type::F64)
    }
}

/// Where an operand lives (C1, DESIGN §4). Three bits of the encoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Display, EnumIter, FromRepr)]
#[repr(u8)]
pub enum Space {
    /// No operand.
    None = 0,
    /// Local vector register of the instruction's own cluster.
    Local = 1,
    /// Main vector register.
    Main = 2,
    /// Scalar register: one value a warp.
    Scalar = 3,
    /// Predicate register: one bit a lane.
    Predicate = 4,
    /// Read-only special register.
    Special = 5,
    /// Word of the constant bank (kernel arguments); the index counts 32-bit words.
    Constant = 6,
    /// The instruction's 32-bit immediate.
    Immediate = 7,
}

/// Comparison conditions. Five bits. Integer and float conditions are told apart by the instruction's type; the float ones are
/// ordered (`o`: false on NaN) or unordered (`u`: true on NaN), as LLVM's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Display, EnumIter, EnumString, FromRepr, IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
#[repr(u8)]
pub enum Cond {
    /// Integer equal.
    Eq = 0,
    /// Integer not equal.
    Ne = 1,
    /// Integer less than; the sign is the type's (`s32` or `u32`).
    Lt = 2,
    /// Integer less or equal.
    Le = 3,
    /// Integer greater than.
    Gt = 4,
    /// Integer greater or equal.
    Ge = 5,
    /// Float ordered and equal.
    Oeq = 6,
    /// Float ordered and not equal.
    One = 7,
    /// Float ordered and less.
    Olt = 8,
    /// Float ordered and less or equal.
    Ole = 9,
    /// Float ordered and greater.
    Ogt = 10,
    /// Float ordered and greater or equal.
    Oge = 11,
    /// Neither operand is NaN.
    Ord = 12,
    /// Float unordered or equal.
    Ueq = 13,
    /// Float unordered or not equal.
    Une = 14,
    /// Float unordered or less.
    Ult = 15,
    /// Float unordered or less or equal.
    Ule = 16,
    /// Float unordered or greater.
    Ugt = 17,
    /// Float unordered or greater or equal.
    Uge = 18,
    /// Either operand is NaN.
    Uno = 19,
}

impl Cond {
    /// Whether the condition applies to floating-point types.
    pub const fn is_float(self) -> bool {
        self as u8 >= Cond::Oeq as u8
    }
}

/// Memory spaces of loads, stores and atomics. Three bits.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    Hash,
    PartialOrd,
    Ord,
    Display,
    EnumIter,
    EnumString,
    FromRepr,
    IntoStaticStr,
    Serialize,
    Deserialize,
)]
#[strum(serialize_all = "lowercase")]
#[serde(rename_all = "lowercase")]
#[repr(u8)]
pub enum MemorySpace {
    /// Device memory, 64-bit addresses.
    Global = 0,
    /// The work-group's memory (OpenCL `__local`), 32-bit addresses from 0.
    Local = 1,
    /// The work-item's own memory, 32-bit addresses from 0, interleaved by the hardware.
    Private = 2,
    /// Read-only memory: 64-bit addresses as `Global`, through the constant cache.
    Constant = 3,
    /// The argument bank: 32-bit byte addresses from 0, for indexed access to by-value structures.
    Argument = 4,
}

/// How a memory operand forms its address from base `a`, offset `b` and the immediate (DESIGN §4). Two bits.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Display, EnumIter, EnumString, FromRepr, IntoStaticStr, Default,
)]
#[strum(serialize_all = "lowercase")]
#[repr(u8)]
pub enum AddressMode {
    /// `base64 + zext((offset32 + imm) mod 2^32)`. The sum of offset and immediate wraps, so the form is exact for every access
    /// inside an object of at most 4 GiB that starts at the base. An absent offset is zero. In 32-bit spaces the base is absent
    /// or a 32-bit word and the whole sum wraps.
    #[default]
    U32 = 0,
    /// `base64 + sext(offset32) + sext(imm)`.
    S32 = 1,
    /// `offset64 + sext(imm)`; no base: a full address per lane.
    A64 = 2,
    /// A place on a surface relative to the work-item's global ids (G5, G6): the address-generation unit adds
    /// `(gid.x + dx) * stride.x + (gid.y + dy) * stride.y + (gid.z + dz) * stride.z` and the base, a uniform
    /// 32-bit number of bytes (S, constant or absent), modulo 2^32 to the surface's start. The immediate
    /// holds the descriptor's number and dx, dy, dz ([`crate::SurfacePlace`]).
    Surface = 3,
}

/// Read-modify-write operations of `atom`. Four bits.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Display, EnumIter, EnumString, FromRepr, IntoStaticStr, Default,
)]
#[strum(serialize_all = "lowercase")]
#[repr(u8)]
pub enum AtomicOp {
    /// `old + data`, integer or float by the type.
    #[default]
    Add = 0,
    /// `old - data`.
    Sub = 1,
    /// `data`.
    Xchg = 2,
    /// `old & data`.
    And = 3,
    /// `old | data`.
    Or = 4,
    /// `old ^ data`.
    Xor = 5,
    /// Minimum, by the type.
    Min = 6,
    /// Maximum, by the type.
    Max = 7,
    /// `old >= data ? 0 : old + 1` (unsigned).
    Inc = 8,
    /// `old == 0 || old > data ? data : old - 1` (unsigned).
    Dec = 9,
    /// The data operand is a tuple (comparand, replacement) of twice the width: `old == comparand ? replacement : old`.
    CmpXchg = 10,
}

/// Cache policies of loads and stores (K2–K4). Three bits; which are valid depends on load or store (K6).
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Display, EnumIter, EnumString, FromRepr, IntoStaticStr, Default,
)]
#[strum(serialize_all = "lowercase")]
#[repr(u8)]
pub enum CachePolicy {
    /// Loads: `.ca`, cache at all levels. Stores: `.wb`, write back. The default, printed as nothing.
    #[default]
    Default = 0,
    /// Cache at the global level (L2).
    Cg = 1,
    /// Streaming; on a private-memory load it reads as last use (`.lu`).
    Cs = 2,
    /// Loads: do not cache, fetch again (volatile).
    Cv = 3,
    /// Stores: write through.
    Wt = 4,
}

/// Caches that `cctl` names (K5). Three bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Display, EnumIter, EnumString, FromRepr, IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
#[repr(u8)]
pub enum CacheName {
    /// Data L1.
    D = 0,
    /// Uniform L1.
    U = 1,
    /// Constant L1.
    C = 2,
    /// Instruction L1; addresses are byte offsets in the kernel's code.
    I = 3,
    /// Textures: the read-only path, which is the uniform L1's (K1 has no L1 of its own for them).
    T = 4,
}

/// What `cctl` does (K5). Four bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Display, EnumIter, EnumString, FromRepr, IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
#[repr(u8)]
pub enum CacheOperation {
    /// State of the line in L1: bit 0 valid, bit 1 dirty.
    Qry1 = 0,
    /// Prefetch into L1.
    Pf1 = 1,
    /// Prefetch into L1.5.
    #[strum(serialize = "pf1.5")]
    Pf15 = 2,
    /// Prefetch into L2.
    Pf2 = 3,
    /// Write dirty bytes back; the line stays.
    Wb = 4,
    /// Invalidate, writing back first if dirty.
    Iv = 5,
    /// Invalidate the whole cache, writing back first what is dirty.
    Ivall = 6,
    /// Invalidate without writing back.
    Rs = 7,
}

/// Rounding of conversions to integer and of `round`. Two bits.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Display, EnumIter, EnumString, FromRepr, IntoStaticStr, Default,
)]
#[strum(serialize_all = "lowercase")]
#[repr(u8)]
pub enum Rounding {
    /// To nearest, ties to even.
    #[default]
    Rn = 0,
    /// Toward zero.
    Rz = 1,
    /// Toward plus infinity.
    Rp = 2,
    /// Toward minus infinity.
    Rm = 3,
}

/// The unit class of an operation: the key under which the machine description gives its unit, latency, rate and energy.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Display, EnumIter, EnumString, IntoStaticStr, Serialize, Deserialize,
)]
#[strum(serialize_all = "kebab-case")]
#[serde(rename_all = "kebab-case")]
pub enum OpClass {
    /// Moves and selects of up to 128 bits.
    Move,
    /// 32-bit integer add, logic, shift, compare, min/max, bit operations, predicate logic.
    Int32,
    /// 64-bit integer add, logic, shift, compare.
    Int64,
    /// 32-bit integer multiply and multiply-add.
    Mul32,
    /// 64-bit integer multiply, and 32×32→64.
    Mul64,
    /// Integer division and remainder.
    IntDivide,
    /// Binary16 arithmetic.
    Float16,
    /// Binary32 add, multiply, fused multiply-add, compare, min/max, rounding.
    Float32,
    /// Binary64 arithmetic.
    Float64,
    /// Correctly rounded division and square root of any width.
    FloatDivide,
    /// Type conversion.
    Convert,
    /// Special functions: reciprocal, reciprocal square root, sine, cosine, exp2, log2.
    Special,
    /// Operations across the lanes of a warp: first, ballot, shuffle.
    CrossLane,
    /// Loads from global and constant memory (plus the memory system's latency).
    LoadGlobal,
    /// Loads from work-group memory.
    LoadLocal,
    /// Loads from private memory.
    LoadPrivate,
    /// Loads from the argument bank.
    LoadArgument,
    /// Stores to any space.
    Store,
    /// Atomic operations.
    Atomic,
    /// Fences and cache control.
    MemoryControl,
    /// Branches, barriers, exit: the front end.
    Control,
}

macro_rules! specials {
    ($($name:ident = $value:literal, $text:literal, $uniform:literal, $doc:literal;)*) => {
        /// Read-only special registers, 32 bits each. Eight bits of the encoding.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[derive(Display, EnumIter, EnumString, FromRepr, IntoStaticStr)]
        #[repr(u8)]
        pub enum Special {
            $(#[doc = $doc] #[strum(serialize = $text)] $name = $value,)*
        }
        impl Special {
            /// Whether all lanes of a warp read the same value (S2).
            pub const fn is_uniform(self) -> bool {
                match self { $(Special::$name => $uniform,)* }
            }
            /// One line of documentation.
            pub const fn doc(self) -> &'static str {
                match self { $(Special::$name => $doc,)* }
            }
        }
    };
}

specials! {
    LocalIdX = 0, "lid.x", false, "Work-item id in its work-group, dimension 0.";
    LocalIdY = 1, "lid.y", false, "Work-item id in its work-group, dimension 1.";
    LocalIdZ = 2, "lid.z", false, "Work-item id in its work-group, dimension 2.";
    GlobalIdX = 3, "gid.x", false, "Global work-item id with the global offset, dimension 0.";
    GlobalIdY = 4, "gid.y", false, "Global work-item id with the global offset, dimension 1.";
    GlobalIdZ = 5, "gid.z", false, "Global work-item id with the global offset, dimension 2.";
    GroupIdX = 6, "group.x", true, "Work-group id, dimension 0.";
    GroupIdY = 7, "group.y", true, "Work-group id, dimension 1.";
    GroupIdZ = 8, "group.z", true, "Work-group id, dimension 2.";
    LocalSizeX = 9, "lsize.x", true,
        "Size of this work-group, dimension 0 (the last group of a non-uniform range may be smaller).";
    LocalSizeY = 10, "lsize.y", true, "Size of this work-group, dimension 1.";
    LocalSizeZ = 11, "lsize.z", true, "Size of this work-group, dimension 2.";
    EnqueuedLocalSizeX = 12, "elsize.x", true, "Enqueued work-group size, dimension 0.";
    EnqueuedLocalSizeY = 13, "elsize.y", true, "Enqueued work-group size, dimension 1.";
    EnqueuedLocalSizeZ = 14, "elsize.z", true, "Enqueued work-group size, dimension 2.";
    GlobalSizeX = 15, "gsize.x", true, "Global size, dimension 0.";
    GlobalSizeY = 16, "gsize.y", true, "Global size, dimension 1.";
    GlobalSizeZ = 17, "gsize.z", true, "Global size, dimension 2.";
    NumGroupsX = 18, "ngroups.x", true, "Number of work-groups, dimension 0.";
    NumGroupsY = 19, "ngroups.y", true, "Number of work-groups, dimension 1.";
    NumGroupsZ = 20, "ngroups.z", true, "Number of work-groups, dimension 2.";
    GlobalOffsetX = 21, "goffset.x", true, "Global offset, dimension 0.";
    GlobalOffsetY = 22, "goffset.y", true, "Global offset, dimension 1.";
    GlobalOffsetZ = 23, "goffset.z", true, "Global offset, dimension 2.";
    WorkDim = 24, "workdim", true, "Dimensions of the launch, 1 to 3.";
    LaneId = 25, "lane", false, "Lane of the warp, 0 to N-1.";
    WarpId = 26, "warp", true, "Warp of the work-group.";
    NumWarps = 27, "nwarps", true, "Warps in the work-group.";
    ExecLow = 28, "exec.lo", true, "Low 32 bits of EXEC, the active lanes (S1).";
    ExecHigh = 29, "exec.hi", true, "High 32 bits of EXEC; 0 for warps of at most 32 lanes.";
    LocalLinearId = 30, "llid", false, "Linear local id: (z * lsize.y + y) * lsize.x + x.";
    ClockLow = 31, "clock.lo", true, "Low 32 bits of the SM's cycle counter (counts issued instructions in functional mode).";
    SmId = 32, "sm", true, "The SM that runs the work-group (0 in functional mode).";
    RelativeIdX = 33, "rid.x", false,
        "group.x * lsize.x + lid.x: the global id without the offset where all work-groups have one size.";
    RelativeIdY = 34, "rid.y", false, "group.y * lsize.y + lid.y.";
    RelativeIdZ = 35, "rid.z", false, "group.z * lsize.z + lid.z.";
}
