//! Live ranges: liveness as the allocators see it, webs, and the colouring problem of a register file.
//!
//! - [`LiveView`] is [`heddle_mir::liveness`] (linear for scalars, hazard 1) less what is never defined: a
//!   register read at a join but written on one way into it only is live on that way only. What another way
//!   leaves in the register is undefined before allocation as after.
//! - [`split_webs`] gives every web (maximal set of definitions with common uses, C3) a virtual register of
//!   its own, so that the pieces of a spilled value may have different colours.
//! - [`interference`] numbers the instructions in layout order, reads of instruction p at point 2p and its
//!   write at 2p+1, so that a source that dies may share its register with the result, and builds the
//!   [`Graph`] of one bank.

use cranelift_entity::{EntityRef, SecondaryMap};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::color::{Affinity, Graph, ReadTogether};
use heddle_isa::{Inst, Op, Operand, Reg, VReg};
use heddle_mir::cfg::Cfg;
use heddle_mir::liveness::{self, Liveness, bits};
use heddle_mir::{Bank, Block, Function};

/// Control flow and liveness of a function at one moment.
#[derive(Clone)]
pub struct LiveView {
    /// The graph.
    pub cfg: Cfg,
    live: Liveness,
    /// For the registers live into the entry block: words that some definition may reach, at each block's
    /// start and end.
    reached: FxHashMap<VReg, Reached>,
}

/// Per block, words possibly defined at the start and at the end.
type Reached = SecondaryMap<Block, (u8, u8)>;

impl LiveView {
    /// Analyses a function.
    pub fn new(function: &Function) -> Self {
        LiveView::of(function, |_| true)
    }

