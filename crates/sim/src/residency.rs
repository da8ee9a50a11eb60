//! How many work-groups an SM holds: what limits them at launch, and how their number adapts where registers
//! are renamed (REN-1, REN-2, REN-8).

use heddle_isa::surface::LaunchValue;
use heddle_object::metadata::{KernelHeader, WorkingSet};
use heddle_target::Machine;

/// What an SM holds of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Residency {
    /// Work-groups.
    pub groups: u32,
    /// What limits them.
    pub limit: &'static str,
    /// Groups that other limits than registers allow.
    pub most: u32,
    /// Whether registers are renamed: only if that makes room for more work-groups. Otherwise all registers
    /// of a warp are fixed (REN-1).
    pub renames: bool,
}

/// How many work-groups an SM holds, and what limits it.
///
/// With renaming these are the groups whose greatest demand the registers can serve at once (REN-8), and the
/// SM may admit more while it runs ([`Admission`]). What the L1s serve depends on the
/// launch's arguments, which [`Launch::residency`](crate::Launch::residency) knows; here they are as if 0.
pub fn residency(header: &KernelHeader, machine: &Machine, local: [u32; 3], local_bytes: u32) -> Residency {
    residency_at(header, machine, local, local_bytes, &|_| 0)
}

/// [`residency`] of a launch of such values.
pub(crate) fn residency_at(
    header: &KernelHeader,
    machine: &Machine,
    local: [u32; 3],
    local_bytes: u32,
    values: &dyn Fn(LaunchValue) -> u32,
) -> Residency {
    let warps = warps(local, machine);
    let sm = &machine.sm;
    let all = sm.main_registers / machine.warp_size;
    let others = [
        (sm.max_warps / warps, "warps"),
        (sm.max_work_groups, "work-groups"),
        (sm.local_memory.checked_div(local_bytes).unwrap_or(u32::MAX), "work-group memory"),
        (groups_in_l1(&header.working_sets, machine, local, values), "L1"),
    ];
    let least = |registers: u32| {
        let limits = others.into_iter().chain([(registers, "main registers")]);
        limits.min_by_key(|l| l.0).unwrap_or((1, "warps"))
    };
    let (groups, limit) = least(all / header.main_registers.max(1).saturating_mul(warps));
    let (most, _) = least(u32::MAX);
    // A release speaks for all lanes of a warp, which independent threads execute at different times.
    if header.fixed_registers < header.main_registers && groups < most && !sm.independent_threads {
        let registers = header.fixed_registers.saturating_add(header.shared_demand).max(1);
        let (groups, limit) = least(all / registers.saturating_mul(warps));
        return Residency { groups, limit, most, renames: true };
    }
    Residency { groups, limit, most: groups, renames: false }
}

/// Warps of a work-group, at least one; of sizes that no machine allows, many.
fn warps(local: [u32; 3], machine: &Machine) -> u32 {
    let items = local.iter().fold(1u32, |n, size| n.saturating_mul(*size));
    items.div_ceil(machine.warp_size).max(1)
}

/// Work-groups whose loops find in the L1s what they come back to (K7): with more, each would evict the others' lines.
/// At least two, so that one runs while the last warps of the other end and the next one begins, and enough for every scheduler to
/// have a warp. A part of each L1 is left for everything else.
fn groups_in_l1(working_sets: &[WorkingSet], machine: &Machine, local: [u32; 3], values: &dyn Fn(LaunchValue) -> u32) -> u32 {
    let m = &machine.memory;
    let strides = |s: &WorkingSet| [0, 1, 2].map(|d: usize| (s.strides[d].evaluate(values) as i32).unsigned_abs());
    let fit = |uniform: bool, bytes: u32| {
        let sets = working_sets.iter().filter(|s| s.uniform == uniform);
        let lines: u64 = sets.map(|s| WorkingSet::lines(strides(s), local, m.line_bytes)).sum();
        let room = u64::from(bytes / m.line_bytes.max(1)) * ROOM.0 / ROOM.1;
        room.checked_div(lines).unwrap_or(u64::MAX)
    };
    let warps = warps(local, machine);
    let groups = fit(false, m.data.bytes).min(fit(true, m.uniform.bytes)).min(u64::from(u32::MAX)) as u32;
    groups.max(machine.sm.schedulers.div_ceil(warps)).max(FEWEST)
}

