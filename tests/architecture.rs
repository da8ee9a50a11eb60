//! The order of crates and modules, as far as the compiler cannot enforce it: packages depend only on those
//! above them, LLVM is seen by few, and modules of a package do not import each other in a circle. A failure
//! names the file and line of the import.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// All packages but the tool of the build, in order: each depends only on those before it.
const PACKAGES: [(&str, &str); 20] = [
    ("heddle-threads", "crates/threads"),
    ("heddle-isa", "crates/isa"),
    ("heddle-lanes", "crates/lanes"),
    ("heddle-target", "crates/target"),
    ("heddle-object", "crates/object"),
    ("heddle-mir", "crates/mir"),
    ("heddle-codegen", "crates/codegen"),
    ("heddle-sim", "crates/sim"),
    ("heddle-llvm-passes", "llvm-passes"),
    ("heddle-plugin", "llvm-passes/plugin"),
    ("heddle-frontend", "crates/frontend"),
    ("heddle-isel", "crates/isel"),
    ("heddle-runtime", "crates/runtime"),
    ("heddle-report", "crates/report"),
    ("heddle-validate", "crates/validate"),
    ("heddle", "."),
    ("heddle-opencl", "crates/opencl"),
    ("heddle-fuzz", "crates/fuzz"),
    ("heddle-python", "python"),
    ("xtask", "xtask"),
];

/// Packages that see LLVM. The simulator does so only for the translation to host code, which is optional.
const LLVM: [&str; 6] = ["heddle-sim", "heddle-llvm-passes", "heddle-plugin", "heddle-frontend", "heddle-isel", "heddle"];

/// The modules of the package `heddle` in order: each imports only those before it. `cli` belongs to the
/// program.
const MODULES: [&str; 9] = ["hash", "driver", "options", "build", "library", "session", "explore", "debug", "cli"];

/// Imports by which modules of a package would be a circle, and why they stay: package, module, what it
/// imports, reason.
const UPWARD: [(&str, &str, &str, &str); 12] = [
    ("heddle-isa", "table", "inst", "an instruction finds the row of its operation"),
    ("heddle-isa", "meaning", "inst", "a meaning depends on the type and modifiers of an instruction"),
    ("heddle-target", "describe", "machine", "a row names a rule across fields, which takes the whole machine"),
    ("heddle-target", "validate", "machine", "rules across fields read the machine whose rows name them"),
    ("heddle-llvm-passes", "error", "ir", "an error of a pass has a place in the source"),
    ("heddle-sim", "program", "jit", "a program keeps its translation beside its code"),
    ("heddle-sim", "jit", "functional", "translated code counts blocks and keeps warps as functional mode does"),
    ("heddle-sim", "program", "exec", "the loader refuses what has no meaning"),
    ("heddle-sim", "check", "exec", "checks see lanes and copies of values as execution does"),
    ("heddle-sim", "energy", "functional", "energy is counted from the blocks that functional mode has counted"),
    ("heddle-isel", "constants", "pointers", "the bits of a constant address are those of a pointer"),
    ("heddle-sim", "trace", "hierarchy", "a trace has the accesses that the hierarchy has done"),
];

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

fn manifest(folder: &str) -> toml::Table {
    read(&root().join(folder).join("Cargo.toml")).parse().unwrap_or_else(|e| panic!("{folder}: {e}"))
}

/// Dependencies of a package, each with what its manifest says about it.
fn dependencies(folder: &str, kinds: &[&str]) -> Vec<(String, toml::Value)> {
    let manifest = manifest(folder);
    let tables = kinds.iter().filter_map(|k| manifest.get(*k)?.as_table().cloned());
    tables.flatten().collect()
}

#[test]
fn packages_depend_only_on_those_above_them() {
    let position = |name: &str| PACKAGES.iter().position(|(n, _)| *n == name);
    for (i, (name, folder)) in PACKAGES.iter().enumerate() {
        assert_eq!(manifest(folder)["package"]["name"].as_str(), Some(*name), "{folder}");
        for (dependency, _) in dependencies(folder, &["dependencies", "dev-dependencies", "build-dependencies"]) {
            let upward = position(&dependency).is_some_and(|p| p >= i);
            assert!(!upward, "{folder}/Cargo.toml: {name} depends on {dependency}, which comes after it");
        }
    }
    // Every package of the workspace has its place.
    let folders: BTreeSet<String> = PACKAGES.iter().map(|(_, f)| (*f).to_string()).collect();
    for entry in fs::read_dir(root().join("crates")).unwrap() {
        let folder = format!("crates/{}", entry.unwrap().file_name().to_string_lossy());
        assert!(folders.contains(&folder), "{folder} has no place in the order of packages");
    }
}

