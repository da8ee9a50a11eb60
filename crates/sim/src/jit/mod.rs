//! Code translated to the host's instructions by LLVM, for functional mode.
//!
//! A kernel starts in the interpreter. When what remains of a launch is worth a compilation, or earlier
//! launches have cost as much, one of the host threads translates the kernel to one LLVM function
//! ([`translate`]), has LLVM compile it, and from then on warps run in it; the others interpret until it is
//! there. Compiled and interpreted warps use the same state, so that either can take over at the end of any
//! block, and their results are the same to the bit. Only the sign and payload of a NaN that arithmetic gives are
//! open, as IEEE 754 leaves them: LLVM may exchange operands, and takes `a + -b` for `a - b`, which keeps the
//! sign of a NaN in `b`.
//!
//! There are two kinds of function ([`Runs`]). One runs whole work-groups from their beginning ([`schedule`]):
//! as nothing enters it in the middle, its loops are loops to LLVM too, which takes out of them what does not
//! change. The other runs one warp from any block on, for what remains of a work-group that left the first. It
//! is compiled when half as much has been interpreted for want of it as its compilation takes, and for a
//! work-group that has used up its portion of instructions.
//!
//! What the translation leaves out, and every fault, is done by the interpreter's function for the
//! instruction.
//!
//! Checking mode has a version of its own: what it watches goes to the interpreter's functions, which show it
//! to the observer; memory that the kernel only reads does not. To the code this is a matter of bounds
//! ([`Watched`]). The version also compares the operands of u-marked instructions (S8), and leaves for the
//! interpreter in the middle of a block when a load has found nothing written ([`super::exec::undefined`]).
//!
//! Code has nothing in it of the process that made it ([`Helpers`]): what was compiled is kept, if there is a place for it
//! ([`crate::translations`]), under a key that has all that it depends on ([`key`]), and another process begins with it ([`load`]).
//!
//! The interpreter stays: timing mode issues instructions one by one, and a kernel that runs for a
//! millisecond is done before LLVM would have begun.
//!
//! This is the only place of the simulator that sees LLVM.

mod access;
mod arith;
mod atomic;
mod build;
mod compiler;
mod flow;
mod half;
mod homes;
mod host;
mod key;
mod liveness;
mod load;
mod many;
mod places;
mod regions;
mod schedule;
mod sums;
#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod tests;
mod transfer;
mod translate;
mod wide;

use std::any::Any;
use std::cell::Cell;
use std::mem::size_of;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use inkwell::targets::TargetMachine;

use self::compiler::Compiler;
use self::host::Host;
use self::load::Loaded;
use self::regions::regions;
use super::exec::{Decoded, Lanes, Row, all_lanes, prepare};
use super::functional::{BlockCounts, Budget, Warp};
use super::program::{BasicBlock, Program};
use super::warp::Control;
use super::{Descriptor, Jit, Launch, Options, TranslationStore};
use heddle_isa::{Inst, Op, Special};

pub use self::many::Many;
pub use self::sums::Sums;

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
    /// All work-groups have ended, or as many as run in one call.
    AllEnded = 4,
    /// At the beginning of a block where lanes had waited.
    BlockStart = 5,
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

/// A warp's state. Compiled code changes `pc` only.
#[repr(C)]
struct WarpState {
    lanes: *mut u8,
    control: *mut Control,
    rows: *mut u32,
    predicates: *mut u64,
    private: *mut u8,
    ranges: *mut (u64, u64),
    /// What the warp's place in its work-group adds to the rows of ids ([`schedule`]).
    ids: *const u32,
    /// Its lanes.
    mask: u64,
    /// The block that the warp goes on with behind a barrier; [`ENDED`] when it has ended. Where work-groups
    /// run in compiled code.
    pc: u32,
    number: u32,
}

/// Stands for the next block of a warp that has ended.
const ENDED: u32 = u32::MAX;

