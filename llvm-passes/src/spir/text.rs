//! Address spaces, calling conventions and opaque types of SPIR in the text of IR.
//!
//! LLVM has no call that gives a value another type, and every pointer of a module may change its type here. The text of
//! a module has all of its types in one spelling, so they are changed there: word by word, with names, texts and comments
//! left alone.

use crate::ir::address_space::CONSTANT;

/// Constant memory in SPIR.
pub(super) const SPIR_CONSTANT: u32 = 2;
/// Generic pointers in SPIR.
pub(super) const SPIR_GENERIC: u32 = 4;

/// What types of OpenCL C are as values of the target, by their names in LLVM 16 and later.
const TYPES: [(&str, &str); 4] = [
    ("\"spirv.Image\"", "ptr addrspace(1)"),
    ("\"spirv.Sampler\"", "ptr addrspace(4)"),
    ("\"spirv.Event\"", "ptr"),
    ("\"spirv.DeviceEvent\"", "ptr"),
];

/// The text of a module with the types of the target.
///
/// # Errors
/// A sentence about a type that the target does not have.
pub(super) fn for_target(text: &str) -> Result<String, String> {
    let tokens = changed_types(&tokens(text))?;
    Ok(without_empty_casts(&tokens).concat())
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '$' | '-')
}

/// Words, names with what marks them as such, texts, comments, white space, and single other characters.
fn tokens(text: &str) -> Vec<&str> {
    let mut result = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let run =
            |from: usize, belongs: &dyn Fn(char) -> bool| from + rest[from..].find(|c| !belongs(c)).unwrap_or(rest.len() - from);
        let quoted = |from: usize| rest[from + 1..].find('"').map_or(rest.len(), |n| from + n + 2);
        let length = match first {
            ';' => rest.find('\n').unwrap_or(rest.len()),
            '"' => quoted(0),
            '%' | '@' | '!' | '#' | '$' if rest[1..].starts_with('"') => quoted(1),
            '%' | '@' | '!' | '#' | '$' => run(1, &is_word),
            c if is_word(c) => run(0, &is_word),
            c if c.is_ascii_whitespace() => run(0, &|c| c.is_ascii_whitespace()),
            c => c.len_utf8(),
        };
        let (token, behind) = rest.split_at(length);
        result.push(token);
        rest = behind;
    }
    result
}

/// Whether the token at a place is a word of the language; a label may be spelled like one.
fn is_keyword(tokens: &[&str], at: usize, word: &str) -> bool {
    tokens[at] == word && tokens.get(at + 1) != Some(&":")
}

/// Tokens with other address spaces, types and conventions.
fn changed_types<'a>(tokens: &[&'a str]) -> Result<Vec<&'a str>, String> {
    let mut result: Vec<&'a str> = Vec::with_capacity(tokens.len());
    let mut i = 0;
    while i < tokens.len() {
        if is_keyword(tokens, i, "addrspace") && tokens.get(i + 1) == Some(&"(") {
            let spelled = tokens.get(i + 2).copied().unwrap_or_default();
            match spelled.parse() {
                Ok(SPIR_CONSTANT) => result.extend(["addrspace", "(", "4", ")"]),
                Ok(0 | SPIR_GENERIC) => {}
                Ok(1 | 3) => result.extend(["addrspace", "(", spelled, ")"]),
                _ => return Err(format!("SPIR's address space {spelled} is none of OpenCL C")),
            }
            i += 4;
        } else if is_keyword(tokens, i, "target") && tokens.get(i + 1) == Some(&"(") {
            let name = tokens.get(i + 2).copied().unwrap_or_default();
            let Some((_, ty)) = TYPES.iter().find(|(n, _)| *n == name) else {
                return Err(format!("values of the type {} are not supported", name.trim_matches('"')));
            };
            result.extend(self::tokens(ty));
            i = tokens[i..].iter().position(|t| *t == ")").map_or(tokens.len(), |n| i + n + 1);
        } else if is_keyword(tokens, i, "spir_func") {
            // Behind it is the space that separates it from the next word.
            i += 2;
        } else {
            result.push(tokens[i]);
            i += 1;
        }
    }
    debug_assert_eq!(CONSTANT, 4);
    Ok(result)
}

