//! What a description must satisfy to be a machine that compiler and simulator can work with.
//!
//! What one value must satisfy is said in its row. Here are the rules across fields, each a function that
//! rows name. Rules name fields by their dotted path, as `--set` does, so that the loader can say where the
//! value came from.

use strum::IntoEnumIterator;

use super::{Machine, Unit};
use crate::describe::{Allowed, Described, Field, Violation, check};
use crate::words::DramScheduler;
use heddle_isa::OpClass;

/// Checks a whole machine: each value by itself, then values against each other, in the order of the rows.
///
/// # Errors
/// The first field that is wrong.
pub fn validate(machine: &Machine) -> Result<(), Violation> {
    each_value(machine)?;
    across(Machine::FIELDS, machine)
}

/// Checks each value by itself.
pub(crate) fn each_value(machine: &Machine) -> Result<(), Violation> {
    machine.check("", Allowed::Fields)
}

/// The checks that rows name.
fn across(fields: &[Field], machine: &Machine) -> Result<(), Violation> {
    fields.iter().try_for_each(|field| {
        field.rule.across.map_or(Ok(()), |a| (a.check)(machine))?;
        across(field.inner, machine)
    })
}

/// An SM has room for one warp that names all registers it may.
pub(crate) fn main_registers(machine: &Machine) -> Result<(), Violation> {
    const MOST: u32 = 1 << 24;
    let sm = &machine.sm;
    let warp = sm.max_main_registers * machine.warp_size;
    let rule = format!(
        "must hold one warp at least (max-main-registers {} x warp-size {} = {warp}), and be at most {MOST}",
        sm.max_main_registers, machine.warp_size,
    );
    check((warp..=MOST).contains(&sm.main_registers), "sm.main-registers", &sm.main_registers, &rule)
}

/// The run-time scalarizer looks at fewer lanes than a warp has.
pub(crate) fn scalar_threshold(machine: &Machine) -> Result<(), Violation> {
    let (threshold, most) = (machine.sm.scalar_threshold, machine.warp_size - 1);
    check(threshold <= most, "sm.scalar-threshold", &threshold, &format!("must be 0 to {most}"))
}

/// Each scheduler has an active warp. Lanes that take turns come to the ends of strands at different times, where a warp that
/// leaves the active set loses its local registers.
pub(crate) fn active_warps(machine: &Machine) -> Result<(), Violation> {
    let (warps, least) = (machine.sm.active_warps, machine.sm.schedulers);
    let rule = format!("must be 0, or schedulers ({least}) to 256");
    check(warps == 0 || (least..=256).contains(&warps), "sm.active-warps", &warps, &rule)?;
    let apart = !machine.sm.independent_threads || machine.active_set().is_none();
    check(apart, "sm.independent-threads", &true, "goes with no active set (sm.scheduler = two-level, sm.active-warps)")
}

/// The encoding's field names a cluster.
pub(crate) fn cluster_count(machine: &Machine) -> Result<(), Violation> {
    let count = machine.clusters.len();
    check((1..=8).contains(&count), "clusters", &format!("{count} clusters"), "must be 1 to 8 (the encoding's field)")
}

/// Clusters are told apart by their names.
pub(crate) fn cluster_names(machine: &Machine) -> Result<(), Violation> {
    machine.clusters.iter().enumerate().try_for_each(|(i, c)| {
        let field = format!("clusters.{i}.name");
        check(!c.name.is_empty(), &field, &"\"\"", "must be a name")?;
        let first = machine.clusters.iter().position(|d| d.name == c.name);
        check(first == Some(i), &field, &c.name, "is the name of another cluster")
    })
}

/// A cluster executes something.
pub(crate) fn cluster_units(machine: &Machine) -> Result<(), Violation> {
    machine.clusters.iter().enumerate().try_for_each(|(i, c)| {
        let shares = machine.shared_units.iter().any(|s| s.clusters.contains(&c.name));
        check(shares || !c.units.is_empty(), &format!("clusters.{i}.units"), &"[]", "must name a unit")
    })
}

