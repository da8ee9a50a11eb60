//! Loops whose uniform instructions the scalar unit cannot keep up with.
//!
//! # Problem
//! A uniform value that is computed on the scalar unit takes none of the clusters' issue slots and one lane's energy (S5). But
//! where a loop is mostly uniform, and the scalar unit issues fewer instructions a cycle than the clusters together, its slots
//! limit the loop while the clusters idle: a loop of eleven uniform instructions takes a warp eleven scalar slots, or three
//! cycles of four clusters.
//!
//! # Model
//! From the inner loops outwards: the cycles that an iteration of one warp takes if there are warps enough to fill what limits
//! it, which is the most of what the scalar slots, the clusters' slots and the load-store units need. Three choices are
//! compared:
//! - uniform values on the scalar unit,
//! - uniform loads, and what is computed from them, in lanes,
//! - all that is uniform in lanes, as without the scalar unit.
//!
//! The first one stays unless another one saves by [`WORTH`]; of the others the one with fewer values in lanes is taken unless
//! the other one saves by [`BETTER`]. A uniform value that lanes take with them where they leave the loop at different times costs
//! a copy in each iteration. Where accesses of the loop have addresses of ids, whose other part must be scalar, the
//! loop's counters stay where they are. What leaves a loop does so through the phis of LCSSA form, whose inputs are taken from
//! the first lane.
//!
//! What an address of ids adds in each iteration is a counter of the scalar unit; in lanes it is an addition to a pointer. So a
//! loop whose scalar slots are as scarce as its loads' is better off with its pointers in lanes, if that saves by
//! [`WORTH_POINTERS`]: resources that are used alike delay each other, for which the norm of [`Slots::cycles_in_queues`] stands. Addresses
//! that differ by what is known at launch alone share a counter, in lanes by what is known to the compiler alone.
//!
//! # Limits
//! How many warps a launch has is not known here; with few, latencies count, which are shorter on the scalar unit. The energy of
//! the lanes is not weighed against the time. Loops with uniform instructions that occupy a unit for several cycles (divisions,
//! special functions, 64-bit floats) stay as they are; an irreducible region counts as part of the loop around it.
//!
//! Reads LLVM IR and the analyses.

use heddle_isa::OpClass;
use heddle_llvm_passes::global_id::{GlobalIds, Offsets};
use heddle_llvm_passes::ir::cfg::{Cfg, Index, Loop};
use heddle_llvm_passes::ir::types::Type;
use heddle_llvm_passes::ir::{BlockRef, Value};
use heddle_llvm_passes::polynomial::{Poly, Symbol};
use heddle_llvm_passes::uniformity::Uniformity;
use heddle_target::Machine;
use inkwell::llvm_sys::{LLVMOpcode::*, LLVMTypeKind};
use rustc_hash::FxHashSet;

/// What the schedulers of an SM issue in a cycle at most.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct IssueRates {
    /// Instructions of the scalar unit.
    pub scalar: f64,
    /// Instructions of clusters: simple ones, of integers.
    pub vector: f64,
    /// Loads and stores.
    pub load_store: f64,
}

impl IssueRates {
    /// Of a machine: units that are busy for several cycles with an instruction take one in as many.
    pub fn of(machine: &Machine) -> IssueRates {
        let schedulers = f64::from(machine.sm.schedulers.max(1));
        let width = if machine.sm.issue_width > 0 { f64::from(machine.sm.issue_width) } else { f64::INFINITY };
        let rate = |class: OpClass| {
            let Some(timing) = machine.timing.get(&class) else { return 1.0 };
            let unit = timing.unit;
            let serves = |c: &usize| machine.cluster_units(*c).contains(&unit) && machine.shared_unit(*c, unit).is_none();
            let own = (0..machine.clusters.len()).filter(serves).count() as f64 * schedulers;
            let shared = machine.shared_units.iter().filter(|s| s.units.contains(&unit)).count() as f64;
            ((own + shared) / f64::from(timing.interval.max(1))).min(schedulers * width)
        };
        IssueRates {
            scalar: schedulers * f64::from(machine.sm.scalar_issue),
            vector: rate(OpClass::Int32),
            load_store: rate(OpClass::LoadGlobal),
        }
    }
}

