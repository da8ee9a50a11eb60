//! Address forms: from LLVM pointers to base, 32-bit offset and immediate.
//!
//! A pointer derived from one kernel argument, variable or alloca is kept as *root + uniform offset + varying
//! offset + immediate*, all offsets 32 bits and wrapping, as the low word of the address does to which they are
//! added. That is exact for every access inside the object, before its root as well as behind it, because no
//! object crosses a multiple of 4 GiB (docs/ARCHITECTURE.md, "Addresses"). Only the low words of 64-bit index
//! arithmetic are needed for it; what remains of the 64-bit arithmetic is dead and removed. Pointers that may
//! come from several roots, from memory or from integers are full 64-bit values.

use heddle_isa::{AddressMode, Inst, MemorySpace, Op, Operand, SurfacePlace, Type};
use heddle_llvm_passes::ir::{Value, address_space};
use heddle_llvm_passes::polynomial::Poly;
use heddle_mir::RegClass;
use rustc_hash::FxHashMap;

use crate::emit::Emitter;
use crate::leaf::is_wide;

/// The pointers that have been taken apart.
#[derive(Default)]
pub(crate) struct AddressForms {
    known: FxHashMap<Value, Address>,
    /// The argument, variable or alloca that a pointer comes from, if there is one.
    pub roots: FxHashMap<Value, Option<Value>>,
    /// Uniform parts of surface accesses, computed on entry.
    pub uniform_on_entry: FxHashMap<Poly, Operand>,
    /// The same, computed in the current block.
    pub uniform_here: FxHashMap<Poly, Operand>,
}

impl AddressForms {
    /// The form of a pointer, if it has been taken apart.
    pub fn get(&self, pointer: Value) -> Option<Address> {
        self.known.get(&pointer).copied()
    }

    /// Keeps the form of a pointer.
    pub fn set(&mut self, pointer: Value, address: Address) {
        self.known.insert(pointer, address);
    }

    /// Drops the form of a pointer, which is no longer true.
    pub fn forget(&mut self, pointer: Value) {
        self.known.remove(&pointer);
    }
}

/// What offsets are relative to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Root {
    /// 32-bit spaces: nothing.
    Zero,
    /// A uniform 64-bit base: constant pair or S pair, which points into an object.
    Base(Operand),
    /// A whole 64-bit address; only the immediate is apart.
    Full(Operand),
    /// A place on a surface relative to the global ids; the address's uniform part is added to it (G6).
    Surface(SurfacePlace),
}

/// A pointer, taken apart.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Address {
    pub space: MemorySpace,
    pub root: Root,
    /// Uniform part of the offset.
    pub uniform: Option<Operand>,
    /// Varying part of the offset.
    pub varying: Option<Operand>,
    pub immediate: i32,
}

/// The memory space of an LLVM address space.
pub(crate) fn space_of(address_space: u32) -> MemorySpace {
    match address_space {
        address_space::GLOBAL => MemorySpace::Global,
        address_space::LOCAL => MemorySpace::Local,
        address_space::CONSTANT => MemorySpace::Constant,
        _ => MemorySpace::Private,
    }
}

impl Address {
    pub fn zero(space: MemorySpace, immediate: i32) -> Self {
        Address { space, root: Root::Zero, uniform: None, varying: None, immediate }
    }
}

impl Emitter {
    /// The offset of an address as one 32-bit operand, without the immediate.
    pub fn offset(&mut self, a: &Address) -> Option<Operand> {
        match (a.uniform, a.varying) {
            (None, None) => None,
            (Some(u), None) => Some(u),
            (None, Some(v)) => Some(v),
            (Some(u), Some(v)) => Some(self.add32(v, u)),
        }
    }

    /// Offset and immediate of an address as one word.
    pub fn whole_offset(&mut self, a: &Address) -> Operand {
        let immediate = Operand::Immediate(a.immediate as u32);
        match self.offset(a) {
            None => immediate,
            Some(o) => self.add32(o, immediate),
        }
    }

    /// An address of the same root with a new offset.
    pub fn with_offset(&self, root: Address, offset: Operand) -> Address {
        let mut address = Address { uniform: None, varying: None, immediate: 0, ..root };
        // A root that is itself an offset (a local argument) is part of the offset already.
        match offset {
            Operand::Immediate(v) => address.immediate = v as i32,
            o if self.is_uniform_operand(o) => address.uniform = Some(o),
            o => address.varying = Some(o),
        }
        address
    }

    /// The address of a number; 0 is the null pointer in every space.
    pub fn absolute_address(&mut self, address_space: u32, bits: u64) -> Address {
        let space = space_of(address_space);
        if is_wide(address_space) {
            let op = self.materialize(bits, 2);
            return Address { root: Root::Full(op), ..Address::zero(space, 0) };
        }
        Address::zero(space, bits as u32 as i32)
    }

