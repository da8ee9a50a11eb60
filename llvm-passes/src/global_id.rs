//! Global-ID addresses: which accesses have addresses that are affine in the work-item's global ids
//! (G5–G8).
//!
//! # Problem
//! The address-generation unit makes addresses of the form `surface + (gid + distance) * strides +
//! uniform`. Which accesses of a kernel have such addresses must not depend on how the source
//! spells them.
//!
//! # Algorithm
//! The byte offset of an access from its surface's start is computed as a polynomial over symbols:
//! global ids, what is known at launch (arguments, sizes, offsets), work-group ids, and values that
//! are the same in all work-items at the access (loop counters, loaded scalars). Spelling does not
//! matter: shifts, disjoint ors, factored products, mixtures of widths and truncations all become
//! the same polynomial. If every monomial has at most one global id and each id's factor is known
//! at launch, the unit can make the address.
//!
//! A local id is `global id - global offset - group id * enqueued size`, exactly and for the last,
//! smaller group, too. With the group's own size that is `group id * own size + local id`, as
//! programs make their ids by hand, which differs from the global id less the offset in that group.
//! A surface's strides can multiply either of the three ids ([`Ids`]); an access takes the one that
//! leaves least to add.
//!
//! # Why it is exact (G8)
//! Offsets are polynomials *modulo 2³²*, as the address-generation unit computes them and as base +
//! 32-bit offset addresses already do: all of an object has one high word of its address, so the
//! low 32 bits of the offset decide every access inside it. Truncation commutes with addition,
//! subtraction and multiplication, so the low word of a 64-bit index is the polynomial whatever
//! overflowed on the way, and sign or zero extension from 32 bits or more changes nothing in it.
//!
//! # Limits
//! Where that argument ends (extensions from fewer than 32 bits, right shifts of what may have lost
//! bits) the access is refused, and so are pointers that a select or phi chooses.
//!
//! Reads LLVM IR and [`crate::uniformity`]; only [`annotate`] changes it, by metadata.

use std::fmt;
use std::io::Write;

use inkwell::llvm_sys::LLVMOpcode::*;
use inkwell::llvm_sys::LLVMTypeKind;
use rustc_hash::FxHashMap;

use crate::address_cost::{self, Candidate};
use crate::builtins::{self, Builtin, Query};
use crate::error::PassError;
use crate::facts::Facts;
use crate::ir::address_space::{CONSTANT, GLOBAL};
use crate::ir::function::{required_work_group_size, uniform_work_groups};
use crate::ir::layout::{GepStep, Layout};
use crate::ir::metadata::Writer;
use crate::ir::{self, BlockRef, Type, Value};
use crate::polynomial::{Monomial, Poly, Symbol};
use crate::surfaces;
use crate::uniformity::{self, Uniformity};

/// The ids that a view's strides multiply.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ids {
    /// Global ids.
    #[default]
    Global,
    /// Group id times the group's own size plus local id.
    Relative,
    /// Local ids.
    Local,
}

impl Ids {
    /// The name in listings; global ids need none.
    pub fn name(self) -> &'static str {
        match self {
            Ids::Global => "",
            Ids::Relative => "relative",
            Ids::Local => "local",
        }
    }
}

/// A surface seen with fixed strides: what a descriptor is made of (G7).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct View {
    /// Number of the pointer argument.
    pub argument: u32,
    /// What the strides multiply.
    pub ids: Ids,
    /// Bytes from one work-item to the next in each dimension; known at launch.
    pub strides: [Poly; 3],
    /// Bytes from the argument's address; known at launch.
    pub base: Poly,
    /// What the kernel does with the surface.
    pub kind: surfaces::Kind,
}

/// An access that the address-generation unit can do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Access {
    /// View, by number.
    pub view: usize,
    /// Constant distances from the global ids: dx, dy, dz.
    pub distance: [i8; 3],
    /// Bytes to add that are the same in all work-items here.
    pub uniform: Poly,
}

