//! A program from memory: its source and headers go to clang under the names given, and what comes back does
//! not depend on where that happened.
//!
//! clang runs in a temporary folder that has the source and the headers in it, so the names in messages, in
//! `__FILE__` and in debug information are those that the caller gave. What is named in options (`-I dir`) is
//! taken from the folder of the calling process. clang sees none of the environment that is for the calling
//! program only: what it preloads, and search paths for headers of the host.

use std::fs;
use std::path::{Component, Path, PathBuf};
use std::process::{Command, Stdio};

use crate::clang::{self, clang_path};
use crate::error::io;
use crate::language::{self, Language};
use crate::library::Library;
use crate::whole::Passes;
use crate::{FrontendError, FrontendOptions, compile, dependencies, module, passes, whole};

/// A program in memory.
#[derive(Clone, Copy, Debug)]
pub struct Source<'a> {
    /// What messages call it.
    pub name: &'a str,
    /// OpenCL C, or what the end of the name says.
    pub text: &'a [u8],
    /// Headers by the names under which the source includes them.
    pub headers: &'a [(&'a str, &'a [u8])],
}

/// What clang made of a program.
#[derive(Clone, Debug, Default)]
pub struct Compiled {
    /// LLVM bitcode as clang leaves it.
    pub bitcode: Vec<u8>,
    /// clang's passes have not run, and want these options: [`link_whole`](crate::link_whole) runs them.
    pub passes_left: Option<Vec<String>>,
    /// clang's messages.
    pub log: String,
    /// The files that were read beside the program and its own headers.
    pub files: Vec<PathBuf>,
}

/// Names of environment variables that are for programs of the host, or that change what clang is told.
const NOT_FOR_CLANG: [&str; 8] = [
    "LD_PRELOAD",
    "DYLD_INSERT_LIBRARIES",
    "CPATH",
    "C_INCLUDE_PATH",
    "CPLUS_INCLUDE_PATH",
    "CCC_OVERRIDE_OPTIONS",
    "CC_PRINT_OPTIONS",
    "CC_PRINT_HEADERS",
];

/// Compiles a program to LLVM bitcode. `checked`: see [`crate::compile_to_module`].
///
/// # Errors
/// [`FrontendError::Program`] with clang's messages, [`FrontendError::Option`] for an option that clang
/// refuses, and those of clang as a process and of temporary files.
pub fn compile_source(source: &Source, options: &FrontendOptions, checked: bool) -> Result<Compiled, FrontendError> {
    if Language::of(Path::new(source.name)).is_spirv() {
        let bitcode = module::compile_spirv(source.name, source.text, options, checked)?;
        return Ok(Compiled { bitcode, ..Compiled::default() });
    }
    if let Some((id, _)) = options.spec_constants.first() {
        return Err(FrontendError::Option(format!("{}: {}", source.name, module::not_spirv(*id))));
    }
    const WHAT: &str = "writing a temporary file";
    let folder = tempfile::Builder::new().prefix("heddle-").tempdir().map_err(io("making a temporary folder"))?;
    let root = std::path::absolute(folder.path()).map_err(io("making a temporary folder"))?;
    let (output, rule) = (root.join("program.bc"), root.join("program.d"));
    let layout = Layout::of(source, &root)?;
    clang::write_header(&layout.folder.join(OWN))?;
    let language = Language::of(Path::new(&layout.name));
    let own = layout.folder.join(&layout.name);
    let instances =
        if language.is_cuda_like() { language::with_instances(&layout.name, source.text, &options.kernels) } else { None };
    for (path, contents) in &layout.files {
        let contents = instances.as_deref().filter(|_| *path == own).unwrap_or(contents);
        let parent = path.parent().unwrap_or(&root);
        fs::create_dir_all(parent).and_then(|()| fs::write(path, contents)).map_err(io(WHAT))?;
    }
    let here = std::env::current_dir().ok();
    let mut log = String::new();
    let part = clang::part_for(source.text, source.headers, language, options);
    let from = here.as_deref().unwrap_or(Path::new("."));
    let when = Passes::of(source.text, source.headers, from, language, options);
    let bitcode = clang::with_library(part, |libraries, _| {
        let mut command = command(&layout, libraries, language, options, here.as_deref());
        command.args(language::host_definition(language, source.text));
        command.args(["-MD", "-MT", "program", "-MF"]).arg(&rule);
        command.arg("-o").arg(&output).arg("--").arg(&layout.name);
        let (ended, text) = clang::run(&mut command, options, true)?;
        if !ended.well(&output) {
            return Err(failure(text, ended.crashed()));
        }
        log = text;
        fs::read(&output).map_err(io("reading clang's output"))
    })?;
    let bitcode = match language.is_cuda_like() {
        true => compile::finish_device_code(&bitcode, source.name, options, checked)?,
        false if checked => bitcode,
        false if when == Passes::AtLink => bitcode,
        false => {
            let reachable = if when == Passes::OnReachable { whole::reachable(&bitcode, source.name)? } else { bitcode };
            let (optimised, warnings) = passes::optimise_quietly(&reachable, source.name, options)?;
            log += &warnings;
            optimised
        }
    };
    let rule = fs::read_to_string(&rule).map_err(io("reading clang's list of headers"))?;
    let files = dependencies::parse(&rule).into_iter().filter(|f| f.is_absolute() && !f.starts_with(&root)).collect();
    let words = || passes::of_passes(&options.clang_args).into_iter().filter(|w| !w.starts_with("-R")).cloned().collect();
    let at_link = !checked && when == Passes::AtLink;
    Ok(Compiled { bitcode, passes_left: at_link.then(words), log, files })
}

