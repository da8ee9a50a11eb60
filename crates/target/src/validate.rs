//! What a description must satisfy to be a machine that compiler and simulator can work with.
//!
//! Rules name fields by their dotted path, as `--set` does, so that the loader can say where the value came from.

use strum::IntoEnumIterator;

use super::Machine;
use heddle_isa::OpClass;

/// A value that makes no machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// Dotted path of the field.
    pub field: String,
    /// Its value, as text.
    pub value: String,
    /// What it must satisfy.
    pub rule: String,
}

/// Checks one value.
pub(super) fn check(ok: bool, field: &str, value: &dyn std::fmt::Display, rule: &str) -> Result<(), Violation> {
    if ok { Ok(()) } else { Err(Violation { field: field.into(), value: value.to_string(), rule: rule.into() }) }
}

pub(super) fn range(value: u32, low: u32, high: u32, field: &str) -> Result<(), Violation> {
    check((low..=high).contains(&value), field, &value, &format!("must be {low} to {high}"))
}

pub(super) fn energy(value: f64, field: &str) -> Result<(), Violation> {
    check(value >= 0.0 && value.is_finite(), field, &value, "must be a finite number from 0")
}

/// Checks a whole machine.
///
/// # Errors
/// The first field that is wrong.
pub fn validate(machine: &Machine) -> Result<(), Violation> {
    let name_ok = !machine.name.is_empty() && !machine.name.contains(char::is_control);
    check(name_ok, "name", &format!("{:?}", machine.name), "must be a name")?;
    check([8, 16, 32, 64].contains(&machine.warp_size), "warp-size", &machine.warp_size, "must be 8, 16, 32 or 64")?;
    let clock = machine.clock_mhz;
    check(clock > 0.0 && clock.is_finite(), "clock-mhz", &clock, "must be positive")?;
    sm(machine)?;
    clusters(machine)?;
    timing(machine)?;
    energies(machine)?;
    machine.memory.validate()
}

fn sm(machine: &Machine) -> Result<(), Violation> {
    let sm = &machine.sm;
    range(sm.count, 1, 1024, "sm.count")?;
    range(sm.max_warps, 1, 256, "sm.max-warps")?;
    range(sm.max_work_groups, 1, 256, "sm.max-work-groups")?;
    range(sm.max_work_group_size, 1, 65536, "sm.max-work-group-size")?;
    range(sm.max_main_registers, 4, 256, "sm.max-main-registers")?;
    check(
        (sm.max_main_registers * machine.warp_size..=1 << 24).contains(&sm.main_registers),
        "sm.main-registers",
        &sm.main_registers,
        &format!(
            "must hold one warp at least (max-main-registers {} x warp-size {} = {}), and be at most {}",
            sm.max_main_registers,
            machine.warp_size,
            sm.max_main_registers * machine.warp_size,
            1 << 24
        ),
    )?;
    range(sm.scalar_registers, 8, 256, "sm.scalar-registers")?;
    range(sm.predicate_registers, 2, 15, "sm.predicate-registers")?;
    range(sm.local_memory, 0, 1 << 24, "sm.local-memory")?;
    range(sm.scalar_issue, 1, 4, "sm.scalar-issue")?;
    range(sm.scalar_threshold, 0, machine.warp_size - 1, "sm.scalar-threshold")
}

fn clusters(machine: &Machine) -> Result<(), Violation> {
    let count = machine.clusters.len();
    check((1..=8).contains(&count), "clusters", &format!("{count} clusters"), "must be 1 to 8 (the encoding's field)")?;
    for (i, c) in machine.clusters.iter().enumerate() {
        let field = |name: &str| format!("clusters.{i}.{name}");
        check(!c.name.is_empty(), &field("name"), &"\"\"", "must be a name")?;
        let first = machine.clusters.iter().position(|d| d.name == c.name);
        check(first == Some(i), &field("name"), &c.name, "is the name of another cluster")?;
        range(c.local_registers, 0, 64, &field("local-registers"))?;
        check(!c.units.is_empty(), &field("units"), &"[]", "must name a unit")?;
    }
    Ok(())
}

fn timing(machine: &Machine) -> Result<(), Violation> {
    for class in OpClass::iter() {
        let field = format!("timing.{class}");
        let Some(t) = machine.timing.get(&class) else {
            return check(false, "timing", &format!("no {class}"), &format!("every unit class needs a line; `{class}` has none"));
        };
        let served = machine.clusters.iter().any(|c| c.units.contains(&t.unit));
        check(served, &format!("{field}.unit"), &t.unit, "no cluster has this unit")?;
        range(t.latency, 1, 10_000, &format!("{field}.latency"))?;
        range(t.interval, 1, 10_000, &format!("{field}.interval"))?;
        range(t.scalar_latency, 0, 10_000, &format!("{field}.scalar-latency"))?;
        energy(t.energy_pj, &format!("{field}.energy-pj"))?;
    }
    Ok(())
}

fn energies(machine: &Machine) -> Result<(), Violation> {
    let e = &machine.energy;
    for (field, table) in [("energy.local-read-pj", &e.local_read_pj), ("energy.local-write-pj", &e.local_write_pj)] {
        check(!table.is_empty(), field, &"[]", "must have an entry for a file of 1 register")?;
        for (i, value) in table.iter().enumerate() {
            energy(*value, &format!("{field}.{i}"))?;
        }
    }
    let d = &e.distance_mm;
    for (field, value) in [
        ("energy.main-read-pj", e.main_read_pj),
        ("energy.main-write-pj", e.main_write_pj),
        ("energy.scalar-read-pj", e.scalar_read_pj),
        ("energy.scalar-write-pj", e.scalar_write_pj),
        ("energy.predicate-pj", e.predicate_pj),
        ("energy.wire-pj-per-mm", e.wire_pj_per_mm),
        ("energy.distance-mm.main", d.main),
        ("energy.distance-mm.local", d.local),
        ("energy.distance-mm.local-shared", d.local_shared),
        ("energy.distance-mm.scalar", d.scalar),
        ("energy.issue-pj", e.issue_pj),
        ("energy.scalar-compare-pj", e.scalar_compare_pj),
        ("energy.static-watts", e.static_watts),
    ] {
        energy(value, field)?;
    }
    Ok(())
}
