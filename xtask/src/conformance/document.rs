//! `docs/CONFORMANCE.md`: the tables of each suite stand between `<!-- conformance:NAME -->` and
//! `<!-- /conformance:NAME -->`. They are made of the files of results alone, so a test compares.

use std::collections::BTreeSet;
use std::path::PathBuf;

use anyhow::{Context, Result};

use super::SUITES;
use super::results::{File, Kept, Outcome};
use crate::shell::root;

/// Where Heddle's results are kept.
pub fn heddle_path() -> PathBuf {
    root().join("tests/conformance/heddle.toml")
}

/// Where the results of the other implementation are kept.
pub fn reference_path() -> PathBuf {
    root().join("tests/conformance/reference.toml")
}

fn path() -> PathBuf {
    root().join("docs/CONFORMANCE.md")
}

/// Writes the tables.
pub fn write() -> Result<()> {
    if !heddle_path().exists() {
        println!("the document is written when there are results of Heddle");
        return Ok(());
    }
    let text = std::fs::read_to_string(path()).with_context(|| format!("reading {}", path().display()))?;
    let text = rendered(&text, &File::read(&heddle_path())?, &File::read(&reference_path())?)?;
    std::fs::write(path(), text).with_context(|| format!("writing {}", path().display()))
}

/// The document with its tables as the results are.
fn rendered(document: &str, heddle: &File, reference: &File) -> Result<String> {
    let mut text = document.to_string();
    for suite in SUITES {
        let Some(ours) = heddle.suites.get(suite.name) else { continue };
        let theirs = reference.suites.get(suite.name);
        let (begin, end) = (format!("<!-- conformance:{} -->\n", suite.name), format!("<!-- /conformance:{} -->\n", suite.name));
        let (head, rest) = text.split_once(&begin).with_context(|| format!("docs/CONFORMANCE.md has no {}", begin.trim()))?;
        let (_, tail) = rest.split_once(&end).with_context(|| format!("docs/CONFORMANCE.md has no {}", end.trim()))?;
        text = format!("{head}{begin}{}{end}{tail}", region(ours, theirs, &reference.implementation));
    }
    Ok(text)
}

/// The tables of a suite. The other implementation may not have run it.
fn region(ours: &Kept, theirs: Option<&Kept>, name: &str) -> String {
    let mut text = format!("Version {}.\n\n", ours.version);
    text +=
        &format!("| group | Heddle passes | skips | fails | {name} passes | skips | fails |\n|---|--:|--:|--:|--:|--:|--:|\n");
    let groups: BTreeSet<&String> = ours.passed.keys().chain(theirs.iter().flat_map(|t| t.passed.keys())).collect();
    let row = |group| [Some(ours), theirs].map(|kept| kept.map_or("— | — | —".into(), |k| counts(k, group))).join(" | ");
    for group in groups {
        text += &format!("| `{group}` | {} |\n", row(Some(group)));
    }
    text += &format!("| all | {} |\n", row(None));
    let names: BTreeSet<&String> = ours.others.keys().collect();
    if names.is_empty() {
        return text + "\nAll tests pass.\n";
    }
    text += &format!("\n| does not pass | Heddle | {name} | why |\n|---|---|---|---|\n");
    for test in names {
        let ours = &ours.others[test];
        let theirs = theirs.map_or("—".into(), |t| t.others.get(test).map_or(Outcome::Pass, |e| e.result).to_string());
        text += &format!("| `{}` | {} | {theirs} | {} |\n", test.replace('|', "\\|"), ours.result, ours.reason);
    }
    text
}

/// Cells of a table: how many pass, skip, and fail in one way or another; in all groups, or in one.
fn counts(kept: &Kept, group: Option<&String>) -> String {
    let passed: usize = kept.passed.iter().filter(|(name, _)| group.is_none_or(|g| *name == g)).map(|(_, count)| count).sum();
    let of = |wanted: fn(Outcome) -> bool| {
        let others = kept.others.iter().filter(|(test, e)| wanted(e.result) && group.is_none_or(|g| belongs(test, g, kept)));
        others.count()
    };
    format!("{passed} | {} | {}", of(|o| o == Outcome::Skip), of(|o| o > Outcome::Skip))
}

/// Whether a test that does not pass is of a group: of those whose name its own begins with, the longest.
fn belongs(test: &str, group: &str, kept: &Kept) -> bool {
    let begins = |g: &&String| test.strip_prefix(g.as_str()).is_some_and(|rest| rest.starts_with(['@', ':']));
    kept.passed.keys().filter(begins).max_by_key(|g| g.len()).is_some_and(|g| g == group)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The tables are never written by hand, every exception has its reason, and what is kept of the
    /// other implementation is of the same versions of the suites.
    #[test]
    fn the_document_says_what_the_results_say() {
        let heddle = File::read(&heddle_path()).expect("Heddle's results");
        let reference = File::read(&reference_path()).expect("the other implementation's results");
        let document = std::fs::read_to_string(path()).expect("docs/CONFORMANCE.md");
        let rendered = rendered(&document, &heddle, &reference).expect("regions");
        if std::env::var_os("HEDDLE_BLESS").is_some() {
            std::fs::write(path(), &rendered).expect("docs/CONFORMANCE.md");
        } else {
            let command = "HEDDLE_BLESS=1 cargo test --release -p xtask conformance";
            assert!(rendered == document, "docs/CONFORMANCE.md is stale; `{command}` writes it");
        }
        for suite in SUITES {
            let kept = heddle.suites.get(suite.name).unwrap_or_else(|| panic!("no results of {}", suite.name));
            if let Some(theirs) = reference.suites.get(suite.name) {
                assert_eq!(kept.version, theirs.version, "{}", suite.name);
            }
            for (test, exception) in &kept.others {
                assert!(!exception.reason.is_empty(), "{}: why does {test} not pass?", suite.name);
                assert_ne!(exception.result, Outcome::Pass, "{test}");
            }
        }
    }

    #[test]
    fn tables_have_both_implementations() {
        let text = "version = \"1\"\n[passed]\n\"a@b\" = 3\n\"a\" = 1\n[others]\n\"a@b@x | 1\" = { result = \"fail\", reason = \"rounding\" }\n";
        let ours: Kept = toml::from_str(text).expect("TOML");
        let theirs: Kept = toml::from_str("version = \"1\"\n[passed]\n\"a@b\" = 4\n[others]\n").expect("TOML");
        assert_eq!(
            region(&ours, Some(&theirs), "PoCL"),
            "Version 1.\n\n\
             | group | Heddle passes | skips | fails | PoCL passes | skips | fails |\n\
             |---|--:|--:|--:|--:|--:|--:|\n\
             | `a` | 1 | 0 | 0 | 0 | 0 | 0 |\n\
             | `a@b` | 3 | 0 | 1 | 4 | 0 | 0 |\n\
             | all | 4 | 0 | 1 | 4 | 0 | 0 |\n\
             \n| does not pass | Heddle | PoCL | why |\n|---|---|---|---|\n\
             | `a@b@x \\| 1` | fail | pass | rounding |\n"
        );
        let alone = region(&ours, None, "PoCL");
        assert!(alone.contains("| all | 4 | 0 | 1 | — | — | — |\n") && alone.contains("| fail | — | rounding |\n"), "{alone}");
    }
}
