//! A launch under a debugger: executed instruction by instruction, in an order that is the same each time, with everything
//! to be looked at in between.
//!
//! Work-groups run one after the other in the order of their numbers. The warps of one take turns at barriers, as in
//! functional mode on one host thread, and after many instructions, in case one waits for another in a loop. A moment of a
//! launch is the number of warp instructions executed before it. As execution is deterministic, an earlier moment is reached by
//! beginning anew with the memory of the launch's start.

use super::Simulation;
use super::energy;
use super::exec::{Decoded, Lanes, Row, prepare};
use super::fault::Fault;
use super::functional::{BlockCounts, GroupPlace, Warp, local_memory};
use super::program::{End, Program};
use super::statistics::Statistics;
use super::turns::{Plan, Turns};
use heddle_isa::{Guard, MemorySpace, PhysReg, Reg, Space, Special};

/// Instructions of a warp without a barrier after which another one's turn comes.
const SLICE: u64 = 1 << 16;

/// Where a warp is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WarpState {
    /// Its number in the work-group.
    pub number: u32,
    /// Instruction that its active lanes execute next; at a barrier the barrier itself.
    pub index: u32,
    /// Active lanes.
    pub active: u64,
    /// Those of them for which the guard of the next instruction holds.
    pub guarded: u64,
    /// Lanes that have not ended.
    pub live: u64,
    /// It stands at a barrier.
    pub at_barrier: bool,
    /// Lanes that wait for the active ones, those that are next first, each set with the instruction at which it goes on.
    pub held: Vec<(u64, u32)>,
}

/// What a step came to.
#[derive(Debug)]
pub enum Step {
    /// One instruction was executed.
    Executed,
    /// The launch has ended.
    Ended,
    /// The instruction that would have been next does what no program may.
    Fault(Box<Fault>),
}

/// A launch that executes only when it is told to.
pub trait Debuggee {
    /// Executes the next instruction.
    fn step(&mut self) -> Step;
    /// Begins anew, with memory as it was.
    fn restart(&mut self);
    /// Warp instructions executed.
    fn time(&self) -> u64;
    /// The launch's code.
    fn program(&self) -> &Program;
    /// Id and size of the work-group that executes; `None` when the launch has ended.
    fn group(&self) -> Option<([u32; 3], [u32; 3])>;
    /// Global id of the first work-item of the work-group.
    fn origin(&self) -> [u32; 3];
    /// Lanes of a warp.
    fn lanes(&self) -> u32;
    /// The warp whose instruction is next.
    fn current(&self) -> u32;
    /// Where a warp of the work-group is.
    fn warp(&self, number: u32) -> Option<WarpState>;
    /// How many warps the work-group has.
    fn warps(&self) -> u32;
    /// A register of a lane: a scalar one has the same value in all, a predicate is 0 or 1. Local registers are those of the
    /// cluster.
    fn register(&self, warp: u32, lane: u32, register: PhysReg, cluster: u8) -> Option<u32>;
    /// A special register of a lane.
    fn special(&self, warp: u32, lane: u32, special: Special) -> Option<u32>;
    /// Bytes of memory, of private memory those of a lane.
    fn read(&self, space: MemorySpace, place: (u32, u32), address: u64, bytes: usize) -> Option<Vec<u8>>;
    /// What has been executed.
    fn statistics(&self) -> Statistics;
}

/// A launch to be debugged.
pub(super) fn debuggee<'a>(run: Simulation<'a>) -> Box<dyn Debuggee + 'a> {
    by_warp_size!(run.machine.warp_size, execution(run))
}

fn execution<'a, const N: usize>(run: Simulation<'a>) -> Box<dyn Debuggee + 'a> {
    Box::new(Execution::<N>::new(run))
}

struct Execution<'a, const N: usize> {
    run: Simulation<'a>,
    code: Vec<Decoded<N>>,
    warps: Vec<Warp<'a, N>>,
    /// Of each warp, how many instructions of its block it has executed.
    done: Vec<u32>,
    local: Vec<u128>,
    /// Work-group by number, of how many, and where it is.
    group: u64,
    groups: u64,
    place: GroupPlace,
    /// Warps of the work-group, and the one that is next.
    live: usize,
    current: usize,
    /// Instructions of its slice.
    slice: u64,
    time: u64,
    counts: BlockCounts,
    /// Memory at the start: address and bytes of each allocation.
    start: Vec<(u64, Vec<u8>)>,
}

