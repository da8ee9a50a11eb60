//! Which accesses should have addresses of ids, of those that can (G5).
//!
//! # Problem
//! An address that the address-generation unit makes is free only where all of it is ids times
//! strides. What is left over is computed on the scalar unit, and the arithmetic that the program
//! has for the address goes away only if nothing else needs it.
//!
//! # Model
//! The cost of a choice is what is executed for addresses: instructions of the program that some
//! kept address or anything else needs, and the operations of each uniform part, where selection
//! puts them (on entry, or in the block of the access, outside of loops that do not change it). An
//! operation counts as often as its block is run by the usual estimate, eight times for a loop. A
//! vector operation costs 1, a scalar one less, because it issues beside others, and an access to a
//! surface a little, for the unit's latency and energy.
//!
//! # Algorithm
//! From the better of all and none, the access, or group of accesses of one view, whose change
//! saves most is changed, until none saves anything. The cost of a choice is found by marking what
//! is needed, as dead code elimination does, so that loops of phis die together.
//!
//! # Limits
//! Registers count only as operations; the scheduler's and the allocator's troubles are not
//! foreseen.
//!
//! Reads LLVM IR and [`crate::uniformity`].

use inkwell::llvm_sys::LLVMOpcode::*;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::builtins::{self, Builtin, Query};
use crate::ir::layout::{GepStep, Layout};
use crate::ir::{BlockRef, Value};
use crate::polynomial::{Poly, Symbol};
use crate::uniformity::Uniformity;

/// Cost of a scalar operation.
const SCALAR: f64 = 0.75;
/// Cost of making an address in the address-generation unit.
const SURFACE: f64 = 0.05;
/// Times that a loop's body runs for each time that it is entered.
const ITERATIONS: f64 = 8.0;
/// Accesses up to which each is looked at alone, too.
const MOST_SINGLE: usize = 48;

/// An access that can have an address of ids.
pub(crate) struct Candidate<'a> {
    /// Load, store or atomic.
    pub access: Value,
    /// Its address.
    pub pointer: Value,
    /// View that it would be on.
    pub view: usize,
    /// What is added to ids times strides.
    pub uniform: &'a Poly,
}

/// Which candidates should have addresses of ids.
pub(crate) fn choose(candidates: &[Candidate], layout: &Layout, uniformity: &Uniformity) -> Vec<bool> {
    let graph = Graph::new(candidates, layout, uniformity);
    let mut groups: Vec<Vec<usize>> = Vec::new();
    let views: FxHashSet<usize> = candidates.iter().map(|c| c.view).collect();
    let mut views: Vec<usize> = views.into_iter().collect();
    views.sort_unstable();
    groups.extend(views.iter().map(|v| (0..candidates.len()).filter(|i| candidates[*i].view == *v).collect()));
    if candidates.len() <= MOST_SINGLE {
        groups.extend((0..candidates.len()).map(|i| vec![i]));
    }
    let (all, none) = (vec![true; candidates.len()], vec![false; candidates.len()]);
    let (mut best, mut cost) = (none, graph.cost(&vec![false; candidates.len()]));
    let of_all = graph.cost(&all);
    if of_all < cost {
        (best, cost) = (all, of_all);
    }
    for _ in 0..groups.len() {
        let changes = groups.iter().flat_map(|g| [true, false].map(|to| (g, to)));
        let changed = |(group, to): (&Vec<usize>, bool)| {
            let mut choice = best.clone();
            group.iter().for_each(|i| choice[*i] = to);
            (graph.cost(&choice), choice)
        };
        let Some((lower, choice)) = changes.map(changed).min_by(|a, b| a.0.total_cmp(&b.0)) else { break };
        if lower >= cost - 1e-6 {
            break;
        }
        (best, cost) = (choice, lower);
    }
    best
}

/// An instruction that addresses are made of.
struct Node {
    /// Cost of all its executions.
    cost: f64,
    /// Nodes that it reads.
    operands: Vec<usize>,
}

/// What a candidate costs besides nodes.
struct Parts {
    /// Node of its address, if that is no argument.
    pointer: Option<usize>,
    /// Adding uniform and varying offset, if the address keeps its arithmetic.
    addition: f64,
    /// Parts of what is added to ids times strides, by number.
    uniform: Vec<usize>,
    /// The access of a surface.
    surface: f64,
}

/// The arithmetic of all candidates' addresses.
struct Graph {
    nodes: Vec<Node>,
    /// Nodes that are needed whatever the choice.
    needed: Vec<usize>,
    parts: Vec<Parts>,
    /// Costs of the parts that are added to ids times strides; each is computed once.
    uniform_costs: Vec<f64>,
}

