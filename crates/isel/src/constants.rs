//! Constants: as operands, and as the bytes of the module's data section.

use heddle_llvm_passes::ir::Value;
use heddle_llvm_passes::printf;
use inkwell::llvm_sys::LLVMTypeKind::*;
use inkwell::llvm_sys::LLVMValueKind;
use inkwell::llvm_sys::core::*;
use rustc_hash::FxHashMap;

use super::types::{self, leaves};
use super::{Diagnostic, Parts, Selector};
use heddle_isa::{Op, Operand, Type};
use heddle_mir::DataSection;
use heddle_object::metadata::{VARIABLE_ALIGN, Variable};

/// libclc's table of the bits of 2/pi, 158 bytes of alignment 1, which it reads 16 at a time, the last ones at 160: the name, and what it takes.
const PI_TABLE: (&str, u32, u32) = ("PIBITS_TBL", 16, 176);

/// The module's program-scope variables and their place in the data section.
pub(super) struct Data {
    pub section: DataSection,
    pub errors: Vec<Diagnostic>,
    offsets: FxHashMap<Value, u32>,
}

/// The first instruction with a position that uses a variable, or an expression of it.
fn first_use(variable: Value) -> Option<Value> {
    let mut stack = vec![variable];
    let mut found: Option<Value> = None;
    while let Some(v) = stack.pop() {
        for user in v.users() {
            if !user.is_instruction() {
                stack.push(user);
                continue;
            }
            let line = |i: Value| super::source_position(i).1;
            if line(user) != 0 && found.is_none_or(|f| line(user) < line(f)) {
                found = Some(user);
            }
        }
    }
    found
}

impl Data {
    /// Lays out the global and constant variables that something uses; `redzones`: apart from each other.
    pub fn new(module: &inkwell::module::Module, redzones: bool) -> Self {
        let mut data = Data { section: DataSection::default(), errors: Vec::new(), offsets: FxHashMap::default() };
        let placed = |g: &Value| matches!(g.address_space(), 0 | 1 | 4) && g.has_uses() && g.name() != printf::BUFFER;
        let variables: Vec<Value> = module.get_globals().map(Value::of).filter(placed).collect();
        for g in &variables {
            // SAFETY (file): constants and types of a live module.
            let ty = unsafe { LLVMGlobalGetValueType(g.0) };
            let align = unsafe { LLVMGetAlignment(g.0) }.max(types::abi_align(ty));
            let (name, table_align, table_size) = PI_TABLE;
            let (align, size) = match g.name().starts_with(name) {
                true => (align.max(table_align), types::alloc_size(ty).max(table_size)),
                false => (align, types::alloc_size(ty)),
            };
            let (end, align) = (data.section.bytes.len() as u32, if redzones { VARIABLE_ALIGN } else { align });
            let offset = match redzones && end > 0 {
                true => (end + VARIABLE_ALIGN).next_multiple_of(align),
                false => end.next_multiple_of(align),
            };
            if redzones {
                data.section.variables.push(Variable { name: g.name(), start: offset, bytes: size });
            }
            data.section.align = data.section.align.max(align);
            data.section.bytes.resize((offset + size) as usize, 0);
            data.offsets.insert(*g, offset);
        }
        for g in variables {
            let initializer = unsafe { LLVMGetInitializer(g.0) };
            if initializer.is_null() {
                let message = format!("variable `{}` is declared but not defined in any source", g.name());
                let (file, line, column) = first_use(g).map(super::source_position).unwrap_or_default();
                let file = if line == 0 { super::module_name(g) } else { file };
                data.errors.push(Diagnostic { message, file, line, column });
            } else {
                let offset = data.offsets[&g];
                data.write(Value(initializer), offset);
            }
        }
        data
    }

    fn report(&mut self, message: String) {
        self.errors.push(Diagnostic { message, file: String::new(), line: 0, column: 0 });
    }

    /// Offset of a variable in the data section.
    pub fn offset(&self, variable: Value) -> Option<u32> {
        self.offsets.get(&variable).copied()
    }

