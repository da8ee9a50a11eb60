//! Liveness of virtual registers: ordinary for vector and predicate registers, linear for scalar ones.
//!
//! Writes of vector and predicate registers are masked, so a register that holds a live value of waiting
//! lanes keeps those lanes' bits while other lanes write theirs into the same register: ordinary liveness
//! along each lane's own path is enough. Scalar registers are written for the whole warp (hazard 1): while
//! the fall-through side of a divergent branch runs, everything scalar that the waiting taken side will read
//! must survive. So for each `brad` with sides F and T and reconvergence block J, scalars live into T are
//! live through every block reachable from F without passing J; and those live into J survive both sides. The
//! extra liveness is propagated like any other, to a fixed point.
//!
//! Registers that never live across a block boundary are not tracked densely; functions of 10,000 blocks stay
//! cheap. Who needs some registers only, as the allocators of the files do, asks for those ([`Liveness::of`]).

use cranelift_entity::{EntityRef, SecondaryMap};
use fixedbitset::FixedBitSet;

use super::cfg::Cfg;
use super::{Bank, Block, Function, RegClass};
use heddle_isa::{Inst, Op, Reg, VReg};

/// Live sets at block boundaries, by words of registers.
#[derive(Clone)]
pub struct Liveness {
    /// Register and word by dense number.
    units: Vec<(VReg, u8)>,
    live_in: Vec<FixedBitSet>,
    live_out: Vec<FixedBitSet>,
}

const LOCAL: u32 = u32::MAX;

/// Mask of the words `word .. word + words`; predicates (0 words) have one.
pub const fn word_mask(word: u8, words: u8) -> u8 {
    let words = if words == 0 { 1 } else { words };
    ((1u16 << words) - 1) as u8 * (1 << word)
}

/// Mask of all words of a class.
pub const fn class_mask(class: RegClass) -> u8 {
    word_mask(0, class.words)
}

/// Calls `f` with each virtual register an instruction reads and the mask of the words read, guard included
/// (phi sources excluded: they are read on the edges).
pub fn for_each_use(inst: &Inst, mut f: impl FnMut(VReg, u8)) {
    if let Some(g) = &inst.guard
        && let Reg::Virtual { reg, .. } = g.reg
    {
        f(reg, 1);
    }
    if inst.op != Op::Phi {
        for (i, s) in inst.srcs.iter().enumerate() {
            if let Some((reg, word)) = s.as_virt() {
                f(reg, word_mask(word, inst.src_words(i)));
            }
        }
    }
}

/// The virtual register an instruction writes, and the mask of the words written.
pub fn def(inst: &Inst) -> Option<(VReg, u8)> {
    inst.dst.as_virt().map(|(r, word)| (r, word_mask(word, inst.dst_words())))
}

/// Mask of the words whose old value is dead before the instruction: those written, unless other lanes keep theirs under a guard.
pub fn kill_mask(inst: &Inst) -> u8 {
    if inst.guard.is_some() && !inst.fresh { 0 } else { def(inst).map_or(0, |d| d.1) }
}

impl Liveness {
    /// Computes liveness of all virtual registers of a function.
    pub fn new(function: &Function, cfg: &Cfg) -> Self {
        Liveness::of(function, cfg, |_| true)
    }

    /// Computes liveness of the registers for which `wanted` holds. Of the others nothing is known: they seem to be
    /// live nowhere.
    pub fn of(function: &Function, cfg: &Cfg, wanted: impl Fn(VReg) -> bool) -> Self {
        let n = cfg.len;
        let mut number: SecondaryMap<VReg, u32> = SecondaryMap::with_default(LOCAL);
        number.resize(function.vregs.len());
        let mut units = Vec::new();
        let mut enter = |r: VReg, number: &mut SecondaryMap<VReg, u32>| {
            if number[r] == LOCAL {
                number[r] = units.len() as u32;
                units.extend((0..function.vregs[r].registers()).map(|w| (r, w)));
            }
        };
        // Registers with a word used before its definition in the block live across a boundary.
        let mut defined_in: SecondaryMap<VReg, (u32, u8)> = SecondaryMap::with_default((u32::MAX, 0));
        defined_in.resize(function.vregs.len());
        for (position, &block) in function.layout.iter().enumerate() {
            let here = position as u32;
            for inst in &function.blocks[block].insts {
                if inst.op == Op::Phi {
                    let sources = inst.srcs.iter().filter_map(|s| s.as_virt()).filter(|(r, _)| wanted(*r));
                    sources.for_each(|(r, _)| enter(r, &mut number));
                }
                for_each_use(inst, |r, mask| {
                    if !wanted(r) {
                        return;
                    }
                    let (at, defined) = defined_in[r];
                    if at != here || mask & !defined != 0 {
                        enter(r, &mut number);
                    }
                });
                if let Some((d, _)) = def(inst).filter(|(d, _)| wanted(*d)) {
                    let mask = kill_mask(inst);
                    if defined_in[d].0 != here {
                        defined_in[d] = (here, 0);
                    }
                    defined_in[d].1 |= mask;
                }
            }
        }
        let width = units.len();
        if width == 0 {
            let nowhere = vec![FixedBitSet::new(); n];
            return Liveness { units, live_in: nowhere.clone(), live_out: nowhere };
        }
        let mut uses = vec![FixedBitSet::with_capacity(width); n];
        let mut kill = vec![FixedBitSet::with_capacity(width); n];
        let mut out_extra = vec![FixedBitSet::with_capacity(width); n];
        for &block in &function.layout {
            let b = block.index();
            for inst in &function.blocks[block].insts {
                if inst.op == Op::Phi {
                    for (s, p) in inst.srcs.iter().zip(inst.blocks()) {
                        if let Some((r, word)) = s.as_virt().filter(|(r, _)| wanted(*r)) {
                            for w in bits(word_mask(word, inst.ty.words())) {
                                out_extra[p.index()].insert(number[r] as usize + w);
                            }
                        }
                    }
                }
                for_each_use(inst, |r, mask| {
                    if number[r] != LOCAL {
                        for i in bits(mask).map(|w| number[r] as usize + w) {
                            if !kill[b].contains(i) {
                                uses[b].insert(i);
                            }
                        }
                    }
                });
                if let Some((d, _)) = def(inst)
                    && number[d] != LOCAL
                {
                    bits(kill_mask(inst)).for_each(|w| kill[b].insert(number[d] as usize + w));
                }
            }
        }
        let mut result = Liveness { units, live_in: uses, live_out: out_extra };
        result.solve(cfg, &kill);
        let mut scalars = FixedBitSet::with_capacity(width);
        for (i, (r, _)) in result.units.iter().enumerate() {
            scalars.set(i, function.vregs[*r].bank == Bank::Scalar);
        }
        if scalars.count_ones(..) > 0 {
            result.linearize(function, cfg, &kill, &scalars);
        }
        result
    }