impl<'a, const N: usize> Execution<'a, N> {
    fn new(run: Simulation<'a>) -> Self {
        let (launch, memory) = (run.launch, run.memory);
        let plan = Plan::new(&run);
        let warps = launch.local.iter().product::<u32>().div_ceil(N as u32) as usize;
        let new_warp = |_| {
            let mut warp = Warp::new(launch, memory, run.options);
            warp.turns = plan.clone().map(|plan| Box::new(Turns::new(plan)));
            warp
        };
        let contents = |a: &super::memory::Allocation| Some((a.address, memory.read(a.address, a.bytes as usize)?));
        let mut execution = Execution {
            code: prepare::<N>(launch.program),
            warps: (0..warps).map(new_warp).collect(),
            done: vec![0; warps],
            local: local_memory(launch.local_bytes),
            group: 0,
            groups: launch.groups().iter().map(|g| u64::from(*g)).product(),
            place: GroupPlace { id: [0; 3], size: launch.local },
            live: 0,
            current: 0,
            slice: 0,
            time: 0,
            counts: BlockCounts::new(launch.program),
            start: memory.allocations().iter().filter_map(contents).collect(),
            run,
        };
        execution.begin_group();
        execution
    }

    /// The work-group of the present number begins, if there is one.
    fn begin_group(&mut self) {
        if self.group >= self.groups {
            return;
        }
        let launch = self.run.launch;
        let id = launch.group_id(self.group);
        self.place = GroupPlace { id, size: launch.group_size(id) };
        self.live = self.place.size.iter().product::<u32>().div_ceil(N as u32) as usize;
        self.local.fill(0);
        let local = self.local.as_mut_ptr().cast::<u8>();
        for (w, warp) in self.warps[..self.live].iter_mut().enumerate() {
            warp.start(launch, self.place, w as u32, local);
            warp.lanes.mask = warp.control.mask;
        }
        self.done.fill(0);
        (self.current, self.slice) = (0, 0);
        for w in 0..self.live {
            self.enter_block(w);
        }
    }

    /// A warp comes to a block: empty ones are passed.
    fn enter_block(&mut self, w: usize) {
        let program = self.run.launch.program;
        let warp = &mut self.warps[w];
        self.done[w] = 0;
        loop {
            let pc = warp.control.pc as usize;
            let Some(block) = program.blocks.get(pc).filter(|_| !warp.control.done()) else { return };
            self.counts.executions[pc] += 1;
            self.counts.lanes[pc] += u64::from(warp.control.mask.count_ones());
            warp.lanes.mask = warp.control.mask;
            warp.lanes.refresh(program);
            if !block.is_empty() {
                return;
            }
            warp.end_block(End::Fall, block.first, &mut self.counts.splits);
        }
    }

    /// The present warp stands, has ended, or has had its time: another one is next.
    fn next_warp(&mut self) {
        self.slice = 0;
        let runs = |w: &Warp<N>| !w.waiting && !w.control.done();
        for _ in 0..2 {
            let order = (1..=self.live).map(|k| (self.current + k) % self.live);
            if let Some(next) = order.into_iter().find(|w| runs(&self.warps[*w])) {
                self.current = next;
                return;
            }
            // All that are left stand at a barrier.
            let warps = &mut self.warps[..self.live];
            warps.iter_mut().filter(|w| !w.control.done()).for_each(Warp::leave_barrier);
            self.current = self.live - 1;
        }
        self.group += 1;
        self.begin_group();
    }

    fn lanes_of(&self, warp: u32) -> Option<&Lanes<'a, N>> {
        Some(&self.warps.get(warp as usize).filter(|_| (warp as usize) < self.live)?.lanes)
    }
}

