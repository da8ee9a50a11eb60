//! Axes of a sweep: lists and ranges of values, their product, samples of it.

use std::collections::BTreeSet;

use rand::{Rng, SeedableRng};
use toml::Value;

/// Most values of a range.
const MOST_VALUES: usize = 100_000;

/// One axis: a machine field or an option, and its values.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    /// Dotted field, or option.
    pub name: String,
    /// Values, at least one.
    pub values: Vec<Value>,
    /// Where it stands in the file: keys below `[axes]`.
    pub path: Vec<String>,
}

/// Reads `[axes]`: nested tables (`sm.count = …` without quotes) give dotted names.
///
/// # Errors
/// Keys of what is wrong, and a sentence.
pub fn read(table: &toml::Table) -> Result<Vec<Axis>, (Vec<String>, String)> {
    let mut axes = Vec::new();
    for (name, value) in table {
        read_into(&mut axes, vec![name.clone()], value)?;
    }
    Ok(axes)
}

fn read_into(axes: &mut Vec<Axis>, path: Vec<String>, value: &Value) -> Result<(), (Vec<String>, String)> {
    if let Value::Table(t) = value {
        if !["from", "powers-of-two"].iter().any(|k| t.contains_key(*k)) {
            for (name, value) in t {
                let inner = path.iter().cloned().chain([name.clone()]).collect();
                read_into(axes, inner, value)?;
            }
            return Ok(());
        }
    }
    let values = match value {
        Value::Array(list) => Ok(list.clone()),
        Value::Table(t) => range(t),
        single => Ok(vec![single.clone()]),
    };
    let values = values.map_err(|m| (path.clone(), m))?;
    let twice = values.iter().enumerate().find(|(i, v)| values[..*i].contains(v));
    if let Some((_, v)) = twice {
        return Err((path, format!("the value {v} is there twice")));
    }
    if values.is_empty() {
        return Err((path, "an axis needs a value".into()));
    }
    axes.push(Axis { name: path.join("."), values, path });
    Ok(())
}

/// `{from, to, step}` or `{powers-of-two = [first, last]}`, both ends included.
fn range(table: &toml::Table) -> Result<Vec<Value>, String> {
    let only = |keys: &[&str]| match table.keys().find(|k| !keys.contains(&k.as_str())) {
        Some(k) => Err(format!("a range has no `{k}`; there are {}", keys.join(", "))),
        None => Ok(()),
    };
    if let Some(ends) = table.get("powers-of-two") {
        only(&["powers-of-two"])?;
        let ends = ends.as_array().map(Vec::as_slice).unwrap_or_default();
        let [Value::Integer(first), Value::Integer(last)] = ends else {
            return Err("powers-of-two takes two numbers: [first, last]".into());
        };
        let power = |n: &i64| *n > 0 && (*n as u64).is_power_of_two();
        if !power(first) || !power(last) || first > last {
            return Err(format!("powers-of-two = [{first}, {last}]: both must be powers of two, the first not above the last"));
        }
        return Ok(std::iter::successors(Some(*first), |n| n.checked_mul(2))
            .take_while(|n| n <= last)
            .map(Value::Integer)
            .collect());
    }
    only(&["from", "to", "step"])?;
    let one = Value::Integer(1);
    let (from, to, step) = (table.get("from"), table.get("to"), table.get("step").unwrap_or(&one));
    match (from, to, step) {
        (Some(Value::Integer(from)), Some(Value::Integer(to)), Value::Integer(step)) => {
            if *step <= 0 || from > to {
                return Err(format!("from {from} to {to} step {step}: the step must be above 0, the end not below the start"));
            }
            if (i128::from(*to) - i128::from(*from)) / i128::from(*step) >= MOST_VALUES as i128 {
                return Err(format!("more than {MOST_VALUES} values"));
            }
            Ok(std::iter::successors(Some(*from), |n| n.checked_add(*step)).take_while(|n| n <= to).map(Value::Integer).collect())
        }
        (Some(from), Some(to), step) => {
            let number = |v: &Value| v.as_float().or(v.as_integer().map(|i| i as f64)).filter(|f| f.is_finite());
            let (Some(from), Some(to), Some(step)) = (number(from), number(to), number(step)) else {
                return Err("from, to and step are numbers".into());
            };
            if !(step > 0.0 && from <= to) {
                return Err(format!("from {from} to {to} step {step}: the step must be above 0, the end not below the start"));
            }
            // A billionth of a step: rounding must not lose the end.
            let steps = ((to - from) / step + 1e-9).floor();
            if steps >= MOST_VALUES as f64 {
                return Err(format!("more than {MOST_VALUES} values"));
            }
            Ok((0..=steps as u64).map(|i| Value::Float(from + i as f64 * step)).collect())
        }
        _ => Err("a range has from and to".into()),
    }
}

/// A value as TOML text in one line, as `--set` reads it.
pub fn inline(value: &Value) -> String {
    match value {
        Value::Table(t) => {
            let fields: Vec<String> = t.iter().map(|(k, v)| format!("{} = {}", Value::String(k.clone()), inline(v))).collect();
            format!("{{ {} }}", fields.join(", "))
        }
        Value::Array(a) => format!("[{}]", a.iter().map(inline).collect::<Vec<_>>().join(", ")),
        other => other.to_string(),
    }
}