/// Why an access keeps its arithmetic.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The pointer may come from several surfaces, from memory or from an integer.
    UnknownSurface,
    /// A narrow integer whose extension is the polynomial only if it did not overflow; bits.
    Overflow(u32),
    /// The index depends on data that differ between work-items, or on an operation that is not
    /// affine; the value.
    Data(Value),
    /// Two ids are multiplied, or an id by something that is not known at launch.
    Pitch(String),
    /// The same place for all work-items: a scalar access is better.
    Uniform,
    /// There are as many views as the machine has descriptors.
    TooManyViews,
    /// What would be left to add costs more than the program's own arithmetic.
    Cost,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Refusal::UnknownSurface => f.write_str("the pointer's surface is not known"),
            Refusal::Overflow(bits) => write!(f, "{bits}-bit arithmetic in the index may overflow"),
            Refusal::Data(v) => write!(f, "the index depends on `{}`", v.text()),
            Refusal::Pitch(p) => write!(f, "the pitch `{p}` is not known at launch"),
            Refusal::Uniform => f.write_str("all work-items access the same place"),
            Refusal::Cost => f.write_str("its own arithmetic costs less"),
            Refusal::TooManyViews => f.write_str("the machine has no more surface descriptors"),
        }
    }
}

/// What is known of a kernel's accesses.
#[derive(Debug, Default)]
pub struct GlobalIds {
    /// Views.
    pub views: Vec<View>,
    /// Accesses that can be rewritten.
    pub accesses: FxHashMap<Value, Access>,
    /// Accesses of global and constant memory that cannot, in order of the code.
    pub refused: Vec<(Value, Refusal)>,
}

impl GlobalIds {
    /// Refuses those of some accesses that have addresses of ids: their own arithmetic costs less.
    pub fn leave_out(&mut self, accesses: &[Value]) {
        let dropped = accesses.iter().filter(|a| self.accesses.remove(a).is_some());
        self.refused.extend(dropped.map(|a| (*a, Refusal::Cost)));
    }
}

/// Views that a machine's descriptor table holds at most.
pub const MOST_VIEWS: usize = 256;

struct Analysis<'a> {
    function: Value,
    uniformity: &'a Uniformity,
    params: Vec<Value>,
    layout: Layout,
    known: FxHashMap<Value, Result<Poly, Refusal>>,
    /// Keys of `known` in order of their coming.
    trail: Vec<Value>,
    /// Loop counters become iteration numbers; otherwise they are uniform values or refused.
    counts_iterations: bool,
    /// Pointers that loops advance.
    pointers: FxHashMap<Value, (u32, Poly)>,
    /// `reqd_work_group_size`: the enqueued size of every launch.
    required: Option<[u32; 3]>,
    /// All work-groups have one size.
    whole: bool,
    depth: u32,
}

/// Analyses a kernel.
pub fn analyze(function: Value, uniformity: &Uniformity) -> GlobalIds {
    let mut a = Analysis::new(function, uniformity, false);
    let kinds: FxHashMap<u32, surfaces::Kind> = surfaces::analyze(function).iter().map(|s| (s.argument, s.kind())).collect();
    let mut result = GlobalIds::default();
    for block in ir::blocks(function) {
        for inst in block.instructions() {
            let pointer = match inst.opcode() {
                LLVMLoad | LLVMAtomicRMW | LLVMAtomicCmpXchg => inst.operand(0),
                LLVMStore => inst.operand(1),
                _ => continue,
            };
            if !matches!(pointer.address_space(), GLOBAL | CONSTANT) {
                continue;
            }
            match a.access(pointer, &kinds, &mut result.views) {
                Ok(access) => {
                    result.accesses.insert(inst, access);
                }
                Err(refusal) => result.refused.push((inst, refusal)),
            }
        }
    }
    leave_out_costly(&a, &mut result);
    result
}

/// Refuses the accesses whose own arithmetic costs less.
fn leave_out_costly(a: &Analysis, result: &mut GlobalIds) {
    let accesses = ir::blocks(a.function).into_iter().flat_map(|b| b.instructions());
    let candidates: Vec<Candidate> = accesses
        .filter_map(|access| {
            let Access { view, uniform, .. } = result.accesses.get(&access)?;
            Some(Candidate { access, pointer: access.operand(u32::from(access.opcode() == LLVMStore)), view: *view, uniform })
        })
        .collect();
    let chosen = address_cost::choose(&candidates, &a.layout, a.uniformity);
    let costly: Vec<Value> = candidates.iter().zip(chosen).filter(|(_, on)| !on).map(|(c, _)| c.access).collect();
    result.leave_out(&costly);
}