/// Times that a loop's body runs for each time that it is entered, as in the address-cost model.
const ITERATIONS: f64 = 8.0;
/// What is to be gained at least: the quotient of an iteration's cycles.
const WORTH: f64 = 1.05;
/// What is to be gained at least by more values in lanes.
const BETTER: f64 = 1.1;
/// What is to be gained at least by pointers in lanes instead of addresses of ids. Any value from 1.04 to 1.1 gives large launches on
/// `machines/mixed.toml` the same cycles within 0.1 %; less makes box filters and sparse products a little slower.
const WORTH_POINTERS: f64 = 1.1;
/// How little resources delay each other that are not needed equally long.
const SHARPNESS: i32 = 8;

/// Issue slots of an iteration.
#[derive(Clone, Copy, Default)]
struct Slots {
    /// Instructions of the scalar unit.
    scalar: f64,
    /// The others.
    vector: f64,
    /// Loads and stores among the others.
    accesses: f64,
}

impl Slots {
    /// Cycles of each resource.
    fn of_resources(&self, rates: &IssueRates) -> [f64; 3] {
        [self.scalar / rates.scalar, self.vector / rates.vector, self.accesses / rates.load_store]
    }

    /// Cycles of what limits it.
    fn cycles(&self, rates: &IssueRates) -> f64 {
        self.of_resources(rates).into_iter().fold(0.0, f64::max)
    }

    /// The same, and a little more where something else is needed nearly as long.
    fn cycles_in_queues(&self, rates: &IssueRates) -> f64 {
        self.of_resources(rates).iter().map(|c| c.powi(SHARPNESS)).sum::<f64>().powf(1.0 / f64::from(SHARPNESS))
    }
}

/// Uniform values that are better computed in lanes. Accesses that should not have addresses of ids for the same reason lose
/// them.
pub(crate) fn overload(
    kernel: Value,
    uniformity: &Uniformity,
    ids: &mut GlobalIds,
    rates: Option<&IssueRates>,
) -> FxHashSet<Value> {
    let mut in_lanes = FxHashSet::default();
    let Some(rates) = rates.filter(|r| r.vector > r.scalar) else { return in_lanes };
    let cfg = uniformity.cfg();
    let for_addresses = only_for_addresses(cfg);
    let mut offsets = Offsets::new(kernel, uniformity);
    // Outer loops stand before inner ones.
    for l in cfg.loops.iter().rev().filter(|l| !l.irreducible) {
        let body: Vec<Value> = l.members.ones().flat_map(|b| cfg.blocks[b].instructions()).collect();
        let uniform: Vec<Value> = body.iter().copied().filter(|i| uniformity.is_uniform(*i) && !i.is_void()).collect();
        if uniform.iter().any(|i| occupies_for_long(*i)) {
            continue;
        }
        let addresses = addresses(&body, &mut offsets);
        let leaving = leave_by_lane(cfg, l, uniformity, &uniform);
        let slots_of = |chosen: &FxHashSet<Value>, of_ids: &dyn Fn(Value) -> bool| {
            let is_scalar = |i: Value| !i.is_void() && uniformity.is_uniform(i) && !in_lanes.contains(&i) && !chosen.contains(&i);
            let mut slots = slots(cfg, l, |i| !for_addresses.contains(&i), is_scalar);
            let [vector, scalar] = counters(&addresses, cfg.blocks[l.header], of_ids, &is_scalar);
            slots.vector += vector;
            slots.scalar += scalar + leaving.iter().filter(|(i, _)| is_scalar(*i)).map(|(_, weight)| weight).sum::<f64>();
            slots
        };
        let none = FxHashSet::default();
        let (with_ids, pointers) = (slots_of(&none, &|i| ids.accesses.contains_key(&i)), slots_of(&none, &|_| false));
        if innermost(cfg, l) && with_ids.cycles_in_queues(rates) > WORTH_POINTERS * pointers.cycles_in_queues(rates) {
            ids.leave_out(&body);
        }
        let has_id = |i: Value| ids.accesses.contains_key(&i);
        let cycles = |chosen: &FxHashSet<Value>| slots_of(chosen, &has_id).cycles(rates);
        let now = cycles(&none);
        let loaded = with_users(cfg, l, &uniform, |i| i.opcode() == LLVMLoad);
        let all = with_users(cfg, l, &uniform, |_| true);
        let of_loaded = cycles(&loaded);
        let of_all = if body.iter().any(|i| has_id(*i)) { f64::INFINITY } else { cycles(&all) };
        if now > WORTH * of_loaded && of_loaded <= BETTER * of_all {
            in_lanes.extend(loaded);
        } else if now > WORTH * of_all {
            in_lanes.extend(all);
        }
    }
    in_lanes
}

