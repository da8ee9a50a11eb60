//! Addresses: from LLVM pointers to base, 32-bit offset and immediate.
//!
//! A pointer derived from one kernel argument, variable or alloca is kept as *root + uniform offset + varying offset + immediate*, all
//! offsets 32 bits and wrapping. That is exact for every access inside the object, because an object is at most 4 GiB and starts at its root
//! (docs/ARCHITECTURE.md, "Addresses"). Only the low words of 64-bit index arithmetic are needed for it; what remains of the 64-bit
//! arithmetic is dead and removed. Pointers that may come from several roots, from memory or from integers are full 64-bit values.

use heddle_llvm_passes::ir::{Value, address_space};
use heddle_llvm_passes::printf;
use inkwell::llvm_sys::LLVMOpcode::*;
use inkwell::llvm_sys::LLVMTypeKind::LLVMStructTypeKind;
use inkwell::llvm_sys::core::*;
use rustc_hash::FxHashSet;

use super::{Selector, constants, types};
use heddle_isa::{AddressMode, Inst, MemorySpace, Op, Operand, SurfacePlace, Type};
use heddle_mir::{Bank, RegClass};

/// What offsets are relative to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Root {
    /// 32-bit spaces: nothing.
    Zero,
    /// A uniform 64-bit base: constant pair or S pair, the start of an object.
    Base(Operand),
    /// A whole 64-bit address; only the immediate is apart.
    Full(Operand),
    /// A place on a surface relative to the global ids; the address's uniform part is added to it (G6).
    Surface(SurfacePlace),
}

/// A pointer, taken apart.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Address {
    pub space: MemorySpace,
    pub root: Root,
    /// Uniform part of the offset.
    pub uniform: Option<Operand>,
    /// Varying part of the offset.
    pub varying: Option<Operand>,
    pub immediate: i32,
}

/// A structure argument passed by value.
#[derive(Clone, Copy, Debug)]
pub(super) struct ByValue {
    pub offset: u32,
    pub size: u32,
    pub align: u32,
    /// Byte address of a copy in private memory, if the kernel writes the structure or its address escapes.
    pub copy: Option<u32>,
}

/// The memory space of an LLVM address space.
fn space_of(address_space: u32) -> MemorySpace {
    match address_space {
        1 => MemorySpace::Global,
        3 => MemorySpace::Local,
        4 => MemorySpace::Constant,
        _ => MemorySpace::Private,
    }
}

impl Address {
    pub(super) fn zero(space: MemorySpace, immediate: i32) -> Self {
        Address { space, root: Root::Zero, uniform: None, varying: None, immediate }
    }
}

