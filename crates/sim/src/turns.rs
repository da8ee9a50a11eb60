//! Forward progress of diverged lanes: the lanes of a warp take turns, each set of them with control state of its own.
//!
//! On a reconvergence stack, lanes that have left a loop wait for those that are still in it; if these wait for something that
//! the first ones hold, nobody goes on (ElTantawy and Aamodt, "MIMD synchronization on SIMT architectures", MICRO 2016). With
//! independent threads (`sm.independent-threads`; NVIDIA, "Tesla V100 GPU architecture", 2017, "independent thread
//! scheduling") a warp runs as it does on the stack as long as no lanes wait for long. When lanes have run [`TURN`] blocks while
//! others of the warp waited, it divides: those that run and each set of those that wait become *paths*, each with a stack of
//! its own, and the paths take turns, a path's ending where it jumps backward. Paths reconverge where they meet: one whose turn
//! ends joins another that goes on at the same place with the same stack, and so do all at a barrier, at which a warp stands
//! when all its paths do.
//!
//! Vector and predicate registers are written lane by lane, so paths share them. A scalar register is one word for a warp, and
//! code may rely on its value in all of its lanes: each path has its own, saved and restored with its turn, which is what a
//! turn costs. Paths whose scalar registers differ in what may still be read do not join.

use std::collections::VecDeque;
use std::sync::Arc;

use super::Simulation;
use super::exec::Lanes;
use super::program::{End, Program};
use super::warp::Control;
use heddle_isa::{Inst, Op, Reg, Space};

/// Blocks after which the lanes that run leave their place to those that wait.
const TURN: u32 = 64;

/// What turns need to know of a program.
#[derive(Debug)]
pub struct Plan {
    /// First row of scalar registers, and how many there are.
    first: u16,
    count: u16,
    /// By block, the scalar registers that may be read from its beginning on, a bit each.
    live: Vec<[u64; 4]>,
}

impl Plan {
    /// For a launch in which lanes take turns: on a machine with independent threads, and only where work-items can wait for
    /// each other other than at barriers, which the code shows. Code that exchanges values between the lanes of a warp relies
    /// on the reconvergence of the stack, so its lanes take none.
    pub fn new(run: &Simulation) -> Option<Arc<Plan>> {
        let program = run.launch.program;
        let crosses = || program.insts.iter().any(|i| matches!(i.op, Op::Shuffle | Op::Ballot));
        let wanted = run.machine.sm.independent_threads && program.communicates() && !crosses();
        wanted.then(|| Arc::new(Plan::of(program)))
    }

    fn of(program: &Program) -> Plan {
        let count = program.header.scalar_registers.min(256) as u16;
        Plan { first: program.rows.scalar, count, live: live_scalars(program) }
    }

    /// Scalar registers that a turn saves, and as many it restores.
    pub fn saved(&self) -> u64 {
        u64::from(self.count)
    }

    fn is_live(&self, block: u32, register: usize) -> bool {
        self.live.get(block as usize).is_none_or(|live| live[register / 64] >> (register % 64) & 1 == 1)
    }
}

