//! Sweep files, good and bad.

use super::*;

/// A folder with a case and the sweep of a text; the text's errors or plan.
fn plan(text: &str) -> Result<Plan, String> {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    write("k.cl", "__kernel void k(__global int *p) { *p = 1; }");
    let case = r#"{"source": "k.cl", "buffers": {"p": {"zeros": [1], "dtype": "int32"}},
        "launches": [{"kernel": "k", "global": [1], "args": [{"buffer": "p"}]}]}"#;
    write("one.json", case);
    write("two.json", case);
    let path = folder.path().join("s.toml");
    std::fs::write(&path, text).unwrap();
    Plan::read(&path).map_err(|e| e.to_string().replace(&format!("{}/", folder.path().display()), ""))
}

const AXES: &str =
    "cases = ['*.json']\n[axes]\nwarp-size = [16, 32]\nsm.count = { from = 1, to = 3 }\nno-scalarize = [false, true]\n";

#[test]
fn points_are_cases_times_variants_times_axes() {
    let p = plan(&format!("{AXES}[[variants]]\nname = 'a'\n[[variants]]\nname = 'b'\nset = {{ memory.l2.bytes = 262144 }}\n"))
        .unwrap();
    assert_eq!((p.cases.len(), p.configurations.len(), p.len()), (2, 2 * 2 * 3 * 2, 48));
    assert!(p.point(0).is_none() && p.point(49).is_none());
    let last = p.point(48).unwrap();
    assert_eq!(last.case.name, "two.json");
    // Axes are in order of their names.
    assert_eq!(p.describe(last.configuration), "b, no-scalarize = true, sm.count = 3, warp-size = 32");
    let machine = last.machine.unwrap();
    assert_eq!((machine.warp_size, machine.sm.count, machine.memory.l2.bytes), (32, 3, 262_144));
    let ids: std::collections::BTreeSet<_> = p.points().map(|p| p.id.clone()).collect();
    // The two cases are the same but for their names, which say nothing about a result.
    assert_eq!(ids.len(), 24);
}

#[test]
fn a_changed_sweep_keeps_the_ids_of_what_has_not_changed() {
    let (a, b) = (plan(AXES).unwrap(), plan(&AXES.replace("to = 3", "to = 4")).unwrap());
    assert_ne!(a.hash, b.hash);
    let ids = |p: &Plan| p.points().map(|p| p.id.clone()).collect::<std::collections::BTreeSet<_>>();
    assert!(ids(&a).is_subset(&ids(&b)));
    // An axis with the machine's own value changes nothing.
    let same = plan("cases = ['one.json']\n[axes]\nwarp-size = [32]").unwrap();
    let none = plan("cases = ['one.json']").unwrap();
    assert_eq!(ids(&same), ids(&none));
}

#[test]
fn exclusions_and_samples() {
    let exclude = "[[exclude]]\nwarp-size = 32\nsm.count = [2, 3]\n";
    let p = plan(&format!("{AXES}{exclude}")).unwrap();
    assert_eq!(p.configurations.len(), 12 - 4);
    assert!(!p.configurations.iter().any(|c| p.describe(c).contains("sm.count = 2, warp-size = 32")));
    let sampled = |n: usize| plan(&format!("sample = {n}\nseed = 4\n{AXES}{exclude}")).unwrap();
    let s = sampled(5);
    assert_eq!(s.configurations.len(), 5);
    assert_eq!(s.hash, sampled(5).hash);
    let words: std::collections::BTreeSet<String> = s.configurations.iter().map(|c| s.describe(c)).collect();
    assert_eq!(words.len(), 5);
    assert_eq!(sampled(100).configurations.len(), 8, "no more than there are");
    // A space that nobody could walk through.
    let huge: String = (0..8)
        .map(|i| {
            format!(
                "timing.{}.latency = {{ from = 1, to = 1000 }}\n",
                ["move", "int32", "int64", "mul32", "mul64", "float32", "float64", "control"][i]
            )
        })
        .collect();
    assert_eq!(plan(&format!("sample = 7\ncases = ['one.json']\n[axes]\n{huge}")).unwrap().len(), 7);
    assert!(plan(&format!("cases = ['one.json']\n[axes]\n{huge}")).unwrap_err().contains("`sample = N` takes"));
}

