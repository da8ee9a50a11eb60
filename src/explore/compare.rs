//! Two runs side by side: every counter with the ratio of the second to the first.
//!
//! A run is the statistics of `heddle run --json`, or the result rows of a sweep (`results.jsonl`). Its parts
//! (launches; points of a sweep) are matched by name; what has no partner is told. Over several parts the
//! geometric mean of the ratios is taken; parts in which a counter is 0 in one of the runs have no ratio and
//! are counted.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Serialize;
use serde_json::Value;

use super::metrics::{self, HEADLINES, Metrics};
use super::{ExploreError, geometric_mean, similar};

/// One of the two runs.
#[derive(Clone, Debug)]
pub struct Run {
    /// The file.
    pub name: String,
    /// Machine, mode and the like, to be told where they differ.
    pub facts: BTreeMap<String, String>,
    /// All parts together; `None` for a sweep.
    pub total: Option<Metrics>,
    /// Parts by name, in the file's order.
    pub parts: Vec<(String, Metrics)>,
    /// What did not pass.
    pub failed: Vec<String>,
}

/// A counter in both runs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row {
    /// Counter.
    pub name: String,
    /// In the first run.
    pub a: Option<f64>,
    /// In the second run.
    pub b: Option<f64>,
    /// Second to first; `None` where one is 0 and the other is not, or missing.
    pub ratio: Option<f64>,
    /// Geometric mean of the parts' ratios, if there are several.
    pub geomean: Option<f64>,
    /// Parts without a ratio, because a value is 0 or missing.
    pub without: usize,
}

/// A part in both runs.
#[derive(Clone, Debug, Serialize)]
pub struct Part {
    /// Its name.
    pub name: String,
    /// Its counters; those of the table, in the same order.
    pub rows: Vec<Row>,
}

/// The comparison.
#[derive(Clone, Debug, Serialize)]
pub struct Comparison {
    /// Files.
    pub files: [String; 2],
    /// Facts that differ: name, first, second.
    pub differences: Vec<(String, String, String)>,
    /// Counters.
    pub rows: Vec<Row>,
    /// Parts that both runs have.
    pub parts: Vec<Part>,
    /// Parts that only the first, or only the second run has.
    pub unmatched: [Vec<String>; 2],
    /// What did not pass in each run.
    pub failed: [Vec<String>; 2],
}

/// Reads a run.
///
/// # Errors
/// An unreadable file; one that is neither statistics nor results.
pub fn read(path: &Path) -> Result<Run, ExploreError> {
    let text = std::fs::read_to_string(path).map_err(|e| ExploreError::file(path, "read statistics or results", e))?;
    let name = path.display().to_string();
    match serde_json::from_str::<Value>(&text) {
        Ok(value) if value.get("launches").is_some() => statistics(name, &value),
        // A sweep of one point is one line, too.
        Ok(value) if value.get("point").is_some() => rows(name, &text),
        Ok(_) => Err(ExploreError::Input(format!("{name}: neither statistics of `heddle run --json` nor results of a sweep"))),
        Err(_) if text.lines().count() > 1 && text.starts_with("{\"point\"") => rows(name, &text),
        Err(e) => Err(ExploreError::Input(format!("{name}: {e}"))),
    }
}

/// The statistics of `heddle run --json`.
fn statistics(name: String, value: &Value) -> Result<Run, ExploreError> {
    let wrong =
        |what: &str| ExploreError::Input(format!("{name}: `{what}` is missing or is not what `heddle run --json` writes"));
    let launches = value["launches"].as_array().ok_or_else(|| wrong("launches"))?;
    let total = value.get("total").filter(|t| t.is_object()).ok_or_else(|| wrong("total"))?;
    let metrics = |v: &Value| metrics::with_headlines(metrics::flatten(v));
    let mut parts = Vec::new();
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    for launch in launches {
        let kernel = launch["kernel"].as_str().ok_or_else(|| wrong("launches.kernel"))?;
        let number = seen.entry(kernel.into()).and_modify(|n| *n += 1).or_insert(1);
        let part = if *number > 1 { format!("{kernel} ({number})") } else { kernel.to_string() };
        parts.push((part, metrics(&launch["statistics"])));
    }
    let text = |v: &Value| v.as_str().map_or_else(|| v.to_string(), String::from);
    let facts = ["machine", "warp_size", "mode"].into_iter().filter_map(|f| Some((f.to_string(), text(value.get(f)?)))).collect();
    let failed = value["mismatches"].as_array().into_iter().flatten();
    let failed = failed.map(|m| format!("buffer `{}`: {}", text(&m["buffer"]), text(&m["message"]))).collect();
    let mut all = metrics::flatten(total);
    all.extend(metrics::flatten(&serde_json::json!({ metrics::FILES: value[metrics::FILES] })));
    Ok(Run { total: Some(metrics::with_headlines(all)), name, facts, parts, failed })
}

