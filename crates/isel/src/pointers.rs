//! Pointers of the program, taken apart into address forms ([`crate::address`]).

use heddle_isa::{MemorySpace, Op, Operand, Type};
use heddle_llvm_passes::ir::layout::GepStep;
use heddle_llvm_passes::ir::{Value, address_space};
use heddle_llvm_passes::printf;
use heddle_mir::RegClass;
use inkwell::llvm_sys::LLVMOpcode::*;
use rustc_hash::FxHashSet;

use crate::address::{Address, Root, space_of};
use crate::leaf::is_wide;
use crate::{Selector, constants};

impl Selector<'_> {
    /// Takes a pointer apart.
    pub fn address(&mut self, p: Value) -> Address {
        if let Some(a) = self.addresses.get(p) {
            return a;
        }
        let address = form(self, p);
        // Constants are recomputed for each use: what they need may be materialised in one block only.
        if !p.is_constant() || p.is_global_variable() {
            self.addresses.set(p, address);
        }
        address
    }
}

/// The pointer as a value.
pub(crate) fn pointer_bits(s: &mut Selector, a: &Address, address_space: u32) -> Operand {
    if a.space == MemorySpace::Argument {
        s.report.error(None, "the address of a by-value argument is used as a value");
    }
    s.out.pointer_bits(a, address_space)
}

/// What a value is to the search for the root of a pointer.
enum Origin {
    /// An argument, variable or alloca.
    Root,
    /// Computed from these pointers.
    From(Vec<Value>),
    /// Undefined: it may be any pointer.
    Any,
    Unknown,
}

fn origin(p: Value) -> Origin {
    if p.is_instruction() {
        return match p.opcode() {
            LLVMGetElementPtr | LLVMBitCast | LLVMFreeze => Origin::From(vec![p.operand(0)]),
            LLVMSelect => Origin::From(vec![p.operand(1), p.operand(2)]),
            LLVMPHI => Origin::From(p.incoming().map(|(v, _)| v).collect()),
            LLVMAlloca => Origin::Root,
            _ => Origin::Unknown,
        };
    }
    if !p.is_constant() || p.is_global_variable() {
        return Origin::Root;
    }
    match p.constant_opcode() {
        Some(LLVMGetElementPtr | LLVMBitCast) => Origin::From(vec![p.operand(0)]),
        _ if p.is_undefined() => Origin::Any,
        _ => Origin::Unknown,
    }
}

/// The single root of a pointer: an argument, variable or alloca, seen through GEPs, casts, selects and phis.
pub(crate) fn root(s: &mut Selector, pointer: Value) -> Option<Value> {
    if let Some(r) = s.addresses.roots.get(&pointer) {
        return *r;
    }
    let mut roots = FxHashSet::default();
    let mut unknown = false;
    let mut seen = FxHashSet::default();
    let mut stack = vec![pointer];
    while let Some(p) = stack.pop().filter(|_| !unknown && roots.len() < 2) {
        if !seen.insert(p) {
            continue;
        }
        match origin(p) {
            Origin::Root => _ = roots.insert(p),
            Origin::From(pointers) => stack.extend(pointers),
            Origin::Any => {}
            Origin::Unknown => unknown = true,
        }
    }
    let single = roots.len() == 1 && !unknown;
    let result = roots.into_iter().next().filter(|_| single);
    s.addresses.roots.insert(pointer, result);
    result
}

/// The form of a root that all of a pointer's possible origins are, so that a phi or select of it is one of
/// offsets.
pub(crate) fn single_root_address(s: &mut Selector, p: Value) -> Option<Address> {
    let root = root(s, p)?;
    if root.is_instruction() && root.opcode() != LLVMAlloca {
        return None;
    }
    let a = s.address(root);
    (!matches!(a.root, Root::Full(_))).then_some(a)
}

fn form(s: &mut Selector, p: Value) -> Address {
    let space = space_of(p.address_space());
    if p.is_argument() {
        return argument(s, p, space);
    }
    if p.is_global_variable() {
        return variable(s, p, space);
    }
    if p.is_constant() {
        return constant(s, p).unwrap_or_else(|| {
            let what = if p.is_function() { format!("the function {}", p.name()) } else { format!("`{}`", p.text()) };
            s.report.error(None, format!("unsupported constant pointer: {what}"));
            Address::zero(space, 0)
        });
    }
    // Any other value is a pointer in registers: loaded, converted, or merged from several roots.
    let op = s.values.get(p).and_then(|parts| parts.first()).copied().unwrap_or(Operand::Immediate(0));
    s.out.register_address(p.address_space(), op)
}

