//! Reading and overriding machine descriptions. Messages name the field, its value, what is allowed, and the
//! line or the `--set` it came from.

use std::ops::Range;
use std::path::Path;

use toml::de::{DeTable, DeValue};

use super::Machine;
use crate::describe::Violation;
use crate::validate::validate;

/// The default machine's description.
pub const DEFAULT: &str = include_str!("../../../heddle.toml");

/// How messages name the default machine's description.
const DEFAULT_NAME: &str = "heddle.toml (built in)";

/// A description that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum TargetError {
    /// The file cannot be read.
    #[error("{path}: cannot read the machine description: {error}")]
    Read {
        /// The file.
        path: String,
        /// What the system said.
        error: std::io::Error,
    },
    /// It is no TOML, or a field is missing, unknown or of the wrong type.
    #[error("{place}: {message}")]
    Parse {
        /// File, line and column.
        place: String,
        /// The parser's message.
        message: String,
    },
    /// A value makes no machine.
    #[error("{place}: {} = {}: {}", .violation.field, .violation.value, .violation.rule)]
    Invalid {
        /// File and line, or the `--set` that gave the value.
        place: String,
        /// What is wrong.
        violation: Violation,
    },
    /// `--set` names no field, or gives a value of the wrong type.
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
        Machine::from_text(DEFAULT, DEFAULT_NAME, &[]).unwrap_or_else(|e| panic!("the built-in description is invalid: {e}"))
    }

    /// Loads a description (the default one without a path) with overrides `dotted.field=value`.
    ///
    /// # Errors
    /// See [`TargetError`].
    pub fn load(path: Option<&Path>, overrides: &[String]) -> Result<Machine, TargetError> {
        match path {
            None => Machine::from_text(DEFAULT, DEFAULT_NAME, overrides),
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
        let mut machine: Machine = toml::from_str(text).map_err(|e| TargetError::Parse {
            place: e.span().map_or_else(|| name.to_string(), |span| place(name, text, &span)),
            message: e.message().to_string(),
        })?;
        for o in overrides {
            machine = overridden(&machine, o)?;
        }
        validate(&machine).map_err(|violation| {
            // The last override of the field, or of something around or inside it, is to blame; else the
            // file.
            let blamed = overrides.iter().rev().find(|o| {
                let path = o.split('=').next().unwrap_or_default().trim();
                // Which units there are is said by the clusters.
                let units =
                    violation.rule.starts_with("no cluster has") && path.starts_with("clusters.") && path.ends_with(".units");
                units || covers(path, &violation.field) || covers(&violation.field, path)
            });
            let place = match blamed {
                Some(o) => format!("--set {o}"),
                None => locate(text, &violation.field).map_or_else(|| name.to_string(), |span| place(name, text, &span)),
            };
            TargetError::Invalid { place, violation }
        })?;
        Ok(machine)
    }
}

/// `file:line:column` of a span.
fn place(name: &str, text: &str, span: &Range<usize>) -> String {
    let before = text.get(..span.start).unwrap_or(text);
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    format!("{name}:{line}:{column}")
}

/// Whether a dotted path (with `*` for every element) is a prefix of another.
fn covers(prefix: &str, path: &str) -> bool {
    let mut parts = path.split('.');
    prefix.split('.').all(|p| parts.next().is_some_and(|q| p == q || p == "*"))
}

/// Where a dotted field stands in a description; where its nearest enclosing table stands if it does not.
fn locate(text: &str, field: &str) -> Option<Range<usize>> {
    let table = DeTable::parse(text).ok()?;
    let mut span = None;
    let mut parts = field.split('.');
    let mut at = table.get_ref().get(parts.next()?)?;
    loop {
        // Tables and arrays of tables have spans at their headers.
        if at.span().start > 0 {
            span = Some(at.span());
        }
        let Some(part) = parts.next() else { return span };
        let next = match at.get_ref() {
            DeValue::Table(t) => t.get(part),
            DeValue::Array(a) => part.parse::<usize>().ok().and_then(|i| a.get(i)),
            _ => None,
        };
        match next {
            Some(n) => at = n,
            None => return span,
        }
    }
}

/// A machine with `dotted.field=value` applied; `clusters.0.local-registers=4` names array elements by
/// number, `clusters.*.…` all.
fn overridden(machine: &Machine, text: &str) -> Result<Machine, TargetError> {
    let fail = |reason: String| TargetError::Override { text: text.into(), reason };
    let (path, value) = text.split_once('=').ok_or_else(|| fail("expected field=value, for example warp-size=16".to_string()))?;
    let value = format!("v = {value}")
        .parse::<toml::Table>()
        .or_else(|_| format!("v = \"{value}\"").parse::<toml::Table>())
        .ok()
        .and_then(|mut t| t.remove("v"))
        .ok_or_else(|| fail("the value is no TOML value".into()))?;
    let mut whole = toml::Value::try_from(machine).map_err(|e| fail(e.to_string()))?;
    let parts: Vec<&str> = path.trim().split('.').collect();
    replace(&mut whole, &parts, &value).map_err(|m| fail(format!("{m}; `heddle target` prints the description")))?;
    whole.try_into().map_err(|e: toml::de::Error| fail(e.message().to_string()))
}