    fn write(&mut self, c: Value, at: u32) {
        unsafe {
            let ty = c.ty();
            if LLVMIsNull(c.0) != 0 || LLVMIsUndef(c.0) != 0 {
                return;
            }
            let mut cast = Vec::new();
            if is_bitcast(c) && flatten(c, &mut cast) {
                for (leaf, bits) in leaves(ty).iter().zip(cast) {
                    self.store(at + leaf.offset, bits, leaf.bytes());
                }
                return;
            }
            match LLVMGetTypeKind(ty) {
                LLVMStructTypeKind => {
                    for i in 0..LLVMCountStructElementTypes(ty) {
                        let element = LLVMGetAggregateElement(c.0, i);
                        self.write(Value(element), at + types::field_offset(ty, i));
                    }
                }
                LLVMArrayTypeKind | LLVMVectorTypeKind => {
                    let count = types::element_count(ty);
                    let size = types::alloc_size(LLVMGetElementType(ty));
                    for i in 0..count {
                        self.write(Value(LLVMGetAggregateElement(c.0, i)), at + i * size);
                    }
                }
                LLVMPointerTypeKind if is_cast_null(c) => {}
                LLVMPointerTypeKind => match self.pointer(c) {
                    Some(target) => {
                        self.store(at, u64::from(target), 8);
                        self.section.relocations.push(at);
                    }
                    None => self.report(format!("unsupported pointer in an initialiser: `{}`", c.text())),
                },
                LLVMIntegerTypeKind if types::widest_integer(ty) > 64 => {
                    let mut bits = Vec::new();
                    if !flatten(c, &mut bits) {
                        self.report(format!("unsupported initialiser: `{}`", c.text()));
                    }
                    for (leaf, bits) in leaves(ty).iter().zip(bits) {
                        self.store(at + leaf.offset, bits, leaf.bytes());
                    }
                }
                _ => match (scalar_bits(c), self.number_of(c)) {
                    (Some(bits), _) => self.store(at, bits, types::alloc_size(ty)),
                    (None, Some(target)) => {
                        self.store(at, u64::from(target), 8);
                        self.section.relocations.push(at);
                    }
                    (None, None) => self.report(format!("unsupported initialiser: `{}`", c.text())),
                },
            }
        }
    }

    /// The data offset of which a constant of 64 bits is the address.
    fn number_of(&self, c: Value) -> Option<u32> {
        use inkwell::llvm_sys::LLVMOpcode::LLVMPtrToInt;
        // SAFETY: reads a live constant.
        let address = unsafe { !LLVMIsAConstantExpr(c.0).is_null() && LLVMGetConstOpcode(c.0) == LLVMPtrToInt };
        if address && types::alloc_size(c.ty()) == 8 { self.pointer(c.operand(0)) } else { None }
    }

    /// The data offset that a constant pointer points to.
    fn pointer(&self, c: Value) -> Option<u32> {
        if let Some(offset) = self.offsets.get(&c) {
            return Some(*offset);
        }
        unsafe {
            if LLVMIsAConstantExpr(c.0).is_null() {
                return None;
            }
            match LLVMGetConstOpcode(c.0) {
                inkwell::llvm_sys::LLVMOpcode::LLVMGetElementPtr => {
                    let base = self.pointer(c.operand(0))?;
                    let offset = constant_gep_offset(c)?;
                    Some(base.wrapping_add(offset as u32))
                }
                inkwell::llvm_sys::LLVMOpcode::LLVMBitCast | inkwell::llvm_sys::LLVMOpcode::LLVMAddrSpaceCast => {
                    self.pointer(c.operand(0))
                }
                _ => None,
            }
        }
    }

    fn store(&mut self, at: u32, bits: u64, bytes: u32) {
        let (at, n) = (at as usize, bytes as usize);
        if n <= 8 && at + n <= self.section.bytes.len() {
            self.section.bytes[at..at + n].copy_from_slice(&bits.to_le_bytes()[..n]);
        }
    }
}

/// Whether a constant is the null pointer of another address space.
fn is_cast_null(c: Value) -> bool {
    use inkwell::llvm_sys::LLVMOpcode::LLVMAddrSpaceCast;
    // SAFETY: a live constant.
    unsafe {
        !LLVMIsAConstantExpr(c.0).is_null() && LLVMGetConstOpcode(c.0) == LLVMAddrSpaceCast && LLVMIsNull(c.operand(0).0) != 0
    }
}

/// Whether a constant expression takes a local pointer to another address space, or makes a number of it.
pub(super) fn leaves_local(c: Value) -> bool {
    use inkwell::llvm_sys::LLVMOpcode::{LLVMAddrSpaceCast, LLVMPtrToInt};
    unsafe {
        if LLVMIsAConstantExpr(c.0).is_null() {
            return false;
        }
        let leaves = matches!(LLVMGetConstOpcode(c.0), LLVMAddrSpaceCast | LLVMPtrToInt) && c.operand(0).address_space() == 3;
        leaves || (0..c.operand_count()).any(|i| leaves_local(c.operand(i)))
    }
}

