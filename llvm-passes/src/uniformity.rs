//! Uniformity analysis (S2–S4): which values are the same in all active lanes of a warp.
//!
//! # Problem
//! A value is *varying* if two lanes that execute it together may see different results. Everything
//! else may be computed once a warp. Divergence starts at ids, per-lane memory and atomics, flows
//! along data dependences, and appears at phis where lanes that took different paths meet (sync
//! dependence).
//!
//! # Algorithm
//! Optimistic, to a fixed point over a worklist (S3), after LLVM's GenericUniformity:
//! - *Data*: users of a varying value are varying.
//! - *Sync*: for a divergent branch, labels are propagated from each successor; a block reached by
//!   two labels is a join, and its phis are varying unless all incoming values are the same.
//! - *Temporal* (S4): if a divergent branch lies in a loop that does not contain its immediate
//!   post-dominator, lanes leave the loop in different iterations; values that leave it do so
//!   through LCSSA phis, which become varying.
//! - *Desynchronised loops*: the machine reconverges at the immediate post-dominator only. If that
//!   lies outside a loop and two sides of the branch can both start another iteration, lanes of one
//!   warp run different iterations one after the other. If it lies inside and some lanes come to the
//!   header before they come to it (`continue` beside the way to the only `break`), they run more
//!   iterations while the others wait. Scalar state of an iteration is not shared then: everything
//!   defined in the loop is varying.
//! - Irreducible regions are treated as desynchronised as soon as a branch in them diverges.
//!
//! # Memory
//! A plain load from one address for all lanes happens once and gives all active lanes the same.
//! From memory that nothing writes during the kernel every such load gives the same, so it is
//! uniform; from other global or local memory the value is that of the moment, so it is
//! conditionally uniform, with what is computed from it. Volatile and atomic loads are per lane.
//! Private memory is interleaved by the hardware: an address in it is the same number in all lanes,
//! what it holds is not.
//!
//! # Lanes
//! A ballot says the same to all active lanes, whatever their own values: it is conditionally
//! uniform.
//!
//! # Facts
//! Warps are consecutive work-items, x fastest. With `reqd_work_group_size` a dimension 1 wide has
//! one id, an id is uniform if the dimensions before it fill whole warps, and so is
//! `get_local_id(0) / k` if k and the x size are multiples of the warp. With
//! [`Facts::rows_fill_warps`], which a launch grants, the same holds whatever the size is:
//! [`Uniformity::gains_over`] says whether that changes anything in a kernel.
//!
//! # Reference
//! "Convergence and uniformity" in LLVM's documentation.
//!
//! # Limits
//! The analysis looks at one function. Arguments of one that is not entered by a launch alone are
//! varying, nothing in it is better than conditionally uniform, and what a call returns is varying;
//! inlining everything first (`heddle-prepare`) avoids all that.
//!
//! The analysis needs LCSSA form. It reads LLVM IR; [`annotate`] writes its result as metadata.

use std::collections::VecDeque;
use std::fmt;
use std::io::Write;

use inkwell::llvm_sys::LLVMOpcode as Op;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::builtins::{self, Builtin, Query};
use crate::error::PassError;
use crate::facts::Facts;
use crate::ir::address_space::{GENERIC, PRIVATE};
use crate::ir::cfg::{Cfg, Index};
use crate::ir::function::required_work_group_size;
use crate::ir::metadata::Writer;
use crate::ir::{self, BlockRef, Value};
use crate::memory::{is_by_value_argument, may_write_global, reads_constant};

/// Three-valued result (S2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Verdict {
    /// Same in all threads: defined where no lane can be idle because of divergence.
    Uniform,
    /// Same in all active threads.
    ConditionallyUniform,
    /// Neither.
    Varying,
}

