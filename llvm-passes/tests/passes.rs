//! What adding a pass asks for besides its file: a row in the list of passes, and a lit test that
//! names it.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use heddle_llvm_passes::Facts;
use heddle_llvm_passes::pipeline::{self, PASSES};

const FACTS: Facts = Facts::OF_DEFAULT_MACHINE;

/// The elements of the pipelines that a lit test runs with `heddle opt`: what its RUN lines give to
/// `--passes=`.
fn elements(test: &str) -> Vec<String> {
    let runs = test.lines().filter(|l| l.contains("RUN:") && l.contains("%heddle opt"));
    let pipelines = runs.flat_map(|l| l.split("--passes=").skip(1)).map(|rest| match rest.strip_prefix('\'') {
        Some(quoted) => quoted.split('\'').next().unwrap_or_default(),
        None => rest.split_whitespace().next().unwrap_or_default(),
    });
    pipelines.flat_map(|p| p.split(',')).map(String::from).collect()
}

#[test]
fn every_pass_has_a_lit_test() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/lit/passes");
    let mut tested = BTreeSet::new();
    for entry in fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_file() {
            tested.extend(elements(&fs::read_to_string(&path).unwrap()));
        }
    }
    for pass in PASSES {
        let named = tested.iter().any(|e| matches!(pipeline::find(e, FACTS), Ok(Some((found, _))) if found.name == pass.name));
        assert!(named, "no test in tests/lit/passes runs `heddle opt --passes='{}'`", pass.name);
    }
}

#[test]
fn run_lines_are_read() {
    let test =
        "; RUN: %heddle opt --passes='function(lcssa),print<uniformity>' %s | %heddle opt --passes=verify -\n; --passes=generic";
    assert_eq!(elements(test), ["function(lcssa)", "print<uniformity>", "verify"]);
}

#[test]
fn every_pass_is_found_by_each_of_its_names() {
    for pass in PASSES {
        for name in [pass.name.to_string(), pass.prefixed_name()] {
            let found = pipeline::find(&name, FACTS).unwrap().unwrap_or_else(|| panic!("{name} is not found"));
            assert_eq!(found.0.name, pass.name, "{name}");
        }
    }
    let names: BTreeSet<&str> = PASSES.iter().map(|p| p.name).collect();
    assert_eq!(names.len(), PASSES.len(), "two passes have one name");
}

#[test]
fn the_help_names_every_pass_and_says_what_it_does() {
    let help = pipeline::help();
    let words = help.split_whitespace().collect::<Vec<_>>().join(" ");
    for pass in PASSES {
        assert!(words.contains(&format!("{} {}", pass.name, pass.about)), "{help}");
    }
    assert!(help.lines().all(|l| l.chars().count() <= 100 && l.trim_end() == l), "{help}");
}
