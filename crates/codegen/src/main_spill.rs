//! Spilling of main vector registers to private memory until the pressure fits (C2).
//!
//! # Problem
//! Choose which values are in registers at each point so that never more than `k` words are, at the least
//! cost of stores and reloads.
//!
//! # Algorithm
//! Belady's rule on each block, extended over the control-flow graph as in Braun and Hack, "Register spilling
//! and live-range splitting for SSA-form programs" (CC 2009): when room is needed, the value whose next use
//! is farthest goes; leaving a loop counts as very far, so values that a loop does not use make room for
//! those it uses. At joins the values that all predecessors hold stay; loop headers prefer what the loop uses
//! next. Differences between a predecessor's end and a block's start are mended on the edge. The input is not
//! SSA but lowered code, so a reload simply writes the register again, and [`super::ranges::split_webs`]
//! takes the pieces apart afterwards: live-range splitting for free. A value is stored when it first leaves
//! its register, once for each definition; constants, immediates and special registers are recomputed
//! instead.
//!
//! Words count, not registers: a quad of which two words are dead takes two.
//!
//! Reloads and stores stand where the value is needed or goes away, unguarded, so every lane that needs the
//! value executes them (hazard 3): a lane at a point has come along the path whose state the analysis knows.

use cranelift_entity::SecondaryMap;
use fixedbitset::FixedBitSet;
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

use super::FunctionStats;
use super::edges::EdgeCode;
use super::loops::Loops;
use super::ranges::{LiveView, Pressure};
use super::spill::{self, INSERTED, Origins};
use heddle_isa::{Inst, Operand, SourceLoc, VReg};
use heddle_mir::{Bank, Block, Function, liveness};

/// Distance added by leaving a loop.
const FAR: u32 = 1 << 20;
/// No next use.
const NEVER: u32 = u32::MAX / 2;

/// A vector register that an instruction names.
#[derive(Clone, Copy)]
struct Mention {
    reg: VReg,
    /// Words read.
    read: u8,
    /// Words written.
    written: u8,
    /// Words whose old value the write ends.
    killed: u8,
    /// Words live after the instruction.
    after: u8,
    /// Position of the next read in the block, or the block's length plus the distance beyond it.
    next: u32,
}

type Mentions = SmallVec<[Mention; 4]>;

/// A value at a block boundary.
#[derive(Clone, Copy)]
struct Held {
    reg: VReg,
    mask: u8,
    in_register: bool,
    in_memory: bool,
}

/// Inserts spills and reloads so that at most `k` vector words are in registers at any point, as far as
/// single instructions allow.
pub fn run(
    function: &mut Function,
    view: &LiveView,
    pressure: &Pressure,
    k: u32,
    origins: &mut Origins,
    stats: &mut FunctionStats,
) {
    let n = function.vregs.len();
    let loops = Loops::new(&view.cfg);
    let distances = next_uses(function, view, &loops);
    let mut written_in: FxHashSet<(u32, VReg)> = FxHashSet::default();
    for (i, l) in loops.loops.iter().enumerate() {
        for block in &l.blocks {
            written_in.extend(function.blocks[*block].insts.iter().filter_map(|x| Some((i as u32, x.dst.as_virt()?.0))));
        }
    }
    let recomputable = spill::recomputable(function);
    let mut s = Spiller {
        function,
        view,
        pressure,
        loops,
        distances,
        written_in,
        recomputable,
        k,
        slots: SecondaryMap::with_capacity(n),
        state: SecondaryMap::with_capacity(n),
        held: Vec::new(),
        exits: SecondaryMap::new(),
        entries: SecondaryMap::new(),
        out: Vec::new(),
        from: Vec::new(),
        seen: (FixedBitSet::with_capacity(n), FixedBitSet::with_capacity(n)),
        stats,
    };
    s.slots.resize(n);
    s.state.resize(n);
    for &block in &view.cfg.rpo {
        s.enter(block);
        s.block(block, origins);
    }
    s.edges(origins);
}

/// Registers an instruction names in the vector bank, each once.
fn mentions(function: &Function, inst: &Inst) -> Mentions {
    let mut result = Mentions::new();
    let mut entry = |reg: VReg, change: &dyn Fn(&mut Mention)| {
        if function.vregs[reg].bank != Bank::Vector {
            return;
        }
        let at = result.iter().position(|m| m.reg == reg).unwrap_or_else(|| {
            result.push(Mention { reg, read: 0, written: 0, killed: 0, after: 0, next: 0 });
            result.len() - 1
        });
        change(&mut result[at]);
    };
    liveness::for_each_use(inst, |reg, words| entry(reg, &|m| m.read |= words));
    if let Some((reg, words)) = liveness::def(inst) {
        entry(reg, &|m| (m.written, m.killed) = (words, liveness::kill_mask(inst)));
    }
    result
}