/// What compiled code and its caller exchange.
#[repr(C)]
struct Frame {
    /// The warp that runs.
    slot: *mut WarpState,
    executions: *mut u64,
    /// Active lanes, summed over a block's entries.
    lane_counts: *mut u64,
    /// Entries of blocks with all lanes active.
    whole_executions: *mut u64,
    /// Host pointer of device address 0.
    host: *mut u8,
    local: *mut u8,
    local_bytes: u64,
    private_bytes: u64,
    descriptors: *const Descriptor,
    budget: u64,
    splits: u64,
    mask: u64,
    pc: u32,
    resume: u32,
    /// Work-groups to run, one after the other, from [`Frame::id`] on; 0: only the warp at `slot`, from `pc` on.
    groups: u64,
    /// Instructions that a work-group may execute before the caller is asked.
    group_budget: u64,
    /// Instructions that the work-groups executed which have ended.
    used: u64,
    /// The warps of a work-group, one behind the other, and the first place behind them.
    slots: *mut WarpState,
    slots_end: *mut WarpState,
    /// By row of ids: what a step of the work-group's id adds, in each dimension.
    steps: *const [u32; 3],
    /// By base of accesses ([`places`]): the addresses that they may access without asking.
    bases: *const (u64, u64),
    /// By place ([`places`]): the host thread's copy of what is there, or null ([`sums`]).
    sums: *const *mut u8,
    /// Bytes of work-group memory to clear.
    clear_bytes: u64,
    /// Work-group id, and how many there are.
    id: [u32; 3],
    group_counts: [u32; 3],
    /// Not 0: a barrier lies behind the warps of the work-group.
    phase: u32,
    helpers: Helpers,
}

/// What the interpreter does for compiled code: functions of this process, which code that others have compiled finds here.
#[repr(C)]
#[derive(Clone, Copy)]
struct Helpers {
    /// The first decoded instruction.
    code: *const u8,
    /// [`interpret`].
    interpret: *const u8,
    /// [`diverge`].
    diverge: *const u8,
    /// [`reconverge`].
    reconverge: *const u8,
    /// [`clear`].
    clear: *const u8,
}

impl Helpers {
    fn new<const N: usize>(code: &[Decoded<N>]) -> Helpers {
        Helpers {
            code: code.as_ptr().cast(),
            interpret: interpret::<N> as extern "C" fn(*mut Frame, *const Decoded<N>) -> u32 as *const u8,
            diverge: diverge as extern "C" fn(*mut Frame, u64, u32, u32, u32) -> u32 as *const u8,
            reconverge: reconverge as extern "C" fn(*mut Frame, u32) -> u32 as *const u8,
            clear: clear as extern "C" fn(*mut Frame) -> u32 as *const u8,
        }
    }
}

/// Sizes of what compiled code steps over.
#[derive(Clone, Copy)]
struct Sizes {
    /// Bytes of a row.
    row: usize,
    /// Bytes of a decoded instruction.
    decoded: usize,
}

impl Sizes {
    fn new<const N: usize>() -> Sizes {
        Sizes { row: size_of::<Row<N>>(), decoded: size_of::<Decoded<N>>() }
    }
}

/// Executes one instruction in the interpreter. Returns an [`Interpreted`].
extern "C" fn interpret<const N: usize>(frame: *mut Frame, d: *const Decoded<N>) -> u32 {
    // SAFETY: compiled code passes on the frame of `run_warp` and an instruction of the code it was compiled from.
    unsafe {
        let (frame, d) = (&*frame, &*d);
        let lanes = &mut *(*frame.slot).lanes.cast::<Lanes<N>>();
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
        let control = &mut *(*frame.slot).control;
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
        let control = &mut *(*frame.slot).control;
        control.mask = frame.mask;
        control.jump(block);
        (frame.mask, frame.pc) = (control.mask, control.pc);
    }
    0
}

