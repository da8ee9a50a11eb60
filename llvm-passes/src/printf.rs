//! `printf` between compiler and driver: the buffer of messages, and the formats that a module has.
//!
//! A message starts with a word that names its format, from 1, and has the arguments after it
//! ([`heddle_object::format::Layout`]). Format strings and argument types stand in the module's
//! named metadata [`METADATA`]; strings for `%s` stay where they are, the message has their
//! address. The buffer is the variable [`BUFFER`], its size the function [`ROOM`]; both are hidden
//! arguments of the kernel. What is written there is read by no kernel, so analyses may pass over
//! it ([`is_buffer`]).
//!
//! [`crate::lower_printf`] makes all that of calls. OpenCL C 3.0, 6.15.14.

use inkwell::llvm_sys::LLVMOpcode::*;
use inkwell::module::Module;

use crate::ir::{self, Value, metadata};

/// The variable that stands for the buffer.
pub const BUFFER: &str = "heddle.printf.buffer";
/// The function that stands for the bytes of messages the buffer takes.
pub const ROOM: &str = "__heddle_printf_room";
/// Named metadata with a node for each format: its text and its argument types.
pub const METADATA: &str = "heddle.printf";

/// A format string and the types of what it prints.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Format {
    /// The string, without its NUL.
    pub text: Vec<u8>,
    /// Argument types as [`heddle_object::format::ArgumentType`] writes them, with spaces between.
    pub arguments: String,
}

/// Whether a pointer is into the buffer.
pub fn is_buffer(mut pointer: Value) -> bool {
    for _ in 0..8 {
        if pointer.any_opcode() == Some(LLVMGetElementPtr) {
            pointer = pointer.operand(0);
        } else {
            return pointer.is_global_variable() && pointer.name() == BUFFER;
        }
    }
    false
}

/// Whether a kernel prints.
pub fn is_used_in(kernel: Value) -> bool {
    let calls = |i: Value| i.opcode() == LLVMCall && i.called_name() == ROOM;
    ir::blocks(kernel).iter().any(|b| b.instructions().any(calls))
}

/// The formats of a module, by their numbers; messages have these plus 1.
pub fn formats(module: &Module) -> Vec<Format> {
    let format = |node: Vec<Vec<u8>>| {
        let mut strings = node.into_iter();
        let text = strings.next().unwrap_or_default();
        let arguments = String::from_utf8_lossy(&strings.next().unwrap_or_default()).into_owned();
        Format { text, arguments }
    };
    metadata::named(module, METADATA).into_iter().map(format).collect()
}