/// Replaces the value at a path that exists.
fn replace(at: &mut toml::Value, path: &[&str], value: &toml::Value) -> Result<(), String> {
    let Some((first, rest)) = path.split_first() else {
        // An integer is fine where the description has a float.
        *at = match (&at, value) {
            (toml::Value::Float(_), toml::Value::Integer(i)) => toml::Value::Float(*i as f64),
            (_, v) => v.clone(),
        };
        return Ok(());
    };
    match at {
        toml::Value::Array(elements) if *first == "*" => elements.iter_mut().try_for_each(|e| replace(e, rest, value)),
        toml::Value::Array(elements) => {
            let count = elements.len();
            match first.parse::<usize>().ok().and_then(|i| elements.get_mut(i)) {
                Some(e) => replace(e, rest, value),
                None if count == 0 => Err(format!("there is no element `{first}`: the list is empty")),
                None => Err(format!("there is no element `{first}`; the {count} elements have the numbers 0 to {}", count - 1)),
            }
        }
        toml::Value::Table(table) => {
            if let Some(next) = table.get_mut(*first) {
                return replace(next, rest, value);
            }
            let similar = table.keys().max_by(|a, b| strsim::jaro(a, first).total_cmp(&strsim::jaro(b, first)));
            let similar = similar.filter(|s| strsim::jaro(s, first) > 0.7);
            let meant = elsewhere(first).or_else(|| similar.cloned());
            Err(match meant {
                Some(s) => format!("there is no field `{first}`; is `{s}` meant?"),
                None => {
                    format!("there is no field `{first}`; there are {}", table.keys().cloned().collect::<Vec<_>>().join(", "))
                }
            })
        }
        _ => Err(format!("`{first}` is inside a field that has no fields")),
    }
}

/// The path of the field that has this name, if one alone has.
fn elsewhere(name: &str) -> Option<String> {
    let mut paths = crate::docs::paths().into_iter().filter(|p| p.rsplit('.').next() == Some(name));
    paths.next().filter(|_| paths.next().is_none())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shipped_descriptions_are_valid() {
        Machine::default_machine();
        for entry in std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../../machines")).unwrap() {
            let path = entry.unwrap().path();
            // Beside the descriptions lies a folder of published measurements.
            if path.is_file() {
                Machine::load(Some(&path), &[]).unwrap();
            }
        }
    }

    #[test]
    fn a_printed_description_is_the_same_machine() {
        let machine = Machine::default_machine();
        let text = toml::to_string_pretty(&machine).unwrap();
        assert_eq!(Machine::from_text(&text, "printed", &[]).unwrap(), machine);
    }

    #[test]
    fn overrides_change_fields() {
        let with = |o: &str| Machine::load(None, &[o.to_string()]).unwrap();
        assert_eq!(with("warp-size=16").warp_size, 16);
        assert_eq!(with("clusters.1.local-registers=4").clusters[1].local_registers, 4);
        assert!(with("clusters.*.local-registers=4").clusters.iter().all(|c| c.local_registers == 4));
        assert_eq!(with("clock-mhz=2000").clock_mhz, 2000.0);
        // A field that the file leaves to its default.
        assert!(with("clusters.0.shared-path=true").clusters[0].shared_path);
        assert_eq!(with("name=mine").name, "mine");
    }

    #[test]
    fn bad_overrides_are_refused_with_a_reason() {
        for (set, message) in [
            ("warp-size=33", "--set warp-size=33: warp-size = 33: must be 8, 16, 32 or 64"),
            ("warp-size", "expected field=value"),
            ("sm.max_warps=4", "there is no field `max_warps`; is `max-warps` meant?"),
            ("max-warps=4", "there is no field `max-warps`; is `sm.max-warps` meant?"),
            ("sm.shared-path=true", "there is no field `shared-path`; is `clusters.N.shared-path` meant?"),
            ("sm.count=many", "invalid type: string \"many\", expected u32"),
            ("sm.count=-1", "invalid value: integer `-1`, expected u32"),
            ("clusters.9.local-registers=4", "there is no element `9`; the 4 elements have the numbers 0 to 3"),
            ("shared-units.0.name=a", "there is no element `0`: the list is empty"),
            ("warp-size.lanes=4", "has no fields"),
            ("timing.int32.unit=fpu", "unknown variant `fpu`"),
            ("clusters.*.units=[\"alu\"]", "timing.int-divide.unit = sfu: no cluster has this unit"),
            ("clusters.1.name=a0", "is the name of another cluster"),
            ("energy.issue-pj=nan", "energy.issue-pj = NaN: must be a finite number from 0"),
            ("sm.main-registers=100", "must hold one warp at least (max-main-registers 256 x warp-size 32 = 8192)"),
        ] {
            let error = Machine::load(None, &[set.to_string()]).unwrap_err().to_string();
            assert!(error.contains(message), "{set}: {error}");
        }
    }

    #[test]
    fn errors_in_a_file_name_the_line() {
        let line = |needle: &str| DEFAULT.lines().position(|l| l.starts_with(needle)).unwrap() + 1;
        for (from, to, message) in [
            ("count = 8", "count = 0", format!("m.toml:{}:9: sm.count = 0: must be 1 to 1024", line("count"))),
            ("count = 8", "count = 8\ncounts = 8", format!("m.toml:{}:1: unknown field `counts`", line("count") + 1)),
            ("local-banks = 32\n", "", format!("m.toml:{}:1: missing field `local-banks`", line("[memory]"))),
            ("special =", "#special =", format!("m.toml:{}:1: timing = no special", line("[timing]"))),
            ("warp-size = 32", "warp-size = ", format!("m.toml:{}:13: ", line("warp-size"))),
        ] {
            assert!(DEFAULT.contains(from), "{from}");
            let error = Machine::from_text(&DEFAULT.replacen(from, to, 1), "m.toml", &[]).unwrap_err().to_string();
            assert!(error.starts_with(&message), "{error}\ninstead of\n{message}");
        }
    }
}
