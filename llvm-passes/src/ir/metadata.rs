//! Metadata: reading nodes as values and strings, and attaching nodes of strings.

use std::ffi::CString;

use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::debuginfo::{LLVMMetadataReplaceAllUsesWith, LLVMTemporaryMDNode};
use inkwell::llvm_sys::prelude::{LLVMContextRef, LLVMMetadataRef, LLVMValueRef};
use inkwell::module::Module;

use super::value::{Value, copied};

/// The kind of what is said of loops.
const LOOP: &str = "llvm.loop";

/// The context of a function's module.
pub(crate) fn context_of(function: Value) -> LLVMContextRef {
    // SAFETY: a live function.
    unsafe { LLVMGetModuleContext(LLVMGetGlobalParent(function.0)) }
}

/// The number of a kind of metadata.
fn kind_in(context: LLVMContextRef, name: &str) -> u32 {
    // SAFETY: a live context.
    unsafe { LLVMGetMDKindIDInContext(context, name.as_ptr().cast(), name.len() as u32) }
}

/// Operands of the node of a kind that is attached to a function; absent operands are skipped.
pub fn of_function(function: Value, kind: &str) -> Option<Vec<Value>> {
    let context = context_of(function);
    let kind = kind_in(context, kind);
    // SAFETY: reads metadata of a live function; the copy of the list is disposed of after its last
    // use.
    unsafe {
        let mut count = 0;
        let entries = LLVMGlobalCopyAllMetadata(function.0, &mut count);
        let attached = (0..count as u32).rfind(|i| LLVMValueMetadataEntriesGetKind(entries, *i) == kind);
        let node = attached.map(|i| LLVMValueMetadataEntriesGetMetadata(entries, i));
        LLVMDisposeValueMetadataEntries(entries);
        node.map(|node| operands(LLVMMetadataAsValue(context, node)).into_iter().flatten().collect())
    }
}

/// Operands of a node; `None` for absent ones.
pub(super) fn operands(node: LLVMValueRef) -> Vec<Option<Value>> {
    // SAFETY: a node of a live module; LLVM writes as many operands as it has counted.
    unsafe {
        let mut operands = vec![std::ptr::null_mut(); LLVMGetMDNodeNumOperands(node) as usize];
        LLVMGetMDNodeOperands(node, operands.as_mut_ptr());
        operands.into_iter().map(|p| (!p.is_null()).then_some(Value(p))).collect()
    }
}

/// The bytes of a metadata string; empty for other operands.
pub fn string(operand: Value) -> Vec<u8> {
    let mut length = 0;
    // SAFETY: reads a live value; LLVM gives null for what is no metadata string.
    unsafe {
        let text = LLVMGetMDString(operand.0, &mut length);
        copied(text, length as usize)
    }
}

/// The nodes of a module's named metadata, each as its strings; what is no string is an empty one.
pub fn named(module: &Module, name: &str) -> Vec<Vec<Vec<u8>>> {
    let strings = |node: Vec<Option<Value>>| node.into_iter().map(|o| o.map(string).unwrap_or_default()).collect();
    named_operands(module, name).into_iter().map(strings).collect()
}

/// The nodes of a module's named metadata, each as its operands.
pub fn named_operands(module: &Module, name: &str) -> Vec<Vec<Option<Value>>> {
    let name = CString::new(name).unwrap_or_default();
    // SAFETY: reads metadata of a live module; LLVM writes as many nodes as it has counted.
    let nodes = unsafe {
        let count = LLVMGetNamedMetadataNumOperands(module.as_mut_ptr(), name.as_ptr());
        let mut nodes = vec![std::ptr::null_mut(); count as usize];
        LLVMGetNamedMetadataOperands(module.as_mut_ptr(), name.as_ptr(), nodes.as_mut_ptr());
        nodes
    };
    nodes.into_iter().map(operands).collect()
}

