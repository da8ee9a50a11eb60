//! The documents are true: what is cited has an entry, what is named exists, links lead somewhere,
//! and prose is wrapped.
//!
//! Rules are cited by their ids in code, tests and pages (`docs/RULES.md`), hazards by number, the
//! design by section. Short ids (a letter and a number) are also names of types in Rust, so in
//! program text only comments and string literals count as citations.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// The root of the project.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_path_buf()
}

/// A file below the root.
struct Text {
    /// Relative to the root, with `/`.
    path: String,
    text: String,
}

impl Text {
    fn read(path: &str) -> Text {
        let text = fs::read_to_string(root().join(path)).unwrap_or_else(|e| panic!("{path}: {e}"));
        Text { path: path.into(), text }
    }

    fn extension(&self) -> &str {
        self.path.rsplit_once('.').map_or("", |(_, e)| e)
    }
}

/// Files in which rules are cited.
const CITING: [&str; 14] = ["rs", "cl", "h", "ll", "mir", "s", "test", "md", "toml", "py", "cpp", "js", "sh", "json"];
/// Of these, program text, where only comments and strings are read.
const PROGRAMS: [&str; 5] = ["rs", "cl", "h", "cpp", "js"];

/// All files in which rules may be cited: everything that is no build output and not hidden.
fn sources() -> Vec<Text> {
    fn walk(folder: &Path, found: &mut Vec<Text>) {
        let mut entries: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()).collect();
        entries.sort();
        for path in entries {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            if path.is_dir() {
                if !name.starts_with('.') && !["target", "corpus", "artifacts", "fuzz-findings"].contains(&name.as_str()) {
                    walk(&path, found);
                }
            } else if path.extension().is_some_and(|e| CITING.contains(&e.to_string_lossy().as_ref())) {
                let relative = path.strip_prefix(root()).unwrap().to_string_lossy().replace('\\', "/");
                if let Ok(text) = fs::read_to_string(&path) {
                    found.push(Text { path: relative, text });
                }
            }
        }
    }
    let mut found = Vec::new();
    walk(&root(), &mut found);
    assert!(found.len() > 300, "only {} files below {}", found.len(), root().display());
    found
}

