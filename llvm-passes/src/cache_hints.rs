//! Cache hints (K7): which policy every load and store of global and constant memory in a kernel
//! should have.
//!
//! # Problem
//! The data L1 of a multiprocessor is not coherent, and stores pass it by; the uniform L1 is
//! read-only; all meet in the L2. `.ca`/`.wb` caches as usual, `.cs` lets the line be the first to
//! go, `.cg` does not use the L1, `.cv`/`.wt` goes to memory every time, `ldu` reads through the
//! uniform L1. An access should have the policy that is correct and keeps what is needed again.
//!
//! # Algorithm
//! The first rule that applies:
//! 1. Volatile and atomic accesses: `.cv`, `.wt`.
//! 2. `!nontemporal`: `.cs`.
//! 3. Loads of what may be written in the kernel, if work-groups communicate in it (atomics,
//!    fences, volatile flags with barriers): `.cg`. Without, no race-free kernel can read what
//!    another work-group wrote, and its own work-group's stores discard the line.
//! 4. Loads from one address for the whole warp, of what nobody writes during the kernel: `ldu`, if
//!    the loop around finds their lines again and other loads in it fill the data L1: along a row of
//!    each work-item's own, or at new lines in each iteration that other work-items come back to.
//!    Else the default, because the data L1 is the shorter way.
//! 5. Streams: `.cs`. The address is a polynomial over ids and iteration numbers ([`Offsets`]);
//!    consecutive lanes touch consecutive elements, every id the kernel uses has a stride of its
//!    own, every loop around advances it to new lines, and no other access of the surface comes by.
//! 6. Stores that are streams, to what the kernel does not read (but for the element it is about to
//!    write), if it also loads from places that only data say: `.cs`. They would displace what it looks up. Elsewhere they keep the
//!    default: what a kernel writes others read, the next kernel above all, and until then it is to stay in the L2.
//! 7. Everything else keeps the default, with the reason.
//!
//! Loads that come back to their lines in the next iterations say so, with the distance between work-items:
//! how many work-groups the L1 can serve follows from it ([`LoopReuse`]). Where every lane walks a row
//! of its own, a few warps fill the L1; with all that an SM can hold, each load evicts what another
//! one needs. Fewer warps are faster then: Kim et al., "Compiler-assisted GPU thread throttling for
//! reduced cache contention" (ICPP 2019), from memory. A load counts if its address is affine, the
//! innermost loop advances it by less than a sector, neighbouring work-items do not share what it
//! touches and are at least a line apart, and the loop is of the deepest level. Rows whose length is
//! known only at launch are taken to be long, those of bytes to be short; the launch puts the length in
//! ([`LoopReuse::exact`]). Addresses that are not affine, and rows of a length that the kernel computes in a way that the
//! launch cannot repeat, count as nothing.
//!
//! Loads that advance by at least a line in every iteration are candidates for prefetches; this
//! pass inserts none.
//!
//! # Limits
//! Rules 1, 3 and 4 are about correctness and rest on proofs; the others are about speed and may
//! guess: names of arguments stand for different buffers there, and a pitch known only at launch is
//! taken to be longer than a row.
//!
//! Reads LLVM IR in LCSSA form after inlining; only [`annotate`] changes it, by metadata.

mod hint;
mod look_ups;

use std::cell::OnceCell;
use std::io::Write;

use inkwell::llvm_sys::LLVMOpcode::*;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::builtins::{self, Builtin, Query};
use crate::error::PassError;
use crate::facts::Facts;
use crate::global_id::{self, Offsets, Refusal};
use crate::ir::address_space::{CONSTANT, GENERIC, GLOBAL};
use crate::ir::cfg::Index;
use crate::ir::function::{has_attribute, required_work_group_size};
use crate::ir::metadata::{self, Writer};
use crate::ir::{self, BlockRef, Value};
use crate::memory::{may_write_global, reads_constant, underlying};
use crate::polynomial::{Poly, Symbol};
use crate::printf;
use crate::uniformity::{self, Uniformity};

pub use hint::Hint;

/// A prefetch that would pay: the loop around comes to new lines in every iteration, at a distance
/// that never changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prefetch {
    /// Bytes from an iteration's address to the next one's; signed, known at launch.
    pub distance: Poly,
    /// Iterations from the prefetch to its load.
    pub iterations_ahead: u32,
}

