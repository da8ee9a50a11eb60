//! The instruction table: one row per operation. Everything that knows an operation by name starts here.
//!
//! A row gives mnemonic, allowed types, operand roles, flags, the unit that executes the operation, what it means and one
//! line of documentation; without one of them it does not compile. The operation's number is its position (append rows;
//! never reorder within a released encoding).

use strum::{EnumIter, FromRepr};

use super::meaning::{self, CrossLane, Lanewise, Meaning, MemoryAction, OneLane, Reference, Words};
use super::types::{MemorySpace, OpClass, Type};
use super::{AddressMode, AtomicOp, CacheOperation, ImageAccess, Inst};

/// What an operand is for: how many words it has and which spaces it may come from.
///
/// Vector values (`L`, `M`) may be replaced by `S`, special registers, constants and immediates in every source role unless the
/// role says otherwise. An instruction with a destination in `S` may only read `S`, uniform specials, constants and immediates
/// (except `first` and `ballot`, which read vectors or predicates).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// A value of the instruction's type.
    Value,
    /// A value of the conversion's source type ([`super::Mods::from`]).
    From,
    /// A 32-bit value whatever the type (shift amounts, lane numbers, exponents).
    Word,
    /// A 64-bit value whatever the type (result of 32×32→64, ballots).
    Pair,
    /// A predicate: P as source or destination; as source also S or an immediate (non-zero is true in all lanes); as destination
    /// also S (0 or 1).
    Predicate,
    /// Uniform base address: S pair or constant pair (64-bit spaces) or absent; S or constant word in 32-bit spaces.
    Base,
    /// Per-lane offset: 32 bits (modes `u32`, `s32`) or 64 (`a64`), or absent.
    Offset,
    /// Data of a store: as many words as the type has.
    Data,
    /// Data of an atomic: as the type, twice as many for `cmpxchg`.
    AtomicData,
    /// Four 32-bit words whatever the type (a texel that is written).
    Quad,
    /// Coordinates of a texel: as many words as [`super::ImageAccess`] says.
    Coordinates,
    /// Channels of a texel that is read: as many words as [`super::ImageAccess`] says.
    Channels,
    /// A condition in S only (scalar branches): non-zero is true.
    ScalarCondition,
}

/// Properties of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct Flags {
    /// Ends a basic block.
    pub terminator: bool,
    /// Reads memory.
    pub load: bool,
    /// Writes memory.
    pub store: bool,
    /// Has effects beyond destination and memory (barriers, fences, cache control, exit): never removed or
    /// reordered across memory.
    pub side_effect: bool,
    /// Sources may carry `neg` and `abs` (float types).
    pub float_mods: bool,
    /// May have a destination in S (run on the scalar unit).
    pub scalar: bool,
    /// Sources 0 and 1 commute.
    pub commutes: bool,
    /// Exists only in MIR; has no encoding.
    pub pseudo: bool,
    /// Uses [`super::Mods::cond`].
    pub cond: bool,
    /// Uses [`super::Mods::rounding`].
    pub rounding: bool,
    /// May use [`super::Mods::saturate`].
    pub saturate: bool,
    /// Uses [`super::Mods::from`].
    pub from: bool,
    /// Uses [`super::Inst::imm`] as an immediate field of its own (not as an address offset).
    pub imm: bool,
    /// Reads other lanes' values (never moved into or out of divergent control flow).
    pub convergent: bool,
    /// Targets of a branch: one, or two where it may name its reconvergence point.
    pub targets: u8,
    /// Takes no guard.
    pub unguarded: bool,
    /// Needs a guard.
    pub guard_required: bool,
}

