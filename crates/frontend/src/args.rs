//! A clang-like command line, so that `heddle build` can stand where `clang` stood in a Makefile or a CMake
//! build.
//!
//! Heddle's own options are long options; they may stand anywhere on the line and are taken out first by the
//! command-line layer. What remains is read here as clang would read it: options clang should see are passed
//! on, the ones that say what to do with the result are interpreted.

use std::path::PathBuf;

use crate::spirv::{SpecValue, parse_spec};

/// Optimisation level.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OptLevel {
    /// None.
    O0,
    /// Some.
    O1,
    /// clang's usual one.
    #[default]
    O2,
    /// All.
    O3,
    /// For size.
    Os,
    /// For size above all.
    Oz,
}

impl OptLevel {
    /// clang's option.
    pub fn flag(self) -> &'static str {
        match self {
            OptLevel::O0 => "-O0",
            OptLevel::O1 => "-O1",
            OptLevel::O2 => "-O2",
            OptLevel::O3 => "-O3",
            OptLevel::Os => "-Os",
            OptLevel::Oz => "-Oz",
        }
    }
}

/// What a clang-like command line asks for.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BuildInvocation {
    /// Sources.
    pub inputs: Vec<PathBuf>,
    /// `-o`.
    pub output: Option<PathBuf>,
    /// Optimisation level.
    pub opt: OptLevel,
    /// What clang gets.
    pub clang_args: Vec<String>,
    /// `-E`: preprocess only.
    pub preprocess: bool,
    /// `-fsyntax-only`.
    pub syntax_only: bool,
    /// `-S`: assembly text instead of an object.
    pub assembly: bool,
    /// `--spec ID=VALUE`: values of specialisation constants of SPIR-V.
    pub spec_constants: Vec<(u32, SpecValue)>,
    /// `-v` or `-###`-like verbosity.
    pub verbose: bool,
}

/// Options that take their value as the next word.
const WITH_VALUE: &[&str] =
    &["-D", "-U", "-I", "-include", "-isystem", "-iquote", "-idirafter", "-MF", "-MT", "-MQ", "-Xclang", "-mllvm", "-imacros"];
/// Standard build options of OpenCL that only allow what this device has no use for: it keeps denormals in
/// any case, sub-groups need no promise of progress, and clang always takes types as distinct.
const IGNORED: &[&str] = &["-cl-denorms-are-zero", "-cl-no-subgroup-ifp", "-cl-strict-aliasing"];
/// Options about targets, linking and code generation for hosts, accepted and without meaning here; with a
/// value as the next word.
const IGNORED_WITH_VALUE: &[&str] = &["-target", "-arch", "-L", "-l", "-Xlinker", "-march", "-mcpu"];

/// What options start with that clang gets as they are.
const PASSED_ON: [&str; 18] = [
    "-D",
    "-U",
    "-I",
    "-W",
    "-f",
    "-m",
    "-g",
    "-cl-",
    "-std=",
    "-M",
    "-w",
    "-pedantic",
    "-isystem",
    "-include",
    "-iquote",
    "-nostd",
    "-H",
    "-R",
];
/// What options start with that have their value in the same word and no meaning here.
const IGNORED_STARTS: [&str; 5] = ["--target=", "-march=", "-mcpu=", "-L", "-l"];

/// Whether the word after this option is its value.
pub fn takes_value(option: &str) -> bool {
    ["-o", "--spec", "-x"].contains(&option) || WITH_VALUE.contains(&option) || IGNORED_WITH_VALUE.contains(&option)
}

/// Whether a word is an option for the compilation of a source whose output nobody sees: one for clang or a
/// level of optimisation, but none that asks for another output (`-E`, `-o`, `-MD` …).
pub fn is_compilation_option(word: &str) -> bool {
    let passed = WITH_VALUE.contains(&word) || IGNORED.contains(&word) || PASSED_ON.iter().any(|p| word.starts_with(p));
    let other_output = word == "-fsyntax-only" || word.starts_with("-M");
    (passed || word.starts_with("-O") || word == "-v" || word == "--spec" || word.starts_with("--spec=")) && !other_output
}

/// Reads a clang-like command line.
///
/// # Errors
/// A sentence that says what is wrong, for a message with exit status 2.
pub fn parse_clang_style(args: &[String]) -> Result<BuildInvocation, String> {
    let mut reader = Reader::of(args)?;
    if reader.line.inputs.is_empty() {
        return Err(
            "no input file; give a source (.cl, .clcpp, .cu, .hip), SPIR-V (.spv, .spvasm), LLVM IR (.ll) or bitcode (.bc)"
                .into(),
        );
    }
    reader.check_language()?;
    reader.name_dependencies();
    Ok(reader.line)
}

/// Reads options for a source that is no file: what they say of inputs and outputs is left to the caller.
///
/// # Errors
/// As [`parse_clang_style`].
pub fn parse_options(args: &[String]) -> Result<BuildInvocation, String> {
    Reader::of(args).map(|reader| reader.line)
}

