//! Statistics as flat columns: the names of `heddle run --json`, joined by dots, and a few sums in front of
//! them.

use std::collections::BTreeMap;

use serde_json::Value;

use heddle_sim::Statistics;
use heddle_sim::statistics::TimingStatistics;
use heddle_target::Machine;

/// Columns by name: numbers and texts.
pub type Metrics = BTreeMap<String, Value>;

/// A sum or quotient that most questions are about.
pub struct Headline {
    /// Column.
    pub name: &'static str,
    /// Unit and meaning.
    pub meaning: &'static str,
    value: fn(&Metrics) -> Option<Value>,
}

/// The columns that stand in front.
pub const HEADLINES: &[Headline] = &[
    Headline { name: "cycles", meaning: "cycles of all launches", value: |m| m.get("timing.cycles").cloned() },
    Headline { name: "energy_pj", meaning: "energy of all components, pJ", value: |m| sum(m, "energy_pj.") },
    Headline {
        name: "dynamic_pj",
        meaning: "energy of all components but static power, pJ",
        value: |m| Some((sum(m, "energy_pj.")?.as_f64()? - m.get("energy_pj.static")?.as_f64()?).into()),
    },
    Headline {
        name: "register_file_pj",
        meaning: "energy of the register files, pJ",
        value: |m| sum(m, "energy_pj.register-file "),
    },
    Headline {
        name: "register_file_bits",
        meaning: "capacity of an SM's register files, bits",
        value: |m| files(m, ".bits").map(|bits| (bits as u64).into()),
    },
    Headline {
        name: "register_file_mm2",
        meaning: "area of an SM's register files, mm²",
        value: |m| files(m, ".area_mm2").map(Value::from),
    },
    Headline { name: "memory_pj", meaning: "energy of caches, network and memories, pJ", value: |m| sum(m, "energy_pj.memory ") },
    Headline {
        name: "dram_bytes",
        meaning: "bytes read from and written to device memory",
        value: |m| {
            let of = |name: &str| m.get(&format!("timing.hierarchy.{name}"))?.as_u64();
            Some((of("dram_read_bytes")? + of("dram_written_bytes")?).into())
        },
    },
    Headline {
        name: "occupancy",
        meaning: "resident warps as a share of the most",
        value: |m| m.get("timing.occupancy").cloned(),
    },
    Headline {
        name: "instructions_per_cycle",
        meaning: "warp instructions a cycle",
        value: |m| {
            let of = |name: &str| m.get(name).and_then(Value::as_f64);
            let cycles = of("timing.cycles").filter(|c| *c > 0.0)?;
            Some((of("instructions")? / cycles).into())
        },
    },
];

fn sum(metrics: &Metrics, prefix: &str) -> Option<Value> {
    let parts: Vec<f64> = metrics
        .range(prefix.to_string()..)
        .take_while(|(name, _)| name.starts_with(prefix))
        .filter_map(|(_, v)| v.as_f64())
        .collect();
    (!parts.is_empty()).then(|| parts.iter().sum::<f64>().into())
}

/// The sum over an SM's register files of a column of each.
fn files(metrics: &Metrics, column: &str) -> Option<f64> {
    let of_files = metrics.range(format!("{FILES}.")..).take_while(|(name, _)| name.starts_with(FILES));
    let parts: Vec<f64> = of_files.filter(|(name, _)| name.ends_with(column)).filter_map(|(_, v)| v.as_f64()).collect();
    (!parts.is_empty()).then(|| parts.iter().sum())
}

/// What the columns of an SM's register files begin with.
pub const FILES: &str = "register_files";

/// Flattens statistics and puts the machine's columns and the headlines beside them: `register_files.FILE.bits` and
/// `.area_mm2` of an SM (C13).
pub fn of(statistics: &Statistics, machine: &Machine) -> Metrics {
    let mut metrics = flatten(&serde_json::to_value(statistics).unwrap_or_default());
    for (name, file) in machine.register_files() {
        metrics.insert(format!("{FILES}.{name}.bits"), file.bits.into());
        metrics.insert(format!("{FILES}.{name}.area_mm2"), file.area_mm2.into());
    }
    with_headlines(metrics)
}