/// The result rows of a sweep: a part is named by its case and settings, which stand before its status.
fn rows(name: String, text: &str) -> Result<Run, ExploreError> {
    let mut run = Run { name, facts: BTreeMap::new(), total: None, parts: Vec::new(), failed: Vec::new() };
    for (i, line) in text.lines().enumerate() {
        let fail = |m: String| ExploreError::Input(format!("{}:{}: {m}", run.name, i + 1));
        let row: BTreeMap<String, Value> = serde_json::from_str(line).map_err(|e| fail(e.to_string()))?;
        // The order of the columns says which are settings; a map has lost it.
        let order: Vec<String> = keys(line).map_err(&fail)?;
        let status =
            order.iter().position(|k| k == "status").ok_or_else(|| fail("no status: this is no result of a sweep".into()))?;
        let shown = |k: &String| match (&row[k], k.as_str()) {
            (Value::String(s), "case" | "variant") => s.clone(),
            (v, _) => format!("{k}={}", v.as_str().map_or_else(|| v.to_string(), String::from)),
        };
        let part: Vec<String> = order[..status].iter().filter(|k| *k != "point" && *k != "id").map(shown).collect();
        let part = part.join(" ");
        if row["status"] != "passed" {
            let error = row.get("error").and_then(Value::as_str).unwrap_or_default();
            run.failed.push(format!("{part}: {}: {error}", row["status"].as_str().unwrap_or_default()));
        }
        let metrics: Metrics = order
            .get(status + 2..)
            .unwrap_or_default()
            .iter()
            .map(|k| (k.strip_prefix("total.").unwrap_or(k).to_string(), row[k].clone()))
            .filter(|(_, v)| !v.is_null())
            .collect();
        run.parts.push((part, metrics));
    }
    Ok(run)
}

/// The keys of an object in its order.
fn keys(line: &str) -> Result<Vec<String>, String> {
    struct Keys(Vec<String>);
    impl<'de> serde::Deserialize<'de> for Keys {
        fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Keys, D::Error> {
            struct Visitor;
            impl<'de> serde::de::Visitor<'de> for Visitor {
                type Value = Keys;
                fn expecting(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
                    f.write_str("a row of results")
                }
                fn visit_map<A: serde::de::MapAccess<'de>>(self, mut map: A) -> Result<Keys, A::Error> {
                    let mut keys = Vec::new();
                    while let Some((key, serde::de::IgnoredAny)) = map.next_entry::<String, _>()? {
                        keys.push(key);
                    }
                    Ok(Keys(keys))
                }
            }
            from.deserialize_map(Visitor)
        }
    }
    serde_json::from_str::<Keys>(line).map(|k| k.0).map_err(|e| e.to_string())
}

fn value(metrics: &Metrics, name: &str) -> Option<f64> {
    metrics.get(name).and_then(Value::as_f64)
}

fn quotient(a: Option<f64>, b: Option<f64>) -> Option<f64> {
    match (a?, b?) {
        (0.0, 0.0) => Some(1.0),
        (0.0, _) => None,
        (a, b) => Some(b / a),
    }
}