/// Whether metadata of a kind are attached to an instruction.
pub fn is_attached(instruction: Value, kind: &str) -> bool {
    // SAFETY: reads metadata of a live instruction.
    unsafe {
        let kind = kind_in(LLVMGetTypeContext(instruction.ty()), kind);
        !LLVMGetMetadata(instruction.0, kind).is_null()
    }
}

/// The number of 32 bits that is attached to an instruction under a kind ([`Writer::number`]).
pub fn number(instruction: Value, kind: &str) -> Option<u32> {
    // SAFETY: reads metadata of a live instruction.
    let node = unsafe { LLVMGetMetadata(instruction.0, kind_in(LLVMGetTypeContext(instruction.ty()), kind)) };
    if node.is_null() {
        return None;
    }
    let [Some(number)] = operands(node)[..] else { return None };
    // SAFETY: a live operand of a node, which is read if it is a constant.
    unsafe { (!LLVMIsAConstantInt(number.0).is_null()).then(|| LLVMConstIntGetZExtValue(number.0) as u32) }
}

/// What is said of the loop that a branch ends (`!llvm.loop`): the names of the hints.
pub fn loop_hints(branch: Value) -> Vec<String> {
    loop_operands(branch).into_iter().skip(1).flatten().map(name_of_hint).collect()
}

/// The name of a hint; empty for what is none.
fn name_of_hint(hint: Value) -> String {
    // SAFETY: a live operand of a node.
    let is_node = unsafe { !LLVMIsAMDNode(hint.0).is_null() };
    let name = if is_node { operands(hint.0).into_iter().flatten().next().map(string) } else { None };
    String::from_utf8_lossy(&name.unwrap_or_default()).into_owned()
}

/// The operands of the node of a loop, of which the first one is the node itself; none if there is no node.
fn loop_operands(branch: Value) -> Vec<Option<Value>> {
    // SAFETY: reads metadata of a live instruction.
    let node = unsafe {
        let kind = kind_in(LLVMGetTypeContext(branch.ty()), LOOP);
        LLVMGetMetadata(branch.0, kind)
    };
    if node.is_null() { Vec::new() } else { operands(node) }
}

/// The error in units in the last place that a float operation may have (`!fpmath`); 0 where nothing is said.
pub fn allowed_error(instruction: Value) -> f32 {
    // SAFETY: reads metadata of a live instruction.
    let node = unsafe {
        let kind = kind_in(LLVMGetTypeContext(instruction.ty()), "fpmath");
        LLVMGetMetadata(instruction.0, kind)
    };
    let error = if node.is_null() { None } else { operands(node).into_iter().flatten().next() };
    error.and_then(Value::constant_float_bits).map_or(0.0, |bits| f32::from_bits(bits as u32))
}

/// A node that a [`Writer`] made.
#[derive(Clone, Copy)]
pub struct Node(LLVMMetadataRef);

/// Makes nodes in the context of a module and attaches them. Metadata is all that it changes.
pub struct Writer(LLVMContextRef);

impl Writer {
    /// For the module of a function.
    pub fn of_function(function: Value) -> Writer {
        Writer(context_of(function))
    }

    /// For a module.
    pub fn of_module(module: &Module) -> Writer {
        // SAFETY: a live module.
        Writer(unsafe { LLVMGetModuleContext(module.as_mut_ptr()) })
    }

    fn node(&self, mut operands: Vec<LLVMMetadataRef>) -> Node {
        // SAFETY: a live context and metadata of it.
        Node(unsafe { LLVMMDNodeInContext2(self.0, operands.as_mut_ptr(), operands.len()) })
    }

    /// A node of strings.
    pub fn strings<T: AsRef<[u8]>>(&self, texts: &[T]) -> Node {
        let string = |text: &T| {
            let text = text.as_ref();
            // SAFETY: a live context; the text is copied.
            unsafe { LLVMMDStringInContext2(self.0, text.as_ptr().cast(), text.len()) }
        };
        self.node(texts.iter().map(string).collect())
    }