/// Rows of shared units are told apart by their names.
pub(crate) fn shared_unit_names(machine: &Machine) -> Result<(), Violation> {
    machine.shared_units.iter().enumerate().try_for_each(|(i, s)| {
        let field = format!("shared-units.{i}.name");
        check(!s.name.is_empty(), &field, &"\"\"", "must be a name")?;
        let first = machine.shared_units.iter().position(|t| t.name == s.name);
        check(first == Some(i), &field, &s.name, "is the name of another row")
    })
}

/// Branches run in the front end, of which each SM, or each of its schedulers, has one.
pub(crate) fn shared_unit_kinds(machine: &Machine) -> Result<(), Violation> {
    machine.shared_units.iter().enumerate().try_for_each(|(i, s)| {
        let field = format!("shared-units.{i}.units");
        check(!s.units.is_empty(), &field, &"[]", "must name a unit")?;
        s.units.iter().enumerate().try_for_each(|(k, unit)| {
            check(*unit != Unit::Control, &field, unit, "cannot be shared: branches run in the front end")?;
            check(!s.units[..k].contains(unit), &field, unit, "stands there twice; a row has one of each")
        })
    })
}

/// What a cluster issues to is one unit: its own, or one that it shares.
pub(crate) fn shared_unit_clusters(machine: &Machine) -> Result<(), Violation> {
    for (i, s) in machine.shared_units.iter().enumerate() {
        let field = format!("shared-units.{i}.clusters");
        let list = s.clusters.join(", ");
        check(s.clusters.len() >= 2, &field, &list, "must name two clusters at least")?;
        for (k, name) in s.clusters.iter().enumerate() {
            check(!s.clusters[..k].contains(name), &field, name, "stands there twice")?;
            let cluster = machine.clusters.iter().find(|c| c.name == *name);
            let Some(cluster) = cluster else { return check(false, &field, name, "is the name of no cluster") };
            for unit in &s.units {
                check(!cluster.units.contains(unit), &field, name, &format!("has `{unit}` among its own units"))?;
                let other = machine.shared_units[..i].iter().find(|o| o.units.contains(unit) && o.clusters.contains(name));
                let rule = format!("shares `{unit}` with others already ({})", other.map_or("", |o| o.name.as_str()));
                check(other.is_none(), &field, name, &rule)?;
            }
        }
    }
    Ok(())
}

/// Every instruction has a timing.
pub(crate) fn all_classes(machine: &Machine) -> Result<(), Violation> {
    OpClass::iter().try_for_each(|class| {
        let rule = format!("every unit class needs a line; `{class}` has none");
        check(machine.timing.contains_key(&class), "timing", &format!("no {class}"), &rule)
    })
}

/// Every instruction has a cluster that executes it.
pub(crate) fn class_units(machine: &Machine) -> Result<(), Violation> {
    machine.timing.iter().try_for_each(|(class, t)| {
        let served = (0..machine.clusters.len()).any(|c| machine.cluster_has(c, t.unit));
        check(served, &format!("timing.{class}.unit"), &t.unit, "no cluster has this unit")
    })
}

/// The last entry serves larger files, so there is one.
pub(crate) fn energy_tables(machine: &Machine) -> Result<(), Violation> {
    let e = &machine.energy;
    for (field, table) in [("energy.local-read-pj", &e.local_read_pj), ("energy.local-write-pj", &e.local_write_pj)] {
        check(!table.is_empty(), field, &"[]", "must have an entry for a file of 1 register")?;
    }
    Ok(())
}

/// An SM that is switched off draws at most what it draws otherwise.
pub(crate) fn gated_share(machine: &Machine) -> Result<(), Violation> {
    let share = machine.energy.static_power.gated_share;
    check((0.0..=1.0).contains(&share), "energy.static-power.gated-share", &share, "must be 0 to 1")
}

