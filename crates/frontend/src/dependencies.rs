//! The rules for make that clang writes (`-MD`).

use std::path::PathBuf;

/// The files that a rule's target is made of.
pub fn parse(rule: &str) -> Vec<PathBuf> {
    let list = rule.split_once(": ").map_or(rule, |(_, list)| list);
    let mut result = Vec::new();
    let mut word = String::new();
    let mut characters = list.chars().peekable();
    while let Some(c) = characters.next() {
        match (c, characters.peek()) {
            ('\\', Some(next @ (' ' | '#'))) => {
                word.push(*next);
                characters.next();
            }
            ('\\', Some('\n')) => {}
            ('$', Some('$')) => {
                word.push('$');
                characters.next();
            }
            (c, _) if c.is_whitespace() => result.extend((!word.is_empty()).then(|| std::mem::take(&mut word).into())),
            (c, _) => word.push(c),
        }
    }
    result.extend((!word.is_empty()).then(|| word.into()));
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unquoted() {
        let rule = "program: p.cl ./a\\ b.h \\\n  /x/c\\#$$d.h\n";
        assert_eq!(parse(rule), ["p.cl", "./a b.h", "/x/c#$d.h"].map(PathBuf::from));
    }
}