/// The scalar registers that are read before they are written, from the beginning of each block on: the classical backward
/// data-flow problem, over the branches that a path may take.
fn live_scalars(program: &Program) -> Vec<[u64; 4]> {
    let mut live = vec![[0u64; 4]; program.blocks.len()];
    let set = |bits: &mut [u64; 4], first: u8, words: u8, on: bool| {
        for register in usize::from(first)..(usize::from(first) + usize::from(words.max(1))).min(256) {
            let bit = 1 << (register % 64);
            bits[register / 64] = bits[register / 64] & !bit | if on { bit } else { 0 };
        }
    };
    let scalar = |reg: Option<heddle_isa::PhysReg>| reg.filter(|p| p.space == Space::Scalar).map(|p| p.index);
    let step = |inst: &Inst, bits: &mut [u64; 4]| {
        if let Some(index) = scalar(inst.dst.as_phys()).filter(|_| inst.guard.is_none()) {
            set(bits, index, inst.dst_words(), false);
        }
        for (i, source) in inst.srcs.iter().enumerate() {
            if let Some(index) = scalar(source.as_phys()) {
                set(bits, index, inst.src_words(i), true);
            }
        }
        if let Some(heddle_isa::Guard { reg: Reg::Physical(p), .. }) = inst.guard
            && let Some(index) = scalar(Some(p))
        {
            set(bits, index, 1, true);
        }
    };
    loop {
        let mut changed = false;
        for b in (0..program.blocks.len()).rev() {
            let block = &program.blocks[b];
            let next = [Some(b as u32 + 1), None];
            let successors = match block.end {
                End::Jump(target) => [Some(target), None],
                End::Scalar { target, .. } | End::Divergent { target, .. } => [next[0], Some(target)],
                End::Exit | End::Fall | End::Barrier => next,
                End::Trap => [None, None],
            };
            let mut bits = [0u64; 4];
            for successor in successors.into_iter().flatten() {
                let of = live.get(successor as usize).copied().unwrap_or_default();
                bits.iter_mut().zip(of).for_each(|(all, more)| *all |= more);
            }
            let last = (block.first + block.len()).min(program.insts.len() as u32);
            for i in (block.first..last).rev() {
                step(&program.insts[i as usize], &mut bits);
            }
            changed |= std::mem::replace(&mut live[b], bits) != bits;
        }
        if !changed {
            return live;
        }
    }
}

/// Lanes that go on together, while it is not their turn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Path {
    control: Control,
    /// Its scalar registers.
    scalars: Vec<u32>,
    /// The barrier that it stands at: instruction.
    pub barrier: Option<u32>,
}

impl Path {
    /// Its lanes that have not ended, with those that wait for others of the path.
    fn lanes(&self, live: u64) -> u64 {
        self.control.all_lanes() & live
    }

    /// Active lanes and block.
    pub fn place(&self) -> (u64, u32) {
        (self.control.mask, self.control.pc)
    }
}

/// The paths of a warp.
#[derive(Clone, Debug)]
pub struct Turns {
    plan: Arc<Plan>,
    /// Paths whose turn it is not, the one whose turn was longest ago first.
    pub others: VecDeque<Path>,
    /// Blocks of the present turn.
    blocks: u32,
    /// Turns that have begun since it was asked last.
    pub begun: u64,
    /// The barrier at which the path in the place stands.
    barrier: Option<u32>,
}

impl Turns {
    /// Of a warp that has not begun.
    pub fn new(plan: Arc<Plan>) -> Turns {
        Turns { plan, others: VecDeque::new(), blocks: 0, begun: 0, barrier: None }
    }

    /// A warp begins.
    pub fn reset(&mut self) {
        self.others.clear();
        (self.blocks, self.begun, self.barrier) = (0, 0, None);
    }

    /// Scalar registers that a turn saves, and as many it restores.
    pub fn saved(&self) -> u64 {
        self.plan.saved()
    }

    /// Whether paths and turn are the same in two states, apart from scalar registers that do not matter.
    pub fn same(&self, other: &Turns, matters: impl Fn(u16) -> bool) -> bool {
        let same_scalars = |a: &Path, b: &Path| {
            let pairs = a.scalars.iter().zip(&b.scalars).enumerate();
            pairs.filter(|(_, (x, y))| x != y).all(|(i, _)| !matters(self.plan.first + i as u16))
        };
        self.blocks == other.blocks
            && self.others.len() == other.others.len()
            && self
                .others
                .iter()
                .zip(&other.others)
                .all(|(a, b)| a.control.same_place(&b.control) && a.barrier == b.barrier && same_scalars(a, b))
    }