impl Prefetch {
    /// Bytes from the load's address to the prefetch's.
    pub fn bytes_ahead(&self) -> Poly {
        self.distance.scaled(self.iterations_ahead)
    }
}

/// A load that comes back to its lines in the next iterations of a loop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoopReuse {
    /// The loop's header.
    pub header: BlockRef,
    /// Bytes from one work-item to the next in each dimension; what is longer than a line counts alike, and what is
    /// known only at launch is taken to be long.
    pub strides: [u32; 3],
    /// The same, in values of the launch.
    pub exact: [Poly; 3],
    /// Instructions of an iteration.
    pub instructions: u32,
}

/// What was decided for an access.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decision {
    /// Policy.
    pub hint: Hint,
    /// Why.
    pub reason: &'static str,
    /// A candidate; of loads only.
    pub prefetch: Option<Prefetch>,
    /// What its loop wants the L1 to keep of it; of loads only.
    pub reuse: Option<LoopReuse>,
}

/// The decisions for a kernel.
#[derive(Debug, Default)]
pub struct Hints(FxHashMap<Value, Decision>);

impl Hints {
    /// The policy of a load or store; the default for what is no access of global or constant
    /// memory.
    pub fn get(&self, access: Value) -> Hint {
        self.0.get(&access).map_or(Hint::Default, |d| d.hint)
    }
    /// What was decided for a load or store of global or constant memory.
    pub fn decision(&self, access: Value) -> Option<&Decision> {
        self.0.get(&access)
    }
}

/// Name of the metadata that [`annotate`] attaches.
pub const METADATA: &str = "heddle.cache";

/// Bytes of a cache line.
const LINE: u32 = 128;
/// Bytes that a miss fetches.
const SECTOR: u32 = 32;
/// Bytes of a word.
const WORD: u32 = 4;
/// Distance between work-items that is known to be long, in bytes.
const FAR: u32 = 4096;
/// Iterations that a prefetch is ahead of its load.
const ITERATIONS_AHEAD: u32 = 4;
/// Accesses of one surface that are compared with each other; with more, reuse is taken for
/// granted.
const MOST_ACCESSES: usize = 256;
/// Parts of an unrolled load in one line that pay for its miss on the longer way: of fewer, too many miss.
const PARTS_IN_LINE: usize = 8;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Load,
    Store,
    Atomic,
}

struct Access {
    inst: Value,
    kind: Kind,
    pointer: Value,
    /// Argument and byte offset.
    place: Result<(u32, AffineAddress), &'static str>,
    /// Bytes it touches, and bytes from one such element to the next.
    sizes: (u64, u64),
    /// Headers of the loops around it, outer first.
    loops: Vec<BlockRef>,
    /// A write of global memory stands before it in its block.
    after_write: bool,
    /// What [`Kernel::stays`] says of it, once that is known: it is asked for each of many others.
    stays: OnceCell<bool>,
}

/// An address that is affine in ids and iteration numbers.
#[derive(Clone)]
struct AffineAddress {
    offset: Poly,
    /// Bytes from one work-item to the next in each dimension.
    strides: [Poly; 3],
}

struct Kernel<'a> {
    uniformity: &'a Uniformity,
    accesses: Vec<Access>,
    /// Accesses of each argument.
    surfaces: FxHashMap<u32, Vec<usize>>,
    /// Dimensions whose ids the kernel asks for.
    used: [bool; 3],
    required: Option<[u32; 3]>,
    writes_global: bool,
    /// Blocks with writes of global memory, then those that can be reached from them, too.
    writing: FxHashSet<Index>,
    written: FxHashSet<Index>,
    /// All writes go through `restrict` arguments, directly.
    writes_apart: bool,
    /// What is written can reach another work-group during the kernel.
    communicates: bool,
    /// What is written can reach another work-item of the group during the kernel.
    synchronises: bool,
    /// Volatile accesses: with barriers as fences they are flags between work-groups in programs
    /// older than OpenCL 2.
    signals: bool,
    /// A load's surface is not known.
    reads_unknown: bool,
}

/// Decides for every load and store of global and constant memory in a kernel.
pub fn analyze(function: Value, uniformity: &Uniformity) -> Hints {
    let kernel = Kernel::new(function, uniformity);
    Hints(kernel.accesses.iter().filter(|a| a.kind != Kind::Atomic).map(|a| (a.inst, kernel.decision(a))).collect())
}