/// Compares. The rows are the headlines, then every counter that is not 0 in both runs; without `all` only
/// those that a person looks at first.
pub fn compare(a: &Run, b: &Run, all: bool) -> Comparison {
    let partner = |name: &str, run: &Run| run.parts.iter().find(|(n, _)| n == name).map(|(_, m)| m.clone());
    let matched: Vec<(String, Metrics, Metrics)> =
        a.parts.iter().filter_map(|(n, m)| Some((n.clone(), m.clone(), partner(n, b)?))).collect();
    let without = |x: &Run, y: &Run| -> Vec<String> {
        x.parts.iter().map(|(n, _)| n.clone()).filter(|n| partner(n, y).is_none()).collect()
    };
    let names = row_names(a, b, all);
    let row = |name: &str, a: Option<&Metrics>, b: Option<&Metrics>, parts: &[(String, Metrics, Metrics)]| {
        let (a, b) = (a.and_then(|m| value(m, name)), b.and_then(|m| value(m, name)));
        let ratios: Vec<Option<f64>> = parts.iter().map(|(_, x, y)| quotient(value(x, name), value(y, name))).collect();
        let usable: Vec<f64> = ratios.iter().flatten().copied().filter(|r| *r > 0.0).collect();
        let several = parts.len() > 1;
        Row {
            name: name.into(),
            a,
            b,
            ratio: quotient(a, b),
            geomean: geometric_mean(&usable).filter(|_| several),
            without: if several { ratios.len() - usable.len() } else { 0 },
        }
    };
    let facts: Vec<&String> = a.facts.keys().chain(b.facts.keys().filter(|k| !a.facts.contains_key(*k))).collect();
    let fact = |run: &Run, f: &String| run.facts.get(f).cloned().unwrap_or_else(|| "–".into());
    Comparison {
        files: [a.name.clone(), b.name.clone()],
        differences: facts.into_iter().map(|f| (f.clone(), fact(a, f), fact(b, f))).filter(|(_, x, y)| x != y).collect(),
        rows: names.iter().map(|n| row(n, a.total.as_ref(), b.total.as_ref(), &matched)).collect(),
        parts: matched
            .iter()
            .map(|(part, x, y)| Part { name: part.clone(), rows: names.iter().map(|n| row(n, Some(x), Some(y), &[])).collect() })
            .collect(),
        unmatched: [without(a, b), without(b, a)],
        failed: [a.failed.clone(), b.failed.clone()],
    }
}

/// Counters that are a number, and not 0, somewhere.
fn row_names(a: &Run, b: &Run, all: bool) -> Vec<String> {
    let tables = || [a, b].into_iter().flat_map(|r| r.total.iter().chain(r.parts.iter().map(|(_, m)| m)));
    let counts = |name: &str| tables().any(|m| value(m, name).is_some_and(|v| v != 0.0));
    let headlines: Vec<String> = HEADLINES.iter().map(|h| h.name.to_string()).collect();
    let first = |name: &str| {
        let prefixes = ["energy_pj.", "static_pj.", "timing.stalls.", "registers."];
        let words = ["instructions", "scalar_instructions", "lane_instructions", "divergent_branches", "copies"];
        let cache = name
            .strip_prefix("timing.hierarchy.")
            .is_some_and(|n| n.ends_with(".reads") || n.ends_with(".misses") || n.ends_with(".writes") || n.ends_with("_bytes"));
        let traffic = name.starts_with("memory.") && (name.ends_with(".sectors") || name.ends_with(".bytes"));
        prefixes.iter().any(|p| name.starts_with(p)) || words.contains(&name) || cache || traffic
    };
    let mut others: Vec<String> = tables().flat_map(|m| m.keys().cloned()).collect();
    others.sort();
    others.dedup();
    others.retain(|n| !headlines.contains(n) && (all || first(n)));
    headlines.into_iter().chain(others).filter(|n| counts(n)).collect()
}

/// A limit on a ratio, as `cycles>1.02`: the comparison fails if it holds.
#[derive(Clone, Debug, PartialEq)]
pub struct Limit {
    text: String,
    counter: String,
    above: bool,
    bound: f64,
}

impl std::str::FromStr for Limit {
    type Err = String;

    fn from_str(text: &str) -> Result<Limit, String> {
        let example = "as cycles>1.02 or occupancy<0.9: a counter, > or <, and a ratio of the second run to the first";
        let at = text.find(['>', '<']).ok_or(example)?;
        let bound = text[at + 1..].trim().parse::<f64>().ok().filter(|b| b.is_finite() && *b >= 0.0).ok_or(example)?;
        let counter = text[..at].trim().to_string();
        if counter.is_empty() {
            return Err(example.into());
        }
        Ok(Limit { text: text.into(), counter, above: text[at..].starts_with('>'), bound })
    }
}

impl Limit {
    fn broken_by(&self, ratio: f64) -> bool {
        if self.above { ratio > self.bound } else { ratio < self.bound }
    }
}

