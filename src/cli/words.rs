//! Words of the command line that are clang's, told from Heddle's own by the definitions of the subcommands:
//! `heddle build`, `heddle run` and `heddle debug` take both kinds in any order.

use std::ffi::{OsStr, OsString};

use clap::{Arg, Command};
use heddle_frontend::args::{is_compilation_option, takes_value};

/// The words in the order in which clap can read them: of `build` Heddle's own options first, then clang's
/// behind `--`; of the others each of clang's as the value of an `--option`.
pub fn sorted(command: &Command, words: Vec<OsString>) -> Vec<OsString> {
    let text = |i: usize| words.get(i).and_then(|w| w.to_str()).unwrap_or_default();
    let subcommand = command.find_subcommand(text(1)).cloned().map(|mut c| {
        c.build();
        c
    });
    let (head, rest) = words.split_at(words.len().min(2));
    let sorted = match subcommand {
        Some(c) if c.get_name() == "build" => clang_last(&c, rest),
        Some(c) if matches!(c.get_name(), "run" | "debug") => clang_as_option(&c, rest),
        _ => rest.to_vec(),
    };
    [head, &sorted].concat()
}

/// Whether a word is an option of a subcommand, and if so whether the next word is its value.
fn own(command: &Command, word: &OsStr) -> Option<bool> {
    let word = word.to_str()?;
    let name = word.split('=').next().unwrap_or_default();
    let is = |a: &&Arg| {
        let long = a.get_long().is_some_and(|l| name.strip_prefix("--") == Some(l));
        long || a.get_short().is_some_and(|s| word.strip_prefix('-').is_some_and(|w| w.chars().eq([s])))
    };
    let argument = command.get_arguments().find(is)?;
    let value = argument.get_action().takes_values() && !argument.is_require_equals_set();
    Some(value && !word.contains('='))
}

/// The words in groups of an option and its value, each with whether the option is a subcommand's own; all
/// from `--` on are one group.
fn groups<'w>(command: &Command, mut words: &'w [OsString]) -> Vec<(bool, &'w [OsString])> {
    let mut groups = Vec::new();
    while let Some(word) = words.first() {
        let own = own(command, word);
        let clangs_value = || word.to_str().is_some_and(takes_value);
        let length = if word == "--" { words.len() } else { 1 + usize::from(own.unwrap_or_else(clangs_value)) };
        let (group, rest) = words.split_at(length.min(words.len()));
        groups.push((own.is_some(), group));
        words = rest;
    }
    groups
}

/// Heddle's options, then `--` and all other words.
fn clang_last(command: &Command, words: &[OsString]) -> Vec<OsString> {
    let (first, last): (Vec<_>, Vec<_>) = groups(command, words).into_iter().partition(|(own, _)| *own);
    let words = |groups: Vec<(bool, &[OsString])>| groups.into_iter().flat_map(|(_, g)| g.to_vec()).collect::<Vec<_>>();
    [words(first), vec!["--".into()], words(last)].concat()
}

/// All words, those of clang's options as values of `--option`.
fn clang_as_option(command: &Command, words: &[OsString]) -> Vec<OsString> {
    let option = |word: &OsString| [OsStr::new("--option="), word].into_iter().collect::<OsString>();
    let clangs = |group: &[OsString]| group.first().and_then(|w| w.to_str()).is_some_and(is_compilation_option);
    let group = |(own, group): (bool, &[OsString])| match !own && clangs(group) {
        true => group.iter().map(option).collect(),
        false => group.to_vec(),
    };
    groups(command, words).into_iter().flat_map(group).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    fn words(line: &str) -> String {
        let words = line.split(' ').map(OsString::from).collect();
        let sorted = sorted(&super::super::Cli::command(), words);
        sorted.iter().map(|w| w.to_str().unwrap()).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn a_build_line_has_heddles_own_options_first() {
        assert_eq!(
            words("heddle build -O2 k.cl --set warp-size=16 -o k.o --emit=asm --verify -D N=4"),
            "heddle build --set warp-size=16 --emit=asm --verify -- -O2 k.cl -o k.o -D N=4"
        );
        assert_eq!(words("heddle build k.cl -h"), "heddle build -h -- k.cl");
        // Values are not looked at, whatever they look like.
        assert_eq!(words("heddle build -Xclang --verify k.cl"), "heddle build -- -Xclang --verify k.cl");
        assert_eq!(words("heddle build --remarks -o k.cl"), "heddle build --remarks -o -- k.cl");
        assert_eq!(words("heddle build -- --verify"), "heddle build -- -- --verify");
    }

    #[test]
    fn a_run_line_has_clangs_options_as_values() {
        assert_eq!(
            words("heddle run case.json -DN=4 -I inc -O3 -q --mode functional"),
            "heddle run case.json --option=-DN=4 --option=-I --option=inc --option=-O3 -q --mode functional"
        );
        assert_eq!(words("heddle run k.cl --option -DN=4 --check -g"), "heddle run k.cl --option -DN=4 --check --option=-g");
        assert_eq!(words("heddle run k.cl -o out --nonsense"), "heddle run k.cl -o out --nonsense");
    }

    #[test]
    fn other_subcommands_are_left_alone() {
        for line in ["heddle opt -DN=4", "heddle", "heddle --help", "heddle nothing -DN"] {
            assert_eq!(words(line), line);
        }
    }
}