/// The leaves of a JSON value with their paths, joined by dots. Nulls are left out.
pub fn flatten(value: &Value) -> Metrics {
    let mut result = Metrics::new();
    flatten_into(&mut result, String::new(), value);
    result
}

fn flatten_into(result: &mut Metrics, path: String, value: &Value) {
    let inner = |key: &str| if path.is_empty() { key.to_string() } else { format!("{path}.{key}") };
    match value {
        Value::Object(fields) => fields.iter().for_each(|(k, v)| flatten_into(result, inner(k), v)),
        Value::Array(elements) => elements.iter().enumerate().for_each(|(i, v)| flatten_into(result, inner(&i.to_string()), v)),
        Value::Null => {}
        leaf => {
            result.insert(path, leaf.clone());
        }
    }
}

/// Adds the headlines that the columns have.
pub fn with_headlines(mut metrics: Metrics) -> Metrics {
    for h in HEADLINES {
        if let Some(value) = (h.value)(&metrics) {
            metrics.insert(h.name.into(), value);
        }
    }
    metrics
}

/// Whether there can be a column of this name. (Unit classes, memory spaces and components of energy depend
/// on the kernel.)
pub fn is_metric(name: &str) -> bool {
    names().contains_key(name)
        || ["classes.", "memory.", "energy_pj.", "static_pj.", "registers.local.", "register_files."]
            .iter()
            .any(|p| name.starts_with(p))
}

/// A column of this kind that is spelt like `name`.
pub fn similar(name: &str) -> Option<String> {
    let names = names();
    super::similar(name, names.keys().map(String::as_str)).map(String::from)
}

/// All columns that do not depend on the kernel.
fn names() -> Metrics {
    let statistics = Statistics { timing: Some(TimingStatistics::default()), ..Default::default() };
    let mut names = flatten(&serde_json::to_value(&statistics).unwrap_or_default());
    names.extend(HEADLINES.iter().map(|h| (h.name.to_string(), Value::Null)));
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leaves_have_paths() {
        let flat = flatten(&serde_json::json!({"a": {"b": [1, 2.5]}, "c": "x", "d": null}));
        let text: Vec<String> = flat.iter().map(|(k, v)| format!("{k}={v}")).collect();
        assert_eq!(text, ["a.b.0=1", "a.b.1=2.5", "c=\"x\""]);
    }

    #[test]
    fn headlines_are_sums_and_quotients() {
        let mut s = Statistics { instructions: 50, ..Default::default() };
        s.energy_pj.insert("register-file main".into(), 2.0);
        s.energy_pj.insert("register-file local".into(), 1.0);
        s.energy_pj.insert("static".into(), 10.0);
        let mut t = TimingStatistics { cycles: 200, ..Default::default() };
        t.hierarchy.dram_read_bytes = 64;
        t.hierarchy.dram_written_bytes = 32;
        s.timing = Some(t);
        let machine = Machine::default_machine();
        let m = of(&s, &machine);
        assert_eq!(m["register_files.main.bits"], machine.sm.main_registers * 32);
        let files = machine.register_files();
        assert_eq!(m["register_file_bits"], files.iter().map(|(_, f)| f.bits).sum::<u64>());
        let area: f64 = files.iter().map(|(_, f)| f.area_mm2).sum();
        assert!((m["register_file_mm2"].as_f64().unwrap() - area).abs() < 1e-12);
        assert_eq!(m["cycles"], 200);
        assert_eq!(m["energy_pj"], 13.0);
        assert_eq!(m["dynamic_pj"], 3.0);
        assert_eq!(m["register_file_pj"], 3.0);
        assert_eq!(m["dram_bytes"], 96);
        assert_eq!(m["instructions_per_cycle"], 0.25);
        assert!(!m.contains_key("memory_pj"));
    }

    #[test]
    fn names_are_known_without_a_run() {
        assert!(
            is_metric("cycles")
                && is_metric("timing.stalls.memory")
                && is_metric("energy_pj.static")
                && is_metric("static_pj.sm")
        );
        assert!(!is_metric("cycle"));
        assert_eq!(similar("cycle").as_deref(), Some("cycles"));
    }
}
