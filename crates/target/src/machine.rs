//! The rows of a description, apart from memory's. How rows are written is said in [`crate::describe`].

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use strum::IntoEnumIterator;

use heddle_isa::OpClass;

use crate::describe::*;
use crate::validate;
use crate::{Memory, Scheduler, StaticPower};

tables! {
    /// A whole machine.
    Machine {
        /// Name, printed in reports and stored in objects.
        name: String => name();
        /// What it resembles, where the numbers come from.
        description: String = String::new() => any("free text").simulator_only();
        /// Lanes a warp (S1).
        warp_size: u32 => one_of(&[8, 16, 32, 64]).of("lanes");
        /// Clock, to turn cycles into time.
        clock_mhz: f64 => positive().of("MHz").simulator_only();
        /// Cycles from the start of a launch until its first work-groups are given out.
        launch_cycles: u32 = 0 => integers(0, 1_000_000).of("cycles").simulator_only();
        /// Cycles from the end of the last work-group to the end of the launch.
        end_cycles: u32 = 0 => integers(0, 1_000_000).of("cycles").simulator_only();
        /// Random delays, by which the same launch takes another course.
        perturbation: Perturbation = Perturbation::NONE => fields();
        /// Streaming multiprocessors.
        sm: Sm => fields();
        /// Clusters, in order of their numbers (C1).
        clusters: Vec<Cluster> => fields().and(validate::cluster_count, "1 to 8 clusters (the encoding's field)");
        /// Units that several clusters share.
        shared_units: Vec<SharedUnits> = Vec::<SharedUnits>::new() => fields();
        /// Banks and ports of the main vector registers.
        main_file: MainFile = MainFile::UNLIMITED => fields();
        /// Per unit class: which unit, how long, how often, at what energy.
        timing: BTreeMap<OpClass, Timing> => fields().and(validate::all_classes, "a line for every unit class");
        /// Energies of register files, wires and fixed costs.
        energy: Energy => fields();
        /// Memory latencies, sizes and energies.
        memory: Memory => fields();
    }

    /// Random delays: launches that are repeated with several seeds show how much of a difference between two designs
    /// is chance (Alameldeen and Wood, HPCA 2003).
    Perturbation: Copy {
        /// Most cycles by which a work-group starts later, and a read of device memory that misses L2; 0: none.
        cycles: u32 = Perturbation::NONE.cycles => integers(0, 10_000).of("cycles").simulator_only();
        /// What the delays are drawn from.
        seed: u32 = Perturbation::NONE.seed => integers(0, 1_000_000_000).simulator_only();
    }

    /// One streaming multiprocessor; all are alike.
    Sm {
        /// SMs of the device.
        count: u32 => integers(1, 1024).of("SMs").simulator_only();
        /// Warps resident at most.
        max_warps: u32 => integers(1, 256).of("warps");
        /// Cycles between the starts of two work-groups that an SM is given.
        dispatch_cycles: u32 = 0 => integers(0, 100_000).of("cycles").simulator_only();
        /// Work-groups resident at most.
        max_work_groups: u32 => integers(1, 256).of("work-groups");
        /// Work-items of a work-group at most.
        max_work_group_size: u32 => integers(1, 65536).of("work-items");
        /// 32-bit main vector registers of the SM, counting every lane.
        main_registers: u32
            => across(validate::main_registers, "max-main-registers x warp-size to 16777216").of("registers");
        /// Main registers a work-item may name at most.
        max_main_registers: u32 => integers(4, 256).of("registers");
        /// Scalar registers of a warp.
        scalar_registers: u32 => integers(8, 256).of("registers");
        /// Predicate registers of a warp.
        predicate_registers: u32 => integers(2, 15).of("registers");
        /// Work-group memory.
        local_memory: u32 => integers(0, 1 << 24).of("bytes");
        /// Scalar instructions issued a cycle: the scalar unit's own slots (S1, S6).
        scalar_issue: u32 => integers(1, 4).of("a cycle");
        /// Run-time scalarizer (S7): most active lanes with the same operands that make an unmarked
        /// instruction scalar; 0: none.
        scalar_threshold: u32 => across(validate::scalar_threshold, "0 to warp-size - 1").of("lanes").simulator_only();
        /// Whether the run-time scalarizer (S7) yields: instructions that the compiler has marked go first, and where they or
        /// others take the scalar slots of a cycle, an unmarked one whose own unit is free issues there.
        scalarizer_yields: bool = false => any("both make a machine").simulator_only();
        /// Whether clusters that are alike (units, local registers, shared path) change by warp: what the code has in
        /// cluster c of n alike runs in cluster (c + warp) mod n, so that warps in step do not queue for one issue slot.
        rotate_clusters: bool = false => any("both make a machine");
        /// In which order warps that could issue are asked: `greedy-oldest` (those that issued last, then the oldest),
        /// `oldest`, `round-robin` (by age from behind the one that issued last on, then from the oldest on), `two-level`
        /// (as `greedy-oldest`, among the active warps).
        scheduler: Scheduler = Scheduler::GreedyOldest => any("each makes a machine");
        /// Warp schedulers. Warps are dealt out to them by their slots; each has scalar slots and a front end, issue slots
        /// and units of all clusters, and main registers of its own (sub-cores). Shared units are the SM's.
        schedulers: u32 = 1 => integers(1, 16).of("schedulers");
        /// Instructions that a scheduler issues to clusters in a cycle at most; 0: one for each cluster.
        issue_width: u32 = 0 => integers(0, 8).of("a cycle");
        /// Whether diverged lanes of a warp make progress in turn, so that none waits for ever for a lane of its own warp. In
        /// kernels with atomics or volatile accesses; a turn saves and restores the warp's scalar registers.
        independent_threads: bool = false => any("goes with all but an active set").simulator_only();
        /// Warps in the active set of a two-level scheduler (C14), shared out evenly to the schedulers: they alone issue,
        /// and hold local registers; 0: all resident warps.
        active_warps: u32 = 0 => across(validate::active_warps, "0, or schedulers to 256").of("warps");
    }

    /// A cluster: a private local register file and the units it serves (C1).
    Cluster {
        /// Name for listings.
        name: String => across(validate::cluster_names, "a name that no other cluster has");
        /// Units of the cluster.
        units: Vec<Unit> => across(validate::cluster_units, "one unit at least");
        /// Local vector registers a work-item (0: none).
        local_registers: u32 => integers(0, 64).of("registers");
        /// Registers of the near bank, beside the units: the local registers with the highest numbers, as far as there are so
        /// many. The others are the far bank.
        near_registers: u32 = 0 => integers(0, 64).of("registers");
        /// Whether the cluster's operands travel the longer, shared data path (SFU, memory; NUMBERS).
        shared_path: bool = false => any("both make a machine");
    }

    /// Units of an SM that several clusters share, each through a port of its own: an instruction issues through its
    /// cluster's slot, names its cluster's local registers (C1), and keeps the unit busy for all of them.
    SharedUnits {
        /// Name for listings.
        name: String => across(validate::shared_unit_names, "a name that no other row has");
        /// The units: one of each.
        units: Vec<Unit> => across(validate::shared_unit_kinds, "one at least, each once, not `control`");
        /// Names of the clusters that share them.
        clusters: Vec<String>
            => across(validate::shared_unit_clusters, "two clusters at least, none of which has the units otherwise");
    }

    /// Banks, ports and latency of the main vector registers of an SM, or of each of its schedulers (C13).
    MainFile: Copy {
        /// Banks; a 32-bit register of a warp is in one, and is read or written in one cycle. 0: no limit.
        banks: u32 = MainFile::UNLIMITED.banks => integers(0, 64).of("banks");
        /// Registers that a bank reads in a cycle.
        read_ports: u32 = MainFile::UNLIMITED.read_ports => integers(1, 16).of("a bank").simulator_only();
        /// Registers that a bank writes in a cycle.
        write_ports: u32 = MainFile::UNLIMITED.write_ports => integers(1, 16).of("a bank").simulator_only();
        /// Cycles by which an instruction is later that reads main registers.
        latency: u32 = MainFile::UNLIMITED.latency => integers(0, 1000).of("cycles");
        /// Operand collectors, where instructions wait for their operands and units while the cluster issues others. 0: the
        /// cluster issues nothing while an instruction's operands are read.
        collectors: u32 = MainFile::UNLIMITED.collectors => integers(0, 64).of("a cluster");
        /// Whether register r of warp w is in bank (r + w) mod banks, else in r mod banks.
        swizzle: bool = MainFile::UNLIMITED.swizzle => any("both make a machine").simulator_only();
    }

    /// Timing and energy of a unit class.
    Timing: Copy {
        /// Unit that executes it; any cluster with this unit may.
        unit: Unit => across(validate::class_units, "a unit that a cluster has");
        /// Cycles from issue to the result's availability, without memory.
        latency: u32 => integers(1, 10_000).of("cycles");
        /// Cycles the unit is busy with a warp's instruction.
        interval: u32 => integers(1, 10_000).of("cycles");
        /// Latency on the scalar unit (0: the scalar unit cannot execute it).
        scalar_latency: u32 => integers(0, 10_000).of("cycles");
        /// Energy a lane.
        energy_pj: f64 => picojoules();
    }

    /// Energies apart from the units'.
    Energy {
        /// For which arrays the prices below hold, and how they follow from capacities (C13).
        arrays: Arrays = Arrays::AS_LISTED => fields();
        /// Reading 32 bits of one lane from the main file, wire included where `wire-pj-per-mm` is 0.
        main_read_pj: f64 => picojoules();
        /// Writing 32 bits of one lane to the main file.
        main_write_pj: f64 => picojoules();
        /// Reading 32 bits of one lane from a local file of 1, 2, 3 … registers a lane; the last entry serves
        /// larger files.
        local_read_pj: Vec<f64> => picojoules().and(validate::energy_tables, "one entry at least");
        /// Writing 32 bits of one lane to a local file of 1, 2, 3 … registers a lane.
        local_write_pj: Vec<f64> => picojoules().and(validate::energy_tables, "one entry at least");
        /// Reading a 32-bit scalar register.
        scalar_read_pj: f64 => picojoules();
        /// Writing a 32-bit scalar register.
        scalar_write_pj: f64 => picojoules();
        /// Reading or writing one bit of a predicate register.
        predicate_pj: f64 => picojoules();
        /// Moving 32 bits over 1 mm.
        wire_pj_per_mm: f64 => from_zero().of("pJ/mm");
        /// Distances from a file to a data path.
        distance_mm: Distances => fields();
        /// Fetching, decoding and issuing one instruction for a warp.
        issue_pj: f64 => picojoules();
        /// Comparing the operands of one lane with the first active lane's (run-time scalarizer, S7).
        scalar_compare_pj: f64 => picojoules();
        /// Static power of the whole device, less what `static-power` gives to components.
        static_watts: f64 => from_zero().of("W").simulator_only();
        /// Static power of components.
        static_power: StaticPower = StaticPower::NONE => fields();
    }

    /// How the energy of a register file follows from its capacity (C13). Arrays are 128 bits wide, for four
    /// lanes; `crates/target/src/registers.rs` has the model and its sources.
    Arrays: Copy {
        /// Warps whose registers the files of `local-read-pj` and `local-write-pj` hold; 0: these prices hold
        /// whatever the number of warps.
        table_warps: u32 = Arrays::AS_LISTED.table_warps => integers(0, 256).of("warps");
        /// Bank for which `main-read-pj` and `main-write-pj` hold; 0: they hold whatever the bank.
        main_bank_bytes: u32 = Arrays::AS_LISTED.main_bank_bytes => integers(0, 1 << 24).of("bytes");
        /// File for which `scalar-read-pj` and `scalar-write-pj` hold; 0: they hold whatever the file.
        scalar_file_bytes: u32 = Arrays::AS_LISTED.scalar_file_bytes => integers(0, 1 << 24).of("bytes");
        /// Energy of reading an SRAM grows with its capacity to this power.
        read_exponent: f64 = Arrays::AS_LISTED.read_exponent => from_zero();
        /// Energy of writing likewise.
        write_exponent: f64 = Arrays::AS_LISTED.write_exponent => from_zero();
        /// What an access to an SRAM with the ports of a local file costs more than with the main file's.
        port_factor: f64 = Arrays::AS_LISTED.port_factor => positive();
    }

    /// Distances from register files to data paths.
    Distances: Copy {
        /// Main file to any data path.
        main: f64 => from_zero().of("mm");
        /// Local file to its cluster's private data path.
        local: f64 => from_zero().of("mm");
        /// A near bank of one register for `arrays.table-warps` warps to that path; a larger one is farther by the side of
        /// its area.
        near: f64 = 0.05 => from_zero().of("mm");
        /// Local file to a shared data path (SFU, memory).
        local_shared: f64 => from_zero().of("mm");
        /// Scalar file to the scalar unit.
        scalar: f64 => from_zero().of("mm");
    }
}

