//! Every row is tested from what it says, and a made-up table shows what a row gives.

use super::*;
use crate::{Machine, TargetError};

tables! {
    /// A table that no machine has.
    Sample {
        /// How many
        /// there are.
        how_many: u32 = 4 => integers(1, 8).of("things");
        /// How they are called.
        title: String => name();
        /// Whether it is seen.
        seen: bool = true => any("both are fine").simulator_only();
    }
}

fn sample(text: &str) -> Result<Sample, String> {
    toml::from_str(text).map_err(|e| e.message().to_string())
}

#[test]
fn a_row_is_a_field_of_files_with_its_default_and_its_rule() {
    assert_eq!(sample("title = 'x'").unwrap(), Sample { how_many: 4, title: "x".into(), seen: true });
    assert_eq!(sample("title = 'x'\nhow-many = 8").unwrap().how_many, 8);
    assert_eq!(sample("").unwrap_err(), "missing field `title`");
    assert_eq!(
        sample("title = 'x'\nhow_many = 8").unwrap_err(),
        "unknown field `how_many`, expected one of `how-many`, `title`, `seen`"
    );
    assert_eq!(sample("title = 'x'\nhow-many = true").unwrap_err(), "invalid type: boolean `true`, expected u32");
    assert_eq!(toml::to_string(&sample("title = 'x'").unwrap()).unwrap(), "how-many = 4\ntitle = \"x\"\nseen = true\n");
    let refused = sample("title = 'x'\nhow-many = 9").unwrap().check("above", Allowed::Fields).unwrap_err();
    assert_eq!(refused, Violation { field: "above.how-many".into(), value: "9".into(), rule: "must be 1 to 8".into() });
    let [many, title, seen] = Sample::FIELDS else { panic!("three rows") };
    assert_eq!((many.name().as_str(), many.doc().as_str()), ("how-many", "How many there are."));
    assert_eq!((many.rule.text().as_str(), many.rule.unit), ("1 to 8", "things"));
    assert_eq!((many.default.map(|d| d()), title.default.is_none()), (Some("4".into()), true));
    assert!(seen.rule.simulator_only && !many.rule.simulator_only);
    let mut view = sample("title = 'x'").unwrap();
    view.forget(false);
    assert_eq!(view, Sample { how_many: 4, title: "x".into(), seen: false });
    assert_eq!(Sample::ABOUT.trim(), "A table that no machine has.");
}

