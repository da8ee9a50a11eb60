//! What a translation depends on, as bytes: translations with the same key are the same.
//!
//! A wrong key would give wrong results without a word. It is complete because of how it is made:
//!
//! - Of the program, the translator is given a copy without what the key leaves out ([`bare`]), so it cannot read that.
//!   Everything else goes into the key. Both are written as lists of all fields of [`Program`], so that a new field
//!   does not compile until it is on them; the header's fields are in the key unless `bare` empties them. Instructions, blocks
//!   and rows are written by their derived `Hash`, which has all fields, with lengths and discriminants, and here into bytes
//!   instead of a number: nothing collides before the store hashes them.
//! - What else the translator is given is in it as well: the variant, the lanes of a warp, the sizes that code steps over.
//! - LLVM is given the host's processor, its features, and the passes, which are in it; its version is, too.
//! - Launches (sizes, arguments, addresses, memory) reach code through its frame only, whose layout, like the translator
//!   itself, is this build of Heddle's: the store tells builds apart ([`crate::translations::TranslationStore`]).

use std::hash::{Hash, Hasher};

use heddle_object::metadata::KernelHeader;

use super::compiler::{Compiler, PASSES};
use super::{Frame, Sizes, Variant, WarpState};
use crate::program::Program;

/// Version of what goes into a key.
const VERSION: u32 = 1;

/// A program without what a translation does not depend on.
pub(super) fn bare(program: &Program) -> Program {
    let Program { header, insts, blocks, rows, operands, files: _, clusters, code_bytes: _, host: _, derived: _ } = program;
    let insts = insts.iter().map(|i| heddle_isa::Inst { loc: Default::default(), ..i.clone() });
    Program {
        // Where it lies, what it is called, and what launches and tools read.
        header: KernelHeader {
            name: String::new(),
            text_offset: 0,
            text_size: 0,
            args: Vec::new(),
            working_sets: Vec::new(),
            vector_hint: None,
            redzones: Vec::new(),
            variables: None,
            ..header.clone()
        },
        insts: insts.collect(),
        blocks: blocks.clone(),
        rows: rows.clone(),
        operands: operands.clone(),
        files: Vec::new(),
        clusters: *clusters,
        code_bytes: 0,
        host: Default::default(),
        derived: Default::default(),
    }
}

/// Takes down what would be hashed.
struct Bytes(Vec<u8>);

impl Hasher for Bytes {
    fn write(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }

    fn finish(&self) -> u64 {
        0
    }
}

/// The key of a translation of a program that is [`bare`].
pub(super) fn key<const N: usize>(bare: &Program, variant: Variant, compiler: &Compiler) -> Vec<u8> {
    let Program { header, insts, blocks, rows, operands, files: _, clusters, code_bytes: _, host: _, derived: _ } = bare;
    let Variant { whole, checked, groups } = variant;
    let Sizes { row, decoded } = Sizes::new::<N>();
    let mut key = Bytes(Vec::with_capacity(4096 + 128 * insts.len()));
    (VERSION, N, row, decoded, size_of::<Frame>(), size_of::<WarpState>()).hash(&mut key);
    (whole, checked, groups).hash(&mut key);
    (&compiler.cpu, &compiler.features, compiler.triple(), PASSES, inkwell::support::get_llvm_version()).hash(&mut key);
    format!("{header:?}").hash(&mut key);
    (insts, blocks, rows, operands, clusters).hash(&mut key);
    key.0
}

#[cfg(test)]
mod tests;
