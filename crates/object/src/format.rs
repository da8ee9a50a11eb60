//! Format strings of `printf` (OpenCL C 3.0, 6.15.14), the types of what they print, and where
//! arguments stand in a message.
//!
//! Pure text and numbers: the compiler checks calls with it, the driver reads messages with it.

use std::fmt;

/// Bytes of the buffer of `printf` before the messages: bytes reserved (64 bits), messages dropped (64 bits).
pub const HEADER_BYTES: u32 = 16;

/// Largest width or precision: what every C library can do at least (C99, 7.19.6.1).
pub const MOST_DIGITS: u32 = 4095;

/// A piece of a format string.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    /// Bytes as they are; `%%` is in them as `%`.
    Text(Vec<u8>),
    /// What stands for an argument.
    Conversion(Conversion),
}

/// A conversion: `%`, flags, width, precision, vector specifier, length, letter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conversion {
    /// Of `-+ #0`, each once, in this order.
    pub flags: String,
    /// Smallest number of characters.
    pub width: Option<u32>,
    /// Digits or characters behind the point.
    pub precision: Option<u32>,
    /// Components of a vector: 2, 3, 4, 8 or 16.
    pub vector: Option<u32>,
    /// Length modifier.
    pub length: Length,
    /// The letter, one of [`LETTERS`].
    pub letter: char,
}

/// Conversion letters of OpenCL C, without `%`.
pub const LETTERS: &str = "diouxXfFeEgGaAcsp";

/// Length modifiers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Length {
    /// None: `int`, `double`; components of 32 bits.
    None,
    /// `hh`: `char`.
    Char,
    /// `h`: `short`, `half`.
    Short,
    /// `hl`: components of 32 bits.
    Word,
    /// `l`, and C's `ll`, `j`, `z`, `t`, `q` and `L`: `long`, `double`.
    Long,
}

impl Length {
    fn spelling(self) -> &'static str {
        match self {
            Length::None => "",
            Length::Char => "hh",
            Length::Short => "h",
            Length::Word => "hl",
            Length::Long => "l",
        }
    }

    /// Bytes of an integer, or of a vector's component.
    pub fn bytes(self) -> u32 {
        match self {
            Length::Char => 1,
            Length::Short => 2,
            Length::None | Length::Word => 4,
            Length::Long => 8,
        }
    }
}

/// What a conversion takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Takes {
    /// Signed integers.
    Signed,
    /// Unsigned integers.
    Unsigned,
    /// Floating-point numbers.
    Float,
    /// A character.
    Character,
    /// A string.
    Text,
    /// A pointer.
    Pointer,
}

impl Conversion {
    /// What the letter says.
    pub fn takes(&self) -> Takes {
        match self.letter {
            'd' | 'i' => Takes::Signed,
            'o' | 'u' | 'x' | 'X' => Takes::Unsigned,
            'c' => Takes::Character,
            's' => Takes::Text,
            'p' => Takes::Pointer,
            _ => Takes::Float,
        }
    }
}

impl fmt::Display for Conversion {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "%{}", self.flags)?;
        if let Some(w) = self.width {
            write!(f, "{w}")?;
        }
        if let Some(p) = self.precision {
            write!(f, ".{p}")?;
        }
        if let Some(n) = self.vector {
            write!(f, "v{n}")?;
        }
        write!(f, "{}{}", self.length.spelling(), self.letter)
    }
}

/// Takes a format string (without its NUL) apart.
///
/// # Errors
/// A sentence about the first conversion that OpenCL C does not have.
pub fn parse(format: &[u8]) -> Result<Vec<Piece>, String> {
    let mut pieces = Vec::new();
    let mut text = Vec::new();
    let mut rest = format;
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        if byte != b'%' {
            text.push(byte);
        } else if rest.first() == Some(&b'%') {
            text.push(b'%');
            rest = &rest[1..];
        } else {
            if !text.is_empty() {
                pieces.push(Piece::Text(std::mem::take(&mut text)));
            }
            let (conversion, length) = conversion(rest)?;
            pieces.push(Piece::Conversion(conversion));
            rest = &rest[length..];
        }
    }
    if !text.is_empty() {
        pieces.push(Piece::Text(text));
    }
    Ok(pieces)
}