#[test]
fn few_packages_see_llvm() {
    for (name, folder) in PACKAGES {
        for (dependency, how) in dependencies(folder, &["dependencies", "dev-dependencies", "build-dependencies"]) {
            if !["inkwell", "llvm-sys"].contains(&dependency.as_str()) {
                continue;
            }
            assert!(LLVM.contains(&name), "{folder}/Cargo.toml: {name} is not to see LLVM, but depends on {dependency}");
            if name == "heddle-sim" {
                assert_eq!(how.get("optional").and_then(toml::Value::as_bool), Some(true), "{folder}: {dependency} is optional");
            }
        }
    }
    let features = &manifest("crates/sim")["features"];
    assert_eq!(features["jit"].to_string(), "[\"dep:inkwell\"]");
}

/// What `cargo build` builds has no generators of random programs and no OpenCL host library.
#[test]
fn a_plain_build_does_without_fuzzing() {
    assert_eq!(manifest(".")["workspace"]["default-members"].to_string(), "[\".\"]");
    let mut seen = BTreeSet::new();
    let mut todo = vec!["heddle".to_string()];
    while let Some(name) = todo.pop() {
        let Some((_, folder)) = PACKAGES.iter().find(|(n, _)| *n == name) else { continue };
        if seen.insert(name) {
            todo.extend(dependencies(folder, &["dependencies", "build-dependencies"]).into_iter().map(|(d, _)| d));
            let foreign = dependencies(folder, &["dependencies", "build-dependencies"]);
            assert!(foreign.iter().all(|(d, _)| d != "opencl3"), "{folder}/Cargo.toml: opencl3 is for heddle-fuzz");
        }
    }
    assert!(seen.len() > 8 && !seen.contains("heddle-fuzz"), "{seen:?}");
}

/// A module of a package: its path, its file and the text of the program in it.
struct Module {
    path: Vec<String>,
    file: String,
    text: String,
}

/// An import of one module by another.
struct Import {
    from: Vec<String>,
    to: Vec<String>,
    /// `file:line: path`.
    place: String,
}

/// Program text without comments and without the tests at its end.
fn program(text: &str) -> String {
    let tests = text.find("\n#[cfg(test)]\nmod tests {").unwrap_or(text.len());
    let line = |l: &str| l.split("//").next().unwrap_or_default().to_string() + "\n";
    text[..tests].lines().map(line).collect()
}

/// The modules below a folder; test modules are left out.
fn modules(folder: &Path) -> Vec<Module> {
    fn walk(found: &mut Vec<Module>, folder: &Path, path: &[String]) {
        let mut entries: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()).collect();
        entries.sort();
        for entry in entries {
            let stem = entry.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            let inner = || path.iter().cloned().chain([stem.clone()]).collect::<Vec<_>>();
            if entry.is_dir() {
                walk(found, &entry, &inner());
            } else if entry.extension().is_some_and(|e| e == "rs") && stem != "tests" {
                let is_root = ["lib", "main", "mod"].contains(&stem.as_str());
                let path = if is_root { path.to_vec() } else { inner() };
                let file = entry.strip_prefix(root()).unwrap_or(&entry).display().to_string();
                found.push(Module { path, file, text: program(&read(&entry)) });
            }
        }
    }
    let mut found = Vec::new();
    walk(&mut found, folder, &[]);
    let tests: Vec<Vec<String>> = found.iter().flat_map(test_modules).collect();
    found.retain(|m: &Module| !tests.iter().any(|t| m.path.starts_with(t)));
    found
}

/// The modules that a module declares for tests only.
fn test_modules(module: &Module) -> Vec<Vec<String>> {
    let declared = module.text.split("#[cfg(test)]\n").skip(1).filter_map(|t| t.lines().next()?.strip_suffix(';'));
    let names = declared.filter_map(|d| d.split_once("mod ").map(|(_, name)| name.to_string()));
    names.map(|name| [&module.path[..], &[name]].concat()).collect()
}

