//! Live ranges: liveness as the allocators see it, webs, and the colouring problem of a register file.
//!
//! - [`LiveView`] is [`heddle_mir::liveness`] (linear for scalars, hazard 1) less what is never defined: a register read at a join but written on
//!   one way into it only is live on that way only. What another way leaves in the register is undefined before allocation as after.
//! - [`split_webs`] gives every web (maximal set of definitions with common uses, C3) a virtual register of its own, so that the
//!   pieces of a spilled value may have different colours.
//! - [`interference`] numbers the instructions in layout order, reads of instruction p at point 2p and its write at 2p+1, so that a source that
//!   dies may share its register with the result, and builds the [`Graph`] of one bank.

use cranelift_entity::{EntityRef, SecondaryMap};
use rustc_hash::FxHashMap;

use super::color::{Affinity, Graph};
use heddle_isa::{Inst, Op, Operand, Reg, VReg};
use heddle_mir::cfg::Cfg;
use heddle_mir::liveness::{self, Liveness};
use heddle_mir::{Bank, Block, Function};

/// Control flow and liveness of a function at one moment.
pub struct LiveView {
    /// The graph.
    pub cfg: Cfg,
    live: Liveness,
    /// For the registers live into the entry block: words that some definition may reach, at each block's start and end.
    reached: FxHashMap<VReg, Reached>,
}

/// Per block, words possibly defined at the start and at the end.
type Reached = SecondaryMap<Block, (u8, u8)>;

impl LiveView {
    /// Analyses a function.
    pub fn new(function: &Function) -> Self {
        let cfg = Cfg::new(function);
        let live = Liveness::new(function, &cfg);
        let mut view = LiveView { cfg, live, reached: FxHashMap::default() };
        view.find_undefined(function);
        view
    }

    /// Forward may-reach of definitions, for the registers that seem to be live into the entry block.
    fn find_undefined(&mut self, function: &Function) {
        let suspects: Vec<VReg> = self
            .live
            .live_in(function.entry())
            .map(|(r, _)| r)
            // Other lanes' control flow reaches scalars; they keep their longer ranges.
            .filter(|r| function.vregs[*r].bank != Bank::Scalar)
            .collect();
        if suspects.is_empty() {
            return;
        }
        let mut reached: FxHashMap<VReg, Reached> =
            suspects.iter().map(|r| (*r, SecondaryMap::with_capacity(function.blocks.len()))).collect();
        for &block in &function.layout {
            for inst in &function.blocks[block].insts {
                if let Some((reg, words)) = liveness::def(inst) {
                    if let Some(map) = reached.get_mut(&reg) {
                        map[block].1 |= words;
                    }
                }
            }
        }
        for map in reached.values_mut() {
            let mut queue: Vec<Block> = self.cfg.rpo.iter().rev().copied().filter(|b| map[*b].1 != 0).collect();
            while let Some(block) = queue.pop() {
                let out = map[block].1;
                for &s in &self.cfg.edges[block].succs {
                    let (before, after) = map[s];
                    if out & !before != 0 {
                        map[s] = (before | out, after | out);
                        queue.push(s);
                    }
                }
            }
        }
        self.reached = reached;
    }

    /// Registers that some way reads before any definition.
    pub fn maybe_undefined(&self) -> impl Iterator<Item = VReg> + '_ {
        self.reached.keys().copied()
    }

    fn at_start(&self, block: Block, reg: VReg) -> u8 {
        if self.reached.is_empty() { u8::MAX } else { self.reached.get(&reg).map_or(u8::MAX, |m| m[block].0) }
    }

    fn at_end(&self, block: Block, reg: VReg) -> u8 {
        if self.reached.is_empty() { u8::MAX } else { self.reached.get(&reg).map_or(u8::MAX, |m| m[block].1) }
    }

    /// Registers live into a block with the mask of their live words.
    pub fn live_in(&self, block: Block) -> impl Iterator<Item = (VReg, u8)> + '_ {
        self.live.live_in(block).map(move |(r, m)| (r, m & self.at_start(block, r))).filter(|x| x.1 != 0)
    }

    /// Registers live out of a block with the mask of their live words.
    pub fn live_out(&self, block: Block) -> impl Iterator<Item = (VReg, u8)> + '_ {
        self.live.live_out(block).map(move |(r, m)| (r, m & self.at_end(block, r))).filter(|x| x.1 != 0)
    }
}

/// Register pressure: words (or predicates) that need a register at once.
#[derive(Clone, Debug, Default)]
pub struct Pressure {
    /// At the worst place, by bank: vector, scalar, predicate.
    pub worst: [u32; 3],
    /// Vector words at the worst place of each block.
    pub vector: SecondaryMap<Block, u32>,
}

