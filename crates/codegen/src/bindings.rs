//! Bindings of variables at the end of SSA form: what each variable is bound to where.
//!
//! A forward analysis over blocks. At the start of a block a variable is bound to what all ways there agree on; if they
//! differ, to a phi of the block that merges just these values. A binding ends where a register that it names is
//! defined anew: in a block that a loop comes back to, it is of the iteration before.

use std::collections::BTreeMap;
use std::rc::Rc;

use cranelift_entity::{PrimaryMap, SecondaryMap};
use rustc_hash::{FxHashMap, FxHashSet};

use super::ssa::Definitions;
use heddle_isa::{Op, Operand, Special, VReg};
use heddle_mir::cfg::Cfg;
use heddle_mir::variables::Key;
use heddle_mir::{Block, Function, RegClass};
use heddle_object::variables::Value;

/// What variables are bound to at one point.
pub type Bound = BTreeMap<Key, Rc<Value<Operand>>>;

/// How often a block is looked at before what still changes is given up.
const MOST_VISITS: u32 = 16;

/// What is known of a function at the end of SSA form.
pub struct Frozen {
    /// Instructions; those of later forms name them by number plus 1.
    pub insts: Vec<FrozenInst>,
    /// Registers.
    pub vregs: PrimaryMap<VReg, RegClass>,
    /// Number of blocks: others are on edges.
    pub blocks: usize,
    /// Phis.
    pub phis: SecondaryMap<Block, Vec<Phi>>,
    /// Registers that a block defines, other than by phis.
    pub defined: SecondaryMap<Block, Vec<VReg>>,
    /// Bindings at the start of each block.
    entry: SecondaryMap<Block, Bound>,
    /// Changes in each block: number, what, to what.
    events: SecondaryMap<Block, Vec<FrozenEvent>>,
}

/// A change: number, what, to what.
type FrozenEvent = (u32, Key, Option<Rc<Value<Operand>>>);

/// An instruction.
pub struct FrozenInst {
    /// Block of its point.
    pub block: Option<Block>,
    /// Events before its point.
    pub events: u32,
    /// Scope.
    pub scope: Option<u32>,
    /// It was moved to where its statement does not begin.
    pub moved: bool,
    /// Instance of a statement.
    pub instance: u32,
    /// The register of which it computes the value. Phis and tuples only move words.
    pub defines: Option<VReg>,
}

/// A phi.
#[derive(Clone)]
pub struct Phi {
    /// The register.
    pub reg: VReg,
    /// Inputs by predecessor.
    pub inputs: Vec<(Block, Operand)>,
}

/// Word `word` of what an operand has; `None` if it has none that stays.
pub fn word_of(op: Operand, word: u8) -> Option<Operand> {
    match op {
        Operand::Reg(_) => op.as_virt().map(|(reg, first)| Operand::virt_word(reg, first + word)),
        Operand::Immediate(_) if word == 0 => Some(op),
        Operand::Immediate(v) => Some(Operand::Immediate(if (v as i32) < 0 { u32::MAX } else { 0 })),
        Operand::Constant(c) => c.checked_add(word).map(Operand::Constant),
        Operand::Special(Special::ExecLow | Special::ExecHigh | Special::ClockLow) | Operand::None => None,
        Operand::Special(_) => (word == 0).then_some(op),
    }
}

/// Follows copies and tuples: bindings name what is copied, so that they stay when copies go.
pub fn resolve(function: &mut Function) {
    let Some(mut variables) = function.variables.take() else { return };
    let definitions = Definitions::new(function);
    variables.rewrite(|op| source(function, &definitions, op));
    function.variables = Some(variables);
}

/// What a word is a copy of.
fn source(function: &Function, definitions: &Definitions, mut op: Operand) -> Operand {
    while let Some((reg, word)) = op.as_virt() {
        let Some(inst) = definitions.of(function, Operand::virt(reg)).filter(|i| i.guard.is_none() && i.neg == 0 && i.abs == 0)
        else {
            break;
        };
        op = match inst.op {
            // An absent word is one that nothing needed.
            Op::Tuple => inst.srcs.get(usize::from(word)).copied().unwrap_or(Operand::None),
            Op::Mov if inst.dst_words() == function.vregs[reg].words => match word_of(inst.srcs[0], word) {
                Some(from) => from,
                None => break,
            },
            _ => break,
        };
    }
    op
}

