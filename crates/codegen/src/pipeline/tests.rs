//! What keeps the array true: its document, its files, its tests, and the order of the forms.

use std::path::{Path, PathBuf};

use super::*;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Files below a folder.
fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { files(&path, found) } else { found.push(path) }
    }
}

#[test]
fn the_document_is_up_to_date() {
    let path = root().join("docs/STAGES.md");
    if std::env::var_os("HEDDLE_BLESS").is_some() {
        std::fs::write(&path, reference()).unwrap();
    }
    let file = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        file == reference(),
        "docs/STAGES.md differs from the array: run HEDDLE_BLESS=1 cargo test -p heddle-codegen pipeline"
    );
}

#[test]
fn each_stage_takes_what_the_one_before_gives() {
    let mut form = Form::Ssa;
    for s in STAGES {
        assert_eq!(s.needs, form, "{}", s.name);
        assert!(s.gives >= s.needs, "{}", s.name);
        form = s.gives;
    }
    assert_eq!(form, Form::Allocated);
}

#[test]
fn names_are_unique_and_files_exist() {
    for (i, s) in STAGES.iter().enumerate() {
        assert!(STAGES[..i].iter().all(|o| o.name != s.name), "{} stands twice", s.name);
        assert!(root().join(s.file()).is_file(), "{}: there is no {}", s.name, s.file());
    }
}

/// Whether a RUN line has an option with this value.
fn has(line: &str, option: &str, value: &str) -> bool {
    let words: Vec<&str> = line.split_whitespace().collect();
    let joined = format!("{option}={value}");
    words.contains(&joined.as_str()) || words.windows(2).any(|w| w == [option, value])
}

#[test]
fn each_stage_has_a_lit_test_that_starts_or_stops_at_it() {
    let mut tests = Vec::new();
    files(&root().join("tests/lit"), &mut tests);
    let text: String = tests.iter().filter_map(|t| std::fs::read_to_string(t).ok()).collect::<Vec<_>>().join("\n");
    let runs: Vec<&str> = text.lines().filter(|l| l.contains("RUN:")).collect();
    for s in STAGES {
        let named = |l: &&str| has(l, "--start-before", s.name) || has(l, "--stop-after", s.name);
        assert!(runs.iter().any(named), "no RUN line under tests/lit starts before or stops after `{}`", s.name);
    }
}

#[test]
fn options_leave_out_what_their_rows_say() {
    let left_out = |options: &CodegenOptions| -> Vec<&str> {
        STAGES.iter().filter(|s| s.unless.as_ref().is_some_and(|u| (u.holds)(options))).map(|s| s.name).collect()
    };
    let options = CodegenOptions { verify: true, ..Default::default() };
    assert!(left_out(&options).is_empty());
    let options = CodegenOptions { no_schedule: true, no_marks: true, regfile: RegisterFile::Single, ..Default::default() };
    assert_eq!(left_out(&options), ["if-convert", "marks", "schedule", "partition", "release-check"]);
}
