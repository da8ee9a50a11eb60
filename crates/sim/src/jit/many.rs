//! The caller of compiled code that runs whole work-groups ([`super::schedule`]): their tables of ids, and
//! what is to be done when such code stops in the middle of a work-group.

use std::mem::{replace, size_of_val};

use super::{Compiled, ENDED, Frame, Status, WarpState, Watched, left};
use crate::Launch;
use crate::functional::{BlockCounts, Budget, GroupPlace, Warp};
use crate::warp::Control;

/// The state for running whole work-groups: refers to a work-group's warps and memory.
pub struct Many {
    slots: Vec<WarpState>,
    /// To which the slots point: by warp, row of ids and lane.
    _ids: Vec<u32>,
    steps: Vec<[u32; 3]>,
}

/// A warp stopped in the middle of its work-group.
pub struct Stopped {
    /// The warp.
    pub warp: usize,
    /// The work-group's portion of instructions is used up: it is a long one.
    pub long: bool,
}

/// Instructions after which the host asks whether a launch shall end, once the work-group has ended: compiled code then leaves
/// the rest of its work-groups to another call.
pub(super) const PORTION: u64 = 1 << 22;

impl Many {
    /// For work-groups of full size on these warps, in this memory.
    pub fn new<const N: usize>(compiled: &Compiled, launch: &Launch, warps: &mut [Warp<N>], local: &mut [u128]) -> Many {
        let local = local.as_mut_ptr().cast();
        let row = |warp: &Warp<N>, row: u16| warp.lanes.rows[usize::from(row)].0;
        let counts = launch.groups();
        let rows = &compiled.id_rows;
        // Ids are linear in the work-group's: what a step adds is the difference of two neighbours.
        let mut steps = vec![[0; 3]; rows.len()];
        let size = launch.local;
        if let Some(first) = warps.first_mut() {
            for d in (0..3).filter(|d| counts[*d] > 1) {
                first.start(launch, GroupPlace { id: [0; 3], size }, 0, local);
                let at_zero: Vec<u32> = rows.iter().map(|r| row(first, *r)[0]).collect();
                let id = std::array::from_fn(|e| u32::from(e == d));
                first.start(launch, GroupPlace { id, size }, 0, local);
                for ((step, r), zero) in steps.iter_mut().zip(rows).zip(at_zero) {
                    step[d] = row(first, *r)[0].wrapping_sub(zero);
                }
            }
        }
        let mut ids = Vec::with_capacity(warps.len() * rows.len() * N);
        for (number, warp) in warps.iter_mut().enumerate() {
            warp.start(launch, GroupPlace { id: [0; 3], size }, number as u32, local);
            rows.iter().for_each(|r| ids.extend(row(warp, *r)));
        }
        let slot = |(number, warp): (usize, &mut Warp<N>)| {
            let ranges = Watched::new(&mut warp.lanes, compiled).ranges;
            // `Vec::as_ptr` stays what it is when the vector moves.
            WarpState { ids: ids[number * rows.len() * N..].as_ptr(), pc: ENDED, ..WarpState::new(warp, ranges) }
        };
        let slots = warps.iter_mut().enumerate().map(slot).collect();
        Many { slots, _ids: ids, steps }
    }

    /// Runs work-groups from `id` on, `groups` of them at most, all of full size, on the warps and in the memory for which
    /// this was made. `budget`: of a work-group. Returns how many have ended, one at least if none stopped, and where the
    /// next one stopped if it did; its warps are then as if it had been run warp by warp, up to the fault or to where it
    /// goes on.
    pub fn run<const N: usize>(
        &mut self,
        compiled: &Compiled,
        launch: &Launch,
        (warps, local): (&mut [Warp<N>], &mut [u128]),
        (id, groups): ([u32; 3], u64),
        counts: &mut BlockCounts,
        budget: &mut Budget,
    ) -> (u64, Option<Stopped>) {
        let program = launch.program;
        let slots = self.slots.as_mut_ptr_range();
        let (Some(first), Some(slot)) = (warps.first_mut(), self.slots.first_mut()) else { return (groups, None) };
        let lanes = &mut first.lanes;
        let watched = Watched::new(lanes, compiled);
        let mut frame = Frame {
            groups,
            group_budget: budget.left,
            slots: slots.start,
            slots_end: slots.end,
            steps: self.steps.as_ptr(),
            clear_bytes: size_of_val(local) as u64,
            id,
            group_counts: launch.groups(),
            ..Frame::new(slot, lanes, (compiled, &watched), counts, budget.left)
        };
        let status = compiled.run(&mut frame);
        counts.splits += frame.splits;
        let ended = groups - frame.groups;
        if status == Status::AllEnded as u32 {
            return (ended, None);
        }
        // SAFETY: the code leaves `slot` at one of the slots.
        let number = unsafe { (*frame.slot).number } as usize;
        let place = GroupPlace { id: frame.id, size: launch.local };
        let local = local.as_mut_ptr().cast();
        for (v, (warp, slot)) in warps.iter_mut().zip(&self.slots).enumerate() {
            let (control, fault) = (replace(&mut warp.control, Control::new(0)), warp.lanes.fault.take());
            warp.start(launch, place, v as u32, local);
            let begun = v <= number || frame.phase != 0;
            if v == number {
                (warp.control, warp.lanes.fault) = (control, fault);
            } else if begun && slot.pc == ENDED {
                warp.control.reset(0);
            } else if begun {
                warp.control.reset_to(control.live, slot.pc);
                warp.waiting = v < number;
                let barrier = &program.blocks[slot.pc as usize - 1];
                warp.barrier = barrier.first + barrier.body;
            }
        }
        let warp = &mut warps[number];
        left(status, &frame, warp, program, &mut counts.splits, budget);
        // The caller looks at what the warp waits for when it has used up another portion.
        warp.paused = false;
        (ended, Some(Stopped { warp: number, long: status == Status::Runaway as u32 }))
    }
}