/// Why a value varies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// An argument of a function that is called: callers may pass each lane another value.
    Argument,
    /// A work-item id.
    Id,
    /// The result of a load that is per lane: from private memory, or volatile or atomic.
    Memory,
    /// An atomic's result.
    Atomic,
    /// An unknown call.
    Call,
    /// An operand varies.
    Operand(Value),
    /// A phi where lanes meet that a divergent branch in this block separated.
    Join(Index),
    /// A value that leaves a loop with a divergent exit (S4); the block is the branch's.
    Temporal(Index),
    /// Defined in a loop whose iterations the branch of this block desynchronises.
    Desynchronised(Index),
}

/// The result of the analysis for one function.
pub struct Uniformity {
    cfg: Cfg,
    varying: FxHashMap<Value, Reason>,
    /// Loads of memory that is written, and what depends on them.
    momentary: FxHashSet<Value>,
    /// A verdict rests on all work-groups having the required size.
    whole_groups: std::cell::Cell<bool>,
    divergent_branches: FxHashSet<Index>,
    /// Blocks that may run with idle lanes.
    partial: fixedbitset::FixedBitSet,
    /// Loops whose lanes may be in different iterations.
    desynchronised: fixedbitset::FixedBitSet,
}

impl Uniformity {
    /// Verdict on an instruction, argument or constant.
    pub fn verdict(&self, value: Value) -> Verdict {
        if self.varying.contains_key(&value) {
            return Verdict::Varying;
        }
        let partial = |b: &Index| self.partial.contains(*b);
        if self.momentary.contains(&value) || value.is_instruction() && self.cfg.index.get(&value.parent()).is_some_and(partial) {
            return Verdict::ConditionallyUniform;
        }
        Verdict::Uniform
    }

    /// Whether the value is uniform or conditionally uniform.
    pub fn is_uniform(&self, value: Value) -> bool {
        !self.varying.contains_key(&value)
    }

    /// Why the value varies.
    pub fn reason(&self, value: Value) -> Option<Reason> {
        self.varying.get(&value).copied()
    }

    /// Whether the terminator of a block may split a warp.
    pub fn branch_is_divergent(&self, block: Index) -> bool {
        self.divergent_branches.contains(&block)
    }

    /// The loops that are desynchronised, as indices in [`Cfg::loops`], outer before inner.
    pub fn desynchronised_loops(&self) -> impl Iterator<Item = usize> {
        self.desynchronised.ones()
    }

    /// Whether a verdict rests on every work-group having the size of `reqd_work_group_size`; a
    /// launch whose range is no multiple of it must then be refused.
    pub fn assumes_whole_groups(&self) -> bool {
        self.whole_groups.get()
    }

    /// Whether a load or a branch in a loop is the same for all lanes here that is not in another
    /// result for the same function. Elsewhere a version of the kernel saves too few instructions
    /// to pay for another piece of code in the instruction caches.
    pub fn gains_over(&self, other: &Uniformity) -> bool {
        let in_loop = |b: &Index| self.cfg.loops.iter().any(|l| l.members.contains(*b));
        let loaded = |v: &Value| {
            let load = v.is_instruction() && v.opcode() == Op::LLVMLoad && !self.varying.contains_key(v);
            load && self.cfg.index.get(&v.parent()).is_some_and(in_loop)
        };
        let branched = |b: &Index| !self.divergent_branches.contains(b) && in_loop(b);
        other.varying.keys().any(loaded) || other.divergent_branches.iter().any(branched)
    }

    /// The graph the analysis ran on.
    pub fn cfg(&self) -> &Cfg {
        &self.cfg
    }
}

struct Analysis {
    result: Uniformity,
    facts: Facts,
    worklist: VecDeque<Value>,
    required: Option<[u32; 3]>,
    /// The kernel may write global memory (through anything but provably other objects).
    writes_global: bool,
    /// Loops that lanes leave at different times: what leaves them is marked.
    left: fixedbitset::FixedBitSet,
    /// By block, which way lanes of the branch under consideration have come there: large functions have many branches whose
    /// lanes pass through most of their blocks, so this is no map. [`NOT_REACHED`] between branches.
    label: Vec<Index>,
    /// The blocks with a label.
    reached: Vec<Index>,
}