/// Byte offsets of pointers from their surfaces' starts, with loop counters as polynomials over
/// iteration numbers: what analyses of reuse build on.
pub struct Offsets<'a>(Analysis<'a>);

impl<'a> Offsets<'a> {
    /// Offsets in a kernel in LCSSA form.
    pub fn new(function: Value, uniformity: &'a Uniformity) -> Self {
        Offsets(Analysis::new(function, uniformity, true))
    }

    /// A pointer's argument and byte offset.
    ///
    /// # Errors
    /// Why there is none.
    pub fn of(&mut self, pointer: Value) -> Result<(u32, Poly), Refusal> {
        self.0.pointer(pointer)
    }

    /// Bytes that an access of a value's type touches, and bytes from one element of an array of it
    /// to the next.
    pub fn sizes(&self, value: Value) -> (u64, u64) {
        let ty = Type(value.ty());
        (self.0.layout.store_size(ty), self.0.layout.size(ty))
    }
}

impl<'a> Analysis<'a> {
    fn new(function: Value, uniformity: &'a Uniformity, counts_iterations: bool) -> Self {
        Analysis {
            function,
            uniformity,
            params: ir::params(function),
            layout: Layout::of_function(function),
            known: FxHashMap::default(),
            trail: Vec::new(),
            counts_iterations,
            pointers: FxHashMap::default(),
            required: required_work_group_size(function),
            whole: uniformity.assumes_whole_groups() || uniform_work_groups(function),
            depth: 0,
        }
    }

    fn access(
        &mut self,
        pointer: Value,
        kinds: &FxHashMap<u32, surfaces::Kind>,
        views: &mut Vec<View>,
    ) -> Result<Access, Refusal> {
        let (argument, offset) = self.pointer(pointer)?;
        let (ids, Parts { strides, mut launch, uniform }) = self.parts(&offset)?;
        let distance = take_distances(&strides, &mut launch);
        let kind = kinds.get(&argument).copied().unwrap_or(surfaces::Kind::UntypedUav);
        let view = View { argument, ids, strides, base: launch, kind };
        let number = match views.iter().position(|v| *v == view) {
            Some(i) => i,
            None if views.len() == MOST_VIEWS => return Err(Refusal::TooManyViews),
            None => {
                views.push(view);
                views.len() - 1
            }
        };
        Ok(Access { view: number, distance, uniform })
    }

    /// The parts of an offset over the ids that leave least to add to them.
    fn parts(&self, offset: &Poly) -> Result<(Ids, Parts), Refusal> {
        let mut best = (Ids::Global, Parts::of(offset)?);
        for ids in [Ids::Relative, Ids::Local] {
            if let Some(Ok(parts)) = self.over(offset, ids).map(|p| Parts::of(&p))
                && parts.uniform.operations() < best.1.uniform.operations()
            {
                best = (ids, parts);
            }
        }
        Ok(best)
    }

    /// An offset with other ids in the place of the global ones.
    fn over(&self, offset: &Poly, ids: Ids) -> Option<Poly> {
        let mut result = offset.clone();
        for d in 0..3 {
            let symbol = Poly::symbol;
            let mut global = symbol(Symbol::Offset(d)).plus(&symbol(Symbol::Group(d)).times(&self.group_size(d))?, 1);
            if ids == Ids::Relative {
                global = global.plus(&symbol(Symbol::Group(d)).times(&self.own_size(d))?, u32::MAX);
            }
            result = result.plus(&offset.coefficient(Symbol::Id(d)).times(&global)?, 1);
        }
        Some(result)
    }

    /// The enqueued size of a work-group.
    fn group_size(&self, d: u8) -> Poly {
        match self.required {
            Some(size) => Poly::constant(size[usize::from(d.min(2))]),
            None => Poly::symbol(Symbol::GroupSize(d)),
        }
    }

    /// The size of this work-group.
    fn own_size(&self, d: u8) -> Poly {
        if self.whole { self.group_size(d) } else { Poly::symbol(Symbol::LocalSize(d)) }
    }

