//! What instructions do with shared names, and what lanes still read.

use cranelift_entity::SecondaryMap;

use super::super::names::Names;
use heddle_isa::{Inst, Op};
use heddle_mir::cfg::Cfg;
use heddle_mir::{Block, Function};

/// Shared names that an instruction uses. In this order it reads, maps what it writes, and gives back.
#[derive(Clone, Copy, Debug, Default)]
pub struct Uses {
    /// Read.
    pub reads: Names,
    /// Written.
    pub writes: Names,
    /// Given back.
    gives: Names,
    /// Given back only if no lane of the warp waits.
    conditional: bool,
    /// Written in all active lanes.
    whole: bool,
}

impl Uses {
    /// Of an instruction; `shared` are the names that are renamed.
    pub fn new(inst: &Inst, shared: Names) -> Uses {
        let release = inst.op == Op::Release;
        let mut uses = Uses { conditional: release && inst.imm != 0, whole: inst.guard.is_none(), ..Default::default() };
        for (i, source) in inst.srcs.iter().enumerate() {
            let Some(reg) = source.as_phys() else { continue };
            let names = Names::of(reg, inst.src_words(i)).and(shared);
            if !release {
                uses.reads = uses.reads.or(names);
            }
            if release || inst.release >> i & 1 == 1 {
                uses.gives = uses.gives.or(names);
            }
        }
        if let Some(reg) = inst.dst.as_phys() {
            uses.writes = Names::of(reg, inst.dst_words()).and(shared);
        }
        uses
    }

    /// What it gives back when the warp is alone, or when lanes wait.
    pub fn given(&self, alone: bool) -> Names {
        if self.conditional && !alone { Names::default() } else { self.gives }
    }

    /// What a lane will read before it writes it, before the instruction, from what it is behind it.
    pub fn live_before(&self, after: Names) -> Names {
        if self.whole { after.without(self.writes).or(self.reads) } else { after.or(self.reads) }
    }
}

/// Names that a lane will read before it writes them, on its own path, at the start and at the end of each
/// block. Writes are masked, so what other lanes write meanwhile changes nothing.
pub fn lane_liveness(function: &Function, cfg: &Cfg, shared: Names) -> (SecondaryMap<Block, Names>, SecondaryMap<Block, Names>) {
    let (mut start, mut end) = (SecondaryMap::<Block, Names>::new(), SecondaryMap::<Block, Names>::new());
    loop {
        let mut changed = false;
        for &block in cfg.rpo.iter().rev() {
            end[block] = cfg.edges[block].succs.iter().fold(Names::default(), |n, s| n.or(start[*s]));
            let insts = &function.blocks[block].insts;
            let live = insts.iter().rev().fold(end[block], |live, inst| Uses::new(inst, shared).live_before(live));
            changed |= std::mem::replace(&mut start[block], live) != live;
        }
        if !changed {
            return (start, end);
        }
    }
}