/// Work-groups that an SM holds whatever the L1s keep: with one at a time, rows of 1 KiB a lane took a tenth longer on
/// `machines/mixed.toml` than with two, and found as much.
const FEWEST: u32 = 2;

/// The part of an L1 that working sets may fill: the rest is for everything else. By measurement on products of matrices with
/// 256 columns, before sets were chosen by a polynomial.
const ROOM: (u64, u64) = (1, 2);

/// Work-groups that an SM comes to hold at most in a launch of `total`, and why no more: what limits the SM,
/// or that the launch has no more for it.
pub fn held(resident: u32, limit: &str, total: u64, machine: &Machine) -> (u64, String) {
    let share = total.div_ceil(u64::from(machine.sm.count.max(1)));
    if share >= u64::from(resident) {
        return (resident.into(), limit.into());
    }
    let groups = if total == 1 { "work-group" } else { "work-groups" };
    (share, format!("the launch, which has only {total} {groups}"))
}

/// How many work-groups an SM with renaming holds (REN-2): it starts with those whose greatest demand is
/// served at once. When for [`ACCESSES`] times a memory access the pool could have served another group's
/// greatest demand beside the oldest group's reserve, it admits one more; when warps have starved for most of
/// that time, the next group that ends is not replaced.
pub struct Admission {
    /// Time observed at once, cycles.
    window: u64,
    /// Groups held in any case.
    guaranteed: u32,
    /// Groups held now at most.
    target: u32,
    /// End of the time observed.
    until: u64,
    /// Fewest registers that were free in it.
    least_free: u32,
    /// Cycles in which a warp starved.
    starved: u64,
}

impl Admission {
    /// At launch, with all `registers` of the SM free.
    pub fn new(guaranteed: u32, registers: u32, machine: &Machine) -> Self {
        let window = ACCESSES * u64::from(machine.memory.far_latency()).max(1);
        Admission { window, guaranteed, target: guaranteed, until: window, least_free: registers, starved: 0 }
    }

    /// Groups to hold now.
    pub fn target(&self) -> u32 {
        self.target
    }

    /// Notes the free registers of some cycles, in how many of which a warp starved.
    pub fn observe(&mut self, free: u32, starved: u64) {
        self.least_free = self.least_free.min(free);
        self.starved += starved;
    }

    /// Adapts the number at the end of each time observed; `room` registers are what another group may come
    /// to need beside the oldest one's reserve.
    pub fn adapt(&mut self, now: u64, free: u32, room: u32, most: u32) {
        if now < self.until {
            return;
        }
        if self.least_free >= room && self.target < most {
            self.target += 1;
        } else if self.starved * 2 > self.window && self.target > self.guaranteed {
            self.target -= 1;
        }
        (self.until, self.least_free, self.starved) = (now + self.window, free, 0);
    }
}

/// Memory accesses in the time that [`Admission`] observes. One is too short: while the first warps all wait for
/// their first loads, every register is free, and an SM that fills with groups then has warps in their phases of
/// many registers starve each other until groups end (by measurement: 4 to 16 are alike).
const ACCESSES: u64 = 4;

#[cfg(test)]
mod tests {
    use super::*;
    use heddle_isa::surface::LaunchExpression;

    /// SMs of 20 warps, 6 work-groups, 128 registers of a warp and 1000 bytes of work-group memory.
    fn machine() -> Machine {
        let registers = ["max-main-registers=128", "main-registers=4096"];
        let sm = registers.into_iter().chain(["max-warps=20", "max-work-groups=6", "local-memory=1000", "count=3"]);
        heddle_target::testing::mixed(&sm.map(|s| format!("sm.{s}")).collect::<Vec<_>>())
    }

