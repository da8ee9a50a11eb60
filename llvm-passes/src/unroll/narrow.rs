//! Counters of 32 bits that clang computes with 64.
//!
//! # Problem
//! In `for (int i = …; i < n; i += get_global_size(0))` a number of 64 bits steps an `int`: clang keeps the sum and extends its
//! low word in each iteration, or extends the counter, adds and cuts.
//!
//! # Algorithm
//! A sum has the low word of the sum of its operands' low words. Where nothing but the low word is read, the counter becomes one
//! of 32 bits, and its step is cut before the loop.
//!
//! # Limits
//! Steps that are constants LLVM narrows itself.
//!
//! May touch: such counters and what reads them.

use inkwell::llvm_sys::LLVMOpcode::{self, *};
use inkwell::llvm_sys::LLVMTypeKind::LLVMIntegerTypeKind;

use super::shape;
use crate::ir::build::{self, Builder};
use crate::ir::cfg::{Cfg, Loop};
use crate::ir::{BlockRef, Value, metadata};

/// Makes counters of a function's loops of which only the low word is read, extended for a step of 64 bits, counters of 32 bits;
/// whether there is one. What it was made of, and another counter that is the same, LLVM has to remove.
pub fn run(function: Value, most_loops: usize) -> bool {
    let cfg = Cfg::new(function);
    // What LLVM is to leave alone is not in the form that this needs.
    if cfg.loops.len() > most_loops || cfg.left_loop().is_some() {
        return false;
    }
    cfg.loops.iter().fold(false, |any, l| any | in_loop(&cfg, l))
}

fn in_loop(cfg: &Cfg, l: &Loop) -> bool {
    if l.irreducible {
        return false;
    }
    let phis = cfg.blocks[l.header].instructions().take_while(|i| i.opcode() == LLVMPHI);
    let wide: Vec<Wide> = phis.filter_map(|phi| Wide::of(cfg, l, phi)).collect();
    wide.iter().for_each(Wide::narrow);
    !wide.is_empty()
}

/// A counter that is computed with 64 bits.
struct Wide {
    phi: Value,
    next: Value,
    /// What it steps by, of 64 bits.
    step: Value,
    /// Where `next` is the sum of 64 bits, those of its users that take the low word of it.
    cuts: Vec<Value>,
    /// Where `phi` has 64 bits, its users that take its low word or extend that, with the instruction that does.
    reads: Vec<(Value, Option<LLVMOpcode>)>,
}

/// The number by which words are shifted into the high half and back.
const WORD: u64 = 32;

impl Wide {
    fn of(cfg: &Cfg, l: &Loop, phi: Value) -> Option<Wide> {
        let inside = |v: Value| shape::is_defined_inside(cfg, l, v);
        let has_bits = |bits: u32| phi.type_kind() == LLVMIntegerTypeKind && phi.integer_bits() == bits;
        let back: Vec<Value> = phi
            .incoming()
            .filter(|(_, from)| cfg.index.get(from).is_some_and(|b| l.members.contains(*b)))
            .map(|(v, _)| v)
            .collect();
        let [next] = back[..] else { return None };
        if phi.incoming().count() != 2 || !inside(next) {
            return None;
        }
        let is_constant = |v: Value, n: u64| v.as_constant_int() == Some(n);
        let sum = if has_bits(64) { next } else { (has_bits(32) && next.opcode() == LLVMTrunc).then(|| next.operand(0))? };
        if !inside(sum) || sum.opcode() != LLVMAdd || sum.integer_bits() != 64 {
            return None;
        }
        // Which operand is the step?
        let (mut low, mut step) = (sum.operand(0), sum.operand(1));
        if !inside(low) {
            (low, step) = (step, low);
        }
        if !inside(low) || inside(step) || step.as_constant_int().is_some() {
            return None;
        }
        if has_bits(32) {
            let extends = matches!(low.opcode(), LLVMSExt | LLVMZExt) && low.operand(0) == phi;
            return extends.then_some(Wide { phi, next, step, cuts: Vec::new(), reads: Vec::new() });
        }
        let is_cut = |v: Value| v.is_instruction() && v.opcode() == LLVMTrunc && v.integer_bits() == 32;
        let mut reads = Vec::new();
        for user in phi.users() {
            match user.opcode() {
                LLVMTrunc if is_cut(user) => reads.push((user, None)),
                LLVMAnd if is_constant(user.operand(1), u32::MAX.into()) => reads.push((user, Some(LLVMZExt))),
                LLVMShl if is_constant(user.operand(1), WORD) => {
                    for shifted in user.users() {
                        let back = match shifted.opcode() {
                            LLVMAShr => LLVMSExt,
                            LLVMLShr => LLVMZExt,
                            _ => return None,
                        };
                        if !is_constant(shifted.operand(1), WORD) {
                            return None;
                        }
                        reads.push((shifted, Some(back)));
                    }
                }
                _ => return None,
            }
        }
        let cuts: Vec<Value> = next.users().filter(|u| *u != phi).collect();
        let extended = reads.iter().any(|(v, extension)| *v == low && extension.is_some());
        (extended && cuts.iter().all(|c| is_cut(*c))).then_some(Wide { phi, next, step, cuts, reads })
    }

    fn narrow(&self) {
        let context = metadata::context_of(self.phi.parent().function());
        let word = build::integer(context, WORD as u32);
        let b = Builder::new(context);
        let cut = |v: Value, before: Value| {
            b.at(before);
            b.cast(LLVMTrunc, v, word)
        };
        let outside = self.phi.incoming().find(|(v, _)| *v != self.next).map_or(self.next, |(_, from)| from.terminator());
        let step = cut(self.step, outside);
        b.at(self.next);
        b.locate(self.next);
        if self.phi.integer_bits() == 32 {
            build::replace(self.next, b.binary(LLVMAdd, self.phi, step));
            return;
        }
        let incoming =
            self.phi.incoming().map(|(v, from)| if v == self.next { (v, from) } else { (cut(v, from.terminator()), from) });
        let incoming: Vec<(Value, BlockRef)> = incoming.collect();
        // The sum has the phi for its operand, and the phi the sum.
        let phi = b.phi(self.phi.parent(), word, &[]);
        b.at(self.next);
        let next = b.binary(LLVMAdd, phi, step);
        for (v, from) in incoming {
            build::add_incoming(phi, if v == self.next { next } else { v }, from);
        }
        for (read, extension) in &self.reads {
            let by = match extension {
                None => phi,
                Some(extension) => {
                    b.at(*read);
                    b.cast(*extension, phi, read.ty())
                }
            };
            build::replace(*read, by);
        }
        self.cuts.iter().for_each(|c| build::replace(*c, next));
        // The old ones name each other and nothing else names them.
        build::replace(self.phi, build::poison(self.phi.ty()));
    }
}
