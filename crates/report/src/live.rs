//! Live ranges of physical registers over a kernel's code, in the order of its instructions.
//!
//! Works on decoded code, so on every object. Instruction p reads at point 2p and writes at 2p+1. Vector and
//! predicate registers are live along each lane's own way; scalar registers also while lanes that will read
//! them wait (hazard 1, `docs/ARCHITECTURE.md`). What no way defines before it is read is not live before the
//! read.

use fixedbitset::FixedBitSet;
use serde::Serialize;

use heddle_isa::{Inst, Operand, PhysReg, Reg, Space};
use heddle_sim::Program;
use heddle_sim::program::End;
use heddle_sim::program::NOWHERE;

/// A register and when it holds a value that is read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Register {
    /// Number in its file.
    pub index: u32,
    /// Half-open intervals of points, sorted and disjoint.
    pub live: Vec<(u32, u32)>,
    /// Instructions that write it.
    pub writes: Vec<u32>,
}

/// A register file of a work-item or warp.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct File {
    /// Its name: `main`, `local of cluster 2`, …
    pub name: String,
    /// Registers live at once at most.
    pub pressure: u32,
    /// Those that the kernel names.
    pub registers: Vec<Register>,
}

/// Where each file's registers are in the bit sets.
struct Units {
    main: usize,
    local: Vec<usize>,
    scalar: usize,
    predicate: usize,
    total: usize,
}

impl Units {
    fn new(program: &Program) -> Units {
        let h = &program.header;
        let mut next = 0;
        let mut take = |n: u32| {
            let start = next;
            next += n as usize;
            start
        };
        let main = take(h.main_registers);
        let local = (0..program.clusters).map(|c| take(h.local_registers.get(c).copied().unwrap_or(0))).collect();
        let (scalar, predicate) = (take(h.scalar_registers), take(h.predicate_registers));
        Units { main, local, scalar, predicate, total: next }
    }

    fn of(&self, r: PhysReg, cluster: u8, words: u8) -> std::ops::Range<usize> {
        let base = match r.space {
            Space::Main => self.main,
            Space::Local => self.local[usize::from(cluster)],
            Space::Scalar => self.scalar,
            _ => self.predicate,
        };
        let first = base + usize::from(r.index);
        first..(first + usize::from(words.max(1))).min(self.total)
    }

    fn uses(&self, inst: &Inst, mut f: impl FnMut(usize)) {
        for (i, s) in inst.srcs.iter().enumerate() {
            if let Operand::Reg(Reg::Physical(r)) = s {
                self.of(*r, inst.cluster, inst.src_words(i)).for_each(&mut f);
            }
        }
        if let Some(Reg::Physical(r)) = inst.guard.map(|g| g.reg) {
            self.of(r, inst.cluster, 1).for_each(&mut f);
        }
    }

    fn writes(&self, inst: &Inst) -> std::ops::Range<usize> {
        inst.dst.as_phys().map_or(0..0, |r| self.of(r, inst.cluster, inst.dst_words()))
    }
}

/// Where control goes from a block.
pub fn successors(program: &Program, block: usize) -> Vec<usize> {
    let next = block + 1;
    match program.blocks[block].end {
        End::Fall | End::Barrier => vec![next],
        End::Jump(t) => vec![t as usize],
        End::Scalar { target, .. } | End::Divergent { target, .. } => vec![target as usize, next],
        End::Exit | End::Trap => Vec::new(),
    }
}

struct Flow {
    succs: Vec<Vec<usize>>,
    live_in: Vec<FixedBitSet>,
    live_out: Vec<FixedBitSet>,
}

impl Flow {
    fn new(program: &Program, units: &Units) -> Flow {
        let n = program.blocks.len();
        let empty = || vec![FixedBitSet::with_capacity(units.total); n];
        let (mut uses, mut kills, mut reached) = (empty(), empty(), empty());
        for (b, block) in program.blocks.iter().enumerate() {
            let first = block.first as usize;
            for inst in &program.insts[first..first + block.len() as usize] {
                units.uses(inst, |u| {
                    if !kills[b].contains(u) {
                        uses[b].insert(u);
                    }
                });
                reached[b].insert_range(units.writes(inst));
                if inst.guard.is_none() {
                    kills[b].insert_range(units.writes(inst));
                }
            }
        }
        let succs: Vec<Vec<usize>> = (0..n).map(|b| successors(program, b)).collect();
        let mut flow = Flow { succs, live_in: uses, live_out: empty() };
        let scalars = units.scalar..units.predicate;
        flow.solve(&kills);
        while flow.waiting(program, &scalars) {
            flow.solve(&kills);
        }
        flow.only_defined(reached, &scalars);
        flow
    }

    fn solve(&mut self, kills: &[FixedBitSet]) {
        let mut changed = true;
        while changed {
            changed = false;
            for b in (0..self.succs.len()).rev() {
                let mut out = self.live_out[b].clone();
                self.succs[b].iter().for_each(|s| out.union_with(&self.live_in[*s]));
                let mut new = out.clone();
                new.difference_with(&kills[b]);
                new.union_with(&self.live_in[b]);
                changed |= new != self.live_in[b] || out != self.live_out[b];
                (self.live_in[b], self.live_out[b]) = (new, out);
            }
        }
    }

    /// Blocks reachable from one without passing another.
    fn region(&self, from: usize, stop: usize) -> FixedBitSet {
        let mut seen = FixedBitSet::with_capacity(self.succs.len());
        let mut stack = vec![from];
        while let Some(b) = stack.pop() {
            if b != stop && !seen.put(b) {
                stack.extend(&self.succs[b]);
            }
        }
        seen
    }

