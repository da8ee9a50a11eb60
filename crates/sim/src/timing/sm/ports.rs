//! The ports through which an SM's warps issue: the scalar unit's slot, the front end, and the units of the clusters.

use super::super::statics::{FIRST_UNIT, UNITS};
use super::super::warp_set::WarpSet;

/// The first port of a cluster's unit.
pub(super) const FIRST_PORT: usize = FIRST_UNIT as usize;

/// Which port each warp's next instruction takes, and from when on each is free.
pub(super) struct IssuePorts<const W: usize> {
    /// By rank: port of the next instruction.
    of: Vec<u8>,
    /// By port: the warps whose next instruction takes it, as far as that is known.
    warps: Vec<WarpSet<W>>,
    /// By port: cycle from which its unit can take the next instruction.
    free_from: Vec<u64>,
}

impl<const W: usize> IssuePorts<W> {
    /// The ports of an SM with some clusters, all free.
    pub fn new(clusters: usize) -> Self {
        let ports = FIRST_PORT + UNITS * clusters;
        IssuePorts { of: vec![0; 64 * W], warps: vec![WarpSet::EMPTY; ports], free_from: vec![0; ports] }
    }

    /// A warp's next instruction takes a port.
    #[inline(always)]
    pub fn assign(&mut self, rank: usize, port: u8) {
        self.of[rank] = port;
        self.warps[usize::from(port)].insert(rank);
    }

    /// The port of a warp's next instruction.
    #[inline(always)]
    pub fn of(&self, rank: usize) -> usize {
        usize::from(self.of[rank])
    }

    /// A warp has issued through its port.
    #[inline(always)]
    pub fn remove(&mut self, rank: usize) {
        self.warps[usize::from(self.of[rank])].remove(rank);
    }

    /// Warps whose next instruction takes a port.
    #[inline(always)]
    pub fn warps(&self, port: usize) -> WarpSet<W> {
        self.warps[port]
    }

    /// Warps whose next instruction takes any port of the same cluster as a unit's.
    #[inline(always)]
    pub fn warps_of_cluster(&self, port: usize) -> WarpSet<W> {
        let first = port - (port - FIRST_PORT) % UNITS;
        self.warps[first..first + UNITS].iter().fold(WarpSet::EMPTY, |all, at| all | *at)
    }

    /// The cycle until which a unit is busy, if it is at `now`. The scalar unit's slot and the front end never are.
    #[inline(always)]
    pub fn busy_until(&self, port: usize, now: u64) -> Option<u64> {
        (port >= FIRST_PORT && self.free_from[port] > now).then(|| self.free_from[port])
    }

    /// A unit takes no instruction before a cycle.
    #[inline(always)]
    pub fn occupy(&mut self, port: u8, until: u64) {
        self.free_from[usize::from(port)] = until;
    }

    /// Gives the warps new ranks: `old[new]`, in ascending order; the others are gone.
    pub fn renumber(&mut self, old: &[usize]) {
        self.warps.iter_mut().for_each(|set| *set = set.renumbered(old));
        for (new, old) in old.iter().enumerate() {
            self.of[new] = self.of[*old];
        }
        self.of[old.len()..].fill(0);
    }

    /// Bytes on the heap.
    pub fn heap_bytes(&self) -> usize {
        size_of_val(&self.of[..]) + size_of_val(&self.warps[..]) + size_of_val(&self.free_from[..])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clusters_have_ports_of_their_own() {
        let mut p = IssuePorts::<1>::new(2);
        let (first, second) = (FIRST_PORT as u8, (FIRST_PORT + UNITS) as u8);
        p.assign(0, first);
        p.assign(1, first + 1);
        p.assign(2, second);
        assert_eq!(p.warps_of_cluster(FIRST_PORT + 1).iter().collect::<Vec<_>>(), [0, 1]);
        assert_eq!(p.warps_of_cluster(usize::from(second)).iter().collect::<Vec<_>>(), [2]);
        p.occupy(first, 12);
        assert_eq!((p.busy_until(FIRST_PORT, 11), p.busy_until(FIRST_PORT, 12)), (Some(12), None));
        p.remove(0);
        p.renumber(&[1, 2]);
        assert_eq!((p.of(0), p.of(1)), (FIRST_PORT + 1, usize::from(second)));
        assert!(p.warps(FIRST_PORT).is_empty() && p.warps(FIRST_PORT + 1).contains(0));
    }
}