/// A work-group begins: its memory is empty.
extern "C" fn clear(frame: *mut Frame) -> u32 {
    // SAFETY: `Many` has a work-group's memory of so many bytes.
    unsafe { std::ptr::write_bytes((*frame).local, 0, (*frame).clear_bytes as usize) };
    0
}

/// A kernel in the host's instructions.
pub struct Compiled {
    loaded: Loaded,
    variant: Variant,
    /// The rows of ids, in the order of their places in [`WarpState::ids`].
    id_rows: Vec<u16>,
    bases: Vec<places::Base>,
    /// Stands for the copies of a host thread that has none.
    no_sums: Vec<*mut u8>,
    helpers: Helpers,
    /// The decoded instructions to which `helpers` refers.
    _code: Box<dyn Any + Send + Sync>,
}

// SAFETY: nothing changes after it is built; `helpers` points to functions and to what `_code` owns.
unsafe impl Send for Compiled {}
// SAFETY: as above.
unsafe impl Sync for Compiled {}

/// What a translation is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Variant {
    /// Warps whose lanes all live.
    whole: bool,
    /// Checking mode.
    checked: bool,
    /// Whole work-groups from their beginning; else one warp from any block on.
    groups: bool,
}

/// What compiled code runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Runs {
    /// Whole work-groups ([`Many`]).
    Groups,
    /// One warp, from any block on.
    Warps,
}

/// Translates and compiles a program; `None` if LLVM cannot on this host. The store gets what was compiled.
fn compile<const N: usize>(program: &Program, variant: Variant, store: Store) -> Option<Compiled> {
    let (compiler, bare) = (Compiler::new()?, key::bare(program));
    let begun = Instant::now();
    let object = compiler.compile::<N>(&bare, variant);
    took(lines(program), begun.elapsed());
    let object = object?;
    // SAFETY: the object was compiled here.
    let compiled = unsafe { Compiled::load::<N>(&object, program, variant) }?;
    if let Some(store) = store {
        store.put(&key::key::<N>(&bare, variant, &compiler), &object);
    }
    Some(compiled)
}

/// A program's translation, if a store has it.
fn look_up<const N: usize>(program: &Program, variant: Variant, store: Store) -> Option<Compiled> {
    let (store, compiler) = (store?, Compiler::new()?);
    let object = store.get(&key::key::<N>(&key::bare(program), variant, &compiler))?;
    // SAFETY: the store has it from `compile` of this build (`TranslationStore`), under a key that says all else.
    unsafe { Compiled::load::<N>(&object, program, variant) }
}

impl Compiled {
    /// Loads a program's translation.
    ///
    /// # Safety
    /// The object is one that [`Compiler::compile`] of this build of Heddle made, on a host like this one, of this program for
    /// this variant and N.
    unsafe fn load<const N: usize>(object: &[u8], program: &Program, variant: Variant) -> Option<Compiled> {
        // SAFETY: the caller's object.
        let loaded = unsafe { Loaded::new(object) }?;
        let code: Box<[Decoded<N>]> = prepare::<N>(program).into_boxed_slice();
        let (id_rows, bases) = (schedule::id_rows(program), places::bases(program));
        let no_sums = vec![std::ptr::null_mut(); program.header.surfaces.len() + bases.len()];
        Some(Compiled { loaded, variant, id_rows, bases, no_sums, helpers: Helpers::new(&code), _code: Box::new(code) })
    }

    /// Runs the code.
    fn run(&self, frame: &mut Frame) -> u32 {
        (self.loaded.function)(frame)
    }
}

/// Where translations are kept, if anywhere.
type Store<'a> = Option<&'a dyn TranslationStore>;

#[derive(Default)]
struct Version {
    /// Some thread looks for it or compiles it, or has.
    begun: AtomicBool,
    /// It was looked for, so that a store has it or has it not.
    looked: AtomicBool,
    /// Nanoseconds for which threads have interpreted in all launches so far.
    interpreted: AtomicU64,
    code: OnceLock<Option<Compiled>>,
}