/// Kinds of execution units.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    Hash,
    PartialOrd,
    Ord,
    Serialize,
    Deserialize,
    strum::Display,
    strum::EnumIter,
    strum::EnumString,
)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum Unit {
    /// Integer, f32 and f16 arithmetic, moves.
    Alu,
    /// Special functions, division, conversion of the rarer kind.
    Sfu,
    /// Binary64.
    Double,
    /// Loads, stores, atomics.
    LoadStore,
    /// Front end: branches, barriers.
    Control,
}

impl Described for Unit {
    const SORT: Sort = Sort::Word;
    fn kind() -> String {
        Unit::iter().map(|u| u.to_string()).collect::<Vec<_>>().join(", ")
    }
    fn check(&self, _: &str, _: Allowed) -> Result<(), Violation> {
        Ok(())
    }
    fn forget(&mut self, whole: bool) {
        *self = if whole { Unit::Alu } else { *self };
    }
}

impl Perturbation {
    /// No delays.
    pub const NONE: Perturbation = Perturbation { cycles: 0, seed: 0 };
}

impl MainFile {
    /// As many ports as are wanted, and nothing added to the latency of units.
    pub const UNLIMITED: MainFile =
        MainFile { banks: 0, read_ports: 1, write_ports: 1, latency: 0, collectors: 0, swizzle: true };

