//! Code translated to the host's instructions by LLVM, for functional mode.
//!
//! A kernel starts in the interpreter. When what remains of a launch is worth a compilation, or earlier
//! launches have cost as much, one of the host threads translates the kernel to one LLVM function
//! ([`translate`]), has LLVM compile it, and from then on warps run in it; the others interpret until it is
//! there. Compiled and interpreted warps use the same state, so that either can take over at the end of any
//! block, and their results are the same to the bit (of a NaN, the payload may be that of the other operand).
//! What the translation leaves out, and every fault, is done by the interpreter's function for the
//! instruction.
//!
//! Checking mode has a version of its own: what it watches goes to the interpreter's functions, which show it
//! to the observer; memory that the kernel only reads does not. To the code this is a matter of bounds
//! ([`Watched`]). The version also compares the operands of u-marked instructions (S8), and leaves for the
//! interpreter in the middle of a block when a load has found nothing written ([`super::exec::undefined`]).
//!
//! The interpreter stays: timing mode issues instructions one by one, and a kernel that runs for a
//! millisecond is done before LLVM would have begun.
//!
//! This is the only place of the simulator that sees LLVM.

mod access;
mod arith;
mod build;
#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod tests;
mod translate;

use std::any::Any;
use std::mem::{ManuallyDrop, size_of};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use inkwell::OptimizationLevel;
use inkwell::context::{AsContextRef, Context};
use inkwell::execution_engine::ExecutionEngine;
use inkwell::passes::PassBuilderOptions;
use inkwell::targets::{CodeModel, InitializationConfig, RelocMode, Target, TargetMachine};

use self::build::Build;
use self::translate::Translator;
use super::exec::{Decoded, Lanes, Row, all_lanes, prepare};
use super::functional::{BlockCounts, Budget, Warp};
use super::program::Program;
use super::warp::Control;
use super::{Descriptor, Jit, Options};
use heddle_isa::{Op, Special};

/// How compiled code ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
enum Status {
    /// At the end of a block: barrier, trap or exit.
    BlockEnd = 0,
    /// An instruction faulted.
    Fault = 1,
    /// The budget of instructions is used up.
    Runaway = 2,
    /// The interpreter has to go on with instruction `resume`: there is an undefined value (checking mode).
    Undefined = 3,
}

/// What [`interpret`] says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
enum Interpreted {
    Done = 0,
    Fault = 1,
    /// A load has found nothing written.
    Undefined = 2,
}

/// What compiled code and its caller exchange. Pointers are to a warp's state.
#[repr(C)]
struct Frame {
    lanes: *mut u8,
    control: *mut Control,
    rows: *mut u32,
    predicates: *mut u64,
    executions: *mut u64,
    /// Active lanes, summed over a block's entries.
    lane_counts: *mut u64,
    /// Entries of blocks with all lanes active.
    whole_executions: *mut u64,
    /// Host pointer of device address 0.
    host: *mut u8,
    local: *mut u8,
    local_bytes: u64,
    private: *mut u8,
    private_bytes: u64,
    descriptors: *const Descriptor,
    ranges: *mut (u64, u64),
    budget: u64,
    splits: u64,
    mask: u64,
    pc: u32,
    resume: u32,
}

/// Addresses of this process that compiled code contains.
#[derive(Clone, Copy)]
struct Addresses {
    /// Bytes of a row.
    row_bytes: usize,
    /// The first decoded instruction.
    code: usize,
    /// Bytes of one.
    code_bytes: usize,
    interpret: usize,
    diverge: usize,
    reconverge: usize,
}

/// Executes one instruction in the interpreter. Returns an [`Interpreted`].
extern "C" fn interpret<const N: usize>(frame: *mut Frame, d: *const Decoded<N>) -> u32 {
    // SAFETY: compiled code passes on the frame of `run_warp` and an instruction of the code it was compiled from.
    unsafe {
        let (frame, d) = (&*frame, &*d);
        let lanes = &mut *frame.lanes.cast::<Lanes<N>>();
        lanes.mask = frame.mask;
        (d.run)(lanes, d);
        let result = match (lanes.fault.is_some(), lanes.undefined.is_empty()) {
            (true, _) => Interpreted::Fault,
            (false, true) => Interpreted::Done,
            (false, false) => Interpreted::Undefined,
        };
        result as u32
    }
}

