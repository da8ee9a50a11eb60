//! Unrolling of innermost loops whose number of iterations only a launch knows.
//!
//! # Problem
//! A warp issues in order and hides little of a load's latency by itself: the loads of several iterations have to stand side by
//! side. Unrolled, they share a counter and addresses, too. Clang unrolls by a size that is the same for all loops, but what a
//! remainder costs is not: where all lanes leave a loop together ([`crate::uniformity`]) its remainder is a few iterations once a
//! warp, elsewhere each lane has its own, and the warp executes the longest.
//!
//! # Algorithm
//! Clang leaves such loops alone ([`CLANG`]). Here queries of ids and sizes go out of loops, loops that go round a few times
//! at most become as many copies ([`SHORT`], as far as LLVM finds them small enough), and counters of 64 bits of which only half
//! is read become words (`narrow`). Loops whose step only a launch knows, and loops with several ways out, have a way of their
//! own (`front`). Then each innermost one that is left at its end only, by a comparison of a counter of constant step with what
//! does not change in it, is to become as many copies as fit into a size, by whether lanes leave it together: a power of two up
//! to eight. Metadata say so (`llvm.loop.unroll.count`), LLVM's `loop-unroll` does it, with a loop behind it for what is left
//! over, which becomes two copies if all lanes leave it together, and what copies have in common is joined, sums of a counter and
//! what does not change in the loop among it. A loop that the program or clang says something about is left as it is.
//!
//! # Reference
//! LLVM's `LoopUnrollPass` and its targets' `getUnrollingPreferences`, which know nothing of divergence.
//!
//! # Limits
//! Loops with convergent operations, as barriers and shuffles are, LLVM unrolls only where nothing is left over. Functions of
//! very many loops stay as they are.
//!
//! May touch: the loops, and in modules with loops what LLVM's passes simplify. Reads LLVM IR in which everything is inlined, and
//! brings it into LCSSA form.

use inkwell::llvm_sys::LLVMOpcode::*;
use inkwell::llvm_sys::LLVMTypeKind::LLVMIntegerTypeKind;
use inkwell::module::Module;
use rustc_hash::FxHashSet;

use crate::builtins::{self, Builtin};
use crate::error::PassError;
use crate::facts::Facts;
use crate::ir::build::Builder;
use crate::ir::cfg::{Cfg, Index, Loop};
use crate::ir::function;
use crate::ir::metadata::{self, Writer};
use crate::ir::{Value, build, llvm_passes};
use crate::uniformity;

mod front;
mod narrow;
pub mod shape;

/// What keeps clang from unrolling these loops.
pub const CLANG: [&str; 2] = ["-mllvm", "-unroll-runtime=false"];

/// Instructions that the copies of a loop may have that all lanes of a warp leave together.
const UNIFORM_SIZE: usize = 200;

/// The same where lanes leave one by one.
const VARYING_SIZE: usize = 37;

/// LLVM's pass, which unrolls what metadata say and nothing else.
pub const MARKED: &str = "loop-unroll<O2;no-partial;no-runtime;no-peeling;no-upperbound;full-unroll-max=0>";

/// The same, and copies of loops that go round a few times at most, which is known here where it was not for clang: a warp's
/// lanes are so many, and work-groups are not larger than the machine takes.
const SHORT: &str = "loop-unroll<O2;no-partial;no-runtime;no-peeling;upperbound;full-unroll-max=8>";

/// LLVM's combination of instructions, until its limit.
pub const COMBINE: &str = "instcombine<no-verify-fixpoint>";

/// Functions of more loops keep them: LLVM takes time by the square of their number.
pub const MOST_LOOPS: usize = 100;

/// What LLVM appends to the names of blocks of what is left over behind a loop.
const REMAINDER: &str = ".epil";

/// Copies of what is left over.
const REMAINDER_COPIES: usize = 2;

