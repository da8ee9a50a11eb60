//! Debug information: what the source's variables are bound to, and the nodes that describe them.
//!
//! LLVM 19 keeps bindings in records beside the instructions, of whose contents its C API tells nothing. They are
//! read in the older form, as calls of `llvm.dbg.…`: [`records`] brings the module into that form and back.
//!
//! What the C API does not say of a node, such as the encoding of a basic type, is read from LLVM's text of it,
//! which for a node alone is one line without numbers of other nodes.

use inkwell::llvm_sys::LLVMOpcode;
use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::debuginfo::*;
use inkwell::llvm_sys::prelude::{LLVMContextRef, LLVMMetadataRef};
use inkwell::module::Module;
use rustc_hash::FxHashMap;

use super::function;
use super::value::{Value, taken};
use super::{blocks, metadata};

/// A node of metadata in a context that lives.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Node {
    metadata: LLVMMetadataRef,
    context: LLVMContextRef,
}

/// What a variable is bound to from a point on.
#[derive(Clone, Copy, Debug)]
pub struct Record {
    /// The variable is in memory at the address `value`, wherever its scope is.
    pub declares: bool,
    /// The value; `None` if it is not known any more, or made of several values.
    pub value: Option<Value>,
    /// The variable.
    pub variable: Node,
    /// What is to be computed from the value, as LLVM writes it: `DW_OP_plus_uconst, 1, DW_OP_stack_value`.
    pub expression: Node,
    /// Scope and call of the binding.
    pub location: Node,
}

/// Whether sources were compiled with all of debug information.
pub fn has_variables(module: &Module) -> bool {
    // SAFETY: reads a live module's metadata; LLVM writes as many nodes as it has counted.
    let units = unsafe {
        let name = c"llvm.dbg.cu";
        let count = LLVMGetNamedMetadataNumOperands(module.as_mut_ptr(), name.as_ptr());
        let mut units = vec![std::ptr::null_mut(); count as usize];
        LLVMGetNamedMetadataOperands(module.as_mut_ptr(), name.as_ptr(), units.as_mut_ptr());
        units
    };
    units.into_iter().any(|unit| Value(unit).text().contains("emissionKind: FullDebug"))
}

/// The bindings of a module's functions by the instruction that they stand before, in order.
pub fn records(module: &Module) -> FxHashMap<Value, Vec<Record>> {
    let mut result = FxHashMap::default();
    if !has_variables(module) {
        return result;
    }
    // SAFETY: a live module, of which no instruction is held by anybody while calls come and go.
    unsafe { LLVMSetIsNewDbgInfoFormat(module.as_mut_ptr(), 0) };
    for block in function::bodies(module).into_iter().flat_map(blocks) {
        let mut waiting = Vec::new();
        for i in block.instructions() {
            let name = if i.opcode() == LLVMOpcode::LLVMCall { i.called_name() } else { String::new() };
            match name.strip_prefix("llvm.dbg.") {
                Some("value") => waiting.extend(record(i, false)),
                Some("declare") => waiting.extend(record(i, true)),
                // An assignment is a binding to the value; what is in memory meanwhile is not followed.
                Some("assign") => waiting.extend(record(i, false)),
                Some(_) => {}
                None if !waiting.is_empty() => drop(result.insert(i, std::mem::take(&mut waiting))),
                None => {}
            }
        }
    }
    // SAFETY: as before.
    unsafe { LLVMSetIsNewDbgInfoFormat(module.as_mut_ptr(), 1) };
    result
}

fn record(call: Value, declares: bool) -> Option<Record> {
    // SAFETY: a live call of a function that takes metadata.
    let context = unsafe { LLVMGetTypeContext(call.ty()) };
    let node = |i: u32| Node::of(call.operand(i), context);
    // SAFETY: a live instruction.
    let location = unsafe { LLVMInstructionGetDebugLoc(call.0) };
    if location.is_null() {
        return None;
    }
    let bound = call.operand(0);
    // SAFETY: a live operand that is metadata; one that stands for a value has it as its operand.
    let value = unsafe {
        let metadata = LLVMValueAsMetadata(bound.0);
        let kind = LLVMGetMetadataKind(metadata);
        use LLVMMetadataKind::{LLVMConstantAsMetadataMetadataKind, LLVMLocalAsMetadataMetadataKind};
        matches!(kind, LLVMConstantAsMetadataMetadataKind | LLVMLocalAsMetadataMetadataKind)
            .then(|| metadata::operands(bound.0).first().copied().flatten())
            .flatten()
    };
    Some(Record {
        declares,
        value: value.filter(|v| !v.is_undefined()),
        variable: node(1),
        expression: node(2),
        location: Node { metadata: location, context },
    })
}