/// Splits a warp; mask and block to go on with are in the frame.
extern "C" fn diverge(frame: *mut Frame, taken: u64, target: u32, next: u32, reconverge: u32) -> u32 {
    // SAFETY: as in `interpret`.
    unsafe {
        let frame = &mut *frame;
        let control = &mut *frame.control;
        control.mask = frame.mask;
        frame.splits += u64::from(control.diverge(taken, target, next, reconverge));
        (frame.mask, frame.pc) = (control.mask, control.pc);
    }
    0
}

/// The active lanes have come to a block where others wait or will.
extern "C" fn reconverge(frame: *mut Frame, block: u32) -> u32 {
    // SAFETY: as in `interpret`.
    unsafe {
        let frame = &mut *frame;
        let control = &mut *frame.control;
        control.mask = frame.mask;
        control.jump(block);
        (frame.mask, frame.pc) = (control.mask, control.pc);
    }
    0
}

/// A kernel in the host's instructions.
pub struct Compiled {
    run: extern "C" fn(*mut Frame) -> u32,
    /// For warps whose lanes all live.
    whole: bool,
    engine: ManuallyDrop<ExecutionEngine<'static>>,
    context: *mut Context,
    /// The decoded instructions to which the code refers.
    _code: Box<dyn Any + Send + Sync>,
}

// SAFETY: after it is built, only the function pointer is used, and the code it points to does not change.
unsafe impl Send for Compiled {}
// SAFETY: as above.
unsafe impl Sync for Compiled {}

impl Drop for Compiled {
    fn drop(&mut self) {
        // SAFETY: both are dropped once, the engine before the context it lives in, which `compile` leaked from a box.
        unsafe {
            ManuallyDrop::drop(&mut self.engine);
            drop(Box::from_raw(self.context));
        }
    }
}

/// What a translation is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Variant {
    /// Warps whose lanes all live.
    whole: bool,
    /// Checking mode.
    checked: bool,
}

/// Translates and compiles a program; `None` if LLVM cannot on this host.
fn compile<const N: usize>(program: &Program, variant: Variant) -> Option<Compiled> {
    Target::initialize_native(&InitializationConfig::default()).ok()?;
    let code: Box<[Decoded<N>]> = prepare::<N>(program).into_boxed_slice();
    let addresses = Addresses {
        row_bytes: size_of::<Row<N>>(),
        code: code.as_ptr() as usize,
        code_bytes: size_of::<Decoded<N>>(),
        interpret: interpret::<N> as extern "C" fn(*mut Frame, *const Decoded<N>) -> u32 as usize,
        diverge: diverge as extern "C" fn(*mut Frame, u64, u32, u32, u32) -> u32 as usize,
        reconverge: reconverge as extern "C" fn(*mut Frame, u32) -> u32 as usize,
    };
    let cpu = TargetMachine::get_host_cpu_name().to_string();
    let features = TargetMachine::get_host_cpu_features().to_string();
    let triple = TargetMachine::get_default_triple();
    let target = Target::from_triple(&triple).ok()?;
    let machine = target.create_target_machine(
        &triple,
        &cpu,
        &features,
        OptimizationLevel::Default,
        RelocMode::Default,
        CodeModel::JITDefault,
    )?;
    let raw = Box::into_raw(Box::new(Context::create()));
    // SAFETY: `raw` is freed after the engine, in `Compiled::drop` or below.
    let context: &'static Context = unsafe { &*raw };
    let build = || {
        let module = context.create_module("warp");
        module.set_triple(&triple);
        module.set_data_layout(&machine.get_target_data().get_data_layout());
        let builder = Build::new(context.as_ctx_ref(), module.as_mut_ptr(), N as u32);
        Translator::translate(builder, program, addresses, variant, "warp", &cpu, &features);
        let passes = "function(sroa,early-cse<memssa>,instcombine<no-verify-fixpoint>,simplifycfg,\
                      loop-mssa(licm),early-cse<memssa>,instcombine<no-verify-fixpoint>,simplifycfg)";
        module.verify().inspect_err(|e| debug_assert!(false, "{e}")).ok()?;
        module.run_passes(passes, &machine, PassBuilderOptions::create()).ok()?;
        let engine = module.create_jit_execution_engine(OptimizationLevel::Default).ok()?;
        let address = engine.get_function_address("warp").ok()?;
        Some((engine, address))
    };
    let Some((engine, address)) = build() else {
        // SAFETY: nothing that lives in the context is left.
        drop(unsafe { Box::from_raw(raw) });
        return None;
    };
    // SAFETY: the function has this type (`Build::function`).
    let run = unsafe { std::mem::transmute::<usize, extern "C" fn(*mut Frame) -> u32>(address) };
    Some(Compiled { run, whole: variant.whole, engine: ManuallyDrop::new(engine), context: raw, _code: Box::new(code) })
}

