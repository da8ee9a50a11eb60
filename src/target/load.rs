//! Reading, overriding and validating machine descriptions.

use std::path::Path;

use strum::IntoEnumIterator;

use super::Machine;
use crate::isa::OpClass;

/// The default machine's description.
pub const DEFAULT: &str = include_str!("../../heddle.toml");

/// A description that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum TargetError {
    /// The file cannot be read.
    #[error("{path}: {error}")]
    Read {
        /// The file.
        path: String,
        /// What the system said.
        error: std::io::Error,
    },
    /// It is no TOML, or a field is missing, unknown or of the wrong type.
    #[error("{path}: {message}")]
    Parse {
        /// The file.
        path: String,
        /// The parser's message, with line and column.
        message: String,
    },
    /// A value makes no machine.
    #[error("{path}: {field} = {value}: {rule}")]
    Invalid {
        /// The file.
        path: String,
        /// Dotted name.
        field: String,
        /// Its value.
        value: String,
        /// What it must satisfy.
        rule: String,
    },
    /// `--set` names no field.
    #[error("--set {text}: {reason}")]
    Override {
        /// The argument.
        text: String,
        /// What is wrong with it.
        reason: String,
    },
}

impl Machine {
    /// The default machine.
    ///
    /// # Panics
    /// Never: a test loads the embedded description.
    pub fn default_machine() -> Machine {
        Machine::from_text(DEFAULT, "heddle.toml", &[]).unwrap_or_else(|e| panic!("the built-in description is invalid: {e}"))
    }

    /// Loads a description (the default one without a path) with overrides `dotted.field=value`.
    ///
    /// # Errors
    /// See [`TargetError`].
    pub fn load(path: Option<&Path>, overrides: &[String]) -> Result<Machine, TargetError> {
        match path {
            None => Machine::from_text(DEFAULT, "heddle.toml", overrides),
            Some(path) => {
                let name = path.display().to_string();
                let text = std::fs::read_to_string(path).map_err(|error| TargetError::Read { path: name.clone(), error })?;
                Machine::from_text(&text, &name, overrides)
            }
        }
    }

    /// Parses a description; `name` is for messages.
    ///
    /// # Errors
    /// See [`TargetError`].
    pub fn from_text(text: &str, name: &str, overrides: &[String]) -> Result<Machine, TargetError> {
        let parse = |e: toml::de::Error| TargetError::Parse { path: name.into(), message: e.to_string() };
        let machine: Machine = if overrides.is_empty() {
            toml::from_str(text).map_err(parse)?
        } else {
            // Errors of the file itself come first, with their lines.
            let _: Machine = toml::from_str(text).map_err(parse)?;
            let mut value: toml::Table = text.parse().map_err(parse)?;
            for o in overrides {
                apply(&mut value, o)?;
            }
            value.try_into().map_err(|e: toml::de::Error| TargetError::Override {
                text: overrides.join(" "),
                reason: e.message().to_string(),
            })?
        };
        machine.validate(name)?;
        Ok(machine)
    }