const F: Flags = Flags {
    terminator: false,
    load: false,
    store: false,
    side_effect: false,
    float_mods: false,
    scalar: false,
    commutes: false,
    pseudo: false,
    cond: false,
    rounding: false,
    saturate: false,
    from: false,
    imm: false,
    convergent: false,
    targets: 0,
    unguarded: false,
    guard_required: false,
};
/// Plain arithmetic that the scalar unit also has.
const SC: Flags = Flags { scalar: true, ..F };
const SC_COMM: Flags = Flags { commutes: true, ..SC };
/// Arithmetic on integers and floats.
const ARITH: Flags = Flags { float_mods: true, ..SC };
const ARITH_COMM: Flags = Flags { commutes: true, ..ARITH };
const CONTROL: Flags = Flags { terminator: true, side_effect: true, ..F };

/// Which unit class executes an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UnitRule {
    /// This one, whatever the type.
    Fixed(OpClass),
    /// That of simple arithmetic at the type's width.
    Arithmetic,
    /// As [`UnitRule::Arithmetic`] for floats, the multiplier of the type's width for integers.
    Multiply,
    /// The dividers of floats and of integers.
    Divide,
    /// That of loads from the memory space.
    Load,
}

impl UnitRule {
    /// The class at a type, with the memory space of a memory operation.
    pub const fn class(self, ty: Type, space: Option<MemorySpace>) -> OpClass {
        match (self, space) {
            (UnitRule::Fixed(class), _) => class,
            (UnitRule::Arithmetic, _) => arithmetic(ty),
            (UnitRule::Multiply, _) => match arithmetic(ty) {
                OpClass::Int32 => OpClass::Mul32,
                OpClass::Int64 => OpClass::Mul64,
                float => float,
            },
            (UnitRule::Divide, _) => {
                if ty.is_float() {
                    OpClass::FloatDivide
                } else {
                    OpClass::IntDivide
                }
            }
            (UnitRule::Load, Some(MemorySpace::Local)) => OpClass::LoadLocal,
            (UnitRule::Load, Some(MemorySpace::Private)) => OpClass::LoadPrivate,
            (UnitRule::Load, Some(MemorySpace::Argument)) => OpClass::LoadArgument,
            (UnitRule::Load, Some(MemorySpace::Global | MemorySpace::Constant) | None) => OpClass::LoadGlobal,
        }
    }
}

/// The class of simple arithmetic.
const fn arithmetic(ty: Type) -> OpClass {
    match ty {
        Type::F16 => OpClass::Float16,
        Type::F32 => OpClass::Float32,
        Type::F64 => OpClass::Float64,
        Type::S64 | Type::U64 | Type::B64 => OpClass::Int64,
        Type::Pred | Type::S8 | Type::U8 | Type::S16 | Type::U16 | Type::S32 | Type::U32 | Type::B32 => OpClass::Int32,
        // No arithmetic has these.
        Type::B128 | Type::None => OpClass::Int32,
    }
}

/// A row of the table.
#[derive(Clone, Copy, Debug)]
pub struct OpInfo {
    /// The operation.
    pub op: Op,
    /// Assembly mnemonic without type and modifiers.
    pub mnemonic: &'static str,
    /// Types the operation exists for.
    pub types: &'static [Type],
    /// Destination role.
    pub dst: Option<Role>,
    /// Source roles.
    pub srcs: &'static [Role],
    /// Flags.
    pub flags: Flags,
    /// Which unit class executes it.
    pub unit: UnitRule,
    /// What it computes.
    pub meaning: Meaning<Reference>,
    /// What it does, in one line.
    pub doc: &'static str,
}