impl<const N: usize> Debuggee for Execution<'_, N> {
    fn step(&mut self) -> Step {
        if self.group >= self.groups {
            return Step::Ended;
        }
        let program = self.run.launch.program;
        let w = self.current;
        let warp = &mut self.warps[w];
        let block = &program.blocks[warp.control.pc as usize];
        let index = block.first + self.done[w];
        warp.lanes.clock += 1;
        let inside = self.done[w] < block.body;
        if inside {
            let d = &self.code[index as usize];
            (d.run)(&mut warp.lanes, d);
            self.done[w] += 1;
        }
        let ends = self.done[w] >= block.body && (!inside || block.end == End::Fall);
        if ends && warp.lanes.fault.is_none() {
            warp.end_block(block.end, index, &mut self.counts.splits);
        }
        if let Some(fault) = warp.fault(self.run.launch, self.place) {
            return Step::Fault(Box::new(fault));
        }
        self.time += 1;
        self.slice += 1;
        if ends {
            self.enter_block(w);
        }
        let warp = &self.warps[w];
        if warp.waiting || warp.control.done() || ends && self.slice >= SLICE {
            self.next_warp();
        }
        Step::Executed
    }

    fn restart(&mut self) {
        for (address, bytes) in &self.start {
            self.run.memory.write_shared(*address, bytes);
        }
        self.counts = BlockCounts::new(self.run.launch.program);
        for warp in &mut self.warps {
            warp.lanes.clock = 0;
            warp.lanes.rows[usize::from(self.run.launch.program.rows.main)..usize::from(self.run.launch.program.rows.constants)]
                .iter_mut()
                .for_each(|row| row.0 = [0; N]);
            warp.lanes.predicates = [0; 16];
            warp.lanes.private.fill(Row([0; N]));
        }
        (self.group, self.time) = (0, 0);
        self.begin_group();
    }

    fn time(&self) -> u64 {
        self.time
    }

    fn program(&self) -> &Program {
        self.run.launch.program
    }

    fn group(&self) -> Option<([u32; 3], [u32; 3])> {
        (self.group < self.groups).then_some((self.place.id, self.place.size))
    }

    fn origin(&self) -> [u32; 3] {
        let launch = self.run.launch;
        std::array::from_fn(|d| launch.offset[d] + self.place.id[d] * launch.local[d])
    }

    fn lanes(&self) -> u32 {
        N as u32
    }

    fn current(&self) -> u32 {
        self.current as u32
    }

    fn warp(&self, number: u32) -> Option<WarpState> {
        let w = number as usize;
        let warp = self.warps.get(w).filter(|_| w < self.live && self.group < self.groups)?;
        let program = self.run.launch.program;
        let first = |block: u32| program.blocks.get(block as usize).map_or(0, |b| b.first);
        let mut held: Vec<(u64, u32)> = warp.control.held().into_iter().map(|(lanes, pc)| (lanes, first(pc))).collect();
        if let Some(turns) = &warp.turns {
            held.extend(turns.others.iter().map(|path| (path.place().0, path.barrier.unwrap_or(first(path.place().1)))));
        }
        let index = match warp.waiting {
            true => warp.barrier,
            false => first(warp.control.pc) + self.done[w],
        };
        let (active, live) = (warp.control.mask, warp.control.live);
        let next = program.insts.get(index as usize).filter(|i| !i.info().flags.terminator);
        let guarded = match next.and_then(|i| i.guard) {
            Some(Guard { reg: Reg::Physical(p), negate }) => {
                let holds = warp.lanes.predicates[usize::from(p.index & 15)];
                active & if negate { !holds } else { holds }
            }
            _ => active,
        };
        Some(WarpState { number, index, active, guarded, live, at_barrier: warp.waiting, held })
    }

    fn warps(&self) -> u32 {
        self.live as u32
    }

    fn register(&self, warp: u32, lane: u32, register: PhysReg, cluster: u8) -> Option<u32> {
        let (header, rows) = (&self.run.launch.program.header, &self.run.launch.program.rows);
        let lanes = self.lanes_of(warp)?;
        let index = u16::from(register.index);
        let within = |declared: u32| (u32::from(index) < declared).then_some(index);
        let row = match register.space {
            Space::Main => rows.main + within(header.main_registers)?,
            Space::Scalar => rows.scalar + within(header.scalar_registers)?,
            Space::Local => {
                let declared = header.local_registers.get(usize::from(cluster)).copied().unwrap_or(0);
                rows.local.get(usize::from(cluster))? + within(declared)?
            }
            Space::Predicate => {
                within(header.predicate_registers)?;
                return Some((lanes.predicates[usize::from(index & 15)] >> (lane % 64) & 1) as u32);
            }
            _ => return None,
        };
        lanes.rows.get(usize::from(row))?.0.get(lane as usize).copied()
    }

    fn special(&self, warp: u32, lane: u32, special: Special) -> Option<u32> {
        let (_, row) = self.run.launch.program.rows.specials.iter().find(|(s, _)| *s == special)?;
        self.lanes_of(warp)?.rows.get(usize::from(*row))?.0.get(lane as usize).copied()
    }

    fn read(&self, space: MemorySpace, (warp, lane): (u32, u32), address: u64, bytes: usize) -> Option<Vec<u8>> {
        let part = |from: &[u8], at: u64| {
            let at = usize::try_from(at).ok()?;
            from.get(at..at.checked_add(bytes)?).map(<[u8]>::to_vec)
        };
        let lanes = self.lanes_of(warp);
        match space {
            MemorySpace::Global | MemorySpace::Constant => self.run.memory.read(address, bytes),
            MemorySpace::Local => {
                let end = address.checked_add(bytes as u64).filter(|end| *end <= u64::from(self.run.launch.local_bytes))?;
                let byte = |at: u64| self.local.get((at / 16) as usize).map(|word| word.to_le_bytes()[(at % 16) as usize]);
                (address..end).map(byte).collect()
            }
            MemorySpace::Private => {
                let lanes = lanes.filter(|l| address + bytes as u64 <= u64::from(l.private_bytes))?;
                let word = |at: u64| lanes.private.get((at / 4) as usize)?.0.get(lane as usize).copied();
                (address..address + bytes as u64).map(|at| Some(word(at)?.to_le_bytes()[(at % 4) as usize])).collect()
            }
            MemorySpace::Argument => part(&self.run.launch.constants, address),
        }
    }

    fn statistics(&self) -> Statistics {
        let launch = self.run.launch;
        let mut statistics = energy::count(launch.program, &self.counts, self.run.machine);
        statistics.work_items = launch.global.iter().map(|g| u64::from(*g)).product();
        statistics.work_groups = self.groups;
        statistics.warps = self.groups * self.warps.len() as u64;
        statistics
    }
}