/// Byte offset of a GEP whose indices are all constants.
pub(super) fn constant_gep_offset(gep: Value) -> Option<i64> {
    unsafe {
        let mut ty = LLVMGetGEPSourceElementType(gep.0);
        let mut offset = 0i64;
        for i in 1..gep.operand_count() {
            let index = sign_extended(gep.operand(i))?;
            if i == 1 {
                offset = offset.wrapping_add(index.wrapping_mul(i64::from(types::alloc_size(ty))));
                continue;
            }
            if LLVMGetTypeKind(ty) == LLVMStructTypeKind {
                offset += i64::from(types::field_offset(ty, index as u32));
                ty = LLVMStructGetTypeAtIndex(ty, index as u32);
            } else {
                ty = LLVMGetElementType(ty);
                offset = offset.wrapping_add(index.wrapping_mul(i64::from(types::alloc_size(ty))));
            }
        }
        Some(offset)
    }
}

/// A constant integer's value, sign-extended from its width.
pub(super) fn sign_extended(v: Value) -> Option<i64> {
    unsafe {
        let c = LLVMIsAConstantInt(v.0);
        (!c.is_null() && LLVMGetIntTypeWidth(v.ty()) <= 64).then(|| LLVMConstIntGetSExtValue(c))
    }
}

/// The bits of a scalar constant, zero-extended; undefined and poison values are 0.
pub(super) fn scalar_bits(c: Value) -> Option<u64> {
    unsafe {
        match LLVMGetValueKind(c.0) {
            LLVMValueKind::LLVMConstantIntValueKind => c.as_constant_int(),
            LLVMValueKind::LLVMConstantFPValueKind => {
                let mut loses = 0;
                let value = LLVMConstRealGetDouble(c.0, &mut loses);
                Some(match LLVMGetTypeKind(c.ty()) {
                    LLVMHalfTypeKind => u64::from(half::f16::from_f64(value).to_bits()),
                    LLVMFloatTypeKind => u64::from((value as f32).to_bits()),
                    _ => value.to_bits(),
                })
            }
            LLVMValueKind::LLVMUndefValueValueKind
            | LLVMValueKind::LLVMPoisonValueKind
            | LLVMValueKind::LLVMConstantPointerNullValueKind
            | LLVMValueKind::LLVMConstantAggregateZeroValueKind => Some(0),
            _ => None,
        }
    }
}

impl Selector<'_> {
    /// The leaves of a constant.
    pub(super) fn constant_parts(&mut self, c: Value) -> Parts {
        let mut scalars = Vec::new();
        if !flatten(c, &mut scalars) {
            let mut parts = Parts::new();
            if self.computed_parts(c, &mut parts) {
                return parts;
            }
            self.error(None, format!("unsupported constant: `{}`", c.text()));
            scalars = vec![0; leaves(c.ty()).len()];
        }
        let leaves = leaves(c.ty());
        scalars.iter().zip(leaves.iter()).map(|(bits, leaf)| self.constant_operand(*bits, leaf.words())).collect()
    }

    /// Appends the leaves of a constant of which only the machine knows some, as they are made of addresses; false if it has something else in it.
    fn computed_parts(&mut self, c: Value, out: &mut Parts) -> bool {
        use inkwell::llvm_sys::LLVMOpcode::*;
        let ty = c.ty();
        let leaves = leaves(ty);
        let mut scalars = Vec::new();
        if flatten(c, &mut scalars) {
            out.extend(scalars.iter().zip(leaves.iter()).map(|(bits, leaf)| self.constant_operand(*bits, leaf.words())));
            return true;
        }
        // SAFETY: reads a live constant.
        unsafe {
            let kind = LLVMGetTypeKind(ty);
            if matches!(kind, LLVMStructTypeKind | LLVMArrayTypeKind | LLVMVectorTypeKind) {
                let count = if kind == LLVMStructTypeKind { LLVMCountStructElementTypes(ty) } else { types::element_count(ty) };
                return (0..count).all(|i| {
                    let element = LLVMGetAggregateElement(c.0, i);
                    !element.is_null() && self.computed_parts(Value(element), out)
                });
            }
            if kind == LLVMPointerTypeKind {
                let address = self.address(c);
                out.push(self.pointer_bits(&address, c.address_space()));
                return true;
            }
            if kind != LLVMIntegerTypeKind
                || leaves.len() != 1
                || LLVMIsAConstantExpr(c.0).is_null()
                || !matches!(leaves[0].bits, 8 | 16 | 32 | 64)
            {
                return false;
            }
            let mut sources = Parts::new();
            let opcode = LLVMGetConstOpcode(c.0);
            let operands = if matches!(opcode, LLVMPtrToInt | LLVMTrunc) { 1 } else { 2 };
            if !(0..operands).all(|i| self.computed_parts(c.operand(i), &mut sources)) {
                return false;
            }
            let words = leaves[0].words();
            let width = if words == 2 { Type::B64 } else { Type::B32 };
            let result = match opcode {
                LLVMPtrToInt | LLVMTrunc => {
                    let from = types::leaves(c.operand(0).ty())[0];
                    match (from.words(), words) {
                        (2, 1) => self.halves(sources[0]).0,
                        (1, 2) => self.pair(sources[0], Operand::Immediate(0)),
                        _ => sources[0],
                    }
                }
                LLVMAdd => self.emit_joint(Op::Add, width, words, &sources),
                LLVMSub => self.emit_joint(Op::Sub, width, words, &sources),
                LLVMXor => self.emit_joint(Op::Xor, width, words, &sources),
                _ => return false,
            };
            out.push(result);
            true
        }
    }

    /// An operand for constant bits: an immediate, or a register if 64 bits are not a sign-extended word.
    pub(super) fn constant_operand(&mut self, bits: u64, words: u8) -> Operand {
        if words == 2 && bits as i64 != i64::from(bits as u32 as i32) {
            return self.materialize(bits, 2);
        }
        Operand::Immediate(bits as u32)
    }
}

