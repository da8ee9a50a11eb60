//! The ports through which warps issue: which there are, which units stand behind them, and which one an instruction of a
//! warp takes.
//!
//! The code names clusters and, by its class, a unit of each. Behind the ports of several clusters may be one unit that they
//! share. Where clusters that are alike rotate, what the code has in one of them runs in another one by the warp's slot.
//! Each scheduler has ports of its own, of which those of one kind and number follow each other by scheduler.

use super::statics::{CONTROL, FIRST_UNIT, SCALAR, UNITS, unit_index};
use heddle_target::{Machine, Unit};
use strum::IntoEnumIterator;

/// What a port is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PortKind {
    /// The scalar unit's slots.
    Scalar,
    /// The front end.
    Control,
    /// A unit, through the slot of a cluster.
    Unit,
}

/// A port.
#[derive(Clone, Copy, Debug)]
pub(super) struct Port {
    /// Its number.
    pub number: u16,
    /// What it is.
    pub kind: PortKind,
    /// The unit behind it: those that clusters share stand behind several ports. Scalar unit and front end, which
    /// are never busy, have numbers too.
    pub unit: u16,
    /// Its cluster, whose ports take one slot: a number among those of all schedulers. Scalar unit and front end
    /// have numbers of their own.
    pub cluster: u16,
    /// The scheduler that issues through it.
    pub scheduler: u8,
}

/// The ports of an SM, and who takes which.
pub(super) struct PortPlan {
    /// By number.
    pub ports: Vec<Port>,
    /// Units behind them.
    pub units: usize,
    /// Numbers of clusters, scalar units and front ends.
    pub slots: usize,
    /// Ports that the code knows: those of one scheduler.
    known: usize,
    schedulers: usize,
    /// Warps of so many slots that follow each other take different ports, then it begins again.
    period: usize,
    /// For each of these, by the port that the code knows, the port of the SM.
    table: Vec<Port>,
}

impl PortPlan {
    /// Of a machine's SMs.
    pub fn new(machine: &Machine) -> PortPlan {
        let (clusters, schedulers) = (machine.clusters.len(), machine.sm.schedulers.max(1) as usize);
        let known = usize::from(FIRST_UNIT) + UNITS * clusters;
        let shared = known * schedulers;
        let mut ports = Vec::with_capacity(shared);
        for scheduler in 0..schedulers {
            let base = known * scheduler;
            let first_slot = (usize::from(FIRST_UNIT) + clusters) * scheduler;
            let port = |kind, at: usize, slot: usize| Port {
                number: (base + at) as u16,
                kind,
                unit: (base + at) as u16,
                cluster: (first_slot + slot) as u16,
                scheduler: scheduler as u8,
            };
            for (at, kind) in [(SCALAR, PortKind::Scalar), (CONTROL, PortKind::Control)] {
                ports.push(port(kind, at.into(), at.into()));
            }
            for cluster in 0..clusters {
                let first = port_of(cluster);
                let slot = usize::from(FIRST_UNIT) + cluster;
                let mut of_cluster: Vec<Port> = (0..UNITS).map(|k| port(PortKind::Unit, first + k, slot)).collect();
                for unit in Unit::iter() {
                    if let Some(row) = machine.shared_unit(cluster, unit) {
                        let k = usize::from(unit_index(unit));
                        of_cluster[k].unit = (shared + UNITS * row + k) as u16;
                    }
                }
                ports.extend(of_cluster);
            }
        }
        let alike: Vec<Vec<usize>> =
            (0..clusters).map(|c| if machine.sm.rotate_clusters { machine.clusters_alike(c) } else { vec![c] }).collect();
        let turns = alike.iter().fold(1, |all, group| least_common_multiple(all, group.len()));
        let mut table = Vec::with_capacity(turns * shared);
        // Neighbours are warps of different schedulers.
        for (turn, scheduler) in (0..turns).flat_map(|turn| (0..schedulers).map(move |s| (turn, s))) {
            let base = known * scheduler;
            table.extend([SCALAR, CONTROL].map(|known| ports[base + usize::from(known)]));
            for (c, group) in alike.iter().enumerate() {
                let place = group.iter().position(|other| *other == c).unwrap_or(0);
                let cluster = group.get((place + turn) % group.len().max(1)).copied().unwrap_or(c);
                table.extend_from_slice(&ports[base + port_of(cluster)..][..UNITS]);
            }
        }
        let units = shared + UNITS * machine.shared_units.len();
        let slots = (usize::from(FIRST_UNIT) + clusters) * schedulers;
        PortPlan { ports, units, slots, known, schedulers, period: turns * schedulers, table }
    }

    /// Warp schedulers.
    pub fn schedulers(&self) -> usize {
        self.schedulers
    }

    /// The numbers of all schedulers' clusters.
    pub fn clusters(&self) -> impl Iterator<Item = u16> {
        let first = usize::from(FIRST_UNIT);
        let of_units = self.ports.iter().enumerate().filter(move |(at, _)| {
            let at = at % self.known;
            at >= first && (at - first) % UNITS == 0
        });
        of_units.map(|(_, port)| port.cluster)
    }