/// Comments and string literals of a program; all else is blank. Lines stay where they are.
fn prose_of_program(text: &str, rust: bool) -> String {
    let chars: Vec<char> = text.chars().collect();
    let mut out = String::with_capacity(text.len());
    let mut i = 0;
    let at = |i: usize| chars.get(i).copied().unwrap_or('\0');
    while i < chars.len() {
        let start = i;
        let copied = if at(i) == '/' && at(i + 1) == '/' {
            while i < chars.len() && at(i) != '\n' {
                i += 1;
            }
            true
        } else if at(i) == '/' && at(i + 1) == '*' {
            i += 2;
            while i < chars.len() && !(at(i) == '*' && at(i + 1) == '/') {
                i += 1;
            }
            i += 2;
            true
        } else if rust && at(i) == 'r' && (at(i + 1) == '"' || at(i + 1) == '#') && !is_word(at(i.wrapping_sub(1))) {
            let hashes = (i + 1..).take_while(|k| at(*k) == '#').count();
            if at(i + 1 + hashes) == '"' {
                i += hashes + 2;
                while i < chars.len() && !(at(i) == '"' && (1..=hashes).all(|k| at(i + k) == '#')) {
                    i += 1;
                }
                i += hashes + 1;
                true
            } else {
                i += 1;
                false
            }
        } else if at(i) == '"' || (!rust && (at(i) == '\'' || at(i) == '`')) {
            let quote = at(i);
            i += 1;
            while i < chars.len() && at(i) != quote {
                i += if at(i) == '\\' { 2 } else { 1 };
            }
            i += 1;
            true
        } else if rust && at(i) == '\'' && (at(i + 1) == '\\' || at(i + 2) == '\'') {
            // A character; what remains is a lifetime.
            i += if at(i + 1) == '\\' { 3 } else { 2 };
            while i < chars.len() && at(i) != '\'' {
                i += 1;
            }
            i += 1;
            false
        } else {
            i += 1;
            false
        };
        i = i.min(chars.len());
        out.extend(chars[start..i].iter().map(|c| if copied || *c == '\n' { *c } else { ' ' }));
        if copied {
            out.push(' ');
        }
    }
    out
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Words that look like rules and are none: the C standards. Each must still occur, so that the
/// list does not outlive its reason.
const FALSE_FRIENDS: [&str; 4] = ["C99", "C11 atomics", "C11's", "C11 where"];

/// A rule id that begins at a byte of a text: the id and its length.
fn id_at(text: &str, at: usize) -> Option<(String, usize)> {
    let mut before = text[..at].chars().rev();
    match before.next().unwrap_or(' ') {
        // The end of a range, or part of a name.
        '-' if !before.next().is_some_and(|c| c.is_ascii_digit()) => return None,
        '.' | '%' | '$' => return None,
        c if is_word(c) => return None,
        _ => {}
    }
    let rest = &text[at..];
    let prefix = ["C-ex", "G-ex", "REN-", "C", "S", "G", "K"]
        .into_iter()
        .find(|p| rest.strip_prefix(p).is_some_and(|r| r.starts_with(|c: char| c.is_ascii_digit())))?;
    let digits: String = rest[prefix.len()..].chars().take_while(char::is_ascii_digit).collect();
    let length = prefix.len() + digits.len();
    let after = rest[length..].chars().next().unwrap_or(' ');
    let short = prefix.len() == 1;
    (digits.len() <= 2 && !is_word(after) && !(short && after == '(')).then(|| (format!("{prefix}{digits}"), length))
}

/// Ids that a text cites, with the line of each; of `C5–C9`, `C5 to C9` and `REN-4 … REN-7` those
/// between, too.
fn ids(text: &str) -> Vec<(String, usize)> {
    let mut found: Vec<(String, usize)> = Vec::new();
    let mut line = 1;
    let mut open: Option<(String, u32, usize)> = None;
    let split = |id: &str| {
        let n = id.find(|c: char| c.is_ascii_digit()).unwrap();
        (id[..n].to_string(), id[n..].parse::<u32>().unwrap())
    };
    for (at, c) in text.char_indices() {
        if c == '\n' {
            line += 1;
        }
        let Some((id, length)) = id_at(text, at) else { continue };
        if FALSE_FRIENDS.iter().any(|f| text[at..].starts_with(f)) {
            continue;
        }
        let (prefix, number) = split(&id);
        if let Some((before, first, end)) = &open {
            let between = &text[*end..at];
            if *before == prefix && ["–", "-", "…", " … ", " – ", " to "].contains(&between) {
                found.extend((first + 1..number).map(|n| (format!("{prefix}{n}"), line)));
            }
        }
        open = Some((prefix, number, at + length));
        found.push((id, line));
    }
    found
}

/// Numbers that stand behind a word: `hazards 3, 5, 7`, `DESIGN §4`.
fn numbers_behind(text: &str, words: &[&str]) -> Vec<(u32, usize)> {
    let mut found = Vec::new();
    for (n, line) in text.lines().enumerate() {
        for word in words {
            for (at, _) in line.match_indices(word) {
                let mut rest = &line[at + word.len()..];
                loop {
                    rest = rest.trim_start_matches('§');
                    let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
                    let Ok(number) = digits.parse() else { break };
                    found.push((number, n + 1));
                    rest = &rest[digits.len()..];
                    let Some(next) = rest.strip_prefix(", ").or_else(|| rest.strip_prefix(" and ")) else { break };
                    rest = next;
                }
            }
        }
    }
    found
}

/// An entry of `docs/RULES.md`.
#[derive(Default)]
struct Entry {
    publication: String,
    code: Vec<String>,
    tests: Vec<String>,
    implemented: bool,
    words: usize,
}

/// The entries of `docs/RULES.md` by id; hazards as `hazard 1`.
fn rules() -> BTreeMap<String, Entry> {
    let page = Text::read("docs/RULES.md");
    let mut entries: BTreeMap<String, Entry> = BTreeMap::new();
    let mut current: Option<String> = None;
    let mut field = "";
    for line in page.text.lines() {
        if let Some(heading) = line.strip_prefix("### ") {
            let (id, title) = heading.split_once(": ").unwrap_or_else(|| panic!("`{line}` has no `ID: title`"));
            assert!(!title.is_empty(), "{line}");
            let id = id.replace("Hazard", "hazard");
            let entry = Entry { implemented: true, ..Entry::default() };
            assert!(entries.insert(id.clone(), entry).is_none(), "{id} has two entries");
            current = Some(id);
            field = "";
            continue;
        }
        if line.starts_with("## ") {
            current = None;
        }
        let Some(entry) = current.as_ref().and_then(|id| entries.get_mut(id)) else { continue };
        for name in ["Publication", "Code", "Tests"] {
            if line.starts_with(&format!("- {name}: ")) {
                field = name;
            }
        }
        let quoted = || line.split('`').skip(1).step_by(2).map(str::to_string);
        match field {
            "" => entry.words += line.split_whitespace().count(),
            "Publication" => entry.publication.push_str(line.trim_start_matches("- Publication: ")),
            "Code" => entry.code.extend(quoted()),
            _ => entry.tests.extend(quoted()),
        }
        if field.is_empty() && line.contains("*Not implemented.*") {
            entry.implemented = false;
        }
    }
    entries
}

/// Every id of a rule, hazard or section that is cited anywhere has an entry.
#[test]
fn citations_resolve() {
    let rules = rules();
    let design = Text::read("docs/DESIGN.md").text;
    let section = |n: u32| design.lines().any(|l| l.starts_with(&format!("## {n}. ")));
    assert!(!Text::read("docs/NUMBERS.md").text.is_empty());
    let mut wrong = Vec::new();
    let mut cited: BTreeSet<String> = BTreeSet::new();
    let mut friends: BTreeSet<&str> = BTreeSet::new();
    for source in sources() {
        let program = PROGRAMS.contains(&source.extension());
        let text = if program { prose_of_program(&source.text, source.extension() == "rs") } else { source.text };
        // This file speaks of ids that do not exist.
        if source.path == "xtask/tests/documents.rs" {
            continue;
        }
        friends.extend(FALSE_FRIENDS.iter().filter(|f| text.contains(**f)));
        for (id, line) in ids(&text) {
            if !rules.contains_key(&id) {
                wrong.push(format!("{}:{line}: {id} is in no entry of docs/RULES.md", source.path));
            }
            cited.insert(id);
        }
        for (n, line) in numbers_behind(&text, &["hazard ", "hazards ", "Hazard ", "Hazards "]) {
            if !rules.contains_key(&format!("hazard {n}")) {
                wrong.push(format!("{}:{line}: hazard {n} is in no entry of docs/RULES.md", source.path));
            }
        }
        for (n, line) in numbers_behind(&text, &["DESIGN ", "DESIGN.md "]) {
            if !section(n) {
                wrong.push(format!("{}:{line}: docs/DESIGN.md has no section {n}", source.path));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_eq!(friends, FALSE_FRIENDS.into_iter().collect(), "false friends that are left");
    // Were nothing found, nothing could be wrong.
    for id in ["C7", "S4", "REN-7", "G8", "K3", "C-ex1", "G-ex1"] {
        assert!(cited.contains(id), "{id} is cited nowhere");
    }
}

/// The page has every rule, and says of each what it is, where it comes from, and where it is done
/// and tested.
#[test]
fn rules_are_complete() {
    let rules = rules();
    let count = |prefix: &str, n: u32| (1..=n).map(move |i| format!("{prefix}{i}")).collect::<Vec<_>>();
    let mut wanted = Vec::new();
    for (prefix, n) in [("C", 14), ("C-ex", 2), ("S", 8), ("REN-", 9), ("G", 8), ("G-ex", 1), ("K", 8), ("hazard ", 8)] {
        wanted.extend(count(prefix, n));
    }
    let there: BTreeSet<&String> = rules.keys().collect();
    assert_eq!(there, wanted.iter().collect::<BTreeSet<_>>());
    for (id, entry) in &rules {
        assert!(entry.words >= 15, "{id} says nothing");
        assert!(!entry.publication.is_empty(), "{id} has no publication");
        assert_eq!(entry.implemented, !entry.code.is_empty(), "{id}: code");
        assert_eq!(entry.implemented, !entry.tests.is_empty(), "{id}: tests");
    }
}

/// Files, and test functions behind `::`, that the page names are there; and each rule is cited by
/// one of its files.
#[test]
fn files_of_rules_exist() {
    let mut wrong = Vec::new();
    for (id, entry) in rules() {
        let mut cites = false;
        for name in entry.code.iter().chain(&entry.tests) {
            let (path, function) = name.split_once("::").map_or((name.as_str(), None), |(p, f)| (p, Some(f)));
            let Ok(text) = fs::read_to_string(root().join(path)) else {
                wrong.push(format!("{id}: there is no {path}"));
                continue;
            };
            if let Some(function) = function {
                if !text.contains(&format!("fn {function}(")) {
                    wrong.push(format!("{id}: {path} has no function {function}"));
                }
            }
            cites |= ids(&text).iter().any(|(cited, _)| *cited == id);
        }
        if entry.implemented && !id.starts_with("hazard") && !cites {
            wrong.push(format!("{id}: none of its files cites it"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Pages for people: everything in `docs`, and what stands at the root.
fn pages() -> Vec<Text> {
    let mut pages: Vec<Text> = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md"].into_iter().map(Text::read).collect();
    let mut names: Vec<String> = fs::read_dir(root().join("docs"))
        .unwrap()
        .map(|e| e.unwrap().file_name().to_string_lossy().into_owned())
        .filter(|n| n.ends_with(".md"))
        .collect();
    names.sort();
    pages.extend(names.iter().map(|n| Text::read(&format!("docs/{n}"))));
    pages
}

/// Lines outside fenced code, numbered from 1.
fn prose(text: &str) -> Vec<(usize, &str)> {
    let mut fenced = false;
    let mut lines = Vec::new();
    for (i, line) in text.lines().enumerate() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        } else if !fenced {
            lines.push((i + 1, line));
        }
    }
    assert!(!fenced, "a block of code has no end");
    lines
}

/// A line without its inline code.
fn without_code(line: &str) -> String {
    line.split('`').step_by(2).collect::<Vec<_>>().join("``")
}

/// Targets of a line's links.
fn links(line: &str) -> Vec<String> {
    let line = without_code(line);
    let targets = line.split("](").skip(1);
    targets.filter_map(|rest| rest.split_once(')')).map(|(target, _)| target.to_string()).collect()
}

/// The anchor that a heading gets.
fn anchor(heading: &str) -> String {
    let text = heading.trim_start_matches('#').trim().to_lowercase();
    let kept = text.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.map(|c| if c == ' ' { '-' } else { c }).collect()
}

#[test]
fn links_lead_somewhere() {
    let mut wrong = Vec::new();
    let mut count = 0;
    for page in pages() {
        let folder = Path::new(&page.path).parent().unwrap();
        for (n, line) in prose(&page.text) {
            for link in links(line) {
                if link.contains("://") || link.starts_with("mailto:") {
                    continue;
                }
                count += 1;
                let (path, fragment) = link.split_once('#').map_or((link.as_str(), None), |(p, f)| (p, Some(f)));
                let target = if path.is_empty() { root().join(&page.path) } else { root().join(folder).join(path) };
                if !target.exists() {
                    wrong.push(format!("{}:{n}: {link} leads nowhere", page.path));
                } else if let Some(fragment) = fragment {
                    let text = fs::read_to_string(&target).unwrap();
                    if !prose(&text).iter().any(|(_, l)| l.starts_with('#') && anchor(l) == fragment) {
                        wrong.push(format!("{}:{n}: {link}: there is no such heading", page.path));
                    }
                }
            }
        }
    }
    assert!(count > 30, "only {count} links");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Files that pages name in code are there: a path from the root, or one of the root's files.
#[test]
fn files_that_pages_name_exist() {
    let mut wrong = Vec::new();
    let mut count = 0;
    for page in pages().into_iter().filter(|p| p.path != "CHANGELOG.md") {
        for (n, line) in prose(&page.text) {
            for name in line.split('`').skip(1).step_by(2) {
                let (path, _) = name.split_once("::").unwrap_or((name, ""));
                let plain = path.chars().all(|c| c.is_alphanumeric() || "/._-".contains(c)) && !path.contains("NAME");
                let top = path.split('/').next().unwrap_or_default();
                let ours = path.contains('/')
                    && !top.is_empty()
                    && !top.starts_with('.')
                    && root().join(top).is_dir()
                    && top != "target";
                if plain && ours {
                    count += 1;
                    if !root().join(path).exists() {
                        wrong.push(format!("{}:{n}: there is no {path}", page.path));
                    }
                }
            }
        }
    }
    assert!(count > 100, "only {count} files are named");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Prose has at most 100 columns; tables, code and links may be longer, and so may pages that
/// programs write.
#[test]
fn prose_is_wrapped() {
    let mut wrong = Vec::new();
    for page in pages() {
        if page.text.lines().take(5).any(|l| l.contains("Generated by")) {
            continue;
        }
        for (n, line) in prose(&page.text) {
            let columns = line.chars().count();
            let in_links: usize = links(line).iter().map(|l| l.chars().count()).sum();
            if !line.starts_with('|') && columns - in_links.min(columns) > 100 {
                wrong.push(format!("{}:{n}: {columns} columns", page.path));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_summary_lists_every_page() {
    let summary = Text::read("docs/SUMMARY.md");
    let mut listed: Vec<String> = summary.text.lines().flat_map(links).map(|l| format!("docs/{l}")).collect();
    listed.sort();
    let there: Vec<String> =
        pages().into_iter().map(|p| p.path).filter(|p| p.starts_with("docs/") && p != "docs/SUMMARY.md").collect();
    assert_eq!(listed, there);
}

/// The stages of code generation, as their array names them.
fn stages() -> Vec<String> {
    let mut arrays = Vec::new();
    for source in sources().iter().filter(|s| s.path.starts_with("crates/codegen/src/")) {
        for head in ["const STAGES: ", "static STAGES: "] {
            if let Some((_, rest)) = source.text.split_once(head) {
                let body = rest.split_once("= ").map_or("", |(_, b)| b).split_once("];").map_or("", |(b, _)| b);
                // The first text of each row is its name.
                let texts: Vec<&str> = if body.contains("Stage {") || body.contains("stage(") {
                    body.split("Stage {").flat_map(|r| r.split("stage(")).skip(1).filter_map(|r| r.split('"').nth(1)).collect()
                } else {
                    body.split('"').skip(1).step_by(2).collect()
                };
                arrays.push(texts.into_iter().map(str::to_string).collect());
            }
        }
    }
    assert_eq!(arrays.len(), 1, "crates/codegen has one array STAGES");
    arrays.remove(0)
}

/// `docs/build.md` has a row for each stage, in order.
#[test]
fn stages_are_documented() {
    let stages = stages();
    assert!(stages.len() > 5, "{stages:?}");
    let page = Text::read("docs/build.md").text;
    let table = page.split_once("| stage | what it does |").expect("a table of stages").1;
    let rows = table.lines().skip(2).take_while(|l| l.starts_with('|'));
    let documented: Vec<String> = rows.filter_map(|r| r.split('`').nth(1)).map(str::to_string).collect();
    // Instruction selection comes before the array.
    let wanted: Vec<String> = std::iter::once("select".to_string()).chain(stages).collect();
    assert_eq!(documented, wanted);
}

#[test]
fn the_scanner_finds_what_it_should() {
    let found = |t: &str| ids(t).into_iter().map(|(id, _)| id).collect::<Vec<_>>();
    assert_eq!(found("(C3–C5), REN-1 … REN-3 and S2-S4"), ["C3", "C4", "C5", "REN-1", "REN-2", "REN-3", "S2", "S3", "S4"]);
    assert_eq!(found("C5 to C7; [C-ex1]; G-ex1."), ["C5", "C6", "C7", "C-ex1", "G-ex1"]);
    assert!(found("C99, C11 atomics, C11's, FC7, C7x, K3_, %S1, AC-ex1").is_empty());
    assert_eq!(found("K9 and C15"), ["K9", "C15"]);
    let program = "let x: S32 = Type::S16; // C7\nlet s = \"(K6)\"; let c = '\"'; let l: &'a S64 = r#\"S4\"#; /* G8 */ S1";
    assert_eq!(found(&prose_of_program(program, true)), ["C7", "K6", "S4", "G8"]);
    assert_eq!(numbers_behind("hazards 3, 5 and 7", &["hazards "]), [(3, 1), (5, 1), (7, 1)]);
    assert_eq!(numbers_behind("see DESIGN §4.", &["DESIGN "]), [(4, 1)]);
    assert_eq!(links("see [a](b.md#c) and `[x](y)` or ![p](q.png)"), ["b.md#c", "q.png"]);
    assert_eq!(anchor("## 4. The machine"), "4-the-machine");
}