/// The conversion behind a `%`, and its length in bytes.
fn conversion(bytes: &[u8]) -> Result<(Conversion, usize), String> {
    let mut at = 0;
    let byte = |at: usize| bytes.get(at).copied().unwrap_or(0);
    let shown = |end: usize| format!("%{}", bytes[..end.min(bytes.len())].escape_ascii());
    let mut given = [false; 5];
    const FLAGS: &[u8] = b"-+ #0";
    while let Some(f) = FLAGS.iter().position(|f| *f == byte(at)) {
        given[f] = true;
        at += 1;
    }
    let flags = FLAGS.iter().zip(given).filter(|(_, g)| *g).map(|(f, _)| char::from(*f)).collect();
    let number = |at: &mut usize| -> Result<Option<u32>, String> {
        let start = *at;
        let mut value = 0u32;
        while byte(*at).is_ascii_digit() {
            value = value.saturating_mul(10).saturating_add(u32::from(byte(*at) - b'0'));
            *at += 1;
        }
        if value > MOST_DIGITS {
            return Err(format!("`{}`: a width or precision above {MOST_DIGITS}", shown(*at)));
        }
        if byte(*at) == b'*' {
            return Err(format!("`{}`: OpenCL C has no `*` for width and precision", shown(*at + 1)));
        }
        Ok((*at > start).then_some(value))
    };
    let width = number(&mut at)?;
    let mut precision = None;
    if byte(at) == b'.' {
        at += 1;
        precision = Some(number(&mut at)?.unwrap_or(0));
    }
    let mut vector = None;
    if byte(at) == b'v' {
        at += 1;
        let n = number(&mut at)?;
        if !matches!(n, Some(2 | 3 | 4 | 8 | 16)) {
            return Err(format!("`{}`: a vector has 2, 3, 4, 8 or 16 components", shown(at)));
        }
        vector = n;
    }
    let (length, size) = match (byte(at), byte(at + 1)) {
        (b'h', b'h') => (Length::Char, 2),
        (b'h', b'l') => (Length::Word, 2),
        (b'h', _) => (Length::Short, 1),
        // Of C's own, which OpenCL C does not have and programs use, all are 64 bits.
        (b'l', b'l') => (Length::Long, 2),
        (b'l' | b'j' | b'z' | b't' | b'L' | b'q', _) => (Length::Long, 1),
        _ => (Length::None, 0),
    };
    at += size;
    let letter = char::from(byte(at));
    if at >= bytes.len() {
        return Err(format!("`{}`: the conversion is not complete", shown(at)));
    }
    if !LETTERS.contains(letter) {
        let what = if letter == 'n' { "OpenCL C has no `%n`" } else { "no such conversion" };
        return Err(format!("`{}`: {what}; there are {} and %%", shown(at + 1), listed()));
    }
    at += 1;
    let c = Conversion { flags, width, precision, vector, length, letter };
    // `%lc` and `%ls` are of wide characters, which OpenCL C does not have: `l` says nothing.
    let wide = length == Length::Long && matches!(letter, 'c' | 's');
    if matches!(c.takes(), Takes::Character | Takes::Text | Takes::Pointer)
        && (vector.is_some() || length != Length::None && !wide)
    {
        return Err(format!("`{}`: %{letter} takes no vector specifier and no length modifier", shown(at)));
    }
    if length == Length::Word && vector.is_none() {
        return Err(format!("`{}`: `hl` is for vectors only", shown(at)));
    }
    if c.takes() == Takes::Float && length == Length::Char {
        return Err(format!("`{}`: no floating-point type has the length `hh`", shown(at)));
    }
    Ok((c, at))
}

fn listed() -> String {
    LETTERS.chars().map(|c| format!("%{c}")).collect::<Vec<_>>().join(" ")
}

/// What an argument is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Element {
    /// Integers of 1, 2, 4 or 8 bytes.
    Integer(u32),
    /// Floating-point numbers of 2, 4 or 8 bytes.
    Float(u32),
    /// A pointer to an address space, 8 bytes.
    Pointer(u32),
}

/// The type of an argument: `i32`, `f64`, `i8x4`, `p1`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ArgumentType {
    /// Scalar, or a vector's component.
    pub element: Element,
    /// Components; 1 for scalars.
    pub count: u32,
}

impl fmt::Display for ArgumentType {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self.element {
            Element::Integer(bytes) => write!(f, "i{}", 8 * bytes)?,
            Element::Float(bytes) => write!(f, "f{}", 8 * bytes)?,
            Element::Pointer(space) => write!(f, "p{space}")?,
        }
        if self.count == 1 { Ok(()) } else { write!(f, "x{}", self.count) }
    }
}

impl std::str::FromStr for ArgumentType {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let fail = || format!("`{text}` is no argument type");
        let (head, count) = match text.split_once('x') {
            Some((head, n)) => (head, n.parse().map_err(|_| fail())?),
            None => (text, 1),
        };
        let number: u32 = head.get(1..).and_then(|n| n.parse().ok()).ok_or_else(fail)?;
        let element = match (head.as_bytes().first(), number) {
            (Some(b'i'), 8 | 16 | 32 | 64) => Element::Integer(number / 8),
            (Some(b'f'), 16 | 32 | 64) => Element::Float(number / 8),
            (Some(b'p'), 0..=5) if count == 1 => Element::Pointer(number),
            _ => return Err(fail()),
        };
        if !matches!(count, 1 | 2 | 3 | 4 | 8 | 16) {
            return Err(fail());
        }
        Ok(ArgumentType { element, count })
    }
}

