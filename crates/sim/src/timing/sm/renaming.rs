//! The registers that an SM's warps share.

use super::super::super::fault::FaultKind;
use super::super::super::rename::{Table, is_safe};
use super::{Common, SLOTS, Sm};

impl<'a, const N: usize, const W: usize> Sm<'a, N, W> {
    /// Whether a warp's next instruction can have the shared registers that it maps (REN-3, REN-8).
    pub(super) fn registers_free(&self, c: &Common<'a, N>, rank: usize) -> bool {
        let slot = &self.slots[usize::from(self.slot_of[rank])];
        let writes = &c.statics.shared[slot.pc as usize].writes;
        let needed = writes.iter().filter(|n| !slot.table.is_mapped(**n)).count() as u32;
        if needed == 0 {
            return true;
        }
        // Resident groups, oldest first, with what their warps hold.
        let mut held = [0; SLOTS];
        for (h, g) in held.iter_mut().zip(&self.order) {
            *h = self.groups[*g].held;
        }
        let at = self.order.iter().position(|g| *g == slot.group).unwrap_or(0);
        is_safe(self.free, &held[..self.order.len()], at, needed, c.group_demand)
    }

    /// Maps what an instruction writes, and releases what it releases. A defect of the code is a fault if checking is on.
    pub(super) fn rename(&mut self, c: &Common<'a, N>, s: usize, index: usize) {
        let uses = &c.statics.shared[index];
        let slot = &mut self.slots[s];
        let held = &mut self.groups[slot.group].held;
        let fixed = c.launch.program.header.fixed_registers;
        let warp = &mut self.warps[s];
        let lane = warp.control.mask.trailing_zeros();
        if c.options.check_renames {
            if let Some(name) = uses.reads.iter().find(|n| !slot.table.is_mapped(**n)) {
                let kind = FaultKind::UnmappedRegister { register: fixed + u32::from(*name) };
                warp.lanes.fault.get_or_insert((kind, index as u32, lane));
            }
        }
        for name in &uses.writes {
            let taken = u32::from(slot.table.map(*name));
            self.free -= taken;
            *held += taken;
        }
        if !uses.conditional || warp.control.mask == warp.control.live {
            for name in &uses.releases {
                let given = u32::from(slot.table.release(*name));
                self.free += given;
                *held -= given;
            }
        }
    }

    /// A warp's end gives back all its registers.
    pub(super) fn give_back(&mut self, c: &Common<'a, N>, s: usize, index: usize) {
        let slot = &mut self.slots[s];
        if let (true, Some(name)) = (c.options.check_renames, slot.table.first()) {
            let register = c.launch.program.header.fixed_registers + u32::from(name);
            self.warps[s].lanes.fault.get_or_insert((FaultKind::RegisterLeak { register }, index as u32, 0));
        }
        self.free += slot.table.count();
        self.groups[slot.group].held -= slot.table.count();
        slot.table = Table::default();
    }
}