/// Measures register pressure.
pub fn pressure(function: &Function, view: &LiveView) -> Pressure {
    let mut result = Pressure::default();
    let mut mask: SecondaryMap<VReg, u8> = SecondaryMap::with_capacity(function.vregs.len());
    mask.resize(function.vregs.len());
    let mut touched: Vec<VReg> = Vec::new();
    for &block in &function.layout {
        let mut now = [0u32; 3];
        let mut worst = [0u32; 3];
        for (reg, m) in view.live_out(block) {
            mask[reg] = m;
            touched.push(reg);
            now[function.vregs[reg].bank as usize] += m.count_ones();
        }
        let mut see = |now: &[u32; 3]| worst.iter_mut().zip(now).for_each(|(w, n)| *w = (*w).max(*n));
        see(&now);
        for inst in function.blocks[block].insts.iter().rev() {
            if let Some((reg, words)) = liveness::def(inst) {
                let bank = function.vregs[reg].bank as usize;
                // Dead words are written all the same.
                let dead = words & !mask[reg];
                now[bank] += dead.count_ones();
                see(&now);
                now[bank] -= dead.count_ones();
                let killed = liveness::kill_mask(inst) & mask[reg];
                now[bank] -= killed.count_ones();
                mask[reg] &= !killed;
            }
            liveness::for_each_use(inst, |reg, words| {
                let new = words & !mask[reg];
                now[function.vregs[reg].bank as usize] += new.count_ones();
                mask[reg] |= words;
                touched.push(reg);
            });
            see(&now);
        }
        for reg in touched.drain(..) {
            mask[reg] = 0;
        }
        result.vector[block] = worst[Bank::Vector as usize];
        result.worst.iter_mut().zip(worst).for_each(|(w, n)| *w = (*w).max(n));
    }
    result
}

/// The colouring problem of one bank. `pinned` registers must not be given up.
pub fn interference(function: &Function, view: &LiveView, bank: Bank, pinned: impl Fn(VReg) -> bool) -> Graph {
    interference_where(function, view, |reg: VReg| function.vregs[reg].bank == bank, pinned)
}

/// The colouring problem of the registers for which `mine` holds.
pub fn interference_where(
    function: &Function,
    view: &LiveView,
    mine: impl Fn(VReg) -> bool + Copy,
    pinned: impl Fn(VReg) -> bool,
) -> Graph {
    let n = function.vregs.len();
    let mut raw: Vec<(u32, u32, u32)> = Vec::new();
    let unit = |reg: VReg, word: usize| (reg.index() * 4 + word) as u32;
    let mut mask: SecondaryMap<VReg, u8> = SecondaryMap::with_capacity(n);
    let mut ends: SecondaryMap<VReg, [u32; 4]> = SecondaryMap::with_capacity(n);
    let mut cost: SecondaryMap<VReg, f32> = SecondaryMap::with_capacity(n);
    mask.resize(n);
    ends.resize(n);
    cost.resize(n);
    let mut open: Vec<VReg> = Vec::new();
    let mut copies: Vec<(VReg, VReg, i8, f32)> = Vec::new();
    let mut first = 0u32;
    for &block in &function.layout {
        let data = &function.blocks[block];
        let last = first + data.insts.len() as u32;
        for (reg, m) in view.live_out(block).filter(|(r, _)| mine(*r)) {
            mask[reg] = m;
            ends[reg] = [2 * last; 4];
            open.push(reg);
        }
        for (i, inst) in data.insts.iter().enumerate().rev() {
            let p = first + i as u32;
            if let Some((reg, words)) = liveness::def(inst).filter(|(r, _)| mine(*r)) {
                cost[reg] += data.frequency * words.count_ones() as f32;
                let killed = liveness::kill_mask(inst);
                for w in bits(words) {
                    let bit = 1 << w;
                    if mask[reg] & bit == 0 {
                        // Nothing reads it: the write still needs the register for a moment.
                        raw.push((unit(reg, w), 2 * p + 1, 2 * p + 2));
                    } else if killed & bit != 0 {
                        raw.push((unit(reg, w), 2 * p + 1, ends[reg][w]));
                        mask[reg] &= !bit;
                    }
                }
            }
            liveness::for_each_use(inst, |reg, words| {
                if !mine(reg) {
                    return;
                }
                cost[reg] += data.frequency * words.count_ones() as f32;
                let new = words & !mask[reg];
                if new != 0 {
                    open.push(reg);
                    bits(new).for_each(|w| ends[reg][w] = 2 * p + 1);
                    mask[reg] |= new;
                }
            });
            if let Some(copy) = copy_of(inst, mine) {
                copies.push((copy.0, copy.1, copy.2, data.frequency * f32::from(inst.dst_words().max(1))));
            }
        }
        for reg in open.drain(..) {
            let m = std::mem::take(&mut mask[reg]);
            if m == 0 {
                continue;
            }
            let defined = view.at_start(block, reg);
            for w in bits(m) {
                if defined >> w & 1 == 1 {
                    raw.push((unit(reg, w), 2 * first, ends[reg][w]));
                } else if let Some(i) = first_write(&data.insts, reg, w) {
                    // Undefined until a guarded write; reads before it need no register.
                    let start = 2 * (first + i as u32) + 1;
                    if start < ends[reg][w] {
                        raw.push((unit(reg, w), start, ends[reg][w]));
                    }
                }
            }
        }
        first = last;
    }
    raw.sort_unstable();
    build(function, &raw, &copies, &cost, pinned)
}