/// No lane of a branch comes there before all are back together.
const NOT_REACHED: Index = Index::MAX;

/// Analyses a function with a body, in LCSSA form.
pub fn analyze(function: Value, facts: Facts) -> Uniformity {
    let cfg = Cfg::new(function);
    let (n, loops) = (cfg.blocks.len(), cfg.loops.len());
    let mut analysis = Analysis {
        result: Uniformity {
            cfg,
            varying: FxHashMap::default(),
            momentary: FxHashSet::default(),
            whole_groups: Default::default(),
            divergent_branches: FxHashSet::default(),
            partial: fixedbitset::FixedBitSet::with_capacity(n),
            desynchronised: fixedbitset::FixedBitSet::with_capacity(loops),
        },
        left: fixedbitset::FixedBitSet::with_capacity(loops),
        label: vec![NOT_REACHED; n],
        reached: Vec::new(),
        worklist: VecDeque::new(),
        facts,
        required: required_work_group_size(function),
        writes_global: false,
    };
    analysis.seed(function);
    while let Some(value) = analysis.worklist.pop_front() {
        analysis.propagate(value);
    }
    analysis.find_momentary();
    analysis.result
}

impl Analysis {
    fn mark(&mut self, value: Value, reason: Reason) {
        if let std::collections::hash_map::Entry::Vacant(entry) = self.result.varying.entry(value) {
            entry.insert(reason);
            self.worklist.push_back(value);
        }
    }

    fn seed(&mut self, function: Value) {
        // Arguments of launches are uniform (S3), constants too. A function that is called may be
        // called with some lanes idle.
        if !ir::entered_by_launch(function) {
            ir::params(function).into_iter().for_each(|p| self.mark(p, Reason::Argument));
            self.result.partial.insert_range(..);
        }
        let blocks = self.result.cfg.blocks.clone();
        self.writes_global = blocks.iter().flat_map(|b| b.instructions()).any(may_write_global);
        for block in &blocks {
            for instruction in block.instructions() {
                if let Some(reason) = self.source(instruction) {
                    self.mark(instruction, reason);
                }
            }
        }
    }

    /// The reason if an instruction is a source of divergence whatever its operands.
    fn source(&self, i: Value) -> Option<Reason> {
        match i.opcode() {
            Op::LLVMAtomicRMW | Op::LLVMAtomicCmpXchg => Some(Reason::Atomic),
            Op::LLVMLoad => {
                let plain = !i.is_volatile() && !i.is_atomic_access();
                let pointer = i.operand(0);
                let private = matches!(pointer.address_space(), GENERIC | PRIVATE);
                let shared = !private || is_by_value_argument(pointer);
                (!(plain && shared)).then_some(Reason::Memory)
            }
            Op::LLVMCall => match builtins::of_call(i) {
                Some(Builtin::Query(q)) => {
                    if q.is_uniform() {
                        return None;
                    }
                    (!self.one_id(q, i)).then_some(Reason::Id)
                }
                Some(Builtin::Barrier | Builtin::Fence | Builtin::PrintfRoom) => None,
                Some(Builtin::Ballot | Builtin::Clock) => None,
                // One lane's value would have to be moved to a scalar register, which costs more
                // than it saves in the loops of sub-group functions.
                Some(Builtin::Shuffle) => Some(Reason::Call),
                None => {
                    let name = i.called_name();
                    let same = name.starts_with("llvm.") || builtins::is_image_query(&name);
                    (!same && !i.is_void()).then_some(Reason::Call)
                }
            },
            Op::LLVMVAArg | Op::LLVMInvoke | Op::LLVMCallBr => Some(Reason::Call),
            _ => None,
        }
    }

