//! Whether the warps of an SM still make progress: work-groups that execute many instructions are watched for a while.

use super::super::super::exec::watch::Log;
use super::super::super::fault::WaitingWarp;
use super::super::super::functional::Warp;
use super::super::super::progress::{self, WarpPlace, WarpWatch};
use super::slot::Slot;
use super::{LaunchContext, Sm};

/// Instructions of a work-group after which it is watched for the first time; the next time it has executed twice as many.
pub(super) const WATCHED_FROM: u64 = 1 << 17;
/// Blocks for which a warp is watched at a time, unless it waits.
const WATCHED_BLOCKS: u64 = 4096;
/// Cycles from one time that an SM asks all others whether they make progress to the next.
const INTERVAL: u64 = 1 << 14;

/// What an SM knows of its progress.
#[derive(Clone, Copy, Debug, Default)]
pub(in super::super) struct Progress {
    /// The others are to be asked.
    pub asks: bool,
    /// From when on they may be asked again.
    next: u64,
    /// The last cycle in which a warp ended or came to a barrier. What it wrote before may end another one's waiting, and may
    /// have been simulated ahead of who waits.
    pub moved: u64,
}

/// Since when the warps of an SM wait, and when each of them had begun at the latest to find its loop unchanged: cycles.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct Waiting {
    /// The last one came to wait.
    pub since: u64,
    /// The first cycle of the period of its loop that a warp has gone through last; the least of all warps.
    pub found_from: u64,
}

impl Waiting {
    /// None waits.
    pub const NONE: Waiting = Waiting { since: 0, found_from: u64::MAX };

    /// Of both.
    pub fn and(self, other: Waiting) -> Waiting {
        Waiting { since: self.since.max(other.since), found_from: self.found_from.min(other.found_from) }
    }
}

impl<'a, const N: usize, const W: usize> Sm<'a, N, W> {
    /// A work-group has executed as many instructions as it takes to look at it. Returns whether that is all it may execute.
    #[cold]
    pub(super) fn look_at_group(&mut self, c: &LaunchContext<'a, N>, g: usize) -> bool {
        let limit = c.run.options.max_instructions;
        let group = self.groups.get(g);
        if group.executed > limit {
            return true;
        }
        group.attention = (2 * group.executed).min(limit);
        if c.sampler.is_some() {
            // What a work-group waits for may be in another one, which is not timed.
            return false;
        }
        for rank in self.states.live.iter() {
            let (slot, warp) = self.warps.get_mut(self.warps.slot_of(rank));
            if slot.group == g && warp.watch.is_none() {
                warp.watch = Some(Box::new(WarpWatch::new()));
                warp.lanes.watch = Some(Box::new(Log::default()));
            }
        }
        false
    }

    /// A watched warp has issued: asks for the others if all of this SM wait.
    #[cold]
    pub(super) fn look_for_standstill(&mut self, s: usize, now: u64) {
        let came_back = self.warps.warps[s].watch.as_mut().is_some_and(|w| std::mem::take(&mut w.came_back));
        if came_back && now >= self.progress.next {
            self.progress.next = now + INTERVAL;
            self.progress.asks = self.waiting_since().is_some();
        }
    }

    /// Since when all warps wait; `None` if one of them does not. Those that have ended or stand at a barrier do nothing since
    /// then.
    pub fn waiting_since(&self) -> Option<Waiting> {
        let mut all = Waiting { since: self.progress.moved, ..Waiting::NONE };
        for rank in self.states.live.iter() {
            let s = self.warps.slot_of(rank);
            if self.warps.slots[s].at_barrier {
                continue;
            }
            let watch = self.warps.warps[s].watch.as_ref()?;
            let (since, found_from) = watch.waits_since()?;
            all = all.and(Waiting { since, found_from });
        }
        Some(all)
    }

    /// What its warps wait for.
    pub fn waiting_warps(&mut self, c: &LaunchContext<'a, N>) -> Vec<WaitingWarp> {
        let (program, mut found) = (c.run.launch.program, Vec::new());
        for rank in self.states.live.iter() {
            let (slot, warp) = self.warps.get_mut(self.warps.slot_of(rank));
            let place = self.groups.get(slot.group).place;
            let at = WarpPlace { group_id: place.id, size: place.size, warp: warp.number };
            if slot.at_barrier {
                found.push(progress::at_barrier::<N>(program, &warp.control, at, warp.barrier));
            } else if let Some(watch) = warp.watch.as_deref_mut() {
                found.push(progress::in_loop(program, (&warp.control, &warp.lanes), watch, at, c.run.memory));
            }
        }
        found
    }
}

/// A watched warp comes to a block.
#[cold]
pub(super) fn enter_watched<const N: usize>(c: &LaunchContext<'_, N>, slot: &Slot, warp: &mut Warp<'_, N>) {
    let Some(watch) = &mut warp.watch else { return };
    watch.seen_blocks += 1;
    if slot.loads > 0 {
        // Not all its registers hold what they will have.
        return watch.pass(warp.control.pc);
    }
    let program = c.run.launch.program;
    let came_back = watch.at_block(program, (&warp.control, warp.turns.as_deref()), &mut warp.lanes);
    watch.came_back |= came_back && !watch.host_may_end(program, &warp.lanes, c.run.memory);
    if watch.seen_blocks > WATCHED_BLOCKS && watch.waits_since().is_none() {
        (warp.watch, warp.lanes.watch) = (None, None);
    }
}