/// clang with all it is told but its inputs and outputs; `here`: the folder of the calling process.
fn command(
    layout: &Layout,
    libraries: &[Library],
    language: Language,
    options: &FrontendOptions,
    here: Option<&Path>,
) -> Command {
    let mut command = Command::new(clang_path());
    command.current_dir(&layout.folder).stdout(Stdio::null());
    NOT_FOR_CLANG.iter().for_each(|name| _ = command.env_remove(name));
    // Headers of the program come first, those beside the calling process last.
    command.args(["--no-default-config", "-I."]);
    clang::compilation(&mut command, &Path::new(OWN).join("include"), libraries, language, options);
    command.args(["-fno-crash-diagnostics", "-fdebug-compilation-dir=."]);
    let Some(here) = here else {
        command.args(&options.clang_args);
        return command;
    };
    if here.parent().is_some() {
        command.arg(format!("-ffile-prefix-map={}=.", here.display()));
    }
    command.args(from_folder(&options.clang_args, here)).arg("-I").arg(here);
    command
}

/// The folder of Heddle's own header beside the program.
const OWN: &str = "heddle";

/// Where a program's files are.
struct Layout<'a> {
    /// The folder in which clang runs.
    folder: PathBuf,
    /// The source, as clang is told.
    name: String,
    /// Paths and contents.
    files: Vec<(PathBuf, &'a [u8])>,
}