/// First instruction that writes a word of a register.
fn first_write(insts: &[Inst], reg: VReg, word: usize) -> Option<usize> {
    insts.iter().position(|i| liveness::def(i).is_some_and(|(r, words)| r == reg && words >> word & 1 == 1))
}

fn build(
    function: &Function,
    raw: &[(u32, u32, u32)],
    copies: &[(VReg, VReg, i8, f32)],
    cost: &SecondaryMap<VReg, f32>,
    pinned: impl Fn(VReg) -> bool,
) -> Graph {
    let mut graph = Graph::default();
    let mut node: SecondaryMap<VReg, u32> = SecondaryMap::with_default(u32::MAX);
    node.resize(function.vregs.len());
    let mut words: [Vec<(u32, u32)>; 4] = Default::default();
    let mut at = 0;
    while at < raw.len() {
        let reg = VReg::new((raw[at].0 / 4) as usize);
        words.iter_mut().for_each(Vec::clear);
        while let Some(&(unit, start, end)) = raw.get(at).filter(|r| (r.0 / 4) as usize == reg.index()) {
            let list = &mut words[(unit % 4) as usize];
            match list.last_mut() {
                Some(last) if start <= last.1 => last.1 = last.1.max(end),
                _ => list.push((start, end)),
            }
            at += 1;
        }
        let count = usize::from(function.vregs[reg].registers());
        let length: u32 = words.iter().flatten().map(|(s, e)| e - s).sum();
        let weight = if pinned(reg) { f32::INFINITY } else { cost[reg] / (length as f32 + 4.0) };
        let slices: Vec<&[(u32, u32)]> = words[..count].iter().map(Vec::as_slice).collect();
        node[reg] = graph.add(reg, weight, &slices) as u32;
    }
    for &(dst, src, offset, weight) in copies {
        let (b, a) = (node[dst], node[src]);
        if a != u32::MAX && b != u32::MAX && a != b {
            graph.affinities.push(Affinity { a, b, offset, weight });
        }
    }
    graph
}

/// The copy an instruction makes within a bank: destination, source, and first register wanted for the destination relative to the source's.
fn copy_of(inst: &Inst, mine: impl Fn(VReg) -> bool) -> Option<(VReg, VReg, i8)> {
    if inst.op != Op::Mov {
        return None;
    }
    let ((dst, to), (src, from)) = (inst.dst.as_virt()?, inst.srcs.first()?.as_virt()?);
    (dst != src && mine(dst) && mine(src)).then_some((dst, src, from as i8 - to as i8))
}

/// The bits set in a mask.
pub fn bits(mask: u8) -> impl Iterator<Item = usize> {
    (0..8).filter(move |i| mask >> i & 1 == 1)
}

/// Calls `f` on every virtual register an instruction names, sources and guard before the destination.
pub fn for_each_operand_mut(inst: &mut Inst, mut f: impl FnMut(&mut VReg, bool)) {
    for s in &mut inst.srcs {
        if let Operand::Reg(Reg::Virtual { reg, .. }) = s {
            f(reg, false);
        }
    }
    if let Some(Reg::Virtual { reg, .. }) = inst.guard.as_mut().map(|g| &mut g.reg) {
        f(reg, false);
    }
    if let Operand::Reg(Reg::Virtual { reg, .. }) = &mut inst.dst {
        f(reg, true);
    }
}

/// Gives each web of the registers of a bank that have several definitions a register of its own. Returns how many registers it added.
pub fn split_webs(function: &mut Function, view: &LiveView, bank: Bank) -> usize {
    let wanted: Vec<bool> = function.vregs.values().map(|class| class.bank == bank).collect();
    split_webs_where(function, view, |reg| wanted[reg.index()]).len()
}