/// Unrolls loops in all functions of a module.
///
/// # Errors
/// LLVM's message.
pub fn unroll(module: &Module, facts: Facts) -> Result<(), PassError> {
    let run = |passes: &str| llvm_passes::run(module, &format!("function({passes})"));
    let bodies = || function::bodies(module).into_iter();
    if bodies().all(|f| Cfg::new(f).loops.is_empty()) {
        return Ok(());
    }
    let hoisted = bodies().fold(false, |any, f| any | hoist_queries(f));
    // What is computed from them does not change in a loop either, and the comparison moves to the loop's end.
    let hoist = if hoisted { "early-cse,loop-mssa(licm,loop-rotate)," } else { "" };
    run(&format!("{hoist}{SHORT},{COMBINE},simplifycfg,loop-simplify,lcssa"))?;
    let known: FxHashSet<(Value, String)> = bodies().flat_map(|f| remainders(f).into_iter().map(move |name| (f, name))).collect();
    if bodies().fold(false, |any, f| any | narrow::run(f, MOST_LOOPS)) {
        run(&format!("early-cse,{COMBINE},simplifycfg,loop-simplify,lcssa"))?;
    }
    let strided = front::run(module, facts, UNIFORM_SIZE, MOST_LOOPS);
    if strided {
        run("loop-simplify,lcssa")?;
    }
    let marked = bodies().fold(false, |any, f| any | mark(f, facts));
    if !strided && !marked {
        return Ok(());
    }
    run(MARKED)?;
    let is_new = |f: Value, name: String| name.ends_with(REMAINDER) && !known.contains(&(f, name));
    if bodies().fold(false, |any, f| any | mark_remainders(f, facts, |name| is_new(f, name))) {
        run(MARKED)?;
    }
    // What copies have in common.
    run(&format!("early-cse,{COMBINE},loop-mssa(licm),simplifycfg"))?;
    bodies().for_each(make_sums);
    run("nary-reassociate,early-cse")
}

/// Makes sums of 32 bits of what LLVM makes of them in copies of a loop: `i | 3` is `i + 3` where `i` steps by four. Its passes
/// that find what sums have in common know these only.
fn make_sums(function: Value) {
    let blocks = function::blocks(function).into_iter();
    let is_word = |i: &Value| i.type_kind() == LLVMIntegerTypeKind && i.integer_bits() == 32;
    let is_sum = |i: &Value| i.is_disjoint() && is_word(i) && i.operand(1).as_constant_int().is_some();
    let ors: Vec<Value> = blocks.flat_map(|b| b.instructions()).filter(is_sum).collect();
    let b = Builder::new(metadata::context_of(function));
    for or in ors {
        b.at(or);
        b.locate(or);
        let sum = b.binary(LLVMAdd, or.operand(0), or.operand(1));
        sum.set_no_wrap();
        build::replace(or, sum);
    }
}

/// Moves what asks for ids and sizes out of loops, where LLVM leaves it: it takes any such function for one whose callers matter.
fn hoist_queries(function: Value) -> bool {
    let cfg = Cfg::new(function);
    let in_loop = |b: &Index| cfg.loops.iter().any(|l| l.members.contains(*b));
    let asks = |i: &Value| {
        let asked = (i.opcode() == LLVMCall).then(|| builtins::of_call(*i)).flatten();
        matches!(asked, Some(Builtin::Query(query)) if !query.has_dimension() || i.operand(0).as_constant_int().is_some())
    };
    let blocks = (0..cfg.blocks.len()).filter(in_loop).map(|b| cfg.blocks[b]);
    let queries: Vec<Value> = blocks.flat_map(|b| b.instructions()).filter(asks).collect();
    let builder = Builder::before(metadata::context_of(function), cfg.blocks[0].terminator());
    queries.iter().for_each(|query| builder.move_here(*query));
    !queries.is_empty()
}

