//! A work-group that has begun: its warps take turns at barriers, and where they wait for each other in loops.

use std::ops::Range;

use super::{Budget, GroupPlace, Interpreter, Warp, Worker, all_lanes};
use crate::Simulation;
use crate::exec::watch::Log;
use crate::fault::{Fault, FaultKind, WaitingWarp};
use crate::progress::{self, WarpPlace, WarpWatch};
use crate::{Launch, jit};

/// A work-group that has begun.
pub(super) struct Resident<'a, const N: usize> {
    /// Its number in the launch.
    pub number: u64,
    pub place: GroupPlace,
    /// Warps; a smaller group has no use for all.
    pub warps: Vec<Warp<'a, N>>,
    /// Memory of the work-group.
    pub local: Vec<u128>,
    pub budget: Budget<'a>,
    /// For running many work-groups in one call of compiled code.
    pub many: Option<jit::Many>,
}

/// How far a work-group has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Turn {
    /// To its end.
    Ended,
    /// All its warps wait for other work-groups to change memory. Whether any of them has done something before it came to that.
    Waits { moved: bool },
}

impl<'a, const N: usize> Resident<'a, N> {
    /// Warps that the group has.
    fn live(&self) -> usize {
        self.place.size.iter().product::<u32>().div_ceil(N as u32) as usize
    }

    /// Begins a work-group.
    pub fn start(&mut self, launch: &Launch, number: u64, budget: Budget<'a>) {
        let id = launch.group_id(number);
        (self.number, self.place, self.budget) = (number, GroupPlace { id, size: launch.group_size(id) }, budget);
        if self.place.size != launch.local {
            // Its warps have rows with the work-group's size.
            self.many = None;
        }
        self.local.fill(0);
        let local = self.local.as_mut_ptr().cast::<u8>();
        let live = self.live();
        for (w, warp) in self.warps[..live].iter_mut().enumerate() {
            warp.start(launch, self.place, w as u32, local);
        }
        if let Some(checker) = self.warps.first().and_then(|w| w.lanes.checker) {
            checker.borrow_mut().start_group();
        }
    }