/// Checks limits: `whole` against the total (for a sweep: the geometric mean), `each` against every part.
/// Returns what is broken.
///
/// # Errors
/// A limit on a counter that neither run has; one that cannot be judged because parts have no partner,
/// results are wrong, or there is no ratio.
pub fn check(a: &Run, b: &Run, whole: &[Limit], each: &[Limit]) -> Result<Vec<String>, ExploreError> {
    if whole.is_empty() && each.is_empty() {
        return Ok(Vec::new());
    }
    let c = compare(a, b, true);
    let known: Vec<&str> = [a, b]
        .into_iter()
        .flat_map(|r| r.total.iter().chain(r.parts.iter().map(|(_, m)| m)))
        .flat_map(|m| m.keys().map(String::as_str))
        .collect();
    if let Some(l) = whole.iter().chain(each).find(|l| !known.contains(&l.counter.as_str())) {
        let like = similar(&l.counter, known.iter().copied()).map_or(String::new(), |s| format!("; is `{s}` meant?"));
        return Err(ExploreError::Input(format!("{}: no run has the counter `{}`{like}", l.text, l.counter)));
    }
    let lost: Vec<String> = c.unmatched.iter().flatten().cloned().collect();
    if !lost.is_empty() {
        return Err(ExploreError::Check(format!("limits cannot be judged: without partner: {}", lost.join(", "))));
    }
    if let Some(f) = c.failed.iter().flatten().next() {
        return Err(ExploreError::Check(format!("limits cannot be judged: results are wrong: {f}")));
    }
    // A counter that is 0 in both runs is in no row and has not changed.
    let ratio_in = |rows: &[Row], l: &Limit, mean: bool| match rows.iter().find(|r| r.name == l.counter) {
        None => Some(1.0),
        Some(r) if mean => r.geomean.or(c.parts.first().and_then(|p| p.rows.iter().find(|r| r.name == l.counter)?.ratio)),
        Some(r) => r.ratio.or((r.a == Some(0.0) && r.b.is_some()).then_some(f64::INFINITY)),
    };
    let mut broken = Vec::new();
    let mut judge = |l: &Limit, ratio: Option<f64>, place: &str| match ratio {
        Some(r) if l.broken_by(r) => {
            broken.push(format!("{}: {r:.4} {place}", l.text));
            Ok(())
        }
        Some(_) => Ok(()),
        None => Err(ExploreError::Check(format!("{}: there is no ratio {place}", l.text))),
    };
    for l in whole {
        let sweep = a.total.is_none() || b.total.is_none();
        judge(l, ratio_in(&c.rows, l, sweep), if sweep { "(geometric mean)" } else { "in total" })?;
    }
    for l in each {
        for part in &c.parts {
            judge(l, ratio_in(&part.rows, l, false), &format!("in {}", part.name))?;
        }
    }
    Ok(broken)
}

