//! The descriptions of published GPUs say for every value where it comes from, and the published curves
//! are well formed.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use heddle_target::Machine;

/// `machines/`.
fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../machines")
}

/// TOML files of a folder, in order.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    let mut found: Vec<PathBuf> = entries.map(|e| e.unwrap().path()).collect();
    found.retain(|p| p.extension().is_some_and(|e| e == "toml"));
    found.sort();
    found
}

/// Descriptions of published GPUs: all but the small machine for tests.
fn published() -> Vec<PathBuf> {
    files(&folder()).into_iter().filter(|p| !p.ends_with("small.toml")).collect()
}

/// Names in brackets of a text: sources.
fn sources(text: &str) -> BTreeSet<&str> {
    let names = text.split('[').skip(1).filter_map(|rest| rest.split_once(']')).map(|(name, _)| name);
    let word = |n: &str| n.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-');
    names.filter(|n| n.starts_with(|c: char| c.is_ascii_lowercase()) && word(n)).collect()
}

/// What a description says about itself: values without a source, sources that its head does not have,
/// and sources of its head that no value names.
fn faults(text: &str) -> Vec<String> {
    let head: Vec<&str> = text.lines().take_while(|l| l.starts_with('#')).collect();
    let listed: BTreeSet<&str> =
        head.iter().filter_map(|l| l.strip_prefix("#   [")).filter_map(|l| l.split_once(']').map(|(name, _)| name)).collect();
    let (mut faults, mut named) = (Vec::new(), BTreeSet::new());
    for (n, line) in text.lines().enumerate().skip(head.len()) {
        let value = line.split_once(" = ").is_some_and(|(key, _)| key.chars().all(|c| c.is_ascii_alphanumeric() || c == '-'));
        let comment = line.split_once(" # ").map_or("", |(_, c)| c);
        let own = ["Heddle's", "assumed", "guess", "recalled", "as heddle.toml", "as load-global"];
        let from = sources(comment);
        if value && from.is_empty() && !own.iter().any(|w| comment.contains(w)) {
            faults.push(format!("{}: `{line}` has no source", n + 1));
        }
        faults.extend(from.difference(&listed).map(|s| format!("{}: [{s}] is not in the head", n + 1)));
        named.extend(from);
    }
    faults.extend(listed.difference(&named).map(|s| format!("no value comes from [{s}]")));
    faults
}

#[test]
fn every_value_of_a_published_gpu_has_a_source() {
    let machines = published();
    assert!(machines.len() >= 3, "{machines:?}");
    for path in machines {
        let text = fs::read_to_string(&path).unwrap();
        assert_eq!(faults(&text), Vec::<String>::new(), "{}", path.display());
        assert!(text.lines().filter(|l| l.contains(" = ")).count() > 80, "{}", path.display());
        let machine = Machine::load(Some(&path), &[]).unwrap();
        assert_eq!(format!("{}.toml", machine.name), path.file_name().unwrap().to_string_lossy());
    }
}

#[test]
fn values_without_a_source_are_found() {
    let head = "# A machine.\n#   [paper] looked up.\n#   [other] looked up.\n";
    let body = "name = \"x\" # [paper]\n[sm]\ncount = 4\nways = 2 # so it is\nlanes = 8 # a guess\nrow = 1 # [missing]\n";
    let expected = ["6: `count = 4` has no source", "7: `ways = 2 # so it is` has no source", "9: [missing] is not in the head"];
    let mut found = faults(&format!("{head}{body}"));
    assert_eq!(found.pop().unwrap(), "no value comes from [other]");
    assert_eq!(found, expected);
}

/// Kinds of published curves, as the heads of the files list them.
const KINDS: [&str; 5] = ["pointer-chase", "cached-read", "stream-read", "stream-triad", "chain"];

#[test]
fn published_curves_are_of_a_machine_and_in_order() {
    let curves = files(&folder().join("published"));
    assert!(!curves.is_empty());
    for path in curves {
        let text = fs::read_to_string(&path).unwrap();
        let table: toml::Table = toml::from_str(&text).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        let of = |t: &toml::Table, key: &str| t.get(key).and_then(toml::Value::as_str).unwrap_or_default().to_string();
        let machine = folder().join(format!("{}.toml", of(&table, "machine")));
        assert!(machine.exists(), "{}: {}", path.display(), machine.display());
        assert!(!of(&table, "device").is_empty() && table["clock-mhz"].as_integer().unwrap() > 0);
        for curve in table["curve"].as_array().unwrap() {
            let curve = curve.as_table().unwrap();
            let kind = of(curve, "kind");
            assert!(KINDS.contains(&kind.as_str()), "{}: {kind}", path.display());
            assert_eq!(kind == "chain", curve.contains_key("operation"), "{kind}");
            for key in ["x", "y", "source"] {
                assert!(!of(curve, key).is_empty(), "{}: {kind} has no {key}", path.display());
            }
            let number = |v: &toml::Value| v.as_float().or_else(|| v.as_integer().map(|i| i as f64)).unwrap();
            let points = curve["points"].as_array().unwrap().iter().map(|p| {
                let p = p.as_array().unwrap();
                assert_eq!(p.len(), 2, "{kind}");
                (number(&p[0]), number(&p[1]))
            });
            let points: Vec<(f64, f64)> = points.collect();
            assert!(points.len() > 4 && points.iter().all(|(x, y)| *x > 0.0 && *y > 0.0), "{kind}");
            assert!(points.windows(2).all(|w| w[0].0 < w[1].0), "{}: {kind} is not in order of x", path.display());
        }
    }
}
