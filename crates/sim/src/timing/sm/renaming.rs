//! The registers that an SM's warps share (REN-1 … REN-3, REN-8).

use super::super::super::fault::FaultKind;
use super::super::super::rename::{Table, is_committed, is_prompt, is_safe};
use super::super::super::residency::Admission;
use super::slot::Slot;
use super::{GroupPlan, LaunchContext, SLOTS, Sm};
use heddle_target::Machine;

/// The registers of an SM that no warp has, and how many work-groups they serve.
pub(in super::super) struct RegisterPool {
    /// Registers that are neither a resident warp's fixed ones nor mapped.
    pub free: u32,
    /// Of these, those that must be there before another work-group comes: its fixed ones, and what the oldest
    /// may come to need.
    pub room: u32,
    /// How many work-groups the SM holds (REN-2).
    pub admission: Admission,
}

impl RegisterPool {
    /// Of an SM without warps.
    pub fn new(groups: &GroupPlan, machine: &Machine) -> RegisterPool {
        let room = if groups.pool > 0 { groups.fixed + groups.demand } else { 0 };
        RegisterPool { free: groups.pool, room, admission: Admission::new(groups.resident, groups.pool, machine) }
    }
}

impl<'a, const N: usize, const W: usize> Sm<'a, N, W> {
    /// Whether a warp's next instruction can have the shared registers that it maps (REN-3, REN-8).
    pub(super) fn registers_free(&self, c: &LaunchContext<'a, N>, rank: usize) -> bool {
        let slot = &self.warps.slots[self.warps.slot_of(rank)];
        let writes = &c.statics.shared[slot.pc as usize].writes;
        let needed = writes.iter().filter(|n| !slot.table.is_mapped(**n)).count() as u32;
        if needed == 0 {
            return true;
        }
        // Resident groups, oldest first, with what their warps hold.
        let mut held = [0; SLOTS];
        let mut at = 0;
        for (i, (h, (number, group))) in held.iter_mut().zip(self.groups.oldest_first()).enumerate() {
            *h = group.held;
            at = if number == slot.group { i } else { at };
        }
        is_safe(self.registers.free, &held[..self.groups.len()], at, needed, c.groups.demand)
            && (at == 0 || self.is_prompt(c, rank, needed))
    }

    /// Whether a warp outside the oldest group can have registers without stopping those in their phases.
    fn is_prompt(&self, c: &LaunchContext<'a, N>, rank: usize, needed: u32) -> bool {
        let demand = c.groups.demand / c.groups.warps as u32;
        let oldest = self.groups.oldest_first().next().map(|(number, _)| number);
        let others = self.warps.ranks().filter(|r| *r != rank).map(|r| &self.warps.slots[self.warps.slot_of(r)]);
        let needs = |slot: &&Slot| is_committed(slot.table.count(), demand) || Some(slot.group) == oldest;
        let reserved = others.filter(needs).map(|slot| demand.saturating_sub(slot.table.count())).sum();
        let own = self.warps.slots[self.warps.slot_of(rank)].table.count();
        is_prompt(self.registers.free, reserved, own, needed, demand)
    }

    /// Maps what an instruction writes, and releases what it releases. A defect of the code is a fault if checking is on.
    pub(super) fn rename(&mut self, c: &LaunchContext<'a, N>, s: usize, index: usize) {
        let uses = &c.statics.shared[index];
        let (slot, warp) = self.warps.get_mut(s);
        let held = &mut self.groups.get(slot.group).held;
        let free = &mut self.registers.free;
        let fixed = c.run.launch.program.header.fixed_registers;
        let lane = warp.control.mask.trailing_zeros();
        if c.run.options.check_renames
            && let Some(name) = uses.reads.iter().find(|n| !slot.table.is_mapped(**n))
        {
            let kind = FaultKind::UnmappedRegister { register: fixed + u32::from(*name) };
            warp.lanes.fault.get_or_insert((kind, index as u32, lane));
        }
        for name in &uses.writes {
            let taken = u32::from(slot.table.map(*name));
            *free -= taken;
            *held += taken;
        }
        if !uses.conditional || warp.control.mask == warp.control.live {
            for name in &uses.releases {
                let given = u32::from(slot.table.release(*name));
                *free += given;
                *held -= given;
            }
        }
    }

    /// A warp's end gives back all its registers.
    pub(super) fn give_back(&mut self, c: &LaunchContext<'a, N>, s: usize, index: usize) {
        let (slot, warp) = self.warps.get_mut(s);
        if let (true, Some(name)) = (c.run.options.check_renames, slot.table.first()) {
            let register = c.run.launch.program.header.fixed_registers + u32::from(name);
            warp.lanes.fault.get_or_insert((FaultKind::RegisterLeak { register }, index as u32, 0));
        }
        self.registers.free += slot.table.count();
        self.groups.get(slot.group).held -= slot.table.count();
        slot.table = Table::default();
    }
}