    /// A pointer's argument and byte offset.
    fn pointer(&mut self, p: Value) -> Result<(u32, Poly), Refusal> {
        if let Some(i) = self.params.iter().position(|x| *x == p) {
            return Ok((i as u32, Poly::default()));
        }
        if !p.is_instruction() {
            return Err(Refusal::UnknownSurface);
        }
        match p.opcode() {
            LLVMBitCast | LLVMFreeze => self.pointer(p.operand(0)),
            LLVMGetElementPtr => self.gep(p),
            LLVMPHI if self.counts_iterations => self.advanced_pointer(p),
            _ => Err(Refusal::UnknownSurface),
        }
    }

    /// Argument and byte offset of address arithmetic.
    fn gep(&mut self, gep: Value) -> Result<(u32, Poly), Refusal> {
        let (argument, mut offset) = self.pointer(gep.operand(0))?;
        for step in self.layout.gep_steps(gep) {
            let bytes = match step {
                GepStep::Field(bytes) => Poly::constant(bytes as u32),
                GepStep::Element { index, .. } if index.type_kind() != LLVMTypeKind::LLVMIntegerTypeKind => {
                    return Err(Refusal::Data(index));
                }
                // An index of fewer bits is sign-extended.
                GepStep::Element { index, stride } => {
                    let index = if index.is_constant() { self.low(index)? } else { self.extended(index)? };
                    index.scaled(stride as u32)
                }
            };
            offset = offset.plus(&bytes, 1);
        }
        Ok((argument, offset))
    }

    /// Argument and byte offset of a pointer that a loop advances.
    fn advanced_pointer(&mut self, phi: Value) -> Result<(u32, Poly), Refusal> {
        if let Some(known) = self.pointers.get(&phi) {
            return Ok(known.clone());
        }
        let Some((start, next, header)) = self.recurrence(phi) else { return Err(Refusal::UnknownSurface) };
        let (argument, offset) = self.pointer(start)?;
        let mark = self.trail.len();
        self.pointers.insert(phi, (argument, Poly::symbol(Symbol::Uniform(phi))));
        let advanced = self.pointer(next);
        self.forget(mark);
        self.pointers.remove(&phi);
        let (same, advanced) = advanced?;
        let step = self.step(&advanced, phi, header).filter(|_| same == argument).ok_or(Refusal::UnknownSurface)?;
        Ok((argument, counted(offset, &step, header).ok_or(Refusal::UnknownSurface)?))
    }

    /// Start, next value and header of a phi that a loop of one entry and one latch carries.
    fn recurrence(&self, phi: Value) -> Option<(Value, Value, BlockRef)> {
        let cfg = self.uniformity.cfg();
        let header = phi.parent();
        let at = *cfg.index.get(&header)?;
        let l = cfg.loops.iter().find(|l| l.header == at && !l.irreducible)?;
        let inside = |b: &BlockRef| cfg.index.get(b).is_some_and(|b| l.members.contains(*b));
        match phi.incoming().collect::<Vec<_>>()[..] {
            [(start, from), (next, latch)] if !inside(&from) && inside(&latch) => Some((start, next, header)),
            [(next, latch), (start, from)] if !inside(&from) && inside(&latch) => Some((start, next, header)),
            _ => None,
        }
    }

    /// What an iteration adds to a phi, if it is the same in every iteration; `next` is the next
    /// value over the phi as a symbol.
    fn step(&self, next: &Poly, phi: Value, header: BlockRef) -> Option<Poly> {
        let cfg = self.uniformity.cfg();
        let at = *cfg.index.get(&header)?;
        let l = cfg.loops.iter().find(|l| l.header == at)?;
        let step = next.clone().plus(&Poly::symbol(Symbol::Uniform(phi)), u32::MAX);
        let inside = |b: BlockRef| cfg.index.get(&b).is_none_or(|b| l.members.contains(*b));
        let changes = |s: &Symbol| match *s {
            Symbol::Uniform(v) => is_momentary(v) && inside(v.parent()),
            Symbol::Iteration(h) => inside(h),
            _ => false,
        };
        (!step.0.keys().flatten().any(changes)).then_some(step)
    }

