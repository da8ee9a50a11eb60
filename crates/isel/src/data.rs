//! The data section: the module's program-scope variables, laid out, with the bytes that they hold at first.

use heddle_llvm_passes::ir::layout::Layout;
use heddle_llvm_passes::ir::{Type, Value, address_space};
use heddle_llvm_passes::printf;
use heddle_mir::DataSection;
use heddle_object::metadata::{VARIABLE_ALIGN, Variable};
use inkwell::llvm_sys::LLVMOpcode::{LLVMAddrSpaceCast, LLVMBitCast, LLVMGetElementPtr, LLVMPtrToInt};
use inkwell::llvm_sys::LLVMTypeKind::*;
use rustc_hash::FxHashMap;

use crate::Diagnostic;
use crate::constants::{flatten, is_bitcast, scalar_bits};
use crate::leaf::{leaves, widest_integer};

/// libclc's table of the bits of 2/pi, 158 bytes of alignment 1, which it reads 16 at a time, the last ones
/// at 160: the name, and what it takes.
const PI_TABLE: (&str, u32, u32) = ("PIBITS_TBL", 16, 176);

/// Bytes of an address in the data section.
const ADDRESS_BYTES: u32 = 8;

/// The module's program-scope variables and their place in the data section.
pub(crate) struct Data<'a> {
    pub section: DataSection,
    pub errors: Vec<Diagnostic>,
    offsets: FxHashMap<Value, u32>,
    layout: &'a Layout,
}

impl<'a> Data<'a> {
    /// Lays out the global and constant variables that something uses; `redzones`: apart from each other.
    pub fn new(module: &inkwell::module::Module, layout: &'a Layout, redzones: bool) -> Self {
        let mut data = Data { section: DataSection::default(), errors: Vec::new(), offsets: FxHashMap::default(), layout };
        let device =
            |g: &Value| matches!(g.address_space(), address_space::GENERIC | address_space::GLOBAL | address_space::CONSTANT);
        let placed = |g: &Value| device(g) && g.has_uses() && g.name() != printf::BUFFER;
        let variables: Vec<Value> = module.get_globals().map(Value::of).filter(placed).collect();
        for g in &variables {
            data.place(*g, redzones);
        }
        for g in variables {
            match g.initializer() {
                Some(initializer) => data.write(initializer, data.offsets[&g]),
                None => data.errors.push(undefined(g)),
            }
        }
        data
    }

    /// Offset of a variable in the data section.
    pub fn offset(&self, variable: Value) -> Option<u32> {
        self.offsets.get(&variable).copied()
    }

    /// Gives a variable its place behind the ones before it.
    fn place(&mut self, variable: Value, redzones: bool) {
        let ty = variable.variable_type();
        let (size, align) = (self.size(ty), variable.alignment().max(self.layout.alignment(ty)));
        let (name, table_align, table_size) = PI_TABLE;
        let (align, size) = match variable.name().starts_with(name) {
            true => (align.max(table_align), size.max(table_size)),
            false => (align, size),
        };
        let (end, align) = (self.section.bytes.len() as u32, if redzones { VARIABLE_ALIGN } else { align });
        let offset = match redzones && end > 0 {
            true => (end + VARIABLE_ALIGN).next_multiple_of(align),
            false => end.next_multiple_of(align),
        };
        if redzones {
            self.section.variables.push(Variable { name: variable.name(), start: offset, bytes: size });
        }
        self.section.align = self.section.align.max(align);
        self.section.bytes.resize((offset + size) as usize, 0);
        self.offsets.insert(variable, offset);
    }

    fn size(&self, ty: Type) -> u32 {
        self.layout.size(ty) as u32
    }

    fn report(&mut self, message: String) {
        self.errors.push(Diagnostic { message, file: String::new(), line: 0, column: 0 });
    }

