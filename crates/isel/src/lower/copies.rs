//! `memcpy`, `memmove` and `memset` of constant size, cut into the largest accesses that the alignment allows. Others, and those
//! that are large, are loops by now ([`heddle_llvm_passes::lower_copies`]).

use heddle_isa::{Inst, Op, Operand, Type};
use heddle_llvm_passes::ir::{Value, function};
use heddle_mir::RegClass;
use inkwell::llvm_sys::LLVMOpcode::*;
use rustc_hash::FxHashSet;

use crate::address::Address;
use crate::emit::Emitter;
use crate::lower::pieces::{Piece, access_type};
use crate::{Selector, constants};

/// Bytes of the largest access.
const MOST_BYTES: u32 = 16;
/// Words that a copy holds in registers: as many loads as hide most of their latency, and few enough to leave room to other warps.
pub(crate) const MOST_WORDS: u32 = 32;

/// Selects an intrinsic by its name without types; false if it is of another family.
pub(crate) fn select(s: &mut Selector, i: Value, base: &str) -> bool {
    match base {
        "memcpy" | "memcpy.inline" | "memmove" => copy(s, i, base),
        "memset" | "memset.inline" => fill(s, i),
        _ => return false,
    }
    true
}

/// `memcpy` and `memmove`.
fn copy(s: &mut Selector, i: Value, base: &str) {
    let Some(size) = constants::sign_extended(i.operand(2)) else {
        s.report.error(Some(i), format!("`{base}` of a size that is not a constant is not supported"));
        return;
    };
    // The padding of structures, for one: LLVM splits it from the fields and still copies it.
    if never_written(i.operand(1), &mut FxHashSet::default()) {
        return;
    }
    let align = function::argument_alignment(i, 0).min(function::argument_alignment(i, 1));
    let (to, from) = (s.address(i.operand(0)), s.address(i.operand(1)));
    let words = if base == "memmove" { u32::MAX } else { MOST_WORDS };
    copy_bytes(&mut s.out, (&to, &from), size as u32, align, words);
}

/// `memset`.
fn fill(s: &mut Selector, i: Value) {
    let Some(size) = constants::sign_extended(i.operand(2)) else {
        s.report.error(Some(i), "`memset` of a size that is not a constant is not supported");
        return;
    };
    let byte = s.operand(i.operand(1));
    let word = match s.out.and32(byte, 0xff) {
        Operand::Immediate(v) => s.out.materialize(u64::from(v * 0x0101_0101), 1),
        other => s.out.emit_joint(Op::Mul, Type::B32, 1, &[other, Operand::Immediate(0x0101_0101)]),
    };
    let wide = s.out.emit_joint(Op::Tuple, Type::B128, 4, &[word; 4]);
    let to = s.address(i.operand(0));
    let offset = s.out.offset(&to);
    for piece in aligned_pieces(size as u32, function::argument_alignment(i, 0)) {
        store_bytes(&mut s.out, &to, offset, piece, wide);
    }
}

/// Bytes from 0 to `size` as the largest accesses that are aligned.
fn aligned_pieces(size: u32, align: u32) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut offset = 0;
    while offset < size {
        let mut bytes = align.clamp(1, MOST_BYTES);
        while offset % bytes != 0 || offset + bytes > size {
            bytes /= 2;
        }
        pieces.push(Piece { offset, bytes });
        offset += bytes;
    }
    pieces
}

/// Copies `size` bytes to a place from another one, which both have an alignment. So many words are loaded before they are stored:
/// all of them make overlapping moves exact.
pub(crate) fn copy_bytes(out: &mut Emitter, (to, from): (&Address, &Address), size: u32, align: u32, most_words: u32) {
    let (to_offset, from_offset) = (out.offset(to), out.offset(from));
    let pieces = aligned_pieces(size, align);
    let words = access_type(align.clamp(1, MOST_BYTES)).1;
    for group in pieces.chunks((most_words / u32::from(words)) as usize) {
        let mut loaded: Vec<(Piece, Operand)> = Vec::new();
        for &piece in group {
            let (ty, words) = access_type(piece.bytes);
            let dst = out.register(RegClass::vector(words));
            let mut inst = Inst::new(Op::Load, ty, dst, []);
            out.set_address(&mut inst, from, from_offset, piece.offset);
            out.push(inst);
            loaded.push((piece, dst));
        }
        for (piece, data) in loaded {
            store_bytes(out, to, to_offset, piece, data);
        }
    }
}

/// Stores the low bytes of a register.
fn store_bytes(out: &mut Emitter, to: &Address, offset: Option<Operand>, piece: Piece, data: Operand) {
    let mut inst = Inst::new(Op::Store, access_type(piece.bytes).0, Operand::None, []);
    out.set_address(&mut inst, to, offset, piece.offset);
    inst.srcs.push(data);
    out.push(inst);
}

/// Whether a pointer is to a private variable that nothing is ever written to, but what other variables like
/// this have. `seen`: variables that are taken to be so while they are looked at.
fn never_written(pointer: Value, seen: &mut FxHashSet<Value>) -> bool {
    let mut variable = pointer;
    while variable.is_instruction() && matches!(variable.opcode(), LLVMGetElementPtr | LLVMBitCast | LLVMAddrSpaceCast) {
        variable = variable.operand(0);
    }
    if !variable.is_instruction() || variable.opcode() != LLVMAlloca {
        return false;
    }
    if !seen.insert(variable) {
        return true;
    }
    let mut pointers = vec![variable];
    while let Some(p) = pointers.pop() {
        for user in p.users() {
            if !user.is_instruction() {
                return false;
            }
            match user.opcode() {
                LLVMGetElementPtr | LLVMBitCast | LLVMAddrSpaceCast => pointers.push(user),
                LLVMLoad => {}
                LLVMCall => {
                    let name = user.called_function().map(|f| f.name()).unwrap_or_default();
                    let copy = name.starts_with("llvm.memcpy.") || name.starts_with("llvm.memmove.");
                    let harmless = name.starts_with("llvm.lifetime.")
                        || copy && (user.operand(0) != p || never_written(user.operand(1), seen));
                    if !harmless {
                        return false;
                    }
                }
                _ => return false,
            }
        }
    }
    true
}
