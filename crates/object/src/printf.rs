//! Formats of `printf` in an object.

use crate::format::{ArgumentType, Layout, Piece, check, parse};
use serde::{Deserialize, Serialize};

/// A format string of `printf`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PrintfFormat {
    /// The string: one character, U+0000 to U+00FF, for each of its bytes.
    pub format: String,
    /// Types of the arguments in a message (`i32 f64x4 p4`), as [`ArgumentType`] spells them.
    pub arguments: String,
}

impl PrintfFormat {
    /// A format of these bytes.
    pub fn new(bytes: &[u8], arguments: String) -> Self {
        PrintfFormat { format: bytes.iter().map(|b| char::from(*b)).collect(), arguments }
    }

    /// Takes the format apart.
    ///
    /// # Errors
    /// What is wrong with it: objects and machine IR may hold anything.
    pub fn parsed(&self) -> Result<Format, String> {
        let text: Option<Vec<u8>> = self.format.chars().map(|c| u8::try_from(c).ok()).collect();
        let pieces = parse(&text.ok_or("a format string has characters that are no bytes")?)?;
        let types = self.arguments.split_whitespace().map(str::parse).collect::<Result<Vec<ArgumentType>, _>>()?;
        check(&pieces, &types)?;
        let layout = Layout::of(&types);
        Ok(Format { pieces, types, layout })
    }
}

/// A format that is ready for use: its arguments are what its conversions take.
#[derive(Clone, Debug)]
pub struct Format {
    /// Text and conversions.
    pub pieces: Vec<Piece>,
    /// Types of the arguments.
    pub types: Vec<ArgumentType>,
    /// Where they stand in a message.
    pub layout: Layout,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn damaged_formats_are_refused() {
        for (format, arguments) in [("%d", ""), ("%q", "i32"), ("%d", "i33"), ("\u{100}", "")] {
            assert!(PrintfFormat { format: format.into(), arguments: arguments.into() }.parsed().is_err());
        }
    }
}