/// Notes what is known of a function that is about to leave SSA form; its instructions get their numbers.
pub fn freeze(function: &mut Function) -> Option<Box<Frozen>> {
    resolve(function);
    let mut variables = function.variables.take()?;
    let cfg = Cfg::new(function);
    let mut frozen = Frozen {
        insts: Vec::new(),
        vregs: function.vregs.clone(),
        blocks: function.blocks.len(),
        phis: SecondaryMap::new(),
        defined: SecondaryMap::new(),
        entry: SecondaryMap::new(),
        events: SecondaryMap::new(),
    };
    for (number, event) in (0u32..).zip(std::mem::take(&mut variables.events)) {
        let whole = event.value.filter(|v| !v.words().contains(&&Operand::None));
        frozen.events[event.block].push((number, event.key, whole.map(Rc::new)));
    }
    for &block in &function.layout {
        for inst in &mut function.blocks[block].insts {
            let point =
                (inst.loc.point as usize).checked_sub(1).and_then(|p| variables.points.get(p)).copied().unwrap_or_default();
            let reg = inst.dst.as_virt().map(|(r, _)| r);
            let moves = matches!(inst.op, Op::Phi | Op::Tuple | Op::Undef);
            let defines = reg.filter(|_| !moves && inst.guard.is_none());
            frozen.insts.push(FrozenInst {
                block: point.block,
                events: point.events,
                scope: point.scope,
                moved: point.moved,
                instance: point.instance,
                defines,
            });
            inst.loc.point = frozen.insts.len() as u32;
            match reg {
                Some(reg) if inst.op == Op::Phi => {
                    let inputs = inst.blocks().iter().copied().zip(inst.srcs.iter().copied()).collect();
                    frozen.phis[block].push(Phi { reg, inputs });
                }
                Some(reg) => frozen.defined[block].push(reg),
                None => {}
            }
        }
    }
    let definitions = Definitions::new(function);
    frozen.entry = Flow { function, cfg: &cfg, frozen: &frozen, definitions }.solve();
    variables.points.clear();
    function.variables = Some(variables);
    Some(Box::new(frozen))
}

/// Binds a variable, or a part of it, anew.
fn apply(bound: &mut Bound, key: Key, value: Option<&Rc<Value<Operand>>>) {
    let overlaps = |other: &Key| {
        other.0 == key.0
            && match (other.1, key.1) {
                (Some((a, n)), Some((b, m))) => a < b.saturating_add(m) && b < a.saturating_add(n),
                _ => true,
            }
    };
    bound.retain(|k, _| !overlaps(k));
    bound.extend(value.map(|v| (key, v.clone())));
}

impl Frozen {
    /// Variables that are bound anew in a block behind so many events of the function.
    pub fn bound_behind(&self, block: Block, events: u32) -> impl Iterator<Item = u32> {
        self.events.get(block).into_iter().flatten().filter(move |e| e.0 >= events).map(|e| e.1.0)
    }

    /// Bindings in a block when so many events of the function have happened, for each of the sorted numbers.
    pub fn bound_at(&self, block: Block, wanted: &[u32]) -> FxHashMap<u32, Rc<Bound>> {
        let mut bound = self.entry.get(block).cloned().unwrap_or_default();
        let mut events = self.events.get(block).into_iter().flatten().peekable();
        let mut result = FxHashMap::default();
        for &until in wanted {
            while let Some((_, key, value)) = events.next_if(|e| e.0 < until) {
                apply(&mut bound, *key, value.as_ref());
            }
            result.insert(until, Rc::new(bound.clone()));
        }
        result
    }
}

struct Flow<'a> {
    function: &'a Function,
    cfg: &'a Cfg,
    frozen: &'a Frozen,
    definitions: Definitions,
}