/// The paths that a path of the program stands for: `a::{b, c::d}` is `a::b` and `a::c::d`.
fn expand(text: &str) -> Vec<Vec<String>> {
    let name: String = text.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
    let rest = text[name.len()..].trim_start();
    let Some(rest) = rest.strip_prefix("::") else { return vec![vec![name]] };
    let rest = rest.trim_start();
    let tails = match rest.strip_prefix('{') {
        None => expand(rest),
        Some(group) => {
            let (mut depth, mut start, mut parts) = (0, 0, Vec::new());
            for (i, c) in group.char_indices() {
                match c {
                    '{' => depth += 1,
                    '}' if depth > 0 => depth -= 1,
                    ',' | '}' if depth == 0 => {
                        parts.push(group[start..i].trim());
                        start = i + 1;
                        if c == '}' {
                            break;
                        }
                    }
                    _ => {}
                }
            }
            parts.into_iter().filter(|p| !p.is_empty()).flat_map(expand).collect()
        }
    };
    tails.into_iter().map(|tail| [vec![name.clone()], tail].concat()).collect()
}

/// Where a module's own `pub use child::Name` names come from.
fn reexports(module: &Module) -> BTreeMap<String, Vec<String>> {
    let uses = module.text.split("use ").skip(1);
    let paths = uses
        .filter_map(|u| u.split(';').next())
        .flat_map(|u| expand(u.trim_start_matches("self::").trim_start_matches("crate::")));
    paths.filter(|p| p.len() > 1).map(|p| (p[p.len() - 1].clone(), p)).collect()
}

/// All imports between modules of a package. `this`: what the package's own paths begin with, `crate` and its
/// name.
fn imports(modules: &[Module], this: &[&str]) -> Vec<Import> {
    let known: BTreeSet<&[String]> = modules.iter().map(|m| m.path.as_slice()).collect();
    let mut names: BTreeMap<&[String], BTreeMap<String, Vec<String>>> = BTreeMap::new();
    for m in modules {
        names.entry(&m.path).or_default().extend(reexports(m));
    }
    let mut found = Vec::new();
    for module in modules {
        for begin in this.iter().chain(&["super"]) {
            for (at, _) in module.text.match_indices(&format!("{begin}::")) {
                let before = module.text[..at].chars().next_back();
                if before.is_some_and(|c| c.is_alphanumeric() || c == '_' || c == ':') {
                    continue;
                }
                for path in expand(&module.text[at..]) {
                    let mut to: Vec<String> = if *begin == "super" { module.path.clone() } else { Vec::new() };
                    let ups = path.iter().take_while(|p| *p == "super").count();
                    to.truncate(to.len().saturating_sub(ups));
                    to.extend(path.iter().skip(ups.max(1)).cloned());
                    if ups == 0 && *begin == "super" {
                        continue;
                    }
                    // The longest beginning that is a module; a name there may come from one of its children.
                    let mut length = (0..=to.len()).rev().find(|n| known.contains(&to[..*n])).unwrap_or(0);
                    if let Some(origin) = to.get(length).and_then(|n| names.get(&to[..length])?.get(n)) {
                        to = [&to[..length], origin].concat();
                        length = (0..=to.len()).rev().find(|n| known.contains(&to[..*n])).unwrap_or(0);
                    }
                    to.truncate(length);
                    let line = module.text[..at].matches('\n').count() + 1;
                    let place = format!("{}:{line}: {}", module.file, path.join("::"));
                    found.push(Import { from: module.path.clone(), to, place });
                }
            }
        }
    }
    found
}

/// Edges between the children of a module: imports that leave one child for another.
fn siblings<'a>(imports: &'a [Import], scope: &[String]) -> Vec<(&'a str, &'a str, &'a str)> {
    let child = |path: &'a [String]| path.strip_prefix(scope)?.first().map(String::as_str);
    let edges = imports.iter().filter_map(|i| Some((child(&i.from)?, child(&i.to)?, i.place.as_str())));
    edges.filter(|(a, b, _)| a != b).collect()
}

/// Modules that reach themselves over others, as groups that reach each other.
fn circles(edges: &[(&str, &str, &str)]) -> BTreeSet<BTreeSet<String>> {
    let reach = |from: &str| {
        let mut seen = BTreeSet::new();
        let mut todo = vec![from];
        while let Some(at) = todo.pop() {
            let next = edges.iter().filter(|(a, _, _)| *a == at).map(|(_, b, _)| *b);
            todo.extend(next.filter(|b| seen.insert(*b)).collect::<Vec<_>>());
        }
        seen
    };
    let nodes: BTreeSet<&str> = edges.iter().flat_map(|(a, b, _)| [*a, *b]).collect();
    let reached: BTreeMap<&str, BTreeSet<&str>> = nodes.iter().map(|n| (*n, reach(n))).collect();
    let group =
        |n: &&str| reached[n].iter().filter(|m| reached[**m].contains(n)).map(|m| (*m).to_string()).collect::<BTreeSet<_>>();
    nodes.iter().map(group).filter(|g| g.len() > 1).collect()
}