    /// Whether anything of it differs from that.
    pub fn is_modelled(&self) -> bool {
        self.banks > 0 || self.latency > 0 || self.collectors > 0
    }
}

impl Arrays {
    /// Prices as the description lists them, whatever the capacity; exponents and ports from CACTI 7.
    pub const AS_LISTED: Arrays = Arrays {
        table_warps: 0,
        main_bank_bytes: 0,
        scalar_file_bytes: 0,
        read_exponent: 0.57,
        write_exponent: 0.46,
        port_factor: 1.4,
    };
}

impl Machine {
    /// The machine without what only the simulator reads: machines that are equal so have the same code.
    pub fn compilers_view(&self) -> Machine {
        let mut machine = self.clone();
        machine.forget(false);
        machine
    }

    /// Warps of an SM that issue and hold local registers, if these are not all that are resident (C14).
    pub fn active_set(&self) -> Option<u32> {
        (self.sm.scheduler == Scheduler::TwoLevel && self.sm.active_warps > 0).then_some(self.sm.active_warps)
    }

    /// Whether warps lose their local registers when they leave the active set, so that code has strands (C14).
    pub fn has_strands(&self) -> bool {
        self.active_set().is_some()
    }

    /// Cycles from issue to the result of an operation of a class on a vector unit, memory included (atomics:
    /// in device memory).
    pub fn latency(&self, class: OpClass) -> u32 {
        let m = &self.memory;
        let memory = match class {
            OpClass::LoadGlobal | OpClass::Atomic => m.far_latency(),
            OpClass::LoadLocal => m.local_latency,
            OpClass::LoadPrivate => m.data.latency,
            OpClass::LoadArgument => m.argument_latency,
            _ => 0,
        };
        self.timing.get(&class).map_or(1, |t| t.latency) + memory
    }
}