impl<'a> Layout<'a> {
    /// Under `root`, deep enough for names with `..` to stay there.
    fn of(source: &Source<'a>, root: &Path) -> Result<Layout<'a>, FrontendError> {
        let mut names = Vec::new();
        for (name, contents) in source.headers {
            let refused = |reason: &str| FrontendError::Input { input: format!("header `{name}`"), reason: reason.into() };
            if name.is_empty() || name.contains('\0') || Path::new(name).is_absolute() {
                return Err(refused("its name must be a relative path, as in #include \"folder/name.h\""));
            }
            names.push((*name, *contents));
        }
        let depth = names.iter().map(|(name, _)| climb(name)).max().unwrap_or(0);
        let folder = (0..depth).fold(root.join("program"), |path, _| path.join("d"));
        let place = |name: &str| lexically(&folder, name);
        let mut name = own_name(source.name);
        while names.iter().any(|(n, _)| place(n) == place(&name)) {
            name = format!("source/{name}");
        }
        let mut files: Vec<_> = names.iter().map(|(n, contents)| (place(n), *contents)).collect();
        files.push((place(&name), source.text));
        Ok(Layout { name, files, folder })
    }
}

/// The name of a source as a path below a folder.
fn own_name(name: &str) -> String {
    let parts: Vec<&str> = name.split('/').filter(|p| !["", ".", ".."].contains(p)).collect();
    let name = parts.join("/").replace('\0', "");
    if name.is_empty() { "program.cl".into() } else { name }
}

/// How many folders above its start a path leads.
fn climb(name: &str) -> usize {
    let (mut depth, mut lowest) = (0i64, 0i64);
    for part in Path::new(name).components() {
        depth += match part {
            Component::ParentDir => -1,
            Component::Normal(_) => 1,
            _ => 0,
        };
        lowest = lowest.min(depth);
    }
    lowest.unsigned_abs() as usize
}

/// A path from a folder, without `..`.
fn lexically(folder: &Path, name: &str) -> PathBuf {
    let mut path = folder.to_path_buf();
    for part in Path::new(name).components() {
        match part {
            Component::ParentDir => _ = path.pop(),
            Component::Normal(n) => path.push(n),
            _ => {}
        }
    }
    path
}

/// Options that name folders, or files that are looked for in folders.
const FOLDERS: [&str; 4] = ["-isystem", "-iquote", "-idirafter", "-I"];
const FILES: [&str; 2] = ["-include", "-imacros"];

/// Options as they are meant in a folder, for a clang that runs in another one.
fn from_folder(args: &[String], here: &Path) -> Vec<String> {
    let folder = |path: &str| here.join(path).display().to_string();
    let file = |path: &str| if here.join(path).is_file() { folder(path) } else { path.to_string() };
    let mut result: Vec<String> = Vec::new();
    for word in args {
        let previous = result.last().map(String::as_str).unwrap_or_default();
        let joined = FOLDERS.iter().find_map(|option| Some((option, word.strip_prefix(option).filter(|p| !p.is_empty())?)));
        result.push(match joined {
            _ if FOLDERS.contains(&previous) => folder(word),
            _ if FILES.contains(&previous) => file(word),
            Some((option, path)) => format!("{option}{}", folder(path)),
            None => word.clone(),
        });
    }
    result
}

/// What clang's failure means.
fn failure(log: String, crashed: bool) -> FrontendError {
    const OPTION: [&str; 5] =
        ["unknown argument", "unsupported argument", "unsupported option", "invalid value", "argument to '"];
    if crashed || log.contains("PLEASE submit a bug report") {
        return FrontendError::Crash(log);
    }
    // Errors of clang's command line have no place.
    let refused = |line: &&str| {
        let message = line.strip_prefix("clang").and_then(|l| l.split_once(": ").map(|(_, m)| m)).unwrap_or(line);
        message.strip_prefix("error: ").is_some_and(|m| OPTION.iter().any(|start| m.starts_with(start)))
    };
    match log.lines().find(refused) {
        Some(line) => FrontendError::Option(line.split_once("error: ").map_or(line, |(_, m)| m).into()),
        None => FrontendError::Program { log },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::library;

    fn compile(text: &str, headers: &[(&str, &[u8])], args: &[&str]) -> Result<Compiled, FrontendError> {
        let source = Source { name: "p.cl", text: text.as_bytes(), headers };
        let options = FrontendOptions { clang_args: args.iter().map(|a| (*a).into()).collect(), ..Default::default() };
        compile_source(&source, &options, false)
    }

    fn log(result: Result<Compiled, FrontendError>) -> String {
        match result {
            Err(FrontendError::Program { log }) => log,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn embedded_headers_are_found_by_their_names() {
        let headers: [(&str, &[u8]); 3] = [
            ("a/b.h", b"#include \"c.h\"\n#include <../../up.h>\n"),
            ("a/c.h", b"#define C 1\n"),
            ("../../up.h", b"#define UP 2\n"),
        ];
        let text =
            "#include \"a/b.h\"\n#include <a/c.h>\n#include \"../../up.h\"\n__kernel void k(__global int *p) { *p = C + UP; }\n";
        let compiled = compile(text, &headers, &[]).unwrap();
        assert_eq!(compiled.log, "");
        let own = |f: &PathBuf| f.starts_with(std::env::temp_dir());
        assert!(!compiled.files.iter().any(own), "{:?}", compiled.files);
        assert!(matches!(compile(text, &[("/a.h", b"")], &[]), Err(FrontendError::Input { .. })));
    }

    #[test]
    fn messages_name_the_program_and_its_headers_and_no_folder() {
        let temporary = std::env::temp_dir().display().to_string();
        let text = log(compile("#include \"h.h\"\nkernel void k() { return x; }", &[("h.h", b"#warning yes\n")], &[]));
        assert!(text.contains("h.h:1:2: warning: yes") && text.contains("p.cl:2:26: error: use of undeclared"), "{text}");
        assert!(!text.contains(&temporary), "{text}");
        let compiled = compile("kernel void k() { int unused; }", &[], &["-Wall"]).unwrap();
        assert!(compiled.log.starts_with("p.cl:1:23: warning: unused variable 'unused'"), "{}", compiled.log);
    }

    #[test]
    fn the_same_program_gives_the_same_bytes() {
        let text = "#include \"h.h\"\nkernel void k(global int *p) { p[0] = f(p[1]); printf(__FILE__); }";
        let make = || compile(text, &[("h.h", b"int f(int x) { return x + 1; }\n")], &["-g"]).unwrap().bitcode;
        let first = make();
        assert_eq!(first, make());
        let folder = std::env::temp_dir().display().to_string().into_bytes();
        assert!(!first.windows(folder.len()).any(|w| w == folder));
    }

    #[test]
    fn names_that_macros_make_are_found_in_the_library() {
        let text = "#define C(a, b) a##b\nkernel void k(global int *p) { *p = C(conv, ert_int_rte)(C(sq, rt)((float)*p)); }";
        assert_eq!(clang::part_for(text.as_bytes(), &[], Language::OpenClC, &FrontendOptions::default()), library::Part::NOTHING);
        let compiled = compile(text, &[], &["-Wall"]).unwrap();
        assert!(library::Part::NOTHING.suffices(&compiled.bitcode));
        assert_eq!(compiled.log, "");
        let part = |text: &str, headers: &[(&str, &[u8])]| {
            clang::part_for(text.as_bytes(), headers, Language::OpenClC, &FrontendOptions::default())
        };
        assert_eq!(part(" # include <a.h>\n", &[]), library::Part::WHOLE);
        assert_eq!(part("#include \"a.h\"\n", &[("a.h", b"sqrt")]), library::Part::CORE);
        assert_eq!(part("#include \"a.h\"\n", &[("a.h", b"#include MACRO\n")]), library::Part::WHOLE);
    }

    #[test]
    fn files_that_options_name_are_found_and_listed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("with space.h");
        fs::write(&path, "#define N 3\n").unwrap();
        let arg = format!("-I{}", folder.path().display());
        let compiled = compile("#include \"with space.h\"\nkernel void k(global int *p) { *p = N; }", &[], &[&arg]).unwrap();
        assert!(compiled.files.contains(&path), "{:?}", compiled.files);
    }

    #[test]
    fn options_that_clang_refuses_are_no_errors_of_the_program() {
        for bad in ["-fno-such-thing", "-cl-std=CL9", "-ffp-contract=perhaps"] {
            let result = compile("kernel void k() {}", &[], &[bad]);
            assert!(matches!(&result, Err(FrontendError::Option(m)) if !m.contains("clang")), "{bad}: {result:?}");
        }
    }

    /// A program that clang would preprocess for ever.
    #[test]
    fn clang_ends_when_nobody_wants_the_program_any_more() {
        let text = "#define A(x) x x x x x x x x\n#define B(x) A(A(A(A(x))))\nkernel void k(global int *p) { B(B(B(*p += 1;))) }";
        let source = Source { name: "p.cl", text: text.as_bytes(), headers: &[] };
        let started = std::time::Instant::now();
        let stop = crate::Stop::when(move || started.elapsed().as_millis() > 50);
        let options = FrontendOptions { stop: Some(stop), ..Default::default() };
        let result = compile_source(&source, &options, false);
        assert!(matches!(result, Err(FrontendError::Interrupted)), "{result:?}");
        let never = FrontendOptions { stop: Some(crate::Stop::when(|| false)), ..Default::default() };
        let source = Source { text: b"kernel void k() {}", ..source };
        assert!(compile_source(&source, &never, false).is_ok());
    }

    #[test]
    fn relative_folders_are_those_of_the_process() {
        let args: Vec<String> = ["-I", "a", "-Ib", "-isystemc", "-include", "no.h", "-DI"].map(String::from).into();
        let moved = from_folder(&args, Path::new("/w"));
        assert_eq!(moved, ["-I", "/w/a", "-I/w/b", "-isystem/w/c", "-include", "no.h", "-DI"]);
    }

    #[test]
    fn names_become_paths_below_a_folder() {
        assert_eq!(own_name("../../etc/x.cl"), "etc/x.cl");
        assert_eq!(own_name(""), "program.cl");
        assert_eq!(climb("../a/../../b"), 2);
        assert_eq!(lexically(Path::new("/r/p"), "../x/./y.h"), Path::new("/r/x/y.h"));
    }

    #[test]
    fn what_no_kernel_calls_is_left_out() {
        let text = "int unused(int x) { return x * 3; }\nint used(int x) { return x + 5; }\n\
                    kernel void k(global int *a) { a[get_global_id(0)] = used(a[0]); }\n";
        let compiled = |text: &str, whole_program: bool| {
            let source = Source { name: "p.cl", text: text.as_bytes(), headers: &[] };
            let options = FrontendOptions { whole_program, ..Default::default() };
            compile_source(&source, &options, false).unwrap()
        };
        let bodies = |bitcode: &[u8]| {
            let context = inkwell::context::Context::create();
            let buffer = inkwell::memory_buffer::MemoryBuffer::create_from_memory_range_copy(bitcode, "p.cl");
            let module = context.create_module_from_ir(buffer).unwrap();
            let bodies = module.get_functions().filter(|f| f.count_basic_blocks() > 0);
            bodies.map(|f| f.get_name().to_string_lossy().into_owned()).collect::<Vec<_>>()
        };
        let large = format!("{text}// {}\n", "-".repeat(1 << 16));
        assert_eq!(bodies(&compiled(&large, true).bitcode), ["k"]);
        // Others may call them, or there is too little to gain.
        assert_eq!(bodies(&compiled(text, true).bitcode), ["unused", "used", "k"]);
        assert_eq!(compiled(text, false).passes_left, None);
        let unit = compiled(&large, false);
        assert_eq!(
            (bodies(&unit.bitcode), unit.passes_left),
            (vec!["unused".into(), "used".into(), "k".into()], Some(Vec::new()))
        );
        // Linked, nobody else calls them.
        let other = compiled("int used(int x); kernel void l(global int *a) { a[1] = used(7); }", false);
        let parts = [&unit.bitcode, &other.bitcode].map(|bytes| crate::Bitcode { name: "p.cl", bytes });
        assert_eq!(bodies(&crate::link_whole(&parts, &FrontendOptions::default()).unwrap()), ["k", "l"]);
    }
}
