//! Which built-in functions of OpenCL C there are for which types: every form is compiled, vector forms are run and compared with the scalar ones, and
//! `values`, `together` and `items` compare what others return with the host's own computation.
//!
//! The result is `docs/COVERAGE.md`; the test fails if a form is wrong or the page is stale (`HEDDLE_BLESS=1` writes it).

mod ballot;
mod forms;
// Only what is tested of a function matters here.
#[allow(dead_code)]
#[path = "../ulp/functions.rs"]
mod functions;
mod items;
mod together;
mod values;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::Path;

use forms::{Evidence, Form};
use heddle::driver::{self, CompileOptions, Emit};
use heddle::frontend::features::FEATURES;
use heddle::frontend::{Diagnostics, OptLevel};
use heddle::object::Image;
use heddle::object::read;
use heddle::runtime::array::{Array, DType};
use heddle::runtime::case::Case;
use heddle::runtime::run::{Mode, Simulator, run_case};
use heddle::sim::Options;
use heddle::target::Machine;
use rayon::prelude::*;

/// As the program has it.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// What a form turned out to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Found {
    /// It compiles and nothing else is known to be wrong.
    Works,
    /// It does not compile.
    Missing,
    /// The kernel has counted something wrong.
    Wrong,
}

const PRELUDE: &str =
    "#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable\n";
const ARGUMENTS: &str = "global const uchar *d, global uchar *w, local uchar *l, constant uchar *c, global int *counts";

/// Compiles a source to an image; the messages if that fails.
fn try_compile(source: &str, opt: OptLevel) -> Result<Image, String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("forms.cl");
    std::fs::write(&path, source).unwrap();
    let mut options = CompileOptions::default();
    options.frontend.clang_args = vec!["-w".into(), "-ferror-limit=0".into()];
    options.frontend.diagnostics = Diagnostics::Keep;
    options.frontend.opt = opt;
    let object = driver::compile(&[path], Emit::Obj, &options, &Machine::default_machine()).map_err(|e| e.to_string())?.output;
    Ok(read::parse(&object).unwrap())
}

fn compile(source: &str) -> Image {
    try_compile(source, OptLevel::default()).unwrap_or_else(|e| panic!("{e}:\n{source}"))
}

/// The lines that messages about `forms.cl` name.
fn lines(messages: &str) -> BTreeSet<usize> {
    let places = messages.split("forms.cl:").skip(1);
    places.filter_map(|rest| rest.split(':').next()?.parse().ok()).collect()
}

/// Compiles forms together, a line a form. Those that errors name are left out, until the others compile; these are run.
///
/// At -O0 clang leaves alone what the library has optimised already, which halves the time.
fn probe(forms: &[(usize, Form)]) -> Vec<(usize, Found)> {
    let mut left: Vec<&(usize, Form)> = forms.iter().collect();
    let mut found = Vec::new();
    while !left.is_empty() {
        let mut source = format!("{PRELUDE}#define DIFFER(a, b) ((a) != (b) && ((a) == (a) || (b) == (b)))\n");
        let first = source.lines().count() + 1;
        for (k, form) in &left {
            let _ = writeln!(
                source,
                "kernel void form{k}({ARGUMENTS}) {{ size_t i = get_local_id(0); volatile global int *bad = counts + {k}; {} }}",
                form.body
            );
        }
        let messages = match try_compile(&source, OptLevel::O0) {
            Ok(image) => {
                found.extend(run(&left, &image));
                break;
            }
            Err(messages) => messages,
        };
        let lines = lines(&messages);
        assert!(!lines.is_empty(), "forms do not compile, but no line is named:\n{messages}");
        let mut line = first;
        left.retain(|(k, form)| {
            let missing = lines.contains(&line);
            line += 1;
            if missing {
                println!("missing: {} {} {}", form.function, form.ty, form.width);
                found.push((*k, Found::Missing));
            }
            !missing
        });
    }
    found
}