/// Lines are whole sectors.
pub(crate) fn line_bytes(machine: &Machine) -> Result<(), Violation> {
    let m = &machine.memory;
    power_of_two(m.line_bytes, ("sector-bytes", m.sector_bytes), 256, "memory.line-bytes")
}

/// Rows of DRAM are whole lines.
pub(crate) fn row_bytes(machine: &Machine) -> Result<(), Violation> {
    let m = &machine.memory;
    power_of_two(m.dram.row_bytes, ("line-bytes", m.line_bytes), 65536, "memory.dram.row-bytes")
}

/// TLBs are whole sets.
pub(crate) fn tlb_sizes(machine: &Machine) -> Result<(), Violation> {
    let m = &machine.memory;
    for (name, entries, ways) in [("tlb", m.tlb.entries, m.tlb.ways), ("l2-tlb", m.l2_tlb.entries, m.l2_tlb.ways)] {
        let fits = entries.is_multiple_of(ways) && entries <= 65536;
        check(fits, &format!("memory.{name}.entries"), &entries, &format!("must be 0 to 65536, a multiple of ways ({ways})"))?;
    }
    Ok(())
}

/// What a channel has chosen comes late enough that SMs can be simulated side by side until then.
pub(crate) fn scheduler(machine: &Machine) -> Result<(), Violation> {
    let d = &machine.memory.dram;
    let fits = d.scheduler == DramScheduler::InOrder || d.row_hit >= 4;
    check(fits, "memory.dram.scheduler", &d.scheduler, &format!("needs a row-hit ({}) of 4 or more", d.row_hit))
}

/// Refreshes leave time between them.
pub(crate) fn refresh(machine: &Machine) -> Result<(), Violation> {
    let d = &machine.memory.dram;
    let rule = format!("must be less than t-refi ({}), or 0", d.t_refi);
    check(d.t_rfc == 0 || d.t_rfc < d.t_refi, "memory.dram.t-rfc", &d.t_rfc, &rule)
}

/// A line lies in one row of one channel.
pub(crate) fn mapping(machine: &Machine) -> Result<(), Violation> {
    let m = &machine.memory;
    let lowest = m.dram.mapping.from_low().next().and_then(|f| f.bits);
    let rule = format!("must end with as many bits of `column` as a line has at least (line-bytes {})", m.line_bytes);
    let fits = lowest.is_none_or(|bits| bits >= m.line_bytes.trailing_zeros());
    check(fits, "memory.dram.mapping", &m.dram.mapping, &rule)
}

/// Powers of two from the value of another field on.
fn power_of_two(value: u32, (least, low): (&str, u32), high: u32, field: &str) -> Result<(), Violation> {
    let ok = value.is_power_of_two() && (low..=high).contains(&value);
    check(ok, field, &value, &format!("must be a power of two from {least} ({low}) to {high}"))
}

/// Caches are whole sets, and those in slices as many in each.
pub(crate) fn cache_sizes(machine: &Machine) -> Result<(), Violation> {
    let m = &machine.memory;
    for (name, bytes, ways, slices) in [
        ("data", m.data.bytes, m.data.ways, 1),
        ("uniform", m.uniform.bytes, m.uniform.ways, 1),
        ("constant", m.constant.bytes, m.constant.ways, 1),
        ("instruction", m.instruction.bytes, m.instruction.ways, 1),
        ("l15", m.l15.bytes, m.l15.ways, 1),
        ("l2", m.l2.bytes, m.l2.ways, m.l2.slices),
    ] {
        let unit = ways * m.line_bytes * slices;
        let parts = if slices > 1 { "ways x line-bytes x slices" } else { "ways x line-bytes" };
        let fits = bytes >= unit && bytes.is_multiple_of(unit) && bytes <= 1 << 30;
        let rule = format!("must be a multiple of {parts} = {unit}, at most 1 GiB");
        check(fits, &format!("memory.{name}.bytes"), &bytes, &rule)?;
    }
    Ok(())
}