/// Whether a constant is an expression that reads another one's bytes as its type. LLVM folds some of them only with a data layout.
fn is_bitcast(c: Value) -> bool {
    // SAFETY: a live constant.
    unsafe {
        !LLVMIsAConstantExpr(c.0).is_null()
            && LLVMGetConstOpcode(c.0) == inkwell::llvm_sys::LLVMOpcode::LLVMBitCast
            && LLVMGetTypeKind(c.ty()) != LLVMPointerTypeKind
    }
}

/// The scalar bits of a bitcast's leaves, from the bytes of what it casts.
fn flatten_bitcast(c: Value, out: &mut Vec<u64>) -> bool {
    let inner = c.operand(0);
    let mut bits = Vec::new();
    let whole = |l: &types::Leaf| l.bits % 8 == 0;
    let (from, to) = (leaves(inner.ty()), leaves(c.ty()));
    if !flatten(inner, &mut bits) || !from.iter().chain(&to).all(whole) {
        return false;
    }
    let bytes: Vec<u8> = from.iter().zip(bits).flat_map(|(l, b)| b.to_le_bytes().into_iter().take(l.bytes() as usize)).collect();
    let mut rest = bytes.as_slice();
    for leaf in &to {
        let Some((mine, others)) = rest.split_at_checked(leaf.bytes() as usize) else { return false };
        rest = others;
        out.push(mine.iter().rev().fold(0, |v, b| v << 8 | u64::from(*b)));
    }
    true
}

/// The scalar bits of a constant's leaves; false if some leaf is no plain constant.
pub(super) fn flatten(c: Value, out: &mut Vec<u64>) -> bool {
    unsafe {
        if is_bitcast(c) {
            return flatten_bitcast(c, out);
        }
        let ty = c.ty();
        let kind = LLVMGetTypeKind(ty);
        if matches!(kind, LLVMStructTypeKind | LLVMArrayTypeKind | LLVMVectorTypeKind) {
            if LLVMIsUndef(c.0) != 0 || LLVMIsNull(c.0) != 0 {
                out.extend(std::iter::repeat_n(0, types::leaf_count(ty)));
                return true;
            }
            let count = if kind == LLVMStructTypeKind { LLVMCountStructElementTypes(ty) } else { types::element_count(ty) };
            return (0..count).all(|i| {
                let element = LLVMGetAggregateElement(c.0, i);
                !element.is_null() && flatten(Value(element), out)
            });
        }
        if types::widest_integer(ty) > 64 {
            return flatten_wide(c, out);
        }
        match scalar_bits(c) {
            Some(bits) => {
                out.push(bits);
                true
            }
            None => false,
        }
    }
}

/// The leaves of a constant integer of more than 64 bits. LLVM's C API gives 64 bits of a constant and folds no bitcast of wider ones, so the
/// printed number has them.
fn flatten_wide(c: Value, out: &mut Vec<u64>) -> bool {
    let leaves = types::widest_integer(c.ty()).div_ceil(64) as usize;
    // SAFETY: a live constant.
    if unsafe { LLVMIsUndef(c.0) != 0 || LLVMIsNull(c.0) != 0 } {
        out.extend(std::iter::repeat_n(0, leaves));
        return true;
    }
    let text = c.text();
    let Some(value) = text.rsplit(' ').next().and_then(|number| number.parse::<num_bigint::BigInt>().ok()) else { return false };
    let sign = if value.sign() == num_bigint::Sign::Minus { u64::MAX } else { 0 };
    let mut bytes = value.to_signed_bytes_le();
    bytes.resize(8 * leaves, sign as u8);
    out.extend(bytes.chunks(8).map(|b| b.iter().rev().fold(0, |v, b| v << 8 | u64::from(*b))));
    true
}