/// A program's compiled code, by what it is for ([`Variant`]).
#[derive(Clone, Default)]
pub struct Slot(Arc<[Version; 8]>);

impl Slot {
    fn version(&self, variant: Variant) -> &Version {
        let Variant { whole, checked, groups } = variant;
        &self.0[usize::from(whole) + 2 * usize::from(checked) + 4 * usize::from(groups)]
    }
}

impl std::fmt::Debug for Slot {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        f.debug_list().entries(self.0.iter().map(|v| v.code.get().is_some())).finish()
    }
}

/// Lines of LLVM IR beyond which a kernel stays in the interpreter: LLVM would take minutes, and half a gigabyte.
const LONGEST: u64 = 120_000;

/// Lines of LLVM IR beyond which compiling always has to pay: it takes seconds.
const LONG: u64 = 22_000;

/// Lines of LLVM IR of a program, about.
fn lines(program: &Program) -> u64 {
    *program.derived.lines.get_or_init(|| count_lines(program))
}

/// The same, counted: an access has several forms, other instructions are short. Those of divergent regions count twice,
/// since LLVM keeps what masked lanes had.
fn count_lines(program: &Program) -> u64 {
    let (divergent, _) = regions(program);
    let apart = sums::may_keep_apart(program);
    let of_block = |(block, divergent): (&BasicBlock, &bool)| {
        let insts = &program.insts[block.first as usize..(block.first + block.len()) as usize];
        let count = |of: &dyn Fn(&Inst) -> bool| insts.iter().filter(|i| of(i)).count() as u64;
        let memory = count(&|i| matches!(i.op, Op::Load | Op::LoadUniform | Op::Store));
        // Lane by lane.
        let apart = if apart { count(&|i| i.op == Op::Atomic && places::is_device(i)) } else { 0 };
        let lanes = 9 * u64::from(program.header.warp_size);
        (7 * insts.len() as u64 + 60 * memory + lanes * apart) * if *divergent { 2 } else { 1 }
    };
    program.blocks.iter().zip(&divergent).map(of_block).sum()
}

/// Nanoseconds to compile so many lines: measured on 200 kernels of 70 to 51,000 lines, with a part that grows with their square,
/// and with what compilations of this process have taken before.
fn compile_time(lines: u64) -> u64 {
    fast_compile_time(lines).saturating_mul(slowness()) / FAST
}

/// The same on a host with AVX-512. From some 1,700 lines on the part that grows with their square does so more slowly.
fn fast_compile_time(lines: u64) -> u64 {
    let square = lines.saturating_mul(lines).min(1 << 60);
    15_000_000 + 15_000 * lines + (4 * square).min(square + 5_000 * lines)
}

/// Compilations take so many times as long here as [`fast_compile_time`] says, in units of 1 / [`FAST`]; 0: there has been none
/// yet.
static SLOWNESS: AtomicU64 = AtomicU64::new(0);
const FAST: u64 = 256;

fn slowness() -> u64 {
    static AT_FIRST: OnceLock<u64> = OnceLock::new();
    match SLOWNESS.load(Ordering::Relaxed) {
        0 => *AT_FIRST.get_or_init(|| {
            let host =
                Host::new(&TargetMachine::get_host_cpu_name().to_string(), &TargetMachine::get_host_cpu_features().to_string());
            // LLVM cuts vectors of a warp into more parts.
            if host.scatters { FAST } else { 3 * FAST }
        }),
        known => known,
    }
}

/// A compilation of so many lines took so long: half of what is expected of the next ones is what this one says.
fn took(lines: u64, time: Duration) {
    let now = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX) / (fast_compile_time(lines) / FAST).max(1);
    SLOWNESS.store((slowness() + now.clamp(FAST / 4, 32 * FAST)) / 2, Ordering::Relaxed);
}