/// Distance in instructions from the start of each block to the next read of each register live into it,
/// sorted by register.
fn next_uses(function: &Function, view: &LiveView, loops: &Loops) -> SecondaryMap<Block, Vec<(VReg, u32)>> {
    let mut result: SecondaryMap<Block, Vec<(VReg, u32)>> = SecondaryMap::new();
    let mut local: SecondaryMap<Block, Vec<(VReg, u32)>> = SecondaryMap::new();
    let mut first: SecondaryMap<VReg, u32> = SecondaryMap::with_default(NEVER);
    first.resize(function.vregs.len());
    for &block in &view.cfg.rpo {
        let insts = &function.blocks[block].insts;
        for (i, inst) in insts.iter().enumerate().rev() {
            for m in mentions(function, inst) {
                first[m.reg] = if m.read != 0 { i as u32 } else { NEVER };
            }
        }
        let mut live: Vec<VReg> =
            view.live_in(block).map(|(r, _)| r).filter(|r| function.vregs[*r].bank == Bank::Vector).collect();
        live.sort_unstable();
        local[block] = live.iter().map(|r| (*r, first[*r])).collect();
        result[block] = live.iter().map(|r| (*r, NEVER)).collect();
        for inst in insts {
            mentions(function, inst).iter().for_each(|m| first[m.reg] = NEVER);
        }
    }
    // Backward to a fixed point; the distances only guide, so a few rounds are enough for nests of any depth.
    for _ in 0..8 {
        let mut changed = false;
        for &block in view.cfg.rpo.iter().rev() {
            let length = function.blocks[block].insts.len() as u32;
            for i in 0..local[block].len() {
                let (reg, here) = local[block][i];
                let mut distance = here;
                if here == NEVER {
                    for &s in &view.cfg.edges[block].succs {
                        if let Some(d) = lookup(&result[s], reg) {
                            let far = if loops.leaves(block, s) { FAR } else { 0 };
                            distance = distance.min(d.saturating_add(length + far).min(NEVER));
                        }
                    }
                }
                if result[block][i].1 != distance {
                    result[block][i].1 = distance;
                    changed = true;
                }
            }
        }
        if !changed {
            break;
        }
    }
    result
}

fn lookup(list: &[(VReg, u32)], reg: VReg) -> Option<u32> {
    list.binary_search_by_key(&reg, |e| e.0).ok().map(|i| list[i].1)
}

/// State of a live register during the walk.
#[derive(Clone, Copy, Default)]
struct Current {
    mask: u8,
    in_register: bool,
    in_memory: bool,
    next: u32,
}

struct Spiller<'a> {
    function: &'a mut Function,
    view: &'a LiveView,
    pressure: &'a Pressure,
    loops: Loops,
    distances: SecondaryMap<Block, Vec<(VReg, u32)>>,
    written_in: FxHashSet<(u32, VReg)>,
    recomputable: FxHashMap<VReg, Inst>,
    k: u32,
    slots: SecondaryMap<VReg, Option<u32>>,
    state: SecondaryMap<VReg, Current>,
    /// Registers whose value is in a register now.
    held: Vec<VReg>,
    exits: SecondaryMap<Block, Option<Vec<Held>>>,
    entries: SecondaryMap<Block, Vec<Held>>,
    out: Vec<Inst>,
    from: Vec<u32>,
    /// Registers counted already as spilled and as recomputed.
    seen: (FixedBitSet, FixedBitSet),
    stats: &'a mut FunctionStats,
}

