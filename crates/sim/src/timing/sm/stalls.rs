//! Whose fault an empty issue slot is: each cycle in which a resident warp does not issue has one cause.

use super::super::super::statistics::Stalls;
use super::super::super::trace::Cause;
use super::{LaunchContext, Phase, Sm};

impl Stalls {
    /// The cycles of a cause.
    #[inline(always)]
    fn of(&mut self, cause: Cause) -> &mut u64 {
        match cause {
            Cause::Dependence => &mut self.dependence,
            Cause::Memory => &mut self.memory,
            Cause::Unit => &mut self.unit,
            Cause::Barrier => &mut self.barrier,
            Cause::Rename => &mut self.rename,
            Cause::Fetch => &mut self.fetch,
            Cause::Inactive => &mut self.inactive,
            Cause::Bank => &mut self.bank,
        }
    }
}

impl<'a, const N: usize, const W: usize> Sm<'a, N, W> {
    /// Attributes the warps' empty issue slots of some cycles, in the first of which the warps did issue that have issued now.
    #[inline]
    pub(super) fn attribute(&mut self, c: &LaunchContext<'a, N>, cycles: u64) {
        let issued = self.cycle.issued;
        let inactive = self.schedulers.inactive();
        let causes = self.states.by_cause(inactive);
        for (cause, set) in causes.into_iter().take(self.states.causes(inactive)) {
            *self.counters.stalls.of(cause) += cycles * set.count() - (set & issued).count();
        }
        if let Some(recorder) = &mut self.recorder {
            for (cause, set) in causes {
                for rank in set.iter() {
                    let from = self.time + u64::from(issued.contains(rank));
                    recorder.stall(self.warps.slot_of(rank), cause, from, self.time + cycles);
                }
            }
        }
        if c.groups.pool > 0 {
            let starving = self.cycle.candidates.starving;
            self.registers.admission.observe(self.registers.free, if starving { cycles } else { 0 });
            let warps = (self.groups.len() * c.groups.warps) as u64;
            self.counters.observe_pool(warps, c.groups.pool - self.registers.free, c.groups.pool, cycles);
        }
        self.counters.occupied += self.states.live.count() * cycles;
    }

    /// A warp leaves the active set, if it is in it (C14).
    pub(super) fn leave(&mut self, rank: usize) {
        if self.schedulers.has_active_set() && self.schedulers.leave(rank) {
            self.counters.departures += 1;
        }
    }

    /// From the present cycle on a warp waits for nobody knows what.
    #[inline]
    pub(super) fn park(&mut self, s: usize) {
        let slot = &mut self.warps.slots[s];
        slot.parked_at = self.time;
        let issued = self.cycle.phase == Phase::Issuing && self.cycle.issued.contains(slot.rank);
        self.states.parked_after_issue.set(slot.rank, issued);
    }

    /// It is known what a warp waited for: attributes the cycles since it was parked. Those of an open cycle
    /// are attributed when it ends.
    pub(super) fn attribute_parked(&mut self, s: usize) {
        let slot = &self.warps.slots[s];
        let cycles = self.time - slot.parked_at;
        if cycles == 0 {
            return;
        }
        let lost = cycles - u64::from(self.states.parked_after_issue.contains(slot.rank));
        let cause = self.states.parked_cause(slot.rank);
        *self.counters.stalls.of(cause) += lost;
        if let Some(recorder) = &mut self.recorder {
            recorder.stall(s, cause, self.time - lost, self.time);
        }
    }
}
