//! LLVM's intrinsics, by name: those that do nothing here, and the others family after family.

use heddle_isa::Operand;
use heddle_llvm_passes::ir::Value;

use crate::Selector;
use crate::lower::{copies, float_intrinsics, integer_intrinsics, vectors};

/// Selects a call of an intrinsic, by its name without `llvm.`.
pub(crate) fn intrinsic(s: &mut Selector, i: Value, name: &str) {
    // "smax.v4i32" → "smax"; "sadd.with.overflow.i32" → "sadd.with.overflow".
    let base: Vec<&str> = name.split('.').take_while(|p| !is_type_suffix(p)).collect();
    let base = base.join(".");
    let known = is_nothing(&base)
        || gives_operand(s, i, &base)
        || float_intrinsics::select(s, i, &base)
        || integer_intrinsics::select(s, i, &base)
        || vectors::arrange(s, i, &base)
        || copies::select(s, i, &base);
    if !known {
        s.report.error(Some(i), format!("unsupported intrinsic `llvm.{name}`"));
    }
}

/// Whether an intrinsic says something to LLVM only, or ends in an `unreachable` that follows and traps.
fn is_nothing(base: &str) -> bool {
    matches!(
        base,
        "lifetime.start"
            | "lifetime.end"
            | "assume"
            | "dbg.declare"
            | "dbg.value"
            | "dbg.label"
            | "donothing"
            | "experimental.noalias.scope.decl"
            | "invariant.start"
            | "invariant.end"
            | "sideeffect"
            | "prefetch"
            | "trap"
            | "ubsantrap"
            | "debugtrap"
            | "var.annotation"
    )
}

/// Selects an intrinsic whose result is its operand, or known; false if it is another one.
fn gives_operand(s: &mut Selector, i: Value, base: &str) -> bool {
    match base {
        "expect"
        | "expect.with.probability"
        | "ssa.copy"
        | "annotation"
        | "launder.invariant.group"
        | "strip.invariant.group"
        | "arithmetic.fence" => {
            let parts = s.parts(i.operand(0));
            s.values.set(i, parts);
        }
        "is.constant" => s.values.set1(i, Operand::Immediate(0)),
        _ => return false,
    }
    true
}

/// Whether a piece of an intrinsic's name is a type: `i32`, `v4f32`, `p1`, `f64`.
fn is_type_suffix(piece: &str) -> bool {
    let digits = |s: &str| !s.is_empty() && s.bytes().all(|b| b.is_ascii_digit());
    let scalar = |s: &str| ["i", "f", "p", "bf"].iter().any(|k| s.strip_prefix(k).is_some_and(digits));
    scalar(piece)
        || piece.strip_prefix('v').is_some_and(|rest| {
            let n = rest.bytes().take_while(u8::is_ascii_digit).count();
            n > 0 && scalar(&rest[n..])
        })
}
