//! What accesses to registers and copies cost: the prices that cluster assignment, partitioning and the local files decide by.
//!
//! Costs are energies of a lane in picojoules: register accesses with their wires, and for a copy that is inserted also its issue
//! and execution, and cycles that a warp waits for it.
//!
//! May touch: nothing; all is read from the machine's description.

use strum::IntoEnumIterator;

use heddle_isa::{Inst, OpClass};
use heddle_target::Machine;

/// Most clusters a machine has (the encoding's field).
pub const MAX_CLUSTERS: usize = 8;

/// Price of a cycle that a warp cannot issue in, in picojoules of a lane: what static power and the rest of
/// the machine spend on it. Chosen by measurement (`cargo xtask bench regfile`): lower ones buy register
/// energy with cycles.
const CYCLE: f32 = 0.03;

/// Price of the issue slot that a copy takes, likewise.
const SLOT: f32 = 0.5;

/// The same where warps do not take turns at clusters: there energy of registers is to cost no cycles. On `machines/mixed.toml`
/// local files cost two of 200 small launches 1 to 2 % of their cycles with the other price, and none with 15 or more; the register
/// file takes as much energy.
const SLOT_IN_STEP: f32 = 15.0;

/// Price of a cycle that a copy waits for a load whose result nothing else in its block reads, where warps do not take turns at
/// clusters: such a copy, before a loop for instance, keeps a warp from its next loads. Any price from .3 to 3 gives all kernels
/// the same code.
const LATE_LOAD_IN_STEP: f32 = 0.5;

/// Price of an instruction more in the code, likewise: where few warps run straight through, they wait for it to be fetched.
const FETCH: f32 = 8.0;

/// Energies of register accesses.
#[derive(Clone, Debug)]
pub struct Costs {
    /// Clusters.
    pub clusters: usize,
    /// Reading and writing a main register.
    pub main: (f32, f32),
    /// Reading and writing a local register of each cluster, in its far bank.
    pub local: [(f32, f32); MAX_CLUSTERS],
    /// The same in its near bank.
    pub near: [(f32, f32); MAX_CLUSTERS],
    /// What an access to a local register costs more by a unit that clusters share.
    pub shared_wire: f32,
    /// The same of the near bank of each cluster.
    pub near_shared_wire: [f32; MAX_CLUSTERS],
    /// For each class of operation the clusters that share its unit, a bit each.
    pub shared: Vec<u8>,
    /// A copy beyond its register accesses: issue and the unit, for a lane.
    pub copy: f32,
    /// A copy once, however often it runs: to fetch one instruction more.
    pub fetch: f32,
    /// Cycles to the result of each class of operation.
    pub latency: Vec<f32>,
    /// Price of a cycle that a copy waits for a load whose result nothing else in its block reads.
    pub late_load: f32,
    /// Whether a cluster has local registers.
    pub usable: [bool; MAX_CLUSTERS],
}

impl Costs {
    /// The machine's.
    pub fn new(machine: &Machine) -> Self {
        let prices = machine.register_prices();
        let of = |[read, write]: [f64; 2]| (read as f32, write as f32);
        let unit = machine.timing.get(&OpClass::Move).map_or(0.0, |t| t.energy_pj);
        let (slot, late_load) = if machine.sm.rotate_clusters { (SLOT, CYCLE) } else { (SLOT_IN_STEP, LATE_LOAD_IN_STEP) };
        Costs {
            clusters: machine.clusters.len().min(MAX_CLUSTERS),
            main: of(prices.main),
            local: by_cluster(&prices.local, |p| of(*p)),
            near: by_cluster(&prices.near, |p| of(*p)),
            shared_wire: prices.shared_wire as f32,
            near_shared_wire: by_cluster(&prices.near_shared_wire, |pj| *pj as f32),
            shared: classes_of_shared_units(machine),
            copy: (unit + machine.energy.issue_pj / f64::from(machine.warp_size)) as f32 + slot,
            fetch: FETCH,
            latency: OpClass::iter().map(|c| machine.latency(c) as f32).collect(),
            late_load,
            usable: by_cluster(&machine.clusters, |c| c.local_registers > 0),
        }
    }

    /// Price of a copy's wait for an instruction's result right behind it, each time; `late`: nothing else in the block reads it.
    pub fn wait(&self, inst: &Inst, late: bool) -> f32 {
        let loads = matches!(inst.class(), OpClass::LoadGlobal | OpClass::Atomic);
        self.latency[inst.class() as usize] * if late && loads { self.late_load } else { CYCLE }
    }
}

/// What `f` makes of each cluster's item.
fn by_cluster<I, T: Copy + Default>(items: &[I], f: impl Fn(&I) -> T) -> [T; MAX_CLUSTERS] {
    std::array::from_fn(|c| items.get(c).map_or_else(T::default, &f))
}

/// For each class of operation the clusters that share its unit, a bit each.
fn classes_of_shared_units(machine: &Machine) -> Vec<u8> {
    let shares = |c: usize, class| machine.timing.get(&class).is_some_and(|t| machine.shared_unit(c, t.unit).is_some());
    let clusters = 0..machine.clusters.len().min(MAX_CLUSTERS);
    OpClass::iter().map(|class| clusters.clone().fold(0, |all, c| all | u8::from(shares(c, class)) << c)).collect()
}