impl ArgumentType {
    /// Bytes of a component.
    pub fn element_bytes(self) -> u32 {
        match self.element {
            Element::Integer(n) | Element::Float(n) => n,
            Element::Pointer(_) => 8,
        }
    }

    /// Bytes in a message.
    pub fn bytes(self) -> u32 {
        self.element_bytes() * self.count
    }

    /// Alignment in a message.
    pub fn align(self) -> u32 {
        self.bytes().next_power_of_two().min(8)
    }

    /// The type as OpenCL C calls it.
    fn name(self) -> String {
        let name = match self.element {
            Element::Integer(1) => "char",
            Element::Integer(2) => "short",
            Element::Integer(4) => "int",
            Element::Integer(_) => "long",
            Element::Float(2) => "half",
            Element::Float(4) => "float",
            Element::Float(_) => "double",
            Element::Pointer(_) => "pointer",
        };
        if self.count == 1 { name.into() } else { format!("{name}{}", self.count) }
    }
}

/// Where the arguments of a message stand. A message starts with a word that names its format, from
/// 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Byte offsets of the arguments.
    pub offsets: Vec<u32>,
    /// Bytes of the whole, a multiple of 8.
    pub bytes: u32,
}

impl Layout {
    /// The layout of a message with these arguments.
    pub fn of(arguments: &[ArgumentType]) -> Layout {
        let mut at = 4u32;
        let offsets = arguments
            .iter()
            .map(|a| {
                let offset = at.next_multiple_of(a.align());
                at = offset + a.bytes();
                offset
            })
            .collect();
        Layout { offsets, bytes: at.next_multiple_of(8) }
    }
}

/// Whether arguments can be printed as a format string says. More arguments than conversions are allowed, and numbers for numbers
/// of another kind, of which clang warns.
///
/// # Errors
/// A sentence about the first that is not.
pub fn check(pieces: &[Piece], arguments: &[ArgumentType]) -> Result<(), String> {
    let conversions = pieces.iter().filter_map(|p| if let Piece::Conversion(c) = p { Some(c) } else { None });
    let wanted = conversions.clone().count();
    if wanted > arguments.len() {
        return Err(format!("the format has {wanted} conversions, the call {} arguments for them", arguments.len()));
    }
    for (i, (c, a)) in conversions.zip(arguments).enumerate() {
        let fail = |takes: String| Err(format!("argument {} for `{c}` is of type {}; it takes {takes}", i + 1, a.name()));
        let integer = matches!(a.element, Element::Integer(_));
        let float = matches!(a.element, Element::Float(_));
        let number = integer || float;
        match c.takes() {
            // A generic pointer may be to a string.
            Takes::Text if !matches!(a.element, Element::Pointer(0 | 1 | 4)) => return fail("a string literal".into()),
            Takes::Pointer if float || a.count > 1 => return fail("a pointer".into()),
            Takes::Text | Takes::Pointer => {}
            Takes::Character if !number || a.count > 1 => return fail("an int".into()),
            Takes::Character => {}
            takes => {
                let kind = if takes == Takes::Float { "a floating-point number" } else { "an integer" };
                let fits = if takes == Takes::Float { float } else { integer };
                if let Some(n) = c.vector {
                    let bytes = c.length.bytes();
                    if !fits || a.count != n || a.element_bytes() != bytes {
                        let what = if takes == Takes::Float { "floating-point numbers" } else { "integers" };
                        let hint = if c.length == Length::None && fits && a.count == n {
                            " (hh: 8, h: 16, hl: 32, l: 64 bits)"
                        } else {
                            ""
                        };
                        return fail(format!("a vector of {n} {what} of {} bits{hint}", 8 * bytes));
                    }
                } else if a.count > 1 {
                    return fail(format!("{kind}; %v{}{}{} prints a vector", a.count, vector_length(*a), c.letter));
                } else if !number {
                    return fail(kind.into());
                }
            }
        }
    }
    Ok(())
}