    /// Writes a constant's bytes.
    fn write(&mut self, c: Value, at: u32) {
        let ty = c.type_of();
        if c.is_null() || c.is_undefined() || is_bitcast(c) && self.write_leaves(c, at) {
            return;
        }
        match ty.kind() {
            LLVMStructTypeKind => {
                for i in 0..ty.field_count() {
                    self.write_element(c, i, at + self.layout.field_offset(ty, i) as u32);
                }
            }
            LLVMArrayTypeKind | LLVMVectorTypeKind => {
                let size = ty.element().map_or(0, |e| self.size(e));
                for i in 0..ty.element_count() as u32 {
                    self.write_element(c, i, at + i * size);
                }
            }
            LLVMPointerTypeKind if is_cast_null(c) => {}
            LLVMPointerTypeKind => match self.pointer(c) {
                Some(target) => self.write_address(target, at),
                None => self.report(format!("unsupported pointer in an initialiser: `{}`", c.text())),
            },
            LLVMIntegerTypeKind if widest_integer(ty) > 64 => {
                if !self.write_leaves(c, at) {
                    self.report(format!("unsupported initialiser: `{}`", c.text()));
                }
            }
            _ => match (scalar_bits(c), self.number_of(c)) {
                (Some(bits), _) => self.store(at, bits, self.size(ty)),
                (None, Some(target)) => self.write_address(target, at),
                (None, None) => self.report(format!("unsupported initialiser: `{}`", c.text())),
            },
        }
    }

    fn write_element(&mut self, aggregate: Value, i: u32, at: u32) {
        match aggregate.aggregate_element(i) {
            Some(element) => self.write(element, at),
            None => self.report(format!("unsupported initialiser: `{}`", aggregate.text())),
        }
    }

    /// Writes a constant leaf by leaf; false if some leaf is no plain constant.
    fn write_leaves(&mut self, c: Value, at: u32) -> bool {
        let mut bits = Vec::new();
        let plain = flatten(self.layout, c, &mut bits);
        if plain {
            for (leaf, bits) in leaves(self.layout, c.type_of()).iter().zip(bits) {
                self.store(at + leaf.offset, bits, leaf.bytes());
            }
        }
        plain
    }

    /// Writes the address of a place in the data section, which the loader completes.
    fn write_address(&mut self, target: u32, at: u32) {
        self.store(at, u64::from(target), ADDRESS_BYTES);
        self.section.relocations.push(at);
    }

    /// The data offset of which a constant of 64 bits is the address.
    fn number_of(&self, c: Value) -> Option<u32> {
        let address = c.constant_opcode() == Some(LLVMPtrToInt) && self.size(c.type_of()) == ADDRESS_BYTES;
        if address { self.pointer(c.operand(0)) } else { None }
    }

    /// The data offset that a constant pointer points to.
    fn pointer(&self, c: Value) -> Option<u32> {
        if let Some(offset) = self.offsets.get(&c) {
            return Some(*offset);
        }
        match c.constant_opcode()? {
            LLVMGetElementPtr => {
                let base = self.pointer(c.operand(0))?;
                Some(base.wrapping_add(self.layout.constant_offset(c)? as u32))
            }
            LLVMBitCast | LLVMAddrSpaceCast => self.pointer(c.operand(0)),
            _ => None,
        }
    }

    fn store(&mut self, at: u32, bits: u64, bytes: u32) {
        let (at, n) = (at as usize, bytes as usize);
        if n <= 8 && at + n <= self.section.bytes.len() {
            self.section.bytes[at..at + n].copy_from_slice(&bits.to_le_bytes()[..n]);
        }
    }
}

/// A variable without an initialiser.
fn undefined(variable: Value) -> Diagnostic {
    let message = format!("variable `{}` is declared but not defined in any source", variable.name());
    let mut position = first_use(variable).map(Value::source_position).unwrap_or_default();
    if position.line == 0 {
        position.file = variable.module_name();
    }
    Diagnostic::at(message, position)
}

/// The first instruction with a position that uses a variable, or an expression of it.
fn first_use(variable: Value) -> Option<Value> {
    let line = |i: Value| i.line().map_or(0, |l| l.line);
    let mut stack = vec![variable];
    let mut found: Option<Value> = None;
    while let Some(v) = stack.pop() {
        for user in v.users() {
            if !user.is_instruction() {
                stack.push(user);
            } else if line(user) != 0 && found.is_none_or(|f| line(user) < line(f)) {
                found = Some(user);
            }
        }
    }
    found
}

/// Whether a constant is the null pointer of another address space.
fn is_cast_null(c: Value) -> bool {
    c.constant_opcode() == Some(LLVMAddrSpaceCast) && c.operand(0).is_null()
}