#[derive(Default)]
struct Version {
    begun: AtomicBool,
    /// Instructions of warps interpreted in all launches so far.
    interpreted: AtomicU64,
    code: OnceLock<Option<Compiled>>,
}

/// A program's compiled code: for whole warps and for any, without and with checks.
#[derive(Clone, Default)]
pub struct Slot(Arc<[Version; 4]>);

impl std::fmt::Debug for Slot {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        f.debug_list().entries(self.0.iter().map(|v| v.code.get().is_some())).finish()
    }
}

/// Nanoseconds that the interpreter takes for an instruction of a warp.
const INTERPRETED_NS: u64 = 12;
/// Lines of LLVM IR beyond which a kernel stays in the interpreter: LLVM's register coalescer would take seconds.
const LONGEST: u64 = 15_000;

/// Lines of LLVM IR of a program, about: an access has several forms, other instructions are short.
fn lines(program: &Program) -> u64 {
    let memory = program.insts.iter().filter(|i| matches!(i.op, Op::Load | Op::LoadUniform | Op::Store)).count() as u64;
    7 * program.insts.len() as u64 + 60 * memory
}

/// Nanoseconds to compile so many lines: measured, with a part that grows with their square.
fn compile_time(lines: u64) -> u64 {
    15_000_000 + 30_000 * lines + 8 * lines * lines
}

/// Decides for one launch and host thread when to compile.
pub struct Tier<'a> {
    version: Option<&'a Version>,
    variant: Variant,
    always: bool,
    /// Of the launch.
    groups: u64,
    threads: u64,
    cost: u64,
    /// Of this thread so far.
    done: std::cell::Cell<(u64, u64)>,
}

impl<'a> Tier<'a> {
    /// For a launch of `groups` work-groups on `threads` host threads; `whole`: the warps of whole
    /// work-groups have no lane missing.
    pub fn new(program: &'a Program, options: &Options, groups: u64, whole: bool, threads: usize) -> Self {
        let checked = options.check_marks || options.check_races || options.check_uninitialised;
        let clock = program.rows.specials.iter().any(|(s, _)| *s == Special::ClockLow);
        let possible = options.jit != Jit::Never && !clock && lines(program) <= LONGEST;
        Tier {
            version: possible.then_some(&program.host.0[usize::from(whole) + 2 * usize::from(checked)]),
            variant: Variant { whole, checked },
            always: options.jit == Jit::Always,
            groups,
            threads: threads as u64,
            cost: compile_time(lines(program)),
            done: Default::default(),
        }
    }

    /// The compiled code for the next work-group, if there is some or it pays to make it.
    pub fn compiled<const N: usize>(&self, program: &Program) -> Option<&'a Compiled> {
        let version = self.version?;
        if let Some(code) = version.code.get() {
            return code.as_ref();
        }
        let (groups, instructions) = self.done.get();
        let share = self.groups.div_ceil(self.threads).saturating_sub(groups);
        let remaining = instructions.checked_div(groups).unwrap_or(0).saturating_mul(share).saturating_mul(INTERPRETED_NS);
        if self.always {
            return version.code.get_or_init(|| compile::<N>(program, self.variant)).as_ref();
        }
        // A kernel that is launched again and has been interpreted for as long as the translation takes is
        // translated even if one launch is not worth it: so many short launches cost at most twice what they
        // would if their number were known (the ski rental rule).
        let spent = version.interpreted.load(Ordering::Relaxed).saturating_mul(INTERPRETED_NS) / self.threads.max(1);
        let again = groups == 0 && spent >= self.cost;
        if (remaining < 2 * self.cost && !again) || version.begun.swap(true, Ordering::Relaxed) {
            return None;
        }
        version.code.get_or_init(|| compile::<N>(program, self.variant)).as_ref()
    }

    /// A work-group has executed so many instructions.
    pub fn executed(&self, instructions: u64) {
        let (g, i) = self.done.get();
        self.done.set((g + 1, i + instructions));
        if let Some(version) = self.version.filter(|v| v.code.get().is_none()) {
            version.interpreted.fetch_add(instructions, Ordering::Relaxed);
        }
    }
}

