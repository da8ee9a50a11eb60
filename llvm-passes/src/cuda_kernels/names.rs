//! Names of C++ functions as the source has them, and the types of their parameters as OpenCL C spells them.

use inkwell::llvm_sys::LLVMTypeKind;

use crate::ir::Value;

/// What a mangled name says of a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Signature {
    /// Its name with namespaces and arguments of the template: `scale<float>`.
    pub name: String,
    /// The same with the types of the parameters.
    pub whole: String,
    /// The parameters; none if the name is not mangled.
    pub parameters: Vec<Parameter>,
}

/// A parameter's type.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Parameter {
    /// The type, `float*`, without qualifiers.
    pub type_name: String,
    /// It is a pointer to something constant.
    pub points_to_const: bool,
}

/// Types whose names C++ and OpenCL C do not share.
const TYPES: [(&str, &str); 12] = [
    ("unsigned char", "uchar"),
    ("signed char", "char"),
    ("unsigned short", "ushort"),
    ("unsigned int", "uint"),
    ("unsigned long long", "ulong"),
    ("unsigned long", "ulong"),
    ("long long", "long"),
    ("unsigned", "uint"),
    ("__half", "half"),
    ("_Float16", "half"),
    ("half _Float16", "half"),
    ("short int", "short"),
];

impl Signature {
    /// Of a symbol, mangled or not.
    pub fn of(symbol: &str) -> Signature {
        let plain = || Signature { name: symbol.into(), whole: symbol.into(), parameters: Vec::new() };
        let Some(text) =
            cpp_demangle::Symbol::new(symbol).ok().and_then(|s| s.demangle(&cpp_demangle::DemangleOptions::default()).ok())
        else {
            return plain();
        };
        // Templates have their result in front. Kernels have none.
        let whole = text.strip_prefix("void ").unwrap_or(&text).to_string();
        let Some((name, parameters)) = parameter_list(&whole) else { return plain() };
        let parameters = split(parameters).into_iter().filter(|p| *p != "void").map(Parameter::of).collect();
        Signature { name: name.to_string(), whole: whole.clone(), parameters }
    }
}

impl Parameter {
    /// Of a type as it is demangled: `float const*`.
    fn of(text: &str) -> Parameter {
        let pointee = text.trim_end().trim_end_matches(['*', '&', ' ']);
        let stars: String = text[pointee.len()..].chars().filter(|c| *c == '*' || *c == '&').collect();
        let constant = pointee.strip_suffix(" const");
        let bare = constant.unwrap_or(pointee);
        let name = TYPES.iter().find(|(c, _)| *c == bare).map_or(bare, |(_, name)| name);
        Parameter {
            type_name: format!("{name}{}", stars.replace('&', "*")),
            points_to_const: constant.is_some() && !stars.is_empty(),
        }
    }

    /// Of a value, where the source's name for its type is not known.
    pub fn of_type(value: Value) -> Parameter {
        use LLVMTypeKind::*;
        let name = match (value.type_kind(), value.integer_bits()) {
            (LLVMIntegerTypeKind, 8) => "char",
            (LLVMIntegerTypeKind, 16) => "short",
            (LLVMIntegerTypeKind, 32) => "int",
            (LLVMIntegerTypeKind, 64) => "long",
            (LLVMHalfTypeKind, _) => "half",
            (LLVMFloatTypeKind, _) => "float",
            (LLVMDoubleTypeKind, _) => "double",
            (LLVMPointerTypeKind, _) => "void*",
            _ => "",
        };
        Parameter { type_name: name.into(), points_to_const: false }
    }
}

/// A function's name and what stands between the parentheses of its parameters.
fn parameter_list(text: &str) -> Option<(&str, &str)> {
    let inside = text.trim_end().strip_suffix(')')?;
    let mut depth = 1;
    for (i, c) in inside.char_indices().rev() {
        depth += match c {
            ')' => 1,
            '(' => -1,
            _ => 0,
        };
        if depth == 0 {
            return Some((&text[..i], &inside[i + 1..]));
        }
    }
    None
}

/// Splits a list at commas that stand in no brackets.
fn split(list: &str) -> Vec<&str> {
    let (mut parts, mut depth, mut start) = (Vec::new(), 0, 0);
    for (i, c) in list.char_indices() {
        match c {
            '(' | '<' | '[' | '{' => depth += 1,
            ')' | '>' | ']' | '}' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(list[start..i].trim());
                start = i + 1;
            }
            _ => {}
        }
    }
    parts.push(list[start..].trim());
    parts.retain(|p| !p.is_empty());
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_the_source() {
        for (symbol, name, types) in [
            ("_Z5scaleIfEvPT_S0_", "scale<float>", "float* float"),
            ("_Z1kPfPKf1Pi", "k", "float* float* P int"),
            ("_ZN2ns4fillILi4EjEEvPT0_y", "ns::fill<4, unsigned int>", "uint* ulong"),
            ("_Z4nonev", "none", ""),
            ("_ZN12_GLOBAL__N_16hiddenEPKh", "(anonymous namespace)::hidden", "uchar*"),
            ("plain", "plain", ""),
            ("_ZZ", "_ZZ", ""),
        ] {
            let signature = Signature::of(symbol);
            let found: Vec<&str> = signature.parameters.iter().map(|p| p.type_name.as_str()).collect();
            assert_eq!((signature.name.as_str(), found.join(" ").as_str()), (name, types), "{symbol}");
        }
        let signature = Signature::of("_Z1kPfPKf1Pi");
        assert!(signature.parameters[1].points_to_const && !signature.parameters[0].points_to_const);
        assert_eq!(signature.whole, "k(float*, float const*, P, int)");
    }
}
