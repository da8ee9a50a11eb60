//! Finds LLVM 19, clang 19 and libclc 19, and prepares the built-in library.
//!
//! Functions that libclc leaves out are in `builtins/`. The rest is libclc's generic `nvptx64--.bc` without
//! `get_global_id` and `get_global_size`, so that the passes still see those calls (DESIGN §3), and without
//! `mad_sat` of `long`, which is wrong there, and `shuffle`, `mul24` and `mad24`, which are slow there; functions
//! that ours are made of get another name, and what keeps LLVM from evaluating functions of constants is taken away.
//! It is embedded in the binary; clang links what a kernel needs of it (`-mlink-builtin-bitcode` loads
//! lazily). But clang looks at each function's declaration, and there are 13,000, which takes longer than the
//! rest of a small kernel's compilation. So there is a second library without the families that have most of
//! them, one for each of these families, and a list of the names in each: the front end takes what a program
//! can need.

use std::env;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;

/// What the device announces; what is for readers and tests is not used here.
#[allow(dead_code)]
mod features {
    include!("../../builtins/features.rs");
}

/// How to get LLVM.
const HINT: &str = "\
  Debian/Ubuntu: apt-get install llvm-19-dev clang-19 llvm-19-tools libclc-19 libclc-19-dev libpolly-19-dev zlib1g-dev libzstd-dev
  Fedora:        dnf install llvm19-devel clang19 llvm19 libclc
  Arch:          pacman -S llvm19 clang19 libclc
  macOS:         brew install llvm@19 libclc
or run `cargo xtask setup`, which installs them on Debian and Ubuntu. HEDDLE_CLANG, HEDDLE_LLVM_EXTRACT, \
HEDDLE_LLVM_LINK, HEDDLE_LLVM_NM, HEDDLE_OPT and HEDDLE_LIBCLC name them elsewhere.";

fn main() {
    let root = PathBuf::from("../..");
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed=../../builtins");
    let variables = ["HEDDLE_CLANG", "HEDDLE_LLVM_EXTRACT", "HEDDLE_LLVM_LINK", "HEDDLE_LLVM_NM", "HEDDLE_OPT", "HEDDLE_LIBCLC"];
    for name in variables {
        println!("cargo:rerun-if-env-changed={name}");
    }
    let clang = find_program("HEDDLE_CLANG", "clang");
    let extract = find_program("HEDDLE_LLVM_EXTRACT", "llvm-extract");
    let link = find_program("HEDDLE_LLVM_LINK", "llvm-link");
    let nm = find_program("HEDDLE_LLVM_NM", "llvm-nm");
    let opt = find_program("HEDDLE_OPT", "opt");
    let library = find_library();
    println!("cargo:rerun-if-changed={}", library.display());
    println!("cargo:rustc-env=HEDDLE_CLANG_DEFAULT={}", clang.display());

    let folder = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    let libclc = folder.join("libclc.ll");
    take_libclc(&library, &extract, &opt, &folder, &libclc);
    let (own_text, own) = (folder.join("own-text.ll"), folder.join("own.ll"));
    let mut command = Command::new(&clang);
    command.args(["-x", "cl", "-cl-std=CL3.0", "--target=nvptx64--", "-O1", "-emit-llvm", "-S"]);
    command.args(["-Xclang", &features::extensions(true)]).args(features::definitions(true));
    run(command.arg(root.join("builtins/heddle.cl")).arg("-o").arg(&own_text), "compile builtins/heddle.cl");
    make_evaluable(&own_text, &own);
    let powers = compile_powers(&clang, &opt, &root, &folder);
    let out = folder.join("builtins.bc");
    let mut command = Command::new(&link);
    command.args([&libclc, &own, &powers]).arg(root.join("builtins/scratch.ll"));
    run(command.arg("-o").arg(&out), "link the built-in library");
    let core = folder.join("core.bc");
    let mut command = Command::new(&extract);
    command.arg("--delete").arg(format!("--rfunc={NOT_IN_CORE}")).arg(&out).arg("-o").arg(&core);
    run(&mut command, "take the smaller library out of the built-in one");
    let mut libraries = vec![out.clone(), core];
    libraries.extend(FAMILIES.map(|(name, starts)| take_family(name, starts, &out, &opt, &folder)));
    for library in &libraries {
        let names = names(&nm, library).join("\n");
        std::fs::write(library.with_extension("names"), names).expect("cargo's OUT_DIR can be written");
    }
    let embedded = |(name, _): (&str, _)| {
        let file = |extension: &str| format!("concat!(env!(\"OUT_DIR\"), \"/{name}.{extension}\")");
        format!(
            "Family {{ name: \"{name}\", bitcode: include_bytes!({}), names: include_str!({}) }},\n",
            file("bc"),
            file("names")
        )
    };
    let text = format!("&[\n{}]\n", FAMILIES.map(embedded).concat());
    std::fs::write(folder.join("families.rs"), text).expect("cargo's OUT_DIR can be written");
    let mut hasher = DefaultHasher::new();
    libraries.iter().for_each(|l| std::fs::read(l).expect("just written").hash(&mut hasher));
    println!("cargo:rustc-env=HEDDLE_BUILTINS_HASH={:016x}", hasher.finish());
}

