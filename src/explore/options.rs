//! The options of `heddle run` as settings with a name and a value: `regfile = "single"`, `no-rename = true`.
//!
//! Names, values and messages are those of the command line: settings become its words and are parsed by the
//! same definition, so every option of code generation is one here.

use clap::{ArgAction, Args, CommandFactory, Parser};

use crate::driver::CompileOptions;
use crate::options::CodegenArgs;
use heddle_frontend::FrontendOptions;
use heddle_target::Machine;

/// What may differ between points besides the machine.
#[derive(Args, Clone, Debug, Default)]
struct Words {
    #[command(flatten)]
    codegen: CodegenArgs,
    /// Run-time scalarizer: most active lanes; 0 turns it off.
    #[arg(long, value_name = "LANES")]
    scalar_threshold: Option<u32>,
    /// Instructions a work-group may execute.
    #[arg(long, value_name = "N")]
    max_instructions: Option<u64>,
    /// More words for the compiler, after those of the case.
    #[arg(long, value_name = "WORDS", allow_hyphen_values = true)]
    source_options: Option<String>,
}

#[derive(Parser)]
#[command(no_binary_name = true, disable_help_flag = true)]
struct CommandLine {
    #[command(flatten)]
    words: Words,
}

/// The options of a point, ready to use.
#[derive(Clone, Debug, Default)]
pub struct PointOptions {
    words: Words,
    /// In a form that is the same for equal options.
    text: String,
}

/// The names of all options.
pub fn names() -> Vec<String> {
    let command = CommandLine::command();
    command.get_arguments().filter_map(|a| a.get_long().map(String::from)).collect()
}

/// Whether there is an option of this name.
pub fn is_option(name: &str) -> bool {
    names().iter().any(|n| n == name)
}

/// The word of the command line for a setting; `None` for a switch that is off and for `"default"`.
///
/// # Errors
/// A sentence: a switch takes true or false.
fn word(name: &str, value: &toml::Value) -> Result<Option<String>, String> {
    let command = CommandLine::command();
    let argument = command.get_arguments().find(|a| a.get_long() == Some(name));
    let Some(argument) = argument else { return Err(format!("there is no option `{name}`")) };
    if matches!(argument.get_action(), ArgAction::SetTrue) {
        return match value {
            toml::Value::Boolean(true) => Ok(Some(format!("--{name}"))),
            toml::Value::Boolean(false) => Ok(None),
            other => Err(format!("`{name}` is a switch: true or false, not {other}")),
        };
    }
    match value {
        toml::Value::String(s) if s == "default" => Ok(None),
        toml::Value::String(s) => Ok(Some(format!("--{name}={s}"))),
        toml::Value::Integer(i) => Ok(Some(format!("--{name}={i}"))),
        other => Err(format!("`{name}` takes a name, a number or \"default\", not {other}")),
    }
}

impl PointOptions {
    /// From settings; of several of one name the last counts.
    ///
    /// # Errors
    /// The command line's message, in one line.
    pub fn new<'a>(settings: impl IntoIterator<Item = (&'a str, &'a toml::Value)>) -> Result<PointOptions, String> {
        let mut words = std::collections::BTreeMap::new();
        for (name, value) in settings {
            words.insert(name, word(name, value)?);
        }
        let words: Vec<String> = words.into_values().flatten().collect();
        let text = words.join("\n");
        let parsed = CommandLine::try_parse_from(&words).map_err(|e| one_line(&e.to_string()))?;
        Ok(PointOptions { words: parsed.words, text })
    }

    /// Text that is equal for equal options.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Of [`Self::text`], what the compiler sees.
    pub fn compile_text(&self) -> String {
        let simulation = ["--scalar-threshold=", "--max-instructions="];
        let lines: Vec<&str> = self.text.lines().filter(|l| !simulation.iter().any(|s| l.starts_with(s))).collect();
        lines.join("\n")
    }

    /// Checks the options against a machine.
    ///
    /// # Errors
    /// A sentence.
    pub fn check(&self, machine: &Machine) -> Result<(), String> {
        self.words.codegen.check(machine).map_err(|f| f.to_string())?;
        match self.words.scalar_threshold.filter(|t| *t >= machine.warp_size) {
            Some(t) => Err(format!("scalar-threshold {t}: must be below the warp size, {}", machine.warp_size)),
            None => Ok(()),
        }
    }

    /// Words for the compiler beside those of the case.
    pub fn source_words(&self) -> Vec<String> {
        self.words.source_options.iter().flat_map(|s| s.split_whitespace()).map(String::from).collect()
    }

    /// The compiler's options.
    pub fn compile_options(&self, frontend: FrontendOptions) -> CompileOptions {
        self.words.codegen.options(frontend)
    }

    /// The simulator's options, for one host thread.
    pub fn simulation(&self) -> heddle_sim::Options {
        let mut options = heddle_sim::Options {
            threads: 1,
            scalar_threshold: self.words.scalar_threshold,
            translations: crate::build::translations(),
            ..Default::default()
        };
        if let Some(n) = self.words.max_instructions {
            options.max_instructions = n;
        }
        options
    }
}

/// clap's message without its usage.
fn one_line(message: &str) -> String {
    let lines = message.lines().map(str::trim).take_while(|l| !l.starts_with("Usage") && !l.starts_with("For more"));
    let text: Vec<&str> = lines.filter(|l| !l.is_empty()).collect();
    let text = text.join(" ");
    text.strip_prefix("error: ").unwrap_or(&text).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use heddle_codegen::{RegisterFile, Rename};

    fn parse(text: &str) -> Result<PointOptions, String> {
        let table: toml::Table = text.parse().unwrap();
        PointOptions::new(table.iter().map(|(k, v)| (k.as_str(), v)))
    }

    #[test]
    fn settings_are_the_options_of_run() {
        let options = parse("regfile = 'single'\nno-rename = true\nno-scalarize = false\nscalar-threshold = 0").unwrap();
        let compile = options.compile_options(FrontendOptions::default());
        assert_eq!(compile.codegen.regfile, RegisterFile::Single);
        assert_eq!(compile.codegen.rename, Rename::Never);
        assert!(compile.select.scalarize);
        assert_eq!(options.simulation().scalar_threshold, Some(0));
        assert!(!options.compile_text().contains("scalar-threshold"));
        assert_eq!(parse("source-options = '-DN=4 -DM=2'").unwrap().source_words(), ["-DN=4", "-DM=2"]);
    }

    #[test]
    fn equal_options_have_equal_texts() {
        assert_eq!(parse("regfile = 'default'\nno-rename = false").unwrap().text(), parse("").unwrap().text());
    }

    #[test]
    fn bad_settings_are_refused() {
        for (text, message) in [
            ("regfile = 'doble'", "possible values: multilevel, single"),
            ("no-rename = 1", "is a switch: true or false"),
            ("regfle = 'single'", "there is no option `regfle`"),
            ("no-rename = true\nrename = true", "cannot be used with"),
            ("max-registers = 'many'", "invalid digit"),
            ("max-registers = 1.5", "takes a name, a number"),
        ] {
            let error = parse(text).unwrap_err();
            assert!(error.contains(message), "{text}: {error}");
        }
    }
}