/// The comparison as text.
pub fn text(c: &Comparison) -> String {
    use heddle_report::html::blocks::{number, ratio};
    use std::fmt::Write;
    let mut out = String::new();
    let _ = writeln!(out, "A  {}\nB  {}", c.files[0], c.files[1]);
    for (fact, a, b) in &c.differences {
        let _ = writeln!(out, "note: {fact}: {a} in A, {b} in B");
    }
    for (which, list) in ["A", "B"].iter().zip(&c.unmatched) {
        for part in list {
            let _ = writeln!(out, "note: only in {which}: {part}");
        }
    }
    for (which, list) in ["A", "B"].iter().zip(&c.failed) {
        for f in list {
            let _ = writeln!(out, "note: wrong results in {which}: {f}");
        }
    }
    let several = c.parts.len() > 1;
    let totals = c.rows.iter().any(|r| r.a.is_some() || r.b.is_some());
    let width = c.rows.iter().map(|r| r.name.chars().count()).max().unwrap_or(0).max(8);
    let mut header = format!("\n{:<width$}", "counter");
    if totals {
        header += &format!("{:>18}{:>18}{:>10}", "A", "B", "B/A");
    }
    if several {
        header += &format!("{:>12}", format!("mean of {}", c.parts.len()));
    }
    let _ = writeln!(out, "{header}");
    let cell = |v: Option<f64>| v.map_or_else(|| "–".into(), number);
    for r in &c.rows {
        let mut line = format!("{:<width$}", r.name);
        if totals {
            line += &format!("{:>18}{:>18}{:>10}", cell(r.a), cell(r.b), ratio(r.ratio));
        }
        if several {
            line += &format!("{:>12}", ratio(r.geomean));
            if r.without > 0 {
                line += &format!("  {} without", r.without);
            }
        }
        let _ = writeln!(out, "{line}");
    }
    let chosen = ["cycles", "energy_pj", "dram_bytes", "instructions", "occupancy"];
    let shown: Vec<&str> = chosen.into_iter().filter(|n| c.rows.iter().any(|r| r.name == *n)).collect();
    if several {
        let width = c.parts.iter().map(|p| p.name.chars().count()).max().unwrap_or(0).max(8);
        let _ = writeln!(out, "\n{:<width$}{}", "B/A of", shown.iter().map(|n| format!("{n:>14}")).collect::<String>());
        for part in &c.parts {
            let of = |n: &str| part.rows.iter().find(|r| r.name == n).and_then(|r| r.ratio);
            let _ = writeln!(
                out,
                "{:<width$}{}",
                part.name,
                shown.iter().map(|n| format!("{:>14}", ratio(of(n)))).collect::<String>()
            );
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn run(name: &str, launches: &[(&str, u64, f64)]) -> Run {
        let one = |cycles: u64, energy: f64| {
            let timing = json!({"cycles": cycles, "stalls": {"memory": 0}});
            json!({"instructions": 10, "timing": timing, "energy_pj": {"static": energy}})
        };
        let total: (u64, f64) = launches.iter().fold((0, 0.0), |t, l| (t.0 + l.1, t.1 + l.2));
        let launches: Vec<Value> = launches.iter().map(|(k, c, e)| json!({"kernel": k, "statistics": one(*c, *e)})).collect();
        let total = one(total.0, total.1);
        let value = json!({
            "machine": name, "warp_size": 32, "mode": "timing", "mismatches": [], "total": total, "launches": launches
        });
        statistics(name.into(), &value).unwrap()
    }

    #[test]
    fn ratios_means_and_parts_without_a_partner() {
        let a = run("a", &[("k", 100, 1.0), ("m", 10, 0.0), ("k", 1, 1.0), ("x", 1, 1.0)]);
        let b = run("b", &[("k", 200, 1.0), ("m", 80, 2.0), ("k", 4, 4.0), ("y", 1, 1.0)]);
        let c = compare(&a, &b, false);
        let cycles = &c.rows[0];
        assert_eq!((cycles.name.as_str(), cycles.a, cycles.b), ("cycles", Some(112.0), Some(285.0)));
        // 2, 8 and 4: mean 4.
        assert!((cycles.geomean.unwrap() - 4.0).abs() < 1e-12);
        let energy = c.rows.iter().find(|r| r.name == "energy_pj").unwrap();
        assert_eq!((energy.without, energy.geomean), (1, Some(2.0)));
        assert_eq!(c.unmatched, [vec!["x".to_string()], vec!["y".to_string()]]);
        assert!(c.parts.iter().any(|p| p.name == "k (2)"));
        assert_eq!(c.differences[0], ("machine".into(), "a".into(), "b".into()));
        assert!(!c.rows.iter().any(|r| r.name.starts_with("timing.stalls")), "0 in both");
        assert!(text(&c).contains("note: only in A: x"));
    }

    #[test]
    fn limits() {
        let (a, b) = (run("a", &[("k", 100, 1.0), ("m", 100, 1.0)]), run("b", &[("k", 101, 1.0), ("m", 130, 1.0)]));
        let limit = |t: &str| t.parse::<Limit>().unwrap();
        let broken = |whole: &[&str], each: &[&str]| {
            let parse = |l: &[&str]| l.iter().map(|t| limit(t)).collect::<Vec<_>>();
            check(&a, &b, &parse(whole), &parse(each)).unwrap()
        };
        assert_eq!(broken(&["cycles>1.2", "cycles<1.1"], &[]), Vec::<String>::new());
        assert_eq!(broken(&["cycles>1.1"], &[]), ["cycles>1.1: 1.1550 in total"]);
        assert_eq!(broken(&[], &["cycles>1.2", "timing.stalls.memory>1"]), ["cycles>1.2: 1.3000 in m"]);
        assert!(check(&a, &b, &[limit("cycle>1")], &[]).unwrap_err().to_string().contains("is `cycles` meant?"));
        let other = run("c", &[("k", 1, 1.0)]);
        assert!(check(&a, &other, &[limit("cycles>1")], &[]).unwrap_err().to_string().contains("without partner: m"));
        for bad in ["cycles", "cycles>", "cycles>x", ">1", "cycles>-1", "cycles>inf"] {
            assert!(bad.parse::<Limit>().is_err(), "{bad}");
        }
    }

    #[test]
    fn rows_of_a_sweep_are_parts_named_by_their_settings() {
        let line = |cycles: u64, status: &str| {
            format!(
                "{{\"point\": 1, \"id\": \"x\", \"case\": \"k\", \"warp-size\": {cycles}, \
                 \"status\": \"{status}\", \"error\": null, \"cycles\": {cycles}, \"energy_pj\": null}}\n"
            )
        };
        let r = rows("r".into(), &(line(16, "passed") + &line(32, "fault"))).unwrap();
        assert_eq!(r.parts[0].0, "k warp-size=16");
        assert_eq!(value(&r.parts[1].1, "cycles"), Some(32.0));
        assert_eq!(r.failed, ["k warp-size=32: fault: "]);
    }
}