    /// Checks that the description is a machine that compiler and simulator can work with.
    ///
    /// # Errors
    /// The first field that is wrong.
    pub fn validate(&self, name: &str) -> Result<(), TargetError> {
        let check = |ok: bool, field: &str, value: &dyn std::fmt::Display, rule: &str| {
            if ok {
                return Ok(());
            }
            Err(TargetError::Invalid { path: name.into(), field: field.into(), value: value.to_string(), rule: rule.into() })
        };
        let sm = &self.sm;
        check([8, 16, 32, 64].contains(&self.warp_size), "warp-size", &self.warp_size, "must be 8, 16, 32 or 64")?;
        check(self.clock_mhz > 0.0 && self.clock_mhz.is_finite(), "clock-mhz", &self.clock_mhz, "must be positive")?;
        check((1..=1024).contains(&sm.count), "sm.count", &sm.count, "must be 1 to 1024")?;
        check((1..=256).contains(&sm.max_warps), "sm.max-warps", &sm.max_warps, "must be 1 to 256")?;
        check((1..=256).contains(&sm.max_work_groups), "sm.max-work-groups", &sm.max_work_groups, "must be 1 to 256")?;
        check(
            (1..=65536).contains(&sm.max_work_group_size),
            "sm.max-work-group-size",
            &sm.max_work_group_size,
            "must be 1 to 65536 (work-groups are limited by the SM's warps too)",
        )?;
        check((4..=256).contains(&sm.max_main_registers), "sm.max-main-registers", &sm.max_main_registers, "must be 4 to 256")?;
        check(
            (sm.max_main_registers * self.warp_size..=1 << 24).contains(&sm.main_registers),
            "sm.main-registers",
            &sm.main_registers,
            "must hold at least one warp at max-main-registers",
        )?;
        check((8..=256).contains(&sm.scalar_registers), "sm.scalar-registers", &sm.scalar_registers, "must be 8 to 256")?;
        check((2..=15).contains(&sm.predicate_registers), "sm.predicate-registers", &sm.predicate_registers, "must be 2 to 15")?;
        check(sm.local_memory <= 1 << 24, "sm.local-memory", &sm.local_memory, "must be at most 16 MiB")?;
        check(sm.scalar_issue <= 1, "sm.scalar-issue", &sm.scalar_issue, "must be 0 or 1")?;
        check((1..=8).contains(&self.clusters.len()), "clusters", &self.clusters.len(), "must be 1 to 8 (the encoding's field)")?;
        for (i, c) in self.clusters.iter().enumerate() {
            let field = format!("clusters[{i}].local-registers");
            check(c.local_registers <= 64, &field, &c.local_registers, "must be at most 64")?;
            check(!c.units.is_empty(), &format!("clusters[{i}].units"), &"[]", "must name a unit")?;
        }
        for class in OpClass::iter() {
            let field = format!("timing.{class}");
            let Some(t) = self.timing.get(&class) else {
                return check(false, &field, &"missing", "every unit class needs a line");
            };
            let served = self.clusters.iter().any(|c| c.units.contains(&t.unit));
            check(served, &format!("{field}.unit"), &t.unit, "no cluster has this unit")?;
            check((1..=10_000).contains(&t.latency), &format!("{field}.latency"), &t.latency, "must be 1 to 10000")?;
            check((1..=10_000).contains(&t.interval), &format!("{field}.interval"), &t.interval, "must be 1 to 10000")?;
            check(t.scalar_latency <= 10_000, &format!("{field}.scalar-latency"), &t.scalar_latency, "must be at most 10000")?;
            check(
                t.energy_pj >= 0.0 && t.energy_pj.is_finite(),
                &format!("{field}.energy-pj"),
                &t.energy_pj,
                "must be 0 or more",
            )?;
        }
        let e = &self.energy;
        check(!e.local_read_pj.is_empty(), "energy.local-read-pj", &"[]", "must have an entry")?;
        check(!e.local_write_pj.is_empty(), "energy.local-write-pj", &"[]", "must have an entry")?;
        let m = &self.memory;
        check(
            m.sector_bytes.is_power_of_two() && m.sector_bytes >= 4,
            "memory.sector-bytes",
            &m.sector_bytes,
            "must be a power of two from 4",
        )?;
        check(
            m.line_bytes.is_power_of_two() && m.line_bytes >= m.sector_bytes,
            "memory.line-bytes",
            &m.line_bytes,
            "must be a power of two, at least sector-bytes",
        )?;
        check((1..=1024).contains(&m.local_banks), "memory.local-banks", &m.local_banks, "must be 1 to 1024")?;
        check(m.device_bytes <= 1 << 40, "memory.device-bytes", &m.device_bytes, "must be at most 1 TiB")
    }
}

/// Applies `dotted.field=value` to a table; `clusters.0.local-registers=4` names array elements by number.
fn apply(table: &mut toml::Table, text: &str) -> Result<(), TargetError> {
    let fail = |reason: &str| TargetError::Override { text: text.into(), reason: reason.into() };
    let (path, value) = text.split_once('=').ok_or_else(|| fail("expected field=value, for example warp-size=16"))?;
    let value = format!("v = {value}")
        .parse::<toml::Table>()
        .or_else(|_| format!("v = \"{value}\"").parse::<toml::Table>())
        .ok()
        .and_then(|mut t| t.remove("v"))
        .ok_or_else(|| fail("the value is no TOML value"))?;
    let mut whole = toml::Value::Table(std::mem::take(table));
    let parts: Vec<&str> = path.split('.').collect();
    let found = replace(&mut whole, &parts, value);
    if let toml::Value::Table(t) = whole {
        *table = t;
    }
    if found { Ok(()) } else { Err(fail("the description has no such field; `heddle target` prints all of them")) }
}

/// Replaces the value at a path that exists.
fn replace(at: &mut toml::Value, path: &[&str], value: toml::Value) -> bool {
    let Some((first, rest)) = path.split_first() else {
        // An integer is fine where the description has a float.
        *at = match (&at, value) {
            (toml::Value::Float(_), toml::Value::Integer(i)) => toml::Value::Float(i as f64),
            (_, v) => v,
        };
        return true;
    };
    let next = match at {
        toml::Value::Table(t) => t.get_mut(*first),
        toml::Value::Array(a) => first.parse::<usize>().ok().and_then(|i| a.get_mut(i)),
        _ => None,
    };
    next.is_some_and(|n| replace(n, rest, value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shipped_descriptions_are_valid() {
        Machine::default_machine();
        for entry in std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/machines")).unwrap() {
            Machine::load(Some(&entry.unwrap().path()), &[]).unwrap();
        }
    }

    #[test]
    fn overrides_are_checked() {
        let with = |o: &str| Machine::load(None, &[o.to_string()]);
        assert_eq!(with("warp-size=16").unwrap().warp_size, 16);
        assert_eq!(with("clusters.1.local-registers=4").unwrap().clusters[1].local_registers, 4);
        assert!(with("warp-size=33").unwrap_err().to_string().contains("must be 8, 16, 32 or 64"));
        assert!(with("sm.nothing=1").unwrap_err().to_string().contains("no such field"));
        assert!(with("sm.count=many").unwrap_err().to_string().contains("invalid type"));
    }
}
