//! Names of OpenCL C's built-in functions, from the address spaces of SPIR to those of the target.
//!
//! # Problem
//! A mangled name spells the address spaces of its parameters (`PU3AS4Kf`), and generic pointers have none on the
//! target (`PKf`). What is repeated in a name is abbreviated by its number (`S4_`), which counts qualified types too, so
//! leaving out an address space changes the numbers behind it.
//!
//! # Algorithm
//! A name is parsed into types, with its abbreviations resolved, and written anew.
//!
//! # Reference
//! Itanium C++ ABI, 5.1 "External Names (a.k.a. Mangling)", and clang's `ItaniumMangle.cpp` for what OpenCL C adds:
//! `U3AS1` for address spaces (those without a spelling count among what may be abbreviated), `U7_Atomic`, `ocl_…` for images, samplers and events, which are never abbreviated.
//!
//! # Limits
//! Names of functions at program scope, with the types that built-in functions have; any other stays as it is.

/// The same function's name on the target; `None` if it is not mangled, or has types that built-in functions do not have.
pub(super) fn for_target(name: &str) -> Option<String> {
    renamed(name, |space| match space {
        super::text::SPIR_CONSTANT => Some(crate::ir::address_space::CONSTANT),
        0 | super::text::SPIR_GENERIC => None,
        other => Some(other),
    })
}

/// The name with other address spaces; `None` of `space` is one that names do not spell.
fn renamed(name: &str, space: impl Fn(u32) -> Option<u32>) -> Option<String> {
    let rest = name.strip_prefix("_Z")?;
    let (own, mut rest) = source_name(rest)?;
    let mut parser = Parser::default();
    let mut types = Vec::new();
    while !rest.is_empty() {
        let (ty, behind) = parser.parse(rest, DEEPEST)?;
        types.push(ty);
        rest = behind;
    }
    // A function without parameters has one of type void.
    if types.is_empty() {
        return None;
    }
    let mut writer = Writer { out: format!("_Z{}{own}", own.len()), seen: Vec::new() };
    types.iter().map(|t| t.in_spaces(&space)).for_each(|t| writer.write(&t));
    Some(writer.out)
}

/// A type as it is mangled.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Type {
    /// A letter, `Dh`, or an image, sampler or event with its length: never abbreviated.
    Builtin(String),
    /// A structure or enumeration, with its length: `12memory_order`.
    Named(String),
    Pointer(Box<Type>),
    Vector(u32, Box<Type>),
    Atomic(Box<Type>),
    /// Address space, and `r`, `V`, `K` as they stand. One that is not spelled counts as well: `Pi` has two that later ones
    /// may abbreviate.
    Qualified(Option<u32>, String, Box<Type>),
}

impl Type {
    /// Types in each other, itself included.
    fn depth(&self) -> usize {
        let (mut depth, mut of) = (1, self);
        while let Type::Pointer(t) | Type::Vector(_, t) | Type::Atomic(t) | Type::Qualified(_, _, t) = of {
            (depth, of) = (depth + 1, t);
        }
        depth
    }

    /// The same with other address spaces.
    fn in_spaces(&self, space: &impl Fn(u32) -> Option<u32>) -> Type {
        let inner = |t: &Type| Box::new(t.in_spaces(space));
        match self {
            Type::Builtin(_) | Type::Named(_) => self.clone(),
            Type::Pointer(t) => Type::Pointer(inner(t)),
            Type::Vector(n, t) => Type::Vector(*n, inner(t)),
            Type::Atomic(t) => Type::Atomic(inner(t)),
            Type::Qualified(number, words, t) => Type::Qualified(number.and_then(space), words.clone(), inner(t)),
        }
    }
}

/// A number in front, and what is behind it.
fn number(text: &str) -> Option<(u32, &str)> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    Some((text[..digits].parse().ok()?, &text[digits..]))
}

/// A name with its length in front, and what is behind it.
fn source_name(text: &str) -> Option<(&str, &str)> {
    let (length, rest) = number(text)?;
    rest.split_at_checked(length as usize).filter(|(name, _)| !name.is_empty())
}

/// Types in each other that a name has at most. Those of built-in functions have five.
const DEEPEST: usize = 64;

/// Reads types.
#[derive(Default)]
struct Parser {
    /// What abbreviations stand for.
    seen: Vec<Type>,
}