/// What a pointer adds to its root: a uniform word, a varying one.
#[derive(Clone, Copy, Default)]
struct Offsets {
    uniform: bool,
    varying: bool,
}

/// Building a [`Graph`].
struct Construction<'a> {
    layout: &'a Layout,
    uniformity: &'a Uniformity,
    graph: Graph,
    numbers: FxHashMap<Value, usize>,
    values: Vec<Value>,
    offsets: FxHashMap<Value, Offsets>,
}

impl Graph {
    fn new(candidates: &[Candidate], layout: &Layout, uniformity: &Uniformity) -> Graph {
        let graph = Graph { nodes: Vec::new(), needed: Vec::new(), parts: Vec::new(), uniform_costs: Vec::new() };
        let (numbers, values) = Default::default();
        let mut c = Construction { layout, uniformity, graph, numbers, values, offsets: FxHashMap::default() };
        let mut uniform: FxHashMap<(Poly, Option<BlockRef>), usize> = FxHashMap::default();
        for candidate in candidates {
            let pointer = c.node(candidate.pointer);
            let times = frequency(uniformity, candidate.access.parent());
            let Offsets { uniform: a, varying: b } = c.offsets(candidate.pointer);
            let addition = if a && b { times } else { 0.0 };
            let parts = c.uniform_parts(candidate, &mut uniform);
            c.graph.parts.push(Parts { pointer, addition, uniform: parts, surface: SURFACE * times });
        }
        let accesses: FxHashSet<Value> = candidates.iter().map(|c| c.access).collect();
        c.graph.needed = (0..c.values.len()).filter(|n| c.used_elsewhere(c.values[*n], &accesses)).collect();
        c.graph
    }

    /// The cost of a choice.
    fn cost(&self, choice: &[bool]) -> f64 {
        let mut cost = 0.0;
        let mut live = vec![false; self.nodes.len()];
        let mut computed = vec![false; self.uniform_costs.len()];
        let mut stack = self.needed.clone();
        for (parts, on_surface) in self.parts.iter().zip(choice) {
            if *on_surface {
                cost += parts.surface;
                for &part in &parts.uniform {
                    cost += if computed[part] { 0.0 } else { self.uniform_costs[part] };
                    computed[part] = true;
                }
            } else {
                cost += parts.addition;
                stack.extend(parts.pointer);
            }
        }
        while let Some(n) = stack.pop() {
            if !std::mem::replace(&mut live[n], true) {
                cost += self.nodes[n].cost;
                stack.extend(&self.nodes[n].operands);
            }
        }
        cost
    }
}

/// How often a block is run, for each time that the kernel is.
fn frequency(uniformity: &Uniformity, block: BlockRef) -> f64 {
    let cfg = uniformity.cfg();
    let Some(at) = cfg.index.get(&block) else { return 0.0 };
    let depth = cfg.loops.iter().filter(|l| l.members.contains(*at)).count();
    ITERATIONS.powi(depth as i32)
}

