//! Option strings of `clBuildProgram`, `clCompileProgram` and `clLinkProgram`: words, what is known, and what
//! the compiler is told.

use heddle_frontend::args::parse_options;
use heddle_frontend::spirv::SpecValue;
use heddle_frontend::{Diagnostics, FrontendOptions, Stop};

/// The language version of programs that ask for none: the highest OpenCL C 1.x, as the specification of
/// `-cl-std=` says.
pub const DEFAULT_STANDARD: &str = "CL1.2";

/// Options that cannot be used: the host is told so apart from programs that do not compile.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct InvalidOptions(pub String);

/// The language versions that `-cl-std=` takes, in lower case.
const STANDARDS: [&str; 9] = ["cl", "cl1.0", "cl1.1", "cl1.2", "cl2.0", "cl3.0", "clc++", "clc++1.0", "clc++2021"];

/// Options that are one word, for compiling only.
const PLAIN: [&str; 20] = [
    "-cl-single-precision-constant",
    "-cl-fp32-correctly-rounded-divide-sqrt",
    "-cl-opt-disable",
    "-cl-strict-aliasing",
    "-cl-mad-enable",
    "-cl-uniform-work-group-size",
    "-cl-kernel-arg-info",
    "-w",
    "-g",
    "-O",
    "-O0",
    "-O1",
    "-O2",
    "-O3",
    "-Os",
    "-Oz",
    "-ffast-math",
    "-funroll-loops",
    "-fno-unroll-loops",
    "-pedantic",
];

/// Options that the specification has for linking, too.
const LINK: [&str; 6] = [
    "-cl-denorms-are-zero",
    "-cl-no-signed-zeros",
    "-cl-unsafe-math-optimizations",
    "-cl-finite-math-only",
    "-cl-fast-relaxed-math",
    "-cl-no-subgroup-ifp",
];

/// What options start with that have more behind it in the same word.
const STARTS: [&str; 4] = ["-W", "-ffp-contract=", "-ferror-limit=", "-fmacro-backtrace-limit="];

/// Options with a folder or a file, in the next word or, of the first four, in the same.
const PATHS: [&str; 6] = ["-I", "-isystem", "-iquote", "-idirafter", "-include", "-imacros"];

/// Splits an option string into words as a shell does: at white space, which quotes and backslashes protect.
///
/// # Errors
/// A quote that is not closed.
pub fn split(text: &str) -> Result<Vec<String>, InvalidOptions> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut characters = text.trim_end_matches('\0').chars().peekable();
    while let Some(c) = characters.next() {
        let escapes = |next: &char| match quote {
            None => true,
            Some('"') => ['"', '\\'].contains(next),
            _ => false,
        };
        if c == '\\' && characters.peek().is_some_and(escapes) {
            word.get_or_insert_default().extend(characters.next());
        } else if quote == Some(c) {
            quote = None;
        } else if quote.is_none() && (c == '"' || c == '\'') {
            quote = Some(c);
            word.get_or_insert_default();
        } else if quote.is_none() && c.is_whitespace() {
            words.extend(word.take());
        } else {
            word.get_or_insert_default().push(c);
        }
    }
    if let Some(quote) = quote {
        return Err(InvalidOptions(format!("the options have a {quote} that is not closed")));
    }
    words.extend(word);
    Ok(words)
}

/// How to compile a program.
#[derive(Clone, Debug)]
pub struct BuildOptions {
    frontend: FrontendOptions,
}

impl Default for BuildOptions {
    /// Those of an empty string.
    fn default() -> Self {
        BuildOptions::of(&[format!("-cl-std={DEFAULT_STANDARD}")]).unwrap_or_else(|_| BuildOptions { frontend: quiet() })
    }
}

/// Options of the front end that print nothing.
pub(super) fn quiet() -> FrontendOptions {
    FrontendOptions { diagnostics: Diagnostics::Keep, ..Default::default() }
}

impl BuildOptions {
    /// Reads the option string of `clBuildProgram` or `clCompileProgram`.
    ///
    /// # Errors
    /// A sentence about the first option that is unknown, or lacks its value.
    pub fn parse(text: &str) -> Result<BuildOptions, InvalidOptions> {
        let mut words = split(text)?;
        check(&words)?;
        if !words.iter().any(|w| w.starts_with("-cl-std=")) {
            words.push(format!("-cl-std={DEFAULT_STANDARD}"));
        }
        BuildOptions::of(&words)
    }