/// Work-groups that a host thread has interpreted.
#[derive(Clone, Copy, Debug, Default)]
struct Groups {
    count: u64,
    /// Nanoseconds that they took, and the longest of them.
    time: u64,
    longest: u64,
}

impl Groups {
    fn add(&mut self, time: u64) {
        self.count += 1;
        self.time = self.time.saturating_add(time);
        self.longest = self.longest.max(time);
    }

    /// What others will take, each: as those before on average, but for the longest, which was mostly the first one, that found
    /// nothing in the host's caches and memory not yet there.
    fn expected(&self) -> u64 {
        match self.count {
            0 => 0,
            1 => self.time / 2,
            n => (self.time - self.longest) / (n - 1),
        }
    }
}

/// Nanoseconds to look for a translation, to read and to load it: measured. (It takes a third of that if there is none.)
const LOOK: u64 = 1_000_000;

/// Nanoseconds in which the interpreter executes an instruction of a warp, at least.
const INTERPRETED: u64 = 10;

/// Decides for one launch and host thread when to compile.
pub struct Tier<'a> {
    slot: Option<&'a Slot>,
    store: Store<'a>,
    /// Interpreting every instruction once would take longer than to look for a translation.
    large: bool,
    /// It takes seconds to compile.
    long: bool,
    variant: Variant,
    always: bool,
    /// Code for warps is for what code for work-groups leaves.
    rest: bool,
    /// Of the launch.
    groups: u64,
    threads: u64,
    cost: u64,
    /// What this thread has interpreted for want of code for work-groups, and for warps.
    done: [Cell<Groups>; 2],
}

impl<'a> Tier<'a> {
    /// For a launch of which `groups` work-groups are left on `threads` host threads; `whole`: the warps of whole
    /// work-groups have no lane missing; `many`: work-groups may be run by [`Many`].
    pub fn new(launch: &Launch<'a>, options: &'a Options, groups: u64, (whole, many): (bool, bool), threads: usize) -> Self {
        let program = launch.program;
        let checked = options.check_marks || options.check_races || options.check_uninitialised;
        let clock = program.rows.specials.iter().any(|(s, _)| *s == Special::ClockLow);
        let lines = if options.jit == Jit::Never { 0 } else { lines(program) };
        let possible = options.jit != Jit::Never && !clock && lines <= LONGEST;
        let items = launch.local.iter().map(|n| u64::from(*n)).product::<u64>();
        let warps = items.div_ceil(u64::from(program.header.warp_size.max(1)));
        let once = groups.saturating_mul(warps).saturating_mul(INTERPRETED * program.insts.len() as u64);
        Tier {
            slot: possible.then_some(&program.host),
            store: options.translations.as_deref(),
            large: once / threads.max(1) as u64 >= 2 * LOOK,
            long: lines > LONG,
            variant: Variant { whole, checked, groups: false },
            always: options.jit == Jit::Always,
            rest: many,
            groups,
            threads: threads as u64,
            cost: compile_time(lines),
            done: Default::default(),
        }
    }

    fn variant(&self, runs: Runs) -> Variant {
        Variant { groups: runs == Runs::Groups, ..self.variant }
    }

    fn done(&self, runs: Runs) -> &Cell<Groups> {
        &self.done[usize::from(runs == Runs::Warps)]
    }