    /// The port of a scheduler for one that the code knows, without rotation.
    pub fn of_scheduler(&self, scheduler: usize, known: u8) -> Port {
        self.ports[self.known * scheduler + usize::from(known)]
    }

    /// Where the ports of a slot's warps begin in the table.
    pub fn of_slot(&self, slot: usize) -> u32 {
        (slot % self.period * self.known) as u32
    }

    /// The port for one that the code knows, of a warp whose ports begin at `first`.
    #[inline(always)]
    pub fn port(&self, first: u32, known: u8) -> Port {
        self.table[first as usize + usize::from(known)]
    }
}

/// The first port of a cluster.
fn port_of(cluster: usize) -> usize {
    usize::from(FIRST_UNIT) + UNITS * cluster
}

fn least_common_multiple(a: usize, b: usize) -> usize {
    let (mut x, mut y) = (a.max(1), b.max(1));
    while y != 0 {
        (x, y) = (y, x % y);
    }
    a.max(1) / x * b.max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn machine(overrides: &[&str]) -> Machine {
        heddle_target::testing::mixed(&overrides.iter().map(ToString::to_string).collect::<Vec<_>>())
    }

    #[test]
    fn clusters_have_ports_and_units_of_their_own() {
        let plan = PortPlan::new(&heddle_target::testing::mixed::<String>(&[]));
        assert_eq!((plan.ports.len(), plan.period), (2 + 4 * UNITS, 1));
        for (number, port) in plan.ports.iter().enumerate() {
            assert_eq!(usize::from(port.unit), number);
            assert_eq!(usize::from(port.number), number);
            assert_eq!(usize::from(plan.port(plan.of_slot(7), number as u8).number), number);
        }
        assert!(plan.ports[2..].iter().enumerate().all(|(i, p)| usize::from(p.cluster) == 2 + i / UNITS));
    }

    #[test]
    fn shared_units_stand_behind_several_ports() {
        let plan = PortPlan::new(&machine(&["shared-units=[{name='x',units=['load-store'],clusters=['a0','a2']}]"]));
        let unit = |cluster: usize, k: usize| plan.ports[port_of(cluster) + k].unit;
        let load_store = usize::from(unit_index(Unit::LoadStore));
        assert_eq!(unit(0, load_store), unit(2, load_store));
        assert!([1, 3].iter().all(|c| unit(*c, load_store) != unit(0, load_store)));
        assert_ne!(unit(0, 0), unit(2, 0), "each has an ALU");
        assert!(plan.ports.iter().all(|p| usize::from(p.unit) < plan.units));
    }

    #[test]
    fn clusters_that_are_alike_rotate_by_warp() {
        let three = "clusters.3.units=['alu','control']";
        let ends = ["clusters.3.shared-path=false", "clusters.2.units=['alu','sfu','double','control','load-store']"];
        let plan = PortPlan::new(&machine(&["sm.rotate-clusters=true", ends[1], three, ends[0]]));
        assert_eq!(plan.period, 3);
        let port = |slot: usize, known: usize| usize::from(plan.port(plan.of_slot(slot), known as u8).number);
        let cluster = |slot: usize, c: usize| (port(slot, port_of(c)) - 2) / UNITS;
        // Clusters 0, 1 and 3 are alike.
        let of = |slot| [0, 1, 2, 3].map(|c| cluster(slot, c));
        assert_eq!([of(0), of(1), of(2), of(3)], [[0, 1, 2, 3], [1, 3, 2, 0], [3, 0, 2, 1], [0, 1, 2, 3]]);
        assert_eq!(port(2, CONTROL.into()), usize::from(CONTROL));
    }

    #[test]
    fn schedulers_have_ports_of_their_own() {
        let row = "shared-units=[{name='x',units=['load-store'],clusters=['a0','a1']}]";
        let plan = PortPlan::new(&machine(&["sm.schedulers=2", "sm.rotate-clusters=true", row]));
        assert_eq!((plan.period, plan.ports.len()), (4, 2 * plan.known));
        // Slots 0 and 2 are the first scheduler's, and of different turns.
        let port = |slot: usize, at: usize| usize::from(plan.port(plan.of_slot(slot), at as u8).number);
        let (first, second) = (port_of(0), port_of(1));
        assert_eq!([0, 1, 2, 3].map(|s| port(s, first)), [first, plan.known + first, second, plan.known + second]);
        assert_eq!([0, 1, 2, 3].map(|s| plan.ports[port(s, first)].scheduler), [0, 1, 0, 1]);
        assert_eq!([0, 1].map(|s| port(s, 0)), [0, plan.known].map(|base| base + usize::from(SCALAR)));
        assert_eq!(port(1, CONTROL.into()), usize::from(plan.of_scheduler(1, CONTROL).number));
        // One load-store unit serves all.
        let load_store = first + usize::from(unit_index(Unit::LoadStore));
        assert!((1..4).all(|s| plan.ports[port(s, load_store)].unit == plan.ports[port(0, load_store)].unit));
        assert_ne!(plan.ports[port(0, first)].unit, plan.ports[port(1, first)].unit);
    }

    #[test]
    fn common_multiples() {
        assert_eq!([(1, 4), (4, 6), (3, 5), (0, 2)].map(|(a, b)| least_common_multiple(a, b)), [4, 12, 15, 2]);
    }
}