#[test]
fn combinations_that_make_no_machine_are_points_and_values_that_never_do_are_errors() {
    let text = "cases = ['one.json']\n[axes]\nwarp-size = [32, 64]\nsm.main-registers = [8192, 65536]\n";
    let p = plan(text).unwrap();
    let refused: Vec<usize> = p.points().filter(|p| p.machine.is_err()).map(|p| p.number).collect();
    assert_eq!(refused, [2]);
    let error = plan(&text.replace("32, 64", "32, 33")).unwrap_err();
    assert!(error.starts_with("s.toml:3:18: axes.warp-size.1: no machine can be made with the value 33"), "{error}");
}

#[test]
fn mistakes_are_told_with_their_line() {
    for (text, message) in [
        ("case = []", "s.toml:1:1: unknown field `case`"),
        ("cases = [", "s.toml:1:"),
        ("cases = []", "cases: there is none"),
        ("cases = ['no.json']", "s.toml:1:10: cases.0: no file matches `no.json`"),
        ("cases = ['k.cl']", "k.cl: a case is an object"),
        ("cases = ['one.json']\nmode = 'fast'", "s.toml:2:8: mode: `fast`: must be timing or functional"),
        (
            "cases = ['one.json']\n[axes]\nwarp-sise = [1]",
            "s.toml:3:14: axes.warp-sise.0: there is no field `warp-sise`; is `warp-size` meant?",
        ),
        ("cases = ['one.json']\n[axes]\nregfle = ['single']", "or is the option `regfile` meant?"),
        ("cases = ['one.json']\n[axes]\nregfile = ['singel']", "s.toml:3:12: axes.regfile.0: invalid value 'singel'"),
        ("cases = ['one.json']\n[axes]\nsm.count = [2, 'x']", "s.toml:3:16: axes.sm.count.1: invalid type: string"),
        ("cases = ['one.json']\n[axes]\nsm.count = []", "axes.sm.count: an axis needs a value"),
        ("cases = ['one.json']\n[axes]\nsm.count = [1]\n'sm.count' = [2]", "another axis sets `sm.count` too"),
        ("cases = ['one.json']\n[axes]\nrename = [true, false]\nno-rename = [true]", "cannot be used with"),
        (
            "cases = ['one.json']\n[options]\nsm.count = 1",
            "s.toml:3:12: options.sm.count: `sm.count` is no option of `heddle run`",
        ),
        ("cases = ['one.json']\n[machine]\nset.regfile = 'single'", "it belongs to [options]"),
        ("cases = ['one.json']\n[machine]\nbase = 'none.toml'", "s.toml:3:8: machine.base: "),
        ("cases = ['one.json']\n[machine]\nbase = 'one.json'", "s.toml:3:8: machine.base: one.json:1:"),
        ("cases = ['one.json']\nsample = 0", "s.toml:2:10: sample: must be 1 or more"),
        ("cases = ['one.json']\nseed = 1", "goes with sample"),
        ("cases = ['one.json']\nminimise = ['cycle']", "is `cycles` meant?"),
        ("cases = ['one.json']\nmaximise = ['regfile']\n[axes]\nregfile = ['single']", "values that are no numbers"),
        (
            "cases = ['one.json']\n[axes]\nsm.count = [1]\n[[exclude]]\nsm.count = 2",
            "s.toml:5:12: exclude.0.sm.count: 2 is no value of the axis",
        ),
        ("cases = ['one.json']\n[axes]\nsm.count = [1]\n[[exclude]]\nsm.cont = 2", "is `sm.count` meant?"),
        ("cases = ['one.json']\n[axes]\nsm.count = [1]\n[[exclude]]\nsm.count = 1", "every configuration is left out"),
        ("cases = ['one.json']\n[[exclude]]", "names an axis"),
        ("cases = ['one.json']\n[[variants]]\nname = 'a'\n[[variants]]\nname = 'a'", "`a` is there twice"),
        (
            "cases = ['one.json']\n[[variants]]\nname = 'a'\nset.sm.cuont = 1",
            "variants.0.set.sm.cuont: there is no field `cuont`",
        ),
        (
            "cases = ['one.json']\n[[variants]]\nname = 'a'\nset.sm.count = 1\n[axes]\nsm.count = [2]",
            "a variant sets `sm.count` too",
        ),
    ] {
        let error = plan(text).err().unwrap_or_else(|| panic!("{text}: accepted"));
        assert!(error.contains(message), "{text}\n  {error}\ninstead of\n  {message}");
    }
}