impl<'a> Kernel<'a> {
    fn new(function: Value, uniformity: &'a Uniformity) -> Self {
        let mut kernel = Kernel {
            uniformity,
            accesses: Vec::new(),
            surfaces: FxHashMap::default(),
            used: [false; 3],
            required: required_work_group_size(function),
            writes_global: false,
            writing: FxHashSet::default(),
            written: FxHashSet::default(),
            writes_apart: true,
            communicates: false,
            synchronises: false,
            signals: false,
            reads_unknown: false,
        };
        let mut offsets = Offsets::new(function, uniformity);
        for inst in ir::blocks(function).iter().flat_map(|b| b.instructions()) {
            kernel.add(inst, &mut offsets);
        }
        kernel.communicates |= kernel.synchronises && kernel.signals;
        kernel.find_written();
        kernel.group_by_surface(function);
        kernel
    }

    /// Finds the blocks that a write of global memory reaches.
    fn find_written(&mut self) {
        let cfg = self.uniformity.cfg();
        let mut stack: Vec<Index> = self.writing.iter().flat_map(|b| cfg.succs[*b].iter().copied()).collect();
        while let Some(b) = stack.pop() {
            if self.written.insert(b) {
                stack.extend(&cfg.succs[b]);
            }
        }
    }

    /// Assigns the accesses to the arguments whose memory they are of.
    fn group_by_surface(&mut self, function: Value) {
        for (i, a) in self.accesses.iter().enumerate() {
            let argument = match &a.place {
                Ok((argument, _)) => Some(*argument),
                // An address that is not affine still belongs to its argument.
                Err(_) => argument_of(function, a.pointer),
            };
            match argument {
                Some(argument) => self.surfaces.entry(argument).or_default().push(i),
                None => self.reads_unknown |= a.kind != Kind::Store && a.pointer.address_space() == GLOBAL,
            }
        }
    }

    /// Takes note of an instruction.
    fn add(&mut self, inst: Value, offsets: &mut Offsets) {
        let cfg = self.uniformity.cfg();
        let Some(&block) = cfg.index.get(&inst.parent()) else { return };
        let after_write = self.writing.contains(&block);
        if may_write_global(inst) {
            self.add_write(inst, block);
        }
        let (kind, pointer, value) = match inst.opcode() {
            LLVMLoad => (Kind::Load, inst.operand(0), inst),
            LLVMStore => (Kind::Store, inst.operand(1), inst.operand(0)),
            LLVMAtomicRMW | LLVMAtomicCmpXchg => (Kind::Atomic, inst.operand(0), inst.operand(1)),
            LLVMFence => {
                self.communicates = true;
                return;
            }
            LLVMCall => return self.add_call(inst),
            _ => return,
        };
        if kind == Kind::Atomic && printf::is_buffer(pointer) {
            // No work-group hears of another one by it.
            return;
        }
        if !matches!(pointer.address_space(), GLOBAL | CONSTANT) {
            // A generic pointer may be global; a private one is no atomic's.
            self.communicates |= kind == Kind::Atomic && pointer.address_space() == GENERIC;
            return;
        }
        self.communicates |= kind == Kind::Atomic || inst.is_atomic_access();
        self.signals |= kind != Kind::Atomic && inst.is_volatile();
        let loops = cfg.loops.iter().filter(|l| l.members.contains(block)).map(|l| cfg.blocks[l.header]).collect();
        let place = match offsets.of(pointer) {
            Ok((argument, offset)) => self.affine_address(offset, block).map(|a| (argument, a)),
            Err(_) if underlying(pointer).is_global_variable() => Err("no argument's memory"),
            Err(Refusal::UnknownSurface) => Err("the pointer's surface is not known"),
            Err(_) => Err("address is not affine"),
        };
        self.accesses.push(Access {
            inst,
            kind,
            pointer,
            place,
            sizes: offsets.sizes(value),
            loops,
            after_write,
            stays: OnceCell::new(),
        });
    }

    /// Takes note of a write of global memory.
    fn add_write(&mut self, inst: Value, block: Index) {
        self.writes_global = true;
        self.writing.insert(block);
        let pointer = match inst.opcode() {
            LLVMStore => Some(inst.operand(1)),
            LLVMAtomicRMW | LLVMAtomicCmpXchg => Some(inst.operand(0)),
            _ => None,
        };
        let root = pointer.map(underlying);
        self.writes_apart &= root.is_some_and(|r| r.is_argument() && has_attribute(r, "noalias"));
    }