impl Selector<'_> {
    /// The single root of a pointer: an argument, variable or alloca, seen through GEPs, casts, selects and phis.
    pub(super) fn root(&mut self, pointer: Value) -> Option<Value> {
        if let Some(r) = self.roots.get(&pointer) {
            return *r;
        }
        let mut found: Option<Value> = None;
        let mut unique = true;
        let mut seen = FxHashSet::default();
        let mut stack = vec![pointer];
        while let Some(p) = stack.pop() {
            if !seen.insert(p) || !unique {
                continue;
            }
            if p.is_instruction() {
                match p.opcode() {
                    LLVMGetElementPtr | LLVMBitCast | LLVMFreeze => {
                        stack.push(p.operand(0));
                        continue;
                    }
                    LLVMSelect => {
                        stack.extend([p.operand(1), p.operand(2)]);
                        continue;
                    }
                    LLVMPHI => {
                        stack.extend(p.incoming().map(|(v, _)| v));
                        continue;
                    }
                    LLVMAlloca => {}
                    _ => {
                        unique = false;
                        continue;
                    }
                }
            } else if p.is_constant() && !p.is_global_variable() {
                // SAFETY: reads a constant expression of a live module.
                unsafe {
                    if !LLVMIsAConstantExpr(p.0).is_null() && matches!(LLVMGetConstOpcode(p.0), LLVMGetElementPtr | LLVMBitCast) {
                        stack.push(p.operand(0));
                        continue;
                    }
                    if LLVMIsUndef(p.0) != 0 {
                        continue;
                    }
                }
                unique = false;
                continue;
            }
            match found {
                None => found = Some(p),
                Some(f) if f == p => {}
                Some(_) => unique = false,
            }
        }
        let result = if unique { found } else { None };
        self.roots.insert(pointer, result);
        result
    }

    /// Takes a pointer apart.
    pub(super) fn address(&mut self, p: Value) -> Address {
        if let Some(a) = self.addresses.get(&p) {
            return *a;
        }
        let address = self.compute_address(p);
        // Constants are recomputed for each use: what they need may be materialised in one block only.
        if !p.is_constant() || p.is_global_variable() {
            self.addresses.insert(p, address);
        }
        address
    }

    fn compute_address(&mut self, p: Value) -> Address {
        let space = space_of(p.address_space());
        if p.is_argument() {
            if let Some(by_value) = self.by_value.get(&p).copied() {
                return match by_value.copy {
                    Some(at) => Address::zero(MemorySpace::Private, at as i32),
                    None => Address::zero(MemorySpace::Argument, by_value.offset as i32),
                };
            }
            let word = Operand::Constant((self.arguments.get(&p).copied().unwrap_or(0) / 4) as u8);
            return match space {
                MemorySpace::Local => Address { uniform: Some(word), ..Address::zero(space, 0) },
                _ => Address { root: Root::Base(word), ..Address::zero(space, 0) },
            };
        }
        if p.is_global_variable() {
            return self.variable(p, space);
        }
        if p.is_constant() {
            // SAFETY: reads a constant expression of a live module.
            unsafe {
                if !LLVMIsAConstantExpr(p.0).is_null() {
                    match LLVMGetConstOpcode(p.0) {
                        LLVMGetElementPtr => {
                            let base = self.address(p.operand(0));
                            if let Some(offset) = constants::constant_gep_offset(p) {
                                return Address { immediate: base.immediate.wrapping_add(offset as i32), ..base };
                            }
                        }
                        LLVMBitCast => return self.address(p.operand(0)),
                        // The null pointer is 0 in every space.
                        LLVMAddrSpaceCast if LLVMIsNull(p.operand(0).0) != 0 => {
                            return self.full_or_small(p.address_space(), Operand::Immediate(0), 0);
                        }
                        LLVMAddrSpaceCast => {
                            let base = self.address(p.operand(0));
                            // A generic pointer to something known keeps the space that it is in.
                            let device = |s| matches!(s, MemorySpace::Global | MemorySpace::Constant);
                            if p.address_space() == 0 || base.space == space {
                                return base;
                            }
                            if device(base.space) && device(space) {
                                return Address { space, ..base };
                            }
                            // A generic pointer made of a number: what it is in the space that it is said to be in.
                            if p.operand(0).address_space() == 0 && matches!(base.root, Root::Full(_)) {
                                let number = self.pointer_bits(&base, 0);
                                let wide = matches!(p.address_space(), 1 | 4);
                                let number = if wide { number } else { self.halves(number).0 };
                                return self.register_address(p.address_space(), number);
                            }
                            // What is never executed, or undefined: there is no such pointer.
                            return self.full_or_small(p.address_space(), Operand::Immediate(0), 0);
                        }
                        LLVMIntToPtr => {
                            if let Some(bits) = constants::scalar_bits(p.operand(0)) {
                                return self.full_or_small(p.address_space(), Operand::Immediate(bits as u32), bits);
                            }
                            let number = self.constant_parts(p.operand(0))[0];
                            let wide = types::leaves(p.operand(0).ty())[0].words() == 2;
                            let number = match (wide, matches!(p.address_space(), 0 | 1 | 4)) {
                                (true, false) => self.halves(number).0,
                                (false, true) => self.pair(number, Operand::Immediate(0)),
                                _ => number,
                            };
                            return self.register_address(p.address_space(), number);
                        }
                        _ => {}
                    }
                } else if let Some(bits) = constants::scalar_bits(p) {
                    return self.full_or_small(p.address_space(), Operand::Immediate(bits as u32), bits);
                }
            }
            self.error(None, format!("unsupported constant pointer: `{}`", p.text()));
            return Address::zero(space, 0);
        }
        // Any other value is a pointer in registers: loaded, converted, or merged from several roots.
        let op = match self.values.get(&p) {
            Some(parts) => parts[0],
            None => Operand::Immediate(0),
        };
        self.register_address(p.address_space(), op)
    }

    fn full_or_small(&mut self, address_space: u32, low: Operand, bits: u64) -> Address {
        let space = space_of(address_space);
        match address_space {
            0 | 1 | 4 => {
                let op = self.materialize(bits, 2);
                Address { root: Root::Full(op), ..Address::zero(space, 0) }
            }
            _ => match low {
                Operand::Immediate(v) => Address::zero(space, v as i32),
                _ => Address::zero(space, 0),
            },
        }
    }

    /// An address in a register: a word for local memory and what is known to be private, else 64 bits.
    pub(super) fn register_address(&mut self, address_space: u32, op: Operand) -> Address {
        let zero = Address::zero(space_of(address_space), 0);
        match address_space {
            0 | 1 | 4 => Address { root: Root::Full(op), ..zero },
            _ if self.is_uniform_operand(op) => Address { uniform: Some(op), ..zero },
            _ => Address { varying: Some(op), ..zero },
        }
    }

    /// A program-scope variable: in the data section, or static local memory of the kernel.
    fn variable(&mut self, g: Value, space: MemorySpace) -> Address {
        if space == MemorySpace::Local {
            let offset = match self.local_offsets.get(&g) {
                Some(o) => *o,
                None => {
                    // SAFETY: type of a live global.
                    let (ty, align) = unsafe { (LLVMGlobalGetValueType(g.0), LLVMGetAlignment(g.0)) };
                    let align = align.max(types::abi_align(ty));
                    let offset = self.f.local_bytes.checked_next_multiple_of(align).unwrap_or(0);
                    let bytes = types::wide_size(ty);
                    self.local_bytes = self.local_bytes.next_multiple_of(align.into()).saturating_add(bytes);
                    self.f.local_bytes = offset.wrapping_add(bytes as u32);
                    self.redzone(MemorySpace::Local);
                    self.local_offsets.insert(g, offset);
                    offset
                }
            };
            return Address::zero(space, offset as i32);
        }
        if g.name() == printf::BUFFER {
            return Address { root: Root::Base(Operand::Constant((self.printf / 4) as u8)), ..Address::zero(space, 0) };
        }
        match self.data.offset(g) {
            // Words 0 and 1 of the constant bank hold the data section's address.
            Some(offset) => {
                Address { root: Root::Base(Operand::Constant(0)), ..Address::zero(space_for_data(space), offset as i32) }
            }
            None => {
                let name = g.name();
                self.error(None, format!("variable `{name}` is not defined"));
                Address::zero(space, 0)
            }
        }
    }

    /// A GEP: folded into the uses if the pointer keeps one root, else 64-bit arithmetic.
    pub(super) fn select_gep(&mut self, gep: Value) {
        if types::leaf_count(gep.ty()) != 1 {
            self.error(Some(gep), "vectors of pointers are not supported");
            return;
        }
        let mut address = self.address(gep.operand(0));
        let full = matches!(address.root, Root::Full(_));
        // SAFETY: types of a live module.
        let mut ty = unsafe { LLVMGetGEPSourceElementType(gep.0) };
        let mut constant = 0i64;
        for i in 1..gep.operand_count() {
            let index = gep.operand(i);
            let scale;
            unsafe {
                if i == 1 {
                    scale = types::alloc_size(ty);
                } else if LLVMGetTypeKind(ty) == LLVMStructTypeKind {
                    let field = constants::sign_extended(index).unwrap_or(0) as u32;
                    constant = constant.wrapping_add(i64::from(types::field_offset(ty, field)));
                    ty = LLVMStructGetTypeAtIndex(ty, field);
                    continue;
                } else {
                    ty = LLVMGetElementType(ty);
                    scale = types::alloc_size(ty);
                }
            }
            if let Some(value) = constants::sign_extended(index) {
                constant = constant.wrapping_add(value.wrapping_mul(i64::from(scale)));
                continue;
            }
            if full {
                let Root::Full(base) = address.root else { continue };
                let wide = self.wide_index(index);
                let words2 = |bank: Bank| RegClass { bank, words: 2 };
                let product = match scale {
                    1 => wide,
                    s => {
                        let bank = self.joint_bank(&[wide]);
                        self.emit(Op::Mul, Type::B64, words2(bank), [wide, Operand::Immediate(s)])
                    }
                };
                let bank = self.joint_bank(&[base, product]);
                address.root = Root::Full(self.emit(Op::Add, Type::B64, words2(bank), [base, product]));
                continue;
            }
            let low = self.low_word(index);
            if self.is_uniform_operand(low) {
                address.uniform = Some(self.mad32(low, scale, address.uniform));
            } else {
                address.varying = Some(self.mad32(low, scale, address.varying));
            }
        }
        if full && i32::try_from(i64::from(address.immediate) + constant).is_err() {
            let Root::Full(base) = address.root else { return };
            let c = self.constant_operand(constant as u64, 2);
            let bank = self.joint_bank(&[base]);
            address.root = Root::Full(self.emit(Op::Add, Type::B64, RegClass { bank, words: 2 }, [base, c]));
        } else {
            address.immediate = address.immediate.wrapping_add(constant as i32);
        }
        self.addresses.insert(gep, address);
    }

    /// A GEP index as a 64-bit operand.
    fn wide_index(&mut self, index: Value) -> Operand {
        // SAFETY: integer type of a live value.
        let bits = unsafe { LLVMGetIntTypeWidth(index.ty()) };
        let op = self.operand(index);
        if bits > 32 { op } else { self.extend_to_64(index, op, bits, true) }
    }

    /// The offset of an address as one 32-bit operand, without the immediate.
    pub(super) fn offset(&mut self, a: &Address) -> Option<Operand> {
        match (a.uniform, a.varying) {
            (None, None) => None,
            (Some(u), None) => Some(u),
            (None, Some(v)) => Some(v),
            (Some(u), Some(v)) => Some(self.add32(v, u)),
        }
    }

    /// The pointer as a value: 32 bits for local memory and what is known to be private, else 64; see [`generic`].
    pub(super) fn pointer_bits(&mut self, a: &Address, address_space: u32) -> Operand {
        if a.space == MemorySpace::Argument {
            self.error(None, "the address of a by-value argument is used as a value");
        }
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
                let Some(offset) = offset else {
                    if a.immediate == 0 {
                        return op;
                    }
                    // The sum of offset and immediate wraps in 32 bits: as an unsigned distance from the root.
                    let distance = self.constant_operand(u64::from(a.immediate as u32), 2);
                    let bank = self.joint_bank(&[op, distance]);
                    return self.emit(Op::Add, Type::B64, RegClass { bank, words: 2 }, [op, distance]);
                };
                let sum = self.add32(offset, immediate);
                let wide = self.pair(sum, Operand::Immediate(0));
                let bank = self.joint_bank(&[op, wide]);
                self.emit(Op::Add, Type::B64, RegClass { bank, words: 2 }, [op, wide])
            }
        }
    }

    /// Base and offset operands, mode and immediate for a memory instruction at `a`, `extra` bytes further.
    pub(super) fn set_address(&mut self, inst: &mut Inst, a: &Address, offset: Option<Operand>, extra: u32) {
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
                if let Some(o) = offset {
                    if self.is_uniform_operand(o) && !matches!(o, Operand::Special(_) | Operand::Immediate(_)) {
                        base = o;
                        off = Operand::None;
                    }
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

    /// Whether all of a pointer's possible origins are one root, so that a phi or select of it is one of offsets.
    pub(super) fn single_root_address(&mut self, p: Value) -> Option<Address> {
        let root = self.root(p)?;
        if root.is_instruction() && root.opcode() != LLVMAlloca {
            return None;
        }
        let a = self.address(root);
        (!matches!(a.root, Root::Full(_))).then_some(a)
    }
}

/// Variables in the data section are in device memory whatever their space; constant ones go through the constant cache.
fn space_for_data(space: MemorySpace) -> MemorySpace {
    if space == MemorySpace::Constant { MemorySpace::Constant } else { MemorySpace::Global }
}
