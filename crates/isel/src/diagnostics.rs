//! What selection has to say: constructs that Heddle does not compile, and remarks on what happened to accesses.

use std::fmt;

/// Something in the source that Heddle does not compile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// What, as a sentence without the position.
    pub message: String,
    /// Source file, empty if unknown.
    pub file: String,
    /// Line, 0 if unknown.
    pub line: u32,
    /// Column, 0 if unknown.
    pub column: u32,
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match (self.file.as_str(), self.line, self.column) {
            ("", 0, _) => {}
            (file, 0, _) => write!(f, "{file}: ")?,
            (file, line, 0) => write!(f, "{file}:{line}: ")?,
            (file, line, column) => write!(f, "{file}:{line}:{column}: ")?,
        }
        write!(f, "error: {}", self.message)
    }
}

/// What happened to an access, for `--remarks`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remark {
    /// Rewritten, or kept as it was.
    pub passed: bool,
    /// Kernel.
    pub function: String,
    /// Source file, empty if unknown.
    pub file: String,
    /// Line, 0 if unknown.
    pub line: u32,
    /// Column, 0 if unknown.
    pub column: u32,
    /// What and why.
    pub message: String,
}

impl fmt::Display for Remark {
    /// A YAML document as LLVM's optimisation remarks are.
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let (kind, name) = if self.passed { ("Passed", "SurfaceAccess") } else { ("Missed", "ConventionalAddress") };
        writeln!(f, "--- !{kind}\nPass:            heddle-global-id\nName:            {name}")?;
        if self.line != 0 {
            let (file, line, column) = (quoted(&self.file), self.line, self.column);
            writeln!(f, "DebugLoc:        {{ File: {file}, Line: {line}, Column: {column} }}")?;
        }
        writeln!(f, "Function:        {}\nArgs:\n  - String:          {}\n...", self.function, quoted(&self.message))
    }
}

/// A YAML scalar in single quotes.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}