    /// A loop counter: its start and as many steps as there were iterations.
    fn counter(&mut self, phi: Value) -> Result<Poly, Refusal> {
        let refused = Refusal::Data(phi);
        let Some((start, next, header)) = self.recurrence(phi) else { return self.merged(phi) };
        let start = self.extended(start)?;
        let mark = self.trail.len();
        self.remember(phi, Ok(Poly::symbol(Symbol::Uniform(phi))));
        let next = self.extended(next);
        self.forget(mark);
        let next = next?;
        // Or another counter of the loop is always a step ahead.
        let ahead = || {
            let counter = Symbol::Iteration(header);
            let step = next.coefficient(counter);
            let sum = start.clone().plus(&step, 1).plus(&step.times(&Poly::symbol(counter))?, 1);
            if sum == next { self.step(&step.plus(&Poly::symbol(Symbol::Uniform(phi)), 1), phi, header) } else { None }
        };
        let step = self.step(&next, phi, header).or_else(ahead).ok_or(refused.clone())?;
        counted(start, &step, header).ok_or(refused)
    }

    /// A phi that all paths give the same polynomial, as partial redundancy elimination leaves
    /// them.
    fn merged(&mut self, phi: Value) -> Result<Poly, Refusal> {
        let refused = Refusal::Data(phi);
        let cfg = self.uniformity.cfg();
        if cfg.loops.iter().any(|l| cfg.blocks[l.header] == phi.parent()) {
            return Err(refused);
        }
        let mark = self.trail.len();
        self.remember(phi, Err(refused.clone()));
        let values: Result<Vec<Poly>, Refusal> = phi.incoming().map(|(v, _)| self.extended(v)).collect();
        self.forget(mark);
        let values = values?;
        // Of the moment, perhaps of another than that of the phi.
        let momentary = |s: &Symbol| matches!(s, Symbol::Uniform(_) | Symbol::Iteration(_));
        match values.split_first() {
            Some((first, rest)) if rest.iter().all(|p| p == first) && !first.0.keys().flatten().any(momentary) => {
                Ok(first.clone())
            }
            _ => Err(refused),
        }
    }

    fn remember(&mut self, v: Value, result: Result<Poly, Refusal>) {
        if self.known.insert(v, result).is_none() {
            self.trail.push(v);
        }
    }

    /// Forgets what was found since the trail had a length: it holds only for a phi taken as a
    /// symbol.
    fn forget(&mut self, mark: usize) {
        for v in self.trail.drain(mark..) {
            self.known.remove(&v);
        }
    }

    /// The low word of an integer that is extended to it if it is narrower.
    fn extended(&mut self, v: Value) -> Result<Poly, Refusal> {
        match v.integer_bits() {
            32.. => self.low(v),
            _ if self.uniformity.is_uniform(v) => Err(Refusal::Overflow(v.integer_bits())),
            bits => Err(Refusal::Overflow(bits)),
        }
    }

    /// The low 32 bits of an integer of at least 32 bits.
    fn low(&mut self, v: Value) -> Result<Poly, Refusal> {
        if let Some(c) = v.as_signed_constant() {
            return Ok(Poly::constant(c as u32));
        }
        if let Some(known) = self.known.get(&v) {
            return known.clone();
        }
        self.depth += 1;
        let mut result = if self.depth > 64 { Err(Refusal::Data(v)) } else { self.compute(v) };
        self.depth -= 1;
        if result.is_err() && self.uniformity.is_uniform(v) && v.integer_bits() >= 32 && v.is_instruction() {
            result = Ok(Poly::symbol(Symbol::Uniform(v)));
        }
        self.remember(v, result.clone());
        result
    }