/// Whether a loop has no other one inside.
fn innermost(cfg: &Cfg, l: &Loop) -> bool {
    cfg.loops.iter().all(|other| other.header == l.header || !l.members.contains(other.header))
}

/// Uniform values of a loop that lanes take with them which leave it at different times: each iteration copies them to lanes,
/// as often as it executes their blocks.
fn leave_by_lane(cfg: &Cfg, l: &Loop, uniformity: &Uniformity, uniform: &[Value]) -> Vec<(Value, f64)> {
    let outside = |u: &Value| cfg.index.get(&u.parent()).is_some_and(|b| !l.members.contains(*b));
    let by_lane = |u: Value| u.is_instruction() && u.opcode() == LLVMPHI && outside(&u) && !uniformity.is_uniform(u);
    let leaving = uniform.iter().copied().filter(|i| i.users().any(by_lane));
    leaving.map(|i| (i, cfg.index.get(&i.parent()).map_or(1.0, |b| executions(cfg, l, *b)))).collect()
}

/// Times that an iteration of a loop executes a block of it.
fn executions(cfg: &Cfg, l: &Loop, block: Index) -> f64 {
    let depth = |b: Index| cfg.loops.iter().filter(|l| l.members.contains(b)).count() as i32;
    ITERATIONS.powi(depth(block) - depth(l.header))
}

/// Uniform values of a loop that are wanted, and those of the loop that are computed from them.
fn with_users(cfg: &Cfg, l: &Loop, uniform: &[Value], wanted: impl Fn(Value) -> bool) -> FxHashSet<Value> {
    let candidates: FxHashSet<Value> = uniform.iter().copied().collect();
    let inside = |v: &Value| cfg.index.get(&v.parent()).is_some_and(|b| l.members.contains(*b));
    let mut open: Vec<Value> = uniform.iter().copied().filter(|i| wanted(*i)).collect();
    let mut found = FxHashSet::default();
    while let Some(v) = open.pop() {
        if found.insert(v) {
            open.extend(v.users().filter(|u| candidates.contains(u) && inside(u)));
        }
    }
    found
}

/// Instructions that are for addresses alone. Strength reduction leaves a step of each pointer of them.
fn only_for_addresses(cfg: &Cfg) -> FxHashSet<Value> {
    let mut found = FxHashSet::default();
    // Users, but for phis, come behind what they use.
    for b in cfg.rpo.iter().rev() {
        let instructions: Vec<Value> = cfg.blocks[*b].instructions().collect();
        for i in instructions.into_iter().rev() {
            let is_used = |found: &FxHashSet<Value>| {
                i.users().all(|u| u.is_instruction() && (u.opcode() == LLVMGetElementPtr || found.contains(&u)))
            };
            if i.opcode() == LLVMGetElementPtr
                || i.integer_bits() > 0 && i.opcode() != LLVMLoad && i.has_uses() && is_used(&found)
            {
                found.insert(i);
            }
        }
    }
    found
}

/// The address of an access of a loop.
struct Stepped {
    access: Value,
    pointer: Value,
    /// The memory, and its offset there if that can be said.
    place: Result<(u32, Poly), Value>,
}

/// The addresses of a loop's accesses, if they have indices.
fn addresses(body: &[Value], offsets: &mut Offsets) -> Vec<Stepped> {
    let mut result = Vec::new();
    for access in body.iter().copied().filter(|i| matches!(i.opcode(), LLVMLoad | LLVMStore)) {
        let pointer = access.operand(if access.opcode() == LLVMStore { 1 } else { 0 });
        let (mut root, mut indexed) = (pointer, false);
        while root.is_instruction() && root.opcode() == LLVMGetElementPtr {
            indexed |= (1..root.operand_count()).any(|k| !root.operand(k).is_constant());
            root = root.operand(0);
        }
        if indexed {
            let place = offsets.of(pointer).map_err(|_| root);
            result.push(Stepped { access, pointer, place });
        }
    }
    result
}