    /// A node of a number of 32 bits.
    pub fn number(&self, value: u32) -> Node {
        // SAFETY: a constant of a live context.
        self.node(vec![unsafe { LLVMValueAsMetadata(LLVMConstInt(LLVMInt32TypeInContext(self.0), value.into(), 0)) }])
    }

    /// A node of the ends of a range, in integers of a value's type.
    pub fn range(&self, of: Value, range: std::ops::Range<u64>) -> Node {
        // SAFETY: constants of a live value's type, which is one of integers.
        let end = |n: u64| unsafe { LLVMValueAsMetadata(LLVMConstInt(of.ty(), n, 0)) };
        self.node(vec![end(range.start), end(range.end)])
    }

    /// A node of nodes.
    pub fn list(&self, nodes: &[Node]) -> Node {
        self.node(nodes.iter().map(|n| n.0).collect())
    }

    /// Attaches a node to an instruction, in place of another one of its kind.
    pub fn attach(&self, instruction: Value, kind: &str, node: Node) {
        // SAFETY: a live instruction and a node of its context.
        unsafe { LLVMSetMetadata(instruction.0, kind_in(self.0, kind), LLVMMetadataAsValue(self.0, node.0)) }
    }

    /// Takes away what is attached to an instruction under a kind.
    pub fn detach(&self, instruction: Value, kind: &str) {
        // SAFETY: a live instruction.
        unsafe { LLVMSetMetadata(instruction.0, kind_in(self.0, kind), std::ptr::null_mut()) }
    }

    /// Says of the loop that a branch ends how many copies it is to become, in place of what is said of that.
    pub fn unroll(&self, branch: Value, copies: u32) {
        // SAFETY: a constant of a live context.
        let number = unsafe { LLVMValueAsMetadata(LLVMConstInt(LLVMInt32TypeInContext(self.0), copies.into(), 0)) };
        self.hint(branch, "llvm.loop.unroll.count", Some(number));
    }

    /// Says of the loop that a branch ends that it is not to become more copies, in place of what is said of that.
    pub fn do_not_unroll(&self, branch: Value) {
        self.hint(branch, "llvm.loop.unroll.disable", None);
    }

    /// Says something of the unrolling of the loop that a branch ends.
    fn hint(&self, branch: Value, name: &str, number: Option<LLVMMetadataRef>) {
        let said = loop_operands(branch).into_iter().skip(1).flatten();
        let said = said.filter(|hint| !name_of_hint(*hint).starts_with("llvm.loop.unroll"));
        // SAFETY: nodes of a live context. A loop's node is its own first operand, for which another one stands until there is the
        // node.
        unsafe {
            let name = LLVMMDStringInContext2(self.0, name.as_ptr().cast(), name.len());
            let hint = self.node([name].into_iter().chain(number).collect());
            let itself = LLVMTemporaryMDNode(self.0, std::ptr::null_mut(), 0);
            let said = said.map(|hint| LLVMValueAsMetadata(hint.0));
            let node = self.node([itself].into_iter().chain(said).chain([hint.0]).collect());
            LLVMMetadataReplaceAllUsesWith(itself, node.0);
            self.attach(branch, LOOP, node);
        }
    }

    /// Attaches a node to a function, in place of another one of its kind.
    pub fn attach_to_function(&self, function: Value, kind: &str, node: Node) {
        // SAFETY: a live function and a node of its context.
        unsafe { LLVMGlobalSetMetadata(function.0, kind_in(self.0, kind), node.0) }
    }

    /// Appends a node to a module's named metadata.
    pub fn append(&self, module: &Module, name: &str, node: Node) {
        let name = CString::new(name).unwrap_or_default();
        // SAFETY: a live module and a node of its context.
        unsafe { LLVMAddNamedMetadataOperand(module.as_mut_ptr(), name.as_ptr(), LLVMMetadataAsValue(self.0, node.0)) }
    }
}