/// Says of a function's loops how many copies they are to become; whether there is one.
fn mark(function: Value, facts: Facts) -> bool {
    each_counted(function, facts, |cfg, candidate, end, together| {
        let said = metadata::loop_hints(end).iter().any(|hint| hint.starts_with("llvm.loop.unroll"));
        if said {
            return 1;
        }
        shape::copies(shape::size(cfg, candidate), if together { UNIFORM_SIZE } else { VARYING_SIZE })
    })
}

/// The same for what is left over behind loops that LLVM has unrolled, if all lanes leave it together.
fn mark_remainders(function: Value, facts: Facts, is_new: impl Fn(String) -> bool) -> bool {
    each_counted(
        function,
        facts,
        |cfg, candidate, _, together| {
            if together && is_new(cfg.blocks[candidate.header].name()) { REMAINDER_COPIES } else { 1 }
        },
    )
}

/// Says of a function's innermost loops that end with a count how many copies they are to become, by the graph, the loop, the
/// branch at its end, and whether all lanes leave it together. Whether there is one of several copies.
fn each_counted(function: Value, facts: Facts, copies: impl Fn(&Cfg, &Loop, Value, bool) -> usize) -> bool {
    let uniformity = uniformity::analyze(function, facts);
    let (cfg, writer) = (uniformity.cfg(), Writer::of_function(function));
    if cfg.loops.len() > MOST_LOOPS {
        return false;
    }
    let mut any = false;
    for candidate in cfg.loops.iter().filter(|l| shape::is_innermost(cfg, l)) {
        let Some(latch) = counted(cfg, candidate) else { continue };
        let end = cfg.blocks[latch].terminator();
        let copies = copies(cfg, candidate, end, !uniformity.branch_is_divergent(latch));
        if copies > 1 {
            writer.unroll(end, copies as u32);
            any = true;
        }
    }
    any
}

/// The names of a function's headers that look like those of what LLVM leaves over.
fn remainders(function: Value) -> Vec<String> {
    let cfg = Cfg::new(function);
    let names = cfg.loops.iter().map(|l| cfg.blocks[l.header].name());
    names.filter(|name| name.ends_with(REMAINDER)).collect()
}

/// The block that ends the iterations of a loop, if it is left there only and by a count.
fn counted(cfg: &Cfg, l: &Loop) -> Option<Index> {
    let latch = shape::end(cfg, l)?;
    let condition = cfg.blocks[latch].terminator().operand(0);
    let defined_inside = |v: Value| shape::is_defined_inside(cfg, l, v);
    // `int` counters are compared with sizes of 64 bits.
    let extends = |v: Value| defined_inside(v) && matches!(v.opcode(), LLVMSExt | LLVMZExt);
    let narrow = |v: Value| if extends(v) { v.operand(0) } else { v };
    let is_counter = |v: Value| defined_inside(narrow(v)) && steps(cfg, l, latch, narrow(v));
    let (a, b) = (condition.operand(0), condition.operand(1));
    let counts = is_counter(a) && !defined_inside(b) || is_counter(b) && !defined_inside(a);
    counts.then_some(latch)
}

/// Whether a value is a counter of constant step, before the step or behind it.
fn steps(cfg: &Cfg, l: &Loop, latch: Index, v: Value) -> bool {
    let header = cfg.blocks[l.header];
    let is_step = |v: Value, phi: Value| {
        let constant = |i: u32| v.operand(i).as_constant_int().is_some();
        match v.is_instruction().then(|| v.opcode()) {
            Some(LLVMAdd) => v.operand(0) == phi && constant(1) || v.operand(1) == phi && constant(0),
            Some(LLVMGetElementPtr) => v.operand_count() == 2 && v.operand(0) == phi && constant(1),
            _ => false,
        }
    };
    let is_phi = |v: Value| v.is_instruction() && v.opcode() == LLVMPHI && v.parent() == header;
    let counts = |phi: Value| phi.incoming().any(|(next, from)| from == cfg.blocks[latch] && is_step(next, phi));
    if is_phi(v) { counts(v) } else { v.operands().any(|o| is_phi(o) && counts(o) && is_step(v, o)) }
}