impl Parser {
    /// A type, with no more than so many in it, that included.
    fn parse<'a>(&mut self, text: &'a str, deepest: usize) -> Option<(Type, &'a str)> {
        let deepest = deepest.checked_sub(1)?;
        let first = text.chars().next()?;
        let (ty, rest) = match first {
            'P' => {
                let (pointee, rest) = self.parse(&text[1..], deepest)?;
                (Type::Pointer(Box::new(self.in_some_space(pointee))), rest)
            }
            'U' | 'r' | 'V' | 'K' => self.qualified(text, deepest)?,
            'S' => return self.abbreviation(&text[1..]),
            'D' if text.starts_with("Dh") => return Some((Type::Builtin("Dh".into()), &text[2..])),
            'D' => {
                let (count, rest) = number(text.strip_prefix("Dv")?)?;
                let (element, rest) = self.parse(rest.strip_prefix('_')?, deepest)?;
                (Type::Vector(count, Box::new(element)), rest)
            }
            '0'..='9' => {
                let (name, rest) = source_name(text)?;
                let spelled = text[..text.len() - rest.len()].to_string();
                if name.starts_with("ocl_") {
                    return Some((Type::Builtin(spelled), rest));
                }
                (Type::Named(spelled), rest)
            }
            'a'..='z' => return Some((Type::Builtin(first.into()), &text[1..])),
            _ => return None,
        };
        // Abbreviations make long types of few letters.
        if ty.depth() > DEEPEST {
            return None;
        }
        self.seen.push(ty.clone());
        Some((ty, rest))
    }

    /// What is pointed to is in an address space, if only in one that is not spelled, and that counts.
    fn in_some_space(&mut self, pointee: Type) -> Type {
        if matches!(pointee, Type::Qualified(..)) {
            return pointee;
        }
        let qualified = Type::Qualified(None, String::new(), Box::new(pointee));
        self.seen.push(qualified.clone());
        qualified
    }

    /// Qualifiers with what they qualify.
    fn qualified<'a>(&mut self, text: &'a str, deepest: usize) -> Option<(Type, &'a str)> {
        let (mut space, mut rest) = (None, text);
        if let Some(vendor) = text.strip_prefix('U') {
            let (word, behind) = source_name(vendor)?;
            if word == "_Atomic" {
                let (inner, rest) = self.parse(behind, deepest)?;
                return Some((Type::Atomic(Box::new(inner)), rest));
            }
            space = Some(word.strip_prefix("AS")?.parse().ok()?);
            rest = behind;
        }
        let words = rest.len() - rest.trim_start_matches(['r', 'V', 'K']).len();
        let (inner, behind) = self.parse(&rest[words..], deepest)?;
        Some((Type::Qualified(space, rest[..words].into(), Box::new(inner)), behind))
    }

    /// `S_` is the first, `S0_` the second: the number is in base 36.
    fn abbreviation<'a>(&self, text: &'a str) -> Option<(Type, &'a str)> {
        let (digits, rest) = text.split_once('_')?;
        let number = if digits.is_empty() { 0 } else { usize::from_str_radix(digits, 36).ok()?.checked_add(1)? };
        Some((self.seen.get(number)?.clone(), rest))
    }
}

/// Writes types.
struct Writer {
    out: String,
    seen: Vec<Type>,
}

impl Writer {
    fn write(&mut self, ty: &Type) {
        if let Type::Builtin(word) = ty {
            self.out += word;
            return;
        }
        if let Some(number) = self.seen.iter().position(|t| t == ty) {
            self.out += &match number {
                0 => "S_".to_string(),
                n => format!("S{}_", base36(n - 1)),
            };
            return;
        }
        match ty {
            Type::Builtin(word) | Type::Named(word) => self.out += word,
            Type::Pointer(inner) => self.around("P", inner),
            Type::Vector(count, inner) => self.around(&format!("Dv{count}_"), inner),
            Type::Atomic(inner) => self.around("U7_Atomic", inner),
            Type::Qualified(space, words, inner) => {
                let space = space.map(|n| format!("AS{n}")).map_or(String::new(), |s| format!("U{}{s}", s.len()));
                self.around(&format!("{space}{words}"), inner);
            }
        }
        self.seen.push(ty.clone());
    }

    fn around(&mut self, front: &str, inner: &Type) {
        self.out += front;
        self.write(inner);
    }
}

/// A number in the digits of abbreviations.
fn base36(mut number: usize) -> String {
    let mut digits = Vec::new();
    loop {
        digits.push(b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"[number % 36] as char);
        number /= 36;
        if number == 0 {
            return digits.into_iter().rev().collect();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn generic_pointers_lose_their_space_and_constant_ones_change_it() {
        for (spir, target) in [
            ("_Z10vload_halfmPU3AS4KDh", "_Z10vload_halfmPKDh"),
            ("_Z6vload4mPU3AS2Ki", "_Z6vload4mPU3AS4Ki"),
            ("_Z5fractDv4_fPU3AS4S_", "_Z5fractDv4_fPS_"),
            ("_Z17wait_group_eventsiPU3AS49ocl_event", "_Z17wait_group_eventsiP9ocl_event"),
            (
                "_Z39atomic_compare_exchange_strong_explicitPU3AS4VU7_AtomiciPU3AS4ii12memory_orderS4_12memory_scope",
                "_Z39atomic_compare_exchange_strong_explicitPVU7_AtomiciPii12memory_orderS4_12memory_scope",
            ),
            ("_Z11read_imagef14ocl_image2d_ro11ocl_samplerDv2_i", "_Z11read_imagef14ocl_image2d_ro11ocl_samplerDv2_i"),
            ("_Z12get_work_dimv", "_Z12get_work_dimv"),
        ] {
            assert_eq!(for_target(spir).as_deref(), Some(target), "{spir}");
        }
    }

    #[test]
    fn what_is_no_name_of_a_built_in_function_stays() {
        for name in ["printf", "_Z", "_Z3f", "_ZN1a1bEv", "_Z3fooS_", "_Z1fIiEvT_", "_Z9999999999fi", "_Z1fPU2ASi", "_Z2é"] {
            assert_eq!(for_target(name), None, "{name}");
        }
    }

    #[test]
    fn types_nested_deeply_are_none_of_a_built_in_function() {
        let nested = |n: usize| format!("_Z1f{}i", "P".repeat(n));
        assert_eq!(for_target(&nested(20)), Some(nested(20)));
        for front in ["P", "PK", "U3AS1", "U7_Atomic", "Dv4_"] {
            assert!(for_target(&format!("_Z1f{}i", front.repeat(100_000))).is_none(), "{front}");
        }
        // Each parameter is a pointer to the one before.
        let mut long = String::from("_Z1fPi");
        (0..1000).for_each(|n| long += &format!("PS{}_", base36(2 * n)));
        assert_eq!(for_target(&long), None);
    }

    #[test]
    fn abbreviations_count_in_base_36() {
        assert_eq!([0, 9, 10, 35, 36].map(base36), ["0", "9", "A", "Z", "10"]);
    }
}
