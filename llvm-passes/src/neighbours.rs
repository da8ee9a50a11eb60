//! Accesses of neighbours become one access of a vector.
//!
//! # Problem
//! LLVM makes one load of several in a row (`load-store-vectorizer`) if it knows that the first is aligned to the vector's size.
//! Of a kernel's pointer to `float` it knows four bytes, although nearly every buffer begins at a multiple of the longest vector.
//! A machine that performs vectors at any word, as AMD's GPUs do, need not know more.
//!
//! # Algorithm
//! For such a machine, accesses of device memory that are aligned to a word are said to be aligned to the longest vector while
//! LLVM's pass runs; but only to what is between a lane's access and the next one's, if that is known: lanes that read
//! overlapping vectors, as of a stencil's row, would each take another time what one access brings for all. Then every access
//! that is still there gets its own alignment back, and each new vector that of a word.
//!
//! # Reference
//! LLVM's `LoadStoreVectorizer`, which asks the target's `allowsMisalignedMemoryAccesses`; passes here run without a target.
//!
//! May touch: what `load-store-vectorizer` does, and alignments of loads and stores of device memory while it runs.

use inkwell::llvm_sys::LLVMOpcode::*;
use inkwell::llvm_sys::core::LLVMSetAlignment;
use inkwell::module::Module;

use crate::error::PassError;
use crate::facts::Facts;
use crate::global_id::{self, Offsets};
use crate::ir::{Value, address_space, blocks, function, llvm_passes, metadata};
use crate::uniformity;

/// Bytes of a word.
const WORD: u32 = 4;
/// Bytes of the longest vector that the machine loads at once.
const LONGEST: u32 = 16;
/// What an access was aligned to, while LLVM is told something else.
const OWN_ALIGNMENT: &str = "heddle-alignment";

/// Merges the accesses of a module.
///
/// # Errors
/// LLVM's message.
pub fn merge(module: &Module, facts: Facts) -> Result<(), PassError> {
    llvm_passes::run(module, "function(infer-alignment)")?;
    if !facts.unaligned_vectors {
        return llvm_passes::run(module, "function(load-store-vectorizer)");
    }
    let writer = metadata::Writer::of_module(module);
    for function in function::bodies(module) {
        let (raised, long): (Vec<Value>, Vec<Value>) =
            accesses_of(function).into_iter().filter(|a| a.alignment() >= WORD).partition(|a| a.alignment() < LONGEST);
        for access in long.into_iter().chain(raised.iter().copied()) {
            writer.attach(access, OWN_ALIGNMENT, writer.number(access.alignment()));
        }
        if raised.len() > 1 {
            let uniformity = uniformity::analyze(function, facts);
            let mut offsets = Offsets::new(function, &uniformity);
            for access in raised {
                set_alignment(access, access.alignment().max(longest_without_overlap(access, &mut offsets)));
            }
        }
    }
    let result = llvm_passes::run(module, "function(load-store-vectorizer)");
    for access in accesses(module).into_iter().filter(|access| access.alignment() >= WORD) {
        // What has no mark is what LLVM made.
        set_alignment(access, metadata::number(access, OWN_ALIGNMENT).unwrap_or(WORD));
        writer.detach(access, OWN_ALIGNMENT);
    }
    result
}

/// The longest vector with which lanes that access next to each other would not read the same bytes.
fn longest_without_overlap(access: Value, offsets: &mut Offsets) -> u32 {
    let pointer = access.operand(if access.opcode() == LLVMLoad { 0 } else { 1 });
    let Ok((_, offset)) = offsets.of(pointer) else { return LONGEST };
    let mut stride: u32 = 0;
    for (monomial, count) in &offset.0 {
        let (ids, rest) = global_id::split_ids(monomial);
        if ids.contains(&0) {
            if ids.len() > 1 || !rest.is_empty() {
                return LONGEST;
            }
            stride = stride.wrapping_add(*count);
        }
    }
    match (stride as i32).unsigned_abs() {
        0 => LONGEST,
        bytes => 1 << bytes.ilog2().min(LONGEST.ilog2()),
    }
}

/// Loads and stores of device memory.
fn accesses(module: &Module) -> Vec<Value> {
    function::bodies(module).into_iter().flat_map(accesses_of).collect()
}

/// The same of a function.
fn accesses_of(function: Value) -> Vec<Value> {
    let instructions = blocks(function).into_iter().flat_map(|b| b.instructions());
    let device = |access: &Value| {
        let pointer = match access.opcode() {
            LLVMLoad => access.operand(0),
            LLVMStore => access.operand(1),
            _ => return false,
        };
        matches!(pointer.address_space(), address_space::GLOBAL | address_space::CONSTANT)
    };
    instructions.filter(device).collect()
}

fn set_alignment(access: Value, bytes: u32) {
    // SAFETY: a live load or store, and a power of two.
    unsafe { LLVMSetAlignment(access.0, bytes) };
}