    /// Takes note of a call: the ids that a kernel asks for, and what lets work-items see each
    /// other's writes.
    fn add_call(&mut self, inst: Value) {
        let constant = |i: u32| inst.operand(i).as_constant_int();
        match builtins::of_call(inst) {
            Some(Builtin::Query(Query::GlobalId | Query::LocalId | Query::RelativeId | Query::GroupId)) => match constant(0) {
                Some(d) => self.used.iter_mut().skip(d as usize).take(1).for_each(|u| *u = true),
                None => self.used = [true; 3],
            },
            Some(Builtin::Fence) => self.communicates |= constant(0).is_none_or(|flags| flags & 2 != 0),
            Some(Builtin::Barrier) => {
                self.synchronises |= constant(0).is_none_or(|flags| flags & 2 != 0);
                // A scope wider than the work-group; the last operand is the callee.
                self.communicates |= inst.operand_count() > 2 && constant(1).is_none_or(|scope| scope > 1);
            }
            Some(_) => {}
            None => {
                let name = inst.called_name();
                let image = builtins::is_image_query(&name) || name.contains("read_image") || name.contains("write_image");
                // Explicit accesses and prefetches (heddle.h) say themselves what they need.
                let explicit = name.starts_with("__heddle_");
                self.communicates |= !name.starts_with("llvm.") && !image && !explicit;
            }
        }
    }