/// The same for the registers for which `mine` holds. Returns the new registers, each with the one it was split from.
pub fn split_webs_where(function: &mut Function, view: &LiveView, mine: impl Fn(VReg) -> bool) -> Vec<(VReg, VReg)> {
    let mut added = Vec::new();
    let Function { blocks, layout, vregs, .. } = function;
    let n = vregs.len();
    let mut definitions: SecondaryMap<VReg, u32> = SecondaryMap::with_capacity(n);
    definitions.resize(n);
    for block in layout.iter() {
        blocks[*block].insts.iter().filter_map(liveness::def).for_each(|(reg, _)| definitions[reg] += 1);
    }
    let mut several: SecondaryMap<VReg, bool> = SecondaryMap::with_capacity(n);
    several.resize(n);
    vregs.keys().for_each(|reg| several[reg] = definitions[reg] > 1 && mine(reg));
    // Web candidates: one for each block a register is live into, and one for each definition that starts anew.
    let mut webs = Webs::default();
    let mut at_entry: FxHashMap<(Block, VReg), u32> = FxHashMap::default();
    for &block in &view.cfg.rpo {
        for (reg, _) in view.live_in(block).filter(|(r, _)| several[*r]) {
            at_entry.insert((block, reg), webs.fresh(reg));
        }
    }
    let mut current: SecondaryMap<VReg, u32> = SecondaryMap::with_default(u32::MAX);
    current.resize(n);
    let mut mask: SecondaryMap<VReg, u8> = SecondaryMap::with_capacity(n);
    mask.resize(n);
    let mut touched: Vec<VReg> = Vec::new();
    // The web candidate of each operand, in program order.
    let mut uses: Vec<u32> = Vec::new();
    let mut kept: Vec<u8> = Vec::new();
    for &block in &view.cfg.rpo {
        let insts = &mut blocks[block].insts;
        // Words of each destination that live on from before the instruction.
        for (reg, m) in view.live_out(block).filter(|(r, _)| several[*r]) {
            mask[reg] = m;
            touched.push(reg);
        }
        kept.clear();
        for inst in insts.iter().rev() {
            let mut words_kept = 0;
            if let Some((reg, _)) = liveness::def(inst).filter(|(r, _)| several[*r]) {
                mask[reg] &= !liveness::kill_mask(inst);
                words_kept = mask[reg];
            }
            kept.push(words_kept);
            liveness::for_each_use(inst, |reg, words| {
                if several[reg] {
                    mask[reg] |= words;
                    touched.push(reg);
                }
            });
        }
        for (reg, _) in view.live_in(block).filter(|(r, _)| several[*r]) {
            if let Some(web) = at_entry.get(&(block, reg)) {
                current[reg] = *web;
                touched.push(reg);
            }
        }
        for (inst, words_kept) in insts.iter_mut().zip(kept.iter().rev()) {
            for_each_operand_mut(inst, |reg, is_def| {
                if several[*reg] {
                    if current[*reg] == u32::MAX || (is_def && *words_kept == 0) {
                        current[*reg] = webs.fresh(*reg);
                        touched.push(*reg);
                    }
                    uses.push(current[*reg]);
                }
            });
        }
        for &s in &view.cfg.edges[block].succs {
            for (reg, _) in view.live_in(s).filter(|(r, _)| several[*r]) {
                if let (Some(&web), true) = (at_entry.get(&(s, reg)), current[reg] != u32::MAX) {
                    webs.union(web, current[reg]);
                }
            }
        }
        for reg in touched.drain(..) {
            (current[reg], mask[reg]) = (u32::MAX, 0);
        }
    }
    // The first web of a register keeps its name.
    let mut name: Vec<Option<VReg>> = vec![None; webs.parent.len()];
    let mut taken: SecondaryMap<VReg, bool> = SecondaryMap::with_capacity(n);
    let mut uses = uses.into_iter();
    for &block in &view.cfg.rpo {
        for inst in &mut blocks[block].insts {
            for_each_operand_mut(inst, |reg, _| {
                if !several.get(*reg).copied().unwrap_or(false) {
                    return;
                }
                let Some(web) = uses.next() else { return };
                let root = webs.find(web) as usize;
                let original = webs.register[root];
                *reg = *name[root].get_or_insert_with(|| {
                    let first = !std::mem::replace(&mut taken[original], true);
                    if first {
                        return original;
                    }
                    let new = vregs.push(vregs[original]);
                    added.push((new, original));
                    new
                });
            });
        }
    }
    added
}

/// Union-find over web candidates.
#[derive(Default)]
struct Webs {
    parent: Vec<u32>,
    register: Vec<VReg>,
}

impl Webs {
    fn fresh(&mut self, reg: VReg) -> u32 {
        self.parent.push(self.parent.len() as u32);
        self.register.push(reg);
        self.parent.len() as u32 - 1
    }

    fn find(&mut self, mut x: u32) -> u32 {
        while self.parent[x as usize] != x {
            let up = self.parent[self.parent[x as usize] as usize];
            self.parent[x as usize] = up;
            x = up;
        }
        x
    }

    fn union(&mut self, a: u32, b: u32) {
        let (a, b) = (self.find(a), self.find(b));
        self.parent[a.max(b) as usize] = a.min(b);
    }
}