macro_rules! table {
    ($($op:ident $mnemonic:literal [$($ty:ident)*] ($($dst:ident)?) <- ($($src:ident)*)
        $flags:expr, $unit:expr, $kind:ident $(($what:ident))?,
        $doc:literal;)*) => {
        /// Operations, in the order of the table; the discriminant is the opcode field.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, EnumIter, FromRepr)]
        #[repr(u16)]
        pub enum Op { $(#[doc = $doc] $op,)* }

        /// All rows, indexed by `Op as usize`.
        pub static TABLE: &[OpInfo] = &[$(OpInfo {
            op: Op::$op,
            mnemonic: $mnemonic,
            types: &[$(Type::$ty),*],
            dst: table!(@role $($dst)?),
            srcs: &[$(Role::$src),*],
            flags: $flags,
            unit: $unit,
            meaning: table!(@meaning $kind $($what)?),
            doc: $doc,
        },)*];

        impl Inst {
            /// What the instruction means, its lane's function made into what `lanewise` makes of it; `None` for a type
            /// or modifiers without a meaning.
            pub fn meaning<V: Lanewise>(&self, lanewise: V) -> Meaning<Option<V::Output>> {
                match self.op {
                    $(Op::$op => table!(@make self, lanewise, $kind $($what)?),)*
                }
            }
        }
    };
    (@role) => { None };
    (@role $dst:ident) => { Some(Role::$dst) };
    (@meaning Lane $function:ident) => {
        Meaning::Lane(|inst: &Inst, sources: [Words; 3]| meaning::$function(inst, OneLane { inst, sources }))
    };
    (@meaning CrossLane $what:ident) => { Meaning::CrossLane(CrossLane::$what) };
    (@meaning Memory $what:ident) => { Meaning::Memory(MemoryAction::$what) };
    (@meaning $kind:ident) => { Meaning::$kind };
    (@make $inst:expr, $lanewise:expr, Lane $function:ident) => { Meaning::Lane(meaning::$function($inst, $lanewise)) };
    (@make $inst:expr, $lanewise:expr, $kind:ident $($what:ident)?) => { table!(@meaning $kind $($what)?) };
}

use OpClass as C;
use UnitRule::{Arithmetic, Divide, Fixed, Load, Multiply};

table! {
    // Moves and selection.
    Mov "mov" [B32 B64 B128 Pred] (Value) <- (Value)
        SC, Fixed(C::Move), Lane(mov),
        "d = a. From S, specials, constants and immediates to any lane register; `pred` copies predicates. b128 \
         has no constant or immediate source.";
    Sel "sel" [B32 B64 Pred] (Value) <- (Predicate Value Value)
        SC, Fixed(C::Move), Lane(sel),
        "d = p ? a : b, lane by lane.";
    First "first" [B32 B64] (Value) <- (Value)
        Flags { scalar: true, convergent: true, ..F }, Fixed(C::CrossLane), CrossLane(First),
        "S destination: the value of the first active lane of vector a.";
    // Integer arithmetic.
    Add "add" [B32 B64 S32 U32 S64 U64 F16 F32 F64] (Value) <- (Value Value)
        Flags { saturate: true, ..ARITH_COMM }, Arithmetic, Lane(add),
        "d = a + b. Integers wrap (b32, b64) or, with `.sat` (s32, u32, s64, u64), clamp.";
    Sub "sub" [B32 B64 S32 U32 S64 U64] (Value) <- (Value Value)
        Flags { saturate: true, ..SC }, Arithmetic, Lane(sub),
        "d = a - b. Wraps (b32, b64) or, with `.sat`, clamps.";
    Mul "mul" [B32 B64 F16 F32 F64] (Value) <- (Value Value)
        ARITH_COMM, Multiply, Lane(mul),
        "d = a * b, low half for integers.";
    MulHi "mulhi" [S32 U32 S64 U64] (Value) <- (Value Value)
        SC_COMM, Multiply, Lane(mul_hi),
        "d = upper half of a * b.";
    MulWide "mulwide" [S32 U32] (Pair) <- (Value Value)
        SC_COMM, Fixed(C::Mul64), Lane(mul_wide),
        "d (64 bits) = a * b, both 32 bits.";
    Mad "mad" [B32 B64] (Value) <- (Value Value Value)
        SC_COMM, Multiply, Lane(mad),
        "d = a * b + c, integers, wrapping.";
    Fma "fma" [F16 F32 F64] (Value) <- (Value Value Value)
        ARITH_COMM, Arithmetic, Lane(fma),
        "d = a * b + c with one rounding.";
    Div "div" [S32 U32 S64 U64 F16 F32 F64] (Value) <- (Value Value)
        ARITH, Divide, Lane(div),
        "d = a / b. Floats correctly rounded; integers truncate; x/0 is x, MIN/-1 is MIN.";
    Rem "rem" [S32 U32 S64 U64] (Value) <- (Value Value)
        SC, Divide, Lane(rem),
        "The remainder of a / b, of a's sign; x%0 is 0, MIN%-1 is 0.";
    Abs "abs" [S32 S64] (Value) <- (Value)
        SC, Arithmetic, Lane(abs),
        "d = |a|; |MIN| is MIN.";
    Min "min" [S32 U32 S64 U64 F16 F32 F64] (Value) <- (Value Value)
        ARITH_COMM, Arithmetic, Lane(min),
        "Minimum; for floats IEEE minNum: a NaN operand gives the other; -0 < +0.";
    Max "max" [S32 U32 S64 U64 F16 F32 F64] (Value) <- (Value Value)
        ARITH_COMM, Arithmetic, Lane(max),
        "Maximum; for floats IEEE maxNum: a NaN operand gives the other; -0 < +0.";
    // Bits.
    And "and" [B32 B64 Pred] (Value) <- (Value Value)
        SC_COMM, Arithmetic, Lane(and),
        "d = a & b.";
    Or "or" [B32 B64 Pred] (Value) <- (Value Value)
        SC_COMM, Arithmetic, Lane(or),
        "d = a | b.";
    Xor "xor" [B32 B64 Pred] (Value) <- (Value Value)
        SC_COMM, Arithmetic, Lane(xor),
        "d = a ^ b.";
    Not "not" [B32 B64 Pred] (Value) <- (Value)
        SC, Arithmetic, Lane(not),
        "d = ~a.";
    Shl "shl" [B32 B64] (Value) <- (Value Word)
        SC, Arithmetic, Lane(shl),
        "d = a << (b mod width).";
    Shr "shr" [S32 U32 S64 U64] (Value) <- (Value Word)
        SC, Arithmetic, Lane(shr),
        "d = a >> (b mod width), arithmetic for s32, s64.";
    Fshl "fshl" [B32 B64] (Value) <- (Value Value Word)
        SC, Arithmetic, Lane(fshl),
        "d = upper half of (a:b) << (c mod width).";
    Fshr "fshr" [B32 B64] (Value) <- (Value Value Word)
        SC, Arithmetic, Lane(fshr),
        "d = lower half of (a:b) >> (c mod width).";
    Clz "clz" [B32 B64] (Value) <- (Value)
        SC, Arithmetic, Lane(clz),
        "Leading zero bits; the width for 0.";
    Ctz "ctz" [B32 B64] (Value) <- (Value)
        SC, Arithmetic, Lane(ctz),
        "Trailing zero bits; the width for 0.";
    Popc "popc" [B32 B64] (Value) <- (Value)
        SC, Arithmetic, Lane(popc),
        "Bits set.";
    Brev "brev" [B32 B64] (Value) <- (Value)
        SC, Arithmetic, Lane(brev),
        "Bits in reverse order.";
    Bswap "bswap" [B32 B64] (Value) <- (Value)
        SC, Arithmetic, Lane(bswap),
        "Bytes in reverse order.";
    // Floating point.
    Sqrt "sqrt" [F16 F32 F64] (Value) <- (Value)
        ARITH, Divide, Lane(sqrt),
        "Square root, correctly rounded.";
    Round "round" [F16 F32 F64] (Value) <- (Value)
        Flags { rounding: true, ..ARITH }, Arithmetic, Lane(round),
        "d = a rounded to an integral value: `.rn` ties to even, `.rz` trunc, `.rp` ceil, `.rm` floor.";
    Copysign "copysign" [F16 F32 F64] (Value) <- (Value Value)
        ARITH, Arithmetic, Lane(copysign),
        "Magnitude of a, sign of b.";
    Ldexp "ldexp" [F16 F32 F64] (Value) <- (Value Word)
        ARITH, Arithmetic, Lane(ldexp),
        "d = a * 2^b, b a signed 32-bit integer, with one rounding.";
    FrexpMant "frexpmant" [F16 F32 F64] (Value) <- (Value)
        ARITH, Arithmetic, Lane(frexp_mant),
        "Mantissa of a in [0.5, 1); 0, infinity and NaN unchanged.";
    FrexpExp "frexpexp" [F16 F32 F64] (Word) <- (Value)
        ARITH, Arithmetic, Lane(frexp_exp),
        "Exponent e of a = m * 2^e, m in [0.5, 1); 0 for 0, infinity and NaN.";
    Rcp "rcp" [F32] (Value) <- (Value)
        ARITH, Fixed(C::Special), Lane(rcp),
        "Approximate reciprocal (at most 1 ulp).";
    Rsq "rsq" [F32] (Value) <- (Value)
        ARITH, Fixed(C::Special), Lane(rsq),
        "Approximate reciprocal square root (at most 2 ulp).";
    Sin "sin" [F32] (Value) <- (Value)
        ARITH, Fixed(C::Special), Lane(sin),
        "Approximate sine of a radians.";
    Cos "cos" [F32] (Value) <- (Value)
        ARITH, Fixed(C::Special), Lane(cos),
        "Approximate cosine of a radians.";
    Ex2 "ex2" [F32] (Value) <- (Value)
        ARITH, Fixed(C::Special), Lane(ex2),
        "Approximate 2^a.";
    Lg2 "lg2" [F32] (Value) <- (Value)
        ARITH, Fixed(C::Special), Lane(lg2),
        "Approximate log2(a).";
    // Comparison and conversion.
    Cmp "cmp" [B32 B64 S32 U32 S64 U64 F16 F32 F64] (Predicate) <- (Value Value)
        Flags { cond: true, ..ARITH }, Arithmetic, Lane(cmp),
        "p = a cond b. `eq` and `ne` of integers take b32 or b64; the order conditions take s32, u32, s64, u64.";
    Cvt "cvt" [S8 U8 S16 U16 S32 U32 S64 U64 F16 F32 F64] (Value) <- (From)
        Flags { rounding: true, saturate: true, from: true, ..ARITH }, Fixed(C::Convert), Lane(cvt),
        "Conversion `cvt.TO.FROM`. To a narrower integer: truncates and extends to 32 bits (or clamps with \
         `.sat`). Float to integer: rounds as told, clamps to the range, NaN gives 0. To float: rounds as told.";
    // Across lanes.
    Ballot "ballot" [None] (Pair) <- (Predicate)
        Flags { scalar: true, convergent: true, ..F }, Fixed(C::CrossLane), CrossLane(Ballot),
        "S pair: the mask of active lanes whose predicate is 1.";
    Shuffle "shfl" [B32] (Value) <- (Value Word)
        Flags { convergent: true, ..F }, Fixed(C::CrossLane), CrossLane(Shuffle),
        "d = a of lane (b mod N); an inactive source lane gives its register's old value.";
    // Memory. Address: a = base, b = offset, imm; see AddressMode.
    Load "ld" [S8 U8 S16 U16 B32 B64 B128] (Value) <- (Base Offset)
        Flags { load: true, scalar: true, ..F }, Load, Memory(Load),
        "d = memory[address]. With a destination in S the address must be uniform and the warp loads once.";
    Store "st" [U8 U16 B32 B64 B128] () <- (Base Offset Data)
        Flags { store: true, ..F }, Fixed(C::Store), Memory(Store),
        "memory[address] = data, for each active lane; lanes writing one address leave one of the values.";
    Atomic "atom" [S32 U32 S64 U64 B32 B64 F32 F64] (Value) <- (Base Offset AtomicData)
        Flags { load: true, store: true, side_effect: true, ..F }, Fixed(C::Atomic), Memory(Atomic),
        "d (may be absent) = memory[address], which is then replaced by the operation's result, atomically.";
    Fence "fence" [None] () <- ()
        Flags { side_effect: true, imm: true, ..F }, Fixed(C::MemoryControl), Memory(Fence),
        "Orders the work-item's earlier memory accesses before its later ones. imm bit 0: local, bit 1: global memory.";
    // Control.
    Barrier "bar" [None] () <- ()
        Flags { side_effect: true, imm: true, convergent: true, unguarded: true, ..F }, Fixed(C::Control), Control,
        "Waits until every work-item of the work-group that has not exited is here; orders memory. imm as fence.";
    Bra "bra" [None] () <- ()
        Flags { targets: 1, unguarded: true, ..CONTROL }, Fixed(C::Control), Control,
        "Goes to the target with all active lanes.";
    BraScalar "bras" [None] () <- (ScalarCondition)
        Flags { imm: true, targets: 1, unguarded: true, ..CONTROL }, Fixed(C::Control), Control,
        "Goes to the target if the scalar condition is non-zero (imm 0) or zero (imm 1), else falls through. \
         Touches no reconvergence state.";
    BraDivergent "brad" [None] () <- ()
        Flags { targets: 2, guard_required: true, ..CONTROL }, Fixed(C::Control), Control,
        "Lanes whose guard holds go to the target, the others fall through, first; all meet at the reconvergence \
         point. The guard is required.";
    Exit "exit" [None] () <- ()
        Flags { unguarded: true, ..CONTROL }, Fixed(C::Control), Control,
        "Ends the active lanes' work-items: they leave every mask of the reconvergence stack.";
    Trap "trap" [None] () <- ()
        Flags { unguarded: true, ..CONTROL }, Fixed(C::Control), Control,
        "Reached only by undefined behaviour: a fault.";
    Nop "nop" [None] () <- ()
        F, Fixed(C::Control), Control,
        "Nothing.";
    Release "release" [B32 B64 B128] () <- (Value)
        Flags { side_effect: true, imm: true, ..F }, Fixed(C::Control), Control,
        "The shared main register (tuple) a is free from here on (REN-5, REN-6); with imm 1 only if no lane of \
         the warp waits (REN-7).";
    // MIR only.
    Phi "phi" [B32 B64 B128 Pred] (Value) <- ()
        Flags { pseudo: true, ..F }, Fixed(C::Move), Pseudo,
        "SSA phi; the targets are the incoming blocks.";
    Tuple "tuple" [B64 B128] (Value) <- ()
        Flags { pseudo: true, ..F }, Fixed(C::Move), Pseudo,
        "d = the concatenation of 32-bit sources (2 for b64, 4 for b128; an absent source leaves its word undefined).";
    Undef "undef" [B32 B64 B128 Pred] (Value) <- ()
        Flags { pseudo: true, ..F }, Fixed(C::Move), Pseudo,
        "d = any value.";
    // Images (G2): the immediate is an `ImageAccess`.
    Sample "sample" [F32 S32 U32] (Channels) <- (Word Coordinates)
        Flags { load: true, imm: true, ..F }, Fixed(C::LoadGlobal), Memory(ReadImage),
        "d = texel of the image at coordinates b (x, y, z; the layer behind the last) through sampler a: as floats \
         (f32) or integers, all four channels or one or two of them.";
    ImageStore "stimg" [F32 S32 U32] () <- (Coordinates Quad)
        Flags { store: true, side_effect: true, imm: true, ..F }, Fixed(C::Store), Memory(WriteImage),
        "Texel of the image at integer coordinates a = b, converted to the image's format.";
    // Caches (K2, K5).
    LoadUniform "ldu" [S8 U8 S16 U16 B32 B64 B128] (Value) <- (Base Offset)
        Flags { load: true, scalar: true, ..F }, Fixed(C::LoadGlobal), Memory(Load),
        "d = memory[address] through the uniform cache: read-only data, best at one address for all lanes.";
    CacheControl "cctl" [None] (Word) <- (Base Offset)
        Flags { side_effect: true, ..F }, Fixed(C::MemoryControl), Memory(CacheControl),
        "Cache control `cctl{.cache}.op` of the line at a global address; `qry1` alone has a destination, `ivall` \
         no address. Prefetches never fault.";
    CacheControlLocal "cctll" [None] (Word) <- (Base Offset)
        Flags { side_effect: true, ..F }, Fixed(C::MemoryControl), Memory(CacheControl),
        "The same of the work-item's private memory, in the data cache.";
    // Bits, continued.
    AndNot "andn" [B32 B64 Pred] (Value) <- (Value Value)
        SC, Arithmetic, Lane(and_not),
        "d = a & ~b.";
}

impl Op {
    /// The operation's row.
    #[inline]
    pub fn info(self) -> &'static OpInfo {
        &TABLE[self as usize]
    }

    /// The unit class of the operation at a type, with the memory space of its modifiers where it is a memory operation.
    #[inline]
    pub fn class(self, ty: Type, space: Option<MemorySpace>) -> OpClass {
        self.info().unit.class(ty, space)
    }
}

impl Inst {
    /// The instruction's row.
    #[inline]
    pub fn info(&self) -> &'static OpInfo {
        self.op.info()
    }

    /// The instruction's unit class.
    #[inline]
    pub fn class(&self) -> OpClass {
        self.op.class(self.ty, self.mods.space)
    }

    /// Whether the instruction is a memory operation with an address operand.
    pub fn is_memory(&self) -> bool {
        self.info().srcs.first() == Some(&Role::Base)
    }

    /// Whether the instruction is `cctl` or `cctll`.
    pub fn is_cache_control(&self) -> bool {
        matches!(self.info().meaning, Meaning::Memory(MemoryAction::CacheControl))
    }

    /// Whether the instruction has a destination: as its row says, but of `cctl` only `qry1`.
    pub fn has_destination(&self) -> bool {
        self.info().dst.is_some() && (!self.is_cache_control() || matches!(self.mods.control, Some((_, CacheOperation::Qry1))))
    }

    /// Words of a role's operand in this instruction: 1, 2 or 4; 0 for predicates.
    #[inline]
    pub fn role_words(&self, role: Role) -> u8 {
        match role {
            Role::Value | Role::Data => self.ty.words(),
            Role::From => self.mods.from.map_or(1, Type::words),
            Role::Word | Role::ScalarCondition => 1,
            Role::Pair => 2,
            Role::Quad => 4,
            Role::Coordinates => ImageAccess::from_immediate(self.imm).map_or(4, |a| a.coordinates),
            Role::Channels => ImageAccess::from_immediate(self.imm).map_or(4, ImageAccess::texel_words),
            Role::Predicate => 0,
            Role::Base if self.mods.address == AddressMode::Surface => 1,
            Role::Base => match self.mods.space {
                Some(MemorySpace::Local | MemorySpace::Private | MemorySpace::Argument) => 1,
                _ => 2,
            },
            Role::Offset => {
                if self.mods.address == AddressMode::A64 {
                    2
                } else {
                    1
                }
            }
            Role::AtomicData => self.ty.words() * if self.mods.atomic == AtomicOp::CmpXchg { 2 } else { 1 },
        }
    }

    /// Words of the destination: 1, 2 or 4; 0 for a predicate or no destination.
    #[inline]
    pub fn dst_words(&self) -> u8 {
        self.info().dst.map_or(0, |r| self.role_words(r))
    }

    /// Role of source `i`; pseudo operations have `Value` (`phi`) or `Word` (`tuple`) sources.
    #[inline]
    pub fn src_role(&self, i: usize) -> Role {
        match self.op {
            Op::Phi => Role::Value,
            Op::Tuple => Role::Word,
            _ => self.info().srcs[i],
        }
    }

    /// Words of source `i`: 1, 2 or 4; 0 for a predicate.
    #[inline]
    pub fn src_words(&self, i: usize) -> u8 {
        self.role_words(self.src_role(i))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use strum::IntoEnumIterator;

    #[test]
    fn rows_are_in_order_of_the_operations() {
        for op in Op::iter() {
            assert_eq!(op.info().op, op);
            assert!(!op.info().types.is_empty(), "{op:?} has no type");
            assert!(op.info().srcs.len() <= 3);
        }
    }
}