fn argument(s: &mut Selector, p: Value, space: MemorySpace) -> Address {
    if let Some(by_value) = s.arguments.by_value.get(&p) {
        return match by_value.copy {
            Some(at) => Address::zero(MemorySpace::Private, at as i32),
            None => Address::zero(MemorySpace::Argument, by_value.offset as i32),
        };
    }
    let offset = s.arguments.offset(p);
    match space {
        MemorySpace::Local => {
            let pointer = s.out.bank_words_on_entry(offset, 1);
            s.out.register_address(p.address_space(), pointer)
        }
        _ => pointer_in_bank(s, offset, p.address_space()),
    }
}

/// Where a pointer to device memory leads that is in the constant bank.
fn pointer_in_bank(s: &mut Selector, offset: u32, address_space: u32) -> Address {
    let pointer = s.out.bank_words_on_entry(offset, 2);
    let address = s.out.register_address(address_space, pointer);
    // Without the scalar unit what is loaded is in a register of lanes, which is no base: it is an address of each lane's own.
    match s.out.is_uniform_operand(pointer) {
        true => Address { root: Root::Base(pointer), ..Address::zero(address.space, 0) },
        false => address,
    }
}

/// A program-scope variable: in the data section, or static local memory of the kernel.
fn variable(s: &mut Selector, g: Value, space: MemorySpace) -> Address {
    if space == MemorySpace::Local {
        return Address::zero(space, s.storage.local_variable(&mut s.out.f, s.cx.layout, g) as i32);
    }
    if g.name() == printf::BUFFER {
        return pointer_in_bank(s, s.arguments.printf, g.address_space());
    }
    match s.data.offset(g) {
        // Words 0 and 1 of the constant bank hold the data section's address, which is in device memory
        // whatever the space.
        Some(offset) => {
            let space = if space == MemorySpace::Constant { space } else { MemorySpace::Global };
            Address { root: Root::Base(Operand::Constant(0)), ..Address::zero(space, offset as i32) }
        }
        None => {
            s.report.error(None, format!("variable `{}` is not defined", g.name()));
            Address::zero(space, 0)
        }
    }
}

/// A constant pointer that is no variable.
fn constant(s: &mut Selector, p: Value) -> Option<Address> {
    let space = p.address_space();
    let Some(opcode) = p.constant_opcode() else {
        return constants::scalar_bits(p).map(|bits| s.out.absolute_address(space, bits));
    };
    match opcode {
        LLVMGetElementPtr => {
            let base = s.address(p.operand(0));
            let offset = s.cx.layout.constant_offset(p)?;
            Some(Address { immediate: base.immediate.wrapping_add(offset as i32), ..base })
        }
        LLVMBitCast => Some(s.address(p.operand(0))),
        LLVMAddrSpaceCast => Some(constant_space_cast(s, p)),
        LLVMIntToPtr => {
            let source = p.operand(0);
            if let Some(bits) = constants::scalar_bits(source) {
                return Some(s.out.absolute_address(space, bits));
            }
            let number = constants::constant_parts(s, source)[0];
            let number = match (s.cx.leaves(source)[0].words() == 2, is_wide(space)) {
                (true, false) => s.out.halves(number).0,
                (false, true) => s.out.pair(number, Operand::Immediate(0)),
                _ => number,
            };
            Some(s.out.register_address(space, number))
        }
        _ => None,
    }
}

fn constant_space_cast(s: &mut Selector, p: Value) -> Address {
    let (source, to) = (p.operand(0), p.address_space());
    // The null pointer is 0 in every space.
    if source.is_null() {
        return s.out.absolute_address(to, 0);
    }
    let (base, space) = (s.address(source), space_of(to));
    let device = |s| matches!(s, MemorySpace::Global | MemorySpace::Constant);
    // A generic pointer to something known keeps the space that it is in.
    if to == address_space::GENERIC || base.space == space {
        return base;
    }
    if device(base.space) && device(space) {
        return Address { space, ..base };
    }
    // A generic pointer made of a number: what it is in the space that it is said to be in.
    if source.address_space() == address_space::GENERIC && matches!(base.root, Root::Full(_)) {
        let number = pointer_bits(s, &base, address_space::GENERIC);
        let number = if is_wide(to) { number } else { s.out.halves(number).0 };
        return s.out.register_address(to, number);
    }
    // What is never executed, or undefined: there is no such pointer.
    s.out.absolute_address(to, 0)
}