/// Runs the kernels that count what is wrong.
fn run(forms: &[&(usize, Form)], image: &Image) -> Vec<(usize, Found)> {
    let compared: Vec<usize> =
        forms.iter().filter(|(_, f)| matches!(f.evidence, Evidence::Components | Evidence::Checked)).map(|(k, _)| *k).collect();
    let mut wrong = Vec::new();
    if let Some(last) = compared.iter().max() {
        let launches: Vec<String> = compared
            .iter()
            .map(|k| {
                let args = "[{\"buffer\": \"d\"}, {\"buffer\": \"w\"}, {\"local\": 8192}, {\"buffer\": \"d\"}, {\"buffer\": \"counts\"}]";
                format!("{{\"kernel\": \"form{k}\", \"global\": [32], \"local\": [32], \"args\": {args}}}")
            })
            .collect();
        let text = format!(
            "{{\"source\": \"none\", \"buffers\": {{\"d\": {{\"random\": [2048], \"low\": -2147483648, \"high\": 2147483648, \"dtype\": \"int32\"}}, \
             \"w\": {{\"zeros\": [2048], \"dtype\": \"int32\"}}, \"counts\": {{\"zeros\": [{}], \"dtype\": \"int32\"}}}}, \"launches\": [{}]}}",
            last + 1,
            launches.join(", ")
        );
        let counts = launch(&text, image, &[]).remove("counts").unwrap();
        wrong.extend(compared.iter().filter(|k| DType::Int32.value(&counts.data[4 * **k..]) != 0.0).copied());
    }
    forms.iter().map(|(k, _)| (*k, if wrong.contains(k) { Found::Wrong } else { Found::Works })).collect()
}

/// Runs a case given as text, with arrays as files; the buffers afterwards.
fn launch(text: &str, image: &Image, files: &[(&str, Array)]) -> BTreeMap<String, Array> {
    let folder = tempfile::tempdir().unwrap();
    for (name, array) in files {
        array.write(&folder.path().join(name)).unwrap();
    }
    let path = folder.path().join("case.json");
    std::fs::write(&path, text).unwrap();
    let case = Case::read(&path).unwrap_or_else(|e| panic!("{e}: {text}"));
    let machine = Machine::default_machine();
    let simulator = Simulator { machine: &machine, mode: Mode::Functional, options: &Options::default() };
    run_case(&case, image, &simulator, &mut ()).unwrap().buffers
}

/// Macros that programs ask for, beside those of the features that the device announces.
const MACROS: &str = "__OPENCL_VERSION__ __OPENCL_C_VERSION__ __ENDIAN_LITTLE__ __IMAGE_SUPPORT__ FP_FAST_FMA FP_FAST_FMAF \
__opencl_c_atomic_scope_all_devices __opencl_c_device_enqueue __opencl_c_int64 __opencl_c_pipes \
cl_khr_byte_addressable_store cl_khr_depth_images cl_khr_global_int32_base_atomics \
cl_khr_global_int32_extended_atomics cl_khr_local_int32_base_atomics cl_khr_local_int32_extended_atomics \
cl_ext_float_atomics";

/// Whether a form is one of a group.
type Selects = fn(&Form) -> bool;

fn is_integer_dot_product(f: &Form) -> bool {
    f.section == "Integer functions" && f.function.starts_with("dot")
}