/// A command line while it is read.
#[derive(Default)]
struct Reader {
    line: BuildInvocation,
    /// Whether a rule for make is asked for, and whether its file and its target are named.
    dependencies: bool,
    dependency_file: bool,
    dependency_target: bool,
    /// The language of `-x`.
    language: Option<String>,
}

impl Reader {
    /// Reads all words.
    fn of(args: &[String]) -> Result<Reader, String> {
        let mut reader = Reader::default();
        let mut words = args.iter();
        while let Some(word) = words.next() {
            reader.read(word, &mut words)?;
        }
        Ok(reader)
    }

    /// Reads a word, with the next one if it has its value there.
    fn read(&mut self, word: &str, words: &mut std::slice::Iter<String>) -> Result<(), String> {
        if let Some(opt) = optimisation(word) {
            self.line.opt = opt;
            if word == "-Ofast" {
                self.pass_on("-cl-fast-relaxed-math");
            }
            return Ok(());
        }
        let value = |words: &mut std::slice::Iter<String>| words.next().cloned().ok_or_else(|| format!("{word} needs a value"));
        match word {
            "-o" => self.line.output = Some(value(words)?.into()),
            "-c" | "-emit-llvm" | "-pipe" | "-pthread" => {}
            "-S" => self.line.assembly = true,
            "-E" => self.line.preprocess = true,
            "-fsyntax-only" => self.line.syntax_only = true,
            "--spec" => self.line.spec_constants.push(parse_spec(&value(words)?)?),
            "-v" => self.line.verbose = true,
            "--" => self.line.inputs.extend(words.map(PathBuf::from)),
            "-MD" | "-MMD" => {
                self.dependencies = true;
                self.pass_on(word);
            }
            "-M" | "-MM" => {
                self.line.preprocess = true;
                self.pass_on(word);
            }
            w if WITH_VALUE.contains(&w) => {
                let v = value(words)?;
                self.dependency_file |= w == "-MF";
                self.dependency_target |= w == "-MT" || w == "-MQ";
                self.pass_on(word);
                self.pass_on(&v);
            }
            "-x" => self.language = Some(value(words)?),
            w if IGNORED_WITH_VALUE.contains(&w) => _ = value(words)?,
            w if IGNORED_STARTS.iter().any(|start| w.starts_with(start)) || IGNORED.contains(&w) => {}
            w if w.starts_with("--spec=") => self.line.spec_constants.push(parse_spec(&w["--spec=".len()..])?),
            w if w.starts_with("-o") => self.line.output = Some(PathBuf::from(&w[2..])),
            w if w.len() > 1 && w.starts_with('-') => {
                if !PASSED_ON.iter().any(|start| w.starts_with(start)) {
                    let known = PASSED_ON.join(" ");
                    return Err(format!("unknown option `{w}`; options of clang that Heddle passes on start with {known}"));
                }
                self.dependency_file |= w.starts_with("-MF");
                self.dependency_target |= w.starts_with("-MT") || w.starts_with("-MQ");
                self.pass_on(word);
            }
            _ => self.line.inputs.push(PathBuf::from(word)),
        }
        Ok(())
    }

    /// Languages go by the ends of names: `-x` may say the same, as build systems do, and nothing else.
    fn check_language(&self) -> Result<(), String> {
        let Some(word) = self.language.as_deref().filter(|l| !["none", "ir"].contains(l)) else { return Ok(()) };
        // As `Language::of` has them, which takes anything else for OpenCL C.
        const ENDS: [(&str, &[&str]); 4] =
            [("clcpp", &["clcpp"]), ("cuda", &["cu"]), ("hip", &["hip", "cpp", "cc", "cxx"]), ("SPIR-V", &["spv", "spvasm"])];
        let of_name = |path: &PathBuf| {
            let end = path.extension().and_then(|e| e.to_str()).unwrap_or_default();
            ENDS.iter().find(|(_, ends)| ends.contains(&end)).map_or("cl", |(language, _)| language)
        };
        let end = match word {
            "cl" => "cl",
            "clcpp" | "cuda" | "hip" => ENDS.iter().find(|(language, _)| *language == word).map_or("", |(_, ends)| ends[0]),
            _ => return Err(format!("-x {word}: no language that Heddle compiles; give cl, clcpp, cuda or hip")),
        };
        match self.line.inputs.iter().find(|i| of_name(i) != word) {
            Some(input) => {
                let (name, is) = (input.display(), of_name(input));
                Err(format!("-x {word}: {name} is {is} by the end of its name; give it the end .{end}"))
            }
            None => Ok(()),
        }
    }

    fn pass_on(&mut self, word: &str) {
        self.line.clang_args.push(word.to_string());
    }

    /// Names the target and the file of the rule for make: clang's own -o is a temporary file, and the rule
    /// must name what the user builds.
    fn name_dependencies(&mut self) {
        if !self.dependencies {
            return;
        }
        let object = object_name(&self.line);
        if !self.dependency_target {
            self.line.clang_args.extend(["-MT".to_string(), object.display().to_string()]);
        }
        if !self.dependency_file {
            self.line.clang_args.extend(["-MF".to_string(), object.with_extension("d").display().to_string()]);
        }
    }
}