    /// Backward data flow to a fixed point, starting from what `live_in` and `live_out` already hold.
    fn solve(&mut self, cfg: &Cfg, kill: &[FixedBitSet]) {
        let mut queue: Vec<Block> = cfg.rpo.clone();
        let mut queued = FixedBitSet::with_capacity(cfg.len);
        queue.iter().for_each(|b| queued.insert(b.index()));
        while let Some(block) = queue.pop() {
            let b = block.index();
            queued.set(b, false);
            for s in &cfg.edges[block].succs {
                self.live_out[b].union_with(&self.live_in[s.index()]);
            }
            let mut new = self.live_out[b].clone();
            new.difference_with(&kill[b]);
            new.union_with(&self.live_in[b]);
            if new != self.live_in[b] {
                self.live_in[b] = new;
                for p in &cfg.edges[block].preds {
                    if !queued.put(p.index()) {
                        queue.push(*p);
                    }
                }
            }
        }
    }

    /// The linear view of scalar registers (module documentation).
    fn linearize(&mut self, function: &Function, cfg: &Cfg, kill: &[FixedBitSet], scalars: &FixedBitSet) {
        let regions: Vec<_> = cfg
            .divergent_branches(function)
            .into_iter()
            .map(|d| (cfg.region(d.fall_through, d.reconverge), cfg.region(d.taken, d.reconverge), d))
            .collect();
        loop {
            let mut changed = false;
            for (first, second, d) in &regions {
                let mut waiting = self.live_in[d.taken.index()].clone();
                waiting.intersect_with(scalars);
                let mut joined = FixedBitSet::with_capacity(scalars.len());
                if let Some(j) = d.reconverge {
                    joined.clone_from(&self.live_in[j.index()]);
                    joined.intersect_with(scalars);
                }
                waiting.union_with(&joined);
                for (region, extra) in [(first, &waiting), (second, &joined)] {
                    for b in region.ones() {
                        if !extra.is_subset(&self.live_in[b]) || !extra.is_subset(&self.live_out[b]) {
                            self.live_in[b].union_with(extra);
                            self.live_out[b].union_with(extra);
                            changed = true;
                        }
                    }
                }
            }
            if !changed {
                break;
            }
            self.solve(cfg, kill);
        }
    }

    /// Registers live into a block, each with the mask of its live words.
    pub fn live_in(&self, block: Block) -> impl Iterator<Item = (VReg, u8)> + '_ {
        self.masks(&self.live_in[block.index()])
    }

    /// Registers live out of a block (phi inputs of successors included), each with the mask of its live words.
    pub fn live_out(&self, block: Block) -> impl Iterator<Item = (VReg, u8)> + '_ {
        self.masks(&self.live_out[block.index()])
    }

    fn masks<'a>(&'a self, set: &'a FixedBitSet) -> impl Iterator<Item = (VReg, u8)> + 'a {
        let mut ones = set.ones().map(|i| self.units[i]).peekable();
        std::iter::from_fn(move || {
            let (r, w) = ones.next()?;
            let mut mask = 1 << w;
            while let Some((_, w)) = ones.next_if(|(next, _)| *next == r) {
                mask |= 1 << w;
            }
            Some((r, mask))
        })
    }
}

/// The bits set in a mask.
pub fn bits(mask: u8) -> impl Iterator<Item = usize> {
    (0..8).filter(move |i| mask >> i & 1 == 1)
}