    /// The compiled code for the next work-group, or the rest of one, if there is some or it pays to find or make it, as it does
    /// in any case if `at_once` and if it does not take long.
    ///
    /// A translation that was kept is looked for once, when interpreting costs more than to look: a kernel of
    /// microseconds does not wait for a file.
    pub fn compiled<const N: usize>(&self, program: &Program, runs: Runs, at_once: bool) -> Option<&'a Compiled> {
        let variant = self.variant(runs);
        let version = self.slot?.version(variant);
        if let Some(code) = version.code.get() {
            return code.as_ref();
        }
        let done = self.done(runs).get();
        let share = self.groups.div_ceil(self.threads).saturating_sub(done.count);
        let remaining = done.expected().saturating_mul(share);
        let store = self.store;
        // Whether it is for the caller to look.
        let looks = || store.is_some() && !version.looked.swap(true, Ordering::Relaxed);
        let made = || compile::<N>(program, variant, store);
        if self.always || at_once && !self.long {
            version.begun.store(true, Ordering::Relaxed);
            let found = || looks().then(|| look_up::<N>(program, variant, store)).flatten();
            return version.code.get_or_init(|| found().or_else(made)).as_ref();
        }
        // A kernel that is launched again and has been interpreted for half as long as the translation takes is
        // translated even if one launch is not worth it: so many short launches cost at most three times what they
        // would if their number were known (the ski rental rule would say two times, and wait for twice as long:
        // kernels that have been launched so often mostly are again).
        let spent = version.interpreted.load(Ordering::Relaxed) / self.threads.max(1);
        let rest = self.rest && runs == Runs::Warps;
        // How many work-groups will leave a rest is not known.
        let pays = |cost: u64| (rest || done.count == 0) && 2 * spent >= cost || !rest && remaining >= 2 * cost;
        let worth_a_look = store.is_some() && !version.looked.load(Ordering::Relaxed) && (!rest && self.large || pays(LOOK));
        if !worth_a_look && !pays(self.cost) || version.begun.swap(true, Ordering::Relaxed) {
            return None;
        }
        if worth_a_look && looks() {
            if let Some(found) = look_up::<N>(program, variant, store) {
                return version.code.get_or_init(|| Some(found)).as_ref();
            }
        }
        if !pays(self.cost) {
            // Somebody has looked, and it is not worth more.
            version.begun.store(false, Ordering::Relaxed);
            return None;
        }
        version.code.get_or_init(made).as_ref()
    }

    /// A work-group, or the rest of one, was interpreted for so long where there was no code.
    pub fn executed(&self, runs: Runs, time: Duration) {
        let time = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        let mut done = self.done(runs).get();
        done.add(time);
        self.done(runs).set(done);
        let version = self.slot.map(|s| s.version(self.variant(runs)));
        if let Some(version) = version.filter(|v| v.code.get().is_none()) {
            version.interpreted.fetch_add(time, Ordering::Relaxed);
        }
    }
}

/// What compiled code may access without asking: all but what checking mode watches.
struct Watched {
    local_bytes: u64,
    private_bytes: u64,
    descriptors: *const Descriptor,
    ranges: *mut (u64, u64),
    sums: *const *mut u8,
}

impl Watched {
    fn new<const N: usize>(lanes: &mut Lanes<N>, compiled: &Compiled) -> Self {
        // All translations of a program have the same.
        if lanes.bases.len() != compiled.bases.len() {
            lanes.bases = places::ranges(&compiled.bases, lanes);
        }
        let (local_bytes, private_bytes) = (u64::from(lanes.local_bytes), u64::from(lanes.private_bytes));
        let sums = if lanes.sums.len() == compiled.no_sums.len() { lanes.sums } else { &compiled.no_sums[..] }.as_ptr();
        if lanes.touches.is_some() {
            // All of device memory is watched, and nothing else.
            let (descriptors, ranges) = (lanes.quiet_descriptors.as_ptr(), lanes.quiet.as_mut_ptr());
            return Watched { local_bytes, private_bytes, descriptors, ranges, sums };
        }
        let Some(checker) = lanes.checker else {
            let (descriptors, ranges) = (lanes.descriptors.as_ptr(), lanes.ranges.as_mut_ptr());
            return Watched { local_bytes, private_bytes, descriptors, ranges, sums };
        };
        Watched {
            local_bytes: 0,
            private_bytes: if checker.borrow().watches_private() { 0 } else { private_bytes },
            descriptors: lanes.quiet_descriptors.as_ptr(),
            ranges: lanes.quiet.as_mut_ptr(),
            sums,
        }
    }
}

