//! Sets of an SM's warps as bits. Bits are in the order of the warps' ages, so that the lowest one is the oldest warp.

use std::ops::{BitAnd, BitOr, Index, IndexMut, Sub};

/// A value for each of up to 64 × W warps, by the warp's rank. What is indexed is as large as ranks can be, so that no
/// index has to be compared with a length.
pub(super) struct ByRank<T, const W: usize>([[T; 64]; W]);

impl<T: Copy, const W: usize> ByRank<T, W> {
    /// The same for all.
    pub fn new(value: T) -> Self {
        ByRank([[value; 64]; W])
    }

    /// Gives the values of the warps of `kept` to new ranks, from 0 on in their order. Those of other ranks have no meaning
    /// then.
    pub fn renumber(&mut self, kept: WarpSet<W>) {
        for (new, old) in kept.iter().enumerate() {
            self[new] = self[old];
        }
    }
}

impl<T, const W: usize> Index<usize> for ByRank<T, W> {
    type Output = T;
    #[inline(always)]
    fn index(&self, rank: usize) -> &T {
        &self.0[rank / 64 % W][rank % 64]
    }
}

impl<T, const W: usize> IndexMut<usize> for ByRank<T, W> {
    #[inline(always)]
    fn index_mut(&mut self, rank: usize) -> &mut T {
        &mut self.0[rank / 64 % W][rank % 64]
    }
}

/// A set of up to 64 × W warps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct WarpSet<const W: usize>([u64; W]);

impl<const W: usize> WarpSet<W> {
    /// No warp.
    pub const EMPTY: WarpSet<W> = WarpSet([0; W]);

    #[inline(always)]
    fn map2(self, other: Self, f: impl Fn(u64, u64) -> u64) -> Self {
        WarpSet(std::array::from_fn(|i| f(self.0[i], other.0[i])))
    }
    /// Adds a warp.
    #[inline(always)]
    pub fn insert(&mut self, i: usize) {
        self.0[i / 64 % W] |= 1 << (i % 64);
    }
    /// Takes a warp out.
    #[inline(always)]
    pub fn remove(&mut self, i: usize) {
        self.0[i / 64 % W] &= !(1 << (i % 64));
    }
    /// Adds a warp or takes it out.
    #[inline(always)]
    pub fn set(&mut self, i: usize, member: bool) {
        let word = &mut self.0[i / 64 % W];
        *word = *word & !(1 << (i % 64)) | u64::from(member) << (i % 64);
    }
    /// Whether a warp is in it.
    #[inline(always)]
    pub fn contains(&self, i: usize) -> bool {
        self.0[i / 64 % W] >> (i % 64) & 1 == 1
    }
    /// Whether there is none.
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.0.iter().all(|w| *w == 0)
    }
    /// How many.
    #[inline(always)]
    pub fn count(&self) -> u64 {
        self.0.iter().map(|w| u64::from(w.count_ones())).sum()
    }
    /// The oldest.
    #[inline(always)]
    pub fn first(&self) -> Option<usize> {
        let i = self.0.iter().position(|w| *w != 0)?;
        Some(64 * i + self.0[i].trailing_zeros() as usize)
    }
    /// Those younger than `i`.
    #[inline(always)]
    pub fn above(self, i: usize) -> Self {
        WarpSet(std::array::from_fn(|w| match w.cmp(&(i / 64)) {
            std::cmp::Ordering::Less => 0,
            std::cmp::Ordering::Equal => self.0[w] & (u64::MAX << 1 << (i % 64)),
            std::cmp::Ordering::Greater => self.0[w],
        }))
    }
    /// Those of rank `i` and younger.
    #[inline(always)]
    pub fn from(self, i: usize) -> Self {
        if i == 0 { self } else { self.above(i - 1) }
    }
    /// All of them, oldest first.
    pub fn iter(mut self) -> impl Iterator<Item = usize> {
        std::iter::from_fn(move || {
            let i = self.first()?;
            self.remove(i);
            Some(i)
        })
    }
    /// The set after the warps of `kept` have been given new numbers, from 0 on in their order. The others leave it.
    pub fn renumbered(self, kept: Self) -> Self {
        let (mut moved, mut at) = (WarpSet::EMPTY, 0);
        for (members, kept) in self.0.into_iter().zip(kept.0) {
            let bits = gather_bits(members, kept);
            moved.0[at / 64 % W] |= bits << (at % 64);
            if at % 64 > 0 && at / 64 + 1 < W {
                moved.0[at / 64 + 1] |= bits >> (64 - at % 64);
            }
            at += kept.count_ones() as usize;
        }
        moved
    }
}

/// The bits of `x` where `mask` has ones, side by side from the lowest on.
#[inline]
fn gather_bits(x: u64, mask: u64) -> u64 {
    #[cfg(all(target_arch = "x86_64", target_feature = "bmi2"))]
    // SAFETY: the instruction belongs to the features that this is compiled for.
    return unsafe { std::arch::x86_64::_pext_u64(x, mask) };
    #[cfg(not(all(target_arch = "x86_64", target_feature = "bmi2")))]
    {
        let (mut gathered, mut rest, mut at) = (0, mask, 0);
        while rest != 0 {
            gathered |= (x >> rest.trailing_zeros() & 1) << at;
            rest &= rest - 1;
            at += 1;
        }
        gathered
    }
}

impl<const W: usize> BitAnd for WarpSet<W> {
    type Output = Self;
    #[inline(always)]
    fn bitand(self, other: Self) -> Self {
        self.map2(other, |a, b| a & b)
    }
}
impl<const W: usize> BitOr for WarpSet<W> {
    type Output = Self;
    #[inline(always)]
    fn bitor(self, other: Self) -> Self {
        self.map2(other, |a, b| a | b)
    }
}
impl<const W: usize> Sub for WarpSet<W> {
    type Output = Self;
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        self.map2(other, |a, b| a & !b)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_over_several_words() {
        let mut s = WarpSet::<4>::EMPTY;
        for i in [3, 63, 64, 200] {
            s.insert(i);
        }
        assert_eq!(s.iter().collect::<Vec<_>>(), [3, 63, 64, 200]);
        assert_eq!(s.above(63).iter().collect::<Vec<_>>(), [64, 200]);
        assert_eq!(s.above(3).first(), Some(63));
        assert_eq!((s.from(0), s.from(63).first(), s.from(201).first()), (s, Some(63), None));
        let mut other = WarpSet::EMPTY;
        other.insert(64);
        assert_eq!((s - other).count(), 3);
        assert_eq!((s & other).first(), Some(64));
        s.set(200, false);
        assert!(!s.contains(200) && (s - s).is_empty() && (s | other) == s);
    }

    #[test]
    fn warps_get_new_numbers_in_their_order() {
        let set = |members: &[usize]| {
            let mut set = WarpSet::<4>::EMPTY;
            members.iter().for_each(|i| set.insert(*i));
            set
        };
        let kept: Vec<usize> = (0..256).filter(|i| i % 3 != 1).collect();
        let members: Vec<usize> = (0..256).filter(|i| i % 7 < 4).collect();
        let expected: Vec<usize> = (0..kept.len()).filter(|new| members.contains(&kept[*new])).collect();
        assert_eq!(set(&members).renumbered(set(&kept)).iter().collect::<Vec<_>>(), expected);
        assert_eq!(set(&members).renumbered(set(&[])), WarpSet::EMPTY);
        let all: Vec<usize> = (0..256).collect();
        assert_eq!(set(&members).renumbered(set(&all)), set(&members));
    }
}