    /// Whether an id has one value in a warp, by the work-group size that the kernel requires.
    fn one_id(&self, q: Query, call: Value) -> bool {
        if !matches!(q, Query::LocalId | Query::GlobalId | Query::RelativeId) {
            return false;
        }
        let Some(d) = call.operand(0).as_constant_int() else { return false };
        if d > 0 && self.facts.rows_fill_warps {
            return true;
        }
        let Some(required) = self.required else { return false };
        let d = d as usize;
        let before: u32 = required.iter().take(d).product();
        if required.get(d).is_none_or(|size| *size == 1) {
            return true;
        }
        let fills = d > 0 && before.is_multiple_of(self.facts.warp_size);
        self.result.whole_groups.set(self.result.whole_groups.get() || fills);
        fills
    }

    /// Whether an instruction gives all active lanes the same of operands that vary.
    fn gives_one_value(&self, user: Value) -> bool {
        if user.opcode() != Op::LLVMCall {
            return user.operand_count() == 2 && self.warp_number(user);
        }
        builtins::of_call(user) == Some(Builtin::Ballot)
    }

    /// Whether an instruction divides a local id by so much that a warp has one result:
    /// `get_local_id(0) / k` and shifts.
    fn warp_number(&self, i: Value) -> bool {
        let divisor = match (i.opcode(), i.operand(1).as_constant_int()) {
            (Op::LLVMLShr | Op::LLVMAShr, Some(s)) if s < 32 => 1u64 << s,
            (Op::LLVMUDiv | Op::LLVMSDiv, Some(k)) => k,
            _ => return false,
        };
        let warp = u64::from(self.facts.warp_size);
        let mut id = i.operand(0);
        while id.is_instruction() && matches!(id.opcode(), Op::LLVMZExt | Op::LLVMSExt | Op::LLVMTrunc) {
            // Local ids are below 2^16 on any machine: sign and upper bits do not matter down to 32
            // bits.
            if id.integer_bits() < 32 {
                return false;
            }
            id = id.operand(0);
        }
        if divisor == 0 || divisor % warp != 0 || !id.is_instruction() || id.opcode() != Op::LLVMCall {
            return false;
        }
        match builtins::of_call(id) {
            Some(Builtin::Query(Query::LocalLinearId)) => true,
            Some(Builtin::Query(Query::LocalId)) if self.facts.rows_fill_warps => id.operand(0).as_constant_int() == Some(0),
            Some(Builtin::Query(Query::LocalId)) => {
                let Some([x, y, z]) = self.required else { return false };
                let fills = id.operand(0).as_constant_int() == Some(0) && u64::from(x) % warp == 0;
                // A row cut short shifts the rows after it.
                self.result.whole_groups.set(self.result.whole_groups.get() || fills && y * z > 1);
                fills
            }
            _ => false,
        }
    }

    /// Loads of memory that may be written, ballots of the active lanes, reads of the clock, and
    /// everything not varying that depends on them.
    fn find_momentary(&mut self) {
        let of_the_moment = |i: &Value| match i.opcode() {
            Op::LLVMLoad => !reads_constant(*i, self.writes_global),
            Op::LLVMCall => matches!(builtins::of_call(*i), Some(Builtin::Ballot | Builtin::Clock)),
            _ => false,
        };
        let instructions = self.result.cfg.blocks.iter().flat_map(|b| b.instructions());
        let mut stack: Vec<Value> = instructions.filter(of_the_moment).collect();
        while let Some(v) = stack.pop() {
            if !self.result.varying.contains_key(&v) && self.result.momentary.insert(v) {
                stack.extend(v.users().filter(|u| u.is_instruction()));
            }
        }
    }

    fn propagate(&mut self, value: Value) {
        let users: Vec<Value> = value.users().collect();
        for user in users {
            if !user.is_instruction() || !self.result.cfg.index.contains_key(&user.parent()) {
                continue;
            }
            if user.is_terminator() {
                self.divergent_branch(user.parent());
            } else if !self.gives_one_value(user) {
                self.mark(user, Reason::Operand(value));
            }
        }
    }