impl WarpState {
    fn new<const N: usize>(warp: &mut Warp<N>, ranges: *mut (u64, u64)) -> WarpState {
        let lanes = &mut warp.lanes;
        WarpState {
            control: &raw mut warp.control,
            rows: lanes.rows.as_mut_ptr().cast(),
            predicates: lanes.predicates.as_mut_ptr(),
            private: lanes.private.as_mut_ptr().cast(),
            ranges,
            ids: std::ptr::null(),
            mask: warp.control.mask,
            pc: warp.control.pc,
            number: warp.number,
            lanes: (&raw mut *lanes).cast(),
        }
    }
}

impl Frame {
    /// For one warp.
    fn new<const N: usize>(
        slot: &mut WarpState,
        lanes: &Lanes<N>,
        (compiled, watched): (&Compiled, &Watched),
        counts: &mut BlockCounts,
        budget: u64,
    ) -> Frame {
        Frame {
            executions: counts.executions.as_mut_ptr(),
            lane_counts: counts.lanes.as_mut_ptr(),
            whole_executions: counts.whole.as_mut_ptr(),
            host: lanes.memory.host(0),
            local: lanes.local,
            local_bytes: watched.local_bytes,
            private_bytes: watched.private_bytes,
            descriptors: watched.descriptors,
            budget,
            splits: 0,
            mask: slot.mask,
            pc: slot.pc,
            resume: 0,
            groups: 0,
            group_budget: 0,
            used: 0,
            slots: std::ptr::null_mut(),
            slots_end: std::ptr::null_mut(),
            steps: std::ptr::null(),
            bases: lanes.bases.as_ptr(),
            sums: watched.sums,
            clear_bytes: 0,
            id: [0; 3],
            group_counts: [0; 3],
            phase: 0,
            helpers: compiled.helpers,
            slot,
        }
    }
}

/// How a warp goes on.
enum Next {
    /// In compiled code.
    Compiled,
    /// In the interpreter, from this instruction of its block.
    Interpreter(u32),
    /// Not now.
    Stops,
}

/// What is to be done where compiled code has left a warp.
fn left<const N: usize>(
    status: u32,
    frame: &Frame,
    warp: &mut Warp<N>,
    program: &Program,
    splits: &mut u64,
    budget: &mut Budget,
) -> Next {
    if status == Status::Fault as u32 {
        return Next::Stops;
    }
    budget.left = frame.budget;
    (warp.control.mask, warp.control.pc) = (frame.mask, frame.pc);
    warp.lanes.mask = frame.mask;
    let block = &program.blocks[frame.pc as usize];
    if status == Status::Undefined as u32 {
        return Next::Interpreter(frame.resume - block.first);
    }
    if status == Status::BlockStart as u32 {
        return Next::Compiled;
    }
    if status == Status::Runaway as u32 {
        warp.end_portion(block, budget, splits);
        return Next::Stops;
    }
    if warp.end_block(block.end, block.first + block.body, splits) { Next::Compiled } else { Next::Stops }
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
        if compiled.variant.whole && warp.control.live != all_lanes(N) || !warp.lanes.undefined.is_empty() {
            return Some(0);
        }
        let watched = Watched::new(&mut warp.lanes, compiled);
        let mut slot = WarpState::new(warp, watched.ranges);
        let mut frame = Frame::new(&mut slot, &warp.lanes, (compiled, &watched), counts, budget.left);
        let status = compiled.run(&mut frame);
        counts.splits += frame.splits;
        match left(status, &frame, warp, program, &mut counts.splits, budget) {
            Next::Compiled => {}
            Next::Interpreter(from) => return Some(from),
            Next::Stops => return None,
        }
    }
}