/// The package `heddle`: the library, and the program over it.
#[test]
fn modules_of_heddle_import_only_those_before_them() {
    let modules = modules(&root().join("src"));
    let imports = imports(&modules, &["crate", "heddle"]);
    let edges = siblings(&imports, &[]);
    let position = |name: &str| MODULES.iter().position(|m| *m == name);
    for (from, to, place) in &edges {
        let (from, to) = (position(from), position(to));
        let (Some(from), Some(to)) = (from, to) else { panic!("{place}: a module without a place in the order") };
        assert!(to < from, "{place}: `{}` comes after `{}`", MODULES[to], MODULES[from]);
    }
    assert!(edges.len() > 20, "only {} imports found", edges.len());
}

#[test]
fn modules_of_a_package_do_not_import_each_other_in_a_circle() {
    let mut wrong = String::new();
    let mut used = BTreeSet::new();
    for (name, folder) in PACKAGES.into_iter().filter(|(n, _)| *n != "xtask") {
        let modules = modules(&root().join(folder).join("src"));
        let imports = imports(&modules, &["crate", &name.replace('-', "_")]);
        let mut scopes = vec![Vec::new()];
        if name == "heddle" {
            scopes.extend(modules.iter().map(|m| m.path.clone()).filter(|p| p.len() == 1));
        }
        for scope in scopes {
            let listed = |(a, b, _): &(&str, &str, &str)| UPWARD.iter().position(|u| (u.0, u.1, u.2) == (name, *a, *b));
            let all = siblings(&imports, &scope);
            let (upward, edges): (Vec<_>, Vec<_>) = all.into_iter().partition(|e| scope.is_empty() && listed(e).is_some());
            for edge in &upward {
                // Only what would close a circle is listed.
                let closed = circles(&[&edges[..], &[*edge]].concat());
                used.extend(listed(edge).filter(|_| !closed.is_empty()));
            }
            for circle in circles(&edges) {
                let inside = |m: &str| circle.contains(m);
                let places = edges.iter().filter(|(a, b, _)| inside(a) && inside(b)).map(|(_, _, p)| format!("  {p}\n"));
                wrong += &format!("{name}: {circle:?} import each other:\n{}", places.collect::<String>());
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
    for (i, (name, from, to, _)) in UPWARD.into_iter().enumerate() {
        assert!(used.contains(&i), "{name}: that {from} imports {to} is listed, but closes no circle");
    }
}

/// The scanner of the tests above, on text in which everything occurs.
#[test]
fn the_scanner_finds_imports() {
    let module = |path: &[&str], text: &str| Module {
        path: path.iter().map(|p| (*p).to_string()).collect(),
        file: "f.rs".into(),
        text: program(text),
    };
    let modules = [
        module(&[], "pub use a::Name;\nmod a;\nmod b;"),
        module(
            &["a"],
            "use crate::{b::{inner::X, self}, Name};\n// crate::b is a comment\n#[cfg(test)]\nmod tests { use crate::b; }",
        ),
        module(&["b"], "fn f() { super::a::f() }"),
        module(&["b", "inner"], "use super::super::Name;\nuse super::f; // not upwards"),
    ];
    let declares = module(&["a"], "#[cfg(test)]\npub(crate) mod testing;\n#[cfg(test)]\nmod tests;\nmod other;");
    let testing = ["testing", "tests"].map(|name| vec!["a".to_string(), name.to_string()]);
    assert_eq!(test_modules(&declares), testing);
    let imports = imports(&modules, &["crate"]);
    let edges = siblings(&imports, &[]);
    let found: Vec<String> = edges.iter().map(|(a, b, p)| format!("{a} -> {b} at {p}")).collect();
    assert_eq!(
        found,
        [
            "a -> b at f.rs:1: crate::b::inner::X",
            "a -> b at f.rs:1: crate::b::self",
            "b -> a at f.rs:1: super::a::f",
            "b -> a at f.rs:1: super::super::Name",
        ]
    );
    let both: BTreeSet<String> = ["a".to_string(), "b".to_string()].into();
    assert_eq!(circles(&edges), [both].into());
    assert!(circles(&edges[..2]).is_empty());
}
