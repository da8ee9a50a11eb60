//! Which port each warp of an SM issues through next, and how long units are busy.

use super::super::port_plan::{Port, PortPlan};
use super::super::warp_set::{ByRank, WarpSet};

/// Which port each warp's next instruction takes, and from when on each is free.
pub(super) struct IssuePorts<const W: usize> {
    /// Port of the next instruction.
    of: ByRank<Port, W>,
    /// By port: the warps whose next instruction takes it, as far as that is known.
    warps: Vec<WarpSet<W>>,
    /// By cluster: those whose next instruction takes any of its ports.
    of_cluster: Vec<WarpSet<W>>,
    /// By unit: cycle from which it can take the next instruction. The scalar unit and the front end always can.
    free_from: Vec<u64>,
    /// By cluster: the cycle in which its slot was taken last, as far as that is noted.
    taken: Vec<u64>,
}

impl<const W: usize> IssuePorts<W> {
    /// The ports of an SM, all free.
    pub fn new(plan: &PortPlan) -> Self {
        IssuePorts {
            of: ByRank::new(plan.of_scheduler(0, 0)),
            warps: vec![WarpSet::EMPTY; plan.ports.len()],
            of_cluster: vec![WarpSet::EMPTY; plan.slots],
            free_from: vec![0; plan.units],
            taken: vec![u64::MAX; plan.slots],
        }
    }

    /// A warp's next instruction takes a port.
    #[inline(always)]
    pub fn assign(&mut self, rank: usize, port: Port) {
        self.of[rank] = port;
        self.warps[usize::from(port.number)].insert(rank);
        self.of_cluster[usize::from(port.cluster)].insert(rank);
    }

    /// The port of a warp's next instruction, or of the one that has just issued.
    #[inline(always)]
    pub fn of(&self, rank: usize) -> Port {
        self.of[rank]
    }

    /// The cycle from which the unit behind a port takes the next instruction.
    #[inline(always)]
    pub fn free_from(&self, port: Port) -> u64 {
        self.free_from[usize::from(port.unit)]
    }

    /// Notes that an instruction issues through a port in a cycle.
    #[inline(always)]
    pub fn note_issue(&mut self, port: Port, now: u64) {
        self.taken[usize::from(port.cluster)] = now;
    }

    /// Whether it is noted that the slot of a port's cluster is taken in a cycle.
    #[inline(always)]
    pub fn is_taken(&self, port: Port, now: u64) -> bool {
        self.taken[usize::from(port.cluster)] == now
    }

    /// A warp has issued through its port.
    #[inline(always)]
    pub fn remove(&mut self, rank: usize) {
        let port = self.of[rank];
        self.warps[usize::from(port.number)].remove(rank);
        self.of_cluster[usize::from(port.cluster)].remove(rank);
    }

    /// Warps whose next instruction takes a port.
    #[inline(always)]
    pub fn warps(&self, port: Port) -> WarpSet<W> {
        self.warps[usize::from(port.number)]
    }

    /// Warps whose next instruction takes any port of the same cluster as a unit's, or the same other port.
    #[inline(always)]
    pub fn warps_of_cluster(&self, port: Port) -> WarpSet<W> {
        self.of_cluster[usize::from(port.cluster)]
    }

    /// Warps whose next instruction takes any port of a cluster.
    #[inline(always)]
    pub fn warps_for(&self, cluster: usize) -> WarpSet<W> {
        self.of_cluster[cluster]
    }

    /// The cycle until which the unit behind a port is busy, if it is at `now`.
    #[inline(always)]
    pub fn busy_until(&self, port: Port, now: u64) -> Option<u64> {
        let free_from = self.free_from[usize::from(port.unit)];
        (free_from > now).then_some(free_from)
    }

    /// The unit behind a port, which is one of a cluster, takes no instruction before a cycle.
    #[inline(always)]
    pub fn occupy(&mut self, port: Port, until: u64) {
        self.free_from[usize::from(port.unit)] = until;
    }

    /// Gives the warps of `kept` new ranks, from 0 on in their order; the others are gone.
    pub fn renumber(&mut self, kept: WarpSet<W>) {
        self.warps.iter_mut().chain(&mut self.of_cluster).for_each(|set| *set = set.renumbered(kept));
        self.of.renumber(kept);
    }

    /// Bytes on the heap.
    pub fn heap_bytes(&self) -> usize {
        let sets = size_of_val(&self.warps[..]) + size_of_val(&self.of_cluster[..]);
        sets + size_of_val(&self.free_from[..]) + size_of_val(&self.taken[..])
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::statics::UNITS;
    use super::*;

    const FIRST: usize = 2;

    fn ports(overrides: &[&str]) -> (IssuePorts<1>, impl Fn(usize) -> Port) {
        let overrides: Vec<String> = overrides.iter().map(ToString::to_string).collect();
        let plan = PortPlan::new(&heddle_target::testing::mixed(&overrides));
        (IssuePorts::new(&plan), move |number| plan.ports[number])
    }

    #[test]
    fn clusters_have_ports_of_their_own() {
        let (mut p, port) = ports(&[]);
        let [first, beside, second, behind] = [FIRST, FIRST + 1, FIRST + UNITS, FIRST + UNITS + 1].map(port);
        p.assign(0, first);
        p.assign(1, beside);
        p.assign(2, second);
        assert_eq!(p.warps_of_cluster(beside).iter().collect::<Vec<_>>(), [0, 1]);
        assert_eq!(p.warps_of_cluster(behind).iter().collect::<Vec<_>>(), [2]);
        p.occupy(first, 12);
        assert_eq!((p.busy_until(first, 11), p.busy_until(first, 12)), (Some(12), None));
        assert_eq!((p.busy_until(beside, 11), p.busy_until(second, 11)), (None, None));
        p.remove(0);
        let mut kept = WarpSet::EMPTY;
        [1, 2].into_iter().for_each(|rank| kept.insert(rank));
        p.renumber(kept);
        assert_eq!([0, 1].map(|rank| p.of(rank).number), [beside, second].map(|port| port.number));
        assert!(p.warps(first).is_empty() && p.warps(beside).contains(0));
    }

    #[test]
    fn a_shared_unit_is_busy_for_all() {
        let (mut p, port) = ports(&["shared-units=[{name='x',units=['load-store'],clusters=['a0','a1','a2']}]"]);
        let load_store = |cluster: usize| port(FIRST + UNITS * cluster + 3);
        p.occupy(load_store(1), 20);
        assert_eq!([0, 1, 2, 3].map(|c| p.busy_until(load_store(c), 19)), [Some(20), Some(20), Some(20), None]);
        assert_eq!([0, 1, 2].map(|c| p.busy_until(load_store(c), 20)), [None; 3]);
        assert_eq!(p.busy_until(port(FIRST), 5), None);
    }
}