    /// Scalars that waiting lanes will read live through the blocks that run meanwhile. Returns whether that added any.
    fn waiting(&mut self, program: &Program, scalars: &std::ops::Range<usize>) -> bool {
        let mut mask = FixedBitSet::with_capacity(self.live_in.first().map_or(0, FixedBitSet::len));
        mask.insert_range(scalars.clone());
        let mut changed = false;
        for (b, block) in program.blocks.iter().enumerate() {
            let End::Divergent { target, reconverge, .. } = block.end else { continue };
            let stop = if reconverge == NOWHERE { usize::MAX } else { reconverge as usize };
            let mut joined = FixedBitSet::with_capacity(mask.len());
            if let Some(live) = self.live_in.get(stop) {
                joined.union_with(live);
                joined.intersect_with(&mask);
            }
            let mut waiting = self.live_in[target as usize].clone();
            waiting.intersect_with(&mask);
            waiting.union_with(&joined);
            for (from, extra) in [(b + 1, &waiting), (target as usize, &joined)] {
                for r in self.region(from, stop).ones() {
                    if !extra.is_subset(&self.live_in[r]) || !extra.is_subset(&self.live_out[r]) {
                        self.live_in[r].union_with(extra);
                        self.live_out[r].union_with(extra);
                        changed = true;
                    }
                }
            }
        }
        changed
    }

    /// Takes away what no definition reaches; scalars keep their longer ranges.
    fn only_defined(&mut self, mut reached: Vec<FixedBitSet>, scalars: &std::ops::Range<usize>) {
        let n = self.succs.len();
        let mut at_start = vec![FixedBitSet::with_capacity(reached.first().map_or(0, FixedBitSet::len)); n];
        at_start.iter_mut().for_each(|s| s.insert_range(scalars.clone()));
        let mut changed = true;
        while changed {
            changed = false;
            for b in 0..n {
                for s in self.succs[b].clone() {
                    if !reached[b].is_subset(&at_start[s]) {
                        at_start[s].union_with(&reached[b]);
                        reached[s].union_with(&at_start[s]);
                        changed = true;
                    }
                }
            }
        }
        for b in 0..n {
            self.live_in[b].intersect_with(&at_start[b]);
            reached[b].insert_range(scalars.clone());
            self.live_out[b].intersect_with(&reached[b]);
        }
    }
}

/// Live ranges of all registers that a kernel names, by file.
pub fn files(program: &Program) -> Vec<File> {
    let units = Units::new(program);
    let flow = Flow::new(program, &units);
    let mut live: Vec<Vec<(u32, u32)>> = vec![Vec::new(); units.total];
    let mut writes: Vec<Vec<u32>> = vec![Vec::new(); units.total];
    // Until when each register is live, walking a block backwards.
    let mut ends: Vec<Option<u32>> = vec![None; units.total];
    for (b, block) in program.blocks.iter().enumerate() {
        let (first, last) = (block.first, block.first + block.len());
        flow.live_out[b].ones().for_each(|u| ends[u] = Some(2 * last));
        for p in (first..last).rev() {
            let inst = &program.insts[p as usize];
            for u in units.writes(inst) {
                writes[u].push(p);
                match ends[u] {
                    None => live[u].push((2 * p + 1, 2 * p + 2)),
                    Some(end) if inst.guard.is_none() => {
                        live[u].push((2 * p + 1, end));
                        ends[u] = None;
                    }
                    Some(_) => {}
                }
            }
            units.uses(inst, |u| {
                ends[u].get_or_insert(2 * p + 1);
            });
        }
        for u in 0..units.total {
            if let Some(end) = ends[u].take() {
                let start = if flow.live_in[b].contains(u) {
                    2 * first
                } else {
                    // Written under guards only.
                    writes[u].iter().copied().filter(|w| (first..last).contains(w)).min().map_or(end - 1, |w| 2 * w + 1)
                };
                live[u].push((start.min(end - 1), end));
            }
        }
    }
    let spans = [("main".to_string(), units.main..units.main + program.header.main_registers as usize)]
        .into_iter()
        .chain(units.local.iter().enumerate().map(|(c, start)| {
            let n = program.header.local_registers.get(c).copied().unwrap_or(0) as usize;
            (format!("local of cluster {c}"), *start..start + n)
        }))
        .chain([("scalar".into(), units.scalar..units.predicate), ("predicate".into(), units.predicate..units.total)]);
    spans
        .filter(|(_, span)| !span.is_empty())
        .map(|(name, span)| {
            let registers: Vec<Register> = span
                .clone()
                .map(|u| {
                    writes[u].sort_unstable();
                    Register {
                        index: (u - span.start) as u32,
                        live: united(std::mem::take(&mut live[u])),
                        writes: std::mem::take(&mut writes[u]),
                    }
                })
                .collect();
            File { pressure: pressure(&registers), name, registers }
        })
        .collect()
}

/// Sorts intervals; those that touch become one.
fn united(mut spans: Vec<(u32, u32)>) -> Vec<(u32, u32)> {
    spans.sort_unstable();
    let mut out: Vec<(u32, u32)> = Vec::with_capacity(spans.len());
    for (start, end) in spans {
        match out.last_mut() {
            Some(last) if start <= last.1 => last.1 = last.1.max(end),
            _ => out.push((start, end)),
        }
    }
    out
}

/// Registers live at once at most.
fn pressure(registers: &[Register]) -> u32 {
    let mut steps: Vec<(u32, i32)> = registers.iter().flat_map(|r| &r.live).flat_map(|(s, e)| [(*s, 1), (*e, -1)]).collect();
    steps.sort_unstable();
    let mut now = 0;
    steps.iter().fold(0, |most, (_, d)| {
        now += d;
        most.max(now)
    }) as u32
}