    /// A block has been executed of the path whose turn it is, which jumped to where `control` is, backward or not: if others
    /// wait for it too long, it is the next one's turn.
    pub fn after_block<const N: usize>(&mut self, control: &mut Control, lanes: &mut Lanes<N>, backward: bool) {
        self.blocks = self.blocks.saturating_add(1);
        if self.blocks < TURN || !backward || (self.others.is_empty() && !control.holds_others()) {
            return;
        }
        self.divide(control, lanes);
        self.put_back(control, lanes, None);
        self.next(control, lanes);
    }

    /// The path whose turn it is stands at a barrier. Returns whether another one goes on; otherwise all stand at one.
    pub fn at_barrier<const N: usize>(&mut self, control: &mut Control, lanes: &mut Lanes<N>, barrier: u32) -> bool {
        self.divide(control, lanes);
        self.put_back(control, lanes, Some(barrier));
        self.next(control, lanes)
    }

    /// The path whose turn it is has ended. Returns whether another one goes on.
    pub fn ended<const N: usize>(&mut self, control: &mut Control, lanes: &mut Lanes<N>) -> bool {
        self.next(control, lanes)
    }

    /// The barrier at which the path in the place stands, the others being at one, too.
    pub fn stands_at(&self) -> Option<u32> {
        self.barrier
    }

    /// All paths leave the barriers at which they stand. Those that can go on together have joined when they came.
    pub fn leave_barrier(&mut self) {
        self.others.iter_mut().for_each(|path| path.barrier = None);
        (self.barrier, self.blocks) = (None, 0);
    }

    /// Sets of lanes that wait for the running ones become paths of their own.
    fn divide<const N: usize>(&mut self, control: &mut Control, lanes: &Lanes<N>) {
        if !control.holds_others() {
            return;
        }
        let scalars = self.scalars(lanes);
        for part in control.divide() {
            self.join(Path { control: part, scalars: scalars.clone(), barrier: None }, control.live);
        }
    }

    fn scalars<const N: usize>(&self, lanes: &Lanes<N>) -> Vec<u32> {
        let first = usize::from(self.plan.first);
        lanes.rows[first..first + usize::from(self.plan.count)].iter().map(|row| row.0[0]).collect()
    }

    /// The running path waits for its next turn, behind all others.
    fn put_back<const N: usize>(&mut self, control: &Control, lanes: &Lanes<N>, barrier: Option<u32>) {
        let path = Path { control: control.clone(), scalars: self.scalars(lanes), barrier };
        self.join(path, control.live);
    }

    /// A path joins another one that goes on at the same place, or is the last one.
    fn join(&mut self, path: Path, live: u64) {
        let block = path.control.pc;
        let plan = &self.plan;
        let agree = |other: &Path| {
            let differ = other.scalars.iter().zip(&path.scalars).enumerate().filter(|(_, (a, b))| a != b);
            other.barrier == path.barrier
                && other.control.same_way(&path.control)
                && differ.map(|(i, _)| i).all(|i| !plan.is_live(block, i))
        };
        match self.others.iter_mut().find(|other| agree(other)) {
            Some(other) => other.control.join(&path.control),
            None if path.lanes(live) != 0 => self.others.push_back(path),
            None => {}
        }
    }

    /// The next path's turn begins. False: there is none that does not stand at a barrier, and one that does is in the place.
    fn next<const N: usize>(&mut self, control: &mut Control, lanes: &mut Lanes<N>) -> bool {
        self.blocks = 0;
        let live = control.live;
        let at = self.others.iter().position(|p| p.barrier.is_none());
        let Some(path) = self.others.remove(at.unwrap_or(0)) else { return false };
        *control = path.control;
        control.live = live;
        self.barrier = path.barrier;
        lanes.mask = control.mask;
        let first = usize::from(self.plan.first);
        for (row, value) in lanes.rows[first..].iter_mut().zip(&path.scalars) {
            row.0 = [*value; N];
        }
        self.begun += u64::from(at.is_some());
        at.is_some()
    }
}