    /// Analyses the registers of a function for which `wanted` holds.
    pub fn of(function: &Function, wanted: impl Fn(VReg) -> bool) -> Self {
        let cfg = Cfg::new(function);
        let live = Liveness::of(function, &cfg, wanted);
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
                if let Some((reg, words)) = liveness::def(inst)
                    && let Some(map) = reached.get_mut(&reg)
                {
                    map[block].1 |= words;
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
    let mut found = Intervals::new(function.vregs.len(), mine);
    let mut first = 0u32;
    for &block in &function.layout {
        let data = &function.blocks[block];
        let last = first + data.insts.len() as u32;
        found.end_block(view, block, last);
        for (i, inst) in data.insts.iter().enumerate().rev() {
            found.instruction(inst, first + i as u32, data.frequency);
        }
        found.start_block(view, block, &data.insts, first);
        first = last;
    }
    found.pieces.sort_unstable();
    build(function, &found, pinned)
}

/// A register word in a run of time: number of the word (four to a register), start and end. An instruction
/// reads at twice its number and writes one later.
type Piece = (u32, u32, u32);

/// A copy between two registers: destination, source, first register wanted for the destination relative to
/// the source's, and weight.
type Move = (VReg, VReg, i8, f32);

/// Two words of registers that one instruction reads, and how often.
type Pair = ((VReg, u8), (VReg, u8), f32);

/// Live intervals of some registers, found block by block from the last instruction to the first.
struct Intervals<F> {
    mine: F,
    pieces: Vec<Piece>,
    copies: Vec<Move>,
    pairs: Vec<Pair>,
    cost: SecondaryMap<VReg, f32>,
    /// Words live at this place, and where they were read last.
    mask: SecondaryMap<VReg, u8>,
    ends: SecondaryMap<VReg, [u32; 4]>,
    /// Registers that were live somewhere in this block.
    open: Vec<VReg>,
}

/// Number of a register's word.
fn unit(reg: VReg, word: usize) -> u32 {
    (reg.index() * 4 + word) as u32
}

impl<F: Fn(VReg) -> bool + Copy> Intervals<F> {
    fn new(registers: usize, mine: F) -> Self {
        let mut intervals = Intervals {
            mine,
            pieces: Vec::new(),
            copies: Vec::new(),
            pairs: Vec::new(),
            cost: SecondaryMap::with_capacity(registers),
            mask: SecondaryMap::with_capacity(registers),
            ends: SecondaryMap::with_capacity(registers),
            open: Vec::new(),
        };
        intervals.cost.resize(registers);
        intervals.mask.resize(registers);
        intervals.ends.resize(registers);
        intervals
    }

    /// Opens what lives out of a block that ends before instruction `last`.
    fn end_block(&mut self, view: &LiveView, block: Block, last: u32) {
        for (reg, m) in view.live_out(block).filter(|(r, _)| (self.mine)(*r)) {
            self.mask[reg] = m;
            self.ends[reg] = [2 * last; 4];
            self.open.push(reg);
        }
    }

    /// Closes what instruction `p` writes and opens what it reads.
    fn instruction(&mut self, inst: &Inst, p: u32, frequency: f32) {
        if let Some((reg, words)) = liveness::def(inst).filter(|(r, _)| (self.mine)(*r)) {
            self.cost[reg] += frequency * words.count_ones() as f32;
            let killed = liveness::kill_mask(inst);
            for w in bits(words) {
                let bit = 1 << w;
                if self.mask[reg] & bit == 0 {
                    // Nothing reads it: the write still needs the register for a moment.
                    self.pieces.push((unit(reg, w), 2 * p + 1, 2 * p + 2));
                } else if killed & bit != 0 {
                    self.pieces.push((unit(reg, w), 2 * p + 1, self.ends[reg][w]));
                    self.mask[reg] &= !bit;
                }
            }
        }
        liveness::for_each_use(inst, |reg, words| {
            if !(self.mine)(reg) {
                return;
            }
            self.cost[reg] += frequency * words.count_ones() as f32;
            let new = words & !self.mask[reg];
            if new != 0 {
                self.open.push(reg);
                bits(new).for_each(|w| self.ends[reg][w] = 2 * p + 1);
                self.mask[reg] |= new;
            }
        });
        self.pairs(inst, frequency);
        if let Some((to, from, offset)) = copy_of(inst, self.mine) {
            self.copies.push((to, from, offset, frequency * f32::from(inst.dst_words().max(1))));
        }
    }

    /// Notes which words of different registers an instruction reads.
    fn pairs(&mut self, inst: &Inst, frequency: f32) {
        let mut words: SmallVec<[(VReg, u8); 8]> = SmallVec::new();
        for (i, s) in inst.srcs.iter().enumerate() {
            if let Some((reg, word)) = s.as_virt().filter(|(r, _)| (self.mine)(*r)) {
                words.extend((0..inst.src_words(i).max(1)).map(|w| (reg, word + w)));
            }
        }
        words.sort_unstable();
        words.dedup();
        for (k, a) in words.iter().enumerate() {
            for b in words[k + 1..].iter().filter(|b| b.0 != a.0) {
                self.pairs.push((*a, *b, frequency));
            }
        }
    }

    /// Closes what is still open at the start of a block, before instruction `first`.
    fn start_block(&mut self, view: &LiveView, block: Block, insts: &[Inst], first: u32) {
        for reg in self.open.drain(..) {
            let m = std::mem::take(&mut self.mask[reg]);
            if m == 0 {
                continue;
            }
            let defined = view.at_start(block, reg);
            for w in bits(m) {
                if defined >> w & 1 == 1 {
                    self.pieces.push((unit(reg, w), 2 * first, self.ends[reg][w]));
                } else if let Some(i) = first_write(insts, reg, w) {
                    // Undefined until a guarded write; reads before it need no register.
                    let start = 2 * (first + i as u32) + 1;
                    if start < self.ends[reg][w] {
                        self.pieces.push((unit(reg, w), start, self.ends[reg][w]));
                    }
                }
            }
        }
    }
}

/// First instruction that writes a word of a register.
fn first_write(insts: &[Inst], reg: VReg, word: usize) -> Option<usize> {
    insts.iter().position(|i| liveness::def(i).is_some_and(|(r, words)| r == reg && words >> word & 1 == 1))
}

/// The graph of pieces in order: those of a word that touch are one.
fn build<F>(function: &Function, found: &Intervals<F>, pinned: impl Fn(VReg) -> bool) -> Graph {
    let Intervals { pieces: raw, copies, pairs, cost, .. } = found;
    let registers = raw.chunk_by(|a, b| a.0 / 4 == b.0 / 4).count();
    let mut graph = Graph { nodes: Vec::with_capacity(registers), segments: Vec::with_capacity(raw.len()), ..Graph::default() };
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
    for &(a, b, weight) in pairs {
        let of = |(reg, word): (VReg, u8)| (node[reg], word);
        if of(a).0 != u32::MAX && of(b).0 != u32::MAX {
            graph.together.push(ReadTogether { a: of(a), b: of(b), weight });
        }
    }
    graph
}

/// The copy an instruction makes within a bank: destination, source, and first register wanted for the
/// destination relative to the source's.
fn copy_of(inst: &Inst, mine: impl Fn(VReg) -> bool) -> Option<(VReg, VReg, i8)> {
    if inst.op != Op::Mov {
        return None;
    }
    let ((dst, to), (src, from)) = (inst.dst.as_virt()?, inst.srcs.first()?.as_virt()?);
    (dst != src && mine(dst) && mine(src)).then_some((dst, src, from as i8 - to as i8))
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

/// Gives each web of the registers of a bank that have several definitions a register of its own. Returns how
/// many registers it added.
pub fn split_webs(function: &mut Function, bank: Bank) -> usize {
    let wanted: Vec<bool> = function.vregs.values().map(|class| class.bank == bank).collect();
    split_webs_where(function, |reg| wanted[reg.index()]).len()
}

/// The same for the registers for which `mine` holds. Returns the new registers, each with the one it was
/// split from.
pub fn split_webs_where(function: &mut Function, mine: impl Fn(VReg) -> bool) -> Vec<(VReg, VReg)> {
    let n = function.vregs.len();
    let mut definitions: SecondaryMap<VReg, u32> = SecondaryMap::with_capacity(n);
    definitions.resize(n);
    for block in &function.layout {
        function.blocks[*block].insts.iter().filter_map(liveness::def).for_each(|(reg, _)| definitions[reg] += 1);
    }
    let mut several: SecondaryMap<VReg, bool> = SecondaryMap::with_capacity(n);
    several.resize(n);
    let mut any = false;
    for reg in function.vregs.keys().filter(|reg| definitions[*reg] > 1 && mine(*reg)) {
        several[reg] = true;
        any = true;
    }
    if !any {
        return Vec::new();
    }
    let view = LiveView::of(function, |reg| several[reg]);
    let mut finder = WebFinder::new(&view, several);
    for &block in &view.cfg.rpo {
        finder.block(block, &mut function.blocks[block].insts);
    }
    finder.rename(function)
}

/// Finds the webs of registers with several definitions: candidates are one for each block that a register is
/// live into, and one for each definition that starts anew; candidates that meet are one web.
struct WebFinder<'a> {
    view: &'a LiveView,
    /// Registers to split.
    several: SecondaryMap<VReg, bool>,
    webs: Webs,
    at_entry: FxHashMap<(Block, VReg), u32>,
    /// The candidate of each operand, in program order.
    uses: Vec<u32>,
    /// The candidate that a register holds at this place of the block; `u32::MAX` for none.
    current: SecondaryMap<VReg, u32>,
    /// Words of a register that are live at this place of the block.
    mask: SecondaryMap<VReg, u8>,
    /// Registers whose entries of the two are of this block.
    touched: Vec<VReg>,
}

impl<'a> WebFinder<'a> {
    fn new(view: &'a LiveView, several: SecondaryMap<VReg, bool>) -> Self {
        let n = several.keys().len();
        let mut webs = Webs::default();
        let mut at_entry = FxHashMap::default();
        for &block in &view.cfg.rpo {
            for (reg, _) in view.live_in(block).filter(|(r, _)| several[*r]) {
                at_entry.insert((block, reg), webs.fresh(reg));
            }
        }
        let mut current: SecondaryMap<VReg, u32> = SecondaryMap::with_default(u32::MAX);
        current.resize(n);
        let mut mask: SecondaryMap<VReg, u8> = SecondaryMap::with_capacity(n);
        mask.resize(n);
        WebFinder { view, several, webs, at_entry, uses: Vec::new(), current, mask, touched: Vec::new() }
    }

    /// Gives the operands of a block their candidates, and joins those at its end with its successors'.
    fn block(&mut self, block: Block, insts: &mut [Inst]) {
        let kept = self.words_kept(block, insts);
        for (reg, _) in self.view.live_in(block).filter(|(r, _)| self.several[*r]) {
            if let Some(web) = self.at_entry.get(&(block, reg)) {
                self.current[reg] = *web;
                self.touched.push(reg);
            }
        }
        for (inst, words_kept) in insts.iter_mut().zip(kept.iter().rev()) {
            for_each_operand_mut(inst, |reg, is_def| {
                if self.several[*reg] {
                    if self.current[*reg] == u32::MAX || (is_def && *words_kept == 0) {
                        self.current[*reg] = self.webs.fresh(*reg);
                        self.touched.push(*reg);
                    }
                    self.uses.push(self.current[*reg]);
                }
            });
        }
        for &s in &self.view.cfg.edges[block].succs {
            for (reg, _) in self.view.live_in(s).filter(|(r, _)| self.several[*r]) {
                if let (Some(&web), true) = (self.at_entry.get(&(s, reg)), self.current[reg] != u32::MAX) {
                    self.webs.union(web, self.current[reg]);
                }
            }
        }
        for reg in self.touched.drain(..) {
            (self.current[reg], self.mask[reg]) = (u32::MAX, 0);
        }
    }

    /// For each instruction, the last first, the words of its destination that live on from before it.
    fn words_kept(&mut self, block: Block, insts: &[Inst]) -> Vec<u8> {
        for (reg, m) in self.view.live_out(block).filter(|(r, _)| self.several[*r]) {
            self.mask[reg] = m;
            self.touched.push(reg);
        }
        let mut kept = Vec::with_capacity(insts.len());
        for inst in insts.iter().rev() {
            let mut words_kept = 0;
            if let Some((reg, _)) = liveness::def(inst).filter(|(r, _)| self.several[*r]) {
                self.mask[reg] &= !liveness::kill_mask(inst);
                words_kept = self.mask[reg];
            }
            kept.push(words_kept);
            liveness::for_each_use(inst, |reg, words| {
                if self.several[reg] {
                    self.mask[reg] |= words;
                    self.touched.push(reg);
                }
            });
        }
        kept
    }

    /// Gives each web its register: the first of a register keeps its name.
    fn rename(mut self, function: &mut Function) -> Vec<(VReg, VReg)> {
        let Function { blocks, vregs, .. } = function;
        let mut added = Vec::new();
        let mut name: Vec<Option<VReg>> = vec![None; self.webs.parent.len()];
        let mut taken: SecondaryMap<VReg, bool> = SecondaryMap::with_capacity(vregs.len());
        let mut uses = self.uses.into_iter();
        for &block in &self.view.cfg.rpo {
            for inst in &mut blocks[block].insts {
                for_each_operand_mut(inst, |reg, _| {
                    if !self.several.get(*reg).copied().unwrap_or(false) {
                        return;
                    }
                    let Some(web) = uses.next() else { return };
                    let root = self.webs.find(web) as usize;
                    let original = self.webs.register[root];
                    *reg = *name[root].get_or_insert_with(|| {
                        if !std::mem::replace(&mut taken[original], true) {
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