/// Functions that the smaller library lacks: many declarations each, and no other function calls them.
const NOT_IN_CORE: &str = "convert_|atom|sub_group|work_group|[78]shuffle|async_|upsample|vload|vstore|half_|native_";

/// The same functions, in libraries for those that are used together, by how their names start (`*`: any characters).
const FAMILIES: [(&str, &[&str]); 17] = [
    ("convert_char", &["convert_char"]),
    ("convert_uchar", &["convert_uchar"]),
    ("convert_short", &["convert_short"]),
    ("convert_ushort", &["convert_ushort"]),
    ("convert_int", &["convert_int"]),
    ("convert_uint", &["convert_uint"]),
    ("convert_long", &["convert_long"]),
    ("convert_ulong", &["convert_ulong"]),
    ("convert_half", &["convert_half"]),
    ("convert_float", &["convert_float"]),
    ("convert_double", &["convert_double"]),
    ("atomic", &["atom"]),
    // One family, whose functions have work-group memory in common.
    ("group", &["sub_group", "get_*sub_group", "work_group", "async_"]),
    ("shuffle", &["shuffle"]),
    ("vector_memory", &["vload", "vstore"]),
    ("approximate", &["half_", "native_"]),
    ("upsample", &["upsample"]),
];

/// Takes a family out of the library, with a copy of what its functions call, which nothing else sees.
fn take_family(name: &str, starts: &[&str], library: &Path, opt: &Path, folder: &Path) -> PathBuf {
    let out = folder.join(format!("{name}.bc"));
    // In a mangled name the length stands before the name.
    let patterns: Vec<String> = starts.iter().flat_map(|s| [format!("_Z?{s}*"), format!("_Z??{s}*")]).collect();
    let mut command = Command::new(opt);
    command.arg("--passes=internalize,globaldce").arg(format!("--internalize-public-api-list={}", patterns.join(",")));
    run(command.arg(library).arg("-o").arg(&out), "take a family of functions out of the built-in library");
    out
}

/// Names of a library's functions in OpenCL C, sorted.
fn names(nm: &Path, library: &Path) -> Vec<String> {
    let output = match Command::new(nm).args(["--defined-only", "--extern-only", "--just-symbol-name"]).arg(library).output() {
        Ok(output) if output.status.success() => output,
        other => fail(&format!("could not list the built-in library: {}: {other:?}", nm.display())),
    };
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    // What a program may call its own functions must not be taken; libclc's tables are all in capitals.
    let is_own = |s: &str| s.starts_with('_') || s.starts_with("libclc_") || s.contains('.');
    let reserved = |s: &str| is_own(s) || !s.contains(|c: char| c.is_ascii_lowercase());
    if let Some(symbol) = text.lines().map(str::trim).find(|s| !reserved(s)) {
        fail(&format!("the built-in library has a function of a name that programs may have: {symbol}"));
    }
    let mut names: Vec<String> = text.lines().map(|l| unmangled(l.trim()).to_string()).filter(|n| !n.is_empty()).collect();
    names.sort();
    names.dedup();
    names
}