/// Tokens in which a conversion between address spaces that have become one is a conversion of nothing.
fn without_empty_casts<'a>(tokens: &[&'a str]) -> Vec<&'a str> {
    let mut result = tokens.to_vec();
    for (i, token) in result.iter_mut().enumerate() {
        if *token == "addrspacecast" && is_keyword(tokens, i, "addrspacecast") && is_empty_cast(&tokens[i + 1..]) {
            *token = "bitcast";
        }
    }
    result
}

/// Whether the types on both sides of a conversion are the same; `tokens` are those behind its word.
fn is_empty_cast(tokens: &[&str]) -> bool {
    let mut tokens: Vec<&str> =
        tokens.iter().copied().filter(|t| !t.starts_with(|c: char| c.is_ascii_whitespace())).take(MOST).collect();
    if tokens.first() == Some(&"(") {
        tokens.remove(0);
    }
    let mut depth = 0;
    let to = tokens.iter().position(|t| {
        depth += match *t {
            "(" | "<" | "[" | "{" => 1,
            ")" | ">" | "]" | "}" => -1,
            _ => 0,
        };
        depth == 0 && *t == "to"
    });
    let Some(to) = to else { return false };
    let (from, into) = (pointer_type(&tokens), pointer_type(&tokens[to + 1..]));
    from.is_some() && from == into
}

/// Tokens of one constant at most; LLVM nests them as deep as a program does, but not conversions of pointers.
const MOST: usize = 1 << 16;

/// The type of a pointer, or of a vector of pointers, that tokens begin with.
fn pointer_type<'a, 'b>(tokens: &'a [&'b str]) -> Option<&'a [&'b str]> {
    let length = match *tokens.first()? {
        "ptr" if tokens.get(1) == Some(&"addrspace") => 5,
        "ptr" => 1,
        "<" => 1 + tokens.iter().position(|t| *t == ">")?,
        _ => return None,
    };
    tokens.get(..length)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn changed(text: &str) -> String {
        for_target(text).unwrap().split_whitespace().collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn types_change_and_names_do_not() {
        assert_eq!(changed("@\"addrspace(2)\" = addrspace(2) constant i32 1"), "@\"addrspace(2)\" = addrspace(4) constant i32 1");
        assert_eq!(changed("call spir_func i32 @f(ptr addrspace(4) %spir_func)"), "call i32 @f(ptr %spir_func)");
        assert_eq!(changed("c\"addrspace(2)\\22\" ; addrspace(2)"), "c\"addrspace(2)\\22\" ; addrspace(2)");
        assert_eq!(changed("spir_func: ; preds"), "spir_func: ; preds");
        assert_eq!(changed("target triple = \"x\""), "target triple = \"x\"");
    }

    #[test]
    fn casts_between_what_has_become_one_space_are_none() {
        assert_eq!(changed("%a = addrspacecast ptr %p to ptr addrspace(4)"), "%a = bitcast ptr %p to ptr");
        assert_eq!(
            changed("%a = addrspacecast ptr addrspace(1) %p to ptr addrspace(4)"),
            "%a = addrspacecast ptr addrspace(1) %p to ptr"
        );
        assert_eq!(
            changed(
                "ptr addrspacecast (ptr getelementptr (i32, ptr addrspacecast (ptr addrspace(3) @l to ptr), i64 1) to ptr addrspace(4))"
            ),
            "ptr bitcast (ptr getelementptr (i32, ptr addrspacecast (ptr addrspace(3) @l to ptr), i64 1) to ptr )"
        );
        assert_eq!(
            changed("addrspacecast <2 x ptr addrspace(4)> %v to <2 x ptr addrspace(4)>, !dbg !1"),
            "bitcast <2 x ptr > %v to <2 x ptr >, !dbg !1"
        );
    }

    #[test]
    fn types_of_newer_translators_are_known() {
        assert_eq!(
            changed("call void @f(target(\"spirv.Image\", void, 1, 0) %i, target(\"spirv.Sampler\") %s)"),
            "call void @f(ptr addrspace(1) %i, ptr addrspace(4) %s)"
        );
        assert!(for_target("target(\"spirv.Pipe\", 0) %p").unwrap_err().contains("spirv.Pipe"));
        assert!(for_target("ptr addrspace(7) %p").unwrap_err().contains("address space 7"));
    }
}
