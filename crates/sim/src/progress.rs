//! Finds launches that make no progress any more, and says who waits for whom.
//!
//! What a warp does next follows from its registers, its control state and what it reads from memory. So if a warp comes back
//! to a state that it has been in, and nothing has been written to memory in between that was not there before, it will go on
//! like that until somebody else changes memory: it *waits*. If every warp of a launch waits, or stands at a barrier for one
//! that does, nobody ever changes memory, whatever the order in which they are asked: the launch is in a deadlock. That is a
//! proof, not a guess by time, and loops that make progress, however long, never meet it.
//!
//! Two things make it practical. States are compared in the registers that matter to the loop ([`slice()`]): a loop that
//! counts its attempts waits like one that does not. And states are compared with a saved one only, which is replaced after
//! 1, 2, 4, … steps (Brent, "An improved Monte Carlo factorization algorithm", 1980), so that any period is found in a time
//! proportional to it.
//!
//! Not found are loops that change memory while they wait (a counter incremented and decremented again), that depend on the
//! clock, that come to an end after many attempts, or that wait for memory which the host lends and its threads may change:
//! the budget of instructions ends those that never do.

mod slice;

use super::exec::watch::{Log, Place};
use super::exec::{Lanes, Row};
use super::fault::{Awaited, Held, WaitingWarp};
use super::memory::DeviceMemory;
use super::program::Program;
use super::turns::Turns;
use super::warp::Control;
use heddle_isa::MemorySpace;
use slice::{Slice, slice};

/// Where a warp is: the lanes that run, and where lanes take turns the others.
pub type Standing<'x> = (&'x Control, Option<&'x Turns>);

/// A state of a warp at the beginning of a block.
struct State<const N: usize> {
    control: Control,
    turns: Option<Turns>,
    rows: Vec<Row<N>>,
    predicates: [u64; 16],
    /// Changes of memory that the warp has made so far.
    changes: u64,
}

/// Watches one warp.
pub struct WarpWatch<const N: usize> {
    saved: Option<Box<State<N>>>,
    /// Blocks executed since that state, and whether each is among them.
    blocks: Vec<u32>,
    seen: Vec<bool>,
    /// The registers that matter in these blocks, once they have been asked for.
    slice: Option<Slice>,
    /// Blocks until the state is replaced, and how many there were at first.
    left: u64,
    power: u64,
    /// Blocks since the warp was in the saved state.
    since: u64,
    /// Blocks from one time in the saved state to the next, once it has come back.
    period: Option<u64>,
    /// By the clock: when it came to wait, when the last period that has ended began, and when it ended.
    times: [u64; 3],
    /// Blocks seen, and whether the warp has come back to a state: for who watches.
    pub seen_blocks: u64,
    /// See above.
    pub came_back: bool,
}

impl<const N: usize> WarpWatch<N> {
    /// A warp of which nothing is known.
    pub fn new() -> Self {
        WarpWatch {
            saved: None,
            blocks: Vec::new(),
            seen: Vec::new(),
            slice: None,
            left: 0,
            power: 1,
            since: 0,
            period: None,
            times: [0; 3],
            seen_blocks: 0,
            came_back: false,
        }
    }

    /// Begins anew: the warp has gone on.
    pub fn forget(&mut self) {
        (self.saved, self.power, self.period) = (None, 1, None);
    }

    /// Since when the warp waits for somebody else to change memory, and from when on it has found its loop unchanged, by the
    /// clock; `None` if it does not, as far as it has been seen.
    pub fn waits_since(&self) -> Option<(u64, u64)> {
        self.period.map(|_| (self.times[0], self.times[1]))
    }

    /// The warp comes to a block with registers that wait for memory.
    pub fn pass(&mut self, block: u32) {
        self.since += 1;
        self.note(block);
    }

    /// The warp comes to a block; its registers hold what they will have. Returns whether it has come back to the saved state.
    pub fn at_block(&mut self, program: &Program, place: Standing<'_>, lanes: &mut Lanes<N>) -> bool {
        let Some(log) = &mut lanes.watch else { return false };
        let changes = log.changes;
        self.since += 1;
        self.left = self.left.saturating_sub(1);
        let unchanged = self.saved.as_ref().is_some_and(|s| s.changes == changes);
        let repeated = unchanged && self.repeated(program, place, lanes);
        if repeated {
            let [since, _, before] = self.times;
            // In the first period it was not known that others would not change memory.
            let (since, from) = if self.period.is_some() { (since, before) } else { (lanes.clock, 0) };
            self.times = [since, from, lanes.clock];
            self.period = Some(std::mem::take(&mut self.since));
        } else {
            // A warp that waited goes another way, or has not come back in time.
            let left_loop = self.period.is_some_and(|period| self.since > period);
            let searching = self.period.is_none() && self.left == 0;
            if !unchanged || left_loop || searching {
                self.power = if searching { 2 * self.power } else { 1 };
                self.save(program, place, lanes, changes);
            }
        }
        self.note(place.0.pc);
        repeated
    }

    /// A block is executed.
    fn note(&mut self, block: u32) {
        if let Some(seen) = self.seen.get_mut(block as usize).filter(|s| !**s) {
            *seen = true;
            self.blocks.push(block);
            self.slice = None;
        }
    }

    fn save(&mut self, program: &Program, place: Standing<'_>, lanes: &mut Lanes<N>, changes: u64) {
        self.seen.resize(program.blocks.len(), false);
        self.blocks.drain(..).for_each(|b| self.seen[b as usize] = false);
        (self.slice, self.left, self.since, self.period) = (None, self.power, 0, None);
        let (control, turns, predicates) = (place.0.clone(), place.1.cloned(), lanes.predicates);
        match &mut self.saved {
            Some(saved) => {
                saved.rows.clone_from(&lanes.rows);
                (saved.control, saved.turns, saved.predicates, saved.changes) = (control, turns, predicates, changes);
            }
            None => {
                let rows = lanes.rows.clone();
                self.saved = Some(Box::new(State { control, turns, rows, predicates, changes }));
            }
        }
        if let Some(log) = &mut lanes.watch {
            log.places.clear();
        }
    }