/// The name in a mangled one: `_Z3expf` is of `exp`.
fn unmangled(symbol: &str) -> &str {
    let Some(rest) = symbol.strip_prefix("_Z") else { return symbol };
    let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let length: usize = rest[..digits].parse().unwrap_or(0);
    rest.get(digits..digits + length).unwrap_or(symbol)
}

/// Compiles `builtins/powers.cl`, which asks whether arguments are constants. LLVM's whole pipeline would answer that they are
/// not, so only what makes variables values runs.
fn compile_powers(clang: &Path, opt: &Path, root: &Path, folder: &Path) -> PathBuf {
    let (raw, out) = (folder.join("powers-raw.bc"), folder.join("powers.bc"));
    let mut command = Command::new(clang);
    command.args(["-x", "cl", "-cl-std=CL3.0", "--target=nvptx64--", "-O1", "-Xclang", "-disable-llvm-passes"]);
    command.args(["-emit-llvm", "-c"]).args(["-Xclang", &features::extensions(true)]).args(features::definitions(true));
    run(command.arg(root.join("builtins/powers.cl")).arg("-o").arg(&raw), "compile builtins/powers.cl");
    let mut command = Command::new(opt);
    command.arg("--passes=always-inline,function(sroa,early-cse)");
    run(command.arg(&raw).arg("-o").arg(&out), "simplify builtins/powers.cl");
    out
}

/// What is kept of libclc's library, with functions that ours are made of under another name.
fn take_libclc(library: &Path, extract: &Path, opt: &Path, folder: &Path, out: &Path) {
    let trimmed = folder.join("trimmed.bc");
    let mut command = Command::new(extract);
    command.arg("--delete").args(["--func=_Z13get_global_idj", "--func=_Z15get_global_sizej", "--func=_Z7mad_satlll"]);
    command.args([2, 3, 4, 8, 16].map(|n| format!("--func=_Z7mad_satDv{n}_lS_S_")));
    command.args(["--rfunc=^_Z7shuffle", "--rfunc=^_Z8shuffle2", "--rfunc=^_Z5m(ul|ad)24"]);
    run(command.arg(library).arg("-o").arg(&trimmed), "trim libclc's library");
    let map = folder.join("renamed.map");
    let lines = RENAMED.map(|(symbol, name)| format!("function: {{ source: {symbol}, target: libclc_{name} }}\n"));
    std::fs::write(&map, lines.concat()).expect("cargo's OUT_DIR can be written");
    let text = folder.join("renamed.ll");
    let mut command = Command::new(opt);
    command.arg("--passes=rewrite-symbols").arg(format!("--rewrite-map-file={}", map.display()));
    run(command.arg("-S").arg(&trimmed).arg("-o").arg(&text), "rename functions of libclc's library");
    make_evaluable(&text, out);
}

/// Writes LLVM IR whose library functions LLVM may evaluate for constants.
///
/// libclc's build has attributes on calls that are taken away: `nobuiltin`, for which LLVM does not evaluate intrinsics, and
/// `convergent`, for which it neither looks beyond a block nor unrolls a loop. What is convergent says so in its declaration.
///
/// Functions convert numbers that are out of range, use what comes of it as an index of a table, and then do not take what they
/// have loaded. For LLVM that is undefined behaviour once the numbers are constants, so what is converted is frozen.
fn make_evaluable(ir: &Path, out: &Path) {
    let text = std::fs::read_to_string(ir).expect("just written");
    let mut result = String::with_capacity(text.len() + (text.len() >> 4));
    let mut converted = 0;
    for line in text.lines() {
        let conversion = line.strip_prefix("  %").and_then(|l| l.split_once(" = fpto")).filter(|(_, l)| l.contains(" to "));
        if line.starts_with("attributes #") && line.contains(" nobuiltin ") {
            result += &line.replace(" nobuiltin ", " ").replace(" convergent ", " ");
        } else if let Some((name, rest)) = conversion {
            let ty = rest.rsplit_once(" to ").map_or("", |(_, ty)| ty);
            let ty = ty.split_once(", !").map_or(ty, |(ty, _)| ty);
            converted += 1;
            result += &format!("  %converted.{name} = fpto{rest}\n  %{name} = freeze {ty} %converted.{name}");
        } else {
            result += line;
        }
        result.push('\n');
    }
    assert!(converted > 0, "{}: LLVM prints conversions in another way", ir.display());
    std::fs::write(out, result).expect("cargo's OUT_DIR can be written");
}