    /// The address with an offset, if that is affine in the ids; where an access stands says which
    /// of its other symbols stay the same.
    fn affine_address(&self, offset: Poly, block: Index) -> Result<AffineAddress, &'static str> {
        let cfg = self.uniformity.cfg();
        let mut strides: [Poly; 3] = Default::default();
        for (monomial, &c) in &offset.0 {
            let (ids, rest) = global_id::split_ids(monomial);
            let moves = |s: &Symbol| match *s {
                Symbol::Uniform(v) => {
                    global_id::is_momentary(v) && cfg.index.get(&v.parent()).is_none_or(|b| self.shares_loop(*b, block))
                }
                Symbol::Iteration(_) | Symbol::Group(_) => !ids.is_empty(),
                _ => false,
            };
            if ids.len() > 1 || rest.iter().any(moves) {
                return Err("address is not affine");
            }
            if let [d] = ids[..] {
                strides[usize::from(d)].add_term(rest, c);
            }
        }
        Ok(AffineAddress { offset, strides })
    }

    fn shares_loop(&self, a: Index, b: Index) -> bool {
        self.uniformity.cfg().loops.iter().any(|l| l.members.contains(a) && l.members.contains(b))
    }

    fn decision(&self, a: &Access) -> Decision {
        let (mut hint, mut reason) = self.decide(a);
        if hint == Hint::Default && self.object_in_uniform_cache(a) {
            (hint, reason) = (Hint::UniformLoad, "other loads bring its object into the uniform cache");
        }
        let plain = a.kind == Kind::Load && matches!(hint, Hint::Default | Hint::Stream);
        let reuse = self.loop_reuse(a, hint);
        Decision { hint, reason, prefetch: if plain { self.prefetch(a) } else { None }, reuse }
    }

    fn decide(&self, a: &Access) -> (Hint, &'static str) {
        if a.inst.is_volatile() {
            return (Hint::Volatile, "volatile");
        }
        if a.inst.is_atomic_access() {
            return (Hint::Volatile, "atomic");
        }
        if metadata::is_attached(a.inst, "nontemporal") {
            return (Hint::Stream, "non-temporal");
        }
        if a.kind == Kind::Load {
            let constant = self.is_constant(a);
            if !constant && self.communicates {
                return (Hint::Global, "other work-groups may write it");
            }
            if self.uniformity.is_uniform(a.pointer) {
                return match constant {
                    true if !self.stays(a) => (Hint::Default, "same address in all lanes, new lines in every iteration"),
                    true if !self.is_crowded(a) => {
                        (Hint::Default, "same address in all lanes, read-only, and the data L1 has room")
                    }
                    true => (Hint::UniformLoad, "same address in all lanes, read-only"),
                    false => (Hint::Default, "same address in all lanes, but the kernel may write it"),
                };
            }
        }
        match self.reuse(a) {
            Some(reason) => (Hint::Default, reason),
            None if a.kind == Kind::Load => (Hint::Stream, "touched once"),
            None if self.looks_up() => (Hint::Stream, "written once, beside what is looked up"),
            None => (Hint::Default, "written for others to read"),
        }
    }

    /// Whether the kernel loads from places that only data say, to which it may come back at any time.
    fn looks_up(&self) -> bool {
        self.accesses.iter().any(|a| a.kind == Kind::Load && a.place.is_err() && look_ups::is_loaded(a.pointer))
    }

    /// Whether loads of the same address in all lanes keep bringing the read-only object of a load into the
    /// uniform cache, and the load itself comes back to its lines or has one address in all lanes, too: what an
    /// unrolled loop leaves over would fetch them a second time, into the data L1.
    fn object_in_uniform_cache(&self, a: &Access) -> bool {
        let again = |b: &Access| !b.loops.is_empty() && self.stays(b);
        if a.kind != Kind::Load || !(again(a) || self.uniformity.is_uniform(a.pointer)) || !self.is_constant(a) {
            return false;
        }
        // The address itself need not be known.
        let object = underlying(a.pointer);
        let brings = |b: &Access| {
            let uniform = b.kind == Kind::Load && self.uniformity.is_uniform(b.pointer);
            uniform && underlying(b.pointer) == object && again(b) && self.decide(b).0 == Hint::UniformLoad
        };
        self.accesses.iter().take(MOST_ACCESSES).any(brings)
    }

    /// Whether provably nothing writes what a load may read while the kernel runs, in kernels
    /// without races.
    fn is_constant(&self, a: &Access) -> bool {
        if reads_constant(a.inst, self.writes_global) {
            return true;
        }
        // Without communication a work-item sees only its own writes.
        if self.communicates || self.synchronises {
            return false;
        }
        let before_writes =
            !a.after_write && self.uniformity.cfg().index.get(&a.inst.parent()).is_some_and(|b| !self.written.contains(b));
        // Or those go through pointers to other objects.
        let root = underlying(a.pointer);
        before_writes || self.writes_apart && root.is_argument() && !has_attribute(root, "noalias")
    }

    /// Whether a load in a loop finds its line again, in the next iterations or by enough other parts of an unrolled one; one
    /// outside of loops may. The way past the uniform L1 is the longer one, so who misses in every iteration is
    /// better off in the data L1.
    fn stays(&self, a: &Access) -> bool {
        *a.stays.get_or_init(|| self.finds_line_again(a))
    }

    fn finds_line_again(&self, a: &Access) -> bool {
        let Some(header) = a.loops.last() else { return true };
        let Ok((argument, address)) = &a.place else { return false };
        let step = address.step(*header);
        let others = self.surfaces.get(argument).into_iter().flatten().map(|i| &self.accesses[*i]);
        let beside = |o: &Access| match &o.place {
            Ok((_, theirs)) if o.kind == Kind::Load && o.inst != a.inst && o.loops == a.loops => {
                is_within_line(&theirs.offset.clone().plus(&address.offset, u32::MAX))
            }
            _ => false,
        };
        step.0.is_empty()
            || is_within_line(&step)
            || others.take(MOST_ACCESSES).filter(|o| beside(o)).nth(PARTS_IN_LINE - 2).is_some()
    }

    /// Whether loads of other objects in the loop around a load fill the data L1 with what is needed again. Without them
    /// that is the shorter way.
    fn is_crowded(&self, a: &Access) -> bool {
        let fills = |b: &Access| {
            let elsewhere = match (&a.place, &b.place) {
                (Ok((x, _)), Ok((y, _))) => x != y,
                _ => b.inst != a.inst,
            };
            elsewhere && b.kind == Kind::Load && b.loops.last() == a.loops.last() && !self.uniformity.is_uniform(b.pointer)
        };
        // Rows of each work-item's own, and what the loop comes to anew in each iteration for others to come back to. Of
        // places that are not known nothing is.
        let keeps = |b: &Access| match (&b.place, b.loops.last()) {
            (Ok((_, address)), Some(header)) => {
                let step = address.step(*header);
                let advances = !step.0.is_empty() && !is_within_line(&step);
                self.apart(b, address).is_some() || advances && self.reuse(b).is_some()
            }
            _ => false,
        };
        let mut others = self.accesses.iter().take(MOST_ACCESSES).filter(|b| fills(b));
        !a.loops.is_empty() && others.any(keeps)
    }

    /// Why a line is needed again, or `None` for a stream.
    fn reuse(&self, a: &Access) -> Option<&'static str> {
        let (argument, address) = match &a.place {
            Ok((argument, address)) => (*argument, address),
            Err(reason) => return Some(reason),
        };
        if self.uniformity.is_uniform(a.pointer) {
            return Some("same address in all lanes");
        }
        let steps: Vec<Poly> = a.loops.iter().map(|header| address.step(*header)).collect();
        if steps.iter().enumerate().any(|(i, s)| s.0.is_empty() || steps[..i].contains(s)) {
            return Some("reused in the loop");
        }
        let [x, y, z] = &address.strides;
        let stride = x.as_constant().map(|c| (c as i32).unsigned_abs());
        let whole = stride.is_some_and(|s| s != 0 && (u64::from(s) == a.sizes.0 || u64::from(s) == a.sizes.1));
        for step in &steps {
            if [y, z].iter().any(|s| is_multiple(step, s)) || whole && is_within_line(step) && is_multiple(step, x) {
                return Some("reused by neighbouring work-items");
            }
            if is_within_line(step) {
                return Some("reused by the next iterations");
            }
        }
        if let Some(reason) = self.other_accesses(a, argument, address) {
            return Some(reason);
        }
        match stride {
            Some(s) if u64::from(s) < a.sizes.0 => return Some("reused by neighbouring work-items"),
            _ if !whole => return Some("lanes do not touch consecutive elements"),
            _ => {}
        }
        for d in (0..3).filter(|d| self.used[*d]) {
            let own = &address.strides[d];
            if own.0.is_empty() || d > 0 && (is_within_line(own) || address.strides[..d].contains(own)) {
                return Some("reused by neighbouring work-items");
            }
            if !self.by_group(address, d as u8) {
                return Some("reused by other work-groups");
            }
        }
        None
    }

    /// Whether work-groups that differ in a dimension touch different places: an id stands for its
    /// group's, too, unless that was subtracted.
    fn by_group(&self, address: &AffineAddress, d: u8) -> bool {
        let size = match self.required {
            Some(size) => Poly::constant(size[usize::from(d)]),
            None => Poly::symbol(Symbol::GroupSize(d)),
        };
        let group = Poly::symbol(Symbol::Group(d)).times(&size).and_then(|g| g.times(&address.strides[usize::from(d)]));
        group.is_none_or(|g| address.offset.clone().plus(&g, 1).0.keys().flatten().any(|s| *s == Symbol::Group(d)))
    }

    /// Whether another access of the surface touches the same lines.
    fn other_accesses(&self, a: &Access, argument: u32, address: &AffineAddress) -> Option<&'static str> {
        let others = self.surfaces.get(&argument).map_or(&[][..], |s| s);
        if others.len() > MOST_ACCESSES {
            return Some("accessed in many places");
        }
        if a.kind == Kind::Store && self.reads_unknown {
            return Some("may be read through another pointer");
        }
        for other in others.iter().map(|o| &self.accesses[*o]).filter(|o| o.inst != a.inst) {
            let Ok((_, theirs)) = &other.place else { return Some("accessed in another order, too") };
            // Loops one after the other count alike.
            let pairs: Vec<(BlockRef, BlockRef)> = other.loops.iter().copied().zip(a.loops.iter().copied()).collect();
            if theirs.strides != address.strides {
                return Some("accessed in another order, too");
            }
            let distance = theirs.renamed(&pairs).plus(&address.offset, u32::MAX);
            if distance.0.is_empty() {
                match (a.kind, other.kind) {
                    (Kind::Load, Kind::Load) | (_, Kind::Atomic) => return Some("accessed again"),
                    _ => continue,
                }
            }
            if let Some(reason) = self.close(a, address, &distance) {
                return Some(reason);
            }
            if a.kind == Kind::Store && other.kind != Kind::Store {
                return Some("read in the kernel, too");
            }
        }
        None
    }

    /// Whether an access at a distance touches the same lines.
    fn close(&self, a: &Access, address: &AffineAddress, distance: &Poly) -> Option<&'static str> {
        let [x, y, z] = &address.strides;
        let steps: Vec<Poly> = a.loops.iter().map(|header| address.step(*header)).collect();
        if let Some(bytes) = distance.as_constant().map(|c| (c as i32).unsigned_abs()) {
            let stride = x.as_constant().map(|c| (c as i32).unsigned_abs());
            if stride.is_none_or(|s| bytes < s) && bytes < LINE {
                return Some("neighbouring fields");
            }
            // Another part of what an unrolled iteration touches.
            let unrolled = |s: &Poly| s.as_constant().is_some_and(|s| (s as i32).unsigned_abs() > bytes);
            if bytes >= LINE && !is_multiple(distance, y) && !is_multiple(distance, z) && steps.iter().any(unrolled) {
                return None;
            }
            return Some("reused by neighbouring work-items");
        }
        if [x, y, z].iter().any(|s| is_multiple(distance, s)) {
            return Some("reused by neighbouring work-items");
        }
        steps.iter().any(|s| is_multiple(distance, s)).then_some("reused by the next iterations")
    }

    /// What a load comes back to, if it does; nothing for one whose lines another load has.
    fn loop_reuse(&self, a: &Access, hint: Hint) -> Option<LoopReuse> {
        let (argument, address) = a.place.as_ref().ok()?;
        if a.kind != Kind::Load || !matches!(hint, Hint::Default | Hint::UniformLoad) || self.uniformity.is_uniform(a.pointer) {
            return None;
        }
        let header = *a.loops.last()?;
        let strides = self.apart(a, address)?;
        let others = self.surfaces.get(argument).map_or(&[][..], |s| s);
        let before = others.iter().map(|o| &self.accesses[*o]).take_while(|o| o.inst != a.inst);
        let shares = |o: &Access| match &o.place {
            Ok((_, theirs)) if o.kind == Kind::Load && o.loops == a.loops && theirs.strides == address.strides => {
                let distance = theirs.offset.clone().plus(&address.offset, u32::MAX);
                distance.as_constant().is_some_and(|c| (c as i32).unsigned_abs() < LINE)
            }
            _ => false,
        };
        if before.into_iter().any(shares) {
            return None;
        }
        Some(LoopReuse { header, strides, exact: address.strides.clone(), instructions: self.instructions_of(header) })
    }

    /// The strides of a load in a loop of the deepest level, if the next iterations find its sectors again and no other
    /// work-item does.
    fn apart(&self, a: &Access, address: &AffineAddress) -> Option<[u32; 3]> {
        let cfg = self.uniformity.cfg();
        let deepest = (0..cfg.blocks.len()).map(|b| cfg.loops.iter().filter(|l| l.members.contains(b)).count()).max();
        let step = address.step(*a.loops.last()?);
        let advances = if step.0.is_empty() { 0 } else { (step.as_constant()? as i32).unsigned_abs() };
        if deepest != Some(a.loops.len()) || advances >= SECTOR {
            return None;
        }
        let mut strides = [0; 3];
        for d in (0..3).filter(|d| self.used[*d]) {
            let own = &address.strides[d];
            if own.0.is_empty() || !self.by_group(address, d as u8) {
                return None;
            }
            strides[d] = match own.as_constant() {
                Some(c) => (c as i32).unsigned_abs().min(FAR),
                // Rows of bytes, of a length known at launch, are likelier short.
                None if advances >= WORD => FAR,
                None => return None,
            };
        }
        // Where several work-items share a line, an L1 holds those of many warps: fewer of them cost more than they save.
        strides.iter().any(|s| *s >= LINE).then_some(strides)
    }

    fn instructions_of(&self, header: BlockRef) -> u32 {
        let cfg = self.uniformity.cfg();
        let around = cfg.loops.iter().find(|l| cfg.blocks[l.header] == header);
        around.map_or(0, |l| l.members.ones().map(|b| cfg.blocks[b].instructions().count() as u32).sum())
    }

    fn prefetch(&self, a: &Access) -> Option<Prefetch> {
        let (_, address) = a.place.as_ref().ok()?;
        let cfg = self.uniformity.cfg();
        let block = *cfg.index.get(&a.inst.parent())?;
        let l = cfg.loops.iter().rfind(|l| l.members.contains(block))?;
        let every = cfg.preds[l.header].iter().filter(|p| l.members.contains(**p)).all(|latch| cfg.dominates(block, *latch));
        let header = cfg.blocks[l.header];
        let distance = address.step(header);
        // A step known only at launch is taken to be longer than a line.
        let of_launch = distance.0.keys().flatten().all(|s| s.is_of_launch());
        let far = !distance.0.is_empty() && !is_within_line(&distance);
        (every && of_launch && far).then_some(Prefetch { distance, iterations_ahead: ITERATIONS_AHEAD })
    }
}