    fn divergent_branch(&mut self, block: BlockRef) {
        let b = self.result.cfg.index[&block];
        if self.result.cfg.succs[b].len() < 2 || !self.result.divergent_branches.insert(b) {
            return;
        }
        for j in self.joins(b) {
            self.mark_phis(j, Reason::Join(b), None);
        }
        self.mark_left_loops(b);
        for x in self.reached.drain(..) {
            self.label[x] = NOT_REACHED;
        }
    }

    /// Marks the phis of a block. `left`: the loop that lanes leave here at different times.
    fn mark_phis(&mut self, block: Index, reason: Reason, left: Option<usize>) {
        let cfg = &self.result.cfg;
        let mut marked = Vec::new();
        let phis: Vec<Value> = self.result.cfg.blocks[block].instructions().take_while(|i| i.opcode() == Op::LLVMPHI).collect();
        for phi in phis {
            // The same value on every path is no choice. (Undefined inputs may be taken as that
            // value.)
            let mut values = phi.incoming().map(|(v, _)| v).filter(|v| *v != phi);
            let first = values.next();
            let same = values.all(|v| Some(v) == first);
            // What is defined outside the loop is the same in whatever iteration a lane leaves.
            let no_choice = |v: Value| match left {
                Some(l) => !v.is_instruction() || !cfg.index.get(&v.parent()).is_some_and(|b| cfg.loops[l].members.contains(*b)),
                None => true,
            };
            if same && first.is_some_and(no_choice) {
                continue;
            }
            marked.push(phi);
        }
        for phi in marked {
            self.mark(phi, reason);
        }
    }

    /// Blocks where paths from different successors of `b` meet. All blocks on the way get a label, and are partial; lanes are
    /// back together at the post-dominator, which is among those with a label as well.
    fn joins(&mut self, b: Index) -> Vec<Index> {
        let Analysis { result: Uniformity { cfg, partial, .. }, label, reached, .. } = self;
        let stop = cfg.ipdom[b];
        let mut joins: Vec<Index> = Vec::new();
        let mut queue: VecDeque<Index> = VecDeque::new();
        for &s in &cfg.succs[b] {
            label[s] = s;
            reached.push(s);
            queue.push_back(s);
        }
        while let Some(x) = queue.pop_front() {
            // Every lane is back at the post-dominator; nothing beyond it joins because of this
            // branch.
            if Some(x) == stop || x == b {
                continue;
            }
            let l = label[x];
            for &s in &cfg.succs[x] {
                match label[s] {
                    NOT_REACHED => {
                        label[s] = l;
                        reached.push(s);
                        queue.push_back(s);
                    }
                    old if old == l => {}
                    // The label of a join, or of a successor of the branch, is its own.
                    old => {
                        joins.push(s);
                        if old != s {
                            label[s] = s;
                            queue.push_back(s);
                        }
                    }
                }
            }
        }
        partial.extend(reached.iter().copied().filter(|x| Some(*x) != stop));
        joins.sort_unstable();
        joins.dedup();
        joins
    }