    fn compute(&mut self, v: Value) -> Result<Poly, Refusal> {
        if let Some(i) = self.params.iter().position(|x| *x == v) {
            return match v.integer_bits() {
                32 | 64 => Ok(Poly::symbol(Symbol::Argument(i as u32))),
                bits => Err(Refusal::Overflow(bits)),
            };
        }
        if !v.is_instruction() {
            return Err(Refusal::Data(v));
        }
        let bits = v.integer_bits();
        let constant = |o: Value| o.as_constant_int();
        match v.opcode() {
            LLVMAdd => Ok(self.low(v.operand(0))?.plus(&self.low(v.operand(1))?, 1)),
            LLVMSub => Ok(self.low(v.operand(0))?.plus(&self.low(v.operand(1))?, u32::MAX)),
            // ~x is -x - 1.
            LLVMXor if constant(v.operand(1)).is_some_and(|c| c == u64::MAX >> (64 - bits.min(64))) => {
                Ok(Poly::constant(u32::MAX).plus(&self.low(v.operand(0))?, u32::MAX))
            }
            LLVMOr if v.is_disjoint() => Ok(self.low(v.operand(0))?.plus(&self.low(v.operand(1))?, 1)),
            LLVMMul => {
                let (a, b) = (self.low(v.operand(0))?, self.low(v.operand(1))?);
                a.times(&b).ok_or(Refusal::Data(v))
            }
            LLVMShl => match constant(v.operand(1)) {
                Some(n @ 0..=31) => Ok(self.low(v.operand(0))?.scaled(1 << n)),
                Some(n) if n < u64::from(bits) => Ok(Poly::default()),
                _ => Err(Refusal::Data(v)),
            },
            LLVMFreeze => self.low(v.operand(0)),
            LLVMTrunc if bits >= 32 => self.low(v.operand(0)),
            LLVMSExt | LLVMZExt => self.extended(v.operand(0)),
            // What cuts the high word off, and with it low bits that are 0 in any case.
            LLVMAnd => {
                let kept = constant(v.operand(1)).map_or(0, |c| c as u32);
                let whole = kept.leading_ones() + kept.trailing_zeros() == u32::BITS && kept != 0;
                let low = if whole { self.low(v.operand(0))? } else { Poly::default() };
                let changes = low.0.values().any(|c| c & !kept != 0);
                if whole && !changes { Ok(low) } else { Err(Refusal::Data(v)) }
            }
            // A pair of shifts extends the low word, with a smaller second shift scales it, too;
            // additions may stand between.
            LLVMAShr | LLVMLShr => {
                let Some(right) = constant(v.operand(1)) else { return Err(Refusal::Data(v)) };
                match shifted_by(v.operand(0)) {
                    Some(left) if bits == 64 && left >= 32 && right <= 32 => {
                        Ok(self.high(v.operand(0))?.scaled(1u32.checked_shl(32 - right as u32).unwrap_or(0)))
                    }
                    Some(left) if left < bits => Err(Refusal::Overflow(bits - left)),
                    _ => Err(Refusal::Data(v)),
                }
            }
            LLVMCall => self.call(v),
            LLVMPHI if self.counts_iterations => self.counter(v),
            _ => Err(Refusal::Data(v)),
        }
    }

    /// The high 32 bits of a 64-bit sum of values shifted left by at least 32.
    fn high(&mut self, v: Value) -> Result<Poly, Refusal> {
        if let Some(c) = v.as_constant_int() {
            return Ok(Poly::constant((c >> 32) as u32));
        }
        match v.opcode() {
            LLVMAdd => Ok(self.high(v.operand(0))?.plus(&self.high(v.operand(1))?, 1)),
            LLVMSub => Ok(self.high(v.operand(0))?.plus(&self.high(v.operand(1))?, u32::MAX)),
            LLVMMul => {
                let factor = v.operand(1).as_constant_int().unwrap_or(0) >> 32;
                Ok(self.low(v.operand(0))?.scaled(factor as u32))
            }
            _ => {
                let by = v.operand(1).as_constant_int().unwrap_or(63) as u32;
                Ok(self.low(v.operand(0))?.scaled(1u32.checked_shl(by.saturating_sub(32)).unwrap_or(0)))
            }
        }
    }