    /// Runs some of these work-groups, all of full size, in compiled code, each within a budget. Returns how many
    /// have ended, and whether the one behind them has a fault, or has begun and has to go on warp by warp, and is a long one.
    pub fn run_many(
        &mut self,
        run: &Simulation,
        worker: &mut Worker<N>,
        compiled: &jit::Compiled,
        (numbers, budget): (Range<u64>, Budget<'a>),
    ) -> (u64, Option<Result<bool, Box<Fault>>>) {
        let launch = run.launch;
        let id = launch.group_id(numbers.start);
        (self.number, self.place, self.budget) = (numbers.start, GroupPlace { id, size: launch.local }, budget);
        let Resident { warps, local, budget, many, .. } = self;
        let many = many.get_or_insert_with(|| jit::Many::new(compiled, launch, warps, local));
        let groups = numbers.end - numbers.start;
        let (ended, stopped) = many.run(compiled, launch, (&mut *warps, &mut *local), (id, groups), &mut worker.counts, budget);
        let Some(stopped) = stopped else { return (ended, None) };
        self.number = numbers.start + ended;
        self.place.id = launch.group_id(self.number);
        let fault = self.warps[stopped.warp].fault(launch, self.place);
        (ended, Some(fault.map_or(Ok(stopped.long), |fault| Err(Box::new(fault)))))
    }

    /// What the warps of a group wait for that makes no progress.
    pub fn waiting(&mut self, run: &Simulation) -> Vec<WaitingWarp> {
        let (program, live) = (run.launch.program, self.live());
        let place = self.place;
        let warps = self.warps[..live].iter_mut().filter(|w| !w.control.done());
        warps
            .filter_map(|warp| {
                let at = WarpPlace { group_id: place.id, size: place.size, warp: warp.number };
                if warp.waiting {
                    return Some(progress::at_barrier::<N>(program, &warp.control, at, warp.barrier));
                }
                let watch = warp.watch.as_deref_mut()?;
                Some(progress::in_loop(program, (&warp.control, &warp.lanes), watch, at, run.memory))
            })
            .collect()
    }

    /// Runs the group until it ends, or until all its warps wait for others.
    pub fn run(
        &mut self,
        run: &Simulation,
        interpreter: &Interpreter<N>,
        worker: &mut Worker<N>,
        compiled: Option<&jit::Compiled>,
    ) -> Result<Turn, Box<Fault>> {
        let (launch, live) = (run.launch, self.live());
        let checker = self.warps[0].lanes.checker;
        let mut any_moved = false;
        loop {
            let mut moved = false;
            for w in 0..live {
                let warp = &mut self.warps[w];
                if warp.control.done() || warp.waiting {
                    continue;
                }
                if let Some(checker) = checker {
                    checker.borrow_mut().run_warp(warp.number);
                }
                moved |= self.run_warp(w, launch, interpreter, worker, compiled);
                let warp = &self.warps[w];
                if let Some(fault) = warp.fault(launch, self.place) {
                    let race = matches!(fault.kind, FaultKind::Race(_));
                    let earlier = checker.filter(|_| !race).and_then(|c| c.borrow_mut().take_pending());
                    let earlier =
                        earlier.map(|(kind, w, index, lane)| self.warps[w].fault_of(launch, self.place, kind, index, lane));
                    return Err(Box::new(earlier.unwrap_or(fault)));
                }
            }
            any_moved |= moved;
            let warps = &self.warps[..live];
            let stand = warps.iter().all(|w| w.waiting || w.control.done());
            if !stand && moved {
                continue;
            }
            if let Some((kind, w, index, lane)) = checker.filter(|_| stand).and_then(|c| c.borrow_mut().take_pending()) {
                return Err(Box::new(self.warps[w].fault_of(launch, self.place, kind, index, lane)));
            }
            if !stand {
                return Ok(Turn::Waits { moved: any_moved });
            }
            if !warps.iter().any(|w| w.waiting) {
                return Ok(Turn::Ended);
            }
            if run.options.check_barriers {
                uneven_barrier(warps, launch, self.place)?;
            }
            if let Some(checker) = checker {
                // Warps at different barriers: what orders memory for all.
                let flags = |w: &Warp<N>| if w.waiting { launch.program.insts[w.barrier as usize].imm } else { !0 };
                checker.borrow_mut().barrier(warps.iter().map(flags).fold(!0, |a, b| a & b));
            }
            self.warps[..live].iter_mut().filter(|w| !w.control.done()).for_each(Warp::leave_barrier);
        }
    }

    /// Runs a warp until it stands at a barrier, ends, faults, waits for others, or has used up a portion of its group's
    /// budget. Returns whether it has done more than to wait.
    fn run_warp(
        &mut self,
        w: usize,
        launch: &Launch,
        interpreter: &Interpreter<N>,
        worker: &mut Worker<N>,
        compiled: Option<&jit::Compiled>,
    ) -> bool {
        let Resident { warps, budget, .. } = self;
        let warp = &mut warps[w];
        let stops = |warp: &Warp<N>| warp.waiting || warp.control.done() || warp.lanes.fault.is_some();
        let waited = warp.watch.is_some();
        if waited {
            if waits(warp, interpreter, worker) {
                return false;
            }
            budget.has_waited();
            if stops(warp) {
                return true;
            }
        }
        let before = budget.used();
        let from = match compiled {
            Some(c) => jit::run_warp(c, warp, launch.program, &mut worker.counts, budget),
            None => Some(0),
        };
        if let Some(from) = from {
            interpreter.run(warp, &mut worker.counts, budget, from);
        }
        if let Some(turns) = &mut warp.turns {
            worker.counts.turns += std::mem::take(&mut turns.begun);
        }
        if let Some(groups) = &mut worker.groups {
            groups.warps[warp.number as usize] += budget.used() - before;
        }
        // The longer it runs, the more rarely it is looked at.
        if std::mem::take(&mut warp.paused) && (waited || budget.portions.is_power_of_two()) {
            waits(warp, interpreter, worker);
        }
        true
    }
}

/// Whether a warp waits for others to change memory. It is watched for a while to know.
#[cold]
fn waits<const N: usize>(warp: &mut Warp<N>, interpreter: &Interpreter<N>, worker: &mut Worker<N>) -> bool {
    let banks = std::mem::replace(&mut warp.lanes.local_banks, 1);
    warp.lanes.watch = Some(Box::new(Log::default()));
    let mut watch = warp.watch.take().unwrap_or_else(|| Box::new(WarpWatch::new()));
    watch.forget();
    let waits = interpreter.run_watched(warp, &mut worker.counts, &mut watch);
    warp.lanes.local_banks = banks;
    if waits {
        warp.watch = Some(watch);
    } else {
        warp.lanes.watch = None;
    }
    waits
}

/// Warps stand at a barrier: a fault if one of them stands at another one, or if work-items have ended without reaching it.
fn uneven_barrier<const N: usize>(warps: &[Warp<N>], launch: &Launch, place: GroupPlace) -> Result<(), Box<Fault>> {
    let Some(first) = warps.iter().find(|w| w.waiting) else { return Ok(()) };
    let items: u32 = place.size.iter().product();
    for warp in warps {
        let begun = all_lanes(items.saturating_sub(warp.number * N as u32).min(N as u32) as usize);
        let ended = begun & !warp.control.live;
        let (lane, elsewhere) = match warp.waiting {
            true if warp.barrier != first.barrier => (warp.control.live.trailing_zeros(), Some(warp.barrier)),
            _ if ended != 0 => (ended.trailing_zeros(), None),
            _ => continue,
        };
        let [sx, sy, _] = place.size;
        let linear = warp.number * N as u32 + lane;
        let local_id = [linear % sx, linear / sx % sy, linear / (sx * sy)];
        let at = elsewhere.map(|b| launch.program.source(b as usize).unwrap_or_else(|| "another barrier".into()));
        let kind = FaultKind::UnevenBarrier { local_id, at };
        let lane = first.control.live.trailing_zeros();
        return Err(Box::new(first.fault_of(launch, place, kind, first.barrier, lane)));
    }
    Ok(())
}