impl Construction<'_> {
    /// The node of a value, with those that it needs; `None` if it is no arithmetic of addresses.
    fn node(&mut self, v: Value) -> Option<usize> {
        if let Some(n) = self.numbers.get(&v) {
            return Some(*n);
        }
        if !v.is_instruction() || !is_arithmetic(v) {
            return None;
        }
        let number = self.values.len();
        self.numbers.insert(v, number);
        self.values.push(v);
        let cost = self.operations(v) * frequency(self.uniformity, v.parent());
        self.graph.nodes.push(Node { cost, operands: Vec::new() });
        let sources: Vec<Value> =
            if v.opcode() == LLVMPHI { v.incoming().map(|(x, _)| x).collect() } else { v.operands().collect() };
        let operands = sources.into_iter().filter_map(|x| self.node(x)).collect();
        self.graph.nodes[number].operands = operands;
        Some(number)
    }

    /// The cost of executing an instruction once. Of 64-bit arithmetic only the low word is
    /// computed for an address.
    fn operations(&mut self, v: Value) -> f64 {
        let one = if self.uniformity.is_uniform(v) { SCALAR } else { 1.0 };
        match v.opcode() {
            LLVMTrunc | LLVMZExt | LLVMSExt if v.operand(0).integer_bits() >= 32 => 0.0,
            LLVMFreeze | LLVMBitCast => 0.0,
            LLVMGetElementPtr => self.gep_operations(v),
            // Together with the addition.
            LLVMMul if v.users().count() == 1 && v.users().all(|u| u.is_instruction() && u.opcode() == LLVMAdd) => 0.0,
            LLVMCall => match builtins::of_call(v) {
                Some(Builtin::Query(Query::GlobalLinearId)) => 4.0,
                _ => 0.0,
            },
            _ => one,
        }
    }

    /// The cost of the variable indices of address arithmetic.
    fn gep_operations(&mut self, gep: Value) -> f64 {
        let mut offsets = self.offsets(gep.operand(0));
        let mut cost = 0.0;
        for step in self.layout.gep_steps(gep) {
            let GepStep::Element { index, stride } = step else { continue };
            if index.is_constant() {
                continue;
            }
            let uniform = self.uniformity.is_uniform(index);
            let (part, one) = if uniform { (&mut offsets.uniform, SCALAR) } else { (&mut offsets.varying, 1.0) };
            // The first index of bytes is the offset itself.
            cost += if stride == 1 && !*part { 0.0 } else { one };
            *part = true;
        }
        cost
    }

    fn offsets(&mut self, pointer: Value) -> Offsets {
        if let Some(known) = self.offsets.get(&pointer) {
            return *known;
        }
        if !pointer.is_instruction() {
            return Offsets::default();
        }
        let result = match pointer.opcode() {
            LLVMGetElementPtr => {
                let mut offsets = self.offsets(pointer.operand(0));
                for step in self.layout.gep_steps(pointer) {
                    match step {
                        GepStep::Element { index, .. } if index.is_constant() => {}
                        GepStep::Element { index, .. } if self.uniformity.is_uniform(index) => offsets.uniform = true,
                        GepStep::Element { .. } => offsets.varying = true,
                        GepStep::Field(_) => {}
                    }
                }
                offsets
            }
            LLVMBitCast | LLVMFreeze => self.offsets(pointer.operand(0)),
            _ => {
                let uniform = self.uniformity.is_uniform(pointer);
                Offsets { uniform, varying: !uniform }
            }
        };
        self.offsets.insert(pointer, result);
        result
    }

    /// Whether something other than the candidates' addresses needs a value.
    fn used_elsewhere(&self, v: Value, accesses: &FxHashSet<Value>) -> bool {
        v.users().any(|u| {
            let stored = || u.opcode() == LLVMStore && u.operand(0) == v;
            let for_address = u.is_instruction() && (self.numbers.contains_key(&u) || accesses.contains(&u) && !stored());
            !for_address
        })
    }

    /// The parts of what a candidate adds to ids times strides: what is computed on entry, and what
    /// is computed in its block.
    fn uniform_parts(&mut self, candidate: &Candidate, known: &mut FxHashMap<(Poly, Option<BlockRef>), usize>) -> Vec<usize> {
        let (fixed, here) = candidate.uniform.split_fixed();
        let block = candidate.access.parent();
        let mut parts = Vec::new();
        let additions = usize::from(!fixed.0.is_empty() && !here.0.is_empty());
        let changes = self.changing_frequency(&here, block);
        for (part, place, times, more) in [(fixed, None, 1.0, 0), (here, Some(block), changes, additions)] {
            if part.0.is_empty() {
                continue;
            }
            let cost = SCALAR * (part.operations() + more) as f64 * times;
            let number = *known.entry((part, place)).or_insert_with(|| {
                self.graph.uniform_costs.push(cost);
                self.graph.uniform_costs.len() - 1
            });
            parts.push(number);
        }
        parts
    }

    /// How often a uniform part changes: loops around a block that define none of its values do not
    /// count.
    fn changing_frequency(&self, part: &Poly, block: BlockRef) -> f64 {
        let cfg = self.uniformity.cfg();
        let Some(at) = cfg.index.get(&block) else { return 0.0 };
        let defined: Vec<usize> = part
            .0
            .keys()
            .flatten()
            .filter_map(|s| match s {
                Symbol::Uniform(v) if v.is_instruction() => cfg.index.get(&v.parent()).copied(),
                _ => None,
            })
            .collect();
        let changes = cfg.loops.iter().filter(|l| l.members.contains(*at) && defined.iter().any(|b| l.members.contains(*b)));
        ITERATIONS.powi(changes.count() as i32)
    }
}

/// Whether an instruction may be there for an address only.
fn is_arithmetic(v: Value) -> bool {
    match v.opcode() {
        LLVMGetElementPtr | LLVMAdd | LLVMSub | LLVMMul | LLVMShl | LLVMLShr | LLVMAShr | LLVMAnd | LLVMOr | LLVMXor => true,
        LLVMTrunc | LLVMZExt | LLVMSExt | LLVMFreeze | LLVMBitCast | LLVMPHI | LLVMSelect => true,
        LLVMCall => matches!(builtins::of_call(v), Some(Builtin::Query(_))),
        _ => false,
    }
}