/// A GEP: folded into the uses if the pointer keeps one root, else 64-bit arithmetic.
pub(crate) fn select_gep(s: &mut Selector, gep: Value) {
    if s.cx.leaves(gep).len() != 1 {
        s.report.error(Some(gep), "vectors of pointers are not supported");
        return;
    }
    let mut address = s.address(gep.operand(0));
    let mut constant = 0i64;
    for step in s.cx.layout.gep_steps(gep) {
        let (index, stride) = match step {
            GepStep::Field(bytes) => {
                constant = constant.wrapping_add(bytes as i64);
                continue;
            }
            GepStep::Element { index, stride } => (index, stride as u32),
        };
        let (index, added) = if matches!(address.root, Root::Full(_)) { (index, 0) } else { without_constants(index) };
        let (addends, inner) = if matches!(address.root, Root::Full(_)) { (None, 0) } else { addends(index) };
        constant = constant.wrapping_add(added.wrapping_add(inner).wrapping_mul(i64::from(stride)));
        match (constants::sign_extended(index), addends) {
            (Some(value), _) => constant = constant.wrapping_add(value.wrapping_mul(i64::from(stride))),
            (None, Some(addends)) => {
                let words = addends.map(|a| s.low_word(a));
                let low = s.out.emit_joint(Op::Add, Type::B32, 1, &words);
                add_offset(s, &mut address, low, stride);
            }
            (None, None) => add_index(s, &mut address, index, stride),
        }
    }
    match address.root {
        Root::Full(base) if i32::try_from(i64::from(address.immediate) + constant).is_err() => {
            let c = s.out.constant_operand(constant as u64, 2);
            let bank = s.out.joint_bank(&[base]);
            address.root = Root::Full(s.out.emit(Op::Add, Type::B64, RegClass { bank, words: 2 }, [base, c]));
        }
        _ => address.immediate = address.immediate.wrapping_add(constant as i32),
    }
    s.addresses.set(gep, address);
}

/// An index without what is added to it that is constant, and the sum of that: modulo 2^32, since of an offset
/// only the low word counts. Accesses of neighbours, as unrolled loops have them, then share the rest.
fn without_constants(mut index: Value) -> (Value, i64) {
    let mut sum = 0i64;
    while index.is_instruction() {
        let adds = match index.opcode() {
            LLVMZExt | LLVMSExt | LLVMTrunc => false,
            LLVMAdd => true,
            LLVMOr if index.is_disjoint() => true,
            _ => break,
        };
        let inner = index.operand(0);
        let added = if adds { index.operand(1).as_signed_constant() } else { Some(0) };
        let Some(added) = added.filter(|_| index.integer_bits() >= 32 && inner.integer_bits() >= 32) else { break };
        sum = sum.wrapping_add(added);
        index = inner;
    }
    (index, sum)
}

/// The two addends of an index of which one is a sum with a constant, without that, and the constant, likewise modulo 2^32: an
/// unrolled loop's `(k | 1) + row` is what it has as `k + row` anyway, and 1.
fn addends(index: Value) -> (Option<[Value; 2]>, i64) {
    let mut sum = index;
    while sum.is_instruction() && matches!(sum.opcode(), LLVMZExt | LLVMSExt) && sum.operand(0).integer_bits() >= 32 {
        sum = sum.operand(0);
    }
    let is_sum = sum.is_instruction() && (sum.opcode() == LLVMAdd || sum.opcode() == LLVMOr && sum.is_disjoint());
    // Who else needs the sum computes it anyway.
    if !is_sum || sum.users().nth(1).is_some() {
        return (None, 0);
    }
    let parts = [sum.operand(0), sum.operand(1)].map(without_constants);
    let constant = parts[0].1.wrapping_add(parts[1].1);
    if constant == 0 || parts.iter().any(|p| p.0.is_constant()) {
        return (None, 0);
    }
    (Some(parts.map(|p| p.0)), constant)
}

/// Adds an index times a number of bytes to an address.
fn add_index(s: &mut Selector, address: &mut Address, index: Value, stride: u32) {
    if let Root::Full(base) = address.root {
        let wide = wide_index(s, index);
        let product = match stride {
            1 => wide,
            bytes => s.out.emit_joint(Op::Mul, Type::B64, 2, &[wide, Operand::Immediate(bytes)]),
        };
        address.root = Root::Full(s.out.emit_joint(Op::Add, Type::B64, 2, &[base, product]));
        return;
    }
    let low = s.low_word(index);
    add_offset(s, address, low, stride);
}

/// Adds the low word of an index, times a number of bytes, to an address that has a root.
fn add_offset(s: &mut Selector, address: &mut Address, low: Operand, stride: u32) {
    let part = if s.out.is_uniform_operand(low) { &mut address.uniform } else { &mut address.varying };
    *part = Some(s.out.mad32(low, stride, *part));
}

/// A GEP index as a 64-bit operand.
fn wide_index(s: &mut Selector, index: Value) -> Operand {
    let bits = index.integer_bits();
    let op = s.operand(index);
    if bits > 32 { op } else { s.extend_to_64(index, op, bits, true) }
}