/// A value as a cell of a table.
pub fn json(value: &Value) -> serde_json::Value {
    match value {
        Value::String(s) => s.clone().into(),
        Value::Integer(i) => (*i).into(),
        Value::Float(f) => (*f).into(),
        Value::Boolean(b) => (*b).into(),
        other => inline(other).into(),
    }
}

/// The digits of a position in a space of these sizes, the last changing fastest.
pub fn digits(mut position: u128, sizes: &[usize]) -> Vec<usize> {
    let mut result = vec![0; sizes.len()];
    for (digit, size) in result.iter_mut().zip(sizes).rev() {
        *digit = (position % *size as u128) as usize;
        position /= *size as u128;
    }
    result
}

/// Points of a space of these sizes; `None` if there are more than 2^127.
pub fn volume(sizes: &[usize]) -> Option<u128> {
    sizes.iter().try_fold(1u128, |v, s| v.checked_mul(*s as u128)).filter(|v| *v < 1 << 127)
}

/// `wanted` different positions below `space` of those that `keep` lets pass, in ascending order; fewer if
/// `tries` do not find as many.
pub fn sample(space: u128, wanted: usize, seed: u64, keep: impl Fn(u128) -> bool) -> Vec<u128> {
    let mut random = rand_pcg::Pcg64Mcg::seed_from_u64(seed);
    let mut found = BTreeSet::new();
    let tries = (wanted as u64).saturating_mul(1000);
    for _ in 0..tries {
        if found.len() == wanted {
            break;
        }
        let position = random.random_range(0..space);
        if keep(position) {
            found.insert(position);
        }
    }
    found.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn axes(text: &str) -> Result<Vec<Axis>, (Vec<String>, String)> {
        read(&text.parse().unwrap())
    }

    fn integers(text: &str) -> Vec<i64> {
        axes(text).unwrap()[0].values.iter().map(|v| v.as_integer().unwrap()).collect()
    }

    #[test]
    fn ranges_include_both_ends() {
        assert_eq!(integers("a = { from = 1, to = 7, step = 3 }"), [1, 4, 7]);
        assert_eq!(integers("a = { from = 2, to = 4 }"), [2, 3, 4]);
        assert_eq!(integers("a = { powers-of-two = [4, 32] }"), [4, 8, 16, 32]);
        let floats = axes("a = { from = 0.1, to = 0.5, step = 0.1 }").unwrap();
        assert_eq!(floats[0].values.len(), 5);
        assert_eq!(integers("a = 5"), [5]);
    }

    #[test]
    fn names_with_dots_need_no_quotes() {
        let both = axes("sm.count = [1]\n'clusters.*.local-registers' = [2]").unwrap();
        let names: Vec<&str> = both.iter().map(|a| a.name.as_str()).collect();
        assert_eq!(names, ["clusters.*.local-registers", "sm.count"]);
    }

    #[test]
    fn bad_axes_are_refused() {
        for (text, message) in [
            ("a = []", "needs a value"),
            ("a = [1, 1]", "twice"),
            ("a = { from = 1 }", "from and to"),
            ("a = { from = 1, to = 0 }", "not below the start"),
            ("a = { from = 1, to = 2, stepp = 1 }", "no `stepp`"),
            ("a = { powers-of-two = [3, 8] }", "must be powers of two"),
            ("a = { from = 0, to = 9000000000, step = 1 }", "more than"),
            ("a = { from = 'x', to = 2 }", "are numbers"),
        ] {
            let (path, error) = axes(text).unwrap_err();
            assert!(error.contains(message) && path == ["a"], "{text}: {error}");
        }
    }

    #[test]
    fn digits_and_samples() {
        assert_eq!(volume(&[2, 3, 4]), Some(24));
        assert_eq!(digits(23, &[2, 3, 4]), [1, 2, 3]);
        let all: BTreeSet<Vec<usize>> = (0..24).map(|p| digits(p, &[2, 3, 4])).collect();
        assert_eq!(all.len(), 24);
        let s = sample(1 << 100, 50, 7, |p| p % 2 == 0);
        assert_eq!(s.len(), 50);
        assert!(s.iter().all(|p| p % 2 == 0) && s.windows(2).all(|w| w[0] < w[1]));
        assert_eq!(s, sample(1 << 100, 50, 7, |p| p % 2 == 0));
        assert_ne!(s, sample(1 << 100, 50, 8, |p| p % 2 == 0));
        assert_eq!(sample(3, 5, 1, |_| true), [0, 1, 2]);
    }

    #[test]
    fn values_are_written_in_one_line() {
        let t: toml::Table = "v = { bytes = 1, 'a b' = [\"x\\\"y\", 1.5, true] }".parse().unwrap();
        let text = inline(&t["v"]);
        assert!(!text.contains('\n'));
        assert_eq!(format!("v = {text}").parse::<toml::Table>().unwrap(), t);
    }
}