/// The optimisation level that an option asks for.
fn optimisation(word: &str) -> Option<OptLevel> {
    Some(match word {
        "-O0" | "-cl-opt-disable" => OptLevel::O0,
        "-O1" => OptLevel::O1,
        "-O2" | "-O" => OptLevel::O2,
        "-O3" | "-O4" | "-Ofast" => OptLevel::O3,
        "-Os" => OptLevel::Os,
        "-Oz" => OptLevel::Oz,
        _ => return None,
    })
}

/// The output of an invocation: `-o`, or the first input with the extension `.o` (`.s` with `-S`) in the
/// current folder.
pub fn object_name(invocation: &BuildInvocation) -> PathBuf {
    invocation.output.clone().unwrap_or_else(|| {
        let stem = invocation.inputs[0].file_stem().map_or_else(|| "kernel".into(), |s| s.to_os_string());
        PathBuf::from(stem).with_extension(if invocation.assembly { "s" } else { "o" })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<BuildInvocation, String> {
        parse_clang_style(&line.split_whitespace().map(String::from).collect::<Vec<_>>())
    }

    #[test]
    fn a_makefile_line_is_understood() {
        let b = parse("-c -O3 -DN=4 -I include -cl-fast-relaxed-math -g -MD -Wall k.cl -o out/k.o").unwrap();
        assert_eq!(b.inputs, [PathBuf::from("k.cl")]);
        assert_eq!(b.output, Some("out/k.o".into()));
        assert_eq!(b.opt, OptLevel::O3);
        assert!(b.clang_args.join(" ").contains("-MD -Wall -MT out/k.o -MF out/k.d"), "{:?}", b.clang_args);
    }

    #[test]
    fn standard_build_options_are_accepted() {
        let b = parse(
            "-D A -DB=1 -I inc -cl-single-precision-constant -cl-denorms-are-zero -cl-fp32-correctly-rounded-divide-sqrt \
             -cl-opt-disable -cl-strict-aliasing -cl-mad-enable -cl-no-signed-zeros -cl-unsafe-math-optimizations \
             -cl-finite-math-only -cl-fast-relaxed-math -cl-uniform-work-group-size -cl-no-subgroup-ifp -w -Werror \
             -cl-std=CL1.2 -cl-kernel-arg-info -g k.cl",
        )
        .unwrap();
        assert_eq!(b.opt, OptLevel::O0);
        assert!(!b.clang_args.iter().any(|a| IGNORED.contains(&a.as_str()) || a == "-cl-opt-disable"), "{:?}", b.clang_args);
        assert!(b.clang_args.iter().any(|a| a == "-cl-uniform-work-group-size"), "{:?}", b.clang_args);
    }

    #[test]
    fn options_of_a_compilation_ask_for_no_output() {
        for option in ["-DN=4", "-D", "-I", "-O3", "-cl-fast-relaxed-math", "-Wall", "-mllvm", "-g", "-cl-strict-aliasing"] {
            assert!(is_compilation_option(option), "{option}");
        }
        for word in ["-o", "-c", "-S", "-E", "-MD", "-MF", "-fsyntax-only", "-q", "k.cl", "--option=-DN", "-x", "-"] {
            assert!(!is_compilation_option(word), "{word}");
        }
        assert!(takes_value("-D") && takes_value("-o") && !takes_value("-DN"));
    }

    #[test]
    fn a_language_that_is_not_the_files_is_an_error() {
        for fine in ["-x cl k.cl", "k.cu -x cuda", "-x none k.cl", "-x ir k.ll", "-x hip k.cpp"] {
            assert!(parse(fine).is_ok(), "{fine}");
        }
        let message = |words: &str| parse(words).unwrap_err();
        assert_eq!(message("-x hip k.cl"), "-x hip: k.cl is cl by the end of its name; give it the end .hip");
        assert!(message("-x c k.c").contains("give cl, clcpp, cuda or hip") && message("k.cl -x").contains("-x"));
    }

    #[test]
    fn specialisation_constants_are_taken_out() {
        let b = parse("--spec 3=16 k.spv --spec=4=-2.5").unwrap();
        let text = |t: &str| SpecValue::Text(t.into());
        assert_eq!(b.spec_constants, [(3, text("16")), (4, text("-2.5"))]);
        assert_eq!(b.inputs, [PathBuf::from("k.spv")]);
        for bad in ["--spec", "--spec=", "--spec=3", "--spec=x=1", "--spec=3="] {
            assert!(parse(&format!("k.spv {bad}")).unwrap_err().contains("--spec"), "{bad}");
        }
        assert!(is_compilation_option("--spec") && is_compilation_option("--spec=1=2") && takes_value("--spec"));
    }

    #[test]
    fn bad_lines_are_refused() {
        assert!(parse("-c").unwrap_err().contains("no input"));
        assert!(parse("k.cl -o").unwrap_err().contains("needs a value"));
        assert!(parse("--frobnicate k.cl").unwrap_err().contains("unknown option"));
    }
}