/// What steps in a loop for its addresses: additions in lanes, and on the scalar unit.
fn counters(
    addresses: &[Stepped],
    header: BlockRef,
    of_ids: &dyn Fn(Value) -> bool,
    is_scalar: &dyn Fn(Value) -> bool,
) -> [f64; 2] {
    let mut known: [FxHashSet<Poly>; 2] = Default::default();
    let mut others: [FxHashSet<Value>; 2] = Default::default();
    for Stepped { access, pointer, place } in addresses {
        let with_id = of_ids(*access);
        match place {
            Ok((_, offset)) if offset.mentions(Symbol::Iteration(header)) => {
                // What ids and launches give is in the surface, what the compiler knows in the instruction.
                let kind = usize::from(with_id || is_scalar(*pointer));
                known[kind].insert(if with_id { offset.of_program() } else { offset.without_constant() });
            }
            Ok(_) => {}
            Err(root) => drop(others[usize::from(is_scalar(*access))].insert(*root)),
        }
    }
    [0, 1].map(|kind| (known[kind].len() + others[kind].len()) as f64)
}

/// What an iteration issues without its addresses, if some of its instructions run on the scalar unit.
fn slots(cfg: &Cfg, l: &Loop, counts: impl Fn(Value) -> bool, is_scalar: impl Fn(Value) -> bool) -> Slots {
    let mut all = Slots::default();
    for b in l.members.ones() {
        let weight = executions(cfg, l, b);
        for i in cfg.blocks[b].instructions().filter(|i| counts(*i)) {
            let slots = weight * issues(i);
            if is_scalar(i) {
                all.scalar += slots;
            } else {
                all.vector += slots;
                all.accesses += if matches!(i.opcode(), LLVMLoad | LLVMStore) { slots } else { 0.0 };
            }
        }
    }
    all
}

/// About how many instructions of the machine an instruction becomes. Branches are the front end's; phis are copies at most, of
/// which coalescing takes most away.
fn issues(i: Value) -> f64 {
    let elements = Type(i.ty()).element_count().max(1) as f64;
    match i.opcode() {
        LLVMLoad | LLVMStore => 1.0,
        LLVMPHI | LLVMBr | LLVMSwitch | LLVMRet | LLVMUnreachable | LLVMAlloca | LLVMFreeze => 0.0,
        LLVMTrunc | LLVMZExt | LLVMBitCast | LLVMPtrToInt | LLVMIntToPtr | LLVMAddrSpaceCast => 0.0,
        LLVMExtractElement | LLVMInsertElement | LLVMShuffleVector | LLVMExtractValue | LLVMInsertValue => 0.0,
        // Others are queries, which are special registers, or markers.
        LLVMCall if !is_simple_intrinsic(i) => 0.0,
        _ => elements,
    }
}

/// Whether an instruction that is computed in lanes keeps its unit busy for several cycles.
fn occupies_for_long(i: Value) -> bool {
    let element = |v: Value| Type(v.ty()).element().unwrap_or(Type(v.ty()));
    let double = |v: Value| element(v).kind() == LLVMTypeKind::LLVMDoubleTypeKind;
    match i.opcode() {
        LLVMUDiv | LLVMSDiv | LLVMURem | LLVMSRem | LLVMFDiv | LLVMFRem => true,
        LLVMFAdd | LLVMFSub | LLVMFMul | LLVMFNeg | LLVMFCmp | LLVMFPToSI | LLVMFPToUI | LLVMFPTrunc => double(i.operand(0)),
        LLVMMul => element(i).integer_bits() > 32,
        LLVMCall => i.called_name().starts_with("llvm.") && !is_simple_intrinsic(i) || double(i),
        _ => double(i),
    }
}

/// Whether a call is of an intrinsic that becomes an instruction or two of an arithmetic unit.
fn is_simple_intrinsic(i: Value) -> bool {
    const SIMPLE: [&str; 13] = [
        "abs.",
        "copysign.",
        "fabs.",
        "fma.",
        "fmuladd.",
        "fshl.",
        "fshr.",
        "maxnum.",
        "minnum.",
        "smax.",
        "smin.",
        "umax.",
        "umin.",
    ];
    let name = i.called_name();
    name.strip_prefix("llvm.").is_some_and(|rest| SIMPLE.iter().any(|s| rest.starts_with(s)))
}