impl AffineAddress {
    /// Bytes that an iteration of a loop adds.
    fn step(&self, header: BlockRef) -> Poly {
        self.offset.coefficient(Symbol::Iteration(header))
    }

    /// The offset with loops taken for others.
    fn renamed(&self, pairs: &[(BlockRef, BlockRef)]) -> Poly {
        let mut result = Poly::default();
        for (monomial, &c) in &self.offset.0 {
            let rename = |s: &Symbol| match *s {
                Symbol::Iteration(h) => Symbol::Iteration(pairs.iter().find(|p| p.0 == h).map_or(h, |p| p.1)),
                s => s,
            };
            let mut renamed: Vec<Symbol> = monomial.iter().map(rename).collect();
            renamed.sort_unstable();
            result.add_term(renamed, c);
        }
        result
    }
}

/// A distance surely shorter than a line.
fn is_within_line(p: &Poly) -> bool {
    p.as_constant().is_some_and(|c| (c as i32).unsigned_abs() < LINE)
}

/// Whether `p` is an integer multiple of `q`, neither being 0.
fn is_multiple(p: &Poly, q: &Poly) -> bool {
    let Some((monomial, &c)) = q.0.iter().next() else { return false };
    let (have, unit) = (p.0.get(monomial).copied().unwrap_or(0) as i32, c as i32);
    let Some(n) = have.checked_rem(unit).filter(|r| *r == 0).and_then(|_| have.checked_div(unit)) else { return false };
    n != 0 && q.scaled(n as u32) == *p
}