    /// An address in a register: a word for local memory and what is known to be private, else 64 bits.
    pub fn register_address(&self, address_space: u32, op: Operand) -> Address {
        let zero = Address::zero(space_of(address_space), 0);
        match address_space {
            space if is_wide(space) => Address { root: Root::Full(op), ..zero },
            _ if self.is_uniform_operand(op) => Address { uniform: Some(op), ..zero },
            _ => Address { varying: Some(op), ..zero },
        }
    }

    /// The pointer as a value: 32 bits for local memory and what is known to be private, else 64; see
    /// [`address_space`].
    pub fn pointer_bits(&mut self, a: &Address, address_space: u32) -> Operand {
        let offset = self.offset(a);
        let immediate = Operand::Immediate(a.immediate as u32);
        let wide = matches!(address_space, 1 | 4);
        match a.root {
            Root::Zero => {
                let sum = offset.map_or(immediate, |o| self.add32(o, immediate));
                match (address_space, a.space) {
                    (0, MemorySpace::Local) => self.pair(sum, Operand::Immediate(address_space::LOCAL_APERTURE)),
                    (0, _) => self.pair(sum, Operand::Immediate(address_space::PRIVATE_APERTURE)),
                    _ if wide => self.pair(sum, Operand::Immediate(0)),
                    _ => sum,
                }
            }
            // Made for one access only, see `surface_address`.
            Root::Surface(_) => immediate,
            Root::Full(op) if a.immediate == 0 => op,
            Root::Full(op) => {
                let bank = self.joint_bank(&[op]);
                self.emit(Op::Add, Type::B64, RegClass { bank, words: 2 }, [op, immediate])
            }
            Root::Base(op) => {
                if offset.is_none() && a.immediate >= 0 {
                    // Some way up, which 64 bits say as well.
                    if a.immediate == 0 {
                        return op;
                    }
                    let bank = self.joint_bank(&[op]);
                    return self.emit(Op::Add, Type::B64, RegClass { bank, words: 2 }, [op, immediate]);
                }
                // The object has one high word.
                let sum = self.whole_offset(a);
                let (low, high) = self.halves(op);
                let low = self.add32(sum, low);
                self.pair(low, high)
            }
        }
    }

    /// Base and offset operands, mode and immediate for a memory instruction at `a`, `extra` bytes further.
    pub fn set_address(&mut self, inst: &mut Inst, a: &Address, offset: Option<Operand>, extra: u32) {
        inst.mods.space = Some(a.space);
        if let Root::Surface(place) = a.root {
            let surface = self.shifted_surface(place.surface, extra);
            inst.mods.address = AddressMode::Surface;
            inst.imm = SurfacePlace { surface, ..place }.immediate();
            inst.srcs.extend([offset.unwrap_or(Operand::None), Operand::None]);
            return;
        }
        let immediate = a.immediate.wrapping_add(extra as i32);
        inst.imm = immediate;
        // Of a generic pointer to private memory the low word is the address.
        let (root, offset) = match a.root {
            Root::Full(op) if a.space == MemorySpace::Private => (Root::Zero, Some(self.halves(op).0)),
            root => (root, offset),
        };
        let (mut base, mut off) = (Operand::None, offset.unwrap_or(Operand::None));
        match root {
            Root::Zero => {
                // A uniform word may be the base, which leaves the lane offset alone.
                let fits = |o: &Operand| self.is_uniform_operand(*o) && !matches!(o, Operand::Special(_) | Operand::Immediate(_));
                if let Some(o) = offset.filter(fits) {
                    base = o;
                    off = Operand::None;
                }
            }
            Root::Base(b) => base = b,
            Root::Surface(_) => {}
            Root::Full(op) => {
                if self.is_uniform_operand(op) && !matches!(op, Operand::Immediate(_)) {
                    // base + sext(imm): exact for any address.
                    base = op;
                    inst.mods.address = AddressMode::S32;
                } else {
                    off = op;
                    inst.mods.address = AddressMode::A64;
                }
            }
        }
        if matches!(off, Operand::Immediate(_) | Operand::Special(_) | Operand::Constant(_)) {
            off = match off {
                Operand::Immediate(v) if matches!(root, Root::Zero | Root::Base(_)) => {
                    inst.imm = inst.imm.wrapping_add(v as i32);
                    Operand::None
                }
                other => {
                    let class = RegClass { bank: self.joint_bank(&[other]), words: 1 };
                    self.emit(Op::Mov, Type::B32, class, [other])
                }
            };
        }
        inst.srcs.push(base);
        inst.srcs.push(off);
    }
}
