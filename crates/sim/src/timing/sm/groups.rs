//! The work-groups that are resident in an SM, and their barriers.

use super::super::super::features::GroupFeatures;
use super::super::super::functional::{GroupPlace, local_memory};
use super::super::sampling::TimedGroup;

/// A resident work-group.
pub(super) struct Group {
    /// Where it is in the launch.
    pub place: GroupPlace,
    /// Its memory.
    local: Vec<u128>,
    /// Warps that have not ended.
    pub live_warps: u32,
    /// Of these, those at a barrier.
    pub at_barrier: u32,
    /// Instructions executed, a warp's counting once, and after how many somebody looks at the group.
    pub executed: u64,
    pub attention: u64,
    /// Shared registers that its warps hold (REN-3).
    pub held: u32,
    /// Its number in the launch, and the cycle in which it became resident.
    pub number: u64,
    pub begin: u64,
    /// What its warps that have ended have executed, where a sample wants to know.
    pub features: GroupFeatures,
    used: bool,
}

impl Group {
    /// First byte of its memory.
    pub fn local(&mut self) -> *mut u8 {
        self.local.as_mut_ptr().cast::<u8>()
    }

    /// Whether all its warps that have not ended are at the barrier, which they then leave.
    #[inline]
    pub fn passes_barrier(&mut self) -> bool {
        let passes = self.at_barrier == self.live_warps;
        if passes {
            self.at_barrier = 0;
        }
        passes
    }

    /// A warp of it has ended, which executed so much.
    pub fn add_features(&mut self, warp: &GroupFeatures) {
        let all = &mut self.features;
        all.signature = all.signature.wrapping_add(warp.signature);
        all.instructions += warp.instructions;
        all.longest = all.longest.max(warp.instructions);
    }

    /// It has ended: what a sample wants to know of it.
    pub fn timed(&self, end: u64) -> TimedGroup {
        TimedGroup { number: self.number, begin: self.begin, end: end.max(self.begin), features: self.features }
    }

    /// Bytes of host memory.
    fn host_bytes(&self) -> usize {
        size_of::<Group>() + size_of_val(&self.local[..])
    }
}

/// The work-groups of an SM.
#[derive(Default)]
pub(super) struct ResidentGroups {
    /// By number; those that have ended are used again.
    groups: Vec<Group>,
    /// Numbers of the resident ones, oldest first.
    order: Vec<usize>,
}

impl ResidentGroups {
    /// How many are resident.
    #[inline]
    pub fn len(&self) -> usize {
        self.order.len()
    }

    /// A group of some warps, with `local_bytes` bytes of zeroed memory, becomes resident; somebody looks at it after
    /// `attention` instructions. Returns its number.
    pub fn add(&mut self, place: GroupPlace, warps: u32, local_bytes: u32, attention: u64) -> usize {
        let number = match self.groups.iter().position(|g| !g.used) {
            Some(number) => number,
            None => {
                let local = local_memory(local_bytes);
                self.groups.push(Group {
                    place,
                    local,
                    live_warps: 0,
                    at_barrier: 0,
                    executed: 0,
                    attention,
                    held: 0,
                    number: 0,
                    begin: 0,
                    features: GroupFeatures::default(),
                    used: false,
                });
                self.groups.len() - 1
            }
        };
        self.order.push(number);
        let group = &mut self.groups[number];
        (group.place, group.live_warps, group.attention, group.used) = (place, warps, attention, true);
        (group.at_barrier, group.executed, group.held) = (0, 0, 0);
        group.features = GroupFeatures::default();
        group.local.fill(0);
        number
    }

    /// A group has ended.
    pub fn retire(&mut self, number: usize) {
        self.groups[number].used = false;
        self.order.retain(|o| *o != number);
    }

    /// The group of a number.
    #[inline(always)]
    pub fn get(&mut self, number: usize) -> &mut Group {
        &mut self.groups[number]
    }

    /// Resident groups, oldest first, with their numbers.
    #[inline]
    pub fn oldest_first(&self) -> impl Iterator<Item = (usize, &Group)> {
        self.order.iter().map(|number| (*number, &self.groups[*number]))
    }

    /// Bytes of host memory.
    pub fn host_bytes(&self) -> usize {
        self.groups.iter().map(Group::host_bytes).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_are_used_again_and_keep_their_ages() {
        let place = GroupPlace { id: [0; 3], size: [64, 1, 1] };
        let mut groups = ResidentGroups::default();
        assert_eq!((groups.add(place, 2, 16, 9), groups.add(place, 2, 16, 9)), (0, 1));
        // SAFETY: the group has 16 bytes of memory.
        unsafe { groups.get(0).local().write(7) };
        groups.retire(0);
        assert_eq!(groups.add(place, 3, 16, 9), 0);
        // SAFETY: as above.
        assert_eq!(unsafe { groups.get(0).local().read() }, 0, "memory is zeroed");
        assert_eq!(groups.oldest_first().map(|g| (g.0, g.1.live_warps)).collect::<Vec<_>>(), [(1, 2), (0, 3)]);
    }

    #[test]
    fn a_barrier_waits_for_the_live_warps() {
        let mut groups = ResidentGroups::default();
        let number = groups.add(GroupPlace { id: [0; 3], size: [64, 1, 1] }, 2, 0, 9);
        let group = groups.get(number);
        group.at_barrier = 1;
        assert!(!group.passes_barrier());
        group.live_warps = 1;
        assert!(group.passes_barrier() && group.at_barrier == 0);
    }
}
