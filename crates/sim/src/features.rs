//! What work-groups executed: which of them are alike.
//!
//! Work-groups whose warps execute the same blocks the same number of times are alike (the *basic-block
//! vectors* of sampled simulation; Sherwood et al., ASPLOS 2002, for thread blocks Huang et al., TBPoint,
//! IPDPS 2014). A vector is known by a sum of products of its counts with random weights. Where nearly every
//! work-group has a vector of its own, those with about as many instructions, in all and in the longest warp,
//! are taken as alike.

use std::collections::BTreeMap;

/// What a work-group executed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GroupFeatures {
    /// Sum of the [weights](weight) of the blocks that its warps entered.
    pub signature: u64,
    /// Instructions of its warps.
    pub instructions: u64,
    /// Instructions of its longest warp.
    pub longest: u64,
}

/// A class of alike work-groups: signature, and logarithms of instructions in all and of the longest warp.
pub type Class = (u16, u16, u64);

/// How much a class has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Share {
    /// Work-groups.
    pub groups: u64,
    /// Their instructions.
    pub instructions: u64,
}

/// Classes that are kept apart by their signatures; of more, alike numbers of instructions are enough.
const MOST_CLASSES: usize = 4096;

/// The weight of a block's number in signatures: pseudo-random (splitmix64), so that different counts have
/// different sums.
#[inline]
pub fn weight(block: usize) -> u64 {
    let mut x = (block as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// The logarithm of a number in steps of about two percent.
fn logarithm(x: u64) -> u16 {
    let bits = 64 - x.leading_zeros();
    let fraction = if bits > 6 { x >> (bits - 6) & 31 } else { x & 31 };
    (bits * 32 + fraction as u32) as u16
}

impl GroupFeatures {
    /// The class of those that execute the same.
    pub fn class(&self) -> Class {
        let (instructions, longest, _) = self.coarse_class();
        (instructions, longest, self.signature)
    }

    /// The class of those that execute about as much.
    pub fn coarse_class(&self) -> Class {
        (logarithm(self.instructions), logarithm(self.longest), 0)
    }
}

/// How many work-groups of each class there are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClassShares(pub BTreeMap<Class, Share>);

impl ClassShares {
    /// Adds a work-group.
    pub fn add(&mut self, features: &GroupFeatures) {
        let share = self.0.entry(features.class()).or_default();
        share.groups += 1;
        share.instructions += features.instructions;
    }

    /// Adds those of others.
    pub fn merge(&mut self, others: ClassShares) {
        for (class, other) in others.0 {
            let share = self.0.entry(class).or_default();
            share.groups += other.groups;
            share.instructions += other.instructions;
        }
    }

    /// Of too many classes, those with about as many instructions become one.
    pub fn coarsen(&mut self) {
        if self.0.len() > MOST_CLASSES {
            let mut coarse = ClassShares::default();
            for ((instructions, longest, _), share) in std::mem::take(&mut self.0) {
                coarse.merge(ClassShares(BTreeMap::from([((instructions, longest, 0), share)])));
            }
            *self = coarse;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_that_execute_the_same_are_alike() {
        let of = |blocks: &[usize]| blocks.iter().fold(0, |sum: u64, b| sum.wrapping_add(weight(*b)));
        assert_eq!(of(&[0, 1, 1, 2]), of(&[1, 0, 2, 1]));
        assert_ne!(of(&[0, 1, 1, 2]), of(&[0, 1, 2, 2]));
        let features = |signature, instructions| GroupFeatures { signature, instructions, longest: 100 };
        let (a, b, c) = (features(1, 10_000), features(2, 10_010), features(1, 20_000));
        assert_ne!(a.class(), b.class());
        assert_eq!(a.coarse_class(), b.coarse_class());
        assert_ne!(a.coarse_class(), c.coarse_class());
    }

    #[test]
    fn logarithms_grow_in_small_steps() {
        let mut last = 0;
        for x in 0..100_000 {
            let l = logarithm(x);
            assert!(l >= last, "{x}");
            last = l;
        }
        assert!(logarithm(10_000) < logarithm(10_400));
        logarithm(u64::MAX);
    }

    #[test]
    fn many_classes_become_fewer() {
        let mut shares = ClassShares::default();
        let groups = 2 * MOST_CLASSES as u64;
        for signature in 0..groups {
            shares.add(&GroupFeatures { signature, instructions: 1000, longest: 100 + signature % 2 });
        }
        shares.coarsen();
        assert_eq!(shares.0.len(), 1);
        assert_eq!(shares.0.values().next(), Some(&Share { groups, instructions: groups * 1000 }));
    }
}