impl Flow<'_> {
    fn solve(&self) -> SecondaryMap<Block, Bound> {
        let mut number: SecondaryMap<Block, usize> = SecondaryMap::with_default(usize::MAX);
        self.cfg.rpo.iter().enumerate().for_each(|(i, b)| number[*b] = i);
        let mut entry: SecondaryMap<Block, Bound> = SecondaryMap::new();
        let mut out: SecondaryMap<Block, Option<Bound>> = SecondaryMap::new();
        let mut visits: SecondaryMap<Block, u32> = SecondaryMap::new();
        let mut queue: std::collections::BTreeSet<usize> = (0..self.cfg.rpo.len()).collect();
        while let Some(position) = queue.pop_first() {
            let block = self.cfg.rpo[position];
            let mut start = if block == self.function.entry() { Bound::new() } else { self.meet(block, &out) };
            visits[block] += 1;
            if visits[block] > MOST_VISITS {
                start.retain(|k, v| entry[block].get(k) == Some(v));
            }
            entry[block] = start.clone();
            for (_, key, value) in self.frozen.events.get(block).into_iter().flatten() {
                apply(&mut start, *key, value.as_ref());
            }
            if out[block].as_ref() != Some(&start) {
                out[block] = Some(start);
                queue.extend(self.cfg.edges[block].succs.iter().map(|s| number[*s]));
            }
        }
        entry
    }

    /// What all ways to a block agree on; those not looked at yet do.
    fn meet(&self, block: Block, out: &SecondaryMap<Block, Option<Bound>>) -> Bound {
        let known: Vec<(Block, &Bound)> =
            self.cfg.edges[block].preds.iter().filter_map(|p| Some((*p, out[*p].as_ref()?))).collect();
        let Some(((_, first), rest)) = known.split_first() else { return Bound::new() };
        let none = Vec::new();
        let phis = self.frozen.phis.get(block).unwrap_or(&none);
        let defined = self.frozen.defined.get(block).into_iter().flatten().copied();
        let anew: FxHashSet<VReg> = phis.iter().map(|p| p.reg).chain(defined).collect();
        let mut result = Bound::new();
        for (key, value) in first.iter() {
            let Some(others) = rest.iter().map(|(p, b)| Some((*p, b.get(key)?))).collect::<Option<Vec<_>>>() else { continue };
            let old = |v: &Value<Operand>| v.words().iter().any(|w| w.as_virt().is_some_and(|(r, _)| anew.contains(&r)));
            if others.iter().all(|(_, v)| *v == value) && !old(value) {
                result.insert(*key, value.clone());
                continue;
            }
            let all: Vec<(Block, &Value<Operand>)> =
                std::iter::once((known[0].0, &**value)).chain(others.iter().map(|(p, v)| (*p, &***v))).collect();
            if let Some(merged) = self.merged(phis, &all, &anew) {
                result.insert(*key, Rc::new(merged));
            }
        }
        result
    }

    /// The value whose words are phis that merge the words of these, or what they have in common.
    fn merged(&self, phis: &[Phi], all: &[(Block, &Value<Operand>)], anew: &FxHashSet<VReg>) -> Option<Value<Operand>> {
        let words: Vec<Vec<&Operand>> = all.iter().map(|(_, v)| v.words()).collect();
        let (_, first) = all.first()?;
        // But for the words they are the same.
        let blank = first.map(|_| Some(()))?;
        if all.iter().any(|(_, v)| v.map(|_| Some(())).as_ref() != Some(&blank)) {
            return None;
        }
        let mut at = 0;
        first.map(|_| {
            let inputs: Vec<Operand> = words.iter().map(|w| *w[at]).collect();
            at += 1;
            let common = inputs[0].as_virt().is_none_or(|(r, _)| !anew.contains(&r)) && inputs.iter().all(|i| *i == inputs[0]);
            if common {
                return Some(inputs[0]);
            }
            phis.iter().find_map(|phi| {
                let merges = |word: u8| {
                    all.iter().zip(&inputs).all(|((pred, _), input)| {
                        let given = phi.inputs.iter().find(|(b, _)| b == pred).and_then(|(_, op)| word_of(*op, word));
                        given.is_some_and(|g| source(self.function, &self.definitions, g) == *input)
                    })
                };
                let word = (0..self.frozen.vregs[phi.reg].registers()).find(|w| merges(*w))?;
                Some(Operand::virt_word(phi.reg, word))
            })
        })
    }
}