/// libclc's functions that `builtins/common.cl`, `builtins/zeros.cl` and `builtins/powers.cl` call by other names.
const RENAMED: [(&str, &str); 22] = [
    ("_Z6lengthDv2_f", "length_2"),
    ("_Z6lengthDv3_f", "length_3"),
    ("_Z6lengthDv4_f", "length_4"),
    ("_Z9normalizeDv2_f", "normalize_2"),
    ("_Z9normalizeDv3_f", "normalize_3"),
    ("_Z9normalizeDv4_f", "normalize_4"),
    ("_Z3powff", "pow_f"),
    ("_Z3powdd", "pow_d"),
    ("_Z4powrff", "powr_f"),
    ("_Z4pownfi", "pown_f"),
    ("_Z4powndi", "pown_d"),
    ("_Z4atand", "atan"),
    ("_Z6atanpid", "atanpi"),
    ("_Z3erfd", "erf"),
    ("_Z5expm1d", "expm1"),
    ("_Z3tand", "tan"),
    ("_Z5sinpif", "sinpi_f"),
    ("_Z5cospif", "cospi_f"),
    ("_Z5tanpif", "tanpi_f"),
    ("_Z5sinpid", "sinpi_d"),
    ("_Z5cospid", "cospi_d"),
    ("_Z5tanpid", "tanpi_d"),
];

/// Runs a tool; the build cannot go on without it.
fn run(command: &mut Command, what: &str) {
    match command.status() {
        Ok(s) if s.success() => {}
        other => fail(&format!("could not {what}: {command:?}: {other:?}")),
    }
}

/// The program from the environment, or `NAME-19`, or `NAME` if that is of version 19.
fn find_program(variable: &str, name: &str) -> PathBuf {
    if let Some(path) = env::var_os(variable) {
        return PathBuf::from(path);
    }
    let mut folders: Vec<PathBuf> = env::var_os("PATH").map(|p| env::split_paths(&p).collect()).unwrap_or_default();
    for prefix in [
        "/usr/lib/llvm-19/bin",
        "/usr/lib64/llvm19/bin",
        "/usr/lib/llvm19/bin",
        "/opt/homebrew/opt/llvm@19/bin",
        "/usr/local/opt/llvm@19/bin",
    ] {
        folders.push(PathBuf::from(prefix));
    }
    for candidate in [format!("{name}-19"), name.to_string()] {
        for folder in &folders {
            let path = folder.join(&candidate);
            if path.is_file() && is_version_19(&path) {
                return path;
            }
        }
    }
    fail(&format!("{name} of LLVM 19 was not found (looked for {name}-19 and {name} in PATH; {variable} overrides)"))
}

fn is_version_19(path: &Path) -> bool {
    let Ok(output) = Command::new(path).arg("--version").output() else { return false };
    String::from_utf8_lossy(&output.stdout).contains("version 19.")
}

fn find_library() -> PathBuf {
    if let Some(path) = env::var_os("HEDDLE_LIBCLC") {
        return PathBuf::from(path);
    }
    let folders = [
        "/usr/lib/clc",
        "/usr/share/clc",
        "/usr/lib/llvm-19/share/libclc",
        "/usr/lib64/clc",
        "/opt/homebrew/share/clc",
        "/opt/homebrew/opt/libclc/share/clc",
        "/usr/local/share/clc",
    ];
    for folder in folders {
        let path = Path::new(folder).join("nvptx64--.bc");
        if path.is_file() {
            return path;
        }
    }
    fail(&format!("libclc's nvptx64--.bc was not found in {}", folders.join(", ")))
}

fn fail(message: &str) -> ! {
    eprintln!("error: {message}\n\nHeddle needs LLVM 19, clang 19 and libclc 19:\n{HINT}");
    std::process::exit(1)
}