    fn header() -> KernelHeader {
        let text = r#"{"name":"k","text_offset":0,"text_size":0,"args":[],"local_bytes":0,"private_bytes":0,"main_registers":8,
            "fixed_registers":8,"shared_demand":0,"local_registers":[],"scalar_registers":8,"predicate_registers":4,
            "required_work_group":null,"warp_size":32}"#;
        serde_json::from_str(text).unwrap()
    }

    /// Main registers: all that are named, those that are fixed, and how many others are needed at once.
    fn of(registers: [u32; 3], local: [u32; 3], local_bytes: u32) -> (u32, &'static str, u32, bool) {
        let [main_registers, fixed_registers, shared_demand] = registers;
        let header = KernelHeader { main_registers, fixed_registers, shared_demand, ..header() };
        let Residency { groups, limit, most, renames } = residency(&header, &machine(), local, local_bytes);
        (groups, limit, most, renames)
    }

    #[test]
    fn no_sm_holds_a_work_group_beyond_all_measure() {
        // Their product is 0 in 32 bits.
        for local in [[1 << 20, 1 << 12, 1], [1 << 16, 1 << 8, 1 << 8], [u32::MAX; 3]] {
            let (groups, limit, ..) = of([8, 8, 0], local, 0);
            assert_eq!((groups, limit), (0, "warps"), "{local:?}");
            assert_eq!(of([8, 4, u32::MAX], local, 0).0, 0);
        }
    }

    #[test]
    fn the_scarcest_resource_limits_an_sm() {
        assert_eq!(of([8, 8, 0], [32, 1, 1], 0), (6, "work-groups", 6, false));
        // Four warps, the last of which has one work-item.
        assert_eq!(of([5, 5, 0], [97, 1, 1], 0), (5, "warps", 5, false));
        assert_eq!(of([5, 5, 0], [16, 4, 2], 0), (5, "warps", 5, false));
        assert_eq!(of([8, 8, 0], [32, 1, 1], 250), (4, "work-group memory", 4, false));
        assert_eq!(of([8, 8, 0], [32, 1, 1], 251), (3, "work-group memory", 3, false));
        assert_eq!(of([32, 32, 0], [32, 1, 1], 0), (4, "main registers", 4, false));
        assert_eq!(of([32, 32, 0], [64, 1, 1], 0), (2, "main registers", 2, false));
        assert_eq!(of([33, 33, 0], [32, 1, 1], 0), (3, "main registers", 3, false));
        // A kernel that names none has one.
        assert_eq!(of([0, 0, 0], [32, 1, 1], 0), (6, "work-groups", 6, false));
    }

    #[test]
    fn registers_are_renamed_where_that_makes_room() {
        // 12 fixed ones and 12 at once.
        assert_eq!(of([32, 12, 12], [32, 1, 1], 0), (5, "main registers", 6, true));
        assert_eq!(of([32, 12, 12], [64, 1, 1], 0), (2, "main registers", 6, true));
        assert_eq!(of([32, 4, 4], [32, 1, 1], 0), (6, "work-groups", 6, true));
        // None is shared, or registers are not what limits.
        assert_eq!(of([32, 32, 12], [32, 1, 1], 0), (4, "main registers", 4, false));
        assert_eq!(of([21, 12, 12], [32, 1, 1], 0), (6, "work-groups", 6, false));
        assert_eq!(of([32, 12, 12], [32, 1, 1], 250), (4, "work-group memory", 4, false));
    }

    #[test]
    fn a_launch_may_have_fewer_groups_than_sms_hold() {
        let of = |total| held(4, "warps", total, &machine());
        assert_eq!((of(12), of(10)), ((4, "warps".to_string()), (4, "warps".to_string())));
        assert_eq!(of(9), (3, "the launch, which has only 9 work-groups".to_string()));
        assert_eq!(of(1), (1, "the launch, which has only 1 work-group".to_string()));
    }

    /// Two groups guaranteed, 50 registers, 100 cycles observed at once (four accesses of 25); another group may
    /// come to need 20.
    fn admission() -> Admission {
        let memory = ["data.latency=3", "network.latency=4", "l2.latency=4", "dram.row-hit=10"];
        Admission::new(2, 50, &heddle_target::testing::mixed(&memory.map(|m| format!("memory.{m}"))))
    }

    #[test]
    fn groups_are_admitted_while_registers_are_free_all_the_time() {
        let mut a = admission();
        assert_eq!(a.target(), 2);
        a.observe(20, 0);
        a.adapt(99, 20, 20, 4);
        assert_eq!(a.target(), 2, "the time is not over");
        a.adapt(100, 30, 20, 4);
        assert_eq!(a.target(), 3);
        // The next 100 cycles begin with 30 free ones.
        a.adapt(199, 40, 20, 4);
        assert_eq!(a.target(), 3);
        a.observe(19, 0);
        a.observe(45, 0);
        a.adapt(200, 40, 20, 4);
        assert_eq!(a.target(), 3, "once there were only 19");
        a.adapt(300, 40, 20, 4);
        assert_eq!(a.target(), 4);
        a.adapt(400, 40, 20, 4);
        assert_eq!(a.target(), 4, "other limits than registers");
        // What was free when the time began counts, too.
        let mut a = admission();
        a.adapt(100, 19, 20, 4);
        a.observe(40, 0);
        a.adapt(200, 40, 20, 4);
        assert_eq!(a.target(), 3);
    }

    #[test]
    fn groups_are_not_replaced_when_warps_starve_most_of_the_time() {
        let mut a = admission();
        a.adapt(100, 0, 20, 4);
        a.adapt(250, 0, 20, 4);
        assert_eq!(a.target(), 3);
        a.observe(0, 30);
        a.observe(0, 20);
        a.adapt(350, 0, 20, 4);
        assert_eq!(a.target(), 3, "half of it");
        a.observe(0, 30);
        a.observe(0, 21);
        a.adapt(449, 0, 20, 4);
        assert_eq!(a.target(), 3);
        a.adapt(450, 0, 20, 4);
        assert_eq!(a.target(), 2);
        a.observe(0, 100);
        a.adapt(550, 0, 20, 4);
        assert_eq!(a.target(), 2, "these are guaranteed");
    }

    #[test]
    fn work_groups_find_their_lines_in_the_l1s() {
        let machine = Machine::default_machine();
        let (m, schedulers) = (&machine.memory, machine.sm.schedulers);
        assert_eq!((m.data.bytes, m.uniform.bytes, m.line_bytes, schedulers), (65536, 32768, 128, 4));
        let groups = |sets: &[(bool, [u32; 3])], local| {
            let number = |n: u32| LaunchExpression::default().plus(n);
            let sets = sets.iter().map(|(uniform, strides)| WorkingSet { uniform: *uniform, strides: strides.map(number) });
            groups_in_l1(&sets.collect::<Vec<_>>(), &machine, local, &|_| 0)
        };
        // Half of 512 lines, 24 a group; of 256 lines in the uniform L1; what needs more of either decides.
        assert_eq!(groups(&[(false, [4096, 0, 0])], [24, 1, 1]), 10);
        assert_eq!(groups(&[(true, [4096, 0, 0])], [24, 1, 1]), 5);
        assert_eq!(groups(&[(true, [4096, 0, 0]), (false, [128, 0, 0])], [24, 1, 1]), 5);
        assert_eq!(groups(&[(false, [4096, 0, 0]), (false, [128, 0, 0])], [24, 1, 1]), 5);
        // Half a line a work-item; rows of 8 work-items of 4 bytes each are a line.
        assert_eq!(groups(&[(false, [64, 0, 0])], [64, 1, 1]), 8);
        assert_eq!(groups(&[(false, [4, 512, 0])], [8, 16, 1]), 16);
        // Every scheduler keeps a warp, and two groups at least are held.
        assert_eq!(groups(&[(true, [4096, 0, 0]); 4], [32, 1, 1]), schedulers);
        assert_eq!(groups(&[(true, [4096, 0, 0])], [512, 1, 1]), 2);
        assert_eq!(groups(&[], [32, 1, 1]), u32::MAX);
    }
}