/// The length modifier for a vector.
fn vector_length(a: ArgumentType) -> &'static str {
    match a.element_bytes() {
        1 => "hh",
        2 => "h",
        4 => "hl",
        _ => "l",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(text: &str) -> Conversion {
        match &parse(text.as_bytes()).unwrap()[..] {
            [Piece::Conversion(c)] => c.clone(),
            other => panic!("{other:?}"),
        }
    }

    fn types(text: &str) -> Vec<ArgumentType> {
        text.split_whitespace().map(|t| t.parse().unwrap()).collect()
    }

    #[test]
    fn a_conversion_has_all_its_parts() {
        let c = one("%+-08.3v4hlf");
        assert_eq!((c.flags.as_str(), c.width, c.precision, c.vector), ("-+0", Some(8), Some(3), Some(4)));
        assert_eq!((c.length, c.letter), (Length::Word, 'f'));
        assert_eq!(one("%.e").precision, Some(0));
        assert_eq!(one("%v16hhx").vector, Some(16));
        for (text, same) in [("%lld", "%ld"), ("%5zu", "%5lu"), ("%jx", "%lx"), ("%td", "%ld"), ("%.3Lf", "%.3lf")] {
            assert_eq!(one(text).to_string(), same);
        }
        for text in ["%d", "%-+ #05.7v2lX", "%hhu", "%s", "%p", "%c", "%v3ha"] {
            assert_eq!(one(text).to_string(), text);
        }
    }

    #[test]
    fn percent_signs_are_text() {
        assert_eq!(parse(b"100%%").unwrap(), [Piece::Text(b"100%".to_vec())]);
        let pieces = parse(b"%%%d%%\n").unwrap();
        assert_eq!(pieces.len(), 3);
        assert_eq!(pieces[2], Piece::Text(b"%\n".to_vec()));
    }

    #[test]
    fn what_opencl_does_not_have_is_refused() {
        for (text, part) in [
            ("%n", "no `%n`"),
            ("%y", "no such conversion"),
            ("%", "not complete"),
            ("%5", "not complete"),
            ("%*d", "no `*`"),
            ("%.*f", "no `*`"),
            ("%v5d", "2, 3, 4, 8 or 16"),
            ("%vd", "2, 3, 4, 8 or 16"),
            ("%hld", "vectors only"),
            ("%hs", "no vector specifier and no length modifier"),
            ("%v4c", "no vector specifier"),
            ("%hhf", "length `hh`"),
            ("%99999d", "above 4095"),
        ] {
            let message = parse(text.as_bytes()).unwrap_err();
            assert!(message.contains(part), "{text}: {message}");
        }
    }

    #[test]
    fn arguments_are_checked() {
        let fits = |format: &str, arguments: &str| check(&parse(format.as_bytes()).unwrap(), &types(arguments));
        fits("%d %ld %hhd %f %lf %c %s %p %p", "i32 i64 i32 f64 f64 i32 p4 p1 p0").unwrap();
        fits("%v4hlf %v3hhd %v2ld %v8hf %v2lf %v4f", "f32x4 i8x3 i64x2 f16x8 f64x2 f32x4").unwrap();
        fits("%d", "i64 f64").unwrap();
        fits("%d %f %x %c %p %s", "f64 i32 f32 f64 i64 p0").unwrap();
        for (format, arguments, part) in [
            ("%d %d", "i32", "2 conversions, the call 1 arguments"),
            ("%s", "i32", "a string literal"),
            ("%s", "p3", "a string literal"),
            ("%d", "p1", "argument 1 for `%d` is of type pointer; it takes an integer"),
            ("%f", "p1", "takes a floating-point number"),
            ("%c", "p1", "an int"),
            ("%p", "f64", "a pointer"),
            ("%d", "i32x4", "%v4hld prints a vector"),
            ("%v4d", "i8x4", "a vector of 4 integers of 32 bits (hh: 8"),
            ("%v4hhd", "i8x3", "a vector of 4 integers of 8 bits"),
            ("%v2lf", "i64x2", "a vector of 2 floating-point numbers of 64 bits"),
        ] {
            let message = fits(format, arguments).unwrap_err();
            assert!(message.contains(part), "{format}: {message}");
        }
    }

    #[test]
    fn messages_are_aligned() {
        let layout = Layout::of(&types("i32 f64 i8x3 f32x4 i8x16"));
        assert_eq!(layout.offsets, [4, 8, 16, 24, 40]);
        assert_eq!(layout.bytes, 56);
        assert_eq!(Layout::of(&[]).bytes, 8);
    }

    #[test]
    fn types_are_text_both_ways() {
        for text in ["i8", "i64", "f16x3", "f64x16", "p4"] {
            assert_eq!(text.parse::<ArgumentType>().unwrap().to_string(), text);
        }
        for text in ["", "i", "i7", "f8", "p9", "p1x2", "i32x5", "x4", "é3"] {
            assert!(text.parse::<ArgumentType>().is_err(), "{text}");
        }
    }
}