    /// As `heddle build` and `heddle run` take clang's options: any that clang knows, and its own default for the language
    /// version.
    ///
    /// # Errors
    /// A sentence about an option that is none, or a word that is none.
    pub fn of(words: &[String]) -> Result<BuildOptions, InvalidOptions> {
        let line = parse_options(words).map_err(InvalidOptions)?;
        let (clang_args, spec_constants) = (line.clang_args, line.spec_constants);
        Ok(BuildOptions { frontend: FrontendOptions { clang_args, spec_constants, opt: line.opt, ..quiet() } })
    }

    /// As words that `heddle build` takes, from any folder.
    pub fn words(&self) -> Vec<String> {
        let absolute = |folder: &str| std::path::absolute(folder).map_or_else(|_| folder.into(), |p| p.display().to_string());
        let mut words = vec![self.frontend.opt.flag().to_string()];
        let mut is_folder = false;
        for word in &self.frontend.clang_args {
            let joined = PATHS[..4].iter().find(|o| word.len() > o.len() && word.starts_with(**o));
            words.push(match joined {
                _ if is_folder => absolute(word),
                Some(option) => format!("{option}{}", absolute(&word[option.len()..])),
                None => word.clone(),
            });
            is_folder = PATHS[..4].contains(&word.as_str());
        }
        words.extend(self.frontend.spec_constants.iter().filter_map(|(id, value)| match value {
            SpecValue::Text(text) => Some(format!("--spec={id}={text}")),
            SpecValue::Bytes(_) => None,
        }));
        words
    }

    /// The same for a program of CUDA or HIP of which these instances of templates are compiled, although its source uses
    /// them nowhere: `scale<float>`.
    #[must_use]
    pub fn with_instances(mut self, kernels: impl IntoIterator<Item = String>) -> BuildOptions {
        self.frontend.kernels.extend(kernels);
        self
    }

    /// The same with values for specialisation constants of SPIR-V.
    #[must_use]
    pub fn specialised(mut self, constants: impl IntoIterator<Item = (u32, SpecValue)>) -> BuildOptions {
        self.frontend.spec_constants.extend(constants);
        self
    }

    /// The same for a program that may not be wanted any more: clang ends once `stop` is requested, and the build fails.
    #[must_use]
    pub fn stopped_by(mut self, stop: Stop) -> BuildOptions {
        self.frontend.stop = Some(stop);
        self
    }

    /// As the front end takes them.
    pub fn frontend(&self) -> &FrontendOptions {
        &self.frontend
    }

    /// The folders that `-I` and its relatives name, in order.
    pub(super) fn folders(&self) -> Vec<&str> {
        let mut result = Vec::new();
        let mut words = self.frontend.clang_args.iter();
        while let Some(word) = words.next() {
            for option in &PATHS[..4] {
                match word.strip_prefix(option) {
                    Some("") => result.extend(words.next().map(String::as_str)),
                    Some(path) => result.push(path),
                    None => continue,
                }
                break;
            }
        }
        result
    }
}

/// How to link programs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LinkOptions {
    /// Make a library that can be linked further, not a program with kernels.
    pub create_library: bool,
}

impl LinkOptions {
    /// Reads the option string of `clLinkProgram`. Options about floating point allow a device to be less
    /// exact; what they allow is said in the code of the parts already, so they change nothing here.
    ///
    /// # Errors
    /// A sentence about the first option that is unknown, or does not go with the others.
    pub fn parse(text: &str) -> Result<LinkOptions, InvalidOptions> {
        let words = split(text)?;
        let has = |option: &str| words.iter().any(|w| w == option);
        let known = |w: &&String| ["-create-library", "-enable-link-options"].contains(&w.as_str()) || LINK.contains(&w.as_str());
        if let Some(unknown) = words.iter().find(|w| !known(w)) {
            return Err(InvalidOptions(format!("unknown link option `{unknown}`")));
        }
        if has("-enable-link-options") && !has("-create-library") {
            return Err(InvalidOptions("-enable-link-options goes only with -create-library".into()));
        }
        Ok(LinkOptions { create_library: has("-create-library") })
    }
}

