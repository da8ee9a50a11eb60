//! The layers of the crate: helpers, passes, the pipeline. The test reads the paths of the crate's
//! own sources and fails where a file imports another one that it must not know, or where files
//! import each other in a circle.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// The modules at the top of the crate that are helpers: they may import helpers only.
const HELPERS: [&str; 6] = ["builtins", "error", "facts", "ir", "memory", "printf"];

/// A module's path, without `crate`; empty for `lib.rs`.
type Module = Vec<String>;

/// Which modules each module imports.
type Imports = BTreeMap<Module, BTreeSet<Module>>;

fn module(text: &str) -> Module {
    text.split("::").filter(|s| !s.is_empty()).map(String::from).collect()
}

fn shown(module: &[String]) -> String {
    if module.is_empty() { "lib.rs".into() } else { module.join("::") }
}

/// The sources below a folder, by module.
fn sources(folder: &Path, at: &[String], found: &mut BTreeMap<Module, String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let stem = path.file_stem().unwrap().to_string_lossy().into_owned();
        let child = [at, std::slice::from_ref(&stem)].concat();
        if path.is_dir() {
            sources(&path, &child, found);
        } else if path.extension().is_some_and(|e| e == "rs") {
            let module = if stem == "mod" || stem == "lib" { at.to_vec() } else { child };
            found.insert(module, fs::read_to_string(&path).unwrap());
        }
    }
}

/// A source without comments, and with texts emptied.
fn code(source: &str) -> String {
    let mut result = String::new();
    for line in source.lines() {
        let mut rest = line;
        let mut inside = false;
        while let Some(c) = rest.chars().next() {
            match c {
                '\\' if inside => rest = &rest[1..],
                '"' if rest.starts_with("\"'") && result.ends_with('\'') => {}
                '"' => inside = !inside,
                '/' if !inside && rest.starts_with("//") => break,
                c if !inside => result.push(c),
                _ => {}
            }
            rest = rest.chars().next().map_or("", |c| &rest[c.len_utf8()..]);
        }
        result.push('\n');
    }
    result
}

/// The paths that a `use` tree stands for, and the text behind it: `a::{b, c::d}` is `a::b` and
/// `a::c::d`.
fn tree<'a>(text: &'a str, prefix: &[String], paths: &mut Vec<Module>) -> &'a str {
    let mut path = prefix.to_vec();
    let mut rest = text.trim_start();
    loop {
        if let Some(mut inner) = rest.strip_prefix('{') {
            loop {
                inner = tree(inner, &path, paths).trim_start();
                match inner.strip_prefix(',').map(str::trim_start) {
                    Some(more) if more.starts_with('}') => return &more[1..],
                    Some(more) => inner = more,
                    None => return inner.strip_prefix('}').unwrap_or(inner),
                }
            }
        }
        let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
        let (name, after) = rest.split_at(end);
        if !name.is_empty() && name != "self" {
            path.push(name.to_string());
        }
        let Some(next) = after.strip_prefix("::") else {
            paths.push(path);
            return after;
        };
        rest = next.trim_start();
    }
}

/// The paths of the crate that a module's code names, from the crate's root: those behind `crate::`
/// and `super::`, and uses of its own children.
fn paths(code: &str, at: &[String], children: &[String]) -> Vec<Module> {
    let mut found = Vec::new();
    let word = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
    for (i, _) in code.char_indices().filter(|(i, _)| !code[..*i].ends_with(word)) {
        let rest = &code[i..];
        if let Some(rest) = rest.strip_prefix("crate::") {
            tree(rest, &[], &mut found);
        } else if let Some(mut rest) = rest.strip_prefix("super::") {
            let mut up = at.len().saturating_sub(1);
            while let Some(more) = rest.strip_prefix("super::") {
                (rest, up) = (more, up.saturating_sub(1));
            }
            tree(rest, &at[..up], &mut found);
        } else if children.iter().any(|c| rest.strip_prefix(c.as_str()).is_some_and(|r| r.starts_with("::"))) {
            tree(rest, at, &mut found);
        }
    }
    found
}

/// Which modules import which.
fn imports(sources: &BTreeMap<Module, String>) -> Imports {
    let mut result = Imports::new();
    for (at, source) in sources {
        let children: Vec<String> =
            sources.keys().filter(|m| m.len() == at.len() + 1 && m.starts_with(at)).map(|m| m[at.len()].clone()).collect();
        let code = code(source);
        let (body, tests) = code.split_once("#[cfg(test)]").unwrap_or((&code, ""));
        let inside = [at.as_slice(), &["tests".to_string()]].concat();
        let found = [paths(body, at, &children), paths(tests, &inside, &[])].concat();
        let edges = result.entry(at.clone()).or_default();
        for path in found {
            // The file that has what the path names: its longest beginning that is a module.
            let file = (0..=path.len()).rev().map(|n| path[..n].to_vec()).find(|m| sources.contains_key(m));
            edges.extend(file.filter(|f| f != at));
        }
    }
    result
}