    fn call(&mut self, v: Value) -> Result<Poly, Refusal> {
        let Some(Builtin::Query(q)) = builtins::of_call(v) else { return Err(Refusal::Data(v)) };
        let dimension = if q.has_dimension() { v.operand(0).as_constant_int() } else { Some(0) };
        let Some(d @ 0..=2) = dimension else { return Err(Refusal::Data(v)) };
        let d = d as u8;
        let symbol = |s: fn(u8) -> Symbol| Poly::symbol(s(d));
        // The global id from its offset.
        let moved = |d: u8| Poly::symbol(Symbol::Id(d)).plus(&Poly::symbol(Symbol::Offset(d)), u32::MAX);
        let refused = Refusal::Data(v);
        let before = symbol(Symbol::Group).times(&self.group_size(d)).ok_or(refused.clone())?;
        match q {
            Query::GlobalId => Ok(symbol(Symbol::Id)),
            Query::GroupId => Ok(symbol(Symbol::Group)),
            Query::GlobalSize => Ok(symbol(Symbol::Size)),
            Query::EnqueuedLocalSize => Ok(self.group_size(d)),
            Query::LocalSize => Ok(self.own_size(d)),
            Query::NumGroups => Ok(symbol(Symbol::Groups)),
            Query::GlobalOffset => Ok(symbol(Symbol::Offset)),
            Query::LocalId => Ok(moved(d).plus(&before, u32::MAX)),
            Query::RelativeId => {
                let own = symbol(Symbol::Group).times(&self.own_size(d)).ok_or(refused)?;
                Ok(moved(d).plus(&before, u32::MAX).plus(&own, 1))
            }
            Query::GlobalLinearId => {
                let rows = moved(2).times(&Poly::symbol(Symbol::Size(1))).ok_or(refused.clone())?.plus(&moved(1), 1);
                Ok(rows.times(&Poly::symbol(Symbol::Size(0))).ok_or(refused)?.plus(&moved(0), 1))
            }
            _ => Err(refused),
        }
    }
}

/// The dimensions of the global ids in a monomial, and its other factors.
pub(crate) fn split_ids(monomial: &[Symbol]) -> (Vec<u8>, Monomial) {
    let ids = monomial.iter().filter_map(|s| if let Symbol::Id(d) = s { Some(*d) } else { None }).collect();
    let rest = monomial.iter().copied().filter(|s| !matches!(s, Symbol::Id(_))).collect();
    (ids, rest)
}

/// The parts of an offset that is affine in the global ids.
struct Parts {
    /// What each id is multiplied by; known at launch.
    strides: [Poly; 3],
    /// The rest that is known at launch.
    launch: Poly,
    /// The rest that is the same in all work-items at the access.
    uniform: Poly,
}

impl Parts {
    fn of(offset: &Poly) -> Result<Parts, Refusal> {
        let mut parts = Parts { strides: Default::default(), launch: Poly::default(), uniform: Poly::default() };
        for (monomial, &c) in &offset.0 {
            let (ids, rest) = split_ids(monomial);
            let of_launch = rest.iter().all(|s| s.is_of_launch());
            match ids[..] {
                [] if of_launch => parts.launch.add_term(rest, c),
                [] => parts.uniform.add_term(rest, c),
                [d] if of_launch => parts.strides[usize::from(d)].add_term(rest, c),
                _ => return Err(Refusal::Pitch(Poly([(monomial.clone(), c)].into()).to_string())),
            }
        }
        let varies = parts.strides.iter().any(|s| !s.0.is_empty());
        if varies { Ok(parts) } else { Err(Refusal::Uniform) }
    }
}

/// Takes out of an offset what is a small multiple of a stride: the distances from the global ids
/// (G5).
fn take_distances(strides: &[Poly; 3], offset: &mut Poly) -> [i8; 3] {
    let mut distances = [0i8; 3];
    for (distance, polynomial) in distances.iter_mut().zip(strides).rev() {
        let [(monomial, stride)] = polynomial.0.iter().collect::<Vec<_>>()[..] else { continue };
        let have = offset.0.get(monomial).copied().unwrap_or(0) as i32;
        let stride = *stride as i32;
        if stride == 0 || have == i32::MIN || have % stride != 0 {
            continue;
        }
        if let Ok(n) = i8::try_from(have / stride) {
            *distance = n;
            *offset = std::mem::take(offset).plus(polynomial, (n as i32 as u32).wrapping_neg());
        }
    }
    distances
}

/// Whether a value may differ from one execution of its instruction to the next; answers about the
/// launch do not.
pub(crate) fn is_momentary(v: Value) -> bool {
    v.is_instruction() && !(v.opcode() == LLVMCall && matches!(builtins::of_call(v), Some(Builtin::Query(_))))
}

/// A start and a step for every iteration done.
fn counted(start: Poly, step: &Poly, header: BlockRef) -> Option<Poly> {
    Some(start.plus(&step.times(&Poly::symbol(Symbol::Iteration(header)))?, 1))
}

