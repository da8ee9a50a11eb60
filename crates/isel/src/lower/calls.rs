//! Calls: OpenCL's functions that are instructions, and messages for what cannot be called.

use crate::lower::{cache_control, images, intrinsics, queries};
use crate::{Selector, constants};
use heddle_isa::{Inst, Op, Operand, Special, Type};
use heddle_llvm_passes::ir::Value;
use heddle_mir::{Bank, RegClass};
use inkwell::llvm_sys::LLVMOpcode::{LLVMSExt, LLVMZExt};

use heddle_llvm_passes::builtins::{self, Builtin};
use heddle_llvm_passes::ir;

/// What an OpenCL device may do without, by the functions that clang makes of it.
fn optional_feature(name: &str) -> Option<&'static str> {
    let name = name.strip_prefix("__")?;
    let pipe = name.ends_with("_pipe") || name.contains("_pipe_");
    let enqueue = name.starts_with("enqueue_kernel") || name.starts_with("get_kernel_");
    match (pipe, enqueue) {
        (true, _) => Some("pipes are"),
        (_, true) => Some("launching kernels from kernels (blocks, enqueue_kernel) is"),
        _ => None,
    }
}

/// The bit that a number is an extension of, if each lane has its own.
fn extended_bit(s: &mut Selector, number: Value) -> Option<Operand> {
    let extends = number.is_instruction() && matches!(number.opcode(), LLVMZExt | LLVMSExt);
    let bit = s.operand((extends && number.operand(0).integer_bits() == 1).then(|| number.operand(0))?);
    (s.out.bank(bit) == Some(Bank::Predicate)).then_some(bit)
}

/// Selects a call.
pub(crate) fn call(s: &mut Selector, i: Value) {
    let Some(function) = i.called_function() else {
        let message = if i.calls_assembly() {
            "inline assembly is not supported"
        } else {
            "a call through a pointer: OpenCL C has no function pointers"
        };
        s.report.error(Some(i), message);
        return;
    };
    let name = function.name();
    match builtins::by_name(&name) {
        Some(Builtin::Query(q)) => return queries::query(s, i, q),
        Some(Builtin::Barrier) => return synchronize(s, i, Op::Barrier),
        Some(Builtin::Fence) => return synchronize(s, i, Op::Fence),
        Some(Builtin::Shuffle) => {
            let (value, lane) = (s.operand(i.operand(0)), s.operand(i.operand(1)));
            // Other lanes read the register, so it is one of lanes.
            let value = s.out.emit(Op::Mov, Type::B32, RegClass::vector(1), [value]);
            let result = s.out.emit(Op::Shuffle, Type::B32, RegClass::vector(1), [value, lane]);
            return s.values.set1(i, result);
        }
        Some(Builtin::Ballot) => {
            let predicate = extended_bit(s, i.operand(0)).unwrap_or_else(|| {
                let value = s.operand(i.operand(0));
                // Without a value a lane there is one bit for all.
                let value = s.out.emit(Op::Mov, Type::B32, RegClass::vector(1), [value]);
                s.out.predicate(value)
            });
            let lanes = s.out.emit(Op::Ballot, Type::None, RegClass::scalar(2), [predicate]);
            let in_lanes = !s.cx.is_scalar(i);
            let result = if in_lanes { s.out.emit(Op::Mov, Type::B64, RegClass::vector(2), [lanes]) } else { lanes };
            return s.values.set1(i, result);
        }
        Some(Builtin::Clock) => {
            // Here and not where the value is used.
            let class = if s.cx.is_scalar(i) { RegClass::scalar(1) } else { RegClass::vector(1) };
            let now = s.out.emit(Op::Mov, Type::B32, class, [Operand::Special(Special::ClockLow)]);
            return s.values.set1(i, now);
        }
        Some(Builtin::PrintfRoom) => {
            // Behind the address.
            let room = s.out.bank_words_on_entry(s.arguments.printf + 8, 1);
            return s.values.set1(i, room);
        }
        None => {}
    }
    if images::image_call(s, i, &name) || cache_control::cache_call(s, i, &name) {
        return;
    }
    match name.strip_prefix("llvm.") {
        Some(intrinsic) => intrinsics::intrinsic(s, i, intrinsic),
        // A function that could not be inlined is reported once, for itself.
        None if !ir::blocks(function).is_empty() => {
            s.report.error(Some(i), format!("call of `{}`, which cannot be inlined", demangle(&name)));
        }
        None => {
            let message = match optional_feature(&name) {
                Some(feature) => format!("{feature} not supported"),
                None => {
                    let readable = demangle(&name);
                    format!("call of `{readable}`, which no source defines and the built-in library does not have")
                }
            };
            s.report.error(Some(i), message);
        }
    }
}

/// A barrier or fence.
fn synchronize(s: &mut Selector, i: Value, op: Op) {
    // CLK_LOCAL_MEM_FENCE is 1, CLK_GLOBAL_MEM_FENCE 2.
    let flags = constants::sign_extended(i.operand(0)).unwrap_or(3) as i32 & 3;
    let mut inst = Inst::new(op, Type::None, Operand::None, []);
    inst.imm = flags;
    s.out.push(inst);
}

/// The plain name inside an Itanium-mangled one: `_Z3foof` → `foo`.
fn demangle(name: &str) -> String {
    let Some(rest) = name.strip_prefix("_Z") else { return name.to_string() };
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    match rest[..digits].parse::<usize>() {
        Ok(n) if digits + n <= rest.len() => rest[digits..digits + n].to_string(),
        _ => name.to_string(),
    }
}