/// A macro and the forms that are there if it is defined, and only then.
const MEANINGS: [(&str, Selects); 19] = [
    ("cl_khr_fp16", |f| f.ty == "half" && f.section == "Math functions"),
    ("__opencl_c_fp64", |f| f.ty == "double" && f.section == "Math functions"),
    ("cl_khr_fp64", |f| f.ty == "double" && f.section == "Math functions"),
    ("cl_khr_int64_base_atomics", |f| f.ty == "long" && f.function == "atom_add"),
    ("cl_khr_int64_extended_atomics", |f| f.ty == "ulong" && f.function == "atom_max"),
    ("__opencl_c_subgroups", |f| f.ty == "int" && f.section == "Sub-group functions" && f.function.contains("reduce")),
    ("cl_khr_subgroup_extended_types", |f| {
        f.ty == "short" && f.section == "Sub-group functions" && f.function.contains("reduce")
    }),
    ("cl_khr_subgroup_shuffle", |f| f.function == "sub_group_shuffle" || f.function == "sub_group_shuffle_xor"),
    ("cl_khr_subgroup_shuffle_relative", |f| f.function == "sub_group_shuffle_up" || f.function == "sub_group_shuffle_down"),
    ("cl_khr_subgroup_ballot", |f| f.function == "sub_group_broadcast_first" || f.function.contains("group_ballot")),
    ("cl_khr_subgroup_non_uniform_vote", |f| f.function == "sub_group_elect" || f.function.ends_with("all_equal")),
    ("cl_khr_subgroup_non_uniform_arithmetic", |f| {
        f.function.contains("non_uniform_scan") || f.function.contains("non_uniform_reduce")
    }),
    ("cl_khr_subgroup_clustered_reduce", |f| f.function.contains("clustered_reduce")),
    ("cl_khr_subgroup_rotate", |f| f.function.ends_with("rotate") && f.function.starts_with("sub_group")),
    ("cl_khr_extended_bit_ops", |f| f.function.starts_with("bitfield_") || f.function == "bit_reverse"),
    ("cl_khr_integer_dot_product", is_integer_dot_product),
    ("__opencl_c_integer_dot_product_input_4x8bit", |f| is_integer_dot_product(f) && f.width == "4"),
    ("__opencl_c_integer_dot_product_input_4x8bit_packed", |f| is_integer_dot_product(f) && f.width == "packed"),
    ("__opencl_c_work_group_collective_functions", |f| f.ty == "int" && f.section == "Work-group functions"),
];

/// The macros that are defined, with their values.
fn macros() -> BTreeMap<&'static str, i32> {
    let names: Vec<&str> = MACROS.split_whitespace().chain(FEATURES.iter().map(|f| f.name)).collect();
    let mut source = String::from("kernel void values(global int *out) {\n");
    for (k, name) in names.iter().enumerate() {
        let _ = writeln!(source, "#ifdef {name}\n  out[2 * {k}] = 1, out[2 * {k} + 1] = {name} + 0;\n#endif");
    }
    source.push_str("}\n");
    let image = compile(&source);
    let n = 2 * names.len();
    let text = format!(
        "{{\"source\": \"none\", \"buffers\": {{\"out\": {{\"zeros\": [{n}], \"dtype\": \"int32\"}}}}, \
         \"launches\": [{{\"kernel\": \"values\", \"global\": [1], \"args\": [{{\"buffer\": \"out\"}}]}}]}}"
    );
    let out = launch(&text, &image, &[]).remove("out").unwrap();
    let value = |k: usize| DType::Int32.value(&out.data[4 * k..]) as i32;
    names.iter().enumerate().filter(|(k, _)| value(2 * k) == 1).map(|(k, name)| (*name, value(2 * k + 1))).collect()
}

const INTRODUCTION: &str = "\
# Built-in functions

*Generated by `tests/coverage` (`HEDDLE_BLESS=1 cargo test --release --test coverage`); do not edit.*

Every form of OpenCL C 1.2's built-in functions, and of OpenCL C 3.0's optional ones that fit the machine, is compiled to machine code. How far the forms
that compile are tested:

- **by component**: the vector form is run, and each component is the same as what the scalar form returns.
- **values**: values are compared with a computation of another kind: in the host (`tests/ulp` for math functions, `values.rs`, `together.rs` and `items.rs` of
  `tests/coverage`, kernels of `test-kernels/`), with the C library (`tests/lit/printf`), or in the kernel with plain loads, stores and operators.
- **compiles**: no test looks at a result. Fences and `prefetch` have none.

Numbers are widths, 1 for scalars; where vectors are made of two halves, or the width does not matter otherwise, some widths stand for the others.
Math functions without a bound in the specification (`lgamma`, `native_…`) have the errors that `docs/ULP.md` says.
Images are in `test-kernels/images` and `test-kernels/images_half`; pipes, device-side enqueue and depth images are not there.

";