/// What is wrong with the imports, a sentence each.
fn violations(imports: &Imports) -> Vec<String> {
    let mut result = Vec::new();
    let is_helper = |m: &Module| m.first().is_some_and(|top| HELPERS.contains(&top.as_str()));
    for (from, targets) in imports {
        for to in targets {
            let edge = format!("{} imports {}", shown(from), shown(to));
            if *to == module("pipeline") {
                result.push(format!("{edge}: the pipeline imports the passes, nothing imports the pipeline"));
            }
            if is_helper(from) && !to.is_empty() && !is_helper(to) {
                result.push(format!("{edge}: a helper imports helpers only"));
            }
        }
    }
    result.extend(circle(imports).map(|c| {
        let names: Vec<String> = c.iter().map(|m| shown(m)).collect();
        format!("{}: these import each other in a circle", names.join(" -> "))
    }));
    result
}

/// A circle of imports, its first module again at its end.
fn circle(imports: &Imports) -> Option<Vec<Module>> {
    fn visit(at: &Module, imports: &Imports, done: &mut BTreeSet<Module>, path: &mut Vec<Module>) -> Option<Vec<Module>> {
        if let Some(start) = path.iter().position(|m| m == at) {
            return Some([&path[start..], std::slice::from_ref(at)].concat());
        }
        if !done.insert(at.clone()) {
            return None;
        }
        path.push(at.clone());
        let found = imports.get(at)?.iter().find_map(|to| visit(to, imports, done, path));
        path.pop();
        found
    }
    let mut done = BTreeSet::new();
    imports.keys().find_map(|m| visit(m, imports, &mut done, &mut Vec::new()))
}

fn own_sources() -> BTreeMap<Module, String> {
    let mut found = BTreeMap::new();
    sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &[], &mut found);
    found
}

#[test]
fn files_import_only_what_is_below_them() {
    let imports = imports(&own_sources());
    // What is known to be there, so that a reader of paths that finds nothing does not pass.
    for (from, to) in
        [("pipeline", "cache_hints"), ("cache_hints", "global_id"), ("global_id", "ir::layout"), ("ir", "ir::value")]
    {
        assert!(imports[&module(from)].contains(&module(to)), "{from} imports {to}, which was not seen");
    }
    let violations = violations(&imports);
    assert!(violations.is_empty(), "{}", violations.join("\n"));
}

#[test]
fn every_file_belongs_to_the_crate() {
    let sources = own_sources();
    for at in sources.keys().filter(|m| !m.is_empty()) {
        let (name, parent) = at.split_last().unwrap();
        let declared = code(&sources[parent]).lines().any(|l| l.trim_start_matches("pub ").trim_end() == format!("mod {name};"));
        assert!(declared, "{} has no `mod {name};` for its file", shown(parent));
    }
}

/// Imports of modules with the given texts.
fn imports_of(texts: &[(&str, &str)]) -> Imports {
    imports(&texts.iter().map(|(name, text)| (module(name), text.to_string())).collect())
}

#[test]
fn paths_are_read_as_rust_reads_them() {
    let imports = imports_of(&[
        ("", "pub use error::PassError;"),
        ("error", ""),
        ("ir", "pub use value::Value;"),
        ("ir::value", "// crate::error\nconst X: &str = \"crate::error\";"),
        (
            "ir::cfg",
            "use super::{value::Value, function};\n#[cfg(test)]\nmod tests { use super::*; use crate::error::PassError; }",
        ),
        ("ir::function", "fn f() -> crate::ir::Value {}"),
        ("pass", "use crate::{error, ir::{self, value::{Value}, cfg::*}};"),
    ]);
    let of = |name: &str| imports[&module(name)].iter().map(|m| shown(m)).collect::<Vec<_>>().join(" ");
    assert_eq!(of(""), "error");
    assert_eq!(of("ir"), "ir::value");
    assert_eq!(of("ir::value"), "");
    assert_eq!(of("ir::cfg"), "error ir::function ir::value");
    assert_eq!(of("ir::function"), "ir");
    assert_eq!(of("pass"), "error ir ir::cfg ir::value");
}

#[test]
fn wrong_edges_are_named() {
    let wrong = |texts: &[(&str, &str)]| violations(&imports_of(texts)).join("; ");
    assert_eq!(
        wrong(&[("pipeline", ""), ("pass", "use crate::pipeline::run;")]),
        "pass imports pipeline: the pipeline imports the passes, nothing imports the pipeline"
    );
    assert_eq!(
        wrong(&[("ir", ""), ("ir::cfg", "use crate::pass::x;"), ("pass", "")]),
        "ir::cfg imports pass: a helper imports helpers only"
    );
    assert_eq!(
        wrong(&[("a", "use crate::b::x;"), ("b", "use crate::c;"), ("c", "fn f() { crate::b::y() }")]),
        "b -> c -> b: these import each other in a circle"
    );
    assert_eq!(wrong(&[("pipeline", "use crate::{a, b};"), ("a", "use crate::b;"), ("b", "use crate::ir;"), ("ir", "")]), "");
}