/// Whether all words are options that programs may be compiled with.
fn check(words: &[String]) -> Result<(), InvalidOptions> {
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let word = word.as_str();
        let mut value = || words.next().ok_or_else(|| InvalidOptions(format!("{word} needs a value")));
        let macro_of = |definition: &str| definition.split(['=', '(']).next().unwrap_or_default().to_string();
        if let Some(rest) = word.strip_prefix("-D").or_else(|| word.strip_prefix("-U")) {
            let name = if rest.is_empty() { macro_of(value()?) } else { macro_of(rest) };
            let good = |(i, c): (usize, char)| c == '_' || c == '$' || c.is_alphabetic() || i > 0 && c.is_ascii_digit();
            if name.is_empty() || !name.char_indices().all(good) {
                return Err(InvalidOptions(format!("{}: `{name}` is no name of a macro", &word[..2])));
            }
        } else if PATHS.contains(&word) {
            value()?;
        } else if let Some(standard) = word.strip_prefix("-cl-std=") {
            if !STANDARDS.contains(&standard.to_ascii_lowercase().as_str()) {
                let known = "CL1.0, CL1.1, CL1.2, CL2.0, CL3.0 and CLC++";
                return Err(InvalidOptions(format!("-cl-std={standard}: the versions are {known}")));
            }
        } else if word == "-x" {
            let language = value()?;
            if !language.eq_ignore_ascii_case("cl") {
                return Err(InvalidOptions(format!("-x {language}: programs are OpenCL C (-x cl)")));
            }
        } else {
            let path = PATHS[..4].iter().any(|p| word.starts_with(p));
            let start = STARTS.iter().any(|s| word.starts_with(s));
            if !path && !start && !PLAIN.contains(&word) && !LINK.contains(&word) {
                let what = if word.starts_with('-') { "unknown option" } else { "this is no option:" };
                return Err(InvalidOptions(format!("{what} `{word}`")));
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use heddle_frontend::OptLevel;

    use super::*;

    #[test]
    fn words_are_those_of_a_shell() {
        let words = |text: &str| split(text).unwrap();
        assert_eq!(words(""), [""; 0]);
        assert_eq!(words("  -w\t-g\n\0"), ["-w", "-g"]);
        assert_eq!(words(r#"-D "A=b c" -DS='x "y"' -I"a b"/c ''"#), ["-D", "A=b c", "-DS=x \"y\"", "-Ia b/c", ""]);
        assert_eq!(words(r#"-DS=\"text\" -DT="a\"b\n" -I a\ b"#), ["-DS=\"text\"", "-DT=a\"b\\n", "-I", "a b"]);
        assert_eq!(words("-DA=#1 #b \\"), ["-DA=#1", "#b", "\\"]);
        assert!(split("-DA='x").unwrap_err().0.contains("not closed"));
    }

    #[test]
    fn standard_options_are_known() {
        let text = "-D A -D B=1 -DF(x)=x -U C -I inc -Iother -cl-single-precision-constant -cl-denorms-are-zero \
                    -cl-fp32-correctly-rounded-divide-sqrt -cl-opt-disable -cl-strict-aliasing -cl-mad-enable \
                    -cl-no-signed-zeros -cl-unsafe-math-optimizations -cl-finite-math-only -cl-fast-relaxed-math \
                    -cl-uniform-work-group-size -cl-no-subgroup-ifp -w -Werror -Wall -cl-std=CL2.0 -cl-kernel-arg-info -g -x cl";
        let options = BuildOptions::parse(text).unwrap();
        assert_eq!(options.frontend.opt, OptLevel::O0);
        assert_eq!(options.folders(), ["inc", "other"]);
        let args = options.frontend.clang_args.join(" ");
        assert!(args.contains("-D A -D B=1") && args.contains("-cl-std=CL2.0") && !args.contains("CL1.2"), "{args}");
    }

    #[test]
    fn a_program_that_asks_for_no_version_is_of_1_2() {
        for options in [BuildOptions::parse("-w").unwrap(), BuildOptions::default()] {
            assert!(options.frontend.clang_args.iter().any(|a| a == "-cl-std=CL1.2"), "{options:?}");
        }
    }

    #[test]
    fn unknown_options_are_refused() {
        for bad in [
            "-frobnicate",
            "-cl-frobnicate",
            "k.cl",
            "-o k.o",
            "-E",
            "-MD",
            "-D",
            "-I",
            "-D 1A",
            "-D=1",
            "-cl-std=CL9.9",
            "-cl-std",
            "-x spir",
            "-fplugin=x.so",
            "-Xclang -load",
            "-mllvm -debug",
            "-create-library",
            "--",
            "-",
        ] {
            assert!(BuildOptions::parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn link_options() {
        assert_eq!(LinkOptions::parse("").unwrap(), LinkOptions::default());
        assert!(LinkOptions::parse("-create-library -enable-link-options -cl-fast-relaxed-math").unwrap().create_library);
        for bad in ["-enable-link-options", "-w", "-D A", "x", "-create-library '"] {
            assert!(LinkOptions::parse(bad).is_err(), "{bad}");
        }
    }
}