/// By how many bits a sum of shifted values and constants is shifted left; `None` if it is no such
/// sum.
fn shifted_by(v: Value) -> Option<u32> {
    if let Some(c) = v.as_constant_int() {
        return Some(c.trailing_zeros());
    }
    if !v.is_instruction() {
        return None;
    }
    match v.opcode() {
        LLVMShl => v.operand(1).as_constant_int().map(|n| n as u32),
        // LLVM draws a factor and the shift together.
        LLVMMul => v.operand(1).as_constant_int().map(u64::trailing_zeros).filter(|n| (32..64).contains(n)),
        LLVMAdd | LLVMSub => Some(shifted_by(v.operand(0))?.min(shifted_by(v.operand(1))?)),
        _ => None,
    }
}

/// Prints what the analysis found for a kernel.
///
/// # Errors
/// Those of the output.
pub fn print(kernel: Value, facts: Facts, out: &mut dyn Write) -> Result<(), PassError> {
    let result = analyze(kernel, &uniformity::analyze(kernel, facts));
    let params = ir::params(kernel);
    writeln!(out, "global-id addresses of {}:", kernel.name())?;
    for (i, v) in result.views.iter().enumerate() {
        let [x, y, z] = &v.strides;
        let name = params[v.argument as usize].label();
        let ids = if v.ids == Ids::Global { String::new() } else { format!(" of {} ids", v.ids.name()) };
        writeln!(out, "  t{i}: %{name}, {}, strides ({x}, {y}, {z}){ids}, base {}", v.kind.name(), v.base)?;
    }
    for block in ir::blocks(kernel) {
        for inst in block.instructions() {
            if let Some(a) = result.accesses.get(&inst) {
                let [x, y, z] = a.distance;
                let uniform = if a.uniform.0.is_empty() { String::new() } else { format!(" + {}", a.uniform) };
                writeln!(out, "  t{}({x}, {y}, {z}){uniform}: {}", a.view, inst.text())?;
            }
            if let Some((_, refusal)) = result.refused.iter().find(|r| r.0 == inst) {
                writeln!(out, "  kept, {refusal}: {}", inst.text())?;
            }
        }
    }
    Ok(())
}

/// Name of the metadata that [`annotate`] attaches to accesses.
pub const METADATA: &str = "heddle.global-id";
/// Name of the metadata that [`annotate`] attaches to kernels.
pub const VIEWS_METADATA: &str = "heddle.views";

/// Attaches what the analysis found for a kernel: to the kernel its views, `!heddle.views !{!0,
/// !1}` with `!0 = !{!"arg0", !"typed-uav", !"4", !"0", !"0", !"16"}` (argument, kind, strides in
/// bytes, base, and the ids if they are not the global ones), and to every access of global or constant memory `!heddle.global-id !{!"t0(1, 0,
/// 0)"}` (view and distances), the bytes to add as a second string if there are any, or `!{!"kept",
/// !"why"}`.
pub fn annotate(kernel: Value, facts: Facts) {
    let result = analyze(kernel, &uniformity::analyze(kernel, facts));
    let writer = Writer::of_function(kernel);
    for (inst, access) in &result.accesses {
        let [x, y, z] = access.distance;
        let mut texts = vec![format!("t{}({x}, {y}, {z})", access.view)];
        if !access.uniform.0.is_empty() {
            texts.push(access.uniform.to_string());
        }
        writer.attach(*inst, METADATA, writer.strings(&texts));
    }
    for (inst, refusal) in &result.refused {
        writer.attach(*inst, METADATA, writer.strings(&["kept", &refusal_without_metadata(refusal)]));
    }
    if !result.views.is_empty() {
        let view = |v: &View| {
            let mut texts = vec![format!("arg{}", v.argument), v.kind.name().to_string()];
            texts.extend(v.strides.iter().chain([&v.base]).map(Poly::to_string));
            texts.extend((v.ids != Ids::Global).then(|| v.ids.name().to_string()));
            writer.strings(&texts)
        };
        let views: Vec<_> = result.views.iter().map(view).collect();
        writer.attach_to_function(kernel, VIEWS_METADATA, writer.list(&views));
    }
}

/// A refusal in words, in which an instruction's text ends before its metadata, whose numbers are
/// of the moment.
fn refusal_without_metadata(refusal: &Refusal) -> String {
    match refusal {
        Refusal::Data(v) => format!("the index depends on `{}`", v.text().split(", !").next().unwrap_or_default()),
        other => other.to_string(),
    }
}