/// What compiled code may access without asking: all but what checking mode watches.
struct Watched {
    local_bytes: u64,
    private_bytes: u64,
    descriptors: *const Descriptor,
    ranges: *mut (u64, u64),
}

impl Watched {
    fn new<const N: usize>(lanes: &mut Lanes<N>) -> Self {
        let (local_bytes, private_bytes) = (u64::from(lanes.local_bytes), u64::from(lanes.private_bytes));
        if lanes.touches.is_some() {
            // All of device memory is watched, and nothing else.
            let (descriptors, ranges) = (lanes.quiet_descriptors.as_ptr(), lanes.quiet.as_mut_ptr());
            return Watched { local_bytes, private_bytes, descriptors, ranges };
        }
        let Some(checker) = lanes.checker else {
            let (descriptors, ranges) = (lanes.descriptors.as_ptr(), lanes.ranges.as_mut_ptr());
            return Watched { local_bytes, private_bytes, descriptors, ranges };
        };
        Watched {
            local_bytes: 0,
            private_bytes: if checker.borrow().watches_private() { 0 } else { private_bytes },
            descriptors: lanes.quiet_descriptors.as_ptr(),
            ranges: lanes.quiet.as_mut_ptr(),
        }
    }
}

/// Runs a warp in compiled code until it waits, ends, faults, or has used up its portion. Otherwise the interpreter has to go on with
/// it, from this instruction of its block.
pub fn run_warp<const N: usize>(
    compiled: &Compiled,
    warp: &mut Warp<N>,
    program: &Program,
    counts: &mut BlockCounts,
    budget: &mut Budget,
) -> Option<u32> {
    loop {
        if compiled.whole && warp.control.live != all_lanes(N) || !warp.lanes.undefined.is_empty() {
            return Some(0);
        }
        let lanes = &mut warp.lanes;
        let watched = Watched::new(lanes);
        let mut frame = Frame {
            control: &raw mut warp.control,
            rows: lanes.rows.as_mut_ptr().cast(),
            predicates: lanes.predicates.as_mut_ptr(),
            executions: counts.executions.as_mut_ptr(),
            lane_counts: counts.lanes.as_mut_ptr(),
            whole_executions: counts.whole.as_mut_ptr(),
            host: lanes.memory.host(0),
            local: lanes.local,
            local_bytes: watched.local_bytes,
            private: lanes.private.as_mut_ptr(),
            private_bytes: watched.private_bytes,
            descriptors: watched.descriptors,
            ranges: watched.ranges,
            budget: budget.left,
            splits: 0,
            mask: warp.control.mask,
            pc: warp.control.pc,
            resume: 0,
            lanes: (&raw mut *lanes).cast(),
        };
        let status = (compiled.run)(&raw mut frame);
        counts.splits += frame.splits;
        if status == Status::Fault as u32 {
            return None;
        }
        budget.left = frame.budget;
        (warp.control.mask, warp.control.pc) = (frame.mask, frame.pc);
        warp.lanes.mask = frame.mask;
        let block = &program.blocks[frame.pc as usize];
        if status == Status::Undefined as u32 {
            return Some(frame.resume - block.first);
        }
        let end = block.first + block.body;
        if status == Status::Runaway as u32 {
            warp.end_portion(block, budget, &mut counts.splits);
            return None;
        }
        if !warp.end_block(block.end, end, &mut counts.splits) {
            return None;
        }
    }
}