/// A field with one path in the default machine, the first where there are several.
fn rows() -> Vec<(String, &'static Field)> {
    fn walk(rows: &mut Vec<(String, &'static Field)>, path: &str, fields: &'static [Field]) {
        for field in fields {
            let path = below(path, &field.name());
            let element = match field.step {
                "N" => below(&path, &0),
                "CLASS" => below(&path, &heddle_isa::OpClass::Int32),
                _ => path.clone(),
            };
            rows.push((if field.inner.is_empty() { element.clone() } else { path }, field));
            walk(rows, &element, field.inner);
        }
    }
    let mut rows = Vec::new();
    walk(&mut rows, "", Machine::FIELDS);
    rows
}

#[test]
fn every_row_says_what_it_means_and_what_is_allowed() {
    for (path, field) in rows() {
        let doc = field.doc();
        assert!(doc.len() > 4 && doc.ends_with('.') && !doc.starts_with(char::is_lowercase), "{path}: {doc}");
        match field.rule.allowed {
            Allowed::Fields => assert!(!field.inner.is_empty(), "{path}"),
            // No range: the reason, or what is checked across fields, stands in its place.
            _ => assert!(!field.rule.text().is_empty(), "{path}"),
        }
    }
    assert!(rows().len() > 100);
}

impl Allowed {
    /// Values at the bounds and just outside, and whether they hold.
    fn probes(self) -> Vec<(String, bool)> {
        let integers = |good: &[u64], bad: &[Option<u64>]| {
            let good = good.iter().map(|n| (n.to_string(), true));
            good.chain(bad.iter().flatten().map(|n| (n.to_string(), false))).collect::<Vec<_>>()
        };
        let numbers = |good: &[f64], bad: &[f64]| {
            let text = |n: &f64| toml::Value::Float(*n).to_string();
            good.iter().map(|n| (text(n), true)).chain(bad.iter().map(|n| (text(n), false))).collect::<Vec<_>>()
        };
        let least = f64::from_bits(1);
        match self {
            Allowed::Integers(low, high) | Allowed::Sizes(low, high) => {
                integers(&[low, high], &[low.checked_sub(1), Some(high + 1)])
            }
            Allowed::PowersOfTwo(low, high) => {
                integers(&[low, high], &[Some(low / 2), Some(low + 1), Some(high - 1), Some(high * 2)])
            }
            Allowed::OneOf(values) => {
                let outside = values.iter().flat_map(|v| [v - 1, v + 1]).filter(|v| !values.contains(v));
                integers(values, &outside.map(Some).collect::<Vec<_>>())
            }
            Allowed::FromZero => numbers(&[0.0, f64::MAX], &[-least, f64::INFINITY, f64::NAN]),
            Allowed::Positive => numbers(&[least, f64::MAX], &[0.0, -least, f64::INFINITY, f64::NAN]),
            Allowed::Name => vec![("'x'".into(), true), ("''".into(), false), (r#""a\nb""#.into(), false)],
            Allowed::Fields | Allowed::Any(_) => Vec::new(),
        }
    }
}

#[test]
fn each_bound_holds_and_what_is_just_outside_is_refused_by_name() {
    let mut tried = 0;
    for (path, field) in rows() {
        let allowed = field.rule.allowed;
        for (value, holds) in allowed.probes() {
            tried += 1;
            let outcome = Machine::load(None, &[format!("{path}={value}")]);
            match outcome {
                Ok(_) => assert!(holds, "{path} = {value} is taken"),
                Err(TargetError::Invalid { violation, .. }) if !holds => {
                    assert_eq!((&violation.field, violation.rule), (&path, allowed.sentence()), "{path} = {value}");
                }
                // A value at a bound may not go with the rest of the default machine.
                Err(TargetError::Invalid { violation, .. }) => {
                    assert!(violation.field != path || violation.rule != allowed.sentence(), "{path} = {value}: {violation:?}");
                }
                Err(other) => panic!("{path} = {value}: {other}"),
            }
        }
        let negative = Machine::load(None, &[format!("{path}=-1")]);
        if matches!(field.rule.allowed, Allowed::Integers(0, _)) {
            let message = negative.unwrap_err().to_string();
            assert!(message.ends_with("invalid value: integer `-1`, expected u32"), "{message}");
        }
    }
    assert!(tried > 300, "{tried}");
}

/// A row of shared units.
macro_rules! sharing {
    ($name:literal, $units:literal, $clusters:literal) => {
        concat!("shared-units=[{name='", $name, "',units=['", $units, "'],clusters=[", $clusters, "]}]")
    };
}

/// For each rule across fields: the field, an override that just fits, and one that just does not.
const ACROSS: &[(&str, &str, &str)] = &[
    ("sm.main-registers", "sm.main-registers=8192", "sm.main-registers=8191"),
    ("sm.main-registers", "sm.main-registers=16777216", "sm.main-registers=16777217"),
    ("sm.scalar-threshold", "sm.scalar-threshold=31", "sm.scalar-threshold=32"),
    ("sm.active-warps", "sm.active-warps=1", "sm.active-warps=257"),
    ("clusters", "name=same", "clusters=[]"),
    ("clusters.1.name", "clusters.1.name=a", "clusters.1.name=a0"),
    ("clusters.1.name", "clusters.1.name=a", "clusters.1.name=''"),
    ("clusters.1.units", "clusters.1.units=['alu']", "clusters.1.units=[]"),
    ("shared-units.0.name", sharing!("x", "sfu", "'a0','a1'"), sharing!("", "sfu", "'a0','a1'")),
    (
        "shared-units.1.name",
        "shared-units=[{name='x',units=['sfu'],clusters=['a0','a1']},{name='y',units=['load-store'],clusters=['a0','a1']}]",
        "shared-units=[{name='x',units=['sfu'],clusters=['a0','a1']},{name='x',units=['sfu'],clusters=['a0','a1']}]",
    ),
    ("shared-units.0.units", sharing!("x", "sfu", "'a0','a1'"), "shared-units=[{name='x',units=[],clusters=['a0','a1']}]"),
    ("shared-units.0.units", sharing!("x", "sfu','double", "'a0','a1'"), sharing!("x", "control", "'a0','a1'")),
    ("shared-units.0.units", sharing!("x", "double", "'a0','a1'"), sharing!("x", "double','double", "'a0','a1'")),
    ("shared-units.0.clusters", sharing!("x", "sfu", "'a0','a1'"), sharing!("x", "sfu", "'a0'")),
    ("shared-units.0.clusters", sharing!("x", "sfu", "'a0','mem'"), sharing!("x", "sfu", "'a0','a9'")),
    ("shared-units.0.clusters", sharing!("x", "sfu", "'a1','mem'"), sharing!("x", "sfu", "'a1','a1'")),
    ("shared-units.0.clusters", sharing!("x", "sfu", "'a1','mem'"), sharing!("x", "sfu", "'a1','a2'")),
    ("timing", "name=same", "timing={}"),
    ("timing.int-divide.unit", "timing.int-divide.unit=double", "clusters.*.units=['alu']"),
    ("energy.local-read-pj", "energy.local-read-pj=[0.0]", "energy.local-read-pj=[]"),
    ("energy.local-write-pj", "energy.local-write-pj=[0.0]", "energy.local-write-pj=[]"),
    ("energy.static-power.gated-share", "energy.static-power.gated-share=0.0", "energy.static-power.gated-share=-0.01"),
    ("energy.static-power.gated-share", "energy.static-power.gated-share=1.0", "energy.static-power.gated-share=1.01"),
    ("memory.line-bytes", "memory.line-bytes=32", "memory.line-bytes=16"),
    ("memory.line-bytes", "memory.line-bytes=256", "memory.line-bytes=512"),
    ("memory.data.bytes", "memory.data.bytes=1024", "memory.data.bytes=1023"),
    ("memory.l15.bytes", "memory.l15.bytes=1073741824", "memory.l15.bytes=1073742848"),
    ("memory.l2.bytes", "memory.l2.bytes=16384", "memory.l2.bytes=0"),
    ("memory.dram.row-bytes", "memory.dram.row-bytes=128", "memory.dram.row-bytes=64"),
    ("memory.dram.row-bytes", "memory.dram.row-bytes=65536", "memory.dram.row-bytes=131072"),
    ("memory.tlb.entries", "memory.tlb.entries=65536", "memory.tlb.entries=65552"),
    ("memory.l2-tlb.entries", "memory.l2-tlb.entries=16", "memory.l2-tlb.entries=15"),
    (
        "memory.dram.scheduler",
        "memory.dram={scheduler='fr-fcfs',row-hit=4,channels=1,banks=1,row-bytes=1024,row-miss=9,row-cycle=9,interval=1,sector-pj=0.0,activate-pj=0.0}",
        "memory.dram={scheduler='fr-fcfs',row-hit=3,channels=1,banks=1,row-bytes=1024,row-miss=9,row-cycle=9,interval=1,sector-pj=0.0,activate-pj=0.0}",
    ),
    ("memory.dram.t-rfc", "memory.dram.t-refi=1", "memory.dram.t-rfc=1"),
    (
        "memory.dram.mapping",
        "memory.dram.mapping='row:bank:column:channel:column.7'",
        "memory.dram.mapping='row:bank:column:channel:column.6'",
    ),
    (
        "memory.dram.mapping",
        "memory.dram.mapping='row:bank:channel:column'",
        "memory.dram.mapping='row:bank:column:channel:column.1'",
    ),
];

#[test]
fn each_scheduler_has_an_active_warp() {
    let with = |warps| crate::load::mixed(&["sm.schedulers=4".into(), format!("sm.active-warps={warps}")]);
    assert!([0, 4, 5, 256].iter().all(|warps| with(*warps).is_ok()));
    assert!(with(3).unwrap_err().to_string().ends_with("sm.active-warps = 3: must be 0, or schedulers (4) to 256"));
    assert_eq!(with(8).unwrap().active_set(), None, "greedy-oldest has no active set");
    let two_level = |warps| crate::load::mixed(&["sm.scheduler=two-level".into(), format!("sm.active-warps={warps}")]);
    assert_eq!([0, 8].map(|warps| two_level(warps).unwrap().active_set()), [None, Some(8)]);
}

#[test]
fn lanes_that_take_turns_have_no_active_set() {
    let with = |more: &str| {
        let set = ["sm.independent-threads=true".into(), "sm.active-warps=8".into(), more.to_string()];
        crate::load::mixed(&set).map(|m| m.sm.independent_threads)
    };
    assert!(with("sm.scheduler=round-robin").is_ok_and(|on| on));
    let message = with("sm.scheduler=two-level").unwrap_err().to_string();
    assert!(message.contains("sm.independent-threads = true: goes with no active set"), "{message}");
}

#[test]
fn a_cluster_shares_a_unit_once() {
    let rows = "shared-units=[{name='x',units=['sfu'],clusters=['a0','a1']},{name='y',units=['sfu'],clusters=['mem','a1']}]";
    let message = crate::load::mixed(&[rows.into()]).unwrap_err().to_string();
    assert!(message.ends_with("shared-units.1.clusters = a1: shares `sfu` with others already (x)"), "{message}");
}

#[test]
fn rules_across_fields_hold_at_their_bounds() {
    for &(path, good, bad) in ACROSS {
        crate::load::mixed(&[good.into()]).unwrap_or_else(|e| panic!("{e}"));
        match crate::load::mixed(&[bad.into()]).unwrap_err() {
            TargetError::Invalid { violation, .. } => assert_eq!(violation.field, path, "{violation:?}"),
            error => panic!("{bad}: {error}"),
        }
    }
    for (path, field) in rows() {
        let Some(across) = field.rule.across else { continue };
        let tested = ACROSS.iter().any(|(p, ..)| row_at(p).and_then(|f| f.rule.across).is_some_and(|a| a.text == across.text));
        assert!(tested, "{path}: no test of `{}`", across.text);
    }
}

/// The row of a field.
fn row_at(path: &str) -> Option<&'static Field> {
    let mut fields = Machine::FIELDS;
    let mut parts = path.split('.');
    loop {
        let name = parts.next()?;
        let field = fields.iter().find(|f| f.name() == name)?;
        if !field.step.is_empty() {
            parts.next();
        }
        if parts.clone().next().is_none() {
            return Some(field);
        }
        fields = field.inner;
    }
}