    /// Marks what the divergent branch of `b` makes varying beyond its joins: values that leave
    /// loops in different iterations (S4), and everything in loops that it desynchronises. Each loop is marked once.
    fn mark_left_loops(&mut self, b: Index) {
        for id in 0..self.result.cfg.loops.len() {
            let (cfg, l) = (&self.result.cfg, &self.result.cfg.loops[id]);
            if self.result.desynchronised.contains(id) || !l.members.contains(b) {
                continue;
            }
            let desynchronised = match cfg.ipdom[b] {
                _ if l.irreducible => true,
                // Some lanes begin another iteration while others wait in the loop.
                Some(p) if l.members.contains(p) => p != l.header && self.label[l.header] != NOT_REACHED,
                // Lanes of two sides do. (From every member of a loop a path leads to its header.)
                _ => cfg.succs[b].iter().filter(|s| l.members.contains(**s)).count() >= 2,
            };
            let leaves = desynchronised || cfg.ipdom[b].is_none_or(|p| !l.members.contains(p));
            if leaves && !self.left.put(id) {
                let exits: Vec<Index> =
                    l.members.ones().flat_map(|m| cfg.succs[m].iter().copied()).filter(|s| !l.members.contains(*s)).collect();
                for exit in exits {
                    self.mark_phis(exit, Reason::Temporal(b), Some(id));
                }
            }
            if desynchronised {
                self.result.desynchronised.insert(id);
                let cfg = &self.result.cfg;
                let members: Vec<Value> =
                    cfg.loops[id].members.ones().flat_map(|m| cfg.blocks[m].instructions()).filter(|i| !i.is_void()).collect();
                for value in members {
                    self.mark(value, Reason::Desynchronised(b));
                }
            }
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(match self {
            Verdict::Uniform => "uniform",
            Verdict::ConditionallyUniform => "conditionally uniform",
            Verdict::Varying => "varying",
        })
    }
}

/// Prints the verdict on every value and branch of a function: one line each, stable, for tests and
/// for reading.
///
/// # Errors
/// What the writer reports.
pub fn print(function: Value, facts: Facts, out: &mut dyn Write) -> Result<(), PassError> {
    let result = analyze(function, facts);
    writeln!(out, "uniformity of '{}':", function.name())?;
    for (index, block) in result.cfg.blocks.iter().enumerate() {
        writeln!(out, "block {}:", result.block_name(index))?;
        for i in block.instructions() {
            let text = i.text();
            let text = text.split(", !dbg").next().unwrap_or_default();
            if i.is_terminator() {
                if result.cfg.succs[index].len() > 1 {
                    let kind = if result.branch_is_divergent(index) { "divergent branch" } else { "uniform branch" };
                    writeln!(out, "  {kind}: {text}")?;
                }
            } else if !i.is_void() {
                let why = result.reason(i).map_or(String::new(), |r| format!(" ({})", result.describe(r)));
                writeln!(out, "  {}{why}: {text}", result.verdict(i))?;
            }
        }
    }
    Ok(())
}

impl Uniformity {
    fn block_name(&self, block: Index) -> String {
        let name = self.cfg.blocks[block].name();
        if name.is_empty() { format!("#{block}") } else { name }
    }

    /// A reason in words.
    fn describe(&self, reason: Reason) -> String {
        match reason {
            Reason::Argument => "argument of a function that is called".into(),
            Reason::Id => "work-item id".into(),
            Reason::Memory => "memory".into(),
            Reason::Atomic => "atomic".into(),
            Reason::Call => "unknown call".into(),
            Reason::Operand(v) => format!("operand %{}", v.label()),
            Reason::Join(b) => format!("join of the divergent branch in {}", self.block_name(b)),
            Reason::Temporal(b) => format!("leaves a loop with a divergent exit, branch in {}", self.block_name(b)),
            Reason::Desynchronised(b) => format!("loop desynchronised by the branch in {}", self.block_name(b)),
        }
    }
}

/// Name of the metadata that [`annotate`] attaches.
pub const METADATA: &str = "heddle.uniformity";

/// Attaches the verdict to every instruction of a function that has a value, as `!heddle.uniformity
/// !{!"uniform"}`, and to its conditional branches (`uniform` or `varying`). The metadata survives
/// a round trip through text and bitcode.
pub fn annotate(function: Value, facts: Facts) {
    let result = analyze(function, facts);
    let writer = Writer::of_function(function);
    for (index, block) in result.cfg.blocks.iter().enumerate() {
        for i in block.instructions() {
            let verdict = if i.is_terminator() {
                match (result.cfg.succs[index].len() > 1, result.branch_is_divergent(index)) {
                    (false, _) => continue,
                    (true, true) => Verdict::Varying,
                    (true, false) => Verdict::Uniform,
                }
            } else if i.is_void() {
                continue;
            } else {
                result.verdict(i)
            };
            writer.attach(i, METADATA, writer.strings(&[verdict.to_string()]));
        }
    }
}