    /// Whether control and all registers that matter are as they were.
    fn repeated(&mut self, program: &Program, (control, turns): Standing<'_>, lanes: &Lanes<N>) -> bool {
        let Some(saved) = self.saved.as_ref().filter(|s| s.control == *control) else { return false };
        let slice = self.slice.get_or_insert_with(|| slice(program, &self.blocks));
        let same = |row: &u16| match (saved.rows.get(usize::from(*row)), lanes.rows.get(usize::from(*row))) {
            (Some(a), Some(b)) => a.0 == b.0,
            (a, b) => a.is_none() && b.is_none(),
        };
        let changed = |p: usize| slice.predicates >> p & 1 == 1 && saved.predicates[p] != lanes.predicates[p];
        let same_turns = match (&saved.turns, turns) {
            (Some(a), Some(b)) => a.same(b, |row| slice.rows.contains(&row)),
            (a, b) => a.is_none() && b.is_none(),
        };
        !slice.clock && same_turns && !(0..16).any(changed) && slice.rows.iter().all(same)
    }

    /// Whether the host may end what the warp waits for: it waits for memory that the host lends, which the host's threads
    /// may change meanwhile. Then nothing is known of the warp any more.
    pub fn host_may_end(&mut self, program: &Program, lanes: &Lanes<N>, memory: &DeviceMemory) -> bool {
        let Some(log) = &lanes.watch else { return false };
        let lent = |place: &Place| place.space == MemorySpace::Global && memory.find(place.address, 1).is_some_and(|a| a.lent);
        let may = self.awaited(program, log).iter().any(lent);
        if may {
            self.forget();
        }
        may
    }

    /// What the warp waits for, by what its log says of the period.
    pub fn awaited(&mut self, program: &Program, log: &Log) -> Vec<Place> {
        let slice = self.slice.get_or_insert_with(|| slice(program, &self.blocks));
        log.places.iter().filter(|p| slice.loads.contains(&p.index)).copied().collect()
    }

    /// The first line of the loop, where it reads nothing that matters.
    fn first_line(&self, program: &Program) -> Option<u32> {
        let first = self.blocks.iter().map(|b| program.blocks[*b as usize].first).min()?;
        (first..program.insts.len() as u32).find(|i| program.source(*i as usize).is_some())
    }
}

/// Where a warp stands in its work-group.
#[derive(Clone, Copy, Debug)]
pub struct WarpPlace {
    /// Id of the work-group.
    pub group_id: [u32; 3],
    /// Its size.
    pub size: [u32; 3],
    /// Number of the warp in it.
    pub warp: u32,
}

impl WarpPlace {
    /// Local id of a lane.
    fn local_id<const N: usize>(&self, lane: u32) -> [u32; 3] {
        let [sx, sy, _] = self.size;
        let linear = self.warp * N as u32 + lane;
        [linear % sx, linear / sx % sy, linear / (sx * sy)]
    }
}

/// The report of a warp that stands at a barrier, an instruction.
pub fn at_barrier<const N: usize>(program: &Program, control: &Control, place: WarpPlace, barrier: u32) -> WaitingWarp {
    WaitingWarp {
        group_id: place.group_id,
        warp: place.warp,
        barrier: true,
        lanes: control.live.count_ones(),
        local_id: place.local_id::<N>(control.live.trailing_zeros()),
        index: Some(barrier),
        source: program.source(barrier as usize),
        awaits: Vec::new(),
        held: Vec::new(),
    }
}

/// The report of a warp that waits in a loop.
pub fn in_loop<const N: usize>(
    program: &Program,
    (control, lanes): (&Control, &Lanes<N>),
    watch: &mut WarpWatch<N>,
    place: WarpPlace,
    memory: &DeviceMemory,
) -> WaitingWarp {
    let places = lanes.watch.as_ref().map(|log| watch.awaited(program, log)).unwrap_or_default();
    let awaits: Vec<Awaited> = places.iter().map(|p| awaited(program, p, memory)).collect();
    let index = places.first().map(|p| p.index).or_else(|| watch.first_line(program));
    let mask = places.first().map_or(control.mask, |p| p.mask & control.live);
    let held = control.held().into_iter().filter(|(held, _)| held & !mask != 0);
    let held = held.map(|(lanes, block)| {
        let lanes = lanes & !mask;
        let first = program.blocks.get(block as usize).map_or(0, |b| b.first as usize);
        let with_line = (first..program.insts.len()).find_map(|i| program.source(i));
        Held { lanes: lanes.count_ones(), local_id: place.local_id::<N>(lanes.trailing_zeros()), source: with_line }
    });
    WaitingWarp {
        group_id: place.group_id,
        warp: place.warp,
        barrier: false,
        lanes: mask.count_ones(),
        local_id: place.local_id::<N>(mask.trailing_zeros()),
        index,
        source: index.and_then(|i| program.source(i as usize)),
        awaits,
        held: held.collect(),
    }
}

/// What is at a place, in words.
fn awaited(program: &Program, place: &Place, memory: &DeviceMemory) -> Awaited {
    let device = matches!(place.space, MemorySpace::Global | MemorySpace::Constant);
    let found = if device { memory.find(place.address, 1) } else { None };
    Awaited {
        space: place.space.into(),
        address: place.address,
        buffer: found.map(|a| (a.description(), place.address - a.address)),
        source: program.source(place.index as usize),
    }
}