fn section(out: &mut String, forms: &[(&Form, Found)]) {
    // Types with the same results share a row.
    let mut rows: Vec<(String, Vec<String>, [Vec<String>; 4])> = Vec::new();
    let mut order: Vec<(&str, &str)> = Vec::new();
    for (f, _) in forms {
        if !order.contains(&(&f.function, &f.ty)) {
            order.push((&f.function, &f.ty));
        }
    }
    for (function, ty) in order {
        let mut cells: [Vec<String>; 4] = Default::default();
        for (f, found) in forms.iter().filter(|(f, _)| f.function == function && f.ty == ty) {
            let column = match (found, f.evidence) {
                (Found::Works, Evidence::Components) => 0,
                (Found::Works, Evidence::Values | Evidence::Checked) => 1,
                (Found::Works, Evidence::Compiles) => 2,
                _ => 3,
            };
            cells[column].push(if f.width.is_empty() { "yes".into() } else { f.width.replace(&format!(" by {}", f.ty), "") });
        }
        match rows.iter_mut().find(|(name, _, c)| name == function && *c == cells) {
            Some((_, types, _)) => types.push(ty.to_string()),
            None => rows.push((function.to_string(), vec![ty.to_string()], cells)),
        }
    }
    out.push_str("| function | types | by component | values | compiles | missing |\n|---|---|---|---|---|---|\n");
    for (function, types, cells) in rows {
        let _ = write!(out, "| `{function}` | {} ", types.join(", "));
        for c in cells {
            let _ = write!(out, "| {} ", c.join(", "));
        }
        out.push_str("|\n");
    }
}

#[test]
fn page() {
    let all = forms::all();
    let numbered: Vec<(usize, Form)> = all.iter().cloned().enumerate().collect();
    let groups: Vec<&[(usize, Form)]> = numbered.chunks(200).collect();
    let mut found: Vec<(usize, Found)> = groups.par_iter().flat_map(|g| probe(g)).collect();
    found.sort_by_key(|(k, _)| *k);
    let results: Vec<(&Form, Found)> = found.iter().map(|(k, f)| (&all[*k], *f)).collect();
    let macros = macros();

    let mut page = String::from(INTRODUCTION);
    let mut sections: Vec<&str> = all.iter().map(|f| f.section).collect();
    sections.dedup();
    let mut done: Vec<&str> = Vec::new();
    for name in sections {
        if done.contains(&name) {
            continue;
        }
        done.push(name);
        let forms: Vec<(&Form, Found)> = results.iter().filter(|(f, _)| f.section == name).copied().collect();
        let works = forms.iter().filter(|(_, f)| *f == Found::Works).count();
        let _ = writeln!(page, "## {name}\n\n{works} of {} forms.\n", forms.len());
        section(&mut page, &forms);
        page.push('\n');
    }
    page.push_str("## Macros\n\nDefined with the default `-cl-std=CL3.0`:\n\n| macro | value |\n|---|---|\n");
    for (name, value) in &macros {
        let _ = writeln!(page, "| `{name}` | {value} |");
    }
    let missing: Vec<&str> = MACROS.split_whitespace().filter(|m| !macros.contains_key(m)).collect();
    let _ = writeln!(page, "\nNot defined: {}.", missing.iter().map(|m| format!("`{m}`")).collect::<Vec<_>>().join(", "));

    let wrong: Vec<String> =
        results.iter().filter(|(_, f)| *f == Found::Wrong).map(|(f, _)| format!("{} {} {}", f.function, f.ty, f.width)).collect();
    assert!(wrong.is_empty(), "forms with wrong results: {wrong:#?}");
    let undefined: Vec<&str> = FEATURES.iter().map(|f| f.name).filter(|n| !macros.contains_key(n)).collect();
    assert!(undefined.is_empty(), "announced, but not defined: {undefined:?}");
    for (name, meant) in MEANINGS {
        let (there, gone): (Vec<_>, Vec<_>) = results.iter().filter(|(f, _)| meant(f)).partition(|(_, f)| *f == Found::Works);
        let lacking: Vec<String> = gone.iter().map(|(f, _)| format!("{} {} {}", f.function, f.ty, f.width)).collect();
        if macros.contains_key(name) {
            assert!(lacking.is_empty(), "{name} is defined, but there is no {lacking:?}");
        } else {
            assert!(there.is_empty(), "{name} is not defined, but its functions are there");
        }
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/COVERAGE.md");
    if std::env::var_os("HEDDLE_BLESS").is_some() {
        std::fs::write(&path, &page).unwrap();
    }
    let there = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(there == page, "docs/COVERAGE.md is stale: HEDDLE_BLESS=1 cargo test --release --test coverage");
}