/// The number of the argument that a pointer is computed from.
fn argument_of(function: Value, pointer: Value) -> Option<u32> {
    let root = underlying(pointer);
    ir::params(function).iter().position(|p| *p == root).map(|p| p as u32)
}

/// Prints the decisions for a kernel: one line an access, in order of the code.
///
/// # Errors
/// Those of the output.
pub fn print(kernel: Value, facts: Facts, out: &mut dyn Write) -> Result<(), PassError> {
    let uniformity = uniformity::analyze(kernel, facts);
    let params = ir::params(kernel);
    writeln!(out, "cache hints of {}:", kernel.name())?;
    let kernel = Kernel::new(kernel, &uniformity);
    for a in kernel.accesses.iter().filter(|a| a.kind != Kind::Atomic) {
        let (load, decision) = (a.kind == Kind::Load, kernel.decision(a));
        let root = underlying(a.pointer);
        let surface = match &a.place {
            Ok((argument, _)) => format!("%{}", params[*argument as usize].label()),
            Err(_) if root.is_argument() => format!("%{}", root.label()),
            Err(_) if root.is_global_variable() => format!("@{}", root.name()),
            Err(_) => "unknown".to_string(),
        };
        let kind = if load { "load" } else { "store" };
        write!(out, "  {surface}: {kind} {}, {}", decision.hint.spelling(load), decision.reason)?;
        if let Some(p) = &decision.prefetch {
            write!(out, ", prefetch {} bytes ahead", p.bytes_ahead())?;
        }
        if let Some(LoopReuse { strides: [x, y, z], .. }) = &decision.reuse {
            write!(out, ", kept in the loop, work-items {x} {y} {z} bytes apart")?;
        }
        match a.inst.source_position().line {
            0 => writeln!(out)?,
            line => writeln!(out, ", line {line}")?,
        }
    }
    Ok(())
}

/// Attaches the decision to every load and store of global and constant memory, as `!heddle.cache
/// !{!"cs", !"touched once"}`.
pub fn annotate(kernel: Value, facts: Facts) {
    let hints = analyze(kernel, &uniformity::analyze(kernel, facts));
    let writer = Writer::of_function(kernel);
    for (inst, decision) in &hints.0 {
        let spelling = decision.hint.spelling(inst.opcode() == LLVMLoad);
        writer.attach(*inst, METADATA, writer.strings(&[spelling, decision.reason]));
    }
}
