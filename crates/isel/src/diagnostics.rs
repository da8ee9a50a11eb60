//! What selection has to say: constructs that Heddle does not compile, and remarks on what happened to
//! accesses.

use std::fmt;

use heddle_llvm_passes::ir::{SourcePosition, Type, Value, function};
use inkwell::llvm_sys::LLVMOpcode::{LLVMAlloca, LLVMGetElementPtr};
use rustc_hash::FxHashSet;

use crate::leaf::{of_unknown_size, unsupported};

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

impl Diagnostic {
    /// A message about a place.
    pub(crate) fn at(message: String, place: SourcePosition) -> Diagnostic {
        Diagnostic { message, file: place.file, line: place.line, column: place.column }
    }
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

/// The errors of a kernel, each said once.
pub(crate) struct Report {
    pub errors: Vec<Diagnostic>,
    /// The instruction that is being selected.
    pub at: Option<Value>,
    /// Messages and lines that have been reported.
    reported: FxHashSet<String>,
    kernel: Value,
    name: String,
}

impl Report {
    /// For a kernel and its name.
    pub fn new(kernel: Value, name: String) -> Report {
        Report { errors: Vec::new(), at: None, reported: FxHashSet::default(), kernel, name }
    }

    /// Reports an error at an instruction (the one that is being selected, if none is given).
    pub fn error(&mut self, i: Option<Value>, message: impl Into<String>) {
        let mut message = message.into();
        let i = i.or(self.at).filter(|i| i.is_instruction());
        let mut position = i.map(Value::source_position).unwrap_or_default();
        if position.line == 0 {
            // Without debug locations, the kernel and the instruction say where.
            position.file = self.kernel.module_name();
            message = format!("kernel `{}`: {message}", self.name);
            if let Some(i) = i {
                message = format!("{message}\n  in: {}", text_without_line(i));
            }
        }
        self.add(message, position);
    }

    /// Reports an error about the kernel as a whole.
    pub fn kernel_error(&mut self, message: String) {
        let (file, line) = self.kernel.definition_place().unwrap_or_else(|| (self.kernel.module_name(), 0));
        self.add(message, SourcePosition { file, line, column: 0 });
    }

    fn add(&mut self, message: String, position: SourcePosition) {
        if self.reported.insert(format!("{message}{}", position.line)) {
            self.errors.push(Diagnostic::at(message, position));
        }
    }
}

/// LLVM's text of an instruction without its debug location.
pub(crate) fn text_without_line(i: Value) -> String {
    i.text().split(", !dbg").next().unwrap_or_default().trim().to_string()
}

/// The instructions of a kernel that make or take a value of a type that Heddle does not have, or need the size of one that
/// has none, and such arguments.
pub(crate) fn unsupported_types(kernel: Value) -> Vec<Diagnostic> {
    let mut report = Report::new(kernel, kernel.name());
    for (number, argument) in (0..).zip(function::params(kernel)) {
        let by_value = function::by_value_type(kernel, number).and_then(|ty| of_unknown_size(Type(ty)));
        if let Some(ty) = unsupported(argument.type_of()).or(by_value) {
            let (name, ty) = (kernel.name(), ty.text());
            report.kernel_error(format!("kernel `{name}` has an argument of type `{ty}`, which is not supported"));
        }
    }
    for block in function::blocks(kernel) {
        for i in block.instructions() {
            let in_memory = match i.opcode() {
                LLVMAlloca => of_unknown_size(i.allocated_type()),
                LLVMGetElementPtr => of_unknown_size(i.gep_source_type()),
                _ => None,
            };
            // A store, a comparison and a conversion have the type in their first operand; the operands of all else that has
            // it are results of other instructions, which are reported themselves.
            let operand = || (i.operand_count() > 0).then(|| i.operand(0).type_of()).and_then(unsupported);
            if let Some(ty) = in_memory.or_else(|| unsupported(i.type_of())).or_else(operand) {
                report.error(Some(i), format!("the type `{}` is not supported", ty.text()));
            }
        }
    }
    report.errors
}

/// A function that is left after inlining is recursive, or its address is taken.
pub(crate) fn not_inlined(function: Value) -> Diagnostic {
    // A call of itself shows recursion best; else any call.
    let calls: Vec<Value> = function.users().filter(|u| u.is_instruction()).collect();
    let call = calls.iter().copied().find(|u| u.parent().function() == function).or(calls.first().copied());
    let mut position = call.map(Value::source_position).unwrap_or_default();
    if position.line == 0 {
        position.file = function.module_name();
    }
    let name = function.name();
    let message = format!("function `{name}` cannot be inlined: OpenCL C has no recursion and no function pointers");
    Diagnostic::at(message, position)
}
