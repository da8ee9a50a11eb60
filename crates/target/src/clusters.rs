//! Which units clusters have, their own and those that they share, and which clusters are alike.

use crate::{Cluster, Machine, SharedUnits, Unit};

impl Cluster {
    /// Local registers in the near and in the far bank, which has those with the lowest numbers.
    pub fn banks(&self) -> (u32, u32) {
        let near = self.near_registers.min(self.local_registers);
        (near, self.local_registers - near)
    }
}

impl Machine {
    /// Whether a cluster, by its number, has a unit: of its own, or one that it shares with others (C1).
    pub fn cluster_has(&self, cluster: usize, unit: Unit) -> bool {
        let own = self.clusters.get(cluster).is_some_and(|c| c.units.contains(&unit));
        own || self.shared_unit(cluster, unit).is_some()
    }

    /// The row of shared units, by its number, that has a cluster's unit; `None` if the unit is not a shared one.
    pub fn shared_unit(&self, cluster: usize, unit: Unit) -> Option<usize> {
        let name = &self.clusters.get(cluster)?.name;
        let serves = |s: &SharedUnits| s.units.contains(&unit) && s.clusters.contains(name);
        self.shared_units.iter().position(serves)
    }

    /// All units that a cluster issues to: its own, then those that it shares.
    pub fn cluster_units(&self, cluster: usize) -> Vec<Unit> {
        let Some(c) = self.clusters.get(cluster) else { return Vec::new() };
        let shared = self.shared_units.iter().filter(|s| s.clusters.contains(&c.name));
        c.units.iter().chain(shared.flat_map(|s| &s.units)).copied().collect()
    }

    /// How many units of a kind an SM has: those of clusters for each scheduler.
    pub fn unit_count(&self, unit: Unit) -> u32 {
        let own = self.clusters.iter().filter(|c| c.units.contains(&unit)).count();
        let shared = self.shared_units.iter().filter(|s| s.units.contains(&unit)).count();
        own as u32 * self.sm.schedulers + shared as u32
    }

    /// Numbers of the clusters that are like a cluster, that one included, in ascending order: they have the same units, local
    /// registers and paths, and share units with the same others.
    pub fn clusters_alike(&self, cluster: usize) -> Vec<usize> {
        (0..self.clusters.len()).filter(|other| self.are_alike(cluster, *other)).collect()
    }

    fn are_alike(&self, a: usize, b: usize) -> bool {
        let (Some(x), Some(y)) = (self.clusters.get(a), self.clusters.get(b)) else { return false };
        let same_units = x.units.iter().all(|u| y.units.contains(u)) && y.units.iter().all(|u| x.units.contains(u));
        let same_shares = self.shared_units.iter().all(|s| s.clusters.contains(&x.name) == s.clusters.contains(&y.name));
        let file = |c: &Cluster| (c.banks(), c.shared_path);
        same_units && same_shares && file(x) == file(y)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(overrides: &[&str]) -> Machine {
        crate::load::mixed(&overrides.iter().map(ToString::to_string).collect::<Vec<_>>()).unwrap()
    }

    #[test]
    fn a_shared_unit_is_one_of_each_cluster_and_one_of_the_sm() {
        let row = "shared-units=[{name='ls',units=['load-store'],clusters=['a0','a1']}]";
        let m = with(&[row]);
        assert!((0..4).all(|c| m.cluster_has(c, Unit::LoadStore) == (c != 2)));
        assert_eq!([0, 1, 2, 3].map(|c| m.shared_unit(c, Unit::LoadStore)), [Some(0), Some(0), None, None]);
        assert!(!m.cluster_has(9, Unit::Alu));
        assert_eq!(m.cluster_units(1), [Unit::Alu, Unit::Control, Unit::LoadStore]);
        assert_eq!((m.unit_count(Unit::LoadStore), m.unit_count(Unit::Alu), m.unit_count(Unit::Sfu)), (2, 4, 1));
        assert_eq!(with(&[row, "sm.schedulers=4"]).unit_count(Unit::LoadStore), 5);
    }

    #[test]
    fn a_near_bank_is_part_of_the_file() {
        let banks = |near: &str| with(&["clusters.0.local-registers=6", near]).clusters[0].banks();
        assert_eq!(banks("clusters.0.near-registers=0"), (0, 6));
        assert_eq!(banks("clusters.0.near-registers=2"), (2, 4));
        assert_eq!(banks("clusters.0.near-registers=9"), (6, 0));
    }

    #[test]
    fn alike_is_what_nothing_tells_apart() {
        assert_eq!(with(&[]).clusters_alike(1), [0, 1]);
        assert_eq!(with(&["clusters.1.units=['control','alu']"]).clusters_alike(0), [0, 1]);
        for different in [
            "clusters.1.local-registers=7",
            "clusters.1.near-registers=1",
            "clusters.1.shared-path=true",
            "clusters.1.units=['alu']",
            "shared-units=[{name='ls',units=['sfu'],clusters=['a0','mem']}]",
        ] {
            assert_eq!(with(&[different]).clusters_alike(0), [0], "{different}");
        }
        assert_eq!(with(&["shared-units=[{name='ls',units=['sfu'],clusters=['a0','a1']}]"]).clusters_alike(0), [0, 1]);
        assert!(with(&[]).clusters_alike(9).is_empty());
    }
}