/// The place of an instruction, with its scope.
pub fn location(instruction: Value) -> Option<Node> {
    // SAFETY: a live instruction.
    unsafe {
        let metadata = LLVMInstructionGetDebugLoc(instruction.0);
        (!metadata.is_null()).then(|| Node { metadata, context: LLVMGetTypeContext(instruction.ty()) })
    }
}

impl Node {
    fn of(value: Value, context: LLVMContextRef) -> Node {
        // SAFETY: a live value that is metadata.
        Node { metadata: unsafe { LLVMValueAsMetadata(value.0) }, context }
    }

    /// The subprogram of a function.
    pub fn of_function(function: Value) -> Option<Node> {
        // SAFETY: a live function.
        unsafe {
            let metadata = LLVMGetSubprogram(function.0);
            let context = LLVMGetTypeContext(function.ty());
            (!metadata.is_null()).then_some(Node { metadata, context })
        }
    }

    fn value(self) -> Value {
        // SAFETY: a live node and its context.
        Value(unsafe { LLVMMetadataAsValue(self.context, self.metadata) })
    }

    /// LLVM's text of it.
    pub fn text(self) -> String {
        // SAFETY: a live node; the text is copied and freed.
        let text = unsafe { taken(LLVMPrintValueToString(self.value().0)) };
        // Behind the node's own name.
        text.split_once('(').map(|(_, rest)| rest.trim_end().trim_end_matches(')').to_string()).unwrap_or_default()
    }

    /// A field of its text, such as `DW_ATE_signed` for `encoding`; not for texts in quotes.
    pub fn field(self, name: &str) -> Option<String> {
        let text = self.text();
        let mut fields = text.split(", ").filter_map(|f| f.split_once(": "));
        fields.find(|(key, _)| *key == name).map(|(_, value)| value.to_string())
    }

    /// An operand that is a node.
    pub fn node(self, operand: usize) -> Option<Node> {
        let operand = self.operand(operand)?;
        // SAFETY: a live operand.
        let is_metadata =
            unsafe { LLVMGetTypeKind(LLVMTypeOf(operand.0)) } == inkwell::llvm_sys::LLVMTypeKind::LLVMMetadataTypeKind;
        is_metadata.then(|| Node::of(operand, self.context))
    }

    /// All operands that are nodes.
    pub fn nodes(self) -> Vec<Node> {
        let count = metadata::operands(self.value().0).len();
        (0..count).filter_map(|i| self.node(i)).collect()
    }

    /// An operand that is a string.
    pub fn string(self, operand: usize) -> String {
        let Some(operand) = self.operand(operand) else { return String::new() };
        String::from_utf8_lossy(&metadata::string(operand)).into_owned()
    }

    /// An operand that is a number.
    pub fn number(self, operand: usize) -> Option<i64> {
        self.operand(operand)?.as_signed_constant()
    }

    fn operand(self, operand: usize) -> Option<Value> {
        metadata::operands(self.value().0).get(operand).copied().flatten()
    }

    /// DWARF's tag; 0 for nodes without one.
    pub fn tag(self) -> u16 {
        // SAFETY: a live node.
        unsafe { LLVMGetDINodeTag(self.metadata) }
    }

    /// Line of a place.
    pub fn line(self) -> u32 {
        // SAFETY: callers ask of places only.
        unsafe { LLVMDILocationGetLine(self.metadata) }
    }

    /// Scope of a place.
    pub fn scope(self) -> Node {
        // SAFETY: callers ask of places only, each of which has a scope.
        Node { metadata: unsafe { LLVMDILocationGetScope(self.metadata) }, ..self }
    }

    /// Where the function of a place was inlined.
    pub fn inlined_at(self) -> Option<Node> {
        // SAFETY: callers ask of places only.
        let metadata = unsafe { LLVMDILocationGetInlinedAt(self.metadata) };
        (!metadata.is_null()).then_some(Node { metadata, ..self })
    }

    /// Line of a variable's declaration.
    pub fn variable_line(self) -> u32 {
        // SAFETY: callers ask of variables only.
        unsafe { LLVMDIVariableGetLine(self.metadata) }
    }

    /// Bits of a type.
    pub fn bits(self) -> u64 {
        // SAFETY: callers ask of types only.
        unsafe { LLVMDITypeGetSizeInBits(self.metadata) }
    }

    /// First bit of a member.
    pub fn offset_bits(self) -> u64 {
        // SAFETY: callers ask of types only.
        unsafe { LLVMDITypeGetOffsetInBits(self.metadata) }
    }
}