impl Spiller<'_> {
    fn exit_of(&self, block: Block, reg: VReg) -> Option<Held> {
        let list = self.exits[block].as_ref()?;
        list.binary_search_by_key(&reg, |h| h.reg).ok().map(|i| list[i])
    }

    fn insert(&mut self, inst: Inst) {
        self.out.push(inst);
        self.from.push(INSERTED);
    }

    /// Decides what is in registers and in memory at the start of a block.
    fn enter(&mut self, block: Block) {
        let view = self.view;
        let mut live: Vec<(VReg, u8, u32)> = view
            .live_in(block)
            .filter(|(r, _)| self.function.vregs[*r].bank == Bank::Vector)
            .map(|(r, m)| (r, m, lookup(&self.distances[block], r).unwrap_or(NEVER)))
            .collect();
        live.sort_unstable_by_key(|l| (l.2, l.0));
        let preds = &view.cfg.edges[block].preds;
        let done: SmallVec<[Block; 4]> = preds.iter().copied().filter(|p| self.exits[*p].is_some()).collect();
        let header = self.loops.header_of[block];
        let mut chosen: FxHashSet<VReg> = FxHashSet::default();
        let mut room = self.k;
        let mut take = |reg: VReg, mask: u8, room: &mut u32| {
            if mask.count_ones() <= *room && chosen.insert(reg) {
                *room -= mask.count_ones();
            }
        };
        // Undefined on the way in counts as there: nothing need be brought.
        let holders = |reg: VReg| done.iter().filter(|p| self.exit_of(**p, reg).is_none_or(|h| h.in_register)).count();
        if let Some(l) = header {
            for (reg, mask, _) in live.iter().filter(|l| l.2 < FAR) {
                take(*reg, *mask, &mut room);
            }
            // What only passes through the loop stays if the loop has room for it.
            let most = self.loops.loops[l as usize].blocks.iter().map(|b| self.pressure.vector[*b]).max().unwrap_or(0);
            let through: u32 = live.iter().filter(|l| l.2 >= FAR).map(|l| l.1.count_ones()).sum();
            room = room.min(self.k.saturating_sub(most.saturating_sub(through)));
            for (reg, mask, _) in live.iter().filter(|l| l.2 >= FAR) {
                if holders(*reg) == done.len() {
                    take(*reg, *mask, &mut room);
                }
            }
        } else {
            for (reg, mask, _) in &live {
                if holders(*reg) == done.len() {
                    take(*reg, *mask, &mut room);
                }
            }
            for (reg, mask, next) in &live {
                if *next < FAR && holders(*reg) > 0 {
                    take(*reg, *mask, &mut room);
                }
            }
        }
        let complete = done.len() == preds.len();
        let mut entry: Vec<Held> = live
            .iter()
            .map(|&(reg, mask, _)| {
                let in_register = chosen.contains(&reg);
                let saved = done.iter().all(|p| self.exit_of(*p, reg).is_none_or(|h| h.in_memory));
                // Around a loop memory stays valid if the loop does not write the register.
                let stays = complete || header.is_some_and(|l| !self.written_in.contains(&(l, reg)));
                Held {
                    reg,
                    mask,
                    in_register,
                    in_memory: !in_register || (saved && stays && !self.loops.irregular.contains(index(block))),
                }
            })
            .collect();
        self.held.clear();
        for (h, l) in entry.iter().zip(&live) {
            self.state[h.reg] = Current { mask: h.mask, in_register: h.in_register, in_memory: h.in_memory, next: l.2 };
            if h.in_register {
                self.held.push(h.reg);
            }
        }
        entry.sort_unstable_by_key(|h| h.reg);
        self.entries[block] = entry;
    }

    fn block(&mut self, block: Block, origins: &mut Origins) {
        let insts = std::mem::take(&mut self.function.blocks[block].insts);
        let old_origins = std::mem::take(&mut origins[block]);
        let all = self.analyse(block, &insts);
        let mut touched: Vec<VReg> = self.entries[block].iter().map(|h| h.reg).collect();
        self.out = Vec::with_capacity(insts.len());
        self.from = Vec::with_capacity(insts.len());
        for ((i, (inst, origin)), mentions) in insts.into_iter().zip(old_origins).enumerate().zip(all) {
            self.instruction(i as u32, &mentions, inst.loc);
            touched.extend(mentions.iter().map(|m| m.reg));
            self.out.push(inst);
            self.from.push(origin);
        }
        let mut exit: Vec<Held> = Vec::new();
        for (reg, mask) in self.view.live_out(block) {
            if self.function.vregs[reg].bank == Bank::Vector {
                let Current { in_register, in_memory, .. } = self.state[reg];
                exit.push(Held { reg, mask, in_register, in_memory });
            }
        }
        exit.sort_unstable_by_key(|h| h.reg);
        for reg in touched {
            self.state[reg] = Current::default();
        }
        self.exits[block] = Some(exit);
        self.function.blocks[block].insts = std::mem::take(&mut self.out);
        origins[block] = std::mem::take(&mut self.from);
    }

    /// The mentions of each instruction of a block with what is live and next after it.
    fn analyse(&mut self, block: Block, insts: &[Inst]) -> Vec<Mentions> {
        let mut now: FxHashMap<VReg, (u8, u32)> = FxHashMap::default();
        let length = insts.len() as u32;
        for (reg, mask) in self.view.live_out(block) {
            let mut next = NEVER;
            for &s in &self.view.cfg.edges[block].succs {
                if let Some(d) = lookup(&self.distances[s], reg) {
                    next = next.min(d + if self.loops.leaves(block, s) { FAR } else { 0 });
                }
            }
            now.insert(reg, (mask, next.saturating_add(length).min(NEVER)));
        }
        let mut all: Vec<Mentions> = insts.iter().map(|i| mentions(self.function, i)).collect();
        for (i, list) in all.iter_mut().enumerate().rev() {
            for m in list {
                let entry = now.entry(m.reg).or_insert((0, NEVER));
                (m.after, m.next) = *entry;
                entry.0 = (entry.0 & !m.killed) | m.read;
                if m.read != 0 {
                    entry.1 = i as u32;
                } else if entry.0 == 0 {
                    entry.1 = NEVER;
                }
            }
        }
        all
    }

    fn instruction(&mut self, position: u32, mentions: &[Mention], loc: SourceLoc) {
        // What must be in registers before: what is read, and what is written in part.
        let mut loads: SmallVec<[VReg; 4]> = SmallVec::new();
        let mut needed: SmallVec<[VReg; 4]> = SmallVec::new();
        for m in mentions {
            let current = self.state[m.reg];
            let kept = current.mask & m.after & !m.killed;
            if current.mask != 0 && (m.read != 0 || (m.written != 0 && kept != 0)) {
                needed.push(m.reg);
                if !current.in_register {
                    loads.push(m.reg);
                    self.state[m.reg].in_register = true;
                    self.held.push(m.reg);
                }
            }
        }
        if !loads.is_empty() || self.words() > self.k {
            self.make_room(position, &needed, 0, loc);
        }
        for reg in loads {
            let mask = self.state[reg].mask;
            self.reload(reg, mask, loc);
        }
        for m in mentions.iter().filter(|m| m.written == 0) {
            self.state[m.reg].mask &= m.after;
            self.state[m.reg].next = m.next;
            if self.state[m.reg].mask == 0 {
                self.drop(m.reg);
            }
        }
        if let Some(m) = mentions.iter().find(|m| m.written != 0) {
            let kept = self.state[m.reg].mask & m.after & !m.killed;
            self.state[m.reg].mask = kept | m.written;
            self.state[m.reg].next = m.next;
            if !self.state[m.reg].in_register {
                self.state[m.reg].in_register = true;
                self.held.push(m.reg);
            }
            if self.words() > self.k {
                self.make_room(position, &[m.reg], 1, loc);
            }
            self.state[m.reg].in_memory = false;
            self.state[m.reg].mask = (kept | m.written) & m.after;
            if self.state[m.reg].mask == 0 {
                self.drop(m.reg);
            }
        }
    }

    /// Words in registers now.
    fn words(&self) -> u32 {
        self.held.iter().map(|r| self.state[*r].mask.count_ones()).sum()
    }

    fn drop(&mut self, reg: VReg) {
        self.state[reg].in_register = false;
        self.state[reg].in_memory = false;
        self.held.retain(|r| *r != reg);
    }

    /// Evicts values, farthest next use first, until at most `k` words are held.
    fn make_room(&mut self, position: u32, keep: &[VReg], after: u32, loc: SourceLoc) {
        let mut words = self.words();
        while words > self.k {
            let victim = self.held.iter().copied().filter(|r| !keep.contains(r)).max_by_key(|r| {
                let c = self.state[*r];
                let distance = u64::from(c.next.saturating_sub(position + after));
                // A value that need not be stored is cheaper to evict.
                let cheap = c.in_memory || self.recomputable.contains_key(r);
                (if cheap { distance * 2 } else { distance }, c.mask.count_ones(), *r)
            });
            let Some(victim) = victim else { return };
            let c = self.state[victim];
            words -= c.mask.count_ones();
            if !c.in_memory {
                self.save(victim, c.mask, loc);
            }
            self.state[victim].in_register = false;
            self.state[victim].in_memory = true;
            self.held.retain(|r| *r != victim);
        }
    }

    fn slot(&mut self, reg: VReg) -> u32 {
        if let Some(slot) = self.slots[reg] {
            return slot;
        }
        let slot = spill::new_slot(self.function, self.function.vregs[reg].words);
        self.slots[reg] = Some(slot);
        slot
    }

    fn save(&mut self, reg: VReg, mask: u8, loc: SourceLoc) {
        if self.recomputable.contains_key(&reg) {
            return;
        }
        if !self.seen.0.put(index_of(reg)) {
            self.stats.spilled_to_memory += 1;
        }
        let slot = self.slot(reg);
        for (word, words) in pieces(mask) {
            self.insert(spill::store(Operand::virt_word(reg, word), words, slot + 4 * u32::from(word), loc));
        }
    }

    fn reload(&mut self, reg: VReg, mask: u8, loc: SourceLoc) {
        if let Some(inst) = self.recomputable.get(&reg) {
            let insts: SmallVec<[Inst; 2]> = pieces(mask)
                .into_iter()
                .map(|(word, words)| spill::recompute(inst, word, words, Operand::virt_word(reg, word), loc))
                .collect();
            insts.into_iter().for_each(|i| self.insert(i));
            if !self.seen.1.put(index_of(reg)) {
                self.stats.rematerialized += 1;
            }
            return;
        }
        let slot = self.slot(reg);
        for (word, words) in pieces(mask) {
            self.insert(spill::load(Operand::virt_word(reg, word), words, slot + 4 * u32::from(word), loc));
        }
    }

    /// Mends the differences between the ends of predecessors and the starts of blocks.
    fn edges(&mut self, origins: &mut Origins) {
        let view = self.view;
        let mut edges = EdgeCode::new(self.function, &view.cfg);
        for &block in &view.cfg.rpo {
            for &pred in &view.cfg.edges[block].preds {
                if self.exits[pred].is_none() {
                    continue;
                }
                self.out.clear();
                let loc = self.function.blocks[pred].insts.last().map(|i| i.loc).unwrap_or_default();
                for i in 0..self.entries[block].len() {
                    let h = self.entries[block][i];
                    if let Some(e) = self.exit_of(pred, h.reg)
                        && h.in_memory
                        && !e.in_memory
                        && e.in_register
                    {
                        self.save(h.reg, h.mask, loc);
                    }
                }
                for i in 0..self.entries[block].len() {
                    let h = self.entries[block][i];
                    if let Some(e) = self.exit_of(pred, h.reg)
                        && h.in_register
                        && !e.in_register
                    {
                        self.reload(h.reg, h.mask, loc);
                    }
                }
                if self.out.is_empty() {
                    continue;
                }
                let code = std::mem::take(&mut self.out);
                let count = code.len();
                let placed = edges.place(self.function, pred, block, code);
                let new = self.function.blocks[placed.block].insts.len() - origins[placed.block].len();
                debug_assert!(new == count || (new == count + 1 && placed.at == 0));
                origins[placed.block].splice(placed.at..placed.at, std::iter::repeat_n(INSERTED, new));
            }
        }
        edges.finish(self.function);
    }
}

fn index(block: Block) -> usize {
    cranelift_entity::EntityRef::index(block)
}

fn index_of(reg: VReg) -> usize {
    cranelift_entity::EntityRef::index(reg)
}

/// Aligned accesses that cover exactly the words of a mask, as (word, words).
fn pieces(mask: u8) -> SmallVec<[(u8, u8); 2]> {
    let mut result = SmallVec::new();
    if mask == 0b1111 {
        result.push((0, 4));
        return result;
    }
    for half in [0u8, 2] {
        match mask >> half & 0b11 {
            0b11 => result.push((half, 2)),
            0b01 => result.push((half, 1)),
            0b10 => result.push((half + 1, 1)),
            _ => {}
        }
    }
    result
}

#[cfg(test)]
mod tests {
    use super::pieces;

    #[test]
    fn accesses_are_aligned_and_exact() {
        assert_eq!(pieces(0b1111)[..], [(0, 4)]);
        assert_eq!(pieces(0b0110)[..], [(1, 1), (2, 1)]);
        assert_eq!(pieces(0b1101)[..], [(0, 1), (2, 2)]);
        assert_eq!(pieces(0b0011)[..], [(0, 2)]);
    }
}
